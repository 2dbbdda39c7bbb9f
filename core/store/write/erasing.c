/* 1. A key and its ciphertext go in one transaction, which also notes that the write-ahead log has
 *    to be cut.
 * 2. An erase that has changed anything is in `meta` until its fact is recorded. Before any outcome
 *    that comes after, the calls under way that it selects are marked (erased.h).
 * 3. An entry ends once: when the log is cut, when a reader has prevented that for WAIT_US, or with
 *    the ledger. */
#include "store/write/erasing.h"

#include "evidence/json/write.h"
#include "evidence/record/content_fact.h"
#include "store/tables/body.h"
#include "store/write/erased.h"
#include "store/write/facts.h"
#include "store/write/group.h"
#include "store/write/turn.h"

#define WAIT_US    5000000             /* how long an entry waits for readers of the log */
#define POLL_US    10000               /* between two attempts meanwhile */
#define SLICE      256                 /* contents that one transaction looks at */
#define SLICE_IDLE 1024                /* expired contents that one transaction deletes */
#define SLICE_MORE 4                   /* for each record of a group: more than it can add */
#define MOVED_MAX  (INT64_C(64) << 20) /* bytes of results for replay that are rewritten */
#define JOB_ARENA  ((size_t)64 << 10)
#define JOB_TEXT   8192 /* of a job in `meta` */

static const uint8_t zeros[WRIT_WRAPPED_BYTES];

/* One erase, from its entry or from `meta`. */
struct writ_erasing_job {
    struct writ_entry *entry; /* NULL: of an earlier process, or its entry was ended */
    struct writ_arena *arena; /* of the texts */
    struct writ_content_erasure what;
    uint64_t next, end; /* leaves: contents looked at up to, and decisions to look at up to */
    uint64_t fact_leaf;
    bool noted;  /* in `meta` */
    bool marked; /* the calls under way that it selects are */
    bool looked; /* all contents were looked at */
};

/* ---- entries ---- */

static void
end_entry(struct writ_ledger *ledger, struct writ_entry *entry, enum writ_code code)
{
    entry->code = code;
    entry->next = ledger->over;
    ledger->over = entry;
}

static bool
is_too_long(struct writ_view view)
{
    return view.len > WRIT_LEDGER_NAME_MAX;
}

bool
writ_erasing_ask(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct writ_entry_erase *e = &entry->erase;

    e->contents = e->reviews = e->leaf = 0;
    e->held = false;
    if (e->by.len == 0 || (e->decision_id.ptr == NULL && e->agent_id.ptr == NULL &&
                              e->tenant.ptr == NULL && e->before_us <= 0)) {
        entry->code = WRIT_E_INVALID;
        return false;
    }
    if (is_too_long(e->by) || is_too_long(e->decision_id) || is_too_long(e->agent_id) ||
        is_too_long(e->tenant)) {
        entry->code = WRIT_E_LIMIT;
        return false;
    }
    *ledger->erasing.asked_end = entry;
    ledger->erasing.asked_end = &entry->next;
    entry->next = NULL;
    return true;
}

static struct writ_entry *
take_asked(struct writ_ledger_erasing *erasing)
{
    struct writ_entry *entry = erasing->asked;

    if (entry != NULL) {
        erasing->asked = entry->next;
        if (erasing->asked == NULL) {
            erasing->asked_end = &erasing->asked;
        }
        entry->next = NULL;
    }
    return entry;
}

/* ---- jobs ---- */

static void
job_free(struct writ_erasing_job *job)
{
    if (job != NULL) {
        writ_arena_free(job->arena);
        writ_free(job);
    }
}

static void
job_freep(struct writ_erasing_job **job)
{
    job_free(*job);
}

static WRIT_RESULT
job_new(struct writ_erasing_job **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_erasing_job *, job_freep) job = writ_alloc(sizeof *job);

    if (job != NULL) {
        job->arena = writ_arena_new(JOB_ARENA);
    }
    if (job == NULL || job->arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to erase contents");
    }
    *ret = WRIT_TAKE(job);
    return WRIT_DONE;
}

