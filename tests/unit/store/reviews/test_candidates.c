/* Reviews of candidates: one of several calls is elected, and it alone is granted, once. */
#include "support/store/poll.h"
#include "support/unit.h"

#include "crew/panel.h"

typedef struct writ_poll_spec spec;

/* The candidate by itself, under the review of all. */
static spec
one(const char *argument, const char *id)
{
    return (spec){.alone = true, .continuation = id, .spec = {.argument = argument}};
}

/* "abc", of which b is elected. */
static const char *
elected(struct writ_kit *kit)
{
    const char *id = writ_poll_opened(kit, (spec){.set = "abc"});

    writ_poll_place(kit, id, "ann", "213", WRIT_REVIEW_OPEN);
    writ_poll_place(kit, id, "bob", "123", WRIT_REVIEW_OPEN);
    writ_poll_place(kit, id, "eve", "231", WRIT_REVIEW_APPROVED);
    return id;
}

/* What the ledger answers about the review of a set. */
static struct writ_entry_review_await
found(struct writ_kit *kit, const char *set, struct writ_arena *arena)
{
    struct writ_poll_asking *a = writ_poll_asking(kit, (spec){.set = set});
    struct writ_entry entry = {.kind = WRIT_ENTRY_REVIEW_AWAIT, .arena = arena};

    entry.review_await.name = &a->ask.name;
    ck_assert_int_eq(writ_kit_submit(kit, &entry), WRIT_OK);
    writ_kit_call_free(a->call);
    return entry.review_await;
}

