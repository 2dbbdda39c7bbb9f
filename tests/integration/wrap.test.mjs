// `writ wrap`: a client over standard input and output has what it has without it, but for what a rule
// refuses; and whatever is killed, no call runs twice and the ledger shows each that ran.
// WRIT_WRAP_ROUNDS=50: so many rounds of each kind of kill, in place of 3.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync,
  writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { BIN, bearer, linesOf, prepare, startGateway, until, writ } from '../support/js/gateway.mjs';
import { endGateways, eventsOf, gateways, LEGACY, MODERN, Wrap } from '../support/js/wrap.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { resolve, sdk1, sdk2, sdk2Stdio } from '../support/npm/peers.mjs';
import { fileURLToPath } from 'node:url';

const ROUNDS = Number(process.env.WRIT_WRAP_ROUNDS ?? 3);
const SERVER = fileURLToPath(new URL('../support/servers/stdio-server.mjs', import.meta.url));
const SDK = fileURLToPath(new URL('../support/servers/sdk-stdio.mjs', import.meta.url));
const EVERYTHING = resolve('@modelcontextprotocol/server-everything/dist/index.js');
const any = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }] };

/** A configuration in a folder of its own, and no gateway yet. */
function setUp(t, { upstreams, tools, ...rest }) {
  const wraps = [], clients = [];
  let gw;
  t.after(async () => { // before the folder goes
    await Promise.all(clients.map((c) => c.close()));
    await Promise.all(wraps.map((w) => w.kill()));
    await endGateways(gw.configFile);
  });
  gw = prepare(t, { listen: 'unix:writ.sock', admin_listen: 'unix:admin.sock', loops: 1, upstreams, tools, ...rest });
  return { gw, clients, wrap: (args = [], options = {}) => {
    const wrap = new Wrap(['--config', gw.configFile, ...args], { cwd: gw.dir, ...options });
    wraps.push(wrap);
    return wrap;
  } };
}

const scripted = (t, rest = {}) => {
  const s = setUp(t, { upstreams: { up: { stdio: [process.execPath, SERVER, 'record'] } },
    tools: { 'up/act': any }, ...rest });
  return { ...s, record: () => linesOf(s.gw.path('record')).map((l) => JSON.parse(l)) };
};

/** What the server was told to do, once for each time. */
const effects = (record) => record().filter((l) => l.line?.method === 'tools/call')
  .map((l) => l.line.params.arguments.say);

test('stdout is MCP alone, the gateway starts on demand, ends when idle, and the session is sealed', async (t) => {
  const { gw, wrap } = scripted(t);
  const w = wrap(['--idle', '1']);
  const opened = await w.open();
  assert.equal(opened.result.serverInfo.name, 'scripted');
  assert.equal((await w.call('act', { act: 'echo', say: 'one' })).result.content[0].text, 'one');
  const second = await w.call('act', { act: 'echo', say: 'one' });
  assert.equal(second.error.data.reason, 'duplicate_outcome');
  assert.equal((await w.call('hidden', {})).error.data.reason, 'tool_not_listed');
  w.send('no JSON');
  w.send('7');
  assert.equal((await w.ask('ping')).result !== undefined, true);
  assert.deepEqual(w.messages.filter((m) => m.id === null).map((m) => m.error.code), [-32700, -32600]);
  assert.equal(gateways(gw.configFile).length, 1);
  assert.equal(statSync(gw.path('writ.sock')).mode & 0o777, 0o600);
  assert.equal(statSync(gw.path('writ.sock.log')).mode & 0o777, 0o600);
  assert.deepEqual(await w.end(), { code: 0, signal: null });
  assert.equal(w.said, '');
  await until(() => gateways(gw.configFile).length === 0, 'the gateway to end by itself');
  assert.ok(eventsOf(gw.dir).some((e) => e.event === 'idle'));
  assert.equal(existsSync(gw.path('writ.sock')), false);
  const [first] = gw.decisions();
  assert.equal(gw.show(first.decision_id).sealed, true);
  gw.verify();
});

test('lines in any pieces, several at once, and a last one without an end', async (t) => {
  const { wrap } = scripted(t);
  const w = wrap();
  const text = [{ jsonrpc: '2.0', id: 1, method: 'initialize',
    params: { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'raw', version: '1' } } },
  { jsonrpc: '2.0', method: 'notifications/initialized' },
  { jsonrpc: '2.0', id: 2, method: 'tools/call',
    params: { name: 'act', arguments: { act: 'echo', say: 'é'.repeat(100_000) } } },
  { jsonrpc: '2.0', id: 3, method: 'ping' }].map((m) => JSON.stringify(m)).join('\r\n');
  const bytes = Buffer.from(text);
  for (let i = 0; i < bytes.length; i += 40_001) w.child.stdin.write(bytes.subarray(i, i + 40_001));
  assert.deepEqual(await w.end(), { code: 0, signal: null });
  assert.equal((await w.answer(2)).result.content[0].text, 'é'.repeat(100_000));
  assert.ok((await w.answer(3)).result);
});

