/* tokens.c - the Authorization fields that upstreams get, and the thread that fetches them.
 *
 * Invariants:
 * (1) The lock guards everything of a place but `wants`; it is never held during a fetch.
 * (2) A source and a shown field never change; a place replaces them by others.
 * (3) A token that was fetched by a source is sent only while the place has that source, or one
 *     with the same settings. */
#include "gateway/auth/tokens.h"

#include "base/secret.h"
#include "base/text.h"
#include "gateway/io/background.h"
#include "gateway/auth/token_request.h"

#define US_PER_S INT64_C(1000000)
#define LEAST_US (US_PER_S / 2) /* between two requests for a token that succeed */

/* A field for an upstream: the header's name and its value, in one wiped block of memory. */
struct writ_tokens_shown {
    atomic_uint holders;
    struct writ_buf text;
    size_t name_len;
};

/* The source of a field: settings and a secret, from one reading. */
struct source {
    atomic_uint holders;
    const struct writ_config *config; /* held: `settings` lives in it */
    const struct writ_upstream_config *upstream;
    const struct writ_authorization_config *settings;
    struct writ_view resource; /* in `config`, or in that of the start */
    struct writ_buf secret;
    struct writ_signer *signer;
};

struct place {
    struct source *source; /* NULL: the upstream needs nothing */
    atomic_bool wants;     /* the same, to be read without the lock */
    struct writ_tokens_shown *shown;
    int64_t ends_us;    /* monotonic; from when on `shown` is not good any more */
    int64_t dropped_us; /* when one was refused */
    struct writ_background_job job;
};

struct writ_tokens {
    const struct writ_config *config; /* of the start: the upstreams and their order */
    struct place *places;             /* one for each of them */
    size_t n;
    const struct writ_clock *clock;
    struct writ_log *log;
    struct writ_background *background;
};

struct writ_tokens_fresh {
    struct place *places;
    size_t n;
};

/* ---- what is held */

static void
fresh_freep(struct writ_tokens_fresh **fresh)
{
    writ_tokens_fresh_free(*fresh);
}

static void
tokens_freep(struct writ_tokens **tokens)
{
    writ_tokens_free(*tokens);
}

static void
shown_freep(struct writ_tokens_shown **shown)
{
    writ_tokens_drop(*shown);
}

static void
source_drop(struct source *source)
{
    if (source != NULL && atomic_fetch_sub(&source->holders, 1) == 1) {
        writ_buf_wipe_secret(&source->secret);
        writ_signer_free(source->signer);
        writ_config_drop(source->config);
        writ_free(source);
    }
}

static void
source_freep(struct source **source)
{
    source_drop(*source);
}

static bool
fetches(const struct source *source)
{
    return source != NULL && source->settings->client_id.len > 0;
}

void
writ_tokens_drop(struct writ_tokens_shown *shown)
{
    if (shown != NULL && atomic_fetch_sub(&shown->holders, 1) == 1) {
        writ_buf_wipe_secret(&shown->text);
        writ_free(shown);
    }
}

struct writ_header
writ_tokens_header(const struct writ_tokens_shown *shown)
{
    struct writ_view text = writ_buf_view(&shown->text);

    return (struct writ_header){
        writ_view_sub(text, 0, shown->name_len), writ_view_sub(text, shown->name_len, text.len)};
}

/* "Authorization" and "Bearer abc" in one. */
static WRIT_RESULT
shown_new(const struct writ_authorization_config *settings, struct writ_view secret,
    struct writ_tokens_shown **ret, struct writ_err *err)
{
    size_t len = settings->header.len + settings->scheme.len + 1 + secret.len;
    WRIT_AUTO(struct writ_tokens_shown *, shown_freep) shown = writ_alloc(sizeof *shown);

    if (shown == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for what an upstream is shown");
    }
    atomic_init(&shown->holders, 1);
    shown->text = writ_buf_make(len);
    (void)writ_buf_reserve(&shown->text, len); /* growing would leave pieces behind */
    writ_buf_put(&shown->text, settings->header);
    shown->name_len = settings->header.len;
    writ_buf_put(&shown->text, settings->scheme);
    writ_buf_str(&shown->text, settings->scheme.len > 0 ? " " : "");
    writ_buf_put(&shown->text, secret);
    WRIT_TRY(writ_buf_check(&shown->text, err));
    *ret = WRIT_TAKE(shown);
    return WRIT_DONE;
}

/* ---- reading the configuration */

