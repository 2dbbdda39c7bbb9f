/* catalog_snapshot.c - the current catalog of one upstream, and each loop's hold of it.
 *
 * Invariant: `version` changes after `current`, both under the lock. So a reader that saw a version
 * without the lock finds at least that catalog when it takes the lock. */
#include "gateway/state/catalog_snapshot.h"

writ_result
writ_catalog_snapshot_init(struct writ_catalog_snapshot *snapshot, struct writ_err *err)
{
    *snapshot = (struct writ_catalog_snapshot){.current = NULL};
    atomic_init(&snapshot->version, 0);
    atomic_init(&snapshot->doubts, 1); /* nothing was learned */
    atomic_init(&snapshot->settled, 0);
    if (pthread_mutex_init(&snapshot->lock, NULL) != 0) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a lock");
    }
    return WRIT_DONE;
}

void
writ_catalog_snapshot_wipe(struct writ_catalog_snapshot *snapshot)
{
    writ_catalog_drop(WRIT_TAKE(snapshot->current));
    (void)pthread_mutex_destroy(&snapshot->lock);
}

struct writ_catalog *
writ_catalog_snapshot_hold(struct writ_catalog_snapshot *snapshot, uint64_t *ret_version)
{
    struct writ_catalog *catalog;

    (void)pthread_mutex_lock(&snapshot->lock);
    catalog = snapshot->current != NULL ? writ_catalog_hold(snapshot->current) : NULL;
    *ret_version = atomic_load(&snapshot->version);
    (void)pthread_mutex_unlock(&snapshot->lock);
    return catalog;
}

uint64_t
writ_catalog_snapshot_version(struct writ_catalog_snapshot *snapshot)
{
    return atomic_load_explicit(&snapshot->version, memory_order_acquire);
}

const struct writ_catalog *
writ_catalog_snapshot_look(
    struct writ_catalog_snapshot *snapshot, struct writ_catalog_snapshot_view *view)
{
    if (writ_catalog_snapshot_version(snapshot) != view->version) {
        writ_catalog_drop(view->catalog);
        view->catalog = writ_catalog_snapshot_hold(snapshot, &view->version);
    }
    return view->catalog;
}

void
writ_catalog_snapshot_forget(struct writ_catalog_snapshot_view *view)
{
    writ_catalog_drop(WRIT_TAKE(view->catalog));
    view->version = 0;
}

void
writ_catalog_snapshot_put(struct writ_catalog_snapshot *snapshot, struct writ_catalog *catalog)
{
    struct writ_catalog *before = catalog;

    (void)pthread_mutex_lock(&snapshot->lock);
    if (!writ_catalog_equal(snapshot->current, catalog)) {
        writ_catalog_look_at(catalog, snapshot->current);
        before = snapshot->current;
        snapshot->current = catalog;
        (void)atomic_fetch_add(&snapshot->version, 1);
    }
    (void)pthread_mutex_unlock(&snapshot->lock);
    writ_catalog_drop(before);
}

void
writ_catalog_snapshot_doubt(struct writ_catalog_snapshot *snapshot)
{
    (void)atomic_fetch_add(&snapshot->doubts, 1);
}

uint64_t
writ_catalog_snapshot_doubts(struct writ_catalog_snapshot *snapshot)
{
    return atomic_load(&snapshot->doubts);
}

void
writ_catalog_snapshot_settle(
    struct writ_catalog_snapshot *snapshot, uint64_t doubts, int64_t asked_us, int64_t stale_us)
{
    atomic_store(&snapshot->asked_us, asked_us);
    atomic_store(&snapshot->stale_us, stale_us);
    atomic_store(&snapshot->settled, doubts);
}

int64_t
writ_catalog_snapshot_asked_us(struct writ_catalog_snapshot *snapshot)
{
    return atomic_load_explicit(&snapshot->asked_us, memory_order_relaxed);
}

bool
writ_catalog_snapshot_is_doubtful(struct writ_catalog_snapshot *snapshot, int64_t now_us)
{
    return atomic_load_explicit(&snapshot->doubts, memory_order_relaxed) !=
               atomic_load_explicit(&snapshot->settled, memory_order_relaxed) ||
           now_us >= atomic_load_explicit(&snapshot->stale_us, memory_order_relaxed);
}
