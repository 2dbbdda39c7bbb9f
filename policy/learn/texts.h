/* texts.h - what the texts of one place have in common: a known format, the order of letters,
 * digits and signs, one line or several, a beginning. What a text is not, rules out a form for
 * good. */
#ifndef WRIT_POLICY_TEXTS_H
#define WRIT_POLICY_TEXTS_H

#include "policy/learn/extreme.h"
#include "policy/learn/seen.h"
#include "policy/model/pattern.h"

#define WRIT_TEXTS_FORMATS_MAX 16
#define WRIT_TEXTS_SHAPES_MAX  12 /* different orders */
#define WRIT_TEXTS_TOKENS_MAX  24 /* of one order */

/** The patterns of the forms, compiled once for all places. */
struct writ_text_forms {
    struct {
        const char *name;
        struct writ_view pattern;
        struct writ_pattern *compiled;
    } formats[WRIT_TEXTS_FORMATS_MAX];
    size_t n;
    struct writ_pattern *line, *lines;
};

/** WRIT_E_NOMEM. */
WRIT_RESULT writ_texts_init(struct writ_text_forms *ret, struct writ_err *err);
void writ_texts_wipe(struct writ_text_forms *forms);

/** One order of letters, digits and signs, with the lengths of its runs. */
struct writ_text_shape {
    unsigned char tokens[WRIT_TEXTS_TOKENS_MAX]; /* a class, or an ASCII sign */
    uint16_t least[WRIT_TEXTS_TOKENS_MAX], most[WRIT_TEXTS_TOKENS_MAX];
    size_t n;
    struct writ_sighting seen;
};

struct writ_texts {
    uint64_t n;           /* texts */
    uint32_t not_formats; /* bits of formats that some text does not have */
    bool not_line, not_lines, empty;
    bool shapeless;                 /* some text has no order, or there are too many */
    struct writ_text_shape *shapes; /* WRIT_TEXTS_SHAPES_MAX of them, or NULL */
    size_t shapes_n;
    struct writ_view common; /* what all of them begin with */
    struct writ_extreme longest;
};

/** Takes one text. The arena is for answers of patterns alone. WRIT_E_NOMEM. */
WRIT_RESULT writ_texts_add(struct writ_texts *texts, const struct writ_text_forms *forms,
    struct writ_view text, struct writ_seen_in *in, struct writ_arena *scratch);

/** The number of a format that all texts have; forms->n without one. */
size_t writ_texts_format(const struct writ_texts *texts, const struct writ_text_forms *forms);

/** The cost of the shapes. */
uint64_t writ_texts_shapes_cost(const struct writ_texts *texts, bool by_run);

/** Appends the pattern of all shapes. */
void writ_texts_shapes_put(const struct writ_texts *texts, struct writ_buf *ret);

/** Appends a text as the part of a pattern that matches it alone. */
void writ_texts_quote(struct writ_view text, struct writ_buf *ret);

/** The patterns of one line, and of several lines, of visible characters. */
#define WRIT_TEXTS_LINE "[^\\p{C}\\p{Zl}\\p{Zp}\\x{e0100}-\\x{e01ef}]*"
#define WRIT_TEXTS_LINES                                                                           \
    "[^\\p{Cf}\\p{Co}\\p{Cn}\\p{Zl}\\p{Zp}\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x{9f}"           \
    "\\x{e0100}-\\x{e01ef}]*"

#endif
