// Mints vectors/digests, vectors/governance and vectors/canonical: an independent writing of the governance contract,
// with nothing but what Node has. The C tests read the files; this script shares no code with them.
//
//   tests/support/node tests/support/mint/mint-governance.mjs [FOLDER]     (default: vectors)
//
// The output is the same byte for byte at every run.
import { H, jcs, sha256, write } from './mint.mjs';

// ---- derivations
const pick = (record, names) =>
    Object.fromEntries(names.map((n) => [n, record[n] === undefined ? null : record[n]]));
const CONTEXT = ['agent_id', 'tool', 'params_hash', 'intent_digest', 'seq', 'retrieved_policy_refs',
    'policy_digest', 'credential_scope', 'credential_tier', 'expires_at', 'revalidate_if'];

function contractProfile(name, refMembers) {
    return {
        name,
        intent_digest: (d) =>
            H(pick(d, ['agent_id', 'tool', 'params_hash', 'target_state_digest'])),
        intent_ref: (d) => (d.normalized_scope === undefined ? null : H(pick(d, refMembers))),
        receipt_ref: (d) =>
            d.normalized_scope === undefined ? null : H(pick(d, [...refMembers, 'issued_at'])),
        outcome_receipt_ref: (d, o) =>
            d.normalized_scope === undefined
                ? null
                : H({ ...pick(d, refMembers), completed_at: o.completed_at }),
        decision_context_hash: (d) => H(pick(d, CONTEXT)),
    };
}

const crewai =
    contractProfile('crewai-v1', ['agent_id', 'tool', 'normalized_scope', 'intent_digest']);
const algovoi = contractProfile('algovoi-v1',
    ['agent_id', 'tool', 'normalized_scope', 'intent_digest', 'idempotency_key']);

const vaaraReceipt = (d) =>
    H({
        continuation_id: d.continuation_id ?? null,
        idempotency_key: d.idempotency_key,
        intent_ref: d.intent_ref,
        seq: d.seq,
        target_state_digest: d.target_state_digest ?? null,
        timestamp_ms: Date.parse(d.issued_at),
    });
const vaara = {
    name: 'vaara-v0',
    intent_digest: (d) =>
        d.normalized_scope === undefined
            ? null
            : H({
                  action_type: d.tool,
                  normalized_scope: d.normalized_scope,
                  params_hash: d.params_hash,
              }),
    intent_ref: (d) =>
        d.normalized_scope === undefined
            ? null
            : H({
                  schema: 'crewai.governance.decision/v1',
                  agent_id: d.agent_id,
                  action_type: d.tool,
                  normalized_scope: d.normalized_scope,
                  intent_digest: d.intent_digest,
              }),
    receipt_ref: (d) => (d.intent_ref ? vaaraReceipt(d) : null),
    outcome_receipt_ref: (d) => (d.intent_ref ? vaaraReceipt(d) : null),
    decision_context_hash: (d) =>
        H(pick(d, ['policy_refs', 'target_state_digest', 'continuation_id', 'normalization_id'])),
};

// The decision with everything derived; what cannot be derived is left out.
function derived(profile, decision, args) {
    const d = { ...decision, params_hash: H(args) };
    for (const field of ['intent_digest', 'intent_ref', 'receipt_ref', 'decision_context_hash']) {
        const digest = profile[field](d);
        if (digest !== null) {
            d[field] = digest;
        }
    }
    return d;
}

