/* anchors.c - one job for each anchor, on a background thread.
 *
 * Invariant: only the thread uses a place, except for its job, which the lock guards. */
#include "gateway/service/anchors.h"

#include "gateway/http/fetch.h"
#include "gateway/io/background.h"
#include "gateway/service/anchor.h"
#include "store/trusted/keydir.h"

struct place {
    struct writ_anchor_config config;
    bool own;      /* the gateway's own memory file */
    uint64_t size; /* of the checkpoint that it has; 0: unknown */
    size_t len;    /* of its note, which grows at one size by the signature of another key */
    bool failing;
    struct writ_background_job job;
};

struct writ_anchors {
    const struct writ_config *config;
    struct writ_ledger *ledger;
    struct writ_log *log;
    struct writ_metrics_shard *shard;
    struct writ_background *background;
    size_t n;
    struct place places[];
};

static void
anchors_freep(struct writ_anchors **anchors)
{
    writ_anchors_free(*anchors);
}

/* Sends the newest checkpoint. The keys are read each time: there may be a new one. */
static WRIT_RESULT
send_new(const struct writ_anchors *anchors, struct place *place, const atomic_bool *stop,
    struct writ_err *err)
{
    bool alarm = false;
    const struct writ_anchor anchor = {.to = place->config.to.ptr,
        .ca = place->config.ca.ptr,
        .own = place->own,
        .ret_alarm = &alarm};
    writ_auto_keyring ring = NULL;
    writ_auto_proofs proofs = NULL;
    struct writ_ledger_health health;
    struct writ_checkpoint head = {0};
    struct writ_view note;
    writ_result result;

    WRIT_TRY(writ_keydir_list(anchors->config->keys.ptr, &ring, err));
    WRIT_TRY(writ_proofs_open(anchors->config->store.ptr, ring, &proofs, err));
    writ_ledger_health(anchors->ledger, &health);
    writ_proofs_await(proofs, health.state == WRIT_LEDGER_READY);
    result = writ_proofs_head(proofs, &head, &note, err);
    if (result.code == WRIT_E_ABSENT) {
        return WRIT_DONE; /* nothing is recorded yet */
    }
    WRIT_TRY(result);
    if (head.size == place->size && note.len == place->len) {
        return WRIT_DONE;
    }
    result = writ_anchor_send(&anchor, proofs, stop, &head, &note, err);
    if (alarm) {
        writ_ledger_distrust(anchors->ledger, err);
    }
    WRIT_TRY(result);
    place->size = head.size;
    place->len = note.len;
    if (!place->own) {
        writ_metrics_count(anchors->shard, WRIT_COUNTER_ANCHORED, 1);
    }
    return WRIT_DONE;
}

/* Logs every failure, and its end. */
static void
tell(const struct writ_anchors *anchors, struct place *place, bool failed, const char *why)
{
    struct writ_view to = place->config.to;

    to = writ_view_sub(to, 0, (size_t)writ_fetch_origin(to.ptr));
    if (failed) {
        WRIT_LOG(anchors->log, WRIT_EVENT_ANCHOR_FAILED, writ_log_text("to", to),
            writ_log_str("why", why));
    } else if (place->failing) {
        WRIT_LOG(anchors->log, WRIT_EVENT_ANCHOR_WORKS, writ_log_text("to", to),
            writ_log_int("size", (int64_t)place->size));
    }
    place->failing = failed;
}

static void
look(void *ctx, size_t i, const atomic_bool *stop)
{
    struct writ_anchors *anchors = ctx;
    struct place *place = &anchors->places[i];
    struct writ_err err = {{0}, 0, 0};
    bool failed = !writ_is_ok(send_new(anchors, place, stop, &err));

    writ_background_lock(anchors->background);
    if (failed) {
        writ_background_failed(
            anchors->background, &place->job, WRIT_ANCHORS_RETRY_US, WRIT_ANCHORS_LONGEST_US);
    } else {
        writ_background_succeeded(anchors->background, &place->job, place->config.every_us);
    }
    writ_background_unlock(anchors->background);
    if (atomic_load(stop)) {
        return;
    }
    if (failed) {
        writ_metrics_count(anchors->shard, WRIT_COUNTER_ANCHOR_FAILURES, 1);
    }
    tell(anchors, place, failed, err.text);
}

static struct writ_background_job *
job_of(void *ctx, size_t i)
{
    struct writ_anchors *anchors = ctx;

    return &anchors->places[i].job;
}

WRIT_RESULT
writ_anchors_open(const struct writ_config *config, struct writ_ledger *ledger,
    const struct writ_clock *clock, struct writ_log *log, struct writ_metrics_shard *shard,
    struct writ_anchors **ret, struct writ_err *err)
{
    size_t n = config->ledger.anchors_n + 1;
    WRIT_AUTO(struct writ_anchors *, anchors_freep) anchors = NULL;
    struct writ_background_options options = {.clock = clock, .n = n, .job = job_of, .work = look};

    anchors = writ_alloc(sizeof *anchors + n * sizeof anchors->places[0]);
    if (anchors == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for anchors");
    }
    anchors->config = config;
    anchors->ledger = ledger;
    anchors->log = log;
    anchors->shard = shard;
    options.ctx = anchors;
    WRIT_TRY(writ_background_new(&options, &anchors->background, err));
    for (; anchors->n < n; anchors->n++) {
        struct place *place = &anchors->places[anchors->n];

        place->own = anchors->n == config->ledger.anchors_n;
        place->config = place->own ? (struct writ_anchor_config){.to = config->ledger.remember,
                                         .every_us = WRIT_ANCHORS_REMEMBER_US}
                                   : config->ledger.anchors[anchors->n];
        place->job.due_us = writ_background_now_us(anchors->background);
        if (!place->own && writ_anchor_is_url(place->config.to)) {
            WRIT_TRY(writ_fetch_check(place->config.to.ptr, err));
        }
    }
    WRIT_TRY(writ_background_start(anchors->background, err));
    *ret = WRIT_TAKE(anchors);
    return WRIT_DONE;
}

void
writ_anchors_free(struct writ_anchors *anchors)
{
    if (anchors != NULL) {
        writ_background_free(anchors->background);
        if (anchors->n > anchors->config->ledger.anchors_n) { /* all were made */
            /* the last checkpoint of this run must be remembered now */
            WRIT_IGNORE(
                send_new(anchors, &anchors->places[anchors->config->ledger.anchors_n], NULL, NULL));
        }
        writ_free(anchors);
    }
}
