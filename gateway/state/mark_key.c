/* mark_key.c - see mark_key.h. */
#include "gateway/state/mark_key.h"

#include "store/trusted/trusted.h"

#include <openssl/err.h>
#include <openssl/rand.h>

#define TEXT_MAX (2 * WRIT_MARK_KEY_BYTES + 1)

static WRIT_RESULT
make(int dir, struct writ_buf *ret, struct writ_err *err)
{
    uint8_t bytes[WRIT_MARK_KEY_BYTES];

    if (RAND_priv_bytes(bytes, sizeof bytes) != 1) {
        ERR_clear_error();
        WRIT_FAIL(err, WRIT_E_CRYPTO, "no random bytes for a mark key");
    }
    writ_buf_clear(ret);
    writ_hex_put(ret, bytes, sizeof bytes);
    writ_buf_byte(ret, '\n');
    writ_wipe(bytes, sizeof bytes);
    WRIT_TRY(writ_buf_check(ret, err));
    WRIT_TRY(
        writ_trusted_write(dir, WRIT_MARK_KEY_FILE, WRIT_TRUSTED_OURS, writ_buf_view(ret), err));
    return writ_trusted_sync(dir, err);
}

static WRIT_RESULT
read_key(struct writ_view text, struct writ_mark_key **ret, struct writ_err *err)
{
    uint8_t bytes[WRIT_MARK_KEY_BYTES];
    writ_result r;

    if (text.len != TEXT_MAX || text.ptr[text.len - 1] != '\n' ||
        !writ_is_ok(writ_hex_read(writ_view_sub(text, 0, text.len - 1), bytes, sizeof bytes))) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            WRIT_MARK_KEY_FILE
            " is not %d hexadecimal digits and a line feed: restore it; without it "
            "no earlier value of a run is found",
            2 * WRIT_MARK_KEY_BYTES);
    }
    r = writ_mark_key_of(writ_view(bytes, sizeof bytes), ret, err);
    writ_wipe(bytes, sizeof bytes);
    return r;
}

WRIT_RESULT
writ_mark_key_open(const char *keys, struct writ_mark_key **ret, struct writ_err *err)
{
    WRIT_AUTO(int, writ_trusted_close) dir = -1;
    char room[TEXT_MAX + 1];
    WRIT_AUTO(struct writ_buf, writ_buf_wipe_secret) text = writ_buf_over(room, sizeof room);
    writ_result r;

    WRIT_TRY(writ_trusted_dir(keys, &dir, err));
    r = writ_trusted_read(dir, WRIT_MARK_KEY_FILE, WRIT_TRUSTED_PRIVATE, &text, err);
    if (r.code == WRIT_E_ABSENT) {
        r = make(dir, &text, err);
    }
    WRIT_TRY(writ_fail_in(err, r, keys));
    return writ_fail_in(err, read_key(writ_buf_view(&text), ret, err), keys);
}
