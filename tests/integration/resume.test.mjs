// Calls whose stream ends before their answer: the client resumes elsewhere, or the gateway does, and the call keeps
// one outcome.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { bearer, startGateway, until } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { Streams } from '../support/servers/resumable.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { get, post } from '../support/js/stream.mjs';

const RULES = { 'up/work': { scope: 'work', arguments: [{ arg: 'n', op: 'type', value: 'number' }] } };

const notice = (data) => ({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } });
const response = (id, text) => ({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } });
const outcomes = (gw) => gw.decisions().map((d) => gw.show(d.decision_id).outcome).filter((o) => o);
const outcomeOf = (gw) => until(() => outcomes(gw).at(-1), 'the outcome');

async function setUp(t, { config = {}, rules = RULES, path = '/mcp/up', loops = 2 } = {}) {
  const streams = new Streams();
  const up = await startUpstream(t, { onGet: streams.onGet });
  const gw = await startGateway(t, { loops, upstreams: { up: { http: up.url } }, tools: rules, ...config });
  return { streams, up, gw, s: await openSession(gw, { path }) };
}

/** A call that has begun to stream, and its stream at the server. */
async function begun(x, n = 1) {
  let stream;
  x.up.onCall = (a) => {
    stream = x.streams.open(a);
    stream.send(undefined, 'retry: 300\n').send(notice('one'));
    stream.id = a.id;
  };
  const body = x.s.callMessage('work', { n }, { id: x.id });
  const client = await post(x.gw, x.s, body);
  await client.has('one');
  return { client, stream, body, last: client.events.findLast((e) => e.id).id };
}

test('a client resumes a lost call by GET, and gets the answer after its outcome is recorded', async (t) => {
  const x = await setUp(t);
  for (let i = 0; i < 6; i++) { // over both loops
    const { client, stream, last, body } = await begun(x, i);
    client.leave();
    stream.send(notice('two'));
    const rest = await get(x.gw, x.s, last);
    assert.equal(rest.status, 200);
    await rest.has('two');
    stream.send(response(body.id, `ran ${i}`));
    stream.end();
    await rest.done();
    assert.deepEqual(rest.messages.map((m) => m.params?.data ?? m.result.content[0].text), ['two', `ran ${i}`]);
    assert.equal(rest.events.at(-1).id, 's' + (i + 1) + '_4');
    const outcome = outcomes(x.gw).at(-1); // it is there already
    assert.equal(outcome.outcome, 'executed');
    assert.match(outcome.tool_output_hash, /^sha256:/);
  }
  assert.equal(x.up.calls.length, 6);
  assert.ok(!x.up.arrivals.some((a) => a.method === 'notifications/cancelled'));
});

test('when no client resumes a call, the gateway asks for its answer', async (t) => {
  const x = await setUp(t);
  const { client, stream, body, last } = await begun(x);
  client.leave();
  await stream.closed();
  stream.send(response(body.id, 'ran'));
  stream.end();
  assert.equal((await outcomeOf(x.gw)).outcome, 'executed');
  assert.deepEqual(x.streams.gets, ['s1_2']);

  // a later request gets only the recorded answer
  const late = await get(x.gw, x.s, last);
  await late.done();
  assert.equal(late.messages.at(-1).result.content[0].text, 'ran');
  stream.events.at(-1).text = `id: s1_3\ndata: ${JSON.stringify(response(body.id, 'other'))}\n\n`;
  const forged = await get(x.gw, x.s, last);
  await forged.done();
  assert.deepEqual(forged.messages.map((m) => m.error?.data.reason), ['answer_unknown']);
  assert.equal(forged.messages[0].id, body.id);
});

test('a call without an answer in time has the outcome unknown and is not repeated', async (t) => {
  const x = await setUp(t, { rules: { 'up/work': { ...RULES['up/work'], timeout: '4s' } } });
  const { client, stream } = await begun(x);
  client.leave();
  await stream.closed();
  const outcome = await outcomeOf(x.gw);
  assert.equal(outcome.outcome, 'timeout');
  assert.equal((await x.s.call('work', { n: 1 })).reason, 'duplicate_outcome');
  assert.equal(x.up.calls.length, 1);
});

