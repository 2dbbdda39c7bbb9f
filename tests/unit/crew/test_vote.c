/* Voting (semantics 6, 16.5, 17 and 19): every mode through writ_crew_vote, against tables and,
 * for reviews, against an oracle that uses no fractions. Counts are exact, and limits hold on both
 * sides. */
#include "support/unit.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "writ/crew.h"

#include <stdio.h>

#define MOST 8

/* One vote: entries are JSON outputs, "!" before one: faulted; NULL ends them. */
static enum writ_crew_error
vote(const char *config, const char *const *outputs, struct writ_crew_verdict *ret)
{
    struct writ_crew_entry entries[MOST];
    struct writ_crew_value *values[MOST] = {NULL};
    struct writ_crew_voting *voting = NULL;
    struct writ_crew_err err = {0};
    static char ids[MOST][16];
    size_t n = 0;

    for (; outputs[n] != NULL; n++) {
        bool fault = outputs[n][0] == '!';
        snprintf(ids[n], sizeof ids[n], "v-%zu", n + 1);
        ck_assert_ok(
            writ_crew_value_read(writ_view_str(outputs[n] + fault), NULL, &values[n], NULL));
        entries[n] = (struct writ_crew_entry){
            writ_view_str(ids[n]), WRIT_LIT("v"), writ_crew_value_text(values[n]), fault, false};
    }
    if (writ_is_ok(writ_crew_voting_read(writ_view_str(config), NULL, &voting, &err))) {
        WRIT_IGNORE(writ_crew_vote(voting, NULL, entries, n, n, ret, &err)); /* its error counts */
    }
    writ_crew_voting_free(voting);
    while (n-- > 0) {
        writ_crew_value_free(values[n]);
    }
    return err.error;
}

/* The resolved value's text; "none", or the error. Static storage. */
static const char *
result_of(const char *config, const char *const *outputs)
{
    static char text[512];
    struct writ_crew_verdict verdict = {0};
    enum writ_crew_error error = vote(config, outputs, &verdict);
    struct writ_view value = writ_crew_value_text(verdict.value);

    ck_assert(error != WRIT_CREW_NONE || verdict.why.ptr != NULL);
    snprintf(text, sizeof text, "%.*s", (int)value.len, value.len > 0 ? value.ptr : "");
    if (error != WRIT_CREW_NONE) {
        snprintf(text, sizeof text, "%s", writ_crew_error_name(error));
    } else if (!verdict.resolved) {
        snprintf(text, sizeof text, "none");
    }
    writ_crew_verdict_wipe(&verdict);
    return text;
}

struct vote_case {
    const char *config;
    const char *outputs[MOST];
    const char *want;
};

static void
check_cases(const struct vote_case *cases, size_t n)
{
    for (size_t at = 0; at < n; at++) {
        const char *got = result_of(cases[at].config, cases[at].outputs);
        ck_assert_msg(writ_view_is(writ_view_str(got), cases[at].want), "case %zu: %s, not %s", at,
            got, cases[at].want);
    }
}

START_TEST(vote_counts_the_quorum_on_the_electorate)
{
    static const struct vote_case cases[] = {
        {"{\"mode\":\"majority\",\"quorum\":2}", {"1", "!1", "!1"}, "none"},
        {"{\"mode\":\"majority\",\"quorum\":2}", {"1", "2", "!1"}, "1"},
        {"{\"mode\":\"unanimous\",\"quorum\":\"2/3\"}", {"1", "1", "!1"}, "1"},
        {"{\"mode\":\"unanimous\",\"quorum\":\"2/3\"}", {"1", "!1", "!1"}, "none"},
        {"{\"mode\":\"first_valid\",\"quorum\":\"667/1000\"}", {"1", "1", "!1"}, "none"},
        {"{\"mode\":\"first_valid\",\"quorum\":0}", {"1"}, "1"},
        {"{\"mode\":\"first_valid\",\"quorum\":4}", {"1", "1", "1"}, "none"},
    };

    check_cases(cases, sizeof cases / sizeof *cases);
}
END_TEST

