/* indent.h - JSON for people to read. Pure. */
#ifndef WRIT_POLICY_INDENT_H
#define WRIT_POLICY_INDENT_H

#include "base/bytes.h"

/** Appends compact JSON with line breaks, two spaces for each level, and a newline at its end. An
 * object or array with little text stays on one line. */
void writ_indent_put(struct writ_buf *ret, struct writ_view json);

#endif
