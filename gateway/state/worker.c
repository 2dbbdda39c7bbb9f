/* worker.c - collects a loop's entries and submits them to the ledger as one batch when the loop is
 * idle or the batch is full. Every entry is called back; an outcome is submitted once more by
 * itself when the batch was refused. */
#include "gateway/state/worker.h"

#define SCRATCH_MAX ((size_t)4 << 30) /* the texts that it reads have much lower limits */

static void
flush_batch(struct writ_task *task)
{
    struct writ_worker *worker = task->ctx;
    size_t n = worker->batch_n;

    worker->batch_n = 0;
    if (n == 0 || writ_is_ok(writ_ledger_submit(worker->ledger, worker->batch, n))) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct writ_entry *entry = worker->batch[i];
        /* the outcome of a call that ran is recorded, even when no new entry is accepted */
        if (entry->kind != WRIT_ENTRY_OUTCOME ||
            !writ_is_ok(writ_ledger_submit(worker->ledger, &entry, 1))) {
            entry->code = WRIT_E_BUSY;
            entry->done(entry);
        }
    }
}

writ_result
writ_worker_init(struct writ_worker *worker, size_t batch_max, const struct writ_limits *limits,
    struct writ_err *err)
{
    size_t most = (size_t)limits->in_flight;

    WRIT_TRY(writ_shares_init(&worker->shares, most, err));
    writ_shares_divide(
        &worker->shares, most, (unsigned)limits->agent_percent, (unsigned)limits->tenant_percent);
    worker->batch = writ_alloc(batch_max * sizeof *worker->batch);
    worker->scratch = writ_arena_new(SCRATCH_MAX);
    if (worker->batch == NULL || worker->scratch == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a loop's batch of records");
    }
    worker->batch_cap = batch_max;
    worker->strangers.per_s = WRIT_WORKER_STRANGERS_S;
    worker->flush = (struct writ_task){.fn = flush_batch, .ctx = worker};
    return WRIT_DONE;
}

void
writ_worker_wipe(struct writ_worker *worker)
{
    writ_probe_get_close(&worker->probed);
    for (size_t i = 0; i < WRIT_UPSTREAMS_MAX; i++) {
        writ_catalog_snapshot_forget(&worker->shelves[i]);
    }
    writ_shares_wipe(&worker->shares);
    writ_free(worker->batch);
    worker->batch = NULL;
    writ_arena_free(WRIT_TAKE(worker->scratch));
    writ_identity_free(WRIT_TAKE(worker->identity));
    writ_generation_drop(WRIT_TAKE(worker->generation));
}

void
writ_worker_submit(struct writ_worker *worker, struct writ_entry *entry)
{
    if (worker->batch_n == worker->batch_cap) {
        flush_batch(&worker->flush);
    }
    worker->batch[worker->batch_n++] = entry;
    writ_loop_defer(worker->loop, &worker->flush, WRIT_LOOP_IDLE);
}
