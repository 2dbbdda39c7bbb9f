/* exec_env.h - program, arguments and environment of a configured child, in the form of exec. */
#ifndef WRIT_GATEWAY_EXEC_ENV_H
#define WRIT_GATEWAY_EXEC_ENV_H

#include "policy/model/config.h"

#define WRIT_EXEC_ENV_MAX 513 /* arguments, or variables, with the NULL after them */

/** Own it, wipe it. */
struct writ_exec_env {
    const char *argv[WRIT_EXEC_ENV_MAX]; /* NULL-terminated, borrowed from the configuration */
    const char *environment[WRIT_EXEC_ENV_MAX]; /* NULL-terminated, in `text` */
    struct writ_buf text;
};

/**
 * Makes them. Configured variables come before inherited ones, and so win. Of a name that
 * `environment` has twice the first value counts.
 *
 * @param argv, inherit, environment  of the configuration: at most what option.tbl.h allows
 *
 * WRIT_E_LIMIT, WRIT_E_NOMEM. Wipe it in any case.
 */
WRIT_RESULT writ_exec_env_make(const struct writ_views *argv, const struct writ_views *inherit,
    const struct writ_pairs *environment, struct writ_exec_env *ret, struct writ_err *err);

void writ_exec_env_wipe(struct writ_exec_env *surroundings);

#endif
