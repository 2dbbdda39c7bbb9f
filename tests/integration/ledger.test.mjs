// writ ledger: an operator reads the records of a gateway.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BIN } from '../support/js/gateway.mjs';
import { SAMPLE } from '../support/js/ledger.mjs';

let folder;
let path; // a ledger with calls in it: see ledger_sample.c
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-ledger-'));
  path = join(folder, 'ledger.db');
  assert.equal(spawnSync(SAMPLE, [path]).status, 0);
});
after(() => rmSync(folder, { recursive: true }));

function ledger(command, ...args) {
  const run = spawnSync(BIN, ['ledger', command, ...args], { encoding: 'utf8' });
  return { code: run.status, out: run.stdout, err: run.stderr };
}
const json = (command, ...args) => JSON.parse(ledger(command, ...args, '--json').out);
const list = (...args) => json('list', path, ...args).decisions;

test('init creates one empty private ledger and never overwrites a file', () => {
  const fresh = join(folder, 'fresh.db');
  const made = ledger('init', fresh);
  assert.equal(made.code, 0);
  assert.equal(made.out, `created ${fresh}\n`);
  assert.equal(statSync(fresh).mode & 0o777, 0o600);
  const again = ledger('init', fresh);
  assert.equal(again.code, 3);
  assert.match(again.err, /exists already/);
  assert.deepEqual(json('list', fresh), { decisions: [] });
  assert.equal(ledger('list', fresh).out, '');
  assert.equal(json('verify', fresh).sound, true);
});

test('init refuses a folder that all users can write to', () => {
  const open = join(folder, 'open');
  mkdirSync(open);
  chmodSync(open, 0o777);
  const run = ledger('init', join(open, 'ledger.db'));
  assert.equal(run.code, 3);
  assert.match(run.err, /all users can write/);
  assert.equal(existsSync(join(open, 'ledger.db')), false);
});

test('a missing or invalid ledger is reported as text and as JSON', () => {
  const other = join(folder, 'other.db');
  writeFileSync(other, 'this is not a database, and it is long enough to have the header of one, which has 100 bytes');
  for (const command of ['list', 'verify']) {
    assert.equal(ledger(command, join(folder, 'none.db')).code, 3);
    const run = ledger(command, other, '--json');
    assert.equal(run.code, 3);
    assert.equal(run.out, '');
    assert.equal(JSON.parse(run.err).error.code, 'parse');
  }
});

test('list filters, newest first', () => {
  const all = list();
  assert.deepEqual(all.map((d) => [d.leaf, d.decision, d.outcome, d.boundary_id]), [
    [9, 'allow', null, 'two'],
    [7, 'allow', 'error', 'two'],
    [5, 'deny', 'blocked', 'two'],
    [2, 'allow', 'timeout', 'one'],
    [0, 'allow', 'executed', 'one'],
  ]);
  assert.deepEqual(list('--limit', '2').map((d) => d.leaf), [9, 7]);
  assert.deepEqual(list('--boundary', 'one').map((d) => d.leaf), [2, 0]);
  assert.deepEqual(list('--decision', 'deny').map((d) => d.leaf), [5]);
  assert.deepEqual(list('--tenant', 'globex'), []);
  assert.deepEqual(list('--agent', 'agent', '--tool', 'write_file', '--until', all[3].issued_at).map((d) => d.leaf),
    [0]);
  assert.deepEqual(list('--since', all[1].issued_at).map((d) => d.leaf), [9, 7]);
  assert.equal(all[4].sealed, true);
  assert.equal(all[0].sealed, false);
  const lines = ledger('list', path).out.trimEnd().split('\n');
  assert.equal(lines.length, 6);
  assert.match(lines[0], /^TIME +VERDICT +OUTCOME +AGENT +UPSTREAM +TOOL +REASON +RUN +DECISION$/);
  assert.match(lines[1], /allow +in_flight +agent +(-|\S+) +write_file +- +two +d-/);
  assert.deepEqual(list('--outcome', 'in_flight').map((d) => d.leaf), [9]);
  assert.deepEqual(list('--outcome', 'executed').map((d) => d.leaf), [0]);
  assert.deepEqual(list('--outcome', 'error', '--limit', '1').map((d) => d.leaf), [7], 'a limit is of what is listed');
});

