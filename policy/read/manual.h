/* manual.h - the permitted contents of the configuration file as a page for people, made from
 * option.tbl.h and op.tbl.h. schema.h is the same for programs. */
#ifndef WRIT_POLICY_MANUAL_H
#define WRIT_POLICY_MANUAL_H

#include "base/bytes.h"

/** Appends the list of all options and ops, as Markdown: docs/configuration.md. WRIT_E_LIMIT,
 * WRIT_E_NOMEM of the buffer. */
WRIT_RESULT writ_manual_put(struct writ_buf *ret, struct writ_err *err);

#endif
