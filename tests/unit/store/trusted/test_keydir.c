/* The key directory. Keys and files that others can change are refused, private halves go with
 * their key, and a change is whole or did not happen. */
#include "support/evidence/keys.h"
#include "support/unit.h"

#include "base/text.h"
#include "store/trusted/keydir.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define CREDENTIAL WRIT_KEY_PURPOSE_CREDENTIAL
#define LEDGER     WRIT_KEY_PURPOSE_LEDGER

static char top[64];  /* of this test */
static char keys[80]; /* the key directory in it */

static void
setup(void)
{
    (void)snprintf(top, sizeof(top), "/tmp/writ-keydir-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(top));
    (void)snprintf(keys, sizeof(keys), "%s/keys", top);
}

static void
remove_all(const char *folder)
{
    DIR *dir = opendir(folder);
    char path[512];

    for (struct dirent *entry = dir != NULL ? readdir(dir) : NULL; entry != NULL;
         entry = readdir(dir)) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            (void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
            if (unlink(path) != 0) {
                remove_all(path);
            }
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    (void)rmdir(folder);
}

static void
teardown(void)
{
    remove_all(top);
}

/* "<keys>/<name>" */
static const char *
in_keys(const char *name)
{
    static char path[512];

    (void)snprintf(path, sizeof(path), "%s/%s", keys, name);
    return path;
}

/* The private key file of the active key. */
static const char *
active_pem(const struct writ_keyring *ring, enum writ_key_purpose purpose)
{
    struct writ_view kid = writ_jwk_kid(writ_signer_jwk(writ_keyring_active(ring, purpose)));
    char name[128];

    (void)snprintf(name, sizeof(name), WRIT_VIEW_FMT ".pem", WRIT_VIEW_ARG(kid));
    return in_keys(name);
}

static struct writ_keydir *
opened(bool create)
{
    struct writ_keydir *dir = NULL;
    struct writ_err err = {0};

    ck_assert_msg(writ_is_ok(writ_keydir_open(keys, create, &dir, &err)), "%s", err.text);
    return dir;
}

static struct writ_keyring *
loaded(void)
{
    struct writ_keyring *ring = NULL;
    struct writ_err err = {0};

    ck_assert_msg(writ_is_ok(writ_keydir_load(keys, &ring, &err)), "%s", err.text);
    return ring;
}

/* A directory with an active key. */
static void
make_keys(void)
{
    struct writ_keydir *dir = opened(true);

    ck_assert_ok(writ_keyring_add(
        writ_keydir_ring(dir), CREDENTIAL, writ_keys_signer(WRIT_JWK_ALG_ES256), 1, NULL));
    ck_assert_ok(writ_keydir_save(dir, NULL));
    writ_keydir_close(dir);
}

static void
assert_refused(enum writ_code code, const char *word)
{
    struct writ_keyring *ring = NULL;
    struct writ_keydir *dir = NULL;
    struct writ_err err = {0};

    ck_assert_code(writ_keydir_load(keys, &ring, &err), code);
    ck_assert_msg(strstr(err.text, word) != NULL, "%s", err.text);
    ck_assert_ptr_null(ring);
    ck_assert_code(writ_keydir_open(keys, true, &dir, &err), code);
    ck_assert_ptr_null(dir);
}

static unsigned
mode_of(const char *path)
{
    struct stat status;

    ck_assert_int_eq(lstat(path, &status), 0);
    return status.st_mode & 07777;
}

static unsigned
count_files(void)
{
    DIR *dir = opendir(keys);
    unsigned count = 0;

    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        count += entry->d_name[0] != '.';
    }
    (void)closedir(dir);
    return count;
}

START_TEST(keydir_load_after_save_signs)
{
    struct writ_keyring *ring;
    writ_auto_buf signature = writ_buf_make(WRIT_SIGNER_BYTES_MAX);

    setup();
    make_keys();
    ring = loaded();
    ck_assert_uint_eq(writ_keyring_count(ring), 1);
    ck_assert_ok(
        writ_signer_sign(writ_keyring_active(ring, CREDENTIAL), WRIT_LIT("x"), &signature, NULL));
    ck_assert_ok(writ_jwk_verify(
        writ_keyring_key(ring, 0)->public, WRIT_LIT("x"), writ_buf_view(&signature), NULL));
    ck_assert_uint_eq(mode_of(keys), 0700);
    ck_assert_uint_eq(mode_of(in_keys("keys.json")), 0600);
    ck_assert_uint_eq(mode_of(active_pem(ring, CREDENTIAL)), 0600);
    writ_keyring_free(ring);
    teardown();
}
END_TEST

START_TEST(keydir_save_ignores_the_umask)
{
    struct writ_keyring *ring;
    mode_t before = umask(0);

    setup();
    make_keys();
    ring = loaded();
    ck_assert_uint_eq(mode_of(keys), 0700);
    ck_assert_uint_eq(mode_of(active_pem(ring, CREDENTIAL)), 0600);
    (void)umask(before);
    writ_keyring_free(ring);
    teardown();
}
END_TEST

START_TEST(rotation_keeps_the_public_half_and_removes_the_private_one)
{
    struct writ_keydir *dir;
    struct writ_keyring *ring;
    char old[512];

    setup();
    make_keys();
    dir = opened(false);
    (void)snprintf(old, sizeof(old), "%s", active_pem(writ_keydir_ring(dir), CREDENTIAL));
    ck_assert_ok(writ_keyring_rotate(
        writ_keydir_ring(dir), CREDENTIAL, writ_keys_signer(WRIT_JWK_ALG_EDDSA), 2, NULL));
    ck_assert_ok(writ_keydir_save(dir, NULL));
    writ_keydir_close(dir);

    ring = loaded();
    ck_assert_uint_eq(writ_keyring_count(ring), 2);
    ck_assert_int_eq(writ_keyring_key(ring, 0)->state, WRIT_KEY_STATE_VERIFYING);
    ck_assert_int_ne(access(old, F_OK), 0);
    ck_assert_int_eq(access(active_pem(ring, CREDENTIAL), F_OK), 0);
    ck_assert_uint_eq(count_files(), 2);
    writ_keyring_free(ring);
    teardown();
}
END_TEST

START_TEST(keydir_change_without_save_has_no_effect)
{
    struct writ_keydir *dir;
    struct writ_keyring *ring;

    setup();
    make_keys();
    dir = opened(false);
    ck_assert_ok(writ_keyring_add(
        writ_keydir_ring(dir), LEDGER, writ_keys_signer(WRIT_JWK_ALG_EDDSA), 2, NULL));
    writ_keydir_close(dir);
    ring = loaded();
    ck_assert_uint_eq(writ_keyring_count(ring), 1);
    writ_keyring_free(ring);
    teardown();
}
END_TEST

/* Makes keys, and loses the private half of the one that signs credentials. */
static void
make_keys_without_secret(void)
{
    struct writ_keyring *ring;

    make_keys();
    ring = loaded();
    ck_assert_int_eq(unlink(active_pem(ring, CREDENTIAL)), 0);
    writ_keyring_free(ring);
}

START_TEST(keydir_list_reads_no_private_key)
{
    struct writ_keyring *ring = NULL;

    setup();
    make_keys_without_secret();
    ck_assert_ok(writ_keydir_list(keys, &ring, NULL));
    ck_assert_uint_eq(writ_keyring_count(ring), 1);
    ck_assert_ptr_null(writ_keyring_active(ring, CREDENTIAL));
    writ_keyring_free(ring);
    teardown();
}
END_TEST

START_TEST(keydir_change_is_exclusive)
{
    struct writ_keydir *first;
    struct writ_keydir *second = NULL;
    struct writ_keyring *ring = NULL;

    setup();
    make_keys();
    first = opened(false);
    ck_assert_code(writ_keydir_open(keys, false, &second, NULL), WRIT_E_BUSY);
    ck_assert_ptr_null(second);
    ck_assert_code(writ_keydir_load(keys, &ring, NULL), WRIT_E_BUSY);
    writ_keydir_close(first);
    writ_keyring_free(loaded());
    teardown();
}
END_TEST

START_TEST(keydir_writable_by_others_is_refused)
{
    setup();
    make_keys();
    ck_assert_int_eq(chmod(keys, 0720), 0);
    assert_refused(WRIT_E_INVALID, "mode 0720");
    ck_assert_int_eq(chmod(keys, 0702), 0);
    assert_refused(WRIT_E_INVALID, "mode 0702");
    ck_assert_int_eq(chmod(keys, 0755), 0);
    writ_keyring_free(loaded());
    teardown();
}
END_TEST

START_TEST(keydir_with_a_readable_private_key_is_refused)
{
    static const mode_t modes[] = {0640, 0604, 0620, 0601};
    struct writ_keyring *ring;
    char pem[512];

    setup();
    make_keys();
    ring = loaded();
    (void)snprintf(pem, sizeof(pem), "%s", active_pem(ring, CREDENTIAL));
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        ck_assert_int_eq(chmod(pem, modes[i]), 0);
        assert_refused(WRIT_E_INVALID, "chmod 600");
    }
    ck_assert_int_eq(chmod(pem, 0400), 0);
    writ_keyring_free(ring);
    writ_keyring_free(loaded());
    teardown();
}
END_TEST

