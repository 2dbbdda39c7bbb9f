// Mints vectors/bundles: bundles that hold, and others that do not, with the first reason against each. The lines of
// those that hold are made by tests/conformance/verify.mjs, which shares no code with the C implementation; what is
// said of each file is stated here, and computed by it.
//
//   tests/support/node tests/support/mint/mint-bundles.mjs [FOLDER]     (default: vectors)
import assert from 'node:assert/strict';
import { H, ed25519, hash, jcs, write } from './mint.mjs';
import { ELSEWHERE, W, after, body, cosigned, decision, leafHash, line, log, outcome, root, signed, stranger, vkey,
  witnessKey } from './mint-log.mjs';
import { Bundle, verdict, vkey as readKey } from '../../conformance/verify.mjs';

// ---- the records of a log, each with its kind
const at = (second) => `2026-06-25T05:00:${String(second).padStart(2, '0')}Z`;
const ext = (tenant, more) => ({ extensions: { writ: { tenant, ...more } } });
const plain = (value) => JSON.parse(JSON.stringify(value)); // without what is undefined
let made = 0;
/** A decision of a run, at a second. */
const decide = (run, seq, second, over = {}) => {
  const id = `d-${++made}`;
  const value = decision({ decision_id: id, idempotency_key: `key-${id}`, boundary_id: run, seq, running_count: seq + 1,
    issued_at: at(second), ...ext('acme'), ...over });
  // without what they are made of there are no digests
  return { kind: 'decision',
    value: plain({ ...value, ...(value.issued_at === null && { receipt_ref: undefined }),
      ...('seq' in over && { decision_context_hash: undefined }) }) };
};
const end = ({ value }, second, over) =>
  ({ kind: 'outcome', value: outcome(value, { completed_at: at(second), ...over }) });
const idsOf = (decisions) => `sha256:${hash(...decisions.map(({ value }) => value.decision_id)).toString('hex')}`;
const seal = (run, decisions, second, over) => ({ kind: 'seal', value: plain({
  boundary_id: run, sealed: true, total: decisions.length, final_seq: decisions.length - 1, seal_hash: idsOf(decisions),
  sealed_at: at(second), ...over,
}) });
const event = ({ value }, n, name, state, second, over) => ({ kind: 'review', value: {
  decision_id: value.decision_id, boundary_id: value.boundary_id, n, event: name, state, at: at(second),
  review_digest: H('terms'), ...over,
} });
const withheld = (value) => ({ ...value, kind: 'withheld' });

// ---- bundles
/** The leaves as lines: what is shown is true for, and for the rest the largest nodes. */
function* leavesOf(bundle, records, leaves, shown) {
  for (let i = 0; i < records.length;) {
    const { kind, value, ...rest } = records[i];
    if (shown(i)) {
      const digest = `sha256:${leaves[i].toString('hex')}`, { decision_id, boundary_id, seq } = value;
      yield* kind === 'withheld'
        ? bundle.withhold({ digest, decision_id, boundary_id, seq, tenant: value.extensions?.writ?.tenant ?? '',
          ...rest }) : bundle.record(kind, value);
      i++;
      continue;
    }
    let level = 0;
    const isFree = (n) => i % n === 0 && i + n <= records.length &&
      Array.from({ length: n }, (_, k) => i + k).every((k) => !shown(k));
    while (isFree(2 ** (level + 1))) level++;
    yield* bundle.node(level, `sha256:${root(leaves.slice(i, i + 2 ** level)).toString('hex')}`);
    i += 2 ** level;
  }
}
/** The lines of a bundle of a log. */
function linesOf(records, { select = {}, shown = () => true, note = (text) => signed(text), keys = [vkey(log)] } = {}) {
  const leaves = records.map(({ value }) => leafHash(value)), under = note(body(leaves));
  const bundle = new Bundle(select, keys, { note: under, size: records.length, root: root(leaves) });
  return [...bundle.begin(), ...leavesOf(bundle, records, leaves, shown), ...bundle.end()];
}
/** Lines that may be wrong, under a checkpoint that is right. */
function forged(records,
    { select = {}, note = (text) => signed(text), keys = [vkey(log)], change = (lines) => lines } = {}) {
  const head = JSON.stringify({ format: 'writ-bundle/1',
    checkpoint: note(body(records.map(({ value }) => leafHash(value)))), keys, select });
  return change([head,
    ...records.map(({ kind, value }, leaf) => `{"leaf":${leaf},"kind":"${kind}","record":${jcs(value)}}`),
    '{"kind":"end"}']);
}
const cases = [];
function add(id, reason, lines,
    { keys = [vkey(log)], witnesses, quorum, expect, text = (all) => all.map((each) => `${each}\n`).join('') } = {}) {
  const bundle = text(lines), names = new Set((witnesses ?? []).map((each) => each.split('+')[0]));
  const told = verdict('bundle', [Buffer.from(bundle)],
    { keys: keys.map(readKey), witnesses: (witnesses ?? []).map(readKey), quorum: quorum ?? names.size });
  assert.equal(told.reason, reason, id);
  for (const [name, value] of Object.entries(expect ?? {})) assert.equal(told[name], value, `${id}: ${name}`);
  cases.push({ id, bundle, keys, ...(witnesses && { witnesses }), ...(quorum && { quorum }), expect: told });
}

