// Writ and the two verifiers that share no code with it: what they say of bundles of random logs, and that they refuse
// bundles with one bit, one line or one member changed by the same word on the same line.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { writ } from '../support/gateway.mjs';
import { sampleLedger } from '../support/ledger.mjs';
import { DEV, approve, asks, setUp } from '../support/reviews.mjs';
import { KEY, randomBundle, randomly } from '../support/random-log.mjs';
import { openSession } from '../support/rpc.mjs';
import { agreed } from '../support/verifiers.mjs';

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

/** Bundles with one line left out, doubled, moved or put in another's place, and with one member of a record changed. */
function withChangedLines(text) {
  const whole = text.trimEnd().split('\n'), files = {};
  const add = (id, some) => { files[id] = Buffer.from(`${some.join('\n')}\n`); };
  add('whole', whole);
  whole.forEach((line, at) => {
    add(`without ${at}`, whole.toSpliced(at, 1));
    add(`twice ${at}`, whole.toSpliced(at, 0, line));
    if (at > 0) add(`swapped ${at}`, whole.toSpliced(at - 1, 2, line, whole[at - 1]));
    if (at > 1) add(`in place of ${at}`, whole.toSpliced(at, 1, whole[1 + (at % (whole.length - 2))] === line ? whole[1] : whole[1 + (at % (whole.length - 2))]));
    const value = JSON.parse(line);
    for (const name of Object.keys(value.record ?? {})) {
      const put = (id, to) => add(`${at} ${name} ${id}`, whole.toSpliced(at, 1, JSON.stringify({ ...value, record: { ...value.record, [name]: to } })));
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

test('all three say the same of what random logs lack, byte for byte', () => {
  const rnd = randomly(7), files = {};
  for (let i = 0; i < 400; i++) {
    const text = randomBundle(rnd);
    if (text !== undefined) files[i] = Buffer.from(text);
  }
  assert.ok(Object.keys(files).length > 200);
  assert.deepEqual(agreed([KEY], files), { ok: Object.keys(files).length });
});

test('any bit of a small bundle', () => {
  const bundle = exported(['--since', '2026-06-25T05:00:04Z', '--redact', 'boundary_id']);
  assert.ok(bundle.text.length < 1500);
  refused(bundle, withChangedBits(bundle.text, 1));
});

test('any line or member of a record', () => {
  for (const args of [['--at', '2026-06-25T05:00:02Z'], ['one'], ['--agent', 'agent', '--redact', 'error_type']]) {
    const bundle = exported(args), reasons = refused(bundle, withChangedLines(bundle.text));
    for (const reason of ['evidence_malformed', 'record_invalid', 'record_digest_mismatch', 'record_not_in_log']) assert.ok(reasons[reason] > 0, `${args}: ${reason}`);
  }
});

test('bundles of a gateway with calls that were approved, repeated and refused', async (t) => {
  const { gw } = await setUp(t);
  const session = await openSession(gw, { token: DEV.token });
  const id = await asks(session, { amount: 100 });
  await approve(gw, id);
  for (let i = 0; i < 2; i++) await session.call('up__pay', { amount: 100 });
  await asks(session, { amount: 3.5, to: '\u{1f600}\ue000' });
  await session.call('up__pay', { amount: 1, other: true });
  for (const args of [['--at', new Date(Date.now() + 1000).toISOString()], ['--agent', 'dev', '--redact', 'continuation_id,terms']]) {
    const bundle = exported(args, gw.path('ledger.db'), gw.path('keys'));
    refused(bundle, withChangedBits(bundle.text, 997));
    refused(bundle, withChangedLines(bundle.text));
  }
});
