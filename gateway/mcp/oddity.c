/* oddity.c - every text is compared as a list of words, and every name as its skeleton, so that
 * case, punctuation and characters that hide make no difference. Nothing here judges a call. */
#include "gateway/mcp/oddity.h"

#include "base/hidden.h"
#include "base/text.h"
#include "base/utf8.h"
#include "policy/detect/detector.h"
#include "policy/detect/words.h"

#define NEAR_LEAST 5 /* bytes of a skeleton from which one letter may differ */
#define PLACE_MAX  4096

/* ---- the list */

const char *
writ_oddity_name(enum writ_oddity_kind kind)
{
    switch (kind) {
    case WRIT_ODDITY_NONE:
        break;
#define NAME_OF(NAME, name, sentence)                                                              \
    case WRIT_ODDITY_##NAME:                                                                       \
        return #name;
        WRIT_ODDITIES(NAME_OF)
#undef NAME_OF
    }
    return "none";
}

const char *
writ_oddity_sentence(enum writ_oddity_kind kind)
{
    switch (kind) {
    case WRIT_ODDITY_NONE:
        break;
#define SENTENCE_OF(NAME, name, sentence)                                                          \
    case WRIT_ODDITY_##NAME:                                                                       \
        return sentence;
        WRIT_ODDITIES(SENTENCE_OF)
#undef SENTENCE_OF
    }
    return "nothing is odd";
}

void
writ_oddity_add(struct writ_oddities *list, const struct writ_oddity *oddity)
{
    list->total++;
    if (list->items == NULL) {
        list->cap = WRIT_ODDITIES_MAX;
        list->items = writ_arena_get(list->arena, list->cap * sizeof *list->items);
    }
    if (list->items != NULL && list->n < list->cap) {
        list->items[list->n++] = *oddity;
    }
}

static struct writ_view
safe_copy(const struct writ_oddities *list, struct writ_view text)
{
    struct writ_buf safe = writ_buf_in(list->arena, 16 * WRIT_ODDITY_TEXT_MAX);

    writ_text_safe(&safe, text, WRIT_ODDITY_TEXT_MAX);
    return writ_buf_view(&safe);
}

/* ---- texts that address the model */

static void
add_address(struct writ_oddities *list, const struct writ_oddity *at, struct writ_view name,
    struct writ_view words)
{
    struct writ_oddity oddity = *at;

    oddity.kind = WRIT_ODDITY_ADDRESSES;
    oddity.sign = name;
    oddity.quote = safe_copy(list, writ_view_trim(words));
    writ_oddity_add(list, &oddity);
}

struct addressing {
    struct writ_oddities *list;
    const struct writ_oddity *at;
    bool told[WRIT_DETECTOR_COUNT];
};

/* Each detector once for a text: the first words that it is found by. */
static bool
take_address(void *ctx, size_t id, struct writ_view words, size_t offset, size_t length)
{
    struct addressing *a = ctx;

    (void)offset;
    (void)length;
    if (!a->told[id]) {
        a->told[id] = true;
        add_address(a->list, a->at, writ_detector_builtin(id)->called, words);
    }
    return true;
}

static void
find_hidden(
    struct writ_oddities *list, const struct writ_oddity *at, struct writ_view text, bool strict)
{
    writ_auto_buf visible = writ_buf_make(text.len + 1);
    size_t hides = writ_hidden_strip(&visible, text);
    struct writ_oddity oddity = *at;

    if (hides > 0 || (strict && writ_hidden_in(text))) {
        struct writ_buf count = writ_buf_in(list->arena, 64);
        writ_buf_fmt(&count, "%zu", hides > 0 ? hides : 1);
        oddity.kind = WRIT_ODDITY_HIDDEN;
        oddity.sign = writ_buf_view(&count);
        oddity.quote = safe_copy(list, text);
        writ_oddity_add(list, &oddity);
    }
}

