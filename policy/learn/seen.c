/* Values are found by the first half of their SHA-256, so that a caller who chooses them cannot
 * make two of them one. Tables grow by doubling inside an arena, which gives nothing back: at most
 * twice the memory of the last one. */
#include "policy/learn/seen.h"

#include "evidence/json/digest.h"

#define FIRST_CAP 16

WRIT_RESULT
writ_seen_sight(struct writ_sighting *sighting, struct writ_seen_in *in)
{
    if (sighting->calls > 0 && sighting->last == in->call) {
        return WRIT_DONE;
    }
    if (sighting->calls == 0) {
        if (!in->kept) {
            in->decision = writ_view_copy(in->decision, in->arena);
            in->kept = in->decision.ptr != NULL;
        }
        if (!in->kept) {
            return (writ_result){WRIT_E_NOMEM};
        }
        sighting->decision = in->decision;
        sighting->run = in->run;
    }
    sighting->many = sighting->many || sighting->run != in->run;
    sighting->last = in->call;
    sighting->calls++;
    return WRIT_DONE;
}

uint64_t
writ_seen_sighting_cost(const struct writ_sighting *sighting, bool by_run)
{
    if (by_run) {
        return sighting->many ? 0 : sighting->calls;
    }
    return sighting->calls == 1 ? 1 : 0;
}

/* ---- the table */

static uint32_t *
slot_of(const struct writ_seen *seen, const uint64_t key[2])
{
    size_t at = (size_t)key[0] & (seen->slots_n - 1);

    while (seen->slots[at] != 0) {
        const struct writ_seen_value *value = &seen->items[seen->slots[at] - 1];
        if (value->key[0] == key[0] && value->key[1] == key[1]) {
            break;
        }
        at = (at + 1) & (seen->slots_n - 1);
    }
    return &seen->slots[at];
}

static writ_result
grow(struct writ_seen *seen, struct writ_arena *arena)
{
    size_t cap = seen->cap == 0 ? FIRST_CAP : seen->cap * 2;
    struct writ_seen_value *items = writ_arena_get(arena, cap * sizeof *items);
    uint32_t *slots = writ_arena_get(arena, cap * 2 * sizeof *slots);

    if (items == NULL || slots == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t i = 0; i < seen->n; i++) {
        items[i] = seen->items[i];
    }
    for (size_t i = 0; i < cap * 2; i++) {
        slots[i] = 0;
    }
    seen->items = items;
    seen->cap = cap;
    seen->slots = slots;
    seen->slots_n = cap * 2;
    for (size_t i = 0; i < seen->n; i++) {
        *slot_of(seen, items[i].key) = (uint32_t)(i + 1);
    }
    return WRIT_DONE;
}

static writ_result
add_value(struct writ_seen *seen, struct writ_view text, enum writ_json_type type,
    const uint64_t key[2], struct writ_arena *arena)
{
    struct writ_seen_value value = {.key = {key[0], key[1]}, .type = type};

    if (seen->n == seen->cap) {
        WRIT_TRY(grow(seen, arena));
    }
    if (text.len <= seen->text_max) {
        value.text = writ_view_copy(text, arena);
        if (value.text.ptr == NULL) {
            return (writ_result){WRIT_E_NOMEM};
        }
    }
    *slot_of(seen, key) = (uint32_t)(seen->n + 1);
    seen->items[seen->n++] = value;
    return WRIT_DONE;
}

WRIT_RESULT
writ_seen_add(struct writ_seen *seen, struct writ_view text, enum writ_json_type type,
    struct writ_seen_in *in, struct writ_seen_value **ret)
{
    struct writ_digest digest;
    uint64_t key[2];
    uint32_t at;

    if (ret != NULL) {
        *ret = NULL;
    }
    WRIT_TRY(writ_digest_bytes(text, &digest, NULL));
    key[0] = writ_view_load64(digest.bytes);
    key[1] = writ_view_load64(digest.bytes + 8) ^ (uint64_t)type;
    at = seen->slots_n > 0 ? *slot_of(seen, key) : 0;
    if (at == 0 && seen->n == seen->most) {
        seen->beyond++;
        return WRIT_DONE;
    }
    if (at == 0) {
        WRIT_TRY(add_value(seen, text, type, key, in->arena));
        at = (uint32_t)seen->n;
    }
    if (ret != NULL) {
        *ret = &seen->items[at - 1];
    }
    return writ_seen_sight(&seen->items[at - 1].seen, in);
}

uint64_t
writ_seen_cost(const struct writ_seen *seen, bool by_run)
{
    uint64_t cost = seen->beyond;

    for (size_t i = 0; i < seen->n; i++) {
        cost += writ_seen_sighting_cost(&seen->items[i].seen, by_run);
    }
    return cost;
}

bool
writ_seen_is_listed(const struct writ_seen *seen, size_t most)
{
    for (size_t i = 0; i < seen->n; i++) {
        if (seen->items[i].text.ptr == NULL) {
            return false;
        }
    }
    return seen->n > 0 && seen->n <= most && seen->beyond == 0;
}
