/* values.h - JSON values for tests, made from text. */
#ifndef WRIT_TESTS_VALUES_H
#define WRIT_TESTS_VALUES_H

#include "evidence/json.h"

/** An arena that lives as long as the program. Not for several threads. */
struct writ_arena *writ_values_arena(void);

/** The value of a JSON text, which is copied; lives as long as the program. Text that our reader
 * refuses fails the test. */
const struct writ_json *writ_values_json(const char *text);
const struct writ_json *writ_values_json_of(struct writ_view text);

#endif
