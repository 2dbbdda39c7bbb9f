// writ json canon and digest against an independent implementation: what Node.js parses, sorts and
// prints. JSON.stringify is the ECMAScript that RFC 8785 is defined by.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BIN = process.env.WRIT_BIN ?? 'build/dev/writ';

function writ(args, input = '') {
  const run = spawnSync(BIN, ['json', ...args], { input, maxBuffer: 1 << 28 });
  return { code: run.status, out: run.stdout, err: run.stderr.toString() };
}

// The canonical form of a JavaScript value: sort compares UTF-16 units, as RFC 8785 3.2.3 requires.
function canonical(value) {
  if (Array.isArray(value)) {
    return `[${value.map(canonical).join(',')}]`;
  }
  if (value !== null && typeof value === 'object') {
    const members = Object.keys(value).sort().map((k) => `${JSON.stringify(k)}:${canonical(value[k])}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value);
}

// xorshift128+: the same documents in every run.
function random(seed) {
  let a = BigInt(seed) * 0x9e3779b97f4a7c15n & 0xffffffffffffffffn;
  let b = 0xd1b54a32d192ed03n;
  const next = () => {
    let x = a;
    a = b;
    x ^= x << 23n & 0xffffffffffffffffn;
    b = x ^ a ^ x >> 17n ^ a >> 26n;
    return a + b & 0xffffffffffffffffn;
  };
  return { bits: next, below: (n) => Number(next() % BigInt(n)) };
}

const CHARACTERS = ['a', 'b', 'Z', '0', ' ', '"', '\\', '/', '\n', '\t', '\b', '\u0000', '\u001f', '\u007f',
  '\u0080', 'é', '€', '\u2028', '\ud7ff', '\ue000', '\ufb33', '\uffff', '😀', '\u{10ffff}'];

function randomString(r) {
  return Array.from({ length: r.below(9) }, () => CHARACTERS[r.below(CHARACTERS.length)]).join('');
}

function double(bits) {
  return new Float64Array(BigUint64Array.of(bits).buffer)[0];
}

function randomNumber(r) {
  const kinds = [
    () => r.below(1000) - 500,
    () => (r.below(2000000) - 1000000) / 10 ** r.below(8),
    () => Number(r.bits() >> 11n),
    () => double(r.bits()),
    () => double(r.bits() & 0x000fffffffffffffn), // subnormal
    () => 2 ** (r.below(2098) - 1074),
    () => 10 ** (r.below(640) - 330),
  ];
  const number = kinds[r.below(kinds.length)]();
  return Number.isFinite(number) ? number : 0;
}

function randomValue(r, depth) {
  switch (r.below(depth > 0 ? 7 : 4)) {
    case 0: return [null, true, false][r.below(3)];
    case 1: return randomString(r);
    case 2: case 3: return randomNumber(r);
    case 4: return Array.from({ length: r.below(6) }, () => randomValue(r, depth - 1));
    default: return Object.fromEntries(Array.from({ length: r.below(12) },
      () => [randomString(r), randomValue(r, depth - 1)]));
  }
}

// Any spelling of the value: white space, escapes, exponents. It is not read back with JSON.parse to
// be sure: that of Node.js 24.21 can take the member name "\u0062" for a backslash.
function spell(r, value) {
  const space = () => [' ', '', '\n', '\t ', ''][r.below(5)];
  if (Array.isArray(value)) {
    return `[${space()}${value.map((v) => spell(r, v)).join(`${space()},${space()}`)}]`;
  }
  if (value !== null && typeof value === 'object') {
    const members = Object.entries(value).map(([k, v]) => `${spell(r, k)}${space()}:${spell(r, v)}`);
    return `{${members.join(`,${space()}`)}${space()}}`;
  }
  if (typeof value === 'string') {
    const units = Array.from(JSON.stringify(value).slice(1, -1).matchAll(/\\u....|\\.|[^]/gu), ([c]) =>
      c.length === 1 && r.below(4) === 0 ? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}` : c);
    return `"${units.join('')}"`;
  }
  if (typeof value === 'number' && Object.is(value, -0)) {
    return '-0.0';
  }
  if (typeof value === 'number' && r.below(3) === 0 && !/e/.test(String(value))) {
    return `${value}e0`;
  }
  return JSON.stringify(value);
}