test('a client that comes back while the gateway asks gets the stream', async (t) => {
  const x = await setUp(t);
  const { client, stream, body, last } = await begun(x);
  client.leave();
  await stream.taken(2); // by the gateway
  const rest = await get(x.gw, x.s, last);
  assert.equal(rest.status, 200);
  stream.send(response(body.id, 'ran'));
  stream.end();
  await rest.done();
  assert.equal(rest.messages.at(-1).result.content[0].text, 'ran');
  assert.equal(outcomes(x.gw).at(-1).outcome, 'executed');
});

test('a client that resumes and leaves repeatedly loses no event', async (t) => {
  const x = await setUp(t);
  const { client, stream, body, last } = await begun(x);
  let from = last, at = client;
  for (let i = 0; i < 3; i++) {
    at.leave();
    at = await get(x.gw, x.s, from);
    assert.equal(at.status, 200);
    stream.send(notice(`part ${i}`));
    await at.has(`part ${i}`);
    from = at.events.at(-1).id;
  }
  stream.send(response(body.id, 'ran'));
  stream.end();
  await at.done();
  assert.equal(at.messages.at(-1).result.content[0].text, 'ran');
  assert.deepEqual(outcomes(x.gw).map((o) => o.outcome), ['executed']);
});

test('a server that closes a stream is asked again after its retry time, on the client\'s open stream', async (t) => {
  const x = await setUp(t);
  const { client, stream, body } = await begun(x);
  const from = Date.now();
  await stream.hangUp();
  await stream.taken(2);
  assert.ok(Date.now() - from >= 290, `${Date.now() - from} ms`);
  stream.res.destroy(); // a broken connection is not an end either
  await stream.taken(3);
  stream.send(response(body.id, 'ran'));
  stream.end();
  await client.done();
  assert.equal(client.messages.at(-1).result.content[0].text, 'ran');
  assert.equal(outcomes(x.gw).at(-1).outcome, 'executed');
  assert.equal(x.up.calls.length, 1);
});

test('an ungoverned request can be resumed as well', async (t) => {
  const x = await setUp(t);
  let stream;
  x.up.onMessage = (a) => {
    if (a.method !== 'prompts/get') return undefined;
    stream = x.streams.open(a);
    stream.send(notice('one'));
    return true;
  };
  const body = x.s.message('prompts/get', { name: 'p' });
  const client = await post(x.gw, x.s, body);
  await client.has('one');
  client.leave();
  await stream.closed();
  const rest = await get(x.gw, x.s, 's1_1');
  stream.send({ jsonrpc: '2.0', id: body.id, result: { messages: [] } });
  stream.end();
  await rest.done();
  assert.deepEqual(rest.messages.at(-1).result, { messages: [] });
});

test('a reused id has no answer by GET', async (t) => {
  const x = await setUp(t);
  x.id = 'twice';
  const first = await begun(x, 1);
  first.stream.send(response('twice', 'first'));
  first.stream.end();
  await first.client.done();
  const second = await begun(x, 2);
  second.client.leave();
  const rest = await get(x.gw, x.s, first.last); // the first call's answer, while the second runs
  await rest.done();
  assert.deepEqual(rest.messages.map((m) => m.error?.data.reason), ['answer_unknown']);
  second.stream.send(response('twice', 'second'));
  second.stream.end();
  await until(() => outcomes(x.gw).length === 2, 'both outcomes');
  const [one, two] = outcomes(x.gw);
  assert.notEqual(one.tool_output_hash, two.tool_output_hash);
});

test('every event is forwarded unchanged on POST and GET: ids, retry, comments, names, empty data', async (t) => {
  const x = await setUp(t);
  const raw = [
    'id: a 1\ndata:\n\n', ': a comment\n\n', 'retry: 1234\n\n',
    'event: message\nid: a 2\nretry: 5\ndata: {"jsonrpc":"2.0","method":"notifications/x"}\n\n',
    'id:\ndata: {"jsonrpc":"2.0","method":"notifications/y"}\n\n', ':\n\n',
  ];
  const want = [
    { id: 'a 1', data: '' }, { comment: ' a comment' }, { retry: '1234' },
    { id: 'a 2', event: 'message', retry: '5', data: '{"jsonrpc":"2.0","method":"notifications/x"}' },
    { id: '', data: '{"jsonrpc":"2.0","method":"notifications/y"}' },
  ];
  const seen = (stream) => stream.events.filter((e) => e.comment !== '')
    .map((e) => (e.comment === undefined ? e : { comment: ` ${e.comment}`.replace(/^ {2}/, ' ') }));
  x.up.onCall = async (a) => {
    const stream = a.stream();
    for (const piece of raw) stream.raw(piece);
    stream.send(response(a.id, 'ran'));
    stream.end();
  };
  const posted = await post(x.gw, x.s, x.s.callMessage('work', { n: 1 }));
  await posted.done();
  assert.deepEqual(seen(posted).slice(0, 5), want);
  x.up.options.onGet = (req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const piece of raw) res.write(piece);
    res.end();
  };
  const got = await get(x.gw, x.s);
  await got.done();
  assert.deepEqual(seen(got), want);
});

