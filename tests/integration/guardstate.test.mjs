// `writ guard` probes the target: a credential for a state is good only while the target is in it.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { ANYBODY, BIN, startGateway, until, writ } from '../support/js/gateway.mjs';
import { AUD, ISS, digest, guardFolder, issuer, startGuard } from '../support/js/guard.mjs';
import { resolve } from '../support/npm/peers.mjs';
import { reservePort } from '../support/js/ports.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const NODE = process.execPath;
const FILESYSTEM = resolve('@modelcontextprotocol/server-filesystem/dist/index.js');
const SUPERGATEWAY = resolve('supergateway/dist/index.js');
const ARGS = { to: 'DE89', amount: 12.5 };
const reason = (answer) => answer.error?.data?.reason;
const PROBE = { tool: 'bank/stat', arguments: { account: '{to}' }, select: ['/balance'], timeout: '2s' };

/** A file with the rules of one upstream alone. */
function policy(dir, rules, name = 'state.yaml') {
  writeFileSync(join(dir, name), JSON.stringify({ tools: rules }));
  return ['--policy', name, '--upstream', 'bank'];
}

/** A guard in front of a scripted server whose tool `stat` answers with `up.balance`. */
async function behind(t, { rules = { 'bank/pay': { state: PROBE } }, more = [], options = {} } = {}) {
  const up = await startUpstream(t, { onCall: (a) => (a.name === 'stat' && !options.onCall
    ? a.result({ content: [], structuredContent: { balance: up.balance, read: Date.now() } })
      : (options.onCall ?? ((b) => b.text('ran')))(a)), ...options.upstream });
  up.balance = 7;
  const signer = await issuer();
  const dir = await guardFolder(t, signer.jwks);
  const guard = await startGuard(t, dir,
    ['http', up.url.replace('/mcp', ''), ...(rules ? policy(dir, rules) : []), ...more]);
  const bound = (balance, args = ARGS, tool = 'pay') =>
    signer.mint(tool, args, { target_state_digest: digest({ '/balance': balance }) });
  const caller = new Caller(guard);
  const pay = async (token, options = {}) =>
    caller.call('pay', ARGS, { ...options, headers: { 'writ-credential': await token, ...options.headers } });
  return { up, guard, dir, ...signer, bound, caller, pay };
}

test('the guard forwards a call only while its target has the decided state', async (t) => {
  const { up, bound, mint, pay, guard } = await behind(t);
  const answer = await pay(bound(7));
  assert.deepEqual([answer.status, answer.said], [200, 'ran']);
  assert.deepEqual(up.of('stat').map((c) => c.arguments), [{ account: 'DE89' }]);
  assert.equal(up.of('stat')[0].credential, undefined);
  const token = await bound(7);
  up.balance = 8;
  assert.deepEqual(await pay(token).then((a) => [a.status, reason(a)]), [403, 'state_drift']);
  assert.equal(reason(await pay(mint('pay', ARGS))), 'state_drift', 'decided on without a look');
  assert.equal(up.of('pay').length, 1);
  up.balance = 7;
  assert.equal((await pay(token)).status, 200, 'what was refused is not used up');
  assert.equal(reason(await pay(token)), 'replayed');
  assert.equal(up.of('pay').length, 2);
  assert.equal((await guard.stop()).code, 0); // under the sanitizers: no leak
});

test('the guard probes the target only for an otherwise good credential', async (t) => {
  const { up, guard, bound, mint, pay, caller } = await behind(t);
  const now = Math.floor(Date.now() / 1000);
  const state = { target_state_digest: digest({ '/balance': 7 }) };
  for (const [want, token] of [['malformed', 'x'], ['args_mismatch', bound(7, {})],
    ['scope_mismatch', bound(7, ARGS, 'refund')],
    ['expired', mint('pay', ARGS, { ...state, iat: now - 100, nbf: now - 100, exp: now - 1 })]])
      assert.equal(reason(await pay(token)), want);
  assert.equal((await caller.call('pay', ARGS)).status, 401);
  assert.equal((await caller.call('stat', { account: 'DE89' })).status, 401, 'a probe needs a credential');
  assert.equal(up.calls.length, 0);
  assert.equal(guard.gone, false);
});

