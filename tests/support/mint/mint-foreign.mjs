// Mints vectors/vaara: documents in the formats of the Vaara broker, and what there is to say about
// them. Written from the description of the formats; shares no code with the C implementation.
//
//   tests/support/node tests/support/mint/mint-foreign.mjs [FOLDER]     (default: vectors)
import { createHmac } from 'node:crypto';
import { H, es256, hash, jcs, rs256, sha256, write } from './mint.mjs';

const SECRET = 'a secret of the vectors, 32 bytes';
const ec = es256('writ vectors: vaara'), rsa = rs256('writ vectors: vaara'), stranger = es256('writ vectors: nobody');
const hmac = (text, secret = SECRET) => createHmac('sha256', secret).update(text).digest('hex');
const hex = (signature) => Buffer.from(signature).toString('hex');
const clean = (value) => JSON.parse(JSON.stringify(value)); // without members that are undefined
const without = (object, ...names) =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));

// ---- what a document comes to, as the runner tells it
const found = (kind, holds, more = {}) =>
  ({ kind, holds, authentic: true, verdict: null, reason: null, faults: [], failed: [], ...more });
const report = (whole, held, expected, missing, sealed) => ({ whole, held, expected, missing, sealed });
const together = (documents, completeness = null) =>
  ({ ok: documents.every((d) => d.holds) && (completeness?.whole ?? true), documents, completeness });

// ---- grants
const NOW = 1782363600; // 2026-06-25T05:00:00Z
const KNOWN = sha256('an attestation');
const ARGS = { path: '/srv/report', lines: 10 };
const commitment = (args) => H({ digest: H(args) });
const grantBody = (over = {}) => ({
  version: 1,
  alg: 'HS256',
  scope: { argsCommitment: commitment(ARGS), tenantId: 'acme', toolName: 'read_file' },
  binding: { attestationDigest: KNOWN, attestationNonce: 'n-1' },
  asserted: { iss: 'broker', sub: 'acme/fs', iat: '2026-06-25T05:00:00Z', expSeconds: 60, nonce: 'g-1',
    secretVersion: 'v1' },
  ...over,
});
const signers = { HS256: hmac, ES256: (text) => hex(ec.sign(text)), RS256: (text) => hex(rsa.sign(text)) };
const SIGNED = ['version', 'alg', 'scope', 'binding', 'asserted', 'capabilities'];
const payload = (body) => jcs(Object.fromEntries(SIGNED.filter((n) => body[n] !== undefined).map((n) => [n, body[n]])));
const grant = (over = {}) => {
  const body = grantBody(over);
  return { ...body, signature: (signers[body.alg] ?? hmac)(payload(body)) };
};
const call = (credential, over = {}) => ({
  credential,
  known_attestation_digests: [sha256('another'), KNOWN],
  now: NOW + 30,
  runtime_args: ARGS,
  runtime_tool_name: 'read_file',
  runtime_tenant_id: 'acme',
  ...over,
});
const asserted = (over) => ({ asserted: { ...grantBody().asserted, ...over } });
const CAPABILITIES = [
  { arg: 'amount', op: 'le', value: '500' },
  { arg: 'amount', op: 'ge', value: '0.01' },
  { arg: 'vendor', op: 'in', value: ['acme', 'globex', '7'] },
  { arg: 'to', op: 'eq', value: 'DE89' },
];
const PAY = { amount: 499.99, vendor: 'acme', to: 'DE89' };
const capable = (over = {}) => grant({ alg: 'ES256', capabilities: CAPABILITIES, ...over });
const pay = (args, over = {}) => call(capable(), { runtime_args: args, ...over });

