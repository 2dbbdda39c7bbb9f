/* Statements and transactions of PostgreSQL. Invariants:
 *
 * (1) Outside of a transaction nothing stays queued when a call returns.
 * (2) After the first failure of a transaction, every call in it fails with that failure and
 *     nothing more of it is sent, until it is rolled back.
 * (3) A statement is prepared on the server when `prepared` is the generation of the connection.
 * (4) A cursor is open when `cursor` is the number of the transaction of now. */
#include "store/sql/sql_postgres.h"

#include "base/text.h"
#include "store/sql/sql_engine.h"
#include "store/sql/sql_pipeline.h"
#include "store/sql/sql_placeholders.h"

#include <limits.h>

#define FETCH     256 /* rows of a cursor in one round trip */
#define NAME_SIZE 24
#define TEXT_MAX  (1 << 20) /* bytes of a statement */
#define DROPS     64

/* Types of pg_type.dat that are read as integers. */
enum {
    TYPE_BOOL = 16,
    TYPE_INT8 = 20,
    TYPE_INT2 = 21,
    TYPE_INT4 = 23,
    TYPE_OID = 26,
    TYPE_NUMERIC = 1700
};

struct connection {
    struct writ_sql base;
    struct writ_sql_pipeline line;
    char *uri;
    bool read_only;
    uint64_t generation, names, transactions;
    bool open;             /* a transaction that the caller began */
    bool own;              /* one that the first cursor began */
    size_t cursors;        /* open ones */
    enum writ_code failed; /* of the transaction; WRIT_E_UNSET: not */
    struct writ_err why;
    uint64_t changed;
    uint64_t drops[DROPS]; /* finalized statements that the server still has */
    size_t drops_n;
};

struct statement {
    struct writ_sql_statement base;
    uint64_t number, prepared, cursor;
    char name[NAME_SIZE], *text;
    bool many;
    size_t n; /* parameters */
    const char **values;
    int *lengths, *formats;
    uint64_t *ints; /* values that are integers, big-endian */
    bool misbound;
    PGresult *result; /* NULL: not started, or not there yet */
    int row;
    bool asked; /* its rows are wanted, and were not read yet */
    bool last;  /* the result has the last rows */
};

static struct connection *
connection_of(const struct writ_sql *sql)
{
    return (struct connection *)sql;
}

static struct statement *
statement_of(const struct writ_sql_statement *statement)
{
    return (struct statement *)statement;
}

static bool
in_transaction(const struct connection *c)
{
    return c->open || c->own;
}

/* ---- failures ---- */

/* Passes a result on; a failure in a transaction is kept for it. */
static writ_result
note(struct connection *c, writ_result result, const struct writ_err *why, struct writ_err *err)
{
    if (!writ_is_ok(result)) {
        if (in_transaction(c) && c->failed == WRIT_E_UNSET) { /* keeps (2) */
            c->failed = result.code;
            c->why = *why;
        }
        if (err != NULL) {
            *err = *why;
        }
    }
    return result;
}

/* Fails when nothing can be sent now. */
static WRIT_RESULT
usable(const struct connection *c, struct writ_err *err)
{
    if (c->failed != WRIT_E_UNSET) {
        if (err != NULL) {
            *err = c->why;
        }
        return (writ_result){c->failed};
    }
    if (c->base.poisoned) {
        WRIT_FAIL(err, WRIT_E_IO, "database: the server found corrupt data: restore a backup");
    }
    if (c->line.pg == NULL) {
        WRIT_FAIL(err, WRIT_E_IO, "database: the connection to the server is lost");
    }
    return WRIT_DONE;
}

static writ_result connect_again(struct connection *c, struct writ_err *err);

/* A reader whose connection was lost makes a new one with its next transaction or statement. */
static WRIT_RESULT
revive(struct connection *c, struct writ_err *err)
{
    return c->read_only && c->line.pg == NULL && !in_transaction(c) ? connect_again(c, err)
                                                                    : WRIT_DONE;
}

/* ---- what is sent ---- */

