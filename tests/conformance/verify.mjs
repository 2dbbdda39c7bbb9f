// verify.mjs - verifies receipts and bundles with Node's own crypto, sharing no code with Writ. It was written from
// docs/receipts.md, docs/evidence.md, vectors/digests, RFC 6962, RFC 8785 and c2sp.org alone.
//
//     node verify.mjs receipt|bundle FILE KEYS [--witness KEYS] [--quorum N]
//     node verify.mjs vectors FILE                  a set of vectors/receipts or vectors/bundles
//
// It needs Node.js 22 or later. KEYS: trusted vkeys, one a line; # leaves a line out, and so does a type that is not
// known. A FILE of - is standard input. Ends with 0 when the file holds, 1 when not, 2 when that could not be told.
// Prints ok, or the first reason against the file; of a bundle also the number of the line, or what its records are. A
// bundle is read once, line by line: memory grows with its runs and with the calls that are under way, not with its
// records.

// The page of the gateway serves this file as verify.js; it brings what a browser lacks of Node.
const hasNode = typeof process !== 'undefined';
const { Buffer, createHash, createPublicKey, verify } = hasNode
  ? { ...await import('node:buffer'), ...await import('node:crypto') } : await import('./node.js');
const { closeSync, openSync, readFileSync, readSync } = hasNode ? await import('node:fs') : {};
const { pathToFileURL } = hasNode ? await import('node:url') : {};
const { parseArgs } = hasNode ? await import('node:util') : {};

export class Refused extends Error {}
const refuse = (reason) => { throw new Refused(reason); };
const malformed = () => refuse('evidence_malformed');

// ---- JSON (RFC 8259) as evidence has it: names once, and only numbers that a double holds

const RECORD_BYTES = 1 << 20, RECORD_DEPTH = 64, RECORD_NAME = 1024, RECORD_VALUES = 65536, NUMBER_BYTES = 64;
const LINE_BYTES = RECORD_BYTES + 65536, LINE_DEPTH = 80;
const TOKEN = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[[{}\]]|-?\d[\d.eE+-]*/g;

/** The digits and the exponent of a number as it is written. */
function exactly(literal) {
  const [, whole, part = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE](.+))?$/.exec(literal);
  const digits = (whole + part).replace(/^0+/, ''), short = digits.replace(/0+$/, '');
  return short === '' ? '0' : `${short}e${Number(exponent) - part.length + digits.length - short.length}`;
}
/** A number that is not written as an integer is boxed, so that it counts as none; NaN is one that would be rounded to
 * another integer, or to zero. */
function number(value, source) {
  if (!Number.isFinite(value)) return malformed();
  if ((value === 0 || Math.abs(value) >= 2 ** 53) && exactly(source) !== exactly(String(value))) return NaN;
  return /^-?\d+$/.test(source) ? value : Object(value);
}

export function parse(text, most = LINE_DEPTH) {
  let value;
  try { value = JSON.parse(text); } catch { malformed(); }
  const open = [];
  let plain = true;
  for (const [token, string, colon] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') {
      if (open.push(new Set()) > most) malformed();
    } else if (token === '}' || token === ']') {
      open.pop();
    } else if (string === undefined) {
      if (token.length > NUMBER_BYTES) malformed();
      plain &&= /^-?\d{1,15}$/.test(token);
    } else if (colon !== undefined || string.includes('\\')) {
      const name = JSON.parse(string), names = open.at(-1);
      if (!name.isWellFormed() || (colon !== undefined && names.size === names.add(name).size)) malformed();
    }
  }
  return plain ? value : JSON.parse(text,
    (name, each, { source }) => (typeof each === 'number' ? number(each, source) : each));
}

/** RFC 8785: names by UTF-16 code units, numbers and strings as ECMAScript writes them. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (value === null || typeof value !== 'object' || value instanceof Number) {
    return Number.isNaN(Number(value)) && typeof value !== 'string' ? refuse('record_invalid') : JSON.stringify(value);
  }
  return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join()}}`;
}
const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value) &&
  !(value instanceof Number);
/** Whether a value is within the depth and size of a record of a bundle; names count as values. */
function fits(value, levels = RECORD_DEPTH, counted = { values: 0 }) {
  if (++counted.values > RECORD_VALUES) return false;
  if (value === null || typeof value !== 'object' || value instanceof Number) return true;
  if (levels === 0) return false;
  if (Array.isArray(value)) return value.every((each) => fits(each, levels - 1, counted));
  counted.values += Object.keys(value).length;
  return Object.entries(value).every(([name, each]) => Buffer.byteLength(name) <= RECORD_NAME &&
    fits(each, levels - 1, counted));
}

const sha256 = (...pieces) => pieces.reduce((hash, piece) => hash.update(piece), createHash('sha256')).digest();
const H = (value) => `sha256:${sha256(canonical(value)).toString('hex')}`;

/** Base64 in its one spelling. */
function bytes(text, length) {
  const found = Buffer.from(text, 'base64');
  return found.toString('base64') === text && (length === undefined || found.length === length) ? found : malformed();
}
const decimal = (text) => (/^(0|[1-9]\d{0,15})$/.test(text) && Number.isSafeInteger(Number(text))
  ? Number(text) : malformed());

// ---- c2sp.org/signed-note, c2sp.org/tlog-checkpoint, c2sp.org/tlog-cosignature

const NOTE_BYTES = 65536, LOG = 1, WITNESS = 4;
const NAME = /^[^\u0000-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000+]{1,256}$/u;

/** A vkey: {name, id, type, key}. */
export function vkey(text) {
  const [, name, id, material] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? malformed();
  const all = bytes(material, 33);
  if (!NAME.test(name) || ![LOG, WITNESS].includes(all[0]) ||
    sha256(`${name}\n`, all).subarray(0, 4).toString('hex') !== id) malformed();
  return { name, id, type: all[0], key: all.subarray(1) };
}

