/* Sessions on disk. They survive a restart, expired ones are deleted, and their number and size
 * are limited. */
#include "support/store/kit.h"
#include "support/unit.h"

#include <string.h>

#define ARENA (1 << 20)

static struct writ_entry
entry_of(enum writ_entry_kind kind, uint8_t id)
{
    struct writ_entry entry = {.kind = kind};

    entry.session.hash.bytes[0] = id;
    return entry;
}

static enum writ_code
put(struct writ_kit *kit, uint8_t id, struct writ_view value, int64_t lives_us)
{
    struct writ_entry entry = entry_of(WRIT_ENTRY_SESSION_PUT, id);

    entry.session.value = value;
    entry.session.expires_us = atomic_load(&kit->wall_us) + lives_us;
    entry.session.boundary_id = WRIT_LIT("session:1");
    return writ_kit_submit(kit, &entry);
}

static enum writ_code
drop(struct writ_kit *kit, uint8_t id)
{
    struct writ_entry entry = entry_of(WRIT_ENTRY_SESSION_DROP, id);

    return writ_kit_submit(kit, &entry);
}

/* The session has that value; NULL: it is not there. */
static void
has(struct writ_kit *kit, uint8_t id, const char *value)
{
    struct writ_entry entry = entry_of(WRIT_ENTRY_SESSION_GET, id);
    enum writ_code code;

    entry.arena = writ_arena_new(ARENA);
    code = writ_kit_submit(kit, &entry);
    ck_assert_int_eq(code, value == NULL ? WRIT_E_ABSENT : WRIT_OK);
    if (value != NULL) {
        ck_assert_view(entry.session.value, value);
        ck_assert_int_gt(entry.session.expires_us, atomic_load(&kit->wall_us));
    }
    writ_arena_free(entry.arena);
}

START_TEST(session_row_is_put_replaced_and_dropped)
{
    struct writ_kit kit;

    writ_kit_start(&kit);
    has(&kit, 1, NULL);
    ck_assert_int_eq(put(&kit, 1, WRIT_LIT("one"), WRIT_KIT_S), WRIT_OK);
    ck_assert_int_eq(put(&kit, 2, WRIT_LIT("two"), WRIT_KIT_S), WRIT_OK);
    has(&kit, 1, "one");
    ck_assert_int_eq(put(&kit, 1, WRIT_LIT("uno"), WRIT_KIT_S), WRIT_OK);
    has(&kit, 1, "uno");
    ck_assert_uint_eq(writ_kit_health(&kit).sessions, 2);
    ck_assert_int_eq(drop(&kit, 1), WRIT_OK);
    ck_assert_int_eq(drop(&kit, 1), WRIT_OK); /* also one that is not there */
    has(&kit, 1, NULL);
    has(&kit, 2, "two");
    ck_assert_uint_eq(writ_kit_health(&kit).sessions, 1);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(session_row_renewed_after_its_end_stays_away)
{
    struct writ_kit kit;
    struct writ_entry entry = entry_of(WRIT_ENTRY_SESSION_PUT, 1);

    writ_kit_start(&kit);
    entry.session.value = WRIT_LIT("late");
    entry.session.expires_us = atomic_load(&kit.wall_us) + WRIT_KIT_S;
    entry.session.renews = true;
    ck_assert_int_eq(writ_kit_submit(&kit, &entry), WRIT_OK);
    has(&kit, 1, NULL);
    ck_assert_uint_eq(writ_kit_health(&kit).sessions, 0);
    ck_assert_int_eq(put(&kit, 1, WRIT_LIT("one"), WRIT_KIT_S), WRIT_OK);
    ck_assert_int_eq(writ_kit_submit(&kit, &entry), WRIT_OK);
    has(&kit, 1, "late");
    ck_assert_int_eq(drop(&kit, 1), WRIT_OK);
    ck_assert_int_eq(writ_kit_submit(&kit, &entry), WRIT_OK);
    has(&kit, 1, NULL);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(fact_recorded_changes_no_session)
{
    struct writ_entry entry = {.kind = WRIT_ENTRY_FACT,
        .fact = {.event = WRIT_FACT_RELEASED, .data = WRIT_LIT("{\"tool\":\"up/tool\"}")}};
    struct writ_kit kit;

    writ_kit_start(&kit);
    ck_assert_int_eq(writ_kit_submit(&kit, &entry), WRIT_OK);
    ck_assert_uint_eq(writ_kit_health(&kit).sessions, 0);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM session"), 0);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(sessions_outlive_a_restart)
{
    struct writ_kit kit;

    writ_kit_start(&kit);
    ck_assert_int_eq(put(&kit, 1, WRIT_LIT("one"), WRIT_KIT_S), WRIT_OK);
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    has(&kit, 1, "one");
    ck_assert_uint_eq(writ_kit_health(&kit).sessions, 1);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(session_row_when_expired_is_absent_and_deleted)
{
    struct writ_kit kit;

    writ_kit_start(&kit);
    ck_assert_int_eq(put(&kit, 1, WRIT_LIT("one"), 10 * WRIT_KIT_S), WRIT_OK);
    ck_assert_int_eq(put(&kit, 2, WRIT_LIT("two"), 1000 * WRIT_KIT_S), WRIT_OK);
    writ_kit_pass(&kit, 11 * WRIT_KIT_S);
    has(&kit, 1, NULL);
    writ_kit_pass(&kit, 120 * WRIT_KIT_S);
    ck_assert_uint_eq(writ_kit_health(&kit).sessions, 1);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM session"), 1);
    has(&kit, 2, "two");
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(session_rows_beyond_number_or_bytes_are_refused)
{
    static char bytes[WRIT_LEDGER_SESSION_MAX + 1];
    struct writ_kit kit;

    memset(bytes, 'b', sizeof bytes);
    writ_kit_init(&kit);
    kit.options.sessions_max = 2;
    writ_kit_open(&kit);
    ck_assert_int_eq(put(&kit, 1, writ_view(bytes, WRIT_LEDGER_SESSION_MAX), WRIT_KIT_S), WRIT_OK);
    ck_assert_int_eq(
        put(&kit, 2, writ_view(bytes, WRIT_LEDGER_SESSION_MAX + 1), WRIT_KIT_S), WRIT_E_LIMIT);
    ck_assert_int_eq(put(&kit, 2, WRIT_LIT("two"), WRIT_KIT_S), WRIT_OK);
    ck_assert_int_eq(put(&kit, 3, WRIT_LIT("three"), WRIT_KIT_S), WRIT_E_LIMIT);
    ck_assert_int_eq(put(&kit, 2, WRIT_LIT("again"), WRIT_KIT_S), WRIT_OK); /* replaces */
    has(&kit, 3, NULL);
    ck_assert_int_eq(drop(&kit, 1), WRIT_OK);
    ck_assert_int_eq(put(&kit, 3, WRIT_LIT("three"), WRIT_KIT_S), WRIT_OK);
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("session_rows", session_row_is_put_replaced_and_dropped,
    session_row_renewed_after_its_end_stays_away, fact_recorded_changes_no_session,
    sessions_outlive_a_restart, session_row_when_expired_is_absent_and_deleted,
    session_rows_beyond_number_or_bytes_are_refused)
