// Limited tables are shared: an agent or tenant that fills its share gets an error, and the others are not affected.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { bearer, startGateway, until } from '../support/js/gateway.mjs';
import { resolve } from '../support/npm/peers.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { Caller, LEGACY, openSession } from '../support/js/rpc.mjs';
import { get } from '../support/js/stream.mjs';

const A = bearer('a', { tenant: 'one' });
const B = bearer('b', { tenant: 'one' });
const C = bearer('c', { tenant: 'two' });
const RULES = { 'up/pay': { scope: 'pay', arguments: [{ arg: 'n', op: 'type', value: 'any' }] } };

async function setUp(t, config) {
  const up = await startUpstream(t);
  const gw = await startGateway(t,
    { agents: [A.entry, B.entry, C.entry], upstreams: { up: { http: up.url } }, tools: RULES, ...config });
  const initialize = (who, more = {}) => new Caller(gw, { token: who.token }).request('initialize',
    { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'x', version: '1' }, ...more });
  return { up, gw, initialize };
}

test('an agent gets at most half of the sessions, a tenant three quarters', async (t) => {
  const { up, gw, initialize } = await setUp(t, { limits: { sessions: 8 } });
  const of = (who, n) => Promise.all(Array.from({ length: n }, () => openSession(gw, { token: who.token })));
  const refused = async (who, status, reason) => {
    const opened = up.sessions;
    const answer = await initialize(who);
    assert.equal(answer.status, status, answer.text);
    assert.equal(answer.reason, reason);
    assert.equal(answer.headers['mcp-session-id'], undefined);
    assert.equal(up.sessions, opened, 'the upstream was asked for a session');
  };

  const mine = await of(A, 4);
  for (let i = 0; i < 20; i++) await refused(A, 429, 'share_exceeded'); // also without a trace in the ledger
  await of(B, 2);
  await refused(B, 429, 'share_exceeded');
  const others = await of(C, 2);
  await refused(C, 503, 'overloaded'); // now it is full
  for (const [i, s] of [...mine, ...others].entries())
    assert.equal((await s.call('up__pay', { n: i })).said, `ran ${i + 1}`);
  assert.equal(await gw.metric('writ_refusals_total{reason="share_exceeded"}'), 21);

  assert.equal((await mine[0].close()).status, 200);
  const again = await openSession(gw, { token: A.token });
  await refused(A, 503, 'overloaded');
  await gw.restart();
  for (const s of [again, ...mine.slice(1), ...others]) assert.equal((await s.request('tools/list')).status, 200);
  await refused(A, 429, 'share_exceeded');
});

test('an initialize is accepted up to the body limit, and its session outlives a restart', async (t) => {
  const { up, gw, initialize } = await setUp(t, { limits: { body: '64KiB' } });
  const answer = await initialize(A, { capabilities: { experimental: { x: { y: 'z'.repeat(60_000) } } } });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(up.arrivals.find((a) => a.method === 'initialize').params.capabilities.experimental.x.y.length, 60_000);
  const s = new Caller(gw, { token: A.token });
  s.session = answer.headers['mcp-session-id'];
  assert.equal((await s.call('up__pay', { n: 1 })).said, 'ran 1');
  await gw.restart();
  assert.equal((await s.call('up__pay', { n: 1 })).reason, 'duplicate_outcome');

  const large = await initialize(A, { capabilities: { experimental: { x: { y: 'z'.repeat(70_000) } } } });
  assert.equal(large.status, 413);
  assert.equal(large.reason, 'request_too_large');
});

test('an agent gets at most its configured share of the requests in flight', async (t) => {
  const up = await startUpstream(t);
  const held = [];
  up.onCall = (a) => held.push(a);
  const gw = await startGateway(t, { agents: [A.entry, B.entry, C.entry], upstreams: { up: { http: up.url } },
    tools: RULES, loops: 1, limits: { in_flight: 10, agent_share: 20, tenant_share: 30 } });
  const call = (who, n) => new Caller(gw, { token: who.token, modern: true }).call('up__pay', { n });
  const first = [call(A, 1), call(A, 2)];
  await up.arrived(2);
  const refused = await call(A, 3);
  assert.equal(refused.status, 429, refused.text);
  assert.equal(refused.reason, 'share_exceeded');
  assert.equal(refused.headers['retry-after'], '1');
  const third = call(B, 3);
  await up.arrived(3);
  assert.equal((await call(B, 4)).reason, 'share_exceeded', 'its tenant has three');
  const others = call(C, 5);
  await up.arrived(4);
  for (const a of held) a.text('ran');
  for (const answer of await Promise.all([...first, third, others])) assert.equal(answer.said, 'ran', answer.text);
  up.onCall = undefined;
  assert.match((await call(A, 6)).said, /^ran/, 'what is over is not counted');
});

test('an agent gets at most its share of the children of a stdio upstream', async (t) => {
  const server = resolve('@modelcontextprotocol/server-memory/dist/index.js');
  const gw = await startGateway(t,
    { agents: [A.entry, B.entry, C.entry], upstreams: { up: { stdio: [process.execPath, server], children: 4 } },
      tools: RULES });
  const initialize = () => new Caller(gw, { token: A.token }).request('initialize',
    { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'x', version: '1' } });
  const listen = async (who) => get(gw, await openSession(gw, { token: who.token }));
  const streams = [await listen(A), await listen(A)];
  t.after(() => streams.forEach((s) => s.leave()));
  for (const s of streams) assert.equal(s.status, 200);
  const refused = await initialize();
  assert.equal(refused.status, 429, refused.text);
  assert.equal(refused.reason, 'share_exceeded');
  assert.equal(refused.headers['retry-after'], '1');
  streams.push(await listen(C));
  assert.equal(streams[2].status, 200, 'there is room for others');
  streams[0].leave();
  let again;
  await until(async () => { again = await initialize(); return again.status === 200; }, 'an unused child to make room');
});
