#!/usr/bin/env node
// learn.mjs - how good the rules of `writ policy learn` are: which share of honest calls they refuse that they were not
// learned from, and of calls that are wrong on purpose.
//
//     WRIT_BIN=build/release/writ node bench/learn.mjs [--data FOLDER] [--splits N]
//
// Without --data: calls that tests/support/js/learning.mjs makes up. With it: the suites in FOLDER (tools.json,
// tasks.jsonl, pairs.jsonl), learned from the honest tasks alone. What says which calls are an attacker's is read after
// the learning, to count.
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({ options: { data: { type: 'string' }, splits: { type: 'string', default: '5' } } });
process.env.WRIT_BIN ??= 'build/release/writ';
const { allowed, halves, judged, learn, measure, mutants, rangesOf, read, traffic } = await import('../tests/support/js/learning.mjs');

const folder = mkdtempSync(join(tmpdir(), 'writ-learn-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const splits = Array.from({ length: Number(options.splits) }, (_, i) => i + 1);
const percent = (part, whole) => (whole > 0 ? `${((100 * part) / whole).toFixed(1)} %` : '-');
const sum = (list, of) => list.reduce((total, one) => total + of(one), 0);
const row = (cells) => console.log(`| ${cells.join(' | ')} |`);
const head = (cells) => { row(cells); row(cells.map((_, i) => (i === 0 ? '---' : '---:'))); };

/** Of calls made up: several volumes, and each kind of wrong call. */
function madeUp() {
  const kinds = ['out of range', 'foreign path', 'foreign host', 'extra member', 'wrong type'];
  head(['runs', 'calls learned from', 'honest calls refused', ...kinds]);
  for (const runs of [20, 60, 200, 600, 2000]) {
    const all = splits.map((seed) => measure(traffic(seed, runs), seed, folder));
    row([runs / 2, Math.round(sum(all, (m) => m.learned) / all.length),
      percent(sum(all, (m) => m.honest.refused), sum(all, (m) => m.honest.of)),
      ...kinds.map((kind) => percent(sum(all, (m) => m.kinds[kind]?.refused ?? 0), sum(all, (m) => m.kinds[kind]?.of ?? 0)))]);
  }
}

/** The calls of a suite: those of its honest tasks, a run for each task. */
function honestOf(suite) {
  return read(join(options.data, suite, 'tasks.jsonl')).flatMap((task) =>
    task.calls.map((call) => ({ agent: 'dev', tool: `${suite}/${call.tool}`, arguments: call.arguments, boundary_id: task.id })));
}

/** Attacks of which enough calls pass, and the attacker's calls that are refused. */
function attacks(suite, pairs) {
  const call = (one) => ({ agent: 'dev', tool: `${suite}/${one.tool}`, arguments: one.arguments });
  const all = pairs.flatMap((pair) => pair.calls.map((one, at) => ({ ...call(one), pair: pair.id, at, origin: one.origin })));
  const refused = new Set(judged(all, folder).map((one) => `${one.pair} ${one.at}`));
  const passes = (pair, at) => !refused.has(`${pair.id} ${at}`);
  const injected = all.filter((one) => one.origin === 'injected');
  const succeeds = pairs.filter((pair) => pair.succeeds_with.some((set) => set.every((at) => passes(pair, at))));
  return { calls: injected.length, refused: injected.filter((one) => refused.has(`${one.pair} ${one.at}`)).length,
    pairs: pairs.length, succeed: succeeds.length };
}

function suites(more) {
  const total = { honest: 0, refused: 0, wrong: 0, stopped: 0, injected: 0, held: 0, pairs: 0, succeed: 0 };
  head(['suite', 'calls learned from', 'honest calls refused', 'of these to tools never seen', 'wrong calls refused', "attacker's calls refused", 'attacks that succeed']);
  for (const suite of readdirSync(options.data).filter((name) => existsSync(join(options.data, name, 'tasks.jsonl')))) {
    const calls = honestOf(suite);
    const ranges = rangesOf(calls);
    const own = { honest: 0, refused: 0, unlisted: 0, wrong: 0, stopped: 0, injected: 0, held: 0, pairs: 0, succeed: 0, learned: 0 };
    for (const seed of splits) {
      const [half, other] = halves(calls, seed);
      learn(half, folder, more);
      const refused = judged(other, folder);
      const wrong = allowed(other, refused).flatMap((call) => [...mutants(call, ranges)].map((one) => one.call));
      own.learned += half.length;
      own.honest += other.length;
      own.refused += refused.length;
      own.unlisted += refused.filter((one) => one.verdict.reason === 'tool_not_listed').length;
      own.wrong += wrong.length;
      own.stopped += judged(wrong, folder).length;
    }
    learn(calls, folder, more); // attacks meet the rules that all honest tasks give
    const met = attacks(suite, read(join(options.data, suite, 'pairs.jsonl')));
    Object.assign(own, { injected: met.calls, held: met.refused, pairs: met.pairs, succeed: met.succeed });
    for (const key of Object.keys(total)) total[key] += own[key];
    row([suite, Math.round(own.learned / splits.length), percent(own.refused, own.honest), percent(own.unlisted, own.refused),
      percent(own.stopped, own.wrong), `${percent(own.held, own.injected)} of ${own.injected}`, `${percent(own.succeed, own.pairs)} of ${own.pairs}`]);
  }
  row(['all', '', percent(total.refused, total.honest), '', percent(total.stopped, total.wrong),
    `${percent(total.held, total.injected)} of ${total.injected}`, `${percent(total.succeed, total.pairs)} of ${total.pairs}`]);
}

if (options.data === undefined) {
  madeUp();
} else {
  for (const [title, more] of [['as by default (nothing is generalised from fewer than 20 calls)', []],
    ['--least 1 (generalised from any number of calls)', ['--least', '1']]]) {
    console.log(`\n${title}\n`);
    suites(more);
  }
}
