// Mints vectors/receipts: a receipt that holds, and others that do not, with the first reason against each. Written
// from docs/receipts.md, docs/evidence.md, RFC 6962 and c2sp.org; shares no code with the C implementation.
//
//   tests/support/node tests/support/mint/mint-receipts.mjs [FOLDER]     (default: vectors)
import { H, hash, jcs, write } from './mint.mjs';
import { ELSEWHERE, W, after, body, cosigned, decision, leafHash, line, log, outcome, path, signed, stranger,
  vkey } from './mint-log.mjs';


const other = decision({ decision_id: 'd-0', idempotency_key: 'key-0' });
const FIRST = decision();
const NEXT = decision({ decision_id: 'd-2', idempotency_key: 'key-2', seq: 1, running_count: 2, supersedes: 'd-1' });
const record = (value) => ({ value,
  kind: value.event !== undefined ? 'review' : value.outcome === undefined ? 'decision' : 'outcome' });

// ---- receipts. A log has records; a receipt shows those at some indexes of it
function receipt(values, at, { note, keys = [vkey(log)], change = (entry) => entry } = {}) {
  const leaves = values.map(leafHash);
  const under = note ? note(leaves) : signed(body(leaves));
  const entries = at.map((index) => {
    const proof = { index, path: path(index, leaves), note: under };
    const { path: digests, ...rest } = change({ ...record(values[index]), ...proof });
    const text = `c2sp.org/tlog-proof@v1\nindex ${rest.index}\n${digests.map((d) => `${d.toString(
      'base64')}\n`).join('')}\n${rest.note}`;
    return `{"kind":${JSON.stringify(rest.kind)},"proof":${JSON.stringify(text)},"record":${jcs(rest.value)}}`;
  });
  return `{"format":"writ-receipt/1","keys":${JSON.stringify(keys)},"records":[${entries.join(',')}]}\n`;
}
const cases = [];
const add = (id, reason, text, keys = [vkey(log)]) =>
  cases.push({ id, receipt: text, keys, expect: { ok: reason === 'ok', reason } });

const LOG = [other, outcome(other), FIRST, outcome(FIRST), NEXT, outcome(NEXT)];
const GOOD = receipt(LOG, [2, 3]);
add('a call that was made', 'ok', GOOD);
add('a decision without an outcome', 'ok', receipt(LOG, [2]));
add('a decision that supersedes another', 'ok', receipt(LOG, [2, 3, 4, 5]));
add('the one record of a log', 'ok', receipt([FIRST], [0]));
add('in every log that grew from it', 'ok', receipt([...LOG, other, outcome(other)], [2, 3]));
add('a key before it is trusted too', 'ok', GOOD, [vkey(after), vkey(log)]);
add('names the keys of its log', 'ok', receipt(LOG, [2, 3], { keys: [vkey(after), vkey(log)] }));
add('other white space', 'ok', JSON.stringify(JSON.parse(GOOD), null, 2));

add('nothing', 'evidence_malformed', '');
add('a proof with extra data', 'ok', GOOD.replace('\\nindex 2', '\\nextra YW55dGhpbmc=\\nindex 2'));
add('extra data that is not base64', 'evidence_malformed', GOOD.replace('\\nindex 2', '\\nextra *\\nindex 2'));
add('extra data twice', 'evidence_malformed', GOOD.replace('\\nindex 2', '\\nextra YQ==\\nextra YQ==\\nindex 2'));
add('cut off', 'evidence_malformed', GOOD.slice(0, -10));
add('another format', 'evidence_malformed', GOOD.replace('writ-receipt/1', 'writ-receipt/2'));
add('a member that nobody knows', 'evidence_malformed', GOOD.replace('{"format"', '{"more":1,"format"'));
add('no records', 'evidence_malformed', '{"format":"writ-receipt/1","keys":[],"records":[]}\n');
add('a record of no kind', 'evidence_malformed', GOOD.replace('"kind":"decision"', '"kind":"seal"'));
add('a proof that is none', 'evidence_malformed', GOOD.replace('c2sp.org/tlog-proof@v1', 'c2sp.org/tlog-proof@v2'));
add('proofs under two checkpoints', 'evidence_malformed', receipt(LOG, [2, 3],
  { change: (entry) => (entry.index === 3 ? { ...entry, note: signed(body(LOG.map(leafHash)), after) } : entry) }),
    [vkey(log), vkey(after)]);
