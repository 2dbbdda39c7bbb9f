// A ledger restored from a copy: it does not open on its own, and when an operator resumes it, no call of the lost time
// runs again.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { bearer, linesOf, startGateway, until, writ } from '../support/js/gateway.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const ANY = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }] };
const A = bearer('a');
const FILES = ['', '-wal', '-shm'];

/** All files of the ledger, while no gateway runs. */
const copy = (gw) => FILES.filter((f) => existsSync(gw.path(`ledger.db${f}`)))
  .map((f) => [f, readFileSync(gw.path(`ledger.db${f}`))]);
const putBack = (gw, files) => {
  for (const f of FILES) rmSync(gw.path(`ledger.db${f}`), { force: true });
  for (const [f, bytes] of files) writeFileSync(gw.path(`ledger.db${f}`), bytes, { mode: 0o600 });
};
const resume = (gw, ...more) => writ(['ledger', 'resume', gw.configFile, ...more], { cwd: gw.dir });

async function world(t, more = {}) {
  const up = await startUpstream(t);
  const gw = await startGateway(t, { agents: [A.entry], upstreams: { up: { http: up.url } },
    tools: { 'up/pay': ANY, 'up/other': ANY, 'up/read': { ...ANY, duplicates: 'allow' } }, ...more });
  const caller = new Caller(gw, { token: A.token });
  let runs = 0;
  const call = async (n, options = {}, name = 'up__pay') => { // in its own run, unless it names another
    const where = 'in' in options || 'boundary' in options ? {} : { boundary: `own-${++runs}` };
    const answer = await (options.in ?? caller).call(name, { n }, { ...where, ...options });
    return answer.reason ?? (answer.error === undefined ? 'ran' : answer.error.message);
  };
  const times = (n) => up.calls.filter((c) => c.arguments.n === n).length;
  return { up, gw, call, times };
}

/** Calls 1 and 2 are in the copy, call 3 and the key "late" are lost. */
async function lose(w) {
  assert.equal(await w.call(1, { key: 'early' }), 'ran');
  assert.equal(await w.call(2, { boundary: 'run' }), 'ran');
  await w.gw.stop();
  const files = copy(w.gw);
  await w.gw.start();
  assert.equal(await w.call(3, { boundary: 'run' }), 'ran');
  assert.equal(await w.call(4, { key: 'late' }), 'ran');
  await w.gw.stop();
  putBack(w.gw, files);
}

test('a restored copy does not open, and after a resume no lost call runs again', async (t) => {
  const w = await world(t);
  await lose(w);
  await assert.rejects(w.gw.start(), /ROLLBACK: the ledger has 4 records, and had 8.*writ ledger resume/);
  assert.equal(resume(w.gw).code, 2, 'the loss is to be acknowledged');
  await assert.rejects(w.gw.start(), /ROLLBACK/);
  const done = resume(w.gw, '--acknowledge-loss');
  assert.equal(done.code, 0, done.err);
  await w.gw.start();

  assert.equal(await w.call(1, { key: 'early' }), 'duplicate_outcome', 'what it knows it says');
  assert.equal(await w.call(4, { key: 'late' }), 'ledger_resumed');
  assert.equal(await w.call(5, { key: 'never used' }), 'ledger_resumed', 'which were used is unknown');
  assert.equal(await w.call(2, { boundary: 'run' }), 'boundary_sealed', 'runs of before the loss have ended');
  assert.equal(await w.call(3, { boundary: 'other run' }), 'ledger_resumed');
  assert.equal(await w.call(6, { boundary: undefined }), 'ledger_resumed',
    'the window of time reaches back to the lost time');
  assert.equal(await w.call(7, {}, 'up__read'), 'ran', 'it may run again');
  assert.deepEqual([1, 2, 3, 4, 5, 6].map(w.times), [1, 1, 1, 1, 0, 0]);

  const later = await openSession(w.gw, { token: A.token });
  assert.equal(await w.call(8, { in: later }), 'ran', 'a session that began later has keys of its own');
  assert.equal(await w.call(8, { in: later }), 'duplicate_outcome');
  assert.equal(await w.call(9, { in: later, key: 'late' }), 'ledger_resumed');

  await w.gw.stop();
  const released = writ(['ledger', 'release', w.gw.configFile, 'up/pay'], { cwd: w.gw.dir });
  assert.equal(released.code, 0, released.err);
  await w.gw.start();
  assert.equal(await w.call(10, { key: 'after' }), 'ran');
  assert.equal(await w.call(10, { key: 'after' }), 'duplicate_outcome');
  assert.equal(await w.call(11, { key: 'after too' }, 'up__other'), 'ledger_resumed', 'another tool was not released');
  w.gw.verify();
});

