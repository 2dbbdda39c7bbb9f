/* Sessions. An id is unique, belongs to one agent of one tenant, ends at its idle time, and
 * survives a restart as a row. */
#include "support/evidence/value.h"
#include "support/unit.h"

#include "store/ledger/ledger.h"

#include "gateway/state/session.h"

static struct writ_agent
agent(const char *tenant, const char *id)
{
    return (struct writ_agent){.id = writ_view_str(id), .tenant = writ_view_str(tenant)};
}

static struct writ_session *
session(const char *tenant, const char *id)
{
    struct writ_session *session = NULL;
    const struct writ_agent who = agent(tenant, id);

    ck_assert_ok(writ_session_new(&who, WRIT_LIT("/mcp"), writ_clock_system(), &session, NULL));
    session->version = WRIT_LIT("2025-11-25");
    return session;
}

static struct writ_sessions *
table(size_t max, int64_t idle_us)
{
    struct writ_sessions *sessions = NULL;

    ck_assert_ok(writ_sessions_new(max, idle_us, &sessions, NULL));
    return sessions;
}

START_TEST(session_open_gives_unique_ids_and_boundaries)
{
    struct writ_session *a = session("t", "x"), *b = session("t", "x");

    ck_assert_uint_eq(writ_view_str(a->id).len, WRIT_SESSION_ID_TEXT - 1);
    ck_assert_str_ne(a->id, b->id);
    ck_assert(!writ_view_equal(a->boundary_id, b->boundary_id));
    ck_assert(writ_view_search(a->boundary_id, writ_view_str(a->id)) == a->boundary_id.len);
    writ_session_drop(a);
    writ_session_drop(b);
}
END_TEST

START_TEST(session_find_needs_the_whole_id)
{
    struct writ_sessions *sessions = table(4, 1000);
    struct writ_session *made = session("t", "x"), *found;
    struct writ_view id = writ_view_str(made->id);

    ck_assert_ok(writ_sessions_add(sessions, &made, 0));
    found = writ_sessions_find(sessions, id, 1);
    ck_assert_ptr_eq(found, made);
    writ_session_drop(found);
    ck_assert_ptr_null(writ_sessions_find(sessions, writ_view_sub(id, 0, id.len - 1), 1));
    ck_assert_ptr_null(writ_sessions_find(sessions, WRIT_LIT(""), 1));
    writ_session_drop(made);
    writ_sessions_free(sessions);
}
END_TEST

static struct writ_session *
read_again(const struct writ_session *session)
{
    writ_auto_buf row = writ_buf_make(1 << 16);
    struct writ_session *copy = NULL;

    writ_session_put(session, &row);
    ck_assert_ok(writ_session_read(writ_view_str(session->id), writ_buf_view(&row), &copy, NULL));
    return copy;
}

/* Two loops read its row at once: what one of them notes in it is there for the other. */
START_TEST(session_added_twice_is_the_one_in_the_table)
{
    struct writ_sessions *sessions = table(4, 1000);
    struct writ_session *first = session("t", "x"), *second = read_again(first),
                        *late = read_again(first), *found;

    ck_assert_ok(writ_sessions_add(sessions, &first, 0));
    ck_assert_ok(writ_sessions_add(sessions, &second, 500));
    ck_assert_ptr_eq(second, first);
    ck_assert_uint_eq(writ_sessions_count(sessions), 1);
    writ_session_drop(second);
    found = writ_sessions_find(sessions, writ_view_str(first->id), 1400); /* used at 500 */
    ck_assert_ptr_eq(found, first);
    writ_session_drop(found);
    ck_assert_ok(writ_sessions_add(sessions, &late, 2400)); /* in place of one that is over */
    ck_assert_ptr_ne(late, first);
    found = writ_sessions_find(sessions, writ_view_str(first->id), 2400);
    ck_assert_ptr_eq(found, late);
    ck_assert_uint_eq(writ_sessions_count(sessions), 1);
    writ_session_drop(found);
    writ_session_drop(late);
    writ_session_drop(first);
    writ_sessions_free(sessions);
}
END_TEST

START_TEST(session_find_by_another_agent_or_tenant_is_absent)
{
    struct writ_session *made = session("t", "x");
    const struct writ_agent same = agent("t", "x"), tenant = agent("u", "x"),
                            other = agent("t", "y");

    ck_assert(writ_session_is_of(made, &same));
    ck_assert(!writ_session_is_of(made, &tenant));
    ck_assert(!writ_session_is_of(made, &other));
    writ_session_drop(made);
}
END_TEST

