/* The forms of kept contents outside of the ledger. Counting needs no key: it asks only whether
 * contents are there. */
#include "gateway/admin/contents_answer.h"

#include "base/clock.h"
#include "evidence/record/content_fact.h"

static const char *const states[] = {
    [WRIT_CONTENT_ABSENT] = "none",
    [WRIT_CONTENT_ERASED] = "erased",
    [WRIT_CONTENT_LOCKED] = "locked",
    [WRIT_CONTENT_CHANGED] = "changed",
    [WRIT_CONTENT_KEPT] = "kept",
};

const char *
writ_contents_answer_state(enum writ_content_state state)
{
    return states[state];
}

enum writ_content_state
writ_contents_answer_find(struct writ_view name)
{
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        if (writ_view_is(name, states[i])) {
            return (enum writ_content_state)i;
        }
    }
    return WRIT_CONTENT_ABSENT;
}

const char *
writ_contents_answer_unread(enum writ_content_state state)
{
    return states[state == WRIT_CONTENT_LOCKED ? WRIT_CONTENT_KEPT : state];
}

bool
writ_contents_answer_shows(const struct writ_contents_call *call)
{
    return call->arguments.state == WRIT_CONTENT_KEPT || call->result.state == WRIT_CONTENT_KEPT;
}

static void
put_content(
    const struct writ_content *content, const char *name, const char *until, struct writ_write *w)
{
    char time[WRIT_TIME_TEXT];

    writ_write_name(w, writ_view_str(name));
    if (content->state != WRIT_CONTENT_KEPT) {
        writ_write_null(w);
        writ_write_name(w, writ_view_str(until));
        writ_write_null(w);
        return;
    }
    writ_write_raw(w, content->bytes);
    writ_time_format(content->expires_us, time);
    writ_write_text(w, until, writ_view_str(time));
}

void
writ_contents_answer_put(const struct writ_contents_call *call, struct writ_write *w)
{
    writ_write_object_begin(w);
    writ_write_text(w, "decision_id", call->decision->decision_id.view);
    writ_write_text(
        w, "arguments_state", writ_view_str(writ_contents_answer_state(call->arguments.state)));
    put_content(&call->arguments, "arguments", "arguments_expire_at", w);
    writ_write_name(w, WRIT_LIT("arguments_whole"));
    if (call->arguments.state == WRIT_CONTENT_KEPT) {
        writ_write_bool(w, !call->arguments.redacted);
    } else {
        writ_write_null(w);
    }
    writ_write_text(
        w, "result_state", writ_view_str(writ_contents_answer_state(call->result.state)));
    put_content(&call->result, "result", "result_expire_at", w);
    writ_write_object_end(w);
}

/* ---- counting */

struct counting {
    struct writ_content_erasure what;
    uint64_t n;
};

static bool
is_there(const struct writ_content *content)
{
    return content->state != WRIT_CONTENT_ABSENT && content->state != WRIT_CONTENT_ERASED;
}

static bool
count(void *ctx, const struct writ_contents_call *call)
{
    struct counting *c = ctx;
    const struct writ_decision *d = call->decision;

    if (writ_content_fact_selects(
            &c->what, d->decision_id.view, d->agent_id.view, call->tenant, call->issued_at_us)) {
        c->n += is_there(&call->arguments) + is_there(&call->result);
    }
    return true;
}

WRIT_RESULT
writ_contents_answer_count(const char *path, const struct writ_clock *clock,
    const struct writ_entry_erase *erase, uint64_t *ret, struct writ_err *err)
{
    const struct writ_contents_filter filter = {.until_us = erase->before_us, .results = true};
    struct counting counting = {.what = {.decision_id = erase->decision_id,
                                    .agent_id = erase->agent_id,
                                    .tenant = erase->tenant,
                                    .before_us = erase->before_us}};
    writ_auto_contents contents = NULL;

    WRIT_TRY(writ_contents_open(path, NULL, clock, &contents, err));
    WRIT_TRY(writ_contents_each(contents, &filter, count, &counting, err));
    *ret = counting.n;
    return WRIT_DONE;
}
