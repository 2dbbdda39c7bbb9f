/* What holds for all records, shown with decisions, outcomes and seals. They read and write in
 * canonical form, unknown members pass through, and nothing is cut silently. */
#include "support/unit.h"
#include "support/evidence/value.h"

#include "evidence/json/jcs.h"
#include "evidence/record/record.h"

/* Reads a decision and writes it again. */
static struct writ_view
rewritten(struct writ_arena *arena, const struct writ_json *value)
{
    writ_auto_buf buf = writ_buf_make(WRIT_RECORD_MAX_BYTES);
    struct writ_decision decision;
    struct writ_err err = {0};

    ck_assert_msg(writ_is_ok(writ_decision_read(value, arena, &decision, &err)), "%s", err.text);
    ck_assert_ok(writ_decision_put(&decision, &buf, NULL));
    return writ_view_copy(writ_buf_view(&buf), arena);
}

#define NAME(member, KIND, NULLS, needed, meaning) #member,

START_TEST(record_tables_are_in_canonical_order)
{
    static const char *const decision[] = {WRIT_DECISION_MEMBERS(NAME)};
    static const char *const outcome[] = {WRIT_OUTCOME_MEMBERS(NAME)};
    static const char *const seal[] = {WRIT_SEAL_MEMBERS(NAME)};
    static const char *const extension[] = {WRIT_EXTENSION_MEMBERS(NAME)};
    static const struct {
        const char *const *names;
        size_t count;
    } tables[] = {
        {decision, sizeof decision / sizeof decision[0]},
        {outcome, sizeof outcome / sizeof outcome[0]},
        {seal, sizeof seal / sizeof seal[0]},
        {extension, sizeof extension / sizeof extension[0]},
    };

    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++) {
        for (size_t i = 1; i < tables[t].count; i++) {
            ck_assert_msg(writ_jcs_compare(writ_view_str(tables[t].names[i - 1]),
                              writ_view_str(tables[t].names[i])) < 0,
                "%s comes before %s", tables[t].names[i - 1], tables[t].names[i]);
        }
    }
}
END_TEST

START_TEST(record_write_is_canonical)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *value = writ_value_of(
        arena, WRIT_LIT("{\"tool\": \"t\", \"seq\": 0, \"policy_refs\": [\"b\", \"a\"], "
                        "\"agent_id\": \"\\u00e9\", \"continuation_id\": null}"));

    ck_assert_view(rewritten(arena, value),
        "{\"agent_id\":\"\xc3\xa9\",\"continuation_id\":null,\"policy_refs\":[\"b\",\"a\"],"
        "\"seq\":0,\"tool\":\"t\"}");
}
END_TEST

START_TEST(record_read_of_an_empty_object_writes_an_empty_object)
{
    writ_auto_arena arena = writ_value_arena();

    ck_assert_view(rewritten(arena, writ_value_of(arena, WRIT_LIT("{}"))), "{}");
}
END_TEST

START_TEST(null_and_absent_are_kept_apart)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision;

    ck_assert_ok(writ_decision_read(
        writ_value_of(arena, WRIT_LIT("{\"supersedes\":null}")), arena, &decision, NULL));
    ck_assert_int_eq(decision.supersedes.is, WRIT_NULL);
    ck_assert_int_eq(decision.continuation_id.is, WRIT_ABSENT);
    ck_assert_view(rewritten(arena, writ_value_of(arena, WRIT_LIT("{\"supersedes\":null}"))),
        "{\"supersedes\":null}");
}
END_TEST

/* U+FB33 sorts after U+1F600 by UTF-16 code units, and before it by code points. */
START_TEST(unknown_members_pass_through_in_their_place)
{
    writ_auto_arena arena = writ_value_arena();
    const char *text = "{\"AAA\":[1,{\"z\":null}],\"agent\":1.5,\"agent_id\":\"a\","
                       "\"agent_idx\":true,\"tool\":\"t\",\"zzz\":{},"
                       "\"\xf0\x9f\x98\x80\":1,\"\xef\xac\xb3\":2}";

    ck_assert_view(rewritten(arena, writ_value_of(arena, writ_view_str(text))), text);
}
END_TEST

START_TEST(members_of_a_wrong_type_pass_through_and_count_as_absent)
{
    writ_auto_arena arena = writ_value_arena();
    const char *text = "{\"agent_id\":7,\"extensions\":[],\"policy_refs\":[\"a\",1],"
                       "\"seq\":\"0\",\"tool\":{\"a\":1}}";
    struct writ_decision decision;

    ck_assert_view(rewritten(arena, writ_value_of(arena, writ_view_str(text))), text);
    ck_assert_ok(
        writ_decision_read(writ_value_of(arena, writ_view_str(text)), arena, &decision, NULL));
    ck_assert_int_eq(decision.agent_id.is, WRIT_WRONG);
    ck_assert_int_eq(decision.policy_refs.is, WRIT_WRONG);
    ck_assert_int_eq(decision.seq.is, WRIT_WRONG);
    ck_assert_uint_eq(decision.others.count, 5);
}
END_TEST

