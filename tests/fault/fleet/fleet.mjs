// fleet.mjs - gateways on one ledger, clients that retry on any of them, a tool server that writes down every effect,
// and the faults of drawn windows. What it gives to the checker is what was seen from outside.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync, closeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { BIN, bearer, linesOf, serveFolder, writ } from '../../support/js/gateway.mjs';
import { reservePort } from '../../support/js/ports.mjs';
import { Caller } from '../../support/js/rpc.mjs';
import { finalOf } from './checker.mjs';
import { CLIENTS, drawWindow } from './draw.mjs';
import { STORES } from './stores.mjs';

const EFFECTS = fileURLToPath(new URL('effects.mjs', import.meta.url));
/** The library that makes a gateway's clock jump; undefined where a program cannot have it. */
export const CLOCK = process.env.WRIT_BUILD_DIR && !process.env.WRIT_SANITIZED
  ? join(process.env.WRIT_BUILD_DIR, 'tests/fleet_clock.so') : undefined;
const PATIENCE_MS = 120_000; // until a call that gets no final answer is given up

const AGENTS = Array.from({ length: CLIENTS }, (_, i) => bearer(`c${i}`, { tenant: 'acme' }));
const VOTER = bearer('ann', { tenant: 'acme' });

const rule = (more) => ({ scope: 'effects', arguments: [{ arg: 'id', op: 'type', value: 'string' }], ...more });
const tools = (budget) => ({
  'up/send': rule({ duplicates: 'forbid' }),
  'up/note': rule({ duplicates: 'replay' }),
  'up/grant': rule({ duplicates: 'forbid', approval: { review: 'all' } }),
  'up/spend': rule({ duplicates: 'forbid',
    arguments: [{ arg: 'id', op: 'type', value: 'string' }, { arg: 'amount', op: 'type', value: 'number' }],
    budgets: [{ name: 'pot', window: '366d', sum: { arg: 'amount', max: String(budget) } }] }),
});

function must(args, options) {
  const run = writ(args, options);
  if (run.code !== 0) throw new Error(`writ ${args.join(' ')}: ${run.code} ${run.err}${run.out.slice(0, 2000)}`);
  return run.out;
}

/** One gateway of the fleet, and what is done to it one after the other. */
class Member {
  constructor(dir, index) {
    this.index = index;
    this.dir = join(dir, `gateway-${index}`);
    this.clockFile = join(this.dir, 'clock');
    this.last = Promise.resolve();
    this.ahead = 0; // seconds of its clock before the system's
    mkdirSync(this.dir, { mode: 0o700 });
  }

  addClock(seconds) {
    const bytes = Buffer.alloc(8);
    this.ahead += seconds;
    bytes.writeBigInt64LE(BigInt(this.ahead));
    const fd = openSync(this.clockFile, 'r+');
    writeSync(fd, bytes, 0, 8, 0);
    closeSync(fd);
  }

  async start(t, config) {
    writeFileSync(join(this.dir, 'writ.yaml'), JSON.stringify(config), { mode: 0o600 });
    writeFileSync(this.clockFile, Buffer.alloc(8));
    // it ends with the run, however that ends
    this.gw = await serveFolder(t, this.dir, { command: 'setpriv', before: ['--pdeathsig=KILL', '--', BIN],
      env: CLOCK ? { LD_PRELOAD: CLOCK, FLEET_CLOCK: this.clockFile } : {} });
  }

  /** Does `work` when what was begun before is done. */
  then(work) {
    const done = this.last.then(work);
    this.last = done.catch(() => {});
    return done;
  }

  /** Starts again; a database that is not there yet ends a start. */
  async startAgain() {
    for (const end = Date.now() + PATIENCE_MS;;) {
      try {
        return await this.gw.start();
      } catch (error) {
        if (Date.now() > end) throw error;
        await sleep(50);
      }
    }
  }
}

export class Fleet {
  constructor(t, { store, seed, windows, faults = true, kinds }) {
    this.t = t;
    this.store = STORES[store]();
    this.seed = seed;
    this.windows = windows;
    this.kinds = faults ? this.store.kinds.filter((kind) => kinds?.includes(kind) ?? true) : [];
    this.budget = Math.round(windows * CLIENTS * 2 * 0.4 * 5 * 0.6); // some 60 of 100 that the clients want
    if (CLOCK === undefined) this.kinds = this.kinds.filter((kind) => kind !== 'clock');
    this.calls = [];
    this.votes = [];
    this.struck = {};
    this.missed = 0;
    this.pending = []; // faults of the window that have not struck
    this.healing = new Set();
    this.counts = {};
    this.twins = [];
  }

