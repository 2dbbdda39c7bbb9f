#include "evidence/vaara.h"

#include "evidence/profile.h"
#include "evidence/vaara_grant.h"
#include "evidence/vaara_receipt.h"

#include <stdlib.h>

#define COUNT(array)    (sizeof(array) / sizeof((array)[0]))
#define SCHEMA_DECISION "crewai.governance.decision/v1"
#define SCHEMA_OUTCOME  "crewai.governance.outcome/v1"
#define SCHEMA_SEAL     "crewai.governance.seal/v1"
#define SCHEMA_EVIDENCE "vaara.authorization/v0"
#define EVIDENCE_MAX    ((size_t)1 << 20)        /* canonical bytes */
#define TIME_MS_MAX     INT64_C(253402300799999) /* the last instant of the year 9999 */

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
    [WRIT_VAARA_RECEIPT] = "receipt",
};

const char *
writ_vaara_kind_name(enum writ_vaara_kind kind)
{
    return kind_names[kind];
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
                   ? WRIT_LIT("revise") /* contract 6.7 by their word */
                   : writ_binding_verdict_name(finding->verdict);
    case WRIT_VAARA_NONE:
    case WRIT_VAARA_DECISION:
    case WRIT_VAARA_OUTCOME:
    case WRIT_VAARA_SEAL:
    case WRIT_VAARA_AUTHORIZATION:
    case WRIT_VAARA_RECEIPT:
        break;
    }
    return WRIT_LIT("");
}

static const struct writ_profile *
profile(void)
{
    return writ_profile_find(WRIT_LIT("vaara-v0"));
}

/* ---- findings */

static WRIT_RESULT
fault(struct writ_vaara_finding *finding, struct writ_arena *arena, const char *pointer,
    const char *what, struct writ_err *err)
{
    if (finding->faults == NULL) {
        finding->faults = writ_arena_get(arena, sizeof *finding->faults);
        if (finding->faults == NULL) {
            WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for what is wrong with a record");
        }
        *finding->faults = (struct writ_faults){0};
    }
    writ_faults_add(finding->faults, pointer, what);
    finding->holds = false;
    return WRIT_DONE;
}

/* Faults that were collected elsewhere. */
static WRIT_RESULT
fault_all(struct writ_vaara_finding *finding, struct writ_arena *arena,
    const struct writ_faults *faults, struct writ_err *err)
{
    for (size_t i = 0; i < faults->count; i++) {
        WRIT_TRY(fault(finding, arena, faults->list[i].pointer, faults->list[i].what, err));
    }
    return WRIT_DONE;
}

/* ---- their members in ours */

static const struct writ_json *
at(const struct writ_json *value, const char *pointer)
{
    return writ_json_pointer(value, writ_view_str(pointer));
}

static struct writ_member_text
text_at(const struct writ_json *record, const char *pointer)
{
    const struct writ_json *value = at(record, pointer);

    if (writ_json_type(value) == WRIT_JSON_STRING) {
        return writ_member_text(writ_json_string(value));
    }
    return (struct writ_member_text){value == NULL                             ? WRIT_ABSENT
                                     : writ_json_type(value) == WRIT_JSON_NULL ? WRIT_NULL
                                                                               : WRIT_WRONG,
        {NULL, 0}};
}

static struct writ_member_number
number_at(const struct writ_json *record, const char *pointer)
{
    int64_t number;

    if (writ_is_ok(writ_json_integer(at(record, pointer), 0, WRIT_DECISION_SEQ_MAX, &number))) {
        return writ_member_number(number);
    }
    return (struct writ_member_number){WRIT_ABSENT, 0};
}

static WRIT_RESULT
read_decision(const struct writ_json *record, struct writ_arena *arena, struct writ_decision *ret,
    struct writ_err *err)
{
    int64_t ms;

    WRIT_TRY(writ_decision_read(record, arena, ret, err));
    ret->tool = text_at(record, "/action_type");
    ret->boundary_id = text_at(record, "/completeness/boundaryId");
    ret->seq = number_at(record, "/completeness/seq");
    ret->running_count = number_at(record, "/completeness/runningCount");
    ret->issued_at = (struct writ_member_text){WRIT_ABSENT, {NULL, 0}};
    if (writ_is_ok(writ_json_integer(at(record, "/timestamp_ms"), 0, TIME_MS_MAX, &ms))) {
        return writ_member_time_make(ms * 1000, arena, &ret->issued_at, err);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_outcome(const struct writ_json *record, struct writ_arena *arena, struct writ_outcome *ret,
    struct writ_err *err)
{
    WRIT_TRY(writ_outcome_read(record, arena, ret, err));
    ret->outcome = text_at(record, "/status");
    ret->boundary_id = text_at(record, "/completeness/boundaryId");
    ret->seq = number_at(record, "/completeness/seq");
    return WRIT_DONE;
}

/* ---- records: which members there must be */

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
        if (!is_needed(at(record, needs[i].pointer), needs[i].need)) {
            WRIT_TRY(fault(finding, arena, needs[i].pointer, "is missing or not of its form", err));
        }
    }
    return WRIT_DONE;
}

