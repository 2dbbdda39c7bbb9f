/* engine_folder.h - the voting engines of a folder's plug-ins, for the crew library, where each
 * count is a process of its own (engine_process.h).
 *
 * A plug-in is read once and kept: a file that changes later changes no engine. */
#ifndef WRIT_GATEWAY_ENGINE_FOLDER_H
#define WRIT_GATEWAY_ENGINE_FOLDER_H

#include "gateway/engines/engine_message.h"

struct writ_engine_folder;

/** Reports a plug-in that was skipped or replaced: one line, borrowed for the call. */
struct writ_engine_folder_warn {
    void (*tell)(void *user, const char *text);
    void *user;
};

/**
 * Reads every *.so of a folder, in the order of their names, asks each for its name, and adds its
 * engine. One that is broken, of another ABI, or that others can change is skipped, and a warning
 * names it. It replaces an engine of the same name, with a warning.
 *
 * An engine whose process fails refuses the ballots, and says why in its explanation.
 *
 * @param seconds  of each count; 1 to WRIT_ENGINE_SECONDS_MAX
 * @param engines  gets the engines; do not use them after the folder is freed
 * @param ret      written only on success; free with writ_engine_folder_free
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT, WRIT_E_INVALID  no such folder, or others can change it
 *         WRIT_E_IO, WRIT_E_NOMEM
 */
WRIT_RESULT writ_engine_folder_load(const char *path, unsigned seconds,
    struct writ_crew_engines *engines, struct writ_engine_folder_warn warn,
    struct writ_engine_folder **ret, struct writ_err *err);

/** NULL is permitted. */
void writ_engine_folder_free(struct writ_engine_folder *folder);

#endif