// Run "one" of acme: a call that was made, one that was refused, sealed. Run "two": one that waits for an approval and
// was approved, one under way. Run "one" of another tenant.
const A = decide('one', 0, 1), B = decide('one', 1, 3, { decision: 'deny', reason: 'too much' });
const P = decide('two', 0, 6, { decision: 'require_approval', continuation_id: 'c-1', expires_at: at(50) });
const Q = decide('two', 1, 10, { continuation_id: 'c-1', supersedes: P.value.decision_id, expires_at: at(20) });
const R = decide('two', 2, 14, { agent_id: 'agent:other', expires_at: at(16) }), S = decide('one', 0, 15, ext('other'));
const termsOf = ({ value: { intent_digest, target_state_digest } }) =>
  ({ intent_digest, target_state_digest: target_state_digest ?? '' });
const LOG = [A, end(A, 2), B, end(B, 4, { outcome: 'blocked', tool_output_hash: null }), seal('one', [A, B], 5),
  P, event(P, 0, 'open', 'open', 7, { terms: termsOf(P) }),
  event(P, 1, 'vote', 'open', 8, { by: 'ann', vote: 'approve', confidence: '0.9', feedback: 'go on' }),
  event(P, 2, 'accept', 'approved', 9), end(P, 11, { outcome: 'blocked', tool_output_hash: null }), Q, end(Q, 12), R,
  S];
const of = (...wanted) => ({ shown: (i) => wanted.includes(LOG[i]) });
const whereRecord = (test) => ({ shown: (i) => test(LOG[i].value, LOG[i].kind) });
const ALL = linesOf(LOG);

// ---- those that hold
add('all records', 'ok', ALL, { expect: { records: 14, decisions: 6, in_flight: 2, boundaries: 3, unsealed: 2 } });
add('of a run', 'ok', linesOf(LOG, { select: { boundary: 'two' }, ...whereRecord((v) => v.boundary_id === 'two') }),
  { expect: { records: 8, skipped: 6 } });
add('of a run that two tenants have', 'ok',
  linesOf(LOG, { select: { boundary: 'one' }, ...whereRecord((v) => v.boundary_id === 'one') }),
  { expect: { boundaries: 2, unsealed: 1 } });
add('of a run of a tenant', 'ok', linesOf(LOG, { select: { tenant: 'other', boundary: 'one' }, ...of(S) }),
  { expect: { records: 1, skipped: 13, skipped_inside: 0 } });
add('of an agent', 'ok', linesOf(LOG, { select: { agent: 'agent:other' }, ...of(R) }),
  { expect: { faulty: 1, boundaries: 1 } });
add('of a time', 'ok',
  linesOf(LOG, { select: { since: at(3), until: at(9) },
    ...whereRecord((v) => (v.issued_at ?? v.completed_at ?? v.sealed_at ?? v.at) >= at(3) &&
      (v.issued_at ?? v.completed_at ?? v.sealed_at ?? v.at) < at(9)) }),
  { expect: { records: 6, skipped_inside: 0 } });
add('of a time in another zone', 'ok', linesOf(LOG, { select: { since: '2026-06-25t07:00:14.5+02:00' }, ...of(S) }));
add('of nothing that there is', 'ok', linesOf(LOG, { select: { boundary: 'none' }, shown: () => false }),
  { expect: { records: 0, skipped: 14 } });
add('of a log without records', 'ok', linesOf([]), { expect: { size: 0 } });
add('the one record of a log', 'ok', linesOf([A]), { expect: { in_flight: 1 } });
for (const [second, told] of [[0, 'before all'], [1, 'when it began'], [8, 'before the approval'],
  [11, 'after the approval'], [15, 'one under way'], [17, 'one expired'], [59, 'after all']])
  add(`phases: ${told}`, 'ok', linesOf(LOG, { select: { at: at(second) } }));
add('phases of a refusal, of one that never ends and of one without a time', 'ok',
  linesOf([decide('p', 0, 1, { decision: 'deny' }), decide('p', 1, 2, { expires_at: null }),
  decide('p', 2, 3, { decision: 'revise', revalidate_if: ['argument_change'], issued_at: null })],
    { select: { at: at(30) } }));
const X = decide('p', 0, 1), Y = decide('p', 1, 5, { supersedes: X.value.decision_id });
add('a decision that another one superseded, in a run with a gap', 'ok',
  linesOf([X, Y, decide('p', 4, 9, { supersedes: Y.value.decision_id })], { select: { at: at(30) } }),
  { expect: { faulty: 1 } });
