/* The socket never blocks: while commands are flushed, answers are consumed, so that neither side
 * waits for the other with full buffers. Invariants:
 *
 * (1) `items` has one entry for each command that libpq was given and whose answer was not read.
 * (2) After an error that leaves this in doubt the connection is closed.
 * (3) Errors repeat the primary message only: the detail may have values of parameters. */
#include "store/sql/sql_pipeline.h"

#include "base/clock.h"
#include "store/sql/sql_uri.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>

#define MAGIC         0x70676c6eu
#define CAPACITY      (WRIT_SQL_PIPELINE_ITEMS + WRIT_SQL_PIPELINE_SPARE)
#define TEXT_MAX      512
#define CONNECT_S     2 /* the least connect_timeout */
#define LEAST_VERSION 150000

static int64_t
now_us(void)
{
    return writ_clock_mono_us(writ_clock_system());
}

/* ---- errors ---- */

static struct writ_view
field(const PGresult *result, int code)
{
    return writ_view_str(PQresultErrorField(result, code));
}

static bool
is_one_of(struct writ_view state, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (writ_view_is(state, list[i])) {
            return true;
        }
    }
    return false;
}

#define IS_ONE_OF(state, list) is_one_of(state, list, sizeof(list) / sizeof(list)[0])

/* True for an error after which the server closes the connection. */
static bool
ends_connection(const PGresult *result, struct writ_view state)
{
    static const char *const shutdown[] = {"57P01", "57P02", "57P03"};
    struct writ_view severity = field(result, PG_DIAG_SEVERITY_NONLOCALIZED);

    return IS_ONE_OF(state, shutdown) || writ_view_has_prefix(state, WRIT_LIT("08")) ||
           writ_view_is(severity, "FATAL") || writ_view_is(severity, "PANIC");
}

static enum writ_code
code_of(struct writ_view state)
{
    /* serialization failure, deadlock, lock timeout, canceled */
    static const char *const busy[] = {"40001", "40P01", "55P03", "57014"};

    if (IS_ONE_OF(state, busy)) {
        return WRIT_E_BUSY;
    }
    return writ_view_is(state, "53200") ? WRIT_E_NOMEM : WRIT_E_IO;
}

static WRIT_RESULT
lost(struct writ_sql_pipeline *line, struct writ_err *err)
{
    writ_sql_pipeline_lose(line);
    WRIT_FAIL(err, WRIT_E_IO, "database: the connection to the server is lost");
}

static void
keep_state(struct writ_sql_pipeline *line, struct writ_view state)
{
    state = writ_view_sub(state, 0, sizeof line->state - 1);
    (void)writ_view_place(state, line->state);
    line->state[state.len] = '\0';
}

/* Reports a result that is an error. */
static WRIT_RESULT
failed(struct writ_sql_pipeline *line, const PGresult *result, struct writ_err *err)
{
    static const char *const corrupt[] = {"XX001", "XX002"};
    struct writ_view state = field(result, PG_DIAG_SQLSTATE);
    struct writ_view text = field(result, PG_DIAG_MESSAGE_PRIMARY);
    enum writ_code code = code_of(state);

    keep_state(line, state);
    if (state.len == 0) { /* of libpq, not of the server */
        bool memory =
            PQstatus(line->pg) == CONNECTION_OK && PQresultStatus(result) == PGRES_FATAL_ERROR;

        writ_sql_pipeline_lose(line); /* keeps (2) */
        WRIT_FAIL(err, memory ? WRIT_E_NOMEM : WRIT_E_IO,
            memory ? "database: no memory for an answer of the server"
                   : "database: the connection to the server is lost");
    }
    if (IS_ONE_OF(state, corrupt)) {
        *line->poisoned = true;
    }
    (void)writ_fail(err, code, "database: " WRIT_VIEW_FMT " (" WRIT_VIEW_FMT ")",
        WRIT_VIEW_ARG(text), WRIT_VIEW_ARG(state));
    if (ends_connection(result, state) || PQstatus(line->pg) != CONNECTION_OK) {
        writ_sql_pipeline_lose(line);
    }
    return (writ_result){code};
}

