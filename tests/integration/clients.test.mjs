// Real clients and servers of both protocol families with the gateway between them: everything that works without the
// gateway works through it, except where a rule forbids it.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { startGateway, until } from '../support/js/gateway.mjs';
import { CLIENTS, TOOLS, fresh, number, refusalOf, rules, useEverything } from '../support/js/clients.mjs';
import { sdk1 } from '../support/npm/peers.mjs';
import { Caller, openSession, send } from '../support/js/rpc.mjs';
import { startSdkUpstream } from '../support/servers/sdk-upstream.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

let cleanups = [];
const scope = { after: (fn) => cleanups.push(fn) };
let up, gw;

before(async () => {
  up = await startSdkUpstream(scope);
  gw = await startGateway(scope, { upstreams: { up: { http: up.url } }, tools: rules('up') });
});

after(async () => {
  for (const fn of cleanups.reverse()) await fn();
});

for (const [name, connect] of Object.entries(CLIENTS)) {
  for (const [path, prefix] of [['/mcp', 'up__'], ['/mcp/up', '']])
    test(`${name} works as if the gateway were the server, on ${path}`, () =>
      useEverything(connect, gw.origin + path, prefix));
}

test('a tool without a rule never ran, and every call that ran has its record', async () => {
  assert.equal(up.effects.hidden, undefined);
  const granted = gw.decisions().filter((d) => d.granted);
  assert.equal(granted.length, up.calls().length);
  assert.deepEqual(new Set(granted.map((d) => d.outcome)), new Set(['executed']));
  gw.verify();
});

for (const [name, connect] of Object.entries(CLIENTS)) {
  test(`${name} cancels a call: the server gets the notification, and the claim stays`, async () => {
    const { call, close } = await connect(gw.url);
    const who = fresh(name);
    const abort = new AbortController();
    const running = call({ name: 'up__wait', arguments: { name: who } }, { signal: abort.signal });
    await until(() => up.waiting.has(who), 'the call to run');
    abort.abort(new Error('changed my mind'));
    await assert.rejects(running);
    await until(() => up.cancelled.includes(who), 'the server to hear of it');
    assert.match((await refusalOf(call({ name: 'up__wait', arguments: { name: who } }))).reason, /^duplicate_/);
    await close();
  });
}

test('notifications of the server reach their own session', async () => {
  const { Client, StreamableHTTPClientTransport, ToolListChangedNotificationSchema } = await sdk1();
  const client = new Client({ name: 'v1', version: '1' }, { capabilities: {} });
  let changed = 0;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => { changed++; });
  const before1 = up.servers.length;
  const streams = up.requests.filter((r) => r.http === 'GET').length;
  await client.connect(new StreamableHTTPClientTransport(new URL(gw.url)));
  await until(() => up.requests.filter((r) => r.http === 'GET').length > streams, 'the stream of the session');
  await until(async () => {
    await up.servers[before1].sendToolListChanged(); // its stream may be a moment younger than its request
    return changed > 0;
  }, 'the notice');
  await client.close();
});

test('with several upstreams, prefixed names route each call and credential to its own upstream', async (t) => {
  const [a, b] = [await startSdkUpstream(t, { eras: 'legacy' }), await startSdkUpstream(t)];
  const two = await startGateway(t,
    { upstreams: { one: { http: a.url }, two: { http: b.url, resource: 'urn:two' } }, tools: rules('one', 'two') });
  const { client, call, close } = await CLIENTS['SDK v2'](two.url);
  const names = (await client.listTools()).tools.map((x) => x.name);
  assert.deepEqual(names, ['one', 'two'].flatMap((u) => Object.keys(TOOLS).map((x) => `${u}__${x}`)));
  assert.deepEqual((await client.listPrompts()).prompts.map((p) => p.name), ['one__greet', 'two__greet']);
  assert.equal((await client.getPrompt({ name: 'two__greet', arguments: { name: 'Bo' } })).messages[0].content.text,
    'Greet Bo');
  assert.equal((await client.readResource({ uri: 'test://note' })).contents[0].text, 'a note');
  await call({ name: 'one__echo', arguments: { message: 'same' } });
  await call({ name: 'two__echo', arguments: { message: 'same' } });
  assert.deepEqual([a.calls().length, b.calls().length], [1, 1], 'the same call of another upstream is another call');
  const audience = (state) =>
    JSON.parse(Buffer.from(state.calls()[0].headers['writ-credential'].split('.')[1], 'base64url')).aud;
  assert.deepEqual([audience(a), audience(b)], [a.url, 'urn:two']);
  assert.equal((await refusalOf(call({ name: 'three__echo', arguments: { message: 'x' } }))).reason, 'tool_not_listed');
  assert.equal((await refusalOf(call({ name: 'echo', arguments: { message: 'x' } }))).reason, 'tool_not_listed');
  await close();
  const alone = await CLIENTS['SDK v2'](`${two.origin}/mcp/two`);
  assert.equal((await alone.call({ name: 'ask', arguments: { question: 'ok?' } })).content[0].text, 'They said yes',
    'an answer finds the server that asked');
  await alone.close();

  const modern = await CLIENTS['SDK v2, modern'](`${two.origin}/mcp/two`);
  assert.deepEqual((await modern.client.listTools()).tools.map((x) => x.name), Object.keys(TOOLS));
  await modern.call({ name: 'echo', arguments: { message: 'modern' } });
  assert.equal(b.calls().length, 3, 'echo, ask, echo');
  await modern.close();
  two.verify();
});

