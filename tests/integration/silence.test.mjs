// Long silence on streams, and requests of a server during a call.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGateway, until } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';
import { get, post } from '../support/js/stream.mjs';

const notice = (data) => ({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } });
const response = (id, text) => ({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } });
const SHORT = '400ms'; // an upstream's patience; that of the tool is longer
const KEEP_ALIVE_MS = 15_000;

const RULES = { 'up/work': { scope: 'work', timeout: '30s' }, 'up/stream': { scope: 'stream', timeout: '30s' },
  'up/hasty': { scope: 'hasty' } };

test('only the tool\'s time limit ends a silent call', async (t) => {
  const up = await startUpstream(t);
  const gw = await startGateway(t, { upstreams: { up: { http: up.url, timeout: SHORT } }, tools: RULES });
  const s = await openSession(gw);
  up.onCall = async (a) => {
    if (a.name !== 'stream') {
      await sleep(1500);
      return a.text('ran');
    }
    const stream = a.stream();
    await sleep(1500);
    stream.send(notice('half'));
    await sleep(1500);
    stream.send(response(a.id, 'ran'));
    return stream.end();
  };
  const [whole, streamed, hasty] = await Promise.all([
    s.call('up__work', {}), s.call('up__stream', {}), s.call('up__hasty', {}),
  ]);
  assert.equal(whole.said, 'ran');
  assert.equal(streamed.said, 'ran');
  assert.equal(hasty.reason, 'upstream_timeout');
});

test('silent streams stay open, and the gateway sends heartbeats to the client',
    async (t) => {
  const held = {};
  const up = await startUpstream(t, {
    onGet: (req, res) => {
      held.get = res;
      res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    },
  });
  up.onMessage = (a) => (a.method === 'subscriptions/listen' ? (held.listen = a.stream(), true) : undefined);
  const gw = await startGateway(t, { upstreams: { up: { http: up.url, timeout: SHORT } }, tools: RULES });
  const s = await openSession(gw), c = new Caller(gw, { modern: true });
  up.onCall = (a) => { held.call = a; held.stream = a.stream(); };
  const streams = await Promise.all([
    get(gw, s), post(gw, c, c.message('subscriptions/listen', { notifications: {} })),
    post(gw, s, s.callMessage('up__work', {})),
  ]);
  await sleep(KEEP_ALIVE_MS + 2000);
  for (const stream of streams) {
    assert.ok(!stream.ended && !stream.cut);
    assert.match(stream.text, /^(:\n\n)+$/);
  }
  held.get.write(`data: ${JSON.stringify(notice('late'))}\n\n`);
  held.listen.send(notice('late'));
  held.stream.send(response(held.call.id, 'late'));
  await Promise.all(streams.map((stream) => stream.has('late')));
});

test('requests of a server during a call are answered by other messages of the session, in any order',
    async (t) => {
  const up = await startUpstream(t);
  const gw = await startGateway(t,
    { upstreams: { up: { http: up.url } }, tools: { 'up/*': { scope: 'all', duplicates: 'allow' } } });
  const capabilities = { sampling: {}, elicitation: {}, roots: { listChanged: true } };
  const s = await openSession(gw, { capabilities });
  const asked = ['sampling/createMessage', 'elicitation/create', 'roots/list'];
  const answers = new Map();
  let call;
  up.onCall = (a) => {
    if (a.name === 'other') return a.text('meanwhile');
    call = { a, stream: a.stream() };
    asked.forEach((method, i) => call.stream.send({ jsonrpc: '2.0', id: i === 0 ? 'a/s' : i, method, params: { i } }));
    return undefined;
  };
  up.onMessage = (a) => {
    if (a.method !== undefined) return undefined;
    answers.set(a.id, a);
    a.res.writeHead(202).end();
    return true;
  };
  const body = s.callMessage('up__ask', {}, { meta: { progressToken: 'p' } });
  const stream = await post(gw, s, body);
  await stream.has('roots/list');
  const requests = stream.messages;
  assert.deepEqual(requests.map((m) => m.method), asked);

  for (const request of requests.toReversed()) {
    const answer = await s.post({ jsonrpc: '2.0', id: request.id, result: { to: request.params.i } });
    assert.equal(answer.status, 202);
    assert.equal(answer.text, '');
    assert.equal((await s.call('up__other')).said, 'meanwhile');
  }
  await until(() => answers.size === 3, 'the answers');
  assert.deepEqual([...answers.keys()], [2, 1, 'a/s']);
  assert.deepEqual([...answers.values()].map((a) => a.message.result.to), [2, 1, 0]);
  assert.ok([...answers.values()].every((a) => a.headers['mcp-session-id'] === call.a.headers['mcp-session-id']));

  assert.equal(call.a.meta.progressToken, 'p');
  for (let i = 1; i < 4; i++) {
    call.stream.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'p', progress: i } });
    await stream.has(`"progress":${i}`); // as it comes, not at the end
  }
  call.stream.send(response(body.id, 'done'));
  call.stream.end();
  await stream.done();
  assert.equal(stream.messages.at(-1).result.content[0].text, 'done');

  // an answer without a request is dropped
  const before = up.arrivals.length;
  assert.equal((await s.post({ jsonrpc: '2.0', id: 'nowhere/n/1', result: {} })).status, 202);
  assert.equal(up.arrivals.length, before);
  assert.equal((await new Caller(gw).post({ jsonrpc: '2.0', id: requests[0].id, result: {} })).status, 400);
});