for (const [name, value] of [['a decision', A], ['an outcome', LOG[1]], ['a seal', LOG[4]],
    ['an event of a review', LOG[7]], ['a decision that waits', P]]) {
  const hidden = LOG.map((each) => (each === value ? withheld({ ...each, of: each.kind }) : each));
  add(`${name} is withheld`, 'ok', linesOf(hidden, { select: { at: at(40) } }),
    { expect: { withheld: 1, records: 13 } });
}
add('all is withheld', 'ok', linesOf(LOG.map((each) => withheld({ ...each, of: each.kind }))),
  { expect: { withheld: 14, records: 0, faulty: 0 } });
add('an outcome whose decision is not shown', 'ok', linesOf(LOG, { ...of(LOG[1], LOG[3]) }),
  { expect: { unmatched_outcomes: 2, skipped_inside: 1 } });
add('two outcomes', 'ok', linesOf([A, end(A, 2), end(A, 3)]), { expect: { unmatched_outcomes: 1 } });
add('two outcomes of one that waits', 'ok', linesOf([P, end(P, 7), end(P, 8)], { select: { at: at(9) } }),
  { expect: { unmatched_outcomes: 1 } });
add('two decisions with one id', 'ok', linesOf([A, A, end(A, 2)], { select: { at: at(9) } }),
  { expect: { in_flight: 1, faulty: 1 } });
// ---- reviews: of candidates, and of one call
{
  const plans = ['a', 'b', 'c'].map((plan, seq) => decide('plans', seq, seq, { decision_id: 'w',
    params_hash: H({ plan }), decision: 'require_approval', continuation_id: 'w', expires_at: at(50) }));
  const W1 = plans[0];
  const candidates = plans.map((plan, i) => ({ option: `${i + 1}`, ...termsOf(plan) }));
  const open = event(W1, 0, 'open', 'open', 2, { terms: { ...termsOf(W1), candidates } });
  const ballot = event(W1, 1, 'vote', 'open', 3, { by: 'ann', vote: '2', ranking: ['2', '1', '3', 'reject'] });
  const accept = (elected) => event(W1, 2, 'accept', 'approved', 4, elected && { elected });
  const run = (plan, over) => decide('plans', 1, 5, { params_hash: plan.value.params_hash, continuation_id: 'w',
    supersedes: 'w', expires_at: at(40), ...over });
  const redeem = event(W1, 3, 'redeem', 'redeemed', 6, { by: 'agent' });
  const whole = (taken, elected = accept('2')) => [W1, open, ballot, elected, taken, redeem, end(taken, 7)];
  const second = run(plans[1]);
  add('of candidates the elected one ran', 'ok', linesOf(whole(second), { select: { at: at(6) } }));
  const wrong = (name, records) => add(name, 'approval_mismatch', forged(records));
  wrong('of candidates another one ran', whole(run(plans[0])));
  wrong('a call ran that is no candidate', whole(run(decide('plans', 1, 5, { params_hash: H({ plan: 'd' }) }))));
  wrong('the elected one ran, on another state of its target',
    whole(run(plans[1], { target_state_digest: H('another state') })));
  wrong('a candidate ran that no vote elected', whole(second, accept(undefined)));
  wrong('a candidate was elected that does not exist', whole(second, accept('4')));
  wrong('a candidate ran in an open review', [W1, open, ballot, second]);
  wrong('a candidate ran after its approval lapsed', [W1, open, ballot, accept('2'),
    event(W1, 3, 'expire', 'lapsed', 5), second]);
  const hidden = (one) => withheld({ ...one, of: 'review' });
  add('another candidate ran, and the election is withheld', 'ok',
    linesOf([W1, open, ballot, hidden(accept('2')), run(plans[0])]));
  add('another candidate ran, and the opening is withheld', 'ok',
    linesOf([W1, hidden(open), ballot, accept('2'), run(plans[0])]));
  add('a call that another review is about', 'ok',
    linesOf([W1, open, ballot, accept('2'), run(plans[0], { continuation_id: 'x' })]));
  const lone = event(W1, 0, 'open', 'open', 2, { terms: termsOf(W1) }), yes = event(W1, 1, 'accept', 'approved', 4);
  add('a call ran that its review approved', 'ok', linesOf([W1, lone, yes, run(plans[0])]));
  wrong('another call ran than its review approved', [W1, lone, yes, run(plans[1])]);
  wrong('a review of one call elected a candidate', [W1, lone, { ...yes, value: { ...yes.value, elected: '1' } },
    run(plans[0])]);
  wrong('a review without terms that name a call',
    [W1, event(W1, 0, 'open', 'open', 2, { terms: { quorum: '1' } }), yes, run(plans[0])]);
}

