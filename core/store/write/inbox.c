/* One mutex around a few pointers. Entries leave in the order in which they came. Keys and the
 * reason of a distrust are single values: the newest keys and the first reason count.
 *
 * The writer is woken after the mutex is free: one that wakes to a mutex that is held sleeps again,
 * which is two switches of threads more for a call. */
#include "store/write/inbox.h"

#include <errno.h>
#include <time.h>

#define US_PER_S  1000000
#define NS_PER_US 1000

void
writ_inbox_init(struct writ_inbox *ret)
{
    pthread_condattr_t monotonic;

    *ret = (struct writ_inbox){0};
    ret->queue_end = &ret->queue;
    (void)pthread_mutex_init(&ret->mutex, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&ret->wake, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
}

void
writ_inbox_wipe(struct writ_inbox *inbox)
{
    writ_ledger_keys_free(inbox->keys);
    (void)pthread_cond_destroy(&inbox->wake);
    (void)pthread_mutex_destroy(&inbox->mutex);
}

/* ---- other threads ---- */

static void
unlock_and_wake(struct writ_inbox *inbox)
{
    (void)pthread_mutex_unlock(&inbox->mutex);
    (void)pthread_cond_signal(&inbox->wake);
}

/* Outcomes are always taken. */
static bool
is_counted(const struct writ_entry *entry)
{
    return entry->kind != WRIT_ENTRY_OUTCOME;
}

WRIT_RESULT
writ_inbox_put(struct writ_inbox *inbox, struct writ_entry **entries, size_t n, size_t queued_max)
{
    size_t counted = 0;
    writ_result result = WRIT_DONE;

    for (size_t i = 0; i < n; i++) {
        WRIT_INVARIANT(entries[i]->done != NULL);
        counted += is_counted(entries[i]) ? 1 : 0;
    }
    (void)pthread_mutex_lock(&inbox->mutex);
    if (counted > 0 && inbox->queued + counted > queued_max) {
        result.code = WRIT_E_BUSY;
    } else {
        for (size_t i = 0; i < n; i++) {
            entries[i]->next = NULL;
            *inbox->queue_end = entries[i];
            inbox->queue_end = &entries[i]->next;
        }
        inbox->queued += counted;
    }
    unlock_and_wake(inbox);
    return result;
}

void
writ_inbox_put_keys(struct writ_inbox *inbox, struct writ_ledger_keys *keys)
{
    struct writ_ledger_keys *late;

    (void)pthread_mutex_lock(&inbox->mutex);
    late = inbox->keys;
    inbox->keys = keys;
    unlock_and_wake(inbox);
    writ_ledger_keys_free(late);
}

void
writ_inbox_distrust(struct writ_inbox *inbox, const struct writ_err *why)
{
    (void)pthread_mutex_lock(&inbox->mutex);
    if (!inbox->distrusted) {
        inbox->distrusted = true;
        inbox->distrust = *why;
    }
    unlock_and_wake(inbox);
}

void
writ_inbox_close(struct writ_inbox *inbox)
{
    (void)pthread_mutex_lock(&inbox->mutex);
    inbox->closing = true;
    unlock_and_wake(inbox);
}

void
writ_inbox_health(struct writ_inbox *inbox, struct writ_ledger_health *ret)
{
    (void)pthread_mutex_lock(&inbox->mutex);
    *ret = inbox->health;
    ret->queued = inbox->queued;
    (void)pthread_mutex_unlock(&inbox->mutex);
}

/* ---- the writer ---- */

/* Under mutex. */
static void
wait_for_work(struct writ_inbox *inbox, int64_t most_us)
{
    int64_t until_us = writ_clock_mono_us(writ_clock_system()) + most_us;
    struct timespec until = {
        .tv_sec = until_us / US_PER_S, .tv_nsec = until_us % US_PER_S * NS_PER_US};

    while (inbox->queue == NULL && !inbox->closing) {
        if (pthread_cond_timedwait(&inbox->wake, &inbox->mutex, &until) == ETIMEDOUT) {
            return;
        }
    }
}

/* Under mutex. */
static struct writ_entry *
take_all(struct writ_inbox *inbox)
{
    struct writ_entry *list = inbox->queue;

    inbox->queue = NULL;
    inbox->queue_end = &inbox->queue;
    inbox->queued = 0;
    return list;
}

struct writ_entry *
writ_inbox_take(struct writ_inbox *inbox, int64_t most_us, bool *ret_closing)
{
    struct writ_entry *list;

    (void)pthread_mutex_lock(&inbox->mutex);
    wait_for_work(inbox, most_us);
    list = take_all(inbox);
    *ret_closing = inbox->closing;
    (void)pthread_mutex_unlock(&inbox->mutex);
    return list;
}

/* Under mutex. */
static struct writ_entry *
take_first(struct writ_inbox *inbox)
{
    struct writ_entry *entry = inbox->queue;

    if (entry != NULL) {
        inbox->queue = entry->next;
        inbox->queue_end = inbox->queue == NULL ? &inbox->queue : inbox->queue_end;
        inbox->queued -= is_counted(entry) ? 1 : 0;
        entry->next = NULL;
    }
    return entry;
}

size_t
writ_inbox_take_more(struct writ_inbox *inbox, struct writ_entry **list, size_t most)
{
    size_t n = 0;

    while (*list != NULL) {
        list = &(*list)->next;
    }
    (void)pthread_mutex_lock(&inbox->mutex);
    for (; n < most && (*list = take_first(inbox)) != NULL; n++) {
        list = &(*list)->next;
    }
    (void)pthread_mutex_unlock(&inbox->mutex);
    return n;
}

struct writ_ledger_keys *
writ_inbox_take_keys(struct writ_inbox *inbox)
{
    struct writ_ledger_keys *keys;

    (void)pthread_mutex_lock(&inbox->mutex);
    keys = inbox->keys;
    inbox->keys = NULL;
    (void)pthread_mutex_unlock(&inbox->mutex);
    return keys;
}

void
writ_inbox_return_keys(struct writ_inbox *inbox, struct writ_ledger_keys *keys)
{
    struct writ_ledger_keys *late = keys;

    (void)pthread_mutex_lock(&inbox->mutex);
    if (inbox->keys == NULL) {
        inbox->keys = keys;
        late = NULL;
    }
    (void)pthread_mutex_unlock(&inbox->mutex);
    writ_ledger_keys_free(late);
}

bool
writ_inbox_distrusted(struct writ_inbox *inbox, struct writ_err *ret_why)
{
    bool distrusted;

    (void)pthread_mutex_lock(&inbox->mutex);
    distrusted = inbox->distrusted;
    *ret_why = inbox->distrust;
    (void)pthread_mutex_unlock(&inbox->mutex);
    return distrusted;
}

void
writ_inbox_publish(struct writ_inbox *inbox, const struct writ_ledger_health *health)
{
    (void)pthread_mutex_lock(&inbox->mutex);
    inbox->health = *health;
    (void)pthread_mutex_unlock(&inbox->mutex);
}
