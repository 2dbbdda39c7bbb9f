// Calls whose upstream asks for input (2026-07-28, input_required): all rounds are one governed call with one claim,
// each round is a decision, and the last has the outcome.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { bearer, startGateway, until } from '../support/js/gateway.mjs';
import { Caller } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const any = [{ arg: '', op: 'type', value: 'any' }];
const TOOLS = { 'up/*': { scope: 's', arguments: any } };
const ada = bearer('ada', { tenant: 'acme' });
const bob = bearer('bob', { tenant: 'acme' });
const eve = bearer('ada', { tenant: 'evil', token: 'token-of-eve' });

const question = { name: { method: 'elicitation/create',
  params: { mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: {} } } } };
const answer = (name) => ({ name: { action: 'accept', content: { name } } });
let serial = 0;

/** Asks for `rounds` rounds of input, then is done. Its state is fresh in every round, or left out. */
function asks(rounds, { state = () => `state ${++serial} ünïcode "\\` } = {}) {
  const given = new Map(); // state -> round
  return (call) => {
    const round = given.get(call.params.requestState) ?? (call.params.inputResponses === undefined ? 0 : rounds);
    if (round === rounds) return call.text(`hello ${call.params.inputResponses.name.content.name}`);
    const next = state?.();
    if (next !== undefined) given.set(next, round + 1);
    return call.json({ jsonrpc: '2.0', id: call.id,
      result: { resultType: 'input_required', inputRequests: question,
        ...(next === undefined ? {} : { requestState: next }) } });
  };
}

async function setUp(t, onCall, config = {}) {
  const up = await startUpstream(t, { onCall });
  const gw = await startGateway(t,
    { agents: [ada.entry, bob.entry, eve.entry], upstreams: { up: { http: up.url, credential: { meta: true } } },
      tools: TOOLS, ...config });
  const of = (agent, options = {}) => new Caller(gw, { path: '/mcp/up', modern: true, token: agent.token, ...options });
  return { up, gw, of, caller: of(ada) };
}

/** The next round: the upstream's state, and the person's answer. */
const next = (asked, name = 'Ada', more = {}) =>
  ({ params: { inputResponses: answer(name),
    ...(asked.result.requestState === undefined ? {} : { requestState: asked.result.requestState }), ...more } });

const jti = (call) => JSON.parse(Buffer.from(call.credential.split('.')[1], 'base64url')).jti;

test('all rounds of a call are one governed call: each supersedes the one before, the last has the outcome',
    async (t) => {
  const { up, gw, caller } = await setUp(t, asks(2));
  const first = await caller.call('greet', { n: 1 });
  assert.equal(first.result.resultType, 'input_required');
  assert.deepEqual(first.result.inputRequests, question);
  const second = await caller.call('greet', { n: 1 }, next(first, 'one'));
  assert.equal(second.result.resultType, 'input_required');
  assert.deepEqual(gw.decisions().map((d) => [d.decision, d.outcome, d.superseded]),
    [['allow', null, true], ['allow', null, false]]);
  const third = await caller.call('greet', { n: 1 }, next(second, 'two'));
  assert.equal(third.said, 'hello two');

  assert.equal(up.calls.length, 3);
  assert.deepEqual(up.calls.map((c) => c.params.requestState),
    [undefined, first.result.requestState, second.result.requestState]);
  const shown = gw.decisions().map((d) => gw.show(d.decision_id));
  const [a, b, c] = shown.map((s) => s.decision);
  assert.deepEqual([a.supersedes, b.supersedes, c.supersedes], [null, a.decision_id, b.decision_id]);
  assert.deepEqual(shown.map((s) => s.outcome?.outcome), [undefined, undefined, 'executed']);
  assert.equal(shown[0].superseded_by, b.decision_id);
  assert.equal(new Set([a, b, c].map((d) => d.idempotency_key)).size, 1);
  assert.equal(new Set([a, b, c].map((d) => d.boundary_id)).size, 1);
  assert.deepEqual([a, b, c].map((d) => d.seq), [0, 1, 2]);
  assert.deepEqual(up.calls.map(jti), [a, b, c].map((d) => d.decision_id), 'every round has a credential of its own');
  assert.deepEqual([a, b, c].map((d) => d.extensions.writ.round), [undefined, 1, 2]);
  const digests = [a, b, c].map((d) => d.extensions.writ.input_digest);
  assert.equal(digests[0], undefined);
  assert.match(digests[1], /^sha256:[0-9a-f]{64}$/);
  assert.notEqual(digests[1], digests[2]);

  const again = await caller.call('greet', { n: 1 });
  assert.equal(again.reason, 'duplicate_outcome', 'and under one claim');
  assert.equal(again.refusal.first_decision_id, c.decision_id);
  assert.equal(up.calls.length, 3);
  gw.verify();
});

