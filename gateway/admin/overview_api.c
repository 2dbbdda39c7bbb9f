/* overview_api.c - each part of the gateway that the overview shows has a function here. */
#include "gateway/admin/overview_api.h"

#include "base/text.h"
#include "gateway/admin/api_view.h"
#include "gateway/admin/overview_sums.h"
#include "gateway/http/query.h"
#include "gateway/upstream/upstream.h"

#define SPAN_MAX    8 /* bytes of the name of a span */
#define SICK_FAILED 3 /* recent calls that failed, without one that did not */

/* One query; in the arena of its exchange. */
struct query {
    struct writ_api_view view;
    enum writ_figures_span span;
};

/* ---- calls and refusals ---- */

static void
put_calls(struct writ_write *w, const struct writ_overview_sums *sums, int64_t now_us)
{
    int64_t since_us = writ_figures_since_us(sums->span, now_us);

    writ_write_count(w, "slot_s", (uint64_t)writ_figures_slot_us(sums->span) / 1000000);
    writ_write_name(w, WRIT_LIT("calls"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < writ_figures_slots(sums->span); i++) {
        writ_write_object_begin(w);
        writ_write_time(w, "at", since_us + (int64_t)i * writ_figures_slot_us(sums->span));
        for (unsigned route = 0; route < WRIT_OVERVIEW_ROUTES; route++) {
            writ_write_name(w, writ_decision_route_name((enum writ_decision_route)route));
            writ_write_u64(w, sums->calls[i][route]);
        }
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
}

static void
put_refusals(struct writ_write *w, struct writ_overview_sums *sums)
{
    writ_write_name(w, WRIT_LIT("refusals"));
    writ_write_object_begin(w);
    writ_name_counts_put(&sums->refusals[WRIT_OVERVIEW_BY_TOOL], WRIT_LIT("tool"), w);
    writ_name_counts_put(&sums->refusals[WRIT_OVERVIEW_BY_AGENT], WRIT_LIT("agent"), w);
    writ_name_counts_put(&sums->refusals[WRIT_OVERVIEW_BY_REASON], WRIT_LIT("reason"), w);
    writ_write_object_end(w);
}

/* ---- the parts of the gateway ---- */

static void
put_durations(struct writ_write *w, const uint64_t durations[WRIT_FIGURES_BUCKETS])
{
    static const struct {
        const char *name;
        unsigned permille;
    } quantiles[] = {{"p50_us", 500}, {"p95_us", 950}, {"p99_us", 990}};

    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++) {
        int64_t us = writ_overview_sums_quantile(durations, quantiles[i].permille);

        if (us > 0) {
            writ_write_integer(w, quantiles[i].name, us);
        }
    }
}

/* A server over HTTP has no state of its own: it is sick when lists leave it out, when no recent
 * call came back, or when calls take much longer than before. */
static void
put_state(struct writ_write *w, const struct writ_upstream *upstream,
    const struct writ_overview_upstream *sums, int64_t mono_us)
{
    const struct writ_overview_pace pace = writ_overview_sums_pace(sums);
    const char *state = "sick", *why = NULL;

    if (!writ_upstream_is_up(upstream)) {
        state = "down";
        why = writ_upstream_is_unaccepted(upstream) ? "program_not_accepted"
              : writ_upstream_is_refused(upstream)  ? "program_changed"
                                                    : NULL;
    } else if (writ_upstream_is_left_out(upstream, mono_us)) {
        why = "left_out";
    } else if (sums->recent_failed >= SICK_FAILED && sums->recent_failed == sums->recent) {
        why = "failing";
    } else if (pace.slow) {
        why = "slow";
    } else {
        state = "up";
    }
    writ_write_text(w, "state", writ_view_str(state));
    if (why != NULL) {
        writ_write_text(w, "why", writ_view_str(why));
    }
    if (pace.slow) {
        writ_write_integer(w, "recent_us", pace.recent_us);
        writ_write_integer(w, "before_us", pace.before_us);
    }
}

static void
put_upstreams(struct query *a, const struct writ_overview_sums *sums)
{
    struct writ_write *w = &a->view.w;
    const struct writ_gateway *gateway = a->view.request.worker->gateway;
    int64_t mono_us = writ_clock_mono_us(gateway->clock);

    writ_write_name(w, WRIT_LIT("upstreams"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < sums->upstreams_n; i++) {
        const struct writ_overview_upstream *upstream = &sums->upstreams[i];

        writ_write_object_begin(w);
        writ_write_text(w, "name", upstream->name);
        put_state(w, gateway->upstreams[i], upstream, mono_us);
        for (unsigned kind = 0; kind < WRIT_OVERVIEW_OUTCOMES; kind++) {
            if (kind != WRIT_OUTCOME_BLOCKED) {
                writ_write_name(w, writ_outcome_kind_name((enum writ_outcome_kind)kind));
                writ_write_u64(w, upstream->outcomes[kind]);
            }
        }
        put_durations(w, upstream->durations);
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
}

/* The last time is that of the last record, and so of the last checkpoint: each group has one. Only
 * a caller that sees all calls gets their number. */
static void
put_ledger(struct query *a, const struct writ_overview_sums *sums)
{
    struct writ_write *w = &a->view.w;
    static const char *const states[] = {
        [WRIT_LEDGER_POISONED] = "poisoned",
        [WRIT_LEDGER_REFUSING] = "refusing",
        [WRIT_LEDGER_READY] = "ready",
    };
    const struct writ_gateway *gateway = a->view.request.worker->gateway;
    struct writ_ledger_health health;

    writ_ledger_health(gateway->ledger, &health);
    writ_write_name(w, WRIT_LIT("ledger"));
    writ_write_object_begin(w);
    writ_write_text(w, "state", writ_view_str(states[health.state]));
    writ_write_text_if(w, "why", writ_view_str(health.why.text));
    writ_write_count(w, "scrubs", health.scrubs);
    put_durations(w, sums->commits);
    if (sums->sight.scope == WRIT_LEDGER_ALL) {
        writ_write_count(w, "records", health.records);
        writ_write_count(w, "queued", health.queued);
        if (health.last_time_us > 0) {
            writ_write_time(w, "checkpoint_at", health.last_time_us);
        }
        writ_write_count(
            w, "anchored", writ_metrics_counter_sum(gateway->metrics, WRIT_COUNTER_ANCHORED));
        writ_write_count(w, "anchor_failures",
            writ_metrics_counter_sum(gateway->metrics, WRIT_COUNTER_ANCHOR_FAILURES));
    }
    writ_write_object_end(w);
}

static WRIT_RESULT
put_reviews(struct writ_write *w, const struct writ_ledger_sight *sight, struct writ_reader *reader)
{
    struct writ_view none = {NULL, 0};
    uint64_t waiting = 0;

    WRIT_TRY(
        writ_reader_reviews_waiting(reader, sight->scope == WRIT_LEDGER_ALL ? none : sight->tenant,
            sight->scope == WRIT_LEDGER_OWN ? sight->agent_id : none, &waiting, NULL));
    writ_write_count(w, "reviews_waiting", waiting);
    return WRIT_DONE;
}

/* ---- the answer ---- */

static void
name_upstreams(const struct writ_gateway *gateway, struct writ_overview_sums *sums)
{
    sums->upstreams_n = gateway->upstreams_n;
    for (size_t i = 0; i < gateway->upstreams_n; i++) {
        sums->upstreams[i].name = writ_upstream_config(gateway->upstreams[i])->name;
    }
}

static WRIT_RESULT
tell(struct writ_api_view *view, struct writ_reader *reader, struct writ_arena *arena)
{
    struct query *a = (struct query *)view;
    const struct writ_gateway *gateway = view->request.worker->gateway;
    struct writ_write *w = &view->w;
    struct writ_overview_sums *sums = writ_arena_get(arena, sizeof *sums);

    if (sums == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    *sums = (struct writ_overview_sums){
        .sight = writ_ledger_viewer_sight(&view->request.viewer), .span = a->span, .arena = arena};
    name_upstreams(gateway, sums);
    WRIT_TRY(writ_overview_sums_make(sums, gateway->figures, view->now_us));
    writ_write_object_begin(w);
    writ_write_text(w, "scope", writ_ledger_viewer_scope_name(sums->sight.scope));
    writ_write_text(w, "span", writ_figures_span_name(a->span));
    writ_write_time(w, "at", view->now_us);
    writ_write_flag(w, "complete", sums->progress.complete && sums->progress.lost == 0);
    if (sums->progress.since_us > 0) {
        writ_write_time(w, "read_since", sums->progress.since_us);
    }
    put_calls(w, sums, view->now_us);
    put_refusals(w, sums);
    WRIT_TRY(put_reviews(w, &sums->sight, reader));
    if (sums->sight.scope != WRIT_LEDGER_OWN) {
        put_upstreams(a, sums);
        put_ledger(a, sums);
    }
    if (sums->sight.scope != WRIT_LEDGER_OWN ||
        writ_ledger_viewer_administers(&view->request.viewer)) {
        writ_write_name(w, WRIT_LIT("stops"));
        writ_stop_rules_put(gateway->stop_rules, view->request.viewer.agent.tenant, w);
    }
    writ_write_object_end(w);
    return WRIT_DONE;
}

static bool
read_span(struct query *a)
{
    struct writ_view name = {NULL, 0};

    return writ_is_ok(writ_query_get(a->view.request.x->query, WRIT_LIT("span"), SPAN_MAX,
               a->view.request.x->arena, &name)) &&
           (name.len == 0 || writ_figures_span_find(name, &a->span));
}

static void
handle(struct writ_exchange *x, void *ctx)
{
    struct query *a = writ_api_view_open(x, ctx, sizeof *a, tell);

    if (a == NULL) {
        return;
    }
    if (read_span(a)) {
        writ_api_view_ask(&a->view);
    } else {
        writ_api_request_refuse(&a->view.request, 422, WRIT_REASON_MALFORMED_REQUEST);
    }
}

void
writ_overview_api_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_OVERVIEW_API_ROUTES])
{
    ret[0] = (struct writ_route){.path = WRIT_LIT("/v1/overview"),
        .methods = WRIT_ROUTE_GET,
        .handler = handle,
        .ctx = gateway};
}
