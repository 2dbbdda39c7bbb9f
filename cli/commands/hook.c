/* writ hook: a coding agent's event on standard input, its verdict as exit code and on standard
 * output.
 *
 * 1. Exit 0 before a tool use only after the binding check allowed it and the use was noted: every
 * other way out is 2. Agents take a third code as "go on".
 * 2. It narrows the agent's rules and never widens them: an allow says nothing, so that the agent's
 * own rules and its user still decide.
 * 3. A prompt that is not recorded stops nothing: the run then knows less, so it permits less. The
 * user gets a message. */
#include "base/secret.h"
#include "base/text.h"
#include "cli/commands/bearer.h"
#include "cli/commands/command.h"
#include "cli/commands/state_dir.h"
#include "evidence/json/jcs.h"
#include "evidence/json/write.h"
#include "gateway/http/fetch.h"

#include <signal.h>
#include <unistd.h>

#define ARENA_MAX  ((size_t)256 << 20)
#define EVENT_MAX  ((size_t)16 << 20) /* bytes of an event */
#define ANSWER_MAX ((size_t)16 << 20)
#define RESULT_MAX                                                                                 \
    ((size_t)256 << 10) /* longest result that is sent; a longer one is sent as its digest */
#define URL_MAX     4096
#define TIMEOUT_S   30
#define TIMEOUT_MAX 600
#define MESSAGE_MAX 8192 /* bytes of the reason of a refusal */
#define LINE_TEXT   600  /* bytes of a text that people or a model see */
#define EXIT_GO     WRIT_EXIT_OK
#define EXIT_STOP   WRIT_EXIT_USAGE /* 2 */

enum event { EVENT_UNKNOWN = 0, EVENT_PROMPT, EVENT_BEFORE, EVENT_AFTER, EVENT_FAILED, EVENT_END };

static const struct {
    const char *name;
    enum event event;
    bool decides; /* the agent reads {"decision"} and not {"hookSpecificOutput"} */
} events[] = {
    {"UserPromptSubmit", EVENT_PROMPT, true},
    {"PreToolUse", EVENT_BEFORE, false},
    {"BeforeTool", EVENT_BEFORE, true},
    {"PostToolUse", EVENT_AFTER, true},
    {"AfterTool", EVENT_AFTER, true},
    {"PostToolUseFailure", EVENT_FAILED, true},
    {"SessionEnd", EVENT_END, true},
};

/** One event while it is handled. */
struct hook {
    const struct writ_cli *cli;
    struct writ_arena *arena;
    struct writ_buf authorization; /* a whole field; a secret */
    int64_t timeout_ms;
    const struct writ_json *body;
    enum event event;
    bool decides;
    struct writ_view name, session, tool, use;
    const struct writ_json *input;
    char note[WRIT_STATE_DIR_NAME]; /* the name of the note */
    struct writ_view told;          /* the gateway's reason of a refusal, safe to show; in the
                                     * arena */
    struct writ_err err;
};

static void
hook_wipe(struct hook *h)
{
    writ_buf_wipe_secret(&h->authorization);
    writ_arena_free(h->arena);
}

/* ---- the event ---- */

static WRIT_RESULT
read_options(struct hook *h)
{
    struct writ_view timeout = writ_cli_get(h->cli, "timeout");
    uint64_t seconds = TIMEOUT_S;

    if (timeout.ptr != NULL && !writ_is_ok(writ_text_u64(timeout, 1, TIMEOUT_MAX, &seconds))) {
        WRIT_FAIL(&h->err, WRIT_E_INVALID, "--timeout must be 1 to %d seconds", TIMEOUT_MAX);
    }
    h->timeout_ms = (int64_t)seconds * 1000;
    return writ_bearer_read(writ_cli_get(h->cli, "token").ptr, &h->authorization, &h->err);
}

static void
find_event(struct hook *h)
{
    h->name = writ_json_string(writ_json_get(h->body, WRIT_LIT("hook_event_name")));
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        if (writ_view_is(h->name, events[i].name)) {
            h->event = events[i].event;
            h->decides = events[i].decides;
        }
    }
}

static struct writ_view
prompt_of(const struct hook *h)
{
    return writ_json_string(writ_json_get(h->body, WRIT_LIT("prompt")));
}

static bool
is_use(const struct hook *h)
{
    return h->event == EVENT_BEFORE || h->event == EVENT_AFTER || h->event == EVENT_FAILED;
}