// ---- a decision to vary
const STATE = sha256('the state of the target');
const POLICY = sha256('the policy');
const base = {
    decision_id: 'd-0',
    decision: 'allow',
    reason: 'every constraint holds',
    agent_id: 'agent:exporter',
    agent_role: 'operator',
    tool: 'customer_export',
    target: 'crm:customers',
    request_id: '7',
    normalized_scope: 'customers/eu',
    target_state_digest: STATE,
    continuation_id: null,
    normalization_id: 'jcs-sha256',
    idempotency_key: 'key-1',
    policy_refs: ['tools/crm~1customer_export#0'],
    retrieved_policy_refs: [],
    policy_digest: POLICY,
    credential_scope: 'crm-read',
    credential_tier: 'service-account',
    issued_at: '2026-06-25T05:00:00.000001Z',
    expires_at: '2026-06-25T05:01:00.000001Z',
    supersedes: null,
    revalidate_if: ['argument_change', 'target_state_change'],
    evidence_refs: [],
    boundary_id: 'run-1',
    seq: 0,
    running_count: 1,
};
const ARGUMENTS = { format: 'csv', region: 'eu', limit: 1000 };
const without = (object, ...names) =>
    Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));

// ---- vectors/digests
const digestInputs = [
    ['plain', base, ARGUMENTS, { rows: 12 }],
    ['no arguments, no result', base, {}, null],
    ['no target state', { ...base, target_state_digest: null }, ARGUMENTS, {}],
    ['no end', { ...base, expires_at: null }, ARGUMENTS, true],
    ['resumed', { ...base, continuation_id: 'review-9' }, ARGUMENTS, 'done'],
    ['optional members absent',
        without(base, 'continuation_id', 'credential_scope', 'credential_tier', 'expires_at',
            'policy_digest', 'policy_refs', 'retrieved_policy_refs', 'revalidate_if',
            'target_state_digest'), ARGUMENTS, []],
    ['deny without scope',
        { ...without(base, 'normalized_scope'), decision: 'deny', reason: 'no scope' },
        ARGUMENTS, null],
    ['characters that need escapes',
        { ...base, agent_id: 'a"b\\c/d\u0000\u001f\u007f\n\t', tool: '<t>&\'', normalized_scope: '' },
        { '"': '\\', '\n': '\u0007' }, '\u2028\u2029'],
    ['characters beyond ASCII',
        { ...base, agent_id: 'agent_éü', tool: 'zażółć', normalized_scope: 'search/ünicøde/😀/€' },
        { q: 'café résumé', ﬁ: 1, '😀': 2, é: 3 }, { ok: '✓' }],
    ['composed and decomposed are different', { ...base, normalized_scope: 'cafe\u0301' },
        { name: 'cafe\u0301' }, 'caf\u00e9'],
    ['numbers',
        base,
        { a: 0.1, b: 1e21, c: 1e-7, d: 123456789012345680000, e: -1.5, f: 5e-324,
            g: 1.7976931348623157e308, h: 9007199254740991, i: 4.5, j: 100 },
        [0.30000000000000004, 1e23]],
    ['deep arguments', base, { a: { b: [{ c: [[], {}, null] }, false] } }, null],
    ['lists',
        { ...base, policy_refs: ['b', 'a', 'b'], retrieved_policy_refs: ['r,1', 'r"2'],
            revalidate_if: [] }, ARGUMENTS, null],
    ['the last seq', { ...base, seq: 9007199254740990, running_count: 9007199254740991 }, ARGUMENTS,
        null],
    ['whole second', { ...base, issued_at: '2026-06-25T05:00:00Z' }, ARGUMENTS, null],
    ['below the microsecond', { ...base, issued_at: '2026-06-25T05:00:00.999999999Z' }, ARGUMENTS,
        null],
];

function digestSet(profile) {
    const cases = digestInputs.map(([id, decision, args, result]) => {
        const outcome = { outcome: 'executed', completed_at: '2026-06-25T05:00:02.5Z' };
        const full = derived(profile, decision, args);
        return {
            id,
            arguments: args,
            decision,
            outcome,
            result,
            expect: {
                params_hash: full.params_hash,
                intent_digest: full.intent_digest ?? null,
                intent_ref: full.intent_ref ?? null,
                receipt_ref: full.receipt_ref ?? null,
                decision_context_hash: full.decision_context_hash,
                outcome_receipt_ref: profile.outcome_receipt_ref(full, outcome),
                tool_output_hash: result === null ? null : H(result),
            },
        };
    });
    return { format: 'writ-digests/1', profile: profile.name, cases };
}

