/* The batch is complete before it is sent: reading ends before anything waits for the receiver. */
#include "gateway/export/exporter.h"

#include "base/clock.h"
#include "gateway/export/export_cursor.h"
#include "store/read/tail.h"

#define ARENA_MAX   ((size_t)256 << 20)
#define UNSIGNED_US INT64_C(5000000)   /* a gateway that lives signs long before */
#define BATCH_MAX   ((size_t)16 << 20) /* a batch that is full, and one event more */

struct writ_exporter {
    struct writ_exporter_options options;
    struct writ_tail *tail;
    struct writ_sink *sink;
    struct writ_arena *arena; /* one event */
    struct writ_buf batch;
    uint64_t next;
    uint64_t signed_size;      /* records under the last checkpoint, while later ones have none */
    int64_t unsigned_since_us; /* monotonic: since when; 0: all are signed */
};

/* One reading. */
struct reading {
    struct writ_exporter *exporter;
    uint64_t n;
    int64_t oldest_us;
    writ_result result;
    struct writ_err *err;
};

void
writ_exporter_close(struct writ_exporter *exporter)
{
    if (exporter != NULL) {
        writ_tail_close(exporter->tail);
        writ_sink_close(exporter->sink);
        writ_arena_free(exporter->arena);
        writ_buf_wipe(&exporter->batch);
        writ_free(exporter);
    }
}

static void
exporter_freep(struct writ_exporter **exporter)
{
    writ_exporter_close(*exporter);
}

/* The number of records that are not exported yet. */
static WRIT_RESULT
count_waiting(struct writ_exporter *exporter, uint64_t *ret, struct writ_err *err)
{
    uint64_t size = 0;

    WRIT_TRY(writ_tail_size(exporter->tail, &size, err));
    if (exporter->next > size) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "%llu records are exported, and the ledger has %llu: it lost some, or is an older copy",
            (unsigned long long)exporter->next, (unsigned long long)size);
    }
    *ret = size - exporter->next;
    return WRIT_DONE;
}

/* Records that nothing signs are not exported: without an error an export would wait for ever. */
static WRIT_RESULT
check_signed(struct writ_exporter *exporter, uint64_t size, struct writ_err *err)
{
    int64_t now_us = writ_clock_mono_us(writ_clock_system());
    uint64_t all = 0;

    WRIT_TRY(writ_tail_all(exporter->tail, &all, err));
    if (all <= size) {
        exporter->unsigned_since_us = 0;
        return WRIT_DONE;
    }
    if (exporter->unsigned_since_us == 0 || size != exporter->signed_size) {
        exporter->unsigned_since_us = now_us;
        exporter->signed_size = size;
    }
    if (now_us - exporter->unsigned_since_us >= UNSIGNED_US) {
        WRIT_FAIL(err, WRIT_E_IO,
            "the last %llu records are not signed, and wait: the gateway cannot write or was "
            "killed, and signs them when it can, or the ledger was changed (see `writ ledger "
            "verify`)",
            (unsigned long long)(all - size));
    }
    return WRIT_DONE;
}

/* What there is at the start is exported by one run; what is still unsigned then stays so. */
static WRIT_RESULT
settle(struct writ_exporter *exporter, struct writ_err *err)
{
    bool is_signed = false;

    WRIT_TRY(writ_tail_settle(exporter->tail, &is_signed, err));
    if (!is_signed) {
        WRIT_TRY(writ_tail_size(exporter->tail, &exporter->signed_size, err));
        exporter->unsigned_since_us = writ_clock_mono_us(writ_clock_system()) - UNSIGNED_US;
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_cursor(struct writ_exporter *exporter, struct writ_err *err)
{
    writ_result result;

    exporter->next = exporter->options.from;
    if (exporter->options.cursor == NULL) {
        return WRIT_DONE;
    }
    result = writ_export_cursor_read(
        exporter->options.cursor, writ_tail_origin(exporter->tail), &exporter->next, err);
    return result.code == WRIT_E_ABSENT ? WRIT_DONE : result;
}

WRIT_RESULT
writ_exporter_open(
    const struct writ_exporter_options *options, struct writ_exporter **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_exporter *, exporter_freep) exporter = writ_alloc(sizeof *exporter);
    uint64_t waiting = 0;

    if (exporter == NULL || (exporter->arena = writ_arena_new(ARENA_MAX)) == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for an export");
    }
    exporter->options = *options;
    exporter->batch = writ_buf_make(BATCH_MAX);
    WRIT_TRY(writ_sink_open(&options->sink, &exporter->sink, err));
    WRIT_TRY(writ_tail_open(options->ledger, &exporter->tail, err));
    WRIT_TRY(settle(exporter, err));
    WRIT_TRY(read_cursor(exporter, err));
    WRIT_TRY(count_waiting(exporter, &waiting, err));
    *ret = WRIT_TAKE(exporter);
    return WRIT_DONE;
}

static WRIT_RESULT
add(struct writ_exporter *exporter, const struct writ_tail_record *record, struct writ_err *err)
{
    const struct writ_export_source source = {.kind = (enum writ_export_kind)record->kind,
        .leaf = record->leaf,
        .time_us = record->time_us,
        .record = record->body,
        .decision = record->decision,
        .checkpoint = record->note};
    struct writ_export_event event;

    writ_arena_reset(exporter->arena);
    WRIT_TRY(writ_export_event_make(&source, exporter->arena, &event, err));
    return writ_sink_encode(exporter->sink, &event, &exporter->batch, err);
}

static bool
take(void *ctx, const struct writ_tail_record *record)
{
    struct reading *reading = ctx;

    reading->result = add(reading->exporter, record, reading->err);
    if (!writ_is_ok(reading->result)) {
        return false;
    }
    reading->oldest_us = reading->n == 0 ? record->time_us : reading->oldest_us;
    reading->n++;
    return reading->exporter->batch.len < WRIT_EXPORTER_BYTES;
}

static WRIT_RESULT
send_batch(
    struct writ_exporter *exporter, uint64_t n, const atomic_bool *stop, struct writ_err *err)
{
    WRIT_TRY(writ_sink_deliver(exporter->sink, &exporter->batch, stop, err));
    if (exporter->options.cursor != NULL) {
        WRIT_TRY(writ_export_cursor_write(
            exporter->options.cursor, writ_tail_origin(exporter->tail), exporter->next + n, err));
    }
    exporter->next += n;
    return WRIT_DONE;
}

WRIT_RESULT
writ_exporter_step(struct writ_exporter *exporter, const atomic_bool *stop,
    struct writ_exporter_progress *ret, struct writ_err *err)
{
    struct reading reading = {.exporter = exporter, .result = WRIT_DONE, .err = err};

    *ret = (struct writ_exporter_progress){.next = exporter->next};
    writ_buf_clear(&exporter->batch);
    WRIT_TRY(count_waiting(exporter, &ret->waiting, err));
    WRIT_TRY(
        writ_tail_read(exporter->tail, exporter->next, WRIT_EXPORTER_EVENTS, take, &reading, err));
    WRIT_TRY(reading.result);
    ret->oldest_us = reading.oldest_us;
    if (reading.n == 0) {
        return check_signed(exporter, exporter->next, err);
    }
    WRIT_TRY(send_batch(exporter, reading.n, stop, err));
    ret->sent = reading.n;
    ret->next = exporter->next;
    ret->waiting -= reading.n < ret->waiting ? reading.n : ret->waiting;
    return WRIT_DONE;
}
