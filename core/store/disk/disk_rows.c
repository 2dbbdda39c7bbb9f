/* disk_rows.c - the rows of records, with their claims and bodies: appended, read, and found by
 * time. It is its own file because only it knows the columns, whose numbers and kinds are on disk
 * and must not change. */
#include "store/disk/disk.h"

#include "evidence/record/decision.h"
#include "evidence/record/outcome.h"
#include "store/disk/disk_parts.h"

#define LINES_SOFT (16 << 10) /* bytes of bodies in a row that may take another body */
#define LINES_PAGE 8100       /* what fits into a page of PostgreSQL with its row */

/* these numbers are on disk */
_Static_assert(WRIT_DECISION_DENY == 0 && WRIT_DECISION_ALLOW == 1 &&
                   WRIT_DECISION_REQUIRE_APPROVAL == 2 && WRIT_DECISION_REVISE == 3,
    "record.verdict of decisions");
_Static_assert(WRIT_OUTCOME_ERROR == 0 && WRIT_OUTCOME_EXECUTED == 1 && WRIT_OUTCOME_BLOCKED == 2 &&
                   WRIT_OUTCOME_TIMEOUT == 3,
    "record.verdict of outcomes");

/* ---- appending records ---- */

#define ROW_NUMBERS 7 /* the first columns of a record, which always have a value */

static void
numbers_of(const struct writ_row *row, int64_t ret[ROW_NUMBERS])
{
    const int64_t numbers[ROW_NUMBERS] = {(int64_t)row->leaf, (int64_t)row->kind,
        (int64_t)row->boundary, (int64_t)row->seq, row->time_us, row->verdict, (int64_t)row->flags};

    for (size_t i = 0; i < ROW_NUMBERS; i++) {
        ret[i] = numbers[i];
    }
}

static bool
has_about(const struct writ_row *row)
{
    return row->kind == WRIT_ROW_OUTCOME || (row->flags & WRIT_ROW_FOLLOWS) != 0;
}

static void
bind_row(struct writ_sql_statement *statement, int at, const struct writ_row *row)
{
    int64_t numbers[ROW_NUMBERS];

    numbers_of(row, numbers);
    for (size_t i = 0; i < ROW_NUMBERS; i++) {
        writ_sql_bind_int(statement, at++, numbers[i]);
    }
    if (has_about(row)) {
        writ_sql_bind_int(statement, at, (int64_t)row->about);
    } /* else it stays NULL */
    at++;
    writ_sql_bind_text_or_null(statement, at++, row->decision_id);
    writ_sql_bind_text_or_null(statement, at++, row->agent_id);
    writ_sql_bind_text_or_null(statement, at++, row->tool);
    if (row->claim != NULL) {
        writ_sql_bind_blob(statement, at, writ_view(row->claim, WRIT_DISK_CLAIM_BYTES));
    }
}

static WRIT_RESULT
append(struct writ_disk *disk, enum writ_statement which, const struct writ_row *const *rows,
    size_t n, struct writ_err *err)
{
    WRIT_TRY(writ_disk_parts_check(disk, err));
    for (size_t i = 0; i < n; i++) {
        bind_row(disk->statements[which], 1 + (int)i * WRIT_DISK_COLUMNS, rows[i]);
    }
    return writ_disk_parts_note(disk, writ_sql_run(disk->statements[which], err));
}

/* ---- many rows in one statement ---- */

static void
begin_columns(struct writ_disk *disk, const char *types)
{
    for (size_t i = 0; types[i] != '\0'; i++) {
        writ_sql_array_begin(
            &disk->columns[i], types[i] == 'i' ? WRIT_SQL_ARRAY_INT : WRIT_SQL_ARRAY_BYTES);
    }
}

