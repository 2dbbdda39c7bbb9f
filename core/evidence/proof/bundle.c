/* (1) `edge` is the tree of all leaves so far; `bytes` the digest of all lines so far. */
#include "evidence/proof/bundle.h"

#include "base/clock.h"
#include "evidence/proof/bundle_live.h"
#include "evidence/record/extension.h"
#include "evidence/proof/decision_validity.h"
#include "evidence/json/write.h"

#define RECORD_ARENA ((size_t)128 << 20)

struct writ_bundle {
    struct writ_bundle_select select;
    int64_t since_us, until_us, at_us;
    struct writ_buf texts; /* of the selection */
    struct writ_checkpoint head;
    struct writ_tree_edge edge;
    struct writ_digest_stream bytes;
    struct writ_arena *arena; /* one record */
    struct writ_bundle_live live;
    bool has_shown;       /* a record */
    uint64_t after_shown; /* leaves skipped since the last disclosed record */
    struct writ_bundle_report report;
};

/* ---- phases ---- */

/* Reads a kept record again; it was valid when it was kept. */
static WRIT_RESULT
reread(struct writ_bundle *b, const struct writ_buf *body, const struct writ_json **ret,
    struct writ_err *err)
{
    struct writ_json_limits limits = writ_json_limits_default;

    limits.bytes = WRIT_RECORD_MAX_BYTES;
    return writ_json_read(writ_buf_view(body), &limits, b->arena, ret, err);
}

static WRIT_RESULT
reread_decision(struct writ_bundle *b, const struct writ_bundle_call *call,
    struct writ_detached_record *ret, struct writ_err *err)
{
    const struct writ_json *value = NULL;

    WRIT_TRY(reread(b, &call->body, &value, err));
    *ret = (struct writ_detached_record){
        .kind = WRIT_DETACHED_RECORD_DECISION, .profile = call->profile};
    return writ_decision_read(value, b->arena, &ret->decision, err);
}

/* Appends the phase of a call at the time of the selection. */
static WRIT_RESULT
put_phase(struct writ_bundle *b, const struct writ_bundle_call *call,
    const struct writ_outcome *outcome, const struct writ_decision *successor, struct writ_buf *out,
    struct writ_err *err)
{
    struct writ_decision_validity_facts facts = {.outcome = outcome, .successor = successor};
    struct writ_outcome kept = {0};
    struct writ_detached_record decision;
    struct writ_write w;
    enum writ_decision_validity phase;

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
    phase = writ_decision_validity_at(&decision.decision, &facts, b->at_us);
    w = writ_write_to(out);
    writ_write_object_begin(&w);
    writ_write_text(&w, "kind", WRIT_LIT("phase"));
    writ_write_text(&w, "decision_id", writ_buf_view(&call->id));
    writ_write_text(&w, "phase", writ_decision_validity_name(phase));
    writ_write_flag(&w, "whole", call->run != NULL && !writ_bundle_live_is_faulty(call->run));
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
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

/* Adds the lines from `from` on to the digest; keeps (1) */
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
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
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
    WRIT_IGNORE(writ_write_end(w, NULL)); /* the buffer keeps the failure */
    writ_buf_byte(out, '\n');
}

/* ---- beginning, ending ---- */

