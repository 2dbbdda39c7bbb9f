/* owners.c - a hash table of URIs with a short probe, and a list of templates that match by their
 * literal prefix, the longest first. Of several upstreams the first in the configuration owns a
 * URI, as long as its item is kept. A lost owner costs a search of all upstreams, never a wrong
 * decision. */
#include "gateway/state/owners.h"

#include <pthread.h>

#define PROBES        8
#define TEMPLATES_MAX 1024

struct owner {
    struct writ_buf uri; /* empty: a free place */
    size_t upstream;
    int64_t noted_us;
};

/* When a list was asked for; 0: never. */
struct listed {
    int64_t read_us, failed_us;
};

struct writ_owners {
    pthread_mutex_t lock;
    struct owner places[WRIT_OWNERS_MAX];
    struct owner templates[TEMPLATES_MAX]; /* by the text before the first '{' */
    size_t templates_n;
    size_t upstreams;
    struct listed (*lists)[WRIT_OWNERS_LISTS]; /* of each upstream */
};

writ_result
writ_owners_new(size_t upstreams, struct writ_owners **ret, struct writ_err *err)
{
    struct writ_owners *owners = writ_alloc(sizeof *owners);

    if (owners != NULL) {
        owners->upstreams = upstreams;
        owners->lists = writ_alloc((upstreams + 1) * sizeof *owners->lists);
    }
    if (owners == NULL || owners->lists == NULL || pthread_mutex_init(&owners->lock, NULL) != 0) {
        writ_free(owners != NULL ? owners->lists : NULL);
        writ_free(owners);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the owners of resources");
    }
    *ret = owners;
    return WRIT_DONE;
}

void
writ_owners_free(struct writ_owners *owners)
{
    if (owners == NULL) {
        return;
    }
    for (size_t i = 0; i < WRIT_OWNERS_MAX; i++) {
        writ_buf_wipe(&owners->places[i].uri);
    }
    for (size_t i = 0; i < owners->templates_n; i++) {
        writ_buf_wipe(&owners->templates[i].uri);
    }
    (void)pthread_mutex_destroy(&owners->lock);
    writ_free(owners->lists);
    writ_free(owners);
}

/* FNV-1a; chosen collisions can only make it forget other URIs. */
static size_t
hash(struct writ_view uri)
{
    uint64_t h = 0xcbf29ce484222325ULL;

    for (size_t i = 0; i < uri.len; i++) {
        h = (h ^ (unsigned char)uri.ptr[i]) * 0x100000001b3ULL;
    }
    return (size_t)((h ^ h >> 32) % WRIT_OWNERS_MAX);
}

static void
fill(struct owner *place, struct writ_view uri, size_t upstream, int64_t now_us)
{
    writ_buf_wipe(&place->uri);
    place->uri = writ_buf_make(WRIT_OWNERS_URI_MAX);
    writ_buf_put(&place->uri, uri);
    if (!writ_is_ok(writ_buf_check(&place->uri, NULL))) {
        writ_buf_wipe(&place->uri);
    }
    place->upstream = upstream;
    place->noted_us = now_us;
}

static bool
is_kept(const struct owner *place, int64_t now_us)
{
    return now_us - place->noted_us < WRIT_OWNERS_KEPT_US;
}

/* Another listing of the same text. */
static void
renew(struct owner *place, size_t upstream, int64_t now_us)
{
    if (upstream <= place->upstream || !is_kept(place, now_us)) {
        place->upstream = upstream;
        place->noted_us = now_us;
    }
}

/* Its place, or the place that it will take: a free one, else the first. */
static struct owner *
place_of(struct writ_owners *owners, struct writ_view uri)
{
    size_t start = hash(uri);
    struct owner *free_place = NULL;

    for (size_t i = 0; i < PROBES; i++) {
        struct owner *place = &owners->places[(start + i) % WRIT_OWNERS_MAX];
        if (place->uri.len == 0) {
            free_place = free_place != NULL ? free_place : place;
        } else if (writ_view_equal(writ_buf_view(&place->uri), uri)) {
            return place;
        }
    }
    return free_place != NULL ? free_place : &owners->places[start];
}

