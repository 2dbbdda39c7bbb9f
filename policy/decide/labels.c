/* labels.c - see labels.h. A text at a place is trusted when the result is, or a pattern of
 * trusted_at leads to the place or to something around it, and no pattern of untrusted_at does. */
#include "policy/decide/labels.h"

#include "base/utf8.h"
#include "evidence/flow/fields.h"
#include "evidence/json/jcs.h"
#include "policy/decide/approval.h"
#include "policy/detect/detect.h"
#include "policy/model/trail.h"

#define LABELS_MAX 32 /* of one result */
#define DEPTH_MAX  64 /* what is nested deeper is not marked */
#define RECORD_MAX ((size_t)512 << 10)
#define HEAD       512 /* of an outcome's members beside its fields, mostly */
#define PUBLIC     "public"

/* ---- labels ---- */

struct set {
    struct writ_view items[LABELS_MAX];
    size_t n;
    bool cut; /* some were not taken */
};

static void
add_label(struct set *set, struct writ_view label)
{
    size_t at = 0;

    while (at < set->n && writ_view_compare(set->items[at], label) < 0) {
        at++;
    }
    if (label.len == 0 || writ_view_is(label, PUBLIC) ||
        (at < set->n && writ_view_equal(set->items[at], label))) {
        return;
    }
    if (set->n == LABELS_MAX || label.len > WRIT_RUN_LABEL_MAX) {
        set->cut = true;
        return;
    }
    for (size_t i = set->n++; i > at; i--) {
        set->items[i] = set->items[i - 1];
    }
    set->items[at] = label;
}

static bool
is_trusted(const struct writ_labels *labels, const unsigned *hints)
{
    if (labels == NULL) {
        return false;
    }
    return labels->trusted ||
           (labels->believe_annotations && hints != NULL && (*hints & WRIT_HINT_OPEN_WORLD) == 0);
}

static void
expect(const struct writ_labels *labels, const unsigned *hints, struct set *ret)
{
    bool trusted = is_trusted(labels, hints);

    if ((!trusted && (labels == NULL || !labels->believe_meta)) ||
        (labels != NULL && labels->untrusted_at.n > 0)) {
        add_label(ret, WRIT_LIT(WRIT_LABEL_UNTRUSTED));
    }
    for (size_t i = 0; labels != NULL && i < labels->confidentiality.n; i++) {
        add_label(ret, labels->confidentiality.items[i]);
    }
}

static WRIT_RESULT
keep_set(const struct set *set, struct writ_arena *arena, struct writ_views *ret)
{
    struct writ_view *items = writ_arena_get(arena, sizeof set->items);

    if (items == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t i = 0; i < set->n; i++) {
        items[i] = set->items[i];
    }
    *ret = (struct writ_views){items, set->n};
    return WRIT_DONE;
}

WRIT_RESULT
writ_labels_expected(const struct writ_labels *labels, const unsigned *hints,
    struct writ_arena *arena, struct writ_views *ret, struct writ_views *ret_detected)
{
    struct set set = {.n = 0}, detected = {.n = 0};
    struct writ_views all;

    expect(labels, hints, &set);
    for (size_t i = 0; labels != NULL && i < labels->detected_n; i++) {
        add_label(&detected, labels->detected[i].label);
    }
    WRIT_TRY(keep_set(&set, arena, &all));
    WRIT_TRY(keep_set(&detected, arena, ret_detected));
    *ret = all;
    return WRIT_DONE;
}

/* ---- the server's own labels: _meta.ifc = {integrity, confidentiality} ---- */

static void
add_theirs(struct set *set, const struct writ_json *confidentiality)
{
    add_label(set, writ_json_string(confidentiality));
    if (writ_json_type(confidentiality) == WRIT_JSON_ARRAY) {
        WRIT_JSON_EACH(label, confidentiality)
        {
            add_label(set, writ_json_string(label));
        }
    }
}

/* Whether the server says that its result is trusted. */
static bool
believe(const struct writ_json *result, struct set *set)
{
    const struct writ_json *ifc = writ_json_pointer(result, WRIT_LIT("/_meta/ifc"));
    bool trusted = writ_json_is(writ_json_get(ifc, WRIT_LIT("integrity")), WRIT_LIT("trusted"));

    add_theirs(set, writ_json_get(ifc, WRIT_LIT("confidentiality")));
    if (!trusted) {
        add_label(set, WRIT_LIT(WRIT_LABEL_UNTRUSTED));
    }
    return trusted;
}

/* ---- detected ---- */

/* What each entry of `detected` says about a result. */
struct findings {
    const struct writ_labels *labels;
    bool found[WRIT_DETECTED_MAX];
    const struct writ_detector *by[WRIT_DETECTED_MAX]; /* NULL: the answer is not known */
    bool untrusted;
};