  async begin() {
    this.dir = mkdtempSync(join(tmpdir(), 'writ-fleet-'));
    this.t.after(() => {
      if (!process.env.WRIT_KEEP) rmSync(this.dir, { recursive: true, force: true });
      else console.error(`kept ${this.dir}`);
    });
    this.keys = join(this.dir, 'keys');
    must(['keys', 'new', '--dir', this.keys]);
    await this.store.begin(this.dir, this.t);
    await this.startEffects();
    this.members = Array.from({ length: this.store.gateways }, (_, i) => new Member(this.dir, i));
    for (const [i, member] of this.members.entries()) await member.start(this.t, this.config(i));
    this.clients = AGENTS.map((agent) => this.members.map((m) =>
      new Caller({ get origin() { return m.gw.origin; } }, { token: agent.token, modern: true })));
  }

  config(gateway) {
    return {
      listen: '127.0.0.1:0', admin_listen: '127.0.0.1:0', keys: this.keys, ...this.store.config(gateway),
      agents: [...AGENTS, VOTER].map((a) => a.entry), upstreams: { up: { http: this.upstream } },
      reviews: { all: { voters: [{ id: 'ann' }], expires: '24h', redeem: '24h' } }, tools: tools(this.budget),
    };
  }

  async startEffects() {
    const port = await reservePort();
    this.effectsFile = join(this.dir, 'effects.jsonl');
    this.upstream = `http://127.0.0.1:${port}/mcp`;
    const child = fork(EFFECTS, [this.effectsFile, String(port)], { execArgv: [] });
    this.t.after(async () => {
      const gone = once(child, 'exit');
      if (child.kill('SIGKILL')) await gone;
    });
    const [first] = await once(child, 'message');
    if (first.event !== 'listening') throw new Error('the tool server does not listen');
    child.on('message', async ({ number, event, id }) => {
      const how = await this.happens(event, { id });
      if (child.connected) child.send({ number, how });
    });
  }

  // ---- faults

  /** An event of the window. Gives how the call of it goes on, when the faults that struck here allow it. */
  async happens(event, detail) {
    const nth = this.counts[event] = (this.counts[event] ?? 0) + 1;
    const here = this.pending.filter((f) => f.at.event === event && f.at.nth === nth);
    this.pending = this.pending.filter((f) => !here.includes(f));
    let how = 'go';
    for (const fault of here) {
      this.struck[fault.kind] = (this.struck[fault.kind] ?? 0) + 1;
      if (fault.kind === 'reset') {
        how = 'reset';
        continue;
      }
      const healed = Promise.resolve(this.strike(fault, detail)).finally(() => this.healing.delete(healed));
      this.healing.add(healed);
      healed.catch((error) => { this.broken ??= error; });
      // the strike itself is synchronous; a start of the gateway and the like is the healing
      if (fault.release === 'heal') await healed;
    }
    return how;
  }

  strike(fault, { id }) {
    const member = this.members[fault.gateway];
    switch (fault.kind) {
      case 'kill':
        member.gw.child.kill('SIGKILL');
        return member.then(async () => {
          await member.gw.stop('SIGKILL'); // perhaps one that was started since the strike
          await sleep(fault.down_ms);
          await member.startAgain();
        });
      case 'restart':
        return member.then(async () => {
          await member.gw.stop('SIGTERM');
          await sleep(fault.down_ms);
          await member.startAgain();
        });
      case 'pause': {
        const { child } = member.gw; // not in the queue: what is under way there may wait for this process
        child.kill('SIGSTOP');
        return sleep(fault.leases * this.store.leaseMs).then(() => child.kill('SIGCONT'));
      }
      case 'clock':
        member.addClock(fault.seconds);
        // a ledger whose time one gateway makes cannot go back: that gateway would wait for it
        if (fault.seconds > 0 && this.store.gateways === 1) return undefined;
        return sleep(fault.for_ms).then(() => member.addClock(-fault.seconds));
      case 'twin':
        return member.then(() => this.twin(member, fault));
      case 'migrate':
        return this.migrate(fault);
      case 'reload':
        return member.then(() => { if (!member.gw.gone) member.gw.child.kill('SIGHUP'); }); // not before it serves
      case 'leave':
        this.leaving.get(id)?.abort();
        return undefined;
      default:
        return this.store.strike(fault);
    }
  }

