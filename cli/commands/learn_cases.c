/* Cases for `writ policy test`: for each tool a call that was made, one call for each
 * generalisation, and made-up calls, each wrong in one way. The proposal judges
 * each of them first: a wrong call that it allows is left out. */
#include "base/text.h"
#include "cli/commands/learn_cases.h"
#include "evidence/json/write.h"
#include "policy/model/quote.h"
#include "policy/model/path.h"
#include "policy/model/host.h"
#include "policy/read/case.h"

#define CASES_TEXT_MAX ((size_t)WRIT_CASE_FILE_MAX)
#define CALL_MAX       4096 /* bytes of the arguments of a case */
#define STRANGER       "writ_policy_learn_unknown"

struct cases {
    struct writ_learn_run *run;
    struct writ_buf *ret;
    size_t wanted_n;
    struct wanted {
        struct writ_view decision;
        const struct writ_learned_argument *argument;
    } * wanted;
};

/* ---- one case */

static void
put_call(const struct writ_learn_result *result, struct writ_view arguments, struct writ_buf *ret)
{
    const struct writ_learn_tool *tool = result->change.tool;
    writ_auto_buf name = writ_buf_make(CASES_TEXT_MAX), call = writ_buf_make(CASES_TEXT_MAX);
    struct writ_write w = writ_write_to(&call);

    writ_buf_put(&name, tool->upstream);
    writ_buf_byte(&name, '/');
    writ_buf_put(&name, tool->tool);
    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("agent"));
    writ_write_object_begin(&w);
    writ_write_text(&w, "id", result->agent.id);
    writ_write_text_if(&w, "tenant", result->agent.tenant);
    writ_write_text_if(&w, "role", result->agent.role);
    writ_write_text_if(&w, "scopes", result->agent.scopes);
    writ_write_object_end(&w);
    writ_write_text(&w, "tool", writ_buf_view(&name));
    writ_write_name(&w, WRIT_LIT("arguments"));
    writ_write_raw(&w, arguments);
    writ_write_object_end(&w);
    ret->failed = writ_is_ok(writ_write_end(&w, NULL)) ? ret->failed : WRIT_E_NOMEM;
    writ_quote_json(ret, writ_buf_view(&call), WRIT_QUOTE_YAML);
}

/* Judges it by the proposal; false: it is not as wanted, and no case. */
static bool
is_as_wanted(struct cases *c, const struct writ_learn_result *result,
    const struct writ_json *arguments, bool allowed, const char **ret_decision)
{
    struct writ_policy_call call = {
        &result->agent, result->change.tool->upstream, result->change.tool->tool, arguments};
    struct writ_verdict verdict;

    writ_policy_decide(writ_learn_run_config(c->run, result), &call, c->run->scratch, &verdict);
    *ret_decision = writ_case_decision(&verdict);
    return (verdict.answer == WRIT_POLICY_ALLOW) == allowed;
}

static void
put_case(struct cases *c, const struct writ_learn_result *result, const char *what,
    struct writ_view where, struct writ_view text, bool allowed)
{
    const struct writ_json *arguments;
    const char *decision;
    writ_auto_buf title = writ_buf_make(CASES_TEXT_MAX);

    if (c->ret->len + text.len + 8192 > CASES_TEXT_MAX || c->run->cases_n == WRIT_CASES_MAX ||
        !writ_is_ok(
            writ_json_read(text, &writ_json_limits_default, c->run->scratch, &arguments, NULL)) ||
        !is_as_wanted(c, result, arguments, allowed, &decision)) {
        return;
    }
    writ_text_safe(&title, result->change.tool->tool, 128);
    writ_buf_fmt(&title, ": %s", what);
    writ_text_safe(&title, where, 256);
    writ_buf_str(c->ret, "  - name: ");
    writ_text_json_safe(c->ret, writ_buf_view(&title), title.len);
    writ_buf_str(c->ret, "\n    call: ");
    put_call(result, text, c->ret);
    writ_buf_fmt(c->ret, "\n    expect: %s\n", decision);
    c->run->cases_n++;
}

/* ---- made-up calls */

/* A value elsewhere, for one of a kind that has an elsewhere; false for others. */
static bool
put_elsewhere(const struct writ_json *value, struct writ_buf *ret)
{
    static const struct writ_view root = {"/", 1};
    struct writ_view text = writ_json_string(value);
    struct writ_url url;

    if (writ_json_type(value) == WRIT_JSON_NUMBER) {
        writ_buf_str(ret, "1000000000000000");
    } else if (text.ptr != NULL && writ_path_is_under(text, &root, 1)) {
        writ_buf_str(ret, "\"/" STRANGER "/x\"");
    } else if (text.ptr != NULL && writ_is_ok(writ_host_read_url(text, &url))) {
        writ_buf_str(ret, "\"https://unknown.invalid/\"");
    } else if (text.ptr != NULL) {
        writ_buf_str(ret, "{\"" STRANGER "\":1}");
    } else {
        return false;
    }
    return true;
}

/* The arguments with `name` replaced by `with`; without a name, with one member more. */
static void
put_changed(const struct writ_json *arguments, const struct writ_json *name, struct writ_view with,
    struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    WRIT_JSON_EACH(member, arguments)
    {
        writ_write_name(&w, writ_json_string(member));
        if (member == name) {
            writ_write_raw(&w, with);
        } else {
            writ_write_verbatim(&w, writ_json_value(member));
        }
    }
    if (name == NULL) {
        writ_write_name(&w, WRIT_LIT(STRANGER));
        writ_write_raw(&w, with);
    }
    writ_write_object_end(&w);
    ret->failed = writ_is_ok(writ_write_end(&w, NULL)) ? ret->failed : WRIT_E_NOMEM;
}

