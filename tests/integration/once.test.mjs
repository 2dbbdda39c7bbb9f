// At most once: the same call twice, though client, network, upstream or gateway died in between at any point. The
// upstream counts its calls.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { bearer, startGateway, until, writ } from '../support/js/gateway.mjs';
import { SAMPLE } from '../support/js/ledger.mjs';
import { SQLITE_ONLY } from '../support/js/store.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';

const TOOLS = { 'up/pay': { scope: 'payments',
  arguments: [{ arg: 'amount', op: 'type', value: 'number' },
    { arg: 'to', op: 'type', value: 'string', optional: true }], timeout: '30s' } };

async function setUp(t, config = {}, options = {}) {
  const up = await startUpstream(t, options);
  const gw = await startGateway(t, { upstreams: { up: { http: up.url } }, tools: TOOLS, ...config }, options);
  return { up, gw };
}

/** The two calls were one: the upstream has `n`, and the ledger is whole. */
function once(up, gw, n = 1) {
  assert.equal(up.calls.length, n, 'calls that reached the upstream');
  assert.equal(gw.decisions(['--decision', 'allow']).length, n, 'allow decisions');
  gw.verify();
}

const DUPLICATE = new Set(['duplicate_outcome', 'duplicate_in_flight', 'interrupted_execution_unknown']);

test('the same call twice in one session runs once, and the refusal names the first decision', async (t) => {
  const { up, gw } = await setUp(t);
  const s = await openSession(gw);
  const first = await s.call('up__pay', { amount: 1 });
  assert.equal(first.said, 'ran 1');
  const second = await s.call('up__pay', { amount: 1 });
  assert.equal(second.status, 200);
  assert.equal(second.reason, 'duplicate_outcome');
  assert.equal(second.refusal.first_outcome, 'executed');
  assert.equal(gw.show(second.refusal.first_decision_id).decision.decision, 'allow');
  assert.equal(gw.show(second.refusal.decision_id).decision.decision, 'deny');
  once(up, gw);
});

test('other spellings of a call are duplicates, other calls are not', async (t) => {
  const { up, gw } = await setUp(t);
  const s = await openSession(gw);
  const post = (args, rest = '') =>
    s.post(`{"jsonrpc":"2.0","id":${++s.ids},"method":"tools/call","params":{"name":"up__pay",` +
      `"arguments":${args}${rest}}}`);
  assert.equal((await post('{"amount":5,"to":"Zoé"}')).said, 'ran 1');
  for (const twin of ['{"to":"Zoé","amount":5}', '{"amount":5.0,"to":"Zoé"}', '{"amount":5e0,"to":"Zo\\u00e9"}',
      '{ "amount" : 50E-1, "to":"Z\\u006fé" }', '{"am\\u006funt":5,"to":"Zoé"}']) {
    assert.ok(DUPLICATE.has((await post(twin)).reason), twin);
  }
  assert.ok(DUPLICATE.has((await post('{"amount":5,"to":"Zoé"}', ',"_meta":{"progressToken":"x","other":1}')).reason),
    '_meta makes no other call');
  assert.equal((await post('{"amount":5,"to":"Zoe\\u0301"}')).said, 'ran 2', 'nothing is normalized');
  assert.equal((await post('{"amount":5}')).said, 'ran 3');
  once(up, gw, 3);
});

test('of 50 concurrent identical calls exactly one runs', async (t) => {
  const { up, gw } = await setUp(t, { loops: 3 });
  const gate = Promise.withResolvers();
  up.onCall = async (arrival) => { await gate.promise; arrival.text('ran'); };
  const s = await openSession(gw);
  const all = Array.from({ length: 50 }, () => s.call('up__pay', { amount: 2 }));
  const refused = new Set();
  all.forEach((p) => p.then((a) => a.error && refused.add(a)));
  await until(() => refused.size === 49, '49 refusals while the first call is in flight');
  gate.resolve();
  const answers = await Promise.all(all);
  assert.equal(answers.filter((a) => a.said === 'ran').length, 1);
  for (const a of refused) assert.equal(a.reason, 'duplicate_in_flight', a.text);
  assert.equal(new Set([...refused].map((a) => a.refusal.first_decision_id)).size, 1);
  assert.equal([...refused][0].refusal.first_outcome, 'in_flight');
  once(up, gw);
});

