/* caller_claims.c - reads names and the key that a caller states. A name that could be mistaken for
 * another one is refused, and names that Writ makes itself are reserved. */
#include "gateway/request/caller_claims.h"

#include "base/hidden.h"
#include "store/ledger/ledger.h"

bool
writ_caller_claims_is_reserved(struct writ_view boundary_id)
{
    return writ_view_has_prefix(boundary_id, WRIT_LIT(WRIT_LEDGER_RESERVED)) ||
           writ_view_has_prefix(boundary_id, WRIT_LIT("session:")) ||
           writ_view_has_prefix(boundary_id, WRIT_LIT("agent:"));
}

/* A readable name: two names that look alike are the same name. */
static bool
is_name(struct writ_view text)
{
    return text.len > 0 && text.len <= WRIT_CALLER_CLAIMS_MAX_BYTES && !writ_hidden_in(text);
}

bool
writ_caller_claims_name(
    const struct writ_json *object, struct writ_view member, struct writ_view *ret)
{
    const struct writ_json *value = writ_json_get(object, member);
    struct writ_view text = writ_json_string(value);

    if (value == NULL) {
        return true;
    }
    if (writ_json_type(value) != WRIT_JSON_STRING || !is_name(text)) {
        return false;
    }
    *ret = text;
    return true;
}

bool
writ_caller_claims_key(const struct writ_exchange *x, const struct writ_json *object,
    struct writ_view member, struct writ_view *ret)
{
    struct writ_view header = writ_exchange_header(x, WRIT_LIT("Idempotency-Key"));
    struct writ_view stated = {NULL, 0};

    if (!writ_caller_claims_name(object, member, &stated)) {
        return false;
    }
    if (header.ptr == NULL) {
        *ret = stated;
        return true;
    }
    if (!is_name(header) || (stated.ptr != NULL && !writ_view_equal(header, stated))) {
        return false;
    }
    *ret = header;
    return true;
}
