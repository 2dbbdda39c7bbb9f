// writ ledger archive --before: sealed history leaves the ledger when the archive has it, and both together are still
// the whole log. Over SIGKILL, full disks, tampering, and while gateways work.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { agedGateway, DAY_MS, daysAgo } from '../support/js/aged.mjs';
import { bearer, BIN, startGateway, until, writ, writBeside, writeFileSync } from '../support/js/gateway.mjs';
import { facts } from '../support/js/ledger.mjs';
import { randomOf } from '../support/js/learning.mjs';
import { Caller } from '../support/js/rpc.mjs';
import { editLedger, ledgerOf, ONLY_SHARED, POSTGRES, rowsOf, SQLITE_ONLY } from '../support/js/store.mjs';
import { leafHash, TileLog } from '../support/js/tiles.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const ROOT = bearer('root');
const ANN = bearer('ann');
const PAY = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }] };

const counts = ({ decisions, outcomes, seals, boundaries, sealed, in_flight: flying }) =>
  ({ decisions, outcomes, seals, boundaries, sealed, flying });

/** The whole log as an independent client of static logs reads the archive. */
function readLog(gw) {
  const log = new TileLog((path) => readFileSync(`${gw.archiveDir}/${path}`), readFileSync(gw.trusted, 'utf8').trim());
  assert.deepEqual(log.computedRoot, log.root);
  for (let bundle = 0, n = 0; bundle * 256 < log.size; bundle++) {
    for (const entry of log.bundle(bundle)) assert.deepEqual(leafHash(entry), log.leaf(n++));
  }
  return log;
}

test('records of before a time go, and the ledger and the archive together are the log as it was', (t) => {
  const gw = agedGateway(t, 2000);
  const whole = gw.sound();
  const { size, removal } = gw.archive(daysAgo(3));
  assert.equal(size, whole.records);
  assert.ok(removal.removed > whole.records / 3, JSON.stringify(removal));
  assert.equal(removal.first, removal.removed);
  assert.equal(removal.limit, null);
  assert.equal(gw.first(), removal.first);
  assert.equal(gw.rows('SELECT min(leaf) AS first FROM body')[0].first, removal.first);

  const rest = gw.sound();
  assert.equal(rest.first, removal.first);
  assert.equal(rest.records, whole.records + 1 - removal.removed);
  assert.equal(rest.facts, whole.facts + 1, 'facts stay');
  const all = gw.sound(...gw.joined);
  assert.equal(all.first, 0);
  assert.deepEqual(counts(all), counts(whole));
  assert.equal(all.records, whole.records + 1);
  assert.equal(readLog(gw).size, size);
  const [fact] = facts(gw, 'archived');
  assert.equal(fact.before, removal.first);
  assert.match(fact.by, /^user |^uid /);

  const again = gw.archive(daysAgo(3));
  assert.deepEqual([again.size, again.removal.removed, again.removal.first], [size + 1, 0, removal.first]);
  assert.equal(facts(gw, 'archived').length, 1, 'nothing was removed, and nothing is recorded');
});

test('random times, one after the other: each state verifies, with and without its archive', (t) => {
  const seed = Number(process.env.WRIT_SEED ?? Math.floor(Math.random() * 2 ** 31));
  t.diagnostic(`WRIT_SEED=${seed}`);
  const { next: random } = randomOf(seed);
  for (let round = 0; round < (POSTGRES ? 1 : 3); round++) {
    const gw = agedGateway(t, 400 + Math.floor(random() * 2000));
    const whole = gw.sound();
    let first = 0, days = 7, removals = 0;
    for (let step = 0; step < 3; step++) {
      days *= random();
      const time = daysAgo(days), { removal } = gw.archive(time);
      removals += removal.removed > 0 ? 1 : 0;
      if (removal.removed > 0) assert.ok(facts(gw, 'archived').at(-1).last < time, 'nothing younger went');
      assert.ok(removal.first >= first, `seed ${seed}`);
      first = removal.first;
      assert.equal(gw.sound().first, first);
      const all = gw.sound(...gw.joined);
      assert.deepEqual(counts(all), counts(whole), `seed ${seed}`);
      assert.equal(all.records, whole.records + removals);
      readLog(gw);
    }
  }
});

