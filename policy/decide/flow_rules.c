/* flow_rules.c - see flow_rules.h. */
#include "policy/decide/flow_rules.h"

#include "base/text.h"
#include "policy/model/glob.h"
#include "policy/model/trail.h"

#define MARKS_MAX ((size_t)64 << 10) /* of one argument, as base64url */

/* ---- names */

struct writ_view
writ_flow_rules_name_of(struct writ_view upstream, struct writ_view tool, struct writ_buf *room)
{
    writ_buf_clear(room);
    writ_buf_put(room, upstream);
    writ_buf_byte(room, '/');
    writ_buf_put(room, tool);
    return writ_is_ok(writ_buf_check(room, NULL)) ? writ_buf_view(room) : WRIT_LIT("");
}

bool
writ_flow_rules_match(const struct writ_views *patterns, struct writ_view name)
{
    for (size_t i = 0; i < patterns->n; i++) {
        if (writ_glob_match(patterns->items[i], name) != WRIT_GLOB_NO) {
            return true;
        }
    }
    return false;
}

bool
writ_flow_rules_name(struct writ_view granted, struct writ_view tool)
{
    return writ_view_equal(granted, tool) ||
           (writ_glob_fault(granted) == NULL && writ_glob_match(granted, tool) == WRIT_GLOB_YES);
}

bool
writ_flow_rules_task(const struct writ_json *granted, struct writ_view tool)
{
    WRIT_JSON_EACH(name, granted)
    {
        if (writ_flow_rules_name(writ_json_string(name), tool)) {
            return true;
        }
    }
    return granted == NULL;
}

bool
writ_flow_rules_is_sink(
    const struct writ_flow_rule *flow, struct writ_view upstream, struct writ_view tool)
{
    char room[WRIT_FLOW_RULES_NAME_MAX];
    struct writ_buf name = writ_buf_over(room, sizeof room);

    return writ_flow_rules_match(&flow->tools, writ_flow_rules_name_of(upstream, tool, &name));
}

WRIT_RESULT
writ_flow_rules_counter(const struct writ_flow_rule *flow, struct writ_view tenant,
    struct writ_view run, struct writ_digest *ret)
{
    const struct writ_view pieces[] = {
        WRIT_LIT("writ flow\0"), flow->ref, WRIT_LIT("\0"), tenant, WRIT_LIT("\0"), run};

    return writ_digest_pieces(pieces, sizeof pieces / sizeof *pieces, ret, NULL);
}

struct writ_view
writ_flow_rules_pointer(struct writ_view argument, struct writ_arena *arena)
{
    struct writ_buf pointer = writ_buf_in(arena, 2 * argument.len + 2);

    if (writ_view_has_prefix(argument, WRIT_LIT("/"))) {
        return argument;
    }
    writ_buf_byte(&pointer, '/');
    writ_trail_token(argument, &pointer);
    return writ_buf_view(&pointer);
}

/* ---- calls that came before */

/* The marks that a call was recorded with for an argument, as base64url; empty: none. */
static struct writ_view
marks_of_call(const struct writ_run_call *call, struct writ_view pointer)
{
    struct writ_view rest = call->arguments;

    while (rest.len > 0) {
        size_t end = writ_view_find(rest, '\n');
        struct writ_view name = writ_view_sub(rest, 0, end), marks;
        rest = writ_view_sub(rest, end + 1, rest.len);
        end = writ_view_find(rest, '\n');
        marks = writ_view_sub(rest, 0, end);
        rest = writ_view_sub(rest, end + 1, rest.len);
        if (writ_view_equal(name, pointer)) {
            return marks;
        }
    }
    return writ_view(NULL, 0);
}

static bool
is_same(const struct writ_flow_rules_asked *asked, const struct writ_pair *pair,
    const struct writ_run_call *call)
{
    writ_auto_buf text = writ_buf_make(MARKS_MAX);

    return asked->marks(asked->ctx, pair->name, &text) && writ_is_ok(writ_buf_check(&text, NULL)) &&
           writ_view_equal(marks_of_call(call, writ_flow_rules_pointer(pair->value, asked->arena)),
               writ_buf_view(&text));
}

static bool
meets(const struct writ_flow_rules_asked *asked, const struct writ_flow_requires *requires,
    const struct writ_run_call *call)
{
    char room[WRIT_FLOW_RULES_NAME_MAX];
    struct writ_buf name = writ_buf_over(room, sizeof room);

    if (!call->done ||
        writ_glob_match(requires->call,
            writ_flow_rules_name_of(call->upstream, call->tool, &name)) != WRIT_GLOB_YES ||
        (requires->within_us > 0 && asked->now_us - call->issued_us > requires->within_us)) {
        return false;
    }
    for (size_t i = 0; i < requires->same.n; i++) {
        if (!is_same(asked, &requires->same.items[i], call)) {
            return false;
        }
    }
    return true;
}

static bool
has_met(const struct writ_flow_rules_asked *asked, const struct writ_flow_requires *requires)
{
    for (const struct writ_run_call *call = writ_run_calls(asked->run); call != NULL;
         call = call->next) {
        if (meets(asked, requires, call)) {
            return true;
        }
    }
    return false;
}

static bool
has_called(const struct writ_flow_rules_asked *asked, const struct writ_views *patterns)
{
    char room[WRIT_FLOW_RULES_NAME_MAX];
    struct writ_buf name = writ_buf_over(room, sizeof room);

    for (const struct writ_run_call *call = writ_run_calls(asked->run); call != NULL;
         call = call->next) {
        if (writ_flow_rules_match(
                patterns, writ_flow_rules_name_of(call->upstream, call->tool, &name))) {
            return true;
        }
    }
    return writ_run_is_cut(asked->run);
}

/* ---- rules */

static bool
has(const struct writ_flow_rules_asked *asked, struct writ_view label)
{
    const struct writ_views *labels = asked->labels;

    if (labels == NULL) {
        return writ_run_has(asked->run, label);
    }
    for (size_t i = 0; i < labels->n; i++) {
        if (writ_view_equal(labels->items[i], label)) {
            return true;
        }
    }
    return false;
}

static bool
has_all(const struct writ_flow_rules_asked *asked, const struct writ_views *labels)
{
    if (writ_run_is_blind(asked->run)) {
        return true;
    }
    for (size_t i = 0; i < labels->n; i++) {
        if (!has(asked, labels->items[i])) {
            return false;
        }
    }
    return true;
}

bool
writ_flow_rules_apply(const struct writ_flow_rules_asked *asked, const struct writ_flow_rule *flow)
{
    if (!writ_flow_rules_match(&flow->tools, asked->name)) {
        return false;
    }
    if (flow->requires != NULL) {
        return !has_met(asked, flow->requires);
    }
    if (flow->at_most > 0) {
        return false; /* a budget of the run, which the ledger counts */
    }
    return flow->after.n > 0 ? has_all(asked, &flow->after) : has_called(asked, &flow->after_calls);
}
