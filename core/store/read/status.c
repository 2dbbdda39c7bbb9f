/* All of it is of one state of the database. Whether a file is open for writing is read from the
 * list of the kernel's locks: taking the lock, for whatever short time, would refuse a gateway that
 * starts then. */
#include "store/read/status.h"

#include "base/text.h"
#include "store/disk/disk.h"
#include "store/disk/file.h"
#include "store/disk/heads.h"
#include "store/read/status.tbl.h"
#include "store/sql/sql_uri.h"

#include <sys/stat.h>

#define ARENA (16 << 20)

enum statement {
#define STATUS_ENUM(NAME, text) SQL_##NAME,
    WRIT_STATUS_STATEMENTS(STATUS_ENUM) SQL_EVERY,
    SQL_EVERY_LAST = SQL_EVERY - 1,
    WRIT_STATUS_SHARED(STATUS_ENUM) SQL_ALL
#undef STATUS_ENUM
};

static const char *const texts[SQL_ALL] = {
#define STATUS_TEXT(NAME, text) [SQL_##NAME] = (text),
    WRIT_STATUS_STATEMENTS(STATUS_TEXT) WRIT_STATUS_SHARED(STATUS_TEXT)
#undef STATUS_TEXT
};

struct reading {
    struct writ_status *status;
    struct writ_sql *sql;
    struct writ_sql_statement *statements[SQL_ALL];
    struct writ_err *err;
};

static WRIT_RESULT
number(struct reading *r, enum statement which, int64_t *ret)
{
    bool row = false;
    writ_result result = writ_sql_step(r->statements[which], &row, r->err);

    *ret = writ_is_ok(result) && row ? writ_sql_int(r->statements[which], 0) : 0;
    writ_sql_reset(r->statements[which]);
    return result;
}

/* A text of the row that the statement stands at; ptr NULL for NULL. */
static WRIT_RESULT
text(struct reading *r, enum statement which, int column, struct writ_view *ret)
{
    struct writ_view value = writ_sql_bytes(r->statements[which], column);

    if (value.ptr == NULL) {
        *ret = writ_view(NULL, 0);
        return WRIT_DONE;
    }
    *ret = writ_view_copy(value, r->status->arena);
    if (ret->ptr == NULL) {
        WRIT_FAIL(r->err, WRIT_E_NOMEM, "no memory for the status");
    }
    return WRIT_DONE;
}

/* ---- the log ---- */

