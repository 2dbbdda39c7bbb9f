/* The checks of records as bits. A check without anything to judge does not fail, so one fault
 * gives one id; every value, of any type, is accepted as input. */
#include "evidence/vaara/vaara_receipt.h"

#include "evidence/json/digest.h"
#include "evidence/vaara/vaara_signature.h"

#define BIT(NAME)       ((uint32_t)1 << WRIT_VAARA_RECEIPT_##NAME)
#define ES256_HEX       128 /* digits of r and s */
#define HS256_HEX       64
#define RS256_HEX_LEAST 512 /* of 2048 bits */

static const struct {
    const char *id;
    bool required;
} checks[] = {
#define ROW(NAME, id, required) {#id, required},
    WRIT_VAARA_RECEIPT_CHECKS(ROW)
#undef ROW
};

const char *
writ_vaara_receipt_id(enum writ_vaara_receipt_check check)
{
    return checks[check].id;
}

bool
writ_vaara_receipt_required(enum writ_vaara_receipt_check check)
{
    return checks[check].required;
}

bool
writ_vaara_receipt_conforms(uint32_t failed)
{
    for (int i = 0; i < WRIT_VAARA_RECEIPT_COUNT; i++) {
        if ((failed >> i & 1) != 0 && checks[i].required) {
            return false;
        }
    }
    return true;
}

static uint32_t
unless(bool condition, uint32_t bit)
{
    return condition ? 0 : bit;
}

static const struct writ_json *
object_in(const struct writ_json *record, struct writ_view name)
{
    return writ_json_get_typed(record, name, WRIT_JSON_OBJECT);
}

/* ---- parts of a record: the bits of the failed checks */

static uint32_t
check_signature(struct writ_view alg, const struct writ_json *value)
{
    struct writ_view hex = writ_json_string(value);
    bool length = true;

    if (hex.len == 0 || hex.len % 2 != 0 || !writ_hex_is(hex)) {
        return BIT(SIGNATURE_HEX);
    }
    if (writ_view_is(alg, "ES256")) {
        length = hex.len == ES256_HEX;
    } else if (writ_view_is(alg, "HS256")) {
        length = hex.len == HS256_HEX;
    } else if (writ_view_is(alg, "RS256")) {
        length = hex.len >= RS256_HEX_LEAST;
    }
    return unless(length, BIT(SIGNATURE_LENGTH));
}

static uint32_t
check_back_link(const struct writ_json *link)
{
    if (link == NULL) {
        return BIT(BACK_LINK_PRESENT);
    }
    return unless(
               writ_digest_is(writ_json_string(writ_json_get(link, WRIT_LIT("attestationDigest")))),
               BIT(BACK_LINK_DIGEST_FORMAT)) |
           unless(writ_json_get_typed(link, WRIT_LIT("attestationNonce"), WRIT_JSON_STRING) != NULL,
               BIT(BACK_LINK_NONCE_TYPE));
}

/* The issuer's block: `absent` and `differs` are the bits of its checks. */
static uint32_t
check_asserted(
    const struct writ_json *asserted, struct writ_view alg, uint32_t absent, uint32_t differs)
{
    if (asserted == NULL) {
        return absent;
    }
    return unless(
        alg.ptr != NULL && writ_json_is(writ_json_get(asserted, WRIT_LIT("alg")), alg), differs);
}

static uint32_t
check_ref(const struct writ_json *commitment)
{
    const struct writ_json *digest =
        writ_json_get_typed(commitment, WRIT_LIT("digest"), WRIT_JSON_STRING);

    if (digest == NULL ||
        writ_json_get_typed(commitment, WRIT_LIT("ref"), WRIT_JSON_STRING) == NULL) {
        return BIT(RESULT_COMMITMENT_SHAPE);
    }
    return unless(writ_digest_is(writ_json_string(digest)), BIT(RESULT_COMMITMENT_DIGEST_FORMAT));
}

