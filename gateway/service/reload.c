/* reload.c - prepares everything that a new configuration needs, then takes it.
 *
 * Invariant: from the first part that is taken to the last nothing can fail. */
#include "gateway/service/reload.h"

#include "gateway/listener/certificate.h"
#include "gateway/listener/pem.h"
#include "gateway/reviewers/crew_roster.h"
#include "gateway/reviewers/review_counts.h"
#include "policy/decide/approval.h"
#include "policy/read/changes.h"
#include "policy/read/load.h"
#include "store/ledger/ledger.h"
#include "store/trusted/keydir.h"

#define RULES_ARENA ((size_t)64 << 20)

/* The new state for one loop, which frees it together with its previous state. */
struct handover {
    struct writ_post post;
    struct writ_worker *worker;
    struct writ_generation *generation;
    struct writ_identity *identity; /* NULL: it keeps its own */
    struct handover *next;
};

/* All parts of a reload, before any of them is taken. */
struct fresh {
    struct writ_config *config;
    struct writ_certificate *certificate, *admin_certificate; /* NULL: without TLS */
    struct writ_tokens_fresh *tokens;
    struct writ_ledger_keys *ledger_keys;
    struct writ_generation *generation;
    struct handover *handovers; /* one for each loop */
};

static void
handover_free(struct handover *handover)
{
    writ_identity_free(handover->identity);
    writ_generation_drop(handover->generation);
    writ_free(handover);
}

static void
fresh_wipe(struct fresh *fresh)
{
    while (fresh->handovers != NULL) {
        struct handover *next = fresh->handovers->next;

        handover_free(fresh->handovers);
        fresh->handovers = next;
    }
    writ_generation_drop(fresh->generation);
    writ_tokens_fresh_free(fresh->tokens);
    writ_ledger_keys_free(fresh->ledger_keys);
    writ_certificate_drop(fresh->certificate);
    writ_certificate_drop(fresh->admin_certificate);
    writ_config_drop(fresh->config);
}

/* ---- the rules of reviews ---- */

/* On the writer's thread: the entry and all its data are in its arena. */
static void
rules_told(struct writ_entry *entry)
{
    writ_arena_free(entry->arena);
}

void
writ_reload_tell_rules(struct writ_ledger *ledger, const struct writ_config *config)
{
    struct writ_arena *arena = writ_arena_new(RULES_ARENA);
    struct writ_entry *entry = arena != NULL ? writ_arena_get(arena, sizeof *entry) : NULL;
    struct writ_views rules = {NULL, 0};

    if (entry == NULL || !writ_is_ok(writ_approval_rules(config, arena, &rules))) {
        writ_arena_free(arena);
        return;
    }
    *entry = (struct writ_entry){.kind = WRIT_ENTRY_REVIEW_RULES,
        .done = rules_told,
        .arena = arena,
        .review_rules = {rules.items, rules.n}};
    if (!writ_is_ok(writ_ledger_submit(ledger, &entry, 1))) {
        writ_arena_free(arena);
    }
}

/* ---- what can fail ---- */

/* The files of a listener are read again, but a reload cannot turn TLS on or off. */
static writ_result
check_tls(const char *name, const struct writ_tls_config *start,
    const struct writ_tls_config *fresh, struct writ_err *err)
{
    if ((start->cert.len > 0) != (fresh->cert.len > 0)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: switching it on or off needs a restart", name);
    }
    return WRIT_DONE;
}

/* New connections get the present files, also when the configuration is the same. */
static writ_result
prepare_tls(const struct writ_listener *listener, const struct writ_tls_config *config,
    struct writ_certificate **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_pem, writ_pem_wipe) pem = {0};
    struct writ_listener_tls tls;

    if (listener == NULL || config->cert.len == 0) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_pem_read(config, &pem, &tls, err));
    return writ_listener_prepare(listener, &tls, ret, err);
}

static writ_result
prepare_ledger_keys(
    const struct writ_config *config, struct writ_ledger_keys **ret, struct writ_err *err)
{
    writ_auto_keyring ring = NULL;

    WRIT_TRY(writ_keydir_load(config->keys.ptr, &ring, err));
    WRIT_TRY(writ_ledger_keys_new(ring, ret, err));
    ring = NULL; /* taken */
    return WRIT_DONE;
}

static writ_result
prepare_handover(struct fresh *fresh, struct writ_worker *worker, struct writ_err *err)
{
    struct handover *handover = writ_alloc(sizeof *handover);

    if (handover == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to hand a configuration over");
    }
    handover->next = fresh->handovers;
    fresh->handovers = handover;
    handover->worker = worker;
    handover->generation = writ_generation_hold(fresh->generation);
    return WRIT_DONE;
}

