/* Records that were removed are checked group by group: the stored digests of their group are those
 * under its checkpoint. With an archive each is read from there, and checked like every other one;
 * without one, the facts among them, which stay. */
#include "store/read/check.h"

/* Checks the facts of the group that stand in the table `fact`. */
static WRIT_RESULT
check_moved(struct writ_check *v, const struct writ_head *head)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_MOVED];
    bool row = false;

    writ_sql_bind_int(s, 1, (int64_t)head->leaf);
    writ_sql_bind_int(s, 2, (int64_t)head->size);
    WRIT_TRY(writ_check_next(v, WRIT_CHECK_SQL_MOVED, &row, v->err));
    while (row) {
        uint64_t leaf = (uint64_t)writ_sql_int(s, 0);
        struct writ_view body = writ_column_bytes(s, 1);
        struct writ_digest stored = {0}, found;

        v->moved_rows++;
        writ_arena_reset(v->arena);
        WRIT_TRY(writ_tree_leaf(body, &found, v->err));
        v->row.leaf = leaf;
        writ_check_expect(v,
            writ_heads_digest(head, leaf, &stored) && writ_digest_equal(&found, &stored),
            "it differs from the record in the tree");
        if (v->archive == NULL) {
            v->before_us = INT64_MIN; /* the times of the records before it are not known */
            WRIT_TRY(writ_check_record_moved(v, leaf, body));
        }
        WRIT_TRY(writ_check_next(v, WRIT_CHECK_SQL_MOVED, &row, v->err));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
check_stored(struct writ_check *v, const struct writ_head *head, uint64_t leaf)
{
    struct writ_digest digest = {0};

    v->row = (struct writ_row){.leaf = leaf};
    if (!writ_heads_digest(head, leaf, &digest)) {
        v->lost = true;
        writ_check_problem(v, leaf, "its digest in the tree is missing");
    }
    return writ_check_tree_stored(v, &digest, leaf);
}

static WRIT_RESULT
check_archived(struct writ_check *v, const struct writ_head *head, uint64_t leaf)
{
    struct writ_err why = {0};
    struct writ_view body;
    writ_result result = writ_archive_read_record(v->archive, leaf, &body, &why);

    if (writ_is_ok(result)) {
        writ_arena_reset(v->arena);
        return writ_check_record_archived(v, leaf, body);
    }
    if (result.code != WRIT_E_MISMATCH && result.code != WRIT_E_LIMIT) {
        WRIT_FAIL(v->err, result.code, "%s", why.text);
    }
    writ_check_problem(v, leaf, "%s", why.text);
    return check_stored(v, head, leaf);
}

static WRIT_RESULT
check_group(struct writ_check *v, const struct writ_head *head)
{
    writ_result result = check_moved(v, head);

    writ_sql_reset(v->statements[WRIT_CHECK_SQL_MOVED]);
    WRIT_TRY(result);
    for (uint64_t leaf = head->leaf; leaf < head->size; leaf++) {
        WRIT_TRY(v->archive == NULL ? check_stored(v, head, leaf) : check_archived(v, head, leaf));
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_check_removed(struct writ_check *v, uint64_t *leaf)
{
    writ_auto_arena arena = writ_arena_new(WRIT_CHECK_HEAD_ARENA);
    struct writ_head head = {0};
    writ_result found;

    if (arena == NULL) {
        WRIT_FAIL(v->err, WRIT_E_NOMEM, "no memory for a group of records");
    }
    found = writ_heads_at(&v->heads, *leaf, arena, &head, v->err);
    if (found.code != WRIT_E_ABSENT) {
        WRIT_TRY(found);
    }
    if (found.code == WRIT_E_ABSENT || head.leaf != *leaf || head.size <= *leaf) {
        writ_check_problem(v, *leaf, "no checkpoint is over it");
        v->lost = true;
        *leaf = v->first;
        return WRIT_DONE;
    }
    WRIT_TRY(check_group(v, &head));
    *leaf = v->bodies_end = head.size;
    return WRIT_DONE;
}

static WRIT_RESULT
check_rest(struct writ_check *v)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_MOVED_REST];
    bool row = false;
    writ_result result;

    writ_sql_bind_int(s, 1, (int64_t)v->first);
    result = writ_check_next(v, WRIT_CHECK_SQL_MOVED_REST, &row, v->err);
    if (writ_is_ok(result) && row && writ_sql_int(s, 0) > 0) {
        writ_check_problem(v, v->first, "facts of later records are in the table `fact`");
    }
    writ_sql_reset(s);
    return result;
}

WRIT_RESULT
writ_check_removed_end(struct writ_check *v)
{
    if (v->began > v->until) {
        writ_check_problem(v, v->until,
            "records are missing from here up to %llu, and were not moved to an archive",
            (unsigned long long)v->began);
    }
    if (v->moved_rows < v->moved) {
        writ_check_problem(v, 0, "the table `fact` lacks a fact that the archive has");
    }
    return v->first == v->began ? check_rest(v) : WRIT_DONE; /* a later verification does */
}