/** The name of a vkey of an unknown type, such as ML-DSA-44, which cannot verify anything. */
function unknown(text) {
  const [, name, , material] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? [];
  const all = Buffer.from(material ?? '', 'base64');
  return all.length > 0 && all.toString('base64') === material && NAME.test(name) && ![LOG, WITNESS].includes(all[0])
    ? name : undefined;
}

function ed25519(key, message, signature) {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: key.toString('base64url') };
  return verify(null, message, createPublicKey({ key: jwk, format: 'jwk' }), signature);
}

/** The parts of a note: its text, and its signatures by key. */
function note(all) {
  const at = all.lastIndexOf('\n\n') + 2;
  if (Buffer.byteLength(all) > NOTE_BYTES || /[\u0000-\u0009\u000b-\u001f]/.test(all) || !all.endsWith('\n') ||
    at < 3 || at === all.length) malformed();
  const lines = all.slice(at, -1).split('\n').map((line) => /^\u2014 ([^ ]+) (.+)$/.exec(line) ?? malformed());
  if (lines.length > 64 || lines.some(([, name]) => !NAME.test(name))) malformed();
  return { text: all.slice(0, at - 1), lines };
}

/** Whether this key signed; a wrong signature of it is an error. */
function signed({ text, lines }, key) {
  let found = false;
  for (const [, name, blob] of lines) {
    const all = Buffer.from(blob, 'base64');
    if (name !== key.name || all.toString('base64') !== blob || all.subarray(0, 4).toString('hex') !== key.id) continue;
    const stamp = key.type === WITNESS && all.length === 76 ? all.readBigUInt64BE(4) : 0n;
    const message = key.type === WITNESS ? `cosignature/v1\ntime ${stamp}\n${text}` : text;
    const signature = all.subarray(key.type === WITNESS ? 12 : 4);
    if (signature.length !== 64 || stamp >= 2n ** 63n || !ed25519(key.key, Buffer.from(message), signature))
      refuse('checkpoint_invalid');
    found = true;
  }
  return found;
}

/** The text of a note that one of the keys signed. */
export function opened(all, keys) {
  const read = note(all);
  return { ...read, key: keys.find((key) => signed(read, key)) ?? refuse('checkpoint_unsigned') };
}

/** The checkpoint of a log, if trusted keys signed it. trust: {keys, witnesses, quorum}. */
export function checkpoint(all, { keys, witnesses = [], quorum = 0 }) {
  const { text, lines, key } = opened(all, keys);
  const [origin, size, root, ...rest] = text.slice(0, -1).split('\n');
  if (origin === '' || root === undefined || rest.some((line) => line === '')) malformed();
  const found = { note: all, origin, size: decimal(size), root: bytes(root, 32) };
  if (origin !== key.name) refuse('checkpoint_invalid');
  const names = witnesses.filter((each) => signed({ text, lines }, each)).map(({ name }) => name);
  return new Set(names).size < quorum ? refuse('checkpoint_unwitnessed') : found;
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

/** The right edge of a tree: the roots of the complete subtrees that it is made of. */
class Edge {
  size = 0;
  roots = [];
  /** Goes on with 2^level leaves. */
  add(level, digest) {
    const leaves = 2 ** level;
    if (this.size % leaves !== 0 || this.size + leaves > Number.MAX_SAFE_INTEGER) refuse('record_not_in_log');
    for (let rest = this.size / leaves; rest % 2 === 1; rest = Math.floor(rest / 2))
      digest = node(this.roots.pop(), digest);
    this.roots.push(digest);
    this.size += leaves;
  }
  root() { return this.size === 0 ? sha256() : this.roots.reduceRight((right, left) => node(left, right)); }
}

/** c2sp.org/tlog-proof. Nothing vouches for its extra data, so it is passed over. */
function tlogProof(text) {
  const at = text.indexOf('\n\n');
  const [head, ...lines] = text.slice(0, at).split('\n');
  if (lines[0]?.startsWith('extra ') && Buffer.from(lines[0].slice(6), 'base64').toString('base64') ===
    lines[0].slice(6)) lines.shift();
  const [index, ...path] = lines;
  if (Buffer.byteLength(text) > NOTE_BYTES || at < 0 || head !== 'c2sp.org/tlog-proof@v1' ||
    !index?.startsWith('index ') || path.length > 54) malformed();
  return { index: decimal(index.slice(6)), path: path.map((digest) => bytes(digest, 32)), note: text.slice(at + 2) };
}

// ---- the records: their members (docs/evidence.md), their digests (vectors/digests), their joins

/** RFC 3339 in microseconds since 1970; undefined for any other text. */
function time(text, form = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?Z$/) {
  const [found, year, month, day, hour, minute, second, part = '', sign, hours = 0, minutes = 0] = form.exec(text) ??
    [];
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (!found || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== Number(day)) return undefined;
  if (hour > 23 || minute > 59 || second > 59 || hours > 23 || minutes > 59) return undefined;
  const ahead = (sign === '-' ? -60 : 60) * (60 * hours + Number(minutes));
  return BigInt(date.getTime() / 1000 + 3600 * hour + 60 * minute + Number(second) - ahead) * 1000000n +
    BigInt(part.padEnd(6, '0').slice(0, 6));
}
const anyTime = (text) =>
  time(text, /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/);

const DIGEST = /^sha256:[0-9a-f]{64}$/;
const isCount = (value) => Number.isSafeInteger(value) && value >= 0;
const FORMS = {
  text: (value) => typeof value === 'string',
  digest: (value) => typeof value === 'string' && DIGEST.test(value),
  label: (value) => typeof value === 'string' && /^sha256:./s.test(value),
  time: (value) => typeof value === 'string' && time(value) !== undefined,
  list: (value) => Array.isArray(value) && value.length <= 1024 && value.every((each) => typeof each === 'string'),
  count: isCount,
  number: (value) => Number.isSafeInteger(value),
  flag: (value) => typeof value === 'boolean',
  object: isObject,
  object: isObject,
};
// Each member with its form; ? behind it: null is as none, ! null does where it is needed; then the choices that need
// it.
const table = (choice, groups, ...rows) => ({ choice, groups, rows: rows.join().split(',').map((row) => {
  const [, name, form, nulls, need] = /^ *(\w+) (\w+)([?!]?) ?(\w*)$/.exec(row);
  return { name, form, nulls, need };
}) });
const TABLES = {
  decision: table('decision', {
    permit: ['allow', 'require_approval'], review: ['require_approval'], refuse: ['deny', 'revise'], revise: ['revise'],
    tool: ['allow', 'require_approval', 'deny', 'revise'],
  }, 'agent_id text permit,agent_role text,boundary_id text,continuation_id text? review,credential_scope text,' +
    'credential_tier text',
  'decision_context_hash digest,decision_id text tool,evidence_refs list,expires_at time? review,extensions object,' +
    'idempotency_key text permit',
  'intent_digest digest permit,intent_ref digest permit,issued_at time? permit,normalization_id text permit,' +
    'normalized_scope text permit',
  'params_hash digest permit,policy_digest label,policy_refs list permit,reason text refuse,receipt_ref digest,' +
    'request_id text',
  'retrieved_policy_refs list,revalidate_if list revise,running_count count,seq count,supersedes text?,target text',
  'target_state_digest digest! permit,tool text tool'),
  outcome: table('outcome', { any: ['executed', 'blocked', 'error', 'timeout'], error: ['error'] },
    'boundary_id text,completed_at time any,decision_id text any,error_message text?,error_type text? error,' +
      'extensions object,idempotency_key text?',
    'intent_ref digest?,receipt_ref digest?,seq count,tool_output_hash digest?'),
  seal: table(null, { any: [null] },
    'boundary_id text any,extensions object,final_seq number,seal_hash digest,sealed flag any,sealed_at time,total ' +
      'count any'),
  review: table('event', {
    any: ['open', 'join', 'vote', 'accept', 'reject', 'revise', 'redeem', 'expire', 'withdraw', 'cancel', 'outdate',
      'drift', 'fail', 'revoke'], open: ['open'], vote: ['vote'], voter: ['vote', 'revoke'],
  }, 'at time any,boundary_id text,by text voter,confidence text,decision_id text any,elected text,extensions object,' +
    'feedback text,log list,n count any,ranking list',
  'reason text,review_digest digest any,signature text,state text any,terms object open,vote text vote'),
};
const STATES = ['absent', 'open', 'approved', 'redeemed', 'rejected', 'revised', 'expired', 'lapsed', 'withdrawn',
  'cancelled', 'outdated', 'drifted', 'failed'];
const isConfidence = (text) => text.length <= 16 && /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) &&
  Number(text) >= 0 && Number(text) <= 1;
