/* run.c - see run.h. Everything of a run is in one arena. A record that cannot be read leaves the
 * run with all labels that it had, and without marks of that record: unknown is untrusted. */
#include "evidence/flow/run.h"

#include "base/clock.h"
#include "evidence/record/reason.h"
#include "evidence/record/record.h"

#define MEMORY_MAX ((size_t)4 << 20)
#define RECORD_MAX ((size_t)40 << 20) /* arena of one record that is read */

static const struct {
    struct writ_view name;
    enum writ_source source;
} sources[] = {{{"task", 4}, WRIT_SOURCE_TASK}, {{"operator", 8}, WRIT_SOURCE_OPERATOR},
    {{"trusted", 7}, WRIT_SOURCE_TRUSTED}, {{"approved", 8}, WRIT_SOURCE_APPROVED},
    {{"untrusted", 9}, WRIT_SOURCE_UNTRUSTED}};

struct grant {
    struct writ_view name; /* "upstream/tool", or a pattern */
    struct grant *next;
};

/* The tools that one statement of the task names. A call must be in all of them. */
struct grants {
    struct grant *first;
    struct grants *next;
};

struct writ_run {
    struct writ_arena *arena;
    struct writ_view labels[WRIT_RUN_LABELS];
    size_t labels_n;
    struct writ_run_marks *marks;
    size_t bytes; /* of the marks, with their places */
    struct writ_run_call *calls;
    size_t calls_n;
    struct writ_view task;
    struct grants *grants;
    size_t grants_n;
    bool cut, blind;
};

struct writ_view
writ_run_source_name(enum writ_source source)
{
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        if (sources[i].source == source) {
            return sources[i].name;
        }
    }
    return writ_view(NULL, 0);
}

unsigned
writ_run_source_named(struct writ_view name)
{
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        if (writ_view_equal(sources[i].name, name)) {
            return sources[i].source;
        }
    }
    return 0;
}

WRIT_RESULT
writ_run_new(struct writ_run **ret, struct writ_err *err)
{
    struct writ_run *run = writ_alloc(sizeof *run);
    struct writ_arena *arena = writ_arena_new_small(MEMORY_MAX);

    if (run == NULL || arena == NULL) {
        writ_free(run);
        writ_arena_free(arena);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the state of a run");
    }
    *run = (struct writ_run){.arena = arena};
    *ret = run;
    return WRIT_DONE;
}

void
writ_run_free(struct writ_run *run)
{
    if (run != NULL) {
        writ_arena_free(run->arena);
        writ_free(run);
    }
}

size_t
writ_run_size(const struct writ_run *run)
{
    return sizeof *run + run->bytes + run->calls_n * (sizeof(struct writ_run_call) + 128);
}

/* ---- labels ---- */

WRIT_RESULT
writ_run_add_label(struct writ_run *run, struct writ_view label)
{
    size_t at = 0;
    struct writ_view kept;

    while (at < run->labels_n && writ_view_compare(run->labels[at], label) < 0) {
        at++;
    }
    if (at < run->labels_n && writ_view_equal(run->labels[at], label)) {
        return WRIT_DONE;
    }
    if (run->labels_n == WRIT_RUN_LABELS || label.len > WRIT_RUN_LABEL_MAX) {
        return (writ_result){WRIT_E_LIMIT};
    }
    kept = writ_view_copy(label, run->arena);
    if (kept.ptr == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t i = run->labels_n++; i > at; i--) {
        run->labels[i] = run->labels[i - 1];
    }
    run->labels[at] = kept;
    return WRIT_DONE;
}

bool
writ_run_has(const struct writ_run *run, struct writ_view label)
{
    for (size_t i = 0; i < run->labels_n; i++) {
        if (writ_view_equal(run->labels[i], label)) {
            return true;
        }
    }
    return false;
}

bool
writ_run_is_blind(const struct writ_run *run)
{
    return run->blind;
}

size_t
writ_run_labels(const struct writ_run *run)
{
    return run->labels_n;
}

