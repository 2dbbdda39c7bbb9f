// `writ guard`: only calls with a credential that is good for exactly them reach the tool server, each once.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { ANYBODY, BIN, startGateway, until, writ } from '../support/js/gateway.mjs';
import { AUD, ISS, digest, guardFolder, issuer, startGuard } from '../support/js/guard.mjs';
import { reservePort } from '../support/js/ports.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const npm = createRequire(new URL('../support/npm/package.json', import.meta.url));
const ANY = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }] };
const ARGS = { to: 'DE89', amount: 12.5 };

async function behind(t, options = {}) {
  const up = await startUpstream(t, options);
  const signer = await issuer();
  const dir = await guardFolder(t, signer.jwks);
  const guard = await startGuard(t, dir, ['http', up.url.replace('/mcp', '')]);
  return { up, guard, dir, ...signer, caller: new Caller(guard) };
}
const reason = (answer) => answer.error?.data?.reason;

test('a call with a credential runs once; without one it never reaches the server', async (t) => {
  const { up, mint, caller } = await behind(t);
  const bare = await caller.call('pay', ARGS);
  assert.deepEqual([bare.status, reason(bare)], [401, 'missing_credential']);
  const token = await mint('pay', ARGS);
  const good = await caller.call('pay', ARGS, { headers: { 'writ-credential': token } });
  assert.deepEqual([good.status, good.said], [200, 'ran 1']);
  const again = await caller.call('pay', ARGS, { headers: { 'writ-credential': token } });
  assert.deepEqual([again.status, reason(again)], [403, 'replayed']);
  assert.equal(up.calls.length, 1);
  assert.deepEqual(up.calls[0].arguments, ARGS);
  assert.equal(up.calls[0].headers['writ-credential'], token); // the server gets it, too
});

test('a credential in the body is accepted in both protocol families', async (t) => {
  const { up, guard, mint, caller } = await behind(t);
  for (const each of [caller, new Caller(guard, { modern: true })]) {
    const answer = await each.call('pay', ARGS, { meta: { 'io.writ/credential': await mint('pay', ARGS) } });
    assert.equal(answer.status, 200, answer.text);
  }
  assert.equal(up.calls.length, 2);
});

test('a field that any line of Connection names does not reach the server', async (t) => {
  const { up, caller } = await behind(t);
  const answer = await caller.request('tools/list', {},
    { headers: { connection: ['close, x-first', 'x-second'], 'x-first': '1', 'x-second': '1', 'x-third': '1' } });
  assert.equal(answer.status, 200, answer.text);
  const { headers } = up.requests.at(-1);
  assert.deepEqual([headers['x-first'], headers['x-second'], headers['x-third']], [undefined, undefined, '1']);
});

test('every fault of a credential keeps the call from the server', async (t) => {
  const { up, mint, caller } = await behind(t);
  const stranger = await issuer();
  const now = Math.floor(Date.now() / 1000);
  const rows = [
    ['malformed', 'x'], ['bad_signature', await stranger.mint('pay', ARGS)],
    ['wrong_issuer', await mint('pay', ARGS, { iss: `${ISS}/` })],
    ['wrong_audience', await mint('pay', ARGS, { aud: `${AUD}2` })],
    ['not_yet_valid', await mint('pay', ARGS, { nbf: now + 600, exp: now + 700 })],
    ['expired', await mint('pay', ARGS, { iat: now - 100, nbf: now - 100, exp: now - 1 })],
    ['scope_mismatch', await mint('refund', ARGS)], ['args_mismatch', await mint('pay', { ...ARGS, amount: 13 })],
    ['unknown_key', await (await issuer('other')).mint('pay', ARGS)],
  ];
  for (const [want, token] of rows) {
    const answer = await caller.call('pay', ARGS, { headers: { 'writ-credential': token } });
    assert.deepEqual([answer.status, reason(answer)], [403, want]);
  }
  assert.equal(up.calls.length, 0);
});

// The digest of such a number is that of the double nearest to it, and the server gets the bytes that came.
test('a number that a double changes never reaches the server', async (t) => {
  const { up, mint, caller } = await behind(t);
  const rows = [[100, '99.99999999999999999999'], [100, '100.000000000000000000001'], [0, '1e-400'], [0, '2e-324'],
    [9007199254740992, '9007199254740993'], [1125899906842624.1, '1125899906842624.18']];
  for (const [amount, source] of rows) {
    for (const [args, raw] of [[{ amount }, { amount: JSON.rawJSON(source) }],
      [{ a: [1, { amount }] }, { a: [1, { amount: JSON.rawJSON(source) }] }]]) {
      const headers = { 'writ-credential': await mint('pay', args) };
      const answer = await caller.call('pay', raw, { headers });
      assert.deepEqual([answer.status, reason(answer)], [400, 'number_not_exact'], source);
      assert.ok(!answer.text.includes(source), answer.text);
      assert.equal(up.calls.length, 0);
    }
  }
  const args = { amount: 100, other: 0 };
  const spelled = { amount: JSON.rawJSON('1.000e2'), other: JSON.rawJSON('-0') }; // other spellings of these values
  const answer = await caller.call('pay', spelled, { headers: { 'writ-credential': await mint('pay', args) } });
  assert.equal(answer.said, 'ran 1', answer.text);
});

