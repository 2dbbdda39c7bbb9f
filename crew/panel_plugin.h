/* panel_plugin.h - the engine of one review that a plug-in counts. It asks the plug-in once, and
 * gives the answer to the session of the review too. */
#ifndef WRIT_CREW_PANEL_PLUGIN_H
#define WRIT_CREW_PANEL_PLUGIN_H

#include "crew/tally.h"

/** A plug-in that counts the rankings of a review. */
struct writ_panel_plugin {
    /**
     * Names the winner to the tally, as an engine of the crew library does.
     *
     * @param ret_refused  whether it refuses to count these ballots
     * @return WRIT_OK; WRIT_E_NOMEM; WRIT_E_BUSY: it cannot be asked now; any other failure is a
     * fault of the plug-in, and the error completes "the plug-in: "
     */
    writ_result (*count)(void *ctx, const struct writ_crew_poll *poll,
        struct writ_crew_tally *tally, bool *ret_refused, struct writ_err *err);
    void *ctx;
};

/** The engine's name within the session, which is not in its events. */
#define WRIT_PANEL_PLUGIN_NAME "plugin"

/** An engine. */
struct writ_panel_plugin_engine {
    struct writ_crew_engine engine;         /* the first member: a tally finds it there */
    const struct writ_panel_plugin *plugin; /* NULL: it cannot be asked */
    bool wanted;                            /* there are ballots to count */
    bool over;                              /* it was asked, or must not be */
    writ_result result;                     /* of asking it */
    struct writ_err why;                    /* when it failed */
    bool elects;
    size_t winner; /* a candidate */
};

/** An engine that has not asked yet. */
struct writ_panel_plugin_engine writ_panel_plugin_make(const struct writ_panel_plugin *plugin);

#endif
