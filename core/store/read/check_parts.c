/* Compares what a record states with its columns, and finds other records that it is about. The
 * checks of all kinds of records need this. */
#include "store/read/check_parts.h"

#include "store/tables/body.h"

/* ---- the record and its columns ---- */

WRIT_RESULT
writ_check_parts_readable(struct writ_check *v, writ_result result, bool *ret)
{
    if (result.code == WRIT_E_NOMEM) {
        WRIT_FAIL(
            v->err, WRIT_E_NOMEM, "no memory for record %llu", (unsigned long long)v->row.leaf);
    }
    *ret = writ_is_ok(result);
    return WRIT_DONE;
}

WRIT_RESULT
writ_check_parts_writable(struct writ_check *v, writ_result said, bool *ret)
{
    if (said.code != WRIT_E_MISMATCH) {
        WRIT_TRY(said);
    }
    *ret = writ_is_ok(said);
    writ_check_expect(v, *ret, "a ledger does not write such a record");
    return WRIT_DONE;
}

WRIT_RESULT
writ_check_parts_found(struct writ_check *v, enum writ_check_statement which, const char *what)
{
    struct writ_sql_statement *s = v->statements[which];
    bool row = false;
    writ_result result = writ_check_next(v, which, &row, v->err);

    if (writ_is_ok(result)) {
        writ_check_expect(v, row && writ_sql_int(s, 0) == 1, what);
    }
    writ_sql_reset(s);
    return result;
}

void
writ_check_parts_expect_no_faults(struct writ_check *v, const struct writ_faults *faults)
{
    writ_auto_buf text = writ_buf_make(WRIT_ERR_TEXT);

    if (faults->count > 0) {
        writ_faults_put(faults, &text);
        writ_check_problem(v, v->row.leaf, WRIT_VIEW_FMT, WRIT_VIEW_ARG(writ_buf_view(&text)));
    }
}

bool
writ_check_parts_same_text(const struct writ_member_text *member, struct writ_view text)
{
    return member->is == WRIT_PRESENT ? writ_view_equal(member->view, text) : text.len == 0;
}

bool
writ_check_parts_same_time(const struct writ_member_text *member, int64_t time_us)
{
    int64_t read_us = 0;

    return member->is == WRIT_PRESENT && writ_member_time(member->view, &read_us) &&
           read_us == time_us;
}

bool
writ_check_parts_same_number(const struct writ_member_number *member, uint64_t number)
{
    return member->is == WRIT_PRESENT && member->value >= 0 && (uint64_t)member->value == number;
}

/* ---- other records ---- */

bool
writ_check_parts_is_unread(const struct writ_check *v, uint64_t leaf)
{
    return v->archive == NULL && leaf < v->first;
}

WRIT_RESULT
writ_check_parts_find_first(struct writ_check *v, struct writ_view id, struct writ_check_first *ret)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_FIRST];
    bool row = false;
    writ_result result;

    writ_sql_bind_text(s, 1, id);
    result = writ_check_next(v, WRIT_CHECK_SQL_FIRST, &row, v->err);
    row = writ_is_ok(result) && row;
    ret->leaf = row ? (uint64_t)writ_sql_int(s, 0) : UINT64_MAX;
    ret->seq = row ? (uint64_t)writ_sql_int(s, 1) : UINT64_MAX;
    ret->is_decision = row && writ_sql_int(s, 2) == WRIT_ROW_DECISION;
    writ_sql_reset(s);
    return result;
}

/* A record that its archive has lost is reported with the records that were removed. */
static WRIT_RESULT
read_archived(struct writ_check *v, struct writ_decision *ret, bool *ret_read)
{
    struct writ_err why = {0};
    struct writ_view body;
    writ_result result = writ_archive_read_record(v->archive, v->row.about, &body, &why);

    if (result.code == WRIT_E_MISMATCH || result.code == WRIT_E_LIMIT) {
        *ret_read = false;
        return WRIT_DONE;
    }
    if (!writ_is_ok(result)) {
        WRIT_FAIL(v->err, result.code, "%s", why.text);
    }
    body = writ_view_copy(body, v->arena);
    result = body.ptr == NULL ? (writ_result){WRIT_E_NOMEM}
                              : writ_body_decision(body, v->arena, ret, NULL);
    return writ_check_parts_readable(v, result, ret_read);
}

WRIT_RESULT
writ_check_parts_read_decision(struct writ_check *v, struct writ_decision *ret, bool *ret_read)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_BODY];
    struct writ_view body = {NULL, 0};
    bool row = false;
    writ_result result;

    if (v->archive != NULL && v->row.about < v->first) {
        return read_archived(v, ret, ret_read);
    }
    writ_sql_bind_int(s, 1, (int64_t)v->row.about);
    result = writ_check_next(v, WRIT_CHECK_SQL_BODY, &row, v->err);
    if (writ_is_ok(result) && row) {
        body = writ_view_copy(writ_column_bytes(s, 0), v->arena);
    }
    writ_sql_reset(s);
    WRIT_TRY(result);
    if (!row) {
        *ret_read = false;
        return WRIT_DONE;
    }
    if (body.ptr == NULL) {
        WRIT_FAIL(v->err, WRIT_E_NOMEM, "no memory for a decision");
    }
    return writ_check_parts_readable(v, writ_body_decision(body, v->arena, ret, NULL), ret_read);
}
