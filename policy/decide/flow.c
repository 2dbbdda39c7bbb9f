/* flow.c - see flow.h. The order: the tools of the task, the sources of the arguments, the rules of
 * `flows` in the order of the file. A refusal outweighs an approval that is needed. */
#include "policy/decide/flow.h"

#include "base/text.h"
#include "evidence/flow/fields.h"
#include "evidence/flow/token.h"
#include "evidence/json/digest.h"
#include "evidence/json/jcs.h"
#include "policy/decide/approval.h"
#include "policy/decide/evaluate.h"
#include "policy/decide/flow_rules.h"
#include "policy/decide/labels.h"
#include "policy/model/trail.h"
#include "policy/model/glob.h"
#include "policy/model/scopes.h"

#define RECORD_MAX ((size_t)512 << 10) /* bytes of `flow` of a decision */
#define PLACE_MAX  2048                /* a place, for voters */

struct judging {
    const struct writ_config *config;
    const struct writ_run *run;
    const struct writ_mark_key *key;
    const struct writ_flow_call *of;
    struct writ_arena *arena;
    struct writ_view name;      /* "upstream/tool" */
    struct writ_view task;      /* marks of the task that is stated with this call */
    struct writ_write told;     /* of the conditions for voters */
    struct writ_write w;        /* of `arguments` of the record */
    struct writ_views detected; /* labels that its result may bring, by what stands in it */
    size_t values;
    bool lost; /* without memory for a part of the record: nothing of it counts */
    struct writ_flow_verdict *ret;
};

/* ---- verdicts */

static void
refuse(struct judging *j, enum writ_reason reason)
{
    if (j->ret->reason == WRIT_REASON_NONE) {
        j->ret->reason = reason;
    }
}

/* The first approval that is needed; voters see where every value came from. */
static void
require(struct judging *j, const struct writ_approval *approval, enum writ_reason otherwise)
{
    if (approval == NULL) {
        refuse(j, otherwise);
    } else if (j->ret->approval == NULL) {
        j->ret->approval = approval;
    }
}

/* ---- where a value came from */

static bool
in_operator_list(struct judging *j, const struct writ_from *from, const struct writ_json *value,
    const struct writ_mark_wanted *wanted)
{
    WRIT_JSON_EACH(item, from->operator_list)
    {
        struct writ_mark_wanted listed = {.words = {NULL, 0}};
        if (writ_json_equal(item, value)) {
            return true;
        }
        if (writ_json_type(item) == WRIT_JSON_STRING && wanted->words.len > 0 &&
            writ_is_ok(writ_mark_want(j->key, writ_json_string(item), from->host,
                WRIT_FLOW_WORDS_MAX, j->arena, &listed, NULL)) &&
            writ_view_equal(listed.words, wanted->words)) {
            return true;
        }
    }
    return false;
}

static const struct writ_run_marks *
seen(const struct judging *j, unsigned sources, const struct writ_mark_wanted *wanted)
{
    const struct writ_run_marks *found = writ_run_find(j->run, sources, wanted->words);

    return found != NULL || wanted->joined.len == 0
               ? found
               : writ_run_find(j->run, sources, wanted->joined);
}

static bool
in_stated_task(const struct judging *j, const struct writ_mark_wanted *wanted)
{
    return writ_mark_contains(j->task, wanted->words) ||
           writ_mark_contains(j->task, wanted->joined);
}

static void
put_found(struct judging *j, struct writ_view source, const struct writ_run_marks *at)
{
    writ_write_name(&j->w, WRIT_LIT("found"));
    writ_write_object_begin(&j->w);
    if (at != NULL) {
        writ_write_text_if(&j->w, "at", at->at);
        writ_write_text_if(&j->w, "decision_id", at->decision_id);
    }
    writ_write_text(&j->w, "source", source);
    writ_write_object_end(&j->w);
}

static void
put_marks(struct judging *j, struct writ_view marks, const char *name)
{
    writ_auto_buf text = writ_buf_make(marks.len * 2 + 4);

    writ_base64url_put(&text, marks);
    j->lost = j->lost || !writ_is_ok(writ_buf_check(&text, NULL));
    writ_write_text(&j->w, name, writ_buf_view(&text));
}