/* A warning that comes with the answer of a commit: the server gave up to wait for a standby. libpq
 * parses a message only after the answers before it were read, so `items` says whose it is. */
static void
notice(void *ctx, const PGresult *result)
{
    struct writ_sql_pipeline *line = ctx;

    WRIT_INVARIANT(line->magic == MAGIC);
    if (line->n > 0 && line->items[line->first].kind == WRIT_SQL_PIPELINE_COMMIT &&
        writ_view_is(field(result, PG_DIAG_SEVERITY_NONLOCALIZED), "WARNING")) {
        line->warned = true;
    }
}

/* ---- the connection ---- */

void
writ_sql_pipeline_lose(struct writ_sql_pipeline *line)
{
    PQfinish(line->pg);
    line->pg = NULL;
    line->first = line->n = line->bytes = 0;
}

/* Why a connection failed, as one line. */
static WRIT_RESULT
not_connected(PGconn *pg, const char *uri, struct writ_err *err)
{
    char name_memory[TEXT_MAX], why_memory[TEXT_MAX];
    struct writ_buf name = writ_buf_over(name_memory, sizeof name_memory);
    struct writ_buf why = writ_buf_over(why_memory, sizeof why_memory);
    struct writ_view text = writ_view_str(PQerrorMessage(pg));

    WRIT_IGNORE(writ_sql_uri_name(uri, &name, NULL)); /* what fits into an error */
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] > ' ') {
            writ_buf_byte(&why, text.ptr[i]);
        } else if (i + 1 < text.len && (unsigned char)text.ptr[i + 1] > ' ') {
            writ_buf_byte(&why, ' ');
        }
    }
    WRIT_FAIL(err, WRIT_E_IO,
        WRIT_VIEW_FMT ": cannot connect: " WRIT_VIEW_FMT
                      ": check that the server runs, the URI, and the password file",
        WRIT_VIEW_ARG(writ_buf_view(&name)), WRIT_VIEW_ARG(writ_buf_view(&why)));
}

static WRIT_RESULT
connect_to(struct writ_sql_pipeline *line, const char *uri, struct writ_err *err)
{
    char timeout_memory[24], user_memory[24];
    struct writ_buf timeout = writ_buf_over(timeout_memory, sizeof timeout_memory);
    struct writ_buf user = writ_buf_over(user_memory, sizeof user_memory);
    int64_t s = (line->wait_us + 999999) / 1000000, ms = line->wait_us / 1000;
    /* what stands before the URI is a default for it; what stands after it wins */
    const char *keywords[] = {"connect_timeout", "tcp_user_timeout", "keepalives_idle",
        "keepalives_interval", "keepalives_count", "dbname", "application_name", "client_encoding",
        NULL};
    const char *values[] = {timeout_memory, user_memory, "10", "5", "3", uri, "writ", "UTF8", NULL};

    writ_buf_i64(&timeout, s < CONNECT_S ? CONNECT_S : s);
    writ_buf_byte(&timeout, '\0');
    writ_buf_i64(&user, ms);
    writ_buf_byte(&user, '\0');

    /* PQreset honours connect_timeout for each host and keeps the receiver of notices, which
     * PQconnectdbParams would print to stderr */
    line->pg = PQconnectStartParams(keywords, values, 1);
    if (line->pg == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a connection to the database");
    }
    (void)PQsetNoticeReceiver(line->pg, notice, line);
    PQreset(line->pg);
    if (PQstatus(line->pg) != CONNECTION_OK) {
        return not_connected(line->pg, uri, err);
    }
    if (PQserverVersion(line->pg) < LEAST_VERSION) {
        WRIT_FAIL(err, WRIT_E_IO,
            "database: the server is PostgreSQL %d: upgrade it to 15 or later",
            PQserverVersion(line->pg) / 10000);
    }
    if (PQsetnonblocking(line->pg, 1) != 0 || PQenterPipelineMode(line->pg) != 1) {
        return lost(line, err);
    }
    return WRIT_DONE;
}