/* Queues a text of our own without parameters. */
static WRIT_RESULT
queue_text(struct connection *c, struct writ_sql_pipeline_item item, const char *text,
    struct writ_err *err)
{
    struct writ_sql_pipeline_call call = {.text = text};

    return writ_sql_pipeline_exec(&c->line, item, &call, err);
}

static WRIT_RESULT
queue_control(struct connection *c, const char *text, struct writ_err *err)
{
    return queue_text(
        c, (struct writ_sql_pipeline_item){.kind = WRIT_SQL_PIPELINE_CONTROL}, text, err);
}

static void
put_name(char *name, size_t size, const char *before, uint64_t number)
{
    struct writ_buf buf = writ_buf_over(name, size - 1);

    writ_buf_str(&buf, before);
    writ_buf_u64(&buf, number);
    WRIT_INVARIANT(buf.failed == WRIT_E_UNSET);
    name[buf.len] = '\0';
}

static WRIT_RESULT
queue_drops(struct connection *c, struct writ_err *err)
{
    while (c->drops_n > 0) {
        char text[64];
        struct writ_sql_pipeline_item item = {
            .kind = WRIT_SQL_PIPELINE_DROP, .number = c->drops[c->drops_n - 1]};

        put_name(text, sizeof text, "DEALLOCATE w", item.number);
        c->drops_n--;
        WRIT_TRY(queue_text(c, item, text, err));
    }
    return WRIT_DONE;
}

/* Queues a statement with its parameters; prepares it first if necessary. */
static WRIT_RESULT
queue_statement(struct connection *c, struct statement *s, enum writ_sql_pipeline_kind kind,
    struct writ_err *err)
{
    struct writ_sql_pipeline_item item = {.kind = kind, .statement = s};
    struct writ_sql_pipeline_call call = {.name = s->name,
        .n = s->n,
        .values = s->values,
        .lengths = s->lengths,
        .formats = s->formats};

    if (s->misbound) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "database: a parameter that the statement lacks, or a value that is too long");
    }
    for (size_t i = 0; i < s->n; i++) {
        call.bytes += (size_t)s->lengths[i];
    }
    WRIT_TRY(queue_drops(c, err));
    if (s->prepared != c->generation) {
        WRIT_TRY(writ_sql_pipeline_prepare(&c->line, s->name, s->text, s, err));
        s->prepared = c->generation; /* keeps (3), with `ended` */
    }
    return writ_sql_pipeline_exec(&c->line, item, &call, err);
}

/* Gets the answers of the pipeline. */
static void
ended(void *ctx, const struct writ_sql_pipeline_item *item, PGresult *result)
{
    struct connection *c = ctx;
    struct statement *s = item->statement;

    if (item->kind == WRIT_SQL_PIPELINE_PREPARE && result == NULL) {
        s->prepared = 0;
    } else if (item->kind == WRIT_SQL_PIPELINE_DROP && result == NULL && c->drops_n < DROPS) {
        c->drops[c->drops_n++] = item->number;
    } else if (item->kind == WRIT_SQL_PIPELINE_RUN && result != NULL) {
        struct writ_view rows = writ_view_str(PQcmdTuples(result));

        if (!writ_is_ok(writ_text_u64(rows, 0, UINT64_MAX, &c->changed))) {
            c->changed = 0; /* a statement that counts no rows */
        }
    } else if (item->kind == WRIT_SQL_PIPELINE_QUERY && result != NULL && s->asked) {
        PQclear(s->result);
        s->result = result;
        return;
    }
    PQclear(result);
}

/* Ends the transaction in whatever state it is. */
static void
roll_back(struct connection *c)
{
    /* when a queued statement fails, the server skips the first ROLLBACK */
    for (int i = 0; i < 2 && c->line.pg != NULL; i++) {
        WRIT_IGNORE(queue_control(c, "ROLLBACK", NULL));       /* it closes the connection then */
        WRIT_IGNORE(writ_sql_pipeline_settle(&c->line, NULL)); /* the state says what is left */
        if (writ_sql_pipeline_idle(&c->line)) {
            break;
        }
    }
    if (!writ_sql_pipeline_idle(&c->line)) {
        writ_sql_pipeline_lose(&c->line);
    }
}

