/* Judges one document by its kind: the members that it needs, its digests, and its signatures under
 * the given keys. Every fault is noted, and a document without a finding of validity stays refused.
 */
#include "evidence/vaara/vaara.h"

#include "base/number.h"
#include "evidence/record/derive.h"
#include "evidence/vaara/vaara_grant.h"
#include "evidence/vaara/vaara_read.h"
#include "evidence/vaara/vaara_receipt.h"

#define COUNT(array)    (sizeof(array) / sizeof((array)[0]))
#define SCHEMA_DECISION "crewai.governance.decision/v1"
#define SCHEMA_OUTCOME  "crewai.governance.outcome/v1"
#define SCHEMA_SEAL     "crewai.governance.seal/v1"
#define SCHEMA_EVIDENCE "vaara.authorization/v0"
#define NOW_MAX_S       253402300799.0    /* the year 9999 */
#define EVIDENCE_MAX    ((size_t)1 << 20) /* canonical bytes */

static const char *const kind_names[] = {
    [WRIT_VAARA_NONE] = "",
    [WRIT_VAARA_DECISION] = "decision",
    [WRIT_VAARA_OUTCOME] = "outcome",
    [WRIT_VAARA_SEAL] = "seal",
    [WRIT_VAARA_AUTHORIZATION] = "authorization",
    [WRIT_VAARA_GRANT] = "grant",
    [WRIT_VAARA_CALL] = "call",
    [WRIT_VAARA_BINDING] = "binding",
    [WRIT_VAARA_DUPLICATE] = "duplicate",
    [WRIT_VAARA_VERDICT] = "verdict",
    [WRIT_VAARA_ATTESTATION] = "attestation",
    [WRIT_VAARA_RECEIPT] = "receipt",
};

const char *
writ_vaara_kind_name(enum writ_vaara_kind kind)
{
    return kind_names[kind];
}

bool
writ_vaara_is_record(enum writ_vaara_kind kind)
{
    return kind == WRIT_VAARA_VERDICT || kind == WRIT_VAARA_ATTESTATION ||
           kind == WRIT_VAARA_RECEIPT;
}

struct writ_view
writ_vaara_verdict(const struct writ_vaara_finding *finding)
{
    switch (finding->kind) {
    case WRIT_VAARA_GRANT:
    case WRIT_VAARA_CALL:
        return finding->reason == WRIT_REASON_CREDENTIAL_OK ? WRIT_LIT("ok")
                                                            : writ_reason_name(finding->reason);
    case WRIT_VAARA_BINDING:
    case WRIT_VAARA_DUPLICATE:
        return finding->verdict == WRIT_BINDING_REVALIDATE
                   ? WRIT_LIT("revise") /* the word of the profile */
                   : writ_binding_verdict_name(finding->verdict);
    case WRIT_VAARA_NONE:
    case WRIT_VAARA_DECISION:
    case WRIT_VAARA_OUTCOME:
    case WRIT_VAARA_SEAL:
    case WRIT_VAARA_AUTHORIZATION:
    case WRIT_VAARA_VERDICT:
    case WRIT_VAARA_ATTESTATION:
    case WRIT_VAARA_RECEIPT:
        break;
    }
    return WRIT_LIT("");
}

/* ---- records: their required members */

enum need {
    NEED_TEXT,
    NEED_DIGEST,
    NEED_DIGEST_OR_NULL,
    NEED_TEXT_OR_NULL,
    NEED_COUNT,
    NEED_TEXTS
};

struct needed {
    const char *pointer;
    enum need need;
};

