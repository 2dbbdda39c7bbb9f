// Several upstreams behind one endpoint, one of which accepts every message and never answers.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGateway } from '../support/gateway.mjs';
import { startUpstream } from '../support/upstream.mjs';
import { Caller, openSession } from '../support/rpc.mjs';
import { get } from '../support/stream.mjs';

const RULE = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }], duplicates: 'allow' };
// An upstream's own time is far longer than that of a test: what waits for it fails by the latter.
const LIMIT = { timeout: 90_000 };
const UNAVAILABLE = 'io.writ/unavailable';
const silence = () => true;
const HASTY = { list_timeout: '200ms' }; // for one that never answers
const SHORT = { list_timeout: '2s' }; // for one that answers at first, also on a busy machine
const SCRIPTED = new URL('../support/stdio-server.mjs', import.meta.url).pathname;

async function setUp(t, servers, config = {}) {
  const ups = {};
  for (const [name, options] of Object.entries(servers)) if (!options.config?.stdio) ups[name] = await startUpstream(t, options);
  const gw = await startGateway(t, {
    upstreams: Object.fromEntries(Object.keys(servers).map((n) => [n, { timeout: '24h', ...(ups[n] && { http: ups[n].url, connect_timeout: '10m' }), list_timeout: '20s', ...servers[n].config }])),
    tools: Object.fromEntries(Object.keys(servers).map((n) => [`${n}/**`, RULE])), ...config,
  });
  return { ups, gw };
}

const list = async (s) => {
  const { result } = await s.request('tools/list');
  return [result.tools.map((x) => x.name), result._meta?.[UNAVAILABLE]];
};

test('a handshake, lists and reads do not wait for one that never answers', LIMIT, async (t) => {
  const { ups, gw } = await setUp(t, { b: { onMessage: silence, config: HASTY }, a: { tools: ['x'], capabilities: { tools: {}, resources: {}, logging: {} }, onMessage: (m) => (m.method === 'resources/read' ? (m.result({ contents: [{ uri: m.params.uri, text: 'a' }] }), true) : m.method === 'logging/setLevel' ? (m.result({}), true) : undefined) } });
  const s = await openSession(gw);
  assert.deepEqual(s.opened.result._meta[UNAVAILABLE], ['b']);
  assert.deepEqual(s.opened.result.serverInfo.name, 'writ', 'the answer is that of several');
  assert.deepEqual(await list(s), [['a__x'], ['b']]);
  assert.equal((await s.request('resources/read', { uri: 'x:y' })).result.contents[0].text, 'a');
  assert.ok((await s.request('logging/setLevel', { level: 'info' })).result);
  assert.deepEqual(ups.b.arrivals.map((m) => m.method), ['initialize'], 'the session was opened without it');
  assert.equal((await s.call('a__x')).said, 'ran 1');
  assert.equal((await s.close()).status, 200);

  const modern = new Caller(gw, { modern: true });
  const { result } = await modern.request('server/discover');
  assert.deepEqual(result._meta[UNAVAILABLE], ['b']);
  assert.deepEqual(await list(modern), [['a__x'], ['b']]);
  assert.equal((await modern.request('resources/read', { uri: 'late:z' })).result.contents[0].text, 'a');
});

test('one that was silent is left out for a while, in metrics and readyz, until it answers', LIMIT, async (t) => {
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

test('with all of them silent the client is told, and one that is required breaks the list', LIMIT, async (t) => {
  const { ups, gw } = await setUp(t, { a: { tools: ['x'], config: SHORT }, b: { tools: ['y'], config: { required: true, ...SHORT } } });
  const s = await openSession(gw);
  ups.b.onMessage = silence;
  for (let i = 0; i < 3; i++) assert.equal((await s.request('tools/list')).reason, 'upstream_unavailable');
  ups.a.onMessage = silence;
  for (const method of ['prompts/list', 'prompts/list', 'prompts/list']) {
    const answer = await s.request(method);
    assert.deepEqual([answer.status, answer.reason], [503, 'upstream_unavailable']);
  }
  const { gw: none } = await setUp(t, { a: { onMessage: silence, config: HASTY }, b: { onMessage: silence, config: HASTY } });
  const c = new Caller(none), m = new Caller(none, { modern: true });
  const opened = await c.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } });
  assert.deepEqual([opened.status, opened.reason], [504, 'upstream_timeout']);
  for (let i = 0; i < 3; i++) {
    const answer = await m.request('tools/list');
    assert.deepEqual([answer.status, answer.reason], [504, 'upstream_timeout']);
  }
  const read = await m.request('resources/read', { uri: 'x:y' });
  assert.deepEqual([read.status, read.reason], [504, 'upstream_timeout']);
});

