/* Fails the allocations and the writes of a rotation: the directory holds the old keys or the new
 * ones, and the active one signs. */
#include "support/evidence/keys.h"
#include "support/unit.h"

#include "store/trusted/keydir.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define CREDENTIAL WRIT_KEY_PURPOSE_CREDENTIAL

static char folder[64];

static void
setup(void)
{
    struct writ_keydir *dir = NULL;

    (void)snprintf(folder, sizeof(folder), "/tmp/writ-keydir-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_ok(writ_keydir_open(folder, true, &dir, NULL));
    ck_assert_ok(writ_keyring_add(
        writ_keydir_ring(dir), CREDENTIAL, writ_keys_signer(WRIT_JWK_ALG_ES256), 1, NULL));
    ck_assert_ok(writ_keydir_save(dir, NULL));
    writ_keydir_close(dir);
}

/* Removes the files, and gives how many there were. */
static unsigned
teardown(void)
{
    DIR *dir = opendir(folder);
    unsigned count = 0;
    char path[512];

    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        if (entry->d_name[0] != '.') {
            (void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
            (void)unlink(path);
            count++;
        }
    }
    (void)closedir(dir);
    (void)rmdir(folder);
    return count;
}

static writ_result
rotate(void)
{
    struct writ_keydir *dir = NULL;
    struct writ_signer *signer = NULL;
    writ_result result = writ_keydir_open(folder, false, &dir, NULL);

    if (writ_is_ok(result)) {
        result = writ_signer_new(WRIT_JWK_ALG_ES256, &signer, NULL);
    }
    if (writ_is_ok(result)) {
        result = writ_keyring_rotate(writ_keydir_ring(dir), CREDENTIAL, signer, 2, NULL);
    }
    if (writ_is_ok(result)) {
        signer = NULL; /* the ring has it */
        result = writ_keydir_save(dir, NULL);
    }
    writ_signer_free(signer);
    writ_keydir_close(dir);
    return result;
}

/* How many keys there are; the active one must be there and sign. */
static size_t
look(void)
{
    struct writ_keyring *ring = NULL;
    writ_auto_buf signature = writ_buf_make(WRIT_SIGNER_BYTES_MAX);
    struct writ_err err = {0};
    size_t count;

    ck_assert_msg(writ_is_ok(writ_keydir_load(folder, &ring, &err)), "%s", err.text);
    ck_assert_ptr_nonnull(writ_keyring_active(ring, CREDENTIAL));
    ck_assert_ok(
        writ_signer_sign(writ_keyring_active(ring, CREDENTIAL), WRIT_LIT("x"), &signature, NULL));
    count = writ_keyring_count(ring);
    writ_keyring_free(ring);
    return count;
}

START_TEST(rotate_with_a_failed_allocation_keeps_old_or_new_keys)
{
    bool reached = true;

    for (long nth = 1; reached; nth++) {
        writ_result result;

        setup();
        writ_fault_arm(nth);
        result = rotate();
        reached = writ_fault_disarm();
        ck_assert_uint_le(look(), 2);
        if (!reached) {
            ck_assert_ok(result);
            ck_assert_uint_eq(look(), 2);
        } else if (!writ_is_ok(result)) {
            ck_assert_int_eq(result.code, WRIT_E_NOMEM);
        }
        if (look() == 1) {
            ck_assert_ok(rotate()); /* leftovers of a failure do not block the next change */
        }
        (void)teardown();
    }
}
END_TEST

/* Limits files to `bytes`, in a separate process. */
static void
rotate_with_limit(void *arg)
{
    const struct rlimit limit = {*(rlim_t *)arg, *(rlim_t *)arg};

    (void)signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    if (!writ_is_ok(rotate())) {
        abort();
    }
}

START_TEST(rotate_with_a_failed_write_keeps_the_old_keys)
{
    static const rlim_t limits[] = {0, 1, 100, 240, 250, 400};

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        rlim_t limit = limits[i];

        setup();
        ck_assert(writ_unit_aborts(rotate_with_limit, &limit));
        ck_assert_uint_eq(look(), 1);
        ck_assert_ok(rotate());
        ck_assert_uint_eq(look(), 2);
        (void)teardown();
    }
}
END_TEST

WRIT_UNIT_MAIN("key directory under faults", rotate_with_a_failed_allocation_keeps_old_or_new_keys,
    rotate_with_a_failed_write_keeps_the_old_keys)
