/* scan.h - checks a JSON value against the form of a shape or agents file, and reads it.
 *
 * Every fault is noted, with a JSON Pointer and a kind; a value of the wrong type is not read
 * further. Each function takes one member of an object, gives a default when it is absent and the
 * zero of its type when it is wrong, so that a reader is a plain list of members. */
#ifndef WRIT_CREW_SCAN_H
#define WRIT_CREW_SCAN_H

#include "base/bytes.h"
#include "crew/failure.h"
#include "evidence/json/json.h"

#define WRIT_SCAN_INTEGER_MAX 9007199254740991.0 /* 2^53 - 1 */

/* kinds */
#define WRIT_SCAN_TYPE   "invalid_type"
#define WRIT_SCAN_VALUE  "invalid_value"
#define WRIT_SCAN_SMALL  "too_small"
#define WRIT_SCAN_BIG    "too_big"
#define WRIT_SCAN_UNION  "invalid_union"
#define WRIT_SCAN_CUSTOM "custom"

/** A list of strings. */
struct writ_scan_texts {
    const struct writ_view *list;
    size_t n;
};

/** A reading. Make it with writ_scan_begin, end it with writ_scan_end. */
struct writ_scan {
    struct writ_crew_findings *faults; /* borrowed; may be NULL */
    size_t n;                          /* faults found */
    const char *first;                 /* the kind and the place of the first */
    struct writ_view first_path;
    struct writ_arena *arena;                /* borrowed; strings are copied to it */
    const struct writ_crew_engines *engines; /* whose names are modes too; may be NULL */
    struct writ_buf path;
    bool exhausted; /* memory ran out */
};

enum writ_scan_need {
    WRIT_SCAN_OPTIONAL,
    WRIT_SCAN_REQUIRED,
    WRIT_SCAN_NONEMPTY, /* required, and not empty */
};

struct writ_scan writ_scan_begin(struct writ_crew_findings *faults, struct writ_arena *arena);
/** WRIT_OK; WRIT_E_INVALID (SCHEMA) with faults; WRIT_E_NOMEM. */
WRIT_RESULT writ_scan_end(struct writ_scan *scan, struct writ_crew_err *err);

/** Enters a member or an element; writ_scan_leave takes its result. */
size_t writ_scan_enter(struct writ_scan *scan, struct writ_view member);
size_t writ_scan_enter_at(struct writ_scan *scan, size_t element);
void writ_scan_leave(struct writ_scan *scan, size_t entered);

/** Notes a fault at the present place; at a member of it. */
void writ_scan_fault(struct writ_scan *scan, const char *kind);
void writ_scan_fault_at(struct writ_scan *scan, const char *member, const char *kind);

/** Memory of the arena, or NULL, which is noted. */
void *writ_scan_memory(struct writ_scan *scan, size_t count, size_t size);
/** A copy of text in the arena. */
struct writ_view writ_scan_copy(struct writ_scan *scan, struct writ_view text);

/* Members of `object`. Absent where optional: {NULL, 0}, an empty list, NULL, `fallback`. */
struct writ_view writ_scan_text(struct writ_scan *scan, const struct writ_json *object,
    const char *member, enum writ_scan_need need);
struct writ_scan_texts writ_scan_texts(
    struct writ_scan *scan, const struct writ_json *object, const char *member, bool *ret_given);
bool writ_scan_bool(
    struct writ_scan *scan, const struct writ_json *object, const char *member, bool fallback);
/** A whole number from `least` on; -1 where it is absent or wrong. */
double writ_scan_whole(struct writ_scan *scan, const struct writ_json *object, const char *member,
    double least, enum writ_scan_need need);
/** The member, if it has this type. */
const struct writ_json *writ_scan_typed(struct writ_scan *scan, const struct writ_json *object,
    const char *member, enum writ_json_type type, enum writ_scan_need need);
/** The index of the member's text in `words`, which NULL ends; 0 where it is absent or wrong. */
size_t writ_scan_word(struct writ_scan *scan, const struct writ_json *object, const char *member,
    const char *const *words);
/** schema_version: "1.0", and nothing else. */
void writ_scan_version(struct writ_scan *scan, const struct writ_json *object);

#endif