  /** Another process under the name of a member; that one is refused for good, and starts again. */
  async twin(member, { for_ms }) {
    const twin = this.twins[this.members.indexOf(member)] ??= new Member(this.dir, `twin-${member.index}`);
    try {
      await twin.start(this.t, this.config(member.index));
      await sleep(for_ms);
    } catch { // a database that is not there ends this start, too
      this.struck.twin--;
      this.missed++;
    }
    await twin.gw?.stop('SIGTERM');
    await member.gw.stop('SIGTERM');
    await member.startAgain();
  }

  async migrate({ for_ms }) {
    const children = this.members.map((m) => m.gw.child);
    for (const child of children) child.kill('SIGSTOP');
    await this.store.migrated(async () => {
      for (const child of children) child.kill('SIGCONT');
      await sleep(for_ms);
    });
    await Promise.all(this.members.map((member) => member.then(async () => {
      await member.gw.stop('SIGTERM');
      await member.startAgain();
    })));
  }

  // ---- clients

  async runWindow(window) {
    const drawn = drawWindow(this.seed, window, { gateways: this.store.gateways, kinds: this.kinds });
    const from = Date.now();
    this.pending = drawn.faults;
    this.counts = {};
    this.leaving = new Map();
    await Promise.all(drawn.calls.map(async (calls) => {
      for (const call of calls) await this.make(call);
    }));
    this.missed += this.pending.length;
    this.pending = [];
    while (this.healing.size > 0) await Promise.all(this.healing);
    this.store.settle?.();
    if (process.env.WRIT_FLEET_VERBOSE) {
      console.error(`window ${window}: ${Date.now() - from} ms; ${JSON.stringify(drawn.faults)}`);
    }
    if (this.broken) {
      throw new Error(`window ${window} of ${this.seed}, ${JSON.stringify(drawn.faults)}`, { cause: this.broken });
    }
  }

  /** One call to its final answer. */
  async make(drawn) {
    const call = { ...drawn, agent: AGENTS[drawn.client].id, answers: [], final: undefined };
    this.calls.push(call);
    const end = Date.now() + PATIENCE_MS;
    for (let attempt = 0; call.final === undefined && Date.now() < end && !this.broken; attempt++) {
      if (attempt > 0) await sleep(Math.min(5 * attempt, 100));
      await this.attempt(call, attempt);
    }
    if (call.final === undefined) {
      const knows = this.broken ?? await this.knows(call);
      this.broken ??= new Error(`${call.tool} ${call.id} got no final answer in ${PATIENCE_MS} ms\n${knows}`);
      return;
    }
    if (call.again) await this.attempt(call, 1);
  }

  /** What everyone knows of a call that gets no answer, so that the run need not be made again to explain it. */
  async knows(call) {
    const lines = call.answers.slice(-12).map((a) => `gateway ${a.gateway}: ${a.reason ?? a.kind}`);
    const tell = async (what, ask) => {
      const said = await Promise.resolve().then(ask).catch((error) => `${error.message}`);
      lines.push(`${what}: ${typeof said === 'string' ? said : JSON.stringify(said)}`);
    };
    for (const [i, { gw }] of this.members.entries()) {
      await tell(`gateway ${i}, the end of its log`, () => gw.log.slice(-8));
      await tell(`gateway ${i}, readyz`, () => gw.admin('/readyz'));
      await tell(`gateway ${i}, metrics`, async () => (await gw.admin('/metrics')).text.split('\n')
        .filter((line) => /^writ_(ledger|fleet)_(?!seconds_bucket)/.test(line)).join('\n'));
    }
    const { ledger, env } = this.store.reader;
    const id = call.answers.map((a) => a.first_decision_id).findLast((one) => one !== undefined);
    if (id !== undefined) {
      await tell('the ledger', () => writ(['ledger', 'show', ledger, id], { env: { ...process.env, ...env } }));
    }
    await tell('the database', () => this.store.knows?.());
    return lines.join('\n');
  }

