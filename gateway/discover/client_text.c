/* client_text.c - edits of a client's file. `bare` is the text with comments and byte order mark
 * blanked, `plain` also without the commas that JSON does not have; both are as long as the text,
 * so that an offset in one is an offset in all.
 *
 * (1) An edit is a splice of the text itself, and its result is read again before it is taken.
 * (2) A comma is inserted or removed by its place in `bare`: never one of a comment. */
#include "gateway/discover/client_text.h"

#include "base/text.h"

#define ARENA_MAX  ((size_t)1 << 30)
#define VALUES_MAX ((size_t)1 << 20)
#define DEPTH_MAX  64
#define UNIT       "  " /* of indentation, in a file without any */

static const struct writ_json_limits limits = {.bytes = WRIT_CLIENT_TEXT_MAX,
    .depth = DEPTH_MAX,
    .values = VALUES_MAX,
    .name_bytes = 65536,
    .string_bytes = WRIT_CLIENT_TEXT_MAX,
    .number_bytes = 256};

struct doc {
    struct writ_view text, bare, plain;
    bool empty; /* no value; `plain` is then "{}" */
    const struct writ_json *root;
};

/* Where a path leads, as offsets. */
struct place {
    const struct writ_json *object; /* the innermost one that is there */
    size_t object_at;               /* of its brace */
    size_t found;                   /* names that lead to it, and to the member if it is there */
    bool there;
    /* of the member that is there */
    size_t name_at, value_at, value_end;
    bool first;
    size_t before_end; /* of the value before it, if it is not the first */
};

/* ---- reading */

static bool
is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static size_t
skip_space(struct writ_view text, size_t at)
{
    while (at < text.len && is_space(text.ptr[at])) {
        at++;
    }
    return at;
}

/* From the opening quote to behind the closing one. */
static size_t
skip_string(struct writ_view text, size_t at)
{
    for (at++; at < text.len && text.ptr[at] != '"'; at++) {
        at += text.ptr[at] == '\\';
    }
    return at < text.len ? at + 1 : text.len;
}

/* From the first byte of a value to behind its last one. */
static size_t
skip_value(struct writ_view plain, size_t at)
{
    size_t depth = 0;

    do {
        char c = plain.ptr[at];

        if (c == '"') {
            at = skip_string(plain, at);
            continue;
        }
        depth += c == '{' || c == '[';
        if (c == '}' || c == ']') {
            depth--;
        }
        at++;
        while (depth == 0 && c != '}' && c != ']' && at < plain.len && !is_space(plain.ptr[at]) &&
               plain.ptr[at] != ',' && plain.ptr[at] != '}' && plain.ptr[at] != ']') {
            at++; /* the rest of a number or a word */
        }
    } while (depth > 0 && at < plain.len);
    return at;
}

static size_t
end_of_comment(struct writ_view text, size_t at)
{
    struct writ_view rest = writ_view_sub(text, at + 2, text.len);
    size_t end;

    if (text.ptr[at + 1] == '/') {
        return at + 2 + writ_view_find(rest, '\n');
    }
    end = writ_view_search(rest, WRIT_LIT("*/"));
    return end == rest.len ? at : at + 2 + end + 2; /* one that does not end is a fault */
}

static void
blank(char *bytes, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        bytes[i] = bytes[i] == '\n' || bytes[i] == '\r' ? bytes[i] : ' ';
    }
}

static void
blank_comments(struct writ_view text, char *bare)
{
    size_t at = 0;

    if (writ_view_has_prefix(text, WRIT_LIT("\xef\xbb\xbf"))) {
        blank(bare, 0, 3);
        at = 3;
    }
    while (at < text.len) {
        bool comment = text.ptr[at] == '/' && at + 1 < text.len &&
                       (text.ptr[at + 1] == '/' || text.ptr[at + 1] == '*');
        size_t end = comment ? end_of_comment(text, at) : at;

        blank(bare, at, end);
        at = text.ptr[at] == '"' ? skip_string(text, at) : end > at ? end : at + 1;
    }
}

