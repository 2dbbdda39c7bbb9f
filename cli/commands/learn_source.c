/* The calls of a ledger come with their outcomes; what cannot be learned from is said with its gap.
 * A file of calls is read line by line, each line as a call of `writ explain`; the number of its
 * line is the id of its decision. */
#include "cli/commands/learn_source.h"

#include "base/text.h"
#include "cli/commands/contents_source.h"
#include "base/clock.h"
#include "policy/model/scopes.h"
#include "policy/read/case.h"
#include "policy/replay/past.h"

#define CALLS_MAX  ((size_t)4 << 30) /* bytes of a file of calls */
#define ARENA_MAX  ((size_t)256 << 20)
#define SCOPES_MAX 65536

struct writ_learn_source {
    const struct writ_cli *cli;
    const struct writ_config *config;
    struct writ_arena *arena; /* of one call */
    struct writ_buf calls;    /* the file */
    struct writ_contents_source contents;
    bool from_store;
    int64_t since_us;
    uint64_t looked; /* contents that were read, in the longest pass */
    struct writ_view agent, tool;
};

void
writ_learn_source_close(struct writ_learn_source *source)
{
    if (source == NULL) {
        return;
    }
    writ_contents_source_wipe(&source->contents);
    writ_arena_free(source->arena);
    writ_buf_wipe_secret(&source->calls);
    writ_free(source);
}

static WRIT_RESULT
read_options(struct writ_learn_source *source, struct writ_err *err)
{
    const struct writ_cli *cli = source->cli;
    struct writ_view since = writ_cli_get(cli, "since");

    source->from_store = cli->operand_count > 1;
    if (source->from_store == writ_cli_has(cli, "calls")) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "name either the ledger that keeps the contents (LEDGER) or a file of calls (--calls)");
    }
    if (since.ptr != NULL && !source->from_store) {
        WRIT_FAIL(err, WRIT_E_INVALID, "--since needs a ledger: a file of calls has no times");
    }
    if (since.ptr != NULL && !writ_is_ok(writ_time_read(since, &source->since_us))) {
        WRIT_FAIL(err, WRIT_E_INVALID, "--since must be a time such as 2026-06-25T05:00:00Z");
    }
    source->agent = writ_cli_get(cli, "agent");
    source->tool = writ_cli_get(cli, "tool");
    return WRIT_DONE;
}

static WRIT_RESULT
open_calls(struct writ_learn_source *source, struct writ_err *err)
{
    struct writ_contents_source_order order = {.cli = source->cli,
        .path = writ_cli_operand(source->cli, 1).ptr,
        .config = source->config,
        .purpose = "learn"};

    WRIT_TRY(read_options(source, err));
    return source->from_store ? writ_contents_source_open(&order, &source->contents, err)
                              : writ_cli_read(writ_cli_get(source->cli, "calls").ptr, CALLS_MAX,
                                    &source->calls, err);
}

WRIT_RESULT
writ_learn_source_open(const struct writ_cli *cli, const struct writ_config *config,
    struct writ_learn_source **ret, struct writ_err *err)
{
    struct writ_learn_source *source = writ_alloc(sizeof *source);
    writ_result result;

