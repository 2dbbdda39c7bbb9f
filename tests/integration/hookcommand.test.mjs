// `writ hook`: the command that a coding agent runs before and after each tool use.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { BIN, SOURCE } from '../support/js/gateway.mjs';
import { CREW, MATE, rule, setUp } from '../support/js/hooks.mjs';

const tools = {
  'crew/Bash': { scope: 'shell', duplicates: 'allow',
    arguments: [{ arg: 'command', op: 'matches', value: 'ls|echo [a-z]+|make' },
      { arg: 'description', op: 'type', value: 'string', optional: true }] },
  'crew/Write': rule({ arguments: [{ arg: 'path', op: 'under', value: '/srv' }], scope: 'files' }),
  'crew/Deploy': { scope: 'deploy', approval: { review: 'ok' }, arguments: [] },
  'crew/Cat': { scope: 'files', arguments: [{ arg: 'path', op: 'type', value: 'string' }],
    result: { redact: [{ pattern: 'sk-[a-z0-9]+' }] } },
};
const reviews = { ok: { voters: [{ id: 'ann' }], quorum: '1' } };

/** Runs the command on an event. */
async function hook(gw, event, { args = {}, stdin } = {}) {
  const options = { url: gw.origin, token: gw.path('token'), framework: 'crew', state: gw.path('state'), ...args };
  const child = spawn(BIN,
    ['hook', ...Object.entries(options).filter(([, v]) => v !== null).map(([k, v]) => `--${k}=${v}`)],
    { stdio: ['pipe', 'pipe', 'pipe'] });
  let out = '', err = '';
  child.stdout.on('data', (d) => { out += d; });
  child.stderr.on('data', (d) => { err += d; });
  child.stdin.on('error', () => {});
  child.stdin.end(stdin ?? JSON.stringify(event));
  const [code] = await once(child, 'close');
  return { code, out, err, json: out === '' ? undefined : JSON.parse(out) };
}

const pre = (tool_name, tool_input, more = {}) =>
  ({ hook_event_name: 'PreToolUse', session_id: 's-1', transcript_path: '/t', cwd: '/', permission_mode: 'default',
    tool_name, tool_input, tool_use_id: 'toolu_1', ...more });
const post = (tool_name, tool_input, tool_response, more = {}) =>
  ({ ...pre(tool_name, tool_input), hook_event_name: 'PostToolUse', tool_response, ...more });

async function start(t, more = {}) {
  const { gw, ...rest } = await setUp(t, { tools, top: { reviews }, ...more });
  writeFileSync(gw.path('token'), `${CREW.token}\n`);
  return { gw, ...rest };
}

test('a use is decided and bound before it, and recorded after it', async (t) => {
  const { gw } = await start(t);
  const before = await hook(gw, pre('Bash', { command: 'ls', description: 'look' }));
  assert.deepEqual([before.code, before.out, before.err], [0, '{}\n', ''],
    'nothing is said for it: the agent asks its user as ever');
  const [note] = readdirSync(gw.path('state'));
  assert.equal(statSync(gw.path('state')).mode & 0o777, 0o700);
  assert.equal(statSync(gw.path(`state/${note}`)).mode & 0o777, 0o600);
  const after = await hook(gw,
    post('Bash', { command: 'ls', description: 'look' }, { stdout: 'a\nb', interrupted: false }));
  assert.deepEqual([after.code, after.out, after.err], [0, '{}\n', '']);
  assert.deepEqual(readdirSync(gw.path('state')), []);
  const { decisions: [decision], outcomes: [outcome] } = gw.boundary('s-1', 'acme');
  assert.deepEqual([decision.decision, decision.tool, decision.idempotency_key], ['allow', 'Bash', 'toolu_1']);
  assert.equal(outcome.outcome, 'executed');
  assert.match(outcome.tool_output_hash, /^sha256:/);
  assert.equal((await hook(gw, { hook_event_name: 'SessionEnd', session_id: 's-1', reason: 'exit' })).code, 0);
  assert.equal(gw.boundary('s-1', 'acme').seal.total, 1);
  assert.equal((await hook(gw, pre('Bash', { command: 'ls' }, { tool_use_id: 'toolu_2' }))).code, 2, 'the run is over');
  gw.verify();
});

