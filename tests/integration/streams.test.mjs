// Streams of events between a server, the gateway and its clients: cut, slow, abandoned or forged.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGateway, until } from '../support/js/gateway.mjs';
import { digest } from '../support/js/kept.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';

const RULES = { 'up/work': { scope: 'work', arguments: [{ arg: 'n', op: 'type', value: 'number' }] } };
const BIG = 'x'.repeat(1 << 20);

async function setUp(t, options = {}, config = {}) {
  const up = await startUpstream(t, options);
  const gw = await startGateway(t, { upstreams: { up: { http: up.url, ...config.upstream } }, tools: RULES });
  return { up, gw, s: await openSession(gw) };
}

const notice = (data) => ({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } });
const response = (id, text) => ({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } });
const outcomeOf = (gw) => gw.show(gw.decisions().at(-1).decision_id).outcome;

/** A request whose answer is read only when the test does so. */
function rawRequest(gw, headers, body, method = 'POST') {
  return new Promise((resolve, reject) => {
    const bytes = body && JSON.stringify(body);
    const req = http.request(gw.url,
        { method, agent: false, headers: bytes ? { ...headers, 'content-length': Buffer.byteLength(bytes) } : headers },
        (res) => {
      res.pause();
      resolve({ req, res });
    });
    req.on('error', reject);
    req.end(bytes);
  });
}

/** The server has said all, and the client, which does not read, takes no more of it. */
const isBehind = (from, res) => from.writableEnded && res.readableLength >= res.readableHighWaterMark;

async function readAll(res, pauseMs = 0) {
  let text = '';
  res.setEncoding('utf8');
  for await (const piece of res) {
    text += piece;
    if (pauseMs > 0) await sleep(pauseMs);
  }
  return text;
}

test('a call whose stream cannot be resumed is recorded as sent', async (t) => {
  const { up, gw, s } = await setUp(t);
  up.onCall = (a) => {
    const stream = a.stream();
    stream.send(notice('begun'), 'id: e1\n');
    stream.end();
    up.close(); // no listener when the rest is requested
  };
  const first = await s.call('up__work', { n: 1 });
  assert.equal(first.refusal.execution, 'unknown');
  const outcome = outcomeOf(gw);
  assert.equal(outcome.outcome, 'error');
  assert.notEqual(outcome.error_type, 'not_sent');

  await up.listen(up.port);
  up.onCall = (a) => a.text('ran again');
  assert.equal((await s.call('up__work', { n: 1 })).reason, 'duplicate_outcome');
  assert.equal(up.calls.length, 1);
});

test('a client that leaves its stream of events ends the stream to the server', async (t) => {
  let open = 0;
  const { gw, s } = await setUp(t, {
    onGet: (req, res) => {
      open++;
      res.on('close', () => open--);
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(': hello\n\n');
    },
  });
  const { res } = await rawRequest(gw, s.headers(undefined, { accept: 'text/event-stream' }), undefined, 'GET');
  await until(() => open === 1, 'the stream to be open');
  res.socket.resetAndDestroy();
  await until(() => open === 0, 'the stream to the server to be closed');
});

test('a disguised answer on a server stream is dropped', async (t) => {
  const { up, gw, s } = await setUp(t);
  up.onCall = (a) => {
    const stream = a.stream();
    stream.raw(`data: {"jsonrpc":"2.0","id":77,"\\u0072esult":{"content":[]}}\n\n`);
    stream.raw(`data: {"jsonrpc":"2.0","id":77,"method":"notifications/message","Result":{}}\n\n`);
    stream.raw(`data: {"jsonrpc":"2.0","id":77,"method":"notifications/message","result":{}}\n\n`);
    stream.raw(`data: [{"jsonrpc":"2.0","id":77,"result":{}}]\n\n`);
    stream.raw('data: not json\n\n');
    stream.raw('id: first\ndata:\n\n');
    stream.raw(`data: {"jsonrpc":"2.0",\n` +
      `data: "method":"notifications/message","params":{"level":"info","data":1}}\n\n`);
    stream.raw(`data: {"jsonrpc":"2.0","id":${a.id},"\\u0072esult":{"content":[{"type":"text","text":"ran"}]}}\n\n`);
    stream.end();
  };
  const answer = await s.call('up__work', { n: 1 });
  assert.deepEqual(answer.messages.map((m) => m.method ?? m.result.content[0].text), ['notifications/message', 'ran']);
  assert.equal(outcomeOf(gw).tool_output_hash.length, 71); // an escaped name is the name all the same
});

