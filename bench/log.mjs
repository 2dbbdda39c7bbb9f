// log.mjs - how many records a second one, two and three writers add to a ledger on PostgreSQL, and what a record costs
// the database: its processor time, round trips, statements, rows, and bytes. The writers are micro_ledger, each with
// 64 calls at once, so that nothing but the ledger is measured. The database is a cluster of the run, with fsync on and
// PostgreSQL's own defaults, reached over its socket.
//
//     cmake --build --preset release --target micro_ledger
//     tests/support/node bench/log.mjs [--writers=1,2,3] [--rounds=3] [--seconds=5] [--work=build]
//
// Round trips are counted by a proxy in a run of their own, since it costs time: a Sync or a Query of the client.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import net from 'node:net';
import { loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { spread } from './report.mjs';
import { startCluster } from '../tests/support/js/postgres.mjs';

const root = resolve(import.meta.dirname, '..');
const { values: options } = parseArgs({
  options: {
    micro: { type: 'string', default: join(root, 'build/release/bench/micro_ledger') },
    writers: { type: 'string', default: '1,2,3' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    work: { type: 'string', default: join(root, 'build') },
  },
});
const DATABASE = { shared_buffers: '128MB', max_wal_size: '1GB', min_wal_size: '80MB' };
const AT_ONCE = 64;
const HEADER = 5; // of a message: type and length; the length counts itself

// ---- the proxy

/** Counts the messages of clients by type, and the bytes of both sides. */
function startCounter(port) {
  const count = { messages: {}, sent: 0, received: 0 };
  const server = net.createServer((client) => {
    const database = net.connect(port, '127.0.0.1');
    let left = 0, rest = Buffer.alloc(0), started = false; // `left`: bytes of a message whose type is known
    client.on('data', (bytes) => {
      count.sent += bytes.length;
      database.write(bytes);
      rest = Buffer.concat([rest, bytes]);
      for (;;) {
        const skipped = Math.min(left, rest.length);
        rest = rest.subarray(skipped);
        left -= skipped;
        if (rest.length < HEADER) return;
        const type = started ? String.fromCharCode(rest[0]) : 'start'; // the first one has no type
        left = started ? 1 + rest.readUInt32BE(1) : rest.readUInt32BE(0);
        started = true;
        count.messages[type] = (count.messages[type] ?? 0) + 1;
      }
    });
    database.on('data', (bytes) => { count.received += bytes.length; client.write(bytes); });
    for (const [one, other] of [[client, database], [database, client]]) {
      one.on('error', () => {});
      one.on('close', () => other.destroy());
    }
  });
  return new Promise((done) => server.listen(0, '127.0.0.1', () => done({ count, server, port: server.address().port })));
}

// ---- one run

function cpuNs(pid) {
  const all = [pid, ...readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean)];
  return all.reduce((sum, one) => {
    try {
      return sum + Number(readFileSync(`/proc/${one}/schedstat`, 'utf8').split(' ')[0]);
    } catch {
      return sum; // it has ended: a worker of autovacuum
    }
  }, 0);
}

function write(keys, uri, seconds) {
  return new Promise((done, fail) => {
    const child = spawn(options.micro, [`--store=${uri}`, keys, String(AT_ONCE), String(seconds)],
      { stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    child.stdout.on('data', (bytes) => { out += bytes; });
    child.on('error', fail);
    child.on('close', (code) => (code === 0 ? done(out) : fail(new Error(`micro_ledger: ${code} ${out}`))));
  });
}

const COUNTERS = `SELECT (SELECT size FROM coordinator), pg_current_wal_lsn() - '0/0',
  (SELECT sum(n_tup_ins) FROM pg_stat_user_tables), (SELECT sum(n_tup_upd) FROM pg_stat_user_tables),
  (SELECT sum(n_tup_del) FROM pg_stat_user_tables), pg_database_size(current_database()),
  (SELECT count(*) FROM head)`;

/** What the database says of itself; a backend reports its rows once a second. */
async function counters(cluster, uri) {
  const [row] = await cluster.sql(COUNTERS, { uri });
  const [records, wal, inserted, updated, deleted, size, groups] = row.split('|').map(Number);
  return { records, wal, inserted, updated, deleted, size, groups };
}

let databases = 0;

async function run(cluster, keys, writers, proxied) {
  const database = `log${databases++}`;
  const uri = cluster.socketUri.replace('@/writ', `@/${database}`);
  const proxy = proxied ? await startCounter(cluster.port) : undefined;
  const through = proxied ? `${cluster.uri({ port: proxy.port, database })}?sslmode=disable&gssencmode=disable` : uri;
  await cluster.sql(`CREATE DATABASE ${database}`);
  execFileSync(options.micro, [`--store=${uri}`, keys, '1', '0.1']); // makes the ledger
  await cluster.sql('CHECKPOINT');
  const all = Array.from({ length: writers }, () => write(keys, through, options.seconds));
  const wait = (part) => new Promise((done) => setTimeout(done, part * 1000 * Number(options.seconds)));
  const look = async () => ({ ...await counters(cluster, uri), cpu: cpuNs(cluster.child.pid), at: performance.now(),
    sent: proxy?.count.sent, received: proxy?.count.received, statements: proxy?.count.messages.B,
    trips: (proxy?.count.messages.S ?? 0) + (proxy?.count.messages.Q ?? 0) });
  await wait(0.4); // the writers have started, and know each other
  const before = await look();
  await wait(0.5);
  const after = await look();
  const said = await Promise.all(all);
  proxy?.server.close();
  const records = after.records - before.records;
  const per = (name) => (after[name] - before[name]) / records;
  return {
    rate: records / (after.at - before.at) * 1000,
    database_us: per('cpu') / 1000,
    writer_us: spread(said.map((text) => Number(/([\d.]+) us CPU/.exec(text)[1]))).median,
    group: 1 / per('groups'), rows: per('inserted') + per('updated') + per('deleted'), wal: per('wal'),
    disk: per('size'), trips: per('trips'), statements: per('statements'), sent: per('sent'),
    received: per('received'),
  };
}

// ---- the measurement

const text = (values, digits) => {
  const { median, least, most } = spread(values);
  return `**${median.toFixed(digits)}** (${least.toFixed(digits)}-${most.toFixed(digits)})`;
};

const ends = [];
const keys = mkdtempSync(join(resolve(options.work), 'log-'));
try {
  const cluster = await startCluster({ after: (end) => ends.push(end) },
    { parent: resolve(options.work), settings: DATABASE });
  const counts = options.writers.split(',').map(Number);
  const samples = [];
  execFileSync(options.micro, [keys, '1', '0.1']); // makes the keys
  const before = loadavg()[0];
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const writers of counts) samples.push({ writers, ...await run(cluster, keys, writers, false) });
  }
  console.log(`load average ${before.toFixed(1)} before, ${loadavg()[0].toFixed(1)} after\n`);
  console.log('| writers | records/s | records per group | CPU us of a writer per record of its own | CPU us of the ' +
    'database per record |\n| ---: | ---: | ---: | ---: | ---: |');
  for (const writers of counts) {
    const own = samples.filter((sample) => sample.writers === writers);
    console.log(`| ${writers} | ${text(own.map((s) => s.rate), 0)} | ${text(own.map((s) => s.group), 0)} ` +
      `| ${text(own.map((s) => s.writer_us), 1)} | ${text(own.map((s) => s.database_us), 1)} |`);
  }
  console.log('\n| writers | round trips | statements | rows | bytes to the database | bytes from it | bytes of its ' +
    'log | bytes on its disk |\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |');
  for (const writers of counts) {
    const s = await run(cluster, keys, writers, true);
    console.log(`| ${writers} | ${s.trips.toFixed(3)} | ${s.statements.toFixed(2)} | ${s.rows.toFixed(2)} ` +
      `| ${s.sent.toFixed(0)} | ${s.received.toFixed(0)} | ${s.wal.toFixed(0)} | ${s.disk.toFixed(0)} |`);
  }
  console.log('\nEach per record; a call has two.');
} finally {
  for (const end of ends) await end();
  rmSync(keys, { recursive: true, force: true });
}
