/* Two passes over the calls: the first one feeds the learner, the second one judges each learned
 * call by the configuration with the proposal in it. A call that it refuses would be a defect of
 * ours, and nothing is proposed then. */
#include "cli/commands/learn_run.h"

#include "base/text.h"
#include "policy/decide/evaluate.h"
#include "policy/read/load.h"
#include "policy/read/standing.h"
#include "policy/read/yaml.h"

#define ARENA_MAX   ((size_t)4 << 30)
#define SCRATCH_MAX ((size_t)256 << 20)
#define RESULTS_MAX 65536
#define FILES_MAX   1024
#define ROUND_TEXT  ((size_t)64 << 20)

void
writ_learn_run_wipe(struct writ_learn_run *run)
{
    for (size_t i = 0; i < run->files_n; i++) {
        writ_config_drop(run->files[i].config);
    }
    writ_learn_source_close(run->source);
    writ_learn_free(run->learn);
    writ_config_drop(run->config);
    writ_arena_free(run->arena);
    writ_arena_free(run->scratch);
    writ_buf_wipe(&run->cases);
}

/* ---- what is learned from */

static WRIT_RESULT
note(struct writ_learn_run *run, struct writ_learn_left *list, size_t *n, struct writ_view reason,
    struct writ_view decision)
{
    size_t at = 0;

    while (at < *n && !writ_view_equal(list[at].reason, reason)) {
        at++;
    }
    if (at == *n) {
        WRIT_INVARIANT(at < WRIT_LEARN_LEFT_MAX);
        list[(*n)++] = (struct writ_learn_left){.reason = reason};
    }
    list[at].calls++;
    if (list[at].decisions_n < WRIT_LEARN_DECISIONS_MAX) {
        struct writ_view kept = writ_view_copy(decision, run->arena);
        if (kept.ptr == NULL) {
            return (writ_result){WRIT_E_NOMEM};
        }
        list[at].decisions[list[at].decisions_n++] = kept;
    }
    return WRIT_DONE;
}

/* How one call stands to the configuration as it is. */
struct stand {
    const struct writ_tool_entry *entry;
    const struct writ_tool_rule *rule;
    enum writ_reason reason;
    bool learned;  /* it is learned from */
    bool loosened; /* though a rule with constraints refuses it */
};

static bool
has_arguments(const struct writ_tool_rule *rule)
{
    return rule != NULL && writ_yaml_get(rule->node, WRIT_LIT("arguments")) != NULL;
}

/* A rule that says nothing about arguments refuses all of them: that is not a judgement about a
 * call. Neither is a tool that has no rule yet. What a person wrote about arguments is one. */
static struct stand
stand_of(struct writ_learn_run *run, const struct writ_learn_past *past)
{
    struct writ_verdict verdict;
    struct stand stand = {.reason = WRIT_REASON_POLICY_OK};

    writ_policy_decide(run->config, &past->call, run->scratch, &verdict);
    stand.entry = writ_rule_entry(run->config->policy, past->call.upstream, past->call.tool);
    stand.rule =
        writ_policy_find(run->config, past->call.agent, past->call.upstream, past->call.tool, NULL);
    if (verdict.answer == WRIT_POLICY_ALLOW) {
        stand.learned = true;
        return stand;
    }
    stand.reason = verdict.reason;
    if (verdict.reason == WRIT_REASON_TOOL_NOT_LISTED) {
        stand.learned = true;
    } else if (verdict.reason == WRIT_REASON_ARGUMENT_NOT_LISTED ||
               verdict.reason == WRIT_REASON_CONSTRAINT_FAILED) {
        stand.loosened = run->include_refused && has_arguments(stand.rule);
        stand.learned = stand.loosened || !has_arguments(stand.rule);
    }
    return stand;
}

