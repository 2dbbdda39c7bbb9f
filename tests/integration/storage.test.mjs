// The ledger taken away from under a serving gateway: calls are refused, nothing is forwarded, nothing is lost,
// and it goes on without a restart. What a failing disk does is in disk.test.mjs.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { startGateway, until } from '../support/gateway.mjs';
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

test('an edit behind the gateway\'s back is found, and no call goes through any more', async (t) => {
  const { up, gw } = await setUp(t, { ledger: { scrub_every: '1s' } });
  const s = await openSession(gw);
  for (const n of [1, 2, 3]) assert.equal((await s.call('up__pay', { n })).status, 200);

  const other = new DatabaseSync(gw.path('ledger.db'));
  other.exec("UPDATE body SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"seq\":0', '\"seq\":9') AS BLOB) WHERE leaf = 0");
  other.close();
  await until(async () => (await s.call('up__pay', { n: 4 })).refusal?.reason === 'ledger_unavailable', 'the edit to be found');
  const before = up.calls.length;
  assert.equal((await s.call('up__pay', { n: 5 })).refusal.reason, 'ledger_unavailable');
  assert.equal(up.calls.length, before);
  assert.match((await gw.waitLog('ledger_poisoned')).why, /^the ledger was changed behind the gateway's back: record 0: /);
});
