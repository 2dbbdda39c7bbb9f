// The page on which people decide, in a headless Chromium, against the real gateway: by keyboard, with
// hostile texts, from hostile origins. WRIT_SCREENSHOTS=FOLDER makes the pictures of docs/page.md.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { request } from 'node:https';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bearer, SOURCE, startGateway, until, writ } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { rows } from '../support/js/tables.mjs';
import { KEY, startBrowser } from '../support/js/browser.mjs';
import { SKIP, enter, faults, picture } from '../support/js/page.mjs';

const npm = createRequire(new URL('../support/npm/package.json', import.meta.url));
const jose = await import(pathToFileURL(npm.resolve('jose')));

const DEV = bearer('dev', { tenant: 'acme', subject: 'alice' });
const ANN = bearer('ann', { tenant: 'acme' });
const BOB = bearer('bob', { tenant: 'acme' });
const EVE = bearer('eve', { tenant: 'acme' });
const FOREIGN = bearer('mallory', { tenant: 'other' });
const AUDITOR = bearer('olga', { tenant: 'acme', role: 'auditor' });
const CHIEF = bearer('chief', { role: 'auditor' });
const ALL = [DEV, ANN, BOB, EVE, FOREIGN, AUDITOR, CHIEF];

const config = (up, more = {}) => ({
  upstreams: { pay: { http: up.url } }, agents: ALL.map((agent) => agent.entry), auditors: ['auditor'],
  reviews: { finance: { voters: [{ id: 'ann' }, { id: 'bob', weight: 2 }, { id: 'eve', veto: true }], quorum: '2',
    administrators: ['eve'] } },
  tools: { 'pay/balance': { scope: 'accounts', duplicates: 'allow' },
    'pay/transfer': { scope: 'payments', target: 'account:{to}', approval: { review: 'finance' },
      arguments: [{ arg: '', op: 'type', value: 'any' }] } },
  ...more,
});

async function setUp(t, more) {
  const up = await startUpstream(t);
  const gw = await startGateway(t, config(up, more));
  return { up, gw, session: await openSession(gw, { token: DEV.token }), base: `http://127.0.0.1:${gw.adminPort}` };
}

/** A call that waits: its review's id. */
async function asks(session, args) {
  const answer = await session.call('pay__transfer', { to: 'x', ...args });
  assert.equal(answer.reason, 'approval_required');
  return answer.refusal.continuation_id;
}

