// An approval covers exactly the approved call: the target in its state, the call in every member, once; and each end
// has its own reason.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { bearer, startGateway, until } from '../support/js/gateway.mjs';
import { ALL, ANN, BOB, DEV, EVE, OPS, OTHER, api, approve, asks, config, pay, vote } from '../support/js/reviews.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const PROBED = { state: { tool: 'up/stat', arguments: {}, select: ['/version'], timeout: '2s' } };

/** A tool whose target has a version that the test sets. */
async function probed(t, more = {}) {
  const target = { version: 1, fails: false };
  const up = await startUpstream(t, {
    onCall: (a) => {
      if (a.name !== 'stat') return a.text('paid');
      return target.fails
        ? a.error(-32603, 'no state') : a.result({ content: [], structuredContent: { version: target.version } });
    },
  });
  const gw = await startGateway(t, config(up, { ...more, rule: { ...PROBED, ...more.rule } }));
  return { up, gw, target, s: await openSession(gw, { token: DEV.token }) };
}

const state = async (gw, id) => (await api(gw, ANN, `/${id}`)).json.state;
const decision = (gw, answer) => gw.show(answer.refusal.decision_id).decision;

test('a target changed after its approval needs another approval, recorded as superseding',
    async (t) => {
  const { up, gw, target, s } = await probed(t);
  const first = await asks(s, { amount: 1 });
  const { json: one } = await api(gw, ANN, `/${first}`);
  await approve(gw, first);
  target.version = 2;
  const drifted = await s.call('up__pay', { amount: 1 });
  assert.equal(drifted.reason, 'approval_required');
  assert.notEqual(drifted.refusal.continuation_id, first);
  const recorded = decision(gw, drifted);
  assert.deepEqual([recorded.decision, recorded.supersedes, recorded.extensions.writ.reason],
    ['require_approval', first, 'target_state_drift']);
  assert.notEqual(recorded.target_state_digest, one.target_state_digest);
  assert.equal(await state(gw, first), 'drifted');
  assert.ok([404, 409].includes((await vote(gw, ANN, first, 'approve')).status), 'it is over');
  assert.equal((await s.call('up__pay', { amount: 1 }, { meta: { 'io.writ/continuationId': first } })).reason,
    'continuation_mismatch');
  assert.equal(up.of('pay').length, 0);
  // the voters' digest of the first review is not that of the second
  assert.equal((await api(gw, ANN, `/${drifted.refusal.continuation_id}/vote`,
    { vote: 'approve', review_digest: one.review_digest })).json.reason, 'review_mismatch');
  await approve(gw, drifted.refusal.continuation_id);
  assert.equal((await s.call('up__pay', { amount: 1 })).said, 'paid');
  const shown = gw.show(gw.decisions(['--decision', 'allow'])[0].decision_id).decision;
  assert.deepEqual([shown.supersedes, shown.target_state_digest],
    [drifted.refusal.continuation_id, recorded.target_state_digest]);
  assert.equal(up.of('pay').length, 1);
  gw.verify();
});

test('a target that changed during the vote opens a new review', async (t) => {
  const { up, gw, target, s } = await probed(t);
  const first = await asks(s, { amount: 1 });
  await vote(gw, ANN, first, 'approve');
  target.version = 2;
  const second = await asks(s, { amount: 1 });
  assert.notEqual(second, first);
  assert.equal(await state(gw, first), 'drifted');
  const { json: now } = await api(gw, ANN, `/${second}`);
  assert.deepEqual([now.target_state, now.target_state_before, now.target_state_difference],
    [{ '/version': 2 }, { '/version': 1 }, '~ /~1version 1 -> 2\n'], 'they see what changed');
  assert.deepEqual(now.arguments, { amount: 1 });
  assert.ok(now.prompt.includes(
    '"target_state":{"/version":2},"target_changed_since_the_review_before":"~ /~1version 1 -\\u003e 2\\n",'),
    now.prompt);
  await gw.restart('SIGKILL');
  assert.deepEqual((await api(gw, ANN, `/${second}`)).json.target_state_difference, now.target_state_difference);
  const { json: before } = await api(gw, ANN, `/${first}`);
  assert.deepEqual([before.target_state, before.arguments], [undefined, undefined], 'no longer kept');
  assert.equal((await api(gw, ANN, `/${second}`)).json.voters.every((v) => v.vote === undefined), true,
    'it has no votes');
  assert.equal(up.of('pay').length, 0);
});

