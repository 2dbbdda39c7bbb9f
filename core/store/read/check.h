/* check.h - what the checks of a ledger share: where a verification stands, and what it found.
 *
 * Only this room includes this. */
#ifndef WRIT_STORE_CHECK_H
#define WRIT_STORE_CHECK_H

#include "evidence/record/record.h"
#include "store/disk/disk.h"
#include "store/disk/heads.h"
#include "store/read/check.tbl.h"
#include "store/read/verify_report.h"
#include "store/tables/map.h"

enum writ_check_statement {
#define WRIT_CHECK_ENUM(NAME, text) WRIT_CHECK_SQL_##NAME,
    WRIT_VERIFY_STATEMENTS(WRIT_CHECK_ENUM)
#undef WRIT_CHECK_ENUM
        WRIT_CHECK_SQL_COUNT
};

/** A verification. `runs` has the boundaries that are open at the present record, `calls` the
 * decisions that have no outcome yet, `told` the reviews that are not over; all end with what ends
 * them. */
struct writ_check {
    sqlite3 *db;
    sqlite3_stmt *statements[WRIT_CHECK_SQL_COUNT];
    struct writ_map runs, calls, told;
    struct writ_arena *arena; /* one record */
    struct writ_buf scratch;
    struct writ_verify_report *report;
    int64_t before_us;
    struct writ_heads heads;
    struct writ_heads_trust trust;
    struct writ_tree_edge edge;     /* of the records so far */
    struct writ_buf nodes;          /* that are complete since the present group began */
    uint64_t group_leaf, group_end; /* the present group, as its head says */
    uint64_t late, late_leaf;       /* checkpoints by a revoked key that none that is believed
                                     * follows yet, and the first of them */
    bool lost;                      /* there is no telling where the tree would go on */
    uint64_t successors;            /* decisions that follow another one */
    struct {
        struct writ_map keys; /* that are claimed at the present record */
        unsigned halvings;
        uint64_t drawn;
    } once;                      /* check_once.h */
    uint64_t facts;              /* seen so far */
    uint64_t bodies, bodies_end; /* leaf of the present row of bodies, and behind its last line */
    struct writ_row row;
    struct writ_err *err;
};

/** Says that something is wrong. */
void writ_check_problem(struct writ_check *v, uint64_t leaf, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/** Says `what` is wrong with the present record, unless `holds`. */
void writ_check_expect(struct writ_check *v, bool holds, const char *what);

/** Steps a statement: true in *ret when there is a row. */
WRIT_RESULT writ_check_next(
    struct writ_check *v, enum writ_check_statement which, bool *ret, struct writ_err *err);

#endif
