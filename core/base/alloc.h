/* alloc.h - memory, and failing it on purpose.
 *
 * Every allocation of Writ's own goes through here, so that a test can fail the n-th one
 * (tests/fault) and see that the result is an error or the same output, never another output. */
#ifndef WRIT_BASE_ALLOC_H
#define WRIT_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/** Zeroed memory of `size` bytes, or NULL. Free with writ_free. */
void *writ_alloc(size_t size) __attribute__((malloc, warn_unused_result));

/** Resizes; new bytes are not zeroed. NULL leaves `ptr` as it was. */
void *writ_realloc(void *ptr, size_t size) __attribute__((warn_unused_result));

/** writ_free(NULL) does nothing. */
void writ_free(void *ptr);

/** Returns free memory to the system, wherever it is. Takes milliseconds, in which other threads
 * may wait for memory. */
void writ_alloc_give_back(void);

/** Overwrites memory in a way the compiler keeps. */
void writ_wipe(void *ptr, size_t size);

/** Fails the n-th allocation from now (1 = the next) of this thread. 0 disarms. */
void writ_fault_arm(long nth);

/** Disarms; returns whether the armed allocation was reached. */
bool writ_fault_disarm(void);

/** Runs `fn(&variable)` when the variable goes out of scope. */
#define WRIT_AUTO(type, fn) __attribute__((cleanup(fn))) type

/** Hands an owned pointer over: returns it and leaves NULL behind. */
#define WRIT_TAKE(ptr)                                                                             \
    __extension__({                                                                                \
        __typeof__(ptr) writ_taken_ = (ptr);                                                       \
        (ptr) = NULL;                                                                              \
        writ_taken_;                                                                               \
    })

/** A bump allocator with a maximum, for all memory of one request. Not for several threads. */
struct writ_arena;

/** A new arena that gives at most `max` bytes in all, or NULL. Free with writ_arena_free. */
struct writ_arena *writ_arena_new(size_t max) __attribute__((warn_unused_result));
/** As writ_arena_new, in small blocks, for objects that are small, many, and live long. */
struct writ_arena *writ_arena_new_small(size_t max) __attribute__((warn_unused_result));
void writ_arena_free(struct writ_arena *arena);

/** Frees at the end of the scope: writ_auto_arena x = NULL; */
#define writ_auto_arena WRIT_AUTO(struct writ_arena *, writ_arena_release)

static inline void
writ_arena_release(struct writ_arena **arena)
{
    writ_arena_free(*arena);
}

/**
 * Takes memory of the heap, which lives as long as an allocation of the arena and counts as one.
 *
 * @param ptr  from writ_alloc or writ_realloc; taken only when this is true
 *
 * @return false when memory or the maximum is exhausted
 */
bool writ_arena_adopt(struct writ_arena *arena, void *ptr, size_t size);

/** Takes all that was allocated from `other`, which is freed. False, and nothing changes: it is
 * more than the maximum. */
bool writ_arena_merge(struct writ_arena *arena, struct writ_arena *other);

/** Forgets all allocations so far and keeps the first block, and one more, for the next use. */
void writ_arena_reset(struct writ_arena *arena);

/** Frees what a reset has kept and nothing has used since: for what now waits long. */
void writ_arena_give_back(struct writ_arena *arena);

/** `size` bytes aligned for any object, not zeroed; NULL when memory or the maximum is exhausted.
 * Lives until the arena is reset or freed. */
void *writ_arena_get(struct writ_arena *arena, size_t size) __attribute__((warn_unused_result));

/** As writ_arena_get, zeroed. */
void *writ_arena_zeroed(struct writ_arena *arena, size_t size) __attribute__((warn_unused_result));

/** Extends `given`, the last allocation of the arena, in place from `was` to `size` bytes. False,
 * and nothing changes, when `given` is not the last one or the arena has no room after it. */
bool writ_arena_extend(struct writ_arena *arena, void *given, size_t was, size_t size);

#endif