/* Notes a signature that does not hold. `names` as for writ_vaara_signature_check. */
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
        return fault(finding, arena, "/signature", "does not hold under any key", err);
    }
    return result;
}

/* ---- {record, signature} */

static enum writ_vaara_kind
wrapper_kind(const struct writ_json *wrapper)
{
    const struct writ_json *schema = at(wrapper, "/record/schema");

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
    WRIT_TRY(read_decision(record, arena, &decision, err));
    if (!writ_decision_is(&decision, WRIT_DECISION_ALLOW) &&
        !writ_decision_is(&decision, WRIT_DECISION_DENY) &&
        !writ_decision_is(&decision, WRIT_DECISION_REVISE) &&
        !writ_decision_is(&decision, WRIT_DECISION_REQUIRE_APPROVAL)) {
        WRIT_TRY(fault(finding, arena, "/decision", "is no verdict", err));
    }
    WRIT_TRY(writ_decision_recompute(&decision, profile(), &faults, err));
    return fault_all(finding, arena, &faults, err);
}

static WRIT_RESULT
check_seal(struct writ_vaara_finding *finding, const struct writ_json *record,
    struct writ_arena *arena, struct writ_err *err)
{
    WRIT_TRY(check_needs(finding, record, seal_needs, COUNT(seal_needs), arena, err));
    if (writ_json_type(at(record, "/sealed")) != WRIT_JSON_TRUE) {
        return fault(finding, arena, "/sealed", "is not true", err);
    }
    return WRIT_DONE;
}

/* One wrapper, alone or as a part of a case; what is wrong is added to the finding. */
static WRIT_RESULT
check_wrapper(struct writ_vaara_finding *finding, const struct writ_json *wrapper,
    enum writ_vaara_kind want, const struct writ_vaara_terms *terms, struct writ_arena *arena,
    struct writ_err *err)
{
    const struct writ_json *record =
        writ_json_get_typed(wrapper, WRIT_LIT("record"), WRIT_JSON_OBJECT);

    if (record == NULL || wrapper_kind(wrapper) != want) {
        finding->authentic = false;
        return fault(finding, arena, "/schema", "is not that of a record of this kind", err);
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
    case WRIT_VAARA_RECEIPT:
        break;
    }
    return WRIT_DONE;
}

/* ---- {record, evidence} */

static const char *const authorization_signed[] = {
    "alg", "backLink", "decisionDerived", "issuerAsserted", "version"};

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
    if (!writ_json_is(at(document, "/evidence/schema"), WRIT_LIT(SCHEMA_EVIDENCE)) ||
        !writ_json_is(at(document, "/record/decisionDerived/evidenceRef/schema"),
            WRIT_LIT(SCHEMA_EVIDENCE))) {
        WRIT_TRY(fault(finding, arena, "/evidence/schema", "is none that is known", err));
    }
    if (!writ_json_is(
            at(document, "/record/decisionDerived/evidenceRef/digest"), writ_view_str(text))) {
        WRIT_TRY(fault(finding, arena, "/evidence", "is not what the record is bound to", err));
    }
    if (!writ_json_equal(
            at(document, "/record/decisionDerived/decision"), at(document, "/evidence/verdict")) ||
        !writ_json_equal(
            at(document, "/record/decisionDerived/reason"), at(document, "/evidence/reason"))) {
        WRIT_TRY(fault(finding, arena, "/evidence/verdict", "is another than the record's", err));
    }
    return WRIT_DONE;
}

/* ---- cases */

static WRIT_RESULT
check_call(struct writ_vaara_finding *finding, const struct writ_vaara_terms *terms,
    struct writ_arena *arena, struct writ_err *err)
{
    const struct writ_json *document = finding->document;
    struct writ_member_text tool = text_at(document, "/runtime_tool_name");
    struct writ_member_text tenant = text_at(document, "/runtime_tenant_id");
    struct writ_vaara_call call = {
        .args = writ_json_get_typed(document, WRIT_LIT("runtime_args"), WRIT_JSON_OBJECT),
        .tool = tool.view,
        .tenant = tenant.view,
        .known =
            writ_json_get_typed(document, WRIT_LIT("known_attestation_digests"), WRIT_JSON_ARRAY),
        .revoked = terms->revoked,
        .revoked_since_s = terms->revoked_since_s,
    };

