// Where the arguments of a call came from, when several gateways serve its run.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import '../support/js/on-postgres.mjs';
import { sound, startFleet } from '../support/js/fleet.mjs';
import { bearer } from '../support/js/gateway.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const HONEST = 'GB29NWBK60161331926819';
const EVIL = 'DE89370400440532013000';
const ADA = bearer('ada', { tenant: 'acme' });
const RUN = { boundary: 'run' };
const reason = (answer) => answer.refusal?.reason;

async function setUp(t) {
  const up = await startUpstream(t, { onMessage: (arrival) => (arrival.method === 'resources/read'
    ? (arrival.result({ contents: [{ uri: arrival.params.uri, text: EVIL }] }), true) : undefined), onCall: (call) => {
    if (call.params.name !== 'bills') return call.text('done');
    return call.result({ content: [], structuredContent: { bills: [{ to: HONEST, note: EVIL }] } });
  } });
  const [a, b] = await startFleet(t, { agents: [ADA.entry], upstreams: { up: { http: up.url } },
    tools: { 'up/bills': { scope: 's', duplicates: 'allow',
      labels: { trusted_at: ['/bills/*/to'], confidentiality: ['private'] } },
    'up/mail': { scope: 's', duplicates: 'allow' },
    'up/pay': { scope: 's', arguments: [{ arg: 'to', op: 'from', value: ['trusted'] }] } },
    flows: [{ tools: ['up/mail'], after: ['untrusted', 'private'] }], tasks: { agents: ['ada'] } });
  const [at_a, at_b] = [await openSession(a, { token: ADA.token }), await openSession(b, { token: ADA.token })];
  return { up, a, b, at_a, at_b };
}

test('a trusted value that gateway a saw is accepted at gateway b, and labels of a refuse there', async (t) => {
  const { up, a, b, at_a, at_b } = await setUp(t);
  const pay = (s, to) => s.call('up__pay', { to }, RUN);
  assert.equal((await at_b.call('up__mail', {}, RUN)).said, 'done');
  assert.equal(reason(await pay(at_b, HONEST)), 'source_not_permitted', 'b has a state of the run from before');
  await at_a.call('up__bills', {}, RUN);
  assert.equal((await pay(at_b, HONEST)).said, 'done');
  assert.equal(reason(await pay(at_b, EVIL)), 'source_not_permitted');
  assert.equal(reason(await at_b.call('up__mail', {}, RUN)), 'flow_not_permitted');
  assert.deepEqual(up.calls.map((c) => c.params.name), ['mail', 'bills', 'pay']);
  sound(a);
  sound(b);
});

test('a resource that was read at gateway a belongs to the run at gateway b', async (t) => {
  const { a, b, at_a, at_b } = await setUp(t);
  assert.equal((await at_b.call('up__mail', {}, RUN)).said, 'done', 'b has a state of the run from before');
  const read = await at_a.request('resources/read',
    { uri: 'bank://bills', _meta: { 'io.writ/boundaryId': RUN.boundary } });
  assert.equal(read.result.contents[0].text, EVIL);
  const refused = await at_b.call('up__pay', { to: EVIL }, RUN);
  assert.equal(reason(refused), 'source_not_permitted');
  const { found } = b.show(refused.refusal.decision_id).decision.extensions.writ.flow.arguments[0];
  assert.deepEqual([found.source, found.at], ['untrusted', '/contents/*/text']);
  sound(a);
  sound(b);
});

test('a task that gateway a was told narrows the run at gateway b', async (t) => {
  const { a, b, at_b } = await setUp(t);
  assert.equal((await at_b.call('up__mail', {}, RUN)).said, 'done', 'b has a state of the run from before');
  const res = await fetch(`${a.origin}/v1/runs`, { method: 'POST',
    headers: { authorization: `Bearer ${ADA.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ boundary_id: RUN.boundary, task: { text: 'List the bills.', tools: ['up/b*'] } }) });
  assert.equal(res.status, 200, await res.text());
  assert.equal(reason(await at_b.call('up__mail', {}, RUN)), 'task_not_granted');
  assert.equal((await at_b.call('up__bills', {}, RUN)).refusal, undefined);
  sound(a);
  sound(b);
});

test('gateways that judge by turns know what the other one added, and nothing twice', async (t) => {
  const { a, b, at_a, at_b } = await setUp(t);
  const by = [at_a, at_b];
  for (let i = 0; i < 20; i++) {
    assert.equal((await by[i % 2].call('up__mail', {}, RUN)).said, 'done');
    await Promise.all(by.map((s) => s.call('up__bills', {}, { boundary: `other-${i % 3}` })));
  }
  await at_b.call('up__bills', {}, RUN);
  for (const s of by) assert.equal(reason(await s.call('up__mail', {}, RUN)), 'flow_not_permitted');
  assert.equal((await at_a.call('up__pay', { to: HONEST }, RUN)).said, 'done');
  sound(a);
  sound(b);
});
