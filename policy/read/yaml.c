/* Invariants:
 *
 * (1) Every node in the tree has its parent, key or index, and line set, so that a message about it
 * can always name its place.
 * (2) Within one map no two linked members have the same key: of two the first stays. */
#include "policy/read/yaml.h"

#include "base/utf8.h"
#include "policy/model/trail.h"

#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

#define POINTER_MAX 512 /* of a message; a longer pointer is cut */

struct reader {
    yaml_parser_t parser;
    struct writ_arena *arena;
    struct writ_findings *findings;
    struct writ_yaml *stack[WRIT_YAML_DEPTH_MAX]; /* open maps and lists */
    size_t depth, nodes;
    struct writ_view key; /* of the open map: the key whose value comes next */
    size_t key_line;
    bool has_key;
    struct writ_yaml *root;
};

const struct writ_yaml *
writ_yaml_get(const struct writ_yaml *map, struct writ_view key)
{
    if (map == NULL || map->type != WRIT_YAML_MAP) {
        return NULL;
    }
    WRIT_YAML_EACH(child, map)
    {
        if (writ_view_equal(child->key, key)) {
            return child;
        }
    }
    return NULL;
}

const struct writ_yaml_source *
writ_yaml_source(const struct writ_yaml *node)
{
    while (node->parent != NULL) {
        node = node->parent;
    }
    return node->source;
}

bool
writ_yaml_is_empty(const struct writ_yaml *node)
{
    return node->type == WRIT_YAML_SCALAR && node->plain && node->text.len == 0;
}

const char *
writ_yaml_type_name(const struct writ_yaml *node)
{
    switch (node->type) {
    case WRIT_YAML_NONE:
        return "a refused value";
    case WRIT_YAML_SCALAR:
        return writ_yaml_is_empty(node) ? "nothing" : "a text";
    case WRIT_YAML_LIST:
        return "a list";
    case WRIT_YAML_MAP:
        return "a map";
    }
    return "";
}

void
writ_yaml_pointer(const struct writ_yaml *node, struct writ_buf *ret)
{
    const struct writ_yaml *path[WRIT_YAML_DEPTH_MAX + 1];
    size_t n = 0;

    for (; node->parent != NULL; node = node->parent) {
        path[n++] = node;
    }
    while (n > 0) {
        node = path[--n];
        writ_buf_byte(ret, '/');
        if (node->parent->type == WRIT_YAML_MAP) {
            writ_trail_token(node->key, ret);
        } else {
            writ_buf_u64(ret, node->index);
        }
    }
}

void
writ_yaml_find(struct writ_findings *findings, enum writ_severity severity,
    const struct writ_yaml *node, const char *fmt, ...)
{
    const struct writ_yaml_source *source = writ_yaml_source(node);
    const struct writ_view before = findings->file;
    writ_auto_buf pointer = writ_buf_make(POINTER_MAX);
    char text[WRIT_FINDING_TEXT_MAX + 1] = "";
    va_list args;

    writ_yaml_pointer(node, &pointer);
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    findings->file = source != NULL ? source->file : before;
    writ_findings_add(findings, severity, node->key_line, writ_buf_view(&pointer), "%s", text);
    findings->file = before;
}

static writ_result
fault_at(struct reader *r, enum writ_code code, size_t line, const char *message)
{
    writ_findings_add(r->findings, WRIT_SEVERITY_ERROR, line, writ_view(NULL, 0), "%s", message);
    return (writ_result){code};
}

static struct writ_yaml *
open_node(const struct reader *r)
{
    return r->depth > 0 ? r->stack[r->depth - 1] : NULL;
}

/* True when the next scalar of the open map is a key. */
static bool
wants_key(const struct reader *r)
{
    const struct writ_yaml *open = open_node(r);

    return open != NULL && open->type == WRIT_YAML_MAP && !r->has_key;
}

