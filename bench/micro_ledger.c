/* micro_ledger.c - measures the cost of one record of the ledger.
 *
 *     micro_ledger DIRECTORY [CALLS_AT_ONCE [SECONDS]]
 *     micro_ledger DIRECTORY grow [RECORDS [RUNS]]
 *     micro_ledger DIRECTORY claims [CLAIMS [RUNS]]      the same with a key for each call
 *     micro_ledger DIRECTORY kept [CALLS [RUNS]]         the same with kept arguments
 *     micro_ledger DIRECTORY start LEDGER                a start with an existing one
 *     micro_ledger --store=URI ...                       the same on PostgreSQL
 *
 * Makes a ledger in DIRECTORY, which should be on the disk to measure, with its keys in
 * DIRECTORY/keys, so that `writ ledger` can read it afterwards. Then it runs calls as one loop of
 * the gateway does: every turn submits the records that the last group has made possible, decisions
 * of new calls and outcomes of granted ones. A call has two records, both durable before the next
 * step. Prints records per second, CPU of the ledger's threads per record, and how long a record
 * took from its submission. With --store the ledger is made when the database has none, and several
 * processes may write it at once, each a gateway of its own with the keys of DIRECTORY. */
#include "decision.h"

#include "base/id.h"
#include "evidence/record/derive.h"
#include "evidence/record/profile.h"
#include "store/disk/disk_postgres.h"
#include "store/ledger/ledger.h"
#include "store/trusted/keydir.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define CALL_ARENA (64 << 10)
#define CALLS_MAX  4096
#define WAITS_MAX  4000000
#define RUNS       16
#define AT_ONCE    64
#define GROW_FIRST 10000 /* records of the first row of `grow` */
#define GROW_LOOK  50000 /* most records that a row of it is measured over */

struct call {
    struct writ_entry entry;
    struct writ_decision decision;
    struct writ_outcome outcome;
    struct writ_arena *arena;
    int64_t submitted_us;
    char id[WRIT_ID_TEXT], key[WRIT_ID_TEXT], boundary[32];
    char state_free[WRIT_DIGEST_TEXT], params[WRIT_DIGEST_TEXT];
    struct writ_sealed content;
    struct call *next;
};

struct bench {
    struct writ_ledger *ledger;
    const struct writ_clock *clock;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    struct call *ready;
    uint64_t records, refused, runs;
    bool growing, claiming;
    const struct writ_wrap_key *keeps; /* the key of contents; NULL: none are kept */
    double *waits; /* not for a growing ledger: they would dominate its memory */
    size_t waits_n;
};

static struct bench bench;

static void
fail(const char *what, const struct writ_err *err)
{
    (void)fprintf(stderr, "micro_ledger: %s: %s\n", what, err->text);
    exit(1);
}

static void
on_done(struct writ_entry *entry)
{
    struct call *call = entry->user;

    (void)pthread_mutex_lock(&bench.mutex);
    call->next = bench.ready;
    bench.ready = call;
    (void)pthread_cond_signal(&bench.wake);
    (void)pthread_mutex_unlock(&bench.mutex);
}

/* Arguments of some 300 bytes that differ from call to call, kept for a day. */
static void
keep(struct call *call, uint64_t n)
{
    char text[512];
    struct writ_digest digest;
    struct writ_err err = {0};
    struct writ_view plain;
    const struct writ_content_of of = {.decision_id = writ_view_str(call->id),
        .part = WRIT_CONTENT_ARGUMENTS,
        .expires_us = writ_clock_wall_us(bench.clock) + INT64_C(86400000000)};

    (void)snprintf(text, sizeof text,
        "{\"content\":\"%0200llu\",\"mode\":%llu,\"options\":{\"append\":false,\"tags\":[\"a\","
        "\"b\"]},"
        "\"path\":\"/srv/sandbox/notes/%llu.txt\"}",
        (unsigned long long)n, (unsigned long long)(n % 1000), (unsigned long long)(n % 5000));
    plain = writ_view_str(text);
    if (!writ_is_ok(writ_digest_bytes(plain, &digest, &err)) ||
        !writ_is_ok(
            writ_content_seal(bench.keeps, &of, plain, call->arena, &call->content, &err))) {
        fail("content", &err);
    }
    writ_digest_text(&digest, call->params);
    call->decision.params_hash = writ_member_text(writ_view_str(call->params));
    call->entry.decision.content = &call->content;
}