test('a token of another type is refused unless the guard is configured for it', async (t) => {
  const { up, dir, mint, caller } = await behind(t);
  const told = new Caller(await startGuard(t, dir, ['http', up.url.replace('/mcp', ''), '--typ', 'JWT']));
  for (const [by, typ, want] of [[caller, 'JWT', 'malformed'], [caller, 'at+jwt', 'malformed'],
    [caller, undefined, undefined],
    [told, undefined, 'malformed'], [told, 'at+jwt', 'malformed'], [told, 'JWT', undefined]]) {
    const answer = await by.call('pay', ARGS, { headers: { 'writ-credential': await mint('pay', ARGS, {}, typ) } });
    assert.equal(reason(answer), want, `${typ}: ${answer.text}`);
  }
  assert.equal(up.calls.length, 2);
});

test('of many requests with one credential at once, exactly one reaches the server', async (t) => {
  const { up, mint, caller } = await behind(t);
  for (let round = 0; round < 10; round++) {
    const token = await mint('pay', ARGS);
    const answers = await Promise.all(Array.from({ length: 20 },
      () => caller.call('pay', ARGS, { headers: { 'writ-credential': token } })));
    assert.equal(answers.filter((a) => a.status === 200).length, 1);
    assert.equal(answers.filter((a) => reason(a) === 'replayed').length, 19);
  }
  assert.equal(up.calls.length, 10);
});

test('two guards with one replay cache accept a credential once', async (t) => {
  const { up, dir, guard, mint, caller } = await behind(t);
  const other = new Caller(await startGuard(t, dir, ['http', up.url.replace('/mcp', '')]));
  for (let round = 0; round < 10; round++) {
    const headers = { 'writ-credential': await mint('pay', ARGS) };
    const answers = await Promise.all([caller, other, caller,
      other].map((each) => each.call('pay', ARGS, { headers })));
    assert.equal(answers.filter((a) => a.status === 200).length, 1);
  }
  assert.equal(up.calls.length, 10);
  assert.equal(guard.gone, false);
});

test('a used credential stays used when the guard is killed at any moment', async (t) => {
  const { up, guard, mint, caller } = await behind(t);
  const size = statSync(guard.path('used')).size;
  const tokens = [];
  for (let round = 0; round < 5; round++) {
    const batch = await Promise.all(Array.from({ length: 10 }, () => mint('pay', ARGS)));
    tokens.push(...batch);
    const sent = batch.map((token) => caller.call('pay', ARGS, { headers: { 'writ-credential': token } })
      .catch(() => {}));
    await up.arrived(1 + round * 2);
    await guard.stop('SIGKILL');
    await Promise.all(sent);
    await guard.start();
    caller.gateway = guard;
  }
  const ran = new Set(up.calls.map((c) => c.credential));
  assert.equal(ran.size, up.calls.length);
  for (const token of tokens) {
    const answer = await caller.call('pay', ARGS, { headers: { 'writ-credential': token } });
    if (ran.has(token)) assert.equal(reason(answer), 'replayed');
  }
  const credentials = up.calls.map((c) => c.credential);
  assert.equal(new Set(credentials).size, credentials.length);
  assert.equal(statSync(guard.path('used')).size, size);
});

test('a replay cache that is missing, cut, foreign or new accepts no used credential', async (t) => {
  const { dir, guard, mint, caller } = await behind(t);
  const token = await mint('pay', ARGS);
  assert.equal((await caller.call('pay', ARGS, { headers: { 'writ-credential': token } })).status, 200);
  await guard.stop();
  const args = (used) => ['guard', 'http', 'http://127.0.0.1:1', '--listen', '127.0.0.1:0', '--keys',
    join(dir, 'jwks.json'), '--aud', AUD, '--used', used];
  assert.equal(writ(args(join(dir, 'none'))).code, 3);
  assert.equal(writ(['guard', 'init', join(dir, 'used')]).code, 3); // there is one
  spawnSync('chmod', ['666', join(dir, 'used')]);
  assert.match(writ(args(join(dir, 'used'))).err, /others than its owner/);
  spawnSync('rm', [join(dir, 'used')]);
  assert.match(writ(args(join(dir, 'used'))).err, /cannot be opened.*writ guard init/);
  // the seal of the one before
  assert.match(writ(['guard', 'init', join(dir, 'used')]).err, /used\.seal: cannot be made/);
  assert.equal(existsSync(join(dir, 'used')), false);
  spawnSync('rm', [join(dir, 'used.seal')]);
  writ(['guard', 'init', join(dir, 'used')]);
  await guard.start();
  caller.gateway = guard;
  const after = await caller.call('pay', ARGS, { headers: { 'writ-credential': token } });
  assert.equal(reason(after), 'replayed');
  await guard.stop();
  truncateSync(join(dir, 'used'), 4096);
  assert.match(writ(args(join(dir, 'used'))).err, /not a file of used credentials/);
});

