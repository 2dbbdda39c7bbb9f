// fleet.mjs - several gateways that share one ledger on PostgreSQL.
import assert from 'node:assert/strict';
import './on-postgres.mjs';
import { startGateway, writ } from './gateway.mjs';

const PATIENT = '60s'; // a lease that outlasts a slow machine

/** Gateways `a`, `b`, ... with the same policy, keys and ledger. */
export async function startFleet(t, config, { names = ['a', 'b'], lease = PATIENT, ledger, prepare } = {}) {
  const gateways = [];
  for (const name of names) {
    const [first] = gateways;
    gateways.push(await startGateway(t, { ...config, ...(first && { keys: first.path('keys') }),
      ledger: { gateway: name, lease, ...config.ledger } }, { ledger: first?.ledgerFile ?? ledger,
      prepare: first ? undefined : prepare }));
  }
  return gateways;
}

/** The same caller, whose next requests go to that gateway. */
export function at(caller, gateway) {
  caller.gateway = gateway;
  return caller;
}

/** The log of all gateways, with their rows beside it, is whole. */
export function sound(gateway) {
  const run = writ(['ledger', 'verify', gateway.ledgerFile, '--keys', gateway.config.keys, '--json'],
    { cwd: gateway.dir });
  assert.equal(run.code, 0, run.out + run.err);
  const decisions = gateway.decisions();
  const runs = Map.groupBy(decisions, (d) => `${d.tenant} ${d.boundary_id}`);
  for (const [name, all] of runs)
    assert.deepEqual(all.map((d) => d.seq), all.map((_, i) => i), `the numbers of ${name} are without gaps`);
  return JSON.parse(run.out);
}