static struct writ_view
pointer_of(struct judging *j, const struct writ_trail *trail)
{
    writ_auto_buf pointer = writ_buf_make(WRIT_TRAIL_TEXT_MAX);

    writ_trail_put(trail, &pointer);
    return writ_trail_keep(&pointer, j->arena);
}

/* The text of a value, as it is searched for; false: it comes from nowhere. */
static bool
text_of(struct judging *j, const struct writ_json *value, struct writ_view *ret)
{
    struct writ_buf number = writ_buf_in(j->arena, 64);

    switch (writ_json_type(value)) {
    case WRIT_JSON_STRING:
        *ret = writ_json_string(value);
        return ret->len > 0;
    case WRIT_JSON_NUMBER:
        j->lost = !writ_is_ok(writ_jcs_put(&number, value, NULL)) || j->lost;
        *ret = writ_buf_view(&number);
        return true;
    case WRIT_JSON_NONE:
    case WRIT_JSON_NULL:
    case WRIT_JSON_FALSE:
    case WRIT_JSON_TRUE:
    case WRIT_JSON_ARRAY:
    case WRIT_JSON_OBJECT:
        break;
    }
    return false;
}

/* "untrusted: /items/0/text of decision D", or that no result of the run had it. */
static void
tell_place(struct judging *j, const struct writ_run_marks *at)
{
    struct writ_buf text = writ_buf_in(j->arena, PLACE_MAX);

    if (at == NULL) {
        writ_buf_str(&text, "not seen in this run");
    } else {
        writ_buf_put(&text, writ_run_source_name(at->source));
        writ_buf_str(&text, at->at.len > 0 ? ": " : "");
        writ_buf_put(&text, at->at);
        writ_buf_str(&text, at->decision_id.len > 0 ? " of decision " : "");
        writ_buf_put(&text, at->decision_id);
    }
    writ_write_text(&j->told, "found", writ_buf_view(&text));
}

/* A value from elsewhere, for voters: they see its place, and the value in the arguments. */
static void
tell_value(struct judging *j, const struct writ_constraint *c, struct writ_view pointer,
    const struct writ_run_marks *at)
{
    struct writ_buf name = writ_buf_in(j->arena, PLACE_MAX);

    writ_buf_str(&name, "argument ");
    writ_buf_put(&name, pointer);
    writ_buf_str(&name, " from");
    writ_write_object_begin(&j->told);
    writ_write_text(&j->told, "condition", writ_buf_view(&name));
    tell_place(j, at);
    writ_write_text(&j->told, "wants", c->accepted);
    writ_write_object_end(&j->told);
}

static void
tell_rule(struct judging *j, struct writ_view name, const char *wants)
{
    writ_write_object_begin(&j->told);
    writ_write_text(&j->told, "condition", name);
    writ_write_text(&j->told, "found", WRIT_LIT("holds"));
    writ_write_text(&j->told, "wants", writ_view_str(wants));
    writ_write_object_end(&j->told);
}

/* Where the value was found among the permitted sources; else, among all others, for the voters. */
static bool
put_source(struct judging *j, const struct writ_from *from, const struct writ_json *value,
    const struct writ_mark_wanted *wanted, const struct writ_run_marks **ret_at)
{
    const struct writ_run_marks *at;

    if ((from->sources & WRIT_SOURCE_OPERATOR) != 0 && in_operator_list(j, from, value, wanted)) {
        put_found(j, writ_run_source_name(WRIT_SOURCE_OPERATOR), NULL);
        return true;
    }
    if ((from->sources & WRIT_SOURCE_TASK) != 0 && in_stated_task(j, wanted)) {
        put_found(j, writ_run_source_name(WRIT_SOURCE_TASK), NULL);
        return true;
    }
    at = seen(j, from->sources, wanted);
    if (at != NULL) {
        put_found(j, writ_run_source_name(at->source), at);
        return true;
    }
    at = seen(j, ~from->sources, wanted);
    put_found(j, at != NULL ? writ_run_source_name(at->source) : WRIT_LIT("unknown"), at);
    *ret_at = at;
    return false;
}

static void
judge_text(struct judging *j, const struct writ_constraint *c, const struct writ_json *value,
    struct writ_view text, const struct writ_trail *trail)
{
    struct writ_mark_wanted wanted = {.words = {NULL, 0}};
    const struct writ_run_marks *at = NULL;
    struct writ_view pointer;