static void
note_template(struct writ_owners *owners, struct writ_view literal, size_t upstream, int64_t now_us)
{
    struct owner *place = NULL;

    for (size_t i = 0; i < owners->templates_n; i++) {
        if (writ_view_equal(writ_buf_view(&owners->templates[i].uri), literal)) {
            place = &owners->templates[i];
        }
    }
    if (place == NULL && owners->templates_n < TEMPLATES_MAX) {
        fill(&owners->templates[owners->templates_n++], literal, upstream, now_us);
    } else if (place != NULL) {
        renew(place, upstream, now_us);
    }
}

void
writ_owners_note(struct writ_owners *owners, struct writ_view uri, size_t upstream, int64_t now_us)
{
    struct owner *place;
    size_t brace = writ_view_find(uri, '{');

    if (uri.len == 0 || uri.len > WRIT_OWNERS_URI_MAX) {
        return;
    }
    (void)pthread_mutex_lock(&owners->lock);
    place = place_of(owners, uri);
    if (place->uri.len == 0 || !writ_view_equal(writ_buf_view(&place->uri), uri)) {
        fill(place, uri, upstream, now_us);
    } else {
        renew(place, upstream, now_us);
    }
    if (brace > 0 && brace < uri.len) {
        note_template(owners, writ_view_sub(uri, 0, brace), upstream, now_us);
    }
    (void)pthread_mutex_unlock(&owners->lock);
}

void
writ_owners_read(struct writ_owners *owners, size_t upstream, enum writ_owners_list list,
    bool whole, int64_t now_us)
{
    (void)pthread_mutex_lock(&owners->lock);
    if (upstream < owners->upstreams && whole) {
        owners->lists[upstream][list] = (struct listed){.read_us = now_us};
    } else if (upstream < owners->upstreams) {
        owners->lists[upstream][list].failed_us = now_us;
    }
    (void)pthread_mutex_unlock(&owners->lock);
}

bool
writ_owners_lacks(struct writ_owners *owners, size_t upstream, enum writ_owners_list list,
    bool unknown, int64_t now_us)
{
    struct listed listed = {0};
    int64_t good_us = unknown ? WRIT_OWNERS_AGAIN_US : WRIT_OWNERS_FRESH_US;

    (void)pthread_mutex_lock(&owners->lock);
    if (upstream < owners->upstreams) {
        listed = owners->lists[upstream][list];
    }
    (void)pthread_mutex_unlock(&owners->lock);
    if (listed.failed_us != 0 && now_us - listed.failed_us < WRIT_OWNERS_AGAIN_US) {
        return false;
    }
    return listed.read_us == 0 || now_us - listed.read_us >= good_us;
}

static size_t
by_template(const struct writ_owners *owners, struct writ_view uri, int64_t now_us)
{
    size_t longest = 0, upstream = WRIT_OWNERS_NONE;

    for (size_t i = 0; i < owners->templates_n; i++) {
        struct writ_view literal = writ_buf_view(&owners->templates[i].uri);
        if (literal.len > longest && is_kept(&owners->templates[i], now_us) &&
            writ_view_has_prefix(uri, literal)) {
            longest = literal.len;
            upstream = owners->templates[i].upstream;
        }
    }
    return upstream;
}

size_t
writ_owners_find(struct writ_owners *owners, struct writ_view uri, int64_t now_us)
{
    const struct owner *place;
    size_t upstream;

    (void)pthread_mutex_lock(&owners->lock);
    place = place_of(owners, uri);
    upstream = place->uri.len > 0 && writ_view_equal(writ_buf_view(&place->uri), uri) &&
                       is_kept(place, now_us)
                   ? place->upstream
                   : by_template(owners, uri, now_us);
    (void)pthread_mutex_unlock(&owners->lock);
    return upstream;
}
