/* Calls whose answers are outstanding. An answer reaches the call that awaits it and no other, and
 * ungoverned requests never displace governed ones. */
#include "gateway/state/pending_responses.h"

#include "support/unit.h"
#include "support/evidence/value.h"

#include "gateway/state/session.h"

#include <stdio.h>

static struct writ_pending_responses *pending;
static struct writ_loop *loop;
static char calls[2]; /* stand-ins: the table never reads a call */

static struct writ_request *
call(size_t i)
{
    return (struct writ_request *)(void *)&calls[i];
}

static void
begin(void)
{
    const struct writ_loop_options options = {0};

    ck_assert_ok(writ_pending_responses_new(&pending, NULL));
    ck_assert_ok(writ_loop_new(&options, &loop, NULL));
}

static void
end(void)
{
    writ_pending_responses_free(pending);
    writ_loop_free(loop);
}

static struct writ_digest
digest(unsigned n)
{
    char text[32];
    struct writ_digest ret;

    (void)snprintf(text, sizeof text, "%u", n);
    ck_assert_ok(writ_digest_bytes(writ_view_str(text), &ret, NULL));
    return ret;
}

static enum writ_pending_responses_state
state(const struct writ_digest *key)
{
    return writ_pending_responses_find(pending, key).state;
}

START_TEST(pending_find_of_a_call_is_awaited_until_settled)
{
    struct writ_digest key = digest(1), shown = digest(2);
    struct writ_pending_responses_found found;

    begin();
    ck_assert_int_eq(state(&key), WRIT_PENDING_RESPONSES_UNKNOWN);
    ck_assert_ok(writ_pending_responses_note(pending, &key, call(0), loop));
    found = writ_pending_responses_find(pending, &key);
    ck_assert_int_eq(found.state, WRIT_PENDING_RESPONSES_AWAITED);
    ck_assert_ptr_eq(found.call, call(0));
    writ_pending_responses_settle(pending, &key, call(0), &shown);
    found = writ_pending_responses_find(pending, &key);
    ck_assert_int_eq(found.state, WRIT_PENDING_RESPONSES_SETTLED);
    ck_assert_ptr_null(found.call);
    ck_assert(writ_digest_equal(&found.shown, &shown));
    end();
}
END_TEST

START_TEST(pending_find_of_an_unanswered_call_shows_nothing)
{
    struct writ_digest key = digest(1), none = {{0}};
    struct writ_pending_responses_found found;

    begin();
    ck_assert_ok(writ_pending_responses_note(pending, &key, call(0), loop));
    writ_pending_responses_settle(pending, &key, call(0), NULL);
    found = writ_pending_responses_find(pending, &key);
    ck_assert_int_eq(found.state, WRIT_PENDING_RESPONSES_SETTLED);
    ck_assert(writ_digest_equal(&found.shown, &none));
    end();
}
END_TEST

START_TEST(pending_add_of_ungoverned_requests_displaces_no_governed_one)
{
    struct writ_digest key = digest(1), other = digest(2);

    begin();
    ck_assert_ok(writ_pending_responses_note(pending, &key, call(0), loop));
    ck_assert_ok(writ_pending_responses_note(pending, &key, NULL, loop));
    ck_assert_int_eq(state(&key), WRIT_PENDING_RESPONSES_AWAITED);
    writ_pending_responses_settle(pending, &key, call(0), NULL);
    ck_assert_ok(writ_pending_responses_note(pending, &key, NULL, loop));
    ck_assert_int_eq(state(&key), WRIT_PENDING_RESPONSES_SETTLED);
    ck_assert_ok(writ_pending_responses_note(pending, &other, NULL, loop));
    ck_assert_int_eq(state(&other), WRIT_PENDING_RESPONSES_FREE);
    end();
}
END_TEST

START_TEST(pending_find_of_a_task_question_is_not_hidden_by_ungoverned_ones)
{
    struct writ_digest key = digest(1), taken = digest(2), task = digest(3);
    struct writ_pending_responses_found found;

    begin();
    ck_assert_ok(writ_pending_responses_note_task(pending, &key, &task, WRIT_MCP_TASKS_RESULT));
    ck_assert_ok(writ_pending_responses_note(pending, &key, NULL, loop));
    found = writ_pending_responses_find(pending, &key);
    ck_assert_int_eq(found.state, WRIT_PENDING_RESPONSES_TASK);
    ck_assert_int_eq(found.method, WRIT_MCP_TASKS_RESULT);
    ck_assert(writ_digest_equal(&found.task, &task));
    ck_assert_ok(writ_pending_responses_note(pending, &taken, NULL, loop));
    ck_assert_ok(writ_pending_responses_note_task(pending, &taken, &task, WRIT_MCP_TASKS_RESULT));
    ck_assert_int_eq(state(&taken), WRIT_PENDING_RESPONSES_SETTLED);
    end();
}
END_TEST

START_TEST(pending_find_of_a_barred_request_shows_nothing_also_with_a_reused_id)
{
    struct writ_digest key = digest(1), reused = digest(2), none = {{0}};
    struct writ_pending_responses_found found;

    begin();
    ck_assert_ok(writ_pending_responses_bar(pending, &key));
    ck_assert_ok(writ_pending_responses_note(pending, &key, NULL, loop));
    ck_assert_int_eq(state(&key), WRIT_PENDING_RESPONSES_SETTLED);
    ck_assert_ok(writ_pending_responses_note(pending, &reused, NULL, loop));
    ck_assert_ok(writ_pending_responses_bar(pending, &reused));
    found = writ_pending_responses_find(pending, &reused);
    ck_assert_int_eq(found.state, WRIT_PENDING_RESPONSES_SETTLED);
    ck_assert(writ_digest_equal(&found.shown, &none));
    end();
}
END_TEST

