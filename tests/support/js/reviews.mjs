// reviews.mjs - a gateway whose tool needs an approval, and its voters over HTTP.
import assert from 'node:assert/strict';
import { bearer, startGateway } from './gateway.mjs';
import { startUpstream } from '../servers/upstream.mjs';

/** The caller, voters, an administrator, and agents without rights. */
export const DEV = bearer('dev', { tenant: 'acme', subject: 'alice' });
export const OTHER = bearer('other', { tenant: 'acme' });
export const ANN = bearer('ann', { tenant: 'acme' });
export const BOB = bearer('bob', { tenant: 'acme' });
export const EVE = bearer('eve', { tenant: 'acme' });
export const ALICE = bearer('alice-by-hand', { tenant: 'acme', subject: 'alice' });
export const FOREIGN = bearer('ann-elsewhere', { tenant: 'evil', subject: 'ann' });
export const OPS = bearer('ops', { tenant: 'acme' });
export const ALL = [DEV, OTHER, ANN, BOB, EVE, ALICE, FOREIGN, OPS];

/** The rule of a tool that requires an approval. */
export const pay = (approval, more = {}) => ({
  scope: 'payments', approval,
  arguments: [{ arg: 'amount', op: 'type', value: 'any' }, { arg: 'to', op: 'type', value: 'string', optional: true }],
  ...more,
});

export const config = (up, more = {}) => ({
  upstreams: { up: { http: up.url } }, agents: ALL.map((a) => a.entry),
  reviews: { finance: { voters: [{ id: 'ann' }, { id: 'bob' }, { id: 'eve', veto: true }, { id: 'alice' }], quorum: '2',
    administrators: ['ops'], ...more.review } },
  tools: { 'up/pay': pay({ review: 'finance', ...more.approval }, more.rule) },
  ...more.top,
});

/** An upstream and a gateway in front of it. */
export async function setUp(t, more = {}) {
  const up = await startUpstream(t);
  const gw = await startGateway(t, config(up, more));
  return { up, gw };
}

/** A request to the admin listener. */
export async function api(gw, who, path, body) {
  const res = await fetch(`http://127.0.0.1:${gw.adminPort}/v1/reviews${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...(who && { authorization: `Bearer ${who.token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { status: res.status, json: await res.json().catch(() => undefined), type: res.headers.get('content-type') };
}

/** One vote on the review as it is. */
export async function vote(gw, who, id, choice, more = {}) {
  const { json } = await api(gw, ANN, `/${id}`);
  return api(gw, who, `/${id}/vote`, { vote: choice, review_digest: json.review_digest, ...more });
}

/** All approve. The review stays open while a voter with a veto has not voted. */
export async function approve(gw, id) {
  assert.equal((await vote(gw, ANN, id, 'approve')).json.state, 'open');
  assert.equal((await vote(gw, BOB, id, 'approve')).json.state, 'open');
  assert.equal((await vote(gw, EVE, id, 'approve')).json.state, 'approved');
}

/** A call that waits: its review's id. */
export async function asks(session, args) {
  const answer = await session.call('up__pay', args);
  assert.equal(answer.reason, 'approval_required');
  assert.equal(answer.refusal.review_state, 'open');
  assert.ok(answer.refusal.retry_after_ms > 0);
  assert.ok(Date.parse(answer.refusal.expires_at) > Date.now());
  return answer.refusal.continuation_id;
}

