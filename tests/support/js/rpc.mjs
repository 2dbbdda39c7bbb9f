// rpc.mjs - MCP clients that send exactly the bytes of a test.
import { Buffer } from 'node:buffer';
import http from 'node:http';
import net from 'node:net';

export const LEGACY = '2025-11-25';
export const MODERN = '2026-07-28';
const TYPES = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** Events of a text/event-stream body. */
export function events(text) {
  return text.split(/\r?\n\r?\n/).map((block) => {
    const event = {};
    for (const line of block.split(/\r?\n/)) {
      const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line);
      if (name === '' && line !== '') event.comment = value;
      else if (name !== '') event[name] = event[name] === undefined ? value : `${event[name]}\n${value}`;
    }
    return event;
  }).filter((e) => Object.keys(e).length > 0);
}

/** What came back for one message. */
export class Answer {
  constructor(status, headers, text) {
    this.status = status;
    this.headers = headers;
    this.text = text;
    this.isStream = (headers['content-type'] ?? '').startsWith('text/event-stream');
    this.events = this.isStream ? events(text) : [];
    this.messages = this.isStream ? this.events.filter((e) => e.data).map((e) => JSON.parse(e.data)) : [];
    try {
      this.message = this.isStream ? this.messages.findLast((m) => m.method === undefined) : JSON.parse(text);
    } catch {
      this.message = undefined;
    }
  }

  get result() {
    return this.message?.result;
  }

  get error() {
    return this.message?.error;
  }

  /** What a refusal says about itself, in either of its forms. */
  get refusal() {
    return this.error?.data ?? this.result?._meta?.['io.writ/refusal'];
  }

  get reason() {
    return this.refusal?.reason;
  }

  /** Text of the first content of a result. */
  get said() {
    return this.result?.content?.[0]?.text;
  }
}

/** Sends one request; the body goes out as it is. */
export function send(origin,
    { method = 'POST', path = '/mcp', headers = {}, body, agent, signal, onSent, onResponse } = {}) {
  return new Promise((resolve, reject) => {
    const bytes = body === undefined ? undefined : Buffer.isBuffer(body)
      ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    const req = http.request(origin + path,
        { method, headers: bytes ? { ...headers, 'content-length': bytes.length } : headers, agent: agent ?? false,
            signal }, (res) => {
      let text = '';
      onResponse?.(res);
      res.setEncoding('utf8').on('data', (d) => { text += d; });
      res.on('end', () => resolve(new Answer(res.statusCode, res.headers, text)));
      res.on('error', reject);
    });
    req.on('error', reject);
    req.on('finish', () => onSent?.(req));
    req.end(bytes);
  });
}

/** Sends raw bytes and gives back all that comes until the peer closes (or `done` says enough). */
export function sendRaw(port, bytes, done = () => false) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.setEncoding('latin1').on('data', (d) => {
      text += d;
      if (done(text)) socket.destroy();
    });
    socket.on('error', (e) => (text === '' ? reject(e) : resolve(text)));
    socket.on('close', () => resolve(text));
  });
}

/** A caller of one gateway: an agent's token, an endpoint, perhaps a session. */
export class Caller {
  constructor(gateway, options = {}) {
    this.gateway = gateway;
    this.options = options;
    this.path = options.path ?? '/mcp';
    this.token = options.token;
    this.modern = options.modern ?? false;
    this.session = undefined;
    this.ids = options.firstId ?? 0;
    this.agent = options.keepAlive ? new http.Agent({ keepAlive: true }) : false;
  }

  headers(message, more = {}) {
    const headers = { ...TYPES };
    if (this.token !== undefined) headers.authorization = `Bearer ${this.token}`;
    if (this.modern) {
      headers['mcp-protocol-version'] = MODERN;
      if (message?.method !== undefined) headers['mcp-method'] = message.method;
      const named = { 'resources/read': 'uri', 'tasks/get': 'taskId', 'tasks/update': 'taskId',
        'tasks/cancel': 'taskId' }[message?.method] ?? 'name';
      const name = message?.params?.[named];
      if (name !== undefined) headers['mcp-name'] = name;
    } else if (this.session !== undefined) {
      headers['mcp-session-id'] = this.session;
      headers['mcp-protocol-version'] = LEGACY;
    }
    for (const [name, value] of Object.entries(more)) {
      if (value === undefined) delete headers[name.toLowerCase()];
      else headers[name.toLowerCase()] = value;
    }
    return headers;
  }

  /** Posts anything: an object, or the very bytes. */
  post(body, options = {}) {
    const message = typeof body === 'string' || Buffer.isBuffer(body) || Array.isArray(body) ? undefined : body;
    return send(this.gateway.origin, {
      path: options.path ?? this.path, headers: this.headers(message, options.headers), body,
      agent: options.agent ?? this.agent, signal: options.signal, onSent: options.onSent,
      onResponse: options.onResponse,
    });
  }

  message(method, params = undefined, id = undefined) {
    const message = { jsonrpc: '2.0', id: id ?? ++this.ids, method };
    if (this.modern) {
      message.params = {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': MODERN, 'io.modelcontextprotocol/clientCapabilities': {},
          'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' }, ...params?._meta,
        },
      };
    } else if (params !== undefined) {
      message.params = params;
    }
    return message;
  }

  request(method, params, options = {}) {
    return this.post(this.message(method, params, options.id), options);
  }

  notify(method, params, options = {}) {
    return this.post({ jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) }, options);
  }

  /** A tools/call. options: key, keyHeader, boundary, state, meta, params (more of them), id, headers, signal. */
  call(name, args = {}, options = {}) {
    return this.post(this.callMessage(name, args, options), {
      ...options, headers: { ...options.headers,
        ...(options.keyHeader === undefined ? {} : { 'idempotency-key': options.keyHeader }) },
    });
  }

  callMessage(name, args = {}, options = {}) {
    const meta = { ...options.meta };
    if (options.key !== undefined) meta['io.writ/idempotencyKey'] = options.key;
    if (options.boundary !== undefined) meta['io.writ/boundaryId'] = options.boundary;
    if (options.state !== undefined) meta['io.writ/targetStateDigest'] = options.state;
    const params = { name, ...(args === undefined ? {} : { arguments: args }), ...options.params };
    if (Object.keys(meta).length > 0) params._meta = meta;
    return this.message('tools/call', params, options.id);
  }

  /** initialize and notifications/initialized. */
  async open(options = {}) {
    const answer = await this.request('initialize', {
      protocolVersion: options.version ?? LEGACY, capabilities: options.capabilities ?? {},
      clientInfo: { name: 'test', version: '1' },
    });
    if (answer.status !== 200) throw new Error(`initialize: ${answer.status} ${answer.text}`);
    this.opened = answer;
    this.session = answer.headers['mcp-session-id'];
    await this.notify('notifications/initialized');
    return this;
  }

  /** DELETE: the end of the session. */
  close() {
    return send(this.gateway.origin,
      { method: 'DELETE', path: this.path, headers: this.headers(undefined, { 'content-type': undefined }) });
  }
}

/** A caller with a session of the legacy family. */
export function openSession(gateway, options = {}) {
  return new Caller(gateway, options).open(options);
}