    if (j->values++ == WRIT_FLOW_VALUES_MAX ||
        !writ_is_ok(writ_mark_want(
            j->key, text, c->value.from->host, WRIT_FLOW_WORDS_MAX, j->arena, &wanted, NULL))) {
        refuse(j, WRIT_REASON_RUN_STATE_UNKNOWN);
        return;
    }
    pointer = pointer_of(j, trail);
    j->lost = j->lost || pointer.ptr == NULL;
    writ_write_object_begin(&j->w);
    writ_write_text(&j->w, "argument", pointer);
    if (!put_source(j, c->value.from, value, &wanted, &at)) {
        tell_value(j, c, pointer, at);
        if (j->ret->argument.ptr == NULL) {
            j->ret->argument = pointer;
            j->ret->constraint = c->name;
            j->ret->accepted = c->accepted;
        }
        require(j, c->value.from->approval, WRIT_REASON_SOURCE_NOT_PERMITTED);
    }
    if (wanted.joined.len > 0) {
        put_marks(j, wanted.joined, "joined");
    }
    put_marks(j, wanted.words, "marks");
    writ_write_object_end(&j->w);
}

/* The URLs and addresses of a text, each by itself. */
struct addresses {
    struct judging *j;
    struct writ_view items[WRIT_FLOW_VALUES_MAX];
    struct writ_view word;
    size_t n;
    bool cut;
};

static void
take_address(void *ctx, enum writ_token_kind kind, struct writ_view token, struct writ_view stands)
{
    struct addresses *a = ctx;

    (void)stands;
    switch (kind) {
    case WRIT_TOKEN_WORD:
    case WRIT_TOKEN_PLAIN:
        a->word = writ_view_copy(token, a->j->arena);
        return;
    case WRIT_TOKEN_HOST:
        if (a->n == WRIT_FLOW_VALUES_MAX || a->word.ptr == NULL) {
            a->cut = true;
        } else {
            a->items[a->n++] = a->word;
        }
        return;
    case WRIT_TOKEN_JOINED:
        return;
    }
}

static void
judge_value(struct judging *j, const struct writ_constraint *c, const struct writ_json *value,
    const struct writ_trail *trail)
{
    struct writ_view text;
    struct addresses a = {.j = j};

    if (!text_of(j, value, &text)) {
        return;
    }
    if (!c->value.from->addresses) {
        judge_text(j, c, value, text, trail);
        return;
    }
    writ_tokens(text, take_address, &a);
    if (a.cut) {
        refuse(j, WRIT_REASON_RUN_STATE_UNKNOWN);
    }
    for (size_t i = 0; i < a.n; i++) {
        judge_text(j, c, NULL, a.items[i], trail);
    }
}

/* A value, and all that is inside it. */
static void
judge_values(struct judging *j, const struct writ_constraint *c, const struct writ_json *value,
    const struct writ_trail *trail)
{
    size_t index = 0;

    if (j->values > WRIT_FLOW_VALUES_MAX) {
        return;
    }
    if (writ_json_type(value) == WRIT_JSON_ARRAY) {
        WRIT_JSON_EACH(element, value)
        {
            const struct writ_trail down = {.up = trail, .index = index++};
            judge_values(j, c, element, &down);
        }
        return;
    }
    if (writ_json_type(value) == WRIT_JSON_OBJECT) {
        WRIT_JSON_EACH(name, value)
        {
            const struct writ_trail down = {.up = trail, .name = writ_json_string(name)};
            judge_value(j, c, name, &down); /* a name may carry a value too */
            judge_values(j, c, writ_json_value(name), &down);
        }
        return;
    }
    judge_value(j, c, value, trail);
}

static void judge_set(struct judging *j, const struct writ_constraint_set *set,
    const struct writ_json *value, const struct writ_trail *trail);

static void
judge_elements(struct judging *j, const struct writ_constraint *c, const struct writ_json *array,
    const struct writ_trail *trail)
{
    size_t index = 0;

    WRIT_JSON_EACH(element, array)
    {
        const struct writ_trail down = {.up = trail, .index = index++};
        judge_set(j, c->value.each, element, &down);
    }
}

