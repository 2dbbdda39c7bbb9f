/* The digest in the signed vote says which log is its own; the session of the log is computed again
 * from its inputs, and its output is read as the gateway reads it. */
#include "cli/commands/review_crew.h"

#include "evidence/record/extension.h"
#include "gateway/crews/rerun.h"
#include "gateway/reviewers/crew_verdict.h"

/** The output of a session, as its events come. */
struct output {
    struct writ_event_reader reader;
    struct writ_buf text;
    bool resolved;
};

static void
output_wipe(struct output *output)
{
    writ_event_reader_wipe(&output->reader);
    writ_buf_wipe(&output->text);
}

/* Of several crews that complete the last one is the whole. */
static writ_result
take_events(
    void *user, const struct writ_json *input, struct writ_crew_events events, struct writ_err *err)
{
    struct output *output = user;

    (void)input;
    for (size_t at = 0; at < events.n; at++) {
        const struct writ_json *event = NULL;

        WRIT_TRY(writ_event_read(&output->reader, events.list[at], &event, err));
        if (writ_event_is(event, "crew.completed")) {
            writ_buf_clear(&output->text);
            output->resolved = writ_event_json(event, "finalOutput", &output->text).ptr != NULL;
        }
    }
    return writ_buf_check(&output->text, err);
}

/* Computes the session again. False: the log is not its own, or the crew did not complete. */
static WRIT_RESULT
replay(struct writ_view log, struct output *output, bool *ret_whole, struct writ_err *err)
{
    WRIT_AUTO(struct writ_rerun, writ_rerun_wipe) rerun = {.taken = take_events, .user = output};

    WRIT_TRY(writ_rerun_text(&rerun, log, err));
    writ_rerun_finish(&rerun);
    *ret_whole = !rerun.differs && output->resolved &&
                 writ_recording_status(rerun.recording) == WRIT_CREW_COMPLETED;
    return WRIT_DONE;
}

static bool
same_text(const struct writ_member_text *recorded, struct writ_view again)
{
    return recorded->is == WRIT_PRESENT
               ? again.ptr != NULL && writ_view_equal(recorded->view, again)
               : again.ptr == NULL;
}

static bool
same_ranking(const struct writ_member_list *recorded, const struct writ_review_ranking *again)
{
    bool same = (recorded->is == WRIT_PRESENT ? recorded->count : 0) == again->n;

    for (size_t i = 0; same && i < again->n; i++) {
        same = writ_view_equal(recorded->items[i], writ_review_vote_name(again->list[i]));
    }
    return same;
}

static bool
is_vote(const struct writ_review_record *vote, struct writ_view output, struct writ_arena *arena)
{
    struct writ_entry_review again = {.event = WRIT_REVIEW_DO_VOTE};

    return writ_is_ok(writ_crew_verdict_read(output, writ_member_view(&vote->review_digest),
               writ_member_view(&vote->by), arena, &again, NULL)) &&
           same_text(&vote->vote, writ_review_vote_name(again.vote)) &&
           same_ranking(&vote->ranking, &again.ranking) &&
           same_text(&vote->feedback, again.feedback) &&
           same_text(&vote->confidence, again.confidence);
}

WRIT_RESULT
writ_review_crew_take(struct writ_review_crew *crew, const struct writ_review_record *vote,
    struct writ_arena *arena, struct writ_err *err)
{
    WRIT_AUTO(struct output, output_wipe)
    output = {.text = writ_buf_make(WRIT_RERUN_LOG_MAX)};
    struct writ_extension extension = {0};
    struct writ_digest digest;
    char text[WRIT_DIGEST_TEXT];
    bool whole = false;

    WRIT_TRY(writ_extension_read(&vote->extensions, arena, &extension, err));
    if (vote->vote.is != WRIT_PRESENT || extension.crew_log.is != WRIT_PRESENT) {
        return WRIT_DONE;
    }
    crew->votes++;
    WRIT_TRY(writ_digest_bytes(crew->log, &digest, err));
    writ_digest_text(&digest, text);
    if (crew->log.ptr == NULL || !writ_view_is(extension.crew_log.view, text)) {
        return WRIT_DONE;
    }
    crew->replayed++;
    WRIT_TRY(replay(crew->log, &output, &whole, err));
    crew->differs |= !whole || !is_vote(vote, writ_buf_view(&output.text), arena);
    return WRIT_DONE;
}