// ---- one key, two calls
const claims = (over = {}, ours = {}) =>
  ({ idempotency_key: 'one-key', ...ext('acme', { upstream: 'fs', duplicates: 'forbid', claim_seconds: 60, ...ours }),
    ...over });
{
  const first = decide('one', 0, 1, claims()), twice = (id, ...records) => add(id, 'ok', linesOf([first, ...records]));
  const second = (second, over, ours) => decide('one', 1, second, claims(over, ours));
  twice('two calls of one key', end(first, 2), second(3));
  twice('two calls of one key, the first one under way', second(3));
  twice('three calls of one key', end(first, 2), second(3), decide('two', 0, 4, claims()));
  twice('a key once more, since nothing ran',
    end(first, 2, { outcome: 'error', error_type: 'not_sent', tool_output_hash: null }), second(3));
  twice('a key once more, since its call was refused after all',
    end(first, 2, { outcome: 'blocked', tool_output_hash: null }), second(3));
  twice('a key once more, of another agent', end(first, 2), second(3, { agent_id: 'agent:other' }));
  twice('a key once more, of another tenant', end(first, 2), second(3, {}, { tenant: 'other' }));
  twice('a key once more, of another server', end(first, 2), second(3, {}, { upstream: 'other' }));
  twice('a key once more, of a tool that may run again', end(first, 2),
    second(3, {}, { duplicates: 'allow', claim_seconds: undefined }));
  const short = decide('one', 0, 1, claims({}, { claim_seconds: 2 })), next = second(4),
    late = decide('one', 1, 3, claims());
  add('a key once more, when its claim is over', 'ok', linesOf([short, end(short, 2), late]));
  add('a key once more, one microsecond before its claim is over', 'ok',
    linesOf([short, end(short, 2), decide('one', 1, 2, claims({ issued_at: '2026-06-25T05:00:02.999999Z' }))]));
  const round = second(3, { supersedes: first.value.decision_id }, { claim_seconds: undefined, round: 1 });
  twice('a round of the call under its claim, and another call of its key', round, end(round, 4),
    decide('two', 0, 5, claims()));
  twice('a round of the call that did not run, and another call of its key', round,
    end(round, 4, { outcome: 'error', error_type: 'not_sent', tool_output_hash: null }), decide('two', 0, 5, claims()));
  add('a claim that ends never', 'ok',
    linesOf([decide('one', 0, 1, claims({}, { claim_seconds: 2 ** 53 - 1 })), next]));
  add('a claim that is no number of seconds', 'ok',
    linesOf([decide('one', 0, 1, claims({}, { claim_seconds: -1 })), next]));
  add('a second call of a key that is not named', 'evidence_malformed', forged([first, end(first, 2), second(3)]));
}

add('names and numbers that sort in another way', 'ok',
  linesOf([decide('one\u2028\u{1f600}', 0, 1,
    { target: '\ud83d\ude00 \ue000', extensions: { '\u{1f600}': 1e21, '\ue000': -0.5, '\u00e9': 1e-7, 2: [1.5e300, 0],
      10: { z: 4.5, a: 9007199254740992 } } })]));
for (const profile of ['algovoi-v1', 'vaara-v0']) {
  const d = decision({ decision_id: 'd-x', issued_at: at(1), ...ext('acme', { profile }) }),
  pick = (names) => Object.fromEntries(names.map((name) => [name, d[name] ?? null]));
  const ref = ['agent_id', 'tool', 'normalized_scope', 'intent_digest', 'idempotency_key'];
  const o = outcome(d, {});
  if (profile === 'algovoi-v1') {
    d.intent_ref = H(pick(ref));
    d.receipt_ref = H(pick([...ref, 'issued_at']));
    o.receipt_ref = H({ ...pick(ref), completed_at: o.completed_at });
  } else {
    const vaara = { action_type: d.tool, normalized_scope: d.normalized_scope };
    d.intent_digest = H({ ...vaara, params_hash: d.params_hash });
    d.intent_ref = H({ ...vaara, schema: 'crewai.governance.decision/v1', agent_id: d.agent_id,
      intent_digest: d.intent_digest });
    d.receipt_ref = H({ ...pick(['intent_ref', 'target_state_digest', 'continuation_id', 'seq', 'idempotency_key']),
      timestamp_ms: Date.parse(d.issued_at) });
    o.receipt_ref = d.receipt_ref;
    d.decision_context_hash = H(pick(['policy_refs', 'target_state_digest', 'continuation_id', 'normalization_id']));
  }
  o.intent_ref = d.intent_ref;
  add(`digests of ${profile}`, 'ok', linesOf([{ kind: 'decision', value: d }, { kind: 'outcome', value: o }]));
  add(`digests of ${profile} under another profile`, 'record_digest_mismatch',
    forged([{ kind: 'decision', value: { ...d, ...ext('acme') } }]));
}

// ---- what runs lack
const runs = (...records) => linesOf(records);
const [a, b, c] = [0, 1, 2].map((seq) => decide('r', seq, seq)), lone = decide('r', 5, 9);
const twice = decide('r', 1, 9), counted = decide('r', 1, 1, { running_count: 2 });
add('a run that is whole', 'ok', runs(a, b, c, seal('r', [a, b, c], 20)), { expect: { faulty: 0, unsealed: 0 } });
add('seqs are missing', 'ok', runs(a, lone), { expect: { faulty: 1, unsealed: 1 } });
add('the first seqs are missing', 'ok', runs(c), { expect: { faulty: 1 } });
add('a tail is missing, as the seal shows', 'ok', runs(a, b, seal('r', [a, b, c], 20)),
  { expect: { faulty: 1, unsealed: 0 } });
