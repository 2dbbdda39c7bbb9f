// examples/tool-server, a tool server in C that runs a call only with its credential: behind a gateway,
// and alone with everything that must be refused.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { createHmac, createPublicKey } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ANYBODY, startGateway, until } from '../support/js/gateway.mjs';
import { AUD, digest, ISS, issuer } from '../support/js/guard.mjs';
import { buildExample } from '../support/js/examples.mjs';
import { install, installed } from '../support/js/installation.mjs';
import { sdk1, sdk2 } from '../support/npm/peers.mjs';
import { send } from '../support/js/rpc.mjs';
import { startToolServer } from '../support/servers/tool-server.mjs';

const SANITIZED = /asan|tsan/.test(process.env.WRIT_BUILD_DIR ?? '') &&
  'a plain program cannot load sanitized libraries';
const ORDER = { from: 'alice', to: 'bob', cents: 100 };
const state = (version) => digest({ '/version': version });

let folder;
before(() => { folder = mkdtempSync(join(tmpdir(), 'writ-toolserver-')); });
after(() => rmSync(folder, { recursive: true }));

let files = 0;
/** The set as a file; gives its URL. */
function published(jwks) {
  const file = join(folder, `jwks-${++files}.json`);
  writeFileSync(file, JSON.stringify(jwks));
  return pathToFileURL(file).href;
}

const balance = async (server, account) => (await server.call('balance', { account })).result.structuredContent;
const reason = (answer) => answer.error?.data?.reason ?? answer.text;

// ---- behind a gateway

/** A gateway with a server behind it, and in `seen` the calls that reached the server. */
async function behindGateway(t) {
  const seen = [];
  let server;
  const tap = http.createServer((req, res) => {
    const chunks = [];
    req.on('data', (d) => chunks.push(d)).on('end', async () => {
      const body = Buffer.concat(chunks).toString();
      const { 'content-length': _, 'transfer-encoding': __, ...headers } = req.headers;
      if (body.includes('"transfer"')) seen.push({ body, headers });
      const answer = await send(server.origin,
        { method: req.method, path: req.url, headers, body: req.method === 'POST' ? body : undefined });
      res.writeHead(answer.status, answer.headers).end(answer.text);
    });
  });
  await new Promise((resolve) => tap.listen(0, '127.0.0.1', resolve));
  t.after(() => new Promise((resolve) => { tap.closeAllConnections(); tap.close(resolve); }));
  const name = (arg) => ({ arg, op: 'max_length', value: 20 });
  const gw = await startGateway(t, {
    issuer: ISS, credential: { typ: 'JWT' }, agents: [ANYBODY],
    upstreams: { bank: { http: `http://127.0.0.1:${tap.address().port}/mcp`, resource: AUD } },
    tools: {
      'bank/balance': { scope: 'read', arguments: [name('account')], duplicates: 'allow' },
      'bank/transfer': {
        scope: 'payments', arguments: [name('from'), name('to'), { arg: 'cents', op: 'le', value: 100000 }],
        state: { tool: 'bank/balance', arguments: { account: '{from}' }, select: ['/version'] },
      },
    },
  });
  server = await startToolServer(t, `${gw.origin}/.well-known/jwks.json`);
  return { gw, server, seen };
}

