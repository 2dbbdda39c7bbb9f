// stdio upstreams with a child for each session: the gateway is the HTTP side of the transport, and a client gets from
// it what it would get from the server itself, including the server's requests.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SOURCE, bearer, linesOf, startGateway, until } from '../support/js/gateway.mjs';
import { sdk1, sdk2 } from '../support/npm/peers.mjs';
import { Caller, openSession, send } from '../support/js/rpc.mjs';
import { get } from '../support/js/stream.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const SERVER = resolve(SOURCE, 'tests/support/servers/sdk-stdio.mjs');
const A = bearer('a', { tenant: 'one' });
const B = bearer('b', { tenant: 'two' });
const NAMES = ['echo', 'add', 'steps', 'ask', 'wait', 'sample', 'roots', 'say', 'keep', 'show', 'touch', 'grow', 'die'];
const ANY = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }], duplicates: 'allow', timeout: '20s' };

async function setUp(t, { eras = 'both', upstream = {}, also = {}, ...config } = {}) {
  const gw = await startGateway(t, {
    agents: [A.entry, B.entry],
    upstreams: { up: { stdio: [process.execPath, SERVER, eras, 'record'], ...upstream }, ...also },
    tools: Object.fromEntries(NAMES.map((name) => [`up/${name}`, ANY])), ...config,
  });
  const record = () => linesOf(gw.path('record')).map((l) => JSON.parse(l));
  return { gw, record, starts: () => record().filter((r) => r.started).length };
}

const auth = (agent) => ({ requestInit: { headers: { authorization: `Bearer ${agent.token}` } } });

/** An SDK client with every capability, and the messages that it got. */
async function connect(gw, agent, { v = 2, mode = 'legacy', reply = 'yes', capabilities, path = '/mcp/up' } = {}) {
  const sdk = v === 2 ? await sdk2() : await sdk1();
  const all = { sampling: {}, elicitation: v === 2 ? { form: {} } : {}, roots: { listChanged: true } };
  const client = new sdk.Client({ name: 'test', version: '1' },
    { capabilities: capabilities ?? all, ...(v === 2 ? { versionNegotiation: { mode } } : {}) });
  const on = (method, schema, fn) => client.setRequestHandler(v === 2 ? method : sdk[schema], fn);
  const heard = [];
  if (!capabilities) {
    on('elicitation/create', 'ElicitRequestSchema', async () => ({ action: 'accept', content: { reply } }));
    on('sampling/createMessage', 'CreateMessageRequestSchema',
      async () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: reply } }));
    on('roots/list', 'ListRootsRequestSchema', async () => ({ roots: [{ uri: `file:///${reply}`, name: 'r' }] }));
  }
  client.fallbackNotificationHandler = async (n) => { heard.push(n); };
  const transport = new sdk.StreamableHTTPClientTransport(new URL(gw.origin + path), auth(agent));
  await client.connect(transport);
  const call = async (name, args = {}) => (await client.callTool({ name, arguments: args })).content[0].text;
  return { client, transport, call, heard, close: () => client.close() };
}

for (const v of [1, 2]) {
  test(`an SDK v${v} client is asked by the server of its own child, and answers`, async (t) => {
    const { gw } = await setUp(t);
    const [a, b] = [await connect(gw, A, { v, reply: 'a' }), await connect(gw, B, { v, reply: 'b' })];
    t.after(() => Promise.all([a.close(), b.close()]));
    for (const [tool, args, said] of [['ask', { question: 'q' }, 'They said '],
        ['sample', { prompt: 'p' }, 'They said '], ['roots', {}, 'file:///']]) {
      assert.deepEqual(await Promise.all([a.call(tool, args), b.call(tool, args)]), [`${said}a`, `${said}b`], tool);
    }
  });
}

test('a server gets exactly the capabilities of its client', async (t) => {
  const { gw } = await setUp(t);
  const bare = await connect(gw, A, { capabilities: {} });
  t.after(bare.close);
  const result = await bare.client.callTool({ name: 'ask', arguments: { question: 'q' } });
  assert.equal(result.isError, true);
  assert.match(result.content[0].text, /elicitation/i);
});

