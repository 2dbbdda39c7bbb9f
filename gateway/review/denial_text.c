/* denial_text.c - writes sentences about a refusal. Words of the policy are cut to a length; words
 * of voters are quoted as JSON strings, and only a few of them. */
#include "gateway/review/denial_text.h"

#include "base/hidden.h"
#include "base/text.h"
#include "gateway/review/review_url.h"

#define PART_MAX  600 /* bytes of one part that comes from the policy or from the call */
#define VOICE_MAX 512 /* of what one voter wrote */
#define VOICES    4   /* voters that are quoted; the data has the others too */

/* The policy's own words. */
static void
put_part(struct writ_buf *text, const char *before, struct writ_view part)
{
    if (part.len > 0) {
        writ_buf_str(text, before);
        writ_text_safe(text, part, PART_MAX);
    }
}

/* Untrusted words: a JSON string, which they cannot end. */
static void
put_quoted(struct writ_buf *text, struct writ_view part, size_t max)
{
    writ_auto_buf seen = writ_buf_make(part.len);

    (void)writ_hidden_strip(&seen, part);
    writ_text_json_safe(text, writ_buf_view(&seen), max);
    writ_buf_str(text, seen.len > max ? " (and more)" : "");
}

static void
put_policy(struct writ_buf *text, const struct writ_denial *refusal)
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
put_prior(struct writ_buf *text, const struct writ_prior *prior)
{
    put_part(text, "; the first call is decision ", prior->decision_id);
    put_part(text, ", its outcome ",
        prior->in_flight ? WRIT_LIT("is not known yet") : writ_outcome_kind_name(prior->outcome));
}

static void
put_voices(struct writ_buf *text, const struct writ_ask *ask)
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
put_review(struct writ_buf *text, const struct writ_request *request, const struct writ_ask *ask)
{
    writ_auto_buf url = writ_buf_make(WRIT_REVIEW_URL_MAX);
    char until[WRIT_TIME_TEXT];

    if (ask->id.ptr == NULL) {
        return;
    }
    put_part(text, "; review ", ask->id);
    put_part(text, " is ", writ_review_state_name(ask->state));
    if (writ_review_phase(ask->state) == WRIT_REVIEW_LIVE) {
        writ_time_format(ask->until_us, until);
        put_part(text, " until ", writ_view_str(until));
        writ_review_url_put(&url, request->worker->gateway, writ_request_config(request), ask->id);
        put_part(text, "; a voter decides at ", writ_buf_view(&url));
    }
}

void
writ_denial_text_put(
    struct writ_buf *buf, const struct writ_request *request, const struct writ_denial *refusal)
{
    writ_auto_buf text = writ_buf_make(WRIT_DENIAL_TEXT_MAX);
    struct writ_view sentence = writ_reason_sentence(refusal->reason);

    writ_buf_put(&text, sentence);
    put_theirs(&text, refusal->theirs);
    put_policy(&text, refusal);
    if (refusal->prior != NULL && refusal->prior->known) {
        put_prior(&text, refusal->prior);
    }
    if (refusal->ask != NULL) {
        put_review(&text, request, refusal->ask);
    }
    put_part(&text,
        ". Hint: ", refusal->hint.len > 0 ? refusal->hint : writ_reason_hint(refusal->reason));
    if (refusal->ask != NULL) {
        put_voices(&text, refusal->ask);
    }
    writ_buf_put(buf, writ_is_ok(writ_buf_check(&text, NULL)) ? writ_buf_view(&text) : sentence);
}
