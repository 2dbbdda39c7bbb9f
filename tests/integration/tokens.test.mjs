// Credentials of the gateway for its upstreams: secrets from files and variables, tokens from a real authorization
// server; a client's own credentials are never among them.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { chmodSync, renameSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { bearer, prepare, startGateway, until, writeFileSync } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { AuthServer, machine } from '../support/servers/authserver.mjs';
import { Caller, openSession, send } from '../support/js/rpc.mjs';

const npm = createRequire(new URL('../support/npm/package.json', import.meta.url));
const jose = await import(pathToFileURL(npm.resolve('jose')));

const ANYTHING = { scope: 's', duplicates: 'allow', arguments: [{ arg: '', op: 'type', value: 'any' }] };
const call = (gw, options = {}) => new Caller(gw, options).call('up__read', {});

/** A file that only we can read. */
function secret(dir, name, text, mode = 0o600) {
  writeFileSync(`${dir}/${name}.new`, text, { mode });
  chmodSync(`${dir}/${name}.new`, mode);
  renameSync(`${dir}/${name}.new`, `${dir}/${name}`);
  return name;
}

const configOf = (up, authorization, rest = {}) =>
  ({ upstreams: { up: { http: up.url, authorization } }, tools: { 'up/*': ANYTHING }, ...rest });

test('a secret from a file is sent in every request and changes with a reload', async (t) => {
  const up = await startUpstream(t,
    { onGet: (req, res) => res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders() });
  const gw = await startGateway(t, configOf(up, { file: 'up.secret' }),
    { prepare: (dir) => secret(dir, 'up.secret', 'first-secret\n') });
  const session = await openSession(gw);
  await session.request('tools/list');
  await session.call('up__read', {});
  const stream = new AbortController();
  send(gw.origin, { method: 'GET', headers: session.headers(undefined, { accept: 'text/event-stream' }),
    signal: stream.signal }).catch(() => {});
  await until(() => up.requests.some((r) => r.method === 'GET'), 'the stream');
  stream.abort();
  await session.close();
  await new Caller(gw, { modern: true }).call('up__read', {});
  assert.ok(up.requests.length >= 6);
  for (const r of up.requests) assert.equal(r.headers.authorization, 'Bearer first-secret', r.method);

  secret(gw.dir, 'up.secret', 'second-secret');
  assert.equal((await gw.reload(gw.config)).event, 'reloaded');
  await call(gw);
  assert.equal(up.calls.at(-1).headers.authorization, 'Bearer second-secret');

  // a file that others can read has no effect, and is reported without its content
  secret(gw.dir, 'up.secret', 'third-secret', 0o644);
  const refused = await gw.reload(gw.config);
  assert.equal(refused.event, 'reload_refused');
  assert.match(refused.why, /up\.secret: others can read it/);
  await call(gw);
  assert.equal(up.calls.at(-1).headers.authorization, 'Bearer second-secret');
  assert.doesNotMatch(gw.logText, /(first|second|third)-secret/);
});

test('a secret from an environment variable is sent in its configured header', async (t) => {
  const up = await startUpstream(t);
  const gw = await startGateway(t, configOf(up, { variable: 'UP_KEY', header: 'X-Api-Key', scheme: '' }),
    { env: { UP_KEY: 'k-123' } });
  await call(gw);
  assert.equal(up.calls[0].headers['x-api-key'], 'k-123');
  assert.equal(up.calls[0].headers.authorization, undefined);
});

