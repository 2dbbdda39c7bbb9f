// Our own vectors are what their generator mints: nobody edits them by hand.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCE = process.env.WRIT_SOURCE_DIR ?? fileURLToPath(new URL('../..', import.meta.url));

test('vectors/digests and vectors/governance are minted again byte for byte', () => {
  const fresh = mkdtempSync(join(tmpdir(), 'writ-vectors-'));
  try {
    const run = spawnSync(
      process.execPath, [join(SOURCE, 'tests/support/mint-governance.mjs'), fresh],
      { encoding: 'utf8' });
    assert.equal(run.status, 0, run.stderr);
    for (const folder of ['digests', 'governance']) {
      const kept = readdirSync(join(SOURCE, 'vectors', folder)).filter((f) => f.endsWith('.json'));
      assert.deepEqual(readdirSync(join(fresh, folder)).sort(), kept.sort());
      for (const file of kept) {
        assert.ok(
          readFileSync(join(fresh, folder, file))
            .equals(readFileSync(join(SOURCE, 'vectors', folder, file))),
          `${folder}/${file} is not what mint-governance.mjs mints`);
      }
    }
  } finally {
    rmSync(fresh, { recursive: true });
  }
});