struct writ_view
writ_run_label(const struct writ_run *run, size_t i)
{
    return run->labels[i];
}

static WRIT_RESULT
add_labels(struct writ_run *run, const struct writ_json *labels)
{
    WRIT_JSON_EACH(label, labels)
    {
        WRIT_TRY(writ_run_add_label(run, writ_json_string(label)));
    }
    return WRIT_DONE;
}

/* ---- marks ---- */

/* Whether there is room for marks of that length; no value is found in marks that are left out. */
static bool
has_room(struct writ_run *run, const struct writ_run_marks *from, size_t len, size_t *ret_bytes)
{
    *ret_bytes = len + from->decision_id.len + from->at.len + sizeof(struct writ_run_marks);
    return len > 0 && run->bytes + *ret_bytes <= WRIT_RUN_MARKS_MAX;
}

/* Everything but `at` is in the memory of the run. */
static WRIT_RESULT
keep_marks(struct writ_run *run, const struct writ_run_marks *from, size_t bytes)
{
    struct writ_run_marks *marks = writ_arena_get(run->arena, sizeof *marks);
    struct writ_view at = writ_view_copy(from->at, run->arena);

    if (marks == NULL || at.ptr == NULL || from->marks.ptr == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    *marks = *from;
    marks->at = at;
    marks->next = run->marks;
    run->marks = marks;
    run->bytes += bytes;
    return WRIT_DONE;
}

/* `from` has the id of a decision in the memory of the run. */
static WRIT_RESULT
add_marks(struct writ_run *run, const struct writ_run_marks *from, struct writ_view text)
{
    size_t len = text.len / 4 * 3 + (text.len % 4 > 0 ? text.len % 4 - 1 : 0), bytes;
    struct writ_buf decoded = writ_buf_in(run->arena, len + 1);
    struct writ_run_marks marks = *from;

    if (!has_room(run, from, len, &bytes)) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_base64url_read(text, &decoded));
    WRIT_TRY(writ_buf_check(&decoded, NULL));
    marks.marks = writ_buf_view(&decoded);
    return keep_marks(run, &marks, bytes);
}

/* As add_marks, for marks that are no text. */
static WRIT_RESULT
add_field(struct writ_run *run, struct writ_view decision_id, const struct writ_field *field)
{
    struct writ_run_marks marks = {
        .source = field->trusted ? WRIT_SOURCE_TRUSTED : WRIT_SOURCE_UNTRUSTED,
        .decision_id = decision_id,
        .at = field->at};
    size_t bytes;

    if (!has_room(run, &marks, field->marks.len, &bytes)) {
        return WRIT_DONE;
    }
    marks.marks = writ_view_copy(field->marks, run->arena);
    return keep_marks(run, &marks, bytes);
}

static struct writ_view
text_of(const struct writ_json *object, const char *name)
{
    struct writ_view text = writ_json_string(writ_json_get(object, writ_view_str(name)));

    return text.ptr != NULL ? text : WRIT_LIT("");
}

static bool
is_under(const struct writ_json *flow, struct writ_view key)
{
    return writ_view_equal(text_of(flow, "key"), key);
}

const struct writ_run_marks *
writ_run_find(const struct writ_run *run, unsigned from, struct writ_view wanted)
{
    for (const struct writ_run_marks *marks = run->marks; marks != NULL; marks = marks->next) {
        if ((from & marks->source) != 0 && writ_mark_contains(marks->marks, wanted)) {
            return marks;
        }
    }
    return NULL;
}

const struct writ_run_marks *
writ_run_places(const struct writ_run *run)
{
    return run->marks;
}

/* ---- the task ---- */

