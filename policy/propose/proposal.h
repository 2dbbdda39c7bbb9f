/* proposal.h - proposed rules as structs, before they are written as text (proposal_text.h).
 *
 * Everything is in the arena of the proposal, or in the definitions that it was made from. */
#ifndef WRIT_POLICY_PROPOSAL_H
#define WRIT_POLICY_PROPOSAL_H

#include "evidence/json/json.h"
#include "policy/model/op.h"

/* Placeholders: values that `writ check` insists on being replaced. */
#define WRIT_PROPOSAL_FOLDER  "REPLACE_WITH_A_FOLDER"
#define WRIT_PROPOSAL_GLOB    "REPLACE_WITH_A_GLOB"
#define WRIT_PROPOSAL_HOST    "REPLACE_WITH_A_HOST"
#define WRIT_PROPOSAL_AMOUNT  "REPLACE_WITH_AN_AMOUNT"
#define WRIT_PROPOSAL_TOTAL   "REPLACE_WITH_A_DAILY_TOTAL"
#define WRIT_PROPOSAL_PATTERN "REPLACE_WITH_A_PATTERN"

/** One value of `in`, in the order of the file. */
struct writ_proposal_value {
    const struct writ_json *json;
    struct writ_proposal_value *next;
};

/** One constraint. Its value is that of the first member that is set: each, values, text. */
struct writ_proposal_constraint {
    enum writ_op op;
    struct writ_view arg; /* as a configuration has it; ptr NULL: the element of an `each` */
    struct writ_view text;
    const struct writ_proposal_value *values;
    const struct writ_proposal_constraint *each;
    bool optional, nullable;
    bool placeholder; /* the text is one */
    const char *why;  /* a clause; static storage, or in the arena */
    struct writ_proposal_constraint *next;
};

/** The rule of one tool. */
struct writ_proposal_rule {
    struct writ_view tool;
    const char *left_out;    /* why there is no rule; a clause. NULL: there is one */
    struct writ_view target; /* a template; may be empty */
    const struct writ_proposal_constraint *arguments;
    const char *narrowed; /* what of the whole schema is left to the server; NULL: nothing */
    const char *review;   /* why calls need an approval; NULL: they need none */
    bool reads;           /* the server says that it only reads, and it takes no amount */
    struct writ_view sum; /* the amount of the budget; may be empty */
    bool closed;          /* an argument that the tool needs is refused */
    size_t placeholders;
    const struct writ_proposal_rule *next;
};

/** The rules for the tools of one server. */
struct writ_proposal {
    struct writ_view upstream;
    struct writ_arena *arena;
    const struct writ_proposal_rule *rules; /* in the order of the definitions */
    struct writ_proposal_rule *last;
    size_t tools;        /* definitions, also those without a rule */
    size_t open;         /* calls pass without approval, within the constraints */
    size_t reviewed;     /* calls need an approval */
    size_t waiting;      /* refused until placeholders are replaced */
    size_t closed;       /* refused until a rule is written by hand; without one, too */
    size_t placeholders; /* in all */
};

#endif
