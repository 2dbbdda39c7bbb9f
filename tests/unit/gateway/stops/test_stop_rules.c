/* Stops of tools, agents and credentials, with the revocations that they cause. A stop matches
 * exactly what it names, survives a restart, and a credential once revoked stays revoked. */
#include "support/evidence/keys.h"
#include "support/gateway/memo.h"
#include "support/unit.h"

#include "evidence/credential/credential.h"
#include "gateway/stops/stop_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNTIL_S 60
#define PLACES  8192

static char folder[] = "/tmp/writ-stops-XXXXXX";
static char store[64], file[96];
static struct writ_stop_rules *rules;
static struct writ_memo memo;
static struct writ_kill_call call;

static void
open_again(void)
{
    writ_stop_rules_free(rules);
    rules = NULL;
    ck_assert_ok(writ_memo_open(&memo, store, writ_clock_system(), &rules, NULL));
}

static void
setup_call(void)
{
    call = (struct writ_kill_call){.agent_id = WRIT_LIT("a"),
        .tenant = WRIT_LIT("t"),
        .upstream = WRIT_LIT("up"),
        .tool = WRIT_LIT("x/y"),
        .policy = WRIT_LIT("p")};
}

static void
setup(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(store, sizeof store, "%s/ledger.db", folder);
    (void)snprintf(file, sizeof file, "%s.places.json", store);
    setup_call();
    open_again();
}

static void
teardown(void)
{
    writ_stop_rules_free(rules);
    rules = NULL;
    writ_memo_wipe(&memo);
    (void)unlink(file);
    (void)rmdir(folder);
    (void)snprintf(folder, sizeof folder, "/tmp/writ-stops-XXXXXX");
}

static int64_t
now_s(void)
{
    return writ_clock_wall_us(writ_clock_system()) / 1000000;
}

static int64_t
admit(void)
{
    int64_t place = -1;

    return writ_stop_rules_admit(rules, &call, now_s() + UNTIL_S, &place) ? place : -1;
}

static struct writ_view
pull(enum writ_kill_by by, const char *value, const char *tenant)
{
    static char id[WRIT_ID_TEXT];
    const struct writ_kill kill = {.by = by,
        .value = writ_view_str(value),
        .tenant = writ_view_str(tenant),
        .reason = WRIT_LIT("why"),
        .who = WRIT_LIT("me")};

    ck_assert_ok(writ_memo_pull(&memo, rules, &kill, id));
    return writ_view_str(id);
}

