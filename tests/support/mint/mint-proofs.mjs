// Mints vectors/proofs: trees and proofs of RFC 6962, and checkpoints as C2SP writes them. Written from
// those documents; shares no code with the C implementation.
//
//   tests/support/node tests/support/mint/mint-proofs.mjs [FOLDER]     (default: vectors)
import { ed25519, hash, write } from './mint.mjs';

// ---- RFC 6962 2.1
const leafHash = (text) => hash(Buffer.from([0]), text);
const nodeHash = (left, right) => hash(Buffer.from([1]), left, right);
const split = (n) => 2 ** Math.floor(Math.log2(n - 1));
const root = (leaves) => (leaves.length === 0 ? hash('') : leaves.length === 1 ? leafHash(leaves[0])
  : nodeHash(root(leaves.slice(0, split(leaves.length))), root(leaves.slice(split(leaves.length)))));
function path(m, leaves) {
  if (leaves.length === 1) return [];
  const k = split(leaves.length), left = leaves.slice(0, k), right = leaves.slice(k);
  return m < k ? [...path(m, left), root(right)] : [...path(m - k, right), root(left)];
}
function subproof(m, leaves, whole) {
  if (m === leaves.length) return whole ? [] : [root(leaves)];
  const k = split(leaves.length), left = leaves.slice(0, k), right = leaves.slice(k);
  return m <= k ? [...subproof(m, left, whole), root(right)] : [...subproof(m - k, right, false), root(left)];
}
const consistency = (m, leaves) => (m === 0 ? [] : subproof(m, leaves, true));

const ALL = Array.from({ length: 20 }, (_, i) => (i === 0 ? '' : `record ${i}`));
const upTo = (n) => ALL.slice(0, n);
const hex = (bytes) => Buffer.from(bytes).toString('hex');
const flipped = (bytes) => Buffer.from(bytes.map((b, i) => (i === 0 ? b ^ 1 : b)));
const cases = [];
for (let n = 0; n <= ALL.length; n++)
  cases.push({ id: `tree of ${n}`, kind: 'tree', leaves: upTo(n), expect: { root: hex(root(upTo(n))) } });

function inclusion(id, holds, index, size, over = {}) {
  const proof = over.proof ?? path(index, upTo(size));
  cases.push({ id, kind: 'inclusion', leaf: ALL[index], index, size, proof: proof.map(hex), root: hex(root(upTo(size))),
    ...over.case, expect: { holds } });
}
for (const size of [1, 2, 3, 7, 8, 13, 20]) {
  for (let index = 0; index < size; index++) {
    const proof = path(index, upTo(size)), name = `${index} in ${size}`;
    inclusion(name, true, index, size);
    if (index % 3 !== 0) continue;
    proof.forEach((_, i) => inclusion(`${name}, digest ${i} changed`, false, index, size,
      { proof: proof.map((d, j) => (i === j ? flipped(d) : d)) }));
    if (proof.length > 0) inclusion(`${name}, a digest too few`, false, index, size, { proof: proof.slice(1) });
    inclusion(`${name}, a digest too many`, false, index, size, { proof: [...proof, hash('x')] });
    inclusion(`${name}, another leaf`, false, index, size, { case: { leaf: 'another' } });
    if (size > 1) inclusion(`${name}, at another index`, false, index, size, { case: { index: (index + 1) % size } });
    inclusion(`${name}, another root`, false, index, size,
      { case: { root: hex(root(upTo(size === 20 ? 19 : size + 1))) } });
  }
}
inclusion('beyond the tree', false, 3, 7, { case: { index: 7 } });

function grown(id, holds, older, size, over = {}) {
  const proof = over.proof ?? consistency(older, upTo(size));
  cases.push({ id, kind: 'consistency', older, older_root: hex(root(upTo(older))), size, root: hex(root(upTo(size))),
    proof: proof.map(hex), ...over.case, expect: { holds } });
}
for (const [older, size] of [[0, 0], [0, 5], [1, 1], [1, 2], [1, 20], [2, 3], [3, 7], [4, 7], [6, 8], [7, 13], [8, 13],
    [8, 16], [13, 20], [19, 20], [20, 20]]) {
  const proof = consistency(older, upTo(size)), name = `from ${older} to ${size}`;
  grown(name, true, older, size);
  proof.forEach((_, i) => grown(`${name}, digest ${i} changed`, false, older, size,
    { proof: proof.map((d, j) => (i === j ? flipped(d) : d)) }));
  if (proof.length > 0) grown(`${name}, a digest too few`, false, older, size, { proof: proof.slice(1) });
  grown(`${name}, a digest too many`, false, older, size, { proof: [...proof, hash('x')] });
  if (older > 0) grown(`${name}, another old root`, false, older, size, { case: { older_root: hex(hash('x')) } });
}
grown('it shrank', false, 5, 7, { case: { older: 7, size: 5 } });
write('proofs/trees.json', { format: 'writ-proofs/1', cases });

