// Several calls are proposed together; the voters elect one, and it alone runs, once.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bearer, prepare, startGateway, until, writ } from '../support/js/gateway.mjs';
import { ANN, CREW, FOREIGN, MATE, ask, config, framework, rule } from '../support/js/hooks.mjs';
import * as paying from '../support/js/reviews.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { startHook } from '../support/js/reviewers.mjs';
import { ONLY_SHARED } from '../support/js/store.mjs';
import { all, verdicts } from '../support/js/verifiers.mjs';
import { openSession } from '../support/js/rpc.mjs';

const { api } = paying;

const BOB = bearer('bob', { tenant: 'acme' });
const EVE = bearer('eve', { tenant: 'acme' });

/** The configuration of a review that elects one of several calls. */
const electing = (more = {}) => config({
  rule: { approval: { review: 'plans', ...more.approval },
    arguments: [{ arg: 'path', op: 'type', value: 'string' },
      { arg: 'text', op: 'in', value: ['one', 'two', 'three', 'four'], optional: true }], ...more.rule },
  tools: { 'crew/free': rule() },
  top: { agents: [CREW, MATE, ANN, FOREIGN, BOB, EVE].map((a) => a.entry),
    reviews: { plans: { voters: [{ id: 'ann' }, { id: 'bob' }, { id: 'eve', veto: true }], engine: 'borda',
      options: ['candidates', 'reject'], quorum: '2', ...more.review } }, ...more.top },
});
async function setUp(t, more = {}) {
  const gw = await startGateway(t, electing(more));
  return { gw, crew: framework(gw) };
}

const plan = (...texts) => texts.map((text) => ({ path: '/a', text }));
const PLANS = { candidates: plan('one', 'two', 'three'), boundary_id: 'run-1' };

/** One ranking of the review as it is; its answer. */
async function rank(gw, who, id, ...ranking) {
  const { json } = await api(gw, ANN, `/${id}`);
  return api(gw, who, `/${id}/vote`, { ranking, review_digest: json.review_digest });
}

/** The review of PLANS, in which the second is elected. */
async function elected(gw, crew) {
  const { continuation_id: id } = await crew.before(PLANS);
  assert.equal((await rank(gw, ANN, id, '2', '1', '3', 'reject')).json.state, 'open');
  assert.equal((await rank(gw, BOB, id, '2', '3', '1', 'reject')).json.state, 'open', 'eve has a veto');
  assert.equal((await rank(gw, EVE, id, '1', '2', '3', 'reject')).json.state, 'approved');
  return id;
}

const sole = (text, id) => ({ arguments: { path: '/a', text }, boundary_id: 'run-1',
  ...(id && { continuation_id: id }) });

test('the elected candidate of a request is allowed, bound and recorded; the same request again gets it', async (t) => {
  const { gw, crew } = await setUp(t);
  const asked = await crew.before(PLANS);
  assert.deepEqual([asked.verdict, asked.reason, asked.review_state], ['require_approval', 'approval_required',
    'open']);
  assert.deepEqual(asked.candidates, [{ candidate: '1' }, { candidate: '2' }, { candidate: '3' }]);
  assert.equal((await crew.before(PLANS)).continuation_id, asked.continuation_id, 'joins');

  const { json: seen } = await api(gw, ANN, `/${asked.continuation_id}`);
  assert.deepEqual(seen.options, ['1', '2', '3', 'reject']);
  assert.deepEqual(seen.candidates.map((c) => [c.option, c.arguments.text]), [['1', 'one'], ['2', 'two'], ['3',
    'three']]);
  assert.ok(seen.prompt.includes('"option":"3"') && seen.prompt.includes('["1","2","3","reject"]'));
  const { terms } = seen.records[0];
  assert.deepEqual(Object.keys(seen.decision.extensions.writ.candidates), ['1', '2', '3']);
  assert.deepEqual(terms.candidates.map((c) => [c.option, c.intent_digest]),
    Object.entries(seen.decision.extensions.writ.candidates).map(([n, c]) => [n, c.intent_digest]));

  const id = await elected(gw, crew);
  assert.equal(id, asked.continuation_id);
  const said = await crew.before(PLANS);
  assert.deepEqual([said.verdict, said.candidate], ['allow', '2']);
  assert.deepEqual([said.decision.supersedes, said.decision.intent_digest], [id, terms.candidates[1].intent_digest]);
  const again = await crew.before(PLANS);
  assert.deepEqual([again.verdict, again.candidate, again.decision], ['allow', '2', said.decision], 'a lost answer');
  for (const text of ['one', 'three'])
    assert.equal((await crew.bind(said.decision, { arguments: { path: '/a', text } })).reason, 'exact_intent_mismatch');
  assert.equal((await crew.bind(said.decision, { arguments: { path: '/a', text: 'two' } })).verdict, 'allow');
  assert.equal((await crew.after(said.decision, {})).status, 200);
  assert.equal((await crew.before(PLANS)).reason, 'duplicate_outcome');
  assert.equal((await crew.before(sole('one', id))).reason, 'approval_redeemed');
  assert.deepEqual((await api(gw, ANN, `/${id}`)).json.elected, '2');
  assert.match(writ(['review', 'replay', gw.ledgerFile, id]).out, /^same: accept, /);
  const shown = writ(['review', 'show', gw.ledgerFile, id]).out;
  assert.match(shown, /^elected 2$/m);
  assert.match(shown, /^voter "?ann"? weight 1: 2, 1, 3, reject$/m);
  gw.verify();
});

