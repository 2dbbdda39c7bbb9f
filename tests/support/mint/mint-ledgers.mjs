// Mints vectors/ledgers: ledgers as rows, sound ones and others that were tampered with; whether a gateway starts with
// each, and which records are found by verifying all of it. Written from docs/ledger.md, docs/evidence.md,
// core/store/disk/disk.tbl.h, RFC 6962 and c2sp.org; shares no code with the C implementation.
//
//   tests/support/node tests/support/mint/mint-ledgers.mjs [FOLDER]     (default: vectors)
import { H, hash, jcs, write } from './mint.mjs';
import { ELSEWHERE, ORIGIN, after, body, cosigned, decision, leafHash, log, outcome, signed,
  stranger } from './mint-log.mjs';

const ID = ORIGIN.slice('writ-ledger/'.length), OTHER = ELSEWHERE.slice('writ-ledger/'.length);
const plain = (value) => JSON.parse(JSON.stringify(value));

// ---- keys, as a key directory lists them
const MADE = '2026-06-01T00:00:00.000000Z';
const key = (k, state = 'verifying', more = {}) =>
  ({ created_at: MADE, changed_at: MADE, jwk: k.jwk, purpose: 'ledger', state, ...more });
const ring = (...keys) => ({ version: 1, keys });
const revoked = (k, since) => key(k, 'revoked', { revoked_since: since });

// ---- records with the columns that stand beside them
const at = (second) => `2026-06-25T05:00:${String(second).padStart(2, '0')}Z`;
const us = (time) => Date.parse(time) * 1000;
const TENANT = 'acme', UPSTREAM = 'up';
const ROUTES = ['deny', 'allow', 'require_approval', 'revise'], ENDS = ['error', 'executed', 'blocked', 'timeout'];
function tag(...texts) { // 16 bytes of the digest of the texts, behind the lengths of all but the last
  const lengths = texts.slice(0, -1).map((text) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(BigInt(Buffer.byteLength(text)));
    return bytes;
  });
  return hash(...lengths, ...texts).subarray(0, 16);
}
const claimOf = (d) => Buffer.concat([tag(TENANT, d.agent_id, UPSTREAM, d.tool, d.idempotency_key),
  Buffer.from(d.extensions.writ.state_free.slice(7), 'hex').subarray(0, 16),
  tag(TENANT, d.intent_ref, d.idempotency_key)]).toString('base64');

function decide(run, boundary, seq, second, over = {}, ours = {}) {
  const id = `d-${run}-${seq}`, idempotency_key = `key-${id}`;
  const d = decision({ decision_id: id, idempotency_key, boundary_id: run, seq, running_count: seq + 1,
    issued_at: at(second), ...over });
  const { agent_id, tool, normalized_scope, params_hash } = d;
  const isGranted = d.decision === 'allow';
  d.extensions = { writ: { duplicates: 'forbid', key_stated: true, ...(isGranted && { claim_seconds: 86400 }),
    tenant: TENANT, upstream: UPSTREAM,
    state_free: H({ agent_id, normalized_scope, params_hash, tenant: TENANT, tool, upstream: UPSTREAM }), ...ours } };
  return { value: d, columns: { kind: 1, boundary, seq, time_us: us(at(second)), verdict: ROUTES.indexOf(d.decision),
    flags: isGranted ? 3 : 0, decision_id: id, agent_id, tool,
    ...(isGranted && { claim: claimOf(d) }) } };
}
/** Without a claim, in the record and beside it. */
function unclaimed({ value, columns: { claim, flags, ...columns } }) {
  const { claim_seconds, ...writ } = value.extensions.writ;
  return { value: { ...value, extensions: { writ } }, columns: { ...columns, flags: 1 } };
}
/** Without a word of what a second call gets. */
function unsaid({ value, columns }) {
  const { duplicates, ...writ } = value.extensions.writ;
  return { value: { ...value, extensions: { writ } }, columns };
}
function end({ value: d, columns: { boundary, seq } }, about, second, over = {}) {
  const o = outcome(d, { completed_at: at(second), ...over });
  return { value: o, columns: { kind: 2, boundary, seq, time_us: us(at(second)), verdict: ENDS.indexOf(o.outcome),
    flags: o.outcome === 'blocked' || o.error_type === 'not_sent' ? 4 : 0, about, decision_id: d.decision_id } };
}
const idsOf = (decisions) => `sha256:${hash(...decisions.map(({ value }) => value.decision_id)).toString('hex')}`;
function seal(run, boundary, decisions, second, over = {}) {
  const value = { boundary_id: run, sealed: true, total: decisions.length, final_seq: decisions.length - 1,
    seal_hash: idsOf(decisions), sealed_at: at(second), ...over };
  return { value, columns: { kind: 3, boundary, seq: value.total, time_us: us(at(second)), verdict: 0, flags: 0 } };
}

