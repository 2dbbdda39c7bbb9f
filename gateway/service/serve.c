/* serve.c - opens everything in order, waits for signals, and closes it in reverse.
 *
 * Invariants:
 * (1) Signals are blocked before the first thread is made, so that only the main thread gets them.
 * (2) The loops have ended before anything that they use is freed.
 * (3) A generation is replaced on each loop by that loop; the main thread holds the current one. */
#include "gateway/service/serve.h"

#include "base/text.h"
#include "gateway/admin/review_stream.h"
#include "gateway/call/definition_cache.h"
#include "gateway/call/repeats.h"
#include "gateway/io/end_signals.h"
#include "gateway/io/memory_pages.h"
#include "gateway/io/memory_trim.h"
#include "gateway/io/service_manager.h"
#include "gateway/listener/pem.h"
#include "gateway/notify/notify.h"
#include "gateway/request/tally.h"
#include "gateway/reviewers/review_counts.h"
#include "gateway/reviewers/reviewers.h"
#include "gateway/service/anchors.h"
#include "gateway/service/export_jobs.h"
#include "gateway/service/gauges.h"
#include "gateway/service/ledgers.h"
#include "gateway/service/ready.h"
#include "gateway/service/reload.h"
#include "gateway/service/routes.h"
#include "gateway/service/shutdown.h"
#include "gateway/service/steps.h"
#include "gateway/state/gateway.h"
#include "gateway/state/mark_key.h"
#include "gateway/state/runs.h"
#include "gateway/telemetry/telemetry.h"
#include "policy/model/rule.h"
#include "policy/read/changes.h"
#include "store/read/reader.h"
#include "store/trusted/keydir.h"
#include "store/trusted/policies.h"
#include "store/trusted/trusted.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <time.h>

#define TICK_US        1000000 /* the interval of the main thread's checks */
#define EARLY_TICK_US  50000   /* the same while the gateway is not ready */
#define SWEEP_TICKS    10      /* ticks between two sweeps of the sessions */
#define LEDGER_STEP_US 10000
#define LEDGER_STEPS   1000 /* 10 s, for another process to close the ledger */
#define BATCH_MAX      1024
#define PATH_MAX_BYTES 64
#define URL_MAX        512

struct serve {
    struct writ_gateway gateway;
    const struct writ_serve_options *options;
    struct writ_loop **loops;
    size_t loops_n, started; /* started: those that run */
    struct writ_generation *generation;
    struct writ_ledger_reports reports;
    struct writ_keyring *ledger_keys; /* the keys of the start */
    struct writ_definition_cache seen;
    struct writ_definitions_mark accepted; /* the file that was read last */
    bool refused_accepted;                 /* it was logged, and is tried again */
    struct writ_repeats repeats;
    struct writ_anchors *anchors;     /* NULL: none */
    struct writ_export_jobs *exports; /* NULL: none */
    struct writ_reviewers *reviewers; /* NULL: none */
    struct writ_review_counts *counts;
    struct writ_routes routes;
    struct writ_buf issuer, admin_url;
    struct writ_service_sockets sockets; /* that the process was started with */
    struct writ_ready ready;
    enum writ_ledger_state ledger_was; /* as last logged */
    int64_t used_us;                   /* monotonic: when it was last in use */
    struct writ_memory_trim connections, sessions;
    struct writ_memory_quiet requests;
    sigset_t signals;
};

/* ---- metrics ---- */

/** The shards of the metrics behind those of the loops; then one for each export. */
enum shard { SHARD_ANCHORS = 0, SHARD_TELEMETRY, SHARD_NOTIFY, SHARD_LEDGER, SHARD_EXPORTS };

static struct writ_metrics_shard *
shard_of(const struct serve *serve, enum shard shard)
{
    return writ_metrics_shard(serve->gateway.metrics, serve->loops_n + (size_t)shard);
}

/* ---- telemetry ---- */