test('each session has its own child, which ends with the session', async (t) => {
  const { gw, record, starts } = await setUp(t);
  const [a, b] = [await connect(gw, A), await connect(gw, A)];
  t.after(() => Promise.all([a.close(), b.close()]));
  await a.call('keep', { secret: 'of a' });
  assert.deepEqual([await a.call('show'), await b.call('show')], ['of a', 'nothing']);
  assert.equal(starts(), 3, 'one to find out, one for each');
  await a.transport.terminateSession();
  const gone = await gw.waitLog('upstream_child_ends', 0, (l) => l.why === 'session_ended');
  assert.ok(record().some((r) => r.started === gone.pid));
  assert.equal(await b.call('show'), 'nothing');
});

test('a session that ends with its stream open starts no further child', async (t) => {
  const up = await startUpstream(t);
  const { gw, starts } = await setUp(t, { also: { other: { http: up.url } } });
  const s = await openSession(gw, { token: A.token, path: '/mcp' });
  const stream = await get(gw, s);
  assert.equal(stream.status, 200);
  await s.call('up__echo', { message: 'here' });
  const before = starts();
  assert.equal((await s.close()).status, 200);
  await gw.waitLog('upstream_child_ends', 0, (l) => l.why === 'session_ended');
  await stream.done();
  assert.ok(stream.ended, 'its stream ends well');
  await sleep(1500); // the stream of an upstream is requested again after a second
  assert.equal(starts(), before);
  assert.equal((await s.request('ping')).status, 404);
});

test('log messages, list changes and resource updates reach their own session', async (t) => {
  const { gw } = await setUp(t);
  const [a, b] = [await connect(gw, A), await connect(gw, B)];
  t.after(() => Promise.all([a.close(), b.close()]));
  await a.client.subscribeResource({ uri: 'test://note' });
  await a.client.setLoggingLevel('debug');
  assert.equal(await a.call('say', { what: 'canary' }), 'said');
  assert.equal(await a.call('touch', { uri: 'test://note' }), 'touched');
  assert.equal(await a.call('grow'), 'grown');
  const methods = () => a.heard.map((n) => n.method);
  await until(() => methods().length >= 3, 'what the server said');
  assert.deepEqual(methods().sort(),
    ['notifications/message', 'notifications/resources/updated', 'notifications/tools/list_changed']);
  assert.equal(a.heard.find((n) => n.method === 'notifications/message').params.data, 'canary');
  assert.deepEqual(b.heard, []);
});

test('messages sent without an open stream reach the next stream', async (t) => {
  const { gw } = await setUp(t);
  const s = await openSession(gw, { token: A.token, path: '/mcp/up' });
  await s.call('grow', {});
  let heard = '';
  const leave = new AbortController();
  const listening = send(gw.origin,
    { method: 'GET', path: '/mcp/up', headers: s.headers(undefined, { accept: 'text/event-stream' }),
      signal: leave.signal,
    onResponse: (res) => res.on('data', (d) => { heard += d; }) }).catch(() => {});
  await until(() => heard.includes('tools/list_changed'), 'the notice');
  leave.abort();
  await listening;
});

test('a cancellation reaches the call\'s own child and ends the call', async (t) => {
  const { gw, record } = await setUp(t);
  const a = await connect(gw, A);
  t.after(a.close);
  const stop = new AbortController();
  const waiting = a.client.callTool({ name: 'wait', arguments: { name: 'w' } }, { signal: stop.signal })
    .catch((e) => e);
  await until(() => record().some((r) => r.waits === 'w'), 'the call');
  stop.abort();
  await waiting;
  await until(() => record().some((r) => r.cancelled === 'w'), 'the server to hear of it');
  assert.equal(await a.call('echo', { message: 'on' }), 'Echo: on');
});

