/* The batch is complete before it is sent: reading ends before anything waits for the receiver. */
#include "gateway/export/exporter.h"

#include "gateway/export/export_cursor.h"
#include "store/read/tail.h"

#define ARENA_MAX ((size_t)256 << 20)
#define BATCH_MAX ((size_t)16 << 20) /* a batch that is full, and one event more */

struct writ_exporter {
    struct writ_exporter_options options;
    struct writ_tail *tail;
    struct writ_sink *sink;
    struct writ_arena *arena; /* one event */
    struct writ_buf batch;
    uint64_t next;
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
    WRIT_TRY(
        writ_tail_settle(exporter->tail, err)); /* one run exports what there is at its start */
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
        return WRIT_DONE;
    }
    WRIT_TRY(send_batch(exporter, reading.n, stop, err));
    ret->sent = reading.n;
    ret->next = exporter->next;
    ret->waiting -= reading.n < ret->waiting ? reading.n : ret->waiting;
    return WRIT_DONE;
}