START_TEST(weights_and_thresholds_are_exact)
{
    static const struct vote_case cases[] = {
        {"{\"mode\":\"weighted_consensus\",\"threshold\":\"2/3\"}", {"1", "1", "2"}, "1"},
        {"{\"mode\":\"weighted_consensus\",\"threshold\":0.67}", {"1", "1", "2"}, "none"},
        {"{\"mode\":\"weighted_consensus\",\"threshold\":\"1/2\",\"weights\":{\"v-3\":2}}",
            {"1", "1", "2"}, "1"},
        {"{\"mode\":\"weighted_consensus\",\"threshold\":\"1/2\",\"weights\":{\"v-3\":3}}",
            {"1", "1", "2"}, "2"},
        /* an agent's own weight goes before its role's */
        {"{\"mode\":\"weighted_consensus\",\"threshold\":\"1/2\",\"weights\":{\"v\":0,\"v-2\":1}}",
            {"1", "2", "3"}, "2"},
        {"{\"mode\":\"weighted_consensus\",\"weights\":{\"v\":0}}", {"1", "1"}, "none"},
        /* a digit more than a double has */
        {"{\"mode\":\"weighted_consensus\",\"threshold\":0.333333333333333333,\"weights\":{"
         "\"v\":1}}",
            {"1", "2", "3"}, "1"},
        {"{\"mode\":\"weighted_consensus\",\"threshold\":0.33333333333333334,\"weights\":{\"v\":1}"
         "}",
            {"1", "2", "3"}, "none"},
    };

    check_cases(cases, sizeof cases / sizeof *cases);
}
END_TEST

START_TEST(vote_best_of_n_takes_the_highest_score)
{
    static const struct vote_case cases[] = {
        {"{\"mode\":\"best_of_n\",\"score\":\"/s\"}",
            {"{\"s\":1}", "{\"s\":3}", "{\"s\":3,\"t\":1}"}, "{\"s\":3}"},
        {"{\"mode\":\"best_of_n\",\"score\":\"/s\"}", {"{\"s\":\"9\"}", "{\"s\":-1}", "7"},
            "{\"s\":-1}"},
        {"{\"mode\":\"best_of_n\",\"score\":\"/s\"}", {"{}", "1"}, "none"},
        {"{\"mode\":\"best_of_n\",\"score\":\"\"}", {"1", "2"}, "2"},
        {"{\"mode\":\"best_of_n\",\"score\":\"/s\",\"quorum\":2}", {"{\"s\":1}", "{}"}, "none"},
        {"{\"mode\":\"best_of_n\"}", {"1"}, "not_implemented"},
        {"{\"mode\":\"best_of_n\",\"score\":\"s\"}", {"1"}, "schema"},
    };

    check_cases(cases, sizeof cases / sizeof *cases);
}
END_TEST

#define A "\"approve\""
#define R "\"reject\""
#define M "{\"vote\":\"modify\",\"feedback\":\"f\"}"

START_TEST(vote_review_follows_the_published_table)
{
    static const struct vote_case cases[] = {
        {"\"review\"", {A, A, A}, "\"ACCEPT\""},
        {"\"review\"", {A, R, A}, "\"ACCEPT\""},
        {"\"review\"", {A, A, M}, "\"ACCEPT\""},
        {"\"review\"", {A, R, R}, "\"REJECT\""},
        {"\"review\"", {R, R, R}, "\"REJECT\""},
        {"\"review\"", {A, R, M}, "\"REQUEST_REVISION\""},
        {"\"review\"", {R, R, M}, "\"REJECT\""},
        {"\"review\"", {NULL}, "\"REQUEST_REVISION\""},
        {"\"review\"", {A, "\"aprove\"", "1"}, "\"ACCEPT\""}, /* not a vote */
        {"{\"mode\":\"review\",\"quorum\":2}", {A, "\"aprove\"", "1"}, "none"},
        {"{\"mode\":\"review\",\"threshold\":0.67}", {A, A, R}, "\"REQUEST_REVISION\""},
        {"{\"mode\":\"review\",\"veto\":[\"v-3\"]}", {A, A, R}, "\"REJECT\""},
        {"{\"mode\":\"review\",\"veto\":[\"v\"]}", {A, A, M}, "\"ACCEPT\""},
        {"{\"mode\":\"review\",\"weights\":{\"v-3\":5}}", {A, A, R}, "\"REJECT\""},
        {"{\"mode\":\"review\",\"threshold\":0.5}", {A}, "schema"},
        {"{\"mode\":\"review\",\"threshold\":\"1/2\"}", {A}, "schema"},
        {"{\"mode\":\"review\",\"threshold\":\"51/100\"}", {A, R}, "\"REQUEST_REVISION\""},
    };

    check_cases(cases, sizeof cases / sizeof *cases);
}
END_TEST

