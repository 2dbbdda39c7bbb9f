// A gateway under everything at once: every count agrees on all sides, nothing runs twice, and memory stays flat. Two
// minutes in the ordinary run; by hand as long as wanted:
//     WRIT_MIXED_SECONDS=7200 tests/support/node --test tests/fault/mixed/mixed.test.mjs
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runLoad } from './load.mjs';
import { tally } from './tally.mjs';

const { WRIT_MIXED_SECONDS: seconds = '120', WRIT_MIXED_CONNECTIONS: connections = '2000',
  WRIT_MIXED_SESSIONS: sessions = '10000', WRIT_MIXED_PAUSE_MS: pause = '4000' } = process.env;
const options = { seconds: Number(seconds), connections: Number(connections), sessions: Number(sessions),
  pauseMs: Number(pause) };

test(`${sessions} sessions on ${connections} connections for ${seconds} s`, { timeout: 24 * 3600_000 }, async (t) => {
  const { problems, figures } = await tally(await runLoad(t, options), options);
  t.diagnostic(JSON.stringify(figures));
  assert.deepEqual(problems, []);
  // a run in which something never happened shows nothing about it
  for (const deed of ['pay ran', 'hold ran', 'stream ran', 'job ran', 'hook ran', 'pay duplicate_outcome']) {
    assert.ok(figures.finals[deed] > 0, `${deed}: ${JSON.stringify(figures.finals)}`);
  }
  assert.ok(figures.reloads > 0 && figures.deaths > 0);
});
