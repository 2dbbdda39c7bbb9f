/* writ verify ...: a tool server's check of a credential, as a command. The options and the call
 * together must give every value to compare. */
#include "cli/commands/command.h"

#include "base/text.h"
#include "evidence/jose/jwks.h"
#include "evidence/json/digest.h"
#include "evidence/json/jcs.h"
#include "evidence/json/write.h"
#include "writ/verify.h"

#include <stdio.h>

#define CALL_MAX ((size_t)16 << 20)
#define TOKEN_MAX                                                                                  \
    ((size_t)16 << 20) /* longer than every token: the length is a verdict, not a fault */
#define ARENA_MAX ((size_t)512 << 20)
#define SECOND_US 1000000

static const struct writ_json_limits call_limits = {
    .bytes = CALL_MAX,
    .depth = 64,
    .values = (size_t)4 << 20,
    .name_bytes = CALL_MAX,
    .string_bytes = CALL_MAX,
    .number_bytes = WRIT_NUMBER_MAX,
};

/* The input of one verification. */
struct inputs {
    struct writ_arena *arena;
    struct writ_verify *verify;
    struct writ_buf text, token, arguments;
    struct writ_verify_call call;
};

static void
inputs_wipe(struct inputs *in)
{
    writ_buf_wipe(&in->text);
    writ_buf_wipe(&in->token);
    writ_buf_wipe(&in->arguments);
    writ_verify_free(in->verify);
    writ_arena_free(in->arena);
}

/* ---- reading */

static WRIT_RESULT
read_keys(const struct writ_cli *cli, struct inputs *in, struct writ_err *err)
{
    const char *path = writ_cli_get(cli, "jwks").ptr;
    writ_auto_buf text = writ_buf_make(WRIT_JWKS_BYTES_MAX);
    struct writ_err why = {0};
    writ_result result;

    WRIT_TRY(writ_cli_read(path, WRIT_JWKS_BYTES_MAX, &text, err));
    WRIT_TRY(writ_verify_new(&in->verify, err));
    result = writ_verify_keys(in->verify, writ_buf_view(&text), &why);
    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, result.code, "%s: %s", path, why.text);
    }
    return WRIT_DONE;
}

/* Trusted keys: only those that they reach remain. */
static WRIT_RESULT
read_pin(const struct writ_cli *cli, struct inputs *in, struct writ_err *err)
{
    const char *path = writ_cli_get(cli, "pin").ptr;
    writ_auto_buf text = writ_buf_make(WRIT_JWKS_BYTES_MAX);
    struct writ_err why = {0};
    writ_result result;

    if (!writ_cli_has(cli, "pin")) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_cli_read(path, WRIT_JWKS_BYTES_MAX, &text, err));
    result = writ_verify_pin(in->verify, writ_buf_view(&text), &why);
    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, result.code, "%s: %s", path, why.text);
    }
    return WRIT_DONE;
}

/* One token, with or without the line end that editors add. */
static WRIT_RESULT
read_token(const struct writ_cli *cli, struct inputs *in, struct writ_err *err)
{
    struct writ_buf *token = &in->token;

    *token = writ_buf_make(TOKEN_MAX);
    WRIT_TRY(writ_cli_read(writ_cli_get(cli, "token").ptr, TOKEN_MAX, token, err));
    if (token->len > 0 && token->ptr[token->len - 1] == '\n') {
        token->len--;
    }
    if (token->len > 0 && token->ptr[token->len - 1] == '\r') {
        token->len--;
    }
    return WRIT_DONE;
}

/* Seconds since 1970, or a time of RFC 3339. */
static WRIT_RESULT
read_time(struct writ_view text, int64_t *ret, struct writ_err *err)
{
    uint64_t seconds;
    int64_t wall_us;

    if (writ_is_ok(writ_text_u64(text, 0, (uint64_t)INT64_MAX / SECOND_US, &seconds))) {
        *ret = (int64_t)seconds;
        return WRIT_DONE;
    }
    if (writ_is_ok(writ_time_read(text, &wall_us)) && wall_us >= 0) {
        *ret = wall_us / SECOND_US;
        return WRIT_DONE;
    }
    WRIT_FAIL(err, WRIT_E_INVALID, "a time is neither seconds since 1970 nor of RFC 3339");
}

