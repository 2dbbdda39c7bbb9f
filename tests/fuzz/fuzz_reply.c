/* For every answer of a model: a vote is one of three, stands with the token of the ballot, and
 * never approves a call that was not shown whole; the kept parts of it fit the record. For every
 * call: the prompt has one fence, no part of the call is outside of it, and repeating the prompt
 * does not count as a vote. */
#include "base/utf8.h"
#include "support/fuzz.h"

#include "base/alloc.h"
#include "base/text.h"
#include "crew/prompt.h"
#include "crew/reply.h"

#define ARENA_MAX ((size_t)8 << 20)
#define DIGEST    WRIT_LIT("sha256:00")

static struct writ_arena *arena;
static char token[WRIT_PROMPT_TOKEN];

static void
prepare(void)
{
    if (arena == NULL) {
        arena = writ_arena_new(ARENA_MAX);
        WRIT_INVARIANT(arena != NULL);
        WRIT_INVARIANT(writ_is_ok(writ_prompt_token(DIGEST, WRIT_LIT("model"), token)));
    }
}

static void
check_answer(struct writ_view answer)
{
    struct writ_reply reply = {.vote = WRIT_REVIEW_NO_VOTE}, cut = reply;
    writ_result r = writ_reply_read(answer, writ_view_str(token), true, arena, &reply, NULL);
    writ_result part = writ_reply_read(answer, writ_view_str(token), false, arena, &cut, NULL);

    WRIT_INVARIANT(r.code != WRIT_E_NOMEM && cut.vote != WRIT_REVIEW_APPROVE);
    WRIT_INVARIANT(writ_is_ok(r) == (reply.vote != WRIT_REVIEW_NO_VOTE));
    WRIT_INVARIANT(part.code == r.code || reply.vote == WRIT_REVIEW_APPROVE || reply.ranking.n > 0);
    WRIT_INVARIANT(cut.ranking.n == 0 || cut.vote == WRIT_REVIEW_ABSTAIN ||
                   cut.ranking.list[cut.ranking.n - 1] == WRIT_REVIEW_APPROVE);
    WRIT_INVARIANT(reply.ranking.n == 0 || reply.ranking.list[0] == reply.vote);
    if (writ_is_ok(r)) {
        WRIT_INVARIANT(writ_view_search(answer, writ_view_str(token)) < answer.len);
        WRIT_INVARIANT(reply.feedback.ptr == NULL || writ_review_is_feedback(reply.feedback));
        WRIT_INVARIANT(reply.confidence.ptr == NULL || writ_review_is_confidence(reply.confidence));
    }
}

static size_t
count(struct writ_view text, struct writ_view what)
{
    size_t n = 0;

    for (size_t at = writ_view_search(text, what); at < text.len;
         at = writ_view_search(text, what)) {
        n++;
        text = writ_view_sub(text, at + 1, text.len);
    }
    return n;
}

/* As every text of others; where there is JSON, a string, as canonical JSON has it. */
static void
check_prompt(struct writ_view text)
{
    writ_auto_buf json = writ_buf_make(WRIT_PROMPT_MAX), out = writ_buf_make(WRIT_PROMPT_MAX);
    struct writ_prompt prompt = {.voter = WRIT_LIT("model"),
        .review = WRIT_LIT("r"),
        .digest = DIGEST,
        .tool = text,
        .agent_id = text,
        .target = text,
        .scope = text,
        .reason = text,
        .difference = text};
    struct writ_reply reply;

    writ_text_json(&json, text);
    prompt.arguments = writ_buf_view(&json);
    prompt.target_state = writ_buf_view(&json);
    WRIT_INVARIANT(writ_is_ok(writ_prompt_put(&prompt, &out, NULL)));
    WRIT_INVARIANT(count(writ_buf_view(&out), WRIT_LIT("\n-----")) == 2);
    WRIT_INVARIANT(count(writ_buf_view(&out), writ_view_str(token)) == 3);
    WRIT_INVARIANT(count(writ_buf_view(&out), WRIT_LIT("<")) == 0);
    WRIT_INVARIANT(
        out.len > WRIT_REPLY_MAX || !writ_is_ok(writ_reply_read(writ_buf_view(&out),
                                        writ_view_str(token), true, arena, &reply, NULL)));
}

/* The author of a call does not know the token. Only its middle is searched for, because an escape
 * may put hex digits before or after a part of it. */
static bool
knows_token(struct writ_view text)
{
    struct writ_view middle = writ_view_sub(writ_view_str(token), 6, WRIT_PROMPT_TOKEN - 7);

    return writ_view_search(text, middle) < text.len;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_view text = writ_view(data, size);

    prepare();
    check_answer(text);
    if (size <= WRIT_PROMPT_ARGUMENTS_MAX / 2 && writ_utf8_is_valid(text, NULL) &&
        !knows_token(text)) {
        check_prompt(text);
    }
    writ_arena_reset(arena);
    return 0;
}
