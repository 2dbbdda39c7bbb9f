/* delegation.h - a delegation that a voter sets: another one votes for it, for a time, and for all
 * tools or some. The data of WRIT_FACT_DELEGATED:
 *
 *     {"delegate":WHO,"from":TIME,"id":ID,"key":JWK,"ledger":NAME,"signature":JWS,"tenant":NAME,
 *      "tools":[...],"until":TIME,"voter":WHO}
 *
 * and of WRIT_FACT_DELEGATION_REVOKED: {"by":WHO,"id":ID}. The terms of a review name a delegation
 * by its id and the digest of its data.
 *
 * A voter with a key signs: a compact JWS (jws.h) whose payload is delegate, from, id, ledger,
 * tools, until and voter. The id is used once, so a signed delegation that was taken back cannot be
 * sent again. */
#ifndef WRIT_EVIDENCE_DELEGATION_H
#define WRIT_EVIDENCE_DELEGATION_H

#include "evidence/jose/jws.h"
#include "evidence/record/review.h"

#define WRIT_DELEGATION_TYP       "writ-delegation" /* of the header: only this typ is one */
#define WRIT_DELEGATION_BYTES_MAX 65536             /* of its data */
#define WRIT_DELEGATION_ID_MAX    64
#define WRIT_DELEGATION_TOOLS_MAX 64
#define WRIT_DELEGATION_TOOL_MAX  256 /* bytes of a pattern */
#define WRIT_DELEGATIONS_EACH     64  /* of one voter, that are not over */

/** Views live in the arena or belong to the caller. An absent text is empty. */
struct writ_delegation {
    struct writ_view id;
    struct writ_view voter, delegate; /* subjects */
    struct writ_view tenant;          /* of the voter; empty: of none, and in force for all */
    const struct writ_view *tools;    /* patterns of upstream/tool; none: every tool */
    size_t tools_n;
    int64_t from_us, until_us;               /* wall time; from 0: at once */
    struct writ_view key, signature, ledger; /* of a voter with a key, as canonical JSON; its JWS,
                                                and the name of the ledger that it is for */
};

/** A voter of the review may name this person, who has no vote there. */
struct writ_stand_in {
    struct writ_view id, key; /* key empty: it signs nothing */
};

/** What a review permits its voters, and the call that it is for. Zero permits nothing. */
struct writ_delegable {
    int64_t longest_us; /* from the moment at which it is set to its end */
    const struct writ_stand_in *stand_ins;
    size_t stand_ins_n;
    bool several; /* one person may cast the votes of several voters: so a voter may be named */
    bool (*is_for)(const void *call, const struct writ_view *tools, size_t tools_n);
    const void *call;
};

/** Checks names, times and patterns. WRIT_E_INVALID: err says which. */
WRIT_RESULT writ_delegation_check(const struct writ_delegation *delegation, struct writ_err *err);

/** Appends the data, a canonical object. WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_delegation_put(
    const struct writ_delegation *delegation, struct writ_buf *ret, struct writ_err *err);

/** Reads the data; `ret` borrows from it, and lives in the arena. WRIT_E_MISMATCH: not of this
 * form; WRIT_E_NOMEM. */
WRIT_RESULT writ_delegation_read(const struct writ_json *data, struct writ_arena *arena,
    struct writ_delegation *ret, struct writ_err *err);

/** Reads delegate, until, and from and tools if they are there, of a request. As
 * writ_delegation_read. */
WRIT_RESULT writ_delegation_parse(const struct writ_json *body, struct writ_view id,
    struct writ_view voter, struct writ_arena *arena, struct writ_delegation *ret,
    struct writ_err *err);

/** The digest of the data, by which terms name it. WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_delegation_digest(
    const struct writ_delegation *delegation, struct writ_digest *ret, struct writ_err *err);

/** Reads a signed one without verifying it. WRIT_E_PARSE: not a JWS of this typ whose payload has
 * exactly these members; WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_delegation_open(struct writ_view token, struct writ_arena *arena,
    struct writ_delegation *ret, struct writ_err *err);

/** Verifies `signature` with `key`; its payload must be this delegation. WRIT_E_MISMATCH,
 * WRIT_E_PARSE, WRIT_E_INVALID (the key), WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_delegation_verify(
    const struct writ_delegation *delegation, struct writ_arena *arena, struct writ_err *err);

/** Appends the signed delegation. WRIT_E_LIMIT, WRIT_E_CRYPTO, and the failures of the buffer. */
WRIT_RESULT writ_delegation_sign(const struct writ_delegation *delegation,
    const struct writ_signer *signer, struct writ_buf *ret, struct writ_err *err);

/** Writes the members by which a person sees it: as recorded at `at_us` with that digest. */
void writ_delegation_show(struct writ_write *w, const struct writ_delegation *delegation,
    struct writ_view digest, int64_t at_us);

/** Appends the data of a revocation. WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_delegation_put_revoked(
    struct writ_view id, struct writ_view by, struct writ_buf *ret, struct writ_err *err);

/** Reads it; the views are borrowed. WRIT_E_MISMATCH: not of this form. */
WRIT_RESULT writ_delegation_read_revoked(const struct writ_json *data, struct writ_view *ret_id,
    struct writ_view *ret_by, struct writ_err *err);

#endif
