/* shelter.h - a folder in memory for a fuzz target that reads files: syncs are free, and the folder
 * is removed when the target ends. */
#ifndef WRIT_TESTS_SHELTER_H
#define WRIT_TESTS_SHELTER_H

#include "base/bytes.h"

/** The one folder of the process, without a slash at its end. Aborts when it cannot be made. */
const char *shelter_path(void);

/** "<folder>/<name>" in `ret`, which has room for `size` bytes. Gives `ret`. */
const char *shelter_name(const char *name, char *ret, size_t size);

/** Puts a file there, for its owner alone, in place of another of that name. */
void shelter_put(const char *name, struct writ_view bytes);

/** Removes all files of the folder. */
void shelter_clear(void);

#endif
