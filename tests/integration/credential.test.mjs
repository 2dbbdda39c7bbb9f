// Credentials between three implementations: ours, npm's jose, and Node's own crypto.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash, createPublicKey, randomUUID, verify as nodeVerify } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const BIN = process.env.WRIT_BIN ?? 'build/dev/writ';
const ISSUE = join(process.env.WRIT_BUILD_DIR ?? 'build/dev', 'tests', 'credential_issue');
const npm = createRequire(new URL('../support/npm/package.json', import.meta.url));
const jose = await import(pathToFileURL(npm.resolve('jose')));

const ISS = 'https://gateway.example/';
const AUD = 'http://127.0.0.1:9000/mcp';
const TOOL = 'pay.transfer';
const ARGUMENTS = { currency: 'EUR', amount: 12.5, note: 'é "quoted"' };
const BEGIN = 1782363600; // 2026-06-25T05:00:00Z
const END = BEGIN + 60;

let folder;
before(() => { folder = mkdtempSync(join(tmpdir(), 'writ-credential-')); });
after(() => rmSync(folder, { recursive: true }));

function file(name, content) {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

function writ(args) {
  const run = spawnSync(BIN, args, { encoding: 'utf8' });
  return { code: run.status, out: run.stdout, err: run.stderr };
}

// H(x) of the contract; every value in here is canonical already but for the order of members.
function digest(value) {
  const sort = (v) => Array.isArray(v) ? v.map(sort)
    : v !== null && typeof v === 'object'
      ? Object.fromEntries(Object.keys(v).sort().map((k) => [k, sort(v[k])])) : v;
  return `sha256:${createHash('sha256').update(JSON.stringify(sort(value))).digest('hex')}`;
}

const STATE = digest({ balance: 7 });

function decision() {
  const id = randomUUID();
  return {
    decision: 'allow', decision_id: id, agent_id: 'agent-1', tool: TOOL, normalized_scope: 'payments/EUR',
    normalization_id: 'jcs-sha256', params_hash: digest(ARGUMENTS), intent_digest: digest({ i: id }),
    intent_ref: digest({ r: id }), receipt_ref: digest({ e: id }), decision_context_hash: digest({ c: id }),
    policy_digest: digest({ p: 1 }), policy_refs: ['tools/pay.transfer#0'], target_state_digest: STATE,
    idempotency_key: 'k-1', boundary_id: 'run-1', seq: 3, running_count: 4,
    issued_at: '2026-06-25T05:00:00.250000Z', expires_at: '2026-06-25T05:01:00.250000Z',
  };
}

// A credential of ours.
function issue(dir, of = decision(), tenant = 'acme') {
  const run = spawnSync(ISSUE, [dir, ISS, AUD, tenant], { input: JSON.stringify(of), encoding: 'utf8' });
  assert.equal(run.status, 0, run.stderr);
  return run.stdout.trim();
}

// The same claims, for others to sign.
function claims(change = {}) {
  const d = decision();
  const all = {
    iss: ISS, sub: d.agent_id, aud: AUD, iat: BEGIN, nbf: BEGIN, exp: END, jti: d.decision_id,
    authorization_details: [{ type: 'mcp_tool_call', tool: TOOL, locations: [AUD], params_hash: d.params_hash }],
    decision_id: d.decision_id, intent_ref: d.intent_ref, intent_digest: d.intent_digest,
    params_hash: d.params_hash, target_state_digest: STATE, normalized_scope: d.normalized_scope,
    continuation_id: null, idempotency_key: d.idempotency_key, boundary_id: d.boundary_id, seq: d.seq,
    policy_digest: d.policy_digest, receipt_ref: d.receipt_ref,
    decision_context_hash: d.decision_context_hash, tenant: 'acme', ...change,
  };
  return Object.fromEntries(Object.entries(all).filter(([, v]) => v !== undefined));
}

const CALL = { tool: TOOL, arguments: ARGUMENTS, agent_id: 'agent-1', tenant: 'acme', target_state_digest: STATE };

function verify({ jwks, token, call = CALL, at = BEGIN + 10, args = [] }) {
  return writ(['verify', 'credential', '--jwks', file('jwks.json', jwks), '--token', file('token', token),
    '--call', file('call.json', call), '--at', String(at), '--aud', AUD, '--iss', ISS, ...args]);
}

// What the gateway publishes, of keys as old as the credentials of these tests.
function published(dir, ...args) {
  const set = JSON.parse(writ(['keys', 'jwks', '--dir', dir, ...args]).out);
  return { ...set, keys: set.keys.map((key) => ({ ...key, nbf: BEGIN - 60 })) };
}

for (const alg of ['ES256', 'RS256', 'EdDSA']) {
  test(`jose and Node verify our ${alg} credentials against our JWKS`, async () => {
    const dir = join(folder, `ours-${alg}`);
    const kid = JSON.parse(writ(['keys', 'new', '--dir', dir, '--alg', alg, '--json']).out).kid;
    const jwks = published(dir);
    assert.equal(jwks.keys.length, 1);
    assert.equal(await jose.calculateJwkThumbprint(jwks.keys[0], 'sha256'), kid);
    const of = decision();
    const token = issue(dir, of);

    const { payload, protectedHeader } = await jose.jwtVerify(token, jose.createLocalJWKSet(jwks), {
      issuer: ISS, audience: AUD, typ: 'writ-credential+jwt', algorithms: [alg],
      currentDate: new Date((BEGIN + 10) * 1000),
      requiredClaims: Object.keys(claims()),
    });
    assert.deepEqual(protectedHeader, { alg, kid, typ: 'writ-credential+jwt' });
    assert.deepEqual(payload, claims({
      jti: of.decision_id, decision_id: of.decision_id, intent_digest: of.intent_digest,
      intent_ref: of.intent_ref, receipt_ref: of.receipt_ref, decision_context_hash: of.decision_context_hash,
    }));

    const [head, body, signature] = token.split('.');
    const key = createPublicKey({ key: jwks.keys[0], format: 'jwk' });
    const input = Buffer.from(`${head}.${body}`);
    const raw = Buffer.from(signature, 'base64url');
    const how = alg === 'ES256' ? { key, dsaEncoding: 'ieee-p1363' } : key;
    assert.ok(nodeVerify(alg === 'EdDSA' ? null : 'sha256', input, how, raw));

    const ours = verify({ jwks, token });
    assert.deepEqual([ours.code, ours.out], [0, 'ok\n'], ours.err);
  });
}

async function foreign(alg, change = {}, header = {}) {
  const { publicKey, privateKey } = await jose.generateKeyPair(alg, { extractable: true });
  const jwk = { ...await jose.exportJWK(publicKey), kid: 'theirs', use: 'sig', alg };
  const token = await new jose.SignJWT(claims(change))
    .setProtectedHeader({ alg, kid: 'theirs', typ: 'writ-credential+jwt', ...header }).sign(privateKey);
  return { jwks: { keys: [jwk] }, token, privateKey, jwk };
}

for (const alg of ['ES256', 'RS256', 'EdDSA']) {
  test(`we verify ${alg} credentials that jose signed`, async () => {
    const run = verify(await foreign(alg));
    assert.deepEqual([run.code, run.out], [0, 'ok\n'], run.err);
  });
}

for (const alg of ['ES384', 'PS256', 'RS512']) {
  test(`a key for ${alg} is refused`, async () => {
    const run = verify(await foreign(alg));
    assert.deepEqual([run.code, run.out], [1, 'unknown_key\n'], run.err);
    assert.match(run.err, /1 of the keys cannot be used/);
  });
}

const other = digest({ other: 1 });
const REASONS = [
  ['malformed', { exp: undefined }],
  ['malformed', { exp: `${END}` }],
  ['malformed', { exp: END + 0.5 }],
  ['malformed', { jti: undefined }],
  ['malformed', { authorization_details: undefined }],
  ['malformed', {}, { crit: ['exp'], exp: 1 }],
  ['malformed', {}, { jku: 'http://127.0.0.1:1/' }],
  ['malformed', {}, { typ: 'at+jwt' }],
  ['malformed', {}, { typ: 'JWT' }],
  ['malformed', {}, { typ: undefined }],
  ['malformed', { exp: BEGIN + 10 * 365 * 86400 }],
  ['unknown_key', {}, { kid: 'theirs2' }],
  ['wrong_issuer', { iss: ISS.slice(0, -1) }],
  ['wrong_audience', { aud: `${AUD}/` }],
  ['malformed', { aud: [AUD, 'x'] }],
  ['not_yet_valid', { nbf: BEGIN + 11 }],
  ['not_yet_valid', { iat: BEGIN + 11 }],
  ['expired', { exp: BEGIN + 10 }],
  ['scope_mismatch', { sub: 'agent-2' }],
  ['scope_mismatch', { tenant: 'umbrella' }],
  ['scope_mismatch', { authorization_details: [{ ...claims().authorization_details[0], tool: 'pay.refund' }] }],
  ['args_mismatch', { params_hash: other }],
  ['args_mismatch', { authorization_details: [{ ...claims().authorization_details[0], params_hash: other }] }],
  ['state_drift', { target_state_digest: other }],
  ['state_drift', { target_state_digest: null }],
];
for (const [reason, change, header] of REASONS) {
  test(`${reason}: ${JSON.stringify({ ...change, ...header })}`, async () => {
    // jose refuses to sign an unknown member; crit must be declared to it
    const { publicKey, privateKey } = await jose.generateKeyPair('ES256');
    const jwks = { keys: [{ ...await jose.exportJWK(publicKey), kid: 'theirs' }] };
    const token = await new jose.CompactSign(Buffer.from(JSON.stringify(claims(change))))
      .setProtectedHeader({ alg: 'ES256', kid: 'theirs', typ: 'writ-credential+jwt', ...header })
      .sign(privateKey, { crit: { exp: true } });
    const run = verify({ jwks, token });
    assert.deepEqual([run.code, run.out], [1, `${reason}\n`], run.err);
  });
}

test('bad_signature: another key under the same kid, an unsigned token, a MAC with the public key', async () => {
  const mine = await foreign('ES256');
  const stranger = await foreign('ES256');
  const [head, body] = mine.token.split('.');
  const none = Buffer.from(JSON.stringify({ alg: 'none', kid: 'theirs', typ: 'writ-credential+jwt' }))
    .toString('base64url');
  const pem = await jose.exportSPKI(await jose.importJWK(mine.jwk, 'ES256'));
  const mac = await new jose.SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid: 'theirs',
    typ: 'writ-credential+jwt' })
    .sign(new TextEncoder().encode(pem));
  for (const token of [stranger.token, `${none}.${body}.`, `${head}.${body}.`, mac]) {
    const run = verify({ jwks: mine.jwks, token });
    assert.deepEqual([run.code, run.out], [1, 'bad_signature\n'], token);
  }
});

