// The same hand-written requests to a server of the official SDK, directly and through the gateway:
// status, headers that mean something, and messages are the same, but for a short list of differences
// that a rule demands (DEMANDED, each with its reason).
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import http from 'node:http';
import { gzipSync } from 'node:zlib';
import { fileURLToPath } from 'node:url';
import { startGateway } from '../support/js/gateway.mjs';
import { Answer } from '../support/js/rpc.mjs';
import { startSdkUpstream } from '../support/servers/sdk-upstream.mjs';

const STDIO = fileURLToPath(new URL('../support/servers/sdk-stdio.mjs', import.meta.url));
const LEGACY = '2025-11-25', MODERN = '2026-07-28';
const JSON_TYPES = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const META = 'io.modelcontextprotocol/';
const PATIENCE_MS = 60_000;

/** One exchange. Of a stream without an end: its head, and `events` of its events. */
function exchange(url,
    { method = 'POST', path = '', headers = {}, body, chunks, trailers, waits = false, events = 0 }) {
  return new Promise((resolve, reject) => {
    const req = http.request(url + path,
        { method, headers, agent: false, maxHeaderSize: 1 << 18, timeout: PATIENCE_MS }, (res) => {
      let text = '';
      const told = () => (events === 0 ? text : text.split('\n\n').slice(0, events).join('\n\n'));
      const done = () => resolve(new Answer(res.statusCode, res.headers, told()));
      const leave = () => { req.destroy(); done(); };
      const endless = res.statusCode === 200 && (events > 0 || method === 'GET');
      res.setEncoding('utf8').on('data', (d) => {
        text += d;
        if (events > 0 && text.split('\n\n').length > events) leave();
      });
      res.on('end', done).on('error', reject);
      if (endless && events === 0) leave();
    });
    req.on('error', reject).on('timeout', () => req.destroy(new Error('no answer')));
    const write = () => {
      for (const chunk of chunks ?? []) req.write(chunk);
      if (trailers) req.addTrailers(trailers);
      req.end(body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
    };
    if (!waits) return write();
    req.on('continue', write);
    req.flushHeaders();
  });
}

/** The compared parts of an answer. For an error that the gateway finds itself, in its own words, only the code. One
 * message may come as JSON or as an event: the server chooses, and the gateway chooses for messages that it makes or
 * filters itself (initialize, lists, errors). */
function compared(answer, ownWords) {
  const messages = answer.isStream ? answer.messages : answer.message === undefined ? [] : [answer.message];
  const whole = messages.length === 1 && messages[0].method === undefined;
  return {
    status: answer.status,
    type: answer.status === 202 || (whole && ownWords) ? undefined : answer.headers['content-type']?.split(';')[0],
    session: answer.headers['mcp-session-id'] !== undefined && answer.message?.result?.protocolVersion !== undefined,
    messages: answer.status === 431 ? [] : ownWords ? messages.map((m) => m.error?.code ?? m) : messages,
    names: whole && ownWords ? undefined : answer.events.filter((e) => e.data).map((e) => e.event),
  };
}

// ---- the requests

const rpc = (id, method, params) => ({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) });
const hello = (version = LEGACY) =>
  rpc(1, 'initialize', { protocolVersion: version, capabilities: {}, clientInfo: { name: 'raw', version: '1' } });
const legacy = (body, headers = {}) => (session) =>
  ({ headers: { ...JSON_TYPES, 'mcp-session-id': session, 'mcp-protocol-version': LEGACY, ...headers }, body });
const without = (request, ...names) => (session) => {
  const made = request(session);
  return { ...made,
    headers: Object.fromEntries(Object.entries(made.headers).filter(([name]) => !names.includes(name))) };
};
const get = (headers = {}) => (session) =>
  ({ method: 'GET', headers: { accept: 'text/event-stream', 'mcp-session-id': session, 'mcp-protocol-version': LEGACY,
    ...headers } });