test('an edited, restored or truncated replay cache is refused', async (t) => {
  const { dir, up, guard, mint, caller } = await behind(t);
  const [used, seal] = [join(dir, 'used'), join(dir, 'used.seal')];
  const args = ['guard', 'http', 'http://127.0.0.1:1', '--listen', '127.0.0.1:0', '--keys', join(dir, 'jwks.json'),
    '--aud', AUD, '--used', used];
  const before = readFileSync(used);
  const token = await mint('pay', ARGS);
  assert.equal((await caller.call('pay', ARGS, { headers: { 'writ-credential': token } })).status, 200);
  const after = readFileSync(used), sealed = readFileSync(seal);
  writeFileSync(used, before, { flag: 'r+' }); // while the guard runs
  const refused = await caller.call('pay', ARGS, { headers: { 'writ-credential': token } });
  assert.deepEqual([refused.status, reason(refused)], [503, 'overloaded']);
  assert.equal(up.calls.length, 1);
  await guard.stop();
  const edits = {
    'the file of before': () => writeFileSync(used, before),
    'a zeroed file': () => writeFileSync(used, Buffer.alloc(after.length)),
    'a file cut short': () => truncateSync(used, after.length - 24),
    'an empty file': () => truncateSync(used, 0),
    'no file': () => rmSync(used),
    'a seal cut short': () => truncateSync(seal, sealed.length - 32),
    'a zeroed seal': () => writeFileSync(seal, Buffer.alloc(sealed.length)),
    'no seal': () => rmSync(seal),
  };
  for (const [name, edit] of Object.entries(edits)) {
    writeFileSync(used, after, { mode: 0o600 });
    writeFileSync(seal, sealed, { mode: 0o600 });
    edit();
    const { code, err } = writ(args);
    assert.equal(code, 3, name);
    assert.match(err, /writ guard init/, name);
  }
  writeFileSync(used, after, { mode: 0o600 });
  writeFileSync(seal, sealed, { mode: 0o600 });
  await guard.start();
  caller.gateway = guard;
  assert.equal(reason(await caller.call('pay', ARGS, { headers: { 'writ-credential': token } })), 'replayed');
});

test('an ambiguous message is refused', async (t) => {
  const { up, mint, caller } = await behind(t);
  const token = await mint('pay', ARGS);
  const other = await mint('pay', ARGS);
  const call = (extra) =>
    ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'pay', arguments: ARGS }, ...extra });
  const headers = { 'writ-credential': token };
  const text = (body) => JSON.stringify(body);
  const rows = [
    text([call()]), `${text(call())}${text(call())}`, text(call()).replace('"name"', '"name":"refund","name"'),
    text(call({ Method: 'ping' })), text(call({ id: undefined })), text(call({ id: null })),
    text(call({ params: { name: 'pay', Name: 'refund', arguments: ARGS } })),
    text(call({ params: { name: 'pay', arguments: [1] } })),
    text(call({ params: { arguments: ARGS } })), '{"jsonrpc":"2.0"', '\ufeff{}',
    text(call({ params: { name: 'pay', arguments: ARGS, _meta: { 'io.writ/credential': other } } })),
  ];
  for (const body of rows) {
    const answer = await caller.post(body,
      { headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers } });
    assert.ok(answer.status >= 400, body);
  }
  for (const method of ['Tools/Call', 'tools/call ', 'tools\\/call2', 'x/y']) {
    assert.equal((await caller.request(method, { name: 'pay', arguments: ARGS }, { headers })).error.code, -32601);
  }
  const mismatch = await caller.call('pay', ARGS, { headers: { ...headers, 'mcp-method': 'ping' } });
  assert.equal(reason(mismatch), 'header_mismatch');
  const twice = await new Promise((resolve, reject) => {
    const body = text(call());
    const req = http.request(`${caller.gateway.origin}/mcp`,
      { method: 'POST', headers: ['Host', `127.0.0.1:${caller.gateway.port}`, 'Content-Type', 'application/json',
      'Writ-Credential', token, 'writ-credential', other, 'Content-Length', String(body.length)] },
        (res) => resolve(res.statusCode));
    req.on('error', reject).end(body);
  });
  assert.ok(twice === 403 || twice === 400, String(twice));
  assert.equal(up.calls.length, 0);
  assert.equal(up.arrivals.length, 0);
});

