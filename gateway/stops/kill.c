/* kill.c - matches a stop with a call. A stop with a tenant applies only to that tenant; a stop
 * whose kind is unknown holds for every call. */
#include "gateway/stops/kill.h"

#include "base/clock.h"

static const struct writ_view by_names[] = {
    [WRIT_KILL_NONE] = {"", 0},
    [WRIT_KILL_AGENT] = WRIT_LIT("agent"),
    [WRIT_KILL_TOOL] = WRIT_LIT("tool"),
    [WRIT_KILL_TENANT] = WRIT_LIT("tenant"),
    [WRIT_KILL_POLICY] = WRIT_LIT("policy"),
    [WRIT_KILL_CREDENTIAL] = WRIT_LIT("credential"),
};

struct writ_view
writ_kill_by_name(enum writ_kill_by by)
{
    return by_names[by];
}

enum writ_kill_by
writ_kill_by_find(struct writ_view name)
{
    for (int by = WRIT_KILL_AGENT; by <= WRIT_KILL_CREDENTIAL; by++) {
        if (writ_view_equal(by_names[by], name)) {
            return (enum writ_kill_by)by;
        }
    }
    return WRIT_KILL_NONE;
}

/* "upstream/tool" */
static bool
is_tool(struct writ_view value, const struct writ_kill_call *call)
{
    size_t slash = writ_view_find(value, '/');

    return slash < value.len && writ_view_equal(writ_view_sub(value, 0, slash), call->upstream) &&
           writ_view_equal(writ_view_sub(value, slash + 1, value.len), call->tool);
}

bool
writ_kill_names(const struct writ_kill *kill, const struct writ_kill_call *call)
{
    if (kill->tenant.len > 0 && !writ_view_equal(kill->tenant, call->tenant)) {
        return false;
    }
    switch (kill->by) {
    case WRIT_KILL_AGENT:
        return writ_view_equal(kill->value, call->agent_id);
    case WRIT_KILL_TOOL:
        return is_tool(kill->value, call);
    case WRIT_KILL_TENANT:
        return writ_view_equal(kill->value, call->tenant);
    case WRIT_KILL_POLICY:
        return writ_view_equal(kill->value, call->policy);
    case WRIT_KILL_CREDENTIAL:
        return writ_view_equal(kill->value, call->decision_id);
    case WRIT_KILL_NONE:
        break;
    }
    return true; /* a stop that cannot be read stops everything */
}

void
writ_kill_put(const struct writ_kill *kill, struct writ_write *w)
{
    char at[WRIT_TIME_TEXT];

    writ_time_format(kill->at_us, at);
    writ_write_object_begin(w);
    writ_write_text_if(w, "at", writ_view_str(at));
    writ_write_text_if(w, "by", writ_kill_by_name(kill->by));
    if (kill->group != NULL) {
        writ_write_integer(w, "group", *kill->group);
    }
    writ_write_text_if(w, "id", kill->id);
    writ_write_text_if(w, "reason", kill->reason);
    writ_write_text_if(w, "tenant", kill->tenant);
    writ_write_text_if(w, "value", kill->value);
    writ_write_text_if(w, "who", kill->who);
    writ_write_object_end(w);
}
