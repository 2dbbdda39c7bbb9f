/* A ledger that was in other hands: rows changed by SQL, or bytes of the file. For every change:
 * no read leaves its bounds, and
 *
 * - a ledger that verifies without a problem can be listed and exported, and a sealed run exported
 *   from it is complete;
 * - one that opens, opens again. */
#include "support/fuzz.h"
#include "support/store/kit.h"
#include "support/unit.h"

#include "store/read/reader.h"
#include "store/read/verify.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TEMPLATE_MAX (1 << 20)
#define CHANGES_MAX  16

typedef struct writ_kit_spec spec;

static struct writ_kit kit;
static char template[TEMPLATE_MAX];
static size_t template_size;

static const struct {
    const char *table, *column;
} columns[] = {
    {"record", "kind"},
    {"record", "boundary"},
    {"record", "seq"},
    {"record", "time_us"},
    {"record", "verdict"},
    {"record", "flags"},
    {"record", "about"},
    {"record", "decision_id"},
    {"record", "agent_id"},
    {"record", "tool"},
    {"record", "claim"},
    {"record", "leaf"},
    {"body", "bytes"},
    {"body", "leaf"},
    {"head", "leaf"},
    {"head", "size"},
    {"head", "nodes"},
    {"head", "note"},
    {"boundary", "tenant"},
    {"boundary", "name"},
    {"boundary", "first_leaf"},
    {"boundary", "seal_leaf"},
    {"budget", "tag"},
    {"budget", "window_us"},
    {"budget", "window"},
    {"budget", "spent"},
    {"result", "expires_us"},
    {"session", "expires_us"},
    {"session", "tenant"},
    {"session", "boundary"},
};

#define COLUMNS (sizeof columns / sizeof columns[0])

/* One entry of each kind. It runs as a test, because the kit's assertions need one. */
START_TEST(fill)
{
    struct writ_reservation budget = writ_kit_budget();
    struct writ_entry put = {
        .kind = WRIT_ENTRY_SESSION_PUT,
        .session = {.hash = {{1}}, .value = WRIT_LIT("v"), .expires_us = INT64_MAX},
    };
    struct writ_kit_call *deny;

    writ_kit_init(&kit);
    writ_kit_sign_together(&kit);
    writ_kit_open(&kit);
    writ_kit_run(&kit, (spec){.boundary = "one"});
    ck_assert_int_eq(writ_kit_seal(&kit, "one", NULL), WRIT_OK);
    writ_kit_run(&kit, (spec){.key = "k", .reservations = &budget, .reservations_n = 1});
    deny = writ_kit_call(&kit, (spec){.route = WRIT_DECISION_DENY});
    (void)writ_kit_decide(&kit, deny);
    writ_kit_call_free(deny);
    writ_kit_call_free(writ_kit_granted(&kit, (spec){.argument = "b"}));
    ck_assert_int_eq(writ_kit_submit(&kit, &put), WRIT_OK);
    writ_kit_close(&kit);
}
END_TEST

static void
remove_template(void)
{
    writ_kit_wipe(&kit);
}

static void
make_template(void)
{
    const TTest *const tests[] = {fill};
    int fd;
    ssize_t size;

    (void)setenv("CK_FORK", "no", 1); /* it has to happen in this process */
    WRIT_INVARIANT(writ_unit_run("template", tests, 1) == 0);
    fd = open(kit.path, O_RDONLY);
    size = read(fd, template, sizeof template);
    WRIT_INVARIANT(size > 0 && size < (ssize_t)sizeof template);
    template_size = (size_t)size;
    (void)close(fd);
    (void)atexit(remove_template);
}

static void
restore_template(void)
{
    char side[128];
    int fd = open(kit.path, O_WRONLY | O_TRUNC);

    WRIT_INVARIANT(fd >= 0 && write(fd, template, template_size) == (ssize_t)template_size);
    (void)close(fd);
    (void)snprintf(side, sizeof side, "%s-wal", kit.path);
    (void)unlink(side);
    (void)snprintf(side, sizeof side, "%s-shm", kit.path);
    (void)unlink(side);
}

/* Four bytes a change: where, and what. */
static void
change_bytes(const uint8_t *data, size_t size)
{
    int fd = open(kit.path, O_WRONLY);

    for (size_t i = 0; i + 4 <= size && i < 4 * CHANGES_MAX; i += 4) {
        size_t at = ((size_t)data[i] << 16 | (size_t)data[i + 1] << 8 | data[i + 2]);

        (void)!pwrite(fd, &data[i + 3], 1, (off_t)(at % template_size));
    }
    (void)close(fd);
}