    if (source == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    *source = (struct writ_learn_source){.cli = cli,
        .config = config,
        .arena = writ_arena_new(ARENA_MAX),
        .calls = writ_buf_make(CALLS_MAX)};
    result =
        source->arena != NULL ? open_calls(source, err) : writ_fail(err, WRIT_E_NOMEM, "no memory");
    if (!writ_is_ok(result)) {
        writ_learn_source_close(source);
        return result;
    }
    *ret = source;
    return WRIT_DONE;
}

WRIT_RESULT
writ_learn_source_record(struct writ_learn_source *source, struct writ_err *err)
{
    if (source->looked == 0) {
        return WRIT_DONE;
    }
    return writ_contents_source_record(&source->contents, source->since_us, source->looked, err);
}

/* --tool is UPSTREAM/TOOL. */
static bool
is_admitted(const struct writ_learn_source *source, const struct writ_learn_past *past)
{
    struct writ_view tool = source->tool, upstream = past->call.upstream;

    if (source->agent.ptr != NULL && !writ_view_equal(source->agent, past->agent.id)) {
        return false;
    }
    return tool.ptr == NULL ||
           (tool.len == upstream.len + 1 + past->call.tool.len &&
               writ_view_has_prefix(tool, upstream) && tool.ptr[upstream.len] == '/' &&
               writ_view_has_suffix(tool, past->call.tool));
}

static WRIT_RESULT
read_call(struct writ_learn_source *source, struct writ_view line, struct writ_view decision,
    struct writ_learn_past *ret, struct writ_err *err)
{
    const struct writ_json *value;
    struct writ_case_call call;

