/* json.h - the one JSON value: a strict reader and a flat, read-only tape of nodes.
 *
 * Decisions, digests and forwarded messages are all made from the value that this reader accepted,
 * so that no later party can read another value. It takes RFC 8259 text that keeps to I-JSON (RFC
 * 7493) and refuses, with the byte offset and without repair: duplicate member names (compared
 * after unescaping), invalid UTF-8, lone surrogates, numbers beyond the range of a double, a byte
 * order mark, anything but white space after the value, and everything over a limit.
 *
 * Decided, because documents differ about it:
 * - U+0000, written \u0000, is a character like any other and is kept whole, in strings and in
 *   member names (RFC 8785 3.2.2.2 gives it a canonical form). Policy may refuse it.
 * - Noncharacters (U+FFFF and the like) are kept, although RFC 7493 2.1 frowns on them.
 * - A number keeps its source text beside the nearest double. A number that is not exact can still
 *   be read; the canonical form refuses some of them (jcs.h).
 *
 * Shape: the nodes of a document are one array in document order. `span` counts a node and its
 * descendants, so the first child is at +1 and the next sibling at +span; the children of an object
 * alternate name, value. The members of an object are also linked in canonical order (RFC 8785
 * 3.2.3), because sorting is how duplicates are found. A pointer to a node is therefore enough: a
 * document object is not needed.
 *
 * Ownership: nodes, and strings that were spelled with escapes, live in the arena; other strings
 * and all numbers point into the text that was read, which must live as long. Nodes are never
 * changed after the read, so any number of threads may use them; but a value that was read with
 * `late_bytes` belongs to one thread at a time. Nothing here blocks. */
#ifndef WRIT_EVIDENCE_JSON_H
#define WRIT_EVIDENCE_JSON_H

#include "base/bytes.h"
#include "base/number.h"

enum writ_json_type {
    WRIT_JSON_NONE = 0, /* no value: a zeroed node */
    WRIT_JSON_NULL,
    WRIT_JSON_FALSE,
    WRIT_JSON_TRUE,
    WRIT_JSON_NUMBER,
    WRIT_JSON_STRING,
    WRIT_JSON_ARRAY,
    WRIT_JSON_OBJECT,
};

/** A long string with escapes, checked and not unescaped before it is read. */
struct writ_json_late {
    struct writ_view source; /* as it is spelled, without its quotes */
    char *room;              /* for source.len bytes: where it is unescaped */
    bool canonical;          /* spelled as in the canonical form */
    bool unescaped;
};

/** One node, 32 bytes. Read it through the functions below. */
struct writ_json {
    uint8_t type;    /* enum writ_json_type */
    uint8_t escaped; /* string: spelled with escapes, so its bytes are not in the text */
    uint8_t is_late; /* string: `late` in place of ptr */
    uint8_t unused;
    uint32_t span; /* nodes, this one included */
    union {
        const char *ptr; /* string: UTF-8, unescaped; number: its source text */
        struct writ_json_late *late;
    };
    uint32_t len; /* bytes of a string, unescaped, or of a number's text */
    union {
        uint32_t count; /* array: elements; object: members */
        uint32_t at;    /* string or number: byte offset in the text it was read from */
    };
    union {
        double number; /* the double nearest to the source text; finite */
        int32_t order; /* object: first name in canonical order, member name: the next one, both
                          as a distance in nodes; 0 ends the list */
    };
};

/** The limits of one read. Each is a maximum that is still accepted; zero accepts nothing. */
struct writ_json_limits {
    size_t bytes;        /* of the whole text; at most WRIT_JSON_BYTES_MAX is honoured */
    size_t depth;        /* of nested arrays and objects: 0 admits scalars only; at most
                            WRIT_JSON_DEPTH_MAX is honoured */
    size_t values;       /* nodes: every value and every member name counts one */
    size_t name_bytes;   /* of one member name, unescaped */
    size_t string_bytes; /* of one string value, unescaped */
    size_t number_bytes; /* of one number as written; at most WRIT_NUMBER_MAX is honoured */
    size_t late_bytes;   /* no limit: strings with escapes whose text is longer are unescaped when
                            they are read; 0: none */
};

/** A good value for `late_bytes`: so many bytes are unescaped in less than a microsecond. */
#define WRIT_JSON_LATE_BYTES 4096
/** No text longer than this is read, whatever the limits say. */
#define WRIT_JSON_BYTES_MAX ((size_t)1 << 30)
/** No value is nested deeper than this, whatever the limits say: code that walks a value may
 * recurse. */
#define WRIT_JSON_DEPTH_MAX 512

/** 1 MiB, depth 64, 65536 values, names of 1024 bytes, strings as long as the text, numbers of 256
 * bytes: the limits of one message of a client unless configuration says otherwise. */
extern const struct writ_json_limits writ_json_limits_default;

/**
 * Reads one JSON text.
 *
 * @param text    borrowed until the arena is reset: nodes point into it
 * @param limits  borrowed for the call
 * @param arena   takes at most 64 bytes for each value (the tape grows by doubling) and 64 KiB,
 *                and, when a string has escapes, at most text.len more; a reset by the owner frees
 *                what a failed read took
 * @param ret     written only on success
 * @param err     filled on failure, with the byte offset; may be NULL. The text says what is wrong
 *                and never quotes the input
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE  not strict JSON as described above
 *         WRIT_E_LIMIT  a limit was exceeded; err names it
 *         WRIT_E_NOMEM  the arena is exhausted
 */
WRIT_RESULT writ_json_read(struct writ_view text, const struct writ_json_limits *limits,
    struct writ_arena *arena, const struct writ_json **ret, struct writ_err *err);

