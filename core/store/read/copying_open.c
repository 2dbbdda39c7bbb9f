/* copying_open.c - opens both ledgers of a copy, and makes the one that is not there. */
#include "store/read/copying.h"

#include "store/disk/disk_postgres.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define NEW ".new" /* the name of a file until it is a ledger */

/* ---- the source ---- */

WRIT_RESULT
writ_copying_read_changes(struct writ_copying *c, int64_t *ret)
{
    struct writ_sql_statement *s = c->from.statements[WRIT_COPYING_META_GET];
    bool row = false;
    writ_result result;

    if (c->from.shared) {
        return writ_copying_number(&c->from, WRIT_COPYING_CHANGES, ret, c->err);
    }
    writ_sql_bind_text(s, 1, WRIT_LIT("probe"));
    result = writ_sql_step(s, &row, c->err);
    *ret = writ_is_ok(result) && row ? writ_sql_int(s, 0) : 0;
    writ_sql_reset(s);
    return result;
}

static WRIT_RESULT
read_size(struct writ_copying *c)
{
    struct writ_sql_statement *s = c->from.statements[WRIT_COPYING_RECORD_LAST];
    int64_t first = 0;
    bool row = false;
    writ_result result = writ_sql_step(s, &row, c->err);

    if (writ_is_ok(result) && row) {
        c->size = (uint64_t)writ_sql_int(s, 0) + 1;
        c->edge_us = writ_sql_int(s, 1);
    }
    writ_sql_reset(s);
    WRIT_TRY(result);
    WRIT_TRY(writ_copying_number(&c->from, WRIT_COPYING_FIRST, &first, c->err));
    c->first = (uint64_t)first;
    return WRIT_DONE;
}

static WRIT_RESULT
lock_file(struct writ_copying_side *side, struct writ_err *err)
{
    WRIT_TRY(writ_file_check(&side->file, err));
    return writ_file_lock(&side->file, err);
}

WRIT_RESULT
writ_copying_open_from(struct writ_copying *c)
{
    writ_auto_buf copying = writ_buf_make(WRIT_COPYING_TEXT_MAX);

    if (!c->from.shared) {
        WRIT_TRY(writ_file_name(c->from.path, &c->from.file, c->err));
        WRIT_TRY(lock_file(&c->from, c->err));
    }
    WRIT_TRY(writ_disk_connect(c->from.path, true, WRIT_COPYING_WAIT_US, &c->from.sql, c->err));
    WRIT_TRY(writ_copying_prepare(&c->from, c->err));
    WRIT_TRY(writ_copying_check_live(c, &c->from));
    WRIT_TRY(writ_sql_begin(c->from.sql, WRIT_SQL_READ, c->err)); /* keeps (2) of copying.c */
    WRIT_TRY(writ_copying_get_meta(&c->from, WRIT_LIT("copying"), &copying, c->err));
    if (copying.len > 0) {
        WRIT_FAIL(c->err, WRIT_E_INVALID, "%s is a copy that is not complete", c->from.path);
    }
    WRIT_TRY(writ_copying_get_meta(&c->from, WRIT_LIT("ledger"), &c->id, c->err));
    WRIT_TRY(read_size(c));
    WRIT_TRY(writ_copying_read_changes(c, &c->changes));
    writ_buf_put(&c->state, writ_buf_view(&c->id));
    writ_buf_fmt(&c->state, " %llu %lld", (unsigned long long)c->size, (long long)c->changes);
    return writ_buf_check(&c->state, c->err);
}

/* ---- the copy: made and opened ---- */

/* The file gets its name when it is a ledger. */
static WRIT_RESULT
make_file(struct writ_copying *c)
{
    WRIT_AUTO(struct writ_file, writ_file_wipe) made = {0};
    writ_auto_buf name = writ_buf_make(WRIT_FILE_PATH_MAX + sizeof NEW);
    writ_result result;

    WRIT_TRY(writ_file_check_new(&c->to.file, c->err));
    writ_buf_str(&name, c->to.path);
    writ_buf_put(&name, writ_view(NEW, sizeof NEW)); /* with its NUL */
    WRIT_TRY(writ_buf_check(&name, c->err));
    WRIT_TRY(writ_file_name(name.ptr, &made, c->err));
    writ_file_remove(&made); /* of a run that was killed */
    WRIT_TRY(writ_file_make(&made, c->err));
    result = writ_disk_create(name.ptr, writ_view("", 0), c->copy->clock, c->err);
    if (writ_is_ok(result) &&
        renameat2(AT_FDCWD, name.ptr, AT_FDCWD, c->to.path, RENAME_NOREPLACE) != 0) {
        result = writ_fail(c->err, errno == EEXIST ? WRIT_E_INVALID : WRIT_E_IO,
            "%s cannot be created (%s)", c->to.path, strerrordesc_np(errno));
    }
    if (!writ_is_ok(result)) {
        writ_file_remove(&made);
        return result;
    }
    return writ_file_settle(&c->to.file, c->err);
}

static WRIT_RESULT
open_file(struct writ_copying *c)
{
    writ_result result;

    WRIT_TRY(writ_file_name(c->to.path, &c->to.file, c->err));
    result = writ_file_check(&c->to.file, c->err);
    if (result.code == WRIT_E_ABSENT) {
        result = make_file(c);
    }
    WRIT_TRY(result);
    WRIT_TRY(lock_file(&c->to, c->err));
    return writ_disk_open(c->to.path, WRIT_COPYING_WAIT_US, &c->disk, c->err);
}

static WRIT_RESULT
open_server(struct writ_copying *c)
{
    bool has = false;

    WRIT_TRY(writ_disk_postgres_has(c->to.path, &has, c->err));
    if (!has) {
        WRIT_TRY(writ_disk_postgres_create(
            c->to.path, writ_view("", 0), c->copy->role, c->copy->clock, c->err));
    } else if (c->copy->role.len > 0) {
        WRIT_TRY(writ_disk_postgres_grant(c->to.path, c->copy->role, c->err));
    }
    WRIT_TRY(writ_disk_open(c->to.path, WRIT_COPYING_WAIT_US, &c->disk, c->err));
    WRIT_TRY(writ_disk_postgres_durable(c->disk.sql, true, c->err));
    return writ_disk_postgres_name(c->disk.sql, 0, 1, c->err); /* the epoch of `copy` */
}

WRIT_RESULT
writ_copying_open_to(struct writ_copying *c)
{
    if (c->to.shared) {
        WRIT_TRY(open_server(c));
    } else if (c->copy->role.len > 0) {
        WRIT_FAIL(c->err, WRIT_E_INVALID, "--role is for a ledger on PostgreSQL");
    } else {
        WRIT_TRY(open_file(c));
    }
    c->to.sql = c->disk.sql;
    return writ_copying_prepare(&c->to, c->err);
}
