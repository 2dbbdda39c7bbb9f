/* Reads and checks claims by the rows of claim.tbl.h: a row gives the name, the kind and the field.
 * A claim of another kind than its row says is refused, and a claim without a row is ignored. */
#include "evidence/credential/claim.h"

#include "evidence/json/digest.h"

#define NUMBER_MAX ((INT64_C(1) << 53) - 1)

const struct writ_claim_row writ_claim_rows[] = {
#define ROW(claim, KIND, by, source) ROW_R(claim, KIND, by)
#define ROW_R(claim, KIND, by)                                                                     \
    {#claim, {"\"" #claim "\":", sizeof #claim + 2}, WRIT_CLAIM_##KIND, WRIT_CLAIM_BY_##by,        \
        offsetof(struct writ_claims, claim)},
    WRIT_CLAIMS(ROW, ROW_R)
#undef ROW
#undef ROW_R
        {0},
};

struct writ_view *
writ_claim_text(struct writ_claims *claims, const struct writ_claim_row *row)
{
    return (struct writ_view *)(void *)((char *)claims + row->offset);
}

int64_t *
writ_claim_number(struct writ_claims *claims, const struct writ_claim_row *row)
{
    return (int64_t *)(void *)((char *)claims + row->offset);
}

static bool
is_kind(enum writ_claim_kind kind, struct writ_view text)
{
    switch (kind) {
    case WRIT_CLAIM_TEXT:
        return text.len > 0;
    case WRIT_CLAIM_TEXT0:
        return text.ptr == NULL || text.len > 0;
    case WRIT_CLAIM_DIGEST:
        return writ_digest_is(text);
    case WRIT_CLAIM_DIGEST0:
        return text.ptr == NULL || writ_digest_is(text);
    case WRIT_CLAIM_TEXTA:
        return text.ptr == NULL || text.len > 0;
    case WRIT_CLAIM_STATUS:
    case WRIT_CLAIM_NONE:
    case WRIT_CLAIM_SECONDS:
    case WRIT_CLAIM_COUNT:
    case WRIT_CLAIM_DETAILS:
        break;
    }
    return false;
}

/* A string, or null where the kind permits it. Everything else gives no text. */
static bool
read_text(const struct writ_json *value, enum writ_claim_kind kind, struct writ_view *ret)
{
    bool nullable = kind == WRIT_CLAIM_TEXT0 || kind == WRIT_CLAIM_DIGEST0;

    *ret = writ_json_string(value);
    if (ret->ptr == NULL && !(nullable && writ_json_type(value) == WRIT_JSON_NULL)) {
        return false;
    }
    return is_kind(kind, *ret);
}

static bool
read_details(const struct writ_json *value, struct writ_claim_details *ret)
{
    const struct writ_json *entry = writ_json_element(value, 0);
    const struct writ_json *locations = writ_json_get(entry, WRIT_LIT("locations"));

    return writ_json_type(value) == WRIT_JSON_ARRAY && value->count == 1 &&
           writ_json_type(entry) == WRIT_JSON_OBJECT && entry->count == 4 &&
           writ_json_is(
               writ_json_get(entry, WRIT_LIT("type")), WRIT_LIT(WRIT_CLAIM_DETAILS_TYPE)) &&
           writ_json_type(locations) == WRIT_JSON_ARRAY && locations->count == 1 &&
           read_text(writ_json_element(locations, 0), WRIT_CLAIM_TEXT, &ret->location) &&
           read_text(writ_json_get(entry, WRIT_LIT("params_hash")), WRIT_CLAIM_DIGEST,
               &ret->params_hash) &&
           read_text(writ_json_get(entry, WRIT_LIT("tool")), WRIT_CLAIM_TEXT, &ret->tool);
}

static bool
read_status(const struct writ_json *value, struct writ_claim_status *ret)
{
    const struct writ_json *list = writ_json_get(value, WRIT_LIT("status_list"));

    return value == NULL ||
           (writ_json_type(value) == WRIT_JSON_OBJECT && value->count == 1 &&
               writ_json_type(list) == WRIT_JSON_OBJECT && list->count == 2 &&
               writ_is_ok(writ_json_integer(
                   writ_json_get(list, WRIT_LIT("idx")), 0, NUMBER_MAX, &ret->place)) &&
               read_text(writ_json_get(list, WRIT_LIT("uri")), WRIT_CLAIM_TEXT, &ret->uri));
}

