/* (1) `edge` is the tree of all leaves so far; `bytes` the digest of all lines so far.
 * (2) `runs` has, in order, every run that a decision or a seal is of.
 * (3) `calls` has, in order, the decisions that may still get an outcome or a successor. */
#include "evidence/bundle.h"

#include "base/clock.h"
#include "evidence/extension.h"
#include "evidence/phase.h"
#include "evidence/profile.h"
#include "evidence/write.h"

#define BUCKETS      65536
#define RECORD_ARENA ((size_t)128 << 20)

/* Numbers that are named, as far as there is room. */
struct named {
    uint64_t first[WRIT_BUNDLE_NAMED], last[WRIT_BUNDLE_NAMED];
    size_t n;
    uint64_t total;
};

/** What is wrong with the seqs of a run. */
struct flaws {
    struct named missing, doubles, miscounted;
};

struct run {
    struct run *next, *next_named, *newer;
    uint64_t next_seq, held;
    struct flaws *flaws; /* NULL: none, as in most runs, of which there may be very many */
    struct writ_seal_hash ids;
    bool is_sealed, seal_differs;
    struct writ_view name, tenant;
    char text[];
};

struct call {
    struct call *next, *older, *newer;
    struct writ_buf id, body, outcome; /* body: empty when withheld */
    const struct writ_profile *profile;
    struct run *run; /* NULL: it names none */
    bool waits;      /* for an approval: an outcome does not end it */
    bool is_withheld;
};

struct writ_bundle {
    struct writ_bundle_select select;
    int64_t since_us, until_us, at_us;
    struct writ_buf texts; /* of the selection */
    struct writ_checkpoint head;
    struct writ_tree_edge edge;
    struct writ_digest_stream bytes;
    struct writ_arena *arena;                            /* one record */
    struct run *runs[BUCKETS], *oldest_run, *newest_run; /* by tenant and name */
    struct run *named[BUCKETS];                          /* by name, for seals */
    struct call *calls[BUCKETS], *oldest, *newest;
    size_t live;
    bool has_shown;       /* a record */
    uint64_t after_shown; /* leaves skipped since the last record that was shown */
    struct writ_bundle_report report;
};

/* ---- names ---- */

static WRIT_RESULT
bucket_of(struct writ_view of, struct writ_view key, size_t *ret, struct writ_err *err)
{
    uint64_t split = of.len;
    const struct writ_view pieces[] = {writ_view(&split, sizeof split), of, key};
    struct writ_digest digest; /* nobody chooses what falls together */

    WRIT_TRY(writ_digest_pieces(pieces, 3, &digest, err));
    *ret = (digest.bytes[0] | (size_t)digest.bytes[1] << 8) % BUCKETS;
    return WRIT_DONE;
}

static WRIT_RESULT
keep(struct writ_buf *to, struct writ_view text, struct writ_err *err)
{
    *to = writ_buf_make(WRIT_RECORD_MAX_BYTES);
    writ_buf_put(to, text);
    return writ_buf_check(to, err);
}

static void
name_it(struct named *named, uint64_t first, uint64_t last)
{
    if (named->n < WRIT_BUNDLE_NAMED) {
        named->first[named->n] = first;
        named->last[named->n] = last;
        named->n++;
    }
    named->total += last - first + 1;
}

static WRIT_RESULT
one_more(struct writ_bundle *b, struct writ_err *err)
{
    if (b->live == WRIT_BUNDLE_LIVE_MAX) {
        WRIT_FAIL(
            err, WRIT_E_LIMIT, "more than %d runs and calls at one time", WRIT_BUNDLE_LIVE_MAX);
    }
    b->live++;
    return WRIT_DONE;
}

/* ---- runs ---- */

static bool
is_faulty(const struct run *run)
{
    return run->flaws != NULL || run->seal_differs;
}

static void
run_free(struct run *run)
{
    writ_free(run->flaws);
    writ_seal_hash_wipe(&run->ids);
    writ_free(run);
}