  async attempt(call, attempt) {
    const at = (n) => call.route[n] ?? n % this.store.gateways;
    const answers = await Promise.all((call.twice ? [at(attempt), at(attempt + 3)] : [at(attempt)])
      .map((gateway) => this.send(call, gateway)));
    call.answers.push(...answers);
    call.final ??= answers.map(finalOf).find((f) => f !== undefined);
    const asked = answers.find((a) => a.reason === 'approval_required');
    if (call.final === undefined && asked) await this.vote(call, asked.review, at(attempt + 1));
  }

  async send(call, gateway) {
    const leave = new AbortController();
    this.leaving.set(call.id, leave);
    const patience = setTimeout(() => leave.abort(), this.store.patienceMs);
    let answer;
    try {
      await this.happens('sent', { id: call.id });
      answer = await this.clients[call.client][gateway].call(`up__${call.tool}`, call.args,
        { key: call.key, boundary: call.boundary, signal: leave.signal });
    } catch (error) {
      return { kind: 'broken', gateway, reason: error.code ?? error.name };
    } finally {
      clearTimeout(patience);
    }
    await this.happens('answered', { id: call.id });
    if (answer.said !== undefined && !answer.result.isError) return { kind: 'result', gateway, said: answer.said };
    const { reason, decision_id, first_decision_id, first_outcome, continuation_id } = answer.refusal ?? {};
    return { kind: reason === undefined ? 'broken' : 'refused', gateway, decision_id, first_decision_id, first_outcome,
      review: continuation_id, reason: reason ?? `${answer.status} ${answer.text.slice(0, 300)}` };
  }

  /** One vote on the review as a gateway shows it; the call asks again whatever came of it. */
  async vote(call, id, gateway) {
    const ask = async (path, body) => {
      const res = await fetch(`http://127.0.0.1:${this.members[gateway].gw.adminPort}/v1/reviews/${id}${path}`,
        { method: body ? 'POST' : 'GET', body: body && JSON.stringify(body),
          headers: { authorization: `Bearer ${VOTER.token}`, ...(body && { 'content-type': 'application/json' }) },
          signal: AbortSignal.timeout(this.store.patienceMs) });
      return res.json();
    };
    try {
      const review = await ask('');
      if (review.state !== 'open') return;
      this.votes.push({ review: id, vote: call.vote });
      await ask('/vote', { vote: call.vote, review_digest: review.review_digest });
    } catch {
      // a gateway that does not answer: another attempt asks another one
    }
  }

  // ---- the end

  /** Every gateway starts once more, so that what a dead one left is concluded; then the evidence. */
  async end() {
    for (const member of this.members) {
      await member.then(async () => {
        await member.gw.stop('SIGTERM');
        await member.startAgain();
      });
    }
    for (const member of this.members) await member.gw.stop('SIGTERM');
    const { ledger, env } = this.store.reader;
    const options = { cwd: this.dir, env: { ...process.env, ...env } };
    const bundle = must(['ledger', 'export', ledger, '--keys', this.keys], options);
    writeFileSync(join(this.dir, 'bundle'), bundle);
    const verify = writ(['ledger', 'verify', ledger, '--keys', this.keys, '--json'], options);
    const keys = join(this.dir, 'trusted');
    writeFileSync(keys, must(['ledger', 'key', ledger, '--keys', this.keys], options));
    return {
      effects: linesOf(this.effectsFile).map((line) => JSON.parse(line)), calls: this.calls, votes: this.votes,
      records: bundle.split('\n').filter((line) => line.startsWith('{"leaf"')).map((line) => JSON.parse(line)),
      verify: verify.out === '' ? { sound: false, err: verify.err } : JSON.parse(verify.out), budget: this.budget,
      bundle: writ(['verify', 'bundle', '--key', keys, join(this.dir, 'bundle')], options),
    };
  }
}

/** A whole run on a ledger of its own: its evidence, how often each kind of fault struck, and how many faults had no
 * event to strike at. Options: store, seed, windows, faults (false: none), kinds (of faults; undefined: all). */
export async function runFleet(options) {
  const cleanups = [];
  const fleet = new Fleet({ after: (work) => cleanups.unshift(work) }, options);
  try {
    await fleet.begin();
    for (let window = 0; window < options.windows; window++) await fleet.runWindow(window);
    return { evidence: await fleet.end(), struck: fleet.struck, missed: fleet.missed };
  } finally {
    for (const work of cleanups) await work();
  }
}