const isFeedback = (text) => Buffer.byteLength(text) <= 4096 && !/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(text);
const isCandidate = (text) => /^[1-8]$/.test(text);
const isRanking = (list) => list.length > 0 && list.length <= 10 && new Set(list).size === list.length &&
  list.every((vote) => ['approve', 'reject', 'modify'].includes(vote) || isCandidate(vote));
const isAbsent = (value) => value === undefined || value === null;
const RULES = {
  decision: (d) => (isAbsent(d.seq) || isAbsent(d.running_count) || d.running_count === d.seq + 1) &&
    (isAbsent(d.issued_at) || isAbsent(d.expires_at) || time(d.expires_at) >= time(d.issued_at)),
  outcome: () => true,
  seal: (s) => s.sealed && (s.final_seq === undefined || s.final_seq === s.total - 1),
  review: (r) => STATES.includes(r.state) &&
    (r.vote === undefined || ['approve', 'reject', 'modify', 'abstain'].includes(r.vote) || isCandidate(r.vote)) &&
    (r.elected === undefined || isCandidate(r.elected)) &&
    (r.ranking === undefined || isRanking(r.ranking)) &&
    (r.feedback === undefined || isFeedback(r.feedback)) && (r.confidence === undefined || isConfidence(r.confidence)),
};

function isMember({ form, nulls }, value, isNeeded) {
  if (value === undefined) return !isNeeded;
  if (value === null) return nulls === '!' || (nulls === '?' && !isNeeded);
  return FORMS[form](value) && !(isNeeded && (form === 'text' || form === 'list') && value.length === 0);
}
export function isValid(kind, record) {
  const { choice, groups, rows } = TABLES[kind];
  if (!isObject(record)) return false;
  const made = choice === null ? null : record[choice];
  if (!Object.values(groups).flat().includes(made)) return false;
  const known = rows.filter(({ name }) => name in record).length + (choice === null ? 0 : 1);
  return Object.keys(record).length - known <= 256 &&
    rows.every((row) => isMember(row, record[row.name], row.need !== '' && groups[row.need].includes(made))) &&
      RULES[kind](record);
}

const REF = ['agent_id', 'tool', 'normalized_scope', 'intent_digest'];
const CONTEXT = ['agent_id', 'tool', 'params_hash', 'intent_digest', 'seq', 'retrieved_policy_refs', 'policy_digest',
  'credential_scope', 'credential_tier', 'expires_at', 'revalidate_if'];