/* The comma behind the last element: after a value, before a closing bracket. */
static void
blank_commas(struct writ_view bare, char *plain)
{
    char before = '\0';

    for (size_t at = 0; at < bare.len;) {
        char c = bare.ptr[at];

        if (c == ',') {
            size_t next = skip_space(bare, at + 1);
            bool last = next < bare.len && (bare.ptr[next] == '}' || bare.ptr[next] == ']');

            if (last && before != ',' && before != '[' && before != '{' && before != ':') {
                plain[at] = ' ';
            }
        }
        before = is_space(c) ? before : c;
        at = c == '"' ? skip_string(bare, at) : at + 1;
    }
}

static size_t
line_of(struct writ_view text, size_t offset)
{
    size_t line = 1;

    for (size_t i = 0; i < offset && i < text.len; i++) {
        line += text.ptr[i] == '\n';
    }
    return line;
}

static WRIT_RESULT
no_memory(struct writ_err *err)
{
    WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the file of a client");
}

static WRIT_RESULT
read_doc(struct writ_view text, struct writ_arena *arena, struct doc *ret, struct writ_err *err)
{
    struct writ_err why = {{0}, 0, 0};
    struct doc doc = {.text = text};
    char *bare, *plain;
    writ_result result;

    if (text.len > WRIT_CLIENT_TEXT_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "it is larger than %zu bytes", WRIT_CLIENT_TEXT_MAX);
    }
    bare = writ_arena_get(arena, text.len + 2);
    plain = writ_arena_get(arena, text.len + 2);
    if (bare == NULL || plain == NULL) {
        return no_memory(err);
    }
    doc.bare = writ_view_place(text, bare);
    blank_comments(text, bare);
    doc.plain = writ_view_place(doc.bare, plain);
    blank_commas(doc.bare, plain);
    doc.empty = skip_space(doc.plain, 0) == text.len;
    doc.plain = doc.empty ? WRIT_LIT("{}") : doc.plain;
    result = writ_json_read(doc.plain, &limits, arena, &doc.root, &why);
    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, result.code, "line %zu: %s", line_of(text, why.offset), why.text);
    }
    if (writ_json_type(doc.root) != WRIT_JSON_OBJECT) {
        WRIT_FAIL(err, WRIT_E_INVALID, "it is not a JSON object");
    }
    *ret = doc;
    return WRIT_DONE;
}

WRIT_RESULT
writ_client_text_read(struct writ_view text, struct writ_arena *arena, const struct writ_json **ret,
    struct writ_err *err)
{
    struct doc doc;

    WRIT_TRY(read_doc(text, arena, &doc, err));
    *ret = doc.root;
    return WRIT_DONE;
}

/* ---- finding */

static size_t
value_of(struct writ_view plain, size_t name_at)
{
    size_t colon = skip_space(plain, skip_string(plain, name_at));

    return skip_space(plain, colon + 1);
}

/* The member of the innermost object. */
static const struct writ_json *
find_member(const struct doc *doc, struct writ_view name, struct place *at)
{
    at->first = true;
    WRIT_JSON_EACH(each, at->object)
    {
        at->name_at = each->at;
        at->value_at = value_of(doc->plain, at->name_at);
        at->value_end = skip_value(doc->plain, at->value_at);
        if (writ_view_equal(writ_json_text(each), name)) {
            at->there = true;
            return writ_json_value(each);
        }
        at->first = false;
        at->before_end = at->value_end;
    }
    return NULL;
}

static WRIT_RESULT
find(const struct doc *doc, const struct writ_client_path *path, struct place *ret,
    struct writ_err *err)
{
    struct place at = {.object = doc->root, .object_at = skip_space(doc->plain, 0)};

    WRIT_INVARIANT(path->n > 0);
    for (size_t i = 0; i < path->n; i++) {
        const struct writ_json *value;

        at.there = false;
        value = find_member(doc, path->names[i], &at);
        if (value == NULL) {
            break;
        }
        at.found = i + 1;
        if (i + 1 < path->n) {
            if (writ_json_type(value) != WRIT_JSON_OBJECT) {
                WRIT_FAIL(err, WRIT_E_INVALID, "line %zu: " WRIT_VIEW_FMT " is not an object",
                    line_of(doc->text, at.value_at), WRIT_VIEW_ARG(path->names[i]));
            }
            at.object = value;
            at.object_at = at.value_at;
        }
    }
    at.there = at.found == path->n;
    *ret = at;
    return WRIT_DONE;
}

/* ---- layout */

