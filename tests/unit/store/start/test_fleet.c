/* Two ledgers of one process write one database on a real cluster. A third connection holds the
 * turn, so that a test decides who gets it next. */
#include "support/store/cluster.h"
#include "support/store/kit.h"
#include "support/store/poll.h"
#include "support/store/recount.h"
#include "support/unit.h"

#include "crew/panel.h"
#include "store/sql/sql_postgres.h"
#include "store/write/store.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct writ_kit_spec spec;
typedef struct writ_kit_call call;

/* Long: no gateway asks for a turn of its own while a test counts those that wait. */
#define LEASE_US (1800 * WRIT_KIT_S)

static struct writ_cluster cluster;
static int databases;
static char uri[128]; /* of the present test's database */

/* ---- gateways ---- */

struct gateway {
    struct writ_kit kit;
    char file[96], name[16];
    struct writ_clock clock; /* of the kit, except that it stands while `paused` */
    _Atomic bool paused, standing;
};

static int64_t
wall_of(void *ctx)
{
    return writ_clock_wall_us(&((struct gateway *)ctx)->kit.clock);
}

/* The writer reads it in each of its rounds, and with nothing to do only outside of its turn. */
static int64_t
mono_of(void *ctx)
{
    struct gateway *g = ctx;

    while (atomic_load(&g->paused)) {
        atomic_store(&g->standing, true);
        (void)usleep(1000);
    }
    atomic_store(&g->standing, false);
    return writ_clock_mono_us(&g->kit.clock);
}

static void
pause_it(struct gateway *g)
{
    atomic_store(&g->paused, true);
    while (!atomic_load(&g->standing)) {
        (void)usleep(1000);
    }
}

static void
resume_it(struct gateway *g)
{
    atomic_store(&g->paused, false);
}

static int64_t
number(const char *text)
{
    struct writ_sql *sql = writ_cluster_connect(uri, LEASE_US);
    struct writ_sql_statement *statement = NULL;
    bool row = false;
    int64_t value;

    ck_assert_ok(writ_sql_prepare(sql, text, &statement, NULL));
    ck_assert_ok(writ_sql_step(statement, &row, NULL));
    ck_assert(row);
    value = writ_sql_int(statement, 0);
    writ_sql_reset(statement);
    writ_sql_finalize(statement);
    writ_sql_close(sql);
    return value;
}

static void
change(const char *text)
{
    struct writ_sql *sql = writ_cluster_connect(uri, LEASE_US);

    writ_cluster_run(sql, text);
    writ_sql_close(sql);
}

/* Waits until the query gives that number. */
static void
await(const char *text, int64_t wanted)
{
    for (int i = 0; i < 500 && number(text) != wanted; i++) {
        (void)usleep(20000);
    }
    ck_assert_int_eq(number(text), wanted);
}

/* A statement from outside of the present test's database. */
static void
change_outside(const char *text)
{
    struct writ_sql *sql = writ_cluster_connect(cluster.uri, LEASE_US);

    writ_cluster_run(sql, text);
    writ_sql_close(sql);
}

/* A new database with an empty ledger. */
static void
new_database(void)
{
    struct writ_err err = {0};
    char text[64];

    (void)snprintf(text, sizeof text, "CREATE DATABASE t%d", ++databases);
    change_outside(text);
    (void)snprintf(
        uri, sizeof uri, "postgresql:///t%d?host=%s&user=postgres", databases, cluster.dir);
    ck_assert_msg(writ_is_ok(writ_ledger_create_shared(uri, (struct writ_view){0},
                      (struct writ_view){0}, writ_clock_system(), &err)),
        "%s", err.text);
}

static void
allow_connections(bool allowed)
{
    char text[64];

    (void)snprintf(text, sizeof text, "ALTER DATABASE t%d ALLOW_CONNECTIONS %s", databases,
        allowed ? "true" : "false");
    change_outside(text);
}

/* A gateway that is not open. `other` (or NULL) has the key that both use. */
static struct gateway *
make(const char *name, const struct gateway *other)
{
    struct gateway *g = writ_alloc(sizeof *g); /* a test that fails leaves its threads */

    ck_assert_ptr_nonnull(g);
    writ_kit_init(&g->kit);
    (void)snprintf(g->file, sizeof g->file, "%s", g->kit.path);
    ck_assert_uint_lt(strlen(uri), sizeof g->kit.path);
    memcpy(g->kit.path, uri, strlen(uri) + 1);
    (void)snprintf(g->name, sizeof g->name, "%s", name);
    atomic_store(&g->kit.made, other != NULL ? 1000000 : 0);
    g->kit.options.keyring = other != NULL ? other->kit.ring : g->kit.ring;
    g->clock = (struct writ_clock){wall_of, mono_of, g};
    g->kit.options.clock = &g->clock;
    g->kit.options.judge = &writ_panel_judge;
    g->kit.options.gateway = writ_view_str(g->name);
    g->kit.options.policy = WRIT_LIT("sha256:0");
    g->kit.options.lease_us = LEASE_US;
    g->kit.options.alone = true;
    return g;
}

