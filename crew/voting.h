/* voting.h - the voting of a role: a mode of the table and its parameters. */
#ifndef WRIT_CREW_VOTING_H
#define WRIT_CREW_VOTING_H

#include "crew/names.h"
#include "evidence/json/rational.h"
#include "crew/scan.h"
#include "crew/voting.tbl.h"

enum writ_voting_mode {
    WRIT_VOTING_NONE = 0,
#define VOTING_ENUM(name, text, function, what) WRIT_VOTING_##name,
    WRIT_VOTING_MODES(VOTING_ENUM)
#undef VOTING_ENUM
};

/** The weight of an agent, or of each agent of a role. */
struct writ_voting_weight {
    struct writ_view id;
    int64_t weight;
};

/** The parameters of a vote. Views live in the arena it was read into. */
struct writ_crew_voting {
    enum writ_voting_mode mode;
    struct writ_view mode_text; /* as written */
    struct writ_view engine;    /* the name of an added one */
    struct writ_view weight_function;
    struct writ_rational threshold;
    double threshold_number; /* as the public library compares it; negative: written as "a/b" */
    const struct writ_voting_weight *weights; /* sorted by id */
    size_t weights_n;
    struct writ_rational quorum; /* of the electorate, when quorum_share; else a count over 1 */
    bool quorum_share;
    struct writ_names veto;
    struct writ_view score; /* JSON Pointer; absent: none */
    bool abstain;           /* an output that abstains counts for the quorum alone */
    bool tie; /* majority, best_of_n: of different outputs with equal counts none wins */
    struct writ_rational alpha, beta, lambda;
    struct writ_arena *own; /* of one that was read separately; else NULL */
};

/** The voting of a role without a voting object: first_valid. */
extern const struct writ_crew_voting writ_voting_default;

/** The weight of an agent or role by name, or NULL. */
const struct writ_voting_weight *writ_voting_weight_of(
    const struct writ_crew_voting *voting, struct writ_view id);

/** Reads a voting object at the present place of the scan; its members are a closed set. */
void writ_voting_scan(
    struct writ_scan *scan, const struct writ_json *object, struct writ_crew_voting *ret);

#endif
