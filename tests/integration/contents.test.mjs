// Kept contents: what is kept of which call, who may look, what a look and an erase leave behind.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { bearer, prepare, until, writ } from '../support/js/gateway.mjs';
import { CREW, config as hookConfig, framework } from '../support/js/hooks.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';
import { Tasks, ask as askTask, begin, idOf } from '../support/js/tasks.mjs';
import { facts } from '../support/js/ledger.mjs';
import { editLedger, textOfLedger } from '../support/js/store.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { resolve, sdk1 } from '../support/npm/peers.mjs';

const NODE = process.execPath;
const FILESYSTEM = resolve('@modelcontextprotocol/server-filesystem/dist/index.js');
const DEV = bearer('dev', { tenant: 'acme' });
const MATE = bearer('mate', { tenant: 'acme' });
const OTHER = bearer('dev', { tenant: 'other', token: 'token-of-other' });
const RITA = bearer('rita', { role: 'auditor' }); // may look
const ADAM = bearer('adam', { role: 'auditor' }); // administers
const ACME = bearer('anna', { tenant: 'acme', role: 'auditor' }); // both, for one tenant
const AGENTS = [DEV, MATE, OTHER, RITA, ADAM, ACME];
const any = (arg, more = {}) => ({ arg, op: 'type', value: 'any', optional: true, ...more });
const ANY = { scope: 's', arguments: [any('')], duplicates: 'allow' };

const PAY = { 'up/pay': { ...ANY, contents: { keep: '30d' } } };

const world = (config) => ({ agents: AGENTS.map((a) => a.entry), auditors: ['auditor'],
  content_readers: ['rita', 'anna'], administrators: ['adam', 'anna'], ...config });

/** A gateway with a key of contents, not started. */
function prepared(t, config, options = {}) {
  return prepare(t, world(config), { ...options, prepare(dir) {
    const run = writ(['keys', 'new', '--purpose', 'contents', '--dir', join(dir, 'keys')]);
    assert.equal(run.code, 0, run.err);
    options.prepare?.(dir);
  } });
}

/** A gateway in front of a scripted server. */
async function setUp(t, tools, more = {}) {
  const up = await startUpstream(t);
  const gw = await prepared(t, { upstreams: { up: { http: up.url } }, tools, ...more }).start();
  return { up, gw };
}

/** Calls a tool; gives the answer and its decision's id. */
async function call(gw, name, args, { who = DEV, ...more } = {}) {
  const session = await openSession(gw, { token: who.token });
  const answer = await session.call(`up__${name}`, args, more);
  return { answer, id: gw.decisions().at(-1).decision_id };
}

const admin = (gw) => `http://127.0.0.1:${gw.adminPort}`;

