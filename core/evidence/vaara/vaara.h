/* vaara.h - evidence of the Vaara broker, and of whoever speaks its profile vaara-v0.
 *
 * A document is one JSON value out of a file. What it is, is told by its members:
 *
 *     decision, outcome, seal  {record, signature}: the governance records of crewai.governance.*
 *     authorization            {record, evidence}: a signed verdict bound to its evidence
 *     grant                    a credential (vaara_grant.h) without a call: form and signature
 *     call                     {credential, now, runtime_args, ...}: the verdict on a grant
 *     binding                  {approved, candidate}: two decisions; may the second one run?
 *     duplicate                {first, second}: two outcomes; may both be?
 *     verdict                  {decisionDerived, backLink, ...}: whether a call may be made
 *     attestation              {payloadDerived, plannerDeclared, ...}: what was asked for
 *     receipt                  everything else: an outcome record (vaara_receipt.h)
 *
 * writ_vaara_check looks at one; writ_vaara_join then at all of them together: whether outcomes
 * belong to their decisions, authorizations to the grants that are there, records to the call that
 * they back-link to, each call has one outcome, and the run is whole. What a document says of its
 * own expected verdict is not looked at. Pure. */
#ifndef WRIT_EVIDENCE_VAARA_H
#define WRIT_EVIDENCE_VAARA_H

#include "evidence/proof/completeness.h"
#include "evidence/vaara/vaara_finding.h"
#include "evidence/vaara/vaara_signature.h"

/** "decision", ...; "" for NONE. Static storage. */
const char *writ_vaara_kind_name(enum writ_vaara_kind kind);

/** What the verifier brings. Zeroed: nothing is believed. Borrowed. */
struct writ_vaara_terms {
    struct writ_vaara_keys keys;
    struct writ_view revoked; /* an issuer of grants, or a secretVersion; empty: none */
    int64_t revoked_since_s;
};

/** True for a kind whose checks have ids (vaara_receipt.h). */
bool writ_vaara_is_record(enum writ_vaara_kind kind);

/** The verdict as the profile calls it ("ok" for a grant that is good, "revise" for a binding that
 * has to be decided anew), or "" where there is none. Static storage. */
struct writ_view writ_vaara_verdict(const struct writ_vaara_finding *finding);

/**
 * Looks at one document.
 *
 * @param document  borrowed as long as the finding is used
 * @param arena     takes what the finding points at
 *
 * @return WRIT_OK  there is a finding, whatever the document is
 *         WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_vaara_check(const struct writ_json *document, const struct writ_vaara_terms *terms,
    struct writ_arena *arena, struct writ_vaara_finding *ret, struct writ_err *err);

/**
 * Looks at all of them together, and takes `holds` from those against which that speaks.
 *
 * @param ret_any  there are decisions, authorizations with a place or a seal, of which `ret` tells
 *                 whether they are whole
 *
 * @return WRIT_OK, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_vaara_join(struct writ_vaara_finding *findings, size_t n, struct writ_arena *arena,
    struct writ_completeness *ret, bool *ret_any, struct writ_err *err);

#endif
