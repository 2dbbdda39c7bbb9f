/* journal.c - submits one fact and blocks on a semaphore until the writer has answered. */
#include "gateway/stops/journal.h"

#include <semaphore.h>

static void
on_done(struct writ_entry *entry)
{
    (void)sem_post(entry->user);
}

WRIT_RESULT
writ_journal_write(
    void *ctx, enum writ_fact_event event, struct writ_view data, struct writ_err *err)
{
    struct writ_ledger *ledger = ctx;
    sem_t done;
    struct writ_entry entry = {.kind = WRIT_ENTRY_FACT,
        .done = on_done,
        .user = &done,
        .fact = {.event = event, .data = data}};
    struct writ_entry *entries[] = {&entry};
    writ_result result;

    (void)sem_init(&done, 0, 0);
    result = writ_ledger_submit(ledger, entries, 1);
    if (writ_is_ok(result)) {
        while (sem_wait(&done) != 0) {
        }
        result.code = entry.code;
    }
    (void)sem_destroy(&done);
    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, result.code, "the ledger could not record it");
    }
    return WRIT_DONE;
}
