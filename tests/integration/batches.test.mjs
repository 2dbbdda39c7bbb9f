// JSON-RPC batches, which revision 2025-03-26 has: every message in one is judged, claimed, recorded
// and answered as if it had come alone, and none gets past the policy by coming with others.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { SOURCE, startGateway, until } from '../support/js/gateway.mjs';
import { Caller, LEGACY, MODERN } from '../support/js/rpc.mjs';
import { startSdkUpstream } from '../support/servers/sdk-upstream.mjs';

const text = (arg) => ({ arg, op: 'type', value: 'string' });
const TOOLS = {
  'up/echo': { scope: 's', arguments: [text('message'), { arg: 'message', op: 'max_length', value: 20 }] },
  'up/steps': { scope: 's', arguments: [{ arg: 'n', op: 'type', value: 'number' }] },
  'io/sample': { scope: 's', arguments: [text('prompt')] }, 'io/echo': { scope: 's', arguments: [text('message')] },
  'up/wait': { scope: 's', arguments: [text('name')] },
};
const OLD = '2025-03-26';

let cleanups = [];
const scope = { after: (fn) => cleanups.push(fn) };
let up, gw;

before(async () => {
  up = await startSdkUpstream(scope);
  gw = await startGateway(scope,
    { upstreams: { up: { http: up.url },
      io: { stdio: [process.execPath, resolve(SOURCE, 'tests/support/servers/sdk-stdio.mjs'), 'legacy', 'record'] } },
      tools: TOOLS });
});

after(async () => {
  for (const fn of cleanups.reverse()) await fn();
});

/** A session of that revision; `post` sends a batch with its header, or with none. */
async function session(header, path = '/mcp/up') {
  const c = new Caller(gw, { path });
  const opened = await c.post({ jsonrpc: '2.0', id: 0, method: 'initialize',
    params: { protocolVersion: OLD, capabilities: { sampling: {} }, clientInfo: { name: 't', version: '1' } } });
  assert.equal(opened.status, 200, opened.text);
  c.session = opened.headers['mcp-session-id'];
  const headers = { 'mcp-protocol-version': header };
  await c.notify('notifications/initialized', undefined, { headers });
  return { c, batch: (messages, options = {}) =>
    c.post(JSON.stringify(messages), { ...options, headers: { ...headers, ...options.headers } }) };
}

let serial = 0;
const fresh = (t) => `${t} ${++serial}`;
const call = (id, name, args) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } });
const byId = (list) => Object.fromEntries(list.map((m) => [m.id, m]));
/** All answers of a batch, whichever way they came. */
const answersOf = (answer) =>
  (answer.isStream ? answer.messages.flat() : JSON.parse(answer.text)).filter((m) => m.method === undefined);

for (const [name, header] of [['with its header', OLD], ['without a header', undefined]]) {
  test(`the gateway judges, records and answers each message of a batch separately, ${name}`, async () => {
    const { batch } = await session(header);
    const before = gw.decisions().length;
    const message = fresh('hi');
    const answer = await batch([
      call(1, 'echo', { message }), call('two', 'echo', { message: 'x'.repeat(21) }), call(3, 'hidden', {}),
      { jsonrpc: '2.0', id: 4, method: 'ping' },
      { jsonrpc: '2.0', method: 'notifications/roots/list_changed' }, call(5, 'echo', { message }),
      { jsonrpc: '2.0', id: 6, method: 'tools/list' },
    ]);
    assert.equal(answer.status, 200);
    const got = byId(answersOf(answer));
    assert.equal(Object.keys(got).length, 6);
    assert.deepEqual(got[4].result, {});
    assert.deepEqual(got[6].result.tools.map((x) => x.name), ['echo', 'steps', 'wait']);
    assert.equal(got.two.error.data.reason, 'constraint_failed');
    assert.equal(got[3].error.code, -31001);
    const twins = [got[1], got[5]];
    assert.equal(twins.filter((m) => m.result?.content[0].text === `Echo: ${message}`).length, 1,
      'the same call twice in one batch runs once');
    assert.match(twins.find((m) => m.error).error.data.reason, /^duplicate_/);
    assert.equal(gw.decisions().length - before, 4);
    gw.verify();
  });
}