test('a probe has its own id and only session, revision and authorization of the call',
    async (t) => {
  const { up, bound, guard, mint } = await behind(t);
  for (const modern of [false, true]) {
    up.clear();
    const caller = new Caller(guard, { modern, token: 'of-the-server' });
    if (!modern) await caller.open();
    const answer = await caller.call('pay', ARGS,
      { headers: { 'writ-credential': await bound(7), cookie: 'a=b', traceparent: '00-1' } });
    assert.equal(answer.status, 200, answer.text);
    const [asked, ran] = [up.of('stat')[0], up.of('pay')[0]];
    assert.match(asked.id, /^writ-guard-[0-9a-f]{32}$/);
    assert.equal(asked.headers.authorization, 'Bearer of-the-server');
    assert.equal(asked.headers['mcp-session-id'], ran.headers['mcp-session-id']);
    assert.equal(asked.headers['mcp-protocol-version'], ran.headers['mcp-protocol-version']);
    assert.equal(asked.headers['mcp-name'], modern ? 'stat' : undefined);
    assert.deepEqual([asked.headers.cookie, asked.headers.traceparent, asked.headers['writ-credential']],
      [undefined, undefined, undefined]);
    assert.equal(asked.meta?.['io.modelcontextprotocol/protocolVersion'], modern ? '2026-07-28' : undefined);
  }
  const caller = new Caller(guard);
  const own = await caller.call('pay', ARGS,
    { id: 'writ-guard-1', headers: { 'writ-credential': await mint('pay', ARGS) } });
  assert.equal(own.status, 400);
});

test('the answer to a probe may come on a stream, behind other messages', async (t) => {
  let ends = true;
  const { up, bound, pay } = await behind(t, { options: { onCall: (a) => {
    if (a.name !== 'stat') return a.text('ran');
    const stream = a.stream();
    stream.send({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: a.id } });
    stream.send({ jsonrpc: '2.0', id: 'writ-guard-00000000000000000000000000000000',
      result: { structuredContent: { balance: 0 } } });
    stream.send({ jsonrpc: '2.0', id: a.id, result: { content: [], structuredContent: { balance: up.balance } } });
    return ends ? stream.end() : undefined;
  } } });
  assert.equal((await pay(bound(7))).status, 200);
  ends = false; // one that never ends is not waited for
  assert.equal((await pay(bound(7))).status, 200);
  assert.equal(reason(await pay(bound(8))), 'state_drift');
  assert.equal(up.of('pay').length, 2);
});