#define REVIEWERS 7
#define KINDS     9 /* of votes: three, with weights of 0, 1 and 2 */

/* Counts one table of kinds, from the first voter on or from the last, against whole numbers: with
 * T = p/q, ACCEPT iff q (2a + m) >= 2pn, else REJECT iff qr >= pn. */
static void
check_split(const size_t *kinds, size_t voters, size_t p, size_t q, bool reversed)
{
    static const char *const votes[] = {A, R, M};
    const char *outputs[MOST] = {NULL};
    size_t sums[3] = {0, 0, 0}, n, len;
    char config[256];
    bool accept, reject;

    len = (size_t)snprintf(config, sizeof config,
        "{\"mode\":\"review\",\"threshold\":\"%zu/%zu\",\"weights\":{", p, q);
    for (size_t at = 0; at < voters; at++) {
        size_t kind = kinds[reversed ? voters - 1 - at : at];

        outputs[at] = votes[kind % 3];
        sums[kind % 3] += kind / 3;
        len += (size_t)snprintf(config + len, sizeof config - len, "%s\"v-%zu\":%zu",
            at > 0 ? "," : "", at + 1, kind / 3);
    }
    snprintf(config + len, sizeof config - len, "}}");
    n = sums[0] + sums[1] + sums[2];
    accept = q * (2 * sums[0] + sums[2]) >= 2 * p * n && n > 0;
    reject = q * sums[1] >= p * n && n > 0;
    ck_assert(!(accept && reject));
    ck_assert_str_eq(result_of(config, outputs), accept   ? "\"ACCEPT\""
                                                 : reject ? "\"REJECT\""
                                                          : "\"REQUEST_REVISION\"");
}

/* The next table: kinds never decrease from one voter to the next, because the order of voters does
 * not matter. False after the last. */
static bool
next_split(size_t *kinds, size_t voters)
{
    size_t at = voters;

    while (at > 0 && kinds[at - 1] == KINDS - 1) {
        at--;
    }
    if (at == 0) {
        return false;
    }
    for (size_t kind = kinds[at - 1] + 1; at <= voters; at++) {
        kinds[at - 1] = kind;
    }
    return true;
}

START_TEST(vote_never_both_accepts_and_rejects)
{
    static const size_t thresholds[][2] = {{51, 100}, {2, 3}, {3, 4}, {1, 1}};
    size_t tables = 0;

    for (size_t voters = 1; voters <= REVIEWERS; voters++) {
        size_t kinds[REVIEWERS] = {0};

        do {
            for (size_t i = 0; i < sizeof thresholds / sizeof *thresholds; i++) {
                check_split(kinds, voters, thresholds[i][0], thresholds[i][1], false);
                check_split(kinds, voters, thresholds[i][0], thresholds[i][1], true);
            }
            tables++;
        } while (next_split(kinds, voters));
    }
    ck_assert_uint_eq(tables, 11439); /* all of them: the sum of C(n + 8, 8) for n from 1 to 7 */
}
END_TEST

#define ABC "[\"a\",\"b\",\"c\"]"
#define BCA "[\"b\",\"c\",\"a\"]"
#define CBA "[\"c\",\"b\",\"a\"]"

