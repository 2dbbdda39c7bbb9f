/* Walks the events of the parser with the pointer of the present node. A block ends where its last
 * element ends: the parser itself ends it at the next token. */
#include "policy/read/place.h"

#include "policy/model/trail.h"

#include <yaml.h>

#define POINTER_MAX 65536

struct finder {
    yaml_parser_t parser;
    struct writ_view text, wanted;
    struct writ_buf pointer; /* of the present node */
    size_t index, at;        /* a character of the text, and its byte */
    struct writ_place *ret;
    bool found;
};

static void
finder_wipe(struct finder *f)
{
    yaml_parser_delete(&f->parser);
    writ_buf_wipe(&f->pointer);
}

/* The parser counts characters. */
static size_t
byte_of(struct finder *f, size_t index)
{
    if (index < f->index) {
        f->index = f->at = 0;
    }
    while (f->index < index && f->at < f->text.len) {
        do {
            f->at++;
        } while (f->at < f->text.len && ((unsigned char)f->text.ptr[f->at] & 0xc0) == 0x80);
        f->index++;
    }
    return f->at;
}

static writ_result walk(struct finder *f, const yaml_event_t *begin, struct writ_place *ret);

/* The node that comes next, as a child called by what `pointer` got; false at the end of `outer`.
 */
static writ_result
walk_child(struct finder *f, yaml_event_t *event, struct writ_place *outer)
{
    struct writ_place child = {.type = WRIT_YAML_NONE};
    writ_result result = walk(f, event, &child);

    outer->end = child.end;
    outer->count++;
    return result;
}

static writ_result
next_event(struct finder *f, yaml_event_t *event)
{
    return (writ_result){yaml_parser_parse(&f->parser, event) != 0 ? WRIT_OK : WRIT_E_PARSE};
}

/* A key becomes a token of the pointer. */
static writ_result
put_key(struct finder *f, const yaml_event_t *key)
{
    if (key->type != YAML_SCALAR_EVENT) {
        return (writ_result){WRIT_E_PARSE};
    }
    writ_trail_token(writ_view(key->data.scalar.value, key->data.scalar.length), &f->pointer);
    return WRIT_DONE;
}

static writ_result
walk_member(struct finder *f, yaml_event_t *event, struct writ_place *place)
{
    yaml_event_t value;
    writ_result result;

    writ_buf_byte(&f->pointer, '/');
    if (place->type == WRIT_YAML_LIST) {
        writ_buf_u64(&f->pointer, place->count);
        return walk_child(f, event, place);
    }
    WRIT_TRY(put_key(f, event));
    WRIT_TRY(next_event(f, &value));
    result = walk_child(f, &value, place);
    yaml_event_delete(&value);
    return result;
}

static writ_result
walk_members(struct finder *f, struct writ_place *place)
{
    for (;;) {
        size_t before = f->pointer.len;
        yaml_event_t event;
        writ_result result = next_event(f, &event);
        bool ends = event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT;

        WRIT_TRY(result);
        if (ends && !place->block) {
            place->end = byte_of(f, event.end_mark.index);
        }
        result = ends ? WRIT_DONE : walk_member(f, &event, place);
        yaml_event_delete(&event);
        f->pointer.len = before;
        if (ends || !writ_is_ok(result)) {
            return result;
        }
    }
}

static writ_result
walk(struct finder *f, const yaml_event_t *begin, struct writ_place *ret)
{
    bool list = begin->type == YAML_SEQUENCE_START_EVENT;
    bool map = begin->type == YAML_MAPPING_START_EVENT;

    *ret = (struct writ_place){.type = list  ? WRIT_YAML_LIST
                                       : map ? WRIT_YAML_MAP
                                             : WRIT_YAML_SCALAR,
        .start = byte_of(f, begin->start_mark.index),
        .end = byte_of(f, begin->end_mark.index),
        .block = list ? begin->data.sequence_start.style != YAML_FLOW_SEQUENCE_STYLE
                      : map && begin->data.mapping_start.style != YAML_FLOW_MAPPING_STYLE,
        .column = begin->start_mark.column};
    if (list || map) {
        WRIT_TRY(walk_members(f, ret));
    }
    if (!f->found && writ_view_equal(writ_buf_view(&f->pointer), f->wanted)) {
        *f->ret = *ret;
        f->found = true;
    }
    return writ_buf_check(&f->pointer, NULL);
}

static writ_result
walk_document(struct finder *f)
{
    bool over = false;

    while (!over) {
        struct writ_place root;
        yaml_event_t event;
        writ_result result;

        WRIT_TRY(next_event(f, &event));
        over = event.type == YAML_STREAM_END_EVENT;
        result = event.type == YAML_SCALAR_EVENT || event.type == YAML_SEQUENCE_START_EVENT ||
                         event.type == YAML_MAPPING_START_EVENT
                     ? walk(f, &event, &root)
                     : WRIT_DONE;
        yaml_event_delete(&event);
        WRIT_TRY(result);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_place_find(struct writ_view text, struct writ_view pointer, struct writ_place *ret)
{
    size_t mark = writ_view_has_prefix(text, WRIT_LIT("\xef\xbb\xbf")) ? 3 : 0;
    struct writ_place found;
    WRIT_AUTO(struct finder, finder_wipe)
    f = {.text = writ_view_sub(text, mark, text.len),
        .wanted = pointer,
        .pointer = writ_buf_make(POINTER_MAX),
        .ret = &found};

    if (yaml_parser_initialize(&f.parser) == 0) {
        return (writ_result){WRIT_E_NOMEM};
    }
    yaml_parser_set_encoding(&f.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&f.parser, (const unsigned char *)f.text.ptr, f.text.len);
    WRIT_TRY(walk_document(&f));
    if (!f.found) {
        return (writ_result){WRIT_E_ABSENT};
    }
    found.start += mark;
    found.end += mark;
    *ret = found;
    return WRIT_DONE;
}

size_t
writ_place_line_end(struct writ_view text, size_t end)
{
    struct writ_view rest = writ_view_sub(text, end, text.len);
    size_t length = writ_view_find(rest, '\n'), at = 0;

    while (at < length && (rest.ptr[at] == ' ' || rest.ptr[at] == '\r')) {
        at++;
    }
    return at == length || rest.ptr[at] == '#' ? end + length : end;
}
