/* Kept policies: a file is named by the digest of what it holds, and read only as such. */
#include "support/unit.h"

#include "base/text.h"
#include "store/trusted/policies.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[64], store[128], folder[160];

static void
setup(void)
{
    (void)snprintf(top, sizeof top, "/tmp/writ-policies-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(top));
    (void)snprintf(store, sizeof store, "%s/l.db", top);
    (void)snprintf(folder, sizeof folder, "%s/l.db.policies", top);
}

static void
path_of(const struct writ_digest *digest, char ret[256])
{
    char text[WRIT_DIGEST_TEXT];

    writ_digest_text(digest, text);
    (void)snprintf(ret, 256, "%s/%s.json", folder, text + sizeof "sha256:" - 1);
}

static struct writ_digest
keep(const char *text)
{
    struct writ_digest digest;

    ck_assert_ok(writ_digest_bytes(writ_view_str(text), &digest, NULL));
    ck_assert_ok(writ_policies_keep(store, &digest, writ_view_str(text), NULL));
    return digest;
}

static void
drop(const struct writ_digest *digest)
{
    char path[256];

    path_of(digest, path);
    ck_assert_int_eq(unlink(path), 0);
}

static size_t
count(void)
{
    writ_auto_arena arena = writ_arena_new(1 << 20);
    struct writ_kept_policy *kept = NULL;
    size_t n = 0;

    ck_assert_ok(writ_policies_list(store, arena, &kept, &n, NULL));
    for (size_t i = 0; i < n; i++) {
        ck_assert_int_gt(kept[i].at_us, 0);
    }
    return n;
}

START_TEST(policies_keep_and_read_give_the_text_back)
{
    writ_auto_buf text = writ_buf_make(64), none = writ_buf_make(64);
    struct writ_digest one, two;

    setup();
    ck_assert_uint_eq(count(), 0); /* without a folder */
    one = keep("{\"a\":1}");
    two = keep("{\"a\":2}");
    (void)keep("{\"a\":1}");
    ck_assert_uint_eq(count(), 2);
    ck_assert_ok(writ_policies_read(store, &two, &text, NULL));
    ck_assert(writ_view_is(writ_buf_view(&text), "{\"a\":2}"));
    drop(&two);
    ck_assert_int_eq(writ_policies_read(store, &two, &none, NULL).code, WRIT_E_ABSENT);
    drop(&one);
    ck_assert_int_eq(rmdir(folder), 0);
    ck_assert_int_eq(rmdir(top), 0);
}
END_TEST

START_TEST(policies_read_refuses_another_text)
{
    writ_auto_buf text = writ_buf_make(64);
    struct writ_digest one;
    char path[256];
    FILE *file;

    setup();
    one = keep("{\"a\":1}");
    path_of(&one, path);
    file = fopen(path, "we");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs("{\"a\":9}", file), 0);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(writ_policies_read(store, &one, &text, NULL).code, WRIT_E_MISMATCH);
    drop(&one);
    ck_assert_int_eq(chmod(folder, S_IRWXU | S_IRWXG), 0); /* others may write to it */
    ck_assert_int_eq(
        writ_policies_keep(store, &one, WRIT_LIT("{\"a\":1}"), NULL).code, WRIT_E_INVALID);
    ck_assert_int_eq(rmdir(folder), 0);
    ck_assert_int_eq(rmdir(top), 0);
}
END_TEST

START_TEST(policies_keep_beyond_the_limit_deletes_the_oldest)
{
    struct writ_digest first = {{0}}, last = {{0}};
    writ_auto_arena arena = writ_arena_new(1 << 20);
    struct writ_kept_policy *kept = NULL;
    writ_auto_buf text = writ_buf_make(64);
    size_t n = 0;
    char one[32];

    setup();
    for (int i = 0; i <= WRIT_POLICIES_MAX; i++) {
        (void)snprintf(one, sizeof one, "{\"a\":%d}", i);
        last = keep(one);
        first = i == 0 ? last : first;
    }
    ck_assert_uint_eq(count(), WRIT_POLICIES_MAX);
    ck_assert_int_eq(writ_policies_read(store, &first, &text, NULL).code, WRIT_E_ABSENT);
    ck_assert_ok(writ_policies_read(store, &last, &text, NULL));
    ck_assert_ok(writ_policies_list(store, arena, &kept, &n, NULL));
    for (size_t i = 0; i < n; i++) {
        drop(&kept[i].digest);
    }
    ck_assert_int_eq(rmdir(folder), 0);
    ck_assert_int_eq(rmdir(top), 0);
}
END_TEST

WRIT_UNIT_MAIN("policies", policies_keep_and_read_give_the_text_back,
    policies_read_refuses_another_text, policies_keep_beyond_the_limit_deletes_the_oldest)
