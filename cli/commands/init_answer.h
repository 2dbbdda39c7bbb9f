/* init_answer.h - the answer of writ init, as text or as JSON. */
#ifndef WRIT_CLI_INIT_ANSWER_H
#define WRIT_CLI_INIT_ANSWER_H

#include "cli/commands/init_parts.h"

/** Writes it to standard output. WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_init_answer_put(const struct writ_init *init, struct writ_err *err);

#endif
