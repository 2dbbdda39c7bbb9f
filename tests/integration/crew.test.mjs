// `writ crew`: the scenarios of the public library's behaviour, and where we deviate on purpose.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const writ = process.env.WRIT_BIN;
const source = process.env.WRIT_SOURCE_DIR;
const golden = join(source, 'vectors/crew-golden');
const run = (...args) => spawnSync(writ, args, { encoding: 'utf8', maxBuffer: 1 << 26 });

// The rows of the table of deviations that name a scenario which differs.
function deviations() {
  const rows = readFileSync(join(source, 'crew/README.md'), 'utf8').split('\n')
    .filter((line) => /^\| \d+b? \|/.test(line) && !line.includes('no difference'));
  return rows.flatMap((row) => row.match(/[a-z0-9-]+\.json/g) ?? []).sort();
}

test('the golden scenarios come out byte for byte, but for the deviations that are listed', () => {
  const ran = run('crew', 'vectors', golden, '--json');
  const { passed, failed } = JSON.parse(ran.stdout);
  assert.deepEqual(failed.map((path) => basename(path)).sort(), deviations());
  assert.ok(passed > 70, `${passed} passed`);
  assert.equal(ran.status, 1);
});

test('a difference is named with its step and what was expected', () => {
  const scenario = JSON.parse(readFileSync(join(golden, 'lifecycle-basic-1.json'), 'utf8'));
  scenario.expect.steps[1].status = 'completed';
  const file = join(mkdtempSync(join(tmpdir(), 'writ-crew-')), 'one.json');
  writeFileSync(file, JSON.stringify(scenario));
  const ran = run('crew', 'vectors', file);
  assert.equal(ran.status, 1);
  assert.match(ran.stdout, /one\.json: differs\n {2}step 1, byte \d+:\n {4}expected .*completed/);
  assert.match(ran.stdout, /0 passed, 1 failed\n$/);
});

test('what is no scenario fails and is named', () => {
  const folder = mkdtempSync(join(tmpdir(), 'writ-crew-'));
  writeFileSync(join(folder, 'a.json'), '{"format":"other"}');
  writeFileSync(join(folder, 'b.json'), '{"a":1,"a":2}');
  const ran = run('crew', 'vectors', folder, join(folder, 'missing.json'));
  assert.equal(ran.status, 1);
  assert.match(ran.stdout, /a\.json: .*crew-vector\/1/);
  assert.match(ran.stdout, /b\.json: duplicate/);
  assert.match(ran.stdout, /missing\.json/);
  assert.match(ran.stdout, /0 passed, 3 failed\n$/);
});
