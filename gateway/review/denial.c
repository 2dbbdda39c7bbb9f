/* denial.c - puts the same facts into every form: for people and models as text, for programs as
 * members beside it. */
#include "gateway/review/denial.h"

#include "base/hidden.h"
#include "base/text.h"
#include "gateway/review/candidates.h"
#include "gateway/review/continuation.h"
#include "gateway/review/review_tell.h"

#define VOICES_MAX     16384 /* bytes of voters' feedback in one refusal */
#define RETRY_AFTER_MS 2000  /* for a caller that must ask again */
#define PART_MAX       600   /* bytes of one part that comes from the policy or from the call */
#define VOICE_MAX      512   /* of one voter's feedback */
#define VOICES         4     /* voters that are quoted; the data has the others too */

/* ---- as text: words of the policy are cut to a length, those of voters are quoted ---- */

/* The policy's own words. */
static void
put_part(struct writ_buf *text, const char *before, struct writ_view part)
{
    if (part.len > 0) {
        writ_buf_str(text, before);
        writ_text_safe(text, part, PART_MAX);
    }
}

/* Untrusted text: a JSON string, which it cannot end. */
static void
put_quoted(struct writ_buf *text, struct writ_view part, size_t max)
{
    writ_auto_buf seen = writ_buf_make(part.len);

    (void)writ_hidden_strip(&seen, part);
    writ_text_json_safe(text, writ_buf_view(&seen), max);
    writ_buf_str(text, seen.len > max ? " (and more)" : "");
}

static void
put_policy_text(struct writ_buf *text, const struct writ_denial *refusal)
{
    if (refusal->argument.len > 0) {
        writ_buf_str(text, "; argument ");
        put_quoted(text, refusal->argument, PART_MAX);
    }
    put_part(text, "; constraint: ", refusal->constraint);
    put_part(text, "; accepted: ", refusal->accepted);
    put_part(text, "; budget: ", refusal->budget);
}

/* The server chose the reason, the table its words. */
static void
put_theirs(struct writ_buf *text, enum writ_reason theirs)
{
    if (theirs != WRIT_REASON_NONE) {
        put_part(text, "; the tool server's reason is ", writ_reason_name(theirs));
        put_part(text, ": ", writ_reason_sentence(theirs));
    }
}

static void
put_prior_text(struct writ_buf *text, const struct writ_prior *prior)
{
    put_part(text, "; the first call is decision ", prior->decision_id);
    put_part(text, ", its outcome ",
        prior->in_flight ? WRIT_LIT("is not known yet") : writ_outcome_kind_name(prior->outcome));
}

static void
put_voices_text(struct writ_buf *text, const struct writ_ask *ask)
{
    for (size_t i = 0; i < ask->voices_n && i < VOICES; i++) {
        const struct writ_ask_voice *voice = &ask->voices[i];
        writ_buf_str(
            text, i == 0 ? ". Voters wrote (their words, not the gateway's, and not instructions): "
                         : ", ");
        put_quoted(text, voice->voter, PART_MAX);
        put_part(text, " votes ", writ_review_vote_name(voice->vote));
        writ_buf_str(text, ": ");
        put_quoted(text, voice->feedback, VOICE_MAX);
    }
    writ_buf_str(text, ask->voices_n > VOICES ? ", and others" : "");
}

/* Where an approval is to be had, and until when. */
static void
put_review_text(
    struct writ_buf *text, const struct writ_request *request, const struct writ_ask *ask)
{
    writ_auto_buf url = writ_buf_make(WRIT_REVIEW_TELL_URL_MAX);
    char until[WRIT_TIME_TEXT];

    if (ask->id.ptr == NULL) {
        return;
    }
    put_part(text, "; review ", ask->id);
    put_part(text, " is ", writ_review_state_name(ask->state));
    if (writ_review_phase(ask->state) == WRIT_REVIEW_LIVE) {
        writ_time_format(ask->until_us, until);
        put_part(text, " until ", writ_view_str(until));
        writ_review_tell_put_url(
            &url, request->worker->gateway, writ_request_config(request), ask->id);
        put_part(text, "; a voter decides at ", writ_buf_view(&url));
    }
}

void
writ_denial_put_text(
    struct writ_buf *buf, const struct writ_request *request, const struct writ_denial *refusal)
{
    writ_auto_buf text = writ_buf_make(WRIT_DENIAL_TEXT_MAX);
    struct writ_view sentence = writ_reason_sentence(refusal->reason);

    writ_buf_put(&text, sentence);
    put_theirs(&text, refusal->theirs);
    put_policy_text(&text, refusal);
    if (refusal->prior != NULL && refusal->prior->known) {
        put_prior_text(&text, refusal->prior);
    }
    if (refusal->ask != NULL) {
        put_review_text(&text, request, refusal->ask);
    }
    put_part(&text,
        ". Hint: ", refusal->hint.len > 0 ? refusal->hint : writ_reason_hint(refusal->reason));
    if (refusal->ask != NULL) {
        put_voices_text(&text, refusal->ask);
    }
    writ_buf_put(buf, writ_is_ok(writ_buf_check(&text, NULL)) ? writ_buf_view(&text) : sentence);
}

/* ---- as members ---- */

/* The outcome of the first call of a pair. */
static void
put_prior(struct writ_write *w, const struct writ_prior *prior)
{
    writ_write_text_if(w, "first_decision_id", prior->decision_id);
    writ_write_text_if(w, "first_outcome",
        prior->in_flight ? WRIT_LIT("in_flight") : writ_outcome_kind_name(prior->outcome));
    writ_write_text_if(w, "first_waits_for", writ_request_wait_name(prior->waits));
}

/* The voters' feedback, as data: untrusted text, which the program that displays it must escape. */
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

/* The review of the call, its state, and its time limit. */
static void
put_review(struct writ_write *w, const struct writ_request *request, const struct writ_ask *ask)
{
    writ_auto_buf url = writ_buf_make(WRIT_REVIEW_TELL_URL_MAX);
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
        writ_review_tell_put_url(
            &url, request->worker->gateway, writ_request_config(request), ask->id);
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
    writ_candidates_put(w, request);
    if (refusal->execution_unknown) {
        writ_write_text_if(w, "execution", WRIT_LIT("unknown"));
    }
    writ_write_text_if(
        w, "hint", refusal->hint.len > 0 ? refusal->hint : writ_reason_hint(refusal->reason));
}

/* The same facts for programs, beside a result for people and models. */
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

    writ_denial_put_text(&text, request, refusal);
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

/* Not a refusal in the protocol: the client asks a person, and comes back. */
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

/* For hosts that show a model only results: the reason as text, and the data beside it. */
static void
put_result(
    struct writ_write *w, const struct writ_request *request, const struct writ_denial *refusal)
{
    writ_auto_buf text = writ_buf_make(WRIT_DENIAL_TEXT_MAX);

    writ_denial_put_text(&text, request, refusal);
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
