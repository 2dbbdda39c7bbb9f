// How a caller learns that its call waits for a verdict, and how it waits: by what its client can do.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { until, writ } from '../support/js/gateway.mjs';
import { sdk1, sdk2 } from '../support/npm/peers.mjs';
import { ALL, ANN, DEV, EVE, OTHER, api, approve, setUp, vote } from '../support/js/reviews.mjs';
import { Streams } from '../support/servers/resumable.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';
import { get, post } from '../support/js/stream.mjs';

const CAN_URL = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } } };
const KEY = 'io.writ/review';

const modernCaller = (gw, options = {}) => new Caller(gw, { token: DEV.token, modern: true, ...options });
const first = (caller, args, options = {}) =>
  caller.call('up__pay', args, { ...options, meta: { ...CAN_URL, ...options.meta } });
const again = (caller, args, state, more = {}, options = {}) =>
  first(caller, args, { ...options, params: { requestState: state, ...more } });
const accepted = { inputResponses: { [KEY]: { action: 'accept' } } };
const openReview = (gw) => until(async () => (await api(gw, ANN, '')).json.reviews.find((r) => r.state === 'open'),
  'the review');

test('a client of 2026-07-28 that can open URLs is asked to, and comes back with its requestState', async (t) => {
  const { up, gw } = await setUp(t,
    { approval: { hold_retry: '700ms' }, top: { admin_url: 'https://admin.example/writ' } });
  const c = modernCaller(gw);
  const asked = await first(c, { amount: 1 });
  assert.equal(asked.status, 200);
  assert.equal(asked.result.resultType, 'input_required');
  const id = asked.refusal.continuation_id;
  assert.deepEqual(Object.keys(asked.result.inputRequests), [KEY]);
  const question = asked.result.inputRequests[KEY];
  assert.equal(question.method, 'elicitation/create');
  assert.deepEqual(Object.keys(question.params).sort(), ['message', 'mode', 'url']);
  assert.deepEqual([question.params.mode, question.params.url], ['url', `https://admin.example/writ/reviews/${id}`]);
  assert.equal(asked.refusal.review_url, question.params.url);
  assert.equal(typeof asked.result.requestState, 'string');

  // it is held with heartbeats for a while, and then asked again; a person who agreed is not asked again
  const began = Date.now();
  const held = await again(c, { amount: 1 }, asked.result.requestState, accepted);
  assert.ok(Date.now() - began >= 600, 'held');
  assert.ok(held.isStream);
  assert.equal(held.result.resultType, 'input_required');
  assert.equal(held.result.inputRequests, undefined);
  const more = await again(c, { amount: 1 }, held.result.requestState);
  assert.equal(more.result.inputRequests, undefined, 'the requestState remembers');
  const unanswered = await again(c, { amount: 1 }, asked.result.requestState);
  assert.ok(unanswered.result.inputRequests, 'an unanswered question is asked again');

  const waiting = again(c, { amount: 1 }, more.result.requestState);
  await approve(gw, id);
  let done = await waiting;
  // the approval came late
  if (done.result?.resultType === 'input_required') done = await again(c, { amount: 1 }, done.result.requestState);
  assert.equal(done.said, 'ran 1');
  assert.equal((await again(c, { amount: 1 }, more.result.requestState)).reason, 'duplicate_outcome');
  assert.equal(up.calls.length, 1);
  const sent = up.calls[0].message.params;
  assert.deepEqual([sent.requestState, sent.inputResponses], [undefined, undefined],
    'what is between us does not go upstream');
  assert.equal(up.calls[0].raw.includes(KEY), false);
  gw.verify();
});

