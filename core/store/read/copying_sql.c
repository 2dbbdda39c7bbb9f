/* copying_sql.c - statements on both ledgers of a copy, and transactions of the one that is
 * written. */
#include "store/read/copying.h"

#define US_PER_MS INT64_C(1000)
#define WAL_PAGES 16384 /* of a file: then the write-ahead log is copied */

static const char *const texts[WRIT_COPYING_ALL] = {
#define TEXT_OF(NAME, text) [WRIT_COPYING_##NAME] = (text),
    WRIT_COPY_STATEMENTS(TEXT_OF) WRIT_COPY_SHARED(TEXT_OF)
#undef TEXT_OF
};

WRIT_RESULT
writ_copying_prepare(struct writ_copying_side *side, struct writ_err *err)
{
    return writ_sql_prepare_all(side->sql, texts,
        side->shared ? WRIT_COPYING_ALL : WRIT_COPYING_EVERY, side->statements, err);
}

WRIT_RESULT
writ_copying_number(struct writ_copying_side *side, enum writ_copying_statement which, int64_t *ret,
    struct writ_err *err)
{
    bool row = false;
    writ_result result = writ_sql_step(side->statements[which], &row, err);

    *ret = writ_is_ok(result) && row ? writ_sql_int(side->statements[which], 0) : 0;
    writ_sql_reset(side->statements[which]);
    return result;
}

WRIT_RESULT
writ_copying_get_meta(struct writ_copying_side *side, struct writ_view name, struct writ_buf *ret,
    struct writ_err *err)
{
    struct writ_sql_statement *s = side->statements[WRIT_COPYING_META_GET];
    bool row = false;
    writ_result result;

    writ_buf_clear(ret);
    writ_sql_bind_text(s, 1, name);
    result = writ_sql_step(s, &row, err);
    if (writ_is_ok(result) && row) {
        writ_buf_put(ret, writ_sql_bytes(s, 0));
        result = writ_buf_check(ret, err);
    }
    writ_sql_reset(s);
    return result;
}

WRIT_RESULT
writ_copying_put_meta(struct writ_copying *c, struct writ_view name, struct writ_view value)
{
    struct writ_sql_statement *s = c->to.statements[WRIT_COPYING_META_PUT];

    writ_sql_bind_text(s, 1, name);
    writ_sql_bind_text(s, 2, value);
    return writ_sql_run(s, c->err);
}

/* No gateway may write the ledger meanwhile. */
WRIT_RESULT
writ_copying_check_live(struct writ_copying *c, struct writ_copying_side *side)
{
    struct writ_sql_statement *s = side->statements[WRIT_COPYING_LIVE];
    bool row = false;
    writ_result result;

    if (!side->shared) {
        return WRIT_DONE; /* its lock is held */
    }
    result = writ_sql_step(s, &row, c->err);
    if (writ_is_ok(result) && row) {
        result = writ_fail(c->err, WRIT_E_BUSY,
            "gateway " WRIT_VIEW_FMT " has the ledger of %s open: stop all of its gateways",
            WRIT_VIEW_ARG(writ_sql_bytes(s, 0)), side == &c->from ? "FROM" : "TO");
    }
    writ_sql_reset(s);
    return result;
}

WRIT_RESULT
writ_copying_begin(struct writ_copying *c)
{
    int64_t last = -1;

    WRIT_TRY(writ_disk_begin(&c->disk, c->err));
    if (c->to.shared) {
        WRIT_TRY(writ_disk_run(
            &c->disk, WRIT_SQL_TURN_LOCK, c->err, "i", WRIT_COPYING_WAIT_US / US_PER_MS));
        WRIT_TRY(writ_copying_check_live(c, &c->to));
    }
    if (c->at > c->first) { /* before that the copy has no records, and its heads have keys */
        WRIT_TRY(writ_copying_number(&c->to, WRIT_COPYING_RECORD_LAST, &last, c->err));
        if ((uint64_t)last + 1 != c->at) { /* keeps (3) of copying.c */
            WRIT_FAIL(c->err, WRIT_E_BUSY, "another program writes the copy");
        }
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_copying_finish(struct writ_copying *c, writ_result result)
{
    WRIT_TRY(writ_disk_finish(&c->disk, result, c->err));
    if (!c->to.shared && c->disk.wal_pages > WAL_PAGES) {
        WRIT_TRY(writ_disk_copy_wal(&c->disk, c->err));
    }
    return WRIT_DONE;
}
