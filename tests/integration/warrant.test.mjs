// Callers and tool servers: tokens of agents on the way in, the credential of the call on the way out. The other side
// of both is npm's jose.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import http from 'node:http';
import { bearer, startGateway, until, writ, writeFileSync } from '../support/js/gateway.mjs';
import { jose as load } from '../support/npm/peers.mjs';
import { Caller, openSession, send } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const jose = await load();
const ARGUMENTS = [{ arg: 'amount', op: 'type', value: 'number' },
  { arg: 'to', op: 'type', value: 'string', optional: true }];
const TOOLS = { 'up/pay': { scope: 'pay/{amount}', arguments: ARGUMENTS } };

function digest(value) {
  const run = writ(['json', 'digest'], { input: JSON.stringify(value) });
  assert.equal(run.code, 0, run.err);
  return run.out.trim();
}

const published = async (gw) => (await send(gw.origin, { method: 'GET', path: '/.well-known/jwks.json' })).message;

// ---- out: the credential

test('a tool server verifies the credential with the published keys, and every claim is of this call', async (t) => {
  const who = bearer('agent-7',
    { tenant: 'acme', role: 'operator', credential_scope: 'payments', credential_tier: 'gold' });
  const up = await startUpstream(t);
  const gw = await startGateway(t,
    { agents: [who.entry], issuer: 'https://gateway.example', upstreams: { up: { http: up.url } }, tools: TOOLS,
      credential: { lifetime: '30s' } });
  const verified = [];
  up.onCall = async (a) => { // as a tool server would: before it does anything
    const keys = jose.createRemoteJWKSet(new URL(`${gw.origin}/.well-known/jwks.json`));
    const { payload, protectedHeader } = await jose.jwtVerify(a.credential, keys,
      { issuer: 'https://gateway.example', audience: up.url, algorithms: ['ES256'], typ: 'writ-credential+jwt',
        requiredClaims: ['exp', 'jti', 'sub'] });
    assert.equal(payload.params_hash, digest(a.arguments), 'the arguments are those that were judged');
    verified.push({ payload, protectedHeader });
    a.text('verified');
  };
  const s = await openSession(gw, { token: who.token });
  const state = `sha256:${'cd'.repeat(32)}`;
  assert.equal((await s.call('up__pay', { to: 'Zoé 漢 🎉', amount: 12.50 },
    { key: 'k-1', boundary: 'run-1', state })).said, 'verified');
  const [{ payload: p, protectedHeader }] = verified;
  assert.deepEqual(Object.keys(protectedHeader).sort(), ['alg', 'kid', 'typ']);
  const { keys: [key] } = await published(gw);
  assert.equal(protectedHeader.kid, key.kid);
  assert.equal(await jose.calculateJwkThumbprint(key), key.kid, 'RFC 7638');
  assert.deepEqual(Object.keys(key).sort(), ['alg', 'crv', 'kid', 'kty', 'nbf', 'use', 'x', 'y'], 'nothing private');
  const { decision } = gw.show(p.jti);
  assert.equal(p.exp - p.iat, 30);
  assert.equal(p.nbf, p.iat);
  assert.equal(p.sub, 'agent-7');
  assert.equal(p.tenant, 'acme');
  assert.deepEqual(p.authorization_details,
    [{ type: 'mcp_tool_call', tool: 'pay', locations: [up.url], params_hash: p.params_hash }]);
  assert.deepEqual([p.jti, p.idempotency_key, p.boundary_id, p.target_state_digest, p.continuation_id,
    p.normalized_scope, p.seq], [p.decision_id, 'k-1', 'run-1', state, null, 'pay/12.5', 0]);
  for (const name of ['decision_id', 'intent_ref', 'intent_digest', 'params_hash', 'target_state_digest',
      'normalized_scope', 'continuation_id', 'idempotency_key', 'boundary_id', 'seq', 'policy_digest', 'receipt_ref',
      'decision_context_hash']) {
    assert.deepEqual(p[name], decision[name] ?? null, name);
  }
  assert.equal(p.intent_digest,
    digest({ agent_id: 'agent-7', tool: 'pay', params_hash: p.params_hash, target_state_digest: state }));
  assert.equal(p.intent_ref,
    digest({ agent_id: 'agent-7', tool: 'pay', normalized_scope: 'pay/12.5', intent_digest: p.intent_digest }));
  assert.equal(p.receipt_ref,
    digest({ agent_id: 'agent-7', tool: 'pay', normalized_scope: 'pay/12.5', intent_digest: p.intent_digest,
      issued_at: decision.issued_at }));
  assert.equal(p.decision_context_hash, digest({
    agent_id: 'agent-7', tool: 'pay', params_hash: p.params_hash, intent_digest: p.intent_digest, seq: 0,
    retrieved_policy_refs: decision.retrieved_policy_refs, policy_digest: p.policy_digest,
    credential_scope: 'payments', credential_tier: 'gold', expires_at: decision.expires_at,
    revalidate_if: decision.revalidate_if,
  }));

  // writ's own verifier agrees, and names the difference
  writeFileSync(gw.path('jwks.json'), JSON.stringify(await published(gw)));
  writeFileSync(gw.path('token'), up.calls[0].credential);
  const check = (change) => {
    writeFileSync(gw.path('call.json'),
      JSON.stringify({ tool: 'pay', arguments: up.calls[0].arguments, aud: up.url, iss: 'https://gateway.example',
        agent_id: 'agent-7', tenant: 'acme', target_state_digest: state, ...change }));
    return writ(['verify', 'credential', '--jwks', gw.path('jwks.json'), '--call', gw.path('call.json'), '--token',
      gw.path('token')]).out.trim();
  };
  assert.equal(check({}), 'ok');
  assert.equal(check({ arguments: { ...up.calls[0].arguments, amount: 12.51 } }), 'args_mismatch');
  assert.equal(check({ tool: 'Pay' }), 'scope_mismatch');
  assert.equal(check({ tenant: 'other' }), 'scope_mismatch');
  assert.equal(check({ aud: 'urn:other' }), 'wrong_audience');
  assert.equal(check({ target_state_digest: null }), 'state_drift');
});

