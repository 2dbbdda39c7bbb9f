// The HTTP side of the real program: TLS from certs/make-dev-certs, refusals on both listeners, clients that are slow,
// many or gone. tests/unit/gateway/listener/test_listener.c shows how a listener handles bytes; this file shows that
// the program has the listener, and that no refused request reached the upstream.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { SOURCE, startGateway, until } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { openSession, sendRaw } from '../support/js/rpc.mjs';

const RULE = { scope: 's', arguments: [{ arg: 'n', op: 'ge', value: 0 }], duplicates: 'allow' };

async function start(t, config = {}) {
  const up = await startUpstream(t, { tools: ['run'] });
  const gw = await startGateway(t, { upstreams: { up: { http: up.url } }, tools: { 'up/run': RULE }, ...config });
  return { up, gw };
}

/** The head of a tools/call without its framing, and its body. */
function call(gw) {
  const body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"up__run","arguments":{"n":1}}}';
  const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${gw.port}\r\nContent-Type: application/json\r\nAccept: ` +
    `application/json, text/event-stream\r\n`;
  return { head, body, whole: `${head}Content-Length: ${body.length}\r\n\r\n${body}` };
}

const answers = (text) => text.split(/^HTTP\/1\.1 /m).length - 1;

test('bad framing gets one answer on either listener, and later requests are not served', async (t) => {
  const { up, gw } = await start(t);
  const { head, body, whole } = call(gw);
  const get = (target, fields = '') => `GET ${target} HTTP/1.1\r\nHost: localhost\r\n${fields}\r\n`;
  const cases = [
    [`${head}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`, 400],
    [`${head}Content-Length: 0\r\nContent-Length: ${body.length}\r\n\r\n${body}`, 400],
    [`${head}Content-Length : ${body.length}\r\n\r\n${body}`, 400],
    [`${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`, 400],
    [`${head}Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n`, 400],
    [`${head}Content-Length: 99999999999\r\n\r\n`, 413],
    [`${head}Content-Length: ${body.length}\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n${body}`, 400],
    [`${head}Content-Length: ${body.length}\r\nContent-Encoding: gzip\r\n\r\n${body}`, 415],
    [whole.replace('application/json\r\n', 'text/plain\r\n'), 415],
    [whole.replace('Host: 127.0.0.1', 'Host: evil.example'), 403],
    [whole.replace('Host:', 'Origin: http://evil.example\r\nHost:'), 403],
    [whole.replace(/Host: [^\r]*\r\n/, ''), 400],
    [whole.replace('/mcp', `http://127.0.0.1:${gw.port}/mcp`), 400],
    [whole.replace('/mcp', '/x/../mcp'), 400],
    [whole.replace('/mcp', '/%6dcp'), 400],
    [whole.replace('\r\n', '\n'), 400],
    [whole.replace('Accept: ', 'Accept: a\r\n '), 400],
    [whole.replace('Accept: ', 'Accept: a\0'), 400],
    [whole.replace('HTTP/1.1', 'HTTP/2.0'), 505],
    [`GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n`, 404],
    [`${head}X: ${'x'.repeat(100_000)}\r\n\r\n`, 431],
  ];
  for (const [bytes, status] of cases) {
    const text = await sendRaw(gw.port, Buffer.from(bytes + whole, 'latin1'));
    assert.ok(text.startsWith(`HTTP/1.1 ${status} `), `${status}: ${bytes.slice(0, 200)} -> ${text}`);
    assert.equal(answers(text), 1, bytes.slice(0, 200));
  }
  for (const [bytes, status] of [
    [get('/metrics', 'Content-Length: 3\r\n') + 'abc', 400], [get('/metrics', 'X : y\r\n'), 400],
    [get('/metrics').replace('localhost', 'evil.example'), 403], [get('/nothing'), 404],
    [get('/healthz').replace('localhost', 'evil.example'), 403],
    [get('/readyz', 'Origin: http://evil.example\r\n'), 403],
    [get('/healthz').replace('GET', 'POST'), 405], [get('/%68ealthz'), 400],
  ]) {
    const text = await sendRaw(gw.adminPort, bytes + get('/healthz'));
    assert.ok(text.startsWith(`HTTP/1.1 ${status} `), `${status}: ${bytes} -> ${text}`);
    assert.equal(answers(text), 1, bytes);
  }
  assert.equal(up.calls.length, 0);
  assert.ok(await gw.metric('writ_refusals_total{reason="malformed_head"}') > 5);
  assert.equal((await gw.admin('/healthz')).status, 200);
});

