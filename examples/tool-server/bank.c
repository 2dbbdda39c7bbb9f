/* Single use is the primary key of `used`: the transaction that inserts a jti first commits, and
 * every later one is refused, also after a crash and from another process. */
#include "bank.h"

#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* How long a use is kept beyond its expiry, so that a clock set back makes no credential usable
 * again. */
#define KEPT_S 3600

struct bank {
    sqlite3 *db;
};

static const char schema[] =
    "PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = FULL;"
    "PRAGMA busy_timeout = 5000;"
    "BEGIN IMMEDIATE;"
    "CREATE TABLE IF NOT EXISTS account (name TEXT PRIMARY KEY, cents INTEGER NOT NULL"
    " CHECK (cents >= 0), version INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS transfer (decision_id TEXT PRIMARY KEY, from_name TEXT NOT NULL,"
    " to_name TEXT NOT NULL, cents INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS used (jti TEXT PRIMARY KEY, until_s INTEGER NOT NULL)"
    " STRICT, WITHOUT ROWID;"
    "INSERT OR IGNORE INTO account VALUES ('alice', 10000, 0), ('bob', 5000, 0);"
    "COMMIT;";

static bool
failed(const struct bank *bank)
{
    fprintf(stderr, "bank: %s\n", sqlite3_errmsg(bank->db));
    return false;
}

static bool
execute(struct bank *bank, const char *sql)
{
    return sqlite3_exec(bank->db, sql, NULL, NULL, NULL) == SQLITE_OK || failed(bank);
}

struct bank *
bank_open(const char *path)
{
    struct bank *bank = calloc(1, sizeof *bank);

    if (bank == NULL) {
        return NULL;
    }
    if (sqlite3_open(path, &bank->db) != SQLITE_OK) {
        failed(bank);
        bank_close(bank);
        return NULL;
    }
    if (!execute(bank, schema)) {
        bank_close(bank);
        return NULL;
    }
    return bank;
}

void
bank_close(struct bank *bank)
{
    if (bank != NULL) {
        sqlite3_close(bank->db);
        free(bank);
    }
}

bool
bank_begin(struct bank *bank)
{
    return execute(bank, "BEGIN IMMEDIATE");
}

bool
bank_commit(struct bank *bank)
{
    return execute(bank, "COMMIT");
}

void
bank_rollback(struct bank *bank)
{
    execute(bank, "ROLLBACK");
}

/* ---- statements */

/* Prepares `sql` and binds its parameters, for each letter of `types` a struct writ_view (t) or an
 * int64_t (i). NULL on failure; free with sqlite3_finalize. */
static sqlite3_stmt *
prepare(struct bank *bank, const char *sql, const char *types, va_list values)
{
    sqlite3_stmt *statement = NULL;
    int bound = sqlite3_prepare_v2(bank->db, sql, -1, &statement, NULL);

    for (int i = 1; bound == SQLITE_OK && types[i - 1] != '\0'; i++) {
        if (types[i - 1] == 't') {
            struct writ_view text = va_arg(values, struct writ_view);
            bound = sqlite3_bind_text64(
                statement, i, text.ptr, text.len, SQLITE_TRANSIENT, SQLITE_UTF8);
        } else {
            bound = sqlite3_bind_int64(statement, i, va_arg(values, int64_t));
        }
    }
    if (bound != SQLITE_OK) {
        failed(bank);
        sqlite3_finalize(statement);
        return NULL;
    }
    return statement;
}

/* Runs a statement that gives no rows. */
static bool
change(struct bank *bank, const char *sql, const char *types, ...)
{
    sqlite3_stmt *statement;
    va_list values;
    bool done;

    va_start(values, types);
    statement = prepare(bank, sql, types, values);
    va_end(values);
    done = statement != NULL && (sqlite3_step(statement) == SQLITE_DONE || failed(bank));
    sqlite3_finalize(statement);
    return done;
}

static sqlite3_stmt *
query(struct bank *bank, const char *sql, const char *types, ...)
{
    sqlite3_stmt *statement;
    va_list values;

    va_start(values, types);
    statement = prepare(bank, sql, types, values);
    va_end(values);
    return statement;
}

/* ---- accounts */

enum bank_result
bank_account(struct bank *bank, struct writ_view name, struct bank_account *ret_account)
{
    sqlite3_stmt *row = query(bank, "SELECT cents, version FROM account WHERE name = ?", "t", name);
    int step = row != NULL ? sqlite3_step(row) : SQLITE_ERROR;
    enum bank_result result = BANK_FAILED;

    if (step == SQLITE_ROW) {
        *ret_account =
            (struct bank_account){sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1)};
        result = BANK_DONE;
    } else if (step == SQLITE_DONE) {
        result = BANK_NO_ACCOUNT;
    } else {
        failed(bank);
    }
    sqlite3_finalize(row);
    return result;
}

static bool
add(struct bank *bank, struct writ_view name, int64_t cents)
{
    return change(bank,
        "UPDATE account SET cents = cents + ?, version = version + 1 WHERE name = ?", "it", cents,
        name);
}

enum bank_result
bank_transfer(struct bank *bank, const struct bank_transfer *transfer)
{
    struct bank_account from, to;
    enum bank_result result = bank_account(bank, transfer->from, &from);

    if (result == BANK_DONE) {
        result = bank_account(bank, transfer->to, &to);
    }
    if (result != BANK_DONE) {
        return result;
    }
    if (from.cents < transfer->cents) {
        return BANK_NOT_ENOUGH;
    }
    return add(bank, transfer->from, -transfer->cents) &&
                   add(bank, transfer->to, transfer->cents) &&
                   change(bank, "INSERT INTO transfer VALUES (?, ?, ?, ?)", "ttti",
                       transfer->decision_id, transfer->from, transfer->to, transfer->cents)
               ? BANK_DONE
               : BANK_FAILED;
}

/* ---- single use */

enum writ_verify_use
bank_use(void *ctx, struct writ_view jti, int64_t until_s)
{
    struct bank *bank = ctx;

    if (!change(bank, "DELETE FROM used WHERE until_s < ?", "i", (int64_t)time(NULL) - KEPT_S) ||
        !change(bank, "INSERT OR IGNORE INTO used VALUES (?, ?)", "ti", jti, until_s)) {
        return WRIT_VERIFY_USE_UNKNOWN;
    }
    return sqlite3_changes(bank->db) == 1 ? WRIT_VERIFY_USE_FRESH : WRIT_VERIFY_USE_SPENT;
}
