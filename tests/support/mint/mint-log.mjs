// mint-log.mjs - what vectors of receipts, bundles and ledgers have in common: records of calls, the tree over them,
// and checkpoints that a log and a witness sign. Written from docs/evidence.md, RFC 6962 and c2sp.org; shares no code
// with the C implementation.
import { H, ed25519, hash, jcs } from './mint.mjs';

// ---- the log: RFC 6962 2.1, c2sp.org/signed-note, tlog-checkpoint, tlog-proof
export const leafHash = (record) => hash(Buffer.from([0]), jcs(record));
const split = (n) => 2 ** Math.floor(Math.log2(n - 1));
export const root = (leaves) => (leaves.length === 0 ? hash() : leaves.length === 1 ? leaves[0]
  : hash(Buffer.from([1]), root(leaves.slice(0, split(leaves.length))), root(leaves.slice(split(leaves.length)))));
export function path(m, leaves) {
  if (leaves.length === 1) return [];
  const k = split(leaves.length), left = leaves.slice(0, k), right = leaves.slice(k);
  return m < k ? [...path(m, left), root(right)] : [...path(m - k, right), root(left)];
}

export const ORIGIN = 'writ-ledger/0197a5c4-8d00-7000-8000-000000000002', ELSEWHERE = ORIGIN.replace(/2$/, '3');
export const log = ed25519('writ vectors: receipts'), after = ed25519('writ vectors: receipts, the key after'),
  stranger = ed25519('writ vectors: a stranger');
const material = (k) => Buffer.concat([Buffer.from([1]), Buffer.from(k.jwk.x, 'base64url')]);
const keyId = (name, k) => hash(`${name}\n`, material(k)).subarray(0, 4);
export const vkey = (k, name = ORIGIN) => `${name}+${keyId(name, k).toString('hex')}+${material(k).toString('base64')}`;
export const line = (bytes, id = keyId(ORIGIN, log), name = ORIGIN) =>
  `\u2014 ${name} ${Buffer.concat([id, bytes]).toString('base64')}\n`;
export const body = (leaves, origin = ORIGIN) => `${origin}\n${leaves.length}\n${root(leaves).toString('base64')}\n`;
export const signed = (text, k = log, name = ORIGIN) => `${text}\n${line(k.sign(text), keyId(name, k), name)}`;

// ---- the records (docs/evidence.md)
const pick = (record, names) => Object.fromEntries(names.map((name) => [name, record[name] ?? null]));
const REF = ['agent_id', 'tool', 'normalized_scope', 'intent_digest'];
const CONTEXT = ['agent_id', 'tool', 'params_hash', 'intent_digest', 'seq', 'retrieved_policy_refs', 'policy_digest',
  'credential_scope', 'credential_tier', 'expires_at', 'revalidate_if'];
export function decision(over) {
  const d = {
    decision_id: 'd-1', decision: 'allow', reason: 'as the policy says', agent_id: 'agent:payer', tool: 'pay',
    normalized_scope: 'pay/EUR',
    params_hash: H({ amount: 12.5 }), target_state_digest: null, normalization_id: 'jcs-sha256',
    idempotency_key: 'key-1', policy_refs: ['tools/up~1pay'],
    policy_digest: H('policy'), issued_at: '2026-06-25T05:00:00Z', boundary_id: 'run-1', seq: 0, running_count: 1,
    ...over,
  };
  d.intent_digest = H(pick(d, ['agent_id', 'tool', 'params_hash', 'target_state_digest']));
  d.intent_ref = H(pick(d, REF));
  d.receipt_ref = H(pick(d, [...REF, 'issued_at']));
  d.decision_context_hash = H(pick(d, CONTEXT));
  return d;
}
export function outcome(d, over) {
  const completed_at = over?.completed_at ?? '2026-06-25T05:00:02Z';
  return {
    decision_id: d.decision_id, intent_ref: d.intent_ref, idempotency_key: d.idempotency_key,
    boundary_id: d.boundary_id, seq: d.seq, outcome: 'executed',
    tool_output_hash: H('paid'), completed_at, receipt_ref: H({ ...pick(d, REF), completed_at }), ...over,
  };
}

// ---- witnesses: c2sp.org/tlog-cosignature
export const WITNESS = 'witness.example', witness = ed25519('writ vectors: witness'), TIME = 1782363600;
const cosigning = (k) => Buffer.concat([Buffer.from([4]), Buffer.from(k.jwk.x, 'base64url')]);
const cosignerId = (k, name) => hash(`${name}\n`, cosigning(k)).subarray(0, 4);
export const witnessKey = (k, name = WITNESS) =>
  `${name}+${cosignerId(k, name).toString('hex')}+${cosigning(k).toString('base64')}`;
export const W = witnessKey(witness);
/** The signature of `k` under the name and the key id of a witness. */
export function cosigned(text, k = witness, name = WITNESS, as = witness) {
  const stamp = Buffer.alloc(8);
  stamp.writeBigUInt64BE(BigInt(TIME));
  return line(Buffer.concat([stamp, k.sign(`cosignature/v1\ntime ${TIME}\n${text}`)]), cosignerId(as, name), name);
}