test('what the ledger needs stays, and is named', async (t) => {
  const up = await startUpstream(t);
  const gw = agedGateway(t, 1000,
    { agents: [ANN.entry], upstreams: { up: { http: up.url } }, tools: { 'up/pay': PAY } });
  await gw.start();
  await new Caller(gw, { token: ANN.token }).call('up__pay', { i: 1 }, { boundary: 'long', key: '1' });
  await gw.stop();
  const run = writ(gw.archiveArgs(daysAgo(-1), gw.stopped), { cwd: gw.dir });
  assert.equal(run.code, 0, run.err);
  assert.match(run.out, /records from .* on stay: keys of calls are still claimed: .*claims_kept/);
  const { removal } = gw.archive(daysAgo(-1));
  assert.equal(removal.limit, 'claims');
  assert.ok(Date.parse(removal.since) >= Date.now() - 1.5 * DAY_MS);
  const budgets = { ...PAY, budgets: [{ per: ['agent'], window: '6d', calls: 10 }] };
  const other = agedGateway(t, 1000, { agents: [ANN.entry], upstreams: { up: { http: up.url } },
    tools: { 'up/pay': budgets } });
  assert.equal(other.archive(daysAgo(2)).removal.limit, 'budget');
});

for (const change of ['row', 'first', 'fact', 'digest', 'seal', 'moved', 'run', 'name', 'open']) {
  test(`what is tampered with after a removal is found: ${change}`, (t) => {
    const gw = agedGateway(t, 1000);
    const { removal: { first } } = gw.archive(daysAgo(3));
    gw.sound();
    const sealed = 'SELECT min(seal_leaf) FROM boundary WHERE seal_leaf >= '
      + `${first} AND first_leaf < ${first}`;
    const next = gw.rows(`SELECT min(leaf) AS leaf FROM head WHERE leaf > ${first}`)[0].leaf;
    const zeros = POSTGRES ? "decode(repeat('00', length(nodes)), 'hex')" : 'zeroblob(length(nodes))';
    const quoted = POSTGRES ? "convert_to(replace(convert_from(bytes, 'UTF8'), 'tool-0', 'tool-1'), 'UTF8')"
      : "CAST(replace(CAST(bytes AS TEXT), 'tool-0', 'tool-1') AS BLOB)";
    const gone = `SELECT min(id) FROM boundary WHERE seal_leaf < ${first}`;
    const named = POSTGRES ? "convert_to('another', 'UTF8')" : "'another'";
    editLedger(gw.ledgerFile, {
      row: `DELETE FROM record WHERE leaf = ${first + 3}`,
      first: `DELETE FROM record WHERE leaf < ${next}; DELETE FROM body WHERE leaf < ${next}`,
      fact: `DELETE FROM fact WHERE leaf = (SELECT max(leaf) FROM fact)`,
      digest: `UPDATE head SET nodes = ${zeros} WHERE leaf = (SELECT min(leaf) FROM head WHERE leaf > 10)`,
      seal: `UPDATE boundary SET seal_leaf = NULL WHERE seal_leaf = (${sealed})`,
      moved: `UPDATE fact SET bytes = ${quoted} WHERE leaf = (SELECT min(leaf) FROM fact)`,
      // runs that are gone as a whole: their names would be free again
      run: `DELETE FROM boundary WHERE id = (${gone})`,
      name: `UPDATE boundary SET name = ${named} WHERE id = (${gone})`,
      open: `UPDATE boundary SET seal_leaf = NULL WHERE id = (${gone})`,
    }[change]);
    assert.equal(gw.verified().sound, false);
    assert.equal(gw.verified(...gw.joined).sound, false);
    if (change === 'first') {
      const run = writ(['serve', gw.configFile], { cwd: gw.dir, timeout: 60_000 });
      assert.notEqual(run.code, 0);
      assert.match(run.err, /were removed: something was cut off/);
    }
  });
}