START_TEST(keydir_with_an_index_writable_by_others_is_refused)
{
    setup();
    make_keys();
    ck_assert_int_eq(chmod(in_keys("keys.json"), 0620), 0);
    assert_refused(WRIT_E_INVALID, "keys.json");
    ck_assert_int_eq(chmod(in_keys("keys.json"), 0644), 0);
    writ_keyring_free(loaded());
    teardown();
}
END_TEST

/* Puts a link in the place of a file or directory that was moved away. */
static void
replace_by_link(const char *path)
{
    char moved[600];

    (void)snprintf(moved, sizeof(moved), "%s/moved", top);
    ck_assert_int_eq(rename(path, moved), 0);
    ck_assert_int_eq(symlink(moved, path), 0);
}

START_TEST(keydir_behind_a_link_is_refused)
{
    struct writ_keyring *ring = NULL;
    char slashed[100];

    setup();
    make_keys();
    replace_by_link(keys);
    assert_refused(WRIT_E_INVALID, "cannot open the directory");
    (void)snprintf(slashed, sizeof(slashed), "%s//", keys);
    ck_assert_code(writ_keydir_load(slashed, &ring, NULL), WRIT_E_INVALID);
    teardown();
}
END_TEST

START_TEST(keydir_with_a_link_for_a_file_is_refused)
{
    struct writ_keyring *ring;
    char pem[512];

    setup();
    make_keys();
    ring = loaded();
    (void)snprintf(pem, sizeof(pem), "%s", active_pem(ring, CREDENTIAL));
    writ_keyring_free(ring);
    replace_by_link(pem);
    assert_refused(WRIT_E_INVALID, "symbolic link");
    ck_assert_int_eq(unlink(pem), 0);
    assert_refused(WRIT_E_ABSENT, ".pem");
    replace_by_link(in_keys("keys.json"));
    assert_refused(WRIT_E_INVALID, "keys.json");
    teardown();
}
END_TEST

