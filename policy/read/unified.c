/* Lines that both texts have are matched: what is the same at both ends first, then a small middle
 * by the longest common sequence, and a large one between lines that are unique in both. Hunks are
 * what is not matched, with a few lines around. */
#include "policy/read/unified.h"

#include "base/hidden.h"
#include "base/text.h"
#include "base/utf8.h"

#define CONTEXT   2                 /* unchanged lines around a change, where they may be shown */
#define CELLS_MAX ((size_t)2 << 20) /* pairs of lines that are compared with each other */
#define NONE      SIZE_MAX

struct lines {
    struct writ_view *items;
    size_t n;
    bool open; /* the last one has no line end */
};

struct difference {
    struct writ_arena *arena;
    struct lines a, b;
    size_t *match;  /* of each line of a: that of b, or NONE */
    size_t context; /* unchanged lines around a change */
    bool nomem;
};

static struct lines
split(struct writ_view text, struct writ_arena *arena)
{
    struct lines lines = {.n = 0, .open = text.len > 0 && text.ptr[text.len - 1] != '\n'};
    size_t n = 1;

    for (size_t i = 0; i < text.len; i++) {
        n += text.ptr[i] == '\n' ? 1 : 0;
    }
    lines.items = writ_arena_get(arena, n * sizeof *lines.items);
    while (lines.items != NULL && text.len > 0) {
        size_t at = writ_view_find(text, '\n');
        lines.items[lines.n++] = writ_view_sub(text, 0, at);
        text = writ_view_sub(text, at + 1, text.len);
    }
    return lines;
}

/* ---- matching */

/* Lines i to i_end of a, j to j_end of b. */
struct part {
    size_t i, i_end, j, j_end;
};

static bool
is_same(const struct difference *d, size_t i, size_t j)
{
    return writ_view_equal(d->a.items[i], d->b.items[j]);
}

static void
trim(struct difference *d, struct part *part)
{
    while (part->i < part->i_end && part->j < part->j_end && is_same(d, part->i, part->j)) {
        d->match[part->i++] = part->j++;
    }
    while (part->i < part->i_end && part->j < part->j_end &&
           is_same(d, part->i_end - 1, part->j_end - 1)) {
        d->match[--part->i_end] = --part->j_end;
    }
}

/* The longest common sequence: `common` has its length from each pair of lines to the end. */
static void
match_small(struct difference *d, const struct part *part)
{
    size_t n = part->i_end - part->i, m = part->j_end - part->j, width = m + 1, i = 0, j = 0;
    uint32_t *common = writ_alloc((n + 1) * width * sizeof *common);

    if (common == NULL) {
        d->nomem = true;
        return;
    }
    for (size_t y = n; y-- > 0;) {
        for (size_t x = m; x-- > 0;) {
            uint32_t *here = &common[y * width + x];
            *here = is_same(d, part->i + y, part->j + x) ? here[width + 1] + 1
                    : here[width] > here[1]              ? here[width]
                                                         : here[1];
        }
    }
    while (i < n && j < m) {
        const uint32_t *here = &common[i * width + j];
        if (is_same(d, part->i + i, part->j + j)) {
            d->match[part->i + i++] = part->j + j++;
        } else if (here[width] >= here[1]) {
            i++;
        } else {
            j++;
        }
    }
    writ_free(common);
}

/* The nearest line of b, from j on, that is the same and stands once in the rest of both. */
static size_t
anchor(const struct difference *d, const struct part *part, size_t i, size_t j)
{
    size_t found = NONE;

    for (size_t x = j; x < part->j_end; x++) {
        if (is_same(d, i, x)) {
            if (found != NONE) {
                return NONE;
            }
            found = x;
        }
    }
    for (size_t y = i + 1; found != NONE && y < part->i_end; y++) {
        if (writ_view_equal(d->a.items[i], d->a.items[y])) {
            return NONE;
        }
    }
    return found;
}

static void match(struct difference *d, struct part part);

/* Divides a large part at lines that are unique, in one order. Every line is compared with every
 * other one here, by length first. */
static void
match_large(struct difference *d, const struct part *part)
{
    size_t i = part->i, j = part->j;

    for (size_t y = part->i; y < part->i_end; y++) {
        size_t x = anchor(d, part, y, j);
        if (x != NONE) {
            struct part before = {i, y, j, x};
            d->match[y] = x;
            if ((y - i + 1) * (x - j + 1) <= CELLS_MAX) {
                match(d, before);
            }
            i = y + 1;
            j = x + 1;
        }
    }
    if ((part->i_end - i + 1) * (part->j_end - j + 1) <= CELLS_MAX) {
        struct part rest = {i, part->i_end, j, part->j_end};
        match(d, rest);
    }
}

static void
match(struct difference *d, struct part part)
{
    trim(d, &part);
    if (part.i == part.i_end || part.j == part.j_end) {
        return;
    }
    if ((part.i_end - part.i + 1) * (part.j_end - part.j + 1) <= CELLS_MAX) {
        match_small(d, &part);
    } else {
        match_large(d, &part);
    }
}

/* ---- hunks */

static bool
hides(struct writ_view line)
{
    while (line.len > 0) {
        uint32_t point = 0;
        size_t len = writ_utf8_character(line, &point);

        if (len == 0 || (writ_hidden_kind(point) != WRIT_HIDDEN_NOT && point != '\t' &&
                            !(point == '\r' && line.len == 1))) {
            return true;
        }
        line = writ_view_sub(line, len, line.len);
    }
    return false;
}

