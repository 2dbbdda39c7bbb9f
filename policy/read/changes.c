/* Notes are in the order of the file, and most files change little: the search for the note of the
 * same option in the other configuration begins after the last one found. */
#include "policy/read/changes.h"

#define VALUE_MAX   (2 * WRIT_CONFIG_BYTES_MAX) /* of lists: texts with their lengths */
#define ROOM        256                         /* bytes of most paths and values */
#define REFUSED_MAX 160                         /* bytes of names in an error */
#define MORE_MAX    32                          /* bytes for the number of names that did not fit */

/* Of an option that is not LIVE. */
struct writ_changes_value {
    struct writ_changes_value *next;
    enum writ_reload reload;
    bool list;              /* a list or map of sections */
    bool left_out;          /* the value is the default of an absent option */
    struct writ_view path;  /* "upstreams.fs.timeout" */
    struct writ_view value; /* equal texts for equal meanings */
};

/* ---- notes */

static void
put_name(struct writ_buf *ret, struct writ_view name)
{
    writ_buf_str(ret, ret->len > 0 ? "." : "");
    writ_buf_put(ret, name);
}

static void
put_node(struct writ_buf *ret, const struct writ_yaml *node)
{
    char room[24];
    struct writ_buf index = writ_buf_over(room, sizeof room);

    if (node->parent == NULL) {
        return;
    }
    put_node(ret, node->parent);
    writ_buf_u64(&index, node->index);
    put_name(ret, node->parent->type == WRIT_YAML_LIST ? writ_buf_view(&index) : node->key);
}

static void
put_place(struct writ_buf *ret, const struct writ_option_place *place)
{
    if (place->map != NULL) {
        put_node(ret, place->map);
    } else if (place->outer != NULL) {
        put_place(ret, place->outer);
        put_name(ret, writ_view_str(place->name));
    }
}

static void
put_text(struct writ_buf *ret, struct writ_view text)
{
    writ_buf_fmt(ret, "%zu:", text.len);
    writ_buf_put(ret, text);
}

static void
put_texts(struct writ_buf *ret, const struct writ_views *texts)
{
    for (size_t i = 0; i < texts->n; i++) {
        put_text(ret, texts->items[i]);
    }
}

static void
put_pairs(struct writ_buf *ret, const struct writ_pairs *pairs)
{
    for (size_t i = 0; i < pairs->n; i++) {
        put_text(ret, pairs->items[i].name);
        put_text(ret, pairs->items[i].value);
    }
}

static void
put_address(struct writ_buf *ret, const struct writ_listen_address *address)
{
    put_text(ret, address->path);
    put_text(ret, address->host);
    writ_buf_u64(ret, address->port);
}

static bool
has_entries(const struct writ_yaml *node)
{
    return node != NULL && node->count > 0;
}

static void
put_value(struct writ_buf *ret, const struct writ_setting *s, const void *field)
{
    switch (s->kind) {
    case WRIT_SETTING_TEXT:
    case WRIT_SETTING_PATH:
        writ_buf_put(ret, *(const struct writ_view *)field);
        break;
    case WRIT_SETTING_WORD:
        writ_buf_i64(ret, *(const int *)field);
        break;
    case WRIT_SETTING_SWITCH:
        writ_buf_byte(ret, *(const bool *)field ? '1' : '0');
        break;
    case WRIT_SETTING_COUNT:
    case WRIT_SETTING_SIZE:
    case WRIT_SETTING_DURATION:
        writ_buf_i64(ret, *(const int64_t *)field);
        break;
    case WRIT_SETTING_TEXTS:
        put_texts(ret, field);
        break;
    case WRIT_SETTING_PAIRS:
        put_pairs(ret, field);
        break;
    case WRIT_SETTING_ADDRESS:
        put_address(ret, field);
        break;
    case WRIT_SETTING_DIGEST:
        writ_buf_put(ret, writ_view(field, sizeof(struct writ_digest)));
        break;
    case WRIT_SETTING_INNER:
        break;
    case WRIT_SETTING_NODE: /* whether it is present; its entries have notes of their own */
        writ_buf_byte(ret, has_entries(*(const struct writ_yaml *const *)field) ? '1' : '0');
        break;
    }
}

static struct writ_view
kept(struct writ_options *o, struct writ_buf *text)
{
    struct writ_view copy = {NULL, 0};

    if (writ_is_ok(writ_buf_check(text, NULL))) {
        copy = writ_view_copy(writ_buf_view(text), o->arena);
    }
    o->nomem = o->nomem || copy.ptr == NULL;
    return copy;
}

