/* placeholder.h: values that a proposed configuration leaves to its reader. Each is one fault with
 * its place, and a text that only contains the prefix is a value. */
#include "policy/read/placeholder.h"
#include "support/policy/ruling.h"
#include "support/unit.h"

START_TEST(load_each_placeholder_is_one_fault_with_its_place)
{
    writ_auto_buf faults =
        writ_ruling_faults(WRIT_LIT("tools:\n"
                                    "  fs/read:\n"
                                    "    scope: REPLACE_WITH_A_SCOPE\n"
                                    "    arguments:\n"
                                    "    - {arg: path, op: under, value: REPLACE_WITH_A_FOLDER}\n"
                                    "    - {arg: n, op: le, value: 'REPLACE_WITH_A_NUMBER'}\n"
                                    "    - arg: mode\n"
                                    "      op: in\n"
                                    "      value:\n"
                                    "      - fast\n"
                                    "      - REPLACE_WITH_A_MODE\n"
                                    "reviews:\n"
                                    "  all: {voters: [REPLACE_WITH_A_VOTER], threshold: '1'}\n"));

    ck_assert_str_eq(faults.ptr,
        "c.yaml:1: warning: no agents: every caller is refused\n"
        "c.yaml:1: warning: no upstreams: no tool can be called\n"
        "c.yaml:3: /tools/fs~1read/scope: is still the placeholder REPLACE_WITH_A_SCOPE. Write "
        "your own value in its place\n"
        "c.yaml:5: /tools/fs~1read/arguments/0/value: is still the placeholder "
        "REPLACE_WITH_A_FOLDER. Write your own value in its place\n"
        "c.yaml:6: /tools/fs~1read/arguments/1/value: is still the placeholder "
        "REPLACE_WITH_A_NUMBER. Write your own value in its place\n"
        "c.yaml:11: /tools/fs~1read/arguments/2/value/1: is still the placeholder "
        "REPLACE_WITH_A_MODE. Write your own value in its place\n"
        "c.yaml:13: /reviews/all/voters/0: is still the placeholder REPLACE_WITH_A_VOTER. Write "
        "your own value in its place\n");
}
END_TEST

START_TEST(load_text_that_only_contains_the_prefix_is_a_value)
{
    struct writ_config *config = writ_ruling_config(
        "tools:\n"
        "  fs/read:\n"
        "    scope: files\n"
        "    arguments:\n"
        "    - {arg: REPLACE, op: in, value: [REPLACE, replace_all, NO_REPLACE_]}\n"
        "    - {arg: mode, op: matches, value: '(REPLACE_ALL|REPLACE_ONE)', optional: true}\n");

    ck_assert_view(
        writ_ruling_reason(config, "fs/read", "{\"REPLACE\":\"NO_REPLACE_\"}"), "policy_ok");
    ck_assert_view(
        writ_ruling_reason(config, "fs/read", "{\"REPLACE\":\"REPLACE\",\"mode\":\"REPLACE_ALL\"}"),
        "policy_ok");
    writ_config_drop(config);
}
END_TEST

WRIT_UNIT_MAIN("placeholder", load_each_placeholder_is_one_fault_with_its_place,
    load_text_that_only_contains_the_prefix_is_a_value)