static writ_result
open_telemetry(struct serve *serve, struct writ_err *err)
{
    struct writ_gateway *gateway = &serve->gateway;
    const struct writ_telemetry_options options = {.config = &serve->options->config->telemetry,
        .clock = gateway->clock,
        .log = gateway->log,
        .shard = shard_of(serve, SHARD_TELEMETRY),
        .admin = &gateway->admin,
        .lanes = gateway->workers_n};

    return options.config->otlp.len > 0 ? writ_telemetry_open(&options, &gateway->telemetry, err)
                                        : WRIT_DONE;
}

/* ---- opening ---- */

static writ_result
try_ledger(struct serve *serve, struct writ_err *err)
{
    writ_keyring_free(serve->ledger_keys); /* of the attempt before */
    serve->ledger_keys = NULL;
    return writ_ledgers_open(serve->options->config, serve->options->clock, false, &serve->reports,
        &serve->ledger_keys, &serve->gateway.ledger, err);
}

/* On the ledger's thread: what the gateways of the same ledger record. Before the stops are read,
 * they are read with the others. */
static void
hear_recorded(void *ctx, struct writ_view fact, bool own)
{
    struct writ_gateway *gateway = ctx;

    if (gateway->stop_rules != NULL) {
        writ_stop_rules_note(gateway->stop_rules, fact);
    }
    gateway->heard = gateway->heard || !own;
}

/* On the ledger's thread. */
static void
nudge_loops(void *ctx)
{
    struct writ_gateway *gateway = ctx;

    for (size_t i = 0; atomic_load(&gateway->has_loops) && i < gateway->workers_n; i++) {
        writ_loop_nudge(gateway->workers[i].loop);
    }
}

/* A gateway that others start on demand waits for a while: the system gives the socket of a killed
 * gateway free before its ledger. One that a person starts says at once what is in its way. */
static writ_result
open_ledger(struct serve *serve, struct writ_err *err)
{
    const struct writ_serve_options *options = serve->options;
    const struct timespec pause = {.tv_nsec = LEDGER_STEP_US * 1000};
    writ_result result;

    serve->reports = (struct writ_ledger_reports){.given_up = writ_tally_given_up,
        .heard = hear_recorded,
        .told = nudge_loops,
        .ctx = &serve->gateway};
    result = try_ledger(serve, err);
    if (result.code == WRIT_E_BUSY && options->idle_us > 0) {
        WRIT_LOG(options->log, WRIT_EVENT_LEDGER_AWAITED, writ_log_str("why", err->text));
        for (int i = 0; i < LEDGER_STEPS && result.code == WRIT_E_BUSY; i++) {
            (void)nanosleep(&pause, NULL);
            result = try_ledger(serve, err);
        }
    }
    WRIT_TRY(result);
    writ_reload_tell_rules(serve->gateway.ledger, options->config);
    return WRIT_DONE;
}

/* Before the ledger, whose writer counts. The number of loops is read once: a processor may come or
 * go meanwhile. */
static writ_result
open_metrics(struct serve *serve, struct writ_err *err)
{
    struct writ_gateway *gateway = &serve->gateway;
    const struct writ_config *config = gateway->config;

    serve->loops_n = config->loops > 0 ? (size_t)config->loops : (size_t)get_nprocs();
    WRIT_TRY(writ_metrics_new(
        serve->loops_n + SHARD_EXPORTS + config->exports_n, &gateway->metrics, err));
    gateway->ledger_metrics = shard_of(serve, SHARD_LEDGER);
    return WRIT_DONE;
}

static writ_result
open_loops(struct serve *serve, struct writ_err *err)
{
    struct writ_gateway *gateway = &serve->gateway;
    size_t n = serve->loops_n;

    serve->loops = writ_alloc(n * sizeof *serve->loops);
    gateway->workers = writ_alloc(n * sizeof *gateway->workers);
    if (serve->loops == NULL || gateway->workers == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the loops");
    }
    for (size_t i = 0; i < n; i++) {
        const struct writ_loop_options options = {
            .index = (unsigned)i, .clock = serve->options->clock};
        struct writ_worker *worker = &gateway->workers[i];
        WRIT_TRY(writ_loop_new(&options, &serve->loops[i], err));
        gateway->workers_n = i + 1;
        *worker = (struct writ_worker){.gateway = gateway,
            .ledger = gateway->ledger,
            .loop = serve->loops[i],
            .index = (unsigned)i,
            .metrics = writ_metrics_shard(gateway->metrics, i),
            .generation = writ_generation_hold(serve->generation)};
        WRIT_TRY(writ_worker_init(worker, BATCH_MAX, &serve->options->config->limits, err));
        WRIT_TRY(writ_identity_new(serve->generation->issuers, &worker->identity, err));
    }
    atomic_store(&gateway->has_loops, true);
    return WRIT_DONE;
}