test('of 50 concurrent calls under one key one runs, by header and _meta, with and without sessions', async (t) => {
  const { up, gw } = await setUp(t, { loops: 2 });
  const callers = [await openSession(gw), await openSession(gw), await openSession(gw, { path: '/mcp/up' }),
    new Caller(gw), new Caller(gw, { modern: true })];
  const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => {
    const caller = callers[i % callers.length];
    return caller.call(caller.path === '/mcp' ? 'up__pay' : 'pay', { amount: 3 },
      i % 2 ? { key: 'k-1' } : { keyHeader: 'k-1' });
  }));
  assert.equal(answers.filter((a) => a.result).length, 1);
  assert.ok(answers.filter((a) => a.error).every((a) => DUPLICATE.has(a.reason)));
  once(up, gw);
});

test('a key reused with other arguments is refused, and another key is another call', async (t) => {
  const { up, gw } = await setUp(t);
  const s = await openSession(gw);
  assert.equal((await s.call('up__pay', { amount: 1 }, { key: 'a' })).said, 'ran 1');
  const reuse = await s.call('up__pay', { amount: 2 }, { key: 'a' });
  assert.equal(reuse.reason, 'idempotency_key_reuse');
  assert.ok(reuse.refusal.first_decision_id);
  assert.equal((await s.call('up__pay', { amount: 1 }, { key: 'b' })).said, 'ran 2');
  assert.equal((await s.call('up__pay', { amount: 1 })).said, 'ran 3', 'no key at all is a third call');
  assert.equal((await s.call('up__pay', { amount: 2 }, { key: 'A' })).said, 'ran 4', 'keys are compared as bytes');
  once(up, gw, 4);
});

test('an empty, overlong, malformed or contradicting key is refused', async (t) => {
  const { up, gw } = await setUp(t);
  const s = await openSession(gw);
  for (const [what, args] of [['empty', { key: '' }], ['too long', { key: 'x'.repeat(513) }], ['a number', { key: 5 }],
    ['null', { key: null }], ['control characters', { key: 'a\nb' }], ['NUL', { key: 'a\0b' }],
    ['empty header', { keyHeader: '' }], ['long header', { keyHeader: 'x'.repeat(513) }],
    ['a tab in the header', { keyHeader: 'a\tb' }], ['no UTF-8 in the header', { keyHeader: 'a\xff' }],
    ['two that differ', { key: 'a', keyHeader: 'b' }]]) {
    const answer = await s.call('up__pay', { amount: 1 }, args);
    assert.equal(answer.status, 400, what);
    assert.equal(answer.reason, 'idempotency_key_invalid', what);
  }
  for (const [i, args] of [{ key: 'x'.repeat(512) }, { key: "'; DROP TABLE record; --" }, { key: '../../etc/passwd' },
      { keyHeader: '"quoted"' }, { key: 'both', keyHeader: 'both' }, { key: '鍵🔑' }].entries()) {
    assert.equal((await s.call('up__pay', { amount: 1 }, args)).said, `ran ${i + 1}`,
      JSON.stringify(args).slice(0, 50));
  }
  once(up, gw, 6);
});

test('only a call that ran or may have run takes a key', async (t) => {
  const { up, gw } = await setUp(t);
  const s = await openSession(gw);
  assert.equal((await s.call('up__pay', { amount: 'x' }, { key: 'v' })).reason, 'constraint_failed');
  assert.equal((await s.call('up__Pay', { amount: 1 }, { key: 'v' })).reason, 'tool_not_listed');
  assert.equal((await s.call('up__pay', { amount: 1 }, { key: 'v' })).said, 'ran 1');
  once(up, gw);
});