test('missing_credential and malformed texts', async () => {
  const { jwks, token } = await foreign('ES256');
  const rows = [['missing_credential', ''], ['missing_credential', '\n'], ['malformed', 'x'],
    ['malformed', `${token}.`], ['malformed', `${token} `], ['malformed', `${token}\n\n`], ['malformed', `${token}=`],
    ['malformed', JSON.stringify({ token })], ['malformed', `${'A'.repeat(1 << 20)}.e30.`]];
  for (const [reason, text] of rows) {
    const run = verify({ jwks, token: text });
    assert.deepEqual([run.code, run.out], [1, `${reason}\n`], text.slice(0, 60));
  }
  assert.equal(verify({ jwks, token: `${token}\r\n` }).out, 'ok\n');
});

test('the verifier compares only what it knows', async () => {
  const { jwks, token } = await foreign('ES256', { sub: 'x', tenant: null, target_state_digest: null });
  const call = { tool: TOOL, arguments: ARGUMENTS };
  assert.equal(verify({ jwks, token, call }).out, 'ok\n');
  assert.equal(verify({ jwks, token, call: { ...call, agent_id: 'y' } }).out, 'scope_mismatch\n');
  assert.equal(verify({ jwks, token, call: { ...call, tenant: 'y' } }).out, 'scope_mismatch\n');
  assert.equal(verify({ jwks, token, call: { ...call, tenant: null } }).out, 'ok\n');
  assert.equal(verify({ jwks, token, call: { ...call, target_state_digest: STATE } }).out, 'state_drift\n');
  assert.equal(verify({ jwks, token, call: { ...call, target_state_digest: null } }).out, 'ok\n');
});

