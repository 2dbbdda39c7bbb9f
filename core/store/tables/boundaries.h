/* boundaries.h - the runs and sessions that are open, in the memory of the writer.
 *
 * A boundary is open from its first decision until its seal. Memory is bounded: a table that is
 * full takes no further boundary except the ledger's own, and each counts in the share of its
 * opener. One thread. */
#ifndef WRIT_STORE_BOUNDARIES_H
#define WRIT_STORE_BOUNDARIES_H

#include "evidence/record/seal.h"
#include "store/tables/order.h"
#include "store/tables/shares.h"

#define WRIT_BOUNDARIES_OWN 4096 /* boundaries that the ledger names itself, beside the others */

struct writ_entry;

/** One open boundary. */
struct writ_boundary {
    struct writ_map_node by_name, by_id;
    struct writ_boundary *next, *prev;  /* all open ones, in a ring */
    struct writ_boundary *next_ready;   /* ones that can be sealed now */
    struct writ_boundary *next_touched; /* ones that the present group appended to */

    uint64_t id; /* its row; 0: none yet */
    uint64_t first_leaf;
    uint64_t next_seq;
    struct writ_seal_hash hash; /* of the ids of its committed decisions */
    size_t in_flight;           /* granted calls without an outcome */
    int64_t active_us;          /* monotonic time of its last record */
    int64_t held_until_us;      /* wall time; a session keeps the boundary open until then */
    struct writ_entry *seals;   /* wait for its seal, by `next` */
    struct writ_order reviews;  /* that are live, by their decision (review_index.h) */
    struct writ_charge charge;  /* of its opener */
    bool sealing;               /* takes no further call */
    bool swept;                 /* sealing because it was idle, not on demand */
    bool ready;                 /* in the list of those that can be sealed */

    bool touched;    /* by the present group */
    bool fresh;      /* opened by the present group: has no row yet */
    uint64_t before; /* next_seq before the present group */

    struct writ_view tenant, name; /* in `text` */
    char text[];
};

struct writ_boundaries {
    struct writ_map by_name, by_id;
    size_t most, own; /* own: of all, those with names of the ledger's own */
    struct writ_shares shares;
    struct writ_boundary *ring;   /* any boundary of the ring: the next sweep continues there */
    struct writ_boundary *recent; /* the one that was found last, or NULL */
    struct writ_boundary *ready;  /* to be sealed, by next_ready */
    uint64_t next_id;             /* of the next row */
};

/** WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_boundaries_init(struct writ_boundaries *ret, size_t most, struct writ_err *err);
/** Frees all boundaries. A zeroed table is fine. */
void writ_boundaries_wipe(struct writ_boundaries *boundaries);

/** The tag of (tenant, name). WRIT_E_CRYPTO. */
WRIT_RESULT writ_boundaries_tag(
    struct writ_view tenant, struct writ_view name, struct writ_tag *ret, struct writ_err *err);

/** The boundary that was found last, when it has that name; else NULL. Many calls in a row have the
 * same boundary: this saves computing the tag. */
struct writ_boundary *writ_boundaries_recent(
    const struct writ_boundaries *boundaries, struct writ_view tenant, struct writ_view name);

/** The open boundary of that name, or NULL. */
struct writ_boundary *writ_boundaries_find(struct writ_boundaries *boundaries, struct writ_tag tag,
    struct writ_view tenant, struct writ_view name);

/** True for a name that the ledger reserves (WRIT_LEDGER_RESERVED). */
bool writ_boundaries_own(struct writ_view name);

/** True when the table takes no further boundary of a caller. */
bool writ_boundaries_full(const struct writ_boundaries *boundaries);

/** Adds an open boundary, which no share counts yet. WRIT_E_LIMIT when the table is full,
 * WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_boundaries_add(struct writ_boundaries *boundaries, struct writ_tag tag,
    struct writ_view tenant, struct writ_view name, struct writ_boundary **ret,
    struct writ_err *err);

/** Gives it the number of its row. */
void writ_boundaries_number(
    struct writ_boundaries *boundaries, struct writ_boundary *boundary, uint64_t id);
/** The open boundary with that number, or NULL. */
struct writ_boundary *writ_boundaries_at(const struct writ_boundaries *boundaries, uint64_t id);
/** The lowest number of an open boundary; UINT64_MAX: none is open. Reads all of them. */
uint64_t writ_boundaries_oldest(const struct writ_boundaries *boundaries);

/** Counts a boundary in the share of its opener, once; the ledger's own boundaries in no share.
 * WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_boundaries_charge(struct writ_boundaries *boundaries,
    struct writ_boundary *boundary, struct writ_view agent_id, struct writ_err *err);

/** Removes and frees one that has no waiting entries. */
void writ_boundaries_remove(struct writ_boundaries *boundaries, struct writ_boundary *boundary);

/** Takes the next boundary of the sweep, or NULL when there is none. */
struct writ_boundary *writ_boundaries_sweep(struct writ_boundaries *boundaries);

#endif
