/* Opens a ledger in its own directory, with a clock that only the test moves, and submits entries
 * and waits for their answers. */
#include "evidence/record/derive.h"
#include "support/store/kit.h"

#include "evidence/record/profile.h"
#include "store/read/proofs.h"
#include "support/unit.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALL_ARENA  (4 << 20)
#define LIFETIME_US (60 * WRIT_KIT_S)

static int64_t
wall_of(void *ctx)
{
    return atomic_fetch_add(&((struct writ_kit *)ctx)->wall_us, 1);
}

static int64_t
mono_of(void *ctx)
{
    return atomic_fetch_add(&((struct writ_kit *)ctx)->mono_us, 1);
}

static struct writ_keyring *
ring_new(void)
{
    struct writ_keyring *ring = NULL;
    struct writ_signer *signer = NULL;

    ck_assert_ok(writ_keyring_new(&ring, NULL));
    ck_assert_ok(writ_signer_new(WRIT_JWK_ALG_EDDSA, &signer, NULL));
    ck_assert_ok(writ_keyring_add(ring, WRIT_KEY_PURPOSE_LEDGER, signer, WRIT_KIT_WALL_US, NULL));
    return ring;
}

void
writ_kit_init(struct writ_kit *kit)
{
    struct writ_err err = {0};

    memset(kit, 0, sizeof *kit);
    /* in memory if possible: the tests here do not depend on a power cut */
    (void)snprintf(kit->dir, sizeof kit->dir, "%s/writ-ledger-XXXXXX",
        access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(kit->dir));
    (void)snprintf(kit->path, sizeof kit->path, "%s/ledger.db", kit->dir);
    atomic_store(&kit->wall_us, WRIT_KIT_WALL_US);
    atomic_store(&kit->mono_us, WRIT_KIT_S);
    kit->clock = (struct writ_clock){wall_of, mono_of, kit};
    kit->options = writ_ledger_options_default;
    kit->options.clock = &kit->clock;
    kit->ring = ring_new();
    kit->options.keyring = kit->ring;
    kit->options.budget_window_us = WRIT_KIT_S * 86400 * 366;
    kit->options.segment_claims = kit->options.segment_merge = 2; /* claims go to the disk soon */
    kit->options.boundaries_max = 10000;
    kit->options.in_flight_max = 10000;
    kit->options.budgets_max = 10000;
    writ_result made = writ_ledger_create(kit->path, (struct writ_view){0}, &kit->clock, &err);
    ck_assert_msg(writ_is_ok(made), "create: %s", err.text);
}

void
writ_kit_start(struct writ_kit *kit)
{
    writ_kit_init(kit);
    writ_kit_open(kit);
}

void
writ_kit_open(struct writ_kit *kit)
{
    struct writ_err err = {0};
    writ_result opened = writ_ledger_open(kit->path, &kit->options, &kit->ledger, &err);

    ck_assert_msg(writ_is_ok(opened), "open: %s", err.text);
}

void
writ_kit_close(struct writ_kit *kit)
{
    writ_ledger_close(kit->ledger);
    kit->ledger = NULL;
}

void
writ_kit_hurry(struct writ_kit *kit)
{
    kit->options.segment_claims = 1;
    kit->options.segment_merge = 2;
    kit->options.manifest_records = 1;
}

void
writ_kit_sign_together(struct writ_kit *kit)
{
    kit->options.tail_key = WRIT_LIT("the key of the tail, of 32 bytes");
}

void
writ_kit_forget(struct writ_kit *kit)
{
    struct writ_err err = {0};
    writ_result forgotten;

    writ_kit_close(kit);
    forgotten = writ_ledger_rebuild(kit->path, &err);
    ck_assert_msg(writ_is_ok(forgotten), "forget: %s", err.text);
}