test('arguments are compared by value, and absent ones are an empty object', async () => {
  const { jwks, token } = await foreign('ES256');
  const again = '{"tool":"pay.transfer","arguments":{"note":"\\u00e9 \\"quoted\\"","currency":"EUR","amount":1.25e1}}';
  assert.equal(verify({ jwks, token, call: again }).out, 'ok\n');
  assert.equal(verify({ jwks, token, call: { tool: TOOL } }).out, 'args_mismatch\n');
  const none = digest({});
  const empty = await foreign('ES256', { params_hash: none,
    authorization_details: [{ type: 'mcp_tool_call', tool: TOOL, locations: [AUD], params_hash: none }] });
  assert.equal(verify({ ...empty, call: { tool: TOOL } }).out, 'ok\n');
});

test('arguments with a number that a double changes are refused', async () => {
  const { jwks, token } = await foreign('ES256');
  for (const amount of ['12.5000000000000000000001', '12.4999999999999999999999', '9007199254740993', '1e-400']) {
    const call = (tool) =>
      `{"tool":"${tool}","arguments":{"currency":"EUR","amount":${amount},"note":"é \\"quoted\\""}}`;
    assert.deepEqual(verify({ jwks, token, call: call(TOOL) }).out, 'number_not_exact\n', amount);
    assert.equal(verify({ jwks, token, call: call('other') }).out, 'scope_mismatch\n'); // which comes before
  }
});

