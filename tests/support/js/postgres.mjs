// postgres.mjs - a PostgreSQL cluster of one test: made in a folder of its own, reached over a socket in that folder
// and over a port of 127.0.0.1, killed, paused, slowed down, copied to standbys and promoted. No cluster outlives its
// test, nor the process of the test when that is killed: the server dies with its parent.
//
// initdb runs once for each test process; the clusters are copies of that folder. A power failure is SIGKILL of every
// process of the server: the kernel keeps what was written, so this shows what PostgreSQL does at recovery, and not
// that it called fsync.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { reservePort } from './ports.mjs';
import { until } from './until.mjs';

export const OWNER = 'writ'; // the superuser of each cluster, and its database
const READY = /database system is ready to accept (read-only )?connections/;
const START_MS = 60_000;

/** The programs of the newest PostgreSQL that Debian's packages installed. */
function programs() {
  const at = '/usr/lib/postgresql';
  let versions = [];
  try {
    versions = readdirSync(at).filter((v) => /^\d+$/.test(v) && Number(v) >= 15).sort((a, b) => b - a);
  } catch {
    // reported below
  }
  if (versions.length === 0) throw new Error(`PostgreSQL 15 or later is missing below ${at}: run scripts/deps test`);
  return join(at, versions[0], 'bin');
}

const BIN = programs();
export const PSQL = join(BIN, 'psql');

/** The user that the server runs as: root may not. Undefined: the user of the test. */
function serverUser() {
  if (process.getuid() !== 0) return undefined;
  const line = readFileSync('/etc/passwd', 'utf8').split('\n').find((l) => l.startsWith('postgres:'));
  if (line === undefined) throw new Error('root needs the user postgres: run scripts/deps test');
  const [, , uid, gid] = line.split(':').map(Number);
  return { uid, gid };
}

const USER = serverUser();

// `deathSignal`: sent to the program when this process ends in whatever way
function asServer(program, args, deathSignal = 'KILL') {
  const ids = USER === undefined ? [] : [`--reuid=${USER.uid}`, `--regid=${USER.gid}`, '--clear-groups'];
  return ['setpriv', [...ids, `--pdeathsig=${deathSignal}`, '--', program, ...args]];
}

/** Runs a program to its end. The test goes on meanwhile: a proxy of it passes bytes. */
async function must(program, args) {
  const [command, all] = asServer(join(BIN, program), args);
  const child = spawn(command, all, { cwd: '/', stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, LC_ALL: 'C' } });
  const [err, [code, name]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  if (code !== 0) throw new Error(`${program}: ${code ?? name} ${err}`);
}

/** A new folder that only the server's user (and root) can enter. */
function privateFolder(parent = tmpdir()) {
  const at = mkdtempSync(join(parent, 'writ-pg-'));
  chmodSync(at, 0o700);
  if (USER !== undefined) chownSync(at, USER.uid, USER.gid);
  return at;
}

let template;

/** A fresh data folder, made once and copied for every cluster. */
async function makeTemplate() {
  const at = privateFolder();
  process.once('exit', () => rmSync(at, { recursive: true, force: true }));
  await must('initdb', ['-D', join(at, 'data'), '-U', OWNER, '--auth=trust', '--no-locale', '--encoding=UTF8',
    '--no-sync', '--no-instructions', '--wal-segsize=4']);
  return join(at, 'data');
}

/** Puts the log of transactions into a folder of its own; ends with the test. */
function moveWal(t, data, parent) {
  const outside = privateFolder(parent);
  t.after(() => rmSync(outside, { recursive: true, force: true }));
  for (const [command, ...args] of [['mv', join(data, 'pg_wal'), join(outside, 'wal')],
    ['ln', '-s', join(outside, 'wal'), join(data, 'pg_wal')]]) {
    const run = spawnSync(command, args, { encoding: 'utf8' });
    if (run.status !== 0) throw new Error(`${command}: ${run.stderr}`);
  }
}

