/* A section is apart where its name begins a line, and where nothing but a comma or a comment
 * follows in the line of its end. */
#include "policy/why/apart.h"

#include "policy/read/place.h"

/* One section: bytes of the text, with its name. Equal: it is not apart. */
struct section {
    struct writ_view name;
    size_t start, end;
};

static struct writ_view
between(struct writ_view text, size_t begin, size_t end)
{
    return writ_view_sub(text, begin, end - begin);
}

/* Without a comment, and without spaces at both ends. */
static struct writ_view
bare(struct writ_view line)
{
    size_t at = writ_view_find(line, '#');

    return writ_view_trim(writ_view_sub(line, 0, at));
}

/* `tools:`, `"tools":` */
static bool
is_key(struct writ_view text, struct writ_view name)
{
    struct writ_view rest = bare(text);
    char quote = rest.len > 0 ? rest.ptr[0] : '\0';

    if (rest.len == 0 || rest.ptr[rest.len - 1] != ':') {
        return false;
    }
    rest = writ_view_trim(writ_view_sub(rest, 0, rest.len - 1));
    if ((quote == '"' || quote == '\'') && rest.len > 1 && rest.ptr[rest.len - 1] == quote) {
        rest = between(rest, 1, rest.len - 1);
    }
    return writ_view_equal(rest, name);
}

/* The section begins with the line of its name, with nothing but comments behind it. */
static void
begin_section(struct writ_view text, const struct writ_place *place, struct section *ret)
{
    size_t line = place->start, end = place->start;

    for (;;) {
        while (line > 0 && text.ptr[line - 1] != '\n') {
            line--;
        }
        if (line == 0 || bare(between(text, line, end)).len > 0) {
            break;
        }
        end = --line;
    }
    ret->start = is_key(between(text, line, end), ret->name) ? line : place->end;
    ret->end = place->end;
}

/* Whether the line from `begin` to `end` belongs to the section alone. */
static bool
is_of(struct writ_view text, const struct section *section, size_t begin, size_t end)
{
    struct writ_view rest;

    if (begin < section->start || begin >= section->end) {
        return false;
    }
    if (end <= section->end) {
        return true;
    }
    rest = writ_view_trim(between(text, section->end, end));
    return rest.len == 0 || rest.ptr[0] == '#' || writ_view_is(rest, ",");
}

static void
mark(struct writ_view text, const struct section *section, bool *lines)
{
    size_t begin = 0;

    for (size_t i = 0; begin < text.len; i++) {
        size_t end = begin + writ_view_find(writ_view_sub(text, begin, text.len), '\n');

        lines[i] = lines[i] || is_of(text, section, begin, end);
        begin = end + 1;
    }
}

static bool *
new_lines(struct writ_view text, struct writ_arena *arena)
{
    size_t n = 1;
    bool *lines;

    for (size_t i = 0; i < text.len; i++) {
        n += text.ptr[i] == '\n' ? 1 : 0;
    }
    lines = writ_arena_get(arena, n * sizeof *lines);
    for (size_t i = 0; lines != NULL && i < n; i++) {
        lines[i] = false;
    }
    return lines;
}

bool *
writ_apart_lines(struct writ_view text, struct writ_arena *arena)
{
    static const struct writ_view pointers[] = {WRIT_LIT("/tools"), WRIT_LIT("/agreed")};
    bool *lines = new_lines(text, arena);

    for (size_t i = 0; lines != NULL && i < sizeof pointers / sizeof pointers[0]; i++) {
        struct section section = {.name = writ_view_sub(pointers[i], 1, pointers[i].len)};
        struct writ_place place;

        if (writ_is_ok(writ_place_find(text, pointers[i], &place))) {
            begin_section(text, &place, &section);
            mark(text, &section, lines);
        }
    }
    return lines;
}
