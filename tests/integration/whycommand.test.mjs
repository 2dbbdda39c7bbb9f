// writ why: where a recorded call failed, by file and line, and an edit that lets this call pass.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
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
  board: {voters: [{id: olga}]}
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

/** The verdict about a call of dev, without a gateway. */
function judge(gw, tool, args, agent = 'dev') {
  const run = writ(['explain', gw.configFile, '-', '--json'],
    { input: JSON.stringify({ agent, tool: `up/${tool}`, arguments: args }) });
  assert.ok(run.code === 0 || run.code === 1, run.err);
  return JSON.parse(run.out).verdict.decision;
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

/** Applies a unified difference, as the program `patch` does; the last hunk first. */
function patch(difference) {
  const [from, to, ...rest] = difference.split('\n').slice(0, -1);
  const file = from.slice(4);
  const text = readFileSync(file, 'utf8').split('\n');
  assert.equal(to, `+++ ${file}`);
  for (const hunk of rest.join('\n').split(/^(?=@@ )/m).reverse()) {
    const [head, ...lines] = hunk.replace(/\n$/, '').split('\n');
    const [start, n, after] = /^@@ -(\d+),(\d+) \+\d+,(\d+) @@$/.exec(head).slice(1).map(Number);
    const marked = (marks) => lines.filter((l) => marks.includes(l[0])).map((l) => l.slice(1));
    assert.equal(marked(' +').length, after);
    assert.deepEqual(text.splice(start - 1, n, ...marked(' +')), marked(' -'));
  }
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
    const { arguments: known, reason_now, edit: none, note, nearest, ...same } = shown.why;
    assert.deepEqual(same, Object.fromEntries(Object.keys(same).map((name) => [name, told[name]])), 'as the command');
    assert.deepEqual([known, reason_now, none, nearest], ['unknown', null, null, null]);
    assert.match(note, /^Without the arguments/);
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
    /^\+ {4}arguments: \[\{arg: a, op: eq, value: 1, optional: true\}\]$/m);
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
  const file = readFileSync(gw.configFile, 'utf8');
  patch(told.edit);
  assert.equal(writ(['check', gw.configFile]).code, 0);
  assert.deepEqual([judge(gw, 'people', { n: 500 }), judge(gw, 'people', { n: 1001 }),
    judge(gw, 'people', { n: 500 }, 'olga')], ['allow', 'deny', 'deny']);
  gw.configure(file);
  const text = why(gw, refusal.decision_id);
  assert.match(text, /^deny: agent_not_permitted /);
  assert.match(text, /^nearest rule +tools\/up~1people#\d at \S+writ\.yaml:\d+, for /m);
  assert.match(text, /^note +Without the arguments nothing more is known/m);

  const other = writ(['why', refusal.decision_id, '--config', gw.configFile, '--arguments', '-'],
    { input: '{"n":50150150150}' });
  assert.equal(other.code, 3);
  assert.match(other.err, /the arguments are those of another call: their digest is sha256:/);
  assert.doesNotMatch(other.err + other.out, /50150150/);
  const inexact = writ(['why', refusal.decision_id, '--config', gw.configFile, '--arguments', '-'],
    { input: '{"n":500.00000000000000000001}' }); // the digest of {"n":500}
  assert.equal(inexact.code, 3);
  assert.match(inexact.err, /the arguments are those of another call: a number of them is not exact/);
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
  assert.deepEqual([kept.decision, kept.arguments], ['require_approval', 'review']);
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
    { arg: 'n', op: 'le', value: 5 }, { arg: 'more', op: 'eq', value: null, optional: true }]);
  assert.equal((await gw.reload(edited)).event, 'reloaded');
  assert.equal((await s.call('up__pay', args)).said, 'ran 1');
});

