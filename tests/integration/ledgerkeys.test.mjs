// The key of the ledger is rotated and revoked while a gateway runs: a reload takes the next one, and records from
// before, between and after verify as far as the keys permit.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { bearer, startGateway, until, writ } from '../support/js/gateway.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const DEV = bearer('dev', { tenant: 'acme' });

async function world(t, config = {}) {
  const up = await startUpstream(t, { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] });
  const gw = await startGateway(t, { upstreams: { up: { http: up.url } }, agents: [DEV.entry],
    tools: { 'up/echo': { scope: 'all', duplicates: 'allow', arguments: [{ arg: '', op: 'type', value: 'any' }] } },
    ...config });
  const w = { gw };
  const run = (...args) => {
    const told = writ(args);
    assert.equal(told.code, 0, told.err);
    return told.out;
  };
  w.call = async () => {
    w.session ??= await openSession(gw, { token: DEV.token });
    const answer = await w.session.call('up__echo', { n: 1 });
    return answer.said !== undefined ? 'ran' : answer.reason ?? answer.refusal?.reason;
  };
  w.keys = (command, ...args) => run('keys', command, '--dir', gw.path('keys'), ...args);
  w.active = () => JSON.parse(w.keys('list', '--json')).keys.find((key) => key.purpose === 'ledger' &&
    key.state === 'active').kid;
  w.vkeys = (...args) => run('ledger', 'key', gw.ledgerFile, '--keys', gw.path('keys'), ...args).trim().split('\n');
  w.reload = () => gw.reload(gw.config);
  w.start = () => { w.session = undefined; return gw.start(); };
  w.verify = () => writ(['ledger', 'verify', gw.ledgerFile, '--keys', gw.path('keys')]);
  w.checkpoint = () => writ(['ledger', 'checkpoint', gw.ledgerFile, '--keys', gw.path('keys')]);
  /** The numbers of the keys under the last checkpoint, when it is over all records. */
  w.signers = async () => {
    await until(() => w.last().includes('\n\n'), 'the last group to be signed');
    return w.last().split('\n\n')[1].trim().split('\n')
      .map((line) => Buffer.from(line.split(' ')[2], 'base64').subarray(0, 4).toString('hex'));
  };
  w.last = () => {
    const db = new DatabaseSync(gw.ledgerFile);
    const { note } = db.prepare('SELECT note FROM head ORDER BY leaf DESC LIMIT 1').get();
    db.close();
    return Buffer.from(note).toString();
  };
  return w;
}
const numberOf = (vkey) => vkey.split('+')[1];

test('after a rotation and a reload the next key signs; both are trusted, over a restart', async (t) => {
  const w = await world(t);
  assert.equal(await w.call(), 'ran');
  const [first] = w.vkeys();
  w.keys('rotate', '--purpose', 'ledger');
  const [second] = w.vkeys();
  assert.notEqual(second, first);
  assert.equal(await w.call(), 'ran');
  assert.deepEqual(await w.signers(), [numberOf(first)], 'it goes on with the key that it knows');
  assert.equal((await w.reload()).event, 'reloaded');
  assert.equal(await w.call(), 'ran');
  assert.deepEqual(await w.signers(), [numberOf(second)]);
  assert.match(w.verify().out, /^sound: .*all signed by its keys\n$/);
  await w.gw.stop();
  await w.start();
  assert.equal(await w.call(), 'ran');
  assert.equal(w.verify().code, 0);
  // receipts from before and after, for a verifier that has the keys
  writeFileSync(w.gw.path('key.txt'), w.vkeys().join('\n'));
  for (const { decision_id: id } of [w.gw.decisions().at(0), w.gw.decisions().at(-1)]) {
    writeFileSync(w.gw.path('receipt.json'),
      writ(['receipt', id, '--ledger', w.gw.ledgerFile, '--keys', w.gw.path('keys')]).out);
    assert.match(writ(['verify', 'receipt', w.gw.path('receipt.json'), '--key', w.gw.path('key.txt')]).out, /^ok\n/);
  }
});