// ---- the tree: each leaf, and the nodes that it completes
function nodesOf(leaves, from, to) {
  const nodes = [],
  under = (level, index) =>
  (level === 0 ? leaves[index] : hash(Buffer.from([1]), under(level - 1, 2 * index), under(level - 1, 2 * index + 1)));
  for (let leaf = from; leaf < to; leaf++) {
    let level = 0, n = leaf + 1; // nodes of the level up to here
    for (; n % 2 === 0; n /= 2) nodes.push(under(level++, n - 1));
    nodes.push(under(level, n - 1));
  }
  return Buffer.concat(nodes).toString('base64');
}

/** The rows of a ledger: groups of records, each with the checkpoint over all so far. */
function tables(groups,
    { boundaries, sign = (text) => signed(text), ledger = ID, origin = `writ-ledger/${ledger}` } = {}) {
  const all = groups.flat(), leaves = all.map(({ value }) => leafHash(value)),
  result = { ledger, boundary: boundaries ?? BOUNDARIES(all), record: [], body: [], head: [] };
  let leaf = 0;
  for (const group of groups) {
    const first = leaf;
    for (const { columns } of group) result.record.push({ leaf: leaf++, ...columns });
    result.body.push({ leaf: first, bytes: group.map(({ value }) => jcs(value)).join('\n') });
    result.head.push({ leaf: first, size: leaf, nodes: nodesOf(leaves, first, leaf),
      note: sign(body(leaves.slice(0, leaf), origin), leaf) });
  }
  return plain(result);
}
function BOUNDARIES(all) {
  const found = new Map();
  all.forEach(({ value, columns: { boundary: id, kind } }, leaf) => {
    if (!found.has(id)) found.set(id, { id, tenant: TENANT, name: value.boundary_id, first_leaf: leaf });
    if (kind === 3) found.get(id).seal_leaf = leaf;
  });
  return [...found.values()];
}

// Run "one": a call that was made, one that was refused, sealed. Run "two": a call that was made, one under way.
const A = decide('one', 1, 0, 1), B = decide('one', 1, 1, 3, { decision: 'deny', reason: 'too much' });
const C = decide('two', 2, 0, 6), D = decide('two', 2, 1, 7);
const GROUPS = [[A], [end(A, 0, 2)], [B, end(B, 2, 4, { outcome: 'blocked', tool_output_hash: null })],
  [seal('one', 1, [A, B], 5)], [C, D], [end(C, 5, 8)]];
const upTo = (n) => GROUPS.slice(0, n);
const SOUND = tables(GROUPS), LAST = 7;
const KEYS = ring(key(log));
const kept = (groups, options) => tables(groups, options).head.at(-1).note;

const cases = [];
/** first: the lowest record that verifying names; 0 also stands for the ledger as a whole. */
function add(id, { opens, first }, ledger, { keyring = KEYS, pinned } = {}) {
  cases.push({ id, tables: ledger, keyring, ...(pinned && { pinned }),
    expect: { sound: first === undefined, first: first ?? null, opens } });
}
const sound = { opens: true };
/** A ledger with a change. */
const changed = (change, of = SOUND) => {
  const copy = structuredClone(of);
  change(copy);
  return copy;
};
const bodyAt = (rows, leaf) => rows.body.findLast((row) => row.leaf <= leaf);
const edit = (leaf, change) => (rows) => {
  const row = bodyAt(rows, leaf), lines = row.bytes.split('\n');
  lines[leaf - row.leaf] = change(lines[leaf - row.leaf]);
  row.bytes = lines.join('\n');
};
const inJson = (change) => (text) => {
  const value = JSON.parse(text);
  change(value);
  return jcs(value);
};
const recordAt = (rows, leaf) => rows.record.find((row) => row.leaf === leaf);
const drop = (rows, table, leaf) => { rows[table] = rows[table].filter((row) => row.leaf !== leaf); };

