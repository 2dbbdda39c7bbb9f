/* A start from the manifest gives the same state as a start from the records. A manifest that was
 * changed, or is of another ledger or key, is refused. */
#include "store/write/once.h"
#include "support/store/kit.h"
#include "support/unit.h"

#include "store/read/verify.h"
#include "store/start/manifest.h"
#include "store/write/store.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEYS      12
#define NAMES     3
#define NUMBERS   700
#define LINES_MAX 4096
#define DAYS      (86400 * WRIT_KIT_S)

typedef struct writ_kit_spec spec;
typedef struct writ_kit_call call;

/* ---- the state of a ledger in memory ---- */

struct memory {
    char *lines[LINES_MAX];
    size_t n;
};

static void __attribute__((format(printf, 2, 3))) note(struct memory *m, const char *fmt, ...)
{
    va_list args;

    ck_assert_uint_lt(m->n, LINES_MAX);
    va_start(args, fmt);
    ck_assert_int_gt(vasprintf(&m->lines[m->n++], fmt, args), 0);
    va_end(args);
}

static void
wipe(struct memory *m)
{
    for (size_t i = 0; i < m->n; i++) {
        free(m->lines[i]);
    }
    *m = (struct memory){.n = 0};
}

static void
note_held(struct memory *m, const struct writ_ledger *l, enum writ_segment_kind kind,
    struct writ_tag tag, const struct writ_claim_facts *facts)
{
    if (writ_once_stands(&l->boundaries, facts, l->log.last_us)) {
        note(m, "claim %d %llx %llx: call %llx of %llu in %llu at %lld for %lld: %d %d %d",
            (int)kind, (unsigned long long)tag.high, (unsigned long long)tag.low,
            (unsigned long long)facts->call.high, (unsigned long long)facts->leaf,
            (unsigned long long)facts->boundary, (long long)facts->made_us,
            (long long)facts->kept_us, facts->in_flight, facts->interrupted, facts->outcome);
    }
}

static void
note_segment(struct memory *m, struct writ_ledger *l, const struct writ_segment *segment)
{
    uint8_t bytes[WRIT_SEGMENT_BLOCK];
    struct writ_claim_facts facts;
    size_t len = 0;

    for (size_t block = 0; block < segment->blocks_n; block++) {
        ck_assert_ok(writ_once_read(l, segment, block, bytes, &len, NULL));
        for (size_t at = 0; at < len; at += WRIT_SEGMENT_ENTRY) {
            struct writ_tag tag = writ_tag_read(bytes + at);

            writ_segment_read(bytes + at, &facts);
            ck_assert(writ_segment_may_have(segment, tag));
            ck_assert(writ_segment_goes_on(segment, tag, block));
            note_held(m, l, (enum writ_segment_kind)bytes[at + WRIT_TAG_BYTES], tag, &facts);
        }
    }
}

static void
note_claims(struct memory *m, struct writ_ledger *l)
{
    const struct writ_map *map = &l->claims.by_key;

    for (size_t i = 0; i < map->bucket_count; i++) {
        for (struct writ_map_node *at = map->buckets[i]; at != NULL; at = at->next) {
            const struct writ_hold *hold = WRIT_MAP_OF(at, struct writ_hold, by_key);

            note_held(m, l, WRIT_SEGMENT_KEY, hold->by_key.tag, &hold->facts);
            note_held(m, l, WRIT_SEGMENT_INTENT, hold->by_intent.tag, &hold->facts);
        }
    }
    for (const struct writ_segment *at = l->segments.list; at != NULL; at = at->next) {
        note_segment(m, l, at);
    }
}

static void
note_boundaries(struct memory *m, const struct writ_ledger *l)
{
    const struct writ_boundary *b = l->boundaries.ring;

    for (size_t i = 0; i < l->boundaries.by_name.count; i++, b = b->next) {
        struct writ_digest digest;
        char text[WRIT_DIGEST_TEXT];

        ck_assert_ok(writ_seal_hash_now(&b->hash, &digest, NULL));
        writ_digest_text(&digest, text);
        note(m, "run %llu %.*s from %llu, %llu of %llu, %zu in flight, of %llx: %s",
            (unsigned long long)b->id, WRIT_VIEW_ARG(b->name), (unsigned long long)b->first_leaf,
            (unsigned long long)b->next_seq, (unsigned long long)b->hash.total, b->in_flight,
            b->charge.agent == NULL ? 0 : (unsigned long long)b->charge.agent->by_owner.tag.high,
            text);
    }
}