const INTENT = ['agent_id', 'tool', 'params_hash', 'target_state_digest'];
const OF_VAARA = ['intent_ref', 'target_state_digest', 'continuation_id', 'seq', 'timestamp_ms', 'idempotency_key'];
const PROFILES = {
  'crewai-v1': { intent_digest: INTENT, intent_ref: REF, receipt_ref: [...REF, 'issued_at'],
    decision_context_hash: CONTEXT, outcome: [...REF, 'completed_at'] },
  'algovoi-v1': {
    intent_digest: INTENT, intent_ref: [...REF, 'idempotency_key'],
    receipt_ref: [...REF, 'idempotency_key', 'issued_at'],
    decision_context_hash: CONTEXT, outcome: [...REF, 'idempotency_key', 'completed_at'],
  },
  'vaara-v0': {
    intent_digest: ['action_type', 'normalized_scope', 'params_hash'],
    intent_ref: ['schema', 'agent_id', 'action_type', 'normalized_scope', 'intent_digest'],
    receipt_ref: OF_VAARA, outcome: OF_VAARA,
    decision_context_hash: ['policy_refs', 'target_state_digest', 'continuation_id', 'normalization_id'],
  },
};
/** Members that enter as null when absent; without any other member there is no digest. */
const OPTIONAL = ['target_state_digest', 'continuation_id', 'expires_at', 'policy_digest', 'credential_scope',
  'credential_tier', 'policy_refs',
  'retrieved_policy_refs', 'revalidate_if'];
/** Our own part of a decision: lists and unknown members have the limits of a record. */
const OURS = { argument: 'text', budgets: 'list', candidates: 'object', charges: 'list',
  claim_seconds: 'number', constraint: 'text',
  contents_kept: 'text', contents_too_large: 'flag', count_fault: 'text', crew_log: 'text',
  definition: 'text', duplicates: 'text',
  first_decision_id: 'text', flow: 'object',
  input_digest: 'text', key_stated: 'flag', output_after: 'text', output_before: 'text',
  output_rules: 'list', profile: 'text',
  reason: 'text', round: 'number', shadow: 'flag', showing: 'text', state_free: 'text', tenant: 'text',
  trace_id: 'text', upstream: 'text', via: 'text', wire_tool: 'text' };
const isWithin = (part) => [part.budgets, part.charges, part.output_rules].every((list) => !Array.isArray(list) ||
  list.length <= 1024) &&
  Object.entries(part).filter(([name, value]) => !Object.hasOwn(OURS, name) ||
    (value !== null && !FORMS[OURS[name]](value))).length <= 256;
const ours = (record) => (isObject(record.extensions?.writ) ? record.extensions.writ : {});

function derived(names, from) {
  const values = { ...from, action_type: from.tool, schema: 'crewai.governance.decision/v1' };
  if (!isAbsent(from.issued_at)) values.timestamp_ms = Number(time(from.issued_at) / 1000n);
  const of = names.map((name) => [name, values[name] ?? (OPTIONAL.includes(name) ? null : undefined)]);
  return of.some(([, value]) => value === undefined) ? undefined : H(Object.fromEntries(of));
}
/** A decision with the digests that its members give. */
function withDigests(d) {
  const named = ours(d).profile;
  const profile = PROFILES[Object.hasOwn(PROFILES, named) ? named : 'crewai-v1'];
  const found = { ...d };
  for (const name of ['intent_digest', 'intent_ref', 'receipt_ref', 'decision_context_hash'])
    found[name] = derived(profile[name], found);
  return { found, profile };
}

/** A record of a known kind that is valid on its own. */
export function checkRecord(kind, record) {
  if (canonical(record).length > RECORD_BYTES || !isValid(kind, record)) refuse('record_invalid');
  if (kind !== 'decision') return;
  if (!isWithin(ours(record))) refuse('record_invalid');
  const { found } = withDigests(record);
  for (const name of ['intent_digest', 'intent_ref', 'receipt_ref', 'decision_context_hash']) {
    if (record[name] !== undefined && record[name] !== found[name]) refuse('record_digest_mismatch');
  }
}

/** Whether an outcome is that of a decision. */
export function checkOutcome(o, d) {
  const { found, profile } = withDigests(d);
  const differs = (name) => !isAbsent(o[name]) && !isAbsent(d[name]) && o[name] !== d[name];
  const receipt = derived(profile.outcome, { ...d, completed_at: o.completed_at });
  if (o.decision_id !== d.decision_id || ['idempotency_key', 'boundary_id', 'seq'].some(differs) ||
      [o, d].some(({ intent_ref }) => (intent_ref ?? undefined) !== found.intent_ref) ||
        (o.receipt_ref ?? undefined) !== receipt) refuse('outcome_mismatch');
}

/** What the records of a review say about the call that it approves: of candidates the elected one. */
class Approved {
  hear({ event, state, terms, elected }) {
    this.isNow = state === 'approved' || state === 'redeemed';
    if (event === 'open') this.terms = terms;
    if (event === 'accept') this.elected = elected;
  }
  /** A decision that follows the one that waits allows no other call under its review. */
  check(before, next) {
    const { terms } = this;
    if (!terms || this.isHidden || before.decision !== 'require_approval' || next.decision !== 'allow' ||
      isAbsent(before.continuation_id) || before.continuation_id !== next.continuation_id) return;
    const call = Array.isArray(terms.candidates)
      ? terms.candidates.find((one) => isCandidate(this.elected) && one?.option === this.elected)
      : this.elected === undefined && terms;
    if (!this.isNow || !call || call.intent_digest !== next.intent_digest ||
      (call.target_state_digest ?? '') !== (next.target_state_digest ?? '')) refuse('approval_mismatch');
  }
}

// ---- receipts (docs/receipts.md)

const has = (value, ...want) => isObject(value) && Object.keys(value).sort().join() === want.join();

