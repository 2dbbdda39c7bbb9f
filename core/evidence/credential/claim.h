/* claim.h - the claims of a credential (claim.tbl.h) as a struct.
 *
 * `authorization_details` is read as its one entry, which has exactly these members:
 *     {"locations":["<aud>"],"params_hash":"sha256:...","tool":"<tool>","type":"mcp_tool_call"}
 * and `status` as
 *     {"status_list":{"idx":<place>,"uri":"<of the list>"}}
 *
 * Pure functions; views are borrowed from what they were made from. */
#ifndef WRIT_EVIDENCE_CLAIM_H
#define WRIT_EVIDENCE_CLAIM_H

#include "evidence/credential/claim.tbl.h"
#include "evidence/json/json.h"

#define WRIT_CLAIM_DETAILS_TYPE "mcp_tool_call"
#define WRIT_CLAIM_JTI_MAX      256 /* longest jti: a store of used ones needs a bound */

/** The one entry of authorization_details. */
struct writ_claim_details {
    struct writ_view location, params_hash, tool;
};

/** The place of the credential in a status list (status_list.h). `uri` ptr NULL: in no list. */
struct writ_claim_status {
    struct writ_view uri;
    int64_t place;
};

/* One field per claim. Texts: ptr NULL for null and for an absent claim. */
#define WRIT_CLAIM_TYPE_TEXT                      struct writ_view
#define WRIT_CLAIM_TYPE_TEXT0                     struct writ_view
#define WRIT_CLAIM_TYPE_TEXTA                     struct writ_view
#define WRIT_CLAIM_TYPE_DIGEST                    struct writ_view
#define WRIT_CLAIM_TYPE_DIGEST0                   struct writ_view
#define WRIT_CLAIM_TYPE_SECONDS                   int64_t
#define WRIT_CLAIM_TYPE_COUNT                     int64_t
#define WRIT_CLAIM_TYPE_DETAILS                   struct writ_claim_details
#define WRIT_CLAIM_TYPE_STATUS                    struct writ_claim_status
#define WRIT_CLAIM_FIELD(claim, KIND, by, source) WRIT_CLAIM_TYPE_##KIND claim;
#define WRIT_CLAIM_FIELD_R(claim, KIND, by)       WRIT_CLAIM_TYPE_##KIND claim;

struct writ_claims {
    WRIT_CLAIMS(WRIT_CLAIM_FIELD, WRIT_CLAIM_FIELD_R)
};

enum writ_claim_kind {
    WRIT_CLAIM_NONE = 0,
    WRIT_CLAIM_TEXT,
    WRIT_CLAIM_TEXT0,
    WRIT_CLAIM_DIGEST,
    WRIT_CLAIM_DIGEST0,
    WRIT_CLAIM_SECONDS,
    WRIT_CLAIM_COUNT,
    WRIT_CLAIM_DETAILS,
    WRIT_CLAIM_TEXTA,
    WRIT_CLAIM_STATUS,
};

/** Which specification defines a claim. */
enum writ_claim_by {
    WRIT_CLAIM_BY_NONE = 0,
    WRIT_CLAIM_BY_JWT, /* RFC 7519 4.1 */
    WRIT_CLAIM_BY_OURS,
};

/** One row of the table. Static storage. */
struct writ_claim_row {
    const char *name;
    struct writ_view key; /* the name as a member begins: "name": */
    enum writ_claim_kind kind;
    enum writ_claim_by by;
    size_t offset; /* of its field in struct writ_claims */
};

/** The rows in canonical order, ended by one of kind NONE. */
extern const struct writ_claim_row writ_claim_rows[];

/** The field of a row; the kind selects the function. */
struct writ_view *writ_claim_text(struct writ_claims *claims, const struct writ_claim_row *row);
int64_t *writ_claim_number(struct writ_claims *claims, const struct writ_claim_row *row);

/**
 * Reads the claims from the payload of a token. Claims that are not in the table are ignored (RFC
 * 7519 4).
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  a claim is missing or not of its kind; err names it
 */
WRIT_RESULT writ_claim_read(
    const struct writ_json *payload, struct writ_claims *ret, struct writ_err *err);

/** Makes the checks of `writ_claim_read` on claims from another source: empty texts, malformed
 * digests, negative numbers, a jti that is too long or not the decision_id. WRIT_E_INVALID. */
WRIT_RESULT writ_claim_check(const struct writ_claims *claims, struct writ_err *err);

#endif