/* The flaws of a run that has one now. */
static WRIT_RESULT
run_flaws(struct run *run, struct flaws **ret, struct writ_err *err)
{
    if (run->flaws == NULL && (run->flaws = writ_alloc(sizeof *run->flaws)) == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for what a run lacks");
    }
    *ret = run->flaws;
    return WRIT_DONE;
}

/* The run of that name of a tenant, or NULL. */
static WRIT_RESULT
run_find(struct writ_bundle *b, struct writ_view tenant, struct writ_view name, struct run **ret,
    struct writ_err *err)
{
    size_t bucket;

    WRIT_TRY(bucket_of(tenant, name, &bucket, err));
    *ret = b->runs[bucket];
    while (*ret != NULL &&
           !(writ_view_equal((*ret)->name, name) && writ_view_equal((*ret)->tenant, tenant))) {
        *ret = (*ret)->next;
    }
    return WRIT_DONE;
}

/* The run of that name that `seal` (ptr NULL: it has none) is of by its hash, for it does not say
 * whose it is: without a hash the newest of that name, else the oldest when there is no such run.
 * NULL: none of that name. */
static WRIT_RESULT
run_of_seal(struct writ_bundle *b, struct writ_view name, struct writ_view seal, struct run **ret,
    struct writ_err *err)
{
    size_t bucket;

