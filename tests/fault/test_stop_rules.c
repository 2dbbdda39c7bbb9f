/* Fails the allocations of each administrative operation on stops. An acknowledged stop is in
 * force, an acknowledged durable stop is there after a restart, and no earlier stop is lost. */
#include "support/evidence/keys.h"
#include "support/gateway/memo.h"
#include "support/unit.h"
#include "support/evidence/value.h"

#include "gateway/stops/stop_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NOW_S     INT64_C(1782363600)
#define UNTIL_S   (NOW_S + 60)
#define URI       "https://gateway.example/list"
#define TOKEN_MAX 65536

static char folder[64], store[96], file[128];
static struct writ_stop_rules *kills;
static struct writ_memo memo;

static int64_t
stands_still(void *ctx)
{
    (void)ctx;
    return NOW_S * 1000000;
}

static const struct writ_clock still = {stands_still, stands_still, NULL};

static writ_result
open_again(void)
{
    writ_stop_rules_free(kills);
    kills = NULL;
    return writ_memo_open(&memo, store, &still, &kills, NULL);
}

static writ_result
pull(const char *agent, char ret_id[WRIT_ID_TEXT])
{
    const struct writ_kill kill = {.by = WRIT_KILL_AGENT,
        .value = writ_view_str(agent),
        .reason = WRIT_LIT("why"),
        .who = WRIT_LIT("me")};

    return writ_memo_pull(&memo, kills, &kill, ret_id);
}

static struct writ_kill_call
call_of(const char *agent)
{
    return (struct writ_kill_call){.agent_id = writ_view_str(agent),
        .tenant = WRIT_LIT("t"),
        .upstream = WRIT_LIT("up"),
        .tool = WRIT_LIT("tool"),
        .policy = WRIT_LIT("p")};
}

static bool
stops(const char *agent)
{
    const struct writ_kill_call call = call_of(agent);

    return writ_stop_rules_stops(kills, &call);
}

static int64_t
admit(const char *agent)
{
    const struct writ_kill_call call = call_of(agent);
    int64_t place = -1;

    return writ_stop_rules_admit(kills, &call, UNTIL_S, &place) ? place : -1;
}

