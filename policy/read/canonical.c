/* Writes parts of the file as canonical JSON. Members are sorted as JCS sorts them, and values keep
 * their type, so that two different files never look the same. */
#include "policy/read/canonical.h"

#include "base/decimal.h"
#include "base/text.h"
#include "evidence/json/jcs.h"
#include "policy/read/option.h"

#include <stdlib.h>

#define ENTRY_MAX (1 << 20) /* bytes of one entry as JSON */

/* How a part is written. */
enum {
    TYPED = 1, /* values keep their type */
    SHOWN = 2, /* to be read: without the parts of URLs and commands that may be secret */
    QUERY = 4, /* SHOWN, within a probe: URLs have no query */
    PEER = 8,  /* SHOWN, within a reviewer: URLs have no path, commands no arguments */
    NAMES = 16 /* SHOWN, within its environment: no values */
};

static void put_node(
    struct writ_buf *ret, const struct writ_yaml *node, unsigned how, struct writ_arena *arena);

static int
by_jcs(const void *a, const void *b)
{
    const struct writ_yaml *const *left = a, *const *right = b;

    return writ_jcs_compare((*left)->key, (*right)->key);
}

/* A value in the file keeps its type; everything else is an option and a text. */
static bool
begins_typed(const struct writ_yaml *member)
{
    return writ_view_is(member->key, "value") ||
           (writ_view_is(member->key, "arguments") && member->type == WRIT_YAML_MAP);
}

static unsigned
added_by(const struct writ_yaml *member, unsigned how)
{
    bool probes = (how & SHOWN) != 0 && writ_view_is(member->key, "state");
    bool names = (how & PEER) != 0 && writ_view_is(member->key, "environment");

    return (begins_typed(member) ? TYPED : 0) | (probes ? QUERY : 0) | (names ? NAMES : 0);
}

static void
put_members(
    struct writ_buf *ret, const struct writ_yaml *node, unsigned how, struct writ_arena *arena)
{
    const struct writ_yaml **members =
        writ_arena_get(arena, (node->count + 1) * sizeof(const struct writ_yaml *));
    size_t n = 0;

    if (members == NULL) {
        ret->failed = WRIT_E_NOMEM; /* seen at the end, like any other failure of the buffer */
        return;
    }
    WRIT_YAML_EACH(member, node)
    {
        members[n++] = member;
    }
    if (n > 0) {
        qsort(members, n, sizeof(const struct writ_yaml *), by_jcs);
    }
    writ_buf_byte(ret, '{');
    for (size_t i = 0; i < n; i++) {
        writ_buf_str(ret, i > 0 ? "," : "");
        writ_text_json(ret, members[i]->key);
        writ_buf_byte(ret, ':');
        put_node(ret, members[i], how | added_by(members[i], how), arena);
    }
    writ_buf_byte(ret, '}');
}

/* What of a text may be read. */
static struct writ_view
shown(struct writ_view text, unsigned how)
{
    size_t at = writ_view_search(text, WRIT_LIT("://"));

    if ((how & NAMES) != 0) {
        return WRIT_LIT("...");
    }
    if (at == text.len || (how & (QUERY | PEER)) == 0) {
        return text;
    }
    for (at += 3;
         at < text.len && text.ptr[at] != '?' && ((how & PEER) == 0 || text.ptr[at] != '/'); at++) {
    }
    return writ_view_sub(text, 0, at);
}

static void
put_scalar(struct writ_buf *ret, const struct writ_yaml *node, unsigned how)
{
    struct writ_decimal ignored;
    struct writ_view text = shown(node->text, how);

    if ((how & TYPED) == 0 || !node->plain) {
        writ_text_json(ret, text);
    } else if (writ_view_is(text, "true") || writ_view_is(text, "false") ||
               writ_view_is(text, "null")) {
        writ_buf_put(ret, text);
    } else if (writ_decimal_read(text, &ignored).code != WRIT_E_PARSE) {
        writ_buf_str(ret, "[\"n\",");
        writ_text_json(ret, text);
        writ_buf_byte(ret, ']');
    } else {
        writ_text_json(ret, text);
    }
}