add('a seq is double', 'ok', runs(a, b, twice, c), { expect: { faulty: 1 } });
add('a seal of other decisions', 'ok', runs(a, counted, seal('r', [a, b], 20)), { expect: { faulty: 1 } });
add('a seal of fewer decisions', 'ok', runs(a, b, seal('r', [a], 20)), { expect: { faulty: 1 } });
add('two seals', 'ok', runs(a, seal('r', [a], 20), seal('r', [a], 21)), { expect: { faulty: 1 } });
add('a seal alone', 'ok', runs(seal('r', [a], 20)), { expect: { faulty: 1, boundaries: 1 } });
add('a seal without hash, of the newer of two runs', 'ok',
  runs(a, decide('r', 0, 2, ext('other')), seal('r', [a], 20, { seal_hash: undefined })),
  { expect: { boundaries: 2, unsealed: 1 } });
add('a decision after the seal', 'ok', runs(a, seal('r', [a], 20), b));
add('more gaps than are named', 'ok', runs(...Array.from({ length: 20 }, (_, i) => decide('r', 2 * i + 1, i))),
  { expect: { faulty: 1 } });
add('a gap as large as can be', 'ok',
  runs(decide('r', Number.MAX_SAFE_INTEGER - 1, 1),
    seal('r', [], 20, { total: Number.MAX_SAFE_INTEGER, final_seq: Number.MAX_SAFE_INTEGER - 1 })));
add('decisions of no run', 'ok',
  runs(decide(undefined, 0, 1), decide('r', 0, 2, { seq: undefined, running_count: undefined })),
  { expect: { boundaries: 0 } });

// ---- tampered with: lines
const changed = (n, change) => ALL.toSpliced(n, 1, change(ALL[n]));
add('nothing', 'evidence_malformed', []);
add('the first line alone', 'evidence_malformed', ALL.slice(0, 1), { expect: { line: 1 } });
add('the last line is cut off', 'evidence_malformed', ALL, { text: (all) => all.join('\n'), expect: { line: 15 } });
add('the last line is missing', 'evidence_malformed', ALL.slice(0, -1));
add('a line more', 'evidence_malformed', [...ALL, '{}'], { expect: { line: 17 } });
add('an empty line', 'evidence_malformed', ALL.toSpliced(3, 0, ''), { expect: { line: 4 } });
add('ends of lines of another system', 'evidence_malformed', ALL,
  { text: (all) => all.map((each) => `${each}\r\n`).join('') });
