// Several upstreams behind one endpoint, one of which accepts every message and never answers.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { linesOf, startGateway, until } from '../support/js/gateway.mjs';
import { sdk2 } from '../support/npm/peers.mjs';
import { startSdkUpstream } from '../support/servers/sdk-upstream.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';
import { get } from '../support/js/stream.mjs';

const RULE = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }], duplicates: 'allow' };
// An upstream's own time is far longer than that of a test: what waits for it fails by the latter.
const LIMIT = { timeout: 300_000 };
const UNAVAILABLE = 'io.writ/unavailable';
const silence = () => true;
const HASTY = { list_timeout: '200ms' }; // for one that never answers
const SHORT = { list_timeout: '2s' }; // for one that answers at first, also on a busy machine
const SCRIPTED = new URL('../support/servers/stdio-server.mjs', import.meta.url).pathname;

async function setUp(t, servers, config = {}) {
  const ups = {};
  for (const [name, options] of Object.entries(servers)) if (!options.config?.stdio)
    ups[name] = await startUpstream(t, options);
  const gw = await startGateway(t, {
    upstreams: Object.fromEntries(Object.keys(servers)
      .map((n) => [n, { timeout: '24h', ...(ups[n] && { http: ups[n].url, connect_timeout: '10m' }),
        list_timeout: '20s', ...servers[n].config }])),
    tools: Object.fromEntries(Object.keys(servers).map((n) => [`${n}/**`, RULE])), ...config,
  });
  return { ups, gw };
}

const list = async (s) => {
  const { result } = await s.request('tools/list');
  return [result.tools.map((x) => x.name), result._meta?.[UNAVAILABLE]];
};

test('a handshake, lists and reads do not wait for an upstream that never answers', LIMIT, async (t) => {
  const { ups, gw } = await setUp(t,
    { b: { onMessage: silence, config: HASTY },
      a: { tools: ['x'], capabilities: { tools: {}, resources: {}, logging: {} },
        onMessage: (m) =>
        (m.method === 'resources/read' ? (m.result({ contents: [{ uri: m.params.uri, text: 'a' }] }),
          true) : m.method === 'logging/setLevel' ? (m.result({}), true) : undefined) } });
  const s = await openSession(gw);
  assert.deepEqual(s.opened.result._meta[UNAVAILABLE], ['b']);
  assert.deepEqual(s.opened.result.serverInfo.name, 'writ', 'the answer is that of several');
  assert.deepEqual(await list(s), [['a__x'], ['b']]);
  assert.equal((await s.request('resources/read', { uri: 'x:y' })).result.contents[0].text, 'a');
  assert.ok((await s.request('logging/setLevel', { level: 'info' })).result);
  assert.ok(ups.b.arrivals.every((m) => m.method === 'initialize'),
    'nothing else is sent before it takes part in the session');
  assert.equal((await s.call('a__x')).said, 'ran 1');
  assert.equal((await s.close()).status, 200);

  const modern = new Caller(gw, { modern: true });
  const { result } = await modern.request('server/discover');
  assert.deepEqual(result._meta[UNAVAILABLE], ['b']);
  assert.deepEqual(await list(modern), [['a__x'], ['b']]);
  assert.equal((await modern.request('resources/read', { uri: 'late:z' })).result.contents[0].text, 'a');
});

test('a silent upstream is left out until it answers, and metrics and readyz report it', LIMIT, async (t) => {
  const { ups, gw } = await setUp(t, { a: { tools: ['x'] }, b: { tools: ['y'], config: SHORT } });
  const s = await openSession(gw);
  assert.deepEqual(await list(s), [['a__x', 'b__y'], undefined]);
  assert.doesNotMatch((await gw.admin('/readyz')).text, /silent/);
  ups.b.onMessage = (m) => (m.method === 'tools/list' ? true : undefined);
  for (let i = 0; i < 4; i++) assert.deepEqual(await list(s), [['a__x'], ['b']]);
  const asked = ups.b.arrivals.filter((m) => m.method === 'tools/list').length;
  assert.equal(asked, 3, 'once before, and twice in vain');
  const ready = await gw.admin('/readyz');
  assert.deepEqual([ready.status, ready.text.match(/^upstream .*$/m)?.[0]], [200, 'upstream b: silent']);
  assert.match((await gw.admin('/metrics')).text, /^writ_upstreams_silent 1$/m);

  // a governed call is tried all the same, with its own time; its answer shows that it is there again
  ups.b.onMessage = undefined;
  assert.equal((await s.call('b__y')).said, 'ran 1');
  assert.match((await gw.admin('/metrics')).text, /^writ_upstreams_silent 0$/m);
  assert.doesNotMatch((await gw.admin('/readyz')).text, /silent/);
  assert.deepEqual(await list(s), [['a__x', 'b__y'], undefined]);
});