test('a requestState is valid for one call of one agent and only when Writ signed it', async (t) => {
  const { up, gw } = await setUp(t, { approval: { hold_retry: '1ms' }, review: { expires: '6s', redeem: '6s' } });
  const c = modernCaller(gw);
  const asked = await first(c, { amount: 1 });
  const state = asked.result.requestState;
  const other = await first(c, { amount: 2 });
  await approve(gw, asked.refusal.continuation_id);
  const reason = async (caller, args, s, more, options) => (await again(caller, args, s, more, options)).reason;

  assert.equal(await reason(c, { amount: 3 }, state), 'continuation_mismatch', 'another call');
  assert.equal(await reason(c, { amount: 1 }, other.result.requestState), 'continuation_mismatch', "another call's");
  assert.equal(await reason(modernCaller(gw, { token: OTHER.token }), { amount: 1 }, state), 'continuation_mismatch',
    'another agent');
  assert.equal(await reason(c, { amount: 1 }, state, {}, { meta: { 'io.writ/continuationId': 'another' } }),
    'continuation_mismatch');
  const [head, payload, signature] = state.slice('io.writ/review:'.length).split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url'));
  assert.equal(claims.review, asked.refusal.continuation_id);
  const forged = (c2) =>
    `io.writ/review:${head}.${Buffer.from(JSON.stringify({ ...claims, ...c2 })).toString('base64url')}.${signature}`;
  const unsigned =
    `io.writ/review:${Buffer.from('{"alg":"none","typ":"writ-continuation"}').toString('base64url')}.${payload}.`;
  for (const bad of [forged({ exp: claims.exp + 9 }), forged({ shown: true }), unsigned, state.slice(0, -4),
      `${state}AAAA`, 'io.writ/review:', 'io.writ/review:x.y.z']) {
    assert.equal(await reason(c, { amount: 1 }, bad), 'continuation_invalid', bad.slice(0, 40));
  }
  // an answer to anything but our question does not pass the voters by
  for (const bad of [{ inputResponses: { other: { action: 'accept' } } },
      { inputResponses: { [KEY]: { action: 'maybe' } } }, { inputResponses: [] },
      { inputResponses: { [KEY]: { action: 'accept' }, more: {} } }]) {
    assert.equal(await reason(c, { amount: 1 }, state, bad), 'input_not_awaited', JSON.stringify(bad));
  }
  assert.equal(up.calls.length, 0);
  assert.equal((await again(c, { amount: 1 }, state, accepted)).said, 'ran 1');
  const { exp } = JSON.parse(Buffer.from(other.result.requestState.split('.').at(-2), 'base64url'));
  await until(() => exp * 1000 < Date.now(), 'its end');
  assert.equal(await reason(c, { amount: 2 }, other.result.requestState), 'continuation_invalid', 'it has its time');
  assert.equal(up.calls.length, 1);
  gw.verify();
});

test('a requestState outlives a restart and a key rotation', async (t) => {
  const { up, gw } = await setUp(t, { approval: { hold_retry: '1ms' } });
  const c = modernCaller(gw);
  const asked = await first(c, { amount: 1 });
  await gw.restart('SIGKILL');
  const later = await again(c, { amount: 1 }, asked.result.requestState, accepted);
  assert.equal(later.result.resultType, 'input_required');
  assert.equal(later.refusal.continuation_id, asked.refusal.continuation_id);
  assert.equal(writ(['keys', 'rotate', '--dir', gw.path('keys')]).code, 0);
  await gw.reload(gw.config);
  await approve(gw, asked.refusal.continuation_id);
  assert.match((await again(c, { amount: 1 }, later.result.requestState)).said, /^ran/);
  assert.equal(up.calls.length, 1);
});

test('a declined or cancelled URL elicitation gets the refusal at once, and the review stays open', async (t) => {
  const { up, gw } = await setUp(t, { approval: { hold_retry: '10m' } });
  const c = modernCaller(gw);
  for (const [amount, action] of [[1, 'decline'], [2, 'cancel']]) {
    const asked = await first(c, { amount });
    const told = await again(c, { amount }, asked.result.requestState, { inputResponses: { [KEY]: { action } } });
    assert.ok(!told.isStream, 'not held');
    assert.deepEqual([told.error.code, told.reason], [-31001, 'approval_required']);
    assert.equal(told.refusal.continuation_id, asked.refusal.continuation_id);
    await approve(gw, told.refusal.continuation_id);
    assert.equal((await c.call('up__pay', { amount })).said, `ran ${amount}`);
  }
  assert.equal(up.calls.length, 2);
});