static const struct needed decision_needs[] = {
    {"/decision_id", NEED_TEXT},
    {"/decision", NEED_TEXT},
    {"/agent_id", NEED_TEXT},
    {"/action_type", NEED_TEXT},
    {"/normalized_scope", NEED_TEXT},
    {"/normalization_id", NEED_TEXT},
    {"/idempotency_key", NEED_TEXT},
    {"/params_hash", NEED_DIGEST},
    {"/intent_digest", NEED_DIGEST},
    {"/intent_ref", NEED_DIGEST},
    {"/receipt_ref", NEED_DIGEST},
    {"/decision_context_hash", NEED_DIGEST},
    {"/target_state_digest", NEED_DIGEST_OR_NULL},
    {"/continuation_id", NEED_TEXT_OR_NULL},
    {"/policy_refs", NEED_TEXTS},
    {"/timestamp_ms", NEED_COUNT},
    {"/completeness/boundaryId", NEED_TEXT},
    {"/completeness/seq", NEED_COUNT},
    {"/completeness/runningCount", NEED_COUNT},
};

static const struct needed outcome_needs[] = {
    {"/decision_id", NEED_TEXT},
    {"/status", NEED_TEXT},
    {"/idempotency_key", NEED_TEXT},
    {"/intent_ref", NEED_DIGEST},
    {"/receipt_ref", NEED_DIGEST},
    {"/result_digest", NEED_DIGEST_OR_NULL},
    {"/completeness/boundaryId", NEED_TEXT},
    {"/completeness/seq", NEED_COUNT},
};

static const struct needed seal_needs[] = {
    {"/boundaryId", NEED_TEXT},
    {"/total", NEED_COUNT},
};

static const struct needed authorization_needs[] = {
    {"/record/decisionDerived/decision", NEED_TEXT},
    {"/record/decisionDerived/reason", NEED_TEXT},
    {"/record/decisionDerived/evidenceRef/digest", NEED_DIGEST},
    {"/record/backLink/attestationDigest", NEED_DIGEST},
    {"/evidence/verdict", NEED_TEXT},
    {"/evidence/reason", NEED_TEXT},
    {"/evidence/grantFingerprint", NEED_DIGEST},
    {"/evidence/argsCommitment", NEED_DIGEST},
};

/* of an authorization with a place: the broker need not number them */
static const struct needed place_needs[] = {
    {"/evidence/completeness/boundaryId", NEED_TEXT},
    {"/evidence/completeness/seq", NEED_COUNT},
    {"/evidence/completeness/runningCount", NEED_COUNT},
};

static bool
is_texts(const struct writ_json *value)
{
    WRIT_JSON_EACH(item, value)
    {
        if (writ_json_type(item) != WRIT_JSON_STRING) {
            return false;
        }
    }
    return writ_json_type(value) == WRIT_JSON_ARRAY;
}

static bool
is_needed(const struct writ_json *value, enum need need)
{
    struct writ_view text = writ_json_string(value);
    bool null = writ_json_type(value) == WRIT_JSON_NULL;
    int64_t number;

    switch (need) {
    case NEED_TEXT:
        return text.len > 0;
    case NEED_DIGEST:
        return writ_digest_is(text);
    case NEED_DIGEST_OR_NULL:
        return null || writ_digest_is(text);
    case NEED_TEXT_OR_NULL:
        return null || text.len > 0;
    case NEED_COUNT:
        return writ_is_ok(writ_json_integer(value, 0, WRIT_DECISION_SEQ_MAX, &number));
    case NEED_TEXTS:
        return is_texts(value);
    }
    return false;
}

static WRIT_RESULT
check_needs(struct writ_vaara_finding *finding, const struct writ_json *record,
    const struct needed *needs, size_t n, struct writ_arena *arena, struct writ_err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_needed(writ_vaara_read_at(record, needs[i].pointer), needs[i].need)) {
            WRIT_TRY(writ_vaara_finding_fault(
                finding, arena, needs[i].pointer, "is missing or malformed", err));
        }
    }
    return WRIT_DONE;
}