static WRIT_RESULT
read_time(
    struct writ_view text, const char *name, int64_t otherwise, int64_t *ret, struct writ_err *err)
{
    *ret = otherwise;
    if (text.ptr != NULL && !writ_is_ok(writ_time_read(text, ret))) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s is not a time such as 2026-06-25T05:00:00Z", name);
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
    writ_bundle_live_wipe(&b->live);
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

/* ---- the contents of a record ---- */

static struct writ_view
boundary_of(const struct writ_detached_record *record)
{
    switch (record->kind) {
    case WRIT_DETACHED_RECORD_DECISION:
        return record->decision.boundary_id.view;
    case WRIT_DETACHED_RECORD_OUTCOME:
        return record->outcome.boundary_id.view;
    case WRIT_DETACHED_RECORD_SEAL:
        return record->seal.boundary_id.view;
    case WRIT_DETACHED_RECORD_REVIEW:
        return record->review.boundary_id.view;
    case WRIT_DETACHED_RECORD_NONE:
        break;
    }
    return WRIT_LIT("");
}

static struct writ_view
time_of(const struct writ_detached_record *record)
{
    switch (record->kind) {
    case WRIT_DETACHED_RECORD_DECISION:
        return record->decision.issued_at.view;
    case WRIT_DETACHED_RECORD_OUTCOME:
        return record->outcome.completed_at.view;
    case WRIT_DETACHED_RECORD_SEAL:
        return record->seal.sealed_at.view;
    case WRIT_DETACHED_RECORD_REVIEW:
        return record->review.at.view;
    case WRIT_DETACHED_RECORD_NONE:
        break;
    }
    return WRIT_LIT("");
}

/* Whether a record matches the selection by its own members. */
static bool
is_selected(
    const struct writ_bundle *b, const struct writ_detached_record *record, struct writ_view tenant)
{
    int64_t at_us = 0;

    if (b->select.boundary_id.ptr != NULL &&
        !writ_view_equal(b->select.boundary_id, boundary_of(record))) {
        return false;
    }
    if ((b->select.since.ptr != NULL || b->select.until.ptr != NULL) &&
        (!writ_member_time(time_of(record), &at_us) || at_us < b->since_us ||
            at_us >= b->until_us)) {
        return false;
    }
    return record->kind != WRIT_DETACHED_RECORD_DECISION ||
           ((b->select.agent_id.ptr == NULL ||
                writ_view_equal(b->select.agent_id, record->decision.agent_id.view)) &&
               (b->select.tenant.ptr == NULL || writ_view_equal(b->select.tenant, tenant)));
}

/* Appends the line for a second call under one key. */
static void
put_twice(struct writ_bundle *b, struct writ_view decision_id, uint64_t first, struct writ_buf *out)
{
    struct writ_write w = writ_write_to(out);

    writ_write_object_begin(&w);
    writ_write_text(&w, "kind", WRIT_LIT("twice"));
    writ_write_text(&w, "decision_id", decision_id);
    writ_write_count(&w, "first", first);
    end_line(&w);
    b->report.twice++;
}

static WRIT_RESULT
take_claim(struct writ_bundle *b, const struct writ_decision *d,
    const struct writ_extension *extension, struct writ_bundle_claim *claim, struct writ_buf *out,
    struct writ_err *err)
{
    bool is_twice = false;
    uint64_t first = 0;

    WRIT_TRY(writ_bundle_keys_claim(
        &b->live.keys, d, extension, b->edge.size - 1, claim, &is_twice, &first, err));
    if (is_twice) {
        put_twice(b, d->decision_id.view, first, out);
    }
    return WRIT_DONE;
}

/* A call that was allowed under a review is the one that it approved. */
static WRIT_RESULT
check_approval(struct writ_bundle *b, const struct writ_bundle_call *call,
    const struct writ_decision *next, enum writ_reason *ret_why, struct writ_err *err)
{
    struct writ_detached_record before;

    if (call->approved == NULL || call->is_withheld) {
        return WRIT_DONE;
    }
    WRIT_TRY(reread_decision(b, call, &before, err));
    return writ_approved_call_judge(call->approved, &before.decision, next, ret_why, err);
}

static WRIT_RESULT
take_review(struct writ_bundle *b, const struct writ_review_record *review, struct writ_err *err)
{
    struct writ_approved_call *approved;
    struct writ_bundle_call *call;

    b->report.reviews++;
    WRIT_TRY(writ_bundle_live_find(&b->live, review->decision_id.view, &call, err));
    if (call == NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_bundle_live_approved(call, &approved, err));
    return writ_approved_call_hear(approved, review, err);
}

static WRIT_RESULT
take_decision(struct writ_bundle *b, const struct writ_detached_record *record,
    const struct writ_extension *extension, struct writ_view body, struct writ_buf *out,
    enum writ_reason *ret_why, struct writ_err *err)
{
    const struct writ_decision *d = &record->decision;
    struct writ_view tenant =
        extension->tenant.is == WRIT_PRESENT ? extension->tenant.view : WRIT_LIT("");
    struct writ_bundle_claim claim = {0};
    struct writ_bundle_run *run = NULL;
    struct writ_bundle_call *call;

