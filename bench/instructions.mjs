// instructions.mjs - what a call costs, in instructions, which other load does not change as it does times. valgrind
// counts those of the gateway in two runs of different length; their difference, by call, is printed: Writ's own code by
// folder, libraries apart, and what telemetry and rules about values (docs/flows.md) add.
//
//     cmake --preset product && cmake --build --preset product
//     node bench/instructions.mjs build/product/writ
//
// A call has a body of 762 bytes and a result of 2 KB, and follows the one before; with the rules, 25 calls are one run,
// and one argument of each is looked for in what the run has seen. With WRIT_PROFILE=DIR the profiles stay there.
//
// With --check=FILE the own code of a governed and of a passing request is compared with what FILE has for the compiler:
// more than GROWTH above it fails, and --write=FILE takes the new figures.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { test } from 'node:test';
import { countedProgram } from '../tests/support/js/callgrind.mjs';

const GROWTH = 0.05;
const [FEW, MANY] = [50, 250]; // calls
const READ_MS = 3000; // once a second the figures of the page read the records: all of a run, or it varies by 5 %
const SOURCE = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const { values: options, positionals } = parseArgs({ allowPositionals: true,
  options: { check: { type: 'string' }, write: { type: 'string' }, compiler: { type: 'string', default: '' } } });
const program = resolve(positionals[0] ?? join(SOURCE, 'build/product/writ'));
const folder = countedProgram(program);
Object.assign(process.env, { WRIT_BIN: join(folder, 'writ'), WRIT_SOURCE_DIR: SOURCE });
for (const name of ['check', 'write']) if (options[name]) options[name] = resolve(options[name]);
process.chdir(SOURCE);

const { startGateway } = await import('../tests/support/js/gateway.mjs');
const { Caller } = await import('../tests/support/js/rpc.mjs');
const { startCollector } = await import('../tests/support/servers/collector.mjs');
const { startUpstream } = await import('../tests/support/servers/upstream.mjs');

const ANY = { arg: '', op: 'type', value: 'any' };
const LABELS = { trusted_at: ['/bills/*/payee'] };
const PLAIN = { 'up/list': { scope: 's', arguments: [ANY] }, 'up/look': { scope: 's', arguments: [ANY] } };
const FOLLOWED = { 'up/list': { scope: 's', arguments: [ANY], labels: LABELS },
  'up/look': { scope: 's', arguments: [ANY, { arg: 'to', op: 'from', value: ['trusted'] }], labels: LABELS } };
const KINDS = {
  passing: { tools: PLAIN },
  governed: { tools: PLAIN },
  telemetry: { tools: PLAIN, telemetry: true },
  values: { tools: FOLLOWED },
};
const PAYEES = Array.from({ length: 12 }, (_, i) => `GB${10 + i}NWBK6016133192${6810 + i}`);
const RESULT = JSON.stringify({ bills: PAYEES.map((payee, i) => ({ payee, amount: 10.5 * i, due: `2026-12-${10 + i}`,
  note: `For the work in unit ${i} as agreed on the phone with Ann, see https://bills.example/b/${i}?ref=${i * 7919}.` })) });
const MESSAGE = 'Our invoice of this month is enclosed; please pay it as usual. '.repeat(6);

/** Instructions of each source file of the tree, and of all that is not from it, in a profile of callgrind. */
function selfCosts(file) {
  const names = new Map(), costs = new Map();
  let at, skip = false;
  const name = (text) => {
    const [, id, is] = /^\((\d+)\) ?(.*)$/.exec(text);
    if (is) names.set(id, is);
    return names.get(id);
  };
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const file_ = /^f[lie]=(.*)$/.exec(line);
    if (file_) at = name(file_[1]);
    else if (/^cf[il]=/.test(line)) name(line.replace(/^[^=]*=/, '')); // it may define the name
    else if (line.startsWith('calls=')) skip = true; // the next line has the cost of the callee
    else if (/^[+*\d-]/.test(line)) {
      if (!skip) {
        const of = at?.startsWith(`${SOURCE}/`) ? dirname(relative(SOURCE, at)) : 'libraries';
        costs.set(of, (costs.get(of) ?? 0) + Number(line.split(' ')[1]));
      }
      skip = false;
    }
  }
  return costs;
}

