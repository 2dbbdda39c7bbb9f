/* telemetry.c
 *
 * A loop encodes what it puts, so that the thread of the background only joins the pieces: the
 * bytes of a request are written once and copied once.
 *
 * Invariants:
 *  (1) a lane's ring is put by its loop, and read by the thread of the background, or by
 *      writ_telemetry_end when that thread has ended.
 *  (2) a batch that the collector did not take is kept for the next try, at most TRIES_MAX times;
 *      as long as it is kept, nothing is read from the rings. So memory is bounded by the rings and
 *      one batch of each signal. */
#include "gateway/telemetry/telemetry.h"

#include "base/id.h"
#include "gateway/io/background.h"
#include "gateway/telemetry/otlp_metrics.h"
#include "gateway/telemetry/telemetry_ring.h"
#include "gateway/telemetry/sender.h"

#define PAUSE_US   INT64_C(100000)   /* between two readings of the rings */
#define BATCH_MAX  1024              /* records */
#define BATCH_FULL ((size_t)4 << 20) /* bytes of a body: nothing more is read */
#define BODY_MAX   ((size_t)16 << 20)
#define TIMEOUT_MS 10000
#define TRIES_MAX  6
#define MS_PER_US  1000
#define LOST_TELL_US                                                                               \
    (INT64_C(60) * 1000 * 1000) /* at most one line about lost records in this time */

/* The jobs of its thread. */
enum job {
    JOB_RECORDS = 0,
    JOB_METRICS,
    JOBS,
};

struct lane {
    struct writ_telemetry_ring *ring;
    uint64_t random;       /* state of splitmix64 */
    _Atomic uint64_t lost; /* records without room, ever; only its loop adds */
    uint64_t counted;      /* of them; the thread */
};

/* Spans or lines that wait to be taken by the collector. */
struct batch {
    enum writ_otlp_signal signal;
    struct writ_otlp otlp;
    struct writ_buf body;
    bool waits;
    unsigned tries;
};

struct writ_telemetry {
    struct writ_telemetry_options options;
    struct writ_background *background;
    struct writ_background_job jobs[JOBS];
    struct writ_sender *sender;
    struct writ_buf resource;
    int64_t from_us; /* wall: its start */
    struct batch traces, logs, metrics;
    size_t next; /* the lane that is read first */
    bool failing;
    uint64_t lost;   /* since the last line about it */
    int64_t tell_us; /* monotonic: when such a line may be written again */
    size_t lanes_n;
    struct lane lanes[];
};

/* ---- for a loop */

const struct writ_telemetry_config *
writ_telemetry_config(const struct writ_telemetry *telemetry)
{
    return telemetry->options.config;
}

/* splitmix64 */
static uint64_t
next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void
writ_telemetry_make_id(struct writ_telemetry *telemetry, size_t lane, unsigned char *ret, size_t n)
{
    uint64_t random = 0;

    for (size_t i = 0; i < n; i++) {
        if (i % sizeof random == 0) {
            do {
                random = next_random(&telemetry->lanes[lane].random);
            } while (random == 0);
        }
        ret[i] = (unsigned char)(random >> (i % sizeof random * 8));
    }
}

/* The last seven bytes are random in every trace id (W3C Trace Context, level 2). */
bool
writ_telemetry_samples(
    const struct writ_telemetry *telemetry, const unsigned char trace_id[WRIT_TRACE_ID_BYTES])
{
    uint64_t random = 0;

    for (size_t i = WRIT_TRACE_ID_BYTES - 7; i < WRIT_TRACE_ID_BYTES; i++) {
        random = random << 8 | trace_id[i];
    }
    return random < telemetry->options.config->sample;
}

static bool
encode(struct writ_telemetry_ring *ring, const struct writ_telemetry_record *record)
{
    struct writ_buf entry;
    size_t spans_len;

    if (!writ_telemetry_ring_take(ring, &entry)) {
        return false;
    }
    if (record->spans) {
        writ_otlp_put_spans(&entry, record);
    }
    spans_len = entry.len;
    if (record->line) {
        writ_otlp_put_line(&entry, record);
    }
    if (entry.failed != WRIT_E_UNSET) {
        return false; /* longer than an entry may be */
    }
    writ_telemetry_ring_put(ring, &entry, spans_len, record->spans ? writ_otlp_spans(record) : 0);
    return true;
}

void
writ_telemetry_put(
    struct writ_telemetry *telemetry, size_t lane, const struct writ_telemetry_record *record)
{
    struct lane *of = &telemetry->lanes[lane];

