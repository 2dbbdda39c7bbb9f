/* template.h - texts with arguments filled in: scopes, targets, URIs, arguments of a state probe.
 *
 * `{name}` and `{/pointer}` stand for an argument that is a string, a number (written in canonical
 * form) or a boolean; `{{` and `}}` are braces. An argument that is missing, null, an array or an
 * object has no text, and then the whole template has none.
 *
 * In scopes, targets and URIs a value is percent-encoded, everything but letters, digits and `-._~`
 * of ASCII, so that no value can end its segment, add another, or spell another value's encoding;
 * an empty value, `.` and `..` are refused there. `{+name}`, at the end of a template, keeps the
 * slashes of a value; then no component of it may be `.` or `..`. In the arguments of a probe a
 * text is filled in as it is, and a text that is `{name}` alone becomes the value itself, with its
 * type. */
#ifndef WRIT_POLICY_TEMPLATE_H
#define WRIT_POLICY_TEMPLATE_H

#include "evidence/json/json.h"

enum writ_template_part_kind {
    WRIT_TEMPLATE_PART_LITERAL = 0,
    WRIT_TEMPLATE_PART_VALUE,
    WRIT_TEMPLATE_PART_PATH, /* {+name}: slashes are kept */
};

struct writ_template_part {
    enum writ_template_part_kind kind;
    struct writ_view text; /* the literal, or the JSON Pointer of the argument */
};

/* A node of a template: one text, or what arguments are made of. */
struct writ_template {
    enum { WRIT_TEMPLATE_TEXT, WRIT_TEMPLATE_FIXED, WRIT_TEMPLATE_LIST, WRIT_TEMPLATE_MAP } kind;
    const struct writ_template_part *parts; /* TEXT */
    size_t parts_n;
    bool raw;                      /* TEXT: values are not percent-encoded */
    const struct writ_json *fixed; /* FIXED: a number, boolean or null */
    struct writ_view key;          /* member of a MAP */
    const struct writ_template *first, *next;
};

/**
 * Fills a text in.
 *
 * @param arguments  an object
 * @param max        most bytes
 * @param ret        in the arena; written only on success
 * @param err        names the argument, never its value; may be NULL
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT   an argument is missing, or null
 *         WRIT_E_INVALID  an argument cannot stand there
 *         WRIT_E_LIMIT    more than `max` bytes
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_template_fill(const struct writ_template *template,
    const struct writ_json *arguments, size_t max, struct writ_arena *arena, struct writ_view *ret,
    struct writ_err *err);

/** Fills an object in; otherwise as above. */
WRIT_RESULT writ_template_fill_object(const struct writ_template *template,
    const struct writ_json *arguments, size_t max, struct writ_arena *arena,
    const struct writ_json **ret, struct writ_err *err);

#endif