struct writ_ahead;

/** As writ_json_read; `ahead`: what is known of one string of the text (ahead.h), or NULL. */
WRIT_RESULT writ_json_read_known(struct writ_view text, const struct writ_json_limits *limits,
    const struct writ_ahead *ahead, struct writ_arena *arena, const struct writ_json **ret,
    struct writ_err *err);

/** The type of `value`; NULL is WRIT_JSON_NONE. */
static inline enum writ_json_type
writ_json_type(const struct writ_json *value)
{
    return value == NULL ? WRIT_JSON_NONE : (enum writ_json_type)value->type;
}

/** The first element, or the name of the first member, in document order. NULL when there is none
 * or `parent` is not an array or object (NULL included). */
static inline const struct writ_json *
writ_json_first(const struct writ_json *parent)
{
    bool holds =
        parent != NULL && (parent->type == WRIT_JSON_ARRAY || parent->type == WRIT_JSON_OBJECT);

    return holds && parent->count > 0 ? parent + 1 : NULL;
}

/** The value that belongs to a member name. */
static inline const struct writ_json *
writ_json_value(const struct writ_json *name)
{
    return name + 1;
}

/** After `child` (an element or a member name of `parent`): the next one, or NULL. */
static inline const struct writ_json *
writ_json_next(const struct writ_json *parent, const struct writ_json *child)
{
    const struct writ_json *last = parent->type == WRIT_JSON_OBJECT ? child + 1 : child;
    const struct writ_json *next = last + last->span;

    return next < parent + parent->span ? next : NULL;
}

/** Walks the elements of an array or the member names of an object, in document order. Does not run
 * when `parent` is anything else. */
#define WRIT_JSON_EACH(child, parent)                                                              \
    for (const struct writ_json *child = writ_json_first(parent); (child) != NULL;                 \
         (child) = writ_json_next((parent), (child)))

/** The member names of an object in canonical order (UTF-16 code units, RFC 8785 3.2.3). */
static inline const struct writ_json *
writ_json_sorted_first(const struct writ_json *object)
{
    return writ_json_type(object) == WRIT_JSON_OBJECT && object->order != 0 ? object + object->order
                                                                            : NULL;
}

static inline const struct writ_json *
writ_json_sorted_next(const struct writ_json *name)
{
    return name->order != 0 ? name + name->order : NULL;
}

/** The bytes of a string that is late. */
struct writ_view writ_json_unescape(const struct writ_json *string);

/** The bytes of a string or member name (may hold NUL), or the source text of a number; for
 * anything else, and NULL, the empty view {NULL, 0}. */
static inline struct writ_view
writ_json_text(const struct writ_json *value)
{
    enum writ_json_type type = writ_json_type(value);

    if (type != WRIT_JSON_STRING && type != WRIT_JSON_NUMBER) {
        return writ_view(NULL, 0);
    }
    return value->is_late ? writ_json_unescape(value) : writ_view(value->ptr, value->len);
}

/** As writ_json_text, for strings alone: the empty view {NULL, 0} for anything else. An empty
 * string has a ptr. */
static inline struct writ_view
writ_json_string(const struct writ_json *value)
{
    if (writ_json_type(value) != WRIT_JSON_STRING) {
        return writ_view(NULL, 0);
    }
    /* NOLINTNEXTLINE: NULL is of no type, as it says above */
    return value->is_late ? writ_json_unescape(value) : writ_view(value->ptr, value->len);
}

/** True when `value` is a string with exactly these bytes. */
bool writ_json_is(const struct writ_json *value, struct writ_view text);

/** The member called `name` (exact bytes), or NULL when it is absent or `object` is not an
 * object. */
const struct writ_json *writ_json_get(const struct writ_json *object, struct writ_view name);

/** As writ_json_get, and NULL as well when the member has another type. */
const struct writ_json *writ_json_get_typed(
    const struct writ_json *object, struct writ_view name, enum writ_json_type type);

/** Whether the member called `name` is true; any other value, and none, is false. */
bool writ_json_is_true(const struct writ_json *object, struct writ_view name);

/** Whether `object` has only members of `known`, which ends with NULL. */
bool writ_json_has_only(const struct writ_json *object, const char *const *known);

/** Element `index`, or NULL. Walks: for a loop use WRIT_JSON_EACH. */
const struct writ_json *writ_json_element(const struct writ_json *array, size_t index);

/** The value at an RFC 6901 pointer ("" is `value` itself, "/a/0"), or NULL when it is absent or
 * the pointer is malformed. "-" is always absent. */
const struct writ_json *writ_json_pointer(const struct writ_json *value, struct writ_view pointer);

/** True when `pointer` is well-formed: "" or '/'-led, every '~' followed by 0 or 1. */
bool writ_json_is_pointer(struct writ_view pointer);

/**
 * Reads an integer: an optional minus sign and digits, so 1.0 and 1e2 are refused.
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  `value` is NULL, not a number, or not written as an integer
 *         WRIT_E_LIMIT    not within least..most
 */
WRIT_RESULT writ_json_integer(
    const struct writ_json *value, int64_t least, int64_t most, int64_t *ret);

/** True when both have the same value: numbers by their doubles, objects without regard to member
 * order. NULL equals only NULL. */
bool writ_json_equal(const struct writ_json *a, const struct writ_json *b);
/** Whether an array has an element of that value. False for anything else. */
bool writ_json_has(const struct writ_json *array, const struct writ_json *value);

/** A deep copy in `arena` that needs neither the text nor the arena of `value`; NULL without
 * memory.
 */
const struct writ_json *writ_json_copy(const struct writ_json *value, struct writ_arena *arena);

#endif
