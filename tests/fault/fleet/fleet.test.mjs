// Gateways on one ledger under seeded faults: nothing runs twice, without its decision, or over its budget, and no
// answer to a client is lost. Small in the ordinary run; by hand, as long as wanted, each 20 (100) on a new ledger:
//     WRIT_FLEET=10000 WRIT_FLEET_STORE=sqlite tests/support/node --test tests/fault/fleet/fleet.test.mjs
// WRIT_FLEET_STORE is sqlite (one gateway) or postgresql (three); WRIT_FLEET_SEED draws other windows. A violation
// names what to set to do the same again. WRIT_FLEET_VERBOSE=1 prints each window with its faults.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { check } from './checker.mjs';
import { runFleet } from './fleet.mjs';

const store = process.env.WRIT_FLEET_STORE ?? 'sqlite';
const wanted = Number(process.env.WRIT_FLEET ?? { sqlite: 200, postgresql: 15 }[store]);
const WINDOWS = Math.min(wanted, { sqlite: 20, postgresql: 100 }[store]); // of one ledger
const seed = process.env.WRIT_FLEET_SEED ?? 'writ';

test(`${wanted} windows of faults on ${store}`, { timeout: 24 * 3600_000 }, async (t) => {
  const all = {}, finals = {}, from = Date.now();
  let missed = 0, effects = 0, windows = 0;
  for (; windows < wanted; windows += WINDOWS) {
    const own = windows === 0 ? seed : `${seed}+${windows / WINDOWS}`;
    const again = `WRIT_FLEET_STORE=${store} WRIT_FLEET_SEED=${own} WRIT_FLEET=${WINDOWS}`;
    const run = await runFleet({ store, seed: own, windows: WINDOWS }).catch((error) => {
      throw new Error(`the run did not end; again: ${again}`, { cause: error });
    });
    assert.deepEqual(check(run.evidence), [], again);
    for (const [kind, n] of Object.entries(run.struck)) all[kind] = (all[kind] ?? 0) + n;
    for (const { final } of run.evidence.calls) finals[final] = (finals[final] ?? 0) + 1;
    missed += run.missed;
    effects += run.evidence.effects.length;
  }
  const struck = Object.values(all).reduce((sum, n) => sum + n, 0);
  t.diagnostic(`${windows} windows in ${Math.round((Date.now() - from) / 1000)} s; faults ${JSON.stringify(all)}, ` +
    `${missed} without their event; calls ${JSON.stringify(finals)}; ${effects} effects`);
  // a run whose faults never strike, or whose calls never run, shows nothing
  assert.ok(struck > 4 * missed, `${struck} faults struck, ${missed} did not`);
  assert.ok(finals.ran > finals.unknown && finals.refused > 0 && effects > 0, JSON.stringify(finals));
});
