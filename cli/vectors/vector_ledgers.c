/* writ-ledgers/1: ledgers as rows, sound ones and tampered ones; whether a gateway starts with
 * them, and the findings of `writ ledger verify`. */
#include "base/clock.h"
#include "cli/vectors/vector.h"
#include "evidence/json/write.h"
#include "store/ledger/ledger.h"
#include "store/ledger/rows.h"
#include "store/read/verify.h"

#include <stdlib.h>
#include <unistd.h>

#define PATH_BYTES 4096

/* A folder for one ledger. */
struct place {
    struct writ_buf folder, path; /* NUL-terminated */
};

static void
place_remove(struct place *place)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-lock"};

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        writ_auto_buf file = writ_buf_make(PATH_BYTES);

        writ_buf_fmt(
            &file, "%s%s%c", place->path.ptr != NULL ? place->path.ptr : "", ends[i], '\0');
        if (place->path.ptr != NULL && writ_is_ok(writ_buf_check(&file, NULL))) {
            (void)unlink(file.ptr);
        }
    }
    if (place->folder.ptr != NULL) {
        (void)rmdir(place->folder.ptr);
    }
    writ_buf_wipe(&place->folder);
    writ_buf_wipe(&place->path);
}

static WRIT_RESULT
place_make(struct place *ret, struct writ_err *err)
{
    /* in memory if possible: no case tests a power cut */
    const char *parent = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";

    ret->folder = writ_buf_make(PATH_BYTES);
    ret->path = writ_buf_make(PATH_BYTES);
    writ_buf_fmt(&ret->folder, "%s/writ-vector-XXXXXX%c", parent, '\0');
    WRIT_TRY(writ_buf_check(&ret->folder, err));
    if (mkdtemp(ret->folder.ptr) == NULL) {
        writ_buf_wipe(&ret->folder);
        WRIT_FAIL(err, WRIT_E_IO, "no folder for a ledger can be made in %s", parent);
    }
    writ_buf_fmt(&ret->path, "%s/ledger.db%c", ret->folder.ptr, '\0');
    return writ_buf_check(&ret->path, err);
}

/* ---- keys */

static WRIT_RESULT
read_ring(const struct writ_json *value, struct writ_keyring **ret, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(WRIT_KEYRING_BYTES_MAX);

    WRIT_TRY(writ_vector_text(value, "keyring", &text, err));
    return writ_keyring_read(writ_buf_view(&text), ret, err);
}

/* A ledger opens only with a key to sign with: adds one that has signed nothing yet. */
static WRIT_RESULT
add_signer(struct writ_keyring *ring, int64_t now_us, struct writ_err *err)
{
    struct writ_signer *signer = NULL;
    writ_result added;

    WRIT_TRY(writ_signer_new(WRIT_JWK_ALG_EDDSA, &signer, err));
    added = writ_keyring_add(ring, WRIT_KEY_PURPOSE_LEDGER, signer, now_us, err);
    if (!writ_is_ok(added)) {
        writ_signer_free(signer);
    }
    return added;
}

/* ---- what is found */

/* Whether it is sound, else the lowest record that a problem names. */
static WRIT_RESULT
put_verified(const char *path, const struct writ_keyring *ring, struct writ_write *w,
    struct writ_arena *arena, struct writ_err *err)
{
    struct writ_verify_report *report = writ_arena_get(arena, sizeof *report);
    uint64_t first = UINT64_MAX;

    if (report == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to verify a ledger");
    }
    WRIT_TRY(writ_verify_ledger(path, ring, NULL, NULL, report, err));
    for (size_t i = 0; i < report->problems && i < WRIT_VERIFY_PROBLEMS; i++) {
        first = report->list[i].leaf < first ? report->list[i].leaf : first;
    }
    writ_write_flag(w, "sound", report->problems == 0);
    writ_write_name(w, WRIT_LIT("first"));
    if (report->problems == 0) {
        writ_write_null(w);
    } else {
        writ_write_u64(w, first);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
put_opens(const char *path, const struct writ_json *vector, const struct writ_clock *clock,
    const struct writ_keyring *ring, struct writ_write *w, struct writ_err *err)
{
    struct writ_ledger_options options = writ_ledger_options_default;
    struct writ_ledger *ledger = NULL;
    writ_result opened;

    options.clock = clock;
    options.keyring = ring;
    options.pinned = writ_json_string(writ_json_get(vector, WRIT_LIT("pinned")));
    opened = writ_ledger_open(path, &options, &ledger, err);
    writ_ledger_close(ledger);
    if (!writ_is_ok(opened) && opened.code != WRIT_E_MISMATCH) {
        return opened;
    }
    writ_write_flag(w, "opens", writ_is_ok(opened));
    return WRIT_DONE;
}

writ_result
writ_vector_ledgers(const struct writ_json *set, const struct writ_json *vector,
    struct writ_arena *arena, struct writ_buf *ret, struct writ_err *err)
{
    WRIT_AUTO(struct place, place_remove) place = {0};
    const struct writ_clock *clock = writ_clock_system();
    writ_auto_keyring ring = NULL;
    struct writ_write w = writ_write_to(ret);

    (void)set;
    WRIT_TRY(read_ring(writ_json_get(vector, WRIT_LIT("keyring")), &ring, err));
    WRIT_TRY(place_make(&place, err));
    WRIT_TRY(
        writ_rows_create(place.path.ptr, writ_json_get(vector, WRIT_LIT("tables")), clock, err));
    writ_write_object_begin(&w);
    WRIT_TRY(put_verified(place.path.ptr, ring, &w, arena, err));
    WRIT_TRY(add_signer(ring, writ_clock_wall_us(clock), err));
    WRIT_TRY(put_opens(place.path.ptr, vector, clock, ring, &w, err));
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}