test('a line that is too long is refused, and no line behind it is lost', async (t) => {
  const { wrap } = scripted(t);
  const w = wrap();
  await w.open();
  const ping = (id) => `${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n`;
  const long = Buffer.alloc((64 << 20) + 20_000, 'x'); // its end and the next lines come in one piece
  w.child.stdin.write(Buffer.concat([Buffer.from(ping(50)), long, Buffer.from(`\n${ping(51)}${ping(52)}`)]));
  assert.deepEqual(await w.end(), { code: 0, signal: null });
  assert.deepEqual(w.messages.filter((m) => m.result).map((m) => m.id).slice(1).sort(), [50, 51, 52]);
  assert.deepEqual(w.messages.filter((m) => m.error).map((m) => [m.id, m.error.data.reason]),
    [[null, 'request_too_large']]);
});

test('a tool server that says what the gateway says of itself is called once', async (t) => {
  const { wrap, record } = scripted(t, { tools: { 'up/act': { ...any, duplicates: 'allow' } } });
  const w = wrap();
  await w.open();
  for (const say of ['shutting_down', 'session_unknown']) {
    assert.equal((await w.call('act', { act: 'refuse as', say })).error.data.reason, say);
  }
  assert.deepEqual(effects(record), ['shutting_down', 'session_unknown']);
});

test('an HTTP server that forges the status and the reason of an unknown session is called once', async (t) => {
  const up = await startUpstream(t);
  const { wrap } = setUp(t,
    { upstreams: { up: { http: up.url } }, tools: { 'up/act': { ...any, duplicates: 'allow' } } });
  const forged = { 'content-type': 'application/json', 'writ-reason': 'session_unknown' };
  up.onCall = (call) => call.json({ jsonrpc: '2.0', id: call.id,
    error: { code: -32001, message: 'no', data: { reason: 'session_unknown' } } }, 404, forged);
  const w = wrap();
  await w.open();
  assert.equal((await w.call('act', {})).error.code, -32001);
  assert.equal(up.calls.length, 1);
  assert.equal(w.said, '');
});

test('a server over HTTP gets the heads Mcp-Param-* that a client over stdio cannot write', async (t) => {
  const mirrored = (type, name) => ({ type, 'x-mcp-header': name });
  const up = await startUpstream(t, { tools: [{ name: 'act', inputSchema: { type: 'object', properties: {
    region: mirrored('string', 'Region'), n: mirrored('integer', 'N'), dry: mirrored('boolean', 'Dry') } } }] });
  const { wrap } = setUp(t, { upstreams: { up: { http: up.url } }, tools: { 'up/act': any } });
  const w = wrap();
  const meta = { protocolVersion: MODERN, clientInfo: { name: 'c', version: '1' }, clientCapabilities: {} };
  const _meta = Object.fromEntries(Object.entries(meta).map(([k, v]) => [`io.modelcontextprotocol/${k}`, v]));
  const call = (args) => w.ask('tools/call', { name: 'act', arguments: args, _meta });
  for (const [args, heads] of [[{ region: 'eu', n: 7, dry: true }, ['eu', '7', 'true']],
      [{ region: 'ü' }, [`=?base64?${Buffer.from('ü').toString('base64')}?=`, undefined, undefined]],
      [{ n: null }, [undefined, undefined, undefined]]]) {
    assert.ok((await call(args)).result, JSON.stringify(args));
    const { headers } = up.calls.at(-1);
    assert.deepEqual(['region', 'n', 'dry'].map((name) => headers[`mcp-param-${name}`]), heads);
  }
});

test('a socket of another user gets no token', {
  skip: process.getuid() !== 0 && 'only root can become another user',
}, async (t) => {
  const alice = bearer('alice');
  const { gw } = setUp(t, { upstreams: { up: { http: 'http://127.0.0.1:9/mcp' } }, tools: { 'up/act': any },
    agents: [alice.entry] });
  writeFileSync(gw.path('token'), alice.token, { mode: 0o600 });
  const code = `const s = require('net').createServer((c) => c.on('data', (d) => console.log(String(d))));
    process.setuid(65534); s.listen('${gw.path('writ.sock')}', () => console.log('up'))`;
  chmodSync(gw.dir, 0o777);
  const thief = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => thief.kill());
  let heard = '';
  thief.stdout.setEncoding('utf8').on('data', (d) => { heard += d; });
  await until(() => heard !== '', 'the socket');
  const run = spawnSync(BIN, ['wrap', '--config', gw.configFile, '--token', gw.path('token')], { cwd: gw.dir,
    input: `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`, encoding: 'utf8' });
  assert.notEqual(run.status, 0);
  assert.match(run.stderr, /did not start/);
  assert.equal(heard, 'up\n');
});

test('--scan says what tools scan says', async (t) => {
  const { gw } = scripted(t);
  const scans = [['wrap', '--scan'], ['tools', 'scan']].map((args) =>
    writ([...args, '--', process.execPath, SERVER, gw.path('r')]));
  assert.match(scans[0].out, /act/);
  assert.deepEqual([scans[0].out, scans[0].code], [scans[1].out, scans[1].code]);
  assert.equal(writ(['wrap', '--client-config', 'x']).code, 2);
});