static void
find_in_text(struct writ_oddities *list, const struct writ_oddity *at, struct writ_view text)
{
    struct addressing a = {.list = list, .at = at};

    find_hidden(list, at, text, false);
    WRIT_IGNORE(writ_words_find(text, take_address, &a));
}

void
writ_oddity_of_text(struct writ_oddities *list, struct writ_view server, struct writ_view place,
    struct writ_view text)
{
    const struct writ_oddity at = {.server = server, .place = place};

    find_in_text(list, &at, text);
}

/* ---- definitions */

struct walking {
    struct writ_oddities *list;
    const struct writ_oddity_tool *tool;
    struct writ_buf place;
};

static void
look_at(struct walking *w, struct writ_view text, bool name)
{
    struct writ_oddity at = {.server = w->tool->server, .tool = w->tool->name};
    size_t before = w->list->total;
    size_t from = w->list->n;

    if (name) {
        find_hidden(w->list, &at, text, true);
    } else {
        find_in_text(w->list, &at, text);
    }
    if (w->list->total > before) { /* the place is kept only where something is */
        struct writ_view place = writ_view_copy(writ_buf_view(&w->place), w->list->arena);
        for (size_t i = from; i < w->list->n; i++) {
            w->list->items[i].place = place;
        }
    }
}

/* A name as a token of a JSON Pointer, made safe. */
static void
put_token(struct writ_buf *place, struct writ_view name)
{
    writ_auto_buf token = writ_buf_make(2 * name.len + 1);

    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '~' || name.ptr[i] == '/') {
            writ_buf_str(&token, name.ptr[i] == '~' ? "~0" : "~1");
        } else {
            writ_buf_byte(&token, name.ptr[i]);
        }
    }
    writ_buf_byte(place, '/');
    writ_text_safe(place, writ_buf_view(&token), PLACE_MAX);
}

static void
walk(struct walking *w, const struct writ_json *value)
{
    size_t len = w->place.len, index = 0;

    if (writ_json_type(value) == WRIT_JSON_STRING) {
        look_at(w, writ_json_string(value), false);
        return;
    }
    WRIT_JSON_EACH(child, value)
    {
        if (writ_json_type(value) == WRIT_JSON_OBJECT) {
            put_token(&w->place, writ_json_string(child));
            look_at(w, writ_json_string(child), true);
            walk(w, writ_json_value(child));
        } else {
            writ_buf_fmt(&w->place, "/%zu", index++);
            walk(w, child);
        }
        writ_buf_cut(&w->place, len);
    }
}

/* A name of one script is not odd for being of another than ASCII. */
static bool
mixes_scripts(struct writ_view name)
{
    bool ascii = false, alike = false;

    while (name.len > 0) {
        uint32_t point = 0;
        size_t len = writ_utf8_character(name, &point);

        ascii = ascii || (point < 0x80 && writ_words_is_word((char)(point | 0x20)));
        alike = alike || writ_words_looks_alike(point);
        name = writ_view_sub(name, len > 0 ? len : 1, SIZE_MAX);
    }
    return ascii && alike;
}

void
writ_oddity_of_tool(struct writ_oddities *list, const struct writ_oddity_tool *tool)
{
    struct walking w = {.list = list, .tool = tool, .place = writ_buf_make(PLACE_MAX)};

    if (mixes_scripts(tool->name)) {
        const struct writ_oddity oddity = {.kind = WRIT_ODDITY_LOOKALIKE,
            .server = tool->server,
            .tool = tool->name,
            .place = WRIT_LIT("/name"),
            .quote = safe_copy(list, tool->name)};
        writ_oddity_add(list, &oddity);
    }
    walk(&w, tool->definition);
    writ_buf_wipe(&w.place);
}

/* ---- names */

