/* Formats are bits that texts rule out. A shape is the order of the classes of characters in a
 * text; texts of the same order share it, and it keeps the least and the greatest length of each
 * run. */
#include "policy/learn/texts.h"

#include "base/utf8.h"

#define FORMAT_BYTES_MAX 256 /* of a text that may have a format or a shape */
#define SHAPE_BYTES_MAX  64
#define COMMON_MAX       64 /* bytes of a common beginning */

#define UPPER 1
#define LOWER 2
#define DIGIT 3

static const struct {
    const char *name, *pattern;
} own[] = {
    {"integer", "-?[0-9]{1,18}"},
    {"hexadecimal digest", "[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}"},
};

WRIT_RESULT
writ_texts_init(struct writ_text_forms *ret, struct writ_err *err)
{
    static const struct {
        const char *kind, *name, *pattern;
    } known[] = {
#define WRIT_FORMAT(name, kind, pattern) {#kind, name, pattern},
#include "policy/propose/format.tbl.h"
#undef WRIT_FORMAT
    };

    *ret = (struct writ_text_forms){.n = 0};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (writ_view_is(writ_view_str(known[i].kind), "PATTERN") &&
            !writ_view_is(writ_view_str(known[i].name), "email")) { /* its domain says more */
            ret->formats[ret->n].name = known[i].name;
            ret->formats[ret->n++].pattern = writ_view_str(known[i].pattern);
        }
    }
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        ret->formats[ret->n].name = own[i].name;
        ret->formats[ret->n++].pattern = writ_view_str(own[i].pattern);
    }
    WRIT_INVARIANT(ret->n <= WRIT_TEXTS_FORMATS_MAX);
    for (size_t i = 0; i < ret->n; i++) {
        WRIT_TRY(writ_pattern_new(ret->formats[i].pattern, &ret->formats[i].compiled, err));
    }
    WRIT_TRY(writ_pattern_new(WRIT_LIT(WRIT_TEXTS_LINE), &ret->line, err));
    return writ_pattern_new(WRIT_LIT(WRIT_TEXTS_LINES), &ret->lines, err);
}

void
writ_texts_wipe(struct writ_text_forms *forms)
{
    for (size_t i = 0; i < forms->n; i++) {
        writ_pattern_free(forms->formats[i].compiled);
    }
    writ_pattern_free(forms->line);
    writ_pattern_free(forms->lines);
    *forms = (struct writ_text_forms){.n = 0};
}

/* ---- shapes */

/* The class of a character, or the sign itself; 0 for one that no shape has. */
static unsigned char
class_of(char c)
{
    return c >= 'A' && c <= 'Z'                           ? UPPER
           : c >= 'a' && c <= 'z'                         ? LOWER
           : c >= '0' && c <= '9'                         ? DIGIT
           : writ_view_find(WRIT_LIT("-_.:/#@+,"), c) < 9 ? (unsigned char)c
                                                          : 0;
}

static bool
shape_of(struct writ_view text, struct writ_text_shape *ret)
{
    *ret = (struct writ_text_shape){.n = 0};
    if (text.len == 0 || text.len > SHAPE_BYTES_MAX) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        unsigned char class = class_of(text.ptr[i]);

        if (class == 0) {
            return false;
        }
        if (ret->n == 0 || class > DIGIT || ret->tokens[ret->n - 1] != class) {
            if (ret->n == WRIT_TEXTS_TOKENS_MAX) {
                return false;
            }
            ret->tokens[ret->n++] = class;
        }
        ret->least[ret->n - 1]++;
        ret->most[ret->n - 1]++;
    }
    return true;
}

static bool
is_same_shape(const struct writ_text_shape *a, const struct writ_text_shape *b)
{
    return writ_view_equal(writ_view(a->tokens, a->n), writ_view(b->tokens, b->n));
}

static writ_result
add_shape(struct writ_texts *texts, struct writ_view text, struct writ_seen_in *in)
{
    struct writ_text_shape shape;
    size_t at = 0;

    if (texts->shapeless || !shape_of(text, &shape)) {
        texts->shapeless = true;
        return WRIT_DONE;
    }
    if (texts->shapes == NULL) {
        texts->shapes = writ_arena_get(in->arena, WRIT_TEXTS_SHAPES_MAX * sizeof *texts->shapes);
        if (texts->shapes == NULL) {
            return (writ_result){WRIT_E_NOMEM};
        }
    }
    while (at < texts->shapes_n && !is_same_shape(&texts->shapes[at], &shape)) {
        at++;
    }
    if (at == WRIT_TEXTS_SHAPES_MAX) {
        texts->shapeless = true;
        return WRIT_DONE;
    }
    if (at == texts->shapes_n) {
        texts->shapes[texts->shapes_n++] = shape;
    }
    for (size_t i = 0; i < shape.n; i++) {
        struct writ_text_shape *known = &texts->shapes[at];
        known->least[i] = shape.least[i] < known->least[i] ? shape.least[i] : known->least[i];
        known->most[i] = shape.most[i] > known->most[i] ? shape.most[i] : known->most[i];
    }
    return writ_seen_sight(&texts->shapes[at].seen, in);
}