test('that others do not have a resource is not said while one could not be asked', LIMIT, async (t) => {
  const { ups, gw } = await setUp(t, { a: {}, b: { config: SHORT } });
  const s = await openSession(gw);
  assert.equal((await s.request('resources/read', { uri: 'x:y' })).error.code, -32601);
  ups.b.onMessage = silence;
  assert.equal((await s.request('resources/read', { uri: 'x:y' })).reason, 'upstream_timeout');
});

test('an endpoint of one upstream waits as long as the upstream may take', LIMIT, async (t) => {
  const { ups, gw } = await setUp(t, { a: { tools: ['x'], config: HASTY }, b: {} });
  ups.a.onMessage = (m) => (m.method === 'tools/list' ? sleep(1000).then(() => undefined) : undefined);
  const alone = await openSession(gw, { path: '/mcp/a' });
  assert.deepEqual((await alone.request('tools/list')).result.tools.map((x) => x.name), ['x']);
});

test('a list that begins in time and is long comes whole; pages that take long come with a cursor', LIMIT, async (t) => {
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

test('a stream that says only that it is there is no answer', LIMIT, async (t) => {
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

test('a child that starts slowly joins the session when it is up, and its client is told', LIMIT, async (t) => {
  const script = 'until [ -e "$1/go" ]; do sleep 0.05; done; exec "$2" "$3" "$1/record"';
  const dir = mkdtempSync(join(tmpdir(), 'writ-silent-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const { gw } = await setUp(t, { a: { tools: ['x'] }, slow: { config: { stdio: ['/bin/sh', '-c', script, 'sh', dir, process.execPath, SCRIPTED], ...SHORT } } });
  const s = await openSession(gw);
  assert.deepEqual(s.opened.result._meta[UNAVAILABLE], ['slow']);
  assert.deepEqual(await list(s), [['a__x'], ['slow']]);
  const opening = get(gw, s); // no stream to begin with, as long as no upstream has one
  writeFileSync(join(dir, 'go'), '');
  const stream = await opening;
  await stream.has('notifications/tools/list_changed');
  const lines = () => readFileSync(join(dir, 'record'), 'utf8').split('\n').filter((l) => l !== '').map((l) => JSON.parse(l).line);
  assert.equal((await s.call('slow__act', { act: 'echo', say: 'hello' })).said, 'hello');
  assert.ok(lines().some((m) => m?.method === 'notifications/initialized'), 'the gateway ends the handshake that it began');
  assert.deepEqual(await list(s), [['a__x', 'slow__act', 'slow__hidden'], undefined]);
  assert.equal(lines().filter((m) => m?.method === 'initialize' && m.params.clientInfo.name === 'test').length, 1, 'one child for the session');
  stream.leave();
});

test('with nothing but children that start slowly the handshake waits for the first of them', LIMIT, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'writ-silent-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const child = (name) => ({ config: { stdio: ['/bin/sh', '-c', 'sleep 2; exec "$1" "$2" "$3"', 'sh', process.execPath, SCRIPTED, join(dir, name)], start_timeout: '60s', ...HASTY } });
  const { gw } = await setUp(t, { a: child('a'), b: child('b') });
  const s = await openSession(gw);
  assert.equal(s.opened.result.capabilities.tools !== undefined, true);
  assert.equal((await s.call('a__act', { act: 'echo', say: 'hello' })).said, 'hello');
  assert.equal((await s.call('b__act', { act: 'echo', say: 'hello' })).said, 'hello', 'late or not, it is part of the session');
});

test('a child that never answers holds up no session', LIMIT, async (t) => {
  const { gw } = await setUp(t, { a: { tools: ['x'] }, mute: { config: { stdio: ['/bin/sh', '-c', 'exec sleep 1000'], start_timeout: '10m', ...HASTY } } });
  for (let i = 0; i < 3; i++) {
    const s = await openSession(gw);
    assert.deepEqual(await list(s), [['a__x'], ['mute']]);
    assert.equal((await s.close()).status, 200);
  }
  assert.deepEqual(await list(new Caller(gw, { modern: true })), [['a__x'], ['mute']]);
});
