/* disk.h - the database of a ledger: SQLite in WAL mode, synchronous FULL, used as a log.
 *
 * Typed functions over the statements of disk.tbl.h. An error after which this process must not
 * write (sql_sqlite.h; also another program's change) poisons the log: every later call fails.
 *
 * One thread per log; a reader and a writer are two logs. Everything here blocks. */
#ifndef WRIT_STORE_DISK_H
#define WRIT_STORE_DISK_H

#include "base/clock.h"
#include "evidence/json/digest.h"
#include "store/disk/disk.tbl.h"
#include "store/disk/postgres.tbl.h"
#include "store/disk/span.h"
#include "store/sql/sql_array.h"
#include "store/sql/sql_sqlite.h"

#define WRIT_DISK_APPLICATION 0x57726974 /* "Writ", the application_id in the file's header */
#define WRIT_DISK_VERSION     8          /* user_version: increment it when the tables change */
#define WRIT_DISK_ROWS        8          /* records of one APPEND_RECORDS of SQLite */
#define WRIT_DISK_COLUMNS     12         /* of a record */
#define WRIT_DISK_BYTES_MAX   (16 << 20) /* of one value */
#define WRIT_DISK_ROOM                                                                             \
    65536                        /* records for which partitions are made ahead: half              \
                                    of it is more than a group has */
#define WRIT_DISK_CLAIM_BYTES 48 /* key, call, intent: 16 bytes each */
#define WRIT_DISK_KEY_BYTES   16 /* the first of them */

enum writ_row_kind {
    WRIT_ROW_NONE = 0,
    WRIT_ROW_DECISION,
    WRIT_ROW_OUTCOME,
    WRIT_ROW_SEAL,
    WRIT_ROW_REVIEW,
    WRIT_ROW_FACT,
};

enum writ_row_flag {
    WRIT_ROW_GRANTED = 1 << 0,       /* decision: the call may have gone upstream */
    WRIT_ROW_CALLER_STATED = 1 << 1, /* decision: the caller named the key */
    WRIT_ROW_NOTHING_RAN = 1 << 2,   /* outcome: releases claim and budgets */
    WRIT_ROW_INTERRUPTED = 1 << 3,   /* outcome: written by recovery */
    WRIT_ROW_FOLLOWS = 1 << 4,       /* decision: under the claim of the one in `about` */
};

/** One record: its narrow columns and, where it is written, its body. */
struct writ_row {
    enum writ_row_kind kind;
    uint64_t leaf, boundary;
    uint64_t seq;    /* decision, outcome: of the decision; seal: total */
    int64_t time_us; /* issued_at, completed_at, sealed_at */
    int verdict;
    unsigned flags;
    uint64_t about;               /* outcome: leaf of the decision; decision: see FOLLOWS */
    struct writ_view decision_id; /* ptr NULL: none */
    struct writ_view agent_id, tool;
    const uint8_t *claim; /* WRIT_DISK_CLAIM_BYTES, or NULL */
    struct writ_view body;
};

enum writ_statement {
#define WRIT_STATEMENT_ENUM(NAME, text) WRIT_SQL_##NAME,
    WRIT_DISK_STATEMENTS(WRIT_STATEMENT_ENUM) WRIT_SQL_LOCAL_COUNT, /* those of every ledger */
    WRIT_SQL_LOCAL_LAST = WRIT_SQL_LOCAL_COUNT - 1,
    WRIT_POSTGRES_STATEMENTS(WRIT_STATEMENT_ENUM)
#undef WRIT_STATEMENT_ENUM
        WRIT_SQL_COUNT
};

/** A connection. Zeroed: closed. */
struct writ_disk {
    struct writ_sql *sql;
    struct writ_sql_statement *statements[WRIT_SQL_COUNT];
    struct writ_sql_array columns[WRIT_DISK_COLUMNS]; /* of rows that are added at once */
    bool poisoned;                                    /* no statement may run through it any more */
    bool unknown;                                     /* the answer to the last commit was lost */
    bool waits;         /* the present transaction has changed waits */
    uint64_t wal_pages; /* in the write-ahead log after the last commit */
    bool wal_begun;     /* the log has started from its beginning since this was last set to
                           false */
    struct writ_span span;
};