test('three verifiers accept the receipt and the bundle of an elected candidate', async (t) => {
  const { gw, crew } = await setUp(t);
  const id = await elected(gw, crew);
  const said = await crew.before(PLANS);
  assert.equal((await crew.bind(said.decision, { arguments: sole('two').arguments })).verdict, 'allow');
  assert.equal((await crew.after(said.decision, {})).status, 200);
  const [keys, file] = ['ledger-key', 'evidence'].map((name) => join(gw.dir, name));
  const make = (...args) => {
    const { code, out, err } = writ([...args, '--keys', gw.path('keys')]);
    assert.equal(code, 0, err);
    return out;
  };
  writeFileSync(keys, make('ledger', 'key', gw.ledgerFile));
  for (const [what, ...args] of [['receipt', 'receipt', said.decision_id, '--ledger', gw.ledgerFile],
    ['bundle', 'ledger', 'export', gw.ledgerFile], ['bundle', 'ledger', 'export', gw.ledgerFile, 'run-1']]) {
    const text = make(...args);
    assert.ok(text.includes('"elected":"2"') && text.includes(id));
    writeFileSync(file, text);
    assert.deepEqual(verdicts(what, file, keys), all('ok'), args.join(' '));
  }
});

test('the caller can make the elected call itself; another one is refused and ends nothing', async (t) => {
  const { gw, crew } = await setUp(t);
  const id = await elected(gw, crew);
  assert.equal((await crew.before(sole('one', id))).reason, 'candidate_not_elected');
  assert.equal((await crew.before(sole('four', id))).reason, 'continuation_mismatch');
  assert.equal((await crew.before({ ...sole('two', id), boundary_id: 'run-2' })).reason, 'continuation_mismatch');
  for (const who of [MATE, FOREIGN])
    assert.equal((await framework(gw, who).before(sole('two', id))).reason, 'continuation_mismatch');
  await gw.restart('SIGKILL');
  assert.equal((await crew.before(sole('three', id))).reason, 'candidate_not_elected');
  const all = await Promise.all(Array.from({ length: 6 }, (_, i) =>
    crew.before(i % 2 ? PLANS : sole('two', id))));
  const given = all.filter((said) => said.verdict === 'allow');
  assert.equal(new Set(given.map((said) => said.decision_id)).size, 1, 'one authorization');
  assert.ok(all.every((said) => given.includes(said) || said.reason === 'duplicate_in_flight'), 'before it is durable');
  const bound = await Promise.all(given.map(({ decision }) => crew.bind(decision,
    { arguments: sole('two').arguments })));
  assert.equal(bound.filter((b) => b.verdict === 'allow').length, 1);
  gw.verify();
});

