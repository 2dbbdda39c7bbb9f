// A gateway that listens on a Unix socket: which clients reach it, under which Host, as which agent, and that the
// socket is removed when the gateway ends or after a kill.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { fileURLToPath } from 'node:url';
import { bearer, linesOf, prepare, until, writ } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const SERVER = fileURLToPath(new URL('../support/servers/stdio-server.mjs', import.meta.url));
const RULE = { scope: 's', arguments: [{ arg: 'n', op: 'ge', value: 0 }] };

/** One request over a Unix socket: { status, headers, body }, or { code } of the failure to connect. */
function ask(socketPath, { method = 'POST', path = '/mcp', headers = {}, body } = {}) {
  return new Promise((resolve) => {
    const req = http.request({ socketPath, method, path, agent: false, headers: { host: 'localhost',
      'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers } }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (d) => { text += d; }).on('end', () => resolve(
        { status: res.statusCode, headers: res.headers, body: text === '' ? undefined : JSON.parse(text) }));
    });
    req.on('error', (error) => resolve({ code: error.code }));
    req.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const INITIALIZE = { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25',
  capabilities: {}, clientInfo: { name: 'test', version: '1' } } };
const call = (n, id = 1) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'run', arguments: { n } } });

async function start(t, config = {}, options = {}) {
  const up = await startUpstream(t, { tools: ['run'] });
  const gw = prepare(t, { listen: 'unix:writ.sock', upstreams: { up: { http: up.url } }, tools: { 'up/run': RULE },
    ...config }, options);
  await gw.start();
  return { up, gw, socket: gw.path('writ.sock') };
}

async function session(socket, headers = {}) {
  const opened = await ask(socket, { path: '/mcp/up', headers, body: INITIALIZE });
  assert.equal(opened.status, 200, JSON.stringify(opened));
  const own = { 'mcp-session-id': opened.headers['mcp-session-id'], 'mcp-protocol-version': '2025-11-25', ...headers };
  assert.equal((await ask(socket, { path: '/mcp/up', headers: own,
    body: { jsonrpc: '2.0', method: 'notifications/initialized' } })).status, 202);
  return (body) => ask(socket, { path: '/mcp/up', headers: own, body });
}

for (const loops of [1, 3]) {
  test(`a call over the socket is governed as one over TCP, with ${loops} loops`, async (t) => {
    const { up, gw, socket } = await start(t, { loops });
    assert.equal(statSync(socket).mode & 0o777, 0o600);
    const say = await session(socket);
    const many = await Promise.all([...Array(20).keys()].map((n) => say(call(n, n + 1))));
    assert.ok(many.every((a) => a.body.result?.isError !== true), JSON.stringify(many[0]));
    assert.equal((await say(call(-1, 30))).body.error.data.reason, 'constraint_failed');
    assert.equal((await say(call(3, 31))).body.error.data.reason, 'duplicate_outcome');
    assert.equal(up.calls.length, 20);
    assert.equal(gw.decisions().length, 22);
    assert.equal((await gw.stop()).code, 0);
    assert.equal(existsSync(socket), false);
    gw.verify();
  });
}

test('Host is localhost, and no page of the web is served', async (t) => {
  const { gw, socket } = await start(t);
  for (const [headers, status] of [[{}, 200], [{ host: 'localhost:1' }, 200], [{ host: 'evil.example' }, 403],
    [{ host: 'writ.sock' }, 403], [{ origin: 'http://evil.example' }, 403], [{ origin: 'null' }, 403]]) {
    assert.equal((await ask(socket, { path: '/mcp/up', headers, body: INITIALIZE })).status, status,
      JSON.stringify(headers));
  }
  await gw.stop();
});

test('an agent is known by its token here too, and the credential names the socket as its issuer', async (t) => {
  const alice = bearer('alice');
  const { up, gw, socket } = await start(t, { agents: [alice.entry] });
  assert.equal((await ask(socket, { path: '/mcp/up', body: INITIALIZE })).status, 401);
  const say = await session(socket, { authorization: `Bearer ${alice.token}` });
  assert.notEqual((await say(call(1))).body.result.isError, true);
  const credential = up.calls[0].message.params._meta['io.writ/credential'];
  const claims = JSON.parse(Buffer.from(credential.split('.')[1], 'base64url'));
  assert.equal(claims.iss, `unix:${socket}`);
  assert.equal(gw.decisions()[0].agent_id, 'alice');
  await gw.stop();
});

/** The head in which a wrap gives an environment. */
const given = (value) => ({ 'writ-environment':
  typeof value === 'string' ? value : Buffer.from(JSON.stringify(value)).toString('base64url') });

