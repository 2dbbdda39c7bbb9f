// Lists on the pages that repeat a table of the sources: each has every row, and no other.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SOURCE } from '../support/js/gateway.mjs';
import { rows } from '../support/js/tables.mjs';

const page = (name) => readFileSync(join(SOURCE, 'docs', name), 'utf8').replace(/\s+/g, ' ');
const REVIEW = 'core/evidence/record/review.tbl.h', MEMBER = 'core/evidence/record/member.tbl.h';

/** The lists "`a`, `b` or `c`" of a text, each as its sorted words. */
const lists = (text) => [...text.matchAll(/(?:`[a-z]+`, )*`[a-z]+` or `[a-z]+`/g)]
  .map(([list]) => [...list.matchAll(/`([a-z]+)`/g)].map((m) => m[1]).sort().join(' '));

test('docs/evidence.md has the states, events and votes of a review', () => {
  const found = lists(page('evidence.md'));
  for (const macro of ['WRIT_REVIEW_STATES', 'WRIT_REVIEW_EVENTS', 'WRIT_REVIEW_VOTES']) {
    assert.ok(found.includes(rows(REVIEW, macro).sort().join(' ')), macro);
  }
});

test('docs/crew.md has the ways to vote', () => {
  const text = readFileSync(join(SOURCE, 'docs/crew.md'), 'utf8').split('\n## Voting\n')[1].split('\n\n')[0];
  // the head is a row too
  const modes = [...text.matchAll(/^\| (?:name of a plug-in \|.*?)?`([a-z_]+:?)/gm)].map((m) => m[1]).slice(1);
  assert.deepEqual(modes.sort(), rows('crew/voting.tbl.h', 'WRIT_VOTING_MODES').sort());
});

test('docs/monitoring.md has the verdicts and the outcomes', () => {
  const row = (member) => new RegExp(`\\| \`${member}\` \\| ([^|]*)`).exec(page('monitoring.md'))[1];
  const verdicts = rows(MEMBER, 'WRIT_DECISION_ROUTES').filter((verdict) => verdict !== 'revise');
  for (const word of verdicts) assert.ok(row('verdict').includes(`\`${word}\``), word);
  for (const word of rows(MEMBER, 'WRIT_OUTCOME_KINDS')) assert.ok(row('outcome').includes(`\`${word}\``), word);
});