static void
note_flights(struct memory *m, const struct writ_ledger *l)
{
    for (size_t i = 0; i < l->flights.bucket_count; i++) {
        for (struct writ_map_node *at = l->flights.buckets[i]; at != NULL; at = at->next) {
            const struct writ_flight *f = WRIT_MAP_OF(at, struct writ_flight, by_leaf);

            note(m, "flight %llu %.*s in %llu, claim of %llu, waits %d, %zu bookings",
                (unsigned long long)f->leaf, WRIT_VIEW_ARG(f->decision_id),
                (unsigned long long)f->boundary->id,
                f->hold == NULL ? 0 : (unsigned long long)f->hold->facts.leaf,
                f->wait == NULL ? 0 : (int)f->wait->kind, f->bookings_n);
        }
    }
}

static void
note_budgets(struct memory *m, const struct writ_ledger *l)
{
    for (const struct writ_counter *at = l->budgets.all; at != NULL; at = at->next_all) {
        if (at->window == l->log.last_us / at->window_us) {
            note(m, "budget %llx in %lld: %llu, %zu booked",
                (unsigned long long)at->by_key.tag.high, (long long)at->window,
                (unsigned long long)at->spent.coefficient, at->booked);
        }
    }
}

static int
by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Opens the ledger at that path, records its state, and closes it. */
static void
look(const struct writ_kit *kit, const char *path, struct memory *ret, bool *ret_short)
{
    struct writ_ledger_options options = kit->options;
    struct writ_ledger *l = NULL;
    struct writ_err err = {0};
    writ_result opened = writ_ledger_open(path, &options, &l, &err);

    ck_assert_msg(writ_is_ok(opened), "%s", err.text);
    *ret_short = l->manifest.loaded.len > 0;
    note(ret, "%llu records, %llu boundaries, %llu facts", (unsigned long long)l->log.next_leaf,
        (unsigned long long)l->boundaries.next_id, (unsigned long long)l->log.facts_n);
    note_boundaries(ret, l);
    note_flights(ret, l);
    note_claims(ret, l);
    note_budgets(ret, l);
    qsort(ret->lines, ret->n, sizeof *ret->lines, by_text);
    writ_ledger_close(l);
}

/* ---- copies, as a crash would leave them ---- */

