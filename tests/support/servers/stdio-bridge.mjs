// stdio-bridge.mjs - Streamable HTTP in front of a server over standard input and output, for programs that speak HTTP
// alone, such as the official conformance suite. A session has a process of its own, and so have all requests of the
// stateless revision together. It knows nothing of what it carries but ids, progress tokens and subscriptions.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { createInterface } from 'node:readline';

const MODERN = '2026-07-28';
const VERSION = 'io.modelcontextprotocol/protocolVersion';
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

/** One process, and the streams that its messages go to. */
class Server {
  constructor([command, ...args], options) {
    this.child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'], ...options });
    this.child.stdin.on('error', () => {});
    this.open = new Map(); // id of a request -> { res, token, streams }
    this.listener = undefined; // GET
    this.early = [];
    createInterface({ input: this.child.stdout }).on('line', (line) => this.take(JSON.parse(line)));
    this.exited = new Promise((done) => this.child.on('close', done));
    this.exited.then(() => {
      for (const { res } of this.open.values()) res.destroy();
      this.listener?.destroy();
    });
  }

  write(message) {
    this.child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** The request that a message of the server belongs to, as far as that can be seen. */
  owner({ method, params }) {
    const token = method === 'notifications/progress' ? params?.progressToken : undefined;
    const subscription = params?._meta?.[SUBSCRIPTION];
    const all = [...this.open.entries()];
    if (token !== undefined) return all.find(([, r]) => r.token === token)?.[1];
    if (subscription !== undefined) return all.find(([id]) => String(id) === String(subscription))?.[1];
    return method?.startsWith('notifications/') && method.endsWith('_changed') && this.listener
      ? undefined : all.filter(([, r]) => !r.listens).at(-1)?.[1];
  }

  take(message) {
    const answered = message.method === undefined ? this.open.get(message.id) : undefined;
    if (answered) {
      this.open.delete(message.id);
      if (answered.streams) {
        this.event(answered.res, message);
        answered.res.end();
      } else {
        answered.head(message);
        answered.res.end(JSON.stringify(message));
      }
      return;
    }
    const owner = this.owner(message);
    if (owner) {
      if (!owner.streams) owner.begin();
      this.event(owner.res, message);
    } else if (this.listener) {
      this.event(this.listener, message);
    } else {
      this.early.push(message);
    }
  }

  event(res, message) {
    res.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }

  listen(res) {
    this.listener = res;
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.flushHeaders();
    for (const message of this.early.splice(0)) this.event(res, message);
    res.on('close', () => { if (this.listener === res) this.listener = undefined; });
  }

  async end() {
    this.child.stdin.end();
    await this.exited;
  }
}

/** Starts the bridge; `command` is run for each session. Ends with the test. */
export async function startStdioBridge(t, command, options = {}) {
  const sessions = new Map();
  let stateless;
  const start = () => new Server(command, options);

  const post = (req, res, message) => {
    const version = message.params?._meta?.[VERSION];
    const modern = version !== undefined || req.headers['mcp-protocol-version'] >= MODERN;
    const opens = message.method === 'initialize' && !modern;
    const id = opens ? randomUUID() : req.headers['mcp-session-id'];
    if (opens) sessions.set(id, start());
    if (modern && version === undefined && message.id !== undefined) { // over stdio it would be of the older family
      const error = { code: -32602, message: 'no version' };
      res.writeHead(400, { 'content-type': 'application/json' });
      return res.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, error }));
    }
    if (version === MODERN) stateless ??= start();
    const server = version === MODERN ? stateless : modern ? start() : sessions.get(id);
    if (modern && server !== stateless) res.on('close', () => server.child.kill());
    if (!server) return res.writeHead(id ? 404 : 400).end();
    if (message.method === undefined || message.id === undefined) {
      server.write(message);
      return res.writeHead(202).end();
    }
    const session = opens ? { 'mcp-session-id': id } : {};
    const request = { res, token: message.params?._meta?.progressToken, streams: false,
      listens: message.method === 'subscriptions/listen',
      begin() {
        this.streams = true;
        res.writeHead(200, { 'content-type': 'text/event-stream', ...session });
        res.flushHeaders();
      },
      head: (answer) => res.writeHead(modern && answer.error ? statusOf(answer.error.code) : 200,
        { 'content-type': 'application/json', ...session }) };
    server.open.set(message.id, request);
    if (request.listens) request.begin();
    res.on('close', () => {
      if (server.open.get(message.id) !== request) return;
      server.open.delete(message.id); // the client has left: over stdio that is said
      server.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: message.id,
        _meta: modern ? { [VERSION]: message.params._meta[VERSION] } : undefined } });
    });
    return server.write(message);
  };

  const statusOf = (code) => (code === -32601 ? 404 : code <= -32000 || code === -32602 || code === -32600 ? 400 : 200);

  const listener = http.createServer((req, res) => {
    const chunks = [];
    req.on('data', (d) => chunks.push(d)).on('error', () => {}).on('end', async () => {
      const server = sessions.get(req.headers['mcp-session-id']);
      if (req.method === 'POST') {
        try {
          return post(req, res, JSON.parse(Buffer.concat(chunks).toString()));
        } catch {
          return res.writeHead(400).end();
        }
      }
      if (!server) return res.writeHead(req.headers['mcp-session-id'] ? 404 : 405).end();
      if (req.method === 'GET') return server.listen(res);
      sessions.delete(req.headers['mcp-session-id']);
      await server.end();
      return res.writeHead(200).end();
    });
    res.on('error', () => {});
  });
  await new Promise((done) => listener.listen(0, '127.0.0.1', done));
  t.after(async () => {
    listener.close();
    listener.closeAllConnections();
    for (const server of [...sessions.values(), ...(stateless ? [stateless] : [])]) {
      server.child.kill();
      await server.exited;
    }
  });
  return { url: `http://127.0.0.1:${listener.address().port}/mcp` };
}