void
writ_changes_note(struct writ_options *o, const struct writ_setting *setting,
    const struct writ_option_place *place, const void *field, const void *left_out)
{
    char rooms[3][ROOM];
    writ_auto_buf path = writ_buf_from(rooms[0], ROOM, WRIT_CONFIG_BYTES_MAX);
    writ_auto_buf value = writ_buf_from(rooms[1], ROOM, VALUE_MAX);
    writ_auto_buf fallback = writ_buf_from(rooms[2], ROOM, VALUE_MAX);
    struct writ_changes_value *note = writ_arena_get(o->arena, sizeof *note);

    if (note == NULL) {
        o->nomem = true;
        return;
    }
    put_place(&path, place);
    put_name(&path, writ_view_str(setting->name));
    put_value(&value, setting, field);
    put_value(&fallback, setting, left_out);
    *note = (struct writ_changes_value){.reload = setting->reload,
        .list = setting->kind == WRIT_SETTING_NODE,
        .left_out = writ_view_equal(writ_buf_view(&value), writ_buf_view(&fallback)),
        .path = kept(o, &path),
        .value = kept(o, &value)};
    if (o->last_value != NULL) {
        o->last_value->next = note;
    } else {
        o->values = note;
    }
    o->last_value = note;
}

/* ---- the comparison */

/* Names of options, and how many did not fit. */
struct names {
    struct writ_buf *text;
    size_t more;
};

static void
name_option(struct names *names, struct writ_view path)
{
    struct writ_buf *text = names->text;

    if (text->len + path.len + 2 + MORE_MAX > text->max) {
        names->more++;
        return;
    }
    writ_buf_str(text, text->len > 0 ? ", " : "");
    writ_buf_put(text, path);
}

static void
say_more(const struct names *names)
{
    if (names->more > 0) {
        writ_buf_fmt(names->text, "%s%zu more", names->text->len > 0 ? " and " : "", names->more);
    }
}

/* The note about an option: from `next` on, else anywhere. NULL: none. */
static const struct writ_changes_value *
find(const struct writ_changes_value *all, const struct writ_changes_value *next,
    struct writ_view path)
{
    while (next != NULL && !writ_view_equal(next->path, path)) {
        next = next->next;
    }
    while (next == NULL && all != NULL) {
        next = writ_view_equal(all->path, path) ? all : NULL;
        all = all->next;
    }
    return next;
}

static bool
is_changed(const struct writ_changes_value *a, const struct writ_changes_value *b)
{
    return b == NULL ? !a->left_out : !writ_view_equal(a->value, b->value);
}

/* Whether a list or map around the option was added or removed completely. */
static bool
is_in_change(const struct writ_changes_value *a, const struct writ_config *of,
    const struct writ_config *other)
{
    for (const struct writ_changes_value *list = of->values; list != a; list = list->next) {
        if (list->list && writ_view_has_prefix(a->path, list->path) &&
            a->path.ptr[list->path.len] == '.' &&
            is_changed(list, find(other->values, NULL, list->path))) {
            return true;
        }
    }
    return false;
}

/* Names the changed options of `of`, and those that only it has. */
static void
compare(const struct writ_config *of, const struct writ_config *other, bool alone,
    struct names *refused, struct names *waits)
{
    const struct writ_changes_value *next = other->values;

    for (const struct writ_changes_value *a = of->values; a != NULL; a = a->next) {
        const struct writ_changes_value *b = find(other->values, next, a->path);

        if (is_changed(a, b) && (b == NULL || !alone) && !is_in_change(a, of, other)) {
            name_option(a->reload == WRIT_RELOAD_REFUSED ? refused : waits, a->path);
        }
        next = b != NULL ? b->next : next;
    }
}

WRIT_RESULT
writ_changes_check(const struct writ_config *start, const struct writ_config *fresh,
    struct writ_buf *ret_waits, struct writ_err *err)
{
    char room[REFUSED_MAX];
    struct writ_buf text = writ_buf_over(room, sizeof room);
    struct names refused = {.text = &text}, waits = {.text = ret_waits};

    compare(fresh, start, false, &refused, &waits);
    compare(start, fresh, true, &refused, &waits);
    say_more(&refused);
    say_more(&waits);
    if (text.len > 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, WRIT_VIEW_FMT ": restart the gateway to change them",
            WRIT_VIEW_ARG(writ_buf_view(&text)));
    }
    return WRIT_DONE;
}

void
writ_changes_keep(const struct writ_config *start, struct writ_config *fresh)
{
    fresh->limits = start->limits;
    fresh->sessions = start->sessions;
    fresh->ledger = start->ledger;
    fresh->exports = start->exports;
    fresh->exports_n = start->exports_n;
    fresh->log = start->log;
    fresh->hosts = start->hosts;
    fresh->origins = start->origins;
    fresh->upstreams = start->upstreams;
    fresh->upstreams_n = start->upstreams_n;
}
