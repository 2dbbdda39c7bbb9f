/* Looks for JSON objects in the answer of a model. Only an object with the token of the ballot
 * counts, and two that differ count for nothing. An answer that is not understood is a failed
 * ballot, never an approval. */
#include "crew/reply.h"

#include "base/utf8.h"

#define DEPTH_MAX 16

/* The end of the object that `text` begins with, found by counting braces outside of strings; 0:
 * none. */
static size_t
object_end(struct writ_view text)
{
    size_t depth = 0;
    bool in_string = false;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (in_string) {
            i += c == '\\';
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{') {
            depth++;
        } else if (c == '}' && --depth == 0) {
            return i + 1;
        }
    }
    return 0;
}

static bool
is_word(struct writ_view text, const char *word)
{
    struct writ_view want = writ_view_str(word);

    if (text.len != want.len) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if ((c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c) != want.ptr[i]) {
            return false;
        }
    }
    return true;
}

static enum writ_review_vote
vote_of(struct writ_view text)
{
    static const struct {
        const char *word;
        enum writ_review_vote vote;
    } words[] = {
        {"approve", WRIT_REVIEW_APPROVE},
        {"approved", WRIT_REVIEW_APPROVE},
        {"reject", WRIT_REVIEW_REJECT},
        {"rejected", WRIT_REVIEW_REJECT},
        {"modify", WRIT_REVIEW_MODIFY},
        {"modified", WRIT_REVIEW_MODIFY},
        {"abstain", WRIT_REVIEW_ABSTAIN},
        {"abstained", WRIT_REVIEW_ABSTAIN},
    };

    text = writ_view_trim(text);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (is_word(text, words[i].word)) {
            return words[i].vote;
        }
    }
    return WRIT_REVIEW_NO_VOTE;
}

struct writ_view
writ_reply_feedback(struct writ_view text, struct writ_arena *arena)
{
    struct writ_buf out = writ_buf_in(arena, WRIT_REVIEW_FEEDBACK_MAX);

    while (text.len > 0) {
        uint32_t point = 0;
        size_t len = writ_utf8_character(text, &point);
        bool control = (point < 0x20 && point != '\n' && point != '\t') || point == 0x7f;

        if (out.len + (len > 0 ? len : 1) > WRIT_REVIEW_FEEDBACK_MAX) {
            break;
        }
        if (len == 0 || control) {
            writ_buf_byte(&out, ' ');
        } else {
            writ_buf_put(&out, writ_view_sub(text, 0, len));
        }
        text = writ_view_sub(text, len > 0 ? len : 1, text.len);
    }
    return writ_is_ok(writ_buf_check(&out, NULL)) && out.len > 0 ? writ_buf_view(&out)
                                                                 : (struct writ_view){NULL, 0};
}

static struct writ_view
confidence_of(const struct writ_json *value)
{
    struct writ_view text = writ_json_type(value) == WRIT_JSON_STRING
                                ? writ_view_trim(writ_json_string(value))
                                : writ_json_text(value);

    return text.len > 0 && writ_review_is_confidence(text) ? text : (struct writ_view){NULL, 0};
}

/* A ballot has the token; anything else is text. */
static const struct writ_json *
ballot_of(struct writ_view text, struct writ_view token, struct writ_arena *arena)
{
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *value = NULL;

    limits.bytes = WRIT_REPLY_MAX;
    limits.depth = DEPTH_MAX;
    return writ_is_ok(writ_json_read(text, &limits, arena, &value, NULL)) &&
                   writ_view_equal(
                       writ_json_string(writ_json_get(value, WRIT_LIT("ballot"))), token)
               ? value
               : NULL;
}

static WRIT_RESULT
take(const struct writ_json *ballot, struct writ_arena *arena, struct writ_reply *ret,
    struct writ_err *err)
{
    struct writ_reply reply = {
        .vote = vote_of(writ_json_string(writ_json_get(ballot, WRIT_LIT("vote"))))};
    const struct writ_json *ranking = writ_json_get(ballot, WRIT_LIT("ranking"));
    struct writ_view feedback = writ_json_string(writ_json_get(ballot, WRIT_LIT("feedback")));

    if (ranking != NULL && !writ_review_ranking_read(ranking, &reply.ranking)) {
        WRIT_FAIL(err, WRIT_E_PARSE, "the ranking of the ballot is not a list of different votes");
    }
    if (reply.ranking.n > 0) {
        reply.vote = reply.ranking.list[0];
    }
    if (reply.vote == WRIT_REVIEW_NO_VOTE) {
        WRIT_FAIL(err, WRIT_E_PARSE, "the ballot has none of the votes");
    }
    if (ret->vote != WRIT_REVIEW_NO_VOTE &&
        (ret->vote != reply.vote || !writ_review_ranking_equal(&ret->ranking, &reply.ranking))) {
        WRIT_FAIL(err, WRIT_E_PARSE, "there are two ballots, and they differ");
    }
    reply.confidence = confidence_of(writ_json_get(ballot, WRIT_LIT("confidence")));
    if (feedback.len > 0) {
        reply.feedback = writ_reply_feedback(feedback, arena);
    }
    *ret = reply;
    return WRIT_DONE;
}

WRIT_RESULT
writ_reply_read(struct writ_view text, struct writ_view token, bool whole, struct writ_arena *arena,
    struct writ_reply *ret, struct writ_err *err)
{
    struct writ_reply reply = {.vote = WRIT_REVIEW_NO_VOTE};
    bool approves;

    if (text.len > WRIT_REPLY_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "the answer is longer than %d bytes", WRIT_REPLY_MAX);
    }
    for (size_t tried = 0, at = writ_view_find(text, '{'); at < text.len;
         at = writ_view_find(text, '{')) {
        size_t len;
        const struct writ_json *ballot = NULL;

        if (tried++ == WRIT_REPLY_OBJECTS) {
            WRIT_FAIL(err, WRIT_E_PARSE, "there are more than %d objects", WRIT_REPLY_OBJECTS);
        }
        text = writ_view_sub(text, at, text.len);
        len = object_end(text);
        if (len > 0) {
            ballot = ballot_of(writ_view_sub(text, 0, len), token, arena);
        }
        if (ballot != NULL) {
            WRIT_TRY(take(ballot, arena, &reply, err));
        }
        text = writ_view_sub(text, ballot != NULL ? len : 1, text.len);
    }
    if (reply.vote == WRIT_REVIEW_NO_VOTE) {
        WRIT_FAIL(err, WRIT_E_PARSE, "there is no JSON object with the token of the ballot");
    }
    /* a place before the last one helps an approval too */
    approves = reply.vote == WRIT_REVIEW_APPROVE ||
               (reply.ranking.n > 0 && reply.vote != WRIT_REVIEW_ABSTAIN &&
                   reply.ranking.list[reply.ranking.n - 1] != WRIT_REVIEW_APPROVE);
    if (approves && !whole) {
        WRIT_FAIL(err, WRIT_E_PARSE, "the call was not shown whole, and cannot be approved");
    }
    *ret = reply;
    return WRIT_DONE;
}