START_TEST(record_write_of_an_integer_has_no_fraction)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision;
    static const char *const wrong[] = {"{\"seq\":1.0}", "{\"seq\":1e2}", "{\"seq\":0.5}",
        "{\"seq\":9007199254740992}", "{\"seq\":true}", "{\"seq\":[0]}"};

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ck_assert_ok(writ_decision_read(
            writ_value_of(arena, writ_view_str(wrong[i])), arena, &decision, NULL));
        ck_assert_msg(decision.seq.is == WRIT_WRONG, "%s", wrong[i]);
    }
    ck_assert_ok(writ_decision_read(
        writ_value_of(arena, WRIT_LIT("{\"seq\":9007199254740991}")), arena, &decision, NULL));
    ck_assert_int_eq(decision.seq.is, WRIT_PRESENT);
    ck_assert_int_eq(decision.seq.value, INT64_C(9007199254740991));
}
END_TEST

START_TEST(record_read_of_no_object_is_refused)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = {.seq = {WRIT_PRESENT, 5}};
    static const char *const texts[] = {"[]", "null", "\"{}\"", "1", "true"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ck_assert_code(writ_decision_read(
                           writ_value_of(arena, writ_view_str(texts[i])), arena, &decision, NULL),
            WRIT_E_PARSE);
    }
    ck_assert_code(writ_decision_read(NULL, arena, &decision, NULL), WRIT_E_PARSE);
    ck_assert_int_eq(decision.seq.value, 5);
}
END_TEST

/* An object with `count` members that no row names. */
static struct writ_view
with_others(struct writ_arena *arena, size_t count)
{
    writ_auto_buf buf = writ_buf_make(1 << 20);

    for (size_t i = 0; i < count; i++) {
        writ_buf_fmt(&buf, "%s\"x%zu\":0", i == 0 ? "{" : ",", i);
    }
    writ_buf_byte(&buf, '}');
    return writ_view_copy(writ_buf_view(&buf), arena);
}

START_TEST(unknown_members_have_a_maximum)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = {.seq = {WRIT_PRESENT, 5}};
    const struct writ_json *most = writ_value_of(arena, with_others(arena, WRIT_RECORD_MAX_OTHERS));
    const struct writ_json *over =
        writ_value_of(arena, with_others(arena, WRIT_RECORD_MAX_OTHERS + 1));

    ck_assert_code(writ_decision_read(over, arena, &decision, NULL), WRIT_E_LIMIT);
    ck_assert_int_eq(decision.seq.value, 5);
    ck_assert_ok(writ_decision_read(most, arena, &decision, NULL));
    ck_assert_uint_eq(decision.others.count, WRIT_RECORD_MAX_OTHERS);
}
END_TEST

static struct writ_view
with_items(struct writ_arena *arena, size_t count)
{
    writ_auto_buf buf = writ_buf_make(1 << 20);

    writ_buf_str(&buf, "{\"policy_refs\":[");
    for (size_t i = 0; i < count; i++) {
        writ_buf_str(&buf, i == 0 ? "\"p\"" : ",\"p\"");
    }
    writ_buf_str(&buf, "]}");
    return writ_view_copy(writ_buf_view(&buf), arena);
}

START_TEST(lists_have_a_maximum)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = {.seq = {WRIT_PRESENT, 5}};
    const struct writ_json *most = writ_value_of(arena, with_items(arena, WRIT_RECORD_MAX_ITEMS));
    const struct writ_json *over =
        writ_value_of(arena, with_items(arena, WRIT_RECORD_MAX_ITEMS + 1));

    ck_assert_code(writ_decision_read(over, arena, &decision, NULL), WRIT_E_LIMIT);
    ck_assert_int_eq(decision.seq.value, 5);
    ck_assert_ok(writ_decision_read(most, arena, &decision, NULL));
    ck_assert_uint_eq(decision.policy_refs.count, WRIT_RECORD_MAX_ITEMS);
}
END_TEST

START_TEST(record_write_beyond_the_buffer_fails)
{
    struct writ_decision decision = {.tool = writ_member_text(WRIT_LIT("search"))};
    writ_auto_buf most = writ_buf_make(17), over = writ_buf_make(16);

    ck_assert_ok(writ_decision_put(&decision, &most, NULL));
    ck_assert_view(writ_buf_view(&most), "{\"tool\":\"search\"}");
    ck_assert_code(writ_decision_put(&decision, &over, NULL), WRIT_E_LIMIT);
}
END_TEST

