/* stdio_program.h - whether the program of a stdio upstream is the one that `program_digest` of the
 * present configuration names. Inside of stdio. */
#ifndef WRIT_GATEWAY_STDIO_PROGRAM_H
#define WRIT_GATEWAY_STDIO_PROGRAM_H

#include "gateway/upstream/stdio_owner.h"

/** For the handler of a child (child.h). A refusal is logged, and noted for the operator. */
enum writ_child_may writ_stdio_program_ask(struct writ_instance *instance, int *ret_program);

/** Whether its child was started under another list of digests than the present one: it may be
 * another program. */
bool writ_stdio_program_is_stale(const struct writ_instance *instance);

#endif