struct layout {
    bool lines;              /* a member to a line */
    struct writ_view end;    /* of a line */
    struct writ_view unit;   /* one step of indentation */
    struct writ_view indent; /* of the member */
    size_t more;             /* units after it */
};

/* The white space that the line of `at` begins with. */
static struct writ_view
indent_at(struct writ_view text, size_t at)
{
    size_t from = at, to;

    while (from > 0 && text.ptr[from - 1] != '\n') {
        from--;
    }
    if (from == 0 && writ_view_has_prefix(text, WRIT_LIT("\xef\xbb\xbf"))) {
        from = 3;
    }
    for (to = from; to < at && (text.ptr[to] == ' ' || text.ptr[to] == '\t');) {
        to++;
    }
    return writ_view_sub(text, from, to - from);
}

static bool
begins_line(struct writ_view text, size_t at)
{
    struct writ_view indent = indent_at(text, at);

    return indent.ptr + indent.len == text.ptr + at && indent.ptr > text.ptr &&
           indent.ptr[-1] == '\n';
}

static struct layout
layout_of(const struct doc *doc, const struct place *at)
{
    const struct writ_json *first = writ_json_first(at->object), *top = writ_json_first(doc->root);
    bool breaks = writ_view_find(doc->text, '\n') < doc->text.len;
    struct layout layout = {.lines = breaks || top == NULL,
        .end = writ_view_search(doc->text, WRIT_LIT("\r\n")) < doc->text.len ? WRIT_LIT("\r\n")
                                                                             : WRIT_LIT("\n"),
        .unit = WRIT_LIT(UNIT)};

    if (top != NULL && begins_line(doc->text, top->at) && indent_at(doc->text, top->at).len > 0) {
        layout.unit = indent_at(doc->text, top->at);
    }
    if (first != NULL) {
        layout.lines = begins_line(doc->text, first->at);
        layout.indent = indent_at(doc->text, first->at);
    } else {
        layout.indent = doc->empty ? writ_view(NULL, 0) : indent_at(doc->text, at->object_at);
        layout.more = 1;
    }
    return layout;
}

static void
put_line(struct writ_buf *ret, const struct layout *layout, size_t deeper)
{
    writ_buf_put(ret, layout->end);
    writ_buf_put(ret, layout->indent);
    for (size_t i = 0; i < layout->more + deeper; i++) {
        writ_buf_put(ret, layout->unit);
    }
}

static bool
is_scalar_list(const struct writ_json *value)
{
    WRIT_JSON_EACH(item, value)
    {
        if (writ_json_first(item) != NULL) {
            return false;
        }
    }
    return writ_json_type(value) == WRIT_JSON_ARRAY;
}

/* Recursion as deep as a value is nested, which DEPTH_MAX limits. */
static void
put_value(
    struct writ_buf *ret, const struct writ_json *value, const struct layout *layout, size_t deeper)
{
    bool object = writ_json_type(value) == WRIT_JSON_OBJECT, list = is_scalar_list(value);
    bool lines = layout->lines && !list;

    switch (writ_json_type(value)) {
    case WRIT_JSON_STRING:
        writ_text_json(ret, writ_json_text(value));
        return;
    case WRIT_JSON_NUMBER:
        writ_buf_put(ret, writ_json_text(value));
        return;
    case WRIT_JSON_NONE:
    case WRIT_JSON_NULL:
        writ_buf_str(ret, "null");
        return;
    case WRIT_JSON_FALSE:
    case WRIT_JSON_TRUE:
        writ_buf_str(ret, writ_json_type(value) == WRIT_JSON_TRUE ? "true" : "false");
        return;
    case WRIT_JSON_ARRAY:
    case WRIT_JSON_OBJECT:
        break;
    }
    writ_buf_byte(ret, object ? '{' : '[');
    WRIT_JSON_EACH(item, value)
    {
        if (item != writ_json_first(value)) {
            writ_buf_str(ret, lines ? "," : ", ");
        }
        if (lines) {
            put_line(ret, layout, deeper + 1);
        }
        if (object) {
            writ_text_json(ret, writ_json_text(item));
            writ_buf_str(ret, ": ");
        }
        put_value(ret, object ? writ_json_value(item) : item, layout, deeper + 1);
    }
    if (lines && writ_json_first(value) != NULL) {
        put_line(ret, layout, deeper);
    }
    writ_buf_byte(ret, object ? '}' : ']');
}

