/* Threads that race for one review: in every order there is one winner, the loser gets the reason,
 * and the ledger says the same. Run it under tsan too. */
#include "support/store/poll.h"
#include "support/unit.h"

#include <pthread.h>

typedef struct writ_poll_spec spec;

#define ROUNDS  60
#define THREADS 4

/** What one thread does: its entry is ready, and goes in when all are there. */
struct racer {
    pthread_t thread;
    pthread_barrier_t *barrier;
    struct writ_kit *kit;
    struct writ_entry *entry;
};

static void *
run(void *arg)
{
    struct racer *r = arg;

    (void)pthread_barrier_wait(r->barrier);
    (void)writ_kit_submit(r->kit, r->entry);
    return NULL;
}

/* All at once. */
static void
race(struct writ_kit *kit, struct writ_entry *const *entries, size_t n)
{
    struct racer racers[THREADS];
    pthread_barrier_t barrier;

    ck_assert_uint_le(n, THREADS);
    ck_assert_int_eq(pthread_barrier_init(&barrier, NULL, (unsigned)n), 0);
    for (size_t i = 0; i < n; i++) {
        racers[i] = (struct racer){.barrier = &barrier, .kit = kit, .entry = entries[i]};
        ck_assert_int_eq(pthread_create(&racers[i].thread, NULL, run, &racers[i]), 0);
    }
    for (size_t i = 0; i < n; i++) {
        ck_assert_int_eq(pthread_join(racers[i].thread, NULL), 0);
        ck_assert_int_eq(entries[i]->code, WRIT_OK);
    }
    (void)pthread_barrier_destroy(&barrier);
}

static struct writ_entry
entry_of(struct writ_entry_review r)
{
    return (struct writ_entry){
        .kind = WRIT_ENTRY_REVIEW, .arena = writ_arena_new(WRIT_POLL_ARENA), .review = r};
}

static struct writ_entry
event_of(const char *id, enum writ_review_event event)
{
    return entry_of((struct writ_entry_review){.event = event, .id = writ_view_str(id)});
}

static struct writ_entry
vote_of(struct writ_kit *kit, const char *id, const char *by, enum writ_review_vote vote)
{
    struct writ_arena *arena = writ_arena_new(WRIT_POLL_ARENA);
    struct writ_review_told now = writ_poll_look(kit, id, arena);
    struct writ_entry entry = entry_of((struct writ_entry_review){.event = WRIT_REVIEW_DO_VOTE,
        .id = writ_view_str(id),
        .by = writ_view_str(by),
        .vote = vote});

    entry.review.digest = writ_view_copy(writ_view_str(now.digest), entry.arena);
    writ_arena_free(arena);
    return entry;
}

static enum writ_review_state
state_of(struct writ_kit *kit, const char *id)
{
    struct writ_arena *arena = writ_arena_new(WRIT_POLL_ARENA);
    enum writ_review_state state = writ_poll_look(kit, id, arena).state;

    writ_arena_free(arena);
    return state;
}

static int64_t
grants(struct writ_kit *kit)
{
    return writ_kit_number(kit, "SELECT count(*) FROM record WHERE kind = 1 AND verdict = 1");
}

/* A ledger with one review; approved, or one vote before it. */
static const char *
begin(struct writ_kit *kit, bool approved)
{
    const char *id;

    writ_poll_start(kit);
    id = writ_poll_opened(kit, (spec){0});
    if (approved) {
        writ_poll_approve(kit, id);
    } else {
        writ_poll_vote(kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    }
    return id;
}

static void
end(struct writ_kit *kit)
{
    writ_kit_close(kit);
    writ_poll_sound(kit);
    writ_kit_wipe(kit);
}

START_TEST(redeem_in_many_threads_grants_one_call)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct writ_poll_asking *asking[THREADS];
        struct writ_entry *entries[THREADS];
        struct writ_kit kit;
        const char *id = begin(&kit, true);
        int granted = 0;

        for (size_t i = 0; i < THREADS; i++) {
            asking[i] = writ_poll_asking(&kit, (spec){.continuation = i % 2 == 0 ? id : NULL});
            entries[i] = &asking[i]->call->entry;
        }
        race(&kit, entries, THREADS);
        for (size_t i = 0; i < THREADS; i++) {
            granted += entries[i]->decision.granted;
            ck_assert(entries[i]->decision.granted ||
                      entries[i]->decision.refused == WRIT_REASON_DUPLICATE_IN_FLIGHT ||
                      entries[i]->decision.refused == WRIT_REASON_CONTINUATION_MISMATCH);
            writ_kit_call_free(asking[i]->call);
        }
        ck_assert_int_eq(granted, 1);
        ck_assert_int_eq(grants(&kit), 1);
        ck_assert_int_eq(state_of(&kit, id), WRIT_REVIEW_REDEEMED);
        end(&kit);
    }
}
END_TEST

