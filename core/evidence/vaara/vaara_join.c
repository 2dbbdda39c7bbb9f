/* The documents together. Governance records join by decision_id, authorizations to their grant by
 * its fingerprint, and verdicts, authorizations, receipts and attestations by the call: the digest
 * and the nonce of the attestation that they back-link to. A document that does not hold alone
 * takes no part. */
#include "evidence/record/derive.h"
#include "evidence/vaara/vaara.h"

#include "evidence/json/digest.h"
#include "evidence/vaara/vaara_grant.h"
#include "evidence/vaara/vaara_read.h"

#include <stdlib.h>

#define RECORD_MAX ((size_t)16 << 20) /* canonical bytes */

/* A decision and the documents that belong to it. */
struct decision_entry {
    struct writ_decision decision;
    bool has_outcome;
};

struct grant {
    char fingerprint[WRIT_DIGEST_TEXT];
    const struct writ_json *document;
};

/* A record of a call. */
enum part_of_call { PART_ATTESTATION, PART_DECISION, PART_OUTCOME };

struct part {
    struct writ_view digest, nonce; /* of the attestation */
    enum part_of_call is;
    const struct writ_json *record; /* of the signed members: the digest of a decision is its own */
    struct writ_view own;           /* its digest: of an attestation or a decision */
    struct writ_vaara_finding *finding;
};

struct joining {
    struct writ_arena *arena;
    struct decision_entry *decisions; /* by decision_id */
    size_t decisions_n;
    struct grant *grants;
    size_t grants_n;
    struct part *parts; /* by call, then by kind, then in the order of the documents */
    size_t parts_n;
    bool has_attestations;
    struct writ_completeness_set *set;
    bool any;
};

static int
by_id(const void *a, const void *b)
{
    const struct decision_entry *left = a, *right = b;

    return writ_view_compare(left->decision.decision_id.view, right->decision.decision_id.view);
}

/* The place of an authorization, from its evidence. */
static struct writ_decision
placed(const struct writ_json *evidence)
{
    return (struct writ_decision){
        .boundary_id = writ_vaara_read_text(evidence, "/completeness/boundaryId"),
        .seq = writ_vaara_read_number(evidence, "/completeness/seq"),
        .running_count = writ_vaara_read_number(evidence, "/completeness/runningCount"),
    };
}

static WRIT_RESULT
collect_grant(struct joining *j, const struct writ_json *document, struct writ_err *err)
{
    struct writ_digest digest;

    WRIT_TRY(writ_vaara_grant_fingerprint(document, &digest, err));
    writ_digest_text(&digest, j->grants[j->grants_n].fingerprint);
    j->grants[j->grants_n++].document = document;
    return WRIT_DONE;
}