test('an upstream that is down affects no other', async (t) => {
  const [a, b] = [await startUpstream(t, { tools: ['x'] }), await startUpstream(t, { tools: ['y'] })];
  const two = await startGateway(t,
    { upstreams: { a: { http: a.url }, b: { http: b.url } }, tools: { 'a/x': { scope: 's' }, 'b/y': { scope: 's' } } });
  await b.close();
  const s = await openSession(two);
  const list = await s.request('tools/list');
  assert.deepEqual(list.result.tools.map((x) => x.name), ['a__x']);
  assert.deepEqual(list.result._meta['io.writ/unavailable'], ['b'], 'what is missing is said');
  assert.equal((await s.call('a__x')).said, 'ran 1');
  assert.equal((await s.call('b__y')).reason, 'upstream_unavailable');
});

test('an upstream whose list breaks off is named, and its earlier pages are listed', async (t) => {
  const whole = await startUpstream(t, { tools: ['x'] });
  const breaking = await startUpstream(t);
  const two = await startGateway(t, { upstreams: { a: { http: whole.url }, b: { http: breaking.url } },
    tools: { 'a/**': { scope: 's' }, 'b/**': { scope: 's' } }, limits: { response: '1MiB' } });
  const s = await openSession(two);
  const tool = (name) => ({ name, inputSchema: { type: 'object' } });
  const ways = {
    error: (a) => a.error(-32603, 'lost the cursor'), status: (a) => a.error(-32603, 'no', 500),
    page: (a) => a.json('<html>', 502, { 'content-type': 'text/html' }),
    closed: (a) => a.destroy(), 'no JSON': (a) => a.json('{"jsonrpc":'), 'no result': (a) =>
      a.json({ jsonrpc: '2.0', id: a.id }), 'a number': (a) => a.result({ tools: [], nextCursor: 7 }),
    'too large': (a) => a.result({ tools: [tool('z'.repeat(2 << 20))] }), array: (a) => a.json([]),
  };
  for (const [name, way] of Object.entries(ways)) {
    breaking.onMessage = (a) => {
      if (a.method !== 'tools/list') return undefined;
      if (a.params?.cursor === undefined)
        a.result({ tools: [tool('y')], nextCursor: 'more', _meta: { kept: 1, 'io.writ/unavailable': ['a'] } });
      else way(a);
      return true;
    };
    const list = await s.request('tools/list');
    assert.deepEqual(list.result?.tools.map((x) => x.name), ['a__x', 'b__y'], `${name}: ${list.text}`);
    assert.deepEqual(list.result._meta['io.writ/unavailable'], ['b'], name);
  }
  // a broken first page is not a list either; an error that the server reports is an answer
  for (const [name, way] of Object.entries({ closed: ways.closed, page: ways.page, 'no JSON': ways['no JSON'] })) {
    breaking.onMessage = (a) => (a.method === 'tools/list' ? (way(a), true) : undefined);
    assert.deepEqual((await s.request('tools/list')).result._meta['io.writ/unavailable'], ['b'], name);
  }
  breaking.onMessage = (a) => (a.method === 'tools/list' ? (a.error(-32601, 'Method not found'), true) : undefined);
  assert.equal((await s.request('tools/list')).result._meta, undefined);
});

