// writ policy learn: what a learned policy refuses of calls that it was not learned from, honest and wrong; what it
// does with the rules that are there; and that its difference applies.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writ } from '../support/js/gateway.mjs';
import { judged, learn, measure, traffic } from '../support/js/learning.mjs';

const folderOf = (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'writ-learning-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
};
const HEAD = `listen: 127.0.0.1:8700
issuer: https://gateway.example.com
keys: keys
store: sqlite://ledger.db
agents:
  - {id: dev, tenant: acme, role: operator,
     bearer_sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}
upstreams:
  fs: {http: "http://127.0.0.1:9000/mcp"}
`;

/** A configuration and calls in a new folder. `run` runs writ there. */
function place(t, tools, calls) {
  const folder = folderOf(t);
  writeFileSync(join(folder, 'writ.yaml'), HEAD + tools);
  const lines = calls.map((call) => `${JSON.stringify({ agent: 'dev', ...call })}\n`);
  writeFileSync(join(folder, 'calls.jsonl'), lines.join(''));
  const run = (...args) => writ(args, { cwd: folder });
  return { folder, run, learn: (...more) => run('policy', 'learn', 'writ.yaml', '--calls', 'calls.jsonl', ...more),
    patch: (input) => execFileSync('patch', ['-p0', '-s'], { cwd: folder, input }) };
}
const repeated = (n, make) => Array.from({ length: n }, (_, i) => make(i));

test('of a held-out half of honest calls at most 2 % are refused, of wrong ones at least 95 % of each kind', (t) => {
  const m = measure(traffic(1, 600), 1, folderOf(t));
  assert.ok(m.learned > 3000 && m.honest.of > 3000, `${m.learned} and ${m.honest.of} calls`);
  assert.ok(m.honest.refused <= 0.02 * m.honest.of, `${m.honest.refused} of ${m.honest.of}`);
  for (const kind of ['out of range', 'foreign path', 'foreign host', 'extra member', 'wrong type']) {
    const { of, refused } = m.kinds[kind];
    assert.ok(of > 500 && refused >= 0.95 * of, `${kind}: ${refused} of ${of}`);
  }
});

test('every learned call passes, and a second learning changes nothing', (t) => {
  const folder = folderOf(t);
  const calls = traffic(2, 40);
  for (const more of [[], ['--least', '1'], ['--least', '1', '--refuse', '50'], ['--refuse', '0']]) {
    learn(calls, folder, more);
    assert.deepEqual(judged(calls, folder), []);
    const again = writ(['policy', 'learn', 'writ.yaml', '--calls', 'calls.jsonl', '--json', ...more], { cwd: folder });
    assert.deepEqual(JSON.parse(again.out).files, []);
  }
});

test('the difference applies, the configuration is valid, and its cases pass', (t) => {
  const at = place(t, 'tools:\n  fs/*: {scope: files, shadow: true} # observe\n',
    traffic(3, 60).filter((call) => call.tool.startsWith('fs/')));
  const run = at.learn('--cases', 'cases.yaml');
  assert.equal(run.code, 0, run.err);
  at.patch(run.out);
  assert.equal(at.run('check', 'writ.yaml').code, 0);
  const cases = at.run('policy', 'test', 'cases.yaml');
  assert.equal(cases.code, 0, cases.out);
  assert.match(cases.out, /^[1-9]\d+ passed, 0 failed\n$/);
  assert.match(readFileSync(join(at.folder, 'cases.yaml'), 'utf8'), /expect: deny/);
  assert.equal(statSync(join(at.folder, 'cases.yaml')).mode & 0o777, 0o600); // they hold arguments
  assert.match(at.learn().out, /nothing to change\n$/);
  const there = at.learn('--cases', 'cases.yaml');
  assert.equal(there.code, 3, 'an existing file of cases stays');
});