static writ_result
open_upstreams(struct serve *serve, struct writ_err *err)
{
    struct writ_gateway *gateway = &serve->gateway;
    const struct writ_config *config = serve->options->config;

    if (config->upstreams_n > WRIT_UPSTREAMS_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "more than %d upstreams", WRIT_UPSTREAMS_MAX);
    }
    WRIT_TRY(writ_resolver_open(&gateway->resolver, err));
    for (size_t i = 0; i < gateway->workers_n; i++) {
        gateway->workers[i].probed.loop = gateway->workers[i].loop;
        gateway->workers[i].probed.resolver = gateway->resolver;
    }
    WRIT_TRY(writ_tokens_new(config, gateway->clock, gateway->log, &gateway->tokens, err));
    for (size_t i = 0; i < config->upstreams_n; i++) {
        WRIT_TRY(writ_upstream_open(gateway, &config->upstreams[i], &gateway->upstreams[i], err));
        gateway->upstreams_n = i + 1;
    }
    return WRIT_DONE;
}

/* The option with the address, and its line, for the error. */
static writ_result
in_option(const struct serve *serve, const struct writ_listen_address *address, writ_result result,
    struct writ_err *err)
{
    const struct writ_config *config = serve->options->config;
    writ_auto_buf place = writ_buf_make(PATH_MAX_BYTES);

    writ_buf_put(&place, config->file);
    if (address->line > 0) {
        writ_buf_fmt(&place, ":%zu", address->line);
    }
    writ_buf_str(&place, address == &config->listen ? ": listen" : ": admin_listen");
    writ_buf_byte(&place, '\0');
    return writ_is_ok(writ_buf_check(&place, NULL)) ? writ_fail_in(err, result, place.ptr) : result;
}

static writ_result
open_listener(struct serve *serve, const struct writ_listen_address *address,
    const struct writ_tls_config *tls, const struct writ_route *routes, size_t routes_n,
    struct writ_listener **ret, struct writ_err *err)
{
    const struct writ_config *config = serve->options->config;
    WRIT_AUTO(struct writ_pem, writ_pem_wipe) pem = {0};
    struct writ_listener_options options = {
        .address = address->text,
        .passed = &serve->sockets,
        .routes = routes,
        .route_count = routes_n,
        .hosts = config->hosts.items,
        .host_count = config->hosts.n,
        .origins = config->origins.items,
        .origin_count = config->origins.n,
        .clock = serve->options->clock,
        .metrics = serve->gateway.metrics,
        .max_head_bytes = (size_t)config->limits.header_bytes,
        .max_arena_bytes = (size_t)config->limits.request_bytes,
        .max_connections = (unsigned)config->limits.connections,
        .max_exchanges = (unsigned)config->limits.in_flight,
        .head_timeout_ms = config->limits.head_timeout_us / 1000,
        .body_timeout_ms = config->limits.body_timeout_us / 1000,
        .idle_timeout_ms = config->limits.idle_timeout_us / 1000,
    };

    WRIT_TRY(writ_pem_read(tls, &pem, &options.tls, err));
    WRIT_TRY(in_option(serve, address,
        writ_listener_open(&options, serve->loops, serve->gateway.workers_n, ret, err), err));
    WRIT_LOG(serve->options->log, WRIT_EVENT_LISTENING, writ_log_text("address", address->text),
        writ_log_int("port", writ_listener_port(*ret)), writ_log_bool("tls", tls->cert.len > 0),
        writ_log_bool("admin", address == &config->admin_listen));
    return WRIT_DONE;
}

