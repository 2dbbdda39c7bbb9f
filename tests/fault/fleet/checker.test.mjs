// The checker of fleet runs finds each violation: the evidence of a real run without faults passes, and a forgery of it
// for every violation that the checker knows is found.
import { before, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check } from './checker.mjs';
import { Random, drawWindow } from './draw.mjs';
import { CLOCK, runFleet } from './fleet.mjs';

let honest;
before(async () => {
  const { evidence } = await runFleet({ store: 'sqlite', seed: 'checker', windows: 4, faults: false });
  honest = JSON.stringify(evidence);
});

const is = (kind, where = () => true) => (r) => r.kind === kind && where(r.record);
const decided = (verdict, tool) => is('decision', (d) => d.decision === verdict && (!tool || d.tool === tool));
/** The outcome of a decision. */
const outcomeOf = (e, { record }) => e.records.find(is('outcome', (o) => o.decision_id === record.decision_id));
/** Takes records away, and closes the gap that would be found by itself. */
function drop(e, ...gone) {
  e.records = e.records.filter((r) => !gone.includes(r));
  e.records.forEach((r, leaf) => { r.leaf = leaf; });
  e.verify.records = e.records.length;
}
/** A copy of a record at the end of the log. */
function append(e, from, change) {
  const copy = structuredClone(from);
  copy.leaf = e.records.length;
  Object.assign(copy.record, change);
  e.records.push(copy);
  e.verify.records++;
  return copy;
}
const ran = (e, tool) => e.effects.find((one) => !tool || one.tool === tool);
const allowOf = (e, effect) => e.records.find(is('decision', (d) => d.decision_id === effect.decision_id));
const callOf = (e, final) => e.calls.find((c) => c.final === final);

const FORGERIES = [
  ['leaf_missing', 'a record that is not exported', (e) => e.records.splice(3, 1)],
  ['leaf_missing', 'the last record', (e) => e.records.pop()],
  ['ledger_unsound', 'a ledger that does not verify', (e) => { e.verify.sound = false; }],
  ['ledger_unsound', 'a verification that failed', (e) => { e.verify = { sound: false }; }],
  ['bundle_unsound', 'a bundle that does not hold', (e) => { e.bundle.code = 1; }],
  ['seq_gap', 'a number that is skipped', (e) => { e.records.findLast(is('decision')).record.seq++; }],
  ['seq_gap', 'a number that two decisions have', (e) =>
    append(e, e.records.find(is('decision')), { decision_id: 'x' })],
  ['seq_gap', 'a decision that was removed', (e) => drop(e, e.records.find(is('decision')))],
  ['outcome_missing', 'an allow without outcome', (e) => drop(e, outcomeOf(e, e.records.find(decided('allow'))))],
  ['outcome_missing', 'a refusal without outcome', (e) => drop(e, outcomeOf(e, e.records.find(decided('deny'))))],
  ['outcome_twice', 'two outcomes', (e) => append(e, e.records.find(is('outcome')), {})],
  ['outcome_early', 'an outcome before its decision', (e) => {
    const d = e.records.find(decided('allow')), o = outcomeOf(e, d);
    [d.leaf, o.leaf] = [o.leaf, d.leaf];
  }],
  ['outcome_early', 'an outcome of an unknown decision', (e) =>
    append(e, e.records.find(is('outcome')), { decision_id: 'x' })],
  ['effect_without_allow', 'an effect whose decision was lost', (e) => drop(e, allowOf(e, ran(e)))],
  ['effect_without_allow', 'an effect under a refusal', (e) => { allowOf(e, ran(e)).record.decision = 'deny'; }],
  ['effect_without_allow', 'an effect with other arguments', (e) => { ran(e, 'spend').args.amount++; }],
  ['effect_without_allow', 'an effect of another tool', (e) => { ran(e, 'send').tool = 'note'; }],
  ['effect_without_allow', 'an effect of another agent', (e) => { ran(e).agent = 'c99'; }],
  ['effect_without_allow', 'an effect under another key', (e) => { ran(e).key = 'x'; }],
  ['effect_not_asked', 'an effect of no call', (e) => { ran(e).args.id = 'x'; }],
  ['effect_denied_by_outcome', 'an effect that the outcome denies', (e) =>
    Object.assign(outcomeOf(e, allowOf(e, ran(e))).record, { outcome: 'error', error_type: 'not_sent' })],
  ['effect_twice', 'a call with two effects', (e) => e.effects.push({ ...ran(e), n: 999, decision_id: 'x' })],
  ['effect_twice', 'an allow with two effects', (e) =>
    e.effects.push({ ...ran(e), n: 999, args: { ...ran(e).args, id: 'x' } })],
  ['outcome_without_effect', 'an effect that was lost', (e) => e.effects.pop()],
  ['claimed_twice', 'a key that two decisions claimed', (e) =>
    append(e, e.records.find(decided('allow', 'send')), { decision_id: 'x' })],
  ['budget_overspent', 'effects above the budget', (e) => { ran(e, 'spend').args.amount += 1000; }],
  ['budget_overspent', 'decisions above the budget', (e) => {
    e.budget = e.effects.filter((one) => one.tool === 'spend').reduce((sum, one) => sum + one.args.amount, 0) - 1;
  }],
  ['budget_lost', 'a refusal that the budget had room for', (e) => { e.budget += 1000; }],
  ['approval_missing', 'a call that no review accepted', (e) => {
    const d = e.records.find(decided('allow', 'grant'));
    drop(e, e.records.find(is('review', (r) => r.event === 'accept' && r.decision_id === d.record.continuation_id)));
  }],
  ['approval_missing', 'a call that no voter approved', (e) => {
    e.votes.forEach((v) => { v.vote = 'reject'; });
  }],
  ['approval_missing', 'a call under the review of another', (e) => {
    e.records.find(decided('allow', 'grant')).record.continuation_id = 'x';
  }],
  ['approval_twice', 'an approval of two calls', (e) => {
    const [one, other] = e.records.filter(decided('allow', 'grant'));
    other.record.continuation_id = one.record.continuation_id;
  }],
  ['approval_twice', 'an approval that was redeemed twice', (e) =>
    append(e, e.records.find(is('review', (r) => r.event === 'redeem')), {})],
  ['review_gap', 'an event of a review that was lost', (e) => drop(e, e.records.find(is('review', (r) => r.n === 1)))],
  ['call_unfinished', 'a call without a final answer', (e) => { e.calls[0].final = undefined; }],
  ['answer_without_effect', 'a result without an effect', (e) => {
    const { id } = callOf(e, 'ran');
    e.effects = e.effects.filter((one) => one.args.id !== id);
  }],
  ['answer_without_effect', 'the result of another call', (e) => {
    callOf(e, 'ran').answers.push({ kind: 'result', said: 'effect 999' });
  }],
  ['refused_and_ran', 'a call that ran and was refused for good', (e) => { callOf(e, 'ran').final = 'refused'; }],
  ['answers_differ', 'a refusal for good, and then a result', (e) => {
    callOf(e, 'refused').answers.push({ kind: 'result', said: 'effect 0' });
  }],
  ['decision_lost', 'a decision that an answer names', (e) => {
    const { answers } = e.calls.find((c) => c.answers.some((a) => a.reason === 'budget_exceeded'));
    const { decision_id } = answers.find((a) => a.reason === 'budget_exceeded');
    drop(e, e.records.find(is('decision', (d) => d.decision_id === decision_id)));
  }],
  ['decision_lost', 'a first decision that an answer names', (e) => {
    e.calls[0].answers.push({ kind: 'refused', reason: 'duplicate_outcome', first_decision_id: 'x' });
  }],
];

