/* ledger_query.c - a bounded queue and one thread with a reader of its own. Each question that was
 * taken is called exactly once: by the thread, or without a reader when the queue stops. */
#include "gateway/state/ledger_query.h"

#include <pthread.h>
#include <signal.h>

struct writ_ledger_query {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    const char *path;
    struct writ_reader *reader; /* the thread's own */
    struct writ_lookup *first, **last;
    size_t waiting;
    bool stop;
};

/* Waits for the next question; NULL when there is to be none. */
static struct writ_lookup *
next(struct writ_ledger_query *lookups)
{
    struct writ_lookup *lookup = NULL;

    (void)pthread_mutex_lock(&lookups->lock);
    while (!lookups->stop && lookups->first == NULL) {
        (void)pthread_cond_wait(&lookups->changed, &lookups->lock);
    }
    if (!lookups->stop) {
        lookup = lookups->first;
        lookups->first = lookup->next;
        lookups->last = lookups->first == NULL ? &lookups->first : lookups->last;
        lookups->waiting--;
    }
    (void)pthread_mutex_unlock(&lookups->lock);
    return lookup;
}

static void *
run(void *arg)
{
    struct writ_ledger_query *lookups = arg;
    struct writ_lookup *lookup;

    while ((lookup = next(lookups)) != NULL) {
        if (lookups->reader == NULL) {
            WRIT_IGNORE(writ_reader_open(lookups->path, &lookups->reader, NULL));
        }
        lookup->work(lookup, lookups->reader);
    }
    return NULL;
}

static bool
start(struct writ_ledger_query *lookups)
{
    sigset_t all, before;
    bool started;

    (void)sigfillset(&all); /* signals are for the main thread */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pthread_create(&lookups->thread, NULL, run, lookups) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

writ_result
writ_ledger_query_new(const char *path, struct writ_ledger_query **ret, struct writ_err *err)
{
    struct writ_ledger_query *lookups = writ_alloc(sizeof *lookups);

    if (lookups == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for questions about the ledger");
    }
    lookups->path = path;
    lookups->last = &lookups->first;
    (void)pthread_mutex_init(&lookups->lock, NULL);
    (void)pthread_cond_init(&lookups->changed, NULL);
    if (!start(lookups)) {
        (void)pthread_cond_destroy(&lookups->changed);
        (void)pthread_mutex_destroy(&lookups->lock);
        writ_free(lookups);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no thread for questions about the ledger");
    }
    *ret = lookups;
    return WRIT_DONE;
}

void
writ_ledger_query_stop(struct writ_ledger_query *lookups)
{
    bool before;

    (void)pthread_mutex_lock(&lookups->lock);
    before = lookups->stop;
    lookups->stop = true;
    (void)pthread_cond_signal(&lookups->changed);
    (void)pthread_mutex_unlock(&lookups->lock);
    if (before) {
        return;
    }
    (void)pthread_join(lookups->thread, NULL);
    while (lookups->first != NULL) { /* no more come */
        struct writ_lookup *lookup = lookups->first;

        lookups->first = lookup->next;
        lookup->work(lookup, NULL);
    }
}

void
writ_ledger_query_free(struct writ_ledger_query *lookups)
{
    if (lookups == NULL) {
        return;
    }
    writ_ledger_query_stop(lookups);
    writ_reader_close(lookups->reader);
    (void)pthread_cond_destroy(&lookups->changed);
    (void)pthread_mutex_destroy(&lookups->lock);
    writ_free(lookups);
}

writ_result
writ_ledger_query_ask(struct writ_ledger_query *lookups, struct writ_lookup *lookup)
{
    bool taken;

    lookup->next = NULL;
    (void)pthread_mutex_lock(&lookups->lock);
    taken = lookups->waiting < WRIT_LEDGER_QUERY_MAX && !lookups->stop;
    if (taken) {
        *lookups->last = lookup;
        lookups->last = &lookup->next;
        lookups->waiting++;
        (void)pthread_cond_signal(&lookups->changed);
    }
    (void)pthread_mutex_unlock(&lookups->lock);
    return (writ_result){taken ? WRIT_OK : WRIT_E_BUSY};
}
