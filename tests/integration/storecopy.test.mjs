// writ ledger copy: a history moves from SQLite to PostgreSQL and back, with everything that waits in it, over SIGKILL.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { BIN, prepare, until, writ, writeFileSync } from '../support/js/gateway.mjs';
import { openPsql, startCluster } from '../support/js/postgres.mjs';
import { DEV, approve, asks, config, pay } from '../support/js/reviews.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const ANY = [{ arg: '', op: 'type', value: 'any' }];
const RULES = {
  'up/pay': pay({ review: 'finance' }),
  'up/get': { scope: 's', arguments: ANY, duplicates: 'replay', contents: { keep: '30d' } },
  'up/once': { scope: 's', arguments: ANY },
};

const must = (args, options) => {
  const run = writ(args, options);
  assert.equal(run.code, 0, `writ ${args.join(' ')}: ${run.err}${run.out}`);
  return run.out;
};

/** A gateway on a file, not started, and calls of every kind: some that ended, a review that is open, a session. */
async function world(t) {
  const up = await startUpstream(t, { tools: ['pay', 'get', 'once'] });
  const gw = prepare(t, config(up, { top: { tools: RULES, pool: { entries: 5 } } }), { prepare(dir) {
    must(['keys', 'new', '--purpose', 'contents', '--dir', join(dir, 'keys')]);
  } });
  return { up, gw };
}