    if (!encode(of->ring, record)) {
        atomic_store_explicit(&of->lost, atomic_load_explicit(&of->lost, memory_order_relaxed) + 1,
            memory_order_relaxed);
    }
}

/* ---- what is lost */

static int64_t
now_us(const struct writ_telemetry *telemetry)
{
    return writ_clock_mono_us(telemetry->options.clock);
}

static void
lose(struct writ_telemetry *telemetry, uint64_t n)
{
    writ_metrics_count(telemetry->options.shard, WRIT_COUNTER_TELEMETRY_LOST, n);
    telemetry->lost += n;
}

static void
tell_lost(struct writ_telemetry *telemetry)
{
    for (size_t i = 0; i < telemetry->lanes_n; i++) {
        struct lane *lane = &telemetry->lanes[i];
        uint64_t lost = atomic_load_explicit(&lane->lost, memory_order_relaxed);
        lose(telemetry, lost - lane->counted);
        lane->counted = lost;
    }
    if (telemetry->lost > 0 && now_us(telemetry) >= telemetry->tell_us) {
        WRIT_LOG(telemetry->options.log, WRIT_EVENT_TELEMETRY_LOST,
            writ_log_int("records", (int64_t)telemetry->lost));
        telemetry->lost = 0;
        telemetry->tell_us = now_us(telemetry) + LOST_TELL_US;
    }
}

/* A line for the first failure, and for its end. */
static void
tell(struct writ_telemetry *telemetry, bool failed, const char *why)
{
    struct writ_view to = telemetry->options.config->otlp;

    if (failed && !telemetry->failing) {
        WRIT_LOG(telemetry->options.log, WRIT_EVENT_TELEMETRY_FAILED, writ_log_text("to", to),
            writ_log_str("why", why));
    } else if (!failed && telemetry->failing) {
        WRIT_LOG(telemetry->options.log, WRIT_EVENT_TELEMETRY_WORKS, writ_log_text("to", to));
    }
    telemetry->failing = failed;
}

/* ---- batches */

static void
batch_begin(struct writ_telemetry *telemetry, struct batch *batch)
{
    writ_buf_clear(&batch->body);
    batch->tries = 0;
    writ_otlp_begin(&batch->otlp, writ_buf_view(&telemetry->resource), &batch->body);
}

static void
batch_end(struct writ_telemetry *telemetry, struct batch *batch)
{
    writ_result ended = writ_otlp_end(&batch->otlp, NULL);

    batch->waits = batch->otlp.n > 0;
    if (!writ_is_ok(ended)) {
        lose(telemetry, batch->otlp.n);
        batch->waits = false;
    }
}

static bool
is_full(const struct writ_telemetry *telemetry)
{
    return telemetry->traces.body.len >= BATCH_FULL || telemetry->logs.body.len >= BATCH_FULL;
}

static bool
add_first(struct writ_telemetry *telemetry, struct writ_telemetry_ring *ring)
{
    struct writ_telemetry_entry entry;

    if (!writ_telemetry_ring_first(ring, &entry)) {
        return false;
    }
    writ_otlp_add(&telemetry->traces.otlp, entry.spans, entry.spans_n);
    writ_otlp_add(&telemetry->logs.otlp, entry.line, entry.line.len > 0 ? 1 : 0);
    writ_telemetry_ring_drop(ring);
    return true;
}

/* Reads up to BATCH_MAX records, from each lane in its turn. Returns whether there may be more. */
static bool
fill(struct writ_telemetry *telemetry)
{
    size_t taken = 0, empty = 0;

    batch_begin(telemetry, &telemetry->traces);
    batch_begin(telemetry, &telemetry->logs);
    while (taken < BATCH_MAX && !is_full(telemetry) && empty < telemetry->lanes_n) {
        bool added = add_first(telemetry, telemetry->lanes[telemetry->next].ring);

        telemetry->next = (telemetry->next + 1) % telemetry->lanes_n;
        empty = added ? 0 : empty + 1;
        taken += added ? 1 : 0;
    }
    batch_end(telemetry, &telemetry->traces);
    batch_end(telemetry, &telemetry->logs);
    return empty < telemetry->lanes_n;
}

/* How a try ended. */
struct tried {
    bool failed;      /* at least one batch waits on */
    int64_t after_us; /* the collector's wish; 0: none */
};