static WRIT_RESULT
add_grants(struct writ_run *run, const struct writ_json *tools)
{
    struct grants *grants = writ_arena_zeroed(run->arena, sizeof *grants);

    if (grants == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_JSON_EACH(tool, tools)
    {
        struct grant *grant = writ_arena_get(run->arena, sizeof *grant);
        if (run->grants_n++ == WRIT_RUN_GRANTS_MAX) {
            return (writ_result){WRIT_E_LIMIT};
        }
        if (grant == NULL) {
            return (writ_result){WRIT_E_NOMEM};
        }
        *grant = (struct grant){writ_view_copy(writ_json_string(tool), run->arena), grants->first};
        grants->first = grant;
    }
    grants->next = run->grants;
    run->grants = grants;
    return WRIT_DONE;
}

static WRIT_RESULT
add_task(struct writ_run *run, const struct writ_json *task, bool readable)
{
    const struct writ_run_marks from = {
        .source = WRIT_SOURCE_TASK, .decision_id = WRIT_LIT(""), .at = WRIT_LIT("")};
    const struct writ_json *tools = writ_json_get_typed(task, WRIT_LIT("tools"), WRIT_JSON_ARRAY);

    if (task == NULL) {
        return WRIT_DONE;
    }
    run->task = writ_view_copy(text_of(task, "digest"), run->arena);
    if (tools != NULL) {
        WRIT_TRY(add_grants(run, tools));
    }
    return readable ? add_marks(run, &from, text_of(task, "marks")) : WRIT_DONE;
}

struct writ_view
writ_run_task(const struct writ_run *run)
{
    return run->task;
}

bool
writ_run_grants(const struct writ_run *run, writ_run_names names, struct writ_view tool)
{
    for (const struct grants *grants = run->grants; grants != NULL; grants = grants->next) {
        const struct grant *grant = grants->first;
        while (grant != NULL && !names(grant->name, tool)) {
            grant = grant->next;
        }
        if (grant == NULL) {
            return false;
        }
    }
    return true;
}

/* ---- calls ---- */

static WRIT_RESULT
read_record(struct writ_view text, struct writ_arena *arena, const struct writ_json **ret,
    struct writ_err *err)
{
    struct writ_json_limits limits = writ_json_limits_default;

    limits.bytes = WRIT_RECORD_MAX_BYTES;
    return writ_json_read(text, &limits, arena, ret, err);
}

static const struct writ_json *
ours(const struct writ_json *record)
{
    return writ_json_pointer(record, WRIT_LIT("/extensions/writ"));
}

static bool
was_let_through(const struct writ_json *record)
{
    return writ_json_is(writ_json_get(record, WRIT_LIT("decision")), WRIT_LIT("allow")) ||
           writ_json_is_true(ours(record), WRIT_LIT("shadow"));
}

/* A redeemed approval supersedes the decision that opened its review, and names it. */
static bool
was_approved(const struct writ_json *record)
{
    return text_of(record, "continuation_id").len > 0;
}

/* "/to" LF marks LF, one after the other. A pointer with a line feed in it names no argument that a
 * rule compares. */
static WRIT_RESULT
keep_arguments(struct writ_run *run, const struct writ_json *arguments, struct writ_run_call *call)
{
    struct writ_buf kept = writ_buf_in(run->arena, WRIT_RECORD_MAX_BYTES);

    WRIT_JSON_EACH(one, arguments)
    {
        if (writ_view_find(text_of(one, "argument"), '\n') < text_of(one, "argument").len) {
            continue;
        }
        writ_buf_put(&kept, text_of(one, "argument"));
        writ_buf_byte(&kept, '\n');
        writ_buf_put(&kept, text_of(one, "marks"));
        writ_buf_byte(&kept, '\n');
    }
    WRIT_TRY(writ_buf_check(&kept, NULL));
    call->arguments = writ_buf_view(&kept);
    run->bytes += kept.len;
    return WRIT_DONE;
}

static WRIT_RESULT
add_call(struct writ_run *run, const struct writ_run_decision *d, const struct writ_json *arguments)
{
    struct writ_run_call *call = writ_arena_zeroed(run->arena, sizeof *call);

    if (run->calls_n == WRIT_RUN_CALLS_MAX) {
        run->cut = true;
        return WRIT_DONE;
    }
    if (call == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    call->upstream = writ_view_copy(d->upstream, run->arena);
    call->tool = writ_view_copy(d->tool, run->arena);
    call->decision_id = writ_view_copy(d->decision_id, run->arena);
    call->issued_us = d->issued_us;
    if (call->upstream.ptr == NULL || call->tool.ptr == NULL || call->decision_id.ptr == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_TRY(keep_arguments(run, arguments, call));
    call->next = run->calls;
    run->calls = call;
    run->calls_n++;
    return WRIT_DONE;
}

static struct writ_run_call *
call_of(const struct writ_run *run, struct writ_view decision_id)
{
    struct writ_run_call *call = run->calls;

    while (call != NULL && !writ_view_equal(call->decision_id, decision_id)) {
        call = call->next;
    }
    return call;
}

/* The id of a decision as the run keeps it; without memory {NULL, 0}. */
static struct writ_view
kept_id(struct writ_run *run, struct writ_view decision_id)
{
    const struct writ_run_call *call = call_of(run, decision_id);

    return call != NULL ? call->decision_id : writ_view_copy(decision_id, run->arena);
}

static WRIT_RESULT
endorse(struct writ_run *run, struct writ_view decision_id, const struct writ_json *arguments)
{
    struct writ_view id = kept_id(run, decision_id);

    if (id.ptr == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_JSON_EACH(one, arguments)
    {
        const struct writ_run_marks from = {
            .source = WRIT_SOURCE_APPROVED, .decision_id = id, .at = text_of(one, "argument")};
        WRIT_TRY(add_marks(run, &from, text_of(one, "marks")));
    }
    return WRIT_DONE;
}

/* What a result, a resource or a prompt adds. */
static WRIT_RESULT
add_content(struct writ_run *run, struct writ_view key, struct writ_view decision_id,
    const struct writ_json *flow)
{
    struct writ_view id;

    WRIT_TRY(add_labels(run, writ_json_get(flow, WRIT_LIT("labels"))));
    if (!is_under(flow, key)) {
        return WRIT_DONE;
    }
    id = kept_id(run, decision_id);
    if (id.ptr == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_JSON_EACH(field, writ_json_get(flow, WRIT_LIT("fields")))
    {
        const struct writ_run_marks from = {.source = writ_json_is_true(field, WRIT_LIT("trusted"))
                                                          ? WRIT_SOURCE_TRUSTED
                                                          : WRIT_SOURCE_UNTRUSTED,
            .decision_id = id,
            .at = text_of(field, "at")};
        WRIT_TRY(add_marks(run, &from, text_of(field, "marks")));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
apply_decision(struct writ_run *run, struct writ_view key, const struct writ_run_decision *d,
    const struct writ_json *flow)
{
    const struct writ_json *arguments =
        is_under(flow, key) ? writ_json_get(flow, WRIT_LIT("arguments")) : NULL;

    if (d->read) {
        run->blind = run->blind || flow == NULL;
        return add_content(run, key, d->decision_id, flow);
    }
    WRIT_TRY(add_task(run, writ_json_get(flow, WRIT_LIT("task")), is_under(flow, key)));
    if (d->let_through || d->repeated) {
        WRIT_TRY(add_labels(run, writ_json_get(flow, WRIT_LIT("labels"))));
    }
    if (d->repeated) {
        WRIT_TRY(add_labels(run, writ_json_get(flow, WRIT_LIT("detected"))));
    }
    run->blind = run->blind || (d->let_through && flow == NULL) ||
                 (d->repeated && writ_json_is_true(flow, WRIT_LIT("meta")));
    if (!d->let_through || call_of(run, d->decision_id) != NULL) {
        return WRIT_DONE; /* or it was read from the ledger already */
    }
    WRIT_TRY(add_call(run, d, arguments));
    return d->approved ? endorse(run, d->decision_id, arguments) : WRIT_DONE;
}

static void
end_call(struct writ_run *run, const struct writ_run_outcome *o, bool failed, bool has_flow)
{
    struct writ_run_call *call = call_of(run, o->decision_id);

    if (call != NULL) {
        call->done = o->executed && !failed;
    }
    run->blind = run->blind || (o->executed && !has_flow);
}

/* ---- from what made the record ---- */

static WRIT_RESULT
read_flow(struct writ_view text, struct writ_arena **ret_arena, const struct writ_json **ret,
    struct writ_err *err)
{
    *ret_arena = writ_arena_new_small(RECORD_MAX);
    if (*ret_arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to read a record");
    }
    return text.len > 0 ? read_record(text, *ret_arena, ret, err) : WRIT_DONE;
}

WRIT_RESULT
writ_run_decided(struct writ_run *run, struct writ_view key,
    const struct writ_run_decision *decision, struct writ_err *err)
{
    writ_auto_arena arena = NULL;
    const struct writ_json *flow = NULL;

    WRIT_TRY(read_flow(decision->flow, &arena, &flow, err));
    return apply_decision(run, key, decision, flow);
}

WRIT_RESULT
writ_run_ended(struct writ_run *run, struct writ_view key, const struct writ_run_outcome *outcome,
    struct writ_err *err)
{
    const struct writ_run_flow *flow = &outcome->flow;
    struct writ_view id;

    end_call(run, outcome, flow->failed, flow->text.len > 0);
    for (size_t i = 0; flow->text.len > 0 && i < flow->labels_n; i++) {
        WRIT_TRY(writ_run_add_label(run, flow->labels[i]));
    }
    if (flow->text.len == 0 || !writ_view_equal(flow->key, key)) {
        return WRIT_DONE;
    }
    id = kept_id(run, outcome->decision_id);
    if (id.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the state of a run");
    }
    for (size_t i = 0; i < flow->fields->n; i++) {
        WRIT_TRY(add_field(run, id, &flow->fields->items[i]));
    }
    return WRIT_DONE;
}

/* ---- from records ---- */

WRIT_RESULT
writ_run_add_decision(
    struct writ_run *run, struct writ_view key, struct writ_view record, struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(RECORD_MAX);
    const struct writ_json *value = NULL;
    struct writ_run_decision d = {.issued_us = 0};

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to read a record");
    }
    WRIT_TRY(read_record(record, arena, &value, err));
    d.decision_id = text_of(value, "decision_id");
    d.upstream = text_of(ours(value), "upstream");
    d.tool = text_of(value, "tool");
    d.let_through = was_let_through(value);
    d.approved = was_approved(value);
    d.repeated = writ_run_is_repeat(text_of(ours(value), "reason"));
    d.read = !d.let_through && writ_run_is_read(text_of(ours(value), "reason"));
    WRIT_IGNORE(writ_time_read(text_of(value, "issued_at"), &d.issued_us));
    return apply_decision(run, key, &d, writ_json_get(ours(value), WRIT_LIT("flow")));
}

WRIT_RESULT
writ_run_add_outcome(
    struct writ_run *run, struct writ_view key, struct writ_view record, struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(RECORD_MAX);
    const struct writ_json *value = NULL, *flow;
    struct writ_run_outcome o;

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to read a record");
    }
    WRIT_TRY(read_record(record, arena, &value, err));
    o = (struct writ_run_outcome){.decision_id = text_of(value, "decision_id"),
        .executed = writ_json_is(writ_json_get(value, WRIT_LIT("outcome")), WRIT_LIT("executed"))};
    flow = writ_json_get(ours(value), WRIT_LIT("flow"));
    end_call(run, &o, writ_json_is_true(flow, WRIT_LIT("failed")), flow != NULL);
    return add_content(run, key, o.decision_id, flow);
}

bool
writ_run_is_read(struct writ_view reason)
{
    return writ_view_equal(reason, writ_reason_name(WRIT_REASON_CONTENT_READ));
}

bool
writ_run_is_repeat(struct writ_view reason)
{
    return writ_view_has_prefix(reason, WRIT_LIT("duplicate_"));
}

const struct writ_run_call *
writ_run_calls(const struct writ_run *run)
{
    return run->calls;
}

bool
writ_run_is_cut(const struct writ_run *run)
{
    return run->cut;
}