test('when all upstreams are silent the client gets an error, and a required one fails the list', LIMIT, async (t) => {
  const { ups, gw } = await setUp(t,
    { a: { tools: ['x'], config: SHORT }, b: { tools: ['y'], config: { required: true, ...SHORT } } });
  const s = await openSession(gw);
  ups.b.onMessage = silence;
  for (let i = 0; i < 3; i++) assert.equal((await s.request('tools/list')).reason, 'upstream_unavailable');
  ups.a.onMessage = silence;
  for (const method of ['prompts/list', 'prompts/list', 'prompts/list']) {
    const answer = await s.request(method);
    assert.deepEqual([answer.status, answer.reason], [503, 'upstream_unavailable']);
  }
  const { gw: none } = await setUp(t,
    { a: { onMessage: silence, config: HASTY }, b: { onMessage: silence, config: HASTY } });
  const c = new Caller(none), m = new Caller(none, { modern: true });
  const opened = await c.request('initialize',
    { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } });
  assert.deepEqual([opened.status, opened.reason], [504, 'upstream_timeout']);
  for (let i = 0; i < 3; i++) {
    const answer = await m.request('tools/list');
    assert.deepEqual([answer.status, answer.reason], [504, 'upstream_timeout']);
  }
  const read = await m.request('resources/read', { uri: 'x:y' });
  assert.deepEqual([read.status, read.reason], [504, 'upstream_timeout']);
});

test('a resource is not reported missing while an upstream could not be asked', LIMIT, async (t) => {
  const { ups, gw } = await setUp(t, { a: {}, b: { config: SHORT } });
  const s = await openSession(gw);
  assert.equal((await s.request('resources/read', { uri: 'x:y' })).error.code, -32601);
  ups.b.onMessage = silence;
  assert.equal((await s.request('resources/read', { uri: 'x:y' })).reason, 'upstream_timeout');
});

test('an endpoint of one upstream waits for the upstream\'s full time', LIMIT, async (t) => {
  const { ups, gw } = await setUp(t, { a: { tools: ['x'], config: HASTY }, b: {} });
  ups.a.onMessage = (m) => (m.method === 'tools/list' ? sleep(1000).then(() => undefined) : undefined);
  const alone = await openSession(gw, { path: '/mcp/a' });
  assert.deepEqual((await alone.request('tools/list')).result.tools.map((x) => x.name), ['x']);
});

test('a long list that begins in time comes whole; late pages come by cursor', LIMIT,
    async (t) => {
  const tool = (name) => ({ name, inputSchema: { type: 'object' } });
  const long = async (m) => {
    if (m.method !== 'tools/list') return undefined;
    m.res.writeHead(200, { 'content-type': 'application/json' });
    const text = JSON.stringify({ jsonrpc: '2.0', id: m.id, result: { tools: [tool('y')] } });
    for (const part of text.match(/.{1,8}/g)) { m.res.write(part); await sleep(200); }
    m.res.end();
    return true;
  };
  const { gw, ups } = await setUp(t, { a: { tools: ['x'] }, b: { onMessage: long, config: { list_timeout: '2s' } } });
  const s = await openSession(gw);
  assert.deepEqual(await list(s), [['a__x', 'b__y'], undefined]);
  let pages = 0;
  ups.b.onMessage = async (m) => {
    if (m.method !== 'tools/list') return undefined;
    const from = Number(m.params?.cursor ?? 0);
    pages++;
    await sleep(300);
    m.result({ tools: [tool(`y${from}`)], ...(from < 9 ? { nextCursor: String(from + 1) } : {}) });
    return true;
  };
  const seen = [];
  let cursor, answers = 0;
  do {
    const { result } = await s.request('tools/list', cursor === undefined ? {} : { cursor });
    assert.equal(result._meta, undefined);
    seen.push(...result.tools.map((x) => x.name));
    cursor = result.nextCursor;
    answers++;
  } while (cursor !== undefined);
  assert.deepEqual(seen, ['a__x', ...Array.from({ length: 10 }, (_, i) => `b__y${i}`)]);
  assert.ok(answers > 1 && pages === 10, `${answers} answers, ${pages} pages`);
});

