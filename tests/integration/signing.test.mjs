// Records are signed some milliseconds after they are on disk. A gateway that is killed in between leaves groups with a
// MAC in place of a checkpoint: its next start checks and signs them, and without the key of the MAC it does not start.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { chownSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { bearer, startGateway, until, writ } from '../support/js/gateway.mjs';
import { Caller } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const ANY = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }] };
const A = bearer('a', { tenant: 't' });
const MAC = 32; // bytes

async function world(t) {
  const up = await startUpstream(t);
  const gw = await startGateway(t, { agents: [A.entry], upstreams: { up: { http: up.url } },
    tools: { 'up/pay': ANY } });
  const w = { up, gw, calls: 0 };
  w.call = async () => {
    const answer = await new Caller(gw, { token: A.token }).call('up__pay', { n: ++w.calls }, { boundary: 'run' });
    return answer.error ?? answer.reason ?? 'ran';
  };
  w.lengths = () => {
    const db = new DatabaseSync(gw.ledgerFile, { readOnly: true });
    const rows = db.prepare('SELECT length(note) AS n FROM head ORDER BY leaf').all();
    db.close();
    return rows.map((row) => row.n);
  };
  w.verify = (...args) => {
    const told = writ(['ledger', 'verify', gw.ledgerFile, ...args]);
    return { ...told, report: JSON.parse(writ(['ledger', 'verify', gw.ledgerFile, '--json', ...args]).out) };
  };
  w.keys = () => ['--keys', gw.path('keys')];
  /** Kills it while the last group is not signed: a loaded machine may take longer than it does. */
  w.killUnsigned = async () => {
    for (let i = 0; i < 50; i++) {
      assert.equal(await w.call(), 'ran');
      assert.equal(await w.call(), 'ran');
      await gw.stop('SIGKILL');
      if (w.lengths().at(-1) === MAC) return;
      await gw.start();
    }
    assert.fail('the last group was always signed');
  };
  return w;
}

test('what a killed gateway did not sign is checked and signed at its next start', async (t) => {
  const w = await world(t);
  await w.killUnsigned();
  const { code, out, report } = w.verify(...w.keys());
  assert.equal(code, 0, out);
  assert.match(out, /; the last \d+ are not signed yet\n$/);
  assert.ok(report.unsigned > 0 && report.unsigned_authenticated);
  const copied = writ(['ledger', 'backup', w.gw.ledgerFile, w.gw.path('copy.db'), ...w.keys()]);
  assert.match(copied.out, /^sound: .*; the last \d+ are not signed yet\n$/);
  assert.match(w.verify().out, /; the last \d+ are not signed yet, and not authenticated\n$/);
  await w.gw.start();
  assert.equal(await w.call(), 'ran');
  await w.gw.stop();
  const after = w.verify(...w.keys());
  assert.equal(after.code, 0, after.out);
  assert.equal(after.report.unsigned, 0);
  assert.equal(w.up.calls.length, w.calls, 'each call ran once');
});

test('a receipt of a call that was just made waits for the checkpoint over it', async (t) => {
  const w = await world(t);
  for (let i = 0; i < 5; i++) {
    assert.equal(await w.call(), 'ran');
    const { decision_id: id } = w.gw.decisions().at(-1);
    const told = writ(['receipt', id, '--ledger', w.gw.ledgerFile, ...w.keys()]);
    assert.equal(told.code, 0, told.err);
  }
});

test('a checkpoint that was replaced in the middle is a problem, with and without the key of the MACs', async (t) => {
  const w = await world(t);
  for (let i = 0; i < 4; i++) {
    await until(() => !w.lengths().includes(MAC) || w.lengths().at(-1) > MAC, 'a signature over all');
    await new Promise((done) => { setTimeout(done, 30); }); // so that the next group is signed at once
    assert.equal(await w.call(), 'ran');
  }
  await w.gw.stop();
  assert.equal(w.verify(...w.keys()).code, 0);
  const db = new DatabaseSync(w.gw.ledgerFile);
  const [{ leaf }] = db.prepare(`SELECT leaf FROM head WHERE length(note) > ${MAC} AND leaf IN
    (SELECT leaf FROM record WHERE kind = 1) ORDER BY leaf LIMIT 1 OFFSET 1`).all();
  db.prepare('UPDATE head SET note = randomblob(?) WHERE leaf = ?').run(MAC, leaf);
  db.close();
  const found = w.verify(...w.keys());
  assert.equal(found.code, 1);
  assert.match(found.out, /groups from here on have neither a checkpoint nor a MAC of mark\.key/);
  rmSync(w.gw.path('keys/mark.key'));
  const place = w.verify(...w.keys());
  assert.equal(place.code, 1);
  assert.deepEqual(place.report.problems,
    [{ leaf, what: 'its group has a MAC where a gateway signs a checkpoint' }]);
});

test('a backup ends with a checkpoint, and without mark.key takes no other state', async (t) => {
  const w = await world(t);
  const backup = (to) => writ(['ledger', 'backup', w.gw.ledgerFile, w.gw.path(to), ...w.keys(), '--json']);
  const state = () => JSON.parse(backup(`copy${w.calls}.db`).out);
  for (let i = 0; i < 5; i++) {
    assert.equal(await w.call(), 'ran');
    const { sound, unsigned } = state();
    assert.deepEqual([sound, unsigned], [true, 0]);
  }
  await w.killUnsigned();
  assert.equal(state().sound, true);
  rmSync(w.gw.path('keys/mark.key'));
  const refused = backup('none.db');
  assert.equal(refused.code, 1);
  assert.match(JSON.parse(refused.out).problems[0].what, /not signed yet, and not authenticated/);
  assert.equal(existsSync(w.gw.path('none.db')), false);
});