static WRIT_RESULT
copy(struct writ_erasing_job *job, struct writ_view from, struct writ_view *ret,
    struct writ_err *err)
{
    *ret = writ_view(NULL, 0);
    if (from.ptr != NULL) {
        *ret = writ_view_copy(from, job->arena);
        if (ret->ptr == NULL) {
            WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to erase contents");
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
copy_all(
    struct writ_erasing_job *job, const struct writ_content_erasure *from, struct writ_err *err)
{
    job->what = *from;
    WRIT_TRY(copy(job, from->by, &job->what.by, err));
    WRIT_TRY(copy(job, from->decision_id, &job->what.decision_id, err));
    WRIT_TRY(copy(job, from->agent_id, &job->what.agent_id, err));
    return copy(job, from->tenant, &job->what.tenant, err);
}

static WRIT_RESULT
job_of_entry(struct writ_ledger *ledger, struct writ_entry *entry, struct writ_erasing_job **ret,
    struct writ_err *err)
{
    const struct writ_entry_erase *e = &entry->erase;
    const struct writ_content_erasure what = {.by = e->by,
        .decision_id = e->decision_id,
        .agent_id = e->agent_id,
        .tenant = e->tenant,
        .before_us = e->before_us};
    WRIT_AUTO(struct writ_erasing_job *, job_freep) job = NULL;

    WRIT_TRY(job_new(&job, err));
    WRIT_TRY(copy_all(job, &what, err));
    job->entry = entry;
    job->end = ledger->log.next_leaf;
    *ret = WRIT_TAKE(job);
    return WRIT_DONE;
}

/* ---- in `meta`: keeps (2) ---- */

static WRIT_RESULT
note_job(struct writ_ledger *ledger, const struct writ_erasing_job *job, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(JOB_TEXT);

    writ_buf_fmt(&text, "{\"end\":%llu,\"what\":", (unsigned long long)job->end);
    WRIT_TRY(writ_content_fact_erasure(&job->what, &text, err));
    writ_buf_byte(&text, '}');
    WRIT_TRY(writ_buf_check(&text, err));
    return writ_disk_run(&ledger->disk, WRIT_SQL_ERASING_PUT, err, "b", writ_buf_view(&text));
}

static WRIT_RESULT
read_job(struct writ_erasing_job *job, struct writ_view text, struct writ_err *err)
{
    const struct writ_json *value = NULL;
    struct writ_content_erasure erasure;
    int64_t end = 0;

    WRIT_TRY(writ_body_json(text, job->arena, &value, err));
    WRIT_TRY(writ_content_fact_read_erasure(writ_json_get(value, WRIT_LIT("what")), &erasure, err));
    if (!writ_is_ok(
            writ_json_integer(writ_json_get(value, WRIT_LIT("end")), 0, INT64_MAX >> 10, &end))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the erase in the table `meta` is not readable");
    }
    job->end = (uint64_t)end;
    job->noted = true;
    return copy_all(job, &erasure, err);
}

static WRIT_RESULT
mark_calls(struct writ_ledger *ledger, struct writ_erasing_job *job, struct writ_err *err)
{
    if (!job->marked) {
        WRIT_TRY(writ_erased_mark(ledger, &job->what, job->end, err));
        job->marked = true;
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_erasing_load(struct writ_ledger *ledger, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    WRIT_AUTO(struct writ_erasing_job *, job_freep) job = NULL;
    bool row = false;
    writ_result result;

    WRIT_TRY(writ_disk_query(disk, WRIT_SQL_UNCUT_GET, &row, err, ""));
    writ_disk_end(disk, WRIT_SQL_UNCUT_GET);
    ledger->erasing.uncut = row;
    WRIT_TRY(job_new(&job, err));
    result = writ_disk_query(disk, WRIT_SQL_ERASING_GET, &row, err, "");
    if (writ_is_ok(result) && row) {
        result = read_job(job, writ_disk_bytes(disk, WRIT_SQL_ERASING_GET, 0), err);
        if (result.code == WRIT_E_PARSE || result.code == WRIT_E_LIMIT) {
            result =
                writ_fail(err, WRIT_E_MISMATCH, "the erase in the table `meta` is not readable");
        }
        if (writ_is_ok(result)) {
            ledger->erasing.job = WRIT_TAKE(job);
        }
    }
    writ_disk_end(disk, WRIT_SQL_ERASING_GET);
    WRIT_TRY(result);
    if (ledger->erasing.job != NULL) {
        WRIT_TRY(mark_calls(ledger, ledger->erasing.job, err));
    }
    return writ_erased_load(ledger, err);
}

/* ---- destroying: keeps (1) ---- */

/* Notes that the write-ahead log has to be cut. */
static WRIT_RESULT
note_uncut(struct writ_ledger *ledger, struct writ_err *err)
{
    ledger->erasing.uncut = true; /* also when the transaction fails: pages may be in the log */
    return writ_disk_run(&ledger->disk, WRIT_SQL_UNCUT_PUT, err, "");
}

static WRIT_RESULT
destroy(struct writ_ledger *ledger, uint64_t leaf, struct writ_err *err)
{
    WRIT_TRY(writ_disk_run(
        &ledger->disk, WRIT_SQL_CONTENT_KEY_WIPE, err, "bu", writ_view(zeros, sizeof zeros), leaf));
    return writ_disk_run(&ledger->disk, WRIT_SQL_CONTENT_DROP, err, "u", leaf);
}

/* The rows of one slice that an erase selects. */
struct found {
    uint64_t leaves[SLICE];
    size_t n, looked_at;
    uint64_t last; /* leaf that was looked at last */
};

/* Reads the rows of a statement that gives leaf, decision_id, agent_id, tenant and time of the
 * call. */
static WRIT_RESULT
look_at_rows(struct writ_ledger *ledger, const struct writ_content_erasure *what,
    enum writ_statement which, bool row, struct found *found, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;

    while (row && found->looked_at < SLICE) {
        found->last = (uint64_t)writ_disk_int(disk, which, 0);
        found->looked_at++;
        if (writ_content_fact_selects(what, writ_disk_bytes(disk, which, 1),
                writ_disk_bytes(disk, which, 2), writ_disk_bytes(disk, which, 3),
                writ_disk_int(disk, which, 4))) {
            found->leaves[found->n++] = found->last;
        }
        WRIT_TRY(writ_disk_next(disk, which, &row, err));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
find_contents(struct writ_ledger *ledger, const struct writ_erasing_job *job, struct found *found,
    struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    bool one = job->what.decision_id.ptr != NULL, row = false;
    enum writ_statement which = one ? WRIT_SQL_CONTENTS_OF : WRIT_SQL_CONTENTS_FROM;
    writ_result result =
        one ? writ_disk_query(disk, which, &row, err, "t", job->what.decision_id)
            : writ_disk_query(disk, which, &row, err, "uuu", job->next, job->end, (uint64_t)SLICE);

    if (writ_is_ok(result)) {
        result = look_at_rows(ledger, &job->what, which, row, found, err);
    }
    writ_disk_end(disk, which);
    return result;
}

/* One slice of contents, in a transaction. `job` changes when it is on disk. */
static WRIT_RESULT
erase_some(struct writ_ledger *ledger, struct writ_erasing_job *job, struct writ_err *err)
{
    struct found found = {0};

    WRIT_TRY(find_contents(ledger, job, &found, err));
    job->what.count += found.n;
    for (size_t i = 0; i < found.n; i++) {
        WRIT_TRY(destroy(ledger, found.leaves[i], err));
    }
    WRIT_TRY(note_uncut(ledger, err));
    WRIT_TRY(note_job(ledger, job, err));
    job->next = found.last + 1;
    job->looked = found.looked_at < SLICE || job->what.decision_id.ptr != NULL;
    return WRIT_DONE;
}

/* ---- what was derived ---- */

/* Results that are kept for replay. */
static WRIT_RESULT
drop_results(struct writ_ledger *ledger, const struct writ_erasing_job *job, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    uint64_t next = 0;
    struct found found;

    do {
        bool row = false;
        writ_result result;

        found = (struct found){0};
        result =
            writ_disk_query(disk, WRIT_SQL_RESULTS_FROM, &row, err, "uu", next, (uint64_t)SLICE);
        if (writ_is_ok(result)) {
            result = look_at_rows(ledger, &job->what, WRIT_SQL_RESULTS_FROM, row, &found, err);
        }
        writ_disk_end(disk, WRIT_SQL_RESULTS_FROM);
        WRIT_TRY(result);
        for (size_t i = 0; i < found.n; i++) {
            WRIT_TRY(writ_disk_run(disk, WRIT_SQL_RESULT_DROP, err, "u", found.leaves[i]));
        }
        next = found.last + 1;
    } while (found.looked_at == SLICE);
    return WRIT_DONE;
}

/* The arguments of reviews that are open stay, because voters decide over them: counts those. */
static WRIT_RESULT
count_reviews(struct writ_ledger *ledger, const struct writ_erasing_job *job, uint64_t *ret,
    struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_REVIEWS_SHOWN, &row, err, "");

    *ret = 0;
    while (writ_is_ok(result) && row) {
        *ret +=
            writ_content_fact_selects(&job->what, writ_disk_bytes(disk, WRIT_SQL_REVIEWS_SHOWN, 1),
                writ_disk_bytes(disk, WRIT_SQL_REVIEWS_SHOWN, 2),
                writ_disk_bytes(disk, WRIT_SQL_REVIEWS_SHOWN, 3),
                writ_disk_int(disk, WRIT_SQL_REVIEWS_SHOWN, 4))
                ? 1
                : 0;
        result = writ_disk_next(disk, WRIT_SQL_REVIEWS_SHOWN, &row, err);
    }
    writ_disk_end(disk, WRIT_SQL_REVIEWS_SHOWN);
    return result;
}

static WRIT_RESULT
sum_results(struct writ_ledger *ledger, struct writ_ledger_counts *ret, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_RESULTS_SUM, &row, err, "");

    if (writ_is_ok(result) && row) {
        ret->results = (size_t)writ_disk_int(disk, WRIT_SQL_RESULTS_SUM, 0);
        ret->results_bytes = writ_disk_int(disk, WRIT_SQL_RESULTS_SUM, 1);
    }
    writ_disk_end(disk, WRIT_SQL_RESULTS_SUM);
    return result;
}

static WRIT_RESULT
erase_derived(struct writ_ledger *ledger, const struct writ_erasing_job *job,
    struct writ_ledger_counts *counts, uint64_t *ret_reviews, struct writ_err *err)
{
    WRIT_TRY(drop_results(ledger, job, err));
    WRIT_TRY(count_reviews(ledger, job, ret_reviews, err));
    WRIT_TRY(sum_results(ledger, counts, err));
    if (counts->results_bytes > MOVED_MAX) {
        WRIT_TRY(writ_disk_run(&ledger->disk, WRIT_SQL_RESULTS_CLEAR, err, ""));
        counts->results = 0;
        counts->results_bytes = 0;
    }
    return writ_disk_renew(&ledger->disk, err);
}

/* ---- the end of an erase ---- */

static WRIT_RESULT
write_forget(struct writ_ledger *ledger, const struct writ_op *op, struct writ_err *err)
{
    (void)op;
    return writ_disk_run(&ledger->disk, WRIT_SQL_ERASING_DROP, err, "");
}

static const struct writ_op_steps forget_steps = {.write = write_forget};

static WRIT_RESULT
record(struct writ_ledger *ledger, struct writ_erasing_job *job)
{
    writ_auto_buf data = writ_buf_make(JOB_TEXT);
    struct writ_entry fact = {.kind = WRIT_ENTRY_FACT};

    WRIT_TRY(writ_content_fact_erasure(&job->what, &data, NULL));
    fact.fact.event = WRIT_FACT_CONTENTS_ERASED;
    fact.fact.data = writ_buf_view(&data);
    WRIT_TRY(writ_facts_enter(ledger, &fact));
    (void)writ_group_op(&ledger->group, &forget_steps, NULL);
    WRIT_TRY(writ_group_commit(ledger));
    job->fact_leaf = fact.fact.leaf;
    return WRIT_DONE;
}

/* Its entry waits for the log to be cut: keeps (3). */
static void
finish_job(struct writ_ledger *ledger)
{
    struct writ_ledger_erasing *erasing = &ledger->erasing;
    struct writ_erasing_job *job = WRIT_TAKE(erasing->job);
    struct writ_entry *entry = job->entry;

    if (entry != NULL) {
        entry->erase.contents = job->what.count;
        entry->erase.leaf = job->fact_leaf;
        entry->next = erasing->recorded;
        erasing->recorded = entry;
        erasing->recorded_us = writ_clock_mono_us(ledger->options.clock);
    }
    job_free(job);
}

/* What was noted is continued by itself; an entry that changed nothing yet is not. */
static void
fail_job(struct writ_ledger *ledger, const struct writ_err *why)
{
    struct writ_erasing_job *job = ledger->erasing.job;

    writ_group_trouble(ledger, why);
    if (job->entry != NULL) {
        end_entry(ledger, WRIT_TAKE(job->entry), WRIT_E_IO);
    }
    job->next = 0; /* looks at the contents again: those that were destroyed are no more */
    job->looked = false;
    if (!job->noted) {
        job_free(WRIT_TAKE(ledger->erasing.job));
    }
}

static WRIT_RESULT
transact_some(struct writ_ledger *ledger, struct writ_erasing_job *job, struct writ_err *err)
{
    uint64_t count = job->what.count;
    writ_result result;

    WRIT_TRY(writ_turn_begin(ledger, err));
    result = writ_turn_finish(ledger, erase_some(ledger, job, err), err);
    if (!writ_is_ok(result)) {
        job->what.count = count;
        return result;
    }
    job->noted = true;
    return mark_calls(ledger, job, err); /* keeps (2) */
}

static WRIT_RESULT
transact_derived(struct writ_ledger *ledger, struct writ_erasing_job *job, struct writ_err *err)
{
    struct writ_ledger_counts counts = ledger->counts;
    uint64_t reviews = 0;

    WRIT_TRY(writ_turn_begin(ledger, err));
    WRIT_TRY(writ_turn_finish(ledger, erase_derived(ledger, job, &counts, &reviews, err), err));
    ledger->counts = counts;
    if (job->entry != NULL) {
        job->entry->erase.reviews = reviews;
    }
    return WRIT_DONE;
}

static void
work_on_job(struct writ_ledger *ledger)
{
    struct writ_erasing_job *job = ledger->erasing.job;
    struct writ_err err = {0};
    writ_result result;

    if (!job->looked) {
        result = transact_some(ledger, job, &err);
    } else {
        result = transact_derived(ledger, job, &err);
        if (writ_is_ok(result)) {
            result = record(ledger, job);
            err = ledger->trouble.why;
        }
        if (writ_is_ok(result)) {
            finish_job(ledger);
            return;
        }
    }
    if (!writ_is_ok(result)) {
        fail_job(ledger, &err);
    }
}

static void
begin_job(struct writ_ledger *ledger)
{
    struct writ_entry *entry = take_asked(&ledger->erasing);
    struct writ_err err = {0};

    if (entry != NULL && !writ_is_ok(job_of_entry(ledger, entry, &ledger->erasing.job, &err))) {
        end_entry(ledger, entry, WRIT_E_NOMEM);
    }
}

/* ---- contents whose time is over ---- */

static WRIT_RESULT
delete_expired(struct writ_ledger *ledger, size_t most, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    int64_t now_us = writ_clock_wall_us(ledger->options.clock);
    uint64_t deleted = 0;

    WRIT_TRY(writ_disk_run(disk, WRIT_SQL_CONTENT_KEYS_EXPIRED, err, "biu",
        writ_view(zeros, sizeof zeros), now_us, (uint64_t)most));
    WRIT_TRY(writ_disk_run(disk, WRIT_SQL_CONTENTS_EXPIRED, err, "iu", now_us, (uint64_t)most));
    WRIT_TRY(writ_disk_changed(disk, &deleted, err));
    ledger->erasing.deleted = (size_t)deleted;
    return ledger->erasing.deleted > 0 ? note_uncut(ledger, err) : WRIT_DONE;
}

static bool
prepare(struct writ_ledger *ledger, size_t records)
{
    struct writ_ledger_erasing *erasing = &ledger->erasing;

    erasing->slice = erasing->expired ? SLICE_MORE * (records + SLICE_MORE) : 0;
    return erasing->slice > 0;
}

static WRIT_RESULT
write_slice(struct writ_ledger *ledger, struct writ_err *err)
{
    return ledger->erasing.slice == 0 ? WRIT_DONE
                                      : delete_expired(ledger, ledger->erasing.slice, err);
}

static void
finish_slice(struct writ_ledger *ledger)
{
    struct writ_ledger_erasing *erasing = &ledger->erasing;

    if (erasing->slice > 0) {
        erasing->expired = erasing->deleted == erasing->slice;
        erasing->slice = 0;
    }
}

static void
undo_slice(struct writ_ledger *ledger)
{
    ledger->erasing.slice = 0;
}

const struct writ_participant writ_erasing_participant = {
    .prepare = prepare, .write = write_slice, .finish = finish_slice, .undo = undo_slice};

/* Looks once a second whether the oldest time is over. */
static WRIT_RESULT
look_for_expired(struct writ_ledger *ledger, struct writ_err *err)
{
    struct writ_ledger_erasing *erasing = &ledger->erasing;
    struct writ_disk *disk = &ledger->disk;
    int64_t mono_us = writ_clock_mono_us(ledger->options.clock);
    bool row = false;
    writ_result result;

    if (erasing->expired || mono_us - erasing->looked_us < WRIT_STORE_TICK_US) {
        return WRIT_DONE;
    }
    erasing->looked_us = mono_us;
    result = writ_disk_query(
        disk, WRIT_SQL_CONTENT_OLDEST, &row, err, "i", writ_clock_wall_us(ledger->options.clock));
    writ_disk_end(disk, WRIT_SQL_CONTENT_OLDEST);
    erasing->expired = writ_is_ok(result) && row;
    return result;
}

static WRIT_RESULT
expire_some(struct writ_ledger *ledger, struct writ_err *err)
{
    WRIT_TRY(writ_turn_begin(ledger, err));
    WRIT_TRY(writ_turn_finish(ledger, delete_expired(ledger, SLICE_IDLE, err), err));
    ledger->erasing.expired = ledger->erasing.deleted == SLICE_IDLE;
    return WRIT_DONE;
}

static void
refuse_all(struct writ_ledger *ledger)
{
    struct writ_erasing_job *job = ledger->erasing.job;
    struct writ_entry *entry;

    while ((entry = take_asked(&ledger->erasing)) != NULL) {
        end_entry(ledger, entry, WRIT_E_IO);
    }
    if (job != NULL && job->entry != NULL) {
        end_entry(ledger, WRIT_TAKE(job->entry), WRIT_E_IO);
    }
    if (job != NULL && !job->noted) {
        job_free(WRIT_TAKE(ledger->erasing.job));
    }
}

void
writ_erasing_work(struct writ_ledger *ledger, bool idle)
{
    struct writ_err err = {0};
    writ_result result;

    if (ledger->trouble.refusing) { /* as every entry of a ledger that cannot write */
        refuse_all(ledger);
    }
    if (ledger->disk.poisoned || ledger->trouble.refusing || ledger->kept.first != NULL) {
        return; /* kept outcomes go first */
    }
    result = look_for_expired(ledger, &err);
    if (writ_is_ok(result) && idle && ledger->erasing.expired) {
        result = expire_some(ledger, &err);
    }
    if (!writ_is_ok(result)) {
        writ_group_trouble(ledger, &err);
        return;
    }
    if (ledger->erasing.job == NULL) {
        begin_job(ledger);
    }
    if (ledger->erasing.job != NULL) {
        work_on_job(ledger);
    }
}

/* ---- the write-ahead log ---- */

static void
end_recorded(struct writ_ledger *ledger, bool held)
{
    while (ledger->erasing.recorded != NULL) {
        struct writ_entry *entry = ledger->erasing.recorded;

        ledger->erasing.recorded = entry->next;
        entry->erase.held = held;
        end_entry(ledger, entry, WRIT_OK);
    }
}

/* Nothing that was destroyed is in the log any more. */
static WRIT_RESULT
note_cut(struct writ_ledger *ledger, struct writ_err *err)
{
    ledger->erasing.uncut = false;
    ledger->erasing.cut_us = writ_clock_mono_us(ledger->options.clock);
    end_recorded(ledger, false);
    return writ_disk_run(&ledger->disk, WRIT_SQL_UNCUT_DROP, err, "");
}

void
writ_erasing_cut(struct writ_ledger *ledger)
{
    struct writ_ledger_erasing *erasing = &ledger->erasing;
    int64_t mono_us = writ_clock_mono_us(ledger->options.clock);
    struct writ_err err = {0};
    bool done = false;

    if (ledger->disk.poisoned || !erasing->uncut || erasing->job != NULL ||
        (erasing->recorded == NULL && mono_us - erasing->cut_us < WRIT_STORE_PRUNE_US &&
            erasing->cut_us != 0)) {
        return;
    }
    if (!writ_is_ok(writ_disk_cut_wal(&ledger->disk, ledger->options.busy_us, &done, &err)) ||
        (done && !writ_is_ok(note_cut(ledger, &err)))) {
        writ_group_trouble(ledger, &err);
    }
    if (!done && erasing->recorded != NULL && mono_us - erasing->recorded_us >= WAIT_US) {
        end_recorded(ledger, true);
    }
}

int64_t
writ_erasing_rest_us(const struct writ_ledger *ledger, int64_t otherwise)
{
    const struct writ_ledger_erasing *erasing = &ledger->erasing;

    if (ledger->disk.poisoned || ledger->trouble.refusing) {
        return otherwise;
    }
    if (erasing->job != NULL || erasing->asked != NULL || erasing->expired) {
        return 0;
    }
    return erasing->recorded != NULL ? POLL_US : otherwise;
}

void
writ_erasing_end_all(struct writ_ledger *ledger, enum writ_code code)
{
    struct writ_entry *entry;

    end_recorded(ledger, ledger->erasing.uncut);
    while ((entry = take_asked(&ledger->erasing)) != NULL) {
        end_entry(ledger, entry, code);
    }
    if (ledger->erasing.job != NULL && ledger->erasing.job->entry != NULL) {
        end_entry(ledger, WRIT_TAKE(ledger->erasing.job->entry), code);
    }
}

void
writ_erasing_wipe(struct writ_ledger *ledger)
{
    job_free(ledger->erasing.job);
    ledger->erasing.job = NULL;
}