/* Adds a fault for a wrong signature. `names` as for writ_vaara_signature_check. */
static WRIT_RESULT
check_signed(struct writ_vaara_finding *finding, const struct writ_vaara_terms *terms,
    struct writ_view alg, const struct writ_json *object, const char *const *names, size_t n,
    const struct writ_json *signature, struct writ_arena *arena, struct writ_err *err)
{
    writ_result result = writ_vaara_signature_check(
        &terms->keys, alg, object, names, n, writ_json_string(signature), err);

    if (writ_is_ok(result)) {
        return WRIT_DONE;
    }
    if (result.code == WRIT_E_MISMATCH || result.code == WRIT_E_PARSE) {
        finding->authentic = false;
        return writ_vaara_finding_fault(
            finding, arena, "/signature", "does not verify under any key", err);
    }
    return result;
}

/* ---- {record, signature} */

static enum writ_vaara_kind
wrapper_kind(const struct writ_json *wrapper)
{
    const struct writ_json *schema = writ_vaara_read_at(wrapper, "/record/schema");

    return writ_json_is(schema, WRIT_LIT(SCHEMA_DECISION))  ? WRIT_VAARA_DECISION
           : writ_json_is(schema, WRIT_LIT(SCHEMA_OUTCOME)) ? WRIT_VAARA_OUTCOME
           : writ_json_is(schema, WRIT_LIT(SCHEMA_SEAL))    ? WRIT_VAARA_SEAL
                                                            : WRIT_VAARA_NONE;
}

static WRIT_RESULT
check_decision(struct writ_vaara_finding *finding, const struct writ_json *record,
    struct writ_arena *arena, struct writ_err *err)
{
    struct writ_decision decision;
    struct writ_faults faults = {0};

    WRIT_TRY(check_needs(finding, record, decision_needs, COUNT(decision_needs), arena, err));
    WRIT_TRY(writ_vaara_read_decision(record, arena, &decision, err));
    if (!writ_decision_is(&decision, WRIT_DECISION_ALLOW) &&
        !writ_decision_is(&decision, WRIT_DECISION_DENY) &&
        !writ_decision_is(&decision, WRIT_DECISION_REVISE) &&
        !writ_decision_is(&decision, WRIT_DECISION_REQUIRE_APPROVAL)) {
        WRIT_TRY(writ_vaara_finding_fault(finding, arena, "/decision", "is not a verdict", err));
    }
    WRIT_TRY(writ_decision_recompute(&decision, writ_vaara_read_profile(), &faults, err));
    return writ_vaara_finding_faults(finding, arena, &faults, err);
}

static WRIT_RESULT
check_seal(struct writ_vaara_finding *finding, const struct writ_json *record,
    struct writ_arena *arena, struct writ_err *err)
{
    WRIT_TRY(check_needs(finding, record, seal_needs, COUNT(seal_needs), arena, err));
    if (writ_json_type(writ_vaara_read_at(record, "/sealed")) != WRIT_JSON_TRUE) {
        return writ_vaara_finding_fault(finding, arena, "/sealed", "is not true", err);
    }
    return WRIT_DONE;
}

/* One wrapper, alone or as a part of a case; faults are added to the finding. */
static WRIT_RESULT
check_wrapper(struct writ_vaara_finding *finding, const struct writ_json *wrapper,
    enum writ_vaara_kind want, const struct writ_vaara_terms *terms, struct writ_arena *arena,
    struct writ_err *err)
{
    const struct writ_json *record =
        writ_json_get_typed(wrapper, WRIT_LIT("record"), WRIT_JSON_OBJECT);

    if (record == NULL || wrapper_kind(wrapper) != want) {
        finding->authentic = false;
        return writ_vaara_finding_fault(
            finding, arena, "/schema", "is not that of a record of this kind", err);
    }
    WRIT_TRY(check_signed(finding, terms, WRIT_LIT("ES256"), record, NULL, 0,
        writ_json_get(wrapper, WRIT_LIT("signature")), arena, err));
    switch (want) {
    case WRIT_VAARA_DECISION:
        return check_decision(finding, record, arena, err);
    case WRIT_VAARA_OUTCOME:
        return check_needs(finding, record, outcome_needs, COUNT(outcome_needs), arena, err);
    case WRIT_VAARA_SEAL:
        return check_seal(finding, record, arena, err);
    case WRIT_VAARA_NONE:
    case WRIT_VAARA_AUTHORIZATION:
    case WRIT_VAARA_GRANT:
    case WRIT_VAARA_CALL:
    case WRIT_VAARA_BINDING:
    case WRIT_VAARA_DUPLICATE:
    case WRIT_VAARA_VERDICT:
    case WRIT_VAARA_ATTESTATION:
    case WRIT_VAARA_RECEIPT:
        break;
    }
    return WRIT_DONE;
}