test('a client gives the environment of a server where the configuration says so, and nowhere else', async (t) => {
  const server = (record) => ({ stdio: [process.execPath, SERVER, record], inherit: ['KEY'] });
  const gw = prepare(t, { listen: 'unix:writ.sock', upstreams: { own: server('own'),
    up: { ...server('up'), client_environment: true } }, tools: { 'own/act': RULE, 'up/act': RULE } });
  await gw.start();
  const good = { directory: gw.dir, variables: { KEY: 'x', PATH: '/evil' } };
  const say = (path, value) => ask(gw.path('writ.sock'), { path, headers: given(value), body: INITIALIZE });
  for (const [path, value, why] of [
    ['/mcp/own', good, /for a server with client_environment: true alone/],
    ['/mcp', good, /on the endpoint of one server alone/],
    ['/mcp/up', '*', /is not base64url/],
    ['/mcp/up', 'e30', /directory, a whole path, and variables/],
    ['/mcp/up', { ...good, directory: 'x' }, /directory, a whole path, and variables/],
    ['/mcp/up', { ...good, variables: { LD_PRELOAD: 'x' } }, /does not inherit the variable LD_PRELOAD/]]) {
    const { status, body } = await say(path, value);
    assert.deepEqual([status, body.error.data.reason], [400, 'environment_refused'], `${why}`);
    assert.match(body.error.message, why);
  }
  assert.equal((await say('/mcp/up', good)).status, 200);
  const environments = (record) => linesOf(gw.path(record)).map((l) => JSON.parse(l).env).filter(Boolean);
  assert.equal(environments('up').find((env) => env.KEY === 'x').PATH, '/evil');
  assert.ok(environments('own').every((env) => env.PATH === process.env.PATH));
});

test('a killed gateway leaves a socket that the next one replaces; a live one keeps it', async (t) => {
  const { gw, socket } = await start(t);
  const second = writ(['serve', gw.configFile], { cwd: gw.dir });
  assert.equal(second.code, 4, second.err);
  await session(socket);
  await gw.stop('SIGKILL');
  assert.equal(existsSync(socket), true);
  assert.equal((await ask(socket, { body: INITIALIZE })).code, 'ECONNREFUSED');
  await gw.start();
  await session(socket);
  await gw.stop();
});

test('a folder that others can enter, a file in the way and TLS are refused', async (t) => {
  const gw = prepare(t, { listen: 'unix:writ.sock', upstreams: {}, tools: {} });
  writeFileSync(gw.path('writ.sock'), 'precious');
  let run = writ(['serve', gw.configFile], { cwd: gw.dir });
  assert.equal(run.code, 3);
  assert.match(run.err, /writ\.sock exists and is not a socket/);
  assert.equal(readFileSync(gw.path('writ.sock'), 'utf8'), 'precious');
  chmodSync(gw.dir, 0o750);
  run = writ(['serve', gw.configFile], { cwd: gw.dir });
  assert.match(run.err, /mode 0700/);
  gw.configure({ ...gw.config, tls: { cert: 'a', key: 'b' } });
  run = writ(['check', gw.configFile], { cwd: gw.dir });
  assert.equal(run.code, 1);
  assert.match(run.out + run.err, /a Unix socket has no TLS/);
});

test('another user is turned away by the kernel, and by the gateway when the folder is opened', {
  skip: process.getuid() !== 0 && 'only root can become another user',
}, async (t) => {
  const { gw, socket } = await start(t);
  const as = (uid) => spawnSync('python3', ['-c', `
import os, socket, sys
os.setuid(${uid})
s = socket.socket(socket.AF_UNIX)
try:
    s.connect(sys.argv[1])
    s.sendall(b'GET /.well-known/jwks.json HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n')
    print(len(s.recv(100)))
except OSError as e:
    print(type(e).__name__)`, socket], { encoding: 'utf8' }).stdout.trim();
  assert.equal(as(0), '100');
  assert.equal(as(65534), 'PermissionError');
  chmodSync(gw.dir, 0o755);
  chmodSync(socket, 0o666);
  assert.ok(['0', 'ConnectionResetError', 'BrokenPipeError'].includes(as(65534)));
  await until(async () => (await gw.metric('writ_connections_refused_total')) === 1, 'the refusal to be counted');
  chmodSync(gw.dir, 0o700);
  await gw.stop();
});

test('the admin listener can be a socket too', async (t) => {
  const { gw } = await start(t, { admin_listen: 'unix:admin.sock' });
  await until(async () => (await new Promise((resolve) => http.get({ socketPath: gw.path('admin.sock'),
    path: '/readyz', headers: { host: 'localhost' }, agent: false }, (res) => {
    res.resume().on('end', () => resolve(res.statusCode));
  }))) === 200, 'the gateway to be ready');
  await gw.stop();
});