static WRIT_RESULT
read_event(struct hook *h)
{
    struct writ_json_limits limits = writ_json_limits_default;
    struct writ_buf text = writ_buf_in(h->arena, EVENT_MAX);

    limits.bytes = limits.string_bytes = EVENT_MAX;
    WRIT_TRY(writ_cli_read("-", EVENT_MAX, &text, &h->err));
    WRIT_TRY(writ_json_read(writ_buf_view(&text), &limits, h->arena, &h->body, &h->err));
    find_event(h);
    h->session = writ_json_string(writ_json_get(h->body, WRIT_LIT("session_id")));
    h->tool = writ_json_string(writ_json_get(h->body, WRIT_LIT("tool_name")));
    h->use = writ_json_string(writ_json_get(h->body, WRIT_LIT("tool_use_id")));
    h->input = writ_json_get_typed(h->body, WRIT_LIT("tool_input"), WRIT_JSON_OBJECT);
    if (h->event == EVENT_UNKNOWN) {
        WRIT_FAIL(&h->err, WRIT_E_INVALID, "hook_event_name is unknown");
    }
    if (h->event == EVENT_PROMPT && (h->session.len == 0 || prompt_of(h).len == 0)) {
        WRIT_FAIL(&h->err, WRIT_E_INVALID, "the event lacks session_id or prompt");
    }
    if (h->session.len == 0 || (is_use(h) && (h->tool.len == 0 || h->input == NULL))) {
        WRIT_FAIL(&h->err, WRIT_E_INVALID,
            "the event lacks session_id, tool_name, or tool_input as an object");
    }
    return WRIT_DONE;
}

/* The use by the agent's own id; without an id, by its contents. */
static WRIT_RESULT
name_note(struct hook *h)
{
    writ_auto_buf text = writ_buf_make(2 * EVENT_MAX);
    struct writ_write w = writ_write_to(&text);
    struct writ_digest digest;

    writ_write_array_begin(&w);
    writ_write_string(&w, h->session);
    writ_write_string(&w, h->use);
    writ_write_string(&w, h->use.len > 0 ? WRIT_LIT("") : h->tool);
    if (h->use.len == 0) {
        writ_write_value(&w, h->input);
    }
    writ_write_array_end(&w);
    WRIT_TRY(writ_write_end(&w, &h->err));
    WRIT_TRY(writ_digest_bytes(writ_buf_view(&text), &digest, &h->err));
    writ_state_dir_name(&digest, h->note);
    return WRIT_DONE;
}

/* ---- the gateway ---- */

/* Sends a request, and returns the answer as an object; a problem becomes its reason. */
static WRIT_RESULT
ask(struct hook *h, const char *deed, struct writ_buf *body, const struct writ_json **ret)
{
    struct writ_view base = writ_cli_get(h->cli, "url");
    struct writ_json_limits limits = writ_json_limits_default;
    writ_auto_buf url = writ_buf_make(URL_MAX);
    struct writ_buf text = writ_buf_in(h->arena, ANSWER_MAX);
    const struct writ_json *answer = NULL;
    long status = 0;

    while (base.len > 0 && base.ptr[base.len - 1] == '/') {
        base.len--;
    }
    writ_buf_put(&url, base);
    writ_buf_fmt(&url, "/v1/%s", deed);
    writ_buf_byte(&url, '\0');
    writ_buf_byte(body, '\0');
    WRIT_TRY(writ_buf_check(&url, &h->err));
    WRIT_TRY(writ_buf_check(body, &h->err));
    WRIT_TRY(writ_fetch_ask(url.ptr,
        &(struct writ_fetch_request){.body = body->ptr,
            .type = "Content-Type: application/json",
            .authorization = h->authorization.ptr,
            .ca_file = writ_cli_get(h->cli, "ca").ptr},
        h->timeout_ms, NULL, &status, &text, &h->err));
    limits.bytes = limits.string_bytes = ANSWER_MAX;
    if (!writ_is_ok(writ_json_read(writ_buf_view(&text), &limits, h->arena, &answer, NULL)) ||
        writ_json_type(answer) != WRIT_JSON_OBJECT) {
        WRIT_FAIL(&h->err, WRIT_E_IO,
            "status %ld, and no JSON: check that the URL is that of the gateway", status);
    }
    if (status != 200) {
        writ_auto_buf safe = writ_buf_make(4 * LINE_TEXT);

        writ_text_safe(
            &safe, writ_json_string(writ_json_get(answer, WRIT_LIT("reason"))), LINE_TEXT);
        WRIT_FAIL(&h->err, WRIT_E_MISMATCH, "the gateway says " WRIT_VIEW_FMT,
            WRIT_VIEW_ARG(writ_buf_view(&safe)));
    }
    *ret = answer;
    return WRIT_DONE;
}

