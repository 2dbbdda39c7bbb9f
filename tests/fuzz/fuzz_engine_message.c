/* The input is the answer of an engine's process, and a request to one. For every one that is
 * read: it has exactly one form, and what is written of it is read as the same. */
#include "support/fuzz.h"

#include "gateway/engines/engine_message.h"

#define ARENA_MAX ((size_t)64 << 20)

static void
check_answer(struct writ_view text, struct writ_arena *arena)
{
    struct writ_engine_answer one = {0}, other = {0};
    struct writ_tally tally = writ_tally_make();
    writ_auto_buf written = writ_buf_make(WRIT_ENGINE_ANSWER_MAX);

    if (!writ_is_ok(writ_engine_message_read_answer(text, arena, &one, NULL))) {
        writ_buf_wipe(&tally.why);
        return;
    }
    WRIT_INVARIANT((one.fault.ptr != NULL) + (one.abi != 0) + (one.why != NULL) == 1);
    WRIT_INVARIANT(one.why != NULL || one.winner == WRIT_TALLY_NOBODY);
    WRIT_INVARIANT(writ_is_ok(writ_engine_message_tell(&one, &tally.face)));
    WRIT_INVARIANT(tally.winner == one.winner && tally.index == one.index);
    writ_buf_wipe(&tally.why);
    writ_engine_message_put_answer(&written, &one, WRIT_LIT(""));
    WRIT_INVARIANT(
        writ_is_ok(writ_engine_message_read_answer(writ_buf_view(&written), arena, &other, NULL)));
    WRIT_INVARIANT(writ_view_equal(one.fault, other.fault) && one.abi == other.abi);
    WRIT_INVARIANT(writ_view_equal(one.name, other.name) && one.refused == other.refused);
    WRIT_INVARIANT(one.winner == other.winner && one.index == other.index);
}

static void
check_request(struct writ_view text, struct writ_arena *arena)
{
    struct writ_crew_poll one = {0}, other = {0};
    writ_auto_buf written = writ_buf_make(WRIT_ENGINE_REQUEST_MAX);
    writ_auto_buf again = writ_buf_make(WRIT_ENGINE_REQUEST_MAX);

    if (!writ_is_ok(writ_engine_message_read_request(text, arena, &one, NULL)) ||
        one.ballots == NULL) {
        return;
    }
    writ_engine_message_put_poll(&written, &one);
    WRIT_INVARIANT(
        writ_is_ok(writ_engine_message_read_request(writ_buf_view(&written), arena, &other, NULL)));
    writ_engine_message_put_poll(&again, &other);
    WRIT_INVARIANT(writ_view_equal(writ_buf_view(&written), writ_buf_view(&again)));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);

    WRIT_INVARIANT(arena != NULL);
    check_answer(writ_view(data, size), arena);
    check_request(writ_view(data, size), arena);
    return 0;
}
