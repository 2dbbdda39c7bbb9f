/* hidden.h - the characters of a text that hide: they are invisible, change the direction of
 * writing, look like an ordinary space, or are commands to a terminal. All code that shows
 * untrusted text uses this module; the page has a copy of the same table. */
#ifndef WRIT_BASE_HIDDEN_H
#define WRIT_BASE_HIDDEN_H

#include "base/bytes.h"

/** How a character hides. */
enum writ_hidden {
    WRIT_HIDDEN_NOT = 0,
    WRIT_HIDDEN_CONTROL,    /* C0, DEL, C1: also line feed and tab */
    WRIT_HIDDEN_DIRECTION,  /* turns the direction of writing */
    WRIT_HIDDEN_TAG,        /* U+E0000 to U+E007F: a hidden copy of ASCII */
    WRIT_HIDDEN_SELECTOR,   /* a variation selector */
    WRIT_HIDDEN_INVISIBLE,  /* zero width, or blank though a letter */
    WRIT_HIDDEN_LINE,       /* U+2028, U+2029 */
    WRIT_HIDDEN_SPACE,      /* a space that is not U+0020 */
    WRIT_HIDDEN_FORMAT,     /* another format character, which is seen */
    WRIT_HIDDEN_PRIVATE,    /* of private use */
    WRIT_HIDDEN_UNASSIGNED, /* not a character of our Unicode version */
};

/** How the code point hides; WRIT_HIDDEN_NOT for one that is visible as itself. */
enum writ_hidden writ_hidden_kind(uint32_t point);

/** Whether a text has a character that hides, or bytes that are not UTF-8. The strict check, for
 * names, identifiers and paths; ZWJ in an emoji counts as well. */
bool writ_hidden_in(struct writ_view text);

/**
 * Appends a text without the characters that a model reads and a person does not see: characters of
 * direction, tags, variation selectors, invisible ones, and controls but tab, line feed and
 * carriage return. Characters that writing needs stay: one joiner (U+200C, U+200D) between two
 * characters beyond ASCII, one U+FE0E or U+FE0F after one. Other spaces, private and unassigned
 * characters stay: they are visible.
 *
 * @param text  UTF-8; a byte that is not is left out as well
 *
 * @return the number of characters left out
 */
size_t writ_hidden_strip(struct writ_buf *ret, struct writ_view text);

/**
 * Appends JSON text for a person who decides by it: "[U+202E]" stands for each character that
 * hides, and before a letter that could be taken for another, as the page does: one of a script
 * with letters like Latin ones (in a word with Latin letters), or a form of an ASCII character.
 *
 * @param json  UTF-8; a byte that is not becomes "[?]"
 *
 * @return the number of marks
 */
size_t writ_hidden_mark(struct writ_buf *ret, struct writ_view json);

/** The same for a text without escapes: a backslash is a character like others. */
size_t writ_hidden_mark_text(struct writ_buf *ret, struct writ_view text);

/** Whether a person sees nothing of the character: of direction, a tag, a variation selector, or an
 * invisible one, and controls but tab, line feed and carriage return. */
bool writ_hidden_unseen(uint32_t point);

#endif
