// aged.mjs - a gateway whose ledger has a week behind it: runs of a day or two, all sealed, as
// tests/integration/ledger_sample.c makes them, on either store.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepare, writ, writeFileSync } from './gateway.mjs';
import { SAMPLE } from './ledger.mjs';
import { editLedger, ledgerOf, POSTGRES } from './store.mjs';

export const DAY_MS = 86_400_000;
/** The time so many days ago, as commands take it. */
export const daysAgo = (days) => new Date(Date.now() - days * DAY_MS).toISOString();

/** It is prepared, and not started. `gw.archive(before, ...options)` runs the command into the folder `log`. On
 * PostgreSQL options.partition is the number of records in one, and options.role the role of its gateways. */
export function agedGateway(t, calls, config = {}, options = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'writ-aged-'));
  const made = POSTGRES ? join(dir, 'sample.db') : ledgerOf(dir);
  const run = spawnSync(SAMPLE, [made, join(dir, 'keys'), 'days', String(calls)], { encoding: 'utf8' });
  assert.equal(run.status, 0, run.stdout);
  assert.equal(writ(['keys', 'new', '--dir', join(dir, 'keys')]).code, 0);
  if (POSTGRES) {
    if (options.partition !== undefined) {
      assert.equal(writ(['ledger', 'init', ledgerOf(dir)]).code, 0);
      if (options.role !== undefined) editLedger(ledgerOf(dir), `CREATE ROLE ${options.role}`);
      editLedger(ledgerOf(dir), 'DROP TABLE record_0, body_0; DELETE FROM part WHERE leaf >= 0; '
        + `UPDATE part SET wide = ${options.partition}; SELECT make_room()`);
    }
    const role = options.role === undefined ? [] : ['--role', options.role];
    const copied = writ(['ledger', 'copy', made, ledgerOf(dir), '--keys', join(dir, 'keys'), ...role]);
    assert.equal(copied.code, 0, copied.err);
    rmSync(made);
  }
  const gw = prepare(t, config, { ...options, dir });
  const keys = ['--keys', gw.path('keys')];
  writeFileSync(gw.path('trusted'), writ(['ledger', 'key', gw.ledgerFile, ...keys]).out);
  gw.trusted = gw.path('trusted');
  gw.archiveDir = gw.path('log');
  gw.archiveArgs = (before, source) => ['ledger', 'archive', gw.ledgerFile, gw.archiveDir, ...keys,
    '--before', before, ...source];
  gw.stopped = ['--config', gw.configFile];
  gw.archive = (before, source = gw.stopped) => {
    const done = writ([...gw.archiveArgs(before, source), '--json'], { cwd: dir });
    assert.equal(done.code, 0, done.err + done.out);
    return JSON.parse(done.out);
  };
  gw.verified = (...more) => {
    const done = writ(['ledger', 'verify', gw.ledgerFile, ...keys, ...more, '--json']);
    assert.ok(done.code <= 1, done.err);
    return JSON.parse(done.out);
  };
  gw.sound = (...more) => {
    const report = gw.verified(...more);
    assert.deepEqual(report.problems, []);
    return report;
  };
  gw.joined = ['--archive', gw.archiveDir];
  gw.first = () => Number(gw.rows('SELECT min(leaf) AS first FROM record')[0].first);
  return gw;
}