test('an archive that does not fit is refused, and nothing is removed', (t) => {
  const gw = agedGateway(t, 1000), other = agedGateway(t, 1000);
  const old = gw.path('old');
  gw.archive(daysAgo(5));
  cpSync(gw.archiveDir, old, { recursive: true });
  const { removal: { first } } = gw.archive(daysAgo(3));
  const attempt = () => writ(gw.archiveArgs(daysAgo(2), gw.stopped), { cwd: gw.dir });
  const tile = `${gw.archiveDir}/tile/entries/000`, whole = readFileSync(tile);
  const changed = Buffer.from(whole);
  changed[100] ^= 1;
  writeFileSync(tile, changed);
  assert.match(attempt().err, /is not what its checkpoint covers/);
  assert.equal(gw.first(), first);
  assert.equal(gw.verified(...gw.joined).sound, false);
  writeFileSync(tile, whole);
  rmSync(`${gw.archiveDir}/tile/0/001`);
  assert.match(attempt().err, /is missing/);
  assert.equal(gw.first(), first);

  rmSync(gw.archiveDir, { recursive: true });
  assert.match(attempt().err, /the archive has 0 records, and the ledger begins with record/);
  cpSync(other.archiveDir.replace(/log$/, 'keys'), gw.archiveDir, { recursive: true }); // a folder that is no archive
  assert.notEqual(attempt().code, 0);
  rmSync(gw.archiveDir, { recursive: true });
  cpSync(old, gw.archiveDir, { recursive: true }); // an older state has all that went
  assert.equal(attempt().code, 0);
  gw.sound(...gw.joined);
  other.archive(daysAgo(3));
  assert.equal(gw.verified('--archive', other.archiveDir).sound, false);
});

test('an archive of another ledger removes nothing', async (t) => {
  const config = { agents: [ROOT.entry], administrators: ['root'] };
  const gw = agedGateway(t, 1000, config), other = agedGateway(t, 1000, config);
  const ask = (source) => writBeside(['ledger', 'archive', other.ledgerFile, other.archiveDir, '--keys',
    other.path('keys'), '--before', daysAgo(2), ...source], { cwd: gw.dir });
  const stopped = await ask(gw.stopped);
  assert.equal(stopped.code, 3, stopped.out);
  assert.match(stopped.err, /not one of the ledger of that configuration/);
  await gw.start();
  writeFileSync(gw.path('token'), ROOT.token, { mode: 0o600 });
  const running = await ask(['--url', `http://127.0.0.1:${gw.adminPort}`, '--token', gw.path('token')]);
  assert.equal(running.code, 3, running.out);
  assert.match(running.err, /archive_mismatch/);
  await gw.stop();
  for (const ledger of [gw, other]) {
    assert.equal(ledger.first(), 0);
    assert.equal(facts(ledger, 'archived').length, 0);
    ledger.sound();
  }
});

// the configuration names the ledger, and the operand a copy from before the removal
test('a copy that the operand names keeps its records: it lacks the record that lets them go', ONLY_SHARED, (t) => {
  const gw = agedGateway(t, 1000);
  const copy = ledgerOf(gw.path('copy')), keys = ['--keys', gw.path('keys')];
  assert.equal(writ(['ledger', 'copy', gw.ledgerFile, copy, ...keys]).code, 0);
  const archive = (ledger) => writ(['ledger', 'archive', ledger, gw.archiveDir, ...keys, '--before', daysAgo(3),
    ...gw.stopped], { cwd: gw.dir });
  const first = (ledger) => Number(rowsOf(ledger, 'SELECT min(leaf) AS first FROM record')[0].first);
  const refused = archive(copy);
  assert.equal(refused.code, 3, refused.out);
  assert.match(refused.err, /does not have the record that lets records before \d+ go, so none is removed/);
  assert.equal(first(copy), 0);
  assert.equal(gw.first(), 0, 'recorded, and not removed yet');
  // one that was written into it, and that no checkpoint covers
  const [{ leaf, bytes }] = rowsOf(gw.ledgerFile, "SELECT r.leaf, encode(y.bytes, 'hex') AS bytes FROM record AS r "
    + 'JOIN body AS y ON y.leaf = r.leaf WHERE r.kind = 5 ORDER BY r.leaf DESC LIMIT 1');
  editLedger(copy, `INSERT INTO fact VALUES (${leaf}, decode('${bytes}', 'hex'))`);
  assert.match(archive(copy).err, /record \d+, which lets records go, is not signed/);
  assert.equal(first(copy), 0);
  const done = archive(gw.ledgerFile);
  assert.equal(done.code, 0, done.err);
  assert.ok(gw.first() > 0);
  gw.sound(...gw.joined);
});

