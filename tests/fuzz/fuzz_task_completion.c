/* Messages of a server about a task: an answer to a question about it, or a notification that no
 * request asked for. The first byte picks the form, and whether the call has its outcome already;
 * the rest is the message.
 *
 * For every input: a call that has its outcome gets no other one; a task is over only when the
 * message says so in a place of that form; the forwarded message is JSON, of the same id and
 * method, the message itself where no rule changed it, and without what the rules of the tool
 * remove. */
#include "policy/read/load.h"
#include "support/fuzz.h"

#include "evidence/json/json.h"
#include "gateway/call/task_completion.h"

#define ARENA_MAX ((size_t)64 << 20)
#define FORMS     5
#define SECRET    WRIT_LIT("sk-secret")

static const char yaml[] = "tools:\n"
                           "  u/t:\n"
                           "    scope: s\n"
                           "    arguments: [{arg: '', op: type, value: any}]\n"
                           "    result: {redact: [{pattern: 'sk-secret'}]}\n";

static struct writ_arena *arena;
static struct writ_config *config;

static const struct writ_json *
read(struct writ_view text)
{
    const struct writ_json *value = NULL;

    return writ_is_ok(writ_mcp_parse(text, arena, &value)) ? value : NULL;
}

static bool
same_member(const struct writ_json *a, const struct writ_json *b, struct writ_view name)
{
    const struct writ_json *left = writ_json_get(a, name), *right = writ_json_get(b, name);

    return (left == NULL && right == NULL) ||
           (left != NULL && right != NULL && writ_json_equal(left, right));
}

/* The place of the call's result in a message of that form; NULL: none. */
static const struct writ_json *
result_of(enum writ_task_form form, const struct writ_json *message)
{
    const struct writ_json *holder = NULL;

    switch (form) {
    case WRIT_TASK_STATUS:
    case WRIT_TASK_NOTICE:
        return NULL;
    case WRIT_TASK_RESULT:
        holder = message;
        break;
    case WRIT_TASK_WHOLE:
        holder = writ_json_get(message, WRIT_LIT("result"));
        break;
    case WRIT_TASK_NEWS:
        holder = writ_json_get(message, WRIT_LIT("params"));
        break;
    }
    return writ_json_get(holder, WRIT_LIT("result"));
}

static void
check_told(enum writ_task_form form, const struct writ_task_completion *end,
    struct writ_view before, struct writ_view told)
{
    const struct writ_json *message = read(before), *after = read(told);
    const struct writ_json *result;

    if (end->withheld != WRIT_REASON_NONE) {
        return; /* the message must not be forwarded */
    }
    WRIT_INVARIANT(end->after_hash.len > 0 || writ_view_equal(told, before));
    WRIT_INVARIANT((after == NULL) == (message == NULL));
    WRIT_INVARIANT(same_member(message, after, WRIT_LIT("id")));
    WRIT_INVARIANT(same_member(message, after, WRIT_LIT("method")));
    result = writ_json_get(result_of(form, after), WRIT_LIT("structuredContent"));
    WRIT_JSON_EACH(name, result)
    {
        struct writ_view value = writ_json_string(writ_json_get(result, writ_json_string(name)));
        WRIT_INVARIANT(writ_view_search(value, SECRET) == value.len);
    }
}

static void
check_says(enum writ_task_form form, enum writ_task_says says,
    const struct writ_task_completion *end, const struct writ_json *message)
{
    bool is_notice = form == WRIT_TASK_NOTICE || form == WRIT_TASK_NEWS;
    const struct writ_json *task =
        writ_json_get(message, is_notice ? WRIT_LIT("params") : WRIT_LIT("result"));
    const struct writ_json *status = writ_json_get(task, WRIT_LIT("status"));

    if (says == WRIT_TASK_SAYS_NOTHING) {
        return;
    }
    WRIT_INVARIANT(message != NULL && !end->call.ended);
    WRIT_INVARIANT(end->kind == WRIT_OUTCOME_EXECUTED || end->kind == WRIT_OUTCOME_ERROR);
    WRIT_INVARIANT((end->kind == WRIT_OUTCOME_ERROR) == (end->error_type.len > 0));
    WRIT_INVARIANT(
        says != WRIT_TASK_SAYS_ASK || form == WRIT_TASK_STATUS || form == WRIT_TASK_NOTICE);
    WRIT_INVARIANT(form == WRIT_TASK_RESULT || writ_json_is(status, WRIT_LIT("completed")) ||
                   writ_json_is(status, WRIT_LIT("failed")) ||
                   writ_json_is(status, WRIT_LIT("cancelled")));
    WRIT_INVARIANT(form != WRIT_TASK_RESULT || writ_json_get(message, WRIT_LIT("result")) != NULL ||
                   writ_json_get(message, WRIT_LIT("error")) != NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct writ_agent agent = {.id = {"dev", 3}, .tenant = {"acme", 4}};
    unsigned pick = size > 0 ? data[0] : 0;
    enum writ_task_form form = (enum writ_task_form)(pick % FORMS);
    struct writ_view message = writ_view_sub(writ_view(data, size), 1, size), told = message;
    struct writ_task_completion end = {.clock = writ_clock_system(),
        .agent = &agent,
        .upstream = WRIT_LIT("u"),
        .call = {.ended = pick / FORMS % 2 == 1}};
    enum writ_task_says says;

    if (arena == NULL) {
        arena = writ_arena_new(ARENA_MAX);
        WRIT_INVARIANT(arena != NULL);
        WRIT_INVARIANT(
            writ_is_ok(writ_load_text(writ_view_str(yaml), "fuzz", NULL, &config, NULL)));
    }
    writ_arena_reset(arena);
    end.arena = arena;
    end.config = config;
    end.call.decision.tool = writ_member_text(WRIT_LIT("t"));
    says = writ_task_completion_learn(&end, form, &told);
    check_says(form, says, &end, read(message));
    check_told(form, &end, message, told);
    return 0;
}
