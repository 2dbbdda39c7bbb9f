/* State is guarded by `mutex`; the connection belongs to the thread. */
#include "store/fold.h"

#include "store/disk.h"

#include <pthread.h>

struct writ_fold {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    sqlite3 *db;
    bool asked, stopping;
    bool anew; /* the log began anew since the last pass began */
    struct writ_fold_state state;
    struct writ_err why;
};

/* One pass. PASSIVE waits for nobody: neither the writer nor a reader is kept waiting. */
static void
pass(struct writ_fold *fold, struct writ_fold_state *state, struct writ_err *why)
{
    int pages = 0, folded = 0;
    int rc =
        sqlite3_wal_checkpoint_v2(fold->db, "main", SQLITE_CHECKPOINT_PASSIVE, &pages, &folded);
    if (rc == SQLITE_OK) {
        state->folded = folded < 0 ? 0 : (uint64_t)folded;
        return;
    }
    /* disk full, or a lock: the log only grows until a later pass gets through */
    (void)writ_disk_fault(fold->db, rc, &state->poisoned, why).code;
}

static void *
run(void *arg)
{
    struct writ_fold *fold = arg;

    (void)pthread_mutex_lock(&fold->mutex);
    while (!fold->stopping) {
        struct writ_fold_state state;
        struct writ_err why = {0};

        if (!fold->asked) {
            (void)pthread_cond_wait(&fold->wake, &fold->mutex);
            continue;
        }
        fold->asked = fold->anew = false;
        fold->state.busy = true;
        state = fold->state;
        (void)pthread_mutex_unlock(&fold->mutex);
        pass(fold, &state, &why);
        (void)pthread_mutex_lock(&fold->mutex);
        state.busy = false;
        state.folded = fold->anew ? 0 : state.folded;
        fold->state = state;
        fold->why = why;
    }
    (void)pthread_mutex_unlock(&fold->mutex);
    return NULL;
}

WRIT_RESULT
writ_fold_start(const char *path, int64_t busy_us, struct writ_fold **ret, struct writ_err *err)
{
    struct writ_fold *fold = writ_alloc(sizeof *fold);
    writ_result result;

    if (fold == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to open the ledger");
    }
    result = writ_disk_connect(path, false, busy_us, &fold->db, err);
    if (!writ_is_ok(result)) {
        writ_free(fold);
        return result;
    }
    (void)pthread_mutex_init(&fold->mutex, NULL);
    (void)pthread_cond_init(&fold->wake, NULL);
    if (pthread_create(&fold->thread, NULL, run, fold) != 0) {
        (void)sqlite3_close(fold->db);
        writ_free(fold);
        WRIT_FAIL(err, WRIT_E_IO, "no thread for the ledger");
    }
    *ret = fold;
    return WRIT_DONE;
}

void
writ_fold_stop(struct writ_fold *fold)
{
    if (fold == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&fold->mutex);
    fold->stopping = true;
    (void)pthread_cond_signal(&fold->wake);
    (void)pthread_mutex_unlock(&fold->mutex);
    (void)pthread_join(fold->thread, NULL);
    (void)sqlite3_close(fold->db);
    (void)pthread_cond_destroy(&fold->wake);
    (void)pthread_mutex_destroy(&fold->mutex);
    writ_free(fold);
}

void
writ_fold_wake(struct writ_fold *fold)
{
    (void)pthread_mutex_lock(&fold->mutex);
    if (!fold->state.busy) {
        fold->asked = true;
        (void)pthread_cond_signal(&fold->wake);
    }
    (void)pthread_mutex_unlock(&fold->mutex);
}

void
writ_fold_anew(struct writ_fold *fold)
{
    (void)pthread_mutex_lock(&fold->mutex);
    fold->anew = true;
    fold->state.folded = 0;
    (void)pthread_mutex_unlock(&fold->mutex);
}

struct writ_fold_state
writ_fold_look(struct writ_fold *fold, struct writ_err *err)
{
    struct writ_fold_state state;

    (void)pthread_mutex_lock(&fold->mutex);
    state = fold->state;
    state.busy = state.busy || fold->asked;
    if (err != NULL && state.poisoned) {
        *err = fold->why;
    }
    (void)pthread_mutex_unlock(&fold->mutex);
    return state;
}
