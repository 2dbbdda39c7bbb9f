/* review.h - a review: its voters, their votes, and its state. No I/O.
 *
 * review.tbl.h has the whole life cycle as a table. What is fixed when a review opens are its terms
 * (review_terms.h); review_judge.h tells whether its votes decide it. */
#ifndef WRIT_EVIDENCE_REVIEW_H
#define WRIT_EVIDENCE_REVIEW_H

#include "evidence/json/digest.h"
#include "evidence/json/json.h"
#include "evidence/json/rational.h"
#include "evidence/json/write.h"
#include "evidence/record/reason.h"
#include "evidence/record/review.tbl.h"

#define WRIT_REVIEW_VOTERS_MAX     64         /* voters of one review */
#define WRIT_REVIEW_NAME_MAX       256        /* bytes of a voter's name or of a review's */
#define WRIT_REVIEW_WEIGHT_MAX     1000000    /* of one voter: parts, and parts of a whole vote */
#define WRIT_REVIEW_UNITS_MAX      1000000000 /* weight of one voter in the common unit of a review */
#define WRIT_REVIEW_FEEDBACK_MAX   4096       /* bytes of a voter's remark */
#define WRIT_REVIEW_CONFIDENCE_MAX 16         /* bytes of a confidence in text */
#define WRIT_REVIEW_VOTES_MAX      1024  /* votes that one review accepts, revisions included */
#define WRIT_REVIEW_VOTES_EACH     16    /* votes of each voter: it may change its mind */
#define WRIT_REVIEW_KEY_MAX        2048  /* bytes of a voter's key */
#define WRIT_REVIEW_TERMS_MAX      65536 /* canonical bytes of the terms */
#define WRIT_REVIEW_PLUGIN_MAX     64    /* bytes of the name of a plug-in */
#define WRIT_REVIEW_FAULT_MAX      512   /* bytes of what is said of a count that failed */

/* ---- the machine */

enum writ_review_state {
#define WRIT_REVIEW_STATE_ENUM(NAME, name, PHASE, REASON, means) WRIT_REVIEW_##NAME,
    WRIT_REVIEW_STATES(WRIT_REVIEW_STATE_ENUM)
#undef WRIT_REVIEW_STATE_ENUM
        WRIT_REVIEW_STATE_COUNT
};

enum writ_review_event {
#define WRIT_REVIEW_EVENT_ENUM(NAME, name, happens) WRIT_REVIEW_DO_##NAME,
    WRIT_REVIEW_EVENTS(WRIT_REVIEW_EVENT_ENUM)
#undef WRIT_REVIEW_EVENT_ENUM
        WRIT_REVIEW_EVENT_COUNT
};

enum writ_review_phase { WRIT_REVIEW_NONE = 0, WRIT_REVIEW_LIVE, WRIT_REVIEW_OVER };

/** "approved", "expire". Static storage. */
struct writ_view writ_review_state_name(enum writ_review_state state);
struct writ_view writ_review_event_name(enum writ_review_event event);
/** False, and `ret` untouched, when `text` names none. */
bool writ_review_state_find(struct writ_view text, enum writ_review_state *ret);

enum writ_review_phase writ_review_phase(enum writ_review_state state);

/** The reason that a caller gets for the call while its review is in that state. */
enum writ_reason writ_review_reason(enum writ_review_state state);

/** The state that an event leads to. False, and `ret` untouched: the event is impossible there. */
bool writ_review_move(
    enum writ_review_state state, enum writ_review_event event, enum writ_review_state *ret);

/* ---- votes */

enum writ_review_vote {
    WRIT_REVIEW_NO_VOTE = 0,
#define WRIT_REVIEW_VOTE_ENUM(NAME, name) WRIT_REVIEW_##NAME,
    WRIT_REVIEW_VOTES(WRIT_REVIEW_VOTE_ENUM)
#undef WRIT_REVIEW_VOTE_ENUM
#define WRIT_REVIEW_CANDIDATE_ENUM(N, name) WRIT_REVIEW_CANDIDATE_##N,
        WRIT_REVIEW_CANDIDATES(WRIT_REVIEW_CANDIDATE_ENUM)
#undef WRIT_REVIEW_CANDIDATE_ENUM
};

#define WRIT_REVIEW_CANDIDATES_MAX 8 /* of one review */
/** The word for them among the options of a configured review. */
#define WRIT_REVIEW_CANDIDATES_WORD "candidates"

