/* The thread that owns the ledger: takes the entries that arrived, writes them as groups, and
 * answers them.
 *
 * 1. Kept outcomes are written before anything else is accepted.
 * 2. `done` of an entry runs once, after its group was written or has failed.
 * 3. A round of the writer ends however fast entries arrive: what is done from time to time (the
 *    lease, the end, keys) comes after it, and the queue has its bound. */
#include "store/ledger/writer.h"

#include "store/disk/wal_checkpoint.h"
#include "store/grant/grant.h"
#include "store/ledger/rekey.h"
#include "store/read/scrub.h"
#include "store/reviews/delegating.h"
#include "store/reviews/review_time.h"
#include "store/reviews/voting.h"
#include "store/reviews/watching.h"
#include "store/start/fleet.h"
#include "store/start/manifest.h"
#include "store/tables/review_index.h"
#include "store/write/ending.h"
#include "store/write/erasing.h"
#include "store/write/facts.h"
#include "store/write/group.h"
#include "store/write/once.h"
#include "store/write/pool_rows.h"
#include "store/write/removing.h"
#include "store/write/sealing.h"
#include "store/write/session_rows.h"
#include "store/write/signing.h"
#include "store/write/turn.h"
#include "store/write/waiting.h"

/* ---- one group ---- */

const struct writ_participant *const writ_writer_participants[] = {&writ_sealing_participant,
    &writ_once_participant, &writ_erasing_participant, &writ_removing_participant,
    &writ_manifest_participant, NULL};

/* Prepares an entry in the present group, or answers it. */
static writ_result (*const prepare_of[])(struct writ_ledger *ledger, struct writ_entry *entry) = {
    [WRIT_ENTRY_DECISION] = writ_grant_decision,
    [WRIT_ENTRY_OUTCOME] = writ_ending_outcome,
    [WRIT_ENTRY_WAIT] = writ_waiting_enter,
    [WRIT_ENTRY_WAITING] = writ_waiting_find,
    [WRIT_ENTRY_CALL] = writ_waiting_call,
    [WRIT_ENTRY_REVIEW] = writ_voting_event,
    [WRIT_ENTRY_REVIEW_GET] = writ_watching_get,
    [WRIT_ENTRY_REVIEW_RULES] = writ_review_time_rules,
    [WRIT_ENTRY_DELEGATE] = writ_delegating_set,
    [WRIT_ENTRY_UNDELEGATE] = writ_delegating_revoke,
    [WRIT_ENTRY_DELEGATIONS] = writ_delegating_list,
    [WRIT_ENTRY_FACT] = writ_facts_enter,
    [WRIT_ENTRY_SESSION_PUT] = writ_session_rows_put,
    [WRIT_ENTRY_SESSION_GET] = writ_session_rows_get,
    [WRIT_ENTRY_SESSION_DROP] = writ_session_rows_drop,
    [WRIT_ENTRY_POOL_PUT] = writ_pool_rows_put,
    [WRIT_ENTRY_POOL_REMOVE] = writ_pool_rows_remove,
    [WRIT_ENTRY_POOL_READ] = writ_pool_rows_read,
};

/* True: the entry waits, and ends with its boundary, its review or the next change. */
static bool (*const await_of[])(struct writ_ledger *ledger, struct writ_entry *entry) = {
    [WRIT_ENTRY_SEAL] = writ_sealing_ask,
    [WRIT_ENTRY_ERASE] = writ_erasing_ask,
    [WRIT_ENTRY_REMOVE] = writ_removing_ask,
    [WRIT_ENTRY_REVIEW_AWAIT] = writ_watching_await,
    [WRIT_ENTRY_REVIEW_WATCH] = writ_watching_add,
    [WRIT_ENTRY_POOL_WATCH] = writ_pool_rows_watch,
};

/* True: it ends after its group. */
static bool
take(struct writ_ledger *ledger, struct writ_entry *entry)
{
    size_t kind = entry->kind;

    if (kind < sizeof await_of / sizeof await_of[0] && await_of[kind] != NULL) {
        return await_of[kind](ledger, entry);
    }
    entry->code = kind < sizeof prepare_of / sizeof prepare_of[0] && prepare_of[kind] != NULL
                      ? prepare_of[kind](ledger, entry).code
                      : WRIT_E_INVALID;
    return false;
}

static bool
can_write(struct writ_ledger *ledger)
{
    struct writ_err err = {0};

    if (ledger->disk.poisoned || !writ_is_ok(writ_ending_flush(ledger))) { /* keeps (1) */
        return false;
    }
    if (!writ_is_ok(writ_turn_enter(ledger, &err))) {
        writ_group_trouble(ledger, &err);
        return false;
    }
    return true;
}