test('the evidence of an undisturbed run passes', () => {
  assert.deepEqual(check(JSON.parse(honest)), []);
});

for (const [what, name, forge] of FORGERIES) {
  test(`${what}: ${name}`, () => {
    const evidence = JSON.parse(honest);
    forge(evidence);
    const found = check(evidence).map((v) => v.what);
    assert.ok(found.includes(what), `found ${found}`);
  });
}

test('each violation that the checker knows has a forgery', () => {
  const source = readFileSync(new URL('checker.mjs', import.meta.url), 'utf8');
  const known = new Set([...source.matchAll(/report\('(\w+)'/g)].map(([, what]) => what));
  assert.deepEqual([...known].sort(), [...new Set(FORGERIES.map(([what]) => what))].sort());
});

test('a seed draws the same windows again, and another seed draws others', () => {
  const of = (seed) => JSON.stringify(Array.from({ length: 20 }, (_, window) =>
    drawWindow(seed, window, { gateways: 3, kinds: ['kill', 'pause', 'hang'] })));
  assert.equal(of('a'), of('a'));
  assert.notEqual(of('a'), of('b'));
  const random = new Random('a'), seen = Array.from({ length: 3000 }, () => random.int(1, 6));
  assert.deepEqual([Math.min(...seen), Math.max(...seen), new Set(seen).size], [1, 6, 6]);
});

const noClock = CLOCK === undefined && 'without WRIT_BUILD_DIR, or with sanitizers, no library is preloaded';
test('the preloaded clock is ahead by what its file says', { skip: noClock }, (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'writ-clock-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const jump = Buffer.alloc(8);
  jump.writeBigInt64LE(100_000n);
  writeFileSync(join(dir, 'clock'), jump);
  const { stdout, stderr } = spawnSync('date', ['+%s'],
    { encoding: 'utf8', env: { ...process.env, LD_PRELOAD: CLOCK, FLEET_CLOCK: join(dir, 'clock') } });
  assert.ok(Number(stdout) - Date.now() / 1000 > 99_000, stdout + stderr);
});
