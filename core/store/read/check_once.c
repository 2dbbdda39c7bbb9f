/* The next sweep forgets claims that are over. When too many stand, half of the keys, drawn at
 * random, is no longer checked: memory stays bounded. */
#include "store/read/check.h"

#include "base/id.h"

/** A key that is claimed. */
struct once {
    struct writ_map_node by_key;
    uint64_t leaf;
    int64_t until_us;
};

static void
forget(struct writ_check *v, struct once *once)
{
    writ_map_remove(&v->once.keys, &once->by_key);
    writ_free(once);
}

/* Whether the key is in the part that was drawn, of 2^halvings parts. */
static bool
is_looked_at(const struct writ_check *v, struct writ_tag key)
{
    return ((key.low ^ v->once.drawn) & ((UINT64_C(1) << v->once.halvings) - 1)) == 0;
}

static void
sweep(struct writ_check *v)
{
    for (size_t i = 0; i < v->once.keys.bucket_count; i++) {
        struct writ_map_node *next;

        for (struct writ_map_node *at = v->once.keys.buckets[i]; at != NULL; at = next) {
            struct once *once = WRIT_MAP_OF(at, struct once, by_key);

            next = at->next;
            if (once->until_us <= v->row.time_us || !is_looked_at(v, once->by_key.tag)) {
                forget(v, once);
            }
        }
    }
}

static void
make_room(struct writ_check *v)
{
    sweep(v);
    while (v->once.keys.count > WRIT_CHECK_ONCE_MOST / 2) {
        v->once.halvings++;
        sweep(v);
    }
}

static WRIT_RESULT
begin(struct writ_check *v)
{
    if (v->once.keys.buckets != NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_random(&v->once.drawn, sizeof v->once.drawn, v->err));
    return writ_map_init(&v->once.keys, WRIT_CHECK_ONCE_MOST, v->err);
}

WRIT_RESULT
writ_check_once_claim(struct writ_check *v, const struct writ_said *said)
{
    struct writ_tag key;
    struct once *once;

    if (said->row.claim == NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(begin(v));
    key = writ_tag_read(said->tags);
    if (!is_looked_at(v, key)) {
        return WRIT_DONE;
    }
    once = WRIT_MAP_OF(writ_map_find(&v->once.keys, key), struct once, by_key);
    if (once != NULL && once->until_us > said->row.time_us) {
        writ_check_problem(v, v->row.leaf,
            "it was granted although record %llu had claimed its key",
            (unsigned long long)once->leaf);
    }
    if (once == NULL) {
        if (v->once.keys.count >= WRIT_CHECK_ONCE_MOST) {
            make_room(v);
        }
        once = writ_alloc(sizeof *once);
        if (once == NULL) {
            WRIT_FAIL(v->err, WRIT_E_NOMEM, "no memory for a claim");
        }
        writ_map_add(&v->once.keys, &once->by_key, key);
    }
    once->leaf = v->row.leaf;
    once->until_us = said->row.time_us + said->claimed_us;
    return WRIT_DONE;
}

void
writ_check_once_release(struct writ_check *v, struct writ_tag key)
{
    struct once *once = v->once.keys.buckets == NULL
                            ? NULL
                            : WRIT_MAP_OF(writ_map_find(&v->once.keys, key), struct once, by_key);

    if (once != NULL) {
        forget(v, once);
    }
}

void
writ_check_once_wipe(struct writ_check *v)
{
    for (size_t i = 0; i < v->once.keys.bucket_count; i++) {
        while (v->once.keys.buckets[i] != NULL) {
            forget(v, WRIT_MAP_OF(v->once.keys.buckets[i], struct once, by_key));
        }
    }
    writ_map_wipe(&v->once.keys);
}
