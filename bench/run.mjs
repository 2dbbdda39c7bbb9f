// run.mjs - the side-by-side measurement; bench/run prepares for it and starts it.
//
// It measures all targets in alternating rounds, so that other load on the machine affects all of them: each round's
// ratio is taken within the round. With --against a second gateway runs beside the first and is idle while the other is
// measured. CPU is the kernel's count for the target's own processes, in nanoseconds (/proc/PID/task/*/schedstat).
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes, createHash } from 'node:crypto';
import {
  closeSync, existsSync, fdatasyncSync, mkdirSync, mkdtempSync, openSync, readFileSync, readdirSync, rmdirSync, rmSync,
  writeFileSync, writeSync,
} from 'node:fs';
import { cpus, loadavg, release } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { floorCommand } from './floor.mjs';
import { markdown, spread, summary } from './report.mjs';
import { plot } from './plot.mjs';
import { reservePort } from '../tests/support/js/ports.mjs';
import { startCluster } from '../tests/support/js/postgres.mjs';

const root = resolve(import.meta.dirname, '..');
// The measurements of each server: `was` is the program of --against, `traced` the same as `writ` with telemetry,
// `large` the same with bodies of 762 bytes and results of 2 KB, `followed` that with rules about where values come from,
// `twin` the same with two loops on both processors, `shared` the same with its ledger on PostgreSQL, which `second` and
// `third` share: `pair` and `trio` measure two and three at once. `floor_pass` and `floor` are the program of floor.c,
// without and with its log.
const TARGETS = {
  nginx: { server: 'nginx' },
  floor_pass: { server: 'floor_pass' },
  pass: { server: 'writ' },
  twin_pass: { server: 'twin' },
  floor: { server: 'floor', governed: true },
  governed: { server: 'writ', governed: true },
  twin: { server: 'twin', governed: true },
  traced: { server: 'traced', governed: true },
  large: { server: 'large', governed: true, large: true },
  followed: { server: 'followed', governed: true, large: true },
  shared: { server: 'shared', governed: true },
  pair: { server: 'shared', others: ['second'], governed: true },
  trio: { server: 'shared', others: ['second', 'third'], governed: true },
  was_pass: { server: 'was' },
  was_governed: { server: 'was', governed: true },
};
const LARGE = ['large', 'followed']; // gateways of large calls
const FLOORS = ['floor_pass', 'floor'];
const SHARED = ['shared', 'second', 'third']; // gateways of one ledger
const STORES = { sqlite: 'nginx,pass,governed', postgresql: 'nginx,governed,shared,pair' }; // their targets
// PostgreSQL's own defaults, in place of those of a test
const DATABASE = { shared_buffers: '128MB', max_wal_size: '1GB', min_wal_size: '80MB' };
const CGROUPS = '/sys/fs/cgroup';
const PERIOD_US = 100000; // of a share of a processor
const TOOLS = 20;
const SYNCS = 1000; // of the disk alone, after each round
const BODY_BYTES = 700;
const LARGE_BODY_BYTES = 762;
const ANSWER = '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Echo: hello"}]}}';

