// gateway.mjs - a real gateway for one test: its own directory, keys, ledger and configuration, the built program on
// ports that the system chose, its log, and the contents of its ledger.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { checkLine } from './log-events.mjs';
import { isMissing, ledgerOf, rowsOf, storeConfig } from './store.mjs';
import { until } from './until.mjs';

export const BIN = process.env.WRIT_BIN ?? 'build/dev/writ';
export const SOURCE = process.env.WRIT_SOURCE_DIR ?? '.';

export const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** Runs `writ` to its end. */
export const writ = (args, options) => runProgram(BIN, args, options);
/** The same, while servers of this process answer it. */
export async function writBeside(args, options) {
  const child = spawn(BIN, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, out, err };
}

export const vectors = (args, options) => runProgram(`${BIN}-vectors`, args, options);

function runProgram(program, args, options = {}) {
  const run = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28, ...options });
  return { code: run.status, signal: run.signal, out: run.stdout, err: run.stderr };
}

/** The text of a file that another process writes, '' before it is there. */
export function textOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return '';
    throw error;
  }
}

/** The whole lines of such a file. */
export const linesOf = (path) => textOf(path).split('\n').slice(0, -1);

/** An agent with a static token, `agent.token`. */
export function bearer(id, rest = {}) {
  const token = rest.token ?? `token-of-${id}`;
  const { token: _, ...members } = rest;
  return { entry: { id, ...members, bearer_sha256: sha256(token) }, token, id };
}

export const ANYBODY = { anonymous: true, id: 'dev', tenant: 'local', role: 'operator' };

class Gateway {
  constructor(dir, config, options) {
    this.dir = dir;
    this.options = options;
    this.config = config;
    this.log = [];
    this.logText = '';
    this.starts = 0;
  }

  path(name) {
    return join(this.dir, name);
  }

  get configFile() {
    return this.path('writ.yaml');
  }

  /** Writes the configuration file; JSON is YAML. Its store is the ledger, unless it names another one. */
  configure(config) {
    this.config = typeof config === 'string' ? config : { ...config, ...storeConfig(this.ledgerFile, config) };
    writeFileSync(this.configFile, typeof config === 'string' ? config : JSON.stringify(this.config, null, 1));
  }