/* The first parameters of the statement are the columns. */
static WRIT_RESULT
bind_columns(struct writ_disk *disk, enum writ_statement statement, size_t n, struct writ_err *err)
{
    for (size_t i = 0; i < n; i++) {
        WRIT_TRY(writ_sql_array_end(&disk->columns[i], err));
        writ_sql_bind_blob(
            disk->statements[statement], (int)i + 1, writ_buf_view(&disk->columns[i].bytes));
    }
    return WRIT_DONE;
}

static void
add_row(struct writ_disk *disk, const struct writ_row *row)
{
    const struct writ_view claim = {(const char *)row->claim, WRIT_DISK_CLAIM_BYTES};
    struct writ_sql_array *column = disk->columns;
    int64_t numbers[ROW_NUMBERS];

    numbers_of(row, numbers);
    for (size_t i = 0; i < ROW_NUMBERS; i++) {
        writ_sql_array_int(column++, numbers[i]);
    }
    if (has_about(row)) {
        writ_sql_array_int(column++, (int64_t)row->about);
    } else {
        writ_sql_array_null(column++);
    }
    writ_sql_array_bytes(column++, row->decision_id);
    writ_sql_array_bytes(column++, row->agent_id);
    writ_sql_array_bytes(column++, row->tool);
    writ_sql_array_bytes(column, claim);
}

static WRIT_RESULT
append_shared(
    struct writ_disk *disk, const struct writ_row *const *rows, size_t n, struct writ_err *err)
{
    WRIT_TRY(writ_disk_parts_check(disk, err));
    begin_columns(disk, "iiiiiiiibbbb");
    for (size_t i = 0; i < n; i++) {
        add_row(disk, rows[i]);
    }
    WRIT_TRY(bind_columns(disk, WRIT_SQL_APPEND_RECORDS, WRIT_DISK_COLUMNS, err));
    return writ_disk_parts_note(disk, writ_sql_run(disk->statements[WRIT_SQL_APPEND_RECORDS], err));
}

WRIT_RESULT
writ_disk_append(
    struct writ_disk *disk, const struct writ_row *const *rows, size_t n, struct writ_err *err)
{
    if (writ_disk_is_shared(disk)) {
        return append_shared(disk, rows, n, err);
    }
    for (; n >= WRIT_DISK_ROWS; n -= WRIT_DISK_ROWS, rows += WRIT_DISK_ROWS) {
        WRIT_TRY(append(disk, WRIT_SQL_APPEND_RECORDS, rows, WRIT_DISK_ROWS, err));
    }
    for (; n > 0; n--, rows++) {
        WRIT_TRY(append(disk, WRIT_SQL_APPEND_RECORD, rows, 1, err));
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_disk_claim(struct writ_disk *disk, const struct writ_disk_claim *claims, size_t n,
    int64_t now_us, struct writ_err *err)
{
    enum { CLAIM_COLUMNS = 4 };

    WRIT_TRY(writ_disk_parts_check(disk, err));
    begin_columns(disk, "biii");
    for (size_t i = 0; i < n; i++) {
        writ_sql_array_bytes(
            &disk->columns[0], writ_view((const char *)claims[i].key, WRIT_DISK_KEY_BYTES));
        writ_sql_array_int(&disk->columns[1], (int64_t)claims[i].leaf);
        writ_sql_array_int(&disk->columns[2], (int64_t)claims[i].boundary);
        writ_sql_array_int(&disk->columns[3], claims[i].until_us);
    }
    WRIT_TRY(bind_columns(disk, WRIT_SQL_CLAIMS_PUT, CLAIM_COLUMNS, err));
    writ_sql_bind_int(disk->statements[WRIT_SQL_CLAIMS_PUT], CLAIM_COLUMNS + 1, now_us);
    return writ_disk_parts_note(disk, writ_sql_run(disk->statements[WRIT_SQL_CLAIMS_PUT], err));
}

/* ---- bodies ---- */

bool
writ_disk_takes_body(const struct writ_disk *disk, size_t bytes, size_t body)
{
    return writ_disk_is_shared(disk) ? bytes + 1 + body <= LINES_PAGE : bytes < LINES_SOFT;
}

WRIT_RESULT
writ_disk_append_bodies(
    struct writ_disk *disk, uint64_t leaf, struct writ_view lines, struct writ_err *err)
{
    return writ_disk_run(disk, WRIT_SQL_APPEND_BODY, err, "ub", leaf, lines);
}

/* ---- reading ---- */

WRIT_RESULT
writ_disk_row(
    const struct writ_sql_statement *statement, struct writ_row *ret, struct writ_err *err)
{
    struct writ_row row = {
        .leaf = (uint64_t)writ_sql_int(statement, 0),
        .boundary = (uint64_t)writ_sql_int(statement, 2),
        .seq = (uint64_t)writ_sql_int(statement, 3),
        .time_us = writ_sql_int(statement, 4),
        .verdict = (int)writ_sql_int(statement, 5),
        .flags = (unsigned)writ_sql_int(statement, 6),
        .about = (uint64_t)writ_sql_int(statement, 7),
        .decision_id = writ_sql_bytes(statement, 8),
        .agent_id = writ_sql_bytes(statement, 9),
        .tool = writ_sql_bytes(statement, 10),
    };
    struct writ_view claim = writ_sql_bytes(statement, 11);
    int64_t kind = writ_sql_int(statement, 1);

    if (kind < WRIT_ROW_DECISION || kind > WRIT_ROW_FACT ||
        (claim.len != 0 && claim.len != WRIT_DISK_CLAIM_BYTES) || row.verdict < 0 ||
        row.verdict > 3) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "record %llu is not one that a ledger writes",
            (unsigned long long)row.leaf);
    }
    row.kind = (enum writ_row_kind)kind;
    row.claim = claim.len == 0 ? NULL : (const uint8_t *)claim.ptr;
    *ret = row;
    return WRIT_DONE;
}

