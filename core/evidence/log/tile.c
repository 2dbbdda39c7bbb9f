/* tile.c - an index is written in groups of three digits, all but the last one behind an x. */
#include "evidence/log/tile.h"

#define GROUP  1000
#define GROUPS 7 /* of an index of 64 bits */

uint64_t
writ_tile_count(uint64_t size, unsigned level)
{
    return level * WRIT_TILE_BITS >= WRIT_TREE_LEVELS ? 0 : size >> (level * WRIT_TILE_BITS);
}

struct writ_tile
writ_tile_at(enum writ_tile_kind kind, unsigned level, uint64_t index, uint64_t size)
{
    uint64_t count = writ_tile_count(size, level), first = index * WRIT_TILE_WIDTH;
    uint64_t width = count > first ? count - first : 0;

    return (struct writ_tile){.kind = kind,
        .level = level,
        .index = index,
        .width = width < WRIT_TILE_WIDTH ? (unsigned)width : WRIT_TILE_WIDTH};
}

void
writ_tile_path(const struct writ_tile *tile, char ret[WRIT_TILE_PATH_MAX])
{
    struct writ_buf path = writ_buf_over(ret, WRIT_TILE_PATH_MAX);
    unsigned groups[GROUPS];
    size_t n = 0;

    for (uint64_t left = tile->index; n == 0 || left > 0; left /= GROUP) {
        groups[n++] = (unsigned)(left % GROUP);
    }
    switch (tile->kind) {
    case WRIT_TILE_HASHES:
        writ_buf_fmt(&path, "tile/%u", tile->level);
        break;
    case WRIT_TILE_ENTRIES:
        writ_buf_str(&path, "tile/entries");
        break;
    case WRIT_TILE_LONG:
        writ_buf_str(&path, "tile/long");
        break;
    }
    while (n-- > 0) {
        writ_buf_fmt(&path, n > 0 ? "/x%03u" : "/%03u", groups[n]);
    }
    if (tile->kind != WRIT_TILE_LONG && tile->width < WRIT_TILE_WIDTH) {
        writ_buf_fmt(&path, ".p/%u", tile->width);
    }
    writ_buf_byte(&path, '\0');
    WRIT_INVARIANT(writ_is_ok(writ_buf_check(&path, NULL)));
}
