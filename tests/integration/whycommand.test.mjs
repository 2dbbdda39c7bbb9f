// writ why: where a recorded call failed, by file and line, and an edit that lets this call pass.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { bearer, mkdirSync, prepare, writ, writeFileSync } from '../support/js/gateway.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const DEV = bearer('dev', { tenant: 'local', role: 'operator' }), OLGA = bearer('olga', { role: 'auditor' });

/** The configuration, in YAML as people write it. */
const YAML = (url, tools) => `listen: 127.0.0.1:0
admin_listen: 127.0.0.1:0
keys: keys
store: sqlite://ledger.db
include: p
auditors: [auditor]
agents:
${[DEV, OLGA].map(({ entry }) => `- ${JSON.stringify(entry)}\n`).join('')}reviews:
  board: {voters: [{id: ann}, {id: bob}]}
upstreams:
  up: {http: ${url}}
tools:
${tools}`;

async function setUp(t, tools, included = 'tools: {up/nothing: {scope: s}}\n') {
  const up = await startUpstream(t);
  const gw = prepare(t, {});
  const text = YAML(up.url, tools);
  mkdirSync(gw.path('p'));
  writeFileSync(gw.path('p/more.yaml'), included);
  gw.configure(text);
  await gw.start();
  return { up, gw, s: await openSession(gw, { token: DEV.token }), text };
}

/** Why the last call was decided so; `args` are given to the program. */
function why(gw, id, args = undefined, more = []) {
  const given = args === undefined ? [] : ['--arguments', '-'];
  const run = writ(['why', id, '--config', gw.configFile, ...given, ...more],
    args === undefined ? {} : { input: JSON.stringify(args) });
  assert.equal(run.code, 0, run.err);
  return run.out;
}
const facts = (gw, id, args) => JSON.parse(why(gw, id, args, ['--json']));

/** Applies a unified difference of one hunk, as the program `patch` does. */
function patch(difference) {
  const [from, to, hunk, ...lines] = difference.split('\n').slice(0, -1);
  const file = from.slice(4);
  const [start, n, after] = /^@@ -(\d+),(\d+) \+\d+,(\d+) @@$/.exec(hunk).slice(1).map(Number);
  const text = readFileSync(file, 'utf8').split('\n');
  const marked = (marks) => lines.filter((l) => marks.includes(l[0])).map((l) => l.slice(1));
  assert.equal(to, `+++ ${file}`);
  assert.equal(marked(' +').length, after);
  assert.deepEqual(text.splice(start - 1, n, ...marked(' +')), marked(' -'));
  writeFileSync(file, text.join('\n'));
}

const RULES = `  up/bounds:
    scope: s
    arguments:
    - {arg: n, op: le, value: 10}        # at most ten
    - {arg: m, op: lt, value: 5, optional: true}
    - arg: name
      op: in
      value:
      - ann
      - bob                              # the last one
    - {arg: path, op: under, value: /srv/box}
    - arg: mode
      op: eq
      value: fast
      optional: true
    - {arg: url, op: host_in, value: [example.com], optional: true}
    - {arg: word, op: matches, value: '[a-z]+', optional: true}
    - {arg: title, op: max_length, value: 3, optional: true}
    - {arg: kind, op: type, value: string, optional: true}
    - {arg: denied, op: not_in, value: [x, z], optional: true}
    - {arg: tags, op: each, value: [{op: in, value: [a, b]}], optional: true}
    - {arg: never, op: forbidden}
    - {arg: always, op: required}
  up/people:
  - roles: [admin]
    scope: s
    arguments: [{arg: n, op: le, value: 1000}]
  - scope: s
    agents: [batch]
    arguments:
    - {arg: n, op: le, value: 5}
  up/open:
    scope: s
`;
const GOOD = { n: 1, name: 'ann', path: '/srv/box/a', always: 1 };

