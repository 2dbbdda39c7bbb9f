// Gateways on one ledger under seeded faults: nothing runs twice, without its decision, or over its budget, and no
// answer to a client is lost. Small in the ordinary run; by hand, as long as wanted, each 50 (100) on a new ledger:
//     WRIT_FLEET=10000 WRIT_FLEET_STORE=sqlite tests/support/node --test tests/fault/fleet/fleet.test.mjs
// WRIT_FLEET_STORE is sqlite (one gateway) or postgresql (three); WRIT_FLEET_SEED draws other windows; WRIT_FLEET_JOBS
// ledgers are run at once; WRIT_FLEET_KINDS (kill,wait,...) leaves out all other faults. A violation names what to set
// to do the same again. WRIT_FLEET_VERBOSE=1 prints each window with its faults, and each ledger's figures.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { insideOwnMounts, ownMounts } from '../../support/js/volume.mjs';

const RUN = fileURLToPath(new URL('run.mjs', import.meta.url));
const store = process.env.WRIT_FLEET_STORE ?? 'sqlite';
const wanted = Number(process.env.WRIT_FLEET ?? { sqlite: 200, postgresql: 30 }[store]);
const jobs = Number(process.env.WRIT_FLEET_JOBS ?? { sqlite: 1, postgresql: 3 }[store]);
const WINDOWS = Math.min(Math.ceil(wanted / jobs), { sqlite: 50, postgresql: 100 }[store]); // of one ledger
const seed = process.env.WRIT_FLEET_SEED ?? 'writ';
const { WRIT_FLEET_KINDS: kinds } = process.env;

/** What the run of that seed found. */
async function runOf(own) {
  const child = fork(RUN, [JSON.stringify({ store, seed: own, windows: WINDOWS, kinds: kinds?.split(',') })],
    { execArgv: [] });
  const [found] = await Promise.race([once(child, 'message'),
    once(child, 'exit').then(([code, signal]) => [{ violations: [`the run ended: ${code ?? signal}`] }])]);
  const again = `WRIT_FLEET_STORE=${store} WRIT_FLEET_SEED=${own} WRIT_FLEET=${WINDOWS} WRIT_FLEET_JOBS=1` +
    (kinds === undefined ? '' : ` WRIT_FLEET_KINDS=${kinds}`);
  if (process.env.WRIT_FLEET_VERBOSE) console.error(`ledger ${own}: ${JSON.stringify(found)}`);
  return { ...found, violations: found.violations.map((violation) => ({ again, violation })) };
}

const add = (sums, more = {}) => { for (const [of, n] of Object.entries(more)) sums[of] = (sums[of] ?? 0) + n; };

async function runs(t) {
  const struck = {}, finals = {}, sums = {}, violations = [], from = Date.now();
  let ledgers = 0;
  await Promise.all(Array.from({ length: jobs }, async () => {
    while (ledgers * WINDOWS < wanted) {
      const n = ledgers++;
      const found = await runOf(n === 0 ? seed : `${seed}+${n}`);
      violations.push(...found.violations);
      add(struck, found.struck);
      add(finals, found.finals);
      add(sums, { missed: found.missed ?? 0, effects: found.effects ?? 0 });
    }
  }));
  t.diagnostic(`${ledgers * WINDOWS} windows on ${ledgers} ledgers in ${Math.round((Date.now() - from) / 1000)} s; ` +
    `faults ${JSON.stringify(struck)}, ${sums.missed} without their event; calls ${JSON.stringify(finals)}; ` +
    `${sums.effects} effects`);
  assert.deepEqual(violations, []);
  // a run whose faults never strike, or whose calls never run, shows nothing
  const strikes = Object.values(struck).reduce((sum, n) => sum + n, 0);
  assert.ok(strikes > 4 * sums.missed, `${strikes} faults struck, ${sums.missed} did not`);
  assert.ok(finals.ran > finals.unknown && finals.refused > 0 && sums.effects > 0, JSON.stringify(finals));
}

test(`${wanted} windows of faults on ${store}`, { timeout: 24 * 3600_000 }, async (t) => {
  // a database that is full needs a volume of its own
  const inside = store === 'postgresql' && !insideOwnMounts
    ? ownMounts(fileURLToPath(import.meta.url), { users: true }) : undefined;
  if (inside === undefined) return runs(t);
  t.diagnostic(inside.stdout);
  assert.equal(inside.status, 0, inside.stderr);
});