async function ask(gw, who, path, body) {
  const response = await fetch(`${admin(gw)}${path}`, { method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${who.token}`, ...(body && { 'content-type': 'application/json' }) },
    body: body && JSON.stringify(body) });
  return { status: response.status, json: await response.json() };
}

/** Looks as rita; the contents without their times. */
async function look(gw, id, who = RITA) {
  const { status, json } = await ask(gw, who, `/v1/contents/${id}`);
  assert.equal(status, 200, JSON.stringify(json));
  return json;
}

/** A command on the ledger of a gateway that has ended. */
const stopped = (gw, ...args) => {
  const run = writ(['ledger', args[0], gw.configFile, ...args.slice(1), '--json'], { cwd: gw.dir });
  return { ...run, json: run.out === '' ? undefined : JSON.parse(run.out) };
};

/** The bytes of a file; of one that has its last name by now, none: that one is looked at too. */
const bytesOfFile = (path) => {
  try {
    return readFileSync(path);
  } catch (error) {
    if (error.code === 'ENOENT' && path.endsWith('.new')) return Buffer.alloc(0);
    throw error;
  }
};

/** All bytes of the folder but the configuration. */
const bytesOf = (gw) => readdirSync(gw.dir, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name !== 'writ.yaml')
  .map((entry) => [entry.name, bytesOfFile(join(entry.parentPath, entry.name))]);

/** Asserts that the texts are nowhere: neither in a file nor in the log. */
function nowhere(gw, ...texts) {
  for (const text of texts) {
    for (const [name, bytes] of [...bytesOf(gw), ['the ledger', textOfLedger(gw.ledgerFile)]])
      assert.ok(!bytes.includes(text), `${text} is in ${name}`);
    assert.ok(!gw.logText.includes(text), `${text} is in the log`);
  }
}

test('the real file server: arguments and results are kept, shown, and the looks recorded', async (t) => {
  const box = mkdtempSync(join(tmpdir(), 'writ-box-'));
  t.after(() => rmSync(box, { recursive: true }));
  const gw = await prepared(t, {
    upstreams: { fs: { stdio: [NODE, FILESYSTEM, box] } }, defaults: { contents: { keep: '30d' } },
    tools: { 'fs/write_file': { scope: 's', arguments: [{ arg: 'path', op: 'under', value: box },
      { arg: 'content', op: 'max_length', value: 50 }] } },
  }).start();
  const { Client, StreamableHTTPClientTransport } = await sdk1();
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(gw.url),
    { requestInit: { headers: { authorization: `Bearer ${DEV.token}` } } }));
  const args = { path: join(box, 'a.txt'), content: 'plain-text-of-the-file' };
  const { content } = await client.callTool({ name: 'fs__write_file', arguments: args });
  const bad = { ...args, content: 'refused-text-'.repeat(9) };
  await assert.rejects(client.callTool({ name: 'fs__write_file', arguments: bad }));
  await client.close();
  const [allowed, refused] = gw.decisions().map((d) => d.decision_id);

  const shown = await look(gw, allowed);
  assert.deepEqual(shown.arguments, args);
  assert.deepEqual([shown.arguments_state, shown.arguments_whole, shown.result_state], ['kept', true, 'kept']);
  assert.deepEqual(shown.result.content, content);
  const { issued_at: issued } = gw.show(allowed).decision;
  const days = (Date.parse(shown.arguments_expire_at) - Date.parse(issued)) / 86_400_000;
  assert.ok(Math.abs(days - 30) < 0.01, `${days} days`);
  const kept = await look(gw, refused);
  assert.deepEqual([kept.arguments, kept.result_state], [bad, 'none']);
  assert.deepEqual(facts(gw, 'contents_looked').map(({ by, decision_id: of, purpose }) => [by, of, purpose]),
    [['rita', allowed, 'show'], ['rita', refused, 'show']]);
  nowhere(gw, 'plain-text-of-the-file', 'refused-text-');

  await gw.restart();
  assert.deepEqual((await look(gw, allowed)).arguments, args, 'after a restart');
  await gw.stop();
  const { code, json } = stopped(gw, 'contents', allowed);
  assert.equal(code, 0);
  assert.deepEqual(json, shown, 'the command shows what the listener showed');
  assert.equal(facts(gw, 'contents_looked').at(-1).by, `user ${userInfo().username}`);
  assert.match(writ(['ledger', 'contents', gw.configFile, allowed], { cwd: gw.dir }).out,
    /^arguments \{"content":"plain-text-of-the-file",.*\nresult \{/);
  nowhere(gw, 'plain-text-of-the-file');
  gw.verify();
});

test('a secret member is in no file, whatever becomes of the call', async (t) => {
  const pin = 'canary-pin-5f1c0d';
  const { up, gw } = await setUp(t, {
    'up/login': { scope: 's', duplicates: 'allow', arguments: [any('user', { value: 'string' }),
      any('pin', { secret: true }), any('hosts', { op: 'each', value: [any('name'), any('key', { secret: true })] })] },
    'up/shadow': { scope: 's', shadow: true, duplicates: 'allow',
      arguments: [any('user'), { arg: 'pin', op: 'eq', value: 1, secret: true }] },
  }, { defaults: { contents: { keep: '1d' } } });
  up.onCall = (m) => m.text(`welcome, ${pin}`);
  const cases = [
    ['login', { user: 'ann', pin }, { user: 'ann' }], // allowed
    ['login', { user: 'ann', Pin: pin }, { user: 'ann' }], // refused: another name
    ['login', { user: { pin } }, { user: {} }], // another place
    ['login', { hosts: [{ name: 'a', key: pin }] }, { hosts: [{ name: 'a' }] }],
    ['login', { hosts: pin, user: 'ann' }, { user: 'ann' }], // another type
    ['shadow', { user: 'ann', pin }, { user: 'ann' }], // refused, and made
  ];
  for (const [name, args, want] of cases) {
    const { id } = await call(gw, name, args);
    const { decision } = gw.show(id);
    const shown = await look(gw, id);
    assert.deepEqual([shown.arguments, shown.arguments_whole], [want, false], JSON.stringify(args));
    assert.match(decision.extensions.writ.contents_kept, /^sha256:/);
    assert.equal(shown.result_state, 'none', 'it may repeat the secret');
  }
  assert.equal((await call(gw, 'unlisted', { pin })).answer.reason, 'tool_not_listed');
  assert.equal((await look(gw, gw.decisions().at(-1).decision_id)).arguments_state, 'none');
  const { id } = await call(gw, 'login', { user: 'ann' });
  assert.equal((await look(gw, id)).arguments_whole, true, 'nothing was left out');
  await gw.stop();
  nowhere(gw, pin);
  gw.verify();
});

test('results are kept as the caller got them: redacted, in a stream, of the last round, of a task, by the hook API',
    async (t) => {
  const tasks = new Tasks();
  const up = await startUpstream(t, { onMessage: (m) => tasks.answer(m) });
  const gw = await prepared(t, { ...hookConfig({ tools: { 'up/*': ANY } }),
    agents: [...AGENTS, CREW].map((a) => a.entry), upstreams: { up: { http: up.url } },
    defaults: { contents: { keep: '1d', results: '2KiB' },
      result: { redact: [{ pattern: 'canary-[a-z]+' }] } } }).start();
  const contents = (text) => [{ type: 'text', text }];
  up.onCall = (m) => m.text('it says canary-result here');
  const plain = await call(gw, 'plain', { n: 1 });
  assert.equal(plain.answer.said, 'it says [redacted] here');
  const shown = await look(gw, plain.id);
  assert.deepEqual(shown.result.content, contents('it says [redacted] here'));

  up.onCall = (m) => {
    const stream = m.stream();
    stream.send({ jsonrpc: '2.0', id: m.id, result: { content: contents('text-of-a-stream') } });
    stream.end();
  };
  assert.deepEqual((await look(gw, (await call(gw, 'streamed', {})).id)).result.content,
    contents('text-of-a-stream'));

  const question = { name: { method: 'elicitation/create',
    params: { mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: {} } } } };
  up.onCall = (m) => (m.params.inputResponses === undefined
    ? m.result({ resultType: 'input_required', inputRequests: question, requestState: 'state' }) : m.text('hello'));
  const caller = new Caller(gw, { path: '/mcp/up', modern: true, token: DEV.token });
  const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
  await caller.call('greet', { n: 2 }, { meta });
  await caller.call('greet', { n: 2 }, { meta, params: { requestState: 'state',
    inputResponses: { name: { action: 'accept', content: { name: 'answer-of-a-person' } } } } });
  const rounds = gw.decisions().slice(-2);
  const [first, last] = await Promise.all(rounds.map((d) => look(gw, d.decision_id)));
  assert.deepEqual([first.arguments, first.result_state], [{ n: 2 }, 'none']);
  assert.deepEqual([last.arguments, last.result.content], [{ n: 2 }, contents('hello')]);

  up.onCall = (m) => tasks.begin(m);
  const task = idOf(await begin(caller, 3));
  const { decision_id: started } = gw.decisions().at(-1);
  assert.equal((await look(gw, started)).result_state, 'none', 'the task runs');
  tasks.end(task, 'completed', { result: { resultType: 'complete', content: contents('the task: canary-task') } });
  await askTask(caller, 'tasks/get', task);
  assert.deepEqual((await look(gw, started)).result.content, contents('the task: [redacted]'));

  const crew = framework(gw);
  const { decision } = await crew.before({ arguments: { path: '/tmp/1', text: 'hello' } });
  await crew.bind(decision, { arguments: { path: '/tmp/1', text: 'hello' } });
  const result = { content: contents('canary-hook is done') };
  assert.equal((await crew.after(decision, { result })).status, 200);
  const made = await look(gw, decision.decision_id);
  assert.deepEqual([made.arguments, made.result],
    [{ path: '/tmp/1', text: 'hello' }, { content: contents('[redacted] is done') }]);

  up.onCall = (m) => m.text('long '.repeat(500));
  const { id } = await call(gw, 'long', {});
  assert.deepEqual([(await look(gw, id)).result_state, gw.show(id).outcome.extensions.writ],
    ['none', { contents_too_large: true }]);
  up.onCall = (m) => m.error(-32000, 'no');
  assert.equal((await look(gw, (await call(gw, 'fails', {})).id)).result_state, 'none', 'an error is no result');
  await gw.stop();
  nowhere(gw, 'canary-result', 'canary-task', 'canary-hook', 'answer-of-a-person', 'text-of-a-stream');
  gw.verify();
});

test('a result is not kept when its call was decided under a policy that did not say what is secret', async (t) => {
  const rule = { scope: 's', duplicates: 'allow', arguments: [any('path'), any('text', { secret: true })] };
  const up = await startUpstream(t);
  const gw = await prepared(t, { ...hookConfig({ tools: { 'crew/write': rule } }),
    agents: [...AGENTS, CREW].map((a) => a.entry), upstreams: { up: { http: up.url } } }).start();
  const crew = framework(gw);
  const begun = async (args) => {
    const { decision } = await crew.before({ arguments: args });
    await crew.bind(decision, { arguments: args });
    return decision;
  };
  const ended = async (decision) => {
    const result = { content: [{ type: 'text', text: 'it repeats canary-secret' }] };
    assert.equal((await crew.after(decision, { result })).status, 200);
    return (await look(gw, decision.decision_id)).result_state;
  };
  const before = await begun({ path: '/tmp/1', text: 'canary-secret' });
  await gw.reload({ ...gw.config, defaults: { contents: { keep: '1d' } } });
  assert.equal(await ended(before), 'none');
  assert.equal(await ended(await begun({ path: '/tmp/2', text: 'canary-secret' })), 'none');
  assert.equal(await ended(await begun({ path: '/tmp/3' })), 'kept', 'nothing was left out');
});

test('contents are off by default, off for a rule, and without results where the rule says so', async (t) => {
  const { up, gw } = await setUp(t, { 'up/off': { ...ANY, contents: { keep: '0s' } },
    'up/some': { ...ANY, contents: { results: 0 } }, 'up/*': ANY }, { defaults: { contents: { keep: '1h' } } });
  up.onCall = (m) => m.text('done');
  const states = async (name) => {
    const { arguments_state: given, result_state: got } = await look(gw, (await call(gw, name, { n: 1 })).id);
    return [given, got];
  };
  assert.deepEqual(await states('off'), ['none', 'none']);
  assert.deepEqual(await states('some'), ['kept', 'none']);
  assert.deepEqual(await states('any'), ['kept', 'kept']);
  await gw.reload({ ...gw.config, defaults: {} });
  assert.deepEqual(await states('any'), ['none', 'none']);
  assert.equal(facts(gw, 'contents_looked').length, 2, 'a look at nothing is none');
});

test('a call under a wildcard beside secrets is not kept: it may be that tool under a wrong name', async (t) => {
  const { up, gw } = await setUp(t, { 'up/login': { ...ANY, arguments: [any('pin', { secret: true })] }, 'up/*': ANY,
    'up/pay': ANY }, { defaults: { contents: { keep: '1h' } } });
  up.onCall = (m) => m.text(`said canary-result ${m.params.arguments.pin}`);
  const state = async (name) => {
    const { arguments_state: given, result_state: got } =
      await look(gw, (await call(gw, name, { pin: 'canary-pin' })).id);
    return [given, got];
  };
  assert.deepEqual(await state('Login'), ['none', 'none']);
  assert.deepEqual(await state('login'), ['kept', 'none']);
  assert.deepEqual(await state('pay'), ['kept', 'kept']);
  const { out } = writ(['check', gw.configFile]);
  assert.match(out, /up~1\*: warning: keeps no contents: a call may be of "up\/login", whose arguments may be secret/);
  const kept = JSON.parse(writ(['check', gw.configFile, '--json']).out).contents.map((each) => each.rule);
  assert.deepEqual(kept, ['tools/up~1login#0', 'tools/up~1pay#0']);
});

test('without a key of contents the gateway does not start, and a reload is refused', async (t) => {
  const gw = prepare(t, world({ tools: {}, defaults: { contents: { keep: '1h' } } }));
  await assert.rejects(gw.start(),
    /defaults keeps contents, and the key directory has no key .*writ keys new --purpose contents --dir [^ ]*keys/);
  gw.configure({ ...gw.config, defaults: {} });
  await gw.start();
  assert.equal((await gw.reload({ ...gw.config, defaults: { contents: { keep: '1h' } } })).event, 'reload_refused');
});

test('only content readers look, only at their tenant; a look that is refused shows nothing', async (t) => {
  const { up, gw } = await setUp(t, { 'up/pay': ANY }, { defaults: { contents: { keep: '1h' } } });
  up.onCall = (m) => m.text('done');
  const { id } = await call(gw, 'pay', { n: 1 });
  const { id: others } = await call(gw, 'pay', { n: 2 }, { who: OTHER });
  for (const who of [DEV, MATE, ADAM]) {
    const { status, json } = await ask(gw, who, `/v1/contents/${id}`);
    assert.deepEqual([status, json.reason], [403, 'not_content_reader'], who.id);
  }
  assert.equal((await ask(gw, ACME, `/v1/contents/${id}`)).status, 200);
  assert.deepEqual((await ask(gw, ACME, `/v1/contents/${others}`)).json.reason,
    (await ask(gw, ACME, '/v1/contents/no-such-id')).json.reason, 'another tenant does not exist');
  assert.equal((await look(gw, others)).arguments.n, 2);
  assert.deepEqual(facts(gw, 'contents_looked').map(({ by }) => by), ['anna', 'rita']);
  // the life of a call says that there are contents only to those who may read them
  const round = async (who) => (await ask(gw, who, `/v1/ledger/${id}`)).json.rounds[0].contents;
  assert.deepEqual([await round(DEV), await round(ADAM), await round(ACME)], [undefined, undefined, 'kept']);
});

test('an edited row is refused at the look', async (t) => {
  const { up, gw } = await setUp(t, { 'up/pay': ANY }, { defaults: { contents: { keep: '1h' } } });
  up.onCall = (m) => m.text('done');
  const [{ id: first }, { id: second }] = [await call(gw, 'pay', { n: 1 }),
    await call(gw, 'pay', { n: 2 }, { who: OTHER })];
  await gw.stop();
  const leaves = gw.rows('SELECT leaf FROM content ORDER BY leaf').map(({ leaf }) => leaf);
  const swap = (a, b) => editLedger(gw.ledgerFile, ['content', 'content_key'].flatMap((table) =>
    [[a, -1], [b, a], [-1, b]].map(([from, to]) => `UPDATE ${table} SET leaf = ${to} WHERE leaf = ${from};`))
    .join('\n'));
  swap(leaves[0], leaves[2]); // the arguments of the two calls
  for (const id of [first, second]) {
    const { code, err, json } = stopped(gw, 'contents', id);
    assert.equal(code, 3, err);
    assert.equal(json, undefined);
  }
  await gw.start();
  const { status, json } = await ask(gw, RITA, `/v1/contents/${first}`);
  assert.deepEqual([status, json.reason], [409, 'contents_changed']);
  assert.equal((await gw.waitLog('contents_changed')).decision_id, first);
  const told = gw.log.length;
  assert.equal((await ask(gw, ACME, `/v1/contents/${first}`)).status, 409, 'of its own tenant');
  await gw.waitLog('contents_changed', told);
  const silent = gw.log.length;
  for (const path of [second, `${second}/why`]) {
    const foreign = await ask(gw, ACME, `/v1/contents/${path}`);
    assert.deepEqual([foreign.status, foreign.json.reason], [404, 'path_unknown'], 'of another tenant');
  }
  assert.equal(gw.log.slice(silent).some(({ event }) => event === 'contents_changed'), false);
  assert.deepEqual(facts(gw, 'contents_looked'), []);
});

test('contents of several megabytes are shown whole, by the command too', async (t) => {
  const { up, gw } = await setUp(t, { 'up/pay': { ...ANY, contents: { keep: '1h', results: '8MiB' } } });
  const text = 'x'.repeat(3 << 20);
  up.onCall = (m) => m.text(text);
  const { id } = await call(gw, 'pay', { text: text.slice(0, 2 << 20) });
  writeFileSync(gw.path('rita'), RITA.token, { mode: 0o600 });
  const ledger = (...args) => writ(['ledger', 'contents', ...args], { cwd: gw.dir });
  const running = [ledger(admin(gw), id, '--token', gw.path('rita'), '--json'),
    ledger(admin(gw), id, '--token', gw.path('rita'))];
  await gw.stop();
  for (const [json, lines] of [running, [ledger(gw.configFile, id, '--json'), ledger(gw.configFile, id)]]) {
    assert.ok(json.code === 0 && JSON.parse(json.out).result.content[0].text === text, json.err);
    assert.ok(lines.code === 0 && lines.out.length > 5 << 20, lines.err);
  }
});

test('a key that was rotated out decrypts until it is retired', async (t) => {
  const { up, gw } = await setUp(t, PAY);
  up.onCall = (m) => m.text('x'.repeat(40_000));
  const keys = (...args) => {
    const run = writ(['keys', ...args, '--dir', gw.path('keys'), '--json']);
    assert.equal(run.code, 0, run.err);
    return JSON.parse(run.out);
  };
  const kid = keys('list').keys.find((key) => key.purpose === 'contents').kid;
  const { id: first } = await call(gw, 'pay', { n: 1 });
  keys('rotate', '--purpose', 'contents');
  assert.equal((await gw.reload(gw.config)).event, 'reloaded');
  const { id: second } = await call(gw, 'pay', { n: 2 });
  assert.deepEqual([(await look(gw, first)).arguments.n, (await look(gw, second)).arguments.n], [1, 2]);
  keys('retire', '--kid', kid);
  assert.equal((await gw.reload(gw.config)).event, 'reloaded');
  const locked = await look(gw, first);
  assert.deepEqual([locked.arguments_state, locked.arguments, locked.result_state], ['locked', null, 'locked']);
  assert.equal((await look(gw, second)).result.content[0].text.length, 40_000);
});

test('contents that were given more time by an edit are refused', async (t) => {
  const { up, gw } = await setUp(t, { 'up/pay': ANY }, { defaults: { contents: { keep: '1h' } } });
  up.onCall = (m) => m.text('done');
  const { id } = await call(gw, 'pay', { n: 1 });
  await gw.stop();
  editLedger(gw.ledgerFile, 'UPDATE content SET expires_us = expires_us + 86400000000');
  assert.equal(stopped(gw, 'contents', id).code, 3);
});

test('contents end with their time', async (t) => {
  const { up, gw } = await setUp(t, { 'up/pay': { ...ANY, contents: { keep: '1s' } } });
  up.onCall = (m) => m.text('short-lived-result');
  const { id } = await call(gw, 'pay', { text: 'short-lived-text' });
  for (const part of ['arguments_state', 'result_state']) // each has its own time
    await until(async () => (await look(gw, id))[part] === 'erased', `the time of ${part} to be over`);
  gw.verify();
});

/** Two calls of dev, and one each of mate and of dev of another tenant, by name. */
async function fourCalls(gw, up) {
  up.onCall = (m) => m.text(`canary-result-${m.arguments.n}`);
  const made = {};
  for (const [name, who] of [['first', DEV], ['second', DEV], ['mate', MATE], ['other', OTHER]])
    made[name] = (await call(gw, 'pay', { n: name, text: `canary-argument-${name}` }, { who })).id;
  return made;
}

/** The names of the calls whose contents are there. */
const left = (gw, made) => Object.entries(made)
  .filter(([, id]) => gw.show(id).contents.arguments === 'kept').map(([name]) => name);

for (const runs of [true, false]) {
  const state = runs ? 'runs' : 'does not run';
  test(`an erase by decision, agent, tenant and time, while the gateway ${state}`, async (t) => {
    const { up, gw } = await setUp(t, PAY);
    const made = await fourCalls(gw, up);
    const third = gw.show(made.mate).decision.issued_at;
    const receipt = () => {
      const run = writ(['receipt', made.first, '--ledger', gw.ledgerFile, '--keys', gw.path('keys')]);
      assert.equal(run.code, 0, run.err);
      writeFileSync(gw.path('receipt.json'), run.out);
      writeFileSync(gw.path('trusted'), writ(['ledger', 'key', gw.ledgerFile, '--keys', gw.path('keys')]).out);
      return writ(['verify', 'receipt', gw.path('receipt.json'), '--key', gw.path('trusted')]);
    };
    assert.equal(receipt().code, 0, receipt().err);
    if (!runs) await gw.stop();
    writeFileSync(gw.path('adam'), ADAM.token, { mode: 0o600 });
    const where = () => (runs ? [admin(gw), '--token', gw.path('adam')] : [gw.configFile]);
    const erase = (...args) => {
      const run = writ(['ledger', 'erase', ...where(), ...args, '--json'], { cwd: gw.dir });
      return [run.code, run.out === '' ? run.err : JSON.parse(run.out)];
    };
    const gone = (contents) => [0, { contents, erased: true, reviews: 0, held: false }];
    assert.deepEqual(erase('--tenant', 'acme'), [1, { contents: 6, erased: false, reviews: 0, held: false }]);
    assert.deepEqual(left(gw, made), ['first', 'second', 'mate', 'other'], 'only counted');
    assert.deepEqual(erase('--decision', made.first, '--yes'), gone(2));
    assert.deepEqual(left(gw, made), ['second', 'mate', 'other']);
    assert.deepEqual(erase('--agent', 'dev', '--tenant', 'acme', '--yes'), gone(2));
    assert.deepEqual(left(gw, made), ['mate', 'other']);
    assert.deepEqual(erase('--before', third, '--yes'), gone(0));
    assert.deepEqual(erase('--tenant', 'other', '--yes'), gone(2));
    assert.deepEqual(erase('--before', '2100-01-01T00:00:00Z', '--yes'), gone(2));
    assert.deepEqual(left(gw, made), []);
    assert.deepEqual(facts(gw, 'contents_erased').map(({ by, count }) => [by, count]),
      [2, 2, 0, 2, 2].map((n) => [runs ? 'adam' : `user ${userInfo().username}`, n]));
    if (runs) {
      assert.equal((await look(gw, made.first)).arguments_state, 'erased');
      const lines = gw.log.filter((line) => line.event === 'contents_erased');
      assert.deepEqual(lines.map((line) => line.contents), [2, 2, 0, 2, 2]);
      assert.deepEqual([lines[1].who, lines[1].agent_id, lines[1].tenant], ['adam', 'dev', 'acme']);
    }
    await gw.stop();
    assert.equal(stopped(gw, 'contents', made.first).code, 1);
    assert.deepEqual(facts(gw, 'contents_looked'), []);
    // no usable wrapped key is left: all of them are zeros
    for (const { wrapped } of gw.rows('SELECT wrapped FROM content_key'))
      assert.ok(wrapped.every((byte) => byte === 0));
    assert.equal(gw.rows('SELECT count(*) AS n FROM content')[0].n, 0);
    nowhere(gw, 'canary-');
    gw.verify();
    assert.equal(receipt().code, 0, 'the proofs stay valid');
    await gw.start();
    const { id } = await call(gw, 'pay', { n: 'later' });
    assert.equal((await look(gw, id)).arguments.n, 'later');
  });
}

test('an erase of a call under way covers the result that comes later', async (t) => {
  const { up, gw } = await setUp(t, PAY);
  let held;
  up.onCall = (m) => { held = m; };
  const made = call(gw, 'pay', { n: 1 });
  await until(() => held, 'the call at the server');
  const id = gw.decisions().at(-1).decision_id;
  assert.equal((await ask(gw, ADAM, '/v1/contents/erase', { decision: id })).json.contents, 1);
  held.text('canary-late');
  assert.equal((await made).answer.said, 'canary-late', 'the caller has it');
  const { arguments_state: given, result_state: got } = await look(gw, id);
  assert.deepEqual([given, got], ['erased', 'erased']);
  gw.verify();
});

test('only administrators erase, those of a tenant in their tenant; a request that is not understood erases nothing',
    async (t) => {
  const { up, gw } = await setUp(t, PAY);
  const made = await fourCalls(gw, up);
  const erase = async (who, body) => {
    const { status, json } = await ask(gw, who, '/v1/contents/erase', body);
    return status === 200 ? json.contents : [status, json.reason];
  };
  for (const who of [DEV, RITA])
    assert.deepEqual(await erase(who, { tenant: 'acme' }), [403, 'not_administrator'], who.id);
  assert.deepEqual(await erase(ACME, { tenant: 'other' }), [403, 'not_administrator']);
  for (const body of [{}, { count: false }, { decision: '' }, { tenant: 1 }, { before: 'yesterday' },
    { agent: 'dev', tool: 'pay' }, { agent: 'dev', count: 1 }, [], { agent: null }])
    assert.deepEqual(await erase(ADAM, body), [422, 'malformed_request'], JSON.stringify(body));
  assert.deepEqual(left(gw, made).length, 4);
  assert.equal(await erase(ACME, { agent: 'dev' }), 4, 'of its tenant');
  assert.deepEqual(left(gw, made), ['mate', 'other']);
  assert.equal(writ(['ledger', 'erase', gw.configFile, '--yes'], { cwd: gw.dir }).code, 2, 'nothing is selected');
  const busy = writ(['ledger', 'erase', gw.configFile, '--tenant', 'acme', '--yes'], { cwd: gw.dir });
  assert.notEqual(busy.code, 0);
  assert.match(busy.err, /a gateway has the ledger open: pass the URL of its admin listener/);
});
