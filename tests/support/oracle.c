#include "support/oracle.h"

#include "evidence/bridge.h"
#include "evidence/jcs.h"

#include <string.h>

#define CANONICAL_MAX ((size_t)1 << 24)

static bool
has_name_with_nul(const struct writ_json *value)
{
    for (uint32_t i = 0; i < value->span; i++) {
        if (value[i].type == WRIT_JSON_OBJECT) {
            WRIT_JSON_EACH(name, &value[i])
            {
                if (writ_view_find(writ_json_string(name), '\0') < name->len) {
                    return true;
                }
            }
        }
    }
    return false;
}

static bool
has_long_integer(const struct writ_json *value)
{
    for (uint32_t i = 0; i < value->span; i++) {
        int64_t number;
        if (value[i].type == WRIT_JSON_NUMBER &&
            writ_json_integer(&value[i], INT64_MIN, INT64_MAX, &number).code == WRIT_E_LIMIT) {
            return true;
        }
    }
    return false;
}

/* The jansson value of both must be the same: json_equal compares integers exactly, reals as
 * doubles, and objects without order. */
static const char *
compare_values(const struct writ_json *ours, const json_t *theirs)
{
    json_t *crossed = NULL;
    const char *verdict = NULL;

    if (!writ_is_ok(writ_bridge_to_jansson(ours, &crossed, NULL))) {
        return "our value does not cross to jansson";
    }
    if (!json_equal(crossed, theirs)) {
        verdict = "the values differ";
    }
    json_decref(crossed);
    return verdict;
}

/* And back: jansson's value, crossed to ours, has our canonical form (or neither has one). */
static const char *
compare_canonical(const struct writ_json *ours, const json_t *theirs, struct writ_arena *arena)
{
    writ_auto_buf a = writ_buf_make(CANONICAL_MAX), b = writ_buf_make(CANONICAL_MAX);
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *crossed;

    limits.bytes = CANONICAL_MAX;
    if (!writ_is_ok(writ_jcs_put(&a, ours, NULL))) {
        return NULL;
    }
    if (!writ_is_ok(writ_bridge_from_jansson(theirs, &limits, arena, &crossed, NULL))) {
        return "jansson's value does not cross to ours";
    }
    if (!writ_is_ok(writ_jcs_put(&b, crossed, NULL))) {
        return "jansson's value has no canonical form";
    }
    return writ_view_equal(writ_buf_view(&a), writ_buf_view(&b)) ? NULL
                                                                 : "the canonical forms differ";
}

const char *
writ_oracle_disagrees(struct writ_view text, struct writ_arena *arena)
{
    const struct writ_json *ours = NULL;
    json_error_t error;
    writ_result result = writ_json_read(text, &writ_json_limits_default, arena, &ours, NULL);
    json_t *theirs = json_loadb(text.len > 0 ? text.ptr : "", text.len,
        JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &error);
    const char *verdict = NULL;

    if (result.code == WRIT_E_NOMEM || result.code == WRIT_E_LIMIT) {
        verdict = NULL;
    } else if (theirs == NULL && writ_is_ok(result)) {
        verdict = has_name_with_nul(ours) || has_long_integer(ours) ? NULL : "only we accept it";
    } else if (theirs != NULL && !writ_is_ok(result)) {
        verdict = writ_view_find(text, '\0') < text.len ? NULL : "only jansson accepts it";
    } else if (theirs != NULL) {
        verdict = compare_values(ours, theirs);
        verdict = verdict == NULL ? compare_canonical(ours, theirs, arena) : verdict;
    }
    json_decref(theirs);
    return verdict;
}