static WRIT_RESULT
read_secret(struct source *source, struct writ_err *err)
{
    const struct writ_authorization_config *settings = source->settings;
    const char *place = settings->key.len > 0      ? settings->key.ptr
                        : settings->file.len > 0   ? settings->file.ptr
                        : settings->secret.len > 0 ? "the secret"
                                                   : settings->variable.ptr;

    source->secret = writ_buf_make(WRIT_SECRET_MAX);
    if (settings->secret.len > 0) {
        writ_buf_put(&source->secret, settings->secret);
        WRIT_TRY(writ_buf_check(&source->secret, err));
    } else if (settings->variable.len > 0) {
        WRIT_TRY(writ_secret_variable(place, &source->secret, err));
    } else {
        WRIT_TRY(writ_secret_file(place, &source->secret, err));
    }
    if (settings->key.len > 0) {
        struct writ_err why = {{0}, 0, 0};
        writ_result r = writ_signer_read(writ_buf_view(&source->secret), &source->signer, &why);
        if (!writ_is_ok(r)) {
            WRIT_FAIL(err, r.code, "%s: %s", place, why.text);
        }
        writ_buf_wipe_secret(&source->secret);
        return WRIT_DONE;
    }
    if (!writ_text_is_field(writ_buf_view(&source->secret))) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: has a control byte in it", place);
    }
    return WRIT_DONE;
}

/* `config` is held, where there is one: `upstream` lives in it. */
static WRIT_RESULT
source_of(const struct writ_config *config, const struct writ_upstream_config *upstream,
    struct writ_view resource, struct source **ret, struct writ_err *err)
{
    WRIT_AUTO(struct source *, source_freep) source = writ_alloc(sizeof *source);

    if (source == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for what an upstream is shown");
    }
    atomic_init(&source->holders, 1);
    source->config = config != NULL ? writ_config_hold(config) : NULL;
    source->upstream = upstream;
    source->settings = upstream->authorization;
    source->resource =
        source->settings->resource.ptr != NULL ? source->settings->resource : resource;
    WRIT_TRY(read_secret(source, err));
    *ret = WRIT_TAKE(source);
    return WRIT_DONE;
}

static WRIT_RESULT
source_new(const struct writ_config *config, const struct writ_upstream_config *start,
    struct source **ret, struct writ_err *err)
{
    const struct writ_upstream_config *upstream = writ_config_upstream(config, start->name);

    if (upstream == NULL || upstream->authorization == NULL) {
        *ret = NULL;
        return WRIT_DONE;
    }
    return source_of(config, upstream, start->resource, ret, err); /* a reload does not change it */
}

/* Whether tokens of one source are valid for the other. */
static bool
same_settings(const struct source *a, const struct source *b)
{
    const struct writ_authorization_config *x = a->settings, *y = b->settings;

    return writ_view_equal(x->client_id, y->client_id) && writ_view_equal(x->issuer, y->issuer) &&
           writ_view_equal(x->token_endpoint, y->token_endpoint) &&
           writ_view_equal(a->resource, b->resource) && writ_view_equal(x->scopes, y->scopes) &&
           writ_view_equal(x->header, y->header) && writ_view_equal(x->scheme, y->scheme);
}

/* ---- fetching */

static void
tell(struct writ_tokens *tokens, const struct source *source, const struct writ_err *err)
{
    if (tokens->log != NULL) {
        WRIT_LOG(tokens->log, WRIT_EVENT_TOKEN_FAILED,
            writ_log_text("upstream", source->upstream->name), writ_log_str("why", err->text));
    }
}

/* Under the lock: takes a token, and schedules the next request when three quarters of its lifetime
 * are over. keeps (3) */
static void
take(struct writ_tokens *tokens, struct place *place, struct writ_tokens_shown **shown,
    int64_t lifetime_s)
{
    int64_t now_us = writ_background_now_us(tokens->background);
    int64_t life_us = (lifetime_s >= 0 ? lifetime_s : WRIT_TOKENS_LIFETIME_S) * US_PER_S;
    int64_t margin_us = WRIT_TOKENS_MARGIN_S * US_PER_S;

    margin_us = margin_us < life_us / 8 ? margin_us : life_us / 8; /* of a short life, less */
    writ_tokens_drop(place->shown);
    place->shown = WRIT_TAKE(*shown);
    place->ends_us = now_us + life_us - margin_us;
    writ_background_succeeded(
        tokens->background, &place->job, life_us / 4 * 3 > LEAST_US ? life_us / 4 * 3 : LEAST_US);
}

static WRIT_RESULT
fetch(const struct writ_clock *clock, const struct source *source, const atomic_bool *stop,
    struct writ_tokens_shown **ret, int64_t *ret_lifetime_s, struct writ_err *err)
{
    const struct writ_token_request request = {
        .config = source->settings,
        .resource = source->resource,
        .secret = writ_buf_view(&source->secret),
        .signer = source->signer,
        .clock = clock,
        .timeout_ms = WRIT_TOKENS_FETCH_MS,
        .stop = stop,
    };
    struct writ_token token = {.lifetime_s = -1};
    writ_result r;

