/* guard.c - opening a guard and closing it; asking it; reading a message.
 *
 * Invariants:
 * (1) A call goes on only after `ok`, which is said only when its jti was taken in this moment.
 * (2) Every ask that was not forgotten is answered once. */
#include "gateway/guard/guard.h"

#include "evidence/json/write.h"
#include "gateway/guard/guard_http.h"
#include "gateway/guard/guard_state.h"
#include "gateway/guard/guard_stdio.h"
#include "gateway/mcp/method.h"
#include "gateway/request/refusal.h"

#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#define US_PER_S        INT64_C(1000000)
#define KEYS_EVERY_US   (60 * US_PER_S)
#define KEYS_MAX        ((size_t)256 * 1024)
#define STATUS_EVERY_US US_PER_S
#define STATUS_MAX      ((size_t)8192)
#define CANONICAL_MAX   (6 * WRIT_GUARD_BODY_MAX)
#define TICK_NS         100000000

enum place { PLACE_KEYS = 0, PLACE_STATUS };

const struct writ_json_limits writ_guard_message_limits = {
    .bytes = WRIT_GUARD_BODY_MAX,
    .depth = 64,
    .values = (size_t)1 << 20,
    .name_bytes = WRIT_GUARD_BODY_MAX,
    .string_bytes = WRIT_GUARD_BODY_MAX,
    .number_bytes = WRIT_NUMBER_MAX,
};

/* ---- asking */

static int64_t
now_s(const struct writ_guard *guard)
{
    return writ_clock_wall_us(guard->options->clock) / US_PER_S;
}

/* The last check: was it used? It is remembered as long as a guard that shares the file may accept
 * it. */
static enum writ_reason
take(struct writ_guard *guard, const struct writ_verify_answer *answer)
{
    switch (writ_replay_cache_take(guard->used, answer->jti, answer->issued_at_s,
        answer->expires_at_s + WRIT_VERIFY_SKEW_MAX_S, now_s(guard))) {
    case WRIT_VERIFY_USE_FRESH:
        return WRIT_REASON_CREDENTIAL_OK;
    case WRIT_VERIFY_USE_SPENT:
        return WRIT_REASON_REPLAYED;
    case WRIT_VERIFY_USE_UNKNOWN:
        break;
    }
    return WRIT_REASON_OVERLOADED;
}

/* All questions but the last. */
static enum writ_reason
judge(struct writ_guard *guard, struct writ_guard_ask *ask)
{
    const struct writ_guard_options *options = guard->options;
    struct writ_err err = {{0}, 0, 0};
    const struct writ_verify_call call = {
        .tool = ask->tool,
        .params_hash = ask->params_hash,
        .audience = options->audience,
        .issuer = options->issuer,
        .any_issuer = options->issuer.len == 0,
        .any_agent = true,
        .any_tenant = true,
        .target_state_digest = ask->target_state,
        .any_target_state = !ask->state_is_known,
        .any_arguments = ask->any_arguments,
        .typ = options->typ,
        .now_s = now_s(guard),
        .skew_s = options->skew_s,
    };
    writ_result result;

    writ_verify_wipe(&ask->answer);
    result = writ_verify_credential(guard->verify, ask->token, &call, &ask->answer, &err);
    if (!writ_is_ok(result)) {
        WRIT_LOG(options->log, WRIT_LOG_ERROR, "not_verified", writ_log_str("why", err.text));
        return WRIT_REASON_INTERNAL_ERROR;
    }
    return ask->answer.ok ? WRIT_REASON_CREDENTIAL_OK
                          : writ_reason_find(writ_view_str(ask->answer.reason));
}

static void
finish(struct writ_guard *guard, struct writ_guard_ask *ask)
{
    bool ok;

    if (ask->reason == WRIT_REASON_CREDENTIAL_OK) {
        ask->reason = take(guard, &ask->answer);
    }
    ok = ask->reason == WRIT_REASON_CREDENTIAL_OK;
    ask->ok = ok; /* keeps (1) */
    WRIT_LOG(guard->options->log, ok ? WRIT_LOG_DEBUG : WRIT_LOG_WARN,
        ok ? "let_through" : "refused", writ_log_text("reason", writ_reason_name(ask->reason)),
        writ_log_text("tool", ask->tool), writ_log_text("jti", ask->answer.jti));
    ask->done(ask);
}

/* With what was judged: it is looked at the target, or it ends. */
static void
go_on(struct writ_guard *guard, struct writ_guard_ask *ask)
{
    if (ask->reason == WRIT_REASON_CREDENTIAL_OK && ask->call != NULL && !ask->state_is_known) {
        ask->reason = writ_guard_state_start(guard, ask);
    }
    if (ask->reason != WRIT_REASON_NONE) {
        finish(guard, ask);
    }
}