START_TEST(pull_matches_exactly_the_named_calls)
{
    static const struct {
        enum writ_kill_by by;
        const char *value, *tenant;
        bool stops;
    } rows[] = {
        {WRIT_KILL_AGENT, "a", NULL, true},
        {WRIT_KILL_AGENT, "a", "t", true},
        {WRIT_KILL_AGENT, "a", "u", false},
        {WRIT_KILL_AGENT, "aa", NULL, false},
        {WRIT_KILL_AGENT, "t", NULL, false},
        {WRIT_KILL_TENANT, "t", NULL, true},
        {WRIT_KILL_TENANT, "a", NULL, false},
        {WRIT_KILL_TOOL, "up/x/y", NULL, true},
        {WRIT_KILL_TOOL, "up/x", NULL, false},
        {WRIT_KILL_TOOL, "up2/x/y", NULL, false},
        {WRIT_KILL_TOOL, "up", NULL, false},
        {WRIT_KILL_POLICY, "p", NULL, true},
        {WRIT_KILL_POLICY, "q", NULL, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t place;
        struct writ_view id;

        setup();
        place = admit();
        ck_assert_int_ge(place, 0);
        ck_assert_int_eq(writ_stop_rules_status(rules, place), WRIT_STATUS_VALID);
        id = pull(rows[i].by, rows[i].value, rows[i].tenant);
        ck_assert_int_eq(writ_stop_rules_stops(rules, &call), rows[i].stops);
        ck_assert_int_eq(admit() < 0, rows[i].stops);
        ck_assert_int_eq(writ_stop_rules_status(rules, place),
            rows[i].stops ? WRIT_STATUS_REVOKED : WRIT_STATUS_VALID);
        open_again(); /* it is durable */
        ck_assert_int_eq(writ_stop_rules_stops(rules, &call), rows[i].stops);
        ck_assert_ok(writ_memo_lift(&memo, rules, id));
        ck_assert(!writ_stop_rules_stops(rules, &call));
        teardown();
    }
}
END_TEST

START_TEST(admit_gives_equal_calls_one_place)
{
    int64_t first, other;

    setup();
    first = admit();
    ck_assert_int_eq(admit(), first);
    call.tenant = (struct writ_view){NULL, 0};
    other = admit();
    ck_assert_int_ne(other, first);
    call.agent_id = WRIT_LIT("at"); /* the same bytes, cut elsewhere */
    ck_assert_int_ne(admit(), first);
    teardown();
}
END_TEST

START_TEST(lift_and_restart_keep_revoked_credentials)
{
    int64_t first, second;
    struct writ_view id;

    setup();
    first = admit();
    id = pull(WRIT_KILL_AGENT, "a", NULL);
    ck_assert_ok(writ_memo_lift(&memo, rules, id));
    second = admit();
    ck_assert_int_ge(second, 0);
    ck_assert_int_ne(second, first);
    ck_assert_int_eq(writ_stop_rules_status(rules, first), WRIT_STATUS_REVOKED);
    ck_assert_int_eq(writ_stop_rules_status(rules, second), WRIT_STATUS_VALID);
    open_again(); /* the credentials of that run are unknown */
    ck_assert_int_eq(writ_stop_rules_status(rules, first), WRIT_STATUS_REVOKED);
    ck_assert_int_eq(writ_stop_rules_status(rules, second), WRIT_STATUS_REVOKED);
    ck_assert_int_eq(writ_stop_rules_status(rules, admit()), WRIT_STATUS_VALID);
    teardown();
}
END_TEST

START_TEST(restart_without_a_stop_revokes_nothing)
{
    int64_t place;

    setup();
    place = admit();
    open_again();
    ck_assert_int_eq(writ_stop_rules_status(rules, place), WRIT_STATUS_VALID);
    ck_assert_int_ne(admit(), place); /* another range */
    ck_assert_int_eq(writ_stop_rules_status(rules, -1), WRIT_STATUS_UNKNOWN);
    ck_assert_int_eq(writ_stop_rules_status(rules, 4 * PLACES), WRIT_STATUS_UNKNOWN);
    ck_assert_int_ne(writ_stop_rules_status(rules, 4 * PLACES - 1), WRIT_STATUS_UNKNOWN);
    teardown();
}
END_TEST

/* More at once than there are places: the rest share one, and any stop revokes that. */
/* So many runs that the next one has the range of this one. */
static void
open_until_the_same_range(void)
{
    for (int i = 0; i < 4; i++) {
        open_again();
    }
}

START_TEST(pull_revokes_credentials_of_an_earlier_run_of_the_same_range)
{
    int64_t early, later;

    setup();
    early = admit();
    open_until_the_same_range();
    ck_assert_int_eq(writ_stop_rules_status(rules, early), WRIT_STATUS_VALID);
    call.agent_id = WRIT_LIT("b");
    later = admit(); /* of an agent that the stop does not name */
    ck_assert_int_eq(later / PLACES, early / PLACES);
    ck_assert_int_ne(later, early);
    (void)pull(WRIT_KILL_AGENT, "a", NULL);
    ck_assert_int_eq(writ_stop_rules_status(rules, early), WRIT_STATUS_REVOKED);
    open_until_the_same_range();
    ck_assert_int_eq(writ_stop_rules_status(rules, early), WRIT_STATUS_REVOKED);
    later = admit();
    ck_assert_int_ge(later, 0);
    ck_assert_int_eq(writ_stop_rules_status(rules, later), WRIT_STATUS_VALID);
    (void)pull(WRIT_KILL_AGENT, "c", NULL);
    ck_assert_int_eq(writ_stop_rules_status(rules, later), WRIT_STATUS_REVOKED);
    teardown();
}
END_TEST

/* One that came late has no place of those before it: four starts more, and four more. */
START_TEST(credentials_of_a_late_run_stay_revoked_over_more_runs)
{
    int64_t first, late;

    setup();
    first = admit();
    open_until_the_same_range();
    late = admit();
    ck_assert_int_ne(late, first);
    (void)pull(WRIT_KILL_AGENT, "x", NULL); /* revokes the shared place */
    ck_assert_int_eq(writ_stop_rules_status(rules, late), WRIT_STATUS_REVOKED);
    for (int i = 0; i < 3; i++) {
        int64_t latest;

        open_until_the_same_range();
        latest = admit();
        ck_assert_int_ge(latest, 0);
        ck_assert_int_ne(latest, late);
        ck_assert_int_eq(writ_stop_rules_status(rules, latest), WRIT_STATUS_VALID);
        ck_assert_int_eq(writ_stop_rules_status(rules, late), WRIT_STATUS_REVOKED);
    }
    teardown();
}
END_TEST

/* The same for a stop that comes only later: it names all that earlier runs may have issued. */
START_TEST(pull_revokes_credentials_of_every_earlier_late_run)
{
    int64_t late;

    setup();
    open_until_the_same_range();
    late = admit();
    open_until_the_same_range();
    ck_assert_int_eq(writ_stop_rules_status(rules, late), WRIT_STATUS_VALID);
    (void)pull(WRIT_KILL_AGENT, "x", NULL);
    ck_assert_int_eq(writ_stop_rules_status(rules, late), WRIT_STATUS_REVOKED);
    teardown();
}
END_TEST

START_TEST(admit_without_free_places_shares_the_last_one)
{
    static int64_t places[3 * PLACES];
    char name[16];
    size_t shared = 0;
    int64_t last = -1;

    setup();
    for (int i = 0; i < 3 * PLACES; i++) {
        call.agent_id = writ_view(name, (size_t)snprintf(name, sizeof name, "agent-%d", i));
        places[i] = admit();
        ck_assert_int_ge(places[i], 0);
        if (places[i] % PLACES == PLACES - 1) {
            shared++;
            last = places[i];
        }
    }
    ck_assert_uint_gt(shared, PLACES);
    (void)pull(WRIT_KILL_AGENT, "agent-0", NULL);
    ck_assert_int_eq(writ_stop_rules_status(rules, places[0]), WRIT_STATUS_REVOKED);
    ck_assert_int_eq(writ_stop_rules_status(rules, last), WRIT_STATUS_REVOKED);
    ck_assert_int_eq(writ_stop_rules_status(rules, places[1]), WRIT_STATUS_VALID);
    /* and it is not used again before all that is in it is over */
    call.agent_id = WRIT_LIT("agent-24575");
    ck_assert_int_lt(admit(), 0);
    teardown();
}
END_TEST

/* How many stops are listed. */
static size_t
held(void)
{
    writ_auto_buf text = writ_buf_make(1 << 20);
    struct writ_write w = writ_write_to(&text);
    size_t n = 0;

    writ_stop_rules_put(rules, writ_view(NULL, 0), &w);
    ck_assert_ok(writ_write_end(&w, NULL));
    for (size_t i = 0; i < text.len; i++) {
        n += text.ptr[i] == '{';
    }
    return n;
}

static writ_result
pull_credential(const char *jti, const struct writ_kill_call *issued)
{
    const struct writ_kill kill = {.by = WRIT_KILL_CREDENTIAL,
        .value = writ_view_str(jti),
        .reason = WRIT_LIT("why"),
        .issued = issued};
    char id[WRIT_ID_TEXT];

    return writ_memo_pull(&memo, rules, &kill, id);
}

START_TEST(pull_of_one_credential_revokes_its_place_only)
{
    int64_t place, other;

    setup();
    call.decision_id = WRIT_LIT("d-1");
    place = admit();
    call.tool = WRIT_LIT("z");
    other = admit();
    setup_call();
    ck_assert_code(pull_credential("d-1", NULL), WRIT_E_INVALID);
    ck_assert_int_eq(writ_stop_rules_status(rules, place), WRIT_STATUS_VALID);
    ck_assert_ok(pull_credential("d-1", &call));
    ck_assert_int_eq(writ_stop_rules_status(rules, place), WRIT_STATUS_REVOKED);
    ck_assert_int_eq(writ_stop_rules_status(rules, other), WRIT_STATUS_VALID);
    ck_assert(!writ_stop_rules_stops(rules, &call));
    ck_assert_int_ge(admit(), 0);
    ck_assert_int_ne(admit(), place);
    call.decision_id = WRIT_LIT("d-1");
    ck_assert(writ_stop_rules_stops(rules, &call));
    ck_assert_int_lt(admit(), 0);
    open_again();
    ck_assert(writ_stop_rules_stops(rules, &call));
    ck_assert_int_eq(writ_stop_rules_status(rules, place), WRIT_STATUS_REVOKED);
    teardown();
}
END_TEST

static int64_t later_s; /* how far the clock of the next test is ahead */

static int64_t
wall_of(void *ctx)
{
    (void)ctx;
    return writ_clock_wall_us(writ_clock_system()) + later_s * 1000000;
}

static int64_t
mono_of(void *ctx)
{
    (void)ctx;
    return writ_clock_mono_us(writ_clock_system()) + later_s * 1000000;
}

/* However many were revoked, there is room for stops again when the credentials are over. */
START_TEST(pull_of_a_credential_ends_when_it_expires)
{
    const struct writ_clock clock = {wall_of, mono_of, NULL};
    int64_t over_s = WRIT_CREDENTIAL_LIFETIME_MAX_S + WRIT_CREDENTIAL_SKEW_MAX_S;

    setup();
    writ_stop_rules_free(rules);
    later_s = 0;
    ck_assert_ok(writ_memo_open(&memo, store, &clock, &rules, NULL));
    for (int i = 0; i < 3; i++) {
        ck_assert_ok(pull_credential(i == 0 ? "d-0" : i == 1 ? "d-1" : "d-2", &call));
    }
    (void)pull(WRIT_KILL_AGENT, "b", NULL);
    call.decision_id = WRIT_LIT("d-1");
    later_s = over_s - 5;
    ck_assert_uint_eq(held(), 4);
    ck_assert(writ_stop_rules_stops(rules, &call));
    later_s = over_s + 5;
    ck_assert_uint_eq(held(), 1);
    ck_assert(!writ_stop_rules_stops(rules, &call));
    call.agent_id = WRIT_LIT("b");
    ck_assert(writ_stop_rules_stops(rules, &call));
    teardown();
}
END_TEST

START_TEST(pull_that_cannot_be_written_stops_and_reports_it)
{
    const struct writ_kill kill = {
        .by = WRIT_KILL_AGENT, .value = WRIT_LIT("a"), .reason = WRIT_LIT("r")};
    char id[WRIT_ID_TEXT];

    setup();
    memo.fails = true;
    ck_assert_code(writ_memo_pull(&memo, rules, &kill, id), WRIT_E_IO);
    ck_assert(writ_stop_rules_stops(rules, &call));
    ck_assert(!writ_is_ok(writ_memo_lift(&memo, rules, writ_view_str(id))));
    ck_assert(writ_stop_rules_stops(rules, &call));
    memo.fails = false;
    ck_assert_ok(writ_memo_lift(&memo, rules, writ_view_str(id)));
    ck_assert(!writ_stop_rules_stops(rules, &call));
    teardown();
}
END_TEST

START_TEST(stop_is_in_force_before_it_is_recorded_and_until_its_lift_is)
{
    struct writ_kill kill = {
        .by = WRIT_KILL_AGENT, .value = WRIT_LIT("a"), .reason = WRIT_LIT("r")};
    writ_auto_buf data = writ_buf_make(4096);
    char id[WRIT_ID_TEXT];
    int64_t place;

    setup();
    place = admit();
    ck_assert_ok(writ_stop_rules_pull(rules, &kill, id, &data, NULL));
    ck_assert(writ_stop_rules_stops(rules, &call));
    ck_assert_int_eq(admit(), -1);
    ck_assert_int_eq(writ_stop_rules_status(rules, place), WRIT_STATUS_REVOKED);
    ck_assert_code(writ_stop_rules_lift(rules, &kill, &data, NULL), WRIT_E_BUSY);
    writ_stop_rules_pulled(rules, &kill, true);
    ck_assert_ok(writ_stop_rules_lift(rules, &kill, &data, NULL));
    ck_assert(writ_stop_rules_stops(rules, &call));
    writ_stop_rules_lifted(rules, kill.id);
    writ_stop_rules_lifted(rules, kill.id);
    ck_assert(!writ_stop_rules_stops(rules, &call));
    teardown();
}
END_TEST

START_TEST(pull_beyond_a_limit_is_refused)
{
    static char text[WRIT_STOP_RULES_TEXT_MAX + 1];
    struct writ_kill kill = {.by = WRIT_KILL_AGENT, .reason = WRIT_LIT("r")};
    char id[WRIT_ID_TEXT] = "before";

    setup();
    memset(text, 'x', sizeof text);
    ck_assert_code(writ_memo_pull(&memo, rules, &kill, id), WRIT_E_INVALID); /* without a name */
    kill.value = writ_view(text, sizeof text);
    ck_assert_code(writ_memo_pull(&memo, rules, &kill, id), WRIT_E_INVALID);
    kill.value = writ_view(text, sizeof text - 1);
    ck_assert_ok(writ_memo_pull(&memo, rules, &kill, id));
    kill.by = WRIT_KILL_NONE;
    ck_assert_code(writ_memo_pull(&memo, rules, &kill, id), WRIT_E_INVALID);
    ck_assert(!writ_stop_rules_stops(rules, &call));
    ck_assert_code(writ_memo_lift(&memo, rules, WRIT_LIT("x")), WRIT_E_ABSENT);
    teardown();
}
END_TEST

START_TEST(status_list_agrees_with_the_places)
{
    struct writ_signer *signer = writ_keys_signer(WRIT_JWK_ALG_ES256);
    const struct writ_signer *all[] = {signer};
    struct writ_jwks *keys = writ_keys_set(all, 1);
    struct writ_arena *arena = writ_arena_new(1 << 20);
    writ_auto_buf before = writ_buf_make(WRIT_JWS_BYTES_MAX), uri = writ_buf_make(100);
    writ_auto_buf after = writ_buf_make(WRIT_JWS_BYTES_MAX);
    struct writ_status_list list;
    int64_t mine, other;

    setup();
    mine = admit();
    call.agent_id = WRIT_LIT("b");
    other = admit();
    writ_stop_rules_put_uri(&uri, WRIT_LIT("https://g/"));
    ck_assert_view(writ_buf_view(&uri), "https://g/.well-known/writ-status-list");
    ck_assert_ok(writ_stop_rules_put_list(rules, signer, writ_buf_view(&uri), &before, NULL));
    (void)pull(WRIT_KILL_AGENT, "a", NULL);
    ck_assert_ok(writ_stop_rules_put_list(rules, signer, writ_buf_view(&uri), &after, NULL));
    ck_assert_ok(writ_status_list_read(writ_buf_view(&before), keys, arena, &list, NULL));
    ck_assert_int_eq(writ_status_list_at(&list, mine), WRIT_STATUS_VALID);
    ck_assert_ok(writ_status_list_read(writ_buf_view(&after), keys, arena, &list, NULL));
    ck_assert_view(list.uri, "https://g/.well-known/writ-status-list");
    ck_assert_int_eq(list.expires_s - list.issued_s, 60);
    ck_assert_int_eq(writ_status_list_at(&list, mine), WRIT_STATUS_REVOKED);
    ck_assert_int_eq(writ_status_list_at(&list, other), WRIT_STATUS_VALID);
    for (int64_t i = 0; i < 4 * PLACES; i++) {
        ck_assert_int_eq(writ_status_list_at(&list, i), writ_stop_rules_status(rules, i));
    }
    writ_jwks_free(keys);
    writ_signer_free(signer);
    writ_arena_free(arena);
    teardown();
}
END_TEST

WRIT_UNIT_MAIN("stop_rules", pull_matches_exactly_the_named_calls,
    admit_gives_equal_calls_one_place, lift_and_restart_keep_revoked_credentials,
    restart_without_a_stop_revokes_nothing,
    pull_revokes_credentials_of_an_earlier_run_of_the_same_range,
    credentials_of_a_late_run_stay_revoked_over_more_runs,
    pull_revokes_credentials_of_every_earlier_late_run,
    admit_without_free_places_shares_the_last_one, pull_of_one_credential_revokes_its_place_only,
    pull_of_a_credential_ends_when_it_expires, pull_that_cannot_be_written_stops_and_reports_it,
    stop_is_in_force_before_it_is_recorded_and_until_its_lift_is, pull_beyond_a_limit_is_refused,
    status_list_agrees_with_the_places)