test('lists of several pages are whole, and filtered on every page', async (t) => {
  const tools = Array.from({ length: 25 },
    (_, i) => ({ name: `t${i}`, inputSchema: { type: 'object', $defs: { x: { const: 1e3 } } }, 'x-own': 1.50 }));
  const paged = await startUpstream(t);
  paged.onMessage = (a) => {
    if (a.method !== 'tools/list') return undefined;
    const from = Number(a.params?.cursor ?? 0);
    a.result({ tools: tools.slice(from, from + 10),
      ...(from + 10 < tools.length ? { nextCursor: String(from + 10) } : {}) });
    return true;
  };
  const one = await startGateway(t,
    { upstreams: { p: { http: paged.url } }, tools: { 'p/t1*': { scope: 's' }, 'p/t2': { scope: 's' } } });
  const want = tools.filter((x) => /^t1|^t2$/.test(x.name));
  const all = await openSession(one);
  const list = (await all.request('tools/list')).result;
  assert.deepEqual(list.tools, want.map((x) => ({ ...x, name: `p__${x.name}` })));
  assert.equal(list.nextCursor, undefined);
  const alone = await openSession(one, { path: '/mcp/p' });
  const seen = [];
  for (let cursor; ;) {
    const { result } = await alone.request('tools/list', cursor === undefined ? {} : { cursor });
    seen.push(...result.tools);
    cursor = result.nextCursor;
    if (cursor === undefined) break;
  }
  assert.deepEqual(seen, want);
});

// ---- what an upstream may not do to a client

const SSE = (...messages) =>
  messages.map((m) => `event: message\ndata: ${typeof m === 'string' ? m : JSON.stringify(m)}\n\n`).join('');

test('a stream carries one answer, and only to its own request', async (t) => {
  const bad = await startUpstream(t);
  const gw2 = await startGateway(t,
    { upstreams: { up: { http: bad.url } }, tools: { 'up/x': { scope: 's', arguments: [number('n')] } } });
  const callers = [await openSession(gw2), await openSession(gw2, { path: '/mcp/up' }),
    new Caller(gw2, { modern: true })];
  const good = (a) =>
    ({ jsonrpc: '2.0', id: a.id, result: { content: [{ type: 'text', text: 'ok' }], resultType: 'complete' } });
  const note = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'note' } };
  let n = 0;
  const tricks = {
    'a foreign id first': (a) =>
      SSE({ ...good(a), id: 4711 }, { jsonrpc: '2.0', id: 'abc', error: { code: 1, message: 'x' } }, note, good(a)),
    'its own answer twice': (a) => SSE(note, good(a), good(a), note),
    'the id as another type': (a) => SSE({ ...good(a), id: String(a.id) }, note, good(a)),
    'an answer without id': (a) => SSE({ jsonrpc: '2.0', result: {} }, note, good(a)),
    'a foreign answer in escapes': (a) => SSE('{"jsonrpc":"2.0","id":4711,"re\\u0073ult":{"content":[]}}', note,
      good(a)),
    'bare carriage returns': (a) =>
      `data: ${JSON.stringify(note)}\r\rdata: ${JSON.stringify({ ...good(a), id: 4711 })}\r\rdata: ` +
        `${JSON.stringify(good(a))}\r\r`,
    'several data lines': (a) =>
      `data: ${JSON.stringify(note)}\n\ndata: {"jsonrpc":"2.0",\ndata: "id":` +
        `${JSON.stringify(a.id)},"result":{"content":[{"type":"text","text":"ok"}]}}\n\n`,
    'comments and unknown fields': (a) => `: hello\nfoo: bar\nretry: 1\n\n${SSE(note)}: bye\n\n${SSE(good(a))}`,
    'a batch': (a) => SSE(note, [{ ...good(a), id: 4711 }], good(a)),
    'no JSON': (a) => SSE(note, 'oops', good(a)),
  };
  for (const [name, make] of Object.entries(tricks)) {
    for (const caller of callers) {
      bad.onCall = (a) => { const s = a.stream(); s.raw(make(a)); s.end(); };
      const id = 1000 + n;
      const answer = await caller.call(caller.path === '/mcp' ? 'up__x' : 'x', { n: n++ }, { id });
      const responses = answer.messages.flat().filter((m) => m.method === undefined);
      assert.equal(responses.length, 1, `${name}: ${answer.text}`);
      assert.equal(responses[0].id, id, `${name}: ${answer.text}`);
      assert.equal(responses[0].result?.content[0].text, 'ok', `${name}: ${answer.text}`);
      assert.ok(answer.events.every((e) => e.data === undefined || !e.data.includes('\r')), name);
      assert.ok(answer.messages.some((m) => m.method === 'notifications/message'), `${name}: ${answer.text}`);
    }
  }
  gw2.verify();
});

