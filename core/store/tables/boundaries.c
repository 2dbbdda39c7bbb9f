/* A boundary is in the ring and in both maps from its first record until it is removed; by number
 * only once it has a row. `recent` never points to one that was removed. */
#include "store/tables/boundaries.h"

#include "store/tables/entry.h"

WRIT_RESULT
writ_boundaries_init(struct writ_boundaries *ret, size_t most, struct writ_err *err)
{
    WRIT_AUTO(struct writ_boundaries, writ_boundaries_wipe) boundaries = {.most = most};

    WRIT_TRY(writ_map_init(&boundaries.by_name, most, err));
    WRIT_TRY(writ_map_init(&boundaries.by_id, most, err));
    WRIT_TRY(writ_shares_init(&boundaries.shares, most, err));
    *ret = boundaries;
    boundaries = (struct writ_boundaries){0};
    return WRIT_DONE;
}

void
writ_boundaries_wipe(struct writ_boundaries *boundaries)
{
    while (boundaries->ring != NULL) {
        writ_boundaries_remove(boundaries, boundaries->ring);
    }
    writ_map_wipe(&boundaries->by_name);
    writ_map_wipe(&boundaries->by_id);
    writ_shares_wipe(&boundaries->shares);
    *boundaries = (struct writ_boundaries){0};
}

WRIT_RESULT
writ_boundaries_tag(
    struct writ_view tenant, struct writ_view name, struct writ_tag *ret, struct writ_err *err)
{
    /* the length keeps ("ab", "c") and ("a", "bc") apart */
    uint64_t length = tenant.len;
    struct writ_view pieces[] = {writ_view(&length, sizeof length), tenant, name};
    struct writ_digest digest;

    WRIT_TRY(writ_digest_pieces(pieces, sizeof pieces / sizeof pieces[0], &digest, err));
    *ret = writ_tag_of(&digest);
    return WRIT_DONE;
}

static bool
is_named(const struct writ_boundary *boundary, struct writ_view tenant, struct writ_view name)
{
    return writ_view_equal(boundary->name, name) && writ_view_equal(boundary->tenant, tenant);
}

struct writ_boundary *
writ_boundaries_recent(
    const struct writ_boundaries *boundaries, struct writ_view tenant, struct writ_view name)
{
    struct writ_boundary *recent = boundaries->recent;

    return recent != NULL && is_named(recent, tenant, name) ? recent : NULL;
}

struct writ_boundary *
writ_boundaries_find(struct writ_boundaries *boundaries, struct writ_tag tag,
    struct writ_view tenant, struct writ_view name)
{
    struct writ_map_node *node = writ_map_find(&boundaries->by_name, tag);

    for (; node != NULL; node = node->next) {
        struct writ_boundary *boundary = WRIT_MAP_OF(node, struct writ_boundary, by_name);

        if (is_named(boundary, tenant, name)) {
            boundaries->recent = boundary;
            return boundary;
        }
    }
    return NULL;
}

bool
writ_boundaries_own(struct writ_view name)
{
    return writ_view_has_prefix(name, writ_view_str(WRIT_LEDGER_RESERVED));
}

bool
writ_boundaries_full(const struct writ_boundaries *boundaries)
{
    return boundaries->by_name.count - boundaries->own >= boundaries->most;
}

WRIT_RESULT
writ_boundaries_add(struct writ_boundaries *boundaries, struct writ_tag tag,
    struct writ_view tenant, struct writ_view name, struct writ_boundary **ret,
    struct writ_err *err)
{
    bool own = writ_boundaries_own(name);
    struct writ_boundary *boundary;
    struct writ_seal_hash hash;

    if (own ? boundaries->own >= WRIT_BOUNDARIES_OWN : writ_boundaries_full(boundaries)) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "%zu boundaries are open: the maximum is reached",
            boundaries->by_name.count);
    }
    boundary = writ_alloc(sizeof *boundary + tenant.len + name.len);
    if (boundary == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a boundary");
    }
    writ_result hashed = writ_seal_hash_init(&hash, err);
    if (!writ_is_ok(hashed)) {
        writ_free(boundary);
        return hashed;
    }
    boundary->hash = hash;
    boundary->tenant = writ_view_place(tenant, boundary->text);
    boundary->name = writ_view_place(name, boundary->text + tenant.len);
    writ_map_add(&boundaries->by_name, &boundary->by_name, tag);
    boundaries->own += own ? 1 : 0;

    if (boundaries->ring == NULL) {
        boundary->next = boundary->prev = boundary;
        boundaries->ring = boundary;
    } else {
        boundary->next = boundaries->ring;
        boundary->prev = boundaries->ring->prev;
        boundary->prev->next = boundary->next->prev = boundary;
    }
    *ret = boundary;
    return WRIT_DONE;
}

WRIT_RESULT
writ_boundaries_charge(struct writ_boundaries *boundaries, struct writ_boundary *boundary,
    struct writ_view agent_id, struct writ_err *err)
{
    if (boundary->charge.tenant != NULL || writ_boundaries_own(boundary->name)) {
        return WRIT_DONE;
    }
    return writ_shares_charge(
        &boundaries->shares, boundary->tenant, agent_id, &boundary->charge, err);
}

void
writ_boundaries_number(
    struct writ_boundaries *boundaries, struct writ_boundary *boundary, uint64_t id)
{
    boundary->id = id;
    writ_map_add(&boundaries->by_id, &boundary->by_id, writ_tag_number(id));
}

struct writ_boundary *
writ_boundaries_at(const struct writ_boundaries *boundaries, uint64_t id)
{
    return WRIT_MAP_OF(
        writ_map_find(&boundaries->by_id, writ_tag_number(id)), struct writ_boundary, by_id);
}

uint64_t
writ_boundaries_oldest(const struct writ_boundaries *boundaries)
{
    const struct writ_boundary *boundary = boundaries->ring;
    uint64_t oldest = UINT64_MAX;

    for (size_t i = 0; i < boundaries->by_name.count; i++, boundary = boundary->next) {
        oldest = boundary->id < oldest ? boundary->id : oldest;
    }
    return oldest;
}

void
writ_boundaries_remove(struct writ_boundaries *boundaries, struct writ_boundary *boundary)
{
    writ_map_remove(&boundaries->by_name, &boundary->by_name);
    if (boundary->id != 0) {
        writ_map_remove(&boundaries->by_id, &boundary->by_id);
    }
    boundaries->own -= writ_boundaries_own(boundary->name) ? 1 : 0;
    writ_shares_release(&boundaries->shares, &boundary->charge);
    if (boundaries->recent == boundary) {
        boundaries->recent = NULL;
    }
    if (boundaries->ring == boundary) {
        boundaries->ring = boundary->next == boundary ? NULL : boundary->next;
    }
    boundary->next->prev = boundary->prev;
    boundary->prev->next = boundary->next;
    writ_seal_hash_wipe(&boundary->hash);
    writ_free(boundary);
}

struct writ_boundary *
writ_boundaries_sweep(struct writ_boundaries *boundaries)
{
    struct writ_boundary *boundary = boundaries->ring;

    if (boundary != NULL) {
        boundaries->ring = boundary->next;
    }
    return boundary;
}
