/* sixteen.h - sixteen bytes in a register, by the compiler's vectors, which use the instructions of
 * the machine. For loops of core/base that read every byte of a text. Comparisons give 255 for a
 * byte for which they are true, and 0 for others. */
#ifndef WRIT_BASE_SIXTEEN_H
#define WRIT_BASE_SIXTEEN_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t writ_sixteen __attribute__((vector_size(16)));

static inline writ_sixteen
writ_sixteen_load(const char *at)
{
    writ_sixteen bytes;

    memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

/** Marks the bytes above `least`; all of them and `least` are below 128. */
static inline writ_sixteen
writ_sixteen_above(writ_sixteen bytes, int8_t least)
{
    typedef int8_t signed_sixteen __attribute__((vector_size(16)));

    return (writ_sixteen)((signed_sixteen)bytes > least);
}

/** True when a comparison held for any byte. */
static inline bool
writ_sixteen_any(writ_sixteen found)
{
    uint64_t halves[2];

    memcpy(halves, &found, sizeof halves);
    return (halves[0] | halves[1]) != 0;
}

/** How many bytes come before the first one for which a comparison held: 16 when it held for none.
 */
static inline size_t
writ_sixteen_before(writ_sixteen found)
{
    uint64_t halves[2];

    memcpy(halves, &found, sizeof halves);
    if (halves[0] != 0) {
        return (size_t)__builtin_ctzll(le64toh(halves[0])) / 8;
    }
    return halves[1] != 0 ? 8 + (size_t)__builtin_ctzll(le64toh(halves[1])) / 8 : 16;
}

static inline void
writ_sixteen_store(writ_sixteen bytes, char *to)
{
    memcpy(to, &bytes, sizeof bytes);
}

#endif
