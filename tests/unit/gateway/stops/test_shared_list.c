/* The list of gateways that share a ledger: what is issued before a stop and named by it is
 * revoked, what is issued later lives. */
#include "support/unit.h"

#include "evidence/credential/credential.h"
#include "gateway/stops/shared_list.h"

#define NOW_S  INT64_C(1000000)
#define OVER_S (WRIT_CREDENTIAL_LIFETIME_MAX_S + WRIT_CREDENTIAL_SKEW_MAX_S)

static struct writ_shared_list list;

static struct writ_kill_call
call_of(const char *agent, const char *tenant, const char *tool)
{
    return (struct writ_kill_call){.agent_id = writ_view_str(agent),
        .tenant = writ_view_str(tenant),
        .upstream = WRIT_LIT("up"),
        .tool = writ_view_str(tool),
        .policy = WRIT_LIT("p")};
}

static int64_t
give(const char *agent, const char *tenant, const char *tool)
{
    const struct writ_kill_call call = call_of(agent, tenant, tool);

    return writ_shared_list_give(&list, &call);
}

static void
stop(enum writ_kill_by by, const char *value, const char *tenant, int64_t at_s)
{
    const struct writ_kill kill = {
        .by = by, .value = writ_view_str(value), .tenant = writ_view_str(tenant)};

    writ_shared_list_count(&list, &kill, NULL, at_s, at_s);
}

static bool
has(int64_t place)
{
    return writ_shared_list_has(&list, place, NOW_S);
}

static void
setup(void)
{
    list = (struct writ_shared_list){.n = 0};
}

/* Names that have other bits of their groups than "a", "t" and "x". */
START_TEST(count_revokes_earlier_credentials_that_it_names)
{
    static const struct {
        enum writ_kill_by by;
        const char *value, *tenant;
        bool named, other_agent, other_tenant, other_tool;
    } rows[] = {
        {WRIT_KILL_AGENT, "a", NULL, true, false, true, true},
        {WRIT_KILL_AGENT, "a", "t", true, false, false, true},
        {WRIT_KILL_AGENT, "b", NULL, false, true, false, false},
        {WRIT_KILL_TENANT, "t", NULL, true, true, false, true},
        {WRIT_KILL_TOOL, "up/x", NULL, true, true, true, false},
        {WRIT_KILL_TOOL, "up/x", "t", true, true, false, false},
        {WRIT_KILL_POLICY, "p", NULL, true, true, true, true},
        {WRIT_KILL_CREDENTIAL, "d", NULL, true, true, true, true},
        {WRIT_KILL_NONE, "a", NULL, true, true, true, true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t place, agent, tenant, tool;

        setup();
        place = give("a", "t", "x");
        agent = give("b", "t", "x");
        tenant = give("a", "u", "x");
        tool = give("a", "t", "y");
        ck_assert(!has(place) && !has(agent) && !has(tenant) && !has(tool));
        stop(rows[i].by, rows[i].value, rows[i].tenant, NOW_S);
        ck_assert_msg(has(place) == rows[i].named, "row %zu", i);
        ck_assert_msg(has(agent) == rows[i].other_agent, "row %zu: agent", i);
        ck_assert_msg(has(tenant) == rows[i].other_tenant, "row %zu: tenant", i);
        ck_assert_msg(has(tool) == rows[i].other_tool, "row %zu: tool", i);
        ck_assert(!has(give("a", "t", "x"))); /* issued afterwards */
    }
}
END_TEST

START_TEST(count_with_a_group_revokes_that_group_alone)
{
    const struct writ_kill kill = {.by = WRIT_KILL_CREDENTIAL, .value = WRIT_LIT("d")};
    const struct writ_kill_call call = call_of("a", "t", "x");
    uint32_t group = writ_shared_list_group(&call);
    int64_t place, other;

    setup();
    place = give("a", "t", "x");
    other = give("a", "t", "y");
    writ_shared_list_count(&list, &kill, &group, NOW_S, NOW_S);
    ck_assert(has(place));
    ck_assert(!has(other));
}
END_TEST

START_TEST(has_after_the_longest_life_is_false)
{
    int64_t place;

    setup();
    place = give("a", "t", "x");
    stop(WRIT_KILL_AGENT, "a", NULL, NOW_S - OVER_S + 1);
    ck_assert(has(place));
    setup();
    stop(WRIT_KILL_AGENT, "a", NULL, NOW_S - OVER_S);
    ck_assert(!has(place));
}
END_TEST

START_TEST(has_of_every_era_is_true_for_later_stops_only)
{
    int64_t places[3 * WRIT_SHARED_LIST_ERAS];

    setup();
    for (size_t i = 0; i < WRIT_SHARED_LIST_ERAS; i++) {
        places[i] = give("a", "t", "x");
        stop(WRIT_KILL_AGENT, i % 2 == 0 ? "b" : "a", NULL, NOW_S - 100 + (int64_t)i);
    }
    for (size_t i = 0; i + 1 < WRIT_SHARED_LIST_ERAS; i++) {
        ck_assert_msg(has(places[i]), "era %zu", i);
    }
    /* an era that begins again while credentials of it may live: revoked, as they are */
    ck_assert_int_eq(give("a", "t", "x"), places[0]);
    ck_assert(has(give("a", "t", "x")));
    ck_assert(!has(give("c", "t", "x"))); /* in no group of a stop */
}
END_TEST

START_TEST(count_of_more_than_are_remembered_revokes_all)
{
    setup();
    for (size_t i = 0; i < WRIT_SHARED_LIST_STOPS; i++) {
        stop(WRIT_KILL_AGENT, "b", NULL, NOW_S - OVER_S - 10);
    }
    ck_assert(!has(give("c", "t", "x")));
    stop(WRIT_KILL_AGENT, "b", NULL, NOW_S); /* the forgotten one is over */
    ck_assert(!has(give("c", "t", "x")));
    for (size_t i = 0; i < WRIT_SHARED_LIST_STOPS; i++) {
        stop(WRIT_KILL_AGENT, "b", NULL, NOW_S);
    }
    for (int64_t i = 0; i < WRIT_STATUS_LIST_BYTES * 8; i += 997) {
        ck_assert(has(i));
    }
}
END_TEST

START_TEST(add_alone_revokes_later_credentials_too)
{
    const struct writ_kill_call call = call_of("a", "t", "x");
    const struct writ_kill kill = {
        .by = WRIT_KILL_CREDENTIAL, .value = WRIT_LIT("d"), .issued = &call};

    setup();
    writ_shared_list_add_alone(&list, &kill, NOW_S);
    ck_assert(has(give("a", "t", "x")));
    ck_assert(!has(give("a", "t", "y")));
    stop(WRIT_KILL_AGENT, "b", NULL, NOW_S);
    ck_assert(has(give("a", "t", "x")));
    ck_assert(!writ_shared_list_has(&list, give("a", "t", "x"), NOW_S + OVER_S));
}
END_TEST

START_TEST(revoke_all_revokes_every_place)
{
    setup();
    writ_shared_list_revoke_all(&list);
    for (int64_t i = 0; i < WRIT_STATUS_LIST_BYTES * 8; i += 997) {
        ck_assert(has(i));
    }
}
END_TEST

WRIT_UNIT_MAIN("shared_list", count_revokes_earlier_credentials_that_it_names,
    count_with_a_group_revokes_that_group_alone, has_after_the_longest_life_is_false,
    has_of_every_era_is_true_for_later_stops_only, count_of_more_than_are_remembered_revokes_all,
    add_alone_revokes_later_credentials_too, revoke_all_revokes_every_place)