static void
draft(struct call *call, uint64_t n)
{
    struct writ_extension extension = {0};
    struct writ_err err = {0};

    writ_arena_reset(call->arena);
    if (!writ_is_ok(writ_id_new(bench.clock, call->id, &err)) ||
        !writ_is_ok(writ_id_new(bench.clock, call->key, &err))) {
        fail("id", &err);
    }
    (void)snprintf(
        call->boundary, sizeof call->boundary, "run-%llu", (unsigned long long)(n % bench.runs));
    call->decision = writ_bench_decision(call->id, call->key, call->boundary);
    call->entry = (struct writ_entry){
        .kind = WRIT_ENTRY_DECISION,
        .done = on_done,
        .user = call,
        .arena = call->arena,
        .decision = {.draft = &call->decision,
            .profile = writ_profile_default(),
            .tenant = WRIT_LIT("acme"),
            .lifetime_us = 60000000,
            .claim = {.caller_stated = true}},
    };
    if (bench.growing && !bench.claiming) { /* claims are written to the disk too */
        call->entry.decision.duplicates = WRIT_DUPLICATES_ALLOW;
    }
    if (bench.keeps != NULL) {
        keep(call, n);
    }
    extension.tenant = writ_member_text(WRIT_LIT("acme"));
    extension.upstream = writ_member_text(WRIT_LIT("fs"));
    extension.profile = writ_member_text(writ_profile_default()->name);
    if (!writ_is_ok(
            writ_decision_derive(&call->decision, writ_profile_default(), call->arena, &err)) ||
        !writ_is_ok(writ_decision_state_free(&call->decision, WRIT_LIT("acme"), WRIT_LIT("fs"),
            &call->entry.decision.claim.call, &err))) {
        fail("draft", &err);
    }
    writ_digest_text(&call->entry.decision.claim.call, call->state_free);
    extension.state_free = writ_member_text(writ_view_str(call->state_free));
    if (!writ_is_ok(writ_ledger_claim(WRIT_LIT("acme"), call->decision.agent_id.view,
            WRIT_LIT("fs"), call->decision.tool.view, call->decision.idempotency_key.view,
            &call->entry.decision.claim.key, &err)) ||
        !writ_is_ok(
            writ_extension_make(&extension, call->arena, &call->decision.extensions, &err))) {
        fail("draft", &err);
    }
}

static void
conclude(struct call *call)
{
    uint64_t leaf = call->entry.decision.leaf;

    call->outcome = writ_outcome_for(&call->decision, WRIT_OUTCOME_EXECUTED);
    call->outcome.tool_output_hash = call->decision.policy_digest;
    call->entry = (struct writ_entry){
        .kind = WRIT_ENTRY_OUTCOME,
        .done = on_done,
        .user = call,
        .arena = call->arena,
        .outcome = {.leaf = leaf,
            .decision = &call->decision,
            .profile = writ_profile_default(),
            .outcome = &call->outcome},
    };
}

static void
submit(struct writ_entry **entries, size_t n)
{
    int64_t now_us = writ_clock_mono_us(bench.clock);

    for (size_t i = 0; i < n; i++) {
        ((struct call *)entries[i]->user)->submitted_us = now_us;
    }
    if (n > 0 && !writ_is_ok(writ_ledger_submit(bench.ledger, entries, n))) {
        (void)fprintf(stderr, "micro_ledger: the queue is full\n");
        exit(1);
    }
}

