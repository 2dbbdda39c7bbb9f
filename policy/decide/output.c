/* Applies the rules of a result in a fixed order: size, content, error, then removal and redaction
 * in one pass that writes the result again. A rule that fails or reaches a limit withholds the
 * whole result. */
#include "policy/decide/output.h"

#include "evidence/json/jcs.h"
#include "evidence/json/write.h"
#include "policy/detect/detect.h"
#include "policy/model/glob.h"
#include "policy/model/pattern.h"

#define NUMBER_MAX 512 /* bytes of the canonical text of a number */

/* ---- applying */

/* The state of one result. */
struct applying {
    const struct writ_output_rules *rules;
    struct writ_write w;
    const struct writ_json **removed; /* values to leave out; NULL without any */
    bool *used;                       /* by redaction: it changed something */
    bool *found;                      /* by number of detector: a find of it was replaced */
    struct writ_view member;          /* that has the present value, also in an array in it */
    struct writ_pattern_budget budget;
    const struct writ_detector *refused; /* found by `refuse`; NULL: none */
    bool failed;                         /* a rule could not be applied */
};

static bool
take_refused(void *ctx, const struct writ_detection *found)
{
    struct applying *a = ctx;

    a->refused = found->detector;
    return false;
}

/* Looks for what `refuse` names in a text as the caller would get it. */
static void
look(struct applying *a, struct writ_view text)
{
    if (a->rules->refuse != NULL && a->refused == NULL && !a->failed) {
        a->failed = !writ_is_ok(
            writ_detect_text(a->rules->refuse, text, a->member, &a->budget, take_refused, a));
    }
}

static enum writ_pattern_answer
replace(struct applying *a, const struct writ_output_redaction *one, struct writ_view text,
    struct writ_buf *ret)
{
    return one->detectors != NULL
               ? writ_detect_replace(
                     one->detectors, text, a->member, one->with, &a->budget, a->found, ret)
               : writ_pattern_replace(one->pattern, text, one->with, &a->budget, ret);
}

/* A text that is too long for a pattern, or reaches a limit of it, withholds the whole result. */
static bool
redact(struct applying *a, struct writ_view text, struct writ_buf *ret)
{
    bool changed = false;

    writ_buf_put(ret, text);
    for (size_t i = 0; i < a->rules->redactions_n && !a->failed; i++) {
        const struct writ_output_redaction *one = &a->rules->redactions[i];
        struct writ_buf next = writ_buf_make(ret->max);
        switch (replace(a, one, writ_buf_view(ret), &next)) {
        case WRIT_PATTERN_LIMIT:
            a->failed = true;
            writ_buf_wipe(&next);
            break;
        case WRIT_PATTERN_NO:
            writ_buf_wipe(&next);
            break;
        case WRIT_PATTERN_YES:
            changed = a->used[i] = true;
            writ_buf_wipe(ret);
            *ret = next;
            break;
        }
    }
    a->failed = a->failed || !writ_is_ok(writ_buf_check(ret, NULL));
    return changed;
}

static void
put_string(struct applying *a, struct writ_view text)
{
    writ_auto_buf clean = writ_buf_make(text.len + WRIT_OUTPUT_GROWTH_MAX);

    (void)redact(a, text, &clean);
    look(a, writ_buf_view(&clean));
    writ_write_string(&a->w, writ_buf_view(&clean));
}

/* A name cannot be replaced: other members may depend on it. */
static void
put_name(struct applying *a, struct writ_view name)
{
    writ_auto_buf clean = writ_buf_make(name.len + WRIT_OUTPUT_GROWTH_MAX);

    a->member = WRIT_LIT("");
    a->failed = redact(a, name, &clean) || a->failed;
    look(a, name);
    writ_write_name(&a->w, name);
    a->member = name;
}

static bool
is_removed(const struct applying *a, const struct writ_json *value)
{
    for (size_t i = 0; a->removed != NULL && i < a->rules->remove.n; i++) {
        if (a->removed[i] == value) {
            return true;
        }
    }
    return false;
}

/* Unchanged. */
static void
put_verbatim(struct applying *a, const struct writ_json *value)
{
    writ_auto_buf number = writ_buf_make(NUMBER_MAX);

    if (writ_json_type(value) == WRIT_JSON_NUMBER) {
        bool exact = a->rules->refuse != NULL && writ_is_ok(writ_jcs_put(&number, value, NULL));
        struct writ_view member = a->member;

        a->member = WRIT_LIT(""); /* it says what a text is */
        look(a, exact ? writ_buf_view(&number) : writ_json_text(value));
        a->member = member;
        writ_write_raw(&a->w, writ_json_text(value));
    } else {
        writ_write_value(&a->w, value);
    }
}

static void put_value(struct applying *a, const struct writ_json *value);

