// ledger.mjs - a ledger with calls in it, for the tests of one file: tests/integration/ledger_sample.c says which.
import { after } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { BIN, writ } from './gateway.mjs';

export const SAMPLE = join(dirname(resolve(BIN)), 'tests/ledger_sample');

/** Makes it, in a folder that is gone after the last test: the ledger's path, its keys, and the file with the key that
 * an auditor trusts. */
export function sampleLedger() {
  const folder = mkdtempSync(join(tmpdir(), 'writ-ledger-'));
  after(() => rmSync(folder, { recursive: true }));
  const [path, keys, trusted] = ['ledger.db', 'keys', 'trusted'].map((name) => join(folder, name));
  assert.equal(spawnSync(SAMPLE, [path, keys]).status, 0);
  writeFileSync(trusted, writ(['ledger', 'key', path, '--keys', keys]).out);
  return { folder, path, keys, trusted };
}

/** All facts in the log of records, as they are recorded. */
export const allFacts = (gw) => gw.rows('SELECT bytes FROM record JOIN body USING (leaf) WHERE kind = 5 ORDER BY leaf')
  .map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString()));

/** The data of the facts of that kind. */
export const facts = (gw, event) => allFacts(gw).filter((fact) => fact.event === event).map((fact) => fact.data);
