// Tool servers as children over stdio: the official filesystem server, and a scripted one that
// writes down every line that reaches it.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync,
  writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bearer, linesOf, startGateway, until, writ } from '../support/js/gateway.mjs';
import { resolve, sdk1 } from '../support/npm/peers.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';

const NODE = process.execPath;
const SCRIPTED = new URL('../support/servers/stdio-server.mjs', import.meta.url).pathname;
const FILESYSTEM = resolve('@modelcontextprotocol/server-filesystem/dist/index.js');
const alive = (pid) => {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch { return false; }
};

function folder(t) {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'writ-stdio-')));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

const ACT = { scope: 's',
  arguments: [{ arg: 'act', op: 'type', value: 'string' }, { arg: 'say', op: 'type', value: 'string', optional: true },
    { arg: 'ms', op: 'type', value: 'number', optional: true }] };

/** A gateway in front of the scripted server. */
async function scripted(t, config = {}, options = {}) {
  const dir = folder(t);
  const record = join(dir, 'record');
  writeFileSync(record, '');
  const gw = await startGateway(t, { upstreams: { up: { stdio: [NODE, SCRIPTED, record], ...config.upstream } },
    tools: { 'up/act': ACT }, ...config, upstream: undefined }, options);
  const lines = () => linesOf(record).map((l) => JSON.parse(l));
  const calls = () => lines().filter((l) => l.line?.method === 'tools/call').map((l) => l.line);
  await until(async () => (await gw.admin('/readyz')).status === 200, 'the child to be up');
  return { gw, lines, calls, dir, starts: () => lines().filter((l) => l.started) };
}

test('the official filesystem server: reads, writes once, and never leaves its folder', async (t) => {
  const dir = folder(t);
  const box = join(dir, 'box');
  mkdirSync(box);
  mkdirSync(join(dir, 'box-other'));
  writeFileSync(join(dir, 'secret'), 'secret');
  writeFileSync(join(box, 'a.txt'), 'hello');
  const path = [{ arg: 'path', op: 'under', value: box }];
  const gw = await startGateway(t, {
    upstreams: { fs: { stdio: [NODE, FILESYSTEM, box] } },
    tools: {
      'fs/read_text_file': { scope: 'files/{path}', arguments: path, duplicates: 'allow' },
      'fs/write_file': {
        scope: 'files/{path}', target: 'file:{path}',
        arguments: [...path, { arg: 'content', op: 'max_length', value: 100 }],
        state: { tool: 'fs/get_file_info', arguments: { path: '{path}' }, select: ['/size', '/modified'],
          on_error: 'absent' },
      },
      'fs/list_directory': { scope: 'files/{path}', arguments: path, duplicates: 'allow' },
    },
  });
  await until(async () => (await gw.admin('/readyz')).status === 200, 'the child to be up');
  const { Client, StreamableHTTPClientTransport } = await sdk1();
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(gw.url)));
  assert.deepEqual((await client.listTools()).tools.map((x) => x.name).sort(),
    ['fs__list_directory', 'fs__read_text_file', 'fs__write_file']);
  const call = (name, args) => client.callTool({ name: `fs__${name}`, arguments: args }).catch((e) => e);
  assert.equal((await call('read_text_file', { path: join(box, 'a.txt') })).content[0].text, 'hello');

  const write = { path: join(box, 'new.txt'), content: 'one' };
  assert.ok((await call('write_file', write)).content);
  assert.equal(readFileSync(write.path, 'utf8'), 'one');
  writeFileSync(write.path, 'changed by hand');
  assert.equal((await call('write_file', write)).data.reason, 'duplicate_outcome');
  assert.equal(readFileSync(write.path, 'utf8'), 'changed by hand', 'it was not written again');
  const records = gw.decisions().filter((d) => d.tool === 'write_file' && d.granted).map((d) => gw.show(d.decision_id));
  assert.equal(records.length, 1);
  assert.match(records[0].decision.target_state_digest, /^sha256:/, 'the file was absent');
  const other = await call('write_file', { ...write, content: 'two' });
  assert.ok(other.content);
  const [, second] = gw.decisions().filter((d) => d.tool === 'write_file' && d.granted)
    .map((d) => gw.show(d.decision_id));
  assert.notEqual(second.decision.target_state_digest, records[0].decision.target_state_digest,
    'now it had another state');

  for (const bad of [join(dir, 'secret'), `${box}/../secret`, `${box}-other/x`, `${box}/./../secret`,
      `${box}//../secret`, '/etc/passwd', 'a.txt', '', `${box}/a.txt\0`, `${box}\\..\\secret`,
      '/proc/self/root/etc/passwd', `${dir}/box/%2e%2e/../secret`]) {
    assert.equal((await call('read_text_file', { path: bad })).data?.reason, 'constraint_failed', JSON.stringify(bad));
  }
  assert.equal((await call('move_file', { source: write.path, destination: join(box, 'moved') })).data.reason,
    'tool_not_listed');
  assert.ok(existsSync(write.path));
  assert.deepEqual(readdirSync(box).sort(), ['a.txt', 'new.txt']);
  await client.close();
  gw.verify();
});