const grantCases = [
  ['a good grant', call(grant()), 'credential_ok'],
  ['with ES256', call(grant({ alg: 'ES256' })), 'credential_ok'],
  ['with RS256', call(grant({ alg: 'RS256' })), 'credential_ok'],
  ['arguments in another order', call(grant(), { runtime_args: { lines: 10.0, path: '/srv/report' } }),
    'credential_ok'],
  ['no credential', call(null), 'missing_credential'],
  ['not an object', call('grant'), 'malformed'],
  ['another version', call(grant({ version: 2 })), 'malformed'],
  ['an algorithm that there is not', call(grant({ alg: 'none' })), 'malformed'],
  ['EdDSA is none of the profile', call(grant({ alg: 'EdDSA' })), 'malformed'],
  ['a member too many', call({ ...grant(), comment: '' }), 'malformed'],
  ['a member too many in asserted', call(grant(asserted({ aud: 'x' }))), 'malformed'],
  ['a member too few in scope', call(grant({ scope: without(grantBody().scope, 'tenantId') })), 'malformed'],
  ['no signature', call(without(grant(), 'signature')), 'malformed'],
  ['a time that is none', call(grant(asserted({ iat: 'yesterday' }))), 'malformed'],
  ['a lifetime below nothing', call(grant(asserted({ expSeconds: -1 }))), 'malformed'],
  ['no capability in the list', call(grant({ capabilities: [] })), 'malformed'],
  ['a capability with another op', call(grant({ capabilities: [{ arg: 'a', op: 'lt', value: '1' }] })), 'malformed'],
  ['a bound that is no number', call(grant({ capabilities: [{ arg: 'a', op: 'le', value: 'five' }] })), 'malformed'],
  ['a bound as a number', call(grant({ capabilities: [{ arg: 'a', op: 'le', value: 5 }] })), 'malformed'],
  ['changed after it was signed', call({ ...grant(), scope: { ...grantBody().scope, toolName: 'write_file' } }),
    'bad_signature'],
  ['signed with another secret', call({ ...grantBody(), signature: hmac(payload(grantBody()), 'x') }), 'bad_signature'],
  ['signed by a stranger',
    call({ ...grantBody({ alg: 'ES256' }), signature: hex(stranger.sign(payload(grantBody({ alg: 'ES256' })))) }),
    'bad_signature'],
  ['the public key as a secret', call({ ...grantBody(), signature: hmac(payload(grantBody()), ec.pem) }),
    'bad_signature'],
  ['capabilities that were not signed', call({ ...grant({ alg: 'ES256' }), capabilities: CAPABILITIES }),
    'bad_signature'],
  ['a signature that is not hexadecimal', call({ ...grant(), signature: 'zz' }), 'bad_signature'],
  ['a signature of another length', call({ ...grant(), signature: grant().signature + '00' }), 'bad_signature'],
  ['upper case', call({ ...grant(), signature: grant().signature.toUpperCase() }), 'bad_signature'],
  ['the last second', call(grant(), { now: NOW + 90 }), 'credential_ok'],
  ['a fraction of a second', call(grant(), { now: NOW + 30.5 }), 'credential_ok'],
  ['a fraction of a second later', call(grant(), { now: NOW + 90.001 }), 'expired'],
  ['a second later', call(grant(), { now: NOW + 91 }), 'expired'],
  ['a fraction too far in the future', call(grant(), { now: NOW - 30.001 }), 'expired'],
  ['as far in the future as may be', call(grant(), { now: NOW - 30 }), 'credential_ok'],
  ['further in the future', call(grant(), { now: NOW - 31 }), 'expired'],
  ['another tool', call(grant(), { runtime_tool_name: 'write_file' }), 'scope_mismatch'],
  ['another tenant', call(grant(), { runtime_tenant_id: 'acme2' }), 'scope_mismatch'],
  ['other arguments', call(grant(), { runtime_args: { ...ARGS, lines: 11 } }), 'scope_mismatch'],
  ['a number that a double changes',
    call(grant(), { runtime_args: { ...ARGS, lines: JSON.rawJSON('10.000000000000000000001') } }), 'scope_mismatch'],
  ['arguments too many', call(grant(), { runtime_args: { ...ARGS, more: null } }), 'scope_mismatch'],
  ['an attestation nobody knows', call(grant(), { known_attestation_digests: [] }), 'binding_unknown'],
  ['nobody says what is known', without(call(grant()), 'known_attestation_digests'), 'binding_unknown'],
  ['expired comes before scope', call(grant(), { now: NOW + 91, runtime_tool_name: 'x' }), 'expired'],
  ['scope comes before binding', call(grant(), { runtime_tool_name: 'x', known_attestation_digests: [] }),
    'scope_mismatch'],
  ['within its capabilities', pay(PAY), 'credential_ok'],
  ['the bound itself', pay({ ...PAY, amount: 500 }), 'credential_ok'],
  ['the other bound itself', pay({ ...PAY, amount: '0.01' }), 'credential_ok'],
  ['an integer of the list', pay({ ...PAY, vendor: 7 }), 'credential_ok'],
  ['over the bound', pay({ ...PAY, amount: 500.01 }), 'capability_exceeded'],
  ['under the bound', pay({ ...PAY, amount: 0 }), 'capability_exceeded'],
  ['a boolean is no number', pay({ ...PAY, amount: true }), 'capability_exceeded'],
  ['a text that is no number', pay({ ...PAY, amount: 'many' }), 'capability_exceeded'],
  ['not in the list', pay({ ...PAY, vendor: 'evil' }), 'capability_exceeded'],
  ['another letter case', pay({ ...PAY, to: 'de89' }), 'capability_exceeded'],
  ['an object where a text is pinned', pay({ ...PAY, to: {} }), 'capability_exceeded'],
  ['an argument that is missing', pay(without(PAY, 'to')), 'capability_exceeded'],
  ['an argument nobody named', pay({ ...PAY, memo: 'x' }), 'capability_uncovered'],
  ['uncovered comes before exceeded', pay({ ...PAY, memo: 'x', amount: 900 }), 'capability_uncovered'],
  ['scope comes before capabilities', pay({ ...PAY, memo: 'x' }, { runtime_tool_name: 'x' }), 'scope_mismatch'],
].map(([id, document, reason]) => {
  const holds = reason === 'credential_ok';
  const authentic = !['missing_credential', 'malformed', 'bad_signature'].includes(reason);
  return { id, documents: [document],
    expect: together([found('call', holds, { authentic, reason, verdict: holds ? 'ok' : reason })]) };
});
grantCases.push(
  { id: 'revoked before it was issued', revoked: 'broker@2026-06-25T05:00:00Z', documents: [call(grant())],
    expect: together([found('call', false, { reason: 'revoked', verdict: 'revoked' })]) },
  { id: 'its key was revoked', revoked: 'v1@2026-06-24T00:00:00Z', documents: [call(grant())],
    expect: together([found('call', false, { reason: 'revoked', verdict: 'revoked' })]) },
  { id: 'revoked after it was issued', revoked: 'broker@2026-06-25T05:00:01Z', documents: [call(grant())],
    expect: together([found('call', true, { reason: 'credential_ok', verdict: 'ok' })]) },
  { id: 'another was revoked', revoked: 'someone@2026-06-24T00:00:00Z', documents: [call(grant())],
    expect: together([found('call', true, { reason: 'credential_ok', verdict: 'ok' })]) },
  ...[['no time', without(call(grant()), 'now'), '/now'], ['a time as a text', call(grant(), { now: '5' }), '/now'],
    ['a time before 1970', call(grant(), { now: -1 }), '/now']].map(([id, document, fault]) => (
    { id, documents: [document],
      expect: together(
        [found('call', false, { authentic: false, faults: [fault], verdict: 'none', reason: 'none' })]) })),
  { id: 'no tool', documents: [without(call(grant()), 'runtime_tool_name')],
    expect: together([found('call', false, { authentic: false, faults: [''], verdict: 'none', reason: 'none' })]) },
  { id: 'a grant alone', documents: [grant()],
    expect: together([found('grant', true, { reason: 'credential_ok', verdict: 'ok' })]) },
  { id: 'a grant alone, changed', documents: [{ ...grant(), alg: 'ES256' }],
    expect: together(
      [found('grant', false, { authentic: false, reason: 'bad_signature', verdict: 'bad_signature' })]) });

