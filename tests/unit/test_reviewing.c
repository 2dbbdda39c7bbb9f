/* Reviews in the ledger: opened, joined, voted on, ended, redeemed; over restarts. */
#include "support/kit.h"
#include "support/unit.h"

#include "crew/panel.h"
#include "evidence/extension.h"
#include "store/verify.h"

#include <stdio.h>
#include <string.h>

typedef struct writ_kit_spec spec;
typedef struct writ_kit_call call;

#define MINUTE_US (60 * WRIT_KIT_S)
#define ENTRY_MAX (1 << 20)

/** A call that asks, with what it asks under. */
struct asking {
    call *call;
    struct writ_review terms;
    struct writ_review_voter voters[3];
    struct writ_ask ask;
};

/** What differs from the usual one. */
struct ask_spec {
    const char *state, *rules, *continuation, *subject, *quorum;
    spec spec;
    bool veto;
};

static void
kit_start(struct writ_kit *kit)
{
    writ_kit_init(kit);
    kit->options.judge = &writ_panel_judge;
    writ_kit_open(kit);
}

static struct asking *
asking(struct writ_kit *kit, struct ask_spec s)
{
    static struct asking store[64];
    static size_t used;
    struct asking *a = &store[used++ % 64];
    struct writ_entry_decision *d;

    *a = (struct asking){0};
    s.spec.route = WRIT_DECISION_REQUIRE_APPROVAL;
    a->call = writ_kit_call(kit, s.spec);
    d = &a->call->entry.decision;
    a->voters[0] = (struct writ_review_voter){.id = WRIT_LIT("ann"), .weight = 1};
    a->voters[1] = (struct writ_review_voter){.id = WRIT_LIT("bob"), .weight = 1, .veto = s.veto};
    a->voters[2] = (struct writ_review_voter){.id = WRIT_LIT("eve"), .weight = 1};
    a->terms = (struct writ_review){
        .id = a->call->decision.decision_id.view,
        .name = WRIT_LIT("finance"),
        .engine = WRIT_LIT("review"),
        .threshold = WRIT_LIT("2/3"),
        .quorum = writ_view_str(s.quorum != NULL ? s.quorum : "2"),
        .lifetime_us = 15 * MINUTE_US,
        .redeem_us = 5 * MINUTE_US,
        .subject = writ_view_str(s.subject != NULL ? s.subject : "agent"),
        .tenant = d->tenant,
        .agent_id = a->call->decision.agent_id.view,
        .intent_digest = WRIT_LIT("sha256:intent"),
        .target_state_digest = writ_view_str(s.state != NULL ? s.state : "sha256:state"),
        .rules_digest = writ_view_str(s.rules != NULL ? s.rules : "sha256:rules"),
        .voters = a->voters,
        .voters_n = 3,
    };
    a->ask.terms = &a->terms;
    a->ask.arguments = WRIT_LIT("{\"amount\":100}");
    a->ask.continuation = writ_view_str(s.continuation);
    if (s.continuation == NULL) {
        a->ask.continuation = (struct writ_view){NULL, 0};
    }
    ck_assert_ok(writ_ledger_review(&d->claim.call, a->call->decision.boundary_id.view,
        (struct writ_view){NULL, 0}, &a->ask.name, NULL));
    d->ask = &a->ask;
    return a;
}

static struct asking *
asked(struct writ_kit *kit, struct ask_spec s)
{
    struct asking *a = asking(kit, s);

    ck_assert_int_eq(writ_kit_decide(kit, a->call), WRIT_OK);
    return a;
}

/* Asks, and must be told to wait; gives the id of the review, in static storage. */
static const char *
opened(struct writ_kit *kit, struct ask_spec s)
{
    static char ids[16][64];
    static size_t used;
    char *id = ids[used++ % 16];
    struct asking *a = asked(kit, s);
    struct writ_view view = a->ask.id;

    ck_assert(!a->call->entry.decision.granted);
    ck_assert(writ_decision_is(&a->call->decision, WRIT_DECISION_REQUIRE_APPROVAL));
    ck_assert_int_eq(a->ask.state, WRIT_REVIEW_OPEN);
    ck_assert(writ_view_equal(a->call->decision.continuation_id.view, view));
    ck_assert_uint_lt(view.len, 64);
    (void)writ_view_place(view, id);
    id[view.len] = '\0';
    writ_kit_call_free(a->call);
    return id;
}