test('time, audience and issuer may be in the call, and options go before them', async () => {
  const { jwks, token } = await foreign('ES256');
  const base = ['verify', 'credential', '--jwks', file('jwks.json', jwks), '--token', file('token', token), '--call'];
  const run = (call, ...args) => writ([...base, file('call.json', call), ...args]).out;
  const call = { ...CALL, aud: AUD, iss: ISS, at: BEGIN + 10 };
  assert.equal(run(call), 'ok\n');
  assert.equal(run({ ...call, at: '2026-06-25T05:00:10Z' }), 'ok\n');
  assert.equal(run({ ...call, at: END }), 'expired\n');
  assert.equal(run(call, '--at', '2026-06-25T05:01:00Z'), 'expired\n');
  assert.equal(run(call, '--at', `${END + 1}`, '--skew', '2'), 'ok\n');
  assert.equal(run({ ...call, at: undefined }), 'expired\n'); // now
  assert.equal(run({ ...call, aud: 'x' }, '--aud', AUD), 'ok\n');
  assert.equal(run({ ...call, iss: 'x' }), 'wrong_issuer\n');
  assert.equal(run({ ...call, iss: 'x' }, '--iss', ISS), 'ok\n');
  assert.equal(run({ ...call, iss: undefined }), 'ok\n');
  assert.equal(run(call, '--max-lifetime', '59'), 'malformed\n');
  assert.equal(run(call, '--max-lifetime', '60'), 'ok\n');
  assert.equal(run(call, '--typ', 'JWT'), 'malformed\n');
  assert.equal(run(call, '--typ', 'writ-credential+jwt'), 'ok\n');
});

test('answers as JSON', async () => {
  const { jwks, token } = await foreign('ES256');
  const good = verify({ jwks, token, args: ['--json'] });
  assert.equal(good.code, 0);
  const answer = JSON.parse(good.out);
  assert.equal(answer.ok, true);
  assert.equal(answer.reason, 'ok');
  assert.equal(answer.exp, END);
  assert.equal(answer.jti, jose.decodeJwt(token).jti);
  const bad = verify({ jwks, token, at: END, args: ['--json'] });
  assert.equal(bad.code, 1);
  assert.deepEqual(Object.keys(JSON.parse(bad.out)), ['ok', 'reason', 'sentence']);
  assert.equal(JSON.parse(bad.out).reason, 'expired');
});

test('unreadable input is a failure without a verdict', async () => {
  const { jwks, token, privateKey } = await foreign('ES256');
  const secret = { keys: [{ ...await jose.exportJWK(privateKey), kid: 'theirs' }] };
  const rows = [
    [3, { jwks: secret, token }], [3, { jwks: { keys: [{ kty: 'oct', k: 'AAAA' }] }, token }],
    [3, { jwks: '{"keys":[],"keys":[]}', token }], [3, { jwks: 'x', token }], [3, { jwks: [], token }],
    [3, { jwks, token, call: 'x' }], [3, { jwks, token, call: [] }], [3, { jwks, token, call: {} }],
    [3, { jwks, token, call: { ...CALL, arguments: [] } }], [3, { jwks, token, call: { ...CALL, more: 1 } }],
    [3, { jwks, token, call: { ...CALL, tool: 7 } }], [3, { jwks, token, call: '{"tool":"a","tool":"b"}' }],
    [3, { jwks, token, call: '{"tool":"a","arguments":{"n":1e400}}' }],
    [2, { jwks, token, at: 'yesterday' }], [2, { jwks, token, args: ['--skew', '61'] }],
    [2, { jwks, token, args: ['--max-lifetime', '0'] }],
  ];
  for (const [code, inputs] of rows) {
    const run = verify(inputs);
    assert.deepEqual([run.code, run.out], [code, ''], JSON.stringify(inputs).slice(0, 300));
    assert.notEqual(run.err, '');
  }
  const missing = writ(['verify', 'credential', '--jwks', join(folder, 'none'), '--token', file('token', token),
    '--call', file('call.json', CALL), '--aud', AUD]);
  assert.equal(missing.code, 3);
  const unaimed = writ(['verify', 'credential', '--jwks', file('jwks.json', jwks), '--token', file('token', token),
    '--call', file('call.json', CALL)]);
  assert.equal(unaimed.code, 2);
  assert.match(unaimed.err, /--aud/);
});