/** The option that stands for the candidate at that place, from 0 to WRIT_REVIEW_CANDIDATES_MAX
 * - 1. */
enum writ_review_vote writ_review_candidate_at(size_t place);
/** Whether the option is a candidate. */
bool writ_review_is_candidate(enum writ_review_vote vote);

#define WRIT_REVIEW_VOTE_WORD(NAME, name) #name
/** All votes in a message: "approve, reject, modify". */
#define WRIT_REVIEW_VOTE_WORDS WRIT_REVIEW_VOTES_WITH(WRIT_REVIEW_VOTE_WORD, ", ")

/** "approve", or "1" of a candidate; empty for NO_VOTE. Static storage. */
struct writ_view writ_review_vote_name(enum writ_review_vote vote);
/** NO_VOTE when `text` names none. */
enum writ_review_vote writ_review_vote_find(struct writ_view text);

/** True for the exact decimals from 0 to 1, as "0", "0.75" or "1". */
bool writ_review_is_confidence(struct writ_view text);

/** True for valid feedback: UTF-8 of at most WRIT_REVIEW_FEEDBACK_MAX bytes, without control
 * characters but line feed and tab. It is still untrusted text: escape it before showing it. */
bool writ_review_is_feedback(struct writ_view text);

/** That a review can rank: candidates or approve; modify, reject. */
#define WRIT_REVIEW_OPTIONS_MAX (WRIT_REVIEW_CANDIDATES_MAX + 2)

/** Different votes, best first; abstain is none of them. n 0: no ranking. */
struct writ_review_ranking {
    enum writ_review_vote list[WRIT_REVIEW_OPTIONS_MAX];
    size_t n;
};

/** Reads their names. False, and `ret` untouched: not a ranking. */
bool writ_review_ranking_of(
    const struct writ_view *names, size_t n, struct writ_review_ranking *ret);
/** The same from a JSON array of names. */
bool writ_review_ranking_read(const struct writ_json *value, struct writ_review_ranking *ret);
/** Whether it ranks all options, and nothing else. */
bool writ_review_ranking_is_of(
    const struct writ_review_ranking *ranking, const struct writ_review_ranking *options);
bool writ_review_ranking_equal(
    const struct writ_review_ranking *a, const struct writ_review_ranking *b);
/** Writes the array as a member; nothing without a ranking. */
void writ_review_ranking_put(
    struct writ_write *w, const char *name, const struct writ_review_ranking *ranking);

/** What a vote needs to be counted (review.tbl.h). */
enum writ_review_need {
    WRIT_REVIEW_NEEDS_VOTE = 0,
    WRIT_REVIEW_NEEDS_CONFIDENCE,
    WRIT_REVIEW_NEEDS_RANKING
};

/** Whether the engine is a plug-in: the name of its file, of letters, digits, '-', '_' and '.',
 * that ends in ".so". */
bool writ_review_is_plugin(struct writ_view engine);

/** Whether the engine counts weights, against a threshold. */
bool writ_review_weighs(struct writ_view engine);

/** By the engine's name; an unknown one needs a vote alone. */
enum writ_review_need writ_review_need(struct writ_view engine);

/** One voter. */
struct writ_review_voter {
    struct writ_view id; /* the subject that has to vote; unique */
    int64_t weight;      /* 0 to WRIT_REVIEW_WEIGHT_MAX */
    int64_t parts;       /* in which a whole vote is counted: 3 of 2 is 1.5; 0 is 1 */
    bool veto;
    bool stand_in;             /* votes only for those that delegate to it */
    struct writ_view delegate; /* votes for it until it votes itself; empty: none */
    /* the delegate by a delegation that the voter set (delegation.h): its id, the digest of its
     * data as text, and its end. Empty and 0: by the configuration, as long as the review is open
     */
    struct writ_view delegation, delegation_digest;
    int64_t delegated_until_us;
    struct writ_view key; /* verifies its votes: canonical JSON of a JWK; empty: none */
    bool revoked;         /* that delegation was taken back */
    /* its vote */
    enum writ_review_vote vote; /* the last one that was cast; the first of its ranking */
    struct writ_review_ranking ranking;
    char confidence[WRIT_REVIEW_CONFIDENCE_MAX + 1]; /* "" without one */
    int64_t voted_us;                                /* when */
    uint64_t votes;                                  /* cast so far, revisions included */
};

