// program_digest: a server over stdio whose files are not the ones of the configuration is not started, and is started
// again without a restart of the gateway when they are.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { ANYBODY, bearer, linesOf, prepare, sha256, until, writ, writBeside } from '../support/js/gateway.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';

const NODE = process.execPath;
const PEERS = new URL('../support/npm/peers.mjs', import.meta.url).href;
const RULE = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }], duplicates: 'allow' };
const ROOT = bearer('root', { subject: 'rita', role: 'auditor' });
const digest = (bytes) => `sha256:${sha256(bytes)}`;

/** A server of the official SDK. Each start is a line of the file that it is given. */
const script = (version) => `import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { sdk2Server, sdk2ServerStdio, zod } from ${JSON.stringify(PEERS)};
const [{ McpServer }, { serveStdio }, { z }] = await Promise.all([sdk2Server(), sdk2ServerStdio(), zod()]);
appendFileSync(process.argv[2], JSON.stringify({ pid: process.pid, program: process.execPath }) + '\\n');
const text = (t) => ({ content: [{ type: 'text', text: t }] });
serveStdio(() => {
  const server = new McpServer({ name: 'up', version: '${version}' });
  server.registerTool('version', { description: 'which one' }, async () => text('${version}'));
  server.registerTool('wait', { description: 'until a file is there', inputSchema: z.object({ name: z.string() }) },
    async ({ name }) => {
      writeFileSync(name + '.begun', '');
      while (!existsSync(name)) await new Promise((resolve) => setTimeout(resolve, 20));
      return text('waited');
    });
  return server;
}, { legacy: 'serve' });
`;

const nodeDigest = digest(readFileSync(NODE));

async function setUp(t, { pinned = 'one', serves = true } = {}) {
  const gw = prepare(t, { loops: 2, agents: [ANYBODY, ROOT.entry], administrators: ['rita'],
    auditors: ['auditor'], tools: { 'up/version': RULE, 'up/wait': RULE } });
  const file = join(gw.dir, 'server.mjs'), record = join(gw.dir, 'record');
  const put = (version) => writeFileSync(file, script(version));
  const config = (version) => ({ ...gw.config, upstreams: { up: {
    stdio: [NODE, 'server.mjs', record], directory: gw.dir,
    program_digest: version && { [NODE]: nodeDigest, 'server.mjs': digest(script(version)) } } } });
  put('one');
  writeFileSync(record, '');
  gw.configure(config(pinned));
  await gw.start();
  const caller = new Caller(gw, { modern: true });
  const starts = () => linesOf(record).map((l) => JSON.parse(l));
  if (serves) await until(async () => (await gw.admin('/readyz')).status === 200, 'the child to be up');
  return { gw, file, put, config, caller, starts, version: () => caller.call('up__version') };
}

const refusals = (gw) => gw.log.filter((l) => l.event === 'upstream_program_changed');

/** Kills the children that run; returns when the gateway has noticed. */
async function killAll({ gw, starts }) {
  const from = gw.log.length;
  let killed = 0;
  for (const { pid } of starts()) {
    try { process.kill(pid, 'SIGKILL'); killed++; } catch { /* it is gone */ }
  }
  await until(() => gw.log.slice(from).filter((l) => l.event === 'upstream_ended').length >= killed, 'the end of all');
}

test('a script that changed between two starts is refused until it is right again or accepted', async (t) => {
  const s = await setUp(t);
  const { gw } = s;
  assert.equal((await s.version()).said, 'one');
  assert.equal(s.starts()[0].program, NODE, 'node runs from the file that was read, and knows its name');
  s.put('two');
  assert.equal((await s.version()).said, 'one', 'the child that runs is not touched');
  await killAll(s);
  const before = s.starts().length;
  const refused = await s.version();
  assert.equal(refused.reason, 'upstream_program_changed');
  const { outcome } = gw.show(refused.refusal.decision_id);
  assert.deepEqual([outcome.outcome, outcome.error_type], ['error', 'not_sent']);
  const [first] = await until(() => refusals(gw).length > 0 && refusals(gw), 'the log line');
  assert.equal(first.why, `server.mjs has another digest: ${digest(script('two'))}`);
  const ready = await until(async () => {
    const page = await gw.admin('/readyz');
    return page.status === 503 && page;
  }, 'the gateway to say so');
  assert.match(ready.text, /upstream up: program changed/);
  assert.equal(await gw.metric('writ_upstreams_refused'), 1);
  for (let i = 0; i < 20; i++) assert.equal((await s.version()).reason, 'upstream_program_changed');
  assert.equal(refusals(gw).length, 1, 'calls cannot flood the log');
  rmSync(s.file);
  assert.equal((await s.version()).reason, 'upstream_program_changed');
  const second = await until(() => refusals(gw)[1], 'the log line of the missing file');
  assert.match(second.why, /^server\.mjs cannot be opened: No such file/);
  assert.equal(s.starts().length, before, 'no child ran');
  s.put('one');
  assert.equal((await s.version()).said, 'one');
  assert.equal(await gw.metric('writ_upstreams_refused'), 0);
  s.put('two');
  await killAll(s);
  assert.equal((await s.version()).reason, 'upstream_program_changed');
  assert.equal((await gw.reload(s.config('two'))).event, 'reloaded');
  assert.equal((await s.version()).said, 'two');
  gw.verify();
});