// 2 KB: a list as tools have it, of accounts, texts, dates, amounts and links
const BILLS = Array.from({ length: 11 }, (_, i) => ({
  payee: `GB${10 + i}NWBK6016133192${6810 + i}`, amount: 10.5 * i, due: `2026-12-${10 + i}`,
  note: `For the work in unit ${i} as agreed on the phone with Ann, see https://bills.example/b/${i}?ref=${i * 7919}.`,
}));
const LARGE_ANSWER = JSON.stringify(
  { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: JSON.stringify({ bills: BILLS }) }] } });

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    writ: { type: 'string', default: join(root, 'build/release/writ') },
    against: { type: 'string' },
    out: { type: 'string', default: join(root, 'bench') },
    work: { type: 'string', default: join(root, 'build') },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '1,16,64,256' },
    store: { type: 'string', default: 'sqlite' },
    targets: { type: 'string' },
    share: { type: 'string' },
    open: { type: 'string' },
    core: { type: 'string', default: '0' },
    help: { type: 'boolean', default: false },
  },
});
if (options.help) {
  console.log('usage: bench/run [--quick] [--rounds=7] [--seconds=3] [--connections=1,16,64,256]\n' +
    '    [--store=sqlite|postgresql] [--targets=nginx,pass,governed,twin_pass,twin,traced,large,followed,\n' +
    '        shared,pair,trio,floor_pass,floor]\n' +
    '    [--share=PERCENT] [--open=PERCENT]\n' +
    '    [--core=0] [--writ=PROGRAM] [--against=PROGRAM] [--out=bench] [--work=build]');
  process.exit(0);
}
if (!STORES[options.store]) {
  console.error('bench/run: --store is sqlite or postgresql');
  process.exit(2);
}
for (const program of [options.writ, options.against]) {
  if (program && !existsSync(program)) {
    console.error(`bench/run: ${program} does not exist: build it, or name another program`);
    process.exit(2);
  }
}
const quick = options.quick;
const rounds = quick ? 1 : Number(options.rounds);
const seconds = quick ? 1 : Number(options.seconds);
const connections = (quick ? '1,16' : options.connections).split(',').map(Number);
const named = (options.targets ?? STORES[options.store]).split(',');
const compared = options.against ? named.filter(target => TARGETS[`was_${target}`]) : [];
const targets = [...named, ...compared.map(target => `was_${target}`)];
const core = Number(options.core);
const otherCore = cpus().length > 1 ? (core === 0 ? 1 : 0) : core;
const TWIN = 'twin'; // on both
const beside = program => join(dirname(resolve(options.writ)), 'bench', program);
const openLoad = beside('open_load');
const floor = beside('floor');
if (targets.some(target => TARGETS[target].server === TWIN) && !options.share) {
  console.error('bench/run: twin needs --share: the load has the rest of the processors');
  process.exit(2);
}
const needed = [options.open && openLoad, targets.some(target => FLOORS.includes(target)) && floor].filter(Boolean);
for (const program of needed) {
  if (!existsSync(program)) {
    console.error(`bench/run: ${program} does not exist: build the target ${basename(program)}`);
    process.exit(2);
  }
}

const sleep = ms => new Promise(done => setTimeout(done, ms));
const children = [];
const shares = []; // folders of cgroups
const ends = []; // of what else was started

// ---- processes

function start(name, onCore, argv, work) {
  const log = openSync(join(work, `${name}.log`), 'w');
  const child = spawn('taskset', ['-c', String(onCore), ...argv], { stdio: ['ignore', log, log] });
  closeSync(log);
  child.on('exit', code => {
    if (!child.stopped) {
      console.error(`bench: ${name} ended (${code}):\n${readFileSync(join(work, `${name}.log`))}`);
      process.exitCode = 1;
    }
  });
  children.push(child);
  if (options.share && name !== 'upstream') hold(name, child.pid);
  return child.pid; // taskset becomes the program
}

// Holds a process, with those that it starts, to its share of a processor: cpu.max of cgroups version 2, or the quota
// of version 1.
function hold(name, pid) {
  const v2 = existsSync(join(CGROUPS, 'cgroup.controllers'));
  const folder = join(CGROUPS, v2 ? '' : 'cpu', `writ-bench-${process.pid}-${name}`);
  const quota = Math.round(PERIOD_US * Number(options.share) / 100) * (name === TWIN ? 2 : 1);
  mkdirSync(folder);
  shares.push(folder);
  if (v2) {
    writeFileSync(join(folder, 'cpu.max'), `${quota} ${PERIOD_US}`);
  } else {
    writeFileSync(join(folder, 'cpu.cfs_period_us'), String(PERIOD_US));
    writeFileSync(join(folder, 'cpu.cfs_quota_us'), String(quota));
  }
  writeFileSync(join(folder, 'cgroup.procs'), String(pid));
}

async function stopAll() {
  for (const child of children.splice(0)) {
    child.stopped = true;
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const gone = new Promise(done => child.once('exit', done));
    child.kill('SIGTERM');
    await Promise.race([gone, sleep(5000).then(() => child.kill('SIGKILL'))]);
    await gone;
  }
  for (const folder of shares) rmdirSync(folder);
}

async function waitUntil(url, name) {
  for (let i = 0; i < 200; i++) {
    try {
      if ((await fetch(url)).ok) return;
    } catch {
      // not listening yet
    }
    await sleep(50);
  }
  throw new Error(`${name} does not answer at ${url}`);
}

const nginxConf = (work, name, http) => `
daemon off; worker_processes 1; pid ${work}/${name}.pid; error_log stderr warn;
events { worker_connections 2048; }
http { access_log off; keepalive_requests 100000000; client_body_temp_path ${work}/${name}-body;
  proxy_temp_path ${work}/${name}-proxy; fastcgi_temp_path ${work}/${name}-f;
  uwsgi_temp_path ${work}/${name}-u; scgi_temp_path ${work}/${name}-s;
  ${http} }
`;

