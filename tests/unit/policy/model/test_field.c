/* The owners of HTTP fields: rows, prefixes, and every other name. */
#include "policy/model/field.h"
#include "support/unit.h"

START_TEST(owner_of_a_row_in_any_case_is_that_of_the_row)
{
    ck_assert_int_eq(writ_field_owner(WRIT_LIT("host")), WRIT_FIELD_HOP);
    ck_assert_int_eq(writ_field_owner(WRIT_LIT("Content-Length")), WRIT_FIELD_HOP);
    ck_assert_int_eq(writ_field_owner(WRIT_LIT("ACCEPT-ENCODING")), WRIT_FIELD_MESSAGE);
    ck_assert_int_eq(writ_field_owner(WRIT_LIT("TraceParent")), WRIT_FIELD_TRACE);
}
END_TEST

START_TEST(owner_of_a_prefix_covers_every_name_that_begins_so)
{
    ck_assert_int_eq(writ_field_owner(WRIT_LIT("Proxy-Authorization")), WRIT_FIELD_HOP);
    ck_assert_int_eq(writ_field_owner(WRIT_LIT("Mcp-Session-Id")), WRIT_FIELD_MESSAGE);
    ck_assert_int_eq(writ_field_owner(WRIT_LIT("mcp-")), WRIT_FIELD_MESSAGE);
    ck_assert_int_eq(writ_field_owner(WRIT_LIT("mcp")), WRIT_FIELD_FREE);
}
END_TEST

START_TEST(owner_of_another_name_is_free)
{
    ck_assert_int_eq(writ_field_owner(WRIT_LIT("Writ-Credential")), WRIT_FIELD_FREE);
    ck_assert_int_eq(writ_field_owner(WRIT_LIT("authorization")), WRIT_FIELD_FREE);
    ck_assert_int_eq(writ_field_owner(WRIT_LIT("hosts")), WRIT_FIELD_FREE);
    ck_assert_int_eq(writ_field_owner(WRIT_LIT("")), WRIT_FIELD_FREE);
}
END_TEST

WRIT_UNIT_MAIN("field", owner_of_a_row_in_any_case_is_that_of_the_row,
    owner_of_a_prefix_covers_every_name_that_begins_so, owner_of_another_name_is_free)
