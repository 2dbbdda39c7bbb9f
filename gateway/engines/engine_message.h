/* engine_message.h - a poll for a voting engine, and its result, as JSON between two processes.
 *
 * A request is {"describe":true} or {"ballots":[{"agent","output"?,"ranking"?,"role"}],
 * "candidates":[...]}; an output is canonical JSON as a string. An answer is {"abi","name"?},
 * {"fault"}, or {"ballot"?,"candidate"?,"refused","why"}; the lines of `why` are base64, because
 * an engine may explain in any bytes. Nothing blocks. */
#ifndef WRIT_GATEWAY_ENGINE_MESSAGE_H
#define WRIT_GATEWAY_ENGINE_MESSAGE_H

#include "crew/tally.h"
#include "evidence/json/json.h"

#define WRIT_ENGINE_REQUEST_MAX ((size_t)256 << 20) /* bytes */
#define WRIT_ENGINE_ANSWER_MAX  ((size_t)8 << 20)

/** Seconds that one count may take: the usual number, and the most. */
#define WRIT_ENGINE_SECONDS     10
#define WRIT_ENGINE_SECONDS_MAX 86400

/** Appends the request for a description. */
void writ_engine_message_put_describe(struct writ_buf *ret);

/** Appends the request for a count. */
void writ_engine_message_put_poll(struct writ_buf *ret, const struct writ_crew_poll *poll);

/** Reads a request. `ret` and what it names are in the arena and in `text`; ballots NULL: describe.
 * WRIT_E_PARSE, WRIT_E_LIMIT, WRIT_E_INVALID (of another form), WRIT_E_NOMEM. */
WRIT_RESULT writ_engine_message_read_request(struct writ_view text, struct writ_arena *arena,
    struct writ_crew_poll *ret, struct writ_err *err);

/** An answer. Views and nodes point into the arena and the text. */
struct writ_engine_answer {
    struct writ_view fault; /* ptr NULL: none. Why there is no answer of the engine */
    uint32_t abi;           /* 0: a count, else a description */
    struct writ_view name;  /* of a description */
    bool refused;
    enum writ_tally_winner winner; /* NOBODY, BALLOT or CANDIDATE */
    size_t index;                  /* of the winner; compare it with the poll */
    const struct writ_json *why;   /* an array of strings, base64 */
};

/** Appends an answer. `lines`: the elements of `why`, written by writ_engine_message_put_line. */
void writ_engine_message_put_answer(
    struct writ_buf *ret, const struct writ_engine_answer *answer, struct writ_view lines);
/** Appends a line to the elements of `why`; nothing when it would not fit the answer. */
void writ_engine_message_put_line(struct writ_buf *lines, struct writ_view line);

/** Reads an answer, which a plug-in may have written: only the forms above. WRIT_E_PARSE,
 * WRIT_E_LIMIT, WRIT_E_INVALID, WRIT_E_NOMEM. */
WRIT_RESULT writ_engine_message_read_answer(struct writ_view text, struct writ_arena *arena,
    struct writ_engine_answer *ret, struct writ_err *err);

/** Gives the explanation and the winner to the tally, as the engine itself would. WRIT_E_NOMEM. */
WRIT_RESULT writ_engine_message_tell(
    const struct writ_engine_answer *answer, struct writ_crew_tally *tally);

#endif
