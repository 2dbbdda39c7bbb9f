// SIGTERM during operations that do not end: each has ten seconds, then its client gets an error, its outcome is
// recorded, and the gateway ends in order.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { startGateway, until } from '../support/js/gateway.mjs';
import { Streams } from '../support/servers/resumable.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';
import { holdLedger } from '../support/js/store.mjs';
import { post } from '../support/js/stream.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const SCRIPTED = new URL('../support/servers/stdio-server.mjs', import.meta.url).pathname;
const RULE = { scope: 's', timeout: '60s', arguments: [{ arg: '', op: 'type', value: 'any' }] };
const NOTICE = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 1 } };

const setUp = async (t, options = {}, rule = RULE, top = {}) => {
  const up = await startUpstream(t, options);
  const gw = await startGateway(t,
    { upstreams: { up: { http: up.url, timeout: '60s' } }, tools: { 'up/pay': rule }, ...top });
  return { up, gw };
};

/** Sends a call; its answer is read when the caller reads it. */
async function callUnread(gw) {
  const s = await openSession(gw), body = s.callMessage('up__pay', { n: 1 });
  const request = http.request(gw.origin + s.path, { method: 'POST', agent: false, headers: s.headers(body) });
  request.on('error', () => {}).end(JSON.stringify(body));
  const [answer] = await once(request, 'response');
  await until(() => gw.decisions()[0] && gw.show(gw.decisions()[0].decision_id).outcome, 'the outcome');
  return answer.on('error', () => {});
}
const LONG = 'y'.repeat(9_000_000); // more than two sockets hold

/** Each begins an operation, gives an event to wait for, and says how it ends. */
const CASES = {
  'a call of which nothing comes': async (t) => {
    const { up, gw } = await setUp(t, { onCall: () => {} });
    const answer = (await openSession(gw)).call('up__pay', { n: 1 });
    await up.arrived();
    return { gw, answer, told: 'upstream_timeout', outcome: 'timeout' };
  },
  'a call whose stream has begun': async (t) => {
    const { up, gw } = await setUp(t, { onCall: (a) => a.stream().send(NOTICE) });
    const answer = new Caller(gw, { modern: true }).call('up__pay', { n: 1 });
    await up.arrived();
    return { gw, answer, told: 'upstream_timeout', outcome: 'timeout' };
  },
  'a call whose stream its client has left': async (t) => {
    const streams = new Streams();
    const { up, gw } = await setUp(t, { onGet: streams.onGet });
    let stream;
    up.onCall = (a) => { stream = streams.open(a); stream.send(NOTICE); };
    const s = await openSession(gw, { path: '/mcp/up' });
    const client = await post(gw, s, s.callMessage('pay', { n: 1 }));
    await client.has('"data":1');
    client.leave();
    await stream.closed();
    return { gw };
  },
  'a call whose server wants to be asked later for its rest': async (t) => {
    const streams = new Streams();
    const { up, gw } = await setUp(t, { onGet: streams.onGet });
    let stream;
    up.onCall = (a) => { stream = streams.open(a); stream.send(NOTICE, 'retry: 30000\n'); };
    const answer = (await openSession(gw, { path: '/mcp/up' })).call('pay', { n: 1 });
    await up.arrived();
    await stream.hangUp();
    return { gw, answer, told: 'upstream_timeout', outcome: 'timeout',
      after: () => assert.equal(stream.connections, 1) };
  },
  'a request that is not governed': async (t) => {
    const { up, gw } = await setUp(t, { onMessage: (a) => (a.method === 'prompts/get' ? true : undefined) });
    const answer = (await openSession(gw, { path: '/mcp/up' })).request('prompts/get', { name: 'p' });
    await until(() => up.arrivals.some((a) => a.method === 'prompts/get'));
    return { gw, answer, told: 'upstream_timeout' };
  },
  'the state of a target': async (t) => {
    const slow = await startUpstream(t, { onGet: () => {} });
    const { up, gw } = await setUp(t, {},
      { ...RULE, state: { http: `http://127.0.0.1:${slow.port}/`, timeout: '60s' } });
    const answer = new Caller(gw, { modern: true }).call('up__pay', { n: 1 });
    await until(() => slow.requests.length > 0);
    return { gw, answer, told: 'target_state_unavailable', outcome: 'blocked',
      after: () => assert.equal(up.calls.length, 0) };
  },
  'a call of a child': async (t) => {
    const gw = await startGateway(t,
      { upstreams: { up: { stdio: [process.execPath, SCRIPTED, '/dev/null'] } }, tools: { 'up/act': RULE } });
    const answer = (await openSession(gw)).call('up__act', { act: 'never' });
    await until(() => gw.decisions().length > 0);
    return { gw, answer, told: 'upstream_failed', outcome: 'error' };
  },
  'an answer that its client does not read': async (t) => {
    const { gw } = await setUp(t, { onCall: (a) => a.text(LONG) });
    await callUnread(gw);
    return { gw, outcome: 'executed' };
  },
  'a ledger that another process has locked': async (t) => {
    const { up, gw } = await setUp(t, {}, RULE, { ledger: { busy_timeout: '60s' } });
    const caller = await openSession(gw);
    const release = await holdLedger(t, gw.ledgerFile);
    const answer = caller.call('up__pay', { n: 1 });
    setTimeout(release, 11_000); // the claim is granted, and no time is left for the call
    return { gw, answer, after: () => assert.equal(up.calls.length, 0) };
  },
};

