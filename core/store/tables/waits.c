/* The ring and the map hold the same waits. `made` also counts removed ones, so that a group that
 * fails can put them back. */
#include "store/tables/waits.h"

WRIT_RESULT
writ_waits_init(struct writ_waits *ret, size_t most, struct writ_err *err)
{
    struct writ_waits waits = {.most = most};

    WRIT_TRY(writ_map_init(&waits.by_name, most, err));
    *ret = waits;
    return WRIT_DONE;
}

void
writ_waits_wipe(struct writ_waits *waits)
{
    while (waits->ring != NULL) {
        struct writ_wait *wait = waits->ring;

        writ_waits_take(waits, wait);
        writ_waits_free(waits, wait);
    }
    writ_map_wipe(&waits->by_name);
}

void
writ_waits_take(struct writ_waits *waits, struct writ_wait *wait)
{
    writ_map_remove(&waits->by_name, &wait->by_name);
    if (waits->ring == wait) {
        waits->ring = wait->next == wait ? NULL : wait->next;
    }
    wait->next->prev = wait->prev;
    wait->prev->next = wait->next;
}

void
writ_waits_put_back(struct writ_waits *waits, struct writ_wait *wait)
{
    writ_map_add(&waits->by_name, &wait->by_name, wait->by_name.tag);
    if (waits->ring == NULL) {
        wait->next = wait->prev = wait;
        waits->ring = wait;
        return;
    }
    wait->next = waits->ring;
    wait->prev = waits->ring->prev;
    wait->prev->next = wait->next->prev = wait;
}

void
writ_waits_free(struct writ_waits *waits, struct writ_wait *wait)
{
    waits->made--;
    writ_free(wait);
}

WRIT_RESULT
writ_waits_make(
    struct writ_waits *waits, struct writ_tag name, struct writ_wait **ret, struct writ_err *err)
{
    struct writ_wait *wait;

    if (waits->made >= waits->most) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "%zu calls wait, and no more may", waits->most);
    }
    wait = writ_alloc(sizeof *wait);
    if (wait == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a call that waits");
    }
    waits->made++;
    wait->by_name.tag = name;
    *ret = wait;
    return WRIT_DONE;
}

WRIT_RESULT
writ_waits_load(struct writ_waits *waits, struct writ_tag name, uint64_t leaf,
    enum writ_wait_kind kind, int64_t until_us, struct writ_flight *flight, struct writ_err *err)
{
    struct writ_wait *wait;

    WRIT_TRY(writ_waits_make(waits, name, &wait, err));
    wait->leaf = leaf;
    wait->kind = kind;
    wait->until_us = until_us;
    wait->flight = flight;
    if (flight != NULL) {
        flight->wait = wait;
    }
    writ_waits_put_back(waits, wait);
    return WRIT_DONE;
}

/* ---- its end ---- */

void
writ_waits_end(struct writ_waits *waits, struct writ_flight *flight)
{
    struct writ_wait *wait = flight->wait;

    if (wait == NULL) {
        return;
    }
    flight->wait = NULL;
    wait->flight = NULL; /* keeps (2) */
    if (wait->kind != WRIT_WAIT_TASK) {
        writ_waits_take(waits, wait);
        writ_waits_free(waits, wait);
    }
}
