#include "support/unit.h"

#include "base/bytes.h"

START_TEST(a_buffer_takes_its_maximum_and_not_one_byte_more)
{
    writ_auto_buf buf = writ_buf_make(3);

    writ_buf_str(&buf, "abc");
    ck_assert_ok(writ_buf_check(&buf, NULL));
    writ_buf_byte(&buf, 'd');
    ck_assert_code(writ_buf_check(&buf, NULL), WRIT_E_LIMIT);
    ck_assert_view(writ_buf_view(&buf), "abc");
}
END_TEST

WRIT_UNIT_MAIN("bytes", a_buffer_takes_its_maximum_and_not_one_byte_more)
