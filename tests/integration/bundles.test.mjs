// writ ledger export --keys and writ verify bundle, as an auditor uses them.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BIN, writ } from '../support/js/gateway.mjs';
import { sampleLedger } from '../support/js/ledger.mjs';
import { all, verdicts } from '../support/js/verifiers.mjs';

const { folder, path, keys, trusted } = sampleLedger();

const exported = (...args) => writ(['ledger', 'export', path, ...args, '--keys', keys]);
function verified(text) {
  const file = join(folder, 'bundle.jsonl');
  writeFileSync(file, text);
  const run = writ(['verify', 'bundle', file, '--key', trusted, '--json']);
  const told = JSON.parse(run.out);
  assert.deepEqual(verdicts('bundle', file, trusted), all(told.reason));
  return { code: run.code, ...told };
}
const lines = (text) => text.trim().split('\n').map((line) => JSON.parse(line));

test('a bundle covers a run, an agent, a time or the whole ledger', () => {
  const rows = [
    [['one'], { records: 5, boundaries: 1, unsealed: 0, skipped: 5 }],
    [['two'], { records: 5, boundaries: 1, unsealed: 1, in_flight: 1 }],
    [['--agent', 'agent'], { records: 9, seals: 0 }],
    [['--until', '2026-06-25T05:00:02.000001Z'], { records: 4, skipped_inside: 0 }],
    [[], { records: 10, skipped: 0, boundaries: 2, faulty: 0, unsealed: 1 }],
  ];
  for (const [args, want] of rows) {
    const run = exported(...args);
    assert.equal(run.code, 0, run.err);
    const told = verified(run.out);
    assert.deepEqual([told.code, told.ok], [0, true]);
    for (const [name, count] of Object.entries(want)) assert.equal(told[name], count, `${args}: ${name}`);
  }
});

test('a bundle has the ledger\'s records byte for byte and names unsealed runs in its last line', () => {
  const [head, ...rest] = lines(exported('two').out);
  assert.deepEqual([head.format, head.select], ['writ-bundle/1', { boundary: 'two' }]);
  const records = rest.filter((line) => line.record);
  const plain = lines(writ(['ledger', 'export', path, 'two']).out).filter((line) => line.record);
  assert.deepEqual(records, plain);
  assert.deepEqual(rest.at(-1).boundaries_named, [{ boundary: 'two', tenant: 'acme', held: 3, sealed: false }]);
});

test('bundle verify prints phases at a given time and withheld records', () => {
  const at = (time) => Object.fromEntries(lines(exported('one', '--at', time).out)
    .filter((line) => line.kind === 'phase').map((line) => [line.decision_id, line.phase]));
  const { issued_at } = lines(exported('one').out).find((line) => line.record?.issued_at).record;
  assert.deepEqual(Object.values(at(issued_at)), ['fresh', 'unborn']);
  assert.deepEqual(Object.values(at('2026-06-25T06:00:00Z')), ['consumed', 'consumed']);
  const run = exported('--redact', 'error_type,reason');
  assert.doesNotMatch(run.out, /not_sent/);
  const told = verified(run.out);
  assert.equal(told.ok, true);
  assert.ok(told.withheld >= 1);
});

test('a changed line is reported by its number', () => {
  const text = exported('one').out;
  const told = verified(text.replace('"outcome":"timeout"', '"outcome":"executed"'));
  assert.deepEqual([told.code, told.ok], [1, false]);
  assert.equal(told.reason, 'record_not_in_log');
  assert.deepEqual(verified(text.replace('"decision":"allow"', '"decision":"perhaps"')).reason, 'record_invalid');
  const cut = verified(text.slice(0, text.lastIndexOf('{"kind":"end"')));
  assert.deepEqual([cut.reason, cut.detail], ['evidence_malformed', 'the file is truncated']);
  assert.equal(verified(`${text}{}\n`).reason, 'evidence_malformed');
  assert.equal(verified('').reason, 'evidence_malformed');
});

test('bundle verify reads standard input and reports mistakes of the command line', () => {
  const run = spawnSync(BIN, ['verify', 'bundle', '-', '--key', trusted], { input: exported().out, encoding: 'utf8' });
  assert.match(run.stdout, /^ok\nrecords {3}10: /);
  assert.equal(run.stderr, '', 'progress is for terminals');
  assert.equal(writ(['ledger', 'export', path]).code, 2, 'all of it needs --keys');
  assert.equal(writ(['ledger', 'export', path, '--agent', 'a']).code, 2);
  for (const names of [',', '', 'reason,'])
    assert.equal(exported('--redact', names).code, 2, `"${names}" withholds nothing, or not all`);
  assert.equal(exported('--since', 'yesterday').code, 3);
  assert.equal(exported('three').code, 3);
  assert.equal(writ(['verify', 'bundle', join(folder, 'none'), '--key', trusted]).code, 3);
  assert.ok(readFileSync(trusted, 'utf8').length > 0);
});