/* ---- editing */

/* Behind the last byte before `at` that is not white space. */
static size_t
back_over_space(struct writ_view text, size_t at)
{
    while (at > 0 && is_space(text.ptr[at - 1])) {
        at--;
    }
    return at;
}

/* The rest of the path, and the value. */
static void
put_member(struct writ_buf *ret, const struct writ_client_path *path, size_t from,
    const struct writ_json *value, const struct layout *layout)
{
    size_t deeper = 0;

    for (size_t i = from; i < path->n; i++, deeper++) {
        if (i > from) {
            writ_buf_byte(ret, '{');
            if (layout->lines) {
                put_line(ret, layout, deeper);
            }
        }
        writ_text_json(ret, path->names[i]);
        writ_buf_str(ret, ": ");
    }
    put_value(ret, value, layout, deeper - 1);
    while (--deeper > 0) {
        if (layout->lines) {
            put_line(ret, layout, deeper - 1);
        }
        writ_buf_byte(ret, '}');
    }
}

static void
replace_member(const struct doc *doc, const struct place *at, const struct writ_json *value,
    struct writ_buf *ret)
{
    struct layout layout = layout_of(doc, at);

    layout.indent = indent_at(doc->text, at->name_at);
    layout.more = 0;
    layout.lines = layout.lines && begins_line(doc->text, at->name_at);
    writ_buf_put(ret, writ_view_sub(doc->text, 0, at->value_at));
    put_value(ret, value, &layout, 0);
    writ_buf_put(ret, writ_view_sub(doc->text, at->value_end, doc->text.len));
}

/* Into an object without members, or a text without an object. */
static void
put_first(const struct doc *doc, const struct writ_client_path *path, const struct place *at,
    const struct writ_json *value, struct writ_buf *ret)
{
    struct layout layout = layout_of(doc, at);
    size_t close = doc->empty ? doc->text.len : skip_value(doc->plain, at->object_at) - 1;
    size_t from = back_over_space(doc->text, close);

    writ_buf_put(ret, writ_view_sub(doc->text, 0, from));
    if (doc->empty) { /* a comment may end there */
        writ_buf_put(ret, from > 0 ? layout.end : WRIT_LIT(""));
        writ_buf_byte(ret, '{');
    }
    if (layout.lines) {
        put_line(ret, &layout, 0);
    }
    put_member(ret, path, at->found, value, &layout);
    layout.more = 0;
    if (layout.lines) {
        put_line(ret, &layout, 0);
    }
    writ_buf_put(ret, doc->empty ? WRIT_LIT("}") : WRIT_LIT(""));
    writ_buf_put(ret, doc->empty ? layout.end : writ_view_sub(doc->text, close, doc->text.len));
}

/* Behind the last member: with lines, after the comment that follows it. */
static void
put_last(const struct doc *doc, const struct writ_client_path *path, const struct place *at,
    const struct writ_json *value, struct writ_buf *ret)
{
    struct layout layout = layout_of(doc, at);
    size_t close = skip_value(doc->plain, at->object_at) - 1;
    size_t end = at->before_end;
    struct writ_view between = writ_view_sub(doc->bare, end, close - end);
    bool comma = writ_view_find(between, ',') < between.len;
    size_t from = layout.lines ? back_over_space(doc->text, close) : end;

    writ_buf_put(ret, writ_view_sub(doc->text, 0, end));
    writ_buf_str(ret, layout.lines && comma ? "" : ",");
    writ_buf_put(ret, writ_view_sub(doc->text, end, from - end));
    if (layout.lines) {
        put_line(ret, &layout, 0);
    } else {
        writ_buf_byte(ret, ' ');
    }
    put_member(ret, path, at->found, value, &layout);
    writ_buf_put(ret, writ_view_sub(doc->text, from, doc->text.len));
}

/* keeps (1) */
static WRIT_RESULT
take(struct writ_buf *text, struct writ_buf *changed, struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    const struct writ_json *again;
    writ_result result = writ_buf_check(changed, err);

    if (writ_is_ok(result)) {
        result = arena == NULL ? no_memory(err)
                               : writ_client_text_read(writ_buf_view(changed), arena, &again, err);
    }
    if (!writ_is_ok(result)) {
        writ_buf_wipe_secret(changed);
        return result;
    }
    writ_buf_wipe_secret(text);
    *text = *changed;
    return WRIT_DONE;
}

