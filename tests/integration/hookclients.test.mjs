// What examples/hooks gives to frameworks, run as a framework would: a crew in Python, tools in TypeScript.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SOURCE } from '../support/js/gateway.mjs';
import { approving, CREW, rule, setUp } from '../support/js/hooks.mjs';
import { reservePort } from '../support/js/ports.mjs';

const HOOKS = resolve(SOURCE, 'examples/hooks');
const PYTHON = '/usr/bin/python3';

const tools = {
  'crew/write': rule({ arguments: [{ arg: 'path', op: 'matches', value: '[a-z0-9]+' },
    { arg: 'text', op: 'max_length', value: 40, optional: true }] }),
  'crew/read': rule({ result: { redact: [{ pattern: 'sk-[a-z0-9]+' }] } }),
  'crew/photo': rule({ result: { content: ['image'] } }),
  'crew/pay': rule({ approval: { review: 'ok' } }),
};
const reviews = { ok: { voters: [{ id: 'ann' }], quorum: '1' } };

/** Runs a program that prints lines of JSON; gives them. */
async function lines(command, args, options) {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '', err = '';
  child.stdout.on('data', (d) => { out += d; });
  child.stderr.on('data', (d) => { err += d; });
  const [code] = await once(child, 'close');
  assert.equal(code, 0, err);
  return { told: out.split('\n').filter((l) => l !== '').map((l) => JSON.parse(l)), err };
}

// A framework that calls hooks as CrewAI does: a context for each call, False blocks, the hook after it runs for
// blocked calls too, and exceptions of a hook are swallowed.
const CREW_PY = `
import json, sys, types
sys.path.insert(0, sys.argv[1])
from writ_hooks import WritHooks
made = []
TOOLS = {
    "write": lambda path, text="": made.append(path) or "wrote " + path,
    "read": lambda path: "the key is sk-abc123",
    "photo": lambda path: "no image",
}
def run(hooks, name, **arguments):
    context = types.SimpleNamespace(
        tool_name=name, tool_input=arguments, tool_result=None, agent=None, task=None, crew=None)
    blocked = False
    try:
        blocked = hooks.before_tool_call(context) is False
    except Exception:
        pass
    context.tool_result = "Tool execution blocked by hook. Tool: " + name if blocked else TOOLS[name](**arguments)
    changed = hooks.after_tool_call(context)
    print(json.dumps(context.tool_result if changed is None else changed), flush=True)
url, token, port = sys.argv[2], sys.argv[3], sys.argv[4]
hooks = WritHooks(url, token, framework="crew", run="py-run")
run(hooks, "write", path="a1", text="hello")
run(hooks, "write", path="../etc")
run(hooks, "write", path="a1", text="hello")
run(hooks, "read", path="x")
run(hooks, "photo", path="x")
run(WritHooks("http://127.0.0.1:" + port, token, framework="crew"), "write", path="a2")
run(WritHooks(url, "made-up", framework="crew"), "write", path="a3")
print(json.dumps(made))
try:
    hooks.call("write", lambda path: 1 / 0, {"path": "b1"})
except ZeroDivisionError:
    pass
print(json.dumps(hooks.seal()["total"]))
`;

const CREW_TS = `
import { WritHooks, Refused } from './writ-hooks.ts';
const [, , url, token, port] = process.argv;
const writ = new WritHooks({ url, token, framework: 'crew', run: 'ts-run' });
const made: string[] = [];
const write = (w: WritHooks) => w.governed('write', async ({ path }: { path: string; text?: string }) => {
  made.push(path);
  return 'wrote ' + path;
});
const read = writ.governed('read', (_: { path: string }) => 'the key is sk-abc123');
const photo = writ.governed('photo', (_: { path: string }) => 'no image');
const say = async (answer: Promise<unknown>) => {
  console.log(JSON.stringify(await answer.catch((e: unknown) => (e instanceof Refused ? e.reason : String(e)))));
};
await say(write(writ)({ path: 'a1', text: 'hello' }));
await say(write(writ)({ path: '../etc' }));
await say(write(writ)({ path: 'a1', text: 'hello' }));
await say(read({ path: 'x' }));
await say(photo({ path: 'x' }));
await say(write(new WritHooks({ url: 'http://127.0.0.1:' + port, token, framework: 'crew' }))({ path: 'a2' }));
await say(write(new WritHooks({ url, token: 'made-up', framework: 'crew' }))({ path: 'a3' }));
console.log(JSON.stringify(made));
await writ.governed('write', () => { throw new RangeError('no'); })({ path: 'b1' }).catch(() => {});
console.log(JSON.stringify((await writ.seal()).total));
`;