// ---- governance records
const STATE = H({ order: 'open' });
function decision(seq, over = {}) {
  const d = {
    schema: 'crewai.governance.decision/v1', decision: 'allow', decision_id: `run#${seq}`, agent_id: 'agent:shop',
    action_type: 'order.pay', normalized_scope: `orders/${seq}/é`, normalization_id: 'jcs-rfc8785-v1',
    policy_refs: ['policy:spend/3'], target_state_digest: STATE, continuation_id: null, idempotency_key: `key-${seq}`,
    timestamp_ms: 1782363600000 + seq, params_hash: H({ order: seq }),
    completeness: { boundaryId: 'run', seq, runningCount: seq + 1 }, ...over,
  };
  const { agent_id, action_type, normalized_scope, params_hash, target_state_digest, continuation_id, idempotency_key,
    timestamp_ms } = d;
  d.intent_digest ??= H({ action_type, normalized_scope, params_hash });
  d.intent_ref ??= H({ schema: d.schema, agent_id, action_type, normalized_scope, intent_digest: d.intent_digest });
  d.decision_context_hash ??=
    H({ policy_refs: d.policy_refs, target_state_digest, continuation_id, normalization_id: d.normalization_id });
  d.receipt_ref ??= H({ intent_ref: d.intent_ref, target_state_digest, continuation_id, seq: d.completeness.seq,
    timestamp_ms, idempotency_key });
  return d;
}
const outcomeOf = (d, over = {}) => ({
  schema: 'crewai.governance.outcome/v1', decision_id: d.decision_id, idempotency_key: d.idempotency_key,
  intent_ref: d.intent_ref,
  receipt_ref: d.receipt_ref, result_digest: H({ paid: true }), status: 'executed', completeness: d.completeness,
  ...over,
});
const sealOf = (total, over = {}) =>
  ({ schema: 'crewai.governance.seal/v1', boundaryId: 'run', sealed: true, total, maxClass: 'public', ...over });
