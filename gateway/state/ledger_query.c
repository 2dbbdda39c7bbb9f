/* ledger_query.c - a queue and one thread with a reader of its own. Each accepted query
 * runs exactly once: on the thread, or without a reader when the queue stops. */
#include "gateway/state/ledger_query.h"

#include "base/thread.h"

struct writ_ledger_query {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    const char *path;
    struct writ_reader *reader; /* the thread's own */
    struct writ_lookup *first, **last;
    size_t waiting, most; /* most 0: any number */
    bool stop;
};

/* Waits for the next query; NULL when there will be none. */
static struct writ_lookup *
next(struct writ_ledger_query *queries)
{
    struct writ_lookup *lookup = NULL;

    (void)pthread_mutex_lock(&queries->lock);
    while (!queries->stop && queries->first == NULL) {
        (void)pthread_cond_wait(&queries->changed, &queries->lock);
    }
    if (!queries->stop) {
        lookup = queries->first;
        queries->first = lookup->next;
        queries->last = queries->first == NULL ? &queries->first : queries->last;
        queries->waiting--;
    }
    (void)pthread_mutex_unlock(&queries->lock);
    return lookup;
}

static void *
run(void *arg)
{
    struct writ_ledger_query *queries = arg;
    struct writ_lookup *lookup;

    while ((lookup = next(queries)) != NULL) {
        if (queries->reader == NULL) {
            WRIT_IGNORE(writ_reader_open(queries->path, &queries->reader, NULL));
        }
        lookup->work(lookup, queries->reader);
    }
    return NULL;
}

writ_result
writ_ledger_query_new(
    const char *path, size_t most, struct writ_ledger_query **ret, struct writ_err *err)
{
    struct writ_ledger_query *queries = writ_alloc(sizeof *queries);

    if (queries == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for questions about the ledger");
    }
    queries->path = path;
    queries->most = most;
    queries->last = &queries->first;
    (void)pthread_mutex_init(&queries->lock, NULL);
    (void)pthread_cond_init(&queries->changed, NULL);
    if (!writ_thread_start(&queries->thread, run, queries, "writ-lookups")) {
        (void)pthread_cond_destroy(&queries->changed);
        (void)pthread_mutex_destroy(&queries->lock);
        writ_free(queries);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no thread for questions about the ledger");
    }
    *ret = queries;
    return WRIT_DONE;
}

void
writ_ledger_query_stop(struct writ_ledger_query *queries)
{
    bool before;

    (void)pthread_mutex_lock(&queries->lock);
    before = queries->stop;
    queries->stop = true;
    (void)pthread_cond_signal(&queries->changed);
    (void)pthread_mutex_unlock(&queries->lock);
    if (before) {
        return;
    }
    (void)pthread_join(queries->thread, NULL);
    while (queries->first != NULL) { /* no more come */
        struct writ_lookup *lookup = queries->first;

        queries->first = lookup->next;
        lookup->work(lookup, NULL);
    }
}

void
writ_ledger_query_free(struct writ_ledger_query *queries)
{
    if (queries == NULL) {
        return;
    }
    writ_ledger_query_stop(queries);
    writ_reader_close(queries->reader);
    (void)pthread_cond_destroy(&queries->changed);
    (void)pthread_mutex_destroy(&queries->lock);
    writ_free(queries);
}

writ_result
writ_ledger_query_ask(struct writ_ledger_query *queries, struct writ_lookup *lookup)
{
    bool taken;

    lookup->next = NULL;
    (void)pthread_mutex_lock(&queries->lock);
    taken = (queries->most == 0 || queries->waiting < queries->most) && !queries->stop;
    if (taken) {
        *queries->last = lookup;
        queries->last = &lookup->next;
        queries->waiting++;
        (void)pthread_cond_signal(&queries->changed);
    }
    (void)pthread_mutex_unlock(&queries->lock);
    return (writ_result){taken ? WRIT_OK : WRIT_E_BUSY};
}

bool
writ_ledger_query_stops(struct writ_ledger_query *queries)
{
    bool stops;

    (void)pthread_mutex_lock(&queries->lock);
    stops = queries->stop;
    (void)pthread_mutex_unlock(&queries->lock);
    return stops;
}
