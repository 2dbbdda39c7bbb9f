// The frame of the program: the behaviour that every command shares.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const BIN = resolve(process.env.WRIT_BIN ?? 'build/dev/writ');
const SOURCE = process.env.WRIT_SOURCE_DIR ?? '.';

function writ(args, options = {}, program = BIN) {
  const run = spawnSync(program, args, { encoding: 'utf8', ...options });
  return { code: run.status, out: run.stdout, err: run.stderr };
}

test('writ without a command lists the commands and fails', () => {
  const run = writ([]);
  assert.equal(run.code, 2);
  assert.match(run.out, /^usage: writ COMMAND/);
  assert.match(run.out, /^ {2}help /m);
});

test('--help and help succeed with the same text', () => {
  assert.equal(writ(['--help']).code, 0);
  assert.equal(writ(['help']).out, writ(['--help']).out);
  assert.equal(writ(['help', 'help']).out, writ(['help', '--help']).out);
});

test('help as JSON is one JSON value with the same text', () => {
  assert.equal(JSON.parse(writ(['help', 'help', '--json']).out).help, writ(['help', 'help']).out);
  assert.equal(JSON.parse(writ(['--help', '--json']).out).help, writ(['--help']).out);
});

test('every command of the overview has a help text', () => {
  const names = [...writ(['--help']).out.matchAll(/^ {2}([a-z]+(?: [a-z]+)?)  +\S/gm)].map((m) => m[1]);
  assert.ok(names.length >= 1);
  for (const name of names) {
    const run = writ([...name.split(' '), '--help']);
    assert.equal(run.code, 0, name);
    assert.ok(run.out.startsWith(`usage: writ ${name} `), name);
    assert.match(run.out, /--json/, name);
    assert.equal(writ(['help', ...name.split(' ')]).out, run.out, name);
    for (const line of run.out.split('\n')) assert.ok(line.length < 80, `${name}: ${line}`);
  }
});

test('--version names the version, as text and as JSON', () => {
  const version = writ(['--version']).out.trim().replace(/^writ /, '');
  assert.match(version, /^\d+\.\d+\.\d+$/);
  assert.deepEqual(JSON.parse(writ(['--version', '--json']).out), { version });
});

const MISTAKES = [
  ['an unknown command', ['nonsense'], 'unknown command nonsense'],
  ['an unknown option', ['help', '--nonsense'], 'unknown option --nonsense'],
  ['a short option', ['help', '-x'], 'unknown option -x'],
  ['a flag with a value', ['help', '--manual=1'], '--manual takes no value'],
  ['a flag given twice', ['help', '--manual', '--manual'], '--manual is given twice'],
  ['too many operands', ['help', 'a', 'b', 'c'], 'one argument too many: c'],
  ['an operand that looks like an option', ['help', '--', '--manual'], 'unknown command'],
  ['an abbreviated option', ['help', '--man'], 'unknown option --man'],
];
for (const [what, args, text] of MISTAKES) {
  test(`${what} is refused and named`, () => {
    const run = writ(args);
    assert.equal(run.code, 2);
    assert.equal(run.out, '');
    assert.ok(run.err.includes(text), run.err);
  });
}

// Every command reports a fault of a file with its path.
const FILES = [
  ['json canon', (p) => [p]], ['json digest', (p) => [p]], ['explain', (p) => ['config/example.yaml', p]],
  ['explain', (p) => [p, '-']],
  ['policy test', (p) => [p]], ['policy replay', (p) => [p, p]],
  ['policy learn', (p) => [p, '--calls', '-']], ['policy learn', (p) => ['config/example.yaml', '--calls', p]],
  ['serve', (p) => [p]], ['ledger list', (p) => [p]], ['ledger verify', (p) => [p]],
  ['review list', (p) => [p]],
  ['timestamp query', (p) => [p]], ['keys list', (p) => ['--dir', p]],
  ['verify keys', (p) => ['--jwks', p, '--pin', p]],
  ['verify foreign', (p) => ['--profile', 'vaara-v0', '--keys', p, p]],
  ['verify receipt', (p) => ['--key', p, p]], ['crew vote', (p) => ['majority', p]], ['crew check', (p) => [p]],
  ['run', (p) => [p], `${BIN}-vectors`],
];
test('a faulty file is reported by its path, never by its content', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'writ-cli-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const secret = 'hunter2-hunter2';
  const path = join(dir, 'wrong');
  for (const text of ['', secret, `{"a":1,"a":"${secret}"}`, `\u0000${secret}\u001b[31m`]) {
    writeFileSync(path, text, { mode: 0o600 });
    for (const [command, args, program] of FILES) {
      const run = writ([...command.split(' '), ...args(path)], { cwd: SOURCE, input: '{}' }, program);
      const told = run.err + run.out;
      const what = `${program ?? 'writ'} ${command} of ${JSON.stringify(text)}: ${run.code} ${told}`;
      assert.ok(run.code === 3 || run.code === 1, what);
      assert.ok(told.includes(path), what);
      assert.ok(!told.includes('hunter2') && !/[\u0000-\u0009\u000b-\u001f]/.test(told), what);
    }
  }
});

test('a command that moved to another program is refused with that program\'s name', () => {
  const run = writ(['vectors', 'run', 'vectors']);
  assert.deepEqual([run.code, run.out, run.err],
    [2, '', 'writ: vectors is a command of another program: run writ-vectors\n']);
  const json = writ(['vectors', '--json']);
  assert.deepEqual(JSON.parse(json.err),
    { error: { code: 'invalid', text: 'vectors is a command of another program: run writ-vectors' } });
});

test('writ-vectors uses its own name in help, errors and manual', () => {
  const vectors = (...args) => writ(args, {}, `${BIN}-vectors`);
  assert.match(vectors('--version').out, /^writ-vectors \d/);
  assert.match(vectors('--help').out, /^usage: writ-vectors COMMAND/);
  assert.match(vectors('run', '--help').out, /^usage: writ-vectors run \[options\] DIR\|FILE\.\.\.\n/);
  assert.match(vectors('help', '--manual').out, /^\.TH WRIT-VECTORS 1 /m);
  assert.equal(vectors('vectors', 'run').err, 'writ-vectors: unknown command vectors\nTry: writ-vectors --help\n');
  assert.equal(vectors('run').err, 'writ-vectors run: DIR|FILE... is missing\nTry: writ-vectors run --help\n');
});

test('a mistake is reported as JSON with --json at any place of the line', () => {
  const run = writ(['help', '--nonsense', '--json']);
  assert.equal(run.code, 2);
  assert.deepEqual(JSON.parse(run.err), { error: { code: 'invalid', text: 'unknown option --nonsense' } });
});

test('a command that cannot write its output fails', () => {
  const full = openSync('/dev/full', 'w');
  const run = writ(['--help'], { stdio: ['ignore', full, 'pipe'] });
  closeSync(full);
  assert.equal(run.code, 4);
  assert.equal(spawnSync('sh', ['-c', 'exec "$0" --help >&-', BIN]).status, 4); // a closed descriptor is an error
  const folder = mkdtempSync(join(tmpdir(), 'writ-cli-'));
  const limited = spawnSync('sh', ['-c', 'ulimit -f 0; exec "$0" --help >"$1"', BIN, join(folder, 'out')],
    { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  assert.deepEqual([limited.status, limited.signal], [4, null]); // a limit of file sizes too, not a signal
  assert.match(limited.stderr, /standard output cannot be written/);
});