function copyFolder(from, to) {
  const run = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`cp: ${run.stderr}`);
}

/** Processes that have this parent. */
const childrenOf = (pid) => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter((p) => p !== '')
  .map(Number);

/** The state of a process, as /proc has it; X: it is gone. */
export function stateOf(pid) {
  try {
    return /^State:\s+(\S)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1];
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return 'X';
    throw error;
  }
}

/** A process that ended and that its new parent has not reaped yet is gone, too. */
export const isGone = (pid) => ['X', 'Z'].includes(stateOf(pid));

function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

const quoted = (value) => `'${String(value).replaceAll("'", "''")}'`;

class Cluster {
  constructor(dir, options, port) {
    this.dir = dir;
    this.data = join(dir, 'data');
    this.port = port;
    this.parent = options.parent;
    this.password = options.password;
    this.settings = {
      listen_addresses: '127.0.0.1', port, unix_socket_directories: dir, fsync: options.fsync ?? true,
      // small: a test machine runs many of them
      shared_buffers: '16MB', max_connections: 60, max_wal_size: '64MB', min_wal_size: '8MB',
      wal_level: 'replica', max_wal_senders: 8, hot_standby: true, autovacuum_max_workers: 1, jit: false,
      log_min_messages: 'warning', ...options.settings,
    };
    this.log = '';
    this.paused = false;
  }

  /** A URI for TCP; `port`: of a proxy in front of it. The password is not part of it (see env). */
  uri({ port = this.port, database = OWNER, user = OWNER, params = '' } = {}) {
    return `postgresql://${user}@127.0.0.1:${port}/${database}${params && `?${params}`}`;
  }

  /** A URI for the socket. */
  get socketUri() {
    return `postgresql://${OWNER}@/${OWNER}?host=${encodeURIComponent(this.dir)}&port=${this.port}`;
  }

  /** The environment of a client. */
  get env() {
    return this.password === undefined ? {} : { PGPASSWORD: this.password };
  }

  writeSettings() {
    const lines = Object.entries(this.settings).map(([name, value]) =>
      `${name} = ${quoted(typeof value === 'boolean' ? (value ? 'on' : 'off') : value)}`);
    this.writeFile('postgresql.conf', `${lines.join('\n')}\n`);
    const method = this.password === undefined ? 'trust' : 'scram-sha-256';
    const host = this.settings.ssl ? 'hostssl' : 'host';
    this.writeFile('pg_hba.conf',
      `local all,replication all trust\n${host} all,replication all 127.0.0.1/32 ${method}\n`);
  }

  writeFile(name, content) {
    const at = join(this.data, name);
    writeFileSync(at, content, { mode: 0o600 });
    if (USER !== undefined) chownSync(at, USER.uid, USER.gid);
  }