test('a candidate that policy refuses is left out with its reason; without any the request is refused', async (t) => {
  const { gw, crew } = await setUp(t);
  const asked = await crew.before({ candidates: plan('five', 'two', 'one') });
  assert.equal(asked.reason, 'approval_required');
  assert.deepEqual(asked.candidates.map((c) => [c.candidate, c.reason]),
    [['1', 'constraint_failed'], ['2', undefined], ['3', undefined]]);
  assert.equal(asked.candidates[0].argument, '/text');
  const { json } = await api(gw, ANN, `/${asked.continuation_id}`);
  assert.deepEqual(json.options, ['2', '3', 'reject']);
  assert.equal(json.decision.extensions.writ.candidates['1'].reason, 'constraint_failed');
  assert.equal((await rank(gw, ANN, asked.continuation_id, '1', '2', '3', 'reject')).json.reason, 'vote_incomplete');

  const none = await crew.before({ candidates: plan('five', 'six') });
  assert.deepEqual([none.verdict, none.reason], ['deny', 'constraint_failed']);
  assert.deepEqual(none.candidates.map((c) => c.reason), ['constraint_failed', 'constraint_failed']);
  const one = await crew.before({ candidates: plan('five', 'three') });
  assert.deepEqual((await api(gw, ANN, `/${one.continuation_id}`)).json.options, ['2', 'reject'],
    'one is reviewed too');
  for (const who of [ANN, BOB, EVE]) await rank(gw, who, one.continuation_id, '2', 'reject');
  assert.deepEqual((({ verdict, candidate }) => [verdict, candidate])(await crew.before({ candidates: plan('five',
    'three') })),
    ['allow', '2']);
  gw.verify();
});

test('without an election no candidate runs: a tie, a rejection, a veto, silence', async (t) => {
  const { gw, crew } = await setUp(t);
  const rows = [ // those who vote, the state, the reason
    ['one two', [[ANN, '1', '2', 'reject'], [BOB, '2', '1', 'reject'], [EVE, 'abstain']], 'revised',
      'revision_requested'],
    ['one three', [[ANN, 'reject', '1', '2'], [BOB, 'reject', '2', '1'], [EVE, 'reject', '2', '1']], 'rejected',
      'approval_rejected'],
    ['two three', [[ANN, '1', '2', 'reject'], [BOB, '1', '2', 'reject'], [EVE, 'reject', '1', '2']], 'rejected',
      'approval_rejected'],
  ];
  for (const [texts, votes, state, reason] of rows) {
    const body = { candidates: plan(...texts.split(' ')) };
    const { continuation_id: id } = await crew.before(body);
    const { json: { review_digest } } = await api(gw, ANN, `/${id}`);
    for (const [who, ...ranking] of votes)
      await api(gw, who, `/${id}/vote`, { review_digest,
        ...(ranking[0] === 'abstain' ? { vote: 'abstain' } : { ranking }) });
    assert.equal((await api(gw, ANN, `/${id}`)).json.state, state, texts);
    assert.equal((await crew.before(body)).reason, reason);
    assert.equal((await crew.before({ arguments: body.candidates[0], continuation_id: id })).reason, reason);
  }
  const quick = await setUp(t, { review: { expires: '1s' } });
  const silent = await quick.crew.before(PLANS);
  await until(async () => (await api(quick.gw, ANN, `/${silent.continuation_id}`)).json.state === 'expired', 'its end');
  assert.equal((await quick.crew.before(PLANS)).reason, 'approval_expired');
  gw.verify();
  quick.gw.verify();
});

test('candidates of another form are not judged', async (t) => {
  const { gw, crew } = await setUp(t);
  const bad = [[], plan('one'), plan(...Array.from({ length: 9 }, (_, i) => `${i}`)), ['one', 'two'], 'one',
    [{ path: '/a', text: 'one' }, null]];
  for (const candidates of bad)
    assert.equal((await ask(gw, CREW, 'before', { tool: 'crew/write', candidates })).status, 422,
      JSON.stringify(candidates));
  const twice = await ask(gw, CREW, 'before', { tool: 'crew/write',
    candidates: [...plan('one', 'two'), { text: 'one', path: '/a' }] });
  assert.equal(twice.status, 422);
  assert.match(twice.json.detail, /candidates 1 and 3 are the same call/);
  for (const more of [{ arguments: {} }, { target_state_digest: `sha256:${'0'.repeat(64)}` }])
    assert.equal((await ask(gw, CREW, 'before', { tool: 'crew/write', ...PLANS, ...more })).status, 422);
  assert.deepEqual(gw.decisions(), [], 'nothing was recorded');
  assert.equal((await crew.before(PLANS)).reason, 'approval_required');
});

