/* session_row.c - entries for the ledger that no request waits for. Each holds its session and owns
 * its memory; the writer's thread frees both. A row that could not be stored is written again at
 * the next use of the session. */
#include "gateway/state/session_row.h"

#include "gateway/state/gateway.h"

#define DETACHED_ARENA 65536

/* An entry for which no request waits, with all its data. */
struct detached {
    struct writ_entry entry;
    struct writ_session *session; /* held */
    struct writ_arena *arena;
    struct writ_buf row;
};

static void
detached_free(struct detached *detached)
{
    if (detached == NULL) {
        return;
    }
    writ_session_drop(detached->session);
    writ_arena_free(detached->arena);
    writ_buf_wipe(&detached->row);
    writ_free(detached);
}

/* On the writer's thread. */
static void
detached_done(struct writ_entry *entry)
{
    struct detached *detached = entry->user;

    if (entry->kind == WRIT_ENTRY_SESSION_PUT && entry->code != WRIT_OK) {
        atomic_store(&detached->session->stored_us, 0);
    }
    detached_free(detached);
}

static struct detached *
detached_new(struct writ_session *session)
{
    struct detached *detached = writ_alloc(sizeof *detached);

    if (detached == NULL) {
        return NULL;
    }
    (void)atomic_fetch_add(&session->holders, 1);
    detached->session = session;
    detached->row = writ_buf_make(WRIT_LEDGER_SESSION_MAX);
    detached->arena = writ_arena_new(DETACHED_ARENA);
    if (detached->arena == NULL) {
        detached_free(detached);
        return NULL;
    }
    return detached;
}

static void
detached_submit(struct writ_worker *worker, struct detached *detached)
{
    detached->entry.done = detached_done;
    detached->entry.user = detached;
    detached->entry.arena = detached->arena;
    writ_worker_submit(worker, &detached->entry);
}

/* A row is written again when half an idle time of its life is over, so that the rest always
 * outlasts the session: its boundary is not sealed while its client may still come back. */
static int64_t
lifetime_us(int64_t idle_us)
{
    return idle_us + idle_us / 2;
}

void
writ_session_row_put(struct writ_entry *entry, const struct writ_session *session,
    struct writ_view row, const struct writ_clock *clock, int64_t idle_us)
{
    *entry = (struct writ_entry){
        .kind = WRIT_ENTRY_SESSION_PUT,
        .session = {.hash = session->hash,
            .value = row,
            .expires_us = writ_clock_wall_us(clock) + lifetime_us(idle_us),
            .tenant = session->tenant,
            .boundary_id = session->boundary_id},
    };
}

void
writ_session_row_refresh(struct writ_worker *worker, struct writ_session *session)
{
    const struct writ_clock *clock = worker->gateway->clock;
    int64_t idle_us = worker->gateway->config->sessions.idle_expires_us;
    int64_t stored_us = atomic_load(&session->stored_us);
    int64_t until_us = writ_clock_wall_us(clock) + lifetime_us(idle_us);
    struct detached *detached;

    if (atomic_load(&session->left) || until_us - stored_us < idle_us / 2 ||
        !atomic_compare_exchange_strong(&session->stored_us, &stored_us, until_us)) {
        return; /* fresh enough, or another loop is writing it */
    }
    detached = detached_new(session);
    if (detached != NULL) {
        writ_session_put(session, &detached->row);
    }
    if (detached == NULL || !writ_is_ok(writ_buf_check(&detached->row, NULL))) {
        detached_free(detached);
        atomic_store(&session->stored_us, stored_us); /* the next request tries again */
        return;
    }
    writ_session_row_put(&detached->entry, session, writ_buf_view(&detached->row), clock, idle_us);
    detached->entry.session.renews = true; /* its client may have ended it at another gateway */
    detached_submit(worker, detached);
}

void
writ_session_row_seal(struct writ_worker *worker, struct writ_session *session)
{
    struct detached *detached = detached_new(session);

    if (detached == NULL) {
        return;
    }
    detached->entry = (struct writ_entry){.kind = WRIT_ENTRY_SEAL,
        .seal = {.tenant = session->tenant, .boundary_id = session->boundary_id}};
    detached_submit(worker, detached);
}
