// The examples of docs/*.md and README.md: what a page shows is what happens.
//
// A comment before a fenced block says what to do with it:
//   <!-- file: NAME -->   put the block into the file NAME
//   <!-- run -->          run it with sh; it must end with 0, or with N of <!-- run N -->
//   <!-- output -->       what the run before printed; a `...` stands for anything within a line
// The blocks of a page share one new folder, in which `writ`, `node` and the npm packages of the
// tests are at hand. Blocks without a comment are not looked at.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const SOURCE = process.env.WRIT_SOURCE_DIR ?? process.cwd();
const BIN = resolve(process.env.WRIT_BIN ?? 'build/dev/writ');
const NPM = join(SOURCE, 'tests/support/npm/node_modules');

// [{ line, what, arg, text }] of one page.
function blocks(text) {
  const found = [];
  const pattern = /^<!-- (file|run|output)(?:: ?| )?([^\n]*?) ?-->\n+```[^\n]*\n([\s\S]*?)^```$/gm;
  for (const match of text.matchAll(pattern)) {
    const line = text.slice(0, match.index).split('\n').length;
    found.push({ line, what: match[1], arg: match[2], text: match[3] });
  }
  const marks = [...text.matchAll(/^<!-- (file|run|output)\b/gm)].length;
  assert.equal(found.length, marks, 'a comment has no fenced block behind it');
  return found;
}

function matches(shown, printed) {
  const parts = shown.split('...').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^\\n]*')}$`).test(printed);
}

function play(page, folder) {
  const path = `${join(folder, '.bin')}:${dirname(process.execPath)}:${process.env.PATH}`;
  mkdirSync(join(folder, '.bin'));
  symlinkSync(BIN, join(folder, '.bin/writ'));
  symlinkSync(NPM, join(folder, 'node_modules'));
  let printed = null;
  for (const { line, what, arg, text } of page) {
    if (what === 'file') {
      writeFileSync(join(folder, arg), text);
    } else if (what === 'run') {
      const run = spawnSync('sh', ['-eu', '-c', text],
        { cwd: folder, encoding: 'utf8', env: { ...process.env, PATH: path } });
      assert.equal(run.status, Number(arg || 0), `line ${line}: ${run.stdout}${run.stderr}`);
      printed = run.stdout;
    } else {
      assert.ok(matches(text, printed), `line ${line}: printed\n${printed}`);
    }
  }
}

const pages = ['README.md', ...readdirSync(join(SOURCE, 'docs')).filter((n) => n.endsWith('.md')).map((n) => `docs/${n}`)];
let examples = 0;
for (const name of pages) {
  const page = blocks(readFileSync(join(SOURCE, name), 'utf8'));
  examples += page.filter((block) => block.what === 'run').length;
  if (page.length > 0) {
    test(name, () => {
      const folder = mkdtempSync(join(tmpdir(), 'writ-docs-'));
      try {
        play(page, folder);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  }
}

test('there are examples to run', () => assert.ok(examples > 0));