function startNginx(work, name, onCore, http) {
  const file = join(work, `${name}.conf`);
  writeFileSync(file, nginxConf(work, name, http));
  return start(name, onCore, ['nginx', '-p', work, '-e', 'stderr', '-c', file], work);
}

function startFloor(work, ports, server) {
  const log = server === 'floor' ? join(work, 'floor.records') : undefined;
  return start(server, core, floorCommand(floor, ports[server], ports.upstream, log), work);
}

// Twenty tools with five constraints each; the measured call names one in the middle.
function gatewayConfig(work, ports, server, token) {
  const tools = {};
  for (let i = 0; i < TOOLS; i++) {
    tools[`bench/tool_${String(i).padStart(2, '0')}`] = {
      scope: 'files/{path}',
      arguments: [
        { arg: 'path', op: 'under', value: '/srv/data' },
        { arg: 'text', op: 'max_length', value: 1000 },
        { arg: 'count', op: 'le', value: 100 },
        { arg: 'mode', op: 'in', value: ['append', 'create', 'replace'] },
        { arg: 'label', op: 'matches', value: '[a-z][a-z0-9-]*' },
      ],
    };
  }
  if (server === 'followed') {
    const followed = tools['bench/tool_11'];
    followed.labels = { trusted_at: ['/bills/*/payee'] };
    // not as the list has it: the value is compared by its marks
    followed.arguments.push({ arg: 'path', op: 'from',
      value: { sources: ['operator', 'trusted'], operator: ['/srv/data/reports/today.txt '] } });
  }
  return {
    listen: `127.0.0.1:${ports[server]}`,
    admin_listen: `127.0.0.1:${ports[`${server}_admin`]}`,
    issuer: 'https://gateway.example',
    keys: join(work, 'keys'),
    store: SHARED.includes(server) ? ports.database : `sqlite://${join(work, 'ledger.db')}`,
    ...(SHARED.includes(server) ? { ledger: { replication: 'none_needed' } } : {}),
    loops: server === TWIN ? 2 : 1,
    log: { level: 'warn' },
    agents: [{
      id: 'bench', tenant: 'bench', role: 'operator', credential_scope: 'files',
      credential_tier: 'measured', bearer_sha256: createHash('sha256').update(token).digest('hex'),
    }],
    upstreams: {
      bench: { http: `http://127.0.0.1:${ports.upstream}/${LARGE.includes(server) ? 'large' : 'mcp'}`, credential: { header: 'Writ-Credential' } },
    },
    tools,
    ...(server === 'traced' ? { telemetry: { otlp: `http://127.0.0.1:${ports.upstream}`, sample: '1' } } : {}),
  };
}

// A gateway that joins others trusts their keys, and they trust its own: `peers` has their processes by name.
function startGateway(under, program, ports, server, token, peers = {}) {
  const work = join(under, server);
  const file = join(work, 'writ.yaml');
  mkdirSync(work);
  writeFileSync(file, JSON.stringify(gatewayConfig(work, ports, server, token), null, 1));
  const keys = join(work, 'keys');
  execFileSync(program, ['keys', 'new', '--dir', keys]);
  const trust = (one, other) =>
    execFileSync(program, ['keys', 'trust', '--dir', join(under, one, 'keys'), join(under, other, 'keys/keys.json')]);
  for (const [peer, pid] of Object.entries(peers)) {
    trust(peer, server);
    trust(server, peer);
    process.kill(pid, 'SIGHUP'); // it takes the new keys
  }
  if (Object.keys(peers).length === 0) {
    execFileSync(program, ['ledger', 'init', server === 'shared' ? ports.database : join(work, 'ledger.db')]);
  }
  return start(server, server === TWIN ? `${core},${otherCore}` : core, [program, 'serve', file], work);
}

// ---- requests

function callBody(bytes, meta = {}) {
  const body = text => JSON.stringify({
    jsonrpc: '2.0', id: 1, method: 'tools/call',
    params: {
      name: 'tool_11',
      arguments: { path: '/srv/data/reports/today.txt', text, count: 42, mode: 'append', label: 'daily-report' },
      ...meta,
    },
  });
  return body('a line of text '.repeat(60).slice(0, bytes - body('').length));
}

function listBody() {
  const body = cursor => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'prompts/list', params: { cursor } });
  return body('0123456789abcdef'.repeat(60).slice(0, BODY_BYTES - body('').length));
}

let runs = 0;

const serversOf = target => [TARGETS[target].server, ...(TARGETS[target].others ?? [])];