test('a boundary named by the caller holds over sessions, endpoints and eras', async (t) => {
  const { up, gw } = await setUp(t);
  const boundary = 'run-7';
  const first = await openSession(gw);
  assert.equal((await first.call('up__pay', { amount: 1 }, { boundary })).said, 'ran 1');
  for (const caller of [first, await openSession(gw), await openSession(gw, { path: '/mcp/up' }), new Caller(gw),
      new Caller(gw, { modern: true }), new Caller(gw, { modern: true, path: '/mcp/up' })]) {
    assert.equal((await caller.call(caller.path === '/mcp' ? 'up__pay' : 'pay', { amount: 1 }, { boundary })).reason,
      'duplicate_outcome');
  }
  assert.equal((await first.call('up__pay', { amount: 1 }, { boundary: 'run-8' })).said, 'ran 2');
  const records = gw.boundary(boundary);
  assert.ok(records.whole);
  assert.ok(records.decisions.every((d) => d.boundary_id === boundary));
  once(up, gw, 2);
});

test('reserved boundary names are refused from callers', async (t) => {
  const { up, gw } = await setUp(t);
  const s = await openSession(gw);
  await s.call('up__pay', { amount: 1 });
  const own = gw.decisions()[0].boundary_id;
  for (const boundary of [own, 'writ:refused:2026-01-01', 'session:x', 'agent:dev', '', 'x'.repeat(513), 'a\nb', 5,
      null]) {
    const answer = await s.call('up__pay', { amount: 2 }, { boundary });
    assert.equal(answer.status, 400, JSON.stringify(boundary));
  }
  once(up, gw);
});

test('without a session the boundary is the agent, within a window', async (t) => {
  const { up, gw } = await setUp(t, { sessions: { window: '4s' } });
  const legacy = new Caller(gw);
  const modern = new Caller(gw, { modern: true });
  const at = Date.now();
  assert.equal((await legacy.call('up__pay', { amount: 1 })).said, 'ran 1');
  const ran = Date.now();
  // in every window of the clock: within its time the call stays a duplicate
  while (Date.now() - at < 1700) {
    const { reason } = await modern.call('up__pay', { amount: 1 });
    if (Date.now() - at >= 4000) break; // a busy machine: it may be a new call
    assert.ok(DUPLICATE.has(reason), `${Date.now() - at} ms later`);
    await sleep(150);
  }
  assert.equal((await legacy.call('up__pay', { amount: 2 })).said, 'ran 2');
  await sleep(ran + 4100 - Date.now());
  assert.equal((await legacy.call('up__pay', { amount: 1 })).said, 'ran 3', 'later it is a new call');
  once(up, gw, 3);
});

// ---- the client dies

for (const modern of [false, true]) {
  const era = modern ? 'modern' : 'legacy';
  test(`a ${era} client that dies during its call and repeats it runs it once`, async (t) => {
    const { up, gw } = await setUp(t);
    const gate = Promise.withResolvers();
    up.onCall = async (arrival) => { await gate.promise; arrival.text('ran'); };
    const caller = modern ? new Caller(gw, { modern }) : await openSession(gw);
    const abort = new AbortController();
    const first = caller.call('up__pay', { amount: 1 }, { signal: abort.signal });
    const arrival = await up.arrived(1);
    abort.abort();
    await assert.rejects(first);
    if (modern) await arrival.closed; // leaving is how a modern client cancels
    assert.ok(DUPLICATE.has((await caller.call('up__pay', { amount: 1 })).reason));
    gate.resolve();
    await until(() => gw.decisions().every((d) => d.outcome !== null), 'the outcome');
    const last = await caller.call('up__pay', { amount: 1 });
    assert.equal(last.reason, 'duplicate_outcome');
    assert.equal(last.refusal.first_outcome, modern ? 'error' : 'executed');
    once(up, gw);
  });
}

