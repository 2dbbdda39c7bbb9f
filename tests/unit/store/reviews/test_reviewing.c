/* Reviews in the ledger: opened, joined, voted on, ended, redeemed, over restarts. One approval
 * grants one call, exactly the call that was reviewed. */
#include "support/store/poll.h"
#include "support/unit.h"

#include "crew/panel.h"
#include "evidence/record/extension.h"
#include "store/read/verify.h"

#include <stdio.h>
#include <string.h>

typedef struct writ_kit_spec spec;
typedef struct writ_kit_call call;

/* ---- */

START_TEST(ask_of_the_same_call_joins_the_open_review)
{
    struct writ_kit kit;
    const char *first, *same, *other, *agent;

    writ_poll_start(&kit);
    first = writ_poll_opened(&kit, (struct writ_poll_spec){0});
    same = writ_poll_opened(&kit, (struct writ_poll_spec){0});
    other = writ_poll_opened(&kit, (struct writ_poll_spec){.spec = {.argument = "b"}});
    agent = writ_poll_opened(&kit, (struct writ_poll_spec){.spec = {.agent = "joe"}});
    ck_assert_str_eq(first, same);
    ck_assert_str_ne(first, other);
    ck_assert_str_ne(first, agent);
    ck_assert_uint_eq(writ_kit_health(&kit).reviews, 3);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record WHERE kind = 4"), 3);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record WHERE kind = 1"), 4);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(redeem_grants_once_and_a_repeat_is_a_duplicate)
{
    struct writ_kit kit;
    const char *id;
    struct writ_poll_asking *a;

    writ_poll_start(&kit);
    id = writ_poll_opened(&kit, (struct writ_poll_spec){0});
    writ_poll_approve(&kit, id);
    a = writ_poll_redeemed(&kit, (struct writ_poll_spec){0});
    ck_assert_view(a->call->decision.continuation_id.view, id);
    ck_assert_view(a->call->decision.supersedes.view, id);
    writ_poll_told(&kit, (struct writ_poll_spec){0}, WRIT_REASON_DUPLICATE_IN_FLIGHT);
    ck_assert_int_eq(writ_kit_end(&kit, a->call, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    writ_poll_told(&kit, (struct writ_poll_spec){0}, WRIT_REASON_DUPLICATE_OUTCOME);
    ck_assert_uint_eq(writ_kit_health(&kit).reviews, 0);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM review"), 0);
    writ_kit_call_free(a->call);
    ck_assert_int_eq(writ_kit_seal(&kit, "run", NULL), WRIT_OK);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

/* Both in one group: the writer takes them together. */
START_TEST(redeem_by_two_callers_in_one_group_grants_one)
{
    struct writ_kit kit;
    const char *id;
    struct writ_poll_asking *a, *b;
    struct writ_entry *both[2];
    int granted;

    writ_poll_start(&kit);
    id = writ_poll_opened(&kit, (struct writ_poll_spec){0});
    writ_poll_approve(&kit, id);
    a = writ_poll_asking(&kit, (struct writ_poll_spec){.continuation = id});
    b = writ_poll_asking(&kit, (struct writ_poll_spec){.continuation = id});
    both[0] = &a->call->entry;
    both[1] = &b->call->entry;
    ck_assert_ok(writ_ledger_submit(kit.ledger, both, 2));
    sem_wait(&a->call->done);
    sem_wait(&b->call->done);
    granted = a->call->entry.decision.granted + b->call->entry.decision.granted;
    ck_assert_int_eq(granted, 1);
    writ_kit_call_free(a->call);
    writ_kit_call_free(b->call);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(review_end_is_reported_once_and_then_a_new_review_opens)
{
    static const struct {
        enum writ_review_event event;
        enum writ_reason reason;
    } rows[] = {
        {WRIT_REVIEW_DO_WITHDRAW, WRIT_REASON_APPROVAL_WITHDRAWN},
        {WRIT_REVIEW_DO_CANCEL, WRIT_REASON_APPROVAL_CANCELLED},
        {WRIT_REVIEW_DO_OUTDATE, WRIT_REASON_APPROVAL_OUTDATED},
    };
    struct writ_kit kit;

    writ_poll_start(&kit);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int approved = 0; approved < 2; approved++) {
            const char *id = writ_poll_opened(&kit, (struct writ_poll_spec){0});

            if (approved) {
                writ_poll_approve(&kit, id);
            }
            ck_assert_int_eq(writ_poll_happens(&kit, id, rows[i].event), WRIT_REASON_NONE);
            ck_assert_int_eq(writ_poll_happens(&kit, id, rows[i].event), WRIT_REASON_REVIEW_CLOSED);
            writ_poll_told(&kit, (struct writ_poll_spec){0}, rows[i].reason);
        }
    }
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(verdict_of_a_call_holds_for_its_repeats)
{
    struct writ_kit kit;
    const char *id;
    struct writ_poll_asking *a;

    writ_poll_start(&kit);
    id = writ_poll_opened(&kit, (struct writ_poll_spec){0});
    writ_poll_vote(&kit, id, "ann", WRIT_REVIEW_REJECT, WRIT_REVIEW_OPEN);
    writ_poll_vote(&kit, id, "eve", WRIT_REVIEW_REJECT, WRIT_REVIEW_REJECTED);
    writ_poll_told(&kit, (struct writ_poll_spec){0}, WRIT_REASON_APPROVAL_REJECTED);
    writ_poll_told(&kit, (struct writ_poll_spec){0}, WRIT_REASON_APPROVAL_REJECTED);
    id = writ_poll_opened(&kit, (struct writ_poll_spec){.spec = {.argument = "b"}});
    writ_poll_vote(&kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    writ_poll_vote(&kit, id, "eve", WRIT_REVIEW_REJECT, WRIT_REVIEW_OPEN);
    writ_poll_vote(&kit, id, "bob", WRIT_REVIEW_MODIFY, WRIT_REVIEW_REVISED);
    a = writ_poll_asked(&kit, (struct writ_poll_spec){.spec = {.argument = "b"}});
    ck_assert(writ_decision_is(&a->call->decision, WRIT_DECISION_REVISE));
    ck_assert_view(a->call->decision.supersedes.view, id);
    writ_kit_call_free(a->call);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(review_without_votes_expires_and_an_approval_expires)
{
    struct writ_kit kit;
    const char *id;
    enum writ_review_state state;

    writ_poll_start(&kit);
    id = writ_poll_opened(&kit, (struct writ_poll_spec){0});
    writ_poll_vote(&kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    writ_kit_pass(&kit, 15 * WRIT_POLL_MINUTE_US);
    ck_assert_int_eq(writ_poll_vote_as(&kit, id, "bob", "", WRIT_REVIEW_APPROVE, &state),
        WRIT_REASON_REVIEW_CLOSED);
    writ_poll_told(&kit, (struct writ_poll_spec){0}, WRIT_REASON_APPROVAL_EXPIRED);
    id = writ_poll_opened(&kit, (struct writ_poll_spec){0});
    writ_poll_approve(&kit, id);
    writ_kit_pass(&kit, 5 * WRIT_POLL_MINUTE_US);
    writ_kit_turn(&kit);
    writ_poll_told(&kit, (struct writ_poll_spec){0}, WRIT_REASON_APPROVAL_LAPSED);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

/* The decision, its blocked outcome and the end of the review are three records of one group. */
START_TEST(refused_call_that_ends_its_review_leaves_a_sound_ledger)
{
    struct writ_kit kit;

    writ_kit_init(&kit);
    kit.options.judge = &writ_panel_judge;
    kit.options.reviews_agent_max = 1;
    writ_kit_open(&kit);
    (void)writ_poll_opened(&kit, (struct writ_poll_spec){0});
    writ_kit_pass(&kit, 15 * WRIT_POLL_MINUTE_US); /* and no turn before the call */
    writ_poll_told(&kit, (struct writ_poll_spec){0}, WRIT_REASON_APPROVAL_EXPIRED);
    writ_poll_sound(&kit);
    (void)writ_poll_opened(&kit, (struct writ_poll_spec){0});
    writ_poll_told(&kit, (struct writ_poll_spec){.state = "later"}, WRIT_REASON_REVIEWS_EXCEEDED);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(drift_or_policy_change_ends_a_review_and_opens_its_successor)
{
    struct writ_kit kit;
    const char *id;
    struct writ_poll_asking *a;

    writ_poll_start(&kit);
    for (int policy = 0; policy < 2; policy++) {
        struct writ_poll_spec later = {.state = policy ? NULL : "later",
            .rules = policy ? "sha256:others" : NULL,
            .spec = {.argument = policy ? "p" : "d"}};
        struct writ_extension extension;

        id = writ_poll_opened(&kit, (struct writ_poll_spec){.spec = later.spec});
        writ_poll_approve(&kit, id);
        a = writ_poll_asked(&kit, later);
        ck_assert(!a->call->entry.decision.granted);
        ck_assert(writ_decision_is(&a->call->decision, WRIT_DECISION_REQUIRE_APPROVAL));
        ck_assert_view(a->call->decision.supersedes.view, id);
        ck_assert(!writ_view_is(a->ask.id, id));
        ck_assert_ok(
            writ_extension_read(&a->call->decision.extensions, a->call->arena, &extension, NULL));
        ck_assert_view(extension.reason.view, policy ? "approval_outdated" : "target_state_drift");
        writ_kit_call_free(a->call);
        /* a state that changed and changed back is another review's by now */
        writ_poll_told(&kit, (struct writ_poll_spec){.spec = later.spec, .continuation = id},
            WRIT_REASON_CONTINUATION_MISMATCH);
    }
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

/* ---- watching */

/** The result of a watch: the state of each reported review, and its position. */
struct watched {
    bool reset;
    uint64_t at;
    size_t n;
    enum writ_review_state last;
};

static struct watched
watched(struct writ_kit *kit, uint64_t since)
{
    struct writ_entry entry = {.kind = WRIT_ENTRY_REVIEW_WATCH, .review_watch = {.since = since}};
    struct watched ret;

    entry.arena = writ_arena_new(WRIT_POLL_ARENA);
    ck_assert_int_eq(writ_kit_submit(kit, &entry), WRIT_OK);
    ret = (struct watched){
        entry.review_watch.reset, entry.review_watch.at, entry.review_watch.n, WRIT_REVIEW_ABSENT};
    if (ret.n > 0) {
        ret.last = entry.review_watch.items[ret.n - 1].state;
    }
    writ_arena_free(entry.arena);
    return ret;
}

START_TEST(watcher_gets_live_reviews_and_then_each_change)
{
    struct writ_kit kit;
    struct watched now;
    const char *id;

    writ_poll_start(&kit);
    now = watched(&kit, 0);
    ck_assert(now.reset && now.n == 0 && now.at > 0);
    id = writ_poll_opened(&kit, (struct writ_poll_spec){0});
    (void)writ_poll_opened(&kit, (struct writ_poll_spec){.spec = {.argument = "b"}});
    now = watched(&kit, now.at);
    ck_assert(!now.reset && now.n == 2);
    ck_assert_int_eq(watched(&kit, now.at).n, 0);
    writ_poll_vote(&kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    now = watched(&kit, now.at);
    ck_assert(!now.reset && now.n == 1);
    ck_assert_int_eq(now.last, WRIT_REVIEW_OPEN);
    ck_assert_uint_eq(watched(&kit, 0).n, 2);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(watcher_gets_the_end_of_a_review_dropped_at_once)
{
    struct writ_kit kit;
    struct writ_poll_asking *a;
    struct watched before, now;
    const char *id;

    writ_poll_start(&kit);
    id = writ_poll_opened(&kit, (struct writ_poll_spec){0});
    writ_poll_approve(&kit, id);
    before = watched(&kit, 0);
    a = writ_poll_redeemed(&kit, (struct writ_poll_spec){0});
    ck_assert_int_eq(writ_kit_end(&kit, a->call, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    writ_kit_call_free(a->call);
    ck_assert_uint_eq(writ_kit_health(&kit).reviews, 0);
    now = watched(&kit, before.at);
    ck_assert(!now.reset && now.n == 1);
    ck_assert_int_eq(now.last, WRIT_REVIEW_REDEEMED);
    ck_assert(watched(&kit, 0).n == 0);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(watcher_starts_again_after_a_restart_or_another_ledger)
{
    struct writ_kit kit;
    struct watched before, now;

    writ_poll_start(&kit);
    (void)writ_poll_opened(&kit, (struct writ_poll_spec){0});
    before = watched(&kit, 0);
    (void)writ_poll_opened(&kit, (struct writ_poll_spec){.spec = {.argument = "b"}});
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    now = watched(&kit, before.at);
    ck_assert(now.reset && now.n == 2);
    ck_assert_uint_eq(watched(&kit, now.at).n, 0);
    ck_assert(watched(&kit, now.at + 1000).reset);
    writ_kit_wipe(&kit);
}
END_TEST

/* One portion: the ids of its reviews, "abc" for those with these arguments, into `ret`. */
static struct writ_entry_review_watch
portion(struct writ_kit *kit, const char *const ids[], size_t ids_n, uint64_t since, uint64_t from,
    char *ret)
{
    struct writ_entry entry = {
        .kind = WRIT_ENTRY_REVIEW_WATCH, .review_watch = {.since = since, .from = from, .most = 2}};
    size_t n = 0;

    entry.arena = writ_arena_new(WRIT_POLL_ARENA);
    ck_assert_int_eq(writ_kit_submit(kit, &entry), WRIT_OK);
    for (size_t i = 0; i < entry.review_watch.n; i++) {
        for (size_t j = 0; j < ids_n; j++) {
            if (writ_view_is(entry.review_watch.items[i].review.id, ids[j])) {
                ret[n++] = (char)('a' + j);
            }
        }
    }
    ck_assert_uint_eq(n, entry.review_watch.n);
    ret[n] = '\0';
    writ_arena_free(entry.arena);
    return entry.review_watch;
}

START_TEST(watcher_gets_many_reviews_in_portions)
{
    static const char *const arguments[] = {"a", "b", "c", "d", "e"};
    struct writ_kit kit;
    struct writ_entry_review_watch now, first;
    const char *ids[5];
    char got[8];

    writ_poll_start(&kit);
    for (size_t i = 0; i < 5; i++) {
        ids[i] =
            writ_poll_opened(&kit, (struct writ_poll_spec){.spec = {.argument = arguments[i]}});
    }
    first = portion(&kit, ids, 5, 0, 0, got);
    ck_assert(first.reset && first.more && first.next > 0);
    ck_assert_str_eq(got, "ab");
    writ_poll_vote(&kit, ids[0], "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    writ_poll_vote(&kit, ids[3], "ann", WRIT_REVIEW_REJECT, WRIT_REVIEW_OPEN);
    writ_poll_vote(&kit, ids[3], "bob", WRIT_REVIEW_REJECT, WRIT_REVIEW_REJECTED);
    now = portion(&kit, ids, 5, first.at, first.next, got);
    ck_assert(now.reset && !now.more && now.next == 0);
    ck_assert_uint_eq(now.at, first.at); /* what happened since the first portion comes after it */
    ck_assert_str_eq(got, "ce");
    now = portion(&kit, ids, 5, now.at, now.next, got);
    ck_assert(!now.reset && !now.more);
    ck_assert_str_eq(got, "ad");
    ck_assert_uint_eq(portion(&kit, ids, 5, now.at, 0, got).n, 0);

    writ_poll_vote(&kit, ids[4], "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    writ_poll_vote(&kit, ids[2], "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    writ_poll_vote(&kit, ids[0], "bob", WRIT_REVIEW_APPROVE, WRIT_REVIEW_APPROVED);
    now = portion(&kit, ids, 5, now.at, 0, got);
    ck_assert(!now.reset && now.more && now.next == 0);
    ck_assert_str_eq(got, "ec"); /* in the order of their changes */
    now = portion(&kit, ids, 5, now.at, 0, got);
    ck_assert(!now.reset && !now.more);
    ck_assert_str_eq(got, "a");
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(continuation_of_another_call_is_refused)
{
    struct writ_kit kit;
    const char *id, *other;

    writ_poll_start(&kit);
    id = writ_poll_opened(&kit, (struct writ_poll_spec){0});
    other = writ_poll_opened(&kit, (struct writ_poll_spec){.spec = {.argument = "b"}});
    writ_poll_approve(&kit, id);
    writ_poll_approve(&kit, other);
    writ_poll_told(
        &kit, (struct writ_poll_spec){.continuation = other}, WRIT_REASON_CONTINUATION_MISMATCH);
    writ_poll_told(&kit, (struct writ_poll_spec){.continuation = "nothing"},
        WRIT_REASON_CONTINUATION_MISMATCH);
    writ_poll_told(&kit, (struct writ_poll_spec){.continuation = id, .spec = {.agent = "joe"}},
        WRIT_REASON_CONTINUATION_MISMATCH);
    writ_poll_told(&kit,
        (struct writ_poll_spec){.continuation = id, .spec = {.boundary = "another"}},
        WRIT_REASON_CONTINUATION_MISMATCH);
    writ_kit_call_free(writ_poll_redeemed(&kit, (struct writ_poll_spec){.continuation = id})->call);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(vote_counts_for_its_own_review_and_voter_only)
{
    struct writ_kit kit;
    struct writ_arena *arena = writ_arena_new(WRIT_POLL_ARENA);
    const char *id, *other;
    enum writ_review_state state;
    struct writ_review_told one, two;

    writ_poll_start(&kit);
    id = writ_poll_opened(&kit, (struct writ_poll_spec){0});
    other = writ_poll_opened(&kit, (struct writ_poll_spec){.spec = {.argument = "b"}});
    one = writ_poll_look(&kit, id, arena);
    two = writ_poll_look(&kit, other, arena);
    /* replayed on another review */
    ck_assert_int_eq(writ_poll_vote_as(&kit, other, "ann", one.digest, WRIT_REVIEW_APPROVE, &state),
        WRIT_REASON_REVIEW_MISMATCH);
    ck_assert_int_eq(
        writ_poll_vote_as(&kit, id, "mallory", one.digest, WRIT_REVIEW_APPROVE, &state),
        WRIT_REASON_VOTE_NOT_ENTITLED);
    ck_assert_int_eq(writ_poll_vote_as(&kit, id, "agent", one.digest, WRIT_REVIEW_APPROVE, &state),
        WRIT_REASON_VOTE_NOT_ENTITLED);
    ck_assert_int_eq(writ_poll_vote_as(&kit, id, "ann", one.digest, WRIT_REVIEW_NO_VOTE, &state),
        WRIT_REASON_VOTE_MALFORMED);
    ck_assert_int_eq(
        writ_poll_vote_as(&kit, "none", "ann", two.digest, WRIT_REVIEW_APPROVE, &state),
        WRIT_REASON_REVIEW_UNKNOWN);
    /* twice by one voter is one vote, the last */
    writ_poll_vote(&kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    writ_poll_vote(&kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    writ_poll_vote(&kit, id, "ann", WRIT_REVIEW_REJECT, WRIT_REVIEW_OPEN);
    writ_poll_vote(&kit, id, "bob", WRIT_REVIEW_REJECT, WRIT_REVIEW_REJECTED);
    ck_assert_int_eq(writ_poll_vote_as(&kit, id, "eve", one.digest, WRIT_REVIEW_APPROVE, &state),
        WRIT_REASON_REVIEW_CLOSED);
    writ_arena_free(arena);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(call_of_one_of_its_voters_is_refused)
{
    struct writ_kit kit;

    writ_poll_start(&kit);
    writ_poll_told(&kit, (struct writ_poll_spec){.subject = "bob"}, WRIT_REASON_REVIEW_UNAVAILABLE);
    ck_assert_uint_eq(writ_kit_health(&kit).reviews, 0);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(verify_of_inconsistent_review_records_fails)
{
    static const struct {
        const char *from, *to, *what;
    } edits[] = {
        {"\"n\":1", "\"n\":7", "its review: record 1 of a review is missing"},
        {"\"by\":\"ann\"", "\"by\":\"zed\"", "its review: a vote is not of a voter"},
        {"\"review_digest\":\"sha256:", "\"review_digest\":\"sha256:0", "review"},
    };

    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        struct writ_verify_report report;
        struct writ_kit kit;
        char sql[256];

        writ_poll_start(&kit);
        writ_poll_approve(&kit, writ_poll_opened(&kit, (struct writ_poll_spec){0}));
        writ_kit_close(&kit);
        (void)snprintf(sql, sizeof sql,
            "UPDATE body SET bytes = CAST(replace(CAST(bytes AS TEXT), '%s', '%s') AS BLOB) "
            "WHERE leaf = 2",
            edits[i].from, edits[i].to);
        writ_kit_sql(&kit, sql);
        ck_assert_ok(writ_verify_ledger(kit.path, kit.ring, NULL, NULL, &report, NULL));
        ck_assert_msg(report.problems > 0 && report.list[0].leaf == 2 &&
                          strstr(report.list[0].what, edits[i].what) != NULL,
            "record %llu: %s", (unsigned long long)report.list[0].leaf, report.list[0].what);
        writ_kit_wipe(&kit);
    }
}
END_TEST

START_TEST(veto_ends_the_review_at_once)
{
    struct writ_kit kit;
    const char *id;

    writ_poll_start(&kit);
    id = writ_poll_opened(&kit, (struct writ_poll_spec){.veto = true, .quorum = "3"});
    writ_poll_vote(&kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    writ_poll_vote(&kit, id, "bob", WRIT_REVIEW_REJECT, WRIT_REVIEW_REJECTED);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(reviews_and_votes_survive_a_restart_at_every_point)
{
    struct writ_kit kit;
    const char *id;

    writ_poll_start(&kit);
    id = writ_poll_opened(&kit, (struct writ_poll_spec){0});
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    ck_assert_str_eq(writ_poll_opened(&kit, (struct writ_poll_spec){0}), id);
    writ_poll_vote(&kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    writ_poll_vote(&kit, id, "eve", WRIT_REVIEW_APPROVE, WRIT_REVIEW_APPROVED);
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    writ_kit_call_free(writ_poll_redeemed(&kit, (struct writ_poll_spec){0})->call);
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    writ_poll_told(&kit, (struct writ_poll_spec){0}, WRIT_REASON_INTERRUPTED_EXECUTION_UNKNOWN);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(unreported_end_is_reported_after_a_restart)
{
    struct writ_kit kit;
    const char *id;

    writ_poll_start(&kit);
    id = writ_poll_opened(&kit, (struct writ_poll_spec){0});
    ck_assert_int_eq(writ_poll_happens(&kit, id, WRIT_REVIEW_DO_CANCEL), WRIT_REASON_NONE);
    ck_assert_int_eq(
        writ_kit_number(&kit, "SELECT count(*) FROM review WHERE arguments IS NULL"), 1);
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    writ_poll_told(&kit, (struct writ_poll_spec){0}, WRIT_REASON_APPROVAL_CANCELLED);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM review"), 0);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(seal_of_a_run_ends_its_reviews)
{
    struct writ_kit kit;

    writ_poll_start(&kit);
    (void)writ_poll_opened(&kit, (struct writ_poll_spec){0});
    ck_assert_int_eq(writ_kit_seal(&kit, "run", NULL), WRIT_OK);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record WHERE kind = 4"), 2);
    writ_poll_told(&kit, (struct writ_poll_spec){0}, WRIT_REASON_BOUNDARY_SEALED);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(ask_beyond_the_reviews_of_an_agent_is_refused)
{
    struct writ_kit kit;

    writ_kit_init(&kit);
    kit.options.judge = &writ_panel_judge;
    kit.options.reviews_agent_max = 2;
    kit.options.reviews_max = 3;
    writ_kit_open(&kit);
    (void)writ_poll_opened(&kit, (struct writ_poll_spec){.spec = {.argument = "a"}});
    (void)writ_poll_opened(&kit, (struct writ_poll_spec){.spec = {.argument = "b"}});
    writ_poll_told(
        &kit, (struct writ_poll_spec){.spec = {.argument = "c"}}, WRIT_REASON_REVIEWS_EXCEEDED);
    (void)writ_poll_opened(&kit, (struct writ_poll_spec){.spec = {.agent = "joe"}});
    writ_poll_told(
        &kit, (struct writ_poll_spec){.spec = {.agent = "jim"}}, WRIT_REASON_REVIEWS_FULL);
    (void)writ_poll_opened(&kit, (struct writ_poll_spec){.spec = {.argument = "a"}}); /* joins */
    writ_kit_close(&kit);
    kit.options.reviews_max = 2; /* it takes those that there are, and no other */
    writ_kit_open(&kit);
    ck_assert_uint_eq(writ_kit_health(&kit).reviews, 3);
    writ_poll_told(
        &kit, (struct writ_poll_spec){.spec = {.agent = "jim"}}, WRIT_REASON_REVIEWS_FULL);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(review_without_a_vote_counter_is_not_opened)
{
    struct writ_kit kit;

    writ_kit_start(&kit);
    writ_poll_told(&kit, (struct writ_poll_spec){0}, WRIT_REASON_REVIEW_UNAVAILABLE);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(review_get_of_changed_arguments_poisons)
{
    static const char *const edits[] = {
        "UPDATE review SET arguments = CAST(replace(arguments, '100', '999') AS BLOB)",
        "UPDATE review SET arguments = NULL",
        "UPDATE review SET arguments = x''",
    };

    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        struct writ_kit kit;
        struct writ_entry entry = {.kind = WRIT_ENTRY_REVIEW_GET};

        writ_poll_start(&kit);
        entry.review_get.id = writ_view_str(writ_poll_opened(&kit, (struct writ_poll_spec){0}));
        entry.arena = writ_arena_new(WRIT_POLL_ARENA);
        writ_kit_close(&kit);
        writ_kit_sql(&kit, edits[i]);
        writ_kit_open(&kit);
        ck_assert_int_eq(writ_kit_submit(&kit, &entry), WRIT_E_IO);
        ck_assert_ptr_null(entry.review_get.arguments.ptr);
        ck_assert_int_eq(writ_kit_health(&kit).state, WRIT_LEDGER_POISONED);
        writ_arena_free(entry.arena);
        writ_kit_wipe(&kit);
    }
}
END_TEST

/* A review is restored from its records, also from those older than the ones that a start reads. */
START_TEST(open_after_an_edit_of_the_records_of_a_review_is_refused)
{
    static const char *const edits[] = {
        "UPDATE record SET decision_id = 'other' WHERE leaf = "
        "(SELECT max(leaf) FROM record WHERE kind = 4)",
        "DELETE FROM record WHERE leaf = (SELECT max(leaf) FROM record WHERE kind = 4)",
        "UPDATE record SET kind = 3 WHERE leaf = (SELECT max(leaf) FROM record WHERE kind = 4)",
        "UPDATE record SET boundary = (SELECT id FROM boundary WHERE name = 'other') "
        "WHERE leaf = (SELECT leaf FROM review)",
        "UPDATE body SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"by\":\"ann\"', "
        "'\"by\":\"bob\"') AS BLOB)",
    };

    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        struct writ_ledger *ledger = NULL;
        struct writ_err err = {0};
        struct writ_kit kit;

        writ_poll_start(&kit);
        writ_poll_vote(&kit, writ_poll_opened(&kit, (struct writ_poll_spec){.quorum = "3"}), "ann",
            WRIT_REVIEW_REJECT, WRIT_REVIEW_OPEN);
        writ_kit_run(&kit, (struct writ_kit_spec){.boundary = "other"});
        writ_kit_close(&kit);
        writ_kit_sql(&kit, edits[i]);
        ck_assert_msg(
            writ_ledger_open(kit.path, &kit.options, &ledger, &err).code == WRIT_E_MISMATCH,
            "%s: %s", edits[i], err.text);
        writ_kit_wipe(&kit);
    }
}
END_TEST

START_TEST(review_get_has_arguments_while_live_and_records_afterwards)
{
    struct writ_kit kit;
    const char *id;
    struct writ_entry entry = {.kind = WRIT_ENTRY_REVIEW_GET};

    writ_poll_start(&kit);
    id = writ_poll_opened(&kit, (struct writ_poll_spec){0});
    entry.arena = writ_arena_new(WRIT_POLL_ARENA);
    entry.review_get.id = writ_view_str(id);
    ck_assert_int_eq(writ_kit_submit(&kit, &entry), WRIT_OK);
    ck_assert_view(entry.review_get.arguments, "{\"amount\":100}");
    ck_assert_uint_eq(entry.review_get.records_n, 1);
    ck_assert_int_eq(entry.review_get.told.state, WRIT_REVIEW_OPEN);
    writ_poll_approve(&kit, id);
    writ_kit_call_free(writ_poll_redeemed(&kit, (struct writ_poll_spec){0})->call);
    ck_assert_int_eq(writ_kit_submit(&kit, &entry), WRIT_OK);
    ck_assert_ptr_null(entry.review_get.arguments.ptr);
    ck_assert_uint_eq(entry.review_get.records_n, 5);
    ck_assert_int_eq(entry.review_get.told.state, WRIT_REVIEW_REDEEMED);
    entry.review_get.id = WRIT_LIT("none");
    ck_assert_int_eq(writ_kit_submit(&kit, &entry), WRIT_E_ABSENT);
    writ_arena_free(entry.arena);
    writ_kit_wipe(&kit);
}
END_TEST

/* As many as a voter has. */
START_TEST(review_with_many_long_votes_survives_a_restart)
{
    struct writ_kit kit;
    struct writ_arena *arena = writ_arena_new(WRIT_POLL_ARENA);
    static char feedback[WRIT_REVIEW_FEEDBACK_MAX + 1];
    const char *id;
    struct writ_review_told now;

    for (size_t i = 0; i + 1 < sizeof feedback; i++) {
        feedback[i] = 'f';
    }
    writ_poll_start(&kit);
    id = writ_poll_opened(&kit, (struct writ_poll_spec){0});
    now = writ_poll_look(&kit, id, arena);
    for (size_t i = 0; i < WRIT_REVIEW_VOTES_EACH; i++) {
        struct writ_poll_event e =
            writ_poll_sent(&kit, (struct writ_entry_review){.event = WRIT_REVIEW_DO_VOTE,
                                     .id = writ_view_str(id),
                                     .by = WRIT_LIT("ann"),
                                     .digest = writ_view_str(now.digest),
                                     .vote = WRIT_REVIEW_APPROVE,
                                     .feedback = writ_view_str(feedback)});

        ck_assert_int_eq(e.code, WRIT_OK);
        ck_assert_int_eq(e.entry.review.refused, WRIT_REASON_NONE);
        writ_arena_free(e.entry.arena);
    }
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    writ_poll_vote(&kit, id, "eve", WRIT_REVIEW_APPROVE, WRIT_REVIEW_APPROVED);
    writ_arena_free(arena);
    writ_kit_call_free(writ_poll_redeemed(&kit, (struct writ_poll_spec){0})->call);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(repeated_votes_of_one_voter_displace_no_other_vote)
{
    struct writ_kit kit;
    struct writ_arena *arena = writ_arena_new(WRIT_POLL_ARENA);
    enum writ_review_state state = WRIT_REVIEW_ABSENT;
    struct writ_review_told now;
    const char *id;

    writ_poll_start(&kit);
    id = writ_poll_opened(&kit, (struct writ_poll_spec){0});
    now = writ_poll_look(&kit, id, arena);
    for (size_t i = 0; i < WRIT_REVIEW_VOTES_EACH; i++) {
        ck_assert_int_eq(writ_poll_vote_as(&kit, id, "eve", now.digest, WRIT_REVIEW_REJECT, &state),
            WRIT_REASON_NONE);
    }
    for (size_t i = 0; i < WRIT_REVIEW_VOTES_EACH; i++) {
        ck_assert_int_eq(writ_poll_vote_as(&kit, id, "eve", now.digest, WRIT_REVIEW_REJECT, &state),
            WRIT_REASON_VOTES_USED_UP);
    }
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    ck_assert_int_eq(writ_poll_vote_as(&kit, id, "eve", now.digest, WRIT_REVIEW_REJECT, &state),
        WRIT_REASON_VOTES_USED_UP);
    writ_poll_approve(&kit, id);
    writ_arena_free(arena);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

static enum writ_reason
say(struct writ_kit *kit, const char *id, const char *by, enum writ_review_vote vote,
    const char *feedback)
{
    struct writ_arena *arena = writ_arena_new(WRIT_POLL_ARENA);
    struct writ_review_told now = writ_poll_look(kit, id, arena);
    struct writ_poll_event e = writ_poll_sent(kit,
        (struct writ_entry_review){.event = WRIT_REVIEW_DO_VOTE,
            .id = writ_view_str(id),
            .by = writ_view_str(by),
            .digest = writ_view_str(now.digest),
            .vote = vote,
            .feedback = feedback != NULL ? writ_view_str(feedback) : (struct writ_view){NULL, 0}});
    enum writ_reason refused = e.entry.review.refused;

    ck_assert_int_eq(e.code, WRIT_OK);
    writ_arena_free(e.entry.arena);
    writ_arena_free(arena);
    return refused;
}

/* "é" across the cut: the whole character is dropped. */
START_TEST(caller_gets_the_last_feedback_of_each_voter_cut_to_size)
{
    struct writ_kit kit;
    char text[WRIT_LEDGER_SAID_MAX + 3];
    const char *id;

    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = 'x';
    }
    text[WRIT_LEDGER_SAID_MAX - 1] = '\xc3';
    text[WRIT_LEDGER_SAID_MAX] = '\xa9';
    text[WRIT_LEDGER_SAID_MAX + 2] = '\0';
    writ_poll_start(&kit);
    id = writ_poll_opened(&kit, (struct writ_poll_spec){.quorum = "3"});
    ck_assert_int_eq(say(&kit, id, "ann", WRIT_REVIEW_APPROVE, "first"), WRIT_REASON_NONE);
    ck_assert_int_eq(say(&kit, id, "ann", WRIT_REVIEW_REJECT, text), WRIT_REASON_NONE);
    ck_assert_int_eq(say(&kit, id, "bob", WRIT_REVIEW_REJECT, "no"), WRIT_REASON_NONE);
    ck_assert_int_eq(say(&kit, id, "bob", WRIT_REVIEW_REJECT, NULL), WRIT_REASON_NONE);
    ck_assert_int_eq(say(&kit, id, "eve", WRIT_REVIEW_MODIFY, "half"), WRIT_REASON_NONE);
    for (int again = 0; again < 2; again++) {
        struct writ_poll_asking *a = writ_poll_asked(&kit, (struct writ_poll_spec){.quorum = "3"});

        ck_assert_int_eq(a->call->entry.decision.refused, WRIT_REASON_APPROVAL_REJECTED);
        ck_assert_uint_eq(a->ask.voices_n, 2); /* a withdrawn feedback is gone */
        ck_assert_view(a->ask.voices[0].voter, "ann");
        ck_assert_int_eq(a->ask.voices[0].vote, WRIT_REVIEW_REJECT);
        ck_assert_uint_eq(a->ask.voices[0].feedback.len, WRIT_LEDGER_SAID_MAX - 1);
        ck_assert(writ_view_has_prefix(writ_view_str(text), a->ask.voices[0].feedback));
        ck_assert_view(a->ask.voices[1].voter, "eve");
        ck_assert_view(a->ask.voices[1].feedback, "half");
        writ_kit_call_free(a->call);
        writ_kit_close(&kit);
        writ_kit_open(&kit);
    }
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("reviewing", ask_of_the_same_call_joins_the_open_review,
    redeem_grants_once_and_a_repeat_is_a_duplicate, redeem_by_two_callers_in_one_group_grants_one,
    review_end_is_reported_once_and_then_a_new_review_opens,
    verdict_of_a_call_holds_for_its_repeats, review_without_votes_expires_and_an_approval_expires,
    refused_call_that_ends_its_review_leaves_a_sound_ledger,
    drift_or_policy_change_ends_a_review_and_opens_its_successor,
    continuation_of_another_call_is_refused, vote_counts_for_its_own_review_and_voter_only,
    call_of_one_of_its_voters_is_refused, verify_of_inconsistent_review_records_fails,
    veto_ends_the_review_at_once, reviews_and_votes_survive_a_restart_at_every_point,
    unreported_end_is_reported_after_a_restart, seal_of_a_run_ends_its_reviews,
    ask_beyond_the_reviews_of_an_agent_is_refused, review_without_a_vote_counter_is_not_opened,
    review_get_of_changed_arguments_poisons,
    open_after_an_edit_of_the_records_of_a_review_is_refused,
    review_get_has_arguments_while_live_and_records_afterwards,
    review_with_many_long_votes_survives_a_restart,
    repeated_votes_of_one_voter_displace_no_other_vote,
    watcher_gets_live_reviews_and_then_each_change,
    watcher_gets_the_end_of_a_review_dropped_at_once,
    watcher_starts_again_after_a_restart_or_another_ledger, watcher_gets_many_reviews_in_portions,
    caller_gets_the_last_feedback_of_each_voter_cut_to_size)