const api = (base, who, path, body) => fetch(`${base}/v1${path}`, {
  method: body === undefined ? 'GET' : 'POST',
  headers: { authorization: `Bearer ${who.token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
  body: body === undefined ? undefined : JSON.stringify(body),
}).then((response) => response.json());

async function vote(base, who, id, choice, feedback) {
  const { review_digest: digest } = await api(base, who, `/reviews/${id}`);
  return api(base, who, `/reviews/${id}/vote`, { vote: choice, review_digest: digest, ...(feedback && { feedback }) });
}

/** A request as the page's own. */
const asPage = (base, method, path, { cookie, key, body, headers } = {}) => fetch(base + path, {
  method, body: body === undefined ? undefined : JSON.stringify(body),
  headers: { origin: base, 'sec-fetch-site': 'same-origin',
    ...(body !== undefined && { 'content-type': 'application/json' }), ...(cookie && { cookie }),
    ...(key && { 'writ-page': key }), ...headers },
});

async function logIn(base, who) {
  const response = await asPage(base, 'POST', '/v1/session', { body: { token: who.token } });
  assert.equal(response.status, 200);
  return { cookie: response.headers.get('set-cookie').split(';')[0], field: response.headers.get('set-cookie'),
    ...(await response.json()) };
}

test('every file of the page has the security headers', async (t) => {
  const { base } = await setUp(t);
  const types = { '/': /html/, '/reviews': /html/, '/reviews/any': /html/, '/ledger': /html/, '/ledger/any': /html/,
    '/page/app.js': /javascript/, '/page/page.css': /css/, '/page/icon.svg': /svg/ };
  for (const [path, type] of Object.entries(types)) {
    const { status, headers } = await fetch(base + path);
    assert.equal(status, 200, path);
    assert.match(headers.get('content-type'), type);
    const policy = headers.get('content-security-policy');
    assert.match(policy, /^default-src 'none';/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.match(policy, /require-trusted-types-for 'script'/);
    assert.doesNotMatch(policy, /unsafe|http|\*|data:/);
    for (const [name, value] of [['x-content-type-options', 'nosniff'], ['cache-control', 'no-store'],
        ['x-frame-options', 'DENY'], ['cross-origin-resource-policy', 'same-origin']]) {
      assert.equal(headers.get(name), value, `${path} ${name}`);
    }
    assert.equal(headers.get('access-control-allow-origin'), null);
  }
  const html = await (await fetch(`${base}/`)).text();
  assert.doesNotMatch(html, /<style|style=|\son[a-z]+=|<script(?![^>]*src=)|https?:/);
  assert.equal((await fetch(`${base}/page/other.js`)).status, 404);
  assert.equal((await fetch(`${base}/page/..%2fapi.c`)).status, 400);
  assert.equal((await fetch(`${base}/reviews`, { method: 'POST' })).status, 405);
});

test('a login has the rights of its token, needs cookie and key, and ends at logout', async (t) => {
  const { gw, base } = await setUp(t, { reviewers: { ann: {} } });
  for (const [body, status] of [[{ token: 'made-up' }, 401], [{ token: '' }, 401], [{ token: 7 }, 422], [{}, 422],
      [[], 422], [{ certificate: true }, 401], [{ token: 'x'.repeat(9000) }, 422]]) {
    const refused = await asPage(base, 'POST', '/v1/session', { body });
    assert.equal(refused.status, status, JSON.stringify(body).slice(0, 40));
    assert.equal(refused.headers.get('set-cookie'), null);
  }
  const ann = await logIn(base, ANN);
  assert.match(ann.field, /^writ=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
  assert.equal(ann.subject, 'ann');
  assert.equal(ann.tenant, 'acme');
  const list = (options) => asPage(base, 'GET', '/v1/reviews', options).then((response) => response.status);
  assert.equal(await list(ann), 200);
  assert.equal(await list({ cookie: `a=b; ${ann.cookie}; c=d`, key: ann.key }), 200);
  assert.equal(await list({ cookie: ann.cookie }), 401, 'a cookie that another port has seen opens nothing');
  assert.equal(await list({ key: ann.key }), 401);
  assert.equal(await list({ cookie: ann.cookie, key: (await logIn(base, BOB)).key }), 401);
  assert.equal(await list({ cookie: `x${ann.cookie}`, key: ann.key }), 401);

  await until(() => gw.log.filter((line) => line.event === 'login_refused').length === 3, 'what was tried in vain');
  assert.match(JSON.stringify(await gw.waitLog('login')), /"agent_id":"ann","tenant":"acme","peer":"127/);
  assert.doesNotMatch(gw.logText, /made-up|token-of/);
  const second = await logIn(base, ANN);
  const out = await asPage(base, 'DELETE', '/v1/session', ann);
  assert.equal(out.status, 200);
  assert.match(out.headers.get('set-cookie'), /^writ=; .*Max-Age=0$/);
  assert.equal(await list(ann), 401);
  assert.equal(await list(second), 200);

  await gw.reload({ ...gw.config, agents: gw.config.agents.filter(({ id }) => id !== 'ann') });
  assert.equal(await list(second), 401, 'who is no longer in the configuration is out');
});

test('a login with a token of an issuer ends when the token does', async (t) => {
  const { publicKey, privateKey } = await jose.generateKeyPair('ES256');
  const jwks = { keys: [{ ...await jose.exportJWK(publicKey), kid: 'k', alg: 'ES256', use: 'sig' }] };
  const up = await startUpstream(t);
  const plain = config(up);
  const gw = await startGateway(t,
    { ...plain, agents: [...plain.agents,
      { issuer: 'https://idp.example', audience: 'writ', jwks: 'jwks.json', tenant: 'acme' }] },
    { prepare: (dir) => writeFileSync(join(dir, 'jwks.json'), JSON.stringify(jwks)) });
  const base = `http://127.0.0.1:${gw.adminPort}`;
  const now = Math.floor(Date.now() / 1000);
  const token = await new jose.SignJWT({ iss: 'https://idp.example', aud: 'writ', sub: 'ann', iat: now,
    exp: now + 1 }).setProtectedHeader({ alg: 'ES256', kid: 'k' }).sign(privateKey);
  const login = await logIn(base, { token });
  assert.equal(login.subject, 'ann');
  assert.equal((await asPage(base, 'GET', '/v1/reviews', login)).status, 200);
  await until(async () => (await asPage(base, 'GET', '/v1/reviews', login)).status === 401, 'the token to be over');
  assert.equal((await asPage(base, 'POST', '/v1/session', { body: { token } })).status, 401);
});

test('over TLS the cookie belongs to this host only, and a client certificate logs in', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'writ-certs-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  execFileSync(join(SOURCE, 'certs/make-dev-certs'), ['-d', join(dir, 'one')], { stdio: 'ignore' });
  const tls = { cert: join(dir, 'one/server.pem'), key: join(dir, 'one/server.key'),
    client_ca: join(dir, 'one/ca.pem') };
  const pem = (name) => readFileSync(join(dir, name));
  const up = await startUpstream(t);
  const plain = config(up);
  const certified = { id: 'ann-by-certificate', subject: 'ann', tenant: 'acme',
    certificate: 'urn:writ:development-client' };
  const gw = await startGateway(t, { ...plain, admin_tls: tls, agents: [...plain.agents, certified] });
  const origin = `https://localhost:${gw.adminPort}`;
  const ask = (method, path, { body, cookie, key, client = 'one', headers } = {}) => new Promise((resolve, reject) => {
    const req = request(origin + path, {
      method, agent: false, ca: pem('one/ca.pem'),
      ...(client && { cert: pem(`${client}/client.pem`), key: pem(`${client}/client.key`) }),
      headers: { origin, 'sec-fetch-site': 'same-origin', ...(cookie && { cookie }), ...(key && { 'writ-page': key }),
        ...(body && { 'content-type': 'application/json' }), ...headers },
    }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (d) => {
        text += d;
      }).on('end', () =>
        resolve({ status: res.statusCode, json: text === '' ? undefined : JSON.parse(text),
          cookie: res.headers['set-cookie']?.[0] }));
    });
    req.on('error', reject).end(body && JSON.stringify(body));
  });

  assert.equal((await ask('GET', '/v1/session', { client: null }).catch(() => ({ status: 403 }))).status, 403);
  assert.deepEqual((await ask('GET', '/v1/session')).json, { certificate: 'urn:writ:development-client' });
  assert.equal((await ask('GET', '/v1/reviews')).status, 401, 'a certificate alone asks for nothing');
  assert.equal((await ask('POST', '/v1/session',
    { body: { certificate: true },
      headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' } })).status, 403);
  const login = await ask('POST', '/v1/session', { body: { certificate: true } });
  assert.equal(login.status, 200);
  assert.equal(login.json.subject, 'ann');
  assert.match(login.cookie, /^__Host-writ=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/);
  const pass = { cookie: login.cookie.split(';')[0], key: login.json.key };
  assert.equal((await ask('GET', '/v1/reviews', pass)).status, 200);
  assert.equal((await ask('GET', '/v1/reviews', { headers: { authorization: 'Certificate x' } })).status, 401);
  assert.equal((await ask('GET', '/v1/reviews', { cookie: pass.cookie.replace('__Host-', ''), key: pass.key })).status,
    401);

  // another certificate of the same authority and name is another one
  const renewed = join(dir, 'renewed');
  cpSync(join(dir, 'one'), renewed, { recursive: true });
  for (const file of ['client.pem', 'client.key', 'client.names']) rmSync(join(renewed, file), { force: true });
  execFileSync(join(SOURCE, 'certs/make-dev-certs'), ['-d', renewed], { stdio: 'ignore' });
  assert.equal((await ask('GET', '/v1/reviews', { ...pass, client: 'renewed' })).status, 401);
  assert.equal((await ask('POST', '/v1/session', { body: { certificate: true }, client: 'renewed' })).status, 200);
  await gw.reload({ ...gw.config, agents: plain.agents });
  assert.equal((await ask('GET', '/v1/reviews', pass)).status, 401);
  assert.equal((await ask('POST', '/v1/session', { body: { certificate: true } })).status, 401);
  assert.equal((await ask('POST', '/v1/session', { body: { token: ANN.token } })).status, 200);
});

test('JSON and texts are read exactly', async () => {
  const { exact } = await import(join(SOURCE, 'gateway/admin/page/json.js'));
  const { pieces, warning } = await import(join(SOURCE, 'gateway/admin/page/text.js'));
  const plain = (value) =>
    (value.kind === 'object' ? value.members.map(([name, own]) => [name, plain(own)]) : value.kind === 'array'
      ? value.items.map(plain) : value.text);
  assert.deepEqual(plain(exact(' {"b":1e400,"2":12345678901234567890,"b":-0.10,"1":[true,null,"\\u202e\\n",{}]} ')),
    [['b', '1e400'], ['2', '12345678901234567890'], ['b', '-0.10'], ['1', ['true', 'null', '\u202e\n', []]]]);
  for (const bad of ['', '{', '{"a" 1}', '[1,]', '01', '1 2', '"\n"', "'a'", 'nul', '{"a":1,}', '\u00a01'])
    assert.throws(() => exact(bad), SyntaxError, bad);
  const shown = (text, options) => pieces(text, options)
    .map((piece) => piece.mark ?? (piece.about ? `<${piece.text}>` : piece.text)).join('');
  for (const [text, want, options] of [
    ['plain text, üñí, 日本語, עברית', 'plain text, üñí, 日本語, עברית'],
    ['a\u202eb\u200d\u0000', 'aU+202EbU+200DU+0000'],
    ['\ud800x', 'U+D800x'], ['a\u00a0b\u3164\u2800', 'aU+00A0bU+3164U+2800'],
    ['\u{e0041}\ufe0f\u00ad', 'U+E0041U+FE0FU+00AD'], ['p\u0430y \u0440\u0430\u0437', 'p<\u0430>y \u0440\u0430\u0437'],
    ['\uff41b', '<\uff41>b'], ['tab\there\n', 'tab⇥here↵'],
    ['\u0440\u0430\u0437', '<\u0440><\u0430><\u0437>', { name: true }],
  ]) assert.equal(shown(text, options), want);
  assert.equal(warning('two\nlines\tand a tab'), '');
  assert.match(warning('\u202e'), /cannot be seen/);
  assert.match(warning('p\u0430y'), /look like others/);
});

test('a difference is shown by path, and for texts by their changed parts', async () => {
  const { exact } = await import(join(SOURCE, 'gateway/admin/page/json.js'));
  const { changes } = await import(join(SOURCE, 'gateway/admin/page/difference.js'));
  const told = (before, after) => changes(exact(JSON.stringify(before)), exact(JSON.stringify(after)))
    .map(({ path, before: was, after: is, head, tail }) => [path.join('.'), was?.text ?? was?.kind, is?.text ??
      is?.kind, head, tail].map((part) => part ?? '-').join(' | '));
  for (const [before, after, ...want] of [
    [{ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }],
    [1, 'x', ' | 1 | x | - | -'],
    [{ a: 1, b: 2 }, { b: 3, c: {} }, 'a | 1 | - | - | -', 'b | 2 | 3 | - | -', 'c | - | object | - | -'],
    [{ a: {} }, { a: [] }, 'a | object | array | - | -'], [{ a: [1, 2, 3] }, { a: [1, 5, 3] }, 'a.1 | 2 | 5 | - | -'],
    [[1, 2, 3], [0, 1, 2, 3], '0 | - | 0 | - | -'], [[1, 2, 3], [3], '0 | 1 | - | - | -', '1 | 2 | - | - | -'],
    [['a', 'a'], ['a'], '1 | a | - | - | -'],
    ['one\ntwo\nthree\n', 'one\n2\nthree\n', ' | two\n | 2\n | 1 line as before | 1 line as before'],
    ['a\n', 'a\nb\n', ' | - | b\n | 1 line as before | -'], ['a\n', 'a', ' | a\n | a | - | -'],
    ['\n', '', ' | \n | - | - | -'],
    [`${'x'.repeat(200)}1${'y'.repeat(200)}`, `${'x'.repeat(200)}2${'y'.repeat(200)}`,
      ` | ${'x'.repeat(40)}1${'y'.repeat(40)} | ${'x'.repeat(40)}2${'y'.repeat(40)} | 160 characters as before | 160 ` +
        `characters as before`],
  ]) assert.deepEqual(told(before, after), want);
  assert.deepEqual(changes(exact('{"a":1.0}'), exact('{"a":1}')).length, 1, 'digits are compared, not numbers');
});

test('the page has a word for every state and event of a review, verdict, outcome, vote and engine', () => {
  const source = (file) => readFileSync(join(SOURCE, 'gateway/admin/page', file), 'utf8');
  const keys = (file, name) => [...source(file).split(`const ${name} = {`)[1].split('\n};')[0].matchAll(/(\w+): '/g)]
    .map((m) => m[1]).sort();
  const names = (file, macro) => rows(file, macro).sort();
  const review = 'core/evidence/record/review.tbl.h', member = 'core/evidence/record/member.tbl.h';
  const states = names(review, 'WRIT_REVIEW_STATES').filter((state) => state !== 'absent');
  const verdicts = names(member, 'WRIT_DECISION_ROUTES'), outcomes = names(member, 'WRIT_OUTCOME_KINDS');
  const votes = names(review, 'WRIT_REVIEW_VOTES');
  assert.deepEqual(keys('shown.js', 'WORDS'), [...states, ...outcomes, ...votes].sort());
  assert.deepEqual(keys('shown.js', 'DECISIONS'), verdicts);
  assert.deepEqual(keys('review.js', 'STATES'), states);
  assert.deepEqual(keys('review.js', 'EVENTS'), names(review, 'WRIT_REVIEW_EVENTS'));
  assert.deepEqual(keys('review.js', 'ENGINES'), names(review, 'WRIT_REVIEW_ENGINES'));
});

test('another origin cannot log in, log out, read or vote, even one permitted to call', async (t) => {
  const { gw, base, session } = await setUp(t, { origins: ['https://evil.example'] });
  const id = await asks(session, { amount: 1 });
  const ann = await logIn(base, ANN);
  const { review_digest: digest } = await (await asPage(base, 'GET', `/v1/reviews/${id}`, ann)).json();
  const ballot = { vote: 'approve', review_digest: digest };
  const foreign = [
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    { origin: 'null', 'sec-fetch-site': 'cross-site' },
    { origin: `http://127.0.0.1:${gw.port}`, 'sec-fetch-site': 'same-site' },
    { origin: base, 'sec-fetch-site': 'cross-site' }, { origin: base, 'sec-fetch-site': 'none' },
    { origin: `http://localhost:${gw.adminPort}`, 'sec-fetch-site': 'cross-site' },
    { origin: `${base}.evil.example`, 'sec-fetch-site': 'cross-site' },
  ];
  for (const headers of foreign) {
    const what = JSON.stringify(headers);
    assert.equal((await asPage(base, 'POST', `/v1/reviews/${id}/vote`, { ...ann, body: ballot, headers })).status, 403,
      what);
    assert.equal((await asPage(base, 'POST', '/v1/session', { body: { token: ANN.token }, headers })).status, 403,
      what);
    assert.equal((await asPage(base, 'DELETE', '/v1/session', { ...ann, headers })).status, 403, what);
    assert.equal((await asPage(base, 'GET', `/v1/reviews/${id}`, { ...ann, headers })).status, 403, what);
  }
  const bare = (headers) =>
    fetch(`${base}/v1/reviews/${id}/vote`,
      { method: 'POST', body: JSON.stringify(ballot),
        headers: { cookie: ann.cookie, 'writ-page': ann.key, ...headers } });
  assert.equal((await bare({ 'content-type': 'application/json' })).status, 403, 'a change without an Origin');
  assert.equal((await bare({ 'content-type': 'text/plain', origin: base })).status, 415, 'what a form can send');
  assert.equal((await api(base, ANN, `/reviews/${id}`)).records.length, 1, 'none of it is in the ledger');
  assert.equal((await asPage(base, 'POST', `/v1/reviews/${id}/vote`, { ...ann, body: ballot })).status, 200);
});

test('the ledger is shown page by page to permitted callers only', async (t) => {
  const { base, gw, session } = await setUp(t);
  const foreign = await openSession(gw, { token: FOREIGN.token });
  const id = await asks(session, { amount: 1 });
  for (const who of [ANN, BOB, EVE]) await vote(base, who, id, 'approve');
  await session.call('pay__transfer', { amount: 1, to: 'x' });
  for (let i = 0; i < 60; i++) await session.call('pay__balance', {});
  await foreign.call('pay__balance', {});
  await foreign.call('pay__unknown', {});
  const status = (who, path) => fetch(`${base}/v1/ledger${path}`,
    { headers: who && { authorization: `Bearer ${who.token}` } }).then((response) => response.status);

  const all = await api(base, CHIEF, '/ledger');
  assert.equal(all.scope, 'all');
  assert.equal(all.calls.length, 50);
  assert.deepEqual([all.calls[0].tenant, all.calls[0].decision, all.calls[0].outcome], ['other', 'deny', 'blocked']);
  const rest = await api(base, CHIEF, `/ledger?before=${all.next}`);
  assert.equal(rest.calls.length, 14);
  assert.equal(rest.next, undefined);
  const ids = [...all.calls, ...rest.calls].map((call) => call.decision_id);
  assert.deepEqual(ids, gw.decisions().map((call) => call.decision_id).reverse(), 'every one once, the newest first');

  const own = await api(base, AUDITOR, '/ledger?q=TRANS');
  assert.equal(own.scope, 'tenant');
  assert.deepEqual(own.calls.map((call) => call.decision), ['allow', 'require_approval']);
  assert.deepEqual((await api(base, AUDITOR, '/ledger?decision=require_approval')).calls.map((call) =>
    call.decision_id), [id]);
  assert.deepEqual((await api(base, AUDITOR, `/ledger?q=${id}`)).calls.length, 1);
  assert.deepEqual((await api(base, AUDITOR, '/ledger?q=mallory')).calls, [], 'another tenant’s');
  assert.equal((await api(base, FOREIGN, '/ledger')).calls.length, 2);
  assert.equal((await api(base, DEV, '/ledger?q=transfer')).calls.length, 2);
  assert.deepEqual((await api(base, ANN, '/ledger')).calls, []);
  for (const bad of ['?decision=maybe', '?before=0', '?before=x', '?q=%00', `?q=${'x'.repeat(300)}`, '?q=a&q=b'])
    assert.equal(await status(CHIEF, bad), 422, bad);

  const life = await api(base, AUDITOR, `/ledger/${own.calls[0].decision_id}`);
  assert.deepEqual(life.rounds.map((round) => round.decision.decision), ['require_approval', 'allow']);
  assert.deepEqual(life.rounds[0].review.map((record) => record.event),
    ['open', 'vote', 'vote', 'vote', 'accept', 'redeem']);
  assert.equal(life.rounds[1].outcome.outcome, 'executed');
  assert.deepEqual(await api(base, AUDITOR, `/ledger/${id}`), life, 'the same life by each of its ids');
  const refused = (await api(base, CHIEF, `/ledger/${all.calls[0].decision_id}`)).rounds[0].why;
  assert.deepEqual([refused.same_policy, refused.rule, refused.nearest], [true, null, null], 'a tool without a rule');
  for (const round of life.rounds) {
    assert.equal(round.why.same_policy, true);
    assert.deepEqual([round.why.rule.file, round.why.rule.ref], [gw.configFile, 'tools/pay~1transfer#0']);
    assert.ok(round.why.rule.line > 1);
    delete round.why; // who may not read the policy gets the rest
  }
  assert.deepEqual(await api(base, DEV, `/ledger/${id}`), life, 'who asked');
  assert.deepEqual(await api(base, ANN, `/ledger/${id}`), life, 'who voted');
  assert.equal(await status(FOREIGN, `/${id}`), 404);
  assert.equal(await status(ANN, `/${all.calls[5].decision_id}`), 404);
  assert.equal(await status(CHIEF, '/none'), 404);
  assert.equal(await status(undefined, ''), 401);
  assert.equal(await status(undefined, `/${id}`), 401);
});

test('many page users at once are served or refused as overload, also during a stop', async (t) => {
  const { base, gw, session } = await setUp(t, { loops: 3 });
  for (let i = 0; i < 5; i++) await session.call('pay__balance', {});
  const [{ decision_id: id }] = gw.decisions();
  const everybody = Array.from({ length: 150 }, async (_, i) => {
    const login = await logIn(base, ALL[i % ALL.length]);
    const answers = await Promise.all(['/v1/ledger', `/v1/ledger/${id}`, '/v1/reviews',
      '/v1/session'].map((path) => asPage(base, 'GET', path, login)));
    for (const answer of answers) await answer.text();
    await asPage(base, 'DELETE', '/v1/session', login);
    return answers.map((answer) => answer.status);
  });
  const statuses = new Set((await Promise.all(everybody)).flat());
  assert.ok(statuses.has(200));
  assert.deepEqual([...statuses].filter((status) => ![200, 401, 404, 503].includes(status)), [],
    'an agent’s ninth login ends its first');
  const rest = Array.from({ length: 40 }, () => api(base, CHIEF, '/ledger').catch(() => null));
  assert.equal((await gw.stop()).code, 0);
  await Promise.all(rest);
});

test('a person finds a call in the ledger and reads its life', { skip: SKIP }, async (t) => {
  const { base, session } = await setUp(t);
  const id = await asks(session, { amount: 1 });
  for (const who of [ANN, BOB, EVE]) await vote(base, who, id, 'approve', `by ${who.id}`);
  await session.call('pay__transfer', { amount: 1, to: 'x' });
  for (let i = 0; i < 60; i++) await session.call('pay__balance', {});
  const browser = await startBrowser(t);
  await enter(browser, base, AUDITOR, '/ledger');
  await browser.sees('All calls of your tenant.');
  assert.equal(await browser.run(() => document.querySelectorAll('.calls tbody tr').length), 50);
  await browser.tabTo('.pages a');
  await browser.press(KEY.enter);
  await browser.until(() => document.querySelectorAll('.calls tbody tr').length === 12);
  await browser.command('POST', '/back', {});
  await browser.until(() => document.querySelectorAll('.calls tbody tr').length === 50);
  await browser.tabTo('#by-q');
  await browser.press(...'transfer', KEY.enter);
  await browser.until(() => document.querySelectorAll('.calls tbody tr').length === 2);
  await browser.tabTo('.calls a');
  await browser.press(KEY.enter);
  await browser.until(() => document.querySelector('.events') !== null);
  const life = await browser.text('.events');
  assert.match(life,
    /Needs approval[^]*review opened[^]*by ann[^]*by bob[^]*by eve[^]*Approved[^]*Redeemed[^]*Allowed[^]*Authorization[^]*Executed/);
  await browser.open(`${base}/ledger?decision=deny`);
  await browser.sees('No call found.');
});

test('a person logs in, reads and votes by keyboard, and sees the changes of others', { skip: SKIP }, async (t) => {
  const { up, base, session } = await setUp(t);
  const browser = await startBrowser(t);
  await browser.open(`${base}/`);
  await browser.until(() => document.activeElement?.id === 'token');
  await browser.press(...'wrong', KEY.enter);
  await browser.sees('This token is not accepted.');
  await browser.press(...ANN.token, KEY.enter);
  await browser.sees('Nothing waits.');

  const id = await asks(session, { amount: 250, to: 'DE89' });
  await browser.sees('Waiting for your vote');
  assert.match(await browser.text('#waiting'), /^1/);
  assert.equal(await browser.run(() => document.title), '(1) Reviews · Writ');
  await browser.until(() => document.querySelector('#said').textContent === 'A new call waits for your vote.');
  await browser.tabTo(`a[href="/reviews/${id}"]`);
  await browser.press(KEY.enter);
  await browser.until(() => document.activeElement?.tagName === 'H1' && document.activeElement.innerText ===
    'pay/transfer');
  assert.equal(await browser.url(), `${base}/reviews/${id}`);
  assert.match(await browser.text('dl.tree'), /amount\s+250\s+to\s+DE89/);

  await browser.tabTo('.ballot button');
  await browser.press(KEY.enter);
  await browser.sees('Choose a vote first.');
  await browser.until(() => document.activeElement?.id === 'vote-approve');
  await browser.press(KEY.down, KEY.tab, KEY.tab, KEY.enter);
  await browser.sees('Say what should be different.');
  await browser.until(() => document.activeElement?.id === 'feedback');
  await browser.press(...'to acme, please');
  await browser.press(KEY.tab, KEY.enter);
  await browser.until(() =>
    /Your vote is recorded. You ask for changes./.test(document.querySelector('#said').textContent));
  assert.deepEqual((await api(base, ANN, `/reviews/${id}`)).voters.map(({ vote: cast }) => cast),
    ['modify', undefined, undefined]);
  await browser.sees('You voted: ask for changes');

  await vote(base, BOB, id, 'approve', 'fine with me');
  await browser.sees('fine with me');
  await browser.tabTo('#vote-approve');
  await browser.press(KEY.space, KEY.tab, KEY.tab, KEY.enter);
  await browser.sees('You voted: approve'); // the vote of another person says Approve too
  assert.equal((await vote(base, EVE, id, 'approve')).state, 'approved');
  await browser.until(() => document.querySelector('.state .pill').innerText === 'Approved' &&
    document.querySelector('.ballot') === null);
  await browser.until(() => /^Approved/.test(document.querySelector('#said').textContent));

  assert.equal((await session.call('pay__transfer', { amount: 250, to: 'DE89' })).said, 'ran 1');
  await browser.until(() => document.querySelector('.state .pill').innerText === 'Redeemed');
  assert.equal(up.calls.length, 1);
  assert.deepEqual(await browser.complaints(), []);
});

test('the caller withdraws and an administrator cancels, after a second press', { skip: SKIP }, async (t) => {
  const { base, session } = await setUp(t);
  const [first, second] = [await asks(session, { amount: 1 }), await asks(session, { amount: 2 })];
  assert.deepEqual((await api(base, ANN, `/reviews/${first}`)).may, ['vote']);
  assert.deepEqual((await api(base, DEV, `/reviews/${first}`)).may, ['withdraw']);
  assert.deepEqual((await api(base, EVE, `/reviews/${first}`)).may, ['vote', 'cancel']);
  const browser = await startBrowser(t);
  for (const [who, id, state] of [[DEV, first, 'withdrawn'], [EVE, second, 'cancelled']]) {
    await enter(browser, base, who, `/reviews/${id}`);
    await browser.tabTo('.deeds button');
    await browser.press(KEY.enter);
    await browser.sees('press again to confirm');
    assert.equal((await api(base, ANN, `/reviews/${id}`)).state, 'open');
    await browser.press(KEY.enter);
    await browser.until(() => document.querySelector('.deeds button') === null);
    assert.equal((await api(base, ANN, `/reviews/${id}`)).state, state);
    await browser.click('#leave');
  }
  assert.deepEqual((await api(base, EVE, `/reviews/${second}`)).may, []);
});

test('a voter that signs votes sees the command for it', { skip: SKIP }, async (t) => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { x } = publicKey.export({ format: 'jwk' });
  const { base, gw, session } = await setUp(t, { reviewers: { ann: { key: { kty: 'OKP', crv: 'Ed25519', x } } } });
  writeFileSync(gw.path('ann.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  writeFileSync(gw.path('ann.token'), ANN.token, { mode: 0o600 });
  const id = await asks(session, { amount: 1 });
  const browser = await startBrowser(t);
  await enter(browser, base, ANN, `/reviews/${id}`);
  await browser.sees('Your votes are signed');
  assert.deepEqual(await faults(browser), []);
  const [program, ...args] = (await browser.text('.command')).split(' ');
  assert.equal(program, 'writ');
  const run = writ(args.map((arg, i) => (arg !== 'FILE' ? arg : args[i - 1] === '--key' ? 'ann.pem' : 'ann.token')),
    { cwd: gw.dir });
  assert.equal(run.code, 0, run.err);
  await browser.sees('signed by the voter’s own key');
  assert.equal((await api(base, ANN, `/reviews/${id}`)).voters[0].vote, 'approve');
});

test('hostile texts are shown as text', { skip: SKIP }, async (t) => {
  const { base, session } = await setUp(t);
  const markup = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>';
  let deep = { end: 'the bottom' };
  for (let i = 0; i < 40; i++) deep = { [`level ${i}`]: deep };
  const args = {
    [markup]: markup, bidi: 'photo_\u202Egnp.exe\u202C', zero: 'pay\u200Bpal', escape: '\u001b[2J\u001b]0;x\u0007',
    tags: 'a\u{E0041}b', alike: 'p\u0430ypal', wide: '\uff50ay',
    lines: 'one\ntwo\u2028three', number: 1.5, big: 9007199254740991, empty: '', none: null, deep, ['__proto__']: 'x',
    constructor: { prototype: markup },
    long: `${'x'.repeat(50_000)}the end`, many: Array.from({ length: 500 }, (_, i) => i),
  };
  const id = await asks(session, args);
  await vote(base, BOB, id, 'reject', `${markup} \u202Eevil`);
  const browser = await startBrowser(t);
  await enter(browser, base, ANN, `/reviews/${id}`);
  await browser.sees('Arguments');
  assert.equal(await browser.run(() => window.pwned ?? null), null);
  assert.equal(await browser.run(() => document.querySelectorAll('main img, main script, main iframe').length), 0);
  const shown = await browser.text('.read');
  assert.ok(shown.includes(markup), 'as a name and as a value');
  for (const mark of ['U+202E', 'U+202C', 'U+200B', 'U+001B', 'U+0007', 'U+E0041', 'U+2028', '↵', 'empty text',
      '9007199254740991', '__proto__', 'letters that look like others']) {
    assert.ok(shown.includes(mark), mark);
  }
  assert.equal(await browser.run(() => [...document.querySelectorAll('.odd')].map((odd) => odd.textContent).join('')),
    '\u0430\uff50');
  assert.equal(await browser.run(() => /[\u202a-\u202e\u200b\u001b]/.test(document.body.textContent)), false,
    'none of them is on the page itself');
  assert.ok((await browser.text('.votes')).includes(`${markup} U+202E`));

  assert.ok(!shown.includes('the end') && !shown.includes('the bottom'));
  assert.match(shown, /Parts are hidden: \d+ parts are folded\./);
  for (let i = 0; i < 100 && await browser.run(() => document.querySelectorAll('[data-folded]').length > 0); i++) {
    await browser.run(() => document.querySelector('[data-folded]').click());
  }
  const whole = await browser.text('.read');
  for (const part of ['the end', 'the bottom', '499']) assert.ok(whole.includes(part), part);
  assert.doesNotMatch(whole, /Not all of it is in view/);
  assert.equal(await browser.run(() => window.pwned ?? null), null);
});

test('a voter reads the target state and its change since the review before', { skip: SKIP }, async (t) => {
  const old = Array.from({ length: 90 }, (_, i) => `rule ${i}\n`);
  const now = [...old.slice(0, 50), 'allow <b id="evil">all</b>\u202E\n', ...old.slice(51)];
  let state = { owner: 'acme', rules: old.join(''), limit: 100, log: 'short' };
  const up = await startUpstream(t,
    { onCall: (a) =>
      (a.name === 'stat' ? a.result({ content: [], structuredContent: { account: state } }) : a.text('paid')) });
  const plain = config(up);
  const gw = await startGateway(t,
    { ...plain, tools: { ...plain.tools,
      'pay/transfer': { ...plain.tools['pay/transfer'],
        state: { tool: 'pay/stat', arguments: {}, select: ['/account'], timeout: '2s' } } } });
  const base = `http://127.0.0.1:${gw.adminPort}`;
  const session = await openSession(gw, { token: DEV.token });
  const first = await asks(session, { amount: 1 });
  const browser = await startBrowser(t);
  await enter(browser, base, ANN, `/reviews/${first}`);
  await browser.until(() => document.querySelector('.target-state .tree') !== null);
  const panel = '[aria-labelledby="target"]';
  assert.match(await browser.text(panel), /Its state, from the tool’s server[^]*limit\s+100[^]*owner\s+acme/);
  assert.doesNotMatch(await browser.text(panel), /Changes since/, 'there is no review before');

  for (const who of [ANN, BOB, EVE]) await vote(base, who, first, 'approve');
  state = { owner: 'm\u0430llory', rules: now.join(''), log: 'l'.repeat(3000) };
  for (let i = 0; i < 60; i++) state[`entry${i}`] = i;
  const second = await asks(session, { amount: 1 });
  assert.notEqual(second, first);
  await browser.open(`${base}/reviews/${second}`);
  await browser.sees('Changes since the previous review');
  const shown = await browser.text(panel);
  assert.match(shown, /64 changes/);
  assert.match(shown, /Parts are hidden: \d+ parts are folded\./);
  assert.match(shown, /entry0\s+\+ Added\s+0/);
  assert.match(shown, /Show more \(24 changes left\)/);
  for (let i = 0; i < 20 &&
      await browser.run((at) => document.querySelector(`${at} [data-folded]`) !== null, panel); i++) {
    await browser.run((at) => document.querySelector(`${at} [data-folded]`).click(), panel);
  }
  await browser.until((at) => document.querySelector(`${at} .notice`).hidden, panel);
  const whole = await browser.text('.target-state');
  assert.match(whole, /limit\s+− Removed\s+100/);
  assert.match(whole, /owner\s+− Removed\s+acme\s+\+ Added\s+m\u0430llory\s+Has letters that look like others/);
  assert.match(whole,
    /rules\s+… 50 lines as before …\s+− Removed\s+rule 50↵[^]{0,60}\+ Added\s+allow <b id="evil">all<\/b>U\+202E[^]*… 39 lines as before …/);
  assert.equal(await browser.run(() => document.querySelector('#evil')), null);
  assert.equal(await browser.run(() => document.querySelectorAll('.changes .change').length), 64);
  for (const scheme of ['light', 'dark']) {
    await browser.scheme(scheme);
    assert.deepEqual(await faults(browser), [], scheme);
  }
  await browser.size(390, 844);
  assert.ok(await browser.run(() => document.documentElement.scrollWidth <= innerWidth), 'it fits a phone');
  await browser.open(`${base}/reviews/${first}`);
  await browser.sees('the text of the state is no longer kept');
  assert.deepEqual(await browser.complaints(), []);
});

test('hostile names in the ledger are shown as text', { skip: SKIP }, async (t) => {
  const { base, gw, session } = await setUp(t);
  const markup = '<img src=x onerror="window.pwned=1">';
  await session.call(`pay__${markup}\u202E`, {}, { boundary: `run ${markup}`, key: `key ${markup}` });
  await session.call('pay__balance', {}, { boundary: `run ${markup}`, key: `key ${markup}` });
  const ids = gw.decisions().map((call) => call.decision_id);
  assert.equal(ids.length, 2);
  const browser = await startBrowser(t);
  await enter(browser, base, AUDITOR, '/ledger');
  await browser.until(() => document.querySelectorAll('.calls tbody tr').length === 2);
  const list = await browser.text('.calls');
  for (const part of [`${markup}`, 'U+202E', `run ${markup}`]) assert.ok(list.includes(part), part);
  for (const id of ids) {
    await browser.open(`${base}/ledger/${id}`);
    await browser.sees('Its life');
    assert.ok((await browser.text('main')).includes(`run ${markup}`));
    await browser.run(() => document.querySelectorAll('details').forEach((details) => { details.open = true; }));
    assert.ok((await browser.text('main')).includes(`key ${markup}`));
    assert.equal(await browser.run(() => document.querySelectorAll('main img').length + (window.pwned ?? 0)), 0);
    assert.equal(await browser.run(() => /[\u202e\u200b]/.test(document.body.textContent)), false);
  }
  await browser.open(`${base}/ledger/${ids[0]}`);
  await browser.until(() => document.title === '<img src=x onerror="window.pwned=1">U+202E · Ledger · Writ');
});

test('a page of another origin can do nothing in a logged-in browser', { skip: SKIP }, async (t) => {
  const { base, session } = await setUp(t);
  const id = await asks(session, { amount: 1 });
  const { review_digest: digest } = await api(base, ANN, `/reviews/${id}`);
  const seen = [];
  const server = createServer((req, res) => {
    seen.push(req.headers.cookie ?? '');
    res.setHeader('content-type', 'text/html').end('<!doctype html><title>evil</title><p>hello');
  });
  await new Promise((resolve) => server.listen(0, resolve));
  t.after(() => new Promise((resolve) => { server.closeAllConnections(); server.close(resolve); }));
  const browser = await startBrowser(t);
  await enter(browser, base, ANN);
  for (const host of ['127.0.0.1', 'localhost']) {
    await browser.open(`http://${host}:${server.address().port}/`);
    const results = await browser.run(async (target, review, body) => {
      const tries = [];
      for (const [path, init] of [
        [`/v1/reviews/${review}`, {}],
        [`/v1/reviews/${review}/vote`, { method: 'POST', body, headers: { 'content-type': 'application/json' } }],
        [`/v1/reviews/${review}/vote`,
          { method: 'POST', body, mode: 'no-cors', headers: { 'content-type': 'text/plain' } }],
        [`/v1/reviews/${review}/cancel`, { method: 'POST', body: '{}', mode: 'no-cors' }],
        ['/v1/session', { method: 'DELETE' }], ['/v1/session', {}],
      ]) {
        tries.push(await fetch(target + path, { credentials: 'include', ...init }).then((r) => r.type, (e) => e.name));
      }
      const frame = document.createElement('iframe');
      frame.src = target;
      document.body.append(frame);
      await new Promise((resolve) => { frame.onload = resolve; setTimeout(resolve, 2000); });
      const form = document.createElement('form');
      Object.assign(form, { method: 'post', action: `${target}/v1/reviews/${review}/vote`, target: '_blank' });
      form.append(Object.assign(document.createElement('input'), { name: body, value: '' }));
      document.body.append(form);
      form.submit();
      return { tries, framed: frame.contentDocument === null ? 'foreign' : frame.contentDocument.body?.innerText ??
        '' };
    }, base, id, JSON.stringify({ vote: 'approve', review_digest: digest }));
    assert.ok(results.tries.every((result) => result === 'TypeError' || result === 'opaque'), JSON.stringify(results));
  }
  assert.ok(seen.some((cookie) => cookie.includes('writ=')),
    'the other port does get the cookie, which alone opens nothing');
  assert.equal((await api(base, ANN, `/reviews/${id}`)).records.length, 1);
  await browser.open(`${base}/reviews/${id}`);
  await browser.until(() => document.querySelector('.ballot') !== null);
});

test('a voter ranks the options by keyboard, and says how sure it is', { skip: SKIP }, async (t) => {
  const { base, session } = await setUp(t, { reviews: { finance: { engine: 'borda', quorum: '1',
    voters: [{ id: 'ann' }, { id: 'bob' }] } } });
  const id = await asks(session, { amount: 1 });
  const browser = await startBrowser(t);
  await enter(browser, base, ANN, `/reviews/${id}`);
  await browser.until(() => document.querySelector('#place-1') !== null);
  await browser.tabTo('#place-1');
  await browser.press(KEY.down, KEY.down); // ask for changes
  await browser.press(KEY.tab, KEY.down, KEY.down, KEY.tab, KEY.down, KEY.down); // twice the same
  await browser.tabTo('.ballot button');
  await browser.press(KEY.enter);
  await browser.sees('Give each option one place.');
  await browser.until(() => document.activeElement?.id === 'place-1');
  await browser.press(KEY.tab, KEY.up); // approve
  await browser.press(KEY.tab, KEY.down); // reject
  await browser.tabTo('#feedback');
  await browser.press(...'smaller');
  await browser.press(KEY.tab, KEY.enter);
  await browser.sees('You voted: ask for changes, then approve, then reject');
  const { voters } = await api(base, ANN, `/reviews/${id}`);
  assert.deepEqual(voters[0].ranking, ['modify', 'approve', 'reject']);
});

test('a voter sees all candidates and ranks them by keyboard', { skip: SKIP }, async (t) => {
  const { base, gw } = await setUp(t, { frameworks: { crew: { resource: 'urn:crew', timeout: '5m' } },
    reviews: { finance: { engine: 'borda', quorum: '1', options: ['candidates', 'reject'], voters: [{ id: 'ann' }] } },
    tools: { 'crew/write': { scope: 'files', approval: { review: 'finance' },
      arguments: [{ arg: 'path', op: 'type', value: 'string' }] } } });
  const asked = await (await fetch(`${gw.origin}/v1/before`, { method: 'POST',
    headers: { authorization: `Bearer ${DEV.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ tool: 'crew/write',
      candidates: ['first', 'second', 'third'].map((path) => ({ path })) }) })).json();
  const browser = await startBrowser(t);
  await enter(browser, base, ANN, `/reviews/${asked.continuation_id}`);
  for (const path of ['first', 'second', 'third']) await browser.sees(path);
  await browser.sees('Candidate 3');
  await browser.until(() => document.querySelector('#place-4') !== null);
  await browser.tabTo('#place-1');
  await browser.press(KEY.down, KEY.down, KEY.tab); // 2
  await browser.press(KEY.down, KEY.tab, KEY.down, KEY.down, KEY.down, KEY.tab); // 1, then 3
  await browser.press(KEY.down, KEY.down, KEY.down, KEY.down); // reject
  await browser.tabTo('.ballot button');
  await browser.press(KEY.enter);
  await browser.sees('Candidate 2 is elected; it alone may run.');
  const { elected, voters } = await api(base, ANN, `/reviews/${asked.continuation_id}`);
  assert.deepEqual([elected, voters[0].ranking], ['2', ['2', '1', '3', 'reject']]);
});

test('logging in again leads back to the same view', { skip: SKIP }, async (t) => {
  const { base, gw, session } = await setUp(t, { reviewers: { ann: {} } });
  const id = await asks(session, { amount: 1 });
  const browser = await startBrowser(t);
  await enter(browser, base, ANN, `/reviews/${id}`);
  await browser.until(() => document.querySelector('.ballot') !== null);
  await browser.run(() => localStorage.setItem('writ-page', 'another'));
  await browser.click('#vote-approve');
  await browser.click('.ballot button');
  await browser.until(() => document.activeElement?.id === 'token');
  assert.equal((await api(base, ANN, `/reviews/${id}`)).records.length, 1);
  await browser.press(...ANN.token, KEY.enter);
  await browser.until(() => document.querySelector('.ballot') !== null);
  assert.equal(await browser.url(), `${base}/reviews/${id}`);

  await gw.reload({ ...gw.config, agents: gw.config.agents.filter((agent) => agent.id !== 'ann') });
  await browser.until(() => document.querySelector('#token') !== null);
  await browser.press(...ANN.token, KEY.enter);
  await browser.sees('This token is not accepted.');
  await browser.press(...FOREIGN.token, KEY.enter);
  await browser.sees('Page not found');
  await browser.click('#leave');
  await browser.until(() => document.querySelector('#token') !== null && localStorage.length === 0);
  assert.deepEqual(await browser.cookies(), []);
});

test('the page passes the accessibility checks, light and dark, wide and narrow', { skip: SKIP },
    async (t) => {
  const { base, session } = await setUp(t);
  const id = await asks(session, {
    amount: 2500.5, currency: 'EUR', to: 'DE89 3704 0044 0532 0130 00',
    note: 'Invoice 4711, second reminder.\nPlease pay today!\u202E',
    lines: [{ text: 'Consulting', hours: 12 }, { text: 'p\u0430ypal fees', hours: 0 }],
  });
  await vote(base, BOB, id, 'modify', 'Is the second reminder real? The invoice was paid in October.');
  await asks(session, { amount: 12, currency: 'EUR', to: 'acme', note: 'Stamps' });
  const done = await asks(session, { amount: 7, to: 'acme' });
  for (const who of [ANN, BOB, EVE]) await vote(base, who, done, 'approve');
  await session.call('pay__transfer', { amount: 7, to: 'acme' });

  const browser = await startBrowser(t);
  await browser.size(1100, 820);
  await browser.open(`${base}/`);
  await browser.until(() => document.activeElement?.id === 'token');
  for (const scheme of ['light', 'dark']) {
    await browser.scheme(scheme);
    assert.deepEqual(await faults(browser), [], `login, ${scheme}`);
  }
  const views = [ // the list is short
    ['reviews', '/reviews', 'Stamps', ANN], ['review', `/reviews/${id}`, 'What happened', ANN],
    ['over', `/reviews/${done}`, 'no longer kept', ANN],
    ['ledger', '/ledger', 'All calls of', AUDITOR], ['call', `/ledger/${done}`, 'Its life', AUDITOR],
  ];
  let who = null;
  for (const [name, path, text, person] of views) {
    if (person !== who) {
      if (who !== null) await browser.click('#leave');
      await enter(browser, base, person);
    }
    who = person;
    await browser.open(base + path);
    await browser.sees(text);
    for (const scheme of ['light', 'dark']) {
      await browser.scheme(scheme);
      await browser.size(1100, name === 'reviews' ? 400 : 820);
      assert.deepEqual(await faults(browser), [], `${name}, ${scheme}`);
      await picture(browser, `${name}-${scheme}`);
      await browser.size(390, 844);
      assert.deepEqual(await faults(browser), [], `${name}, ${scheme}, phone`);
      assert.ok(await browser.run(() => document.documentElement.scrollWidth <= innerWidth), `${name} fits a phone`);
      await picture(browser, `${name}-${scheme}-phone`);
    }
  }
});

test('a person who may read contents sees them after a press; the look is recorded', { skip: SKIP }, async (t) => {
  const up = await startUpstream(t, { onCall: (m) => m.text('paid\u202Ednes <b id="evil">') });
  const gw = await startGateway(t, config(up, { content_readers: ['chief'], defaults: { contents: { keep: '1h' } },
    tools: { 'pay/balance': { scope: 'accounts', arguments: [{ arg: 'of', op: 'type', value: 'string' },
      { arg: 'pin', op: 'type', value: 'string', secret: true, optional: true }], duplicates: 'allow' } } }), {
    prepare: (dir) =>
      assert.equal(writ(['keys', 'new', '--purpose', 'contents', '--dir', join(dir, 'keys')]).code, 0) });
  const base = `http://127.0.0.1:${gw.adminPort}`;
  const session = await openSession(gw, { token: DEV.token });
  await session.call('pay__balance', { of: 'm\u0430llory' });
  await session.call('pay__balance', { of: 'x', pin: '1234' });
  const [whole, part] = gw.decisions().map((call) => call.decision_id);
  const browser = await startBrowser(t);
  await enter(browser, base, AUDITOR, `/ledger/${whole}`);
  await browser.sees('Its life');
  assert.doesNotMatch(await browser.text('main'), /Contents/, 'not for an auditor who is no content reader');
  await browser.run(() => document.querySelector('#leave').click());
  await enter(browser, base, CHIEF, `/ledger/${whole}`);
  await browser.sees('The ledger records your name and the time.');
  await browser.run(() => [...document.querySelectorAll('button')].find((b) => b.textContent === 'Show contents')
    .focus());
  await browser.press(KEY.enter);
  await browser.sees('U+202E');
  const shown = await browser.text('.contents');
  assert.match(shown, /Arguments[^]*of\s+m\u0430llory\s+Has letters that look like others[^]*Result[^]*<b id="evil">/);
  assert.equal(await browser.run(() => document.querySelector('#evil')), null);
  assert.deepEqual(await faults(browser), []);
  await browser.open(`${base}/ledger/${part}`);
  await browser.sees('The ledger records your name and the time.');
  await browser.run(() => [...document.querySelectorAll('button')].find((b) => b.textContent === 'Show contents')
    .click());
  await browser.sees('Members that the policy marks as secret were never kept. They are missing here.');
  assert.deepEqual(await browser.complaints(), []);
  await gw.stop();
  assert.equal(gw.verify().facts, 2, 'two looks');
});

test('a person who may read policy and contents gets the rule, the nearest one, and an edit to copy', { skip: SKIP },
  async (t) => {
    const up = await startUpstream(t);
    const balance = (max, role) => ({ roles: [role], scope: 'accounts', duplicates: 'allow',
      arguments: [{ arg: 'days', op: 'le', value: max }, { arg: 'of', op: 'in', value: ['x'] }] });
    const more = { content_readers: ['chief'], defaults: { contents: { keep: '1h' } },
      tools: { 'pay/balance': [balance(7, 'clerk'), balance(90, 'boss')],
        'pay/transfer': { scope: 'p', contents: { keep: '0s' }, arguments: [{ arg: 'n', op: 'le', value: 1 }] } } };
    const clerk = bearer('dev', { tenant: 'acme', role: 'clerk' });
    const gw = await startGateway(t, { ...config(up, more),
      agents: ALL.map((agent) => (agent === DEV ? clerk.entry : agent.entry)) }, { prepare: (dir) =>
      assert.equal(writ(['keys', 'new', '--purpose', 'contents', '--dir', join(dir, 'keys')]).code, 0) });
    const base = `http://127.0.0.1:${gw.adminPort}`;
    const session = await openSession(gw, { token: clerk.token });
    await session.call('pay__balance', { days: 60, of: '<b id="evil">m\u0430llory\u202e' });
    await session.call('pay__transfer', { n: 2 });
    const [kept, unkept] = gw.decisions().map((call) => call.decision_id);
    const before = readFileSync(gw.configFile, 'utf8');
    const press = (browser, label) => browser.run((name) => {
      const button = [...document.querySelectorAll('button')].find((b) => b.textContent === name);
      button.focus();
    }, label).then(() => browser.press(KEY.enter));
    const browser = await startBrowser(t);

    await enter(browser, base, CHIEF, `/ledger/${kept}`);
    await browser.sees('Make a rule from this');
    const line = (text) => before.split('\n').findIndex((l) => l.includes(text)) + 1;
    assert.match(await browser.text('main'), new RegExp(`Rule at\\s+${gw.configFile}:${line('"roles"')}`));
    assert.match(await browser.text('main'), /Would be accepted\s+a number not above 7/);
    assert.equal(gw.logText.includes('evil'), false);
    await press(browser, 'Show the edit');
    await browser.sees('This edit allows the call, and calls like it');
    const shown = await browser.text('.edit');
    assert.match(shown, /Nearest rule\s+\S+writ\.yaml:\d+, for roles boss, refuses \/of alone: it accepts /);
    assert.match(shown, /-\s+"value": 7[^]*\+\s+"value": 60[^]*\+[^]*<b id=.{1,2}evil/);
    assert.match(shown, /Has letters that look like others; they are marked/);
    assert.match(shown, /The gateway does not write its configuration/);
    assert.equal(await browser.run(() => document.querySelector('#evil')), null);
    await press(browser, 'Copy');
    await browser.until(() => /^(Copied|Selected)\.$/.test(document.getElementById('said').textContent));
    const { edit } = await api(base, CHIEF, `/contents/${kept}/why`);
    assert.equal(await browser.run(() => document.querySelector('.edit pre').textContent), edit);
    assert.equal((await browser.run(() => String(getSelection()))).trim(), edit.trim());
    assert.deepEqual(await faults(browser), []);
    assert.equal(readFileSync(gw.configFile, 'utf8'), before);

    await browser.open(`${base}/ledger/${unkept}`);
    await browser.sees('Arguments of this call were not kept. An edit needs them');
    assert.match(await browser.text('main'), new RegExp(`writ why ${unkept} --config`));
    await browser.run(() => document.querySelector('#leave').click());
    await enter(browser, base, AUDITOR, `/ledger/${kept}`);
    await browser.sees('Only a subject in content_readers opens the kept arguments of a call.');
    await browser.run(() => document.querySelector('#leave').click());
    await enter(browser, base, clerk, `/ledger/${kept}`);
    await browser.sees('Its life');
    assert.doesNotMatch(await browser.text('main'), /Make a rule|Rule at/, 'not for the agent itself');
    assert.deepEqual(await browser.complaints(), []);
    await gw.stop();
    assert.equal(gw.verify().facts, 2, 'two looks: of the page, and of the test');
  });