void
writ_guard_ask(struct writ_guard *guard, struct writ_guard_ask *ask)
{
    ask->reason = judge(guard, ask);
    if (ask->reason == WRIT_REASON_UNKNOWN_KEY && writ_guard_keys_hurry(guard->keys, PLACE_KEYS)) {
        ask->waiting = true;
        ask->next = guard->waiting;
        guard->waiting = ask;
        return;
    }
    go_on(guard, ask);
}

/* Time has passed since the ask was judged, so all of it is judged again. */
void
writ_guard_saw(
    struct writ_guard *guard, struct writ_guard_ask *ask, const struct writ_probe_state *state)
{
    if (!state->known) {
        ask->reason = WRIT_REASON_TARGET_STATE_UNAVAILABLE;
    } else {
        writ_digest_text(&state->digest, ask->seen);
        ask->target_state = writ_view_str(ask->seen);
        ask->state_is_known = true;
        ask->reason = judge(guard, ask);
    }
    finish(guard, ask);
}

bool
writ_guard_forget(struct writ_guard *guard, struct writ_guard_ask *ask)
{
    for (struct writ_guard_ask **at = &guard->waiting; ask->waiting && *at != NULL;
         at = &(*at)->next) {
        if (*at == ask) {
            *at = ask->next;
            ask->waiting = false;
            return true;
        }
    }
    if (ask->get.call != NULL) {
        writ_probe_get_cancel(&ask->get);
    }
    return false;
}

/* A list that cannot be had or used leaves the one before, which is over soon. */
static void
told_status(struct writ_guard *guard, const struct writ_buf *text)
{
    struct writ_err err = {{0}, 0, 0};
    bool good =
        text == NULL || writ_is_ok(writ_verify_status(guard->verify, writ_buf_view(text), &err));

    if (!good && !guard->status_refused) {
        WRIT_LOG(guard->options->log, WRIT_LOG_ERROR, "status_refused",
            writ_log_str("place", guard->options->status), writ_log_str("why", err.text));
    }
    guard->status_refused = !good;
}

/* Who waited for keys asks once more, whether there are new ones or not. */
static void
told(void *ctx, size_t place, const struct writ_buf *text)
{
    struct writ_guard *guard = ctx;
    struct writ_err err = {{0}, 0, 0};

    if (place == PLACE_STATUS) {
        told_status(guard, text);
        return;
    }
    if (text != NULL && !writ_is_ok(writ_verify_keys(guard->verify, writ_buf_view(text), &err))) {
        WRIT_LOG(guard->options->log, WRIT_LOG_ERROR, "keys_refused",
            writ_log_str("place", guard->options->keys), writ_log_str("why", err.text));
    }
    while (guard->waiting != NULL) {
        struct writ_guard_ask *ask = guard->waiting;

        guard->waiting = ask->next;
        ask->waiting = false;
        ask->reason = judge(guard, ask);
        go_on(guard, ask); /* keeps (2) */
    }
}

/* ---- reading */

static enum writ_guard_way
refuse(
    struct writ_guard_message *ret, int status, int code, enum writ_reason reason, const char *text)
{
    ret->fault = (struct writ_mcp_fault){status, code, reason, text};
    return WRIT_GUARD_REFUSE;
}

/* Over stdio nothing but the body says what a message is, so its head says the same. */
static WRIT_RESULT
made_headers(const struct writ_json *body, struct writ_arena *arena, struct writ_mcp_headers *ret)
{
    const struct writ_json *params = writ_json_get(body, WRIT_LIT("params"));
    struct writ_view method = writ_json_string(writ_json_get(body, WRIT_LIT("method")));
    struct writ_view name = writ_mcp_mirrored_name(method, params);
    struct writ_buf text = writ_buf_in(arena, 2 * name.len + 64);

    writ_mcp_header_encode(&text, name);
    WRIT_TRY(writ_buf_check(&text, NULL));
    *ret = (struct writ_mcp_headers){
        .version = writ_json_string(
            writ_json_get(writ_json_get(params, WRIT_LIT("_meta")), WRIT_LIT(WRIT_META_VERSION))),
        .method = method,
        .name = name.ptr != NULL ? writ_buf_view(&text) : name,
    };
    return WRIT_DONE;
}

static bool
hash_arguments(const struct writ_json *arguments, char ret[WRIT_DIGEST_TEXT])
{
    struct writ_digest digest;

    if (arguments != NULL && writ_json_type(arguments) != WRIT_JSON_OBJECT) {
        return false;
    }
    if (!writ_is_ok(arguments == NULL
                        ? writ_digest_bytes(WRIT_LIT("{}"), &digest, NULL)
                        : writ_digest_json(arguments, CANONICAL_MAX, &digest, NULL))) {
        return false;
    }
    writ_digest_text(&digest, ret);
    return true;
}

