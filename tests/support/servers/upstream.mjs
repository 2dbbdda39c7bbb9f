// upstream.mjs - a scripted MCP server over HTTP that writes down everything that reaches it. What
// it saw is the truth that the tests compare the gateway's word with.
import http from 'node:http';
import { until } from '../js/gateway.mjs';
import { reservePort } from '../js/ports.mjs';

const MODERN = '2026-07-28';

/** One POSTed message, as it arrived. */
class Arrival {
  constructor(req, res, raw) {
    this.req = req;
    this.res = res;
    this.raw = raw;
    this.headers = req.headers;
    this.at = Date.now();
    try {
      this.message = JSON.parse(raw);
    } catch {
      this.message = undefined;
    }
    this.method = this.message?.method;
    this.id = this.message?.id;
    this.params = this.message?.params;
    this.name = this.params?.name;
    this.arguments = this.params?.arguments;
    this.meta = this.params?._meta;
    this.modern = this.meta?.['io.modelcontextprotocol/protocolVersion'] !== undefined;
    this.closed = new Promise((resolve) => res.on('close', resolve));
  }

  get credential() {
    return this.headers['writ-credential'] ?? this.meta?.['io.writ/credential'];
  }

  // ---- answers

  json(value, status = 200, headers = {}) {
    this.res.writeHead(status, { 'content-type': 'application/json', ...headers });
    this.res.end(typeof value === 'string' ? value : JSON.stringify(value));
  }

  result(result, headers = {}) {
    const extra = this.modern ? { resultType: 'complete' } : {};
    this.json({ jsonrpc: '2.0', id: this.id, result: { ...extra, ...result } }, 200, headers);
  }

  text(text) {
    this.result({ content: [{ type: 'text', text }] });
  }

  error(code, message, status = 200, data = undefined) {
    this.json({ jsonrpc: '2.0', id: this.id ?? null,
      error: { code, message, ...(data === undefined ? {} : { data }) } }, status);
  }

  /** Begins a stream; send() events, then end(). */
  stream(headers = {}) {
    this.res.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
    this.res.flushHeaders();
    return {
      raw: (text) => this.res.write(text),
      send: (value, fields = '') => this.res.write(`${fields}event: message\ndata: ${JSON.stringify(value)}\n\n`),
      end: () => this.res.end(),
      destroy: () => this.res.destroy(),
    };
  }

  /** Bytes straight into the connection, past everything that would make them proper. */
  bytes(text, then = 'end') {
    const socket = this.res.socket;
    socket.write(text, () => (then === 'end' ? socket.end() : then === 'reset' ? socket.resetAndDestroy() : undefined));
  }

  destroy() {
    this.res.socket?.destroy();
  }

  reset() {
    this.res.socket?.resetAndDestroy();
  }
}

export class Upstream {
  constructor(options) {
    this.options = options;
    this.tools = options.tools ?? [];
    this.onCall = options.onCall;
    this.onMessage = options.onMessage;
    this.arrivals = []; // every message that arrived whole
    this.calls = []; // those that are tools/call
    this.requests = []; // every HTTP request whose head arrived: { method, url, headers }
    this.bytes = ''; // every byte
    this.sockets = new Set();
    this.connections = 0;
    this.sessions = 0;
  }

  /** A port that it keeps while it is closed. */
  async listen(port) {
    this.server = http.createServer({ keepAliveTimeout: 60_000 }, (req, res) => this.take(req, res));
    this.server.on('connection', (socket) => {
      this.connections++;
      this.sockets.add(socket);
      socket.on('data', (d) => { this.bytes += d.toString('latin1'); });
      socket.on('close', () => this.sockets.delete(socket));
      socket.on('error', () => {});
      this.options.onConnection?.(socket);
    });
    this.port = port ?? await reservePort();
    await new Promise((resolve, reject) => this.server.once('error', reject).listen(this.port, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${this.port}/mcp`;
    return this;
  }

  /** Stops listening and cuts every connection; listen(port) brings it back. */
  async close() {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  take(req, res) {
    this.requests.push({ method: req.method, url: req.url, headers: req.headers, rawHeaders: req.rawHeaders });
    res.on('error', () => {});
    const chunks = [];
    req.on('data', (d) => chunks.push(d));
    req.on('error', () => {});
    req.on('end', () => {
      if (req.method === 'GET' && this.options.onGet) return this.options.onGet(req, res);
      if (req.method !== 'POST') return res.writeHead(req.method === 'DELETE' ? 200 : 405).end();
      this.dispatch(new Arrival(req, res, Buffer.concat(chunks).toString('utf8')));
    });
  }

  async dispatch(arrival) {
    this.arrivals.push(arrival);
    if (arrival.method === 'tools/call') this.calls.push(arrival);
    if (this.onMessage && (await this.onMessage(arrival)) !== undefined) return;
    if (arrival.message?.id === undefined || arrival.method === undefined) return void arrival.res.writeHead(202).end();
    switch (arrival.method) {
      case 'initialize':
        return arrival.result({
          protocolVersion: arrival.params.protocolVersion, serverInfo: { name: 'scripted', version: '1' },
          capabilities: this.options.capabilities ?? { tools: { listChanged: true } },
        }, this.options.stateless ? {} : { 'mcp-session-id': `up-${++this.sessions}` });
      case 'server/discover':
        return arrival.result({ supportedVersions: [MODERN], capabilities: this.options.capabilities ??
          { tools: {} } });
      case 'tools/list':
        return arrival.result(
          { tools: this.tools.map((tool) =>
            (typeof tool === 'string' ? { name: tool, inputSchema: { type: 'object' } } : tool)) });
      case 'tools/call':
        if (this.onCall) return this.onCall(arrival, this.calls.length);
        return arrival.text(`ran ${this.calls.length}`);
      case 'ping':
        return arrival.result({});
      default:
        return arrival.error(-32601, 'Method not found');
    }
  }

  /** Calls of one tool. */
  of(name) {
    return this.calls.filter((c) => c.name === name);
  }

  /** Waits until `n` calls have arrived. */
  async arrived(n = 1) {
    await until(() => this.calls.length >= n, `${n} calls to reach the upstream`);
    return this.calls[n - 1];
  }

  /** Clears its records. */
  clear() {
    this.arrivals.length = this.calls.length = this.requests.length = 0;
    this.bytes = '';
  }
}

/** A running upstream; ends with the test. */
export async function startUpstream(t, options = {}) {
  const upstream = await new Upstream(options).listen();
  t.after(() => upstream.close());
  return upstream;
}