    if (call.args == NULL || tool.is != WRIT_PRESENT || tenant.is != WRIT_PRESENT ||
        !writ_is_ok(
            writ_json_integer(at(document, "/now"), 0, WRIT_DECISION_SEQ_MAX, &call.now_s))) {
        finding->authentic = false;
        return fault(finding, arena, "",
            "is no call: runtime_args, runtime_tool_name, runtime_tenant_id or now is not there",
            err);
    }
    WRIT_TRY(writ_vaara_grant_verify(writ_json_get(document, WRIT_LIT("credential")), &terms->keys,
        &call, &finding->reason, err));
    finding->holds = finding->reason == WRIT_REASON_CREDENTIAL_OK;
    finding->authentic = finding->reason != WRIT_REASON_MISSING_CREDENTIAL &&
                         finding->reason != WRIT_REASON_MALFORMED &&
                         finding->reason != WRIT_REASON_BAD_SIGNATURE;
    return WRIT_DONE;
}

/* May the candidate run, at the time of the approval and with nothing done so far? */
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
        return WRIT_DONE; /* what is not sound has no verdict but no */
    }
    WRIT_TRY(read_decision(at(approved, "/record"), arena, &authorization, err));
    WRIT_TRY(read_decision(at(candidate, "/record"), arena, &other, err));
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
    WRIT_TRY(read_outcome(at(first, "/record"), arena, &done, err));
    WRIT_TRY(read_outcome(at(second, "/record"), arena, &again, err));
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

static WRIT_RESULT
check_receipt(struct writ_vaara_finding *finding, struct writ_err *err)
{
    WRIT_TRY(writ_vaara_receipt_check(finding->document, &finding->failed, err));
    finding->holds = writ_vaara_receipt_conforms(finding->failed);
    finding->authentic = false;
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
        if (at(document, shapes[i].first) != NULL && at(document, shapes[i].second) != NULL) {
            return shapes[i].kind;
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
    case WRIT_VAARA_RECEIPT:
    case WRIT_VAARA_NONE:
        result = check_receipt(&finding, err);
        break;
    }
    WRIT_TRY(result);
    *ret = finding;
    return WRIT_DONE;
}

/* ---- all of them together */

/* A decision and what has been found to belong to it. */
struct held {
    struct writ_decision decision;
    bool has_outcome;
};

struct joining {
    struct writ_arena *arena;
    struct held *held; /* by decision_id */
    size_t held_n;
    struct writ_digest *grants;
    size_t grants_n;
    struct writ_completeness_set *set;
    bool any;
};

static int
by_id(const void *a, const void *b)
{
    const struct held *left = a, *right = b;

    return writ_view_compare(left->decision.decision_id.view, right->decision.decision_id.view);
}

/* What is in the evidence of an authorization about its place. */
static struct writ_decision
placed(const struct writ_json *evidence)
{
    return (struct writ_decision){
        .boundary_id = text_at(evidence, "/completeness/boundaryId"),
        .seq = number_at(evidence, "/completeness/seq"),
        .running_count = number_at(evidence, "/completeness/runningCount"),
    };
}

static WRIT_RESULT
collect(struct joining *j, const struct writ_vaara_finding *finding, struct writ_err *err)
{
    const struct writ_json *record = writ_json_get(finding->document, WRIT_LIT("record"));
    struct writ_decision place;
    struct writ_seal seal;

    if (!finding->authentic) {
        return WRIT_DONE; /* what somebody else may have made fills no gap */
    }
    switch (finding->kind) {
    case WRIT_VAARA_DECISION:
        WRIT_TRY(read_decision(record, j->arena, &j->held[j->held_n].decision, err));
        j->held[j->held_n].has_outcome = false;
        j->any = true;
        return writ_completeness_add(j->set, &j->held[j->held_n++].decision, err);
    case WRIT_VAARA_AUTHORIZATION:
        place = placed(at(finding->document, "/evidence"));
        j->any = true;
        return writ_completeness_add(j->set, &place, err);
    case WRIT_VAARA_SEAL:
        WRIT_TRY(writ_seal_read(record, j->arena, &seal, err));
        seal.boundary_id = text_at(record, "/boundaryId");
        writ_completeness_seal(j->set, &seal);
        j->any = true;
        return WRIT_DONE;
    case WRIT_VAARA_GRANT:
        return finding->holds
                   ? writ_vaara_grant_fingerprint(finding->document, &j->grants[j->grants_n++], err)
                   : WRIT_DONE;
    case WRIT_VAARA_NONE:
    case WRIT_VAARA_OUTCOME:
    case WRIT_VAARA_CALL:
    case WRIT_VAARA_BINDING:
    case WRIT_VAARA_DUPLICATE:
    case WRIT_VAARA_RECEIPT:
        break;
    }
    return WRIT_DONE;
}

