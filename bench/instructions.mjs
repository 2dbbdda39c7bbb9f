// instructions.mjs - what telemetry costs a governed call, in instructions: other load does not change them, as it does
// times. valgrind counts those of the gateway in runs of 200 and of 1200 calls, without telemetry and with it; the
// difference of two runs is that of 1000 calls.
//
//     cmake --preset product && cmake --build --preset product
//     node bench/instructions.mjs build/product/writ
//
// The calls are slow under valgrind, so the sender has few in each message; "encoding" leaves the sender out.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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
const TOOLS = { 'up/look': { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }] } };

/** Instructions of the run that has just ended: of all, and of what encodes and keeps the spans. */
function counted() {
  const file = join(folder, readdirSync(folder).find((name) => name.startsWith('out.')));
  const { stdout } = spawnSync('callgrind_annotate', ['--inclusive=yes', '--threshold=100', file],
    { encoding: 'utf8', maxBuffer: 1 << 28 });
  const all = Number(/^(?:summary|totals): (\d+)/m.exec(readFileSync(file, 'utf8'))[1]);
  const encoding = /^ *([\d,]+).*:writ_request_span_end /m.exec(stdout)?.[1] ?? '0';
  rmSync(file);
  return { all, encoding: Number(encoding.replace(/,/g, '')) };
}

async function run(t, telemetry, calls) {
  const collector = await startCollector(t);
  const up = await startUpstream(t);
  const gw = await startGateway(t, { loops: 1, upstreams: { up: { http: up.url } }, tools: TOOLS,
    ...(telemetry ? { telemetry: { otlp: collector.origin, metrics: false } } : {}) });
  const caller = new Caller(gw, { modern: true });
  for (let n = 0; n < calls; n += 20)
    await Promise.all(Array.from({ length: 20 }, (_, i) => caller.call('up__look', { n: n + i }, { key: `k${n + i}` })));
  await gw.stop();
  return counted();
}

test('instructions of a governed call', { timeout: 600_000 }, async (t) => {
  const per = {};
  for (const telemetry of [false, true]) {
    const [few, many] = [await run(t, telemetry, 200), await run(t, telemetry, 1200)];
    per[telemetry] = { all: (many.all - few.all) / 1000, encoding: (many.encoding - few.encoding) / 1000 };
  }
  const percent = (n) => `${(100 * n / per.false.all).toFixed(1)} %`;
  console.log(`a call: ${Math.round(per.false.all)} instructions`);
  console.log(`with telemetry: ${Math.round(per.true.all)}, ${percent(per.true.all - per.false.all)} more`);
  console.log(`its encoding: ${Math.round(per.true.encoding)}, ${percent(per.true.encoding)}`);
});
