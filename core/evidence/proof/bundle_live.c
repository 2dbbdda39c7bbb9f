/* Runs and calls in tables by digest. Runs and calls that ended are freed, and the total is
 * bounded, so a hostile bundle cannot make a verifier grow without end. */
#include "evidence/proof/bundle_live.h"

#define BUCKETS WRIT_BUNDLE_LIVE_BUCKETS

static WRIT_RESULT
bucket_of(struct writ_view of, struct writ_view key, size_t *ret, struct writ_err *err)
{
    uint64_t split = of.len;
    const struct writ_view pieces[] = {writ_view(&split, sizeof split), of, key};
    struct writ_digest digest; /* callers cannot choose which names share a bucket */

    WRIT_TRY(writ_digest_pieces(pieces, 3, &digest, err));
    *ret = (digest.bytes[0] | (size_t)digest.bytes[1] << 8) % BUCKETS;
    return WRIT_DONE;
}

/* Counts one more run or call. */
static WRIT_RESULT
check_room(const struct writ_bundle_live *live, struct writ_err *err)
{
    if (live->runs_n + live->calls_n >= WRIT_BUNDLE_LIVE_MAX) {
        WRIT_FAIL(
            err, WRIT_E_LIMIT, "more than %d runs and calls at one time", WRIT_BUNDLE_LIVE_MAX);
    }
    return WRIT_DONE;
}

/* ---- runs ---- */

bool
writ_bundle_live_is_faulty(const struct writ_bundle_run *run)
{
    return run->flaws != NULL || run->seal_differs;
}

static void
run_free(struct writ_bundle_run *run)
{
    writ_free(run->flaws);
    writ_seal_hash_wipe(&run->ids);
    writ_free(run);
}

/* The flaws of a run, allocated at its first one. */
static WRIT_RESULT
run_flaws(struct writ_bundle_run *run, struct writ_bundle_flaws **ret, struct writ_err *err)
{
    if (run->flaws == NULL && (run->flaws = writ_alloc(sizeof *run->flaws)) == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the flaws of a run");
    }
    *ret = run->flaws;
    return WRIT_DONE;
}

static void
name_it(struct writ_bundle_named *named, uint64_t first, uint64_t last)
{
    if (named->n < WRIT_BUNDLE_NAMED) {
        named->first[named->n] = first;
        named->last[named->n] = last;
        named->n++;
    }
    named->total += last - first + 1;
}

/* The run of that name of a tenant, or NULL. */
static WRIT_RESULT
run_find(struct writ_bundle_live *live, struct writ_view tenant, struct writ_view name,
    struct writ_bundle_run **ret, struct writ_err *err)
{
    size_t bucket;

    WRIT_TRY(bucket_of(tenant, name, &bucket, err));
    *ret = live->by_id[bucket];
    while (*ret != NULL &&
           !(writ_view_equal((*ret)->name, name) && writ_view_equal((*ret)->tenant, tenant))) {
        *ret = (*ret)->next;
    }
    return WRIT_DONE;
}

/* The run of that name that `seal` (ptr NULL: none) belongs to by its hash, because a seal does not
 * name its tenant. Without a hash the newest of that name; without a match the oldest. NULL: none
 * of that name. */
static WRIT_RESULT
run_of_seal(struct writ_bundle_live *live, struct writ_view name, struct writ_view seal,
    struct writ_bundle_run **ret, struct writ_err *err)
{
    size_t bucket;