test('messages other than tool calls pass, and streams are forwarded as they arrive', async (t) => {
  const { up, caller } = await behind(t, { tools: ['pay'], onMessage: (a) => {
    if (a.method !== 'resources/list') return undefined;
    const stream = a.stream();
    stream.send({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 1 } });
    setTimeout(() => { stream.send({ jsonrpc: '2.0', id: a.id, result: { resources: [] } }); stream.end(); }, 50);
    return true;
  } });
  await caller.open();
  assert.equal(caller.session, 'up-1');
  assert.deepEqual((await caller.request('tools/list')).result.tools.map((x) => x.name), ['pay']);
  const listed = await caller.request('resources/list');
  assert.ok(listed.isStream);
  assert.equal(listed.messages.length, 2);
  assert.equal((await caller.close()).status, 200);
  assert.deepEqual(up.requests.map((r) => r.method), ['POST', 'POST', 'POST', 'POST', 'DELETE']);
});

test('a large answer reaches a slow client whole, and a server that is not there is a 502', async (t) => {
  const big = 'x'.repeat(8 << 20);
  const { up, caller, mint } = await behind(t, { onCall: (a) => a.text(big) });
  const token = await mint('pay', ARGS);
  const answer = await caller.call('pay', ARGS, { headers: { 'writ-credential': token }, onResponse: (res) => {
    res.pause();
    setTimeout(() => res.resume(), 300);
  } });
  assert.equal(answer.said.length, big.length);
  await up.close();
  const gone = await caller.call('pay', ARGS, { headers: { 'writ-credential': await mint('pay', ARGS) } });
  assert.deepEqual([gone.status, reason(gone)], [502, 'upstream_unavailable']);
});