static bool
read_row(const struct writ_claim_row *row, const struct writ_json *value, struct writ_claims *ret)
{
    switch (row->kind) {
    case WRIT_CLAIM_TEXT:
    case WRIT_CLAIM_TEXT0:
    case WRIT_CLAIM_DIGEST:
    case WRIT_CLAIM_DIGEST0:
        return read_text(value, row->kind, writ_claim_text(ret, row));
    case WRIT_CLAIM_SECONDS:
    case WRIT_CLAIM_COUNT:
        return writ_is_ok(writ_json_integer(value, 0, NUMBER_MAX, writ_claim_number(ret, row)));
    case WRIT_CLAIM_DETAILS:
        return read_details(value, &ret->authorization_details);
    case WRIT_CLAIM_TEXTA:
        return value == NULL || read_text(value, WRIT_CLAIM_TEXT, writ_claim_text(ret, row));
    case WRIT_CLAIM_STATUS:
        return read_status(value, &ret->status);
    case WRIT_CLAIM_NONE:
        break;
    }
    return false;
}

static WRIT_RESULT
check_jti(const struct writ_claims *claims, struct writ_err *err)
{
    if (claims->jti.len > WRIT_CLAIM_JTI_MAX) {
        WRIT_FAIL(err, WRIT_E_INVALID, "claim jti is longer than %d bytes", WRIT_CLAIM_JTI_MAX);
    }
    if (!writ_view_equal(claims->jti, claims->decision_id)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "claim jti is not the decision_id");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_claim_read(const struct writ_json *payload, struct writ_claims *ret, struct writ_err *err)
{
    struct writ_claims claims = {0};

    for (const struct writ_claim_row *row = writ_claim_rows; row->kind != WRIT_CLAIM_NONE; row++) {
        if (!read_row(row, writ_json_get(payload, writ_view_str(row->name)), &claims)) {
            WRIT_FAIL(err, WRIT_E_INVALID, "claim %s is missing or malformed", row->name);
        }
    }
    WRIT_TRY(check_jti(&claims, err));
    *ret = claims;
    return WRIT_DONE;
}

static bool
check_row(const struct writ_claim_row *row, struct writ_claims *claims)
{
    const struct writ_claim_details *details = &claims->authorization_details;

    switch (row->kind) {
    case WRIT_CLAIM_TEXT:
    case WRIT_CLAIM_TEXT0:
    case WRIT_CLAIM_DIGEST:
    case WRIT_CLAIM_DIGEST0:
    case WRIT_CLAIM_TEXTA:
        return is_kind(row->kind, *writ_claim_text(claims, row));
    case WRIT_CLAIM_SECONDS:
    case WRIT_CLAIM_COUNT:
        return *writ_claim_number(claims, row) >= 0 &&
               *writ_claim_number(claims, row) <= NUMBER_MAX;
    case WRIT_CLAIM_DETAILS:
        return details->location.len > 0 && details->tool.len > 0 &&
               writ_digest_is(details->params_hash);
    case WRIT_CLAIM_STATUS:
        return claims->status.uri.ptr == NULL ||
               (claims->status.uri.len > 0 && claims->status.place >= 0 &&
                   claims->status.place <= NUMBER_MAX);
    case WRIT_CLAIM_NONE:
        break;
    }
    return false;
}

WRIT_RESULT
writ_claim_check(const struct writ_claims *claims, struct writ_err *err)
{
    struct writ_claims copy = *claims;

    for (const struct writ_claim_row *row = writ_claim_rows; row->kind != WRIT_CLAIM_NONE; row++) {
        if (!check_row(row, &copy)) {
            WRIT_FAIL(err, WRIT_E_INVALID, "claim %s is missing or malformed", row->name);
        }
    }
    return check_jti(claims, err);
}