static void
put_elements(struct applying *a, const struct writ_json *array,
    void (*put)(struct applying *a, const struct writ_json *value))
{
    writ_write_array_begin(&a->w);
    WRIT_JSON_EACH(element, array)
    {
        if (!is_removed(a, element)) {
            put(a, element);
        }
    }
    writ_write_array_end(&a->w);
}

/* The members of an object; `put` writes the value of the one called `special`. */
static void
put_members(struct applying *a, const struct writ_json *object, const char *special,
    void (*put)(struct applying *a, const struct writ_json *value))
{
    struct writ_view outer = a->member;

    writ_write_object_begin(&a->w);
    WRIT_JSON_EACH(name, object)
    {
        const struct writ_json *value = writ_json_value(name);
        if (is_removed(a, value)) {
            continue;
        }
        put_name(a, writ_json_string(name));
        if (special != NULL && writ_view_is(writ_json_string(name), special)) {
            put(a, value);
        } else {
            put_value(a, value);
        }
    }
    writ_write_object_end(&a->w);
    a->member = outer;
}

static void
put_value(struct applying *a, const struct writ_json *value)
{
    switch (writ_json_type(value)) {
    case WRIT_JSON_ARRAY:
        put_elements(a, value, put_value);
        return;
    case WRIT_JSON_OBJECT:
        put_members(a, value, NULL, NULL);
        return;
    case WRIT_JSON_STRING:
        put_string(a, writ_json_string(value));
        return;
    case WRIT_JSON_NONE:
    case WRIT_JSON_NULL:
    case WRIT_JSON_FALSE:
    case WRIT_JSON_TRUE:
    case WRIT_JSON_NUMBER:
        put_verbatim(a, value);
        return;
    }
}

static void
put_binary(struct applying *a, const struct writ_json *value)
{
    if (writ_json_type(value) == WRIT_JSON_STRING) {
        writ_write_string(&a->w, writ_json_string(value));
    } else {
        put_value(a, value);
    }
}

static void
put_resource(struct applying *a, const struct writ_json *value)
{
    if (writ_json_type(value) == WRIT_JSON_OBJECT) {
        put_members(a, value, "blob", put_binary);
    } else {
        put_value(a, value);
    }
}

static bool
has_type(const struct writ_json *block, const char *type)
{
    return writ_view_is(writ_json_string(writ_json_get(block, WRIT_LIT("type"))), type);
}

static void
put_block(struct applying *a, const struct writ_json *block)
{
    if (has_type(block, "image") || has_type(block, "audio")) {
        put_members(a, block, "data", put_binary);
    } else if (has_type(block, "resource")) {
        put_members(a, block, "resource", put_resource);
    } else {
        put_value(a, block);
    }
}

static void
put_content(struct applying *a, const struct writ_json *content)
{
    if (writ_json_type(content) == WRIT_JSON_ARRAY) {
        put_elements(a, content, put_block);
    } else {
        put_value(a, content);
    }
}

/* Data for the server itself returns to it byte for byte. */
static bool
is_the_servers(struct writ_view name)
{
    return writ_view_is(name, "resultType") || writ_view_is(name, "requestState") ||
           writ_view_is(name, "taskId");
}

static void
put_result(struct applying *a, const struct writ_json *result)
{
    writ_write_object_begin(&a->w);
    WRIT_JSON_EACH(member, result)
    {
        struct writ_view name = writ_json_string(member);
        const struct writ_json *value = writ_json_value(member);
        if (is_removed(a, value)) {
            continue;
        }
        put_name(a, name);
        if (is_the_servers(name) && writ_json_type(value) == WRIT_JSON_STRING) {
            writ_write_string(&a->w, writ_json_string(value));
        } else if (writ_view_is(name, "content")) {
            put_content(a, value);
        } else {
            put_value(a, value);
        }
    }
    writ_write_object_end(&a->w);
}

/* ---- the rules in their order */

static struct writ_output
refuse(enum writ_reason reason, const struct writ_view *name)
{
    struct writ_output output = {.refused = reason};

    if (name != NULL) {
        output.applied = (struct writ_views){name, 1};
    }
    return output;
}

static bool
is_allowed(const struct writ_output_rules *rules, struct writ_view kind, struct writ_view media)
{
    for (size_t i = 0; i < rules->content.n; i++) {
        struct writ_view entry = rules->content.items[i];
        if (writ_view_equal(entry, kind) ||
            (media.ptr != NULL && writ_glob_match(entry, media) == WRIT_GLOB_YES)) {
            return true;
        }
    }
    return false;
}