static void
link_node(struct reader *r, struct writ_yaml *node)
{
    struct writ_yaml *parent = open_node(r);

    node->parent = parent; /* keeps (1) */
    node->key = r->has_key ? r->key : writ_view(NULL, 0);
    node->key_line = r->has_key ? r->key_line : node->line;
    r->has_key = false;
    if (parent == NULL) {
        r->root = node;
        return;
    }
    node->index = parent->count++;
    if (parent->last == NULL) {
        parent->first = node;
    } else {
        parent->last->next = node;
    }
    parent->last = node;
}

static WRIT_RESULT
new_node(struct reader *r, enum writ_yaml_type type, size_t line, struct writ_yaml **ret)
{
    struct writ_yaml *node;

    if (++r->nodes > WRIT_YAML_NODES_MAX) {
        return fault_at(r, WRIT_E_LIMIT, line, "more than 262144 values in one file");
    }
    if (open_node(r) != NULL && open_node(r)->count >= WRIT_YAML_MEMBERS_MAX) {
        return fault_at(r, WRIT_E_LIMIT, line, "more than 16384 members in one map or list");
    }
    node = writ_arena_get(r->arena, sizeof *node);
    if (node == NULL) {
        return fault_at(r, WRIT_E_NOMEM, line, "no memory for so large a file");
    }
    *node = (struct writ_yaml){.type = type, .line = line};
    link_node(r, node);
    *ret = node;
    return WRIT_DONE;
}

/* Faults that a node may carry. The node is then WRIT_YAML_NONE, so that it gets one finding. */
static const char *
refused_decoration(const yaml_char_t *anchor, const yaml_char_t *tag)
{
    if (anchor != NULL) {
        return "anchors (&name) are not supported: write the value out";
    }
    return tag != NULL ? "tags (!name) are not supported" : NULL;
}

static void
check_decoration(
    struct reader *r, struct writ_yaml *node, const yaml_char_t *anchor, const yaml_char_t *tag)
{
    const char *refused = refused_decoration(anchor, tag);

    if (refused != NULL) {
        writ_yaml_find(r->findings, WRIT_SEVERITY_ERROR, node, "%s", refused);
        node->type = node->type == WRIT_YAML_SCALAR ? WRIT_YAML_NONE : node->type;
    }
}

static WRIT_RESULT
read_key(struct reader *r, struct writ_view text, const yaml_event_t *event, size_t line)
{
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;

    if (++r->nodes > WRIT_YAML_NODES_MAX) {
        return fault_at(r, WRIT_E_LIMIT, line, "more than 262144 values in one file");
    }
    if (refused_decoration(event->data.scalar.anchor, event->data.scalar.tag) != NULL) {
        (void)fault_at(r, WRIT_E_PARSE, line, "anchors and tags on keys are not supported");
    } else if (plain && writ_view_is(text, "<<")) {
        (void)fault_at(r, WRIT_E_PARSE, line, "merge keys (<<) are not supported");
    } else if (plain && text.len == 0) {
        (void)fault_at(r, WRIT_E_PARSE, line, "a key is empty");
    }
    r->key = writ_view_copy(text, r->arena);
    if (r->key.ptr == NULL) {
        return fault_at(r, WRIT_E_NOMEM, line, "no memory for so large a file");
    }
    r->key_line = line;
    r->has_key = true;
    return WRIT_DONE;
}

static WRIT_RESULT
read_scalar(struct reader *r, const yaml_event_t *event, size_t line)
{
    struct writ_view text = writ_view(event->data.scalar.value, event->data.scalar.length);
    struct writ_yaml *node;

    if (wants_key(r)) {
        return read_key(r, text, event, line);
    }
    WRIT_TRY(new_node(r, WRIT_YAML_SCALAR, line, &node));
    node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    node->text = writ_view_copy(text, r->arena);
    if (node->text.ptr == NULL) {
        return fault_at(r, WRIT_E_NOMEM, line, "no memory for so large a file");
    }
    check_decoration(r, node, event->data.scalar.anchor, event->data.scalar.tag);
    return WRIT_DONE;
}

