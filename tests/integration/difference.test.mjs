// The same hand-written requests to a server of the official SDK, directly and through the gateway:
// status, headers that mean something, and messages are the same, but for a short list of differences
// that a rule demands (DEMANDED, each with its reason).
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import http from 'node:http';
import { gzipSync } from 'node:zlib';
import { startGateway } from '../support/gateway.mjs';
import { Answer } from '../support/rpc.mjs';
import { startSdkUpstream } from '../support/sdk-upstream.mjs';

const LEGACY = '2025-11-25', MODERN = '2026-07-28';
const JSON_TYPES = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const META = 'io.modelcontextprotocol/';

/** One exchange; what is compared of it. */
function exchange(url, { method = 'POST', headers = {}, body, chunks }) {
  return new Promise((resolve, reject) => {
    const req = http.request(url, { method, headers, agent: false }, (res) => {
      let text = '';
      const done = () => resolve(new Answer(res.statusCode, res.headers, text));
      res.setEncoding('utf8').on('data', (d) => { text += d; });
      res.on('end', done).on('error', reject);
      if (method === 'GET' && res.statusCode === 200) { // a stream without an end: its head is enough
        req.destroy();
        done();
      }
    });
    req.on('error', reject);
    for (const chunk of chunks ?? []) req.write(chunk);
    req.end(body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  });
}

/** What counts of an answer. Of an error that the gateway finds itself, in its own words, the code. One
 * message may come as JSON or as an event: that is the server's choice, and the gateway's for what it
 * makes or filters itself (initialize, lists, errors). */
function compared(answer, ownWords) {
  const messages = answer.isStream ? answer.messages : answer.message === undefined ? [] : [answer.message];
  const whole = messages.length === 1 && messages[0].method === undefined;
  return {
    status: answer.status,
    type: answer.status === 202 || (whole && ownWords) ? undefined : answer.headers['content-type']?.split(';')[0],
    session: answer.headers['mcp-session-id'] !== undefined && answer.message?.result?.protocolVersion !== undefined,
    messages: ownWords ? messages.map((m) => m.error?.code ?? m) : messages,
    names: whole && ownWords ? undefined : answer.events.filter((e) => e.data).map((e) => e.event),
  };
}

// ---- what is asked

const rpc = (id, method, params) => ({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) });
const hello = (version = LEGACY) => rpc(1, 'initialize', { protocolVersion: version, capabilities: {}, clientInfo: { name: 'raw', version: '1' } });
const legacy = (body, headers = {}) => (session) => ({ headers: { ...JSON_TYPES, 'mcp-session-id': session, 'mcp-protocol-version': LEGACY, ...headers }, body });
const without = (request, ...names) => (session) => {
  const made = request(session);
  return { ...made, headers: Object.fromEntries(Object.entries(made.headers).filter(([name]) => !names.includes(name))) };
};
const get = (headers = {}) => (session) => ({ method: 'GET', headers: { accept: 'text/event-stream', 'mcp-session-id': session, 'mcp-protocol-version': LEGACY, ...headers } });

const enveloped = (method, params = {}, id = 1, meta = {}) => rpc(id, method, {
  ...params, _meta: { [`${META}protocolVersion`]: MODERN, [`${META}clientCapabilities`]: {}, [`${META}clientInfo`]: { name: 'raw', version: '1' }, ...meta },
});
const modern = (body, headers = {}) => () => {
  const name = body?.params?.name ?? body?.params?.uri;
  return {
    headers: { ...JSON_TYPES, 'mcp-protocol-version': MODERN, ...(typeof body === 'string' || Array.isArray(body) ? { 'mcp-method': 'tools/list' } : {}),
      ...(body?.method === undefined ? {} : { 'mcp-method': body.method }), ...(name === undefined ? {} : { 'mcp-name': name }), ...headers }, body,
  };
};