const wrap = (record, by = ec) => ({ record, signature: hex(by.sign(jcs(record))) });
const D = [0, 1, 2].map((seq) => decision(seq));
const run = (...seqs) => seqs.flatMap((seq) => [wrap(D[seq]), wrap(outcomeOf(D[seq]))]);
const pair = [found('decision', true), found('outcome', true)];
const pairs = (n) => Array.from({ length: n }, () => pair).flat();
const S = found('seal', true);
const forged = { authentic: false, faults: ['/signature'] };
const recordCases = [
  ['whole and sealed', [...run(0, 1, 2), wrap(sealOf(3))], [...pairs(3), S], report(true, 3, 3, [], true)],
  ['one dropped', [...run(0, 2), wrap(sealOf(3))], [...pairs(2), S], report(false, 2, 3, [[1, 1]], true)],
  ['the tail dropped under a seal', [...run(0), wrap(sealOf(3))], [...pairs(1), S],
    report(false, 1, 3, [[1, 2]], true)],
  ['the tail dropped with its seal', run(0, 1), pairs(2), report(true, 2, 2, [], false)],
  ['an outcome without decision', [wrap(D[0]), wrap(outcomeOf(D[1]))],
    [pair[0], found('outcome', false, { faults: ['/decision_id'] })], report(true, 1, 1, [], false)],
  ['an outcome of another intent', [wrap(D[0]), wrap(outcomeOf(D[0], { intent_ref: D[1].intent_ref }))],
    [pair[0], found('outcome', false, { faults: ['/intent_ref'] })], report(true, 1, 1, [], false)],
  ['two outcomes of one decision', [...run(0), wrap(outcomeOf(D[0], { status: 'refused' }))],
    [...pair, found('outcome', false, { faults: ['/decision_id'] })], report(true, 1, 1, [], false)],
  ['a forged decision fills no gap', [...run(0), wrap(D[1], stranger), ...run(2), wrap(sealOf(3))],
    [...pair, found('decision', false, forged), ...pair, S], report(false, 2, 3, [[1, 1]], true)],
  ['a seal by a stranger', [...run(0), wrap(sealOf(1), stranger)], [...pair, found('seal', false, forged)],
    report(true, 1, 1, [], false)],
  ['a seal that is not one', [...run(0), wrap(sealOf(1, { sealed: false }))],
    [...pair, found('seal', false, { faults: ['/sealed'] })], report(false, 1, 1, [], true)],
  ['a changed record', [{ ...wrap(D[0]), record: { ...D[0], agent_id: 'agent:other' } }],
    [found('decision', false, { authentic: false, faults: ['/signature', '/intent_ref', '/receipt_ref'] })], null],
  ['a digest that does not recompute', [wrap(decision(0, { intent_digest: H('other') }))],
    [found('decision', false, { faults: ['/intent_digest', '/intent_ref', '/receipt_ref'] })],
    report(true, 1, 1, [], false)],
  ['members are missing', [wrap(without(D[0], 'policy_refs', 'target_state_digest'))],
    [found('decision', false,
      { faults: ['/target_state_digest', '/policy_refs', '/receipt_ref', '/decision_context_hash'] })],
      report(true, 1, 1, [], false)],
  ['a verdict that is none', [wrap(decision(0, { decision: 'maybe' }))],
    [found('decision', false, { faults: ['/decision'] })], report(true, 1, 1, [], false)],
  ['a miscount', [wrap(decision(0, { completeness: { boundaryId: 'run', seq: 0, runningCount: 3 } }))], [pair[0]],
    report(false, 1, 3, [[1, 2]], false)],
].map(([id, documents, expected, completeness]) => ({ id, documents, expect: together(expected, completeness) }));

