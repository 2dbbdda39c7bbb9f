/* A poll that arrives is the poll that was sent; an answer has one of three forms, and nothing
 * else is read as one. */
#include "support/evidence/value.h"
#include "support/unit.h"

#include "gateway/engines/engine_message.h"

#include <string.h>

#define TEXT_MAX 65536

START_TEST(read_request_of_a_written_poll_gives_that_poll)
{
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf text = writ_buf_make(TEXT_MAX);
    const struct writ_view names[] = {WRIT_LIT("a\"\n"), WRIT_LIT("b"), WRIT_LIT("")};
    const struct writ_crew_ballot ballots[] = {
        {WRIT_LIT("v-1"), WRIT_LIT("voter"), WRIT_LIT("[\"b\"]"), &names[1], 1},
        {WRIT_LIT("v-2"), WRIT_LIT(""), {NULL, 0}, NULL, 0},
        {WRIT_LIT("v-3"), WRIT_LIT("voter"), WRIT_LIT("[]"), names, 0},
    };
    const struct writ_crew_poll poll = {ballots, 3, names, 3};
    struct writ_crew_poll read = {0};

    writ_engine_message_put_poll(&text, &poll);
    ck_assert_ok(writ_engine_message_read_request(writ_buf_view(&text), arena, &read, NULL));

    ck_assert_uint_eq(read.ballots_n, 3);
    for (size_t at = 0; at < 3; at++) {
        const struct writ_crew_ballot *got = &read.ballots[at], *want = &ballots[at];
        ck_assert(writ_view_equal(got->agent_id, want->agent_id));
        ck_assert(writ_view_equal(got->role_id, want->role_id));
        ck_assert(writ_view_equal(got->output, want->output));
        ck_assert_int_eq(got->output.ptr == NULL, want->output.ptr == NULL);
        ck_assert_int_eq(got->ranking == NULL, want->ranking == NULL);
        ck_assert_uint_eq(got->ranking_n, want->ranking_n);
        ck_assert(writ_view_equal(read.candidates[at], names[at]));
    }
    ck_assert_view(read.ballots[0].ranking[0], "b");
    ck_assert_uint_eq(read.candidates_n, 3);
}
END_TEST

START_TEST(read_request_of_another_form_is_refused)
{
    static const char *const wrong[] = {"", "[]", "{}", "{\"describe\":false}",
        "{\"describe\":true,\"more\":1}", "{\"ballots\":[],\"candidates\":[]}",
        "{\"ballots\":[{\"agent\":\"a\",\"role\":\"r\"}]}",
        "{\"ballots\":[{\"agent\":\"a\"}],\"candidates\":[]}",
        "{\"ballots\":[{\"agent\":\"a\",\"output\":1,\"role\":\"r\"}],\"candidates\":[]}",
        "{\"ballots\":[{\"agent\":\"a\",\"ranking\":[1],\"role\":\"r\"}],\"candidates\":[]}",
        "{\"ballots\":[{\"agent\":\"a\",\"role\":\"r\"}],\"candidates\":[2]}"};
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf text = writ_buf_make(TEXT_MAX);
    struct writ_crew_poll read = {.ballots_n = 7};

    for (size_t at = 0; at < sizeof wrong / sizeof *wrong; at++) {
        ck_assert_msg(!writ_is_ok(writ_engine_message_read_request(
                          writ_view_str(wrong[at]), arena, &read, NULL)),
            "%s", wrong[at]);
        ck_assert_uint_eq(read.ballots_n, 7);
    }
    writ_engine_message_put_describe(&text);
    ck_assert_ok(writ_engine_message_read_request(writ_buf_view(&text), arena, &read, NULL));
    ck_assert_ptr_null(read.ballots);
}
END_TEST

START_TEST(tell_gives_the_lines_and_the_winner_of_the_engine)
{
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf lines = writ_buf_make(TEXT_MAX), text = writ_buf_make(TEXT_MAX);
    WRIT_AUTO(struct writ_crew_text, writ_crew_text_wipe) why = {0};
    const struct writ_engine_answer said = {.winner = WRIT_TALLY_CANDIDATE, .index = 3};
    struct writ_tally tally = writ_tally_make();
    struct writ_engine_answer read = {0};

    writ_engine_message_put_line(&lines, WRIT_LIT("first"));
    writ_engine_message_put_line(&lines, WRIT_LIT(""));
    writ_engine_message_put_line(&lines, WRIT_LIT("\xff\"100 %s"));
    writ_engine_message_put_answer(&text, &said, writ_buf_view(&lines));
    ck_assert_ok(writ_engine_message_read_answer(writ_buf_view(&text), arena, &read, NULL));
    ck_assert(!read.refused);
    ck_assert_ok(writ_engine_message_tell(&read, &tally.face));

    ck_assert_int_eq(tally.winner, WRIT_TALLY_CANDIDATE);
    ck_assert_uint_eq(tally.index, 3);
    ck_assert_ok(writ_tally_why(&tally, &why));
    ck_assert(writ_view_has_prefix(writ_view(why.ptr, why.len), WRIT_LIT("first\n")));
    ck_assert_ptr_nonnull(strstr(why.ptr, "100 %s\n"));
}
END_TEST

START_TEST(read_answer_of_another_form_is_refused)
{
    static const char *const right[] = {"{\"abi\":1,\"name\":\"x\"}", "{\"abi\":9}",
        "{\"fault\":\"no\"}", "{\"refused\":true,\"why\":[]}",
        "{\"ballot\":0,\"refused\":false,\"why\":[\"YQ==\"]}"};
    static const char *const wrong[] = {"", "null", "approve", "{}", "{\"abi\":0}", "{\"abi\":-1}",
        "{\"abi\":1,\"ballot\":0}", "{\"fault\":1}", "{\"abi\":1,\"fault\":\"no\"}",
        "{\"refused\":false}", "{\"why\":[]}", "{\"refused\":0,\"why\":[]}",
        "{\"refused\":false,\"why\":[1]}", "{\"refused\":false,\"why\":[\"?\"]}",
        "{\"ballot\":-1,\"refused\":false,\"why\":[]}",
        "{\"ballot\":0.5,\"refused\":false,\"why\":[]}",
        "{\"ballot\":99999999999,\"refused\":false,\"why\":[]}",
        "{\"ballot\":\"0\",\"refused\":false,\"why\":[]}",
        "{\"ballot\":0,\"candidate\":0,\"refused\":false,\"why\":[]}",
        "{\"approved\":true,\"ballot\":0,\"refused\":false,\"why\":[]}",
        "{\"ballot\":0,\"refused\":false,\"why\":[]}{}"};
    writ_auto_arena arena = writ_value_arena();
    struct writ_engine_answer read = {.index = 7};

    for (size_t at = 0; at < sizeof wrong / sizeof *wrong; at++) {
        ck_assert_msg(!writ_is_ok(writ_engine_message_read_answer(
                          writ_view_str(wrong[at]), arena, &read, NULL)),
            "%s", wrong[at]);
        ck_assert_uint_eq(read.index, 7);
    }
    for (size_t at = 0; at < sizeof right / sizeof *right; at++) {
        ck_assert_ok(writ_engine_message_read_answer(writ_view_str(right[at]), arena, &read, NULL));
    }
}
END_TEST

WRIT_UNIT_MAIN("engine_message", read_request_of_a_written_poll_gives_that_poll,
    read_request_of_another_form_is_refused, tell_gives_the_lines_and_the_winner_of_the_engine,
    read_answer_of_another_form_is_refused)