static void
report_told(const struct writ_ledger *ledger)
{
    const struct writ_ledger_reports *reports = ledger->options.reports;

    if (reports != NULL && reports->told != NULL) {
        reports->told(reports->ctx);
    }
}

/* Ends every entry of a list. An entry may be gone as soon as its `done` has run. */
static void
tell(const struct writ_ledger *ledger, struct writ_entry *list)
{
    while (list != NULL) {
        struct writ_entry *next = list->next;

        list->next = NULL;
        list->done(list);
        list = next;
    }
    report_told(ledger);
}

/* Makes one group of the first entries of the list, and returns the rest. `joining` more entries
 * may join the list in this round. */
static struct writ_entry *
one_group(struct writ_ledger *ledger, struct writ_entry *list, size_t *joining)
{
    bool writing = can_write(ledger);
    struct writ_entry *batch = NULL, **end = &batch;

    if (ledger->sharing != NULL) { /* what arrived while the turn was waited for */
        *joining -= writ_inbox_take_more(&ledger->inbox, &list, *joining);
    }
    for (size_t n = 0;
         list != NULL && n < ledger->options.group_max && writ_group_has_room(&ledger->group);
         n++) {
        struct writ_entry *entry = list;

        list = entry->next;
        entry->next = NULL;
        if (!writing && entry->kind != WRIT_ENTRY_OUTCOME) {
            entry->code = WRIT_E_IO;
        } else if (take(ledger, entry)) {
            continue;
        }
        *end = entry;
        end = &entry->next;
    }
    if (writing) {
        (void)writ_group_prepare(ledger, ledger->group.rows_n);
        (void)writ_group_commit(ledger).code; /* the entries report the result */
    } else {
        writ_group_abandon(ledger, WRIT_E_IO);
    }
    tell(ledger, batch);
    return list;
}

/* ---- what is done from time to time ---- */

static WRIT_RESULT
count_rows(struct writ_ledger *ledger, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    bool row = false;

    WRIT_TRY(writ_disk_query(disk, WRIT_SQL_RESULTS_SUM, &row, err, ""));
    ledger->counts.results = row ? (size_t)writ_disk_int(disk, WRIT_SQL_RESULTS_SUM, 0) : 0;
    ledger->counts.results_bytes = row ? writ_disk_int(disk, WRIT_SQL_RESULTS_SUM, 1) : 0;
    writ_disk_end(disk, WRIT_SQL_RESULTS_SUM);
    WRIT_TRY(writ_disk_query(disk, WRIT_SQL_SESSION_COUNT, &row, err, ""));
    ledger->counts.sessions = row ? (size_t)writ_disk_int(disk, WRIT_SQL_SESSION_COUNT, 0) : 0;
    writ_disk_end(disk, WRIT_SQL_SESSION_COUNT);
    return WRIT_DONE;
}

static WRIT_RESULT
delete_rows(struct writ_disk *disk, enum writ_statement statement, int64_t now_us, bool *ret_some,
    struct writ_err *err)
{
    uint64_t deleted = 0;

    WRIT_TRY(writ_disk_run(disk, statement, err, "i", now_us));
    WRIT_TRY(writ_disk_changed(disk, &deleted, err));
    *ret_some = *ret_some || deleted > 0;
    return WRIT_DONE;
}

static WRIT_RESULT
delete_expired(struct writ_ledger *ledger, int64_t now_us, bool *ret_some, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;

    WRIT_TRY(delete_rows(disk, WRIT_SQL_SESSIONS_EXPIRED, now_us, ret_some, err));
    WRIT_TRY(delete_rows(disk, WRIT_SQL_RESULTS_EXPIRED, now_us, ret_some, err));
    WRIT_TRY(delete_rows(disk, WRIT_SQL_POOL_EXPIRED, now_us, ret_some, err));
    return writ_waiting_stale(ledger, now_us, err);
}

/* Deletes rows of sessions, results, insights and waits that have expired; forgets budgets. */
static WRIT_RESULT
prune(struct writ_ledger *ledger, struct writ_err *err)
{
    int64_t now_us = writ_clock_wall_us(ledger->options.clock);
    bool some = false;

    writ_budgets_prune(
        &ledger->budgets, ledger->log.last_us); /* not the clock, which may be ahead, and go back */
    writ_delegating_prune(ledger);
    WRIT_TRY(writ_turn_begin(ledger, err));
    WRIT_TRY(writ_turn_finish(ledger, delete_expired(ledger, now_us, &some, err), err));
    writ_waiting_prune(&ledger->waits, now_us);
    /* what others added and removed is not counted otherwise */
    return some || ledger->sharing != NULL ? count_rows(ledger, err) : WRIT_DONE;
}