static void
put_list(struct writ_buf *ret, const struct writ_yaml *node, unsigned how, struct writ_arena *arena)
{
    bool typed = (how & TYPED) != 0;

    writ_buf_str(ret, typed ? "[\"l\"" : "[");
    WRIT_YAML_EACH(element, node)
    {
        if (element->index > 0 && (how & PEER) != 0) {
            break; /* arguments of a command */
        }
        writ_buf_str(ret, typed || element->index > 0 ? "," : "");
        put_node(ret, element, how, arena);
    }
    writ_buf_byte(ret, ']');
}

static void
put_node(struct writ_buf *ret, const struct writ_yaml *node, unsigned how, struct writ_arena *arena)
{
    bool typed = (how & TYPED) != 0;

    switch (node->type) {
    case WRIT_YAML_NONE:
        writ_buf_str(ret, "null");
        break;
    case WRIT_YAML_SCALAR:
        put_scalar(ret, node, how);
        break;
    case WRIT_YAML_LIST:
        put_list(ret, node, how, arena);
        break;
    case WRIT_YAML_MAP:
        writ_buf_str(ret, typed ? "[\"m\"," : "");
        put_members(ret, node, how, arena);
        writ_buf_str(ret, typed ? "]" : "");
        break;
    }
}

/* Defaults that equal the built-in ones are left out. */
static bool
says_more(const struct writ_yaml *defaults)
{
    WRIT_YAML_EACH(member, defaults)
    {
        if (!writ_view_is(member->key, "unlisted_tool") &&
            !writ_view_is(member->key, "unlisted_argument")) {
            return true;
        }
    }
    return false;
}

WRIT_RESULT
writ_canonical_digest(
    const struct writ_yaml *node, struct writ_arena *arena, struct writ_digest *ret)
{
    writ_auto_buf text = writ_buf_make(ENTRY_MAX);

    put_node(&text, node, 0, arena);
    WRIT_TRY(writ_buf_check(&text, NULL));
    return writ_digest_bytes(writ_buf_view(&text), ret, NULL);
}

/* A member that is a list of names; none is left out. */
static void
put_names(struct writ_buf *ret, const char *member, const struct writ_views *names)
{
    if (names->n == 0) {
        return;
    }
    writ_text_json(ret, writ_view_str(member));
    for (size_t i = 0; i < names->n; i++) {
        writ_buf_str(ret, i > 0 ? "," : ":[");
        writ_text_json(ret, names->items[i]);
    }
    writ_buf_str(ret, "],");
}

/* The reviewer with a crew whose name comes next, as JCS sorts them; NULL: none. */
static const struct writ_reviewer_config *
next_crew(const struct writ_config *config, const struct writ_reviewer_config *before)
{
    const struct writ_reviewer_config *next = NULL;

    for (size_t i = 0; i < config->reviewers_n; i++) {
        const struct writ_reviewer_config *at = &config->reviewers[i];

        if (at->crew != NULL && (before == NULL || writ_jcs_compare(at->id, before->id) > 0) &&
            (next == NULL || writ_jcs_compare(at->id, next->id) < 0)) {
            next = at;
        }
    }
    return next;
}

/* The files of the crews of reviewers. */
static void
put_crews(struct writ_buf *ret, const struct writ_config *config)
{
    const struct writ_reviewer_config *reviewer = NULL;
    char digest[WRIT_DIGEST_TEXT];
    size_t n = 0;

    while ((reviewer = next_crew(config, reviewer)) != NULL) {
        writ_digest_text(&reviewer->crew->digest, digest);
        writ_buf_str(ret, n++ > 0 ? "," : "\"crews\":{");
        writ_text_json(ret, reviewer->id);
        writ_buf_fmt(ret, ":\"%s\"", digest);
    }
    writ_buf_str(ret, n > 0 ? "}," : "");
}