test('times: with a zone, of the future, of before the first record, and none', (t) => {
  const gw = agedGateway(t, 400);
  const old = gw.archive('1999-12-31T23:59:59Z').removal;
  assert.deepEqual([old.removed, old.first, old.limit], [0, 0, null]);
  const time = Date.now() - 3 * DAY_MS;
  const zoned = new Date(time + 2 * 3_600_000).toISOString().replace('Z', '+02:00');
  const run = writ(gw.archiveArgs(zoned, gw.stopped), { cwd: gw.dir });
  if (run.code !== 0) assert.match(run.err, /not a time/);
  const { removal } = gw.archive(new Date(time).toISOString());
  assert.equal(run.code === 0 ? removal.removed : 0, 0, 'both are the same moment');
  for (const no of ['', '2026-13-01T00:00:00Z', '2026-01-01', '1969-01-01T00:00:00Z', '-1']) {
    const refused = writ(gw.archiveArgs(no, gw.stopped), { cwd: gw.dir });
    assert.equal(refused.code, 2, no);
    assert.equal(gw.first(), removal.first);
  }
  const all = gw.archive('9999-12-31T23:59:59Z').removal;
  assert.notEqual(all.limit, null);
  assert.ok(gw.sound().records > 0);
  gw.sound(...gw.joined);
});

test('what is said of a call that is in the archive', (t) => {
  const gw = agedGateway(t, 1000);
  const text = (value) => String(value);
  const [gone] = gw.rows('SELECT decision_id AS id, leaf FROM record WHERE kind = 1 ORDER BY leaf LIMIT 1');
  const [{ name }] = gw.rows('SELECT name FROM boundary ORDER BY first_leaf LIMIT 1');
  const { removal: { first } } = gw.archive(daysAgo(3));
  const [kept] = gw.rows('SELECT decision_id AS id FROM record WHERE kind = 1 ORDER BY leaf DESC LIMIT 1');
  const keys = ['--keys', gw.path('keys')], tenant = ['--tenant', 'acme'];
  const said = (...args) => writ(args, { cwd: gw.dir });
  const receipt = (id) => said('receipt', '--ledger', gw.ledgerFile, ...keys, text(id));
  for (const run of [said('ledger', 'show', gw.ledgerFile, text(gone.id)), receipt(gone.id),
    said('ledger', 'export', gw.ledgerFile, text(name), ...tenant)]) {
    assert.notEqual(run.code, 0, run.out);
    assert.match(run.err, /archive/);
    assert.equal(run.out, '', 'and nothing in part');
  }
  assert.equal(said('ledger', 'show', gw.ledgerFile, text(kept.id)).code, 0);
  const bundle = said('ledger', 'export', gw.ledgerFile, ...keys);
  assert.notEqual(bundle.code, 0);
  assert.match(bundle.err, /--since/);
  const [{ us }] = gw.rows(`SELECT time_us AS us FROM record WHERE leaf = ${first}`);
  const since = new Date(Math.ceil(Number(us) / 1000)).toISOString();
  const part = said('ledger', 'export', gw.ledgerFile, ...keys, '--since', since);
  assert.equal(part.code, 0, part.err);
});

