/* value.h - JSON values and arenas for tests, without error handling: a failure in here fails the
 * test. writ_value_* live in an arena of the caller, writ_values_* as long as the program. Not for
 * several threads. */
#ifndef WRIT_TESTS_VALUE_H
#define WRIT_TESTS_VALUE_H

#include "evidence/json/json.h"

/** An arena of 16 MiB. */
struct writ_arena *writ_value_arena(void);

/** The value of a JSON text; the text is copied into the arena. */
const struct writ_json *writ_value_of(struct writ_arena *arena, struct writ_view text);

/** The value of a file below the project's folder ("vectors/x.json"). */
const struct writ_json *writ_value_file(struct writ_arena *arena, const char *path);

/** The same for any path. */
const struct writ_json *writ_value_path(struct writ_arena *arena, const char *path);

/** A member that must be there; fails the test when it is not. */
const struct writ_json *writ_value_get(const struct writ_json *object, const char *name);

/** An arena that lives as long as the program. */
struct writ_arena *writ_values_arena(void);

/** The value of a JSON text, which is copied; lives as long as the program. */
const struct writ_json *writ_values_json(const char *text);
const struct writ_json *writ_values_json_of(struct writ_view text);

#endif