    *ret = NULL;
    WRIT_TRY(bucket_of(WRIT_LIT(""), name, &bucket, err));
    for (struct run *run = b->named[bucket]; run != NULL; run = run->next_named) {
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
run_add(struct writ_bundle *b, struct writ_view tenant, struct writ_view name, struct run **ret,
    struct writ_err *err)
{
    struct run *run;
    size_t bucket, named;
    writ_result result;

    WRIT_TRY(one_more(b, err));
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
    run->next = b->runs[bucket];
    b->runs[bucket] = run;
    run->next_named = b->named[named];
    b->named[named] = run;
    if (b->newest_run != NULL) {
        b->newest_run->newer = run;
    } else {
        b->oldest_run = run;
    }
    b->newest_run = run;
    b->report.boundaries++;
    *ret = run;
    return WRIT_DONE;
}

/* A decision, shown or withheld, has its place in its run. */
static WRIT_RESULT
run_place(struct run *run, uint64_t seq, bool is_counted, struct writ_view decision_id,
    struct writ_err *err)
{
    struct flaws *flaws = NULL;

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

/* Whether every seq is there, once. */
static bool
has_all(const struct run *run)
{
    return run->flaws == NULL || (run->flaws->missing.total == 0 && run->flaws->doubles.total == 0);
}

static WRIT_RESULT
run_seal(struct run *run, const struct writ_seal *seal, struct writ_err *err)
{
    uint64_t total = seal->total.is == WRIT_PRESENT ? (uint64_t)seal->total.value : 0;
    struct writ_digest digest;
    struct flaws *flaws;
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

/* ---- calls ---- */

static void
call_free(struct call *call)
{
    writ_buf_wipe(&call->id);
    writ_buf_wipe(&call->body);
    writ_buf_wipe(&call->outcome);
    writ_free(call);
}

static WRIT_RESULT
call_find(struct writ_bundle *b, struct writ_view id, struct call **ret, size_t *bucket,
    struct writ_err *err)
{
    WRIT_TRY(bucket_of(WRIT_LIT(""), id, bucket, err));
    *ret = b->calls[*bucket];
    while (*ret != NULL && !writ_view_equal(writ_buf_view(&(*ret)->id), id)) {
        *ret = (*ret)->next;
    }
    return WRIT_DONE;
}

static WRIT_RESULT
call_add(struct writ_bundle *b, struct writ_view id, struct writ_view body, struct call **ret,
    struct writ_err *err)
{
    struct call *call, *same;
    size_t bucket;
    writ_result result;

    WRIT_TRY(one_more(b, err));
    WRIT_TRY(call_find(b, id, &same, &bucket, err));
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
    call->next = b->calls[bucket];
    b->calls[bucket] = call;
    call->older = b->newest;
    *(b->newest != NULL ? &b->newest->newer : &b->oldest) = call;
    b->newest = call;
    *ret = call;
    return WRIT_DONE;
}

static WRIT_RESULT
call_drop(struct writ_bundle *b, struct call *call, struct writ_err *err)
{
    struct call **link;
    size_t bucket;

    WRIT_TRY(bucket_of(WRIT_LIT(""), writ_buf_view(&call->id), &bucket, err));
    for (link = &b->calls[bucket]; *link != call; link = &(*link)->next) {
    }
    *link = call->next;
    *(call->older != NULL ? &call->older->newer : &b->oldest) = call->newer;
    *(call->newer != NULL ? &call->newer->older : &b->newest) = call->older;
    call_free(call);
    b->live--;
    return WRIT_DONE;
}

/* What was kept of a record that was good when it was kept. */
static WRIT_RESULT
reread(struct writ_bundle *b, const struct writ_buf *body, const struct writ_json **ret,
    struct writ_err *err)
{
    struct writ_json_limits limits = writ_json_limits_default;

    limits.bytes = WRIT_RECORD_MAX_BYTES;
    return writ_json_read(writ_buf_view(body), &limits, b->arena, ret, err);
}

static WRIT_RESULT
reread_decision(
    struct writ_bundle *b, const struct call *call, struct writ_held *ret, struct writ_err *err)
{
    const struct writ_json *value = NULL;

    WRIT_TRY(reread(b, &call->body, &value, err));
    *ret = (struct writ_held){.kind = WRIT_HELD_DECISION, .profile = call->profile};
    return writ_decision_read(value, b->arena, &ret->decision, err);
}

/* Appends the phase of a call at the time that was asked for. */
static WRIT_RESULT
put_phase(struct writ_bundle *b, const struct call *call, const struct writ_outcome *outcome,
    const struct writ_decision *successor, struct writ_buf *out, struct writ_err *err)
{
    struct writ_phase_facts facts = {.outcome = outcome, .successor = successor};
    struct writ_outcome kept = {0};
    struct writ_held decision;
    struct writ_write w;
    enum writ_phase phase;

    if (b->select.at.ptr == NULL || call->is_withheld) {
        return WRIT_DONE;
    }
    WRIT_TRY(reread_decision(b, call, &decision, err));
    if (outcome == NULL && call->outcome.len > 0) {
        const struct writ_json *value = NULL;

        WRIT_TRY(reread(b, &call->outcome, &value, err));
        WRIT_TRY(writ_outcome_read(value, b->arena, &kept, err));
        facts.outcome = &kept;
    }
    phase = writ_phase_at(&decision.decision, &facts, b->at_us);
    w = writ_write_to(out);
    writ_write_object_begin(&w);
    writ_write_text(&w, "kind", WRIT_LIT("phase"));
    writ_write_text(&w, "decision_id", writ_buf_view(&call->id));
    writ_write_text(&w, "phase", writ_phase_name(phase));
    writ_write_flag(&w, "whole", call->run != NULL && !is_faulty(call->run));
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
    writ_buf_byte(out, '\n');
    return writ_buf_check(out, err);
}

/* ---- lines ---- */

static void
put_select(struct writ_write *w, const struct writ_bundle_select *select)
{
    const struct {
        const char *name;
        struct writ_view value;
    } rows[] = {{"tenant", select->tenant}, {"boundary", select->boundary_id},
        {"agent", select->agent_id}, {"since", select->since}, {"until", select->until},
        {"at", select->at}};

    writ_write_object_begin(w);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].value.ptr != NULL) {
            writ_write_text(w, rows[i].name, rows[i].value);
        }
    }
    writ_write_object_end(w);
}

/* Counts the lines from `from` on as written; keeps (1) */
static WRIT_RESULT
written(struct writ_bundle *b, const struct writ_buf *out, size_t from, struct writ_err *err)
{
    WRIT_TRY(writ_buf_check(out, err));
    return writ_digest_stream_add(
        &b->bytes, writ_view_sub(writ_buf_view(out), from, out->len), err);
}

static WRIT_RESULT
put_begin(struct writ_bundle *b, struct writ_view keys, struct writ_view note, struct writ_buf *out,
    struct writ_err *err)
{
    struct writ_write w = writ_write_to(out);
    size_t from = out->len;