test('a folder that is full, or no folder, removes nothing', (t) => {
  const gw = agedGateway(t, 1000);
  // a limit of the size of files: the bundles of records are larger
  const run = spawnSync('sh', ['-c', 'ulimit -f 64; trap "" XFSZ; exec "$0" "$@"', BIN,
    ...gw.archiveArgs(daysAgo(3), gw.stopped)], { cwd: gw.dir, encoding: 'utf8' });
  assert.notEqual(run.status, 0, run.stdout);
  assert.match(run.stderr, /cannot be written/);
  assert.equal(gw.first(), 0);
  gw.sound();
  writeFileSync(gw.path('file'), '');
  const no = writ(['ledger', 'archive', gw.ledgerFile, gw.path('file'), '--keys', gw.path('keys'), '--before',
    daysAgo(3), ...gw.stopped], { cwd: gw.dir });
  assert.notEqual(no.code, 0);
  assert.equal(gw.first(), 0);
  assert.ok(gw.archive(daysAgo(3)).removal.removed > 0, 'and what was left half is continued');
  gw.sound(...gw.joined);
});

test('copy and backup of a ledger that gave up records have what it has', (t) => {
  const gw = agedGateway(t, 2000);
  const whole = gw.sound();
  const { removal: { first } } = gw.archive(daysAgo(3));
  const keys = ['--keys', gw.path('keys')];
  const made = [['copy', gw.path('copied.db')], ...(POSTGRES ? [] : [['backup', gw.path('backup.db')]])];
  for (const [command, to] of made) {
    const run = writ(['ledger', command, gw.ledgerFile, to, ...keys], { cwd: gw.dir });
    assert.equal(run.code, 0, run.err);
    for (const more of [[], gw.joined]) {
      const verified = JSON.parse(writ(['ledger', 'verify', to, ...keys, ...more, '--json']).out);
      assert.deepEqual(verified.problems, []);
      assert.equal(verified.first, more.length > 0 ? 0 : first);
      if (more.length > 0) assert.deepEqual(counts(verified), counts(whole));
    }
    const again = writ(['ledger', 'archive', to, gw.archiveDir, ...keys], { cwd: gw.dir });
    assert.equal(again.code, 0, again.err);
  }
});

test('a kill at any moment leaves a ledger that verifies, and the next run goes on', SQLITE_ONLY, async (t) => {
  const gw = agedGateway(t, 6000);
  const whole = gw.sound();
  let removed = 0;
  for (let round = 0; round < 24 && removed === 0; round++) {
    const child = spawn(BIN, gw.archiveArgs(daysAgo(2), gw.stopped), { cwd: gw.dir, stdio: 'ignore' });
    const ended = once(child, 'exit');
    await Promise.race([ended, new Promise((go) => setTimeout(go, round * 25))]); // a moment, not a wait
    child.kill('SIGKILL');
    await ended;
    gw.sound();
    if (existsSync(`${gw.archiveDir}/checkpoint`)) gw.sound(...gw.joined);
    removed = child.exitCode === 0 ? 1 : 0;
  }
  const { removal } = gw.archive(daysAgo(2));
  assert.equal(gw.first(), removal.first);
  assert.deepEqual(counts(gw.sound(...gw.joined)), counts(whole));
});

test('a gateway removes records while it works, and every call gets its answer', async (t) => {
  const up = await startUpstream(t);
  const gw = agedGateway(t, 6000, { agents: [ANN.entry, ROOT.entry], administrators: ['root'],
    upstreams: { up: { http: up.url } }, tools: { 'up/pay': PAY } });
  await gw.start();
  writeFileSync(gw.path('token'), ROOT.token, { mode: 0o600 });
  const source = ['--url', `http://127.0.0.1:${gw.adminPort}`, '--token', gw.path('token')];
  const caller = new Caller(gw, { token: ANN.token });
  let going = true, made = 0;
  const traffic = Promise.all([0, 1, 2, 3].map(async (lane) => {
    while (going) {
      await caller.call('up__pay', { made }, { boundary: 'now', key: `${lane}-${made++}` });
    }
  }));
  const run = await writBeside([...gw.archiveArgs(daysAgo(2), source), '--json'], { cwd: gw.dir });
  going = false;
  await traffic;
  assert.equal(run.code, 0, run.err);
  const { removal } = JSON.parse(run.out);
  assert.ok(removal.removed > 1000);
  assert.equal(gw.first(), removal.first);
  assert.equal(gw.decisions().filter(({ agent_id: id }) => id === 'ann').length, made);
  assert.equal(up.calls.length, made, 'each ran once');
  gw.sound();
  gw.sound(...gw.joined);
  assert.equal(facts(gw, 'archived')[0].by, 'root');
  await gw.restart('SIGKILL');
  await caller.call('up__pay', { made: 0 }, { boundary: 'now', key: '0-0' });
  assert.equal(up.calls.length, made, 'a key of before is still claimed');
  await gw.stop();
  gw.sound(...gw.joined);
});