/* No transaction is open any more. */
static void
forget_transaction(struct connection *c)
{
    c->open = c->own = false;
    c->failed = WRIT_E_UNSET;
    c->cursors = 0;
    c->transactions++; /* keeps (4) */
}

/* ---- statements ---- */

static void
free_statement(struct statement *s)
{
    PQclear(s->result);
    writ_free(s->text);
    writ_free(s->values);
    writ_free(s->lengths);
    writ_free(s->formats);
    writ_free(s->ints);
    writ_free(s);
}

static void
free_statementp(struct statement **s)
{
    if (*s != NULL) {
        free_statement(*s);
    }
}

static void
unbind(struct statement *s)
{
    for (size_t i = 0; i < s->n; i++) {
        s->values[i] = NULL;
        s->lengths[i] = 0;
    }
    s->misbound = false;
}

static WRIT_RESULT
make_parameters(struct statement *s, struct writ_err *err)
{
    size_t n = s->n > 0 ? s->n : 1;

    s->values = writ_alloc(n * sizeof *s->values);
    s->lengths = writ_alloc(n * sizeof *s->lengths);
    s->formats = writ_alloc(n * sizeof *s->formats);
    s->ints = writ_alloc(n * sizeof *s->ints);
    if (s->values == NULL || s->lengths == NULL || s->formats == NULL || s->ints == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a statement");
    }
    for (size_t i = 0; i < s->n; i++) {
        s->formats[i] = 1;
    }
    return WRIT_DONE;
}

static writ_result
prepare(
    struct writ_sql *sql, const char *text, struct writ_sql_statement **ret, struct writ_err *err)
{
    struct connection *c = connection_of(sql);
    WRIT_AUTO(struct statement *, free_statementp) s = writ_alloc(sizeof *s);
    struct writ_buf buf = writ_buf_make(TEXT_MAX);
    writ_result result;

    if (s == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a statement");
    }
    s->base.sql = sql;
    s->many = writ_view_has_prefix(writ_view_str(text), WRIT_LIT(WRIT_SQL_MANY));
    s->number = ++c->names;
    put_name(s->name, sizeof s->name, "w", s->number);
    if (s->many) {
        writ_buf_fmt(&buf, "DECLARE %s NO SCROLL CURSOR FOR ", s->name);
    }
    result = writ_sql_placeholders(writ_view_str(text), &buf, &s->n, err);
    if (writ_is_ok(result)) {
        writ_buf_byte(&buf, '\0');
        result = writ_buf_check(&buf, err);
    }
    if (!writ_is_ok(result)) {
        writ_buf_wipe(&buf);
        return result;
    }
    s->text = buf.ptr; /* of the heap: taken */
    WRIT_TRY(make_parameters(s, err));
    *ret = &WRIT_TAKE(s)->base;
    return WRIT_DONE;
}

/* NULL, and noted, when the statement lacks the parameter. */
static struct statement *
bound_at(struct writ_sql_statement *base, int at)
{
    struct statement *s = statement_of(base);

    if (at < 1 || (size_t)at > s->n) {
        s->misbound = true;
        return NULL;
    }
    return s;
}

static void
bind_int(struct writ_sql_statement *base, int at, int64_t value)
{
    struct statement *s = bound_at(base, at);

    if (s != NULL) {
        s->ints[at - 1] = htobe64((uint64_t)value);
        s->values[at - 1] = (const char *)&s->ints[at - 1];
        s->lengths[at - 1] = (int)sizeof s->ints[at - 1];
    }
}

static void
bind_bytes(struct writ_sql_statement *base, int at, struct writ_view value, bool text)
{
    struct statement *s = bound_at(base, at);

    (void)text; /* both are bytea */
    if (s == NULL) {
        return;
    }
    if (value.len > INT_MAX) {
        s->misbound = true;
        return;
    }
    s->values[at - 1] = value.ptr != NULL ? value.ptr : "";
    s->lengths[at - 1] = (int)value.len;
}

