/* reflow_run.c - see reflow_run.h. Both states are made by the code that the gateway judges by. */
#include "policy/replay/reflow_run.h"

#include "evidence/json/digest.h"
#include "policy/replay/reflow_report.h"

/* A record that `must` does not have yet. */
struct writ_reflow_run_waiting {
    struct writ_reflow_run_waiting *next;
    int64_t at_us;
    bool is_outcome;
    size_t len;
    char text[];
};

/* ---- life */

static void
run_free(struct writ_reflow_run *run)
{
    while (run->first != NULL) {
        struct writ_reflow_run_waiting *next = run->first->next;
        writ_free(run->first);
        run->first = next;
    }
    while (run->charges != NULL) {
        struct writ_reflow_charge *next = run->charges->next;
        writ_free(run->charges);
        run->charges = next;
    }
    writ_run_free(run->full);
    writ_run_free(run->must);
    writ_free(run);
}

void
writ_reflow_run_wipe_all(struct writ_reflow_runs *r)
{
    for (size_t i = 0; i < WRIT_REFLOW_RUN_BUCKETS; i++) {
        while (r->runs[i] != NULL) {
            struct writ_reflow_run *next = r->runs[i]->next;
            run_free(r->runs[i]);
            r->runs[i] = next;
        }
        while (r->calls[i] != NULL) {
            struct writ_reflow_call *next = r->calls[i]->next;
            writ_free(r->calls[i]);
            r->calls[i] = next;
        }
    }
}

/* ---- tables */

/* By digest: who makes a bundle cannot choose names that collide. */
static WRIT_RESULT
bucket_of(struct writ_view tenant, struct writ_view name, size_t *ret, struct writ_err *err)
{
    uint64_t split = tenant.len;
    const struct writ_view pieces[] = {writ_view(&split, sizeof split), tenant, name};
    struct writ_digest digest;

    WRIT_TRY(writ_digest_pieces(pieces, 3, &digest, err));
    *ret = (digest.bytes[0] | (size_t)digest.bytes[1] << 8) % WRIT_REFLOW_RUN_BUCKETS;
    return WRIT_DONE;
}

static WRIT_RESULT
add_run(struct writ_reflow_runs *r, size_t bucket, struct writ_view tenant, struct writ_view name,
    struct writ_reflow_run **ret, struct writ_err *err)
{
    struct writ_reflow_run *run;

    if (r->runs_n == WRIT_REFLOW_RUNS_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "the bundle has more than %d runs: export fewer",
            WRIT_REFLOW_RUNS_MAX);
    }
    run = writ_alloc(sizeof *run + tenant.len + name.len);
    if (run == NULL || !writ_is_ok(writ_run_new(&run->full, err)) ||
        !writ_is_ok(writ_run_new(&run->must, err))) {
        if (run != NULL) {
            writ_run_free(run->full);
        }
        writ_free(run);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the state of a run");
    }
    run->last = &run->first;
    run->tenant = writ_view_place(tenant, run->text);
    run->name = writ_view_place(name, run->text + tenant.len);
    run->next = r->runs[bucket];
    r->runs[bucket] = run;
    r->runs_n++;
    *ret = run;
    return WRIT_DONE;
}

WRIT_RESULT
writ_reflow_run_of(struct writ_reflow_runs *r, struct writ_view tenant, struct writ_view name,
    struct writ_reflow_run **ret, struct writ_err *err)
{
    struct writ_reflow_run *run;
    size_t bucket;

    WRIT_TRY(bucket_of(tenant, name, &bucket, err));
    run = r->runs[bucket];
    while (run != NULL &&
           !(writ_view_equal(run->tenant, tenant) && writ_view_equal(run->name, name))) {
        run = run->next;
    }
    if (run == NULL) {
        return add_run(r, bucket, tenant, name, ret, err);
    }
    *ret = run;
    return WRIT_DONE;
}

WRIT_RESULT
writ_reflow_run_add_call(struct writ_reflow_runs *r, struct writ_reflow_run *run,
    struct writ_view id, struct writ_reflow_call **ret, struct writ_err *err)
{
    struct writ_reflow_call *call;
    size_t bucket;