START_TEST(keydir_with_a_pipe_for_a_file_is_refused_without_waiting)
{
    setup();
    make_keys();
    ck_assert_int_eq(unlink(in_keys("keys.json")), 0);
    ck_assert_int_eq(mkfifo(in_keys("keys.json"), 0600), 0);
    assert_refused(WRIT_E_INVALID, "not a regular file");
    teardown();
}
END_TEST

START_TEST(keydir_with_a_private_key_under_another_name_is_refused)
{
    struct writ_keyring *ring;
    writ_auto_buf pem = writ_buf_make(WRIT_SIGNER_PEM_MAX);
    FILE *file;

    setup();
    make_keys();
    ring = loaded();
    writ_keys_pem("P-256", NULL, &pem);
    file = fopen(active_pem(ring, CREDENTIAL), "w");
    ck_assert_uint_eq(fwrite(pem.ptr, 1, pem.len, file), pem.len);
    ck_assert_int_eq(fclose(file), 0);
    writ_keyring_free(ring);
    assert_refused(WRIT_E_MISMATCH, "another key than its name says");
    teardown();
}
END_TEST

START_TEST(keydir_with_an_encrypted_private_key_is_refused)
{
    struct writ_keyring *ring;
    writ_auto_buf pem = writ_buf_make(WRIT_SIGNER_PEM_MAX);
    FILE *file;

    setup();
    make_keys();
    ring = loaded();
    writ_keys_pem("P-256", "secret", &pem);
    file = fopen(active_pem(ring, CREDENTIAL), "w");
    ck_assert_uint_eq(fwrite(pem.ptr, 1, pem.len, file), pem.len);
    ck_assert_int_eq(fclose(file), 0);
    writ_keyring_free(ring);
    assert_refused(WRIT_E_PARSE, "encrypted");
    teardown();
}
END_TEST

START_TEST(keydir_load_without_an_index_is_absent)
{
    struct writ_keyring *ring = NULL;
    struct writ_keydir *dir = NULL;

    setup();
    ck_assert_code(writ_keydir_load(keys, &ring, NULL), WRIT_E_ABSENT);
    ck_assert_code(writ_keydir_open(keys, false, &dir, NULL), WRIT_E_ABSENT);
    ck_assert_int_eq(mkdir(keys, 0700), 0);
    ck_assert_code(writ_keydir_load(keys, &ring, NULL), WRIT_E_ABSENT);
    ck_assert_code(writ_keydir_open(keys, false, &dir, NULL), WRIT_E_ABSENT);
    ck_assert_ptr_null(ring);
    ck_assert_ptr_null(dir);
    dir = opened(true);
    ck_assert_uint_eq(writ_keyring_count(writ_keydir_ring(dir)), 0);
    writ_keydir_close(dir);
    writ_keydir_close(NULL);
    teardown();
}
END_TEST

START_TEST(keydir_without_a_private_half_is_not_an_empty_ring)
{
    setup();
    make_keys_without_secret();
    assert_refused(WRIT_E_ABSENT, ".pem");
    teardown();
}
END_TEST