const CLIENTS = {
  'SDK v1': async (url) => {
    const { Client, StreamableHTTPClientTransport } = await sdk1();
    const client = new Client({ name: 'v1', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    return client;
  },
  'SDK v2, modern': async (url) => {
    const { Client, StreamableHTTPClientTransport } = await sdk2();
    const client = new Client({ name: 'v2', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    return client;
  },
};

for (const [name, connect] of Object.entries(CLIENTS)) {
  for (const path of ['/mcp', '/mcp/bank']) {
    test(`${name} on ${path}: a transfer runs once, and its credential is refused for any other call`, async (t) => {
      const { gw, server, seen } = await behindGateway(t);
      const client = await connect(gw.origin + path);
      const prefix = path === '/mcp' ? 'bank__' : '';
      assert.deepEqual((await client.listTools()).tools.map((tool) => tool.name).sort(),
        [`${prefix}balance`, `${prefix}transfer`]);
      const read = await client.callTool({ name: `${prefix}balance`, arguments: { account: 'alice' } });
      assert.deepEqual(read.structuredContent, { cents: 10000, version: 0 });
      const moved = await client.callTool({ name: `${prefix}transfer`, arguments: ORDER });
      assert.deepEqual(moved.structuredContent, { cents: 100 });
      assert.deepEqual([await balance(server, 'alice'), await balance(server, 'bob')],
        [{ cents: 9900, version: 1 }, { cents: 5100, version: 1 }]);
      assert.equal(gw.decisions().find((d) => d.tool === 'transfer').outcome, 'executed');

      const [{ headers, body }] = seen;
      const changed = body.replace('"cents":100', '"cents":1000');
      assert.notEqual(changed, body);
      assert.equal(reason(await send(server.origin, { headers, body: changed })), 'args_mismatch');
      assert.equal(reason(await send(server.origin, { headers, body: body.replace('"bob"', '"bob\\u0000x"') })),
        'args_mismatch');
      assert.equal(reason(await send(server.origin, { headers, body })), 'state_drift',
        'the state is another one after it ran');
      assert.equal((await balance(server, 'alice')).cents, 9900);
      await client.close();
    });
  }
}

test('a refusal of the server reaches the client with its reason, and is recorded', async (t) => {
  const { gw, server } = await behindGateway(t);
  const other = await startToolServer(t, published((await issuer()).jwks), { dir: server.dir });
  await server.stop();
  Object.assign(server, other); // a server that has other keys than those of this gateway
  const client = await CLIENTS['SDK v1'](gw.url);
  await assert.rejects(client.callTool({ name: 'bank__transfer', arguments: ORDER }), (e) => e.code === -31001 &&
    e.data.reason === 'unknown_key');
  assert.equal(gw.decisions().find((d) => d.tool === 'transfer').outcome, 'error');
  await client.close();
});

// ---- alone

test('only the credential of this call is accepted, and a refused one is not used up', async (t) => {
  const signer = await issuer();
  const server = await startToolServer(t, published(signer.jwks));
  const now = Math.floor(Date.now() / 1000);
  const mint = (change = {}, args = ORDER, tool = 'transfer', typ = 'JWT') =>
    signer.mint(tool, args, { target_state_digest: state(0), ...change }, typ);
  const good = await mint();
  const [head, body, signature] = good.split('.');
  const of = (header) =>
    `${Buffer.from(JSON.stringify({ kid: 'k1', typ: 'JWT', ...header })).toString('base64url')}.${body}`;
  const pem = createPublicKey({ key: signer.jwks.keys[0], format: 'jwk' }).export({ type: 'spki', format: 'pem' });
  const hmac = (text) => `${text}.${createHmac('sha256', pem).update(text).digest('base64url')}`;
  const cases = [
    [undefined, 'missing_credential'], ['', 'malformed'], ['x', 'malformed'], [`${good}.x`, 'bad_signature'],
    [`${of({ alg: 'none' })}.`, 'bad_signature'], [hmac(of({ alg: 'HS256' })), 'bad_signature'],
    [`${head}.${body}.${signature.slice(0, -4)}AAAA`, 'bad_signature'],
    [await (await issuer()).mint('transfer', ORDER, {}, 'JWT'), 'bad_signature'],
    [await (await issuer('k2')).mint('transfer', ORDER, {}, 'JWT'), 'unknown_key'],
    [await mint({ iss: `${ISS}/` }), 'wrong_issuer'], [await mint({ aud: `${AUD}/` }), 'wrong_audience'],
    [await mint({ exp: now - 10, iat: now - 70, nbf: now - 70 }), 'expired'],
    [await mint({ nbf: now + 100 }), 'not_yet_valid'],
    [await mint({ exp: now + 10000 }), 'malformed'], [await mint({}, ORDER, 'transfer', 'at+jwt'), 'malformed'],
    [await mint({}, ORDER, 'balance'), 'scope_mismatch'], [await mint({}, { ...ORDER, cents: 1000 }), 'args_mismatch'],
    [await mint({ target_state_digest: null }), 'state_drift'],
    [await mint({ target_state_digest: state(1) }), 'state_drift'],
  ];
  for (const [i, [token, want]] of cases.entries())
    assert.equal(reason(await server.call('transfer', ORDER, token)), want, `case ${i}`);
  assert.equal(reason(await server.call('transfer', { ...ORDER, from: 'nobody' }, good)), 'args_mismatch');
  assert.deepEqual(await balance(server, 'alice'), { cents: 10000, version: 0 });
  assert.deepEqual((await server.call('transfer', ORDER, good)).result.structuredContent, { cents: 100 });
  assert.deepEqual(await balance(server, 'alice'), { cents: 9900, version: 1 });
  assert.equal((await server.stop()).code, 0);
});

test('a credential is used once, for every outcome, across processes and after a kill', async (t) => {
  const signer = await issuer();
  const keys = published(signer.jwks);
  const server = await startToolServer(t, keys);
  const mint = (args, version) => signer.mint('transfer', args, { target_state_digest: state(version) }, 'JWT');
  // each fails without an effect, so that the state stays as it was
  const failing = [[{ ...ORDER, cents: 10001 }, 'not enough money'], [{ ...ORDER, to: 'nobody' }, 'no such account'],
    [{ ...ORDER, cents: -1 }, 'needs from'], [{ ...ORDER, cents: 1.5 }, 'needs from'],
    [{ ...ORDER, more: 1 }, 'needs from']];
  for (const [args, text] of failing) {
    const token = await mint(args, 0);
    const { result } = await server.call('transfer', args, token);
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, new RegExp(text));
    assert.equal(reason(await server.call('transfer', args, token)), 'replayed', text);
  }
  const spent = await mint({ ...ORDER, cents: 10001 }, 0);
  assert.equal((await server.call('transfer', { ...ORDER, cents: 10001 }, spent)).result.isError, true);
  const second = await startToolServer(t, keys, { dir: server.dir });
  assert.equal(reason(await second.call('transfer', { ...ORDER, cents: 10001 }, spent)), 'replayed');
  await server.stop('SIGKILL');
  await server.start();
  assert.equal(reason(await server.call('transfer', { ...ORDER, cents: 10001 }, spent)), 'replayed');
  // of many at once for one state, on two processes, one runs
  const tokens = await Promise.all(Array.from({ length: 20 }, () => mint(ORDER, 0)));
  const answers = await Promise.all(tokens.map((token, i) => (i % 2 ? server : second).call('transfer', ORDER, token)));
  assert.deepEqual(answers.map((a) => a.error?.data.reason ?? 'ran').sort(),
    [...Array(19).fill('state_drift'), 'ran'].sort());
  assert.deepEqual(await balance(server, 'alice'), { cents: 9900, version: 1 });
});

test('the tool server fetches keys when needed, and a new key is accepted at once', async (t) => {
  const [first, second] = [await issuer('k1'), await issuer('k2')];
  let set = first.jwks, up = false;
  const source = http.createServer((req, res) =>
    (up ? res.writeHead(200).end(JSON.stringify(set)) : res.writeHead(503).end()));
  await new Promise((resolve) => source.listen(0, '127.0.0.1', resolve));
  t.after(() => new Promise((resolve) => { source.closeAllConnections(); source.close(resolve); }));
  const server = await startToolServer(t, `http://127.0.0.1:${source.address().port}/`);
  const pay = async (signer, version) =>
    server.call('transfer', ORDER,
      await signer.mint('transfer', ORDER, { target_state_digest: state(version) }, 'JWT'));
  assert.equal(reason(await pay(first, 0)), 'unknown_key');
  up = true;
  await until(async () => (await pay(first, 0)).result !== undefined, 'the first key');
  set = { keys: [...first.jwks.keys, ...second.jwks.keys] };
  await until(async () => (await pay(second, 1)).result !== undefined, 'the second key');
  up = false;
  assert.deepEqual((await pay(first, 2)).result.structuredContent, { cents: 100 }, 'the set counts for a minute');
});

test('the tool server accepts strict HTTP and JSON-RPC only', async (t) => {
  const server = await startToolServer(t, published((await issuer()).jwks));
  const post = (body, headers = {}, more = {}) =>
    send(server.origin, { headers: { 'content-type': 'application/json', ...headers }, body, ...more });
  const ping = { jsonrpc: '2.0', id: 'é', method: 'ping' };
  assert.deepEqual((await post(ping)).message, { jsonrpc: '2.0', id: 'é', result: {} });
  assert.equal((await post({ jsonrpc: '2.0', method: 'notifications/initialized' })).status, 202);
  assert.equal((await post({ jsonrpc: '2.0', id: 1, result: {} })).status, 202);
  assert.equal((await post(ping, { origin: 'https://evil.example' })).status, 403);
  assert.equal((await post(ping, { 'content-type': 'text/plain' })).status, 415);
  assert.equal((await post(ping, { 'mcp-protocol-version': '1999-01-01' })).status, 400);
  assert.equal((await post(ping, {}, { path: '/other' })).status, 404);
  const got = await send(server.origin, { method: 'GET', headers: {} });
  assert.deepEqual([got.status, got.headers.allow], [405, 'POST']);
  assert.equal((await post(`"${'x'.repeat(1 << 20)}"`)).status, 413);
  for (const [body, code] of [['', -32700], ['{"a":1,"a":2}', -32700], ['{"id":9007199254740993}', -32700],
      ['[]', -32600], ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
      ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600]]) {
    const answer = await post(body);
    assert.deepEqual([answer.status, answer.error.code], [400, code], body);
  }
  assert.equal((await server.post('tools/invent')).error.code, -32601);
  assert.equal((await server.call('refund', {})).error.code, -32602);
  assert.equal((await server.call('balance', [])).error.code, -32602);
  assert.equal((await server.call('balance', { account: 'alice\0' })).result.content[0].text, 'no such account');
  for (const [asked, given] of [['2025-11-25', '2025-11-25'], ['2025-06-18', '2025-06-18'],
      ['2026-07-28', '2025-11-25'], [undefined, '2025-11-25']]) {
    assert.equal((await server.post('initialize', { protocolVersion: asked })).result.protocolVersion, given);
  }
});

test('the tool server\'s Makefile builds it with pkg-config and an installation', { skip: SANITIZED }, async (t) => {
  const prefix = join(folder, 'prefix'), source = join(folder, 'source');
  install(process.env.WRIT_BUILD_DIR, prefix);
  buildExample('tool-server', prefix, source);
  const signer = await issuer();
  const env = { LD_LIBRARY_PATH: dirname(installed(prefix, /libwrit-verify\.so$/)) };
  const server = await startToolServer(t, published(signer.jwks), { program: join(source, 'tool-server'), env });
  assert.deepEqual(
    (await server.call('transfer', ORDER, await signer.mint('transfer', ORDER, { target_state_digest: state(0) },
      'JWT'))).result.structuredContent, { cents: 100 });
});
