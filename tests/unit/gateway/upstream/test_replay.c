/* Events kept for resumed streams. A stream resumes after the last event that the client has; the
 * oldest events make room for new ones. */
#include "gateway/upstream/replay.h"

#include "support/unit.h"

#define NONCE 7

/* A replay holds pointers into itself, so it is made in place. */
#define REPLAY(name, bytes, count)                                                                 \
    struct writ_replay name;                                                                       \
    writ_replay_init(&(name), NONCE, bytes, count)

START_TEST(replay_next_gives_the_event_after_the_last_one)
{
    REPLAY(replay, 1000, 100);
    uint64_t one = writ_replay_add(&replay, 3, WRIT_LIT("one"), false);
    uint64_t other = writ_replay_add(&replay, 0, WRIT_LIT("other"), false);
    uint64_t two = writ_replay_add(&replay, 3, WRIT_LIT("two"), true);
    const struct writ_replay_event *event = writ_replay_next(&replay, 3, 0);

    ck_assert_uint_eq(event->seq, one);
    event = writ_replay_next(&replay, 3, one);
    ck_assert_uint_eq(event->seq, two);
    ck_assert(event->ends);
    ck_assert_view(writ_buf_view(&event->data), "two");
    ck_assert_ptr_null(writ_replay_next(&replay, 3, two));
    ck_assert_uint_eq(writ_replay_next(&replay, 0, 0)->seq, other);
    ck_assert_ptr_null(writ_replay_next(&replay, 4, 0));
    writ_replay_wipe(&replay);
}
END_TEST

START_TEST(replay_add_drops_the_oldest_and_keeps_the_newest)
{
    REPLAY(few, 1000, 2);
    REPLAY(small, 5, 100);

    for (int i = 0; i < 3; i++) {
        (void)writ_replay_add(&few, 1, WRIT_LIT("x"), false);
    }
    ck_assert_uint_eq(few.count, 2);
    ck_assert_uint_eq(writ_replay_next(&few, 1, 0)->seq, 2);
    (void)writ_replay_add(&small, 1, WRIT_LIT("12345"), false);
    ck_assert_uint_eq(small.count, 1);
    (void)writ_replay_add(&small, 1, WRIT_LIT("123456"), true);
    ck_assert_uint_eq(small.count, 1);
    ck_assert(writ_replay_next(&small, 1, 0)->ends);
    writ_replay_wipe(&few);
    writ_replay_wipe(&small);
    ck_assert_uint_eq(small.bytes, 0);
}
END_TEST

START_TEST(replay_read_id_accepts_its_own_ids_only)
{
    REPLAY(replay, 1000, 100);
    writ_auto_buf id = writ_buf_make(WRIT_REPLAY_ID_MAX);
    static const char *const bad[] = {"", "7", "7-3", "7-3-", "7-3-1-", "7-3-2", "7-3-0", "8-3-1",
        "-7-3-1", "7-3-1 ", "7-x-1", "7-3-99999999999999999999", " 7-3-1"};
    uint64_t stream = 0, seq = 0;

    writ_replay_put_id(&replay, 3, writ_replay_mark(&replay), &id);
    ck_assert_view(writ_buf_view(&id), "7-3-1");
    ck_assert(writ_replay_read_id(&replay, writ_buf_view(&id), &stream, &seq));
    ck_assert_uint_eq(stream, 3);
    ck_assert_uint_eq(seq, 1);
    stream = seq = 42;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(
            !writ_replay_read_id(&replay, writ_view_str(bad[i]), &stream, &seq), "%s", bad[i]);
    }
    ck_assert_uint_eq(stream, 42);
    ck_assert_uint_eq(seq, 42);
}
END_TEST

START_TEST(replay_add_without_memory_keeps_nothing)
{
    REPLAY(replay, 1000, 100);

    for (long nth = 1; nth <= 2; nth++) {
        writ_fault_arm(nth);
        ck_assert_uint_eq(writ_replay_add(&replay, 1, WRIT_LIT("x"), false), 0);
        ck_assert(writ_fault_disarm());
        ck_assert_uint_eq(replay.count, 0);
    }
    ck_assert_uint_eq(writ_replay_add(&replay, 1, WRIT_LIT("x"), false), 1);
    writ_replay_wipe(&replay);
}
END_TEST

WRIT_UNIT_MAIN("replay", replay_next_gives_the_event_after_the_last_one,
    replay_add_drops_the_oldest_and_keeps_the_newest, replay_read_id_accepts_its_own_ids_only,
    replay_add_without_memory_keeps_nothing)