/* What holds for the session. Plans are made once: for a table in partitions a plan for the present
 * parameters would look cheaper each time, and cost more to make than to run. */
static WRIT_RESULT
set_up(struct writ_sql_pipeline *line, bool read_only, struct writ_err *err)
{
    char memory[TEXT_MAX];
    struct writ_buf text = writ_buf_over(memory, sizeof memory);
    int64_t ms = line->wait_us / 1000;

    writ_buf_fmt(&text,
        "SET client_min_messages = warning; SET lock_timeout = %lld; "
        "SET plan_cache_mode = force_generic_plan; "
        "SET idle_in_transaction_session_timeout = %lld; SET default_transaction_read_only = %s",
        (long long)(ms / 2 > 0 ? ms / 2 : 1), (long long)(ms > 0 ? 2 * ms : 1),
        read_only ? "on" : "off");
    writ_buf_byte(&text, '\0');
    WRIT_TRY(writ_buf_check(&text, err));
    return writ_sql_pipeline_simple(line, memory, err);
}

WRIT_RESULT
writ_sql_pipeline_connect(
    struct writ_sql_pipeline *line, const char *uri, bool read_only, struct writ_err *err)
{
    writ_result result;

    line->magic = MAGIC;
    line->state[0] = '\0';
    result = connect_to(line, uri, err);
    if (writ_is_ok(result)) {
        result = set_up(line, read_only, err);
    }
    if (!writ_is_ok(result)) {
        writ_sql_pipeline_lose(line);
    }
    return result;
}

/* ---- commands ---- */

static WRIT_RESULT
connected(const struct writ_sql_pipeline *line, struct writ_err *err)
{
    if (line->pg == NULL) {
        WRIT_FAIL(err, WRIT_E_IO, "database: the connection to the server is lost");
    }
    return WRIT_DONE;
}

/* Notes a command that libpq was given; `sent` is what libpq said. */
static WRIT_RESULT
queued(struct writ_sql_pipeline *line, struct writ_sql_pipeline_item item, int sent,
    struct writ_err *err)
{
    if (sent != 1) {
        bool memory = PQstatus(line->pg) == CONNECTION_OK;

        writ_sql_pipeline_lose(line); /* keeps (2) */
        WRIT_FAIL(err, memory ? WRIT_E_NOMEM : WRIT_E_IO,
            memory ? "database: no memory to send a command"
                   : "database: the connection to the server is lost");
    }
    WRIT_INVARIANT(line->n < CAPACITY);
    line->items[(line->first + line->n) % CAPACITY] = item; /* keeps (1) */
    line->n++;
    return WRIT_DONE;
}

WRIT_RESULT
writ_sql_pipeline_prepare(struct writ_sql_pipeline *line, const char *name, const char *text,
    void *statement, struct writ_err *err)
{
    struct writ_sql_pipeline_item item = {
        .kind = WRIT_SQL_PIPELINE_PREPARE, .statement = statement};

    WRIT_TRY(connected(line, err));
    return queued(line, item, PQsendPrepare(line->pg, name, text, 0, NULL), err);
}

WRIT_RESULT
writ_sql_pipeline_exec(struct writ_sql_pipeline *line, struct writ_sql_pipeline_item item,
    const struct writ_sql_pipeline_call *call, struct writ_err *err)
{
    int sent;

    WRIT_TRY(connected(line, err));
    if (item.kind == WRIT_SQL_PIPELINE_COMMIT) {
        line->commit = WRIT_SQL_PIPELINE_UNKNOWN;
        line->warned = false;
    }
    if (call->name != NULL) {
        sent = PQsendQueryPrepared(
            line->pg, call->name, (int)call->n, call->values, call->lengths, call->formats, 1);
    } else {
        sent = PQsendQueryParams(line->pg, call->text, (int)call->n, NULL, call->values,
            call->lengths, call->formats, 1);
    }
    line->bytes += call->bytes;
    return queued(line, item, sent, err);
}