/* `event` against the redemption of an approval. */
static void
against_redemption(enum writ_review_event event, enum writ_review_state ended)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct writ_kit kit;
        const char *id = begin(&kit, true);
        struct writ_poll_asking *asking = writ_poll_asking(&kit, (spec){.continuation = id});
        struct writ_entry entry = event_of(id, event);
        struct writ_entry *entries[] = {round % 2 == 0 ? &entry : &asking->call->entry,
            round % 2 == 0 ? &asking->call->entry : &entry};
        bool granted;

        race(&kit, entries, 2);
        granted = asking->call->entry.decision.granted;
        /* gone: it was redeemed and forgotten before */
        ck_assert_int_eq(granted, entry.review.refused != WRIT_REASON_NONE);
        ck_assert_int_eq(state_of(&kit, id), granted ? WRIT_REVIEW_REDEEMED : ended);
        ck_assert_int_eq(grants(&kit), granted);
        if (!granted) {
            ck_assert_int_eq(asking->call->entry.decision.refused, writ_review_reason(ended));
        }
        writ_kit_call_free(asking->call);
        writ_arena_free(entry.arena);
        end(&kit);
    }
}

START_TEST(withdraw_racing_redeem_gives_one_winner)
{
    against_redemption(WRIT_REVIEW_DO_WITHDRAW, WRIT_REVIEW_WITHDRAWN);
}
END_TEST

START_TEST(cancel_racing_redeem_gives_one_winner)
{
    against_redemption(WRIT_REVIEW_DO_CANCEL, WRIT_REVIEW_CANCELLED);
}
END_TEST

START_TEST(policy_change_racing_redeem_gives_one_winner)
{
    against_redemption(WRIT_REVIEW_DO_OUTDATE, WRIT_REVIEW_OUTDATED);
}
END_TEST

static void
taken_or_closed(const struct writ_entry *vote)
{
    enum writ_reason refused = vote->review.refused;

    ck_assert_msg(refused == WRIT_REASON_NONE || refused == WRIT_REASON_REVIEW_CLOSED,
        "refused as " WRIT_VIEW_FMT, WRIT_VIEW_ARG(writ_reason_name(refused)));
}

/* The vote that would approve against the end of the review. */
START_TEST(vote_racing_the_end_counts_before_it_or_never)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct writ_kit kit;
        const char *id = begin(&kit, false);
        struct writ_entry vote = vote_of(&kit, id, "bob", WRIT_REVIEW_APPROVE);
        struct writ_entry close = event_of(id, WRIT_REVIEW_DO_CANCEL);
        struct writ_entry *entries[] = {
            round % 2 == 0 ? &vote : &close, round % 2 == 0 ? &close : &vote};
        bool voted;

        race(&kit, entries, 2);
        voted = vote.review.refused == WRIT_REASON_NONE;
        ck_assert_int_eq(close.review.refused, WRIT_REASON_NONE); /* approved or not, it ends */
        taken_or_closed(&vote);
        ck_assert_int_eq(state_of(&kit, id), WRIT_REVIEW_CANCELLED);
        ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record WHERE kind = 4"),
            voted ? 5 : 3); /* open, vote, (vote, accept,) cancel */
        writ_arena_free(vote.arena);
        writ_arena_free(close.arena);
        end(&kit);
    }
}
END_TEST

START_TEST(votes_in_many_threads_count_once_and_give_one_verdict)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct writ_kit kit;
        const char *id = begin(&kit, false);
        struct writ_entry votes[] = {
            vote_of(&kit, id, "bob", WRIT_REVIEW_APPROVE),
            vote_of(&kit, id, "eve", WRIT_REVIEW_APPROVE),
            vote_of(&kit, id, "bob", WRIT_REVIEW_APPROVE),
            vote_of(&kit, id, "ann", WRIT_REVIEW_APPROVE),
        };
        struct writ_entry *entries[] = {&votes[0], &votes[1], &votes[2], &votes[3]};

        race(&kit, entries, 4);
        ck_assert_int_eq(state_of(&kit, id), WRIT_REVIEW_APPROVED);
        for (size_t i = 0; i < 4; i++) {
            taken_or_closed(&votes[i]);
            writ_arena_free(votes[i].arena);
        }
        end(&kit);
    }
}
END_TEST

/* Both ask for the first time: one review, which both wait for. */
START_TEST(two_concurrent_requests_share_one_review)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct writ_kit kit;
        struct writ_poll_asking *a, *b;
        struct writ_entry *entries[2];

        writ_poll_start(&kit);
        a = writ_poll_asking(&kit, (spec){0});
        b = writ_poll_asking(&kit, (spec){0});
        entries[0] = &a->call->entry;
        entries[1] = &b->call->entry;
        race(&kit, entries, 2);
        ck_assert(writ_view_equal(a->ask.id, b->ask.id));
        ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record WHERE kind = 4"), 1);
        writ_kit_call_free(a->call);
        writ_kit_call_free(b->call);
        end(&kit);
    }
}
END_TEST

WRIT_UNIT_MAIN("review_races", redeem_in_many_threads_grants_one_call,
    withdraw_racing_redeem_gives_one_winner, cancel_racing_redeem_gives_one_winner,
    policy_change_racing_redeem_gives_one_winner, vote_racing_the_end_counts_before_it_or_never,
    votes_in_many_threads_count_once_and_give_one_verdict, two_concurrent_requests_share_one_review)