/* The files of the plug-ins that reviews name, sorted. */
static void
put_engines(struct writ_buf *ret, const struct writ_config *config)
{
    char digest[WRIT_DIGEST_TEXT];

    for (const struct writ_engine_config *at = config->engines; at != NULL; at = at->next) {
        writ_digest_text(&at->digest, digest);
        writ_buf_str(ret, at == config->engines ? "\"engines\":{" : ",");
        writ_text_json(ret, at->name);
        writ_buf_fmt(ret, ":\"%s\"", digest);
    }
    writ_buf_str(ret, config->engines != NULL ? "}," : "");
}

/* The programs of upstreams whose files have digests. */
static void
put_programs(
    struct writ_buf *ret, const struct writ_yaml *upstreams, unsigned how, struct writ_arena *arena)
{
    size_t most = upstreams != NULL ? upstreams->count : 0, n = 0;
    const struct writ_yaml **pinned =
        writ_arena_get(arena, (most + 1) * sizeof(const struct writ_yaml *));

    if (pinned == NULL) {
        ret->failed = WRIT_E_NOMEM;
        return;
    }
    WRIT_YAML_EACH(upstream, upstreams)
    {
        const struct writ_yaml *files = writ_option_of(upstream, "program_digest");

        if (files != NULL && files->count > 0) {
            pinned[n++] = upstream;
        }
    }
    if (n > 0) {
        qsort(pinned, n, sizeof(const struct writ_yaml *), by_jcs);
    }
    for (size_t i = 0; i < n; i++) {
        writ_buf_str(ret, i > 0 ? "," : "\"programs\":{");
        writ_text_json(ret, pinned[i]->key);
        writ_buf_byte(ret, ':');
        put_node(ret, writ_option_of(pinned[i], "program_digest"), how, arena);
    }
    writ_buf_str(ret, n > 0 ? "}," : "");
}

static void
put_tool(
    struct writ_buf *ret, const struct writ_yaml *entry, unsigned how, struct writ_arena *arena)
{
    const struct writ_yaml_source *source = writ_yaml_source(entry);
    bool list = entry->type == WRIT_YAML_LIST;

    writ_buf_str(ret, entry->index > 0 ? ",{" : "{");
    writ_buf_str(ret, source != NULL && !source->agreed ? "\"agreed\":false," : "");
    writ_buf_str(ret, list ? "\"rules\":" : "\"rules\":[");
    put_node(ret, entry, how, arena);
    writ_buf_str(ret, list ? ",\"tool\":" : "],\"tool\":");
    writ_text_json(ret, entry->key);
    writ_buf_byte(ret, '}');
}

/* The upstream with that option whose name comes after `after`; NULL: none. */
static const struct writ_upstream_config *
next_with(
    const struct writ_config *config, const char *option, const struct writ_upstream_config *after)
{
    const struct writ_upstream_config *next = NULL;

    for (size_t i = 0; i < config->upstreams_n; i++) {
        const struct writ_upstream_config *one = &config->upstreams[i];
        if (writ_option_of(one->node, option) != NULL &&
            (after == NULL || writ_jcs_compare(one->name, after->name) > 0) &&
            (next == NULL || writ_jcs_compare(one->name, next->name) < 0)) {
            next = one;
        }
    }
    return next;
}

/* Their labels of resources, in the order of the file, which decides:
 * "resources":{"bank":[{"labels":{...},"uri":"bank://bills/?"}]}, */
static void
put_resources(
    struct writ_buf *ret, const struct writ_config *config, unsigned how, struct writ_arena *arena)
{
    const struct writ_upstream_config *one = NULL;
    size_t n = 0;

    while ((one = next_with(config, "resources", one)) != NULL) {
        writ_buf_str(ret, n++ > 0 ? "," : "\"resources\":{");
        writ_text_json(ret, one->name);
        writ_buf_str(ret, ":[");
        WRIT_YAML_EACH(member, writ_option_of(one->node, "resources"))
        {
            writ_buf_str(ret, member->index > 0 ? ",{\"labels\":" : "{\"labels\":");
            put_node(ret, member, how, arena);
            writ_buf_str(ret, ",\"uri\":");
            writ_text_json(ret, member->key);
            writ_buf_byte(ret, '}');
        }
        writ_buf_byte(ret, ']');
    }
    writ_buf_str(ret, n > 0 ? "}," : "");
}

