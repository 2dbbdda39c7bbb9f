/* fields.h - the marks of one result or task, by field, as records have them.
 *
 * A field is all texts at one place: its pointer has `*` for every index of an array. Canonical:
 * {"at": pointer, "trusted": flag, "marks": base64url}, in the order in which the places came. */
#ifndef WRIT_EVIDENCE_FIELDS_H
#define WRIT_EVIDENCE_FIELDS_H

#include "evidence/flow/mark.h"
#include "evidence/json/write.h"

#define WRIT_FIELDS_MAX       64   /* places of one result */
#define WRIT_FIELDS_TRUSTED   4096 /* tokens of one result at trusted places */
#define WRIT_FIELDS_UNTRUSTED 1024 /* tokens of one result at other places */
#define WRIT_FIELDS_AT_MAX    256  /* bytes of a pointer; a longer one is cut */

/* A text that is to be marked. */
struct writ_field_text {
    struct writ_view text; /* borrowed */
    struct writ_field_text *next;
};

struct writ_field {
    struct writ_view at; /* in the arena */
    bool trusted;
    struct writ_field_text *first, *last;
    struct writ_view marks; /* set by writ_fields_put; in the arena */
};

/** Zero-initialise with `arena` set. */
struct writ_fields {
    struct writ_arena *arena; /* of the pointers */
    struct writ_field items[WRIT_FIELDS_MAX];
    size_t n;
    bool cut; /* some texts were not taken: what stands in them is unknown */
};

/** The field of that place, which has been added before; NULL: none, or `at` may be cut. */
struct writ_field *writ_fields_find(struct writ_fields *fields, struct writ_view at);

/** Adds one text to a field. As writ_fields_add. */
void writ_fields_add_to(
    struct writ_fields *fields, struct writ_field *field, struct writ_view text);

/** Adds one text, borrowed until writ_fields_put. Without memory, and beyond WRIT_FIELDS_MAX, it is
 * left out, and `cut` set. */
void writ_fields_add(
    struct writ_fields *fields, struct writ_view at, bool trusted, struct writ_view text);

/** Appends the array as JSON. What is beyond the limits of tokens is left out, and `cut` set.
 * WRIT_E_NOMEM, WRIT_E_LIMIT, WRIT_E_CRYPTO. */
WRIT_RESULT writ_fields_put(struct writ_fields *fields, const struct writ_mark_key *key,
    struct writ_buf *ret, struct writ_err *err);

#endif
