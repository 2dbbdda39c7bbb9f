// The gateway as a protected resource of OAuth 2.1, with a real authorization server and the SDKs' own
// clients: discovery, tokens, audiences, scopes, step-up.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { ANYBODY, bearer, startGateway, until } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { AuthServer, browse, machine } from '../support/servers/authserver.mjs';
import { Caller } from '../support/js/rpc.mjs';
import { sdk1, sdk2 } from '../support/npm/peers.mjs';

const TOOLS = {
  'up/read': { scope: 'r', duplicates: 'allow', arguments: [{ arg: '', op: 'type', value: 'any' }] },
  'up/write': { scope: 'w', scopes: ['files:write'], duplicates: 'allow',
    arguments: [{ arg: '', op: 'type', value: 'any' }] },
  'other/read': { scope: 'o', scopes: ['files:read'], duplicates: 'allow',
    arguments: [{ arg: '', op: 'type', value: 'any' }] },
};

/** An authorization server, and a gateway that has learnt under which URL it is reached. */
async function setUp(t, { server = {}, entry = {}, agents = [], more = {} } = {}) {
  const as = await new AuthServer({ clients: [machine()], ...server }).start(t);
  const up = await startUpstream(t);
  const other = await startUpstream(t);
  const config = { upstreams: { up: { http: up.url }, other: { http: other.url } }, tools: TOOLS, agents, ...more };
  const gw = await startGateway(t, config);
  const jwt = { issuer: as.issuer, required_scopes: ['mcp'], ...entry };
  const line = await gw.reload({ ...gw.config, public_url: gw.origin, agents: [jwt, ...agents] });
  assert.equal(line.event, 'reloaded', JSON.stringify(line));
  await until(async () => (await gw.admin('/readyz')).status === 200, 'the keys of the issuer');
  return { as, up, other, gw };
}

const call = (gw, token, tool = 'up__read', path = '/mcp', headers = {}) =>
  new Caller(gw, { token, path }).call(tool, {}, { headers });

/** A challenge as { scheme, error, scope, ... }. */
function challenge(answer) {
  const text = answer.headers['www-authenticate'];
  assert.match(text, /^Bearer /);
  return Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
}