/* Down the tokens of the path of a constraint, then as its op says. */
static void
judge_at(struct judging *j, const struct writ_constraint *c, const struct writ_views *tokens,
    size_t depth, const struct writ_json *value, const struct writ_trail *trail)
{
    if (depth < tokens->n) {
        const struct writ_trail down = {.up = trail, .name = tokens->items[depth]};
        const struct writ_views one = {&tokens->items[depth], 1};
        const struct writ_json *next = writ_evaluate_argument(value, &one);
        if (next != NULL) {
            judge_at(j, c, tokens, depth + 1, next, &down);
        }
        return;
    }
    if (c->op == WRIT_OP_FROM) {
        judge_values(j, c, value, trail);
    } else {
        judge_elements(j, c, value, trail);
    }
}

static void
judge_set(struct judging *j, const struct writ_constraint_set *set, const struct writ_json *value,
    const struct writ_trail *trail)
{
    for (size_t i = 0; i < set->n; i++) {
        const struct writ_constraint *c = &set->items[i];
        if (c->op == WRIT_OP_FROM || c->op == WRIT_OP_EACH) {
            judge_at(j, c, &set->paths[c->path].tokens, 0, value, trail);
        }
    }
}

/* ---- rules about the run */

/* The marks of an argument of this call; false: it is absent, or no single value. */
static bool
want_argument(struct judging *j, struct writ_view argument, struct writ_mark_wanted *ret)
{
    struct writ_view text, pointer = writ_flow_rules_pointer(argument, j->arena);
    writ_result r;

    j->lost = j->lost || pointer.ptr == NULL;
    if (!text_of(j, writ_json_pointer(j->of->call->arguments, pointer), &text)) {
        return false;
    }
    r = writ_mark_want(j->key, text, false, WRIT_FLOW_WORDS_MAX, j->arena, ret, NULL);
    j->lost = j->lost || (!writ_is_ok(r) && r.code != WRIT_E_LIMIT);
    return writ_is_ok(r) && ret->words.len > 0;
}

static bool
marks_of_argument(void *ctx, struct writ_view argument, struct writ_buf *ret)
{
    struct writ_mark_wanted wanted = {.words = {NULL, 0}};

    if (!want_argument(ctx, argument, &wanted)) {
        return false;
    }
    writ_base64url_put(ret, wanted.words);
    return true;
}

static struct writ_flow_rules_asked
asked_of(struct judging *j)
{
    return (struct writ_flow_rules_asked){.run = j->run,
        .name = j->name,
        .now_us = j->of->now_us,
        .arena = j->arena,
        .marks = marks_of_argument,
        .ctx = j};
}

static void
judge_flows(struct judging *j)
{
    const struct writ_flow_rules_asked asked = asked_of(j);

    for (size_t i = 0; i < j->config->flows_n; i++) {
        const struct writ_flow_rule *flow = &j->config->flows[i];
        if (writ_flow_rules_apply(&asked, flow)) {
            if (j->ret->rule.len == 0) {
                j->ret->rule = flow->ref;
            }
            tell_rule(j, flow->ref, "a run that the rule does not concern");
            require(j, flow->approval, WRIT_REASON_FLOW_NOT_PERMITTED);
        }
    }
}

static void
put_compared(struct judging *j, struct writ_view argument)
{
    struct writ_mark_wanted wanted = {.words = {NULL, 0}};

    if (want_argument(j, argument, &wanted)) {
        writ_write_object_begin(&j->w);
        writ_write_text(&j->w, "argument", writ_flow_rules_pointer(argument, j->arena));
        put_marks(j, wanted.words, "marks");
        writ_write_object_end(&j->w);
    }
}

/* The arguments that `requires` of some flow compares: of this call with earlier ones, and of later
 * calls with this one. */
static void
put_all_compared(struct judging *j)
{
    for (size_t i = 0; i < j->config->flows_n; i++) {
        const struct writ_flow_rule *flow = &j->config->flows[i];
        const struct writ_flow_requires *requires = flow->requires;
        for (size_t n = 0; requires != NULL && n < requires->same.n; n++) {
            if (writ_flow_rules_match(&flow->tools, j->name)) {
                put_compared(j, requires->same.items[n].name);
            }
            if (writ_glob_match(requires->call, j->name) != WRIT_GLOB_NO) {
                put_compared(j, requires->same.items[n].value);
            }
        }
    }
}