test('a child that dies ends its calls with a reason, and its session continues with the next child',
    async (t) => {
  const { gw, record } = await setUp(t);
  const a = await connect(gw, A);
  t.after(a.close);
  await a.client.subscribeResource({ uri: 'test://note' });
  await assert.rejects(a.call('die'), (e) => e.data.reason === 'upstream_failed' && e.data.execution === 'unknown');
  assert.equal(await a.call('ask', { question: 'still?' }), 'They said yes',
    'the next child knows what the client can do');
  await until(() => a.heard.some((n) => n.method === 'notifications/tools/list_changed'), 'the notice');
  await until(() => a.heard.some((n) => n.method === 'notifications/message' && n.params.logger === 'writ'),
    'the message');
  assert.equal(record().filter((r) => r.subscribed === 'test://note').length, 2, 'the next child is subscribed again');
  const outcome = gw.show(gw.decisions()[0].decision_id).outcome;
  assert.deepEqual([outcome.outcome, outcome.error_type], ['error', 'exited']);
});

test('a session outlives the gateway, and its next child gets the same initialize', async (t) => {
  const { gw } = await setUp(t);
  const s = await openSession(gw, { token: A.token, path: '/mcp/up' });
  assert.equal((await s.call('echo', { message: '1' })).said, 'Echo: 1');
  await gw.restart();
  assert.equal((await s.call('echo', { message: '2' })).said, 'Echo: 2');
});

test('the number of children is limited: an idle one makes room, a busy one stays', async (t) => {
  const { gw, starts } = await setUp(t, { upstream: { children: 2 }, limits: { agent_share: 100, tenant_share: 100 } });
  const a = await connect(gw, A); // its stream is open
  t.after(a.close);
  const s = await openSession(gw, { token: A.token, path: '/mcp/up' });
  assert.equal((await s.call('echo', { message: 's' })).said, 'Echo: s');
  const more = await openSession(gw, { token: B.token, path: '/mcp/up' });
  assert.equal((await more.call('echo', { message: 'more' })).said, 'Echo: more');
  assert.equal(gw.log.filter((l) => l.event === 'upstream_child_ends' && l.why === 'evicted').length, 2,
    'the spare one, then the idle session\'s');
  assert.equal(await a.call('show'), 'nothing');
  assert.equal(starts(), 4);
  assert.equal((await s.call('echo', { message: 'again' })).said, 'Echo: again', 'it is started again');
});

test('an idle child is stopped', async (t) => {
  const { gw } = await setUp(t, { upstream: { idle: '400ms' } });
  const s = await openSession(gw, { token: A.token, path: '/mcp/up' });
  await s.call('keep', { secret: 'x' });
  await gw.waitLog('upstream_child_ends', 0, (l) => l.why === 'idle');
  await sleep(600);
  assert.equal((await s.call('show', {})).said, 'nothing');
});

test('requests without a session share a child only with the same agent', async (t) => {
  const { gw } = await setUp(t);
  const [a, also, b] = [A, A, B].map((agent) => new Caller(gw, { token: agent.token, path: '/mcp/up' }));
  await a.call('keep', { secret: 'of a' });
  assert.equal((await also.call('show', {})).said, 'of a');
  assert.equal((await b.call('show', {})).said, 'nothing');
});

/** A subscription of a stateless client: its messages, and how it leaves. */
function listen(c, id, notifications) {
  const stop = new AbortController();
  const heard = { text: '' };
  const message = c.message('subscriptions/listen', { notifications }, id);
  heard.done = c.post(message, { signal: stop.signal, onResponse: (res) => {
    heard.status = res.statusCode;
    res.on('data', (d) => { heard.text += d; });
  } }).catch(() => {});
  heard.leave = () => { stop.abort(); return heard.done; };
  heard.messages = () => heard.text.split('\n').filter((l) => l.startsWith('data: {'))
    .map((l) => JSON.parse(l.slice(6)));
  return heard;
}
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