    writ_write_object_begin(&w);
    writ_write_text(&w, "format", WRIT_LIT("writ-bundle/1"));
    writ_write_text(&w, "checkpoint", note);
    writ_write_name(&w, WRIT_LIT("keys"));
    writ_write_array_begin(&w);
    while (keys.len > 0) {
        size_t end = writ_view_find(keys, '\n');

        writ_write_string(&w, writ_view_sub(keys, 0, end));
        keys = writ_view_sub(keys, end + 1, keys.len);
    }
    writ_write_array_end(&w);
    writ_write_name(&w, WRIT_LIT("select"));
    put_select(&w, &b->select);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
    writ_buf_byte(out, '\n');
    return written(b, out, from, err);
}

static void
begin_leaf(struct writ_write *w, const struct writ_bundle *b, struct writ_view kind)
{
    writ_write_object_begin(w);
    writ_write_count(w, "leaf", b->edge.size);
    writ_write_text(w, "kind", kind);
}

static void
put_digest(struct writ_write *w, const struct writ_digest *digest)
{
    char text[WRIT_DIGEST_TEXT];

    writ_digest_text(digest, text);
    writ_write_text(w, "digest", writ_view_str(text));
}

static void
end_line(struct writ_write *w)
{
    struct writ_buf *out = w->buf;

    writ_write_object_end(w);
    WRIT_IGNORE(writ_write_end(w, NULL)); /* the buffer remembers */
    writ_buf_byte(out, '\n');
}

/* ---- beginning, ending ---- */

static WRIT_RESULT
read_time(
    struct writ_view text, const char *name, int64_t otherwise, int64_t *ret, struct writ_err *err)
{
    *ret = otherwise;
    if (text.ptr != NULL && !writ_is_ok(writ_time_read(text, ret))) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s is no time such as 2026-06-25T05:00:00Z", name);
    }
    return WRIT_DONE;
}

/* Copies the texts of the selection. */
static WRIT_RESULT
keep_select(struct writ_bundle *b, const struct writ_bundle_select *from, struct writ_err *err)
{
    struct writ_view *to[] = {&b->select.tenant, &b->select.boundary_id, &b->select.agent_id,
        &b->select.since, &b->select.until, &b->select.at};
    const struct writ_view views[] = {
        from->tenant, from->boundary_id, from->agent_id, from->since, from->until, from->at};
    size_t at = 0;

    b->texts = writ_buf_make(WRIT_BUNDLE_LINE_MAX);
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        writ_buf_put(&b->texts, views[i]);
    }
    writ_buf_byte(&b->texts, '\0');
    WRIT_TRY(writ_buf_check(&b->texts, err));
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        if (views[i].ptr != NULL) {
            *to[i] = writ_view(b->texts.ptr + at, views[i].len);
            at += views[i].len;
        }
    }
    WRIT_TRY(read_time(from->since, "since", INT64_MIN, &b->since_us, err));
    WRIT_TRY(read_time(from->until, "until", INT64_MAX, &b->until_us, err));
    return read_time(from->at, "at", 0, &b->at_us, err);
}

WRIT_RESULT
writ_bundle_begin(const struct writ_bundle_select *select, struct writ_view keys,
    struct writ_view note, const struct writ_checkpoint *head, struct writ_buf *out,
    struct writ_bundle **ret, struct writ_err *err)
{
    struct writ_bundle *b = writ_alloc(sizeof *b);
    writ_result result = {WRIT_E_NOMEM};

    if (b != NULL) {
        b->head = *head;
        b->arena = writ_arena_new(RECORD_ARENA);
    }
    if (b != NULL && b->arena != NULL) {
        result = keep_select(b, select, err);
    }
    if (writ_is_ok(result)) {
        result = writ_digest_stream_init(&b->bytes, err);
    }
    if (writ_is_ok(result)) {
        result = put_begin(b, keys, note, out, err);
    }
    if (!writ_is_ok(result)) {
        writ_bundle_free(b);
        return result;
    }
    *ret = b;
    return WRIT_DONE;
}