// ---- vectors/governance/decisions.json, outcomes.json: records and the members at fault
const allow = derived(crewai, base, ARGUMENTS);
const approval = derived(crewai,
    { ...base, decision: 'require_approval', continuation_id: 'review-9' }, ARGUMENTS);
const deny = derived(crewai, { ...base, decision: 'deny', expires_at: null }, ARGUMENTS);
const revise = derived(crewai, { ...base, decision: 'revise', expires_at: null }, ARGUMENTS);
const PERMIT_NEEDS = ['agent_id', 'decision_id', 'idempotency_key', 'intent_digest', 'intent_ref',
    'issued_at', 'normalization_id', 'normalized_scope', 'params_hash', 'policy_refs',
    'target_state_digest', 'tool'];
const needs = {
    allow: PERMIT_NEEDS,
    require_approval: [...PERMIT_NEEDS, 'continuation_id', 'expires_at'],
    deny: ['decision_id', 'reason', 'tool'],
    revise: ['decision_id', 'reason', 'revalidate_if', 'tool'],
};
const pointers = (names) => [...names].sort().map((n) => '/' + n);

// Every member of the contract: a value of its form, and whether it may be null.
const TIME = '2026-06-25T05:00:30Z';
const MEMBERS = {
    agent_id: 'a', agent_role: 'a', boundary_id: 'a', continuation_id: [null], credential_scope: 'a',
    credential_tier: 'a', decision: 'allow', decision_context_hash: H(1), decision_id: 'a', evidence_refs: ['a'],
    expires_at: [null], extensions: {}, idempotency_key: 'a', intent_digest: H(1), intent_ref: H(1), issued_at: [null],
    normalization_id: 'a', normalized_scope: 'a', params_hash: H(1), policy_digest: H(1), policy_refs: ['a'],
    reason: 'a', receipt_ref: H(1), request_id: 'a', retrieved_policy_refs: ['a'], revalidate_if: ['a'],
    running_count: 1, seq: 0, supersedes: [null], target: 'a', target_state_digest: [null], tool: 'a',
};
const OUTCOME_MEMBERS = {
    boundary_id: 'a', completed_at: TIME, decision_id: 'a', error_message: [null], error_type: [null], extensions: {},
    idempotency_key: [null], intent_ref: [null], outcome: 'blocked', receipt_ref: [null], seq: 0,
    tool_output_hash: [null],
};
/** Records in which one member is of another type, or null; and those that may be null. */
function* misformed(record, members) {
    for (const [name, value] of Object.entries(members)) {
        const isNullable = Array.isArray(value) && value[0] === null;
        const others = [true, 1.5, {}, []].filter((other) => JSON.stringify(other) !== JSON.stringify(value) &&
            Array.isArray(other) <= !Array.isArray(value) && (!Array.isArray(other) || isNullable));
        for (const other of others) yield [`${name} as ${JSON.stringify(other)}`, { ...record, [name]: other }, [name]];
        yield [`${name} as null`, { ...record, [name]: null }, isNullable ? [] : [name]];
        if (typeof value === 'string' && value.startsWith('sha256:')) {
            yield [`${name} that is none`, { ...record, [name]: 'sha256:' }, [name]];
        }
    }
}