static void
wipe(struct gateway *g)
{
    writ_kit_close(&g->kit);
    (void)snprintf(g->kit.path, sizeof g->kit.path, "%s", g->file);
    writ_kit_wipe(&g->kit);
    writ_free(g);
}

static void
start(struct gateway **ret_a, struct gateway **ret_b)
{
    new_database();
    *ret_a = make("a", NULL);
    *ret_b = make("b", *ret_a);
    writ_kit_open(&(*ret_a)->kit);
    writ_kit_open(&(*ret_b)->kit);
}

static void
end(struct gateway *a, struct gateway *b)
{
    wipe(b);
    wipe(a);
}

/* ---- the turn ---- */

static struct writ_sql *
hold_turn(void)
{
    struct writ_sql *sql = writ_cluster_connect(uri, LEASE_US);

    ck_assert_ok(writ_sql_begin(sql, WRIT_SQL_WRITE, NULL));
    writ_cluster_run(sql, "SELECT one FROM coordinator WHERE one = 1 FOR UPDATE");
    return sql;
}

static void
give_turn(struct writ_sql *sql)
{
    writ_sql_rollback(sql);
    writ_sql_close(sql);
}

#define WAITING                                                                                    \
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "                \
    "wait_event_type = 'Lock'"

static void
submit(struct gateway *g, call *c)
{
    struct writ_entry *entries[] = {&c->entry};

    ck_assert_ok(writ_ledger_submit(g->kit.ledger, entries, 1));
}

static void
await_done(call *c)
{
    while (sem_wait(&c->done) != 0) {
    }
    if (c->entry.kind == WRIT_ENTRY_DECISION) {
        c->leaf = c->entry.decision.leaf;
    }
}

static void
must_be_ready(struct gateway *g)
{
    struct writ_ledger_health health = writ_kit_health(&g->kit);

    ck_assert_msg(health.state == WRIT_LEDGER_READY, "%s: %s", g->name, health.why.text);
}

/* ---- tests ---- */

START_TEST(cluster_starts)
{
    writ_cluster_start(&cluster);
    writ_cluster_end(&cluster, SIGINT);
    writ_cluster_restart(&cluster, "fsync=on");
}
END_TEST