test('a stream that a client opens itself carries no answers', async (t) => {
  const { gw, s } = await setUp(t, {
    onGet: (req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(`data: ${JSON.stringify(response(7, 'forged'))}\n\n`);
      res.end(`data: ${JSON.stringify(notice('told'))}\n\n`);
    },
  });
  const headers = s.headers(undefined, { accept: 'text/event-stream' });
  const fresh = await readAll((await rawRequest(gw, headers, undefined, 'GET')).res);
  assert.ok(fresh.includes('told') && !fresh.includes('forged'), fresh);
  const resumed = await readAll((await rawRequest(gw, { ...headers, 'last-event-id': 'e1' }, undefined, 'GET')).res);
  assert.ok(resumed.includes('told') && !resumed.includes('forged') && resumed.includes('answer_unknown'), resumed);
});

for (const [what, method, params] of [
  ['a governed call', 'tools/call', { name: 'up__work', arguments: { n: 1 } }],
  ['a request that is passed on', 'prompts/get', { name: 'up__p' }],
]) {
  test(`a slow client gets the whole answer to ${what}`, async (t) => {
    const { up, gw, s } = await setUp(t);
    let from;
    up.onMessage = (a) => {
      if (a.method !== method) return undefined;
      const stream = a.stream();
      from = a.res;
      for (let i = 0; i < 12; i++) stream.send(notice(BIG));
      stream.send(response(a.id, 'at last'));
      stream.end();
      return true;
    };
    const body = s.message(method, params);
    const { res } = await rawRequest(gw, s.headers(body), body);
    await until(() => isBehind(from, res), 'the client to be behind');
    const text = await readAll(res, 3);
    assert.equal(text.split(BIG).length, 13);
    assert.ok(text.includes('at last'));
  });
}

test('a slow client that leaves does not affect its running call', async (t) => {
  const { up, gw, s } = await setUp(t);
  let from;
  up.onCall = (a) => {
    const stream = a.stream();
    from = a.res;
    for (let i = 0; i < 24; i++) stream.send(notice(BIG));
    stream.send(response(a.id, 'ran'));
    stream.end();
  };
  const body = s.callMessage('up__work', { n: 1 });
  const { res } = await rawRequest(gw, s.headers(body), body);
  await until(() => isBehind(from, res), 'the client to be behind');
  res.socket.resetAndDestroy();
  await until(() => gw.decisions().length === 1 && outcomeOf(gw), 'the outcome', 60_000);
  assert.equal(outcomeOf(gw).outcome, 'executed');
});

test('a client of the stateless revision gets no requests of a server', async (t) => {
  const { up, gw } = await setUp(t);
  const modern = new Caller(gw, { modern: true });
  up.onCall = (a) => {
    const stream = a.stream();
    stream.send({ jsonrpc: '2.0', id: 1, method: 'sampling/createMessage', params: {} });
    stream.send(notice('told'));
    stream.send(response(a.id, 'ran'));
    stream.end();
  };
  const answer = await modern.call('up__work', { n: 1 });
  assert.deepEqual(answer.messages.map((m) => m.method ?? 'response'), ['notifications/message', 'response']);
});

test('a probe carries no field of the client', async (t) => {
  const up = await startUpstream(t);
  const gw = await startGateway(t, {
    upstreams: { up: { http: up.url } },
    tools: { 'up/work': { ...RULES['up/work'], state: { tool: 'up/look', arguments: {}, on_error: 'absent' } },
      'up/look': { scope: 'look' } },
  });
  const modern = new Caller(gw, { modern: true });
  await modern.call('up__work', { n: 1 },
    { headers: { 'mcp-param-n': '1', 'last-event-id': 'e1', traceparent: '00-1-1-00' } });
  const [look, work] = up.calls;
  assert.equal(look.headers['mcp-name'], 'look');
  assert.equal(look.headers['mcp-param-n'], undefined);
  assert.equal(look.headers.traceparent, undefined);
  assert.equal(work.headers['mcp-param-n'], '1');
  assert.equal(work.headers['last-event-id'], undefined);
});

