/* copying_tables.c - copies rows of the other tables, in the order of their keys. */
#include "store/read/copying.h"

#define PART_BYTES (4 << 20) /* of other rows in one transaction */
#define PART_ROWS  4096
#define SLICE      "500" /* rows that are deleted at a time */

struct table {
    const char *letters;
    int page;
    bool grows; /* no row is ever deleted */
    const char *read, *put, *last, *clear;
};

#define COPY_ROW(table, key, columns, parameters, conflict, letters, page)                         \
    {letters, page, sizeof(conflict) > 1,                                                          \
        "SELECT " columns " FROM " table " WHERE " key " > ? ORDER BY " key " LIMIT ?",            \
        "INSERT INTO " table "(" columns ") VALUES(" parameters ")" conflict,                      \
        "SELECT " key " FROM " table " ORDER BY " key " DESC LIMIT 1",                             \
        "DELETE FROM " table " WHERE " key " IN (SELECT " key " FROM " table " LIMIT " SLICE ")"},
static const struct table tables[] = {WRIT_COPY_TABLES(COPY_ROW)};
#undef COPY_ROW

#define TABLES (sizeof tables / sizeof tables[0])

/* The statements on one table, and where the reading is. */
struct walk {
    const struct table *table;
    struct writ_sql_statement *read, *put, *last;
    int64_t number;     /* the last key: an integer, or `key` of the copying */
    size_t rows, bytes; /* in the transaction */
};

static void
walk_wipe(struct walk *walk)
{
    writ_sql_finalize(walk->read);
    writ_sql_finalize(walk->put);
    writ_sql_finalize(walk->last);
}

static WRIT_RESULT
take_key(struct writ_copying *c, struct walk *walk, const struct writ_sql_statement *s)
{
    if (walk->table->letters[0] == 'i') {
        walk->number = writ_sql_int(s, 0);
        return WRIT_DONE;
    }
    writ_buf_clear(&c->key);
    writ_buf_put(&c->key, writ_sql_bytes(s, 0));
    return writ_buf_check(&c->key, c->err);
}

/* keeps (4) of copying.c */
static WRIT_RESULT
find_start(struct writ_copying *c, struct walk *walk)
{
    bool row = false;
    writ_result result;

    walk->number = -1;
    writ_buf_clear(&c->key);
    if (walk->table->grows) {
        return WRIT_DONE;
    }
    result = writ_sql_step(walk->last, &row, c->err);
    if (writ_is_ok(result) && row) {
        result = take_key(c, walk, walk->last);
    }
    writ_sql_reset(walk->last);
    return result;
}

static void
bind_key(const struct writ_copying *c, struct walk *walk)
{
    struct writ_view key = c->key.len == 0 ? writ_view("", 0) : writ_buf_view(&c->key);

    switch (walk->table->letters[0]) {
    case 'i':
        writ_sql_bind_int(walk->read, 1, walk->number);
        break;
    case 't':
        writ_sql_bind_text(walk->read, 1, key);
        break;
    default:
        writ_sql_bind_blob(walk->read, 1, key);
    }
    writ_sql_bind_int(walk->read, 2, walk->table->page);
}

static WRIT_RESULT
put_row(struct writ_copying *c, struct walk *walk)
{
    for (int i = 0; walk->table->letters[i] != '\0'; i++) {
        struct writ_view value;

        if (writ_sql_is_null(walk->read, i)) {
            continue; /* it stays NULL */
        }
        if (walk->table->letters[i] == 'i') {
            writ_sql_bind_int(walk->put, i + 1, writ_sql_int(walk->read, i));
            continue;
        }
        value = writ_sql_bytes(walk->read, i);
        value = value.ptr == NULL ? writ_view("", 0) : value;
        walk->bytes += value.len;
        if (walk->table->letters[i] == 't') {
            writ_sql_bind_text(walk->put, i + 1, value);
        } else {
            writ_sql_bind_blob(walk->put, i + 1, value);
        }
    }
    walk->rows++;
    WRIT_TRY(writ_sql_run(walk->put, c->err));
    return take_key(c, walk, walk->read);
}

static WRIT_RESULT
copy_page(struct writ_copying *c, struct walk *walk, int *ret_rows)
{
    bool row = false;
    writ_result result;

    *ret_rows = 0;
    bind_key(c, walk);
    result = writ_sql_step(walk->read, &row, c->err);
    while (writ_is_ok(result) && row) {
        (*ret_rows)++;
        result = put_row(c, walk);
        if (writ_is_ok(result)) {
            result = writ_sql_step(walk->read, &row, c->err);
        }
    }
    writ_sql_reset(walk->read);
    return result;
}

/* One transaction; *ret_more is false after the last row. */
static WRIT_RESULT
copy_slice(struct writ_copying *c, struct walk *walk, bool *ret_more)
{
    int rows = walk->table->page;
    writ_result result = writ_copying_begin(c);

    walk->rows = walk->bytes = 0;
    while (writ_is_ok(result) && rows == walk->table->page && walk->rows < PART_ROWS &&
           walk->bytes < PART_BYTES) {
        result = copy_page(c, walk, &rows);
    }
    *ret_more = rows == walk->table->page;
    return writ_copying_finish(c, result);
}

static WRIT_RESULT
copy_table(struct writ_copying *c, const struct table *table)
{
    WRIT_AUTO(struct walk, walk_wipe) walk = {.table = table};
    bool more = true;

    WRIT_TRY(writ_sql_prepare(c->from.sql, table->read, &walk.read, c->err));
    WRIT_TRY(writ_sql_prepare(c->to.sql, table->put, &walk.put, c->err));
    WRIT_TRY(writ_sql_prepare(c->to.sql, table->last, &walk.last, c->err));
    WRIT_TRY(find_start(c, &walk));
    while (more) {
        WRIT_TRY(copy_slice(c, &walk, &more));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
clear_slice(struct writ_copying *c, struct writ_sql_statement *clear, uint64_t *ret)
{
    writ_result result = writ_copying_begin(c);

    if (writ_is_ok(result)) {
        result = writ_sql_run(clear, c->err);
    }
    if (writ_is_ok(result)) {
        result = writ_sql_changed(c->to.sql, ret, c->err);
    }
    return writ_copying_finish(c, result);
}

static WRIT_RESULT
clear_table(struct writ_copying *c, const struct table *table)
{
    struct writ_sql_statement *clear = NULL;
    uint64_t changed = table->grows ? 0 : 1;
    writ_result result = writ_sql_prepare(c->to.sql, table->clear, &clear, c->err);

    while (writ_is_ok(result) && changed > 0) {
        result = clear_slice(c, clear, &changed);
    }
    writ_sql_finalize(clear);
    return result;
}

/* The source has changed since an earlier run: keeps (4) of copying.c. */
static WRIT_RESULT
clear_tables(struct writ_copying *c)
{
    for (size_t i = 0; i < TABLES; i++) {
        WRIT_TRY(clear_table(c, &tables[i]));
    }
    WRIT_TRY(writ_copying_begin(c));
    return writ_copying_finish(
        c, writ_copying_put_meta(c, WRIT_LIT("copying"), writ_buf_view(&c->state)));
}

WRIT_RESULT
writ_copying_tables(struct writ_copying *c)
{
    if (!c->resumes) {
        WRIT_TRY(clear_tables(c));
    }
    for (size_t i = 0; i < TABLES; i++) {
        WRIT_TRY(copy_table(c, &tables[i]));
    }
    return WRIT_DONE;
}