void
writ_bundle_free(struct writ_bundle *b)
{
    if (b == NULL) {
        return;
    }
    while (b->oldest_run != NULL) {
        struct run *run = b->oldest_run;

        b->oldest_run = run->newer;
        run_free(run);
    }
    while (b->oldest != NULL) {
        struct call *call = b->oldest;

        b->oldest = call->newer;
        call_free(call);
    }
    writ_digest_stream_wipe(&b->bytes);
    writ_arena_free(b->arena);
    writ_buf_wipe(&b->texts);
    writ_free(b);
}

uint64_t
writ_bundle_next(const struct writ_bundle *b)
{
    return b->edge.size;
}

/* ---- what a record means ---- */

static struct writ_view
boundary_of(const struct writ_held *held)
{
    switch (held->kind) {
    case WRIT_HELD_DECISION:
        return held->decision.boundary_id.view;
    case WRIT_HELD_OUTCOME:
        return held->outcome.boundary_id.view;
    case WRIT_HELD_SEAL:
        return held->seal.boundary_id.view;
    case WRIT_HELD_REVIEW:
        return held->review.boundary_id.view;
    case WRIT_HELD_NONE:
        break;
    }
    return WRIT_LIT("");
}

static struct writ_view
time_of(const struct writ_held *held)
{
    switch (held->kind) {
    case WRIT_HELD_DECISION:
        return held->decision.issued_at.view;
    case WRIT_HELD_OUTCOME:
        return held->outcome.completed_at.view;
    case WRIT_HELD_SEAL:
        return held->seal.sealed_at.view;
    case WRIT_HELD_REVIEW:
        return held->review.at.view;
    case WRIT_HELD_NONE:
        break;
    }
    return WRIT_LIT("");
}

/* Whether a record is what was asked for, as far as it says so itself. */
static bool
is_selected(const struct writ_bundle *b, const struct writ_held *held, struct writ_view tenant)
{
    int64_t at_us = 0;

    if (b->select.boundary_id.ptr != NULL &&
        !writ_view_equal(b->select.boundary_id, boundary_of(held))) {
        return false;
    }
    if ((b->select.since.ptr != NULL || b->select.until.ptr != NULL) &&
        (!writ_member_time(time_of(held), &at_us) || at_us < b->since_us || at_us >= b->until_us)) {
        return false;
    }
    return held->kind != WRIT_HELD_DECISION ||
           ((b->select.agent_id.ptr == NULL ||
                writ_view_equal(b->select.agent_id, held->decision.agent_id.view)) &&
               (b->select.tenant.ptr == NULL || writ_view_equal(b->select.tenant, tenant)));
}

static WRIT_RESULT
take_decision(struct writ_bundle *b, const struct writ_held *held, struct writ_view tenant,
    struct writ_view body, struct writ_buf *out, struct writ_err *err)
{
    const struct writ_decision *d = &held->decision;
    struct run *run = NULL;
    struct call *call;
    size_t bucket;

    b->report.decisions++;
    if (d->boundary_id.is == WRIT_PRESENT && d->seq.is == WRIT_PRESENT) {
        WRIT_TRY(run_find(b, tenant, d->boundary_id.view, &run, err));
        if (run == NULL) {
            WRIT_TRY(run_add(b, tenant, d->boundary_id.view, &run, err));
        }
        WRIT_TRY(run_place(run, (uint64_t)d->seq.value,
            d->running_count.is == WRIT_PRESENT && d->running_count.value == d->seq.value + 1,
            d->decision_id.view, err));
    }
    if (d->supersedes.is == WRIT_PRESENT) {
        WRIT_TRY(call_find(b, d->supersedes.view, &call, &bucket, err));
        if (call != NULL) {
            WRIT_TRY(put_phase(b, call, NULL, d, out, err));
            WRIT_TRY(call_drop(b, call, err));
        }
    }
    WRIT_TRY(call_add(b, d->decision_id.view, body, &call, err));
    call->profile = held->profile;
    call->run = run;
    call->waits = writ_decision_is(d, WRIT_DECISION_REQUIRE_APPROVAL);
    return WRIT_DONE;
}