test('an upstream that gives no state is answered with inputResponses alone', async (t) => {
  const { up, gw, caller } = await setUp(t, asks(1, { state: null }));
  const first = await caller.call('greet');
  assert.equal(first.result.requestState, undefined);
  assert.equal((await caller.call('greet', {}, next(first))).said, 'hello Ada');
  assert.equal((await caller.call('greet', {}, next(first))).reason, 'duplicate_outcome');
  assert.equal(up.calls.length, 2);
  gw.verify();
});

test('equal calls that wait without a state are distinguished by key, run and agent', async (t) => {
  const { up, gw, of } = await setUp(t, asks(1, { state: null }),
    { tools: { 'up/*': { scope: 's', arguments: any, duplicates: 'forbid' } } });
  const ways = [[of(ada), {}], [of(ada), { key: 'one' }], [of(ada), { key: 'two' }], [of(ada), { boundary: 'run-1' }],
    [of(ada), { boundary: 'run-2' }], [of(ada), { key: 'one-in-3', boundary: 'run-3' }], [of(bob), { key: 'one' }]];
  const asked = [];
  for (const [caller, options] of ways) asked.push(await caller.call('greet', { n: 1 }, options));
  const waiting = gw.decisions();
  assert.equal(waiting.length, ways.length);
  await gw.restart(); // what waits is found again, as it was
  for (const i of [1, 3, 0, 6, 5, 2, 4]) { // no waiting call is the newest one
    const [caller, options] = ways[i];
    const answer = await caller.call('greet', { n: 1 }, { ...options, ...next(asked[i], `person ${i}`) });
    assert.equal(answer.said, `hello person ${i}`, answer.text);
    const { decision } = gw.show(gw.decisions().at(-1).decision_id);
    assert.equal(decision.supersedes, waiting[i].decision_id);
    assert.equal(decision.idempotency_key, gw.show(waiting[i].decision_id).decision.idempotency_key);
  }
  assert.equal(up.calls.length, 2 * ways.length);
  assert.deepEqual(gw.decisions().map((d) => d.outcome), [...ways.map(() => null), ...ways.map(() => 'executed')]);
  gw.verify();
});

test('a plain repeat of a waiting call is refused as a duplicate, with the reason', async (t) => {
  const { up, gw, caller } = await setUp(t, asks(1));
  const first = await caller.call('greet');
  const again = await caller.call('greet');
  assert.equal(again.reason, 'duplicate_in_flight');
  assert.equal(again.refusal.first_outcome, 'in_flight');
  assert.equal(again.refusal.first_waits_for, 'input');
  assert.equal((await caller.call('greet', {}, next(first))).said, 'hello Ada');
  assert.equal(up.calls.length, 2);
  gw.verify();
});

test('a round is valid for its own agent, tool, arguments and state', async (t) => {
  const { up, gw, of, caller } = await setUp(t, asks(1));
  const first = await caller.call('greet', { n: 1 });
  const wrong = [
    caller.call('greet', { n: 2 }, next(first)),
    caller.call('other', { n: 1 }, next(first)),
    caller.call('greet', { n: 1 }, next(first, 'Ada', { requestState: `${first.result.requestState} ` })),
    caller.call('greet', { n: 1 }, next(first, 'Ada', { requestState: '' })),
    caller.call('greet', { n: 1 }, { ...next(first), key: 'another-key' }),
    caller.call('greet', { n: 1 }, { ...next(first), boundary: 'another-run' }),
    of(bob).call('greet', { n: 1 }, next(first)),
    of(eve).call('greet', { n: 1 }, next(first)),
  ];
  for (const [i, refused] of (await Promise.all(wrong)).entries()) {
    assert.equal(refused.reason, 'input_not_awaited', `${i}: ${refused.text}`);
    const { decision, outcome } = gw.show(refused.refusal.decision_id);
    assert.equal(decision.decision, 'deny');
    assert.equal(decision.supersedes, null);
    assert.equal(outcome.outcome, 'blocked');
  }
  assert.equal(up.calls.length, 1);
  assert.equal((await caller.call('greet', { n: 1 }, next(first))).said, 'hello Ada', 'the right one still goes on');
  gw.verify();
});