test('a reload with other digests reaches a child that runs, and no call in flight', async (t) => {
  const s = await setUp(t, { pinned: undefined });
  const { gw } = s;
  const name = join(gw.dir, 'release');
  assert.equal((await s.version()).said, 'one');
  const waits = s.caller.call('up__wait', { name });
  await until(() => existsSync(`${name}.begun`), 'the call to begin');
  s.put('two');
  assert.equal((await gw.reload(s.config('two'))).event, 'reloaded');
  assert.equal((await s.version()).reason, 'upstream_unavailable', 'nothing is added to the old program');
  writeFileSync(name, '');
  assert.equal((await waits).said, 'waited');
  assert.equal((await s.version()).said, 'two');
  assert.equal((await gw.reload(s.config('three'))).event, 'reloaded');
  assert.equal((await s.version()).reason, 'upstream_program_changed');
  assert.equal((await gw.reload(s.config(undefined))).event, 'reloaded');
  assert.equal((await s.version()).said, 'two', 'without digests it is started without a look');
  gw.verify();
});

test('a file is never looked up in the folder of a client', async (t) => {
  const s = await setUp(t, { serves: false });
  const { gw } = s;
  const config = (name, clients) => ({ ...s.config(undefined), upstreams: { up: {
    ...s.config(undefined).upstreams.up, client_environment: clients,
    program_digest: { [NODE]: nodeDigest, [name]: digest(script('one')) } } } });
  await gw.stop();
  gw.configure(config(s.file, true));
  await gw.start();
  await until(async () => (await gw.admin('/readyz')).status === 200, 'the child to be up');
  assert.equal((await gw.reload(config('server.mjs', false))).event, 'reloaded');
  const refused = async () => (await s.version()).reason === 'upstream_program_changed';
  await until(refused, 'the refusal of a list for servers whose folder no client sets');
  const { why } = await gw.waitLog('upstream_program_changed');
  assert.equal(why, 'server.mjs is not a whole path, and clients set the folder');
  assert.equal((await gw.reload(config(s.file, true))).event, 'reloaded');
  await until(async () => (await s.version()).said === 'one', 'the child to be up again');
  gw.verify();
});

test('a server that is refused at the start refuses both protocol families, and comes up by itself', async (t) => {
  const s = await setUp(t, { pinned: 'two', serves: false });
  const { gw } = s;
  await gw.waitLog('upstream_program_changed');
  assert.equal((await s.version()).reason, 'upstream_program_changed');
  await assert.rejects(openSession(gw, { path: '/mcp/up' }), /503|upstream_program_changed/);
  assert.equal(s.starts().length, 0);
  s.put('two');
  await until(async () => (await gw.admin('/readyz')).status === 200, 'the child to be up without a call');
  assert.equal((await s.version()).said, 'two');
  const session = await openSession(gw, { path: '/mcp/up' });
  assert.equal((await session.call('version')).said, 'two');
  gw.verify();
});