add('a mark of the order of bytes', 'evidence_malformed', changed(0, (l) => `\ufeff${l}`));
add('another format', 'evidence_malformed', changed(0, (l) => l.replace('writ-bundle/1', 'writ-bundle/2')));
add('other white space', 'evidence_malformed', changed(4, (l) => l.replace('","', '", "')));
add('another order of members', 'evidence_malformed',
  changed(4, (l) => l.replace(/^\{("leaf":\d+),("kind":"\w+")/, '{$2,$1')));
add('a member more in a line', 'evidence_malformed', changed(4, (l) => l.replace('{"leaf"', '{"more":1,"leaf"')));
add('a member twice', 'evidence_malformed',
  changed(4, (l) => l.replace('"outcome":"blocked"', '"outcome":"executed","outcome":"blocked"')),
  { expect: { line: 5 } });
add('a number that is written in another way', 'evidence_malformed',
  changed(1, (l) => l.replace('"seq":0', '"seq":0.0')));
add('a letter that is written as an escape', 'evidence_malformed',
  changed(1, (l) => l.replace('"allow"', '"\\u0061llow"')));
add('half of a pair of surrogates', 'evidence_malformed',
  changed(1, (l) => l.replace('as the policy says', '\\ud800')));
add('deeper than anything', 'evidence_malformed',
  changed(1, (l) => l.replace('{"writ":{"tenant":"acme"}}', `${'['.repeat(90)}${']'.repeat(90)}`)));
add('another leaf', 'evidence_malformed', changed(1, (l) => l.replace('"leaf":0', '"leaf":1')));
add('the last line says another count', 'evidence_malformed',
  changed(15, (l) => l.replace('"outcomes":4', '"outcomes":5')));
add('the last line names another run', 'evidence_malformed',
  changed(15, (l) => l.replace('"boundary":"two"', '"boundary":"one"')));
add('the last line has another digest', 'evidence_malformed',
  changed(15, (l) => l.replace(/"sha256":"./, '"sha256":"g')));
add('names a key of another log', 'evidence_malformed', forged(LOG, { keys: [vkey(log, ELSEWHERE)] }));
add('names a key that is none', 'evidence_malformed', forged(LOG, { keys: ['key'] }));
add('a time that is none', 'evidence_malformed', forged(LOG, { select: { at: 'noon' } }));
add('a selection that is none', 'evidence_malformed', forged(LOG, { select: { boundary: 1 } }));
add('asked for what nobody knows', 'evidence_malformed', forged(LOG, { select: { color: 'red' } }));
const P5 = linesOf(LOG, { select: { at: at(17) } });
add('another phase', 'evidence_malformed', P5.map((l) => l.replace('"phase":"expired"', '"phase":"fresh"')));
add('a phase is missing', 'evidence_malformed', P5.filter((l) => !l.includes('"phase":"expired"')));
add('a phase too early', 'record_not_in_log', P5.toSpliced(2, 2, P5[3], P5[2]));

// ---- tampered with: who signed
add('signed by a key that is not trusted', 'checkpoint_unsigned',
  linesOf(LOG, { note: (text) => signed(text, stranger) }));
add('the key that signed was taken from the trusted ones', 'checkpoint_unsigned', ALL, { keys: [vkey(after)] });
add('no key is trusted', 'checkpoint_unsigned', ALL, { keys: [] });
add('another root', 'checkpoint_invalid',
  forged(LOG, { note: (text) => signed(text).replace(/\n.{44}\n/, `\n${hash('x').toString('base64')}\n`) }));
add('another size', 'checkpoint_invalid', forged(LOG, { note: (text) => signed(text).replace('\n14\n', '\n15\n') }));
add('a checkpoint of another log', 'checkpoint_invalid',
  forged(LOG, { note: (text) => signed(text.replace(/^.*/, ELSEWHERE)) }));
add('a checkpoint that is none', 'evidence_malformed', forged(LOG, { note: () => 'none' }));
const other = ed25519('writ vectors: another witness'), OTHER = 'other.example', both = [W, witnessKey(other, OTHER)];
const byBoth = (text) => signed(text) + cosigned(text) + cosigned(text, other, OTHER, other);
add('signed by both witnesses', 'ok', linesOf(LOG, { note: byBoth }), { witnesses: both });
add('signed by one of two witnesses', 'checkpoint_unwitnessed',
  linesOf(LOG, { note: (text) => signed(text) + cosigned(text) }), { witnesses: both });
add('signed by one of two witnesses, one asked for', 'ok',
  linesOf(LOG, { note: (text) => signed(text) + cosigned(text) }), { witnesses: both, quorum: 1 });
add('not signed by the witness', 'checkpoint_unwitnessed', ALL, { witnesses: [W] });
add('twice the key of one witness', 'ok', linesOf(LOG, { note: (text) => signed(text) + cosigned(text) }),
  { witnesses: [W, W] });
add('a stranger\'s signature under the witness\'s id', 'checkpoint_invalid',
  linesOf(LOG, { note: (text) => signed(text) + cosigned(text, stranger) }), { witnesses: [W] });
add('a witness\'s signature over another time', 'checkpoint_invalid',
  linesOf(LOG, { note: (text) => signed(text) + cosigned(text.replace('\n14\n', '\n13\n')) }), { witnesses: [W] });

// ---- tampered with: records
const edited = (n, change, more) => changed(n + 1, (l) => {
  const value = { ...LOG[n].value };
  change(value);
  return l.replace(/"record":.*$/, `"record":${jcs(value)}}`);
}, more);
const removed = (value, name) => { delete value[name]; };
add('a record was edited: what was decided', 'record_not_in_log', edited(2, (v) => {
  v.decision = 'allow';
}), { expect: { line: 16 } });
add('a record was edited: why', 'record_not_in_log', edited(0, (v) => { v.reason = 'because'; }));
add('a record was edited: what became of it', 'record_not_in_log', edited(1, (v) => {
  v.outcome = 'error';
  v.error_type = 'timeout';
}));
add('a record was edited: a vote', 'record_not_in_log', edited(7, (v) => { v.vote = 'reject'; }));
add('a record was edited: a member more', 'record_not_in_log', edited(1, (v) => { v.more = 1; }));
add('a record was edited: a member less', 'record_not_in_log', edited(1, (v) => removed(v, 'tool_output_hash')));
for (const [name, to] of [['tool', 'refund'], ['agent_id', 'agent:other'], ['params_hash', H('x')],
  ['normalized_scope', 'pay/USD'], ['intent_digest', H('x')], ['intent_ref', H('x')],
  ['receipt_ref', H('x')], ['decision_context_hash', H('x')], ['policy_digest', H('x')], ['issued_at', at(0)],
  ['expires_at', at(59)]])
  add(`a record was edited: ${name}`, 'record_digest_mismatch', edited(0, (v) => {
    v[name] = to;
  }), { expect: { line: 2 } });
for (const [name, to] of [['idempotency_key', 'other'], ['boundary_id', 'two'], ['seq', 1], ['intent_ref', H('x')],
  ['intent_ref', null], ['receipt_ref', H('x')], ['receipt_ref', null], ['completed_at', at(3)]])
  add(`an outcome with ${to === null ? 'no' : 'another'} ${name}`, 'outcome_mismatch', edited(1, (v) => {
    v[name] = to;
  }), { expect: { line: 3 } });
for (const [n, name, to] of [[0, 'decision', 'maybe'], [0, 'decision_id', ''], [0, 'decision_id', null], [0, 'tool', 7],
  [0, 'issued_at', '2026-06-25 05:00:01'], [0, 'issued_at', '2026-02-30T05:00:01Z'],
  [0, 'issued_at', '2026-06-25T05:00:60Z'], [0, 'seq', -1], [0, 'seq', 1.5], [0, 'seq', 9007199254740992],
  [0, 'running_count', 2], [0, 'expires_at', at(0)], [0, 'policy_refs', []], [0, 'policy_refs', [1]],
  [0, 'params_hash', 'sha256:00'], [0, 'policy_digest', 'sha256:'], [0, 'intent_ref', null], [0, 'extensions', []],
  [2, 'reason', ''], [5, 'continuation_id', null], [5, 'expires_at', null],
  [1, 'outcome', 'done'], [1, 'outcome', 'error'], [1, 'completed_at', null], [1, 'tool_output_hash', 'none'],
  [4, 'sealed', false], [4, 'total', -1], [4, 'final_seq', 2], [4, 'seal_hash', 'x'],
  [7, 'event', 'nod'], [7, 'state', 'asleep'], [7, 'vote', 'perhaps'], [7, 'by', ''], [7, 'confidence', '1.1'],
  [7, 'confidence', 'sure'], [7, 'feedback', 'a\u0007'], [7, 'review_digest', null],
  [6, 'terms', null], [6, 'n', '0']])
  add(`a ${LOG[n].kind} with the ${name} ${JSON.stringify(to)}`, 'record_invalid', edited(n, (v) => {
    v[name] = to;
  }), { expect: { line: n + 2 } });
for (const [n, name] of [[0, 'decision'], [0, 'policy_refs'], [0, 'target_state_digest'], [5, 'continuation_id'],
  [1, 'completed_at'], [4, 'total'], [7, 'by'], [6, 'terms']])
  add(`a ${LOG[n].kind} without ${name}`, 'record_invalid', edited(n, (v) => removed(v, name)));
add('a number that a double does not hold', 'record_invalid',
  changed(1, (l) => l.replace('"tenant":"acme"', '"tenant":"acme","n":9007199254740993')));
add('a record that is no object', 'record_invalid', changed(1, (l) => l.replace(/"record":.*$/, '"record":[]}')));
add('no record', 'record_invalid', changed(1, (l) => l.replace(/,"record":.*$/, '}')));
add('a record of another kind', 'record_invalid',
  changed(2, (l) => l.replace('"kind":"outcome"', '"kind":"decision"')));
add('a record of no kind', 'record_not_in_log', changed(2, (l) => l.replace('"kind":"outcome"', '"kind":"other"')),
  { expect: { line: 3 } });
add('deeper than a record is', 'record_invalid',
  changed(1, (l) => l.replace('"tenant":"acme"', `"n":${'['.repeat(70)}${']'.repeat(70)},"tenant":"acme"`)));
add('a longer name than a record has', 'record_invalid',
  changed(1, (l) => l.replace('"tenant":"acme"', `"${'n'.repeat(1025)}":1,"tenant":"acme"`)));
add('as long a name as a record has', 'record_not_in_log',
  changed(1, (l) => l.replace('"tenant":"acme"', `"${'n'.repeat(1024)}":1,"tenant":"acme"`)));
add('a longer number than any', 'evidence_malformed',
  changed(1, (l) => l.replace('"tenant":"acme"', `"n":0.${'1'.repeat(63)},"tenant":"acme"`)), { expect: { line: 2 } });
add('more elements than a list has', 'record_invalid', edited(0, (v) => { v.policy_refs = Array(1025).fill(''); }));
add('more members than a record has', 'record_invalid', edited(0, (v) => {
  for (let i = 0; i < 257; i++) v[`m${i}`] = 0;
}));
const crowded = (n, ours = { tenant: 'acme' }) => edited(0, (v) => {
  v.extensions = { writ: { ...ours, ...Object.fromEntries(Array.from({ length: n }, (_, i) => [`m${i}`, 0])) } };
});
add('more members than our part of a record has', 'record_invalid', crowded(257));
add('as many members as our part of a record has', 'record_not_in_log', crowded(256));
const TEXTS = ['argument', 'constraint', 'definition', 'duplicates', 'first_decision_id', 'input_digest',
  'output_after', 'output_before', 'reason', 'showing', 'state_free',
  'tenant', 'trace_id', 'upstream', 'wire_tool'];
const OURS = { ...Object.fromEntries(TEXTS.map((name) => [name, 'x'])), profile: null, claim_seconds: -1, round: 0,
  key_stated: true, shadow: false, budgets: [], charges: [], output_rules: [] };
add('as many members, and all of ours', 'record_not_in_log', crowded(256, OURS));
for (const [name, value] of [['argument', 1], ['showing', []], ['charges', 'x'], ['charges', [1]], ['round', 0.5],
    ['shadow', 1]]) {
  add(`as many members, and ${name} as ${JSON.stringify(value)}`, 'record_invalid',
    crowded(256, { ...OURS, [name]: value }));
}
add('more budgets than our part of a record has', 'record_invalid', edited(0, (v) => {
  v.extensions = { writ: { budgets: Array(1025).fill('') } };
}));
add('more charges than our part of a record has', 'record_invalid', edited(0, (v) => {
  v.extensions = { writ: { charges: Array(1025).fill('') } };
}));
add('a record was removed', 'evidence_malformed', ALL.toSpliced(7, 1), { expect: { line: 8 } });
const renumbered = (all) => all.map((l, n) => l.replace(/^\{"leaf":\d+/, `{"leaf":${n - 1}`));
add('a record was removed, the others renumbered', 'record_not_in_log', renumbered(ALL.toSpliced(7, 1)),
  { expect: { line: 15 } });
add('two records were swapped', 'evidence_malformed', ALL.toSpliced(7, 2, ALL[8], ALL[7]));
add('two records were swapped, all renumbered', 'record_not_in_log', renumbered(ALL.toSpliced(7, 2, ALL[8], ALL[7])));
add('a record is there twice', 'record_not_in_log', renumbered(ALL.toSpliced(7, 0, ALL[7])));
add('a record of another bundle', 'record_not_in_log',
  renumbered([...ALL.slice(0, 10), forged([decide('two', 3, 9)])[1], ...ALL.slice(11)]));
add('the tail was cut off', 'record_not_in_log', [...ALL.slice(0, 10), ALL.at(-1)], { expect: { line: 11 } });
add('the last record was cut off', 'record_not_in_log', [...ALL.slice(0, -2), ALL.at(-1)]);

// ---- tampered with: what was asked for, and what is not shown
add('a record of another run', 'record_foreign', forged(LOG, { select: { boundary: 'two' } }), { expect: { line: 2 } });
add('a decision of another agent', 'record_foreign', forged(LOG, { select: { agent: 'agent:other' } }));
add('a decision of another tenant', 'record_foreign', forged(LOG, { select: { tenant: 'other' } }));
add('a record of before', 'record_foreign', forged(LOG, { select: { since: at(2) } }));
add('a record of after', 'record_foreign', forged(LOG, { select: { until: at(2) } }), { expect: { line: 3 } });
add('a record without a time, of a time', 'record_foreign',
  forged([seal('r', [a], 1, { sealed_at: undefined })], { select: { since: at(0) } }));
const TWO = linesOf(LOG, { select: { boundary: 'two' }, ...whereRecord((v) => v.boundary_id === 'two') });
const NODE = TWO.findIndex((l) => l.includes('"level":2'));
assert.ok(NODE > 0);
const nodeLine = (change) => TWO.toSpliced(NODE, 1, change(TWO[NODE]));
add('a node with another digest', 'record_not_in_log', nodeLine((l) => l.replace(/sha256:.{64}/, H('x'))));
add('a node that no tree has there', 'record_not_in_log',
  TWO.toSpliced(NODE + 1, 1, TWO[NODE + 1].replace('"level":0', '"level":3')), { expect: { line: NODE + 2 } });
add('a node of another level', 'evidence_malformed', nodeLine((l) => l.replace('"level":2', '"level":3')));
add('a node beyond all levels', 'evidence_malformed', nodeLine((l) => l.replace('"level":2', '"level":53')));
add('a node without a level', 'evidence_malformed', nodeLine((l) => l.replace('"level":2,', '')));
add('a node whose digest is none', 'evidence_malformed', nodeLine((l) => l.replace(/sha256:.{64}/, 'sha256:0')));
const HIDDEN = linesOf(LOG.map((each) => (each === A ? withheld({ ...each, of: each.kind }) : each)));
const hiddenLine = (change) => HIDDEN.toSpliced(1, 1, change(HIDDEN[1]));
add('what is withheld has another digest', 'record_not_in_log', hiddenLine((l) => l.replace(/sha256:.{64}/, H('x'))));
add('what is withheld has another decision_id', 'evidence_malformed',
  hiddenLine((l) => l.replace(/"decision_id":"[^"]+"/, '"decision_id":"d-99"')), { expect: { line: 16 } });
add('what is withheld has another seq', 'evidence_malformed', hiddenLine((l) => l.replace('"seq":0', '"seq":7')),
  { expect: { line: 16 } });
add('what is withheld has no decision_id', 'evidence_malformed',
  hiddenLine((l) => l.replace(/"decision_id":"[^"]+",/, '')), { expect: { line: 2 } });
add('what is withheld is of no kind', 'evidence_malformed',
  hiddenLine((l) => l.replace('"of":"decision"', '"of":"other"')), { expect: { line: 2 } });
add('what is withheld is shown beside', 'evidence_malformed',
  hiddenLine((l) => l.replace('"of":', '"reason":"secret","of":')), { expect: { line: 2 } });
write('bundles/bundles.json', { format: 'writ-bundles/1', cases });