function checkKeys(keys, { origin }) {
  for (const key of keys) if (typeof key !== 'string' || vkey(key).name !== origin) malformed();
}

export function verifyReceipt(text, trust) {
  const file = parse(text);
  if (!has(file, 'format', 'keys', 'records') || file.format !== 'writ-receipt/1' || !Array.isArray(file.keys) ||
    file.keys.length > 64 ||
      !Array.isArray(file.records) || file.records.length === 0 || file.records.length > 4096) malformed();
  let log, last, outcome, approved;
  for (const entry of file.records) {
    if (!has(entry, 'kind', 'proof', 'record') || !['decision', 'outcome', 'review'].includes(entry.kind) ||
      typeof entry.proof !== 'string') malformed();
    const proof = tlogProof(entry.proof), { kind, record } = entry;
    log ??= checkpoint(proof.note, trust);
    if (proof.note !== log.note) malformed();
    checkRecord(kind, record);
    if (!included(leaf(record), proof.index, log.size, proof.path, log.root)) refuse('record_not_in_log');
    if (kind === 'decision') {
      if (last && (record.supersedes !== last.record.decision_id || proof.index <= last.index))
        refuse('record_foreign');
      if (last) approved.check(last.record, record);
      [last, outcome, approved] = [{ record, index: proof.index }, undefined, new Approved()];
      continue;
    }
    if (!last || record.decision_id !== last.record.decision_id || proof.index <= last.index ||
      (kind === 'outcome' && outcome)) refuse('record_foreign');
    if (kind === 'outcome') checkOutcome(outcome = record, last.record);
    else approved.hear(record);
  }
  checkKeys(file.keys, log);
}

// ---- bundles (docs/receipts.md): every line is rebuilt from its text and from the records before it

const SELECT = ['tenant', 'boundary', 'agent', 'since', 'until', 'at'];
const NAMED = 16, FAULTY = 1000, LIVE = 1e6;
const DECIDED_AT = { decision: 'issued_at', outcome: 'completed_at', seal: 'sealed_at', review: 'at' };
/** What is kept of a decision while its call is under way. */
const KEPT = [...REF, 'decision', 'decision_id', 'intent_ref', 'params_hash', 'target_state_digest', 'idempotency_key',
  'boundary_id', 'seq', 'continuation_id',
  'issued_at', 'expires_at', 'policy_refs', 'normalization_id'];

/** Numbers that are named, as far as there is room. */
class Named {
  seqs = [];
  total = 0n;
  add(first, last) {
    if (this.seqs.length < NAMED) this.seqs.push([first, last]);
    this.total += BigInt(last - first + 1);
  }
  text(name) { return this.total > 0n ? `,"${name}":{"total":${this.total},"seqs":${JSON.stringify(this.seqs)}}` : ''; }
}

class Run {
  held = 0;
  next = 0;
  isSealed = false;
  sealDiffers = false;
  missing = new Named();
  double = new Named();
  miscounted = new Named();
  ids = createHash('sha256');
  constructor(tenant, name) { Object.assign(this, { tenant, name }); }
  get hash() { return `sha256:${this.ids.copy().digest('hex')}`; }
  get isFaulty() {
    return this.sealDiffers || [this.missing, this.double, this.miscounted].some(({ total }) => total > 0n);
  }

  place(seq, isCounted, id) {
    this.held++;
    if (!isCounted) this.miscounted.add(seq, seq);
    if (seq < this.next) return this.double.add(seq, seq);
    if (seq > this.next) this.missing.add(this.next, seq - 1);
    this.next = seq + 1;
    this.ids.update(id);
  }
  seal({ total, seal_hash }) {
    if (total > this.next) this.missing.add(this.next, total - 1);
    const isWhole = this.missing.total === 0n && this.double.total === 0n;
    this.sealDiffers = this.isSealed || total < this.next || (isWhole && seal_hash !== this.hash);
    this.isSealed = true;
  }
  get line() {
    const differs = this.sealDiffers ? ',"seal_differs":true' : '';
    return `{"boundary":${JSON.stringify(this.name)},"tenant":${JSON.stringify(this.tenant)},"held":` +
      `${this.held},"sealed":${this.isSealed}${differs}` +
      `${this.missing.text('missing')}${this.double.text('double')}${this.miscounted.text('miscounted')}}`;
  }
}

/** The phase of a decision (docs/evidence.md). */
function phaseAt({ decision: made, issued_at, expires_at, continuation_id }, outcome, successor, at) {
  if (made !== 'allow' && made !== 'require_approval') return 'refused';
  if (isAbsent(issued_at) || time(issued_at) > at) return 'unborn';
  if (outcome && time(outcome.completed_at) <= at) return 'consumed';
  if (successor && (isAbsent(successor.issued_at) || time(successor.issued_at) <= at)) {
    const isRedeemed = made !== 'allow' && successor.decision === 'allow' && !isAbsent(continuation_id) &&
      continuation_id === successor.continuation_id;
    return isRedeemed ? 'resumed' : 'revalidated';
  }
  if (!isAbsent(expires_at) && time(expires_at) < at) return 'expired';
  return made === 'allow' ? 'fresh' : 'pending';
}

/** The keys that calls have claimed: each until its decision expires, unless the call did not run. */
class Keys {
  claims = new Map();
  now; // the latest decision that claimed one
  crowd = 1024;

