/* Issuing: the claims are taken from the placed decision, put together, and signed by our own
 * signer with a key that was parsed once.
 *
 * libjwt assembles what RFC 7519 defines. Our own claims, most of them digests, come from our own
 * writer: jansson, which libjwt prints with, needs as long for all of them as the signature. */
#include "evidence/credential.h"

#include "base/clock.h"
#include "base/text.h"
#include "evidence/write.h"

#include <jwt.h>
#include <stdlib.h>

#define US_PER_S         1000000
#define ORDINARY_PAYLOAD 1024 /* bytes to make room for at once */

static void
jwt_freep(jwt_t **jwt)
{
    jwt_free(*jwt);
}

static void
text_freep(char **text)
{
    free(*text); /* libjwt gives memory of malloc(3), and no call to free it */
}

/* ---- the claims of a decision */

static struct writ_view
take_text(const struct writ_member_text *member)
{
    return member->is == WRIT_PRESENT ? member->view : writ_view(NULL, 0);
}

/* The whole second in which the time lies; -1 when there is no time. */
static int64_t
take_seconds(const struct writ_member_text *member)
{
    int64_t wall_us = 0;

    if (member->is != WRIT_PRESENT || !writ_is_ok(writ_time_read(member->view, &wall_us)) ||
        wall_us < 0) {
        return -1;
    }
    return wall_us / US_PER_S;
}

static int64_t
take_count(const struct writ_member_number *member)
{
    return member->is == WRIT_PRESENT ? member->value : -1;
}

#define TAKE_TEXT(source)    take_text(&decision->source)
#define TAKE_TEXT0(source)   take_text(&decision->source)
#define TAKE_DIGEST(source)  take_text(&decision->source)
#define TAKE_DIGEST0(source) take_text(&decision->source)
#define TAKE_SECONDS(source) take_seconds(&decision->source)
#define TAKE_COUNT(source)   take_count(&decision->source)

#define FROM_DECISION(claim, KIND, by, source) .claim = TAKE_##KIND(source),
#define FROM_REQUEST(claim, KIND, by)

static WRIT_RESULT
take_claims(
    const struct writ_credential_request *request, struct writ_claims *ret, struct writ_err *err)
{
    const struct writ_decision *decision = request->decision;
    struct writ_claims claims = {WRIT_CLAIMS(FROM_DECISION, FROM_REQUEST)};

    if (!writ_decision_is(decision, WRIT_DECISION_ALLOW)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a credential needs a decision that allows the call");
    }
    claims.iss = request->issuer;
    claims.aud = request->audience;
    claims.tenant = request->tenant.len > 0 ? request->tenant : writ_view(NULL, 0);
    claims.authorization_details = (struct writ_claim_details){
        .location = request->audience,
        .params_hash = claims.params_hash,
        .tool = take_text(&decision->tool),
    };
    WRIT_TRY(writ_claim_check(&claims, err));
    if (claims.exp <= claims.iat || claims.exp - claims.iat > WRIT_CREDENTIAL_LIFETIME_MAX_S) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a credential lives 1 to %d seconds",
            WRIT_CREDENTIAL_LIFETIME_MAX_S);
    }
    *ret = claims;
    return WRIT_DONE;
}

/* ---- what RFC 7519 defines, by libjwt */

static WRIT_RESULT
add_text(jwt_t *jwt, const char *name, struct writ_view text, struct writ_err *err)
{
    writ_auto_buf scratch = writ_buf_make(WRIT_JWS_BYTES_MAX);

    /* libjwt takes C strings: what is behind a NUL would be lost without a word */
    if (writ_view_find(text, '\0') != text.len) {
        WRIT_FAIL(err, WRIT_E_INVALID, "claim %s has a NUL in it", name);
    }
    writ_buf_put(&scratch, text);
    writ_buf_byte(&scratch, '\0');
    WRIT_TRY(writ_buf_check(&scratch, err));
    if (jwt_add_grant(jwt, name, scratch.ptr) != 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "claim %s cannot be written", name);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
add_row(
    jwt_t *jwt, const struct writ_claim_row *row, struct writ_claims *claims, struct writ_err *err)
{
    if (row->kind == WRIT_CLAIM_TEXT) {
        return add_text(jwt, row->name, *writ_claim_text(claims, row), err);
    }
    WRIT_INVARIANT(row->kind == WRIT_CLAIM_SECONDS); /* RFC 7519 4.1 has no other kinds */
    if (jwt_add_grant_int(jwt, row->name, *writ_claim_number(claims, row)) != 0) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for claim %s", row->name);
    }
    return WRIT_DONE;
}