static bool
content_is_allowed(const struct writ_output_rules *rules, const struct writ_json *result)
{
    const struct writ_json *content = writ_json_get(result, WRIT_LIT("content"));

    if (!rules->limits_content) {
        return true;
    }
    if ((content != NULL && writ_json_type(content) != WRIT_JSON_ARRAY) ||
        (writ_json_get(result, WRIT_LIT("structuredContent")) != NULL &&
            !is_allowed(rules, WRIT_LIT("structured"), writ_view(NULL, 0)))) {
        return false;
    }
    WRIT_JSON_EACH(block, content)
    {
        struct writ_view kind = writ_json_string(writ_json_get(block, WRIT_LIT("type")));
        bool media = has_type(block, "image") || has_type(block, "audio");
        if (kind.ptr == NULL || writ_view_is(kind, "structured") ||
            !is_allowed(rules, kind,
                media ? writ_json_string(writ_json_get(block, WRIT_LIT("mimeType")))
                      : writ_view(NULL, 0))) {
            return false;
        }
    }
    return true;
}

static const struct writ_json **
find_removed(const struct writ_output_rules *rules, const struct writ_json *result,
    struct writ_arena *arena, bool *ret_any)
{
    const struct writ_json **removed =
        writ_arena_get(arena, (rules->remove.n + 1) * sizeof(const struct writ_json *));

    for (size_t i = 0; removed != NULL && i < rules->remove.n; i++) {
        removed[i] = writ_json_pointer(result, rules->remove.items[i]);
        *ret_any = *ret_any || removed[i] != NULL;
    }
    return removed;
}

/* Detectors of the configuration, which all redactions of it share. */
static const struct writ_detectors *
own_of(const struct writ_output_rules *rules)
{
    for (size_t i = 0; i < rules->redactions_n; i++) {
        if (rules->redactions[i].detectors != NULL) {
            return rules->redactions[i].detectors->own;
        }
    }
    return NULL;
}

static size_t
detectors_n(const struct writ_output_rules *rules)
{
    const struct writ_detectors *own = own_of(rules);

    return WRIT_DETECTOR_COUNT + (own != NULL ? own->n : 0);
}

/* A rule by the detector that found something: "redact secret.jwt@1". */
static struct writ_view
named(const char *rule, const struct writ_detector *detector, struct writ_arena *arena)
{
    struct writ_buf name = writ_buf_in(arena, WRIT_DETECTOR_NAME_MAX + 64);

    writ_buf_str(&name, rule);
    writ_buf_put(&name, detector->called);
    return writ_is_ok(writ_buf_check(&name, NULL)) ? writ_buf_view(&name) : writ_view(NULL, 0);
}

/* The names of the rules that changed something. */
static writ_result
tell_applied(const struct applying *a, struct writ_arena *arena, struct writ_views *ret)
{
    const struct writ_output_rules *rules = a->rules;
    struct writ_view *names = writ_arena_get(
        arena, (rules->remove.n + rules->redactions_n + detectors_n(rules) + 1) * sizeof *names);
    size_t n = 0;

    if (names == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t i = 0; a->removed != NULL && i < rules->remove.n; i++) {
        if (a->removed[i] != NULL) {
            names[n++] = rules->remove_names[i];
        }
    }
    for (size_t i = 0; i < rules->redactions_n; i++) {
        if (a->used[i] && rules->redactions[i].detectors == NULL) {
            names[n++] = rules->redactions[i].name;
        }
    }
    for (size_t i = 0; i < detectors_n(rules); i++) {
        if (a->found[i]) {
            names[n] = named("redact ", writ_detector_of(own_of(rules), i), arena);
            if (names[n++].ptr == NULL) {
                return (writ_result){WRIT_E_NOMEM};
            }
        }
    }
    *ret = (struct writ_views){names, n};
    return WRIT_DONE;
}

static bool *
flags(size_t n, struct writ_arena *arena)
{
    bool *all = writ_arena_get(arena, (n + 1) * sizeof *all);

    for (size_t i = 0; all != NULL && i < n; i++) {
        all[i] = false;
    }
    return all;
}