/* Checks whether the cause of a failure has gone, even when no call arrives. */
static void
recover(struct writ_ledger *ledger)
{
    int64_t now_us = writ_clock_wall_us(ledger->options.clock);
    struct writ_err err = {0};
    writ_result result;

    ledger->turn.recovered_us = writ_clock_mono_us(ledger->options.clock);
    if (ledger->kept.first != NULL) {
        (void)writ_ending_flush(ledger).code;
        return;
    }
    result = writ_turn_begin(ledger, &err);
    if (writ_is_ok(result)) {
        result = writ_turn_finish(
            ledger, writ_disk_run(&ledger->disk, WRIT_SQL_PROBE, &err, "i", now_us), &err);
    }
    if (writ_is_ok(result)) {
        ledger->trouble.refusing = false;
    } else {
        writ_group_trouble(ledger, &err);
    }
}

/* Also while entries arrive: read-only entries never commit, so they would not end the refusal. */
static bool
recovery_is_due(const struct writ_ledger *ledger, bool idle)
{
    int64_t mono_us = writ_clock_mono_us(ledger->options.clock);

    return ledger->trouble.refusing && !ledger->disk.poisoned &&
           (idle || mono_us - ledger->turn.recovered_us >= ledger->options.retry_us);
}

/* Reports once what ended the thread of the checkpoint. */
static struct writ_wal_state
heed_checkpoint(struct writ_ledger *ledger)
{
    struct writ_disk *disk = &ledger->disk;
    struct writ_err why = {0};
    struct writ_wal_state state;

    if (disk->wal_begun) {
        writ_wal_checkpoint_begun(ledger->beside.checkpoint);
        disk->wal_begun = false;
    }
    state = writ_wal_checkpoint_state(ledger->beside.checkpoint, &why);
    if (state.poisoned && !disk->poisoned) {
        disk->poisoned = true;
        writ_group_trouble(ledger, &why);
    }
    return state;
}

/* Copies the rest of the write-ahead log, so that the next commit restarts it. */
static void
copy_wal(struct writ_ledger *ledger)
{
    struct writ_err why = {0};

    if (!writ_is_ok(writ_disk_copy_wal(&ledger->disk, &why)) && ledger->disk.poisoned) {
        writ_group_trouble(ledger, &why);
    }
}

static void
checkpoint(struct writ_ledger *ledger, bool idle)
{
    struct writ_wal_state state;

    if (ledger->beside.checkpoint == NULL) { /* the server has its own write-ahead log */
        return;
    }
    state = heed_checkpoint(ledger);
    if (ledger->disk.poisoned) {
        return;
    }
    switch (writ_wal_checkpoint_next(ledger->disk.wal_pages, &state, idle)) {
    case WRIT_WAL_NOTHING:
        break;
    case WRIT_WAL_PASS:
        writ_wal_checkpoint_wake(ledger->beside.checkpoint);
        break;
    case WRIT_WAL_COPY:
        copy_wal(ledger);
        break;
    }
}

/* Ends all work when the scrub has found a fault. */
static void
heed_scrub(struct writ_ledger *ledger)
{
    struct writ_err why = {0};
    struct writ_scrub_state state = writ_scrub_look(ledger->beside.scrub, &why);

    if (state.passes > ledger->beside.scrubs) {
        ledger->beside.scrubs = state.passes;
        ledger->beside.scrubbed_us = writ_clock_wall_us(ledger->options.clock);
    }
    if (state.found && !ledger->disk.poisoned) {
        ledger->disk.poisoned = true;
        writ_group_trouble(ledger, &why);
    }
}

/* So does a finding from outside, of an anchor. */
static void
heed_distrust(struct writ_ledger *ledger)
{
    struct writ_err why = {0};

    if (writ_inbox_distrusted(&ledger->inbox, &why) && !ledger->disk.poisoned) {
        ledger->disk.poisoned = true;
        writ_group_trouble(ledger, &why);
    }
}

static void
tick(struct writ_ledger *ledger, bool idle)
{
    int64_t mono_us = writ_clock_mono_us(ledger->options.clock);
    struct writ_err err = {0};

    if (ledger->disk.poisoned) {
        return;
    }
    if (mono_us - ledger->turn.ticked_us >= WRIT_STORE_TICK_US) {
        ledger->turn.ticked_us = mono_us;
        writ_once_sweep(ledger);
        writ_waiting_sweep(ledger);
        if (ledger->kept.first != NULL) {
            WRIT_IGNORE(writ_ending_flush(ledger)); /* the rest is still kept */
        }
        if (!ledger->trouble.refusing) {
            writ_review_time_sweep(ledger);
        }
        writ_sealing_sweep(ledger);
    }
    if (ledger->boundaries.ready != NULL) {
        writ_sealing_commit(ledger); /* also while refusing: entries wait for it */
    }
    if (ledger->trouble.refusing) {
        return;
    }
    if (mono_us - ledger->turn.pruned_us >= WRIT_STORE_PRUNE_US) {
        ledger->turn.pruned_us = mono_us;
        if (!writ_is_ok(prune(ledger, &err))) {
            writ_group_trouble(ledger, &err);
        }
    }
    writ_manifest_keep(ledger, idle);
    if (idle && !ledger->trouble.refusing &&
        !writ_is_ok(writ_manifest_work(ledger, WRIT_STORE_SEGMENTS, &err))) {
        writ_group_trouble(ledger, &err);
    }
}

