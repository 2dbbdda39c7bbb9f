// kept.mjs - a ledger whose calls a test has written down, with kept arguments (tests/integration/kept_sample.c).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import { BIN } from './gateway.mjs';

const SAMPLE = join(dirname(resolve(BIN)), 'tests/kept_sample');
export const DAY_US = 86_400_000_000;
export const HOUR_US = DAY_US / 24;
export const BEGIN_US = (Math.floor(Date.now() / 86_400_000) - 2) * DAY_US; // two midnights ago

/** The canonical form, for values without odd numbers. */
const canonical = (value) => value === null || typeof value !== 'object' ? JSON.stringify(value)
  : Array.isArray(value) ? `[${value.map(canonical).join(',')}]`
  : `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`;
export const digest = (value) => `sha256:${createHash('sha256').update(canonical(value)).digest('hex')}`;

let made = 0;

/** One call as it is recorded. `more.writ` has members of extensions.writ, `more.decision` those of the record. */
export function call(args, more = {}) {
  const { agent = 'dev', tool = 'up/pay', verdict = 'allow', writ: own = {}, keep_us = 30 * DAY_US } = more;
  const [upstream, name] = tool.split('/');
  const id = more.id ?? `d-${String(++made).padStart(6, '0')}`;
  return {
    at_us: BEGIN_US + (more.at_us ?? made * 1_000_000), keep_us, redacted: more.kept !== undefined,
    kept: keep_us === 0 ? null : canonical(more.kept ?? args), outcome: more.outcome ?? 'executed',
    decision: {
      decision_id: id, decision: verdict, reason: 'as it was', agent_id: agent, agent_role: more.role ?? 'operator',
      tool: name, normalized_scope: 's', params_hash: digest(args), target_state_digest: null, boundary_id: `run-${id}`,
      idempotency_key: id, policy_digest: more.policy ?? digest('policy'), policy_refs: ['tools/up~1pay#0'],
      ...more.decision,
      extensions: {
        writ: { profile: 'writ-v0', tenant: 'acme', upstream, ...own,
          ...(more.kept === undefined ? {} : { contents_kept: digest(more.kept) }) },
      },
    },
  };
}
export const deny = (args, reason, more = {}) =>
  call(args, { ...more, verdict: 'deny', writ: { reason, ...more.writ } });

/** Makes the ledger of these calls, `dir`/ledger.db, with its keys, `dir`/keys. Gives its path. */
export function keptLedger(dir, calls) {
  const run = spawnSync(SAMPLE, [join(dir, 'ledger.db'), join(dir, 'keys')],
    { input: JSON.stringify(calls), encoding: 'utf8' });
  assert.equal(run.status, 0, run.stdout + run.stderr);
  return join(dir, 'ledger.db');
}
