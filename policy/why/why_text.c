/* why_text.c - see why_text.h. What cannot be seen does not count as text around a value, so that
 * it cannot push the words out of sight; it is bounded on its own. */
#include "policy/why/why_text.h"

#include "base/hidden.h"
#include "base/utf8.h"
#include "evidence/flow/fields.h"
#include "evidence/flow/find.h"
#include "evidence/json/jcs.h"
#include "policy/decide/texts.h"

#define MARKED_MAX 65536
#define ELLIPSIS   "\xE2\x80\xA6"

static const struct {
    struct writ_view word, sentence;
} states[] = {
#define ROW(NAME, word, sentence) [WRIT_WHY_TEXT_##NAME] = {WRIT_LIT(word), WRIT_LIT(sentence)},
    WRIT_WHY_TEXTS(ROW)
#undef ROW
};

struct writ_view
writ_why_text_word(enum writ_why_text_state state)
{
    return states[state].word;
}

struct writ_view
writ_why_text_sentence(enum writ_why_text_state state)
{
    return states[state].sentence;
}

/* ---- cutting */

/* Counts one character; false: the piece is full. */
static bool
counts(struct writ_view character, size_t *seen, size_t *all)
{
    uint32_t point = 0;

    (void)writ_utf8_character(character, &point);
    if (*seen == WRIT_WHY_AROUND || *all == WRIT_WHY_PIECE_MAX) {
        return false;
    }
    *seen += writ_hidden_unseen(point) ? 0 : 1;
    *all += 1;
    return true;
}

static struct writ_view
end_of(struct writ_view text)
{
    size_t from = text.len, seen = 0, all = 0;

    while (from > 0) {
        size_t at = from - 1;
        while (at > 0 && ((unsigned char)text.ptr[at] & 0xc0) == 0x80) {
            at--;
        }
        if (!counts(writ_view_sub(text, at, from - at), &seen, &all)) {
            break;
        }
        from = at;
    }
    return writ_view_sub(text, from, text.len);
}

static size_t
character_len(struct writ_view text)
{
    uint32_t point;
    size_t len = writ_utf8_character(text, &point);

    return len > 0 ? len : 1;
}

static struct writ_view
beginning_of(struct writ_view text)
{
    size_t to = 0, seen = 0, all = 0;

    while (to < text.len) {
        struct writ_view rest = writ_view_sub(text, to, text.len);
        if (!counts(rest, &seen, &all)) {
            break;
        }
        to += character_len(rest);
    }
    return writ_view_sub(text, 0, to);
}

/* A value of many words is cut; the text behind it follows. */
static struct writ_view
first_of(struct writ_view value)
{
    size_t to = 0;

    for (size_t n = 0; to < value.len && n < WRIT_WHY_PIECE_MAX; n++) {
        to += character_len(writ_view_sub(value, to, value.len));
    }
    return writ_view_sub(value, 0, to);
}

static WRIT_RESULT
cut(struct writ_view text, struct writ_view found, struct writ_arena *arena,
    struct writ_why_place *ret, struct writ_err *err)
{
    size_t from = (size_t)(found.ptr - text.ptr), to = from + found.len;
    struct writ_view value = first_of(found);
    struct writ_buf marked = writ_buf_in(arena, MARKED_MAX);
    struct writ_why_place place = {.before = end_of(writ_view_sub(text, 0, from)),
        .value = writ_view_copy(value, arena),
        .after = beginning_of(writ_view_sub(text, to, text.len))};

    place.starts = place.before.len == from;
    place.ends = place.after.len == text.len - to;
    writ_buf_str(&marked, place.starts ? "" : ELLIPSIS);
    place.marks = writ_hidden_mark_text(&marked, place.before);
    place.marks += writ_hidden_mark_text(&marked, value);
    writ_buf_str(&marked, value.len < found.len ? ELLIPSIS : "");
    place.marks += writ_hidden_mark_text(&marked, place.after);
    writ_buf_str(&marked, place.ends ? "" : ELLIPSIS);
    WRIT_TRY(writ_buf_check(&marked, err));
    place.marked = writ_buf_view(&marked);
    place.before = writ_view_copy(place.before, arena);
    place.after = writ_view_copy(place.after, arena);
    if (place.before.ptr == NULL || place.value.ptr == NULL || place.after.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the text around a value");
    }
    *ret = place;
    return WRIT_DONE;
}

/* ---- searching */

struct searching {
    const struct writ_why_text_source *source;
    struct writ_find *find;
    struct writ_arena *arena;
    writ_result result;
};

static bool
is_wanted(const struct writ_why_text_value *value, struct writ_view at)
{
    return value->ret->n < WRIT_WHY_PLACES_MAX && writ_view_equal(value->at, at);
}