static bool
is_allow(const struct writ_json *answer)
{
    return writ_json_is(writ_json_get(answer, WRIT_LIT("verdict")), WRIT_LIT("allow"));
}

/* The call: tool and arguments. */
static void
put_call(struct hook *h, struct writ_write *w)
{
    writ_auto_buf tool = writ_buf_make(EVENT_MAX);

    writ_buf_put(&tool, writ_cli_get(h->cli, "framework"));
    writ_buf_byte(&tool, '/');
    writ_buf_put(&tool, h->tool);
    writ_write_text_if(w, "tool", writ_buf_view(&tool));
    writ_write_name(w, WRIT_LIT("arguments"));
    writ_write_value(w, h->input);
}

/* The refusal, for the model and its user: the reason's name, and the gateway's text. */
static WRIT_RESULT
refused(struct hook *h, const struct writ_json *answer)
{
    static const char *const parts[] = {"reason", "message"};
    struct writ_buf text = writ_buf_in(h->arena, 2 * 8 * MESSAGE_MAX);

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        struct writ_view part = writ_json_string(writ_json_get(answer, writ_view_str(parts[i])));
        if (part.len > 0) {
            writ_buf_str(&text, text.len > 0 ? "; " : "");
            writ_text_safe(&text, part, MESSAGE_MAX);
        }
    }
    WRIT_TRY(writ_buf_check(&text, &h->err));
    h->told = writ_buf_view(&text);
    WRIT_FAIL(&h->err, WRIT_E_MISMATCH, "the gateway refuses the call");
}

static WRIT_RESULT
decide(struct hook *h, const struct writ_json **ret)
{
    writ_auto_buf body = writ_buf_make(4 * EVENT_MAX);
    struct writ_write w = writ_write_to(&body);
    const struct writ_json *answer = NULL;

    writ_write_object_begin(&w);
    put_call(h, &w);
    writ_write_text_if(&w, "boundary_id", h->session);
    writ_write_text_if(&w, "idempotency_key", h->use);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, &h->err));
    WRIT_TRY(ask(h, "before", &body, &answer));
    if (!is_allow(answer)) {
        return refused(h, answer);
    }
    *ret = writ_json_get(answer, WRIT_LIT("decision"));
    return WRIT_DONE;
}

static WRIT_RESULT
bind_call(struct hook *h, const struct writ_json *decision)
{
    writ_auto_buf body = writ_buf_make(4 * EVENT_MAX);
    struct writ_write w = writ_write_to(&body);
    const struct writ_json *answer = NULL;

    writ_write_object_begin(&w);
    put_call(h, &w);
    writ_write_name(&w, WRIT_LIT("authorization"));
    writ_write_value(&w, decision);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, &h->err));
    WRIT_TRY(ask(h, "bind", &body, &answer));
    return is_allow(answer) ? WRIT_DONE : refused(h, answer);
}

/* The members of the decision that the report of its outcome repeats. */
static WRIT_RESULT
note(struct hook *h, const struct writ_json *decision)
{
    static const char *const kept[] = {"decision_id", "intent_ref"};
    writ_auto_buf text = writ_buf_make(WRIT_STATE_DIR_MAX);
    struct writ_write w = writ_write_to(&text);

    writ_write_object_begin(&w);
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        writ_write_text_if(
            &w, kept[i], writ_json_string(writ_json_get(decision, writ_view_str(kept[i]))));
    }
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, &h->err));
    return writ_state_dir_put(
        writ_cli_get(h->cli, "state").ptr, h->note, writ_buf_view(&text), &h->err);
}

/* ---- after ---- */