static void
copy(const char *from, const char *to)
{
    sqlite3 *from_db = NULL, *to_db = NULL;
    sqlite3_backup *backup;

    (void)unlink(to);
    ck_assert_int_eq(sqlite3_open_v2(from, &from_db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    ck_assert_int_eq(
        sqlite3_open_v2(to, &to_db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL), SQLITE_OK);
    backup = sqlite3_backup_init(to_db, "main", from_db, "main");
    ck_assert_ptr_nonnull(backup);
    ck_assert_int_eq(sqlite3_backup_step(backup, -1), SQLITE_DONE);
    ck_assert_int_eq(sqlite3_backup_finish(backup), SQLITE_OK);
    (void)sqlite3_close(to_db);
    (void)sqlite3_close(from_db);
    ck_assert_int_eq(chmod(to, S_IRUSR | S_IWUSR), 0);
}

static void
drop(const char *path)
{
    static const char *const names[] = {"", "-wal", "-shm", "-lock"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char name[128];

        (void)snprintf(name, sizeof name, "%s%s", path, names[i]);
        (void)unlink(name);
    }
}

/* How many problems a verification finds. */
static uint64_t
problems(struct writ_kit *kit, const struct writ_keyring *ring)
{
    struct writ_verify_report report;

    ck_assert_ok(writ_verify_ledger(kit->path, ring, NULL, NULL, &report, NULL));
    return report.problems;
}

/* Both ways give the same. True: one of them was the short one. */
static bool
compare(const struct writ_kit *kit)
{
    struct memory kept = {.n = 0}, reread = {.n = 0};
    bool is_short = false, again = false;
    char path[112], other[112];

    (void)snprintf(path, sizeof path, "%s/copy.db", kit->dir);
    (void)snprintf(other, sizeof other, "%s/rebuilt.db", kit->dir);
    copy(kit->path, path); /* at once: the writer continues */
    copy(path, other);
    look(kit, path, &kept, &is_short);
    ck_assert_ok(writ_ledger_rebuild(other, NULL));
    look(kit, other, &reread, &again);
    drop(path);
    drop(other);
    ck_assert(!again);
    for (size_t i = 0; i < kept.n && i < reread.n; i++) {
        ck_assert_msg(strcmp(kept.lines[i], reread.lines[i]) == 0,
            "with a manifest:\n%s\nwithout:\n%s", kept.lines[i], reread.lines[i]);
    }
    ck_assert_uint_eq(kept.n, reread.n);
    wipe(&kept);
    wipe(&reread);
    return is_short;
}

/* ---- random histories ---- */

struct world {
    struct writ_kit kit;
    call *open[KEYS]; /* in flight */
    bool waits[KEYS];
    int run;
};

static uint32_t
roll(uint32_t *state, uint32_t sides)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % sides;
}

/* Never changes: calls borrow it. */
static const char *
name_of(const char *what, int number)
{
    static char names['z' + 1][NUMBERS][20];
    char *name = names[(unsigned char)what[0] % ('z' + 1)][number];

    ck_assert_int_lt(number, NUMBERS);
    (void)snprintf(name, sizeof names[0][0], "%s-%d", what, number);
    return name;
}

static void
make_call(struct world *w, uint32_t *state)
{
    struct writ_reservation budget = writ_kit_budget();
    int key = (int)roll(state, KEYS);
    bool booked = roll(state, 3) == 0;
    call *c =
        writ_kit_call(&w->kit, (spec){.key = name_of("key", key),
                                   .boundary = name_of("run", w->run + (int)roll(state, NAMES)),
                                   .agent = name_of("agent", (int)roll(state, NAMES)),
                                   .reservations = booked ? &budget : NULL,
                                   .reservations_n = booked ? 1 : 0,
                                   .route = WRIT_DECISION_ALLOW});

    ck_assert_int_eq(writ_kit_decide(&w->kit, c), WRIT_OK);
    if (!c->entry.decision.granted) {
        writ_kit_call_free(c);
    } else if (w->open[key] == NULL && roll(state, 3) == 0) {
        w->open[key] = c;
        w->waits[key] = false;
    } else {
        bool sent = roll(state, 4) > 0;

        ck_assert_int_eq(writ_kit_end(&w->kit, c, sent ? WRIT_OUTCOME_EXECUTED : WRIT_OUTCOME_ERROR,
                             sent ? NULL : WRIT_OUTCOME_NOT_SENT),
            WRIT_OK);
        writ_kit_call_free(c);
    }
}

static void
end_call(struct world *w, int key)
{
    if (w->open[key] != NULL && !w->waits[key]) {
        ck_assert_int_eq(writ_kit_end(&w->kit, w->open[key], WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
        writ_kit_call_free(w->open[key]);
        w->open[key] = NULL;
    }
}

static void
let_wait(struct world *w, int key)
{
    struct writ_digest name;

    if (w->open[key] != NULL && !w->waits[key]) {
        ck_assert_ok(writ_ledger_round(
            &w->open[key]->entry.decision.claim.call, WRIT_LIT("s"), &name, NULL));
        ck_assert_int_eq(
            writ_kit_wait(&w->kit, w->open[key], WRIT_WAIT_INPUT, name, 3000 * DAYS), WRIT_OK);
        w->waits[key] = true;
    }
}

static void
restart(struct world *w)
{
    writ_kit_close(&w->kit);
    writ_kit_open(&w->kit);
    for (int i = 0; i < KEYS; i++) { /* it has its outcome, or waits for ever */
        writ_kit_call_freep(&w->open[i]);
        w->open[i] = NULL;
    }
}

static void
step(struct world *w, uint32_t *state)
{
    uint32_t what = roll(state, 40);

    if (what < 24) {
        make_call(w, state);
    } else if (what < 30) {
        end_call(w, (int)roll(state, KEYS));
    } else if (what < 32) {
        let_wait(w, (int)roll(state, KEYS));
    } else if (what < 35) {
        writ_kit_pass(&w->kit, 7 * WRIT_KIT_S / 2);
    } else if (what < 37) {
        for (int i = 0; i < KEYS; i++) {
            end_call(w, i);
        }
        w->run++;
    } else if (what < 39) {
        writ_kit_turn(&w->kit);
    } else {
        restart(w);
    }
}

START_TEST(open_with_and_without_a_manifest_agree)
{
    struct world w = {.run = 1};
    size_t looked = 0, is_short = 0;

    writ_kit_init(&w.kit);
    w.kit.options.segment_claims = 3;
    w.kit.options.segment_merge = 3;
    w.kit.options.manifest_records = 7;
    w.kit.options.claim_kept_us = w.kit.options.window_kept_us = 40 * WRIT_KIT_S;
    w.kit.options.boundary_idle_us = 20 * WRIT_KIT_S;
    writ_kit_open(&w.kit);
    for (uint32_t i = 0, state = 3; i < 600; i++) {
        step(&w, &state);
        if (i % 50 == 0) {
            ck_assert_uint_eq(problems(&w.kit, w.kit.ring), 0); /* beside the writer */
        }
        if (i % 7 == 0) {
            is_short += compare(&w.kit) ? 1 : 0;
            looked++;
        }
    }
    ck_assert_uint_gt(is_short, looked / 2);
    for (int i = 0; i < KEYS; i++) {
        writ_kit_call_freep(&w.open[i]);
    }
    writ_kit_wipe(&w.kit);
}
END_TEST

/* ---- refused manifests ---- */

/* Segments, a call in flight that waits, and records behind. */
static void
fill(struct writ_kit *kit)
{
    writ_kit_init(kit);
    kit->options.segment_claims = 3;
    kit->options.segment_merge = 3;
    kit->options.boundary_idle_us = 3000 * DAYS;
    kit->options.budget_window_us = 0;
    writ_kit_open(kit);
    for (int i = 0; i < KEYS; i++) {
        writ_kit_run(kit, (spec){.key = name_of("key", i)});
    }
    for (int i = 0; i < 10; i++) {
        writ_kit_pass(kit, 2 * WRIT_KIT_S);
        writ_kit_run(kit, (spec){.boundary = "other", .duplicates = WRIT_DUPLICATES_ALLOW});
    }
    writ_kit_close(kit);
}

static void
all_taken(struct writ_kit *kit)
{
    for (int i = 0; i < KEYS; i++) {
        writ_kit_refused(kit, (spec){.key = name_of("key", i), .boundary = "later"},
            WRIT_REASON_DUPLICATE_OUTCOME);
    }
}

static void
refused(struct writ_kit *kit, const char *what)
{
    struct writ_ledger *ledger = NULL;
    struct writ_err err = {0};
    writ_result opened = writ_ledger_open(kit->path, &kit->options, &ledger, &err);

    ck_assert_msg(
        opened.code == WRIT_E_MISMATCH, "%s: %s %s", what, writ_code_name(opened.code), err.text);
    ck_assert_msg(strstr(err.text, "writ ledger rebuild") != NULL, "%s: %s", what, err.text);
    ck_assert_ptr_null(ledger);
}

START_TEST(open_with_a_changed_manifest_is_refused_until_it_is_dropped)
{
    static const char *const changes[] = {
        "UPDATE segment SET bytes = x'' WHERE id = 1 << 62",
        "UPDATE segment SET bytes = zeroblob(70000) WHERE id = 1 << 62",
        "UPDATE segment SET bytes = CAST(replace(CAST(bytes AS TEXT), 'state v1', 'state v2') AS "
        "BLOB) WHERE id = 1 << 62",
        "UPDATE segment SET bytes = CAST(replace(CAST(bytes AS TEXT), char(10) || '1 ', char(10) "
        "|| "
        "'0 ') AS BLOB) WHERE id = 1 << 62",
        "UPDATE segment SET bytes = substr(bytes, 1, length(bytes) - 60) WHERE id = 1 << 62",
        "UPDATE segment SET bytes = substr(bytes, 1, length(bytes) - 1) WHERE id > 1 << 62",
        "UPDATE segment SET bytes = zeroblob(length(bytes)) WHERE id > 1 << 62",
        "DELETE FROM segment WHERE id > 1 << 62",
        "UPDATE segment SET bytes = zeroblob(length(bytes)) WHERE id & (1 << 23) AND id < 1 << 62",
        "UPDATE segment SET bytes = x'' WHERE id & (1 << 23) AND id < 1 << 62",
        "DELETE FROM segment WHERE id & (1 << 23) AND id < 1 << 62",
        "UPDATE head SET note = (SELECT bytes FROM segment WHERE id = 1 << 62) WHERE 0; "
        "UPDATE segment SET bytes = (SELECT note FROM head ORDER BY leaf DESC LIMIT 1) WHERE id = "
        "1 << 62",
        "INSERT INTO segment VALUES (-1, x'00')",
        "INSERT INTO segment VALUES (0x7fffffffffffffff, x'00')",
    };

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct writ_kit kit;

        fill(&kit);
        ck_assert_int_gt(
            writ_kit_number(&kit, "SELECT count(*) FROM segment WHERE id < 1 << 62"), 0);
        ck_assert_uint_eq(problems(&kit, kit.ring), 0);
        writ_kit_sql(&kit, changes[i]);
        ck_assert_msg(problems(&kit, kit.ring) == 1 || strstr(changes[i], "INSERT") != NULL, "%s",
            changes[i]);
        refused(&kit, changes[i]);
        ck_assert_ok(writ_ledger_rebuild(kit.path, NULL));
        ck_assert_uint_eq(problems(&kit, kit.ring), 0);
        writ_kit_open(&kit);
        all_taken(&kit);
        writ_kit_wipe(&kit);
    }
}
END_TEST

/* Builds of before wrote blocks from the first row on, and no manifest. */
START_TEST(open_deletes_rows_that_no_manifest_names)
{
    struct writ_kit kit;

    fill(&kit);
    ck_assert_ok(writ_ledger_rebuild(kit.path, NULL));
    writ_kit_sql(&kit, "DELETE FROM segment; WITH RECURSIVE n(at) AS (SELECT 0 UNION ALL SELECT "
                       "at + 1 FROM n WHERE at < 600) INSERT INTO segment SELECT at << 16, "
                       "zeroblob(4032) FROM n");
    writ_kit_open(&kit);
    all_taken(&kit);
    for (int i = 0; i < 5; i++) {
        writ_kit_run(&kit, (spec){.boundary = "other", .duplicates = WRIT_DUPLICATES_ALLOW});
    }
    ck_assert_int_eq(
        writ_kit_number(&kit, "SELECT count(*) FROM segment WHERE bytes = zeroblob(4032)"), 0);
    writ_kit_close(&kit);
    ck_assert(compare(&kit));
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(open_with_a_changed_block_frees_no_key)
{
    struct writ_kit kit;
    call *c;

    fill(&kit);
    writ_kit_sql(&kit, "UPDATE segment SET bytes = zeroblob(length(bytes)) "
                       "WHERE id < 1 << 62 AND NOT (id & (1 << 23))");
    ck_assert_uint_eq(problems(&kit, NULL), 1);
    writ_kit_open(&kit);
    c = writ_kit_call(&kit, (spec){.key = name_of("key", 0), .route = WRIT_DECISION_ALLOW});
    ck_assert_int_eq(writ_kit_decide(&kit, c), WRIT_E_IO);
    writ_kit_call_free(c);
    ck_assert_int_eq(writ_kit_health(&kit).state, WRIT_LEDGER_POISONED);
    writ_kit_forget(&kit);
    writ_kit_open(&kit);
    all_taken(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

/* Rows of the table as they were, in place of those that are. */
static void
put_back(struct writ_kit *kit, const char *from)
{
    char sql[256];

    (void)snprintf(sql, sizeof sql,
        "ATTACH '%s' AS old; DELETE FROM main.segment; "
        "INSERT INTO main.segment SELECT * FROM old.segment; DETACH old",
        from);
    writ_kit_sql(kit, sql);
}

START_TEST(open_with_an_older_manifest_gives_the_same_state)
{
    struct writ_kit kit;
    char path[112];

    fill(&kit);
    (void)snprintf(path, sizeof path, "%s/old.db", kit.dir);
    copy(kit.path, path);
    writ_kit_open(&kit);
    for (int i = 0; i < KEYS; i++) {
        writ_kit_run(&kit, (spec){.key = name_of("new", i)});
    }
    writ_kit_close(&kit);
    put_back(&kit, path);
    ck_assert_uint_eq(problems(&kit, kit.ring), 0);
    ck_assert(compare(&kit));
    writ_kit_open(&kit);
    all_taken(&kit);
    for (int i = 0; i < KEYS; i++) {
        writ_kit_refused(&kit, (spec){.key = name_of("new", i), .boundary = "later"},
            WRIT_REASON_DUPLICATE_OUTCOME);
    }
    drop(path);
    writ_kit_wipe(&kit);
}
END_TEST

/* Two ledgers that were one, with as many records. */
START_TEST(open_with_a_manifest_of_another_history_is_refused)
{
    struct writ_kit kit, other;
    char path[sizeof other.path];

    fill(&kit);
    (void)snprintf(path, sizeof path, "%s/other.db", kit.dir);
    copy(kit.path, path);
    other = kit;
    (void)snprintf(other.path, sizeof other.path, "%s", path);
    writ_kit_open(&other);
    writ_kit_run(&other, (spec){.key = "there"});
    writ_kit_close(&other);
    writ_kit_open(&kit);
    writ_kit_run(&kit, (spec){.key = "here"});
    writ_kit_close(&kit);
    put_back(&kit, path);
    ck_assert_uint_eq(problems(&kit, kit.ring), 1);
    refused(&kit, "of another history");
    drop(path);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(open_ignores_a_manifest_of_a_revoked_key)
{
    struct writ_signer *fresh = NULL;
    struct writ_kit kit;

    fill(&kit);
    ck_assert_ok(writ_signer_new(WRIT_JWK_ALG_EDDSA, &fresh, NULL));
    ck_assert_ok(writ_keyring_revoke(kit.ring, writ_jwk_kid(writ_keyring_key(kit.ring, 0)->public),
        kit.wall_us, fresh, kit.wall_us, NULL)); /* after its last record */
    writ_kit_open(&kit);
    all_taken(&kit);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM segment WHERE id = 1 << 62"), 0);
    writ_kit_close(&kit);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM segment WHERE id = 1 << 62"), 1);
    ck_assert(compare(&kit)); /* by the other key */
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(open_with_a_manifest_of_another_key_is_refused)
{
    struct writ_kit kit, other;

    fill(&kit);
    fill(&other);
    put_back(&kit, other.path);
    refused(&kit, "of another ledger");
    writ_kit_wipe(&other);
    writ_kit_wipe(&kit);
}
END_TEST

/* ---- records that the start does not read ---- */

static void
edit_old(const char *sql, bool opens)
{
    struct writ_digest name;
    struct writ_ledger *ledger = NULL;
    struct writ_kit kit;
    call *c;

    fill(&kit);
    writ_kit_open(&kit);
    c = writ_kit_granted(&kit, (spec){.key = "waits", .boundary = "waiting"});
    ck_assert_ok(writ_ledger_round(&c->entry.decision.claim.call, WRIT_LIT("s"), &name, NULL));
    ck_assert_int_eq(writ_kit_wait(&kit, c, WRIT_WAIT_INPUT, name, 3000 * DAYS), WRIT_OK);
    for (int i = 0; i < 3; i++) {
        writ_kit_run(&kit, (spec){.boundary = "other", .duplicates = WRIT_DUPLICATES_ALLOW});
    }
    writ_kit_close(&kit);
    writ_kit_sql(&kit, sql);
    if (opens) {
        writ_kit_open(&kit);
        ck_assert_int_ne(writ_kit_waiting(&kit, name, NULL), WRIT_OK);
        ck_assert_int_eq(writ_kit_health(&kit).state, WRIT_LEDGER_POISONED);
    } else {
        ck_assert_code(writ_ledger_open(kit.path, &kit.options, &ledger, NULL), WRIT_E_MISMATCH);
    }
    writ_kit_call_free(c);
    writ_kit_wipe(&kit);
}

START_TEST(record_skipped_at_open_is_compared_at_its_use)
{
    edit_old("UPDATE body SET bytes = CAST(replace(CAST(bytes AS TEXT), 'files/x', 'files/y') AS "
             "BLOB)",
        true);
    edit_old("UPDATE boundary SET seal_leaf = 1 WHERE name = 'waiting'", false);
    edit_old("UPDATE boundary SET name = 'else' WHERE name = 'waiting'", false);
    edit_old("UPDATE boundary SET tenant = 'else' WHERE name = 'waiting'", false);
    edit_old("UPDATE boundary SET first_leaf = first_leaf + 1 WHERE name = 'waiting'", false);
    edit_old("DELETE FROM boundary WHERE name = 'waiting'", false);
    edit_old("INSERT INTO boundary VALUES (99, 'acme', 'new', 3, NULL)", false);
    edit_old("INSERT INTO boundary VALUES (99, 'acme', 'new', 9999, NULL)", false);
    edit_old("DELETE FROM boundary WHERE id = (SELECT max(id) FROM boundary)", false);
}
END_TEST

WRIT_UNIT_MAIN("manifest", open_with_and_without_a_manifest_agree,
    open_with_a_changed_manifest_is_refused_until_it_is_dropped,
    open_deletes_rows_that_no_manifest_names, open_with_a_changed_block_frees_no_key,
    open_with_an_older_manifest_gives_the_same_state,
    open_with_a_manifest_of_another_history_is_refused, open_ignores_a_manifest_of_a_revoked_key,
    open_with_a_manifest_of_another_key_is_refused, record_skipped_at_open_is_compared_at_its_use)