/* A credential in the head and another one in the body: it is unclear which of them counts. */
static bool
read_token(const struct writ_json *meta, struct writ_view head, struct writ_view *ret)
{
    const struct writ_json *value = writ_json_get(meta, WRIT_LIT(WRIT_GUARD_META));
    struct writ_view body = writ_json_string(value);

    *ret = head.len > 0 ? head : body;
    return value == NULL || (body.ptr != NULL && (head.len == 0 || writ_view_equal(head, body)));
}

/* A question as the probes ask it, which only reads. */
static bool
is_open(const struct writ_guard *guard, struct writ_view tool, struct writ_view token)
{
    return guard->options->open_probes && guard->probes != NULL && token.len == 0 &&
           writ_guard_probes_asks(guard->probes, tool);
}

static enum writ_guard_way
read_call(const struct writ_guard *guard, struct writ_view token, struct writ_arena *arena,
    struct writ_guard_message *ret)
{
    const struct writ_mcp_message *message = &ret->call;

    if (message->name.len == 0 || !writ_mcp_params_are_known(message->params)) {
        return refuse(ret, 400, WRIT_RPC_INVALID_PARAMS, WRIT_REASON_MALFORMED_REQUEST,
            "params of a tools/call have a name, and no member that the specification has not");
    }
    if (!hash_arguments(writ_json_get(message->params, WRIT_LIT("arguments")), ret->params_hash)) {
        return refuse(ret, 400, WRIT_RPC_INVALID_PARAMS, WRIT_REASON_MALFORMED_REQUEST,
            "arguments of a tools/call are an object");
    }
    if (!read_token(message->meta, token, &ret->ask.token)) {
        return refuse(ret, 403, WRIT_REFUSAL_CODE, WRIT_REASON_MALFORMED,
            "the head and the body of the request have two credentials");
    }
    ret->ask.tool = message->name;
    ret->ask.params_hash = writ_view_str(ret->params_hash);
    ret->ask.call = message;
    ret->ask.arena = arena;
    return is_open(guard, message->name, ret->ask.token) ? WRIT_GUARD_PASS : WRIT_GUARD_CALL;
}

enum writ_guard_way
writ_guard_read(const struct writ_guard *guard, struct writ_view text,
    const struct writ_mcp_headers *headers, struct writ_view token, struct writ_arena *arena,
    struct writ_guard_message *ret)
{
    const struct writ_json *body = NULL;
    struct writ_mcp_headers made;

    *ret = (struct writ_guard_message){0};
    if (!writ_is_ok(writ_json_read(text, &writ_guard_message_limits, arena, &body, NULL))) {
        return refuse(ret, 400, WRIT_RPC_PARSE_ERROR, WRIT_REASON_MALFORMED_REQUEST,
            "the message is no strict JSON");
    }
    ret->id = writ_mcp_id(body);
    if (headers == NULL && !writ_is_ok(made_headers(body, arena, &made))) {
        return refuse(ret, 503, WRIT_REFUSAL_CODE, WRIT_REASON_OVERLOADED, "no memory");
    }
    if (!writ_is_ok(
            writ_mcp_classify(body, headers != NULL ? headers : &made, &ret->call, &ret->fault))) {
        return WRIT_GUARD_REFUSE;
    }
    if (writ_guard_state_is_ours(ret->id)) {
        return refuse(ret, 400, WRIT_RPC_INVALID_REQUEST, WRIT_REASON_MALFORMED_REQUEST,
            "ids that begin with " WRIT_GUARD_STATE_ID " are the guard's own");
    }
    switch (ret->call.kind) {
    case WRIT_MCP_RESPONSE:
        return WRIT_GUARD_PASS;
    case WRIT_MCP_REQUEST:
    case WRIT_MCP_NOTIFICATION:
        break;
    case WRIT_MCP_REFUSED:
        return refuse(
            ret, 400, WRIT_RPC_INVALID_REQUEST, WRIT_REASON_MALFORMED_REQUEST, "no message");
    }
    if (writ_mcp_is_governed(ret->call.method)) {
        return read_call(guard, token, arena, ret);
    }
    if (writ_method_find(ret->call.method) != WRIT_MCP_UNKNOWN) {
        return WRIT_GUARD_PASS;
    }
    if (ret->call.kind == WRIT_MCP_NOTIFICATION) {
        return WRIT_GUARD_DROP;
    }
    return refuse(ret, 200, WRIT_RPC_METHOD_NOT_FOUND, WRIT_REASON_MALFORMED_REQUEST,
        "the method is not known here, so it is not passed on");
}

void
writ_guard_put_fault(struct writ_buf *buf, const struct writ_guard_message *message)
{
    writ_refusal_put_fault(buf, message->id, message->fault.code, message->fault.reason,
        writ_view_str(message->fault.text));
}