/* Asks, and must be refused for that reason by that state. */
static void
told(struct writ_kit *kit, struct ask_spec s, enum writ_reason reason)
{
    struct asking *a = asked(kit, s);

    ck_assert(!a->call->entry.decision.granted);
    ck_assert_msg(a->call->entry.decision.refused == reason, "told " WRIT_VIEW_FMT,
        WRIT_VIEW_ARG(writ_reason_name(a->call->entry.decision.refused)));
    writ_kit_call_free(a->call);
}

static struct asking *
redeemed(struct writ_kit *kit, struct ask_spec s)
{
    struct asking *a = asked(kit, s);

    ck_assert_msg(a->call->entry.decision.granted, "refused: " WRIT_VIEW_FMT,
        WRIT_VIEW_ARG(writ_reason_name(a->call->entry.decision.refused)));
    ck_assert(writ_decision_is(&a->call->decision, WRIT_DECISION_ALLOW));
    ck_assert_int_eq(a->call->decision.supersedes.is, WRIT_PRESENT);
    return a;
}

/** An entry of a review, with memory of its own. */
struct event {
    struct writ_entry entry;
    enum writ_code code;
};

static struct event
sent(struct writ_kit *kit, struct writ_entry_review r)
{
    struct event e = {.entry = {.kind = WRIT_ENTRY_REVIEW, .review = r}};

    e.entry.arena = writ_arena_new(ENTRY_MAX);
    e.code = writ_kit_submit(kit, &e.entry);
    return e;
}

static struct writ_review_told
look(struct writ_kit *kit, const char *id, struct writ_arena *arena)
{
    struct writ_entry entry = {.kind = WRIT_ENTRY_REVIEW_GET, .arena = arena};

    entry.review_get.id = writ_view_str(id);
    ck_assert_int_eq(writ_kit_submit(kit, &entry), WRIT_OK);
    return entry.review_get.told;
}

static enum writ_reason
vote_as(struct writ_kit *kit, const char *id, const char *by, const char *digest,
    enum writ_review_vote vote, enum writ_review_state *ret)
{
    struct event e = sent(kit, (struct writ_entry_review){
                                   .event = WRIT_REVIEW_DO_VOTE,
                                   .id = writ_view_str(id),
                                   .by = writ_view_str(by),
                                   .digest = writ_view_str(digest),
                                   .vote = vote,
                                   .feedback = WRIT_LIT("because"),
                                   .confidence = WRIT_LIT("0.9"),
                               });
    enum writ_reason refused = e.entry.review.refused;

    ck_assert_int_eq(e.code, WRIT_OK);
    *ret = e.entry.review.told.state;
    writ_arena_free(e.entry.arena);
    return refused;
}

static void
vote(struct writ_kit *kit, const char *id, const char *by, enum writ_review_vote vote,
    enum writ_review_state want)
{
    struct writ_arena *arena = writ_arena_new(ENTRY_MAX);
    struct writ_review_told now = look(kit, id, arena);
    enum writ_review_state state = WRIT_REVIEW_ABSENT;

    ck_assert_int_eq(vote_as(kit, id, by, now.digest, vote, &state), WRIT_REASON_NONE);
    ck_assert_msg(
        state == want, "by %s: " WRIT_VIEW_FMT, by, WRIT_VIEW_ARG(writ_review_state_name(state)));
    writ_arena_free(arena);
}