static WRIT_RESULT
check_commitment(const struct writ_json *commitment, uint32_t *ret, struct writ_err *err)
{
    const struct writ_json *projection =
        writ_json_get_typed(commitment, WRIT_LIT("projection"), WRIT_JSON_STRING);
    const struct writ_json *digest =
        writ_json_get_typed(commitment, WRIT_LIT("projectionDigest"), WRIT_JSON_STRING);
    char text[WRIT_DIGEST_TEXT];
    struct writ_digest is;

    if (writ_json_get(commitment, WRIT_LIT("projection")) == NULL &&
        writ_json_get(commitment, WRIT_LIT("ref")) != NULL) {
        *ret = check_ref(commitment); /* it points at a document that is not here */
        return WRIT_DONE;
    }
    if (projection == NULL || digest == NULL) {
        *ret = BIT(RESULT_COMMITMENT_SHAPE);
        return WRIT_DONE;
    }
    if (!writ_digest_is(writ_json_string(digest))) {
        *ret = BIT(RESULT_COMMITMENT_DIGEST_FORMAT);
        return WRIT_DONE;
    }
    WRIT_TRY(writ_digest_bytes(writ_json_string(projection), &is, err));
    writ_digest_text(&is, text);
    *ret =
        unless(writ_json_is(digest, writ_view_str(text)), BIT(RESULT_COMMITMENT_SELF_CONSISTENT));
    return WRIT_DONE;
}

static WRIT_RESULT
check_outcome(const struct writ_json *outcome, uint32_t *ret, struct writ_err *err)
{
    const struct writ_json *commitment = writ_json_get(outcome, WRIT_LIT("resultCommitment"));
    const struct writ_json *decision = writ_json_get(outcome, WRIT_LIT("decisionDigest"));
    struct writ_view status = writ_json_string(writ_json_get(outcome, WRIT_LIT("status")));
    bool refused = writ_view_is(status, "refused");
    uint32_t failed = 0, of_commitment = 0;

    if (outcome == NULL) {
        *ret = BIT(OUTCOME_PRESENT);
        return WRIT_DONE;
    }
    failed |= unless(refused || writ_view_is(status, "executed") || writ_view_is(status, "errored"),
        BIT(STATUS_VALID));
    failed |=
        unless(writ_json_get_typed(outcome, WRIT_LIT("completedAt"), WRIT_JSON_STRING) != NULL,
            BIT(COMPLETED_AT_TYPE));
    failed |= unless(decision == NULL || writ_digest_is(writ_json_string(decision)),
        BIT(DECISION_DIGEST_FORMAT));
    if (commitment != NULL) {
        WRIT_TRY(check_commitment(commitment, &of_commitment, err));
        failed |= unless(!refused, BIT(REFUSED_HAS_NO_RESULT));
    }
    *ret = failed | of_commitment;
    return WRIT_DONE;
}

static uint32_t
check_decision(const struct writ_json *decision)
{
    static const struct {
        struct writ_view name;
        uint32_t bit;
    } risks[] = {
        {{"riskScore", sizeof("riskScore") - 1}, BIT(RISK_SCORE_IS_STRING)},
        {{"thresholdAllow", sizeof("thresholdAllow") - 1}, BIT(THRESHOLD_ALLOW_IS_STRING)},
        {{"thresholdBlock", sizeof("thresholdBlock") - 1}, BIT(THRESHOLD_BLOCK_IS_STRING)},
    };
    struct writ_view verdict = writ_json_string(writ_json_get(decision, WRIT_LIT("decision")));
    uint32_t failed = 0;

    if (decision == NULL) {
        return BIT(DECISION_PRESENT);
    }
    failed |= unless(writ_view_is(verdict, "allow") || writ_view_is(verdict, "block") ||
                         writ_view_is(verdict, "escalate"),
        BIT(DECISION_VALID));
    failed |= unless(writ_json_get_typed(decision, WRIT_LIT("decidedAt"), WRIT_JSON_STRING) != NULL,
        BIT(DECIDED_AT_TYPE));
    for (size_t i = 0; i < sizeof risks / sizeof risks[0]; i++) {
        const struct writ_json *risk = writ_json_get(decision, risks[i].name);
        failed |= unless(risk == NULL || writ_json_type(risk) == WRIT_JSON_STRING, risks[i].bit);
    }
    return failed;
}

