/* Opening goes bottom-up: memory, files, the closed ledger, its claims and calls, threads. A
 * failure on the way frees everything that was made, the lock last. Callers only reach the inbox;
 * the rest belongs to the writer. */
#include "store/ledger/ledger.h"

#include "base/thread.h"
#include "evidence/log/note.h"
#include "store/disk/wal_checkpoint.h"
#include "store/ledger/rekey.h"
#include "store/ledger/writer.h"
#include "store/read/scrub.h"
#include "store/disk/disk_postgres.h"
#include "store/start/fleet.h"
#include "store/start/load.h"
#include "store/start/opening.h"
#include "store/write/ending.h"
#include "store/write/erasing.h"
#include "store/write/group.h"
#include "store/write/signing.h"
#include "store/write/store.h"

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RELEASED_MAX ((size_t)4 << 20) /* bytes of the names of released tools */
#define WAITS        2                 /* the server is waited for during that part of a lease */
#define OPEN_TRIES   5                 /* of a start that the database interrupts */

/* ---- creating ---- */

static WRIT_RESULT
check_origin(struct writ_view origin, struct writ_err *err)
{
    if (origin.len > 0) {
        WRIT_TRY(writ_note_check_name(origin, err));
    }
    if (origin.len > WRIT_LEDGER_ORIGIN_MAX) {
        WRIT_FAIL(err, WRIT_E_INVALID, "an origin has at most %d bytes", WRIT_LEDGER_ORIGIN_MAX);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_ledger_create_shared(const char *uri, struct writ_view origin, struct writ_view role,
    const struct writ_clock *clock, struct writ_err *err)
{
    WRIT_TRY(check_origin(origin, err));
    return writ_disk_postgres_create(uri, origin, role, clock, err);
}

WRIT_RESULT
writ_ledger_create(
    const char *path, struct writ_view origin, const struct writ_clock *clock, struct writ_err *err)
{
    WRIT_AUTO(struct writ_file, writ_file_wipe) file = {0};
    writ_result result;

    WRIT_TRY(check_origin(origin, err));
    WRIT_TRY(writ_file_name(path, &file, err));
    WRIT_TRY(writ_file_check_new(&file, err));
    WRIT_TRY(writ_file_make(&file, err));
    result = writ_disk_create(path, origin, clock, err);
    if (writ_is_ok(result)) {
        result = writ_file_settle(&file, err);
    }
    if (!writ_is_ok(result)) {
        writ_file_remove(&file);
    }
    return result;
}

/* ---- opening ---- */

static void
ledger_free(struct writ_ledger *ledger)
{
    writ_scrub_stop(ledger->beside.scrub);
    writ_wal_checkpoint_stop(ledger->beside.checkpoint);
    writ_heads_trust_wipe(&ledger->trust);
    writ_rekey_wipe(ledger);
    writ_ending_wipe(ledger);
    writ_erasing_wipe(ledger);
    writ_reviews_wipe(&ledger->reviews);
    writ_delegations_wipe(&ledger->delegations);
    writ_waits_wipe(&ledger->waits);
    writ_flights_wipe(&ledger->flights);
    writ_boundaries_wipe(&ledger->boundaries);
    writ_claims_wipe(&ledger->claims);
    writ_segments_wipe(&ledger->segments);
    writ_manifest_note_wipe(&ledger->manifest);
    writ_budgets_wipe(&ledger->budgets);
    writ_group_wipe(&ledger->group);
    writ_buf_wipe(&ledger->resumed.released);
    writ_fleet_wipe(ledger);
    writ_disk_close(&ledger->disk);
    writ_file_wipe(&ledger->file); /* last: the lock is held until everything is closed */
    writ_inbox_wipe(&ledger->inbox);
    writ_signing_wipe(ledger);
    writ_free(ledger);
}

static void
ledger_freep(struct writ_ledger **ledger)
{
    if (*ledger != NULL) {
        ledger_free(*ledger);
    }
}

static WRIT_RESULT
ledger_new(
    const struct writ_ledger_options *options, struct writ_ledger **ret, struct writ_err *err)
{
    struct writ_ledger *ledger = writ_alloc(sizeof *ledger);

    if (ledger == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to open the ledger");
    }
    ledger->options = *options;
    if (options->clock == NULL) {
        ledger->options.clock = writ_clock_system();
    }
    ledger->handed = options->keyring;
    ledger->resumed.released = writ_buf_make(RELEASED_MAX);
    ledger->kept.end = &ledger->kept.first;
    ledger->erasing.asked_end = &ledger->erasing.asked;
    writ_inbox_init(&ledger->inbox);
    *ret = ledger;
    return WRIT_DONE;
}

static WRIT_RESULT
make_memory(struct writ_ledger *ledger, struct writ_err *err)
{
    const struct writ_ledger_options *options = &ledger->options;

    WRIT_TRY(writ_claims_init(
        &ledger->claims, options->in_flight_max + 2 * options->segment_claims, err));
    WRIT_TRY(writ_boundaries_init(&ledger->boundaries, options->boundaries_max, err));
    writ_shares_divide(&ledger->boundaries.shares, options->boundaries_max,
        (unsigned)options->agent_percent, (unsigned)options->tenant_percent);
    WRIT_TRY(writ_budgets_init(&ledger->budgets, options->budgets_max, err));
    WRIT_TRY(writ_map_init(&ledger->flights, options->in_flight_max, err));
    WRIT_TRY(writ_waits_init(&ledger->waits, options->waits_max, err));
    WRIT_TRY(writ_reviews_init(&ledger->reviews, options->reviews_max, err));
    WRIT_TRY(writ_delegations_init(&ledger->delegations, err));
    return writ_group_init(&ledger->group, options->group_max, writ_writer_participants, err);
}

/* Runs a first transaction: it shows whether the ledger can be written at all, and makes the
 * write-ahead log, so that from here on all files exist and are known. */
static WRIT_RESULT
first_write(struct writ_ledger *ledger, struct writ_err *err)
{
    int64_t now_us = writ_clock_wall_us(ledger->options.clock);

    WRIT_TRY(writ_disk_run(&ledger->disk, WRIT_SQL_PROBE, err, "i", now_us));
    return writ_file_remember(&ledger->file, err);
}

static WRIT_RESULT
open_files(struct writ_ledger *ledger, const char *path, struct writ_err *err)
{
    if (writ_sql_is_uri(writ_view_str(path))) {
        WRIT_TRY(writ_disk_open(path, ledger->options.lease_us / WAITS, &ledger->disk, err));
        return writ_fleet_begin(ledger, err);
    }
    WRIT_TRY(writ_file_name(path, &ledger->file, err));
    WRIT_TRY(writ_file_check(&ledger->file, err));
    WRIT_TRY(writ_file_lock(&ledger->file, err));
    WRIT_TRY(writ_disk_open(path, ledger->options.busy_us, &ledger->disk, err));
    return first_write(ledger, err);
}

static WRIT_RESULT
start_threads(struct writ_ledger *ledger, const char *path, struct writ_err *err)
{
    if (ledger->sharing == NULL) {
        WRIT_TRY(writ_wal_checkpoint_start(
            path, ledger->options.busy_us, &ledger->beside.checkpoint, err));
    }
    WRIT_TRY(writ_scrub_start(
        path, ledger->options.keyring, ledger->options.scrub_us, &ledger->beside.scrub, err));
    ledger->beside.scrubbed_us = writ_clock_wall_us(ledger->options.clock);
    ledger->turn.ticked_us = ledger->turn.pruned_us = writ_clock_mono_us(ledger->options.clock);
    writ_writer_publish(ledger);
    if (!writ_thread_start(&ledger->thread, writ_writer_run, ledger, "writ-ledger")) {
        WRIT_FAIL(err, WRIT_E_IO, "no thread for the ledger");
    }
    return WRIT_DONE;
}

/* Whether the database ended a statement or a transaction because it, or this process, is slow, or
 * because another session was in the way: a gateway on a loaded machine starts all the same. */
static bool
is_passing(const struct writ_ledger *ledger)
{
    /* serialization failure, deadlock, lock timeout, canceled, idle in a transaction */
    static const char *const passing[] = {"40001", "40P01", "55P03", "57014", "25P03"};
    const struct writ_sql *sql = ledger->disk.sql;
    struct writ_view state =
        ledger->sharing != NULL && sql != NULL ? writ_view_str(writ_sql_state(sql)) : WRIT_LIT("");

    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++) {
        if (writ_view_is(state, passing[i])) {
            return true;
        }
    }
    return false;
}

static WRIT_RESULT
open_parts(struct writ_ledger *ledger, const char *path, struct writ_err *err)
{
    WRIT_TRY(make_memory(ledger, err));
    WRIT_TRY(open_files(ledger, path, err));
    writ_signing_init(ledger);
    WRIT_TRY(writ_opening_check(ledger, err));
    ledger->log.opened = ledger->log.edge.size;
    ledger->pool.at = ledger->log.edge.size; /* a watcher looks once itself for what was before */
    WRIT_TRY(writ_load_all(ledger, err));
    WRIT_TRY(writ_erasing_load(ledger, err));
    return start_threads(ledger, path, err);
}

/* `ret_again`: after a failure, whether another try may succeed. */
static WRIT_RESULT
open_once(const char *path, const struct writ_ledger_options *options, struct writ_ledger **ret,
    bool *ret_again, struct writ_err *err)
{
    WRIT_AUTO(struct writ_ledger *, ledger_freep) ledger = NULL;
    writ_result result;

    *ret_again = false;
    WRIT_TRY(ledger_new(options, &ledger, err));
    result = open_parts(ledger, path, err);
    if (!writ_is_ok(result)) {
        *ret_again = (result.code == WRIT_E_IO || result.code == WRIT_E_BUSY) && is_passing(ledger);
        return result;
    }
    *ret = WRIT_TAKE(ledger);
    return WRIT_DONE;
}

WRIT_RESULT
writ_ledger_open(const char *path, const struct writ_ledger_options *options,
    struct writ_ledger **ret, struct writ_err *err)
{
    bool again = true;
    writ_result result = writ_options_check(options, err);

    for (int tries = 0; writ_is_ok(result) && tries < OPEN_TRIES; tries++) {
        result = open_once(path, options, ret, &again, err);
        if (writ_is_ok(result) || !again || tries + 1 == OPEN_TRIES) {
            return result;
        }
        result = WRIT_DONE;
    }
    return result;
}

WRIT_RESULT
writ_ledger_rebuild(const char *path, struct writ_err *err)
{
    WRIT_AUTO(struct writ_file, writ_file_wipe) file = {0};
    WRIT_AUTO(struct writ_disk, writ_disk_close) disk = {0};

    if (writ_sql_is_uri(writ_view_str(path))) { /* of all gateways */
        WRIT_AUTO(struct writ_sql *, writ_sql_closep) sql = NULL;

        WRIT_TRY(writ_disk_connect(
            path, false, writ_ledger_options_default.lease_us / WAITS, &sql, err));
        return writ_sql_execute(sql, "DELETE FROM segment", err);
    }
    WRIT_TRY(writ_file_name(path, &file, err));
    WRIT_TRY(writ_file_check(&file, err));
    WRIT_TRY(writ_file_lock(&file, err));
    WRIT_TRY(writ_disk_open(path, writ_ledger_options_default.busy_us, &disk, err));
    /* rows of segments may stay: the next start deletes those that no manifest names */
    return writ_disk_run(&disk, WRIT_SQL_MANIFEST_DROP, err, "");
}

void
writ_ledger_close(struct writ_ledger *ledger)
{
    if (ledger == NULL) {
        return;
    }
    writ_inbox_close(&ledger->inbox);
    (void)pthread_join(ledger->thread, NULL);
    writ_fleet_leave(ledger);
    ledger_free(ledger);
}

/* ---- other keys ---- */

static bool
are_same(const struct writ_keyring *a, const struct writ_keyring *b)
{
    writ_auto_buf one = writ_buf_make(WRIT_KEYRING_BYTES_MAX);
    writ_auto_buf other = writ_buf_make(WRIT_KEYRING_BYTES_MAX);

    writ_keyring_put(&one, a);
    writ_keyring_put(&other, b);
    return writ_is_ok(writ_buf_check(&one, NULL)) && writ_is_ok(writ_buf_check(&other, NULL)) &&
           writ_view_equal(writ_buf_view(&one), writ_buf_view(&other));
}

void
writ_ledger_rekey(struct writ_ledger *ledger, struct writ_ledger_keys *keys)
{
    if (are_same(ledger->handed, keys->ring)) {
        writ_ledger_keys_free(keys);
        return;
    }
    ledger->handed = keys->ring;
    writ_inbox_put_keys(&ledger->inbox, keys);
}

/* ---- at any time ---- */

bool
writ_ledger_may_send(const struct writ_ledger *ledger, uint64_t epoch)
{
    return writ_fleet_may_send(ledger, epoch);
}

void
writ_ledger_distrust(struct writ_ledger *ledger, const struct writ_err *why)
{
    writ_inbox_distrust(&ledger->inbox, why);
}

WRIT_RESULT
writ_ledger_submit(struct writ_ledger *ledger, struct writ_entry **entries, size_t n)
{
    return writ_inbox_put(&ledger->inbox, entries, n, ledger->options.queue_max);
}

static void
on_recorded(struct writ_entry *entry)
{
    (void)sem_post(entry->user);
}

WRIT_RESULT
writ_ledger_record(struct writ_ledger *ledger, enum writ_fact_event event, struct writ_view data,
    struct writ_err *err)
{
    sem_t done;
    struct writ_entry entry = {.kind = WRIT_ENTRY_FACT,
        .done = on_recorded,
        .user = &done,
        .fact = {.event = event, .data = data}};
    struct writ_entry *entries[] = {&entry};
    writ_result result;

    (void)sem_init(&done, 0, 0);
    result = writ_ledger_submit(ledger, entries, 1);
    if (writ_is_ok(result)) {
        while (sem_wait(&done) != 0) {
        }
        result.code = entry.code;
    }
    (void)sem_destroy(&done);
    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, result.code, "the ledger could not record it");
    }
    return WRIT_DONE;
}

bool
writ_ledger_is_shared(const struct writ_ledger *ledger)
{
    return ledger->sharing != NULL;
}

bool
writ_ledger_fleet(const struct writ_ledger *ledger, struct writ_ledger_fleet_figures *ret)
{
    if (ledger->sharing == NULL) {
        return false;
    }
    writ_fleet_figures(ledger, ret);
    return true;
}

bool
writ_ledger_is_live(const struct writ_ledger *ledger)
{
    return writ_fleet_may_send(ledger, ledger->fleet.epoch);
}

const struct writ_clock *
writ_ledger_clock(const struct writ_ledger *ledger)
{
    return ledger->options.clock;
}

uint64_t
writ_ledger_epoch(const struct writ_ledger *ledger)
{
    return ledger->fleet.epoch;
}

void
writ_ledger_health(struct writ_ledger *ledger, struct writ_ledger_health *ret)
{
    writ_inbox_health(&ledger->inbox, ret);
}
