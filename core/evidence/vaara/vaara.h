/* vaara.h - evidence of the Vaara broker and other software with its profile vaara-v0.
 *
 * A document is one JSON value from a file. Its members tell its kind:
 *
 *     decision, outcome, seal  {record, signature}: the governance records of crewai.governance.*
 *     authorization            {record, evidence}: a signed verdict bound to its evidence
 *     grant                    a credential (vaara_grant.h) without a call: form and signature
 *     call                     {credential, now, runtime_args, ...}: the verdict on a grant
 *     binding                  {approved, candidate}: two decisions; whether the second may run
 *     duplicate                {first, second}: two outcomes; whether both may exist
 *     verdict                  {decisionDerived, backLink, ...}: whether a call may be made
 *     attestation              {payloadDerived, plannerDeclared, ...}: the request
 *     receipt                  everything else: an outcome record (vaara_receipt.h)
 *
 * writ_vaara_check judges one; writ_vaara_join then all of them together: whether outcomes belong
 * to their decisions, authorizations to the given grants, records to the call that they back-link
 * to, each call has one outcome, and the run is complete. A document's own expected verdict is
 * ignored. Pure. */
#ifndef WRIT_EVIDENCE_VAARA_H
#define WRIT_EVIDENCE_VAARA_H

#include "evidence/proof/completeness.h"
#include "evidence/vaara/vaara_finding.h"
#include "evidence/vaara/vaara_signature.h"

/** "decision", ...; "" for NONE. Static storage. */
const char *writ_vaara_kind_name(enum writ_vaara_kind kind);

/** The terms of the verifier. Zeroed: nothing is trusted. Borrowed. */
struct writ_vaara_terms {
    struct writ_vaara_keys keys;
    struct writ_view revoked; /* an issuer of grants, or a secretVersion; empty: none */
    int64_t revoked_since_s;
};

/** True for a kind whose checks have ids (vaara_receipt.h). */
bool writ_vaara_is_record(enum writ_vaara_kind kind);

/** The verdict in the words of the profile ("ok" for a valid grant, "revise" for a binding that
 * needs a new decision), or "" without one. Static storage. */
struct writ_view writ_vaara_verdict(const struct writ_vaara_finding *finding);

/**
 * Judges one document.
 *
 * @param document  borrowed as long as the finding is used
 * @param arena     takes the memory of the finding
 *
 * @return WRIT_OK  with a finding, for every document
 *         WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_vaara_check(const struct writ_json *document, const struct writ_vaara_terms *terms,
    struct writ_arena *arena, struct writ_vaara_finding *ret, struct writ_err *err);

/**
 * Judges all of them together, and clears `holds` of those that the others contradict.
 *
 * @param ret_any  the documents have decisions, authorizations with a place, or a seal, and `ret`
 *                 judges their completeness
 *
 * @return WRIT_OK, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_vaara_join(struct writ_vaara_finding *findings, size_t n, struct writ_arena *arena,
    struct writ_completeness *ret, bool *ret_any, struct writ_err *err);

#endif