START_TEST(session_open_beyond_the_table_is_refused)
{
    struct writ_sessions *sessions = table(2, 1000);
    struct writ_session *made[3];

    const struct writ_agent z = agent("z", "z");

    made[0] = session("t", "x");
    made[1] = session("u", "x");
    made[2] = session("v", "x");
    ck_assert_ok(writ_sessions_add(sessions, &made[0], 0));
    ck_assert_int_eq(writ_sessions_crowded(sessions, &z), WRIT_REASON_NONE);
    ck_assert_ok(writ_sessions_add(sessions, &made[1], 0));
    ck_assert_ok(writ_sessions_add(sessions, &made[1], 0)); /* already joined */
    ck_assert_code(writ_sessions_add(sessions, &made[2], 0), WRIT_E_LIMIT);
    ck_assert_int_eq(writ_sessions_crowded(sessions, &z), WRIT_REASON_OVERLOADED);
    writ_sessions_remove(sessions, &made[0]->hash);
    ck_assert_ok(writ_sessions_add(sessions, &made[2], 0));
    for (size_t i = 0; i < 3; i++) {
        writ_session_drop(made[i]);
    }
    writ_sessions_free(sessions);
}
END_TEST

START_TEST(session_open_beyond_the_share_of_an_agent_is_refused)
{
    struct writ_sessions *sessions = table(4, 1000);
    struct writ_session *made[4] = {
        session("t", "x"), session("t", "x"), session("t", "x"), session("t", "y")};
    const struct writ_agent x = agent("t", "x"), y = agent("t", "y");
    size_t left;

    ck_assert_ok(writ_sessions_add(sessions, &made[0], 0));
    ck_assert_ok(writ_sessions_add(sessions, &made[1], 0));
    ck_assert_code(writ_sessions_add(sessions, &made[2], 0), WRIT_E_LIMIT);
    ck_assert_int_eq(writ_sessions_crowded(sessions, &x), WRIT_REASON_SHARE_EXCEEDED);
    ck_assert_int_eq(writ_sessions_crowded(sessions, &y), WRIT_REASON_NONE);
    ck_assert_ok(writ_sessions_add(sessions, &made[3], 0));
    ck_assert_uint_eq(writ_sessions_count(sessions), 3);
    writ_sessions_remove(sessions, &made[0]->hash);
    ck_assert_ok(writ_sessions_add(sessions, &made[2], 500));
    ck_assert_uint_eq(writ_sessions_sweep(sessions, 1000, &left), 2);
    ck_assert_ok(writ_sessions_add(sessions, &made[0], 1000));
    for (size_t i = 0; i < 4; i++) {
        writ_session_drop(made[i]);
    }
    writ_sessions_free(sessions);
}
END_TEST

START_TEST(session_sweep_ends_idle_sessions)
{
    struct writ_sessions *sessions = table(4, 1000);
    struct writ_session *quiet = session("t", "x"), *busy = session("t", "x");
    size_t left = 99;

    ck_assert_ok(writ_sessions_add(sessions, &quiet, 0));
    ck_assert_ok(writ_sessions_add(sessions, &busy, 0));
    writ_session_drop(writ_sessions_find(sessions, writ_view_str(busy->id), 500));
    ck_assert_ptr_null(writ_sessions_find(sessions, writ_view_str(quiet->id), 1000));
    ck_assert_uint_eq(writ_sessions_sweep(sessions, 999, &left), 0);
    ck_assert_uint_eq(left, 2);
    ck_assert_uint_eq(writ_sessions_sweep(sessions, 1000, &left), 1);
    ck_assert_uint_eq(left, 1);
    ck_assert_ptr_null(writ_sessions_find(sessions, writ_view_str(quiet->id), 1000));
    ck_assert_view(quiet->tenant, "t"); /* held by this test: still whole */
    writ_session_drop(quiet);
    writ_session_drop(busy);
    writ_sessions_free(sessions);
}
END_TEST

START_TEST(session_read_of_its_row_gives_the_same_session)
{
    struct writ_session *made = session("tenant \"q\"", "agent"), *back = NULL;
    writ_auto_buf row = writ_buf_make(65536);

    ck_assert_ok(writ_session_make_room(made, 2));
    ck_assert_ok(writ_session_add_upstream(made, WRIT_LIT("fs"), WRIT_LIT("")));
    ck_assert_ok(writ_session_add_upstream(made, WRIT_LIT("pay"), WRIT_LIT("abc/\\\"d")));
    made->client = WRIT_LIT("{\"capabilities\":{}}");
    writ_session_put(made, &row);
    ck_assert_ok(writ_buf_check(&row, NULL));
    ck_assert_ok(writ_session_read(writ_view_str(made->id), writ_buf_view(&row), &back, NULL));
    ck_assert_view(back->client, "{\"capabilities\":{}}");
    ck_assert_str_eq(back->id, made->id);
    ck_assert(writ_digest_equal(&back->hash, &made->hash));
    ck_assert(writ_view_equal(back->boundary_id, made->boundary_id));
    ck_assert(writ_view_equal(back->tenant, made->tenant));
    ck_assert_int_eq(back->created_us, made->created_us);
    ck_assert_view(writ_session_upstream(back, WRIT_LIT("pay")), "abc/\\\"d");
    ck_assert_uint_eq(writ_session_upstream(back, WRIT_LIT("fs")).len, 0);
    ck_assert_ptr_null(writ_session_upstream(back, WRIT_LIT("none")).ptr);
    writ_session_drop(made);
    writ_session_drop(back);
}
END_TEST

