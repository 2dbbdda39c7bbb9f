/* kept_sample.c - makes a ledger whose calls a test has written down, with kept arguments:
 *     kept_sample PATH KEYS <CALLS
 * CALLS is a JSON array of {at_us, decision, kept, redacted, keep_us, outcome}: `decision` is the
 * record without the members that the ledger gives it, and with params_hash; `kept`, text, is kept
 * with it for `keep_us`, and null keeps nothing; `outcome` is that of a granted call; an
 * `error` was not sent. The clock of the ledger stands at `at_us`. Makes the key directory too. */
#include "evidence/record/derive.h"
#include "evidence/record/profile.h"
#include "store/ledger/ledger.h"
#include "store/trusted/keydir.h"
#include "support/unit.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define INPUT_MAX ((size_t)16 << 20)
#define ARENA_MAX ((size_t)256 << 20)

static _Atomic int64_t wall_us;
static sem_t done;

static int64_t
now(void *ctx)
{
    (void)ctx;
    return atomic_fetch_add(&wall_us, 1);
}

static const struct writ_clock sample_clock = {now, now, NULL};

static void
on_done(struct writ_entry *entry)
{
    (void)entry;
    (void)sem_post(&done);
}

static int64_t
number(const struct writ_json *object, const char *name)
{
    int64_t value = 0;

    (void)writ_is_ok(writ_json_integer(
        writ_json_get(object, writ_view_str(name)), INT64_MIN, INT64_MAX, &value));
    return value;
}

static struct writ_keyring *
make_keys(const char *folder)
{
    struct writ_keydir *dir = NULL;
    struct writ_keyring *ring = NULL;
    struct writ_signer *signer = NULL;
    struct writ_wrap_key *wrap = NULL;

    ck_assert_ok(writ_keydir_open(folder, true, &dir, NULL));
    ck_assert_ok(writ_signer_new(WRIT_JWK_ALG_EDDSA, &signer, NULL));
    ck_assert_ok(writ_keyring_add(writ_keydir_ring(dir), WRIT_KEY_PURPOSE_LEDGER, signer, 0, NULL));
    ck_assert_ok(writ_wrap_key_new(&wrap, NULL));
    ck_assert_ok(writ_keyring_add_wrap(writ_keydir_ring(dir), wrap, 0, NULL));
    ck_assert_ok(writ_keydir_save(dir, NULL));
    writ_keydir_close(dir);
    ck_assert_ok(writ_keydir_load(folder, &ring, NULL));
    return ring;
}

static void
submit(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct writ_entry *entries[] = {entry};

    entry->done = on_done;
    ck_assert_ok(writ_ledger_submit(ledger, entries, 1));
    while (sem_wait(&done) != 0) {
    }
    ck_assert_int_eq(entry->code, WRIT_OK);
}

static void
seal(const struct writ_keyring *ring, const struct writ_json *call, const struct writ_decision *d,
    struct writ_arena *arena, struct writ_sealed *ret)
{
    const struct writ_content_of of = {.decision_id = d->decision_id.view,
        .part = WRIT_CONTENT_ARGUMENTS,
        .redacted = writ_json_type(writ_json_get(call, WRIT_LIT("redacted"))) == WRIT_JSON_TRUE,
        .expires_us = number(call, "at_us") + number(call, "keep_us")};

    ck_assert_ok(writ_content_seal(writ_keyring_wrap(ring), &of,
        writ_json_string(writ_json_get(call, WRIT_LIT("kept"))), arena, ret, NULL));
}

static void
make_call(struct writ_ledger *ledger, const struct writ_keyring *ring, const struct writ_json *call,
    struct writ_arena *arena)
{
    struct writ_decision d = {0};
    struct writ_outcome outcome;
    struct writ_sealed sealed = {0};
    struct writ_extension extension = {0};
    enum writ_outcome_kind kind = WRIT_OUTCOME_EXECUTED;
    struct writ_entry entry = {.kind = WRIT_ENTRY_DECISION, .arena = arena};

    ck_assert_ok(writ_decision_read(writ_json_get(call, WRIT_LIT("decision")), arena, &d, NULL));
    ck_assert_ok(writ_extension_read(&d.extensions, arena, &extension, NULL));
    ck_assert_ok(writ_decision_derive(&d, writ_profile_default(), arena, NULL));
    atomic_store(&wall_us, number(call, "at_us"));
    entry.decision = (struct writ_entry_decision){.draft = &d,
        .profile = writ_profile_default(),
        .tenant = writ_member_view(&extension.tenant),
        .lifetime_us = 60000000,
        .shadow = extension.shadow.is == WRIT_PRESENT,
        .duplicates = WRIT_DUPLICATES_ALLOW};
    if (writ_json_type(writ_json_get(call, WRIT_LIT("kept"))) == WRIT_JSON_STRING) {
        seal(ring, call, &d, arena, &sealed);
        entry.decision.content = &sealed;
    }
    submit(ledger, &entry);
    if (!entry.decision.granted) {
        return;
    }
    (void)writ_outcome_kind_find(writ_json_string(writ_json_get(call, WRIT_LIT("outcome"))), &kind);
    outcome = writ_outcome_for(&d, kind);
    if (kind == WRIT_OUTCOME_ERROR) {
        outcome.error_type = writ_member_text(WRIT_LIT(WRIT_OUTCOME_NOT_SENT));
    }
    entry = (struct writ_entry){.kind = WRIT_ENTRY_OUTCOME,
        .arena = arena,
        .outcome = {.leaf = entry.decision.leaf,
            .decision = &d,
            .profile = writ_profile_default(),
            .outcome = &outcome}};
    submit(ledger, &entry);
}

static const char *path, *keys;

static const struct writ_json *
read_calls(struct writ_buf *text, struct writ_arena *arena)
{
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *calls = NULL;
    char bytes[4096];
    size_t n;

    while ((n = fread(bytes, 1, sizeof bytes, stdin)) > 0) {
        writ_buf_put(text, writ_view(bytes, n));
    }
    limits.bytes = INPUT_MAX;
    ck_assert_ok(writ_json_read(writ_buf_view(text), &limits, arena, &calls, NULL));
    return calls;
}

START_TEST(fill)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    writ_auto_buf text = writ_buf_make(INPUT_MAX);
    struct writ_ledger_options options = writ_ledger_options_default;
    const struct writ_json *calls = read_calls(&text, arena);
    struct writ_keyring *ring = make_keys(keys);
    struct writ_ledger *ledger = NULL;

    ck_assert_int_eq(sem_init(&done, 0, 0), 0);
    atomic_store(&wall_us, number(writ_json_first(calls), "at_us") - 1000000);
    options.clock = &sample_clock;
    options.keyring = ring;
    ck_assert_ok(writ_ledger_create(path, (struct writ_view){0}, &sample_clock, NULL));
    ck_assert_ok(writ_ledger_open(path, &options, &ledger, NULL));
    WRIT_JSON_EACH(call, calls)
    {
        make_call(ledger, ring, call, arena);
    }
    writ_ledger_close(ledger);
    writ_keyring_free(ring);
}
END_TEST

int
main(int argc, char **argv)
{
    const TTest *const tests[] = {fill};

    (void)setenv("CK_FORK", "no", 1);
    if (argc != 3) {
        return 2;
    }
    path = argv[1];
    keys = argv[2];
    return writ_unit_run("kept", tests, 1);
}