/* A URL with the bound address, because the configured port may be 0; of a Unix socket its
 * address. */
static writ_result
make_url(const struct writ_listen_address *listen, const struct writ_tls_config *tls,
    const struct writ_listener *listener, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_view address = listen->text;

    if (listen->path.len > 0) {
        *ret = writ_buf_make(URL_MAX);
        writ_buf_put(ret, address);
        return writ_buf_check(ret, err);
    }
    while (address.len > 0 && address.ptr[address.len - 1] != ':') {
        address.len--;
    }
    *ret = writ_buf_make(URL_MAX);
    writ_buf_str(ret, tls->cert.len > 0 ? "https://" : "http://");
    writ_buf_put(ret, address);
    writ_buf_u64(ret, writ_listener_port(listener));
    return writ_buf_check(ret, err);
}

static writ_result
open_listeners(struct serve *serve, struct writ_err *err)
{
    struct writ_gateway *gateway = &serve->gateway;
    const struct writ_config *config = serve->options->config;

    writ_routes_make(&serve->routes, gateway);
    gateway->admin.metrics = gateway->metrics;
    writ_gauges_open(gateway);
    serve->ready.gateway = gateway;
    serve->ready.generation = &serve->generation;
    WRIT_TRY(writ_ready_open(&serve->ready, err));
    WRIT_TRY(open_listener(serve, &config->listen, &config->tls, serve->routes.list,
        serve->routes.n, &gateway->listener, err));
    WRIT_TRY(make_url(&config->listen, &config->tls, gateway->listener, &serve->issuer, err));
    gateway->issuer = writ_buf_view(&serve->issuer);
    if (config->admin_listen.text.len == 0) {
        return WRIT_DONE;
    }
    writ_routes_make_admin(&serve->routes, gateway);
    WRIT_TRY(open_listener(serve, &config->admin_listen, &config->admin_tls, serve->routes.admin,
        WRIT_ROUTES_ADMIN, &gateway->admin_listener, err));
    if (config->admin_listen.path.len > 0) { /* no browser reaches it: links by admin_url alone */
        gateway->admin_url = config->admin_url;
        return WRIT_DONE;
    }
    WRIT_TRY(make_url(&config->admin_listen, &config->admin_tls, gateway->admin_listener,
        &serve->admin_url, err));
    gateway->admin_url = writ_buf_view(&serve->admin_url);
    return WRIT_DONE;
}

static WRIT_RESULT
hear_fact(void *ctx, const struct writ_fact *fact, struct writ_err *err)
{
    return writ_stop_rules_hear(ctx, fact, err);
}

/* Reads earlier stops from the ledger. */
static writ_result
open_kills(struct writ_gateway *gateway, struct writ_err *err)
{
    struct writ_stop_rules *stop_rules = NULL;
    struct writ_ledger_health health;
    writ_auto_reader reader = NULL;

    writ_ledger_health(gateway->ledger, &health);
    WRIT_TRY(writ_stop_rules_open(gateway->config->files.ptr, writ_ledger_clock(gateway->ledger),
        writ_ledger_is_shared(gateway->ledger), health.records == 0, &stop_rules, err));
    gateway->stop_rules = stop_rules; /* before the reading, so that it misses nothing */
    WRIT_TRY(writ_reader_open(gateway->config->store.ptr, &reader, err));
    return writ_reader_facts(reader, hear_fact, gateway->stop_rules, err);
}

static WRIT_RESULT
make_tag(struct writ_gateway *gateway, struct writ_err *err)
{
    struct writ_buf tag = writ_buf_over(gateway->tag, sizeof gateway->tag - 1);
    unsigned char random[WRIT_GATEWAY_TAG / 2];

    WRIT_TRY(writ_random(random, sizeof random, err));
    writ_hex_put(&tag, random, sizeof random);
    return WRIT_DONE;
}