    WRIT_TRY(writ_token_request_send(&request, &token, err));
    r = shown_new(source->settings, writ_buf_view(&token.text), ret, err);
    *ret_lifetime_s = token.lifetime_s;
    writ_buf_wipe_secret(&token.text);
    return r;
}

static void
refresh(void *ctx, size_t i, const atomic_bool *stop)
{
    struct writ_tokens *tokens = ctx;
    struct place *place = &tokens->places[i];
    WRIT_AUTO(struct writ_tokens_shown *, shown_freep) shown = NULL;
    WRIT_AUTO(struct source *, source_freep) source = NULL;
    struct writ_err err = {{0}, 0, 0};
    int64_t lifetime_s = -1;
    writ_result fetched;

    writ_background_lock(tokens->background);
    source = place->source;
    if (source != NULL) {
        atomic_fetch_add(&source->holders, 1);
    }
    writ_background_unlock(tokens->background);
    if (!fetches(source)) {
        return; /* a reload came first, and has set the time */
    }
    fetched = fetch(tokens->clock, source, stop, &shown, &lifetime_s, &err);
    writ_background_lock(tokens->background);
    if (writ_is_ok(fetched) && place->source == source) {
        take(tokens, place, &shown, lifetime_s);
    } else if (place->source == source) {
        writ_background_failed(tokens->background, &place->job, WRIT_TOKENS_RETRY_S * US_PER_S,
            WRIT_TOKENS_RETRY_MAX_S * US_PER_S);
    }
    writ_background_unlock(tokens->background);
    if (!writ_is_ok(fetched) && !atomic_load(stop)) {
        tell(tokens, source, &err);
    }
}

static struct writ_background_job *
job_of(void *ctx, size_t i)
{
    struct writ_tokens *tokens = ctx;
    return &tokens->places[i].job;
}

/* ---- asking */

/* Under the lock. */
static bool
is_good(const struct writ_tokens *tokens, const struct place *place)
{
    return place->shown != NULL && writ_background_now_us(tokens->background) < place->ends_us;
}

bool
writ_tokens_wants(struct writ_tokens *tokens, size_t i)
{
    return atomic_load(&tokens->places[i].wants);
}

struct writ_tokens_shown *
writ_tokens_hold(struct writ_tokens *tokens, size_t i)
{
    struct place *place = &tokens->places[i];
    struct writ_tokens_shown *shown = NULL;

    writ_background_lock(tokens->background);
    if (is_good(tokens, place)) {
        shown = place->shown;
        atomic_fetch_add(&shown->holders, 1);
    }
    writ_background_unlock(tokens->background);
    return shown;
}

void
writ_tokens_refused(struct writ_tokens *tokens, size_t i, const struct writ_tokens_shown *shown)
{
    struct place *place = &tokens->places[i];
    int64_t now_us = writ_background_now_us(tokens->background);

    writ_background_lock(tokens->background);
    if (place->shown == shown && fetches(place->source) &&
        now_us - place->dropped_us >= WRIT_TOKENS_DROP_S * US_PER_S) {
        writ_tokens_drop(place->shown);
        place->shown = NULL;
        place->dropped_us = now_us;
        place->job.due_us = now_us;
        writ_background_wake(tokens->background);
    }
    writ_background_unlock(tokens->background);
}

bool
writ_tokens_ready(struct writ_tokens *tokens)
{
    bool ready = true;

    writ_background_lock(tokens->background);
    for (size_t i = 0; i < tokens->n; i++) {
        ready = ready && (tokens->places[i].source == NULL || is_good(tokens, &tokens->places[i]));
    }
    writ_background_unlock(tokens->background);
    return ready;
}

/* ---- opening and reloading */

static WRIT_RESULT
show_secret(const struct source *source, struct writ_tokens_shown **ret, struct writ_err *err)
{
    *ret = NULL;
    return source == NULL || fetches(source)
               ? WRIT_DONE
               : shown_new(source->settings, writ_buf_view(&source->secret), ret, err);
}

writ_result
writ_tokens_once(const struct writ_upstream_config *upstream, const struct writ_clock *clock,
    struct writ_tokens_shown **ret, struct writ_err *err)
{
    WRIT_AUTO(struct source *, source_freep) source = NULL;
    int64_t lifetime_s;

