/* 1. The note `copying` in `meta` of the copy names the ledger, and the state of it that is copied;
 *    it is there from the first transaction to the last.
 * 2. What is read is one state: a transaction of the source lasts until all is read. Afterwards the
 *    source must still be in that state, and no gateway may have it open.
 * 3. The copy has whole groups, from the first one on: each transaction that appends some is
 *    refused unless they follow.
 * 4. Rows of the other tables are appended in the order of their keys, so that the last key says
 * how far an earlier run came. When the source has changed since, they are copied again; rows of
 *    `content_key` are never deleted (disk.tbl.h), and always written again. */
#include "store/read/copy.h"

#include "store/disk/disk.h"
#include "store/disk/disk_postgres.h"
#include "store/disk/file.h"
#include "store/disk/heads.h"
#include "store/disk/said.h"
#include "store/read/copy.tbl.h"
#include "store/read/verify.h"
#include "store/tables/tag.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define WAIT_US      INT64_C(60000000) /* for a server, and between two reads of one transaction */
#define US_PER_MS    INT64_C(1000)
#define PART_HEADS   32        /* groups of one transaction */
#define PART_RECORDS 2048      /* with so many records no further group is taken */
#define PART_BYTES   (4 << 20) /* of other rows in one transaction */
#define PART_ROWS    4096
#define SLICE        "500" /* rows that are deleted at a time */
#define WAL_PAGES    16384 /* of a file: then the write-ahead log is copied */
#define TEXT_MAX     1024
#define KEY_MAX      4096 /* bytes of a key of a table */
#define RECORD_ARENA (16 << 20)
#define NEW          ".new" /* the name of a file until it is a ledger */
#define COUNTS       10

/* ---- statements ---- */

enum statement {
#define COPY_ENUM(NAME, text) SQL_##NAME,
    WRIT_COPY_STATEMENTS(COPY_ENUM) SQL_EVERY, /* so many on any ledger */
    SQL_EVERY_LAST = SQL_EVERY - 1,
    WRIT_COPY_SHARED(COPY_ENUM) SQL_ALL
#undef COPY_ENUM
};

static const char *const texts[SQL_ALL] = {
#define COPY_TEXT(NAME, text) [SQL_##NAME] = (text),
    WRIT_COPY_STATEMENTS(COPY_TEXT) WRIT_COPY_SHARED(COPY_TEXT)
#undef COPY_TEXT
};

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

/* A ledger that is open, kept from gateways by its lock when it is a file. */
struct side {
    const char *path;
    struct writ_file file;
    struct writ_sql *sql; /* of `to`: that of `disk` */
    struct writ_sql_statement *statements[SQL_ALL];
    bool shared;
};