test('a result in any spelling is delivered only after its outcome is durable', async (t) => {
  const bad = await startUpstream(t);
  const gw2 = await startGateway(t,
    { upstreams: { up: { http: bad.url } }, tools: { 'up/x': { scope: 's', arguments: [number('n')] } } });
  const s = await openSession(gw2);
  let release;
  for (const [n, key] of ['"result"', '"re\\u0073ult"', '"\\u0072esult"'].entries()) {
    const held = new Promise((resolve) => { release = resolve; });
    bad.onCall = async (a) => {
      const stream = a.stream();
      stream.raw(`data: {"jsonrpc":"2.0","id":${a.id},${key}:{"content":[{"type":"text","text":"ok"}]}}\n\n`);
      await held;
      stream.end();
    };
    let early = '';
    const answer = s.call('up__x', { n }, { onResponse: (res) => res.on('data', (d) => { early += d; }) });
    await until(() => early !== '' || gw2.decisions().at(-1)?.outcome != null, 'an outcome or an answer');
    if (early.includes('ok'))
      assert.equal(gw2.decisions().at(-1).outcome, 'executed', `${key}: shown before it was recorded`);
    release();
    assert.equal((await answer).said, 'ok', key);
    assert.equal(gw2.decisions().at(-1).outcome, 'executed');
  }
});

test('an answer is delivered when it arrives, also while its stream stays open', async (t) => {
  const bad = await startUpstream(t);
  const gw2 = await startGateway(t,
    { upstreams: { up: { http: bad.url } }, tools: { 'up/x': { scope: 's', timeout: '24h' } } });
  const s = await openSession(gw2);
  // and never ends: who waits for that waits until the test is over
  bad.onCall = (a) =>
    a.stream().send({ jsonrpc: '2.0', id: a.id, result: { content: [{ type: 'text', text: 'ok' }] } });
  assert.equal((await s.call('up__x')).said, 'ok');
});

test('a client that reads slowly gets every event and the answer', async (t) => {
  const busy = await startUpstream(t);
  const gw2 = await startGateway(t,
    { upstreams: { up: { http: busy.url } }, tools: { 'up/x': { scope: 's', timeout: '60s' } } });
  const s = await openSession(gw2);
  const pad = 'x'.repeat(30_000);
  const count = 600; // 18 MB: more than sockets and queues take
  busy.onCall = async (a) => {
    const stream = a.stream();
    for (let progress = 1; progress <= count; progress++) {
      const more = stream.raw(
        `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress',
          params: { progressToken: 1, progress, message: pad } })}\n\n`);
      if (!more) await Promise.race([new Promise((r) => a.res.once('drain', r)), a.closed]);
    }
    stream.send({ jsonrpc: '2.0', id: a.id, result: { content: [{ type: 'text', text: 'ok' }] } });
    stream.end();
  };
  const answer = await s.call('up__x', {}, { onResponse: (res) => {
    res.pause();
    setTimeout(() => res.resume(), 700);
  } });
  assert.equal(answer.said, 'ok');
  assert.deepEqual(answer.messages.slice(0, -1).map((m) => m.params.progress),
    Array.from({ length: count }, (_, i) => i + 1));
  gw2.verify();
});

test('a server of the stateless revision cannot ask a client anything on a stream', async (t) => {
  const bad = await startUpstream(t);
  const gw2 = await startGateway(t, { upstreams: { up: { http: bad.url } }, tools: { 'up/x': { scope: 's' } } });
  const modern = new Caller(gw2, { modern: true });
  bad.onCall = (a) => {
    const s = a.stream();
    s.send({ jsonrpc: '2.0', id: 1, method: 'sampling/createMessage', params: { messages: [] } });
    s.raw('data: {"jsonrpc":"2.0","id":2,"m\\u0065thod":"elicitation/create","params":{}}\n\n');
    s.send({ jsonrpc: '2.0', id: a.id, result: { content: [{ type: 'text', text: 'ok' }], resultType: 'complete' } });
    s.end();
  };
  const answer = await modern.call('up__x');
  assert.deepEqual(answer.messages.filter((m) => m.method !== undefined), [], answer.text);
  assert.equal(answer.said, 'ok');
});