START_TEST(call_is_made_once_by_two_gateways)
{
    struct gateway *a, *b;
    call *c;

    start(&a, &b);
    c = writ_kit_granted(&a->kit, (spec){.argument = "1"});
    writ_kit_refused(&b->kit, (spec){.argument = "1"}, WRIT_REASON_DUPLICATE_IN_FLIGHT);
    ck_assert_int_eq(writ_kit_end(&a->kit, c, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    writ_kit_refused(&b->kit, (spec){.argument = "1"}, WRIT_REASON_DUPLICATE_OUTCOME);
    must_be_ready(a);
    must_be_ready(b);
    writ_kit_call_free(c);
    end(a, b);
}
END_TEST

/* What arrives while a gateway waits for its turn is written in the same one. */
START_TEST(entries_that_arrive_before_the_turn_join_its_group)
{
    struct gateway *a;
    struct writ_sql *turn;
    call *calls[3];
    int64_t groups;

    new_database();
    a = make("a", NULL);
    writ_kit_open(&a->kit);
    for (size_t i = 0; i < 3; i++) {
        calls[i] = writ_kit_call(&a->kit,
            (spec){.route = WRIT_DECISION_ALLOW, .argument = (const char *[]){"1", "2", "3"}[i]});
    }
    groups = number("SELECT count(*) FROM head");
    turn = hold_turn();
    submit(a, calls[0]);
    await(WAITING, 1);
    submit(a, calls[1]);
    submit(a, calls[2]);
    give_turn(turn);
    for (size_t i = 0; i < 3; i++) {
        await_done(calls[i]);
        ck_assert(calls[i]->entry.decision.granted);
        ck_assert_uint_eq(calls[i]->leaf, calls[0]->leaf + i);
    }
    for (size_t i = 0; i < 3; i++) {
        writ_kit_call_free(calls[i]);
    }
    ck_assert_int_eq(number("SELECT count(*) FROM head"), groups + 1);
    wipe(a);
}
END_TEST

START_TEST(call_that_did_not_run_can_be_made_again)
{
    struct gateway *a, *b;
    call *c;

    start(&a, &b);
    c = writ_kit_granted(&a->kit, (spec){.argument = "1"});
    ck_assert_int_eq(writ_kit_end(&a->kit, c, WRIT_OUTCOME_BLOCKED, NULL), WRIT_OK);
    writ_kit_call_free(c);
    c = writ_kit_granted(&b->kit, (spec){.argument = "1"});
    ck_assert_int_eq(writ_kit_end(&b->kit, c, WRIT_OUTCOME_ERROR, WRIT_OUTCOME_NOT_SENT), WRIT_OK);
    writ_kit_call_free(c);
    writ_kit_run(&a->kit, (spec){.argument = "1"});
    end(a, b);
}
END_TEST

/* The run is idle for the first gateway while the second one's call in it waits for its turn. */
START_TEST(idle_run_is_not_sealed_under_a_call_of_another_gateway)
{
    struct gateway *a, *b;
    struct writ_sql *turn;
    call *c;

    start(&a, &b);
    writ_kit_run(&a->kit, (spec){.argument = "1"});
    must_be_ready(b); /* both know all */
    must_be_ready(a);
    pause_it(a); /* it wants no turn of its own meanwhile */
    turn = hold_turn();
    c = writ_kit_call(&b->kit, (spec){.argument = "2", .route = WRIT_DECISION_ALLOW});
    submit(b, c);
    await(WAITING, 1);
    resume_it(a);
    atomic_fetch_add(&a->kit.mono_us, a->kit.options.boundary_idle_us + 2 * WRIT_KIT_S);
    await(WAITING, 2);
    give_turn(turn);
    await_done(c);
    ck_assert(c->entry.decision.granted);
    must_be_ready(a);
    must_be_ready(b);
    ck_assert_int_eq(writ_kit_end(&b->kit, c, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    writ_kit_run(&a->kit, (spec){.argument = "3"});
    must_be_ready(a);
    must_be_ready(b);
    ck_assert_int_eq(number("SELECT count(*) FROM boundary WHERE name = 'run' AND seal_leaf IS "
                            "NULL"),
        1);
    writ_kit_call_free(c);
    end(a, b);
}
END_TEST

START_TEST(gateway_that_was_declared_dead_joins_again_under_its_name)
{
    struct gateway *a, *b;

    start(&a, &b);
    memset(a->name, '#', sizeof a->name); /* the caller's memory, only lent for the opening */
    change("UPDATE gateway SET state = 0 WHERE name = 'a'");
    await("SELECT count(*) FROM gateway WHERE name = 'a' AND state = 1", 1);
    ck_assert_int_eq(number("SELECT count(*) FROM gateway WHERE name NOT IN ('a', 'b')"), 0);
    writ_kit_run(&a->kit, (spec){.argument = "1"});
    must_be_ready(a);
    end(a, b);
}
END_TEST

START_TEST(gateway_whose_name_another_one_takes_refuses_from_there_on)
{
    struct gateway *a, *b;
    call *c;

    new_database();
    a = make("a", NULL);
    b = make("a", a);
    writ_kit_open(&a->kit);
    writ_kit_open(&b->kit);
    c = writ_kit_granted(&b->kit, (spec){.argument = "1"});
    for (int i = 0; i < 100 && writ_kit_health(&a->kit).state != WRIT_LEDGER_REFUSING; i++) {
        (void)usleep(50000);
    }
    for (int i = 0; i < 3; i++) { /* it tries again each half second */
        call *refused =
            writ_kit_call(&a->kit, (spec){.argument = "2", .route = WRIT_DECISION_ALLOW});

        ck_assert_int_eq(writ_kit_decide(&a->kit, refused), WRIT_E_IO);
        writ_kit_call_free(refused);
        (void)usleep(600000);
    }
    ck_assert_int_eq(number("SELECT count(*) FROM gateway"), 2);
    ck_assert_int_eq(writ_kit_end(&b->kit, c, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    must_be_ready(b);
    writ_kit_call_free(c);
    end(a, b);
}
END_TEST

START_TEST(session_that_another_gateway_ends_leaves_room_for_others)
{
    struct gateway *a, *b;
    struct writ_entry entry = {.kind = WRIT_ENTRY_SESSION_PUT};

    start(&a, &b);
    entry.session.value = WRIT_LIT("state");
    entry.session.expires_us = INT64_MAX / 2;
    entry.session.boundary_id = WRIT_LIT("session:1");
    ck_assert_int_eq(writ_kit_submit(&a->kit, &entry), WRIT_OK);
    entry.kind = WRIT_ENTRY_SESSION_DROP;
    ck_assert_int_eq(writ_kit_submit(&b->kit, &entry), WRIT_OK);
    entry.kind = WRIT_ENTRY_SESSION_PUT;
    ck_assert_int_eq(writ_kit_submit(&b->kit, &entry), WRIT_OK);
    end(a, b);
}
END_TEST

/* More groups than it takes at once lie between the opening and the vote. */
START_TEST(review_that_went_on_while_a_gateway_was_paused_is_taken_whole)
{
    struct gateway *a, *b;
    const char *id;
    char argument[16];

    start(&a, &b);
    must_be_ready(b);
    pause_it(b);
    id = writ_poll_opened(&a->kit, (struct writ_poll_spec){.spec = {.boundary = "reviewed"}});
    for (int i = 0; i < 40; i++) {
        (void)snprintf(argument, sizeof argument, "%d", i);
        writ_kit_run(&a->kit, (spec){.argument = argument});
    }
    writ_poll_vote(&a->kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    resume_it(b);
    must_be_ready(b);
    writ_recount(&b->kit, "taken from the other");
    writ_poll_vote(&b->kit, id, "bob", WRIT_REVIEW_APPROVE, WRIT_REVIEW_APPROVED);
    writ_kit_call_free(
        writ_poll_redeemed(&b->kit, (struct writ_poll_spec){.spec = {.boundary = "reviewed"}})
            ->call);
    must_be_ready(a);
    must_be_ready(b);
    writ_recount(&a->kit, "ended by the other");
    writ_recount(&b->kit, "ended");
    end(a, b);
}
END_TEST

/* ---- reviews of another gateway ---- */

struct seen {
    struct gateway *g;
    bool waits;
    enum writ_code code;
    uint64_t at;
    size_t n;
    bool reset;
};

/* Watches from `seen->at` on: what is there, or, if it waits, the next change. */
static void *
watch(void *ctx)
{
    struct seen *seen = ctx;
    struct writ_entry entry = {.kind = WRIT_ENTRY_REVIEW_WATCH,
        .arena = writ_arena_new(8 << 20),
        .review_watch = {
            .since = seen->at, .until_us = seen->waits ? INT64_MAX / 2 : 1, .most = 100}};

    seen->code = writ_kit_submit(&seen->g->kit, &entry);
    seen->at = entry.review_watch.at;
    seen->n = entry.review_watch.n;
    seen->reset = entry.review_watch.reset;
    writ_arena_free(entry.arena);
    return NULL;
}

START_TEST(review_that_was_redeemed_elsewhere_is_over_here)
{
    struct writ_poll_spec asked = {
        .spec = {.boundary = "reviewed", .argument = "r", .duplicates = WRIT_DUPLICATES_ALLOW}};
    struct gateway *a, *b;

    start(&a, &b);
    (void)writ_poll_opened(&a->kit, asked);
    must_be_ready(b);
    writ_kit_run(&b->kit, (spec){.argument = "1"}); /* it has heard of it */
    writ_poll_approve(&a->kit, writ_poll_opened(&a->kit, asked));
    writ_kit_call_free(writ_poll_redeemed(&a->kit, asked)->call);
    writ_kit_run(&b->kit, (spec){.argument = "2"});
    writ_recount(&b->kit, "redeemed elsewhere");
    (void)writ_poll_opened(&b->kit, asked);
    writ_recount(&b->kit, "opened again");
    must_be_ready(a);
    writ_recount(&a->kit, "opened again elsewhere");
    end(a, b);
}
END_TEST

/* Else the next watch would never wait again once the review is forgotten. */
START_TEST(review_that_opened_and_ended_elsewhere_is_at_the_same_place_here)
{
    struct gateway *a, *b;
    struct seen there, here;
    const char *id;

    start(&a, &b);
    must_be_ready(b);
    pause_it(b);
    id = writ_poll_opened(&a->kit, (struct writ_poll_spec){.spec = {.boundary = "reviewed"}});
    ck_assert_int_eq(writ_poll_happens(&a->kit, id, WRIT_REVIEW_DO_CANCEL), WRIT_REASON_NONE);
    resume_it(b);
    must_be_ready(b);
    writ_kit_run(&b->kit, (spec){.argument = "1"});
    there = (struct seen){.g = a};
    here = (struct seen){.g = b};
    (void)watch(&there);
    (void)watch(&here);
    ck_assert(there.code == WRIT_OK && here.code == WRIT_OK);
    ck_assert(there.reset && here.reset);
    ck_assert_uint_eq(here.at, there.at);
    end(a, b);
}
END_TEST

/* The connection breaks between the records and the review itself. */
START_TEST(review_that_was_loaded_late_is_in_the_next_watch)
{
    struct gateway *a, *b;
    struct seen seen;
    struct writ_sql *locks;
    const char *known;
    pthread_t thread;

    new_database();
    a = make("a", NULL);
    b = make("b", a);
    b->kit.options.retry_us = WRIT_KIT_S;
    writ_kit_open(&a->kit);
    writ_kit_open(&b->kit);
    known = writ_poll_opened(
        &a->kit, (struct writ_poll_spec){.spec = {.boundary = "reviewed", .argument = "k"}});
    writ_kit_run(&b->kit, (spec){.argument = "1"});
    seen = (struct seen){.g = b};
    (void)watch(&seen);
    ck_assert_uint_eq(seen.n, 1);
    seen.waits = true;
    ck_assert_int_eq(pthread_create(&thread, NULL, watch, &seen), 0);
    for (pause_it(b); b->kit.ledger->reviews.watching == NULL; pause_it(b)) {
        resume_it(b);
        (void)usleep(1000);
    }
    (void)writ_poll_opened(
        &a->kit, (struct writ_poll_spec){.spec = {.boundary = "reviewed", .argument = "lost"}});
    writ_poll_vote(&a->kit, known, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    locks = writ_cluster_connect(uri, LEASE_US);
    ck_assert_ok(writ_sql_begin(locks, WRIT_SQL_WRITE, NULL));
    writ_cluster_run(locks, "LOCK TABLE review IN ACCESS EXCLUSIVE MODE");
    resume_it(b);
    await(WAITING, 1);
    change("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
           "WHERE datname = current_database() AND wait_event_type = 'Lock'");
    pause_it(b);
    writ_sql_rollback(locks);
    writ_sql_close(locks);
    b->kit.ledger->fleet.again_us = INT64_MAX; /* it does not connect yet */
    resume_it(b);
    ck_assert_int_eq(pthread_join(thread, NULL), 0); /* it hears of the vote, at least */
    pause_it(b);
    b->kit.ledger->fleet.again_us = 0;
    resume_it(b);
    seen.waits = false;
    for (int i = 0; i < 200 && seen.n < 2; i++) {
        writ_kit_pass(&b->kit, WRIT_KIT_S); /* it connects again */
        writ_kit_turn(&b->kit);
        (void)usleep(20000);
        (void)watch(&seen);
    }
    ck_assert_int_eq(seen.code, WRIT_OK);
    ck_assert(!seen.reset);
    ck_assert_uint_eq(seen.n, 2);
    end(a, b);
}
END_TEST

#define US_NOW "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)"

/* Its clock is ahead until it asks the database: it gives the round up while the other one goes on
 * with it. */
START_TEST(round_that_another_gateway_continues_is_not_given_up)
{
    const struct writ_digest name = {{7}};
    struct writ_entry entry = {.kind = WRIT_ENTRY_WAIT};
    struct gateway *a, *b;
    struct writ_sql *turn;
    call *c, *next;
    bool tried = false;

    start(&a, &b);
    c = writ_kit_granted(&a->kit, (spec){.argument = "1"});
    entry.wait.leaf = c->leaf;
    entry.wait.kind = WRIT_WAIT_INPUT;
    entry.wait.name = name;
    entry.wait.until_us = number(US_NOW) + 600 * WRIT_KIT_S;
    ck_assert_int_eq(writ_kit_submit(&a->kit, &entry), WRIT_OK);
    must_be_ready(b);
    must_be_ready(a);
    pause_it(b); /* it wants no turn of its own meanwhile */
    turn = hold_turn();
    next = writ_kit_round(&a->kit, c, (spec){.argument = "1"});
    submit(a, next);
    await(WAITING, 1);
    resume_it(b);
    for (int i = 0; i < 30 && !tried; i++) {
        pause_it(b);
        writ_kit_pass(&b->kit, 700 * WRIT_KIT_S);
        resume_it(b);
        for (int j = 0; j < 10 && !tried; j++) {
            (void)usleep(20000);
            tried = number(WAITING) == 2;
        }
    }
    ck_assert(tried);
    give_turn(turn);
    await_done(next);
    ck_assert(next->entry.decision.granted);
    must_be_ready(b);
    must_be_ready(a);
    ck_assert_int_eq(writ_kit_end(&a->kit, next, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    must_be_ready(b);
    ck_assert_int_eq(number("SELECT count(*) FROM record WHERE kind = 2"), 1);
    writ_kit_call_free(next);
    writ_kit_call_free(c);
    end(a, b);
}
END_TEST

/* Only one of them has forgotten the budgets of a window that has passed. */
START_TEST(budget_of_another_gateway_is_counted_also_when_the_table_is_full)
{
    struct gateway *a, *b;
    struct writ_reservation budget = writ_kit_budget();

    new_database();
    a = make("a", NULL);
    b = make("b", a);
    a->kit.options.budgets_max = b->kit.options.budgets_max = 1;
    writ_kit_open(&a->kit);
    writ_kit_open(&b->kit);
    budget.window_us = WRIT_KIT_S;
    writ_kit_run(&a->kit, (spec){.argument = "1", .reservations = &budget, .reservations_n = 1});
    must_be_ready(b);
    (void)usleep(1100000);
    writ_kit_run(&a->kit, (spec){.argument = "2"});
    atomic_fetch_add(&a->kit.mono_us, 61 * WRIT_KIT_S);
    must_be_ready(a);
    budget.key = (struct writ_digest){{2}};
    writ_kit_run(&a->kit, (spec){.argument = "3", .reservations = &budget, .reservations_n = 1});
    must_be_ready(b);
    end(a, b);
}
END_TEST

/* As when a third gateway is paused within its turn, or a standby does not confirm. */
START_TEST(gateways_that_had_no_turn_for_a_lease_are_not_dead)
{
    const int64_t lease_us = 4 * WRIT_KIT_S;
    struct gateway *a, *b;
    struct writ_sql *turn;
    call *of_a, *of_b;

    new_database();
    a = make("a", NULL);
    b = make("b", a);
    a->kit.options.lease_us = b->kit.options.lease_us = lease_us;
    writ_kit_open(&a->kit);
    writ_kit_open(&b->kit);
    of_a = writ_kit_granted(&a->kit, (spec){.argument = "1"});
    of_b = writ_kit_granted(&b->kit, (spec){.argument = "2"});
    turn = hold_turn();
    await("SELECT count(*) FROM gateway WHERE lease_us + 500000 < CAST(extract(epoch FROM "
          "clock_timestamp()) * 1000000 AS BIGINT)",
        2);
    give_turn(turn);
    await("SELECT count(*) FROM gateway WHERE state = 1 AND lease_us > CAST(extract(epoch FROM "
          "clock_timestamp()) * 1000000 AS BIGINT)",
        2);
    ck_assert_int_eq(number("SELECT count(*) FROM gateway"), 2);
    ck_assert_int_eq(writ_kit_end(&a->kit, of_a, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    ck_assert_int_eq(writ_kit_end(&b->kit, of_b, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    writ_kit_call_free(of_a);
    writ_kit_call_free(of_b);
    end(a, b);
}
END_TEST

/* What is asked meanwhile writes nothing, and leaves it no moment without an entry. */
START_TEST(gateway_that_is_only_asked_is_ready_again)
{
    struct gateway *a, *b;
    enum writ_ledger_state state = WRIT_LEDGER_READY;

    start(&a, &b);
    allow_connections(false); /* a gateway that is ready again at once would not be seen refusing */
    change_outside("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname <> "
                   "current_database()");
    while (state == WRIT_LEDGER_READY) {
        state = writ_kit_health(&a->kit).state;
    }
    ck_assert_int_eq(state, WRIT_LEDGER_REFUSING);
    allow_connections(true);
    while (state == WRIT_LEDGER_REFUSING) { /* as long as the server needs */
        state = writ_kit_health(&a->kit).state;
    }
    ck_assert_int_eq(state, WRIT_LEDGER_READY);
    end(a, b);
}
END_TEST

/* The first turn after such a time is one of a call. */
START_TEST(gateway_that_had_no_turn_gets_time_from_one_with_a_call)
{
    struct gateway *a, *b;
    call *c;

    new_database();
    a = make("a", NULL);
    b = make("b", a);
    a->kit.options.lease_us = b->kit.options.lease_us = 6 * WRIT_KIT_S;
    writ_kit_open(&a->kit);
    writ_kit_open(&b->kit);
    pause_it(a);
    pause_it(b);
    c = writ_kit_call(&b->kit, (spec){.argument = "1", .route = WRIT_DECISION_ALLOW});
    submit(b, c);
    await("SELECT count(*) FROM gateway WHERE lease_us < CAST(extract(epoch FROM "
          "clock_timestamp()) * 1000000 AS BIGINT)",
        2);
    resume_it(b);
    await_done(c);
    await("SELECT count(*) FROM gateway WHERE name = 'b' AND turn > 2 AND lease_us > "
          "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)",
        1);
    resume_it(a);
    writ_kit_run(&a->kit, (spec){.argument = "2"});
    ck_assert_int_eq(number("SELECT count(*) FROM gateway WHERE state = 1"), 2);
    ck_assert_int_eq(number("SELECT count(*) FROM gateway"), 2);
    writ_kit_call_free(c);
    end(a, b);
}
END_TEST

/* Entries of a client that puts its next one before the writer looks at the queue again. */
struct relay {
    struct writ_entry entries[2];
    struct writ_ledger *ledger;
    int left;        /* only the writer counts */
    uint64_t groups; /* as published last when the last one ended */
    sem_t over;
};

static void
put_again(struct writ_entry *entry)
{
    struct relay *relay = entry->user;
    struct writ_ledger_health health;

    if (--relay->left > 1) {
        ck_assert_ok(writ_ledger_submit(relay->ledger, &entry, 1));
        return;
    }
    writ_ledger_health(relay->ledger, &health);
    relay->groups = health.groups;
    (void)sem_post(&relay->over);
}

/* The rounds of its writer end, and what is due from time to time is done. */
START_TEST(gateway_does_all_its_work_while_entries_join_its_groups)
{
    struct relay relay = {.left = 100};
    struct gateway *a;
    struct writ_entry *entries[] = {&relay.entries[0], &relay.entries[1]};
    uint64_t groups;

    new_database();
    a = make("a", NULL);
    a->kit.options.group_max = 1;
    writ_kit_open(&a->kit);
    groups = writ_kit_health(&a->kit).groups;
    relay.ledger = a->kit.ledger;
    ck_assert_int_eq(sem_init(&relay.over, 0, 0), 0);
    for (size_t i = 0; i < 2; i++) {
        relay.entries[i] =
            (struct writ_entry){.kind = WRIT_ENTRY_SESSION_DROP, .done = put_again, .user = &relay};
    }
    ck_assert_ok(writ_ledger_submit(relay.ledger, entries, 2));
    for (int ended = 0; ended < 2; ended++) {
        while (sem_wait(&relay.over) != 0) {
        }
    }
    ck_assert_uint_gt(relay.groups, groups + 50);
    (void)sem_destroy(&relay.over);
    wipe(a);
}
END_TEST

/* An entry whose end the writer waits in. */
struct gate {
    struct writ_entry entry;
    sem_t reached, open;
};

static void
wait_in_gate(struct writ_entry *entry)
{
    struct gate *gate = entry->user;

    (void)sem_post(&gate->reached);
    while (sem_wait(&gate->open) != 0) {
    }
}

static void *
hold_in_thread(void *arg)
{
    *(struct writ_sql **)arg = hold_turn();
    return NULL;
}

/* The turn that it asked for goes to the next one, which it does not wait for to catch up. */
START_TEST(gateway_that_is_far_behind_gives_its_turn_back_first)
{
    enum { CALLS = 1100 }; /* more than a turn should have to take */
    struct gateway *a, *b;
    struct gate gate = {.entry = {.kind = WRIT_ENTRY_SESSION_GET, .done = wait_in_gate}};
    struct writ_sql *first, *second = NULL;
    struct writ_entry *both[2], *entries[CALLS];
    call *calls[CALLS], *behind;
    pthread_t thread;

    new_database();
    a = make("a", NULL);
    b = make("b", a);
    b->kit.options.group_max = 1;
    writ_kit_open(&a->kit);
    writ_kit_open(&b->kit);
    gate.entry.user = &gate;
    gate.entry.arena = writ_arena_new(1 << 16);
    ck_assert_int_eq(sem_init(&gate.reached, 0, 0), 0);
    ck_assert_int_eq(sem_init(&gate.open, 0, 0), 0);
    behind = writ_kit_call(&b->kit, (spec){.argument = "0", .route = WRIT_DECISION_ALLOW});
    both[0] = &gate.entry;
    both[1] = &behind->entry;
    ck_assert_ok(writ_ledger_submit(b->kit.ledger, both, 2));
    while (sem_wait(&gate.reached) != 0) {
    }
    for (size_t i = 0; i < CALLS; i++) {
        char argument[16];

        (void)snprintf(argument, sizeof argument, "%zu", i);
        calls[i] =
            writ_kit_call(&a->kit, (spec){.argument = argument, .route = WRIT_DECISION_ALLOW});
        entries[i] = &calls[i]->entry;
    }
    ck_assert_ok(writ_ledger_submit(a->kit.ledger, entries, CALLS));
    for (size_t i = 0; i < CALLS; i++) {
        await_done(calls[i]);
        ck_assert(calls[i]->entry.decision.granted);
        writ_kit_call_free(calls[i]);
    }
    pause_it(a);
    first = hold_turn();
    (void)sem_post(&gate.open);
    await(WAITING, 1);
    ck_assert_int_eq(pthread_create(&thread, NULL, hold_in_thread, &second), 0);
    await(WAITING, 2);
    give_turn(first);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    await(WAITING, 1); /* it has caught up, and wants its turn again */
    ck_assert_int_ne(sem_trywait(&behind->done), 0);
    give_turn(second);
    await_done(behind);
    ck_assert_int_eq(behind->entry.code, WRIT_OK);
    ck_assert_int_eq(behind->entry.decision.refused, WRIT_REASON_DUPLICATE_IN_FLIGHT);
    resume_it(a);
    writ_kit_call_free(behind);
    writ_arena_free(gate.entry.arena);
    (void)sem_destroy(&gate.reached);
    (void)sem_destroy(&gate.open);
    end(a, b);
}
END_TEST

/* Room that a turn without a commit makes is not there: the next one makes it. */
START_TEST(room_of_a_turn_that_is_not_committed_is_made_again)
{
    struct gateway *a;
    call *c;

    new_database();
    change(
        "DO $$ DECLARE name text; BEGIN FOR name IN SELECT CAST(inhrelid::regclass AS text) FROM "
        "pg_inherits WHERE inhparent IN ('record'::regclass, 'body'::regclass) LOOP "
        "EXECUTE 'DROP TABLE ' || name; END LOOP; DELETE FROM part; "
        "INSERT INTO part VALUES(-512, 0, 512); END $$"); /* 64 times that at once */
    a = make("a", NULL);
    writ_kit_open(&a->kit);
    ck_assert_int_eq(number("SELECT max(until) FROM part"), 32768);
    c = writ_kit_granted(&a->kit, (spec){.argument = "1"});
    writ_kit_turn(&a->kit); /* only asks */
    ck_assert_int_eq(writ_kit_end(&a->kit, c, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    ck_assert_int_gt(number("SELECT max(until) FROM part"), 32768);
    must_be_ready(a);
    writ_kit_call_free(c);
    wipe(a);
}
END_TEST

/* It says which facts it knows while another one has the turn. */
START_TEST(gateway_follows_outside_of_its_turn)
{
    struct writ_entry fact = {.kind = WRIT_ENTRY_FACT,
        .fact = {.event = WRIT_FACT_RELEASED, .data = WRIT_LIT("{\"tool\":\"up/tool\"}")}};
    struct gateway *a, *b;
    struct writ_sql *turn;
    int64_t size;

    new_database();
    a = make("a", NULL);
    b = make("b", a);
    writ_kit_open(&a->kit);
    writ_kit_open(&b->kit);
    must_be_ready(b);
    pause_it(b);
    ck_assert_int_eq(writ_kit_submit(&a->kit, &fact), WRIT_OK);
    size = number("SELECT size FROM coordinator");
    ck_assert_int_lt(number("SELECT seen FROM gateway WHERE name = 'b'"), size);
    pause_it(a);
    turn = hold_turn();
    resume_it(b);
    await("SELECT seen FROM gateway WHERE name = 'b'", size);
    give_turn(turn);
    resume_it(a);
    must_be_ready(b);
    end(a, b);
}
END_TEST

/* Its own calls leave it no moment without a turn. */
START_TEST(busy_gateway_ends_the_calls_of_a_dead_one)
{
    struct gateway *a, *b;
    enum writ_reason reason = WRIT_REASON_DUPLICATE_IN_FLIGHT;
    call *c;

    new_database();
    a = make("a", NULL);
    b = make("b", a);
    b->kit.options.lease_us = 8 * WRIT_KIT_S;
    writ_kit_open(&a->kit);
    writ_kit_open(&b->kit);
    c = writ_kit_granted(&a->kit, (spec){.argument = "1"});
    pause_it(a);
    change("UPDATE gateway SET lease_us = 0 WHERE name = 'a'");
    for (int i = 0; i < 5000 && reason == WRIT_REASON_DUPLICATE_IN_FLIGHT; i++) {
        call *again = writ_kit_call(&b->kit, (spec){.argument = "1", .route = WRIT_DECISION_ALLOW});

        ck_assert_int_eq(writ_kit_decide(&b->kit, again), WRIT_OK);
        reason = again->entry.decision.refused;
        writ_kit_call_free(again);
        (void)usleep(2000);
    }
    ck_assert_int_eq(reason, WRIT_REASON_INTERRUPTED_EXECUTION_UNKNOWN);
    resume_it(a);
    writ_kit_call_free(c);
    end(a, b);
}
END_TEST

START_TEST(all_calls_of_a_dead_gateway_get_their_end)
{
    enum { CALLS = 300 }; /* more than one turn ends */
    struct gateway *a, *b;
    call *calls[CALLS];

    new_database();
    a = make("a", NULL);
    b = make("b", a);
    b->kit.options.lease_us = 8 * WRIT_KIT_S;
    writ_kit_open(&a->kit);
    writ_kit_open(&b->kit);
    for (size_t i = 0; i < CALLS; i++) {
        char argument[16];

        (void)snprintf(argument, sizeof argument, "%zu", i);
        calls[i] = writ_kit_granted(&a->kit, (spec){.argument = argument});
    }
    pause_it(a);
    change("UPDATE gateway SET lease_us = 0 WHERE name = 'a'");
    await("SELECT count(*) FROM record WHERE about IS NOT NULL AND flags & 8 <> 0", CALLS);
    must_be_ready(b);
    resume_it(a);
    for (size_t i = 0; i < CALLS; i++) {
        writ_kit_call_free(calls[i]);
    }
    end(a, b);
}
END_TEST

START_TEST(turn_of_a_paused_gateway_goes_to_the_next_one)
{
    struct gateway *a, *b;
    struct writ_sql *turn;
    call *c;

    new_database();
    a = make("a", NULL);
    b = make("b", a);
    a->kit.options.lease_us = b->kit.options.lease_us = 8 * WRIT_KIT_S;
    writ_kit_open(&a->kit);
    writ_kit_open(&b->kit);
    pause_it(a);
    turn = hold_turn();
    c = writ_kit_call(&b->kit, (spec){.argument = "1", .route = WRIT_DECISION_ALLOW});
    submit(b, c);
    await(WAITING, 1);
    atomic_store(&b->paused, true); /* it stands where it measures its commit */
    give_turn(turn);
    while (!atomic_load(&b->standing)) {
        (void)usleep(1000);
    }
    resume_it(a);
    writ_kit_run(&a->kit, (spec){.argument = "1"});
    resume_it(b);
    await_done(c);
    ck_assert_int_eq(c->entry.code, WRIT_E_IO);
    ck_assert(!c->entry.decision.granted);
    for (int i = 0; i < 100 && writ_kit_health(&b->kit).state != WRIT_LEDGER_READY; i++) {
        (void)usleep(50000);
    }
    writ_kit_refused(&b->kit, (spec){.argument = "1"}, WRIT_REASON_DUPLICATE_OUTCOME);
    writ_kit_call_free(c);
    end(a, b);
}
END_TEST

START_TEST(cluster_ends)
{
    writ_cluster_remove(&cluster);
}
END_TEST

WRIT_UNIT_MAIN("fleet", cluster_starts, call_is_made_once_by_two_gateways,
    entries_that_arrive_before_the_turn_join_its_group, call_that_did_not_run_can_be_made_again,
    idle_run_is_not_sealed_under_a_call_of_another_gateway,
    gateway_that_was_declared_dead_joins_again_under_its_name,
    gateway_whose_name_another_one_takes_refuses_from_there_on,
    session_that_another_gateway_ends_leaves_room_for_others,
    review_that_went_on_while_a_gateway_was_paused_is_taken_whole,
    review_that_was_redeemed_elsewhere_is_over_here,
    review_that_opened_and_ended_elsewhere_is_at_the_same_place_here,
    review_that_was_loaded_late_is_in_the_next_watch,
    round_that_another_gateway_continues_is_not_given_up,
    budget_of_another_gateway_is_counted_also_when_the_table_is_full,
    gateways_that_had_no_turn_for_a_lease_are_not_dead, gateway_that_is_only_asked_is_ready_again,
    gateway_that_had_no_turn_gets_time_from_one_with_a_call,
    gateway_does_all_its_work_while_entries_join_its_groups,
    gateway_that_is_far_behind_gives_its_turn_back_first, gateway_follows_outside_of_its_turn,
    room_of_a_turn_that_is_not_committed_is_made_again, busy_gateway_ends_the_calls_of_a_dead_one,
    all_calls_of_a_dead_gateway_get_their_end, turn_of_a_paused_gateway_goes_to_the_next_one,
    cluster_ends)