// ---- pairs: may the second one run?
const binding = (candidate, approved = D[0]) => ({ approved: wrap(approved), candidate: wrap(candidate) });
const verdict = (verdict, reason) => together([found('binding', verdict === 'allow', { verdict, reason })]);
const twice = (first, second) => ({ first: wrap(first), second: wrap(second) });
const bindingCases = [
  ['the same call', binding(D[0]), verdict('allow', 'contract_binding_ok')],
  ['another continuation', binding(decision(0, { continuation_id: 'c-2' })), verdict('deny', 'continuation_mismatch')],
  ['another scope', binding(decision(0, { normalized_scope: 'orders/9' })),
    verdict('deny', 'normalized_scope_mismatch')],
  ['other arguments', binding(decision(0, { params_hash: H({ order: 9 }) })), verdict('deny', 'exact_intent_mismatch')],
  ['another agent', binding(decision(0, { agent_id: 'agent:other' })), verdict('deny', 'agent_id_mismatch')],
  ['another key', binding(decision(0, { idempotency_key: 'key-9' })), verdict('deny', 'idempotency_key_mismatch')],
  ['another state', binding(decision(0, { target_state_digest: H({ order: 'closed' }) })),
    verdict('revise', 'target_state_drift')],
  ['approved by nobody', binding(D[0], decision(0, { decision: 'deny' })), verdict('deny', 'decision_not_allow')],
  ['the approval is forged', { approved: wrap(D[0], stranger), candidate: wrap(D[0]) },
    together([found('binding', false, { authentic: false, faults: ['/signature'], verdict: 'deny', reason: 'none' })])],
  ['a second outcome', twice(outcomeOf(D[0]), outcomeOf(D[0])),
    together([found('duplicate', false, { verdict: 'deny', reason: 'duplicate_outcome' })])],
  ['the outcome of another call', twice(outcomeOf(D[0]), outcomeOf(D[1])),
    together([found('duplicate', true, { verdict: 'allow', reason: 'contract_binding_ok' })])],
].map(([id, document, expect]) => ({ id, documents: [document], expect }));

// ---- authorizations
const G = capable();
const FINGERPRINT = sha256(payload(G));
function authorization(seq, over = {}, record = {}) {
  const evidence = clean({
    schema: 'vaara.authorization/v0', verdict: 'allow', reason: 'ok', toolName: 'read_file', tenantId: 'acme',
    grantFingerprint: FINGERPRINT,
    argsCommitment: commitment(PAY), capabilities: CAPABILITIES,
    completeness: { boundaryId: 'broker', seq, runningCount: seq + 1 }, ...over,
  });
  const body = {
    version: 1, alg: 'ES256', backLink: { attestationDigest: KNOWN, attestationNonce: 'n-1' },
    decisionDerived: {
      decision: 'allow', reason: 'ok', decidedAt: '2026-06-25T05:00:05Z', policyId: 'policy:1',
      evidenceRef: { canonicalization: 'JCS', digest: H(evidence), ref: 'vaara:authorization/read_file',
        schema: 'vaara.authorization/v0' }, ...record,
    },
    issuerAsserted: { alg: 'ES256', iat: '2026-06-25T05:00:05Z', iss: 'broker', nonce: `a-${seq}`, secretVersion: 'v1',
      sub: 'acme/fs' },
  };
  return { record: { ...body, signature: hex(ec.sign(jcs(body))) }, evidence };
}
const A = found('authorization', true), GOOD = found('grant', true, { reason: 'credential_ok', verdict: 'ok' });
const swapped = { ...authorization(0), evidence: authorization(0, { toolName: 'write_file' }).evidence };
const authorizationCases = [
  ['contiguous', [0, 1, 2].map((seq) => authorization(seq)), [A, A, A], report(true, 3, 3, [], false)],
  ['one dropped', [0, 2].map((seq) => authorization(seq)), [A, A], report(false, 2, 3, [[1, 1]], false)],
  ['with its grant', [G, authorization(0)], [GOOD, A], report(true, 1, 1, [], false)],
  ['with another grant', [grant(), authorization(0)],
    [GOOD, found('authorization', false, { faults: ['/evidence/grantFingerprint'] })], report(true, 1, 1, [], false)],
  ['other evidence', [swapped], [found('authorization', false, { faults: ['/evidence'] })],
    report(true, 1, 1, [], false)],
  ['evidence of another verdict', [authorization(0, { verdict: 'deny' })],
    [found('authorization', false, { faults: ['/evidence/verdict'] })], report(true, 1, 1, [], false)],
  ['refused: deny in the evidence, block in the record',
    [authorization(0, { verdict: 'deny', reason: 'capability_exceeded' },
      { decision: 'block', reason: 'capability_exceeded' })], [A], report(true, 1, 1, [], false)],
  ['the words of the evidence in the record', [authorization(0, { verdict: 'deny' }, { decision: 'deny' })],
    [found('authorization', false, { faults: ['/evidence/verdict'] })], report(true, 1, 1, [], false)],
  ['the words of the record in the evidence', [authorization(0, { verdict: 'block' }, { decision: 'block' })],
    [found('authorization', false, { faults: ['/evidence/verdict'] })], report(true, 1, 1, [], false)],
  ['refused for another reason',
    [authorization(0, { verdict: 'deny', reason: 'revoked' }, { decision: 'block', reason: 'expired' })],
    [found('authorization', false, { faults: ['/evidence/verdict'] })], report(true, 1, 1, [], false)],
  ['without a place in a run', [authorization(0, { completeness: undefined })], [A], null],
  ['half a place', [authorization(0, { completeness: { seq: 0, runningCount: 1 } })],
    [found('authorization', false, { faults: ['/evidence/completeness/boundaryId'] })], report(true, 1, 1, [], false)],
  ['a grant for another tool', [G, authorization(0, { toolName: 'write_file' })],
    [GOOD, found('authorization', false, { faults: ['/evidence/toolName'] })], report(true, 1, 1, [], false)],
  ['other capabilities than the grant has', [G, authorization(0, { capabilities: CAPABILITIES.slice(1) })],
    [GOOD, found('authorization', false, { faults: ['/evidence/capabilities'] })], report(true, 1, 1, [], false)],
  ['a changed record', [{ ...authorization(0), record: { ...authorization(0).record, version: 2 } }],
    [found('authorization', false, forged)], null],
].map(([id, documents, expected, completeness]) => ({ id, documents, expect: together(expected, completeness) }));

