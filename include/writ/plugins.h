/* plugins.h - voting engines from shared objects in a folder.
 *
 * A plug-in is a file *.so that exports one struct writ_crew_engine under the name
 * WRIT_CREW_ENGINE_SYMBOL (writ/crew.h). It links nothing of Writ: the functions get everything
 * they need as arguments. A user who can write to the folder can run code in the program. So a
 * folder or file is refused when other users than root and the user of the process can change
 * it. */
#ifndef WRIT_PLUGINS_H
#define WRIT_PLUGINS_H

#include "writ/crew.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Plug-ins that were loaded. */
struct writ_plugins;

/** Reports a plug-in that was skipped or replaced: one line, borrowed for the call. */
struct writ_plugins_warn {
    void (*tell)(void *user, const char *text);
    void *user;
};

/**
 * Loads every plug-in of a folder, in the order of their file names, and adds its engine.
 *
 * A plug-in that is broken, of another ABI, or not trusted is skipped, and a warning names it. A
 * plug-in replaces an engine of the same name, with a warning. None of that fails the call.
 *
 * @param folder   borrowed for the call
 * @param engines  gets the engines; do not use them after the plug-ins are freed
 * @param ret      written only on success; free with writ_plugins_free
 *
 * Runs code of the plug-ins: their constructors. Blocks.
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT, WRIT_E_INVALID no such folder, or others can change it
 *         WRIT_E_IO, WRIT_E_NOMEM
 */
WRIT_RESULT writ_plugins_load(const char *folder, struct writ_crew_engines *engines,
    struct writ_plugins_warn warn, struct writ_plugins **ret, struct writ_err *err);

/** Unloads. NULL is permitted. */
void writ_plugins_free(struct writ_plugins *plugins);

#ifdef __cplusplus
}
#endif

#endif
