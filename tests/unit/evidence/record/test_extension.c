/* Writ's extension of a record. It is canonical, survives the record, and leaves the members of
 * other vendors untouched. */
#include "support/unit.h"
#include "support/evidence/value.h"

#include "evidence/record/record.h"

static const struct writ_view budgets[] = {{"daily", 5}};

static struct writ_extension
full_extension(void)
{
    return (struct writ_extension){
        .tenant = writ_member_text(WRIT_LIT("acme")),
        .upstream = writ_member_text(WRIT_LIT("crm")),
        .profile = writ_member_text(WRIT_LIT("crewai-v1")),
        .shadow = writ_member_flag(true),
        .budgets = writ_member_list(budgets, 1),
    };
}

#define FULL                                                                                       \
    "{\"writ\":{\"budgets\":[\"daily\"],\"profile\":\"crewai-v1\",\"shadow\":true,"                \
    "\"tenant\":\"acme\",\"upstream\":\"crm\"}}"

START_TEST(extension_put_is_canonical)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_extension extension = full_extension();
    struct writ_member_object made = {0};

    ck_assert_ok(writ_extension_make(&extension, arena, &made, NULL));
    ck_assert_int_eq(made.is, WRIT_PRESENT);
    ck_assert_view(made.canonical, FULL);
}
END_TEST

START_TEST(extension_put_twice_replaces_the_first)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_extension extension = full_extension(), again;
    struct writ_member_object made = {0};

    ck_assert_ok(writ_extension_make(&extension, arena, &made, NULL));
    extension = (struct writ_extension){0};
    ck_assert_ok(writ_extension_read(&made, arena, &again, NULL));
    again.reason = writ_member_text(WRIT_LIT("budget_exceeded"));
    ck_assert_ok(writ_extension_make(&again, arena, &made, NULL));
    ck_assert_view(made.canonical, "{\"writ\":{\"budgets\":[\"daily\"],\"profile\":\"crewai-v1\","
                                   "\"reason\":\"budget_exceeded\",\"shadow\":true,\"tenant\":"
                                   "\"acme\",\"upstream\":\"crm\"}}");
}
END_TEST

START_TEST(extension_reads_back_from_its_record)
{
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf buf = writ_buf_make(1000);
    struct writ_extension extension = full_extension(), read;
    struct writ_decision decision = {0};

    ck_assert_ok(writ_extension_make(&extension, arena, &decision.extensions, NULL));
    ck_assert_ok(writ_decision_put(&decision, &buf, NULL));
    ck_assert_view(writ_buf_view(&buf), "{\"extensions\":" FULL "}");
    ck_assert_ok(
        writ_decision_read(writ_value_of(arena, writ_buf_view(&buf)), arena, &decision, NULL));
    ck_assert_ok(writ_extension_read(&decision.extensions, arena, &read, NULL));
    ck_assert_view(read.tenant.view, "acme");
    ck_assert(read.shadow.is == WRIT_PRESENT && read.shadow.value);
    ck_assert_uint_eq(read.budgets.count, 1);
    ck_assert_int_eq(read.reason.is, WRIT_ABSENT);
}
END_TEST

START_TEST(extension_put_keeps_other_vendors)
{
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf buf = writ_buf_make(1000);
    const char *text = "{\"extensions\":{\"teec\":{\"a\":[1,\"\xc3\xbc\"]},"
                       "\"writ\":{\"new\":1,\"tenant\":\"t\"}}}";
    struct writ_decision decision;
    struct writ_extension read;

    ck_assert_ok(
        writ_decision_read(writ_value_of(arena, writ_view_str(text)), arena, &decision, NULL));
    ck_assert_ok(writ_extension_read(&decision.extensions, arena, &read, NULL));
    ck_assert_view(read.tenant.view, "t");
    ck_assert_uint_eq(read.others.count, 1);
    ck_assert_ok(writ_decision_put(&decision, &buf, NULL));
    ck_assert_view(writ_buf_view(&buf), text);
}
END_TEST

START_TEST(extension_read_without_one_is_empty)
{
    writ_auto_arena arena = writ_value_arena();
    static const char *const texts[] = {"{}", "{\"extensions\":null}", "{\"extensions\":{}}",
        "{\"extensions\":{\"writ\":[]}}", "{\"extensions\":{\"writ\":null}}"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct writ_extension read = full_extension();
        struct writ_decision decision;
        ck_assert_ok(writ_decision_read(
            writ_value_of(arena, writ_view_str(texts[i])), arena, &decision, NULL));
        ck_assert_ok(writ_extension_read(&decision.extensions, arena, &read, NULL));
        ck_assert_int_eq(read.tenant.is, WRIT_ABSENT);
        ck_assert_uint_eq(read.others.count, 0);
    }
}
END_TEST

START_TEST(extension_without_memory_leaves_ret_unchanged)
{
    struct writ_extension extension = full_extension();
    struct writ_member_object made = {0};

    for (size_t max = 8; max < sizeof extension; max += 64) {
        writ_auto_arena arena = writ_arena_new(max);
        ck_assert_code(writ_extension_make(&extension, arena, &made, NULL), WRIT_E_NOMEM);
        ck_assert_int_eq(made.is, WRIT_ABSENT);
    }
}
END_TEST

START_TEST(extension_put_beyond_the_maximum_fails)
{
    writ_auto_arena arena = writ_value_arena();
    size_t around = sizeof "{\"writ\":{\"tenant\":\"\"}}" - 1;
    char *text = writ_arena_get(arena, WRIT_RECORD_MAX_BYTES);
    struct writ_member_object made = {0};
    struct writ_extension extension = {0};

    ck_assert_ptr_nonnull(text);
    for (size_t i = 0; i < WRIT_RECORD_MAX_BYTES; i++) {
        text[i] = 'a';
    }
    extension.tenant = writ_member_text(writ_view(text, WRIT_RECORD_MAX_BYTES - around + 1));
    ck_assert_code(writ_extension_make(&extension, arena, &made, NULL), WRIT_E_LIMIT);
    ck_assert_int_eq(made.is, WRIT_ABSENT);
    extension.tenant = writ_member_text(writ_view(text, WRIT_RECORD_MAX_BYTES - around));
    ck_assert_ok(writ_extension_make(&extension, arena, &made, NULL));
    ck_assert_uint_eq(made.canonical.len, WRIT_RECORD_MAX_BYTES);
}
END_TEST

WRIT_UNIT_MAIN("extension", extension_put_is_canonical, extension_put_twice_replaces_the_first,
    extension_reads_back_from_its_record, extension_put_keeps_other_vendors,
    extension_read_without_one_is_empty, extension_without_memory_leaves_ret_unchanged,
    extension_put_beyond_the_maximum_fails)