// ---- outcome records
const PROJECTION = '{"deleted":true}';
const signed = (body, by = ec) => ({ ...clean(body), signature: hex(by.sign(jcs(clean(body)))) });
const issuer = (nonce) =>
  ({ alg: 'ES256', iat: '2026-06-25T05:00:06Z', iss: 'broker', nonce, secretVersion: 'v1', sub: 'agent' });
const receipt = (over = {}, outcome = {}, of = {}) => ({ ...signed({
  version: 1, alg: 'ES256', backLink: { attestationDigest: KNOWN, attestationNonce: 'n-1' },
  outcomeDerived: {
    status: 'executed', completedAt: '2026-06-25T05:00:06Z', decisionDigest: KNOWN,
    resultCommitment: { projection: PROJECTION, projectionDigest: sha256(PROJECTION) }, ...outcome,
  },
  receiptAsserted: { ...issuer('r-1'), ...of },
  ...without(over, 'signature'),
}), ...over });
const ADVICE = ['refused_has_no_result', 'riskScore_is_string', 'signature_length'];
const receiptCases = [
  ['as it should be', receipt(), []],
  ['refused, without result', receipt({ outcomeDerived: { status: 'refused', completedAt: 'now' } }), []],
  ['refused, with a result', receipt({}, { status: 'refused' }), ['refused_has_no_result']],
  ['a short signature', receipt({ signature: 'ab' }), ['signature_length'], '/signature'],
  ['changed after it was signed', { ...receipt(), outcomeDerived: { status: 'refused', completedAt: 'now' } }, [],
    '/signature'],
  ['a commitment by reference',
    receipt({}, { resultCommitment: { ref: 'urn:result', digest: KNOWN, canonicalization: 'jcs' } }), []],
  ['a reference without digest', receipt({}, { resultCommitment: { ref: 'urn:result' } }), ['result_commitment_shape']],
  ['an outcome and a decision in one', { ...receipt(), decisionDerived: { decision: 'allow', decidedAt: 'now' } }, [],
    '/decisionDerived'],
  ['a list', [], ['top_level_object']],
  ['null', null, ['top_level_object']],
  ['nothing in it', {},
    ['alg_supported', 'back_link_present', 'outcome_present', 'receipt_asserted_present', 'signature_hex', 'version']],
  ['another version', receipt({ version: '1' }), ['version']],
  ['another algorithm', receipt({ alg: 'ES512' }, {}, { alg: 'ES512' }), ['alg_supported']],
  ['two algorithms', receipt({ alg: 'RS256', signature: 'ab'.repeat(256) }), ['receipt_asserted_alg_matches']],
  ['upper case', receipt({ signature: 'AB'.repeat(64) }), ['signature_hex']],
  ['half a byte', receipt({ signature: 'abc' }), ['signature_hex']],
  ['a back link to nothing', receipt({ backLink: { attestationDigest: 'sha256:00', attestationNonce: 7 } }),
    ['back_link_digest_format', 'back_link_nonce_type']],
  ['another status', receipt({}, { status: 'done' }), ['status_valid']],
  ['no time', receipt({}, { completedAt: 5 }), ['completed_at_type']],
  ['a decision that is no digest', receipt({}, { decisionDigest: 'x' }), ['decision_digest_format']],
  ['a commitment without projection', receipt({}, { resultCommitment: { projectionDigest: KNOWN } }),
    ['result_commitment_shape']],
  ['a commitment that is no digest',
    receipt({}, { resultCommitment: { projection: PROJECTION, projectionDigest: 'x' } }),
    ['result_commitment_digest_format']],
  ['a commitment to something else',
    receipt({}, { resultCommitment: { projection: PROJECTION, projectionDigest: KNOWN } }),
    ['result_commitment_self_consistent']],
].map(([id, document, failed, fault]) => {
  const conforms = failed.every((name) => ADVICE.includes(name));
  const more = { authentic: conforms && fault !== '/signature', failed, faults: fault ? [fault] : [] };
  return { id, documents: [document], expect: together([found('receipt', conforms && !fault, more)]) };
});

