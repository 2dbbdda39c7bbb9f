/* A voter is found by the digest of its name; names are compared, because digests are cut to tags.
 */
#include "store/tables/delegations.h"

#define ARENA      (256 << 10) /* memory of one */
#define VOTERS_MAX 65536       /* above that the maps are slower */

WRIT_RESULT
writ_delegations_init(struct writ_delegations *ret, struct writ_err *err)
{
    struct writ_delegations delegations = {0};
    writ_result result;

    WRIT_TRY(writ_map_init(&delegations.by_id, VOTERS_MAX, err));
    result = writ_map_init(&delegations.by_voter, VOTERS_MAX, err);
    if (!writ_is_ok(result)) {
        writ_map_wipe(&delegations.by_id);
        return result;
    }
    *ret = delegations;
    return WRIT_DONE;
}

void
writ_delegations_wipe(struct writ_delegations *delegations)
{
    while (delegations->first != NULL) {
        writ_delegations_remove(delegations, delegations->first);
    }
    writ_map_wipe(&delegations->by_id);
    writ_map_wipe(&delegations->by_voter);
}

WRIT_RESULT
writ_delegations_copy(const struct writ_delegation *from, struct writ_arena *arena,
    struct writ_delegation *ret, struct writ_err *err)
{
    struct writ_delegation copy = *from;
    struct writ_view *texts[] = {&copy.id, &copy.voter, &copy.delegate, &copy.tenant, &copy.key,
        &copy.signature, &copy.ledger};
    struct writ_view *tools = writ_arena_get(arena, (from->tools_n + 1) * sizeof *tools);
    bool copied = tools != NULL;

    for (size_t i = 0; copied && i < sizeof texts / sizeof texts[0]; i++) {
        *texts[i] = writ_view_copy(*texts[i], arena);
        copied = texts[i]->ptr != NULL;
    }
    for (size_t i = 0; copied && i < from->tools_n; i++) {
        tools[i] = writ_view_copy(from->tools[i], arena);
        copied = tools[i].ptr != NULL;
    }
    if (!copied) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a delegation");
    }
    copy.tools = tools;
    *ret = copy;
    return WRIT_DONE;
}

static WRIT_RESULT
make(const struct writ_delegation *delegation, struct writ_arena *arena,
    struct writ_delegated **ret, struct writ_err *err)
{
    struct writ_delegated *delegated = writ_arena_zeroed(arena, sizeof *delegated);

    if (delegated == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a delegation");
    }
    WRIT_TRY(writ_delegations_copy(delegation, arena, &delegated->delegation, err));
    WRIT_TRY(writ_delegation_digest(delegation, &delegated->digest, err));
    writ_digest_text(&delegated->digest, delegated->digest_text);
    delegated->arena = arena;
    *ret = delegated;
    return WRIT_DONE;
}

WRIT_RESULT
writ_delegations_add(struct writ_delegations *delegations, const struct writ_delegation *delegation,
    int64_t at_us, struct writ_delegated **ret, struct writ_err *err)
{
    struct writ_arena *arena = writ_arena_new_small(ARENA);
    struct writ_delegated *delegated = NULL, *over;
    struct writ_tag id = {0}, voter = {0};
    writ_result result = arena == NULL ? writ_fail(err, WRIT_E_NOMEM, "no memory for a delegation")
                                       : make(delegation, arena, &delegated, err);

    if (writ_is_ok(result)) {
        result = writ_tag_name(delegation->id, &id, err);
    }
    if (writ_is_ok(result)) {
        result = writ_tag_name(delegation->voter, &voter, err);
    }
    if (!writ_is_ok(result)) {
        writ_arena_free(arena);
        return result;
    }
    over = writ_delegations_find(delegations, delegation->id);
    if (over != NULL) {
        writ_delegations_remove(delegations, over);
    }
    delegated->at_us = at_us;
    delegated->prev = delegations->last;
    if (delegations->last != NULL) {
        delegations->last->next = delegated;
    } else {
        delegations->first = delegated;
    }
    delegations->last = delegated;
    delegations->count++;
    writ_map_add(&delegations->by_id, &delegated->by_id, id);
    writ_map_add(&delegations->by_voter, &delegated->by_voter, voter);
    *ret = delegated;
    return WRIT_DONE;
}

void
writ_delegations_remove(struct writ_delegations *delegations, struct writ_delegated *delegated)
{
    struct writ_delegated *next = delegated->next, *prev = delegated->prev;

    writ_map_remove(&delegations->by_id, &delegated->by_id);
    writ_map_remove(&delegations->by_voter, &delegated->by_voter);
    *(next != NULL ? &next->prev : &delegations->last) = prev;
    *(prev != NULL ? &prev->next : &delegations->first) = next;
    delegations->count--;
    writ_arena_free(delegated->arena); /* it is in it */
}

void
writ_delegations_prune(struct writ_delegations *delegations, int64_t now_us)
{
    struct writ_delegated *at = delegations->first;

    while (at != NULL) {
        struct writ_delegated *next = at->next;

        if (at->delegation.until_us <= now_us) {
            writ_delegations_remove(delegations, at);
        }
        at = next;
    }
}

struct writ_delegated *
writ_delegations_find(const struct writ_delegations *delegations, struct writ_view id)
{
    struct writ_tag tag;
    struct writ_map_node *node;

    if (!writ_is_ok(writ_tag_name(id, &tag, NULL))) {
        return NULL;
    }
    node = writ_map_find(&delegations->by_id, tag);
    while (node != NULL &&
           !writ_view_equal(WRIT_MAP_OF(node, struct writ_delegated, by_id)->delegation.id, id)) {
        node = writ_map_hidden(node);
    }
    return WRIT_MAP_OF(node, struct writ_delegated, by_id);
}

static struct writ_delegated *
first_of(struct writ_map_node *node, struct writ_view voter)
{
    while (node != NULL &&
           !writ_view_equal(
               WRIT_MAP_OF(node, struct writ_delegated, by_voter)->delegation.voter, voter)) {
        node = writ_map_hidden(node);
    }
    return WRIT_MAP_OF(node, struct writ_delegated, by_voter);
}

struct writ_delegated *
writ_delegations_of(const struct writ_delegations *delegations, struct writ_view voter)
{
    struct writ_tag tag;

    return writ_is_ok(writ_tag_name(voter, &tag, NULL))
               ? first_of(writ_map_find(&delegations->by_voter, tag), voter)
               : NULL;
}

struct writ_delegated *
writ_delegations_before(const struct writ_delegated *delegated)
{
    return first_of(writ_map_hidden(&delegated->by_voter), delegated->delegation.voter);
}