/* With one stop in it, of "before". */
static void
setup(void)
{
    char id[WRIT_ID_TEXT];

    (void)snprintf(folder, sizeof folder, "/tmp/writ-kills-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(store, sizeof store, "%s/ledger.db", folder);
    (void)snprintf(file, sizeof file, "%s.places.json", store);
    ck_assert_ok(open_again());
    ck_assert_ok(pull("before", id));
}

static void
teardown(void)
{
    writ_stop_rules_free(kills);
    kills = NULL;
    writ_memo_wipe(&memo);
    (void)unlink(file);
    (void)rmdir(folder);
}

START_TEST(open_with_a_failed_allocation_reads_all_stops_or_fails)
{
    bool reached = true;

    setup();
    for (long nth = 1; reached; nth++) {
        writ_result result;

        writ_fault_arm(nth);
        result = open_again();
        reached = writ_fault_disarm();
        if (writ_is_ok(result)) {
            ck_assert_msg(stops("before"), "allocation %ld", nth);
        } else {
            ck_assert_int_eq(result.code, WRIT_E_NOMEM);
            ck_assert_ptr_null(kills);
        }
    }
    teardown();
}
END_TEST

START_TEST(pull_with_a_failed_allocation_stops_or_fails)
{
    bool reached = true;
    int worked = 0, refused = 0;

    for (long nth = 1; reached; nth++) {
        char id[WRIT_ID_TEXT] = "none";
        int64_t place;
        writ_result result;
        bool works;

        setup();
        place = admit("a");
        writ_fault_arm(nth);
        result = pull("a", id);
        reached = writ_fault_disarm();
        works = writ_is_ok(result) || result.code == WRIT_E_IO;
        ck_assert_msg(works || result.code == WRIT_E_NOMEM, "allocation %ld", nth);
        worked += works && reached ? 1 : 0;
        refused += works ? 0 : 1;
        ck_assert_msg(stops("a") == works, "allocation %ld", nth);
        ck_assert_int_eq(admit("a") == -1, works);
        ck_assert_int_eq(
            writ_stop_rules_status(kills, place), works ? WRIT_STATUS_REVOKED : WRIT_STATUS_VALID);
        ck_assert_str_eq(works ? "none" : id, "none");
        ck_assert_ok(open_again());
        ck_assert_int_eq(stops("a"), writ_is_ok(result));
        ck_assert(stops("before"));
        teardown();
    }
    ck_assert_int_gt(worked, 0);
    ck_assert_int_gt(refused, 0);
}
END_TEST

START_TEST(lift_with_a_failed_allocation_keeps_or_lifts_the_stop)
{
    bool reached = true;

    for (long nth = 1; reached; nth++) {
        char id[WRIT_ID_TEXT];
        writ_result result;

        setup();
        ck_assert_ok(pull("a", id));
        writ_fault_arm(nth);
        result = writ_memo_lift(&memo, kills, writ_view_str(id));
        reached = writ_fault_disarm();
        ck_assert_msg(stops("a") == !writ_is_ok(result), "allocation %ld", nth);
        ck_assert_ok(open_again());
        ck_assert_int_eq(stops("a"), !writ_is_ok(result));
        ck_assert(stops("before"));
        teardown();
    }
}
END_TEST

/* A later stop revokes every credential that got a place, wherever memory was missing. */
START_TEST(pull_with_a_failed_allocation_revokes_admitted_places)
{
    bool reached = true;

    for (long nth = 1; reached; nth++) {
        char id[WRIT_ID_TEXT];
        int64_t place;

        setup();
        writ_fault_arm(nth);
        place = admit("a");
        reached = writ_fault_disarm();
        ck_assert_ok(pull("a", id));
        if (place >= 0) {
            ck_assert_int_eq(writ_stop_rules_status(kills, place), WRIT_STATUS_REVOKED);
        }
        ck_assert_int_eq(place >= 0 || reached, true);
        teardown();
    }
}
END_TEST

START_TEST(list_with_a_failed_allocation_gives_all_or_none)
{
    struct writ_signer *signer = writ_keys_signer(WRIT_JWK_ALG_EDDSA); /* the same text each time */
    writ_auto_buf want = writ_buf_make(TOKEN_MAX);
    char id[WRIT_ID_TEXT];
    bool reached = true;

    setup();
    (void)admit("a");
    ck_assert_ok(pull("a", id));
    ck_assert_ok(writ_stop_rules_put_list(kills, signer, WRIT_LIT(URI), &want, NULL));
    for (long nth = 1; reached; nth++) {
        writ_auto_buf got = writ_buf_make(TOKEN_MAX);
        struct writ_signer *other = NULL;
        writ_auto_buf pem = writ_buf_make(WRIT_SIGNER_PEM_MAX);
        writ_result result;

        ck_assert_ok(writ_signer_put_pem(signer, &pem, NULL));
        ck_assert_ok(writ_signer_read(writ_buf_view(&pem), &other, NULL));
        writ_fault_arm(nth);
        result =
            writ_stop_rules_put_list(kills, other, WRIT_LIT(URI), &got, NULL); /* signed again */
        reached = writ_fault_disarm();
        if (writ_is_ok(result)) {
            ck_assert(writ_view_equal(writ_buf_view(&got), writ_buf_view(&want)));
        } else {
            ck_assert_int_eq(result.code, WRIT_E_NOMEM);
        }
        /* and a list signed afterwards is complete */
        writ_buf_clear(&got);
        ck_assert_ok(writ_stop_rules_put_list(kills, signer, WRIT_LIT(URI), &got, NULL));
        ck_assert(writ_view_equal(writ_buf_view(&got), writ_buf_view(&want)));
        writ_signer_free(other);
    }
    writ_signer_free(signer);
    teardown();
}
END_TEST

WRIT_UNIT_MAIN("stops under faults", open_with_a_failed_allocation_reads_all_stops_or_fails,
    pull_with_a_failed_allocation_stops_or_fails,
    lift_with_a_failed_allocation_keeps_or_lifts_the_stop,
    pull_with_a_failed_allocation_revokes_admitted_places,
    list_with_a_failed_allocation_gives_all_or_none)
