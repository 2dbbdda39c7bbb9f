/* check.h - the checks of a verification: its progress, its findings, and each check by the file
 * that makes it. verify.c walks the log with them.
 *
 * Every check returns WRIT_OK whatever is wrong with the ledger, and reports problems by
 * writ_check_problem; an error means that the check could not be made. Only this room includes
 * this. */
#ifndef WRIT_STORE_CHECK_H
#define WRIT_STORE_CHECK_H

#include "evidence/record/fact.h"
#include "evidence/record/record.h"
#include "store/disk/disk.h"
#include "store/disk/heads.h"
#include "store/disk/said.h"
#include "store/read/archive_read.h"
#include "store/read/check.tbl.h"
#include "store/read/column.h"
#include "store/read/verify_report.h"
#include "store/tables/delegations.h"
#include "store/tables/map.h"

enum writ_check_statement {
#define WRIT_CHECK_ENUM(NAME, text) WRIT_CHECK_SQL_##NAME,
    WRIT_VERIFY_STATEMENTS(WRIT_CHECK_ENUM)
#undef WRIT_CHECK_ENUM
        WRIT_CHECK_SQL_COUNT
};

/** A verification. Records before `first` were removed: of those it checks the digests in the tree
 * and the facts, or what an archive has. `runs` has the boundaries that are open at the present
 * record, `calls` the decisions that have no outcome yet, `told` the reviews that are not over.
 * Each entry is removed by the record that ends it. */
struct writ_check {
    struct writ_sql *sql;
    struct writ_sql_statement *statements[WRIT_CHECK_SQL_COUNT];
    struct writ_map runs, calls, told;
    struct writ_map ids;               /* with an archive: `calls` by the ids of the decisions */
    struct writ_archive_read *archive; /* borrowed; NULL: none */
    bool archived;                     /* the present record is read from it */
    uint64_t first;                    /* the first record on disk, now */
    uint64_t began;                    /* the same when the verification began */
    uint64_t until;                    /* records before it may be missing, as a fact says */
    struct writ_arena *arena;          /* one record */
    struct writ_buf scratch;
    struct writ_verify_report *report;
    int64_t before_us;
    struct writ_heads heads;
    struct writ_heads_trust trust;
    struct writ_tree_edge edge;     /* of the records so far */
    struct writ_buf nodes;          /* that are complete since the present group began */
    uint64_t group_leaf, group_end; /* the present group, as its head says */
    uint64_t late, late_leaf;       /* checkpoints by a revoked key that no trusted one follows yet,
                                       and the first of them */
    uint64_t size;                  /* of the log when the verification began */
    uint64_t signed_size;           /* records that a checkpoint is over, so far */
    struct writ_view tail_key;      /* for the MACs; ptr NULL: none */
    bool signed_all;                /* records without checkpoint and without that MAC are wrong */
    int64_t signed_us;              /* time of the last record under the last checkpoint so far;
                                       INT64_MIN: not known */
    uint64_t macs, macs_leaf;       /* groups whose MAC does not hold, since the ledger was resumed;
                                       the first record of the first of them */
    bool lost;                      /* after a gap: the tree cannot be continued */
    uint64_t successors;            /* decisions that follow another one */
    struct {
        struct writ_map keys; /* that are claimed at the present record */
        unsigned halvings;
        uint64_t drawn;
    } once;                      /* check_once.c */
    uint64_t facts, moved;       /* seen so far; of them, from the table `fact` or the archive */
    uint64_t moved_rows;         /* of the table `fact`, so far */
    uint64_t bodies, bodies_end; /* leaf of the present row of bodies, and the leaf after its last
                                    line */
    struct {
        struct writ_buf bytes; /* of the row whose bodies are read */
        struct writ_view rest; /* of them, from record `at` on; ptr NULL: there are no more */
        uint64_t leaf, lines;  /* of the row: its first record, and how many it has */
        uint64_t at;
        bool has_row, has_next; /* such a row; another one behind it, at which BODIES stands */
        bool begun;             /* a record was read */
    } read;                     /* verify.c */
    bool overtaken;             /* records were removed that were to be read next */
    struct writ_buf pool;       /* check_pool.c */
    struct writ_delegations delegations; /* check_delegation.c */
    struct writ_row row;
    struct writ_said said; /* an archived record has no columns: those that it states */
    struct writ_err *err;
};

