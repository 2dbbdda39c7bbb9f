/* engines.h - added voting engines, by name. */
#ifndef WRIT_CREW_ENGINES_H
#define WRIT_CREW_ENGINES_H

#include "base/bytes.h"
#include "writ/crew.h"

/** Before the name of an added engine in older shapes. */
#define WRIT_ENGINES_PREFIX "engine:"

/** The engine, or NULL; `engines` may be NULL. */
const struct writ_crew_engine *writ_engines_find(
    const struct writ_crew_engines *engines, struct writ_view name);

/** Appends ", name" for each of them, in the order in which they were added. NULL: none. */
void writ_engines_list(const struct writ_crew_engines *engines, struct writ_buf *ret);

#endif