/* With another mark key than that of the records, values that they saw are refused: log it. */
static WRIT_RESULT
compare_marks(struct serve *serve, struct writ_err *err)
{
    const struct writ_mark_key *key = serve->generation->marks;
    char newest[WRIT_MARK_KEY_ID + 1];

    if (key == NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_mark_key_newest(serve->options->config->store.ptr, newest, err));
    if (newest[0] != '\0' && !writ_view_is(writ_mark_key_id(key), newest)) {
        serve->ready.marks_differ = true;
        WRIT_LOG(serve->options->log, WRIT_EVENT_MARK_KEY_DIFFERS, writ_log_str("newest", newest),
            writ_log_text("ours", writ_mark_key_id(key)));
    }
    return WRIT_DONE;
}

static writ_result
open_all(struct serve *serve, struct writ_err *err)
{
    struct writ_gateway *gateway = &serve->gateway;
    const struct writ_config *config = serve->options->config;

    gateway->clock = serve->options->clock;
    gateway->log = serve->options->log;
    gateway->config = config;
    gateway->steps = &writ_steps;
    WRIT_TRY(make_tag(gateway, err));
    WRIT_TRY(writ_service_manager_sockets_take(
        &serve->sockets, err)); /* before a child could inherit them */
    gateway->profile = writ_profile_find(config->profile);
    if (gateway->profile == NULL) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the derivation profile is not known");
    }
    WRIT_TRY(writ_generation_new(config, gateway->clock, gateway->log, &serve->generation, err));
    WRIT_TRY(open_metrics(serve, err));
    WRIT_TRY(open_ledger(serve, err));
    gateway->clock = writ_ledger_clock(gateway->ledger); /* gateways of one ledger have one time */
    WRIT_TRY(open_kills(gateway, err));
    (void)writ_definitions_changed(config->files.ptr, WRIT_DEFINITIONS_ACCEPTED, &serve->accepted);
    WRIT_TRY(writ_generation_accept(serve->generation, gateway->ledger, err));
    WRIT_TRY(compare_marks(serve, err));
    WRIT_TRY(writ_definition_cache_open(gateway, serve->generation->keyring, &serve->seen, err));
    WRIT_TRY(writ_sessions_new((size_t)config->limits.sessions, config->sessions.idle_expires_us,
        &gateway->sessions, err));
    writ_sessions_divide(gateway->sessions, (unsigned)config->limits.agent_percent,
        (unsigned)config->limits.tenant_percent);
    WRIT_TRY(writ_labels_new(&gateway->labels, err));
    WRIT_TRY(writ_pending_responses_new(&gateway->answers, err));
    WRIT_TRY(writ_owners_new(config->upstreams_n, &gateway->owners, err));
    WRIT_TRY(writ_runs_new(&gateway->runs, err));
    WRIT_TRY(writ_logins_new(
        gateway->clock, writ_ledger_is_shared(gateway->ledger), &gateway->logins, err));
    WRIT_TRY(
        writ_ledger_query_new(config->store.ptr, WRIT_LEDGER_QUERY_MAX, &gateway->queries, err));
    WRIT_TRY(writ_ledger_query_new(config->store.ptr, 0, &gateway->lookups, err));
    WRIT_TRY(
        writ_ledger_query_new(config->store.ptr, WRIT_LEDGER_QUERY_MAX, &gateway->replays, err));
    WRIT_TRY(writ_figures_feed_new(config->store.ptr, gateway->ledger, gateway->clock,
        writ_rule_longest_window(config->policy), &gateway->figures, err));
    WRIT_TRY(open_loops(serve, err));
    WRIT_TRY(open_telemetry(serve, err));
    WRIT_TRY(open_upstreams(serve, err));
    WRIT_TRY(writ_anchors_open(config, gateway->ledger, gateway->clock, gateway->log,
        shard_of(serve, SHARD_ANCHORS), &serve->anchors, err));
    WRIT_TRY(writ_export_jobs_open(gateway, serve->loops_n + SHARD_EXPORTS, &serve->exports, err));
    WRIT_TRY(writ_reviewers_open(gateway, &serve->reviewers, err));
    WRIT_TRY(writ_review_counts_open(gateway, &serve->counts, err));
    WRIT_TRY(open_listeners(serve, err));
    WRIT_TRY(writ_service_manager_sockets_all_taken(&serve->sockets, err));
    if (gateway->telemetry != NULL) {
        WRIT_TRY(writ_telemetry_start(gateway->telemetry, err));
    }
    WRIT_TRY(writ_notify_open(gateway, shard_of(serve, SHARD_NOTIFY), &gateway->notify, err));
    for (; serve->started < gateway->workers_n; serve->started++) {
        WRIT_TRY(writ_loop_start(serve->loops[serve->started], err));
    }
    return WRIT_DONE;
}

