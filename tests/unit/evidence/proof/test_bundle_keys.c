/* The table of idempotency keys that the check of a bundle keeps. A key is held exactly as long as
 * its decision says, and expired keys take no memory. */
#include "support/unit.h"

#include "evidence/proof/bundle_keys.h"

#include <stdio.h>

#define MANY 10000

static struct writ_decision decision;
static struct writ_extension extension;
static char key[32], at[64];

/* The decision at `leaf`, `second` seconds into the hour, under a key. */
static bool
claim(struct writ_bundle_keys *keys, uint64_t leaf, int number, int second, int64_t seconds,
    uint64_t *ret_first)
{
    struct writ_bundle_claim made = {0};
    bool twice = false;

    (void)snprintf(key, sizeof key, "key-%d", number);
    (void)snprintf(
        at, sizeof at, "2026-06-25T%02d:%02d:%02dZ", second / 3600, second / 60 % 60, second % 60);
    decision.idempotency_key = writ_member_text(writ_view_str(key));
    decision.issued_at = writ_member_text(writ_view_str(at));
    extension.claim_seconds = writ_member_number(seconds);
    ck_assert_ok(
        writ_bundle_keys_claim(keys, &decision, &extension, leaf, &made, &twice, ret_first, NULL));
    ck_assert(made.is);
    return twice;
}

START_TEST(claim_holds_a_key_until_its_decision_expires)
{
    struct writ_bundle_keys keys = {0};
    uint64_t first = 0;

    ck_assert(!claim(&keys, 1, 1, 0, 10, &first));
    ck_assert(!claim(&keys, 2, 2, 1, 10, &first));
    ck_assert(claim(&keys, 3, 1, 9, 10, &first));
    ck_assert_uint_eq(first, 1);
    ck_assert(claim(&keys, 4, 1, 18, 10, &first)); /* the second one claimed it too */
    ck_assert_uint_eq(first, 3);
    ck_assert(!claim(&keys, 5, 2, 11, 10, &first)); /* a time that goes back has no effect */
    ck_assert(!claim(&keys, 6, 1, 28, 10, &first));
    writ_bundle_keys_wipe(&keys);
}
END_TEST

START_TEST(claim_drops_expired_keys)
{
    struct writ_bundle_keys keys = {0};
    uint64_t first = 0;

    for (int i = 0; i < MANY; i++) {
        ck_assert(!claim(&keys, (uint64_t)i, i, i, 100, &first));
    }
    ck_assert_uint_le(keys.size, 2048);
    for (int i = MANY - 100; i < MANY; i++) {
        ck_assert(claim(&keys, MANY, i, MANY - 1, 1, &first));
        ck_assert_uint_eq(first, (uint64_t)i);
    }
    writ_bundle_keys_wipe(&keys);
}
END_TEST

START_TEST(claim_finds_every_key_that_holds)
{
    struct writ_bundle_keys keys = {0};
    uint64_t first = 0;

    for (int i = 0; i < MANY; i++) {
        ck_assert(!claim(&keys, (uint64_t)i, i, 1, 100, &first));
    }
    for (int i = 0; i < MANY; i++) {
        ck_assert(claim(&keys, MANY, i, 2, 100, &first));
        ck_assert_uint_eq(first, (uint64_t)i);
    }
    writ_bundle_keys_wipe(&keys);
}
END_TEST

WRIT_UNIT_MAIN("bundle_keys", claim_holds_a_key_until_its_decision_expires,
    claim_drops_expired_keys, claim_finds_every_key_that_holds)
