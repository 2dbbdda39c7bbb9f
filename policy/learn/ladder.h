/* ladder.h - the steps that one spot can take, from the tightest to the loosest, and what each
 * would have refused. */
#ifndef WRIT_POLICY_LADDER_H
#define WRIT_POLICY_LADDER_H

#include "policy/learn/spot.h"
#include "policy/propose/proposal.h"

#define WRIT_LADDER_MAX 12 /* steps of one spot */

enum writ_learn_step {
    WRIT_LEARN_NONE = 0,
#define STEP(NAME, name, sentence) WRIT_LEARN_##NAME,
#include "policy/learn/step.tbl.h"
#undef STEP
    WRIT_LEARN_COUNT,
};

/** Static storage. */
const char *writ_ladder_step_name(enum writ_learn_step step);
const char *writ_ladder_step_sentence(enum writ_learn_step step);

struct writ_rung {
    enum writ_learn_step step;
    uint64_t cost; /* calls that it would have refused, learned from the other runs */
    size_t depth;  /* of folders */
};

/** The choice for one spot: what its values are, or how many elements it has. */
struct writ_ladder {
    const struct writ_spot *spot;
    bool items;
    bool few; /* too few calls: it stays at the first step */
    struct writ_rung rungs[WRIT_LADDER_MAX];
    size_t n, at;
};

/** How a tool is learned. */
struct writ_ladder_terms {
    bool by_run;    /* costs count runs, not calls */
    uint64_t least; /* calls below which nothing is generalised */
    const struct writ_text_forms *forms;
    struct writ_arena *arena;
};

/** The ladder of the values of a spot, or of its elements (`items`). At least one rung for a spot
 * that has values. */
struct writ_ladder writ_ladder_of(
    const struct writ_spot *spot, bool items, const struct writ_ladder_terms *terms);

/** Constraints under construction. */
struct writ_ladder_list {
    struct writ_arena *arena;
    struct writ_proposal_constraint *first, *last;
    size_t n;
    bool nomem;
};

/** Appends a constraint. */
struct writ_proposal_constraint *writ_ladder_add(struct writ_ladder_list *list,
    const struct writ_proposal_constraint *like, enum writ_op op, struct writ_view text);

/** Appends the constraints of the step that was chosen. `like` has arg, optional, nullable and why.
 */
void writ_ladder_put(const struct writ_ladder *ladder, const struct writ_ladder_terms *terms,
    const struct writ_proposal_constraint *like, struct writ_ladder_list *ret);

#endif