/* As a result of MCP, for the rules of results. A long one as its digest. */
static WRIT_RESULT
put_result(struct hook *h, struct writ_write *w)
{
    const struct writ_json *response = writ_json_get(h->body, WRIT_LIT("tool_response"));
    writ_auto_buf text = writ_buf_make(4 * EVENT_MAX), result = writ_buf_make(8 * EVENT_MAX);
    struct writ_digest digest;
    char hash[WRIT_DIGEST_TEXT];

    if (writ_json_type(response) == WRIT_JSON_STRING) {
        writ_buf_put(&text, writ_json_string(response));
    } else if (response != NULL) {
        WRIT_TRY(writ_jcs_put(&text, response, &h->err));
    }
    writ_buf_str(&result, "{\"content\":[{\"text\":");
    writ_text_json(&result, writ_buf_view(&text));
    writ_buf_str(&result, ",\"type\":\"text\"}]}");
    WRIT_TRY(writ_buf_check(&result, &h->err));
    if (result.len <= RESULT_MAX) {
        writ_write_name(w, WRIT_LIT("result"));
        writ_write_raw(w, writ_buf_view(&result));
        return WRIT_DONE;
    }
    WRIT_TRY(writ_digest_bytes(writ_buf_view(&result), &digest, &h->err));
    writ_digest_text(&digest, hash);
    writ_write_text_if(w, "tool_output_hash", writ_view_str(hash));
    return WRIT_DONE;
}

static WRIT_RESULT
tell(struct hook *h, struct writ_view noted, const char *outcome, bool with_result)
{
    writ_auto_buf body = writ_buf_make(16 * EVENT_MAX);
    struct writ_write w = writ_write_to(&body);
    const struct writ_json *known = NULL, *answer = NULL;

    WRIT_TRY(writ_json_read(noted, &writ_json_limits_default, h->arena, &known, &h->err));
    writ_write_object_begin(&w);
    writ_write_text_if(
        &w, "decision_id", writ_json_string(writ_json_get(known, WRIT_LIT("decision_id"))));
    writ_write_text_if(
        &w, "intent_ref", writ_json_string(writ_json_get(known, WRIT_LIT("intent_ref"))));
    writ_write_text_if(&w, "outcome", writ_view_str(outcome));
    if (h->event == EVENT_FAILED) {
        writ_write_text_if(&w, "error_type", WRIT_LIT("tool_error"));
    }
    if (with_result) {
        WRIT_TRY(put_result(h, &w));
    }
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, &h->err));
    WRIT_TRY(ask(h, "after", &body, &answer));
    if (writ_json_get(answer, WRIT_LIT("withheld")) != NULL ||
        writ_json_get(answer, WRIT_LIT("result")) != NULL) {
        WRIT_FAIL(&h->err, WRIT_E_MISMATCH,
            "a rule for results does not permit this result unchanged: do not use it");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
after(struct hook *h)
{
    struct writ_buf text = writ_buf_in(h->arena, WRIT_STATE_DIR_MAX);
    bool failed = h->event == EVENT_FAILED;
    writ_result result =
        writ_state_dir_take(writ_cli_get(h->cli, "state").ptr, h->note, &text, &h->err);

    if (result.code == WRIT_E_ABSENT) { /* it was refused, or never requested */
        return WRIT_DONE;
    }
    WRIT_TRY(result);
    return tell(h, writ_buf_view(&text), failed ? "error" : "executed", !failed);
}

/* ---- before, end ---- */

static WRIT_RESULT
before(struct hook *h)
{
    const struct writ_json *decision = NULL;
    writ_result noted;

    WRIT_TRY(decide(h, &decision));
    WRIT_TRY(bind_call(h, decision));
    noted = note(h, decision);
    if (!writ_is_ok(noted)) { /* keeps (1): without a note its outcome could not be reported */
        writ_auto_buf text = writ_buf_make(WRIT_STATE_DIR_MAX);
        struct writ_err why = h->err;

        WRIT_IGNORE(writ_jcs_put(&text, decision, NULL));
        WRIT_IGNORE(tell(h, writ_buf_view(&text), "blocked", false)); /* otherwise it expires */
        h->err = why;
    }
    return noted;
}

/* The prompt is what the run is for. The gateway adds later ones. */
static WRIT_RESULT
prompt(struct hook *h)
{
    writ_auto_buf body = writ_buf_make(4 * EVENT_MAX);
    struct writ_write w = writ_write_to(&body);
    const struct writ_json *answer = NULL;

    writ_write_object_begin(&w);
    writ_write_text_if(&w, "boundary_id", h->session);
    writ_write_text_if(&w, "task", prompt_of(h));
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, &h->err));
    return ask(h, "runs", &body, &answer);
}