  get running() {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Starts the server and waits until it says that it accepts connections. */
  async start() {
    const from = this.log.length;
    const [command, args] = asServer(join(BIN, 'postgres'), ['-D', this.data], 'QUIT');
    const child = spawn(command, args, { cwd: '/', stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' } });
    this.child = child;
    this.paused = false;
    // backends that outlive the postmaster hold the pipe: 'exit' is its end, not 'close'
    this.exited = once(child, 'exit').then(([code, name]) => ({ code, signal: name }));
    child.stderr.setEncoding('utf8').on('data', (bytes) => { this.log += bytes; });
    await until(() => READY.test(this.log.slice(from)) || !this.running, 'PostgreSQL to accept connections', START_MS);
    if (!this.running) throw new Error(`PostgreSQL did not start:\n${this.log.slice(from)}`);
    return this;
  }

  /** Every process of the running server, the postmaster first. */
  get processes() {
    return [this.child.pid, ...childrenOf(this.child.pid)];
  }

  /** fast: transactions are rolled back; smart: waits for clients; immediate: without a checkpoint. */
  async stop(mode = 'fast') {
    if (!this.running) return this.exited;
    if (this.paused) this.resume();
    this.child.kill({ fast: 'SIGINT', smart: 'SIGTERM', immediate: 'SIGQUIT' }[mode]);
    return this.exited;
  }

  /** Kills every process of the server at once. */
  async powerOff() {
    if (!this.running) return this.exited;
    this.hold(); // so that it neither starts another process nor ends one in order
    const all = this.processes;
    for (const pid of [...all.slice(1), all[0]]) signal(pid, 'SIGKILL');
    const ended = await this.exited;
    await until(() => all.every(isGone), 'the processes of PostgreSQL to end');
    return ended;
  }

  async restart(mode = 'fast') {
    await this.stop(mode);
    return this.start();
  }

  /** Stops the postmaster. It may start processes until the signal has arrived. */
  hold() {
    this.child.kill('SIGSTOP');
    const clock = new Int32Array(new SharedArrayBuffer(4));
    while (!['T', 'X', 'Z'].includes(stateOf(this.child.pid))) Atomics.wait(clock, 0, 0, 1);
  }

  /** The server is there and does nothing. A process that a paused postmaster did not start yet waits with it. */
  pause() {
    this.hold();
    for (const pid of this.processes.slice(1)) signal(pid, 'SIGSTOP');
    this.paused = true;
  }

  resume() {
    for (const pid of this.processes.reverse()) signal(pid, 'SIGCONT');
    this.paused = false;
  }

  /** Runs SQL by psql: its rows, each as psql -A prints it. Throws what the server said. */
  async sql(statements, { database = OWNER, uri = undefined, env = {} } = {}) {
    const run = await psql(uri ?? `${this.socketUri.replace(`@/${OWNER}`, `@/${database}`)}`, statements,
      { ...this.env, ...env });
    if (run.code !== 0) throw new Error(`psql: ${run.code} ${run.err}`);
    return run.out.split('\n').slice(0, -1);
  }

  /** Changes settings, and waits until the running server uses them. Some need a restart. */
  async set(settings) {
    Object.assign(this.settings, settings);
    this.writeSettings();
    if (!this.running) return;
    const loaded = async () => (await this.sql('SELECT pg_conf_load_time()'))[0];
    const before = await loaded();
    this.child.kill('SIGHUP');
    await until(async () => await loaded() !== before, 'the settings to be read');
    // the checkpointer decides whether commits wait for standbys: it reads the settings before it answers this
    if (!this.settings.primary_conninfo) await this.sql('CHECKPOINT');
  }

  /** Each commit that writes waits so long before it is durable (0 to 100 ms; 0: as fast as it can). */
  slow(ms) {
    return this.set({ commit_delay: ms * 1000, commit_siblings: 0 });
  }

  /** A standby that follows this server, running. options: name, synchronous, settings. A synchronous one is one of
   * those that this server waits for: ANY 1 of all. parent, walOutside, walParent: as of startCluster. */
  async standby(t, { name = `standby${(this.standbys ?? 0) + 1}`, synchronous = false, settings = {},
    parent = this.parent, walOutside = false, walParent } = {}) {
    this.standbys = (this.standbys ?? 0) + 1;
    const other = await newCluster(t, { parent, settings: { ...this.settings, ...settings } });
    Object.assign(other.settings, { port: other.port, unix_socket_directories: other.dir, cluster_name: name,
      synchronous_standby_names: '',
      primary_conninfo: `host=${this.dir} port=${this.port} user=${OWNER} application_name=${name}` });
    other.password = this.password;
    await must('pg_basebackup', ['-D', other.data, '-h', this.dir, '-p', String(this.port), '-U', OWNER, '-X', 'stream',
      '--checkpoint=fast', '--no-sync']);
    if (walOutside) moveWal(t, other.data, walParent);
    other.writeSettings();
    other.writeFile('standby.signal', '');
    await other.start();
    const replication = `SELECT sync_state FROM pg_stat_replication
      WHERE application_name = ${quoted(name)} AND state = 'streaming'`;
    const state = (want) => until(async () => want.includes((await this.sql(replication))[0]), `${name} to be ${want}`,
      START_MS);
    await state(['async', 'quorum', 'sync', 'potential']);
    if (synchronous) {
      this.quorum = [...(this.quorum ?? []), name];
      await this.set({ synchronous_standby_names: `ANY 1 (${this.quorum})`, synchronous_commit: 'on' });
      await state(['quorum', 'sync']);
    }
    return other;
  }

  /** This standby becomes a primary, which waits for no standby. */
  async promote() {
    const [done] = await this.sql('SELECT pg_promote(true, 60)');
    if (done !== 't') throw new Error(`the standby was not promoted:\n${this.log.slice(-2000)}`);
  }

  async end() {
    if (this.running) await this.powerOff();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** Runs statements by psql to its end, one transaction each. */
export async function psql(uri, statements, env = {}) {
  const child = spawn(PSQL, ['-XAtqw', '-v', 'ON_ERROR_STOP=1', '-v', 'VERBOSITY=verbose', '-f', '-', uri],
    { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, PGCONNECT_TIMEOUT: '20', ...env } });
  child.stdin.on('error', () => {}); // psql left before it read everything; its exit code says why
  child.stdin.end(statements);
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, out, err };
}

class Session {
  constructor(uri, env) {
    this.child = spawn(PSQL, ['-XAtqw', '-v', 'VERBOSITY=verbose', '-f', '-', uri],
      { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, PGCONNECT_TIMEOUT: '20', ...env } });
    this.out = '';
    this.err = '';
    this.ended = false;
    this.child.stdin.on('error', () => {}); // a session that ended reads no more
    this.child.stdout.setEncoding('utf8').on('data', (bytes) => { this.out += bytes; });
    this.child.stderr.setEncoding('utf8').on('data', (bytes) => { this.err += bytes; });
    this.child.on('close', () => { this.ended = true; });
    this.runs = 0;
  }

  /** Gives { rows, err, ended }: what came until the statements were done, or the session had ended. */
  async run(statements) {
    const mark = `-- done ${this.runs++} --\n`, from = this.out.length, fromErr = this.err.length;
    this.child.stdin.write(`${statements}\n\\echo '${mark.trimEnd()}'\n`);
    await until(() => this.ended || this.out.includes(mark, from), 'psql', START_MS);
    return { rows: this.out.slice(from).replace(mark, '').split('\n').slice(0, -1), err: this.err.slice(fromErr),
      ended: this.ended };
  }

  end() {
    this.child.kill('SIGKILL');
  }
}

/** A connection that stays open between statements; ends with the test. */
export function openPsql(t, uri, env = {}) {
  const session = new Session(uri, env);
  t.after(() => session.end());
  return session;
}

/** A folder and a port, ending with the test. */
async function newCluster(t, options) {
  const cluster = new Cluster(privateFolder(options.parent), options, options.port ?? await reservePort());
  t.after(() => cluster.end());
  return cluster;
}

/** A running cluster; ends with the test. Options: fsync (on unless false: where durability is not the point), settings
 * (of postgresql.conf), password (required over TCP; without one every user of this machine may connect), parent (the
 * folder of its folder, which every user can enter), walOutside (the log of transactions is not below parent, so that
 * a full volume fails statements and not the server), walParent (the folder of that log's). */
export async function startCluster(t, options = {}) {
  const from = await (template ??= makeTemplate());
  const cluster = await newCluster(t, options);
  copyFolder(from, cluster.data);
  if (options.walOutside) moveWal(t, cluster.data, options.walParent);
  cluster.writeSettings();
  await cluster.start();
  await cluster.sql([`CREATE DATABASE ${OWNER}`, ...(options.password === undefined ? []
    : [`ALTER ROLE ${OWNER} PASSWORD ${quoted(options.password)}`]), ''].join(';\n'), { database: 'postgres' });
  return cluster;
}
