// One child process serves all clients over its standard streams: each client gets only its own messages, and a fault
// of the child ends the child, not the gateway.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import http from 'node:http';
import { join, resolve } from 'node:path';
import { SOURCE, bearer, linesOf, mkdirSync, prepare, readFileSync, until,
  writeFileSync } from '../support/js/gateway.mjs';
import { Caller, openSession, send } from '../support/js/rpc.mjs';

const SCRIPT = resolve(SOURCE, 'tests/support/servers/child.mjs');
const A = bearer('a', { tenant: 'one' });
const B = bearer('b', { tenant: 'two' });
const text = { arg: 'text', op: 'type', value: 'string' };
const TOOLS = Object.fromEntries(['echo', 'pair', 'never', 'tell', 'flood', 'long', 'die', 'ping']
  .map((name) => [`child/${name}`, { scope: name, arguments: [text], timeout: '60s' }]));

async function setUp(t, { refuse = 0, ...config } = {}) {
  const gw = prepare(t, { agents: [A.entry, B.entry], tools: TOOLS, ...config });
  const dir = gw.path('child');
  mkdirSync(dir);
  writeFileSync(join(dir, 'refuse'), String(refuse));
  gw.configure({ ...JSON.parse(readFileSync(gw.configFile, 'utf8')),
    upstreams: { child: { stdio: [process.execPath, SCRIPT, dir], sharing: 'all' } } });
  await gw.start();
  const lines = (name) => linesOf(join(dir, name));
  return { gw, lines, read: () => lines('lines').map((l) => JSON.parse(l)) };
}

const outcomes = (gw) => gw.decisions().map((d) => gw.show(d.decision_id).outcome);

test('two clients that use the same id each get their own answer', async (t) => {
  const { gw, read } = await setUp(t);
  const [a, b] = await Promise.all([openSession(gw, { token: A.token }), openSession(gw, { token: B.token })]);
  const [one, two] = await Promise.all([a, b].map((s) => s.call('child__pair', { text: s.token }, { id: 7 })));
  assert.deepEqual([one.said, two.said], [A.token, B.token]);
  assert.deepEqual([one.message.id, two.message.id], [7, 7]);
  const ids = read().filter((m) => m.method === 'tools/call').map((m) => m.id);
  assert.equal(new Set(ids).size, 2);
});

test('a subscription without params is forwarded to the child and blocks no call', async (t) => {
  const { gw } = await setUp(t);
  const client = await openSession(gw, { token: A.token, path: '/mcp/child' });
  for (const method of ['resources/subscribe', 'resources/unsubscribe', 'logging/setLevel']) {
    const said = new AbortController();
    client.request(method, undefined, { signal: said.signal }).catch(() => {});
    assert.equal((await client.call('echo', { text: method })).said, method);
    said.abort();
  }
});

test('a client cancels only its own request', async (t) => {
  const { gw, read } = await setUp(t);
  const [a, b] = [await openSession(gw, { token: A.token }), await openSession(gw, { token: B.token })];
  const waits = [a, b].map((s) => s.call('child__never', { text: s.token }, { id: 7 }).catch(() => {}));
  const call = (token) => read().find((m) => m.method === 'tools/call' && m.params.arguments.text === token);
  await until(() => call(A.token) && call(B.token), 'both calls to arrive');
  await b.notify('notifications/cancelled', { requestId: 7 });
  const cancelled = await until(() => read().find((m) => m.method === 'notifications/cancelled'), 'the cancellation');
  assert.equal(cancelled.params.requestId, call(B.token).id);
  await gw.stop('SIGKILL');
  await Promise.all(waits);
});

test('messages of a child for one client reach no other', async (t) => {
  const { gw } = await setUp(t);
  const [a, b] = [await openSession(gw, { token: A.token }), await openSession(gw, { token: B.token })];
  let heard = '', opened = false;
  const leave = new AbortController();
  const listening = send(gw.origin, {
    method: 'GET', headers: b.headers(undefined, { accept: 'text/event-stream' }), signal: leave.signal,
    onResponse: (res) => { opened = true; res.on('data', (d) => { heard += d; }); },
  }).catch(() => {});
  await until(() => opened, 'the stream');
  assert.equal((await a.call('child__tell', { text: 'canary' })).said, 'told');
  await until(() => heard.includes('list_changed'), 'the notice for all');
  assert.ok(!heard.includes('canary'), heard);
  leave.abort();
  await listening;
});

test('a child that refuses the handshake is restarted, and waiting requests are answered', async (t) => {
  const { gw, lines } = await setUp(t, { refuse: 2 });
  const s = await openSession(gw, { token: A.token });
  assert.equal((await s.call('child__echo', { text: 'hello' })).said, 'hello');
  assert.equal(lines('starts').length, 3);
  assert.equal(gw.log.filter((l) => l.event === 'upstream_ended' && l.why === 'rejected').length, 2);
});