test('why names rule and constraint by file and line, and the edit lets this call pass', async (t) => {
  const { up, gw, s, text } = await setUp(t, RULES);
  const line = (part) => text.split('\n').findIndex((l) => l.includes(part)) + 1;
  const cases = [
    [{ n: 11 }, 'arg: n, op: le, value: 10', '+    - {arg: n, op: le, value: 11}        # at most ten'],
    [{ m: 7 }, 'arg: m,', '+    - {arg: m, op: le, value: 7, optional: true}'],
    [{ name: 'eve' }, 'arg: name', '+      - eve'],
    [{ path: '/data/x.txt' }, 'arg: path', '+    - {arg: path, op: under, value: [/srv/box, /data/x.txt]}'],
    [{ mode: 'slow' }, 'arg: mode', '+      value: [fast, slow]'],
    [{ url: 'https://Other.example:8443/x' }, 'arg: url',
      '+    - {arg: url, op: host_in, value: [example.com, "other.example:8443"], optional: true}'],
    [{ word: 'A b' }, 'arg: word',
      '+    - {arg: word, op: matches, value: "(?:[a-z]+)|\\\\QA b\\\\E", optional: true}'],
    [{ title: 'größe' }, 'arg: title', '+    - {arg: title, op: max_length, value: 5, optional: true}'],
    [{ kind: 7 }, 'arg: kind', '+    - {arg: kind, op: type, value: [string, number], optional: true}'],
    [{ tags: ['a', 'c'] }, 'arg: tags',
      '+    - {arg: tags, op: each, value: [{op: in, value: [a, b, c]}], optional: true}'],
    [{ denied: 'x' }, 'arg: denied', '+    - {arg: denied, op: not_in, value: [z], optional: true}'],
    [{ n: 'text' }, 'arg: n, op: le, value: 10', null],
    [{ name: null }, 'arg: name', '+      nullable: true'],
    [{ path: undefined }, 'arg: path', '+    - {arg: path, op: under, value: /srv/box, optional: true}'],
  ];
  for (const [change, at, edit] of cases) {
    const args = JSON.parse(JSON.stringify({ ...GOOD, ...change }));
    const answer = await s.call('up__bounds', args);
    assert.equal(answer.reason, 'constraint_failed', JSON.stringify(args));
    const id = answer.refusal.decision_id;
    const told = facts(gw, id, args);
    assert.deepEqual([told.reason, told.reason_now, told.same_policy, told.arguments],
      ['constraint_failed', 'constraint_failed', true, 'given']);
    assert.deepEqual([told.rule.file, told.rule.line, told.rule.ref],
      [gw.configFile, line('up/bounds:'), 'tools/up~1bounds#0']);
    assert.deepEqual([told.constraint.file, told.constraint.line], [gw.configFile, line(at)], JSON.stringify(args));
    assert.equal(told.constraint.name, answer.refusal.constraint);
    assert.equal(told.accepted, answer.refusal.accepted);
    const page = await fetch(`http://127.0.0.1:${gw.adminPort}/v1/ledger/${id}`,
      { headers: { authorization: `Bearer ${OLGA.token}` } });
    const [shown] = (await page.json()).rounds;
    const { name, pointer, ...place } = told.constraint;
    assert.deepEqual(shown.why.constraint, { ...place, accepted: told.accepted }, `the page: ${name} ${pointer}`);
    if (edit === null) {
      assert.equal(told.edit, null);
      assert.match(told.note, /^No small edit/);
      continue;
    }
    assert.ok(told.edit.split('\n').includes(edit), told.edit);
    assert.equal(told.edit.split('\n').filter((l) => /^[+-]/.test(l)).length <= 6, true, told.edit);
    assert.equal(readFileSync(gw.configFile, 'utf8'), text, 'nothing is written');

    patch(told.edit);
    const from = gw.log.length;
    gw.child.kill('SIGHUP');
    await gw.waitLog('reloaded', from);
    assert.equal((await s.call('up__bounds', args)).status, 200, told.edit);
    assert.equal((await s.call('up__bounds', { ...GOOD, ...change, n: 12 })).reason, 'constraint_failed');
    assert.match(facts(gw, id, args).note, /^The configuration as it is now allows the call/);
    gw.configure(text);
    const again = gw.log.length;
    gw.child.kill('SIGHUP');
    await gw.waitLog('reloaded', again);
  }
  // several places at once, an argument without a constraint, and a rule without arguments
  const many = { ...GOOD, n: 99, name: 'eve', extra: { deep: [1, 'x: y'] }, never: true };
  const { refusal } = await s.call('up__bounds', many);
  const told = facts(gw, refusal.decision_id, many);
  assert.match(told.edit, /^\+ {4}- \{arg: n, op: le, value: 99\}/m);
  assert.match(told.edit, /^- {4}- \{arg: never, op: forbidden\}/m);
  const none = await s.call('up__open', { a: 1 });
  assert.match(facts(gw, none.refusal.decision_id, { a: 1 }).edit,
    /^\+ {4}arguments: \[\{arg: a, op: eq, value: 1\}\]$/m);
  for (const one of [told.edit, facts(gw, none.refusal.decision_id, { a: 1 }).edit]) {
    patch(one);
    assert.equal(writ(['check', gw.configFile]).code, 0);
    gw.configure(text);
  }
  assert.ok(up.calls.length > 0);
});