static void
detect(const struct writ_labels *labels, const struct writ_json *result, bool unseen,
    struct set *set, struct findings *ret)
{
    struct writ_pattern_budget budget = {.matches = 0};
    size_t n = labels != NULL ? labels->detected_n : 0;

    *ret = (struct findings){.labels = labels};
    if (n == 0 || (result == NULL && !unseen)) {
        return;
    }
    budget = writ_detect_budget();
    for (size_t i = 0; i < n; i++) {
        const struct writ_detected *d = &labels->detected[i];
        ret->found[i] = result == NULL || writ_detect_any(d->detectors, result, &budget,
                                              &ret->by[i]) != WRIT_DETECT_NONE;
        if (ret->found[i]) {
            add_label(set, d->label);
            ret->untrusted = ret->untrusted || writ_view_is(d->label, WRIT_LABEL_UNTRUSTED);
        }
    }
}

static void
put_findings(struct writ_write *w, const struct findings *findings)
{
    bool any = false;

    for (size_t i = 0; i < WRIT_DETECTED_MAX; i++) {
        if (!findings->found[i]) {
            continue;
        }
        if (!any) {
            writ_write_name(w, WRIT_LIT("detected"));
            writ_write_array_begin(w);
        }
        any = true;
        writ_write_object_begin(w);
        if (findings->by[i] != NULL) {
            writ_write_text(w, "detector", findings->by[i]->called);
        }
        writ_write_text(w, "label", findings->labels->detected[i].label);
        writ_write_object_end(w);
    }
    if (any) {
        writ_write_array_end(w);
    }
}

/* ---- fields ---- */

struct walking {
    const struct writ_labels *labels; /* NULL: untrusted */
    bool trusted;
    struct writ_fields *fields;
    struct writ_view path[DEPTH_MAX]; /* tokens down to the value; "*" for an index */
    size_t depth;
    struct writ_buf at; /* the same as a pointer, cut */
    struct writ_arena *arena;
};

/* Whether the pattern leads to the place or to something around it. */
static bool
leads(struct writ_view pattern, const struct walking *w)
{
    for (size_t i = 0; pattern.len > 0; i++) {
        struct writ_view token;
        pattern = writ_view_sub(pattern, 1, pattern.len);
        token = writ_view_sub(pattern, 0, writ_view_find(pattern, '/'));
        pattern = writ_view_sub(pattern, token.len, pattern.len);
        if (i >= w->depth || (!writ_view_is(token, "*") && !writ_view_equal(token, w->path[i]))) {
            return false;
        }
    }
    return true;
}

static bool
is_listed(const struct writ_views *patterns, const struct walking *w)
{
    for (size_t i = 0; i < patterns->n; i++) {
        if (leads(patterns->items[i], w)) {
            return true;
        }
    }
    return false;
}

static bool
is_trusted_here(const struct walking *w)
{
    return w->labels != NULL && (w->trusted || is_listed(&w->labels->trusted_at, w)) &&
           !is_listed(&w->labels->untrusted_at, w);
}

bool
writ_labels_may_trust(const struct writ_labels *labels, struct writ_view at)
{
    struct walking w = {.labels = labels};

    if (labels == NULL) {
        return false;
    }
    w.trusted = labels->trusted || labels->believe_annotations || labels->believe_meta;
    if (at.len >= WRIT_FIELDS_AT_MAX) {
        return true; /* it may be cut */
    }
    while (at.len > 0 && w.depth < DEPTH_MAX) {
        at = writ_view_sub(at, 1, at.len);
        w.path[w.depth] = writ_view_sub(at, 0, writ_view_find(at, '/'));
        at = writ_view_sub(at, w.path[w.depth++].len, at.len);
    }
    return is_trusted_here(&w);
}

static void
add_text(struct walking *w, struct writ_view text)
{
    writ_fields_add(w->fields, writ_buf_view(&w->at), is_trusted_here(w), text);
}

/* A member's name as a token of a pointer. */
static struct writ_view
token_of(struct writ_view name, struct writ_arena *arena)
{
    struct writ_buf escaped = writ_buf_in(arena, 2 * name.len + 1);

    if (writ_view_find(name, '~') == name.len && writ_view_find(name, '/') == name.len) {
        return name;
    }
    writ_trail_token(name, &escaped);
    return writ_buf_view(&escaped);
}

/* Goes down; the way back is the length of the pointer before. */
static size_t
enter(struct walking *w, struct writ_view token)
{
    size_t before = w->at.len;

    w->path[w->depth++] = token;
    writ_buf_str(&w->at, "/");
    writ_buf_put(&w->at, writ_utf8_cut(token, WRIT_FIELDS_AT_MAX - w->at.len));
    return before;
}

static void
leave(struct walking *w, size_t before)
{
    writ_buf_cut(&w->at, before);
    w->depth--;
}