test('an unreadable state refuses the call', async (t) => {
  let answer;
  const { up, bound, pay } = await behind(t, { rules: { 'bank/pay': { state: { ...PROBE, timeout: '300ms' } } },
    options: { onCall: (a) => (a.name === 'stat' ? answer(a) : a.text('ran')) } });
  const good = (a) => ({ jsonrpc: '2.0', id: a.id, result: { content: [], structuredContent: { balance: 7 } } });
  const rows = {
    'an error': (a) => a.error(-32000, 'no'),
    'a failed tool': (a) => a.result({ isError: true, content: [], structuredContent: { balance: 7 } }),
    'another status': (a) => a.json(good(a), 500),
    'a redirect': (a) => a.json(good(a), 302, { location: '/elsewhere' }),
    'another type': (a) => a.json(good(a), 200, { 'content-type': 'text/plain' }),
    'no JSON': (a) => a.json('{"jsonrpc"'),
    'another id': (a) => a.json({ ...good(a), id: 1 }),
    'a duplicate member': (a) => a.json(JSON.stringify(good(a)).replace('"balance"', '"balance":1,"balance"')),
    'no such member': (a) => a.result({ content: [], structuredContent: { Balance: 7 } }),
    'a request': (a) => a.json({ ...good(a), method: 'ping' }),
    'too much': (a) => a.json({ ...good(a), more: 'x'.repeat(1 << 20) }), 'nothing, for too long': () => {},
    'a stream without it': (a) => a.stream().end(), 'a cut stream': (a) => {
      const s = a.stream();
      s.raw(`data: ${JSON.stringify(good(a))}\n`);
      s.destroy();
    },
    'two types': (a) =>
      a.bytes(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Type: text/plain\r\nConnection: ` +
        `close\r\n\r\n${JSON.stringify(good(a))}`),
    'a closed connection': (a) => a.destroy(),
  };
  const token = await bound(7);
  for (const [what, says] of Object.entries(rows)) {
    answer = says;
    assert.deepEqual(await pay(token).then((a) => [a.status, reason(a)]), [403, 'target_state_unavailable'], what);
  }
  assert.equal(up.of('pay').length, 0);
  answer = (a) => a.json(good(a));
  assert.equal((await pay(token)).status, 200, 'and uses nothing up');
});

test('arguments that give no valid probe refuse the call', async (t) => {
  const { up, mint, caller } = await behind(t);
  for (const args of [{}, { to: null }, { to: ['DE89'] }]) {
    const token = await mint('pay', args, { target_state_digest: digest({ '/balance': 7 }) });
    const answer = await caller.call('pay', args, { headers: { 'writ-credential': token } });
    assert.equal(reason(answer), 'target_state_unavailable', JSON.stringify(args));
  }
  assert.equal(up.calls.length, 0);
});

test('probes read resources and HTTP, and a missing target has a state if configured', async (t) => {
  let status = 200;
  const web = http.createServer((req, res) => res.writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify({ balance: 7, asked: req.url, by: req.headers }))).listen(0, '127.0.0.1');
  await once(web, 'listening');
  t.after(() => { web.closeAllConnections(); web.close(); });
  let exists = true;
  const rules = { 'bank/pay': { state: { http: `http://127.0.0.1:${web.address().port}/accounts/{to}`,
    select: ['/balance', '/asked'], on_error: 'absent' } },
    'bank/re*': { state: { resource: 'account:{to}', select: ['/0/text'], on_error: 'absent' } } };
  const { up, mint, pay, caller } = await behind(t, { rules, options: { upstream: { onMessage: (a) => {
    if (a.method !== 'resources/read') return undefined;
    if (exists) a.result({ contents: [{ uri: a.params.uri, text: 'x' }] }); else a.error(-32002, 'none');
    return true;
  } } } });
  const of = (tool, state) => mint(tool, ARGS, { target_state_digest: digest(state) });
  assert.equal((await pay(of('pay', { '/balance': 7, '/asked': '/accounts/DE89' }))).status, 200);
  assert.equal(reason(await pay(of('pay', { '/balance': 8, '/asked': '/accounts/DE89' }))), 'state_drift');
  status = 404;
  assert.equal((await pay(of('pay', null))).status, 200);
  status = 500;
  assert.equal(reason(await pay(of('pay', null))), 'target_state_unavailable');
  const refund = async (state) =>
    caller.call('refund', ARGS, { headers: { 'writ-credential': await of('refund', state) } });
  assert.equal((await refund({ '/0/text': 'x' })).status, 200);
  exists = false;
  assert.equal(reason(await refund({ '/0/text': 'x' })), 'state_drift');
  assert.equal((await refund(null)).status, 200);
  assert.deepEqual([up.of('pay').length, up.of('refund').length], [2, 2]);
});