/* ---- closing ---- */

static void
close_all(struct serve *serve)
{
    struct writ_gateway *gateway = &serve->gateway;

    for (size_t i = 0; i < serve->started; i++) {
        writ_loop_stop(serve->loops[i]);
    }
    for (size_t i = 0; i < serve->started; i++) {
        WRIT_IGNORE(writ_loop_join(serve->loops[i], NULL)); /* keeps (2) */
    }
    writ_telemetry_end(gateway->telemetry); /* its metrics ask what is closed below */
    for (size_t i = 0; i < gateway->upstreams_n; i++) {
        writ_upstream_close(gateway->upstreams[i]); /* ends calls, which may still have records to
                                                       write */
    }
    writ_ledger_query_free(gateway->replays);
    writ_ledger_query_free(gateway->lookups);
    writ_ledger_query_free(gateway->queries);
    writ_figures_feed_free(gateway->figures);
    writ_export_jobs_free(serve->exports);
    writ_anchors_free(serve->anchors);
    writ_notify_end(gateway->notify);
    writ_reviewers_end(serve->reviewers);
    writ_review_counts_end(serve->counts);
    writ_tokens_free(gateway->tokens);
    gateway->clock = serve->options->clock; /* that of the ledger ends with it */
    writ_ledger_close(gateway->ledger);
    writ_keyring_free(serve->ledger_keys);
    writ_notify_free(gateway->notify);
    writ_reviewers_free(serve->reviewers);
    writ_review_counts_free(serve->counts);
    for (size_t i = 0; i < gateway->workers_n; i++) {
        writ_review_stream_wipe(&gateway->workers[i]);
        writ_ledger_stream_wipe(&gateway->workers[i]);
        writ_worker_wipe(&gateway->workers[i]);
    }
    writ_listener_free(gateway->listener);
    writ_listener_free(gateway->admin_listener);
    writ_resolver_close(gateway->resolver);
    for (size_t i = 0; i < gateway->workers_n; i++) {
        writ_loop_free(serve->loops[i]);
    }
    writ_stop_rules_free(gateway->stop_rules);
    writ_sessions_free(gateway->sessions);
    writ_pending_responses_free(gateway->answers);
    writ_owners_free(gateway->owners);
    writ_runs_free(gateway->runs);
    writ_logins_free(gateway->logins);
    writ_telemetry_free(gateway->telemetry);
    writ_metrics_free(gateway->metrics);
    writ_labels_free(gateway->labels);
    writ_generation_drop(serve->generation);
    writ_definition_cache_wipe(&serve->seen);
    writ_repeats_wipe(&serve->repeats);
    writ_buf_wipe(&serve->issuer);
    writ_buf_wipe(&serve->admin_url);
    writ_free(gateway->workers);
    writ_free(serve->loops);
}

static void
log_shadow(const struct serve *serve)
{
    size_t rules = writ_rule_shadowed(serve->generation->config->policy);

    if (rules > 0) {
        WRIT_LOG(serve->options->log, WRIT_EVENT_SHADOW, writ_log_int("rules", (int64_t)rules));
    }
}

/* ---- reloading ---- */

/* For the page: which rules an earlier digest stood for. */
static void
keep_policy(const struct serve *serve)
{
    const struct writ_config *config = serve->generation->config;
    struct writ_err err = {{0}, 0, 0};
    char digest[WRIT_DIGEST_TEXT];

    if (!writ_is_ok(writ_policies_keep(
            config->files.ptr, &config->policy_digest, config->policy_text, &err))) {
        writ_digest_text(&config->policy_digest, digest);
        WRIT_LOG(serve->options->log, WRIT_EVENT_POLICY_NOT_KEPT, writ_log_str("policy", digest),
            writ_log_str("why", err.text));
    }
}