test('clients that die at any moment of a call and repeat it run it at most once', async (t) => {
  const { up, gw } = await setUp(t, { loops: 2 });
  up.onCall = (arrival, n) => setTimeout(() => arrival.text(`ran ${n}`), 3);
  const callers = [await openSession(gw), new Caller(gw, { modern: true })];
  const runs = Array.from({ length: 40 }, async (_, i) => {
    const caller = callers[i % 2];
    const abort = new AbortController();
    const first = caller.call('up__pay', { amount: i }, { signal: abort.signal }).catch(() => undefined);
    await sleep(i / 3);
    abort.abort();
    const answered = await first;
    const again = await caller.call('up__pay', { amount: i });
    if (answered?.result) assert.ok(DUPLICATE.has(again.reason), again.text);
    return again;
  });
  await Promise.all(runs);
  for (let i = 0; i < 40; i++) assert.ok(up.calls.filter((c) => c.arguments.amount === i).length <= 1, `amount ${i}`);
  await until(() => gw.decisions().every((d) => d.outcome !== null), 'every outcome');
  assert.equal(gw.decisions().filter((d) => d.outcome === 'executed').length,
    up.calls.length - gw.decisions().filter((d) => d.granted && d.outcome === 'error').length +
    gw.decisions().filter((d) => d.granted && d.outcome === 'error' && gw.show(d.decision_id).outcome.error_type ===
      'not_sent').length);
  gw.verify();
});

// ---- the upstream dies

const RESULT = '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"ok"}]}}';
const http = (body, head = '') =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`;
const sse = (text) => `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n${text}`;
const withId = (a, text) => text.replaceAll('ID', JSON.stringify(a.id));

/** What an upstream does in place of an answer, and the outcome that has to be recorded. */
const DEATHS = {
  'closes without a word': [(a) => a.destroy(), 'error'],
  'resets the connection': [(a) => a.reset(), 'error'],
  'closes in the status line': [(a) => a.bytes('HTTP/1.1 20'), 'error'],
  'closes in the head': [(a) => a.bytes('HTTP/1.1 200 OK\r\nContent-Ty'), 'error'],
  'closes after the head': [(a) =>
    a.bytes('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n'), 'error'],
  'closes in the body': [(a) =>
    a.bytes(withId(a, `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n${RESULT}`)),
    'error'],
  'resets in the body': [(a) =>
    a.bytes('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"jsonrpc"', 'reset'),
    'error'],
  'closes in a chunk': [(a) =>
    a.bytes('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n50\r\n{"json'),
    'error'],
  'closes before the last chunk': [(a) =>
    a.bytes('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n'),
    'error'],
  'closes a stream before the response': [(a) =>
    a.bytes(sse('event: message\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info",' +
      '"data":1}}\n\n')), 'error'],
  'closes a stream inside the response': [(a) => a.bytes(sse(withId(a, `data: ${RESULT.slice(0, 40)}`))), 'error'],
  'ends an empty stream': [(a) => a.stream().end(), 'error'],
  'answers another id': [(a) => a.json({ jsonrpc: '2.0', id: 'other', result: { content: [] } }), 'error'],
  'answers without id': [(a) => a.json({ jsonrpc: '2.0', result: { content: [] } }), 'error'],
  'answers a text id for a number': [(a) => a.json({ jsonrpc: '2.0', id: String(a.id), result: { content: [] } }),
    'error'],
  'answers result and error': [(a) =>
    a.json({ jsonrpc: '2.0', id: a.id, result: {}, error: { code: 1, message: 'x' } }), 'error'],
  'answers neither': [(a) => a.json({ jsonrpc: '2.0', id: a.id }), 'error'],
  'answers a list': [(a) => a.json([{ jsonrpc: '2.0', id: a.id, result: {} }]), 'error'],
  'answers duplicate members': [(a) => a.json(withId(a, '{"jsonrpc":"2.0","id":ID,"result":{"a":1},"result":{"a":2}}')),
    'error'],
  'answers no JSON': [(a) => a.json('oops'), 'error'],
  'answers nothing': [(a) => a.json(''), 'error'],
  'answers 202': [(a) => a.res.writeHead(202).end(), 'error'],
  'answers 204': [(a) => a.res.writeHead(204).end(), 'error'],
  'answers HTML': [(a) => a.res.writeHead(502, { 'content-type': 'text/html' }).end('<h1>bad gateway</h1>'), 'error'],
  'answers 500 with JSON': [(a) => a.error(-32603, 'internal', 500), 'error'],
  'answers 401': [(a) => a.res.writeHead(401, { 'www-authenticate': 'Bearer' }).end(), 'error'],
  'answers 403 with a result': [(a) => a.json({ jsonrpc: '2.0', id: a.id, result: { content: [] } }, 403), 'error'],
  'redirects, 307': [(a) => a.res.writeHead(307, { location: `http://127.0.0.1:${a.req.socket.localPort}/mcp` }).end(),
    'error'],
  'redirects, 301': [(a) => a.res.writeHead(301, { location: '/mcp' }).end(), 'error'],
  'asks to retry later': [(a) => a.res.writeHead(503, { 'retry-after': '0' }).end(), 'error'],
  'answers a JSON-RPC error': [(a) => a.error(-32000, 'went wrong'), 'error'],
  'answers in HTTP/0.9': [(a) => a.bytes(withId(a, RESULT)), 'error'],
  'answers with two lengths': [(a) => a.bytes(withId(a, http(RESULT, 'Content-Length: 7\r\n'))), 'error'],
  'answers with length and chunks': [(a) => a.bytes(withId(a, http(RESULT, 'Transfer-Encoding: chunked\r\n'))),
    'error'],
  'switches protocols': [(a) =>
    a.bytes('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'), 'error'],
  'answers too much': [(a) => a.text('x'.repeat(200_000)), 'error'],
  'streams too much': [(a) => {
    const s = a.stream();
    s.send({ jsonrpc: '2.0', id: a.id, result: { content: [{ type: 'text', text: 'x'.repeat(200_000) }] } });
    s.end();
  }, 'error'],
  'says nothing for too long': [() => {}, 'timeout'],
  'stops in the middle for too long': [(a) =>
    a.bytes('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"jsonrpc"', 'stay'),
    'timeout'],
  'streams comments for ever': [(a) => {
    const s = a.stream();
    const timer = setInterval(() => s.raw(': still here\n\n'), 50);
    a.closed.then(() => clearInterval(timer));
  }, 'timeout'],
};