WRIT_RESULT
writ_client_text_put(struct writ_buf *text, const struct writ_client_path *path,
    struct writ_view value, struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    struct writ_buf changed = writ_buf_make(WRIT_CLIENT_TEXT_MAX);
    const struct writ_json *wanted;
    struct place at;
    struct doc doc;

    if (arena == NULL) {
        return no_memory(err);
    }
    WRIT_TRY(writ_json_read(value, &limits, arena, &wanted, err));
    WRIT_TRY(read_doc(writ_buf_view(text), arena, &doc, err));
    WRIT_TRY(find(&doc, path, &at, err));
    if (at.there) {
        replace_member(&doc, &at, wanted, &changed);
    } else if (writ_json_first(at.object) == NULL) {
        put_first(&doc, path, &at, wanted, &changed);
    } else {
        put_last(&doc, path, &at, wanted, &changed);
    }
    return take(text, &changed, err);
}

/* Whether nothing but white space follows on the line. */
static bool
ends_line(struct writ_view text, size_t at)
{
    while (at < text.len && text.ptr[at] != '\n' && is_space(text.ptr[at])) {
        at++;
    }
    return at < text.len && text.ptr[at] == '\n';
}

/* The comma that goes with a member: the one behind it if another member follows, else the one
 * before it, else one behind it that only `bare` has. text.len: there is none. keeps (2) */
static size_t
comma_of(const struct doc *doc, const struct place *at)
{
    size_t behind = skip_space(doc->bare, at->value_end);
    size_t next = skip_space(doc->plain, at->value_end);
    struct writ_view before = writ_view_sub(doc->bare, 0, at->name_at);

    if (doc->plain.ptr[next] == ',') {
        return next;
    }
    if (!at->first) {
        return at->before_end +
               writ_view_find(writ_view_sub(before, at->before_end, before.len), ',');
    }
    return behind < doc->bare.len && doc->bare.ptr[behind] == ',' ? behind : doc->text.len;
}

/* The part of the text, without the byte at `comma`. */
static void
put_without(struct writ_buf *ret, struct writ_view text, size_t from, size_t to, size_t comma)
{
    if (comma >= from && comma < to) {
        writ_buf_put(ret, writ_view_sub(text, from, comma - from));
        from = comma + 1;
    }
    writ_buf_put(ret, writ_view_sub(text, from, to - from));
}

static void
cut_member(const struct doc *doc, const struct place *at, struct writ_buf *ret)
{
    size_t comma = comma_of(doc, at), from = at->name_at, to = at->value_end;
    size_t space = back_over_space(doc->text, from);
    struct writ_view gap = writ_view_sub(doc->text, space, from - space);

    if (writ_view_find(gap, '\n') == gap.len || ends_line(doc->text, comma == to ? to + 1 : to)) {
        from = space;
    }
    put_without(ret, doc->text, 0, from, comma);
    put_without(ret, doc->text, to, doc->text.len, comma);
}

WRIT_RESULT
writ_client_text_remove(
    struct writ_buf *text, const struct writ_client_path *path, struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    struct writ_buf changed = writ_buf_make(WRIT_CLIENT_TEXT_MAX);
    struct place at;
    struct doc doc;

    if (arena == NULL) {
        return no_memory(err);
    }
    WRIT_TRY(read_doc(writ_buf_view(text), arena, &doc, err));
    WRIT_TRY(find(&doc, path, &at, err));
    if (!at.there) {
        WRIT_FAIL(err, WRIT_E_ABSENT, "it has no such member");
    }
    cut_member(&doc, &at, &changed);
    return take(text, &changed, err);
}

WRIT_RESULT
writ_client_text_get(struct writ_view text, const struct writ_client_path *path,
    struct writ_view *ret, struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    struct place at;
    struct doc doc;

    if (arena == NULL) {
        return no_memory(err);
    }
    WRIT_TRY(read_doc(text, arena, &doc, err));
    WRIT_TRY(find(&doc, path, &at, err));
    *ret = at.there ? writ_view_sub(text, at.value_at, at.value_end - at.value_at)
                    : writ_view(NULL, 0);
    return WRIT_DONE;
}
