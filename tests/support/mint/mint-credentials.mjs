// Mints vectors/credentials: credentials, the calls they arrive with, and the first reason against
// each; and keys that lead to each other. Written from docs/credentials.md; shares no code with the C implementation.
//
//   tests/support/node tests/support/mint/mint-credentials.mjs [FOLDER]     (default: vectors)
import { createHmac } from 'node:crypto';
import { H, base64url, ed25519, es256, jcs, rs256, write } from './mint.mjs';

const keys = { ES256: es256('writ vectors: credentials'), RS256: rs256('writ vectors: credentials'),
  EdDSA: ed25519('writ vectors: credentials') };
const stranger = es256('writ vectors: a stranger'), revoked = es256('writ vectors: revoked'),
  bounded = es256('writ vectors: bounded');
const NOW = 1782363600, AUD = 'https://tools.example/mcp', TYP = 'writ-credential+jwt', ISS = 'https://gateway.example',
  ARGS = { amount: 12.5, to: 'DE89' };
const STATE = H({ balance: 7 });
const without = (object, ...names) =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));

const CLAIMS = {
  aud: AUD, iss: ISS, sub: 'agent:payer', jti: 'd-1', decision_id: 'd-1', iat: NOW, nbf: NOW, exp: NOW + 60,
  tenant: 'acme', boundary_id: 'run-1', seq: 0,
  authorization_details: [{ type: 'mcp_tool_call', tool: 'pay', locations: [AUD], params_hash: H(ARGS) }],
  params_hash: H(ARGS), target_state_digest: STATE, normalized_scope: 'pay/EUR', idempotency_key: 'key-1',
  continuation_id: null,
  intent_digest: H('intent'), intent_ref: H('ref'), policy_digest: H('policy'), decision_context_hash: H('context'),
  receipt_ref: H('receipt'),
};
const detail = (over) => ({ authorization_details: [{ ...CLAIMS.authorization_details[0], ...over }] });
const CALL = { tool: 'pay', arguments: ARGS, aud: AUD, iss: ISS, agent_id: 'agent:payer', tenant: 'acme',
  target_state_digest: STATE, now: NOW + 10 };

function token(claims = {}, { by = keys.ES256, header = {}, payload, signature } = {}) {
  const head = base64url(jcs({ alg: by.alg, kid: by.kid, typ: TYP, ...header }));
  const body = base64url(payload ?? JSON.stringify({ ...CLAIMS, ...claims }));
  return `${head}.${body}.${base64url(signature ?? by.sign(`${head}.${body}`))}`;
}
const dropped = (...names) => token({}, { payload: JSON.stringify(without(CLAIMS, ...names)) });

const cases = [];
const add = (id, reason, text, call = {}, options = {}) =>
  cases.push({ id, token: text, call: { ...CALL, ...call }, ...options, expect: { ok: reason === 'ok', reason } });
const good = token();

for (const by of Object.values(keys)) add(`good, ${by.alg}`, 'ok', token({}, { by }));
add('nothing is compared that is not known', 'ok', good, {},
  { call: { tool: 'pay', arguments: ARGS, aud: AUD, now: NOW + 10 } });
add('claims that nobody knows', 'ok', token({ more: { any: [1.5] } }));
const noTyp = (() => {
  const head = base64url(jcs({ alg: 'ES256', kid: keys.ES256.kid })), body = base64url(JSON.stringify(CLAIMS));
  return `${head}.${body}.${base64url(keys.ES256.sign(`${head}.${body}`))}`;
})();
const jwt = token({}, { header: { typ: 'JWT' } });
add('the typ of a gateway that is configured so', 'ok', jwt, { typ: 'JWT' });
add('arguments in another order', 'ok', good, { arguments: { to: 'DE89', amount: 12.5 } });
add('no arguments are {}', 'ok', token({ params_hash: H({}), ...detail({ params_hash: H({}) }) }),
  { arguments: undefined });
add('no tenant, no state', 'ok', token({ tenant: null, target_state_digest: null }),
  { tenant: null, target_state_digest: null });

add('nothing', 'missing_credential', '');
for (const [id, text] of [['no token', 'x'], ['two parts', good.split('.').slice(0, 2).join('.')],
  ['four parts', `${good}.x`], ['a blank', `${good} `], ['padded', `${good}=`],
  ['not base64url', good.replace(/.$/, '+')], ['too long', `${'a'.repeat(8193)}`]]) add(id, 'malformed', text);
for (const name of Object.keys(CLAIMS)) add(`without ${name}`, 'malformed', dropped(name));
for (const [id, header] of [['crit', { crit: ['exp'] }], ['a key of its own', { jwk: keys.ES256.jwk }],
  ['a place to fetch one', { jku: 'https://evil.example' }], ['another typ', { typ: 'at+jwt' }],
  ['JWT', { typ: 'JWT' }], ['a typ with its prefix', { typ: `application/${TYP}` }],
  ['typ in capitals', { typ: TYP.toUpperCase() }], ['typ of a status list', { typ: 'statuslist+jwt' }],
  ['typ of a rotation', { typ: 'writ-key-rotation' }]]) add(`header: ${id}`, 'malformed', token({}, { header }));