const echo = { name: 'echo', arguments: { message: 'hello' } };
const LEGACY_CASES = {
  'initialize': () => ({ headers: JSON_TYPES, body: hello() }),
  'initialize, an older revision': () => ({ headers: JSON_TYPES, body: hello('2025-06-18') }),
  'initialize, an unknown revision': () => ({ headers: JSON_TYPES, body: hello('1999-01-01') }),
  'initialize, with charset': () => ({ headers: { ...JSON_TYPES, 'content-type': 'application/json; charset=utf-8' }, body: hello() }),
  'ping': legacy(rpc(1, 'ping')),
  'ping, id 0': legacy(rpc(0, 'ping')),
  'ping, negative id': legacy(rpc(-7, 'ping')),
  'ping, text id': legacy(rpc('ü-✓', 'ping')),
  'ping, largest id': legacy(rpc(Number.MAX_SAFE_INTEGER, 'ping')),
  'ping, null id': legacy({ jsonrpc: '2.0', id: null, method: 'ping' }),
  'ping, in chunks': (session) => { const { headers } = legacy()(session); const text = JSON.stringify(rpc(2, 'ping')); return { headers, chunks: [text.slice(0, 5), text.slice(5)] }; },
  'tools/call': legacy(rpc(3, 'tools/call', echo)),
  'tools/call, structured': legacy(rpc(4, 'tools/call', { name: 'add', arguments: { a: 1.5, b: 2 } })),
  'tools/call, isError': legacy(rpc(5, 'tools/call', { name: 'fail' })),
  'tools/call, without arguments': legacy(rpc(5, 'tools/call', { name: 'picture' })),
  'tools/call, progress': legacy(rpc(6, 'tools/call', { name: 'steps', arguments: { n: 3 }, _meta: { progressToken: 'p' } })),
  'tools/call, bad arguments': legacy(rpc(7, 'tools/call', { name: 'echo', arguments: { message: 5 } })),
  'tools/call, unknown tool': legacy(rpc(8, 'tools/call', { name: 'nowhere' })),
  'tools/list': legacy(rpc(9, 'tools/list')),
  'prompts/list': legacy(rpc(10, 'prompts/list')),
  'prompts/get': legacy(rpc(11, 'prompts/get', { name: 'greet', arguments: { name: 'you' } })),
  'prompts/get, unknown': legacy(rpc(12, 'prompts/get', { name: 'nowhere' })),
  'prompts/get, bad arguments': legacy(rpc(13, 'prompts/get', { name: 'greet', arguments: {} })),
  'resources/list': legacy(rpc(14, 'resources/list')),
  'resources/templates/list': legacy(rpc(15, 'resources/templates/list')),
  'resources/read': legacy(rpc(16, 'resources/read', { uri: 'test://note' })),
  'resources/read, by template': legacy(rpc(17, 'resources/read', { uri: 'test://page/7' })),
  'resources/read, unknown': legacy(rpc(18, 'resources/read', { uri: 'test://nowhere' })),
  'completion/complete': legacy(rpc(19, 'completion/complete', { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'name', value: 'par' } })),
  'logging/setLevel': legacy(rpc(20, 'logging/setLevel', { level: 'debug' })),
  'logging/setLevel, no level': legacy(rpc(21, 'logging/setLevel', { level: 'loud' })),
  'unknown method': legacy(rpc(22, 'tools/invent')),
  'notification': legacy({ jsonrpc: '2.0', method: 'notifications/initialized' }),
  'notification of a cancellation': legacy({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 99 } }),
  'notification, unknown': legacy({ jsonrpc: '2.0', method: 'notifications/invented' }),
  'response to nothing': legacy({ jsonrpc: '2.0', id: 99, result: {} }),
  'batch': legacy([rpc(23, 'ping'), rpc(24, 'ping')]),
  'empty batch': legacy([]),
  'no version header': without(legacy(rpc(25, 'ping')), 'mcp-protocol-version'),
  'version header of another revision': legacy(rpc(26, 'ping'), { 'mcp-protocol-version': '2025-06-18' }),
  'unknown version header': legacy(rpc(27, 'ping'), { 'mcp-protocol-version': '1999-01-01' }),
  'no session': without(legacy(rpc(28, 'tools/list')), 'mcp-session-id'),
  'unknown session': legacy(rpc(29, 'tools/list'), { 'mcp-session-id': 'nowhere' }),
  'Accept: only JSON': legacy(rpc(30, 'ping'), { accept: 'application/json' }),
  'Accept: only events': legacy(rpc(31, 'ping'), { accept: 'text/event-stream' }),
  'Accept: anything': legacy(rpc(32, 'ping'), { accept: '*/*' }),
  'no Accept': without(legacy(rpc(33, 'ping')), 'accept'),
  'Content-Type: text/plain': legacy(rpc(34, 'ping'), { 'content-type': 'text/plain' }),
  'no Content-Type': without(legacy(rpc(35, 'ping')), 'content-type'),
  'Content-Encoding': (session) => ({ headers: { ...legacy()(session).headers, 'content-encoding': 'gzip' }, body: gzipSync(JSON.stringify(rpc(36, 'ping'))) }),
  'broken JSON': legacy('{"jsonrpc":"2.0",'),
  'no body': legacy(''),
  'JSON that is no message': legacy('"hello"'),
  'no jsonrpc member': legacy({ id: 37, method: 'ping' }),
  'jsonrpc 1.0': legacy({ jsonrpc: '1.0', id: 38, method: 'ping' }),
  'method that is a number': legacy({ jsonrpc: '2.0', id: 39, method: 7 }),
  'params that are an array': legacy({ jsonrpc: '2.0', id: 40, method: 'ping', params: [1] }),
  'GET': get(),
  'GET without events': get({ accept: 'application/json' }),
  'GET without a session': without(get(), 'mcp-session-id'),
  'GET, unknown session': get({ 'mcp-session-id': 'nowhere' }),
  'DELETE, unknown session': () => ({ method: 'DELETE', headers: { 'mcp-session-id': 'nowhere', 'mcp-protocol-version': LEGACY } }),
};
const LAST_CASES = {
  'DELETE': (session) => ({ method: 'DELETE', headers: { 'mcp-session-id': session, 'mcp-protocol-version': LEGACY } }),
  'after DELETE': legacy(rpc(50, 'ping')),
};
const MODERN_CASES = {
  'server/discover': modern(enveloped('server/discover')),
  'tools/list': modern(enveloped('tools/list')),
  'tools/call': modern(enveloped('tools/call', echo)),
  'tools/call, isError': modern(enveloped('tools/call', { name: 'fail' })),
  'tools/call, progress': modern(enveloped('tools/call', { name: 'steps', arguments: { n: 2 } }, 'x', { progressToken: 7 })),
  'tools/call, unknown tool': modern(enveloped('tools/call', { name: 'nowhere' })),
  'tools/call, bad arguments': modern(enveloped('tools/call', { name: 'echo', arguments: {} })),
  'tools/call, a capability that is not declared': modern(enveloped('tools/call', { name: 'ask', arguments: { question: '?' } })),
  'tools/call, asked back': modern(enveloped('tools/call', { name: 'ask', arguments: { question: '?' } }, 2, { [`${META}clientCapabilities`]: { elicitation: {} } })),
  'prompts/get': modern(enveloped('prompts/get', { name: 'greet', arguments: { name: 'you' } })),
  'resources/read': modern(enveloped('resources/read', { uri: 'test://note' })),
  'resources/read, unknown': modern(enveloped('resources/read', { uri: 'test://nowhere' })),
  'unknown method': modern(enveloped('tools/invent')),
  'a method that is gone': modern(enveloped('ping')),
  'initialize': modern(enveloped('initialize', hello().params)),
  'no version header': without(modern(enveloped('tools/list')), 'mcp-protocol-version'),
  'another version in the header': modern(enveloped('tools/list'), { 'mcp-protocol-version': LEGACY }),
  'an unsupported version': modern(enveloped('tools/list', {}, 1, { [`${META}protocolVersion`]: '2027-01-01' }), { 'mcp-protocol-version': '2027-01-01' }),
  'version in the header alone': modern(rpc(1, 'tools/list')),
  'no capabilities': modern(enveloped('tools/list', {}, 1, { [`${META}clientCapabilities`]: undefined })),
  'capabilities that are none': modern(enveloped('tools/list', {}, 1, { [`${META}clientCapabilities`]: 7 })),
  'no client info': modern(enveloped('tools/list', {}, 1, { [`${META}clientInfo`]: undefined })),
  'no Mcp-Method': without(modern(enveloped('tools/list')), 'mcp-method'),
  'another Mcp-Method': modern(enveloped('tools/list'), { 'mcp-method': 'ping' }),
  'no Mcp-Name': without(modern(enveloped('tools/call', echo)), 'mcp-name'),
  'another Mcp-Name': modern(enveloped('tools/call', echo), { 'mcp-name': 'fail' }),
  'Mcp-Name in base64': modern(enveloped('tools/call', echo), { 'mcp-name': `=?base64?${Buffer.from('echo').toString('base64')}?=` }),
  'a session that nobody has': modern(enveloped('tools/list'), { 'mcp-session-id': 'nowhere' }),
  'batch': modern([enveloped('tools/list')]),
  'null id': modern(enveloped('tools/list', {}, null)),
  'no jsonrpc member': modern({ ...enveloped('tools/list'), jsonrpc: undefined }),
  'response': modern({ jsonrpc: '2.0', id: 1, result: {} }),
  'notification': modern({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5, _meta: enveloped('x').params._meta } }),
  'broken JSON': modern('{"jsonrpc"'),
  'Accept: only JSON': modern(enveloped('tools/list'), { accept: 'application/json' }),
  'GET': () => ({ method: 'GET', headers: { accept: 'text/event-stream', 'mcp-protocol-version': MODERN } }),
  'DELETE': () => ({ method: 'DELETE', headers: { 'mcp-protocol-version': MODERN } }),
};