test('a gateway without its secret does not start and names it', async (t) => {
  const up = await startUpstream(t);
  const rows = [
    [{ file: 'nowhere' }, {}, /nowhere: cannot be opened/],
    [{ variable: 'UP_KEY_MISSING' }, {}, /UP_KEY_MISSING is not set/],
    [{ file: 'empty' }, {}, /empty: holds nothing/],
    [{ file: 'lines' }, {}, /lines: has a control byte in it/],
    [{ file: 'open' }, {}, /open: others can read it/],
    [{ key: 'lines', client_id: 'x', issuer: 'https://as.example' }, {}, /lines: /],
  ];
  for (const [authorization, env, why] of rows) {
    const gw = prepare(t, configOf(up, authorization), {
      env,
      prepare: (dir) => {
        secret(dir, 'empty', '\n');
        secret(dir, 'lines', 'a-secret\nb');
        secret(dir, 'open', 'x', 0o644);
      },
    });
    await assert.rejects(gw.start(), why);
    assert.doesNotMatch(gw.logText, /a-secret/);
  }
});

test('no credential of a client reaches an upstream, on any path', async (t) => {
  const planted = {
    cookie: 'sid=planted-cookie', 'proxy-authorization': 'Basic planted-proxy', 'x-api-key': 'planted-key',
    'x-forwarded-for': 'planted-for',
    forwarded: 'for=planted-forwarded', 'x-real-ip': 'planted-ip', via: '1.1 planted-via',
    'x-forwarded-access-token': 'planted-token',
    'x-amzn-oidc-data': 'planted-oidc', 'writ-credential': 'planted-credential', 'x-csrf-token': 'planted-csrf',
    'user-agent': 'planted-agent',
  };
  const dev = bearer('dev', { token: 'planted-bearer' });
  const up = await startUpstream(t, {
    capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {}, logging: {} },
    onGet: (req, res) => res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders(),
  });
  for (const authorization of [undefined, { variable: 'UP_KEY' }]) {
    up.clear();
    const gw = await startGateway(t, { ...configOf(up, authorization), agents: [dev.entry] },
      { env: { UP_KEY: 'of-the-gateway' } });
    for (const path of ['/mcp', '/mcp/up']) {
      const tool = path === '/mcp' ? 'up__read' : 'read';
      const session = new Caller(gw, { token: dev.token, path });
      const options = { headers: planted };
      const opened = await session.request('initialize',
        { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } }, options);
      assert.equal(opened.status, 200);
      session.session = opened.headers['mcp-session-id'];
      await session.notify('notifications/initialized', undefined, options);
      await session.call(tool, {}, options);
      for (const method of ['tools/list', 'resources/list', 'prompts/list', 'ping'])
        await session.request(method, undefined, options);
      await session.request('prompts/get', { name: tool }, options);
      await session.request('resources/read', { uri: 'x://y' }, options);
      await session.request('logging/setLevel', { level: 'info' }, options);
      await session.post({ jsonrpc: '2.0', id: 'up/n/7', result: {} }, options);
      await session.notify('notifications/cancelled', { requestId: 99 }, options);
      const before = up.requests.filter((r) => r.method === 'GET').length;
      const stream = new AbortController();
      send(gw.origin, { method: 'GET', path,
        headers: session.headers(undefined, { ...planted, accept: 'text/event-stream' }), signal: stream.signal })
        .catch(() => {});
      await until(() => up.requests.filter((r) => r.method === 'GET').length > before, 'the stream');
      stream.abort();
      await send(gw.origin,
        { method: 'DELETE', path, headers: session.headers(undefined, { ...planted, 'content-type': undefined }) });
      const modern = new Caller(gw, { token: dev.token, path, modern: true });
      await modern.request('server/discover', undefined, options);
      await modern.call(tool, {}, options);
      await modern.request('tools/list', undefined, options);
    }
    assert.ok(up.requests.length >= 20, String(up.requests.length));
    assert.doesNotMatch(up.bytes, /planted/);
    for (const r of up.requests) {
      assert.equal(r.headers.authorization, authorization ? 'Bearer of-the-gateway' : undefined);
      assert.equal(r.headers.cookie, undefined);
    }
    await gw.stop();
  }
});