// ---- sound ones
add('sound', sound, SOUND);
add('without records', sound, tables([]));
add('one record', sound, tables([[A]]));
add('all bodies in one row', sound, changed((rows) => {
  rows.body = [{ leaf: 0, bytes: rows.body.map(({ bytes }) => bytes).join('\n') }];
}));
add('all in one group', sound, tables([GROUPS.flat()]));
add('the key was rotated', sound, tables(GROUPS, { sign: (text, n) => signed(text, n > 4 ? after : log) }),
  { keyring: ring(key(log), key(after)) });
add('the key was retired', sound, SOUND, { keyring: ring(key(log, 'retired')) });
add('contains what is pinned', sound, SOUND, { pinned: kept(upTo(4)) });
add('ends with what is pinned', sound, SOUND, { pinned: kept(GROUPS) });
add('contains what a witness signed', sound, SOUND,
  { pinned: kept(upTo(4)) + cosigned(kept(upTo(4)).split('\n\n')[0] + '\n') });

// ---- the same history, not all of it
add('put back whole from an older copy', sound, tables(upTo(5), { boundaries: BOUNDARIES(upTo(5).flat()) }));
add('the same, behind what is pinned', { opens: false }, tables(upTo(5)), { pinned: kept(GROUPS) });
add('the same, behind what a witness signed', { opens: false }, tables(upTo(5)),
  { pinned: kept(GROUPS) + cosigned(kept(GROUPS).split('\n\n')[0] + '\n') });
add('without records, though some are pinned', { opens: false }, tables([]), { pinned: kept(GROUPS) });
add('the tail was cut off', { opens: false, first: 0 }, changed((rows) => {
  for (const table of ['record', 'body']) drop(rows, table, LAST);
}));
add('the tail was cut off, its body left', { opens: false, first: 0 }, changed((rows) => drop(rows, 'record', LAST)));
add('the last body was removed', { opens: false, first: 0 }, changed((rows) => drop(rows, 'body', LAST)));
add('the last checkpoint was removed', { opens: false, first: 0 }, changed((rows) => drop(rows, 'head', LAST)));
add('the tail was cut off together with its checkpoint', sound, changed((rows) => {
  for (const table of ['record', 'body', 'head']) drop(rows, table, LAST);
}));
add('the same, behind what is pinned: the tail', { opens: false }, changed((rows) => {
  for (const table of ['record', 'body', 'head']) drop(rows, table, LAST);
}), { pinned: kept(GROUPS) });
add('a seal was dropped together with its checkpoint', { opens: false, first: 4 }, changed((rows) => {
  for (const table of ['record', 'body', 'head']) drop(rows, table, 4);
}, tables(upTo(4))));
add('a seal was dropped, and the run opened again', sound, changed((rows) => {
  for (const table of ['record', 'body', 'head']) drop(rows, table, 4);
  delete rows.boundary[0].seal_leaf;
}, tables(upTo(4))));
add('the same, behind what is pinned: the seal', { opens: false }, changed((rows) => {
  for (const table of ['record', 'body', 'head']) drop(rows, table, 4);
  delete rows.boundary[0].seal_leaf;
}, tables(upTo(4))), { pinned: kept(upTo(4)) });
add('the beginning was cut off', { opens: false, first: 0 }, changed((rows) => {
  for (const table of ['record', 'body', 'head']) drop(rows, table, 0);
}));