add('names a key of another log', 'evidence_malformed', receipt(LOG, [2, 3], { keys: [vkey(log, ELSEWHERE)] }));

add('signed by a key that is not trusted', 'checkpoint_unsigned',
  receipt(LOG, [2, 3], { note: (leaves) => signed(body(leaves), stranger), keys: [vkey(stranger)] }));
add('the key that signed was taken from the trusted ones', 'checkpoint_unsigned', GOOD, [vkey(after)]);
add('no key is trusted', 'checkpoint_unsigned', GOOD, []);
add('the key of the log under another name', 'checkpoint_unsigned', GOOD, [vkey(log, ELSEWHERE)]);

const rewritten = (change) => (leaves) => `${change(body(leaves))}\n${line(log.sign(body(leaves)))}`;
add('a stranger\'s signature under the key\'s id', 'checkpoint_invalid',
  receipt(LOG, [2, 3], { note: (leaves) => `${body(leaves)}\n${line(stranger.sign(body(leaves)))}` }));
add('another root', 'checkpoint_invalid',
  receipt(LOG, [2, 3], { note: rewritten((text) => text.replace(/.{44}\n$/, `${hash('x').toString('base64')}\n`)) }));
add('another size', 'checkpoint_invalid',
  receipt(LOG, [2, 3], { note: rewritten((text) => text.replace('\n6\n', '\n7\n')) }));
add('a checkpoint of another log', 'checkpoint_invalid',
  receipt(LOG, [2, 3], { note: (leaves) => signed(body(leaves, ELSEWHERE)) }));

const witnessed = (id, reason, text) =>
  cases.push({ id, receipt: text, keys: [vkey(log)], witnesses: [W], expect: { ok: reason === 'ok', reason } });
witnessed('signed by the witness', 'ok',
  receipt(LOG, [2, 3], { note: (leaves) => signed(body(leaves)) + cosigned(body(leaves)) }));
witnessed('not signed by the witness', 'checkpoint_unwitnessed', GOOD);
witnessed('a stranger\'s signature under the witness\'s id', 'checkpoint_invalid',
  receipt(LOG, [2, 3], { note: (leaves) => signed(body(leaves)) + cosigned(body(leaves), stranger) }));

// what was forged before it was signed: the operator did it
const invalid = { ...FIRST, decision: 'maybe' };
add('a decision with an unknown word', 'record_invalid', receipt([other, invalid], [1]));
add('an outcome with an unknown word', 'record_invalid', receipt([FIRST, outcome(FIRST, { outcome: 'done' })], [0, 1]));
for (const name of ['intent_digest', 'intent_ref', 'receipt_ref', 'decision_context_hash'])
  add(`${name} does not recompute`, 'record_digest_mismatch', receipt([{ ...FIRST, [name]: H('forged') }], [0]));
for (const [name, value] of [['agent_id', 'agent:other'], ['tool', 'refund'], ['params_hash', H({ amount: 99 })]])
  add(`another ${name}`, 'record_digest_mismatch',
    receipt(LOG, [2, 3],
      { change: (entry) => (entry.index === 2 ? { ...entry, value: { ...entry.value, [name]: value } } : entry) }));

// what was forged afterwards
const at = (index, change) =>
  receipt(LOG, [2, 3], { change: (entry) => (entry.index === index ? change(entry) : entry) });
const flipped = (bytes) => Buffer.from(bytes.map((b, i) => (i === 0 ? b ^ 1 : b)));
add('another reason', 'record_not_in_log',
  at(2, (entry) => ({ ...entry, value: { ...entry.value, reason: 'because' } })));