static WRIT_RESULT
add_places(struct searching *s, struct writ_view text, const struct writ_why_text_value *value)
{
    struct writ_why_text *ret = value->ret;
    struct writ_view places[WRIT_WHY_PLACES_MAX];
    size_t n = writ_find_value(s->find, &value->wanted, WRIT_WHY_PLACES_MAX - ret->n, places);

    for (size_t i = 0; i < n; i++) {
        WRIT_TRY(cut(text, places[i], s->arena, &ret->places[ret->n], NULL));
        ret->n++;
        ret->state = WRIT_WHY_TEXT_SHOWN;
    }
    return WRIT_DONE;
}

/* The text at a place, for each value that stood there. */
static WRIT_RESULT
search(struct searching *s, struct writ_view at, struct writ_view text)
{
    bool is_read = false;

    for (size_t i = 0; i < s->source->n; i++) {
        const struct writ_why_text_value *value = &s->source->values[i];

        if (!is_wanted(value, at)) {
            continue;
        }
        if (text.len > WRIT_FIND_TEXT_MAX) {
            value->ret->state = value->ret->n > 0 ? WRIT_WHY_TEXT_SHOWN : WRIT_WHY_TEXT_TOO_LARGE;
            continue;
        }
        if (!is_read) {
            WRIT_TRY(writ_find_read(s->find, text, NULL));
            is_read = true;
        }
        WRIT_TRY(add_places(s, text, value));
    }
    return WRIT_DONE;
}

static void
take(void *ctx, const struct writ_texts_place *place, struct writ_view text)
{
    struct searching *s = ctx;

    if (writ_is_ok(s->result)) {
        s->result = search(s, place->at, text);
    }
}

static WRIT_RESULT
search_argument(struct searching *s, struct writ_view at, struct writ_arena *scratch)
{
    const struct writ_json *value = writ_json_pointer(s->source->content, at);
    struct writ_buf number = writ_buf_in(scratch, 64);

    if (writ_json_type(value) == WRIT_JSON_NUMBER) {
        WRIT_TRY(writ_jcs_put(&number, value, NULL));
        return search(s, at, writ_buf_view(&number));
    }
    return writ_json_type(value) == WRIT_JSON_STRING ? search(s, at, writ_json_string(value))
                                                     : WRIT_DONE;
}

static bool
is_searched(const struct writ_why_text_source *source, size_t i)
{
    for (size_t before = 0; before < i; before++) {
        if (writ_view_equal(source->values[before].at, source->values[i].at)) {
            return true;
        }
    }
    return false;
}

static WRIT_RESULT
search_arguments(struct searching *s, struct writ_arena *scratch)
{
    for (size_t i = 0; i < s->source->n; i++) {
        if (!is_searched(s->source, i)) {
            WRIT_TRY(search_argument(s, s->source->values[i].at, scratch));
        }
    }
    return WRIT_DONE;
}

static void
find_freep(struct writ_find **find)
{
    writ_find_free(*find);
}

WRIT_RESULT
writ_why_text_find(const struct writ_why_text_source *source, struct writ_arena *scratch,
    struct writ_arena *arena, struct writ_err *err)
{
    WRIT_AUTO(struct writ_find *, find_freep) find = NULL;
    struct searching s = {.source = source, .arena = arena, .result = WRIT_DONE};

    WRIT_TRY(writ_find_new(source->key, &find, err));
    s.find = find;
    for (size_t i = 0; i < source->n; i++) {
        *source->values[i].ret = (struct writ_why_text){.state = WRIT_WHY_TEXT_MOVED};
    }
    if (source->of_arguments) {
        s.result = search_arguments(&s, scratch);
    } else {
        (void)writ_texts_each(source->content, scratch, take, &s); /* deeper ones have no marks */
    }
    if (!writ_is_ok(s.result)) {
        WRIT_FAIL(err, s.result.code, "the text around a value cannot be read");
    }
    return WRIT_DONE;
}

void
writ_why_text_put(const struct writ_why_text *text, struct writ_write *w)
{
    writ_write_text(w, "text", writ_why_text_word(text->state));
    writ_write_text(w, "note", writ_why_text_sentence(text->state));
    writ_write_name(w, WRIT_LIT("places"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < text->n; i++) {
        const struct writ_why_place *place = &text->places[i];

        writ_write_object_begin(w);
        writ_write_text(w, "before", place->before);
        writ_write_text(w, "value", place->value);
        writ_write_text(w, "after", place->after);
        writ_write_flag(w, "starts", place->starts);
        writ_write_flag(w, "ends", place->ends);
        writ_write_text(w, "marked", place->marked);
        writ_write_count(w, "marks", place->marks);
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
}