// ---- the records of a call together
const attestation = (nonce, over = {}) => signed({
  version: 1, alg: 'ES256', plannerDeclared: { intent: 'to read a report' },
  payloadDerived: { toolCalls: [{ name: 'read_file', serverFingerprint: 'fs',
    args: { projection: '{}', projectionDigest: sha256('{}') } }] },
  issuerAsserted: { ...issuer(nonce), expSeconds: 60 }, ...over,
});
const ATTESTED = ['a-1', 'a-2'].map((nonce) => attestation(nonce));
const linkTo = (a) => ({ backLink: { attestationDigest: H(a), attestationNonce: a.issuerAsserted.nonce } });
const decided = (a, word = 'allow', over = {}, more = {}) => signed({
  version: 1, alg: 'ES256', ...linkTo(a),
  decisionDerived: { decision: word, decidedAt: '2026-06-25T05:00:05Z', reason: 'ok', ...over },
  issuerAsserted: issuer(`d-${word}-${a.issuerAsserted.nonce}`), ...more,
});
const ended = (a, d, outcome = {}) => receipt(linkTo(a), { decisionDigest: d && H(d), ...outcome });
const DECIDED = ATTESTED.map((a) => decided(a));
const ENDED = ATTESTED.map((a, i) => ended(a, DECIDED[i]));
const OK = { attestation: found('attestation', true), verdict: found('verdict', true), receipt: found('receipt', true),
  authorization: A };
