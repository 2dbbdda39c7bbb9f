/* fuzz.h - the entry of a fuzz target; each tests/fuzz/fuzz_<module>.c defines it and states the
 * property that it checks, with WRIT_INVARIANT, for every input. */
#ifndef WRIT_TESTS_FUZZ_H
#define WRIT_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/** Returns 0; aborts when the property does not hold. `data` is borrowed for the call. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