test('an upstream that dies in any way got the call once, and the outcome says so', async (t) => {
  const { up, gw } = await setUp(t, {
    tools: { ...TOOLS, 'up/slow': { ...TOOLS['up/pay'], timeout: '400ms' } },
    limits: { response: '64KiB', event: '64KiB' },
  });
  const names = Object.keys(DEATHS);
  up.onCall = (arrival) => DEATHS[names[arrival.arguments.amount]][0](arrival);
  const s = await openSession(gw);
  const seconds = await Promise.all(names.map(async (name, amount) => {
    const outcome = DEATHS[name][1];
    const tool = outcome === 'timeout' ? 'up__slow' : 'up__pay';
    const answer = await s.call(tool, { amount });
    assert.equal(answer.result, undefined, `${name}: ${answer.text}`);
    assert.ok(answer.error, `${name}: ${answer.status} ${answer.text}`);
    assert.ok(!/bad gateway|oops|location/i.test(answer.text), `${name}: ${answer.text}`);
    const again = await s.call(tool, { amount });
    assert.equal(again.reason, 'duplicate_outcome', `${name}: ${again.text}`);
    assert.equal(again.refusal.first_outcome, outcome, name);
    return again;
  }));
  for (const [amount, name] of names.entries()) {
    assert.equal(up.calls.filter((c) => c.arguments.amount === amount).length, 1, name);
    const { outcome } = gw.show(seconds[amount].refusal.first_decision_id);
    assert.notEqual(outcome.error_type, 'not_sent', name);
    assert.ok(outcome.outcome === 'timeout' || outcome.error_type, name);
  }
  once(up, gw, names.length);
});

