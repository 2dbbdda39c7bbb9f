/* reviews.h - the reviews in the memory of the writer: open ones, and those that are over and whose
 * caller has not got the end yet.
 *
 * 1. A review is in the table from its opening on; when the group of its opening fails, it is
 *    removed again.
 * 2. Every change is a transition of review.tbl.h and a record. It is made in memory when it is
 *    prepared, and undone with its op.
 * 3. While a review is open its boundary is not sealed: `in_flight` counts it.
 * 4. A review has a row as long as it is in the table; the row has the arguments while it is open.
 *
 * 5. One that is forgotten right after its end stays in `past` for a while, for watchers.
 * 6. Counts and orders follow each change at once (review_index.h): no opening, no group and no
 *    watcher looks at all reviews.
 *
 * Memory is bounded: no call opens a review in a table that is full (reviewing.h). Those that the
 * ledger has already are taken whatever their number. One thread. */
#ifndef WRIT_STORE_REVIEWS_H
#define WRIT_STORE_REVIEWS_H

#include "evidence/record/review_judge.h"
#include "store/tables/reviewed.h"

#define WRIT_REVIEWS_ARENA   (256 << 10) /* memory of one review */
#define WRIT_REVIEWS_SCRATCH (16 << 20)  /* memory to read one record of a review */
#define WRIT_REVIEWS_RECORDS 3           /* records that one change makes at most */
#define WRIT_REVIEWS_KEPT_US                                                                       \
    (INT64_C(3600000000)) /* a repeated call gets the end for this time                            \
                           */

/** The state of a review before a change, for undoing. */
struct writ_reviews_before {
    enum writ_review_state state;
    enum writ_review_vote elected;
    uint64_t n;
    int64_t changed_us, until_us;
    struct writ_review_voter *voter, vote; /* that was changed, as it was; NULL: none */
    bool voted;                            /* it has voted */
    bool fresh;                            /* the review is new */
    bool forget;                           /* it is removed when the group is on disk */
    uint64_t leaf;                         /* of the record; 0: there is none */
    struct writ_view arguments;            /* of a fresh one: for its row */
    struct writ_view feedback;             /* of a vote */
    const struct writ_sealed *content;     /* of a vote: for its row; NULL: none */
};

/** One record about to be made. */
struct writ_reviews_change {
    struct writ_reviewed *review;
    enum writ_review_event event;
    struct writ_reviews_before was;
    size_t at, len; /* its body */
    int64_t time_us;
};

/** The changes that one entry makes. */
struct writ_reviews_changes {
    struct writ_reviews_change list[WRIT_REVIEWS_RECORDS];
    size_t n;
};

/** The known facts of an event besides its name. Zeroed: none. */
struct writ_reviews_event {
    enum writ_review_event event;
    struct writ_view by, feedback, confidence, signature, via, crew_log;
    const struct writ_sealed *content; /* VOTE: kept with its record; NULL: none */
    enum writ_review_vote vote;
    struct writ_review_ranking ranking;
    enum writ_reason reason;
    const struct writ_review_finding *finding;
    bool forget;
    struct writ_view arguments; /* OPEN */
};

/** WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_reviews_init(struct writ_reviews *ret, size_t most, struct writ_err *err);
/** Frees all. A zeroed table is fine. */
void writ_reviews_wipe(struct writ_reviews *reviews);

/** The review of that id or name, or NULL. */
struct writ_reviewed *writ_reviews_by_id(const struct writ_reviews *reviews, struct writ_view id);
struct writ_reviewed *writ_reviews_by_name(
    const struct writ_reviews *reviews, const struct writ_digest *name);
/** A review with these terms, in the table, in the state ABSENT. WRIT_E_LIMIT, WRIT_E_PARSE,
 * WRIT_E_INVALID, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_reviews_add(struct writ_reviews *reviews, const struct writ_review *terms,
    struct writ_tag name, struct writ_reviewed **ret, struct writ_err *err);
/** Removes and frees it; no entry may still wait for it. */
void writ_reviews_remove(struct writ_reviews *reviews, struct writ_reviewed *review);
/** Removes a review whose end was reported; its change stays visible to watchers. Keeps (5). */
void writ_reviews_outlive(struct writ_reviews *reviews, struct writ_reviewed *review);

/** A copy for another thread. WRIT_E_NOMEM. */
WRIT_RESULT writ_reviews_tell(const struct writ_reviewed *review, struct writ_arena *arena,
    struct writ_review_told *ret, struct writ_err *err);

/** The feedback of the voters, for the caller. Empty when memory is exhausted. */
void writ_reviews_voices(
    const struct writ_reviewed *review, struct writ_arena *arena, struct writ_ask *ret);

/** Adds the next record of the disk to a story. `arena` gets the lasting part, the terms;
 * everything else is in `scratch`, which is empty again afterwards, so that the number of records
 * and their length do not matter; the story has no log. `review` remembers the feedback of its
 * voters; it may be NULL. As writ_body_json, writ_review_story_add. */
WRIT_RESULT writ_reviews_hear(struct writ_review_story *story, struct writ_view body,
    struct writ_reviewed *review, struct writ_arena *arena, struct writ_arena *scratch,
    struct writ_err *err);

/** The wall time at which its state is over. */
int64_t writ_reviews_until(const struct writ_reviewed *review);
/** An empty review, in the table. WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_reviews_make(struct writ_reviews *reviews, struct writ_view id,
    struct writ_tag name, struct writ_reviewed **ret, struct writ_err *err);
/** Remembers the last feedback of a voter. */
void writ_reviews_remember(
    struct writ_reviewed *review, const struct writ_review_voter *voter, struct writ_view feedback);

#endif
