/* Opens and closes a reader, and answers what is not about records: the extent of the ledger, a
 * session, the other gateways. Each other kind of answer has a file of its own. */
#include "store/read/reader.h"

#include "store/read/column.h"
#include "store/read/reader_parts.h"
#include "store/sql/sql_postgres.h"

/* ---- opening ---- */

static const char *const texts[WRIT_READER_SQL_COUNT] = {
#define READER_TEXT(NAME, text) [WRIT_READER_SQL_##NAME] = (text),
    WRIT_READER_STATEMENTS(READER_TEXT)
#undef READER_TEXT
};

/* Opens the ledger at `path`, or with `order` a ledger together with its archive. */
static WRIT_RESULT
open_reader(const char *path, const struct writ_joined_order *order, struct writ_reader **ret,
    struct writ_err *err)
{
    writ_auto_reader reader = writ_alloc(sizeof *reader);

    if (reader == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to open the ledger");
    }
    WRIT_TRY(order == NULL ? writ_disk_connect_reader(path, &reader->sql, err)
                           : writ_joined_connect(order, &reader->sql, err));
    WRIT_TRY(
        writ_sql_prepare_all(reader->sql, texts, WRIT_READER_SQL_COUNT, reader->statements, err));
    *ret = WRIT_TAKE(reader);
    return WRIT_DONE;
}

WRIT_RESULT
writ_reader_open(const char *path, struct writ_reader **ret, struct writ_err *err)
{
    return open_reader(path, NULL, ret, err);
}

WRIT_RESULT
writ_reader_open_joined(
    const struct writ_joined_order *order, struct writ_reader **ret, struct writ_err *err)
{
    return open_reader(NULL, order, ret, err);
}

void
writ_reader_close(struct writ_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    writ_sql_finalize_all(reader->statements, WRIT_READER_SQL_COUNT);
    writ_span_wipe(&reader->span);
    writ_sql_close(reader->sql);
    writ_free(reader);
}

/* ---- extent ---- */

static writ_result
time_at(void *ctx, uint64_t leaf, bool *ret_there, int64_t *ret_us, struct writ_err *err)
{
    struct writ_reader *reader = ctx;
    struct writ_sql_statement *s = reader->statements[WRIT_READER_SQL_TIME];
    writ_result result;

    writ_sql_bind_int(s, 1, (int64_t)leaf);
    result = writ_sql_step(s, ret_there, err);
    if (writ_is_ok(result) && *ret_there) {
        *ret_there = !writ_sql_is_null(s, 0);
        *ret_us = writ_sql_int(s, 0);
    }
    writ_sql_reset(s);
    return result;
}

WRIT_RESULT
writ_reader_extent(struct writ_reader *reader, int64_t since_us, struct writ_reader_extent *ret,
    struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[WRIT_READER_SQL_EDGE];
    struct writ_reader_extent extent = {0};
    bool row = false;
    uint64_t first = 0;
    writ_result result = writ_sql_step(s, &row, err);

    if (writ_is_ok(result) && row) {
        extent.records = (uint64_t)writ_sql_int(s, 0) + 1;
        extent.last_us = writ_sql_int(s, 1);
    }
    writ_sql_reset(s);
    WRIT_TRY(result);
    if (since_us != 0) {
        WRIT_TRY(writ_disk_search(time_at, reader, extent.records, since_us, &first, err));
    }
    extent.recent = extent.records - first;
    *ret = extent;
    return WRIT_DONE;
}

/* ---- sessions ---- */

WRIT_RESULT
writ_reader_session(struct writ_reader *reader, const struct writ_digest *hash,
    struct writ_arena *arena, struct writ_view *ret_value, int64_t *ret_expires_us,
    struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[WRIT_READER_SQL_SESSION];
    struct writ_view value = {NULL, 0};
    int64_t expires_us = 0;
    bool row = false;
    writ_result result;

    writ_sql_bind_blob(s, 1, writ_view(hash->bytes, WRIT_DIGEST_BYTES));
    result = writ_sql_step(s, &row, err);
    if (writ_is_ok(result) && row) {
        value = writ_view_copy(writ_column_bytes(s, 0), arena);
        expires_us = writ_sql_int(s, 1);
    }
    writ_sql_reset(s);
    WRIT_TRY(result);
    if (!row) {
        return (writ_result){WRIT_E_ABSENT};
    }
    if (value.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a session");
    }
    *ret_value = value;
    *ret_expires_us = expires_us;
    return WRIT_DONE;
}

/* ---- other gateways ---- */

/* Only a shared ledger has the table. */
#define UNHEARD_SQL                                                                                \
    WRIT_SQL_MANY                                                                                  \
    "SELECT name FROM gateway WHERE state = 1 AND seen <= ?1 AND epoch <> ?2 "                     \
    "AND lease_us > CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) "              \
    "ORDER BY epoch"

static void
finalizep(struct writ_sql_statement **statement)
{
    writ_sql_finalize(*statement);
}

static WRIT_RESULT
each_unheard(struct writ_sql_statement *statement, bool (*each)(void *ctx, struct writ_view),
    void *ctx, struct writ_err *err)
{
    bool row = true, more = true;

    while (row && more) {
        WRIT_TRY(writ_sql_step(statement, &row, err));
        more = !row || each(ctx, writ_column_bytes(statement, 0));
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_reader_unheard(struct writ_reader *reader, uint64_t leaf, uint64_t but_epoch,
    bool (*each)(void *ctx, struct writ_view gateway), void *ctx, struct writ_err *err)
{
    WRIT_AUTO(struct writ_sql_statement *, finalizep) statement = NULL;
    writ_result result;

    if (!writ_sql_is_postgres(reader->sql)) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_sql_prepare(reader->sql, UNHEARD_SQL, &statement, err));
    writ_sql_bind_int(statement, 1, (int64_t)leaf);
    writ_sql_bind_int(statement, 2, (int64_t)but_epoch);
    result = each_unheard(statement, each, ctx, err);
    writ_sql_reset(statement);
    return result;
}