START_TEST(borda_counts_points_and_first_places)
{
    static const struct vote_case cases[] = {
        {"{\"mode\":\"borda\",\"lambda\":0}", {ABC, BCA, CBA}, "\"b\""},
        {"{\"mode\":\"borda\",\"lambda\":1}", {ABC, ABC, BCA}, "\"a\""},
        /* a tie of everything: by name */
        {"\"borda\"", {"[\"x\",\"y\"]", "[\"y\",\"x\"]"}, "\"x\""},
        /* no candidate reaches alpha: the most points */
        {"{\"mode\":\"borda\",\"alpha\":1}", {ABC, BCA, CBA}, "\"b\""},
        /* alpha keeps b out although it has the most points */
        {"{\"mode\":\"borda\",\"alpha\":\"1/2\",\"lambda\":0}",
            {"[\"a\",\"b\",\"c\"]", "[\"a\",\"b\",\"c\"]", "[\"c\",\"b\",\"a\"]",
                "[\"c\",\"b\",\"a\"]"},
            "\"a\""},
        {"\"borda\"", {"[\"only\"]"}, "\"only\""},
        {"\"borda\"", {"[]"}, "none"},
        /* no ranking, a repeated name: left out */
        {"\"borda\"", {"1", "[\"a\",\"a\"]", "[\"a\",1]"}, "none"},
        /* one voter that adds or omits a name does not invalidate the others */
        {"\"borda\"", {"[\"z\",\"a\",\"b\"]", "[\"b\",\"a\"]", "[\"b\",\"a\"]", "[\"a\"]"},
            "\"b\""},
        {"{\"mode\":\"borda\",\"lambda\":2}", {ABC}, "schema"},
    };

    check_cases(cases, sizeof cases / sizeof *cases);
}
END_TEST

START_TEST(vote_with_an_unknown_member_is_refused)
{
    static const struct vote_case cases[] = {
        {"{\"mode\":\"majority\",\"qorum\":2}", {"1"}, "schema"},
        {"{\"mode\":\"plurality\"}", {"1"}, "schema"},
        {"\"plurality\"", {"1"}, "schema"},
        {"7", {"1"}, "schema"},
        {"{\"threshold\":\"2/0\"}", {"1"}, "schema"},
        {"{\"threshold\":\"3/2\"}", {"1"}, "schema"},
        {"{\"threshold\":\"0.5\"}", {"1"}, "schema"},
        {"{\"weights\":{\"v\":-1}}", {"1"}, "schema"},
        {"{\"weights\":{\"v\":1.5}}", {"1"}, "schema"},
        {"{\"weights\":{\"v\":1000000000}}", {"1"}, "1"},
        {"{\"weights\":{\"v\":1000000001}}", {"1"}, "schema"},
        {"{\"quorum\":-1}", {"1"}, "schema"},
        {"{\"veto\":\"v\"}", {"1"}, "schema"},
        {"\"engine:unheard-of\"", {"1"}, "unknown_engine"},
        {"\"engine:\"", {"1"}, "schema"},
        {"{\"a\":1,\"a\":2}", {"1"}, "malformed"},
    };

    check_cases(cases, sizeof cases / sizeof *cases);
}
END_TEST

/* ---- engines of others */

static int
count_last(const struct writ_crew_poll *poll, struct writ_crew_tally *tally)
{
    if (poll->candidates_n == 0) {
        tally->explain(tally, "no rankings");
        return 1;
    }
    tally->candidate(tally, poll->candidates_n - 1);
    return 0;
}

static int
count_wild(const struct writ_crew_poll *poll, struct writ_crew_tally *tally)
{
    tally->ballot(tally, poll->ballots_n);
    return 0;
}