/** Differences that a rule demands: what the gateway answers, and why. */
const DEMANDED = {
  // a batch would hide calls from whoever looks at one message; revisions from 2025-06-18 on have none
  'legacy: batch': { status: 400, code: -32600 },
  // what cannot be read cannot be judged
  'legacy: Content-Encoding': { status: 415, code: -32000 },
  // the stateless revision answers them with 405; this server looks at the method first and takes them for the older ones
  'modern: GET': { status: 405, code: -32000 },
  'modern: DELETE': { status: 405, code: -32000 },
};

// ---- both ways

let cleanups = [], up, gw;
const session = {};

before(async () => {
  const scope = { after: (fn) => cleanups.push(fn) };
  up = await startSdkUpstream(scope);
  const tool = { scope: 's', duplicates: 'allow', arguments: [{ arg: '', op: 'type', value: 'any' }] };
  gw = await startGateway(scope, { upstreams: { up: { http: up.url } }, tools: { 'up/*': tool } });
  for (const [side, url] of Object.entries({ direct: up.url, through: `${gw.origin}/mcp/up` })) {
    const answer = await exchange(url, { headers: JSON_TYPES, body: hello() });
    session[side] = answer.headers['mcp-session-id'];
    await exchange(url, legacy({ jsonrpc: '2.0', method: 'notifications/initialized' })(session[side]));
  }
});

after(async () => {
  for (const fn of cleanups.reverse()) await fn();
});

for (const [era, cases] of [['legacy', LEGACY_CASES], ['modern', MODERN_CASES], ['legacy', LAST_CASES]]) {
  for (const [name, make] of Object.entries(cases)) {
    test(`${era}: ${name}`, async () => {
      const [direct, through] = await Promise.all([
        exchange(up.url, make(session.direct)), exchange(`${gw.origin}/mcp/up`, make(session.through)),
      ]);
      const own = through.error?.data?.reason !== undefined; // the gateway's own words
      const demanded = DEMANDED[`${era}: ${name}`];
      if (demanded === undefined) {
        assert.deepEqual(compared(through, own), compared(direct, own), `${through.status} ${through.text} instead of ${direct.status} ${direct.text}`);
      } else {
        assert.deepEqual({ status: through.status, code: through.error?.code }, demanded, through.text);
        assert.notDeepEqual(compared(through, true), compared(direct, true), `${name} is no difference any more`);
      }
    });
  }
}
