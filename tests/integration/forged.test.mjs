// Forged tokens, and authorization servers that lie, hang or point elsewhere: against the
// real gateway, with tokens made by code that is not ours.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import http from 'node:http';
import { createHmac } from 'node:crypto';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { startGateway, until } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { Caller, sendRaw } from '../support/js/rpc.mjs';

const npm = createRequire(new URL('../support/npm/package.json', import.meta.url));
const jose = await import(pathToFileURL(npm.resolve('jose')));

const PUBLIC = 'https://gateway.example';
const AUDIENCE = `${PUBLIC}/mcp`;
const TOOLS = { 'up/note': { scope: 'notes', duplicates: 'allow',
  arguments: [{ arg: '', op: 'type', value: 'any' }] } };
const now = () => Math.floor(Date.now() / 1000);
const b64 = (value) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** An HTTP server on its own port; `at(path, fn)` sets the handler of a path. */
class Place {
  constructor() {
    this.seen = [];
    this.routes = new Map();
  }

  async start(t) {
    this.server = http.createServer((req, res) => {
      this.seen.push({ path: req.url, headers: req.headers });
      const route = this.routes.get(req.url);
      if (route) route(res, req);
      else res.writeHead(404).end();
    });
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${this.server.address().port}`;
    t.after(() => { this.server.closeAllConnections(); this.server.close(); });
    return this;
  }

  at(path, answer) {
    this.routes.set(path, typeof answer === 'function' ? answer : (res) => res.end(JSON.stringify(answer)));
    return this;
  }

  count(path) {
    return this.seen.filter((s) => s.path === path).length;
  }
}

/** An issuer with correct metadata and keys. */
class Issuer extends Place {
  async start(t, algs = ['ES256']) {
    await super.start(t);
    this.keys = [];
    for (const alg of algs) {
      const { publicKey, privateKey } = await jose.generateKeyPair(alg, { extractable: true });
      const kid = `${alg}-1`;
      this.keys.push({ kid, alg, privateKey, publicKey,
        jwk: { ...await jose.exportJWK(publicKey), kid, alg, use: 'sig' } });
    }
    this.at('/.well-known/oauth-authorization-server',
      { issuer: this.url, jwks_uri: `${this.url}/jwks`, token_endpoint: `${this.url}/token` });
    this.at('/jwks', { keys: this.keys.map((k) => k.jwk) });
    return this;
  }

  claims(more = {}) {
    return { iss: this.url, aud: AUDIENCE, sub: 'agent-7', client_id: 'c', jti: 'j', iat: now(), exp: now() + 300,
      ...more };
  }

  sign(claims = {}, header = {}, key = this.keys[0]) {
    return new jose.SignJWT(this.claims(claims)).setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'at+jwt',
      ...header }).sign(key.privateKey);
  }
}

async function setUp(t, issuers, more = {}) {
  const up = await startUpstream(t);
  const gw = await startGateway(t, { public_url: PUBLIC, upstreams: { up: { http: up.url } }, tools: TOOLS,
    agents: issuers.map((i) => ({ issuer: i.url ?? i })), ...more });
  return { up, gw };
}

const call = (gw, token, headers) => new Caller(gw, { token }).call('up__note', {}, { headers });
const ready = (gw) => until(async () => (await gw.admin('/readyz')).status === 200, 'the keys');

test('a token not signed by a key of its issuer for this gateway is refused', async (t) => {
  const issuer = await new Issuer().start(t, ['ES256', 'RS256', 'EdDSA']);
  const other = await new Issuer().start(t);
  const canary = await new Place().start(t);
  const { up, gw } = await setUp(t, [issuer, other]);
  await ready(gw);
  const [es, rs, ed] = issuer.keys;
  for (const key of issuer.keys) assert.equal((await call(gw, await issuer.sign({}, {}, key))).status, 200, key.alg);
  const good = await issuer.sign();
  const [, payload, signature] = good.split('.');
  const thief = (await jose.generateKeyPair('ES256')).privateKey;
  const signedBy = (privateKey, claims, header) =>
    new jose.SignJWT(issuer.claims(claims)).setProtectedHeader({ alg: 'ES256', kid: es.kid, typ: 'at+jwt', ...header })
    .sign(privateKey);
  const hmac = (header, secret) => {
    const input = `${b64(header)}.${payload}`;
    return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
  };
  const spki = await jose.exportSPKI(rs.publicKey);
  const none = ['none', 'None', 'NONE', 'nOnE', '', null, undefined, ['none'], 0,
    'none '].map((alg) => `${b64({ alg, kid: es.kid, typ: 'at+jwt' })}.${payload}.`);
  const rows = [
    ...none.map((token, i) => [`alg none ${i}`, token]),
    ['alg none, with the signature of another', `${b64({ alg: 'none', kid: es.kid })}.${payload}.${signature}`],
    ['HS256 with the public key as PEM', hmac({ alg: 'HS256', kid: rs.kid }, spki)],
    ['HS256 with the public key as JWK', hmac({ alg: 'HS256', kid: rs.kid }, JSON.stringify(rs.jwk))],
    ['HS256 with an empty secret', hmac({ alg: 'HS256', kid: es.kid }, '')],
    ['another algorithm than the key has', `${b64({ alg: 'ES256', kid: ed.kid })}.${payload}.${signature}`],
    ['a key of a thief under the kid of the issuer', await signedBy(thief)],
    ['the same kid, of another issuer', await signedBy(other.keys[0].privateKey, { iss: issuer.url })],
    ['an issuer that is not listed', await issuer.sign({ iss: 'https://evil.example' })],
    ['the issuer with a slash behind', await issuer.sign({ iss: `${issuer.url}/` })],
    ['for another resource', await issuer.sign({ aud: 'https://elsewhere.example/mcp' })],
    ['for the gateway but another endpoint', await issuer.sign({ aud: `${AUDIENCE}/up` })],
    ['for a name that begins alike', await issuer.sign({ aud: `${AUDIENCE}.evil.example` })],
    ['without aud', await issuer.sign({ aud: undefined })],
    ['for a list of others', await issuer.sign({ aud: ['https://a.example', 'https://b.example'] })],
    ['ended', await issuer.sign({ iat: now() - 100, exp: now() - 20 })],
    ['without an end', await issuer.sign({ exp: undefined })],
    ['an end that is a text', await issuer.sign({ exp: String(now() + 300) })],
    ['from the future', await issuer.sign({ iat: now() + 60, exp: now() + 300 })],
    ['for years', await issuer.sign({ exp: now() + 10 * 365 * 86400 })],
    ['of another kind', await issuer.sign({}, { typ: 'logout+jwt' })],
    ['an id token by its kind', await issuer.sign({}, { typ: 'id_token+jwt' })],
    ['jku', await signedBy(thief, {}, { jku: `${canary.url}/jwks` })],
    ['x5u', await signedBy(thief, {}, { x5u: `${canary.url}/cert` })],
    ['jwk', await signedBy(thief, {}, { jwk: await jose.exportJWK((await jose.generateKeyPair('ES256')).publicKey) })],
    ['kid as a path', await signedBy(thief, {}, { kid: '../../../../dev/null' })],
    ['kid as a URL', await signedBy(thief, {}, { kid: `${canary.url}/jwks` })],
    ['kid as SQL', await signedBy(thief, {}, { kid: "x' UNION SELECT 'a" })],
    ['kid with NUL', await signedBy(thief, {}, { kid: `${es.kid}\0` })],
    ['kid of 4 KiB', await signedBy(thief, {}, { kid: 'k'.repeat(4096) })],
    ['crit', `${b64({ alg: 'ES256', kid: es.kid, crit: ['x'], x: 1 })}.${payload}.${signature}`],
    ['two alg', `${b64(`{"alg":"none","alg":"ES256","kid":"${es.kid}"}`)}.${payload}.${signature}`],
    ['padded', `${good}=`],
    ['four parts', `${good}.${signature}`],
    ['JSON serialisation', JSON.stringify({ payload, signatures: [{ protected: good.split('.')[0], signature }] })
      .replaceAll(' ', '')],
    ['detached', good.replace(payload, '')],
    ['r and s of zero', good.replace(signature, b64(Buffer.alloc(64)))],
    ['one bit', good.slice(0, -2) + (good.at(-2) === 'A' ? 'B' : 'A') + good.at(-1)],
  ];
  const before = up.calls.length;
  for (const [what, token] of rows) {
    const answer = await call(gw, token);
    assert.equal(answer.status, 401, what);
    assert.match(answer.headers['www-authenticate'], /error="invalid_token", error_description="[a-z, ]+"/, what);
  }
  assert.equal(up.calls.length, before);
  assert.deepEqual(canary.seen, [], 'a token never causes a request');
  // within the forgiveness of 5 seconds
  assert.equal((await call(gw, await issuer.sign({ iat: now() - 100, exp: now() - 2 }))).status, 200);
  assert.equal((await call(gw, await issuer.sign({ iat: now() + 2 }))).status, 200);
  assert.equal((await call(gw, await issuer.sign({ aud: ['https://a.example', AUDIENCE] }))).status, 200);
});

test('more than one Authorization field, or an overlong one, is refused', async (t) => {
  const issuer = await new Issuer().start(t);
  const { up, gw } = await setUp(t, [issuer]);
  await ready(gw);
  const good = await issuer.sign();
  const body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"up__note"}}';
  const raw = async (fields) => {
    const answer = await sendRaw(gw.port,
      `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${gw.port}\r\nContent-Type: application/json\r\nAccept: ` +
        `application/json, text/event-stream\r\nConnection: close\r\n${fields}Content-Length: ${body.length}\r\n\r\n` +
          `${body}`);
    return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)[1]);
  };
  assert.equal(await raw(`Authorization: Bearer ${good}\r\n`), 200);
  assert.equal(await raw(`authorization:bearer ${good}\r\n`), 200);
  for (const [fields, status] of [
    [`Authorization: Bearer ${good}\r\nAuthorization: Bearer ${good}\r\n`, 400],
    [`Authorization: Bearer x\r\nAUTHORIZATION: Bearer ${good}\r\n`, 400],
    [`Authorization: Bearer ${good}, Bearer ${good}\r\n`, 400],
    [`Authorization: Bearer\r\n ${good}\r\n`, 400],
    [`Authorization : Bearer ${good}\r\n`, 400],
    [`Proxy-Authorization: Bearer ${good}\r\n`, 401],
    [`Cookie: access_token=${good}\r\n`, 401],
    [`Authorization: ${good}\r\n`, 401],
    [`Authorization: DPoP ${good}\r\n`, 401],
    [`Authorization: Bearer ${'x'.repeat(100_000)}\r\n`, 431],
  ]) {
    assert.equal(await raw(fields), status, fields.slice(0, 60));
  }
  assert.equal(up.calls.length, 2);
});

test('metadata are accepted only for their own issuer and never redirect', async (t) => {
  const victim = await new Place().start(t);
  const lies = {
    'of another issuer': (p) => ({ issuer: 'https://elsewhere.example', jwks_uri: `${p.url}/jwks` }),
    'without an issuer': (p) => ({ jwks_uri: `${p.url}/jwks` }),
    'keys of the inner network': (p) => ({ issuer: p.url, jwks_uri: 'http://169.254.169.254/latest/meta-data' }),
    'keys in a file': (p) => ({ issuer: p.url, jwks_uri: 'file:///etc/passwd' }),
    'keys with a password': (p) => ({ issuer: p.url, jwks_uri: `http://u:p@127.0.0.1:${new URL(p.url).port}/jwks` }),
  };
  for (const [what, lie] of Object.entries(lies)) {
    const issuer = await new Issuer().start(t);
    issuer.at('/.well-known/oauth-authorization-server', lie(issuer));
    const { up, gw } = await setUp(t, [issuer]);
    await until(() => issuer.count('/.well-known/oauth-authorization-server') >= 2, 'another try');
    assert.equal((await call(gw, await issuer.sign())).status, 503, what);
    assert.equal((await gw.admin('/readyz')).status, 503);
    const line = await gw.waitLog('keys_failed');
    assert.equal(line.issuer, issuer.url);
    assert.match(line.why, /its metadata|neither https nor|not a URL|must not hold credentials/, what);
    assert.doesNotMatch(line.why, /u:p@/);
    assert.equal(issuer.count('/jwks'), 0, what);
    assert.equal(up.calls.length, 0);
    await gw.stop();
  }
  for (const path of ['/.well-known/oauth-authorization-server', '/jwks']) {
    for (const status of [301, 302, 303, 307, 308]) {
      const issuer = await new Issuer().start(t);
      issuer.at(path, (res) => res.writeHead(status, { location: `${victim.url}/internal` }).end());
      const { gw } = await setUp(t, [issuer]);
      await until(() => issuer.count(path) >= 1, 'the fetch');
      assert.equal((await call(gw, await issuer.sign())).status, 503);
      await gw.stop();
    }
  }
  assert.deepEqual(victim.seen, []);
});

