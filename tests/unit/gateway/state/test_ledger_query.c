/* Queries of the ledger beside the loops. They are answered in order, limited in number, and all
 * answered at a stop. */
#include "support/store/kit.h"
#include "support/unit.h"

#include "gateway/state/ledger_query.h"

#include <pthread.h>

struct question {
    struct writ_lookup lookup;
    sem_t *asked, *go; /* the thread signals its begin, and waits */
    int order;
    bool had_reader;
};

static _Atomic int answered;

static void
answer(struct writ_lookup *lookup, struct writ_reader *reader)
{
    struct question *question = lookup->ctx;

    if (question->go != NULL) {
        (void)sem_post(question->asked);
        (void)sem_wait(question->go);
    }
    question->had_reader = reader != NULL;
    question->order = ++answered;
    if (question->go == NULL && question->asked != NULL) {
        (void)sem_post(question->asked);
    }
}

static struct writ_ledger_query *
open_for(const char *path, size_t most)
{
    struct writ_ledger_query *queries = NULL;

    answered = 0;
    ck_assert_ok(writ_ledger_query_new(path, most, &queries, NULL));
    return queries;
}

START_TEST(ledger_query_answers_in_order_and_limits_the_queue)
{
    struct writ_kit kit;
    struct question questions[WRIT_LEDGER_QUERY_MAX + 2] = {{.order = 0}};
    struct writ_ledger_query *queries;
    sem_t asked, go;
    size_t last = WRIT_LEDGER_QUERY_MAX;

    writ_kit_init(&kit);
    queries = open_for(kit.path, WRIT_LEDGER_QUERY_MAX);
    ck_assert_int_eq(sem_init(&asked, 0, 0), 0);
    ck_assert_int_eq(sem_init(&go, 0, 0), 0);
    for (size_t i = 0; i < WRIT_LEDGER_QUERY_MAX + 2; i++) {
        questions[i].lookup = (struct writ_lookup){.work = answer, .ctx = &questions[i]};
    }
    questions[0].asked = questions[last].asked = &asked;
    questions[0].go = &go;
    ck_assert_ok(writ_ledger_query_ask(queries, &questions[0].lookup));
    (void)sem_wait(&asked); /* it is being answered, so it does not wait any more */
    for (size_t i = 1; i <= last; i++) {
        ck_assert_ok(writ_ledger_query_ask(queries, &questions[i].lookup));
    }
    ck_assert_code(writ_ledger_query_ask(queries, &questions[last + 1].lookup), WRIT_E_BUSY);
    (void)sem_post(&go);
    (void)sem_wait(&asked);
    for (size_t i = 0; i <= last; i++) {
        ck_assert_int_eq(questions[i].order, (int)i + 1);
        ck_assert(questions[i].had_reader);
    }
    writ_ledger_query_free(queries);
    ck_assert_int_eq(questions[last + 1].order, 0);
    (void)sem_destroy(&asked);
    (void)sem_destroy(&go);
    writ_kit_wipe(&kit);
    writ_ledger_query_free(NULL);
}
END_TEST

START_TEST(ledger_query_without_a_limit_takes_all)
{
    struct writ_kit kit;
    struct question questions[WRIT_LEDGER_QUERY_MAX * 8] = {{.order = 0}};
    size_t n = sizeof questions / sizeof *questions;
    struct writ_ledger_query *queries;
    sem_t asked, go;

    writ_kit_init(&kit);
    queries = open_for(kit.path, 0);
    ck_assert_int_eq(sem_init(&asked, 0, 0), 0);
    ck_assert_int_eq(sem_init(&go, 0, 0), 0);
    questions[0].asked = questions[n - 1].asked = &asked;
    questions[0].go = &go;
    for (size_t i = 0; i < n; i++) {
        questions[i].lookup = (struct writ_lookup){.work = answer, .ctx = &questions[i]};
        ck_assert_ok(writ_ledger_query_ask(queries, &questions[i].lookup));
    }
    (void)sem_wait(&asked);
    (void)sem_post(&go);
    (void)sem_wait(&asked);
    ck_assert_int_eq(questions[n - 1].order, (int)n);
    writ_ledger_query_free(queries);
    (void)sem_destroy(&asked);
    (void)sem_destroy(&go);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(ledger_query_without_a_ledger_answers_without_a_reader)
{
    struct writ_kit kit;
    sem_t asked;
    struct writ_ledger_query *queries = open_for("nowhere/ledger.db", 0);
    struct question question = {.asked = &asked};

    writ_kit_init(&kit);
    ck_assert_int_eq(sem_init(&asked, 0, 0), 0);
    question.lookup = (struct writ_lookup){.work = answer, .ctx = &question};
    ck_assert_ok(writ_ledger_query_ask(queries, &question.lookup));
    (void)sem_wait(&asked);
    ck_assert(!question.had_reader);
    writ_ledger_query_free(queries);
    (void)sem_destroy(&asked);
    writ_kit_wipe(&kit);
}
END_TEST

static void *
stop(void *queries)
{
    writ_ledger_query_stop(queries);
    return NULL;
}

START_TEST(stop_answers_waiting_queries)
{
    struct writ_kit kit;
    struct question questions[3] = {{.order = 0}};
    struct writ_ledger_query *queries;
    sem_t asked, go;
    pthread_t thread;

    writ_kit_init(&kit);
    queries = open_for(kit.path, WRIT_LEDGER_QUERY_MAX);
    ck_assert_int_eq(sem_init(&asked, 0, 0), 0);
    ck_assert_int_eq(sem_init(&go, 0, 0), 0);
    questions[0].asked = &asked;
    questions[0].go = &go;
    for (size_t i = 0; i < 3; i++) {
        questions[i].lookup = (struct writ_lookup){.work = answer, .ctx = &questions[i]};
    }
    ck_assert_ok(writ_ledger_query_ask(queries, &questions[0].lookup));
    (void)sem_wait(&asked);
    ck_assert_ok(writ_ledger_query_ask(queries, &questions[1].lookup));
    ck_assert_int_eq(pthread_create(&thread, NULL, stop, queries), 0);
    (void)sem_post(&go);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert(questions[0].had_reader);
    ck_assert_int_eq(questions[1].order, 2);
    ck_assert_code(writ_ledger_query_ask(queries, &questions[2].lookup), WRIT_E_BUSY);
    writ_ledger_query_stop(queries);
    ck_assert_int_eq(answered, 2);
    writ_ledger_query_free(queries);
    (void)sem_destroy(&asked);
    (void)sem_destroy(&go);
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("ledger_query", stop_answers_waiting_queries,
    ledger_query_answers_in_order_and_limits_the_queue, ledger_query_without_a_limit_takes_all,
    ledger_query_without_a_ledger_answers_without_a_reader)