void
writ_oddity_skeleton(struct writ_buf *ret, struct writ_view name)
{
    while (name.len > 0) {
        struct writ_view other;
        char ascii;
        size_t len = writ_words_next(name, &ascii, &other);

        ascii = ascii == '0' ? 'o' : ascii == '1' || ascii == '|' || ascii == 'i' ? 'l' : ascii;
        if (other.len > 0) {
            writ_buf_put(ret, other);
        } else if (writ_words_is_word(ascii) && ascii > 0) {
            writ_buf_byte(ret, ascii);
        } else if (ascii != 0 && ret->len > 0 && ret->ptr[ret->len - 1] != '_') {
            writ_buf_byte(ret, '_');
        }
        name = writ_view_sub(name, len, SIZE_MAX);
    }
}

/* One byte more, less, or another. */
static bool
is_near(struct writ_view a, struct writ_view b)
{
    size_t begin = 0, end = 0;

    if (a.len < b.len) {
        struct writ_view swap = a;
        a = b;
        b = swap;
    }
    if (a.len - b.len > 1 || b.len < NEAR_LEAST) {
        return false;
    }
    while (begin < b.len && a.ptr[begin] == b.ptr[begin]) {
        begin++;
    }
    while (end < b.len - begin && a.ptr[a.len - 1 - end] == b.ptr[b.len - 1 - end]) {
        end++;
    }
    return begin + end + 1 >= a.len;
}

/* How one name is taken for the other; empty: it is the same; NULL: it is not. */
static const char *
taken_for(struct writ_view a, struct writ_view b, struct writ_view a_seen, struct writ_view b_seen)
{
    return writ_view_equal(a, b)             ? ""
           : writ_view_equal(a_seen, b_seen) ? "looks the same"
           : is_near(a_seen, b_seen)         ? "one letter differs"
                                             : NULL;
}

static bool
is_instance(const struct writ_oddity_tool *a, const struct writ_oddity_tool *b)
{
    return writ_view_equal(a->name, b->name) && a->digest != NULL && b->digest != NULL &&
           writ_digest_equal(a->digest, b->digest);
}

static void
add_imitation(struct writ_oddities *list, const struct writ_oddity_tool *tool,
    const struct writ_oddity_tool *other, const char *how)
{
    struct writ_buf quote = writ_buf_in(list->arena, 32 * WRIT_ODDITY_TEXT_MAX);
    struct writ_oddity oddity = {
        .kind = how[0] == '\0' ? WRIT_ODDITY_REPEATS : WRIT_ODDITY_IMITATES,
        .server = tool->server,
        .tool = tool->name,
        .place = WRIT_LIT("/name"),
        .sign = writ_view_str(how)};

    writ_text_safe(&quote, other->server, WRIT_ODDITY_TEXT_MAX);
    writ_buf_byte(&quote, '/');
    writ_text_safe(&quote, other->name, WRIT_ODDITY_TEXT_MAX);
    oddity.quote = writ_buf_view(&quote);
    writ_oddity_add(list, &oddity);
}

void
writ_oddity_of_names(struct writ_oddities *list, const struct writ_oddity_tool *tools, size_t n)
{
    struct writ_view *seen = writ_arena_get(list->arena, (n + 1) * sizeof *seen);

    for (size_t i = 0; seen != NULL && i < n; i++) {
        struct writ_buf skeleton = writ_buf_in(list->arena, WRIT_ODDITY_SKELETON_MAX);

        writ_oddity_skeleton(&skeleton, tools[i].name);
        seen[i] = writ_buf_view(&skeleton);
        for (size_t j = 0; j < i; j++) {
            bool own = writ_view_equal(tools[i].server, tools[j].server);
            const char *how = taken_for(tools[i].name, tools[j].name, seen[i], seen[j]);

            if (how != NULL && (!own || writ_view_equal(seen[i], seen[j])) &&
                !is_instance(&tools[i], &tools[j])) {
                add_imitation(list, &tools[i], &tools[j], how);
                break;
            }
        }
    }
}
