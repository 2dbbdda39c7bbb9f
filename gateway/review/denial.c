/* denial.c - puts the same facts into every form: for people and models as text, for programs as
 * members beside it. */
#include "gateway/review/denial.h"

#include "gateway/review/continuation.h"
#include "gateway/review/denial_text.h"
#include "gateway/review/review_tell.h"
#include "gateway/review/review_url.h"

#define VOICES_MAX     16384 /* bytes of what voters said, in one refusal */
#define RETRY_AFTER_MS 2000  /* for a caller that has to ask again */

/* What became of the first call of a pair. */
static void
put_prior(struct writ_write *w, const struct writ_prior *prior)
{
    writ_write_text_if(w, "first_decision_id", prior->decision_id);
    writ_write_text_if(w, "first_outcome",
        prior->in_flight ? WRIT_LIT("in_flight") : writ_outcome_kind_name(prior->outcome));
    writ_write_text_if(w, "first_waits_for", writ_request_wait_name(prior->waits));
}

/* What the voters said, as data: untrusted text, which the program that displays it must escape. */
static void
put_voices(struct writ_write *w, const struct writ_ask *ask)
{
    size_t left = VOICES_MAX;

    if (ask->voices_n == 0) {
        return;
    }
    writ_write_name(w, WRIT_LIT("feedback"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < ask->voices_n && ask->voices[i].feedback.len <= left; i++) {
        const struct writ_ask_voice *voice = &ask->voices[i];

        writ_write_object_begin(w);
        writ_write_text_if(w, "voter", voice->voter);
        writ_write_text_if(w, "vote", writ_review_vote_name(voice->vote));
        writ_write_text_if(w, "feedback", voice->feedback);
        writ_write_object_end(w);
        left -= voice->feedback.len;
    }
    writ_write_array_end(w);
}

/* Under which review the call is, in which state, and for how long. */
static void
put_review(struct writ_write *w, const struct writ_request *request, const struct writ_ask *ask)
{
    writ_auto_buf url = writ_buf_make(WRIT_REVIEW_URL_MAX);
    char until[WRIT_TIME_TEXT];

    if (ask->id.ptr == NULL) {
        return;
    }
    writ_write_text_if(w, "continuation_id", ask->id);
    writ_write_text_if(w, "review_state", writ_review_state_name(ask->state));
    put_voices(w, ask);
    if (writ_review_phase(ask->state) == WRIT_REVIEW_LIVE) {
        writ_time_format(ask->until_us, until);
        writ_write_text_if(w, "expires_at", writ_view_str(until));
        writ_review_url_put(&url, request->worker->gateway, writ_request_config(request), ask->id);
        writ_write_text_if(w, "review_url", writ_buf_view(&url));
        writ_write_integer(w, "retry_after_ms", RETRY_AFTER_MS);
    }
}

void
writ_denial_put_members(
    struct writ_write *w, const struct writ_request *request, const struct writ_denial *refusal)
{
    writ_write_text_if(w, "reason", writ_reason_name(refusal->reason));
    if (refusal->theirs != WRIT_REASON_NONE) {
        writ_write_text_if(w, "upstream_reason", writ_reason_name(refusal->theirs));
    }
    writ_write_text_if(w, "decision_id", refusal->decision_id);
    writ_write_text_if(w, "argument", refusal->argument);
    writ_write_text_if(w, "constraint", refusal->constraint);
    writ_write_text_if(w, "accepted", refusal->accepted);
    writ_write_text_if(w, "budget", refusal->budget);
    if (refusal->prior != NULL && refusal->prior->known) {
        put_prior(w, refusal->prior);
    }
    if (refusal->ask != NULL) {
        put_review(w, request, refusal->ask);
    }
    if (refusal->execution_unknown) {
        writ_write_text_if(w, "execution", WRIT_LIT("unknown"));
    }
    writ_write_text_if(
        w, "hint", refusal->hint.len > 0 ? refusal->hint : writ_reason_hint(refusal->reason));
}

/* The same for programs, beside a result that is for people and models. */
static void
put_meta(
    struct writ_write *w, const struct writ_request *request, const struct writ_denial *refusal)
{
    writ_write_name(w, WRIT_LIT("_meta"));
    writ_write_object_begin(w);
    writ_write_name(w, WRIT_LIT("io.writ/refusal"));
    writ_write_object_begin(w);
    writ_denial_put_members(w, request, refusal);
    writ_write_object_end(w);
    writ_write_object_end(w);
}

static void
put_error(struct writ_write *w, const struct writ_request *request,
    const struct writ_denial *refusal, enum writ_review_tell form)
{
    bool elicits = form == WRIT_REVIEW_TELL_ELICITATION;
    writ_auto_buf text = writ_buf_make(WRIT_DENIAL_TEXT_MAX);

    writ_denial_text_put(&text, request, refusal);
    writ_write_name(w, WRIT_LIT("error"));
    writ_write_object_begin(w);
    writ_write_integer(w, "code", elicits ? WRIT_REVIEW_TELL_CODE : WRIT_REFUSAL_CODE);
    writ_write_text_if(w, "message", writ_buf_view(&text));
    writ_write_name(w, WRIT_LIT("data"));
    writ_write_object_begin(w);
    if (elicits) {
        writ_review_tell_put_elicitations(w, request, refusal->ask);
    }
    writ_denial_put_members(w, request, refusal);
    writ_write_object_end(w);
    writ_write_object_end(w);
}

/* It is no refusal to the protocol: the client asks a person, and comes back. */
static void
put_input_required(struct writ_write *w, const struct writ_request *request,
    const struct writ_denial *refusal, struct writ_view state)
{
    writ_write_name(w, WRIT_LIT("result"));
    writ_write_object_begin(w);
    writ_review_tell_put_input(w, request, refusal->ask, state);
    put_meta(w, request, refusal);
    writ_write_object_end(w);
}

/* For hosts that show a model only results: why, as text, and the data beside it. */
static void
put_result(
    struct writ_write *w, const struct writ_request *request, const struct writ_denial *refusal)
{
    writ_auto_buf text = writ_buf_make(WRIT_DENIAL_TEXT_MAX);

    writ_denial_text_put(&text, request, refusal);
    writ_write_name(w, WRIT_LIT("result"));
    writ_write_object_begin(w);
    writ_write_name(w, WRIT_LIT("content"));
    writ_write_array_begin(w);
    writ_write_object_begin(w);
    writ_write_text_if(w, "type", WRIT_LIT("text"));
    writ_write_text_if(w, "text", writ_buf_view(&text));
    writ_write_object_end(w);
    writ_write_array_end(w);
    writ_write_flag(w, "isError", true);
    if (request->message.era == WRIT_MCP_ERA_MODERN) {
        writ_write_text_if(w, "resultType", WRIT_LIT("complete"));
    }
    put_meta(w, request, refusal);
    writ_write_object_end(w);
}

void
writ_denial_put(
    struct writ_buf *buf, const struct writ_request *request, const struct writ_denial *refusal)
{
    const struct writ_call *call = request->call;
    enum writ_review_tell form = writ_review_tell_form(request, refusal->ask);
    writ_auto_buf state = writ_buf_make(WRIT_CONTINUATION_MAX);
    struct writ_write w = writ_write_to(buf);

    if (form == WRIT_REVIEW_TELL_INPUT &&
        !writ_is_ok(writ_review_tell_state(request, refusal->ask, &state))) {
        form = WRIT_REVIEW_TELL_REFUSAL;
    }
    writ_mcp_open(&w, request->message.id);
    if (form == WRIT_REVIEW_TELL_INPUT) {
        put_input_required(&w, request, refusal, writ_buf_view(&state));
    } else if (form == WRIT_REVIEW_TELL_REFUSAL && call != NULL && call->verdict.rule != NULL &&
               call->verdict.rule->refusal == WRIT_REFUSAL_RESULT) {
        put_result(&w, request, refusal);
    } else {
        put_error(&w, request, refusal, form);
    }
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
}
