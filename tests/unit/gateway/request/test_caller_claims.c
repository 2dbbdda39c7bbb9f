/* Names that callers state of themselves. Only a text that can be shown is kept, up to its limit,
 * and reserved boundary names are recognized. */
#include "support/unit.h"
#include "support/evidence/value.h"

#include "gateway/request/caller_claims.h"

START_TEST(caller_claims_read_of_an_unprintable_name_is_absent)
{
    static const struct {
        const char *json;
        bool good;
        const char *name; /* NULL: not stated */
    } cases[] = {
        {"{}", true, NULL},
        {"{\"a\":\"x\"}", true, "x"},
        {"{\"a\":\"caf\\u00e9 \\u4e16\"}", true, "caf\xc3\xa9 \xe4\xb8\x96"},
        {"{\"a\":\"\"}", false, NULL},
        {"{\"a\":null}", false, NULL},
        {"{\"a\":7}", false, NULL},
        {"{\"a\":[\"x\"]}", false, NULL},
        {"{\"a\":\"x\\ny\"}", false, NULL},
        {"{\"a\":\"\\u007f\"}", false, NULL},
        {"{\"a\":\"run\\u202e1\"}", false, NULL},       /* turns what follows around */
        {"{\"a\":\"run\\u200b1\"}", false, NULL},       /* looks like run1 */
        {"{\"a\":\"run\\u00a01\"}", false, NULL},       /* looks like a space */
        {"{\"a\":\"run\\udb40\\udc31\"}", false, NULL}, /* a tag */
        {"{\"a\":\"a\\u0085b\"}", false, NULL},
        {"{\"A\":\"x\"}", true, NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        struct writ_view got = WRIT_LIT("before");
        const char *expected = cases[i].name != NULL ? cases[i].name : "before";

        ck_assert_msg(writ_caller_claims_name(writ_value_of(arena, writ_view_str(cases[i].json)),
                          WRIT_LIT("a"), &got) == cases[i].good,
            "%s", cases[i].json);
        ck_assert_msg(writ_view_is(got, expected), "%s", cases[i].json);
    }
}
END_TEST

START_TEST(caller_claims_read_of_an_overlong_name_is_absent)
{
    for (size_t over = 0; over < 2; over++) {
        writ_auto_arena arena = writ_value_arena();
        writ_auto_buf text = writ_buf_make(1024);
        struct writ_view got = {NULL, 0};

        writ_buf_str(&text, "{\"a\":\"");
        for (size_t i = 0; i < WRIT_CALLER_CLAIMS_MAX_BYTES + over; i++) {
            writ_buf_byte(&text, 'x');
        }
        writ_buf_str(&text, "\"}");
        ck_assert(writ_caller_claims_name(writ_value_of(arena, writ_buf_view(&text)), WRIT_LIT("a"),
                      &got) == (over == 0));
        ck_assert_uint_eq(got.len, over == 0 ? WRIT_CALLER_CLAIMS_MAX_BYTES : 0);
    }
}
END_TEST

START_TEST(reserved_boundary_names_are_recognized)
{
    ck_assert(writ_caller_claims_is_reserved(WRIT_LIT("session:1")));
    ck_assert(writ_caller_claims_is_reserved(WRIT_LIT("agent:dev:2026")));
    ck_assert(writ_caller_claims_is_reserved(WRIT_LIT("writ:refused:2026-11-22")));
    ck_assert(!writ_caller_claims_is_reserved(WRIT_LIT("sessions")));
    ck_assert(!writ_caller_claims_is_reserved(WRIT_LIT("run-1")));
    ck_assert(!writ_caller_claims_is_reserved(writ_view(NULL, 0)));
}
END_TEST

WRIT_UNIT_MAIN("caller_claims", caller_claims_read_of_an_unprintable_name_is_absent,
    caller_claims_read_of_an_overlong_name_is_absent, reserved_boundary_names_are_recognized)