    if (r->calls_n == WRIT_REFLOW_CALLS_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "the bundle has more than %d calls: export fewer",
            WRIT_REFLOW_CALLS_MAX);
    }
    WRIT_TRY(bucket_of(WRIT_LIT(""), id, &bucket, err));
    call = writ_alloc(sizeof *call + id.len);
    if (call == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a call");
    }
    call->run = run;
    call->id = writ_view_place(id, call->text);
    call->next = r->calls[bucket];
    r->calls[bucket] = call;
    r->calls_n++;
    *ret = call;
    return WRIT_DONE;
}

WRIT_RESULT
writ_reflow_run_call(struct writ_reflow_runs *r, struct writ_view id, struct writ_reflow_call **ret,
    struct writ_err *err)
{
    size_t bucket;

    WRIT_TRY(bucket_of(WRIT_LIT(""), id, &bucket, err));
    *ret = r->calls[bucket];
    while (*ret != NULL && !writ_view_equal((*ret)->id, id)) {
        *ret = (*ret)->next;
    }
    return WRIT_DONE;
}

/* ---- states */

static WRIT_RESULT
apply(struct writ_run *state, const struct writ_reflow_run *run, bool is_outcome,
    struct writ_view record)
{
    struct writ_view key = writ_view_str(run->key);

    return is_outcome ? writ_run_add_outcome(state, key, record, NULL)
                      : writ_run_add_decision(state, key, record, NULL);
}

static WRIT_RESULT
wait_for_must(struct writ_reflow_run *run, bool is_outcome, struct writ_view record, int64_t at_us,
    struct writ_err *err)
{
    struct writ_reflow_run_waiting *waiting = writ_alloc(sizeof *waiting + record.len);

    if (waiting == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a record of a run");
    }
    waiting->is_outcome = is_outcome;
    waiting->at_us = at_us;
    waiting->len = record.len;
    (void)writ_view_place(record, waiting->text);
    *run->last = waiting;
    run->last = &waiting->next;
    return WRIT_DONE;
}

/* The log is in the order of time. A record that claims to be of much later does not excuse. */
static bool
is_near(int64_t at_us, int64_t before_us)
{
    return at_us - before_us <= WRIT_REFLOW_LAG_US && before_us - at_us <= WRIT_REFLOW_LAG_US;
}

WRIT_RESULT
writ_reflow_run_catch_up(struct writ_reflow_run *run, int64_t at_us, struct writ_err *err)
{
    while (run->first != NULL && !is_near(at_us, run->first->at_us)) {
        struct writ_reflow_run_waiting *waiting = run->first;
        writ_result result =
            apply(run->must, run, waiting->is_outcome, writ_view(waiting->text, waiting->len));
        run->first = waiting->next;
        if (run->first == NULL) {
            run->last = &run->first;
        }
        writ_free(waiting);
        if (!writ_is_ok(result)) {
            return writ_fail(err, result.code, "a record does not fit the state of its run");
        }
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_reflow_run_add(struct writ_reflow_run *run, bool is_outcome, struct writ_view record,
    int64_t at_us, struct writ_err *err)
{
    writ_result result = apply(run->full, run, is_outcome, record);

    if (!writ_is_ok(result)) {
        return writ_fail(err, result.code, "a record does not fit the state of its run");
    }
    return wait_for_must(run, is_outcome, record, at_us, err);
}

/* ---- charges */

WRIT_RESULT
writ_reflow_run_charge(struct writ_reflow_run *run, struct writ_view text,
    struct writ_reflow_charge **ret, struct writ_err *err)
{
    struct writ_reflow_charge *charge = run->charges;

    while (charge != NULL && !writ_view_equal(writ_view(charge->text, charge->len), text)) {
        charge = charge->next;
    }
    if (charge == NULL) {
        charge = writ_alloc(sizeof *charge + text.len);
        if (charge == NULL) {
            WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the charges of a run");
        }
        charge->len = text.len;
        (void)writ_view_place(text, charge->text);
        charge->next = run->charges;
        run->charges = charge;
    }
    charge->n++;
    *ret = charge;
    return WRIT_DONE;
}