  claim(record, leaf) {
    const { claim_seconds: seconds, tenant, upstream } = ours(record),
    { agent_id, tool, idempotency_key, issued_at } = record;
    const at = isAbsent(issued_at) ? undefined : time(issued_at);
    if (!isCount(seconds) || at === undefined) return undefined;
    const key = JSON.stringify([tenant, agent_id, upstream, tool,
      idempotency_key].map((value) => (typeof value === 'string' ? value : '')));
    if (this.now === undefined || at > this.now) this.now = at;
    const before = this.claims.get(key);
    this.#forget();
    this.claims.set(key, { leaf, until: at + BigInt(Math.min(seconds, 253402300800)) * 1000000n });
    return { claim: { key, leaf }, first: before && before.until > this.now ? before.leaf : undefined };
  }
  #forget() { // expired keys take no memory
    if (this.claims.size < this.crowd) return;
    for (const [key, { until }] of this.claims) if (until <= this.now) this.claims.delete(key);
    this.crowd = Math.max(1024, 2 * this.claims.size);
  }
  release(claim) { if (claim && this.claims.get(claim.key)?.leaf === claim.leaf) this.claims.delete(claim.key); }
}

export class Bundle {
  edge = new Edge();
  bytes = createHash('sha256');
  runs = new Map(); // by name, the oldest first
  calls = new Map(); // by decision_id, the oldest first
  order = new Set(); // of the calls, the oldest first
  inOrder = []; // of the runs
  counts = { records: 0, decisions: 0, outcomes: 0, seals: 0, review_events: 0, withheld: 0, skipped: 0,
    skipped_inside: 0, unmatched_outcomes: 0, in_flight: 0,
    twice: 0, boundaries: 0, faulty: 0, unsealed: 0 };
  behind = 0; // leaves that were skipped since the last one that was not
  hasShown = false;
  keysOf = new Keys();