static void
try_batch(struct writ_telemetry *telemetry, struct batch *batch, int64_t timeout_ms,
    const atomic_bool *stop, struct tried *ret)
{
    struct writ_err err = {{0}, 0, 0};
    struct writ_sent sent;
    bool taken;

    if (!batch->waits) {
        return;
    }
    taken = writ_is_ok(writ_sender_send(telemetry->sender, batch->signal,
        writ_buf_view(&batch->body), timeout_ms, stop, &sent, &err));
    if (!taken && stop != NULL && atomic_load(stop)) {
        return; /* cancelled: the end tries once more */
    }
    tell(telemetry, !taken, err.text);
    if (taken) {
        uint64_t rejected = sent.rejected < batch->otlp.n ? sent.rejected : batch->otlp.n;
        lose(telemetry, rejected);
        writ_metrics_count(
            telemetry->options.shard, WRIT_COUNTER_TELEMETRY_SENT, batch->otlp.n - rejected);
        batch->waits = false;
    } else if (!sent.again || ++batch->tries == TRIES_MAX) {
        lose(telemetry, batch->otlp.n);
        batch->waits = false;
    } else {
        ret->failed = true;
        ret->after_us = sent.after_us > ret->after_us ? sent.after_us : ret->after_us;
    }
}

/* ---- jobs */

static struct writ_background_job *
job_of(void *ctx, size_t i)
{
    struct writ_telemetry *telemetry = ctx;

    return &telemetry->jobs[i];
}

static void
plan(struct writ_telemetry *telemetry, enum job job, const struct tried *tried, int64_t again_us)
{
    struct writ_background *background = telemetry->background;
    struct writ_background_job *of = &telemetry->jobs[job];

    writ_background_lock(background);
    if (!tried->failed) {
        writ_background_succeeded(background, of, again_us);
    } else {
        writ_background_failed(background, of, WRIT_TELEMETRY_RETRY_US, WRIT_TELEMETRY_LONGEST_US);
        if (tried->after_us > 0) {
            of->due_us = writ_background_now_us(background) + tried->after_us;
        }
    }
    writ_background_unlock(background);
}

static void
work_records(struct writ_telemetry *telemetry, const atomic_bool *stop)
{
    struct tried tried = {.failed = false};
    bool more = false;

    if (!telemetry->traces.waits && !telemetry->logs.waits) { /* keeps (2) */
        more = fill(telemetry);
    }
    try_batch(telemetry, &telemetry->traces, TIMEOUT_MS, stop, &tried);
    try_batch(telemetry, &telemetry->logs, TIMEOUT_MS, stop, &tried);
    tell_lost(telemetry);
    plan(telemetry, JOB_RECORDS, &tried, more ? 0 : PAUSE_US);
}

/* Written again for each try: the sums have grown. */
static void
fill_metrics(struct writ_telemetry *telemetry)
{
    struct batch *batch = &telemetry->metrics;
    writ_auto_buf text = writ_buf_make(BODY_MAX);

    writ_admin_put_metrics(telemetry->options.admin, &text);
    batch_begin(telemetry, batch);
    writ_otlp_metrics_add(&batch->otlp, writ_buf_view(&text), telemetry->from_us,
        writ_clock_wall_us(telemetry->options.clock));
    batch_end(telemetry, batch);
}

/* A failure loses nothing: the next body has the sums. */
static void
work_metrics(struct writ_telemetry *telemetry, const atomic_bool *stop, int64_t timeout_ms)
{
    struct writ_err err = {{0}, 0, 0};
    struct writ_sent sent;
    bool taken;

    fill_metrics(telemetry);
    if (!telemetry->metrics.waits) {
        return;
    }
    taken = writ_is_ok(writ_sender_send(telemetry->sender, WRIT_OTLP_METRICS,
        writ_buf_view(&telemetry->metrics.body), timeout_ms, stop, &sent, &err));
    if (stop == NULL || !atomic_load(stop)) {
        tell(telemetry, !taken, err.text);
    }
}

static void
work(void *ctx, size_t i, const atomic_bool *stop)
{
    struct writ_telemetry *telemetry = ctx;
    const struct tried done = {.failed = false};

    if (i == JOB_RECORDS) {
        work_records(telemetry, stop);
    } else {
        work_metrics(telemetry, stop, TIMEOUT_MS);
        plan(telemetry, JOB_METRICS, &done, telemetry->options.config->metrics_every_us);
    }
}

/* ---- life */

void
writ_telemetry_free(struct writ_telemetry *telemetry)
{
    if (telemetry == NULL) {
        return;
    }
    writ_sender_free(telemetry->sender);
    writ_buf_wipe(&telemetry->resource);
    writ_buf_wipe(&telemetry->traces.body);
    writ_buf_wipe(&telemetry->logs.body);
    writ_buf_wipe(&telemetry->metrics.body);
    for (size_t i = 0; i < telemetry->lanes_n; i++) {
        writ_telemetry_ring_free(telemetry->lanes[i].ring);
    }
    writ_free(telemetry);
}

