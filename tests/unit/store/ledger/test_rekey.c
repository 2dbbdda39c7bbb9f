/* A change of the ledger's keys while it is open. Keys that do not vouch for what was opened are
 * refused. */
#include "support/evidence/keys.h"
#include "support/store/kit.h"
#include "support/unit.h"

#include <string.h>

typedef struct writ_kit_spec spec;

/* A ring with another key for the ledger, without the key of the kit. */
static struct writ_keyring *
other_ring(enum writ_key_purpose purpose)
{
    struct writ_keyring *ring = NULL;

    ck_assert_ok(writ_keyring_new(&ring, NULL));
    ck_assert_ok(writ_keyring_add(
        ring, purpose, writ_keys_signer(WRIT_JWK_ALG_EDDSA), WRIT_KIT_WALL_US, NULL));
    return ring;
}

static struct writ_ledger_keys *
keys_of(struct writ_keyring *ring)
{
    struct writ_ledger_keys *keys = NULL;

    ck_assert_ok(writ_ledger_keys_new(ring, &keys, NULL));
    return keys;
}

START_TEST(ledger_keys_without_a_signing_key_are_refused)
{
    struct writ_keyring *rings[] = {NULL, other_ring(WRIT_KEY_PURPOSE_CREDENTIAL)};
    struct writ_ledger_keys *keys = NULL;

    ck_assert_ok(writ_keyring_new(&rings[0], NULL));
    for (size_t i = 0; i < 2; i++) {
        ck_assert_code(writ_ledger_keys_new(rings[i], &keys, NULL), WRIT_E_INVALID);
        ck_assert_ptr_null(keys);
        writ_keyring_free(rings[i]); /* still ours */
    }
    writ_ledger_keys_free(NULL);
    writ_ledger_keys_free(keys_of(other_ring(WRIT_KEY_PURPOSE_LEDGER)));
}
END_TEST

/* The new ring lacks the key of the existing records, so no key vouches for them. */
START_TEST(rekey_without_the_opened_keys_poisons)
{
    struct writ_ledger_health health;
    struct writ_kit kit;

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){.argument = "1"});
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    writ_ledger_rekey(kit.ledger, keys_of(other_ring(WRIT_KEY_PURPOSE_LEDGER)));
    writ_kit_turn(&kit);
    health = writ_kit_health(&kit);
    ck_assert_int_eq(health.state, WRIT_LEDGER_POISONED);
    ck_assert_code(
        health.why.text[0] != '\0' ? (writ_result){WRIT_E_MISMATCH} : WRIT_DONE, WRIT_E_MISMATCH);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(rekey_repeatedly_leaks_nothing)
{
    struct writ_kit kit;

    writ_kit_start(&kit);
    for (int i = 0; i < 50; i++) {
        writ_ledger_rekey(kit.ledger, keys_of(other_ring(WRIT_KEY_PURPOSE_LEDGER)));
    }
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("rekey", ledger_keys_without_a_signing_key_are_refused,
    rekey_without_the_opened_keys_poisons, rekey_repeatedly_leaks_nothing)