function records(gw, run) {
  const { whole, decisions, outcomes } = gw.boundary(run, 'acme');
  assert.ok(whole);
  gw.verify();
  return [decisions.map((d) => `${d.tool} ${d.decision}`),
    outcomes.map((o) => [o.outcome, o.error_type].filter(Boolean).join(' '))];
}

test('a Python crew governs its tools by its two hooks', async (t) => {
  const { gw } = await setUp(t, { tools, top: { reviews } });
  writeFileSync(gw.path('crew.py'), CREW_PY);
  const { told, err } = await lines(PYTHON,
    ['-IB', gw.path('crew.py'), HOOKS, gw.origin, CREW.token, String(await reservePort())]);
  const blocked = 'Tool execution blocked by hook. Tool: write';
  assert.deepEqual(told.slice(0, 3), ['wrote a1', blocked, blocked]);
  assert.doesNotMatch(told[3], /abc123/);
  assert.match(told[3], /^the key is /);
  assert.match(told[4], /withheld: result_content_refused/);
  assert.deepEqual(told.slice(5, 7), [blocked, blocked]);
  assert.deepEqual(told[7], ['a1'], 'what was blocked was not made');
  assert.match(err, /constraint_failed[^]*duplicate_outcome[^]*unavailable[^]*unauthenticated/);
  const [decisions, outcomes] = records(gw, 'py-run');
  assert.deepEqual(decisions, ['write allow', 'write deny', 'write deny', 'read allow', 'photo allow', 'write allow']);
  assert.deepEqual(outcomes, ['executed', 'blocked', 'blocked', 'executed', 'executed', 'error ZeroDivisionError']);
  assert.equal(told[8], 6);
});

test('TypeScript tools are governed as functions', async (t) => {
  const { gw } = await setUp(t, { tools, top: { reviews } });
  const { cpSync } = await import('node:fs');
  cpSync(join(HOOKS, 'writ-hooks.ts'), gw.path('writ-hooks.ts'));
  writeFileSync(gw.path('package.json'), '{"type":"module"}');
  writeFileSync(gw.path('crew.ts'), CREW_TS);
  const { told } = await lines(process.execPath,
    [gw.path('crew.ts'), gw.origin, CREW.token, String(await reservePort())]);
  assert.deepEqual(told.slice(0, 3), ['wrote a1', 'constraint_failed', 'duplicate_outcome']);
  assert.doesNotMatch(told[3], /abc123/);
  assert.match(told[4], /withheld: result_content_refused/);
  assert.deepEqual(told.slice(5, 8), ['unavailable', 'unauthenticated', ['a1']]);
  const [decisions, outcomes] = records(gw, 'ts-run');
  assert.deepEqual(decisions, ['write allow', 'write deny', 'write deny', 'read allow', 'photo allow', 'write allow']);
  assert.deepEqual(outcomes, ['executed', 'blocked', 'blocked', 'executed', 'executed', 'error RangeError']);
  assert.equal(told[8], 6);
});

test('Python and TypeScript clients wait for an approval unattended', async (t) => {
  const { gw } = await setUp(t, { tools, top: { reviews } });
  writeFileSync(gw.path('pay.py'), `
import sys, json, types
sys.path.insert(0, sys.argv[1])
from writ_hooks import WritHooks
hooks = WritHooks(sys.argv[2], sys.argv[3], framework="crew", wait=60)
print(json.dumps(hooks.call("pay", lambda path: "paid " + path, {"path": "py"})))
# as CrewAI does: what its hook does not block runs
context = types.SimpleNamespace(tool_name="pay", tool_input={"path": "crewai"}, tool_result=None)
blocked = hooks.before_tool_call(context) is False
context.tool_result = "blocked" if blocked else "paid crewai"
print(json.dumps(hooks.after_tool_call(context) or context.tool_result))
`);
  const { cpSync } = await import('node:fs');
  cpSync(join(HOOKS, 'writ-hooks.ts'), gw.path('writ-hooks.ts'));
  writeFileSync(gw.path('package.json'), '{"type":"module"}');
  writeFileSync(gw.path('pay.ts'), `
import { WritHooks } from './writ-hooks.ts';
const [, , url, token] = process.argv;
const writ = new WritHooks({ url, token, framework: 'crew', wait: 60_000 });
console.log(JSON.stringify(await writ.governed('pay', ({ path }: { path: string }) => 'paid ' + path)({ path: 'ts' })));
`);
  const [py, ts] = await approving(gw, async () => [
    await lines(PYTHON, ['-IB', gw.path('pay.py'), HOOKS, gw.origin, CREW.token]),
    await lines(process.execPath, [gw.path('pay.ts'), gw.origin, CREW.token])]);
  assert.deepEqual([py.told, ts.told], [['paid py', 'paid crewai'], ['paid ts']]);
  gw.verify();
});