test('a slash at the end of an endpoint changes nothing, and a 403 names the option', async (t) => {
  const { up, gw } = await start(t);
  for (const path of ['/mcp/', '/mcp/up/']) {
    const caller = await openSession(gw, { path });
    assert.match((await caller.call(path === '/mcp/' ? 'up__run' : 'run', { n: 1 })).said, /^ran/);
  }
  assert.equal(up.calls.length, 2);
  const { whole } = call(gw);
  assert.match(await sendRaw(gw.port, whole.replace('Host: 127.0.0.1', 'Host: evil.example')),
    /"detail":"Host: [^"]*\bhosts\b/);
  assert.match(await sendRaw(gw.port, whole.replace('Host:', 'Origin: http://evil.example\r\nHost:')),
    /"detail":"Origin: [^"]*\borigins\b/);
});

test('slow, idle and silent clients are cut while others are served', async (t) => {
  const { up, gw } = await start(t, { limits: { head_timeout: '2s', body_timeout: '2s', idle_timeout: '3s' } });
  const { whole } = call(gw);
  const closed = [];
  const sockets = [];
  for (let i = 0; i < 200; i++) {
    const socket = net.connect(gw.port, '127.0.0.1');
    sockets.push(socket);
    socket.write(whole.slice(0, (i * 7) % (whole.length - 1)));
    socket.on('error', () => {}).on('data', () => {});
    closed.push(new Promise((resolve) => socket.on('close', resolve)));
  }
  const honest = await openSession(gw);
  assert.match((await honest.call('up__run', { n: 1 })).said, /^ran/);
  await Promise.all(closed);
  assert.equal(up.calls.length, 1);
  await until(async () => (await gw.metric('writ_connections_open')) <= 2, 'the connections to be closed');
});

test('head_timeout cuts a slow head only, body_timeout a slow body only', async (t) => {
  for (const short of ['head', 'body']) {
    const { gw } = await start(t,
      { limits: { head_timeout: '10m', body_timeout: '10m', [`${short}_timeout`]: '500ms' } });
    const { head, whole } = call(gw);
    const begin = (bytes) => {
      const socket = net.connect(gw.port, '127.0.0.1');
      const all = [];
      socket.on('error', () => {}).on('data', (bytes) => all.push(bytes));
      socket.write(bytes);
      return { socket, text: () => Buffer.concat(all).toString('latin1'),
        closed: new Promise((resolve) => socket.on('close', resolve)) };
    };
    const cut = { head: head.length, body: whole.length - 1 };
    const both = { head: begin(whole.slice(0, cut.head)), body: begin(whole.slice(0, cut.body)) };
    const other = short === 'head' ? 'body' : 'head';
    await both[short].closed;
    assert.match(both[short].text(), /^HTTP\/1\.1 408 /, short);
    both[other].socket.write(whole.slice(cut[other]));
    await until(() => both[other].text() !== '', 'the answer');
    assert.match(both[other].text(), /^HTTP\/1\.1 200 /, other);
    both[other].socket.destroy();
  }
});

test('the program raises its descriptor limit to the system\'s maximum', async (t) => {
  const { gw } = await start(t);
  const [, soft, hard] = readFileSync(`/proc/${gw.child.pid}/limits`, 'utf8').match(/^Max open files +(\d+) +(\d+)/m);
  assert.equal(soft, hard);
});

test('beyond limits.in_flight a client gets a retry answer', async (t) => {
  const held = [];
  const { up, gw } = await start(t, { limits: { in_flight: 2, agent_share: 100, tenant_share: 100 }, loops: 1 });
  up.onCall = (c) => { held.push(c); };
  const first = await openSession(gw);
  const running = [first.call('up__run', { n: 1 }), first.call('up__run', { n: 2 })];
  await until(() => held.length === 2);
  const refused = await sendRaw(gw.port, call(gw).whole);
  assert.match(refused, /^HTTP\/1\.1 503 /);
  assert.match(refused, /Retry-After: 1\r\n/);
  assert.match(refused, /"reason":"overloaded"/);
  for (const c of held) c.text('ran');
  for (const answer of await Promise.all(running)) assert.match(answer.said, /^ran/);
  up.onCall = undefined;
  assert.match((await first.call('up__run', { n: 3 })).said, /^ran/);
});

