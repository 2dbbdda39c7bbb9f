/* One pass over the text, without recursion: values are appended to the tape as they come.
 *
 * (1) nodes[0 .. used) are in document order. An open container keeps its parent's index in
 *     `span` until it is closed; `open` is the innermost one.
 * (2) Every byte is read only after `at < end`; the text need not end with NUL.
 * (3) A node is appended only after there was room for it within its limit, and a container is
 * closed only after its names were found to be distinct. */
#include "base/utf8.h"
#include "evidence/json/json.h"

#include "evidence/json/ahead.h"
#include "evidence/json/escape.h"
#include "evidence/json/jcs.h"
#include "evidence/json/spelling.h"

#define NO_NODE        UINT32_MAX
#define ROOM_LEAST     16
#define ROOM_GUESS_MAX 1024 /* nodes made room for before any was read */
#define LIST_BINS      32   /* 2^31 members: more than any text holds */

const struct writ_json_limits writ_json_limits_default = {
    .bytes = 1 << 20,
    .depth = 64,
    .values = 65536,
    .name_bytes = 1024,
    .string_bytes = 1 << 20,
    .number_bytes = 256,
};

struct reader {
    const char *at, *end;
    struct writ_view text;
    struct writ_json *nodes;
    uint32_t used, room;
    uint32_t open;
    uint32_t depth;
    struct writ_buf spare; /* where strings with escapes go */
    const struct writ_json_limits *limits;
    const struct writ_ahead *ahead; /* or NULL */
    struct writ_arena *arena;
    struct writ_err *err;
};

/* ---- failing */

static size_t
offset_of(const struct reader *r, const char *at)
{
    return (size_t)(at - r->text.ptr);
}

static __attribute__((cold, noinline)) writ_result
refuse(const struct reader *r, const char *at, const char *what)
{
    size_t offset = offset_of(r, at);

    WRIT_FAIL_AT(r->err, WRIT_E_PARSE, offset, "%s at byte %zu", what, offset);
}

static __attribute__((cold, noinline)) writ_result
refuse_limit(const struct reader *r, const char *at, const char *what, size_t most)
{
    size_t offset = offset_of(r, at);

    WRIT_FAIL_AT(
        r->err, WRIT_E_LIMIT, offset, "%s (the limit is %zu) at byte %zu", what, most, offset);
}

static __attribute__((cold, noinline)) writ_result
no_memory(const struct reader *r)
{
    WRIT_FAIL_AT(r->err, WRIT_E_NOMEM, offset_of(r, r->at), "no memory left to read the JSON text");
}

static __attribute__((cold, noinline)) writ_result
refuse_value(const struct reader *r)
{
    if (r->at == r->end) {
        return refuse(r, r->at, r->used == 0 ? "no value: the text ends" : "the text breaks off");
    }
    if (offset_of(r, r->at) == 0 && writ_view_has_prefix(r->text, WRIT_LIT("\xef\xbb\xbf"))) {
        return refuse(r, r->at, "byte order mark");
    }
    return refuse(r, r->at, "not a JSON value");
}

/* ---- nodes */

/* Makes the tape longer. The old one stays in the arena: doubling limits the waste to a factor. */
static __attribute__((noinline)) writ_result
grow(struct reader *r)
{
    size_t most = r->limits->values < NO_NODE ? r->limits->values : NO_NODE - 1;
    size_t room = (size_t)r->room * 2;
    struct writ_json *nodes;

    if (r->used >= most) {
        return refuse_limit(r, r->at, "too many values", r->limits->values);
    }
    if (room == 0) {
        room = r->text.len / 8; /* text has some 16 bytes for each value */
        room = room > ROOM_GUESS_MAX ? ROOM_GUESS_MAX : room < ROOM_LEAST ? ROOM_LEAST : room;
    }
    room = room < most ? room : most;
    nodes = writ_arena_get(r->arena, room * sizeof *nodes);
    if (nodes == NULL) {
        return no_memory(r);
    }
    for (uint32_t i = 0; i < r->used; i++) {
        nodes[i] = r->nodes[i];
    }
    r->nodes = nodes;
    r->room = (uint32_t)room;
    return WRIT_DONE;
}

static inline writ_result
make_room(struct reader *r)
{
    return r->used == r->room ? grow(r) : WRIT_DONE;
}

/* Appends a node that begins at `at`; the tape has room. Elements are counted here, members with
 * their names. */