test('headers and error pages of an upstream reach no client', async (t) => {
  const bad = await startUpstream(t);
  const gw2 = await startGateway(t,
    { upstreams: { up: { http: bad.url } }, tools: { 'up/x': { scope: 's', arguments: [number('n')] } } });
  const s = await openSession(gw2);
  const headers = {
    'set-cookie': 'a=b', 'access-control-allow-origin': '*', refresh: '0', 'alt-svc': 'h3=":1"',
    'mcp-session-id': 'theirs', 'proxy-authenticate': 'Basic', 'www-authenticate': 'Basic',
    server: 'theirs', 'x-powered-by': 'theirs', link: '<x>', 'strict-transport-security': 'max-age=1',
    location: 'http://evil.test/',
  };
  const check = (answer) => {
    for (const name of Object.keys(headers))
      assert.equal(answer.headers[name], undefined, `${name}: ${answer.headers[name]}`);
    assert.ok(!answer.text.includes('evil'), answer.text);
  };
  bad.onCall = (a) => a.result({ content: [] }, headers);
  check(await s.call('up__x', { n: 1 }));
  bad.onCall = (a) => {
    const stream = a.stream(headers);
    stream.send({ jsonrpc: '2.0', id: a.id, result: { content: [] } });
    stream.end();
  };
  check(await s.call('up__x', { n: 2 }));
  for (const [i, status] of [302, 400, 401, 403, 404, 407, 429, 500, 503].entries()) {
    bad.onMessage = (a) => {
      if (!['tools/call', 'prompts/get'].includes(a.method)) return undefined;
      a.res.writeHead(status, { 'content-type': 'text/html', ...headers }).end('<h1>evil</h1>');
      return true;
    };
    const call = await s.call('up__x', { n: 10 + i });
    check(call);
    assert.equal(call.status, 200);
    assert.ok(call.error);
    const passed = await s.request('prompts/get', { name: 'up__p' });
    check(passed);
    assert.ok(passed.status >= 400, `${status}`);
  }
  // the one that does, and only where nothing was decided
  bad.onMessage = (a) => (['tools/call', 'prompts/get'].includes(a.method)
    ? (a.json({ jsonrpc: '2.0', id: a.id, error: { code: -1, message: 'later' } }, 503, { 'retry-after': '7' }), true)
    : undefined);
  assert.equal((await s.request('prompts/get', { name: 'up__p' })).headers['retry-after'], '7');
  assert.equal((await s.call('up__x', { n: 30 })).headers['retry-after'], undefined);
  gw2.verify();
});

test('a malformed HTTP request gets the status that clients expect', async () => {
  const s = await openSession(gw);
  const status = async (options) => (await send(gw.origin, { headers: s.headers(), ...options })).status;
  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  const json = (more) => ({ ...s.headers(), ...more });
  assert.equal(await status({ body: ping }), 200);
  assert.equal(await status({ method: 'OPTIONS', headers: {} }), 405);
  assert.equal(await status({ method: 'OPTIONS' }), 405);
  assert.equal(await status({ path: '/other', body: ping }), 404);
  assert.equal(await status({ path: '/mcp/none', body: ping }), 404);
  assert.equal(await status({ path: '/MCP', body: ping }), 404);
  assert.equal(await status({ body: ping, headers: json({ 'content-type': 'text/plain' }) }), 415);
  assert.equal(await status({ body: ping, headers: json({ 'content-encoding': 'gzip' }) }), 415);
  assert.equal(await status({ body: ping, headers: json({ origin: 'http://evil.test' }) }), 403);
  assert.equal(await status({ body: ping, headers: json({ host: 'evil.test' }) }), 403);
  assert.equal(await status({ body: ping, headers: json({ 'mcp-session-id': 'nobody' }) }), 404);
  assert.equal(await status({ body: '{"jsonrpc":"2.0","id":1,"method":"no/such"}' }), 200);
  const unknown = await s.request('no/such');
  assert.equal(unknown.error.code, -32601);
  const modern = new Caller(gw, { modern: true });
  const gone = await modern.request('ping/nothing');
  assert.deepEqual([gone.status, gone.error.code], [404, -32601]);
  assert.equal((await modern.request('tools/list', {}, { headers: { 'mcp-protocol-version': '2030-01-01' } })).status,
    400);
  assert.equal((await s.notify('notifications/whatever')).status, 202);
  assert.equal(await status({ body: 'x'.repeat(5 << 20) }).catch(() => 413), 413);
});
