/* trace.c - what a step waits for follows from the step, but for the ledger, to which many steps
 * submit. */
#include "gateway/request/trace.h"

/* ---- what steps wait for */

/* What a step waits for, when it is not the ledger. */
struct awaited {
    const char *name; /* of the span; NULL: its message to one upstream */
    bool client;      /* another server */
    bool noted;       /* a zeroed row is not */
};

static const struct awaited awaited[WRIT_STEP_COUNT] = {
    [WRIT_STEP_LATE] = {"join", true, true},
    [WRIT_STEP_SIGN] = {"join", true, true},
    [WRIT_STEP_DISCOVER] = {"tools/list", true, true},
    [WRIT_STEP_OBSERVE] = {"probe", true, true},
    [WRIT_STEP_BIND] = {"probe", true, true},
    [WRIT_STEP_HOLD] = {"review", false, true},
    [WRIT_STEP_FORWARD] = {NULL, true, true},
    [WRIT_STEP_PASS] = {NULL, true, true},
    [WRIT_STEP_TASK] = {NULL, true, true},
    [WRIT_STEP_REPLY] = {NULL, true, true},
    [WRIT_STEP_FANOUT] = {"upstreams", true, true},
    [WRIT_STEP_TURN] = {"upstreams", true, true},
    [WRIT_STEP_MERGE] = {"upstreams", true, true},
    [WRIT_STEP_HANDSHAKE] = {"upstreams", true, true},
    [WRIT_STEP_LEAVE] = {"upstreams", true, true},
};

struct writ_trace *
writ_trace_new(struct writ_telemetry *telemetry, size_t lane, struct writ_arena *arena)
{
    struct writ_trace *trace;

    if (telemetry == NULL || !writ_telemetry_config(telemetry)->traces) {
        return NULL;
    }
    trace = writ_arena_get(arena, sizeof *trace);
    if (trace != NULL) {
        *trace = (struct writ_trace){.telemetry = telemetry, .lane = lane};
        writ_telemetry_make_id(telemetry, lane, trace->next, WRIT_SPAN_ID_BYTES);
    }
    return trace;
}

void
writ_trace_wait(struct writ_trace *trace, enum writ_step step, int64_t now_us)
{
    const struct awaited *what = &awaited[step];
    struct writ_telemetry_wait *wait;

    if (trace == NULL) {
        return;
    }
    wait = &trace->waits[trace->waits_n];
    trace->waiting = what->noted;
    wait->name = what->name;
    wait->step = writ_step_name(step);
    wait->client = what->client;
    wait->from_us = now_us;
}

void
writ_trace_wait_ledger(struct writ_trace *trace)
{
    if (trace != NULL) {
        trace->waiting = true;
        trace->waits[trace->waits_n].name = "ledger";
        trace->waits[trace->waits_n].client = false;
    }
}

void
writ_trace_wait_turn(struct writ_trace *trace)
{
    if (trace != NULL) {
        trace->waiting = false;
    }
}

static bool
is_same(const struct writ_telemetry_wait *last, const struct writ_telemetry_wait *wait)
{
    return last->step == wait->step && last->name == wait->name;
}

/* A step that waits again for the same makes its span longer: a review is one, however often its
 * caller got progress. */
void
writ_trace_continue(struct writ_trace *trace, int64_t now_us)
{
    struct writ_telemetry_wait *wait, *last;

    if (trace == NULL || !trace->waiting) {
        return;
    }
    trace->waiting = false;
    wait = &trace->waits[trace->waits_n];
    wait->to_us = now_us;
    last = trace->waits_n > 0 ? wait - 1 : NULL;
    if (last != NULL && is_same(last, wait)) {
        last->to_us = now_us;
        return;
    }
    for (size_t i = 0; i < WRIT_SPAN_ID_BYTES; i++) {
        wait->span_id[i] = trace->next[i];
    }
    writ_telemetry_make_id(trace->telemetry, trace->lane, trace->next, WRIT_SPAN_ID_BYTES);
    if (trace->waits_n < WRIT_TELEMETRY_WAITS_MAX) {
        trace->waits_n++;
    }
}
