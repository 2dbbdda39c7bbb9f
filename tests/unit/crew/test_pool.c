/* The memory that agents share. Insights come back whole, statistics count all of them, and what
 * exceeds the limits is refused. */
#include "support/unit.h"

#include "base/bytes.h"
#include "crew/pool.h"
#include "writ/crew.h"

#include <math.h>

static struct writ_crew_pool *
filled(void)
{
    static const struct writ_view risk[] = {{"risk", 4}}, both[] = {{"risk", 4}, {"cost", 4}};
    static const struct writ_crew_insight insights[] = {
        {{"a", 1}, {"one", 3}, {"plan", 4}, {NULL, 0}, risk, 1, 0.5, {NULL, 0}},
        {{"b", 1}, {"two", 3}, {"plan", 4}, {"{\"b\":1, \"a\":2}", 14}, both, 2, 0.75, {NULL, 0}},
        {{"a", 1}, {"three", 5}, {"", 0}, {NULL, 0}, NULL, 0, 0.5, {NULL, 0}},
    };
    struct writ_crew_pool *pool = writ_crew_pool_new(3);

    ck_assert_ptr_nonnull(pool);
    for (size_t at = 0; at < sizeof insights / sizeof *insights; at++) {
        ck_assert_ok(writ_crew_pool_add(pool, &insights[at], NULL));
    }
    return pool;
}

/* The first letters of the insights that a filter selects. */
static void
check_filter(const struct writ_crew_pool *pool, const struct writ_crew_filter *filter,
    const char *const *want)
{
    struct writ_crew_value *value = NULL;
    struct writ_view text;

    ck_assert_ok(writ_crew_pool_read(pool, filter, &value));
    text = writ_crew_value_text(value);
    for (; *want != NULL; want++) {
        size_t at = writ_view_search(text, writ_view_str(*want));
        ck_assert_msg(at < text.len, "%s is missing or out of order", *want);
        text = writ_view_sub(text, at, text.len);
    }
    ck_assert_uint_eq(writ_view_search(writ_view_sub(text, 1, text.len), WRIT_LIT("\"content\"")),
        writ_view_sub(text, 1, text.len).len);
    writ_crew_value_free(value);
}

START_TEST(pool_read_selects_by_kind)
{
    static const struct writ_view risk[] = {{"risk", 4}}, cost[] = {{"cost", 4}, {"x", 1}};
    static const struct {
        struct writ_crew_filter filter;
        const char *want[4];
    } cases[] = {
        {{0}, {"\"two\"", "\"one\"", "\"three\"", NULL}},
        {{.limit = 2}, {"\"two\"", "\"one\"", NULL}},
        {{.any_tags = cost, .any_tags_n = 2}, {"\"two\"", NULL}},
        {{.all_tags = risk, .all_tags_n = 1}, {"\"two\"", "\"one\"", NULL}},
        {{.segment = {"plan", 4}}, {"\"two\"", "\"one\"", NULL}},
        {{.segment = {"", 0}}, {"\"three\"", NULL}},
        {{.agent_id = {"b", 1}}, {"\"two\"", NULL}},
        {{.not_agent = {"b", 1}}, {"\"one\"", "\"three\"", NULL}},
        {{.has_least = true, .least_importance = 0.75}, {"\"two\"", NULL}},
    };
    struct writ_crew_pool *pool = filled();

    for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
        check_filter(pool, &cases[at].filter, cases[at].want);
    }
    writ_crew_pool_free(pool);
}
END_TEST

START_TEST(pool_read_gives_the_written_insight)
{
    struct writ_crew_pool *pool = filled();
    struct writ_crew_value *value = NULL;

    ck_assert_ok(
        writ_crew_pool_read(pool, &(struct writ_crew_filter){.agent_id = {"b", 1}}, &value));
    ck_assert_view(writ_crew_value_text(value),
        "[{\"agentId\":\"b\",\"content\":\"two\",\"importance\":0.75,\"metadata\":{\"a\":2,\"b\":1}"
        ","
        "\"segment\":\"plan\",\"tags\":[\"risk\",\"cost\"]}]");
    writ_crew_value_free(value);
    writ_crew_pool_free(pool);
}
END_TEST