async function fill(gw, count = 20) {
  const caller = new Caller(gw, { token: DEV.token });
  for (let n = 0; n < count; n++) {
    await caller.call('up__once', { n }, { boundary: `run-${n % 3}`, key: `k${n}` });
    await caller.call('up__get', { n }, { boundary: 'gets', key: `g${n}` });
  }
  const session = await openSession(gw, { token: DEV.token });
  await session.call('up__once', { n: 'in a session' }, { key: 'ks' });
  const review = await asks(session, { amount: 100 });
  const put = await fetch(`${gw.origin}/v1/pool`, { method: 'POST',
    headers: { authorization: `Bearer ${DEV.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'pool.put', content: 'moves, too', key: 'k' }) });
  assert.equal(put.status, 200, await put.text());
  return { caller, session, review };
}

/** The gateway of `gw` with another store. */
const moved = (gw, store) => ({ ...gw.config, store, ledger: store.startsWith('sqlite:') ? {}
  : { replication: 'none_needed', gateway: 'one', files: 'shared' } });

const copy = (from, to, gw, more = []) =>
  writ(['ledger', 'copy', from, to, '--keys', gw.path('keys'), ...more, '--json']);

/** Every row of a table beside the log, by the key. */
const TABLES = { result: 'leaf, expires_us, bytes', session: 'hash, value, expires_us, tenant, boundary',
  wait: 'leaf, name, kind, until_us', review: 'id, leaf, name, arguments',
  content: 'leaf, expires_us, redacted, kid, bytes',
  content_key: 'leaf, wrapped', pool: 'leaf, tenant, agent_id, name, expires_us, bytes',
  boundary: 'id, tenant, name, first_leaf, seal_leaf', body: 'leaf, bytes',
  head: 'leaf, size, nodes, note', record: 'leaf, kind, boundary, seq, time_us, verdict, flags, about, decision_id, ' +
    'agent_id, tool, claim' };

function rowsOf(path) {
  const db = new DatabaseSync(path, { readOnly: true });
  const all = Object.fromEntries(Object.entries(TABLES).map(([table, columns]) =>
    [table, db.prepare(`SELECT ${columns} FROM ${table} ORDER BY 1`).all().map((row) => JSON.stringify(row))]));
  all.meta = db.prepare("SELECT name, value FROM meta WHERE name <> 'probe' ORDER BY name").all()
    .map((row) => JSON.stringify(row));
  db.close();
  return all;
}

test('a ledger moves to PostgreSQL and back: what ran runs no more, what waits goes on, receipts hold', async (t) => {
  const cluster = await startCluster(t);
  const uri = cluster.uri();
  const { up, gw } = await world(t);
  await gw.start();
  const { session, review, caller } = await fill(gw);
  const [first] = gw.decisions(['--tool', 'once']);
  const keys = gw.path('keys'), trusted = gw.path('trusted');
  const receipt = must(['receipt', first.decision_id, '--ledger', gw.ledgerFile, '--keys', keys]);
  writeFileSync(trusted, must(['ledger', 'key', gw.ledgerFile, '--keys', keys]));
  writeFileSync(gw.path('receipt'), receipt);
  const checkpoint = must(['ledger', 'checkpoint', gw.ledgerFile, '--keys', keys]);
  const ran = up.calls.length;

  const busy = copy(gw.ledgerFile, uri, gw);
  assert.equal(busy.code, 4, 'a gateway has it open');
  assert.match(busy.err, /another process has the ledger open/);
  await gw.stop();
  const records = gw.verify().records;
  const before = rowsOf(gw.ledgerFile);
  assert.equal(before.pool.length, 1);

  const run = copy(gw.ledgerFile, uri, gw);
  assert.equal(run.code, 0, run.err);
  const report = JSON.parse(run.out);
  assert.deepEqual([report.sound, report.signatures_verified, report.records, report.before, report.sessions,
    report.reviews, report.results, report.contents > 0], [true, true, records, 0, 1, 1, 20, true]);
  assert.deepEqual(await cluster.sql('SELECT size FROM coordinator'), [String(before.record.length)]);
  assert.deepEqual(await cluster.sql("SELECT count(*) FROM meta WHERE name = 'copying'"), ['0']);
  assert.equal(JSON.parse(copy(gw.ledgerFile, uri, gw).out).before, records, 'it is complete: verified again');
  assert.equal(must(['verify', 'receipt', gw.path('receipt'), '--key', trusted]).split('\n')[0], 'ok');

  gw.configure(moved(gw, uri));
  await gw.start();
  for (let n = 0; n < 20; n++) {
    const again = await new Caller(gw, { token: DEV.token })
      .call('up__once', { n }, { boundary: `run-${n % 3}`, key: `k${n}` });
    assert.equal(again.reason, 'duplicate_outcome', `call ${n}`);
  }
  const replayed = await new Caller(gw, { token: DEV.token })
    .call('up__get', { n: 1 }, { boundary: 'gets', key: 'g1' });
  assert.equal(replayed.reason, undefined, replayed.text);
  assert.equal(up.calls.length, ran, 'nothing ran again');
  caller.gateway = session.gateway = gw;
  await approve(gw, review);
  session.url = gw.url;
  const redeemed = await asSession(gw, session).call('up__pay', { amount: 100 });
  assert.equal(redeemed.said, `ran ${ran + 1}`, redeemed.text);
  await gw.stop();

  const shared = JSON.parse(must(['ledger', 'verify', uri, '--keys', keys, '--json']));
  assert.ok(shared.sound && shared.records > records);
  const noted = put(gw, checkpoint);
  assert.equal(must(['receipt', first.decision_id, '--ledger', uri, '--keys', keys, '--checkpoint', noted]),
    receipt, 'the same receipt');

  // and back
  const back = gw.path('back.db');
  const returned = copy(uri, back, gw);
  assert.equal(returned.code, 0, returned.err);
  assert.equal(JSON.parse(returned.out).records, shared.records);
  const after = rowsOf(back);
  for (const table of ['record', 'body', 'head']) {
    assert.deepEqual(after[table].slice(0, before[table].length), before[table], table);
  }
  gw.configure(moved(gw, `sqlite://${back}`));
  await gw.start();
  const once = await new Caller(gw, { token: DEV.token }).call('up__once', { n: 1 }, { boundary: 'run-1', key: 'k1' });
  assert.equal(once.reason, 'duplicate_outcome');
  assert.equal((await asSession(gw, session).call('up__pay', { amount: 100 })).reason, 'duplicate_outcome');
  await gw.stop();
  must(['ledger', 'verify', back, '--keys', keys]);
});

/** The same session at the gateway's present address. */
function asSession(gw, session) {
  const other = new Caller(gw, { token: DEV.token });
  other.session = session.session;
  return other;
}

function put(gw, text) {
  writeFileSync(gw.path('checkpoint'), text);
  return gw.path('checkpoint');
}

test('a call that was in flight when its gateway died gets its outcome where the ledger moved to', async (t) => {
  const cluster = await startCluster(t);
  const uri = cluster.uri();
  const up = await startUpstream(t, { tools: ['once'], onCall: () => new Promise(() => {}) });
  const gw = prepare(t, { upstreams: { up: { http: up.url } }, tools: { 'up/once': RULES['up/once'] } });
  await gw.start();
  const lost = new Caller(gw).call('up__once', { n: 1 }, { boundary: 'run', key: 'k' }).catch((error) => error);
  await until(() => up.calls.length === 1, 'the call to reach the upstream');
  await gw.stop('SIGKILL');
  assert.ok(await lost instanceof Error);
  const run = copy(gw.ledgerFile, uri, gw);
  assert.equal(run.code, 0, run.err);
  assert.equal(JSON.parse(run.out).in_flight, 1);
  assert.deepEqual(await cluster.sql('SELECT count(*) FROM claim'), ['1']);

  gw.configure(moved(gw, uri));
  await gw.start();
  const outcome = () => JSON.parse(must(['ledger', 'list', uri, '--json'])).decisions[0].outcome;
  await until(() => outcome() === 'error', 'the outcome');
  assert.notEqual((await new Caller(gw).call('up__once', { n: 1 }, { boundary: 'run', key: 'k' })).reason, undefined);
  assert.equal(up.calls.length, 1, 'it is not known whether it ran');
  await gw.stop();
  must(['ledger', 'verify', uri, '--keys', gw.path('keys')]);
});

test('a copy between files has every row', async (t) => {
  const { gw } = await world(t);
  await gw.start();
  await fill(gw, 5);
  await gw.stop();
  const to = gw.path('other.db');
  const run = copy(gw.ledgerFile, to, gw);
  assert.equal(run.code, 0, run.err);
  assert.deepEqual(rowsOf(to), rowsOf(gw.ledgerFile));
});

test('a copy that is killed at any moment is continued, and no gateway opens it before its end', async (t) => {
  const cluster = await startCluster(t);
  const { gw } = await world(t);
  await gw.start();
  await fill(gw, 60);
  await gw.stop();
  const whole = rowsOf(gw.ledgerFile);
  const start = (to) => {
    const child = spawn(BIN, ['ledger', 'copy', gw.ledgerFile, to, '--keys', gw.path('keys')]);
    const said = text(child.stderr);
    child.stdout.resume();
    return { child, said, exited: once(child, 'exit') };
  };
  const compare = (to, name) => {
    assert.equal(copy(to, gw.path(name), gw).code, 0);
    assert.deepEqual(rowsOf(gw.path(name)), whole);
  };

  // on a server: where another transaction has the row, or the table, that it wants to write
  const to = cluster.uri();
  const row = (at) => `INSERT INTO body(leaf, bytes) VALUES(${JSON.parse(whole.body.at(at)).leaf}, '')`;
  const blocks = ['LOCK TABLE meta IN EXCLUSIVE MODE', row(0), row(40), row(100), row(-1),
    ...['result', 'session', 'review', 'content', 'content_key'].map((name) => `LOCK TABLE ${name} IN EXCLUSIVE MODE`)];
  must(['ledger', 'init', to]);
  for (const block of blocks) {
    const other = openPsql(t, cluster.socketUri);
    assert.equal((await other.run(`BEGIN; ${block};`)).err, '');
    const { child, exited } = start(to);
    const waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    await until(async () => (await cluster.sql(waiting))[0] === '1', `the copy to wait for ${block}`);
    child.kill('SIGKILL');
    await exited;
    await other.run('ROLLBACK;');
    await until(async () => (await cluster.sql(waiting))[0] === '0', 'the server to notice');
    if (block !== blocks[0]) await refusesGateway(gw, to);
  }
  assert.equal(JSON.parse(copy(gw.ledgerFile, to, gw).out).before, whole.record.length);
  compare(to, 'from-server.db');

  // in a file: at any time
  const file = gw.path('killed.db');
  let kills = 0, open = 0, code;
  for (let ms = 4; code !== 0; ms += 3) {
    const { child, said, exited } = start(file);
    const timer = setTimeout(() => child.kill('SIGKILL'), ms);
    let signal;
    [code, signal] = await exited;
    clearTimeout(timer);
    assert.ok(code === 0 || signal === 'SIGKILL', `exit ${code} ${await said}`);
    kills += signal === 'SIGKILL' ? 1 : 0;
    if (isIncomplete(file)) {
      open++;
      await refusesGateway(gw, `sqlite://${file}`);
    }
  }
  assert.ok(kills > 0, `${kills} kills`);
  t.diagnostic(`${kills} kills, ${open} of them in the middle of a copy`);
  compare(file, 'from-file.db');
});

function isIncomplete(file) {
  try {
    const db = new DatabaseSync(file, { readOnly: true });
    const row = db.prepare("SELECT count(*) AS n FROM meta WHERE name = 'copying'").get();
    db.close();
    return row.n === 1;
  } catch {
    return false; // not there yet
  }
}

async function refusesGateway(gw, store) {
  const before = gw.config;
  gw.configure(moved(gw, store));
  await assert.rejects(gw.start(), /copy that is not complete/);
  gw.configure(before);
}

test('a copy that was interrupted follows its source, and drops what the source has no more', async (t) => {
  const cluster = await startCluster(t);
  const { gw } = await world(t);
  await gw.start();
  await fill(gw, 10);
  await gw.stop();
  const to = cluster.uri();
  // the note of a copy is there until its end: a copy without its last transaction
  assert.equal(copy(gw.ledgerFile, to, gw).code, 0);
  const id = (await cluster.sql("SELECT convert_from(value, 'UTF8') FROM meta WHERE name = 'ledger'"))[0];
  await cluster.sql(`INSERT INTO meta(name, value) VALUES('copying', '${id} 1 1');
    UPDATE coordinator SET size = 0, root = ''`);
  await gw.start();
  const caller = new Caller(gw, { token: DEV.token });
  await caller.call('up__once', { n: 'later' }, { boundary: 'run-1', key: 'later' });
  await gw.stop();
  const db = new DatabaseSync(gw.ledgerFile);
  db.exec('DELETE FROM result WHERE leaf = (SELECT min(leaf) FROM result)');
  db.exec('UPDATE content_key SET wrapped = zeroblob(40) WHERE leaf = (SELECT min(leaf) FROM content_key)');
  db.exec('DELETE FROM content WHERE leaf = (SELECT min(leaf) FROM content)');
  db.close();
  const run = copy(gw.ledgerFile, to, gw);
  assert.equal(run.code, 0, run.err);
  const back = gw.path('back.db');
  assert.equal(copy(to, back, gw).code, 0);
  assert.deepEqual(rowsOf(back), rowsOf(gw.ledgerFile));
});

test('a copy refuses a target with anything else, a live source, and a history that is not sound', async (t) => {
  const cluster = await startCluster(t);
  const { gw } = await world(t);
  await gw.start();
  await fill(gw, 3);
  await gw.stop();
  const uri = cluster.uri(), keys = gw.path('keys');
  const refused = (from, to, code, pattern) => {
    const run = copy(from, to, gw);
    assert.equal(run.code, code, `${run.err}${run.out}`);
    assert.match(run.err + run.out, pattern);
  };

  const other = prepare(t, { upstreams: {}, tools: {} });
  refused(gw.ledgerFile, gw.ledgerFile, 4, /another process has the ledger open/);
  refused(gw.path('none.db'), uri, 3, /none\.db/);
  await other.start();
  await other.stop();
  refused(gw.ledgerFile, other.ledgerFile, 3, /a copy goes to a ledger that is new/);

  must(['ledger', 'init', uri]);
  const db = new DatabaseSync(gw.ledgerFile);
  db.exec("UPDATE record SET tool = 'other' WHERE leaf = (SELECT max(leaf) FROM record WHERE kind = 1)");
  db.close();
  refused(gw.ledgerFile, uri, 1, /"sound":false/);
  gw.configure(moved(gw, uri));
  await assert.rejects(gw.start(), /copy that is not complete/);
  refused(uri, gw.path('x.db'), 3, /a copy that is not complete/);

  await cluster.sql('CREATE DATABASE live');
  const live = cluster.uri({ database: 'live' });
  must(['ledger', 'init', live]);
  gw.configure(moved(gw, live));
  await gw.start();
  refused(live, gw.path('y.db'), 4, /gateway "?one"? has the ledger of FROM open/);
  await gw.stop('SIGKILL');
  await until(async () => copy(live, gw.path('y.db'), gw).code === 0, 'the lease to end', 60_000);
  must(['ledger', 'verify', gw.path('y.db'), '--keys', keys]);
});

test('writ ledger migrate has nothing to do, and refuses newer tables and what is no ledger', async (t) => {
  const cluster = await startCluster(t);
  const uri = cluster.uri();
  assert.match(writ(['ledger', 'migrate', uri]).err, /the database has no ledger/);
  must(['ledger', 'init', uri]);
  assert.equal(must(['ledger', 'migrate', uri]), 'version 3, nothing to do\n');
  assert.deepEqual(JSON.parse(must(['ledger', 'migrate', uri, '--json'])), { from: 3, version: 3 });
  await cluster.sql("UPDATE meta SET value = '7' WHERE name = 'version'");
  const newer = writ(['ledger', 'migrate', uri]);
  assert.deepEqual([newer.code, /version 7.*newer writ/.test(newer.err)], [3, true], newer.err);
  assert.match(writ(['ledger', 'verify', uri]).err, /writ ledger migrate/);
  assert.equal(writ(['ledger', 'migrate', '/nowhere/ledger.db']).code, 3);
});