const not = (kind, fault) => found(kind, false, { faults: [fault] });
const unfit = (kind, ...failed) => found(kind, false, { authentic: false, failed });
const blocked = decided(ATTESTED[0], 'block');
const authorized = authorization(0, { completeness: undefined });
const ofAuthorized = (over = {}) => receipt({}, { decisionDigest: H(authorized.record), ...over });
const callCases = [
  ['two whole calls', [...ATTESTED, ...DECIDED, ...ENDED],
    [OK.attestation, OK.attestation, OK.verdict, OK.verdict, OK.receipt, OK.receipt]],
  ['in another order', [ENDED[1], DECIDED[0], ATTESTED[1], ENDED[0], ATTESTED[0], DECIDED[1]],
    [OK.receipt, OK.verdict, OK.attestation, OK.receipt, OK.attestation, OK.verdict]],
  ['a decision that a person has to take', [decided(ATTESTED[0], 'escalate')], [OK.verdict]],
  ['one call twice', [ENDED[0], ENDED[0]], [OK.receipt, not('receipt', '/backLink')]],
  ['two ends of one call', [DECIDED[0], ENDED[0], ended(ATTESTED[0], DECIDED[0], { status: 'errored' })],
    [OK.verdict, OK.receipt, not('receipt', '/backLink')]],
  ['outcomes that were exchanged',
    [...ATTESTED, ...DECIDED, ended(ATTESTED[0], DECIDED[1]), ended(ATTESTED[1], DECIDED[0])],
    [OK.attestation, OK.attestation, OK.verdict, OK.verdict, not('receipt', '/outcomeDerived/decisionDigest'),
      not('receipt', '/outcomeDerived/decisionDigest')]],
  ['an outcome of a decision about another call', [DECIDED[1], ended(ATTESTED[0], DECIDED[1])],
    [OK.verdict, not('receipt', '/outcomeDerived/decisionDigest')]],
  ['an outcome of a decision that is not here',
    [DECIDED[0], ended(ATTESTED[0], decided(ATTESTED[0], 'allow', { reason: 'other' }))],
    [OK.verdict, not('receipt', '/outcomeDerived/decisionDigest')]],
  ['an outcome alone', [ENDED[0]], [OK.receipt]],
  ['an outcome that names no decision', [DECIDED[0], ended(ATTESTED[0])], [OK.verdict, OK.receipt]],
  ['the nonce of another attestation',
    [ATTESTED[0], decided(ATTESTED[0], 'allow', {},
      { backLink: { ...linkTo(ATTESTED[0]).backLink, attestationNonce: 'a-2' } })],
    [OK.attestation, not('verdict', '/backLink/attestationNonce')]],
  ['two nonces of one attestation',
    [DECIDED[0], receipt({ backLink: { ...linkTo(ATTESTED[0]).backLink, attestationNonce: 'a-2' } },
      { decisionDigest: H(DECIDED[0]) })],
    [OK.verdict, not('receipt', '/backLink/attestationNonce')]],
  ['of no attestation that is here', [ATTESTED[0], DECIDED[1]],
    [OK.attestation, not('verdict', '/backLink/attestationDigest')]],
  ['it ran although it was refused', [blocked, ended(ATTESTED[0], blocked)],
    [OK.verdict, not('receipt', '/outcomeDerived/status')]],
  ['it was refused, as decided',
    [blocked, ended(ATTESTED[0], blocked, { status: 'refused', resultCommitment: undefined })],
    [OK.verdict, OK.receipt]],
  ['refused at first, then allowed', [blocked, DECIDED[0], ENDED[0]], [OK.verdict, OK.verdict, OK.receipt]],
  ['an outcome of an authorization', [authorized, ofAuthorized()], [OK.authorization, OK.receipt]],
  ['an authorization of another call', [authorized, DECIDED[0], ended(ATTESTED[0], authorized.record)],
    [OK.authorization, OK.verdict, not('receipt', '/outcomeDerived/decisionDigest')]],
  ['a forged outcome takes no place', [signed(without(ENDED[0], 'signature'), stranger), ENDED[0]],
    [found('receipt', false, forged), OK.receipt]],
  ['a decision with a number for a risk', [decided(ATTESTED[0], 'allow', { riskScore: 0.5 })],
    [found('verdict', true, { failed: ['riskScore_is_string'] })]],
  ['a verdict of other words', [decided(ATTESTED[0], 'deny')], [unfit('verdict', 'decision_valid')]],
  ['a decision without time', [decided(ATTESTED[0], 'allow', { decidedAt: 5 })], [unfit('verdict', 'decided_at_type')]],
  ['a decision of nobody', [without(DECIDED[0], 'issuerAsserted')], [unfit('verdict', 'issuer_asserted_present')]],
  ['a decision by another algorithm',
    [decided(ATTESTED[0], 'allow', {}, { issuerAsserted: { ...issuer('d'), alg: 'RS256' } })],
    [unfit('verdict', 'issuer_asserted_alg_matches')]],
  ['a decision about nothing', [{ ...DECIDED[0], decisionDerived: null }], [unfit('verdict', 'decision_present')]],
  ['an attestation of no call', [attestation('a-1', { payloadDerived: { toolCalls: [] } })],
    [unfit('attestation', 'payload_derived_present')]],
  ['an attestation without intent', [without(ATTESTED[0], 'plannerDeclared')],
    [unfit('attestation', 'planner_declared_present')]],
  ['an attestation of a call without arguments',
    [attestation('a-1', { payloadDerived: { toolCalls: [{ name: 'x', serverFingerprint: 'y' }] } })],
    [unfit('attestation', 'tool_calls_shape')]],
  ['a changed attestation', [{ ...ATTESTED[0], plannerDeclared: { intent: 'else' } }],
    [found('attestation', false, forged)]],
].map(([id, documents, expected]) => ({ id, documents, expect: together(expected) }));

const set = (cases) =>
  ({ format: 'writ-foreign/1', profile: 'vaara-v0', keys: [ec.jwk, rsa.jwk], secret: SECRET, cases });
write('vaara/grants.json', set(grantCases));
write('vaara/records.json', set(recordCases));
write('vaara/bindings.json', set(bindingCases));
write('vaara/authorizations.json', set(authorizationCases));
write('vaara/receipts.json', set(receiptCases));
write('vaara/calls.json', set(callCases));