test('candidates are refused where no review elects among them, also in shadow mode', async (t) => {
  for (const more of [{ rule: { shadow: true } }, { review: { options: ['approve', 'reject'] } },
    { approval: undefined, rule: { approval: undefined } }]) {
    const { gw, crew } = await setUp(t, more);
    const said = await crew.before(PLANS);
    assert.deepEqual([said.verdict, said.reason, said.credential], ['deny', 'candidates_not_reviewed', undefined],
      JSON.stringify(more));
    gw.verify();
  }
});

test('a command, a signature and a model rank candidates', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'writ-worker-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const program = join(folder, 'worker.mjs');
  writeFileSync(program, `import { createInterface } from 'node:readline';
for await (const line of createInterface({ input: process.stdin })) {
  const review = JSON.parse(line);
  if (review.type !== 'review') continue;
  if (review.candidates.length !== 3 || !review.prompt.includes('proposes several calls')) process.exit(1);
  const ballot = review.prompt.split('BEGIN CALL ')[1].split('-')[0];
  const three = review.candidates.find((c) => c.arguments.text === 'three').option;
  const ranking = [three, ...review.options.filter((o) => o !== three)];
  console.log(JSON.stringify({ id: review.id, answer: JSON.stringify({ ballot, ranking }) }));
}
`);
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { gw, crew } = await setUp(t, { review: { quorum: '3', voters: [{ id: 'ann' }, { id: 'bob' },
    { id: 'model' }] },
    top: { reviewers: { model: { worker: [process.execPath, program] },
      bob: { key: publicKey.export({ format: 'jwk' }) } } } });
  writeFileSync(join(gw.dir, 'bob.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  for (const who of [ANN, BOB]) writeFileSync(join(gw.dir, `${who.entry.id}.token`), who.token, { mode: 0o600 });
  const { continuation_id: id } = await crew.before(PLANS);
  await until(async () => (await api(gw, ANN, `/${id}`)).json.voters[2].votes === 1, 'the ranking of the worker');
  const url = `http://127.0.0.1:${gw.adminPort}`;
  const command = (who, ranking, ...more) => writ(['review', 'vote', url, id, ranking,
    '--token', join(gw.dir, `${who.entry.id}.token`), ...more]);
  assert.match(writ(['review', 'show', url, id, '--token', join(gw.dir, 'ann.token')]).out,
    /^candidate 1 \{"path":"\/a","text":"one"\}\ncandidate 2 .*\ncandidate 3 .*"three"\}$/m);
  assert.notEqual(command(ANN, '3').code, 0, 'not all of them');
  assert.equal(command(ANN, '1,3,2,reject').out, 'open\n');
  assert.equal(command(BOB, '3,1,2,reject', '--key', join(gw.dir, 'bob.pem')).out, 'approved\n');
  assert.equal((await crew.before(PLANS)).candidate, '3');
  assert.match(writ(['review', 'replay', gw.ledgerFile, id]).out, /^same: accept, /);
  const { records } = JSON.parse(writ(['review', 'show', gw.ledgerFile, id, '--json']).out);
  assert.deepEqual(records.filter((r) => r.event === 'vote').map((r) => [r.by, r.vote, r.signature !== undefined]),
    [['model', '3', false], ['ann', '1', false], ['bob', '3', true]]);
  assert.equal(records.find((r) => r.event === 'accept').elected, '3');
  gw.verify();
});

