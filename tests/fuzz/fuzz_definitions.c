/* The file of accepted definitions, whatever somebody wrote into it: it is refused, or read. Then
 * every definition is found by its name under the digest of its own text, names stand in order and
 * once, and the file that is written in its place is read as the same definitions. */
#include "support/fuzz.h"
#include "support/shelter.h"

#include "store/definitions.h"

#define FILE_NAME "ledger.db.accepted.json"
#define STORE     "ledger.db"

static struct writ_definitions *
load(const char *store)
{
    struct writ_definitions *definitions = NULL;
    writ_result loaded =
        writ_definitions_load(store, WRIT_DEFINITIONS_ACCEPTED, &definitions, NULL);

    WRIT_INVARIANT(writ_is_ok(loaded) == (definitions != NULL));
    WRIT_INVARIANT(loaded.code != WRIT_E_IO && loaded.code != WRIT_E_ABSENT);
    return definitions;
}

static void
check(const struct writ_definitions *definitions)
{
    struct writ_digest digest;

    for (size_t i = 0; i < definitions->n; i++) {
        const struct writ_definition *one = &definitions->items[i];

        WRIT_INVARIANT(writ_definitions_find(definitions, one->name) == one);
        WRIT_INVARIANT(writ_is_ok(writ_digest_bytes(one->text, &digest, NULL)));
        WRIT_INVARIANT(writ_digest_equal(&digest, &one->digest));
        WRIT_INVARIANT(i == 0 || writ_view_compare(definitions->items[i - 1].name, one->name) < 0);
    }
}

static void
check_same(const struct writ_definitions *a, const struct writ_definitions *b)
{
    WRIT_INVARIANT(a->n == b->n);
    for (size_t i = 0; i < a->n; i++) {
        WRIT_INVARIANT(writ_view_equal(a->items[i].name, b->items[i].name) &&
                       writ_view_equal(a->items[i].text, b->items[i].text) &&
                       writ_view_equal(a->items[i].at, b->items[i].at));
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_definitions *definitions, *again;
    char store[128];

    (void)shelter_name(STORE, store, sizeof store);
    shelter_put(FILE_NAME, writ_view(data, size));
    definitions = load(store);
    if (definitions != NULL) {
        check(definitions);
        WRIT_INVARIANT(
            writ_is_ok(writ_definitions_save(store, WRIT_DEFINITIONS_ACCEPTED, definitions, NULL)));
        again = load(store);
        WRIT_INVARIANT(again != NULL);
        check_same(definitions, again);
        writ_definitions_free(again);
        writ_definitions_free(definitions);
    }
    return 0;
}