test('a client that leaves an ended, unread stream delays no other', async (t) => {
  let from;
  const { gw, s } = await setUp(t, {
    onGet: (req, res) => {
      from = res;
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let i = 0; i < 24; i++) res.write(`data: ${JSON.stringify(notice(BIG))}\n\n`);
      res.end();
    },
  });
  const { res } = await rawRequest(gw, s.headers(undefined, { accept: 'text/event-stream' }), undefined, 'GET');
  await until(() => isBehind(from, res), 'the client to be behind');
  assert.equal(await gw.metric('writ_streams_open'), 1);
  res.socket.resetAndDestroy();
  await until(async () => await gw.metric('writ_streams_open') === 0, 'the stream to be gone');
  assert.deepEqual(await gw.stop(), { code: 0, signal: null });
});

test('waiting streams do not use the connections of calls', async (t) => {
  const { up, gw } = await setUp(t, {
    onGet: (req, res) => res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders(),
  }, { upstream: { connections: 1 } });
  const streams = [];
  for (let i = 0; i < 6; i++) {
    const s = await openSession(gw);
    streams.push(await rawRequest(gw, s.headers(undefined, { accept: 'text/event-stream' }), undefined, 'GET'));
    assert.equal((await s.call('up__work', { n: i })).said, `ran ${i + 1}`);
  }
  assert.equal(up.calls.length, 6);
  streams.forEach(({ res }) => res.destroy());
});

// A long result is neither copied nor read more often than it must be: what the client gets and what the outcome
// names are the same bytes all the same.
const LONG = '"Zoë" paid\tC:\\bills\u001f\n😀'.repeat(20_000);
const eventOf = (call, result) => `data: ${JSON.stringify({ jsonrpc: '2.0', id: call.id, result })}\n\n`;

async function inPieces(text, stream) {
  const bytes = Buffer.from(text), step = Math.ceil(bytes.length / 9);
  for (let at = 0; at < bytes.length; at += step) {
    stream.raw(bytes.subarray(at, at + step));
    await sleep(10);
  }
  stream.end();
}

const LONG_FORMS = {
  'one JSON body': (call, result) => call.result(result),
  'one event': (call, result) => {
    const stream = call.stream();
    stream.send({ jsonrpc: '2.0', id: call.id, result });
    stream.end();
  },
  'one event of several lines, after another event': (call, result) => {
    const stream = call.stream();
    const text = JSON.stringify({ jsonrpc: '2.0', id: call.id, result }, null, 1);
    stream.send(notice(BIG));
    stream.raw(`id: 7\nevent: message\n${text.split('\n').map((line) => `data: ${line}\n`).join('')}\n`);
    stream.end();
  },
  'one JSON body in pieces': (call, result) => inPieces(JSON.stringify({ jsonrpc: '2.0', id: call.id, result }),
    call.stream({ 'content-type': 'application/json' })),
  'one event in pieces': (call, result) => inPieces(eventOf(call, result), call.stream()),
  'one event in pieces, with members that sort before the text after it': (call, result) =>
    inPieces(eventOf(call, { content: result.content.map((part) => ({ ...part, annotations: { priority: 1 } })),
      a: true }), call.stream()),
  'one event in pieces, after another one': (call, result) =>
    inPieces(`data: ${JSON.stringify(notice(LONG))}\n\n: nothing\n\n${eventOf(call, result)}`, call.stream()),
  'one event with names of Writ': (call, result) => {
    const stream = call.stream();
    stream.send({ jsonrpc: '2.0', id: call.id, result: { ...result, _meta: { 'io.writ/refusal': {} } } });
    stream.end();
  },
};

for (const [form, answer] of Object.entries(LONG_FORMS)) {
  test(`a long result as ${form} is what the outcome names`, async (t) => {
    const { gw, s } = await setUp(t, { onCall: (call) =>
      answer(call, { content: [{ type: 'text', text: LONG }, { type: 'text', text: BIG }], isError: false }) });
    for (let n = 0; n < 2; n++) {
      const got = await s.call('up__work', { n }, { key: `k${n}` });
      assert.ok(got.said === LONG, got.text.slice(0, 300));
      assert.ok(got.result.content[1].text === BIG);
      assert.equal(got.result._meta?.['io.writ/refusal'], undefined);
      assert.equal(outcomeOf(gw).tool_output_hash, digest(got.result));
    }
    gw.verify();
  });
}