test('a server that answers initialize in a stream keeps its session and its instructions', async (t) => {
  const up = await startUpstream(t);
  up.onMessage = async (message) => {
    if (message.method !== 'initialize') return undefined;
    const stream = message.stream({ 'mcp-session-id': 'of-a-stream' });
    stream.send({ jsonrpc: '2.0', id: message.id, result: { protocolVersion: LEGACY, capabilities: { tools: {} },
      serverInfo: { name: 's', version: '1' }, instructions: 'be kind' } });
    stream.end();
    return true;
  };
  const { gw, wrap } = setUp(t, { upstreams: { up: { http: up.url } }, tools: { 'up/act': any } });
  const w = wrap();
  assert.equal((await w.open()).result.instructions, 'be kind');
  assert.ok((await w.call('act', { n: 1 })).result);
  await endGateways(gw.configFile);
  assert.ok((await w.call('act', { n: 2 })).result);
  assert.deepEqual(up.calls.map((c) => c.headers['mcp-session-id']), ['of-a-stream', 'of-a-stream']);
  assert.equal(w.messages.filter((m) => m.result?.serverInfo).length, 1);
});

test('a long log is turned over while the gateway runs', async (t) => {
  const { gw, wrap } = scripted(t);
  const w = wrap();
  await w.open();
  const [log, old] = [gw.path('writ.sock.log'), gw.path('writ.sock.log.1')];
  appendFileSync(log, `${'x'.repeat(1023)}\n`.repeat(17 << 10));
  const size = statSync(log).size;
  const next = wrap();
  await next.open();
  assert.ok(statSync(old).size >= size);
  assert.equal(statSync(old).mode & 0o777, 0o600);
  await Promise.all([w.end(), next.end()]);
  await endGateways(gw.configFile, 'SIGTERM');
  assert.ok(eventsOf(gw.dir).some((e) => e.event === 'stopped'), 'it goes on at the beginning of the file');
});

test('what no HTTP head can say is refused as malformed', async (t) => {
  const { wrap } = scripted(t);
  const w = wrap();
  for (const [method, version] of [['ping\r\nX: y', MODERN], ['ping', `${MODERN}\r\nX: y`]]) {
    const refused = await w.ask(method, { _meta: { 'io.modelcontextprotocol/protocolVersion': version } });
    assert.equal(refused.error.data.reason, 'malformed_request');
  }
});

test('an answer passes whole through a pipe that does not block', async (t) => {
  const { gw } = scripted(t);
  const lines = [{ id: 1, method: 'initialize',
    params: { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'raw', version: '1' } } },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/call', params: { name: 'act', arguments: { act: 'echo', say: 'y'.repeat(300_000) } } }];
  const program = `import os, subprocess, sys
out, end = os.pipe()
os.set_blocking(end, False)
wrap = subprocess.Popen(sys.argv[1:], stdin=0, stdout=end)
os.close(end)
sys.stdout.write(open(out).read())`;
  const run = spawnSync('python3', ['-c', program, BIN, 'wrap', '--config', gw.configFile],
    { cwd: gw.dir, encoding: 'utf8',
      input: lines.map((l) => `${JSON.stringify({ jsonrpc: '2.0', ...l })}\n`).join('') });
  const answers = run.stdout.trim().split('\n').map((l) => JSON.parse(l));
  assert.equal(answers.find((m) => m.id === 2).result.content[0].text.length, 300_000);
});