/** An authorization server with the gateway as its client, and an upstream that accepts its tokens only. */
async function tokenWorld(t, { client = machine('writ'), authorization = {}, server = {} } = {}) {
  const as = await new AuthServer({ clients: [client], ...server }).start(t);
  const up = await startUpstream(t);
  const jwks = jose.createRemoteJWKSet(new URL(`${as.issuer}/jwks`));
  up.accepts = async (arrival) => {
    const token = /^Bearer (.+)$/.exec(arrival.headers.authorization ?? '')?.[1] ?? '';
    return (await jose.jwtVerify(token, jwks, { issuer: as.issuer, audience: up.url })).payload;
  };
  const config = configOf(up, { issuer: as.issuer, client_id: client.client_id, file: 'client.secret',
    scopes: ['mcp', 'files:read'], ...authorization });
  const gw = await startGateway(t, config,
    { prepare: (dir) => secret(dir, 'client.secret', client.client_secret ?? '-') });
  return { as, up, gw };
}

const ready = (gw) => until(async () => (await gw.admin('/readyz')).status === 200, 'a token');

test('the gateway fetches a token for the upstream by resource and scopes before the first call', async (t) => {
  const { as, up, gw } = await tokenWorld(t);
  await ready(gw);
  await call(gw);
  await call(gw);
  const payload = await up.accepts(up.calls[0]);
  assert.equal(payload.client_id, 'writ');
  assert.equal(payload.scope, 'mcp files:read');
  assert.equal(up.calls[1].headers.authorization, up.calls[0].headers.authorization);
  assert.equal(as.count('/token'), 1);
  const { form } = as.requests.find((r) => r.path === '/token');
  assert.deepEqual(form, { grant_type: 'client_credentials', scope: 'mcp files:read', resource: up.url });
  // a reload keeps the token: its settings are the same
  assert.equal((await gw.reload(gw.config)).event, 'reloaded');
  await call(gw);
  assert.equal(as.count('/token'), 1);
  assert.doesNotMatch(gw.logText, /secret-of-writ|eyJ/);
});

test('the gateway authenticates with a key: private_key_jwt', async (t) => {
  const { publicKey, privateKey } = await jose.generateKeyPair('ES256', { extractable: true });
  const jwk = await jose.exportJWK(publicKey);
  const kid = await jose.calculateJwkThumbprint(jwk);
  const client = machine('writ', { client_secret: undefined, token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_signing_alg: 'ES256', jwks: { keys: [{ ...jwk, kid, alg: 'ES256', use: 'sig' }] } });
  const as = await new AuthServer({ clients: [client] }).start(t);
  const up = await startUpstream(t);
  const pem = await jose.exportPKCS8(privateKey);
  const gw = await startGateway(t,
    configOf(up, { issuer: as.issuer, client_id: 'writ', key: 'client.pem', scopes: ['mcp'] }),
    { prepare: (dir) => secret(dir, 'client.pem', pem) });
  await ready(gw);
  assert.equal((await call(gw)).error, undefined);
  assert.equal(jose.decodeJwt(up.calls[0].headers.authorization.slice(7)).client_id, 'writ');
  assert.equal(as.requests.find((r) => r.path === '/token').authorization, undefined);
});

test('the gateway renews a token before it expires', async (t) => {
  const { up, gw } = await tokenWorld(t, { server: { ttl: 4 } });
  await ready(gw);
  await until(async () => {
    const answer = await call(gw);
    assert.equal(answer.error, undefined, answer.text); // there is never a moment without one
    return up.calls.at(-1).headers.authorization !== up.calls[0].headers.authorization;
  }, 'the next token');
  await up.accepts(up.calls.at(-1));
});

