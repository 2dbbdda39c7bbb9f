/* why_text.h - the text around a value in the result, or in the arguments, that it came from: for a
 * person who decides by it. The text is untrusted; `marked` has marks for what hides in it
 * (base/hidden.h). Pure. */
#ifndef WRIT_POLICY_WHY_TEXT_H
#define WRIT_POLICY_WHY_TEXT_H

#include "evidence/flow/mark.h"
#include "evidence/json/write.h"
#include "policy/why/why_text.tbl.h"

#define WRIT_WHY_PLACES_MAX 3   /* places of one value */
#define WRIT_WHY_AROUND     120 /* characters on each side that a person sees */
#define WRIT_WHY_PIECE_MAX  480 /* characters of a piece, with those that hide */

enum writ_why_text_state {
#define WRIT_WHY_TEXT_ENUM(NAME, word, sentence) WRIT_WHY_TEXT_##NAME,
    WRIT_WHY_TEXTS(WRIT_WHY_TEXT_ENUM)
#undef WRIT_WHY_TEXT_ENUM
};

/** One place. Pieces of the text as it is, each a whole number of characters. */
struct writ_why_place {
    struct writ_view before, value, after;
    bool starts, ends;       /* nothing of the text is before, or after */
    struct writ_view marked; /* all of it with marks, in one line; cut ends are an ellipsis */
    size_t marks;
};

/** Zeroed: nothing was asked. */
struct writ_why_text {
    enum writ_why_text_state state;
    struct writ_why_place places[WRIT_WHY_PLACES_MAX]; /* SHOWN */
    size_t n;
};

/** One value that is searched for. All borrowed. */
struct writ_why_text_value {
    struct writ_view at; /* its pointer in the record: of a result with `*` for an index */
    struct writ_mark_wanted wanted;
    struct writ_why_text *ret;
};

/** Where values are searched for. All borrowed; the places too. */
struct writ_why_text_source {
    const struct writ_json *content; /* a result, or the arguments of a call */
    bool of_arguments;
    const struct writ_mark_key *key;
    const struct writ_why_text_value *values;
    size_t n;
};

/** Finds the places of all values in one reading: each is then SHOWN, MOVED or TOO_LARGE. What
 * fails leaves the texts half made. WRIT_E_NOMEM, WRIT_E_CRYPTO.
 * @param scratch  what is no longer needed after the call
 * @param arena    takes the places */
WRIT_RESULT writ_why_text_find(const struct writ_why_text_source *source,
    struct writ_arena *scratch, struct writ_arena *arena, struct writ_err *err);

/** The word in JSON, and the sentence; static storage. */
struct writ_view writ_why_text_word(enum writ_why_text_state state);
struct writ_view writ_why_text_sentence(enum writ_why_text_state state);

/** Writes the members `text`, `note` and `places` into an open object. */
void writ_why_text_put(const struct writ_why_text *text, struct writ_write *w);

#endif
