// The worked examples of CONTRIBUTING.md. Each that is shown as a difference is made in a copy of the tree; the layers
// that it touches and the target of its comment (<!-- example: TARGET -->) are built by the commands of this build,
// with the copy in the place of the source; and the target, a unit test, passes, or, the program, has the new command.
// The tables of the others name places that are there.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { exec, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync,
  writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const SOURCE = resolve(process.env.WRIT_SOURCE_DIR ?? process.cwd());
const BUILD = resolve(process.env.WRIT_BUILD_DIR ?? 'build/dev');
const PAGE = readFileSync(join(SOURCE, 'CONTRIBUTING.md'), 'utf8');
const COPIED = ['core', 'crew', 'policy', 'gateway', 'cli', 'include', 'docs', 'tests/unit', 'tests/support'];
const WORKERS = 2;
const run = promisify(exec);

/** The examples: { title, target, files: [{ path, hunks: [lines] }] }. */
function examples() {
  return [...PAGE.matchAll(/^### (.*)\n((?:(?!^### )[\s\S])*?)^<!-- example: (\S+) -->$/gm)].map(
      ([, title, text, target]) => {
    const files = [];
    for (const line of text.match(/^```diff\n([\s\S]*?)^```$/m)[1].trimEnd().split('\n')) {
      if (line.startsWith('--- ')) files.push({ path: find(line.slice(4)), hunks: [] });
      else if (line === '@@') files.at(-1).hunks.push([]);
      else files.at(-1).hunks.at(-1).push(line);
    }
    return { title, target, files };
  });
}

/** A file of the page: at its path or, when it has moved within its layer, where its name is. */
function find(path) {
  if (existsSync(join(SOURCE, path))) return path;
  const top = path.split('/')[0];
  const found = existsSync(join(SOURCE, top)) ? readdirSync(join(SOURCE, top), { recursive: true })
    .filter((name) => basename(name) === basename(path)) : [];
  assert.equal(found.length, 1, `${path}: found ${found.join(', ') || 'nowhere'}`);
  return join(top, found[0]);
}

/** The text with one hunk applied: its lines without `+` are there, once. */
function applied(text, hunk, where) {
  const side = (without) => hunk.filter((line) => line[0] !== without).map((line) => `${line.slice(1)}\n`).join('');
  const [before, after] = [side('+'), side('-')];
  assert.equal(text.split(before).length - 1, 1, `${where}: these lines are not there once:\n${before}`);
  return text.replace(before, () => after);
}

/** The layer that a file is of: core/NAME and gateway/NAME, else its first folder; a test is its own. */
function layerOf(path) {
  const parts = path.split('/');
  if (parts[0] === 'tests') return path;
  return parts.slice(0, ['core', 'gateway'].includes(parts[0]) ? 2 : 1).join('/');
}

/** The commands that make `target` here: { text, output, source, inputs }. */
function commandsOf(target) {
  const asked = spawnSync('ninja', ['-C', BUILD, '-t', 'commands', target], { encoding: 'utf8', maxBuffer: 1 << 28 });
  assert.equal(asked.status, 0, asked.stderr);
  return asked.stdout.split('\n').filter((text) => text !== '').map((text) => ({
    text,
    source: text.match(/ -c (\S+\.c)$/)?.[1],
    output: text.match(/ -o (\S+)/)?.[1] ?? text.match(/\bar q\w* (\S+)/)?.[1],
    inputs: text.match(/\S+\.(?:o|a)\b/g) ?? [],
  }));
}

/** Of these objects of the build, those that one of the files of the source is compiled into. */
function dependOn(objects, files) {
  const asked = spawnSync('ninja', ['-C', BUILD, '-t', 'deps', ...objects], { encoding: 'utf8', maxBuffer: 1 << 28 });
  assert.equal(asked.status, 0, asked.stderr);
  const paths = new Set(files.map((file) => join(SOURCE, file)));
  return new Set(asked.stdout.split('\n\n')
    .filter((text) => text.split('\n').slice(1).some((line) => paths.has(resolve(BUILD, line.trim()))))
    .map((text) => text.trim().split(': ')[0]));
}

/** Builds `target` in `out`: what depends on `changed`, in the layers of `changed` and in its own files, out of `tree`.
 * All else is that of this build. */
async function build(target, changed, tree, out) {
  const layers = new Set(changed.map(layerOf));
  const all = commandsOf(target).filter(({ output }) => output !== undefined);
  const near = all.filter(({ source, output }) => source?.startsWith(`${SOURCE}/`) &&
    (output.includes(`/${target}.dir/`) || layers.has(layerOf(source.slice(SOURCE.length + 1)))));
  const made = dependOn(near.map(({ output }) => output), changed);
  const commands = all.filter(({ source, output, inputs }) => {
    if (source === undefined && inputs.some((name) => made.has(name))) made.add(output);
    return made.has(output);
  });
  for (const { inputs, output } of commands) {
    for (const name of [output, ...inputs]) mkdirSync(dirname(resolve(out, name)), { recursive: true });
    for (const name of inputs) if (!made.has(name) && !name.startsWith('/') && !existsSync(join(out, name)))
      symlinkSync(join(BUILD, name), join(out, name));
  }
  // files made in the build, such as headers, stay; the source is the copy
  const moved = (text) => text.replaceAll(BUILD, '\0').replaceAll(`${SOURCE}/`, `${tree}/`)
    .replaceAll(`${SOURCE}\\"`, `${tree}\\"`)
    .replaceAll(new RegExp(`-I${SOURCE}(?=\\s)`, 'g'), `-I${tree}`).replaceAll('\0', BUILD);
  const compile = commands.filter(({ source }) => source !== undefined);
  await Promise.all(Array.from({ length: WORKERS }, async () => {
    for (let next = compile.pop(); next !== undefined; next = compile.pop()) await run(moved(next.text), { cwd: out });
  }));
  for (const { text, source } of commands) if (source === undefined) await run(moved(text), { cwd: out });
  const last = commands.at(-1)?.output;
  assert.ok(last !== undefined, `${target}: nothing of it is to be built`);
  return join(out, last);
}

for (const { title, target, files } of examples()) {
  test(title, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'writ-example-'));
    try {
      const [tree, out] = [join(folder, 'tree'), join(folder, 'out')];
      for (const name of COPIED)
        cpSync(join(SOURCE, name), join(tree, name),
          { recursive: true, filter: (path) => !path.includes('node_modules') });
      for (const { path, hunks } of files) {
        let text = readFileSync(join(tree, path), 'utf8');
        for (const hunk of hunks) text = applied(text, hunk, path);
        writeFileSync(join(tree, path), text);
      }
      const program = await build(target, files.map(({ path }) => path).filter((path) => /\.[ch]$/.test(path)), tree,
        out);
      if (target === 'writ') {
        const size = spawnSync(program, ['json', 'size'], { input: '{"b":1, "a":2}', encoding: 'utf8' });
        assert.deepEqual([size.stdout, size.status], ['13\n', 0], size.stderr);
      } else {
        const unit = spawnSync(program, [],
          { cwd: out, encoding: 'utf8', env: { ...process.env, CK_FORK: 'no', WRIT_SOURCE_DIR: tree } });
        assert.equal(unit.status, 0, unit.stdout + unit.stderr);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

test('the page runs one test and names existing targets',
    { skip: dirname(dirname(BUILD)) !== SOURCE && 'the build is elsewhere' }, () => {
  const [line] = PAGE.match(/^WRIT_SOURCE_DIR=.*\\\n.*$/m);
  const { NODE_TEST_CONTEXT, ...env } = process.env; // as from a shell
  const once = spawnSync('sh', ['-euc', line], { cwd: BUILD, encoding: 'utf8', env });
  assert.equal(once.status, 0, once.stdout + once.stderr);
  assert.match(once.stdout, /pass 1$/m);
  const targets = spawnSync('ninja', ['-C', BUILD, '-t', 'targets', 'all'],
    { encoding: 'utf8', maxBuffer: 1 << 28 }).stdout;
  for (const [, target] of PAGE.matchAll(/--target (\S+)/g))
    assert.match(targets, new RegExp(`^${target}: phony$`, 'm'));
  for (const [folder] of PAGE.matchAll(/tests\/fuzz\/corpus\/\w+/g))
    assert.ok(existsSync(join(SOURCE, folder)), folder);
});

test('the tables of worked examples name existing places', () => {
  const rows = [...PAGE.matchAll(/^\| `([^`]+)` \| `([^`]+)` \|/gm)];
  assert.ok(rows.length > 10);
  for (const [, path, what] of rows)
    assert.ok(readFileSync(join(SOURCE, find(path)), 'utf8').includes(what), `${path} has no ${what}`);
});

test('every worked example of the list exists', () => {
  const titles = [...PAGE.matchAll(/^### Add an? (.*)$/gm)].map(([, what]) => what);
  assert.deepEqual(titles.sort(),
    ['column of the ledger', 'command', 'engine', 'log event', 'method of MCP', 'op of a constraint', 'option',
      'reason', 'step']);
});
