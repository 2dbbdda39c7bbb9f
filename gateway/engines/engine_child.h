/* engine_child.h - the process in which one voting engine of a plug-in counts once.
 *
 * Before the plug-in is loaded the process has no environment, at most 16 descriptors, no right to
 * make files, processes or threads, limits of time and memory, and, if it was root, another user.
 * Before it reads the poll it has two descriptors, its input and its output, and cannot get
 * another one. */
#ifndef WRIT_GATEWAY_ENGINE_CHILD_H
#define WRIT_GATEWAY_ENGINE_CHILD_H

#include "gateway/engines/engine_message.h"

/** The first argument of such a process; the second is its time in seconds. */
#define WRIT_ENGINE_CHILD_WORD "engine-process"

#define WRIT_ENGINE_CHILD_FILES  16
#define WRIT_ENGINE_CHILD_MEMORY ((size_t)1 << 30)  /* bytes of addresses */
#define WRIT_ENGINE_CHILD_USER   65534              /* instead of root */
#define WRIT_ENGINE_LIBRARY_MAX  ((size_t)64 << 20) /* bytes of a plug-in */

/** Whether these are the arguments of such a process, with its processor time. */
bool writ_engine_child_asked(int argc, char **argv, unsigned *ret_seconds);

/**
 * Reads the length of a shared object (8 bytes, the lowest first), the object, and a request
 * (engine_message.h) from standard input, and writes one answer to standard output. Never returns.
 * Its exit status says nothing.
 */
void writ_engine_child_run(unsigned seconds) __attribute__((noreturn));

#endif