START_TEST(keydir_change_after_an_interrupted_one_succeeds)
{
    FILE *file;

    setup();
    make_keys();
    file = fopen(in_keys("keys.json.new"), "w");
    ck_assert_int_eq(fclose(file), 0);
    struct writ_keydir *dir = opened(false);
    ck_assert_ok(writ_keydir_save(dir, NULL));
    writ_keydir_close(dir);
    ck_assert_uint_eq(count_files(), 2);
    teardown();
}
END_TEST

/* The file of key `i`, of contents. */
static const char *
jwk_file(const struct writ_keyring *ring, size_t i)
{
    char name[128];

    (void)snprintf(name, sizeof(name), WRIT_VIEW_FMT ".jwk",
        WRIT_VIEW_ARG(writ_keyring_kid(writ_keyring_key(ring, i))));
    return in_keys(name);
}

static void
add_wrap(struct writ_keydir *dir, int64_t now_us)
{
    struct writ_wrap_key *wrap = NULL;

    ck_assert_ok(writ_wrap_key_new(&wrap, NULL));
    ck_assert_ok(writ_keyring_add_wrap(writ_keydir_ring(dir), wrap, now_us, NULL));
    ck_assert_ok(writ_keydir_save(dir, NULL));
}

START_TEST(keydir_keeps_a_key_of_contents_until_it_is_retired)
{
    struct writ_keydir *dir;
    struct writ_keyring *ring;
    char second[512];

    setup();
    make_keys();
    dir = opened(false);
    add_wrap(dir, 2);
    add_wrap(dir, 3);
    writ_keydir_close(dir);
    ring = loaded();
    (void)snprintf(second, sizeof second, "%s", jwk_file(ring, 2));
    ck_assert_ptr_nonnull(writ_keyring_wrap(ring));
    ck_assert_ptr_nonnull(writ_keyring_unwrap(ring, writ_keyring_kid(writ_keyring_key(ring, 1))));
    ck_assert_uint_eq(mode_of(jwk_file(ring, 1)), 0600);
    ck_assert_uint_eq(mode_of(jwk_file(ring, 2)), 0600);

    dir = opened(false);
    ck_assert_ok(writ_keyring_retire(
        writ_keydir_ring(dir), writ_keyring_kid(writ_keyring_key(ring, 1)), 4, NULL));
    ck_assert_ok(writ_keydir_save(dir, NULL));
    writ_keydir_close(dir);
    ck_assert_int_ne(access(jwk_file(ring, 1), F_OK), 0);
    ck_assert_int_eq(access(jwk_file(ring, 2), F_OK), 0);
    ck_assert_int_eq(chmod(jwk_file(ring, 2), 0640), 0);
    assert_refused(WRIT_E_INVALID, ".jwk");
    ck_assert_int_eq(chmod(jwk_file(ring, 2), 0600), 0);
    ck_assert_int_eq(rename(second, in_keys("elsewhere")), 0);
    assert_refused(WRIT_E_ABSENT, ".jwk");
    writ_keyring_free(ring);
    teardown();
}
END_TEST

START_TEST(keydir_with_another_key_of_contents_under_a_name_is_refused)
{
    struct writ_keydir *dir;
    struct writ_keyring *ring;
    char first[512];

    setup();
    make_keys();
    dir = opened(false);
    add_wrap(dir, 2);
    add_wrap(dir, 3);
    writ_keydir_close(dir);
    ring = loaded();
    (void)snprintf(first, sizeof first, "%s", jwk_file(ring, 1));
    ck_assert_int_eq(rename(jwk_file(ring, 2), first), 0);
    assert_refused(WRIT_E_MISMATCH, "another key than its name says");
    writ_keyring_free(ring);
    teardown();
}
END_TEST

WRIT_UNIT_MAIN("keydir", keydir_load_after_save_signs, keydir_save_ignores_the_umask,
    rotation_keeps_the_public_half_and_removes_the_private_one,
    keydir_change_without_save_has_no_effect, keydir_list_reads_no_private_key,
    keydir_change_is_exclusive, keydir_writable_by_others_is_refused,
    keydir_with_a_readable_private_key_is_refused,
    keydir_with_an_index_writable_by_others_is_refused, keydir_behind_a_link_is_refused,
    keydir_with_a_link_for_a_file_is_refused,
    keydir_with_a_pipe_for_a_file_is_refused_without_waiting,
    keydir_with_a_private_key_under_another_name_is_refused,
    keydir_with_an_encrypted_private_key_is_refused, keydir_load_without_an_index_is_absent,
    keydir_without_a_private_half_is_not_an_empty_ring,
    keydir_change_after_an_interrupted_one_succeeds,
    keydir_keeps_a_key_of_contents_until_it_is_retired,
    keydir_with_another_key_of_contents_under_a_name_is_refused)