function decisionCases() {
    const cases = [];
    const add = (id, record, faults) => cases.push({ id, record, expect: { faults: pointers(faults) } });
    for (const record of [allow, approval, deny, revise]) {
        const route = record.decision;
        add(`${route}: whole`, record, []);
        add(`${route}: nothing but the verdict`, { decision: route }, needs[route]);
        add(`${route}: what it needs and no more`,
            pick(record, ['decision', ...needs[route]]), []);
        for (const name of needs[route]) {
            add(`${route}: without ${name}`, without(record, name), [name]);
            if (typeof record[name] === 'string' && !/_digest$|_hash$|_ref$|_at$/.test(name)) {
                add(`${route}: empty ${name}`, { ...record, [name]: '' }, [name]);
            }
            if (Array.isArray(record[name])) {
                add(`${route}: empty ${name}`, { ...record, [name]: [] }, [name]);
            }
        }
    }
    for (const word of ['Allow', 'ALLOW', 'permit', '', 'allow ', 'block']) {
        add(`verdict ${JSON.stringify(word)}`, { ...allow, decision: word }, ['decision']);
    }
    add('no verdict', without(allow, 'decision'), ['decision']);
    add('empty record', {}, ['decision', 'decision_id']);
    add('verdict of a wrong type', { ...allow, decision: true }, ['decision']);
    add('target state null', { ...allow, target_state_digest: null }, []);
    add('scope null', { ...allow, normalized_scope: null }, ['normalized_scope']);
    add('issued_at null in an allow', { ...allow, issued_at: null }, ['issued_at']);
    add('issued_at null in a deny', { ...deny, issued_at: null }, []);
    add('expires_at null in an approval', { ...approval, expires_at: null }, ['expires_at']);
    for (const time of ['2026-06-25T05:00:00', '2026-06-25 05:00:00Z', '2026-06-25T05:00:00+00:00',
        '2026-02-29T05:00:00Z', '2026-06-25T25:00:00Z', 'now', '']) {
        add(`issued_at ${JSON.stringify(time)}`, { ...allow, issued_at: time }, ['issued_at']);
    }
    for (const digest of ['sha256:aa', allow.intent_ref.toUpperCase(), allow.intent_ref.slice(7),
        allow.intent_ref + '0', 'sha512:' + '0'.repeat(128), '']) {
        add(`intent_ref ${JSON.stringify(digest.slice(0, 20))}`, { ...allow, intent_ref: digest },
            ['intent_ref']);
    }
    add('numbers as strings', { ...allow, seq: '0', running_count: '1' }, ['running_count', 'seq']);
    add('seq below zero', { ...allow, seq: -1, running_count: 0 }, ['seq']);
    add('miscounted', { ...allow, running_count: 2 }, ['running_count']);
    add('lists of other things', { ...allow, policy_refs: [1], evidence_refs: {} },
        ['evidence_refs', 'policy_refs']);
    add('end before begin', { ...allow, expires_at: '2026-06-25T05:00:00Z' }, ['expires_at']);
    add('unknown members', { ...allow, vendor: { x: 1 }, extensions: { acme: { y: [1.5] } } }, []);
    add('extensions that are none', { ...allow, extensions: [] }, ['extensions']);
    // a deny needs so little that null is a fault only where null is one
    const refused = without(deny, 'running_count', 'seq');
    for (const [id, record, faults] of misformed(refused, MEMBERS)) {
        add(`deny: ${id}`, record, faults);
    }
    return cases;
}

const outcome = (decision, more) => ({
    decision_id: decision.decision_id,
    ...(decision.intent_ref ? { intent_ref: decision.intent_ref } : {}),
    idempotency_key: decision.idempotency_key,
    outcome: 'executed',
    tool_output_hash: H({ rows: 12 }),
    completed_at: '2026-06-25T05:00:02Z',
    boundary_id: decision.boundary_id,
    seq: decision.seq,
    ...more,
});