test('a gateway that is killed in a removal goes on with it at its next start', SQLITE_ONLY, async (t) => {
  const gw = agedGateway(t, 20_000, { agents: [ROOT.entry], administrators: ['root'] });
  await gw.start();
  writeFileSync(gw.path('token'), ROOT.token, { mode: 0o600 });
  const source = ['--url', `http://127.0.0.1:${gw.adminPort}`, '--token', gw.path('token')];
  const asked = writBeside(gw.archiveArgs(daysAgo(2), source), { cwd: gw.dir });
  await until(() => gw.first() > 0, 'the first records to go');
  await gw.stop('SIGKILL');
  assert.notEqual((await asked).code, 0);
  gw.sound();
  gw.sound(...gw.joined);
  const [{ before }] = facts(gw, 'archived');
  await gw.start();
  await until(() => gw.first() === before, 'the rest to go');
  await gw.stop();
  gw.sound(...gw.joined);
});

test('whole partitions are dropped, and a gateway may remove nothing', ONLY_SHARED, async (t) => {
  const gw = agedGateway(t, 6000, { agents: [ROOT.entry] }, { partition: 2048, role: 'gate' });
  const parts = () => gw.rows('SELECT leaf, until FROM part WHERE leaf >= 0 ORDER BY leaf');
  const tables = () => gw.rows(
    "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relname ~ '^(record|body)_'");
  const before = parts();
  assert.ok(before.length >= 32 && before.at(-1).until > 12_000 + 32_768, 'there is room ahead');
  const { removal: { first } } = gw.archive(daysAgo(2));
  const gone = before.filter(({ until: end }) => end <= first);
  assert.ok(gone.length >= 3 && first % 2048 !== 0, 'some whole ones, and one that is cut');
  assert.deepEqual(parts().map(({ leaf }) => leaf).filter((leaf) => leaf < 12_000),
    before.filter(({ until: end, leaf }) => end > first && leaf < 12_000).map(({ leaf }) => leaf));
  assert.equal(tables().filter(({ name }) => name === 'record_0' || name === 'body_0').length, 0);
  assert.equal(gw.rows(`SELECT count(*) AS n FROM record WHERE leaf < ${first}`)[0].n, 0);
  gw.sound();
  gw.sound(...gw.joined);

  const part = before.find(({ until: end }) => end > first).leaf;
  for (const statement of ['DELETE FROM record', 'UPDATE body SET leaf = leaf', `DELETE FROM record_${part}`,
    `DROP TABLE record_${part}`, `ALTER TABLE record DETACH PARTITION record_${part}`, 'DELETE FROM part',
    `INSERT INTO record_${part} SELECT * FROM record LIMIT 0`, 'TRUNCATE record', 'UPDATE part SET wide = 1',
    'DELETE FROM fact']) {
    assert.throws(() => editLedger(gw.ledgerFile, `SET ROLE gate; ${statement}`), /permission denied|must be owner/,
      statement);
  }
  editLedger(gw.ledgerFile, 'DROP OWNED BY gate; DROP ROLE gate');
});

// the gateway records what goes, and the command removes it, in its own role
test('a command that is killed in a removal is continued, while gateways work', ONLY_SHARED, async (t) => {
  const gw = agedGateway(t, 30_000, { agents: [ROOT.entry], administrators: ['root'] });
  await gw.start();
  writeFileSync(gw.path('token'), ROOT.token, { mode: 0o600 });
  const source = ['--url', `http://127.0.0.1:${gw.adminPort}`, '--token', gw.path('token')];
  const child = spawn(BIN, gw.archiveArgs(daysAgo(2), source), { cwd: gw.dir, stdio: 'ignore' });
  const ended = once(child, 'exit');
  // 30,000 records are archived and read again before that
  await until(() => gw.first() > 0 || child.exitCode !== null, 'the first records to go', 240_000);
  child.kill('SIGKILL');
  await ended;
  gw.sound();
  gw.sound(...gw.joined);
  const run = await writBeside([...gw.archiveArgs(daysAgo(2), source), '--json'], { cwd: gw.dir });
  const { removal } = JSON.parse(run.out);
  assert.equal(removal.removed, 0, 'the gateway has recorded it before');
  assert.equal(gw.first(), removal.first);
  assert.equal(facts(gw, 'archived').length, 1);
  gw.sound(...gw.joined);
});

