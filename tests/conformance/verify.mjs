// verify.mjs - verifies receipts with Node's own crypto, sharing no code with Writ. It was written
// from docs/receipts.md, docs/evidence.md, RFC 6962, RFC 8785 and c2sp.org alone.
//
//     node verify.mjs receipt FILE KEYS      KEYS: trusted vkeys, one a line; # leaves a line out
//
// Prints ok, or the first reason against it. Digests are recomputed for the profile crewai-v1.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

class Refused extends Error {}
const refuse = (reason) => { throw new Refused(reason); };

const sha256 = (...pieces) => pieces.reduce((hash, piece) => hash.update(piece), createHash('sha256')).digest();
/** RFC 8785: names by UTF-16 code units, numbers and strings as ECMAScript writes them. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join()}}`;
}
const H = (value) => `sha256:${sha256(canonical(value)).toString('hex')}`;

/** Base64 in its one spelling. */
function bytes(text) {
  const found = Buffer.from(text, 'base64');
  if (found.toString('base64') !== text) refuse('evidence_malformed');
  return found;
}
const decimal = (text) => (/^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : refuse('evidence_malformed'));

// ---- c2sp.org/signed-note, c2sp.org/tlog-checkpoint

/** A vkey: {name, id, type, key}. */
export function vkey(text) {
  const [, name, id, material] = /^([^+\s]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? refuse('evidence_malformed');
  const all = bytes(material);
  if (all.length !== 33 || sha256(`${name}\n`, all).subarray(0, 4).toString('hex') !== id) refuse('evidence_malformed');
  return { name, id, type: all[0], key: all.subarray(1) };
}

function ed25519(key, message, signature) {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: key.toString('base64url') };
  return verify(null, message, createPublicKey({ key: jwk, format: 'jwk' }), signature);
}

/** The text of a note that one of the keys signed. */
export function opened(note, keys) {
  const at = note.lastIndexOf('\n\n');
  if (at < 1 || !note.endsWith('\n')) refuse('evidence_malformed');
  const text = note.slice(0, at + 1);
  const lines = note.slice(at + 2, -1).split('\n').map((line) => /^\u2014 (\S+) (\S+)$/.exec(line) ?? refuse('evidence_malformed'));
  for (const key of keys.filter((each) => each.type === 1)) {
    const signed = lines.filter(([, name, blob]) => name === key.name &&
      Buffer.from(blob, 'base64').subarray(0, 4).toString('hex') === key.id);
    for (const [, , blob] of signed) {
      if (!ed25519(key.key, Buffer.from(text), bytes(blob).subarray(4))) refuse('checkpoint_invalid');
    }
    if (signed.length > 0) return { text, key };
  }
  return refuse('checkpoint_unsigned');
}

export function checkpoint(note, keys) {
  const { text, key } = opened(note, keys);
  const [origin, size, root, ...rest] = text.slice(0, -1).split('\n');
  if (root === undefined || rest.some((line) => line === '')) refuse('evidence_malformed');
  if (origin !== key.name) refuse('checkpoint_invalid');
  return { origin, size: decimal(size), root: bytes(root) };
}

// ---- RFC 6962

export const leaf = (record) => sha256(Buffer.from([0]), canonical(record));
export const node = (left, right) => sha256(Buffer.from([1]), left, right);

/** RFC 9162 2.1.3.2. */
export function included(hash, index, size, path, root) {
  if (index >= size) return false;
  let [fn, sn, r] = [index, size - 1, hash];
  for (const p of path) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      r = node(p, r);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
    } else {
      r = node(r, p);
    }
    [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
  }
  return sn === 0 && r.equals(root);
}

/** c2sp.org/tlog-proof. */
function tlogProof(text) {
  const at = text.indexOf('\n\n');
  const [head, index, ...path] = text.slice(0, at).split('\n');
  if (at < 0 || head !== 'c2sp.org/tlog-proof@v1' || !index?.startsWith('index ')) refuse('evidence_malformed');
  return { index: decimal(index.slice(6)), path: path.map(bytes), note: text.slice(at + 2) };
}