test('a stream of heartbeats only does not count as an answer', LIMIT, async (t) => {
  const alive = (m) => {
    if (m.method !== 'tools/list') return undefined;
    const stream = m.stream();
    const timer = setInterval(() => stream.raw(': still here\n\n'), 50);
    m.closed.then(() => clearInterval(timer));
    return true;
  };
  const { gw } = await setUp(t, { a: { tools: ['x'] }, b: { onMessage: alive, config: SHORT } });
  assert.deepEqual(await list(await openSession(gw)), [['a__x'], ['b']]);
});

test('a slowly starting child joins the session when it is up, and its client is notified', LIMIT, async (t) => {
  const script = 'until [ -e "$1/go" ]; do sleep 0.05; done; exec "$2" "$3" "$1/record"';
  const dir = mkdtempSync(join(tmpdir(), 'writ-silent-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const { gw } = await setUp(t,
    { a: { tools: ['x'] },
      slow: { config: { stdio: ['/bin/sh', '-c', script, 'sh', dir, process.execPath, SCRIPTED], ...SHORT } } });
  const s = await openSession(gw);
  assert.deepEqual(s.opened.result._meta[UNAVAILABLE], ['slow']);
  assert.deepEqual(await list(s), [['a__x'], ['slow']]);
  const opening = get(gw, s); // no stream to begin with, as long as no upstream has one
  writeFileSync(join(dir, 'go'), '');
  const stream = await opening;
  await stream.has('notifications/tools/list_changed');
  const lines = () => linesOf(join(dir, 'record')).map((l) => JSON.parse(l).line);
  assert.equal((await s.call('slow__act', { act: 'echo', say: 'hello' })).said, 'hello');
  assert.ok(lines().some((m) => m?.method === 'notifications/initialized'),
    'the gateway ends the handshake that it began');
  assert.deepEqual(await list(s), [['a__x', 'slow__act', 'slow__hidden'], undefined]);
  assert.equal(lines().filter((m) => m?.method === 'initialize' && m.params.clientInfo.name === 'test').length, 1,
    'one child for the session');
  stream.leave();
});

test('with only slowly starting children the handshake waits for the first of them', LIMIT, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'writ-silent-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const child = (name) =>
    ({ config: { stdio: ['/bin/sh', '-c', 'sleep 2; exec "$1" "$2" "$3"', 'sh', process.execPath, SCRIPTED,
      join(dir, name)], start_timeout: '60s', ...HASTY } });
  const { gw } = await setUp(t, { a: child('a'), b: child('b') });
  const s = await openSession(gw);
  assert.equal(s.opened.result.capabilities.tools !== undefined, true);
  assert.equal((await s.call('a__act', { act: 'echo', say: 'hello' })).said, 'hello');
  assert.equal((await s.call('b__act', { act: 'echo', say: 'hello' })).said, 'hello',
    'late or not, it is part of the session');
});

test('a child that never answers delays no session', LIMIT, async (t) => {
  const { gw } = await setUp(t,
    { a: { tools: ['x'] },
      mute: { config: { stdio: ['/bin/sh', '-c', 'exec sleep 1000'], start_timeout: '10m', ...HASTY } } });
  for (let i = 0; i < 3; i++) {
    const s = await openSession(gw);
    assert.deepEqual(await list(s), [['a__x'], ['mute']]);
    assert.equal((await s.close()).status, 200);
  }
  assert.deepEqual(await list(new Caller(gw, { modern: true })), [['a__x'], ['mute']]);
});

// ---- upstreams that missed the handshake of a session, and join it

const CAPABLE = { capabilities: { roots: {} } };
const methods = (up) => up.arrivals.map((m) => m.method);
const outcomes = (gw) => gw.decisions().map((d) => gw.show(d.decision_id).outcome).filter((o) => o);

/** A session that was opened while `b` was silent. */
async function openLate(t, { b = {}, config = {}, options = CAPABLE } = {}) {
  const { ups, gw } = await setUp(t, { a: { tools: ['x'] }, b: { tools: ['y', 'z'], config: SHORT, ...b } }, config);
  ups.b.onMessage = silence;
  const s = await openSession(gw, options);
  assert.deepEqual(s.opened.result._meta[UNAVAILABLE], ['b']);
  ups.b.onMessage = undefined;
  ups.b.clear();
  return { up: ups.b, gw, s };
}

