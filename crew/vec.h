/* vec.h - room in an array that grows by doubling. */
#ifndef WRIT_CREW_VEC_H
#define WRIT_CREW_VEC_H

#include "base/alloc.h"
#include "base/result.h"

/**
 * Makes room for one more element.
 *
 * @param list  the address of the array's pointer, which may move; NULL inside: empty
 * @param cap   capacity in elements; changed on success
 * @param n     elements in use
 * @param size  bytes of one element
 *
 * @return WRIT_OK, WRIT_E_NOMEM
 */
static inline WRIT_RESULT
writ_vec_room(void *list, size_t *cap, size_t n, size_t size)
{
    void **ptr = (void **)list;
    size_t want = *cap == 0 ? 8 : *cap * 2;
    void *grown = NULL;

    if (n < *cap) {
        return WRIT_DONE;
    }
    if (want > SIZE_MAX / size || (grown = writ_realloc(*ptr, want * size)) == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    *ptr = grown;
    *cap = want;
    return WRIT_DONE;
}

#endif