add('no typ', 'malformed', noTyp);
add('no typ, where another is expected', 'malformed', noTyp, { typ: 'JWT' });
add('the usual typ, where another is expected', 'malformed', good, { typ: 'JWT' });
for (const [id, claims] of [['exp as a text', { exp: '1782363660' }], ['exp with a fraction', { exp: NOW + 60.5 }],
  ['a jti of another decision', { jti: 'd-2' }], ['aud as a list', { aud: [AUD] }],
  ['params_hash that is no digest', { params_hash: 'sha256:00' }],
  ['a lifetime of more than an hour', { exp: NOW + 3601 }],
  ['two details', { authorization_details: [...CLAIMS.authorization_details, {}] }],
  ['another type of detail', detail({ type: 'payment' })], ['a detail with more', detail({ more: 1 })],
  ['an empty sub', { sub: '' }], ['seq below zero', { seq: -1 }]]) add(id, 'malformed', token(claims));
add('a claim twice', 'malformed', token({}, { payload: JSON.stringify(CLAIMS).replace('{', '{"sub":"x",') }));
add('not an object', 'malformed', token({}, { payload: '[]' }));
add('a longer lifetime than the verifier takes', 'malformed', good, { lifetime_max: 59 });
add('the longest that it takes', 'ok', good, { lifetime_max: 60 });
add('the longest of all', 'ok', token({ exp: NOW + 3600 }));

add('a revoked key', 'key_revoked', token({}, { by: revoked }));
add('a revoked key, before that', 'unknown_key', token({}, { by: revoked }), { now: NOW + 4 });
add('another kid', 'unknown_key', token({}, { header: { kid: 'x' } }));
add('a stranger', 'unknown_key', token({}, { by: stranger }));
add('a stranger under our kid', 'bad_signature', token({}, { by: stranger, header: { kid: keys.ES256.kid } }));
add('without signature', 'bad_signature', token({}, { signature: '' }));
add('alg none', 'bad_signature', token({}, { header: { alg: 'none' }, signature: '' }));
add('alg of another key', 'bad_signature', token({}, { header: { alg: 'EdDSA' } }));
add('a MAC by the public key', 'bad_signature', (() => {
  const head = base64url(jcs({ alg: 'HS256', kid: keys.ES256.kid, typ: TYP })),
  body = base64url(JSON.stringify(CLAIMS));
  return `${head}.${body}.${createHmac('sha256', keys.ES256.pem).update(`${head}.${body}`).digest('base64url')}`;
})());
add('a changed payload', 'bad_signature', (() => {
  const [head, , signature] = good.split('.');
  return `${head}.${base64url(JSON.stringify({ ...CLAIMS, sub: 'agent:other' }))}.${signature}`;
})());
add('the key had stopped signing', 'key_out_of_time', token({ iat: NOW + 6, nbf: NOW + 6 }, { by: bounded }));
add('its last second', 'ok', token({ iat: NOW + 5, nbf: NOW + 5 }, { by: bounded }));
add('its last second, and the clocks', 'ok', token({ iat: NOW + 6, nbf: NOW + 6 }, { by: bounded }), { skew: 1 });
add('the key did not sign yet', 'key_out_of_time', token({ iat: NOW - 11, nbf: NOW - 11 }, { by: bounded }));

add('another issuer', 'wrong_issuer', token({ iss: `${ISS}/` }));
add('another audience', 'wrong_audience', token({ aud: `${AUD}/` }));
add('another location', 'wrong_audience', token(detail({ locations: ['https://other.example'] })));
add('nbf to come', 'not_yet_valid', token({ nbf: NOW + 11 }));
add('nbf to come, and the clocks', 'ok', token({ nbf: NOW + 11 }), { skew: 1 });
add('issued in the future', 'not_yet_valid', token({ iat: NOW + 11, exp: NOW + 70 }));
add('at its end', 'expired', good, { now: NOW + 60 });
add('a second before', 'ok', good, { now: NOW + 59 });
add('at its end, and the clocks', 'ok', good, { now: NOW + 60, skew: 1 });
add('another tool', 'scope_mismatch', token(detail({ tool: 'Pay' })));
add('another agent', 'scope_mismatch', token({ sub: 'agent:other' }));
add('another tenant', 'scope_mismatch', token({ tenant: 'acme2' }));
add('no tenant', 'scope_mismatch', token({ tenant: null }));
add('a tenant where there is none', 'scope_mismatch', good, { tenant: null });
const rounded = H({ ...ARGS, amount: 2 ** 53 }); // also what 2^53 + 1 comes to as a double
add('a number that no double is', 'number_not_exact',
  token({ params_hash: rounded, ...detail({ params_hash: rounded }) }),
  { arguments: { ...ARGS, amount: JSON.rawJSON('9007199254740993') } });