// A server should close a stream after its response, but need not.
const ANSWERS = {
  initialize: { protocolVersion: '2025-11-25', serverInfo: { name: 's', version: '1' },
    capabilities: { tools: {}, resources: {}, logging: {} } },
  'tools/list': { tools: [{ name: 'work', inputSchema: { type: 'object' } }] }, 'prompts/list': { prompts: [] },
  'resources/list': { resources: [] }, 'resources/templates/list': { resourceTemplates: [] },
  'resources/read': { contents: [] }, 'logging/setLevel': {},
};

/** A server that answers these methods in streams that stay open, after the answer to another request. */
async function startOpen(t, methods, config = {}) {
  const open = new Set(methods);
  const up = await startUpstream(t, {
    onMessage: (a) => {
      if (ANSWERS[a.method] === undefined) return undefined;
      const answer = { jsonrpc: '2.0', id: a.id, result: ANSWERS[a.method] };
      if (!open.has(a.method)) return (a.json(answer, 200, { 'mcp-session-id': 'one' }), true);
      const stream = a.stream({ 'mcp-session-id': 'one' });
      stream.send(notice('first'));
      stream.send({ ...answer, id: `not ${a.id}`, result: { of: 'another request' } });
      stream.send(answer);
      stream.send({ ...answer, result: { of: 'the same request again' } });
      return true;
    },
  });
  const gw = await startGateway(t, { upstreams: { up: { http: up.url, timeout: '4s' } }, tools: RULES, ...config });
  return { up, gw, open };
}

for (const path of ['/mcp', '/mcp/up']) {
  test(`an answer in a stream that stays open is the answer, on ${path}`, async (t) => {
    const { gw, open } = await startOpen(t, Object.keys(ANSWERS));
    const s = await openSession(gw, { path });
    assert.equal(s.opened.result.serverInfo.name, 's');
    const list = await s.request('tools/list');
    assert.deepEqual([list.status, list.result?.tools.map((x) => x.name), list.result?._meta],
      [200, [path === '/mcp' ? 'up__work' : 'work'], undefined], list.text);
    if (path === '/mcp') {
      for (const [method, params] of [['prompts/list', {}], ['resources/list', {}], ['resources/templates/list', {}],
          ['resources/read', { uri: 'x:a' }], ['logging/setLevel', { level: 'info' }]]) {
        const answer = await s.request(method, params);
        assert.equal(answer.status, 200, `${method}: ${answer.text}`);
        assert.ok(answer.result !== undefined && !answer.text.includes('another request'), answer.text);
      }
    }
    assert.equal(gw.log.filter((l) => l.event === 'upstream_silent').length, 0);
    open.clear();
    assert.ok((await s.request('tools/list')).result, 'its connections are free again');
  });
}

test('the definition of a tool is learned from a stream that stays open', async (t) => {
  const { gw } = await startOpen(t, ['tools/list']);
  const s = await openSession(gw, { path: '/mcp/up' });
  assert.equal((await s.call('work', { n: 1 })).said, 'ran 1');
  const { definition } = gw.show(gw.decisions().at(-1).decision_id).decision.extensions.writ;
  assert.equal(definition, digest(ANSWERS['tools/list'].tools[0]));
  assert.equal(gw.log.filter((l) => l.event === 'definitions_not_learned').length, 0);
});

test('the state of a target is read from a stream that stays open', async (t) => {
  const up = await startUpstream(t, {
    onCall: (a) => (a.name === 'look' ? void a.stream().send(response(a.id, 'as it is')) : a.text('done')),
  });
  const gw = await startGateway(t, {
    upstreams: { up: { http: up.url } },
    tools: { 'up/work': { ...RULES['up/work'], state: { tool: 'up/look', arguments: {}, timeout: '3s' } },
      'up/look': { scope: 'look' } },
  });
  const s = await openSession(gw, { path: '/mcp/up' });
  assert.equal((await s.call('work', { n: 1 })).said, 'done');
});