static void
approve(struct writ_kit *kit, const char *id)
{
    vote(kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    vote(kit, id, "bob", WRIT_REVIEW_APPROVE, WRIT_REVIEW_APPROVED);
}

static enum writ_reason
happens(struct writ_kit *kit, const char *id, enum writ_review_event event)
{
    struct event e = sent(kit, (struct writ_entry_review){.event = event, .id = writ_view_str(id)});
    enum writ_reason refused = e.entry.review.refused;

    ck_assert_int_eq(e.code, WRIT_OK);
    writ_arena_free(e.entry.arena);
    return refused;
}

static void
sound(struct writ_kit *kit)
{
    struct writ_verify_report report;

    ck_assert_ok(writ_verify_ledger(kit->path, kit->ring, NULL, NULL, &report, NULL));
    ck_assert_msg(report.problems == 0, "record %llu: %s", (unsigned long long)report.list[0].leaf,
        report.list[0].what);
}

/* ---- */

START_TEST(the_same_call_joins_the_review_that_is_open_and_another_call_opens_its_own)
{
    struct writ_kit kit;
    const char *first, *same, *other, *agent;

    kit_start(&kit);
    first = opened(&kit, (struct ask_spec){0});
    same = opened(&kit, (struct ask_spec){0});
    other = opened(&kit, (struct ask_spec){.spec = {.argument = "b"}});
    agent = opened(&kit, (struct ask_spec){.spec = {.agent = "joe"}});
    ck_assert_str_eq(first, same);
    ck_assert_str_ne(first, other);
    ck_assert_str_ne(first, agent);
    ck_assert_uint_eq(writ_kit_health(&kit).reviews, 3);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record WHERE kind = 4"), 3);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record WHERE kind = 1"), 4);
    sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(an_approved_call_is_granted_once_and_its_repeat_is_a_duplicate)
{
    struct writ_kit kit;
    const char *id;
    struct asking *a;

    kit_start(&kit);
    id = opened(&kit, (struct ask_spec){0});
    approve(&kit, id);
    a = redeemed(&kit, (struct ask_spec){0});
    ck_assert_view(a->call->decision.continuation_id.view, id);
    ck_assert_view(a->call->decision.supersedes.view, id);
    told(&kit, (struct ask_spec){0}, WRIT_REASON_DUPLICATE_IN_FLIGHT);
    ck_assert_int_eq(writ_kit_end(&kit, a->call, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    told(&kit, (struct ask_spec){0}, WRIT_REASON_DUPLICATE_OUTCOME);
    ck_assert_uint_eq(writ_kit_health(&kit).reviews, 0);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM review"), 0);
    writ_kit_call_free(a->call);
    ck_assert_int_eq(writ_kit_seal(&kit, "run", NULL), WRIT_OK);
    sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

/* Both in one group: what the writer takes at once. */
START_TEST(two_callers_redeem_one_approval_at_the_same_time_and_one_runs)
{
    struct writ_kit kit;
    const char *id;
    struct asking *a, *b;
    struct writ_entry *both[2];
    int granted;

    kit_start(&kit);
    id = opened(&kit, (struct ask_spec){0});
    approve(&kit, id);
    a = asking(&kit, (struct ask_spec){.continuation = id});
    b = asking(&kit, (struct ask_spec){.continuation = id});
    both[0] = &a->call->entry;
    both[1] = &b->call->entry;
    ck_assert_ok(writ_ledger_submit(kit.ledger, both, 2));
    sem_wait(&a->call->done);
    sem_wait(&b->call->done);
    granted = a->call->entry.decision.granted + b->call->entry.decision.granted;
    ck_assert_int_eq(granted, 1);
    writ_kit_call_free(a->call);
    writ_kit_call_free(b->call);
    sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(each_end_is_told_in_its_own_word_once_and_then_a_new_review_opens)
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

    kit_start(&kit);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int approved = 0; approved < 2; approved++) {
            const char *id = opened(&kit, (struct ask_spec){0});

            if (approved) {
                approve(&kit, id);
            }
            ck_assert_int_eq(happens(&kit, id, rows[i].event), WRIT_REASON_NONE);
            ck_assert_int_eq(happens(&kit, id, rows[i].event), WRIT_REASON_REVIEW_CLOSED);
            told(&kit, (struct ask_spec){0}, rows[i].reason);
        }
    }
    sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(what_the_voters_said_of_a_call_holds_for_its_repeats)
{
    struct writ_kit kit;
    const char *id;
    struct asking *a;

    kit_start(&kit);
    id = opened(&kit, (struct ask_spec){0});
    vote(&kit, id, "ann", WRIT_REVIEW_REJECT, WRIT_REVIEW_OPEN);
    vote(&kit, id, "eve", WRIT_REVIEW_REJECT, WRIT_REVIEW_REJECTED);
    told(&kit, (struct ask_spec){0}, WRIT_REASON_APPROVAL_REJECTED);
    told(&kit, (struct ask_spec){0}, WRIT_REASON_APPROVAL_REJECTED);
    id = opened(&kit, (struct ask_spec){.spec = {.argument = "b"}});
    vote(&kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    vote(&kit, id, "eve", WRIT_REVIEW_REJECT, WRIT_REVIEW_OPEN);
    vote(&kit, id, "bob", WRIT_REVIEW_MODIFY, WRIT_REVIEW_REVISED);
    a = asked(&kit, (struct ask_spec){.spec = {.argument = "b"}});
    ck_assert(writ_decision_is(&a->call->decision, WRIT_DECISION_REVISE));
    ck_assert_view(a->call->decision.supersedes.view, id);
    writ_kit_call_free(a->call);
    sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(silence_never_approves_and_an_approval_does_not_last)
{
    struct writ_kit kit;
    const char *id;
    enum writ_review_state state;

    kit_start(&kit);
    id = opened(&kit, (struct ask_spec){0});
    vote(&kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    writ_kit_pass(&kit, 15 * MINUTE_US);
    ck_assert_int_eq(
        vote_as(&kit, id, "bob", "", WRIT_REVIEW_APPROVE, &state), WRIT_REASON_REVIEW_CLOSED);
    told(&kit, (struct ask_spec){0}, WRIT_REASON_APPROVAL_EXPIRED);
    id = opened(&kit, (struct ask_spec){0});
    approve(&kit, id);
    writ_kit_pass(&kit, 5 * MINUTE_US);
    writ_kit_turn(&kit);
    told(&kit, (struct ask_spec){0}, WRIT_REASON_APPROVAL_LAPSED);
    sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(drift_and_another_policy_end_a_review_and_open_a_new_one_that_supersedes)
{
    struct writ_kit kit;
    const char *id;
    struct asking *a;

    kit_start(&kit);
    for (int policy = 0; policy < 2; policy++) {
        struct ask_spec later = {.state = policy ? NULL : "sha256:later",
            .rules = policy ? "sha256:others" : NULL,
            .spec = {.argument = policy ? "p" : "d"}};
        struct writ_extension extension;

        id = opened(&kit, (struct ask_spec){.spec = later.spec});
        approve(&kit, id);
        a = asked(&kit, later);
        ck_assert(!a->call->entry.decision.granted);
        ck_assert(writ_decision_is(&a->call->decision, WRIT_DECISION_REQUIRE_APPROVAL));
        ck_assert_view(a->call->decision.supersedes.view, id);
        ck_assert(!writ_view_is(a->ask.id, id));
        ck_assert_ok(
            writ_extension_read(&a->call->decision.extensions, a->call->arena, &extension, NULL));
        ck_assert_view(extension.reason.view, policy ? "approval_outdated" : "target_state_drift");
        writ_kit_call_free(a->call);
        /* a state that changed and changed back is another review's by now */
        told(&kit, (struct ask_spec){.spec = later.spec, .continuation = id},
            WRIT_REASON_CONTINUATION_MISMATCH);
    }
    sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

/* ---- watching */

/** What a watch came to: the state of each review that it told of, and where it stands. */
struct watched {
    bool anew;
    uint64_t at;
    size_t n;
    enum writ_review_state last;
};

static struct watched
watched(struct writ_kit *kit, uint64_t since)
{
    struct writ_entry entry = {.kind = WRIT_ENTRY_REVIEW_WATCH, .review_watch = {.since = since}};
    struct watched ret;

    entry.arena = writ_arena_new(ENTRY_MAX);
    ck_assert_int_eq(writ_kit_submit(kit, &entry), WRIT_OK);
    ret = (struct watched){
        entry.review_watch.anew, entry.review_watch.at, entry.review_watch.n, WRIT_REVIEW_ABSENT};
    if (ret.n > 0) {
        ret.last = entry.review_watch.items[ret.n - 1].state;
    }
    writ_arena_free(entry.arena);
    return ret;
}

START_TEST(who_watches_is_told_what_lives_and_then_each_change)
{
    struct writ_kit kit;
    struct watched now;
    const char *id;

    kit_start(&kit);
    now = watched(&kit, 0);
    ck_assert(now.anew && now.n == 0 && now.at > 0);
    id = opened(&kit, (struct ask_spec){0});
    (void)opened(&kit, (struct ask_spec){.spec = {.argument = "b"}});
    now = watched(&kit, now.at);
    ck_assert(!now.anew && now.n == 2);
    ck_assert_int_eq(watched(&kit, now.at).n, 0);
    vote(&kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    now = watched(&kit, now.at);
    ck_assert(!now.anew && now.n == 1);
    ck_assert_int_eq(now.last, WRIT_REVIEW_OPEN);
    ck_assert_uint_eq(watched(&kit, 0).n, 2);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(who_watches_is_told_of_an_end_also_when_the_review_is_forgotten_at_once)
{
    struct writ_kit kit;
    struct asking *a;
    struct watched before, now;
    const char *id;

    kit_start(&kit);
    id = opened(&kit, (struct ask_spec){0});
    approve(&kit, id);
    before = watched(&kit, 0);
    a = redeemed(&kit, (struct ask_spec){0});
    ck_assert_int_eq(writ_kit_end(&kit, a->call, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    writ_kit_call_free(a->call);
    ck_assert_uint_eq(writ_kit_health(&kit).reviews, 0);
    now = watched(&kit, before.at);
    ck_assert(!now.anew && now.n == 1);
    ck_assert_int_eq(now.last, WRIT_REVIEW_REDEEMED);
    ck_assert(watched(&kit, 0).n == 0);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(who_watched_before_a_restart_or_another_ledger_begins_anew)
{
    struct writ_kit kit;
    struct watched before, now;

    kit_start(&kit);
    (void)opened(&kit, (struct ask_spec){0});
    before = watched(&kit, 0);
    (void)opened(&kit, (struct ask_spec){.spec = {.argument = "b"}});
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    now = watched(&kit, before.at);
    ck_assert(now.anew && now.n == 2);
    ck_assert_uint_eq(watched(&kit, now.at).n, 0);
    ck_assert(watched(&kit, now.at + 1000).anew);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(a_continuation_must_be_of_this_very_call)
{
    struct writ_kit kit;
    const char *id, *other;

    kit_start(&kit);
    id = opened(&kit, (struct ask_spec){0});
    other = opened(&kit, (struct ask_spec){.spec = {.argument = "b"}});
    approve(&kit, id);
    approve(&kit, other);
    told(&kit, (struct ask_spec){.continuation = other}, WRIT_REASON_CONTINUATION_MISMATCH);
    told(&kit, (struct ask_spec){.continuation = "nothing"}, WRIT_REASON_CONTINUATION_MISMATCH);
    told(&kit, (struct ask_spec){.continuation = id, .spec = {.agent = "joe"}},
        WRIT_REASON_CONTINUATION_MISMATCH);
    told(&kit, (struct ask_spec){.continuation = id, .spec = {.boundary = "another"}},
        WRIT_REASON_CONTINUATION_MISMATCH);
    writ_kit_call_free(redeemed(&kit, (struct ask_spec){.continuation = id})->call);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(a_vote_counts_for_its_review_and_its_voter_alone)
{
    struct writ_kit kit;
    struct writ_arena *arena = writ_arena_new(ENTRY_MAX);
    const char *id, *other;
    enum writ_review_state state;
    struct writ_review_told one, two;

    kit_start(&kit);
    id = opened(&kit, (struct ask_spec){0});
    other = opened(&kit, (struct ask_spec){.spec = {.argument = "b"}});
    one = look(&kit, id, arena);
    two = look(&kit, other, arena);
    /* replayed on another review */
    ck_assert_int_eq(vote_as(&kit, other, "ann", one.digest, WRIT_REVIEW_APPROVE, &state),
        WRIT_REASON_REVIEW_MISMATCH);
    ck_assert_int_eq(vote_as(&kit, id, "mallory", one.digest, WRIT_REVIEW_APPROVE, &state),
        WRIT_REASON_VOTE_NOT_ENTITLED);
    ck_assert_int_eq(vote_as(&kit, id, "agent", one.digest, WRIT_REVIEW_APPROVE, &state),
        WRIT_REASON_VOTE_NOT_ENTITLED);
    ck_assert_int_eq(vote_as(&kit, id, "ann", one.digest, WRIT_REVIEW_NO_VOTE, &state),
        WRIT_REASON_VOTE_MALFORMED);
    ck_assert_int_eq(vote_as(&kit, "none", "ann", two.digest, WRIT_REVIEW_APPROVE, &state),
        WRIT_REASON_REVIEW_UNKNOWN);
    /* twice by one voter is one vote, the last */
    vote(&kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    vote(&kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    vote(&kit, id, "ann", WRIT_REVIEW_REJECT, WRIT_REVIEW_OPEN);
    vote(&kit, id, "bob", WRIT_REVIEW_REJECT, WRIT_REVIEW_REJECTED);
    ck_assert_int_eq(vote_as(&kit, id, "eve", one.digest, WRIT_REVIEW_APPROVE, &state),
        WRIT_REASON_REVIEW_CLOSED);
    writ_arena_free(arena);
    sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(a_call_of_somebody_who_would_vote_on_it_is_refused)
{
    struct writ_kit kit;

    kit_start(&kit);
    told(&kit, (struct ask_spec){.subject = "bob"}, WRIT_REASON_REVIEW_UNAVAILABLE);
    ck_assert_uint_eq(writ_kit_health(&kit).reviews, 0);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(records_of_a_review_that_do_not_follow_from_each_other_are_found)
{
    static const struct {
        const char *from, *to, *what;
    } edits[] = {
        {"\"n\":1", "\"n\":7", "its review: record 1 of a review is missing"},
        {"\"by\":\"ann\"", "\"by\":\"zed\"", "its review: a vote is of nobody"},
        {"\"review_digest\":\"sha256:", "\"review_digest\":\"sha256:0", "review"},
    };

    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        struct writ_verify_report report;
        struct writ_kit kit;
        char sql[256];

        kit_start(&kit);
        approve(&kit, opened(&kit, (struct ask_spec){0}));
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

START_TEST(a_veto_ends_it_at_once)
{
    struct writ_kit kit;
    const char *id;

    kit_start(&kit);
    id = opened(&kit, (struct ask_spec){.veto = true, .quorum = "3"});
    vote(&kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    vote(&kit, id, "bob", WRIT_REVIEW_REJECT, WRIT_REVIEW_REJECTED);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(reviews_and_votes_survive_a_restart_at_every_point)
{
    struct writ_kit kit;
    const char *id;

    kit_start(&kit);
    id = opened(&kit, (struct ask_spec){0});
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    ck_assert_str_eq(opened(&kit, (struct ask_spec){0}), id);
    vote(&kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    vote(&kit, id, "eve", WRIT_REVIEW_APPROVE, WRIT_REVIEW_APPROVED);
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    writ_kit_call_free(redeemed(&kit, (struct ask_spec){0})->call);
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    told(&kit, (struct ask_spec){0}, WRIT_REASON_INTERRUPTED_EXECUTION_UNKNOWN);
    sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(an_end_that_was_not_told_yet_is_told_after_a_restart)
{
    struct writ_kit kit;
    const char *id;

    kit_start(&kit);
    id = opened(&kit, (struct ask_spec){0});
    ck_assert_int_eq(happens(&kit, id, WRIT_REVIEW_DO_CANCEL), WRIT_REASON_NONE);
    ck_assert_int_eq(
        writ_kit_number(&kit, "SELECT count(*) FROM review WHERE arguments IS NULL"), 1);
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    told(&kit, (struct ask_spec){0}, WRIT_REASON_APPROVAL_CANCELLED);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM review"), 0);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(the_end_of_a_run_ends_its_reviews)
{
    struct writ_kit kit;

    kit_start(&kit);
    (void)opened(&kit, (struct ask_spec){0});
    ck_assert_int_eq(writ_kit_seal(&kit, "run", NULL), WRIT_OK);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record WHERE kind = 4"), 2);
    told(&kit, (struct ask_spec){0}, WRIT_REASON_BOUNDARY_SEALED);
    sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(an_agent_has_so_many_calls_under_review_and_no_more)
{
    struct writ_kit kit;

    writ_kit_init(&kit);
    kit.options.judge = &writ_panel_judge;
    kit.options.reviews_agent_max = 2;
    kit.options.reviews_max = 3;
    writ_kit_open(&kit);
    (void)opened(&kit, (struct ask_spec){.spec = {.argument = "a"}});
    (void)opened(&kit, (struct ask_spec){.spec = {.argument = "b"}});
    told(&kit, (struct ask_spec){.spec = {.argument = "c"}}, WRIT_REASON_REVIEWS_EXCEEDED);
    (void)opened(&kit, (struct ask_spec){.spec = {.agent = "joe"}});
    told(&kit, (struct ask_spec){.spec = {.agent = "jim"}}, WRIT_REASON_OVERLOADED);
    (void)opened(&kit, (struct ask_spec){.spec = {.argument = "a"}}); /* joins */
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(without_anybody_to_count_votes_nothing_is_put_under_review)
{
    struct writ_kit kit;

    writ_kit_start(&kit);
    told(&kit, (struct ask_spec){0}, WRIT_REASON_REVIEW_UNAVAILABLE);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(voters_read_the_arguments_while_it_lives_and_the_records_for_ever)
{
    struct writ_kit kit;
    const char *id;
    struct writ_entry entry = {.kind = WRIT_ENTRY_REVIEW_GET};

    kit_start(&kit);
    id = opened(&kit, (struct ask_spec){0});
    entry.arena = writ_arena_new(ENTRY_MAX);
    entry.review_get.id = writ_view_str(id);
    ck_assert_int_eq(writ_kit_submit(&kit, &entry), WRIT_OK);
    ck_assert_view(entry.review_get.arguments, "{\"amount\":100}");
    ck_assert_uint_eq(entry.review_get.records_n, 1);
    ck_assert_int_eq(entry.review_get.told.state, WRIT_REVIEW_OPEN);
    approve(&kit, id);
    writ_kit_call_free(redeemed(&kit, (struct ask_spec){0})->call);
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

/* More than one review's memory holds at once, and far fewer than it takes. */
START_TEST(a_review_with_many_long_votes_survives_a_restart)
{
    struct writ_kit kit;
    struct writ_arena *arena = writ_arena_new(ENTRY_MAX);
    static char feedback[WRIT_REVIEW_FEEDBACK_MAX + 1];
    const char *id;
    struct writ_review_told now;

    for (size_t i = 0; i + 1 < sizeof feedback; i++) {
        feedback[i] = 'f';
    }
    kit_start(&kit);
    id = opened(&kit, (struct ask_spec){0});
    now = look(&kit, id, arena);
    for (size_t i = 0; i < 200; i++) {
        struct event e = sent(&kit, (struct writ_entry_review){.event = WRIT_REVIEW_DO_VOTE,
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
    vote(&kit, id, "eve", WRIT_REVIEW_APPROVE, WRIT_REVIEW_APPROVED);
    writ_arena_free(arena);
    writ_kit_call_free(redeemed(&kit, (struct ask_spec){0})->call);
    sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(a_voter_who_votes_again_and_again_takes_no_vote_of_the_others)
{
    struct writ_kit kit;
    struct writ_arena *arena = writ_arena_new(ENTRY_MAX);
    enum writ_review_state state = WRIT_REVIEW_ABSENT;
    struct writ_review_told now;
    const char *id;

    kit_start(&kit);
    id = opened(&kit, (struct ask_spec){0});
    now = look(&kit, id, arena);
    for (size_t i = 0; i < WRIT_REVIEW_VOTES_MAX / 3; i++) {
        ck_assert_int_eq(
            vote_as(&kit, id, "eve", now.digest, WRIT_REVIEW_REJECT, &state), WRIT_REASON_NONE);
    }
    for (size_t i = 0; i < WRIT_REVIEW_VOTES_MAX; i++) {
        ck_assert_int_eq(vote_as(&kit, id, "eve", now.digest, WRIT_REVIEW_REJECT, &state),
            WRIT_REASON_REVIEW_CLOSED);
    }
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    ck_assert_int_eq(vote_as(&kit, id, "eve", now.digest, WRIT_REVIEW_REJECT, &state),
        WRIT_REASON_REVIEW_CLOSED);
    approve(&kit, id);
    writ_arena_free(arena);
    sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

static enum writ_reason
say(struct writ_kit *kit, const char *id, const char *by, enum writ_review_vote vote,
    const char *feedback)
{
    struct writ_arena *arena = writ_arena_new(ENTRY_MAX);
    struct writ_review_told now = look(kit, id, arena);
    struct event e = sent(kit,
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

/* "é" over the end of what is told: it is left out whole. */
START_TEST(the_caller_is_told_what_each_voter_said_last_and_not_too_much_of_it)
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
    kit_start(&kit);
    id = opened(&kit, (struct ask_spec){.quorum = "3"});
    ck_assert_int_eq(say(&kit, id, "ann", WRIT_REVIEW_APPROVE, "first"), WRIT_REASON_NONE);
    ck_assert_int_eq(say(&kit, id, "ann", WRIT_REVIEW_REJECT, text), WRIT_REASON_NONE);
    ck_assert_int_eq(say(&kit, id, "bob", WRIT_REVIEW_REJECT, "no"), WRIT_REASON_NONE);
    ck_assert_int_eq(say(&kit, id, "bob", WRIT_REVIEW_REJECT, NULL), WRIT_REASON_NONE);
    ck_assert_int_eq(say(&kit, id, "eve", WRIT_REVIEW_MODIFY, "half"), WRIT_REASON_NONE);
    for (int again = 0; again < 2; again++) {
        struct asking *a = asked(&kit, (struct ask_spec){.quorum = "3"});

        ck_assert_int_eq(a->call->entry.decision.refused, WRIT_REASON_APPROVAL_REJECTED);
        ck_assert_uint_eq(a->ask.voices_n, 2); /* who took its words back has none */
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
    sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("reviewing",
    the_same_call_joins_the_review_that_is_open_and_another_call_opens_its_own,
    an_approved_call_is_granted_once_and_its_repeat_is_a_duplicate,
    two_callers_redeem_one_approval_at_the_same_time_and_one_runs,
    each_end_is_told_in_its_own_word_once_and_then_a_new_review_opens,
    what_the_voters_said_of_a_call_holds_for_its_repeats,
    silence_never_approves_and_an_approval_does_not_last,
    drift_and_another_policy_end_a_review_and_open_a_new_one_that_supersedes,
    a_continuation_must_be_of_this_very_call, a_vote_counts_for_its_review_and_its_voter_alone,
    a_call_of_somebody_who_would_vote_on_it_is_refused,
    records_of_a_review_that_do_not_follow_from_each_other_are_found, a_veto_ends_it_at_once,
    reviews_and_votes_survive_a_restart_at_every_point,
    an_end_that_was_not_told_yet_is_told_after_a_restart, the_end_of_a_run_ends_its_reviews,
    an_agent_has_so_many_calls_under_review_and_no_more,
    without_anybody_to_count_votes_nothing_is_put_under_review,
    voters_read_the_arguments_while_it_lives_and_the_records_for_ever,
    a_review_with_many_long_votes_survives_a_restart,
    a_voter_who_votes_again_and_again_takes_no_vote_of_the_others,
    who_watches_is_told_what_lives_and_then_each_change,
    who_watches_is_told_of_an_end_also_when_the_review_is_forgotten_at_once,
    who_watched_before_a_restart_or_another_ledger_begins_anew,
    the_caller_is_told_what_each_voter_said_last_and_not_too_much_of_it)
