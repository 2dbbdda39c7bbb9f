/* Matches without recursion: after a failed try the match goes back only to the last star. Steps
 * are capped, and a match that reaches a limit answers neither yes nor no. */
#include "policy/model/glob.h"

#include "base/utf8.h"

/* The code point at `at` and its length in bytes; the text is UTF-8. */
static uint32_t
point_at(struct writ_view text, size_t at, size_t *ret_len)
{
    unsigned char first = (unsigned char)text.ptr[at];
    size_t len = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    uint32_t point = len == 1 ? first : first & (0x7fU >> len);

    for (size_t i = 1; i < len && at + i < text.len; i++) {
        point = point << 6 | ((unsigned char)text.ptr[at + i] & 0x3fU);
    }
    *ret_len = at + len <= text.len ? len : text.len - at;
    return point;
}

/* One element of a pattern. */
struct element {
    enum { LITERAL, ANY_ONE, ANY_RUN, ANY_SPAN, SET } kind;
    uint32_t point;        /* LITERAL */
    struct writ_view body; /* SET: between the brackets, without `!` */
    bool negated;
    size_t len; /* bytes of the pattern */
};

static struct element
set_at(struct writ_view pattern, size_t at)
{
    struct element e = {.kind = SET};
    size_t from = at + 1, end;

    e.negated = from < pattern.len && (pattern.ptr[from] == '!' || pattern.ptr[from] == '^');
    from += e.negated ? 1 : 0;
    end = from < pattern.len ? from + 1 : from; /* a bracket that comes first is a member */
    while (end < pattern.len && pattern.ptr[end] != ']') {
        end++;
    }
    e.body = writ_view_sub(pattern, from, end - from);
    e.len = end + 1 - at; /* beyond the pattern when the bracket is not closed */
    return e;
}

static struct element
element_at(struct writ_view pattern, size_t at)
{
    struct element e = {.kind = LITERAL};

    switch (pattern.ptr[at]) {
    case '*':
        e.kind = at + 1 < pattern.len && pattern.ptr[at + 1] == '*' ? ANY_SPAN : ANY_RUN;
        e.len = e.kind == ANY_SPAN ? 2 : 1;
        return e;
    case '?':
        e.kind = ANY_ONE;
        e.len = 1;
        return e;
    case '[':
        return set_at(pattern, at);
    case '\\':
        if (at + 1 < pattern.len) {
            e.point = point_at(pattern, at + 1, &e.len);
            e.len++;
            return e;
        }
        break;
    default:
        break;
    }
    e.point = point_at(pattern, at, &e.len);
    return e;
}

static bool
in_set(struct writ_view body, uint32_t point)
{
    size_t at = 0;

    while (at < body.len) {
        size_t len, end_len;
        uint32_t low = point_at(body, at, &len), high = low;
        at += len;
        if (at + 1 < body.len && body.ptr[at] == '-') { /* a hyphen at the end is a member */
            high = point_at(body, at + 1, &end_len);
            at += 1 + end_len;
        }
        if (point >= low && point <= high) {
            return true;
        }
    }
    return false;
}

static bool
set_is_faulty(struct writ_view body)
{
    size_t at = 0;

    while (at < body.len) {
        size_t len, end_len;
        uint32_t low = point_at(body, at, &len);
        at += len;
        if (at + 1 < body.len && body.ptr[at] == '-') {
            if (point_at(body, at + 1, &end_len) < low) {
                return true;
            }
            at += 1 + end_len;
        }
    }
    return body.len == 0;
}

const char *
writ_glob_fault(struct writ_view pattern)
{
    if (pattern.len == 0 || pattern.len > WRIT_GLOB_MAX) {
        return "a pattern has 1 to 1024 bytes";
    }
    if (!writ_utf8_is_valid(pattern, NULL)) {
        return "a pattern is UTF-8";
    }
    for (size_t at = 0; at < pattern.len;) {
        struct element e = element_at(pattern, at);
        if (e.kind == SET && at + e.len > pattern.len) {
            return "a [ is not closed";
        }
        if (e.kind == SET && set_is_faulty(e.body)) {
            return "a set in [ ] is empty or has a range that runs backwards";
        }
        if (pattern.ptr[at] == '\\' && at + 1 == pattern.len) {
            return "ends in a backslash";
        }
        if (e.kind == ANY_SPAN && at + 2 < pattern.len && pattern.ptr[at + 2] == '*') {
            return "has three stars in a row";
        }
        at += e.len;
    }
    return NULL;
}

bool
writ_glob_spans(struct writ_view pattern)
{
    for (size_t at = 0; at < pattern.len;) {
        struct element e = element_at(pattern, at);
        if (e.kind == ANY_SPAN || (e.kind == LITERAL && e.point == '/')) {
            return true;
        }
        at += e.len;
    }
    return false;
}

static bool
matches_one(const struct element *e, uint32_t point)
{
    switch (e->kind) {
    case LITERAL:
        return point == e->point;
    case ANY_ONE:
        return point != '/';
    case SET:
        return point != '/' && in_set(e->body, point) != e->negated;
    case ANY_RUN:
    case ANY_SPAN:
        return false;
    }
    return false;
}

/* The place to continue when a try fails: after a star, with the star one character longer. `*`
 * stops at a slash and stays there, so behind one only the last `**` is worth another try. */
struct retry {
    size_t pattern, text; /* text is beyond the end without one */
};

static bool
take_retry(
    struct retry *run, struct retry *span, struct writ_view text, size_t *ret_p, size_t *ret_t)
{
    struct retry *from = run->text < text.len && text.ptr[run->text] != '/' ? run : span;
    size_t len;

    if (from->text >= text.len) {
        return false;
    }
    (void)point_at(text, from->text, &len);
    from->text += len;
    *ret_p = from->pattern;
    *ret_t = from->text;
    return true;
}

enum writ_glob_answer
writ_glob_match(struct writ_view pattern, struct writ_view text)
{
    struct retry run = {0, SIZE_MAX}, span = {0, SIZE_MAX};
    size_t p = 0, t = 0;

    if (text.len > WRIT_GLOB_TEXT_MAX) {
        return WRIT_GLOB_LIMIT;
    }
    for (size_t steps = 0; p < pattern.len || t < text.len; steps++) {
        struct element e = p < pattern.len ? element_at(pattern, p) : (struct element){0};
        size_t len = 0;

        if (steps == WRIT_GLOB_STEPS_MAX) {
            return WRIT_GLOB_LIMIT;
        }
        if (p < pattern.len && (e.kind == ANY_RUN || e.kind == ANY_SPAN)) {
            p += e.len;
            *(e.kind == ANY_RUN ? &run : &span) = (struct retry){p, t};
            run.text = e.kind == ANY_SPAN ? SIZE_MAX : run.text;
        } else if (p < pattern.len && t < text.len && matches_one(&e, point_at(text, t, &len))) {
            p += e.len;
            t += len;
        } else if (!take_retry(&run, &span, text, &p, &t)) {
            return WRIT_GLOB_NO;
        }
    }
    return WRIT_GLOB_YES;
}