static writ_result
time_of(void *ctx, uint64_t leaf, bool *ret_there, int64_t *ret_us, struct writ_err *err)
{
    struct reading *r = ctx;
    struct writ_sql_statement *s = r->statements[SQL_TIME];
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

static WRIT_RESULT
read_log(struct reading *r)
{
    struct writ_status *status = r->status;
    struct writ_sql_statement *s = r->statements[SQL_LAST];
    uint64_t since = 0;
    bool row = false;
    writ_result result = writ_sql_step(s, &row, r->err);

    if (writ_is_ok(result) && row) {
        status->records = (uint64_t)writ_sql_int(s, 0) + 1;
        status->last_us = writ_sql_int(s, 1);
    }
    writ_sql_reset(s);
    WRIT_TRY(result);
    WRIT_TRY(writ_disk_search(
        time_of, r, status->records, status->now_us - WRIT_STATUS_RECENT_US, &since, r->err));
    status->recent = status->records - since;
    return WRIT_DONE;
}

static WRIT_RESULT
read_checkpoint(struct reading *r, struct writ_heads *heads, const struct writ_heads_trust *trust)
{
    struct writ_status *status = r->status;
    struct writ_checkpoint checkpoint = {0};
    struct writ_head head = {0};
    writ_result result = writ_heads_last(heads, status->arena, &head, r->err);

    if (result.code == WRIT_E_ABSENT) {
        return WRIT_DONE;
    }
    WRIT_TRY(result);
    WRIT_TRY(writ_heads_believe(trust, head.note, false, &checkpoint, r->err));
    status->has_checkpoint = true;
    status->checkpoint_size = checkpoint.size;
    status->root = checkpoint.root;
    return WRIT_DONE;
}

static WRIT_RESULT
read_head(struct reading *r)
{
    WRIT_AUTO(struct writ_heads_trust, writ_heads_trust_wipe) trust = {0};
    struct writ_heads heads = {0};
    writ_result result;

    WRIT_TRY(writ_heads_trust(r->sql, NULL, &trust, r->err));
    r->status->origin = writ_view_copy(writ_buf_view(&trust.origin), r->status->arena);
    if (r->status->origin.ptr == NULL) {
        WRIT_FAIL(r->err, WRIT_E_NOMEM, "no memory for the status");
    }
    WRIT_TRY(writ_heads_open(r->sql, &heads, r->err));
    result = read_checkpoint(r, &heads, &trust);
    writ_heads_close(&heads);
    return result;
}

/* ---- a server ---- */

static WRIT_RESULT
take_gateway(struct reading *r, struct writ_status_gateway *gateway)
{
    struct writ_sql_statement *s = r->statements[SQL_GATEWAYS];

    gateway->epoch = (uint64_t)writ_sql_int(s, 0);
    gateway->started_us = writ_sql_int(s, 2);
    gateway->lease_us = writ_sql_int(s, 3);
    gateway->turns = (uint64_t)writ_sql_int(s, 4);
    gateway->life = writ_sql_int(s, 1) != 1                  ? WRIT_STATUS_ENDED
                    : gateway->lease_us >= r->status->now_us ? WRIT_STATUS_LIVE
                                                             : WRIT_STATUS_LATE;
    WRIT_TRY(text(r, SQL_GATEWAYS, 5, &gateway->name));
    WRIT_TRY(text(r, SQL_GATEWAYS, 6, &gateway->version));
    return text(r, SQL_GATEWAYS, 7, &gateway->policy);
}

static WRIT_RESULT
take_standby(struct reading *r, struct writ_status_standby *standby)
{
    struct writ_sql_statement *s = r->statements[SQL_STANDBYS];

    standby->has_bytes = !writ_sql_is_null(s, 0);
    standby->lag_bytes = writ_sql_int(s, 0);
    standby->has_time = !writ_sql_is_null(s, 1);
    standby->lag_us = writ_sql_int(s, 1);
    WRIT_TRY(text(r, SQL_STANDBYS, 2, &standby->name));
    WRIT_TRY(text(r, SQL_STANDBYS, 3, &standby->state));
    return text(r, SQL_STANDBYS, 4, &standby->sync_state);
}

static WRIT_RESULT
take_row(struct reading *r, enum statement which)
{
    struct writ_status *status = r->status;

    return which == SQL_GATEWAYS ? take_gateway(r, &status->gateways[status->gateways_n++])
                                 : take_standby(r, &status->standbys[status->standbys_n++]);
}

/* The rows of GATEWAYS or STANDBYS; both have a LIMIT. */
static WRIT_RESULT
take_rows(struct reading *r, enum statement which)
{
    bool row = false;
    writ_result result = writ_sql_step(r->statements[which], &row, r->err);

    while (writ_is_ok(result) && row) {
        result = take_row(r, which);
        if (writ_is_ok(result)) {
            result = writ_sql_step(r->statements[which], &row, r->err);
        }
    }
    writ_sql_reset(r->statements[which]);
    return result;
}

static WRIT_RESULT
take_server(struct reading *r)
{
    struct writ_status *status = r->status;

    status->recovery = writ_sql_int(r->statements[SQL_SERVER], 0) != 0;
    WRIT_TRY(text(r, SQL_SERVER, 1, &status->server));
    WRIT_TRY(text(r, SQL_SERVER, 2, &status->fsync));
    WRIT_TRY(text(r, SQL_SERVER, 3, &status->synchronous_commit));
    return text(r, SQL_SERVER, 4, &status->standby_names);
}

static WRIT_RESULT
read_server(struct reading *r)
{
    bool row = false;
    writ_result result = writ_sql_step(r->statements[SQL_SERVER], &row, r->err);

    if (writ_is_ok(result) && row) {
        result = take_server(r);
    }
    writ_sql_reset(r->statements[SQL_SERVER]);
    return result;
}

static WRIT_RESULT
read_shared(struct reading *r)
{
    struct writ_status *status = r->status;
    int64_t bytes = 0;

    status->gateways =
        writ_arena_zeroed(status->arena, WRIT_STATUS_GATEWAYS_MAX * sizeof *status->gateways);
    status->standbys =
        writ_arena_zeroed(status->arena, WRIT_STATUS_GATEWAYS_MAX * sizeof *status->standbys);
    if (status->gateways == NULL || status->standbys == NULL) {
        WRIT_FAIL(r->err, WRIT_E_NOMEM, "no memory for the status");
    }
    WRIT_TRY(number(r, SQL_BYTES, &bytes));
    WRIT_TRY(take_rows(r, SQL_GATEWAYS));
    WRIT_TRY(take_rows(r, SQL_STANDBYS));
    WRIT_TRY(read_server(r));
    status->bytes = (uint64_t)bytes;
    status->version = WRIT_POSTGRES_VERSION; /* no other one can be connected to */
    return WRIT_DONE;
}

/* ---- a file ---- */

static WRIT_RESULT
read_file(struct reading *r, const char *path)
{
    WRIT_AUTO(struct writ_file, writ_file_wipe) file = {0};
    const enum writ_file_part parts[] = {WRIT_FILE_DATABASE, WRIT_FILE_WAL};

    WRIT_TRY(writ_file_name(path, &file, r->err));
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        struct stat status;

        if (stat(writ_file_path(&file, parts[i]), &status) == 0) {
            r->status->bytes += (uint64_t)status.st_size;
        }
    }
    r->status->is_open = writ_file_is_locked(&file);
    r->status->version = WRIT_DISK_VERSION; /* no other one can be opened */
    return WRIT_DONE;
}

