/* Members in the order of canonical JSON; those that are not given are left out. */
#include "evidence/record/content_fact.h"

#include "base/clock.h"
#include "evidence/json/write.h"

static WRIT_RESULT
check_by(struct writ_view by, struct writ_err *err)
{
    if (by.len == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the record does not say by whom");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_content_fact_look(
    const struct writ_content_look *look, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);

    WRIT_TRY(check_by(look->by, err));
    w.sorted = true;
    writ_write_object_begin(&w);
    writ_write_text(&w, "by", look->by);
    writ_write_count(&w, "count", look->count);
    writ_write_text_if(&w, "decision_id", look->decision_id);
    writ_write_text_if(&w, "purpose", look->purpose);
    writ_write_time_if(&w, "since", look->since_us);
    writ_write_time_if(&w, "until", look->until_us);
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}

WRIT_RESULT
writ_content_fact_erasure(
    const struct writ_content_erasure *erasure, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);

    WRIT_TRY(check_by(erasure->by, err));
    w.sorted = true;
    writ_write_object_begin(&w);
    writ_write_text_if(&w, "agent_id", erasure->agent_id);
    writ_write_time_if(&w, "before", erasure->before_us);
    writ_write_text(&w, "by", erasure->by);
    writ_write_count(&w, "count", erasure->count);
    writ_write_text_if(&w, "decision_id", erasure->decision_id);
    writ_write_text_if(&w, "tenant", erasure->tenant);
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}

static struct writ_view
text_at(const struct writ_json *object, const char *name)
{
    return writ_json_string(writ_json_get(object, writ_view_str(name)));
}

WRIT_RESULT
writ_content_fact_read_erasure(
    const struct writ_json *data, struct writ_content_erasure *ret, struct writ_err *err)
{
    const struct writ_json *before = writ_json_get(data, WRIT_LIT("before"));
    struct writ_content_erasure erasure = {.by = text_at(data, "by"),
        .decision_id = text_at(data, "decision_id"),
        .agent_id = text_at(data, "agent_id"),
        .tenant = text_at(data, "tenant")};
    int64_t count = 0;

    if (erasure.by.len == 0 ||
        (before != NULL &&
            !writ_is_ok(writ_time_read(writ_json_string(before), &erasure.before_us))) ||
        !writ_is_ok(writ_json_integer(
            writ_json_get(data, WRIT_LIT("count")), 0, INT64_MAX >> 10, &count))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "an erase of contents is not readable");
    }
    erasure.count = (uint64_t)count;
    *ret = erasure;
    return WRIT_DONE;
}

bool
writ_content_fact_selects(const struct writ_content_erasure *erasure, struct writ_view decision_id,
    struct writ_view agent_id, struct writ_view tenant, int64_t time_us)
{
    return (erasure->decision_id.ptr == NULL ||
               writ_view_equal(erasure->decision_id, decision_id)) &&
           (erasure->agent_id.ptr == NULL || writ_view_equal(erasure->agent_id, agent_id)) &&
           (erasure->tenant.ptr == NULL || writ_view_equal(erasure->tenant, tenant)) &&
           (erasure->before_us == 0 || time_us < erasure->before_us);
}