test('why_edit_of_characters_that_hide_is_a_text_that_the_file_can_hold', async (t) => {
  const hidden = ['\u{10ffff}', 'a\u{e0041}b', '\ud83d\ude00', 'a\u202eb\u2028\u0085\u200b\ufeff', '\n"\\\0'];
  const list = [{ arg: 'v', op: 'in', value: ['a'] }], more = [{ arg: 'v', op: 'eq', value: { a: 1 } }];
  const files = {
    block: (up) => YAML(up.url, STYLES.block([['one', list], ['deep', more]])),
    flow: (up) => YAML(up.url, STYLES.flow([['one', list], ['deep', more]])),
    json: (up) => JSON.stringify({ listen: '127.0.0.1:0', admin_listen: '127.0.0.1:0', keys: 'keys',
      store: 'sqlite://ledger.db', agents: [DEV.entry], upstreams: { up: { http: up.url } }, tools: {
        'up/one': { scope: 's', arguments: list }, 'up/deep': { scope: 's', arguments: more } } }, null, 1),
  };
  for (const [style, file] of Object.entries(files)) {
    const up = await startUpstream(t);
    const gw = prepare(t, {});
    mkdirSync(gw.path('p'));
    gw.configure(file(up));
    await gw.start();
    const s = await openSession(gw, { token: DEV.token });
    for (const text of hidden) {
      for (const [tool, v] of [['one', text], ['deep', { [text]: [text] }]]) {
        const { refusal } = await s.call(`up__${tool}`, { v });
        const { edit } = facts(gw, refusal.decision_id, { v });
        const said = `${style} ${tool} ${JSON.stringify(text)}\n${edit}`;
        assert.doesNotMatch(edit, /[^\n\P{C}]|[\u2028\u2029]|\\u\{/u, said);
        patch(edit);
        assert.equal(judge(gw, tool, { v }), 'allow', said);
        if (style === 'json') JSON.parse(readFileSync(gw.configFile, 'utf8'));
        gw.configure(file(up));
      }
    }
    await gw.stop();
  }
});

/** For each op: its value, a call that passes, one that is refused (v of it), and one that the edit must not let pass.
 * Without `refused` no edit is known: no change of the value lets a value of another type pass. */
const OPS = [
  { op: 'eq', value: 'fast', passes: 'fast', refused: 'slow', neighbour: 'slower' },
  { op: 'eq', value: { a: [1] }, passes: { a: [1] }, refused: { a: [2] }, neighbour: { a: [3] } },
  { op: 'ne', value: 'x', passes: 'y', refused: 'x', neighbour: 7 },
  { op: 'in', value: [1, 2], passes: 2, refused: 3.5, neighbour: 3 },
  { op: 'in', value: ['a'], passes: 'a', refused: null, neighbour: 'b' },
  { op: 'not_in', value: ['x', 'z'], passes: 'y', refused: 'x', neighbour: 'z' },
  { op: 'not_in', value: ['x'], passes: 'y', refused: 'x', neighbour: true },
  { op: 'lt', value: 5, passes: 4, refused: 5, neighbour: 5.01 },
  { op: 'le', value: 5, passes: 5, refused: 5.5, neighbour: 5.51 },
  { op: 'gt', value: 5, passes: 6, refused: 5, neighbour: 4.99 },
  { op: 'ge', value: 5, passes: 5, refused: -1, neighbour: -1.5 },
  { op: 'ge', value: 5, passes: 5, refused: 'five', neighbour: 'six', none: true },
  { op: 'type', value: 'string', passes: 'a', refused: 7, neighbour: true },
  { op: 'min_length', value: 3, passes: 'abc', refused: 'ab', neighbour: 'a' },
  { op: 'max_length', value: 3, passes: 'abc', refused: 'größe', neighbour: 'größer' },
  { op: 'prefix', value: 'tmp-', passes: 'tmp-1\n', refused: 'data-*.(x)', neighbour: 'data-*.(x)y' },
  { op: 'prefix', value: 'tmp-', passes: 'tmp-1', refused: 7, neighbour: 8, none: true },
  { op: 'suffix', value: '.txt', passes: 'a\n.txt', refused: 'a.txt.exe', neighbour: 'b.txt.exe' },
  { op: 'matches', value: '[a-z]+', passes: 'abc', refused: 'A b', neighbour: 'A bc' },
  { op: 'glob', value: 'src/**', passes: 'src/a/b', refused: 'doc/[a]*?.md', neighbour: 'doc/[a]b?.md' },
  { op: 'glob', value: ['*.c', '*.h'], passes: 'a.h', refused: 'Makefile', neighbour: 'Makefiles' },
  { op: 'glob', value: 'src/**', passes: 'src/a', refused: 'src/../etc/passwd', neighbour: 'etc/passwd', none: true },
  { op: 'under', value: '/srv/box', passes: '/srv/box/a', refused: '/data/x.txt', neighbour: '/data/y.txt' },
  { op: 'under', value: ['/srv/box'], passes: '/srv/box/a', refused: 'a', neighbour: 'b', none: true },
  { op: 'host_in', value: ['example.com'], passes: 'https://example.com/', refused: 'https://other.example:8443/x',
    neighbour: 'https://other.example/x' },
  { op: 'schema', value: { type: 'string', maxLength: 2 }, passes: 'ab', refused: 'abc', neighbour: 7, none: true },
  { op: 'not_matches', value: 'a+', passes: 'ab', refused: 'aa', neighbour: 'aaa', none: true },
  { op: 'lacks', value: ['card.number'], passes: 'ab', refused: '4111111111111111',
    neighbour: '5500000000000004', none: true },
  { op: 'contains', value: 'card.*', passes: '4111111111111111', refused: 'ab', neighbour: 'b', none: true },
  { op: 'each', value: [{ op: 'in', value: ['a', 'b'] }], passes: ['b'], refused: ['a', 'c'], neighbour: ['d'] },
  { op: 'each', value: [{ arg: 'n', op: 'le', value: 2 }, { op: 'type', value: 'object' }], passes: [{ n: 2 }],
    refused: [{ n: 1 }, { n: 9 }], neighbour: [{ n: 9.5 }] },
  { op: 'min_items', value: 2, passes: ['a', 'a'], refused: ['a'], neighbour: [], more: [{ op: 'each',
    value: [{ op: 'eq', value: 'a' }] }] },
  { op: 'max_items', value: 1, passes: ['a'], refused: ['a', 'a'], neighbour: ['a', 'a', 'a'], more: [{ op: 'each',
    value: [{ op: 'eq', value: 'a' }] }] },
  { op: 'required', passes: 'a', refused: undefined, neighbour: null },
  { op: 'required', passes: 'a', refused: null, neighbour: undefined },
  { op: 'forbidden', passes: undefined, refused: 'x', neighbour: 'y' },
  { op: 'le', value: 5, passes: 5, refused: undefined, neighbour: 6 },
  { op: 'le', value: 5, passes: 5, refused: null, neighbour: undefined },
];
const STYLES = {
  block: (rules) => rules.map(([name, list]) => `  up/${name}:\n    scope: s\n    arguments:\n` +
    list.map((c) => `    - ${Object.entries(c).map(([k, v]) => `${k}: ${JSON.stringify(v)}`).join('\n      ')}\n`)
      .join('')).join(''),
  flow: (rules) => rules.map(([name, list]) =>
    `  up/${name}: {scope: s, arguments: ${JSON.stringify(list)}}\n`).join(''),
};

for (const [style, write] of Object.entries(STYLES)) {
  test(`why_edit_of_each_op_in_${style}_style_allows_the_call_and_no_neighbour`, async (t) => {
    const schema = readFileSync(`${process.env.WRIT_SOURCE_DIR}/config/writ.schema.json`, 'utf8');
    const known = JSON.parse(schema).$defs.constraint.properties.op.enum;
    // the run decides about from: no value of a call is a source
    assert.deepEqual([...new Set(OPS.map(({ op }) => op)), 'from'].sort(), [...known].sort());
    const rules = OPS.map(({ op, value, more = [] }, i) => [`t${i}`,
      [{ arg: 'v', op, ...(value !== undefined && { value }) }, ...more.map((one) => ({ arg: 'v', ...one }))]]);
    const { gw, s, text } = await setUp(t, write(rules));
    for (const [i, { op, passes, refused, neighbour, none }] of OPS.entries()) {
      const of = (v) => JSON.parse(JSON.stringify({ v }));
      const said = `${op} ${JSON.stringify(refused)}`;
      assert.equal(judge(gw, `t${i}`, of(passes)), 'allow', said);
      assert.equal(judge(gw, `t${i}`, of(neighbour)), 'deny', said);
      const { refusal } = await s.call(`up__t${i}`, of(refused));
      const told = facts(gw, refusal.decision_id, of(refused));
      assert.equal(told.edit === null, none === true, `${said}: ${told.edit}`);
      if (none) continue;
      patch(told.edit);
      const check = writ(['check', gw.configFile]);
      assert.equal(check.code, 0, `${said}\n${told.edit}\n${check.out}${check.err}`);
      assert.equal(judge(gw, `t${i}`, of(refused)), 'allow', `${said}\n${told.edit}`);
      assert.equal(judge(gw, `t${i}`, of(neighbour)), 'deny', `${said}: the neighbour\n${told.edit}`);
      assert.equal(judge(gw, `t${i}`, of(passes)), 'allow', `${said}: what passed before\n${told.edit}`);
      gw.configure(text);
    }
  });
}

test('why_of_a_tool_without_a_rule_proposes_a_rule_for_these_arguments_alone', async (t) => {
  const up = await startUpstream(t);
  const base = { upstreams: { up: { http: up.url } }, agents: [{ ...DEV.entry }, { ...OLGA.entry }] };
  const files = {
    block: YAML(up.url, '  up/other: {scope: s}\n'),
    'block, no tools': YAML(up.url, '').replace(/tools:\n$/, ''),
    'empty map': YAML(up.url, '').replace(/tools:\n$/, 'tools: {}\n'),
    flow: YAML(up.url, '').replace(/tools:\n$/, 'tools: {up/other: {scope: s}} # few\n'),
    JSON: JSON.stringify({ ...base, tools: { 'up/other': { scope: 's' } } }, null, 2),
    'JSON, no tools': JSON.stringify(base),
  };
  for (const [style, text] of Object.entries(files)) {
    for (const args of [{ to: 'a: b', n: 1.50, deep: { 'x/y': [1, null] }, '/odd~name': true, '': 'empty' }, {}]) {
      const gw = prepare(t, {});
      mkdirSync(gw.path('p'));
      writeFileSync(gw.path('p/more.yaml'), 'tools: {up/nothing: {scope: s}}\n');
      gw.configure(style.startsWith('JSON') ? JSON.stringify({ ...JSON.parse(text), listen: '127.0.0.1:0',
        admin_listen: '127.0.0.1:0', keys: 'keys', store: 'sqlite://ledger.db' }) : text);
      await gw.start();
      const s = await openSession(gw, { token: DEV.token });
      const { refusal } = await s.call('up__pay{x}', args);
      assert.match(refusal.reason, /^(tool|upstream)_not_listed$/, style);
      const told = facts(gw, refusal.decision_id, args);
      assert.ok(told.edit, `${style}: ${told.note}`);
      patch(told.edit);
      const check = writ(['check', gw.configFile]);
      assert.equal(check.code, 0, `${style}\n${told.edit}\n${check.out}${check.err}`);
      assert.equal(judge(gw, 'pay{x}', args), 'allow', `${style}\n${told.edit}`);
      for (const neighbour of [{ ...args, n: 1.51 }, { ...args, more: 1 }, { ...args, to: 'a: c' }]) {
        assert.equal(judge(gw, 'pay{x}', neighbour), 'deny', told.edit);
      }
      assert.equal(judge(gw, 'pay{x}', args, 'olga'), 'deny', told.edit);
      assert.equal(judge(gw, 'pay{x}2', args), 'deny', told.edit);
      await gw.stop?.();
    }
  }
});

test('why_names_a_rule_that_refuses_one_argument_alone_as_the_nearest', async (t) => {
  const { gw, s } = await setUp(t, `  up/pay:
  - roles: [operator]
    scope: s
    arguments: [{arg: n, op: le, value: 10}, {arg: to, op: in, value: [ann]}]
  - roles: [clerk]
    scope: s
    arguments: [{arg: n, op: le, value: 100}, {arg: to, op: in, value: [ann, bob]}]
  - roles: [boss]
    scope: s
    arguments: [{arg: n, op: le, value: 1}, {arg: to, op: in, value: [eve]}]
`);
  const args = { n: 500, to: 'bob' };
  const { refusal } = await s.call('up__pay', args);
  const told = facts(gw, refusal.decision_id, args);
  const { ref, is_for, argument, constraint, accepted } = told.nearest;
  assert.deepEqual([ref, is_for, argument, constraint, accepted],
    ['tools/up~1pay#1', 'roles clerk', '/n', 'n le', 'a number not above 100']);
  assert.match(why(gw, refusal.decision_id, args), new RegExp('^nearest rule +tools/up~1pay#1 at \\S+:\\d+ ' +
    'refuses /n alone \\(n le: a number not above 100\\), for roles clerk$', 'm'));
  const far = { n: 500, to: 'joe' };
  const { refusal: second } = await s.call('up__pay', far);
  assert.equal(facts(gw, second.decision_id, far).nearest, null, 'two constraints are not near');
});

test('why_edit_of_a_budget_that_is_too_small_for_the_call_moves_its_limit', async (t) => {
  const { gw, s } = await setUp(t, `  up/pay:
    scope: s
    arguments: [{arg: n, op: type, value: number}]
    budgets:
    - {per: [agent], window: 1h, sum: {arg: n, max: 10}} # an hour
`);
  const { refusal } = await s.call('up__pay', { n: 20.5 });
  assert.equal(refusal.reason, 'budget_exceeded');
  const told = facts(gw, refusal.decision_id, { n: 20.5 });
  assert.match(told.edit, /^\+ {4}- \{per: \[agent\], window: 1h, sum: \{arg: n, max: 20\.5\}\} # an hour$/m);
  patch(told.edit);
  assert.equal(writ(['check', gw.configFile]).code, 0);
  assert.deepEqual([20.5, 20.51, 9].map((n) => judge(gw, 'pay', { n })), ['allow', 'deny', 'allow']);
});

test('why_writes_no_value_of_a_secret_argument_into_an_edit', async (t) => {
  const { gw, s } = await setUp(t, `  up/unlock:
    scope: s
    arguments:
    - {arg: pin, op: matches, value: "[0-9]{4}", secret: true}
    - {arg: door, op: in, value: [front]}
    - {arg: device, op: type, value: object, optional: true}
    - {arg: /device/key, op: max_length, value: 4, secret: true, optional: true}
`);
  for (const [args, edit] of [
    [{ pin: 'hunter2', door: 'front' }, null], [{ pin: '1234', Pin: 'hunter2', door: 'front' }, null],
    [{ pin: '1234', door: 'front', device: { key: 'hunter2' } }, null],
    [{ pin: '1234', door: 'front', device: { other: 'hunter2' } }, null],
    [{ pin: '1234', door: 'back' }, /value: \[front, back\]/], [{ pin: null, door: 'front' }, /nullable: true/],
  ]) {
    const { refusal } = await s.call('up__unlock', args);
    const told = facts(gw, refusal.decision_id, args);
    if (edit === null) assert.equal(told.edit, null, JSON.stringify(args));
    else assert.match(told.edit, edit);
    assert.doesNotMatch(JSON.stringify(told) + why(gw, refusal.decision_id, args), /hunter2/);
  }
});

// ---- with kept contents

const RITA = bearer('rita', { role: 'clerk' }); // reads contents, not the policy
const ANNA = bearer('anna', { role: 'auditor', tenant: 'local' }); // both, for a tenant that is not the only one
const JOE = bearer('joe', { role: 'auditor' }); // reads the policy, not contents
const READERS = [RITA, ANNA, JOE];
const KEEPING = `  up/pay:
  - roles: [operator]
    scope: s
    arguments:
    - {arg: n, op: le, value: 10} # at most ten
    - {arg: to, op: in, value: [ann]}
    - {arg: pin, op: matches, value: '[0-9]+', optional: true, secret: true}
    contents: {keep: 1h}
  - roles: [clerk]
    scope: s
    arguments: [{arg: n, op: le, value: 1000}, {arg: to, op: in, value: [ann]}]
    contents: {keep: 1h}
  up/silent:
    scope: s
    arguments: [{arg: n, op: le, value: 10}]
`;

/** A gateway that keeps contents, for tools of the text; beside `tools` stands a note, which no reader of the policy gets. */
async function keeping(t, tools = KEEPING, write = (text) => text) {
  const up = await startUpstream(t);
  const gw = prepare(t, {}, { prepare: (dir) => assert.equal(
    writ(['keys', 'new', '--purpose', 'contents', '--dir', `${dir}/keys`]).code, 0) });
  mkdirSync(gw.path('p'));
  const text = write(YAML(up.url, '').replace('reviews:', `${READERS.map(({ entry }) => `- ${JSON.stringify(entry)}\n`)
    .join('')}content_readers: [olga, rita, anna]\nreviews:`).replace('tools:\n', `# secret-note\ntools:\n${tools}`));
  gw.configure(text);
  await gw.start();
  return { gw, text, s: await openSession(gw, { token: DEV.token }) };
}

async function asks(gw, who, path) {
  const answer = await fetch(`http://127.0.0.1:${gw.adminPort}/v1/${path}`,
    { headers: { authorization: `Bearer ${who.token}` } });
  return { status: answer.status, ...(await answer.json()) };
}

/** The looks that the ledger has recorded. */
function looks(gw) {
  const db = new DatabaseSync(gw.ledgerFile, { readOnly: true });
  const facts = db.prepare('SELECT bytes FROM record JOIN body USING (leaf) WHERE kind = 5 ORDER BY leaf').all()
    .map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString()));
  db.close();
  return facts.filter(({ event }) => event === 'contents_looked').map(({ data }) => data);
}