test('list refuses invalid values of options', () => {
  for (const args of [['--decision', 'maybe'], ['--outcome', 'good'], ['--reason', 'whim'], ['--since', 'yesterday'],
      ['--until', '2026'], ['--limit', '-1'], ['--limit', 'many']]) {
    const run = ledger('list', path, ...args);
    assert.equal(run.code, 2, args.join(' '));
    assert.equal(run.out, '');
  }
});

test('show has the canonical records of one call', () => {
  const shown = json('show', path, list()[3].decision_id);
  assert.equal(shown.leaf, 2);
  assert.equal(shown.outcome_leaf, 3);
  assert.equal(shown.decision.running_count, 2);
  assert.equal(shown.outcome.outcome, 'timeout');
  assert.equal(shown.outcome.intent_ref, shown.decision.intent_ref);
  assert.equal(shown.seal.total, 2);
  const flying = json('show', path, list()[0].decision_id);
  assert.deepEqual([flying.outcome, flying.outcome_leaf, flying.seal, flying.sealed], [null, null, null, false]);
  const text = ledger('show', path, list()[0].decision_id);
  assert.equal(text.code, 0);
  assert.match(text.out, /^decision \(record 9\)\n {2}agent_id "agent"\n/);
  assert.match(text.out, /no outcome yet\nits boundary is open\ncontents: arguments none, result none\n$/);
  const none = ledger('show', path, 'd-none');
  assert.equal(none.code, 3);
  assert.equal(none.out, '');
});

test('export has every record of a run and reports it complete', () => {
  const run = ledger('export', path, 'one');
  assert.equal(run.code, 0);
  const lines = run.out.trimEnd().split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(lines.map((line) => line.kind),
    ['decision', 'outcome', 'decision', 'outcome', 'seal', 'completeness']);
  assert.deepEqual(lines.slice(0, -1).map((line) => line.leaf), [0, 1, 2, 3, 4]);
  assert.equal(lines.at(-1).report.whole, true);
  const ids = lines.filter((line) => line.kind === 'decision').map((line) => line.record.decision_id);
  const hash = createHash('sha256').update(ids.join('')).digest('hex');
  assert.equal(lines.at(-2).record.seal_hash, `sha256:${hash}`);
  const whole = json('export', path, 'one', '--tenant', 'acme');
  assert.deepEqual(whole.records, lines.slice(0, -1));
  assert.deepEqual(whole.completeness, lines.at(-1).report);
  assert.equal(ledger('export', path, 'none', '--json').code, 3);
  assert.equal(ledger('export', path, 'none', '--json').out, '');
});

test('verify counts records, names each problem and exits with 1', () => {
  const sound = ledger('verify', path);
  assert.equal(sound.code, 0);
  assert.equal(sound.out,
    'sound: 10 records: 5 decisions, 4 outcomes, 1 seals, 0 events of reviews, 0 facts; 2 boundaries, 1 sealed; 1 ' +
      'calls in flight; 9 checkpoints, signatures not verified (--keys)\n');
  const bad = join(folder, 'bad.db');
  assert.equal(spawnSync(SAMPLE, [bad, 'tampered']).status, 0);
  const run = ledger('verify', bad);
  assert.equal(run.code, 1);
  assert.match(run.out, /^record 2: .*\n/);
  assert.match(run.out, /NOT SOUND/);
  const report = json('verify', bad);
  assert.equal(report.sound, false);
  assert.equal(report.problems[0].leaf, 2);
  assert.equal(ledger('export', bad, 'one').code, 1);
});

