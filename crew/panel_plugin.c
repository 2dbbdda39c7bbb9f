/* A ballot wins with its first choice, and a winner must be one of the candidates. What the plug-in
 * failed at is a failed verdict and not a failed vote of the session: the engine itself never
 * refuses. */
#include "crew/panel_plugin.h"

/* The candidate of this name; candidates_n: none. */
static size_t
candidate_of(const struct writ_crew_poll *poll, struct writ_view name)
{
    size_t at = 0;

    while (at < poll->candidates_n && !writ_view_equal(poll->candidates[at], name)) {
        at++;
    }
    return at;
}

/* No winner at all is a tie; a refusal is not a verdict. */
static WRIT_RESULT
take_winner(struct writ_panel_plugin_engine *asked, const struct writ_crew_poll *poll,
    const struct writ_tally *tally, bool refused)
{
    size_t winner = poll->candidates_n;

    if (refused) {
        struct writ_view why = writ_buf_view(&tally->why);

        why = writ_view_sub(why, 0, writ_view_find(why, '\n'));
        WRIT_FAIL(&asked->why, WRIT_E_INVALID, "it refuses the ballots%s" WRIT_VIEW_FMT,
            why.len > 0 ? ": " : "", WRIT_VIEW_ARG(why));
    }
    if (tally->winner == WRIT_TALLY_NOBODY) {
        return WRIT_DONE;
    }
    if (tally->winner == WRIT_TALLY_CANDIDATE) {
        winner = tally->index;
    } else if (tally->winner == WRIT_TALLY_BALLOT && tally->index < poll->ballots_n) {
        winner = candidate_of(poll, poll->ballots[tally->index].ranking[0]);
    }
    if (winner >= poll->candidates_n) {
        WRIT_FAIL(&asked->why, WRIT_E_INVALID, "it names a winner that there is not");
    }
    asked->elects = true;
    asked->winner = winner;
    return WRIT_DONE;
}

static WRIT_RESULT
ask_plugin(struct writ_panel_plugin_engine *asked, const struct writ_crew_poll *poll)
{
    struct writ_tally tally = writ_tally_make();
    bool refused = true;
    writ_result result =
        asked->plugin->count(asked->plugin->ctx, poll, &tally.face, &refused, &asked->why);

    if (writ_is_ok(result)) {
        result = take_winner(asked, poll, &tally, refused);
    }
    writ_buf_wipe(&tally.why);
    return result;
}

static int
count_by_plugin(const struct writ_crew_poll *poll, struct writ_crew_tally *tally)
{
    struct writ_panel_plugin_engine *asked =
        (struct writ_panel_plugin_engine *)(uintptr_t)writ_tally_engine(tally);

    asked->wanted = true;
    if (!asked->over && asked->plugin != NULL) {
        asked->result = ask_plugin(asked, poll);
        asked->over = true;
    }
    if (asked->elects) {
        tally->candidate(tally, asked->winner);
    }
    return 0;
}

struct writ_panel_plugin_engine
writ_panel_plugin_make(const struct writ_panel_plugin *plugin)
{
    return (struct writ_panel_plugin_engine){
        .engine = {WRIT_CREW_ENGINE_ABI, WRIT_PANEL_PLUGIN_NAME, "", count_by_plugin},
        .plugin = plugin,
        .result = WRIT_DONE};
}