test('bodies of many clients without a credential do not fill the memory', async (t) => {
  const { up, guard, mint, caller } = await behind(t);
  const piece = Buffer.alloc(1 << 20, 0x20);
  const closed = [];
  const sockets = Array.from({ length: 30 }, () => {
    const socket = net.connect(guard.port, '127.0.0.1', () => {
      socket.write(`POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${guard.port}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${16 << 20}\r\n\r\n`);
      for (let i = 0; i < 15; i++) socket.write(piece); // and never the rest
    });
    socket.on('error', () => {}).on('data', (d) => { if (/^HTTP\/1.1 503 /.test(d)) closed.push(socket); });
    return socket;
  });
  await until(() => closed.length >= 12, 'the first refusals');
  const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${guard.child.pid}/status`, 'utf8'))[1]);
  if (!process.env.WRIT_SANITIZED) assert.ok(rss < 400_000, `${rss} KiB`); // not measured under sanitizers
  const busy = await caller.call('pay', { ...ARGS, more: 'x'.repeat(16 << 20) }).catch((e) => ({ status: e.code }));
  assert.notEqual(busy.status, 200);
  for (const socket of sockets) socket.destroy();
  const headers = { 'writ-credential': await mint('pay', ARGS) };
  await until(async () => (await caller.call('pay', ARGS, { headers }).catch(() => ({}))).status === 200, 'room');
  assert.equal(up.calls.length, 1);
});

/** Serves a set of keys; the test changes its content and delay, and counts its requests. */
async function keyServer(t, keys) {
  const served = { keys, slow: 0, fetched: 0 };
  const server = http.createServer((req, res) => {
    served.fetched++;
    setTimeout(() => res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(served.keys)),
      served.slow);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  served.url = `http://127.0.0.1:${server.address().port}/jwks`;
  return served;
}

/** A guard that trusts the keys of that server; `run` makes a call with a credential of an issuer. */
async function withKeysOf(t, server) {
  const up = await startUpstream(t);
  const guard = await startGuard(t, await guardFolder(t), ['http', up.url.replace('/mcp', '')], { keys: server.url });
  const caller = new Caller(guard);
  const run = async (of) =>
    (await caller.call('pay', ARGS, { headers: { 'writ-credential': await of.mint('pay', ARGS) } })).status;
  return { up, run };
}

test('a credential of an unknown key causes a new fetch of the keys', async (t) => {
  const [old, fresh] = [await issuer('old'), await issuer('new')];
  const server = await keyServer(t, old.jwks);
  const { up, run } = await withKeysOf(t, server);
  await until(() => server.fetched > 0, 'the first fetch');
  assert.equal(await run(old), 200);
  server.keys = { keys: [...fresh.jwks.keys, ...old.jwks.keys] };
  await new Promise((r) => setTimeout(r, 1100)); // a key fetched a moment ago is not fetched again
  assert.equal(await run(fresh), 200);
  const made = await issuer('made-up');
  const before = server.fetched, from = Date.now();
  await Promise.all(Array.from({ length: 20 }, () => run(made)));
  // one a second
  assert.ok(server.fetched - before <= 2 + (Date.now() - from) / 1000, `${server.fetched - before} fetches`);
  assert.equal(up.calls.length, 2);
});

test('a request during a key fetch waits for the same fetch', async (t) => {
  const [old, fresh] = [await issuer('old'), await issuer('new')];
  const server = await keyServer(t, old.jwks);
  const { run } = await withKeysOf(t, server);
  await until(async () => await run(old) === 200, 'the keys');
  server.keys = { keys: [...fresh.jwks.keys, ...old.jwks.keys] };
  server.slow = 500;
  await new Promise((r) => setTimeout(r, 1100));
  const first = run(fresh);
  await new Promise((r) => setTimeout(r, 200));
  assert.deepEqual(await Promise.all([first, run(fresh), run(fresh)]), [200, 200, 200]);
});

for (const form of ['http', 'check']) {
  test(`a client that leaves while keys are fetched does not affect others (guard ${form})`, async (t) => {
    const [known, other] = [await issuer(), await issuer('other')];
    const server = await keyServer(t, known.jwks);
    const up = await startUpstream(t);
    const guard = await startGuard(t, await guardFolder(t), form === 'http'
      ? ['http', up.url.replace('/mcp', '')] : ['check'],
      { keys: server.url });
    const caller = new Caller(guard);
    const run = async (of) => {
      const headers = { 'writ-credential': await of.mint('pay', ARGS) };
      return form === 'http' ? (await caller.call('pay', ARGS, { headers })).status
        : (await fetch(`${guard.origin}/check`, { headers: { 'writ-tool': 'pay', ...headers } })).status;
    };
    const good = form === 'http' ? 200 : 204;
    await until(async () => await run(known) === good, 'the keys');
    await new Promise((r) => setTimeout(r, 1100));
    server.slow = 1000;
    const before = server.fetched;
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call',
      params: { name: 'pay', arguments: ARGS } });
    const head = form === 'http'
      ? `POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n` +
        `Content-Length: ${body.length}`
      : 'GET /check HTTP/1.1\r\nWrit-Tool: pay';
    const socket = net.connect(guard.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(`${head}\r\nHost: 127.0.0.1:${guard.port}\r\nWrit-Credential: ` +
      `${await other.mint('pay', ARGS)}\r\n\r\n${form === 'http' ? body : ''}`);
    await until(() => server.fetched > before, 'the question for keys');
    socket.resetAndDestroy();
    await new Promise((r) => setTimeout(r, 1500));
    assert.equal(guard.gone, false, JSON.stringify(guard.log));
    assert.equal(await run(known), good);
    assert.deepEqual(await guard.stop(), { code: 0, signal: null });
  });
}

test('a used credential stays used for a guard with a larger clock tolerance', async (t) => {
  const { dir, up, mint, caller } = await behind(t);
  const lenient = new Caller(await startGuard(t, dir, ['http', up.url.replace('/mcp', ''), '--skew', '3']));
  await new Promise((r) => setTimeout(r, 4500)); // the file is older than the tolerance
  const exp = Math.floor(Date.now() / 1000) + 2;
  const [one, other] =
    await Promise.all([1, 2].map(async () => ({ 'writ-credential': await mint('pay', ARGS, { exp }) })));
  assert.equal((await caller.call('pay', ARGS, { headers: one })).status, 200);
  await until(() => Date.now() / 1000 > exp + 1, 'its end');
  assert.equal(reason(await caller.call('pay', ARGS, { headers: one })), 'expired');
  assert.equal(reason(await lenient.call('pay', ARGS, { headers: one })), 'replayed');
  assert.equal((await lenient.call('pay', ARGS, { headers: other })).status, 200, 'it forgives');
  assert.equal(up.calls.length, 2);
});