test('a credential for a state without a probe is refused unless the server compares', async (t) => {
  const without = await behind(t, { rules: null });
  assert.equal(reason(await without.pay(without.bound(7))), 'target_state_unavailable');
  assert.equal((await without.pay(without.mint('pay', ARGS))).status, 200);
  const other = await behind(t, { rules: { 'bank/refund': { state: PROBE } } });
  assert.equal(reason(await other.pay(other.bound(7))), 'target_state_unavailable');
  const lenient = await behind(t, { rules: { 'bank/refund': { state: PROBE } }, more: ['--any-state'] });
  assert.equal((await lenient.pay(lenient.bound(7))).status, 200);
  const refund = async (balance) => lenient.caller.call('refund', ARGS,
    { headers: { 'writ-credential': await lenient.bound(balance, ARGS, 'refund') } });
  assert.equal(reason(await refund(8)), 'state_drift', 'where there is a probe it is asked');
  assert.equal((await refund(7)).status, 200);
});

test('only configured probe tools are callable without a credential', async (t) => {
  const rules = { 'bank/pay': { state: PROBE }, 'bank/refund': { state: { resource: 'account:{to}' } },
    'other/x': { state: { ...PROBE, tool: 'other/drop' } } };
  const { up, bound, mint, pay, caller } = await behind(t, { rules, more: ['--open-probes'] });
  assert.equal((await caller.call('stat', { account: 'x' })).result.structuredContent.balance, 7);
  assert.equal(reason(await caller.call('stat', { account: 'x' }, { headers: { 'writ-credential': 'x' } })),
    'malformed', 'who shows one is judged by it');
  const token = await mint('stat', { account: 'x' });
  for (const want of [200, 403])
    assert.equal((await caller.call('stat', { account: 'x' }, { headers: { 'writ-credential': token } })).status, want);
  for (const tool of ['pay', 'refund', 'Stat', 'stat ', 'drop', 'pay/stat'])
    assert.equal((await caller.call(tool, ARGS)).status, 401, tool);
  assert.equal((await pay(bound(7))).status, 200);
  assert.deepEqual(up.calls.map((c) => c.name), ['stat', 'stat', 'stat', 'pay']);
});

test('a policy without probes, or with different ones for a tool, does not start', async (t) => {
  const dir = await guardFolder(t, (await issuer()).jwks);
  const tries = (rules, more = []) =>
    writ(['guard', 'http', 'http://127.0.0.1:1', '--listen', '127.0.0.1:0', '--keys', 'jwks.json', '--aud', AUD,
      '--used', 'used',
    ...policy(dir, rules), ...more], { cwd: dir });
  assert.match(tries({ 'bank/pay': {}, 'other/pay': { state: PROBE } }).err, /no tool of \\"bank\\" has a state/);
  assert.match(tries({ 'bank/pay': [{ roles: ['a'], state: PROBE }, {}] }).err,
    /rules of bank\/pay differ in their state/);
  assert.match(tries({ 'bank/pay': [{ roles: ['a'], state: PROBE }, { state: { ...PROBE, select: [] } }] }).err,
    /differ in their state/);
  assert.match(tries({ 'bank/pay': { state: { ...PROBE, tool: 'other/stat' } } }).err, /asked of other/);
  assert.match(tries({ 'bank/pay': { state: {} } }).err, /exactly one of tool, resource and http/);
  assert.equal(tries({ 'bank/pay': { state: PROBE } }, ['--policy', 'x']).code, 2);
  rmSync(join(dir, 'state.yaml'));
  assert.equal(writ(['guard', 'stdio', '--keys', 'k', '--aud', AUD, '--used', 'used', '--policy', 'state.yaml', '--',
    'true'], { cwd: dir }).code, 2);
  const two = [{ roles: ['a'], state: PROBE }, { state: { ...PROBE } }];
  const guard = await startGuard(t, dir, ['http', 'http://127.0.0.1:1', ...policy(dir, { 'bank/pay': two })]);
  assert.equal(guard.gone, false);
});

