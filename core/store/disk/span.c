/* The time of the first record of a partition never changes, so each is read once. */
#include "store/disk/span.h"

#include "base/clock.h"
#include "base/id.h"
#include "store/sql/sql_postgres.h"

#define LOOK_US   INT64_C(60000000)  /* between looks for new partitions */
#define SLACK_US  INT64_C(600000000) /* clocks differ by less, as a rule */
#define PARTS_MAX 4096               /* of more, the later ones are asked together */

static const char list_text[] = WRIT_SQL_MANY "SELECT leaf FROM part WHERE leaf >= 0 ORDER BY leaf";
static const char time_text[] = "SELECT time_us FROM record WHERE leaf = ?";

void
writ_span_wipe(struct writ_span *span)
{
    writ_free(span->parts);
    *span = (struct writ_span){0};
}

/* What is known of a partition. */
static int64_t
time_of(const struct writ_span *span, uint64_t leaf)
{
    for (size_t i = 0; i < span->n; i++) {
        if (span->parts[i].leaf == leaf) {
            return span->parts[i].time_us;
        }
    }
    return INT64_MAX;
}

static WRIT_RESULT
list(const struct writ_span *span, struct writ_sql_statement *s, struct writ_span_part *parts,
    size_t *ret, struct writ_err *err)
{
    bool row = false;
    size_t n = 0;

    WRIT_TRY(writ_sql_step(s, &row, err));
    while (row && n < PARTS_MAX) {
        uint64_t leaf = (uint64_t)writ_sql_int(s, 0);

        parts[n++] = (struct writ_span_part){leaf, time_of(span, leaf)};
        WRIT_TRY(writ_sql_step(s, &row, err));
    }
    *ret = n;
    return WRIT_DONE;
}

/* Asks for the time of the first record, unless it is known. */
static WRIT_RESULT
learn(struct writ_sql_statement *s, struct writ_span_part *part, struct writ_err *err)
{
    bool row = false;
    writ_result result;

    if (part->time_us != INT64_MAX) {
        return WRIT_DONE;
    }
    writ_sql_bind_int(s, 1, (int64_t)part->leaf);
    result = writ_sql_step(s, &row, err);
    if (writ_is_ok(result) && row) {
        part->time_us = writ_sql_int(s, 0);
    }
    writ_sql_reset(s);
    return result;
}

static WRIT_RESULT
look(struct writ_span *span, struct writ_sql_statement *const *s, struct writ_err *err)
{
    struct writ_span_part *parts = writ_alloc(PARTS_MAX * sizeof *parts);
    size_t n = 0;
    writ_result result;

    if (parts == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the partitions of the ledger");
    }
    result = list(span, s[0], parts, &n, err);
    writ_sql_reset(s[0]);
    for (size_t i = 0; writ_is_ok(result) && i < n; i++) {
        result = learn(s[1], &parts[i], err);
    }
    if (!writ_is_ok(result)) {
        writ_free(parts);
        return result;
    }
    writ_free(span->parts);
    span->parts = parts;
    span->n = n;
    span->looked_us = writ_clock_mono_us(writ_clock_system());
    return WRIT_DONE;
}

WRIT_RESULT
writ_span_from(struct writ_span *span, struct writ_sql *sql, struct writ_view id, uint64_t *ret,
    struct writ_err *err)
{
    static const char *const texts[] = {list_text, time_text};
    struct writ_sql_statement *statements[2] = {NULL, NULL};
    int64_t time_us = 0, now_us = writ_clock_mono_us(writ_clock_system());
    uint64_t from = 0;

    *ret = 0;
    if (!writ_sql_is_postgres(sql) || !writ_id_time(id, &time_us)) {
        return WRIT_DONE;
    }
    if (span->looked_us == 0 || now_us - span->looked_us >= LOOK_US) {
        writ_result result = writ_sql_prepare_all(sql, texts, 2, statements, err);

        if (writ_is_ok(result)) {
            result = look(span, statements, err);
        }
        writ_sql_finalize_all(statements, 2);
        WRIT_TRY(result);
    }
    for (size_t i = 0; i < span->n; i++) {
        if (span->parts[i].time_us <= time_us - SLACK_US) {
            from = span->parts[i].leaf;
        }
    }
    *ret = from;
    return WRIT_DONE;
}