test('a stop ends requests in flight in order and answers their clients', async (t) => {
  await Promise.all(Object.entries(CASES).map(async ([name, begin]) => {
    const { gw, answer, told, outcome, after } = await begin(t);
    const [end, got] = await Promise.all([gw.stop(), answer?.catch((error) => error)]);
    assert.deepEqual(end, { code: 0, signal: null }, `${name}: ${gw.logText.slice(-500)}`);
    if (told !== undefined) assert.equal(got.reason, told, `${name}: ${got.text ?? got}`);
    if (outcome !== undefined) assert.equal(gw.show(gw.decisions().at(-1).decision_id).outcome?.outcome, outcome, name);
    after?.();
    gw.verify();
  }));
});

/** A connection of its own, and the request in it. */
async function connected(gw) {
  const socket = connect(gw.port, '127.0.0.1');
  let said = '';
  socket.setEncoding('utf8').on('data', (d) => { said += d; }).on('error', () => {});
  await once(socket, 'connect');
  const ended = once(socket, 'close');
  return { ask(id) {
    const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'initialize', params: {
      protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } } });
    socket.write(`POST /mcp/up HTTP/1.1\r\nHost: 127.0.0.1:${gw.port}\r\nContent-Type: application/json\r\n` +
      `Accept: application/json, text/event-stream\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  }, answer: async () => { await ended; return said; } };
}

test('a message that arrived before the stop has its answer: no upstream stops before it is read', async (t) => {
  for (let round = 0; round < 6; round++) {
    const gw = await startGateway(t, { loops: 2,
      upstreams: { up: { stdio: [process.execPath, SCRIPTED, '/dev/null'] } }, tools: { 'up/act': RULE } });
    const known = await Promise.all([connected(gw), connected(gw)]); // accepted before
    gw.child.kill('SIGSTOP');
    const all = [...known, ...await Promise.all([connected(gw), connected(gw)])];
    all.forEach((connection, i) => connection.ask(i));
    gw.child.kill('SIGTERM');
    gw.child.kill('SIGCONT');
    for (const text of await Promise.all(all.map((connection) => connection.answer())))
      assert.match(text, /^HTTP\/1\.1 200 [^]*"protocolVersion"/, `round ${round}`);
    assert.equal((await gw.exited).code, 0);
  }
});

test('an answer that its client is reading comes whole, also when the stop begins before its end', async (t) => {
  for (const stream of [false, true]) {
    const { up, gw } = await setUp(t);
    up.onCall = (call) => {
      const result = { jsonrpc: '2.0', id: call.id, result: { content: [{ type: 'text', text: LONG }] } };
      if (!stream) return call.json(result);
      const events = call.stream();
      events.send(result);
      return events.end();
    };
    const answer = await callUnread(gw);
    const ended = gw.stop();
    await until(() => fetch(gw.origin).then(() => false, () => true), 'new connections to be refused');
    assert.ok((await text(answer)).includes(`"${LONG}"`));
    assert.deepEqual(await ended, { code: 0, signal: null });
    gw.verify();
  }
});