test('every endpoint publishes its metadata and its authorization servers', async (t) => {
  const { as, gw } = await setUp(t);
  const known = `${gw.origin}/.well-known/oauth-protected-resource`;
  const rows = [
    ['', '/mcp', ['mcp', 'files:write', 'files:read']], ['/mcp', '/mcp', ['mcp', 'files:write', 'files:read']],
    ['/mcp/up', '/mcp/up', ['mcp', 'files:write']], ['/mcp/other', '/mcp/other', ['mcp', 'files:read']],
  ];
  for (const [suffix, path, scopes] of rows) {
    const answer = await fetch(known + suffix, { headers: { origin: 'https://app.example' } });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'application/json');
    assert.equal(answer.headers.get('access-control-allow-origin'), '*');
    assert.deepEqual(await answer.json(), {
      resource: gw.origin + path, authorization_servers: [as.issuer], scopes_supported: scopes,
      bearer_methods_supported: ['header'],
    });
  }
  for (const suffix of ['/', '/mcp/', '/mcp/nobody', 'x', '/mcp/up/..']) {
    assert.equal((await fetch(known + suffix)).status, 404, suffix);
  }
  const ask = await fetch(`${known}/mcp`,
    { method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-headers': 'mcp-protocol-version' } });
  assert.equal(ask.status, 204);
  assert.equal(ask.headers.get('access-control-allow-origin'), '*');
  assert.match(ask.headers.get('access-control-allow-headers'), /mcp-protocol-version/i);
  const post = await fetch(`${known}/mcp`, { method: 'POST' });
  assert.equal(post.status, 405);
  assert.equal(post.headers.get('allow'), 'GET, OPTIONS');
});

test('without announcement the well-known paths answer 404', async (t) => {
  const gw = await startGateway(t, { upstreams: { up: { http: 'http://127.0.0.1:9/mcp' } }, agents: [ANYBODY] });
  assert.equal((await fetch(`${gw.origin}/.well-known/oauth-protected-resource/mcp`)).status, 404);
});

test('a challenge names the metadata, the scopes and the fault, and no value', async (t) => {
  const { as, up, gw } = await setUp(t, { agents: [bearer('dev').entry] });
  const metadata = (path) => `${gw.origin}/.well-known/oauth-protected-resource${path}`;
  for (const path of ['/mcp', '/mcp/up', '/mcp/other']) {
    const answer = await call(gw, undefined, 'read', path);
    assert.equal(answer.status, 401);
    assert.deepEqual(challenge(answer), { realm: 'writ', resource_metadata: metadata(path), scope: 'mcp' });
  }
  const token = await as.token(`${gw.origin}/mcp`);
  assert.equal((await call(gw, token)).status, 200);
  const faults = [
    [await as.token(`${gw.origin}/mcp/up`), 'the token is for another audience'],
    [await as.token('https://elsewhere.example/mcp'), 'the token is for another audience'],
    [`${token.slice(0, -4)}AAAA`, 'the signature of the token is not valid'],
    ['opaque', 'the token is not accepted'],
    [`${'x'.repeat(7000)}`, 'the token is not accepted'],
  ];
  for (const [bad, description] of faults) {
    const answer = await call(gw, bad);
    assert.equal(answer.status, 401, description);
    assert.deepEqual(challenge(answer), { realm: 'writ', error: 'invalid_token', error_description: description,
      resource_metadata: metadata('/mcp'), scope: 'mcp' });
    assert.ok(!answer.text.includes('elsewhere'));
  }
  // in the header only, and once
  const question = await fetch(`${gw.url}?access_token=${token}`,
    { method: 'POST', headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' });
  assert.equal(question.status, 401);
  assert.equal((await call(gw, undefined, 'up__read', '/mcp',
    { authorization: [`Bearer ${token}`, `Bearer ${token}`] })).status, 400);
  assert.equal(up.calls.length, 1);
});

test('a token is valid for one endpoint, also when cached', async (t) => {
  const { as, up, other, gw } = await setUp(t, { entry: { required_scopes: undefined } });
  const all = await as.token(`${gw.origin}/mcp`);
  const one = await as.token(`${gw.origin}/mcp/up`);
  for (let round = 0; round < 2; round++) {
    assert.equal((await call(gw, all)).status, 200);
    assert.equal((await call(gw, one, 'read', '/mcp/up')).status, 200);
    assert.equal((await call(gw, one)).status, 401);
    assert.equal((await call(gw, all, 'read', '/mcp/up')).status, 401);
    assert.equal((await call(gw, one, 'read', '/mcp/other')).status, 401);
  }
  assert.equal(up.calls.length, 4);
  assert.equal(other.calls.length, 0);
});

test('the gateway requires the scopes of the endpoint and of the tool', async (t) => {
  const dev = bearer('dev', { scopes: ['files:write'] }), guest = bearer('guest');
  const { as, up, gw } = await setUp(t, { agents: [dev.entry, guest.entry] });
  const resource = `${gw.origin}/mcp`;
  const metadata = `${gw.origin}/.well-known/oauth-protected-resource/mcp`;

  const narrow = await call(gw, await as.token(resource, 'files:write'));
  assert.equal(narrow.status, 403);
  assert.deepEqual(challenge(narrow),
    { realm: 'writ', error: 'insufficient_scope', error_description: 'the token lacks a scope that is needed here',
      resource_metadata: metadata, scope: 'mcp files:write' });
  assert.equal(narrow.refusal.reason, 'insufficient_scope');
  assert.equal(gw.decisions().length, 0);

  const refused = await call(gw, await as.token(resource, 'mcp files:read'), 'up__write');
  assert.equal(refused.status, 403);
  assert.deepEqual(challenge(refused),
    { realm: 'writ', error: 'insufficient_scope', error_description: 'the token lacks a scope that the tool needs',
      resource_metadata: metadata, scope: 'mcp files:write files:read' });
  assert.equal(refused.refusal.reason, 'insufficient_scope');
  const [decision] = gw.decisions();
  assert.equal(decision.decision, 'deny');
  assert.equal(refused.refusal.decision_id, decision.decision_id);
  assert.equal(gw.show(decision.decision_id).decision.extensions.writ.reason, 'insufficient_scope');
  assert.equal(up.calls.length, 0);

  assert.equal((await call(gw, await as.token(resource, 'mcp files:write'), 'up__write')).error, undefined);
  // a static token has the scopes of the file, and no issuer for more
  assert.equal((await call(gw, dev.token, 'up__write')).error, undefined);
  const told = await call(gw, guest.token, 'up__write');
  assert.equal(told.status, 200);
  assert.equal(told.refusal.reason, 'insufficient_scope');
  assert.equal(told.refusal.accepted, 'a token with files:write');
  assert.equal(up.calls.length, 2);
});

/** An OAuthClientProvider of the SDK, without a person at a browser. */
class Unattended {
  constructor(scope) {
    this.scope = scope;
    this.redirectUrl = 'http://127.0.0.1:1/callback';
    this.flows = 0;
  }

  get clientMetadata() {
    return { client_name: 'test', redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'],
      token_endpoint_auth_method: 'none', application_type: 'native' };
  }

  clientInformation() { return this.client; }
  saveClientInformation(client) { this.client = client; }
  tokens() { return this.kept; }
  saveTokens(tokens) { this.kept = tokens; }
  saveCodeVerifier(verifier) { this.verifier = verifier; }
  codeVerifier() { return this.verifier; }
  saveDiscoveryState(state) { this.discovered = state; }
  discoveryState() { return this.discovered; }
  invalidateCredentials(what) { if (what !== 'verifier') this.kept = undefined; }

  async redirectToAuthorization(url) {
    this.flows++;
    this.asked = Object.fromEntries(url.searchParams);
    this.code = (await browse(url, this.redirectUrl)).searchParams;
    assert.ok(this.code.get('code'), String(this.code));
  }
}

const sdks = {
  async v1(url, provider) {
    const { Client, StreamableHTTPClientTransport } = await sdk1();
    return { client: new Client({ name: 't', version: '1' }),
      transport: new StreamableHTTPClientTransport(new URL(url), { authProvider: provider }) };
  },
  async v2(url, provider) {
    const { Client, StreamableHTTPClientTransport } = await sdk2();
    return { client: new Client({ name: 't', version: '1' }),
      transport: new StreamableHTTPClientTransport(new URL(url), { authProvider: provider }) };
  },
};

/** Runs `what`; if the SDK requires a login, completes it and runs it again. */
async function withLogin(transport, provider, what) {
  const flows = provider.flows;
  try {
    return await what();
  } catch (error) {
    if (provider.flows === flows || !provider.code.get('code')) throw error;
    await transport.finishAuth(provider.code.get('code'), provider.code.get('iss'));
    return what();
  }
}

for (const [name, make] of Object.entries(sdks)) {
  test(`the SDK's own OAuth flow, unattended: ${name}`, async (t) => {
    const { as, up, gw } = await setUp(t);
    const provider = new Unattended();
    let { client, transport } = await make(gw.url, provider);
    await withLogin(transport, provider, async () => {
      if (provider.flows > 0) ({ client, transport } = await make(gw.url, provider)); // a transport starts once
      return client.connect(transport);
    });
    assert.equal(provider.flows, 1);
    assert.equal(provider.asked.resource, gw.url, 'RFC 8707, from our metadata');
    assert.equal(provider.asked.scope, 'mcp', 'from our challenge');
    assert.equal(provider.asked.code_challenge_method, 'S256');
    assert.ok(provider.client.client_id, 'registered');
    assert.equal((await client.callTool({ name: 'up__read', arguments: {} })).isError ?? false, false);
    const first = provider.kept.access_token;

    as.options.ttl = 1; // which ends with the gateway's forgiveness of 5 s
    // step-up: the tool requires more than the token has; v1 would refresh its token for ever
    if (name === 'v1') delete provider.kept.refresh_token;
    await withLogin(transport, provider, () => client.callTool({ name: 'up__write', arguments: {} }));
    assert.equal(provider.flows, 2);
    assert.deepEqual(provider.asked.scope.split(' ').sort(), ['files:write', 'mcp']);
    const second = provider.kept.access_token;
    assert.notEqual(second, first);
    assert.equal(up.calls.length, 2);

    // after its end the token is refreshed, without a person
    as.options.ttl = 300;
    const refreshes = () => as.requests.filter((r) => r.form.grant_type === 'refresh_token').length;
    const before = refreshes();
    await until(async () => {
      await client.callTool({ name: 'up__write', arguments: {} });
      await new Promise((r) => setTimeout(r, 250));
      return refreshes() > before;
    }, 'the token to end and to be refreshed', 40_000);
    assert.equal(provider.flows, 2);
    for (const arrival of up.requests) assert.equal(arrival.headers.authorization, undefined);
    for (const entry of gw.decisions()) assert.equal(gw.show(entry.decision_id).decision.agent_id, 'agent-7');
    await client.close();
  });
}