test('the credential is sent only where the configuration says', async (t) => {
  const [plain, headed] = [await startUpstream(t), await startUpstream(t)];
  const gw = await startGateway(t, {
    upstreams: { a: { http: plain.url, credential: { meta: false } },
      b: { http: headed.url, credential: { header: 'X-Warrant' }, resource: 'urn:b' } },
    tools: { 'a/*': { scope: 's', duplicates: 'allow' }, 'b/*': { scope: 's', duplicates: 'allow' } },
  });
  const s = await openSession(gw);
  await s.call('a__x', undefined, { meta: { 'io.writ/credential': 'forged', mine: 1 } });
  await s.call('b__x', {}, { headers: { 'x-warrant': 'forged', 'writ-credential': 'forged' } });
  assert.deepEqual(plain.calls[0].meta, { mine: 1 });
  assert.ok(jose.decodeJwt(plain.calls[0].headers['writ-credential']));
  assert.equal(headed.calls[0].headers['writ-credential'], undefined);
  assert.equal(headed.calls[0].headers['x-warrant'], headed.calls[0].meta['io.writ/credential']);
  assert.equal(jose.decodeJwt(headed.calls[0].headers['x-warrant']).aud, 'urn:b');
  // ungoverned requests carry none
  for (const upstream of [plain, headed]) {
    for (const a of upstream.arrivals.filter((x) => x.method !== 'tools/call'))
      assert.equal(a.headers['writ-credential'] ?? a.headers['x-warrant'] ?? a.meta?.['io.writ/credential'], undefined,
        a.method);
  }
});

test('after a rotation the new key signs and the old one verifies until it is retired', async (t) => {
  const up = await startUpstream(t);
  const gw = await startGateway(t,
    { upstreams: { up: { http: up.url } }, tools: { 'up/pay': { scope: 's', duplicates: 'allow' } } });
  const s = await openSession(gw);
  const kidOf = (call) => jose.decodeProtectedHeader(call.credential).kid;
  const kids = async () => (await published(gw)).keys.map((k) => k.kid);
  await s.call('up__pay');
  const first = kidOf(up.calls[0]);
  assert.deepEqual(await kids(), [first]);
  const keys = (...args) => {
    const run = writ(['keys', ...args, '--dir', gw.path('keys')]);
    assert.equal(run.code, 0, run.err);
  };
  keys('rotate');
  assert.equal((await gw.reload(gw.config)).event, 'reloaded');
  await until(async () => (await kids()).length === 2, 'the new key to be published');
  await s.call('up__pay');
  const second = kidOf(up.calls[1]);
  assert.notEqual(second, first);
  const both = jose.createLocalJWKSet(await published(gw));
  for (const call of up.calls) await jose.jwtVerify(call.credential, both);
  keys('retire', '--kid', first);
  keys('rotate', '--alg', 'EdDSA');
  await gw.reload(gw.config);
  await until(async () => !(await kids()).includes(first), 'the old key to be gone');
  await s.call('up__pay');
  assert.equal(jose.decodeProtectedHeader(up.calls[2].credential).alg, 'EdDSA');
  const now = jose.createLocalJWKSet(await published(gw));
  await jose.jwtVerify(up.calls[2].credential, now);
  await jose.jwtVerify(up.calls[1].credential, now);
  await assert.rejects(jose.jwtVerify(up.calls[0].credential, now), 'retired verifies nothing');
});

