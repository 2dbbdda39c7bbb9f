// writ ledger checkpoint and key: the signed checkpoint of a ledger, verified with Node's own crypto.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BIN } from '../support/js/gateway.mjs';
import { sampleLedger } from '../support/js/ledger.mjs';

const { folder, path, keys } = sampleLedger();

function writ(...args) {
  const run = spawnSync(BIN, args, { encoding: 'utf8' });
  return { code: run.status, out: run.stdout, err: run.stderr };
}
const checkpoint = (...args) => writ('ledger', 'checkpoint', path, '--keys', keys, ...args);
const vkeys = () => writ('ledger', 'key', path, '--keys', keys).out.trim().split('\n');

const sha256 = (...pieces) => pieces.reduce((hash, piece) => hash.update(piece), createHash('sha256')).digest();
const NODE = Buffer.from([1]);
const LEAF = Buffer.from([0]);
/** RFC 6962 2.1, word for word. */
function root(leaves) {
  if (leaves.length === 0) return sha256();
  if (leaves.length === 1) return sha256(LEAF, leaves[0]);
  let k = 1;
  while (k * 2 < leaves.length) k *= 2;
  return sha256(NODE, root(leaves.slice(0, k)), root(leaves.slice(k)));
}

/** Every record of the ledger, as bytes, in the order of the log. */
function records() {
  const lines = ['one', 'two'].flatMap((boundary) => writ('ledger', 'export', path, boundary).out.trim().split('\n'));
  const found = lines.map((line) => /^\{"leaf":(\d+),"kind":"\w+","record":(.*)\}$/.exec(line)).filter(Boolean);
  return found.sort((a, b) => a[1] - b[1]).map((match) => Buffer.from(match[2]));
}

/** The text of a note that one of these keys signed. */
function opened(note, vkey) {
  const [name, id, material] = /^(.*?)\+([0-9a-f]{8})\+(.*)$/.exec(vkey).slice(1);
  const key = Buffer.from(material, 'base64');
  assert.equal(key[0], 1);
  assert.equal(sha256(`${name}\n`, key).subarray(0, 4).toString('hex'), id);
  const [text, lines] = [note.slice(0, note.indexOf('\n\n') + 1), note.slice(note.indexOf('\n\n') + 2)];
  const line = lines.split('\n').find((each) => each.startsWith(`\u2014 ${name} `));
  const blob = Buffer.from(line.split(' ')[2], 'base64');
  assert.equal(blob.subarray(0, 4).toString('hex'), id);
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: key.subarray(1).toString('base64url') };
  assert.ok(verify(null, Buffer.from(text), createPublicKey({ key: jwk, format: 'jwk' }), blob.subarray(4)));
  return text;
}

test('a checkpoint is a signed note over the tree of all records', () => {
  const run = checkpoint();
  assert.equal(run.code, 0, run.err);
  const all = records();
  assert.equal(all.length, 10);
  const text = opened(run.out, vkeys()[0]);
  const [origin, size, hash, rest] = text.split('\n');
  assert.match(origin, /^writ-ledger\/[0-9a-f-]{36}$/);
  assert.deepEqual([size, hash, rest], ['10', root(all).toString('base64'), '']);
  const told = JSON.parse(checkpoint('--json').out);
  assert.deepEqual(told, { origin, size: 10, root: `sha256:${root(all).toString('hex')}`, checkpoint: run.out });
});

test('after a rotation the key before still verifies what it signed', () => {
  const before = { note: checkpoint().out, key: vkeys()[0] };
  assert.equal(writ('keys', 'rotate', '--dir', keys, '--purpose', 'ledger').code, 0);
  assert.equal(vkeys().length, 2);
  assert.equal(vkeys()[1], before.key);
  assert.notEqual(vkeys()[0], before.key);
  assert.equal(checkpoint().out, before.note);
  assert.deepEqual(JSON.parse(writ('ledger', 'key', path, '--keys', keys, '--json').out).keys, vkeys());
});

