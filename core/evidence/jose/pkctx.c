/* A few slots per thread, replaced in turn. A slot is found by the number of its key, and numbers
 * are never reused, so a context never serves another key. */
#include "evidence/jose/pkctx.h"

#include <openssl/rsa.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct slot {
    uint64_t number; /* 0: empty */
    enum writ_pkctx_use use;
    EVP_PKEY_CTX *ctx;
};

struct kept {
    struct slot slots[WRIT_PKCTX_KEPT];
    unsigned next; /* the slot to replace next when all are taken */
};

static _Thread_local struct kept kept;
static pthread_key_t at_exit;
static pthread_once_t at_exit_once = PTHREAD_ONCE_INIT;
static bool at_exit_made;

static void
slot_clear(struct slot *slot)
{
    EVP_PKEY_CTX_free(slot->ctx);
    *slot = (struct slot){0};
}

static void
kept_clear(void *arg)
{
    struct kept *mine = arg;

    for (size_t i = 0; i < WRIT_PKCTX_KEPT; i++) {
        slot_clear(&mine->slots[i]);
    }
}

static void
make_at_exit(void)
{
    at_exit_made = pthread_key_create(&at_exit, kept_clear) == 0;
}

/* Frees the contexts of this thread when it ends. */
static bool
register_thread(void)
{
    (void)pthread_once(&at_exit_once, make_at_exit);
    if (!at_exit_made) {
        return false;
    }
    return pthread_getspecific(at_exit) != NULL || pthread_setspecific(at_exit, &kept) == 0;
}

uint64_t
writ_pkctx_number(void)
{
    static atomic_uint_fast64_t last;
    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

static bool
prepare(EVP_PKEY_CTX *ctx, const EVP_PKEY *key, enum writ_pkctx_use use)
{
    int begun = use == WRIT_PKCTX_SIGN ? EVP_PKEY_sign_init(ctx) : EVP_PKEY_verify_init(ctx);

    if (begun != 1 || EVP_PKEY_CTX_set_signature_md(ctx, EVP_sha256()) != 1) {
        return false;
    }
    /* RS256 is RSASSA-PKCS1-v1_5 (RFC 7518 3.3), whatever a key file suggests */
    return EVP_PKEY_get_base_id(key) != EVP_PKEY_RSA ||
           EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_PADDING) == 1;
}

static struct slot *
slot_find(uint64_t number, enum writ_pkctx_use use)
{
    for (size_t i = 0; i < WRIT_PKCTX_KEPT; i++) {
        if (kept.slots[i].number == number && kept.slots[i].use == use) {
            return &kept.slots[i];
        }
    }
    return NULL;
}

EVP_PKEY_CTX *
writ_pkctx_get(uint64_t number, EVP_PKEY *key, enum writ_pkctx_use use)
{
    struct slot *slot = slot_find(number, use);
    EVP_PKEY_CTX *ctx;

    if (slot != NULL) {
        return slot->ctx;
    }
    if (!register_thread()) {
        return NULL;
    }
    ctx = EVP_PKEY_CTX_new(key, NULL);
    if (ctx == NULL || !prepare(ctx, key, use)) {
        EVP_PKEY_CTX_free(ctx);
        return NULL;
    }
    slot = &kept.slots[kept.next];
    kept.next = (kept.next + 1) % WRIT_PKCTX_KEPT;
    slot_clear(slot);
    *slot = (struct slot){number, use, ctx};
    return ctx;
}

void
writ_pkctx_drop(uint64_t number, enum writ_pkctx_use use)
{
    struct slot *slot = slot_find(number, use);

    if (slot != NULL) {
        slot_clear(slot);
    }
}