START_TEST(pool_statistics_count_every_insight)
{
    struct writ_crew_pool *pool = filled(), *empty = writ_crew_pool_new(0);
    struct writ_crew_value *value = NULL;

    ck_assert_ok(writ_crew_pool_statistics(pool, &value));
    ck_assert_view(writ_crew_value_text(value),
        "{\"agents\":{\"a\":2,\"b\":1},\"averageImportance\":0.5833333333333334,\"insights\":3,"
        "\"segments\":{\"\":1,\"plan\":2},\"tags\":{\"cost\":1,\"risk\":2}}");
    writ_crew_value_free(value);
    ck_assert_ok(writ_crew_pool_statistics(empty, &value));
    ck_assert_view(writ_crew_value_text(value),
        "{\"agents\":{},\"averageImportance\":0,\"insights\":0,\"segments\":{},\"tags\":{}}");
    writ_crew_value_free(value);
    writ_crew_pool_free(empty);
    writ_crew_pool_free(pool);
}
END_TEST

START_TEST(pool_put_beyond_its_limits_is_refused)
{
    struct writ_crew_pool *pool = filled(), *roomy = writ_crew_pool_new(9);
    struct writ_crew_insight insight = {.content = {"x", 1}};
    struct writ_view tags[WRIT_CREW_TAGS_MAX + 1];
    struct writ_crew_err err = {0};

    ck_assert_code(writ_crew_pool_add(pool, &insight, &err), WRIT_E_LIMIT);
    insight.importance = INFINITY;
    ck_assert_code(writ_crew_pool_add(roomy, &insight, &err), WRIT_E_INVALID);
    insight.importance = 1;
    insight.metadata = WRIT_LIT("{\"a\":1,\"a\":2}");
    ck_assert_code(writ_crew_pool_add(roomy, &insight, &err), WRIT_E_INVALID);
    insight.metadata = WRIT_LIT("null");
    ck_assert_ok(writ_crew_pool_add(roomy, &insight, &err));
    for (size_t at = 0; at <= WRIT_CREW_TAGS_MAX; at++) {
        tags[at] = WRIT_LIT("t");
    }
    insight.tags = tags;
    insight.tags_n = WRIT_CREW_TAGS_MAX;
    ck_assert_ok(writ_crew_pool_add(roomy, &insight, &err));
    insight.tags_n++;
    ck_assert_code(writ_crew_pool_add(roomy, &insight, &err), WRIT_E_LIMIT);
    insight.tags_n = 1;
    for (size_t at = 0; at < 4; at++) { /* invalid UTF-8 would break every later read */
        struct writ_view *const texts[] = {
            &insight.agent_id, &insight.content, &insight.segment, &tags[0]};
        *texts[at] = WRIT_LIT("\xff");
        ck_assert_code(writ_crew_pool_add(roomy, &insight, &err), WRIT_E_INVALID);
        ck_assert_int_eq(err.error, WRIT_CREW_MALFORMED);
        *texts[at] = WRIT_LIT("x");
    }
    writ_crew_pool_free(roomy);
    writ_crew_pool_free(pool);
}
END_TEST

/* ---- requests */

static void
note_insight(void *user, struct writ_view agent_id, struct writ_view insight)
{
    struct writ_buf *log = user;

    writ_buf_put(log, agent_id);
    writ_buf_put(log, WRIT_LIT(" reads "));
    writ_buf_put(log, insight);
    writ_buf_byte(log, '\n');
}

/* Appends what an agent's request gives: the answer, or the name of its failure. */
static void
request(struct writ_crew_pool *pool, const char *agent, const char *json, struct writ_buf *log)
{
    const struct writ_crew_pool_reader reader = {note_insight, log};
    struct writ_crew_value *answer = NULL;
    struct writ_crew_err err = {0};
    writ_result result = writ_crew_pool_request(
        pool, writ_view_str(agent), writ_view_str(json), &reader, &answer, &err);

    if (writ_is_ok(result)) {
        writ_buf_put(log, writ_crew_value_text(answer));
    } else {
        writ_buf_fmt(log, "%s: %s", writ_code_name(result.code), err.err.text);
    }
    writ_buf_byte(log, '\n');
    writ_crew_value_free(answer);
}