static void
put_line(struct writ_buf *ret, char mark, const struct lines *lines, size_t at)
{
    writ_buf_byte(ret, mark);
    if (hides(lines->items[at])) {
        writ_text_safe(ret, lines->items[at], lines->items[at].len);
    } else {
        writ_buf_put(ret, lines->items[at]);
    }
    writ_buf_str(
        ret, lines->open && at + 1 == lines->n ? "\n\\ No newline at end of file\n" : "\n");
}

/* Lines i to i_end and j to j_end, where all that is matched is in one order. */
static void
put_lines(const struct difference *d, const struct part *part, struct writ_buf *ret)
{
    size_t i = part->i, j = part->j;

    while (i < part->i_end || j < part->j_end) {
        if (i < part->i_end && d->match[i] == NONE) {
            put_line(ret, '-', &d->a, i++);
        } else if (j < part->j_end && (i == part->i_end || d->match[i] != j)) {
            put_line(ret, '+', &d->b, j++);
        } else {
            put_line(ret, ' ', &d->a, i++);
            j++;
        }
    }
}

/* The first line of a hunk with nothing in it is counted as the one before it. */
static void
put_hunk(const struct difference *d, const struct part *part, struct writ_buf *ret)
{
    size_t n = part->i_end - part->i, m = part->j_end - part->j;

    writ_buf_fmt(ret, "@@ -%zu,%zu +%zu,%zu @@\n", part->i + (n > 0 ? 1 : 0), n,
        part->j + (m > 0 ? 1 : 0), m);
    put_lines(d, part, ret);
}

/* The end of the change that begins at i, j: the next pair that is matched. */
static void
change_end(const struct difference *d, size_t *i, size_t *j)
{
    while (*i < d->a.n && d->match[*i] == NONE) {
        (*i)++;
    }
    *j = *i < d->a.n ? d->match[*i] : d->b.n;
}

static void
put_hunks(const struct difference *d, struct writ_buf *ret)
{
    struct part hunk = {.i = 0};
    size_t i = 0, j = 0, same = 0; /* unchanged lines since the last change */
    bool open = false;

    while (i < d->a.n || j < d->b.n) {
        if (i < d->a.n && d->match[i] == j) {
            i++;
            j++;
            same++;
            if (open && same > 2 * d->context) {
                hunk.i_end = i - same + d->context;
                hunk.j_end = j - same + d->context;
                put_hunk(d, &hunk, ret);
                open = false;
            }
            continue;
        }
        if (!open) {
            size_t back = same < d->context ? same : d->context;
            hunk = (struct part){.i = i - back, .j = j - back};
            open = true;
        }
        same = 0;
        change_end(d, &i, &j);
    }
    if (open) {
        size_t front = same < d->context ? same : d->context;
        hunk.i_end = i - same + front;
        hunk.j_end = j - same + front;
        put_hunk(d, &hunk, ret);
    }
}

/* Matches the lines of both. False without memory. */
static bool
compare(struct difference *d)
{
    d->match = writ_arena_get(d->arena, (d->a.n + 1) * sizeof *d->match);
    if (d->a.items == NULL || d->b.items == NULL || d->match == NULL) {
        return false;
    }
    for (size_t i = 0; i < d->a.n; i++) {
        d->match[i] = NONE;
    }
    match(d, (struct part){0, d->a.n, 0, d->b.n});
    if (d->a.open != d->b.open && d->a.n > 0 &&
        d->b.n > 0) { /* their last lines differ by the end */
        size_t last = d->a.n - 1;
        for (size_t i = 0; i < d->a.n; i++) {
            d->match[i] = d->match[i] == d->b.n - 1 ? NONE : d->match[i];
        }
        d->match[last] = NONE;
    }
    return !d->nomem;
}

static void
put_all(const struct difference *d, struct writ_view file, struct writ_buf *ret)
{
    writ_buf_str(ret, "--- ");
    writ_text_safe(ret, file, file.len);
    writ_buf_str(ret, "\n+++ ");
    writ_text_safe(ret, file, file.len);
    writ_buf_byte(ret, '\n');
    put_hunks(d, ret);
}

/* ---- lines that may be shown */

/* Whether lines from i to i_end of a, as far as there are such, may all be shown. */
static bool
may_all(const struct difference *d, const bool *may, size_t i, size_t i_end)
{
    bool all = true;

    for (; i < i_end && i < d->a.n; i++) {
        all = all && may[i];
    }
    return all;
}

/* Whether every line of a that changes may be shown, with so many lines around each change. */
static bool
may_show(const struct difference *d, const bool *may, size_t context)
{
    bool all = true;
    size_t next = 0; /* the line of b that follows */

    for (size_t i = 0; i <= d->a.n; i++) {
        size_t back = i < context ? i : context;
        bool removed = i < d->a.n && d->match[i] == NONE;
        bool added = !removed && next != (i < d->a.n ? d->match[i] : d->b.n);

        if (removed || added) {
            all = all && may_all(d, may, i - back, i + context + (removed ? 1 : 0));
        }
        if (i < d->a.n && !removed) {
            next = d->match[i] + 1;
        }
    }
    return all;
}

bool
writ_unified_put(struct writ_buf *ret, const struct writ_unified *texts, struct writ_arena *arena)
{
    struct difference d = {.arena = arena,
        .a = split(texts->before, arena),
        .b = split(texts->after, arena),
        .context = CONTEXT};

    if (writ_view_equal(texts->before, texts->after)) {
        return true;
    }
    if (!compare(&d)) {
        ret->failed = WRIT_E_NOMEM;
        return true;
    }
    if (texts->may_show != NULL) {
        d.context = may_show(&d, texts->may_show, CONTEXT) ? CONTEXT : 0;
        if (!may_show(&d, texts->may_show, d.context)) {
            return false;
        }
    }
    put_all(&d, texts->file, ret);
    return true;
}
