// postgres-proxy.mjs - a TCP proxy in front of PostgreSQL that cuts, stops and delays connections, and loses the answer
// of a COMMIT: the server has committed, and its client never learns it.
//
// It reads as much of the protocol (version 3) as it needs: the lengths of the server's messages, and the tag of
// CommandComplete. It cannot read TLS, and says so when an answer was to be lost.
import { Buffer } from 'node:buffer';
import net from 'node:net';

const COMMAND_COMPLETE = 'C'.charCodeAt(0);
const HEADER = 5; // type and length; the length counts itself
const ENCRYPTION_REQUESTS = new Set([80877103, 80877104]); // of TLS, of GSSAPI: one byte answers each

/** The server's bytes of one connection as whole messages. */
class Answers {
  constructor() {
    this.rest = Buffer.alloc(0);
    this.single = 0; // answers of one byte that are due
    this.tls = false;
  }

  /** Gives { at, tag } of each message whose end came with these bytes: `at` is its first byte in `bytes`. */
  take(chunk) {
    this.rest = Buffer.concat([this.rest, chunk]);
    let at = 0;
    const messages = [];
    const { rest } = this;
    while (!this.tls) {
      if (this.single > 0 && at < rest.length) {
        this.tls = rest[at] !== 'N'.charCodeAt(0);
        this.single--;
        at++;
        continue;
      }
      if (rest.length - at < HEADER) break;
      const end = at + 1 + rest.readUInt32BE(at + 1);
      if (rest.length < end) break;
      messages.push({ at,
        tag: rest[at] === COMMAND_COMPLETE ? rest.toString('latin1', at + HEADER, end - 1) : undefined });
      at = end;
    }
    if (this.tls) at = rest.length;
    this.rest = rest.subarray(at);
    return { whole: rest.subarray(0, at), messages };
  }
}

class PostgresProxy {
  constructor(target) {
    this.target = target;
    this.pairs = new Set();
    this.refusing = false;
    this.hanging = false;
    this.delayMs = 0;
    this.losing = undefined;
    this.connections = 0;
    this.commits = 0;
    this.lost = 0;
  }

  async listen() {
    this.server = net.createServer({ pauseOnConnect: true, noDelay: true }, (client) => this.join(client));
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.port = this.server.address().port;
    return this;
  }

  join(client) {
    if (this.refusing) return client.resetAndDestroy();
    this.connections++;
    const server = net.connect({ port: this.target, host: '127.0.0.1', noDelay: true });
    const pair = { client, server, answers: new Answers(), asked: Buffer.alloc(0), started: false };
    this.pairs.add(pair);
    for (const socket of [client, server]) {
      socket.on('error', () => {});
      socket.on('close', () => {
        client.destroy();
        server.destroy();
        this.pairs.delete(pair);
      });
    }
    client.on('data', (bytes) => {
      if (!pair.started) this.begin(pair, bytes);
      this.pass(bytes, server);
    });
    server.on('data', (bytes) => this.answer(pair, bytes));
    if (this.hanging) server.pause();
    else client.resume();
  }

  /** The packets before the first message of a client: requests of encryption, until one that is something else. */
  begin(pair, bytes) {
    pair.asked = Buffer.concat([pair.asked, bytes]);
    while (!pair.started && pair.asked.length >= 8) {
      if (ENCRYPTION_REQUESTS.has(pair.asked.readUInt32BE(4))) {
        pair.answers.single++;
        pair.asked = pair.asked.subarray(8);
      } else {
        pair.started = true;
      }
    }
  }

  answer(pair, bytes) {
    const { whole, messages } = pair.answers.take(bytes);
    for (const { at, tag } of messages) {
      if (tag === undefined) continue;
      if (tag === 'COMMIT') this.commits++;
      if (this.losing?.tag.test(tag) && this.losing.skip-- === 0) {
        const { lost } = this.losing;
        this.losing = undefined;
        this.lost++;
        this.pass(whole.subarray(0, at), pair.client);
        this.pairs.delete(pair); // a reset of what is ending would leave it open
        pair.client.end();
        pair.server.destroy();
        lost(tag);
        return;
      }
    }
    if (this.losing && pair.answers.tls) {
      throw new Error('postgres-proxy: it cannot read TLS: connect with sslmode=disable');
    }
    if (whole.length > 0) this.pass(whole, pair.client);
  }

  /** In order, whatever the delays were. */
  pass(bytes, to) {
    to.waiting ??= [];
    if (this.delayMs === 0 && to.waiting.length === 0) {
      to.write(bytes);
      return;
    }
    to.waiting.push({ bytes, due: performance.now() + this.delayMs });
    if (to.waiting.length === 1) this.deliver(to);
  }

  deliver(to) {
    setTimeout(() => {
      while (to.waiting[0]?.due <= performance.now()) to.write(to.waiting.shift().bytes);
      if (to.waiting.length > 0 && !to.destroyed) this.deliver(to);
    }, Math.max(0, to.waiting[0].due - performance.now()));
  }

  /** Resets all connections. What the server received it does; what it says is lost. */
  cut() {
    const { size } = this.pairs;
    for (const { client, server } of [...this.pairs]) {
      client.resetAndDestroy();
      server.destroy();
    }
    return size;
  }

  /** Cuts all connections and resets each new one, until accept(). */
  refuse() {
    this.refusing = true;
    return this.cut();
  }

  accept() {
    this.refusing = false;
  }

  /** Passes no byte in either direction, and closes nothing, until resume(). */
  hang() {
    this.hanging = true;
    for (const { client, server } of this.pairs) {
      client.pause();
      server.pause();
    }
  }

  resume() {
    this.hanging = false;
    for (const { client, server } of this.pairs) {
      client.resume();
      server.resume();
    }
  }

  /** Each piece of bytes takes so long in its direction. */
  delay(ms) {
    this.delayMs = ms;
  }

  /** Cuts the connection in place of the answer to the next COMMIT (or to another statement, whose tag matches; or to
   * one later by `skip`). Resolves with the tag when that happened, and with undefined when forgotten. */
  lose({ tag = /^COMMIT$/, skip = 0 } = {}) {
    return new Promise((lost) => { this.losing = { tag, skip, lost }; });
  }

  forget() {
    const { losing } = this;
    this.losing = undefined;
    losing?.lost(undefined);
  }

  close() {
    this.forget();
    this.cut();
    return new Promise((resolve) => this.server.close(resolve));
  }
}

/** A running proxy in front of a port; ends with the test. */
export async function startPostgresProxy(t, port) {
  const proxy = await new PostgresProxy(port).listen();
  t.after(() => proxy.close());
  return proxy;
}