test('conditions of the approval do not take a candidate out of its review', async (t) => {
  const { crew, gw } = await setUp(t, { approval: { when: [{ arg: 'text', op: 'eq', value: 'one' }] } });
  const id = await elected(gw, crew);
  assert.equal((await crew.before(sole('three', id))).reason, 'candidate_not_elected');
  const alone = await crew.before(sole('two'));
  assert.equal(alone.verdict, 'allow', 'by itself it needs none');
  const said = await crew.before(PLANS);
  assert.deepEqual([said.verdict, said.decision_id], ['allow', alone.decision_id], 'it is the same call, made once');
  gw.verify();
});

test('one call under a review of candidates is elected or rejected', async (t) => {
  const { gw, crew } = await setUp(t);
  const { continuation_id: id } = await crew.before(sole('one'));
  assert.deepEqual((await api(gw, ANN, `/${id}`)).json.options, ['1', 'reject']);
  for (const who of [ANN, BOB, EVE]) await rank(gw, who, id, '1', 'reject');
  const said = await crew.before(sole('one'));
  assert.deepEqual([said.verdict, said.candidate], ['allow', undefined]);
  gw.verify();
});

test('a changed policy ends the review of candidates before and after its election', async (t) => {
  for (const approved of [false, true]) {
    const { gw, crew } = await setUp(t);
    const id = approved ? await elected(gw, crew) : (await crew.before(PLANS)).continuation_id;
    await gw.reload(JSON.parse(JSON.stringify(gw.config).replace('"four"', '"five"')));
    await until(async () => (await api(gw, ANN, `/${id}`)).json.state === 'outdated', 'the end of the review');
    assert.equal((await crew.before(sole('two', id))).reason, 'approval_outdated');
    gw.verify();
  }
});

test('a kill loses neither votes nor the election, and never approves', async (t) => {
  const { gw, crew } = await setUp(t);
  const { continuation_id: id } = await crew.before(PLANS);
  for (const [who, state] of [[ANN, 'open'], [BOB, 'open'], [EVE, 'approved']]) {
    await gw.restart('SIGKILL');
    assert.equal((await crew.before(PLANS)).reason, 'approval_required');
    assert.equal((await rank(gw, who, id, '3', '1', '2', 'reject')).json.state, state);
  }
  await gw.restart('SIGKILL');
  const said = await crew.before(PLANS);
  assert.deepEqual([said.verdict, said.candidate], ['allow', '3']);
  await gw.restart('SIGKILL');
  assert.equal((await crew.before(sole('one', id))).reason, 'approval_redeemed');
  assert.equal((await crew.before(PLANS)).decision_id, said.decision_id);
  assert.equal((await crew.bind(said.decision, { arguments: sole('three').arguments })).verdict, 'allow');
  gw.verify();
});

test('a tools/call proposes others beside itself, and its caller makes the elected one', async (t) => {
  const electing = { engine: 'borda', options: ['candidates', 'reject'], quorum: '2',
    voters: [{ id: 'ann' }, { id: 'bob' }] };
  const { up, gw } = await paying.setUp(t, { review: electing });
  const s = await openSession(gw, { token: paying.DEV.token });
  const meta = { 'io.writ/candidates': [{ amount: 2 }, { amount: 3 }] };
  const propose = () => s.call('up__pay', { amount: 1 }, { meta });
  const asked = await propose();
  assert.equal(asked.reason, 'approval_required');
  assert.deepEqual(asked.refusal.candidates.map((c) => c.candidate), ['1', '2', '3']);
  const id = asked.refusal.continuation_id;
  assert.deepEqual((await api(gw, ANN, `/${id}`)).json.candidates.map((c) => c.arguments.amount), [1, 2, 3]);
  const { json: { review_digest } } = await api(gw, ANN, `/${id}`);
  for (const who of [paying.ANN, paying.BOB])
    await api(gw, who, `/${id}/vote`, { review_digest, ranking: ['3', '1', '2', 'reject'] });
  for (let i = 0; i < 2; i++) {
    const told = await propose();
    assert.deepEqual([told.reason, told.refusal.review_state, told.refusal.candidate, told.refusal.continuation_id],
      ['approval_granted', 'approved', '3', id]);
  }
  assert.equal(up.calls.length, 0, 'what proposes does not run');
  const continued = { meta: { 'io.writ/continuationId': id } };
  assert.equal((await s.call('up__pay', { amount: 1 }, continued)).reason, 'candidate_not_elected');
  assert.equal((await s.call('up__pay', { amount: 3 }, continued)).said, 'ran 1');
  assert.deepEqual(up.calls.map((c) => [c.params.arguments, c.params._meta?.['io.writ/candidates']]),
    [[{ amount: 3 }, undefined]]);
  assert.equal((await s.call('up__pay', { amount: 3 }, continued)).reason, 'duplicate_outcome');
  assert.equal((await s.call('up__pay', { amount: 2 }, continued)).reason, 'approval_redeemed');
  const again = await propose();
  assert.deepEqual([again.reason, again.refusal.candidate], ['approval_redeemed', '3']);
  for (const list of [[], {}, [1], [{ amount: 1 }], Array(8).fill({}).map((_, i) => ({ amount: 10 + i }))])
    assert.equal((await s.call('up__pay', { amount: 1 }, { meta: { 'io.writ/candidates': list } })).reason,
      'malformed_request', JSON.stringify(list));
  assert.equal(up.calls.length, 1);
  gw.verify();
});

