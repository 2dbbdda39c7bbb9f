// authserver.mjs - a real authorization server (oidc-provider) for one test: resource indicators, JWT
// access tokens (RFC 9068), PKCE, dynamic registration, client credentials. A browser that opens its
// interaction is logged in and agrees to everything, so that flows run unattended.
import http from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const npm = createRequire(new URL('../npm/package.json', import.meta.url));
const load = (name) => import(pathToFileURL(npm.resolve(name)));
const jose = await load('jose');

export class AuthServer {
  /** Options: clients (pre-registered ones), scopes, ttl (seconds of an access token). */
  constructor(options = {}) {
    this.options = { clients: [], scopes: ['mcp', 'files:read', 'files:write'], ttl: 300, ...options };
    this.requests = []; // { method, path, form } of every request
    this.answer = undefined; // (req, res, path) => true: answers in place of the server
  }

  async start(t) {
    const { default: Provider } = await load('oidc-provider');
    this.server = http.createServer((req, res) => this.#serve(req, res));
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    t.after(() => { this.server.closeAllConnections(); this.server.close(); });
    this.issuer = `http://127.0.0.1:${this.server.address().port}`;
    const { privateKey } = await jose.generateKeyPair('ES256', { extractable: true });
    const jwk = { ...await jose.exportJWK(privateKey), kid: 'as-1', alg: 'ES256', use: 'sig' };
    this.provider = new Provider(this.issuer, this.#configuration(jwk));
    this.handler = this.provider.callback();
    return this;
  }

  #configuration(jwk) {
    const { clients, scopes } = this.options;
    return {
      clients,
      scopes,
      jwks: { keys: [jwk] },
      cookies: { keys: ['test'] },
      pkce: { required: () => true },
      clientDefaults: { id_token_signed_response_alg: 'ES256' },
      issueRefreshToken: async () => true,
      ttl: { AccessToken: () => this.options.ttl, ClientCredentials: () => this.options.ttl, Grant: 3600,
        Interaction: 600, RefreshToken: 3600, Session: 3600 },
      interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
      findAccount: async (_, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
      features: {
        devInteractions: { enabled: false },
        registration: { enabled: true },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          defaultResource: async () => undefined,
          useGrantedResource: async () => true,
          getResourceServerInfo: async (_, resource) => ({
            scope: scopes.join(' '), audience: resource, accessTokenFormat: 'jwt',
            accessTokenTTL: this.options.ttl, jwt: { sign: { alg: 'ES256' } },
          }),
        },
      },
    };
  }

  async #serve(req, res) {
    const url = new URL(req.url, this.issuer);
    const chunks = [];
    if (req.method === 'POST' && /token|reg/.test(url.pathname)) {
      for await (const chunk of req) chunks.push(chunk);
      req.body = Buffer.concat(chunks).toString(); // read here, so that it can be looked at
    }
    const form = new URLSearchParams(req.body ?? url.search);
    this.requests.push({ method: req.method, path: url.pathname, form: Object.fromEntries(form),
      authorization: req.headers.authorization });
    if (this.answer?.(req, res, url.pathname)) return;
    if (url.pathname.startsWith('/interaction/')) await this.#agree(req, res);
    else {
      if (req.body !== undefined) req.body = /json/.test(req.headers['content-type'])
        ? JSON.parse(req.body) : Object.fromEntries(form);
      // the SDK registers with the scopes of its first challenge; here it may ask for others later
      if (url.pathname === '/reg') delete req.body.scope;
      this.handler(req, res);
    }
  }

  /** Logs `agent-7` in and grants the requested scopes. */
  async #agree(req, res) {
    const { prompt, params, session, grantId } = await this.provider.interactionDetails(req, res);
    if (prompt.name === 'login') {
      await this.provider.interactionFinished(req, res, { login: { accountId: 'agent-7' } },
        { mergeWithLastSubmission: false });
      return;
    }
    const grant = grantId ? await this.provider.Grant.find(grantId)
      : new this.provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    const { missingOIDCScope, missingResourceScopes } = prompt.details;
    if (missingOIDCScope) grant.addOIDCScope(missingOIDCScope.join(' '));
    for (const [resource, scopes] of Object.entries(missingResourceScopes ?? {}))
      grant.addResourceScope(resource, scopes.join(' '));
    await this.provider.interactionFinished(req, res, { consent: { grantId: await grant.save() } },
      { mergeWithLastSubmission: true });
  }

  /** How often this path was requested. */
  count(path) {
    return this.requests.filter((r) => r.path === path).length;
  }

  /** A token by client credentials, for a resource. */
  async token(resource, scope = 'mcp', client = this.options.clients[0]) {
    const answer = await fetch(`${this.issuer}/token`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${client.client_id}:${client.client_secret}`).toString('base64')}`,
      },
      body: new URLSearchParams({ grant_type: 'client_credentials', resource, scope }),
    });
    const body = await answer.json();
    if (!answer.ok) throw new Error(`token: ${answer.status} ${JSON.stringify(body)}`);
    return body.access_token;
  }
}

/** A client that gets tokens for itself. */
export const machine = (id = 'machine', rest = {}) => ({
  client_id: id, client_secret: `secret-of-${id}`, grant_types: ['client_credentials'], redirect_uris: [],
  response_types: [],
  token_endpoint_auth_method: 'client_secret_basic', scope: 'mcp files:read files:write', ...rest,
});

/** What a browser would do: follows an authorization URL until it leads to `redirect`; gives that URL. */
export async function browse(url, redirect) {
  const jar = new Map();
  for (let at = String(url), n = 0; n < 20; n++) {
    if (at.startsWith(redirect)) return new URL(at);
    const answer = await fetch(at,
      { redirect: 'manual', headers: { cookie: [...jar].map(([k, v]) => `${k}=${v}`).join('; ') } });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie);
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    const next = answer.headers.get('location');
    if (next === null) throw new Error(`${at}: ${answer.status} ${await answer.text()}`);
    at = new URL(next, at).href;
  }
  throw new Error('the authorization leads nowhere');
}
