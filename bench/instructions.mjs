// instructions.mjs - what telemetry, and what rules about values (docs/flows.md), cost a governed call, in instructions:
// other load does not change them, as it does times. valgrind counts those of the gateway in runs of 200 and of 1200
// calls, plain and with each; the difference of two runs is that of 1000 calls.
//
//     cmake --preset product && cmake --build --preset product
//     node bench/instructions.mjs build/product/writ
//
// A call has a body of 762 bytes and a result of 2 KB; with the rules, 25 calls are one run, and one argument of each is
// looked for in what the run has seen. The calls are slow under valgrind, so the sender of telemetry has few in each
// message; "encoding" leaves the sender out. With WRIT_PROFILE=DIR the profiles stay there.
import { spawnSync } from 'node:child_process';
import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, test } from 'node:test';

const SOURCE = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const program = resolve(process.argv[2] ?? join(SOURCE, 'build/product/writ'));
const folder = mkdtempSync(join(tmpdir(), 'writ-instructions-'));
after(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, 'writ'), '#!/bin/sh\n' +
  `[ "$1" = serve ] && exec valgrind -q --tool=callgrind --callgrind-out-file=${folder}/out.%p ${program} "$@"\n` +
  `exec ${program} "$@"\n`);
chmodSync(join(folder, 'writ'), 0o755);
symlinkSync(`${program}-vectors`, join(folder, 'writ-vectors'));
Object.assign(process.env, { WRIT_BIN: join(folder, 'writ'), WRIT_SOURCE_DIR: SOURCE });
process.chdir(SOURCE);

const { startGateway } = await import('../tests/support/js/gateway.mjs');
const { Caller } = await import('../tests/support/js/rpc.mjs');
const { startCollector } = await import('../tests/support/servers/collector.mjs');
const { startUpstream } = await import('../tests/support/servers/upstream.mjs');
const ANY = { arg: '', op: 'type', value: 'any' };
const LABELS = { trusted_at: ['/bills/*/payee'] };
const KINDS = {
  plain: { tools: { 'up/look': { scope: 's', arguments: [ANY] } } },
  telemetry: { tools: { 'up/look': { scope: 's', arguments: [ANY] } } },
  flows: { tools: {
    'up/list': { scope: 's', arguments: [ANY], labels: LABELS },
    'up/look': { scope: 's', arguments: [ANY, { arg: 'to', op: 'from', value: ['trusted'], optional: true }], labels: LABELS },
  } },
};
const PAYEES = Array.from({ length: 12 }, (_, i) => `GB${10 + i}NWBK6016133192${6810 + i}`);
const RESULT = JSON.stringify({ bills: PAYEES.map((payee, i) => ({ payee, amount: 10.5 * i, due: `2026-12-${10 + i}`,
  note: `For the work in unit ${i} as agreed on the phone with Ann, see https://bills.example/b/${i}?ref=${i * 7919}.` })) });
const MESSAGE = 'Our invoice of this month is enclosed; please pay it as usual. '.repeat(6);

/** Instructions of the run that has just ended: of all, and of what encodes and keeps the spans. */
function counted(kind, calls) {
  const file = join(folder, readdirSync(folder).find((name) => name.startsWith('out.')));
  const { stdout } = spawnSync('callgrind_annotate', ['--inclusive=yes', '--threshold=100', file],
    { encoding: 'utf8', maxBuffer: 1 << 28 });
  const all = Number(/^(?:summary|totals): (\d+)/m.exec(readFileSync(file, 'utf8'))[1]);
  const encoding = /^ *([\d,]+).*:writ_request_span_end /m.exec(stdout)?.[1] ?? '0';
  if (process.env.WRIT_PROFILE) copyFileSync(file, join(process.env.WRIT_PROFILE, `${kind}.${calls}`));
  rmSync(file);
  return { all, encoding: Number(encoding.replace(/,/g, '')) };
}

async function run(t, kind, calls) {
  const collector = await startCollector(t);
  const up = await startUpstream(t, { onCall: (call) => call.text(RESULT) });
  const gw = await startGateway(t, { loops: 1, upstreams: { up: { http: up.url } }, tools: KINDS[kind].tools,
    ...(kind === 'telemetry' ? { telemetry: { otlp: collector.origin, metrics: false } } : {}) });
  const caller = new Caller(gw, { modern: true });
  const call = (n, name) => caller.call(name, { n, to: PAYEES[n % PAYEES.length], message: MESSAGE }, { key: `k${n}`,
    meta: { 'io.writ/boundaryId': `run-${Math.floor(n / 25)}` } });
  for (let n = 0; n < calls; n += 25) {
    const first = await call(n, kind === 'flows' ? 'up__list' : 'up__look');
    const more = await Promise.all(Array.from({ length: 24 }, (_, i) => call(n + 1 + i, 'up__look')));
    for (const answer of [first, ...more]) assert.equal(answer.error, undefined, JSON.stringify(answer.error));
  }
  await gw.stop();
  return counted(kind, calls);
}

test('instructions of a governed call', { timeout: 1200_000 }, async (t) => {
  const per = {};
  for (const kind of Object.keys(KINDS)) {
    const [few, many] = [await run(t, kind, 200), await run(t, kind, 1200)];
    per[kind] = { all: (many.all - few.all) / 1000, encoding: (many.encoding - few.encoding) / 1000 };
  }
  const percent = (n) => `${(100 * n / per.plain.all).toFixed(1)} %`;
  console.log(`a call: ${Math.round(per.plain.all)} instructions`);
  console.log(`with telemetry: ${Math.round(per.telemetry.all)}, ${percent(per.telemetry.all - per.plain.all)} more`);
  console.log(`its encoding: ${Math.round(per.telemetry.encoding)}, ${percent(per.telemetry.encoding)}`);
  console.log(`with rules about values: ${Math.round(per.flows.all)}, ${percent(per.flows.all - per.plain.all)} more`);
});