test('an upstream that missed the handshake joins before a call, once, and the call uses its session', LIMIT,
    async (t) => {
  const { up, gw, s } = await openLate(t, { config: { loops: 1 } });
  const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => s.call('b__y', { i })));
  assert.deepEqual(answers.map((a) => a.said).sort(), Array.from({ length: 8 }, (_, i) => `ran ${i + 1}`));
  assert.deepEqual(methods(up).slice(0, 2), ['initialize', 'notifications/initialized']);
  assert.equal(methods(up).filter((m) => m === 'initialize').length, 1);
  const [hello, ...rest] = up.arrivals;
  assert.deepEqual(hello.params,
    { ...CAPABLE, clientInfo: { name: 'test', version: '1' }, protocolVersion: '2025-11-25' }, 'what the client said');
  assert.equal(hello.headers['mcp-session-id'], undefined);
  for (const m of rest) assert.deepEqual([m.headers['mcp-session-id'], m.headers['mcp-protocol-version']],
    ['up-1', '2025-11-25'], m.method);
  assert.equal((await s.close()).status, 200);
  assert.equal(up.requests.at(-1).method, 'DELETE');
  assert.equal(up.requests.at(-1).headers['mcp-session-id'], 'up-1');
  gw.verify();
});

test('with several loops calls share one late session, and other new sessions are ended', LIMIT, async (t) => {
  const { up, s } = await openLate(t, { config: { loops: 4 } });
  const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => s.call('b__y', { i })));
  assert.ok(answers.every((a) => /^ran/.test(a.said)));
  const used = new Set(up.calls.map((m) => m.headers['mcp-session-id']));
  assert.equal(used.size, 1, 'all calls are in one session');
  const opened = methods(up).filter((m) => m === 'initialize').length;
  await until(() => up.requests.filter((r) => r.method === 'DELETE').length === opened - 1,
    'the other sessions to be ended');
  assert.ok(up.requests.filter((r) => r.method === 'DELETE').every((r) => !used.has(r.headers['mcp-session-id'])));
});

test('lists, reads, prompts and other requests wait for an upstream that missed the handshake to join', LIMIT,
    async (t) => {
  const messages = {
    list: async (s) => assert.deepEqual(await list(s), [['a__x', 'b__y', 'b__z'], undefined]),
    read: async (s) => assert.equal((await s.request('resources/read', { uri: 'x:y' })).result.contents[0].text, 'b'),
    prompt: async (s) => assert.deepEqual((await s.request('prompts/get', { name: 'b__p' })).result.messages, []),
  };
  for (const [name, ask] of Object.entries(messages)) {
    const { up, s } = await openLate(t);
    up.onMessage = (m) => ({
      'resources/read': () => m.result({ contents: [{ uri: m.params.uri, text: 'b' }] }),
      'prompts/get': () => m.result({ messages: [] }),
    }[m.method]?.(), ['resources/read', 'prompts/get'].includes(m.method) ? true : undefined);
    await ask(s);
    assert.deepEqual(methods(up).slice(0, 2), ['initialize', 'notifications/initialized'], name);
    assert.ok(up.arrivals.slice(1).every((m) => m.headers['mcp-session-id'] === 'up-1'), name);
  }
});

test('a call to an upstream that cannot join is not sent, and refusal and outcome say so', LIMIT, async (t) => {
  const { up, gw, s } = await openLate(t);
  const initialize = (answer) => (m) => (m.method === 'initialize' ? (answer(m), true) : undefined);
  const ways = {
    'another revision': initialize((m) =>
      m.result({ protocolVersion: '2025-03-26', capabilities: {}, serverInfo: { name: 'b', version: '1' } },
        { 'mcp-session-id': 'unused' })),
    'no revision': initialize((m) => m.result({})),
    'an error': initialize((m) => m.error(-32603, 'no')),
    'another id': initialize((m) =>
      m.json({ jsonrpc: '2.0', id: 7, result: { protocolVersion: m.params.protocolVersion, capabilities: {} } })),
    rubbish: initialize((m) => m.json('{"jsonrpc":')),
    'no JSON': initialize((m) => { m.res.writeHead(200, { 'content-type': 'text/html' }); m.res.end('<html>'); }),
    'status 500': initialize((m) => m.json('{}', 500)),
    'a broken connection': initialize((m) => m.destroy()),
    'an initialized that it does not take': (m) =>
      (m.method === 'notifications/initialized' ? (m.json('{}', 404), true) : undefined),
  };
  for (const [way, onMessage] of Object.entries(ways)) {
    up.clear();
    up.onMessage = onMessage;
    const call = await s.call('b__y', { n: 1 });
    assert.equal(call.reason, 'upstream_unavailable', way);
    assert.ok(up.arrivals.every((m) => ['initialize', 'notifications/initialized'].includes(m.method)), way);
    assert.deepEqual([outcomes(gw).at(-1).outcome, outcomes(gw).at(-1).error_type], ['error', 'not_sent'], way);
    const prompt = await s.request('prompts/get', { name: 'b__p' });
    assert.deepEqual([prompt.status, prompt.reason], [503, 'upstream_unavailable'], way);
    assert.deepEqual(await list(s), [['a__x'], ['b']], way);
  }
  up.onMessage = initialize((m) => m.json('{}', 401));
  assert.equal((await s.call('b__y', { n: 1 })).reason, 'upstream_unauthorized');
  await until(() => up.requests.some((r) => r.method === 'DELETE'), 'the session that is not used to be ended');
  up.clear();
  up.onMessage = undefined;
  assert.equal((await s.call('b__y', { n: 1 })).said, 'ran 1', 'nothing of it ran before: its key is free');
  gw.verify();
});