test('clients without URL elicitation get the refusal with all that they need', async (t) => {
  const { gw } = await setUp(t);
  const c = modernCaller(gw);
  for (const caps of [{}, { elicitation: {} }, { elicitation: { form: {} } }, { elicitation: { url: true } },
      { elicitation: 'url' }]) {
    const told = await c.call('up__pay', { amount: 1 },
      { meta: { 'io.modelcontextprotocol/clientCapabilities': caps } });
    assert.equal(told.error.code, -31001, JSON.stringify(caps));
    assert.equal(told.reason, 'approval_required');
    assert.equal(told.refusal.review_url, `http://127.0.0.1:${gw.adminPort}/reviews/${told.refusal.continuation_id}`);
    assert.ok(told.refusal.retry_after_ms > 0);
  }
  const s = await openSession(gw, { token: DEV.token, capabilities: { elicitation: {} } });
  assert.equal((await s.call('up__pay', { amount: 2 })).error.code, -31001);
  const old = await openSession(gw,
    { token: DEV.token, version: '2025-06-18', capabilities: { elicitation: { url: {} } } });
  assert.equal((await old.call('up__pay', { amount: 3 })).error.code, old.opened.result.protocolVersion < '2025-11-25'
    ? -31001 : -32042);
});

test('a session of 2025-11-25 whose client can open URLs gets URLElicitationRequired, also after a restart',
    async (t) => {
  const { up, gw } = await setUp(t);
  const s = await openSession(gw, { token: DEV.token, capabilities: { elicitation: { url: {} } } });
  const told = await s.call('up__pay', { amount: 1 });
  assert.equal(told.error.code, -32042);
  const id = told.refusal.continuation_id;
  assert.deepEqual(told.error.data.elicitations.map(({ message, ...e }) => e),
    [{ elicitationId: id, mode: 'url', url: told.refusal.review_url }]);
  assert.equal(told.reason, 'approval_required');
  await gw.restart('SIGKILL');
  assert.equal((await s.call('up__pay', { amount: 1 })).error.code, -32042);
  await approve(gw, id);
  assert.match((await s.call('up__pay', { amount: 1 })).said, /^ran/);
  assert.equal(up.calls.length, 1);
});

test('a held request sends heartbeats and progress, and then runs', async (t) => {
  const { up, gw } = await setUp(t, { approval: { hold: '30s' } });
  up.onCall = (m, n) => {
    if (m.meta?.progressToken === undefined) return m.text(`ran ${n}`);
    const stream = m.stream();
    for (const progress of [0, 0.5])
      stream.send({ jsonrpc: '2.0', method: 'notifications/progress',
        params: { progressToken: m.meta.progressToken, progress, total: 4, message: 'the tool' } });
    stream.send({ jsonrpc: '2.0', id: m.id,
      result: { ...(m.modern ? { resultType: 'complete' } : {}), content: [{ type: 'text', text: `ran ${n}` }] } });
    stream.end();
    return true;
  };
  for (const [amount, caller] of [[1, await openSession(gw, { token: DEV.token })], [2, modernCaller(gw)]]) {
    let heard = '';
    const waiting = caller.call('up__pay', { amount },
        { meta: { progressToken: `p${amount}` }, onResponse: (res) => res.on('data', (d) => {
      heard += d;
    }) });
    const { id } = await openReview(gw);
    await until(() => heard.split('notifications/progress').length > 2, 'progress, at once and again');
    await approve(gw, id);
    const done = await waiting;
    assert.equal(done.said, `ran ${amount}`);
    assert.ok(done.isStream);
    const all = done.messages.filter((m) => m.method === 'notifications/progress').map((m) => m.params);
    const told = all.slice(0, -2), own = all.slice(-2);
    for (const p of told) {
      assert.equal(p.progressToken, `p${amount}`);
      assert.match(p.message, new RegExp(`/reviews/${id}$`));
    }
    assert.equal(told[0].progress, 0);
    assert.ok(told.every((p) => p.total === 30), 'for so long it is held');
    assert.ok(all.every((p, i) => i === 0 || p.progress > all[i - 1].progress),
      'it grows, also when the tool begins to count at 0');
    const base = own[0].progress;
    assert.deepEqual(own.map(({ message, ...p }) => p),
      [{ progressToken: `p${amount}`, progress: base, total: base + 4 },
        { progressToken: `p${amount}`, progress: base + 0.5, total: base + 4 }]);
  }
  // a client that accepts only JSON is held without a stream
  const plain = modernCaller(gw);
  const waiting = plain.call('up__pay', { amount: 3 }, { headers: { accept: 'application/json' } });
  await approve(gw, (await openReview(gw)).id);
  const done = await waiting;
  assert.deepEqual([done.said, done.isStream], ['ran 3', false]);
  // a caller that lost its permission before the verdict gets an error on the stream
  const s = await openSession(gw, { token: DEV.token });
  const last = s.call('up__pay', { amount: 4 });
  const { id } = await openReview(gw);
  await gw.reload({ ...gw.config, agents: ALL.filter((a) => a !== DEV).map((a) => a.entry) });
  await vote(gw, EVE, id, 'reject');
  assert.equal((await last).reason, 'unauthenticated');
  assert.equal(up.calls.length, 3);
  gw.verify();
});