test('clients that share a child never see each other\'s messages, with any ids', async (t) => {
  const { gw, calls } = await scripted(t, { loops: 2, upstream: { sharing: 'all' } });
  const callers = await Promise.all([openSession(gw), openSession(gw), openSession(gw, { path: '/mcp/up' }),
    new Caller(gw)]);
  const name = (c) => (c.path === '/mcp' ? 'up__act' : 'act');
  const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => {
    const caller = callers[i % callers.length];
    return caller.call(name(caller), { act: 'slow', say: `for ${i}`, ms: (i * 7) % 50 }, { id: 7 });
  }));
  answers.forEach((a, i) => {
    assert.equal(a.said, `for ${i}`);
    assert.equal(a.message.id, 7, 'under the id of the client');
  });
  const ids = calls().map((c) => c.id);
  assert.equal(new Set(ids).size, 60, 'every one has an id of its own upstream');
  // progress tokens as well
  const both = await Promise.all([0, 1].map((i) => callers[i].call('up__act', { act: 'progress', say: `of ${i}` },
    { meta: { progressToken: 'same' } })));
  both.forEach((a, i) => {
    const progress = a.messages.filter((m) => m.method === 'notifications/progress').map((m) => m.params);
    assert.deepEqual(progress.map((p) => [p.progressToken, p.message]), Array(3).fill(['same', `of ${i}`]));
  });
  gw.verify();
});

test('a child gets a minimal environment without secrets, and the credential in _meta', async (t) => {
  const { gw, calls, lines } = await scripted(t, { upstream: { environment: { OWN: 'value' }, inherit: ['GIVEN'] } },
    { env: { GIVEN: 'yes', SECRET_OF_GATEWAY: 'canary', AWS_SECRET_ACCESS_KEY: 'canary', LD_PRELOAD: '' } });
  const s = await openSession(gw);
  await s.call('up__act', { act: 'echo', say: 'hi' }, { meta: { 'io.writ/credential': 'forged' } });
  const { env } = lines()[0];
  assert.equal(env.OWN, 'value');
  assert.equal(env.GIVEN, 'yes');
  assert.ok(!JSON.stringify(env).includes('canary'), JSON.stringify(Object.keys(env)));
  const [call] = calls();
  const claims = JSON.parse(Buffer.from(call.params._meta['io.writ/credential'].split('.')[1], 'base64url'));
  assert.equal(claims.aud, 'stdio:up');
  assert.equal(gw.show(claims.jti).decision.tool, 'act');
});

test('a child that dies loses its call once, and its successor gets the next call', async (t) => {
  const { gw, calls, starts } = await scripted(t);
  const s = await openSession(gw);
  let n = 0;
  for (const act of ['die', 'die in a line']) {
    n++;
    const died = await s.call('up__act', { act });
    assert.equal(died.reason, 'upstream_failed', died.text);
    assert.equal((await s.call('up__act', { act })).reason, 'duplicate_outcome');
    await until(() => starts().length === n + 1, 'the next child');
    await until(async () => (await gw.admin('/readyz')).status === 200, 'it to be up');
    assert.equal((await s.call('up__act', { act: 'echo', say: `after ${act}` })).said, `after ${act}`,
      'in the same session');
  }
  assert.equal(calls().length, 4);
  gw.verify();
});

test('malformed messages of a child reach no client', async (t) => {
  const { gw, calls } = await scripted(t,
    { limits: { event: '1MiB', response: '1MiB' }, tools: { 'up/act': { ...ACT, timeout: '20s' } } });
  const s = await openSession(gw);
  assert.equal((await s.call('up__act', { act: 'another id' })).said, 'right');
  assert.equal((await s.call('up__act', { act: 'twice' })).said, 'first');
  assert.equal((await s.call('up__act', { act: 'noise' })).said, 'after noise');
  assert.equal((await s.call('up__act', { act: 'ask' })).said, 'asked');
  const before = gw.logText.length;
  assert.equal((await s.call('up__act', { act: 'stderr' })).said, 'wrote');
  assert.ok(gw.logText.length - before < 200_000,
    `what a child writes to stderr is bounded in the log: ${gw.logText.length - before} bytes of a million`);
  assert.ok(gw.log.every((l) => l.event !== 'not_json'), 'and inside its lines');
  const long = await s.call('up__act', { act: 'long line' });
  assert.ok(long.error, long.text);
  await until(async () => (await gw.admin('/readyz')).status === 200, 'the child to be up again');
  assert.equal((await s.call('up__act', { act: 'echo', say: 'fine' })).said, 'fine');
  assert.equal(calls().length, 7);
  gw.verify();
});

