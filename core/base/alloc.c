/* alloc.c - malloc with a counter that tests use to fail the n-th allocation, and arenas: a list of
 * blocks, filled from the newest. An allocation is zeroed, the bytes of an arena are not. */
#include "base/alloc.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_FIRST 5632  /* what waits longest, the request of an event stream, needs no more */
#define ARENA_NEXT  10240 /* most requests need these two */
#define ARENA_BLOCK 16384 /* those after them */
#define ARENA_SMALL 1024  /* most sessions need one */
#define ARENA_ALIGN 16

static _Thread_local long fault_countdown;
static _Thread_local bool fault_reached;

static bool
fault_now(void)
{
    if (fault_countdown == 0) {
        return false;
    }
    if (--fault_countdown == 0) {
        fault_reached = true;
        return true;
    }
    return false;
}

void
writ_fault_arm(long nth)
{
    fault_countdown = nth;
    fault_reached = false;
}

bool
writ_fault_disarm(void)
{
    bool reached = fault_reached;

    fault_countdown = 0;
    fault_reached = false;
    return reached;
}

void *
writ_alloc(size_t size)
{
    return fault_now() ? NULL : calloc(1, size > 0 ? size : 1);
}

void *
writ_realloc(void *ptr, size_t size)
{
    return fault_now() ? NULL : realloc(ptr, size > 0 ? size : 1);
}

void
writ_free(void *ptr)
{
    free(ptr);
}

void
writ_alloc_give_back(void)
{
    (void)malloc_trim(0);
}

void
writ_wipe(void *ptr, size_t size)
{
    if (ptr != NULL) {
        explicit_bzero(ptr, size);
    }
}

struct block {
    struct block *next;
    size_t used, size;
    _Alignas(ARENA_ALIGN) unsigned char bytes[];
};

/* memory of the heap that an arena took */
struct adopted {
    struct adopted *next;
    void *ptr;
};

struct writ_arena {
    struct block *head; /* the block that is being filled; the oldest is the last of the list */
    struct block *kept; /* by a reset, for the next use; or NULL */
    size_t given, max;
    struct adopted *adopted;
    bool small;
};

static struct block *
block_new(size_t size)
{
    struct block *block = NULL;

    if (!fault_now()) {
        block = malloc(sizeof *block + size); /* not zeroed: an arena's bytes never are */
    }
    if (block != NULL) {
        block->next = NULL;
        block->used = 0;
        block->size = size;
    }
    return block;
}

static struct writ_arena *
arena_of(size_t max, bool small)
{
    struct writ_arena *arena = writ_alloc(sizeof *arena);

    if (arena == NULL) {
        return NULL;
    }
    arena->max = max;
    arena->small = small;
    arena->head = block_new(small ? ARENA_SMALL : ARENA_FIRST);
    if (arena->head == NULL) {
        writ_free(arena);
        return NULL;
    }
    return arena;
}

struct writ_arena *
writ_arena_new(size_t max)
{
    return arena_of(max, false);
}

struct writ_arena *
writ_arena_new_small(size_t max)
{
    return arena_of(max, true);
}

static void
free_adopted(struct writ_arena *arena)
{
    for (struct adopted *one = arena->adopted; one != NULL; one = one->next) {
        writ_free(one->ptr);
    }
    arena->adopted = NULL;
}

void
writ_arena_free(struct writ_arena *arena)
{
    if (arena == NULL) {
        return;
    }
    free_adopted(arena);
    while (arena->head != NULL) {
        struct block *next = arena->head->next;
        free(arena->head);
        arena->head = next;
    }
    free(arena->kept);
    writ_free(arena);
}

/* Keeps the largest block that is not larger than usual. */
static void
keep_or_free(struct writ_arena *arena, struct block *block)
{
    struct block *other = block;

    if (block->size <= ARENA_BLOCK && (arena->kept == NULL || arena->kept->size < block->size)) {
        other = arena->kept;
        arena->kept = block;
    }
    free(other);
}

void
writ_arena_reset(struct writ_arena *arena)
{
    free_adopted(arena);
    while (arena->head->next != NULL) {
        struct block *next = arena->head->next;
        keep_or_free(arena, arena->head);
        arena->head = next;
    }
    arena->head->used = 0;
    arena->given = 0;
}

void
writ_arena_give_back(struct writ_arena *arena)
{
    free(arena->kept);
    arena->kept = NULL;
}

static size_t
next_size(const struct writ_arena *arena)
{
    if (arena->small) {
        return ARENA_SMALL;
    }
    return arena->head->next == NULL ? ARENA_NEXT : ARENA_BLOCK;
}

/* The kept block, or a new one, with room for `need` bytes. */
static struct block *
block_for(struct writ_arena *arena, size_t need)
{
    struct block *kept = arena->kept;
    size_t size = next_size(arena);

    if (kept != NULL && kept->size >= need) {
        arena->kept = NULL;
        kept->used = 0;
        return kept;
    }
    return block_new(need > size ? need : size);
}

static size_t
aligned(size_t size)
{
    return (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
}

void *
writ_arena_get(struct writ_arena *arena, size_t size)
{
    struct block *block = arena->head;
    size_t need;
    void *given;

    if (size > arena->max) {
        return NULL;
    }
    need = aligned(size);
    if (need < size || need > arena->max - arena->given) {
        return NULL;
    }
    if (need > block->size - block->used) {
        struct block *fresh = block_for(arena, need);
        if (fresh == NULL) {
            return NULL;
        }
        fresh->next = block;
        arena->head = block = fresh;
    }
    given = block->bytes + block->used;
    block->used += need;
    arena->given += need;
    return given;
}

bool
writ_arena_adopt(struct writ_arena *arena, void *ptr, size_t size)
{
    struct adopted *one = size <= arena->max ? writ_arena_get(arena, sizeof *one) : NULL;

    if (one == NULL || size > arena->max - arena->given) {
        return false;
    }
    arena->given += size;
    one->ptr = ptr;
    one->next = arena->adopted;
    arena->adopted = one;
    return true;
}

bool
writ_arena_merge(struct writ_arena *arena, struct writ_arena *other)
{
    struct block **block = &other->head;
    struct adopted **adopted = &other->adopted;

    if (other->given > arena->max - arena->given) {
        return false;
    }
    while (*block != NULL) {
        block = &(*block)->next;
    }
    while (*adopted != NULL) {
        adopted = &(*adopted)->next;
    }
    *block = arena->head->next; /* behind the block that is being filled */
    arena->head->next = other->head;
    *adopted = arena->adopted;
    arena->adopted = other->adopted;
    arena->given += other->given;
    free(other->kept);
    writ_free(other);
    return true;
}

void *
writ_arena_zeroed(struct writ_arena *arena, size_t size)
{
    void *memory = writ_arena_get(arena, size);

    return memory == NULL ? NULL : memset(memory, 0, size);
}

bool
writ_arena_extend(struct writ_arena *arena, void *given, size_t was, size_t size)
{
    struct block *block = arena->head;
    size_t more;

    if (size < was || size > arena->max || aligned(size) < size ||
        (unsigned char *)given + aligned(was) != block->bytes + block->used) {
        return false;
    }
    more = aligned(size) - aligned(was);
    if (more > block->size - block->used || more > arena->max - arena->given) {
        return false;
    }
    block->used += more;
    arena->given += more;
    return true;
}