test('a gateway that was restarted passes the recorded answer alone', async (t) => {
  const x = await setUp(t);
  const { client, stream, last, body } = await begun(x);
  stream.send(response(body.id, 'ran'));
  stream.end();
  await client.done();
  const { client: other, stream: cut, body: second, last: from } = await begun(x, 2);
  other.leave();
  await cut.closed();
  await x.gw.restart('SIGKILL');
  const rest = await get(x.gw, x.s, last);
  await rest.done();
  assert.deepEqual(rest.messages.map((m) => m.result?.content[0].text), ['ran']);
  stream.events.at(-1).text = `id: s1_3\ndata: ${JSON.stringify(response(body.id, 'other'))}\n\n`;
  const forged = await get(x.gw, x.s, last);
  await forged.done();
  assert.deepEqual(forged.messages.map((m) => m.error?.data.reason), ['answer_unknown']);
  cut.send(response(second.id, 'ran'));
  cut.end();
  const late = await get(x.gw, x.s, from);
  await late.done();
  assert.deepEqual(late.messages.map((m) => m.error?.data.reason), ['interrupted_execution_unknown']);
  assert.equal(x.up.calls.length, 2);
});

test('another session or agent that names the events of a stream gets none of them',
    async (t) => {
  const [ada, bob] = [bearer('ada'), bearer('bob')];
  const streams = new Streams();
  const up = await startUpstream(t,
    { onGet: (req, res) =>
      (streams.owner === req.headers['mcp-session-id'] ? streams.onGet(req, res) : res.writeHead(400).end()) });
  const gw = await startGateway(t,
    { agents: [ada.entry, bob.entry], upstreams: { up: { http: up.url } }, tools: RULES });
  const open = (agent) => openSession(gw, { path: '/mcp/up', token: agent.token });
  const x = { streams, up, gw, s: await open(ada) };
  const others = [await open(ada), await open(bob)];
  const { client, stream, body, last } = await begun(x);
  streams.owner = up.calls[0].headers['mcp-session-id'];
  client.leave();
  await stream.closed();
  for (const other of others) {
    const told = await get(gw, other, last);
    assert.equal(told.status, 400, 'the server knows another session');
    const stolen = await get(gw,
      Object.assign(Object.create(other),
        { headers: (m, more) => ({ ...other.headers(m, more), 'mcp-session-id': x.s.session }) }), last);
    assert.ok(other === others[0] ? stolen.status === 200 : stolen.status === 404, `${stolen.status}`);
    stolen.leave();
    await stream.closed();
  }
  stream.send(response(body.id, 'ran'));
  stream.end();
  assert.equal((await outcomeOf(gw)).outcome, 'executed');
  assert.equal(up.calls.length, 1);
});

test('events are parsed alike in every layout of their bytes', async (t) => {
  const x = await setUp(t);
  const bytes = (id) =>
    Buffer.from(`\ufeff: hello\r\rretry: 700\r\nid: e1\rdata:\r\r\ndata: ` +
      `${JSON.stringify(notice('grüße 🦉'))}\r\n\r\nid: e2\ndata: ${JSON.stringify(response(id, 'größe 🦉'))}\r\r`);
  x.up.onCall = async (a) => {
    a.res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const byte of bytes(a.id)) {
      a.res.write(Buffer.from([byte])); // every character and every line end is cut somewhere
      await new Promise((r) => setImmediate(r));
    }
    a.res.end();
  };
  const answer = await x.s.call('work', { n: 1 });
  assert.equal(answer.said, 'größe 🦉');
  assert.deepEqual(answer.messages.map((m) => m.params?.data).filter(Boolean), ['grüße 🦉']);
  assert.deepEqual(answer.events.filter((e) => e.id).map((e) => e.id), ['e1', 'e2']);
  assert.equal((await outcomeOf(x.gw)).outcome, 'executed');
});
