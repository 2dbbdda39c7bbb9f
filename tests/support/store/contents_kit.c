/* As the gateway does it: the arguments are sealed with the draft, the result with the outcome. */
#include "support/store/contents_kit.h"

#include "evidence/json/digest.h"
#include "support/unit.h"

#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
writ_contents_kit_key(struct writ_kit *kit)
{
    struct writ_wrap_key *wrap = NULL;

    ck_assert_ok(writ_wrap_key_new(&wrap, NULL));
    ck_assert_ok(writ_keyring_add_wrap(kit->ring, wrap, WRIT_KIT_WALL_US, NULL));
}

static const struct writ_sealed *
seal(struct writ_kit *kit, struct writ_kit_call *call, enum writ_content_part part,
    const char *plain, int64_t for_us)
{
    struct writ_sealed *sealed = writ_arena_get(call->arena, sizeof *sealed);
    const struct writ_content_of of = {.decision_id = call->decision.decision_id.view,
        .part = part,
        .expires_us =
            atomic_load(&kit->wall_us) + (for_us != 0 ? for_us : WRIT_CONTENTS_KIT_KEPT_US)};

    ck_assert_ptr_nonnull(sealed);
    ck_assert_ok(writ_content_seal(
        writ_keyring_wrap(kit->ring), &of, writ_view_str(plain), call->arena, sealed, NULL));
    return sealed;
}

struct writ_kit_call *
writ_contents_kit_call(struct writ_kit *kit, struct writ_kit_spec spec, int64_t for_us)
{
    struct writ_kit_call *call;

    spec.route = spec.shadow ? spec.route : WRIT_DECISION_ALLOW;
    call = writ_kit_call(kit, spec);
    call->entry.decision.content = seal(
        kit, call, WRIT_CONTENT_ARGUMENTS, spec.argument == NULL ? "a" : spec.argument, for_us);
    return call;
}

void
writ_contents_kit_outcome(
    struct writ_kit *kit, struct writ_kit_call *call, const char *result, int64_t for_us)
{
    struct writ_digest digest;
    char text[WRIT_DIGEST_TEXT];

    ck_assert_ok(writ_digest_bytes(writ_view_str(result), &digest, NULL));
    writ_digest_text(&digest, text);
    writ_kit_outcome(call, WRIT_OUTCOME_EXECUTED, NULL);
    call->outcome.tool_output_hash =
        writ_member_text(writ_view_copy(writ_view_str(text), call->arena));
    call->entry.outcome.content = seal(kit, call, WRIT_CONTENT_RESULT, result, for_us);
}

void
writ_contents_kit_run(
    struct writ_kit *kit, struct writ_kit_spec spec, const char *result, int64_t for_us, char *id)
{
    struct writ_kit_call *call = writ_contents_kit_call(kit, spec, for_us);

    ck_assert_int_eq(writ_kit_decide(kit, call), WRIT_OK);
    ck_assert(call->entry.decision.granted);
    writ_contents_kit_outcome(kit, call, result, for_us);
    ck_assert_int_eq(writ_kit_submit(kit, &call->entry), WRIT_OK);
    if (id != NULL) {
        (void)snprintf(id, 32, WRIT_VIEW_FMT, WRIT_VIEW_ARG(call->decision.decision_id.view));
    }
    writ_kit_call_free(call);
}

struct writ_contents *
writ_contents_kit_open(struct writ_kit *kit)
{
    struct writ_contents *contents = NULL;
    struct writ_err err = {0};
    writ_result opened = writ_contents_open(kit->path, kit->ring, &kit->clock, &contents, &err);

    ck_assert_msg(writ_is_ok(opened), "%s", err.text);
    return contents;
}

/* ---- what is on disk ---- */

static int
compare_keys(const void *a, const void *b)
{
    return memcmp(a, b, WRIT_WRAPPED_BYTES);
}