/* A run that does not exist, or that has calls without an outcome, is sealed at its time limit. */
static WRIT_RESULT
end(struct hook *h)
{
    writ_auto_buf body = writ_buf_make(EVENT_MAX);
    struct writ_write w = writ_write_to(&body);
    const struct writ_json *answer = NULL;

    writ_write_object_begin(&w);
    writ_write_text_if(&w, "boundary_id", h->session);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, &h->err));
    WRIT_IGNORE(ask(h, "seal", &body, &answer));
    return WRIT_DONE;
}

static WRIT_RESULT
run(struct hook *h)
{
    if (h->arena == NULL) {
        WRIT_FAIL(&h->err, WRIT_E_NOMEM, "no memory for the event");
    }
    WRIT_TRY(read_options(h));
    WRIT_TRY(read_event(h));
    if (is_use(h)) {
        WRIT_TRY(name_note(h));
    }
    switch (h->event) {
    case EVENT_PROMPT:
        return prompt(h);
    case EVENT_BEFORE:
        return before(h);
    case EVENT_AFTER:
    case EVENT_FAILED:
        return after(h);
    case EVENT_END:
        return end(h);
    case EVENT_UNKNOWN:
        break;
    }
    WRIT_FAIL(&h->err, WRIT_E_INVALID, "there is nothing to do");
}

/* ---- the verdict ---- */

/* Errors in writing are ignored: the exit code stays. keeps (1) */
static void
say(int fd, struct writ_view text)
{
    ssize_t said = write(fd, text.ptr, text.len);

    (void)said;
}

static void
put_deny(const struct hook *h, struct writ_view why)
{
    writ_auto_buf line = writ_buf_make(4 * 8 * MESSAGE_MAX);
    struct writ_write w = writ_write_to(&line);

    writ_write_object_begin(&w);
    if (h->decides) {
        writ_write_text_if(
            &w, "decision", h->event == EVENT_BEFORE ? WRIT_LIT("deny") : WRIT_LIT("block"));
        writ_write_text_if(&w, "reason", why);
    } else {
        writ_write_name(&w, WRIT_LIT("hookSpecificOutput"));
        writ_write_object_begin(&w);
        writ_write_text_if(&w, "hookEventName", WRIT_LIT("PreToolUse"));
        writ_write_text_if(&w, "permissionDecision", WRIT_LIT("deny"));
        writ_write_text_if(&w, "permissionDecisionReason", why);
        writ_write_object_end(&w);
    }
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the exit code has the verdict too */
    writ_buf_byte(&line, '\n');
    say(STDOUT_FILENO, writ_buf_view(&line));
}

/* keeps (3) */
static void
put_note(struct writ_view why)
{
    writ_auto_buf line = writ_buf_make(4 * 8 * MESSAGE_MAX);
    struct writ_write w = writ_write_to(&line);

    writ_write_object_begin(&w);
    writ_write_text_if(&w, "systemMessage", why);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* standard error has it too */
    writ_buf_byte(&line, '\n');
    say(STDOUT_FILENO, writ_buf_view(&line));
}

enum writ_exit
writ_command_hook(const struct writ_cli *cli)
{
    WRIT_AUTO(struct hook, hook_wipe)
    h = {.cli = cli,
        .arena = writ_arena_new(ARENA_MAX),
        .authorization = writ_buf_make(WRIT_BEARER_FIELD_MAX)};
    writ_auto_buf why = writ_buf_make(2 * 8 * MESSAGE_MAX + 32 * LINE_TEXT);

    (void)signal(SIGPIPE, SIG_IGN);
    if (writ_is_ok(run(&h))) {
        say(STDOUT_FILENO, WRIT_LIT("{}\n"));
        return EXIT_GO;
    }
    writ_buf_str(&why, "writ: ");
    if (h.event == EVENT_PROMPT) {
        writ_buf_str(&why, "the prompt was not recorded as the task of the run; ");
    }
    if (h.told.len > 0) {
        writ_buf_put(&why, h.told);
    } else {
        writ_text_safe(&why, writ_view_str(h.err.text), 8 * LINE_TEXT);
    }
    if (h.event == EVENT_PROMPT) {
        put_note(writ_buf_view(&why));
    } else {
        put_deny(&h, writ_buf_view(&why));
    }
    writ_buf_byte(&why, '\n');
    say(STDERR_FILENO, writ_buf_view(&why));
    return h.event == EVENT_PROMPT ? EXIT_GO : EXIT_STOP;
}
