// Writ and the two verifiers that share no code with it: their verdicts on bundles of random logs, and that they refuse
// bundles with one changed bit, line or member with the same reason on the same line.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SOURCE, writ } from '../support/js/gateway.mjs';
import { sampleLedger } from '../support/js/ledger.mjs';
import { DEV, approve, asks, setUp } from '../support/js/reviews.mjs';
import { KEY, randomBundle, randomly } from '../support/mint/random-log.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { NODE_VERIFIER, agreed, all, verdicts } from '../support/js/verifiers.mjs';

const { path, keys } = sampleLedger();

/** A bundle, and the keys of its ledger. */
function exported(args, ledger = path, dir = keys) {
  const run = writ(['ledger', 'export', ledger, '--keys', dir, ...args]);
  assert.equal(run.code, 0, run.err);
  return { text: run.out, trusted: writ(['ledger', 'key', ledger, '--keys', dir]).out.trim().split('\n') };
}

/** Bundles with one bit changed: every `step`th. */
function withChangedBits(text, step) {
  const files = { whole: Buffer.from(text) };
  for (let bit = 0; bit < 8 * files.whole.length; bit += step) {
    files[`bit ${bit}`] = Buffer.from(files.whole);
    files[`bit ${bit}`][bit >> 3] ^= 1 << (bit & 7);
  }
  return files;
}

/** Bundles with one line left out, doubled, moved or put in another's place, and with one member of a record
 * changed. */
function withChangedLines(text) {
  const whole = text.trimEnd().split('\n'), files = {};
  const add = (id, some) => { files[id] = Buffer.from(`${some.join('\n')}\n`); };
  add('whole', whole);
  whole.forEach((line, at) => {
    add(`without ${at}`, whole.toSpliced(at, 1));
    add(`twice ${at}`, whole.toSpliced(at, 0, line));
    if (at > 0) add(`swapped ${at}`, whole.toSpliced(at - 1, 2, line, whole[at - 1]));
    if (at > 1) add(`in place of ${at}`,
      whole.toSpliced(at, 1, whole[1 + (at % (whole.length - 2))] === line
        ? whole[1] : whole[1 + (at % (whole.length - 2))]));
    const value = JSON.parse(line);
    for (const name of Object.keys(value.record ?? {})) {
      const put = (id, to) =>
        add(`${at} ${name} ${id}`,
          whole.toSpliced(at, 1, JSON.stringify({ ...value, record: { ...value.record, [name]: to } })));
      put('changed', typeof value.record[name] === 'number' ? value.record[name] + 1 : 'changed');
      put('null', value.record[name] === null ? 0 : null);
      put('gone', undefined);
    }
  });
  return files;
}

function refused({ trusted }, files) {
  const { ok, ...reasons } = agreed(trusted, files);
  assert.equal(ok, 1, 'all but the one that is whole are refused');
  return reasons;
}

test('all three verifiers report the same faults of random logs, byte for byte', () => {
  const rnd = randomly(7), files = {};
  for (let i = 0; i < 400; i++) {
    const text = randomBundle(rnd);
    if (text !== undefined) files[i] = Buffer.from(text);
  }
  assert.ok(Object.keys(files).length > 200);
  assert.deepEqual(agreed([KEY], files), { ok: Object.keys(files).length });
});

test('all three verifiers agree on every changed bit of a small bundle', () => {
  const bundle = exported(['--since', '2026-06-25T05:00:04Z', '--redact', 'boundary_id']);
  assert.ok(bundle.text.length < 1500);
  refused(bundle, withChangedBits(bundle.text, 1));
});

test('all three verifiers agree on every changed line or member of a record', () => {
  for (const args of [['--at', '2026-06-25T05:00:02Z'], ['one'], ['--agent', 'agent', '--redact', 'error_type']]) {
    const bundle = exported(args), reasons = refused(bundle, withChangedLines(bundle.text));
    for (const reason of ['evidence_malformed', 'record_invalid', 'record_digest_mismatch', 'record_not_in_log'])
      assert.ok(reasons[reason] > 0, `${args}: ${reason}`);
  }
});

test('all three verifiers agree on bundles with approved, repeated and refused calls', async (t) => {
  const { gw } = await setUp(t);
  const session = await openSession(gw, { token: DEV.token });
  const id = await asks(session, { amount: 100 });
  await approve(gw, id);
  for (let i = 0; i < 2; i++) await session.call('up__pay', { amount: 100 });
  await asks(session, { amount: 3.5, to: '\u{1f600}\ue000' });
  await session.call('up__pay', { amount: 1, other: true });
  for (const args of [['--at', new Date(Date.now() + 1000).toISOString()],
      ['--agent', 'dev', '--redact', 'continuation_id,terms']]) {
    const bundle = exported(args, gw.ledgerFile, gw.path('keys'));
    refused(bundle, withChangedBits(bundle.text, 997));
    refused(bundle, withChangedLines(bundle.text));
  }
});

test('a key of an unknown type is ignored and never counts as a signer', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'writ-trust-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const { cases } = JSON.parse(readFileSync(join(SOURCE, 'vectors/receipts/receipts.json'), 'utf8'));
  const { receipt, keys: [key], witnesses: [witness] } = cases.find(({ id }) => id === 'signed by the witness');
  const put = (name, ...lines) => {
    writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
    return join(folder, name);
  };
  // ML-DSA-44
  const strange = (name) =>
    `${name}+0123abcd+${Buffer.concat([Buffer.of(6), Buffer.alloc(1312, 7)]).toString('base64')}`;
  const file = put('receipt.json', receipt), ours = witness.split('+')[0];
  const told = (trusted, ...witnesses) => verdicts('receipt', file, trusted, ...witnesses);
  const log = put('log', strange('log.example'), key);
  assert.deepEqual(told(log, '--witness', put('both', strange(ours), witness)), all('ok'));
  assert.deepEqual(told(log, '--witness', put('other', witness, strange('other.example'))),
    all('checkpoint_unwitnessed'));
  assert.deepEqual(told(log, '--witness', join(folder, 'other'), '--quorum', '1'), all('ok'));
  const none = writ(['verify', 'receipt', file, '--key', put('none', strange('log.example'))]);
  assert.match(none.err, /none: the file has no key of a known type/);
});

test('verify.mjs names the Node.js that it needs and the input that it cannot read', () => {
  const run = (...args) => spawnSync(process.execPath, args, { encoding: 'utf8' });
  const old = run('--import', 'data:text/javascript,const p=JSON.parse;JSON.parse=(t,f)=>p(t,f%26%26((k,v)=>f(k,v)))',
    NODE_VERIFIER, 'receipt', 'x', 'y');
  assert.deepEqual([old.status, old.stderr],
    [2, `verify.mjs: needs Node.js 22 or later; this is ${process.version}\n`]);
  for (const [args, said] of [[['receipt', '/nowhere', '/nowhere'], /^verify.mjs: ENOENT.*\n$/],
      [['receipt'], /^verify.mjs: usage: /],
      [['receipt', NODE_VERIFIER, NODE_VERIFIER], /^verify.mjs: a key is not a vkey\n$/]]) {
    const ran = run(NODE_VERIFIER, ...args);
    assert.equal(ran.status, 2);
    assert.match(ran.stderr, said);
  }
});
