/* inbox.h - the interface of other threads to the writer: they hand over entries, keys and the
 * order to end, and read its health.
 *
 * All functions are thread-safe. Only writ_inbox_take blocks for longer than it takes to move
 * pointers. */
#ifndef WRIT_STORE_INBOX_H
#define WRIT_STORE_INBOX_H

#include "store/tables/entry.h"
#include "store/write/options.h"

#include <pthread.h>

/** End with writ_inbox_wipe. Everything is under `mutex`. */
struct writ_inbox {
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    struct writ_entry *queue, **queue_end;
    size_t queued;                    /* without outcomes */
    struct writ_ledger_keys *keys;    /* pending; NULL: none */
    bool closing;                     /* no entry follows */
    bool distrusted;                  /* for the reason in `distrust` */
    struct writ_err distrust;         /* the first one */
    struct writ_ledger_health health; /* as of the last turn of the writer */
};

void writ_inbox_init(struct writ_inbox *ret);
/** Frees pending keys. No thread may use the inbox any more. */
void writ_inbox_wipe(struct writ_inbox *inbox);

/* ---- for other threads ---- */

/** Appends entries, all or none, in order. WRIT_E_BUSY: more than `queued_max` would wait; outcomes
 * are not counted. */
WRIT_RESULT writ_inbox_put(
    struct writ_inbox *inbox, struct writ_entry **entries, size_t n, size_t queued_max);
/** Hands keys over, in place of pending ones. They are taken. */
void writ_inbox_put_keys(struct writ_inbox *inbox, struct writ_ledger_keys *keys);
/** Distrusts the ledger, for that reason. The first reason stays. */
void writ_inbox_distrust(struct writ_inbox *inbox, const struct writ_err *why);
/** Tells the writer to end. */
void writ_inbox_close(struct writ_inbox *inbox);
/** The health as last published, with the number of entries that wait now. */
void writ_inbox_health(struct writ_inbox *inbox, struct writ_ledger_health *ret);

/* ---- for the writer ---- */

/**
 * Waits for entries, or for the order to end, and takes all of them.
 *
 * @param ret_closing  whether this is the last time
 *
 * @return the entries, by `next`; NULL: none came
 */
struct writ_entry *writ_inbox_take(struct writ_inbox *inbox, int64_t most_us, bool *ret_closing);
/** Appends the first of the entries that wait to a list, at most `most`, without waiting; returns
 * how many. */
size_t writ_inbox_take_more(struct writ_inbox *inbox, struct writ_entry **list, size_t most);
/** The pending keys, or NULL; free them, or give them back to be tried again. Newer keys replace
 * keys that were given back. */
struct writ_ledger_keys *writ_inbox_take_keys(struct writ_inbox *inbox);
void writ_inbox_return_keys(struct writ_inbox *inbox, struct writ_ledger_keys *keys);
/** Whether the ledger is distrusted; `ret_why` gets the reason. */
bool writ_inbox_distrusted(struct writ_inbox *inbox, struct writ_err *ret_why);
void writ_inbox_publish(struct writ_inbox *inbox, const struct writ_ledger_health *health);

#endif
