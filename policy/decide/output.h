/* output.h - `result` of a rule: the parts of a tool's results that reach the caller. Pure, and
 * total: a rule that cannot be applied withholds the result.
 *
 * The order: size, kinds of content, isError; then members are removed, patterns and finds of
 * detectors replaced; then `refuse` looks at what is left, names of members and numbers too.
 * Patterns apply to every text of the result at every place, except to data that is not text: the
 * base64 of images, audio and resources, and data for the server itself (requestState, taskId). A
 * pattern that is found in the name of a member cannot be replaced there: the result is
 * withheld. */
#ifndef WRIT_POLICY_OUTPUT_H
#define WRIT_POLICY_OUTPUT_H

#include "base/clock.h"
#include "evidence/json/json.h"
#include "evidence/record/reason.h"
#include "policy/detect/detector.h"
#include "policy/model/config.h"
#include "policy/model/pattern.h"

#define WRIT_OUTPUT_REDACTIONS_MAX 64
#define WRIT_OUTPUT_MATCHES_MAX    10000             /* replacements in one result */
#define WRIT_OUTPUT_TIME_US        500000            /* for all patterns in one result */
#define WRIT_OUTPUT_GROWTH_MAX     ((size_t)1 << 20) /* bytes that a result may grow by */

/** The treatment of a result with isError. */
enum writ_output_error {
    WRIT_OUTPUT_ERROR_NONE = 0, /* as PASS */
    WRIT_OUTPUT_ERROR_PASS,     /* a result like any other */
    WRIT_OUTPUT_ERROR_RECORD,   /* let through, and recorded as an error */
    WRIT_OUTPUT_ERROR_REFUSE,   /* not let through */
};

/** What is replaced: one of the first two. */
struct writ_output_redaction {
    const struct writ_pattern *pattern;
    const struct writ_detector_set *detectors;
    struct writ_view with;
    struct writ_view name; /* "redact \d{16}"; a record has "redact secret.jwt@1" of `detectors` */
};

struct writ_output_rules {
    int64_t max_bytes;         /* 0: without its own limit */
    bool limits_content;       /* `content` lists the kinds that are let through */
    struct writ_views content; /* as written */
    struct writ_views remove;  /* JSON Pointers */
    const struct writ_view *remove_names;
    const struct writ_output_redaction *redactions;
    size_t redactions_n;
    enum writ_output_error is_error;
    const struct writ_detector_set *refuse; /* NULL: nothing */
    struct writ_view refuse_names;          /* "refuse prompt.*" */
};

/** The effect of the rules on one result. */
struct writ_output {
    enum writ_reason refused;  /* NONE: it is let through */
    bool changed;              /* `text` replaces the result */
    bool is_error;             /* it is recorded as an error */
    struct writ_views applied; /* names of the rules that changed it, or of the one that refused
                                * it */
    struct writ_view text;     /* JSON */
};

/**
 * Applies the rules to a result.
 *
 * @param clock   for the time limit of patterns
 * @param result  the member `result` of a response, an object; anything else is withheld
 * @param bytes   its length in canonical form
 * @param arena   for `ret`
 * @param ret     always written completely
 */
void writ_output_apply(const struct writ_output_rules *rules, const struct writ_clock *clock,
    const struct writ_json *result, size_t bytes, struct writ_arena *arena,
    struct writ_output *ret);

/** The same for the member `error` of a response: only the redactions and `refuse` apply. */
void writ_output_apply_error(const struct writ_output_rules *rules, const struct writ_clock *clock,
    const struct writ_json *error, size_t bytes, struct writ_arena *arena, struct writ_output *ret);

/** Appends the rules as a line for people. */
void writ_output_tell(const struct writ_output_rules *rules, struct writ_buf *ret);

#endif