test('late and joined upstreams of a session outlive the gateway', LIMIT, async (t) => {
  const { up, gw, s } = await openLate(t);
  await gw.restart('SIGKILL');
  assert.deepEqual(await list(s), [['a__x', 'b__y', 'b__z'], undefined]);
  assert.deepEqual(up.arrivals[0].params,
    { ...CAPABLE, clientInfo: { name: 'test', version: '1' }, protocolVersion: '2025-11-25' });
  await s.call('b__y'); // the row was stored before the outcome of a later call
  await gw.restart('SIGKILL');
  up.clear();
  assert.equal((await s.call('b__z')).said, 'ran 1');
  assert.ok(!methods(up).includes('initialize'));
  assert.equal(up.calls[0].headers['mcp-session-id'], 'up-1');
  gw.verify();
});

test('a server of the official SDK that was down joins the sessions of its clients when it is up', LIMIT, async (t) => {
  const { ups, gw } = await setUp(t, { a: { tools: ['x'] }, b: { config: SHORT } });
  const { port } = ups.b;
  await ups.b.close();
  const sessions = [await openSession(gw, CAPABLE), await openSession(gw)];
  for (const s of sessions)
    assert.deepEqual([s.opened.result._meta[UNAVAILABLE], await list(s)], [['b'], [['a__x'], ['b']]]);
  assert.equal((await sessions[0].call('b__echo', { message: 'x' })).reason, 'upstream_unavailable');
  const sdk = await startSdkUpstream(t, { port });
  assert.equal((await sessions[0].call('b__echo', { message: 'hello' })).said, 'Echo: hello');
  assert.equal((await sessions[1].request('resources/read', { uri: 'test://note' })).result.contents[0].text, 'a note');
  assert.ok((await list(sessions[1]))[0].includes('b__echo'));
  assert.equal(sdk.sessions.size, 2, 'a session of its own for each');
  assert.equal((await sessions[0].close()).status, 200);
  assert.equal(sdk.sessions.size, 1);
  const modern = new Caller(gw, { modern: true });
  assert.equal((await modern.call('b__echo', { message: 'hello' })).said, 'Echo: hello',
    'the stateless revision has nothing to miss');
  gw.verify();
});

test('a child that could not start joins when it starts', LIMIT, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'writ-silent-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const script = '[ -e "$1/go" ] || exit 1; exec "$2" "$3" "$1/record"';
  const { gw } = await setUp(t,
    { a: { tools: ['x'] },
      c: { config: { stdio: ['/bin/sh', '-c', script, 'sh', dir, process.execPath, SCRIPTED], ...SHORT } } });
  const s = await openSession(gw);
  assert.deepEqual(s.opened.result._meta[UNAVAILABLE], ['c']);
  writeFileSync(join(dir, 'go'), '');
  await until(async () => (await s.call('c__act', { act: 'echo', say: 'hello' })).said === 'hello',
    'the child to be called');
  assert.deepEqual(await list(s), [['a__x', 'c__act', 'c__hidden'], undefined]);
});