static void
bind_null(struct writ_sql_statement *base, int at)
{
    struct statement *s = bound_at(base, at);

    if (s != NULL) {
        s->values[at - 1] = NULL;
        s->lengths[at - 1] = 0;
    }
}

/* ---- cursors ---- */

static bool
has_cursor(const struct connection *c, const struct statement *s)
{
    return s->cursor != 0 && s->cursor == c->transactions && in_transaction(c);
}

/* Waits for the rows that the statement asked for. */
static WRIT_RESULT
take_rows(struct connection *c, struct statement *s, struct writ_err *err)
{
    bool asked = s->asked;
    writ_result result = writ_sql_pipeline_settle(&c->line, err);

    s->asked = false;
    WRIT_TRY(result);
    if (!asked || s->result == NULL) { /* it was skipped, and then its transaction ended */
        WRIT_FAIL(err, WRIT_E_IO, "database: the transaction of a query has ended");
    }
    s->row = 0;
    s->last = true;
    return WRIT_DONE;
}

/* Queues the next rows of the cursor, and waits for them. */
static WRIT_RESULT
fetch(struct connection *c, struct statement *s, struct writ_err *err)
{
    char text[64];
    struct writ_buf buf = writ_buf_over(text, sizeof text);
    struct writ_sql_pipeline_item item = {.kind = WRIT_SQL_PIPELINE_QUERY, .statement = s};

    writ_buf_fmt(&buf, "FETCH %d FROM %s", FETCH, s->name);
    writ_buf_byte(&buf, '\0');
    WRIT_TRY(writ_buf_check(&buf, err));
    s->asked = true;
    WRIT_TRY(queue_text(c, item, text, err));
    WRIT_TRY(take_rows(c, s, err));
    s->last = PQntuples(s->result) < FETCH;
    return WRIT_DONE;
}

