/* For every text: it is unpacked or refused, never longer than allowed, and an unpacked text packs
 * and unpacks to itself. */
#include "support/fuzz.h"

#include "evidence/credential/deflate.h"

#define LONGEST 65536

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    writ_auto_buf got = writ_buf_make(LONGEST), packed = writ_buf_make(2 * LONGEST);
    writ_auto_buf again = writ_buf_make(LONGEST);
    writ_result result = writ_deflate_read(writ_view(data, size), &got, NULL);

    WRIT_INVARIANT(got.len <= LONGEST);
    if (writ_is_ok(result)) {
        WRIT_INVARIANT(writ_is_ok(writ_deflate_put(&packed, writ_buf_view(&got), NULL)));
        WRIT_INVARIANT(writ_is_ok(writ_deflate_read(writ_buf_view(&packed), &again, NULL)));
        WRIT_INVARIANT(writ_view_equal(writ_buf_view(&got), writ_buf_view(&again)));
    } else {
        WRIT_INVARIANT(result.code == WRIT_E_PARSE || result.code == WRIT_E_LIMIT);
    }
    return 0;
}