static WRIT_RESULT
read_begin(struct reader *r, const yaml_event_t *event, enum writ_yaml_type type, size_t line)
{
    bool map = type == WRIT_YAML_MAP;
    struct writ_yaml *node;

    if (wants_key(r)) {
        return fault_at(r, WRIT_E_PARSE, line, "a key must be a text");
    }
    if (r->depth == WRIT_YAML_DEPTH_MAX) {
        return fault_at(r, WRIT_E_LIMIT, line, "nested deeper than 32 levels");
    }
    WRIT_TRY(new_node(r, type, line, &node));
    check_decoration(r, node,
        map ? event->data.mapping_start.anchor : event->data.sequence_start.anchor,
        map ? event->data.mapping_start.tag : event->data.sequence_start.tag);
    r->stack[r->depth++] = node;
    return WRIT_DONE;
}

static WRIT_RESULT
read_alias(struct reader *r, size_t line)
{
    struct writ_yaml *node;

    if (wants_key(r)) {
        return fault_at(r, WRIT_E_PARSE, line, "aliases (*name) are not supported");
    }
    WRIT_TRY(new_node(r, WRIT_YAML_NONE, line, &node));
    writ_yaml_find(r->findings, WRIT_SEVERITY_ERROR, node,
        "aliases (*name) are not supported: write the value out");
    return WRIT_DONE;
}

static int
by_key(const void *a, const void *b)
{
    const struct writ_yaml *const *left = a, *const *right = b;
    int order = writ_view_compare((*left)->key, (*right)->key);

    if (order == 0) { /* the order of the file, so that the later one gets the finding */
        return (*left)->index < (*right)->index ? -1 : 1;
    }
    return order;
}

static void
unlink_doubles(struct writ_yaml *map)
{
    struct writ_yaml *kept = NULL;

    for (struct writ_yaml *node = map->first; node != NULL; node = node->next) {
        if (node->parent == NULL) { /* marked by refuse_doubles */
            map->count--;
            continue;
        }
        if (kept == NULL) {
            map->first = node;
        } else {
            kept->next = node;
        }
        kept = node;
    }
    WRIT_INVARIANT(kept != NULL); /* the first of two with one name stays */
    kept->next = NULL;
    map->last = kept;
}

