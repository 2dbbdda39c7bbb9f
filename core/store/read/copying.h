/* copying.h - what the parts of a copy (copy.h) share: both ledgers, their statements, and the
 * transactions of the one that is written. Errors go to `err` of the copying. */
#ifndef WRIT_STORE_COPYING_H
#define WRIT_STORE_COPYING_H

#include "store/disk/disk.h"
#include "store/disk/file.h"
#include "store/read/copy.h"
#include "store/read/copy.tbl.h"

/* For a server, and between two reads of one transaction. */
#define WRIT_COPYING_WAIT_US  INT64_C(60000000)
#define WRIT_COPYING_TEXT_MAX 1024 /* of a value of `meta` */

enum writ_copying_statement {
#define WRIT_COPYING_ENUM(NAME, text) WRIT_COPYING_##NAME,
    WRIT_COPY_STATEMENTS(WRIT_COPYING_ENUM) WRIT_COPYING_EVERY, /* so many on any ledger */
    WRIT_COPYING_EVERY_LAST = WRIT_COPYING_EVERY - 1,
    WRIT_COPY_SHARED(WRIT_COPYING_ENUM) WRIT_COPYING_ALL
#undef WRIT_COPYING_ENUM
};

/** A ledger that is open, kept from gateways by its lock when it is a file. */
struct writ_copying_side {
    const char *path;
    struct writ_file file;
    struct writ_sql *sql; /* of `to`: that of `disk` */
    struct writ_sql_statement *statements[WRIT_COPYING_ALL];
    bool shared;
};

/** One run of a copy. */
struct writ_copying {
    const struct writ_copy *copy;
    struct writ_copy_report *report;
    struct writ_copying_side from, to;
    struct writ_disk disk; /* `to` */
    struct writ_buf id;    /* of the ledger */
    struct writ_buf state; /* that is copied: the note */
    struct writ_buf key;
    struct writ_buf note; /* of the last group of the copy, when the source has another one */
    uint64_t leaf;        /* of that group */
    uint64_t room;        /* of the partitions of the copy */
    uint64_t size, first; /* records of the source, and the first that is there */
    int64_t edge_us, changes;
    uint64_t at; /* records of the copy */
    struct writ_digest root;
    struct writ_arena *arena;             /* one record */
    struct writ_arena *held;              /* the texts of `rows` */
    struct writ_row rows[WRIT_DISK_ROWS]; /* to be appended together */
    size_t rows_n;
    bool resumes;  /* the rows of other tables that are here are of this state */
    bool complete; /* an earlier run has done all of it */
    struct writ_err *err;
};

/* ---- copying_sql.c ---- */

/** Prepares the statements of a side. */
WRIT_RESULT writ_copying_prepare(struct writ_copying_side *side, struct writ_err *err);
/** The integer in the first column of the first row; 0: there is none. */
WRIT_RESULT writ_copying_number(struct writ_copying_side *side, enum writ_copying_statement which,
    int64_t *ret, struct writ_err *err);
/** Reads a value of `meta`; an absent one is empty. */
WRIT_RESULT writ_copying_get_meta(struct writ_copying_side *side, struct writ_view name,
    struct writ_buf *ret, struct writ_err *err);
/** Writes one of the copy. */
WRIT_RESULT writ_copying_put_meta(
    struct writ_copying *c, struct writ_view name, struct writ_view value);
/** WRIT_E_BUSY when a gateway has the ledger of that side open. */
WRIT_RESULT writ_copying_check_live(struct writ_copying *c, struct writ_copying_side *side);
/** Begins a transaction of the copy. WRIT_E_BUSY when another program has written it. */
WRIT_RESULT writ_copying_begin(struct writ_copying *c);
/** Commits it, or rolls it back when `result` is an error, which it returns. */
WRIT_RESULT writ_copying_finish(struct writ_copying *c, writ_result result);

/* ---- copying_open.c ---- */

/** Opens the source, in the transaction that reads all of it, and reads its state. */
WRIT_RESULT writ_copying_open_from(struct writ_copying *c);
/** Opens the copy; makes it first when it is not there. */
WRIT_RESULT writ_copying_open_to(struct writ_copying *c);
/** A number of the source that every committed turn of a gateway changes, and every start of one
 * with a file. */
WRIT_RESULT writ_copying_read_changes(struct writ_copying *c, int64_t *ret);

/* ---- copying_groups.c ---- */

/** Copies the records that are not in the copy, in their groups. */
WRIT_RESULT writ_copying_groups(struct writ_copying *c);

/* ---- copying_tables.c ---- */

/** Copies the rows of all other tables. */
WRIT_RESULT writ_copying_tables(struct writ_copying *c);

#endif