    if (upstream->authorization == NULL) {
        *ret = NULL;
        return WRIT_DONE;
    }
    WRIT_TRY(source_of(NULL, upstream, upstream->resource, &source, err));
    return fetches(source) ? fetch(clock, source, NULL, ret, &lifetime_s, err)
                           : show_secret(source, ret, err);
}

/* Under the lock. keeps (3) */
static void
put_source(struct writ_tokens *tokens, struct place *place, struct source **source,
    struct writ_tokens_shown **shown)
{
    struct source *before = place->source;
    int64_t now_us = writ_background_now_us(tokens->background);
    bool same = fetches(before) && fetches(*source) && same_settings(before, *source);

    if (!same) {
        writ_tokens_drop(place->shown);
        place->shown = WRIT_TAKE(*shown);
        place->ends_us = INT64_MAX;
        place->job.failures = 0;
    }
    if (!same || place->job.failures > 0) { /* the new secret may work now */
        place->job.due_us = fetches(*source) ? now_us : WRIT_BACKGROUND_NEVER;
    }
    place->source = WRIT_TAKE(*source);
    atomic_store(&place->wants, place->source != NULL);
    source_drop(before);
}

static void
places_free(struct place *places, size_t n)
{
    for (size_t i = 0; places != NULL && i < n; i++) {
        writ_tokens_drop(places[i].shown);
        source_drop(places[i].source);
    }
    writ_free(places);
}

void
writ_tokens_fresh_free(struct writ_tokens_fresh *fresh)
{
    if (fresh != NULL) {
        places_free(fresh->places, fresh->n);
        writ_free(fresh);
    }
}

WRIT_RESULT
writ_tokens_prepare(struct writ_tokens *tokens, const struct writ_config *config,
    struct writ_tokens_fresh **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_tokens_fresh *, fresh_freep) fresh = writ_alloc(sizeof *fresh);
    bool any = false;

    if (fresh == NULL ||
        (fresh->places = writ_alloc((tokens->n + 1) * sizeof *fresh->places)) == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for what upstreams are shown");
    }
    for (; fresh->n < tokens->n; fresh->n++) {
        struct place *place = &fresh->places[fresh->n];

        WRIT_TRY(source_new(config, &tokens->config->upstreams[fresh->n], &place->source, err));
        any = any || fetches(place->source);
    }
    for (size_t i = 0; i < fresh->n; i++) {
        WRIT_TRY(show_secret(fresh->places[i].source, &fresh->places[i].shown, err));
    }
    if (any) {
        WRIT_TRY(writ_background_start(tokens->background, err));
    }
    *ret = WRIT_TAKE(fresh);
    return WRIT_DONE;
}

void
writ_tokens_take(struct writ_tokens *tokens, struct writ_tokens_fresh *fresh)
{
    writ_background_lock(tokens->background);
    for (size_t i = 0; i < tokens->n; i++) {
        put_source(tokens, &tokens->places[i], &fresh->places[i].source, &fresh->places[i].shown);
    }
    writ_background_wake(tokens->background);
    writ_background_unlock(tokens->background);
    writ_tokens_fresh_free(fresh);
}

WRIT_RESULT
writ_tokens_new(const struct writ_config *config, const struct writ_clock *clock,
    struct writ_log *log, struct writ_tokens **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_tokens *, tokens_freep) tokens = writ_alloc(sizeof *tokens);
    struct writ_tokens_fresh *fresh = NULL;
    struct writ_background_options background = {
        .clock = clock, .n = config->upstreams_n, .job = job_of, .work = refresh, .ctx = tokens};

    if (tokens == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for what upstreams are shown");
    }
    tokens->config = writ_config_hold(config);
    tokens->clock = clock;
    tokens->log = log;
    WRIT_TRY(writ_background_new(&background, &tokens->background, err));
    tokens->places = writ_alloc((config->upstreams_n + 1) * sizeof *tokens->places);
    if (tokens->places == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for what upstreams are shown");
    }
    tokens->n = config->upstreams_n;
    for (size_t i = 0; i < tokens->n; i++) {
        tokens->places[i].job.due_us = WRIT_BACKGROUND_NEVER;
        tokens->places[i].dropped_us =
            writ_background_now_us(tokens->background) - WRIT_TOKENS_DROP_S * US_PER_S;
    }
    WRIT_TRY(writ_tokens_prepare(tokens, config, &fresh, err));
    writ_tokens_take(tokens, fresh);
    *ret = WRIT_TAKE(tokens);
    return WRIT_DONE;
}

void
writ_tokens_free(struct writ_tokens *tokens)
{
    if (tokens == NULL) {
        return;
    }
    writ_background_free(tokens->background);
    places_free(tokens->places, tokens->n);
    writ_config_drop(tokens->config);
    writ_free(tokens);
}
