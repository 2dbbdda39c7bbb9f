/* split_head.h - heads of requests in the memory of a reader that ends tokens in place, as
 * libmicrohttpd does. */
#ifndef WRIT_TESTS_SPLIT_HEAD_H
#define WRIT_TESTS_SPLIT_HEAD_H

#include "gateway/http/framing.h"

#define SPLIT_HEAD_FIELDS 120

struct split_head {
    char bytes[4096];
    size_t len;
    struct writ_header headers[SPLIT_HEAD_FIELDS];
    struct writ_framing_head head;
};

/** Splits `text`; a '|' in it becomes a NUL that the client sent. */
void split_head(struct split_head *ret, const char *text);

#endif