test('a client that goes away or cancels takes only its own call with it', async (t) => {
  const { gw, calls, lines } = await scripted(t);
  const [a, b] = [await openSession(gw), await openSession(gw)];
  const running = b.call('up__act', { act: 'slow', say: 'mine', ms: 400 }, { id: 5 });
  const never = a.call('up__act', { act: 'never' }, { id: 5 });
  never.catch(() => {});
  await until(() => calls().length === 2, 'both calls');
  assert.equal((await a.notify('notifications/cancelled', { requestId: 5, reason: 'changed my mind' })).status, 202);
  const cancelled = await until(() => lines().find((l) => l.line?.method === 'notifications/cancelled'),
    'the child to hear of it');
  const upstreamId = calls().find((c) => c.params.arguments.act === 'never').id;
  assert.equal(cancelled.line.params.requestId, upstreamId, 'of the right call');
  assert.equal((await running).said, 'mine');
  // a legacy client that leaves cancels no call: it runs on
  const abort = new AbortController();
  const left = b.call('up__act', { act: 'slow', say: 'left', ms: 300 }, { signal: abort.signal });
  await until(() => calls().length === 3, 'its call');
  abort.abort();
  await assert.rejects(left);
  await until(() => gw.decisions().at(-1).outcome === 'executed', 'its outcome');
  assert.equal(lines().filter((l) => l.line?.method === 'notifications/cancelled').length, 1);
  // a session cannot cancel the call of another one
  const mine = a.call('up__act', { act: 'slow', say: 'mine too', ms: 200 }, { id: 77 });
  await until(() => calls().length === 4, 'the call');
  await b.notify('notifications/cancelled', { requestId: 77 });
  assert.equal((await mine).said, 'mine too');
  assert.equal(lines().filter((l) => l.line?.method === 'notifications/cancelled').length, 1);
  gw.verify();
});

test('a cancelled call ends in time whatever its child says, and its refusal says that it may have run', async (t) => {
  const { gw, calls, lines } = await scripted(t, { tools: { 'up/act': { ...ACT, timeout: '60s' } } });
  const cancelled = () => lines().filter((l) => l.line?.method === 'notifications/cancelled').length;
  const running = await Promise.all(['progress', 'log'].map(async (say) => {
    const s = await openSession(gw);
    return { s, call: s.call('up__act', { act: 'talk', say }, { id: 5, meta: { progressToken: 'p' } }) };
  }));
  await until(() => calls().length === 2, 'both calls');
  const from = performance.now();
  await Promise.all(running.map(({ s }) => s.notify('notifications/cancelled', { requestId: 5 })));
  await until(() => cancelled() === 2, 'the children to hear of it');
  for (const { s, call } of running) {
    await s.notify('notifications/cancelled', { requestId: 5 }); // a second time wins no time
    const answer = await call;
    assert.deepEqual([answer.reason, answer.refusal.execution], ['call_cancelled', 'unknown'], answer.text);
    assert.match(answer.error.message, /may have run/);
  }
  assert.ok(performance.now() - from < 25_000, `${performance.now() - from} ms`);
  assert.deepEqual(gw.decisions().map((d) => gw.show(d.decision_id).outcome.error_type), ['cancelled', 'cancelled']);
  gw.verify();
});

test('a stateless client of a child without that revision gets an error, and the child gets no message', async (t) => {
  const { gw, calls } = await scripted(t);
  const modern = new Caller(gw, { modern: true });
  const refused = await modern.call('up__act', { act: 'echo', say: 'x' }, { key: 'k' });
  assert.equal(refused.status, 400, refused.text);
  assert.equal(gw.show(gw.decisions()[0].decision_id).outcome.error_type, 'not_sent');
  assert.equal((await (await openSession(gw)).call('up__act', { act: 'echo', say: 'x' }, { key: 'k' })).said, 'x',
    'so the key is free');
  assert.equal(calls().length, 1);
  gw.verify();
});

test('a child and its processes end with the gateway', async (t) => {
  const { gw, lines } = await scripted(t);
  const s = await openSession(gw);
  const grandchild = Number((await s.call('up__act', { act: 'children' })).said);
  const child = lines()[0].started;
  assert.ok(alive(child) && alive(grandchild));
  assert.deepEqual(await gw.stop(), { code: 0, signal: null });
  await until(() => !alive(child) && !alive(grandchild), 'both to be gone');
  // also when the gateway is killed
  await gw.start();
  const next = await until(() => lines().filter((l) => l.started).at(1)?.started, 'the next child');
  await gw.stop('SIGKILL');
  await until(() => !alive(next), 'it to be gone');
});

