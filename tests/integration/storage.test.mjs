// The ledger taken away from under a serving gateway: calls are refused, nothing is forwarded, nothing is lost,
// and it goes on without a restart. And: what was secret stays out of everything that is written.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { bearer, startGateway, until } from '../support/gateway.mjs';
import { startUpstream } from '../support/upstream.mjs';
import { openSession } from '../support/rpc.mjs';

const RULES = { 'up/pay': { scope: 'pay', arguments: [{ arg: 'n', op: 'type', value: 'any' }] } };

async function setUp(t, config = {}) {
  const up = await startUpstream(t);
  const gw = await startGateway(t, { upstreams: { up: { http: up.url } }, tools: RULES, ...config });
  return { up, gw };
}

test('a database that somebody else has locked refuses calls, and takes them again afterwards', async (t) => {
  const { up, gw } = await setUp(t, { ledger: { busy_timeout: '200ms' } });
  const s = await openSession(gw);
  assert.equal((await s.call('up__pay', { n: 1 })).status, 200);
  assert.equal(up.calls.length, 1);

  const other = new DatabaseSync(gw.path('ledger.db'));
  other.exec('BEGIN IMMEDIATE');
  const refused = await s.call('up__pay', { n: 2 });
  assert.equal(refused.refusal.reason, 'ledger_unavailable');
  assert.equal(up.calls.length, 1);
  other.exec('ROLLBACK');
  other.close();

  await until(async () => (await s.call('up__pay', { n: 3 })).refusal === undefined, 'the ledger to be back');
  assert.equal(up.calls.filter((call) => call.arguments.n === 2).length, 0);
  assert.equal(up.calls.filter((call) => call.arguments.n === 3).length, 1);
  gw.verify();
});

test('no secret of a call is in a log, a metric or the ledger', async (t) => {
  const canary = (name) => `canary-${name}-5f1c0d`;
  const agent = bearer('dev', { token: canary('token'), tenant: 'local' });
  const { up, gw } = await setUp(t, { agents: [agent.entry], log: { level: 'debug' } });
  up.onCall = (a) => (a.arguments.n === canary('fail') ? a.error(-32000, canary('error')) : a.result({ content: [{ type: 'text', text: canary('result') }] }));
  const s = await openSession(gw, { token: agent.token });
  for (const n of [canary('argument'), canary('fail')]) await s.call('up__pay', { n });
  await s.call('up__pay', { n: 1, [canary('name')]: canary('value') });
  assert.equal(up.calls.length, 2);
  const { text: metrics } = await gw.admin('/metrics');
  assert.match(metrics, /writ_decisions_total/);
  gw.verify();

  const files = readdirSync(gw.dir, { recursive: true }).map((f) => join(gw.dir, f)).filter((f) => statSync(f).isFile());
  for (const [where, text] of [['metrics', metrics], ['log', gw.logText], ...files.map((f) => [f, readFileSync(f, 'latin1')])]) {
    assert.ok(!text.includes('canary-'), where);
  }
  assert.ok(files.some((f) => f.endsWith('ledger.db')));
});