test('a call whose client leaves during the probe does not run', async (t) => {
  const held = [];
  const { up, bound, caller, pay, guard } = await behind(t,
    { rules: { 'bank/pay': { state: { ...PROBE, timeout: '1m' } } },
    options: { onCall: (a) => (a.name === 'stat' ? held.push(a) : a.text('ran')) } });
  const token = await bound(7);
  const left = new AbortController();
  const sent = caller.call('pay', ARGS, { headers: { 'writ-credential': token }, signal: left.signal }).catch(() => {});
  await until(() => held.length === 1, 'the question');
  left.abort();
  await sent;
  await held[0].closed; // the guard gave it up
  const again = pay(token);
  await until(() => held.length === 2, 'the next question');
  held[1].result({ content: [], structuredContent: { balance: 7 } });
  assert.equal((await again).status, 200);
  assert.equal(up.of('pay').length, 1);
  assert.equal(guard.gone, false);
});

test('a client that leaves during an HTTP probe ends the probe', async (t) => {
  let asked, closed;
  const web = http.createServer((req) => {
    asked = true;
    req.socket.on('close', () => { closed = true; });
  }).listen(0, '127.0.0.1');
  await once(web, 'listening');
  t.after(() => { web.closeAllConnections(); web.close(); });
  const { up, bound, caller, guard } = await behind(t,
    { rules: { 'bank/pay': { state: { http: `http://127.0.0.1:${web.address().port}/{to}`, select: ['/balance'],
      timeout: '1m' } } } });
  const left = new AbortController();
  const sent = caller.call('pay', ARGS, { headers: { 'writ-credential': await bound(7) }, signal: left.signal })
    .catch(() => {});
  await until(() => asked, 'the question');
  left.abort();
  await sent;
  await until(() => closed, 'the end of the question');
  assert.equal(up.calls.length, 0);
  assert.equal((await guard.stop()).code, 0);
});

test('of many concurrent requests with one credential and a good state, one runs', async (t) => {
  const { up, bound, pay } = await behind(t);
  for (let round = 0; round < 5; round++) {
    const token = await bound(7);
    const answers = await Promise.all(Array.from({ length: 20 }, () => pay(token)));
    assert.equal(answers.filter((a) => a.status === 200).length, 1);
    assert.equal(answers.filter((a) => reason(a) === 'replayed').length, 19);
  }
  assert.equal(up.of('pay').length, 5);
});

test('a credential that expires during the probe is refused', async (t) => {
  const { up, mint, pay } = await behind(t,
    { rules: { 'bank/pay': { state: { ...PROBE, timeout: '1m' } } }, options: { onCall: (a) => (a.name === 'stat'
    ? setTimeout(() => a.result({ content: [], structuredContent: { balance: 7 } }), 1500) : a.text('ran')) } });
  const now = Math.floor(Date.now() / 1000);
  const token = mint('pay', ARGS, { exp: now + 1, target_state_digest: digest({ '/balance': 7 }) });
  assert.equal(reason(await pay(token)), 'expired');
  assert.equal(up.of('pay').length, 0);
});

test('a guard that is stopped during a probe runs no call', async (t) => {
  let asked = 0;
  const { up, guard, bound, pay } = await behind(t, { rules: { 'bank/pay': { state: { ...PROBE, timeout: '1m' } } },
    options: { onCall: (a) => (a.name === 'stat' ? asked++ : a.text('ran')) } });
  const sent = pay(bound(7)).catch(() => {});
  await until(() => asked === 1, 'the question');
  assert.equal((await guard.stop()).code, 0);
  await sent;
  assert.equal(up.of('pay').length, 0);
});

// ---- a real gateway, a real guard, the official filesystem server

const FILE_STATE = { tool: 'fs/get_file_info', arguments: { path: '{path}' }, select: ['/size', '/modified'],
  on_error: 'absent' };
const fileRules = (box) => ({ 'fs/write_file': { scope: 'files/{path}', state: FILE_STATE, duplicates: 'allow',
  arguments: [{ arg: 'path', op: 'under', value: box }, { arg: 'content', op: 'type', value: 'string' }] } });

/** What happens between a call's decision and the guard: called with the call. */
function meddling() {
  const m = { with: undefined };
  m.see = (message) => {
    if (message?.method === 'tools/call' && message.params.name === 'write_file') m.with?.(message);
  };
  return m;
}