test('an upstream without a token gets no request, and the failure is reported', async (t) => {
  const as = await new AuthServer({ clients: [machine('writ')] }).start(t);
  const up = await startUpstream(t);
  const gw = await startGateway(t, configOf(up, { issuer: as.issuer, client_id: 'writ', file: 'client.secret' }),
    { prepare: (dir) => secret(dir, 'client.secret', 'wrong-secret') });
  const line = await gw.waitLog('token_failed');
  assert.equal(line.upstream, 'up');
  assert.match(line.why, /gives no token: status 40[01], invalid_client$/);
  assert.equal((await gw.admin('/readyz')).status, 503);
  const answer = await call(gw);
  assert.equal(answer.reason, 'upstream_token_missing');
  const { outcome } = gw.show(answer.refusal.decision_id);
  assert.equal(outcome.error_type, 'not_sent');
  const list = await new Caller(gw, { path: '/mcp/up' }).request('resources/list');
  assert.equal(list.status, 503);
  assert.equal(list.reason, 'upstream_token_missing');
  assert.equal(up.requests.length, 0, 'nothing was sent');
  // it tries again with growing pauses; a better secret is taken at a reload, at once
  await until(() => as.count('/token') >= 2, 'another try');
  secret(gw.dir, 'client.secret', 'secret-of-writ');
  await gw.reload(gw.config);
  await ready(gw);
  assert.equal((await call(gw)).error, undefined);
  assert.doesNotMatch(gw.logText, /wrong-secret|secret-of-writ/);
});

test('a 401 of the upstream drops the token and ends the call without a retry', async (t) => {
  const { as, up, gw } = await tokenWorld(t);
  await ready(gw);
  let refuse = 1;
  up.onCall = (arrival) =>
    (refuse-- > 0 ? arrival.json({ error: 'invalid_token' }, 401,
      { 'www-authenticate': 'Bearer error="invalid_token", realm="of-the-upstream"' }) : arrival.text('ran'));
  const answer = await call(gw);
  assert.equal(answer.status, 200, 'not the client\'s 401');
  assert.equal(answer.reason, 'upstream_unauthorized');
  assert.equal(answer.headers['www-authenticate'], undefined);
  assert.ok(!answer.text.includes('of-the-upstream'));
  assert.equal(gw.show(answer.refusal.decision_id).outcome.error_type, 'upstream_unauthorized');
  assert.equal(up.calls.length, 1, 'once');
  await until(() => as.count('/token') === 2, 'another token');
  await ready(gw);
  assert.equal((await call(gw)).error, undefined);
  assert.notEqual(up.calls[1].headers.authorization, up.calls[0].headers.authorization);
  // an upstream that refuses everything does not make the gateway ask for token after token
  refuse = 1000;
  for (let i = 0; i < 20; i++) assert.equal((await call(gw)).reason, 'upstream_unauthorized');
  assert.ok(as.count('/token') <= 3, String(as.count('/token')));
  // a reason is quoted if the table has it, in the table's own words; any other is not
  const writs = (reason) =>
    ({ jsonrpc: '2.0', id: null,
      error: { code: -31001, message: 'WORDS-OF-THE-UPSTREAM', data: { reason, hint: 'WORDS-OF-THE-UPSTREAM' } } });
  const other = writs('replayed');
  other.error.code = -31002;
  for (const [body, quoted] of [[writs('replayed'), 'replayed'], [writs('WORDS-OF-THE-UPSTREAM'), undefined],
      [other, undefined], ['WORDS-OF-THE-UPSTREAM', undefined]]) {
    up.onCall = (arrival) => arrival.json(body, 403);
    const refused = await call(gw);
    assert.deepEqual([refused.reason, refused.refusal.upstream_reason], ['upstream_unauthorized', quoted]);
    assert.equal(/; the tool server's reason is replayed: the credential was used before/.test(refused.error.message),
      quoted !== undefined);
    assert.doesNotMatch(refused.text, /WORDS/);
  }
  // not governed: the same
  up.onMessage = (arrival) => (arrival.method === 'prompts/list' ? arrival.json({}, 403) ?? true : undefined);
  const passed = await new Caller(gw, { path: '/mcp/up' }).request('prompts/list');
  assert.equal(passed.status, 502);
  assert.equal(passed.reason, 'upstream_unauthorized');
});