test('a session that an upstream lost before the question for the result of a task is opened again', LIMIT,
    async (t) => {
  const { up, gw, s } = await openLate(t);
  const task = { taskId: 't1', status: 'working', createdAt: '2026-01-01T00:00:00Z',
    lastUpdatedAt: '2026-01-01T00:00:00Z', ttl: 60000 };
  up.onCall = (m) => m.result({ task });
  await s.call('b__y', {}, { params: { task: { ttl: 60000 } } });
  up.clear();
  up.onMessage = (m) => {
    if (m.method === 'tasks/get') m.result({ ...task, status: 'completed' });
    else if (m.headers['mcp-session-id'] === 'up-1') m.error(-32001, 'Session not found', 404);
    else return undefined;
    return true;
  };
  const status = await s.request('tasks/get', { taskId: 't1' });
  assert.equal(status.result.status, 'completed');
  assert.deepEqual(methods(up), ['tasks/get', 'tasks/result'], 'the gateway asks for the result');
  assert.equal(outcomes(gw).at(-1).outcome, 'executed', 'as the status says');
  up.onCall = undefined;
  assert.match((await s.call('b__z')).said, /^ran/, 'in another session');
  assert.equal(up.calls.at(-1).headers['mcp-session-id'], 'up-2');
  gw.verify();
});

test('a probe or a task question makes a late upstream join as well', LIMIT, async (t) => {
  const probed = { ...RULE, state: { tool: 'b/stat', select: ['/size'] } };
  const { up, gw, s } = await openLate(t, { config: { tools: { 'a/x': probed, 'b/**': RULE } } });
  const stat = (m) => m.result({ content: [{ type: 'text', text: '{"size":1}' }], structuredContent: { size: 1 } });
  up.onMessage = (m) => (m.method === 'initialize' ? (m.json('{}', 500), true) : undefined);
  assert.equal((await s.call('a__x')).reason, 'target_state_unavailable');
  assert.deepEqual(new Set(methods(up)), new Set(['initialize']));
  up.onMessage = undefined;
  up.onCall = stat;
  assert.equal((await s.call('a__x')).said, 'ran 1');
  assert.equal(up.calls[0].headers['mcp-session-id'], 'up-1');

  const task = { taskId: 't1', status: 'working', createdAt: '2026-01-01T00:00:00Z',
    lastUpdatedAt: '2026-01-01T00:00:00Z', ttl: 60000 };
  up.onCall = (m) => m.result({ task });
  assert.equal((await s.call('b__y', {}, { params: { task: { ttl: 60000 } } })).result.task.taskId, 't1');
  up.onMessage = silence;
  const other = await openSession(gw);
  assert.deepEqual(other.opened.result._meta[UNAVAILABLE], ['b']);
  up.clear();
  up.onMessage = (m) => (m.method === 'tasks/get' ? (m.result(task), true) : undefined);
  assert.equal((await other.request('tasks/get', { taskId: 't1' })).result.status, 'working');
  assert.deepEqual(methods(up), ['initialize', 'notifications/initialized', 'tasks/get']);
  assert.equal(up.arrivals[2].headers['mcp-session-id'], 'up-2');
  up.clear();
  up.onMessage = (m) =>
    (m.headers['mcp-session-id'] === 'up-2' ? (m.error(-32001, 'Session not found', 404), true) : undefined);
  const lost = await other.request('tasks/get', { taskId: 't1' }); // once
  assert.deepEqual([lost.status, lost.reason, methods(up)], [502, 'upstream_session_lost', ['tasks/get']]);
  up.onCall = stat;
  assert.match((await other.call('a__x', { n: 2 })).said, /^ran/, 'in another session');
  const probes = () => up.calls.map((m) => m.headers['mcp-session-id']);
  assert.deepEqual(probes(), ['up-3']);
  up.onMessage = (m) =>
    (m.headers['mcp-session-id'] === 'up-3' ? (m.error(-32001, 'Session not found', 404), true) : undefined);
  assert.equal((await other.call('a__x', { n: 3 })).reason, 'target_state_unavailable');
  assert.match((await other.call('a__x', { n: 4 })).said, /^ran/, 'the probe has told that the session is over');
  assert.deepEqual(probes(), ['up-3', 'up-3', 'up-4']);
});

// ---- notifications to clients about an upstream that is back

const changes = (stream) => stream.messages.map((m) => m.method).filter((m) => /list_changed$/.test(m));

