/* Keeps facts in an array, in their order, and gives them back like a ledger. */
#include "support/gateway/memo.h"

#define ARENA_MAX ((size_t)8 << 20)

void
writ_memo_wipe(struct writ_memo *memo)
{
    for (size_t i = 0; i < memo->n; i++) {
        writ_buf_wipe(&memo->texts[i]);
    }
    *memo = (struct writ_memo){.n = 0};
}

WRIT_RESULT
writ_memo_write(
    struct writ_memo *memo, enum writ_fact_event event, struct writ_view data, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(1 << 20);

    if (memo->fails || memo->n == WRIT_MEMO_MAX) {
        WRIT_FAIL(err, WRIT_E_IO, "the memo takes nothing");
    }
    WRIT_TRY(writ_fact_put(event, memo->n, writ_clock_wall_us(memo->clock), data, &text, err));
    memo->texts[memo->n++] = text;
    text = (struct writ_buf){0};
    return WRIT_DONE;
}

static WRIT_RESULT
tell(const struct writ_memo *memo, struct writ_stop_rules *kills, struct writ_err *err)
{
    for (size_t i = 0; i < memo->n; i++) {
        writ_auto_arena arena = writ_arena_new(ARENA_MAX);
        const struct writ_json *value = NULL;
        struct writ_fact fact = {0};

        if (arena == NULL) {
            WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
        }
        WRIT_TRY(writ_json_read(
            writ_buf_view(&memo->texts[i]), &writ_json_limits_default, arena, &value, err));
        WRIT_TRY(writ_fact_read(value, &fact, err));
        WRIT_TRY(writ_stop_rules_hear(kills, &fact, err));
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_memo_open(struct writ_memo *memo, const char *store, const struct writ_clock *clock,
    struct writ_stop_rules **ret, struct writ_err *err)
{
    struct writ_stop_rules *kills = NULL;
    writ_result result;

    memo->clock = clock;
    WRIT_TRY(writ_stop_rules_open(store, clock, false, true, &kills, err));
    result = tell(memo, kills, err);
    if (!writ_is_ok(result)) {
        writ_stop_rules_free(kills);
        return result;
    }
    *ret = kills;
    return WRIT_DONE;
}

WRIT_RESULT
writ_memo_pull(struct writ_memo *memo, struct writ_stop_rules *kills, const struct writ_kill *kill,
    char ret_id[WRIT_ID_TEXT])
{
    writ_auto_buf data = writ_buf_make(1 << 20);
    struct writ_kill pulled = *kill;
    writ_result result = writ_stop_rules_pull(kills, &pulled, ret_id, &data, NULL);

    if (!writ_is_ok(result) && result.code != WRIT_E_IO) {
        return result;
    }
    if (writ_is_ok(result)) {
        result = writ_memo_write(memo, WRIT_FACT_KILL_PULLED, writ_buf_view(&data), NULL);
    }
    writ_stop_rules_pulled(kills, &pulled, writ_is_ok(result));
    return writ_is_ok(result) ? WRIT_DONE : (writ_result){WRIT_E_IO};
}

WRIT_RESULT
writ_memo_lift(struct writ_memo *memo, struct writ_stop_rules *kills, struct writ_view id)
{
    const struct writ_kill lift = {.id = id};
    writ_auto_buf data = writ_buf_make(1 << 20);

    WRIT_TRY(writ_stop_rules_lift(kills, &lift, &data, NULL));
    WRIT_TRY(writ_memo_write(memo, WRIT_FACT_KILL_LIFTED, writ_buf_view(&data), NULL));
    writ_stop_rules_lifted(kills, id);
    return WRIT_DONE;
}