// ---- in: callers

async function issuer(alg = 'ES256') {
  const { publicKey, privateKey } = await jose.generateKeyPair(alg, { extractable: true });
  const kid = await jose.calculateJwkThumbprint(await jose.exportJWK(publicKey));
  const jwk = { ...(await jose.exportJWK(publicKey)), kid, alg, use: 'sig' };
  const sign = (claims, { header = {}, key = privateKey } = {}) =>
    new jose.SignJWT(claims).setProtectedHeader({ alg, kid, typ: 'JWT', ...header }).sign(key);
  return { jwk, kid, sign, privateKey, publicKey, alg };
}

const now = () => Math.floor(Date.now() / 1000);
const CLAIMS = () =>
  ({ iss: 'https://login.example', aud: 'https://gateway.example', sub: 'ada', exp: now() + 300, iat: now(),
    org: { tenant: 'acme' }, roles: 'operator' });

test('an agent authenticates with a token of its issuer, and the claims name it', async (t) => {
  const idp = await issuer();
  const up = await startUpstream(t);
  const gw = await startGateway(t, {
    agents: [{ issuer: 'https://login.example', audience: 'https://gateway.example', jwks: 'idp.json', role: 'guest',
      claims: { tenant: '/org/tenant', role: 'roles' } }],
    upstreams: { up: { http: up.url } },
    tools: { 'up/pay': { ...TOOLS['up/pay'], roles: ['operator'], tenants: ['acme'] } },
  }, { prepare: (dir) => writeFileSync(`${dir}/idp.json`, JSON.stringify({ keys: [idp.jwk] })) });
  const ask = async (token, n) => new Caller(gw, { token }).call('up__pay', { amount: n });
  assert.ok((await ask(await idp.sign(CLAIMS()), 1)).result);
  const claims = jose.decodeJwt(up.calls[0].credential);
  assert.deepEqual([claims.sub, claims.tenant], ['ada', 'acme']);
  assert.equal(gw.show(claims.jti).decision.agent_role, 'operator');
  const { roles, ...guest } = CLAIMS();
  assert.equal((await ask(await idp.sign(guest), 2)).reason, 'agent_not_permitted',
    'what no claim says is the entry\'s own');
  assert.equal((await ask(await idp.sign({ ...CLAIMS(), aud: ['x', 'https://gateway.example'] }), 3)).said, 'ran 2');

  const other = await issuer();
  const secret = new TextEncoder().encode(JSON.stringify(idp.jwk));
  const good = await idp.sign(CLAIMS());
  const [h, p, sig] = good.split('.');
  const hs = await new jose.SignJWT(CLAIMS()).setProtectedHeader({ alg: 'HS256', kid: idp.kid }).sign(secret);
  const hsPem = await new jose.SignJWT(CLAIMS()).setProtectedHeader({ alg: 'HS256', kid: idp.kid })
    .sign(new TextEncoder().encode(await jose.exportSPKI(idp.publicKey)));
  const b64 = (o) => Buffer.from(JSON.stringify(o)).toString('base64url');
  const bad = {
    'another audience': await idp.sign({ ...CLAIMS(), aud: 'https://gateway.example/' }),
    'no audience': await idp.sign({ ...CLAIMS(), aud: undefined }),
    'another issuer': await idp.sign({ ...CLAIMS(), iss: 'https://login.example/' }),
    expired: await idp.sign({ ...CLAIMS(), exp: now() - 10 }),
    'no end': await idp.sign({ ...CLAIMS(), exp: undefined }),
    'not yet': await idp.sign({ ...CLAIMS(), nbf: now() + 60 }),
    'a life of years': await idp.sign({ ...CLAIMS(), exp: now() + 5 * 365 * 86400 }),
    'no subject': await idp.sign({ ...CLAIMS(), sub: undefined }),
    'an empty subject': await idp.sign({ ...CLAIMS(), sub: '' }),
    'a number for a subject': await idp.sign({ ...CLAIMS(), sub: 7 }),
    'another key': await other.sign(CLAIMS()),
    'another key under its name': await other.sign(CLAIMS(), { header: { kid: idp.kid } }),
    'HS256 with the JWK': hs, 'HS256 with the PEM': hsPem, none: `${b64({ alg: 'none', kid: idp.kid })}.${p}.`,
    'no signature': `${h}.${p}.`,
    'a changed payload': `${h}.${b64({ ...CLAIMS(), sub: 'eve' })}.${sig}`,
    'one bit': `${h}.${p}.${sig.slice(0, -2)}${sig.at(-2) === 'A' ? 'B' : 'A'}${sig.at(-1)}`,
    'trailing bytes': `${good}A`, 'four parts': `${good}.x`, 'padded': `${h}.${p}.${sig}==`,
    jku: await idp.sign(CLAIMS(), { header: { jku: 'http://127.0.0.1:1/' } }),
    crit: `${b64({ alg: 'ES256', kid: idp.kid, crit: ['x'], x: 1 })}.${p}.${sig}`,
    'too long': `${h}.${p}${'A'.repeat(9000)}.${sig}`, words: 'let me in',
  };
  const n = up.calls.length;
  for (const [what, token] of Object.entries(bad)) {
    const answer = await ask(token, 100);
    assert.equal(answer.status, what === 'words' ? answer.status : 401, `${what}: ${answer.status} ${answer.text}`);
    assert.ok(answer.status === 401 || answer.status === 400, what);
    if (answer.status === 401) assert.match(answer.headers['www-authenticate'], /^Bearer/);
    assert.equal(up.calls.length, n, what);
  }
  for (const authorization of ['Basic YTpi', 'Bearer', 'Bearer  ', `bearer-ish ${good}`, `Bearer ${good} ${good}`, good,
      `Bearer ${good}, Bearer ${good}`]) {
    const answer = await new Caller(gw).call('up__pay', { amount: 100 }, { headers: { authorization } });
    assert.ok(answer.status === 401 || answer.status === 400, `${authorization.slice(0, 20)}: ${answer.status}`);
  }
  assert.equal(up.calls.length, n);
  assert.ok(!gw.logText.includes(sig), 'no token in the log');
});

