/* A flight counts in its boundary from its add until its removal, so that no boundary is sealed
 * under it. */
#include "store/tables/flights.h"

struct writ_flight *
writ_flights_add(struct writ_map *flights, struct writ_boundary *boundary, uint64_t leaf,
    struct writ_view decision_id, struct writ_view intent_ref)
{
    struct writ_flight *flight = writ_alloc(sizeof *flight + decision_id.len + intent_ref.len);

    if (flight == NULL) {
        return NULL;
    }
    flight->boundary = boundary;
    flight->leaf = leaf;
    flight->decision_id = writ_view_place(decision_id, flight->text);
    if (intent_ref.ptr != NULL) {
        flight->intent_ref = writ_view_place(intent_ref, flight->text + decision_id.len);
    }
    writ_map_add(flights, &flight->by_leaf, writ_tag_number(leaf));
    boundary->in_flight++;
    return flight;
}

struct writ_flight *
writ_flights_find(const struct writ_map *flights, uint64_t leaf)
{
    return WRIT_MAP_OF(writ_map_find(flights, writ_tag_number(leaf)), struct writ_flight, by_leaf);
}

WRIT_RESULT
writ_flights_each(const struct writ_map *flights,
    writ_result (*see)(void *ctx, struct writ_flight *flight), void *ctx)
{
    for (size_t i = 0; i < flights->bucket_count; i++) {
        for (struct writ_map_node *node = flights->buckets[i]; node != NULL; node = node->next) {
            WRIT_TRY(see(ctx, WRIT_MAP_OF(node, struct writ_flight, by_leaf)));
        }
    }
    return WRIT_DONE;
}

void
writ_flights_remove(struct writ_map *flights, struct writ_flight *flight)
{
    writ_budgets_end(flight->bookings, flight->bookings_n);
    flight->boundary->in_flight--;
    writ_map_remove(flights, &flight->by_leaf);
    writ_free(flight);
}

void
writ_flights_wipe(struct writ_map *flights)
{
    for (size_t i = 0; i < flights->bucket_count; i++) {
        struct writ_map_node *node = flights->buckets[i];

        while (node != NULL) {
            struct writ_flight *flight = WRIT_MAP_OF(node, struct writ_flight, by_leaf);

            node = node->next;
            writ_free(flight);
        }
    }
    writ_map_wipe(flights);
}
