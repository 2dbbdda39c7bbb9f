/* figures.h - sums of records by time, for the page: decisions, outcomes and durations of the last
 * hour (by minute), day (by quarter of an hour) and week (by two hours).
 *
 * A time slot has one cell for each combination of names that occurred in it, at most
 * WRIT_FIGURES_CELLS; further ones are counted without agent, tool and reason, never under another
 * tenant. So the memory and the work of a reading are bounded, whatever the number of calls and the
 * names that callers choose.
 *
 * One thread, or a lock of the owner. */
#ifndef WRIT_GATEWAY_FIGURES_H
#define WRIT_GATEWAY_FIGURES_H

#include "base/bytes.h"

#define WRIT_FIGURES_CELLS    2048 /* of one slot, with all names */
#define WRIT_FIGURES_NAME_MAX 256  /* bytes of a name that are kept */

#define WRIT_FIGURES_SPANS(X)                                                                      \
    X(HOUR, "hour", 60, 60)                                                                        \
    X(DAY, "day", 96, 900)                                                                         \
    X(WEEK, "week", 84, 7200)

enum writ_figures_span {
#define WRIT_FIGURES_ENUM(NAME, text, slots, seconds) WRIT_FIGURES_##NAME,
    WRIT_FIGURES_SPANS(WRIT_FIGURES_ENUM)
#undef WRIT_FIGURES_ENUM
        WRIT_FIGURES_SPANS_N
};

#define WRIT_FIGURES_LONGEST_US (INT64_C(7) * 86400 * 1000000)

enum writ_figures_kind {
    WRIT_FIGURES_DECISION = 0, /* value: enum writ_decision_route */
    WRIT_FIGURES_OUTCOME,      /* value: enum writ_outcome_kind */
    WRIT_FIGURES_DURATION,     /* from the decision to the outcome; value: writ_figures_bucket */
    WRIT_FIGURES_RULE,   /* a decision by one rule, whose ref is the reason; value: the same */
    WRIT_FIGURES_COMMIT, /* a group of the ledger; value: writ_figures_bucket */
};

/** What is counted, and for whom. An empty name: it has none. */
struct writ_figures_point {
    enum writ_figures_kind kind;
    unsigned value;
    struct writ_view tenant, agent, upstream, tool, reason;
};

/** A cell of a slot. */
struct writ_figures_cell {
    struct writ_figures_point point; /* its names are borrowed until the next addition */
    size_t slot;                     /* 0: the oldest of the span */
    uint64_t count;
};

struct writ_figures;

/** WRIT_E_NOMEM, WRIT_E_CRYPTO. `ret` is new, free with writ_figures_free; written only on success.
 */
WRIT_RESULT writ_figures_new(struct writ_figures **ret, struct writ_err *err);
/** NULL is permitted. */
void writ_figures_free(struct writ_figures *figures);

/** Counts one of that time, in each span that has the time. The order of times does not matter.
 * Without memory it is not counted, which writ_figures_lost tells. */
void writ_figures_add(struct writ_figures *figures, const struct writ_figures_point *point,
    int64_t at_us, int64_t now_us);

/** Calls `each` for all cells of a span that ends now. */
void writ_figures_each(const struct writ_figures *figures, enum writ_figures_span span,
    int64_t now_us, void (*each)(void *ctx, const struct writ_figures_cell *cell), void *ctx);

/** How many were not counted. */
uint64_t writ_figures_lost(const struct writ_figures *figures);

/** The span of that name. False: none; `ret` is untouched. */
bool writ_figures_span_find(struct writ_view name, enum writ_figures_span *ret);
struct writ_view writ_figures_span_name(enum writ_figures_span span);
size_t writ_figures_slots(enum writ_figures_span span);
int64_t writ_figures_slot_us(enum writ_figures_span span);
/** When the oldest slot of a span that ends now begins. */
int64_t writ_figures_since_us(enum writ_figures_span span, int64_t now_us);

#define WRIT_FIGURES_BUCKETS 176 /* of durations */

/** The bucket of a duration, four to each power of two, and the longest duration in a bucket. */
unsigned writ_figures_bucket(int64_t us);
int64_t writ_figures_bucket_us(unsigned bucket);

#endif