static WRIT_RESULT
take_outcome(struct writ_bundle *b, const struct writ_held *held, struct writ_view body,
    struct writ_buf *out, enum writ_reason *ret_why, struct writ_err *err)
{
    struct writ_held decision;
    struct call *call;
    size_t bucket;

    b->report.outcomes++;
    WRIT_TRY(call_find(b, held->outcome.decision_id.view, &call, &bucket, err));
    if (call == NULL || call->outcome.len > 0) {
        b->report.unmatched++;
        return WRIT_DONE;
    }
    if (!call->is_withheld) {
        WRIT_TRY(reread_decision(b, call, &decision, err));
        WRIT_TRY(writ_held_join(held, &decision, ret_why, err));
        if (*ret_why != WRIT_REASON_EVIDENCE_OK) {
            return WRIT_DONE;
        }
    }
    if (call->waits) {
        return keep(&call->outcome, body, err);
    }
    WRIT_TRY(put_phase(b, call, &held->outcome, NULL, out, err));
    return call_drop(b, call, err);
}

static WRIT_RESULT
take_seal(struct writ_bundle *b, const struct writ_held *held, struct writ_err *err)
{
    struct run *run = NULL;

    b->report.seals++;
    WRIT_TRY(run_of_seal(b, held->seal.boundary_id.view, held->seal.seal_hash.view, &run, err));
    if (run == NULL) {
        WRIT_TRY(run_add(b, WRIT_LIT(""), held->seal.boundary_id.view, &run, err));
    }
    return run_seal(run, &held->seal, err);
}

static WRIT_RESULT
take(struct writ_bundle *b, const struct writ_held *held, struct writ_view body,
    struct writ_buf *out, enum writ_reason *ret_why, struct writ_err *err)
{
    struct writ_extension extension = {0};
    struct writ_view tenant = WRIT_LIT("");

    if (held->kind == WRIT_HELD_DECISION) {
        WRIT_TRY(writ_extension_read(&held->decision.extensions, b->arena, &extension, err));
        tenant = extension.tenant.is == WRIT_PRESENT ? extension.tenant.view : tenant;
    }
    if (!is_selected(b, held, tenant)) {
        *ret_why = WRIT_REASON_RECORD_FOREIGN;
        return WRIT_DONE;
    }
    switch (held->kind) {
    case WRIT_HELD_DECISION:
        return take_decision(b, held, tenant, body, out, err);
    case WRIT_HELD_OUTCOME:
        return take_outcome(b, held, body, out, ret_why, err);
    case WRIT_HELD_SEAL:
        return take_seal(b, held, err);
    case WRIT_HELD_REVIEW:
        b->report.reviews++;
        break;
    case WRIT_HELD_NONE:
        break;
    }
    return WRIT_DONE;
}

/* A leaf of the bundle is the next one. */
static void
show(struct writ_bundle *b)
{
    b->report.inside += b->has_shown ? b->after_shown : 0;
    b->after_shown = 0;
    b->has_shown = true;
}

static WRIT_RESULT
read_body(struct writ_bundle *b, enum writ_held_kind kind, struct writ_view body,
    struct writ_held *ret, enum writ_reason *ret_why, struct writ_err *err)
{
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *value = NULL;
    writ_result result;

    limits.bytes = WRIT_RECORD_MAX_BYTES;
    result = writ_json_read(body, &limits, b->arena, &value, err);
    if (result.code == WRIT_E_PARSE || result.code == WRIT_E_LIMIT) {
        *ret_why = WRIT_REASON_RECORD_INVALID;
        return WRIT_DONE;
    }
    WRIT_TRY(result);
    return writ_held_read(value, kind, b->arena, ret, ret_why, err);
}

WRIT_RESULT
writ_bundle_record(struct writ_bundle *b, enum writ_held_kind kind, struct writ_view body,
    struct writ_buf *out, enum writ_reason *ret_why, struct writ_err *err)
{
    struct writ_write w = writ_write_to(out);
    size_t from = out->len;
    struct writ_held held;

