/* op.h - the ops of constraints, from op.tbl.h. */
#ifndef WRIT_POLICY_OP_H
#define WRIT_POLICY_OP_H

#include "base/bytes.h"

enum writ_op {
    WRIT_OP_NONE = 0, /* no constraint: never holds */
#define OP(name, word, kind, sentence) WRIT_OP_##name,
#include "policy/model/op.tbl.h"
#undef OP
    WRIT_OP_COUNT,
};

/** The kind of `value` that an op takes. */
enum writ_op_value {
    WRIT_OP_VALUE_NOTHING = 0,
    WRIT_OP_VALUE_JSON,
    WRIT_OP_VALUE_JSONS,
    WRIT_OP_VALUE_NUMBER,
    WRIT_OP_VALUE_TYPES,
    WRIT_OP_VALUE_LENGTH,
    WRIT_OP_VALUE_STRING,
    WRIT_OP_VALUE_PATTERN,
    WRIT_OP_VALUE_GLOBS,
    WRIT_OP_VALUE_DIRECTORIES,
    WRIT_OP_VALUE_HOSTS,
    WRIT_OP_VALUE_SCHEMA,
    WRIT_OP_VALUE_SOURCES,
    WRIT_OP_VALUE_DETECTORS,
    WRIT_OP_VALUE_CONSTRAINTS,
};

/** One row of op.tbl.h. Static storage. */
struct writ_op_row {
    const char *word;
    enum writ_op_value value;
    const char *sentence;
};

/** The row of an op; for WRIT_OP_NONE a row without word. */
const struct writ_op_row *writ_op_row(enum writ_op op);

#endif