/* ---- {record, evidence} */

static const char *const authorization_signed[] = {
    "alg", "backLink", "decisionDerived", "issuerAsserted", "version"};

/* The evidence uses the words of the broker, the record those of its envelope: a refused call is
 * `deny` there and `block` here. */
static bool
says_the_same(const struct writ_json *document)
{
    const struct writ_json *verdict = writ_vaara_read_at(document, "/evidence/verdict");
    const struct writ_json *decision =
        writ_vaara_read_at(document, "/record/decisionDerived/decision");

    return ((writ_json_is(verdict, WRIT_LIT("allow")) &&
                writ_json_is(decision, WRIT_LIT("allow"))) ||
               (writ_json_is(verdict, WRIT_LIT("deny")) &&
                   writ_json_is(decision, WRIT_LIT("block")))) &&
           writ_json_equal(writ_vaara_read_at(document, "/record/decisionDerived/reason"),
               writ_vaara_read_at(document, "/evidence/reason"));
}

static WRIT_RESULT
check_authorization(struct writ_vaara_finding *finding, const struct writ_vaara_terms *terms,
    struct writ_arena *arena, struct writ_err *err)
{
    const struct writ_json *document = finding->document;
    const struct writ_json *record = writ_json_get(document, WRIT_LIT("record"));
    const struct writ_json *evidence = writ_json_get(document, WRIT_LIT("evidence"));
    char text[WRIT_DIGEST_TEXT] = "";
    struct writ_digest digest;
    writ_result digested = writ_digest_json(evidence, EVIDENCE_MAX, &digest, err);

    if (digested.code == WRIT_E_NOMEM || digested.code == WRIT_E_CRYPTO) {
        return digested;
    }
    if (writ_is_ok(digested)) {
        writ_digest_text(&digest, text);
    }
    WRIT_TRY(check_signed(finding, terms, writ_json_string(writ_json_get(record, WRIT_LIT("alg"))),
        record, authorization_signed, COUNT(authorization_signed),
        writ_json_get(record, WRIT_LIT("signature")), arena, err));
    WRIT_TRY(check_needs(
        finding, document, authorization_needs, COUNT(authorization_needs), arena, err));
    if (!writ_json_is(
            writ_vaara_read_at(document, "/evidence/schema"), WRIT_LIT(SCHEMA_EVIDENCE)) ||
        !writ_json_is(writ_vaara_read_at(document, "/record/decisionDerived/evidenceRef/schema"),
            WRIT_LIT(SCHEMA_EVIDENCE))) {
        WRIT_TRY(writ_vaara_finding_fault(finding, arena, "/evidence/schema", "is unknown", err));
    }
    if (!writ_json_is(writ_vaara_read_at(document, "/record/decisionDerived/evidenceRef/digest"),
            writ_view_str(text))) {
        WRIT_TRY(writ_vaara_finding_fault(
            finding, arena, "/evidence", "differs from the evidence of the record", err));
    }
    if (writ_vaara_read_at(document, "/evidence/completeness") != NULL) {
        WRIT_TRY(check_needs(finding, document, place_needs, COUNT(place_needs), arena, err));
    }
    if (!says_the_same(document)) {
        WRIT_TRY(writ_vaara_finding_fault(
            finding, arena, "/evidence/verdict", "differs from that of the record", err));
    }
    return WRIT_DONE;
}

/* ---- cases */

