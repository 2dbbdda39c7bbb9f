/* Reads JSON with jansson and compares the values with ours by their canonical form. */
#include "support/evidence/oracle.h"

#include "evidence/json/jcs.h"
#include "writ/jansson.h"

#include <stdlib.h>

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

/* jansson's value, written, has the canonical form. */
static bool
is_written_as(const json_t *value, struct writ_view canonical)
{
    char *text = NULL;
    size_t len = 0;
    bool same = writ_is_ok(writ_jansson_write(value, &text, &len, NULL)) &&
                writ_view_equal(writ_view(text, len), canonical);

    free(text);
    return same;
}

/* What has a canonical form crosses to jansson and back; `theirs` is what jansson itself has read,
 * or NULL. json_equal compares integers exactly, reals as doubles, and objects without order. */
static const char *
compare_crossing(struct writ_view text, const struct writ_json *ours, const json_t *theirs)
{
    writ_auto_buf canonical = writ_buf_make(CANONICAL_MAX);
    bool has_form = writ_is_ok(writ_jcs_put(&canonical, ours, NULL));
    json_auto_t *crossed = NULL;

    if (writ_is_ok(writ_jansson_read(text, &crossed, NULL)) != has_form) {
        return has_form ? "our value does not cross to jansson"
                        : "a value without a canonical form crosses to jansson";
    }
    if (!has_form) {
        return NULL;
    }
    if (theirs != NULL && !json_equal(crossed, theirs)) {
        return "the values differ";
    }
    if (theirs != NULL && !is_written_as(theirs, writ_buf_view(&canonical))) {
        return "jansson's value is written in another form";
    }
    return is_written_as(crossed, writ_buf_view(&canonical)) ? NULL
                                                             : "our value does not cross back";
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
    }
    if (verdict == NULL && writ_is_ok(result)) {
        verdict = compare_crossing(text, ours, theirs);
    }
    json_decref(theirs);
    return verdict;
}
