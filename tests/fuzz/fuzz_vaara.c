/* For every JSON value, as a document of the profile vaara-v0 and twice in one run: there is a
 * finding, the same both times; under keys that signed nothing, nothing is authentic; and a record
 * that holds is of an algorithm that no key has. Of two equal outcomes the second is surplus. */
#include "support/fuzz.h"
#include "support/evidence/token.h"

#include "evidence/jose/jwks.h"
#include "evidence/vaara/vaara.h"
#include "evidence/vaara/vaara_receipt.h"

#define ARENA_MAX ((size_t)8 << 20)

static struct writ_arena *arena;
static struct writ_jwks *set;

static void
prepare(struct writ_vaara_terms *ret)
{
    if (arena == NULL) {
        arena = writ_arena_new(ARENA_MAX);
        WRIT_INVARIANT(arena != NULL);
        WRIT_INVARIANT(writ_is_ok(writ_jwks_read(WRIT_LIT(WRIT_TOKEN_JWKS), &set, NULL)));
    }
    ret->keys.keys[ret->keys.count++] = writ_jwks_key(set, 0);
    ret->keys.secret = WRIT_LIT("a secret that signs nothing");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_vaara_terms terms = {0};
    struct writ_vaara_finding findings[2];
    struct writ_completeness report;
    const struct writ_json *document = NULL;
    bool any = true;

    prepare(&terms);
    if (writ_is_ok(writ_json_read(
            writ_view(data, size), &writ_json_limits_default, arena, &document, NULL))) {
        for (int i = 0; i < 2; i++) {
            WRIT_INVARIANT(
                writ_is_ok(writ_vaara_check(document, &terms, arena, &findings[i], NULL)));
        }
        WRIT_INVARIANT(writ_is_ok(writ_vaara_join(findings, 2, arena, &report, &any, NULL)));
        for (int i = 0; i < 2; i++) {
            WRIT_INVARIANT(!findings[i].authentic);
            WRIT_INVARIANT(findings[i].kind == findings[0].kind);
            WRIT_INVARIANT(
                !findings[i].holds || (writ_vaara_is_record(findings[i].kind) &&
                                          writ_vaara_receipt_conforms(findings[i].failed)));
        }
        WRIT_INVARIANT(!findings[1].holds || findings[1].kind != WRIT_VAARA_RECEIPT);
        WRIT_INVARIANT(!any);
    }
    writ_arena_reset(arena);
    return 0;
}
