// Identities of callers: static tokens and JWTs of issuers, against the real gateway; and how the upstream verifies its
// credential.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import http from 'node:http';
import { createRequire } from 'node:module';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { bearer, sha256, startGateway, until, writ, writeFileSync as write } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';
import { get } from '../support/js/stream.mjs';

const npm = createRequire(new URL('../support/npm/package.json', import.meta.url));
const jose = await import(pathToFileURL(npm.resolve('jose')));

const ISSUER = 'https://issuer.example/';
const AUDIENCE = 'https://gateway.example/mcp';
const TOOLS = { 'up/note': { scope: 'notes', arguments: [{ arg: 'text', op: 'type', value: 'string' }],
  duplicates: 'allow' } };

/** An issuer of tokens that publishes its keys at a scripted URL. */
class Issuer {
  constructor() {
    this.keys = [];
    this.fetches = 0;
    this.answer = (res) => res.end(JSON.stringify(this.jwks));
  }

  async start(t) {
    this.server = http.createServer((req, res) => { this.fetches++; this.last = req; this.answer(res, req); });
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${this.server.address().port}/jwks`;
    t.after(() => { this.server.closeAllConnections(); this.server.close(); });
    return this;
  }

  async addKey(kid, alg = 'ES256') {
    const { publicKey, privateKey } = await jose.generateKeyPair(alg);
    const key = { kid, alg, privateKey, jwk: { ...await jose.exportJWK(publicKey), kid, alg, use: 'sig' } };
    this.keys.push(key);
    return key;
  }

  get jwks() {
    return { keys: this.keys.map((key) => key.jwk) };
  }

  token(key, claims = {}, header = {}) {
    const now = Math.floor(Date.now() / 1000);
    const all = { iss: ISSUER, aud: AUDIENCE, sub: 'agent-7', iat: now, exp: now + 300, org: 'acme', ...claims };
    return new jose.SignJWT(Object.fromEntries(Object.entries(all).filter(([, v]) => v !== undefined)))
      .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header }).sign(key.privateKey);
  }

  entry(place = this.url) {
    return { issuer: ISSUER, audience: AUDIENCE, jwks: place, role: 'guest',
      claims: { tenant: 'org', role: '/realm/role' } };
  }
}

const call = (gw, token, headers = {}) => new Caller(gw, { token }).call('up__note', { text: 'x' }, { headers });

async function setUp(t, agents) {
  const up = await startUpstream(t);
  const gw = await startGateway(t,
    { upstreams: { up: { http: up.url, credential: { header: 'Writ-Credential', meta: true } } }, tools: TOOLS,
      agents });
  return { up, gw };
}

test('a static token gives the agent of its hash, and any other token is refused', async (t) => {
  const dev = bearer('dev', { tenant: 'acme', role: 'operator' });
  const { up, gw } = await setUp(t, [dev.entry]);
  assert.equal((await call(gw, dev.token)).status, 200);
  assert.equal(up.calls.length, 1);
  const rows = [
    [401, undefined, 'Bearer realm="writ"'],
    [401, `${dev.token}x`, 'error="invalid_token"'],
    [401, dev.entry.bearer_sha256, 'error="invalid_token"'],
    [401, 'a.b.c', 'error="invalid_token"'],
    [401, 'x'.repeat(7000), 'error="invalid_token"'],
  ];
  for (const [status, token, challenge] of rows) {
    const answer = await call(gw, token);
    assert.equal(answer.status, status, token);
    assert.ok(answer.headers['www-authenticate'].includes(challenge), answer.headers['www-authenticate']);
    assert.ok(!answer.text.includes(dev.token));
  }
  for (const authorization of ['Bearer', 'Basic ZGV2Og==', 'Digest x']) {
    assert.equal((await call(gw, undefined, { authorization })).status, 401, authorization);
  }
  for (const authorization of [`Bearer ${dev.token} x`, `Bearer "${dev.token}" x`]) {
    const answer = await call(gw, undefined, { authorization });
    assert.equal(answer.status, 400, authorization);
  }
  assert.equal(up.calls.length, 1, 'nothing of that reached the upstream');
  assert.equal(gw.decisions().length, 1, 'nor the ledger');
});

test('writ token new writes a token to a new private file, and its entry accepts it', async (t) => {
  const dir = mkdtempSync('/tmp/writ-token-');
  t.after(() => rmSync(dir, { recursive: true }));
  const file = `${dir}/token`;
  const made = JSON.parse(writ(['token', 'new', 'dev', '--file', file, '--json']).out);
  const token = readFileSync(file, 'utf8');
  assert.match(token, /^writ_[A-Za-z0-9_-]{43}$/);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(made, { agent: 'dev', bearer_sha256: sha256(token), file,
    entry: `{id: "dev", bearer_sha256: ${sha256(token)}}` });
  const again = writ(['token', 'new', 'dev', '--file', file]);
  assert.equal(again.code, 3);
  assert.match(again.err, /token: File exists/);
  assert.equal(readFileSync(file, 'utf8'), token, 'what is there stays');

  const shown = writ(['token', 'new', 'a "quoted" name']);
  const lines = shown.out.split('\n');
  assert.equal(lines[2], `  - {id: "a \\"quoted\\" name", bearer_sha256: ${sha256(lines[0].slice('token: '.length))}}`);
  for (const name of ['', 'x'.repeat(257), 'a\u202eb', 'two\nlines']) {
    assert.equal(writ(['token', 'new', name]).code, 2, JSON.stringify(name));
  }

  const { gw } = await setUp(t, [{ id: made.agent, bearer_sha256: made.bearer_sha256 }]);
  assert.equal((await call(gw, token)).status, 200);
  assert.equal((await call(gw, `${token}x`)).status, 401);
});

test('a JWT gives agent, tenant and role, by keys from a file', async (t) => {
  const issuer = new Issuer();
  const key = await issuer.addKey('k1');
  const dir = await import('node:fs').then((fs) => fs.mkdtempSync('/tmp/writ-jwks-'));
  t.after(() => import('node:fs').then((fs) => fs.rmSync(dir, { recursive: true })));
  writeFileSync(`${dir}/jwks.json`, JSON.stringify(issuer.jwks));
  const { up, gw } = await setUp(t, [issuer.entry(`${dir}/jwks.json`)]);
  assert.equal((await call(gw, await issuer.token(key, { realm: { role: 'boss' } }))).status, 200);
  const [decision] = gw.decisions();
  const record = gw.show(decision.decision_id).decision;
  assert.equal(record.agent_id, 'agent-7');
  assert.equal(record.agent_role, 'boss');
  assert.equal(record.extensions.writ.tenant, 'acme');
  assert.equal(up.calls[0].headers.authorization, undefined, 'the client\'s own token stays here');

  const stranger = await new Issuer().addKey('k1');
  const now = Math.floor(Date.now() / 1000);
  const refused = [
    await issuer.token(stranger),
    await issuer.token(key, { iss: 'https://issuer.example' }),
    await issuer.token(key, { aud: 'https://gateway.example/' }),
    await issuer.token(key, { aud: undefined }),
    await issuer.token(key, { exp: undefined }),
    await issuer.token(key, { exp: now - 60 }),
    await issuer.token(key, { exp: now + 10 * 86400 }),
    await issuer.token(key, { nbf: now + 60 }),
    await issuer.token(key, { sub: undefined }),
    await issuer.token(key, { org: undefined }),
    await issuer.token(key, { org: ['acme'] }),
    await issuer.token(key, {}, { kid: 'k2' }),
    await issuer.token(key, {}, { kid: undefined }),
    await issuer.token(key, {}, { typ: 'logout+jwt' }),
    await issuer.token(key, {}, { jku: 'http://127.0.0.1:1/' }),
    (await issuer.token(key)).replace(/\.[^.]*$/, '.'),
    `${Buffer.from('{"alg":"none","kid":"k1"}').toString('base64url')}.${(await issuer.token(key)).split('.')[1]}.`,
    await new jose.SignJWT({ iss: ISSUER, aud: AUDIENCE, sub: 'x', org: 'acme', exp: now + 60 })
      .setProtectedHeader({ alg: 'HS256', kid: 'k1' }).sign(new TextEncoder().encode(JSON.stringify(key.jwk))),
  ];
  for (const token of refused) {
    const answer = await call(gw, token);
    assert.equal(answer.status, 401, Buffer.from(token.split('.')[1], 'base64url').toString());
    assert.match(answer.headers['www-authenticate'], /error="invalid_token"/);
  }
  assert.equal(up.calls.length, 1);
  // a credential of Writ is not an identity
  assert.equal((await call(gw, up.calls[0].credential)).status, 401);
});

test('keys of a URL may be late, rotated or failing, and never come from another place', async (t) => {
  const issuer = await new Issuer().start(t);
  const key = await issuer.addKey('k1');
  let release;
  issuer.answer = (res) => { release = () => res.end(JSON.stringify(issuer.jwks)); };
  const { up, gw } = await setUp(t, [issuer.entry()]);
  await until(() => release, 'the first fetch');
  const early = await call(gw, await issuer.token(key));
  assert.equal(early.status, 503, 'without keys no token is judged');
  assert.equal((await gw.admin('/readyz')).status, 503);
  release();
  await until(async () => (await call(gw, await issuer.token(key))).status === 200, 'the keys to arrive');
  await until(async () => (await gw.admin('/readyz')).status === 200, 'readiness');
  assert.equal(issuer.last.headers.authorization, undefined);

  // a new key: its unknown kid causes one fetch of the set
  issuer.answer = (res) => res.end(JSON.stringify(issuer.jwks));
  const next = await issuer.addKey('k2');
  const before = issuer.fetches;
  await until(async () => (await call(gw, await issuer.token(next))).status === 200, 'the new key to be known');
  assert.equal(issuer.fetches, before + 1);
  assert.equal((await call(gw, await issuer.token(key))).status, 200, 'the key before still verifies');

  // invented kids cause no fetch, and while the URL fails the known keys serve
  issuer.answer = (res) => { res.writeHead(302, { location: 'http://127.0.0.1:1/elsewhere' }); res.end(); };
  for (let i = 0; i < 20; i++) {
    assert.equal((await call(gw, await issuer.token(key, {}, { kid: `made-up-${i}` }))).status, 401);
  }
  assert.equal(issuer.fetches, before + 1);
  assert.equal((await call(gw, await issuer.token(next))).status, 200);
  assert.ok(up.calls.length >= 4);
});

test('the upstream can verify its credential with the published keys', async (t) => {
  const dev = bearer('dev', { tenant: 'acme', role: 'operator' });
  const { up, gw } = await setUp(t, [dev.entry]);
  assert.equal((await call(gw, dev.token)).status, 200);
  const { credential, headers, meta } = up.calls[0];
  assert.equal(headers['writ-credential'], meta['io.writ/credential']);
  const published = await fetch(`${gw.origin}/.well-known/jwks.json`);
  assert.equal(published.status, 200);
  const text = await published.text();
  const iss = jose.decodeJwt(credential).iss;
  const { payload } = await jose.jwtVerify(credential, jose.createLocalJWKSet(JSON.parse(text)),
    { issuer: iss, audience: up.url, algorithms: ['ES256'], typ: 'writ-credential+jwt' });
  assert.equal(payload.sub, 'dev');
  assert.ok(payload.exp - payload.iat <= 60);

  write(gw.path('jwks.json'), text);
  write(gw.path('token'), credential);
  const judge = (change, ...args) => {
    write(gw.path('call.json'),
      JSON.stringify({ tool: 'note', arguments: { text: 'x' }, aud: up.url, iss, agent_id: 'dev', tenant: 'acme',
        target_state_digest: null, ...change }));
    return writ(['verify', 'credential', '--jwks', gw.path('jwks.json'), '--call', gw.path('call.json'), '--token',
      gw.path('token'), ...args]);
  };
  assert.deepEqual(judge({}).out, 'ok\n');
  assert.deepEqual(judge({ arguments: { text: 'y' } }).out, 'args_mismatch\n');
  assert.deepEqual(judge({ tool: 'up__note' }).out, 'scope_mismatch\n');
  assert.deepEqual(judge({}, '--at', `${payload.exp}`).out, 'expired\n');

  // after a rotation and a reload the new key signs, and earlier signatures still verify
  assert.equal(writ(['keys', 'rotate', '--dir', gw.path('keys')]).code, 0);
  await gw.reload(gw.config);
  await until(async () => {
    await call(gw, dev.token);
    return jose.decodeProtectedHeader(up.calls.at(-1).credential).kid !== jose.decodeProtectedHeader(credential).kid;
  }, 'the new key to sign');
  const both = jose.createLocalJWKSet(await (await fetch(`${gw.origin}/.well-known/jwks.json`)).json());
  for (const token of [credential, up.calls.at(-1).credential]) {
    await jose.jwtVerify(token, both, { issuer: iss, audience: up.url });
  }
});

test('a stream of events ends when its token expires', async (t) => {
  const issuer = new Issuer();
  const key = await issuer.addKey('k1');
  const dir = mkdtempSync('/tmp/writ-jwks-');
  t.after(() => rmSync(dir, { recursive: true }));
  writeFileSync(`${dir}/jwks.json`, JSON.stringify(issuer.jwks));
  const up = await startUpstream(t,
    { onGet: (req, res) => res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders() });
  const gw = await startGateway(t,
    { upstreams: { up: { http: up.url } }, tools: TOOLS, agents: [issuer.entry(`${dir}/jwks.json`)] });
  const now = Math.floor(Date.now() / 1000);
  // five seconds are forgiven
  const brief = await openSession(gw, { token: await issuer.token(key, { exp: now - 2 }) });
  const lasting = await openSession(gw, { token: await issuer.token(key) });
  const [ends, stays] = [await get(gw, brief), await get(gw, lasting)];
  assert.deepEqual([ends.status, stays.status], [200, 200]);
  await ends.done();
  assert.ok(Date.now() / 1000 >= now + 3, 'not before its end');
  assert.ok(!stays.ended && !stays.cut);
  assert.equal((await get(gw, brief)).status, 401);
  stays.leave();
});
