/* The next sweep forgets claims that are over. When too many stand, half of the keys, drawn at
 * random, is no longer checked: memory stays bounded. */
#include "store/read/check.h"

#include "base/id.h"

/** A key that is claimed. */
struct once {
    struct writ_map_node by_key;
    uint64_t leaf;
    int64_t until_us;
    bool has_row; /* in the table `claim` of a ledger that several gateways write */
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
    once->has_row = false;
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

/* ---- the rows of claims in a ledger that several gateways write ---- */

void
writ_check_once_row(struct writ_check *v, struct writ_tag key, uint64_t leaf, int64_t until_us)
{
    struct once *once = v->once.keys.buckets == NULL
                            ? NULL
                            : WRIT_MAP_OF(writ_map_find(&v->once.keys, key), struct once, by_key);

    if (once == NULL) {
        return; /* over, not looked at, or claimed since */
    }
    once->has_row = true;
    if (until_us != once->until_us && until_us != INT64_MAX && leaf <= v->row.leaf) {
        writ_check_problem(
            v, leaf, "the row of its claim says another end than the record of the claim");
    }
}

static WRIT_RESULT
is_missing(
    struct writ_check *v, struct writ_sql_statement *lost, const struct once *once, bool *ret)
{
    uint8_t key[WRIT_TAG_BYTES];
    bool row = false;
    writ_result result;

    writ_tag_put(once->by_key.tag, key);
    writ_sql_bind_blob(lost, 1, writ_view((const char *)key, sizeof key));
    writ_sql_bind_int(lost, 2, (int64_t)v->row.leaf);
    writ_sql_bind_int(lost, 3, once->until_us);
    result = writ_sql_step(lost, &row, v->err);
    *ret = writ_is_ok(result) && row && writ_sql_int(lost, 0) == 0;
    writ_sql_reset(lost);
    return result;
}

WRIT_RESULT
writ_check_once_rows(struct writ_check *v, struct writ_sql_statement *lost)
{
    for (size_t i = 0; i < v->once.keys.bucket_count; i++) {
        for (struct writ_map_node *at = v->once.keys.buckets[i]; at != NULL; at = at->next) {
            const struct once *once = WRIT_MAP_OF(at, struct once, by_key);
            bool missing = false;

            if (!once->has_row && once->until_us > v->row.time_us) {
                WRIT_TRY(is_missing(v, lost, once, &missing));
            }
            if (missing) {
                writ_check_problem(v, once->leaf, "the row of its claim is missing");
            }
        }
    }
    return WRIT_DONE;
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