const enveloped = (method, params = {}, id = 1, meta = {}) => rpc(id, method, {
  ...params, _meta: { [`${META}protocolVersion`]: MODERN, [`${META}clientCapabilities`]: {},
    [`${META}clientInfo`]: { name: 'raw', version: '1' }, ...meta },
});
const modern = (body, headers = {}) => () => {
  const name = body?.params?.name ?? body?.params?.uri;
  return {
    headers: { ...JSON_TYPES, 'mcp-protocol-version': MODERN,
      ...(typeof body === 'string' || Array.isArray(body) ? { 'mcp-method': 'tools/list' } : {}),
      ...(body?.method === undefined ? {} : { 'mcp-method': body.method }),
      ...(name === undefined ? {} : { 'mcp-name': name }), ...headers }, body,
  };
};

const echo = { name: 'echo', arguments: { message: 'hello' } };
const LEGACY_CASES = {
  'initialize': () => ({ headers: JSON_TYPES, body: hello() }),
  'initialize, an older revision': () => ({ headers: JSON_TYPES, body: hello('2025-06-18') }),
  'initialize, an unknown revision': () => ({ headers: JSON_TYPES, body: hello('1999-01-01') }),
  'initialize, with charset': () =>
    ({ headers: { ...JSON_TYPES, 'content-type': 'application/json; charset=utf-8' }, body: hello() }),
  'ping': legacy(rpc(1, 'ping')),
  'ping, id 0': legacy(rpc(0, 'ping')),
  'ping, negative id': legacy(rpc(-7, 'ping')),
  'ping, text id': legacy(rpc('ü-✓', 'ping')),
  'ping, largest id': legacy(rpc(Number.MAX_SAFE_INTEGER, 'ping')),
  'ping, null id': legacy({ jsonrpc: '2.0', id: null, method: 'ping' }),
  'ping, in chunks': (session) => {
    const { headers } = legacy()(session);
    const text = JSON.stringify(rpc(2, 'ping'));
    return { headers, chunks: [text.slice(0, 5), text.slice(5)] };
  },
  'tools/call': legacy(rpc(3, 'tools/call', echo)),
  'tools/call, structured': legacy(rpc(4, 'tools/call', { name: 'add', arguments: { a: 1.5, b: 2 } })),
  'tools/call, isError': legacy(rpc(5, 'tools/call', { name: 'fail' })),
  'tools/call, without arguments': legacy(rpc(5, 'tools/call', { name: 'picture' })),
  'tools/call, progress': legacy(rpc(6, 'tools/call',
    { name: 'steps', arguments: { n: 3 }, _meta: { progressToken: 'p' } })),
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
  'completion/complete': legacy(rpc(19, 'completion/complete',
    { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'name', value: 'par' } })),
  'logging/setLevel': legacy(rpc(20, 'logging/setLevel', { level: 'debug' })),
  'logging/setLevel, no level': legacy(rpc(21, 'logging/setLevel', { level: 'loud' })),
  'unknown method': legacy(rpc(22, 'tools/invent')),
  'notification': legacy({ jsonrpc: '2.0', method: 'notifications/initialized' }),
  'notification of a cancellation': legacy({ jsonrpc: '2.0', method: 'notifications/cancelled',
    params: { requestId: 99 } }),
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
  'Content-Encoding': (session) =>
    ({ headers: { ...legacy()(session).headers, 'content-encoding': 'gzip' },
      body: gzipSync(JSON.stringify(rpc(36, 'ping'))) }),
  'broken JSON': legacy('{"jsonrpc":"2.0",'),
  'no body': legacy(''),
  'JSON that is not a message': legacy('"hello"'),
  'no jsonrpc member': legacy({ id: 37, method: 'ping' }),
  'jsonrpc 1.0': legacy({ jsonrpc: '1.0', id: 38, method: 'ping' }),
  'method that is a number': legacy({ jsonrpc: '2.0', id: 39, method: 7 }),
  'params that are an array': legacy({ jsonrpc: '2.0', id: 40, method: 'ping', params: [1] }),
  'GET': get(),
  'GET without events': get({ accept: 'application/json' }),
  'GET without a session': without(get(), 'mcp-session-id'),
  'GET, unknown session': get({ 'mcp-session-id': 'nowhere' }),
  'initialize, without params': () => ({ headers: JSON_TYPES, body: rpc(1, 'initialize') }),
  'initialize, with bad params': () => ({ headers: JSON_TYPES, body: rpc(1, 'initialize', { protocolVersion: 7 }) }),
  'initialize, as a notification': () =>
    ({ headers: JSON_TYPES, body: { jsonrpc: '2.0', method: 'initialize', params: hello().params } }),
  'initialize, again in the session': legacy(hello()),
  'initialize, with an unknown session': legacy(hello(), { 'mcp-session-id': 'nowhere' }),
  'initialize, with an unknown version header': () =>
    ({ headers: { ...JSON_TYPES, 'mcp-protocol-version': '1999-01-01' }, body: hello() }),
  'ping, id of a fraction': legacy(rpc(1.5, 'ping')),
  'ping, id of a text that is long': legacy(rpc('x'.repeat(2000), 'ping')),
  'ping, id that is true': legacy(rpc(true, 'ping')),
  'ping, id that is an object': legacy(rpc({}, 'ping')),
  'ping, with _meta': legacy(rpc(1, 'ping', { _meta: { a: [1, { b: null }] } })),
  'ping, with a progress token': legacy(rpc(1, 'ping', { _meta: { progressToken: 'p' } })),
  'ping, with a trailer': (session) =>
    ({ headers: { ...legacy()(session).headers, 'transfer-encoding': 'chunked', trailer: 'x-more' },
      chunks: [JSON.stringify(rpc(2, 'ping'))], trailers: { 'x-more': '1' } }),
  'ping, after 100-continue': (session) =>
    ({ headers: { ...legacy()(session).headers, expect: '100-continue',
      'content-length': JSON.stringify(rpc(2, 'ping')).length }, body: rpc(2, 'ping'), waits: true }),
  'ping, with a query': (session) => ({ ...legacy(rpc(1, 'ping'))(session), path: '?a=1' }),
  'ping, a field of 8000 bytes': legacy(rpc(1, 'ping'), { 'x-long': 'x'.repeat(8000) }),
  'ping, a field of 200000 bytes': legacy(rpc(1, 'ping'), { 'x-long': 'x'.repeat(200_000) }),
  'ping, spaces around': legacy(` \n\t${JSON.stringify(rpc(1, 'ping'))}\r\n `),
  'ping, with a BOM': legacy(`\ufeff${JSON.stringify(rpc(1, 'ping'))}`),
  'ping, with something behind it': legacy(`${JSON.stringify(rpc(1, 'ping'))}x`),
  'ping, an unknown member': legacy({ ...rpc(1, 'ping'), more: 1 }),
  'ping, a method and a result': legacy({ ...rpc(1, 'ping'), result: {} }),
  'ping, Accept with weights': legacy(rpc(1, 'ping'), { accept: 'text/event-stream;q=0.5, application/json;q=0.9' }),
  'ping, Accept in capitals': legacy(rpc(1, 'ping'), { accept: 'Application/JSON, Text/Event-Stream' }),
  'ping, Accept of kinds': legacy(rpc(1, 'ping'), { accept: 'application/*, text/*' }),
  'ping, Accept of something else': legacy(rpc(1, 'ping'), { accept: 'image/png' }),
  'ping, Accept-Encoding': legacy(rpc(1, 'ping'), { 'accept-encoding': 'gzip, deflate, br' }),
  'ping, Content-Type in capitals': legacy(rpc(1, 'ping'), { 'content-type': 'Application/JSON' }),
  'ping, Content-Type of another charset': legacy(rpc(1, 'ping'),
    { 'content-type': 'application/json; charset=utf-16' }),
  'ping, Content-Type that only begins so': legacy(rpc(1, 'ping'), { 'content-type': 'application/jsonp' }),
  'ping, Content-Encoding: identity': legacy(rpc(1, 'ping'), { 'content-encoding': 'identity' }),
  'ping, no id': legacy({ jsonrpc: '2.0', method: 'ping' }),
  'method that is empty': legacy(rpc(1, '')),
  'method that differs by case': legacy(rpc(1, 'Tools/List')),
  'method of the stateless revision': legacy(rpc(1, 'server/discover')),
  'subscriptions/listen in a session': legacy(rpc(1, 'subscriptions/listen', { notifications: {} })),
  'tasks/get of a server without tasks': legacy(rpc(1, 'tasks/get', { taskId: 't' })),
  'tasks/list of a server without tasks': legacy(rpc(1, 'tasks/list')),
  'a request of servers': legacy(rpc(1, 'sampling/createMessage', { messages: [], maxTokens: 1 })),
  'notification that is a request': legacy({ jsonrpc: '2.0', method: 'tools/list' }),
  'notification with an empty name': legacy({ jsonrpc: '2.0', method: '' }),
  'notification of progress': legacy({ jsonrpc: '2.0', method: 'notifications/progress',
    params: { progressToken: 'x', progress: 1 } }),
  'notification of roots': legacy({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' }),
  'notification without a session': without(legacy({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    'mcp-session-id'),
  'cancellation without an id': legacy({ jsonrpc: '2.0', method: 'notifications/cancelled', params: {} }),
  'error to nothing': legacy({ jsonrpc: '2.0', id: 99, error: { code: -1, message: 'no' } }),
  'response without an id': legacy({ jsonrpc: '2.0', result: {} }),
  'response without a session': without(legacy({ jsonrpc: '2.0', id: 99, result: {} }), 'mcp-session-id'),
  'tools/list, a cursor': legacy(rpc(9, 'tools/list', { cursor: 'nowhere' })),
  'tools/list, params null': legacy(rpc(9, 'tools/list', null)),
  'tools/list, progress token': legacy(rpc(9, 'tools/list', { _meta: { progressToken: 1 } })),
  'tools/call, without params': legacy(rpc(9, 'tools/call')),
  'tools/call, name that is a number': legacy(rpc(9, 'tools/call', { name: 7 })),
  'tools/call, arguments that are an array': legacy(rpc(9, 'tools/call', { name: 'echo', arguments: ['hello'] })),
  'tools/call, arguments null': legacy(rpc(9, 'tools/call', { name: 'picture', arguments: null })),
  'tools/call, deep arguments': legacy(rpc(9, 'tools/call',
    { name: 'echo', arguments: { message: 'x', more: JSON.parse('['.repeat(40) + ']'.repeat(40)) } })),
  'tools/call, signs of all kinds': legacy(rpc(9, 'tools/call',
    { name: 'echo', arguments: { message: '\u0001\u2028😀é\u202e"\\/' } })),
  'prompts/get, without params': legacy(rpc(9, 'prompts/get')),
  'resources/read, without params': legacy(rpc(9, 'resources/read')),
  'resources/read, uri that is a number': legacy(rpc(9, 'resources/read', { uri: 7 })),
  'resources/read, no uri': legacy(rpc(9, 'resources/read', { uri: 'not a uri' })),
  'resources/list, a cursor': legacy(rpc(9, 'resources/list', { cursor: 'nowhere' })),
  'resources/subscribe': legacy(rpc(9, 'resources/subscribe', { uri: 'test://note' })),
  'resources/unsubscribe': legacy(rpc(9, 'resources/unsubscribe', { uri: 'test://note' })),
  'resources/subscribe, without params': legacy(rpc(9, 'resources/subscribe')),
  'completion/complete, unknown prompt': legacy(rpc(9, 'completion/complete',
    { ref: { type: 'ref/prompt', name: 'nowhere' }, argument: { name: 'name', value: '' } })),
  'completion/complete, unknown argument': legacy(rpc(9, 'completion/complete',
    { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'nobody', value: '' } })),
  'completion/complete, a resource': legacy(rpc(9, 'completion/complete',
    { ref: { type: 'ref/resource', uri: 'test://page/{n}' }, argument: { name: 'n', value: '1' } })),
  'completion/complete, no ref': legacy(rpc(9, 'completion/complete', { argument: { name: 'name', value: '' } })),
  'logging/setLevel, without params': legacy(rpc(9, 'logging/setLevel')),
  'version header that is empty': legacy(rpc(9, 'ping'), { 'mcp-protocol-version': '' }),
  'version header of two': legacy(rpc(9, 'ping'), { 'mcp-protocol-version': `${LEGACY}, ${LEGACY}` }),
  'version header of the stateless revision': legacy(rpc(9, 'ping'), { 'mcp-protocol-version': MODERN }),
  'session that is empty': legacy(rpc(9, 'ping'), { 'mcp-session-id': '' }),
  'session that is long': legacy(rpc(9, 'ping'), { 'mcp-session-id': 'x'.repeat(3000) }),
  'GET, Last-Event-ID of nowhere': get({ 'last-event-id': 'nowhere' }),
  'GET, Accept of anything': get({ accept: '*/*' }),
  'GET, Accept of both': get({ accept: 'text/event-stream, application/json' }),
  'GET, unknown version header': get({ 'mcp-protocol-version': '1999-01-01' }),
  'GET with a body': (session) =>
    ({ ...get({ 'content-type': 'application/json', 'content-length': 2 })(session), body: '{}' }),
  'DELETE without a session': () => ({ method: 'DELETE', headers: { 'mcp-protocol-version': LEGACY } }),
  'DELETE, unknown version header': (session) =>
    ({ method: 'DELETE', headers: { 'mcp-session-id': session, 'mcp-protocol-version': '1999-01-01' } }),
  'HEAD': (session) => ({ ...get()(session), method: 'HEAD' }),
  'OPTIONS': (session) => ({ ...get()(session), method: 'OPTIONS' }),
  'PUT': (session) => ({ ...legacy(rpc(1, 'ping'))(session), method: 'PUT' }),
  'PATCH': (session) => ({ ...legacy(rpc(1, 'ping'))(session), method: 'PATCH' }),
  'DELETE, unknown session': () =>
    ({ method: 'DELETE', headers: { 'mcp-session-id': 'nowhere', 'mcp-protocol-version': LEGACY } }),
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
  'tools/call, progress': modern(enveloped('tools/call', { name: 'steps', arguments: { n: 2 } }, 'x',
    { progressToken: 7 })),
  'tools/call, unknown tool': modern(enveloped('tools/call', { name: 'nowhere' })),
  'tools/call, bad arguments': modern(enveloped('tools/call', { name: 'echo', arguments: {} })),
  'tools/call, a capability that is not declared': modern(enveloped('tools/call',
    { name: 'ask', arguments: { question: '?' } })),
  'tools/call, asked back': modern(enveloped('tools/call', { name: 'ask', arguments: { question: '?' } }, 2,
    { [`${META}clientCapabilities`]: { elicitation: {} } })),
  'prompts/get': modern(enveloped('prompts/get', { name: 'greet', arguments: { name: 'you' } })),
  'resources/read': modern(enveloped('resources/read', { uri: 'test://note' })),
  'resources/read, unknown': modern(enveloped('resources/read', { uri: 'test://nowhere' })),
  'unknown method': modern(enveloped('tools/invent')),
  'a method that is gone': modern(enveloped('ping')),
  'initialize': modern(enveloped('initialize', hello().params)),
  'no version header': without(modern(enveloped('tools/list')), 'mcp-protocol-version'),
  'another version in the header': modern(enveloped('tools/list'), { 'mcp-protocol-version': LEGACY }),
  'an unsupported version': modern(enveloped('tools/list', {}, 1, { [`${META}protocolVersion`]: '2027-01-01' }),
    { 'mcp-protocol-version': '2027-01-01' }),
  'version in the header alone': modern(rpc(1, 'tools/list')),
  'no capabilities': modern(enveloped('tools/list', {}, 1, { [`${META}clientCapabilities`]: undefined })),
  'capabilities that are none': modern(enveloped('tools/list', {}, 1, { [`${META}clientCapabilities`]: 7 })),
  'no client info': modern(enveloped('tools/list', {}, 1, { [`${META}clientInfo`]: undefined })),
  'no Mcp-Method': without(modern(enveloped('tools/list')), 'mcp-method'),
  'another Mcp-Method': modern(enveloped('tools/list'), { 'mcp-method': 'ping' }),
  'no Mcp-Name': without(modern(enveloped('tools/call', echo)), 'mcp-name'),
  'another Mcp-Name': modern(enveloped('tools/call', echo), { 'mcp-name': 'fail' }),
  'Mcp-Name in base64': modern(enveloped('tools/call', echo),
    { 'mcp-name': `=?base64?${Buffer.from('echo').toString('base64')}?=` }),
  'an unknown session': modern(enveloped('tools/list'), { 'mcp-session-id': 'nowhere' }),
  'batch': modern([enveloped('tools/list')]),
  'null id': modern(enveloped('tools/list', {}, null)),
  'no jsonrpc member': modern({ ...enveloped('tools/list'), jsonrpc: undefined }),
  'response': modern({ jsonrpc: '2.0', id: 1, result: {} }),
  'notification': modern({ jsonrpc: '2.0', method: 'notifications/cancelled',
    params: { requestId: 5, _meta: enveloped('x').params._meta } }),
  'broken JSON': modern('{"jsonrpc"'),
  'Accept: only JSON': modern(enveloped('tools/list'), { accept: 'application/json' }),
  'prompts/list': modern(enveloped('prompts/list')),
  'prompts/get, unknown': modern(enveloped('prompts/get', { name: 'nowhere' })),
  'resources/list': modern(enveloped('resources/list')),
  'resources/templates/list': modern(enveloped('resources/templates/list')),
  'completion/complete': modern(enveloped('completion/complete',
    { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'name', value: 'par' } })),
  'logging/setLevel': modern(enveloped('logging/setLevel', { level: 'debug' })),
  'resources/subscribe': without(modern(enveloped('resources/subscribe', { uri: 'test://note' })), 'mcp-name'),
  'tasks/get, undeclared': modern(enveloped('tasks/get', { taskId: 't' }), { 'mcp-name': 't' }),
  'subscriptions/listen': () =>
    ({ ...modern(enveloped('subscriptions/listen', { notifications: { toolsListChanged: true } }, 'sub'))(),
      events: 1 }),
  'subscriptions/listen, to nothing': () =>
    ({ ...modern(enveloped('subscriptions/listen', { notifications: {} }, 7))(), events: 1 }),
  'subscriptions/listen, without a wish': modern(enveloped('subscriptions/listen')),
  'tools/call, without params': modern({ jsonrpc: '2.0', id: 1, method: 'tools/call' }),
  'tools/call, without a name': modern(enveloped('tools/call', { arguments: {} })),
  'tools/call, input that was not asked for': modern(enveloped('tools/call',
    { ...echo, inputResponses: { q: { action: 'accept', content: {} } } })),
  'tools/call, an unknown state': modern(enveloped('tools/call', { ...echo, requestState: 'x' })),
  'tools/call, a log level': modern(enveloped('tools/call', echo, 1, { [`${META}logLevel`]: 'debug' })),
  'tools/list, a cursor': modern(enveloped('tools/list', { cursor: 'nowhere' })),
  'tools/list, id of a text': modern(enveloped('tools/list', {}, 'ü-✓')),
  'tools/list, id of a fraction': modern(enveloped('tools/list', {}, 1.5)),
  'tools/list, without params': modern({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  'tools/list, _meta that is none': modern(rpc(1, 'tools/list', { _meta: 7 })),
  'tools/list, version that is a number': modern(enveloped('tools/list', {}, 1, { [`${META}protocolVersion`]: 7 })),
  'tools/list, client info that is none': modern(enveloped('tools/list', {}, 1, { [`${META}clientInfo`]: 7 })),
  'tools/list, an unknown Mcp-Param': modern(enveloped('tools/list'), { 'mcp-param-region': 'x' }),
  'tools/list, a name that nothing has': modern(enveloped('tools/list'), { 'mcp-name': 'x' }),
  'tools/list, Last-Event-ID': modern(enveloped('tools/list'), { 'last-event-id': 'x' }),
  'tools/list, after 100-continue': () => {
    const { headers, body } = modern(enveloped('tools/list'))();
    return { headers: { ...headers, expect: '100-continue', 'content-length': JSON.stringify(body).length }, body,
      waits: true };
  },
  'Mcp-Method in capitals': modern(enveloped('tools/list'), { 'mcp-method': 'Tools/List' }),
  'Mcp-Method with spaces': modern(enveloped('tools/list'), { 'mcp-method': '  tools/list  ' }),
  'Mcp-Name that is empty': modern(enveloped('tools/call', echo), { 'mcp-name': '' }),
  'Mcp-Name with spaces': modern(enveloped('tools/call', echo), { 'mcp-name': '  echo ' }),
  'Mcp-Name in broken base64': modern(enveloped('tools/call', echo), { 'mcp-name': '=?base64?!?=' }),
  'Mcp-Name in another case of base64': modern(enveloped('tools/call', echo),
    { 'mcp-name': `=?BASE64?${Buffer.from('echo').toString('base64')}?=` }),
  'a notification that is unknown': modern({ jsonrpc: '2.0', method: 'notifications/invented',
    params: { _meta: enveloped('x').params._meta } }),
  'Accept: only events': modern(enveloped('tools/list'), { accept: 'text/event-stream' }),
  'Accept: anything': modern(enveloped('tools/list'), { accept: '*/*' }),
  'no Accept': without(modern(enveloped('tools/list')), 'accept'),
  'Content-Type: text/plain': modern(enveloped('tools/list'), { 'content-type': 'text/plain' }),
  'HEAD': () => ({ method: 'HEAD', headers: { 'mcp-protocol-version': MODERN } }),
  'OPTIONS': () => ({ method: 'OPTIONS', headers: { 'mcp-protocol-version': MODERN } }),
  'PUT': () => ({ ...modern(enveloped('tools/list'))(), method: 'PUT' }),
  'GET': () => ({ method: 'GET', headers: { accept: 'text/event-stream', 'mcp-protocol-version': MODERN } }),
  'DELETE': () => ({ method: 'DELETE', headers: { 'mcp-protocol-version': MODERN } }),
};

/** Differences that a rule demands: what the gateway answers, over which transport (both, else the one
 * named), and why. Over stdio the gateway is the HTTP side, and what a server may choose is its choice. */
const DEMANDED = {
  // a batch would hide calls from an inspector of single messages; revisions from 2025-06-18 on have none
  'legacy: batch': { status: 400, code: -32600 },
  // an unreadable request cannot be judged
  'legacy: Content-Encoding': { status: 415, code: -32000 },
  // JSON that is exchanged is UTF-8 (RFC 8259 8.1); this server reads it as such and ignores the claim
  'legacy: ping, Content-Type of another charset': { status: 415, code: -32000 },
  // an id is in every record of its call: it has a limit
  'legacy: ping, id of a text that is long': { status: 400, code: -32600 },
  // no head may be read in two ways: a GET has no body
  'legacy: GET with a body': { status: 400, code: -32600 },
  // what policy cannot judge is refused, with a record of it
  'legacy: tools/call, arguments that are an array': { status: 200, code: -31001 },
  'legacy: tools/call, arguments null': { status: 200, code: -31001 },
  // a state continues a waiting call, or is refused; this server ignores it
  'modern: tools/call, an unknown state': { status: 200, code: -31001 },
  // an agent does not learn whether tasks of other agents exist
  'legacy: tasks/get of a server without tasks': { status: 200, code: -32602 },
  'modern: tasks/get, undeclared': { status: 400, code: -32021 },
  // a header must name what the body names (docs/running.md, "What goes upstream")
  'modern: tools/list, a name that nothing has': { status: 400, code: -32020 },
  // the stateless revision answers them with 405; this server checks the method first and takes them for the older ones
  'modern: GET': { status: 405, code: -32000 },
  'modern: DELETE': { status: 405, code: -32000 },
  'modern: HEAD': { status: 405 },
  'modern: OPTIONS': { status: 405, code: -32000 },
  'modern: PUT': { status: 405, code: -32000 },

  // kinds of media are compared as HTTP says, ranges and all (RFC 9110 12.5.1); this server compares texts
  'legacy: Accept: anything': { over: 'stdio', status: 200 },
  'legacy: no Accept': { over: 'stdio', status: 200 },
  'legacy: ping, Accept in capitals': { over: 'stdio', status: 200 },
  'legacy: ping, Accept of kinds': { over: 'stdio', status: 200 },
  // sessions are optional: a request without one is served by a child of the agent
  'legacy: no session': { over: 'stdio', status: 200 },
  'legacy: notification without a session': { over: 'stdio', status: 202 },
  // the server itself reads its input; the error text over HTTP is this test server's own
  'legacy: initialize, without params': { over: 'stdio', status: 200, code: -32603 },
  'legacy: initialize, with bad params': { over: 'stdio', status: 200, code: -32603 },
  // streams can be resumed, so an unknown event is refused; this server keeps none and ignores it
  'legacy: GET, Last-Event-ID of nowhere': { over: 'stdio', status: 400, code: -32000 },
};

// ---- both ways

let cleanups = [], up, gw;
const KINDS = ['http', 'stdio'], urls = {};
const session = {};

before(async () => {
  const scope = { after: (fn) => cleanups.push(fn) };
  up = await startSdkUpstream(scope);
  const tool = { scope: 's', duplicates: 'allow', arguments: [{ arg: '', op: 'type', value: 'any' }] };
  gw = await startGateway(scope,
    { upstreams: { http: { http: up.url }, stdio: { stdio: [process.execPath, STDIO, 'both'] } },
      tools: { 'http/*': tool, 'stdio/*': tool } });
  for (const kind of KINDS) { // a session of its own for each, with the server and with the gateway
    urls[`${kind}, direct`] = up.url;
    urls[`${kind}, through`] = `${gw.origin}/mcp/${kind}`;
  }
  for (const [side, url] of Object.entries(urls)) {
    const answer = await exchange(url, { headers: JSON_TYPES, body: hello() });
    session[side] = answer.headers['mcp-session-id'];
    await exchange(url, legacy({ jsonrpc: '2.0', method: 'notifications/initialized' })(session[side]));
  }
});

after(async () => {
  for (const fn of cleanups.reverse()) await fn();
});

/** Where a head is too long a server may close before all of it was sent. */
const reach = (side, make) => exchange(urls[side], make(session[side])).catch((error) => {
  if (error.code === 'ECONNRESET' || error.code === 'EPIPE') return new Answer(431, {}, '');
  throw error;
});

for (const [era, cases] of [['legacy', LEGACY_CASES], ['modern', MODERN_CASES], ['legacy', LAST_CASES]]) {
  for (const [name, make] of Object.entries(cases)) {
    for (const kind of KINDS) {
      test(`${era}: ${name} (${kind})`, async () => {
        const [direct, through] =
          await Promise.all(['direct', 'through'].map((side) => reach(`${kind}, ${side}`, make)));
        // the gateway's own words
        const own = kind === 'stdio' || through.error?.data?.reason !== undefined || direct.status === 431;
        const demanded = DEMANDED[`${era}: ${name}`];
        if (demanded === undefined || (demanded.over ?? kind) !== kind) {
          assert.deepEqual(compared(through, own), compared(direct, own),
            `${through.status} ${through.text} instead of ${direct.status} ${direct.text}`);
        } else {
          assert.deepEqual([through.status, through.error?.code], [demanded.status, demanded.code], through.text);
          assert.notDeepEqual(compared(through, true), compared(direct, true), `${name} is no difference any more`);
        }
      });
    }
  }
}