    writ_arena_reset(b->arena);
    WRIT_TRY(read_body(b, kind, body, &held, ret_why, err));
    if (*ret_why != WRIT_REASON_EVIDENCE_OK) {
        return WRIT_DONE;
    }
    begin_leaf(&w, b, writ_held_kind_name(kind));
    writ_write_name(&w, WRIT_LIT("record"));
    writ_write_raw(&w, body);
    end_line(&w);
    WRIT_TRY(writ_tree_append(&b->edge, &held.leaf, err));
    b->report.records++;
    show(b);
    WRIT_TRY(take(b, &held, body, out, ret_why, err));
    return *ret_why == WRIT_REASON_EVIDENCE_OK ? written(b, out, from, err) : WRIT_DONE;
}

WRIT_RESULT
writ_bundle_withhold(struct writ_bundle *b, const struct writ_bundle_withheld *withheld,
    struct writ_buf *out, struct writ_err *err)
{
    struct writ_write w = writ_write_to(out);
    size_t from = out->len, bucket;
    struct run *run = NULL;
    struct call *call = NULL;

    begin_leaf(&w, b, WRIT_LIT("withheld"));
    writ_write_text(&w, "of", writ_held_kind_name(withheld->kind));
    put_digest(&w, &withheld->leaf);
    if (withheld->decision_id.ptr != NULL) {
        writ_write_text(&w, "decision_id", withheld->decision_id);
    }
    if (withheld->kind == WRIT_HELD_DECISION) {
        writ_write_text(&w, "tenant", withheld->tenant);
        writ_write_text(&w, "boundary_id", withheld->boundary_id);
        writ_write_count(&w, "seq", withheld->seq);
    }
    end_line(&w);
    WRIT_TRY(writ_tree_append(&b->edge, &withheld->leaf, err));
    b->report.withheld++;
    show(b);
    if (withheld->kind == WRIT_HELD_DECISION) {
        WRIT_TRY(run_find(b, withheld->tenant, withheld->boundary_id, &run, err));
        if (run == NULL) {
            WRIT_TRY(run_add(b, withheld->tenant, withheld->boundary_id, &run, err));
        }
        WRIT_TRY(run_place(run, withheld->seq, true, withheld->decision_id, err));
        WRIT_TRY(call_add(b, withheld->decision_id, WRIT_LIT(""), &call, err));
        call->is_withheld = true;
        call->run = run;
    } else if (withheld->kind == WRIT_HELD_OUTCOME) {
        WRIT_TRY(call_find(b, withheld->decision_id, &call, &bucket, err));
        if (call != NULL) { /* what became of it is not shown */
            WRIT_TRY(call_drop(b, call, err));
        }
    }
    return written(b, out, from, err);
}

WRIT_RESULT
writ_bundle_node(struct writ_bundle *b, unsigned level, const struct writ_digest *digest,
    struct writ_buf *out, struct writ_err *err)
{
    struct writ_write w = writ_write_to(out);
    size_t from = out->len;

    begin_leaf(&w, b, WRIT_LIT("node"));
    writ_write_count(&w, "level", level);
    put_digest(&w, digest);
    end_line(&w);
    WRIT_TRY(writ_tree_append_node(&b->edge, level, digest, err));
    b->report.skipped += UINT64_C(1) << level;
    b->after_shown += UINT64_C(1) << level;
    return written(b, out, from, err);
}

/* ---- the end ---- */