static void
reload_and_say(struct serve *serve)
{
    const struct writ_serve_options *options = serve->options;
    struct writ_err err = {{0}, 0, 0};
    writ_auto_buf waits = writ_buf_make(WRIT_CHANGES_NAMES_MAX);

    if (!writ_is_ok(writ_reload_run(
            &serve->gateway, options->config_file, &serve->generation, &waits, &err))) {
        WRIT_LOG(options->log, WRIT_EVENT_RELOAD_REFUSED,
            writ_log_str("file", options->config_file), writ_log_str("why", err.text));
        return;
    }
    WRIT_LOG(options->log, WRIT_EVENT_RELOADED, writ_log_str("file", options->config_file));
    log_shadow(serve);
    keep_policy(serve);
    if (waits.len > 0) {
        WRIT_LOG(options->log, WRIT_EVENT_RESTART_NEEDED,
            writ_log_text("options", writ_buf_view(&waits)));
    }
}

/* Applies the definitions that `writ tools accept` left beside the ledger, without a signal. */
static void
take_accepted(struct serve *serve)
{
    struct writ_log *log = serve->options->log;
    struct writ_err err = {{0}, 0, 0};

    if (!writ_definitions_changed(
            serve->gateway.config->files.ptr, WRIT_DEFINITIONS_ACCEPTED, &serve->accepted) &&
        !atomic_exchange(&serve->gateway.heard, false)) {
        return;
    }
    if (writ_is_ok(writ_reload_accepted(&serve->gateway, &serve->generation, &err))) {
        serve->refused_accepted = false;
        WRIT_LOG(log, WRIT_EVENT_DEFINITIONS_TAKEN,
            writ_log_int("accepted", (int64_t)serve->generation->accepted->n));
        return;
    }
    if (writ_ledger_is_shared(serve->gateway.ledger)) {
        serve->gateway.heard = true; /* others go by the ledger already: again with the next tick */
    }
    if (!serve->refused_accepted) {
        WRIT_LOG(log, WRIT_EVENT_DEFINITIONS_REFUSED, writ_log_str("why", err.text));
    }
    serve->refused_accepted = writ_ledger_is_shared(serve->gateway.ledger);
}

/* ---- waiting ---- */

static void
sweep(struct serve *serve)
{
    size_t left;

    (void)writ_sessions_sweep(
        serve->gateway.sessions, writ_clock_mono_us(serve->options->clock), &left);
}

/* Logs for the operator why the ledger refuses; clients do not get this reason. */
static void
tell_of_ledger(struct serve *serve)
{
    struct writ_ledger_health health;

    writ_ledger_health(serve->gateway.ledger, &health);
    if (health.state == serve->ledger_was) {
        return;
    }
    serve->ledger_was = health.state;
    switch (health.state) {
    case WRIT_LEDGER_READY:
        WRIT_LOG(serve->options->log, WRIT_EVENT_LEDGER_READY,
            writ_log_int("kept_outcomes", (int64_t)health.kept_outcomes));
        return;
    case WRIT_LEDGER_REFUSING:
        WRIT_LOG(serve->options->log, WRIT_EVENT_LEDGER_REFUSING,
            writ_log_str("why", health.why.text),
            writ_log_int("kept_outcomes", (int64_t)health.kept_outcomes));
        return;
    case WRIT_LEDGER_POISONED:
        WRIT_LOG(serve->options->log, WRIT_EVENT_LEDGER_POISONED,
            writ_log_str("why", health.why.text),
            writ_log_int("kept_outcomes", (int64_t)health.kept_outcomes));
        return;
    }
}

/* Connections and sessions end at different times, so each has its own trigger. Request memory lies
 * between connection memory and is free only when the gateway is quiet. */
