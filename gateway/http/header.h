/* header.h - the types of HTTP fields and methods between the parts of the gateway, and media
 * types. */
#ifndef WRIT_GATEWAY_HEADER_H
#define WRIT_GATEWAY_HEADER_H

#include "base/bytes.h"

/** The methods that reach a handler; every other is refused by the listener. */
enum writ_method {
    WRIT_METHOD_NONE = 0,
    WRIT_METHOD_GET,
    WRIT_METHOD_POST,
    WRIT_METHOD_DELETE,
    WRIT_METHOD_OPTIONS, /* sent by browsers before other requests */
};

/** A field line. Names compare without case (writ_view_equal_nocase), values as bytes; a value
 * has no white space at its ends and neither CR, LF nor NUL in it. */
struct writ_header {
    struct writ_view name, value;
};

/** Content-Type: application/json, as the initializer of a writ_header, also of a static one. */
#define WRIT_HEADER_JSON                                                                           \
    {                                                                                              \
        {"Content-Type", sizeof "Content-Type" - 1},                                               \
        {                                                                                          \
            "application/json", sizeof "application/json" - 1                                      \
        }                                                                                          \
    }

/** Whether the value of a Content-Type names this media type, whatever its parameters. */
static inline bool
writ_header_has_type(struct writ_view content_type, struct writ_view type)
{
    struct writ_view named = writ_view_sub(content_type, 0, writ_view_find(content_type, ';'));

    return writ_view_equal_nocase(writ_view_trim(named), type);
}

#endif
