/* manifest_note.h - the note of a manifest (manifest.h), and the writer's state of the stored
 * manifest and of the one under construction. Pure. */
#ifndef WRIT_STORE_MANIFEST_NOTE_H
#define WRIT_STORE_MANIFEST_NOTE_H

#include "evidence/json/digest.h"

#define WRIT_MANIFEST_HINT ": see `writ ledger rebuild`"

/** Zeroed: none is on disk, and none is being written. */
struct writ_manifest {
    uint64_t number; /* of the one on disk, as this process counts them; 0: none */
    uint64_t leaf;   /* records that it covers */
    uint64_t area;   /* where its bytes lie: 0 or 1 */
    bool stale;      /* signed by an earlier key */

    struct writ_buf loaded; /* the note that the start trusted; empty: none */
    int64_t loaded_us;      /* wall time */

    struct writ_buf bytes; /* being written */
    uint64_t tried;        /* its number: grows with each that is begun */
    uint64_t next_leaf;
    struct writ_digest root;
    size_t at, ready; /* bytes on the disk; to be written next */
    struct writ_digest_stream digest, digest_next;
};

#define WRIT_MANIFEST_NOTE                                                                         \
    (UINT64_C(1) << 62) /* the row of the note: segments come before it, its areas after it */

/** The members of a note. */
struct writ_manifest_stated {
    uint64_t leaf, area, bytes;
    struct writ_digest root, digest;
};

/** Reads the text of a note. False: not a note of a ledger with that origin. */
bool writ_manifest_note_read(
    struct writ_view text, struct writ_view origin, struct writ_manifest_stated *ret);
/** The row that a piece of the bytes lies in. */
uint64_t writ_manifest_note_row(uint64_t area, uint64_t piece);

/** Frees everything. A zeroed one is fine. */
void writ_manifest_note_wipe(struct writ_manifest *manifest);
/** Appends the text of a note. A failure stays in the buffer. */
void writ_manifest_note_put(
    struct writ_view origin, const struct writ_manifest_stated *stated, struct writ_buf *buf);

#define WRIT_MANIFEST_NUMBERS   4                   /* the bytes begin with; then its segments */
#define WRIT_MANIFEST_TEXT_MAX  1024                /* bytes of the text of a note */
#define WRIT_MANIFEST_PIECE     ((size_t)64 << 10)  /* bytes in one row of an area */
#define WRIT_MANIFEST_AREA_ROWS (UINT64_C(1) << 20) /* the areas lie so far from the note */
#define WRIT_MANIFEST_BYTES_MAX (WRIT_MANIFEST_AREA_ROWS * WRIT_MANIFEST_PIECE)

#endif
