/* vectors.h - the files below vectors/, for tests that run through all of a folder. */
#ifndef WRIT_TESTS_VECTORS_H
#define WRIT_TESTS_VECTORS_H

#include "base/bytes.h"

/** Calls `fn` for each regular file of vectors/<folder> whose name ends with `suffix` ("" for all),
 * in the order of names, with its name and content (borrowed for the call). Returns their number;
 * an unreadable folder or file fails the test. */
size_t writ_vectors_each(const char *folder, const char *suffix,
    void (*fn)(const char *name, struct writ_view content, void *arg), void *arg);

/** The content of vectors/<path>, to be wiped. A file that cannot be read fails the test. */
struct writ_buf writ_vectors_read(const char *path);

#endif
