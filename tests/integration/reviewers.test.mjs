// Those who vote: how they learn of reviews, and how their votes come in.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { bearer, startGateway, until } from '../support/gateway.mjs';
import { startUpstream } from '../support/upstream.mjs';
import { openSession } from '../support/rpc.mjs';
import { openStream } from '../support/stream.mjs';

const DEV = bearer('dev', { tenant: 'acme', subject: 'alice' });
const ANN = bearer('ann', { tenant: 'acme' });
const BOB = bearer('bob', { tenant: 'acme' });
const OTHER = bearer('other', { tenant: 'acme' });
const FOREIGN = bearer('ann-elsewhere', { tenant: 'evil', subject: 'ann' });
const ALL = [DEV, ANN, BOB, OTHER, FOREIGN];

const any = (arg) => ({ arg, op: 'type', value: 'any', optional: true });

const config = (up, more = {}) => ({
  upstreams: { up: { http: up.url } }, agents: ALL.map((a) => a.entry),
  reviews: { finance: { voters: [{ id: 'ann' }, { id: 'bob' }], quorum: '2', ...more.review } },
  tools: { 'up/pay': { scope: 'payments', approval: { review: 'finance' }, arguments: [any('amount'), any('to'), any('note')] } },
  ...more.top,
});

async function setUp(t, more = {}) {
  const up = await startUpstream(t);
  const gw = await startGateway(t, config(up, more));
  return { up, gw, session: await openSession(gw, { token: DEV.token }) };
}

/** A request to the admin listener. */
async function api(gw, who, path, body) {
  const res = await fetch(`http://127.0.0.1:${gw.adminPort}/v1/reviews${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...(who && { authorization: `Bearer ${who.token}` }), ...(body !== undefined && { 'content-type': 'application/json' }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { status: res.status, json: await res.json().catch(() => undefined) };
}

async function vote(gw, who, id, choice, more = {}) {
  const { json } = await api(gw, ANN, `/${id}`);
  return api(gw, who, `/${id}/vote`, { vote: choice, review_digest: json.review_digest, ...more });
}

/** A call that waits: its review's id. */
async function asks(session, args) {
  const answer = await session.call('up__pay', args);
  assert.equal(answer.reason, 'approval_required');
  return answer.refusal.continuation_id;
}

const watch = (gw, who, last) => openStream({ origin: `http://127.0.0.1:${gw.adminPort}` }, {
  path: '/v1/reviews/events', method: 'GET',
  headers: { authorization: `Bearer ${who.token}`, ...(last && { 'last-event-id': last }) },
});

/** The nth event of a stream, with its data read. */
const nth = async (stream, n) => {
  const event = await until(() => stream.events[n], `event ${n} of ${stream.text}`);
  return { ...event, data: JSON.parse(event.data) };
};

test('a stream tells what lives and then each change, to those who may see it, and to them alone', async (t) => {
  const { gw, session } = await setUp(t);
  const first = await asks(session, { amount: 1 });
  const ann = await watch(gw, ANN);
  const nobody = await watch(gw, OTHER);
  const foreign = await watch(gw, FOREIGN);
  assert.equal(ann.headers['content-type'], 'text/event-stream');
  assert.equal((await nth(ann, 0)).event, 'reset');
  const opened = await nth(ann, 1);
  assert.equal(opened.event, 'review');
  assert.equal(opened.data.id, first);
  assert.equal(opened.data.state, 'open');
  assert.ok(Number(opened.id) > 0);

  await vote(gw, ANN, first, 'approve');
  assert.equal((await nth(ann, 2)).data.voters[0].vote, 'approve');
  await vote(gw, BOB, first, 'approve');
  assert.equal((await nth(ann, 3)).data.state, 'approved');
  await session.call('up__pay', { amount: 1 });
  assert.equal((await nth(ann, 4)).data.state, 'redeemed', 'also when nobody remembers it any more');

  const second = await asks(session, { amount: 2 });
  assert.equal((await nth(ann, 5)).data.id, second);
  assert.deepEqual(nobody.events.map((e) => e.event), ['reset']);
  assert.deepEqual(foreign.events.map((e) => e.event), ['reset'], 'another tenant, by the same name');
  assert.equal((await watch(gw, { token: 'wrong' })).status, 401);
});

test('who comes back with the last id misses nothing, also over a restart, and is told when that cannot be', async (t) => {
  const { gw, session } = await setUp(t);
  const id = await asks(session, { amount: 1 });
  const before = await watch(gw, ANN);
  const seen = await nth(before, 1);
  before.leave();
  await vote(gw, ANN, id, 'reject');
  const after = await watch(gw, ANN, seen.id);
  const change = await nth(after, 0);
  assert.equal(change.event, 'review', 'no reset');
  assert.equal(change.data.voters[0].vote, 'reject');

  await gw.restart('SIGKILL');
  const anew = await watch(gw, ANN, seen.id);
  assert.equal((await nth(anew, 0)).event, 'reset');
  assert.equal((await nth(anew, 1)).data.id, id);
  const caughtUp = await watch(gw, ANN, (await nth(anew, 1)).id);
  await vote(gw, ANN, id, 'approve');
  assert.equal((await nth(caughtUp, 0)).event, 'review');
  const nonsense = await watch(gw, ANN, 'x\u00e9');
  assert.equal((await nth(nonsense, 0)).event, 'reset');
});

test('long polling waits for a change that the caller may see', async (t) => {
  const { gw, session } = await setUp(t);
  const start = await api(gw, ANN, '');
  assert.deepEqual([start.json.anew, start.json.reviews], [true, []]);
  const waiting = api(gw, ANN, `?after=${start.json.at}&wait=30`);
  const unseen = api(gw, OTHER, `?after=${start.json.at}&wait=2`);
  const id = await asks(session, { amount: 1 });
  const told = await waiting;
  assert.deepEqual([told.json.anew, told.json.reviews.map((r) => r.id)], [false, [id]]);
  assert.deepEqual((await unseen).json.reviews, []);
  const none = await api(gw, ANN, `?after=${told.json.at}`);
  assert.deepEqual([none.json.anew, none.json.reviews, none.json.at], [false, [], told.json.at]);
  for (const bad of ['?after=x', '?wait=61', '?after=1&after=2', '?more=1', '?after', '?after=-1']) {
    assert.equal((await api(gw, ANN, bad)).status, 404, bad);
  }
});

test('a stream ends with the token that it was opened with, and there are only so many', async (t) => {
  const { up, gw, session } = await setUp(t, { top: { loops: 1 } });
  const mine = [];
  for (let i = 0; i < 8; i++) mine.push(await watch(gw, ANN));
  assert.equal((await watch(gw, ANN)).status, 503, 'one too many of one subject');
  const bob = await watch(gw, BOB);
  assert.equal(bob.status, 200);
  mine[0].leave();
  assert.equal((await api(gw, ANN, '')).status, 200, 'a list waits for nothing');
  await until(async () => (await watch(gw, ANN)).status === 200, 'the place of a stream that was left');

  const without = config(up);
  without.agents = without.agents.filter((a) => a.id !== 'bob');
  await gw.reload({ ...gw.config, agents: without.agents });
  await asks(session, { amount: 5 });
  await bob.done();
  assert.deepEqual(bob.events.map((e) => e.event), ['reset'], 'what came later was not told');
  await until(() => mine[1].events.length === 2, 'the others go on');
});