test('progress of a held call continues on the GET of a client that lost the stream',
    async (t) => {
  const { up, gw } = await setUp(t, { approval: { hold: '30s' } });
  const streams = new Streams();
  up.options.onGet = streams.onGet;
  const step = (progress) =>
    ({ jsonrpc: '2.0', method: 'notifications/progress',
      params: { progressToken: 'p', progress, total: 4, message: 'the tool' } });
  let stream;
  up.onCall = (m) => { stream = streams.open(m).send(step(0)); };
  const told = (from) => from.messages.filter((m) => m.params?.message === 'the tool')
    .map((m) => [m.params.progress, m.params.total]);

  const s = await openSession(gw, { token: DEV.token });
  const body = s.callMessage('up__pay', { amount: 1 }, { meta: { progressToken: 'p' } });
  const client = await post(gw, s, body);
  await client.has('waits for an approval');
  await approve(gw, (await openReview(gw)).id);
  await client.has('the tool');
  const [[begun, total]] = told(client);
  assert.ok(begun > client.messages.findLast((m) => /waits for/.test(m.params?.message)).params.progress);
  client.leave();
  stream.send(step(0.5));
  const last = client.events.findLast((e) => e.id).id;
  const rest = await get(gw, s, last);
  await rest.has('the tool');
  stream.send({ jsonrpc: '2.0', id: body.id, result: { content: [{ type: 'text', text: 'ran' }] } });
  stream.end();
  await rest.done();
  assert.deepEqual(told(rest), [[begun + 0.5, total]]);
  assert.equal(rest.messages.at(-1).result.content[0].text, 'ran');
  const again = await get(gw, s, last); // the call has ended, and its events are requested once more
  await again.done();
  assert.deepEqual(told(again), told(rest));
  gw.verify();
});

test('held requests do not use up their agent\'s share', async (t) => {
  const { up, gw } = await setUp(t,
    { approval: { hold: '20s' }, top: { loops: 1, limits: { in_flight: 8, agent_share: 50 } } });
  const s = await openSession(gw, { token: DEV.token });
  for (let amount = 1; amount <= 12; amount++) {
    const waiting = s.call('up__pay', { amount });
    await approve(gw, (await openReview(gw)).id);
    assert.equal((await waiting).said, `ran ${amount}`);
  }
  assert.equal(up.calls.length, 12);
});

/* ---- ordinary SDK clients, unattended ---- */

const people = { opened: [] };
const openPage = async (request) => {
  people.opened.push(request.params.url);
  return { action: 'accept' };
};