struct writ_contents_kit_keys
writ_contents_kit_keys(struct writ_kit *kit, const char *condition)
{
    struct writ_contents_kit_keys keys = {0};
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    char sql[512];

    (void)snprintf(sql, sizeof sql, "SELECT wrapped FROM content_key WHERE %s", condition);
    ck_assert_int_eq(sqlite3_open(kit->path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    while (sqlite3_step(s) == SQLITE_ROW) {
        ck_assert_int_eq(sqlite3_column_bytes(s, 0), WRIT_WRAPPED_BYTES);
        keys.keys = realloc(keys.keys, (keys.n + 1) * sizeof *keys.keys);
        ck_assert_ptr_nonnull(keys.keys);
        memcpy(keys.keys[keys.n++], sqlite3_column_blob(s, 0), WRIT_WRAPPED_BYTES);
    }
    (void)sqlite3_finalize(s);
    (void)sqlite3_close(db);
    if (keys.n > 0) {
        qsort(keys.keys, keys.n, sizeof *keys.keys, compare_keys);
    }
    return keys;
}

void
writ_contents_kit_keys_free(struct writ_contents_kit_keys *keys)
{
    free(keys->keys);
    *keys = (struct writ_contents_kit_keys){0};
}

static char *
read_all(const char *dir, const char *name, size_t *ret_len)
{
    char path[512];
    char *bytes;
    FILE *file;
    long len;

    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
    len = ftell(file);
    rewind(file);
    bytes = malloc((size_t)len + 1);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_uint_eq(fread(bytes, 1, (size_t)len, file), (size_t)len);
    (void)fclose(file);
    *ret_len = (size_t)len;
    return bytes;
}

/* Gives every file of the folder to `fn`, and adds up. */
static size_t
each_file(
    struct writ_kit *kit, size_t (*fn)(struct writ_view file, const void *ctx), const void *ctx)
{
    DIR *dir = opendir(kit->dir);
    size_t sum = 0;

    ck_assert_ptr_nonnull(dir);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        if (entry->d_name[0] != '.') {
            size_t len = 0;
            char *bytes = read_all(kit->dir, entry->d_name, &len);

            sum += fn(writ_view(bytes, len), ctx);
            free(bytes);
        }
    }
    (void)closedir(dir);
    return sum;
}

static size_t
count_keys(struct writ_view file, const void *ctx)
{
    const struct writ_contents_kit_keys *keys = ctx;
    bool first[1 << 16] = {false};
    size_t n = 0;

    for (size_t i = 0; i < keys->n; i++) {
        first[keys->keys[i][0] << 8 | keys->keys[i][1]] = true;
    }
    for (size_t at = 0; at + WRIT_WRAPPED_BYTES <= file.len; at++) {
        const uint8_t *p = (const uint8_t *)file.ptr + at;

        n += first[p[0] << 8 | p[1]] &&
             bsearch(p, keys->keys, keys->n, sizeof *keys->keys, compare_keys) != NULL;
    }
    return n;
}

size_t
writ_contents_kit_remaining(struct writ_kit *kit, const struct writ_contents_kit_keys *keys)
{
    ck_assert_uint_gt(keys->n, 0);
    return each_file(kit, count_keys, keys);
}

static size_t
count_bytes(struct writ_view file, const void *ctx)
{
    const struct writ_view *bytes = ctx;
    size_t n = 0;

    for (size_t at = 0;
         (at += writ_view_search(writ_view_sub(file, at, file.len), *bytes)) < file.len; at++) {
        n++;
    }
    return n;
}

size_t
writ_contents_kit_count(struct writ_kit *kit, struct writ_view bytes)
{
    return each_file(kit, count_bytes, &bytes);
}

enum writ_code
writ_contents_kit_erase(struct writ_kit *kit, struct writ_entry_erase *erase)
{
    struct writ_entry entry = {.kind = WRIT_ENTRY_ERASE, .erase = *erase};
    enum writ_code code;

    entry.erase.by = WRIT_LIT("tester");
    code = writ_kit_submit(kit, &entry);
    *erase = entry.erase;
    return code;
}

void
writ_contents_kit_settle(struct writ_kit *kit)
{
    do {
        writ_kit_turn(kit);
    } while (writ_kit_health(kit).wal_uncut);
}
