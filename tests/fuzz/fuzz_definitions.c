/* The file of accepted definitions, with untrusted content. The input as the file is refused,
 * because the ledger's key did not sign it. A signed file with changed bytes, four bytes of the
 * input for each change (where, and what), is refused or reads as it was signed. */
#include "support/fuzz.h"
#include "support/shelter.h"

#include "store/trusted/definitions.h"

#include <stdio.h>

#define FILE_NAME "ledger.db.accepted.json"
#define STORE     "ledger.db"
#define TEXT_MAX  65536

static struct writ_keyring *keys;
static struct writ_definitions *base;
static struct writ_buf base_text;

static void
put(const char *name, const char *text)
{
    struct writ_definition made = {.name = writ_view_str(name),
        .text = writ_view_str(text),
        .at = WRIT_LIT("2026-11-21T22:20:00.000000Z")};

    WRIT_INVARIANT(writ_is_ok(writ_digest_bytes(made.text, &made.digest, NULL)));
    WRIT_INVARIANT(writ_is_ok(writ_definitions_put(base, &made, NULL)));
}

static writ_result
load(struct writ_definitions **ret)
{
    char store[128];

    return writ_definitions_load(
        shelter_name(STORE, store, sizeof store), WRIT_DEFINITIONS_ACCEPTED, keys, ret, NULL);
}

static void
prepare(void)
{
    char store[128], path[128], room[4096];
    struct writ_signer *signer = NULL;
    FILE *in;

    if (keys != NULL) {
        return;
    }
    WRIT_INVARIANT(writ_is_ok(writ_keyring_new(&keys, NULL)));
    WRIT_INVARIANT(writ_is_ok(writ_signer_new(WRIT_JWK_ALG_EDDSA, &signer, NULL)));
    WRIT_INVARIANT(writ_is_ok(writ_keyring_add(keys, WRIT_KEY_PURPOSE_LEDGER, signer, 1, NULL)));
    WRIT_INVARIANT(writ_is_ok(writ_definitions_new(&base, NULL)));
    put("fs/read", "{\"description\":\"Reads.\",\"name\":\"read\"}");
    put("fs/write", "{\"description\":\"Writes \xc3\xa9.\",\"name\":\"write\"}");
    WRIT_INVARIANT(writ_is_ok(writ_definitions_save(
        shelter_name(STORE, store, sizeof store), WRIT_DEFINITIONS_ACCEPTED, base, signer, NULL)));
    in = fopen(shelter_name(FILE_NAME, path, sizeof path), "r");
    WRIT_INVARIANT(in != NULL);
    base_text = writ_buf_make(TEXT_MAX);
    writ_buf_put(&base_text, writ_view(room, fread(room, 1, sizeof room, in)));
    WRIT_INVARIANT(writ_is_ok(writ_buf_check(&base_text, NULL)));
    (void)fclose(in);
}

static void
check_same(const struct writ_definitions *read)
{
    WRIT_INVARIANT(read->n == base->n);
    for (size_t i = 0; i < read->n; i++) {
        const struct writ_definition *a = &base->items[i], *b = &read->items[i];

        WRIT_INVARIANT(writ_definitions_find(read, a->name) == b);
        WRIT_INVARIANT(writ_digest_equal(&a->digest, &b->digest));
        WRIT_INVARIANT(writ_view_equal(a->text, b->text) && writ_view_equal(a->at, b->at));
    }
}

static void
check_changed(const uint8_t *data, size_t size)
{
    struct writ_definitions *read = NULL;
    writ_auto_buf text = writ_buf_make(TEXT_MAX);
    writ_result loaded;

    writ_buf_put(&text, writ_buf_view(&base_text));
    for (size_t i = 0; i + 4 <= size; i += 4) {
        size_t at = (size_t)data[i] << 16 | (size_t)data[i + 1] << 8 | data[i + 2];

        text.ptr[at % text.len] = (char)data[i + 3];
    }
    shelter_put(FILE_NAME, writ_buf_view(&text));
    loaded = load(&read);
    WRIT_INVARIANT(loaded.code != WRIT_E_IO && loaded.code != WRIT_E_ABSENT);
    WRIT_INVARIANT(size >= 4 || writ_is_ok(loaded));
    if (writ_is_ok(loaded)) {
        check_same(read);
        writ_definitions_free(read);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_definitions *none = NULL;
    writ_result loaded;

    prepare();
    shelter_put(FILE_NAME, writ_view(data, size));
    loaded = load(&none);
    WRIT_INVARIANT(!writ_is_ok(loaded) && none == NULL);
    WRIT_INVARIANT(loaded.code != WRIT_E_IO && loaded.code != WRIT_E_ABSENT);
    check_changed(data, size);
    return 0;
}
