/* Two bundles stay in memory: records are read in their order, beside decisions shortly before
 * them. */
#include "store/read/archive_read.h"

#include "evidence/log/checkpoint.h"
#include "evidence/log/note.h"
#include "evidence/log/tile.h"
#include "store/read/archive_file.h"
#include "store/tables/entry.h"
#include "store/trusted/trusted.h"

#define BUNDLE_MAX ((size_t)WRIT_TILE_WIDTH * (2 + WRIT_TILE_ENTRY_MAX))
#define BUNDLES    2

/* A bundle that was read, and where its entries are. */
struct bundle {
    struct writ_buf bytes;
    struct writ_buf of_long; /* the entry that has a file of its own, and was read last */
    struct writ_view entries[WRIT_TILE_WIDTH];
    uint64_t index; /* UINT64_MAX: none */
    unsigned n;
};

struct writ_archive_read {
    int folder;
    uint64_t size;
    struct bundle bundles[BUNDLES];
    size_t last; /* of them, the one that was read last */
};

void
writ_archive_read_close(struct writ_archive_read *archive)
{
    if (archive == NULL) {
        return;
    }
    for (size_t i = 0; i < BUNDLES; i++) {
        writ_buf_wipe(&archive->bundles[i].bytes);
        writ_buf_wipe(&archive->bundles[i].of_long);
    }
    writ_trusted_close(&archive->folder);
    writ_free(archive);
}

static void
closep(struct writ_archive_read **archive)
{
    writ_archive_read_close(*archive);
}

static WRIT_RESULT
read_size(struct writ_archive_read *archive, struct writ_err *err)
{
    writ_auto_buf note = writ_buf_make(WRIT_NOTE_BYTES_MAX);
    struct writ_checkpoint checkpoint = {0};
    struct writ_note parts = {0};

    WRIT_TRY(writ_archive_file_read(archive->folder, WRIT_ARCHIVE_FILE_CHECKPOINT, &note, err));
    if (!writ_is_ok(writ_note_read(writ_buf_view(&note), &parts, NULL)) ||
        !writ_is_ok(writ_checkpoint_read(parts.text, &checkpoint, NULL))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the checkpoint of the archive is not one");
    }
    archive->size = checkpoint.size;
    return WRIT_DONE;
}

WRIT_RESULT
writ_archive_read_open(const char *folder, struct writ_archive_read **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_archive_read *, closep) archive = writ_alloc(sizeof *archive);

    if (archive == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to read an archive");
    }
    archive->folder = -1;
    for (size_t i = 0; i < BUNDLES; i++) {
        archive->bundles[i].bytes = writ_buf_make(BUNDLE_MAX);
        archive->bundles[i].of_long = writ_buf_make(WRIT_LEDGER_RECORD_MAX);
        archive->bundles[i].index = UINT64_MAX;
    }
    WRIT_TRY(writ_archive_file_open(folder, &archive->folder, err));
    WRIT_TRY(read_size(archive, err));
    *ret = WRIT_TAKE(archive);
    return WRIT_DONE;
}

bool
writ_archive_read_entry(struct writ_view *bundle, struct writ_view *ret)
{
    struct writ_view rest = *bundle;
    size_t len;

    if (rest.len < 2) {
        return false;
    }
    len = ((size_t)(unsigned char)rest.ptr[0] << 8) + (unsigned char)rest.ptr[1];
    if (len > rest.len - 2) {
        return false;
    }
    *ret = writ_view_sub(rest, 2, len);
    *bundle = writ_view_sub(rest, 2 + len, rest.len);
    return true;
}

static WRIT_RESULT
read_file(struct writ_archive_read *archive, const struct writ_tile *tile, struct writ_buf *ret,
    struct writ_err *err)
{
    char path[WRIT_TILE_PATH_MAX];
    writ_result result;

    writ_tile_path(tile, path);
    writ_buf_clear(ret);
    result = writ_archive_file_read(archive->folder, path, ret, err);
    if (result.code == WRIT_E_ABSENT) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the archive lacks %s", path);
    }
    return result;
}

static WRIT_RESULT
read_bundle(
    struct writ_archive_read *archive, struct bundle *bundle, uint64_t index, struct writ_err *err)
{
    struct writ_tile tile = writ_tile_at(WRIT_TILE_ENTRIES, 0, index, archive->size);
    struct writ_view rest;

    bundle->index = UINT64_MAX;
    bundle->n = 0;
    WRIT_TRY(read_file(archive, &tile, &bundle->bytes, err));
    rest = writ_buf_view(&bundle->bytes);
    while (rest.len > 0 && bundle->n < tile.width) {
        if (!writ_archive_read_entry(&rest, &bundle->entries[bundle->n++])) {
            WRIT_FAIL(err, WRIT_E_MISMATCH, "the records from %llu on in the archive are damaged",
                (unsigned long long)index * WRIT_TILE_WIDTH);
        }
    }
    bundle->index = index;
    return WRIT_DONE;
}

/* The bundle from memory, or in place of the one that was not read last. */
static WRIT_RESULT
find_bundle(
    struct writ_archive_read *archive, uint64_t index, struct bundle **ret, struct writ_err *err)
{
    for (size_t i = 0; i < BUNDLES; i++) {
        if (archive->bundles[i].index == index) {
            archive->last = i;
            *ret = &archive->bundles[i];
            return WRIT_DONE;
        }
    }
    archive->last = (archive->last + 1) % BUNDLES;
    *ret = &archive->bundles[archive->last];
    return read_bundle(archive, *ret, index, err);
}

uint64_t
writ_archive_read_size(const struct writ_archive_read *archive)
{
    return archive->size;
}

WRIT_RESULT
writ_archive_read_record(
    struct writ_archive_read *archive, uint64_t leaf, struct writ_view *ret, struct writ_err *err)
{
    const struct writ_tile of_long = {.kind = WRIT_TILE_LONG, .index = leaf};
    struct bundle *bundle = NULL;
    unsigned at = (unsigned)(leaf % WRIT_TILE_WIDTH);

    if (leaf >= archive->size) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the archive has only the %llu first records",
            (unsigned long long)archive->size);
    }
    WRIT_TRY(find_bundle(archive, leaf / WRIT_TILE_WIDTH, &bundle, err));
    if (at >= bundle->n) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the archive lacks record %llu", (unsigned long long)leaf);
    }
    if (bundle->entries[at].len == 0) {
        WRIT_TRY(read_file(archive, &of_long, &bundle->of_long, err));
        *ret = writ_buf_view(&bundle->of_long);
        return WRIT_DONE;
    }
    *ret = bundle->entries[at];
    return WRIT_DONE;
}