test('a call without a sent byte is recorded as not sent and may be repeated', async (t) => {
  const { up, gw } = await setUp(t);
  const s = await openSession(gw);
  const port = up.port;
  await up.close();
  const refused = await s.call('up__pay', { amount: 1 });
  assert.equal(refused.reason, 'upstream_unavailable', refused.text);
  assert.equal(gw.show(refused.refusal.decision_id).outcome.error_type, 'not_sent');
  await up.listen(port);
  assert.equal((await s.call('up__pay', { amount: 1 })).said, 'ran 1');
  assert.equal((await s.call('up__pay', { amount: 1 })).reason, 'duplicate_outcome');
  assert.equal(up.calls.length, 1);
  gw.verify();
});

test('an upstream that closes kept connections loses at most one call and doubles none', async (t) => {
  const { up, gw } = await setUp(t);
  const s = await openSession(gw);
  for (let i = 0; i < 30; i++) {
    const first = s.call('up__pay', { amount: i });
    if (i % 3 === 0) for (const socket of up.sockets) socket.end(); // races with the call
    if (i % 3 === 1) for (const socket of up.sockets) socket.resetAndDestroy();
    await first;
    await s.call('up__pay', { amount: i });
    assert.ok(up.calls.filter((c) => c.arguments.amount === i).length <= 1, `call ${i}`);
  }
  gw.verify();
});

test('a second answer to a call is dropped and never reaches another call', async (t) => {
  const { up, gw } = await setUp(t);
  const s = await openSession(gw);
  up.onCall = (a) => a.bytes(withId(a, http(RESULT) + http(RESULT.replace('ok', 'second'))), 'stay');
  assert.equal((await s.call('up__pay', { amount: 1 })).reason, 'upstream_failed',
    'two responses are none');
  up.onCall = (a) => a.text('third');
  assert.equal((await s.call('up__pay', { amount: 2 })).said, 'third', 'a leftover answer is dropped');
  up.onCall = (a) => {
    const e = a.stream();
    e.raw(withId(a, `data: ${RESULT}\n\ndata: ${RESULT.replace('ok', 'second')}\n\n`));
    e.end();
  };
  const streamed = await s.call('up__pay', { amount: 3 });
  assert.deepEqual(streamed.messages.map((m) => m.result?.content[0].text), ['ok']);
  once(up, gw, 3);
});

test('a late answer is dropped', async (t) => {
  const { up, gw } = await setUp(t, { tools: { 'up/pay': { ...TOOLS['up/pay'], timeout: '2s' } } });
  const s = await openSession(gw);
  const late = [];
  up.onCall = (a, n) => (n === 1 ? late.push(a) : a.text(`ran ${n}`));
  assert.equal((await s.call('up__pay', { amount: 1 })).reason, 'upstream_timeout');
  late[0].text('late');
  assert.equal((await s.call('up__pay', { amount: 2 })).said, 'ran 2');
  const again = await s.call('up__pay', { amount: 1 });
  assert.equal(again.refusal.first_outcome, 'timeout');
  once(up, gw, 2);
});

// ---- the gateway dies

test('a gateway that is killed while the call runs does not send it again after its restart', async (t) => {
  const { up, gw } = await setUp(t);
  const session = await openSession(gw);
  up.onCall = () => {}; // never answers
  const calls = [session.call('up__pay', { amount: 1 }),
    session.call('up__pay', { amount: 2 }, { key: 'k' })].map((p) => p.catch(() => undefined));
  await up.arrived(2);
  await gw.restart('SIGKILL');
  await Promise.all(calls);
  up.onCall = undefined;
  for (const again of [await session.call('up__pay', { amount: 1 }),
      await session.call('up__pay', { amount: 2 }, { key: 'k' }),
      await new Caller(gw).call('up__pay', { amount: 2 }, { key: 'k' })]) {
    assert.equal(again.reason, 'interrupted_execution_unknown', again.text);
    const { decision, outcome } = gw.show(again.refusal.first_decision_id);
    assert.equal(decision.decision, 'allow');
    assert.deepEqual([outcome.outcome, outcome.error_type], ['error', 'interrupted_execution_unknown']);
  }
  assert.equal((await session.call('up__pay', { amount: 3 })).said, 'ran 3', 'the session goes on');
  once(up, gw, 3);
});

