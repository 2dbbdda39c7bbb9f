// plugins.mjs - voting engines built as their authors build them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

const source = process.env.WRIT_SOURCE_DIR;

function build(folder, name, args) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const so = join(folder, `${name}.so`);
  const made = spawnSync('cc', ['-shared', '-fPIC', `-I${join(source, 'include')}`, '-o', so, ...args],
    { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  chmodSync(so, 0o600);
  return so;
}

/** An engine of hostile_engine.inc, as DEED.so. `file`: what it tries to write, or waits for. */
export const hostile = (folder, deed, file) => build(folder, deed, ['-x', 'c', `-DDEED=${deed}`, '-D_GNU_SOURCE',
  `-DFILE_TO_WRITE="${file}"`, join(source, 'tests/support/crew/hostile_engine.inc')]);

/** The example of a plug-in, as NAME.so. */
export const rankedPairs = (folder, name = 'ranked-pairs') =>
  build(folder, name, [join(source, 'examples/ranked-pairs/ranked_pairs.c')]);