test('a tools/call that proposes is not made in place of the only candidate that policy left', async (t) => {
  for (const approval of [{}, { hold: '20s' }]) {
    const { up, gw } = await paying.setUp(t, { approval, rule: { arguments: [{ arg: 'amount', op: 'le', value: 10 }] },
      review: { engine: 'borda', quorum: '1', options: ['candidates', 'reject'], voters: [{ id: 'ann' }] } });
    const s = await openSession(gw, { token: paying.DEV.token });
    const propose = () => s.call('up__pay', { amount: 1000 }, { meta: { 'io.writ/candidates': [{ amount: 2 }] } });
    const first = propose();
    const open = await until(async () => (await api(gw, ANN, '')).json.reviews[0], 'the review');
    await api(gw, ANN, `/${open.id}/vote`, { review_digest: open.review_digest, ranking: ['2', 'reject'] });
    await first;
    const told = await propose();
    assert.deepEqual(up.calls.map((c) => c.params.arguments), [], 'policy refuses 1000');
    assert.deepEqual([told.reason, told.refusal.candidate], ['approval_granted', '2']);
    assert.equal((await s.call('up__pay', { amount: 2 }, { meta: { 'io.writ/continuationId': open.id } })).said,
      'ran 1');
    gw.verify();
  }
});

test('each candidate has the state of its own target, and a change of it ends the review', async (t) => {
  const versions = { x: 1, y: 1 };
  const up = await startUpstream(t, { onCall: (a) => (a.name !== 'stat' ? a.text('paid')
    : a.result({ content: [], structuredContent: { version: versions[a.arguments.to] } })) });
  const gw = await startGateway(t, paying.config(up, {
    rule: { state: { tool: 'up/stat', arguments: { to: '{to}' }, select: ['/version'], timeout: '2s' } },
    review: { engine: 'borda', options: ['candidates', 'reject'], quorum: '1', voters: [{ id: 'ann' }] } }));
  const s = await openSession(gw, { token: paying.DEV.token });
  const propose = () => s.call('up__pay', { amount: 1, to: 'x' },
    { meta: { 'io.writ/candidates': [{ amount: 1, to: 'y' }] } });
  const elect = async (id) => {
    const { json } = await api(gw, ANN, `/${id}`);
    await api(gw, ANN, `/${id}/vote`, { review_digest: json.review_digest, ranking: ['2', '1', 'reject'] });
    return json.candidates.map((c) => c.target_state);
  };
  const first = (await propose()).refusal.continuation_id;
  versions.y = 2; // while it is open
  const second = (await propose()).refusal.continuation_id;
  assert.notEqual(second, first);
  assert.equal((await api(gw, ANN, `/${first}`)).json.state, 'drifted');
  assert.deepEqual(await elect(second), [{ '/version': 1 }, { '/version': 2 }]);
  versions.x = 5; // of the other one: no matter
  const continued = { meta: { 'io.writ/continuationId': second } };
  versions.y = 3; // after the election
  const drifted = await s.call('up__pay', { amount: 1, to: 'y' }, continued);
  assert.equal(drifted.reason, 'approval_required');
  assert.notEqual(drifted.refusal.continuation_id, second);
  assert.equal((await api(gw, ANN, `/${second}`)).json.state, 'drifted');
  assert.equal(up.of('pay').length, 0);
  const third = (await propose()).refusal.continuation_id;
  await elect(third);
  versions.x = 6;
  assert.equal((await s.call('up__pay', { amount: 1, to: 'y' }, { meta: { 'io.writ/continuationId': third } })).said,
    'paid');
  assert.equal(up.of('pay').length, 1);
  gw.verify();
});