async function writes(t, gw, box, meddle) {
  const client = await openSession(gw);
  const path = join(box, 'a.txt');
  const write = async (content) => client.call('fs__write_file', { path, content });
  assert.match((await write('one')).said ?? '', /Successfully wrote/, 'it did not exist, and did not begin to');
  assert.equal(readFileSync(path, 'utf8'), 'one');
  utimesSync(path, 1, 1);
  assert.match((await write('two')).said ?? '', /Successfully wrote/, 'unchanged');
  meddle.with = () => writeFileSync(path, 'by another process');
  const drifted = await write('three');
  assert.equal(drifted.said, undefined, drifted.text);
  assert.equal(readFileSync(path, 'utf8'), 'by another process');
  meddle.with = () => rmSync(path);
  assert.equal((await write('four')).said, undefined);
  assert.equal(existsSync(path), false);
  meddle.with = undefined;
  assert.match((await write('five')).said ?? '', /Successfully wrote/);
  assert.equal(readFileSync(path, 'utf8'), 'five');
  const kept = statSync(path).mtimeMs;
  meddle.with = () => { throw new Error('the way is cut'); };
  assert.equal((await write('six')).said, undefined);
  assert.equal(statSync(path).mtimeMs, kept);
}

test('over HTTP: a file that changes between decision and guard is not written', async (t) => {
  const dir = await guardFolder(t);
  const box = join(dir, 'box');
  mkdirSync(box);
  const [serverPort, guardPort] = [await reservePort(), await reservePort()];
  const server = spawn(NODE, [SUPERGATEWAY, '--stdio', `${NODE} ${FILESYSTEM} ${box}`, '--outputTransport',
    'streamableHttp', '--stateful', '--port', String(serverPort), '--logLevel', 'none'],
    { stdio: 'ignore', detached: true });
  t.after(() => process.kill(-server.pid, 'SIGKILL'));
  await until(async () => (await fetch(`http://127.0.0.1:${serverPort}/mcp`).catch(() => undefined)) !== undefined,
    'the filesystem server');
  const meddle = meddling();
  const between = http.createServer((req, res) => { // between the gateway and the guard
    let body = '';
    req.setEncoding('utf8').on('data', (d) => { body += d; }).on('end', () => {
      try { meddle.see(body === '' ? undefined : JSON.parse(body)); } catch { return res.destroy(); }
      const on = http.request({ host: '127.0.0.1', port: guardPort, path: req.url, method: req.method,
        headers: { ...req.headers, host: `127.0.0.1:${guardPort}` } },
        (answer) => { res.writeHead(answer.statusCode, answer.headers); answer.pipe(res); });
      on.on('error', () => res.destroy());
      return on.end(body);
    });
  }).listen(0, '127.0.0.1');
  await once(between, 'listening');
  t.after(() => { between.closeAllConnections(); between.close(); });
  const config = { issuer: ISS,
    upstreams: { fs: { http: `http://127.0.0.1:${between.address().port}/mcp`, resource: AUD } },
    tools: fileRules(box) };
  const gw = await startGateway(t, config);
  const guard = await startGuard(t, dir,
    ['http', `http://127.0.0.1:${serverPort}`, '--policy', gw.configFile, '--upstream', 'fs', '--open-probes'],
    { keys: `${gw.origin}/.well-known/jwks.json`, listen: `127.0.0.1:${guardPort}` });
  await writes(t, gw, box, meddle);
  assert.deepEqual(guard.log.filter((l) => l.event === 'refused').map((l) => [l.tool, l.reason]),
    [['write_file', 'state_drift'], ['write_file', 'state_drift']]);
});