/** One of the calls of which the voters elect one. */
struct writ_review_candidate {
    enum writ_review_vote option;       /* on ballots */
    struct writ_view state_free_digest; /* of the call, whatever the state of its target */
    struct writ_view intent_digest, target_state_digest; /* as those of a review */
};

/** A review as it is counted. Views live in the arena that it was made in. */
struct writ_review {
    struct writ_view id;                /* that of the decision that opened it */
    struct writ_view name;              /* of its rule: an entry of `reviews` */
    struct writ_view engine;            /* how votes are counted: a mode of crews, or a plug-in */
    struct writ_view engine_digest;     /* of the file of a plug-in, as text; else empty */
    struct writ_view threshold;         /* "2/3" */
    struct writ_view quorum;            /* "2", "1/2": of the electorate */
    struct writ_review_ranking options; /* of an engine that needs rankings: what they rank */
    int64_t opened_us;
    int64_t lifetime_us;      /* votes are accepted for this time */
    int64_t redeem_us;        /* an approval is kept for this time */
    struct writ_view subject; /* of the caller; never among the voters */
    struct writ_view tenant;  /* of the caller */
    struct writ_view agent_id;
    struct writ_view intent_digest, target_state_digest; /* the latter may be empty: no state */
    struct writ_view rules_digest;                       /* of the policy for the tool */
    /* The calls that can be elected, in the order of their options; the digests of the review are
     * those of the first. 0: the review is of the one call that these digests name. */
    struct writ_review_candidate *candidates;
    size_t candidates_n;
    struct writ_review_voter *voters;
    size_t voters_n;
};

/** Makes options of the candidates, followed by those of `others` that are no candidate. */
void writ_review_offer(struct writ_review *review, const struct writ_review_ranking *others);

/** The candidate with that digest of its call, or NULL. */
const struct writ_review_candidate *writ_review_candidate(
    const struct writ_review *review, struct writ_view state_free_digest);
/** Whether the option is one of the candidates. */
bool writ_review_has_candidate(const struct writ_review *review, enum writ_review_vote option);

/** Whether a vote has what the engine of the review needs, and nothing that it does not count. An
 * abstention needs nothing. */
bool writ_review_counts(const struct writ_review *review, enum writ_review_vote vote,
    const struct writ_review_ranking *ranking, struct writ_view confidence);
/** Casts a vote in memory; `confidence` may be empty. */
void writ_review_cast(struct writ_review_voter *voter, enum writ_review_vote vote,
    const struct writ_review_ranking *ranking, struct writ_view confidence, int64_t at_us);

/** The unit in which the weights of all voters are whole numbers: a whole vote has so many. 0: it
 * is too small for a voter of at most WRIT_REVIEW_UNITS_MAX. */
int64_t writ_review_unit(const struct writ_review *review);
/** The weight of a voter in that unit. */
int64_t writ_review_units(const struct writ_review_voter *voter, int64_t unit);
/** Writes the member `weight`: a number, or a fraction in lowest terms as a string. */
void writ_review_put_weight(struct writ_write *w, const struct writ_review_voter *voter);
/** "1/2", "3": the same as text. */
void writ_review_weight_text(const struct writ_review_voter *voter, struct writ_buf *ret);
/** Reads "1/2", "1.5" or "3" into weight and parts, in lowest terms. False: not a weight. */
bool writ_review_weight_read(struct writ_view text, struct writ_review_voter *ret);

/** Whether a voter with a veto has rejected. */
bool writ_review_is_vetoed(const struct writ_review *review);

/** Whether every voter that counts has voted, or the one that speaks for it has. */
bool writ_review_all_spoke(const struct writ_review *review);

/** How many of the voters count: stand-ins come after them. */
size_t writ_review_electors(const struct writ_review *review);

/** The voter whose vote counts for this one: itself, or without a vote of its own the one that it
 * delegates to, and so on. A vote that was cast after the end of a delegation does not count by it.
 */
const struct writ_review_voter *writ_review_speaker(
    const struct writ_review *review, const struct writ_review_voter *voter);

/** Whether its vote can count now: a stand-in votes as long as a delegation to it is in force. */
bool writ_review_may_vote(
    const struct writ_review *review, const struct writ_review_voter *voter, int64_t now_us);

/** The voter of that name, or NULL. */
struct writ_review_voter *writ_review_voter(const struct writ_review *review, struct writ_view id);

#endif