START_TEST(elected_candidate_alone_is_granted_once)
{
    struct writ_kit kit;
    const char *id;
    struct writ_poll_asking *a;

    writ_poll_start(&kit);
    id = elected(&kit);
    for (int i = 0; i < 2; i++) { /* another one does not end the review */
        writ_poll_told(&kit, one("a", id), WRIT_REASON_CANDIDATE_NOT_ELECTED);
        writ_poll_told(&kit, one("c", id), WRIT_REASON_CANDIDATE_NOT_ELECTED);
        writ_poll_told(&kit, one("d", id), WRIT_REASON_CONTINUATION_MISMATCH);
    }
    a = writ_poll_redeemed(&kit, one("b", id));
    ck_assert_view(a->call->decision.supersedes.view, id);
    ck_assert_int_eq(writ_kit_end(&kit, a->call, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    writ_kit_call_free(a->call);
    writ_poll_told(&kit, one("b", id), WRIT_REASON_DUPLICATE_OUTCOME);
    writ_poll_told(&kit, one("a", id), WRIT_REASON_APPROVAL_REDEEMED);
    ck_assert_int_eq(writ_kit_seal(&kit, "run", NULL), WRIT_OK);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(redeemed_sets_count_for_their_agent_and_the_oldest_is_forgotten)
{
    static const char *const sets[] = {"ab", "cd", "ef"};
    struct writ_arena *arena = writ_arena_new(WRIT_POLL_ARENA);
    struct writ_kit kit;
    const char *id;

    writ_kit_init(&kit);
    kit.options.judge = &writ_panel_judge;
    kit.options.reviews_agent_max = 2;
    kit.options.reviews_max = 4;
    writ_kit_open(&kit);
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        char first[] = {sets[i][0], '\0'};
        struct writ_poll_asking *a;

        id = writ_poll_opened(&kit, (spec){.set = sets[i], .spec = {.argument = first}});
        writ_poll_place(&kit, id, "ann", "12", WRIT_REVIEW_OPEN);
        writ_poll_place(&kit, id, "bob", "12", WRIT_REVIEW_APPROVED);
        a = writ_poll_redeemed(&kit, one(first, id));
        ck_assert_int_eq(writ_kit_end(&kit, a->call, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
        writ_kit_call_free(a->call);
    }
    ck_assert_int_eq(found(&kit, "ab", arena).state, WRIT_REVIEW_ABSENT);
    ck_assert_int_eq(found(&kit, "cd", arena).state, WRIT_REVIEW_REDEEMED);
    ck_assert_int_eq(found(&kit, "ef", arena).state, WRIT_REVIEW_REDEEMED);
    id = writ_poll_opened(&kit, (spec){.spec = {.agent = "joe"}}); /* there is room for others */
    ck_assert_ptr_nonnull(id);
    (void)writ_poll_opened(&kit, (spec){.spec = {.argument = "x"}});
    ck_assert_int_eq(found(&kit, "cd", arena).state, WRIT_REVIEW_ABSENT);
    (void)writ_poll_opened(&kit, (spec){.spec = {.argument = "y"}});
    writ_poll_told(&kit, (spec){.spec = {.argument = "z"}}, WRIT_REASON_REVIEWS_EXCEEDED);
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    ck_assert_int_eq(found(&kit, "ef", arena).state, WRIT_REVIEW_ABSENT);
    writ_poll_sound(&kit);
    writ_arena_free(arena);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(set_again_finds_its_review_until_it_is_redeemed_and_after)
{
    struct writ_arena *arena = writ_arena_new(WRIT_POLL_ARENA);
    struct writ_entry_review_await looked;
    struct writ_kit kit;
    const char *id, *again, *other;

    writ_poll_start(&kit);
    ck_assert_int_eq(found(&kit, "abc", arena).state, WRIT_REVIEW_ABSENT);
    id = writ_poll_opened(&kit, (spec){.set = "abc"});
    again = writ_poll_opened(&kit, (spec){.set = "abc"});
    other = writ_poll_opened(&kit, (spec){.set = "acb"});
    ck_assert_str_eq(id, again);
    ck_assert_str_ne(id, other);
    looked = found(&kit, "abc", arena);
    ck_assert_int_eq(looked.state, WRIT_REVIEW_OPEN);
    ck_assert_int_eq(looked.elected, WRIT_REVIEW_NO_VOTE);
    ck_assert_view(looked.found, id);
    id = elected(&kit);
    for (int redeemed = 0; redeemed < 2; redeemed++) {
        for (int restart = 0; restart < 2; restart++) {
            looked = found(&kit, "abc", arena);
            ck_assert_int_eq(looked.state, redeemed ? WRIT_REVIEW_REDEEMED : WRIT_REVIEW_APPROVED);
            ck_assert_int_eq(looked.elected, WRIT_REVIEW_CANDIDATE_2);
            ck_assert_view(looked.found, id);
            writ_kit_close(&kit);
            writ_kit_open(&kit);
        }
        if (!redeemed) {
            writ_kit_call_free(writ_poll_redeemed(&kit, one("b", id))->call);
        }
    }
    writ_poll_told(&kit, (spec){.set = "abc"}, WRIT_REASON_APPROVAL_REDEEMED);
    writ_poll_told(&kit, (spec){.set = "abc"}, WRIT_REASON_APPROVAL_REDEEMED);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
    writ_arena_free(arena);
}
END_TEST

/* All in one group. */
START_TEST(redeem_by_several_callers_in_one_group_grants_one)
{
    static const char *const arguments[] = {"a", "b", "b", "c"};
    struct writ_poll_asking *asked[4];
    struct writ_entry *entries[4];
    struct writ_kit kit;
    const char *id;

    writ_poll_start(&kit);
    id = elected(&kit);
    for (size_t i = 0; i < 4; i++) {
        asked[i] = writ_poll_asking(&kit, one(arguments[i], id));
        entries[i] = &asked[i]->call->entry;
    }
    ck_assert_ok(writ_ledger_submit(kit.ledger, entries, 4));
    for (size_t i = 0; i < 4; i++) {
        sem_wait(&asked[i]->call->done);
        ck_assert_int_eq(asked[i]->call->entry.decision.granted, i == 1);
        writ_kit_call_free(asked[i]->call);
    }
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(tie_and_reject_approve_none)
{
    struct writ_kit kit;
    const char *id;

    writ_poll_start(&kit);
    id = writ_poll_opened(&kit, (spec){.set = "ab"});
    writ_poll_place(&kit, id, "ann", "12", WRIT_REVIEW_OPEN);
    writ_poll_place(&kit, id, "bob", "21", WRIT_REVIEW_OPEN);
    writ_poll_vote(&kit, id, "eve", WRIT_REVIEW_ABSTAIN, WRIT_REVIEW_REVISED);
    writ_poll_told(&kit, one("a", id), WRIT_REASON_REVISION_REQUESTED);
    id = writ_poll_opened(&kit, (spec){.set = "cd", .veto = true});
    writ_poll_place(&kit, id, "ann", "12", WRIT_REVIEW_OPEN);
    writ_poll_place(&kit, id, "eve", "12", WRIT_REVIEW_OPEN); /* bob has a veto */
    writ_poll_place(&kit, id, "bob", "", WRIT_REVIEW_REJECTED);
    writ_poll_told(&kit, one("c", id), WRIT_REASON_APPROVAL_REJECTED);
    writ_poll_told(&kit, (spec){.set = "cd", .veto = true}, WRIT_REASON_APPROVAL_REJECTED);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(candidate_redeems_for_its_own_agent_and_run_only)
{
    struct writ_kit kit;
    const char *id;
    spec s;

    writ_poll_start(&kit);
    id = elected(&kit);
    s = one("b", id);
    s.spec.agent = "joe";
    writ_poll_told(&kit, s, WRIT_REASON_CONTINUATION_MISMATCH);
    s = one("b", id);
    s.spec.tenant = "other";
    writ_poll_told(&kit, s, WRIT_REASON_CONTINUATION_MISMATCH);
    s = one("b", id);
    s.spec.boundary = "another";
    writ_poll_told(&kit, s, WRIT_REASON_CONTINUATION_MISMATCH);
    writ_kit_call_free(writ_poll_redeemed(&kit, one("b", id))->call);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(change_of_state_policy_or_set_ends_the_review)
{
    static const struct {
        spec asked;
        const char *state;
    } rows[] = {
        {{.set = "abc", .state = "later"}, "drifted"},
        {{.set = "abc", .rules = "sha256:others"}, "outdated"},
        {{.alone = true, .state = "later", .spec = {.argument = "b"}}, "drifted"},
        {{.alone = true, .rules = "sha256:others", .spec = {.argument = "b"}}, "outdated"},
    };
    struct writ_kit kit;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int approved = 0; approved < 2; approved++) {
            struct writ_arena *arena = writ_arena_new(WRIT_POLL_ARENA);
            struct writ_poll_asking *a;
            const char *id;
            spec s = rows[i].asked;

            writ_poll_start(&kit);
            id = approved ? elected(&kit) : writ_poll_opened(&kit, (spec){.set = "abc"});
            s.continuation = s.alone ? id : NULL;
            if (approved && s.set != NULL) {
                /* all of them again after the verdict: the caller is to make the elected call */
                writ_poll_told(&kit, one("a", id), WRIT_REASON_CANDIDATE_NOT_ELECTED);
                writ_kit_wipe(&kit);
                writ_arena_free(arena);
                continue;
            }
            a = writ_poll_asked(&kit, s);
            ck_assert(!a->call->entry.decision.granted);
            ck_assert(writ_decision_is(&a->call->decision, WRIT_DECISION_REQUIRE_APPROVAL));
            ck_assert_view(
                writ_review_state_name(writ_poll_look(&kit, id, arena).state), rows[i].state);
            writ_kit_call_free(a->call);
            writ_poll_sound(&kit);
            writ_kit_wipe(&kit);
            writ_arena_free(arena);
        }
    }
}
END_TEST

/* By itself the same call waits for a review of its own. */
START_TEST(candidate_with_another_review_redeems_the_named_one)
{
    struct writ_kit kit;
    const char *id, *own;

    writ_poll_start(&kit);
    own = writ_poll_opened(&kit, (spec){.alone = true, .spec = {.argument = "b"}});
    id = elected(&kit);
    ck_assert_str_ne(own, id);
    writ_poll_told(&kit, one("b", "nothing"), WRIT_REASON_CONTINUATION_MISMATCH);
    writ_kit_call_free(writ_poll_redeemed(&kit, one("b", id))->call);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

/* Also of a set of which policy left one alone: what is sent may be another one's message. */
START_TEST(set_is_never_granted_itself)
{
    struct writ_kit kit;
    const char *id;

    writ_poll_start(&kit);
    id = writ_poll_opened(&kit, (spec){.set = "a"});
    writ_poll_place(&kit, id, "ann", "1", WRIT_REVIEW_OPEN);
    writ_poll_place(&kit, id, "bob", "1", WRIT_REVIEW_APPROVED);
    for (int i = 0; i < 2; i++) {
        struct writ_poll_asking *a = writ_poll_asked(&kit, (spec){.set = "a"});

        ck_assert(!a->call->entry.decision.granted);
        ck_assert_int_eq(a->ask.state, WRIT_REVIEW_APPROVED);
        ck_assert_int_eq(a->ask.elected, WRIT_REVIEW_CANDIDATE_1);
        writ_kit_call_free(a->call);
    }
    writ_kit_call_free(writ_poll_redeemed(&kit, one("a", id))->call);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(approval_of_a_candidate_lapses)
{
    struct writ_kit kit;
    const char *id;

    writ_poll_start(&kit);
    id = elected(&kit);
    writ_kit_pass(&kit, 5 * WRIT_POLL_MINUTE_US);
    writ_kit_turn(&kit);
    writ_poll_told(&kit, one("b", id), WRIT_REASON_APPROVAL_LAPSED);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(one_call_under_candidates_is_elected_or_rejected)
{
    struct writ_kit kit;
    const char *id;

    writ_poll_start(&kit);
    id = writ_poll_opened(&kit, (spec){.alone = true});
    writ_poll_place(&kit, id, "ann", "1", WRIT_REVIEW_OPEN);
    writ_poll_place(&kit, id, "bob", "1", WRIT_REVIEW_APPROVED);
    writ_kit_call_free(writ_poll_redeemed(&kit, (spec){.alone = true})->call);
    id = writ_poll_opened(&kit, (spec){.alone = true, .spec = {.argument = "b"}});
    writ_poll_place(&kit, id, "ann", "", WRIT_REVIEW_OPEN);
    writ_poll_place(&kit, id, "bob", "", WRIT_REVIEW_REJECTED);
    writ_poll_told(
        &kit, (spec){.alone = true, .spec = {.argument = "b"}}, WRIT_REASON_APPROVAL_REJECTED);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(election_survives_a_restart_at_every_point)
{
    static const char *const by[] = {"ann", "bob", "eve"};
    struct writ_kit kit;
    const char *id;

    writ_poll_start(&kit);
    id = writ_poll_opened(&kit, (spec){.set = "abc"});
    for (size_t i = 0; i < 3; i++) {
        writ_kit_close(&kit);
        writ_kit_open(&kit);
        writ_poll_place(&kit, id, by[i], i == 1 ? "132" : "312",
            i == 2 ? WRIT_REVIEW_APPROVED : WRIT_REVIEW_OPEN);
    }
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    writ_poll_told(&kit, one("a", id), WRIT_REASON_CANDIDATE_NOT_ELECTED);
    writ_kit_call_free(writ_poll_redeemed(&kit, one("c", id))->call);
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    writ_poll_told(&kit, one("a", id), WRIT_REASON_APPROVAL_REDEEMED);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

/* A vote for one candidate without a ranking, or with candidates that are not there. */
START_TEST(vote_that_ranks_other_options_is_refused)
{
    static const struct writ_review_ranking wrong[] = {{.n = 0},
        {{WRIT_REVIEW_CANDIDATE_1, WRIT_REVIEW_REJECT}, 2},
        {{WRIT_REVIEW_CANDIDATE_1, WRIT_REVIEW_CANDIDATE_3, WRIT_REVIEW_REJECT}, 3},
        {{WRIT_REVIEW_CANDIDATE_1, WRIT_REVIEW_CANDIDATE_2, WRIT_REVIEW_APPROVE}, 3}};
    struct writ_arena *arena = writ_arena_new(WRIT_POLL_ARENA);
    struct writ_review_told now;
    struct writ_kit kit;
    const char *id, *plain;

    writ_poll_start(&kit);
    id = writ_poll_opened(&kit, (spec){.set = "ab"});
    plain = writ_poll_opened(&kit, (spec){.spec = {.argument = "z"}});
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        for (int of_plain = 0; of_plain < 2; of_plain++) {
            struct writ_poll_event e;

            now = writ_poll_look(&kit, of_plain ? plain : id, arena);
            e = writ_poll_sent(&kit, (struct writ_entry_review){.event = WRIT_REVIEW_DO_VOTE,
                                         .id = now.review.id,
                                         .by = WRIT_LIT("ann"),
                                         .digest = writ_view_str(now.digest),
                                         .vote = WRIT_REVIEW_CANDIDATE_1,
                                         .ranking = wrong[i]});
            ck_assert_int_eq(e.entry.review.refused, WRIT_REASON_VOTE_INCOMPLETE);
            writ_arena_free(e.entry.arena);
        }
    }
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
    writ_arena_free(arena);
}
END_TEST

WRIT_UNIT_MAIN("candidates", elected_candidate_alone_is_granted_once,
    redeemed_sets_count_for_their_agent_and_the_oldest_is_forgotten,
    set_again_finds_its_review_until_it_is_redeemed_and_after,
    redeem_by_several_callers_in_one_group_grants_one, tie_and_reject_approve_none,
    candidate_redeems_for_its_own_agent_and_run_only,
    candidate_with_another_review_redeems_the_named_one, set_is_never_granted_itself,
    change_of_state_policy_or_set_ends_the_review, approval_of_a_candidate_lapses,
    one_call_under_candidates_is_elected_or_rejected, election_survives_a_restart_at_every_point,
    vote_that_ranks_other_options_is_refused)