test('a batch that contains a stream is answered by one stream of events', async () => {
  const { c, batch } = await session(OLD);
  const steps = call(2, 'steps', { n: 2 });
  steps.params._meta = { progressToken: 'p' };
  const answer = await batch([call(1, 'echo', { message: fresh('s') }), steps,
    call(3, 'echo', { message: fresh('s') })]);
  assert.ok(answer.isStream, answer.text);
  assert.deepEqual(Object.keys(byId(answersOf(answer))), ['1', '2', '3']);
  assert.equal(answer.messages.filter((m) => m.method === 'notifications/progress').length, 2);
  assert.equal((await c.request('ping', undefined, { headers: { 'mcp-protocol-version': OLD } })).status, 200);
});

test('a batch of notifications and responses is accepted without an answer', async () => {
  const { batch } = await session(OLD);
  const answer = await batch([{ jsonrpc: '2.0', method: 'notifications/roots/list_changed' },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 77 } }]);
  assert.deepEqual([answer.status, answer.text], [202, '']);
});

test('a request of the server inside a batch is answered by another POST', async () => {
  const { c, batch } = await session(OLD, '/mcp/io');
  let heard = '';
  const waiting = batch([call(1, 'sample', { prompt: 'q' }), call(2, 'echo', { message: fresh('a') })],
      { onResponse: (res) => res.on('data', (d) => {
    heard += d;
  }) });
  const line = await until(() => heard.split('\n').find((l) => l.includes('sampling/createMessage') &&
    l.startsWith('data:')), 'the question');
  const asked = JSON.parse(line.slice(5));
  const reply = await c.post({ jsonrpc: '2.0', id: asked.id,
    result: { role: 'assistant', model: 'm', content: { type: 'text', text: 'yes' } } },
    { headers: { 'mcp-protocol-version': OLD } });
  assert.equal(reply.status, 202);
  assert.equal(byId(answersOf(await waiting))[1].result.content[0].text, 'They said yes');
});

test('an invalid batch is refused whole and none of its calls runs', async () => {
  const { c, batch } = await session(OLD);
  const before = [gw.decisions().length, up.calls().length];
  const good = () => call(1, 'echo', { message: fresh('no') });
  const modern = { jsonrpc: '2.0', id: 2, method: 'tools/list',
    params: { _meta: { 'io.modelcontextprotocol/protocolVersion': MODERN } } };
  const refused = [
    [[], {}], [Array.from({ length: 33 }, (_, i) => call(i, 'echo', { message: 'x' })), {}],
    [[good(), { jsonrpc: '2.0', id: 0, method: 'initialize', params: {} }], {}], [[good(), modern], {}],
    ...['2025-06-18', LEGACY, MODERN].map((v) => [[good()], { headers: { 'mcp-protocol-version': v } }]),
  ];
  for (const [messages, options] of refused) {
    const answer = await batch(messages, options);
    assert.deepEqual([answer.status, answer.error?.code, answer.reason], [400, -32600, 'batch_refused'], answer.text);
  }
  assert.deepEqual([gw.decisions().length, up.calls().length], before);
  assert.equal((await batch(Array.from({ length: 32 }, (_, i) => ({ jsonrpc: '2.0', id: i, method: 'ping' })))).status,
    200, 'the most there may be');
  c.session = 'nobody-s';
  const unknown = await batch([good(), good()]);
  assert.equal(unknown.status, 404);
});

test('an invalid message of a batch is refused without the others', async () => {
  const { batch } = await session(OLD);
  const message = fresh('ok');
  const answer = await batch([1, [call(8, 'echo', { message: 'nested' })],
    { jsonrpc: '2.0', method: 'tools/call', params: { name: 'echo', arguments: { message: 'no id' } } },
    { id: 9, method: 'ping' }, call(2, 'echo', { message })]);
  const got = answersOf(answer);
  assert.equal(got.length, 5);
  assert.equal(got.filter((m) => m.error?.code === -32600).length, 4);
  assert.equal(byId(got)[2].result.content[0].text, `Echo: ${message}`);
});

test('a client that leaves a batch cancels no call, and each call is recorded', async () => {
  const { batch } = await session(OLD);
  const name = fresh('w');
  const stop = new AbortController();
  const left = batch([call(1, 'wait', { name }), call(2, 'echo', { message: fresh('left') })], { signal: stop.signal })
    .catch(() => 'left');
  await until(() => up.effects.wait > 0 && up.waiting.has(name), 'the call to run');
  stop.abort();
  assert.equal(await left, 'left');
  up.release(name);
  const decision = gw.decisions().findLast((d) => d.tool === 'wait');
  await until(() => gw.show(decision.decision_id).outcome?.outcome === 'executed', 'the outcome');
});