test('SDK v2 of 2026-07-28 waits for the verdict by itself, over several rounds', async (t) => {
  const { up, gw } = await setUp(t, { approval: { hold_retry: '1s' } });
  const { Client, StreamableHTTPClientTransport } = await sdk2();
  const client = new Client({ name: 'v2', version: '1' },
    { capabilities: { elicitation: { url: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } });
  people.opened = [];
  client.setRequestHandler('elicitation/create', openPage);
  await client.connect(new StreamableHTTPClientTransport(new URL(gw.url),
    { requestInit: { headers: { authorization: `Bearer ${DEV.token}` } } }));
  const calling = client.callTool({ name: 'up__pay', arguments: { amount: 1 } });
  const { id } = await openReview(gw);
  const rounds = () => gw.log.filter((line) => line.event === 'call' && line.review === id).length;
  await until(() => rounds() >= 4, 'several rounds');
  await approve(gw, id);
  assert.equal((await calling).content[0].text, 'ran 1');
  assert.deepEqual(people.opened, [`http://127.0.0.1:${gw.adminPort}/reviews/${id}`], 'asked once');
  // a rejection is an error of the call
  const refused = assert.rejects(client.callTool({ name: 'up__pay', arguments: { amount: 2 } }),
    (e) => e.code === -31001 && e.data.reason === 'approval_rejected');
  await vote(gw, EVE, (await openReview(gw)).id, 'reject');
  await refused;
  await client.close();
  assert.equal(up.calls.length, 1);
  gw.verify();
});

test('SDK v1 and v2 of 2025-11-25 get the review\'s URL, and their repeated call runs', async (t) => {
  const { up, gw } = await setUp(t);
  const v1 = await sdk1();
  const v2 = await sdk2();
  const headers = { requestInit: { headers: { authorization: `Bearer ${DEV.token}` } } };
  const clients = [
    [new v1.Client({ name: 'v1', version: '1' }, { capabilities: { elicitation: { url: {} } } }),
      new v1.StreamableHTTPClientTransport(new URL(gw.url), headers)],
    [new v2.Client({ name: 'v2', version: '1' }, { capabilities: { elicitation: { url: {} } } }),
      new v2.StreamableHTTPClientTransport(new URL(gw.url), headers)],
  ];
  for (const [i, [client, transport]] of clients.entries()) {
    await client.connect(transport);
    const call = () => client.callTool({ name: 'up__pay', arguments: { amount: i } });
    // as an application does it: shows the page, and calls again when the person has seen to it
    await assert.rejects(call(), (error) => {
      assert.equal(error.code, -32042, error.stack);
      assert.equal(error.elicitations[0].mode, 'url');
      assert.match(error.elicitations[0].url, /\/reviews\//);
      return true;
    });
    await approve(gw, (await openReview(gw)).id);
    assert.equal((await call()).content[0].text, `ran ${i + 1}`);
    await client.close();
  }
  assert.equal(up.calls.length, 2);
  gw.verify();
});

test('SDK v1 and v2 without elicitation wait on one held request', async (t) => {
  const { up, gw } = await setUp(t, { approval: { hold: '30s' } });
  const v1 = await sdk1();
  const v2 = await sdk2();
  const headers = { requestInit: { headers: { authorization: `Bearer ${DEV.token}` } } };
  const clients = [
    [new v1.Client({ name: 'v1', version: '1' }), new v1.StreamableHTTPClientTransport(new URL(gw.url), headers),
      (c, p, o) => c.callTool(p, undefined, o)],
    [new v2.Client({ name: 'v2', version: '1' }), new v2.StreamableHTTPClientTransport(new URL(gw.url), headers),
      (c, p, o) => c.callTool(p, o)],
    [new v2.Client({ name: 'v2', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
      new v2.StreamableHTTPClientTransport(new URL(gw.url), headers), (c, p, o) => c.callTool(p, o)],
  ];
  for (const [i, [client, transport, callTool]] of clients.entries()) {
    await client.connect(transport);
    const progress = [];
    // a timeout far below the wait: progress is what keeps the call alive
    const calling = callTool(client, { name: 'up__pay', arguments: { amount: i } },
      { timeout: 9000, resetTimeoutOnProgress: true, onprogress: (p) => progress.push(p.progress) });
    const { id } = await openReview(gw);
    await until(() => progress.length >= (i === 0 ? 3 : 1), 'progress');
    await approve(gw, id);
    assert.equal((await calling).content[0].text, `ran ${i + 1}`);
    await client.close();
  }
  assert.equal(up.calls.length, 3);
  gw.verify();
});
