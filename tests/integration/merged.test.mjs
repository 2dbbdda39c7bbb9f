// One stream to a client, of several upstreams: GET and subscriptions/listen on the endpoint of all.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { startGateway, until } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { Caller, openSession, send } from '../support/js/rpc.mjs';
import { get, post } from '../support/js/stream.mjs';

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const LIST_CHANGED = 'notifications/tools/list_changed';
const changed = (from) => ({ jsonrpc: '2.0', method: LIST_CHANGED, params: { from } });
const from = (stream) => stream.messages.filter((m) => m.method === LIST_CHANGED).map((m) => m.params.from);

/** An upstream whose GET streams the test drives: `streams` has every opened one. */
async function withStream(t) {
  const streams = [];
  const up = await startUpstream(t, {
    onGet: (req, res) => {
      const stream = { last: req.headers['last-event-id'], open: true, res, end: () => res.end(), send: (message, id) =>
        res.write(`${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`) };
      res.on('close', () => { stream.open = false; });
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.flushHeaders();
      streams.push(stream);
    },
  });
  return { up, streams, nth: (n) => until(() => streams[n - 1], `stream ${n}`) };
}

async function setUp(t, ...upstreams) {
  const entries = upstreams.map((u, i) => ['abc'[i], { http: (u.up ?? u).url }]);
  return startGateway(t, { upstreams: Object.fromEntries(entries), tools: {} });
}

test('GET on the merged endpoint is one stream with every message of every upstream once', async (t) => {
  const [a, b] = [await withStream(t), await withStream(t)];
  const without = await startUpstream(t); // answers 405
  const gw = await setUp(t, a, b, without);
  const s = await openSession(gw);
  const stream = await get(gw, s);
  assert.equal(stream.status, 200);
  (await a.nth(1)).send(changed('a1'), '1');
  await stream.has('a1');
  (await b.nth(1)).send(changed('b1'), '1;%3B/x');
  await stream.has('b1');
  a.streams[0].send({ jsonrpc: '2.0', id: 7, method: 'ping' }, '2');
  await stream.has('"a/n/7"');
  assert.deepEqual(from(stream), ['a1', 'b1']);
  assert.deepEqual(stream.events.filter((e) => e.id).map((e) => e.id),
    ['*a/1', '*a/1;b/1%3B%253B/x', '*a/2;b/1%3B%253B/x']);

  // the merged id resumes each upstream at its own id
  stream.leave();
  await until(() => !a.streams[0].open && !b.streams[0].open, 'the streams to the upstreams to be closed');
  const rest = await get(gw, s, '*a/2;b/1%3B%253B/x');
  assert.equal((await a.nth(2)).last, '2');
  assert.equal((await b.nth(2)).last, '1;%3B/x');
  b.streams[1].send(changed('b2'), '2');
  await rest.has('b2');
  assert.equal(rest.events.at(-1).id, '*a/2;b/2');

  // an upstream that ends its stream is asked again, from the last event on
  b.streams[1].res.write('retry: 50\n\n');
  b.streams[1].end();
  assert.equal((await b.nth(3)).last, '2');
  b.streams[2].send(changed('b3'));
  await rest.has('b3');
  assert.ok(!rest.ended);
});

test('a stream that no upstream offers is refused with the upstream\'s status', async (t) => {
  const gw = await setUp(t, await startUpstream(t), await startUpstream(t));
  const s = await openSession(gw);
  const answer = await send(gw.origin,
    { method: 'GET', path: '/mcp',
      headers: s.headers(undefined, { 'content-type': undefined, accept: 'text/event-stream' }) });
  assert.equal(answer.status, 405);
});