static writ_result
change(struct applying *a, const struct writ_json *value, size_t bytes, struct writ_arena *arena,
    void (*put)(struct applying *a, const struct writ_json *value), struct writ_output *ret)
{
    struct writ_buf text = writ_buf_in(arena, 6 * bytes + WRIT_OUTPUT_GROWTH_MAX);

    a->budget.matches = WRIT_OUTPUT_MATCHES_MAX;
    a->budget.until_us = writ_clock_mono_us(a->budget.clock) + WRIT_OUTPUT_TIME_US;
    a->used = flags(a->rules->redactions_n, arena);
    a->found = flags(detectors_n(a->rules), arena);
    if (a->used == NULL || a->found == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    a->w = writ_write_to(&text);
    put(a, value);
    WRIT_TRY(writ_write_end(&a->w, NULL));
    if (a->failed) {
        return (writ_result){WRIT_E_LIMIT};
    }
    if (a->refused != NULL) {
        struct writ_view *name = writ_arena_get(arena, sizeof *name);
        if (name == NULL) {
            return (writ_result){WRIT_E_NOMEM};
        }
        *name = named("refuse ", a->refused, arena);
        *ret = refuse(WRIT_REASON_RESULT_CONTENT_REFUSED, name->ptr != NULL ? name : NULL);
        return WRIT_DONE;
    }
    WRIT_TRY(tell_applied(a, arena, &ret->applied));
    ret->changed = ret->applied.n > 0;
    ret->text = writ_buf_view(&text);
    return WRIT_DONE;
}

static const struct writ_view size_name = {"max_bytes", sizeof "max_bytes" - 1};
static const struct writ_view content_name = {"content", sizeof "content" - 1};
static const struct writ_view error_name = {"is_error", sizeof "is_error" - 1};

void
writ_output_apply(const struct writ_output_rules *rules, const struct writ_clock *clock,
    const struct writ_json *result, size_t bytes, struct writ_arena *arena, struct writ_output *ret)
{
    struct applying a = {.rules = rules, .budget = {.clock = clock}};
    bool error = writ_json_is_true(result, WRIT_LIT("isError"));
    bool removes = false;

    *ret = (struct writ_output){.is_error = error && rules->is_error == WRIT_OUTPUT_ERROR_RECORD};
    if (writ_json_type(result) != WRIT_JSON_OBJECT) {
        *ret = refuse(WRIT_REASON_RESULT_RULE_FAILED, NULL);
    } else if (rules->max_bytes > 0 && bytes > (size_t)rules->max_bytes) {
        *ret = refuse(WRIT_REASON_RESULT_TOO_LARGE, &size_name);
    } else if (!content_is_allowed(rules, result)) {
        *ret = refuse(WRIT_REASON_RESULT_CONTENT_REFUSED, &content_name);
    } else if (error && rules->is_error == WRIT_OUTPUT_ERROR_REFUSE) {
        *ret = refuse(WRIT_REASON_RESULT_ERROR_REFUSED, &error_name);
    } else {
        a.removed = find_removed(rules, result, arena, &removes);
        if (a.removed == NULL ||
            ((removes || rules->redactions_n > 0 || rules->refuse != NULL) &&
                !writ_is_ok(change(&a, result, bytes, arena, put_result, ret)))) {
            *ret = refuse(WRIT_REASON_RESULT_RULE_FAILED, NULL);
        }
    }
}

void
writ_output_apply_error(const struct writ_output_rules *rules, const struct writ_clock *clock,
    const struct writ_json *error, size_t bytes, struct writ_arena *arena, struct writ_output *ret)
{
    struct applying a = {.rules = rules, .budget = {.clock = clock}};

    *ret = (struct writ_output){.refused = WRIT_REASON_NONE};
    if ((rules->redactions_n > 0 || rules->refuse != NULL) &&
        !writ_is_ok(change(&a, error, bytes, arena, put_value, ret))) {
        *ret = refuse(WRIT_REASON_RESULT_RULE_FAILED, NULL);
    }
}

/* ---- as text */

static const char *
error_word(enum writ_output_error is_error)
{
    switch (is_error) {
    case WRIT_OUTPUT_ERROR_NONE:
    case WRIT_OUTPUT_ERROR_PASS:
        return "pass";
    case WRIT_OUTPUT_ERROR_RECORD:
        return "error";
    case WRIT_OUTPUT_ERROR_REFUSE:
        break;
    }
    return "refuse";
}

void
writ_output_tell(const struct writ_output_rules *rules, struct writ_buf *ret)
{
    if (rules->max_bytes > 0) {
        writ_buf_fmt(ret, "max_bytes %lld, ", (long long)rules->max_bytes);
    }
    if (rules->limits_content) {
        writ_buf_str(ret, "content");
        for (size_t i = 0; i < rules->content.n; i++) {
            writ_buf_byte(ret, ' ');
            writ_buf_put(ret, rules->content.items[i]);
        }
        writ_buf_str(ret, rules->content.n > 0 ? ", " : " none, ");
    }
    for (size_t i = 0; i < rules->remove.n; i++) {
        writ_buf_put(ret, rules->remove_names[i]);
        writ_buf_str(ret, ", ");
    }
    for (size_t i = 0; i < rules->redactions_n; i++) {
        writ_buf_put(ret, rules->redactions[i].name);
        writ_buf_str(ret, ", ");
    }
    if (rules->refuse != NULL) {
        writ_buf_put(ret, rules->refuse_names);
        writ_buf_str(ret, ", ");
    }
    writ_buf_fmt(ret, "is_error %s", error_word(rules->is_error));
}