void
writ_guard_put_no(struct writ_buf *buf, const struct writ_guard_message *message)
{
    writ_refusal_put_error(buf, message->id, message->ask.reason);
}

/* ---- life */

static void
block_signals(sigset_t *ret)
{
    (void)sigemptyset(ret);
    (void)sigaddset(ret, SIGTERM);
    (void)sigaddset(ret, SIGINT);
    (void)sigaddset(ret, SIGHUP);
    (void)pthread_sigmask(SIG_BLOCK, ret, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

/* What the forms have in common. */
static WRIT_RESULT
open_guard(struct writ_guard *guard, struct writ_err *err)
{
    const struct writ_guard_options *options = guard->options;
    const struct writ_loop_options loop = {.clock = options->clock};
    const struct writ_guard_place places[WRIT_GUARD_KEYS_PLACES] = {
        [PLACE_KEYS] = {options->keys, KEYS_MAX, KEYS_EVERY_US},
        [PLACE_STATUS] = {options->status, STATUS_MAX, STATUS_EVERY_US}};

    WRIT_TRY(
        writ_replay_cache_open(options->used, now_s(guard), options->skew_s, &guard->used, err));
    WRIT_TRY(writ_verify_new(&guard->verify, err));
    if (options->status != NULL) { /* from now on there has to be one */
        WRIT_TRY(writ_verify_status(guard->verify, writ_view(NULL, 0), err));
    }
    if (options->policy != NULL) {
        WRIT_TRY(writ_guard_probes_open(options->policy, options->name, &guard->probes, err));
    }
    WRIT_TRY(writ_loop_new(&loop, &guard->loop, err));
    WRIT_TRY(writ_resolver_open(&guard->resolver, err));
    guard->probed.loop = guard->loop;
    guard->probed.resolver = guard->resolver;
    return writ_guard_keys_open(
        guard->loop, places, options->log, options->clock, told, guard, &guard->keys, err);
}

static void
close_guard(struct writ_guard *guard)
{
    writ_guard_keys_free(guard->keys);
    writ_resolver_close(guard->resolver);
    writ_loop_free(guard->loop);
    writ_guard_probes_close(guard->probes);
    writ_verify_free(guard->verify);
    writ_replay_cache_close(guard->used);
}

/* The form, as three functions. */
struct form {
    WRIT_RESULT (*open)(struct writ_guard *guard, void **ret, struct writ_err *err);
    bool (*is_over)(void *form); /* any thread */
    void (*drain)(void *form);   /* any thread; blocks */
    void (*close)(void *form);   /* the loop has ended */
};

static const struct form http_form = {
    writ_guard_http_open, writ_guard_http_is_over, writ_guard_http_drain, writ_guard_http_close};
static const struct form stdio_form = {writ_guard_stdio_open, writ_guard_stdio_is_over,
    writ_guard_stdio_drain, writ_guard_stdio_close};

static void
wait_for_end(const struct form *form, void *opened, const sigset_t *signals)
{
    const struct timespec tick = {.tv_nsec = TICK_NS};

    while (!form->is_over(opened)) {
        int signal = sigtimedwait(signals, NULL, &tick);

        if (signal == SIGTERM || signal == SIGINT) {
            return;
        }
    }
}

static WRIT_RESULT
run_form(struct writ_guard *guard, const struct form *form, const sigset_t *signals,
    struct writ_err *err)
{
    void *opened = NULL;
    writ_result result = form->open(guard, &opened, err);

    if (writ_is_ok(result)) {
        result = writ_guard_keys_start(guard->keys, err);
    }
    if (writ_is_ok(result)) {
        result = writ_loop_start(guard->loop, err);
    }
    if (writ_is_ok(result)) {
        WRIT_LOG(
            guard->options->log, WRIT_LOG_INFO, "ready", writ_log_str("version", WRIT_VERSION));
        wait_for_end(form, opened, signals);
        form->drain(opened);
        writ_loop_stop(guard->loop);
        result = writ_loop_join(guard->loop, err);
        WRIT_LOG(
            guard->options->log, WRIT_LOG_INFO, "stopped", writ_log_str("version", WRIT_VERSION));
    }
    writ_probe_get_close(&guard->probed); /* the asker is still there */
    form->close(opened);
    return result;
}

WRIT_RESULT
writ_guard_run(const struct writ_guard_options *options, struct writ_err *err)
{
    struct writ_guard guard = {.options = options};
    sigset_t signals;
    writ_result result;

    block_signals(&signals);
    (void)prctl(PR_SET_DUMPABLE, 0);
    result = open_guard(&guard, err);
    if (writ_is_ok(result)) {
        result = run_form(
            &guard, options->form == WRIT_GUARD_STDIO ? &stdio_form : &http_form, &signals, err);
    }
    close_guard(&guard);
    return result;
}