// The load on one server: closed, by wrk, or with a rate open, by open_load.
function send(work, ports, token, target, server, conns, duration, rate) {
  const { governed, large } = TARGETS[target];
  const port = ports[server];
  const file = join(work, large ? 'large.json' : server === 'nginx' || governed ? 'call.json' : 'list.json');
  const prefix = governed ? `run${runs++}` : '-';
  const argv = rate
    ? [openLoad, port, '/mcp/bench', file, token, prefix, conns, rate, duration].map(String)
    : ['wrk', '-t1', `-c${conns}`, `-d${duration}s`, '--timeout', '10s', '-s', join(import.meta.dirname, 'load.lua'),
      `http://127.0.0.1:${port}/`, '--', '/mcp/bench', file, token, prefix];
  return new Promise((done, fail) => {
    const child = spawn('taskset', ['-c', String(otherCore), ...argv], { stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    child.stdout.on('data', chunk => { out += chunk; });
    child.on('error', fail);
    child.on('close', () => {
      const line = out.match(/^RESULT (.*)$/m);
      line ? done(JSON.parse(line[1])) : fail(new Error(`the load said: ${out}`));
    });
  });
}

// ---- counters

function family(pid) {
  const own = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return [pid, ...(own ? own.split(' ').flatMap(child => family(Number(child))) : [])];
}

function cpuNs(pid) {
  let ns = 0;
  for (const member of family(pid)) {
    for (const task of readdirSync(`/proc/${member}/task`)) {
      ns += Number(readFileSync(`/proc/${member}/task/${task}/schedstat`, 'utf8').split(' ')[0]);
    }
  }
  return ns;
}

function residentKiB(pid) {
  return family(pid)
    .map(member => Number(readFileSync(`/proc/${member}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)[1]))
    .reduce((a, b) => a + b);
}

// The time that a hypervisor took from the machine: ticks of all processors, stolen and total.
function ticks() {
  const all = readFileSync('/proc/stat', 'utf8').match(/^cpu +(.*)$/m)[1].split(' ').slice(0, 8).map(Number);
  return { stolen: all[7], all: all.reduce((a, b) => a + b) };
}

// The disk's part of a group: 16 KB are appended and synced, again and again. Its processor time is a part of a call's, and
// its longest waits are in every p99.
function sync(work) {
  const path = join(work, 'sync');
  const file = openSync(path, 'w');
  const bytes = randomBytes(16384);
  const took = [];
  const used = process.cpuUsage();
  for (let i = 0; i < SYNCS; i++) {
    const began = process.hrtime.bigint();
    writeSync(file, bytes);
    fdatasyncSync(file);
    took.push(Number(process.hrtime.bigint() - began) / 1000);
  }
  const { user, system } = process.cpuUsage(used);
  closeSync(file);
  rmSync(path);
  return { median: spread(took).median, most: spread(took).most, cpu: (user + system) / SYNCS };
}

// One ES256 signature, the most expensive step of a governed call. Its cost relative to a request of nginx depends on
// the processor, and on a shared one on the hour; so does a governed call's ratio.
function signatureUs() {
  const said = execFileSync('taskset', ['-c', String(core), 'openssl', 'speed', '-seconds', '1', 'ecdsap256'],
    { stdio: ['ignore', 'pipe', 'ignore'] }).toString();
  const [signs] = said.trim().split('\n').at(-1).trim().split(/\s+/).slice(-2).map(Number); // sign/s verify/s
  if (!(signs > 0)) throw new Error(`openssl speed said: ${said}`);
  return 1e6 / signs;
}

const isGateway = server => server !== 'nginx' && !FLOORS.includes(server);

// A refusal has status 200 too, so the gateway's own counter of allowed calls tells which ones were governed.
async function counters(ports, server) {
  if (!isGateway(server)) return null;
  const text = await (await fetch(`http://127.0.0.1:${ports[`${server}_admin`]}/metrics`)).text();
  const get = name => Number((text.match(new RegExp(`^${name} (\\S+)$`, 'm')) ?? [0, 0])[1]);
  return {
    allowed: get('writ_decisions_total{verdict="allow"}'),
    executed: get('writ_outcomes_total{outcome="executed"}'),
    sent: get('writ_upstream_requests_total'),
    told: get('writ_telemetry_sent_total'),
    lost: get('writ_telemetry_lost_total'),
  };
}

function checkCounters(target, got, before, after) {
  const { server, governed } = TARGETS[target];
  const grown = name => after[name] - before[name];
  if (got.requests === 0) {
    throw new Error(`${target}: no request was answered`);
  }
  if (got.errors > 0) {
    throw new Error(`${target}: ${got.errors} of ${got.requests} requests failed`);
  }
  if (!isGateway(server)) return;
  if (grown('sent') < got.requests) {
    throw new Error(`${target}: ${got.requests} answers, ${grown('sent')} sent upstream`);
  }
  if (server === 'traced' && (grown('lost') > 0 || grown('told') < got.requests)) {
    throw new Error(`${target}: of ${got.requests} requests, ${grown('told')} spans and lines were sent, ` +
      `${grown('lost')} lost`);
  }
  if (governed && Math.min(grown('allowed'), grown('executed')) < got.requests) {
    throw new Error(`${target}: ${got.requests} answers, ${grown('allowed')} allowed, ` +
      `${grown('executed')} executed`);
  }
}

const sum = list => list.reduce((a, b) => a + b);

// The counters of the servers together.
async function counted(ports, servers) {
  const all = await Promise.all(servers.map(server => counters(ports, server)));
  return all[0] && Object.fromEntries(Object.keys(all[0]).map(name => [name, sum(all.map(one => one[name]))]));
}

// The load on each of the servers at once, with its part of the connections.
async function load(work, ports, token, target, servers, conns, duration, rate) {
  const all = await Promise.all(servers.map(server => send(work, ports, token, target, server,
    Math.max(1, Math.round(conns / servers.length)), duration, rate && rate / servers.length)));
  return {
    requests: sum(all.map(one => one.requests)), errors: sum(all.map(one => one.errors)),
    us: Math.max(...all.map(one => one.us)), p50_us: sum(all.map(one => one.p50_us)) / all.length,
    p99_us: Math.max(...all.map(one => one.p99_us)),
  };
}

async function measure(work, ports, pids, token, target, conns) {
  const servers = serversOf(target);
  const before = await counted(ports, servers);
  const cpuAll = () => sum(servers.map(server => cpuNs(pids[server])));
  const cpuBefore = cpuAll();
  const ticksBefore = ticks();
  const got = await load(work, ports, token, target, servers, conns, seconds);
  const cpu = cpuAll() - cpuBefore;
  const ticksAfter = ticks();
  checkCounters(target, got, before, await counted(ports, servers));
  const rps = got.requests / (got.us / 1e6);
  const open = options.open &&
    await load(work, ports, token, target, servers, conns, seconds, rps * Number(options.open) / 100);
  if (open?.errors > 0) throw new Error(`${target}: ${open.errors} requests of the open load failed`);
  return {
    rps, open_p50_us: open?.p50_us, open_p99_us: open?.p99_us,
    cpu_us: cpu / 1000 / got.requests,
    p50_us: got.p50_us,
    p99_us: got.p99_us,
    resident_kib: sum(servers.map(server => residentKiB(pids[server]))),
    stolen: (ticksAfter.stolen - ticksBefore.stolen) / (ticksAfter.all - ticksBefore.all),
  };
}

// ---- the measurement

function about() {
  const text = (argv, pattern) => {
    try {
      const out = execFileSync('sh', ['-c', `${argv} 2>&1 || true`], { cwd: root }).toString();
      return (out.match(pattern) ?? [out, out])[1].trim();
    } catch {
      return '';
    }
  };
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: text('git describe --always --dirty', /(.*)/),
    writ: text(`'${options.writ}' --version`, /(.*)/),
    against: options.against ? `${options.against}, ${text(`'${options.against}' --version`, /(.*)/)}` : '',
    nginx: text('nginx -v', /nginx\/(\S+)/),
    wrk: text('wrk -v', /wrk (\S+)/),
    kernel: release(),
    cpu: `${cpus().length} x ${cpus()[0].model}`,
    load_before: loadavg()[0],
    core, otherCore, rounds, seconds, quick, share: options.share, open: options.open,
  };
}

async function main() {
  mkdirSync(options.work, { recursive: true });
  const work = mkdtempSync(join(resolve(options.work), 'bench-'));
  const token = randomBytes(24).toString('base64url');
  const ports = {
    upstream: await reservePort(), nginx: await reservePort(), writ: await reservePort(), writ_admin: await reservePort(),
    was: await reservePort(), was_admin: await reservePort(),
    twin: await reservePort(), twin_admin: await reservePort(),
    traced: await reservePort(), traced_admin: await reservePort(),
    large: await reservePort(), large_admin: await reservePort(),
    followed: await reservePort(), followed_admin: await reservePort(),
    shared: await reservePort(), shared_admin: await reservePort(),
    second: await reservePort(), second_admin: await reservePort(),
    third: await reservePort(), third_admin: await reservePort(),
    floor_pass: await reservePort(), floor: await reservePort(),
  };
  const about_ = about();
  try {
    writeFileSync(join(work, 'call.json'), callBody(BODY_BYTES));
    writeFileSync(join(work, 'large.json'),
      callBody(LARGE_BODY_BYTES, { _meta: { 'io.writ/boundaryId': 'run-00000000' } }));
    writeFileSync(join(work, 'list.json'), listBody());
    // no connection that is idle in the turns of the other targets is closed just when a request takes it
    startNginx(work, 'upstream', otherCore, `server { listen 127.0.0.1:${ports.upstream}; keepalive_timeout 1h;
      client_max_body_size 64m; default_type application/json; location / { return 200 '${ANSWER}'; }
      location /large { return 200 '${LARGE_ANSWER.replaceAll('\\', '\\\\')}'; } }`);
    const pids = {
      nginx: startNginx(work, 'nginx', core, `upstream u { server 127.0.0.1:${ports.upstream};
        keepalive 256; keepalive_requests 100000000; }
        server { listen 127.0.0.1:${ports.nginx}; location / { proxy_pass http://u;
          proxy_http_version 1.1; proxy_set_header Connection ""; } }`),
      writ: startGateway(work, options.writ, ports, 'writ', token),
    };
    for (const server of ['traced', TWIN, ...LARGE]) {
      if (targets.some(target => TARGETS[target].server === server)) pids[server] = startGateway(work, options.writ, ports, server, token);
    }
    for (const server of FLOORS.filter(name => targets.includes(name))) {
      pids[server] = startFloor(work, ports, server);
    }
    const members = SHARED.filter(server => targets.some(target => serversOf(target).includes(server)));
    if (members.length > 0) {
      const cluster = await startCluster({ after: end => ends.push(end) },
        { parent: resolve(options.work), settings: DATABASE }); // fsync on
      ports.database = cluster.socketUri;
      const peers = {};
      for (const server of members) {
        pids[server] = peers[server] = startGateway(work, options.writ, ports, server, token, { ...peers });
        await waitUntil(`http://127.0.0.1:${ports[`${server}_admin`]}/readyz`, server);
      }
    }
    if (options.against) pids.was = startGateway(work, options.against, ports, 'was', token);
    await waitUntil(`http://127.0.0.1:${ports.upstream}/`, 'upstream');
    for (const server of Object.keys(pids)) {
      const at = isGateway(server) ? `${ports[`${server}_admin`]}/readyz` : `${ports[server]}/`;
      await waitUntil(`http://127.0.0.1:${at}`, server);
    }
    about_.resident_kib = { nginx: residentKiB(pids.nginx), writ: residentKiB(pids.writ) };

    const samples = [];
    const signatures = [], syncs = [];
    for (const conns of connections) {
      for (const target of targets) {
        await load(work, ports, token, target, serversOf(target), conns, 1); // connections and caches are warm
      }
      for (let round = 0; round < rounds; round++) {
        for (const target of targets) {
          const sample = { conns, round, target, ...await measure(work, ports, pids, token, target, conns) };
          samples.push(sample);
          console.error(`${conns} connections, round ${round + 1}, ${target}: ` +
            `${sample.rps.toFixed(0)}/s, ${sample.cpu_us.toFixed(1)} us`);
        }
        if (targets.includes('governed')) {
          signatures.push(signatureUs());
          syncs.push(sync(work));
        }
      }
    }
    about_.load_after = loadavg()[0];
    about_.stolen = spread(samples.map(sample => sample.stolen));
    about_.signature_us = signatures.length ? spread(signatures) : null;
    for (const part of syncs.length ? ['median', 'most', 'cpu'] : []) {
      about_[`sync_${part}_us`] = spread(syncs.map(one => one[part]));
    }
    const rows = summary(samples, connections, targets);
    mkdirSync(options.out, { recursive: true });
    writeFileSync(join(options.out, 'report.md'), markdown(about_, rows));
    writeFileSync(join(options.out, 'report.svg'), plot(rows.filter(row => !row.target.startsWith('was_'))));
    console.log(markdown(about_, rows));
  } finally {
    await stopAll();
    for (const end of ends) await end();
    if (existsSync(work)) rmSync(work, { recursive: true });
  }
}

await main();