test('a claim holds for the time of its record, whatever later options say', SQLITE_ONLY, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'writ-'));
  // "k" is three hours old
  assert.equal(spawnSync(SAMPLE, [join(dir, 'ledger.db'), join(dir, 'keys'), 'aged']).status, 0);
  assert.equal(writ(['keys', 'new', '--dir', join(dir, 'keys')]).code, 0);
  const up = await startUpstream(t, { tools: [{ name: 'write_file', inputSchema: { type: 'object' } }] });
  const agent = bearer('agent', { tenant: 'acme' });
  const gw = await startGateway(t,
    { agents: [agent.entry], upstreams: { fs: { http: up.url } }, ledger: { claims_kept: '10m' },
    tools: { 'fs/write_file': { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }] } } }, { dir });
  const call = (key) => new Caller(gw, { token: agent.token }).call('fs__write_file', {}, { key, boundary: 'later' });
  for (let starts = 0; starts < 2; starts++) {
    for (const key of ['k', 'l']) assert.equal((await call(key)).reason, 'idempotency_key_reuse', key);
    await gw.restart();
  }
  assert.equal((await call('new')).said, 'ran 1');
  const seconds = gw.decisions(['--decision', 'allow'])
    .map((d) => gw.show(d.decision_id).decision.extensions.writ.claim_seconds);
  assert.deepEqual(seconds, [86400, 86400, 600]);
  assert.equal(gw.verify().facts, 1, 'the time is noted once');
});

test('a gateway that is killed at any moment runs each call at most once', async (t) => {
  const { up, gw } = await setUp(t);
  const session = await openSession(gw);
  const results = new Set();
  for (let round = 0; round < 8; round++) {
    const killed = gw.exited;
    const wave = Array.from({ length: 8 }, (_, i) => {
      const amount = round * 100 + i;
      return session.call('up__pay', { amount }).then((a) => a.result && results.add(amount), () => {});
    });
    await sleep(round * 1.5 + 1); // before, within and after the commits of the wave
    gw.child.kill('SIGKILL');
    await Promise.all(wave);
    await killed;
    await gw.start();
    for (let i = 0; i < 8; i++) {
      const amount = round * 100 + i;
      const again = await session.call('up__pay', { amount });
      if (again.result) results.add(amount);
      else assert.ok(DUPLICATE.has(again.reason), again.text);
      assert.ok(up.calls.filter((c) => c.arguments.amount === amount).length <= 1, `amount ${amount}`);
    }
  }
  for (const amount of results)
    assert.equal(up.calls.filter((c) => c.arguments.amount === amount).length, 1, `amount ${amount}`);
  const decisions = gw.decisions();
  assert.deepEqual(decisions.map((d) => d.seq), decisions.map((_, i) => i), 'no seq is missing or twice');
  const known = new Set(decisions.filter((d) => d.decision === 'allow').map((d) => d.decision_id));
  for (const c of up.calls) {
    const { jti } = JSON.parse(Buffer.from(c.credential.split('.')[1], 'base64url'));
    assert.ok(known.has(jti), 'what arrived is in the ledger');
  }
  assert.equal(gw.verify().in_flight, 0);
});

test('a stopping gateway completes the running call', async (t) => {
  const { up, gw } = await setUp(t);
  const gate = Promise.withResolvers();
  up.onCall = async (a) => { await gate.promise; a.text('ran'); };
  const s = await openSession(gw);
  const running = s.call('up__pay', { amount: 1 });
  await up.arrived(1);
  gw.child.kill('SIGTERM');
  await until(() => s.request('ping').then((a) => a.status !== 200, () => true), 'new requests to be refused');
  gate.resolve();
  assert.equal((await running).said, 'ran');
  assert.deepEqual(await gw.exited, { code: 0, signal: null });
  once(up, gw);
});