test('a reload without a key for the ledger changes nothing', async (t) => {
  const w = await world(t);
  assert.equal(await w.call(), 'ran');
  renameSync(w.gw.path(`keys/${w.active()}.pem`), w.gw.path('away.pem'));
  assert.equal((await w.reload()).event, 'reload_refused');
  assert.equal(await w.call(), 'ran');
  renameSync(w.gw.path('away.pem'), w.gw.path(`keys/${w.active()}.pem`));
  assert.equal((await w.reload()).event, 'reloaded');
  assert.equal(await w.call(), 'ran');
});

test('a reload after a revocation under load refuses no call and signs with the next key',
    async (t) => {
  const w = await world(t, { ledger: { scrub_every: '1s' } });
  for (let i = 0; i < 3; i++) assert.equal(await w.call(), 'ran');
  const [first] = w.vkeys();
  const seen = w.gw.path('ledger.db.seen.json');
  assert.ok((await w.session.request('tools/list')).result.tools.length > 0);
  await until(() => existsSync(seen), 'what was seen, signed by the first key');
  let calls = 0, ending = false;
  const load = (async () => { for (; !ending; calls++) assert.equal(await w.call(), 'ran'); })();
  const some = async () => { const until20 = calls + 20; await until(() => calls > until20, 'calls'); };
  await some();
  w.keys('revoke', '--kid', w.active());
  await some(); // under the revoked key, later than its end
  assert.match(w.checkpoint().err, /revoked/);
  assert.equal((await w.reload()).event, 'reloaded');
  await some();
  const [second] = w.vkeys();
  assert.deepEqual(await w.signers(), [numberOf(second)]);
  const scrubs = (l) => l.event === 'ledger_poisoned';
  await new Promise((r) => setTimeout(r, 2500)); // two rounds of the scrub
  ending = true;
  await load;
  assert.equal(w.gw.log.find(scrubs), undefined);
  const told = w.verify();
  assert.match(told.out, /^sound: .*; \d+ by one that was revoked by then, under a later one by another\n$/);
  assert.ok(JSON.parse(writ(['ledger', 'verify', w.gw.ledgerFile, '--keys', w.gw.path('keys'), '--json']).out).late >
    0);
  assert.equal(w.vkeys('--history').filter((line) => line.includes(first))[0].startsWith('# revoked since'), true);
  await w.gw.stop();
  await w.start();
  assert.equal(await w.call(), 'ran');
  assert.equal(w.verify().code, 0);
});

test('the next key signs records made in between, also without a call; unsigned ones are not trusted', async (t) => {
  const w = await world(t);
  assert.equal(await w.call(), 'ran');
  const [first] = w.vkeys();
  w.keys('revoke', '--kid', w.active());
  assert.equal(await w.call(), 'ran');
  assert.match(w.verify().out,
    /^record \d+: its checkpoint is signed only by a key that was revoked by then[^]*NOT SOUND/);
  await w.signers(); // else the next key alone signs the last group
  assert.equal((await w.reload()).event, 'reloaded');
  const [second] = w.vkeys();
  await until(async () => (await w.signers()).length === 2, 'the second signature');
  assert.deepEqual(await w.signers(), [numberOf(first), numberOf(second)]);
  assert.equal(w.verify().code, 0, w.verify().out);
  assert.equal(w.checkpoint().code, 0);
  await w.gw.stop('SIGKILL');
  await w.start();
  assert.equal(await w.call(), 'ran');
  await w.gw.stop();

  // the holder of the lost key can forge the end, but not that of the next key
  const db = new DatabaseSync(w.gw.ledgerFile);
  const heads = db.prepare('SELECT leaf, note FROM head ORDER BY leaf').all()
    .map(({ leaf, note }) => ({ leaf, note: Buffer.from(note).toString() }));
  const late = heads.find(({ note }) => note.trim().split('\n').length === 6);
  db.prepare('UPDATE head SET note = ? WHERE leaf = ?')
    .run(Buffer.from(`${late.note.trim().split('\n').slice(0, 5).join('\n')}\n`), late.leaf);
  assert.equal(w.verify().code, 0, 'a later one is over it');
  db.exec(`DELETE FROM head WHERE leaf > ${late.leaf}`);
  db.exec(`DELETE FROM record WHERE leaf > (SELECT max(size) - 1 FROM head)`);
  db.exec(`DELETE FROM body WHERE leaf > (SELECT max(size) - 1 FROM head)`);
  db.close();
  assert.match(w.verify().out, /revoked by then/);
  await assert.rejects(w.start(), /revoked/);
});