static struct call *
take_ready(void)
{
    struct call *list;

    (void)pthread_mutex_lock(&bench.mutex);
    while (bench.ready == NULL) {
        (void)pthread_cond_wait(&bench.wake, &bench.mutex);
    }
    list = bench.ready;
    bench.ready = NULL;
    (void)pthread_mutex_unlock(&bench.mutex);
    return list;
}

/* One turn of the loop: everything that is ready takes its next step. */
static size_t
turn(uint64_t *n, bool more)
{
    struct writ_entry *entries[CALLS_MAX];
    size_t count = 0, ended = 0;
    int64_t now_us;
    struct call *list = take_ready();

    now_us = writ_clock_mono_us(bench.clock);
    while (list != NULL) {
        struct call *call = list;

        list = call->next;
        bench.records++;
        if (!bench.growing && bench.waits_n < WAITS_MAX) {
            bench.waits[bench.waits_n++] = (double)(now_us - call->submitted_us);
        }
        if (call->entry.kind == WRIT_ENTRY_DECISION && call->entry.decision.granted) {
            conclude(call);
        } else if (more) {
            bench.refused += call->entry.code == WRIT_OK ? 0 : 1;
            draft(call, (*n)++);
        } else {
            ended++;
            continue;
        }
        entries[count++] = &call->entry;
    }
    submit(entries, count);
    return ended;
}

