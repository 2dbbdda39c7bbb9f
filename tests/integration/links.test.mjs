// The links of the pages: each leads to a file and a heading that are there, and each page of docs/ links the first
// term that it uses to its definition in docs/concepts.md.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

const SOURCE = process.env.WRIT_SOURCE_DIR ?? process.cwd();
const source = (name) => readFileSync(join(SOURCE, name), 'utf8');
const CONCEPTS = 'docs/concepts.md';
const TERMS = ['decision', 'target state', 'claim', 'credential', 'boundary', 'outcome', 'seal', 'review', 'receipt',
  'checkpoint'];

const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md',
  ...readdirSync(join(SOURCE, 'docs')).map((name) => `docs/${name}`)]
  .filter((name) => name.endsWith('.md') && existsSync(join(SOURCE, name)));

/** The page without its fenced blocks, code and comments: what remains is prose, with its lines where they were. */
function prose(text) {
  const blank = (match) => match.replace(/[^\n]/g, ' ');
  return text.replace(/^```[\s\S]*?^```$/gm, blank).replace(/<!--[\s\S]*?-->/g, blank).replace(/`[^`]*`/g, blank);
}

/** The anchor of a heading, as the common viewers make it. */
function anchor(heading) {
  return heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').trim().replace(/\s/g, '-');
}

function anchors(name) {
  const text = source(name).replace(/^```[\s\S]*?^```$/gm, '');
  return new Set([...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchor(heading)));
}

const lineOf = (text, index) => text.slice(0, index).split('\n').length;

for (const page of PAGES) {
  test(`${page}: every link has a target`, () => {
    const text = prose(source(page));
    for (const { 1: target, index } of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [path, part] = target.split('#');
      const file = path === '' ? page : join(dirname(page), path);
      const where = `${page}:${lineOf(text, index)}: ${target}`;
      assert.ok(existsSync(join(SOURCE, file)), `${where}: there is no such file`);
      if (part !== undefined) assert.ok(anchors(file).has(part), `${where}: there is no such heading`);
    }
  });
}

test('docs/concepts.md defines each term once', () => {
  const headings = [...source(CONCEPTS).matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
  assert.deepEqual(headings.filter((heading) => heading !== 'The parties').sort(), [...TERMS].sort());
});

for (const page of PAGES.filter((name) => name.startsWith('docs/') && name !== CONCEPTS)) {
  test(`${page}: the first use of a term links to docs/concepts.md`, () => {
    // headings, pictures and names of files cannot be links
    const text = prose(source(page)).replace(/^#.*$|!\[[^\]]*\]\([^)]*\)|\b[\w-]+\.md\b/gm,
      (match) => ' '.repeat(match.length));
    const plural = (term) => (term === 'boundary' ? 'boundar(?:y|ies)' : `${term}s?`);
    const first = text.match(new RegExp(`(?<!-)\\b(${TERMS.map(plural).join('|')})\\b(?!-)`, 'i'));
    if (first === null) return;
    const term = first[1].toLowerCase().replace(/ies$/, 'y').replace(/s$/, '').replace(' ', '-');
    const behind = source(page).slice(first.index + first[1].length);
    assert.ok(source(page)[first.index - 1] === '[' && behind.startsWith(`](concepts.md#${term})`),
      `${page}:${lineOf(text, first.index)}: write [${first[1]}](concepts.md#${term}), where this page uses the ` +
        `first of its terms`);
  });
}