test('a state changed and restored keeps its approval unless the caller repeated the call in between', async (t) => {
  const { up, gw, target, s } = await probed(t);
  const unseen = await asks(s, { amount: 1 });
  await approve(gw, unseen);
  target.version = 2;
  target.version = 1;
  assert.equal((await s.call('up__pay', { amount: 1 })).said, 'paid', 'the state that was approved');
  const seen = await asks(s, { amount: 2 });
  await approve(gw, seen);
  target.version = 2;
  const between = await asks(s, { amount: 2 });
  target.version = 1;
  const after = await s.call('up__pay', { amount: 2 });
  assert.equal(after.reason, 'approval_required');
  assert.equal(new Set([seen, between, after.refusal.continuation_id]).size, 3);
  assert.equal(await state(gw, between), 'drifted');
  assert.equal(up.of('pay').length, 1);
  gw.verify();
});

test('an unreadable state redeems no approval and uses none up', async (t) => {
  const { up, gw, target, s } = await probed(t);
  const id = await asks(s, { amount: 1 });
  await approve(gw, id);
  target.fails = true;
  const refused = await s.call('up__pay', { amount: 1 });
  assert.equal(refused.reason, 'target_state_unavailable');
  assert.equal(await state(gw, id), 'approved');
  target.fails = false;
  assert.equal((await s.call('up__pay', { amount: 1 })).said, 'paid');
  assert.equal(up.of('pay').length, 1);
});

test('a held request reads the target state again after its verdict', async (t) => {
  const { up, gw, target, s } = await probed(t, { approval: { hold: '30s' } });
  const waiting = s.call('up__pay', { amount: 1 });
  const { id } = await until(async () => (await api(gw, ANN, '')).json.reviews[0], 'the review');
  target.version = 2;
  await approve(gw, id);
  const other = await until(async () => (await api(gw, ANN, '')).json.reviews.find((r) => r.id !== id),
    'the review that supersedes');
  assert.equal(await state(gw, id), 'drifted');
  assert.equal(up.of('pay').length, 0);
  await approve(gw, other.id);
  assert.equal((await waiting).said, 'paid');
  assert.equal(up.of('pay').length, 1);
  gw.verify();
});

test('an approval covers exactly its call', async (t) => {
  const up = await startUpstream(t);
  const tools = { 'up/pay': pay({ review: 'finance' }), 'up/give': pay({ review: 'finance' }),
    'up/look': pay(undefined) };
  delete tools['up/look'].approval;
  const gw = await startGateway(t, config(up, { top: { tools } }));
  const s = await openSession(gw, { token: DEV.token });
  const args = { amount: 1, to: 'ann' };
  const id = await asks(s, args);
  await approve(gw, id);
  const stated = { meta: { 'io.writ/continuationId': id } };
  const reason = async (caller, tool, a, options = stated) => (await caller.call(tool, a, options)).reason;
  const other = await openSession(gw, { token: OTHER.token });
  const again = await openSession(gw, { token: DEV.token });
  // agent, tool, arguments in value and type and number, key, run: each makes it another call
  assert.equal(await reason(other, 'up__pay', args), 'continuation_mismatch', 'agent');
  assert.equal(await reason(s, 'up__give', args), 'continuation_mismatch', 'tool');
  assert.equal(await reason(s, 'up__look', args), 'continuation_mismatch', 'a tool that needs none');
  for (const a of [{ ...args, amount: 2 }, { ...args, amount: '1' }, { amount: 1 }, { ...args, to: 'Ann' },
      { ...args, amount: 1.0000001 }]) {
    assert.equal(await reason(s, 'up__pay', a), 'continuation_mismatch', JSON.stringify(a));
  }
  assert.equal(await reason(s, 'up__pay', args, { ...stated, key: 'another' }), 'continuation_mismatch', 'key');
  assert.equal(await reason(again, 'up__pay', args), 'continuation_mismatch', 'run');
  assert.equal(await reason(s, 'up__pay', args, { ...stated, state: `sha256:${'0'.repeat(64)}` }), 'approval_required',
    'state: a new review');
  assert.equal(await state(gw, id), 'drifted');
  const next = await asks(s, args);
  await approve(gw, next);
  assert.equal(await reason(s, 'up__pay', { ...args, amount: 1.0 }, { meta: { 'io.writ/continuationId': next } }),
    undefined, 'the same number');
  assert.equal(await reason(s, 'up__pay', args, { meta: { 'io.writ/continuationId': next } }), 'duplicate_outcome',
    'spent');
  assert.equal(await reason(s, 'up__pay', args, {}), 'duplicate_outcome');
  assert.equal(up.calls.length, 1);
  gw.verify();
});