bool
writ_sql_pipeline_full(const struct writ_sql_pipeline *line)
{
    return line->n >= WRIT_SQL_PIPELINE_ITEMS || line->bytes >= WRIT_SQL_PIPELINE_BYTES;
}

/* ---- answers ---- */

static WRIT_RESULT
wait_for(struct writ_sql_pipeline *line, short events, int64_t until_us, struct writ_err *err)
{
    struct pollfd fd = {.fd = PQsocket(line->pg), .events = events};

    for (;;) {
        int64_t left_ms = (until_us - now_us() + 999) / 1000;
        int ready = poll(&fd, 1, left_ms < 0 ? 0 : left_ms > INT_MAX ? INT_MAX : (int)left_ms);

        if (ready > 0) {
            return WRIT_DONE;
        }
        if (ready < 0 && errno != EINTR) {
            return lost(line, err);
        }
        if (ready == 0 && left_ms <= 0) {
            writ_sql_pipeline_lose(line);
            WRIT_FAIL(err, WRIT_E_IO,
                "database: the server did not answer within %lld ms: the connection is given up",
                (long long)(line->wait_us / 1000));
        }
    }
}

/* Waits for the next result; NULL ends those of a command. */
static WRIT_RESULT
next_result(struct writ_sql_pipeline *line, PGresult **ret, struct writ_err *err)
{
    int64_t until_us = now_us() + line->wait_us;

    for (;;) {
        bool unsent = PQflush(line->pg) > 0; /* of an error the results tell */

        if (!PQisBusy(line->pg)) {
            break;
        }
        WRIT_TRY(wait_for(line, (short)(POLLIN | (unsent ? POLLOUT : 0)), until_us, err));
        if (PQconsumeInput(line->pg) != 1) {
            break; /* PQgetResult does not block then */
        }
    }
    *ret = PQgetResult(line->pg);
    return WRIT_DONE;
}

static void
result_freep(PGresult **result)
{
    PQclear(*result);
}

/* What an error in the place of the answer of `kind` tells about a commit that was sent. */
static void
note_refused(
    struct writ_sql_pipeline *line, enum writ_sql_pipeline_kind kind, const PGresult *result)
{
    bool certain = kind != WRIT_SQL_PIPELINE_COMMIT ||
                   writ_view_is(field(result, PG_DIAG_SEVERITY_NONLOCALIZED), "ERROR");

    if (line->commit == WRIT_SQL_PIPELINE_UNKNOWN && certain &&
        field(result, PG_DIAG_SQLSTATE).len > 0) {
        line->commit = WRIT_SQL_PIPELINE_REFUSED;
    }
}

static WRIT_RESULT
judge_commit(struct writ_sql_pipeline *line, PGresult *result, struct writ_err *err)
{
    if (line->warned) {
        writ_sql_pipeline_lose(line);
        WRIT_FAIL(err, WRIT_E_IO,
            "database: the server committed with a warning and may not have replicated: check its "
            "log and its standbys");
    }
    if (!writ_view_is(writ_view_str(PQcmdStatus(result)), "COMMIT")) {
        line->commit = WRIT_SQL_PIPELINE_REFUSED;
        WRIT_FAIL(err, WRIT_E_IO, "database: the server rolled the transaction back");
    }
    line->commit = WRIT_SQL_PIPELINE_COMMITTED;
    return WRIT_DONE;
}

/* Takes the first result of a command. */
static WRIT_RESULT
take(struct writ_sql_pipeline *line, const struct writ_sql_pipeline_item *item, PGresult *got,
    struct writ_err *err)
{
    WRIT_AUTO(PGresult *, result_freep) result = got;
    ExecStatusType status = PQresultStatus(result);
    writ_result judged = WRIT_DONE;