static WRIT_RESULT
leave_out(struct writ_learn_run *run, const struct writ_learn_past *past, enum writ_reason reason)
{
    static const char *const gaps[] = {[WRIT_LEARN_GAP_NONE] = "",
        [WRIT_LEARN_GAP_NOT_EXECUTED] = "not_executed",
        [WRIT_LEARN_GAP_FAILED] = "failed",
        [WRIT_LEARN_GAP_NOT_KEPT] = "not_kept",
        [WRIT_LEARN_GAP_CHANGED] = "changed",
        [WRIT_LEARN_GAP_PARTIAL] = "secret_members_left_out"};
    struct writ_view why = past->gap != WRIT_LEARN_GAP_NONE ? writ_view_str(gaps[past->gap])
                                                            : writ_reason_name(reason);

    if (run->left_n == WRIT_LEARN_LEFT_MAX) {
        why = run->left[WRIT_LEARN_LEFT_MAX - 1].reason;
    }
    return note(run, run->left, &run->left_n, why, past->decision);
}

static WRIT_RESULT
learn_one(void *user, const struct writ_learn_past *past, struct writ_err *err)
{
    struct writ_learn_run *run = user;
    struct stand stand;

    run->seen++;
    writ_arena_reset(run->scratch);
    if (past->gap != WRIT_LEARN_GAP_NONE) {
        return leave_out(run, past, WRIT_REASON_POLICY_OK);
    }
    stand = stand_of(run, past);
    if (!stand.learned) {
        return leave_out(run, past, stand.reason);
    }
    if (stand.loosened) {
        WRIT_TRY(note(
            run, run->loosened, &run->loosened_n, writ_reason_name(stand.reason), past->decision));
    }
    run->learned_from++;
    return writ_learn_add(run->learn,
        &(struct writ_learn_call){.upstream = past->call.upstream,
            .tool = past->call.tool,
            .rule = stand.rule != NULL ? stand.rule->ref : WRIT_LIT(""),
            .agent = past->agent.id,
            .run = past->run,
            .decision = past->decision,
            .arguments = past->call.arguments},
        err);
}

/* ---- the proposal */