/* The labels of what is read from upstreams: ,"upstreams":{"bank":{...}} */
static void
put_read_labels(
    struct writ_buf *ret, const struct writ_config *config, unsigned how, struct writ_arena *arena)
{
    const struct writ_upstream_config *one = NULL;
    size_t n = 0;

    while ((one = next_with(config, "labels", one)) != NULL) {
        writ_buf_str(ret, n++ > 0 ? "," : ",\"upstreams\":{");
        writ_text_json(ret, one->name);
        writ_buf_byte(ret, ':');
        put_node(ret, writ_yaml_get(one->node, WRIT_LIT("labels")), how, arena);
    }
    writ_buf_str(ret, n > 0 ? "}" : "");
}

static WRIT_RESULT
put_policy(const struct writ_raw_top *top, const struct writ_yaml *root,
    const struct writ_config *config, unsigned how, struct writ_arena *arena, struct writ_buf *ret)
{
    const struct writ_yaml *defaults = writ_option_of(root, "defaults");
    const struct writ_yaml *definitions = writ_option_of(root, "definitions");

    writ_buf_byte(ret, '{');
    put_crews(ret, config);
    if (says_more(defaults)) {
        writ_buf_str(ret, "\"defaults\":");
        put_node(ret, defaults, how, arena);
        writ_buf_byte(ret, ',');
    }
    if (definitions != NULL) {
        writ_buf_str(ret, "\"definitions\":");
        put_node(ret, definitions, how, arena);
        writ_buf_byte(ret, ',');
    }
    put_names(ret, "detecting", &config->detecting);
    if (top->detectors != NULL) {
        writ_buf_str(ret, "\"detectors\":");
        put_node(ret, top->detectors, how, arena);
        writ_buf_byte(ret, ',');
    }
    put_engines(ret, config);
    if (top->flows != NULL) {
        writ_buf_str(ret, "\"flows\":");
        put_node(ret, top->flows, how, arena);
        writ_buf_byte(ret, ',');
    }
    put_names(ret, "not_agreed", &config->not_agreed);
    writ_buf_str(ret, "\"policy\":\"writ-policy-v1\",");
    put_programs(ret, top->upstreams, how, arena);
    put_resources(ret, config, how, arena);
    if (top->reviewers != NULL) {
        writ_buf_str(ret, "\"reviewers\":");
        put_node(ret, top->reviewers, how == 0 ? 0 : how | PEER, arena);
        writ_buf_byte(ret, ',');
    }
    if (top->reviews != NULL) {
        writ_buf_str(ret, "\"reviews\":");
        put_node(ret, top->reviews, how, arena);
        writ_buf_byte(ret, ',');
    }
    if (top->tasks != NULL) {
        writ_buf_str(ret, "\"tasks\":");
        put_node(ret, top->tasks, how, arena);
        writ_buf_byte(ret, ',');
    }
    writ_buf_str(ret, "\"tools\":[");
    WRIT_YAML_EACH(entry, top->tools)
    {
        put_tool(ret, entry, how, arena);
    }
    writ_buf_byte(ret, ']');
    put_read_labels(ret, config, how, arena);
    writ_buf_byte(ret, '}');
    return writ_buf_check(ret, NULL);
}

WRIT_RESULT
writ_canonical_policy(const struct writ_raw_top *top, const struct writ_yaml *root,
    const struct writ_config *config, struct writ_arena *arena, struct writ_buf *ret)
{
    return put_policy(top, root, config, 0, arena, ret);
}

WRIT_RESULT
writ_canonical_shown(const struct writ_raw_top *top, const struct writ_yaml *root,
    const struct writ_config *config, struct writ_arena *arena, struct writ_buf *ret)
{
    return put_policy(top, root, config, SHOWN, arena, ret);
}
