// store.mjs - the ledgers of the gateways of one test process: a SQLite file in the folder of each, or, with
// WRIT_TEST_STORE=postgresql, a database each on a cluster that the process makes at its first one. Its data need not
// survive a power failure; the tests of that make clusters of their own (postgres.mjs).
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export const POSTGRES = process.env.WRIT_TEST_STORE === 'postgresql';
/** For a test of gateways that share a ledger. */
export const ONLY_SHARED = { skip: POSTGRES ? false : 'of PostgreSQL' };
/** For a test that looks into the files of SQLite. */
export const SQLITE_ONLY = { skip: POSTGRES ? 'of files of SQLite' : false };

// not imported without need: it looks for the programs of PostgreSQL
const { startCluster, openPsql, PSQL } = POSTGRES ? await import('./postgres.mjs') : {};
// a gateway demands fsync, which is cheap there
const memory = existsSync('/dev/shm') ? { parent: '/dev/shm' } : {};
const cluster = POSTGRES ? await startCluster({ after() {} }, { ...memory, settings: { max_connections: 200 } })
  : undefined;

if (POSTGRES) {
  cluster.child.unref(); // else the process would wait for it
  cluster.child.stderr.unref();
  process.once('exit', () => {
    cluster.powerOff(); // all processes get their signal before it waits for anything
    rmSync(cluster.dir, { recursive: true, force: true, maxRetries: 20 });
  });
}

function run(uri, sql) {
  const done = spawnSync(PSQL, ['-XAtqw', '-v', 'ON_ERROR_STOP=1', '-f', '-', uri],
    { input: sql, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (done.status !== 0) throw new Error(`psql: ${done.status} ${done.stderr}`);
  return done.stdout.split('\n').slice(0, -1);
}

const databases = new Map(); // of folders

/** The name of the ledger of a gateway in that folder, as `writ ledger` takes it. It may have to be made. */
export function ledgerOf(dir) {
  if (!POSTGRES) return join(dir, 'ledger.db');
  if (!databases.has(dir)) {
    const name = `ledger${databases.size}`;
    run(cluster.socketUri, `CREATE DATABASE ${name}`);
    databases.set(dir, cluster.uri({ database: name }));
  }
  return databases.get(dir);
}

/** Whether it is still to be made. */
export const isMissing = (ledger, exists) => (POSTGRES
  ? run(ledger, "SELECT 1 FROM pg_class WHERE relname = 'coordinator'").length === 0 : !exists(ledger));

/** The members of a configuration that name it. The files beside it have the same names on both. */
export const storeConfig = (path, { store = POSTGRES ? path : 'sqlite://ledger.db', ledger }) => (POSTGRES
  ? { store, ledger: { replication: 'none_needed', gateway: 'one', files: 'ledger.db', ...ledger } } : { store });

/** The rows of a query. Both databases give text as Buffer where the column is a blob. */
export function rowsOf(ledger, query) {
  if (POSTGRES) {
    const bytes = (value) => (typeof value === 'string' && value.startsWith('\\x')
      ? Buffer.from(value.slice(2), 'hex') : value);
    return run(ledger, `SELECT row_to_json(q) FROM (${query}) AS q`)
      .map((line) => JSON.parse(line, (_, v) => bytes(v)));
  }
  const db = new DatabaseSync(ledger, { readOnly: true });
  try {
    return db.prepare(query).all();
  } finally {
    db.close();
  }
}

/** Changes the ledger behind the back of everybody. */
export function editLedger(ledger, statements) {
  if (POSTGRES) {
    run(ledger, statements);
    return;
  }
  const db = new DatabaseSync(ledger);
  try {
    db.exec(statements);
  } finally {
    db.close();
  }
}

/** One statement that changes rows, behind the back of the gateway. false: the database refuses it, or it changes no
 * row. */
export function editRows(ledger, statement) {
  try {
    if (POSTGRES) {
      return run(ledger, `WITH edited AS (${statement} RETURNING 1) SELECT count(*) FROM edited`)[0] !== '0';
    }
    const db = new DatabaseSync(ledger);
    try {
      return db.prepare(statement).run().changes > 0;
    } finally {
      db.close();
    }
  } catch {
    return false;
  }
}

/** A copy of a ledger that no gateway has open. `putBack` makes the ledger again what it was. A file is one of those
 * that the test copies itself. */
export function copyLedger(ledger) {
  if (!POSTGRES) return { async putBack() {} };
  const name = new URL(ledger).pathname.slice(1), copy = `${name}_copy`;
  run(cluster.socketUri, `CREATE DATABASE ${copy} TEMPLATE ${name}`);
  return { async putBack() {
    await new Promise(setImmediate); // reads what the server logged: it would wait for that
    run(cluster.socketUri, `DROP DATABASE ${name} WITH (FORCE);\nCREATE DATABASE ${name} TEMPLATE ${copy}`);
  } };
}

/** All that is in it, as text with one character for each byte. */
export function textOfLedger(ledger) {
  if (POSTGRES) {
    const copies = run(ledger, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'").map(
      (table) => `COPY (SELECT * FROM ${table}) TO STDOUT;`).join('\n');
    return run(ledger, `SET bytea_output = escape;\n${copies}`).join('\n');
  }
  return ['', '-wal'].map((end) => ledger + end).filter((file) => existsSync(file))
    .map((file) => readFileSync(file, 'latin1')).join('');
}

/** Keeps every gateway from writing until the function that it gives is called, or the test ends. */
export async function holdLedger(t, ledger) {
  if (POSTGRES) {
    const session = openPsql(t, ledger);
    const { err } = await session.run('BEGIN; SELECT one FROM coordinator FOR UPDATE;');
    if (err !== '') throw new Error(err);
    return () => session.end();
  }
  const db = new DatabaseSync(ledger);
  db.exec('BEGIN IMMEDIATE');
  let held = true;
  const end = () => {
    if (held) db.close();
    held = false;
  };
  t.after(end);
  return end;
}