/* Seconds, with an optional fraction. */
static bool
read_now(const struct writ_json *now, int64_t *ret_us)
{
    double seconds;

    if (writ_json_type(now) != WRIT_JSON_NUMBER ||
        !writ_is_ok(writ_number_read(writ_json_text(now), &seconds)) || seconds < 0 ||
        seconds > NOW_MAX_S) {
        return false;
    }
    *ret_us = (int64_t)(seconds * 1e6);
    return true;
}

static WRIT_RESULT
check_call(struct writ_vaara_finding *finding, const struct writ_vaara_terms *terms,
    struct writ_arena *arena, struct writ_err *err)
{
    const struct writ_json *document = finding->document;
    struct writ_member_text tool = writ_vaara_read_text(document, "/runtime_tool_name");
    struct writ_member_text tenant = writ_vaara_read_text(document, "/runtime_tenant_id");
    struct writ_vaara_call call = {
        .args = writ_json_get_typed(document, WRIT_LIT("runtime_args"), WRIT_JSON_OBJECT),
        .tool = tool.view,
        .tenant = tenant.view,
        .known =
            writ_json_get_typed(document, WRIT_LIT("known_attestation_digests"), WRIT_JSON_ARRAY),
        .revoked = terms->revoked,
        .revoked_since_s = terms->revoked_since_s,
    };

    if (call.args == NULL || tool.is != WRIT_PRESENT || tenant.is != WRIT_PRESENT) {
        finding->authentic = false;
        return writ_vaara_finding_fault(finding, arena, "",
            "is not a call: runtime_args, runtime_tool_name or runtime_tenant_id is missing", err);
    }
    if (!read_now(writ_vaara_read_at(document, "/now"), &call.now_us)) {
        finding->authentic = false;
        return writ_vaara_finding_fault(
            finding, arena, "/now", "is not a number of seconds since 1970", err);
    }
    WRIT_TRY(writ_vaara_grant_verify(writ_json_get(document, WRIT_LIT("credential")), &terms->keys,
        &call, &finding->reason, err));
    finding->holds = finding->reason == WRIT_REASON_CREDENTIAL_OK;
    finding->authentic = finding->reason != WRIT_REASON_MISSING_CREDENTIAL &&
                         finding->reason != WRIT_REASON_MALFORMED &&
                         finding->reason != WRIT_REASON_BAD_SIGNATURE;
    return WRIT_DONE;
}

/* Whether the candidate may run, at the time of the approval and with nothing done so far. */
static WRIT_RESULT
check_binding(struct writ_vaara_finding *finding, const struct writ_vaara_terms *terms,
    struct writ_arena *arena, struct writ_err *err)
{
    const struct writ_json *approved = writ_json_get(finding->document, WRIT_LIT("approved"));
    const struct writ_json *candidate = writ_json_get(finding->document, WRIT_LIT("candidate"));
    struct writ_binding_set none = {NULL, 0};
    struct writ_decision authorization, other;
    struct writ_candidate call;
    struct writ_binding binding;
    int64_t now_us = 0;

    WRIT_TRY(check_wrapper(finding, approved, WRIT_VAARA_DECISION, terms, arena, err));
    WRIT_TRY(check_wrapper(finding, candidate, WRIT_VAARA_DECISION, terms, arena, err));
    if (finding->faults != NULL) {
        return WRIT_DONE; /* an unsound document gets no other verdict than a refusal */
    }
    WRIT_TRY(writ_vaara_read_decision(
        writ_vaara_read_at(approved, "/record"), arena, &authorization, err));
    WRIT_TRY(
        writ_vaara_read_decision(writ_vaara_read_at(candidate, "/record"), arena, &other, err));
    call = (struct writ_candidate){
        .agent_id = other.agent_id,
        .tool = other.tool,
        .target = other.target,
        .normalized_scope = other.normalized_scope,
        .params_hash = other.params_hash,
        .intent_digest = other.intent_digest,
        .intent_ref = other.intent_ref,
        .continuation_id = other.continuation_id,
        .idempotency_key = other.idempotency_key,
        .target_state_digest = other.target_state_digest,
    };
    (void)writ_member_time(authorization.issued_at.view, &now_us);
    binding = writ_binding_check(&authorization, &call, now_us, writ_binding_outcomes(&none));
    finding->verdict = binding.verdict;
    finding->reason = binding.reason;
    finding->holds = binding.verdict == WRIT_BINDING_ALLOW;
    return WRIT_DONE;
}