const MEDDLER = `
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
const [deed, ...command] = process.argv.slice(2);
const child = spawn(command[0], command.slice(1), { stdio: ['pipe', 'inherit', 'inherit'] });
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line.includes('"write_file"') && existsSync(deed)) {
    const { path, text } = JSON.parse(readFileSync(deed, 'utf8'));
    if (text === undefined) rmSync(path); else writeFileSync(path, text);
  }
  child.stdin.write(line + '\\n');
}).on('close', () => child.stdin.end());
child.on('exit', (code) => process.exit(code ?? 1));
`;

test('over stdio: a file that changes between decision and guard is not written', async (t) => {
  const dir = await guardFolder(t);
  const box = join(dir, 'box');
  const deed = join(dir, 'deed.json');
  const path = join(box, 'a.txt');
  mkdirSync(box);
  writeFileSync(join(dir, 'meddler.mjs'), MEDDLER);
  const rules = fileRules(box);
  writeFileSync(join(dir, 'state.yaml'), JSON.stringify({ tools: rules }));
  const gw = await startGateway(t, {
    issuer: ISS, agents: [ANYBODY], tools: rules,
    upstreams: { fs: { resource: AUD, credential: { meta: true }, stdio: [NODE, join(dir, 'meddler.mjs'), deed,
      BIN, 'guard', 'stdio', '--keys', join(dir, 'jwks.json'), '--aud', AUD, '--iss', ISS, '--used', join(dir, 'used'),
      '--policy', join(dir, 'state.yaml'), '--upstream', 'fs', '--open-probes', '--', NODE, FILESYSTEM, box] } },
  }, { prepare: (folder) =>
    writeFileSync(join(dir, 'jwks.json'), writ(['keys', 'jwks', '--dir', join(folder, 'keys')]).out) });
  const client = await openSession(gw);
  const write = async (content) => client.call('fs__write_file', { path, content });
  const first = await write('one');
  assert.match(first.said ?? '', /Successfully wrote/, first.text);
  assert.match((await write('two')).said ?? '', /Successfully wrote/);
  writeFileSync(deed, JSON.stringify({ path, text: 'by another process' }));
  const drifted = await write('three');
  assert.equal(reason(drifted), 'state_drift', drifted.text);
  assert.equal(readFileSync(path, 'utf8'), 'by another process');
  writeFileSync(deed, JSON.stringify({ path }));
  assert.equal(reason(await write('four')), 'state_drift');
  assert.equal(existsSync(path), false);
  rmSync(deed);
  assert.match((await write('five')).said ?? '', /Successfully wrote/);
  assert.equal(readFileSync(path, 'utf8'), 'five');
});

