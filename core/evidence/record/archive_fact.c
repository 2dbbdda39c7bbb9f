/* Members in the order of canonical JSON. */
#include "evidence/record/archive_fact.h"

#include "base/clock.h"
#include "evidence/json/write.h"

#define MOST ((int64_t)1 << 53) /* canonical JSON states integers up to here */

WRIT_RESULT
writ_archive_fact_put(
    const struct writ_archive_fact *fact, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);
    char root[WRIT_DIGEST_TEXT], runs[WRIT_DIGEST_TEXT];

    if (fact->by.len == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the record does not say by whom");
    }
    writ_digest_text(&fact->root, root);
    writ_digest_text(&fact->runs, runs);
    w.sorted = true;
    writ_write_object_begin(&w);
    writ_write_count(&w, "before", fact->before);
    writ_write_text(&w, "by", fact->by);
    writ_write_time_if(&w, "last", fact->last_us);
    writ_write_text(&w, "root", writ_view_str(root));
    writ_write_text(&w, "runs", writ_view_str(runs));
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}

WRIT_RESULT
writ_archive_fact_read(
    const struct writ_json *data, struct writ_archive_fact *ret, struct writ_err *err)
{
    struct writ_archive_fact fact = {.by = writ_json_string(writ_json_get(data, WRIT_LIT("by")))};
    int64_t before = 0;

    if (fact.by.len == 0 ||
        !writ_is_ok(writ_json_integer(writ_json_get(data, WRIT_LIT("before")), 1, MOST, &before)) ||
        !writ_is_ok(writ_time_read(
            writ_json_string(writ_json_get(data, WRIT_LIT("last"))), &fact.last_us)) ||
        !writ_is_ok(writ_digest_read(
            writ_json_string(writ_json_get(data, WRIT_LIT("root"))), &fact.root, NULL)) ||
        !writ_is_ok(writ_digest_read(
            writ_json_string(writ_json_get(data, WRIT_LIT("runs"))), &fact.runs, NULL))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "a removal of archived records is not readable");
    }
    fact.before = (uint64_t)before;
    *ret = fact;
    return WRIT_DONE;
}
