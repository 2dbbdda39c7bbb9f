/* guard_ask.c - judges a credential, probes the target, and takes the jti last.
 *
 * Invariants:
 * (1) A call continues only after `ok`, which is given only when its jti was taken at that moment.
 * (2) Every ask that is not forgotten is answered once. */
#include "gateway/guard/guard_ask.h"

#include "gateway/guard/guard_state.h"

#define US_PER_S INT64_C(1000000)

static int64_t
now_s(const struct writ_guard *guard)
{
    return writ_clock_wall_us(guard->options->clock) / US_PER_S;
}

/* The last check: takes the jti. It is kept as long as any guard that shares the file may accept
 * the credential. */
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
        WRIT_LOG(options->log, WRIT_EVENT_GUARD_NOT_VERIFIED, writ_log_str("why", err.text));
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
    WRIT_LOG(guard->options->log, ok ? WRIT_EVENT_GUARD_LET_THROUGH : WRIT_EVENT_GUARD_REFUSED,
        writ_log_text("reason", writ_reason_name(ask->reason)), writ_log_text("tool", ask->tool),
        writ_log_text("jti", ask->answer.jti));
    ask->done(ask);
}

/* Time has passed since the first judgement, so everything is judged again. */
static void
saw(struct writ_guard_ask *ask, const struct writ_probe_state *state)
{
    struct writ_guard *guard = ask->guard;

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

/* Continues after the judgement: probes the target, or ends the ask. */
static void
go_on(struct writ_guard *guard, struct writ_guard_ask *ask)
{
    if (ask->reason == WRIT_REASON_CREDENTIAL_OK && ask->call != NULL && !ask->state_is_known) {
        ask->reason = writ_guard_state_start(ask);
    }
    if (ask->reason != WRIT_REASON_NONE) {
        finish(guard, ask);
    }
}

void
writ_guard_ask(struct writ_guard *guard, struct writ_guard_ask *ask)
{
    ask->guard = guard;
    ask->saw = saw;
    ask->reason = judge(guard, ask);
    if (ask->reason == WRIT_REASON_UNKNOWN_KEY &&
        writ_guard_keys_hurry(guard->keys, WRIT_GUARD_KEYS)) {
        ask->waiting = true;
        ask->next = guard->waiting;
        guard->waiting = ask;
        return;
    }
    go_on(guard, ask);
}

bool
writ_guard_ask_forget(struct writ_guard *guard, struct writ_guard_ask *ask)
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

/* A list that cannot be fetched or used leaves the previous one, which expires soon. */
static void
told_status(struct writ_guard *guard, const struct writ_buf *text)
{
    struct writ_err err = {{0}, 0, 0};
    bool good =
        text == NULL || writ_is_ok(writ_verify_status(guard->verify, writ_buf_view(text), &err));

    if (!good && !guard->status_refused) {
        WRIT_LOG(guard->options->log, WRIT_EVENT_GUARD_STATUS_REFUSED,
            writ_log_str("place", guard->options->status), writ_log_str("why", err.text));
    }
    guard->status_refused = !good;
}

/* An ask that waited for keys is judged once more, with or without new ones. */
void
writ_guard_ask_told(void *ctx, size_t place, const struct writ_buf *text)
{
    struct writ_guard *guard = ctx;
    struct writ_err err = {{0}, 0, 0};

    if (place == WRIT_GUARD_STATUS) {
        told_status(guard, text);
        return;
    }
    if (text != NULL && !writ_is_ok(writ_verify_keys(guard->verify, writ_buf_view(text), &err))) {
        WRIT_LOG(guard->options->log, WRIT_EVENT_GUARD_KEYS_REFUSED,
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