test('a session from before the loss is ended', async (t) => {
  const w = await world(t);
  const session = await openSession(w.gw, { token: A.token });
  assert.equal(await w.call(1, { in: session }), 'ran');
  await w.gw.stop();
  const files = copy(w.gw);
  await w.gw.start();
  assert.equal(await w.call(2, { in: session }), 'ran');
  await w.gw.stop();
  putBack(w.gw, files);
  assert.equal(resume(w.gw, '--acknowledge-loss').code, 0);
  await w.gw.start();
  const answer = await session.call('up__pay', { n: 2 });
  assert.equal(answer.status, 404);
  assert.equal(w.times(2), 1);
});

test('another ledger, or an empty one, in its place does not open either', async (t) => {
  const w = await world(t);
  assert.equal(await w.call(1, { key: 'k' }), 'ran');
  await w.gw.stop();
  putBack(w.gw, []);
  assert.equal(writ(['ledger', 'init', w.gw.ledgerFile], { cwd: w.gw.dir }).code, 0);
  await assert.rejects(w.gw.start(), /FORK/);
  assert.equal(resume(w.gw, '--acknowledge-loss').code, 0);
  await w.gw.start();
  assert.equal(await w.call(1, { key: 'k' }), 'ledger_resumed');
  assert.equal(w.times(1), 1);
});

test('the file of an anchor is remembered as well, and the memory cannot be emptied', async (t) => {
  const w = await world(t, { ledger: { anchors: [{ to: 'anchor.txt', every: '1s' }] } });
  assert.equal(await w.call(1, { key: 'k' }), 'ran');
  await w.gw.stop();
  const files = copy(w.gw);
  await w.gw.start();
  assert.equal(await w.call(2, { key: 'l' }), 'ran');
  await until(() => linesOf(w.gw.path('anchor.txt'))[1] === '4', 'the anchor');
  await w.gw.stop();
  const last = readFileSync(w.gw.path('ledger.db.remembered'));
  writeFileSync(w.gw.path('ledger.db.remembered'), '');
  await assert.rejects(w.gw.start(), /the remembered checkpoint is not of this ledger/);
  writeFileSync(w.gw.path('ledger.db.remembered'), last);
  putBack(w.gw, files);
  rmSync(w.gw.path('ledger.db.remembered'));
  await assert.rejects(w.gw.start(), /ROLLBACK/, 'the anchor knows');
  assert.equal(resume(w.gw, '--acknowledge-loss').code, 0);
  await w.gw.start();
  assert.equal(await w.call(2, { key: 'l' }), 'ledger_resumed');
});

test('a gateway whose anchor shows a rollback refuses every call', async (t) => {
  const w = await world(t, { ledger: { anchors: [{ to: 'anchor.txt', every: '1s' }] } });
  assert.equal(await w.call(1, { key: 'a' }), 'ran');
  await w.gw.stop();
  const files = copy(w.gw);
  await w.gw.start();
  for (const n of [2, 3, 4]) assert.equal(await w.call(n, { key: `k${n}` }), 'ran');
  await w.gw.stop();
  await w.gw.start(); // at its start it sends the last one
  await until(() => linesOf(w.gw.path('anchor.txt'))[1] === '8', 'the anchor');
  await w.gw.stop();
  const later = readFileSync(w.gw.path('anchor.txt'));
  putBack(w.gw, files);
  for (const f of ['anchor.txt', 'ledger.db.remembered']) rmSync(w.gw.path(f));
  await w.gw.start(); // no copy outside the ledger is left
  await until(() => existsSync(w.gw.path('anchor.txt')), 'what it sends at its start');
  writeFileSync(w.gw.path('anchor.txt'), later);
  const from = w.gw.log.length;
  await w.call(5, { key: 'k5' }); // there is something new to send
  const line = await w.gw.waitLog('ledger_poisoned', from);
  assert.match(line.why, /ROLLBACK/);
  assert.equal(await w.call(6, { key: 'k6' }), 'ledger_unavailable');
  assert.equal(w.times(6), 0);
});