add('the decision was deny', 'record_not_in_log',
  at(2, (entry) => ({ ...entry, value: { ...entry.value, decision: 'deny' } })));
add('another outcome', 'record_not_in_log',
  at(3, (entry) => ({ ...entry, value: { ...entry.value, outcome: 'blocked' } })));
add('another result', 'record_not_in_log',
  at(3, (entry) => ({ ...entry, value: { ...entry.value, tool_output_hash: H('nothing') } })));
add('a member more', 'record_not_in_log', at(3, (entry) => ({ ...entry, value: { ...entry.value, more: 1 } })));
add('at another index', 'record_not_in_log', at(3, (entry) => ({ ...entry, index: 4 })));
add('beyond the log', 'record_not_in_log', at(3, (entry) => ({ ...entry, index: 6 })));
add('a digest of the path changed', 'record_not_in_log',
  at(2, (entry) => ({ ...entry, path: [flipped(entry.path[0]), ...entry.path.slice(1)] })));
add('a digest of the path too few', 'record_not_in_log', at(2, (entry) => ({ ...entry, path: entry.path.slice(1) })));
add('a digest of the path too many', 'record_not_in_log',
  at(2, (entry) => ({ ...entry, path: [...entry.path, hash('x')] })));

add('the outcome of another call', 'record_foreign', receipt([FIRST, outcome(other)], [0, 1]));
add('an outcome alone', 'record_foreign', receipt(LOG, [3]));
add('the outcome first', 'record_foreign', receipt(LOG, [3, 2]));
add('two outcomes', 'record_foreign',
  receipt([FIRST, outcome(FIRST), outcome(FIRST, { tool_output_hash: H('again') })], [0, 1, 2]));
add('a decision that supersedes none of it', 'record_foreign', receipt(LOG, [0, 1, 4]));

for (const [name, value] of [['idempotency_key', 'key-9'], ['boundary_id', 'run-9'], ['seq', 9],
  ['intent_ref', H('forged')], ['receipt_ref', H('forged')]])
  add(`an outcome with another ${name}`, 'outcome_mismatch',
    receipt([FIRST, outcome(FIRST, { [name]: value })], [0, 1]));
// ---- a review of candidates: its records, the decision that was allowed, and what became of it
{
  const plan = (params_hash, over) => decision({ decision_id: 'w-1', params_hash, decision: 'require_approval',
    continuation_id: 'w-1', expires_at: '2026-06-25T05:10:00Z', ...over });
  const plans = ['a', 'b'].map((text) => plan(H({ plan: text })));
  const candidates = plans.map(({ intent_digest, target_state_digest }, i) =>
    ({ intent_digest, option: `${i + 1}`, target_state_digest: target_state_digest ?? '' }));
  const event = (n, name, state, over) => ({ at: '2026-06-25T05:00:07Z', boundary_id: plans[0].boundary_id,
    decision_id: 'w-1', event: name, n, review_digest: H('terms'), state, ...over });
  const opened = event(0, 'open', 'open', { terms: { ...candidates[0], candidates } });
  const elects = event(1, 'accept', 'approved', { elected: '2' }), redeemed = event(2, 'redeem', 'redeemed');
  const ran = (n) => plan(plans[n].params_hash, { decision: 'allow', decision_id: 'w-2', supersedes: 'w-1', seq: 1,
    running_count: 2, idempotency_key: 'key-w' });
  for (const [name, reason, n, shown] of [['of candidates the elected one ran', 'ok', 1, [0, 1, 2, 4, 3, 5]],
    ['of candidates another one ran', 'approval_mismatch', 0, [0, 1, 2, 4, 3, 5]],
    ['another candidate ran, and the records of its review are not shown', 'ok', 0, [0, 3, 5]],
    ['the elected one ran before its election', 'approval_mismatch', 1, [0, 1, 3, 5]]])
    add(name, reason, receipt([plans[0], opened, elects, ran(n), redeemed, outcome(ran(n))], shown));
}
write('receipts/receipts.json', { format: 'writ-receipts/1', cases });