test('only an administrator of all tenants may have records removed', async (t) => {
  const gw = agedGateway(t, 400, { agents: [ANN.entry, ROOT.entry], administrators: ['root'] });
  await gw.start();
  writeFileSync(gw.path('token'), ANN.token, { mode: 0o600 });
  const source = ['--url', `http://127.0.0.1:${gw.adminPort}`, '--token', gw.path('token')];
  const run = await writBeside(gw.archiveArgs(daysAgo(3), source), { cwd: gw.dir });
  assert.match(run.err, /not_administrator/);
  assert.equal(gw.first(), 0);
  for (const [args, says] of [
    [gw.archiveArgs(daysAgo(3), []), /--before needs --url/], [gw.archiveArgs('yesterday', gw.stopped), /not a time/],
    [gw.archiveArgs(daysAgo(3), source.slice(0, 2)), /--url needs --token/],
  ]) assert.match(writ(args).err, says);
});

test('two commands at once, while two gateways serve: each call runs once, and all is sound', ONLY_SHARED,
  async (t) => {
    const up = await startUpstream(t);
    const config = { agents: [ANN.entry, ROOT.entry], administrators: ['root'], upstreams: { up: { http: up.url } },
      tools: { 'up/pay': PAY } };
    const gw = agedGateway(t, 2000, { ...config, ledger: { gateway: 'a' } }, { partition: 512 });
    const whole = gw.sound();
    await gw.start();
    const second = await startGateway(t, { ...config, keys: gw.path('keys'), ledger: { gateway: 'b' } },
      { ledger: gw.ledgerFile });
    writeFileSync(gw.path('token'), ROOT.token, { mode: 0o600 });
    const source = ({ adminPort }) => ['--url', `http://127.0.0.1:${adminPort}`, '--token', gw.path('token')];
    const callers = [gw, second].map((gateway) => new Caller(gateway, { token: ANN.token }));
    let going = true;
    const traffic = Promise.all([0, 1].map(async (lane) => {
      for (let i = 0; going && i < 200; i++) { // both lanes make the same calls
        const answer = await callers[lane].call('up__pay', { i }, { boundary: 'now', key: `k${i}` });
        assert.match(answer.text, /ran \d|has been made|is being made/, answer.text);
      }
    }));
    const other = gw.path('other');
    cpSync(gw.path('keys'), gw.path('keys2'), { recursive: true });
    const runs = await Promise.all([gw.archiveArgs(daysAgo(2), source(gw)),
      ['ledger', 'archive', gw.ledgerFile, other, '--keys', gw.path('keys2'), '--before', daysAgo(1.8),
        ...source(second)]].map((args) => writBeside([...args, '--json'], { cwd: gw.dir })));
    going = false;
    await traffic;
    for (const run of runs) assert.equal(run.code, 0, run.err + run.out);
    assert.equal(gw.first(), Math.max(...runs.map(({ out }) => JSON.parse(out).removal.first)));
    const ran = up.calls.map(({ arguments: { i } = {} }) => i).filter((i) => i !== undefined);
    assert.equal(new Set(ran).size, ran.length, 'each ran once');
    const allowed = gw.decisions(['--decision', 'allow']).filter(({ agent_id: id }) => id === 'ann');
    assert.equal(up.calls.length, allowed.length);
    await second.stop('SIGKILL');
    await second.start();
    await gw.stop();
    await second.stop();
    assert.ok(gw.sound(...gw.joined).records > whole.records);
    gw.sound('--archive', other);
  });