for (const duplicates of ['forbid', 'allow', 'replay']) {
  test(`of two answers to one round exactly one is forwarded: duplicates: ${duplicates}`, async (t) => {
    const { up, gw, caller } = await setUp(t, asks(1),
      { tools: { 'up/*': { scope: 's', arguments: any, duplicates } } });
    for (let i = 0; i < 10; i++) {
      up.clear();
      const first = await caller.call('greet', { i });
      const both = await Promise.all([caller.call('greet', { i }, next(first, 'a')),
        caller.call('greet', { i }, next(first, 'b'))]);
      assert.equal(both.filter((r) => r.said !== undefined).length, 1, both.map((r) => r.text).join('\n'));
      assert.equal(both.filter((r) => r.reason === 'input_not_awaited').length, 1);
      assert.equal(up.calls.length, 2);
      if (duplicates === 'replay')
        assert.match((await caller.call('greet', { i })).said, /^hello [ab]$/, 'the result of the last round');
    }
    gw.verify();
  });
}

test('two calls of `duplicates: allow` wait side by side', async (t) => {
  const { up, gw, caller } = await setUp(t, asks(1),
    { tools: { 'up/*': { scope: 's', arguments: any, duplicates: 'allow' } } });
  const asked = [await caller.call('greet'), await caller.call('greet')];
  for (const [i, one] of asked.entries())
    assert.equal((await caller.call('greet', {}, next(one, `n${i}`))).said, `hello n${i}`);
  assert.equal(up.calls.length, 4);
  gw.verify();
});

for (const signal of ['SIGTERM', 'SIGKILL']) {
  test(`a waiting call resumes after ${signal} and a restart`, async (t) => {
    const { up, gw, of, caller } = await setUp(t, asks(2));
    const first = await caller.call('greet');
    await gw.restart(signal);
    assert.equal((await of(ada).call('greet')).refusal.first_waits_for, 'input');
    const second = await of(ada).call('greet', {}, next(first));
    assert.equal(second.result.resultType, 'input_required');
    await gw.restart(signal);
    assert.equal((await of(ada).call('greet', {}, next(first))).reason, 'input_not_awaited');
    assert.equal((await of(ada).call('greet', {}, next(second, 'Bo'))).said, 'hello Bo');
    assert.equal(up.calls.length, 3);
    assert.deepEqual(gw.decisions(['--decision', 'allow']).map((d) => d.outcome), [null, null, 'executed']);
    gw.verify();
  });
}

test('a round in flight at a crash is not repeated', async (t) => {
  let hang;
  const asking = asks(1);
  const { up, gw, of, caller } = await setUp(t,
    (call) => (call.params.requestState !== undefined && hang ? undefined : asking(call)));
  const first = await caller.call('greet');
  hang = true;
  caller.call('greet', {}, next(first)).catch(() => {});
  await up.arrived(2);
  await gw.restart('SIGKILL');
  hang = false;
  assert.equal((await of(ada).call('greet', {}, next(first))).reason, 'input_not_awaited');
  assert.equal((await of(ada).call('greet')).reason, 'interrupted_execution_unknown');
  assert.equal(up.calls.length, 2);
  gw.verify();
});

test('an unanswered round ends with an outcome that says so', async (t) => {
  const { up, gw, caller } = await setUp(t, asks(1), { sessions: { wait: '1s' } });
  const first = await caller.call('greet');
  await until(() => gw.decisions()[0].outcome !== null, 'the outcome');
  const { outcome } = gw.show(gw.decisions()[0].decision_id);
  assert.equal(outcome.outcome, 'error');
  assert.equal(outcome.error_type, 'input_expired');
  const line = await gw.waitLog('wait_expired');
  assert.deepEqual([line.decision_id, line.tool, line.error_type], [outcome.decision_id, 'greet', 'input_expired']);
  assert.equal((await caller.call('greet', {}, next(first))).reason, 'input_not_awaited');
  assert.equal((await caller.call('greet')).reason, 'duplicate_outcome');
  assert.equal(up.calls.length, 1);
  gw.verify();
});

test('policy judges every round', async (t) => {
  const { up, gw, caller } = await setUp(t, asks(1));
  const first = await caller.call('greet', { n: 1 });
  const config = gw.config;
  await gw.reload({ ...config, tools: { 'up/*': { scope: 's', arguments: [{ arg: 'n', op: 'ge', value: 2 }] } } });
  const refused = await caller.call('greet', { n: 1 }, next(first));
  assert.equal(gw.show(refused.refusal.decision_id).decision.decision, 'deny');
  assert.equal(up.calls.length, 1);
  await gw.reload(config);
  assert.equal((await caller.call('greet', { n: 1 }, next(first))).said, 'hello Ada');
  gw.verify();
});

