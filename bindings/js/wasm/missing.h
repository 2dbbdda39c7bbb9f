/* missing.h - what Debian's C library for WebAssembly does not declare. It is included before every
 * source. Of these, crews call qsort_r alone, which host.c has; calling another one does not link.
 */
#ifndef WRIT_WASM_MISSING_H
#define WRIT_WASM_MISSING_H

#include <stddef.h>

void qsort_r(void *base, size_t n, size_t size,
    int (*compare)(const void *a, const void *b, void *arg), void *arg);
int malloc_trim(size_t pad);
const char *strerrordesc_np(int code);

#endif