static WRIT_RESULT
collect(struct joining *j, const struct writ_vaara_finding *finding, struct writ_err *err)
{
    const struct writ_json *record = writ_json_get(finding->document, WRIT_LIT("record"));
    struct writ_decision place;
    struct writ_seal seal;

    if (!finding->authentic) {
        return WRIT_DONE; /* a document that is not authentic fills no gap */
    }
    switch (finding->kind) {
    case WRIT_VAARA_DECISION:
        WRIT_TRY(writ_vaara_read_decision(
            record, j->arena, &j->decisions[j->decisions_n].decision, err));
        j->decisions[j->decisions_n].has_outcome = false;
        j->any = true;
        return writ_completeness_add(j->set, &j->decisions[j->decisions_n++].decision, err);
    case WRIT_VAARA_AUTHORIZATION:
        if (writ_vaara_read_at(finding->document, "/evidence/completeness") == NULL) {
            return WRIT_DONE; /* it has no place in a run */
        }
        place = placed(writ_vaara_read_at(finding->document, "/evidence"));
        j->any = true;
        return writ_completeness_add(j->set, &place, err);
    case WRIT_VAARA_SEAL:
        WRIT_TRY(writ_seal_read(record, j->arena, &seal, err));
        seal.boundary_id = writ_vaara_read_text(record, "/boundaryId");
        writ_completeness_seal(j->set, &seal);
        j->any = true;
        return WRIT_DONE;
    case WRIT_VAARA_GRANT:
        return finding->holds ? collect_grant(j, finding->document, err) : WRIT_DONE;
    case WRIT_VAARA_NONE:
    case WRIT_VAARA_OUTCOME:
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

static WRIT_RESULT
join_outcome(struct joining *j, struct writ_vaara_finding *finding, struct writ_err *err)
{
    const struct writ_json *record = writ_json_get(finding->document, WRIT_LIT("record"));
    struct decision_entry key = {
        .decision = {.decision_id = writ_vaara_read_text(record, "/decision_id")}};
    struct decision_entry *known;
    struct writ_outcome outcome;
    writ_result joined;

    if (!finding->authentic) {
        return WRIT_DONE;
    }
    known =
        j->decisions_n > 0 ? bsearch(&key, j->decisions, j->decisions_n, sizeof key, by_id) : NULL;
    if (known == NULL) {
        return writ_vaara_finding_fault(
            finding, j->arena, "/decision_id", "names a decision that is not here", err);
    }
    WRIT_TRY(writ_vaara_read_outcome(record, j->arena, &outcome, err));
    joined = writ_outcome_join(&outcome, &known->decision, writ_vaara_read_profile(), err);
    if (!writ_is_ok(joined) && joined.code != WRIT_E_MISMATCH) {
        return joined;
    }
    if (!writ_is_ok(joined) ||
        !writ_member_text_equal(&outcome.receipt_ref, &known->decision.receipt_ref, false)) {
        WRIT_TRY(writ_vaara_finding_fault(
            finding, j->arena, "/intent_ref", "does not join its decision", err));
    }
    if (known->has_outcome) {
        WRIT_TRY(writ_vaara_finding_fault(
            finding, j->arena, "/decision_id", "has another outcome already", err));
    }
    known->has_outcome = true;
    return WRIT_DONE;
}

static bool
is_same(const struct writ_json *a, const char *at_a, const struct writ_json *b, const char *at_b)
{
    const struct writ_json *left = writ_vaara_read_at(a, at_a);
    const struct writ_json *right = writ_vaara_read_at(b, at_b);

    return left == NULL || right == NULL ? left == right : writ_json_equal(left, right);
}

/* The statements of an authorization about its grant must match the grant. */
static WRIT_RESULT
compare_grant(const struct joining *j, const struct writ_json *grant,
    struct writ_vaara_finding *finding, struct writ_err *err)
{
    static const struct {
        const char *in_authorization, *in_grant;
    } same[] = {
        {"/evidence/toolName", "/scope/toolName"},
        {"/evidence/tenantId", "/scope/tenantId"},
        {"/evidence/capabilities", "/capabilities"},
        {"/record/backLink/attestationDigest", "/binding/attestationDigest"},
        {"/record/backLink/attestationNonce", "/binding/attestationNonce"},
    };

    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        if (!is_same(finding->document, same[i].in_authorization, grant, same[i].in_grant)) {
            WRIT_TRY(writ_vaara_finding_fault(
                finding, j->arena, same[i].in_authorization, "differs from its grant", err));
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
join_authorization(
    const struct joining *j, struct writ_vaara_finding *finding, struct writ_err *err)
{
    const struct writ_json *fingerprint =
        writ_vaara_read_at(finding->document, "/evidence/grantFingerprint");

    if (!finding->authentic) {
        return WRIT_DONE;
    }
    for (size_t i = 0; i < j->grants_n; i++) {
        if (writ_json_is(fingerprint, writ_view_str(j->grants[i].fingerprint))) {
            return compare_grant(j, j->grants[i].document, finding, err);
        }
    }
    if (j->grants_n == 0) {
        return WRIT_DONE; /* the set of grants is unknown */
    }
    return writ_vaara_finding_fault(
        finding, j->arena, "/evidence/grantFingerprint", "belongs to no grant that is here", err);
}

/* ---- calls */

static int
by_call(const void *a, const void *b)
{
    const struct part *left = a, *right = b;
    int order = writ_view_compare(left->digest, right->digest);

    order = order != 0 ? order : (int)left->is - (int)right->is;
    return order != 0 ? order : (left->finding > right->finding) - (left->finding < right->finding);
}

static WRIT_RESULT
own_digest(const struct writ_json *record, struct writ_arena *arena, struct writ_view *ret,
    struct writ_err *err)
{
    char text[WRIT_DIGEST_TEXT];
    struct writ_digest digest;

    WRIT_TRY(writ_digest_json(record, RECORD_MAX, &digest, err));
    writ_digest_text(&digest, text);
    *ret = writ_view_copy(writ_view_str(text), arena);
    if (ret->ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the digest of a record");
    }
    return WRIT_DONE;
}

/* A document that holds is a part of its call; others are ignored. */
static WRIT_RESULT
collect_part(struct joining *j, struct writ_vaara_finding *finding, struct writ_err *err)
{
    struct part *part = &j->parts[j->parts_n];
    bool in_wrapper = finding->kind == WRIT_VAARA_AUTHORIZATION;

    if (!finding->holds || !(in_wrapper || writ_vaara_is_record(finding->kind))) {
        return WRIT_DONE;
    }
    *part = (struct part){
        .is = finding->kind == WRIT_VAARA_ATTESTATION ? PART_ATTESTATION
              : finding->kind == WRIT_VAARA_RECEIPT   ? PART_OUTCOME
                                                      : PART_DECISION,
        .record = in_wrapper ? writ_vaara_read_at(finding->document, "/record") : finding->document,
        .finding = finding,
    };
    if (part->is != PART_OUTCOME) {
        WRIT_TRY(own_digest(part->record, j->arena, &part->own, err));
    }
    if (part->is == PART_ATTESTATION) {
        j->has_attestations = true;
        part->digest = part->own;
        part->nonce = writ_vaara_read_text(part->record, "/issuerAsserted/nonce").view;
    } else {
        part->digest = writ_vaara_read_text(part->record, "/backLink/attestationDigest").view;
        part->nonce = writ_vaara_read_text(part->record, "/backLink/attestationNonce").view;
    }
    j->parts_n++;
    return WRIT_DONE;
}

/* Faults name members of the record, which an authorization keeps in a member. */
static WRIT_RESULT
part_fault(const struct joining *j, const struct part *part, const char *pointer, const char *what,
    struct writ_err *err)
{
    bool in_wrapper = part->finding->kind == WRIT_VAARA_AUTHORIZATION;

    return writ_vaara_finding_fault(
        part->finding, j->arena, in_wrapper ? "/record/backLink" : pointer, what, err);
}

/* The decision that an outcome names by its digest, among the parts of its call. */
static const struct part *
answered(const struct part *call, size_t n, struct writ_view digest)
{
    for (size_t i = 0; i < n; i++) {
        if (call[i].is == PART_DECISION && writ_view_equal(digest, call[i].own)) {
            return &call[i];
        }
    }
    return NULL;
}

/* Whether another call has the decision with that digest. */
static bool
is_decided_elsewhere(const struct joining *j, struct writ_view digest)
{
    return answered(j->parts, j->parts_n, digest) != NULL;
}

static bool
was_refused(const struct part *decision)
{
    return writ_json_is(
        writ_vaara_read_at(decision->record, "/decisionDerived/decision"), WRIT_LIT("block"));
}

static WRIT_RESULT
join_outcome_of_call(const struct joining *j, const struct part *call, size_t n,
    const struct part *outcome, struct writ_err *err)
{
    struct writ_member_text digest =
        writ_vaara_read_text(outcome->record, "/outcomeDerived/decisionDigest");
    const struct part *decision = NULL;
    bool has_decision = false;

    for (size_t i = 0; i < n; i++) {
        if (call[i].is == PART_DECISION) {
            has_decision = true;
            decision = decision == NULL || !was_refused(&call[i]) ? &call[i] : decision;
        }
    }
    if (digest.is == WRIT_PRESENT) {
        decision = answered(call, n, digest.view);
        if (decision == NULL && (has_decision || is_decided_elsewhere(j, digest.view))) {
            return part_fault(j, outcome, "/outcomeDerived/decisionDigest",
                "belongs to no decision about this call", err);
        }
    }
    if (decision != NULL && was_refused(decision) &&
        !writ_json_is(
            writ_vaara_read_at(outcome->record, "/outcomeDerived/status"), WRIT_LIT("refused"))) {
        return part_fault(
            j, outcome, "/outcomeDerived/status", "belongs to a call whose decision is block", err);
    }
    return WRIT_DONE;
}

/* The parts of one attestation; the attestation itself comes first if it is here. */
static WRIT_RESULT
join_call(const struct joining *j, const struct part *call, size_t n, struct writ_err *err)
{
    bool has_outcome = false;

    for (size_t i = 0; i < n; i++) {
        if (j->has_attestations && call[0].is != PART_ATTESTATION) {
            WRIT_TRY(part_fault(j, &call[i], "/backLink/attestationDigest",
                "belongs to no attestation that is here", err));
        }
        if (!writ_view_equal(call[i].nonce, call[0].nonce)) {
            WRIT_TRY(part_fault(j, &call[i], "/backLink/attestationNonce",
                "is not the nonce of its attestation", err));
        }
        if (call[i].is == PART_OUTCOME) {
            if (has_outcome) {
                WRIT_TRY(part_fault(j, &call[i], "/backLink", "has another outcome already", err));
            }
            has_outcome = true;
            WRIT_TRY(join_outcome_of_call(j, call, n, &call[i], err));
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
join_calls(
    struct joining *j, struct writ_vaara_finding *findings, size_t count, struct writ_err *err)
{
    size_t n;

    for (size_t i = 0; i < count; i++) {
        WRIT_TRY(collect_part(j, &findings[i], err));
    }
    qsort(j->parts, j->parts_n, sizeof *j->parts, by_call);
    for (size_t i = 0; i < j->parts_n; i += n) {
        for (n = 1;
             i + n < j->parts_n && writ_view_equal(j->parts[i + n].digest, j->parts[i].digest);
             n++) {
        }
        WRIT_TRY(join_call(j, &j->parts[i], n, err));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
join_all(struct joining *j, struct writ_vaara_finding *findings, size_t n, struct writ_err *err)
{
    for (size_t i = 0; i < n; i++) {
        WRIT_TRY(collect(j, &findings[i], err));
    }
    qsort(j->decisions, j->decisions_n, sizeof *j->decisions, by_id);
    for (size_t i = 0; i < n; i++) {
        if (findings[i].kind == WRIT_VAARA_OUTCOME) {
            WRIT_TRY(join_outcome(j, &findings[i], err));
        } else if (findings[i].kind == WRIT_VAARA_AUTHORIZATION) {
            WRIT_TRY(join_authorization(j, &findings[i], err));
        }
    }
    return join_calls(j, findings, n, err);
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
        .decisions = writ_arena_get(arena, (n + 1) * sizeof *j.decisions),
        .grants = writ_arena_get(arena, (n + 1) * sizeof *j.grants),
        .parts = writ_arena_get(arena, (n + 1) * sizeof *j.parts),
        .set = set,
    };

    if (set == NULL || j.decisions == NULL || j.grants == NULL || j.parts == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to compare the records");
    }
    WRIT_TRY(join_all(&j, findings, n, err));
    WRIT_TRY(writ_completeness_report(set, arena, ret, err));
    *ret_any = j.any;
    return WRIT_DONE;
}