/* One member of the call; false when it is malformed. */
static bool
take_member(const struct writ_json *name, struct writ_verify_call *call,
    const struct writ_json **ret_arguments)
{
    const struct writ_json *value = writ_json_value(name);
    struct writ_view text = writ_json_string(value);
    bool null = writ_json_type(value) == WRIT_JSON_NULL;

    if (writ_json_is(name, WRIT_LIT("arguments"))) {
        *ret_arguments = value;
        return writ_json_type(value) == WRIT_JSON_OBJECT;
    }
    if (writ_json_is(name, WRIT_LIT("at"))) {
        return writ_is_ok(read_time(writ_json_text(value), &call->now_s, NULL));
    }
    if (writ_json_is(name, WRIT_LIT("tenant"))) {
        call->any_tenant = false;
        call->tenant = text;
        return null || text.len > 0;
    }
    if (writ_json_is(name, WRIT_LIT("target_state_digest"))) {
        call->any_target_state = false;
        call->target_state_digest = text;
        return null || writ_digest_is(text);
    }
    if (writ_json_is(name, WRIT_LIT("tool"))) {
        call->tool = text;
    } else if (writ_json_is(name, WRIT_LIT("aud"))) {
        call->audience = text;
    } else if (writ_json_is(name, WRIT_LIT("iss"))) {
        call->any_issuer = false;
        call->issuer = text;
    } else if (writ_json_is(name, WRIT_LIT("agent_id"))) {
        call->any_agent = false;
        call->agent_id = text;
    } else {
        return false;
    }
    return text.len > 0;
}

/* With all digits of its numbers, so that the library judges those that arrived. */
static WRIT_RESULT
take_arguments(const struct writ_json *arguments, struct inputs *in, struct writ_err *err)
{
    if (arguments == NULL) {
        return WRIT_DONE; /* absent means {} */
    }
    in->arguments = writ_buf_make(6 * CALL_MAX);
    WRIT_TRY(writ_jcs_put_lossless(&in->arguments, arguments, err));
    in->call.arguments = writ_buf_view(&in->arguments);
    return WRIT_DONE;
}

static WRIT_RESULT
take_call(const struct writ_json *call, struct inputs *in, const char *path, struct writ_err *err)
{
    const struct writ_json *arguments = NULL;

    if (writ_json_type(call) != WRIT_JSON_OBJECT) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: not a JSON object", path);
    }
    WRIT_JSON_EACH(name, call)
    {
        if (!take_member(name, &in->call, &arguments)) {
            writ_auto_buf shown = writ_buf_make(1024);
            writ_text_json_safe(&shown, writ_json_text(name), 64);
            WRIT_FAIL(err, WRIT_E_INVALID,
                "%s: the member " WRIT_VIEW_FMT " is unknown or malformed", path,
                WRIT_VIEW_ARG(writ_buf_view(&shown)));
        }
    }
    if (in->call.tool.len == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: the member \"tool\" is missing", path);
    }
    return take_arguments(arguments, in, err);
}

static WRIT_RESULT
read_call(const struct writ_cli *cli, struct inputs *in, struct writ_err *err)
{
    const char *path = writ_cli_get(cli, "call").ptr;
    const struct writ_json *call = NULL;
    struct writ_err why = {0};
    writ_result result;

    in->text = writ_buf_make(CALL_MAX + 1); /* more than the limit, to name it */
    WRIT_TRY(writ_cli_read(path, CALL_MAX, &in->text, err));
    result = writ_json_read(writ_buf_view(&in->text), &call_limits, in->arena, &call, &why);
    if (!writ_is_ok(result)) {
        return writ_fail_at(err, result.code, why.offset, "%s: %s", path, why.text);
    }
    return take_call(call, in, path, err);
}

/* A number of seconds, if the option is given. */
static bool
take_seconds(
    const struct writ_cli *cli, const char *name, uint64_t least, uint64_t most, int64_t *ret)
{
    uint64_t value;

    if (!writ_cli_has(cli, name)) {
        return true;
    }
    if (!writ_is_ok(writ_text_u64(writ_cli_get(cli, name), least, most, &value))) {
        (void)writ_cli_usage(cli, "--%s is not a number of seconds from %llu to %llu", name,
            (unsigned long long)least, (unsigned long long)most);
        return false;
    }
    *ret = (int64_t)value;
    return true;
}

