#include "support/unit.h"

#include "base/text.h"
#include "store/definitions.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[64], store[128], file[160];

static void
setup(void)
{
    (void)snprintf(top, sizeof top, "/tmp/writ-definitions-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(top));
    (void)snprintf(store, sizeof store, "%s/l.db", top);
    (void)snprintf(file, sizeof file, "%s/l.db.accepted.json", top);
}

static void
teardown(void)
{
    (void)unlink(file);
    (void)rmdir(top);
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

    ck_assert_code(writ_definitions_load(store, WRIT_DEFINITIONS_ACCEPTED, &none, &err), code);
    ck_assert_ptr_null(none);
    ck_assert_str_ne(err.text, "");
}

START_TEST(what_is_put_is_found_in_the_order_of_names)
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

START_TEST(what_is_saved_is_loaded_and_nobody_else_may_read_it)
{
    struct writ_definitions *definitions = NULL, *again = NULL;
    struct stat status;

    setup();
    assert_refused(WRIT_E_ABSENT);
    ck_assert_ok(writ_definitions_new(&definitions, NULL));
    put(definitions, "a/y", "{\"description\":\"\xc3\xa9\",\"name\":\"y\"}");
    ck_assert_ok(writ_definitions_save(store, WRIT_DEFINITIONS_ACCEPTED, definitions, NULL));
    ck_assert_int_eq(stat(file, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0600);
    ck_assert_ok(writ_definitions_load(store, WRIT_DEFINITIONS_ACCEPTED, &again, NULL));
    ck_assert_uint_eq(again->n, 1);
    ck_assert_view(again->items[0].text, "{\"description\":\"\xc3\xa9\",\"name\":\"y\"}");
    ck_assert_view(again->items[0].at, "2026-11-21T22:20:00.000000Z");
    ck_assert(writ_digest_equal(&again->items[0].digest, &definitions->items[0].digest));
    writ_definitions_free(definitions);
    writ_definitions_free(again);
    teardown();
}
END_TEST

START_TEST(a_file_in_doubt_is_refused_whole)
{
    setup();
    write_text("{\"tools\":{},\"version\":2}");
    assert_refused(WRIT_E_INVALID);
    write_text("{\"tools\":[],\"version\":1}");
    assert_refused(WRIT_E_INVALID);
    write_text("{\"tools\":{},\"version\":1");
    assert_refused(WRIT_E_PARSE);
    write_text("{\"tools\":{\"a/b\":{\"at\":\"x\",\"digest\":\"sha256:00\",\"definition\":{}}},"
               "\"version\":1}");
    assert_refused(WRIT_E_PARSE);
    write_text("{\"tools\":{\"a/b\":{\"at\":\"x\",\"digest\":\"sha256:"
               "0000000000000000000000000000000000000000000000000000000000000000\","
               "\"definition\":{}}},\"version\":1}");
    assert_refused(WRIT_E_MISMATCH);
    write_text("{\"tools\":{\"a/b\":{\"at\":\"x\"}},\"version\":1}");
    assert_refused(WRIT_E_INVALID);
    write_text("{\"tools\":{},\"version\":1}");
    ck_assert_int_eq(chmod(file, 0620), 0);
    assert_refused(WRIT_E_INVALID);
    ck_assert_int_eq(chmod(file, 0600), 0);
    ck_assert_int_eq(chmod(top, 0777), 0);
    assert_refused(WRIT_E_INVALID);
    ck_assert_int_eq(chmod(top, 0700), 0);
    teardown();
}
END_TEST

START_TEST(as_many_as_the_limit_says_and_no_more)
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

WRIT_UNIT_MAIN("definitions", what_is_put_is_found_in_the_order_of_names,
    what_is_saved_is_loaded_and_nobody_else_may_read_it, a_file_in_doubt_is_refused_whole,
    as_many_as_the_limit_says_and_no_more)