    if (status == PGRES_PIPELINE_SYNC && item->kind == WRIT_SQL_PIPELINE_SYNC) {
        return WRIT_DONE;
    }
    if (status == PGRES_PIPELINE_ABORTED) { /* an earlier failure is reported */
        if (item->kind == WRIT_SQL_PIPELINE_COMMIT) {
            line->commit = WRIT_SQL_PIPELINE_REFUSED;
        }
    } else if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) {
        if (item->kind == WRIT_SQL_PIPELINE_COMMIT) {
            judged = judge_commit(line, result, err);
        }
        line->ended(line->ctx, item, WRIT_TAKE(result));
        return judged;
    } else if (status == PGRES_FATAL_ERROR) {
        note_refused(line, item->kind, result);
        judged = failed(line, result, err);
    } else { /* keeps (2) */
        judged = lost(line, err);
    }
    if (item->kind != WRIT_SQL_PIPELINE_SYNC) {
        line->ended(line->ctx, item, NULL);
    }
    return judged;
}

/* Reads the answer of the first command. */
static WRIT_RESULT
answer(struct writ_sql_pipeline *line, struct writ_err *err)
{
    struct writ_sql_pipeline_item item = line->items[line->first];
    PGresult *result = NULL, *end = NULL;
    writ_result taken;

    WRIT_TRY(next_result(line, &result, err));
    if (result == NULL) {
        return lost(line, err);
    }
    taken = take(line, &item, result, err);
    if (line->pg == NULL) {
        return taken;
    }
    if (item.kind != WRIT_SQL_PIPELINE_SYNC) {
        writ_result ended = next_result(line, &end, writ_is_ok(taken) ? err : NULL);

        if (writ_is_ok(ended) && end != NULL) {
            PQclear(end);
            ended = lost(line, writ_is_ok(taken) ? err : NULL);
        }
        if (!writ_is_ok(ended)) {
            return writ_is_ok(taken) ? ended : taken;
        }
    }
    line->first = (line->first + 1) % CAPACITY;
    line->n--;
    return taken;
}

WRIT_RESULT
writ_sql_pipeline_settle(struct writ_sql_pipeline *line, struct writ_err *err)
{
    writ_result result = WRIT_DONE;

    if (line->n == 0) {
        return WRIT_DONE;
    }
    WRIT_TRY(connected(line, err));
    WRIT_TRY(queued(line, (struct writ_sql_pipeline_item){.kind = WRIT_SQL_PIPELINE_SYNC},
        PQpipelineSync(line->pg), err));
    while (line->n > 0) {
        writ_result one = answer(line, writ_is_ok(result) ? err : NULL);

        if (writ_is_ok(result)) {
            result = one;
        }
    }
    line->bytes = 0;
    return result;
}

/* Reads the results of a text of several statements. */
static WRIT_RESULT
read_all(struct writ_sql_pipeline *line, struct writ_err *err)
{
    writ_result result = WRIT_DONE;

    for (;;) {
        WRIT_AUTO(PGresult *, result_freep) got = NULL;
        writ_result one = next_result(line, &got, writ_is_ok(result) ? err : NULL);
        ExecStatusType status = PQresultStatus(got);

        if (writ_is_ok(one) && got == NULL) {
            return result;
        }
        if (writ_is_ok(one) && status == PGRES_FATAL_ERROR) {
            one = failed(line, got, writ_is_ok(result) ? err : NULL);
        } else if (writ_is_ok(one) && status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK &&
                   status != PGRES_EMPTY_QUERY) {
            one = lost(line, writ_is_ok(result) ? err : NULL);
        }
        if (writ_is_ok(result)) {
            result = one;
        }
        if (line->pg == NULL) {
            return result;
        }
    }
}

WRIT_RESULT
writ_sql_pipeline_simple(struct writ_sql_pipeline *line, const char *text, struct writ_err *err)
{
    writ_result result;

    WRIT_TRY(connected(line, err));
    WRIT_INVARIANT(line->n == 0);
    if (PQexitPipelineMode(line->pg) != 1 || PQsendQuery(line->pg, text) != 1) {
        return lost(line, err);
    }
    result = read_all(line, err);
    if (line->pg != NULL && PQenterPipelineMode(line->pg) != 1) {
        return lost(line, err);
    }
    return result;
}

bool
writ_sql_pipeline_idle(const struct writ_sql_pipeline *line)
{
    return line->pg != NULL && PQtransactionStatus(line->pg) == PQTRANS_IDLE;
}