/* ---- all of it ---- */

static WRIT_RESULT
read_all(struct reading *r, const char *path, const struct writ_clock *clock)
{
    struct writ_status *status = r->status;
    int64_t copying = 0;

    WRIT_TRY(writ_disk_connect_reader(path, &r->sql, r->err));
    WRIT_TRY(writ_sql_prepare_all(
        r->sql, texts, status->shared ? SQL_ALL : SQL_EVERY, r->statements, r->err));
    WRIT_TRY(writ_sql_begin(r->sql, WRIT_SQL_READ, r->err));
    status->now_us = writ_clock_wall_us(clock);
    if (status->shared) {
        WRIT_TRY(number(r, SQL_NOW, &status->now_us));
    }
    WRIT_TRY(number(r, SQL_COPYING, &copying));
    status->copying = copying != 0;
    WRIT_TRY(read_log(r));
    WRIT_TRY(read_head(r));
    return status->shared ? read_shared(r) : read_file(r, path);
}

WRIT_RESULT
writ_status_read(
    const char *path, const struct writ_clock *clock, struct writ_status *ret, struct writ_err *err)
{
    struct reading r = {.status = ret, .err = err};
    writ_result result;

    ret->shared = writ_sql_is_uri(writ_view_str(path));
    ret->arena = writ_arena_new(ARENA);
    if (ret->arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the status");
    }
    result = read_all(&r, path, clock);
    writ_sql_finalize_all(r.statements, SQL_ALL);
    writ_sql_close(r.sql);
    return result;
}

void
writ_status_wipe(struct writ_status *status)
{
    writ_arena_free(status->arena);
    *status = (struct writ_status){0};
}
