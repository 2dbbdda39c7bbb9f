// The ledger becomes unavailable under a serving gateway: calls are refused, no call is forwarded or lost, and it
// recovers without a restart. A ledger that was changed, cut or restored while no gateway ran does not start. Failing
// disks are in disk.test.mjs.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { startGateway, until, writ } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { openSession } from '../support/js/rpc.mjs';

const RULES = { 'up/pay': { scope: 'pay', arguments: [{ arg: 'n', op: 'type', value: 'any' }] } };

async function setUp(t, config = {}) {
  const up = await startUpstream(t);
  const gw = await startGateway(t, { upstreams: { up: { http: up.url } }, tools: RULES, ...config });
  return { up, gw };
}

test('calls are refused while another process locks the database, and accepted afterwards', async (t) => {
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

test('an edit of a live ledger is found, and every later call is refused', async (t) => {
  const { up, gw } = await setUp(t, { ledger: { scrub_every: '1s' } });
  const s = await openSession(gw);
  for (const n of [1, 2, 3]) assert.equal((await s.call('up__pay', { n })).status, 200);

  const other = new DatabaseSync(gw.path('ledger.db'));
  other.exec("UPDATE body SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"seq\":0', '\"seq\":9') AS BLOB) WHERE " +
    "leaf = 0");
  other.close();
  await until(async () => (await s.call('up__pay', { n: 4 })).refusal?.reason === 'ledger_unavailable',
    'the edit to be found');
  const before = up.calls.length;
  assert.equal((await s.call('up__pay', { n: 5 })).refusal.reason, 'ledger_unavailable');
  assert.equal(up.calls.length, before);
  assert.match((await gw.waitLog('ledger_poisoned')).why,
    /^another program changed the ledger: record 0: /);
});

function edit(gw, ...statements) {
  const db = new DatabaseSync(gw.path('ledger.db'));
  for (const statement of statements) db.exec(statement);
  db.close();
}

test('a ledger that was cut or changed at its end does not start and reports why', async (t) => {
  const { gw } = await setUp(t);
  const s = await openSession(gw);
  for (const n of [1, 2, 3]) assert.equal((await s.call('up__pay', { n })).status, 200);
  await gw.stop();
  copyFileSync(gw.path('ledger.db'), gw.path('whole.db'));

  for (const [change, word] of [
    [['DELETE FROM record WHERE leaf = (SELECT max(leaf) FROM record)',
      'DELETE FROM body WHERE leaf = (SELECT max(leaf) FROM body)'], /something was cut off/],
    [['DELETE FROM head WHERE leaf = (SELECT max(leaf) FROM head)'], /something was cut off/],
    [["UPDATE body SET bytes = CAST(replace(CAST(bytes AS TEXT), ':', ': ') AS BLOB) WHERE leaf = (SELECT max(leaf) " +
      "FROM body)"], /differs from the signed one/],
    [["UPDATE head SET note = CAST(replace(CAST(note AS TEXT), 'writ-ledger/', 'writ-ledger/0') AS BLOB)"],
      /checkpoint is of another ledger/],
  ]) {
    copyFileSync(gw.path('whole.db'), gw.path('ledger.db'));
    edit(gw, ...change);
    await assert.rejects(gw.start(), word);
  }
  copyFileSync(gw.path('whole.db'), gw.path('ledger.db'));
  await gw.start();
  const verified = gw.ledger(['verify', '--keys', gw.path('keys')]);
  assert.equal(verified.code, 0, verified.out);
  assert.equal(JSON.parse(verified.out).signatures_verified, true);
});

test('an older copy of a ledger does not start where a later checkpoint is pinned', async (t) => {
  const { gw } = await setUp(t);
  const s = await openSession(gw);
  assert.equal((await s.call('up__pay', { n: 1 })).status, 200);
  await gw.stop();
  copyFileSync(gw.path('ledger.db'), gw.path('older.db'));
  await gw.start();
  const again = await openSession(gw);
  assert.equal((await again.call('up__pay', { n: 2 })).status, 200);
  await gw.stop();
  const { checkpoint } = JSON.parse(gw.ledger(['checkpoint', '--keys', gw.path('keys')]).out);
  writeFileSync(gw.path('pinned.txt'), checkpoint, { mode: 0o600 });

  gw.configure({ ...gw.config, ledger: { pinned: 'pinned.txt' } });
  await gw.restart();
  await gw.stop();
  copyFileSync(gw.path('older.db'), gw.path('ledger.db'));
  rmSync(gw.path('ledger.db.remembered')); // a restored ledger is refused as well: restore.test.mjs
  await assert.rejects(gw.start(),
    /the ledger was rolled back: it has \d+ records, and the pinned checkpoint is over \d+/);
  chmodSync(gw.path('pinned.txt'), 0o666);
  await assert.rejects(gw.start(), /pinned.txt/);
  gw.configure({ ...gw.config, ledger: {} });
  await gw.start(); // without a pin the loss cannot be seen
});

test('a ledger has one gateway, by every path to it', async (t) => {
  const { up, gw } = await setUp(t);
  const s = await openSession(gw);
  assert.equal((await s.call('up__pay', { n: 1 }, { key: 'k' })).said, 'ran 1');
  mkdirSync(gw.path('other'), { mode: 0o700 });
  linkSync(gw.ledgerFile, gw.path('other/ledger.db'));
  writeFileSync(gw.path('other.yaml'), JSON.stringify({ ...gw.config, store: 'sqlite://other/ledger.db' }));
  const serve = (file) => writ(['serve', file], { cwd: gw.dir, timeout: 20_000 });
  assert.match(serve('other.yaml').err, /another process has the ledger open/);
  await gw.stop();
  assert.match(serve('other.yaml').err, /has another name, too \(a hard link\)/);
  rmSync(gw.path('other'), { recursive: true });
  await gw.start();
  assert.equal((await (await openSession(gw)).call('up__pay', { n: 1 }, { key: 'k' })).reason, 'duplicate_outcome');
  assert.equal(up.calls.length, 1);
});