// What `writ ledger export` gives of every run in a ledger, as lines.
function exported(file) {
  const runs = new Set(json('list', file, '--limit',
    '0').decisions.map((d) => JSON.stringify([d.tenant, d.boundary_id])));
  return [...runs].flatMap((run) => {
    const [tenant, boundary] = JSON.parse(run);
    return ledger('export', file, boundary, ...(tenant ? ['--tenant', tenant] : [])).out.trim().split('\n');
  });
}
const records = (command, input, ...args) =>
  spawnSync(BIN, ['records', command, ...args], { encoding: 'utf8', input, maxBuffer: 1 << 26 });
const bare = (line) => /^\{"leaf":\d+,"kind":"(\w+)","record":(.*)\}$/.exec(line); // bytes, not values

test('records become plain GovernanceDecision JSON and back, byte for byte', () => {
  const lines = exported(path);
  const kept = lines.map(bare).filter(Boolean).map(([, kind, record]) => `{"kind":"${kind}","record":${record}}`);
  assert.ok(kept.length > 5, String(kept.length));
  const plain = records('plain', lines.join('\n') + '\n');
  assert.equal(plain.status, 0, plain.stderr);
  const objects = plain.stdout.trim().split('\n').map((line) => JSON.parse(line));
  assert.ok(objects.every((record) => !('kind' in record) && !('leaf' in record)));
  const spelled = [plain.stdout, JSON.stringify(objects), JSON.stringify(objects, null, 2),
    JSON.stringify(objects.map((record) => Object.fromEntries(Object.entries(record).reverse()))),
    JSON.stringify({ records: objects })];
  for (const text of spelled) {
    const back = records('ours', text);
    assert.equal(back.status, 0, back.stderr);
    assert.equal(back.stdout, kept.join('\n') + '\n');
  }
  assert.deepEqual(JSON.parse(records('ours', plain.stdout, '--json').stdout),
    { records: kept.map((line) => JSON.parse(line)) });
  assert.equal(records('ours', JSON.stringify(objects[0], null, 1)).stdout, kept[0] + '\n');
});

test('an invalid plain record is reported with all faults and not passed on', () => {
  const [line] = records('plain', exported(path).join('\n') + '\n').stdout.split('\n');
  const record = JSON.parse(line);
  const stranger = { ...record, vendor: { any: ['thing', 1.5] } };
  const wrong = { ...record, agent_id: 'somebody-else', seq: -1 };
  const run = records('ours', JSON.stringify([stranger, wrong, { foo: 1 }]));
  assert.equal(run.status, 1);
  assert.deepEqual(JSON.parse(run.stdout).record, stranger, 'unknown members pass through');
  assert.match(run.stderr, /^record 1: .*\/seq .*\nrecord 2: {2}is not a decision, outcome, seal or review\n$/s);
  assert.match(run.stderr, /\/intent_digest does not recompute/);
  assert.equal(records('ours', 'no JSON').status, 3);
});

test('the error for a reader who cannot write to the folder of a stopped ledger names it',
  { skip: process.getuid() !== 0 && 'needs two users' }, () => {
    const closed = mkdtempSync(join(tmpdir(), 'writ-readers-'));
    const copy = join(closed, 'ledger.db');
    spawnSync('cp', [path, copy]);
    chmodSync(copy, 0o644);
    chmodSync(closed, 0o755);
    for (const command of [['list', copy], ['verify', copy]]) {
      const run = spawnSync('setpriv', ['--reuid=65534', '--regid=65534', '--clear-groups', BIN, 'ledger', ...command],
        { encoding: 'utf8' });
      assert.equal(run.status, 4, run.stderr);
      assert.ok(run.stderr.includes(`cannot write to the folder ${closed}/. Read it as the owner`), run.stderr);
      assert.match(run.stderr, /or read a copy of the ledger in a folder of your own\n$/);
      assert.doesNotMatch(run.stderr, /readonly database/);
    }
    rmSync(closed, { recursive: true });
  });
