/* owners.c - a hash table of URIs with a short probe, and a list of templates that match by their
 * literal prefix, the longest first. Of several upstreams the first in the configuration owns a
 * URI. A wrong or lost owner costs a search of all upstreams, never a wrong decision. */
#include "gateway/state/owners.h"

#include <pthread.h>

#define PROBES        8
#define TEMPLATES_MAX 1024

struct owner {
    struct writ_buf uri; /* empty: a free place */
    size_t upstream;
};

struct writ_owners {
    pthread_mutex_t lock;
    struct owner places[WRIT_OWNERS_MAX];
    struct owner templates[TEMPLATES_MAX]; /* by the text before the first '{' */
    size_t templates_n;
};

writ_result
writ_owners_new(struct writ_owners **ret, struct writ_err *err)
{
    struct writ_owners *owners = writ_alloc(sizeof *owners);

    if (owners == NULL || pthread_mutex_init(&owners->lock, NULL) != 0) {
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
fill(struct owner *place, struct writ_view uri, size_t upstream)
{
    writ_buf_wipe(&place->uri);
    place->uri = writ_buf_make(WRIT_OWNERS_URI_MAX);
    writ_buf_put(&place->uri, uri);
    if (!writ_is_ok(writ_buf_check(&place->uri, NULL))) {
        writ_buf_wipe(&place->uri);
    }
    place->upstream = upstream;
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
note_template(struct writ_owners *owners, struct writ_view literal, size_t upstream)
{
    struct owner *place = NULL;

    for (size_t i = 0; i < owners->templates_n; i++) {
        if (writ_view_equal(writ_buf_view(&owners->templates[i].uri), literal)) {
            place = &owners->templates[i];
        }
    }
    if (place == NULL && owners->templates_n < TEMPLATES_MAX) {
        fill(&owners->templates[owners->templates_n++], literal, upstream);
    } else if (place != NULL && upstream < place->upstream) {
        place->upstream = upstream;
    }
}

void
writ_owners_note(struct writ_owners *owners, struct writ_view uri, size_t upstream)
{
    struct owner *place;
    size_t brace = writ_view_find(uri, '{');

    if (uri.len == 0 || uri.len > WRIT_OWNERS_URI_MAX) {
        return;
    }
    (void)pthread_mutex_lock(&owners->lock);
    place = place_of(owners, uri);
    if (place->uri.len == 0 || !writ_view_equal(writ_buf_view(&place->uri), uri)) {
        fill(place, uri, upstream);
    } else if (upstream < place->upstream) {
        place->upstream = upstream;
    }
    if (brace > 0 && brace < uri.len) {
        note_template(owners, writ_view_sub(uri, 0, brace), upstream);
    }
    (void)pthread_mutex_unlock(&owners->lock);
}

static size_t
by_template(const struct writ_owners *owners, struct writ_view uri)
{
    size_t longest = 0, upstream = WRIT_OWNERS_NONE;

    for (size_t i = 0; i < owners->templates_n; i++) {
        struct writ_view literal = writ_buf_view(&owners->templates[i].uri);
        if (literal.len > longest && writ_view_has_prefix(uri, literal)) {
            longest = literal.len;
            upstream = owners->templates[i].upstream;
        }
    }
    return upstream;
}

size_t
writ_owners_find(struct writ_owners *owners, struct writ_view uri)
{
    const struct owner *place;
    size_t upstream;

    (void)pthread_mutex_lock(&owners->lock);
    place = place_of(owners, uri);
    upstream = place->uri.len > 0 && writ_view_equal(writ_buf_view(&place->uri), uri)
                   ? place->upstream
                   : by_template(owners, uri);
    (void)pthread_mutex_unlock(&owners->lock);
    return upstream;
}