/* Column, row, type, and the bytes of the value. */
static void
change_rows(const uint8_t *data, size_t size)
{
    sqlite3 *db = NULL;

    WRIT_INVARIANT(sqlite3_open_v2(kit.path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK);
    for (size_t i = 0, n = 0; i + 4 <= size && n < CHANGES_MAX; n++) {
        size_t column = data[i] % COLUMNS, length = data[i + 3];
        sqlite3_stmt *statement = NULL;
        char sql[256];

        length = length < size - i - 4 ? length : size - i - 4;
        (void)snprintf(sql, sizeof sql, "UPDATE OR REPLACE %s SET %s = ?1 WHERE rowid = %d",
            columns[column].table, columns[column].column, data[i + 1] % 16);
        if (data[i + 2] == 255) {
            (void)snprintf(sql, sizeof sql, "DELETE FROM %s WHERE ?1 IS ?1 AND rowid = %d",
                columns[column].table, data[i + 1] % 16);
        }
        if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK) {
            if (data[i + 2] % 3 == 0) {
                (void)sqlite3_bind_int64(
                    statement, 1, length > 0 ? (int64_t)data[i + 4] - 8 : INT64_MAX);
            } else if (data[i + 2] % 3 == 1) {
                (void)sqlite3_bind_text(
                    statement, 1, (const char *)data + i + 4, (int)length, SQLITE_STATIC);
            } else {
                (void)sqlite3_bind_blob(statement, 1, data + i + 4, (int)length, SQLITE_STATIC);
            }
            (void)sqlite3_step(statement);
        }
        (void)sqlite3_finalize(statement);
        i += 4 + length;
    }
    (void)sqlite3_close(db);
}

/* ---- what holds ---- */

static bool
see(void *ctx, const struct writ_reader_item *item)
{
    WRIT_INVARIANT(item->decision_id.ptr != NULL);
    (*(int *)ctx)++;
    return true;
}

static bool
export_one(void *ctx, uint64_t leaf, enum writ_detached_record_kind kind, struct writ_view record)
{
    (void)leaf;
    WRIT_INVARIANT(record.ptr != NULL);
    (*(int *)ctx) += kind == WRIT_DETACHED_RECORD_DECISION ? 1 : 0;
    return true;
}

static void
check_reader(bool sound, uint64_t decisions)
{
    struct writ_arena *arena = writ_arena_new(4 << 20);
    struct writ_reader *reader = NULL;
    struct writ_completeness report;
    int listed = 0, exported = 0;
    writ_result result = writ_reader_open(kit.path, &reader, NULL);

    if (writ_is_ok(result)) {
        result = writ_reader_list(reader, &(struct writ_reader_filter){0}, see, &listed, NULL);
        WRIT_INVARIANT(!sound || (writ_is_ok(result) && (uint64_t)listed == decisions));
        result = writ_reader_export(reader, writ_view(NULL, 0), WRIT_LIT("one"), export_one,
            &exported, arena, &report, NULL);
        WRIT_INVARIANT(!sound || !writ_is_ok(result) || !report.sealed || report.whole);
    }
    WRIT_INVARIANT(!sound || reader != NULL);
    writ_reader_close(reader);
    writ_arena_free(arena);
}

static void
check_open(void)
{
    struct writ_ledger *ledger = NULL;

    if (!writ_is_ok(writ_ledger_open(kit.path, &kit.options, &ledger, NULL))) {
        return;
    }
    writ_ledger_close(ledger);
    ledger = NULL;
    WRIT_INVARIANT(writ_is_ok(writ_ledger_open(kit.path, &kit.options, &ledger, NULL)));
    writ_ledger_close(ledger);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct writ_verify_report report;
    bool sound;

    if (size < 1) {
        return 0;
    }
    if (template_size == 0) {
        make_template();
    }
    restore_template();
    if (data[0] % 2 == 0) {
        change_bytes(data + 1, size - 1);
    } else {
        change_rows(data + 1, size - 1);
    }
    sound = writ_is_ok(writ_verify_ledger(kit.path, kit.ring, NULL, NULL, &report, NULL)) &&
            report.problems == 0;
    check_reader(sound, report.decisions);
    if (data[0] % 4 < 2) {
        check_open();
    }
    return 0;
}