START_TEST(vote_of_a_registered_engine_is_called_by_name)
{
    static const struct writ_crew_engine last = {1, "last", "the last name", count_last};
    static const struct writ_crew_engine wild = {1, "last", "out of range", count_wild};
    static const struct writ_crew_engine foreign = {2, "foreign", "another ABI", count_last};
    static const struct writ_crew_engine unnamed = {1, "a b", "no name", count_last};
    const struct writ_crew_entry ranked = {
        WRIT_LIT("v-1"), WRIT_LIT("v"), WRIT_LIT("[\"b\",\"a\"]"), false, false};
    const struct writ_crew_entry plain = {
        WRIT_LIT("v-1"), WRIT_LIT("v"), WRIT_LIT("7"), false, false};
    struct writ_crew_engines *engines = writ_crew_engines_new();
    struct writ_crew_voting *voting = NULL;
    struct writ_crew_verdict verdict = {0};
    struct writ_crew_err err = {0};
    bool replaced = true;

    ck_assert_ok(writ_crew_engines_add(engines, &last, &replaced, NULL));
    ck_assert(!replaced);
    ck_assert_code(writ_crew_engines_add(engines, &foreign, &replaced, NULL), WRIT_E_INVALID);
    ck_assert_code(writ_crew_engines_add(engines, &unnamed, &replaced, NULL), WRIT_E_INVALID);
    ck_assert_ok(writ_crew_voting_read(WRIT_LIT("\"engine:last\""), NULL, &voting, NULL));
    ck_assert_ok(writ_crew_vote(voting, engines, &ranked, 1, 1, &verdict, NULL));
    ck_assert_view(writ_crew_value_text(verdict.value), "\"b\"");
    writ_crew_verdict_wipe(&verdict);
    ck_assert_code(writ_crew_vote(voting, engines, &plain, 1, 1, &verdict, &err), WRIT_E_INVALID);
    ck_assert_int_eq(err.error, WRIT_CREW_INVALID_BALLOT);

    ck_assert_ok(writ_crew_engines_add(engines, &wild, &replaced, NULL));
    ck_assert(replaced);
    ck_assert_code(writ_crew_vote(voting, engines, &ranked, 1, 1, &verdict, &err), WRIT_E_INVALID);
    ck_assert_int_eq(err.error, WRIT_CREW_INVALID_BALLOT);
    writ_crew_voting_free(voting);
    writ_crew_engines_free(engines);
}
END_TEST

/* An array of `n` different names, from the `from`-th on. */
static void
put_names(struct writ_buf *buf, size_t from, size_t n)
{
    writ_buf_clear(buf);
    for (size_t at = from; at < from + n; at++) {
        writ_buf_fmt(buf, "%s\"%07zu\"", at > from ? "," : "[", at);
    }
    writ_buf_byte(buf, ']');
    ck_assert_ok(writ_buf_check(buf, NULL));
}

START_TEST(vote_beyond_a_limit_is_refused)
{
    static const struct writ_crew_engine last = {1, "last", "the last name", count_last};
    struct writ_buf rankings[2] = {writ_buf_make(SIZE_MAX), writ_buf_make(SIZE_MAX)};
    struct writ_crew_engines *engines = writ_crew_engines_new();
    struct writ_crew_voting *borda = NULL, *by_engine = NULL;
    struct writ_crew_entry *entries = writ_alloc((WRIT_CREW_BALLOTS_MAX + 1) * sizeof *entries);
    struct writ_crew_verdict verdict = {0};
    struct writ_crew_err err = {0};

    ck_assert_ptr_nonnull(entries);
    ck_assert_ok(writ_crew_engines_add(engines, &last, NULL, NULL));
    ck_assert_ok(writ_crew_voting_read(WRIT_LIT("\"borda\""), NULL, &borda, NULL));
    ck_assert_ok(writ_crew_voting_read(WRIT_LIT("\"engine:last\""), NULL, &by_engine, NULL));
    for (size_t over = 0; over <= 1; over++) {
        /* one ranking with all candidates is left out when it is too long */
        put_names(&rankings[0], 0, WRIT_CREW_CANDIDATES_MAX + over);
        entries[0].output = writ_buf_view(&rankings[0]);
        ck_assert_ok(writ_crew_vote(borda, NULL, entries, 1, 1, &verdict, &err));
        ck_assert_int_eq(verdict.resolved, over == 0);
        writ_crew_verdict_wipe(&verdict);
        /* two that have them together are refused */
        put_names(&rankings[0], 0, 5000);
        put_names(&rankings[1], 5000, WRIT_CREW_CANDIDATES_MAX - 5000 + over);
        entries[0].output = writ_buf_view(&rankings[0]);
        entries[1].output = writ_buf_view(&rankings[1]);
        ck_assert_code(writ_crew_vote(by_engine, engines, entries, 2, 2, &verdict, &err),
            over ? WRIT_E_INVALID : WRIT_OK);
        writ_crew_verdict_wipe(&verdict);
    }
    ck_assert_int_eq(err.error, WRIT_CREW_INVALID_BALLOT);

    for (size_t at = 0; at <= WRIT_CREW_BALLOTS_MAX; at++) {
        entries[at] =
            (struct writ_crew_entry){WRIT_LIT("v-1"), WRIT_LIT("v"), WRIT_LIT("7"), false, false};
    }
    writ_crew_voting_free(borda);
    writ_crew_voting_free(by_engine);
    ck_assert_ok(writ_crew_voting_read(WRIT_LIT("\"majority\""), NULL, &by_engine, NULL));
    ck_assert_ok(writ_crew_vote(
        by_engine, NULL, entries, WRIT_CREW_BALLOTS_MAX, WRIT_CREW_BALLOTS_MAX, &verdict, &err));
    writ_crew_verdict_wipe(&verdict);
    ck_assert_code(writ_crew_vote(by_engine, NULL, entries, WRIT_CREW_BALLOTS_MAX + 1,
                       WRIT_CREW_BALLOTS_MAX + 1, &verdict, &err),
        WRIT_E_LIMIT);
    ck_assert_ptr_null(verdict.value);
    writ_crew_voting_free(by_engine);
    writ_crew_engines_free(engines);
    writ_buf_wipe(&rankings[0]);
    writ_buf_wipe(&rankings[1]);
    writ_free(entries);
}
END_TEST