START_TEST(request_puts_searches_and_subscribes)
{
    static const struct {
        const char *agent, *json, *want;
    } rows[] = {
        {"b", "{\"type\":\"pool.subscribe\",\"anyTags\":[\"risk\"]}", "{\"subscriptions\":1}\n"},
        {"b", "{\"type\":\"pool.subscribe\",\"segment\":\"s\"}", "{\"subscriptions\":2}\n"},
        {"a", "{\"type\":\"pool.subscribe\"}", "{\"subscriptions\":1}\n"},
        {"a",
            "{\"type\":\"pool.put\",\"content\":\"x\",\"tags\":[\"risk\"],\"segment\":\"s\","
            "\"importance\":1,\"metadata\":{\"b\":1,\"a\":2},\"key\":\"k\",\"id\":1}",
            "b reads {\"agentId\":\"a\",\"content\":\"x\",\"importance\":1,\"metadata\":{\"a\":2,"
            "\"b\":1},\"segment\":\"s\",\"tags\":[\"risk\"]}\n{\"added\":true,\"insight\":1}\n"},
        {"a", "{\"type\":\"pool.put\",\"content\":\"other\",\"key\":\"k\"}",
            "{\"added\":false,\"insight\":1}\n"},
        {"b", "{\"type\":\"pool.put\",\"content\":\"y\",\"key\":\"k\"}",
            "a reads {\"agentId\":\"b\",\"content\":\"y\",\"importance\":0.5,\"segment\":\"\","
            "\"tags\":[]}\n{\"added\":true,\"insight\":2}\n"},
        {"a", "{\"type\":\"pool.unsubscribe\"}", "{\"subscriptions\":0}\n"},
        {"b", "{\"type\":\"pool.put\",\"content\":\"z\"}", "{\"added\":true,\"insight\":3}\n"},
        {"c", "{\"type\":\"pool.search\",\"notAgent\":\"a\",\"limit\":1}",
            "{\"insights\":[{\"agentId\":\"b\",\"content\":\"y\",\"importance\":0.5,"
            "\"segment\":\"\",\"tags\":[]}],\"more\":1}\n"},
        {"c", "{\"type\":\"pool.statistics\"}",
            "{\"statistics\":{\"agents\":{\"a\":1,\"b\":2},\"averageImportance\":0."
            "6666666666666666,"
            "\"insights\":3,\"segments\":{\"\":2,\"s\":1},\"tags\":{\"risk\":1}}}\n"},
    };
    struct writ_crew_pool *pool = writ_crew_pool_new(3);

    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        writ_auto_buf log = writ_buf_make(1 << 20);
        request(pool, rows[row].agent, rows[row].json, &log);
        ck_assert_msg(writ_view_is(writ_buf_view(&log), rows[row].want), "row %zu: %.*s", row,
            (int)log.len, log.ptr);
    }
    writ_crew_pool_free(pool);
}
END_TEST

START_TEST(request_that_is_not_one_is_refused_and_changes_nothing)
{
    static const char *const rows[][2] = {
        {"[]", "parse: "},
        {"{", "parse: "},
        {"{}", "invalid: /type: is not a request to the pool"},
        {"{\"type\":\"pool.drop\"}", "invalid: /type: "},
        {"{\"type\":\"pool.put\"}", "invalid: /content: is missing"},
        {"{\"type\":\"pool.put\",\"content\":1}", "invalid: /content: must be a string"},
        {"{\"type\":\"pool.put\",\"content\":\"\",\"tags\":\"t\"}", "invalid: /tags: "},
        {"{\"type\":\"pool.put\",\"content\":\"\",\"tags\":[1]}", "invalid: /tags: "},
        {"{\"type\":\"pool.put\",\"content\":\"\",\"importance\":\"1\"}", "invalid: /importance: "},
        {"{\"type\":\"pool.put\",\"content\":\"\",\"agentId\":\"b\"}",
            "invalid: /agentId: pool.put has no such member"},
        {"{\"type\":\"pool.search\",\"anytags\":[]}", "invalid: /anytags: "},
        {"{\"type\":\"pool.search\",\"limit\":0}", "invalid: /limit: "},
        {"{\"type\":\"pool.search\",\"limit\":1001}", "invalid: /limit: "},
        {"{\"type\":\"pool.search\",\"limit\":1.5}", "invalid: /limit: "},
        {"{\"type\":\"pool.subscribe\",\"limit\":1}", "invalid: /limit: "},
        {"{\"type\":\"pool.statistics\",\"x\":1}", "invalid: /x: "},
    };
    struct writ_crew_pool *pool = writ_crew_pool_new(3);
    writ_auto_buf after = writ_buf_make(1 << 20);

    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        writ_auto_buf log = writ_buf_make(1 << 20);
        request(pool, "a", rows[row][0], &log);
        ck_assert_msg(writ_view_has_prefix(writ_buf_view(&log), writ_view_str(rows[row][1])),
            "row %zu: %.*s", row, (int)log.len, log.ptr);
    }
    request(pool, "a", "{\"type\":\"pool.statistics\"}", &after);
    ck_assert_uint_lt(
        writ_view_search(writ_buf_view(&after), WRIT_LIT("\"insights\":0,")), after.len);
    writ_crew_pool_free(pool);
}
END_TEST