static WRIT_RESULT
open_cursor(struct connection *c, struct statement *s, struct writ_err *err)
{
    bool own = !in_transaction(c);

    if (own) {
        forget_transaction(c);
        c->own = true;
    }
    s->cursor = c->transactions; /* its reset ends the transaction, also after a failure */
    c->cursors++;
    if (own) {
        WRIT_TRY(queue_control(c, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", err));
    }
    WRIT_TRY(queue_statement(c, s, WRIT_SQL_PIPELINE_CONTROL, err));
    return fetch(c, s, err);
}

static void
close_cursor(struct connection *c, struct statement *s)
{
    bool open = has_cursor(c, s);

    s->cursor = 0;
    if (!open) {
        return;
    }
    c->cursors--;
    if (c->own && c->cursors == 0) {
        roll_back(c);
        forget_transaction(c);
    } else if (writ_is_ok(usable(c, NULL))) {
        struct writ_err why = {0};
        char text[64];

        put_name(text, sizeof text, "CLOSE w", s->number);
        WRIT_IGNORE(note(c, queue_control(c, text, &why), &why, NULL)); /* fails the transaction */
    }
}

/* ---- steps ---- */

static void
reset(struct writ_sql_statement *base)
{
    struct statement *s = statement_of(base);

    PQclear(s->result);
    s->result = NULL;
    s->asked = s->last = false;
    unbind(s);
    close_cursor(connection_of(base->sql), s);
}

static void
finalize(struct writ_sql_statement *base)
{
    struct statement *s = statement_of(base);
    struct connection *c = connection_of(base->sql);
    struct writ_err why = {0};

    reset(base);
    /* the queue may have it still; a failure fails the transaction */
    WRIT_IGNORE(note(c, writ_sql_pipeline_settle(&c->line, &why), &why, NULL));
    if (s->prepared == c->generation && c->line.pg != NULL) {
        if (c->drops_n == DROPS && writ_is_ok(usable(c, NULL))) {
            writ_result result = queue_drops(c, &why);

            if (writ_is_ok(result)) {
                result = writ_sql_pipeline_settle(&c->line, &why);
            }
            WRIT_IGNORE(note(c, result, &why, NULL));
        }
        if (c->drops_n < DROPS) { /* else the server has it until the connection ends */
            c->drops[c->drops_n++] = s->number;
        }
    }
    free_statement(s);
}

/* Runs a statement to its first rows. */
static WRIT_RESULT
start(struct connection *c, struct statement *s, struct writ_err *err)
{
    if (s->many) {
        return open_cursor(c, s, err);
    }
    s->asked = true;
    WRIT_TRY(queue_statement(c, s, WRIT_SQL_PIPELINE_QUERY, err));
    return take_rows(c, s, err);
}

static writ_result
ask(struct writ_sql_statement *base, struct writ_err *err)
{
    struct connection *c = connection_of(base->sql);
    struct statement *s = statement_of(base);
    struct writ_err why = {0};
    writ_result result;

    if (!c->open || s->many || s->asked || s->result != NULL) { /* keeps (1) */
        return WRIT_DONE;
    }
    result = usable(c, &why);
    if (writ_is_ok(result)) {
        s->asked = true;
        result = queue_statement(c, s, WRIT_SQL_PIPELINE_QUERY, &why);
    }
    return note(c, result, &why, err);
}

static WRIT_RESULT
advance(struct connection *c, struct statement *s, struct writ_err *err)
{
    if (s->result == NULL && !s->asked) {
        WRIT_TRY(revive(c, err));
    }
    WRIT_TRY(usable(c, err));
    if (s->asked) {
        return take_rows(c, s, err);
    }
    if (s->result == NULL) {
        return start(c, s, err);
    }
    if (s->row < PQntuples(s->result)) {
        s->row++;
    }
    if (s->row < PQntuples(s->result) || s->last) {
        return WRIT_DONE;
    }
    if (!has_cursor(c, s)) {
        WRIT_FAIL(err, WRIT_E_IO, "database: the transaction of a cursor has ended");
    }
    return fetch(c, s, err);
}

static writ_result
step(struct writ_sql_statement *base, bool *ret_row, struct writ_err *err)
{
    struct statement *s = statement_of(base);
    struct connection *c = connection_of(base->sql);
    struct writ_err why = {0};
    writ_result result = advance(c, s, &why);

    if (writ_is_ok(result)) {
        *ret_row = s->row < PQntuples(s->result);
    }
    return note(c, result, &why, err);
}

static WRIT_RESULT
run_it(struct connection *c, struct statement *s, struct writ_err *err)
{
    WRIT_TRY(usable(c, err));
    if (s->many) {
        return advance(c, s, err);
    }
    WRIT_TRY(queue_statement(c, s, WRIT_SQL_PIPELINE_RUN, err));
    if (c->open && !writ_sql_pipeline_full(&c->line)) {
        return WRIT_DONE;
    }
    return writ_sql_pipeline_settle(&c->line, err); /* keeps (1) */
}

static writ_result
run(struct writ_sql_statement *base, struct writ_err *err)
{
    struct connection *c = connection_of(base->sql);
    struct writ_err why = {0};
    writ_result result = note(c, run_it(c, statement_of(base), &why), &why, err);

    reset(base);
    return result;
}

/* ---- columns ---- */

static bool
is_null(const struct writ_sql_statement *base, int column)
{
    const struct statement *s = statement_of(base);

    return s->result == NULL || s->row >= PQntuples(s->result) ||
           PQgetisnull(s->result, s->row, column) != 0;
}

static struct writ_view
get_bytes(const struct writ_sql_statement *base, int column)
{
    const struct statement *s = statement_of(base);

    if (is_null(base, column)) {
        return writ_view(NULL, 0);
    }
    return writ_view(
        PQgetvalue(s->result, s->row, column), (size_t)PQgetlength(s->result, s->row, column));
}

/* A two's complement number of up to eight bytes, the highest first. */
static int64_t
big_endian(struct writ_view bytes)
{
    uint64_t value = bytes.len > 0 && ((unsigned char)bytes.ptr[0] & 0x80) != 0 ? UINT64_MAX : 0;

    for (size_t i = 0; i < bytes.len; i++) {
        value = value << 8 | (unsigned char)bytes.ptr[i];
    }
    return (int64_t)value;
}

/* The integer part of a numeric, as the sum of a column of bigint is: the count of its digits to
 * the base 10000, the weight of the first one, sign, scale, digits; two bytes each. */
static int64_t
numeric(struct writ_view bytes)
{
    int64_t digits = big_endian(writ_view_sub(bytes, 0, 2));
    int64_t weight = big_endian(writ_view_sub(bytes, 2, 2));
    bool negative = big_endian(writ_view_sub(bytes, 4, 2)) == 0x4000;
    int64_t value = 0;

    for (int64_t i = 0; i <= weight; i++) {
        int64_t digit = i < digits ? big_endian(writ_view_sub(bytes, 8 + 2 * (size_t)i, 2)) : 0;

        if (__builtin_mul_overflow(value, 10000, &value) ||
            __builtin_sub_overflow(value, digit, &value)) {
            return negative ? INT64_MIN : INT64_MAX;
        }
    }
    if (negative) {
        return value;
    }
    return value == INT64_MIN ? INT64_MAX : -value;
}

static int64_t
get_int(const struct writ_sql_statement *base, int column)
{
    struct writ_view bytes = get_bytes(base, column);

    if (bytes.ptr == NULL) {
        return 0;
    }
    switch (PQftype(statement_of(base)->result, column)) {
    case TYPE_BOOL:
    case TYPE_INT2:
    case TYPE_INT4:
    case TYPE_INT8:
        return big_endian(bytes);
    case TYPE_OID:
        return big_endian(bytes) & 0xffffffff;
    case TYPE_NUMERIC:
        return numeric(bytes);
    default:
        return 0;
    }
}

/* ---- transactions ---- */

static writ_result
changed(struct writ_sql *sql, uint64_t *ret, struct writ_err *err)
{
    struct connection *c = connection_of(sql);
    struct writ_err why = {0};
    writ_result result = usable(c, &why);

    if (writ_is_ok(result)) {
        result = writ_sql_pipeline_settle(&c->line, &why);
    }
    if (writ_is_ok(result)) {
        *ret = c->changed;
    }
    return note(c, result, &why, err);
}

static WRIT_RESULT
execute_it(struct connection *c, const char *text, struct writ_err *err)
{
    WRIT_TRY(usable(c, err));
    WRIT_TRY(writ_sql_pipeline_settle(&c->line, err));
    WRIT_TRY(writ_sql_pipeline_simple(&c->line, text, err));
    if (!in_transaction(c) && !writ_sql_pipeline_idle(&c->line)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "database: a text must end the transaction that it begins");
    }
    return WRIT_DONE;
}

static writ_result
execute(struct writ_sql *sql, const char *text, struct writ_err *err)
{
    struct connection *c = connection_of(sql);
    struct writ_err why = {0};
    writ_result result = execute_it(c, text, &why);

    if (!writ_is_ok(result) && !in_transaction(c) && c->line.pg != NULL &&
        !writ_sql_pipeline_idle(&c->line)) {
        roll_back(c);
    }
    return note(c, result, &why, err);
}

static writ_result
begin(struct writ_sql *sql, enum writ_sql_mode mode, struct writ_err *err)
{
    struct connection *c = connection_of(sql);
    struct writ_err why = {0};

    WRIT_TRY(revive(c, err));
    WRIT_TRY(usable(c, err));
    if (in_transaction(c)) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "database: a transaction is open: end it, and reset the cursors that were opened "
            "outside of one");
    }
    forget_transaction(c);
    c->open = true;
    return note(c,
        queue_control(c,
            mode == WRIT_SQL_READ ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
                                  : "BEGIN ISOLATION LEVEL READ COMMITTED",
            &why),
        &why, err);
}