test('a rotated key verifies what it signed until it is retired', () => {
  const dir = join(folder, 'rotated');
  const jwks = () => published(dir);
  const old = JSON.parse(writ(['keys', 'new', '--dir', dir, '--json']).out).kid;
  const token = issue(dir);
  assert.equal(verify({ jwks: jwks(), token }).out, 'ok\n');
  const next = JSON.parse(writ(['keys', 'rotate', '--dir', dir, '--json']).out).kid;
  assert.notEqual(next, old);
  assert.deepEqual(jwks().keys.map((k) => k.kid), [next, old]);
  assert.equal(verify({ jwks: jwks(), token }).out, 'ok\n');
  assert.equal(jose.decodeProtectedHeader(issue(dir)).kid, next);
  assert.equal(writ(['keys', 'retire', '--dir', dir, '--kid', next]).code, 3); // still active
  assert.equal(writ(['keys', 'retire', '--dir', dir, '--kid', old]).code, 0);
  assert.deepEqual(jwks().keys.map((k) => k.kid), [next]);
  assert.equal(verify({ jwks: jwks(), token }).out, 'unknown_key\n');
  assert.equal(verify({ jwks: jwks(), token: issue(dir) }).out, 'ok\n');
  const text = readFileSync(join(dir, 'keys.json'), 'utf8');
  assert.doesNotMatch(text, /"d"|PRIVATE/);
});

test('a revoked key verifies its earlier signatures only for a verifier that asks about that time', () => {
  const dir = join(folder, 'revoked');
  const made = JSON.parse(writ(['keys', 'new', '--dir', dir, '--json']).out);
  const token = issue(dir);
  const since = new Date((BEGIN + 5) * 1000).toISOString();
  const revoked = JSON.parse(writ(['keys', 'revoke', '--dir', dir, '--kid', made.kid, '--since', since, '--json']).out);
  assert.deepEqual([revoked.state, Date.parse(revoked.revoked_since)], ['revoked', (BEGIN + 5) * 1000]);
  const now = published(dir), history = published(dir, '--history');
  assert.ok(!now.keys.some((key) => key.kid === made.kid), 'other readers do not look at revoked');
  assert.deepEqual(now.revoked, [{ kid: made.kid, revoked_at: BEGIN + 5 }]);
  assert.equal(verify({ jwks: now, token }).out, 'key_revoked\n');
  assert.equal(verify({ jwks: history, token }).out, 'key_revoked\n', 'whatever time it states');
  assert.equal(verify({ jwks: history, token, at: BEGIN + 4 }).out, 'ok\n', 'an audit');
  assert.equal(verify({ jwks: now, token: issue(dir) }).out, 'ok\n', 'by the key that came after it');
});

test('a signature outside the validity of its key is refused', () => {
  const dir = join(folder, 'windows');
  writ(['keys', 'new', '--dir', dir]);
  const token = issue(dir);
  const [key] = published(dir).keys;
  const judged = (over, args) => verify({ jwks: { keys: [{ ...key, ...over }] }, token, args }).out;
  assert.equal(judged({ nbf: BEGIN, exp: BEGIN }), 'ok\n');
  assert.equal(judged({ nbf: BEGIN + 1 }), 'key_out_of_time\n');
  assert.equal(judged({ exp: BEGIN - 1 }), 'key_out_of_time\n');
  assert.equal(judged({ exp: BEGIN - 1 }, ['--skew', '1']), 'ok\n');
  assert.equal(judged({ revoked: { revoked_at: BEGIN + 20 } }), 'ok\n');
  assert.equal(judged({ revoked: { revoked_at: BEGIN + 10 } }), 'key_revoked\n');
  assert.equal(judged({ revoked: true }), 'unknown_key\n', 'an unreadable key is unknown');
});