/** Creates the database in an empty file: settings, schema, a random id, and the origin of its
 * checkpoints unless that is empty. WRIT_E_IO, _NOMEM, _CRYPTO. */
WRIT_RESULT writ_disk_create(const char *path, struct writ_view origin,
    const struct writ_clock *clock, struct writ_err *err);

/** Brings a database of the version before to this one, in one transaction. The caller has its
 * locks. *ret_from is the version that it had. WRIT_E_PARSE: not a ledger, or of another version;
 * WRIT_E_BUSY, WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_disk_migrate(const char *path, int *ret_from, struct writ_err *err);

/**
 * Opens the database to write. `ret` must stay where it is until it is closed.
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE  not a ledger, of a newer version, or with another schema
 *         WRIT_E_BUSY   locked for longer than busy_us
 *         WRIT_E_IO     also when it can only be read
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_disk_open(
    const char *path, int64_t busy_us, struct writ_disk *ret, struct writ_err *err);

/** True when several gateways may write the ledger: PostgreSQL. */
bool writ_disk_is_shared(const struct writ_disk *disk);

/** Opens a connection that only reads, beside those that write: checks the files of the ledger, if
 * it is one of SQLite. It may be used for as long as one likes: a lost connection to a server is
 * made again. As writ_disk_connect; WRIT_E_ABSENT, WRIT_E_INVALID as writ_file_check. */
WRIT_RESULT writ_disk_connect_reader(const char *path, struct writ_sql **ret, struct writ_err *err);

/** Opens a second connection, as writ_disk_open does, that only copies the write-ahead log or, with
 * `read_only`, only reads. It prepares no statements. */
WRIT_RESULT writ_disk_connect(
    const char *path, bool read_only, int64_t busy_us, struct writ_sql **ret, struct writ_err *err);

/** Makes an empty database with the tables of a ledger of SQLite, for this process alone; it is
 * gone when it is closed. What is large goes to SQLite's folder for temporary files. WRIT_E_IO,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_disk_connect_temporary(struct writ_sql **ret, struct writ_err *err);

/** Closes; a zeroed one is fine. */
void writ_disk_close(struct writ_disk *disk);

/** Begins a transaction of several statements; one statement alone needs none. WRIT_E_IO, _BUSY,
 * _NOMEM. */
WRIT_RESULT writ_disk_begin(struct writ_disk *disk, struct writ_err *err);
/** Ends a transaction: commits when `result`, that of its statements, is WRIT_OK; else rolls back
 * and returns `result`. Rolls back a commit that fails. WRIT_E_IO, _NOMEM. */
WRIT_RESULT writ_disk_finish(struct writ_disk *disk, writ_result result, struct writ_err *err);

/** Rewrites the tables that have contents in clear (`result`, `review`), in the present
 * transaction: every page that they had becomes zeros, and with it copies of rows that SQLite
 * moved. WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_disk_renew(struct writ_disk *disk, struct writ_err *err);

/** Copies the rest of the write-ahead log into the database, so that the next commit restarts the
 * log. Does nothing when the other thread that copies prevents it. WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_disk_copy_wal(struct writ_disk *disk, struct writ_err *err);

/** Copies the write-ahead log into the database and cuts the file to nothing. *ret_done is false
 * when a reader, or the other thread that copies, prevents it now; it does not wait. `busy_us` is
 * set again. WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_disk_cut_wal(
    struct writ_disk *disk, int64_t busy_us, bool *ret_done, struct writ_err *err);

/** Appends the columns of records: multiples of WRIT_DISK_ROWS cost SQLite the least, and all of a
 * group at once PostgreSQL. WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_disk_append(
    struct writ_disk *disk, const struct writ_row *const *rows, size_t n, struct writ_err *err);
/** Appends the bodies of the records from `leaf` on, in the format of lines.h. WRIT_E_IO,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_disk_append_bodies(
    struct writ_disk *disk, uint64_t leaf, struct writ_view lines, struct writ_err *err);

/** A claim that a granted call makes, for the table of a shared ledger. */
struct writ_disk_claim {
    const uint8_t *key; /* of WRIT_DISK_KEY_BYTES; borrowed */
    uint64_t leaf, boundary;
    int64_t until_us;
};

