/* Naughty strings as arguments: a constraint that names one accepts that one and no other, every
 * op handles each of them, and no two strings make the same scope. */
#include "evidence/json/jcs.h"
#include "policy/decide/policy.h"
#include "support/policy/ruling.h"
#include "support/unit.h"
#include "support/evidence/value.h"

#define STRINGS_LEAST 500

/* One rule with eq to the string, one with every op that takes strings. */
static struct writ_config *
config_with(struct writ_view json)
{
    writ_auto_buf text = writ_buf_make(1 << 20);

    writ_buf_str(&text, "tools:\n  u/exact:\n    scope: \"s/{a}/t\"\n    arguments:\n"
                        "      - {arg: a, op: eq, value: ");
    writ_buf_put(&text, json);
    writ_buf_str(&text, "}\n  u/other:\n    scope: s\n    arguments:\n"
                        "      - {arg: a, op: not_in, value: [");
    writ_buf_put(&text, json);
    writ_buf_str(&text, "]}\n");
    writ_buf_byte(&text, '\0');
    return writ_ruling_config(text.ptr);
}

static const struct writ_json *
arguments_with(const struct writ_json *string, struct writ_arena *arena)
{
    writ_auto_buf text = writ_buf_make(1 << 20);

    writ_buf_str(&text, "{\"a\":");
    ck_assert_ok(writ_jcs_put(&text, string, NULL));
    writ_buf_str(&text, "}");
    return writ_value_of(arena, writ_buf_view(&text));
}

static void
check_others(
    struct writ_config *config, const struct writ_json *strings, const struct writ_json *wanted)
{
    struct writ_arena *arena = writ_value_arena();

    for (const struct writ_json *other = writ_json_first(strings); other != NULL;
         other = writ_json_next(strings, other)) {
        struct writ_verdict exact, unlike;
        const struct writ_json *arguments = arguments_with(other, arena);
        bool same = writ_view_equal(writ_json_string(wanted), writ_json_string(other));

        writ_ruling_decide(config, "u/exact", arguments, arena, &exact);
        writ_ruling_decide(config, "u/other", arguments, arena, &unlike);
        ck_assert_int_eq(exact.reason == WRIT_REASON_CONSTRAINT_FAILED, !same);
        ck_assert_int_eq(unlike.answer == WRIT_POLICY_ALLOW, !same);
        writ_arena_reset(arena);
    }
    writ_arena_free(arena);
}

START_TEST(eq_of_a_string_holds_for_that_string_only)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *strings = writ_value_file(arena, "vectors/blns/blns.json");
    size_t index = 0;

    ck_assert_uint_ge(strings->count, STRINGS_LEAST);
    WRIT_JSON_EACH(string, strings)
    {
        writ_auto_buf json = writ_buf_make(1 << 16);
        struct writ_config *config;

        if (index++ % 16 != 0) { /* a sample against all: all against all takes minutes */
            continue;
        }
        ck_assert_ok(writ_jcs_put(&json, string, NULL));
        config = config_with(writ_buf_view(&json));
        check_others(config, strings, string);
        writ_config_drop(config);
    }
}
END_TEST

