/* Splits the head of a request in place, like libmicrohttpd, so that tests give our checks the same
 * memory. */
#include "support/gateway/split_head.h"

void
split_head(struct split_head *ret, const char *text)
{
    struct writ_view rest = writ_view_str(text);
    char *at = ret->bytes;
    size_t line;

    *ret = (struct split_head){.len = rest.len};
    for (size_t i = 0; i < rest.len; i++) {
        ret->bytes[i] = rest.ptr[i] == '|' ? '\0' : rest.ptr[i];
    }
    line = writ_view_find(writ_view(at, ret->len), '\n');
    for (size_t i = 0; i < line; i++) {
        at[i] = at[i] == ' ' || at[i] == '\r' ? '\0' : at[i];
    }
    at[line] = '\0';
    ret->head.method = writ_view_str(at);
    ret->head.target = writ_view_str(at + ret->head.method.len + 1);
    ret->head.version = writ_view_str(ret->head.target.ptr + ret->head.target.len + 1);
    at += line + 1;
    while (at < ret->bytes + ret->len) {
        struct writ_view left = writ_view(at, (size_t)(ret->bytes + ret->len - at));
        size_t end = writ_view_find(left, '\n');
        size_t colon = writ_view_find(writ_view_sub(left, 0, end), ':');

        at[end] = '\0';
        if (end > 0 && at[end - 1] == '\r') {
            at[end - 1] = '\0';
        }
        if (colon < end) {
            char *value = at + colon + 1;
            at[colon] = '\0';
            while (*value == ' ' || *value == '\t') {
                value++;
            }
            ret->headers[ret->head.count++] =
                (struct writ_header){writ_view_str(at), writ_view_str(value)};
        }
        at += end + 1;
    }
    ret->head.headers = ret->headers;
}