test('why_over_http_with_kept_contents_records_the_look_and_gives_the_edit_of_the_command', async (t) => {
  const { gw, s, text } = await keeping(t);
  const args = { n: 20, to: 'bob' };
  const { refusal: { decision_id: id } } = await s.call('up__pay', args);
  const { status, ...told } = await asks(gw, OLGA, `contents/${id}/why`);
  const { arguments: known, edit, ...same } = told;
  const { arguments: given, edit: whole, ...expected } = facts(gw, id, args);
  assert.deepEqual([status, known, given], [200, 'contents', 'given']);
  assert.deepEqual(same, expected, 'but for the lines around the edit, as the command');
  assert.deepEqual(edit.split('\n').filter((l) => /^[+-]/.test(l)), whole.split('\n').filter((l) => /^[+-]/.test(l)));
  assert.match(edit, /^\+ {4}- \{arg: to, op: in, value: \[ann, bob\]\}$/m);
  const { decision_id: _, ...seen } = looks(gw).at(-1);
  assert.deepEqual([looks(gw).length, _, seen.by, seen.purpose, seen.count], [1, id, 'olga', 'why', 1]);
  assert.equal(readFileSync(gw.configFile, 'utf8'), text, 'nothing is written');
  patch(edit);
  assert.equal(judge(gw, 'pay', args), 'allow');
  gw.configure(text);

  // who may read only one of the two, or who sees one tenant of several
  const refused = await asks(gw, RITA, `contents/${id}/why`);
  assert.deepEqual([refused.status, refused.reason], [403, 'not_administrator']);
  assert.equal((await asks(gw, JOE, `contents/${id}/why`)).reason, 'not_content_reader');
  assert.equal(looks(gw).length, 1, 'a refused look is none');
  const narrow = await asks(gw, ANNA, `contents/${id}/why`);
  assert.deepEqual([narrow.edit, narrow.nearest, narrow.rule.line], [null, null, told.rule.line]);
  assert.match(narrow.note, /^An edit and the nearest rule are for those who may read the rules of all tenants/);
  const [{ why: life }] = (await asks(gw, ANNA, `ledger/${id}`)).rounds;
  assert.deepEqual([life.nearest, life.edit, life.arguments], [null, null, 'unknown']);
  assert.equal((await asks(gw, JOE, `ledger/${id}`)).rounds[0].why.nearest.ref, 'tools/up~1pay#1');
  assert.equal((await asks(gw, OLGA, 'contents/none/why')).status, 404);

  // nothing is kept, or not all of it
  const silent = await s.call('up__silent', { n: 11 });
  const none = await asks(gw, OLGA, `contents/${silent.refusal.decision_id}/why`);
  assert.deepEqual([none.arguments, none.edit, none.constraint.name], ['none', null, 'n le']);
  const before = looks(gw).length;
  const secret = await s.call('up__pay', { n: 20, to: 'ann', pin: '12345678' });
  const part = await asks(gw, OLGA, `contents/${secret.refusal.decision_id}/why`);
  assert.deepEqual([part.arguments, part.edit, part.reason_now], ['partial', null, null]);
  assert.match(part.note, /^Secret members of the arguments were never kept/);
  assert.equal(looks(gw).length, before + 1);

  // rules that the gateway has not loaded yet
  gw.configure(text.replace('value: 10} #', 'value: 30} #'));
  const changed = await asks(gw, OLGA, `contents/${id}/why`);
  assert.equal(changed.edit, null);
  assert.match(changed.note, /^No edit is tried: the files of the configuration do not have the rules/);
});