test('constraints of the configuration stay, and calls that they refuse are left out and listed', (t) => {
  const tools = 'tools:\n  fs/move:\n    scope: fs\n    arguments:\n' +
    '      - {arg: n, op: le, value: 50} # mine\n    shadow: true\n';
  const calls = [...repeated(30, (i) => ({ tool: 'fs/move', arguments: { n: (i % 3) + 1 } })),
    { tool: 'fs/move', arguments: { n: 900 } }];
  const at = place(t, tools, calls);
  const run = at.learn();
  assert.match(run.out, /^31 calls seen, 30 learned from$/m);
  assert.match(run.out, /^left out: 1 call, constraint_failed: line 31$/m);
  assert.doesNotMatch(run.out, /^-[^-]/m);
  assert.match(run.out, /^\+ {6}- \{arg: "n", op: in, value: \[1, 2, 3\]\}/m);

  const loose = at.learn('--include-refused', '--json');
  const report = JSON.parse(loose.out);
  assert.deepEqual(report.loosened, [{ reason: 'constraint_failed', calls: 1, decisions: ['line 31'] }]);
  assert.equal(report.tools[0].removed, 1);
  assert.match(report.files[0].diff, /^- {6}- \{arg: n, op: le, value: 50\} # mine$/m);
  at.patch(report.files[0].diff);
  assert.equal(at.run('check', 'writ.yaml').code, 0);
});

test('rules for different agents are learned from their own calls', (t) => {
  const tools = 'tools:\n  fs/read:\n    - {agents: [dev], scope: d}\n    - {roles: [reader], scope: r}\n';
  const reader = { id: 'ann', tenant: 'acme', role: 'reader' };
  const at = place(t, tools, [...repeated(25, () => ({ tool: 'fs/read', arguments: { a: 1 } })),
    ...repeated(25, () => ({ agent: reader, tool: 'fs/read', arguments: { a: 2 } })),
    { agent: { id: 'eve', tenant: 'acme', role: 'none' }, tool: 'fs/read', arguments: { a: 3 } }]);
  const report = JSON.parse(at.learn('--json').out);
  assert.deepEqual(report.tools.map((tool) => [tool.rule, tool.calls]),
    [['tools/fs~1read#0', 25], ['tools/fs~1read#1', 25]]);
  assert.deepEqual(report.left_out, [{ reason: 'agent_not_permitted', calls: 1, decisions: ['line 51'] }]);
  at.patch(report.files[0].diff);
  const allowed = (agent, a) => JSON.parse(writ(['explain', 'writ.yaml', '-', '--json'],
    { cwd: at.folder, input: JSON.stringify({ agent, tool: 'fs/read', arguments: { a } }) }).out).verdict.decision;
  assert.deepEqual([allowed('dev', 1), allowed('dev', 2), allowed(reader, 2), allowed(reader, 1)],
    ['allow', 'deny', 'allow', 'deny']);
});

test('rules of an included file change in that file', (t) => {
  const at = place(t, 'include: conf\n', repeated(25, () => ({ tool: 'box/read', arguments: { a: 1 } })));
  execFileSync('mkdir', [join(at.folder, 'conf')]);
  writeFileSync(join(at.folder, 'conf/box.yaml'),
    'upstreams: {box: {http: "http://127.0.0.1:9001/mcp"}}\ntools:\n  box/*: {scope: box}\n');
  const run = at.learn();
  assert.equal(run.code, 0, run.err);
  const file = run.out.match(/^--- (.*box\.yaml)$/m)[1];
  at.patch(run.out.replaceAll(file, 'conf/box.yaml'));
  assert.match(readFileSync(join(at.folder, 'conf/box.yaml'), 'utf8'),
    /^ {2}box\/read:\n {4}scope: box\n {4}arguments:\n/m);
});

test('filters admit what they name, and a command line without calls is refused', (t) => {
  const at = place(t, 'tools: {}\n', [{ tool: 'fs/read', arguments: {} }, { tool: 'fs/readme', arguments: {} },
    { agent: { id: 'ann', tenant: 'acme', role: 'r' }, tool: 'fs/read', arguments: {} }]);
  const seen = (...more) => JSON.parse(at.learn('--json', ...more).out).seen;
  assert.deepEqual([seen(), seen('--tool', 'fs/read'), seen('--agent', 'ann'),
    seen('--tool', 'fs/read', '--agent', 'dev')], [3, 2, 1, 1]);
  assert.equal(at.run('policy', 'learn', 'writ.yaml').code, 3);
  assert.equal(at.learn('--since', '2026-01-01T00:00:00Z').code, 3);
  assert.equal(at.learn('--agent', 'bob').code, 3);
  assert.equal(at.learn('--least', '0').code, 2);
  assert.equal(at.learn('--refuse', '51').code, 2);
  assert.ok(!existsSync(join(at.folder, 'cases.yaml')));
});

test('no value of a call is in the report, but for those that the difference writes down', (t) => {
  const at = place(t, 'tools: {}\n', repeated(30, (i) => ({ tool: 'fs/login',
    arguments: { password: `hunter2-${i}`, note: `a${i}b?` } })));
  const run = at.learn('--least', '1');
  assert.equal(run.code, 0, run.err);
  assert.doesNotMatch(run.out, /hunter2|a7b/);
});