/* keeps (2) */
static WRIT_RESULT
refuse_doubles(struct reader *r, struct writ_yaml *map)
{
    struct writ_yaml **members;
    bool doubled = false;
    size_t n = 0, kept = 0;

    if (map->count < 2) {
        return WRIT_DONE;
    }
    members = writ_arena_get(r->arena, map->count * sizeof(struct writ_yaml *));
    if (members == NULL) {
        return fault_at(r, WRIT_E_NOMEM, map->line, "no memory for so large a file");
    }
    for (struct writ_yaml *node = map->first; node != NULL; node = node->next) {
        members[n++] = node;
    }
    qsort(members, n, sizeof(struct writ_yaml *), by_key);
    for (size_t i = 1; i < n; i++) {
        if (!writ_view_equal(members[i]->key, members[kept]->key)) {
            kept = i;
            continue;
        }
        writ_yaml_find(r->findings, WRIT_SEVERITY_ERROR, members[i],
            "written twice; the first is on line %zu", members[kept]->key_line);
        members[i]->parent = NULL;
        doubled = true;
    }
    if (doubled) {
        unlink_doubles(map);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_end(struct reader *r)
{
    struct writ_yaml *node = r->stack[--r->depth];

    return node->type == WRIT_YAML_MAP ? refuse_doubles(r, node) : WRIT_DONE;
}

static WRIT_RESULT
parser_fault(struct reader *r)
{
    const yaml_parser_t *p = &r->parser;
    bool nomem = p->error == YAML_MEMORY_ERROR;
    size_t line = p->problem_mark.line + 1;
    const char *problem = p->problem != NULL ? p->problem : "unknown problem";
    bool token = writ_view_search(writ_view_str(problem), WRIT_LIT("cannot start any token")) <
                 writ_view_str(problem).len;

    if (p->error == YAML_READER_ERROR) {
        line = 0; /* libyaml knows only a byte offset */
    }
    writ_findings_add(r->findings, WRIT_SEVERITY_ERROR, line, writ_view(NULL, 0),
        "not readable as YAML: %s%s%s%s", problem, p->context != NULL ? ", " : "",
        p->context != NULL ? p->context : "", token ? " (indented with a tab?)" : "");
    return (writ_result){nomem ? WRIT_E_NOMEM : WRIT_E_PARSE};
}

static WRIT_RESULT
read_event(struct reader *r, const yaml_event_t *event, bool *done)
{
    size_t line = event->start_mark.line + 1;

    switch (event->type) {
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        return WRIT_DONE;
    case YAML_DOCUMENT_START_EVENT:
        if (r->root != NULL) {
            return fault_at(r, WRIT_E_PARSE, line, "a second document: one file holds one");
        }
        return WRIT_DONE;
    case YAML_STREAM_END_EVENT:
        *done = true;
        return WRIT_DONE;
    case YAML_ALIAS_EVENT:
        return read_alias(r, line);
    case YAML_SCALAR_EVENT:
        return read_scalar(r, event, line);
    case YAML_SEQUENCE_START_EVENT:
        return read_begin(r, event, WRIT_YAML_LIST, line);
    case YAML_MAPPING_START_EVENT:
        return read_begin(r, event, WRIT_YAML_MAP, line);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return read_end(r);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_events(struct reader *r)
{
    bool done = false;

    while (!done) {
        yaml_event_t event;
        writ_result result;

        if (yaml_parser_parse(&r->parser, &event) == 0) {
            return parser_fault(r);
        }
        result = read_event(r, &event, &done);
        yaml_event_delete(&event);
        WRIT_TRY(result);
    }
    if (r->root == NULL) {
        return fault_at(r, WRIT_E_PARSE, 0, "the file is empty");
    }
    return WRIT_DONE;
}

static bool
looks_like_json(struct writ_view text)
{
    size_t at = 0;

    while (at < text.len && writ_view_find(WRIT_LIT(" \t\r\n"), text.ptr[at]) < 4) {
        at++;
    }
    return at < text.len && (text.ptr[at] == '{' || text.ptr[at] == '[');
}

static void
parser_wipe(struct reader *r)
{
    yaml_parser_delete(&r->parser);
}

WRIT_RESULT
writ_yaml_read(struct writ_view text, struct writ_arena *arena, struct writ_findings *findings,
    const struct writ_yaml **ret)
{
    WRIT_AUTO(struct reader, parser_wipe) r = {.arena = arena, .findings = findings};
    size_t bad;

    if (writ_view_has_prefix(text, WRIT_LIT("\xef\xbb\xbf"))) {
        text = writ_view_sub(text, 3, text.len);
    }
    if (!writ_utf8_is_valid(text, &bad)) {
        writ_findings_add(
            findings, WRIT_SEVERITY_ERROR, 0, writ_view(NULL, 0), "not UTF-8 at byte %zu", bad);
        return (writ_result){WRIT_E_PARSE};
    }
    if (looks_like_json(text) && writ_yaml_from_json(text, arena, ret)) {
        return WRIT_DONE;
    }
    if (yaml_parser_initialize(&r.parser) == 0) {
        return fault_at(&r, WRIT_E_NOMEM, 0, "no memory to read the file");
    }
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(
        &r.parser, (const unsigned char *)(text.len > 0 ? text.ptr : ""), text.len);
    WRIT_TRY(read_events(&r));
    *ret = r.root;
    return WRIT_DONE;
}