/* ---- the task */

bool
writ_flow_may_state(const struct writ_config *config, const struct writ_agent *agent)
{
    const struct writ_tasks *tasks = config->tasks;

    if (tasks == NULL) {
        return false;
    }
    for (size_t i = 0; i < tasks->agents.n; i++) {
        if (writ_view_equal(tasks->agents.items[i], agent->id)) {
            return true;
        }
    }
    return tasks->scopes.n > 0 && writ_scopes_has_all(agent->scopes, &tasks->scopes);
}

static WRIT_RESULT
mark_task(struct judging *j)
{
    struct writ_mark_room room;
    struct writ_mark_list list = writ_mark_list_make(&room, WRIT_FIELDS_TRUSTED, true);
    struct writ_buf marks = writ_buf_in(j->arena, (size_t)3 * WRIT_FIELDS_TRUSTED * WRIT_MARK);
    writ_result r;

    writ_mark_list_add(&list, j->of->task->text);
    r = writ_mark_list_put(&list, j->key, &marks, NULL);
    writ_mark_list_wipe(&list);
    j->task = writ_buf_view(&marks);
    return r;
}

/* The digest of a statement: of its text and of the tools that it names. */
static WRIT_RESULT
digest_task(const struct writ_task_stated *task, char ret[WRIT_DIGEST_TEXT])
{
    writ_auto_buf text = writ_buf_make(RECORD_MAX);
    struct writ_write w = writ_write_to(&text);
    struct writ_digest digest;

    writ_write_object_begin(&w);
    writ_write_text(&w, "text", task->text);
    if (task->tools != NULL) {
        writ_write_name(&w, WRIT_LIT("tools"));
        writ_write_value(&w, task->tools);
    }
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, NULL));
    WRIT_TRY(writ_digest_bytes(writ_buf_view(&text), &digest, NULL));
    writ_digest_text(&digest, ret);
    return WRIT_DONE;
}

/* A statement that the run already has is not recorded again. */
static WRIT_RESULT
put_task(struct judging *j, struct writ_write *w)
{
    const struct writ_task_stated *task = j->of->task;
    char digest[WRIT_DIGEST_TEXT];
    writ_auto_buf text = writ_buf_make(j->task.len * 2 + 4);

    WRIT_TRY(digest_task(task, digest));
    if (writ_view_is(writ_run_task(j->run), digest)) {
        return WRIT_DONE;
    }
    writ_base64url_put(&text, j->task);
    writ_write_name(w, WRIT_LIT("task"));
    writ_write_object_begin(w);
    writ_write_text(w, "digest", writ_view_str(digest));
    writ_write_text(w, "marks", writ_buf_view(&text));
    if (task->tools != NULL) {
        writ_write_name(w, WRIT_LIT("tools"));
        writ_write_value(w, task->tools);
    }
    writ_write_object_end(w);
    return writ_buf_check(&text, NULL);
}

static bool
is_granted(const struct judging *j)
{
    return (j->config->tasks != NULL &&
               writ_flow_rules_match(&j->config->tasks->always, j->name)) ||
           (writ_run_grants(j->run, writ_flow_rules_name, j->name) &&
               writ_flow_rules_task(j->of->task->tools, j->name));
}

static void
judge_task(struct judging *j)
{
    const struct writ_task_stated *task = j->of->task;
    const struct writ_policy_call *call = j->of->call;

    if (task->text.ptr != NULL && !writ_flow_may_state(j->config, call->agent)) {
        refuse(j, WRIT_REASON_TASK_NOT_PERMITTED);
    } else if (task->text.ptr != NULL && !writ_is_ok(mark_task(j))) {
        refuse(j, WRIT_REASON_RUN_STATE_UNKNOWN);
    } else if (j->of->rule != NULL && !is_granted(j)) {
        tell_rule(j, WRIT_LIT("task"), "a tool that the task names");
        require(j, j->config->tasks != NULL ? j->config->tasks->approval : NULL,
            WRIT_REASON_TASK_NOT_GRANTED);
    }
}