test('stateless subscriptions over stdio have their own names and get what they asked for', async (t) => {
  const { gw, record } = await setUp(t, { eras: 'modern' });
  const [a, also, b] = [A, A, B].map((agent) => new Caller(gw, { token: agent.token, path: '/mcp/up', modern: true }));
  const [one, two, other] = [listen(a, 'sub', { toolsListChanged: true }),
    listen(also, 7, { resourceSubscriptions: ['test://note'] }), listen(b, 'sub', { toolsListChanged: true })];
  t.after(() => Promise.all([one, two, other].map((l) => l.leave())));
  await until(() => [one, two, other].every((l) => l.text.includes('acknowledged')), 'the acknowledgements');
  assert.deepEqual([one, two].map((l) => l.messages()[0].params._meta[SUBSCRIPTION]), ['sub', 7]);
  assert.equal((await a.call('grow', {})).said, 'grown');
  assert.equal((await a.call('touch', { uri: 'test://note' })).said, 'touched');
  await until(() => one.messages().length === 2 && two.messages().length === 2, 'what was subscribed to');
  assert.deepEqual([one.messages()[1].method, one.messages()[1].params._meta[SUBSCRIPTION]],
    ['notifications/tools/list_changed', 'sub']);
  assert.deepEqual([two.messages()[1].method, two.messages()[1].params._meta[SUBSCRIPTION]],
    ['notifications/resources/updated', 7]);
  assert.equal(other.messages().length, 1, 'another agent has another child');
  await one.leave();
  assert.equal((await a.call('grow', {})).said, 'grown');
  assert.equal((await a.call('touch', { uri: 'test://note' })).said, 'touched');
  await until(() => two.messages().length === 3, 'the next update');
  assert.equal(one.messages().length, 2);
  assert.equal(new Set(record().filter((r) => r.ran).map((r) => r.pid)).size, 1, 'one agent has one child');
});

test('a client of the stateless revision that leaves cancels its own call', async (t) => {
  const { gw, record } = await setUp(t);
  const a = new Caller(gw, { token: A.token, path: '/mcp/up', modern: true });
  const stop = new AbortController();
  const waiting = a.call('wait', { name: 'w' }, { signal: stop.signal }).catch(() => {});
  await until(() => record().some((r) => r.waits === 'w'), 'the call');
  stop.abort();
  await waiting;
  await until(() => record().some((r) => r.cancelled === 'w'), 'the server to hear of it');
  assert.equal((await a.call('echo', { message: 'on' })).said, 'Echo: on');
});

test('a log message reaches the request that asked for it, and no request if it could be another\'s', async (t) => {
  const { gw, record } = await setUp(t, { eras: 'modern' });
  const [a, also] = [A, A].map((agent) => new Caller(gw, { token: agent.token, path: '/mcp/up', modern: true }));
  const meta = { 'io.modelcontextprotocol/logLevel': 'debug' };
  const alone = await a.call('say', { what: 'canary' }, { meta });
  assert.ok(alone.messages.some((m) => m.method === 'notifications/message' && m.params.data === 'canary'), alone.text);
  const stop = new AbortController();
  const waiting = also.call('wait', { name: 'w' }, { meta, signal: stop.signal }).catch(() => {});
  await until(() => record().some((r) => r.waits === 'w'), 'the other call');
  const crowded = await a.call('say', { what: 'canary' }, { meta });
  assert.ok(!crowded.text.includes('canary'), crowded.text);
  stop.abort();
  await waiting;
});

/** A request whose answer is read as it arrives; leave() breaks the connection. */
function follow(s, body, { method = 'POST', headers } = {}) {
  const stop = new AbortController();
  const heard = { text: '' };
  heard.done = send(s.gateway.origin, {
    method, path: s.path,
    headers: s.headers(body, { accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
      ...headers }), body, signal: stop.signal,
    onResponse: (res) => { heard.status = res.statusCode; res.on('data', (d) => { heard.text += d; }); },
  }).catch(() => undefined);
  heard.leave = () => { stop.abort(); return heard.done; };
  heard.ids = () => [...heard.text.matchAll(/^id: (.*)$/gm)].map((m) => m[1]);
  heard.messages = () => heard.text.split('\n').filter((l) => l.startsWith('data: {'))
    .map((l) => JSON.parse(l.slice(6)));
  return heard;
}