/* Their NUL-terminated JSON object; new, for free(3). */
static WRIT_RESULT
assemble_jwt(struct writ_claims *claims, char **ret, struct writ_err *err)
{
    WRIT_AUTO(jwt_t *, jwt_freep) jwt = NULL;

    if (jwt_new(&jwt) != 0) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a credential");
    }
    for (const struct writ_claim_row *row = writ_claim_rows; row->kind != WRIT_CLAIM_NONE; row++) {
        if (row->by == WRIT_CLAIM_BY_JWT) {
            WRIT_TRY(add_row(jwt, row, claims, err));
        }
    }
    *ret = jwt_get_grants_json(jwt, NULL);
    if (*ret == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the claims of a credential");
    }
    return WRIT_DONE;
}

/* ---- what is ours, by our own writer */

static void
write_details(struct writ_write *w, const struct writ_claim_details *details)
{
    writ_write_array_begin(w);
    writ_write_object_begin(w);
    writ_write_name(w, WRIT_LIT("locations"));
    writ_write_array_begin(w);
    writ_write_string(w, details->location);
    writ_write_array_end(w);
    writ_write_name(w, WRIT_LIT("params_hash"));
    writ_write_string(w, details->params_hash);
    writ_write_name(w, WRIT_LIT("tool"));
    writ_write_string(w, details->tool);
    writ_write_name(w, WRIT_LIT("type"));
    writ_write_string(w, WRIT_LIT(WRIT_CLAIM_DETAILS_TYPE));
    writ_write_object_end(w);
    writ_write_array_end(w);
}

static void
write_row(struct writ_write *w, const struct writ_claim_row *row, struct writ_claims *claims)
{
    writ_write_name(w, writ_view_str(row->name));
    switch (row->kind) {
    case WRIT_CLAIM_TEXT:
    case WRIT_CLAIM_TEXT0:
    case WRIT_CLAIM_DIGEST:
    case WRIT_CLAIM_DIGEST0:
        writ_write_string_or_null(w, *writ_claim_text(claims, row));
        break;
    case WRIT_CLAIM_SECONDS:
    case WRIT_CLAIM_COUNT:
        writ_write_i64(w, *writ_claim_number(claims, row));
        break;
    case WRIT_CLAIM_DETAILS:
        write_details(w, &claims->authorization_details);
        break;
    case WRIT_CLAIM_NONE:
        break;
    }
}

/* Appends the payload: libjwt's object, with our members behind its own. */
static WRIT_RESULT
put_payload(struct writ_claims *claims, struct writ_buf *ret, struct writ_err *err)
{
    WRIT_AUTO(char *, text_freep) jwt_text = NULL;
    struct writ_view jwt_members;
    struct writ_write w;
    size_t seam;

    WRIT_TRY(assemble_jwt(claims, &jwt_text, err));
    jwt_members = writ_view_str(jwt_text);
    writ_buf_put(ret, writ_view_sub(jwt_members, 0, jwt_members.len - 1)); /* without its brace */
    seam = ret->len;
    w = writ_write_to(ret);
    writ_write_object_begin(&w);
    for (const struct writ_claim_row *row = writ_claim_rows; row->kind != WRIT_CLAIM_NONE; row++) {
        if (row->by == WRIT_CLAIM_BY_OURS) {
            write_row(&w, row, claims);
        }
    }
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    ret->ptr[seam] = ','; /* in place of the second object's brace */
    return WRIT_DONE;
}

/* Every text is well-formed UTF-8, so that the token is JSON for everybody (our writer does not
 * ask). */
static WRIT_RESULT
check_text(const struct writ_claims *claims, struct writ_err *err)
{
    struct writ_claims copy = *claims;

    for (const struct writ_claim_row *row = writ_claim_rows; row->kind != WRIT_CLAIM_NONE; row++) {
        bool text = row->kind == WRIT_CLAIM_TEXT || row->kind == WRIT_CLAIM_TEXT0;
        if (text && !writ_text_is_utf8(*writ_claim_text(&copy, row), NULL)) {
            WRIT_FAIL(err, WRIT_E_INVALID, "claim %s is not UTF-8", row->name);
        }
    }
    if (!writ_text_is_utf8(claims->authorization_details.tool, NULL)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "claim authorization_details is not UTF-8");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_credential_issue(const struct writ_signer *signer,
    const struct writ_credential_request *request, struct writ_buf *buf, struct writ_err *err)
{
    writ_auto_buf payload = writ_buf_make(WRIT_JWS_BYTES_MAX);
    struct writ_view typ = request->typ.len > 0 ? request->typ : WRIT_LIT(WRIT_CREDENTIAL_TYP);
    struct writ_claims claims;

    (void)writ_buf_reserve(&payload, ORDINARY_PAYLOAD); /* a failure stays in the buffer */
    WRIT_TRY(take_claims(request, &claims, err));
    WRIT_TRY(check_text(&claims, err));
    WRIT_TRY(put_payload(&claims, &payload, err));
    return writ_jws_sign(signer, typ, writ_buf_view(&payload), buf, err);
}