test('keys that a locked database delayed are taken after the lock', async (t) => {
  const w = await world(t, { ledger: { busy_timeout: '100ms' } });
  assert.equal(await w.call(), 'ran');
  w.keys('revoke', '--kid', w.active());
  assert.equal(await w.call(), 'ran');
  const other = new DatabaseSync(w.gw.ledgerFile);
  other.exec('BEGIN IMMEDIATE');
  assert.equal((await w.reload()).event, 'reloaded');
  assert.equal(await w.call(), 'ledger_unavailable');
  w.keys('rotate', '--purpose', 'ledger'); // newer ones come while those wait
  assert.equal((await w.reload()).event, 'reloaded');
  assert.equal(await w.call(), 'ledger_unavailable');
  other.exec('ROLLBACK');
  other.close();
  await until(async () => (await w.call()) === 'ran', 'the ledger to be back');
  assert.deepEqual(await w.signers(), [numberOf(w.vkeys()[0])]);
  assert.equal(w.verify().code, 0, w.verify().out);
  await w.gw.stop();
  await w.start();
});

test('a gateway whose key was compromised before its start refuses, and so does the next start',
    async (t) => {
  const w = await world(t);
  assert.equal(await w.call(), 'ran');
  await w.gw.stop();
  await w.start();
  assert.equal(await w.call(), 'ran');
  w.keys('revoke', '--kid', w.active(), '--since', '2020-01-01T00:00:00Z');
  const from = w.gw.log.length;
  assert.equal((await w.reload()).event, 'reloaded');
  assert.equal(await w.call(), 'ledger_unavailable');
  assert.match((await w.gw.waitLog('ledger_poisoned', from)).why, /revoked for a time before this gateway began/);
  assert.equal((await w.gw.admin('/readyz')).status, 503);
  await w.gw.stop();
  await assert.rejects(w.start(), /revoked/);
  assert.equal(w.verify().code, 1);
});

test('a key compromised while no gateway ran poisons the ledger, and the next start recovers', async (t) => {
  const w = await world(t);
  assert.equal(await w.call(), 'ran');
  await w.gw.stop();
  const lost = new Date(Date.now() + 1).toISOString(); // after its last record
  await sleep(2);
  await w.start();
  w.keys('revoke', '--kid', w.active(), '--since', lost);
  const from = w.gw.log.length;
  assert.equal((await w.reload()).event, 'reloaded');
  assert.match((await w.gw.waitLog('ledger_poisoned', from)).why, /revoked for a time before this gateway began/);
  await w.gw.stop();
  await w.start(); // by the next key, out of the records
  assert.equal(await w.call(), 'ran');
  await w.gw.stop();
  await w.start();
  assert.equal(w.verify().code, 0);
});

test('a forgotten reload is reported by the next start', async (t) => {
  const w = await world(t);
  assert.equal(await w.call(), 'ran');
  w.keys('revoke', '--kid', w.active());
  assert.equal(await w.call(), 'ran');
  await w.gw.stop();
  await assert.rejects(w.start(), /revoked/);
});
