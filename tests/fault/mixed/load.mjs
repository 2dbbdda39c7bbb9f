// load.mjs - a gateway under everything at once: governed and passing requests, reviews, tasks, streams and hook calls
// of many sessions on many connections, while the configuration is loaded again and the tool server dies. What it gives
// is what each side has counted.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { BIN, bearer, startGateway } from '../../support/js/gateway.mjs';
import { reservePort } from '../../support/js/ports.mjs';
import { until } from '../../support/js/until.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const AGENTS = ['a', 'b', 'c', 'd'].map((id) => bearer(id, { tenant: 'acme' }));
const VOTER = bearer('ann', { tenant: 'acme' });
const PARTS = 2; // processes of clients
const RELOAD_MS = 7000, DEATH_MS = 11_000;

const arg = (name, more) => ({ arg: name, op: 'type', value: 'string', ...more });

/** The configuration; each `version` has another policy. */
function config(upstream, version, { connections, sessions }) {
  const plain = { scope: 's', duplicates: 'forbid', arguments: [arg('id')] };
  return {
    listen: '127.0.0.1:0', admin_listen: '127.0.0.1:0', keys: 'keys', loops: 2,
    agents: [...AGENTS, VOTER].map((a) => a.entry), upstreams: { up: { http: upstream } },
    frameworks: { crew: { resource: 'urn:crew', timeout: '5m' } },
    limits: { connections: 2 * connections, in_flight: 2 * connections, sessions: 2 * sessions },
    sessions: { wait: '10s' },
    reviews: { all: { voters: [{ id: 'ann' }], expires: `${24 + version}h` } },
    tools: {
      'up/pay': { ...plain, arguments: [arg('id'), { arg: 'text', op: 'in', value: ['rent', `version ${version}`] }] },
      'up/hold': { ...plain, approval: { review: 'all' } },
      'up/stream': plain, 'up/job': plain, 'crew/write': plain,
    },
  };
}

async function* linesIn(stream) {
  for await (const line of createInterface({ input: stream })) if (line !== '') yield JSON.parse(line);
}

/** The tool server: it dies and comes back on the same port, with the same file of effects. */
class Tools {
  constructor(port) {
    this.port = port;
    this.url = `http://127.0.0.1:${port}/mcp`;
    this.deaths = -1;
  }

  async start(file = this.file) {
    this.file = file;
    this.child = fork(here('tools.mjs'), [file, String(this.port)], { execArgv: [] });
    await once(this.child, 'message');
    this.deaths++;
  }

  async stop() {
    const gone = once(this.child, 'exit');
    if (this.child.kill('SIGKILL')) await gone;
  }
}

/** Resident bytes of a process. */
const resident = (pid) => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;

function startClients(t, gateway, options, dir) {
  const parts = Array.from({ length: PARTS }, (_, part) => {
    const file = `${dir}/answers-${part}.jsonl`;
    const child = fork(here('clients.mjs'), [JSON.stringify({ part, connections: options.connections / PARTS,
      sessions: options.sessions / options.connections, pauseMs: options.pauseMs, origin: gateway.origin,
      admin: `http://127.0.0.1:${gateway.adminPort}`, agents: AGENTS.map((a) => a.token), voter: VOTER.token, file })],
    { execArgv: [] });
    t.after(() => child.kill('SIGKILL'));
    return { child, file };
  });
  return parts;
}

/** The next message of a part; an end of it fails the run. */
const next = ({ child }) => Promise.race([once(child, 'message').then(([m]) => m),
  once(child, 'exit').then(([code, signal]) => { throw new Error(`clients ended: ${code ?? signal}`); })]);

/** Metrics by name, then by the value of the only label. */
async function metrics(gateway) {
  const found = {};
  for (const line of (await gateway.admin('/metrics')).text.split('\n')) {
    const [, name, label, value] = /^(writ_\w+)(?:\{\w+="([^"]*)"\})? (\S+)$/.exec(line) ?? [];
    if (name !== undefined) (found[name] ??= {})[label ?? ''] = Number(value);
  }
  return found;
}

async function disturb(gateway, tools, options, end, memory) {
  let reloads = 0;
  const every = async (ms, work) => {
    for (let at = Date.now() + ms; at < end; at = Date.now() + ms) {
      await sleep(at - Date.now());
      await work();
    }
  };
  await Promise.all([
    every(RELOAD_MS, async () => {
      const { event } = await gateway.reload(config(tools.url, ++reloads % 2, options));
      if (event !== 'reloaded') throw new Error(`a reload gave ${event}`);
    }),
    every(DEATH_MS, async () => {
      await tools.stop();
      await sleep(300);
      await tools.start();
    }),
    every(1000, () => memory.push(resident(gateway.child.pid))),
  ]);
  return reloads;
}

const sum = (series) => Object.values(series).reduce((all, n) => all + n, 0);

const ENDS_MS = 10 * 60_000; // a hook call whose client broke ends with the timeout of its framework

/** No request but this one, and each call has its outcome: tasks of a tool server that died end with their time. */
const isIdle = (m) => m.writ_exchanges_open[''] === 1 && m.writ_decisions_total.allow === sum(m.writ_outcomes_total);

/** Runs the load. Options: connections, sessions (a multiple of them), pauseMs (the mean between two deeds of a
 * connection), seconds. Gives { answers, effects, records, metrics, memory, ... }; each of the first three is read
 * once, in that order. */
export async function runLoad(t, options) {
  const tools = new Tools(await reservePort());
  const gateway = await startGateway(t, config(tools.url, 0, options));
  await tools.start(gateway.path('effects.jsonl'));
  t.after(() => tools.stop());
  const parts = startClients(t, gateway, options, gateway.dir);
  await Promise.all(parts.map(next));
  const opened = (await metrics(gateway)).writ_sessions_open[''];
  const memory = [];
  for (const { child } of parts) child.send('go');
  const reloads = await disturb(gateway, tools, options, Date.now() + options.seconds * 1000, memory);
  for (const { child } of parts) child.send('stop');
  const counts = await Promise.all(parts.map(next));
  await until(async () => isIdle(await metrics(gateway)), 'all calls to end', ENDS_MS);
  const found = { opened, memory, reloads, deaths: tools.deaths, counts, metrics: await metrics(gateway) };
  const { code } = await gateway.stop();
  const verify = gateway.verify();
  return { ...found, code, verify,
    answers: async function* answers() { for (const { file } of parts) yield* linesIn(createReadStream(file)); },
    effects: () => linesIn(createReadStream(tools.file)),
    async* records() {
      const child = spawn(BIN, ['ledger', 'export', gateway.ledgerFile, '--keys', 'keys'],
        { cwd: gateway.dir, stdio: ['ignore', 'pipe', 'inherit'] });
      for await (const line of createInterface({ input: child.stdout })) {
        if (line.startsWith('{"leaf"')) yield JSON.parse(line);
      }
    } };
}