    *ret = NULL;
    WRIT_TRY(bucket_of(WRIT_LIT(""), name, &bucket, err));
    for (struct writ_bundle_run *run = live->by_name[bucket]; run != NULL; run = run->next_named) {
        struct writ_digest digest;
        char text[WRIT_DIGEST_TEXT];

        if (!writ_view_equal(run->name, name)) {
            continue;
        }
        *ret = run;
        if (seal.ptr == NULL) {
            break;
        }
        WRIT_TRY(writ_seal_hash_now(&run->ids, &digest, err));
        writ_digest_text(&digest, text);
        if (writ_view_is(seal, text)) {
            break;
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
run_add(struct writ_bundle_live *live, struct writ_view tenant, struct writ_view name,
    struct writ_bundle_run **ret, struct writ_err *err)
{
    struct writ_bundle_run *run;
    size_t bucket, named;
    writ_result result;

    WRIT_TRY(check_room(live, err));
    WRIT_TRY(bucket_of(tenant, name, &bucket, err));
    WRIT_TRY(bucket_of(WRIT_LIT(""), name, &named, err));
    run = writ_alloc(sizeof *run + name.len + tenant.len);
    if (run == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a run");
    }
    run->name = writ_view_place(name, run->text);
    run->tenant = writ_view_place(tenant, run->text + name.len);
    result = writ_seal_hash_init(&run->ids, err);
    if (!writ_is_ok(result)) {
        run_free(run);
        return result;
    }
    run->next = live->by_id[bucket];
    live->by_id[bucket] = run;
    run->next_named = live->by_name[named];
    live->by_name[named] = run;
    if (live->newest_run != NULL) {
        live->newest_run->newer = run;
    } else {
        live->oldest_run = run;
    }
    live->newest_run = run;
    live->runs_n++;
    *ret = run;
    return WRIT_DONE;
}

WRIT_RESULT
writ_bundle_live_run(struct writ_bundle_live *live, struct writ_view tenant, struct writ_view name,
    struct writ_bundle_run **ret, struct writ_err *err)
{
    struct writ_bundle_run *run = NULL;

    WRIT_TRY(run_find(live, tenant, name, &run, err));
    if (run == NULL) {
        return run_add(live, tenant, name, ret, err);
    }
    *ret = run;
    return WRIT_DONE;
}

WRIT_RESULT
writ_bundle_live_place(struct writ_bundle_run *run, uint64_t seq, bool is_counted,
    struct writ_view decision_id, struct writ_err *err)
{
    struct writ_bundle_flaws *flaws = NULL;

    run->held++;
    if (!is_counted || seq != run->next_seq) {
        WRIT_TRY(run_flaws(run, &flaws, err));
    }
    if (!is_counted) {
        name_it(&flaws->miscounted, seq, seq);
    }
    if (seq < run->next_seq) {
        name_it(&flaws->doubles, seq, seq);
        return WRIT_DONE;
    }
    if (seq > run->next_seq) {
        name_it(&flaws->missing, run->next_seq, seq - 1);
    }
    run->next_seq = seq + 1;
    return writ_seal_hash_add(&run->ids, decision_id, err);
}

/* Whether every seq is there exactly once. */
static bool
has_all(const struct writ_bundle_run *run)
{
    return run->flaws == NULL || (run->flaws->missing.total == 0 && run->flaws->doubles.total == 0);
}

static WRIT_RESULT
run_seal(struct writ_bundle_run *run, const struct writ_seal *seal, struct writ_err *err)
{
    uint64_t total = seal->total.is == WRIT_PRESENT ? (uint64_t)seal->total.value : 0;
    struct writ_digest digest;
    struct writ_bundle_flaws *flaws;
    char text[WRIT_DIGEST_TEXT];

    if (total > run->next_seq) {
        WRIT_TRY(run_flaws(run, &flaws, err));
        name_it(&flaws->missing, run->next_seq, total - 1);
    }
    WRIT_TRY(writ_seal_hash_now(&run->ids, &digest, err));
    writ_digest_text(&digest, text);
    run->seal_differs = run->is_sealed || total < run->next_seq ||
                        (has_all(run) && !writ_view_is(seal->seal_hash.view, text));
    run->is_sealed = true;
    return WRIT_DONE;
}

WRIT_RESULT
writ_bundle_live_seal(
    struct writ_bundle_live *live, const struct writ_seal *seal, struct writ_err *err)
{
    struct writ_bundle_run *run = NULL;

    WRIT_TRY(run_of_seal(live, seal->boundary_id.view, seal->seal_hash.view, &run, err));
    if (run == NULL) {
        WRIT_TRY(run_add(live, WRIT_LIT(""), seal->boundary_id.view, &run, err));
    }
    return run_seal(run, seal, err);
}

/* ---- calls ---- */

static void
call_free(struct writ_bundle_call *call)
{
    writ_buf_wipe(&call->id);
    writ_buf_wipe(&call->body);
    writ_buf_wipe(&call->outcome);
    writ_free(call->approved);
    writ_free(call);
}

static WRIT_RESULT
keep(struct writ_buf *to, struct writ_view text, struct writ_err *err)
{
    *to = writ_buf_make(WRIT_RECORD_MAX_BYTES);
    writ_buf_put(to, text);
    return writ_buf_check(to, err);
}

WRIT_RESULT
writ_bundle_live_find(struct writ_bundle_live *live, struct writ_view id,
    struct writ_bundle_call **ret, struct writ_err *err)
{
    struct writ_bundle_call *call;
    size_t bucket;

    WRIT_TRY(bucket_of(WRIT_LIT(""), id, &bucket, err));
    call = live->calls[bucket];
    while (call != NULL && !writ_view_equal(writ_buf_view(&call->id), id)) {
        call = call->next;
    }
    *ret = call;
    return WRIT_DONE;
}

WRIT_RESULT
writ_bundle_live_add(struct writ_bundle_live *live, struct writ_view id, struct writ_view body,
    struct writ_bundle_call **ret, struct writ_err *err)
{
    struct writ_bundle_call *call;
    size_t bucket;
    writ_result result;

    WRIT_TRY(check_room(live, err));
    WRIT_TRY(bucket_of(WRIT_LIT(""), id, &bucket, err));
    call = writ_alloc(sizeof *call);
    if (call == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a call");
    }
    result = keep(&call->id, id, err);
    if (writ_is_ok(result)) {
        result = keep(&call->body, body, err);
    }
    if (!writ_is_ok(result)) {
        call_free(call);
        return result;
    }
    call->next = live->calls[bucket];
    live->calls[bucket] = call;
    call->older = live->newest_call;
    *(live->newest_call != NULL ? &live->newest_call->newer : &live->oldest_call) = call;
    live->newest_call = call;
    live->calls_n++;
    *ret = call;
    return WRIT_DONE;
}

WRIT_RESULT
writ_bundle_live_keep(struct writ_bundle_call *call, struct writ_view outcome, struct writ_err *err)
{
    return keep(&call->outcome, outcome, err);
}

WRIT_RESULT
writ_bundle_live_approved(
    struct writ_bundle_call *call, struct writ_approved_call **ret, struct writ_err *err)
{
    if (call->approved == NULL && (call->approved = writ_alloc(sizeof *call->approved)) == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a review");
    }
    *ret = call->approved;
    return WRIT_DONE;
}

WRIT_RESULT
writ_bundle_live_drop(
    struct writ_bundle_live *live, struct writ_bundle_call *call, struct writ_err *err)
{
    struct writ_bundle_call **link;
    size_t bucket;

    WRIT_TRY(bucket_of(WRIT_LIT(""), writ_buf_view(&call->id), &bucket, err));
    for (link = &live->calls[bucket]; *link != call; link = &(*link)->next) {
    }
    *link = call->next;
    *(call->older != NULL ? &call->older->newer : &live->oldest_call) = call->newer;
    *(call->newer != NULL ? &call->newer->older : &live->newest_call) = call->older;
    call_free(call);
    live->calls_n--;
    return WRIT_DONE;
}

void
writ_bundle_live_wipe(struct writ_bundle_live *live)
{
    while (live->oldest_run != NULL) {
        struct writ_bundle_run *run = live->oldest_run;

        live->oldest_run = run->newer;
        run_free(run);
    }
    while (live->oldest_call != NULL) {
        struct writ_bundle_call *call = live->oldest_call;

        live->oldest_call = call->newer;
        call_free(call);
    }
    writ_bundle_keys_wipe(&live->keys);
}