test('a notification that its server is slow to take holds no later line back', async (t) => {
  const held = [];
  const up = await startUpstream(t, { tools: ['act'], onMessage: ({ method, res }) => {
    if (method !== 'notifications/roots/list_changed') return undefined;
    held.push(res);
    return true;
  } });
  const { wrap } = setUp(t, { upstreams: { up: { http: up.url } }, tools: { 'up/act': any } });
  const w = wrap();
  await w.open();
  for (const say of ['one', 'two']) {
    w.send({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' });
    assert.ok((await w.call('act', { say })).result);
  }
  assert.equal(held.length, 2);
  for (const res of held) res.writeHead(202).end();
  assert.deepEqual(await w.end(), { code: 0, signal: null });
});

test('a request with half a character is refused under its own id', async (t) => {
  const { wrap, record } = scripted(t);
  const w = wrap();
  await w.open();
  const refused = await w.call('act', { act: 'echo', say: 'a\ud800b' }, 'half');
  assert.deepEqual([refused.error.code, refused.error.data.reason], [-32700, 'malformed_request']);
  assert.equal((await w.call('act', { act: 'echo', say: '\u{1f600}' }, 'whole')).result.content[0].text, '\u{1f600}');
  assert.deepEqual(effects(record), ['\u{1f600}']);
});

test('a client that does not read stops no SIGTERM, and one that reads on gets each answer whole', async (t) => {
  const { gw, clients, wrap } = scripted(t, { tools: { 'up/act': any }, limits: { response: '16MiB' } });
  await wrap().open(); // the gateway stays
  const start = async () => {
    const child = spawn(BIN, ['wrap', '--config', gw.configFile], { cwd: gw.dir, stdio: ['pipe', 'pipe', 'inherit'] });
    clients.push({ close: () => child.kill('SIGKILL') });
    const say = (m) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...m })}\n`);
    say({ id: 'open', method: 'initialize',
      params: { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'raw', version: '1' } } });
    say({ method: 'notifications/initialized' });
    for (let id = 0; id < 6; id++) {
      say({ id, method: 'tools/call', params: { name: 'act', arguments: { act: 'big', ms: 1_500_000 + id } } });
    }
    await until(() => child.stdout.readableLength > 8000, 'an answer that is not read');
    return { child, say };
  };
  const { child } = await start();
  child.kill('SIGTERM');
  await until(() => child.exitCode !== null, 'the end of a wrap whose client does not read');
  assert.equal(child.exitCode, 0);

  const slow = await start();
  const answers = [];
  createInterface({ input: slow.child.stdout }).on('line', (line) => answers.push(JSON.parse(line)));
  slow.say({ id: 'ping', method: 'ping' });
  await until(() => answers.some((m) => m.id === 'ping') && answers.length === 8, 'all answers');
  for (let id = 0; id < 6; id++) {
    assert.equal(answers.find((m) => m.id === id).result.content[0].text.length, 1_500_000 + id);
  }
  slow.child.stdin.end();
  assert.deepEqual(await once(slow.child, 'close'), [0, null]);
});

test('the gateway keeps no descriptor that the client gave to the wrap', async (t) => {
  const { gw, clients } = scripted(t);
  const child = spawn(BIN, ['wrap', '--config', gw.configFile],
    { cwd: gw.dir, stdio: ['pipe', 'pipe', 'inherit', 'pipe'] });
  clients.push({ close: () => child.kill() });
  const given = readlinkSync(`/proc/${child.pid}/fd/3`);
  child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  await new Promise((resolve) => { child.stdout.once('data', resolve); });
  const [pid] = gateways(gw.configFile);
  const open = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try { return readlinkSync(`/proc/${pid}/fd/${fd}`); } catch { return ''; }
  });
  assert.ok(!open.includes(given), given);
});

const reply = async () => ({ action: 'accept', content: { reply: 'yes' } });

const CLIENTS = {
  'SDK v1': async (args, cwd) => {
    const { Client, StdioClientTransport, ElicitRequestSchema } = await sdk1();
    const client = new Client({ name: 'v1', version: '1' }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, reply);
    await client.connect(new StdioClientTransport({ command: BIN, args, cwd, stderr: 'inherit' }));
    return { client, call: (params, options) => client.callTool(params, undefined, options) };
  },
  ...Object.fromEntries([['SDK v2', 'legacy'], ['SDK v2, modern', { pin: MODERN }], ['SDK v2, which finds out', 'auto']]
    .map(([name, mode]) => [name, async (args, cwd) => {
      const [{ Client }, { StdioClientTransport }] = [await sdk2(), await sdk2Stdio()];
      const client = new Client({ name: 'v2', version: '1' },
        { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } });
      client.setRequestHandler('elicitation/create', reply);
      await client.connect(new StdioClientTransport({ command: BIN, args, cwd, stderr: 'inherit' }));
      return { client, call: (params, options) => client.callTool(params, options) };
    }])),
};

for (const [name, connect] of Object.entries(CLIENTS)) {
  test(`${name}: list, allowed, refused, duplicate, progress, elicitation, cancellation`, async (t) => {
    const text = (arg) => ({ arg, op: 'type', value: 'string' });
    const { gw, clients } = setUp(t, { upstreams: { up: { stdio: [process.execPath, SDK, 'both', 'record'] } }, tools: {
      'up/echo': { scope: 's', arguments: [text('message'), { arg: 'message', op: 'max_length', value: 20 }] },
      'up/steps': { scope: 's', arguments: [{ arg: 'n', op: 'type', value: 'number' }] },
      'up/ask': { scope: 's', arguments: [text('question')] },
      'up/wait': { scope: 's', arguments: [text('name')] } } });
    const { client, call } = await connect(['wrap', '--config', gw.configFile], gw.dir);
    clients.push(client);
    assert.equal(client.getServerVersion().name, 'sdk-upstream');
    assert.deepEqual((await client.listTools()).tools.map((x) => x.name), ['echo', 'steps', 'ask', 'wait']);
    assert.equal((await call({ name: 'echo', arguments: { message: 'hé' } })).content[0].text, 'Echo: hé');
    for (const [args, reason] of [[{ message: 'hé' }, 'duplicate_outcome'],
      [{ message: 'x'.repeat(21) }, 'constraint_failed']]) {
      await assert.rejects(call({ name: 'echo', arguments: args }), (e) => e.data.reason === reason);
    }
    const steps = [];
    await call({ name: 'steps', arguments: { n: 3 } }, { onprogress: (p) => steps.push(p.progress) });
    // the SDKs drop what they have not handled when the answer comes in the same piece; see the next test
    assert.deepEqual(steps, [1, 2, 3].slice(0, steps.length));
    assert.match((await call({ name: 'ask', arguments: { question: 'well?' } })).content[0].text, /yes/);
    const stop = new AbortController();
    const waiting = call({ name: 'wait', arguments: { name: 'long' } }, { signal: stop.signal });
    const notes = () => linesOf(gw.path('record')).map((l) => JSON.parse(l));
    await until(() => notes().some((n) => n.waits === 'long'), 'the tool to wait');
    stop.abort();
    await assert.rejects(waiting);
    await until(() => notes().some((n) => n.cancelled === 'long'), 'the tool to be cancelled');
    await client.close();
    gw.verify();
  });
}

test('progress reaches the client before the answer, in its order', async (t) => {
  const { wrap } = scripted(t);
  const w = wrap();
  await w.open();
  await w.ask('tools/call',
    { name: 'act', arguments: { act: 'progress', say: 'on' }, _meta: { progressToken: 'p' } }, 9);
  const seen = w.messages.filter((m) => m.id === 9 || m.method === 'notifications/progress');
  assert.deepEqual(seen.map((m) => m.params?.progress ?? m.id), [1, 2, 3, 9]);
});

test('the everything server asks its client for sampling, elicitation and roots', async (t) => {
  const { gw, clients } = setUp(t, { upstreams: { up: { stdio: [process.execPath, EVERYTHING] } },
    tools: { 'up/*': any } });
  const { Client, StdioClientTransport, ElicitRequestSchema, CreateMessageRequestSchema, ListRootsRequestSchema } =
    await sdk1();
  const client = new Client({ name: 'v1', version: '1' },
    { capabilities: { elicitation: {}, sampling: {}, roots: { listChanged: true } } });
  client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'decline' }));
  client.setRequestHandler(CreateMessageRequestSchema, async () => (
    { model: 'm', role: 'assistant', content: { type: 'text', text: 'sampled words' } }));
  client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [{ uri: 'file:///root-of-a', name: 'r' }] }));
  await client.connect(new StdioClientTransport(
    { command: BIN, args: ['wrap', '--config', gw.configFile], cwd: gw.dir, stderr: 'inherit' }));
  clients.push(client);
  const list = async () => (await client.listTools()).tools.map((x) => x.name);
  await until(async () => (await list()).includes('trigger-sampling-request'), 'the tools that need a client');
  const sampled = await client.callTool({ name: 'trigger-sampling-request', arguments: { prompt: 'p', maxTokens: 5 } });
  assert.match(JSON.stringify(sampled), /sampled words/);
  const asked = await client.callTool({ name: 'trigger-elicitation-request', arguments: {} });
  assert.match(JSON.stringify(asked), /declined/i);
  assert.match(JSON.stringify(await client.callTool({ name: 'get-roots-list', arguments: {} })), /root-of-a/);
  await client.close();
});

test('each wrap hands its own variables and folder to its server, and to nothing else', async (t) => {
  const upstreams = { up: { stdio: [process.execPath, SERVER, 'record'], inherit: ['KEY_OF_A', 'OTHER', 'SET'],
    client_environment: true, environment: { SET: 'here' } } };
  const { gw, wrap } = setUp(t, { upstreams, tools: { 'up/act': any } });
  const secrets = ['alpha-secret', 'beta-secret'];
  const folders = ['a', 'b'].map((name) => gw.path(name));
  const wraps = [];
  for (const [i, folder] of folders.entries()) {
    mkdirSync(folder);
    wraps.push(wrap([], { cwd: folder, env: { KEY_OF_A: secrets[i], SET: 'there', UNNAMED: 'unnamed-secret',
      ...(i === 0 && { OTHER: 'only a' }) } }));
    await wraps[i].open();
    assert.ok((await wraps[i].call('act', { act: 'echo', say: 'x' })).result);
  }
  const started = (i) => linesOf(join(folders[i], 'record')).map((l) => JSON.parse(l))
    .find((l) => l.env?.KEY_OF_A); // the gateway's own child, which serves no client, has none
  for (const i of [0, 1]) {
    const { env, cwd } = started(i);
    assert.deepEqual([env.KEY_OF_A, env.SET, env.UNNAMED, cwd], [secrets[i], 'here', undefined, folders[i]]);
  }
  assert.deepEqual([started(0).env.OTHER, started(1).env.OTHER], ['only a', undefined]);

  // nor after a restart of the gateway, by whichever wrap
  await endGateways(gw.configFile);
  for (const i of [1, 0]) {
    rmSync(join(folders[i], 'record'));
    assert.ok((await wraps[i].call('act', { act: 'echo', say: 'y' })).result);
    assert.equal(started(i).env.KEY_OF_A, secrets[i]);
  }
  const [pid] = gateways(gw.configFile);
  assert.doesNotMatch(readFileSync(`/proc/${pid}/environ`, 'latin1'), /alpha-secret|beta-secret|only a/);
  await Promise.all(wraps.map((w) => w.end()));
  await endGateways(gw.configFile, 'SIGTERM');
  for (const file of readdirSync(gw.dir).filter((name) => statSync(gw.path(name)).isFile()))
    assert.doesNotMatch(readFileSync(gw.path(file), 'latin1'), /alpha-secret|beta-secret|YWxwaGEtc2VjcmV0/, file);
});

test('a server that does not start without its client\'s variable serves the clients that have it', async (t) => {
  const code = `if (!process.env.KEY) process.exit(1); import('${SDK}')`;
  const { gw, clients } = setUp(t, { upstreams: { up: { stdio: [process.execPath, '-e', code], inherit: ['KEY'],
    client_environment: true } }, tools: { 'up/*': any } });
  const { Client } = await sdk2();
  const { StdioClientTransport } = await sdk2Stdio();
  for (const mode of ['legacy', { pin: MODERN }]) {
    const client = new Client({ name: 'v2', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(new StdioClientTransport(
      { command: BIN, args: ['wrap', '--config', gw.configFile], cwd: gw.dir, env: { ...process.env, KEY: '1' } }));
    clients.push(client);
    assert.ok((await client.listTools()).tools.length > 0);
  }
});

test('a server of all clients and a credential have the variables of the gateway', async (t) => {
  const inherit = ['SHARED', 'MINE'];
  const { gw, wrap } = setUp(t, { upstreams: {
    up: { stdio: [process.execPath, SERVER, 'record'], inherit, sharing: 'all' },
    own: { stdio: [process.execPath, SERVER, 'own'], inherit: [...inherit, 'TOKEN', 'ALONE'],
      client_environment: true },
    web: { http: 'http://127.0.0.1:9/mcp', authorization: { variable: 'TOKEN' } } }, tools: { 'up/act': any } });
  const w = wrap(['--name', 'up'], { env: { SHARED: 'a', MINE: 'b', TOKEN: 'c', ALONE: 'd' } });
  await w.open();
  assert.ok((await w.call('act', { act: 'echo', say: 'x' })).result);
  const { env } = linesOf(gw.path('record')).map((l) => JSON.parse(l)).find((l) => l.env);
  assert.deepEqual([env.SHARED, env.MINE], ['a', 'b']);
  const [pid] = gateways(gw.configFile);
  const has = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  assert.deepEqual(['SHARED=a', 'TOKEN=c', 'ALONE=d'].map((each) => has.includes(each)), [true, true, false]);
});

test('over TCP no client hands on an environment', async (t) => {
  const upstreams = { up: { stdio: [process.execPath, SERVER, 'record'], inherit: ['KEY'], client_environment: true } };
  const gw = await startGateway(t, { upstreams, tools: { 'up/act': any } });
  const given = Buffer.from(JSON.stringify({ directory: '/', variables: { KEY: 'x' } })).toString('base64url');
  const refused = await fetch(`${gw.url}/up`, { method: 'POST', body: '{}',
    headers: { 'content-type': 'application/json', 'writ-environment': given } });
  const { error } = await refused.json();
  assert.deepEqual([refused.status, error.data.reason], [400, 'environment_refused']);
  assert.match(error.message, /over a Unix socket alone/);
});

test('a server whose clients set PATH is a whole path, and a command may name it in short', async (t) => {
  const upstreams = { up: { stdio: ['node', SERVER, 'record'], client_environment: true } };
  const { gw } = setUp(t, { upstreams, tools: { 'up/act': any } });
  const run = (...args) => writ(['wrap', '--config', gw.configFile, ...args], { cwd: gw.dir, input: '' });
  assert.match(run().err, /the program must be a whole path: clients set PATH/);
  gw.configure({ ...gw.config, upstreams: { up: { ...upstreams.up, stdio: [process.execPath, SERVER, 'record'] } } });
  assert.equal(run('--', basename(process.execPath), SERVER, 'record').code, 0);
  assert.match(run('--', 'ode', SERVER, 'record').err, /says another command/);
  assert.match(run('--', `bin/${basename(process.execPath)}`, SERVER, 'record').err, /says another command/);
});

test('what cannot be handed on is an error that names the variable', (t) => {
  const { gw } = setUp(t, { upstreams: { up: { stdio: [process.execPath, SERVER, 'r'], inherit: ['LONG', 'BYTES'],
    client_environment: true } }, tools: { 'up/act': any } });
  const run = (line) => spawnSync('/bin/sh', ['-c', `${line} exec "$0" wrap --config "$1"`, BIN, gw.configFile],
    { cwd: gw.dir, input: '', encoding: 'utf8' });
  assert.match(run(`LONG=${'x'.repeat(9000)} BYTES=1`).stderr, /more than 9000 bytes, LONG the most/);
  assert.match(run(`BYTES=$(printf '\\377')`).stderr, /BYTES is not UTF-8/);
  assert.doesNotMatch(run(`LONG=${'x'.repeat(9000)}`).stderr, /xxx/);
});

test('a token names the agent; without a good one nothing is served', async (t) => {
  const alice = bearer('alice');
  const { gw, wrap } = scripted(t, { agents: [alice.entry] });
  const file = gw.path('token');
  writeFileSync(file, alice.token, { mode: 0o600 });
  const none = wrap();
  assert.equal((await none.ask('initialize', { protocolVersion: LEGACY, capabilities: {} })).error.data.reason,
    'unauthenticated');
  const w = wrap(['--token', file]);
  await w.open();
  await w.call('act', { act: 'echo', say: 'hi' });
  assert.equal(gw.decisions()[0].agent_id, 'alice');
  assert.ok(!`${w.said}${JSON.stringify(eventsOf(gw.dir))}`.includes(alice.token));
});

test('what runs is what the configuration says', async (t) => {
  const { gw } = setUp(t, { upstreams: { a: { stdio: ['cat'] }, b: { http: 'http://127.0.0.1:1/mcp' } }, tools: {} });
  const run = (...args) => writ(['wrap', '--config', gw.configFile, ...args], { cwd: gw.dir, input: '' });
  assert.match(run().err, /has 2 upstreams: pass --name/);
  assert.match(run('--name', 'c').err, /has no upstream of this name: c/);
  const other = run('--name', 'a', '--', 'sh', '-c', 'touch evil');
  assert.equal(other.code, 3);
  assert.match(other.err, /says another command for a/);
  assert.match(run('--name', 'b', 'http://127.0.0.1:2/mcp').err, /says another command for b/);
  assert.equal(existsSync(gw.path('evil')), false);
  assert.equal(gateways(gw.configFile).length, 0);
  assert.equal(run('--name', 'a', '--', 'cat').code, 0);
  gw.configure({ ...gw.config, listen: '127.0.0.1:0' });
  assert.match(run('--name', 'a').err, /writ wrap needs unix:/);
});

test('a gateway that cannot start is an error for people and for the client', async (t) => {
  const { gw, wrap } = scripted(t);
  const w = wrap();
  await w.open();
  gw.configure({ ...gw.config, keys: 'nowhere' });
  await endGateways(gw.configFile);
  const refused = await w.call('act', { act: 'echo', say: 'x' });
  assert.equal(refused.error.data.reason, 'upstream_unavailable');
  assert.match(refused.error.message, /did not start: .*nowhere/);
  assert.match(w.said, /did not start/);
  const first = writ(['wrap', '--config', gw.configFile], { cwd: gw.dir, input: '' });
  assert.equal(first.code, 4);
  assert.match(first.err, /did not start: .*nowhere/);
  gw.configure({ ...gw.config, keys: 'keys' });
  assert.equal((await w.call('act', { act: 'echo', say: 'y' })).result.content[0].text, 'y');
});

test('a call that was sent may have run, also when no gateway can be started any more', async (t) => {
  const { gw, wrap } = scripted(t);
  const w = wrap();
  await w.open();
  const call = w.ask('tools/call', { name: 'act', arguments: { act: 'progress', never: true, say: 'x' },
    _meta: { progressToken: 1 } });
  await until(() => w.messages.filter((m) => m.method === 'notifications/progress').length === 3, 'the progress');
  gw.configure({ ...gw.config, keys: 'nowhere' });
  await endGateways(gw.configFile);
  assert.equal((await call).error.data.reason, 'interrupted_execution_unknown');
});

test('a session that the gateway forgot is opened again, unseen by the client', async (t) => {
  const { gw, wrap, record } = scripted(t, { sessions: { idle_expires: '1s' } });
  const w = wrap();
  await w.open();
  await w.call('act', { act: 'echo', say: 'before' });
  await endGateways(gw.configFile);
  spawnSync('sqlite3', [gw.ledgerFile, 'DELETE FROM session']);
  assert.equal((await w.call('act', { act: 'echo', say: 'after' })).result.content[0].text, 'after');
  assert.deepEqual(effects(record), ['before', 'after']);
});

/** Kills in the middle of calls; what was told to the client, what ran, and what the ledger says agree. */
async function round(t, kill, n) {
  const { gw, wrap, record } = scripted(t);
  let w = wrap();
  await w.open();
  const words = [...Array(6).keys()].map((i) => `${n}-${i}`);
  const asked = words.map((say, i) => ({ say, answer: w.call('act', { act: i % 2 ? 'slow' : 'echo', ms: 40, say }) }));
  await until(() => effects(record).length >= 1 + (n % 5), 'the server to be busy');
  const victims = await kill({ gw, w });
  if (victims.wrap) {
    w = wrap();
    await w.open();
  }
  const last = await w.call('act', { act: 'echo', say: `${n}-end` });
  assert.equal(last.result?.content[0].text, `${n}-end`, JSON.stringify(last));
  for (const { say, answer } of asked) {
    const told = await answer;
    if (told === undefined) continue; // its wrap is gone
    const ran = effects(record).filter((x) => x === say).length;
    if (told.error === undefined) assert.equal(ran, 1, say);
    else assert.equal(told.error.data.reason, 'interrupted_execution_unknown', JSON.stringify(told));
  }
  await w.end();
  await endGateways(gw.configFile, 'SIGTERM');
  assertTold(gw, effects(record));
}

/** What the ledger says of the calls that ran: each once, and each with an outcome. */
function assertTold(gw, ran) {
  assert.equal(new Set(ran).size, ran.length, `nothing runs twice: ${ran}`);
  const decisions = gw.decisions().filter((d) => d.decision === 'allow');
  assert.ok(decisions.length >= ran.length, 'each call that ran is in the ledger');
  for (const d of decisions) {
    const { outcome } = gw.show(d.decision_id);
    assert.ok(['executed', 'error', 'timeout'].includes(outcome?.outcome), JSON.stringify(outcome));
  }
  gw.verify();
}

const KILLS = {
  'the wrap': async ({ w }) => { await w.kill(); return { wrap: true }; },
  'the gateway': async ({ gw }) => { await endGateways(gw.configFile); return {}; },
  'both': async ({ gw, w }) => {
    w.child.kill('SIGKILL');
    await Promise.all([endGateways(gw.configFile), w.exited]);
    return { wrap: true };
  },
};

for (const [who, kill] of Object.entries(KILLS)) {
  test(`SIGKILL of ${who} in the middle of calls: nothing runs twice, nothing is lost`, async (t) => {
    for (let n = 0; n < ROUNDS; n++) await t.test(`round ${n}`, (each) => round(each, kill, n));
  });
}

test('SIGKILLs among wraps that share a ledger: nothing runs twice, nothing is lost', async (t) => {
  const { gw, wrap, record } = scripted(t);
  const crew = [wrap(), wrap(), wrap()], asked = [];
  const start = async (i) => {
    crew[i] = wrap();
    await crew[i].open();
  };
  await Promise.all(crew.map((w) => w.open()));
  for (let n = 0; n < ROUNDS; n++) {
    const busy = effects(record).length + 1 + (n % 4);
    for (const [i, w] of crew.entries()) {
      for (const act of ['echo', 'slow']) {
        const say = `${n}-${i}-${act}`;
        asked.push({ say, answer: w.call('act', { act, ms: 30, say }) });
      }
    }
    await until(() => effects(record).length >= busy, 'the servers to be busy');
    const victim = n % 3;
    if (n % 4 !== 2) crew[victim].child.kill('SIGKILL');
    if (n % 4 > 1) await endGateways(gw.configFile);
    if (n % 4 === 2) continue;
    await crew[victim].exited;
    await start(victim);
  }
  for (const { say, answer } of asked) {
    const told = await answer;
    if (told === undefined) continue; // its wrap is gone
    const ran = effects(record).filter((x) => x === say).length;
    if (told.error === undefined) assert.equal(ran, 1, say);
    else assert.equal(told.error.data.reason, 'interrupted_execution_unknown', JSON.stringify(told));
  }
  for (const [i, w] of crew.entries())
    assert.equal((await w.call('act', { act: 'echo', say: `end ${i}` })).error, undefined);
  await Promise.all(crew.map((w) => w.end()));
  await endGateways(gw.configFile, 'SIGTERM');
  assertTold(gw, effects(record));
});

test('two wraps share a gateway and a ledger; after a kill both go on in their sessions', async (t) => {
  const { gw, wrap, record } = scripted(t);
  const both = [wrap(), wrap()]; // at once: one of them starts the gateway
  await Promise.all(both.map((w) => w.open()));
  assert.equal(gateways(gw.configFile).length, 1);
  await Promise.all(both.map((w, i) => w.call('act', { act: 'echo', say: `a${i}` })));
  await endGateways(gw.configFile);
  const [first, second] = await Promise.all(both.map((w, i) => w.call('act', { act: 'echo', say: `b${i}` })));
  assert.deepEqual([first, second].map((m) => m.result?.content[0].text), ['b0', 'b1'],
    JSON.stringify([first, second]));
  assert.equal(gateways(gw.configFile).length, 1);
  const again = await both[0].call('act', { act: 'echo', say: 'a0' });
  assert.equal(again.error.data.reason, 'duplicate_outcome', 'the session outlives the gateway, and its claims');
  await Promise.all(both.map((w) => w.end()));
  await endGateways(gw.configFile, 'SIGTERM');
  assert.deepEqual(effects(record).sort(), ['a0', 'a1', 'b0', 'b1']);
  assert.equal(new Set(gw.decisions().map((d) => d.boundary_id)).size, 2);
  gw.verify();
});

test('a client that closes both ends is not waited for, and SIGTERM ends a wrap', async (t) => {
  const { wrap, record } = scripted(t);
  const w = wrap();
  await w.open();
  w.call('act', { act: 'never', say: 'x' }).catch(() => {});
  await until(() => effects(record).length === 1, 'the call to run');
  w.child.stdin.end();
  w.child.stdout.destroy();
  await w.exited;
  const other = wrap();
  await other.open();
  assert.deepEqual(await other.kill('SIGTERM'), { code: 0, signal: null });
});
