/* sources.c - see sources.h. */
#include "policy/read/sources.h"

#include "policy/read/value_read.h"

static unsigned
sources_of(struct writ_options *o, const struct writ_yaml *node, const struct writ_views *names)
{
    unsigned sources = 0;

    for (size_t i = 0; i < names->n; i++) {
        unsigned source = writ_run_source_named(names->items[i]);
        if (source == 0 || source == WRIT_SOURCE_UNTRUSTED) {
            WRIT_OPTION_FAULT(
                o, node, "has sources of these names: task, operator, trusted, approved");
            return 0;
        }
        sources |= source;
    }
    if (sources == 0) {
        WRIT_OPTION_FAULT(o, node, "needs a list of sources: task, operator, trusted, approved");
    }
    return sources;
}

static bool
read_operator(struct writ_options *o, const struct writ_raw_from *raw, const struct writ_yaml *node,
    struct writ_from *ret)
{
    bool named = (ret->sources & WRIT_SOURCE_OPERATOR) != 0;

    if (raw->operator_list == NULL && !named) {
        return true;
    }
    if (raw->operator_list == NULL || !named || raw->operator_list->type != WRIT_YAML_LIST) {
        WRIT_OPTION_FAULT(o, raw->operator_list != NULL ? raw->operator_list : node,
            "the source operator and its list `operator` need each other");
        return false;
    }
    ret->operator_list = writ_value_read(o, raw->operator_list);
    return ret->operator_list != NULL;
}

static void
tell_sources(const struct writ_from *from, struct writ_buf *accepted)
{
    const char *before = from->addresses ? "a text whose URLs and addresses come from "
                         : from->host    ? "a value whose host comes from "
                                         : "a value that comes from ";

    for (unsigned source = 1; source < WRIT_SOURCE_UNTRUSTED; source *= 2) {
        if ((from->sources & source) != 0) {
            writ_buf_str(accepted, before);
            writ_buf_put(accepted, writ_run_source_name((enum writ_source)source));
            before = " or ";
        }
    }
}

const struct writ_from *
writ_sources_read(struct writ_options *o, const struct writ_yaml *node, struct writ_buf *accepted)
{
    struct writ_raw_from raw = {0};
    struct writ_from *from = writ_option_memory(o, 1, sizeof *from);
    struct writ_sources_pending *pending;

    if (from == NULL) {
        return NULL;
    }
    if (o->sources == NULL) {
        WRIT_OPTION_FAULT(o, node, "`from` is only in `arguments` of a rule: it needs the run");
        return NULL;
    }
    if (node->type == WRIT_YAML_MAP) {
        writ_option_read(o, WRIT_SECTION_from, node, &raw);
    } else if (!writ_option_texts(o, node, 4, &raw.sources)) {
        return NULL;
    }
    *from = (struct writ_from){
        .sources = sources_of(o, node, &raw.sources), .addresses = raw.addresses, .host = raw.host};
    if (from->sources == 0 || !read_operator(o, &raw, node, from)) {
        return NULL;
    }
    if (raw.approval != NULL) {
        pending = writ_option_memory(o, 1, sizeof *pending);
        if (pending == NULL) {
            return NULL;
        }
        *pending = (struct writ_sources_pending){from, raw.approval, *o->sources};
        *o->sources = pending;
    }
    tell_sources(from, accepted);
    return from;
}