static void
rollback(struct writ_sql *sql)
{
    struct connection *c = connection_of(sql);

    if (c->open) {
        roll_back(c);
        forget_transaction(c);
    }
}

static WRIT_RESULT
commit_it(struct connection *c, struct writ_err *err)
{
    WRIT_TRY(usable(c, err));
    if (!c->open) {
        WRIT_FAIL(err, WRIT_E_INVALID, "database: no transaction is open");
    }
    WRIT_TRY(queue_text(
        c, (struct writ_sql_pipeline_item){.kind = WRIT_SQL_PIPELINE_COMMIT}, "COMMIT", err));
    return writ_sql_pipeline_settle(&c->line, err);
}

static writ_result
commit(struct writ_sql *sql, bool *ret_unknown, struct writ_err *err)
{
    struct connection *c = connection_of(sql);
    writ_result result;

    c->line.commit = WRIT_SQL_PIPELINE_UNSENT;
    result = commit_it(c, err);
    if (c->line.commit == WRIT_SQL_PIPELINE_COMMITTED) {
        forget_transaction(c);
        return WRIT_DONE; /* also when the connection was lost after the answer */
    }
    if (c->line.commit == WRIT_SQL_PIPELINE_UNKNOWN) {
        writ_sql_pipeline_lose(&c->line);
        if (ret_unknown != NULL) {
            *ret_unknown = true;
        }
    }
    rollback(sql);
    return result;
}