WRIT_RESULT
writ_disk_search(writ_disk_time_fn *time_of, void *ctx, uint64_t n, int64_t since_us, uint64_t *ret,
    struct writ_err *err)
{
    uint64_t low = 0, high = n;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        bool there = false;
        int64_t time_us = 0;

        WRIT_TRY(time_of(ctx, middle, &there, &time_us, err));
        if (!there) {
            WRIT_FAIL(err, WRIT_E_MISMATCH, "record %llu is missing: see `writ ledger verify`",
                (unsigned long long)middle);
        }
        if (time_us < since_us) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *ret = low;
    return WRIT_DONE;
}

static writ_result
time_of_record(void *ctx, uint64_t leaf, bool *ret_there, int64_t *ret_us, struct writ_err *err)
{
    struct writ_disk *disk = ctx;
    writ_result result = writ_disk_query(disk, WRIT_SQL_TIME_AT, ret_there, err, "u", leaf);

    if (writ_is_ok(result) && *ret_there) {
        *ret_there = !writ_sql_is_null(disk->statements[WRIT_SQL_TIME_AT], 0);
        *ret_us = writ_disk_int(disk, WRIT_SQL_TIME_AT, 0);
    }
    writ_disk_end(disk, WRIT_SQL_TIME_AT);
    return result;
}

WRIT_RESULT
writ_disk_since(
    struct writ_disk *disk, uint64_t n, int64_t since_us, uint64_t *ret, struct writ_err *err)
{
    return writ_disk_search(time_of_record, disk, n, since_us, ret, err);
}

WRIT_RESULT
writ_disk_first(struct writ_disk *disk, uint64_t *ret, struct writ_err *err)
{
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_FIRST, &row, err, "");

    if (writ_is_ok(result)) {
        *ret = row ? (uint64_t)writ_disk_int(disk, WRIT_SQL_FIRST, 0) : 0;
    }
    writ_disk_end(disk, WRIT_SQL_FIRST);
    return result;
}