test('commands that start a server look first, and writ tools program prints the digests', async (t) => {
  const s = await setUp(t);
  const { gw } = s;
  await gw.stop();
  const starts = s.starts().length;
  const program = (...more) => writ(['tools', 'program', gw.configFile, 'up', ...more], { cwd: gw.dir });
  const states = () => Object.fromEntries(JSON.parse(program('--json').out).files.map((f) => [f.file, f.state]));
  const lists = () => writBeside(['check', '--tools', gw.configFile], { cwd: gw.dir });
  assert.equal(program().code, 0);
  assert.deepEqual([states()[NODE], states()['server.mjs']], ['same', 'same']);
  assert.equal((await lists()).code, 0);
  assert.equal(s.starts().length, starts + 1);
  s.put('two');
  assert.equal(program().code, 1);
  assert.equal(states()['server.mjs'], 'changed');
  const refused = await lists();
  assert.notEqual(refused.code, 0);
  assert.match(refused.out + refused.err, /program_digest refuses it: server\.mjs has another digest: sha256:/);
  assert.equal(s.starts().length, starts + 1, 'it was not started');
  rmSync(s.file);
  assert.match(program().out, /# "server\.mjs": missing/);
  s.put('two');
  gw.configure(s.config(undefined));
  const printed = program();
  assert.equal(printed.code, 0, printed.err);
  assert.match(printed.out, /"server\.mjs": sha256:[0-9a-f]{64} {2}# new/);
  const lines = Object.fromEntries([...printed.out.matchAll(/^ {6}"(.*)": (sha256:\S+)/gm)].map((m) => [m[1], m[2]]));
  assert.deepEqual([lines[NODE], lines['server.mjs']], [nodeDigest, digest(script('two'))]);
});

test('a digest that is accepted, not configured, holds until the program changes, and after a restart', async (t) => {
  const s = await setUp(t, { pinned: undefined, serves: false });
  const { gw } = s;
  const program = (...more) => writBeside(['tools', 'program', gw.configFile, 'up', ...more], { cwd: gw.dir });
  const states = async () => Object.fromEntries(JSON.parse((await program('--json')).out).files
    .filter((f) => f.state !== 'new').map((f) => [f.file, f.state]));
  const api = async (path) => (await fetch(`http://127.0.0.1:${gw.adminPort}/v1${path}`,
    { headers: { authorization: `Bearer ${ROOT.token}` } })).json();
  const config = (value) => ({ ...s.config(undefined), upstreams: { up: { ...s.config(undefined).upstreams.up,
    program_digest: { [NODE]: nodeDigest, 'server.mjs': value } } } });
  await gw.stop();
  const starts = s.starts().length;
  gw.configure(config(digest(script('one'))));
  const none = await program('--accept');
  assert.match(none.err, /no file of its program_digest has `accepted`/);
  gw.configure(config('accepted'));
  assert.deepEqual(await states(), { [NODE]: 'same', 'server.mjs': 'not_accepted' });
  assert.equal((await program()).code, 1);
  await gw.start();
  assert.equal((await s.version()).reason, 'upstream_program_changed');
  const line = await gw.waitLog('upstream_program_changed');
  assert.equal(line.why, `server.mjs is not accepted: ${digest(script('one'))}`);
  assert.match((await gw.admin('/readyz')).text, /upstream up: program not accepted/);
  const [shown] = (await api('/overview?span=hour')).upstreams;
  assert.deepEqual([shown.state, shown.why], ['down', 'program_not_accepted']);
  assert.equal(s.starts().length, starts, 'nothing was started');

  const accepted = await program('--accept');
  assert.equal(accepted.code, 0, accepted.err);
  assert.ok(accepted.out.includes(`"server.mjs": accepted  # ${digest(script('one'))} same\n`), accepted.out);
  await until(async () => (await s.version()).said === 'one', 'the program to be started');
  assert.equal((await program()).code, 0);
  const lists = await writBeside(['check', '--tools', gw.configFile], { cwd: gw.dir });
  assert.equal(lists.code, 0, lists.out + lists.err);
  const listed = JSON.parse((await writBeside(['tools', 'list', gw.configFile, '--json'], { cwd: gw.dir })).out);
  for (const { tools } of [listed, await api('/tools')])
    assert.deepEqual(tools.filter((one) => /program/.test(one.tool)), []);

  s.put('two');
  await killAll(s);
  assert.equal((await s.version()).reason, 'upstream_program_changed');
  assert.equal(refusals(gw).at(-1).why,
    `server.mjs has another digest than the accepted one: ${digest(script('two'))}`);
  assert.deepEqual(await states(), { [NODE]: 'same', 'server.mjs': 'changed' });
  const refused = await writBeside(['check', '--tools', gw.configFile], { cwd: gw.dir });
  assert.match(refused.out + refused.err, /than the accepted one: .* --accept accepts it/);
  assert.equal((await program('--accept')).code, 0);
  await until(async () => (await s.version()).said === 'two', 'the new program');

  // the ledger has it: neither a lost file nor the old program brings the first acceptance back
  await gw.stop();
  rmSync(gw.path('ledger.db.accepted.json'));
  assert.deepEqual(await states(), { [NODE]: 'same', 'server.mjs': 'same' });
  await gw.start();
  await until(async () => (await s.version()).said === 'two', 'the program after a restart');
  s.put('one');
  await killAll(s);
  assert.equal((await s.version()).reason, 'upstream_program_changed');
  gw.verify();
});

test('an acceptance reaches a child that runs the program of the one before', async (t) => {
  const s = await setUp(t, { pinned: undefined, serves: false });
  const { gw } = s;
  const config = s.config(undefined);
  config.upstreams.up.program_digest = { 'server.mjs': 'accepted', [NODE]: nodeDigest };
  await gw.stop();
  gw.configure(config);
  const accept = async () => {
    const run = await writBeside(['tools', 'program', gw.configFile, 'up', '--accept'], { cwd: gw.dir });
    assert.equal(run.code, 0, run.err);
  };
  await accept();
  await gw.start();
  await until(async () => (await s.version()).said === 'one', 'the program');
  s.put('two');
  assert.equal((await s.version()).said, 'one', 'a child that runs is not touched by the file');
  await accept();
  await until(async () => (await s.version()).said === 'two', 'the accepted program to take its place');
  gw.verify();
});