static bool
is_plain(struct writ_view scope)
{
    static const struct writ_view plain = {
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~%", 67};

    for (size_t i = 0; i < scope.len; i++) {
        if (writ_view_find(plain, scope.ptr[i]) == plain.len) {
            return false;
        }
    }
    return true;
}

/* Strings that a scope cannot hold: empty, a dot segment, or too long. */
static bool
cannot_stand(struct writ_view text)
{
    return text.len == 0 || writ_view_is(text, ".") || writ_view_is(text, "..") ||
           text.len * 3 + 4 > WRIT_SCOPE_MAX;
}

static int
nibble(char c)
{
    return c <= '9' ? c - '0' : c - 'A' + 10;
}

/* Undoes the percent-encoding of a segment. */
static void
decode(struct writ_view segment, struct writ_buf *ret)
{
    for (size_t i = 0; i < segment.len; i++) {
        if (segment.ptr[i] == '%') {
            writ_buf_byte(
                ret, (char)(nibble(segment.ptr[i + 1]) * 16 + nibble(segment.ptr[i + 2])));
            i += 2;
        } else {
            writ_buf_byte(ret, segment.ptr[i]);
        }
    }
}

START_TEST(template_of_each_string_gives_a_distinct_segment)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *strings = writ_value_file(arena, "vectors/blns/blns.json");
    struct writ_config *config = writ_ruling_config(
        "tools: {u/t: {scope: \"s/{a}/t\", arguments: [{arg: a, op: type, value: string}]}}");
    size_t scopes = 0;

    WRIT_JSON_EACH(string, strings)
    {
        writ_auto_buf decoded = writ_buf_make(1 << 16);
        struct writ_verdict verdict;

        writ_ruling_decide(config, "u/t", arguments_with(string, arena), arena, &verdict);
        if (verdict.answer == WRIT_POLICY_DENY) {
            ck_assert_int_eq(verdict.reason, WRIT_REASON_SCOPE_MISSING);
            ck_assert(cannot_stand(writ_json_string(string)));
            continue;
        }
        ck_assert(writ_view_has_prefix(verdict.scope, WRIT_LIT("s/")));
        ck_assert(writ_view_has_suffix(verdict.scope, WRIT_LIT("/t")));
        verdict.scope = writ_view_sub(verdict.scope, 2, verdict.scope.len - 4);
        ck_assert(is_plain(verdict.scope));
        decode(verdict.scope, &decoded);
        ck_assert(writ_view_equal(writ_buf_view(&decoded), writ_json_string(string)));
        scopes++;
    }
    ck_assert_uint_ge(scopes, STRINGS_LEAST);
    writ_config_drop(config);
}
END_TEST

START_TEST(evaluate_of_each_string_by_each_op_ends)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *strings = writ_value_file(arena, "vectors/blns/blns.json");
    struct writ_config *config = writ_ruling_config(
        "tools:\n"
        "  u/length: {scope: s, arguments: [{arg: a, op: max_length, value: 4096}]}\n"
        "  u/under: {scope: s, arguments: [{arg: a, op: under, value: /srv/sandbox}]}\n"
        "  u/host: {scope: s, arguments: [{arg: a, op: host_in, value: example.com}]}\n"
        "  u/word: {scope: s, arguments: [{arg: a, op: matches, value: \"[a-z]{1,10}\"}]}\n"
        "  u/glob: {scope: s, arguments: [{arg: a, op: glob, value: \"**[!x]*?\"}]}\n"
        "  u/number: {scope: s, arguments: [{arg: a, op: le, value: 5}]}\n");

    WRIT_JSON_EACH(string, strings)
    {
        const struct writ_json *arguments = arguments_with(string, arena);
        struct writ_verdict verdict;

        writ_ruling_decide(config, "u/length", arguments, arena, &verdict);
        ck_assert_int_eq(verdict.answer, WRIT_POLICY_ALLOW);
        writ_ruling_decide(config, "u/under", arguments, arena, &verdict);
        ck_assert_int_eq(verdict.reason, WRIT_REASON_CONSTRAINT_FAILED);
        writ_ruling_decide(config, "u/host", arguments, arena, &verdict);
        ck_assert_int_eq(verdict.reason, WRIT_REASON_CONSTRAINT_FAILED);
        writ_ruling_decide(config, "u/number", arguments, arena, &verdict);
        ck_assert_int_eq(verdict.reason, WRIT_REASON_CONSTRAINT_FAILED);
        writ_ruling_decide(config, "u/word", arguments, arena, &verdict);
        ck_assert_int_ne(verdict.reason, WRIT_REASON_CONSTRAINT_ERROR);
        writ_ruling_decide(config, "u/glob", arguments, arena, &verdict);
        ck_assert_int_ne(verdict.reason, WRIT_REASON_CONSTRAINT_ERROR);
    }
    writ_config_drop(config);
}
END_TEST

WRIT_UNIT_MAIN("blns", eq_of_a_string_holds_for_that_string_only,
    template_of_each_string_gives_a_distinct_segment, evaluate_of_each_string_by_each_op_ends)