test('the official server behind a wrapper ends with its input when the gateway is killed', async (t) => {
  const box = folder(t);
  const gw = await startGateway(t, {
    upstreams: { fs: { stdio: ['sh', '-c', '"$@"; exit', 'wrapper', NODE, FILESYSTEM, box] } },
    tools: {},
  });
  await until(async () => (await gw.admin('/readyz')).status === 200, 'the server to be up');
  const { pid } = gw.log.find((l) => l.event === 'upstream_started');
  const server = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'));
  assert.ok(alive(server));
  await gw.stop('SIGKILL');
  await until(() => !alive(pid) && !alive(server), 'both to be gone');
});

test('a child that cannot start affects no other, and readiness reports it', async (t) => {
  const dir = folder(t);
  const record = join(dir, 'record');
  writeFileSync(record, '');
  const gw = await startGateway(t, {
    upstreams: { up: { stdio: [NODE, SCRIPTED, record] }, gone: { stdio: ['/nonexistent/server'] },
      quits: { stdio: ['/bin/false'] } },
    tools: { 'up/act': ACT, 'gone/act': ACT, 'quits/act': ACT },
  });
  await until(async () =>
    (await new Caller(gw).call('up__act', { act: 'echo', say: 'x' }, { key: `${Math.random()}` })).said === 'x',
    'the good one to be up');
  const ready = await gw.admin('/readyz');
  assert.equal(ready.status, 503);
  assert.match(ready.text, /^upstreams: not ready \(gone, quits\)$/m, 'by name');
  assert.match((await gw.waitLog('not_ready')).missing, /^upstreams \(gone, quits\)$/);
  assert.ok(gw.log.every((l) => l.event !== 'ready'), 'ready is said when it is');
  assert.equal((await gw.admin('/healthz')).status, 200);
  const s = await openSession(gw);
  for (const name of ['gone__act', 'quits__act']) {
    const answer = await s.call(name, { act: 'echo', say: 'x' });
    assert.equal(answer.reason, 'upstream_unavailable', answer.text);
    assert.equal(gw.show(answer.refusal.decision_id).outcome.error_type, 'not_sent');
  }
  assert.ok(gw.log.filter((l) => /child/.test(l.event)).length < 60, 'restarts back off');
});

test('the log of a child that cannot start has program, attempts and its last output, escaped and cut', async (t) => {
  const dir = folder(t);
  const says = join(dir, 'says.mjs');
  writeFileSync(says,
    'process.stderr.write("x".repeat(5000) + "\\n\\x1b[31mno licence for \\u202eserver\\n"); process.exitCode = 7;');
  const gw = await startGateway(t, {
    upstreams: { gone: { stdio: ['/nonexistent/server'] }, says: { stdio: [NODE, says] },
      script: { stdio: [NODE, join(dir, 'missing.mjs')] } }, tools: {},
  });
  const ended = (upstream, failures) => gw.waitLog('upstream_ended', 0, (l) => l.upstream === upstream &&
    l.failures === failures);
  const gone = await ended('gone', 2);
  assert.deepEqual([gone.level, gone.program, gone.why, gone.error],
    ['warn', '/nonexistent/server', 'not_started', 'No such file or directory']);
  const spoke = await ended('says', 2);
  assert.deepEqual([spoke.program, spoke.why, spoke.detail], [NODE, 'exited', 7]);
  assert.match(spoke.said, /no licence for .server$/);
  assert.ok(spoke.said.length <= 1000);
  assert.match((await ended('script', 1)).said, /Cannot find module .*missing\.mjs/,
    'a script that is missing, by name');
  assert.doesNotMatch(gw.logText, /[^\n\x20-\x7e]/, 'every line is plain text');
});

test('readiness follows the state of the children', async (t) => {
  const dir = folder(t);
  const record = join(dir, 'record');
  writeFileSync(record, '');
  const gw = await startGateway(t,
    { upstreams: { up: { stdio: [NODE, SCRIPTED, record] } }, tools: { 'up/act': ACT } });
  await gw.waitLog('ready');
  const order = gw.log.map((l) => l.event);
  assert.ok(order.indexOf('upstream_started') < order.indexOf('ready'));
  assert.equal((await gw.admin('/readyz')).status, 200);
  const from = gw.log.length;
  await (await openSession(gw)).call('up__act', { act: 'stderr' });
  process.kill(gw.log.find((l) => l.event === 'upstream_started').pid, 'SIGKILL');
  const end = await gw.waitLog('upstream_ended', from, (l) => l.why === 'killed');
  assert.equal(end.said, undefined, 'what a server says that was up may be of a call');
});