static WRIT_RESULT
check_duplicate(struct writ_vaara_finding *finding, const struct writ_vaara_terms *terms,
    struct writ_arena *arena, struct writ_err *err)
{
    const struct writ_json *first = writ_json_get(finding->document, WRIT_LIT("first"));
    const struct writ_json *second = writ_json_get(finding->document, WRIT_LIT("second"));
    struct writ_outcome done, again;
    struct writ_binding_set set = {&done, 1};
    struct writ_binding_lookup lookup = writ_binding_outcomes(&set);

    WRIT_TRY(check_wrapper(finding, first, WRIT_VAARA_OUTCOME, terms, arena, err));
    WRIT_TRY(check_wrapper(finding, second, WRIT_VAARA_OUTCOME, terms, arena, err));
    if (finding->faults != NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_vaara_read_outcome(writ_vaara_read_at(first, "/record"), arena, &done, err));
    WRIT_TRY(writ_vaara_read_outcome(writ_vaara_read_at(second, "/record"), arena, &again, err));
    if (lookup.find(lookup.ctx, again.intent_ref.view, again.idempotency_key.view) ==
        WRIT_BINDING_FREE) {
        finding->verdict = WRIT_BINDING_ALLOW;
        finding->reason = WRIT_REASON_CONTRACT_BINDING_OK;
        return WRIT_DONE;
    }
    finding->verdict = WRIT_BINDING_DENY;
    finding->reason = WRIT_REASON_DUPLICATE_OUTCOME;
    finding->holds = false;
    return WRIT_DONE;
}

static WRIT_RESULT
check_grant(
    struct writ_vaara_finding *finding, const struct writ_vaara_terms *terms, struct writ_err *err)
{
    WRIT_TRY(writ_vaara_grant_verify(finding->document, &terms->keys, NULL, &finding->reason, err));
    finding->holds = finding->authentic = finding->reason == WRIT_REASON_CREDENTIAL_OK;
    return WRIT_DONE;
}

/* ---- verdicts, attestations, receipts */

static const char *const attestation_signed[] = {
    "alg", "issuerAsserted", "payloadDerived", "plannerDeclared", "version"};
static const char *const receipt_signed[] = {
    "alg", "backLink", "outcomeDerived", "receiptAsserted", "version"};

static const struct {
    enum writ_vaara_kind kind;
    enum writ_vaara_record sort;
    const char *const *signed_members;
} records[] = {
    {WRIT_VAARA_VERDICT, WRIT_VAARA_RECORD_DECISION, authorization_signed},
    {WRIT_VAARA_ATTESTATION, WRIT_VAARA_RECORD_ATTESTATION, attestation_signed},
    {WRIT_VAARA_RECEIPT, WRIT_VAARA_RECORD_OUTCOME, receipt_signed},
};
_Static_assert(COUNT(authorization_signed) == COUNT(receipt_signed) &&
                   COUNT(attestation_signed) == COUNT(receipt_signed),
    "each sort of record signs as many members");

/* The signature is judged when the record conforms and a key of its algorithm is given. */
static WRIT_RESULT
check_record(struct writ_vaara_finding *finding, const struct writ_vaara_terms *terms,
    struct writ_arena *arena, struct writ_err *err)
{
    const struct writ_json *document = finding->document;
    struct writ_view alg = writ_json_string(writ_json_get(document, WRIT_LIT("alg")));
    size_t i = 0;