test('a lost call on the merged endpoint resumes at its own upstream', async (t) => {
  const a = await withStream(t), b = await withStream(t);
  const gw = await startGateway(t,
    { upstreams: { a: { http: a.up.url }, b: { http: b.up.url } }, tools: { 'b/work': { scope: 'w' } } });
  const s = await openSession(gw);
  b.up.onCall = (call) => { const stream = call.stream(); stream.send(changed('one'), 'id: e1\n'); b.call = call; };
  const body = s.callMessage('b__work');
  const lost = await post(gw, s, body);
  await lost.has('one');
  assert.equal(lost.events.findLast((e) => e.id).id, 'b/e1');
  lost.leave();
  const rest = await get(gw, s, 'b/e1');
  assert.equal((await b.nth(1)).last, 'e1');
  b.streams[0].send({ jsonrpc: '2.0', id: body.id, result: { content: [{ type: 'text', text: 'ran' }] } }, 'e2');
  b.streams[0].end();
  await rest.done();
  assert.equal(rest.events.at(-1).id, 'b/e2');
  assert.equal(rest.messages.at(-1).result.content[0].text, 'ran');
  assert.equal(a.streams.length, 0);
  assert.equal(gw.show(gw.decisions()[0].decision_id).outcome.outcome, 'executed');
});

/** An upstream that listens: `subscriptions` are the requests, answered by the test. */
async function withListen(t) {
  const subscriptions = [];
  const up = await startUpstream(t);
  up.onMessage = (a) => {
    if (a.method !== 'subscriptions/listen') return undefined;
    const stream = a.stream();
    const tagged = (method, params) =>
      stream.send({ jsonrpc: '2.0', method, params: { ...params, _meta: { [SUBSCRIPTION]: a.id } } });
    const subscription = {
      a, stream, open: true, tagged,
      acknowledge: (notifications) => tagged('notifications/subscriptions/acknowledged', { notifications }),
      finish: () => { stream.send({ jsonrpc: '2.0', id: a.id, result: { resultType: 'complete' } }); stream.end(); },
    };
    a.closed.then(() => { subscription.open = false; });
    subscriptions.push(subscription);
    return true;
  };
  return { up, first: () => until(() => subscriptions[0], 'a subscription'), subscriptions };
}

const listen = (c, notifications) => c.message('subscriptions/listen', { notifications }, 'sub-1');
const deaf = (t) => startUpstream(t); // answers -32601

test('a merged subscription is acknowledged once, with all granted parts, and ends with the last one', async (t) => {
  const [a, b] = [await withListen(t), await withListen(t)];
  const gw = await setUp(t, a, b, await deaf(t));
  const c = new Caller(gw, { modern: true });
  const stream = await post(gw, c,
    listen(c, { toolsListChanged: true, promptsListChanged: true,
      resourceSubscriptions: ['x://1', 'x://2', 'x://3'] }));
  const [one, two] = [await a.first(), await b.first()];
  assert.equal(one.a.headers['mcp-method'], 'subscriptions/listen');
  one.tagged(LIST_CHANGED, { from: 'early' }); // kept back until all have acknowledged
  one.acknowledge({ toolsListChanged: true, resourceSubscriptions: ['x://1'] });
  two.acknowledge({ toolsListChanged: true, resourceSubscriptions: ['x://3'] });
  await stream.has('early');
  assert.deepEqual(stream.messages.map((m) => m.method), ['notifications/subscriptions/acknowledged', LIST_CHANGED]);
  assert.deepEqual(stream.messages[0].params, {
    _meta: { [SUBSCRIPTION]: 'sub-1' },
    notifications: { toolsListChanged: true, resourceSubscriptions: ['x://1', 'x://3'] },
  });
  two.tagged(LIST_CHANGED, { from: 'b' });
  await stream.has('"b"');
  assert.ok(stream.messages.every((m) => m.params._meta[SUBSCRIPTION] === 'sub-1'));
  one.finish();
  await until(() => !one.open, 'the first to end');
  two.tagged(LIST_CHANGED, { from: 'later' });
  await stream.has('later');
  two.finish();
  await stream.done();
  assert.ok(stream.ended);
  assert.deepEqual(stream.messages.filter((m) => m.id !== undefined),
    [{ jsonrpc: '2.0', id: 'sub-1', result: { resultType: 'complete' } }]);
});