function counted(kind, calls) {
  const file = join(folder, readdirSync(folder).find((name) => name.startsWith('out.')));
  const costs = selfCosts(file);
  if (process.env.WRIT_PROFILE) copyFileSync(file, join(process.env.WRIT_PROFILE, `${kind}.${calls}`));
  rmSync(file);
  return costs;
}

async function run(t, kind, calls) {
  const collector = await startCollector(t);
  const up = await startUpstream(t, { onCall: (call) => call.text(RESULT), onMessage: (message) =>
    (message.method === 'prompts/list' ? message.result({ prompts: [{ name: RESULT }] }) ?? true : undefined) });
  const { tools, telemetry } = KINDS[kind];
  const gw = await startGateway(t, { loops: 1, upstreams: { up: { http: up.url } }, tools,
    ...(telemetry ? { telemetry: { otlp: collector.origin, metrics: false } } : {}) });
  const caller = new Caller(gw, { modern: true, path: '/mcp/up' });
  for (let n = 0; n < calls; n++) {
    const answer = kind === 'passing'
      ? await caller.request('prompts/list', { cursor: MESSAGE })
      : await caller.call(n % 25 === 0 ? 'list' : 'look', { n, to: PAYEES[n % PAYEES.length], message: MESSAGE },
        { key: `k${n}`, boundary: `run-${Math.floor(n / 25)}` });
    assert.equal(answer.error, undefined, JSON.stringify(answer.error));
  }
  await new Promise((r) => setTimeout(r, READ_MS));
  await gw.stop();
  return counted(kind, calls);
}

/** Instructions of one call by folder. */
async function perCall(t, kind) {
  const [few, many] = [await run(t, kind, FEW), await run(t, kind, MANY)];
  return new Map([...many].map(([of, n]) => [of, Math.round((n - (few.get(of) ?? 0)) / (MANY - FEW))]));
}

const own = (costs) => [...costs].reduce((sum, [of, n]) => sum + (of === 'libraries' ? 0 : n), 0);

function table(per) {
  const kinds = Object.keys(per);
  const folders = [...new Set(kinds.flatMap((kind) => [...per[kind].keys()]))]
    .filter((of) => of !== 'libraries' && kinds.some((kind) => (per[kind].get(of) ?? 0) >= 100))
    .sort((a, b) => (per.governed.get(b) ?? 0) - (per.governed.get(a) ?? 0));
  const row = (name, of) => `| ${name} | ${kinds.map((kind) => of(per[kind])).join(' | ')} |`;
  return [`| instructions of a request | ${kinds.join(' | ')} |`, `| --- |${' ---: |'.repeat(kinds.length)}`,
    row('own code', own), row('libraries', (costs) => costs.get('libraries')),
    ...folders.map((of) => row(`\`${of}\``, (costs) => costs.get(of) ?? 0))].join('\n');
}

test('instructions of a request', { timeout: 1200_000 }, async (t) => {
  const kinds = options.check || options.write ? ['passing', 'governed'] : Object.keys(KINDS);
  const per = {};
  for (const kind of kinds) per[kind] = await perCall(t, kind);
  console.log(table(per));
  const found = Object.fromEntries(kinds.map((kind) => [kind, own(per[kind])]));
  if (options.write) {
    const all = existsSync(options.write) ? JSON.parse(readFileSync(options.write, 'utf8')) : {};
    writeFileSync(options.write, `${JSON.stringify({ ...all, [options.compiler]: found }, null, 1)}\n`);
  }
  if (!options.check) return;
  const wanted = JSON.parse(readFileSync(options.check, 'utf8'))[options.compiler];
  if (!wanted) return t.skip(`no figures for ${options.compiler}`);
  for (const kind of kinds) {
    const growth = found[kind] / wanted[kind] - 1;
    assert.ok(growth <= GROWTH, `a ${kind} request needs ${found[kind]} instructions of Writ's own code, ` +
      `${(100 * growth).toFixed(1)} % more than the ${wanted[kind]} of bench/instructions.json: find out which folder's ` +
      'grew (the table above), or write the new figures with --write and say why in the commit');
  }
});
