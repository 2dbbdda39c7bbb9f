/* hooks.h - the hooks of a crew as commands and URLs.
 *
 *   {"NAME": "COMMAND", "OTHER": "https://..."}
 *
 * A name of a shape that is not here is skipped. A hook gets one JSON object, as standard input or
 * as the body of a POST:
 * {"type":"hook","name","stage","crewId","roleId","agentId","input","output", "fault","stalled"},
 * without the members that have no value. It answers with nothing, or with an object
 * {"checkpoints":[ID],"actions":[{"action","from","to"}]}. The crew waits for it, at most
 * WRIT_HOOKS_TIMEOUT_MS. One that fails, is late or answers with something else is reported, and
 * the crew continues: a hook can ask for more, and never permits anything. */
#ifndef WRIT_CLI_HOOKS_H
#define WRIT_CLI_HOOKS_H

#include "gateway/crews/recording.h"

#define WRIT_HOOKS_TIMEOUT_MS 10000
#define WRIT_HOOKS_ANSWER_MAX ((size_t)1 << 20)
#define WRIT_HOOKS_ERRORS_MAX                                                                      \
    ((size_t)1 << 16) /* of its standard error, to that of the program                             \
                       */
#define WRIT_HOOKS_NAMES_MAX 1000

struct writ_hooks;

/** Reads a file of hooks. `ret` is new, free with writ_hooks_free. WRIT_E_ABSENT, WRIT_E_PARSE,
 * WRIT_E_INVALID (a URL that may not be fetched), WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_hooks_read(const char *path, struct writ_hooks **ret, struct writ_err *err);
void writ_hooks_free(struct writ_hooks *hooks);

/** Them, for a recording; borrowed until they are freed. Asking blocks. */
struct writ_recording_hooks writ_hooks_face(struct writ_hooks *hooks);

#endif