  constructor(select, keys, head) {
    const at = (name) => (select[name] === undefined ? undefined : anyTime(select[name]) ?? malformed());
    Object.assign(this, { select, keys, head, since: at('since'), until: at('until'), at: at('at') });
  }
  #written(lines) {
    for (const line of lines) this.bytes.update(`${line}\n`);
    return lines;
  }
  begin() {
    const select = Object.fromEntries(SELECT.filter((name) => this.select[name] !== undefined)
      .map((name) => [name, this.select[name]]));
    return this.#written(
      [JSON.stringify({ format: 'writ-bundle/1', checkpoint: this.head.note, keys: this.keys, select })]);
  }

  #run(tenant, name, seal) {
    const same = (this.runs.get(name) ?? []).filter((run) => tenant === undefined || run.tenant === tenant);
    const found = seal === undefined ? same.at(-1) : same.findLast(({ hash }) => hash === seal) ?? same[0];
    return found ?? this.#newRun(tenant ?? '', name);
  }
  #newRun(tenant, name) {
    const run = new Run(tenant, name);
    this.runs.set(name, [...this.runs.get(name) ?? [], run]);
    this.#live(++this.counts.boundaries + this.order.size);
    this.inOrder.push(run);
    return run;
  }
  #live(count) { if (count > LIVE) throw new Error(`more than ${LIVE} runs and calls at one time`); }
  #call(id) { return this.calls.get(id)?.at(-1); }
  #addCall(id, call) {
    this.#live(this.counts.boundaries + this.order.size + 1);
    call.approved = new Approved();
    this.calls.set(id, [...this.calls.get(id) ?? [], call]);
    this.order.add(call);
  }
  #dropCall(call) {
    const rest = this.calls.get(call.id).filter((each) => each !== call);
    if (rest.length > 0) this.calls.set(call.id, rest);
    else this.calls.delete(call.id);
    this.order.delete(call);
  }
  #phase(call, outcome, successor) {
    if (this.at === undefined || !call.decision) return [];
    const phase = phaseAt(call.decision, outcome ?? call.outcome, successor, this.at);
    return [JSON.stringify({ kind: 'phase', decision_id: call.id, phase, whole: call.run !== undefined &&
      !call.run.isFaulty })];
  }

  #isSelected(kind, record, tenant) {
    const { boundary, agent, tenant: of } = this.select;
    if (boundary !== undefined && boundary !== (record.boundary_id ?? '')) return false;
    if (this.since !== undefined || this.until !== undefined) {
      const at = isAbsent(record[DECIDED_AT[kind]]) ? undefined : time(record[DECIDED_AT[kind]]);
      if (at === undefined || (this.since !== undefined && at < this.since) ||
        (this.until !== undefined && at >= this.until)) return false;
    }
    return kind !== 'decision' ||
      ((agent === undefined || agent === (record.agent_id ?? '')) && (of === undefined || of === tenant));
  }
  #decision(record, tenant) {
    const { decision_id: id, boundary_id, seq, running_count, supersedes, extensions } = record, lines = [];
    let run;
    this.counts.decisions++;
    if (!isAbsent(boundary_id) && !isAbsent(seq))
      (run = this.#run(tenant, boundary_id)).place(seq, running_count === seq + 1, id);
    const before = isAbsent(supersedes) ? undefined : this.#call(supersedes);
    if (before) {
      if (before.decision) before.approved.check(before.decision, record);
      lines.push(...this.#phase(before, undefined, record));
      this.#dropCall(before);
    }
    const claimed = this.keysOf.claim(record, this.edge.size - 1);
    if (claimed?.first !== undefined) {
      lines.push(JSON.stringify({ kind: 'twice', decision_id: id, first: claimed.first }));
      this.counts.twice++;
    }
    const kept = Object.fromEntries(KEPT.filter((name) => name in record).map((name) => [name, record[name]]));
    this.#addCall(id,
      { id, run, claim: claimed?.claim ?? before?.claim,
        decision: { ...kept, extensions: { writ: { profile: ours({ extensions }).profile } } } });
    return lines;
  }
  #outcome(record) {
    const call = this.#call(record.decision_id);
    this.counts.outcomes++;
    if (!call || call.outcome) return this.counts.unmatched_outcomes++, [];
    if (call.decision) checkOutcome(record, call.decision);
    if (call.decision?.decision === 'require_approval') { // an outcome does not end it
      call.outcome = { completed_at: record.completed_at };
      return [];
    }
    if (record.outcome === 'blocked' || (record.outcome === 'error' && record.error_type === 'not_sent'))
      this.keysOf.release(call.claim);
    const lines = this.#phase(call, record);
    this.#dropCall(call);
    return lines;
  }
  #shown() {
    if (this.hasShown) this.counts.skipped_inside += this.behind;
    [this.hasShown, this.behind] = [true, 0];
  }

  /** The lines of the next leaf, a record. */
  record(kind, record) {
    const body = canonical(record), tenant = isObject(record) && typeof ours(record).tenant === 'string'
      ? ours(record).tenant : '';
    const line = `{"leaf":${this.edge.size},"kind":"${kind}","record":${body}}`;
    if (!fits(record)) refuse('record_invalid');
    checkRecord(kind, record);
    this.edge.add(0, sha256(Buffer.from([0]), body));
    this.counts.records++;
    this.#shown();
    if (!this.#isSelected(kind, record, tenant)) refuse('record_foreign');
    if (kind === 'decision') return this.#written([line, ...this.#decision(record, tenant)]);
    if (kind === 'outcome') return this.#written([line, ...this.#outcome(record)]);
    this.counts[kind === 'seal' ? 'seals' : 'review_events']++;
    if (kind === 'seal') this.#run(undefined, record.boundary_id, record.seal_hash).seal(record);
    else this.#call(record.decision_id)?.approved.hear(record);
    return this.#written([line]);
  }
  /** The line of the next leaf, which is withheld: {of, digest, decision_id; of a decision tenant, boundary_id,
   * seq}. */
  withhold({ of, digest, decision_id, tenant, boundary_id, seq }) {
    const rest = of === 'decision' ? { decision_id, tenant, boundary_id, seq } : { decision_id };
    const line = JSON.stringify({ leaf: this.edge.size, kind: 'withheld', of, digest, ...rest });
    this.edge.add(0, Buffer.from(digest.slice(7), 'hex'));
    this.counts.withheld++;
    this.#shown();
    if (of === 'decision') {
      const run = this.#run(tenant, boundary_id);
      run.place(seq, true, decision_id);
      this.#addCall(decision_id, { id: decision_id, run });
    } else if (of === 'outcome' && this.#call(decision_id)) { // what became of it is not shown
      this.keysOf.release(this.#call(decision_id).claim);
      this.#dropCall(this.#call(decision_id));
    } else if (of === 'review' && this.#call(decision_id)) {
      this.#call(decision_id).approved.isHidden = true;
    }
    return this.#written([line]);
  }
  /** The line of the next 2^level leaves, which were not requested. */
  node(level, digest) {
    const line = JSON.stringify({ leaf: this.edge.size, kind: 'node', level, digest });
    this.edge.add(level, Buffer.from(digest.slice(7), 'hex'));
    this.counts.skipped += 2 ** level;
    this.behind += 2 ** level;
    return this.#written([line]);
  }
  /** The last lines. */
  *end() {
    if (this.edge.size !== this.head.size || !this.edge.root().equals(this.head.root)) refuse('record_not_in_log');
    for (const call of this.order) {
      if (!call.outcome && call.decision) this.counts.in_flight++;
      yield* this.#written(this.#phase(call));
    }
    const named = [];
    for (const run of this.inOrder) {
      this.counts.faulty += run.isFaulty ? 1 : 0;
      this.counts.unsealed += run.isSealed ? 0 : 1;
      if ((run.isFaulty || !run.isSealed) && named.length < FAULTY) named.push(run.line);
    }
    const { boundaries, faulty, unsealed, ...first } = this.counts;
    yield `${JSON.stringify({ kind: 'end', ...first }).slice(0, -1)},"boundaries_named":[` +
      `${named.join()}],"boundaries":${boundaries},"faulty":${faulty},` +
      `"unsealed":${unsealed},"sha256":"${this.bytes.digest('hex')}"}`;
  }
}

/** The required content of the first line. */
function firstLine(line, trust) {
  const { format, select, checkpoint: signedNote, keys } = isObject(line) ? line : {};
  if (format !== 'writ-bundle/1' || !isObject(select) ||
    SELECT.some((name) => select[name] !== undefined && typeof select[name] !== 'string')) malformed();
  const head = checkpoint(typeof signedNote === 'string' ? signedNote : '', trust);
  if (!Array.isArray(keys)) malformed();
  checkKeys(keys, head);
  return new Bundle(select, keys, head);
}
/** The lines that this one announces. */
function following(bundle, text) {
  const line = parse(text), { kind, record, digest, of, decision_id, seq } = isObject(line) ? line : {};
  if (Object.hasOwn(TABLES, kind)) {
    if (record === undefined) refuse('record_invalid');
    const body = canonical(record); // numbers may be written in another way
    return bundle.record(kind, text.endsWith(`,"record":${body}}`) ? record : parse(body));
  }
  const isDigest = FORMS.digest(digest);
  if (kind === 'node') return isDigest && isCount(line.level) && line.level < 53
    ? bundle.node(line.level, digest) : malformed();
  if (kind !== 'withheld') return bundle.end();
  const string = (value) => (typeof value === 'string' ? value : '');
  if (!Object.hasOwn(TABLES, of) || !isDigest || (of !== 'seal' && string(decision_id) === '') ||
    (of === 'decision' && !isCount(seq))) malformed();
  return bundle.withhold({ of, digest, seq, tenant: string(line.tenant), boundary_id: string(line.boundary_id),
    decision_id: typeof decision_id === 'string' ? decision_id : undefined });
}

/** Verifies the lines of a bundle, each without its end, one by one. */
export class BundleCheck {
  number = 0;
  due = [][Symbol.iterator]();
  constructor(trust) { this.trust = trust; }
  line(raw) {
    this.number++;
    if (raw.length > LINE_BYTES) malformed();
    const text = textOf(raw);
    let next = this.due.next();
    if (next.done) {
      if (this.hasEnded) malformed();
      if (this.bundle === undefined) {
        this.bundle = firstLine(parse(text), this.trust);
        this.due = this.bundle.begin()[Symbol.iterator]();
      } else {
        this.due = following(this.bundle, text)[Symbol.iterator]();
      }
      next = this.due.next();
    }
    if (text !== next.value) malformed();
    this.hasEnded = text.startsWith('{"kind":"end",');
  }
  end() { if (!this.hasEnded) malformed(); }
}

/** The lines of pieces of bytes; undefined after the last one. */
export function* linesOf(pieces) {
  let rest = Buffer.alloc(0);
  for (const piece of pieces) {
    let from = 0;
    rest = Buffer.concat([rest, piece]);
    for (let end; (end = rest.indexOf(10, from)) >= 0; from = end + 1) yield rest.subarray(from, end);
    rest = rest.subarray(from);
    if (rest.length > LINE_BYTES) yield rest; // longer than any line may be
  }
  if (rest.length > 0) yield undefined;
}

export function verifyBundle(pieces, trust) {
  const check = new BundleCheck(trust);
  try {
    for (const line of linesOf(pieces)) check.line(line ?? malformed());
    check.end();
  } catch (error) {
    error.line = check.number;
    throw error;
  }
  const { head, counts } = check.bundle;
  return { origin: head.origin, size: head.size, ...counts };
}

// ---- the command

function* piecesOf(path) {
  const fd = path === '-' ? 0 : openSync(path);
  for (let piece = Buffer.alloc(1 << 18), n; (n = readSync(fd, piece)) > 0;) yield Buffer.from(piece.subarray(0, n));
  if (fd !== 0) closeSync(fd);
}
function textOf(raw) {
  try { return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw); } catch { return malformed(); }
}