test('the answers of a client are limited', async (t) => {
  const { up, gw, caller } = await setUp(t, asks(1));
  const first = await caller.call('greet');
  const overhead = JSON.stringify({ inputResponses: answer(''), requestState: first.result.requestState }).length
    + Buffer.byteLength(first.result.requestState) - first.result.requestState.length;
  const most = (1 << 20) - overhead;
  const refused = await caller.call('greet', {}, next(first, 'x'.repeat(most + 1)));
  assert.equal(refused.status, 400);
  assert.equal(up.calls.length, 1);
  assert.equal((await caller.call('greet', {}, next(first, 'x'.repeat(most)))).said.length, most + 'hello '.length);
  gw.verify();
});

test('an inexact number in an answer is refused with its place', async (t) => {
  const { up, gw, caller } = await setUp(t, asks(1));
  const first = await caller.call('greet');
  for (const source of ['9007199254740993', '0.10000000000000001', '1e-400']) {
    const inexact = await caller.call('greet', {}, next(first, JSON.rawJSON(source)));
    assert.equal(inexact.status, 200);
    assert.deepEqual([inexact.reason, inexact.refusal.argument],
      ['number_not_exact', '/inputResponses/name/content/name']);
    assert.ok(!inexact.text.includes(source), inexact.text);
    const { decision, outcome } = gw.show(inexact.refusal.decision_id);
    assert.deepEqual([decision.decision, decision.extensions.writ.reason, decision.extensions.writ.input_digest,
      outcome.outcome], ['deny', 'number_not_exact', undefined, 'blocked']);
  }
  assert.equal((await caller.call('greet', {},
    { params: { requestState: JSON.rawJSON('9007199254740993') } })).refusal.argument, '/requestState');
  assert.equal(up.calls.length, 1);
  assert.equal((await caller.call('greet', {}, next(first))).said, 'hello Ada', 'the call still waits');
  gw.verify();
});

test('a round that was not sent can be answered again', async (t) => {
  const { up, gw, caller } = await setUp(t, asks(1));
  const first = await caller.call('greet');
  const { port } = up;
  await up.close();
  const refused = await caller.call('greet', {}, next(first));
  assert.equal(refused.reason, 'upstream_unavailable', refused.text);
  assert.equal((await caller.call('greet')).refusal.first_waits_for, 'input', 'the call is not over');
  await up.listen(port);
  assert.equal((await caller.call('greet', {}, next(first))).said, 'hello Ada');
  assert.deepEqual(gw.decisions(['--decision', 'allow']).map((d) => [d.outcome, d.superseded]),
    [[null, true], [null, true], ['executed', false]]);
  gw.verify();
});

test('a question on a stream is a round as well', async (t) => {
  const asking = asks(1);
  const { up, gw, caller } = await setUp(t, (call) => {
    if (call.params.requestState !== undefined) return asking(call);
    const stream = call.stream();
    stream.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1 } });
    asking({ ...call, id: call.id, params: call.params, json: (message) => { stream.send(message); stream.end(); } });
  });
  const first = await caller.call('greet');
  assert.equal(first.isStream, true);
  assert.equal(first.result.resultType, 'input_required');
  assert.equal((await caller.call('greet', {}, next(first))).said, 'hello Ada');
  assert.equal(up.calls.length, 2);
  gw.verify();
});

test('questions of prompts and resources are forwarded', async (t) => {
  const { gw, up } = await setUp(t, undefined);
  up.onMessage = (m) => {
    if (m.method !== 'prompts/get' && m.method !== 'resources/read') return undefined;
    m.result(m.params.inputResponses === undefined ? { resultType: 'input_required', inputRequests: question,
      requestState: 's' } : { messages: [], echoed: m.params.requestState });
    return true;
  };
  const caller = new Caller(gw, { path: '/mcp/up', modern: true, token: ada.token });
  for (const [method, params] of [['prompts/get', { name: 'p' }], ['resources/read', { uri: 'test://r' }]]) {
    const first = await caller.request(method, params);
    assert.equal(first.result.resultType, 'input_required', first.text);
    const second = await caller.request(method,
      { ...params, inputResponses: answer('x'), requestState: first.result.requestState });
    assert.equal(second.result.echoed, 's');
  }
  assert.equal(gw.decisions().length, 0);
});