// ---- another history
const B2 = decide('one', 1, 1, 3, { decision: 'deny', reason: 'another' });
const FORK = [[A], [end(A, 0, 2)], [B2, end(B2, 2, 4, { outcome: 'blocked', tool_output_hash: null })],
  [seal('one', 1, [A, B2], 5)], [C, D], [end(C, 5, 8)]];
add('rewritten and signed again', sound, tables(FORK));
add('the same, against what is pinned', { opens: false }, tables(FORK), { pinned: kept(GROUPS) });
add('forked before what is pinned, and longer', { opens: false }, tables(FORK), { pinned: kept(upTo(3)) });
add('forked behind what is pinned', sound, tables(FORK), { pinned: kept(upTo(2)) });
add('rewritten by a stranger', { opens: false, first: 0 },
  tables(GROUPS, { sign: (text) => signed(text, stranger) }));
add('another ledger of the same gateway', { opens: false },
  tables(GROUPS, { ledger: OTHER, sign: (text) => signed(text, log, ELSEWHERE) }), { pinned: kept(GROUPS) });
add('another ledger under the id of this one', { opens: false, first: 0 },
  tables(GROUPS, { origin: ELSEWHERE, sign: (text) => signed(text, log, ELSEWHERE) }));
add('what is pinned is signed by a stranger', { opens: false }, SOUND,
  { pinned: kept(GROUPS, { sign: (text) => signed(text, stranger) }) });
add('what is pinned is no checkpoint', { opens: false }, SOUND, { pinned: 'none\n' });

// ---- who signed
const note = (leaf, to) => changed((rows) => {
  const row = rows.head.find((each) => each.leaf === leaf);
  row.note = to(row.note, rows);
});
add('no key is known', { opens: false, first: 0 }, SOUND, { keyring: ring() });
add('the key of somebody else', { opens: false, first: 0 }, SOUND, { keyring: ring(key(stranger)) });
add('the key was revoked from before all records', { opens: false, first: 0 }, SOUND,
  { keyring: ring(revoked(log, '2026-06-25T04:00:00.000000Z')) });
add('the key was revoked from within the records', { opens: false, first: 4 }, SOUND,
  { keyring: ring(revoked(log, '2026-06-25T05:00:05.000000Z')) });
add('the key was revoked from after all records', sound, SOUND,
  { keyring: ring(revoked(log, '2026-06-25T05:00:08.000001Z')) });
add('the key was revoked, and the next one signed the rest', sound,
  tables(GROUPS, { sign: (text, n) => signed(text, n > 4 ? after : log) }),
  { keyring: ring(revoked(log, '2026-06-25T05:00:05.000000Z'), key(after)) });
add('what is pinned is over more than there is, by a key that was revoked', { opens: false }, tables(upTo(5)),
  { keyring: ring(revoked(log, '2026-06-25T06:00:00.000000Z')), pinned: kept(GROUPS) });
const lastBit = (text) => text.replace(/(.)(=?=?\n)$/, (_, last, rest) => `${last === 'A' ? 'B' : 'A'}${rest}`);
const flip = (text) => text.replace(/(\u2014 \S+ .{40})(.)/, (_, front, c) => `${front}${c === 'A' ? 'B' : 'A'}`);
add('the last signature was changed', { opens: false, first: 7 }, note(7, flip));
add('a signature in between was changed', { opens: true, first: 3 }, note(2, flip));
add('a signature was cut short', { opens: false, first: 7 }, note(7, (text) => lastBit(text).replace(/.{8}\n$/, '\n')));
add('the last signature is that of the checkpoint before', { opens: false, first: 7 },
  note(7, (text, rows) => `${text.split('\n\n')[0]}\n\n${rows.head.at(-2).note.split('\n\n')[1]}`));
add('the last checkpoint is that before', { opens: false, first: 7 }, note(7, (_, rows) => rows.head.at(-2).note));
add('a checkpoint in between is that before', { opens: true, first: 4 }, note(4, (_, rows) => rows.head[2].note));
add('the last checkpoint has another root', { opens: false, first: 7 },
  note(7, (text) => text.replace(/\n.{44}\n/, `\n${hash('x').toString('base64')}\n`)));