/** Adds the claims of a group, on PostgreSQL. A key that stands already fails the transaction; one
 * that has passed by `now_us`, the time of their last record, is taken. WRIT_E_IO, WRIT_E_BUSY,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_disk_claim(struct writ_disk *disk, const struct writ_disk_claim *claims, size_t n,
    int64_t now_us, struct writ_err *err);

/** Whether a row of bodies that has so many bytes should take another body. */
bool writ_disk_takes_body(const struct writ_disk *disk, size_t bytes, size_t body);

/**
 * Runs one statement, outside of a transaction as one of its own. `fmt` has one letter for each
 * parameter: i int64_t, u uint64_t, t struct writ_view as text, b struct writ_view as blob.
 */
WRIT_RESULT writ_disk_run(struct writ_disk *disk, enum writ_statement statement,
    struct writ_err *err, const char *fmt, ...);

/**
 * As writ_disk_run, but stops at the first row: *ret_row says whether there is one. Read columns
 * with writ_disk_int and the like, step with writ_disk_next, and always finish with writ_disk_end.
 */
WRIT_RESULT writ_disk_query(struct writ_disk *disk, enum writ_statement statement, bool *ret_row,
    struct writ_err *err, const char *fmt, ...);
/** Sends a query ahead (writ_sql_ask); read it with writ_disk_next, or only end it. */
WRIT_RESULT writ_disk_ask(struct writ_disk *disk, enum writ_statement statement,
    struct writ_err *err, const char *fmt, ...);
/** As writ_disk_query with REVIEW_RECORDS: the records of a call, or of a review, by its id. */
WRIT_RESULT writ_disk_records(
    struct writ_disk *disk, struct writ_view id, bool *ret_row, struct writ_err *err);
WRIT_RESULT writ_disk_next(
    struct writ_disk *disk, enum writ_statement statement, bool *ret_row, struct writ_err *err);
void writ_disk_end(struct writ_disk *disk, enum writ_statement statement);
int64_t writ_disk_int(struct writ_disk *disk, enum writ_statement statement, int column);
/** Text or blob, ptr NULL for NULL; borrowed until the statement is stepped or ended. */
struct writ_view writ_disk_bytes(struct writ_disk *disk, enum writ_statement statement, int column);
/** The rows that the last writ_disk_run changed. As writ_sql_changed. */
WRIT_RESULT writ_disk_changed(struct writ_disk *disk, uint64_t *ret, struct writ_err *err);

/** Finds the first of `n` records made at or after `since_us`, or `n` when there is none: times
 * grow with the index. A record that was removed counts as earlier. WRIT_E_MISMATCH when a record
 * is missing, WRIT_E_IO, WRIT_E_BUSY. */
WRIT_RESULT writ_disk_since(
    struct writ_disk *disk, uint64_t n, int64_t since_us, uint64_t *ret, struct writ_err *err);

/** Reads the time of a record, for writ_disk_search, by WRIT_DISK_TIME; *ret_there is false when it
 * is missing. */
typedef writ_result writ_disk_time_fn(
    void *ctx, uint64_t leaf, bool *ret_there, int64_t *ret_us, struct writ_err *err);

/** As writ_disk_since, for records whose times `time_of` reads. */
WRIT_RESULT writ_disk_search(writ_disk_time_fn *time_of, void *ctx, uint64_t n, int64_t since_us,
    uint64_t *ret, struct writ_err *err);

/** The first record of the log: 0, or the one after those that were removed. 0 without records.
 * WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. */
WRIT_RESULT writ_disk_first(struct writ_disk *disk, uint64_t *ret, struct writ_err *err);

/** Reads the columns of RECORDS_FROM or RECORD_AT in `statement`. WRIT_E_MISMATCH when a ledger
 * would not write them. Views are borrowed until the statement is stepped. */
WRIT_RESULT writ_disk_row(
    const struct writ_sql_statement *statement, struct writ_row *ret, struct writ_err *err);

#endif
