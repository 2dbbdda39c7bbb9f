/* The example of the specification of Standard Webhooks, and secrets that are refused. */
#include "support/unit.h"

#include "gateway/http/webhook_signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *
secret_file(const char *text)
{
    static char name[] = "/tmp/writ-signature-XXXXXX";
    static bool made;
    FILE *file;

    if (!made) {
        int fd = mkstemp(name);
        ck_assert_int_ge(fd, 0);
        (void)close(fd);
        made = true;
    }
    file = fopen(name, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
    return name;
}

START_TEST(signature_is_that_of_the_specification)
{
    struct writ_buf secret = {0};
    writ_auto_buf signature = writ_buf_make(WRIT_WEBHOOK_SIGNATURE_BYTES);

    ck_assert_ok(writ_webhook_signature_read(
        secret_file("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"), &secret, NULL));
    ck_assert_ok(writ_webhook_signature_put(&secret, WRIT_LIT("msg_p5jXN8AQM9LWM0D4loKWxJek"),
        WRIT_LIT("1614265330"), WRIT_LIT("{\"test\": 2432232314}"), &signature));
    ck_assert(
        writ_view_is(writ_buf_view(&signature), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="));
    writ_buf_wipe_secret(&secret);
}
END_TEST

START_TEST(secret_of_another_form_is_refused)
{
    static const char *const bad[] = {"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_", "whsec_AAAA",
        "whsec_not base64 at all not base64 at all"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct writ_buf secret = {0};
        struct writ_err err = {{0}, 0, 0};
        ck_assert_code(
            writ_webhook_signature_read(secret_file(bad[i]), &secret, &err), WRIT_E_INVALID);
        ck_assert(writ_view_search(writ_view_str(err.text), writ_view_str(bad[i])) ==
                      writ_view_str(err.text).len ||
                  bad[i][6] == '\0');
        writ_buf_wipe_secret(&secret);
    }
    (void)unlink(secret_file(""));
}
END_TEST

WRIT_UNIT_MAIN(
    "webhook_signature", signature_is_that_of_the_specification, secret_of_another_form_is_refused)