test('a client whose lists lacked an upstream is notified on its stream when it joins', LIMIT,
    async (t) => {
  const { up, gw, s } = await openLate(t);
  const quiet = await openSession(gw); // requests no list while b is away
  up.onMessage = silence;
  const other = await openSession(gw);
  assert.equal(s.opened.result.capabilities.tools.listChanged, true);
  assert.deepEqual(await list(s), [['a__x'], ['b']]);
  await s.request('prompts/list');
  const streams = [await get(gw, s), await get(gw, s), await get(gw, other)];
  for (const stream of streams) assert.equal(stream.status, 200, 'though no upstream has a stream');
  up.onMessage = undefined;
  const told = () => streams.slice(0, 2).flatMap(changes);
  await until(() => told().length > 0, 'the notice');
  assert.deepEqual(await list(s), [['a__x', 'b__y', 'b__z'], undefined]);
  await sleep(5000); // two looks later
  assert.deepEqual(told(), ['notifications/tools/list_changed'], 'once, and on one of the streams');
  assert.deepEqual(changes(streams[2]), [], 'who has seen no list misses none');
  assert.equal((await s.close()).status, 200);
  await streams[0].done();
  await streams[1].done();
  streams[2].leave();
  await quiet.close();
});

test('a client is notified when a silent upstream of its session answers lists again', LIMIT, async (t) => {
  const { ups, gw } = await setUp(t,
    { a: { tools: ['x'] }, b: { tools: ['y'], config: SHORT, capabilities: { tools: {}, prompts: {} } } });
  const answers = (m) => (m.method === 'prompts/list' ? (m.result({ prompts: [{ name: 'p' }] }), true) : undefined);
  ups.b.onMessage = answers;
  const s = await openSession(gw);
  ups.b.onMessage = silence;
  assert.deepEqual(await list(s), [['a__x'], ['b']]);
  ups.b.onMessage = answers;
  assert.deepEqual((await s.request('prompts/list')).result.prompts.map((p) => p.name), ['b__p']);
  ups.b.onMessage = (m) => (m.method === 'tools/list' ? true : answers(m));
  const stream = await get(gw, s);
  assert.equal((await s.call('b__y')).said, 'ran 1');
  await sleep(3000);
  assert.deepEqual(changes(stream), [], 'an answer to something else does not make the list one that has it');
  ups.b.onMessage = answers;
  await stream.has('list_changed');
  assert.deepEqual(await list(s), [['a__x', 'b__y'], undefined]);
  assert.deepEqual(changes(stream), ['notifications/tools/list_changed'], 'the list of prompts was whole');
  stream.leave();
});

test('the stream of an upstream that joins is merged into the client\'s, also for the official SDK', LIMIT,
    async (t) => {
  const { ups, gw } = await setUp(t, { a: { tools: ['x'] }, b: { config: SHORT } });
  const { port } = ups.b;
  await ups.b.close();
  const { Client, StreamableHTTPClientTransport } = await sdk2();
  let heard = 0;
  const client = new Client({ name: 'test', version: '1' }, { listChanged: { tools: { onChanged: () => {
    heard++;
  } } } });
  await client.connect(new StreamableHTTPClientTransport(new URL(gw.url)));
  t.after(() => client.close());
  assert.deepEqual((await client.listTools()).tools.map((x) => x.name), ['a__x']);
  const sdk = await startSdkUpstream(t, { port });
  await until(() => heard > 0, 'the client to hear of the list', 60_000);
  assert.ok((await client.listTools()).tools.some((x) => x.name === 'b__echo'));
  await until(() => sdk.requests.some((r) => r.http === 'GET'), 'the stream of the server');
  const before = heard;
  await sdk.servers[0].sendToolListChanged();
  await until(() => heard > before, 'what the server itself says');
});

test('a client that returns after a restart of the gateway is notified of a late upstream', LIMIT,
    async (t) => {
  const { up, gw, s } = await openLate(t);
  up.onMessage = silence;
  assert.deepEqual(await list(s), [['a__x'], ['b']]);
  await gw.restart('SIGKILL');
  const stream = await get(gw, s);
  up.onMessage = undefined;
  await stream.has('notifications/tools/list_changed');
  assert.deepEqual(await list(s), [['a__x', 'b__y', 'b__z'], undefined]);
  stream.leave();
});

