/* Members in the order of canonical JSON; those that are not given are left out. */
#include "evidence/record/content_fact.h"

#include "base/clock.h"
#include "evidence/json/write.h"

static void
put_time(struct writ_write *w, const char *name, int64_t wall_us)
{
    char text[WRIT_TIME_TEXT];

    if (wall_us != 0) {
        writ_time_format(wall_us, text);
        writ_write_text(w, name, writ_view_str(text));
    }
}

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
    put_time(&w, "since", look->since_us);
    put_time(&w, "until", look->until_us);
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
    put_time(&w, "before", erasure->before_us);
    writ_write_text(&w, "by", erasure->by);
    writ_write_count(&w, "count", erasure->count);
    writ_write_text_if(&w, "decision_id", erasure->decision_id);
    writ_write_text_if(&w, "tenant", erasure->tenant);
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}
