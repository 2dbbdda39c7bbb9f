/* labels.c - see labels.h. A text at a place is trusted when the result is, or a pattern of
 * trusted_at leads to the place or to something around it, and no pattern of untrusted_at does. */
#include "policy/decide/labels.h"

#include "evidence/flow/fields.h"
#include "policy/decide/approval.h"
#include "policy/decide/texts.h"
#include "policy/detect/detect.h"
#include "policy/model/trail.h"

#define LABELS_MAX 32 /* of one result */
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
    struct writ_view at[WRIT_DETECTED_MAX];            /* where; or empty */
    bool untrusted;
};

static bool
is_found(const struct writ_labels *labels, size_t i, const struct writ_json *result,
    struct writ_pattern_budget *budget, struct writ_arena *arena, struct findings *ret)
{
    writ_auto_buf at = writ_buf_make(WRIT_TRAIL_TEXT_MAX);

    if (writ_detect_any(labels->detected[i].detectors, result, budget, &ret->by[i], &at) ==
        WRIT_DETECT_NONE) {
        return false;
    }
    if (ret->by[i] != NULL) {
        ret->at[i] = writ_trail_keep(&at, arena);
    }
    return true;
}

static void
detect(const struct writ_labels *labels, const struct writ_json *result, bool unseen,
    struct set *set, struct writ_arena *arena, struct findings *ret)
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
        ret->found[i] = result == NULL || is_found(labels, i, result, &budget, arena, ret);
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
        if (findings->at[i].len > 0) {
            writ_write_text(w, "at", findings->at[i]);
        }
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
};

/* Whether the pattern leads to the place or to something around it. */
static bool
leads(struct writ_view pattern, const struct writ_texts_place *place)
{
    for (size_t i = 0; pattern.len > 0; i++) {
        struct writ_view token;
        pattern = writ_view_sub(pattern, 1, pattern.len);
        token = writ_view_sub(pattern, 0, writ_view_find(pattern, '/'));
        pattern = writ_view_sub(pattern, token.len, pattern.len);
        if (i >= place->depth ||
            (!writ_view_is(token, "*") && !writ_view_equal(token, place->path[i]))) {
            return false;
        }
    }
    return true;
}

static bool
is_listed(const struct writ_views *patterns, const struct writ_texts_place *place)
{
    for (size_t i = 0; i < patterns->n; i++) {
        if (leads(patterns->items[i], place)) {
            return true;
        }
    }
    return false;
}

static bool
is_trusted_here(const struct walking *w, const struct writ_texts_place *place)
{
    return w->labels != NULL && (w->trusted || is_listed(&w->labels->trusted_at, place)) &&
           !is_listed(&w->labels->untrusted_at, place);
}

bool
writ_labels_may_trust(const struct writ_labels *labels, struct writ_view at)
{
    struct writ_view path[WRIT_TEXTS_DEPTH_MAX];
    struct writ_texts_place place = {.path = path, .at = at};
    struct walking w = {.labels = labels};

    if (labels == NULL) {
        return false;
    }
    w.trusted = labels->trusted || labels->believe_annotations || labels->believe_meta;
    if (at.len >= WRIT_FIELDS_AT_MAX) {
        return true; /* it may be cut */
    }
    while (at.len > 0 && place.depth < WRIT_TEXTS_DEPTH_MAX) {
        struct writ_view *token = &path[place.depth++];
        at = writ_view_sub(at, 1, at.len);
        *token = writ_view_sub(at, 0, writ_view_find(at, '/'));
        at = writ_view_sub(at, token->len, at.len);
    }
    return is_trusted_here(&w, &place);
}

static void
add_text(void *ctx, const struct writ_texts_place *place, struct writ_view text)
{
    struct walking *w = ctx;
    struct writ_field *field = writ_fields_find(w->fields, place->at);

    if (field != NULL) { /* the same place is as trusted as before */
        writ_fields_add_to(w->fields, field, text);
    } else {
        writ_fields_add(w->fields, place->at, is_trusted_here(w, place), text);
    }
}

static WRIT_RESULT
put_outcome(const struct findings *findings, const struct writ_run_flow *flow,
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
    if (flow->failed) {
        writ_write_flag(&w, "failed", true);
    }
    writ_write_name(&w, WRIT_LIT("fields"));
    writ_write_raw(&w, writ_buf_view(&marks));
    writ_write_text(&w, "key", flow->key);
    writ_write_name(&w, WRIT_LIT("labels"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < flow->labels_n; i++) {
        writ_write_string(&w, flow->labels[i]);
    }
    writ_write_array_end(&w);
    if (findings->labels != NULL && findings->labels->resource.len > 0) {
        writ_write_text(&w, "resource", findings->labels->resource);
    }
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    *ret = writ_buf_view(&text);
    return WRIT_DONE;
}

WRIT_RESULT
writ_labels_outcome(const struct writ_labels *labels, const unsigned *hints,
    const struct writ_json *result, bool unseen, const struct writ_mark_key *key,
    struct writ_arena *arena, struct writ_run_flow *ret, struct writ_err *err)
{
    struct writ_fields *fields = writ_arena_zeroed(arena, sizeof *fields);
    struct writ_run_flow flow = {.fields = fields,
        .key = writ_mark_key_id(key),
        .failed = writ_json_is_true(result, WRIT_LIT("isError"))};
    struct writ_views kept;
    struct set set = {.n = 0};
    struct findings findings;
    struct walking w = {.labels = labels, .trusted = is_trusted(labels, hints), .fields = fields};

    if (fields == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the values of a result");
    }
    fields->arena = arena;
    expect(labels, hints, &set);
    if (labels != NULL && labels->believe_meta) {
        w.trusted = believe(result, &set) || w.trusted;
    }
    detect(labels, result, unseen, &set, arena, &findings);
    if (findings.untrusted) {
        w.labels = NULL;
    }
    if (set.cut) {
        WRIT_FAIL(err, WRIT_E_LIMIT,
            "a result has more than %d labels, or one of more than %d bytes", LABELS_MAX,
            WRIT_RUN_LABEL_MAX);
    }
    if (result != NULL && !writ_texts_each(result, arena, add_text, &w)) {
        fields->cut = true;
    }
    WRIT_TRY(keep_set(&set, arena, &kept));
    flow.labels = kept.items;
    flow.labels_n = kept.n;
    WRIT_TRY(put_outcome(&findings, &flow, fields, key, arena, &flow.text, err));
    *ret = flow;
    return WRIT_DONE;
}