test('behind a real gateway the official everything server serves only its calls', async (t) => {
  const port = await reservePort();
  const everything = spawn(process.execPath,
    [join(npm.resolve('@modelcontextprotocol/server-everything/package.json'), '..', 'dist/index.js'),
      'streamableHttp'],
    { env: { ...process.env, PORT: String(port) }, stdio: 'ignore' });
  t.after(() => everything.kill('SIGKILL'));
  await until(async () => (await fetch(`http://127.0.0.1:${port}/mcp`).catch(() => undefined)) !== undefined,
    'the everything server');
  const dir = await guardFolder(t);
  const guardPort = await reservePort();
  const gw = await startGateway(t,
    { issuer: ISS, upstreams: { up: { http: `http://127.0.0.1:${guardPort}/mcp`, resource: AUD } },
      tools: { 'up/*': ANY } });
  await startGuard(t, dir, ['http', `http://127.0.0.1:${port}`],
    { keys: `${gw.origin}/.well-known/jwks.json`, listen: `127.0.0.1:${guardPort}` });
  const client = await openSession(gw);
  assert.ok((await client.request('tools/list')).result.tools.length > 3);
  const answer = await client.call('up__echo', { message: 'hello' });
  assert.equal(answer.said, 'Echo: hello', answer.text);
  await gw.reload({ ...gw.config, issuer: 'https://other.example' });
  const foreign = await client.call('up__echo', { message: 'again' }); // the guard's answer reaches the client
  assert.deepEqual([foreign.reason, foreign.refusal.upstream_reason], ['upstream_unauthorized', 'wrong_issuer']);
  assert.match(foreign.error.message,
    /; the tool server's reason is wrong_issuer: the credential comes from another issuer/);
  const past = await new Caller({ origin: `http://127.0.0.1:${guardPort}` }).open();
  const refused = await past.call('echo', { message: 'hello' });
  assert.deepEqual([refused.status, reason(refused)], [401, 'missing_credential']);
});

test('over stdio the official filesystem server writes only with a good credential', async (t) => {
  const signer = await issuer();
  const dir = await guardFolder(t, signer.jwks);
  mkdirSync(join(dir, 'files'));
  const server = join(npm.resolve('@modelcontextprotocol/server-filesystem/package.json'), '..', 'dist/index.js');
  const child = spawn(BIN, ['guard', 'stdio', '--keys', 'jwks.json', '--aud', AUD, '--iss', ISS, '--used', 'used', '--',
    process.execPath, server, join(dir, 'files')],
    { cwd: dir, stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let id = 0;
  const ask = async (method, params) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })}\n`);
    for (;;) {
      const { value } = await lines.next();
      const message = JSON.parse(value);
      if (message.id === id) return message;
    }
  };
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } });
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  assert.ok((await ask('tools/list', {})).result.tools.length > 3);
  const args = { path: join(dir, 'files/a.txt'), content: 'written' };
  const bare = await ask('tools/call', { name: 'write_file', arguments: args });
  assert.equal(bare.error.data.reason, 'missing_credential');
  const inexact = await ask('tools/call', { name: 'write_file',
    arguments: { ...args, n: JSON.rawJSON('0.10000000000000001') },
    _meta: { 'io.writ/credential': await signer.mint('write_file', { ...args, n: 0.1 }) } });
  assert.equal(inexact.error.data.reason, 'number_not_exact');
  const meta = { 'io.writ/credential': await signer.mint('write_file', args) };
  const good = await ask('tools/call', { name: 'write_file', arguments: args, _meta: meta });
  assert.match(good.result.content[0].text, /Successfully wrote/);
  assert.equal(readFileSync(args.path, 'utf8'), 'written');
  writeFileSync(args.path, 'touched');
  const again = await ask('tools/call', { name: 'write_file', arguments: args, _meta: meta });
  assert.equal(again.error.data.reason, 'replayed');
  assert.equal(readFileSync(args.path, 'utf8'), 'touched');
  child.stdin.write('{"jsonrpc":"2.0","id":77,"method":"tools/call"\n');
  assert.equal(JSON.parse((await lines.next()).value).error.code, -32700);
  child.stdin.end();
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

test('a guard whose stdio server does not start reports the reason', async (t) => {
  const dir = await guardFolder(t, (await issuer()).jwks);
  const end = async (...server) => { // its client stays connected: a guard that lost both does not report its server
    const guard = spawn(BIN, ['guard', 'stdio', '--keys', 'jwks.json', '--aud', AUD, '--iss', ISS, '--used', 'used',
      '--', ...server], { cwd: dir });
    const log = text(guard.stderr);
    await once(guard, 'exit');
    guard.stdin.destroy();
    return (await log).trimEnd().split('\n').map((line) => JSON.parse(line)).find((l) => l.event === 'server_ended');
  };
  const spoke = await end('sh', '-c', 'echo "no licence" >&2; exit 3');
  assert.deepEqual([spoke.level, spoke.why, spoke.detail, spoke.said], ['error', 'exited', 3, 'no licence']);
  const gone = await end('/nonexistent/server');
  assert.deepEqual([gone.why, gone.error], ['not_started', 'No such file or directory']);
});

test('the guard stands between a gateway and its stdio server', async (t) => {
  const dir = await guardFolder(t);
  const server = join(npm.resolve('@modelcontextprotocol/server-memory/package.json'), '..', 'dist/index.js');
  const gw = await startGateway(t, {
    issuer: ISS, agents: [ANYBODY], tools: { 'mem/*': ANY },
    upstreams: { mem: { resource: AUD, environment: { MEMORY_FILE_PATH: join(dir, 'memory.jsonl') },
      credential: { meta: true },
      stdio: [BIN, 'guard', 'stdio', '--keys', join(dir, 'jwks.json'), '--aud', AUD, '--iss', ISS, '--used',
        join(dir, 'used'), '--', process.execPath, server] } },
  }, { prepare: (folder) =>
    writeFileSync(join(dir, 'jwks.json'), writ(['keys', 'jwks', '--dir', join(folder, 'keys')]).out) });
  const client = await openSession(gw);
  const answer = await client.call('mem__create_entities',
    { entities: [{ name: 'writ', entityType: 'gateway', observations: ['guards'] }] });
  assert.match(answer.said ?? answer.text, /guards/);
});

test('nginx asks the guard before it passes a request on', async (t) => {
  if (spawnSync('nginx', ['-v']).error) return t.skip('nginx is not installed: scripts/deps test');
  const page = readFileSync(join(process.env.WRIT_SOURCE_DIR ?? '.', 'docs/guard.md'), 'utf8');
  const up = await startUpstream(t);
  const signer = await issuer();
  const dir = await guardFolder(t, signer.jwks);
  const guard = await startGuard(t, dir, ['check']);
  const port = await reservePort();
  const conf = /```nginx\n([^]*?)```/.exec(page)[1].replaceAll('127.0.0.1:9000', `127.0.0.1:${up.port}`)
    .replaceAll('127.0.0.1:9200', `127.0.0.1:${guard.port}`).replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`);
  writeFileSync(join(dir, 'nginx.conf'), conf);
  const nginx = spawn('nginx', ['-p', dir, '-c', 'nginx.conf', '-e', 'nginx.log'], { stdio: 'inherit' });
  t.after(() => nginx.kill('SIGKILL'));
  await until(async () => (await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)) !== undefined, 'nginx');
  const post = async (headers) => {
    const answer = await fetch(`http://127.0.0.1:${port}/transfer`,
      { method: 'POST', body: JSON.stringify(ARGS), headers: { 'content-type': 'application/json', ...headers } });
    await answer.text();
    return answer.status;
  };
  assert.equal(await post({}), 401);
  assert.equal(await post({ 'writ-credential': await signer.mint('refund', ARGS) }), 403);
  assert.equal(await post({ 'writ-credential': await (await issuer()).mint('transfer', ARGS) }), 403);
  // a client's own proxy headers do not count
  assert.equal(await post({ 'writ-credential': await signer.mint('refund', ARGS), 'writ-tool': 'refund' }), 403);
  assert.equal(up.arrivals.length, 0);
  const token = await signer.mint('transfer', ARGS);
  assert.equal(await post({ 'writ-credential': token, 'writ-params-hash': 'sha256:x', 'writ-agent': 'somebody' }), 202);
  assert.equal(await post({ 'writ-credential': token }), 403);
  assert.equal(up.arrivals.length, 1);
  const { headers, message } = up.arrivals[0];
  assert.equal(headers['writ-params-hash'], digest(message)); // the server's own comparison
  assert.equal(headers['writ-agent'], 'agent-1');
  nginx.kill('SIGQUIT');
  await once(nginx, 'exit');
});