    WRIT_TRY(writ_json_read(line, &writ_json_limits_default, source->arena, &value, err));
    WRIT_TRY(writ_case_call(value, source->config, source->arena, &call, err));
    *ret = (struct writ_learn_past){.agent = call.agent,
        .call = writ_case_policy_call(&call),
        .run = call.boundary_id,
        .decision = decision};
    return WRIT_DONE;
}

/* A fault of a line, with file and line. */
static writ_result
at_line(
    const struct writ_learn_source *source, size_t number, writ_result result, struct writ_err *err)
{
    writ_auto_buf place = writ_buf_make(WRIT_TEXT_PATH_MAX);

    writ_buf_put(&place, writ_cli_get(source->cli, "calls"));
    writ_buf_fmt(&place, ":%zu", number);
    writ_buf_byte(&place, '\0');
    return writ_is_ok(writ_buf_check(&place, NULL)) ? writ_fail_in(err, result, place.ptr) : result;
}

static WRIT_RESULT
each_line(struct writ_learn_source *source,
    WRIT_RESULT (*take)(void *user, const struct writ_learn_past *past, struct writ_err *err),
    void *user, struct writ_err *err)
{
    struct writ_view rest = writ_buf_view(&source->calls);

    for (size_t number = 1; rest.len > 0; number++) {
        size_t end = writ_view_find(rest, '\n');
        struct writ_view line = writ_view_trim(writ_view_sub(rest, 0, end));
        struct writ_learn_past past;
        writ_result result;
        char name[40];
        struct writ_buf decision = writ_buf_over(name, sizeof name);

        rest = writ_view_sub(rest, end + 1, rest.len);
        if (line.len == 0) {
            continue;
        }
        writ_arena_reset(source->arena);
        writ_buf_fmt(&decision, "line %zu", number);
        result = read_call(source, line, writ_buf_view(&decision), &past, err);
        if (!writ_is_ok(result)) {
            return at_line(source, number, result, err);
        }
        past.call.agent = &past.agent;
        if (is_admitted(source, &past)) {
            WRIT_TRY(take(user, &past, err));
        }
    }
    return WRIT_DONE;
}

/* ---- the calls of a ledger */

/* One pass. A failure in a callback ends it. */
struct pass {
    struct writ_learn_source *source;
    WRIT_RESULT (*take)(void *user, const struct writ_learn_past *past, struct writ_err *err);
    void *user;
    uint64_t looked;
    writ_result failed;
    struct writ_err *err;
};

/* A tool that refuses a call by itself answers too: the call is executed, and its result says
 * isError. The learner leaves such a call out. It takes a call whose result is not kept. */
static bool
has_failed(const struct writ_content *result, struct writ_arena *arena)
{
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *value;

    limits.bytes = WRIT_CONTENT_MAX;
    limits.values = SIZE_MAX;
    return result->state == WRIT_CONTENT_KEPT &&
           writ_is_ok(writ_json_read(result->bytes, &limits, arena, &value, NULL)) &&
           writ_json_is_true(value, WRIT_LIT("isError"));
}

static enum writ_learn_gap
gap_of(const struct writ_contents_call *call, struct writ_arena *arena)
{
    if (!call->has_outcome || call->outcome != WRIT_OUTCOME_EXECUTED) {
        return WRIT_LEARN_GAP_NOT_EXECUTED;
    }
    if (has_failed(&call->result, arena)) {
        return WRIT_LEARN_GAP_FAILED;
    }
    switch (call->arguments.state) {
    case WRIT_CONTENT_ABSENT:
    case WRIT_CONTENT_ERASED:
    case WRIT_CONTENT_LOCKED:
        return WRIT_LEARN_GAP_NOT_KEPT;
    case WRIT_CONTENT_CHANGED:
        return WRIT_LEARN_GAP_CHANGED;
    case WRIT_CONTENT_KEPT:
        break;
    }
    return call->arguments.redacted ? WRIT_LEARN_GAP_PARTIAL : WRIT_LEARN_GAP_NONE;
}

/* Records have no OAuth scopes, and the call was executed: it has those that its rule wants. */
static struct writ_view
scopes_of(struct writ_learn_source *source, const struct writ_learn_past *past)
{
    struct writ_buf scopes = writ_buf_in(source->arena, SCOPES_MAX);
    const struct writ_tool_rule *rule =
        writ_policy_find(source->config, &past->agent, past->call.upstream, past->call.tool, NULL);

    if (rule == NULL || rule->scopes.n == 0) {
        return writ_view(NULL, 0);
    }
    writ_scopes_add_all(&scopes, &rule->scopes);
    return writ_is_ok(writ_buf_check(&scopes, NULL)) ? writ_buf_view(&scopes) : writ_view(NULL, 0);
}

static WRIT_RESULT
take_call(struct pass *pass, const struct writ_contents_call *call)
{
    struct writ_learn_source *source = pass->source;
    struct writ_learn_past past = {.run = call->boundary_id};
    struct writ_json_limits limits = writ_json_limits_default;
    struct writ_past record;

    if (writ_reason_is_of_run(writ_member_view(&call->extension->reason))) {
        return WRIT_DONE;
    }
    writ_arena_reset(source->arena);
    WRIT_TRY(writ_past_of(call->decision, call->extension, &record, pass->err));
    past.agent = record.agent;
    past.decision = record.decision_id;
    past.call = (struct writ_policy_call){
        .agent = &past.agent, .upstream = record.upstream, .tool = record.tool};
    if (!is_admitted(source, &past)) {
        return WRIT_DONE;
    }
    past.gap = gap_of(call, source->arena);
    if (past.gap == WRIT_LEARN_GAP_NONE) {
        limits.bytes = WRIT_CONTENT_MAX;
        WRIT_TRY(writ_json_read(
            call->arguments.bytes, &limits, source->arena, &past.call.arguments, pass->err));
        past.agent.scopes = scopes_of(source, &past);
        pass->looked++;
    }
    return pass->take(pass->user, &past, pass->err);
}

static bool
each_call(void *ctx, const struct writ_contents_call *call)
{
    struct pass *pass = ctx;

    pass->failed = take_call(pass, call);
    return writ_is_ok(pass->failed);
}

static WRIT_RESULT
each_content(struct pass *pass)
{
    struct writ_learn_source *source = pass->source;
    const struct writ_contents_filter filter = {
        .since_us = source->since_us, .every = true, .results = true};

    WRIT_TRY(writ_contents_source_each(&source->contents, &filter, each_call, pass, pass->err));
    source->looked = pass->looked > source->looked ? pass->looked : source->looked;
    return pass->failed;
}

WRIT_RESULT
writ_learn_source_each(struct writ_learn_source *source,
    WRIT_RESULT (*take)(void *user, const struct writ_learn_past *past, struct writ_err *err),
    void *user, struct writ_err *err)
{
    struct pass pass = {
        .source = source, .take = take, .user = user, .failed = WRIT_DONE, .err = err};

    return source->from_store ? each_content(&pass) : each_line(source, take, user, err);
}