/* {name, serverFingerprint, args}; args in the form of a result commitment. */
static bool
is_tool_call(const struct writ_json *call)
{
    const struct writ_json *args = object_in(call, WRIT_LIT("args"));
    const struct writ_json *digest = writ_json_get(args, WRIT_LIT("projectionDigest"));

    if (digest == NULL) {
        digest = writ_json_get(args, WRIT_LIT("digest"));
    }
    return writ_json_get_typed(call, WRIT_LIT("name"), WRIT_JSON_STRING) != NULL &&
           writ_json_get_typed(call, WRIT_LIT("serverFingerprint"), WRIT_JSON_STRING) != NULL &&
           writ_digest_is(writ_json_string(digest));
}

static uint32_t
check_attestation(const struct writ_json *record)
{
    const struct writ_json *planner = object_in(record, WRIT_LIT("plannerDeclared"));
    const struct writ_json *calls = writ_json_get_typed(
        object_in(record, WRIT_LIT("payloadDerived")), WRIT_LIT("toolCalls"), WRIT_JSON_ARRAY);
    uint32_t failed =
        unless(writ_json_get_typed(planner, WRIT_LIT("intent"), WRIT_JSON_STRING) != NULL,
            BIT(PLANNER_DECLARED_PRESENT));

    if (calls == NULL || calls->count == 0) {
        return failed | BIT(PAYLOAD_DERIVED_PRESENT);
    }
    WRIT_JSON_EACH(call, calls)
    {
        failed |= unless(is_tool_call(call), BIT(TOOL_CALLS_SHAPE));
    }
    return failed;
}

/* The members of one sort of record only. */
static WRIT_RESULT
check_sort(const struct writ_json *record, enum writ_vaara_record sort, struct writ_view alg,
    uint32_t *ret, struct writ_err *err)
{
    uint32_t link = check_back_link(object_in(record, WRIT_LIT("backLink")));
    uint32_t issuer = check_asserted(object_in(record, WRIT_LIT("issuerAsserted")), alg,
        BIT(ISSUER_ASSERTED_PRESENT), BIT(ISSUER_ASSERTED_ALG_MATCHES));
    uint32_t outcome = 0;

    switch (sort) {
    case WRIT_VAARA_RECORD_OUTCOME:
        WRIT_TRY(check_outcome(object_in(record, WRIT_LIT("outcomeDerived")), &outcome, err));
        *ret = outcome | link |
               check_asserted(object_in(record, WRIT_LIT("receiptAsserted")), alg,
                   BIT(RECEIPT_ASSERTED_PRESENT), BIT(RECEIPT_ASSERTED_ALG_MATCHES));
        return WRIT_DONE;
    case WRIT_VAARA_RECORD_DECISION:
        *ret = link | issuer | check_decision(object_in(record, WRIT_LIT("decisionDerived")));
        return WRIT_DONE;
    case WRIT_VAARA_RECORD_ATTESTATION:
        *ret = issuer | check_attestation(record);
        return WRIT_DONE;
    }
    WRIT_FAIL(err, WRIT_E_INVALID, "unknown sort of record");
}

WRIT_RESULT
writ_vaara_receipt_check(const struct writ_json *record, enum writ_vaara_record sort,
    uint32_t *ret_failed, struct writ_err *err)
{
    struct writ_view alg = writ_json_string(writ_json_get(record, WRIT_LIT("alg")));
    uint32_t failed, of_sort = 0;
    int64_t version;

    if (writ_json_type(record) != WRIT_JSON_OBJECT) {
        *ret_failed = BIT(TOP_LEVEL_OBJECT);
        return WRIT_DONE;
    }
    WRIT_TRY(check_sort(record, sort, alg, &of_sort, err));
    failed = unless(
        writ_is_ok(writ_json_integer(writ_json_get(record, WRIT_LIT("version")), 1, 1, &version)),
        BIT(VERSION));
    failed |= unless(writ_vaara_signature_knows(alg), BIT(ALG_SUPPORTED));
    failed |= check_signature(alg, writ_json_get(record, WRIT_LIT("signature")));
    *ret_failed = failed | of_sort;
    return WRIT_DONE;
}
