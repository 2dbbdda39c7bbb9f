// reviews.mjs - what the opening of a review costs, in instructions, while few and while many are open: valgrind counts
// those of the whole gateway, with a reviewer that never votes and a place that gets messages. The figures must not
// grow with the number of open reviews.
//
//     cmake --preset product && cmake --build --preset product
//     node bench/reviews.mjs build/product/writ
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { countedProgram } from '../tests/support/js/callgrind.mjs';

const [FEW, MANY, STEP] = [100, 1500, 300]; // open reviews; those opened beyond them
const GROWTH = 1.2;
const program = resolve(process.argv[2] ?? 'build/product/writ');
const folder = countedProgram(program);
process.env.WRIT_BIN = join(folder, 'writ');

const { bearer, prepare } = await import('../tests/support/js/gateway.mjs');
const { ANN, pay } = await import('../tests/support/js/reviews.mjs');
const { startHook } = await import('../tests/support/js/reviewers.mjs');
const DEV = bearer('dev', { tenant: 'acme' });

/** Instructions of a gateway that opens so many reviews. */
async function opened(t, n) {
  const hook = await startHook(t, () => ({ status: 200, json: {} }));
  const gw = prepare(t, { loops: 1, frameworks: { crew: { resource: 'urn:crew' } }, agents: [DEV.entry, ANN.entry],
    limits: { agent_reviews: 10000 }, notify: { hook: { webhook: hook.url, secret: 'secret', batch: '1s' } },
    reviewers: { rules: { opinions: [{ vote: 'reject', when: [{ arg: 'amount', op: 'lt', value: 0 }] }] } },
    reviews: { finance: { voters: [{ id: 'ann' }, { id: 'rules' }], quorum: '2' } },
    tools: { 'crew/pay': pay({ review: 'finance' }) } });
  writeFileSync(gw.path('secret'), `${hook.secret}\n`, { mode: 0o600 });
  await gw.start();
  for (let amount = 0; amount < n; amount++) {
    const res = await fetch(`${gw.origin}/v1/before`, { method: 'POST',
      headers: { authorization: `Bearer ${DEV.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ tool: 'crew/pay', arguments: { amount } }) });
    assert.equal((await res.json()).reason, 'approval_required');
  }
  await gw.stop();
  const file = join(folder, readdirSync(folder).find((name) => name.startsWith('out.')));
  const [, total] = /^(?:totals|summary): (\d+)/m.exec(readFileSync(file, 'utf8'));
  rmSync(file);
  return Number(total);
}

test('instructions of an opening', { timeout: 1200_000 }, async (t) => {
  if (spawnSync('valgrind', ['--version']).status !== 0) return t.skip('valgrind is missing');
  const per = [];
  for (const n of [FEW, MANY]) per.push(Math.round((await opened(t, n + STEP) - await opened(t, n)) / STEP));
  console.log(`| open reviews | instructions of an opening |\n| ---: | ---: |\n${[FEW, MANY].map((n, i) =>
    `| ${n} | ${per[i]} |`).join('\n')}`);
  assert.ok(per[1] <= per[0] * GROWTH, `an opening needs ${per[1]} instructions beside ${MANY} reviews, ` +
    `${per[0]} beside ${FEW}: something looks at all of them`);
});