START_TEST(voting_objects_and_names_of_engines_have_limits)
{
    static const char before[] = "{\"weight_function\":\"", after[] = "\"}";
    char name[WRIT_CREW_ENGINE_NAME_MAX + 2] = {0};
    struct writ_crew_engine engine = {1, name, "a name", count_last};
    struct writ_crew_engines *engines = writ_crew_engines_new();
    writ_auto_buf config = writ_buf_make(SIZE_MAX);
    struct writ_crew_voting *voting = NULL;
    struct writ_crew_err err = {0};

    for (size_t over = 0; over <= 1; over++) {
        writ_buf_clear(&config);
        writ_buf_str(&config, before);
        while (config.len + sizeof after - 1 < WRIT_CREW_VOTING_MAX + over) {
            writ_buf_byte(&config, 'x');
        }
        writ_buf_str(&config, after);
        ck_assert_code(writ_crew_voting_read(writ_buf_view(&config), NULL, &voting, &err),
            over ? WRIT_E_LIMIT : WRIT_OK);
        writ_crew_voting_free(voting);
        voting = NULL;
        for (size_t at = 0; at < WRIT_CREW_ENGINE_NAME_MAX + over; at++) {
            name[at] = 'n';
        }
        ck_assert_code(
            writ_crew_engines_add(engines, &engine, NULL, &err), over ? WRIT_E_INVALID : WRIT_OK);
    }
    engine.name = NULL; /* of a plug-in that was made wrongly */
    ck_assert_code(writ_crew_engines_add(engines, &engine, NULL, &err), WRIT_E_INVALID);
    writ_crew_engines_free(engines);
}
END_TEST

/* Votes by a mode over one output; the explanation. Wipe the verdict. */
static struct writ_crew_verdict
explained(const char *config, struct writ_view agent, struct writ_view output)
{
    const struct writ_crew_entry entry = {agent, WRIT_LIT("v"), output, false, false};
    struct writ_crew_voting *voting = NULL;
    struct writ_crew_verdict verdict = {0};

    ck_assert_ok(writ_crew_voting_read(writ_view_str(config), NULL, &voting, NULL));
    ck_assert_ok(writ_crew_vote(voting, NULL, &entry, 1, 1, &verdict, NULL));
    writ_crew_voting_free(voting);
    return verdict;
}

START_TEST(vote_explanation_is_printable)
{
    /* a character of three bytes lies across the cut of the output; the id has its own line */
    struct writ_crew_verdict verdict = explained("\"majority\"", WRIT_LIT("a\nb"),
        WRIT_LIT("\"1234567890123456789012345678901234567890123456\xe2\x82\xac\""));

    ck_assert_str_eq(verdict.why.ptr,
        "1 for \"1234567890123456789012345678901234567890123456... (first from a\\u000ab)\n");
    writ_crew_verdict_wipe(&verdict);
    verdict = explained("{\"mode\":\"best_of_n\",\"score\":\"\"}", WRIT_LIT("a"), WRIT_LIT("0.1"));
    ck_assert_str_eq(verdict.why.ptr, "a scores 0.1\n");
    writ_crew_verdict_wipe(&verdict);
}
END_TEST