/* ---- the record */

static void
put_labels(struct writ_write *w, const char *name, const struct writ_views *labels)
{
    writ_write_name(w, writ_view_str(name));
    writ_write_array_begin(w);
    for (size_t i = 0; i < labels->n; i++) {
        writ_write_string(w, labels->items[i]);
    }
    writ_write_array_end(w);
}

static void
put_labels_of_run(struct writ_write *w, const struct writ_run *run)
{
    writ_write_name(w, WRIT_LIT("run"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < writ_run_labels(run); i++) {
        writ_write_string(w, writ_run_label(run, i));
    }
    writ_write_array_end(w);
}

static WRIT_RESULT
put_record(struct judging *j, struct writ_view arguments)
{
    struct writ_buf text = writ_buf_in(j->arena, RECORD_MAX);
    struct writ_write w = writ_write_to(&text);

    w.sorted = true;
    writ_write_object_begin(&w);
    if (arguments.len > 2) { /* "[]" */
        writ_write_name(&w, WRIT_LIT("arguments"));
        writ_write_raw(&w, arguments);
    }
    if (j->detected.n > 0) {
        put_labels(&w, "detected", &j->detected);
    }
    writ_write_text(&w, "key", writ_mark_key_id(j->key));
    put_labels(&w, "labels", &j->ret->labels);
    if (j->of->rule != NULL && j->of->rule->labels != NULL && j->of->rule->labels->believe_meta) {
        writ_write_flag(&w, "meta", true);
    }
    writ_write_text_if(&w, "rule", j->ret->rule);
    put_labels_of_run(&w, j->run);
    if (j->task.ptr != NULL) {
        WRIT_TRY(put_task(j, &w));
    }
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, NULL));
    j->ret->record = writ_buf_view(&text);
    return WRIT_DONE;
}

/* What its arguments and its run say about a call. */
static void
judge_call(struct judging *j)
{
    static const struct writ_trail root = {.up = NULL};

    if (j->of->rule == NULL) {
        writ_write_array_end(&j->w);
        return;
    }
    judge_set(j, j->of->rule->arguments, j->of->call->arguments, &root);
    put_all_compared(j);
    writ_write_array_end(&j->w);
    judge_flows(j);
}

static WRIT_RESULT
expect_labels(struct judging *j)
{
    return j->of->rule == NULL ? WRIT_DONE
                               : writ_labels_expected(j->of->rule->labels, j->of->hints, j->arena,
                                     &j->ret->labels, &j->detected);
}

void
writ_flow_judge(const struct writ_config *config, const struct writ_run *run,
    const struct writ_mark_key *key, const struct writ_flow_call *call, struct writ_arena *arena,
    struct writ_flow_verdict *ret)
{
    char room[WRIT_FLOW_RULES_NAME_MAX];
    struct writ_buf name = writ_buf_over(room, sizeof room);
    writ_auto_buf arguments = writ_buf_make(RECORD_MAX);
    struct writ_buf conditions = writ_buf_in(arena, RECORD_MAX);
    struct judging j = {.config = config,
        .run = run,
        .key = key,
        .of = call,
        .arena = arena,
        .told = writ_write_to(&conditions),
        .w = writ_write_to(&arguments),
        .ret = ret};

    *ret = (struct writ_flow_verdict){.reason = WRIT_REASON_NONE};
    j.name = writ_flow_rules_name_of(call->call->upstream, call->call->tool, &name);
    j.told.sorted = j.w.sorted = true;
    writ_write_array_begin(&j.told);
    judge_task(&j);
    writ_write_array_begin(&j.w);
    judge_call(&j);
    writ_write_array_end(&j.told);
    if (j.lost || !writ_is_ok(writ_write_end(&j.told, NULL)) || !writ_is_ok(expect_labels(&j)) ||
        !writ_is_ok(writ_write_end(&j.w, NULL)) ||
        !writ_is_ok(put_record(&j, writ_buf_view(&arguments)))) {
        ret->record = writ_view(NULL, 0);
        ret->reason = WRIT_REASON_RUN_STATE_UNKNOWN;
    }
    ret->conditions = writ_buf_view(&conditions);
    if (ret->reason != WRIT_REASON_NONE) {
        ret->approval = NULL;
    }
}