static inline struct writ_json *
append(struct reader *r, enum writ_json_type type, const char *at)
{
    struct writ_json *node = &r->nodes[r->used++];

    if (r->open != NO_NODE) {
        struct writ_json *parent = &r->nodes[r->open];
        parent->count += parent->type == WRIT_JSON_ARRAY;
    }
    *node = (struct writ_json){.type = (uint8_t)type, .span = 1, .at = (uint32_t)offset_of(r, at)};
    return node;
}

/* ---- strings */

/* "\uXXXX", or two of them for a character beyond U+FFFF. */
static writ_result
read_unicode_escape(struct reader *r, const char **at)
{
    int32_t unit = writ_escape_unit(*at, r->end);
    uint32_t point = (uint32_t)unit;

    if (unit < 0) {
        return refuse(r, *at, "malformed \\u escape");
    }
    if (unit >= 0xd800 && unit <= 0xdfff) {
        int32_t low = unit <= 0xdbff ? writ_escape_unit(*at + 6, r->end) : -1;
        if (low < 0xdc00 || low > 0xdfff) {
            return refuse(r, *at, "lone surrogate");
        }
        point = 0x10000 + ((uint32_t)(unit - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
        *at += 6;
    }
    *at += 6;
    r->spare.len += writ_escape_utf8(point, r->spare.ptr + r->spare.len);
    return WRIT_DONE;
}

/* The escape at `*at`, which stands on the backslash. Its bytes are not more than it has itself. */
static inline writ_result
read_escape(struct reader *r, const char **at)
{
    char byte;

    if (r->end - *at < 2) {
        return refuse(r, r->end, "unterminated string");
    }
    if ((*at)[1] == 'u') {
        return read_unicode_escape(r, at);
    }
    byte = writ_escape_short[(unsigned char)(*at)[1]];
    if (byte == '\0') {
        return refuse(r, *at, "unknown escape");
    }
    r->spare.ptr[r->spare.len++] = byte;
    *at += 2;
    return WRIT_DONE;
}

/* Room for every unescaped string of the text at once: none is longer than its source, so what is
 * left of it is never less than what is left of the text. */
static writ_result
make_spare(struct reader *r)
{
    size_t room = (size_t)(r->end - r->at);
    void *memory;

    if (r->spare.ptr == NULL) {
        memory = writ_arena_get(r->arena, room);
        if (memory == NULL) {
            return no_memory(r);
        }
        r->spare = writ_buf_over(memory, room);
    }
    return WRIT_DONE;
}

/* Unescapes up to the closing quote, or to `most` if that comes first. */
static inline writ_result
unescape_to(struct reader *r, const char *most, const char **at)
{
    while (*at < most) {
        const char *from = *at;
        uint32_t point;
        size_t len;
        *at = writ_escape_copy(from, most, r->spare.ptr + r->spare.len);
        r->spare.len += (size_t)(*at - from);
        if (*at == most || **at == '"') {
            return WRIT_DONE;
        }
        if (**at == '\\') {
            WRIT_TRY(read_escape(r, at));
            continue;
        }
        len = writ_utf8_character(writ_view(*at, (size_t)(r->end - *at)), &point);
        if (len <= 1) {
            return refuse(r, *at, len == 0 ? "invalid UTF-8" : "control character in a string");
        }
        (void)writ_view_place(writ_view(*at, len), r->spare.ptr + r->spare.len);
        r->spare.len += len;
        *at += len;
    }
    return WRIT_DONE;
}

/* A string of which the unescaping is left to its reader: nothing of its room, which is as long as
 * its source, is touched before. NULL: memory is exhausted. */
static struct writ_json_late *
make_late(struct reader *r, const char *start, const struct writ_spelling *spelling,
    struct writ_view *ret)
{
    struct writ_json_late *late = writ_arena_get(r->arena, sizeof *late);

    if (late != NULL) {
        *late = (struct writ_json_late){.source = writ_view(start, spelling->source),
            .room = r->spare.ptr + r->spare.len,
            .canonical = spelling->canonical};
        *ret = writ_view(late->room, spelling->bytes);
        r->spare.len += spelling->source;
    }
    return late;
}

/* NULL: it is not valid, or memory is exhausted. */
static struct writ_json_late *
read_late(struct reader *r, const char *start, const char **at, struct writ_view *ret)
{
    struct writ_spelling spelling = writ_spelling_begin();
    struct writ_view rest = writ_view(start, (size_t)(r->end - start));

    if (writ_spelling_read(&spelling, rest) != WRIT_SPELLING_CLOSED) {
        return NULL;
    }
    *at = start + spelling.source;
    return make_late(r, start, &spelling, ret);
}

/* From the first backslash on; `start` is the first byte of the string and `*at` the backslash.
 * Leaves `*at` on the closing quote. Without `ret_late` it is unescaped at once. */
static __attribute__((noinline)) writ_result
read_escaped(struct reader *r, const char *start, const char **at, struct writ_view *ret,
    struct writ_json_late **ret_late)
{
    size_t least = r->limits->late_bytes;
    bool may_be_late = ret_late != NULL && (size_t)(r->end - start) > least;
    const char *most = may_be_late ? start + least : r->end;
    struct writ_view plain = writ_view(start, (size_t)(*at - start));
    size_t before;

    WRIT_TRY(make_spare(r));
    before = r->spare.len;
    if (*at < most) {
        writ_buf_put(&r->spare, plain);
        WRIT_TRY(unescape_to(r, most, at));
    }
    if (may_be_late && *at >= most) {
        r->spare.len = before;
        *ret_late = read_late(r, start, at, ret);
        if (*ret_late != NULL) {
            return WRIT_DONE;
        }
        *at = start + plain.len; /* again, for what is wrong */
        writ_buf_put(&r->spare, plain);
        WRIT_TRY(unescape_to(r, r->end, at));
    }
    WRIT_TRY(writ_buf_check(&r->spare, r->err));
    if (*at == r->end) {
        return refuse(r, r->end, "unterminated string");
    }
    *ret = writ_view(r->spare.ptr + before, r->spare.len - before);
    return WRIT_DONE;
}

/* A string that was checked while the text arrived. */
static writ_result
take_ahead(struct reader *r, const char *start, const struct writ_spelling *spelling,
    struct writ_view *ret, struct writ_json_late **ret_late)
{
    *ret = writ_view(start, spelling->source);
    if (spelling->escaped) {
        WRIT_TRY(make_spare(r));
        *ret_late = make_late(r, start, spelling, ret);
        if (*ret_late == NULL) {
            return no_memory(r);
        }
    }
    r->at = start + spelling->source + 1;
    return WRIT_DONE;
}

/* A string from its opening quote to the byte after its closing one. */
static writ_result
read_string(
    struct reader *r, struct writ_view *ret, bool *ret_escaped, struct writ_json_late **ret_late)
{
    const char *start = r->at + 1, *at;
    const struct writ_spelling *spelling =
        r->ahead != NULL && ret_late != NULL ? writ_ahead_string(r->ahead, start) : NULL;

    if (spelling != NULL && spelling->source < (size_t)(r->end - start)) {
        *ret_escaped = spelling->escaped;
        return take_ahead(r, start, spelling, ret, ret_late);
    }
    at = writ_escape_skip(start, r->end);
    while (at < r->end && *at != '"') {
        uint32_t point;
        size_t len;
        if (*at == '\\') {
            WRIT_TRY(read_escaped(r, start, &at, ret, ret_late));
            *ret_escaped = true;
            r->at = at + 1;
            return WRIT_DONE;
        }
        len = writ_utf8_character(writ_view(at, (size_t)(r->end - at)), &point);
        if (len <= 1) {
            return refuse(r, at, len == 0 ? "invalid UTF-8" : "control character in a string");
        }
        at = writ_escape_skip(at + len, r->end);
    }
    if (at == r->end) {
        return refuse(r, at, "unterminated string");
    }
    *ret = writ_view(start, (size_t)(at - start));
    r->at = at + 1;
    return WRIT_DONE;
}

static writ_result
append_string(struct reader *r, size_t most, const char *over, bool may_be_late)
{
    const char *start = r->at;
    struct writ_json *node;
    struct writ_view text = {NULL, 0};
    struct writ_json_late *late = NULL;
    bool escaped = false;

    WRIT_TRY(read_string(r, &text, &escaped, may_be_late ? &late : NULL));
    if (text.len > most) {
        return refuse_limit(r, start, over, most);
    }
    WRIT_TRY(make_room(r));
    node = append(r, WRIT_JSON_STRING, start);
    node->escaped = escaped;
    node->is_late = late != NULL;
    if (late != NULL) {
        node->late = late;
    } else {
        node->ptr = text.ptr;
    }
    node->len = (uint32_t)text.len;
    return WRIT_DONE;
}

/* ---- other scalars */

static writ_result
append_number(struct reader *r)
{
    struct writ_json *node;
    size_t len;
    double number;
    writ_result result = writ_number_prefix(
        writ_view(r->at, (size_t)(r->end - r->at)), r->limits->number_bytes, &len, &number);

    if (result.code == WRIT_E_LIMIT) {
        return refuse_limit(r, r->at, "number is too long", r->limits->number_bytes);
    }
    if (result.code == WRIT_E_INVALID) {
        return refuse(r, r->at, "number beyond the range of a double");
    }
    if (!writ_is_ok(result)) {
        return result.code == WRIT_E_NOMEM ? no_memory(r) : refuse(r, r->at, "malformed number");
    }
    WRIT_TRY(make_room(r));
    node = append(r, WRIT_JSON_NUMBER, r->at);
    node->ptr = r->at;
    node->len = (uint32_t)len;
    node->number = number;
    r->at += len;
    return WRIT_DONE;
}

static writ_result
append_literal(struct reader *r, struct writ_view literal, enum writ_json_type type)
{
    if (!writ_view_has_prefix(writ_view(r->at, (size_t)(r->end - r->at)), literal)) {
        return refuse_value(r);
    }
    WRIT_TRY(make_room(r));
    (void)append(r, type, r->at);
    r->at += literal.len;
    return WRIT_DONE;
}

/* ---- members in canonical order */

static void
link_to(struct writ_json *name, const struct writ_json *next)
{
    name->order = next != NULL ? (int32_t)(next - name) : 0;
}

static struct writ_json *
linked(struct writ_json *name)
{
    return name->order != 0 ? name + name->order : NULL;
}

/* Merges two lists in order. Of two equal names, notes the one that comes second in the text. */
static struct writ_json *
merge(struct writ_json *a, struct writ_json *b, const struct writ_json **twice)
{
    struct writ_json *first = NULL, *last = NULL;

    while (a != NULL && b != NULL) {
        int order = writ_jcs_compare(writ_view(a->ptr, a->len), writ_view(b->ptr, b->len));
        struct writ_json **from = order <= 0 ? &a : &b, *name = *from;
        if (order == 0 && *twice == NULL) {
            *twice = a < b ? b : a;
        }
        *from = linked(name);
        if (last == NULL) {
            first = name;
        } else {
            link_to(last, name);
        }
        last = name;
    }
    link_to(last, a != NULL ? a : b);
    return first;
}

/* A merge sort of the list: no memory, and at most n log n comparisons, so a peer gains nothing by
 * its choice of names. bins[i] is empty or a list of 2^i names. */
static struct writ_json *
sort(struct writ_json *list, const struct writ_json **twice)
{
    struct writ_json *bins[LIST_BINS] = {NULL}, *sorted = NULL;
    size_t i;

    while (list != NULL) {
        struct writ_json *run = list;
        list = linked(run);
        link_to(run, NULL);
        for (i = 0; bins[i] != NULL; i++) {
            run = merge(bins[i], run, twice);
            bins[i] = NULL;
        }
        bins[i] = run;
    }
    for (i = 0; i < LIST_BINS; i++) {
        if (bins[i] != NULL) {
            sorted = sorted == NULL ? bins[i] : merge(bins[i], sorted, twice);
        }
    }
    return sorted;
}

/* Links the names of a complete object in canonical order (RFC 8785 3.2.3), and refuses a
 * duplicate. Names that arrive in order are not sorted. keeps (3) */
static writ_result
link_members(const struct reader *r, struct writ_json *object)
{
    struct writ_json *name = object + 1;
    const struct writ_json *twice = NULL;
    bool in_order = true;

    link_to(object, name);
    for (;;) {
        struct writ_json *next = name + 1 + name[1].span;
        if (next == object + object->span) {
            break;
        }
        in_order = in_order && writ_jcs_compare(writ_view(name->ptr, name->len),
                                   writ_view(next->ptr, next->len)) < 0;
        link_to(name, next);
        name = next;
    }
    link_to(name, NULL);
    if (!in_order) {
        link_to(object, sort(linked(object), &twice));
    }
    if (twice != NULL) {
        return refuse(r, r->text.ptr + twice->at, "duplicate member name");
    }
    return WRIT_DONE;
}

/* ---- containers */

static inline void
skip_space(struct reader *r)
{
    while (
        r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t')) {
        r->at++;
    }
}

static inline bool
take(struct reader *r, char byte)
{
    skip_space(r);
    if (r->at < r->end && *r->at == byte) {
        r->at++;
        return true;
    }
    return false;
}

/* A member name and its colon. */
static writ_result
read_name(struct reader *r)
{
    skip_space(r);
    if (r->at == r->end || *r->at != '"') {
        return r->at == r->end ? refuse_value(r) : refuse(r, r->at, "expected a member name");
    }
    WRIT_TRY(append_string(r, r->limits->name_bytes, "member name is too long", false));
    r->nodes[r->open].count++;
    if (!take(r, ':')) {
        return r->at == r->end ? refuse_value(r) : refuse(r, r->at, "expected ':'");
    }
    return WRIT_DONE;
}

static writ_result
close_container(struct reader *r)
{
    struct writ_json *node = &r->nodes[r->open];
    uint32_t parent = node->span;

    node->span = r->used - r->open;
    if (node->type == WRIT_JSON_OBJECT && node->count > 0) {
        WRIT_TRY(link_members(r, node));
    }
    r->open = parent;
    r->depth--;
    return WRIT_DONE;
}

/* From an opening bracket to where the first value must come, or past an empty container. */
static writ_result
open_container(struct reader *r, enum writ_json_type type, bool *complete)
{
    size_t most = r->limits->depth < WRIT_JSON_DEPTH_MAX ? r->limits->depth : WRIT_JSON_DEPTH_MAX;
    struct writ_json *node;

    if (r->depth >= most) {
        return refuse_limit(r, r->at, "nested too deeply", most);
    }
    WRIT_TRY(make_room(r));
    node = append(r, type, r->at);
    r->at++;
    node->count = 0;
    node->span = r->open; /* keeps (1) */
    r->open = (uint32_t)(node - r->nodes);
    r->depth++;

    *complete = take(r, type == WRIT_JSON_ARRAY ? ']' : '}');
    if (*complete) {
        return close_container(r);
    }
    return type == WRIT_JSON_OBJECT ? read_name(r) : WRIT_DONE;
}

/* One value; `*complete` is false when it was only opened and its first value comes next. */
static writ_result
read_value(struct reader *r, bool *complete)
{
    skip_space(r);
    *complete = true;
    switch (r->at < r->end ? *r->at : '\0') {
    case '{':
        return open_container(r, WRIT_JSON_OBJECT, complete);
    case '[':
        return open_container(r, WRIT_JSON_ARRAY, complete);
    case '"':
        return append_string(
            r, r->limits->string_bytes, "string is too long", r->limits->late_bytes > 0);
    case 't':
        return append_literal(r, WRIT_LIT("true"), WRIT_JSON_TRUE);
    case 'f':
        return append_literal(r, WRIT_LIT("false"), WRIT_JSON_FALSE);
    case 'n':
        return append_literal(r, WRIT_LIT("null"), WRIT_JSON_NULL);
    case '-':
    case '0' ... '9':
        return append_number(r);
    default:
        return refuse_value(r);
    }
}

/* After a value inside a container: the end of the container, or up to where the next value must
 * come (`*complete` is then false). */
static writ_result
read_after(struct reader *r, bool *complete)
{
    bool array = r->nodes[r->open].type == WRIT_JSON_ARRAY;

    if (take(r, ',')) {
        *complete = false;
        return array ? WRIT_DONE : read_name(r);
    }
    if (take(r, array ? ']' : '}')) {
        return close_container(r);
    }
    if (r->at == r->end) {
        return refuse_value(r);
    }
    return refuse(r, r->at, array ? "expected ',' or ']'" : "expected ',' or '}'");
}

static writ_result
read_text(struct reader *r)
{
    bool complete = false;

    while (!complete) {
        WRIT_TRY(read_value(r, &complete));
        while (complete && r->open != NO_NODE) {
            WRIT_TRY(read_after(r, &complete));
        }
    }
    skip_space(r);
    if (r->at < r->end) {
        return refuse(r, r->at, "something follows the value");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_json_read(struct writ_view text, const struct writ_json_limits *limits,
    struct writ_arena *arena, const struct writ_json **ret, struct writ_err *err)
{
    return writ_json_read_known(text, limits, NULL, arena, ret, err);
}

WRIT_RESULT
writ_json_read_known(struct writ_view text, const struct writ_json_limits *limits,
    const struct writ_ahead *ahead, struct writ_arena *arena, const struct writ_json **ret,
    struct writ_err *err)
{
    size_t most = limits->bytes < WRIT_JSON_BYTES_MAX ? limits->bytes : WRIT_JSON_BYTES_MAX;
    struct reader r = {
        .text = text,
        .open = NO_NODE,
        .limits = limits,
        .ahead = ahead,
        .arena = arena,
        .err = err,
    };

    if (text.ptr == NULL) {
        r.text = WRIT_LIT("");
    }
    r.at = r.text.ptr;
    r.end = r.at + text.len;
    if (text.len > most) {
        return refuse_limit(&r, r.at + most, "the JSON text is too long", most);
    }
    WRIT_TRY(read_text(&r));
    *ret = r.nodes;
    return WRIT_DONE;
}