/** The verdict on a file: {ok, reason}, for a bundle with the number of the line, or with the totals of its records. */
export function verdict(what, pieces, trust) {
  try {
    const told = what === 'bundle' ? verifyBundle(pieces, trust) : verifyReceipt(textOf(Buffer.concat([...pieces])),
      trust);
    return { ok: true, reason: 'ok', ...told };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { ok: false, reason: error.message, ...(what === 'bundle' ? { line: error.line } : {}) };
  }
}

/** How many witnesses must have signed: the given number, or all, including those whose keys are of an unknown type. */
function trustOf(keys, witnesses, quorum, strangers = []) {
  const names = new Set(witnesses.map(({ name }) => name)), most = names.size;
  const least = Number(quorum ?? new Set([...names, ...strangers]).size);
  if (witnesses.some(({ type }) => type !== WITNESS) || (quorum !== undefined && !(least >= 1 && least <= most)))
    throw new Error('no such quorum');
  return { keys, witnesses, quorum: least };
}

/** Whether the cases of a set of vectors (vectors/receipts, vectors/bundles) come out as they must. */
function runVectors(path) {
  const { format, cases } = JSON.parse(readFileSync(path, 'utf8'));
  const what = { 'writ-receipts/1': 'receipt', 'writ-bundles/1': 'bundle' }[format];
  const differs = cases.filter((each) => {
    const raw = each.bundle_base64 === undefined ? Buffer.from(each[what]) : Buffer.from(each.bundle_base64, 'base64');
    const found = verdict(what, [raw], trustOf(each.keys.map(vkey), (each.witnesses ?? []).map(vkey), each.quorum));
    return canonical(found) !== canonical(each.expect) && console.log(`${each.id}: ${JSON.stringify(found)}`) ===
      undefined;
  });
  console.log(`${cases.length - differs.length} passed, ${differs.length} failed`);
  return differs.length === 0;
}

const keyLinesOf = (path) => readFileSync(path, 'utf8').split('\n').map((line) => line.trim())
  .filter((line) => line !== '' && line[0] !== '#');
const keysOf = (lines) => lines.filter((line) => unknown(line) === undefined).map(vkey);

function main() {
  const { positionals: [what, file, trusted], values } =
    parseArgs({ allowPositionals: true, options: { witness: { type: 'string' }, quorum: { type: 'string' } } });
  if (what === 'vectors') return runVectors(file);
  if (!['receipt', 'bundle'].includes(what) || trusted === undefined)
    throw new Error('usage: verify.mjs receipt|bundle FILE KEYS [--witness KEYS] [--quorum N]');
  const witnesses = values.witness ? keyLinesOf(values.witness) : [];
  const trust = trustOf(keysOf(keyLinesOf(trusted)), keysOf(witnesses), values.quorum,
    witnesses.map(unknown).filter((name) => name !== undefined));
  const { ok, reason, ...more } = verdict(what, piecesOf(file), trust);
  console.log(`${reason}${what === 'bundle' ? `\n${JSON.stringify(more)}` : ''}`);
  return ok;
}

/** Runs main: 0 valid, 1 invalid, 2 undecided. */
function run() {
  try {
    // the text of a number: without it numbers cannot be judged
    if (JSON.parse('1', (name, value, context) => context?.source) !== '1')
      throw new Error(`needs Node.js 22 or later; this is ${process.version}`);
    return main() ? 0 : 1;
  } catch (error) {
    console.error(`verify.mjs: ${error instanceof Refused ? 'a key is not a vkey' : error.message}`);
    return 2;
  }
}

if (hasNode && process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) process.exitCode = run();