function outcomeCases() {
    const cases = [];
    const add = (id, decision, record, faults, joins) =>
        cases.push({ id, profile: 'crewai-v1', decision, record,
            expect: { faults: pointers(faults), joins } });
    add('executed', allow, outcome(allow), [], true);
    add('blocked', deny, outcome(deny, { outcome: 'blocked', tool_output_hash: null }), [], true);
    add('error', allow, outcome(allow, { outcome: 'error', error_type: 'upstream',
        error_message: 'it said no', tool_output_hash: null }), [], true);
    add('timeout', allow, outcome(allow, { outcome: 'timeout', tool_output_hash: null }), [], true);
    add('error without type', allow, outcome(allow, { outcome: 'error' }), ['error_type'], true);
    add('unknown word', allow, outcome(allow, { outcome: 'done' }), ['outcome'], true);
    add('without its needs', allow, without(outcome(allow), 'outcome', 'completed_at'),
        ['completed_at', 'outcome'], true);
    add('of another decision', allow, outcome(allow, { decision_id: 'd-9' }), [], false);
    add('under another key', allow, outcome(allow, { idempotency_key: 'key-2' }), [], false);
    add('in another run', allow, outcome(allow, { boundary_id: 'run-2' }), [], false);
    add('at another seq', allow, outcome(allow, { seq: 1 }), [], false);
    add('of another intent', allow, outcome(allow, { intent_ref: allow.intent_digest }), [], false);
    add('without intent', allow, without(outcome(allow), 'intent_ref'), [], false);
    const forged = { ...allow, intent_ref: H('forged') };
    add('of a decision whose intent_ref does not recompute', forged, outcome(forged), [], false);
    const changed = { ...allow, normalized_scope: 'customers' };
    add('of a decision whose scope was changed', changed, outcome(changed), [], false);
    const { intent_ref, receipt_ref, normalized_scope, ...scopeless } = deny;
    add('of a deny without scope', scopeless, outcome(scopeless, { outcome: 'blocked' }), [], true);
    add('of a deny without scope, with an invented intent', scopeless,
        outcome(scopeless, { outcome: 'blocked', intent_ref }), [], false);
    // an invalid member says nothing, so that the join rests on the others
    for (const [id, record, faults] of misformed(outcome(allow), OUTCOME_MEMBERS)) {
        const name = id.split(' ')[0];
        add(id, allow, record, faults, !['decision_id', 'intent_ref'].includes(name));
    }
    return cases;
}

// ---- vectors/governance/bindings.json: the table of the binding check
const CANDIDATE = ['agent_id', 'tool', 'target', 'normalized_scope', 'params_hash', 'intent_digest',
    'intent_ref', 'continuation_id', 'idempotency_key', 'target_state_digest'];

