/* The file of accepted tool definitions. It loads only as a whole and signed by a key of the
 * ledger that is not revoked. */
#include "support/evidence/keys.h"
#include "support/unit.h"

#include "base/text.h"
#include "store/trusted/definitions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOW_US 1000000

static char top[64], store[128], file[160], seen_file[160];
static struct writ_keyring *keys;

static void
setup(void)
{
    (void)snprintf(top, sizeof top, "/tmp/writ-definitions-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(top));
    (void)snprintf(store, sizeof store, "%s/l.db", top);
    (void)snprintf(file, sizeof file, "%s/l.db.accepted.json", top);
    (void)snprintf(seen_file, sizeof seen_file, "%s/l.db.seen.json", top);
    ck_assert_ok(writ_keyring_new(&keys, NULL));
    ck_assert_ok(writ_keyring_add(
        keys, WRIT_KEY_PURPOSE_LEDGER, writ_keys_signer(WRIT_JWK_ALG_EDDSA), NOW_US, NULL));
    ck_assert_ok(writ_keyring_add(
        keys, WRIT_KEY_PURPOSE_CREDENTIAL, writ_keys_signer(WRIT_JWK_ALG_ES256), NOW_US, NULL));
}

static void
teardown(void)
{
    (void)unlink(file);
    (void)unlink(seen_file);
    (void)rmdir(top);
    writ_keyring_free(keys);
}

static struct writ_definition
definition_of(const char *name, const char *text)
{
    struct writ_definition made = {.name = writ_view_str(name),
        .text = writ_view_str(text),
        .at = WRIT_LIT("2026-11-21T22:20:00.000000Z")};

    ck_assert_ok(writ_digest_bytes(made.text, &made.digest, NULL));
    return made;
}

static void
put(struct writ_definitions *definitions, const char *name, const char *text)
{
    struct writ_definition made = definition_of(name, text);

    ck_assert_ok(writ_definitions_put(definitions, &made, NULL));
}

#define LEDGER WRIT_KEY_PURPOSE_LEDGER

static writ_result
save(enum writ_definitions_kind kind, const struct writ_definitions *definitions,
    enum writ_key_purpose purpose)
{
    return writ_definitions_save(
        store, kind, definitions, writ_keyring_active(keys, purpose), NULL);
}

static void
write_text(const char *text)
{
    FILE *out = fopen(file, "w");

    ck_assert_ptr_nonnull(out);
    (void)fputs(text, out);
    (void)fclose(out);
    ck_assert_int_eq(chmod(file, 0600), 0);
}

static void
assert_refused(enum writ_code code)
{
    struct writ_definitions *none = NULL;
    struct writ_err err = {{0}, 0, 0};

    ck_assert_code(
        writ_definitions_load(store, WRIT_DEFINITIONS_ACCEPTED, keys, &none, &err), code);
    ck_assert_ptr_null(none);
    ck_assert_str_ne(err.text, "");
}

START_TEST(definitions_put_keeps_the_order_of_names)
{
    struct writ_definitions *definitions = NULL;

    ck_assert_ok(writ_definitions_new(&definitions, NULL));
    put(definitions, "b/x", "{\"name\":\"x\"}");
    put(definitions, "a/y", "{\"name\":\"y\"}");
    put(definitions, "b/x", "{\"name\":\"x\",\"z\":1}");
    ck_assert_uint_eq(definitions->n, 2);
    ck_assert_view(definitions->items[0].name, "a/y");
    ck_assert_view(
        writ_definitions_find(definitions, WRIT_LIT("b/x"))->text, "{\"name\":\"x\",\"z\":1}");
    ck_assert_ptr_null(writ_definitions_find(definitions, WRIT_LIT("b")));
    writ_definitions_free(definitions);
    writ_definitions_free(NULL);
}
END_TEST

START_TEST(saved_definitions_are_loaded_and_private)
{
    struct writ_definitions *definitions = NULL, *again = NULL;
    struct stat status;

    setup();
    assert_refused(WRIT_E_ABSENT);
    ck_assert_ok(writ_definitions_new(&definitions, NULL));
    put(definitions, "a/y", "{\"description\":\"\xc3\xa9\",\"name\":\"y\"}");
    ck_assert_ok(save(WRIT_DEFINITIONS_ACCEPTED, definitions, LEDGER));
    ck_assert_int_eq(stat(file, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0600);
    ck_assert_ok(writ_definitions_load(store, WRIT_DEFINITIONS_ACCEPTED, keys, &again, NULL));
    ck_assert_uint_eq(again->n, 1);
    ck_assert_view(again->items[0].text, "{\"description\":\"\xc3\xa9\",\"name\":\"y\"}");
    ck_assert_view(again->items[0].at, "2026-11-21T22:20:00.000000Z");
    ck_assert(writ_digest_equal(&again->items[0].digest, &definitions->items[0].digest));
    writ_definitions_free(definitions);
    writ_definitions_free(again);
    teardown();
}
END_TEST

START_TEST(definitions_load_of_a_doubtful_file_is_refused)
{
    setup();
    write_text("{\"tools\":{},\"version\":3}");
    assert_refused(WRIT_E_INVALID);
    write_text("{\"tools\":[],\"version\":2}");
    assert_refused(WRIT_E_INVALID);
    write_text("{\"tools\":{},\"version\":2");
    assert_refused(WRIT_E_PARSE);
    write_text("{\"tools\":{\"a/b\":{\"at\":\"x\",\"digest\":\"sha256:00\",\"definition\":{}}},"
               "\"version\":2}");
    assert_refused(WRIT_E_PARSE);
    write_text("{\"tools\":{\"a/b\":{\"at\":\"x\",\"digest\":\"sha256:"
               "0000000000000000000000000000000000000000000000000000000000000000\","
               "\"definition\":{}}},\"version\":2}");
    assert_refused(WRIT_E_MISMATCH);
    write_text("{\"tools\":{\"a/b\":{\"at\":\"x\"}},\"version\":2}");
    assert_refused(WRIT_E_INVALID);
    write_text("{\"tools\":{},\"version\":2}");
    assert_refused(WRIT_E_MISMATCH); /* not signed */
    write_text("{\"signature\":\"a.b.c\",\"tools\":{},\"version\":2}");
    assert_refused(WRIT_E_PARSE);
    ck_assert_int_eq(chmod(file, 0620), 0);
    assert_refused(WRIT_E_INVALID);
    ck_assert_int_eq(chmod(file, 0600), 0);
    ck_assert_int_eq(chmod(top, 0777), 0);
    assert_refused(WRIT_E_INVALID);
    ck_assert_int_eq(chmod(top, 0700), 0);
    teardown();
}
END_TEST

/* The text of the file with `from` replaced by `to`, which is as long. */
static void
edit(const char *from, const char *to)
{
    char text[4096], *at;
    FILE *in = fopen(file, "r");
    size_t n;

    ck_assert_ptr_nonnull(in);
    n = fread(text, 1, sizeof text - 1, in);
    (void)fclose(in);
    text[n] = '\0';
    at = strstr(text, from);
    ck_assert_ptr_nonnull(at);
    (void)memcpy(at, to, strlen(to));
    write_text(text);
}

START_TEST(definitions_load_without_a_ledger_signature_is_refused)
{
    struct writ_definitions *definitions = NULL, *again = NULL;
    struct writ_keyring *own;

    setup();
    ck_assert_ok(writ_definitions_new(&definitions, NULL));
    put(definitions, "a/x", "{\"name\":\"x\"}");
    ck_assert_ok(save(WRIT_DEFINITIONS_ACCEPTED, definitions, LEDGER));
    edit("a/x", "a/y"); /* the very definition for another tool */
    assert_refused(WRIT_E_MISMATCH);
    edit("a/y", "a/x");
    ck_assert_ok(writ_definitions_load(store, WRIT_DEFINITIONS_ACCEPTED, keys, &again, NULL));
    writ_definitions_free(again);
    edit("22:20", "22:21");
    assert_refused(WRIT_E_MISMATCH);
    ck_assert_ok(save(WRIT_DEFINITIONS_ACCEPTED, definitions, WRIT_KEY_PURPOSE_CREDENTIAL));
    assert_refused(WRIT_E_MISMATCH);
    ck_assert_ok(save(WRIT_DEFINITIONS_SEEN, definitions, LEDGER));
    ck_assert_int_eq(rename(seen_file, file), 0);
    assert_refused(WRIT_E_MISMATCH);
    ck_assert_ok(save(WRIT_DEFINITIONS_ACCEPTED, definitions, LEDGER));
    own = keys;
    ck_assert_ok(writ_keyring_new(&keys, NULL));
    assert_refused(WRIT_E_MISMATCH);
    writ_keyring_free(keys);
    keys = own;
    ck_assert_code(writ_definitions_save(store, WRIT_DEFINITIONS_ACCEPTED, definitions, NULL, NULL),
        WRIT_E_ABSENT);
    writ_definitions_free(definitions);
    teardown();
}
END_TEST

START_TEST(definitions_load_accepts_rotated_and_retired_keys_and_refuses_revoked_ones)
{
    struct writ_definitions *definitions = NULL, *again = NULL;
    const struct writ_signer *first;
    char kid[WRIT_JWK_KID_MAX + 1];
    struct writ_view name;

    setup();
    first = writ_keyring_active(keys, LEDGER);
    name = writ_view_place(writ_jwk_kid(writ_signer_jwk(first)), kid);
    ck_assert_ok(writ_definitions_new(&definitions, NULL));
    put(definitions, "a/x", "{\"name\":\"x\"}");
    ck_assert_ok(save(WRIT_DEFINITIONS_ACCEPTED, definitions, LEDGER));
    ck_assert_ok(
        writ_keyring_rotate(keys, LEDGER, writ_keys_signer(WRIT_JWK_ALG_EDDSA), 2 * NOW_US, NULL));
    ck_assert_ok(writ_definitions_load(store, WRIT_DEFINITIONS_ACCEPTED, keys, &again, NULL));
    writ_definitions_free(WRIT_TAKE(again));
    ck_assert_ok(writ_keyring_retire(keys, name, 3 * NOW_US, NULL));
    ck_assert_ok(writ_definitions_load(store, WRIT_DEFINITIONS_ACCEPTED, keys, &again, NULL));
    writ_definitions_free(WRIT_TAKE(again));
    ck_assert_ok(writ_keyring_revoke(keys, name, NOW_US, NULL, 4 * NOW_US, NULL));
    assert_refused(WRIT_E_MISMATCH);
    writ_definitions_free(definitions);
    teardown();
}
END_TEST

START_TEST(definitions_load_of_seen_ones_under_a_revoked_key_is_absent)
{
    struct writ_definitions *definitions = NULL, *none = NULL;
    char kid[WRIT_JWK_KID_MAX + 1];
    struct writ_view name;

    setup();
    name = writ_view_place(writ_jwk_kid(writ_signer_jwk(writ_keyring_active(keys, LEDGER))), kid);
    ck_assert_ok(writ_definitions_new(&definitions, NULL));
    put(definitions, "a/x", "{\"name\":\"x\"}");
    ck_assert_ok(save(WRIT_DEFINITIONS_SEEN, definitions, LEDGER));
    ck_assert_ok(
        writ_keyring_rotate(keys, LEDGER, writ_keys_signer(WRIT_JWK_ALG_EDDSA), 2 * NOW_US, NULL));
    ck_assert_ok(writ_keyring_revoke(keys, name, NOW_US, NULL, 4 * NOW_US, NULL));
    ck_assert_code(
        writ_definitions_load(store, WRIT_DEFINITIONS_SEEN, keys, &none, NULL), WRIT_E_ABSENT);
    ck_assert_ptr_null(none);
    writ_definitions_free(definitions);
    teardown();
}
END_TEST

START_TEST(definitions_save_omits_those_without_text)
{
    struct writ_definitions *definitions = NULL, *again = NULL;

    setup();
    ck_assert_ok(writ_definitions_new(&definitions, NULL));
    put(definitions, "a/x", "{\"name\":\"x\"}");
    put(definitions, "a/y", "");
    ck_assert_ok(save(WRIT_DEFINITIONS_ACCEPTED, definitions, LEDGER));
    ck_assert_ok(writ_definitions_load(store, WRIT_DEFINITIONS_ACCEPTED, keys, &again, NULL));
    ck_assert_uint_eq(again->n, 1);
    ck_assert_ptr_null(writ_definitions_find(NULL, WRIT_LIT("a/x")));
    writ_definitions_free(again);
    writ_definitions_free(definitions);
    teardown();
}
END_TEST

START_TEST(definitions_put_beyond_the_limit_is_refused)
{
    struct writ_definitions *definitions = NULL;
    struct writ_definition one_more = definition_of("one-more", "{}");

    ck_assert_ok(writ_definitions_new(&definitions, NULL));
    for (int i = 0; i < WRIT_DEFINITIONS_MAX; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "a/%05d", i);
        put(definitions, name, "{}");
    }
    ck_assert_code(writ_definitions_put(definitions, &one_more, NULL), WRIT_E_LIMIT);
    ck_assert_uint_eq(definitions->n, WRIT_DEFINITIONS_MAX);
    put(definitions, "a/00000", "[]");
    writ_definitions_free(definitions);
}
END_TEST

WRIT_UNIT_MAIN("definitions", definitions_put_keeps_the_order_of_names,
    saved_definitions_are_loaded_and_private, definitions_load_of_a_doubtful_file_is_refused,
    definitions_load_without_a_ledger_signature_is_refused,
    definitions_load_accepts_rotated_and_retired_keys_and_refuses_revoked_ones,
    definitions_load_of_seen_ones_under_a_revoked_key_is_absent,
    definitions_save_omits_those_without_text, definitions_put_beyond_the_limit_is_refused)
