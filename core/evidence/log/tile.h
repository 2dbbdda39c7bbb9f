/* tile.h - the names of the files of a static log (c2sp.org/tlog-tiles).
 *
 * A tile has up to 256 digests of one level of the tree: level 0 those of the leaves, level L those
 * of the subtrees of 256^L leaves. A bundle has the entries of a tile of level 0. The last tile of
 * a level may be narrower, and is then named by its width.
 *
 * Pure functions. */
#ifndef WRIT_EVIDENCE_TILE_H
#define WRIT_EVIDENCE_TILE_H

#include "evidence/log/tree.h"

#define WRIT_TILE_WIDTH     256
#define WRIT_TILE_BITS      8 /* levels of the tree in one of tiles */
#define WRIT_TILE_ENTRY_MAX UINT16_MAX
#define WRIT_TILE_PATH_MAX  64 /* with its NUL */

/** What a file of the log has. */
enum writ_tile_kind {
    WRIT_TILE_HASHES = 0,
    WRIT_TILE_ENTRIES, /* level 0 */
    WRIT_TILE_LONG,    /* one entry of more than WRIT_TILE_ENTRY_MAX bytes, whose place in its
                          bundle is empty: Writ's own */
};

/** One file. */
struct writ_tile {
    enum writ_tile_kind kind;
    unsigned level;
    uint64_t index;
    unsigned
        width; /* 1 to WRIT_TILE_WIDTH; not of WRIT_TILE_LONG, whose index is that of its leaf */
};

/** The number of digests that a tree of `size` leaves has at a level of tiles. */
uint64_t writ_tile_count(uint64_t size, unsigned level);

/** The tile `index` of a level, as wide as in a tree of `size` leaves; width 0: it has none. */
struct writ_tile writ_tile_at(
    enum writ_tile_kind kind, unsigned level, uint64_t index, uint64_t size);

/** Writes the path below the folder of the log, NUL-terminated. */
void writ_tile_path(const struct writ_tile *tile, char ret[WRIT_TILE_PATH_MAX]);

#endif