function bindingCases() {
    const cases = [];
    const candidate = Object.fromEntries(CANDIDATE.map((n) => [n, allow[n]]));
    const now = '2026-06-25T05:00:30Z';
    const add = (id, verdict, reason, change) =>
        cases.push({ id, authorization: allow, candidate, now, outcomes: [], ...change,
            expect: { verdict, reason } });
    add('the exact call', 'allow', 'contract_binding_ok', {});
    for (const decision of [deny, revise, approval]) {
        add(decision.decision, 'deny', 'decision_not_allow', { authorization: decision });
    }
    add('before it was issued', 'deny', 'expired', { now: '2026-06-25T05:00:00Z' });
    add('at the first moment', 'allow', 'contract_binding_ok', { now: allow.issued_at });
    add('at the last moment', 'allow', 'contract_binding_ok', { now: allow.expires_at });
    add('after the last moment', 'deny', 'expired', { now: '2026-06-25T05:01:00.000002Z' });
    add('without an end', 'allow', 'contract_binding_ok',
        { authorization: { ...allow, expires_at: null }, now: '2099-01-01T00:00:00Z' });
    for (const name of ['agent_id', 'tool', 'target', 'normalized_scope']) {
        add(`another ${name}`, 'deny', `${name}_mismatch`,
            { candidate: { ...candidate, [name]: candidate[name] + '-2' } });
    }
    for (const name of ['params_hash', 'intent_digest', 'intent_ref']) {
        add(`another ${name}`, 'deny', 'exact_intent_mismatch',
            { candidate: { ...candidate, [name]: H('x') } });
        add(`no ${name}`, 'deny', 'exact_intent_mismatch',
            { candidate: without(candidate, name) });
    }
    add('a continuation nobody gave', 'deny', 'continuation_mismatch',
        { candidate: { ...candidate, continuation_id: 'review-9' } });
    add('absent and null continuation', 'allow', 'contract_binding_ok',
        { candidate: without(candidate, 'continuation_id') });
    add('another key', 'deny', 'idempotency_key_mismatch',
        { candidate: { ...candidate, idempotency_key: 'key-2' } });
    add('no key on both sides', 'deny', 'idempotency_key_mismatch',
        { authorization: without(allow, 'idempotency_key'),
            candidate: without(candidate, 'idempotency_key') });
    add('another state', 'revalidate', 'target_state_drift',
        { candidate: { ...candidate, target_state_digest: H('x') } });
    add('a state that is gone', 'revalidate', 'target_state_drift',
        { candidate: { ...candidate, target_state_digest: null } });
    for (const word of ['executed', 'blocked', 'error', 'timeout']) {
        add(`an outcome ${word}`, 'deny', 'duplicate_outcome',
            { outcomes: [outcome(allow, { outcome: word, error_type: 'x' })] });
    }
    add('an outcome of another decision', 'deny', 'duplicate_outcome',
        { outcomes: [outcome(allow, { decision_id: 'd-9' })] });
    add('an outcome of another key', 'allow', 'contract_binding_ok',
        { outcomes: [outcome(allow, { idempotency_key: 'key-2' })] });
    add('an outcome of another intent', 'allow', 'contract_binding_ok',
        { outcomes: [outcome(allow, { intent_ref: H('x') })] });
    add('a key in the extensions', 'deny', 'duplicate_outcome',
        { outcomes: [{ ...without(outcome(allow), 'idempotency_key'),
            extensions: { idempotency_key: 'key-1' } }] });
    add('the first failure wins: agent before tool', 'deny', 'agent_id_mismatch',
        { candidate: { ...candidate, agent_id: 'x', tool: 'x' } });
    add('the first failure wins: expired before agent', 'deny', 'expired',
        { candidate: { ...candidate, agent_id: 'x' }, now: '2030-01-01T00:00:00Z' });
    add('the first failure wins: intent before state', 'deny', 'exact_intent_mismatch',
        { candidate: { ...candidate, params_hash: H('x'), target_state_digest: H('x') } });
    add('the first failure wins: state before duplicate', 'revalidate', 'target_state_drift',
        { candidate: { ...candidate, target_state_digest: H('x') }, outcomes: [outcome(allow)] });
    return cases;
}

// ---- vectors/governance/completeness.json
/** seals: null, one, or a list of them. */
function report(records, seals) {
    const list = [seals ?? []].flat(), seal = list.at(-1) ?? null;
    const says = ({ boundary_id, total, seal_hash }) => jcs([boundary_id ?? null, total ?? null, seal_hash ?? null]);
    const numbered = records.filter((r) => Number.isInteger(r.seq) && r.seq >= 0);
    const seqs = numbered.map((r) => r.seq).sort((a, b) => a - b);
    const expected = Math.max(0, ...seqs.map((s) => s + 1), ...records.map((r) => r.running_count ?? 0),
        seal?.total ?? 0);
    const missing = [];
    for (let next = 0, i = 0; next < expected; ) {
        while (i < seqs.length && seqs[i] < next) {
            i++;
        }
        const end = i < seqs.length ? seqs[i] : expected;
        if (end > next) {
            missing.push([next, end - 1]);
        }
        next = end + 1;
    }
    const uniqueSeqs = (list) => [...new Set(list)].sort((a, b) => a - b);
    const boundary = records.find((r) => r.boundary_id)?.boundary_id;
    const at = (test) => records.flatMap((r, i) => (test(r) ? [i] : []));
    const found = {
        expected,
        held: records.length,
        missing,
        missing_total: missing.reduce((sum, [a, b]) => sum + b - a + 1, 0),
        duplicates: uniqueSeqs(seqs.filter((s, i) => seqs.indexOf(s) !== i)),
        miscounted: uniqueSeqs(
            numbered.filter((r) => r.running_count !== r.seq + 1).map((r) => r.seq)),
        unnumbered: at((r) => !numbered.includes(r)),
        foreign: at((r) => r.boundary_id && r.boundary_id !== boundary),
        unbound: at((r) => boundary && !r.boundary_id),
    };
    const lists = ['missing', 'duplicates', 'miscounted', 'unnumbered', 'foreign', 'unbound'];
    let whole = lists.every((name) => found[name].length === 0);
    let flaw = null;
    if (seal !== null) {
        const ids = [...records].sort((a, b) => a.seq - b.seq).map((r) => r.decision_id).join('');
        flaw = 'sound';
        if (boundary && !seal.boundary_id) {
            flaw = 'unbound';
        } else if (boundary && seal.boundary_id !== boundary) {
            flaw = 'foreign';
        } else if (list.some((each) => says(each) !== says(seal))) {
            flaw = 'second';
        } else if (!seal.boundary_id || seal.sealed !== true || !Number.isInteger(seal.total) ||
            (seal.final_seq !== undefined && seal.final_seq !== seal.total - 1)) {
            flaw = 'invalid';
        } else if (whole && seal.seal_hash !== undefined && seal.seal_hash !== sha256(ids)) {
            flaw = 'hash_differs';
        }
        whole = whole && flaw === 'sound';
    }
    return { ...found, seal: flaw, whole };
}