static void
telemetry_freep(struct writ_telemetry **telemetry)
{
    writ_telemetry_free(*telemetry);
}

static WRIT_RESULT
open_lanes(struct writ_telemetry *telemetry, struct writ_err *err)
{
    for (; telemetry->lanes_n < telemetry->options.lanes; telemetry->lanes_n++) {
        struct lane *lane = &telemetry->lanes[telemetry->lanes_n];

        WRIT_TRY(writ_random(&lane->random, sizeof lane->random, err));
        WRIT_TRY(writ_telemetry_ring_new(&lane->ring, err));
    }
    return WRIT_DONE;
}

static void
plan_first(struct writ_telemetry *telemetry)
{
    const struct writ_telemetry_config *config = telemetry->options.config;
    int64_t now = now_us(telemetry);

    telemetry->jobs[JOB_RECORDS].due_us =
        config->traces || config->logs ? now : WRIT_BACKGROUND_NEVER;
    telemetry->jobs[JOB_METRICS].due_us =
        config->metrics ? now + config->metrics_every_us : WRIT_BACKGROUND_NEVER;
}

WRIT_RESULT
writ_telemetry_open(
    const struct writ_telemetry_options *options, struct writ_telemetry **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_telemetry *, telemetry_freep)
    telemetry = writ_alloc(sizeof *telemetry + options->lanes * sizeof telemetry->lanes[0]);
    char instance[WRIT_ID_TEXT];

    if (telemetry == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for telemetry");
    }
    telemetry->options = *options;
    telemetry->from_us = writ_clock_wall_us(options->clock);
    telemetry->resource = writ_buf_make(BODY_MAX);
    telemetry->traces = (struct batch){.signal = WRIT_OTLP_TRACES, .body = writ_buf_make(BODY_MAX)};
    telemetry->logs = (struct batch){.signal = WRIT_OTLP_LOGS, .body = writ_buf_make(BODY_MAX)};
    telemetry->metrics =
        (struct batch){.signal = WRIT_OTLP_METRICS, .body = writ_buf_make(BODY_MAX)};
    WRIT_TRY(open_lanes(telemetry, err));
    WRIT_TRY(writ_sender_new(options->config, &telemetry->sender, err));
    WRIT_TRY(writ_id_new(options->clock, instance, err));
    writ_otlp_put_resource(
        &telemetry->resource, &options->config->resource, writ_view_str(instance));
    WRIT_TRY(writ_buf_check(&telemetry->resource, err));
    *ret = WRIT_TAKE(telemetry);
    return WRIT_DONE;
}

WRIT_RESULT
writ_telemetry_start(struct writ_telemetry *telemetry, struct writ_err *err)
{
    const struct writ_background_options options = {.clock = telemetry->options.clock,
        .n = JOBS,
        .job = job_of,
        .work = work,
        .ctx = telemetry};

    plan_first(telemetry);
    WRIT_TRY(writ_background_new(&options, &telemetry->background, err));
    return writ_background_start(telemetry->background, err);
}

/* Once more each, in the time that is left; a slow collector gets nothing more. */
static void
send_rest(struct writ_telemetry *telemetry)
{
    int64_t until_us = now_us(telemetry) + WRIT_TELEMETRY_END_US;
    bool more = true;

    while (more) {
        struct tried tried = {.failed = false};
        struct batch *batches[] = {&telemetry->traces, &telemetry->logs};

        more = telemetry->traces.waits || telemetry->logs.waits ? true : fill(telemetry);
        for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
            int64_t left_us = until_us - now_us(telemetry);
            if (left_us < MS_PER_US) {
                return;
            }
            try_batch(telemetry, batches[i], left_us / MS_PER_US, NULL, &tried);
        }
        if (tried.failed) {
            return;
        }
    }
    if (telemetry->options.config->metrics && until_us - now_us(telemetry) >= MS_PER_US) {
        work_metrics(telemetry, NULL, (until_us - now_us(telemetry)) / MS_PER_US);
    }
}

void
writ_telemetry_end(struct writ_telemetry *telemetry)
{
    if (telemetry != NULL && telemetry->background != NULL) {
        writ_background_free(telemetry->background); /* its thread uses the pointer until it ends */
        telemetry->background = NULL;
        send_rest(telemetry);
        tell_lost(telemetry);
    }
}