add('the last checkpoint is none', { opens: false, first: 7 }, note(7, () => 'none'));
add('the last checkpoint has no signature', { opens: false, first: 7 }, note(7, (text) => text.split('\n\u2014')[0]));

// ---- the tree
const nodes = (leaf, change, of) => changed((rows) => {
  const row = rows.head.find((each) => each.leaf === leaf);
  row.nodes = change(Buffer.from(row.nodes, 'base64')).toString('base64');
}, of);
const flipped = (n) => (bytes) => { bytes[n] ^= 1; return bytes; };
add('the leaf of a record was changed in the tree', { opens: true, first: 5 }, nodes(5, flipped(0)));
add('a node over records was changed in the tree', { opens: true, first: 3 }, nodes(2, flipped(64)));
add('the node that has half of all records was changed', { opens: true, first: 3 }, nodes(2, flipped(96)));
add('the same, where it is at the right edge', { opens: false, first: 3 }, nodes(2, flipped(96), tables(upTo(5))));
add('the last leaf was changed in the tree', { opens: false, first: 7 }, nodes(7, flipped(0)));
add('the nodes of the last group were cut off', { opens: false, first: 7 }, nodes(7, () => Buffer.alloc(0)));
add('a node too many', { opens: true, first: 4 }, nodes(4, (bytes) => Buffer.concat([bytes, hash('x')])));
add('a group counts one record too few', { opens: true, first: 2 }, changed((rows) => { rows.head[2].size = 3; }));
add('the last group counts one record too many', { opens: false, first: 0 }, changed((rows) => {
  rows.head.at(-1).size = 9;
}));
add('a checkpoint in between was removed', { opens: true, first: 4 }, changed((rows) => drop(rows, 'head', 4)));

// ---- records
const edited = (leaf, change, first, id = undefined) =>
  add(id ?? `record ${leaf} was edited: ${change.id}`, { opens: false, first }, changed(edit(leaf, change)));
const named = (id, change) => Object.assign(inJson(change), { id });
edited(0, named('why', (v) => { v.reason = 'because'; }), 0);
edited(0, named('the tool', (v) => { v.tool = 'refund'; }), 0);
edited(0, named('the arguments', (v) => { v.params_hash = H('x'); }), 0);
edited(0, named('a digest', (v) => { v.receipt_ref = H('x'); }), 0);
edited(0, named('more members than our part of it has', (v) => {
  for (let i = 0; i < 257; i++) v.extensions.writ[`m${i}`] = 0;
}), 0);
edited(1, named('what became of it', (v) => { v.outcome = 'timeout'; }), 1);
edited(1, named('what came back', (v) => { v.tool_output_hash = H('x'); }), 1);
edited(1, named('of which decision', (v) => { v.decision_id = 'd-two-0'; }), 1);
edited(2, named('what was decided', (v) => { v.decision = 'allow'; }), 2);
edited(2, named('its seq', (v) => { v.seq = 2; v.running_count = 3; }), 2);
edited(4, named('the total', (v) => { v.total = 3; v.final_seq = 2; }), 4);
edited(4, named('its hash', (v) => { v.seal_hash = H('x'); }), 4);
edited(5, named('its time', (v) => { v.issued_at = '2026-06-25T05:00:06.5Z'; }), 5);
edited(7, named('the last one', (v) => { v.tool_output_hash = H('x'); }), 7);
edited(0, (text) => `${text} `, 0, 'a space behind record 0');
edited(0, (text) => text.replace('"allow"', '"\\u0061llow"'), 0, 'record 0 is written in another way');
edited(0, (text) => text.slice(0, -1), 0, 'record 0 is no JSON');
edited(0, () => '[]', 0, 'record 0 is no object');
edited(0, (text) => `${text}\n{}`, 1, 'a line more behind record 0');