function completenessCases() {
    const cases = [];
    const add = (id, records, seal) =>
        cases.push({ id, records, seal, expect: report(records, seal) });
    const record = (seq, more) =>
        ({ decision_id: `d-${seq}`, boundary_id: 'run-1', seq, running_count: seq + 1, ...more });
    const run = (...seqs) => seqs.map((s) => record(s));
    const sealOf = (total, more) => ({
        boundary_id: 'run-1', sealed: true, total, final_seq: total - 1,
        sealed_at: '2026-06-25T06:00:00Z',
        seal_hash: sha256([...Array(total).keys()].map((s) => `d-${s}`).join('')), ...more,
    });
    add('whole, sealed', run(0, 1, 2), sealOf(3));
    add('whole, not sealed', run(0, 1, 2), null);
    add('in another order', run(2, 0, 1), sealOf(3));
    add('nothing, nothing promised', [], null);
    add('nothing, an empty run', [], sealOf(0));
    add('nothing, but promised', [], sealOf(2));
    add('a gap', run(0, 2, 3), sealOf(4));
    add('the first is missing', run(1, 2), sealOf(3));
    add('a dropped tail under a seal', run(0, 1), sealOf(4));
    add('a dropped tail without seal', run(0, 1), null);
    add('a running count that promises more', [record(0), record(1, { running_count: 4 })], null);
    add('a running count that says less', [record(0), record(1, { running_count: 1 })], null);
    add('a duplicate', run(0, 1, 1, 2), sealOf(3));
    add('a record too many', run(0, 1, 2, 3), sealOf(3));
    add('another boundary', [record(0), record(1, { boundary_id: 'run-2' })], sealOf(2));
    add('a missing boundary', [record(0), without(record(1), 'boundary_id')], sealOf(2));
    add('no boundary at all', run(0, 1).map((r) => without(r, 'boundary_id')), sealOf(2));
    add('a seal of another boundary', run(0, 1), sealOf(2, { boundary_id: 'run-2' }));
    add('a seal without boundary', run(0, 1), without(sealOf(2), 'boundary_id'));
    add('a seal without total', run(0, 1), without(sealOf(2), 'total'));
    add('a seal that is not one', run(0, 1), sealOf(2, { sealed: false }));
    add('a seal that contradicts itself', run(0, 1), sealOf(2, { final_seq: 2 }));
    add('a seal over other ids', run(0, 1), sealOf(2, { seal_hash: sha256('d-0d-2') }));
    add('a seal without hash', run(0, 1), without(sealOf(2), 'seal_hash'));
    add('the same seal twice', run(0, 1), [sealOf(2), sealOf(2, { sealed_at: '2026-06-25T07:00:00Z' })]);
    add('a seal, and one of more', run(0, 1), [sealOf(3), sealOf(2)]);
    add('a seal, and one over other ids', run(0, 1), [sealOf(2), sealOf(2, { seal_hash: sha256('d-1d-0') })]);
    add('records without seq', [record(0), without(record(1), 'seq'), record(-1)], null);
    add('records without running count', [record(0), without(record(1), 'running_count')], null);
    return cases;
}

