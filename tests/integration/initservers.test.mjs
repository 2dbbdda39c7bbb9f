// writ init against the official servers (vectors/sessions), as a user does it: one command, the placeholders replaced
// by sed, writ check, writ serve, and the official SDK's client with the block that init printed. Every call of the
// honest session is answered as by the server itself (with the owner's approval where the rule wants one), and no
// hostile call reaches the server: by its answer, by the ledger, and by what the server was sent.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve as absolute } from 'node:path';
import { SOURCE, serveFolder, writ, writBeside } from '../support/js/gateway.mjs';
import { resolve, sdk1 } from '../support/npm/peers.mjs';
import { startPostgres } from '../support/servers/fake-postgres.mjs';
import { startRedis } from '../support/servers/fake-redis.mjs';

const SERVERS = absolute(SOURCE, 'tests/support/servers'), SESSIONS = absolute(SOURCE, 'vectors/sessions');
const DATABASES = { postgres: startPostgres, redis: startRedis };
const HONEST_LEAST = 10, HOSTILE_LEAST = 20;

/** The session with its names replaced: ${box} in texts, {"$long": n} and {"$list": [n, item]} as values. */
function expand(value, names) {
  if (typeof value === 'string') return value.replace(/\$\{(\w+)\}/g, (_, name) => names[name]);
  if (Array.isArray(value)) return value.map((one) => expand(one, names));
  if (value === null || typeof value !== 'object') return value;
  if (value.$long) return 'a'.repeat(value.$long);
  if (value.$list) return Array.from({ length: value.$list[0] }, () => expand(value.$list[1], names));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, expand(one, names)]));
}

/** Replaces placeholders as the printed hint says, and puts the listeners on free ports. */
function fill(config, values) {
  let yaml = readFileSync(config, 'utf8');
  for (const [name, value] of Object.entries(values)) yaml = yaml.replaceAll(name, value);
  writeFileSync(config, yaml.replace(/^(listen|admin_listen): 127\.0\.0\.1:\d+/gm, '$1: 127.0.0.1:0'));
}

async function connect(t, transport) {
  const { Client } = await sdk1();
  const client = new Client({ name: 'init-test', version: '1' });
  await client.connect(transport);
  t.after(() => client.close());
  return client;
}

/** The owner approves the review, as the page does. */
async function approve(gw, token, id) {
  const ask = (path, body) => fetch(`http://127.0.0.1:${gw.adminPort}/v1/reviews/${id}${path}`, {
    method: body ? 'POST' : 'GET', body: body && JSON.stringify(body),
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
  }).then((res) => res.json());
  const { review_digest } = await ask('');
  assert.equal((await ask('/vote', { vote: 'approve', review_digest })).state, 'approved');
}

/** The result of a call that the server runs as a task. */
async function runTask(client, request) {
  for await (const message of client.experimental.tasks.callToolStream(request)) {
    if (message.type === 'error') throw message.error;
    if (message.type === 'result') return message.result;
  }
  return undefined;
}

/** The answer, or what the refusal says. */
async function call(client, name, args, tasks = []) {
  const request = { name, arguments: args };
  try {
    return { answer: await (tasks.includes(name) ? runTask(client, request) : client.callTool(request)) };
  } catch (error) {
    assert.equal(error.code, -31001, `${name} ${JSON.stringify(args).slice(0, 200)}: ${error.stack}`);
    return { refused: error.data };
  }
}

/** An answer without what differs from one run to the next. */
function lasting(answer, session, varies) {
  assert.notEqual(answer.isError, true, JSON.stringify(answer).slice(0, 500));
  if (varies) return answer.content.map((one) => one.type);
  const { content, structuredContent } = answer;
  const whole = JSON.stringify({ content, structuredContent }, null, 1).replaceAll('\\n', '\n');
  return session.vary ? whole.replace(new RegExp(session.vary, 'gm'), '') : whole;
}