test('the check endpoint compares each member that the request has', async (t) => {
  const signer = await issuer();
  const guard = await startGuard(t, await guardFolder(t, signer.jwks), ['check']);
  const state = digest({ balance: 7 });
  const ask = async (headers) => {
    const answer = await fetch(`${guard.origin}/check`, { headers });
    return [answer.status, answer.headers.get('writ-reason') ?? 'ok'];
  };
  const token = () => signer.mint('pay', ARGS, { target_state_digest: state });
  assert.deepEqual(await ask({ 'writ-credential': await token() }), [403, 'scope_mismatch']);
  assert.deepEqual(await ask({ 'writ-tool': 'pay', 'writ-credential': await token(), 'writ-params-hash': digest({}) }),
    [403, 'args_mismatch']);
  assert.deepEqual(await ask({ 'writ-tool': 'pay', 'writ-credential': await token(), 'writ-params-hash': 'x' }),
    [403, 'args_mismatch']);
  assert.deepEqual(await ask({ 'writ-tool': 'pay', 'writ-credential': await token(),
    'writ-target-state': digest({ balance: 8 }) }), [403, 'state_drift']);
  assert.deepEqual(await ask({ 'writ-tool': 'pay', 'writ-credential': await token(), 'writ-params-hash': digest(ARGS),
    'writ-target-state': state }), [204, 'ok']);
  assert.equal((await fetch(`${guard.origin}/other`)).status, 404);
});