const SCOPES = 'mcp files:read';

test('a demand of an upstream for scopes is reported, and not followed', async (t) => {
  const { as, up, gw } = await tokenWorld(t);
  await ready(gw);
  const asked = () => as.requests.filter((r) => r.path === '/token').map((r) => r.form.scope);
  const before = asked().length;
  for (const [scope, told] of [[SCOPES, 0], [`${SCOPES} admin:all`, 1], ['everything', 1]]) {
    for (const status of [401, 403]) {
      up.onCall = (arrival) => arrival.json({}, status,
        { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` });
      await ready(gw); // a 401 drops the token
      const answer = await call(gw);
      assert.equal(answer.reason, 'upstream_unauthorized');
      assert.ok(!answer.text.includes('admin:all'));
    }
    const demands = () => gw.log.filter((l) => l.event === 'upstream_demands_scope');
    await until(() => demands().length >= told, 'the line of the log');
    const lines = demands();
    assert.equal(lines.length, told);
    if (told > 0) assert.deepEqual([lines[0].upstream, lines[0].scopes], ['up', `${SCOPES} admin:all`]);
  }
  await until(() => asked().length > before, 'another token after the 401');
  assert.deepEqual([...new Set(asked())], [SCOPES]);
});

test('a misbehaving token endpoint gives no token and delays no call', async (t) => {
  const answers = [
    ['a redirect', (res) => res.writeHead(307, { location: 'http://127.0.0.1:1/' }).end()],
    ['a page', (res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
    ['no token', (res) => res.end('{"token_type":"Bearer"}')],
    ['another type', (res) => res.end('{"access_token":"a","token_type":"mac"}')],
    ['a token with a line end', (res) => res.end('{"access_token":"a\\r\\nX: y","token_type":"Bearer"}')],
    ['a huge one', (res) => res.end(`{"access_token":"${'a'.repeat(10_000_000)}","token_type":"Bearer"}`)],
    ['a negative life', (res) => res.end('{"access_token":"a","token_type":"Bearer","expires_in":-1}')],
    ['an error with a long text',
      (res) => res.writeHead(400).end(JSON.stringify({ error: 'SECRET-ECHO', error_description: 'SECRET-ECHO' }))],
  ];
  const as = await new AuthServer({ clients: [machine('writ')] }).start(t);
  const up = await startUpstream(t);
  let which = 0;
  as.answer = (req, res, path) => path === '/token' && (answers[which][1](res), true);
  const gw = await startGateway(t,
    configOf(up, { token_endpoint: `${as.issuer}/token`, client_id: 'writ', file: 'client.secret' }),
    { prepare: (dir) => secret(dir, 'client.secret', 'secret-of-writ') });
  for (; which < answers.length; which++) {
    const from = gw.log.length;
    if (which > 0) assert.equal((await gw.reload(gw.config)).event, 'reloaded', answers[which][0]); // fetches a token
    await gw.waitLog('token_failed', from);
    assert.equal((await call(gw)).reason, 'upstream_token_missing', answers[which][0]);
    if (which + 1 === answers.length) break;
  }
  assert.doesNotMatch(gw.logText, /SECRET-ECHO|secret-of-writ/);
  // one that hangs: calls to other upstreams, and this one's refusals, do not wait
  let hanging;
  as.answer = (req, res, path) => path === '/token' && Boolean(hanging = res);
  const n = as.count('/token');
  await gw.reload(gw.config);
  await until(() => as.count('/token') > n, 'the request that hangs');
  assert.equal((await call(gw)).reason, 'upstream_token_missing');
  assert.ok(!hanging.destroyed, 'the request still hangs');
  assert.equal((await gw.stop()).code, 0, 'nor does the end');
  assert.equal(up.requests.length, 0);
});