/** A lock on the database that keeps the gateway from signing its last group. */
async function lockUnsigned(t, w) {
  const db = new DatabaseSync(w.gw.ledgerFile);
  t.after(() => db.close());
  for (let i = 0; i < 50; i++) {
    assert.equal(await w.call(), 'ran');
    db.exec('BEGIN IMMEDIATE');
    if (w.lengths().at(-1) === MAC) return db;
    db.exec('ROLLBACK');
  }
  return assert.fail('the last group was always signed');
}

test('while the ledger refuses, a proof of what is not signed is refused, and an export says why', async (t) => {
  const w = await world(t);
  const db = await lockUnsigned(t, w);
  await w.gw.waitLog('ledger_refusing');
  const id = w.gw.decisions().at(-1).decision_id;
  const proof = (kind) => fetch(`http://127.0.0.1:${w.gw.adminPort}/v1/ledger/${id}/${kind}`,
    { headers: { authorization: `Bearer ${A.token}` } });
  for (const kind of ['receipt', 'bundle']) {
    const refused = await proof(kind);
    assert.equal(refused.status, 503);
    assert.equal((await refused.json()).reason, 'ledger_unavailable');
  }
  assert.equal((await w.gw.admin('/checkpoint')).status, 200, 'the last one that there is');
  const exported = writ(['export', w.gw.ledgerFile]);
  assert.equal(exported.code, 4);
  assert.match(exported.err, /the last \d+ records are not signed, and wait/);
  db.exec('ROLLBACK');
  await until(async () => (await proof('receipt')).status === 200, 'a receipt');
  assert.equal((await proof('bundle')).status, 200);
  assert.equal(writ(['export', w.gw.ledgerFile]).code, 0);
});

test('without the mark.key of that time, and after an edit, it does not start', async (t) => {
  const w = await world(t);
  await w.killUnsigned();
  const last = (note) => { // exchanges the note of the last group
    const db = new DatabaseSync(w.gw.ledgerFile);
    const row = db.prepare('SELECT leaf, note FROM head ORDER BY leaf DESC LIMIT 1').get();
    db.prepare('UPDATE head SET note = ? WHERE leaf = ?').run(note, row.leaf);
    db.close();
    return row.note;
  };
  const note = last(new Uint8Array(MAC));
  const forged = w.verify(...w.keys());
  assert.equal(forged.code, 1);
  assert.match(forged.out, /not signed yet, and not authenticated by the mark\.key[^]*NOT SOUND/);
  const backup = ['ledger', 'backup', w.gw.ledgerFile, w.gw.path('copy.db'), ...w.keys()];
  assert.equal(writ(backup).code, 1);
  await assert.rejects(w.gw.start(), /the last records are not signed yet.*restore mark\.key/);
  last(note);
  assert.equal(w.verify(...w.keys()).code, 0);
  rmSync(w.gw.path('keys/mark.key'));
  const unknown = w.verify(...w.keys()); // an auditor has the public keys alone
  assert.equal(unknown.code, 1);
  assert.equal(unknown.report.unsigned_authenticated, false);
  await assert.rejects(w.gw.start(), /the last records are not signed yet.*restore mark\.key/);
  const resumed = writ(['ledger', 'resume', w.gw.configFile, '--acknowledge-loss'], { cwd: w.gw.dir });
  assert.equal(resumed.code, 0, resumed.err);
  assert.match(resumed.out, /^The last \d+ were not signed, and nothing proved them/m);
  await w.gw.start();
  assert.equal(w.verify(...w.keys()).code, 0);
});

test('only a gateway makes a mark.key', async (t) => {
  const w = await world(t);
  const resume = () => writ(['ledger', 'resume', w.gw.configFile, '--acknowledge-loss'], { cwd: w.gw.dir });
  const has = () => existsSync(w.gw.path('keys/mark.key'));
  assert.equal(await w.call(), 'ran');
  rmSync(w.gw.path('keys/mark.key'));
  assert.match(resume().err, /another process has the ledger open/);
  assert.equal(has(), false);
  await w.gw.stop();
  assert.equal(resume().code, 0);
  assert.equal(has(), false);
  await w.gw.start();
  assert.equal(has(), true);
});

// Files of keys belong to the user of the program, who has the directory: one way for all of them.
test('a command of root takes no keys of another user', { skip: process.getuid() !== 0 }, async (t) => {
  const w = await world(t);
  assert.equal(await w.call(), 'ran');
  await w.gw.stop();
  const NOBODY = 65534;
  for (const name of ['.', ...readdirSync(w.gw.path('keys'))]) chownSync(w.gw.path(`keys/${name}`), NOBODY, NOBODY);
  for (const owner of [NOBODY, 0]) { // of the directory
    chownSync(w.gw.path('keys'), owner, owner);
    const run = writ(['ledger', 'resume', w.gw.configFile, '--acknowledge-loss'], { cwd: w.gw.dir });
    assert.notEqual(run.code, 0);
    assert.match(run.err, /belongs to another user/);
  }
});
