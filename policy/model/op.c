/* The rows of op.tbl.h as an array. The index of a row is its enum writ_op. */
#include "policy/model/op.h"

static const struct writ_op_row rows[WRIT_OP_COUNT] = {
#define OP(name, word, kind, sentence) [WRIT_OP_##name] = {word, WRIT_OP_VALUE_##kind, sentence},
#include "policy/model/op.tbl.h"
#undef OP
};

const struct writ_op_row *
writ_op_row(enum writ_op op)
{
    WRIT_INVARIANT(op < WRIT_OP_COUNT);
    return &rows[op];
}