// ---- tenants

test('tenants share no duplicates, results or sessions', async (t) => {
  const a = bearer('agent', { tenant: 'a', token: 'token-a' });
  const b = bearer('agent', { tenant: 'b', token: 'token-b' });
  const other = bearer('other', { tenant: 'a', token: 'token-other' });
  const { up, gw } = await setUp(t, {
    agents: [a.entry, b.entry, other.entry],
    tools: { 'up/pay': { ...TOOLS['up/pay'], duplicates: 'replay' } },
  });
  up.onCall = (arrival, n) =>
    arrival.text(`for ${JSON.parse(Buffer.from(arrival.credential.split('.')[1], 'base64url')).tenant} ${n}`);
  const callers = await Promise.all([a, b, other].map((who) => openSession(gw, { token: who.token })));
  // one key, one boundary name, one id
  const answers = [];
  for (const caller of callers)
    answers.push(await caller.call('up__pay', { amount: 1 }, { key: 'same', boundary: 'same', id: 99 }));
  assert.deepEqual(answers.map((x) => x.said), ['for a 1', 'for b 2', 'for a 3']);
  // replay: each his own
  for (const [i, caller] of callers.entries())
    assert.equal((await caller.call('up__pay', { amount: 1 }, { key: 'same', boundary: 'same', id: 99 })).said,
      answers[i].said);
  assert.equal(up.calls.length, 3);
  // an agent cannot use the session of another one
  for (const [i, caller] of callers.entries()) {
    for (const [j, { session }] of callers.entries()) {
      if (i === j) continue;
      const thief = new Caller(gw, { token: [a, b, other][i].token });
      thief.session = session;
      assert.equal((await thief.call('up__pay', { amount: 5 })).status, 404);
      assert.equal((await thief.request('tools/list')).status, 404);
      assert.equal((await thief.close()).status, 404);
    }
  }
  assert.equal(up.calls.length, 3);
  for (const call of up.calls) assert.equal(call.headers.authorization, undefined, 'a token of a client stays here');
  assert.ok(!up.bytes.includes('token-'));
  // no token, a wrong token
  for (const token of [undefined, 'token-c', 'token-', 'token-aa', 'TOKEN-A']) {
    assert.equal((await new Caller(gw, { token }).call('up__pay', { amount: 6 })).status, 401, token);
  }
  assert.equal(up.calls.length, 3);
  // the boundary of each is his own
  assert.equal(gw.boundary('same', 'a').decisions.length, 4);
  assert.equal(gw.boundary('same', 'b').decisions.length, 2);
  assert.ok(gw.boundary('same', 'b').whole);
  gw.verify();
});

// The manifest that a start uses in place of the records is signed. It can be dropped without losing a claim.
test('a start that finds its manifest changed names the command that drops it', SQLITE_ONLY, async (t) => {
  const { up, gw } = await setUp(t);
  const caller = new Caller(gw);
  const call = () => caller.call('up__pay', { amount: 9 }, { key: 'k', boundary: 'run' });
  const edit = (sql) => { const db = new DatabaseSync(gw.ledgerFile); db.exec(sql); db.close(); };
  assert.equal((await call()).said, 'ran 1');
  await gw.stop();
  edit("UPDATE segment SET bytes = zeroblob(length(bytes)) WHERE id > 1 << 62");
  await assert.rejects(gw.start(), /table `segment`.* has changed since it was written: see `writ ledger rebuild`/);
  assert.equal(writ(['ledger', 'rebuild', gw.ledgerFile]).code, 0);
  await gw.start();
  assert.match(writ(['ledger', 'rebuild', gw.ledgerFile]).err, /another process/);
  assert.equal((await call()).reason, 'duplicate_outcome');
  await gw.stop();
  await gw.start(); // with the manifest that the stop wrote
  assert.equal((await call()).reason, 'duplicate_outcome');
  once(up, gw);
});
