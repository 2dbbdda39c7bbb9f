/* environment.h - the environment that the programs of a crew inherit: all of ours. */
#ifndef WRIT_CLI_ENVIRONMENT_H
#define WRIT_CLI_ENVIRONMENT_H

#include "base/result.h"

#define WRIT_ENVIRONMENT_MAX 250 /* variables that a worker or a hook inherits */

/** Lists our variables, NULL after the last; an entry without a name is left out. Borrowed from the
 * environment. WRIT_E_LIMIT. */
WRIT_RESULT writ_environment_inherit(
    const char *ret[WRIT_ENVIRONMENT_MAX + 1], struct writ_err *err);

#endif