test('keys of an issuer come from its URL, and the last ones serve while it is down', async (t) => {
  const idp = await issuer();
  const next = await issuer();
  let keys = [idp.jwk];
  let hits = 0;
  const web = http.createServer((req, res) => {
    hits++;
    res.setHeader('content-type', 'application/json').end(JSON.stringify({ keys }));
  });
  await new Promise((resolve) => web.listen(0, '127.0.0.1', resolve));
  t.after(() => { web.closeAllConnections(); web.close(); });
  const up = await startUpstream(t);
  const gw = await startGateway(t, {
    agents: [{ issuer: 'https://login.example', audience: 'https://gateway.example',
      jwks: `http://127.0.0.1:${web.address().port}/jwks` }], upstreams: { up: { http: up.url } }, tools: TOOLS,
  });
  const ask = async (token, amount) => new Caller(gw, { token }).call('up__pay', { amount });
  const token = await idp.sign(CLAIMS());
  await until(async () => (await ask(token, 1)).status === 200, 'the keys to be there');
  web.closeAllConnections();
  await new Promise((resolve) => web.close(resolve));
  assert.ok((await ask(token, 2)).result);
  assert.ok((await ask(await idp.sign({ ...CLAIMS(), sub: 'bob' }), 3)).result, 'also for a token that is new');
  assert.ok([401, 503].includes((await ask(await next.sign(CLAIMS()), 4)).status),
    'a key that is not known verifies nothing');
  assert.equal(up.calls.length, 3);
  assert.ok(hits >= 1 && hits < 10, `${hits} fetches`);
});

test('without a configured issuer the issuer is the bound address, also after a reload', async (t) => {
  const up = await startUpstream(t);
  const gw = await startGateway(t,
    { upstreams: { up: { http: up.url } }, tools: { 'up/x': { scope: 's', duplicates: 'allow' } } });
  const s = await openSession(gw);
  const issuer = () => JSON.parse(Buffer.from(up.calls.at(-1).credential.split('.')[1], 'base64url')).iss;
  await s.call('up__x');
  assert.equal(issuer(), gw.origin);
  assert.equal((await gw.reload(gw.config)).event, 'reloaded');
  await s.call('up__x');
  assert.equal(issuer(), gw.origin);
  assert.equal((await gw.reload({ ...gw.config, issuer: 'https://writ.example' })).event, 'reloaded');
  await s.call('up__x');
  assert.equal(issuer(), 'https://writ.example');
});