// ---- c2sp.org/signed-note, tlog-checkpoint, tlog-cosignature
const ORIGIN = 'writ-ledger/0197a5c4-8d00-7000-8000-000000000001';
const raw = (k) => Buffer.from(k.jwk.x, 'base64url');
const keyId = (name, type, k) => hash(`${name}\n`, Buffer.from([type]), raw(k)).subarray(0, 4);
const vkey = (name, type, k) =>
  `${name}+${hex(keyId(name, type, k))}+${Buffer.concat([Buffer.from([type]), raw(k)]).toString('base64')}`;
const line = (name, bytes) => `\u2014 ${name} ${Buffer.concat(bytes).toString('base64')}\n`;
const signed = (name, k, text) => line(name, [keyId(name, 1, k), k.sign(text)]);
function cosigned(name, k, text, time) {
  const stamp = Buffer.alloc(8);
  stamp.writeBigUInt64BE(BigInt(time));
  return line(name, [keyId(name, 4, k), stamp, k.sign(`cosignature/v1\ntime ${time}\n${text}`)]);
}
const log = ed25519('writ vectors: log'), stranger = ed25519('writ vectors: a stranger'),
  witness = ed25519('writ vectors: witness');
const WITNESS = 'witness.example/w1', TIME = 1782363600;
const body = (n, origin = ORIGIN) => `${origin}\n${n}\n${root(upTo(n)).toString('base64')}\n`;
const T = body(13), L = vkey(ORIGIN, 1, log), W = vkey(WITNESS, 4, witness);
const own = signed(ORIGIN, log, T), co = cosigned(WITNESS, witness, T, TIME);
const checkpoint = (n, extensions = '') => ({ origin: ORIGIN, size: n, root: hex(root(upTo(n))), extensions });
const notes = [];
const note = (id, text, keys, signatures, read) =>
  notes.push({ id, note: text, keys, expect: { signatures, checkpoint: read } });
note('signed by the log', `${T}\n${own}`, [L], ['ok'], checkpoint(13));
note('an empty log', `${body(0)}\n${signed(ORIGIN, log, body(0))}`, [L], ['ok'], checkpoint(0));
note('cosigned', `${T}\n${own}${co}`, [L, W], ['ok', `ok ${TIME}`], checkpoint(13));
note('lines of strangers', `${T}\n${signed('other.example', stranger, T)}${own}`, [L], ['ok'], checkpoint(13));
note('by a stranger alone', `${T}\n${signed('other.example', stranger, T)}`, [L], ['absent'], checkpoint(13));
note('by a stranger under its name', `${T}\n${signed(ORIGIN, stranger, T)}`, [L], ['absent'], checkpoint(13));
note('by a stranger under its name and id', `${T}\n${line(ORIGIN, [keyId(ORIGIN, 1, log), stranger.sign(T)])}`, [L],
  ['mismatch'], checkpoint(13));
note('another size', `${T.replace('\n13\n', '\n14\n')}\n${own}`, [L], ['mismatch'], { ...checkpoint(13), size: 14 });
note('another origin', `${T.replace('8000-000000000001', '8000-000000000002')}\n${own}`, [L], ['mismatch'],
  { ...checkpoint(13), origin: ORIGIN.replace('8000-000000000001', '8000-000000000002') });
note('a cosignature with another time',
  `${T}\n${own}` +
    line(WITNESS, [keyId(WITNESS, 4, witness), Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]),
      witness.sign(`cosignature/v1\ntime 2\n${T}`)]),
  [L, W], ['ok', 'mismatch'], checkpoint(13));
note('not cosigned', `${T}\n${own}`, [L, W], ['ok', 'absent'], checkpoint(13));
note('one good and one bad line of one key', `${T}\n${own}${line(ORIGIN, [keyId(ORIGIN, 1, log), stranger.sign(T)])}`,
  [L], ['mismatch'], checkpoint(13));
const more = `${T}extension line\n`;
note('with an extension', `${more}\n${signed(ORIGIN, log, more)}`, [L], ['ok'], checkpoint(13, 'extension line\n'));
for (const [id, text] of [['a note that is no checkpoint', 'hello\n'], ['two lines', `${ORIGIN}\n13\n`],
  ['a size with a leading zero', T.replace('\n13\n', '\n013\n')],
  ['a size that is none', T.replace('\n13\n', '\n-1\n')], ['a root that is too short', `${ORIGIN}\n13\nAAAA\n`],
  ['no origin', T.slice(ORIGIN.length)]])
  note(id, `${text}\n${signed(ORIGIN, log, text)}`, [L], ['ok'], null);
for (const [id, text] of [['no signature', T], ['no empty line', `${T}${own}`],
  ['no end of line', `${T}\n${own.slice(0, -1)}`], ['nothing', ''],
  ['a hyphen', `${T}\n${own.replace('\u2014', '-')}`]])
  note(id, text, [L], null, null);
write('proofs/checkpoints.json', { format: 'writ-checkpoints/1', cases: notes });