test('a call whose client lost its stream is resumed by GET and stays one call', async (t) => {
  const { gw, record } = await setUp(t);
  const s = await openSession(gw, { token: A.token, path: '/mcp/up', capabilities: { sampling: {} } });
  const call = follow(s, s.callMessage('sample', { prompt: 'p' }, { id: 'lost' }));
  await until(() => call.messages().length === 1, 'the question');
  assert.match(call.text, /^id: [^\n]+\nevent: message\nretry: \d+\ndata: ?\n\n/m,
    'it begins with where it is, and nothing else');
  const [asked] = call.messages();
  const last = call.ids().at(-1);
  await call.leave();
  assert.equal((await s.post({ jsonrpc: '2.0', id: asked.id,
    result: { role: 'assistant', model: 'm', content: { type: 'text', text: 'yes' } } })).status, 202);
  const rest = follow(s, undefined, { method: 'GET', headers: { 'last-event-id': last } });
  await until(() => rest.messages().length === 1, 'the answer');
  assert.deepEqual([rest.messages()[0].id, rest.messages()[0].result.content[0].text], ['lost', 'They said yes']);
  await rest.done;
  const again = follow(s, undefined, { method: 'GET', headers: { 'last-event-id': last } });
  await until(() => again.messages().length === 1, 'the answer again');
  assert.deepEqual(again.messages(), rest.messages());
  await again.done;
  for (const { token } of [A, B]) { // an event id of one session is refused in another, and so is the session's id
    const other = await openSession(gw, { token, path: '/mcp/up' });
    const get = (headers) =>
      send(gw.origin, { method: 'GET', path: '/mcp/up',
        headers: other.headers(undefined, { accept: 'text/event-stream', 'last-event-id': last, ...headers }) });
    assert.deepEqual([(await get()).status, (await get()).error.code], [400, -32000]);
    if (token === B.token) assert.equal((await get({ 'mcp-session-id': s.session })).status, 404);
  }
  assert.equal(record().filter((r) => r.ran === 'sample').length, 1);
  await until(() => gw.show(gw.decisions()[0].decision_id).outcome?.outcome === 'executed', 'the outcome');
});

test('when the client does not return, the gateway resumes the call and records its outcome', async (t) => {
  const { gw, record } = await setUp(t);
  const s = await openSession(gw, { token: A.token, path: '/mcp/up', capabilities: { sampling: {} } });
  const call = follow(s, s.callMessage('sample', { prompt: 'p' }));
  await until(() => call.messages().length === 1, 'the question');
  const [asked] = call.messages();
  await call.leave();
  await sleep(700); // the gateway has seen it
  await s.post({ jsonrpc: '2.0', id: asked.id,
    result: { role: 'assistant', model: 'm', content: { type: 'text', text: 'yes' } } });
  await until(() => gw.show(gw.decisions()[0].decision_id).outcome?.outcome === 'executed', 'the outcome');
  assert.equal(record().filter((r) => r.ran === 'sample').length, 1);
});

test('a slow answer gets a resumable stream', async (t) => {
  const { gw } = await setUp(t);
  const s = await openSession(gw, { token: A.token, path: '/mcp/up' });
  const call = follow(s, s.callMessage('wait', { name: 'w' }, { id: 'w' }));
  await until(() => call.ids().length === 1, 'the first event');
  await s.notify('notifications/cancelled', { requestId: 'w' });
  await call.leave();
});

test('the stream of a session resumes after the last event, and repeats only lost events', async (t) => {
  const { gw } = await setUp(t);
  const s = await openSession(gw, { token: A.token, path: '/mcp/up' });
  const first = follow(s, undefined, { method: 'GET' });
  await until(() => first.ids().length === 1, 'where it begins');
  await s.call('grow', {});
  await until(() => first.messages().length === 1, 'the first notice');
  const [start, seen] = first.ids();
  await first.leave();
  await s.call('touch', { uri: 'test://note' });
  for (const [from, methods] of [[seen, []], [start, ['notifications/tools/list_changed']]]) {
    const next = follow(s, undefined, { method: 'GET', headers: { 'last-event-id': from } });
    await until(() => methods.every((m) => next.messages().some((n) => n.method === m)), 'what was lost');
    await sleep(200);
    assert.equal(next.messages().filter((n) => n.method === 'notifications/tools/list_changed').length, methods.length);
    await next.leave();
  }
  const nonsense = follow(s, undefined, { method: 'GET', headers: { 'last-event-id': '12-34-56' } });
  await nonsense.done;
  assert.ok(nonsense.status >= 400);
});
