/* A hash table with open addressing, by the digest of tenant, agent and key. It grows only after
 * the expired claims were removed, so its size follows the live claims. */
#include "evidence/proof/bundle_keys.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "evidence/record/member.h"

#define FIRST_SIZE 1024 /* a power of two, like all sizes */
#define US_PER_S   INT64_C(1000000)
#define NEVER_S    (WRIT_TIME_MOST_US / US_PER_S + 1) /* a claim of this many seconds never ends */

/** A slot. */
struct writ_bundle_key {
    struct writ_digest key;
    uint64_t leaf;
    int64_t until_us;
    bool is_used;
};

/* The slot of that key, or the free slot for it. */
static struct writ_bundle_key *
find(const struct writ_bundle_keys *keys, const struct writ_digest *key)
{
    uint64_t at = writ_view_load64(key->bytes);
    struct writ_bundle_key *slot;

    do {
        slot = &keys->slots[at++ & (keys->size - 1)];
    } while (slot->is_used && !writ_digest_equal(&slot->key, key));
    return slot;
}

static bool
stands(const struct writ_bundle_keys *keys, const struct writ_bundle_key *slot)
{
    return slot->is_used && slot->until_us > keys->now_us;
}

/* Makes room for one more claim; expired ones are removed. */
static WRIT_RESULT
make_room(struct writ_bundle_keys *keys, struct writ_err *err)
{
    struct writ_bundle_keys grown = {.now_us = keys->now_us};
    size_t standing = 0;

    if (keys->used < keys->size / 2) {
        return WRIT_DONE;
    }
    for (size_t i = 0; i < keys->size; i++) {
        standing += stands(keys, &keys->slots[i]) ? 1 : 0;
    }
    grown.size = keys->size == 0             ? FIRST_SIZE
                 : standing < keys->size / 4 ? keys->size
                                             : 2 * keys->size;
    grown.slots = writ_alloc(grown.size * sizeof *grown.slots);
    if (grown.slots == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the keys of calls");
    }
    for (size_t i = 0; i < keys->size; i++) {
        if (stands(keys, &keys->slots[i])) {
            *find(&grown, &keys->slots[i].key) = keys->slots[i];
            grown.used++;
        }
    }
    writ_free(keys->slots);
    *keys = grown;
    return WRIT_DONE;
}

static WRIT_RESULT
key_of(const struct writ_decision *decision, const struct writ_extension *extension,
    struct writ_digest *ret, struct writ_err *err)
{
    const struct writ_view tenant = writ_member_view(&extension->tenant),
                           agent = writ_member_view(&decision->agent_id),
                           upstream = writ_member_view(&extension->upstream),
                           tool = writ_member_view(&decision->tool);
    /* the lengths separate parts whose concatenation would be the same */
    const uint64_t lengths[] = {tenant.len, agent.len, upstream.len, tool.len};
    const struct writ_view pieces[] = {writ_view(lengths, sizeof lengths), tenant, agent, upstream,
        tool, writ_member_view(&decision->idempotency_key)};

    return writ_digest_pieces(pieces, sizeof pieces / sizeof pieces[0], ret, err);
}

WRIT_RESULT
writ_bundle_keys_claim(struct writ_bundle_keys *keys, const struct writ_decision *decision,
    const struct writ_extension *extension, uint64_t leaf, struct writ_bundle_claim *ret,
    bool *ret_twice, uint64_t *ret_first, struct writ_err *err)
{
    int64_t seconds = extension->claim_seconds.value, issued_us = 0;
    struct writ_bundle_key *slot;

    *ret_twice = false;
    if (extension->claim_seconds.is != WRIT_PRESENT || seconds < 0 ||
        decision->issued_at.is != WRIT_PRESENT ||
        !writ_member_time(decision->issued_at.view, &issued_us)) {
        return WRIT_DONE;
    }
    WRIT_TRY(key_of(decision, extension, &ret->key, err));
    keys->now_us = issued_us > keys->now_us || keys->size == 0 ? issued_us : keys->now_us;
    WRIT_TRY(make_room(keys, err));
    slot = find(keys, &ret->key);
    *ret_twice = stands(keys, slot);
    *ret_first = slot->leaf;
    keys->used += slot->is_used ? 0 : 1;
    *slot = (struct writ_bundle_key){.key = ret->key,
        .leaf = leaf,
        .until_us = issued_us + (seconds < NEVER_S ? seconds : NEVER_S) * US_PER_S,
        .is_used = true};
    ret->is = true;
    ret->leaf = leaf;
    return WRIT_DONE;
}

void
writ_bundle_keys_release(struct writ_bundle_keys *keys, const struct writ_bundle_claim *claim)
{
    struct writ_bundle_key *slot = claim->is ? find(keys, &claim->key) : NULL;

    if (slot != NULL && slot->is_used && slot->leaf == claim->leaf) {
        slot->until_us = INT64_MIN;
    }
}

void
writ_bundle_keys_wipe(struct writ_bundle_keys *keys)
{
    writ_free(keys->slots);
    *keys = (struct writ_bundle_keys){0};
}