START_TEST(pool_has_limits_of_bytes_answers_and_subscriptions)
{
    struct writ_crew_pool *pool = writ_crew_pool_new(1000);
    writ_auto_buf put = writ_buf_make(1 << 20);
    writ_auto_buf log = writ_buf_make(1 << 28);
    size_t added = 0, from;

    writ_buf_str(&put, "{\"type\":\"pool.put\",\"content\":\"");
    for (size_t at = 0; at < 1000 * 1000; at++) {
        writ_buf_byte(&put, 'x');
    }
    writ_buf_put(&put, writ_view("\"}", 3));
    ck_assert_ok(writ_buf_check(&put, NULL));
    do {
        from = log.len;
        request(pool, "a", put.ptr, &log);
        added++;
    } while (writ_view_has_prefix(
        writ_view_sub(writ_buf_view(&log), from, SIZE_MAX), WRIT_LIT("{\"added\":true")));
    ck_assert_uint_eq(added, WRIT_CREW_POOL_BYTES_MAX / 1000000 + 1);
    ck_assert(writ_view_has_prefix(
        writ_view_sub(writ_buf_view(&log), from, SIZE_MAX), WRIT_LIT("limit: ")));
    writ_buf_clear(&log);
    request(pool, "a", "{\"type\":\"pool.search\"}", &log); /* two of them are over the limit */
    ck_assert_uint_lt(writ_view_search(writ_buf_view(&log), WRIT_LIT("\"more\":65}")), log.len);
    for (size_t at = 0; at < WRIT_CREW_SUBSCRIBED_MAX; at++) {
        writ_buf_clear(&log);
        request(pool, "a", "{\"type\":\"pool.subscribe\"}", &log);
    }
    ck_assert(writ_view_is(writ_buf_view(&log), "{\"subscriptions\":1000}\n"));
    request(pool, "b", "{\"type\":\"pool.subscribe\"}", &log);
    ck_assert_uint_lt(writ_view_search(writ_buf_view(&log), WRIT_LIT("limit: the pool")), log.len);
    writ_crew_pool_free(pool);
}
END_TEST

START_TEST(pool_numbers_are_written_with_their_insights)
{
    struct writ_crew_pool *pool = writ_crew_pool_new(2);
    struct writ_crew_insight insight = {.content = WRIT_LIT("a"), .importance = 0.5};
    struct writ_crew_filter all = {0};
    struct writ_crew_value *value = NULL;

    ck_assert_ptr_nonnull(pool);
    ck_assert_ok(writ_crew_pool_add(pool, &insight, NULL));
    writ_pool_number(pool, 0);
    ck_assert_ok(writ_crew_pool_add(pool, &insight, NULL));
    ck_assert_ok(writ_crew_pool_read(pool, &all, &value));
    ck_assert_view(writ_crew_value_text(value),
        "[{\"agentId\":\"\",\"content\":\"a\",\"importance\":0.5,\"segment\":\"\",\"tags\":[]},"
        "{\"agentId\":\"\",\"content\":\"a\",\"importance\":0.5,\"insight\":0,\"segment\":\"\","
        "\"tags\":[]}]");
    writ_crew_value_free(value);
    writ_crew_pool_free(pool);
}
END_TEST

WRIT_UNIT_MAIN("pool", pool_numbers_are_written_with_their_insights,
    request_puts_searches_and_subscribes, request_that_is_not_one_is_refused_and_changes_nothing,
    pool_has_limits_of_bytes_answers_and_subscriptions, pool_read_selects_by_kind,
    pool_read_gives_the_written_insight, pool_statistics_count_every_insight,
    pool_put_beyond_its_limits_is_refused)
