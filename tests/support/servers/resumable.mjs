// resumable.mjs - the streams of a server of the legacy family that keeps its events: every event of a stream has an
// id, and a GET with Last-Event-ID gets the later ones. One connection at a time has a stream; another one gets a 409,
// as from the official server.
import { until } from '../js/gateway.mjs';

class Stream {
  constructor(store, key) {
    this.store = store;
    this.key = key;
    this.events = []; // { id, text }
    this.res = undefined; // the connection that has it
    this.ended = false;
    this.connections = 0;
  }

  attach(res, after = 0) {
    this.res = res;
    this.connections++;
    res.on('close', () => {
      if (this.res === res) this.res = undefined;
    });
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.flushHeaders();
    for (const event of this.events.slice(after)) res.write(event.text);
    if (this.ended) res.end();
    return this;
  }

  /** Keeps an event, and sends it to the holder of the stream. `fields` come before its data. */
  send(message, fields = '') {
    const id = `${this.key}_${this.events.length + 1}`;
    const text = `id: ${id}\n${fields}data: ${message === undefined ? '' : JSON.stringify(message)}\n\n`;
    this.events.push({ id, text });
    this.res?.write(text);
    return this;
  }

  /** The server ends the stream. */
  end() {
    this.ended = true;
    this.res?.end();
  }

  /** The server closes the connection, and continues when the rest is requested. */
  async hangUp() {
    this.res?.end();
    await this.closed();
  }

  /** Waits until no connection has it. */
  closed() {
    return until(() => this.res === undefined, `the stream ${this.key} to be let go`);
  }

  /** Waits until it was taken for the n-th time. */
  taken(n) {
    return until(() => this.connections >= n && this.res !== undefined, `stream ${this.key} to be asked for`);
  }
}

export class Streams {
  constructor() {
    this.all = new Map();
    this.gets = []; // Last-Event-ID of every GET
  }

  /** Answers a POST with a stream. */
  open(arrival, key = `s${this.all.size + 1}`) {
    const stream = new Stream(this, key);
    this.all.set(key, stream);
    return stream.attach(arrival.res);
  }

  /** The onGet of an upstream. */
  onGet = (req, res) => {
    const last = req.headers['last-event-id'];
    this.gets.push(last);
    const [key, n] = (last ?? '').split('_');
    const stream = this.all.get(key);
    if (stream === undefined) return res.writeHead(last === undefined ? 405 : 400).end();
    if (stream.res !== undefined) return res.writeHead(409).end();
    stream.attach(res, Number(n));
  };
}