add('other arguments', 'args_mismatch', good, { arguments: { ...ARGS, amount: 12.51 } });
add('other arguments in the detail', 'args_mismatch', token(detail({ params_hash: H({}) })));
add('another state', 'state_drift', good, { target_state_digest: H({ balance: 8 }) });
add('a state that is gone', 'state_drift', good, { target_state_digest: null });
add('no list has it', 'status_unknown', good, { status_unknown: true });
add('revoked', 'revoked', good, { revoked: true });
add('used before', 'replayed', good, { used: true });
add('revoked comes before used', 'revoked', good, { revoked: true, used: true });
add('everything is wrong', 'wrong_issuer', token({ iss: 'x', aud: 'x', nbf: NOW + 20, exp: NOW, sub: 'x' }),
  { arguments: {} });
add('all but the issuer', 'wrong_audience', token({ aud: 'x', nbf: NOW + 20, exp: NOW, sub: 'x' }), { arguments: {} });
add('all but those two', 'not_yet_valid', token({ nbf: NOW + 20, exp: NOW + 30, sub: 'x' }), { arguments: {} });

write('credentials/credentials.json', {
  format: 'writ-credentials/1',
  jwks: {
    keys: [...Object.values(keys).map(({ jwk }) => jwk), { ...bounded.jwk, nbf: NOW - 10, exp: NOW + 5 }],
    revoked: [{ kid: revoked.kid, revoked_at: NOW + 5 }],
  },
  cases,
});

// ---- rotations: which keys are reached from those that were trusted
const [A, B, C, D] = [es256('writ vectors: A'), ed25519('writ vectors: B'), rs256('writ vectors: C'),
  es256('writ vectors: D')];
function rotation(before, after, { at = NOW, header = {}, purpose = 'credential', by = before } = {}) {
  const head = base64url(jcs({ alg: before.alg, kid: before.kid, typ: 'writ-key-rotation', ...header }));
  const body = base64url(jcs({ at: new Date(at * 1000).toISOString(), jwk: after.jwk, purpose }));
  return `${head}.${body}.${base64url(by.sign(`${head}.${body}`))}`;
}
const AB = rotation(A, B), BC = rotation(B, C), CD = rotation(C, D);
const followed = [];
const follow = (id, present, rotations, reached, { pin = [A], revoked: lost, fork = false } = {}) => followed.push({
  id, pin: { keys: pin.map(({ jwk }) => jwk) },
  jwks: { keys: present.map(({ jwk }) => jwk), ...(rotations ? { rotations } : {}),
    ...(lost ? { revoked: lost } : {}) },
  expect: { fork, keys: reached.map(({ kid }) => kid) },
});
follow('the key itself', [A], undefined, [A]);
follow('a stranger', [D], undefined, []);
follow('one step', [B, A], [AB], [B, A]);
follow('three steps, over keys that are gone', [D], [AB, BC, CD], [D]);
follow('in any order', [D], [CD, AB, BC], [D]);
follow('from the middle', [D, C, B, A], [AB, BC, CD], [D, C], { pin: [C] });
follow('nothing leads back', [A], [AB], [], { pin: [B] });
follow('a step is missing', [D], [AB, CD], []);
follow('nothing is trusted', [A, B], [AB], [], { pin: [] });
follow('one key of two is reached', [B, D], [AB], [B]);
follow('the same statement twice', [B], [AB, AB], [B]);
follow('the same step said twice, at two times', [B], [AB, rotation(A, B, { at: NOW + 1 })], [B]);
follow('signed by a stranger', [B], [rotation(A, B, { by: D })], []);
follow('a stranger under its own kid', [B], [rotation(D, B)], []);
follow('another typ', [B], [rotation(A, B, { header: { typ: 'JWT' } })], []);
follow('no purpose', [B], [rotation(A, B, { purpose: '' })], []);
follow('a header with more', [B], [rotation(A, B, { header: { jwk: D.jwk } })], []);
follow('a changed successor', [D], [(() => {
  const [h, , s] = AB.split('.'), [, b] = rotation(A, D).split('.');
  return `${h}.${b}.${s}`;
})()], []);
follow('no statement at all', [A], ['x', 'a.b.c', '..'], [A]);
follow('a fork', [B, D], [AB, rotation(A, D)], [], { fork: true });
follow('a fork further on', [C, D], [AB, BC, rotation(B, D)], [], { fork: true });
follow('two successors where nobody gets to', [A, C, D], [rotation(B, C), rotation(B, D)], [A]);
follow('revoked before it said so', [B], [AB], [], { revoked: [{ kid: A.kid, revoked_at: NOW - 1 }] });
follow('revoked as it said so', [B], [AB], [], { revoked: [{ kid: A.kid, revoked_at: NOW }] });
follow('revoked later', [B], [AB], [B], { revoked: [{ kid: A.kid, revoked_at: NOW + 1 }] });
follow('a circle', [A, B], [AB, rotation(B, A)], [A, B]);
write('credentials/rotations.json', { format: 'writ-rotations/1', cases: followed });