const rows = (id, verdict, change) => add(id, verdict, changed(change));
rows('a record was removed', { opens: false, first: 1 }, (r) => {
  for (const table of ['record', 'body', 'head']) drop(r, table, 1);
});
rows('a record was removed, its body and checkpoint left', { opens: false, first: 1 }, (r) => drop(r, 'record', 1));
rows('a body was removed', { opens: false, first: 4 }, (r) => drop(r, 'body', 4));
const swap = (a, b) => (r) => {
  const [x, y] = [a, b].map((leaf) => bodyAt(r, leaf).bytes.split('\n')[leaf - bodyAt(r, leaf).leaf]);
  edit(a, () => y)(r);
  edit(b, () => x)(r);
};
rows('the bodies of two records were swapped', { opens: false, first: 5 }, swap(5, 6));
rows('two records were swapped', { opens: false, first: 1 }, (r) => {
  swap(1, 2)(r);
  const [x, y] = [recordAt(r, 1), recordAt(r, 2)];
  r.record.splice(1, 2, { ...y, leaf: 1, time_us: x.time_us }, { ...x, leaf: 2, time_us: y.time_us });
});
rows('a record is there twice', { opens: false, first: 0 }, (r) => {
  r.record.push({ ...recordAt(r, 7), leaf: 8, time_us: us(at(9)) });
  r.body.push({ leaf: 8, bytes: r.body.at(-1).bytes });
});

// ---- the columns beside the records
const column = (leaf, name, to, first, more = '') => rows(`column ${name} of record ${leaf} was changed${more}`,
    { opens: false, first }, (r) => {
  recordAt(r, leaf)[name] = to;
});
column(2, 'verdict', 1, 2);
column(2, 'flags', 1, 2);
column(0, 'flags', 0, 0);
column(1, 'flags', 4, 1);
column(0, 'decision_id', 'd-x', 0);
column(0, 'agent_id', 'agent:other', 0);
column(0, 'tool', 'refund', 0);
column(0, 'claim', Buffer.alloc(48).toString('base64'), 0);
column(0, 'claim', Buffer.alloc(4).toString('base64'), 0, ', to one too short');
column(0, 'kind', 2, 0);
column(0, 'kind', 9, 0, ', to none');
column(0, 'time_us', us(at(1)) + 1, 0);
column(1, 'time_us', us(at(1)), 1);
column(1, 'about', 2, 1);
column(1, 'verdict', 3, 1);
column(5, 'seq', 1, 5);
column(5, 'boundary', 1, 4);
column(4, 'seq', 3, 4);
column(0, 'claim', null, 0, ', to none');
column(5, 'claim', null, 5, ', to none');
column(5, 'flags', 1, 5, ', to a key that nobody stated');
column(6, 'flags', 17, 0, ', to go on with none');
column(6, 'claim', claimOf(A.value), 6, ', to that of another call');
column(7, 'flags', 8, 7);

// ---- one key, two calls
/** A third call of run "two", after C and D have ended. */
const THIRD = (second, over, ours) => decide('two', 2, 2, second, over, ours);
const twice = (id, verdict, third, { first = C, ended = {} } = {}) =>
  add(id, verdict, tables([...upTo(4), [first, D], [end(first, 5, 8, ended)], [third]]));
const SAME = { idempotency_key: C.value.idempotency_key };
twice('two calls have one key', { opens: true, first: 8 }, THIRD(9, SAME));
twice('two calls have one key, and the first may run again', { opens: false, first: 5 }, THIRD(9, SAME),
  { first: decide('two', 2, 0, 6, SAME, { duplicates: 'allow' }) });
twice('two calls have one key, and both may run again', sound, unclaimed(THIRD(9, SAME, { duplicates: 'allow' })),
  { first: unclaimed(decide('two', 2, 0, 6, {}, { duplicates: 'allow' })) });
twice('a key once more, when its claim is over', sound, THIRD(9, SAME),
  { first: decide('two', 2, 0, 6, {}, { claim_seconds: 3 }) });
twice('a key once more, before its claim is over', { opens: true, first: 8 }, THIRD(9, SAME),
  { first: decide('two', 2, 0, 6, {}, { claim_seconds: 4 }) });
twice('a key once more, since nothing ran', sound, THIRD(9, SAME),
  { ended: { outcome: 'error', error_type: 'not_sent', tool_output_hash: null } });
