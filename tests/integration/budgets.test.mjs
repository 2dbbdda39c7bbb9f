// writ budget list: the remainder of each budget, counted from the signed records while the gateway runs.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { bearer, startGateway, writ } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { openSession } from '../support/js/rpc.mjs';

const ARGUMENTS = [{ arg: 'n', op: 'type', value: 'number' }];
const DAY_US = 86_400_000_000;
// a window of 366 days does not end while this runs, but for one moment a year
const rule = (budget) =>
  ({ scope: 's', arguments: ARGUMENTS, duplicates: 'allow', budgets: [{ window: '366d', ...budget }] });

test('budget list prints limit, use, remainder, release time and owner', async (t) => {
  const up = await startUpstream(t);
  const [A, B] = [bearer('a', { tenant: 'acme' }), bearer('b', { tenant: 'bolt' })];
  const agents = [A, B, bearer('ann')].map((agent) => agent.entry);
  const gw = await startGateway(t, { agents, upstreams: { up: { http: up.url } }, tools: {
    'up/pay': rule({ name: 'money', per: ['agent'], sum: { arg: 'n', max: '100.50' } }),
    'up/look': rule({ name: 'looks', per: ['tool'], calls: 3 }),
    'up/both': rule({ name: 'looks', per: ['tool'], calls: 3 }),
    'up/idle': rule({ name: 'unused', calls: 7 }),
    'up/held': { ...rule({ name: 'held', calls: 2 }), approval: { review: 'ann' } },
  }, reviews: { ann: { voters: [{ id: 'ann' }] } } });
  const a = await openSession(gw, { token: A.token });
  const b = await openSession(gw, { token: B.token });
  assert.ok((await a.call('up__pay', { n: 0.25 })).said);
  assert.ok((await a.call('up__pay', { n: 100 })).said);
  assert.equal((await a.call('up__pay', { n: 1 })).reason, 'budget_exceeded');
  assert.ok((await b.call('up__pay', { n: 2 })).said);
  assert.ok((await a.call('up__look', { n: 1 })).said);
  assert.ok((await b.call('up__look', { n: 2 })).said);
  up.onCall = (answer) => answer.error(-1, 'no'); // it may have run: the amount stays used
  await b.call('up__both', { n: 3 });

  const run = writ(['budget', 'list', gw.configFile, '--json']);
  assert.equal(run.code, 0, run.err);
  const { at, budgets } = JSON.parse(run.out);
  const window = Math.floor(Date.parse(at) * 1000 / (366 * DAY_US));
  const of = (name) => budgets.filter((x) => x.budget === name)
    .map((x) => [x.used, x.left, x.limit, x.agent_id, x.tenant, x.upstream, x.tool].join()).sort();
  assert.deepEqual(of('money'), ['100.25,0.25,100.5,a,acme,,', '2,98.5,100.5,b,bolt,,']);
  assert.deepEqual(of('looks'), ['1,2,3,,,up,both', '2,1,3,,,up,look'], 'one name, one counter for each tool');
  assert.deepEqual(of('unused'), ['0,7,7,,,,']);
  assert.ok(budgets.every((x) => x.window_us === 366 * DAY_US));
  assert.equal(Date.parse(budgets.find((x) => x.budget === 'money').frees_at) * 1000, (window + 1) * 366 * DAY_US);
  assert.equal(budgets.find((x) => x.budget === 'unused').frees_at, null);

  const text = writ(['budget', 'list', gw.configFile]).out.trimEnd().split('\n');
  assert.match(text[0], /^BUDGET +USED +LEFT +LIMIT +FREES +AGENT +TENANT +UPSTREAM +TOOL$/);
  assert.ok(text.some((l) => /^looks {2}2 {2}1 {2}3 {2}\d{4}-\S+Z {2}- {2}- {2}up {2}look$/.test(l)), text.join('\n'));
  assert.ok(text.includes('unused  0  7  7  -  -  -  -  -'));
});

test('an amount with more decimals than a budget can count is refused, and uses nothing up', async (t) => {
  const up = await startUpstream(t);
  const agents = [bearer('a'), bearer('b')];
  const gw = await startGateway(t, { agents: agents.map((agent) => agent.entry), upstreams: { up: { http: up.url } },
    tools: { 'up/pay': rule({ name: 'all', sum: { arg: 'n', max: '10000.00' } }) } });
  const [a, b] = await Promise.all(agents.map(({ token }) => openSession(gw, { token })));
  for (const n of [1e-300, 1e-30]) {
    const refused = await a.call('up__pay', { n });
    assert.equal(refused.reason, 'constraint_failed', refused.text);
    assert.equal(refused.refusal.argument, '/n');
  }
  assert.ok((await a.call('up__pay', { n: 1e-29 })).said);
  for (const n of [100.5, 1, 9000]) assert.ok((await b.call('up__pay', { n })).said);
  const [all] = JSON.parse(writ(['budget', 'list', gw.configFile, '--json']).out).budgets;
  assert.equal(all.used, '9101.50000000000000000000000000001');
});

test('budget list returns the amount of a call that did not run, like the gateway', async (t) => {
  const up = await startUpstream(t);
  const gw = await startGateway(t,
    { upstreams: { up: { http: up.url } }, tools: { 'up/pay': rule({ name: 'one', calls: 1 }) } });
  const s = await openSession(gw);
  await up.close();
  const answer = await s.call('up__pay', { n: 1 });
  assert.equal(gw.show(answer.refusal.decision_id).outcome.error_type, 'not_sent', answer.text);
  const [one] = JSON.parse(writ(['budget', 'list', gw.configFile, '--json']).out).budgets;
  assert.deepEqual([one.used, one.left], ['0', '1']);
});

test('budget list reports a configuration without budgets or without a ledger', async (t) => {
  const up = await startUpstream(t);
  const gw = await startGateway(t, { upstreams: { up: { http: up.url } }, tools: {} });
  assert.equal(writ(['budget', 'list', gw.configFile]).out, 'the configuration has no budgets\n');
  assert.deepEqual(JSON.parse(writ(['budget', 'list', gw.configFile, '--json']).out).budgets, []);
  assert.equal(writ(['budget', 'list', gw.path('none.yaml')]).code, 3);
});