for (const file of readdirSync(SESSIONS).filter((name) => name.endsWith('.json'))) {
  const raw = JSON.parse(readFileSync(join(SESSIONS, file), 'utf8'));
  const name = raw.server;

  test(`proposed_policy_of_${name}_allows_an_honest_session_and_no_hostile_call`, async (t) => {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), 'writ-init-')));
    t.after(() => { if (!process.env.WRIT_KEEP) rmSync(dir, { recursive: true, force: true }); });
    const box = join(dir, 'box'), home = join(dir, 'gateway'), record = join(dir, 'calls');
    const database = await DATABASES[raw.database]?.(t);
    const session = expand(raw, { box, database });
    const env = { ...process.env, ...session.env };
    const server = [process.execPath, ...(session.web ? ['--import', join(SERVERS, 'fake-web.mjs')] : []),
      resolve(`@modelcontextprotocol/server-${name}/dist/index.js`), ...session.args];
    assert.ok(session.honest.length >= HONEST_LEAST && session.hostile.length >= HOSTILE_LEAST);

    // the server itself
    const { StdioClientTransport, StreamableHTTPClientTransport } = await sdk1();
    mkdirSync(box);
    const direct = await connect(t, new StdioClientTransport({ command: server[0], args: server.slice(1), env,
      stderr: 'ignore' }));
    const { tools } = await direct.listTools();
    assert.deepEqual([...new Set(session.honest.map(([tool]) => tool))].sort(), tools.map((one) => one.name).sort());
    assert.equal(tools.length, session.tools);
    const tasks = tools.filter((one) => one.execution?.taskSupport === 'required').map((one) => one.name);
    const wanted = [];
    for (const [tool, args, varies] of session.honest) {
      wanted.push(lasting((await call(direct, tool, args, tasks)).answer, session, varies));
    }
    await direct.close();
    rmSync(box, { recursive: true });
    mkdirSync(box);

    // init, the placeholders, check
    const inherit = session.env ? ['--inherit', Object.keys(session.env).join(',')] : [];
    const made = await writBeside(['init', '--out', home, '--name', name, ...inherit, '--json', '--', process.execPath,
      join(SERVERS, 'noting-stdio.mjs'), record, ...server], { cwd: dir, env });
    assert.equal(made.code, 0, made.err);
    const answer = JSON.parse(made.out);
    assert.equal(answer.servers[0].tools, session.tools);
    const lines = readFileSync(answer.config, 'utf8').split('\n');
    const unfilled = writ(['check', answer.config]);
    assert.equal(unfilled.code, answer.placeholders.length > 0 ? 1 : 0, unfilled.out + unfilled.err);
    assert.deepEqual([...new Set(answer.placeholders.map(({ value }) => value))].sort(),
      Object.keys(session.fill).sort());
    for (const { line, value } of answer.placeholders) {
      assert.ok(lines[line - 1].includes(value));
      assert.match(unfilled.out + unfilled.err, new RegExp(`writ.yaml:${line}: .*placeholder ${value}`));
    }
    fill(answer.config, session.fill);
    const check = writ(['check', answer.config]);
    assert.equal(check.code, 0, check.out + check.err);
    assert.match(check.out, /warnings: 0/);
    const fit = await writBeside(['check', '--tools', answer.config], { cwd: dir, env });
    assert.equal(fit.code, 0, fit.out + fit.err);
    assert.match(fit.out, /errors: 0/);

    // the honest session
    const gw = await serveFolder(t, home, { env });
    const { url: _, ...block } = answer.client.mcpServers.writ;
    const client = await connect(t, new StreamableHTTPClientTransport(new URL(gw.url), { requestInit: block }));
    const listed = await client.listTools(); // the SDK looks there for what needs a task
    assert.equal(listed.tools.length, session.tools);
    tasks.push(...tasks.map((tool) => `${name}__${tool}`));
    const owner = readFileSync(answer.owner_token_file, 'utf8');
    let reviewed = 0;
    for (const [i, [tool, args, varies]] of session.honest.entries()) {
      let got = await call(client, `${name}__${tool}`, args, tasks);
      if (got.refused?.reason === 'approval_required') {
        reviewed++;
        await approve(gw, owner, got.refused.continuation_id);
        got = await call(client, `${name}__${tool}`, args, tasks);
      }
      assert.equal(got.refused, undefined, `${tool} ${JSON.stringify(args)}: ${JSON.stringify(got.refused)}`);
      assert.deepEqual(lasting(got.answer, session, varies), wanted[i], `${tool} ${JSON.stringify(args)}`);
    }
    const sent = readFileSync(record, 'utf8');
    assert.deepEqual(sent.trimEnd().split('\n').map((line) => JSON.parse(line)[0]),
      session.honest.map(([tool]) => tool));
    assert.equal(gw.decisions().filter((d) => d.outcome === 'executed').length, session.honest.length);

    // the hostile calls
    for (const [tool, args, reason] of session.hostile) {
      const before = gw.decisions().length;
      const { refused, answer: got } = await call(client, `${name}__${tool}`, args, tasks);
      const said = `${tool} ${JSON.stringify(args).slice(0, 200)}: ${JSON.stringify(refused ?? got)}`;
      assert.ok(refused, said);
      assert.equal(refused.reason === 'approval_required', reason === 'approval_required', said);
      assert.ok(reason === undefined || refused.reason.includes(reason), said);
      for (const decision of gw.decisions().slice(before)) {
        assert.notEqual(decision.decision, 'allow', said);
        assert.ok(!['executed', 'failed', 'unknown'].includes(decision.outcome), said);
      }
    }
    assert.equal(readFileSync(record, 'utf8'), sent, 'a hostile call reached the server');
    assert.equal(gw.decisions().filter((d) => d.outcome === 'executed').length, session.honest.length);
    t.diagnostic(`${session.honest.length} honest calls ran, ${reviewed} of them approved; ` +
      `${session.hostile.length} hostile calls were refused`);
    await gw.stop();
    gw.verify();
  });
}
