/* detect.h - finds what detectors describe, in a text and in every text of a JSON value.
 *
 * A text is looked at as it is, and again with disguises undone, three times over: percent escapes,
 * character references, the escapes \u, \/, \" and \\, forms of ASCII characters (full-width,
 * mathematical, enclosed: policy/model/fold.h), other spaces and hyphens, and invisible characters.
 * Base64, hex, look-alike letters of other scripts (but in prompt.*), other languages, and what is
 * split over two texts are not undone.
 *
 * Time and memory grow with the text: at most 20 bytes of memory for each byte. Nothing here
 * changes a value or keeps a part of it. */
#ifndef WRIT_POLICY_DETECT_H
#define WRIT_POLICY_DETECT_H

#include "evidence/json/json.h"
#include "policy/detect/detector.h"

/**
 * Looks at one text.
 *
 * @param text    UTF-8
 * @param member  the name of the member of a JSON object that has it, which says what it may be;
 *                empty: none
 * @param budget  of patterns of the set; NULL: WRIT_DETECT_TIME_US by the system's clock
 *
 * @return WRIT_OK
 *         WRIT_E_LIMIT  the budget, or a limit of a pattern: the answer is not known
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_detect_text(const struct writ_detector_set *set, struct writ_view text,
    struct writ_view member, struct writ_pattern_budget *budget, writ_detector_fn *each, void *ctx);

/**
 * Appends `text` with every find replaced by `with`, at its place in the text as it was given.
 * Finds that overlap or touch are replaced together.
 *
 * @param member  as above
 * @param budget  counts replacements too
 * @param used    by number (writ_detector_of): set to true for those of which something was found;
 *                others stay as they are
 * @param ret     unusable without an answer
 *
 * @return YES at least one find; NO: `ret` has the text as it is; LIMIT: the budget, a limit of a
 *         pattern, a text longer than WRIT_PATTERN_FIND_MAX, or no memory
 */
enum writ_pattern_answer writ_detect_replace(const struct writ_detector_set *set,
    struct writ_view text, struct writ_view member, struct writ_view with,
    struct writ_pattern_budget *budget, bool *used, struct writ_buf *ret);

#define WRIT_DETECT_TIME_US     500000 /* for the patterns of one value */
#define WRIT_DETECT_MATCHES_MAX 10000  /* matches of them */

enum writ_detect_answer {
    WRIT_DETECT_UNKNOWN = 0, /* a limit was reached, or memory ran out */
    WRIT_DETECT_NONE,
    WRIT_DETECT_SOME,
};

/** A budget of WRIT_DETECT_TIME_US from now, by the system's clock. */
struct writ_pattern_budget writ_detect_budget(void);

/** Whether something is found in a value: every string in it at any depth, every member's name, and
 * every number as its canonical text.
 *
 * @param budget     of patterns of the set; NULL: writ_detect_budget
 * @param ret_first  a detector of which something was found, with SOME; may be NULL
 * @param ret_at     appended, with SOME: the JSON Pointer of the text in which it was found, or of
 *                   the object in a name of which it was; may be NULL */
enum writ_detect_answer writ_detect_any(const struct writ_detector_set *set,
    const struct writ_json *value, struct writ_pattern_budget *budget,
    const struct writ_detector **ret_first, struct writ_buf *ret_at);

#endif
