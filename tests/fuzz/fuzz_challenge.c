/* The scope of a challenge. For every text: a scope that is found lies in the field, is printable
 * ASCII without quotes, and is found again when the field has it alone. */
#include "support/fuzz.h"

#include "gateway/http/challenge.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_view field = writ_view((const char *)data, size), scope, again;
    writ_auto_buf text = writ_buf_make(size + 64);

    if (!writ_challenge_scope(field, &scope)) {
        return 0;
    }
    WRIT_INVARIANT(scope.ptr >= field.ptr && scope.ptr + scope.len <= field.ptr + field.len);
    for (size_t i = 0; i < scope.len; i++) {
        WRIT_INVARIANT(scope.ptr[i] >= 0x20 && scope.ptr[i] < 0x7f && scope.ptr[i] != '"');
    }
    writ_buf_str(&text, "Bearer scope=\"");
    writ_buf_put(&text, scope);
    writ_buf_byte(&text, '"');
    WRIT_INVARIANT(writ_challenge_scope(writ_buf_view(&text), &again));
    WRIT_INVARIANT(writ_view_equal(again, scope));
    return 0;
}