test('a retired key is listed for old checkpoints, a revoked one only as a comment', () => {
  const list = () => JSON.parse(writ('keys', 'list', '--dir', keys, '--json').out).keys.filter((key) => key.purpose ===
    'ledger');
  const history = (...args) => writ('ledger', 'key', path, '--keys', keys, '--history', ...args).out;
  const [active, old] = vkeys();
  assert.equal(history(), `${active}\n${old}\n`);
  const { kid } = list().find((key) => key.state === 'verifying');
  assert.equal(writ('keys', 'retire', '--dir', keys, '--kid', kid).code, 0);
  assert.deepEqual(vkeys(), [active]);
  assert.equal(history(), `${active}\n${old}\n`);
  assert.deepEqual(JSON.parse(history('--json')), { keys: [active, old], revoked: [] });
  assert.equal(checkpoint().code, 0);
  assert.equal(writ('ledger', 'verify', path, '--keys', keys).code, 0);

  const trusted = join(folder, 'trusted');
  const id = JSON.parse(writ('ledger', 'list', path, '--json').out).decisions[0].decision_id;
  const receipt = join(folder, 'receipt.json');
  writeFileSync(receipt, writ('receipt', id, '--ledger', path, '--keys', keys).out);
  const verdict = () => writ('verify', 'receipt', receipt, '--key', trusted).out.split('\n')[0];
  writeFileSync(trusted, writ('ledger', 'key', path, '--keys', keys).out);
  assert.equal(verdict(), 'checkpoint_unsigned');
  writeFileSync(trusted, history());
  assert.equal(verdict(), 'ok');

  // revoked after every record: the ledger still verifies, but a verifier with only the file no longer trusts the key
  assert.equal(writ('keys', 'revoke', '--dir', keys, '--kid', kid).code, 0);
  const since = list().find((key) => key.kid === kid).revoked_since;
  assert.equal(history(), `${active}\n# revoked since ${since}: ${old}\n`);
  assert.deepEqual(JSON.parse(history('--json')), { keys: [active], revoked: [{ key: old, revoked_since: since }] });
  assert.equal(checkpoint().code, 0);
  writeFileSync(trusted, history());
  assert.equal(verdict(), 'checkpoint_unsigned');
  writeFileSync(trusted, history().replace(/# .*: /, ''));
  assert.equal(verdict(), 'ok');

  // revoked before: its signatures are rejected
  assert.equal(writ('keys', 'revoke', '--dir', keys, '--kid', kid, '--since', '2020-01-01T00:00:00Z').code, 0);
  const run = checkpoint();
  assert.deepEqual([run.code, run.out], [3, '']);
  assert.match(run.err, /revoked/);
  const verified = writ('ledger', 'verify', path, '--keys', keys);
  assert.equal(verified.code, 1);
  assert.match(verified.out + verified.err, /signed only by a key that was revoked/);
});

test('an empty ledger has no checkpoint, and a foreign one is refused', () => {
  const fresh = join(folder, 'fresh.db');
  const own = join(folder, 'own');
  assert.equal(writ('ledger', 'init', fresh).code, 0);
  assert.match(writ('ledger', 'checkpoint', fresh, '--keys', keys).err, /no records/);
  assert.equal(writ('keys', 'new', '--dir', own).code, 0);
  const run = writ('ledger', 'checkpoint', path, '--keys', own);
  assert.deepEqual([run.code, run.out], [3, '']);
  assert.match(run.err, /not signed by a key/);
});

test('a ledger takes its configured name and refuses an invalid one', () => {
  const named = join(folder, 'named.db'), other = join(folder, 'other.db');
  assert.equal(writ('ledger', 'init', named, '--origin', "example.com/it's").code, 0);
  assert.match(writ('ledger', 'key', named, '--keys', keys).out, /^example\.com\/it's\+[0-9a-f]{8}\+/);
  for (const origin of ['a b', 'a+b', 'x'.repeat(129)])
    assert.equal(writ('ledger', 'init', other, '--origin', origin).code, 3, origin);
  assert.equal(existsSync(other), false);
  assert.equal(writ('ledger', 'init', other, '--origin', 'x'.repeat(128)).code, 0);
  assert.match(writ('ledger', 'key', other, '--keys', keys).out, /^x{128}\+/);
});

test('without a ledger key the error names the command that makes one', () => {
  const dir = join(folder, 'other');
  assert.equal(writ('keys', 'new', '--dir', dir, '--purpose', 'credential').code, 0);
  const run = writ('ledger', 'key', path, '--keys', dir);
  assert.equal(run.code, 3);
  assert.match(run.err, /writ keys new/);
  assert.equal(writ('ledger', 'checkpoint', path).code, 2);
});