void
writ_kit_wipe(struct writ_kit *kit)
{
    static const char *const names[] = {"", "-wal", "-shm", "-lock"};

    writ_kit_close(kit);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[128];

        (void)snprintf(path, sizeof path, "%s%s", kit->path, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(kit->dir);
    writ_keyring_free(kit->ring);
    kit->ring = NULL;
}

void
writ_kit_pass(struct writ_kit *kit, int64_t us)
{
    atomic_fetch_add(&kit->wall_us, us);
    atomic_fetch_add(&kit->mono_us, us);
}

/* ---- calls ---- */

static struct writ_view
text_of(const char *text, const char *otherwise)
{
    return writ_view_str(text == NULL ? otherwise : text);
}

static void
on_done(struct writ_entry *entry)
{
    (void)sem_post(entry->user);
}

/* As the gateway makes it: described, derived, identified. */
static void
fill(struct writ_kit *kit, struct writ_kit_call *call, const struct writ_kit_spec *spec)
{
    static const struct writ_view refs[] = {{"tools/write_file#0", 18}};
    struct writ_decision *d = &call->decision;
    struct writ_view argument = text_of(spec->argument, "a");
    struct writ_digest digest;
    char id[64], hash[WRIT_DIGEST_TEXT];

    (void)snprintf(id, sizeof id, "d-%012llu", (unsigned long long)atomic_fetch_add(&kit->made, 1));
    ck_assert_ok(writ_digest_bytes(argument, &digest, NULL));
    writ_digest_text(&digest, hash);
    d->decision_id = writ_member_text(writ_view_copy(writ_view_str(id), call->arena));
    d->decision = writ_decision_route_text(spec->route);
    d->reason = writ_member_text(WRIT_LIT("as the policy says"));
    d->agent_id = writ_member_text(text_of(spec->agent, "agent"));
    d->tool = writ_member_text(text_of(spec->tool, "write_file"));
    d->target = writ_member_text(WRIT_LIT("file:/tmp/x"));
    d->normalized_scope = writ_member_text(WRIT_LIT("files/x"));
    d->params_hash = writ_member_text(writ_view_copy(writ_view_str(hash), call->arena));
    d->target_state_digest.is = WRIT_NULL;
    d->policy_refs = writ_member_list(refs, 1);
    d->boundary_id = writ_member_text(text_of(spec->boundary, "run"));
    ck_assert_ok(writ_decision_derive(d, writ_profile_default(), call->arena, NULL));
}

/* The key of the same call in another run. */
static void
key_in(struct writ_kit_call *call, const char *boundary, struct writ_view tenant,
    struct writ_digest *ret)
{
    const struct writ_decision *d = &call->decision;
    struct writ_member_text key;

    ck_assert_ok(writ_decision_auto_key(
        writ_view_str(boundary), &call->entry.decision.claim.call, call->arena, &key, NULL));
    ck_assert_ok(writ_ledger_claim(
        tenant, d->agent_id.view, WRIT_LIT("fs"), d->tool.view, key.view, ret, NULL));
}

static void
claim_of(struct writ_kit_call *call, const struct writ_kit_spec *spec)
{
    struct writ_decision *d = &call->decision;
    struct writ_entry_decision *e = &call->entry.decision;
    struct writ_view tenant = text_of(spec->tenant, "acme"), upstream = WRIT_LIT("fs");

    ck_assert_ok(writ_decision_state_free(d, tenant, upstream, &e->claim.call, NULL));
    e->claim.caller_stated = spec->key != NULL;
    if (spec->key != NULL) {
        d->idempotency_key = writ_member_text(writ_view_str(spec->key));
    } else {
        ck_assert_ok(writ_decision_auto_key(
            d->boundary_id.view, &e->claim.call, call->arena, &d->idempotency_key, NULL));
    }
    ck_assert_ok(writ_ledger_claim(tenant, d->agent_id.view, upstream, d->tool.view,
        d->idempotency_key.view, &e->claim.key, NULL));
    if (spec->previous != NULL) {
        key_in(call, spec->previous, tenant, &e->claim.previous);
        e->claim.previous_since_us = spec->previous_since_us;
    }
    if (spec->next != NULL) {
        key_in(call, spec->next, tenant, &e->claim.next);
    }
}

static void
extend(struct writ_kit_call *call, const struct writ_kit_spec *spec)
{
    struct writ_extension extension = {0};
    char digest[WRIT_DIGEST_TEXT];

    writ_digest_text(&call->entry.decision.claim.call, digest);
    extension.tenant = writ_member_text(text_of(spec->tenant, "acme"));
    extension.upstream = writ_member_text(WRIT_LIT("fs"));
    extension.profile = writ_member_text(writ_profile_default()->name);
    extension.state_free = writ_member_text(writ_view_copy(writ_view_str(digest), call->arena));
    extension.key_stated = writ_member_flag(spec->key != NULL);
    ck_assert_ok(writ_extension_make(&extension, call->arena, &call->decision.extensions, NULL));
}

struct writ_reservation
writ_kit_budget(void)
{
    return (struct writ_reservation){
        .key = {{1}},
        .name = WRIT_LIT("calls"),
        .window_us = 3600 * WRIT_KIT_S,
        .amount = writ_decimal_of(1),
        .limit = writ_decimal_of(9),
    };
}

struct writ_kit_call *
writ_kit_call(struct writ_kit *kit, struct writ_kit_spec spec)
{
    struct writ_kit_call *call = calloc(1, sizeof *call);

    ck_assert_ptr_nonnull(call);
    call->arena = writ_arena_new(CALL_ARENA);
    ck_assert_ptr_nonnull(call->arena);
    ck_assert_int_eq(sem_init(&call->done, 0, 0), 0);
    fill(kit, call, &spec);

    call->entry.kind = WRIT_ENTRY_DECISION;
    call->entry.arena = call->arena;
    call->entry.done = on_done;
    call->entry.user = &call->done;
    call->entry.decision.draft = &call->decision;
    call->entry.decision.profile = writ_profile_default();
    call->entry.decision.tenant = text_of(spec.tenant, "acme");
    call->entry.decision.lifetime_us = LIFETIME_US;
    call->entry.decision.shadow = spec.shadow;
    call->entry.decision.duplicates = spec.duplicates;
    call->entry.decision.reservations = spec.reservations;
    call->entry.decision.reservations_n = spec.reservations_n;
    claim_of(call, &spec);
    extend(call, &spec);
    return call;
}

void
writ_kit_call_free(struct writ_kit_call *call)
{
    if (call != NULL) {
        writ_arena_free(call->arena);
        (void)sem_destroy(&call->done);
        free(call);
    }
}

void
writ_kit_call_freep(struct writ_kit_call **call)
{
    writ_kit_call_free(*call);
}

static void
submit_and_wait(struct writ_kit *kit, struct writ_entry *entry)
{
    struct writ_entry *entries[] = {entry};

    ck_assert_ok(writ_ledger_submit(kit->ledger, entries, 1));
    while (sem_wait(entry->user) != 0) {
    }
}

enum writ_code
writ_kit_decide(struct writ_kit *kit, struct writ_kit_call *call)
{
    submit_and_wait(kit, &call->entry);
    call->leaf = call->entry.decision.leaf;
    return call->entry.code;
}

void
writ_kit_outcome(struct writ_kit_call *call, enum writ_outcome_kind kind, const char *error_type)
{
    call->outcome = writ_outcome_for(&call->decision, kind);
    if (error_type != NULL) {
        call->outcome.error_type = writ_member_text(writ_view_str(error_type));
    }
    call->entry = (struct writ_entry){
        .kind = WRIT_ENTRY_OUTCOME,
        .arena = call->arena,
        .done = on_done,
        .user = &call->done,
        .outcome = {.leaf = call->leaf,
            .decision = &call->decision,
            .profile = writ_profile_default(),
            .outcome = &call->outcome},
    };
}

enum writ_code
writ_kit_end(struct writ_kit *kit, struct writ_kit_call *call, enum writ_outcome_kind kind,
    const char *error_type)
{
    writ_kit_outcome(call, kind, error_type);
    submit_and_wait(kit, &call->entry);
    return call->entry.code;
}

struct writ_kit_call *
writ_kit_granted(struct writ_kit *kit, struct writ_kit_spec spec)
{
    struct writ_kit_call *call;

    spec.route = spec.shadow ? spec.route : WRIT_DECISION_ALLOW;
    call = writ_kit_call(kit, spec);
    ck_assert_int_eq(writ_kit_decide(kit, call), WRIT_OK);
    ck_assert_msg(call->entry.decision.granted, "refused: " WRIT_VIEW_FMT,
        WRIT_VIEW_ARG(writ_reason_name(call->entry.decision.refused)));
    return call;
}

void
writ_kit_refused(struct writ_kit *kit, struct writ_kit_spec spec, enum writ_reason reason)
{
    struct writ_kit_call *call;

    spec.route = WRIT_DECISION_ALLOW;
    call = writ_kit_call(kit, spec);
    ck_assert_int_eq(writ_kit_decide(kit, call), WRIT_OK);
    ck_assert(!call->entry.decision.granted);
    ck_assert_msg(call->entry.decision.refused == reason, "refused: " WRIT_VIEW_FMT,
        WRIT_VIEW_ARG(writ_reason_name(call->entry.decision.refused)));
    ck_assert(writ_decision_is(&call->decision, WRIT_DECISION_DENY));
    writ_kit_call_free(call);
}

void
writ_kit_run(struct writ_kit *kit, struct writ_kit_spec spec)
{
    struct writ_kit_call *call = writ_kit_granted(kit, spec);

    ck_assert_int_eq(writ_kit_end(kit, call, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    writ_kit_call_free(call);
}

static void
ended(struct writ_kit *kit, struct writ_kit_spec spec, enum writ_outcome_kind kind, const char *why)
{
    struct writ_kit_call *call = writ_kit_granted(kit, spec);

    ck_assert_int_eq(writ_kit_end(kit, call, kind, why), WRIT_OK);
    writ_kit_call_free(call);
}

void
writ_kit_two_runs(struct writ_kit *kit, const char *agent)
{
    struct writ_kit_call *denied;

    writ_kit_run(kit, (struct writ_kit_spec){.boundary = "one", .argument = "1"});
    ended(kit, (struct writ_kit_spec){.boundary = "one", .argument = "2"}, WRIT_OUTCOME_TIMEOUT,
        NULL);
    ck_assert_int_eq(writ_kit_seal(kit, "one", NULL), WRIT_OK);
    denied =
        writ_kit_call(kit, (struct writ_kit_spec){.boundary = "two", .route = WRIT_DECISION_DENY});
    ck_assert_int_eq(writ_kit_decide(kit, denied), WRIT_OK);
    writ_kit_call_free(denied);
    ended(kit, (struct writ_kit_spec){.boundary = "two", .agent = agent, .key = "k"},
        WRIT_OUTCOME_ERROR, WRIT_OUTCOME_NOT_SENT);
    writ_kit_call_free(
        writ_kit_granted(kit, (struct writ_kit_spec){.boundary = "two", .argument = "3"}));
}

/* ---- rounds ---- */

enum writ_code
writ_kit_wait(struct writ_kit *kit, struct writ_kit_call *call, enum writ_wait_kind kind,
    struct writ_digest name, int64_t for_us)
{
    struct writ_entry entry = {
        .kind = WRIT_ENTRY_WAIT,
        .wait = {.leaf = call->leaf,
            .kind = kind,
            .name = name,
            .until_us = atomic_load(&kit->wall_us) + for_us},
    };

    return writ_kit_submit(kit, &entry);
}

enum writ_code
writ_kit_waiting(struct writ_kit *kit, struct writ_digest name, struct writ_entry_waiting *ret)
{
    struct writ_entry entry = {.kind = WRIT_ENTRY_WAITING, .waiting = {.name = name}};
    enum writ_code code;

    entry.arena = writ_arena_new(CALL_ARENA);
    ck_assert_ptr_nonnull(entry.arena);
    code = writ_kit_submit(kit, &entry);
    if (code == WRIT_OK && ret != NULL) {
        *ret = entry.waiting;
        ret->decision = (struct writ_decision){0}; /* it dies with the arena */
    }
    writ_arena_free(entry.arena);
    return code;
}

struct writ_kit_call *
writ_kit_round(struct writ_kit *kit, const struct writ_kit_call *before, struct writ_kit_spec spec)
{
    struct writ_kit_call *call;

    spec.route = WRIT_DECISION_ALLOW;
    call = writ_kit_call(kit, spec);
    call->decision.supersedes =
        writ_member_text(writ_view_copy(before->decision.decision_id.view, call->arena));
    call->entry.decision.follows = true;
    call->entry.decision.before = before->leaf;
    return call;
}

/* ---- other entries ---- */

enum writ_code
writ_kit_submit(struct writ_kit *kit, struct writ_entry *entry)
{
    sem_t done;

    ck_assert_int_eq(sem_init(&done, 0, 0), 0);
    entry->done = on_done;
    entry->user = &done;
    submit_and_wait(kit, entry);
    (void)sem_destroy(&done);
    return entry->code;
}

enum writ_code
writ_kit_seal(struct writ_kit *kit, const char *boundary, uint64_t *ret_total)
{
    struct writ_entry entry = {
        .kind = WRIT_ENTRY_SEAL,
        .seal = {.tenant = WRIT_LIT("acme"), .boundary_id = writ_view_str(boundary)},
    };
    enum writ_code code = writ_kit_submit(kit, &entry);

    if (code == WRIT_OK && ret_total != NULL) {
        *ret_total = entry.seal.total;
    }
    return code;
}

void
writ_kit_turn(struct writ_kit *kit)
{
    /* due work runs at the end of a turn, so before the next one begins */
    for (int i = 0; i < 2; i++) {
        struct writ_entry entry = {.kind = WRIT_ENTRY_SESSION_GET};

        entry.arena = writ_arena_new(CALL_ARENA);
        (void)writ_kit_submit(kit, &entry);
        writ_arena_free(entry.arena);
    }
}

struct writ_ledger_health
writ_kit_health(struct writ_kit *kit)
{
    struct writ_ledger_health health;

    writ_kit_turn(kit);
    writ_ledger_health(kit->ledger, &health);
    return health;
}

/* ---- the database ---- */

static sqlite3 *
database(struct writ_kit *kit)
{
    sqlite3 *db = NULL;

    ck_assert_int_eq(sqlite3_open_v2(kit->path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    (void)sqlite3_busy_timeout(db, 5000);
    return db;
}

struct writ_digest
writ_kit_root(struct writ_kit *kit, uint64_t size)
{
    struct writ_proofs *proofs = NULL;
    struct writ_tree_source source;
    struct writ_tree_edge edge;
    struct writ_digest root;

    ck_assert_ok(writ_proofs_open(kit->path, kit->ring, &proofs, NULL));
    source = writ_proofs_source(proofs);
    ck_assert_ok(writ_tree_edge_of(&source, size, &edge, NULL));
    ck_assert_ok(writ_tree_root(&edge, &root, NULL));
    writ_proofs_close(proofs);
    return root;
}

int64_t
writ_kit_number(struct writ_kit *kit, const char *sql)
{
    sqlite3 *db = database(kit);
    sqlite3_stmt *statement = NULL;
    int64_t number;

    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s", sql,
        sqlite3_errmsg(db));
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    number = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(db);
    return number;
}

void
writ_kit_sql(struct writ_kit *kit, const char *sql)
{
    sqlite3 *db = database(kit);
    char *message = NULL;

    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK, "%s: %s", sql, message);
    (void)sqlite3_close(db);
}
