// writ ledger backup: a copy that is made while a gateway writes is one state of the ledger, and nothing but a verified
// copy ever has its name.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { bearer, BIN, startGateway, writ, writBeside } from '../support/js/gateway.mjs';
import { Caller } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const A = bearer('a');
const PAY = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }] };

async function world(t) {
  const up = await startUpstream(t);
  const gw = await startGateway(t,
    { agents: [A.entry], upstreams: { up: { http: up.url } }, tools: { 'up/pay': PAY } });
  const caller = new Caller(gw, { token: A.token });
  let n = 0;
  const calls = async (count) => {
    for (let i = 0; i < count; i++) await caller.call('up__pay', { n: ++n }, { boundary: 'run', key: `k${n}` });
  };
  return { up, gw, caller, calls, from: gw.ledgerFile, to: gw.path('copy.db') };
}

const records = (path) => JSON.parse(writ(['ledger', 'verify', path, '--json']).out).records;
const left = (w) => readdirSync(w.gw.dir).filter((name) => name.startsWith('copy.db')).sort();

test('a backup that is made under calls is one sound state of the ledger', async (t) => {
  const w = await world(t);
  await w.calls(20);
  const before = records(w.from);
  let working = true;
  const load = Promise.all([1, 2, 3].map(async () => { while (working) await w.calls(1); }));
  const run = await writBeside(['ledger', 'backup', w.from, w.to, '--keys', w.gw.path('keys'), '--json']);
  working = false;
  await load;

  assert.equal(run.code, 0, run.err);
  const report = JSON.parse(run.out);
  assert.equal(report.sound, true);
  assert.equal(report.signatures_verified, true);
  assert.ok(report.records >= before && report.records <= records(w.from), `${report.records} records`);
  assert.deepEqual(left(w), ['copy.db'], 'nothing else is left');
  assert.equal(statSync(w.to).mode & 0o777, 0o600);
  assert.equal(records(w.to), report.records);
});

test('an older copy that is put back does not open before the loss is acknowledged', async (t) => {
  const w = await world(t);
  await w.calls(3);
  assert.equal(writ(['ledger', 'backup', w.from, w.to]).code, 0);
  await w.calls(2);
  await w.gw.stop();
  for (const part of ['', '-wal', '-shm']) rmSync(w.from + part, { force: true });
  renameSync(w.to, w.from);

  await assert.rejects(w.gw.start(), /ROLLBACK: the ledger has \d+ records, and had \d+.*writ ledger resume/);
  const resumed = writ(['ledger', 'resume', w.gw.configFile, '--acknowledge-loss'], { cwd: w.gw.dir });
  assert.equal(resumed.code, 0, resumed.err);
  await w.gw.start();
  assert.equal((await w.caller.call('up__pay', { n: 5 }, { boundary: 'later', key: 'k5' })).reason, 'ledger_resumed');
  assert.equal(w.up.calls.filter((call) => call.arguments.n === 5).length, 1);
});

test('a backup never replaces a file, and copies no ledger that is not sound', async (t) => {
  const w = await world(t);
  await w.calls(2);
  writeFileSync(w.to, 'mine');
  const present = writ(['ledger', 'backup', w.from, w.to]);
  assert.equal(present.code, 3);
  assert.match(present.err, /copy\.db exists already/);
  assert.equal(readFileSync(w.to, 'utf8'), 'mine');
  rmSync(w.to);

  await w.gw.stop();
  const db = new DatabaseSync(w.from);
  db.exec("UPDATE record SET tool = 'other' WHERE leaf = 0");
  db.close();
  const unsound = writ(['ledger', 'backup', w.from, w.to, '--json']);
  assert.equal(unsound.code, 1, unsound.err);
  assert.equal(JSON.parse(unsound.out).sound, false);
  assert.deepEqual(left(w), []);

  const none = writ(['ledger', 'backup', w.gw.path('none.db'), w.to]);
  assert.equal(none.code, 3);
  assert.match(none.err, /none\.db does not exist/);
  assert.deepEqual(left(w), []);
});

test('a disk that is full ends a backup with an error, and nothing is left', async (t) => {
  const w = await world(t);
  await w.calls(30);
  const run = spawnSync('sh', ['-c', 'ulimit -f 16; exec "$0" "$@"', BIN, 'ledger', 'backup', w.from, w.to],
    { encoding: 'utf8' });
  assert.equal(run.status, 4, `${run.signal} ${run.stderr}`);
  assert.match(run.stderr, /database: /);
  assert.deepEqual(left(w), []);
});

test('a backup that is killed leaves no copy, and the next run makes one', async (t) => {
  const w = await world(t);
  await w.calls(30);
  for (let round = 0; round < 12; round++) {
    const child = spawn(BIN, ['ledger', 'backup', w.from, w.to], { stdio: 'ignore' });
    const ended = once(child, 'exit');
    while (left(w).length === 0 && child.exitCode === null) await new Promise(setImmediate);
    for (let turn = 0; turn < round * 40; turn++) await new Promise(setImmediate);
    child.kill('SIGKILL');
    await ended;
    if (existsSync(w.to)) { // it was quicker
      assert.equal(JSON.parse(writ(['ledger', 'verify', w.to, '--json']).out).sound, true);
      for (const name of left(w)) rmSync(w.gw.path(name));
    }
  }
  const run = writ(['ledger', 'backup', w.from, w.to]);
  assert.equal(run.code, 0, run.err);
  assert.deepEqual(left(w), ['copy.db']);
  assert.equal(records(w.to), records(w.from));
});
