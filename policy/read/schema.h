/* schema.h - the permitted contents of the configuration file for programs: a JSON Schema, made
 * from option.tbl.h and op.tbl.h. manual.h is the same for people. */
#ifndef WRIT_POLICY_SCHEMA_H
#define WRIT_POLICY_SCHEMA_H

#include "base/bytes.h"

/** Appends the JSON Schema (2020-12) of the configuration file, indented, with a newline at its
 * end: config/writ.schema.json. WRIT_E_LIMIT, WRIT_E_NOMEM of the buffer. */
WRIT_RESULT writ_schema_put(struct writ_buf *ret, struct writ_err *err);

#endif
