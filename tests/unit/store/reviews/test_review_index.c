/* The counts and orders of the reviews are those of a recount, after any sequence of openings,
 * ends, failed groups, times that pass and restarts. */
#include "support/store/poll.h"
#include "support/store/recount.h"
#include "support/store/vfs.h"
#include "support/unit.h"

#include "crew/panel.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#define STEPS 400
#define IDS   24

/** The ids of the last reviews, and chance. */
struct walk {
    struct writ_kit kit;
    char ids[IDS][64];
    size_t ids_n;
    uint64_t chance;
};

/* One of `n`. */
static unsigned
one_of(struct walk *w, unsigned n)
{
    w->chance = w->chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(w->chance >> 33) % n;
}

static const char *
some_id(struct walk *w)
{
    return w->ids_n == 0 ? "none" : w->ids[one_of(w, w->ids_n < IDS ? (unsigned)w->ids_n : IDS)];
}

/* A call of one of three agents, which opens a review, joins one, redeems it, or is refused. */
static void
ask(struct walk *w)
{
    static const char *const agents[] = {"agent", "joe", "sue"};
    static const char *const calls[] = {"a", "b", "c", "d"};
    static const char *const sets[] = {NULL, NULL, "ab", "cd", "bc"};
    struct writ_poll_spec s = {.state = one_of(w, 5) == 0 ? "later" : NULL,
        .rules = one_of(w, 9) == 0 ? "sha256:others" : NULL,
        .set = sets[one_of(w, 5)],
        .spec = {.agent = agents[one_of(w, 3)], .argument = calls[one_of(w, 4)]}};
    struct writ_poll_asking *a;

    if (one_of(w, 4) == 0) {
        s.continuation = some_id(w);
        s.set = NULL;
        s.alone = one_of(w, 2) == 0;
    }
    a = writ_poll_asking(&w->kit, s);
    if (writ_kit_decide(&w->kit, a->call) == WRIT_OK && a->ask.id.len > 0) {
        char *place = w->ids[w->ids_n++ % IDS];

        ck_assert_uint_lt(a->ask.id.len, sizeof w->ids[0]);
        (void)writ_view_place(a->ask.id, place);
        place[a->ask.id.len] = '\0';
    }
    writ_kit_call_free(a->call);
}

static void
vote(struct walk *w)
{
    static const char *const voters[] = {"ann", "bob", "eve"};
    struct writ_entry get = {
        .kind = WRIT_ENTRY_REVIEW_GET, .arena = writ_arena_new(WRIT_POLL_ARENA)};
    const char *id = some_id(w);

    get.review_get.id = writ_view_str(id);
    if (writ_kit_submit(&w->kit, &get) == WRIT_OK) {
        const struct writ_review_told *told = &get.review_get.told;
        struct writ_entry_review r = {.event = WRIT_REVIEW_DO_VOTE,
            .id = writ_view_str(id),
            .by = writ_view_str(voters[one_of(w, 3)]),
            .digest = writ_view_str(told->digest),
            .vote = one_of(w, 5) == 0 ? WRIT_REVIEW_REJECT : WRIT_REVIEW_APPROVE};

        if (told->review.candidates_n > 0) {
            enum writ_review_vote *first = &r.ranking.list[0], was;

            r.ranking = told->review.options;
            was = *first;
            *first = r.ranking.list[1];
            r.ranking.list[1] = was;
            r.vote = r.ranking.list[0];
        }
        writ_arena_free(writ_poll_sent(&w->kit, r).entry.arena);
    }
    writ_arena_free(get.arena);
}

static void
end(struct walk *w)
{
    static const enum writ_review_event events[] = {
        WRIT_REVIEW_DO_WITHDRAW, WRIT_REVIEW_DO_CANCEL, WRIT_REVIEW_DO_OUTDATE};
    struct writ_entry_review r = {.event = events[one_of(w, 3)], .id = writ_view_str(some_id(w))};

    writ_arena_free(writ_poll_sent(&w->kit, r).entry.arena);
}

/* The next group fails, whatever it is; then the trouble is over. */
static void
fail_group(struct walk *w)
{
    writ_vfs_arm(WRIT_VFS_WRITE, 1, true, WRIT_VFS_FAIL, SQLITE_FULL);
    switch (one_of(w, 3)) {
    case 0:
        vote(w);
        break;
    case 1:
        end(w);
        break;
    default:
        ask(w);
        break;
    }
    (void)writ_vfs_disarm();
    writ_recount(&w->kit, "after a failure");
    writ_kit_pass(&w->kit, 20 * WRIT_KIT_S);
    writ_kit_turn(&w->kit);
}

static void
step(struct walk *w)
{
    unsigned which = one_of(w, 40);

    if (which < 16) {
        ask(w);
    } else if (which < 31) {
        vote(w);
    } else if (which < 34) {
        end(w);
    } else if (which < 37) {
        fail_group(w);
    } else if (which < 39) {
        writ_kit_pass(&w->kit, (1 + one_of(w, 30)) * WRIT_POLL_MINUTE_US);
        writ_kit_turn(&w->kit);
    } else {
        writ_kit_close(&w->kit);
        writ_kit_open(&w->kit);
    }
}

static void
walk(uint64_t chance)
{
    struct walk w = {.chance = chance};
    char when[64];

    writ_kit_init(&w.kit);
    w.kit.options.judge = &writ_panel_judge;
    w.kit.options.reviews_agent_max = 3;
    writ_kit_open(&w.kit);
    for (int i = 0; i < STEPS; i++) {
        step(&w);
        (void)snprintf(when, sizeof when, "step %d", i);
        writ_recount(&w.kit, when);
    }
    writ_poll_sound(&w.kit);
    writ_kit_wipe(&w.kit);
}

START_TEST(counts_are_those_of_a_recount_after_any_sequence_of_changes)
{
    writ_vfs_install();
    walk(1);
    walk(2);
    writ_vfs_uninstall();
}
END_TEST

WRIT_UNIT_MAIN("review_index", counts_are_those_of_a_recount_after_any_sequence_of_changes)