// ---- vectors/canonical: RFC 8785, and what is refused because it is ambiguous
function canonicalCases() {
    const hex = (text) => Buffer.from(text, 'latin1').toString('hex');
    const good = [
        ['white space', ' { "b" : [ 1 , 2 ] ,\t"a" :\r\n null } '], ['a number alone', '7'], ['a text alone', '""'],
        ['members by code units', '{"\u20ac":1,"\\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}'],
        ['escapes that are needed', '"\\u0000\\u001f\\b\\f\\n\\r\\t\\"\\\\"'],
        ['escapes that are not', '"\\/\\u0041\\u20ac\\ud83d\\ude00\\u007f"'],
        ['whole numbers', '[0,-0,1.0,1e2,100,-1.50,10E-1]'],
        ['large and small', '[1e21,1e20,123456789012345680000,1e-6,1e-7,5e-324,1.7976931348623157e308]'],
        ['the last safe integers', '[9007199254740991,-9007199254740991,9007199254740992]'],
        ['rounded to the nearest', '[0.1,0.10000000000000001,0.30000000000000004,4.35,1e23]'],
        ['nothing in them', '[[],{},[[]],{"":{}}]'], ['composed and decomposed', '["\u00e9","e\u0301"]'],
        ['names with escapes', '{"\\u0062":1,"a\\n":2}'],
    ].map(([id, text]) => {
        const canonical = jcs(JSON.parse(text));
        return { id, text, expect: { canonical, digest: sha256(canonical) } };
    });
    const bad = [
        ['nothing', ''], ['two values', '1 2'], ['a comma too many', '[1,]'], ['no quotes', '{a:1}'],
        ['single quotes', "'a'"], ['a comment', '1//'],
        ['a name twice', '{"a":1,"a":1}'], ['a name twice, one escaped', '{"a":1,"\\u0061":2}'],
        ['a lone surrogate', '"\\ud800"'], ['surrogates in the wrong order', '"\\ude00\\ud83d"'],
        ['a control character', '"\n"'],
        ['an escape that there is not', '"\\x41"'], ['a leading zero', '01'], ['a plus sign', '+1'],
        ['no digit before the dot', '.5'], ['no digit after it', '1.'],
        ['not a number', 'NaN'], ['too large', '1e309'], ['too small to be another than zero', '1e-400'],
        ['an integer that no double is', '9007199254740993'],
        ['an integer with another canonical text', '1152921504606846976'], ['upper case', 'TRUE'],
    ].map(([id, text]) => ({ id, text, expect: { canonical: null, digest: null } }));
    const bytes = [['a byte order mark', '\xef\xbb\xbf1'], ['a byte that is no UTF-8', '"\xff"'],
      ['an overlong form', '"\xc0\xaf"'], ['a surrogate in UTF-8', '"\xed\xa0\x80"'],
        ['half a character', '"\xe2\x82"'], ['a NUL behind the value', '1\0']].map(([id, text]) =>
          ({ id, hex: hex(text), expect: { canonical: null, digest: null } }));
    return [...good, ...bad, ...bytes];
}

// ---- writing
for (const profile of [crewai, algovoi, vaara]) write(`digests/${profile.name}.json`, digestSet(profile));
write('governance/decisions.json', { format: 'writ-decisions/1', cases: decisionCases() });
write('governance/outcomes.json', { format: 'writ-outcomes/1', cases: outcomeCases() });
write('governance/bindings.json', { format: 'writ-bindings/1', cases: bindingCases() });
write('governance/completeness.json', { format: 'writ-completeness/1', cases: completenessCases() });
write('canonical/canonical.json', { format: 'writ-canonical/1', cases: canonicalCases() });