uint64_t
writ_texts_shapes_cost(const struct writ_texts *texts, bool by_run)
{
    uint64_t cost = 0;

    for (size_t i = 0; i < texts->shapes_n; i++) {
        cost += writ_seen_sighting_cost(&texts->shapes[i].seen, by_run);
    }
    return cost;
}

void
writ_texts_quote(struct writ_view text, struct writ_buf *ret)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        if (!word && c > ' ' && c < 0x7f) {
            writ_buf_byte(ret, '\\');
        }
        writ_buf_byte(ret, c);
    }
}

/* A run whose length differs may be twice as long as the longest one. */
static void
put_run(const struct writ_text_shape *shape, size_t at, struct writ_buf *ret)
{
    static const char *const classes[] = {"", "[A-Z]", "[a-z]", "[0-9]"};
    unsigned least = shape->least[at], most = shape->most[at];

    if (shape->tokens[at] > DIGIT) {
        char sign = (char)shape->tokens[at];
        writ_texts_quote(writ_view(&sign, 1), ret);
    } else if (least == most) {
        writ_buf_fmt(ret, "%s{%u}", classes[shape->tokens[at]], most);
    } else {
        writ_buf_fmt(ret, "%s{1,%u}", classes[shape->tokens[at]], most * 2);
    }
}

void
writ_texts_shapes_put(const struct writ_texts *texts, struct writ_buf *ret)
{
    for (size_t i = 0; i < texts->shapes_n; i++) {
        writ_buf_str(ret, i > 0 ? "|" : "");
        for (size_t at = 0; at < texts->shapes[i].n; at++) {
            put_run(&texts->shapes[i], at, ret);
        }
    }
}

/* ---- texts */

/* Without an answer the text does not have the form. */
static bool
has(const struct writ_pattern *pattern, struct writ_view text, struct writ_arena *scratch)
{
    return writ_pattern_match(pattern, text, scratch) == WRIT_PATTERN_YES;
}

static writ_result
add_common(struct writ_texts *texts, struct writ_view text, struct writ_arena *arena)
{
    size_t len = 0, whole = 0;

    if (texts->n == 0) {
        texts->common = writ_view_copy(writ_view_sub(text, 0, COMMON_MAX), arena);
        if (texts->common.ptr == NULL) {
            return (writ_result){WRIT_E_NOMEM};
        }
    }
    while (len < texts->common.len && len < text.len && text.ptr[len] == texts->common.ptr[len]) {
        len++;
    }
    while (whole < len) { /* whole characters */
        uint32_t point;
        size_t next = writ_utf8_character(writ_view_sub(texts->common, whole, len - whole), &point);
        if (next == 0) {
            break;
        }
        whole += next;
    }
    texts->common.len = whole;
    return WRIT_DONE;
}

WRIT_RESULT
writ_texts_add(struct writ_texts *texts, const struct writ_text_forms *forms, struct writ_view text,
    struct writ_seen_in *in, struct writ_arena *scratch)
{
    struct writ_decimal length = writ_decimal_of((int64_t)writ_utf8_points(text));

    for (size_t i = 0; i < forms->n; i++) {
        uint32_t bit = (uint32_t)1 << i;
        if ((texts->not_formats & bit) == 0 &&
            (text.len > FORMAT_BYTES_MAX || !has(forms->formats[i].compiled, text, scratch))) {
            texts->not_formats |= bit;
        }
    }
    texts->not_line = texts->not_line || !has(forms->line, text, scratch);
    texts->not_lines = texts->not_lines || !has(forms->lines, text, scratch);
    texts->empty = texts->empty || text.len == 0;
    WRIT_TRY(add_common(texts, text, in->arena));
    WRIT_TRY(add_shape(texts, text, in));
    texts->n++;
    return writ_extreme_add(&texts->longest, &length, in);
}

size_t
writ_texts_format(const struct writ_texts *texts, const struct writ_text_forms *forms)
{
    size_t i = 0;

    while (i < forms->n && (texts->not_formats & (uint32_t)1 << i) != 0) {
        i++;
    }
    return i;
}