test('a slow client may lose progress, never the answer, and uses no memory for it', async (t) => {
  const { gw } = await setUp(t);
  const s = await openSession(gw, { token: A.token });
  const body = s.callMessage('child__flood', { text: 'x' }, { meta: { progressToken: 'mine' } });
  const bytes = JSON.stringify(body);
  const res = await new Promise((done, fail) => {
    http.request(gw.url,
        { method: 'POST', agent: false, headers: { ...s.headers(body), 'content-length': bytes.length } }, (r) => {
      r.pause();
      done(r);
    })
      .on('error', fail).end(bytes);
  });
  await until(() => outcomes(gw)[0] || gw.gone, 'the outcome', 3000).catch(() => {}); // it may wait for the reader
  const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gw.child.pid}/status`, 'utf8'))[1]);
  if (!process.env.WRIT_SANITIZED) assert.ok(rss < 160 << 10, `${rss} KiB`);
  let all = '';
  for await (const piece of res.setEncoding('utf8')) all += piece;
  assert.ok(all.includes('flooded'));
  assert.ok(all.includes('"progressToken":"mine"'));
  assert.ok(!/"progressToken":\d/.test(all));
});

test('a child that dies or exceeds its output limit fails the call and is restarted', async (t) => {
  const { gw, lines } = await setUp(t, { limits: { event: '2MiB' } });
  const s = await openSession(gw, { token: A.token });
  for (const [i, tool] of ['die', 'long'].entries()) {
    const answer = await s.call(`child__${tool}`, { text: 'x' });
    assert.equal(answer.reason, 'upstream_failed');
    assert.equal(answer.refusal.execution, 'unknown');
    await until(() => lines('starts').length === i + 2, 'the next child');
    assert.equal((await s.call('child__echo', { text: String(i) })).said, String(i));
    assert.equal((await s.call(`child__${tool}`, { text: 'x' })).reason, 'duplicate_outcome');
  }
});

test('a child may send its client a ping and no other request', async (t) => {
  const { gw, read } = await setUp(t);
  const s = await openSession(gw, { token: A.token });
  assert.equal((await s.call('child__ping', { text: 'x' })).said, 'pinged');
  assert.deepEqual(read().find((m) => m.id === 'p1').result, {});
  assert.equal(read().find((m) => m.id === 'p2').error.code, -32601);
});

test('a gateway that stops during a call records its outcome as unknown', async (t) => {
  const { gw, read } = await setUp(t);
  const s = await openSession(gw, { token: A.token });
  const call = s.call('child__never', { text: 'x' }).catch(() => 'cut');
  await until(() => read().some((m) => m.method === 'tools/call'), 'the call to arrive');
  const { code } = await gw.stop();
  assert.equal(code, 0);
  await call;
  await gw.start();
  assert.equal(outcomes(gw)[0].outcome, 'error');
  assert.notEqual(outcomes(gw)[0].error_type, 'not_sent');
});

test('a call that could not be sent to a stdio server frees its key', async (t) => {
  const { gw } = await setUp(t);
  const modern = new Caller(gw, { token: A.token, modern: true });
  assert.equal((await modern.call('child__echo', { text: 'x' }, { key: 'k' })).status, 400);
  assert.equal(outcomes(gw)[0].error_type, 'not_sent');
  const s = await openSession(gw, { token: A.token });
  assert.equal((await s.call('child__echo', { text: 'x' }, { key: 'k' })).said, 'x');
});

test('updates of a resource reach only its subscribers among the clients of a child', async (t) => {
  const { gw, read } = await setUp(t);
  const [a, b] = [await openSession(gw, { token: A.token, path: '/mcp/child' }),
    await openSession(gw, { token: B.token, path: '/mcp/child' })];
  assert.equal((await b.request('resources/subscribe', { uri: 'file:///canary' })).error.code, -32601,
    'the child has the last word');
  const leave = new AbortController();
  const heard = [a, b].map((s) => {
    const stream = { text: '' };
    stream.done = send(gw.origin,
      { method: 'GET', path: '/mcp/child', headers: s.headers(undefined, { accept: 'text/event-stream' }),
        signal: leave.signal,
      onResponse: (res) => { stream.open = true; res.on('data', (d) => { stream.text += d; }); } }).catch(() => {});
    return stream;
  });
  await until(() => heard.every((h) => h.open), 'both streams');
  assert.equal((await a.call('tell', { text: 'canary' })).said, 'told');
  await until(() => heard.every((h) => h.text.includes('list_changed')), 'the notice for all');
  assert.deepEqual(heard.map((h) => h.text.includes('file:///canary')), [false, true]);
  assert.ok(read().some((m) => m.method === 'resources/subscribe'));
  await a.request('resources/subscribe', { uri: 'file:///canary' });
  assert.deepEqual((await b.request('resources/unsubscribe', { uri: 'file:///canary' })).result, {});
  assert.ok(!read().some((m) => m.method === 'resources/unsubscribe'), 'the other one is still subscribed');
  assert.equal((await a.call('tell', { text: 'canary' }, { key: 'again' })).said, 'told');
  await until(() => heard[0].text.includes('file:///canary'), 'the update');
  assert.equal(heard[1].text.split('file:///canary').length, 2, 'no second one');
  await a.request('resources/unsubscribe', { uri: 'file:///canary' });
  assert.ok(read().some((m) => m.method === 'resources/unsubscribe'));
  leave.abort();
  await Promise.all(heard.map((h) => h.done));
});
