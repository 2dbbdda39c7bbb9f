/* reviewed.h - one review of the writer's table, and the table (reviews.h). */
#ifndef WRIT_STORE_REVIEWED_H
#define WRIT_STORE_REVIEWED_H

#include "evidence/record/review_story.h"
#include "store/tables/boundaries.h"
#include "store/tables/entry.h"
#include "store/tables/order.h"

#define WRIT_REVIEWS_PAST 256 /* in `past` */

/** The last feedback of a voter, from its beginning. */
struct writ_reviews_said {
    size_t len;
    char text[WRIT_LEDGER_SAID_MAX];
};

/** What the table has of one agent. Exists while it has any. */
struct writ_reviews_agent {
    struct writ_map_node by_agent;
    size_t held, live;
    struct writ_order redeemed; /* without those that are leaving; the oldest first */
};

/** One review. */
struct writ_reviewed {
    struct writ_map_node by_id, by_name;
    struct writ_reviewed *next, *prev; /* all in the table, in a ring: the oldest first */
    struct writ_boundary *boundary;    /* of its decision, while it lives */
    uint64_t boundary_row, seq;        /* where its records stand */
    uint64_t leaf;                     /* of its decision */
    uint64_t changed;                  /* leaf of its last record on disk; 0: none */
    struct writ_reviews_agent *agent;  /* NULL: its terms are not known yet */
    struct writ_order *aged;           /* the order of `by_age`: live or redeemed; NULL: none */
    struct writ_order *bounded;        /* the order of `by_boundary`; NULL: none */
    struct writ_order_node by_age, by_opening, by_change, by_boundary, by_due;
    bool opens; /* it is in the order of the open ones */
    bool look;  /* the next sweep looks at it, whatever its time */
    struct writ_review_story story;
    int64_t until_us;            /* wall time at which the state is over */
    bool leaving;                /* the present group removes it: lookups skip it */
    bool outdated;               /* its rules no longer exist: it ends with the next sweep */
    bool erased;                 /* an erase selected its call: no log of a crew is kept */
    struct writ_entry *awaiting; /* AWAIT entries, by `next`; its end ends them */
    struct writ_view boundary_id;
    struct writ_reviews_said *said; /* by voter; NULL: no remark */
    struct writ_arena *arena;       /* its own */
};

struct writ_reviews {
    struct writ_map by_id, by_name;
    size_t most, count;
    struct writ_reviewed *ring; /* the oldest */
    struct writ_reviewed *past[WRIT_REVIEWS_PAST];
    size_t past_next;
    uint64_t changed;            /* leaf of the last change of any */
    uint64_t forgotten;          /* later changes than this are all in the table or in `past` */
    struct writ_entry *watching; /* WATCH entries, by `next` */
    struct writ_map agents;      /* struct writ_reviews_agent */
    struct writ_order live;      /* by their decision */
    struct writ_order open;      /* the same, without those that are approved */
    struct writ_order changes;   /* by `changed`; those in `past` too */
    struct writ_order due;       /* all, by the wall time at which a sweep looks at them */
};

#endif
