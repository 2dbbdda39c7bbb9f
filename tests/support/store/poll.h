/* poll.h - reviews of the calls of a kit: opened, voted on, ended. Voters are ann, bob and eve. A
 * failure in here fails the test. Threads may ask and vote at once; memory of ids is static. */
#ifndef WRIT_TESTS_POLL_H
#define WRIT_TESTS_POLL_H

#include "support/store/kit.h"

#define WRIT_POLL_MINUTE_US (60 * WRIT_KIT_S)
#define WRIT_POLL_ARENA     (1 << 20)

/** A call that asks for an approval, with its terms. */
struct writ_poll_asking {
    struct writ_kit_call *call;
    struct writ_review terms;
    struct writ_review_voter voters[3];
    struct writ_review_candidate candidates[WRIT_REVIEW_CANDIDATES_MAX];
    char texts[WRIT_REVIEW_CANDIDATES_MAX][WRIT_DIGEST_TEXT];
    struct writ_ask ask;
};

/** What differs from the usual one. */
struct writ_poll_spec {
    const char *state, *rules, *continuation, *subject, *quorum;
    struct writ_kit_spec spec;
    const char *set; /* "ab": the calls with these arguments, as candidates */
    bool alone;      /* one call, in a review whose options are candidates */
    bool veto;       /* bob has one */
    const struct writ_delegable *delegable; /* what the voters may set; NULL: nothing */
    bool plugin;                            /* a plug-in counts rankings */
    bool configured;                        /* bob delegates to ann, by the configuration */
};

/** An entry of a review, with its own memory. */
struct writ_poll_event {
    struct writ_entry entry;
    enum writ_code code;
};

/** A ledger that counts votes, open. */
void writ_poll_start(struct writ_kit *kit);

/** A call that asks for an approval, not submitted yet; its memory is reused after 64 others. */
struct writ_poll_asking *writ_poll_asking(struct writ_kit *kit, struct writ_poll_spec s);
/** The same, decided. */
struct writ_poll_asking *writ_poll_asked(struct writ_kit *kit, struct writ_poll_spec s);
/** Asks for an approval, which must be pending; returns the id of the review. */
const char *writ_poll_opened(struct writ_kit *kit, struct writ_poll_spec s);
/** Asks, and must be refused for that reason. */
void writ_poll_told(struct writ_kit *kit, struct writ_poll_spec s, enum writ_reason reason);
/** Asks, and must be granted under its approval. */
struct writ_poll_asking *writ_poll_redeemed(struct writ_kit *kit, struct writ_poll_spec s);

/** Submits what happens; free the arena of its entry. */
struct writ_poll_event writ_poll_sent(struct writ_kit *kit, struct writ_entry_review r);
/** The review as the ledger has it, in the arena. */
struct writ_review_told writ_poll_look(
    struct writ_kit *kit, const char *id, struct writ_arena *arena);
/** One vote; why it was refused, and the state afterwards. */
enum writ_reason writ_poll_vote_as(struct writ_kit *kit, const char *id, const char *by,
    const char *digest, enum writ_review_vote vote, enum writ_review_state *ret);
/** A ranking of candidates, then reject: "21"; an empty one is a reject. As writ_poll_vote. */
void writ_poll_place(struct writ_kit *kit, const char *id, const char *by, const char *places,
    enum writ_review_state want);
/** A vote that is taken, and leads to that state. */
void writ_poll_vote(struct writ_kit *kit, const char *id, const char *by,
    enum writ_review_vote vote, enum writ_review_state want);
/** As writ_poll_vote, with a ranking that has this vote first, for a plug-in. */
void writ_poll_rank(struct writ_kit *kit, const char *id, const char *by,
    enum writ_review_vote first, enum writ_review_state want);
/** The count of a plug-in, of the votes as they were with so many records; why it was refused. */
enum writ_reason writ_poll_counted(
    struct writ_kit *kit, const char *id, enum writ_review_event verdict, uint64_t records);
/** Two votes of three: approved. */
void writ_poll_approve(struct writ_kit *kit, const char *id);
/** Any other event; why it was refused. */
enum writ_reason writ_poll_happens(
    struct writ_kit *kit, const char *id, enum writ_review_event event);
/** Nothing is wrong with the ledger's records. */
void writ_poll_sound(struct writ_kit *kit);

#endif
