/* generation.c - builds a complete generation or none; it does not change afterwards. A renewed one
 * shares the configuration and keys of the one before and holds it. The current one links to those
 * that requests still hold. */
#include "gateway/state/generation.h"

#include "gateway/state/accepted.h"
#include "gateway/state/mark_key.h"
#include "policy/model/rule.h"
#include "store/trusted/keydir.h"

#define JWKS_MAX (256 * 1024)

static void
generation_freep(struct writ_generation **generation)
{
    writ_generation_drop(*generation);
}

/* Verifiers that were configured for one algorithm must not meet another one. */
static writ_result
check_alg(enum writ_jwk_alg wanted, const struct writ_jwk *key, struct writ_err *err)
{
    if (wanted != WRIT_JWK_ALG_NONE && writ_jwk_alg(key) != wanted) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the active key is for %s, and credential.alg says %s",
            writ_jwk_alg_name(writ_jwk_alg(key)), writ_jwk_alg_name(wanted));
    }
    return WRIT_DONE;
}

/* Checkpoints are signed only with Ed25519 (c2sp.org/tlog-checkpoint). */
static writ_result
check_ledger_key(const struct writ_signer *signer, struct writ_err *err)
{
    if (signer == NULL || writ_jwk_alg(writ_signer_jwk(signer)) != WRIT_JWK_ALG_EDDSA) {
        WRIT_FAIL(err, WRIT_E_ABSENT,
            "no active Ed25519 key for the ledger in the key directory: make one with `writ keys "
            "new`");
    }
    return WRIT_DONE;
}

/* Without a key every call would be recorded without its contents, and no message would say so. */
static const struct writ_reviewer_config *
crew_of(const struct writ_config *config)
{
    for (size_t i = 0; i < config->reviewers_n; i++) {
        if (config->reviewers[i].crew != NULL) {
            return &config->reviewers[i];
        }
    }
    return NULL;
}

static writ_result
check_contents_key(
    const struct writ_config *config, const struct writ_keyring *keyring, struct writ_err *err)
{
    const struct writ_tool_rule *rule = writ_rule_keeps(config->policy);
    const struct writ_reviewer_config *crew = crew_of(config);

    if (writ_keyring_wrap(keyring) != NULL) {
        return WRIT_DONE;
    }
    if (crew != NULL) {
        WRIT_FAIL(err, WRIT_E_ABSENT,
            "reviewer " WRIT_VIEW_FMT " is a crew, whose log is kept, and the key directory has no "
            "key to encrypt it: make one with `writ keys new --purpose contents --dir %s`",
            WRIT_VIEW_ARG(crew->id), config->keys.ptr);
    }
    if (rule != NULL || config->policy->contents.keep_us > 0) {
        WRIT_FAIL(err, WRIT_E_ABSENT,
            WRIT_VIEW_FMT " keeps contents, and the key directory has no key to encrypt them: make "
                          "one with `writ keys new --purpose contents --dir %s`",
            WRIT_VIEW_ARG(rule != NULL ? rule->ref : WRIT_LIT("defaults")), config->keys.ptr);
    }
    return WRIT_DONE;
}

writ_result
writ_generation_new(const struct writ_config *config, const struct writ_clock *clock,
    struct writ_log *log, struct writ_generation **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_generation *, generation_freep)
    generation = writ_alloc(sizeof *generation);

    if (generation == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a configuration");
    }
    atomic_init(&generation->holders, 1);
    generation->config = writ_config_hold(config);
    WRIT_TRY(writ_keydir_load(config->keys.ptr, &generation->keyring, err));
    generation->signer = writ_keyring_active(generation->keyring, WRIT_KEY_PURPOSE_CREDENTIAL);
    if (generation->signer == NULL) {
        WRIT_FAIL(err, WRIT_E_ABSENT,
            "no active key for credentials in the key directory: make one with `writ keys new`");
    }
    WRIT_TRY(
        check_ledger_key(writ_keyring_active(generation->keyring, WRIT_KEY_PURPOSE_LEDGER), err));
    WRIT_TRY(check_contents_key(config, generation->keyring, err));
    WRIT_TRY(check_alg(config->credential.alg, writ_signer_jwk(generation->signer), err));
    generation->jwks = writ_buf_make(JWKS_MAX);
    writ_keyring_jwks(&generation->jwks, generation->keyring, WRIT_KEY_PURPOSE_CREDENTIAL, false);
    WRIT_TRY(writ_buf_check(&generation->jwks, err));
    WRIT_TRY(writ_identity_keys_new(config, clock, log, &generation->issuers, err));
    if (config->follows_values) {
        WRIT_TRY(writ_mark_key_open(config->keys.ptr, &generation->marks, err));
    }
    *ret = WRIT_TAKE(generation);
    return WRIT_DONE;
}

WRIT_RESULT
writ_generation_accept(
    struct writ_generation *generation, struct writ_ledger *ledger, struct writ_err *err)
{
    return writ_accepted_load(
        generation->config, generation->keyring, ledger, &generation->accepted, err);
}

WRIT_RESULT
writ_generation_renew(struct writ_generation *current, struct writ_ledger *ledger,
    struct writ_generation **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_generation *, generation_freep)
    generation = writ_alloc(sizeof *generation);

    if (generation == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for accepted definitions");
    }
    *generation = (struct writ_generation){.config = current->config,
        .keyring = current->keyring,
        .signer = current->signer,
        .jwks = current->jwks,
        .issuers = current->issuers,
        .marks = current->marks};
    atomic_init(&generation->holders, 1);
    generation->shares = writ_generation_hold(current->shares != NULL ? current->shares : current);
    WRIT_TRY(writ_generation_accept(generation, ledger, err));
    *ret = WRIT_TAKE(generation);
    return WRIT_DONE;
}

struct writ_generation *
writ_generation_hold(struct writ_generation *generation)
{
    (void)atomic_fetch_add(&generation->holders, 1);
    return generation;
}

void
writ_generation_drop(struct writ_generation *generation)
{
    if (generation == NULL || atomic_fetch_sub(&generation->holders, 1) != 1) {
        return;
    }
    writ_generation_drop(generation->before);
    writ_definitions_free(generation->accepted);
    if (generation->shares == NULL) {
        writ_mark_key_free(generation->marks);
        writ_identity_keys_free(generation->issuers);
        writ_buf_wipe(&generation->jwks);
        writ_keyring_free(generation->keyring);
        writ_config_drop(generation->config);
    }
    writ_generation_drop(generation->shares);
    writ_free(generation);
}

void
writ_generation_reap(struct writ_generation *current)
{
    struct writ_generation **link = &current->before;

    while (*link != NULL) {
        struct writ_generation *old = *link;

        if (atomic_load(&old->holders) > 1) {
            link = &old->before;
            continue;
        }
        *link = old->before;
        old->before = NULL;
        writ_generation_drop(old);
    }
}