static void
walk(struct walking *w, const struct writ_json *value)
{
    struct writ_buf number = writ_buf_in(w->arena, 64);
    size_t before;

    if (w->depth == DEPTH_MAX) {
        w->fields->cut = true;
        return;
    }
    switch (writ_json_type(value)) {
    case WRIT_JSON_STRING:
        add_text(w, writ_json_string(value));
        return;
    case WRIT_JSON_NUMBER:
        WRIT_IGNORE(writ_jcs_put(&number, value, NULL));
        add_text(w, writ_buf_view(&number));
        return;
    case WRIT_JSON_ARRAY:
        before = enter(w, WRIT_LIT("*"));
        WRIT_JSON_EACH(element, value)
        {
            walk(w, element);
        }
        leave(w, before);
        return;
    case WRIT_JSON_OBJECT:
        WRIT_JSON_EACH(name, value)
        {
            before = enter(w, token_of(writ_json_string(name), w->arena));
            walk(w, writ_json_value(name));
            leave(w, before);
        }
        return;
    case WRIT_JSON_NONE:
    case WRIT_JSON_NULL:
    case WRIT_JSON_FALSE:
    case WRIT_JSON_TRUE:
        return;
    }
}

/* The JSON object or array in a result's only text, as servers without outputSchema send it. */
static const struct writ_json *
json_in(const struct writ_json *content, struct writ_arena *arena)
{
    const struct writ_json *only = writ_json_type(content) == WRIT_JSON_ARRAY && content->count == 1
                                       ? writ_json_first(content)
                                       : NULL;
    struct writ_view text = writ_json_string(writ_json_get(only, WRIT_LIT("text")));
    const struct writ_json *value = NULL;

    if (text.len == 0 || (text.ptr[0] != '{' && text.ptr[0] != '[') ||
        !writ_is_ok(writ_json_read(text, &writ_json_limits_default, arena, &value, NULL))) {
        return NULL;
    }
    return value;
}

static void
walk_result(struct walking *w, const struct writ_json *result)
{
    const struct writ_json *value = writ_json_get(result, WRIT_LIT("structuredContent"));
    const struct writ_json *content = writ_json_get(result, WRIT_LIT("content"));

    if (value == NULL) {
        value = json_in(content, w->arena);
    }
    if (value == NULL && content != NULL) {
        (void)enter(w, WRIT_LIT("content"));
        value = content;
    }
    walk(w, value != NULL ? value : result);
}

static WRIT_RESULT
put_outcome(const struct set *set, const struct findings *findings, bool failed,
    struct writ_fields *fields, const struct writ_mark_key *key, struct writ_arena *arena,
    struct writ_view *ret, struct writ_err *err)
{
    char room[4096]; /* for most results */
    writ_auto_buf marks = writ_buf_from(room, sizeof room, RECORD_MAX);
    struct writ_buf text = writ_buf_in(arena, RECORD_MAX);
    struct writ_write w = writ_write_to(&text);

    WRIT_TRY(writ_fields_put(fields, key, &marks, err));
    (void)writ_buf_reserve(&text, marks.len + HEAD);
    w.sorted = true;
    writ_write_object_begin(&w);
    if (fields->cut) {
        writ_write_flag(&w, "cut", true);
    }
    put_findings(&w, findings);
    if (failed) {
        writ_write_flag(&w, "failed", true);
    }
    writ_write_name(&w, WRIT_LIT("fields"));
    writ_write_raw(&w, writ_buf_view(&marks));
    writ_write_text(&w, "key", writ_mark_key_id(key));
    writ_write_name(&w, WRIT_LIT("labels"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < set->n; i++) {
        writ_write_string(&w, set->items[i]);
    }
    writ_write_array_end(&w);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    *ret = writ_buf_view(&text);
    return WRIT_DONE;
}

WRIT_RESULT
writ_labels_outcome(const struct writ_labels *labels, const unsigned *hints,
    const struct writ_json *result, bool unseen, const struct writ_mark_key *key,
    struct writ_arena *arena, struct writ_view *ret, struct writ_err *err)
{
    struct writ_fields fields = {.arena = arena};
    char at[WRIT_FIELDS_AT_MAX];
    struct set set = {.n = 0};
    struct findings findings;
    struct walking w = {.labels = labels,
        .trusted = is_trusted(labels, hints),
        .fields = &fields,
        .at = writ_buf_over(at, sizeof at),
        .arena = arena};

    expect(labels, hints, &set);
    if (labels != NULL && labels->believe_meta) {
        w.trusted = believe(result, &set) || w.trusted;
    }
    detect(labels, result, unseen, &set, &findings);
    if (findings.untrusted) {
        w.labels = NULL;
    }
    if (set.cut) {
        WRIT_FAIL(err, WRIT_E_LIMIT,
            "a result has more than %d labels, or one of more than %d bytes", LABELS_MAX,
            WRIT_RUN_LABEL_MAX);
    }
    if (result != NULL) {
        walk_result(&w, result);
    }
    return put_outcome(&set, &findings, writ_json_is_true(result, WRIT_LIT("isError")), &fields,
        key, arena, ret, err);
}