test('a tools/call that proposes runs no candidate when the states of all but the elected one are gone', async (t) => {
  const gone = new Set();
  const up = await startUpstream(t, { onCall: (a) => (a.name !== 'stat' ? a.text('paid')
    : a.result({ content: [], isError: gone.has(a.arguments.to), structuredContent: { version: 1 } })) });
  const gw = await startGateway(t, paying.config(up, {
    rule: { state: { tool: 'up/stat', arguments: { to: '{to}' }, select: ['/version'], timeout: '2s' } },
    review: { engine: 'borda', options: ['candidates', 'reject'], quorum: '1', voters: [{ id: 'ann' }] } }));
  const s = await openSession(gw, { token: paying.DEV.token });
  const to = (name) => ({ amount: 1, to: name });
  const propose = () => s.call('up__pay', to('x'), { meta: { 'io.writ/candidates': [to('y'), to('z')] } });
  const { continuation_id: id } = (await propose()).refusal;
  const { json } = await api(gw, ANN, `/${id}`);
  await api(gw, ANN, `/${id}/vote`, { review_digest: json.review_digest, ranking: ['2', '1', '3', 'reject'] });
  gone.add('x').add('z');
  const again = await propose();
  assert.equal(again.result, undefined, JSON.stringify(again.message));
  assert.equal(up.of('pay').length, 0);
  gw.verify();
});

test('a call that is held for its candidates gets the place of the elected one', async (t) => {
  const { up, gw } = await paying.setUp(t, { approval: { hold: '20s' }, review: { engine: 'borda', quorum: '1',
    options: ['candidates', 'reject'], voters: [{ id: 'ann' }] } });
  const s = await openSession(gw, { token: paying.DEV.token });
  const held = s.call('up__pay', { amount: 1 }, { meta: { 'io.writ/candidates': [{ amount: 2 }] } });
  const open = await until(async () => (await api(gw, ANN, '')).json.reviews[0], 'the review');
  await api(gw, ANN, `/${open.id}/vote`, { review_digest: open.review_digest, ranking: ['2', '1', 'reject'] });
  const told = await held;
  assert.deepEqual([told.reason, told.refusal.candidate], ['approval_granted', '2']);
  assert.equal(up.calls.length, 0);
  assert.equal((await s.call('up__pay', { amount: 2 }, { meta: { 'io.writ/continuationId': open.id } })).said, 'ran 1');
  gw.verify();
});

test('a webhook ranks candidates, and a ranking that is not whole does not count', async (t) => {
  const hook = await startHook(t, ({ review_digest, options, candidates }, n) => {
    const best = candidates.find((c) => c.arguments.text === 'three').option;
    return { json: { review_digest, ranking: n === 1 ? [best] : [best, ...options.filter((o) => o !== best)] } };
  });
  const gw = prepare(t, electing({ review: { voters: [{ id: 'hook' }, { id: 'ann' }] } }));
  writeFileSync(gw.path('hook.secret'), `${hook.secret}\n`, { mode: 0o600 });
  gw.configure({ ...gw.config, reviewers: { hook: { webhook: hook.url, secret: 'hook.secret' } } });
  await gw.start();
  const crew = framework(gw), { continuation_id: id } = await crew.before(PLANS);
  await until(async () => (await api(gw, ANN, `/${id}`)).json.voters[0].votes === 1, 'the ranking of the webhook');
  assert.equal((await rank(gw, ANN, id, '3', '2', '1', 'reject')).json.state, 'approved');
  assert.equal((await crew.before(PLANS)).candidate, '3');
  const { records } = (await api(gw, ANN, `/${id}`)).json;
  assert.deepEqual(records.find((r) => r.by === 'hook').ranking, ['3', '1', '2', 'reject']);
  assert.ok(hook.got.length >= 2 && hook.got.every((g) => g.genuine && g.data.candidates.length === 3));
  gw.verify();
});

