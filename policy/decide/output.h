/* output.h - `result` of a rule: what of a tool's results is let through. Pure, and total: a rule
 * that cannot be applied withholds the result, so that nothing passes as it should not.
 *
 * In this order: size, kinds of content, isError; then members are removed and patterns replaced.
 * Patterns are looked for in every text of the result, wherever it stands, but for what is no text:
 * the base64 of images, audio and resources, and what only the server reads (requestState, taskId).
 * A pattern that is found in the name of a member cannot be replaced there: the result is withheld.
 */
#ifndef WRIT_POLICY_OUTPUT_H
#define WRIT_POLICY_OUTPUT_H

#include "base/clock.h"
#include "evidence/json/json.h"
#include "evidence/record/reason.h"
#include "policy/model/config.h"
#include "policy/model/pattern.h"

#define WRIT_OUTPUT_REDACTIONS_MAX 64
#define WRIT_OUTPUT_MATCHES_MAX    10000             /* replacements in one result */
#define WRIT_OUTPUT_TIME_US        500000            /* for all patterns in one result */
#define WRIT_OUTPUT_GROWTH_MAX     ((size_t)1 << 20) /* bytes that a result may grow by */

/** What a result with isError is. */
enum writ_output_error {
    WRIT_OUTPUT_ERROR_NONE = 0, /* not said: as PASS */
    WRIT_OUTPUT_ERROR_PASS,     /* a result like any other */
    WRIT_OUTPUT_ERROR_RECORD,   /* let through, and recorded as an error */
    WRIT_OUTPUT_ERROR_REFUSE,   /* not let through */
};

struct writ_output_redaction {
    const struct writ_pattern *pattern;
    struct writ_view with;
    struct writ_view name; /* "redact \d{16}", for records */
};

struct writ_output_rules {
    int64_t max_bytes;         /* 0: no limit of its own */
    bool limits_content;       /* `content` says what is let through */
    struct writ_views content; /* as written */
    struct writ_views remove;  /* JSON Pointers */
    const struct writ_view *remove_names;
    const struct writ_output_redaction *redactions;
    size_t redactions_n;
    enum writ_output_error is_error;
};

/** What the rules make of one result. */
struct writ_output {
    enum writ_reason refused;  /* NONE: it is let through */
    bool changed;              /* `text` is what is let through, in its place */
    bool is_error;             /* it is recorded as an error */
    struct writ_views applied; /* names of the rules that changed it, or the one that refused it */
    struct writ_view text;     /* JSON */
};

/**
 * Applies the rules to a result.
 *
 * @param clock   for the time that patterns may take
 * @param result  the member `result` of a response, an object; anything else is withheld
 * @param bytes   its length in canonical form
 * @param arena   for `ret`
 * @param ret     always written whole
 */
void writ_output_apply(const struct writ_output_rules *rules, const struct writ_clock *clock,
    const struct writ_json *result, size_t bytes, struct writ_arena *arena,
    struct writ_output *ret);

/** The same for the member `error` of a response: of the rules only the redactions hold. */
void writ_output_apply_error(const struct writ_output_rules *rules, const struct writ_clock *clock,
    const struct writ_json *error, size_t bytes, struct writ_arena *arena, struct writ_output *ret);

/** Appends what the rules say, as a line for people. */
void writ_output_tell(const struct writ_output_rules *rules, struct writ_buf *ret);

#endif