// ---- the records (docs/evidence.md)

const member = (record, name) => record[name] ?? null;
const pick = (record, names) => Object.fromEntries(names.map((name) => [name, member(record, name)]));
const INTENT = ['agent_id', 'tool', 'params_hash', 'target_state_digest'];
const REF = ['agent_id', 'tool', 'normalized_scope', 'intent_digest'];
const CONTEXT = ['agent_id', 'tool', 'params_hash', 'intent_digest', 'seq', 'retrieved_policy_refs', 'policy_digest',
  'credential_scope', 'credential_tier', 'expires_at', 'revalidate_if'];

export function checkDecision(d) {
  if (typeof d.decision_id !== 'string' || !['allow', 'deny', 'require_approval', 'revise'].includes(d.decision)) {
    refuse('record_invalid');
  }
  const wants = { intent_digest: INTENT, intent_ref: REF, receipt_ref: [...REF, 'issued_at'], decision_context_hash: CONTEXT };
  for (const [name, names] of Object.entries(wants)) {
    if (typeof d[name] === 'string' && d[name] !== H(pick(d, names))) refuse('record_digest_mismatch');
  }
}

export function checkOutcome(o, d) {
  const same = ['decision_id', 'intent_ref', 'idempotency_key', 'boundary_id', 'seq'];
  if (!['executed', 'blocked', 'error', 'timeout'].includes(o.outcome)) refuse('record_invalid');
  if (same.some((name) => member(o, name) !== member(d, name))) refuse('outcome_mismatch');
  if (typeof o.receipt_ref === 'string' && o.receipt_ref !== H({ ...pick(d, REF), completed_at: o.completed_at })) {
    refuse('outcome_mismatch');
  }
}

// ---- receipts (docs/receipts.md)

const names = (value, ...want) => value !== null && typeof value === 'object' && !Array.isArray(value) &&
  Object.keys(value).sort().join() === want.join();

function verifyReceipt(text, keys) {
  let file;
  try { file = JSON.parse(text); } catch { refuse('evidence_malformed'); }
  if (!names(file, 'format', 'keys', 'records') || file.format !== 'writ-receipt/1' || !Array.isArray(file.keys) ||
      !Array.isArray(file.records) || file.records.length === 0) refuse('evidence_malformed');
  let log, last, outcome;
  for (const entry of file.records) {
    if (!names(entry, 'kind', 'proof', 'record') || typeof entry.proof !== 'string') refuse('evidence_malformed');
    const proof = tlogProof(entry.proof);
    if (log === undefined) log = { note: proof.note, ...checkpoint(proof.note, keys) };
    if (proof.note !== log.note) refuse('evidence_malformed');
    const { kind, record } = entry;
    if (kind === 'decision') checkDecision(record);
    if (!included(leaf(record), proof.index, log.size, proof.path, log.root)) refuse('record_not_in_log');
    if (kind === 'decision') {
      if (last && (record.supersedes !== last.record.decision_id || proof.index <= last.index)) refuse('record_foreign');
      [last, outcome] = [{ record, index: proof.index }, undefined];
      continue;
    }
    if (!['outcome', 'review'].includes(kind)) refuse('evidence_malformed');
    if (!last || record.decision_id !== last.record.decision_id || proof.index <= last.index || (kind === 'outcome' && outcome)) {
      refuse('record_foreign');
    }
    if (kind === 'outcome') checkOutcome(outcome = record, last.record);
  }
  for (const key of file.keys) if (typeof key !== 'string' || vkey(key).name !== log.origin) refuse('evidence_malformed');
  return { decision: last.record, outcome, log };
}

const VERIFIERS = { receipt: verifyReceipt };

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [what, file, trusted] = process.argv.slice(2);
  try {
    const keys = readFileSync(trusted, 'utf8').split('\n').filter((line) => line !== '' && line[0] !== '#').map(vkey);
    VERIFIERS[what](readFileSync(file, 'utf8'), keys);
    console.log('ok');
  } catch (error) {
    console.log(error instanceof Refused ? error.message : `evidence_malformed (${error.message})`);
    process.exitCode = 1;
  }
}