START_TEST(vote_explanation_beyond_its_limit_is_cut)
{
    enum { VOTERS = 60000 };
    struct writ_crew_entry *entries = writ_alloc(VOTERS * sizeof *entries);
    writ_auto_buf outputs = writ_buf_make(SIZE_MAX);
    struct writ_crew_voting *voting = NULL;
    struct writ_crew_verdict verdict = {0};

    ck_assert_ptr_nonnull(entries);
    for (size_t at = 0; at < VOTERS; at++) {
        writ_buf_fmt(&outputs, "%zu", 100000 + at);
    }
    for (size_t at = 0; at < VOTERS; at++) {
        entries[at] = (struct writ_crew_entry){WRIT_LIT("a\n\n\n\n\n\n\n\n"), WRIT_LIT("v"),
            writ_view_sub(writ_buf_view(&outputs), at * 6, 6), false, false};
    }
    ck_assert_ok(writ_crew_voting_read(WRIT_LIT("\"majority\""), NULL, &voting, NULL));
    ck_assert_ok(writ_crew_vote(voting, NULL, entries, VOTERS, VOTERS, &verdict, NULL));
    ck_assert_uint_gt(verdict.why.len, WRIT_CREW_WHY_MAX - 4096);
    ck_assert_uint_lt(verdict.why.len, WRIT_CREW_WHY_MAX);
    writ_crew_verdict_wipe(&verdict);
    writ_crew_voting_free(voting);
    writ_free(entries);
}
END_TEST

START_TEST(vote_with_many_vetoes_is_quick)
{
    enum { VOTERS = 40000 };
    struct writ_crew_entry *entries = writ_alloc(VOTERS * sizeof *entries);
    writ_auto_buf config = writ_buf_make(SIZE_MAX);
    writ_auto_buf ids = writ_buf_make(SIZE_MAX);
    struct writ_crew_verdict verdict = {0};
    struct writ_crew_voting *voting = NULL;

    ck_assert_ptr_nonnull(entries);
    writ_buf_str(&config, "{\"mode\":\"review\",\"veto\":[");
    for (size_t at = 0; at < VOTERS; at++) {
        writ_buf_fmt(&config, "%s\"v-%07zu\"", at > 0 ? "," : "", at);
        writ_buf_fmt(&ids, "v-%07zu", at);
    }
    writ_buf_str(&config, "]}");
    for (size_t at = 0; at < VOTERS; at++) {
        entries[at] =
            (struct writ_crew_entry){writ_view_sub(writ_buf_view(&ids), at * 9, 9), WRIT_LIT("v"),
                at + 1 < VOTERS ? WRIT_LIT("\"approve\"") : WRIT_LIT("\"reject\""), false, false};
    }
    ck_assert_ok(writ_crew_voting_read(writ_buf_view(&config), NULL, &voting, NULL));
    ck_assert_ok(writ_crew_vote(voting, NULL, entries, VOTERS, VOTERS, &verdict, NULL));
    ck_assert_view(writ_crew_value_text(verdict.value), "\"REJECT\"");
    writ_crew_verdict_wipe(&verdict);
    writ_crew_voting_free(voting);
    writ_free(entries);
}
END_TEST

WRIT_UNIT_MAIN("vote", vote_counts_the_quorum_on_the_electorate, weights_and_thresholds_are_exact,
    vote_best_of_n_takes_the_highest_score, vote_review_follows_the_published_table,
    vote_never_both_accepts_and_rejects, borda_counts_points_and_first_places,
    vote_with_an_unknown_member_is_refused, vote_of_a_registered_engine_is_called_by_name,
    vote_beyond_a_limit_is_refused, voting_objects_and_names_of_engines_have_limits,
    vote_explanation_is_printable, vote_explanation_beyond_its_limit_is_cut,
    vote_with_many_vetoes_is_quick)
