#include "gateway/gateway.h"

#include "store/keydir.h"

#define JWKS_MAX (256 * 1024)

/* ---- generations ---- */

static void
generation_freep(struct writ_generation **generation)
{
    writ_generation_drop(*generation);
}

writ_result
writ_generation_new(const struct writ_config *config, const struct writ_clock *clock,
    struct writ_generation **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_generation *, generation_freep) generation =
        writ_alloc(sizeof *generation);

    if (generation == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a configuration");
    }
    atomic_init(&generation->holders, 1);
    generation->config = writ_config_hold(config);
    WRIT_TRY(writ_keydir_load(config->keys.ptr, &generation->keyring, err));
    generation->signer = writ_keyring_active(generation->keyring, WRIT_KEY_PURPOSE_CREDENTIAL);
    if (generation->signer == NULL) {
        WRIT_FAIL(err, WRIT_E_ABSENT,
            "no active key for credentials in the key directory: make one with `writ keys new`");
    }
    generation->jwks = writ_buf_make(JWKS_MAX);
    writ_keyring_jwks(&generation->jwks, generation->keyring, WRIT_KEY_PURPOSE_CREDENTIAL);
    WRIT_TRY(writ_buf_check(&generation->jwks, err));
    WRIT_TRY(writ_identity_keys_new(config, clock, &generation->issuers, err));
    *ret = WRIT_TAKE(generation);
    return WRIT_DONE;
}

struct writ_generation *
writ_generation_hold(struct writ_generation *generation)
{
    (void)atomic_fetch_add(&generation->holders, 1);
    return generation;
}

void
writ_generation_drop(struct writ_generation *generation)
{
    if (generation == NULL || atomic_fetch_sub(&generation->holders, 1) != 1) {
        return;
    }
    writ_identity_keys_free(generation->issuers);
    writ_buf_wipe(&generation->jwks);
    writ_keyring_free(generation->keyring);
    writ_config_drop(generation->config);
    writ_free(generation);
}

/* ---- the batch of a turn ---- */

static void
fail_entry(struct writ_entry *entry)
{
    entry->code = WRIT_E_BUSY;
    entry->done(entry);
}

static void
flush_batch(struct writ_task *task)
{
    struct writ_worker *worker = task->ctx;
    size_t n = worker->batch_n;

    worker->batch_n = 0;
    if (n == 0 || writ_is_ok(writ_ledger_submit(worker->gateway->ledger, worker->batch, n))) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct writ_entry *entry = worker->batch[i];
        /* what has run is recorded, also when nothing new is taken */
        if (entry->kind != WRIT_ENTRY_OUTCOME ||
            !writ_is_ok(writ_ledger_submit(worker->gateway->ledger, &entry, 1))) {
            fail_entry(entry);
        }
    }
}

writ_result
writ_worker_init(struct writ_worker *worker, size_t batch_max, struct writ_err *err)
{
    worker->batch = writ_alloc(batch_max * sizeof *worker->batch);
    if (worker->batch == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a loop's batch of records");
    }
    worker->batch_cap = batch_max;
    worker->flush = (struct writ_task){.fn = flush_batch, .ctx = worker};
    return WRIT_DONE;
}

void
writ_worker_wipe(struct writ_worker *worker)
{
    for (size_t i = 0; i < worker->origins_n; i++) {
        writ_http_client_close(worker->origins[i].client);
        writ_buf_wipe(&worker->origins[i].origin);
    }
    worker->origins_n = 0;
    writ_free(worker->batch);
    worker->batch = NULL;
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
    writ_loop_defer(worker->loop, &worker->flush, WRIT_LOOP_LAST);
}

/* ---- look-ups ---- */

struct writ_worker *
writ_gateway_worker(const struct writ_gateway *gateway, const struct writ_loop *loop)
{
    unsigned index = writ_loop_index(loop);

    WRIT_INVARIANT(index < gateway->workers_n);
    return &gateway->workers[index];
}

struct writ_upstream *
writ_gateway_upstream(const struct writ_gateway *gateway, struct writ_view name)
{
    for (size_t i = 0; i < gateway->upstreams_n; i++) {
        if (writ_view_equal(writ_upstream_config(gateway->upstreams[i])->name, name)) {
            return gateway->upstreams[i];
        }
    }
    return NULL;
}