struct copying {
    const struct writ_copy *copy;
    struct writ_copy_report *report;
    struct side from, to;
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

#define REFUSE(c, code, ...) WRIT_FAIL((c)->err, code, __VA_ARGS__)

static WRIT_RESULT
prepare(struct side *side, struct writ_err *err)
{
    return writ_sql_prepare_all(
        side->sql, texts, side->shared ? SQL_ALL : SQL_EVERY, side->statements, err);
}

/* The integer in the first column of the first row. */
static WRIT_RESULT
number(struct side *side, enum statement which, int64_t *ret, struct writ_err *err)
{
    bool row = false;
    writ_result result = writ_sql_step(side->statements[which], &row, err);

    *ret = writ_is_ok(result) && row ? writ_sql_int(side->statements[which], 0) : 0;
    writ_sql_reset(side->statements[which]);
    return result;
}

/* Reads a value of `meta`; an absent one is empty. */
static WRIT_RESULT
get_meta(struct side *side, struct writ_view name, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_sql_statement *s = side->statements[SQL_META_GET];
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

static WRIT_RESULT
put_meta(struct copying *c, struct writ_view name, struct writ_view value)
{
    struct writ_sql_statement *s = c->to.statements[SQL_META_PUT];

    writ_sql_bind_text(s, 1, name);
    writ_sql_bind_text(s, 2, value);
    return writ_sql_run(s, c->err);
}

/* ---- the source ---- */

/* No gateway may write the ledger meanwhile. */
static WRIT_RESULT
check_live(struct copying *c, struct side *side)
{
    struct writ_sql_statement *s = side->statements[SQL_LIVE];
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

/* Every committed turn of a gateway changes this number, and every start of one with a file. */
static WRIT_RESULT
read_changes(struct copying *c, int64_t *ret)
{
    struct writ_sql_statement *s = c->from.statements[SQL_META_GET];
    bool row = false;
    writ_result result;

    if (c->from.shared) {
        return number(&c->from, SQL_CHANGES, ret, c->err);
    }
    writ_sql_bind_text(s, 1, WRIT_LIT("probe"));
    result = writ_sql_step(s, &row, c->err);
    *ret = writ_is_ok(result) && row ? writ_sql_int(s, 0) : 0;
    writ_sql_reset(s);
    return result;
}

static WRIT_RESULT
read_size(struct copying *c)
{
    struct writ_sql_statement *s = c->from.statements[SQL_RECORD_LAST];
    int64_t first = 0;
    bool row = false;
    writ_result result = writ_sql_step(s, &row, c->err);

    if (writ_is_ok(result) && row) {
        c->size = (uint64_t)writ_sql_int(s, 0) + 1;
        c->edge_us = writ_sql_int(s, 1);
    }
    writ_sql_reset(s);
    WRIT_TRY(result);
    WRIT_TRY(number(&c->from, SQL_FIRST, &first, c->err));
    c->first = (uint64_t)first;
    return WRIT_DONE;
}

static WRIT_RESULT
lock_file(struct side *side, struct writ_err *err)
{
    WRIT_TRY(writ_file_check(&side->file, err));
    return writ_file_lock(&side->file, err);
}

static WRIT_RESULT
open_from(struct copying *c)
{
    writ_auto_buf copying = writ_buf_make(TEXT_MAX);

    if (!c->from.shared) {
        WRIT_TRY(writ_file_name(c->from.path, &c->from.file, c->err));
        WRIT_TRY(lock_file(&c->from, c->err));
    }
    WRIT_TRY(writ_disk_connect(c->from.path, true, WAIT_US, &c->from.sql, c->err));
    WRIT_TRY(prepare(&c->from, c->err));
    WRIT_TRY(check_live(c, &c->from));
    WRIT_TRY(writ_sql_begin(c->from.sql, WRIT_SQL_READ, c->err)); /* keeps (2) */
    WRIT_TRY(get_meta(&c->from, WRIT_LIT("copying"), &copying, c->err));
    if (copying.len > 0) {
        REFUSE(c, WRIT_E_INVALID, "%s is a copy that is not complete", c->from.path);
    }
    WRIT_TRY(get_meta(&c->from, WRIT_LIT("ledger"), &c->id, c->err));
    WRIT_TRY(read_size(c));
    WRIT_TRY(read_changes(c, &c->changes));
    writ_buf_put(&c->state, writ_buf_view(&c->id));
    writ_buf_fmt(&c->state, " %llu %lld", (unsigned long long)c->size, (long long)c->changes);
    return writ_buf_check(&c->state, c->err);
}

/* ---- the copy: made and opened ---- */

/* The file gets its name when it is a ledger. */
static WRIT_RESULT
make_file(struct copying *c)
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
open_file(struct copying *c)
{
    writ_result result;

    WRIT_TRY(writ_file_name(c->to.path, &c->to.file, c->err));
    result = writ_file_check(&c->to.file, c->err);
    if (result.code == WRIT_E_ABSENT) {
        result = make_file(c);
    }
    WRIT_TRY(result);
    WRIT_TRY(lock_file(&c->to, c->err));
    return writ_disk_open(c->to.path, WAIT_US, &c->disk, c->err);
}

static WRIT_RESULT
open_server(struct copying *c)
{
    bool has = false;

    WRIT_TRY(writ_disk_postgres_has(c->to.path, &has, c->err));
    if (!has) {
        WRIT_TRY(writ_disk_postgres_create(
            c->to.path, writ_view("", 0), c->copy->role, c->copy->clock, c->err));
    } else if (c->copy->role.len > 0) {
        WRIT_TRY(writ_disk_postgres_grant(c->to.path, c->copy->role, c->err));
    }
    WRIT_TRY(writ_disk_open(c->to.path, WAIT_US, &c->disk, c->err));
    WRIT_TRY(writ_disk_postgres_durable(c->disk.sql, true, c->err));
    return writ_disk_postgres_name(c->disk.sql, 0, 1, c->err); /* the epoch of `copy` */
}

static WRIT_RESULT
open_to(struct copying *c)
{
    if (c->to.shared) {
        WRIT_TRY(open_server(c));
    } else if (c->copy->role.len > 0) {
        REFUSE(c, WRIT_E_INVALID, "--role is for a ledger on PostgreSQL");
    } else {
        WRIT_TRY(open_file(c));
    }
    c->to.sql = c->disk.sql;
    return prepare(&c->to, c->err);
}

/* ---- transactions of the copy ---- */

static WRIT_RESULT
begin(struct copying *c)
{
    int64_t last = -1;

    WRIT_TRY(writ_disk_begin(&c->disk, c->err));
    if (c->to.shared) {
        WRIT_TRY(writ_disk_run(&c->disk, WRIT_SQL_TURN_LOCK, c->err, "i", WAIT_US / US_PER_MS));
        WRIT_TRY(check_live(c, &c->to));
    }
    if (c->at > c->first) { /* before that the copy has no records, and its heads have keys */
        WRIT_TRY(number(&c->to, SQL_RECORD_LAST, &last, c->err));
        if ((uint64_t)last + 1 != c->at) { /* keeps (3) */
            REFUSE(c, WRIT_E_BUSY, "another program writes the copy");
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
finish(struct copying *c, writ_result result)
{
    WRIT_TRY(writ_disk_finish(&c->disk, result, c->err));
    if (!c->to.shared && c->disk.wal_pages > WAL_PAGES) {
        WRIT_TRY(writ_disk_copy_wal(&c->disk, c->err));
    }
    return WRIT_DONE;
}

/* ---- what the copy has already ---- */

static WRIT_RESULT
count_rows(struct side *side, int64_t ret[COUNTS], struct writ_err *err)
{
    struct writ_sql_statement *s = side->statements[SQL_COUNTS];
    bool row = false;
    writ_result result = writ_sql_step(s, &row, err);

    for (int i = 0; i < COUNTS; i++) {
        ret[i] = writ_is_ok(result) && row ? writ_sql_int(s, i) : 0;
    }
    writ_sql_reset(s);
    return result;
}

/* Whether a gateway has opened the copy. */
static WRIT_RESULT
is_opened(struct copying *c, bool *ret)
{
    writ_auto_buf probe = writ_buf_make(TEXT_MAX);
    int64_t gateways = 0;

    WRIT_TRY(get_meta(&c->to, WRIT_LIT("probe"), &probe, c->err));
    if (c->to.shared) {
        WRIT_TRY(number(&c->to, SQL_GATEWAYS, &gateways, c->err));
    }
    *ret = gateways > 0 || probe.len > 0;
    return WRIT_DONE;
}

static WRIT_RESULT
is_empty(struct copying *c, bool *ret)
{
    struct writ_sql_statement *s = c->to.statements[SQL_RECORD_LAST];
    int64_t counts[COUNTS];
    bool row = false;
    writ_result result = writ_sql_step(s, &row, c->err);

    writ_sql_reset(s);
    WRIT_TRY(result);
    WRIT_TRY(count_rows(&c->to, counts, c->err));
    *ret = !row;
    for (int i = 0; i < COUNTS; i++) {
        *ret = *ret && counts[i] == 0;
    }
    return WRIT_DONE;
}

/* Writes the ledger's name, and the note that keeps gateways away. */
static WRIT_RESULT
put_identity(struct copying *c)
{
    struct writ_sql_statement *s = c->from.statements[SQL_META];
    bool row = false;
    writ_result result;

    WRIT_TRY(writ_sql_run(c->to.statements[SQL_META_CLEAR], c->err));
    result = writ_sql_step(s, &row, c->err);
    while (writ_is_ok(result) && row) {
        result = put_meta(c, writ_sql_bytes(s, 0), writ_sql_bytes(s, 1));
        if (writ_is_ok(result)) {
            result = writ_sql_step(s, &row, c->err);
        }
    }
    writ_sql_reset(s);
    return result;
}

static WRIT_RESULT
put_start(struct copying *c)
{
    struct writ_sql_statement *s = c->to.statements[SQL_EPOCH];

    WRIT_TRY(put_identity(c));
    WRIT_TRY(put_meta(c, WRIT_LIT("copying"), writ_buf_view(&c->state))); /* keeps (1) */
    if (!c->to.shared) {
        return WRIT_DONE;
    }
    writ_sql_bind_text(s, 1, writ_view_str(WRIT_VERSION));
    return writ_sql_run(s, c->err);
}

/* The last checkpoint gets another signature when its key is revoked under a running gateway. */
static WRIT_RESULT
sign_again(struct copying *c, uint64_t leaf, struct writ_view note)
{
    writ_result result = begin(c);

    if (writ_is_ok(result)) {
        result = writ_disk_run(&c->disk, WRIT_SQL_SIGN_HEAD, c->err, "bu", note, leaf);
    }
    return finish(c, result);
}

/* Compares the last group of the copy with the same one of the source: the nodes of the tree and
 * the checkpoint over them cover everything before. */
static WRIT_RESULT
check_group(struct copying *c)
{
    struct writ_sql_statement *mine = c->to.statements[SQL_HEAD_LAST];
    struct writ_sql_statement *theirs = c->from.statements[SQL_HEADS];
    uint64_t leaf = (uint64_t)writ_sql_int(mine, 0);
    struct writ_view note = writ_sql_bytes(mine, 3);
    bool row = false;

    c->at = (uint64_t)writ_sql_int(mine, 1);
    writ_sql_bind_int(theirs, 1, (int64_t)leaf);
    writ_sql_bind_int(theirs, 2, 1);
    WRIT_TRY(writ_sql_step(theirs, &row, c->err));
    if (!row || (uint64_t)writ_sql_int(theirs, 0) != leaf ||
        (uint64_t)writ_sql_int(theirs, 1) != c->at ||
        !writ_view_equal(writ_sql_bytes(mine, 2), writ_sql_bytes(theirs, 2))) {
        REFUSE(c, WRIT_E_INVALID,
            "TO has the beginning of a copy, with other records than FROM: name another TO");
    }
    writ_buf_clear(&c->note);
    if (!writ_view_equal(note, writ_sql_bytes(theirs, 3))) {
        writ_buf_put(&c->note, writ_sql_bytes(theirs, 3));
    }
    c->leaf = leaf;
    return writ_buf_check(&c->note, c->err);
}

static WRIT_RESULT
check_prefix(struct copying *c)
{
    bool row = false;
    writ_result result = writ_sql_step(c->to.statements[SQL_HEAD_LAST], &row, c->err);

    if (writ_is_ok(result) && row) {
        result = check_group(c);
    }
    writ_sql_reset(c->to.statements[SQL_HEAD_LAST]);
    writ_sql_reset(c->from.statements[SQL_HEADS]);
    WRIT_TRY(result);
    c->report->before = c->at;
    return c->note.len == 0 ? WRIT_DONE : sign_again(c, c->leaf, writ_buf_view(&c->note));
}

/* The first word of the note: the id of a ledger. */
static struct writ_view
first_word(struct writ_view note)
{
    return writ_view_sub(note, 0, writ_view_find(note, ' '));
}

static WRIT_RESULT
start_new(struct copying *c)
{
    writ_auto_buf id = writ_buf_make(TEXT_MAX);
    bool opened = false, empty = false;

    WRIT_TRY(is_opened(c, &opened));
    WRIT_TRY(is_empty(c, &empty));
    WRIT_TRY(get_meta(&c->to, WRIT_LIT("ledger"), &id, c->err));
    if (!opened && writ_view_equal(writ_buf_view(&id), writ_buf_view(&c->id))) {
        c->complete = true;
        return check_prefix(c);
    }
    if (opened || !empty) {
        REFUSE(c, WRIT_E_INVALID,
            "TO has records, or a gateway has opened it: a copy goes to a ledger that is new");
    }
    c->resumes = true;
    WRIT_TRY(begin(c));
    return finish(c, put_start(c));
}

static WRIT_RESULT
start(struct copying *c)
{
    writ_auto_buf note = writ_buf_make(TEXT_MAX);

    WRIT_TRY(get_meta(&c->to, WRIT_LIT("copying"), &note, c->err));
    if (note.len > 0) {
        if (!writ_view_equal(first_word(writ_buf_view(&note)), writ_buf_view(&c->id))) {
            REFUSE(c, WRIT_E_INVALID,
                "TO has the beginning of a copy of another ledger: name another TO");
        }
        c->resumes = writ_view_equal(writ_buf_view(&note), writ_buf_view(&c->state));
        return check_prefix(c);
    }
    return start_new(c);
}

/* ---- groups of records ---- */

/* The groups of one transaction. */
struct part {
    uint64_t leaf, size;    /* the records */
    struct writ_view lines; /* of the body at which the statement stands */
    uint64_t line_leaf;     /* of the first of `lines` */
    bool body;              /* the statement stands at one */
};

static WRIT_RESULT
copy_head(struct copying *c, struct part *part)
{
    struct writ_sql_statement *s = c->from.statements[SQL_HEADS];
    uint64_t leaf = (uint64_t)writ_sql_int(s, 0), size = (uint64_t)writ_sql_int(s, 1);
    struct writ_view nodes = writ_sql_bytes(s, 2), note = writ_sql_bytes(s, 3);

    if (leaf != part->size || size <= leaf || size > c->size) {
        REFUSE(c, WRIT_E_MISMATCH,
            "the group after record %llu is missing: see `writ ledger verify`",
            (unsigned long long)part->size);
    }
    part->size = size;
    return writ_disk_run(&c->disk, WRIT_SQL_APPEND_HEAD, c->err, "uubb", leaf, size,
        nodes.ptr == NULL ? writ_view("", 0) : nodes, note);
}

static WRIT_RESULT
copy_heads(struct copying *c, struct part *part)
{
    struct writ_sql_statement *s = c->from.statements[SQL_HEADS];
    bool row = false;
    writ_result result;

    writ_sql_bind_int(s, 1, (int64_t)part->leaf);
    writ_sql_bind_int(s, 2, PART_HEADS);
    result = writ_sql_step(s, &row, c->err);
    while (writ_is_ok(result) && row && part->size - part->leaf < PART_RECORDS &&
           (part->leaf >= c->first || part->size < c->first)) {
        result = copy_head(c, part);
        if (writ_is_ok(result)) {
            result = writ_sql_step(s, &row, c->err);
        }
    }
    writ_sql_reset(s);
    WRIT_TRY(result);
    if (part->size == part->leaf) {
        REFUSE(c, WRIT_E_MISMATCH,
            "the records after %llu have no checkpoint: see `writ ledger verify`",
            (unsigned long long)part->leaf);
    }
    return WRIT_DONE;
}

/* Copies the next row of bodies. */
static WRIT_RESULT
copy_body(struct copying *c, struct part *part)
{
    struct writ_sql_statement *s = c->from.statements[SQL_BODIES];

    WRIT_TRY(writ_sql_step(s, &part->body, c->err));
    if (!part->body) {
        return WRIT_DONE;
    }
    part->line_leaf = (uint64_t)writ_sql_int(s, 0);
    part->lines = writ_sql_bytes(s, 1);
    return writ_disk_append_bodies(&c->disk, part->line_leaf, part->lines, c->err);
}

/* The body of record `leaf`; each record is asked for in order. */
static WRIT_RESULT
next_body(struct copying *c, struct part *part, uint64_t leaf, struct writ_view *ret)
{
    size_t end;

    if (part->lines.len == 0) {
        WRIT_TRY(copy_body(c, part));
    }
    if (!part->body || part->line_leaf != leaf) {
        REFUSE(c, WRIT_E_MISMATCH, "record %llu has no body: see `writ ledger verify`",
            (unsigned long long)leaf);
    }
    end = writ_view_find(part->lines, '\n');
    *ret = writ_view_sub(part->lines, 0, end);
    part->lines = end == part->lines.len ? writ_view("", 0)
                                         : writ_view_sub(part->lines, end + 1, part->lines.len);
    part->line_leaf++;
    return WRIT_DONE;
}

/* The row of the claim of a granted call, as a gateway writes it (start/fleet.c), when it still
 * stands. */
static WRIT_RESULT
copy_claim(struct copying *c, const struct writ_row *row, bool sealed)
{
    struct writ_said said;
    int64_t until_us;

    if (row->claim == NULL) {
        return (row->flags & WRIT_ROW_FOLLOWS) == 0 ? WRIT_DONE
                                                    : writ_disk_run(&c->disk, WRIT_SQL_CLAIM_MOVE,
                                                          c->err, "uu", row->leaf, row->about);
    }
    writ_arena_reset(c->arena);
    WRIT_TRY(writ_said_read(row->body, c->arena, &said, c->err));
    until_us = row->time_us + said.claimed_us;
    if (sealed && until_us <= c->edge_us) {
        return WRIT_DONE;
    }
    return writ_disk_claim(&c->disk,
        &(struct writ_disk_claim){row->claim, row->leaf, row->boundary, until_us}, 1, row->time_us,
        c->err);
}

static WRIT_RESULT
copy_beside(struct copying *c, const struct writ_row *row, bool sealed)
{
    if (row->kind == WRIT_ROW_SEAL) {
        return writ_disk_run(
            &c->disk, WRIT_SQL_BOUNDARY_SEAL, c->err, "uu", row->leaf, row->boundary);
    }
    if (!c->to.shared) {
        return WRIT_DONE;
    }
    if (row->kind == WRIT_ROW_DECISION && (row->flags & WRIT_ROW_GRANTED) != 0) {
        return copy_claim(c, row, sealed);
    }
    if (row->kind == WRIT_ROW_OUTCOME && (row->flags & WRIT_ROW_NOTHING_RAN) != 0 &&
        row->verdict != WRIT_OUTCOME_BLOCKED) {
        return writ_disk_run(&c->disk, WRIT_SQL_CLAIM_DROP, c->err, "u", row->about);
    }
    return WRIT_DONE;
}

/* Appends the rows that are held. */
static WRIT_RESULT
append_rows(struct copying *c)
{
    const struct writ_row *rows[WRIT_DISK_ROWS];
    size_t n = c->rows_n;

    for (size_t i = 0; i < n; i++) {
        rows[i] = &c->rows[i];
    }
    c->rows_n = 0;
    return n == 0 ? WRIT_DONE : writ_disk_append(&c->disk, rows, n, c->err);
}

/* Copies a text of a row; the absent one stays absent. */
static WRIT_RESULT
hold(struct copying *c, struct writ_view *text)
{
    if (text->ptr == NULL) {
        return WRIT_DONE;
    }
    *text = writ_view_copy(*text, c->held);
    if (text->ptr == NULL) {
        REFUSE(c, WRIT_E_NOMEM, "no memory to copy a ledger");
    }
    return WRIT_DONE;
}

/* Several rows at once cost a server a fraction of what they cost one by one. */
static WRIT_RESULT
hold_row(struct copying *c, struct writ_row row)
{
    struct writ_view claim = writ_view(row.claim, row.claim == NULL ? 0 : WRIT_DISK_CLAIM_BYTES);

    if (c->rows_n == 0) {
        writ_arena_reset(c->held);
    }
    WRIT_TRY(hold(c, &row.decision_id));
    WRIT_TRY(hold(c, &row.agent_id));
    WRIT_TRY(hold(c, &row.tool));
    WRIT_TRY(hold(c, &claim));
    row.claim = (const uint8_t *)claim.ptr;
    row.body = writ_view(NULL, 0);
    c->rows[c->rows_n++] = row;
    return c->rows_n == WRIT_DISK_ROWS ? append_rows(c) : WRIT_DONE;
}

static WRIT_RESULT
copy_record(struct copying *c, struct part *part, uint64_t leaf)
{
    struct writ_sql_statement *s = c->from.statements[SQL_RECORDS];
    struct writ_row row = {0};

    WRIT_TRY(writ_disk_row(s, &row, c->err));
    if (row.leaf != leaf) {
        REFUSE(c, WRIT_E_MISMATCH, "record %llu is missing: see `writ ledger verify`",
            (unsigned long long)leaf);
    }
    WRIT_TRY(next_body(c, part, leaf, &row.body));
    WRIT_TRY(hold_row(c, row));
    if (!writ_sql_is_null(s, 13) && (uint64_t)writ_sql_int(s, 13) == leaf) {
        WRIT_TRY(writ_disk_run(&c->disk, WRIT_SQL_BOUNDARY_ADD, c->err, "uttu", row.boundary,
            writ_sql_bytes(s, 14), writ_sql_bytes(s, 15), leaf));
    }
    return copy_beside(c, &row, !writ_sql_is_null(s, 12));
}

static WRIT_RESULT
copy_records(struct copying *c, struct part *part)
{
    struct writ_sql_statement *s = c->from.statements[SQL_RECORDS];
    struct writ_sql_statement *bodies = c->from.statements[SQL_BODIES];
    uint64_t leaf = part->leaf;
    bool row = false;
    writ_result result;

    writ_sql_bind_int(bodies, 1, (int64_t)part->leaf);
    writ_sql_bind_int(bodies, 2, (int64_t)part->size);
    writ_sql_bind_int(s, 1, (int64_t)part->leaf);
    writ_sql_bind_int(s, 2, (int64_t)part->size);
    result = writ_sql_step(s, &row, c->err);
    while (writ_is_ok(result) && row) {
        result = copy_record(c, part, leaf++);
        if (writ_is_ok(result)) {
            result = writ_sql_step(s, &row, c->err);
        }
    }
    writ_sql_reset(s);
    writ_sql_reset(bodies);
    WRIT_TRY(result);
    WRIT_TRY(append_rows(c));
    if (leaf != part->size) {
        REFUSE(c, WRIT_E_MISMATCH, "record %llu is missing: see `writ ledger verify`",
            (unsigned long long)leaf);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
copy_boundary(struct copying *c, const struct writ_sql_statement *s)
{
    uint64_t id = (uint64_t)writ_sql_int(s, 0);

    WRIT_TRY(writ_disk_run(&c->disk, WRIT_SQL_BOUNDARY_ADD, c->err, "uttu", id,
        writ_sql_bytes(s, 1), writ_sql_bytes(s, 2), (uint64_t)writ_sql_int(s, 3)));
    return writ_sql_is_null(s, 4) || (uint64_t)writ_sql_int(s, 4) >= c->first
               ? WRIT_DONE
               : writ_disk_run(&c->disk, WRIT_SQL_BOUNDARY_SEAL, c->err, "uu",
                     (uint64_t)writ_sql_int(s, 4), id);
}

/* The runs that began with records that the source has given up. */
static WRIT_RESULT
copy_boundaries(struct copying *c)
{
    struct writ_sql_statement *s = c->from.statements[SQL_BOUNDARIES];
    bool row = false;
    writ_result result;

    writ_sql_bind_int(s, 1, (int64_t)c->first);
    result = writ_sql_step(s, &row, c->err);
    while (writ_is_ok(result) && row) {
        result = copy_boundary(c, s);
        if (writ_is_ok(result)) {
            result = writ_sql_step(s, &row, c->err);
        }
    }
    writ_sql_reset(s);
    return result;
}

/* What stands beside the heads of the part. */
static WRIT_RESULT
copy_rows(struct copying *c, struct part *part)
{
    if (part->leaf >= c->first) {
        return copy_records(c, part);
    }
    return part->size == c->first ? copy_boundaries(c) : WRIT_DONE;
}

/* Partitions for the records up to `size`: more than one part has are made at a time. */
static WRIT_RESULT
make_room(struct copying *c, uint64_t size)
{
    bool row = false;
    writ_result result;

    if (!c->to.shared || size + WRIT_DISK_ROOM / 2 <= c->room) {
        return WRIT_DONE;
    }
    result = writ_disk_query(&c->disk, WRIT_SQL_MAKE_ROOM, &row, c->err, "");
    if (writ_is_ok(result) && row) {
        c->room = (uint64_t)writ_disk_int(&c->disk, WRIT_SQL_MAKE_ROOM, 0);
    }
    writ_disk_end(&c->disk, WRIT_SQL_MAKE_ROOM);
    return result;
}

static WRIT_RESULT
copy_part(struct copying *c)
{
    struct part part = {.leaf = c->at, .size = c->at, .lines = writ_view("", 0)};
    writ_result result = begin(c);

    if (writ_is_ok(result)) {
        result = copy_heads(c, &part);
    }
    if (writ_is_ok(result)) {
        result = make_room(c, part.size);
    }
    if (writ_is_ok(result)) {
        result = copy_rows(c, &part);
    }
    WRIT_TRY(finish(c, result));
    c->at = part.size;
    return WRIT_DONE;
}

/* Records that an earlier run copied, and a gap after them. */
static WRIT_RESULT
check_first(struct copying *c)
{
    struct writ_sql_statement *s = c->to.statements[SQL_RECORD_LAST];
    bool row = false;
    writ_result result = writ_sql_step(s, &row, c->err);

    writ_sql_reset(s);
    WRIT_TRY(result);
    if (row && c->at < c->first) {
        REFUSE(c, WRIT_E_INVALID,
            "FROM has moved records to an archive since the copy began: name another TO");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
copy_log(struct copying *c)
{
    if (c->at > c->size) {
        REFUSE(c, WRIT_E_INVALID,
            "TO has %llu records of a copy, and FROM only %llu: FROM was put back from a backup",
            (unsigned long long)c->at, (unsigned long long)c->size);
    }
    WRIT_TRY(check_first(c));
    while (c->at < c->size) {
        WRIT_TRY(copy_part(c));
        if (c->copy->copied != NULL && !c->copy->copied(c->copy->ctx, c->at, c->size)) {
            REFUSE(c, WRIT_E_BUSY, "the copy was ended before it was complete");
        }
    }
    return WRIT_DONE;
}

/* ---- the other tables ---- */

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
take_key(struct copying *c, struct walk *walk, const struct writ_sql_statement *s)
{
    if (walk->table->letters[0] == 'i') {
        walk->number = writ_sql_int(s, 0);
        return WRIT_DONE;
    }
    writ_buf_clear(&c->key);
    writ_buf_put(&c->key, writ_sql_bytes(s, 0));
    return writ_buf_check(&c->key, c->err);
}

/* keeps (4) */
static WRIT_RESULT
find_start(struct copying *c, struct walk *walk)
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
bind_key(const struct copying *c, struct walk *walk)
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
put_row(struct copying *c, struct walk *walk)
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
copy_page(struct copying *c, struct walk *walk, int *ret_rows)
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
copy_slice(struct copying *c, struct walk *walk, bool *ret_more)
{
    int rows = walk->table->page;
    writ_result result = begin(c);

    walk->rows = walk->bytes = 0;
    while (writ_is_ok(result) && rows == walk->table->page && walk->rows < PART_ROWS &&
           walk->bytes < PART_BYTES) {
        result = copy_page(c, walk, &rows);
    }
    *ret_more = rows == walk->table->page;
    return finish(c, result);
}

static WRIT_RESULT
copy_table(struct copying *c, const struct table *table)
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
clear_slice(struct copying *c, struct writ_sql_statement *clear, uint64_t *ret)
{
    writ_result result = begin(c);

    if (writ_is_ok(result)) {
        result = writ_sql_run(clear, c->err);
    }
    if (writ_is_ok(result)) {
        result = writ_sql_changed(c->to.sql, ret, c->err);
    }
    return finish(c, result);
}

static WRIT_RESULT
clear_table(struct copying *c, const struct table *table)
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

/* The source has changed since an earlier run: keeps (4). */
static WRIT_RESULT
clear_tables(struct copying *c)
{
    for (size_t i = 0; i < TABLES; i++) {
        WRIT_TRY(clear_table(c, &tables[i]));
    }
    WRIT_TRY(begin(c));
    return finish(c, put_meta(c, WRIT_LIT("copying"), writ_buf_view(&c->state)));
}

static WRIT_RESULT
copy_tables(struct copying *c)
{
    if (!c->resumes) {
        WRIT_TRY(clear_tables(c));
    }
    for (size_t i = 0; i < TABLES; i++) {
        WRIT_TRY(copy_table(c, &tables[i]));
    }
    return WRIT_DONE;
}

/* ---- the end ---- */

static WRIT_RESULT
compare_counts(struct copying *c)
{
    int64_t theirs[COUNTS], mine[COUNTS];

    WRIT_TRY(count_rows(&c->from, theirs, c->err));
    WRIT_TRY(count_rows(&c->to, mine, c->err));
    for (int i = 0; i < COUNTS; i++) {
        if (theirs[i] != mine[i]) {
            REFUSE(c, WRIT_E_MISMATCH,
                "FROM has rows that belong to no record, or misses some: see `writ ledger verify`");
        }
    }
    c->report->sessions = (uint64_t)mine[2];
    c->report->waits = (uint64_t)mine[3];
    c->report->reviews = (uint64_t)mine[4];
    c->report->results = (uint64_t)mine[5];
    c->report->contents = (uint64_t)mine[6];
    return WRIT_DONE;
}

/* keeps (2) */
static WRIT_RESULT
check_unchanged(struct copying *c)
{
    int64_t changes = 0;

    WRIT_TRY(check_live(c, &c->from));
    WRIT_TRY(read_changes(c, &changes));
    if (changes != c->changes) {
        REFUSE(c, WRIT_E_MISMATCH,
            "FROM was written during the copy: stop its gateways, and run the copy again");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_root(struct copying *c)
{
    struct writ_heads heads = {0};
    struct writ_tree_source source;
    struct writ_tree_edge edge;
    writ_result result;

    if (c->size == 0) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_heads_open(c->to.sql, &heads, c->err));
    source = writ_heads_source(&heads);
    result = writ_tree_edge_of(&source, c->size, &edge, c->err);
    if (writ_is_ok(result)) {
        result = writ_tree_root(&edge, &c->root, c->err);
    }
    writ_heads_close(&heads);
    return result;
}

/* What was derived from all rows: the state of an erase that was not finished, and on a server the
 * row of `coordinator`, which the verification compares. */
static WRIT_RESULT
put_state(struct copying *c)
{
    WRIT_TRY(put_identity(c));
    if (!c->to.shared) {
        return WRIT_DONE;
    }
    return writ_disk_run(&c->disk, WRIT_SQL_TURN_SET, c->err, "ubi", c->size,
        writ_view((const char *)c->root.bytes, c->size > 0 ? sizeof c->root.bytes : 0), (int64_t)1);
}

static WRIT_RESULT
copy_state(struct copying *c)
{
    WRIT_TRY(read_root(c));
    WRIT_TRY(begin(c));
    return finish(c, put_state(c));
}

static WRIT_RESULT
end(struct copying *c)
{
    WRIT_TRY(compare_counts(c));
    writ_sql_rollback(c->from.sql); /* all is read */
    WRIT_TRY(writ_verify_ledger(
        c->to.path, c->copy->ring, c->copy->verified, c->copy->ctx, &c->report->verified, c->err));
    if (c->report->verified.problems > 0 || c->complete) {
        return WRIT_DONE;
    }
    if (c->report->verified.unsigned_records > 0) {
        REFUSE(c, WRIT_E_MISMATCH,
            "the last %llu records of FROM are not signed, since its gateway was killed: start it "
            "once, which signs them, and run the copy again",
            (unsigned long long)c->report->verified.unsigned_records);
    }
    WRIT_TRY(check_unchanged(c));
    WRIT_TRY(begin(c));
    return finish(c, writ_sql_run(c->to.statements[SQL_COPYING_DROP], c->err));
}

static WRIT_RESULT
run(struct copying *c)
{
    c->arena = writ_arena_new(RECORD_ARENA);
    c->held = writ_arena_new(RECORD_ARENA);
    if (c->arena == NULL || c->held == NULL) {
        REFUSE(c, WRIT_E_NOMEM, "no memory to copy a ledger");
    }
    WRIT_TRY(open_from(c));
    WRIT_TRY(open_to(c));
    WRIT_TRY(start(c));
    if (c->complete && c->at != c->size) {
        REFUSE(c, WRIT_E_INVALID, "TO is a complete copy of FROM as it was: name another TO");
    }
    if (!c->complete) {
        WRIT_TRY(copy_log(c));
        WRIT_TRY(copy_tables(c));
        WRIT_TRY(copy_state(c));
    }
    return end(c);
}

static void
wipe(struct copying *c)
{
    writ_arena_free(c->arena);
    writ_arena_free(c->held);
    writ_sql_finalize_all(c->from.statements, SQL_ALL);
    writ_sql_finalize_all(c->to.statements, SQL_ALL);
    writ_sql_close(c->from.sql);
    writ_disk_close(&c->disk);
    writ_file_wipe(&c->from.file); /* last: the locks are held until everything is closed */
    writ_file_wipe(&c->to.file);
    writ_buf_wipe(&c->id);
    writ_buf_wipe(&c->state);
    writ_buf_wipe(&c->key);
    writ_buf_wipe(&c->note);
}

WRIT_RESULT
writ_copy_ledger(const struct writ_copy *copy, struct writ_copy_report *ret, struct writ_err *err)
{
    struct copying *c = writ_alloc(sizeof *c);
    struct writ_copy_report *report = writ_alloc(sizeof *report);
    writ_result result;

    if (c == NULL || report == NULL) {
        writ_free(c);
        writ_free(report);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to copy a ledger");
    }
    *c = (struct copying){.copy = copy,
        .report = report,
        .from = {.path = copy->from, .shared = writ_sql_is_uri(writ_view_str(copy->from))},
        .to = {.path = copy->to, .shared = writ_sql_is_uri(writ_view_str(copy->to))},
        .id = writ_buf_make(TEXT_MAX),
        .state = writ_buf_make(TEXT_MAX),
        .key = writ_buf_make(KEY_MAX),
        .note = writ_buf_make(WRIT_NOTE_BYTES_MAX),
        .err = err};
    result = run(c);
    wipe(c);
    if (writ_is_ok(result)) {
        *ret = *report;
    }
    writ_free(c);
    writ_free(report);
    return result;
}
