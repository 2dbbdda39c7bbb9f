/* One thread, one connection. `mutex` guards `state` and the flags; the connection belongs to the
 * thread. A pass that fails leaves the log longer, never shorter than the part that is in the
 * database. */
#include "store/disk/wal_checkpoint.h"

#include "base/thread.h"
#include "store/disk/disk.h"

struct writ_wal_checkpoint {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    struct writ_sql *sql;
    bool asked, stopping;
    bool begun; /* the log has restarted since the last pass began */
    struct writ_wal_state state;
    struct writ_err why;
};

/* One pass. PASSIVE does not wait, and neither the writer nor a reader waits for it. */
static void
pass(struct writ_wal_checkpoint *checkpoint, struct writ_wal_state *state, struct writ_err *why)
{
    sqlite3 *db = writ_sql_sqlite_of(checkpoint->sql);
    int pages = 0, copied = 0;
    int rc = sqlite3_wal_checkpoint_v2(db, "main", SQLITE_CHECKPOINT_PASSIVE, &pages, &copied);

    if (rc == SQLITE_OK) {
        state->copied = copied < 0 ? 0 : (uint64_t)copied;
        return;
    }
    /* disk full, or a lock: the log grows until a later pass succeeds */
    (void)writ_sql_sqlite_fault(db, rc, &state->poisoned, why).code;
}

static void *
run(void *arg)
{
    struct writ_wal_checkpoint *checkpoint = arg;

    (void)pthread_mutex_lock(&checkpoint->mutex);
    while (!checkpoint->stopping) {
        struct writ_wal_state state;
        struct writ_err why = {0};

        if (!checkpoint->asked) {
            (void)pthread_cond_wait(&checkpoint->wake, &checkpoint->mutex);
            continue;
        }
        checkpoint->asked = checkpoint->begun = false;
        checkpoint->state.busy = true;
        state = checkpoint->state;
        (void)pthread_mutex_unlock(&checkpoint->mutex);
        pass(checkpoint, &state, &why);
        (void)pthread_mutex_lock(&checkpoint->mutex);
        state.busy = false;
        state.copied = checkpoint->begun ? 0 : state.copied;
        checkpoint->state = state;
        checkpoint->why = why;
    }
    (void)pthread_mutex_unlock(&checkpoint->mutex);
    return NULL;
}

WRIT_RESULT
writ_wal_checkpoint_start(
    const char *path, int64_t busy_us, struct writ_wal_checkpoint **ret, struct writ_err *err)
{
    struct writ_wal_checkpoint *checkpoint = writ_alloc(sizeof *checkpoint);
    writ_result result;

    if (checkpoint == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to open the ledger");
    }
    result = writ_disk_connect(path, false, busy_us, &checkpoint->sql, err);
    if (!writ_is_ok(result)) {
        writ_free(checkpoint);
        return result;
    }
    (void)pthread_mutex_init(&checkpoint->mutex, NULL);
    (void)pthread_cond_init(&checkpoint->wake, NULL);
    if (!writ_thread_start(&checkpoint->thread, run, checkpoint, "writ-wal")) {
        writ_sql_close(checkpoint->sql);
        writ_free(checkpoint);
        WRIT_FAIL(err, WRIT_E_IO, "no thread for the ledger");
    }
    *ret = checkpoint;
    return WRIT_DONE;
}

void
writ_wal_checkpoint_stop(struct writ_wal_checkpoint *checkpoint)
{
    if (checkpoint == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&checkpoint->mutex);
    checkpoint->stopping = true;
    (void)pthread_cond_signal(&checkpoint->wake);
    (void)pthread_mutex_unlock(&checkpoint->mutex);
    (void)pthread_join(checkpoint->thread, NULL);
    writ_sql_close(checkpoint->sql);
    (void)pthread_cond_destroy(&checkpoint->wake);
    (void)pthread_mutex_destroy(&checkpoint->mutex);
    writ_free(checkpoint);
}

void
writ_wal_checkpoint_wake(struct writ_wal_checkpoint *checkpoint)
{
    (void)pthread_mutex_lock(&checkpoint->mutex);
    if (!checkpoint->state.busy) {
        checkpoint->asked = true;
        (void)pthread_cond_signal(&checkpoint->wake);
    }
    (void)pthread_mutex_unlock(&checkpoint->mutex);
}

void
writ_wal_checkpoint_begun(struct writ_wal_checkpoint *checkpoint)
{
    (void)pthread_mutex_lock(&checkpoint->mutex);
    checkpoint->begun = true;
    checkpoint->state.copied = 0;
    (void)pthread_mutex_unlock(&checkpoint->mutex);
}

struct writ_wal_state
writ_wal_checkpoint_state(struct writ_wal_checkpoint *checkpoint, struct writ_err *err)
{
    struct writ_wal_state state;

    (void)pthread_mutex_lock(&checkpoint->mutex);
    state = checkpoint->state;
    state.busy = state.busy || checkpoint->asked;
    if (err != NULL && state.poisoned) {
        *err = checkpoint->why;
    }
    (void)pthread_mutex_unlock(&checkpoint->mutex);
    return state;
}

enum writ_wal_work
writ_wal_checkpoint_next(uint64_t pages, const struct writ_wal_state *state, bool idle)
{
    if (state->busy || pages == 0 || (!idle && pages < WRIT_WAL_PAGES)) {
        return WRIT_WAL_NOTHING;
    }
    if (pages >= WRIT_WAL_PAGES_MAX || pages <= state->copied + WRIT_WAL_REST) {
        return WRIT_WAL_COPY;
    }
    return WRIT_WAL_PASS;
}
