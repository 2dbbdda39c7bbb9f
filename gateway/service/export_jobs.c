/* export_jobs.c - one background thread with one job for each export.
 *
 * Invariant: only the thread of a job uses it, except for its schedule, which the lock guards. The
 * exporter is opened by its thread, again after each failure of opening, so that a cursor or a file
 * that is repaired needs no restart. */
#include "gateway/service/export_jobs.h"

#include "gateway/export/exporter.h"
#include "gateway/http/fetch.h"
#include "gateway/io/background.h"

/* The words of the option are these numbers (policy/read/setting.c). */
_Static_assert(WRIT_EXPORT_JSON == 0 && WRIT_EXPORT_OCSF == 1 && WRIT_EXPORT_CEF == 2,
    "the numbers of the formats in the configuration");

struct export_job {
    const struct writ_gateway *gateway;
    const struct writ_export_config *config;
    struct writ_metrics_shard *shard;
    size_t index;
    struct writ_background *background;
    struct writ_background_job job;
    struct writ_exporter *exporter; /* NULL: not open */
    bool failing;
};

struct writ_export_jobs {
    size_t n;
    struct export_job items[];
};

static void
jobs_freep(struct writ_export_jobs **jobs)
{
    writ_export_jobs_free(*jobs);
}

static const char *
text_or_null(struct writ_view text)
{
    return text.len > 0 ? text.ptr : NULL;
}

static struct writ_exporter_options
options_of(const struct export_job *item)
{
    const struct writ_export_config *c = item->config;

    return (struct writ_exporter_options){.ledger = item->gateway->config->store.ptr,
        .cursor = c->cursor.ptr,
        .sink = {.to = c->to.ptr,
            .ca = text_or_null(c->ca),
            .token = text_or_null(c->token),
            .scheme = text_or_null(c->scheme),
            .cert = text_or_null(c->cert),
            .key = text_or_null(c->key),
            .plain_close = c->plain_close,
            .format = (enum writ_export_format)c->format}};
}

static void
tell(struct export_job *item, bool failed, uint64_t waiting, const char *why)
{
    struct writ_view to =
        writ_view(item->config->to.ptr, (size_t)writ_fetch_origin(item->config->to.ptr));

    if (failed) {
        WRIT_LOG(item->gateway->log, WRIT_EVENT_EXPORT_FAILED,
            writ_log_text("export", item->config->name), writ_log_text("to", to),
            writ_log_str("why", why));
    } else if (item->failing) {
        WRIT_LOG(item->gateway->log, WRIT_EVENT_EXPORT_WORKS,
            writ_log_text("export", item->config->name), writ_log_text("to", to),
            writ_log_int("waiting", (int64_t)waiting));
    }
    item->failing = failed;
}

static WRIT_RESULT
step(struct export_job *item, const atomic_bool *stop, struct writ_exporter_progress *ret,
    struct writ_err *err)
{
    const struct writ_exporter_options options = options_of(item);

    if (item->exporter == NULL) {
        WRIT_TRY(writ_exporter_open(&options, &item->exporter, err));
    }
    return writ_exporter_step(item->exporter, stop, ret, err);
}

static void
measure(struct export_job *item, const struct writ_exporter_progress *progress)
{
    int64_t age_us = writ_clock_wall_us(item->gateway->clock) - progress->oldest_us;
    const struct writ_labels_export state = {.name = item->config->name,
        .waiting = progress->waiting,
        .lag_us = progress->waiting > 0 && progress->oldest_us > 0 && age_us > 0 ? age_us : 0};

    writ_labels_export(item->gateway->labels, item->index, &state);
    writ_metrics_count(item->shard, WRIT_COUNTER_EXPORTED, progress->sent);
}

static void
look(void *ctx, size_t i, const atomic_bool *stop)
{
    struct export_job *item = ctx;
    struct writ_exporter_progress progress = {0};
    struct writ_err err = {{0}, 0, 0};
    bool failed = !writ_is_ok(step(item, stop, &progress, &err));

    (void)i;
    writ_background_lock(item->background);
    if (failed) {
        writ_background_failed(
            item->background, &item->job, WRIT_EXPORT_JOBS_RETRY_US, WRIT_EXPORT_JOBS_LONGEST_US);
    } else {
        writ_background_succeeded(
            item->background, &item->job, progress.waiting > 0 ? 0 : WRIT_EXPORT_JOBS_EVERY_US);
    }
    writ_background_unlock(item->background);
    if (atomic_load(stop)) {
        return;
    }
    if (item->exporter != NULL) {
        measure(item, &progress);
    }
    writ_metrics_count(item->shard, WRIT_COUNTER_EXPORT_FAILURES, failed);
    tell(item, failed, progress.waiting, err.text);
}

static struct writ_background_job *
job_of(void *ctx, size_t i)
{
    struct export_job *item = ctx;

    (void)i;
    return &item->job;
}

static WRIT_RESULT
start(struct export_job *item, struct writ_err *err)
{
    const struct writ_background_options options = {
        .clock = item->gateway->clock, .n = 1, .job = job_of, .work = look, .ctx = item};
    const struct writ_exporter_options exporter = options_of(item);
    const struct writ_labels_export state = {.name = item->config->name};
    struct writ_sink *sink = NULL;

    WRIT_TRY(writ_sink_open(&exporter.sink, &sink, err)); /* only to see that the entry is good */
    writ_sink_close(sink);
    writ_labels_export(item->gateway->labels, item->index, &state);
    WRIT_TRY(writ_background_new(&options, &item->background, err));
    item->job.due_us = writ_background_now_us(item->background);
    return writ_background_start(item->background, err);
}

WRIT_RESULT
writ_export_jobs_open(const struct writ_gateway *gateway, size_t shard,
    struct writ_export_jobs **ret, struct writ_err *err)
{
    const struct writ_config *config = gateway->config;
    WRIT_AUTO(struct writ_export_jobs *, jobs_freep) jobs = NULL;

    jobs = writ_alloc(sizeof *jobs + config->exports_n * sizeof jobs->items[0]);
    if (jobs == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for exports");
    }
    for (size_t i = 0; i < config->exports_n; i++) {
        jobs->items[i] = (struct export_job){.gateway = gateway,
            .config = &config->exports[i],
            .index = i,
            .shard = writ_metrics_shard(gateway->metrics, shard + i)};
        jobs->n = i + 1;
        WRIT_TRY(start(&jobs->items[i], err));
    }
    *ret = WRIT_TAKE(jobs);
    return WRIT_DONE;
}

void
writ_export_jobs_free(struct writ_export_jobs *jobs)
{
    if (jobs == NULL) {
        return;
    }
    for (size_t i = 0; i < jobs->n; i++) {
        writ_background_free(jobs->items[i].background);
        writ_exporter_close(jobs->items[i].exporter);
    }
    writ_free(jobs);
}
