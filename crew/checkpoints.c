/* Snapshots by id, in memory (semantics 10). A snapshot never changes, and its id is its address in
 * the tree. */
#include "crew/value.h"
#include "crew/vec.h"

struct checkpoint {
    struct writ_crew_value *id; /* its bytes are the id itself */
    struct writ_crew_value *snapshot;
};

struct writ_crew_checkpoints {
    struct checkpoint *list;
    size_t n, cap;
};

struct writ_crew_checkpoints *
writ_crew_checkpoints_new(void)
{
    return writ_alloc(sizeof(struct writ_crew_checkpoints));
}

static void
checkpoint_wipe(struct checkpoint *checkpoint)
{
    writ_crew_value_free(checkpoint->id);
    writ_crew_value_free(checkpoint->snapshot);
}

void
writ_crew_checkpoints_free(struct writ_crew_checkpoints *store)
{
    if (store != NULL) {
        for (size_t at = 0; at < store->n; at++) {
            checkpoint_wipe(&store->list[at]);
        }
        writ_free(store->list);
        writ_free(store);
    }
}

static size_t
find(const struct writ_crew_checkpoints *store, struct writ_view id)
{
    size_t at = 0;

    while (at < store->n && !writ_view_equal(writ_crew_value_text(store->list[at].id), id)) {
        at++;
    }
    return at;
}

WRIT_RESULT
writ_crew_checkpoints_put(
    struct writ_crew_checkpoints *store, struct writ_view id, struct writ_crew_value *snapshot)
{
    size_t at = find(store, id);
    struct writ_crew_value *name = NULL;

    if (at == store->n) {
        WRIT_TRY(writ_vec_room(&store->list, &store->cap, store->n, sizeof *store->list));
        WRIT_TRY(writ_value_of_text(id, &name));
        store->list[store->n++] = (struct checkpoint){name, NULL};
    }
    writ_value_replace(&store->list[at].snapshot, writ_crew_value_ref(snapshot));
    return WRIT_DONE;
}

struct writ_crew_value *
writ_crew_checkpoints_get(const struct writ_crew_checkpoints *store, struct writ_view id)
{
    size_t at = find(store, id);

    return at < store->n ? store->list[at].snapshot : NULL;
}

bool
writ_crew_checkpoints_delete(struct writ_crew_checkpoints *store, struct writ_view id)
{
    size_t at = find(store, id);

    if (at == store->n) {
        return false;
    }
    checkpoint_wipe(&store->list[at]);
    store->n--;
    for (; at < store->n; at++) {
        store->list[at] = store->list[at + 1];
    }
    return true;
}

size_t
writ_crew_checkpoints_count(const struct writ_crew_checkpoints *store)
{
    return store->n;
}

struct writ_view
writ_crew_checkpoints_id(const struct writ_crew_checkpoints *store, size_t at)
{
    WRIT_INVARIANT(at < store->n);
    return writ_crew_value_text(store->list[at].id);
}