test('random documents have the canonical form that ECMAScript gives them', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const r = random(seed);
    const value = Array.from({ length: 40 }, () => randomValue(r, 5));
    const text = spell(r, value);
    const run = writ(['canon'], text);
    assert.equal(run.code, 0, `seed ${seed}: ${run.err}`);
    assert.equal(run.out.toString(), canonical(value), `seed ${seed}`);
  }
});

test('random doubles have the text that ECMAScript gives them', () => {
  const r = random(7);
  const numbers = [];
  while (numbers.length < 100000) {
    const number = double(numbers.length % 3 === 0 ? r.bits() & 0x800fffffffffffffn : r.bits());
    if (Number.isFinite(number)) {
      numbers.push(number);
    }
  }
  for (let e = -1074; e < 1024; e++) {
    numbers.push(2 ** e, -(2 ** e));
  }
  const text = JSON.stringify(numbers);
  assert.equal(writ(['canon'], text).out.toString(), text);
});

test('a pipe gets exactly the canonical bytes, with and without --json', () => {
  for (const options of [[], ['--json'], ['-']]) {
    const run = writ(['canon', ...options], ' {"b": 1.0, "a": "\\u00e9"}\n');
    assert.equal(run.code, 0);
    assert.equal(run.out.toString(), '{"a":"é","b":1}');
    assert.equal(run.err, '');
  }
});

test('the digest is that of the canonical bytes', () => {
  const want = `sha256:${createHash('sha256').update('{"a":[1,2]}').digest('hex')}`;
  assert.equal(writ(['digest'], '{ "a" : [ 1.0 , 2e0 ] }').out.toString(), `${want}\n`);
  assert.deepEqual(JSON.parse(writ(['digest', '--json'], '{"a":[1,2]}').out),
    { digest: want, canonical_bytes: 11 });
});

test('a file is read like standard input', () => {
  const folder = mkdtempSync(join(tmpdir(), 'writ-json-'));
  try {
    const file = join(folder, 'value.json');
    writeFileSync(file, '[ 1 ]');
    assert.equal(writ(['canon', file]).out.toString(), '[1]');
    assert.equal(writ(['digest', file]).out.toString(), writ(['digest'], '[1]').out.toString());
    const absent = writ(['canon', join(folder, 'absent.json')]);
    assert.equal(absent.code, 3);
    assert.match(absent.err, /absent\.json/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('refused input is reported with its byte offset, prints nothing, and fails', () => {
  const cases = [
    ['{"a":1,"\\u0061":2}', 7, 'duplicate member name'],
    ['[1,2]]', 5, 'follows'],
    ['["\\ud800"]', 2, 'lone surrogate'],
    [Buffer.from([0x22, 0xff, 0x22]), 1, 'UTF-8'],
    ['[9007199254740993]', 1, 'exactly'],
    ['[1e400]', 1, 'range of a double'],
    ['[1e-400]', 1, 'zero'],
    ['\ufeff{}', 0, 'byte order mark'],
    ['['.repeat(65), 64, 'nested'],
    ['', 0, 'no value'],
  ];
  for (const command of ['canon', 'digest']) {
    for (const [text, offset, word] of cases) {
      const plain = writ([command], text);
      assert.equal(plain.code, 3, String(text));
      assert.equal(plain.out.length, 0);
      assert.match(plain.err, new RegExp(`^writ json ${command}: .*${word}.* at byte ${offset}\n$`));
      const { error } = JSON.parse(writ([command, '--json'], text).err);
      assert.equal(error.offset, offset);
      assert.match(error.text, new RegExp(word));
    }
  }
});

test('text of the maximum depth is read', () => {
  const text = '['.repeat(64) + ']'.repeat(64);
  assert.equal(writ(['canon'], text).out.toString(), text);
});