/** Three gateways of one ledger. */
async function threeOf(t) {
  const { sound, startFleet } = await import('../support/js/fleet.mjs');
  const fleet = await startFleet(t, electing(), { names: ['a', 'b', 'c'], lease: '5s' });
  return { fleet, crews: fleet.map((gw) => framework(gw)), sound };
}

test('candidates that are proposed at one gateway are elected at another and redeemed at a third', ONLY_SHARED,
  async (t) => {
    const { fleet: [, b, c], crews, sound } = await threeOf(t);
    const { continuation_id: id } = await crews[0].before(PLANS);
    assert.equal((await crews[1].before(PLANS)).continuation_id, id, 'joins');
    assert.equal((await rank(b, ANN, id, '2', '1', '3', 'reject')).json.state, 'open');
    assert.equal((await rank(b, BOB, id, '2', '3', '1', 'reject')).json.state, 'open');
    assert.equal((await rank(c, EVE, id, '1', '2', '3', 'reject')).json.state, 'approved');
    for (const crew of crews) assert.equal((await crew.before(sole('one', id))).reason, 'candidate_not_elected');
    const said = await crews[2].before(PLANS);
    assert.deepEqual([said.verdict, said.candidate], ['allow', '2']);
    assert.equal((await crews[0].bind(said.decision, { arguments: sole('two').arguments })).verdict, 'allow');
    assert.equal((await crews[1].bind(said.decision, { arguments: sole('two').arguments })).verdict, 'deny');
    for (const crew of crews) assert.equal((await crew.before(sole('three', id))).reason, 'approval_redeemed');
    sound(b);
  });

test('a gateway that is killed after the election takes nothing with it', ONLY_SHARED, async (t) => {
  const { fleet: [a, b], crews, sound } = await threeOf(t);
  const id = await elected(a, crews[0]);
  await a.stop('SIGKILL');
  assert.equal((await crews[1].before(sole('one', id))).reason, 'candidate_not_elected');
  const said = await crews[1].before(sole('two', id));
  assert.equal(said.verdict, 'allow', JSON.stringify(said));
  await b.stop('SIGKILL');
  assert.equal((await crews[2].before(sole('three', id))).reason, 'approval_redeemed');
  await a.start();
  assert.equal((await framework(a).before(sole('one', id))).reason, 'approval_redeemed');
  await b.start();
  sound(a);
});

test('of several gateways that redeem at once one does', ONLY_SHARED, async (t) => {
  const { fleet: [a, b], crews, sound } = await threeOf(t);
  for (let round = 0; round < 3; round++) {
    const texts = [['one', 'two'], ['three', 'four'], ['four', 'two']][round];
    const body = { candidates: plan(...texts), boundary_id: `run-${round}` };
    const { continuation_id: id } = await crews[round].before(body);
    for (const who of [ANN, BOB, EVE]) await rank(b, who, id, '1', '2', 'reject');
    const again = { arguments: plan(texts[0])[0], boundary_id: body.boundary_id, continuation_id: id };
    const told = await Promise.all([0, 1, 2, 0, 1, 2].map((at, i) => crews[at].before(i < 3 ? again : body)));
    const given = told.filter((said) => said.verdict === 'allow');
    assert.equal(new Set(given.map((said) => said.decision_id)).size, 1, JSON.stringify(told.map((s) => s.reason)));
    const bound = await Promise.all(crews.map((crew) => crew.bind(given[0].decision, { arguments: again.arguments })));
    assert.equal(bound.filter((said) => said.verdict === 'allow').length, 1);
  }
  assert.equal(a.decisions(['--decision', 'allow']).length, 3);
  sound(a);
});
