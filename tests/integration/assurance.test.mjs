// docs/assurance.md: each line names tests that exist, or says "not covered".
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SOURCE } from '../support/js/gateway.mjs';

const page = readFileSync(join(SOURCE, 'docs/assurance.md'), 'utf8');
const rows = page.split('\n').filter((line) => line.startsWith('| ') && !/^\| (asked|section|---) \|/.test(line))
  .map((line) => line.slice(2, -2).split(' | '));
const NAMED = /`([a-z]+)\.([a-z0-9_]+)`: "([^"]+)"/g;

/** The file of a test of ctest, or undefined: integration.NAME, or unit.NAME and the like. */
function fileOf(kind, name) {
  if (kind === 'integration') {
    const file = join(SOURCE, 'tests/integration', `${name}.test.mjs`);
    return existsSync(file) ? file : undefined;
  }
  const folder = join(SOURCE, 'tests', kind);
  const found = existsSync(folder) &&
    readdirSync(folder, { recursive: true }).find((path) => path.split('/').at(-1) === `test_${name}.c`);
  return found ? join(folder, found) : undefined;
}

/** Whether the file has a test of that title. */
const has = (file, title) => {
  const text = readFileSync(file, 'utf8');
  return file.endsWith('.c') ? text.includes(`START_TEST(${title})`)
    : [`test('${title.replaceAll("'", "\\'")}'`, `test(\`${title}\``].some((call) => text.includes(call));
};

test('each line has a test or the words "not covered", and each named test exists', () => {
  assert.ok(rows.length > 80, `${rows.length} lines`);
  for (const row of rows) {
    assert.equal(row.length, 3, row.join(' | '));
    const named = [...row[2].matchAll(NAMED)];
    assert.ok(named.length > 0 || row[2] === 'not covered', row[0]);
    for (const [, kind, name, title] of named) {
      const file = fileOf(kind, name);
      assert.ok(file, `${row[0]}: there is no test ${kind}.${name}`);
      assert.ok(has(file, title), `${row[0]}: ${kind}.${name} has no test "${title}"`);
    }
    const rest = row[2].replaceAll(NAMED, '').split('; ').filter((part) => part !== '');
    assert.ok(rest.every((part) => part === 'not covered' || /: (not covered)?$/.test(part)), row[2]);
  }
});

test('the words "not covered" stand where something is missing', () => {
  const missing = rows.filter((row) => row[2].includes('not covered'));
  assert.ok(missing.length > 10 && missing.length < rows.length / 2, `${missing.length} of ${rows.length}`);
});