function makeCerts(dir, more = []) {
  const run = spawnSync(join(SOURCE, 'certs/make-dev-certs'), ['-d', dir, ...more], { encoding: 'utf8' });
  assert.equal(run.status, 0, run.stderr);
  return run.stdout;
}

test('make-dev-certs makes private keys once, and a second run keeps them', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'writ-certs-'));
  t.after(() => rmSync(dir, { recursive: true }));
  assert.equal(makeCerts(dir).match(/^made /gm).length, 3);
  for (const name of ['ca.key', 'server.key', 'client.key'])
    assert.equal(statSync(join(dir, name)).mode & 0o777, 0o600);
  const before = readFileSync(join(dir, 'server.pem'), 'utf8');
  assert.equal(makeCerts(dir).match(/^kept /gm).length, 3);
  assert.equal(readFileSync(join(dir, 'server.pem'), 'utf8'), before);
  assert.match(makeCerts(dir, ['gateway.test', '10.0.0.9']),
    /made .*server\.pem for .*DNS:gateway\.test,IP:10\.0\.0\.9/);
  assert.equal(makeCerts(dir, ['-f']).match(/^made /gm).length, 3);
  assert.equal(spawnSync(join(SOURCE, 'certs/make-dev-certs'), ['-d', dir, 'a b']).status, 2);
  assert.deepEqual(readdirSync(dir).filter((name) => name.startsWith('.')), []);
});

/** One GET over TLS: { status, text, serial }, or { error }. */
function get(options) {
  return new Promise((resolve) => {
    const req = https.get({ host: '127.0.0.1', servername: 'localhost', agent: false, ...options }, (res) => {
      let text = '';
      const { serialNumber } = res.socket.getPeerCertificate();
      res.on('data', (d) => {
        text += d;
      }).on('end', () => resolve({ status: res.statusCode, text, serial: serialNumber }));
    });
    req.on('error', (error) => resolve({ error }));
  });
}

test('both listeners accept TLS 1.2 and later, verify clients and reload certificates', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'writ-certs-'));
  t.after(() => rmSync(dir, { recursive: true }));
  makeCerts(dir);
  const read = (name) => readFileSync(join(dir, name));
  const files = { cert: join(dir, 'server.pem'), key: join(dir, 'server.key') };
  const { gw } = await start(t, { tls: { ...files, client_ca: join(dir, 'ca.pem') }, admin_tls: files });
  const ca = read('ca.pem');
  const mine = { ca, cert: read('client.pem'), key: read('client.key') };
  const jwks = { port: gw.port, path: '/.well-known/jwks.json' };

  const known = await get({ ...jwks, ...mine });
  assert.equal(known.status, 200, String(known.error));
  const stranger = await get({ ...jwks, ca });
  assert.equal(stranger.status, 403, String(stranger.error));
  assert.match(stranger.text, /certificate_required/);
  assert.equal((await get({ port: gw.adminPort, path: '/healthz', ca })).status, 200);
  assert.equal((await get({ ...jwks, ...mine, minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' })).status, 200);
  const old = await get({ ...jwks, ...mine, minVersion: 'TLSv1', maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0' });
  assert.ok(old.error, 'TLS 1.1 was spoken');
  await new Promise((resolve) => {
    http.get({ host: '127.0.0.1', port: gw.port, path: '/', agent: false }).on('error', resolve)
      .on('response', () => assert.fail('plain HTTP was answered'));
  });

  const socket = tls.connect({ host: '127.0.0.1', port: gw.port, servername: 'localhost', ...mine });
  await new Promise((resolve, reject) => socket.on('secureConnect', resolve).on('error', reject));
  makeCerts(dir, ['gateway.test']);
  assert.equal((await gw.reload(gw.config)).event, 'reloaded');
  await until(async () => (await get({ ...jwks, ...mine })).serial !== known.serial, 'the new certificate');
  const onOld = new Promise((resolve) => socket.on('data', (d) => resolve(String(d))));
  socket.write('GET /.well-known/jwks.json HTTP/1.1\r\nHost: localhost\r\n\r\n');
  assert.match(await onOld, /^HTTP\/1\.1 200 /);
  socket.destroy();

  const broken = await gw.reload({ ...gw.config, tls: { ...gw.config.tls, key: join(dir, 'client.key') } });
  assert.equal(broken.event, 'reload_refused');
  assert.equal((await get({ ...jwks, ...mine })).status, 200);
});