START_TEST(session_read_of_an_invalid_row_is_refused)
{
    static const char *const rows[] = {"", "{}", "[]", "{\"agent_id\":1}",
        "{\"agent_id\":\"a\",\"boundary_id\":\"b\",\"created_us\":\"x\","
        "\"endpoint\":\"/mcp\",\"tenant\":\"t\",\"upstreams\":{},\"version\":\"v\"}",
        "{\"agent_id\":\"a\",\"boundary_id\":\"b\",\"created_us\":1,"
        "\"endpoint\":\"/mcp\",\"tenant\":\"t\",\"upstreams\":[],\"version\":\"v\"}"};
    struct writ_session *made = session("t", "x"), *back = NULL;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_code(
            writ_session_read(writ_view_str(made->id), writ_view_str(rows[i]), &back, NULL),
            WRIT_E_PARSE);
        ck_assert_ptr_null(back);
    }
    writ_session_drop(made);
}
END_TEST

/* With one upstream that is there and two that are late. */
static struct writ_session *
late_session(void)
{
    const struct writ_view none = {NULL, 0};
    struct writ_session *made = session("tenant", "agent");

    ck_assert_ok(writ_session_make_room(made, 3));
    ck_assert_ok(writ_session_add_upstream(made, WRIT_LIT("here"), WRIT_LIT("")));
    ck_assert_ok(writ_session_add_upstream(made, WRIT_LIT("late"), none));
    ck_assert_ok(writ_session_add_upstream(made, WRIT_LIT("later"), none));
    return made;
}

START_TEST(session_join_of_a_late_upstream_stores_the_row_once)
{
    struct writ_session *made = late_session();

    ck_assert(writ_session_is_late(made, WRIT_LIT("late")));
    ck_assert(!writ_session_has(made, WRIT_LIT("late")));
    ck_assert_ptr_null(writ_session_upstream(made, WRIT_LIT("late")).ptr);
    atomic_store(&made->stored_us, 77);
    ck_assert_ok(writ_session_join(made, WRIT_LIT("late"), WRIT_LIT("up-1")));
    ck_assert_int_eq(atomic_load(&made->stored_us), 0);
    ck_assert(writ_session_has(made, WRIT_LIT("late")));
    ck_assert(!writ_session_is_late(made, WRIT_LIT("late")));
    ck_assert_view(writ_session_upstream(made, WRIT_LIT("late")), "up-1");
    ck_assert_code(writ_session_join(made, WRIT_LIT("late"), WRIT_LIT("up-2")), WRIT_E_ABSENT);
    ck_assert_code(writ_session_join(made, WRIT_LIT("here"), WRIT_LIT("up-2")), WRIT_E_ABSENT);
    ck_assert_code(writ_session_join(made, WRIT_LIT("none"), WRIT_LIT("up-2")), WRIT_E_ABSENT);
    ck_assert_view(writ_session_upstream(made, WRIT_LIT("late")), "up-1");
    writ_session_drop(made);
}
END_TEST

START_TEST(session_row_keeps_late_and_joined_upstreams)
{
    struct writ_session *made = late_session(), *back = NULL;
    writ_auto_buf row = writ_buf_make(65536);

    ck_assert_ok(writ_session_join(made, WRIT_LIT("late"), WRIT_LIT("up-1")));
    writ_session_put(made, &row);
    ck_assert_ok(writ_session_read(writ_view_str(made->id), writ_buf_view(&row), &back, NULL));
    ck_assert(writ_session_has(back, WRIT_LIT("here")));
    ck_assert_view(writ_session_upstream(back, WRIT_LIT("late")), "up-1");
    ck_assert(writ_session_is_late(back, WRIT_LIT("later")));
    ck_assert_ok(writ_session_join(back, WRIT_LIT("later"), WRIT_LIT("")));
    ck_assert(writ_session_has(back, WRIT_LIT("later")));
    writ_session_drop(made);
    writ_session_drop(back);
}
END_TEST