test('why_over_http_shows_lines_of_rules_and_no_other_line', async (t) => {
  const one = `  up/pay: {scope: s, contents: {keep: 1h}, arguments: [{arg: n, op: le, value: 10}]}\n`;
  const { gw, s, text } = await keeping(t, one);
  const { refusal: { decision_id: id } } = await s.call('up__pay', { n: 20 });
  const { edit } = await asks(gw, OLGA, `contents/${id}/why`);
  assert.deepEqual(edit.split('\n').slice(2, -1).filter((l) => !l.startsWith('@@')).map((l) => l[0]), ['-', '+'], edit);
  assert.match(facts(gw, id, { n: 20 }).edit, /secret-note/, 'the command shows what is around');
  assert.doesNotMatch(edit, /secret-note/);
  patch(edit);
  assert.equal(judge(gw, 'pay', { n: 20 }), 'allow');
  gw.configure(text);
});

test('why_over_http_of_a_file_in_one_line_gives_no_edit', async (t) => {
  const up = await startUpstream(t);
  const tools = { 'up/pay': { scope: 's', contents: { keep: '1h' }, arguments: [{ arg: 'n', op: 'le', value: 10 }] } };
  const gw = prepare(t, { upstreams: { up: { http: up.url } }, agents: [DEV.entry, OLGA.entry],
    auditors: ['auditor'], content_readers: ['olga'], tools }, { prepare: (dir) => assert.equal(
    writ(['keys', 'new', '--purpose', 'contents', '--dir', `${dir}/keys`]).code, 0) });
  gw.configure(JSON.stringify(JSON.parse(readFileSync(gw.configFile, 'utf8'))));
  await gw.start();
  const s = await openSession(gw, { token: DEV.token });
  const { refusal: { decision_id: id } } = await s.call('up__pay', { n: 20 });
  assert.equal(readFileSync(gw.configFile, 'utf8').trim().split('\n').length, 1);
  const told = await asks(gw, OLGA, `contents/${id}/why`);
  assert.equal(told.edit, null);
  assert.match(told.note, /^An edit is known, and is not shown: its line has other options beside rules/);
  assert.match(facts(gw, id, { n: 20 }).edit, /"value": ?20/);
});

