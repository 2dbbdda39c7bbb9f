/* Time stamps (RFC 3161) over checkpoints. A stamp holds for its own bytes and gives one time,
 * also after its certificate has expired; a changed byte never gives another time. */
#include "support/unit.h"

#include "base/clock.h"
#include "evidence/log/timestamp.h"
#include "support/evidence/stamp.h"

#define OTHER_TIME 7

/* The response as it came. */
static void
put_response(struct writ_buf *buf)
{
    ck_assert_ok(writ_base64_read(WRIT_LIT(WRIT_STAMP_RESPONSE), buf));
}

static enum writ_reason
verify(struct writ_view data, struct writ_view response, struct writ_timestamp *ret)
{
    enum writ_reason why = WRIT_REASON_NONE;

    ck_assert_ok(writ_timestamp_verify(data, response, WRIT_LIT(WRIT_STAMP_CA), ret, &why, NULL));
    return why;
}

START_TEST(timestamp_verify_after_the_certificate_expired_succeeds)
{
    writ_auto_buf response = writ_buf_make(WRIT_TIMESTAMP_BYTES_MAX);
    struct writ_timestamp stamp = {0};
    char time[WRIT_TIME_TEXT];

    put_response(&response);
    ck_assert_int_eq(verify(WRIT_LIT(WRIT_STAMP_CHECKPOINT), writ_buf_view(&response), &stamp),
        WRIT_REASON_EVIDENCE_OK);
    writ_time_format(stamp.time_us, time);
    ck_assert_str_eq(time, WRIT_STAMP_TIME);
}
END_TEST

/* Unsigned parts, such as the status, may change; the reported time never does. */
START_TEST(timestamp_verify_of_a_changed_byte_gives_no_other_time)
{
    writ_auto_buf response = writ_buf_make(WRIT_TIMESTAMP_BYTES_MAX);
    struct writ_timestamp good = {0};

    put_response(&response);
    ck_assert_int_eq(verify(WRIT_LIT(WRIT_STAMP_CHECKPOINT), writ_buf_view(&response), &good),
        WRIT_REASON_EVIDENCE_OK);
    for (size_t i = 0; i < response.len; i++) {
        struct writ_timestamp stamp = {.time_us = OTHER_TIME};
        enum writ_reason why;

        response.ptr[i] ^= (char)(1 << i % 8);
        why = verify(WRIT_LIT(WRIT_STAMP_CHECKPOINT), writ_buf_view(&response), &stamp);
        response.ptr[i] ^= (char)(1 << i % 8);
        ck_assert_int_eq(stamp.time_us, why == WRIT_REASON_EVIDENCE_OK ? good.time_us : OTHER_TIME);
    }
}
END_TEST

START_TEST(timestamp_read_of_a_cut_response_is_refused)
{
    writ_auto_buf response = writ_buf_make(WRIT_TIMESTAMP_BYTES_MAX);
    struct writ_timestamp stamp = {0};

    put_response(&response);
    for (size_t length = 0; length < response.len; length++) {
        ck_assert_int_eq(verify(WRIT_LIT(WRIT_STAMP_CHECKPOINT),
                             writ_view_sub(writ_buf_view(&response), 0, length), &stamp),
            WRIT_REASON_EVIDENCE_MALFORMED);
    }
}
END_TEST

START_TEST(timestamp_verify_over_other_bytes_fails)
{
    writ_auto_buf response = writ_buf_make(WRIT_TIMESTAMP_BYTES_MAX);
    struct writ_timestamp stamp = {0};

    put_response(&response);
    ck_assert_int_eq(verify(WRIT_LIT(WRIT_STAMP_CHECKPOINT "\n"), writ_buf_view(&response), &stamp),
        WRIT_REASON_TIMESTAMP_MISMATCH);
    ck_assert_int_eq(
        verify(WRIT_LIT(""), writ_buf_view(&response), &stamp), WRIT_REASON_TIMESTAMP_MISMATCH);
}
END_TEST

START_TEST(authorities_are_read_up_to_their_limit)
{
    writ_auto_buf pem = writ_buf_make(2 * WRIT_TIMESTAMP_CA_MAX);
    enum writ_reason why = WRIT_REASON_NONE;
    struct writ_timestamp stamp = {0};

    writ_buf_str(&pem, WRIT_STAMP_CA);
    while (pem.len < WRIT_TIMESTAMP_CA_MAX) {
        writ_buf_byte(&pem, '\n');
    }
    ck_assert_ok(writ_timestamp_verify(
        WRIT_LIT("x"), WRIT_LIT("x"), writ_buf_view(&pem), &stamp, &why, NULL));
    ck_assert_int_eq(why, WRIT_REASON_EVIDENCE_MALFORMED);
    why = WRIT_REASON_NONE;
    writ_buf_byte(&pem, '\n');
    ck_assert_int_eq(
        writ_timestamp_verify(WRIT_LIT("x"), WRIT_LIT("x"), writ_buf_view(&pem), &stamp, &why, NULL)
            .code,
        WRIT_E_LIMIT);
    ck_assert_int_eq(
        writ_timestamp_verify(WRIT_LIT("x"), WRIT_LIT("x"), WRIT_LIT(""), &stamp, &why, NULL).code,
        WRIT_E_PARSE);
    ck_assert_int_eq(why, WRIT_REASON_NONE);
}
END_TEST

START_TEST(timestamp_query_of_the_same_bytes_is_the_same)
{
    writ_auto_buf one = writ_buf_make(1024), two = writ_buf_make(1024), small = writ_buf_make(8);

    ck_assert_ok(writ_timestamp_query(WRIT_LIT("x"), &one, NULL));
    ck_assert_ok(writ_timestamp_query(WRIT_LIT("x"), &two, NULL));
    ck_assert(writ_view_equal(writ_buf_view(&one), writ_buf_view(&two)));
    ck_assert_int_eq(writ_timestamp_query(WRIT_LIT("x"), &small, NULL).code, WRIT_E_LIMIT);
}
END_TEST

WRIT_UNIT_MAIN("timestamp", timestamp_verify_after_the_certificate_expired_succeeds,
    timestamp_verify_of_a_changed_byte_gives_no_other_time,
    timestamp_read_of_a_cut_response_is_refused, timestamp_verify_over_other_bytes_fails,
    authorities_are_read_up_to_their_limit, timestamp_query_of_the_same_bytes_is_the_same)