twice('a key once more, of another agent', sound, THIRD(9, { ...SAME, agent_id: 'agent:other' }));
twice('a call that does not say what a second one gets', { opens: true, first: 8 }, unsaid(THIRD(9)));
twice('a call that says what there is not', { opens: true, first: 8 }, THIRD(9, {}, { duplicates: 'perhaps' }));
twice('a call without a claim that was due', { opens: true, first: 8 }, unclaimed(THIRD(9)));
twice('a refused call with a claim', { opens: false, first: 8 },
  THIRD(9, { decision: 'deny', reason: 'no' }, { claim_seconds: 5 }));

const boundary = (id, n, change, first, opens = false) =>
  rows(`of a run: ${id}`, { opens, first }, (r) => change(r.boundary[n], r));
boundary('another tenant', 0, (b) => { b.tenant = 'evil'; }, 0);
boundary('another name', 1, (b) => { b.name = 'other'; }, 5);
boundary('another beginning', 1, (b) => { b.first_leaf = 6; }, 5, true);
boundary('its seal forgotten', 0, (b) => { delete b.seal_leaf; }, 4);
boundary('a seal that is none', 1, (b) => { b.seal_leaf = 7; }, 7);
boundary('its row removed', 1, (_, r) => { r.boundary.pop(); }, 5);

// ---- written by a holder of the key: the tree is right
const signedBy = (id, first, groups, opens = true) => add(id, { opens, first }, tables(groups));
const broken = (record, change) => ({ ...record, value: plain(change({ ...record.value })) });
signedBy('signed: a digest that does not recompute', 0, [[broken(A, (v) => ({ ...v, receipt_ref: H('x') }))]]);
signedBy('signed: a decision without a member that it needs', 0, [[broken(A, (v) => ({ ...v, policy_refs: [] }))]]);
signedBy('signed: an outcome that does not join', 1,
  [[A], [broken(end(A, 0, 2), (v) => ({ ...v, idempotency_key: 'x' }))]]);
signedBy('signed: an outcome of nothing', 1, [[A], [end(C, 5, 8)]], false);
signedBy('signed: two outcomes', 2, [[A], [end(A, 0, 2)], [end(A, 0, 3)]], false);
signedBy('signed: what was refused ran', 1,
  [[decide('one', 1, 0, 1, { decision: 'deny' })], [end(decide('one', 1, 0, 1, { decision: 'deny' }), 0, 2)]], false);
signedBy('signed: what was refused has no outcome', 0, [[decide('one', 1, 0, 1, { decision: 'deny' })]]);
const unasked = decide('one', 1, 0, 1);
signedBy('signed: an allow that was not granted', 0,
  [[{ ...unasked, columns: { ...unasked.columns, flags: 0, claim: undefined } }],
    [end(unasked, 0, 2, { outcome: 'blocked' })]], false);
signedBy('signed: a seq is missing', 1, [[A], [decide('one', 1, 2, 2)]], false);
signedBy('signed: a seq is double', 1,
  [[A], [{ ...decide('one', 1, 0, 2, { decision_id: 'd-y' }) }].map((d) =>
    ({ ...d, columns: { ...d.columns, decision_id: 'd-y' } }))], false);
signedBy('signed: two decisions with one id', 1,
  [[A], [broken({ ...decide('one', 1, 1, 2), columns: { ...decide('one', 1, 1, 2).columns, decision_id: 'd-one-0' } },
    (v) => ({ ...v, decision_id: 'd-one-0' }))]]);
signedBy('signed: a seal that counts too few', 4, [...upTo(3), [seal('one', 1, [A], 5)]]);
signedBy('signed: a seal of other decisions', 4, [...upTo(3), [seal('one', 1, [A, C], 5)]]);
signedBy('signed: a seal over a call that is under way', 1, [[A], [seal('one', 1, [A], 5)]], false);
signedBy('signed: a decision after the seal', 4, [...upTo(4), [decide('one', 1, 2, 6)]], false);
signedBy('signed: times that do not grow', 1, [[C], [end(C, 0, 6)]], false);