test('an unread log delays no call, and a closed one is not written to another file', async (t) => {
  const { jwks } = await issuer();
  const dir = await guardFolder(t, jwks);
  const made = readFileSync(join(dir, 'used')).subarray(0, 64);
  for (const closed of ['', '2>&-']) {
    const child = spawn('sh',
      ['-c', `exec "$0" guard stdio --keys jwks.json --aud a --iss b --used used -- cat ${closed}`, BIN],
      { cwd: dir, stdio: ['pipe', 'pipe', 'pipe'] });
    t.after(() => child.kill('SIGKILL'));
    const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    for (let id = 0; id < 1000; id++) { // each is a line of the log: more than a pipe holds
      child.stdin.write(
        `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call',
          params: { name: 'pay'.padEnd(100, 'x'), arguments: {} } })}\n`);
      const { value } = await answers.next();
      assert.equal(JSON.parse(value).error.data.reason, 'missing_credential');
    }
    child.stdin.end();
    await once(child, 'exit');
    assert.deepEqual(readFileSync(join(dir, 'used')).subarray(0, 64), made);
  }
});

/** The command of a guard between standard streams, whose server answers with as many bytes as `n` says. */
async function between(t) {
  const { jwks } = await issuer();
  const dir = await guardFolder(t, jwks);
  const server = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, params: { n } } = JSON.parse(line);
    process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: { blob: 'y'.repeat(n) } }) + '\\n');
  });`;
  return { dir, args: ['guard', 'stdio', '--keys', 'jwks.json', '--aud', 'a', '--iss', 'b', '--used', 'used',
    '--', process.execPath, '-e', server] };
}
const read = (id, n) => JSON.stringify({ jsonrpc: '2.0', id, method: 'resources/read', params: { uri: 'u:1', n } });

test('a client that does not read stops no SIGTERM, and one that reads on gets each answer whole', async (t) => {
  const { dir, args } = await between(t);
  const start = async () => {
    const child = spawn(BIN, args, { cwd: dir, stdio: ['pipe', 'pipe', 'ignore'] });
    t.after(() => child.kill('SIGKILL'));
    for (let id = 0; id < 6; id++) child.stdin.write(`${read(id, 1_500_000 + id)}\n`);
    await until(() => child.stdout.readableLength > 8000, 'an answer that is not read');
    return child;
  };
  const child = await start();
  child.kill('SIGTERM');
  await until(() => child.exitCode !== null, 'the end of a guard whose client does not read');
  assert.equal(child.exitCode, 0);

  const slow = await start();
  slow.stdin.end(`${read('last', 7)}\n`);
  const answers = new Map();
  createInterface({ input: slow.stdout }).on('line', (line) => {
    const { id, result } = JSON.parse(line);
    answers.set(id, result.blob.length);
  });
  assert.deepEqual(await once(slow, 'close'), [0, null]);
  assert.deepEqual([...answers], [...[0, 1, 2, 3, 4, 5].map((id) => [id, 1_500_000 + id]), ['last', 7]]);
});

test('a last line without an end is served, whole or refused', async (t) => {
  const { dir, args } = await between(t);
  const said = (input) => JSON.parse(spawnSync(BIN, args, { cwd: dir, encoding: 'utf8', input }).stdout);
  assert.equal(said(read(1, 7)).result.blob.length, 7);
  assert.equal(said(read(1, 7).slice(0, -1)).error.data.reason, 'malformed_request');
});

test('a request with half a character is refused under its own id', async (t) => {
  const { dir, args } = await between(t);
  const request = { jsonrpc: '2.0', id: 'half', method: 'resources/read', params: { uri: '\ud800' } };
  const input = `${JSON.stringify(request)}\n`;
  const { id, error } = JSON.parse(spawnSync(BIN, args, { cwd: dir, encoding: 'utf8', input }).stdout);
  assert.deepEqual([id, error.code, error.data.reason], ['half', -32700, 'malformed_request']);
});

test('an answer passes whole through a pipe that does not block', async (t) => {
  const { dir, args } = await between(t);
  const program = `import os, subprocess, sys
out, end = os.pipe()
os.set_blocking(end, False)
guard = subprocess.Popen(sys.argv[1:], stdin=0, stdout=end)
os.close(end)
sys.stdout.write(open(out).read())`;
  const run = spawnSync('python3', ['-c', program, BIN, ...args],
    { cwd: dir, encoding: 'utf8', input: `${read(1, 1_000_000)}\n`, maxBuffer: 1 << 24 });
  assert.equal(JSON.parse(run.stdout).result.blob.length, 1_000_000);
});