static WRIT_RESULT
propose(struct writ_learn_run *run, struct writ_err *err)
{
    size_t n = 0;

    for (const struct writ_learn_tool *tool = writ_learn_tools(run->learn); tool != NULL;
         tool = tool->next) {
        n++;
    }
    run->results = writ_arena_get(run->arena, (n + 1) * sizeof *run->results);
    if (run->results == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    for (const struct writ_learn_tool *tool = writ_learn_tools(run->learn); tool != NULL;
         tool = tool->next) {
        struct writ_learn_result *result = &run->results[run->results_n++];

        *result = (struct writ_learn_result){.change = {.tool = tool}};
        WRIT_TRY(writ_learn_propose(
            run->learn, tool, run->least, run->per_mille, run->arena, &result->learned, err));
        result->change.learned = &result->learned;
        result->file = run->config->file;
    }
    return WRIT_DONE;
}

struct writ_learn_result *
writ_learn_run_result(struct writ_learn_run *run, const struct writ_learn_past *past)
{
    struct stand stand = {.learned = false};
    struct writ_view rule;

    if (past->gap != WRIT_LEARN_GAP_NONE) {
        return NULL;
    }
    stand = stand_of(run, past);
    rule = stand.rule != NULL ? stand.rule->ref : WRIT_LIT("");
    for (size_t i = 0; stand.learned && i < run->results_n; i++) {
        const struct writ_learn_tool *tool = run->results[i].change.tool;

        if (writ_view_equal(tool->tool, past->call.tool) &&
            writ_view_equal(tool->upstream, past->call.upstream) &&
            writ_view_equal(tool->rule, rule)) {
            return &run->results[i];
        }
    }
    return NULL;
}

static WRIT_RESULT
copy_agent(struct writ_learn_run *run, const struct writ_agent *agent, struct writ_agent *ret)
{
    *ret = (struct writ_agent){.id = writ_view_copy(agent->id, run->arena),
        .tenant = writ_view_copy(agent->tenant, run->arena),
        .role = writ_view_copy(agent->role, run->arena),
        .scopes = writ_view_copy(agent->scopes, run->arena)};
    return (writ_result){ret->id.ptr != NULL && ret->tenant.ptr != NULL && ret->role.ptr != NULL
                             ? WRIT_OK
                             : WRIT_E_NOMEM};
}

/* The rule of a result, by the first of its calls; and the constraints that its calls fail. */
static WRIT_RESULT
place_one(void *user, const struct writ_learn_past *past, struct writ_err *err)
{
    struct writ_learn_run *run = user;
    struct writ_learn_result *result;
    const struct writ_constraint_set *set;
    struct stand stand;

    (void)err;
    writ_arena_reset(run->scratch);
    result = writ_learn_run_result(run, past);
    if (result == NULL) {
        return WRIT_DONE;
    }
    stand = stand_of(run, past);
    set = stand.rule != NULL ? stand.rule->arguments : NULL;
    if (result->change.entry == NULL && result->agent.id.ptr == NULL) {
        size_t n = set != NULL ? set->n : 0;

        WRIT_TRY(copy_agent(run, past->call.agent, &result->agent));
        result->change.entry = stand.entry;
        result->change.rule = stand.rule;
        result->drop = writ_arena_get(run->arena, n + 1);
        if (result->drop == NULL) {
            return (writ_result){WRIT_E_NOMEM};
        }
        for (size_t i = 0; i <= n; i++) {
            result->drop[i] = false;
        }
        result->change.drop = result->drop;
        if (stand.rule != NULL) {
            result->file = writ_standing_file(run->config, stand.rule->node);
        }
    }
    for (size_t i = 0; stand.loosened && set != NULL && i < set->n; i++) {
        const struct writ_constraint *one = &set->items[i];

        if (writ_evaluate_one(set, one, past->call.arguments, run->scratch, NULL) !=
            WRIT_HOLDS_YES) {
            result->dropped += result->drop[one->node->index] ? 0 : 1;
            result->drop[one->node->index] = true;
        }
    }
    return WRIT_DONE;
}

/* ---- the texts */

static struct writ_learn_file *
file_of(struct writ_learn_run *run, struct writ_view name)
{
    for (size_t i = 0; i < run->files_n; i++) {
        if (writ_view_equal(run->files[i].name, name)) {
            return &run->files[i];
        }
    }
    return NULL;
}

static WRIT_RESULT
open_file(struct writ_learn_run *run, struct writ_view name, struct writ_learn_file **ret,
    struct writ_err *err)
{
    struct writ_buf text = writ_buf_in(run->arena, WRIT_CONFIG_BYTES_MAX);

    *ret = file_of(run, name);
    if (*ret != NULL) {
        return WRIT_DONE;
    }
    if (run->files == NULL) {
        run->files = writ_arena_get(run->arena, FILES_MAX * sizeof *run->files);
    }
    if (run->files == NULL || run->files_n == FILES_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "rules stand in more than %d files", FILES_MAX);
    }
    WRIT_TRY(writ_text_file(name.ptr, WRIT_CONFIG_BYTES_MAX, &text, err));
    *ret = &run->files[run->files_n++];
    **ret = (struct writ_learn_file){
        .name = name, .before = writ_buf_view(&text), .after = writ_buf_view(&text)};
    return WRIT_DONE;
}

static WRIT_RESULT
edit_one(struct writ_learn_run *run, struct writ_learn_result *result, struct writ_err *err)
{
    struct writ_buf text = writ_buf_make(ROUND_TEXT);
    struct writ_learn_file *file;
    writ_result done;

    result->news = writ_apply_news(&result->change);
    if (result->change.rule != NULL && result->news == 0 && result->dropped == 0) {
        return WRIT_DONE; /* the rule says all of it */
    }
    WRIT_TRY(open_file(run, result->file, &file, err));
    done = writ_apply_put(file->after, &result->change, &text);
    if (writ_is_ok(done)) {
        file->after = writ_view_copy(writ_buf_view(&text), run->arena);
        done = file->after.ptr != NULL ? done : (writ_result){WRIT_E_NOMEM};
    }
    writ_buf_wipe(&text);
    if (!writ_is_ok(done)) {
        return writ_fail(err, done.code,
            WRIT_VIEW_FMT ": no place was found for the rule of " WRIT_VIEW_FMT "/" WRIT_VIEW_FMT
                          ". Write `tools:` as a map with one rule a line",
            WRIT_VIEW_ARG(result->file), WRIT_VIEW_ARG(result->change.tool->upstream),
            WRIT_VIEW_ARG(result->change.tool->tool));
    }
    return WRIT_DONE;
}

