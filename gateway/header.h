/* header.h - one HTTP field, as it is passed between the parts of the gateway. */
#ifndef WRIT_GATEWAY_HEADER_H
#define WRIT_GATEWAY_HEADER_H

#include "base/bytes.h"

/** A field line. Names compare without case (writ_view_equal_nocase), values as bytes; a value
 * has no white space at its ends and neither CR, LF nor NUL in it. */
struct writ_header {
    struct writ_view name, value;
};

#endif