test('an upstream that does not acknowledge delays the others only briefly', async (t) => {
  const [a, b] = [await withListen(t), await withListen(t)];
  const gw = await setUp(t, a, b);
  const c = new Caller(gw, { modern: true });
  const stream = await post(gw, c, listen(c, { toolsListChanged: true }));
  (await a.first()).acknowledge({ toolsListChanged: true });
  await stream.has('acknowledged');
  (await b.first()).acknowledge({ toolsListChanged: true });
  b.subscriptions[0].tagged(LIST_CHANGED, { from: 'b' });
  await stream.has('"b"');
  assert.equal(stream.messages.filter((m) => m.method !== LIST_CHANGED).length, 1);
});

test('a merged subscription is cut when one part breaks, so that the client subscribes again', async (t) => {
  const [a, b] = [await withListen(t), await withListen(t)];
  const gw = await setUp(t, a, b);
  const c = new Caller(gw, { modern: true });
  const stream = await post(gw, c, listen(c, { toolsListChanged: true }));
  (await a.first()).acknowledge({ toolsListChanged: true });
  (await b.first()).acknowledge({ toolsListChanged: true });
  await stream.has('acknowledged');
  b.subscriptions[0].stream.destroy();
  await stream.done();
  assert.ok(stream.cut);
  assert.ok(!stream.messages.some((m) => m.id !== undefined));
  await until(() => !a.subscriptions[0].open, 'the other upstream to be left');
});

test('a client that leaves its subscription ends it at every upstream', async (t) => {
  const [a, b] = [await withListen(t), await withListen(t)];
  const gw = await setUp(t, a, b);
  const c = new Caller(gw, { modern: true });
  const stream = await post(gw, c, listen(c, { toolsListChanged: true }));
  (await a.first()).acknowledge({});
  (await b.first()).acknowledge({});
  await stream.has('acknowledged');
  stream.leave();
  await until(() => !a.subscriptions[0].open && !b.subscriptions[0].open, 'the subscriptions to end');
});

test('a subscription that every upstream refuses gets the first refusal', async (t) => {
  const gw = await setUp(t, await deaf(t), await deaf(t));
  const c = new Caller(gw, { modern: true });
  const answer = await c.post(listen(c, {}));
  assert.equal(answer.error.code, -32601);
});

for (const path of ['/mcp', '/mcp/a']) {
  test(`JSON lines on subscriptions/listen are forwarded as they arrive, on ${path}`, async (t) => {
    const up = await startUpstream(t);
    let res;
    up.onMessage = (a) => {
      if (a.method !== 'subscriptions/listen') return undefined;
      res = a.res;
      res.writeHead(200, { 'content-type': 'application/json' });
      res.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged',
        params: { notifications: {}, _meta: { [SUBSCRIPTION]: a.id } } })}\n`);
      return true;
    };
    const gw = await setUp(t, up, await deaf(t));
    const c = new Caller(gw, { modern: true, path });
    const stream = await post(gw, c, listen(c, {}));
    await stream.has('acknowledged');
    assert.match(stream.headers['content-type'], /^text\/event-stream/);
    const line = JSON.stringify(changed('late'));
    res.write(line.slice(0, 20));
    res.write(`${line.slice(20)}\r\n\n`);
    await stream.has('late');
    res.end(JSON.stringify({ jsonrpc: '2.0', id: 'sub-1', result: { resultType: 'complete' } }));
    await stream.done();
    assert.ok(stream.ended);
    assert.equal(stream.messages.at(-1).result.resultType, 'complete');
  });
}

test('one JSON body on subscriptions/listen is one answer in every layout', async (t) => {
  const up = await startUpstream(t);
  let text;
  up.onMessage = (a) => (a.method === 'subscriptions/listen' ? (a.json(text(a.id)), true) : undefined);
  const gw = await setUp(t, up);
  const c = new Caller(gw, { modern: true, path: '/mcp/a' });
  const error = (id) => ({ jsonrpc: '2.0', id, error: { code: -32603, message: 'no' } });
  for (text of [(id) => JSON.stringify(error(id)), (id) => `${JSON.stringify(error(id))}\n`,
      (id) => JSON.stringify(error(id), null, 2)]) {
    const answer = await c.post(listen(c, {}));
    assert.ok(!answer.isStream);
    assert.equal(answer.error.code, -32603);
  }
});