/* Copies of a pattern's rule go right behind it, so the last one comes first. */
static WRIT_RESULT
edit_all(struct writ_learn_run *run, struct writ_err *err)
{
    for (size_t i = run->results_n; i-- > 0;) {
        const struct writ_tool_entry *entry = run->results[i].change.entry;
        if (entry != NULL && entry->pattern) {
            WRIT_TRY(edit_one(run, &run->results[i], err));
        }
    }
    for (size_t i = 0; i < run->results_n; i++) {
        const struct writ_tool_entry *entry = run->results[i].change.entry;
        if (entry == NULL || !entry->pattern) {
            WRIT_TRY(edit_one(run, &run->results[i], err));
        }
    }
    for (size_t i = 0; i < run->files_n; i++) {
        struct writ_learn_file *file = &run->files[i];
        WRIT_TRY(
            writ_load_edited(run->config->file.ptr, file->name, file->after, &file->config, err));
    }
    return WRIT_DONE;
}

const struct writ_config *
writ_learn_run_config(const struct writ_learn_run *run, const struct writ_learn_result *result)
{
    for (size_t i = 0; i < run->files_n; i++) {
        if (writ_view_equal(run->files[i].name, result->file)) {
            return run->files[i].config;
        }
    }
    return run->config; /* nothing of its file is changed */
}

static WRIT_RESULT
judge_one(void *user, const struct writ_learn_past *past, struct writ_err *err)
{
    struct writ_learn_run *run = user;
    struct writ_learn_result *result;
    struct writ_verdict verdict;

    (void)err;
    writ_arena_reset(run->scratch);
    result = writ_learn_run_result(run, past);
    if (result == NULL) {
        return WRIT_DONE;
    }
    writ_policy_decide(writ_learn_run_config(run, result), &past->call, run->scratch, &verdict);
    if (verdict.answer != WRIT_POLICY_ALLOW) {
        run->refused_decision =
            run->refused == 0 ? writ_view_copy(past->decision, run->arena) : run->refused_decision;
        run->refused++;
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_learn_run(struct writ_learn_run *run, struct writ_err *err)
{
    run->arena = writ_arena_new(ARENA_MAX);
    run->scratch = writ_arena_new(SCRATCH_MAX);
    if (run->arena == NULL || run->scratch == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    WRIT_TRY(writ_load_file(writ_cli_operand(run->cli, 0).ptr, NULL, &run->config, err));
    WRIT_TRY(writ_learn_source_open(run->cli, run->config, &run->source, err));
    WRIT_TRY(writ_learn_new(&run->learn, err));
    WRIT_TRY(writ_learn_source_each(run->source, learn_one, run, err));
    if (run->seen == 0) {
        WRIT_FAIL(err, WRIT_E_ABSENT,
            "%s: no call to learn from: nothing was kept, or the options admit none",
            writ_cli_has(run->cli, "calls") ? writ_cli_get(run->cli, "calls").ptr
                                            : writ_cli_operand(run->cli, 1).ptr);
    }
    WRIT_TRY(propose(run, err));
    WRIT_TRY(writ_learn_source_each(run->source, place_one, run, err));
    WRIT_TRY(edit_all(run, err));
    WRIT_TRY(writ_learn_source_each(run->source, judge_one, run, err));
    if (run->refused > 0) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "the proposal would refuse %llu of the calls that it was learned from, the first "
            "one " WRIT_VIEW_FMT ": nothing is proposed. Use --tool for the other tools",
            (unsigned long long)run->refused, WRIT_VIEW_ARG(run->refused_decision));
    }
    return WRIT_DONE;
}