test('why says whom a rule is for, and refuses the arguments of another call', async (t) => {
  const { gw, s } = await setUp(t, RULES);
  const { refusal } = await s.call('up__people', { n: 500 });
  assert.equal(refusal.reason, 'agent_not_permitted');
  const told = facts(gw, refusal.decision_id, { n: 500 });
  assert.deepEqual([told.rule, told.nearest.ref, told.nearest.is_for], [null, 'tools/up~1people#0', 'roles admin']);
  assert.match(told.edit, /^\+ {2}- roles: \[admin, operator\]$/m);
  const text = why(gw, refusal.decision_id);
  assert.match(text, /^deny: agent_not_permitted /);
  assert.match(text, /^nearest rule +tools\/up~1people#\d at \S+writ\.yaml:\d+, for /m);
  assert.match(text, /^note +Without the arguments nothing more is known/m);

  const other = writ(['why', refusal.decision_id, '--config', gw.configFile, '--arguments', '-'],
    { input: '{"n":501}' });
  assert.equal(other.code, 3);
  assert.match(other.err, /the arguments are those of another call: their digest is sha256:/);
  assert.doesNotMatch(other.err + other.out, /501/);
  assert.equal(writ(['why', '0190a7b0-0000-7000-8000-000000000000', '--config', gw.configFile]).code, 3);

  const allowed = gw.decisions().find((d) => d.decision === 'allow');
  assert.equal(allowed, undefined);
});

test('why uses arguments that a review keeps, prints none of them, and names included files', async (t) => {
  const { gw, s } = await setUp(t, '  up/pay: {scope: s, arguments: [{arg: iban, op: type, value: string}], ' +
    'approval: {review: board}}\n', 'agreed: false\ntools:\n  up/draft:\n    scope: s\n' +
    '    arguments: [{arg: n, op: type, value: number}]\n');
  const asked = await s.call('up__pay', { iban: 'DE89SECRET' });
  const id = asked.refusal.decision_id;
  const kept = facts(gw, id);
  assert.deepEqual([kept.decision, kept.arguments], ['require_approval', 'kept']);
  assert.doesNotMatch(why(gw, id) + JSON.stringify(kept), /DE89SECRET/);
  gw.configure(readFileSync(gw.configFile, 'utf8').replace('op: type, value: string', 'op: prefix, value: FR'));
  const changed = facts(gw, id);
  assert.deepEqual([changed.same_policy, changed.reason_now, changed.edit], [false, 'constraint_failed', null]);
  assert.match(changed.note, /^An edit would contain values of the call/);
  assert.doesNotMatch(why(gw, id), /DE89SECRET/);

  const { refusal } = await s.call('up__draft', { n: 1 });
  assert.equal(refusal.reason, 'not_agreed');
  const draft = facts(gw, refusal.decision_id, { n: 1 });
  assert.deepEqual([draft.rule.file, draft.rule.line], [gw.path('p/more.yaml'), 3]);
  assert.match(draft.edit, /^-agreed: false\n\+agreed: true$/m);
});

test('why edits a configuration in JSON as JSON', async (t) => {
  const up = await startUpstream(t);
  const gw = await prepare(t, { upstreams: { up: { http: up.url } }, tools: { 'up/pay': { scope: 's',
    arguments: [{ arg: 'to', op: 'in', value: ['a'] }, { arg: 'n', op: 'lt', value: 5 }] } } }).start();
  const s = await openSession(gw);
  const args = { to: 'größer 😀', n: 5, more: null };
  const { refusal } = await s.call('up__pay', args);
  patch(facts(gw, refusal.decision_id, args).edit);
  const edited = JSON.parse(readFileSync(gw.configFile, 'utf8'));
  assert.deepEqual(edited.tools['up/pay'].arguments, [{ arg: 'to', op: 'in', value: ['a', 'größer 😀'] },
    { arg: 'n', op: 'le', value: 5 }, { arg: 'more', op: 'eq', value: null }]);
  assert.equal((await gw.reload(edited)).event, 'reloaded');
  assert.equal((await s.call('up__pay', args)).said, 'ran 1');
});