/** A guard over stdio in front of `source`, a scripted server. */
async function stdio(t, source, rules = { 'bank/pay': { state: { ...PROBE, timeout: '3s' } } }) {
  const signer = await issuer();
  const dir = await guardFolder(t, signer.jwks);
  writeFileSync(join(dir, 'server.mjs'), `import { createInterface } from 'node:readline';
const say = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
createInterface({ input: process.stdin }).on('line', (line) => { const m = JSON.parse(line); (${source})(m, say); });`);
  const child = spawn(BIN, ['guard', 'stdio', '--keys', 'jwks.json', '--aud', AUD, '--iss', ISS, '--used', 'used',
    ...policy(dir, rules), '--', NODE, 'server.mjs'],
    { cwd: dir, stdio: ['pipe', 'pipe', 'ignore'] });
  t.after(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  const heard = [];
  createInterface({ input: child.stdout }).on('line', (line) => heard.push(JSON.parse(line)));
  const say = (m) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...m })}\n`);
  const pay = async (id, state = 7, args = ARGS) =>
    say({ id, method: 'tools/call', params: { name: 'pay', arguments: args,
    _meta: { 'io.writ/credential': await signer.mint('pay', args,
      { target_state_digest: digest({ '/balance': state }) }) } } });
  const answer = (id) => until(() => heard.find((m) => m.id === id), `the answer ${id}`);
  return { child, exited, heard, say, pay, answer };
}

test('over stdio the client sees no probe and no answer to one, and can forge neither', async (t) => {
  const { heard, say, pay, answer, child, exited } = await stdio(t, `(m, say) => {
    const p = m.params ?? {};
    const balance = { id: m.id, result: { structuredContent: { balance: 7 } } };
    if (p.name === 'stat' && p.arguments.account === 'slow') return setTimeout(() => say(balance), 4000);
    if (p.name === 'stat') {
      say({ method: 'notifications/message', params: { level: 'info', data: m.id } });
      return say(balance);
    }
    if (p.name === 'pay') return say({ id: m.id, result: { content: [{ type: 'text', text: 'ran' }] } });
    if (m.id !== undefined) say({ id: m.id, result: { structuredContent: { balance: 9 }, echo: 'writ-guard-' } });
  }`);
  await pay(1);
  assert.equal((await answer(1)).result.content[0].text, 'ran');
  await pay(2, 8);
  assert.equal(reason(await answer(2)), 'state_drift');
  await pay('slow', 9, { ...ARGS, to: 'slow' });
  say({ id: 'writ-guard-x', method: 'resources/read', params: { uri: 'x' } });
  say({ id: 3, method: 'resources/read', params: { uri: 'x' } });
  assert.equal((await answer(3)).result.echo, 'writ-guard-');
  assert.equal((await answer('writ-guard-x')).error.code, -32600);
  assert.equal(reason(await answer('slow')), 'target_state_unavailable');
  await new Promise((r) => setTimeout(r, 1500)); // the answer that comes too late
  assert.deepEqual(heard.filter((m) => m.method === undefined).map((m) => m.id).sort(),
    [1, 2, 3, 'slow', 'writ-guard-x'].sort());
  child.stdin.end();
  assert.deepEqual(await exited, [0, null]);
});

test('over stdio a client that closed its output still gets its answers', async (t) => {
  const { pay, answer, child, exited } = await stdio(t,
    `(m, say) => setTimeout(() => say({ id: m.id, result: m.params.name === 'stat'
    ? { structuredContent: { balance: 7 } } : { content: [{ type: 'text', text: 'ran' }] } }), 200)`);
  await pay(1);
  await pay(2);
  child.stdin.end();
  assert.equal((await answer(1)).result.content[0].text, 'ran');
  assert.equal((await answer(2)).result.content[0].text, 'ran');
  assert.deepEqual(await exited, [0, null]);
});

test('over stdio waiting calls are limited in bytes, and answered ones free their room', async (t) => {
  const { heard, say, pay, answer, child, exited } = await stdio(t, `(m, say) => {
    globalThis.held ??= [];
    if (m.params?.name === 'stat') return held.push(m.id);
    if (m.method === 'resources/read') {
      for (const id of held.splice(0)) say({ id, result: { structuredContent: { balance: 9 } } });
      say({ id: m.id, result: {} });
    }
  }`, { 'bank/pay': { state: { ...PROBE, timeout: '1m' } } });
  const large = { ...ARGS, more: 'x'.repeat((16 << 20) - 32768) };
  for (let id = 1; id <= 17; id++) await pay(id, 7, large);
  assert.equal(reason(await answer(17)), 'overloaded');
  assert.equal(heard.length, 1); // the others wait
  say({ id: 'go', method: 'resources/read', params: { uri: 'x' } });
  for (let id = 1; id <= 16; id++) assert.equal(reason(await answer(id)), 'state_drift');
  await pay(18, 7, large);
  say({ id: 'again', method: 'resources/read', params: { uri: 'x' } });
  assert.equal(reason(await answer(18)), 'state_drift');
  child.stdin.end();
  assert.deepEqual(await exited, [0, null]);
});

test('over stdio a server that ends during a probe ends the guard, and no call runs', async (t) => {
  const { pay, answer, exited } = await stdio(t, '(m) => (m.params.name === "stat" ? process.exit(3) : 0)');
  await pay(1);
  assert.equal(reason(await answer(1)), 'target_state_unavailable');
  assert.deepEqual(await exited, [0, null]);
});