void
writ_writer_publish(struct writ_ledger *ledger)
{
    struct writ_ledger_health health = {
        .state = ledger->disk.poisoned      ? WRIT_LEDGER_POISONED
                 : ledger->trouble.refusing ? WRIT_LEDGER_REFUSING
                                            : WRIT_LEDGER_READY,
        .records = ledger->log.next_leaf,
        .unproven = ledger->log.unproven,
        .groups = ledger->group.committed,
        .kept_outcomes = ledger->kept.n,
        .claims = writ_once_count(ledger),
        .in_flight = ledger->flights.count,
        .waits = ledger->waits.by_name.count,
        .boundaries = ledger->boundaries.by_name.count,
        .budgets = ledger->budgets.by_key.count,
        .sessions = ledger->counts.sessions,
        .reviews = ledger->reviews.count,
        .scrubs = ledger->beside.scrubs,
        .scrubbed_us = ledger->beside.scrubbed_us,
        .wal_pages = ledger->disk.wal_pages,
        .wal_uncut = ledger->erasing.uncut,
        .last_commit_us = ledger->group.took_us,
        .last_time_us = ledger->log.last_us,
    };

    health.reviews_waiting = writ_review_index_open(&ledger->reviews, &health.review_since_us);
    if (health.state != WRIT_LEDGER_READY) {
        health.why = ledger->trouble.why;
    }
    writ_inbox_publish(&ledger->inbox, &health);
}

static void
sign(struct writ_ledger *ledger)
{
    struct writ_err err = {0};

    if (!writ_is_ok(writ_signing_work(ledger, &err))) {
        writ_group_trouble(ledger, &err);
    }
}

/* While refusing, the writer checks for the end of the trouble without a call. */
static int64_t
rest_us(const struct writ_ledger *ledger)
{
    int64_t rest = ledger->trouble.refusing && ledger->options.retry_us < WRIT_STORE_TICK_US
                       ? ledger->options.retry_us
                       : WRIT_STORE_TICK_US;

    rest = writ_signing_rest_us(ledger, rest);
    return writ_fleet_rest_us(
        ledger, writ_removing_rest_us(ledger, writ_erasing_rest_us(ledger, rest)));
}

void *
writ_writer_run(void *arg)
{
    struct writ_ledger *ledger = arg;

    while (!ledger->turn.stopping) {
        struct writ_entry *list =
            writ_inbox_take(&ledger->inbox, rest_us(ledger), &ledger->turn.stopping);
        size_t joining = ledger->options.group_max;              /* keeps (3) */
        bool idle = list == NULL && !writ_signing_waits(ledger); /* it woke only to sign */

        heed_scrub(ledger);
        heed_distrust(ledger);
        writ_rekey_turn(ledger);
        if (recovery_is_due(ledger, idle)) {
            recover(ledger);
        }
        while (list != NULL) {
            list = one_group(ledger, list, &joining);
        }
        writ_fleet_tick(ledger);
        tick(ledger, idle);
        sign(ledger);
        writ_erasing_work(ledger, idle);
        writ_removing_work(ledger, idle);
        checkpoint(ledger, idle);
        writ_erasing_cut(ledger);
        if (ledger->disk.poisoned) {
            writ_erasing_end_all(ledger, WRIT_E_IO);
            writ_removing_end_all(ledger, WRIT_E_IO);
        }
        if (ledger->turn.stopping) {
            writ_erasing_end_all(ledger, WRIT_E_BUSY);
            writ_removing_end_all(ledger, WRIT_E_BUSY);
            writ_sealing_end_all(ledger, WRIT_E_BUSY);
            writ_watching_end_all(ledger, WRIT_E_BUSY);
        }
        writ_watching_tell(ledger, ledger->turn.stopping);
        writ_pool_rows_tell(ledger, ledger->turn.stopping);
        writ_writer_publish(ledger);
        tell(ledger, WRIT_TAKE(ledger->over)); /* also for what the work above has ended */
    }
    writ_signing_close(ledger);
    writ_manifest_close(ledger);
    return NULL;
}
