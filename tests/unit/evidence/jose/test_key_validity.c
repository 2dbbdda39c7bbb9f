/* Times within which a key may sign. A signature outside the window, or after the revocation of
 * its key, is rejected. */
#include "support/evidence/keys.h"
#include "support/unit.h"
#include "support/evidence/value.h"

#include "evidence/jose/key_validity.h"

START_TEST(key_validity_without_members_covers_any_time)
{
    struct writ_key_validity window = {1, 2, 3};

    ck_assert_ok(writ_key_validity_read(writ_values_json("{\"kty\":\"EC\"}"), &window, NULL));
    ck_assert_int_eq(writ_key_validity_judge(&window, 0, 0, 60), WRIT_KEY_VALIDITY_HOLDS);
    ck_assert_int_eq(writ_key_validity_judge(&window, INT64_C(1) << 53, INT64_C(1) << 53, 60),
        WRIT_KEY_VALIDITY_HOLDS);
}
END_TEST

START_TEST(key_validity_includes_both_ends)
{
    const struct writ_key_validity window = {100, 200, INT64_MAX};
    static const struct {
        int64_t signed_s, skew_s;
        enum writ_key_validity_answer answer;
    } rows[] = {{99, 0, WRIT_KEY_VALIDITY_OUTSIDE}, {100, 0, WRIT_KEY_VALIDITY_HOLDS},
        {200, 0, WRIT_KEY_VALIDITY_HOLDS}, {201, 0, WRIT_KEY_VALIDITY_OUTSIDE},
        {99, 1, WRIT_KEY_VALIDITY_HOLDS}, {201, 1, WRIT_KEY_VALIDITY_HOLDS},
        {98, 1, WRIT_KEY_VALIDITY_OUTSIDE}, {202, 1, WRIT_KEY_VALIDITY_OUTSIDE}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_int_eq(writ_key_validity_judge(&window, rows[i].signed_s, 1000, rows[i].skew_s),
            rows[i].answer);
    }
}
END_TEST

START_TEST(revoked_key_is_rejected_after_its_revocation)
{
    const struct writ_key_validity window = {0, INT64_MAX, 150};

    ck_assert_int_eq(writ_key_validity_judge(&window, 100, 149, 60), WRIT_KEY_VALIDITY_HOLDS);
    ck_assert_int_eq(writ_key_validity_judge(&window, 100, 150, 60), WRIT_KEY_VALIDITY_REVOKED);
    ck_assert_int_eq(writ_key_validity_judge(&window, 149, 1000, 60), WRIT_KEY_VALIDITY_REVOKED);
    ck_assert_int_eq(writ_key_validity_judge(&window, 150, 149, 60), WRIT_KEY_VALIDITY_REVOKED);
    ck_assert_int_eq(writ_key_validity_judge(&(struct writ_key_validity){0}, 0, 0, 60),
        WRIT_KEY_VALIDITY_REVOKED);
}
END_TEST

START_TEST(key_validity_read_of_another_form_is_refused)
{
    static const char *const keys[] = {"{\"nbf\":\"1\"}", "{\"nbf\":-1}", "{\"exp\":1.5}",
        "{\"exp\":null}", "{\"exp\":9007199254740992}", "{\"revoked\":true}", "{\"revoked\":{}}",
        "{\"revoked\":{\"revoked_at\":\"now\"}}"};
    struct writ_key_validity window = {1, 2, 3};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        ck_assert_code(
            writ_key_validity_read(writ_values_json(keys[i]), &window, NULL), WRIT_E_INVALID);
        ck_assert_int_eq(window.from_s, 1);
    }
    ck_assert_ok(
        writ_key_validity_read(writ_values_json("{\"exp\":9007199254740991}"), &window, NULL));
}
END_TEST

START_TEST(key_validity_reads_back_as_written)
{
    static const struct writ_key_validity windows[] = {
        {INT64_MIN, INT64_MAX, INT64_MAX}, {1, INT64_MAX, INT64_MAX}, {1, 2, INT64_MAX}, {1, 2, 3}};

    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
        writ_auto_buf text = writ_buf_make(1000);
        struct writ_key_validity again;

        writ_key_validity_put(&text, WRIT_LIT("{\"kty\":\"OKP\"}"), &windows[i]);
        ck_assert_ok(
            writ_key_validity_read(writ_values_json_of(writ_buf_view(&text)), &again, NULL));
        ck_assert_int_eq(again.from_s, windows[i].from_s);
        ck_assert_int_eq(again.until_s, windows[i].until_s);
        ck_assert_int_eq(again.revoked_s, windows[i].revoked_s);
    }
}
END_TEST

WRIT_UNIT_MAIN("key_validity", key_validity_without_members_covers_any_time,
    key_validity_includes_both_ends, revoked_key_is_rejected_after_its_revocation,
    key_validity_read_of_another_form_is_refused, key_validity_reads_back_as_written)
