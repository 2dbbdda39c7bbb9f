/* The n-th allocation fails, of Writ's and of jansson's own: there is an error or the very same
 * value. */
#include "support/unit.h"

#include "base/bytes.h"
#include "writ/jansson.h"

#include <stdlib.h>

#define TEXT "{\"a\":[1,2.5,\"text\",{\"c\":[]}],\"b\":null}"

START_TEST(read_with_a_failed_allocation_gives_no_other_value)
{
    json_auto_t *want = json_loads(TEXT, 0, NULL);
    bool reached = true;

    for (long nth = 1; reached; nth++) {
        json_auto_t *got = NULL;
        writ_fault_arm(nth);
        writ_result result = writ_jansson_read(WRIT_LIT(TEXT), &got, NULL);
        reached = writ_fault_disarm();
        ck_assert_int_eq(result.code, reached ? WRIT_E_NOMEM : WRIT_OK);
        ck_assert(reached ? got == NULL : json_equal(got, want));
    }
}
END_TEST

START_TEST(write_with_a_failed_allocation_gives_no_other_text)
{
    json_auto_t *value = json_loads(TEXT, 0, NULL);
    bool reached = true;

    for (long nth = 1; reached; nth++) {
        char *text = NULL;
        size_t len = 0;
        writ_fault_arm(nth);
        writ_result result = writ_jansson_write(value, &text, &len, NULL);
        reached = writ_fault_disarm();
        ck_assert_int_eq(result.code, reached ? WRIT_E_NOMEM : WRIT_OK);
        ck_assert(reached ? text == NULL : writ_view_is(writ_view(text, len), TEXT));
        free(text);
    }
}
END_TEST

int
main(void)
{
    const TTest *const tests[] = {read_with_a_failed_allocation_gives_no_other_value,
        write_with_a_failed_allocation_gives_no_other_text};

    json_set_alloc_funcs(writ_alloc, writ_free);
    return writ_unit_run("fault_jansson", tests, sizeof tests / sizeof tests[0]);
}
