/* Fails every allocation of a reload. The gateway has all of the old configuration or all of the
 * new one, and a failed reload leaks nothing (the asan preset checks that). */
#include "policy/read/load.h"
#include "support/evidence/keys.h"
#include "support/store/kit.h"
#include "support/unit.h"

#include "gateway/service/reload.h"
#include "store/trusted/keydir.h"

#include <pthread.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WORKERS 2

static char folder[64], file[128];
static struct writ_kit kit; /* whose ledger gets the rules of reviews */

static void
write_config(const char *agent)
{
    FILE *out = fopen(file, "w");

    ck_assert_ptr_nonnull(out);
    (void)fprintf(out,
        "agents: [{anonymous: true, id: %s}]\nkeys: %s/keys\nlimits: {queue: 9}\n"
        "store: \"sqlite://%s\"\n"
        "upstreams: {u: {http: \"http://127.0.0.1:1/\", authorization: {file: %s/secret}}}\n",
        agent, folder, kit.path, folder);
    (void)fclose(out);
}

static void
setup(void)
{
    struct writ_keydir *dir = NULL;
    char keys[128];
    int secret;

    (void)snprintf(folder, sizeof folder, "/tmp/writ-reload-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(file, sizeof file, "%s/writ.yaml", folder);
    (void)snprintf(keys, sizeof keys, "%s/secret", folder);
    secret = open(keys, O_WRONLY | O_CREAT | O_EXCL, 0600);
    ck_assert_int_eq(write(secret, "s3cret\n", 7), 7);
    ck_assert_int_eq(close(secret), 0);
    (void)snprintf(keys, sizeof keys, "%s/keys", folder);
    ck_assert_ok(writ_keydir_open(keys, true, &dir, NULL));
    ck_assert_ok(writ_keyring_add(writ_keydir_ring(dir), WRIT_KEY_PURPOSE_CREDENTIAL,
        writ_keys_signer(WRIT_JWK_ALG_ES256), 1, NULL));
    ck_assert_ok(writ_keyring_add(writ_keydir_ring(dir), WRIT_KEY_PURPOSE_LEDGER,
        writ_keys_signer(WRIT_JWK_ALG_EDDSA), 1, NULL));
    ck_assert_ok(writ_keydir_save(dir, NULL));
    writ_keydir_close(dir);
    writ_kit_start(&kit);
}

static void
teardown(void)
{
    char command[128];

    writ_kit_wipe(&kit);
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0); /* NOLINT: our own folder */
}

struct world {
    struct writ_gateway gateway;
    struct writ_config *config;
    struct writ_generation *generation;
    struct writ_worker workers[WORKERS];
    struct writ_loop *loops[WORKERS];
};

static void
world_begin(struct world *w)
{
    write_config("old");
    ck_assert_ok(writ_load_file(file, NULL, &w->config, NULL));
    ck_assert_ok(writ_generation_new(w->config, writ_clock_system(), NULL, &w->generation, NULL));
    w->gateway = (struct writ_gateway){.clock = writ_clock_system(),
        .config = w->config,
        .ledger = kit.ledger,
        .workers = w->workers,
        .workers_n = WORKERS};
    ck_assert_ok(writ_tokens_new(w->config, writ_clock_system(), NULL, &w->gateway.tokens, NULL));
    for (unsigned i = 0; i < WORKERS; i++) {
        const struct writ_loop_options options = {.index = i, .clock = writ_clock_system()};

        ck_assert_ok(writ_loop_new(&options, &w->loops[i], NULL));
        w->workers[i] = (struct writ_worker){.gateway = &w->gateway,
            .loop = w->loops[i],
            .index = i,
            .generation = writ_generation_hold(w->generation)};
        ck_assert_ok(writ_identity_new(w->generation->issuers, &w->workers[i].identity, NULL));
    }
}

/* Runs the posted tasks of the loops, and stops them. */
static void
world_end(struct world *w)
{
    for (size_t i = 0; i < WORKERS; i++) {
        ck_assert_ok(writ_loop_start(w->loops[i], NULL));
        writ_loop_stop(w->loops[i]);
        ck_assert_ok(writ_loop_join(w->loops[i], NULL));
    }
}

static void
world_free(struct world *w)
{
    for (size_t i = 0; i < WORKERS; i++) {
        writ_loop_free(w->loops[i]);
        writ_identity_free(w->workers[i].identity);
        writ_generation_drop(w->workers[i].generation);
    }
    writ_tokens_free(w->gateway.tokens);
    writ_generation_drop(w->generation);
    writ_config_drop(w->config);
}

START_TEST(reload_with_a_failed_allocation_changes_nothing)
{
    long failed = 0;
    bool reached = true;

    setup();
    for (long nth = 1; reached; nth++) {
        struct world w = {0};
        struct writ_generation *before;
        writ_auto_buf waits = writ_buf_make(100);
        writ_result r;

        world_begin(&w);
        before = w.generation;
        write_config("new");
        writ_fault_arm(nth);
        r = writ_reload_run(&w.gateway, file, &w.generation, &waits, NULL);
        reached = writ_fault_disarm();
        failed += writ_is_ok(r) ? 0 : 1;
        ck_assert(reached || writ_is_ok(r));
        ck_assert_msg((w.generation == before) == !writ_is_ok(r), "allocation %ld", nth);
        world_end(&w);
        for (size_t i = 0; i < WORKERS; i++) {
            ck_assert_msg(
                w.workers[i].generation == w.generation, "allocation %ld, loop %zu", nth, i);
        }
        ck_assert_view(w.generation->config->agents[0].agent.id, writ_is_ok(r) ? "new" : "old");
        world_free(&w);
    }
    ck_assert_int_gt(failed, 10);
    teardown();
}
END_TEST

START_TEST(reload_frees_the_old_generation_after_its_last_use)
{
    struct world w = {0};
    struct writ_generation *held;
    writ_auto_buf waits = writ_buf_make(100);

    setup();
    world_begin(&w);
    held = writ_generation_hold(w.generation);
    for (int i = 0; i < 3; i++) {
        ck_assert_ok(writ_reload_run(&w.gateway, file, &w.generation, &waits, NULL));
    }
    world_end(&w);
    writ_generation_reap(w.generation);
    ck_assert_ptr_eq(w.generation->before, held); /* of a request that is under way */
    writ_generation_drop(held);
    writ_generation_reap(w.generation);
    ck_assert_ptr_null(w.generation->before);
    world_free(&w);
    teardown();
}
END_TEST

WRIT_UNIT_MAIN("reload", reload_with_a_failed_allocation_changes_nothing,
    reload_frees_the_old_generation_after_its_last_use)