test('each end of a review has its state, reason and record, and is reported once', async (t) => {
  const up = await startUpstream(t);
  const gw = await startGateway(t, config(up, { review: { expires: '5s', redeem: '5s' } }));
  const s = await openSession(gw, { token: DEV.token });
  const rows = [
    ['rejected', 'approval_rejected', 'deny', async (id) => {
      await vote(gw, ANN, id, 'reject');
      await vote(gw, BOB, id, 'reject');
    }],
    ['rejected', 'approval_rejected', 'deny', (id) => vote(gw, EVE, id, 'reject')],
    ['revised', 'revision_requested', 'revise', async (id) => {
      await vote(gw, ANN, id, 'approve');
      await vote(gw, BOB, id, 'reject');
      await vote(gw, EVE, id, 'modify');
    }],
    ['withdrawn', 'approval_withdrawn', 'deny', (id) => api(gw, DEV, `/${id}/withdraw`, {})],
    ['withdrawn', 'approval_withdrawn', 'deny', async (id) => {
      await approve(gw, id);
      await api(gw, DEV, `/${id}/withdraw`, {});
    }],
    ['cancelled', 'approval_cancelled', 'deny', (id) => api(gw, OPS, `/${id}/cancel`, {})],
    ['cancelled', 'approval_cancelled', 'deny', async (id) => {
      await approve(gw, id);
      await api(gw, OPS, `/${id}/cancel`, {});
    }],
    ['expired', 'approval_expired', 'deny', () => {}],
    ['lapsed', 'approval_lapsed', 'deny', (id) => approve(gw, id)],
  ];
  for (const [i, [end, reason, route, how]] of rows.entries()) {
    const amount = i + 1;
    const id = await asks(s, { amount });
    await how(id);
    await until(async () => (await state(gw, id)) === end, `${end} (row ${i})`);
    const told = await s.call('up__pay', { amount });
    assert.deepEqual([told.reason, told.refusal.review_state, told.refusal.continuation_id], [reason, end, id]);
    assert.deepEqual([decision(gw, told).decision, decision(gw, told).supersedes], [route, id]);
    assert.equal(gw.show(told.refusal.decision_id).outcome.outcome, 'blocked');
    const { json: over } = await api(gw, ANN, `/${id}`);
    assert.equal(over.arguments, undefined);
    assert.deepEqual([over.records.at(-1).state, over.records.at(-1).reason], [end, reason]);
    const next = await s.call('up__pay', { amount });
    // a verdict on the same call holds for a while; every other call needs a new review
    assert.equal(next.reason, ['rejected', 'revised'].includes(end) ? reason : 'approval_required', `row ${i}`);
  }
  // the end of the run ends open and approved reviews
  const leaving = await openSession(gw, { token: DEV.token });
  const open = await asks(leaving, { amount: 50 });
  const approved = await asks(leaving, { amount: 51 });
  await approve(gw, approved);
  await leaving.close();
  for (const id of [open, approved])
    await until(async () => (await state(gw, id)) === 'withdrawn', 'the end of the run');
  assert.equal(up.calls.length, 0);
  gw.verify();
});

test('one voter has one vote over all identities and routes', async (t) => {
  const up = await startUpstream(t);
  const twice = bearer('ann-at-home', { tenant: 'acme', subject: 'ann' });
  const gw = await startGateway(t, config(up, {
    top: { agents: [...ALL, twice].map((a) => a.entry) },
    review: { voters: [{ id: 'ann' }, { id: 'eve' }, { id: 'bob' }], quorum: '2', threshold: '2/3' },
  }));
  const s = new Caller(gw, { token: DEV.token, modern: true });
  const id = await asks(s, { amount: 1 });
  assert.equal((await vote(gw, ANN, id, 'approve')).json.state, 'open');
  const second = await vote(gw, twice, id, 'approve');
  assert.equal(second.json.state, 'open', 'the same person');
  assert.deepEqual(second.json.voters.map((v) => [v.id, v.vote]),
    [['ann', 'approve'], ['eve', undefined], ['bob', undefined]]);
  assert.equal((await vote(gw, ANN, id, 'reject')).json.state, 'open', 'the last one counts, and is one');
  assert.equal((await vote(gw, twice, id, 'approve')).json.state, 'open');
  const done = await vote(gw, BOB, id, 'approve');
  assert.equal(done.json.state, 'approved', 'it takes another person');
  assert.equal((await s.call('up__pay', { amount: 1 })).said, 'ran 1');
  assert.equal(up.calls.length, 1);
  gw.verify();
});