    b->report.decisions++;
    if (d->boundary_id.is == WRIT_PRESENT && d->seq.is == WRIT_PRESENT) {
        WRIT_TRY(writ_bundle_live_run(&b->live, tenant, d->boundary_id.view, &run, err));
        WRIT_TRY(writ_bundle_live_place(run, (uint64_t)d->seq.value,
            d->running_count.is == WRIT_PRESENT && d->running_count.value == d->seq.value + 1,
            d->decision_id.view, err));
    }
    if (d->supersedes.is == WRIT_PRESENT) {
        WRIT_TRY(writ_bundle_live_find(&b->live, d->supersedes.view, &call, err));
        if (call != NULL) {
            WRIT_TRY(check_approval(b, call, d, ret_why, err));
            if (*ret_why != WRIT_REASON_EVIDENCE_OK) {
                return WRIT_DONE;
            }
            WRIT_TRY(put_phase(b, call, NULL, d, out, err));
            claim = call->claim; /* another round follows under it */
            WRIT_TRY(writ_bundle_live_drop(&b->live, call, err));
        }
    }
    WRIT_TRY(take_claim(b, d, extension, &claim, out, err));
    WRIT_TRY(writ_bundle_live_add(&b->live, d->decision_id.view, body, &call, err));
    call->profile = record->profile;
    call->run = run;
    call->claim = claim;
    call->waits = writ_decision_is(d, WRIT_DECISION_REQUIRE_APPROVAL);
    return WRIT_DONE;
}

static WRIT_RESULT
take_outcome(struct writ_bundle *b, const struct writ_detached_record *record,
    struct writ_view body, struct writ_buf *out, enum writ_reason *ret_why, struct writ_err *err)
{
    struct writ_detached_record decision;
    struct writ_bundle_call *call;

    b->report.outcomes++;
    WRIT_TRY(writ_bundle_live_find(&b->live, record->outcome.decision_id.view, &call, err));
    if (call == NULL || call->outcome.len > 0) {
        b->report.unmatched++;
        return WRIT_DONE;
    }
    if (!call->is_withheld) {
        WRIT_TRY(reread_decision(b, call, &decision, err));
        WRIT_TRY(writ_detached_record_join(record, &decision, ret_why, err));
        if (*ret_why != WRIT_REASON_EVIDENCE_OK) {
            return WRIT_DONE;
        }
    }
    if (call->waits) {
        return writ_bundle_live_keep(call, body, err);
    }
    if (writ_outcome_nothing_ran(&record->outcome)) {
        writ_bundle_keys_release(&b->live.keys, &call->claim);
    }
    WRIT_TRY(put_phase(b, call, &record->outcome, NULL, out, err));
    return writ_bundle_live_drop(&b->live, call, err);
}

static WRIT_RESULT
take(struct writ_bundle *b, const struct writ_detached_record *record, struct writ_view body,
    struct writ_buf *out, enum writ_reason *ret_why, struct writ_err *err)
{
    struct writ_extension extension = {0};
    struct writ_view tenant = WRIT_LIT("");

    if (record->kind == WRIT_DETACHED_RECORD_DECISION) {
        WRIT_TRY(writ_extension_read(&record->decision.extensions, b->arena, &extension, err));
        tenant = extension.tenant.is == WRIT_PRESENT ? extension.tenant.view : tenant;
    }
    if (!is_selected(b, record, tenant)) {
        *ret_why = WRIT_REASON_RECORD_FOREIGN;
        return WRIT_DONE;
    }
    switch (record->kind) {
    case WRIT_DETACHED_RECORD_DECISION:
        return take_decision(b, record, &extension, body, out, ret_why, err);
    case WRIT_DETACHED_RECORD_OUTCOME:
        return take_outcome(b, record, body, out, ret_why, err);
    case WRIT_DETACHED_RECORD_SEAL:
        b->report.seals++;
        return writ_bundle_live_seal(&b->live, &record->seal, err);
    case WRIT_DETACHED_RECORD_REVIEW:
        return take_review(b, &record->review, err);
    case WRIT_DETACHED_RECORD_NONE:
        break;
    }
    return WRIT_DONE;
}

/* The next leaf is a record of the bundle. */
static void
show(struct writ_bundle *b)
{
    b->report.inside += b->has_shown ? b->after_shown : 0;
    b->after_shown = 0;
    b->has_shown = true;
}

static WRIT_RESULT
read_body(struct writ_bundle *b, enum writ_detached_record_kind kind, struct writ_view body,
    struct writ_detached_record *ret, enum writ_reason *ret_why, struct writ_err *err)
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
    return writ_detached_record_read(value, kind, b->arena, ret, ret_why, err);
}

WRIT_RESULT
writ_bundle_record(struct writ_bundle *b, enum writ_detached_record_kind kind,
    struct writ_view body, struct writ_buf *out, enum writ_reason *ret_why, struct writ_err *err)
{
    struct writ_write w = writ_write_to(out);
    size_t from = out->len;
    struct writ_detached_record record;

    writ_arena_reset(b->arena);
    WRIT_TRY(read_body(b, kind, body, &record, ret_why, err));
    if (*ret_why != WRIT_REASON_EVIDENCE_OK) {
        return WRIT_DONE;
    }
    begin_leaf(&w, b, writ_detached_record_kind_name(kind));
    writ_write_name(&w, WRIT_LIT("record"));
    writ_write_raw(&w, body);
    end_line(&w);
    WRIT_TRY(writ_tree_append(&b->edge, &record.leaf, err));
    b->report.records++;
    show(b);
    WRIT_TRY(take(b, &record, body, out, ret_why, err));
    return *ret_why == WRIT_REASON_EVIDENCE_OK ? written(b, out, from, err) : WRIT_DONE;
}

