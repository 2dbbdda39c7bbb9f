/* micro_flow.c - measures what rules about values add to a call, step by step: the marks of its
 * result, their addition to the state of its run, and the search for one value.
 *
 *     micro_flow [ROUNDS]
 *
 * The result has 2 KB, as that of `bench/run --targets=followed`. Prints the mean time of a step,
 * in microseconds of one core. */
#include "evidence/flow/run.h"
#include "policy/decide/labels.h"
#include "policy/model/flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 2000
#define BILLS  11
#define CALLS  25

struct bench {
    struct writ_arena *arena;
    struct writ_mark_key *key;
    const struct writ_json *result;
    struct writ_labels labels;
    struct writ_run_flow outcome;
};

static void
check(writ_result result, const char *what)
{
    if (!writ_is_ok(result)) {
        (void)fprintf(stderr, "micro_flow: %s: %s\n", what, writ_code_name(result.code));
        exit(1);
    }
}

static double
now_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static const struct writ_json *
make_result(struct writ_arena *arena)
{
    struct writ_buf text = writ_buf_in(arena, 65536);
    const struct writ_json *ret = NULL;

    writ_buf_str(&text, "{\"content\":[{\"text\":\"{\\\"bills\\\":[");
    for (int i = 0; i < BILLS; i++) {
        writ_buf_fmt(&text,
            "%s{\\\"payee\\\":\\\"GB%dNWBK6016133192%d\\\",\\\"amount\\\":%d.5,\\\"due\\\":"
            "\\\"2026-12-%d\\\",\\\"note\\\":\\\"For the work in unit %d as agreed on the phone "
            "with Ann, see https://bills.example/b/%d?ref=%d.\\\"}",
            i > 0 ? "," : "", 10 + i, 6810 + i, 10 * i, 10 + i, i, i, i * 7919);
    }
    writ_buf_str(&text, "]}\",\"type\":\"text\"}]}");
    check(writ_json_read(writ_buf_view(&text), &writ_json_limits_default, arena, &ret, NULL),
        "the result");
    return ret;
}

static double
mark(struct bench *b, struct writ_arena *arena)
{
    double from = now_us();

    check(writ_labels_outcome(&b->labels, NULL, b->result, false, b->key, arena, &b->outcome, NULL),
        "the marks");
    return now_us() - from;
}

static double
add(struct bench *b, struct writ_run *run, struct writ_view id)
{
    const struct writ_run_outcome o = {.decision_id = id, .executed = true, .flow = b->outcome};
    double from = now_us();

    check(writ_run_ended(run, writ_mark_key_id(b->key), &o, NULL), "the state of the run");
    return now_us() - from;
}

static double
search(struct bench *b, const struct writ_run *run, struct writ_arena *arena)
{
    struct writ_mark_wanted wanted;
    double from = now_us();

    check(writ_mark_want(
              b->key, WRIT_LIT("GB10NWBK60161331926810"), false, 512, arena, &wanted, NULL),
        "the value");
    if (writ_run_find(run, WRIT_SOURCE_TRUSTED, wanted.words) == NULL) {
        check((writ_result){WRIT_E_ABSENT}, "the search");
    }
    return now_us() - from;
}

int
main(int argc, char **argv)
{
    static const struct writ_view trusted = {"/bills/*/payee", 14};
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : ROUNDS;
    struct bench b = {.arena = writ_arena_new(1 << 20), .labels = {.trusted_at = {&trusted, 1}}};
    struct writ_arena *arena = writ_arena_new(1 << 20);
    double sum[3] = {0};

    check(writ_mark_key_of(WRIT_LIT("0123456789abcdef0123456789abcdef"), &b.key, NULL), "the key");
    b.result = make_result(b.arena);
    for (long i = 0; i < rounds; i++) {
        struct writ_run *run = NULL;
        check(writ_run_new(&run, NULL), "a run");
        for (int call = 0; call < CALLS; call++) {
            writ_arena_reset(arena);
            sum[0] += mark(&b, arena);
            sum[1] += add(&b, run, WRIT_LIT("d-00000000000000000001"));
        }
        sum[2] += search(&b, run, arena);
        writ_run_free(run);
    }
    (void)printf("marks of a result %.1f us (%zu bytes), added to the run %.1f us, a value found "
                 "among %d results %.1f us\n",
        sum[0] / (double)(rounds * CALLS), b.outcome.text.len, sum[1] / (double)(rounds * CALLS),
        CALLS, sum[2] / (double)rounds);
    writ_mark_key_free(b.key);
    writ_arena_free(arena);
    writ_arena_free(b.arena);
    return 0;
}