static writ_result
prepare(const struct writ_gateway *gateway, const char *file, struct fresh *fresh,
    struct writ_buf *ret_waits, struct writ_err *err)
{
    WRIT_TRY(writ_load_file(file, NULL, &fresh->config, err));
    WRIT_TRY(writ_changes_check(gateway->config, fresh->config, ret_waits, err));
    WRIT_TRY(writ_crew_roster_check(fresh->config, err));
    WRIT_TRY(writ_review_counts_check(fresh->config, err));
    WRIT_TRY(check_tls("tls", &gateway->config->tls, &fresh->config->tls, err));
    WRIT_TRY(check_tls("admin_tls", &gateway->config->admin_tls, &fresh->config->admin_tls, err));
    /* before the upstreams get the values of the start: their `authorization` is LIVE */
    WRIT_TRY(writ_tokens_prepare(gateway->tokens, fresh->config, &fresh->tokens, err));
    writ_changes_keep(gateway->config, fresh->config);
    WRIT_TRY(prepare_tls(gateway->listener, &fresh->config->tls, &fresh->certificate, err));
    WRIT_TRY(prepare_tls(
        gateway->admin_listener, &fresh->config->admin_tls, &fresh->admin_certificate, err));
    WRIT_TRY(
        writ_generation_new(fresh->config, gateway->clock, gateway->log, &fresh->generation, err));
    WRIT_TRY(prepare_ledger_keys(fresh->config, &fresh->ledger_keys, err));
    /* The first loop starts programs. It is prepared last, so it takes the new state before any
     * other loop allows a call by it. */
    for (size_t i = gateway->workers_n; i-- > 0;) {
        WRIT_TRY(prepare_handover(fresh, &gateway->workers[i], err));
        WRIT_TRY(writ_identity_new(fresh->generation->issuers, &fresh->handovers->identity, err));
    }
    return writ_generation_accept(fresh->generation, gateway->ledger, err);
}

/* ---- what cannot ---- */

/* On the loop. */
static void
take_generation(struct writ_post *post)
{
    struct handover *handover = post->ctx;
    struct writ_worker *worker = handover->worker;
    struct writ_generation *generation = worker->generation;
    struct writ_identity *identity = worker->identity;

    worker->generation = handover->generation;
    handover->generation = generation;
    if (handover->identity != NULL) {
        worker->identity = handover->identity;
        handover->identity = identity;
    }
    handover_free(handover);
}

static void
hand_over(struct fresh *fresh)
{
    while (fresh->handovers != NULL) {
        struct handover *handover = fresh->handovers;

        fresh->handovers = handover->next;
        handover->post = (struct writ_post){.fn = take_generation, .ctx = handover};
        writ_loop_answer(handover->worker->loop, &handover->post);
    }
}

/* The main thread's; the loops return the previous one. */
static void
become_current(struct fresh *fresh, struct writ_generation **current)
{
    fresh->generation->before = *current;
    *current = WRIT_TAKE(fresh->generation);
}

static void
take(struct writ_gateway *gateway, struct fresh *fresh)
{
    if (fresh->certificate != NULL) {
        writ_listener_take(gateway->listener, fresh->certificate);
    }
    if (fresh->admin_certificate != NULL) {
        writ_listener_take(gateway->admin_listener, fresh->admin_certificate);
    }
    writ_tokens_take(gateway->tokens, WRIT_TAKE(fresh->tokens));
    writ_ledger_rekey(gateway->ledger, WRIT_TAKE(fresh->ledger_keys));
    hand_over(fresh);
}

writ_result
writ_reload_run(struct writ_gateway *gateway, const char *file, struct writ_generation **current,
    struct writ_buf *ret_waits, struct writ_err *err)
{
    WRIT_AUTO(struct fresh, fresh_wipe) fresh = {0};

    WRIT_TRY(prepare(gateway, file, &fresh, ret_waits, err));
    writ_identity_keys_inherit(fresh.generation->issuers, (*current)->issuers);
    take(gateway, &fresh);
    writ_reload_tell_rules(gateway->ledger, fresh.generation->config);
    become_current(&fresh, current);
    return WRIT_DONE;
}

writ_result
writ_reload_accepted(
    struct writ_gateway *gateway, struct writ_generation **current, struct writ_err *err)
{
    WRIT_AUTO(struct fresh, fresh_wipe) fresh = {0};

    WRIT_TRY(writ_generation_renew(*current, gateway->ledger, &fresh.generation, err));
    for (size_t i = 0; i < gateway->workers_n; i++) {
        WRIT_TRY(prepare_handover(&fresh, &gateway->workers[i], err));
    }
    hand_over(&fresh);
    become_current(&fresh, current);
    return WRIT_DONE;
}