/* Options of the command line override members of the call. */
static bool
take_options(const struct writ_cli *cli, struct writ_verify_call *call)
{
    if (writ_cli_has(cli, "aud")) {
        call->audience = writ_cli_get(cli, "aud");
    }
    if (writ_cli_has(cli, "iss")) {
        call->any_issuer = false;
        call->issuer = writ_cli_get(cli, "iss");
    }
    if (writ_cli_has(cli, "at") &&
        !writ_is_ok(read_time(writ_cli_get(cli, "at"), &call->now_s, NULL))) {
        (void)writ_cli_usage(cli, "--at is neither seconds since 1970 nor a time of RFC 3339");
        return false;
    }
    if (call->audience.len == 0) {
        (void)writ_cli_usage(cli, "missing audience: pass --aud, or \"aud\" in the call");
        return false;
    }
    call->typ = writ_cli_get(cli, "typ");
    return take_seconds(cli, "skew", 0, WRIT_VERIFY_SKEW_MAX_S, &call->skew_s) &&
           take_seconds(cli, "max-lifetime", 1, WRIT_VERIFY_LIFETIME_S, &call->lifetime_max_s);
}

static WRIT_RESULT
read_inputs(const struct writ_cli *cli, struct inputs *in, struct writ_err *err)
{
    in->call = (struct writ_verify_call){
        .any_issuer = true,
        .any_agent = true,
        .any_tenant = true,
        .any_target_state = true,
        .now_s = writ_clock_wall_us(cli->clock) / SECOND_US,
    };
    in->arena = writ_arena_new(ARENA_MAX);
    if (in->arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    WRIT_TRY(read_keys(cli, in, err));
    WRIT_TRY(read_pin(cli, in, err));
    WRIT_TRY(read_token(cli, in, err));
    return read_call(cli, in, err);
}

/* ---- answering */

static WRIT_RESULT
answer_json(const struct inputs *in, const struct writ_verify_answer *answer, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(65536);
    struct writ_write w = writ_write_to(&text);
    const char *left_out = "";

    writ_write_object_begin(&w);
    writ_write_flag(&w, "ok", answer->ok);
    writ_write_text(&w, "reason", writ_view_str(answer->reason));
    writ_write_text(&w, "sentence", writ_view_str(answer->sentence));
    if (answer->ok) {
        writ_write_text(&w, "jti", answer->jti);
        writ_write_integer(&w, "exp", answer->expires_at_s);
    }
    if (writ_verify_left_out(in->verify, &left_out) > 0) {
        writ_write_text(&w, "left_out", writ_view_str(left_out));
    }
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    writ_buf_byte(&text, '\n');
    WRIT_TRY(writ_buf_check(&text, err));
    writ_cli_put(writ_buf_view(&text));
    return WRIT_DONE;
}

static void
answer_text(const struct inputs *in, const struct writ_verify_answer *answer)
{
    const char *left_out = "";
    size_t count = writ_verify_left_out(in->verify, &left_out);

    writ_cli_print("%s\n", answer->reason);
    if (count > 0 && writ_view_is(writ_view_str(answer->reason), "unknown_key")) {
        (void)fprintf(stderr, "note: %zu of the keys cannot be used, the first because: %s\n",
            count, left_out);
    }
}

static WRIT_RESULT
verify(const struct writ_cli *cli, const struct inputs *in, bool *ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_verify_answer, writ_verify_wipe) answer = {0};

    WRIT_TRY(
        writ_verify_credential(in->verify, writ_buf_view(&in->token), &in->call, &answer, err));
    if (cli->json) {
        WRIT_TRY(answer_json(in, &answer, err));
    } else {
        answer_text(in, &answer);
    }
    *ret = answer.ok;
    return WRIT_DONE;
}

enum writ_exit
writ_command_verify_credential(const struct writ_cli *cli)
{
    WRIT_AUTO(struct inputs, inputs_wipe) in = {0};
    bool good = false;
    struct writ_err err = {0};
    writ_result result = read_inputs(cli, &in, &err);

    if (writ_is_ok(result) && !take_options(cli, &in.call)) {
        return WRIT_EXIT_USAGE;
    }
    if (writ_is_ok(result)) {
        result = verify(cli, &in, &good, &err);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    return good ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}
