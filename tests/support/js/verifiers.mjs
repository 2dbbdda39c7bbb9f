// verifiers.mjs - the three verifiers of evidence, side by side: writ, and two that share no code with it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SOURCE, vectors, writ } from './gateway.mjs';
import { verdict, vkey } from '../../conformance/verify.mjs';

export const NODE_VERIFIER = join(SOURCE, 'tests/conformance/verify.mjs');
export const PYTHON_VERIFIER = join(SOURCE, 'tests/conformance/verify.py');
const python = spawnSync('python3', ['-c', 'import hashlib, json']).status === 0;

const first = (text) => text.split('\n')[0];
const run = (program, ...args) => {
  const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  assert.equal(stderr, '');
  return stdout;
};

/** What each of them says of a receipt or a bundle: the word on its first line. */
export const verdicts = (what, file, keys, ...options) => ({
  writ: first(writ(['verify', what, file, '--key', keys, ...options]).out),
  node: first(run(process.execPath, NODE_VERIFIER, what, file, keys, ...options)),
  python: python ? first(run('python3', PYTHON_VERIFIER, what, file, keys, ...options)) : undefined,
});
/** What they say when all say the same. */
export const all = (reason) => ({ writ: reason, node: reason, python: python ? reason : undefined });

const AT_ONCE = 4000; // bundles in one set

function agree(set, cases) {
  writeFileSync(set, JSON.stringify({ format: 'writ-bundles/1', cases }));
  const told = vectors(['run', set]);
  assert.equal(told.code, 0, told.out.slice(0, 4000));
  if (python) assert.match(run('python3', PYTHON_VERIFIER, 'vectors', set),
    new RegExp(`^${cases.length} passed, 0 failed\n$`));
}

/** Whether what node says of bundles is what writ and Python say, and how often each reason is. keys: vkeys. files:
 * {id: bytes}. */
export function agreed(keys, files) {
  const folder = mkdtempSync(join(tmpdir(), 'writ-verifiers-')), reasons = {}, ids = Object.keys(files);
  const trust = { keys: keys.map(vkey), witnesses: [], quorum: 0 };
  const caseOf = (id) =>
    ({ id, bundle_base64: files[id].toString('base64'), keys, expect: verdict('bundle', [files[id]], trust) });
  try {
    for (let at = 0; at < ids.length; at += AT_ONCE) {
      const cases = ids.slice(at, at + AT_ONCE).map(caseOf);
      for (const { expect: { reason } } of cases) reasons[reason] = (reasons[reason] ?? 0) + 1;
      agree(join(folder, 'set.json'), cases);
    }
    return reasons;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