test('a refused use exits with 2 and gives its reason to model and agent', async (t) => {
  const { gw } = await start(t);
  const refused = await hook(gw, pre('Bash', { command: 'rm -rf /' }));
  assert.equal(refused.code, 2);
  assert.match(refused.err,
    /^writ: constraint_failed; .*; argument "\/command"; constraint: command matches; accepted: a string that matches, as a whole, ls.*\. Hint: /);
  assert.doesNotMatch(refused.err, /rm -rf/);
  assert.deepEqual(Object.keys(refused.json), ['hookSpecificOutput'], 'nothing that an agent does not know');
  assert.deepEqual(refused.json.hookSpecificOutput,
    { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: refused.err.trimEnd() });
  const gemini = await hook(gw,
    pre('Write', { path: '/etc/passwd' }, { hook_event_name: 'BeforeTool', tool_use_id: undefined }));
  assert.equal(gemini.code, 2);
  assert.deepEqual(gemini.json, { decision: 'deny', reason: gemini.err.trimEnd() });
  const waits = await hook(gw, pre('Deploy', {}));
  assert.equal(waits.code, 2);
  assert.match(waits.err, /approval_required; .*\/reviews\//);
  assert.equal((await hook(gw, post('Bash', { command: 'rm -rf /' }, {}))).code, 0,
    'of what was refused there is nothing to tell');
  assert.ok(gw.decisions().every((d) => d.decision !== 'allow'));
  gw.verify();
});

test('prompts become the task of the run, and one that is not recorded stops nothing and gives a message',
  async (t) => {
  const paid = { 'crew/Pay': { scope: 'pay', arguments: [{ arg: 'to', op: 'from', value: ['task'] }] } };
  const { gw } = await start(t, { tools: { ...tools, ...paid }, top: { reviews, tasks: { agents: ['mate'] } } });
  writeFileSync(gw.path('operator'), `${MATE.token}\n`);
  const say = (prompt, args = { token: gw.path('operator') }) => hook(gw,
    { hook_event_name: 'UserPromptSubmit', session_id: 's-1', transcript_path: '/t', cwd: '/', prompt }, { args });
  const pay = (to, tool_use_id) => hook(gw, pre('Pay', { to }, { tool_use_id }));
  const first = await say('Pay 20 to DE89370400440532013000.');
  assert.deepEqual([first.code, first.out, first.err], [0, '{}\n', '']);
  assert.equal((await pay('DE89370400440532013000', 'a')).code, 0);
  assert.match((await pay('GB29NWBK60161331926819', 'b')).err, /^writ: source_not_permitted; /);
  assert.equal((await say('And GB29NWBK60161331926819.')).code, 0);
  assert.equal((await pay('GB29NWBK60161331926819', 'c')).code, 0, 'a later prompt adds to the task');
  const own = await say('Pay 30 to FR7630006000011234567890189.', {});
  assert.equal(own.code, 0);
  assert.deepEqual(own.json, { systemMessage:
    'writ: the prompt was not recorded as the task of the run; the gateway says task_not_permitted' });
  assert.equal(own.err, `${own.json.systemMessage}\n`);
  assert.equal((await pay('FR7630006000011234567890189', 'e')).code, 2);
  const dead = await say('Hello.', { url: 'http://127.0.0.1:1' });
  assert.equal(dead.code, 0);
  assert.match(dead.json.systemMessage, /^writ: the prompt was not recorded/);
  assert.doesNotMatch(dead.err, /Hello/);
  assert.equal((await say(undefined)).code, 0);
  gw.verify();
});

test('the hook command handles unnamed uses, failures, and long or redacted results', async (t) => {
  const { gw } = await start(t);
  const nameless = (event) => ({ ...event, tool_use_id: undefined });
  assert.equal((await hook(gw, nameless({ ...pre('Bash', { command: 'make' }), hook_event_name: 'BeforeTool' }))).code,
    0);
  assert.equal((await hook(gw,
    nameless({ ...post('Bash', { command: 'make' }, 'built'), hook_event_name: 'AfterTool' }))).code, 0);
  await hook(gw, pre('Bash', { command: 'ls' }, { tool_use_id: 'f' }));
  assert.equal((await hook(gw,
    { ...pre('Bash', { command: 'ls' }, { tool_use_id: 'f' }), hook_event_name: 'PostToolUseFailure',
      error: 'exit 1 with a secret' })).code, 0);
  await hook(gw, pre('Bash', { command: 'echo a' }, { tool_use_id: 'long' }));
  assert.equal((await hook(gw, post('Bash', { command: 'echo a' }, 'x'.repeat(1 << 20), { tool_use_id: 'long' }))).code,
    0);
  await hook(gw, pre('Cat', { path: 'p' }, { tool_use_id: 'cat' }));
  const shown = await hook(gw, post('Cat', { path: 'p' }, 'sk-abc', { tool_use_id: 'cat' }));
  assert.deepEqual([shown.code, shown.json.decision], [2, 'block']);
  assert.match(shown.err, /do not use it/);
  const { outcomes } = gw.boundary('s-1', 'acme');
  assert.deepEqual(outcomes.map((o) => [o.outcome, o.error_type].filter(Boolean).join(' ')),
    ['executed', 'error tool_error', 'executed', 'executed']);
  assert.match(outcomes[2].tool_output_hash, /^sha256:/);
  assert.doesNotMatch(JSON.stringify(outcomes), /secret/);
  gw.verify();
});

test('every failure exits with 2: no gateway, token, event or state folder, or a wrong command line', async (t) => {
  const { gw } = await start(t);
  const good = pre('Bash', { command: 'ls' });
  const stops = async (event, options) => {
    const { code, json, err } = await hook(gw, event, options);
    assert.equal(code, 2, err);
    assert.match(err, /^writ: /);
    return json;
  };
  await stops(good, { args: { url: 'http://127.0.0.1:1' } });
  await stops(good, { args: { url: 'http://192.0.2.1:80' } });
  await stops(good, { args: { url: `${gw.origin}/elsewhere` } });
  await stops(good, { args: { url: `http://127.0.0.1:${gw.adminPort}` } });
  await stops(good, { args: { token: gw.path('none') } });
  writeFileSync(gw.path('bad'), 'made-up');
  await stops(good, { args: { token: gw.path('bad') } });
  await stops(good, { args: { framework: 'nobody' } });
  await stops(good, { args: { timeout: '0' } });
  for (const stdin of ['', '{}', '[]', 'not json', '{"hook_event_name":"PreToolUse","hook_event_name":"x"}'])
    await stops(undefined, { stdin });
  for (const bad of [{ hook_event_name: 'Stop' }, { session_id: '' }, { tool_name: 7 }, { tool_input: 'ls' },
    { tool_input: undefined }]) await stops({ ...good, ...bad });
  mkdirSync(gw.path('open'));
  chmodSync(gw.path('open'), 0o777);
  await stops(good, { args: { state: gw.path('open') } });
  const { outcomes: [blocked] } = gw.boundary('s-1', 'acme');
  assert.equal(blocked.outcome, 'blocked', 'what could not be noted is not made');
  for (const missing of ['url', 'token', 'framework', 'state'])
    assert.equal((await hook(gw, good, { args: { [missing]: null } })).code, 2);
  gw.verify();
});

test('a gateway lost between a use and its end leaves it unknown and tells the agent', async (t) => {
  const { gw } = await start(t);
  assert.equal((await hook(gw, pre('Bash', { command: 'ls' }))).code, 0);
  await gw.stop('SIGKILL');
  const lost = await hook(gw, post('Bash', { command: 'ls' }, 'a'));
  assert.equal(lost.code, 2);
  assert.equal(lost.json.decision, 'block');
  assert.equal((await hook(gw, pre('Bash', { command: 'ls' }, { tool_use_id: 'next' }))).code, 2);
});

test('the documented settings run the hook command for each event', async (t) => {
  const { gw } = await start(t,
    { top: { frameworks: { crew: {}, coder: {} } }, tools: { 'coder/Bash': tools['crew/Bash'] } });
  const settings = JSON.parse(readFileSync(join(SOURCE, 'examples/hooks/settings.json'), 'utf8'));
  mkdirSync(gw.path('.config/writ'), { recursive: true });
  mkdirSync(gw.path('.local/state'), { recursive: true });
  writeFileSync(gw.path('.config/writ/token'), CREW.token);
  mkdirSync(gw.path('bin'));
  symlinkSync(resolve(BIN), gw.path('bin/writ'));
  const run = async (event) => {
    const [{ hooks: [{ type, command }] }] = settings.hooks[event.hook_event_name];
    assert.equal(type, 'command');
    const child = spawn('sh', ['-c', command.replace('127.0.0.1:8700', `127.0.0.1:${gw.port}`)],
      { env: { HOME: gw.dir, PATH: `${gw.path('bin')}:/usr/bin:/bin` }, stdio: ['pipe', 'ignore', 'inherit'] });
    child.stdin.end(JSON.stringify(event));
    const [code] = await once(child, 'close');
    return code;
  };
  assert.equal(await run(pre('Bash', { command: 'ls' })), 0);
  assert.equal(await run(post('Bash', { command: 'ls' }, 'a')), 0);
  assert.equal(await run(pre('Bash', { command: 'make' }, { tool_use_id: '2' })), 0);
  assert.equal(await run({ ...pre('Bash', { command: 'make' }, { tool_use_id: '2' }),
    hook_event_name: 'PostToolUseFailure', error: 'no' }), 0);
  assert.equal(await run({ hook_event_name: 'SessionEnd', session_id: 's-1' }), 0);
  const { outcomes, seal } = gw.boundary('s-1', 'acme');
  assert.deepEqual(outcomes.map((o) => o.outcome), ['executed', 'error']);
  assert.equal(seal.total, 2);
  gw.verify();
});
