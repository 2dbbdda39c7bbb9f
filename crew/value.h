/* value.h - the values of a crew: canonical JSON texts, shared and never changed.
 *
 * Answers of agents are kept as the canonical text that events will contain, so that equal values
 * are equal bytes, a vote compares bytes, and an event is assembled from texts. NULL is the absent
 * value, which equals only itself. */
#ifndef WRIT_CREW_VALUE_H
#define WRIT_CREW_VALUE_H

#include "base/bytes.h"
#include "crew/failure.h"
#include "evidence/json/json.h"

#define writ_auto_value WRIT_AUTO(struct writ_crew_value *, writ_value_freep)

void writ_value_freep(struct writ_crew_value **value);

/** A value whose canonical text is known. WRIT_E_NOMEM. */
WRIT_RESULT writ_value_of_text(struct writ_view canonical, struct writ_crew_value **ret);

/** A value that the reader made; NULL gives the absent one. WRIT_E_NOMEM. */
WRIT_RESULT writ_value_of_json(const struct writ_json *json, struct writ_crew_value **ret);

/** Replaces the value in `to`, which takes `value` and drops one owner of the old one. */
void writ_value_replace(struct writ_crew_value **to, struct writ_crew_value *value);

static inline bool
writ_value_equal(const struct writ_crew_value *a, const struct writ_crew_value *b)
{
    return a == b || (a != NULL && b != NULL &&
                         writ_view_equal(writ_crew_value_text(a), writ_crew_value_text(b)));
}

/** An arena in which texts of `max` bytes can be read. NULL when memory is exhausted. */
struct writ_arena *writ_value_arena(size_t max);

/**
 * Reads JSON text strictly.
 *
 * @param json   at most `max` bytes; borrowed as long as `ret` is used
 * @param arena  from writ_value_arena with the same `max`, or roomier
 *
 * @return WRIT_OK; WRIT_E_PARSE (MALFORMED), WRIT_E_LIMIT, WRIT_E_NOMEM
 */
WRIT_RESULT writ_value_parse(struct writ_view json, size_t max, struct writ_arena *arena,
    const struct writ_json **ret, struct writ_crew_err *err);

/** As writ_value_parse for a snapshot, which nests values deeper than its inputs. */
WRIT_RESULT writ_value_parse_snapshot(struct writ_view json, size_t max, struct writ_arena *arena,
    const struct writ_json **ret, struct writ_crew_err *err);

#endif