static void
put_named(struct writ_write *w, const char *name, const struct named *named)
{
    if (named->total == 0) {
        return;
    }
    writ_write_name(w, writ_view_str(name));
    writ_write_object_begin(w);
    writ_write_count(w, "total", named->total);
    writ_write_name(w, WRIT_LIT("seqs"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < named->n; i++) {
        writ_write_array_begin(w);
        writ_write_u64(w, named->first[i]);
        writ_write_u64(w, named->last[i]);
        writ_write_array_end(w);
    }
    writ_write_array_end(w);
    writ_write_object_end(w);
}

static void
put_run(struct writ_write *w, const struct run *run)
{
    writ_write_object_begin(w);
    writ_write_text(w, "boundary", run->name);
    writ_write_text(w, "tenant", run->tenant);
    writ_write_count(w, "held", run->held);
    writ_write_flag(w, "sealed", run->is_sealed);
    if (run->seal_differs) {
        writ_write_flag(w, "seal_differs", true);
    }
    if (run->flaws != NULL) {
        put_named(w, "missing", &run->flaws->missing);
        put_named(w, "double", &run->flaws->doubles);
        put_named(w, "miscounted", &run->flaws->miscounted);
    }
    writ_write_object_end(w);
}

/* Counts the runs that lack something, and names the first of them. */
static void
put_runs(struct writ_write *w, struct writ_bundle *b)
{
    size_t named = 0;

    writ_write_name(w, WRIT_LIT("boundaries_named"));
    writ_write_array_begin(w);
    for (const struct run *run = b->oldest_run; run != NULL; run = run->newer) {
        b->report.faulty += is_faulty(run) ? 1 : 0;
        b->report.unsealed += run->is_sealed ? 0 : 1;
        if ((is_faulty(run) || !run->is_sealed) && named < WRIT_BUNDLE_FAULTY) {
            put_run(w, run);
            named++;
        }
    }
    writ_write_array_end(w);
}

static WRIT_RESULT
put_end(struct writ_bundle *b, struct writ_buf *out, struct writ_err *err)
{
    struct writ_write w = writ_write_to(out);
    struct writ_bundle_report *r = &b->report;
    struct writ_digest digest;
    writ_auto_buf hex = writ_buf_make(2 * WRIT_DIGEST_BYTES);

    WRIT_TRY(writ_digest_stream_now(&b->bytes, &digest, err));
    writ_hex_put(&hex, digest.bytes, sizeof digest.bytes);
    writ_write_object_begin(&w);
    writ_write_text(&w, "kind", WRIT_LIT("end"));
    writ_write_count(&w, "records", r->records);
    writ_write_count(&w, "decisions", r->decisions);
    writ_write_count(&w, "outcomes", r->outcomes);
    writ_write_count(&w, "seals", r->seals);
    writ_write_count(&w, "review_events", r->reviews);
    writ_write_count(&w, "withheld", r->withheld);
    writ_write_count(&w, "skipped", r->skipped);
    writ_write_count(&w, "skipped_inside", r->inside);
    writ_write_count(&w, "unmatched_outcomes", r->unmatched);
    writ_write_count(&w, "in_flight", r->in_flight);
    put_runs(&w, b);
    writ_write_count(&w, "boundaries", r->boundaries);
    writ_write_count(&w, "faulty", r->faulty);
    writ_write_count(&w, "unsealed", r->unsealed);
    writ_write_text(&w, "sha256", writ_buf_view(&hex));
    end_line(&w);
    return writ_buf_check(out, err);
}

/* The calls that nothing has ended. */
static WRIT_RESULT
put_calls(struct writ_bundle *b, struct writ_buf *out, struct writ_err *err)
{
    size_t from = out->len;

    for (const struct call *call = b->oldest; call != NULL; call = call->newer) {
        writ_arena_reset(b->arena);
        b->report.in_flight += call->outcome.len == 0 && !call->is_withheld ? 1 : 0;
        WRIT_TRY(put_phase(b, call, NULL, NULL, out, err));
    }
    return written(b, out, from, err);
}

WRIT_RESULT
writ_bundle_end(struct writ_bundle *b, struct writ_buf *out, struct writ_bundle_report *ret,
    enum writ_reason *ret_why, struct writ_err *err)
{
    struct writ_digest root;

    WRIT_TRY(writ_tree_root(&b->edge, &root, err));
    if (b->edge.size != b->head.size || !writ_digest_equal(&root, &b->head.root)) {
        *ret_why = WRIT_REASON_RECORD_NOT_IN_LOG;
        (void)writ_fail(err, WRIT_E_MISMATCH, "the lines are not those of the checkpoint's tree");
        return WRIT_DONE;
    }
    WRIT_TRY(put_calls(b, out, err));
    WRIT_TRY(put_end(b, out, err));
    *ret = b->report;
    *ret_why = WRIT_REASON_EVIDENCE_OK;
    return WRIT_DONE;
}