static WRIT_RESULT
join_outcome(struct joining *j, struct writ_vaara_finding *finding, struct writ_err *err)
{
    const struct writ_json *record = writ_json_get(finding->document, WRIT_LIT("record"));
    struct held key = {.decision = {.decision_id = text_at(record, "/decision_id")}};
    struct held *held;
    struct writ_outcome outcome;
    writ_result joined;

    if (!finding->authentic) {
        return WRIT_DONE;
    }
    held = j->held_n > 0 ? bsearch(&key, j->held, j->held_n, sizeof key, by_id) : NULL;
    if (held == NULL) {
        return fault(finding, j->arena, "/decision_id", "names no decision that is here", err);
    }
    WRIT_TRY(read_outcome(record, j->arena, &outcome, err));
    joined = writ_outcome_join(&outcome, &held->decision, profile(), err);
    if (!writ_is_ok(joined) && joined.code != WRIT_E_MISMATCH) {
        return joined;
    }
    if (!writ_is_ok(joined) ||
        !writ_member_text_equal(&outcome.receipt_ref, &held->decision.receipt_ref, false)) {
        WRIT_TRY(fault(finding, j->arena, "/intent_ref", "does not join its decision", err));
    }
    if (held->has_outcome) {
        WRIT_TRY(fault(finding, j->arena, "/decision_id", "has another outcome already", err));
    }
    held->has_outcome = true;
    return WRIT_DONE;
}

static WRIT_RESULT
join_authorization(
    const struct joining *j, struct writ_vaara_finding *finding, struct writ_err *err)
{
    const struct writ_json *fingerprint = at(finding->document, "/evidence/grantFingerprint");
    char text[WRIT_DIGEST_TEXT];

    for (size_t i = 0; i < j->grants_n; i++) {
        writ_digest_text(&j->grants[i], text);
        if (writ_json_is(fingerprint, writ_view_str(text))) {
            return WRIT_DONE;
        }
    }
    if (j->grants_n == 0) {
        return WRIT_DONE; /* nobody said which grants there are */
    }
    return fault(
        finding, j->arena, "/evidence/grantFingerprint", "is of no grant that is here", err);
}

static WRIT_RESULT
join_all(struct joining *j, struct writ_vaara_finding *findings, size_t n, struct writ_err *err)
{
    for (size_t i = 0; i < n; i++) {
        WRIT_TRY(collect(j, &findings[i], err));
    }
    qsort(j->held, j->held_n, sizeof *j->held, by_id);
    for (size_t i = 0; i < n; i++) {
        if (findings[i].kind == WRIT_VAARA_OUTCOME) {
            WRIT_TRY(join_outcome(j, &findings[i], err));
        } else if (findings[i].kind == WRIT_VAARA_AUTHORIZATION) {
            WRIT_TRY(join_authorization(j, &findings[i], err));
        }
    }
    return WRIT_DONE;
}

static void
set_freep(struct writ_completeness_set **set)
{
    writ_completeness_free(*set);
}

WRIT_RESULT
writ_vaara_join(struct writ_vaara_finding *findings, size_t n, struct writ_arena *arena,
    struct writ_completeness *ret, bool *ret_any, struct writ_err *err)
{
    WRIT_AUTO(struct writ_completeness_set *, set_freep) set = writ_completeness_new(n + 1);
    struct joining j = {
        .arena = arena,
        .held = writ_arena_get(arena, (n + 1) * sizeof *j.held),
        .grants = writ_arena_get(arena, (n + 1) * sizeof *j.grants),
        .set = set,
    };

    if (set == NULL || j.held == NULL || j.grants == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to look at the records together");
    }
    WRIT_TRY(join_all(&j, findings, n, err));
    WRIT_TRY(writ_completeness_report(set, arena, ret, err));
    *ret_any = j.any;
    return WRIT_DONE;
}