  /** Starts the program and waits until it says that it serves. */
  async start() {
    const from = this.log.length;
    const { command = BIN, before = [], env = {} } = this.options;
    const child = spawn(command, [...before, 'serve', this.configFile], {
      cwd: this.dir, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    this.starts++;
    this.exited = new Promise((resolve) => {
      child.on('exit', (code, signal) => resolve({ code, signal }));
      child.on('error', (error) => resolve({ code: null, error }));
    });
    this.gone = false;
    this.exited.then(() => { this.gone = true; });
    let rest = '';
    const take = (bytes) => {
      this.logText += bytes;
      const lines = (rest + bytes).split('\n');
      rest = lines.pop();
      for (const line of lines) {
        try {
          this.log.push(JSON.parse(line));
        } catch {
          this.log.push({ event: 'not_json', line });
          continue;
        }
        checkLine('serve', this.log.at(-1));
        // a defect of Writ fails every test that meets it
        if (this.log.at(-1).event === 'step_broken') throw new Error(line);
      }
    };
    child.stderr.setEncoding('utf8').on('data', take);
    child.stdout.setEncoding('utf8').on('data', take);
    await until(() => this.gone || this.log.slice(from).some((l) => l.event === 'serving'), 'the gateway to serve',
      this.options.patience);
    if (this.gone) {
      throw new Error(`the gateway did not start: ${JSON.stringify(await this.exited)}\n${this.logText.slice(-2000)}`);
    }
    const listening = (admin) => this.log.slice(from).find((l) => l.event === 'listening' && l.admin === admin);
    this.port = listening(false).port;
    this.adminPort = listening(true)?.port;
    this.scheme = listening(false).tls ? 'https' : 'http';
    return this;
  }

  get origin() {
    return `${this.scheme}://127.0.0.1:${this.port}`;
  }

  get url() {
    return `${this.origin}/mcp`;
  }

  waitLog(event, from = 0, where = () => true) {
    return until(() => this.log.slice(from).find((l) => l.event === event && where(l)), `the log line ${event}`);
  }

  /** Asks for an end and waits for it. Gives { code, signal }. */
  async stop(signal = 'SIGTERM') {
    if (this.child && !this.gone) this.child.kill(signal);
    return this.exited;
  }

  async restart(signal = 'SIGTERM') {
    await this.stop(signal);
    return this.start();
  }

  /** A new configuration for the running program. Gives the log line that says what became of it. */
  async reload(config) {
    const from = this.log.length;
    this.configure(config);
    this.child.kill('SIGHUP');
    return until(() => this.log.slice(from).find((l) => /^reload/.test(l.event)), 'the reload');
  }

  /** GET on the admin listener. */
  admin(path) {
    return new Promise((resolve, reject) => {
      http.get({ host: '127.0.0.1', port: this.adminPort, path, agent: false }, (res) => {
        let text = '';
        res.setEncoding('utf8').on('data', (d) => {
          text += d;
        }).on('end', () => resolve({ status: res.statusCode, text }));
      }).on('error', reject);
    });
  }

  /** One number from /metrics; labels as in `{reason="x"}`. 0 when it is not there. */
  async metric(name) {
    const { text } = await this.admin('/metrics');
    const line = text.split('\n').find((l) => l.startsWith(`${name} `));
    return line === undefined ? 0 : Number(line.slice(name.length + 1));
  }

  get ledgerFile() {
    return this.options.ledger ?? ledgerOf(this.dir);
  }

  /** The rows of a query on its tables. */
  rows(query) {
    return rowsOf(this.ledgerFile, query);
  }

  ledger(args) {
    const [command, ...rest] = args;
    return writ(['ledger', command, this.ledgerFile, ...rest, '--json'], { cwd: this.dir });
  }

  /** Every decision, oldest first, as `writ ledger list` prints it. */
  decisions(filter = []) {
    const run = this.ledger(['list', '--limit', '0', ...filter]);
    if (run.code !== 0) throw new Error(`ledger list: ${run.code} ${run.err}`);
    return JSON.parse(run.out).decisions.reverse();
  }

  /** One call: { decision, outcome, sealed, ... } with both records whole. */
  show(decisionId) {
    const run = this.ledger(['show', decisionId]);
    if (run.code !== 0) throw new Error(`ledger show: ${run.code} ${run.err}`);
    return JSON.parse(run.out);
  }

  /** The records of one boundary: { decisions, outcomes, seal, whole }. */
  boundary(id, tenant = undefined) {
    const run = writ(['ledger', 'export', this.ledgerFile, id, ...(tenant === undefined ? [] : ['--tenant', tenant])],
      { cwd: this.dir });
    const lines = run.out.split('\n').filter((l) => l !== '').map((l) => JSON.parse(l));
    const of = (kind) => lines.filter((l) => l.kind === kind).map((l) => l.record);
    return { whole: run.code === 0, decisions: of('decision'), outcomes: of('outcome'), seal: of('seal')[0] };
  }

  /** `writ ledger verify`: throws unless every record is sound. */
  verify() {
    const run = this.ledger(['verify']);
    if (run.code !== 0) throw new Error(`ledger verify: ${run.code} ${run.out}${run.err}`);
    return JSON.parse(run.out);
  }
}

/** Makes a directory with keys, an empty ledger, the files that options.prepare(dir) writes, and the configuration.
 * Other options: dir (an existing one), ledger (one on PostgreSQL that others have made), command and before (how the
 * program is run), env, patience (milliseconds until it is ready). */
export function prepare(t, config, options = {}) {
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'writ-'));
  chmodSync(dir, 0o700);
  const gateway = new Gateway(dir, config, options);
  const must = (args) => {
    const run = writ(args, { cwd: dir });
    if (run.code !== 0) throw new Error(`writ ${args.join(' ')}: ${run.code} ${run.err}${run.out}`);
  };
  if (!existsSync(join(dir, 'keys'))) must(['keys', 'new', '--dir', join(dir, 'keys')]);
  if (isMissing(gateway.ledgerFile, existsSync)) must(['ledger', 'init', gateway.ledgerFile]);
  options.prepare?.(dir);
  gateway.configure({
    listen: '127.0.0.1:0', admin_listen: '127.0.0.1:0', keys: 'keys', agents: [ANYBODY], ...config,
  });
  t.after(async () => {
    if (gateway.child && !gateway.gone) gateway.child.kill('SIGKILL');
    if (gateway.child) await gateway.exited;
    if (!process.env.WRIT_KEEP) rmSync(dir, { recursive: true, force: true });
    else console.error(`kept ${dir}`);
  });
  return gateway;
}

/** A running gateway in a folder that has all it needs, its configuration writ.yaml too; it ends with the test,
 * and the folder stays. */
export async function serveFolder(t, dir, options = {}) {
  const gateway = new Gateway(dir, undefined, options);
  t.after(async () => {
    if (gateway.child && !gateway.gone) gateway.child.kill('SIGKILL');
    if (gateway.child) await gateway.exited;
  });
  return gateway.start();
}

/** A running gateway; ends with the test. */
export async function startGateway(t, config, options = {}) {
  return prepare(t, config, options).start();
}

export { existsSync, mkdirSync, readFileSync, until, writeFileSync };