START_TEST(pending_find_of_a_reused_id_is_absent)
{
    struct writ_digest key = digest(1), shown = digest(2), none = {{0}};
    struct writ_pending_responses_found found;

    begin();
    ck_assert_ok(writ_pending_responses_note(pending, &key, call(0), loop));
    ck_assert_ok(writ_pending_responses_note(pending, &key, call(1), loop));
    writ_pending_responses_settle(pending, &key, call(0), &shown);
    writ_pending_responses_settle(pending, &key, call(1), &shown);
    found = writ_pending_responses_find(pending, &key);
    ck_assert_int_eq(found.state, WRIT_PENDING_RESPONSES_SETTLED);
    ck_assert(writ_digest_equal(&found.shown, &none));
    end();
}
END_TEST

START_TEST(pending_deliver_reaches_the_awaiting_call_only)
{
    struct writ_handover handover = {.key = digest(1)};

    begin();
    ck_assert(!writ_pending_responses_carry(pending, &handover));
    ck_assert_ok(writ_pending_responses_note(pending, &handover.key, call(0), loop));
    writ_pending_responses_settle(pending, &handover.key, call(0), NULL);
    ck_assert(!writ_pending_responses_carry(pending, &handover));
    handover.key = digest(2);
    ck_assert_ok(writ_pending_responses_note(pending, &handover.key, call(1), loop));
    ck_assert(writ_pending_responses_carry(pending, &handover));
    end();
}
END_TEST

START_TEST(pending_add_when_full_drops_the_oldest_ended_call)
{
    struct writ_digest running = digest(WRIT_PENDING_RESPONSES_KEPT_MAX + 10), key,
                       first = digest(0), second = digest(1);

    begin();
    ck_assert_ok(writ_pending_responses_note(pending, &running, call(0), loop));
    for (unsigned i = 0; i < WRIT_PENDING_RESPONSES_KEPT_MAX; i++) {
        key = digest(i);
        ck_assert_ok(writ_pending_responses_note(pending, &key, NULL, loop));
    }
    ck_assert_int_eq(state(&first), WRIT_PENDING_RESPONSES_FREE);
    key = digest(WRIT_PENDING_RESPONSES_KEPT_MAX);
    ck_assert_ok(writ_pending_responses_note(pending, &key, NULL, loop));
    ck_assert_int_eq(state(&first), WRIT_PENDING_RESPONSES_UNKNOWN);
    ck_assert_int_eq(state(&second), WRIT_PENDING_RESPONSES_FREE);
    ck_assert_int_eq(state(&running), WRIT_PENDING_RESPONSES_AWAITED);
    end();
}
END_TEST

START_TEST(pending_key_differs_by_session_upstream_and_id)
{
    struct writ_session session = {.id = "s1"}, other = {.id = "s2"};
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *one = writ_value_of(arena, WRIT_LIT("1"));
    const struct writ_json *same_one = writ_value_of(arena, WRIT_LIT("1.0"));
    const struct writ_json *text = writ_value_of(arena, WRIT_LIT("\"1\""));
    struct writ_digest key, same, different;

    ck_assert_ok(writ_pending_responses_key(&session, WRIT_LIT("fs"), one, &key));
    ck_assert_ok(writ_pending_responses_key(&session, WRIT_LIT("fs"), same_one, &same));
    ck_assert(writ_digest_equal(&key, &same));
    ck_assert_ok(writ_pending_responses_key(&session, WRIT_LIT("fs"), text, &different));
    ck_assert(!writ_digest_equal(&key, &different));
    ck_assert_ok(writ_pending_responses_key(&session, WRIT_LIT("pay"), one, &different));
    ck_assert(!writ_digest_equal(&key, &different));
    ck_assert_ok(writ_pending_responses_key(&other, WRIT_LIT("fs"), one, &different));
    ck_assert(!writ_digest_equal(&key, &different));
}
END_TEST

START_TEST(pending_progress_follows_the_last_token_apart_from_ids)
{
    struct writ_session session = {.id = "s1"};
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *one = writ_value_of(arena, WRIT_LIT("1"));
    struct writ_digest id, key;

    begin();
    ck_assert_ok(writ_pending_responses_key(&session, WRIT_LIT("fs"), one, &id));
    ck_assert_ok(writ_pending_responses_progress_key(&session, WRIT_LIT("fs"), one, &key));
    ck_assert(!writ_digest_equal(&key, &id));
    ck_assert_ok(writ_pending_responses_note_progress(pending, &key, 0));
    ck_assert_int_eq(state(&key), WRIT_PENDING_RESPONSES_UNKNOWN);
    ck_assert_ok(writ_pending_responses_note_progress(pending, &key, 2.5));
    ck_assert_double_eq(writ_pending_responses_find(pending, &key).moved, 2.5);
    ck_assert_ok(writ_pending_responses_note_progress(pending, &key, 0));
    ck_assert_double_eq(writ_pending_responses_find(pending, &key).moved, 0);
    end();
}
END_TEST

WRIT_UNIT_MAIN("pending_responses", pending_find_of_a_call_is_awaited_until_settled,
    pending_find_of_an_unanswered_call_shows_nothing,
    pending_add_of_ungoverned_requests_displaces_no_governed_one,
    pending_find_of_a_task_question_is_not_hidden_by_ungoverned_ones,
    pending_find_of_a_reused_id_is_absent,
    pending_find_of_a_barred_request_shows_nothing_also_with_a_reused_id,
    pending_deliver_reaches_the_awaiting_call_only,
    pending_add_when_full_drops_the_oldest_ended_call,
    pending_key_differs_by_session_upstream_and_id,
    pending_progress_follows_the_last_token_apart_from_ids)