START_TEST(
    a_list_that_was_answered_without_an_upstream_is_known_until_it_is_taken_or_answered_with_it)
{
    struct writ_session *made = late_session(), *back = NULL;
    const struct writ_view here = WRIT_LIT("here");
    writ_auto_buf row = writ_buf_make(65536);

    ck_assert(writ_session_is_short(made)); /* one upstream is late */
    ck_assert_ok(writ_session_join(made, WRIT_LIT("late"), WRIT_LIT("")));
    writ_session_put(made, &row);
    ck_assert_ok(writ_session_join(made, WRIT_LIT("later"), WRIT_LIT("")));
    ck_assert(!writ_session_is_short(made));
    writ_session_note_list(made, here, WRIT_SESSION_TOOLS, true);
    writ_session_note_list(made, here, WRIT_SESSION_PROMPTS, true);
    writ_session_note_list(made, WRIT_LIT("none"), WRIT_SESSION_TOOLS, true);
    ck_assert(writ_session_is_short(made));
    ck_assert_uint_eq(writ_session_missed(made, WRIT_LIT("late")), 0);
    writ_session_note_list(made, here, WRIT_SESSION_TOOLS, false);
    ck_assert_uint_eq(writ_session_missed(made, here), WRIT_SESSION_PROMPTS);
    ck_assert_uint_eq(writ_session_take_missed(made, here), WRIT_SESSION_PROMPTS);
    ck_assert_uint_eq(writ_session_take_missed(made, here), 0);

    /* a row does not say which lists; a late upstream was missed in all of them */
    ck_assert_ok(writ_session_read(writ_view_str(made->id), writ_buf_view(&row), &back, NULL));
    ck_assert_uint_eq(writ_session_missed(back, WRIT_LIT("later")), WRIT_SESSION_LISTS);
    ck_assert_uint_eq(writ_session_missed(back, WRIT_LIT("late")), 0);
    writ_session_drop(made);
    writ_session_drop(back);
}
END_TEST

START_TEST(session_lost_by_an_upstream_makes_it_late)
{
    struct writ_session *made = late_session();
    const struct writ_view late = WRIT_LIT("late");
    struct writ_view first;

    ck_assert_ok(writ_session_join(made, late, WRIT_LIT("up-1")));
    first = writ_session_upstream(made, late);
    writ_session_lose(made, late, WRIT_LIT("up-0"));
    ck_assert(writ_session_has(made, late));
    atomic_store(&made->stored_us, 77);
    writ_session_lose(made, late, first);
    ck_assert(writ_session_is_late(made, late));
    ck_assert_int_eq(atomic_load(&made->stored_us), 0);
    ck_assert_ok(writ_session_join(made, late, WRIT_LIT("up-2")));
    writ_session_lose(made, late, first); /* another request's news of the same */
    ck_assert_view(writ_session_upstream(made, late), "up-2");
    ck_assert_view(first, "up-1"); /* what borrows it may still be under way */
    for (unsigned i = 0; i < WRIT_SESSION_LOSSES_MAX + 5; i++) {
        writ_session_lose(made, late, WRIT_LIT("up-2"));
        (void)writ_is_ok(writ_session_join(made, late, WRIT_LIT("up-2")));
    }
    writ_session_lose(made, late, WRIT_LIT("up-2"));
    ck_assert(writ_session_has(made, late));
    writ_session_drop(made);
}
END_TEST

START_TEST(session_join_with_an_overlong_id_is_refused)
{
    struct writ_session *made = late_session();
    writ_auto_buf id = writ_buf_make(WRIT_LEDGER_SESSION_MAX);

    for (size_t i = 0; i < WRIT_LEDGER_SESSION_MAX / 6; i++) {
        writ_buf_byte(&id, '\\');
    }
    ck_assert_code(writ_session_join(made, WRIT_LIT("late"), writ_buf_view(&id)), WRIT_E_LIMIT);
    ck_assert(writ_session_is_late(made, WRIT_LIT("late")));
    ck_assert_ok(writ_session_join(
        made, WRIT_LIT("late"), writ_view_sub(writ_buf_view(&id), 0, id.len / 2)));
    writ_session_drop(made);
}
END_TEST

WRIT_UNIT_MAIN("session", session_open_gives_unique_ids_and_boundaries,
    session_find_needs_the_whole_id, session_added_twice_is_the_one_in_the_table,
    session_find_by_another_agent_or_tenant_is_absent, session_open_beyond_the_table_is_refused,
    session_open_beyond_the_share_of_an_agent_is_refused, session_sweep_ends_idle_sessions,
    session_read_of_its_row_gives_the_same_session, session_read_of_an_invalid_row_is_refused,
    session_join_of_a_late_upstream_stores_the_row_once,
    session_row_keeps_late_and_joined_upstreams, session_lost_by_an_upstream_makes_it_late,
    a_list_that_was_answered_without_an_upstream_is_known_until_it_is_taken_or_answered_with_it,
    session_join_with_an_overlong_id_is_refused)
