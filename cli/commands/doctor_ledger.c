/* The ledger through a read-only connection, beside a gateway that writes it: its version, its
 * last checkpoint and the ones that were kept, the clock against its last record, and how long the
 * disk lasts. The records themselves are for `writ ledger verify`. */
#include "cli/commands/doctor.h"
#include "evidence/log/note.h"
#include "gateway/service/anchor.h"
#include "store/disk/file.h"
#include "store/read/proofs.h"
#include "store/read/reader.h"
#include "store/trusted/trusted.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define DISK_LEAST ((uint64_t)64 << 20) /* bytes; below them a group may not fit */
#define US_PER_S   1000000

/* ---- the last checkpoint, and kept ones */

/* A note that lies in a file. A file that is absent contradicts nothing. */
static void
look_at_note(struct writ_doctor *d, struct writ_proofs *proofs, struct writ_view path, bool own)
{
    writ_auto_buf note = writ_buf_make(WRIT_NOTE_BYTES_MAX);
    struct writ_checkpoint then;
    struct writ_err why = {0};
    writ_result result = WRIT_DONE;

    if (path.len == 0) {
        return;
    }
    result = writ_trusted_load(path.ptr, WRIT_TRUSTED_UNWRITABLE, &note, &why);
    if (result.code == WRIT_E_ABSENT || (!writ_is_ok(result) && !own)) {
        return;
    }
    if (writ_is_ok(result)) {
        result = writ_proofs_follow(proofs, writ_buf_view(&note), own, &then, &why);
    }
    if (!writ_is_ok(result)) {
        writ_doctor_add(d, WRIT_DOCTOR_LEDGER_UNSOUND, writ_doctor_path(path), "%s", why.text);
    }
}

static void
look_at_edge(struct writ_doctor *d)
{
    const struct writ_config *config = d->config;
    writ_auto_proofs proofs = NULL;
    struct writ_checkpoint head, same;
    struct writ_err why = {0};
    struct writ_view note;
    writ_auto_buf copy = writ_buf_make(WRIT_NOTE_BYTES_MAX);
    writ_result result = writ_proofs_open(config->store.ptr, d->ring, &proofs, &why);

    if (writ_is_ok(result)) {
        result = writ_proofs_head(proofs, &head, &note, &why);
    }
    if (result.code == WRIT_E_ABSENT) {
        return; /* no records yet */
    }
    if (writ_is_ok(result)) {
        writ_buf_put(&copy, note);
        result = writ_proofs_follow(proofs, writ_buf_view(&copy), true, &same, &why);
    }
    if (!writ_is_ok(result)) {
        writ_doctor_add(
            d, WRIT_DOCTOR_LEDGER_UNSOUND, writ_doctor_path(config->store), "%s", why.text);
        return;
    }
    look_at_note(d, proofs, config->ledger.pinned, true);
    look_at_note(d, proofs, config->ledger.remember, true);
    for (size_t i = 0; i < config->ledger.anchors_n; i++) {
        if (!writ_anchor_is_url(config->ledger.anchors[i].to)) {
            look_at_note(d, proofs, config->ledger.anchors[i].to, false);
        }
    }
}

/* ---- the clock */

static void
look_at_clock(struct writ_doctor *d, int64_t last_us)
{
    int64_t behind_us = last_us - d->now_us;
    char last[WRIT_TIME_TEXT];

    if (behind_us > d->config->ledger.clock_tolerance_us) {
        writ_time_format(last_us, last);
        writ_doctor_add(d, WRIT_DOCTOR_CLOCK_BEHIND, writ_doctor_path(d->config->store),
            "the last record is of %s, %lld s after now", last, (long long)(behind_us / US_PER_S));
    }
}

/* ---- the disk */

static uint64_t
bytes_of(const struct writ_file *file, enum writ_file_part part)
{
    struct stat status;

    return stat(writ_file_path(file, part), &status) == 0 ? (uint64_t)status.st_size : 0;
}

static void
take_size(struct writ_doctor *d, const struct writ_reader_extent *extent)
{
    WRIT_AUTO(struct writ_file, writ_file_wipe) file = {0};
    struct writ_doctor_facts *facts = &d->facts;

    if (!writ_is_ok(writ_file_name(d->config->store.ptr, &file, NULL))) {
        return;
    }
    facts->ledger = true;
    facts->records = extent->records;
    facts->recent = extent->recent;
    facts->bytes = bytes_of(&file, WRIT_FILE_DATABASE) + bytes_of(&file, WRIT_FILE_WAL);
    facts->day_bytes =
        extent->records > 0
            ? (uint64_t)((double)facts->bytes / (double)extent->records * (double)extent->recent)
            : 0;
}

static void
look_at_disk(struct writ_doctor *d)
{
    struct writ_doctor_place place = writ_doctor_path(d->config->store);
    struct writ_doctor_facts *facts = &d->facts;
    struct statvfs disk;

    if (statvfs(d->config->store.ptr, &disk) != 0) {
        return; /* the ledger is missing, which is said */
    }
    facts->disk = true;
    facts->free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
    facts->grows = facts->day_bytes > 0;
    facts->days_left = facts->grows ? facts->free_bytes / facts->day_bytes : 0;
    if (facts->free_bytes < DISK_LEAST) {
        writ_doctor_add(d, WRIT_DOCTOR_DISK_FULL, place, "%llu KiB are free",
            (unsigned long long)(facts->free_bytes / 1024));
    } else if (facts->grows && facts->days_left < (uint64_t)d->days) {
        writ_doctor_add(d, WRIT_DOCTOR_DISK_FULL_SOON, place,
            "%llu MiB are free, and the last day took %llu KiB: enough for %llu days",
            (unsigned long long)(facts->free_bytes >> 20),
            (unsigned long long)(facts->day_bytes / 1024), (unsigned long long)facts->days_left);
    }
}

WRIT_RESULT
writ_doctor_ledger(struct writ_doctor *d, struct writ_err *err)
{
    writ_auto_reader reader = NULL;
    struct writ_reader_extent extent = {0};
    struct writ_err why = {0};
    writ_result result = writ_reader_open(d->config->store.ptr, &reader, &why);

    (void)err;
    if (writ_is_ok(result)) {
        result = writ_reader_extent(reader, d->now_us - WRIT_DOCTOR_US_PER_DAY, &extent, &why);
    }
    if (!writ_is_ok(result)) {
        writ_doctor_add(d,
            result.code == WRIT_E_ABSENT ? WRIT_DOCTOR_LEDGER_MISSING
                                         : WRIT_DOCTOR_LEDGER_UNREADABLE,
            writ_doctor_path(d->config->store), "%s", why.text);
        return result.code == WRIT_E_NOMEM ? result : WRIT_DONE;
    }
    if (d->ring != NULL) {
        look_at_edge(d);
    }
    if (extent.records > 0) {
        look_at_clock(d, extent.last_us);
    }
    take_size(d, &extent);
    look_at_disk(d);
    return WRIT_DONE;
}
