/* jsonschema.h - JSON Schema 2020-12: a schema is compiled once, and any number of values are
 * checked against it.
 *
 * Nothing is fetched: a `$ref` leads to a place in the schema itself, or the schema is refused. The
 * keywords are those of the core, applicator, unevaluated and validation vocabularies; `format` is
 * an annotation, or an assertion where that is asked for. A pattern of ECMA-262 that PCRE2 reads
 * differently is refused (model/ecma.h). Unknown members are annotations, as 2020-12 says; a caller
 * for whom one is a mistake asks for them.
 *
 * A schema whose `$schema` is draft-07 is taken as far as both mean the same; the keywords that
 * changed are refused.
 *
 * Bounded whatever schema and value are: a check that reaches a limit has no answer, which refuses.
 * Numbers are compared exactly, as they are written; `multipleOf` is exact.
 *
 * A compiled schema is immutable: any number of threads may check with it. */
#ifndef WRIT_POLICY_JSONSCHEMA_H
#define WRIT_POLICY_JSONSCHEMA_H

#include "evidence/json/json.h"
#include "policy/model/trail.h"

#define WRIT_JSONSCHEMA_MAX       ((size_t)1 << 20) /* bytes of a schema, as JSON */
#define WRIT_JSONSCHEMA_RULES_MAX 65536             /* schemas in a schema */
#define WRIT_JSONSCHEMA_DEPTH_MAX 128     /* of schemas in each other, and of references */
#define WRIT_JSONSCHEMA_STEPS_MAX 2000000 /* of one check */
#define WRIT_JSONSCHEMA_NAMES_MAX 64      /* keywords and annotations */

struct writ_jsonschema;

enum writ_jsonschema_formats {
    WRIT_JSONSCHEMA_FORMATS_ANNOTATE = 0,
    WRIT_JSONSCHEMA_FORMATS_ASSERT,
};

/** The first fault of a value. Texts hold no value of it; in the arena of the check. */
struct writ_jsonschema_fault {
    struct writ_view place;   /* JSON Pointer into the value */
    struct writ_view keyword; /* of the schema: "maxLength" */
};

enum writ_jsonschema_answer {
    WRIT_JSONSCHEMA_LIMIT = 0, /* a limit was reached, or memory ran out: neither yes nor no */
    WRIT_JSONSCHEMA_NO,
    WRIT_JSONSCHEMA_YES,
};

/**
 * Compiles a schema.
 *
 * @param schema  an object, true or false; copied
 * @param ret     new, free with writ_jsonschema_free
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  not a schema, with a `$ref` that leads nowhere, or with a pattern or
 *                         format that is not supported; `err` names the place by a JSON Pointer
 *         WRIT_E_LIMIT, WRIT_E_NOMEM
 */
WRIT_RESULT writ_jsonschema_new(const struct writ_json *schema,
    enum writ_jsonschema_formats formats, struct writ_jsonschema **ret, struct writ_err *err);

/** NULL is permitted. */
void writ_jsonschema_free(struct writ_jsonschema *schema);

/**
 * Calls `found` for each member, of the schema and of the schemas in it, whose name is neither in
 * writ_jsonschema_names nor begins with "x-": a misspelled keyword constrains nothing.
 *
 * @param found  `at` is the place of the member, for the call
 */
void writ_jsonschema_unknown(const struct writ_jsonschema *schema,
    void (*found)(void *to, const struct writ_trail *at), void *to);

/** Writes the names of keywords and annotations, in static storage. Returns how many. */
size_t writ_jsonschema_names(const char *ret[WRIT_JSONSCHEMA_NAMES_MAX]);

/** Checks a value. `ret_fault` (may be NULL) is written for NO. */
enum writ_jsonschema_answer writ_jsonschema_check(const struct writ_jsonschema *schema,
    const struct writ_json *value, struct writ_arena *arena,
    struct writ_jsonschema_fault *ret_fault);

#endif