WRIT_RESULT
writ_bundle_withhold(struct writ_bundle *b, const struct writ_bundle_withheld *withheld,
    struct writ_buf *out, struct writ_err *err)
{
    struct writ_write w = writ_write_to(out);
    size_t from = out->len;
    struct writ_bundle_run *run = NULL;
    struct writ_bundle_call *call = NULL;

    begin_leaf(&w, b, WRIT_LIT("withheld"));
    writ_write_text(&w, "of", writ_detached_record_kind_name(withheld->kind));
    put_digest(&w, &withheld->leaf);
    if (withheld->decision_id.ptr != NULL) {
        writ_write_text(&w, "decision_id", withheld->decision_id);
    }
    if (withheld->kind == WRIT_DETACHED_RECORD_DECISION) {
        writ_write_text(&w, "tenant", withheld->tenant);
        writ_write_text(&w, "boundary_id", withheld->boundary_id);
        writ_write_count(&w, "seq", withheld->seq);
    }
    end_line(&w);
    WRIT_TRY(writ_tree_append(&b->edge, &withheld->leaf, err));
    b->report.withheld++;
    show(b);
    if (withheld->kind == WRIT_DETACHED_RECORD_DECISION) {
        WRIT_TRY(
            writ_bundle_live_run(&b->live, withheld->tenant, withheld->boundary_id, &run, err));
        WRIT_TRY(writ_bundle_live_place(run, withheld->seq, true, withheld->decision_id, err));
        WRIT_TRY(writ_bundle_live_add(&b->live, withheld->decision_id, WRIT_LIT(""), &call, err));
        call->is_withheld = true;
        call->run = run;
    } else if (withheld->kind == WRIT_DETACHED_RECORD_OUTCOME) {
        WRIT_TRY(writ_bundle_live_find(&b->live, withheld->decision_id, &call, err));
        if (call != NULL) { /* its outcome is withheld */
            writ_bundle_keys_release(&b->live.keys, &call->claim);
            WRIT_TRY(writ_bundle_live_drop(&b->live, call, err));
        }
    } else if (withheld->kind == WRIT_DETACHED_RECORD_REVIEW) {
        struct writ_approved_call *approved;

        WRIT_TRY(writ_bundle_live_find(&b->live, withheld->decision_id, &call, err));
        if (call != NULL) {
            WRIT_TRY(writ_bundle_live_approved(call, &approved, err));
            approved->is_hidden = true;
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
put_named(struct writ_write *w, const char *name, const struct writ_bundle_named *named)
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
put_run(struct writ_write *w, const struct writ_bundle_run *run)
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

    b->report.boundaries = b->live.runs_n;
    writ_write_name(w, WRIT_LIT("boundaries_named"));
    writ_write_array_begin(w);
    for (const struct writ_bundle_run *run = b->live.oldest_run; run != NULL; run = run->newer) {
        b->report.faulty += writ_bundle_live_is_faulty(run) ? 1 : 0;
        b->report.unsealed += run->is_sealed ? 0 : 1;
        if ((writ_bundle_live_is_faulty(run) || !run->is_sealed) && named < WRIT_BUNDLE_FAULTY) {
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
    WRIT_TRY(writ_buf_check(&hex, err));
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
    writ_write_count(&w, "twice", r->twice);
    put_runs(&w, b);
    writ_write_count(&w, "boundaries", r->boundaries);
    writ_write_count(&w, "faulty", r->faulty);
    writ_write_count(&w, "unsealed", r->unsealed);
    writ_write_text(&w, "sha256", writ_buf_view(&hex));
    end_line(&w);
    return writ_buf_check(out, err);
}

/* The calls without an end. */
static WRIT_RESULT
put_calls(struct writ_bundle *b, struct writ_buf *out, struct writ_err *err)
{
    size_t from = out->len;

    for (const struct writ_bundle_call *call = b->live.oldest_call; call != NULL;
         call = call->newer) {
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
        (void)writ_fail(err, WRIT_E_MISMATCH, "the lines do not give the tree of the checkpoint");
        return WRIT_DONE;
    }
    WRIT_TRY(put_calls(b, out, err));
    WRIT_TRY(put_end(b, out, err));
    *ret = b->report;
    *ret_why = WRIT_REASON_EVIDENCE_OK;
    return WRIT_DONE;
}