test('a restarted upstream that lost its sessions joins them again', LIMIT, async (t) => {
  const { ups, gw } = await setUp(t, { a: { tools: ['x'] }, b: { tools: ['y'], config: SHORT } });
  const gone = new Set();
  const forget = (id) => {
    gone.add(id);
    ups.b.clear();
    ups.b.onMessage = (m) =>
      (gone.has(m.headers['mcp-session-id']) ? (m.error(-32001, 'Session not found', 404), true) : undefined);
  };
  const s = await openSession(gw);
  forget('up-1');
  assert.deepEqual(await list(s), [['a__x', 'b__y'], undefined], 'a list is asked for once more');
  assert.deepEqual(methods(ups.b), ['tools/list', 'initialize', 'notifications/initialized', 'tools/list']);
  assert.equal((await s.call('b__y')).said, 'ran 1');

  forget('up-2');
  const call = await s.call('b__y'); // a call is sent once; a 404 would end the client's whole session
  assert.deepEqual([call.status, call.reason, call.refusal.execution], [200, 'upstream_session_lost', 'unknown']);
  assert.equal(ups.b.calls.length, 1);
  assert.deepEqual([outcomes(gw).at(-1).outcome, outcomes(gw).at(-1).error_type], ['error', 'upstream_session_lost']);
  assert.equal((await s.call('b__y')).said, 'ran 2');
  assert.equal(ups.b.calls.at(-1).headers['mcp-session-id'], 'up-3');

  forget('up-3');
  const prompt = await s.request('prompts/get', { name: 'b__p' });
  assert.deepEqual([prompt.status, prompt.reason], [502, 'upstream_session_lost']);
  assert.deepEqual(methods(ups.b), ['prompts/get'], 'sent once');
  assert.equal((await s.call('b__y')).said, 'ran 1', 'in another session');

  // one that answers the message itself with 404 has not lost anything
  ups.b.clear();
  ups.b.onMessage = (m) =>
    (['tools/call', 'prompts/get'].includes(m.method) ? (m.error(-32602, 'no such', 404), true) : undefined);
  for (const own of [await s.call('b__y'), await s.request('prompts/get', { name: 'b__p' })]) {
    assert.deepEqual([own.status, own.error.code, own.error.message], [200, -32602, 'no such']);
  }
  assert.deepEqual([outcomes(gw).at(-1).outcome, outcomes(gw).at(-1).error_type], ['error', 'upstream_refused']);
  ups.b.onMessage = (m) => (m.method === 'tools/list' ? (m.error(-32601, 'Method not found', 404), true) : undefined);
  ups.b.clear();
  assert.deepEqual(await list(s), [['a__x'], undefined]);
  assert.deepEqual(methods(ups.b), ['tools/list']);
  // an upstream that rejects every new session is not asked for ever
  ups.b.clear();
  ups.b.onMessage = (m) => (['initialize', 'notifications/initialized'].includes(m.method)
    ? undefined : (m.error(-32001, 'Session not found', 404), true));
  assert.deepEqual(await list(s), [['a__x'], ['b']]);
  assert.deepEqual(methods(ups.b), ['tools/list', 'initialize', 'notifications/initialized', 'tools/list']);
  gw.verify();
});

test('a call uses a new session of its upstream when the old one was lost before', LIMIT, async (t) => {
  const { ups, gw } = await setUp(t, { a: { tools: ['x'] }, b: { tools: ['y'], config: SHORT } });
  const s = await openSession(gw);
  ups.b.clear();
  ups.b.onMessage = (m) =>
    (m.headers['mcp-session-id'] === 'up-1' ? (m.error(-32001, 'Session not found', 404), true) : undefined);
  assert.equal((await s.call('b__y')).said, 'ran 1');
  assert.deepEqual(methods(ups.b), ['tools/list', 'initialize', 'notifications/initialized', 'tools/call'],
    'the gateway asks what the tool is');
  gw.verify();
});

test('the stream of a restarted upstream is merged into the client\'s again', LIMIT, async (t) => {
  const first = await startSdkUpstream(t), { port } = first, other = await startSdkUpstream(t);
  const gw = await startGateway(t,
    { upstreams: { a: { http: other.url }, b: { http: first.url, ...SHORT } }, tools: { 'a/**': RULE, 'b/**': RULE } });
  const s = await openSession(gw);
  const stream = await get(gw, s);
  await until(() => first.requests.some((r) => r.http === 'GET'), 'the stream of the server');
  await first.stop();
  const second = await startSdkUpstream(t, { port });
  await stream.has('notifications/tools/list_changed');
  await until(() => second.requests.some((r) => r.http === 'GET' && second.sessions.has(r.headers['mcp-session-id'])),
    'the stream in its new session');
  await second.servers.at(-1).server.sendResourceUpdated({ uri: 'test://note' });
  await stream.has('notifications/resources/updated');
  assert.equal((await s.call('b__echo', { message: 'x' })).said, 'Echo: x');
  stream.leave();
});