/* ---- the connection ---- */

static void
close_it(struct writ_sql *sql)
{
    struct connection *c = connection_of(sql);

    writ_sql_pipeline_lose(&c->line); /* the server rolls back */
    writ_free(c->uri);
    writ_free(c);
}

static const struct writ_sql_engine engine = {
    .close = close_it,
    .prepare = prepare,
    .finalize = finalize,
    .bind_int = bind_int,
    .bind_bytes = bind_bytes,
    .bind_null = bind_null,
    .step = step,
    .ask = ask,
    .run = run,
    .reset = reset,
    .get_int = get_int,
    .get_bytes = get_bytes,
    .is_null = is_null,
    .changed = changed,
    .execute = execute,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
};

static writ_result
connect_again(struct connection *c, struct writ_err *err)
{
    writ_sql_pipeline_lose(&c->line);
    forget_transaction(c);
    c->drops_n = 0;
    c->generation++;
    return writ_sql_pipeline_connect(&c->line, c->uri, c->read_only, err);
}

WRIT_RESULT
writ_sql_postgres(
    const struct writ_sql_postgres_options *options, struct writ_sql **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_sql *, writ_sql_closep) sql = NULL;
    struct writ_view uri = writ_view_str(options->uri);
    struct connection *c;

    WRIT_TRY(writ_sql_uri_check(options->uri, err));
    c = writ_alloc(sizeof *c);
    if (c == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a connection");
    }
    sql = &c->base;
    c->base.engine = &engine;
    c->read_only = options->read_only;
    c->line.wait_us = options->wait_us > 0 ? options->wait_us : WRIT_SQL_POSTGRES_WAIT_US;
    if (c->line.wait_us > WRIT_SQL_POSTGRES_WAIT_MOST_US) {
        c->line.wait_us = WRIT_SQL_POSTGRES_WAIT_MOST_US;
    }
    c->line.poisoned = &c->base.poisoned;
    c->line.ended = ended;
    c->line.ctx = c;
    c->uri = writ_alloc(uri.len + 1);
    if (c->uri == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a connection");
    }
    (void)writ_view_place(uri, c->uri);
    WRIT_TRY(connect_again(c, err));
    *ret = WRIT_TAKE(sql);
    return WRIT_DONE;
}

bool
writ_sql_is_postgres(const struct writ_sql *sql)
{
    return sql->engine == &engine;
}

bool
writ_sql_broken(const struct writ_sql *sql)
{
    return writ_sql_is_postgres(sql) && connection_of(sql)->line.pg == NULL;
}

void
writ_sql_give_up(struct writ_sql *sql)
{
    if (writ_sql_is_postgres(sql)) {
        writ_sql_pipeline_lose(&connection_of(sql)->line);
    }
}

WRIT_RESULT
writ_sql_reconnect(struct writ_sql *sql, struct writ_err *err)
{
    if (!writ_sql_is_postgres(sql)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a ledger on SQLite has no connection to make again");
    }
    return connect_again(connection_of(sql), err);
}

const char *
writ_sql_state(const struct writ_sql *sql)
{
    return writ_sql_is_postgres(sql) ? connection_of(sql)->line.state : "";
}