test('why_with_contents_opens_them_at_the_gateway_or_in_the_ledger_and_records_the_look', async (t) => {
  const { gw, s } = await keeping(t);
  const args = { n: 20, to: 'bob' };
  const { refusal: { decision_id: id } } = await s.call('up__pay', args);
  const { refusal: { decision_id: silent } } = await s.call('up__silent', { n: 11 });
  const { refusal: { decision_id: secret } } = await s.call('up__pay', { n: 20, to: 'ann', pin: '12345678' });
  const token = (who) => {
    writeFileSync(gw.path(`${who.entry.id}.token`), who.token, { mode: 0o600 });
    return ['--url', `http://127.0.0.1:${gw.adminPort}`, '--token', gw.path(`${who.entry.id}.token`)];
  };
  const run = (about, ...more) => writ(['why', about, '--config', gw.configFile, '--contents', '--json', ...more]);
  const { arguments: _, ...expected } = facts(gw, id, args);
  const told = (about, ...more) => {
    const { code, out, err } = run(about, ...more);
    assert.equal(code, 0, err);
    const { arguments: known, ...same } = JSON.parse(out);
    if (about === id) assert.deepEqual(same, expected);
    return [known, same.edit === null, same.note];
  };

  // beside a gateway
  assert.deepEqual(told(id, ...token(OLGA)), ['contents', false, '']);
  assert.deepEqual(looks(gw).map(({ by, purpose, decision_id }) => [by, purpose, decision_id]), [['olga', 'show', id]]);
  const refused = run(id, ...token(JOE));
  assert.ok(refused.code !== 0 && refused.out === '', refused.out);
  assert.match(refused.err, /not_content_reader/);
  const busy = run(id);
  assert.ok(busy.code !== 0 && busy.out === '', busy.out);
  assert.match(busy.err, /a gateway has the ledger open, and must record that its contents were read: pass the URL/);
  assert.equal(looks(gw).length, 1);
  assert.deepEqual(told(silent, ...token(OLGA)).slice(0, 2), ['none', true]);
  assert.equal(looks(gw).length, 1, 'there was nothing to see');
  assert.deepEqual(told(secret, ...token(OLGA)), ['partial', true,
    'Secret members of the arguments were never kept, and without them the call cannot be judged again.']);
  assert.doesNotMatch(gw.logText, /"bob"/);

  // without one
  await gw.stop();
  const before = looks(gw).length;
  assert.deepEqual(told(id), ['contents', false, '']);
  assert.deepEqual(told(id, '--keys', gw.path('keys')), ['contents', false, '']);
  const [first, second, ...none] = looks(gw).slice(before);
  assert.deepEqual([first.purpose, first.decision_id, first.count, second.decision_id, none], ['why', id, 1, id, []]);
  assert.match(first.by, /^writ why, run by /);
  assert.deepEqual(told(silent).slice(0, 2), ['none', true]);
  assert.equal(told(secret)[0], 'partial');
  assert.equal(gw.verify().facts, before + 3);
  assert.match(writ(['why', silent, '--config', gw.configFile, '--contents']).out,
    /^note +No arguments of this call were kept, .* Pass them with --arguments FILE/m);
  writ(['ledger', 'erase', gw.configFile, '--decision', id, '--yes']);
  assert.deepEqual(told(secret)[0], 'partial');
  const erased = JSON.parse(run(id).out);
  assert.deepEqual([erased.arguments, erased.edit], ['erased', null]);
});

test('why_with_options_that_contradict_each_other_is_a_fault_of_the_command_line', () => {
  const url = ['--url', 'http://127.0.0.1:9'], token = ['--token', 'file'];
  for (const [options, said] of [
    [['--keys', 'k'], /--keys is for --contents/], [[...url, ...token], /--url is for --contents/],
    [['--contents', '--arguments', 'f'], /either --arguments or --contents/],
    [['--contents', ...url], /belong together/], [['--contents', ...token], /belong together/],
    [['--contents', '--ca', 'f'], /belong together/],
    [['--contents', ...url, ...token, '--keys', 'k'], /--keys is for/],
  ]) {
    const run = writ(['why', '0190a7b0', '--config', 'none.yaml', ...options]);
    assert.deepEqual([run.code, run.out], [2, ''], run.err);
    assert.match(run.err, said);
  }
  const odd = writ(['why', 'a/b', '--config', 'none.yaml', '--contents', ...url, ...token]);
  assert.match(odd.err, /not the id of a decision/);
});
