/* apart.h - the lines of a configuration file that have rules and nothing else, for readers who may
 * see the rules but not, for example, the environment of a server. Pure. */
#ifndef WRIT_POLICY_APART_H
#define WRIT_POLICY_APART_H

#include "base/bytes.h"

/** Of each line of the text, whether it has parts of `tools` or `agreed` and of nothing else: no
 * line of a file that is written in one line. In the arena; NULL without memory. */
bool *writ_apart_lines(struct writ_view text, struct writ_arena *arena);

#endif
