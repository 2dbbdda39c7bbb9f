// Our own vectors are what their generator mints: nobody edits them by hand.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCE = process.env.WRIT_SOURCE_DIR ?? fileURLToPath(new URL('../..', import.meta.url));

const mint = (script, ...args) => {
  const run = spawnSync(process.execPath, [join(SOURCE, 'tests/support', script), ...args], { encoding: 'utf8' });
  assert.equal(run.status, 0, run.stderr);
};

function mintedAgain(script, folders) {
  const fresh = mkdtempSync(join(tmpdir(), 'writ-vectors-'));
  try {
    mint(script, fresh);
    for (const folder of folders) {
      const kept = readdirSync(join(SOURCE, 'vectors', folder)).filter((f) => f.endsWith('.json'));
      assert.deepEqual(readdirSync(join(fresh, folder)).sort(), kept.sort());
      for (const file of kept) {
        assert.ok(
          readFileSync(join(fresh, folder, file))
            .equals(readFileSync(join(SOURCE, 'vectors', folder, file))),
          `${folder}/${file} is not what ${script} mints`);
      }
    }
  } finally {
    rmSync(fresh, { recursive: true });
  }
}

test('vectors/digests and vectors/governance are minted again byte for byte', () =>
  mintedAgain('mint-governance.mjs', ['digests', 'governance']));
test('vectors/crew is minted again byte for byte', () => mintedAgain('mint-crew.mjs', ['crew']));

// All scenarios of a folder come out as they must.
function pass(folder, least) {
  const run = spawnSync(process.env.WRIT_BIN, ['crew', 'vectors', folder], { encoding: 'utf8', maxBuffer: 1 << 26 });
  assert.equal(run.status, 0, run.stdout);
  const [, passed] = /(\d+) passed, 0 failed\n$/.exec(run.stdout);
  assert.ok(Number(passed) >= least, run.stdout);
}

test('the crew library does what the model does, scenario by scenario', () => pass(join(SOURCE, 'vectors/crew'), 50));

test('the crew library does what the model does, on random walks', () => {
  const fresh = mkdtempSync(join(tmpdir(), 'writ-walks-'));
  try {
    mint('mint-crew.mjs', fresh, 'walks', '101', '150');
    pass(join(fresh, 'crew'), 50);
  } finally {
    rmSync(fresh, { recursive: true });
  }
});

test('resuming after every step gives the log of going straight on, on random walks', () => {
  const fresh = mkdtempSync(join(tmpdir(), 'writ-walks-'));
  try {
    mint('mint-crew.mjs', fresh, 'resumed', '201', '230');
    pass(join(fresh, 'crew'), 60);
    for (let seed = 201; seed <= 230; seed++) {
      const [straight, resumed] = ['straight', 'resumed'].map((how) => JSON.parse(readFileSync(join(fresh, 'crew', `walk-${seed}-${how}.json`), 'utf8')));
      const again = resumed.steps.flatMap(({ op }, at) => (op === 'resume' ? [] : resumed.expect.steps[at].events ?? []));
      assert.deepEqual(again, straight.expect.log, `seed ${seed}`);
    }
  } finally {
    rmSync(fresh, { recursive: true });
  }
});

// The model is no copy of the library: it was held against what the public library does.
test('the model gives the golden scenarios but for the deviations', async () => {
  const { canonical, expectation } = await import('../support/crew-model.mjs');
  const folder = join(SOURCE, 'vectors/crew-golden');
  const differ = readdirSync(folder).filter((file) => file.endsWith('.json')).filter((file) => {
    const scenario = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    return canonical(expectation(scenario)) !== canonical(scenario.expect);
  });
  assert.deepEqual(differ, ['fixer-nested-quirk-1.json', 'fixer-nested-twice-1.json', 'nested-missing-registry-1.json',
    'timeout-nested-quirk-1.json']);
});