// ---- a review of two calls, of which one was elected, and of one call; signed by their operator
{
  const PLANS = ['a', 'b', 'c'].map((plan) => ({ params_hash: H({ plan }) }));
  const waits = { decision: 'require_approval', continuation_id: 'd-one-0', expires_at: at(50) };
  const W = decide('one', 1, 0, 1, { ...waits, ...PLANS[0] });
  const callOf = ({ value: { intent_digest, target_state_digest }, columns: _ }) =>
    ({ intent_digest, target_state_digest: target_state_digest ?? '' });
  const planned = PLANS.map((plan) => decide('one', 1, 0, 1, { ...waits, ...plan }));
  const candidates = planned.slice(0, 2).map((d, i) => ({ ...callOf(d), option: `${i + 1}`,
    state_free_digest: d.value.extensions.writ.state_free }));
  const TERMS = { agent_id: W.value.agent_id, engine: 'borda', id: 'd-one-0', ...callOf(W), lifetime_ms: 60000,
    name: 'plans', options: ['1', '2', 'reject'], quorum: '1', redeem_ms: 60000, rules_digest: H('rules'),
    subject: W.value.agent_id, tenant: TENANT, threshold: '1/2', candidates,
    voters: [{ id: 'ann', veto: false, weight: 1 }] };
  const ONE = { ...TERMS, engine: 'review', candidates: undefined, options: undefined };
  const event = (terms, n, name, state, second, over = {}) => ({
    value: plain({ at: at(second), boundary_id: 'one', decision_id: 'd-one-0', event: name, n,
      review_digest: H(plain(terms)), state, ...over }),
    columns: { kind: 4, boundary: 1, seq: 0, time_us: us(at(second)), verdict: 0, flags: 0, decision_id: 'd-one-0' } });
  const opened = (terms) => event(terms, 0, 'open', 'open', 2, { terms });
  const vote = event(TERMS, 1, 'vote', 'open', 3, { by: 'ann', vote: '2', ranking: ['2', '1', 'reject'] });
  const elects = event(TERMS, 2, 'accept', 'approved', 4, { elected: '2' });
  const redeemed = event(TERMS, 3, 'redeem', 'redeemed', 6);
  const granted = (plan, seq = 1, over = {}) => decide('one', 1, seq, 4 * seq + 1,
    { ...PLANS[plan], continuation_id: 'd-one-0', supersedes: 'd-one-0', expires_at: at(50), ...over });
  const reviewed = (id, first, ...groups) =>
    add(`signed: ${id}`, { opens: true, first }, tables([[W, opened(TERMS)], [vote], ...groups]));
  reviewed('of two calls the elected one ran', undefined, [elects], [granted(1), redeemed]);
  reviewed('of two calls the other one ran', 4, [elects], [granted(0), redeemed]);
  reviewed('of two calls a third one ran', 4, [elects], [granted(2), redeemed]);
  reviewed('of two calls the elected one ran, on another state of its target', 4, [elects],
    [granted(1, 1, { target_state_digest: H('state') }), redeemed]);
  reviewed('of two calls one ran before the election', 3, [granted(1)],
    [event(TERMS, 2, 'accept', 'approved', 6, { elected: '2' })]);
  reviewed('the elected one ran, and the approval was not redeemed', 3, [elects], [granted(1)]);
  reviewed('an approval was redeemed, and no call ran', 4, [elects], [redeemed]);
  reviewed('the elected one ran twice', 6, [elects], [granted(1), redeemed], [granted(1, 2)]);
  reviewed('the elected one ran, then the other one', 6, [elects], [granted(1), redeemed], [granted(0, 2)]);
  const alone = (id, first, plan) => add(`signed: ${id}`, { opens: true, first }, tables([[W, opened(ONE)],
    [event(ONE, 1, 'accept', 'approved', 4)], [granted(plan), event(ONE, 2, 'redeem', 'redeemed', 6)]]));
  alone('a call ran that its review approved', undefined, 0);
  alone('another call ran than its review approved', 3, 1);
}
write('ledgers/ledgers.json', { format: 'writ-ledgers/1', cases });