#define WRIT_CHECK_HEAD_ARENA ((size_t)64 << 20) /* memory to read one row of `head` */

/** Says that something is wrong. */
void writ_check_problem(struct writ_check *v, uint64_t leaf, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/** Reports the problem `what` of the present record, unless `holds`. */
void writ_check_expect(struct writ_check *v, bool holds, const char *what);

/** Steps a statement: true in *ret when there is a row. */
WRIT_RESULT writ_check_next(
    struct writ_check *v, enum writ_check_statement which, bool *ret, struct writ_err *err);

/* ---- check_record.c: one record after the other, each by the file of its kind (check_parts.h);
 * these call those of tree, once and story ---- */

/** Checks the record in the columns of RECORDS, which should be number `leaf`, and its body.
 * WRIT_OK whatever is wrong with it; WRIT_E_LIMIT, WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM,
 * WRIT_E_CRYPTO. */
WRIT_RESULT writ_check_record(
    struct writ_check *v, struct writ_sql_statement *s, uint64_t leaf, struct writ_view body);

/** Checks record `leaf`, which is read from the archive. As writ_check_record. */
WRIT_RESULT writ_check_record_archived(struct writ_check *v, uint64_t leaf, struct writ_view body);

/** Checks the fact with this body, which is record `leaf`: its row was moved to the table `fact`.
 * As writ_check_record, but it adds nothing to the tree. */
WRIT_RESULT writ_check_record_moved(struct writ_check *v, uint64_t leaf, struct writ_view body);

/** Checks what is left after the last record. `last_now`: the last record at this time, in a ledger
 * that is written meanwhile. */
void writ_check_record_rest(struct writ_check *v, uint64_t last, uint64_t last_now);

/** Frees the memory of the checks. */
void writ_check_record_wipe(struct writ_check *v);

/* ---- check_tree.c: each group has its nodes, and a trusted checkpoint over them, or a MAC where a
 * gateway writes one ---- */

/** Adds the body of the present record, number `leaf`, to the tree; at the end of a group checks
 * its checkpoint. After a gap nothing can be checked, and nothing more is reported. WRIT_OK
 * whatever is wrong; WRIT_E_LIMIT, WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_check_tree_add(struct writ_check *v, struct writ_view body, uint64_t leaf);

/** As writ_check_tree_add, of a record whose body is not there: by the digest that is stored. */
WRIT_RESULT writ_check_tree_stored(
    struct writ_check *v, const struct writ_digest *digest, uint64_t leaf);

/** After the last record: when neither a checkpoint that was read nor a MAC is over the last
 * records, one that is made meanwhile must be. As writ_check_tree_add; may wait (writ_heads_await).
 */
WRIT_RESULT writ_check_tree_tail(struct writ_check *v);

/** After the last record: names the checkpoints that no later one vouches for, and the groups whose
 * MAC does not hold. */
void writ_check_tree_end(struct writ_check *v);

/* ---- check_removed.c: records that were removed from the ledger ---- */

/** Checks the group of record *leaf, which is before v->first; *leaf is then the record after it.
 * WRIT_OK whatever is wrong; WRIT_E_LIMIT, WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_check_removed(struct writ_check *v, uint64_t *leaf);
/** After the last record: no more are missing than were moved to an archive. As the former. */
WRIT_RESULT writ_check_removed_end(struct writ_check *v);

/* ---- check_once.c: no key was granted to two calls while it was claimed ---- */

/** Claims in memory, at most. A claim stands for as long as its record says, unless its outcome
 * proves that nothing ran. When more stand at one time, a verification checks a random part of all
 * keys, and the next one another part. */
#define WRIT_CHECK_ONCE_MOST (1 << 18)

/** Notes the claim that the present record makes, if any. WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_check_once_claim(struct writ_check *v, const struct writ_said *said);
/** The call that claimed the key did not run. */
void writ_check_once_release(struct writ_check *v, struct writ_tag key);
/** A row of the table `claim`. */
void writ_check_once_row(
    struct writ_check *v, struct writ_tag key, uint64_t leaf, int64_t until_us);
/** After the last of these rows: reports the claims that still stand and have none. `lost` gives 0
 * for a claim (key, last record that was read, end) whose row no later record explains the lack of.
 * WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. */
WRIT_RESULT writ_check_once_rows(struct writ_check *v, struct writ_sql_statement *lost);
/** Frees the claims in memory. */
void writ_check_once_wipe(struct writ_check *v);

/* ---- check_story.c: each record of a review follows from those before it ---- */

/** Takes the present record, whose `body` is not in the arena of the record. With `may_go_on` its
 * review may have begun before the first record that is read: then it is not judged. What
 * contradicts its review is reported once; later records of that review cannot be judged. WRIT_OK
 * whatever is wrong; WRIT_E_LIMIT (WRIT_VERIFY_REVIEWS_MAX), WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_check_story_hear(struct writ_check *v, struct writ_view body, bool may_go_on);

/** Takes the present decision, which allows a call under the review that it names: the one that the
 * review approves, or of its candidates the elected one. As writ_check_story_hear. */
WRIT_RESULT writ_check_story_grant(struct writ_check *v, const struct writ_decision *decision);

/** After the last record: compares the rows of `review` with the records. WRIT_E_IO, WRIT_E_BUSY,
 * WRIT_E_NOMEM, WRIT_E_LIMIT, WRIT_E_CRYPTO. */
WRIT_RESULT writ_check_story_rows(struct writ_check *v);

/** Frees the reviews in memory. */
void writ_check_story_wipe(struct writ_check *v);

/* ---- check_content.c: rows of kept contents belong to records, and to each other ---- */

/** Checks the rows of kept contents. WRIT_E_BUSY: `progress` (may be NULL) stopped it; WRIT_E_IO,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_check_content(
    struct writ_check *v, bool (*progress)(void *ctx, uint64_t done, uint64_t all), void *ctx);

/* ---- check_pool.c: insights that agents share, and the facts that record them ---- */

/** Takes the present record, a fact of the pool. WRIT_E_NOMEM. */
WRIT_RESULT writ_check_pool_fact(struct writ_check *v, const struct writ_fact *fact);

/** After the last record that is read, number `last`: compares the rows of `pool` with these facts.
 * WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_check_pool(struct writ_check *v, uint64_t last);

/* ---- check_delegation.c: delegations that voters set, and the reviews that name them ---- */

/** Takes the present record, a fact of a delegation. WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_check_delegation_fact(struct writ_check *v, const struct writ_fact *fact);
/** The present record is one of this review; `opens`: its first. */
void writ_check_delegation_used(struct writ_check *v, const struct writ_review *review, bool opens);

/* ---- check_shared.c: rows beside the records of a ledger that several gateways write ---- */

/** Compares the rows of `coordinator`, `claim`, `head` and `wait` with the records, and checks what
 * each gateway keeps for its start, as writ_check_manifest. */
WRIT_RESULT writ_check_shared(
    struct writ_check *v, bool (*progress)(void *ctx, uint64_t done, uint64_t all), void *ctx);

/* ---- check_manifest.c: what the ledger keeps for its start (manifest.h) ---- */

/** Checks the note, the bytes that it signs, and every block of every segment that they name.
 *
 * When a gateway writes another note meanwhile, the check of the former one ends. Whether the bytes
 * agree with the records is not checked: they are signed. A ledger without a note has no problem.
 * WRIT_E_BUSY: `progress` (may be NULL) stopped it; WRIT_E_IO, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_check_manifest(
    struct writ_check *v, bool (*progress)(void *ctx, uint64_t done, uint64_t all), void *ctx);

#endif