static double
cpu_of(int who)
{
    struct rusage usage;

    (void)getrusage(who, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static int
by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static void
report(size_t at_once, double seconds, double cpu)
{
    struct writ_ledger_health health;

    writ_ledger_health(bench.ledger, &health);
    qsort(bench.waits, bench.waits_n, sizeof *bench.waits, by_value);
    (void)printf("%zu at once: %.0f records/s, %.1f records/group, %.1f us CPU/record, "
                 "wait p50 %.0f us, p99 %.0f us, max %.0f us%s\n",
        at_once, (double)bench.records / seconds, (double)bench.records / (double)health.groups,
        cpu * 1e6 / (double)bench.records, bench.waits[bench.waits_n / 2],
        bench.waits[bench.waits_n / 100 * 99], bench.waits[bench.waits_n - 1],
        bench.refused > 0 ? " (some failed)" : "");
}

static size_t
resident_kib(void)
{
    unsigned long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");

    if (statm == NULL || fscanf(statm, "%*u %lu", &pages) != 1) {
        pages = 0;
    }
    if (statm != NULL) {
        (void)fclose(statm);
    }
    return pages * ((size_t)sysconf(_SC_PAGESIZE) / 1024);
}

/* The size after that one: ten times as large, or the last one. */
static uint64_t
next_size(uint64_t size, uint64_t most)
{
    return size * 10 < most || size == most ? size * 10 : most;
}

/* The cost of a record after 10^4, 10^5 and so on records, or after twice as many for as many
 * claims. */
static void
grow(struct call *calls, uint64_t most)
{
    struct writ_entry *entries[AT_ONCE];
    uint64_t n = 0;
    size_t ended = 0;

    for (size_t i = 0; i < AT_ONCE; i++) {
        draft(&calls[i], n++);
        entries[i] = &calls[i].entry;
    }
    submit(entries, AT_ONCE);
    for (uint64_t size = bench.claiming ? 2 * GROW_FIRST : GROW_FIRST; size <= most;
         size = next_size(size, most)) {
        uint64_t look = size / 2 < GROW_LOOK ? size / 2 : GROW_LOOK, from;
        struct writ_ledger_health before, health;
        double cpu;

        while (bench.records < size - look) {
            (void)turn(&n, true);
        }
        from = bench.records;
        writ_ledger_health(bench.ledger, &before);
        cpu = cpu_of(RUSAGE_SELF) - cpu_of(RUSAGE_THREAD);
        while (bench.records < size) {
            (void)turn(&n, true);
        }
        cpu = cpu_of(RUSAGE_SELF) - cpu_of(RUSAGE_THREAD) - cpu;
        writ_ledger_health(bench.ledger, &health);
        (void)printf(
            "%9llu records: %.1f us CPU/record, %.1f records/group, %zu claims, %zu MiB resident\n",
            (unsigned long long)size, cpu * 1e6 / (double)(bench.records - from),
            (double)(health.records - before.records) / (double)(health.groups - before.groups),
            health.claims, resident_kib() / 1024);
        (void)fflush(stdout);
    }
    while (ended < AT_ONCE) {
        ended += turn(&n, false);
    }
}

static void
run(struct call *calls, size_t at_once, double seconds)
{
    struct writ_entry *entries[CALLS_MAX];
    uint64_t n = 0;
    size_t ended = 0;
    double cpu = cpu_of(RUSAGE_SELF) - cpu_of(RUSAGE_THREAD);
    int64_t began_us = writ_clock_mono_us(bench.clock);
    int64_t until_us = began_us + (int64_t)(seconds * 1e6);

    for (size_t i = 0; i < at_once; i++) {
        draft(&calls[i], n++);
        entries[i] = &calls[i].entry;
    }
    submit(entries, at_once);
    while (ended < at_once) {
        ended += turn(&n, writ_clock_mono_us(bench.clock) < until_us);
    }
    report(at_once, (double)(writ_clock_mono_us(bench.clock) - began_us) / 1e6,
        cpu_of(RUSAGE_SELF) - cpu_of(RUSAGE_THREAD) - cpu);
}

/* The keys of the directory, which is created if absent. */
static struct writ_keyring *
keys_of(const char *directory)
{
    struct writ_keydir *dir = NULL;
    struct writ_keyring *ring = NULL;
    struct writ_signer *signer = NULL;
    struct writ_wrap_key *wrap = NULL;
    struct writ_err err = {0};
    char path[512];

    (void)snprintf(path, sizeof path, "%s/keys", directory);
    if (!writ_is_ok(writ_keydir_open(path, true, &dir, &err))) {
        fail("keys", &err);
    }
    if (writ_keyring_active(writ_keydir_ring(dir), WRIT_KEY_PURPOSE_LEDGER) == NULL &&
        (!writ_is_ok(writ_signer_new(WRIT_JWK_ALG_EDDSA, &signer, &err)) ||
            !writ_is_ok(writ_keyring_add(
                writ_keydir_ring(dir), WRIT_KEY_PURPOSE_LEDGER, signer, 0, &err)) ||
            !writ_is_ok(writ_keydir_save(dir, &err)))) {
        fail("keys", &err);
    }
    if (writ_keyring_wrap(writ_keydir_ring(dir)) == NULL &&
        (!writ_is_ok(writ_wrap_key_new(&wrap, &err)) ||
            !writ_is_ok(writ_keyring_add_wrap(writ_keydir_ring(dir), wrap, 0, &err)) ||
            !writ_is_ok(writ_keydir_save(dir, &err)))) {
        fail("keys", &err);
    }
    writ_keydir_close(dir);
    if (!writ_is_ok(writ_keydir_load(path, &ring, &err))) {
        fail("keys", &err);
    }
    return ring;
}

/* Makes the ledger, unless the database has one. */
static void
create(const char *path, bool shared)
{
    const struct writ_view none = {0};
    struct writ_err err = {0};
    bool has = false;

    if (shared) {
        if (!writ_is_ok(writ_disk_postgres_has(path, &has, &err)) ||
            (!has && !writ_is_ok(writ_ledger_create_shared(path, none, none, bench.clock, &err)))) {
            fail("ledger", &err);
        }
    } else if (!writ_is_ok(writ_ledger_create(path, none, bench.clock, &err))) {
        fail("ledger", &err);
    }
}

/* Takes `--store=URI` off the arguments; NULL: it is not there. */
static const char *
take_store(int *argc, char **argv)
{
    static const char option[] = "--store=";
    const char *store;

    if (*argc < 2 || strncmp(argv[1], option, sizeof option - 1) != 0) {
        return NULL;
    }
    store = argv[1] + sizeof option - 1;
    for (int i = 2; i <= *argc; i++) { /* with the NULL at its end */
        argv[i - 1] = argv[i];
    }
    (*argc)--;
    return store;
}

/* The cost of a start. */
static void
start(const char *path, const struct writ_ledger_options *options)
{
    struct writ_ledger_health health;
    struct writ_err err = {0};
    size_t before_kib = resident_kib();
    double cpu = cpu_of(RUSAGE_SELF);
    int64_t began_us = writ_clock_mono_us(bench.clock);

    if (!writ_is_ok(writ_ledger_open(path, options, &bench.ledger, &err))) {
        fail("ledger", &err);
    }
    writ_ledger_health(bench.ledger, &health);
    (void)printf("start: %.2f s, %.2f s CPU, %llu records, %zu claims, %zu MiB\n",
        (double)(writ_clock_mono_us(bench.clock) - began_us) / 1e6, cpu_of(RUSAGE_SELF) - cpu,
        (unsigned long long)health.records, health.claims, (resident_kib() - before_kib) / 1024);
    writ_ledger_close(bench.ledger);
}

int
main(int argc, char **argv)
{
    const char *store = take_store(&argc, argv);
    bool claiming = argc > 2 && strcmp(argv[2], "claims") == 0;
    bool keeping = argc > 2 && strcmp(argv[2], "kept") == 0;
    bool growing = claiming || keeping || (argc > 2 && strcmp(argv[2], "grow") == 0);
    size_t at_once = argc > 2 && !growing ? (size_t)atoi(argv[2]) : AT_ONCE;
    double seconds = argc > 3 ? atof(argv[3]) : 3;
    struct writ_ledger_options options = writ_ledger_options_default;
    struct writ_err err = {0};
    struct call *calls = calloc(CALLS_MAX, sizeof *calls);
    char path[512], name[32];

    bench.clock = writ_clock_system();
    (void)snprintf(name, sizeof name, "micro-%ld", (long)getpid());
    options.gateway = writ_view_str(name);
    options.alone = true;
    if (argc == 4 && strcmp(argv[2], "start") == 0) {
        options.keyring = keys_of(argv[1]);
        start(argv[3], &options);
        return 0;
    }
    if (argc < 2 || at_once < 1 || at_once > CALLS_MAX || calls == NULL) {
        (void)fprintf(stderr,
            "usage: micro_ledger DIRECTORY [CALLS_AT_ONCE [SECONDS]]\n"
            "       micro_ledger DIRECTORY grow|claims|kept [RECORDS|CALLS [RUNS]]\n"
            "       micro_ledger DIRECTORY start LEDGER\n"
            "       micro_ledger --store=URI ...\n");
        return 2;
    }
    options.keyring = keys_of(argv[1]);
    if (store != NULL) {
        (void)snprintf(path, sizeof path, "%s", store);
    } else {
        (void)snprintf(path, sizeof path, "%s/%s.db", argv[1], name);
    }
    create(path, store != NULL);
    bench.waits = malloc(WAITS_MAX * sizeof *bench.waits);
    (void)pthread_mutex_init(&bench.mutex, NULL);
    (void)pthread_cond_init(&bench.wake, NULL);
    for (size_t i = 0; i < at_once; i++) {
        calls[i].arena = writ_arena_new(CALL_ARENA);
    }
    if (bench.waits == NULL || !writ_is_ok(writ_ledger_open(path, &options, &bench.ledger, &err))) {
        fail("ledger", &err);
    }
    bench.growing = growing;
    bench.claiming = claiming || keeping;
    bench.keeps = keeping ? writ_keyring_wrap(options.keyring) : NULL;
    bench.runs = growing && argc > 4 ? strtoull(argv[4], NULL, 10) : RUNS;
    if (growing) {
        grow(calls, (bench.claiming ? 2 : 1) * (argc > 3 ? (uint64_t)atoll(argv[3]) : 1000000));
    } else {
        run(calls, at_once, seconds);
    }
    writ_ledger_close(bench.ledger);
    start(path, &options);
    (void)printf("ledger: %s\n", path);
    return 0;
}