static void
trim(struct serve *serve)
{
    const struct writ_metrics *metrics = serve->gateway.metrics;
    bool connections = writ_memory_trim_is_due(
        &serve->connections, writ_metrics_gauge_sum(metrics, WRIT_GAUGE_CONNECTIONS_OPEN));
    bool sessions = writ_memory_trim_is_due(
        &serve->sessions, writ_metrics_gauge_sum(metrics, WRIT_GAUGE_SESSIONS_OPEN));
    bool first = !serve->requests.after_start;
    bool quiet = writ_memory_trim_is_quiet(
        &serve->requests, writ_metrics_counter_sum(metrics, WRIT_COUNTER_REQUESTS));

    if (connections || sessions || quiet) {
        writ_alloc_give_back();
    }
    if (quiet && first) {
        writ_memory_pages_give_back_program();
    }
}

/* In use by a connection, a call whose client has left, or a review that people decide. */
static bool
is_idle(struct serve *serve)
{
    const struct writ_gateway *gateway = &serve->gateway;
    int64_t now_us = writ_clock_mono_us(serve->options->clock);
    struct writ_ledger_health health;

    writ_ledger_health(gateway->ledger, &health);
    if (writ_metrics_gauge_sum(gateway->metrics, WRIT_GAUGE_CONNECTIONS_OPEN) > 0 ||
        writ_listener_open_exchanges(gateway->listener) > 0 || health.reviews > 0 ||
        serve->used_us == 0) {
        serve->used_us = now_us;
    }
    return serve->options->idle_us > 0 && now_us - serve->used_us >= serve->options->idle_us;
}

static void
wait_for_end(struct serve *serve)
{
    const struct timespec tick = {.tv_sec = TICK_US / 1000000};
    const struct timespec early = {.tv_nsec = EARLY_TICK_US * 1000L};

    for (unsigned ticks = 1;; ticks++) {
        bool ready = writ_ready_look(&serve->ready);
        int signal = sigtimedwait(&serve->signals, NULL, ready ? &tick : &early);
        if (signal == SIGTERM || signal == SIGINT) {
            return;
        }
        if (is_idle(serve)) {
            WRIT_LOG(serve->options->log, WRIT_EVENT_IDLE,
                writ_log_int("idle_us", serve->options->idle_us));
            return;
        }
        if (signal == SIGHUP) {
            writ_service_manager_reloading(serve->options->clock);
            reload_and_say(serve);
            writ_service_manager_ready();
        }
        take_accepted(serve);
        tell_of_ledger(serve);
        writ_generation_reap(serve->generation);
        trim(serve);
        if (ticks % SWEEP_TICKS == 0) {
            sweep(serve);
        }
        writ_definition_cache_keep(&serve->gateway, serve->generation->keyring, &serve->seen);
        writ_repeats_tell(&serve->gateway, serve->generation, &serve->repeats);
    }
}

/* The soft limit of 1024 exists for select(2), which the gateway does not use; its own limits bound
 * the open descriptors. */
static void
allow_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

writ_result
writ_serve_run(const struct writ_serve_options *options, struct writ_err *err)
{
    struct serve *serve = writ_alloc(sizeof *serve);
    writ_result r;

    if (serve == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the gateway");
    }
    (void)prctl(PR_SET_DUMPABLE, 0); /* keys stay out of core dumps and of other processes */
    allow_descriptors();
    serve->options = options;
    writ_end_signals_block(&serve->signals); /* keeps (1) */
    serve->ledger_was = WRIT_LEDGER_READY;
    r = open_all(serve, err);
    if (writ_is_ok(r)) {
        WRIT_LOG(options->log, WRIT_EVENT_SERVING, writ_log_str("version", WRIT_VERSION));
        log_shadow(serve);
        keep_policy(serve);
        writ_service_manager_ready();
        wait_for_end(serve);
        writ_service_manager_stopping();
        writ_shutdown_run(&(struct writ_shutdown){.gateway = &serve->gateway,
            .clock = options->clock,
            .sockets_passed = serve->sockets.n > 0});
        writ_definition_cache_keep(&serve->gateway, serve->generation->keyring, &serve->seen);
        WRIT_LOG(options->log, WRIT_EVENT_STOPPED, writ_log_str("version", WRIT_VERSION));
    }
    close_all(serve);
    writ_free(serve);
    return r;
}
