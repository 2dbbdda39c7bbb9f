// Policies through the program: explain, policy test, and a second evaluator on many random calls.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { Num, folded, isExact, judge, parse, print, result, unlisted } from '../support/js/reference.mjs';

const BIN = process.env.WRIT_BIN ?? 'build/dev/writ';
const SOURCE = process.env.WRIT_SOURCE_DIR ?? '.';
const ROUNDS = Number(process.env.WRIT_POLICY_ROUNDS ?? 6); // of 3000 calls each
const dir = mkdtempSync(join(tmpdir(), 'writ-policy-'));
process.on('exit', () => rmSync(dir, { recursive: true, force: true }));

const writ = (...args) => {
  const run = spawnSync(BIN, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  return { code: run.status, out: run.stdout, err: run.stderr };
};
const file = (name, text) => {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
};
const vectors = (name) => parse(readFileSync(join(SOURCE, 'vectors/policy', name), 'utf8'));

// ---- the reference itself is held against the cases written by hand

test('the reference evaluator agrees with every case of every op', () => {
  for (const group of vectors('ops.json')) {
    if (group.constraint.op === 'host_in') continue; // judged by the URL parser below
    if (['lacks', 'contains'].includes(group.constraint.op)) continue; // unit/policy/detect has their cases
    for (const answer of ['hold', 'fail', 'error']) {
      for (const text of group[answer]) {
        if (/matches: (cata|a text|own|multi|an early|\\K|classes)/.test(group.about)) continue; // not JavaScript's
        const value = parse(text === '' ? '{}' : `{"a":${text}}`);
        assert.equal(result({ ...group.constraint, arg: 'a' }, value), answer, `${group.about}: ${text.slice(0, 99)}`);
      }
    }
  }
});

test('the reference evaluator agrees about coverage', () => {
  for (const group of vectors('coverage.json')) {
    for (const text of group.covered) assert.equal(unlisted(group.constraints, parse(text)), null, text);
    for (const [text, pointer] of group.uncovered) { // Writ stops at the first argument without a rule
      const leaf = unlisted(group.constraints, parse(text));
      assert.ok(leaf === pointer || leaf?.startsWith(pointer + '/'), `${text}: ${leaf}`);
    }
  }
});

// ---- random policies and calls

function random(seed) { // mulberry32
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const NAMES = ['a', 'b', 'c', 'list', 'o', 'x/y', 'A'];
const NUMBERS = ['0', '-0', '1', '1.0', '1e0', '10', '5', '5.00', '5.0000000000000001', '4.99999999999999999999', '-1',
  '0.1', '0.10', '0.1000000000000000055511151231257827', '9007199254740993', '1e21', '1e300', '1e-300', '100',
  '1.00000000000000000000000000000000000001', '2', '3', '500', '499.99', '500.01'];
const STRINGS = ['', 'a', 'ab', 'abc', 'EUR', 'eur', 'x.txt', 'a/b', '..', '.', '/srv/box', '/srv/box/a',
  '/srv/box-evil/a',
  '/srv/box/../etc', '/srv//box/./a/', '/srv/box/%2e%2e/x', '/srv/box/a%20b', '\\a', 'é', '😀', 'a\u0000b', 'ok',
  'ok\n', '1',
  'true', 'null', 'abab', 'logs/a/b', 'logs/..', '/srv/box/．．/x', '//srv/box', '{a}', '%2F'];

class Dice {
  constructor(seed) {
    this.next = random(seed);
  }
  below(n) {
    return Math.floor(this.next() * n);
  }
  pick(list) {
    return list[this.below(list.length)];
  }
  chance(p) {
    return this.next() < p;
  }
  number() {
    return parse(this.pick(NUMBERS));
  }
  scalar() {
    return this.pick([() => this.number(), () => this.pick(STRINGS), () => this.pick([true, false, null])])();
  }
  value(depth) {
    if (depth === 0 || this.chance(0.7)) return this.scalar();
    if (this.chance(0.5)) return Array.from({ length: this.below(4) }, () => this.value(depth - 1));
    return this.object(depth - 1);
  }
  object(depth) {
    return Object.fromEntries(Array.from({ length: this.below(3) }, () => [this.pick(NAMES), this.value(depth)]));
  }
  arg() {
    return this.pick([...NAMES.slice(0, 5), '/a', '/o/a', '/o/b', '/list/0', '/x~1y', '/o/list/1']);
  }
  constraint(nested) {
    const op = this.pick(['eq', 'ne', 'in', 'not_in', 'lt', 'le', 'gt', 'ge', 'type', 'type', 'min_length',
      'max_length',
      'prefix', 'suffix', 'matches', 'glob', 'under', 'each', 'each', 'min_items', 'max_items', 'required',
      'forbidden']);
    const c = { op };
    if (!nested || this.chance(0.4)) c.arg = this.arg();
    const values = () => Array.from({ length: 1 + this.below(4) }, () => this.value(1));
    switch (op) {
      case 'eq': case 'ne': c.value = this.value(2); break;
      case 'in': case 'not_in': c.value = values(); break;
      case 'lt': case 'le': case 'gt': case 'ge':
        c.value = this.number();
        while (c.value.source.length > 36) c.value = this.number(); // the file would be refused
        if (this.chance(0.3)) c.value = c.value.source;
        break;
      case 'type': {
        const types = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object', 'any'];
        c.value = this.chance(0.5) ? this.pick(types) : [...new Set([this.pick(types), this.pick(types)])];
        break;
      }
      case 'min_length': case 'max_length': case 'min_items': case 'max_items':
        c.value = this.chance(0.2) ? String(this.below(4)) : this.below(4);
        break;
      case 'prefix': case 'suffix': c.value = this.pick(STRINGS.filter((s) => s !== '')); break;
      case 'matches': case 'not_matches':
        c.value = this.pick(['[a-z]+', 'a|ab', '(ab)*', '.{2}', 'ok', '[^/]*', '.*']);
        break;
      case 'glob': c.value = this.pick(['*', '**', 'a?', '[a-c]*', '[!a]*', '*.txt', 'logs/**', '/srv/*/?', '*b*']);
      break;
      case 'under': c.value = this.pick(['/srv/box', '/', ['/srv/box', '/etc'], '/srv']); break;
      case 'each': c.value = nested ? { op: 'type', value: 'string' }
        : this.chance(0.5) ? this.constraint(true) : [this.constraint(true), this.constraint(true)];
        break;
      default: if (this.chance(0.3)) c.value = true;
    }
    if (!['required', 'forbidden'].includes(op) && this.chance(0.4)) c.optional = true;
    if (!['required', 'forbidden'].includes(op) && this.chance(0.2)) c.nullable = true;
    return c;
  }
  rule() {
    return {
      scope: this.pick(['s', 's/{a}', '{/o/a}/{b}', 's/{a}/t']),
      arguments: Array.from({ length: this.below(6) }, () => this.constraint(false)),
    };
  }
}

// A constraint that the argument satisfies sometimes: half of the calls aim at their rule.
function aimed(dice, rule) {
  const args = dice.object(2);
  for (const c of rule.arguments) {
    if (c.arg.startsWith('/') || !dice.chance(0.8)) continue;
    const value = c.op === 'in' || c.op === 'eq' ? [c.value].flat()[0] : c.op === 'each'
      ? [dice.scalar()] : dice.value(1);
    if (value !== undefined && c.op !== 'forbidden') args[c.arg] = value;
  }
  return args;
}

test('random policies decide random calls as the reference evaluator does', { timeout: 3600000 }, () => {
  const seed = Number(process.env.WRIT_SEED ?? Date.now() % 1e9);
  const tally = {};
  for (let round = 0; round < ROUNDS; round++) {
    const dice = new Dice(seed + round);
    const rules = Array.from({ length: 60 }, () => dice.rule());
    const tools = Object.fromEntries(rules.map((rule, i) => [`u/t${i}`, rule]));
    const config = file('random.json', print({ tools }));
    const cases = Array.from({ length: 3000 }, (_, i) => {
      const n = dice.below(rules.length);
      const args = dice.chance(0.6) ? aimed(dice, rules[n]) : dice.object(3);
      const want = judge(rules[n], args);
      tally[want.reason] = (tally[want.reason] ?? 0) + 1;
      const expect = { decision: want.decision, reason: want.reason };
      if (want.constraint) expect.constraint = want.constraint;
      if (want.constraint) expect.argument = want.argument;
      if (want.scope !== null) expect.scope = want.scope;
      return { name: `seed ${seed + round}, case ${i}`, call: { agent: { id: 'x' }, tool: `u/t${n}`, arguments: args },
        expect };
    });
    const run = writ('policy', 'test', file('random.cases.json', print({ config, cases })));
    if (run.code !== 0) {
      const index = Number(/case (\d+)/.exec(run.out)?.[1] ?? 0);
      const call = cases[index];
      assert.fail(`${run.err}${run.out.slice(0, 2000)}\n${print(call)}\n${print(tools[call.call.tool])}`);
    }
  }
  // the run means something only when every kind of answer came up
  for (const reason of ['policy_ok', 'argument_not_listed', 'constraint_failed', 'number_not_exact', 'scope_missing']) {
    assert.ok(tally[reason] > 0, `${reason}: ${print(tally)}`);
  }
  assert.ok(tally.policy_ok > ROUNDS * 20, print(tally)); // the seed decides how many: 50 to 120 as a rule
});

test('numbers as clients print them are exact; too many digits are refused', () => {
  const dice = new Dice(Number(process.env.WRIT_SEED ?? Date.now() % 1e9));
  const bits = new DataView(new ArrayBuffer(8));
  const double = () => {
    for (let i = 0; i < 8; i++) bits.setUint8(i, dice.below(256));
    return Number.isFinite(bits.getFloat64(0)) ? bits.getFloat64(0) : double();
  };
  const config = file('numbers.json',
    print({ tools: { 'u/t': { scope: 's', arguments: [{ arg: 'n', op: 'type', value: 'number' }] } } }));
  const ask = (source, expect) =>
    ({ call: { agent: { id: 'x' }, tool: 'u/t', arguments: { n: new Num(source) } }, expect });
  const cases = [];
  for (let i = 0; i < 2000; i++) {
    const n = dice.pick([double, () => dice.below(1e6) / 100, () => dice.below(1e9) / 1e4, () => dice.next(),
      () => 2 ** 53 * dice.next() * 1000])();
    cases.push(ask(JSON.stringify(n), 'allow'), ask(n.toExponential(), 'allow'));
    const printed = n.toPrecision(17); // as %.17g of C
    cases.push(ask(printed.replace(/^0+(?=\d)/, ''), isExact(new Num(printed))
      ? 'allow' : { decision: 'deny', reason: 'number_not_exact' }));
  }
  const run = writ('policy', 'test', file('numbers.cases.json', print({ config, cases })));
  assert.equal(run.code, 0, run.out.slice(0, 2000) + run.err);
});

test('no character that folds to a dot, a slash or an escape leaves a directory', () => {
  const config = file('folds.json',
    print({ tools: { 'u/under': { scope: 's', arguments: [{ arg: 'p', op: 'under', value: '/srv/box' }] },
    'u/glob': { scope: 's', arguments: [{ arg: 'p', op: 'glob', value: '/srv/box/**' }] } } }));
  const escaped = (text) => [...Buffer.from(text)].map((b) => '%' + b.toString(16).padStart(2, '0')).join('');
  const leadsOut = (path) => /[\\]|^(.*\/)?\.\.([/;:?#].*)?$/s.test(path);
  const cases = [];
  const ask = (p) =>
    cases.push({ name: JSON.stringify(p), call: { agent: { id: 'x' }, tool: `u/${cases.length % 2 ? 'under' : 'glob'}`,
      arguments: { p } }, expect: 'deny' });
  for (let point = 0x80; point <= 0x10ffff; point++) {
    if (point >= 0xd800 && point < 0xe000) continue;
    const c = String.fromCodePoint(point);
    if (folded(c) === c || (folded(c).length > 0 && !/[!-~]/.test(folded(c)))) continue;
    for (const p of [`/srv/box/${c}/x`, `/srv/box/${c}${c}/x`, `/srv/box/.${c}/x`, `/srv/box/.${c}./x`,
        `/srv/box/x${c}../../../etc`, `/srv/box/..${c}etc`]) {
      if (!leadsOut(folded(p))) continue;
      ask(p);
      ask(p.replaceAll(c, escaped(c)));
      ask(p.replaceAll(c, escaped(c).replaceAll('%', '%25')));
      if (c.length === 1) ask(p.replaceAll(c, `%u${point.toString(16).padStart(4, '0')}`));
    }
    for (const p of [`/srv/box/${c}2e%2e/x`, `/srv/box/%${c}e%${c}e/x`, `/srv/box/%2${c}%2${c}/x`]) {
      if (leadsOut(decodeURIComponent(folded(p).replace(/%(?![0-7][0-9a-f])/gi, '_')))) ask(p);
    }
    for (const entity of [`${c}#46;`, `&${c}46;`, `&#4${c};`, `&#${c}2e;`, `&${c}eriod;`, `&pe${c}iod;`, `&perio${c};`,
        `&period${c}`]) {
      const p = `/srv/box/${entity}${entity}/x`;
      if (leadsOut(folded(p).replace(/&(#46|#[xX]2[eE]|period);/g, '.'))) ask(p);
    }
  }
  assert.ok(cases.length > 3000, `${cases.length}`);
  while (cases.length > 0) {
    const run = writ('policy', 'test', file('folds.cases.json', print({ config, cases: cases.splice(0, 10000) })));
    assert.equal(run.code, 0, run.out.slice(0, 3000) + run.err);
  }
});

test('names with accents, emoji and other scripts are paths like any other', () => {
  const config = file('names.json',
    print({ tools: { 'u/t': { scope: 's',
      arguments: [{ arg: 'p', op: 'under', value: '/srv/box' }, { arg: 'p', op: 'glob', value: '/srv/**' }] } } }));
  const names = ['größe.txt', '日本語。txt', '50％オフ', '50% off', '👨\u200d👩\u200d👧.png', '☕\ufe0f', 'نم\u200cی', 'a…b',
    '½ cup', '…', 'v1․2', '①.md', 'x²', '¥100', 'a／b', '100%é', '𝟐𝐞'];
  const cases = names.map((name) =>
    ({ name, call: { agent: { id: 'x' }, tool: 'u/t', arguments: { p: `/srv/box/${name}` } }, expect: 'allow' }));
  const run = writ('policy', 'test', file('names.cases.json', print({ config, cases })));
  assert.equal(run.code, 0, run.out + run.err);
});

test('what host_in accepts, the URL parser of browsers sends to a listed host', () => {
  const seed = Number(process.env.WRIT_SEED ?? Date.now() % 1e9);
  const dice = new Dice(seed);
  const pieces = ['https://', 'http://', 'HTTPS://', 'example.com', 'b.example.org', 'evil.test', '@', ':', '/', '\\',
    '.',
    '%2e', '%00', '#', '?', '443', '80', ':443', '[::1]', '127.0.0.1', '0x7f.1', '\t', '\n', ' ', 'xn--', '。', 'ｅ', ';',
    ',',
    '&', '-', '_', 'a', '//', '..', '2130706433'];
  const config = file('hosts.json', print({ tools: { 'u/t': { scope: 's',
    arguments: [{ arg: 'u', op: 'host_in', value: ['example.com', '*.example.org', '127.0.0.1'] }] } } }));
  const urls = Array.from({ length: 4000 }, () =>
    (dice.chance(0.7) ? 'https://' : '') + Array.from({ length: 1 + dice.below(5) }, () => dice.pick(pieces)).join(''));
  const cases = urls.map((u) => ({ call: { agent: { id: 'x' }, tool: 'u/t', arguments: { u } }, expect: 'allow' }));
  const run = writ('policy', 'test', '--json', file('hosts.cases.json', print({ config, cases })));
  const accepted = JSON.parse(run.out).results.flatMap((r, i) => (r.passed ? [urls[i]] : []));
  assert.ok(accepted.length > 20, run.err);
  for (const u of accepted) {
    const url = new URL(u);
    assert.match(url.hostname, /^(example\.com|[a-z0-9_.-]+\.example\.org|127\.0\.0\.1)$/, print({ seed, u }));
    assert.equal(url.username + url.password, '', print({ seed, u }));
    assert.equal(url.port, '', print({ seed, u }));
  }
});

// ---- explain

const example = join(SOURCE, 'config/example.yaml');
const sha256 = (text) => 'sha256:' + createHash('sha256').update(text).digest('hex');
const transfer = { amount: 12.5, currency: 'EUR', to: 'DE89370400440532013000' };

test('explain shows decision, constraints, scope and digests of an allowed call', () => {
  const call = { agent: 'batch', tool: 'pay/transfer', arguments: transfer, boundary_id: 'run-1' };
  const run = writ('explain', '--json', example, file('call.json', print(call)));
  const told = JSON.parse(run.out);
  assert.equal(run.code, 0, run.err);
  assert.equal(told.verdict.decision, 'allow');
  assert.deepEqual(told.verdict.policy_refs, ['tools/pay~1transfer#0']);
  assert.equal(told.verdict.normalized_scope, 'payments/EUR');
  assert.equal(told.verdict.target, 'account:DE89370400440532013000');
  assert.deepEqual(told.constraints.map((c) => [c.constraint, c.result]), [['amount gt', 'hold'], ['amount le', 'hold'],
    ['currency in', 'hold'], ['to matches', 'hold'], ['note max_length', 'hold']]);
  // the digests, by the contract
  const params_hash = sha256('{"amount":12.5,"currency":"EUR","to":"DE89370400440532013000"}');
  const intent_digest = sha256(print({ agent_id: 'batch', params_hash, target_state_digest: null, tool: 'transfer' }));
  const intent_ref =
    sha256(print({ agent_id: 'batch', intent_digest, normalized_scope: 'payments/EUR', tool: 'transfer' }));
  const state_free = sha256(print({ agent_id: 'batch', normalized_scope: 'payments/EUR', params_hash, tenant: 'acme',
    tool: 'transfer', upstream: 'pay' }));
  assert.equal(told.params_hash, params_hash);
  assert.equal(told.intent_digest, intent_digest);
  assert.equal(told.intent_ref, intent_ref);
  assert.equal(told.idempotency_key, 'auto:' + sha256(print({ boundary_id: 'run-1', state_free })));
  assert.equal(told.policy_digest, JSON.parse(writ('check', '--json', example).out).policy_digest);
  assert.deepEqual(told.budgets.map((b) => [b.budget, b.amount, b.limit]), [
    ['tools/pay~1transfer#0/budgets/0', '12.5', '2000'], ['all payments', '12.5', '10000'],
    ['tools/pay~1transfer#0/budgets/2', '1', '10']]);
});

test('explain shows what fails, and never the value', () => {
  const call = { agent: 'batch', tool: 'pay/transfer',
    arguments: { ...transfer, amount: 777.125, memo: { secret: 'hunter2' } } };
  const path = file('call.json', print(call));
  const run = writ('explain', example, path);
  assert.equal(run.code, 1);
  assert.match(run.out, /^deny: argument_not_listed/);
  assert.match(run.out, /fail +no constraint names \/memo/);
  assert.match(run.out, /^argument +\/memo$/m);
  assert.match(run.out, /fail +amount le: a number not above 500\.00/);
  assert.match(run.out, /hold +currency in/);
  assert.doesNotMatch(run.out, /hunter2|777\.125/);
  assert.doesNotMatch(writ('explain', '--json', example, path).out, /hunter2|777\.125/);
});

test('explain refuses an invalid call and says what is wrong', () => {
  for (const [text, message] of [
    ['{"tool":"pay/transfer","tool":"x/y"}', /twice|duplicate/],
    ['{"agent":"batch"}', /lacks tool/],
    ['{"agent":"batch","tool":"pay/transfer","argumets":{}}', /unknown member "argumets"/],
    ['{"agent":"batch","tool":"pay/transfer","target_state_digest":"sha256:xyz"}', /./],
  ]) {
    const run = writ('explain', example, file('call.json', text));
    assert.equal(run.code, 3, text);
    assert.match(run.err, message);
    assert.equal(run.out, '');
  }
  assert.equal(writ('explain', example, join(dir, 'nothing.json')).code, 3);
  assert.equal(writ('explain', example).code, 2);
});

test('explain reads a call from standard input', () => {
  const run = spawnSync(BIN, ['explain', example, '-'],
    { encoding: 'utf8', input: print({ agent: 'batch', tool: 'pay/account', arguments: { account: 'x' } }) });
  assert.equal(run.status, 0, run.stderr);
  assert.match(run.stdout, /^allow: policy_ok/);
});

// ---- policy test

test('policy test runs the cases of the example and sums up', () => {
  const run = writ('policy', 'test', join(SOURCE, 'config/example.cases.yaml'));
  assert.equal(run.code, 0, run.out);
  assert.match(run.out, /^\d+ passed, 0 failed\n$/);
});

test('policy test fails with line, name and difference', () => {
  const cases = file('cases.yaml',
    `config: ${example}\ncases:\n- name: too much\n  call: {agent: batch, tool: pay/account, arguments: {account: ` +
      `5}}\n  expect: allow\n- call: {agent: batch, tool: pay/account, arguments: {account: x}}\n  expect: allow\n`);
  const run = writ('policy', 'test', cases);
  assert.equal(run.code, 1);
  assert.equal(run.out,
    `${cases}:3: failed: too much: decision is "deny", not "allow" (constraint_failed, /account: account type)\n1 ` +
      `passed, 1 failed\n`);
  const told = JSON.parse(writ('policy', 'test', '--json', cases).out);
  assert.deepEqual([told.passed, told.failed], [1, 1]);
  assert.deepEqual(told.results.map((r) => r.passed), [false, true]);
  assert.equal(told.results[0].verdict.constraint, 'account type');
});

test('explain shows which element of a list fails, and why', () => {
  const config = file('each.json', print({ tools: { 'u/t': { scope: 's', arguments: [
    { arg: 'edits', op: 'each',
      value: [{ arg: 'old', op: 'max_length', value: 3 }, { arg: 'n', op: 'le', value: 10 }] }] } } }));
  const call = (edits) => file('call.json', print({ agent: { id: 'x' }, tool: 'u/t', arguments: { edits } }));
  const run = writ('explain', config, call([{ old: 'a', n: 1 }, { old: 'a', n: 70707 }]));
  assert.match(run.out, /^argument +\/edits\/1\/n$/m);
  assert.match(run.out, /^constraint +edits each, n le$/m);
  assert.match(run.out, /^accepted +a number not above 10$/m);
  assert.match(run.out, /fail +edits each: .*\n +at \/edits\/1\/n: a number not above 10\n/);
  assert.doesNotMatch(run.out, /70707/);
  const told = JSON.parse(writ('explain', '--json', config, call([{ old: 'abcd', n: 1 }])).out);
  assert.deepEqual([told.verdict.argument, told.verdict.constraint], ['/edits/0/old', 'edits each, old max_length']);
  assert.deepEqual(told.constraints.map((c) => [c.constraint, c.failed_argument, c.failed_constraint]),
    [['edits each', '/edits/0/old', 'edits each, old max_length']]);
  const unlisted = JSON.parse(writ('explain', '--json', config, call([{ old: 'a', n: 1, x: 1 }])).out);
  assert.equal(unlisted.verdict.argument, '/edits/0/x');
});

test('policy test expects an approval, and says why a case failed', () => {
  const config = file('approval.yaml',
    'reviews: {money: {voters: [{id: ann}]}}\ntools:\n  u/pay:\n    scope: s\n    arguments: [{arg: amount, op: type,' +
      ' value: number}]\n    approval: {review: money, when: [{arg: amount, op: gt, value: 10}]}\n');
  const call = (amount) => `{agent: {id: x}, tool: u/pay, arguments: {amount: ${amount}}}`;
  const good = file('cases.yaml',
    `config: ${config}\ncases:\n- {call: ${call(11)}, expect: require_approval}\n- ` +
      `{call: ${call(11)}, expect: {decision: require_approval, reason: approval_required}}\n- ` +
        `{call: ${call(1)}, expect: {decision: allow}}\n`);
  const run = writ('policy', 'test', good);
  assert.equal(run.code, 0, run.err + run.out);
  const bad = file('cases.yaml',
    `config: ${config}\ncases:\n- {call: ${call(1)}, expect: require_approval}\n` +
    `- {call: ${call('x')}, expect: allow}\n`);
  assert.equal(writ('policy', 'test', bad).out,
    `${bad}:3: failed: decision is "allow", not "require_approval" (policy_ok)\n`
    + `${bad}:4: failed: decision is "deny", not "allow" (constraint_failed, /amount: amount type)\n0 passed, 2 ` +
      `failed\n`);
});

test('policy test can be given another configuration', () => {
  const cases = file('cases.yaml',
    'config: nothing.yaml\ncases:\n- {call: {agent: batch, tool: pay/account, arguments: {account: x}}, expect: ' +
      'allow}\n');
  assert.equal(writ('policy', 'test', cases).code, 3);
  assert.equal(writ('policy', 'test', cases, '--config', example).code, 0);
});

test('policy_test_of_a_case_that_expects_nothing_is_refused_at_its_line', () => {
  const cases = file('cases.yaml',
    `config: ${example}\ncases:\n- call: {agent: dev, tool: u/t}\n  expect: {}\n`);
  const run = writ('policy', 'test', cases);
  assert.equal(run.code, 3);
  assert.match(run.err, /cases\.yaml:4: the case expects nothing: write allow, deny or require_approval, or an object/);
  const none = file('none.yaml', `config: ${example}\n`);
  assert.match(writ('policy', 'test', none).err, /none\.yaml:1: the file lacks cases/);
  assert.doesNotMatch(writ('policy', 'test', file('empty.yaml', '')).err, /:0:/);
});

test('policy test refuses an unreadable file', () => {
  for (const text of ['', '[]', 'config: x\n', 'cases: []\n', `config: ${example}\ncases: [{call: {}}]\n`]) {
    assert.equal(writ('policy', 'test', file('cases.yaml', text)).code, 3, text);
  }
});