test('key sets that hang, are huge or malformed change nothing and delay no call', async (t) => {
  const issuer = await new Issuer().start(t);
  const steady = await new Issuer().start(t);
  const { gw } = await setUp(t, [issuer, steady]);
  await ready(gw);
  const token = await issuer.sign();
  assert.equal((await call(gw, token)).status, 200);
  let hanging;
  const bad = [
    ['hangs', (res) => { hanging = res; }],
    ['10 MB', (res) => res.end(`{"keys":[],"x":"${'x'.repeat(10_000_000)}"}`)],
    ['10 MB by pieces', (res) => {
      res.writeHead(200);
      const more = () => {
        if (!res.destroyed && res.write('x'.repeat(65536))) setImmediate(more); else res.once('drain', more);
      };
      more();
    }],
    ['private keys',
      async (res) => res.end(JSON.stringify({ keys: [await jose.exportJWK(issuer.keys[0].privateKey)] }))],
    ['symmetric keys', (res) => res.end('{"keys":[{"kty":"oct","k":"AAAA","kid":"ES256-1"}]}')],
    ['a page', (res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
  ];
  for (const [what, answer] of bad) {
    issuer.at('/jwks', answer);
    const n = issuer.count('/jwks');
    const line = await gw.reload(gw.config); // a new generation fetches at once
    assert.equal(line.event, 'reloaded');
    await until(() => issuer.count('/jwks') > n, what);
    // the known keys keep serving during the fetch
    assert.equal((await call(gw, token)).status, 200, what);
    assert.equal((await call(gw, await issuer.sign({ sub: what }))).status, 200, what);
    assert.equal((await call(gw, await steady.sign())).status, 200, what);
    assert.equal((await call(gw, await issuer.sign({}, { kid: 'unknown' }))).status, 401, what);
    if (what === 'hangs') assert.ok(!hanging.destroyed, 'the fetch is still under way');
    assert.equal((await gw.admin('/readyz')).status, 200);
  }
  // an issuer that was not known before a reload has no keys before it gives some
  const late = await new Issuer().start(t);
  late.at('/jwks', () => {});
  await gw.reload({ ...gw.config, agents: [...gw.config.agents, { issuer: late.url }] });
  assert.equal((await call(gw, await late.sign())).status, 503);
  assert.equal((await call(gw, token)).status, 200);
});