    while (records[i].kind != finding->kind) {
        i++;
    }
    WRIT_TRY(writ_vaara_receipt_check(document, records[i].sort, &finding->failed, err));
    finding->holds = writ_vaara_receipt_conforms(finding->failed);
    finding->authentic = finding->holds && writ_vaara_signature_judges(&terms->keys, alg);
    if (finding->authentic) {
        WRIT_TRY(check_signed(finding, terms, alg, document, records[i].signed_members,
            COUNT(receipt_signed), writ_json_get(document, WRIT_LIT("signature")), arena, err));
    }
    if (finding->kind == WRIT_VAARA_RECEIPT &&
        writ_vaara_read_at(document, "/decisionDerived") != NULL) {
        return writ_vaara_finding_fault(
            finding, arena, "/decisionDerived", "is in a record of an outcome", err);
    }
    return WRIT_DONE;
}

/* ---- one document */

static enum writ_vaara_kind
kind_of(const struct writ_json *document)
{
    static const struct {
        const char *first, *second;
        enum writ_vaara_kind kind;
    } shapes[] = {
        {"/record", "/evidence", WRIT_VAARA_AUTHORIZATION},
        {"/approved", "/candidate", WRIT_VAARA_BINDING},
        {"/first", "/second", WRIT_VAARA_DUPLICATE},
        {"/credential", "/runtime_args", WRIT_VAARA_CALL},
        {"/scope", "/binding", WRIT_VAARA_GRANT},
    };

    if (writ_json_type(document) != WRIT_JSON_OBJECT) {
        return WRIT_VAARA_RECEIPT;
    }
    for (size_t i = 0; i < COUNT(shapes); i++) {
        if (writ_vaara_read_at(document, shapes[i].first) != NULL &&
            writ_vaara_read_at(document, shapes[i].second) != NULL) {
            return shapes[i].kind;
        }
    }
    if (writ_vaara_read_at(document, "/outcomeDerived") == NULL) {
        if (writ_vaara_read_at(document, "/decisionDerived") != NULL) {
            return WRIT_VAARA_VERDICT;
        }
        if (writ_vaara_read_at(document, "/payloadDerived") != NULL) {
            return WRIT_VAARA_ATTESTATION;
        }
    }
    return wrapper_kind(document) != WRIT_VAARA_NONE ? wrapper_kind(document) : WRIT_VAARA_RECEIPT;
}

WRIT_RESULT
writ_vaara_check(const struct writ_json *document, const struct writ_vaara_terms *terms,
    struct writ_arena *arena, struct writ_vaara_finding *ret, struct writ_err *err)
{
    struct writ_vaara_finding finding = {
        .kind = kind_of(document),
        .holds = true,
        .authentic = true,
        .document = document,
    };
    writ_result result = WRIT_DONE;

    switch (finding.kind) {
    case WRIT_VAARA_DECISION:
    case WRIT_VAARA_OUTCOME:
    case WRIT_VAARA_SEAL:
        result = check_wrapper(&finding, document, finding.kind, terms, arena, err);
        break;
    case WRIT_VAARA_AUTHORIZATION:
        result = check_authorization(&finding, terms, arena, err);
        break;
    case WRIT_VAARA_GRANT:
        result = check_grant(&finding, terms, err);
        break;
    case WRIT_VAARA_CALL:
        result = check_call(&finding, terms, arena, err);
        break;
    case WRIT_VAARA_BINDING:
        result = check_binding(&finding, terms, arena, err);
        break;
    case WRIT_VAARA_DUPLICATE:
        result = check_duplicate(&finding, terms, arena, err);
        break;
    case WRIT_VAARA_VERDICT:
    case WRIT_VAARA_ATTESTATION:
    case WRIT_VAARA_RECEIPT:
    case WRIT_VAARA_NONE:
        result = check_record(&finding, terms, arena, err);
        break;
    }
    WRIT_TRY(result);
    *ret = finding;
    return WRIT_DONE;
}
