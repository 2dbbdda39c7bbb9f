// The clusters and the proxy of tests/support: each of their failures happens as its name says, seen by psql.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { textOf, until } from '../support/js/gateway.mjs';
import { isGone, openPsql, psql, startCluster, stateOf } from '../support/js/postgres.mjs';
import { insideOwnMounts, ownMounts, Volume } from '../support/js/volume.mjs';
import { startPostgresProxy } from '../support/servers/postgres-proxy.mjs';

const POSTGRES = fileURLToPath(new URL('../support/js/postgres.mjs', import.meta.url));
const TABLE = 'CREATE TABLE item (n bigint PRIMARY KEY)';
const items = async (cluster) => (await cluster.sql('SELECT n FROM item ORDER BY n')).map(Number);

/** A cluster with a table, and a proxy in front of it. */
async function behindProxy(t, options = {}) {
  const cluster = await startCluster(t, { fsync: false, ...options });
  await cluster.sql(TABLE);
  const proxy = await startPostgresProxy(t, cluster.port);
  return { cluster, proxy, uri: cluster.uri({ port: proxy.port, params: 'sslmode=disable' }) };
}

const outside = insideOwnMounts ? () => {} : test; // the same file, run again where it may mount

outside('a cluster syncs its files, and answers on its socket and on 127.0.0.1 alone', async (t) => {
  const cluster = await startCluster(t);
  const [fsync, addresses, version] = await cluster.sql("SELECT unnest(ARRAY[current_setting('fsync'), " +
    "current_setting('listen_addresses'), current_setting('server_version_num')])");
  assert.deepEqual([fsync, addresses], ['on', '127.0.0.1']);
  assert.ok(Number(version) >= 150000, version);
  assert.deepEqual(await cluster.sql('SELECT inet_server_addr(), inet_server_port()', { uri: cluster.uri() }),
    [`127.0.0.1|${cluster.port}`]);
  assert.notEqual(Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${cluster.child.pid}/status`, 'utf8'))[1]), 0);
  assert.deepEqual(await cluster.sql('SHOW fsync', { uri: (await startCluster(t, { fsync: false })).uri() }), ['off']);
});

outside('a cluster with a password refuses a TCP connection without it', async (t) => {
  const cluster = await startCluster(t, { fsync: false, password: 'opensesame' });
  const without = await psql(cluster.uri(), 'SELECT 1', { PGPASSFILE: '/dev/null' });
  assert.equal(without.code, 2);
  assert.match(without.err, /no password supplied/);
  assert.equal((await psql(cluster.uri(), 'SELECT 1', { PGPASSWORD: 'wrong' })).code, 2);
  assert.deepEqual(await cluster.sql('SELECT 1', { uri: cluster.uri() }), ['1']);
});

outside('a power failure ends every process; commits are there afterwards, open transactions are not', async (t) => {
  const cluster = await startCluster(t);
  await cluster.sql(TABLE);
  const open = openPsql(t, cluster.uri());
  await open.run('INSERT INTO item VALUES (1); BEGIN; INSERT INTO item VALUES (2);');
  const all = cluster.processes;
  assert.ok(all.length > 4, String(all));
  assert.deepEqual(await cluster.powerOff(), { code: null, signal: 'SIGKILL' });
  assert.ok(all.every(isGone));
  assert.ok((await open.run('COMMIT;')).ended);
  await cluster.start();
  assert.match(cluster.log, /automatic recovery in progress/);
  assert.deepEqual(await items(cluster), [1]);
  const from = cluster.log.length;
  await cluster.restart();
  assert.doesNotMatch(cluster.log.slice(from), /automatic recovery/);
  assert.deepEqual(await items(cluster), [1]);
});

outside('a paused server answers after it is resumed', async (t) => {
  const cluster = await startCluster(t, { fsync: false });
  await cluster.sql(TABLE);
  const session = openPsql(t, cluster.uri());
  await session.run('SELECT 1;');
  cluster.pause();
  await until(() => cluster.processes.every((pid) => stateOf(pid) === 'T' || isGone(pid)), 'every process to stop');
  let answered = false;
  const answer = session.run('INSERT INTO item VALUES (1) RETURNING n;').then((a) => { answered = true; return a; });
  const fresh = cluster.sql('SELECT 2', { uri: cluster.uri() });
  await new Promise((resolve) => setTimeout(resolve, 50)); // an answer that came too early would be seen
  assert.equal(answered, false);
  cluster.resume();
  assert.deepEqual((await answer).rows, ['1']);
  assert.deepEqual(await fresh, ['2']);
});

outside('a slow server delays each commit, and is fast again', async (t) => {
  const cluster = await startCluster(t);
  await cluster.sql(TABLE);
  await cluster.slow(100);
  const session = openPsql(t, cluster.uri());
  const from = performance.now();
  await session.run('INSERT INTO item VALUES (1);');
  await session.run('INSERT INTO item VALUES (2);');
  assert.ok(performance.now() - from >= 200);
  await cluster.slow(0);
  assert.deepEqual(await cluster.sql('SHOW commit_delay'), ['0']);
});

outside('a commit waits for the synchronous standby, which has it when it is promoted', async (t) => {
  const cluster = await startCluster(t);
  await cluster.sql(TABLE);
  const standby = await cluster.standby(t, { synchronous: true });
  assert.deepEqual(await cluster.sql('SELECT application_name, sync_state FROM pg_stat_replication'),
    ['standby1|quorum']);
  await cluster.sql('INSERT INTO item VALUES (1)');
  await standby.stop();
  const waiting = cluster.sql('INSERT INTO item VALUES (2)').catch((error) => error);
  await until(async () => (await cluster.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"))[0]
    === '1', 'the commit to wait for the standby');
  await standby.start();
  assert.deepEqual(await waiting, []);
  assert.deepEqual(await standby.sql('SELECT pg_is_in_recovery()'), ['t']);
  await assert.rejects(standby.sql('INSERT INTO item VALUES (3)'), /25006.*read-only/);
  await cluster.powerOff();
  await standby.promote();
  assert.deepEqual(await items(standby), [1, 2]);
  await standby.sql('INSERT INTO item VALUES (3)'); // waits for no standby
  const next = await standby.standby(t, { synchronous: true });
  await standby.sql('INSERT INTO item VALUES (4)');
  await standby.powerOff();
  await next.promote();
  assert.deepEqual(await items(next), [1, 2, 3, 4]);
});

outside('an asynchronous standby that is promoted has lost an acknowledged commit', async (t) => {
  const cluster = await startCluster(t, { fsync: false });
  await cluster.sql(TABLE);
  const standby = await cluster.standby(t);
  await cluster.sql('INSERT INTO item VALUES (1)');
  await until(async () => (await items(standby)).length === 1, 'the first row on the standby');
  await standby.stop();
  await cluster.sql('INSERT INTO item VALUES (2)');
  await cluster.powerOff();
  await standby.start();
  await standby.promote();
  assert.deepEqual(await items(standby), [1]);
});

outside('the proxy cuts connections: the server rolls back, and a new connection works', async (t) => {
  const { cluster, proxy, uri } = await behindProxy(t);
  const session = openPsql(t, uri);
  await session.run('BEGIN; INSERT INTO item VALUES (1);');
  assert.equal(proxy.cut(), 1);
  const cut = await session.run('COMMIT;');
  assert.ok(cut.ended, cut.err);
  await until(async () => (await cluster.sql("SELECT count(*) FROM pg_stat_activity WHERE backend_type = " +
    "'client backend' AND client_addr IS NOT NULL"))[0] === '0', 'the server to notice');
  assert.deepEqual(await items(cluster), []);
  assert.deepEqual(await cluster.sql('INSERT INTO item VALUES (2) RETURNING n', { uri }), ['2']);
});

outside('the proxy refuses connections until it accepts them', async (t) => {
  const { cluster, proxy, uri } = await behindProxy(t);
  proxy.refuse();
  assert.equal((await psql(uri, 'SELECT 1')).code, 2);
  proxy.accept();
  assert.deepEqual(await cluster.sql('SELECT 1', { uri }), ['1']);
});

outside('a hanging proxy passes nothing, and everything once it resumes', async (t) => {
  const { cluster, proxy, uri } = await behindProxy(t);
  const session = openPsql(t, uri);
  await session.run('SELECT 1;');
  proxy.hang();
  const answer = session.run('INSERT INTO item VALUES (1) RETURNING n;');
  const fresh = cluster.sql('SELECT 2', { uri });
  await until(() => proxy.pairs.size === 2, 'the second connection');
  assert.deepEqual(await items(cluster), []);
  proxy.resume();
  assert.deepEqual((await answer).rows, ['1']);
  assert.deepEqual(await fresh, ['2']);
});

outside('a hanging proxy keeps an answer back after the server committed', async (t) => {
  const { cluster, proxy, uri } = await behindProxy(t);
  const session = openPsql(t, uri);
  const running = session.run('SELECT pg_advisory_lock(1); INSERT INTO item VALUES (1); SELECT pg_sleep(0);');
  assert.deepEqual((await running).err, '');
  const lock = openPsql(t, cluster.uri());
  const held = lock.run('BEGIN; LOCK TABLE item IN EXCLUSIVE MODE;');
  await held;
  const answer = session.run('INSERT INTO item VALUES (2) RETURNING n;');
  await until(async () => (await cluster.sql("SELECT count(*) FROM pg_locks WHERE NOT granted"))[0] === '1',
    'the statement to reach the server');
  proxy.hang();
  await lock.run('COMMIT;');
  await until(async () => (await items(cluster)).length === 2, 'the commit');
  proxy.resume();
  assert.deepEqual((await answer).rows, ['2']);
});

outside('a delaying proxy takes its time in both directions', async (t) => {
  const { proxy, uri } = await behindProxy(t);
  const session = openPsql(t, uri);
  await session.run('SELECT 1;');
  proxy.delay(40);
  const from = performance.now();
  assert.deepEqual((await session.run('SELECT 2;')).rows, ['2']);
  assert.ok(performance.now() - from >= 79);
});

outside('a lost answer of COMMIT: the client sees a broken connection, and the row is there', async (t) => {
  const { cluster, proxy, uri } = await behindProxy(t);
  const session = openPsql(t, uri);
  await session.run('SELECT 1;');
  const lost = proxy.lose({ skip: 1 });
  const insert = (n) => session.run(`BEGIN; INSERT INTO item VALUES (${n}); COMMIT;`);
  assert.equal((await insert(1)).err, '');
  const second = await insert(2);
  assert.ok(second.ended);
  assert.match(second.err, /connection/);
  assert.equal(await lost, 'COMMIT');
  assert.deepEqual([proxy.commits, proxy.lost], [2, 1]);
  assert.deepEqual(await items(cluster), [1, 2]);
  // only once
  await cluster.sql('BEGIN; INSERT INTO item VALUES (3); COMMIT', { uri });
  // a rollback is no commit, and other statements can be lost as well
  const other = proxy.lose({ tag: /^INSERT/ });
  assert.notEqual((await psql(uri, 'BEGIN; ROLLBACK; INSERT INTO item VALUES (4)')).code, 0);
  assert.equal(await other, 'INSERT 0 1');
  assert.deepEqual(await items(cluster), [1, 2, 3, 4]);
  const never = proxy.lose();
  proxy.forget();
  assert.equal(await never, undefined);
});

/** The same bytes in other pieces, so that no message arrives whole. */
async function inPieces(t, port) {
  const sockets = new Set();
  const server = net.createServer((near) => {
    const far = net.connect(port, '127.0.0.1');
    for (const [from, to] of [[near, far], [far, near]]) {
      sockets.add(from);
      from.setNoDelay(true).on('error', () => {}).on('close', () => to.destroy());
    }
    near.on('data', (bytes) => far.write(bytes));
    let waiting = Promise.resolve();
    far.on('data', (bytes) => {
      for (const byte of bytes) {
        waiting = waiting.then(() => new Promise((resolve) => {
          if (near.destroyed) resolve();
          else near.write(Buffer.of(byte), resolve);
        }));
      }
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => { for (const s of sockets) s.destroy(); return new Promise((resolve) => server.close(resolve)); });
  return server.address().port;
}

outside('messages that arrive in pieces are recognized, after refused encryption, too', async (t) => {
  const cluster = await startCluster(t, { fsync: false });
  await cluster.sql(TABLE);
  const proxy = await startPostgresProxy(t, await inPieces(t, cluster.port));
  const uri = cluster.uri({ port: proxy.port, params: 'sslmode=prefer' });
  const many = await cluster.sql('SELECT repeat(\'C\', 100) FROM generate_series(1, 50)', { uri });
  assert.deepEqual(many, Array(50).fill('C'.repeat(100)));
  const lost = proxy.lose();
  assert.notEqual((await psql(uri, 'BEGIN; INSERT INTO item VALUES (1); COMMIT')).code, 0);
  assert.equal(await lost, 'COMMIT');
  assert.deepEqual(await items(cluster), [1]);
});

/** A test process of its own that starts a cluster and then does `then`. */
function otherProcess(t, then) {
  const dir = mkdtempSync(join(tmpdir(), 'writ-pg-test-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'other.test.mjs'), found = join(dir, 'found.json');
  writeFileSync(file, `import { test } from 'node:test';
import { renameSync, writeFileSync } from 'node:fs';
import { startCluster } from ${JSON.stringify(POSTGRES)};
test('t', async (t) => {
  const cluster = await startCluster(t, { fsync: false });
  writeFileSync('${found}.new', JSON.stringify({ dir: cluster.dir, processes: cluster.processes }));
  renameSync('${found}.new', '${found}');
  ${then}
});`);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return { file, env, found: () => JSON.parse(textOf(found) || 'null') };
}
const ended = (pids) => until(() => pids.every(isGone), 'the server to end');

outside('the cluster of a test that fails ends with it', async (t) => {
  const other = otherProcess(t, "throw new Error('on purpose');");
  const run = spawnSync(process.execPath, [other.file], { env: other.env, encoding: 'utf8' });
  assert.equal(run.status, 1, run.stdout);
  assert.match(run.stdout, /on purpose/);
  const { dir, processes } = other.found();
  await ended(processes);
  assert.equal(existsSync(dir), false);
});

outside('the cluster of a test process that is killed ends with it', async (t) => {
  const other = otherProcess(t, 'await new Promise((resolve) => setTimeout(resolve, 600_000));');
  const child = spawn(process.execPath, [other.file], { env: other.env, stdio: 'ignore' });
  t.after(() => child.kill('SIGKILL'));
  const { dir, processes } = await until(other.found, 'the cluster of the other process');
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  assert.ok(processes.length > 4);
  child.kill('SIGKILL');
  await ended(processes);
});

const FILL = 'INSERT INTO filled SELECT repeat(md5(n::text), 200) FROM generate_series(1, 200) n';
/** A volume that the server's user may enter. */
function volumeOf(kib) {
  const volume = new Volume(kib);
  chmodSync(volume.at, 0o711);
  return volume;
}
// in a user name space root is the only user, and PostgreSQL refuses to run as root
const oneUser = Number(readFileSync('/proc/self/uid_map', 'utf8').trim().split(/\s+/)[2]) === 1;

if (insideOwnMounts) {
  const skip = oneUser && 'a user who is not root cannot mount a volume for PostgreSQL';
  test('a full database refuses to grow, reads, and works again when there is space', { skip }, async (t) => {
    const volume = volumeOf(96 * 1024);
    const cluster = await startCluster(t, { fsync: false, parent: volume.at, walOutside: true });
    await cluster.sql(`${TABLE}; INSERT INTO item VALUES (1);
      CREATE TABLE filled (t text); ALTER TABLE filled ALTER t SET STORAGE EXTERNAL`);
    volume.fill();
    await assert.rejects(cluster.sql(Array(20).fill(FILL).join(';')), /53100.*No space left/s);
    assert.ok(cluster.running);
    assert.deepEqual(await items(cluster), [1]);
    volume.free();
    await cluster.sql(FILL);
    await cluster.sql('INSERT INTO item VALUES (2)');
    assert.deepEqual(await items(cluster), [1, 2]);
  });

  test('a server whose transaction log is full goes down, and has every commit afterwards', { skip }, async (t) => {
    const volume = volumeOf(96 * 1024);
    const cluster = await startCluster(t, { fsync: false, parent: volume.at });
    await cluster.sql(`${TABLE}; INSERT INTO item VALUES (1); CREATE TABLE filled (t text)`);
    volume.fill();
    await assert.rejects(cluster.sql(Array(100).fill(FILL).join(';')), /No space left|connection|terminat/);
    await cluster.powerOff();
    volume.free();
    await cluster.start();
    assert.deepEqual(await items(cluster), [1]);
  });
} else {
  test('on volumes that fill up', (t) => {
    const ran = ownMounts(fileURLToPath(import.meta.url));
    if (ran === undefined) return t.skip('this user may not mount');
    if (ran.status !== 0) assert.fail(ran.stdout + ran.stderr);
  });
}