START_TEST(record_write_of_a_kept_inexact_number_fails)
{
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf buf = writ_buf_make(1000);
    struct writ_decision decision;

    ck_assert_ok(writ_decision_read(
        writ_value_of(arena, WRIT_LIT("{\"x\":9007199254740993}")), arena, &decision, NULL));
    ck_assert_code(writ_decision_put(&decision, &buf, NULL), WRIT_E_PARSE);
}
END_TEST

START_TEST(outcomes_and_seals_pass_through_as_well)
{
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf buf = writ_buf_make(1000);
    const char *outcome_text = "{\"decision_id\":\"d\",\"outcome\":\"executed\",\"seq\":3,\"x\":1}";
    const char *seal_text = "{\"extensions\":{\"a\":{\"b\":1}},\"final_seq\":-1,\"sealed\":true,"
                            "\"total\":0,\"y\":[]}";
    struct writ_outcome outcome;
    struct writ_seal seal;

    ck_assert_ok(writ_outcome_read(
        writ_value_of(arena, writ_view_str(outcome_text)), arena, &outcome, NULL));
    ck_assert_ok(writ_outcome_put(&outcome, &buf, NULL));
    ck_assert_view(writ_buf_view(&buf), outcome_text);

    writ_buf_clear(&buf);
    ck_assert_ok(
        writ_seal_read(writ_value_of(arena, writ_view_str(seal_text)), arena, &seal, NULL));
    ck_assert_ok(writ_seal_put(&seal, &buf, NULL));
    ck_assert_view(writ_buf_view(&buf), seal_text);
}
END_TEST

START_TEST(outcome_and_seal_read_of_no_object_is_refused)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_outcome outcome = {.seq = {WRIT_PRESENT, 5}};
    struct writ_seal seal = {.total = {WRIT_PRESENT, 5}};
    const struct writ_json *list = writ_value_of(arena, WRIT_LIT("[]"));

    ck_assert_code(writ_outcome_read(list, arena, &outcome, NULL), WRIT_E_PARSE);
    ck_assert_code(writ_seal_read(list, arena, &seal, NULL), WRIT_E_PARSE);
    ck_assert_int_eq(outcome.seq.value, 5);
    ck_assert_int_eq(seal.total.value, 5);
}
END_TEST

START_TEST(record_write_of_an_inexact_number_in_extensions_fails)
{
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf buf = writ_buf_make(1000);
    struct writ_decision decision;

    ck_assert_ok(writ_decision_read(
        writ_value_of(arena, WRIT_LIT("{\"extensions\":{\"x\":9007199254740993}}")), arena,
        &decision, NULL));
    ck_assert_code(writ_decision_put(&decision, &buf, NULL), WRIT_E_PARSE);
}
END_TEST

START_TEST(both_flags_pass_through)
{
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf buf = writ_buf_make(1000);
    struct writ_seal seal;

    ck_assert_ok(
        writ_seal_read(writ_value_of(arena, WRIT_LIT("{\"sealed\":false}")), arena, &seal, NULL));
    ck_assert(seal.sealed.is == WRIT_PRESENT && !seal.sealed.value);
    ck_assert_ok(writ_seal_put(&seal, &buf, NULL));
    ck_assert_view(writ_buf_view(&buf), "{\"sealed\":false}");
}
END_TEST

START_TEST(record_write_of_a_replaced_member_writes_it_once)
{
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf text = writ_buf_make(1024);
    struct writ_outcome outcome;

    ck_assert_ok(
        writ_outcome_read(writ_value_of(arena, WRIT_LIT("{\"a\":1,\"completed_at\":true,\"z\":2}")),
            arena, &outcome, NULL));
    ck_assert_ok(writ_outcome_put(&outcome, &text, NULL));
    ck_assert_view(writ_buf_view(&text), "{\"a\":1,\"completed_at\":true,\"z\":2}");

    outcome.completed_at = writ_member_text(WRIT_LIT("2026-06-25T05:00:00Z"));
    ck_assert_code(writ_outcome_put(&outcome, &text, NULL), WRIT_E_INVALID);
    outcome.completed_at.is = WRIT_NULL;
    ck_assert_code(writ_outcome_put(&outcome, &text, NULL), WRIT_E_INVALID);
}
END_TEST

WRIT_UNIT_MAIN("table", record_write_of_a_replaced_member_writes_it_once,
    record_tables_are_in_canonical_order, record_write_is_canonical,
    record_read_of_an_empty_object_writes_an_empty_object, null_and_absent_are_kept_apart,
    unknown_members_pass_through_in_their_place,
    members_of_a_wrong_type_pass_through_and_count_as_absent,
    record_write_of_an_integer_has_no_fraction, record_read_of_no_object_is_refused,
    unknown_members_have_a_maximum, lists_have_a_maximum, record_write_beyond_the_buffer_fails,
    record_write_of_a_kept_inexact_number_fails, outcomes_and_seals_pass_through_as_well,
    outcome_and_seal_read_of_no_object_is_refused,
    record_write_of_an_inexact_number_in_extensions_fails, both_flags_pass_through)