static void
put_wrong(struct cases *c, const struct writ_learn_result *result)
{
    const struct writ_json *first = result->change.tool->first;
    struct writ_buf text = writ_buf_make(CALL_MAX * 4);

    put_changed(first, NULL, WRIT_LIT("true"), &text);
    put_case(c, result, "an argument of no seen call", WRIT_LIT(""), writ_buf_view(&text), false);
    WRIT_JSON_EACH(name, first)
    {
        writ_auto_buf with = writ_buf_make(CALL_MAX);

        writ_arena_reset(c->run->scratch);
        writ_buf_clear(&text);
        if (put_elsewhere(writ_json_value(name), &with)) {
            put_changed(first, name, writ_buf_view(&with), &text);
            put_case(c, result, "a value far from what was seen: ", writ_json_string(name),
                writ_buf_view(&text), false);
        }
    }
    writ_buf_wipe(&text);
}

/* ---- calls that were made */

static WRIT_RESULT
put_seen(void *user, const struct writ_learn_past *past, struct writ_err *err)
{
    struct cases *c = user;

    (void)err;
    for (size_t i = 0; i < c->wanted_n; i++) {
        writ_auto_buf text = writ_buf_make(CALL_MAX);
        struct writ_learn_result *result;
        struct writ_learn_result own;
        struct writ_write w = writ_write_to(&text);

        if (!writ_view_equal(c->wanted[i].decision, past->decision)) {
            continue;
        }
        writ_arena_reset(c->run->scratch);
        result = writ_learn_run_result(c->run, past);
        writ_write_verbatim(&w, past->call.arguments);
        if (result == NULL || !writ_is_ok(writ_write_end(&w, NULL))) {
            continue; /* too long for a case */
        }
        own = *result;
        own.agent = *past->call.agent;
        put_case(c, &own, "seen, needs the step of ", c->wanted[i].argument->pointer,
            writ_buf_view(&text), true);
    }
    return WRIT_DONE;
}

/* The first call that each generalisation is for. */
static WRIT_RESULT
want(struct cases *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->run->results_n; i++) {
        for (const struct writ_learned_argument *a = c->run->results[i].learned.arguments;
             a != NULL; a = a->next) {
            n += a->decisions_n > 0 ? 1 : 0;
        }
    }
    c->wanted = writ_arena_get(c->run->arena, (n + 1) * sizeof *c->wanted);
    if (c->wanted == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t i = 0; i < c->run->results_n; i++) {
        for (const struct writ_learned_argument *a = c->run->results[i].learned.arguments;
             a != NULL; a = a->next) {
            bool wide = a->step != WRIT_LEARN_VALUE && a->step != WRIT_LEARN_ENUMERATION;
            if (wide && a->decisions_n > 0) {
                c->wanted[c->wanted_n++] = (struct wanted){a->decisions[0], a};
            }
        }
    }
    return WRIT_DONE;
}

/* The configuration, as the file of cases names it. */
static WRIT_RESULT
put_config(struct cases *c, struct writ_err *err)
{
    const char *config = writ_cli_operand(c->run->cli, 0).ptr;
    const char *file = writ_cli_get(c->run->cli, "cases").ptr;
    writ_auto_buf here = writ_buf_make(WRIT_TEXT_PATH_MAX),
                  there = writ_buf_make(WRIT_TEXT_PATH_MAX);
    struct writ_view name = writ_view_str(config);
    size_t at = name.len;

    while (at > 0 && name.ptr[at - 1] != '/') {
        at--;
    }
    WRIT_TRY(writ_text_folder(config, &here, err));
    WRIT_TRY(writ_text_folder(file, &there, err));
    if (writ_view_equal(writ_buf_view(&here), writ_buf_view(&there))) {
        writ_buf_clear(&here);
    }
    writ_buf_put(&here, writ_view_sub(name, at, name.len));
    writ_buf_str(c->ret, "# Made by writ policy learn. Run: writ policy test FILE\nconfig: ");
    writ_text_json(c->ret, writ_buf_view(&here));
    writ_buf_str(c->ret, "\ncases:\n");
    return writ_buf_check(&here, err);
}

WRIT_RESULT
writ_learn_cases_put(struct writ_learn_run *run, struct writ_err *err)
{
    struct cases c = {.run = run, .ret = &run->cases};

    run->cases = writ_buf_make(CASES_TEXT_MAX);
    WRIT_TRY(put_config(&c, err));
    for (size_t i = 0; i < run->results_n; i++) {
        const struct writ_json *first = run->results[i].change.tool->first;
        writ_auto_buf text = writ_buf_make(CALL_MAX);
        struct writ_write w = writ_write_to(&text);

        if (first == NULL) {
            continue;
        }
        writ_arena_reset(run->scratch);
        writ_write_verbatim(&w, first);
        WRIT_TRY(writ_write_end(&w, err));
        put_case(&c, &run->results[i], "as first seen", WRIT_LIT(""), writ_buf_view(&text), true);
        put_wrong(&c, &run->results[i]);
    }
    WRIT_TRY(want(&c));
    WRIT_TRY(writ_learn_source_each(run->source, put_seen, &c, err));
    if (run->cases_n == 0) {
        WRIT_FAIL(err, WRIT_E_ABSENT, "nothing was learned, so there are no cases to write");
    }
    return writ_buf_check(&run->cases, err);
}
