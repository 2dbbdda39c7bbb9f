/* fragment.c - the fragment is a tree of its own, so that findings have its lines; its tools take
 * the place of those of the file. */
#include "policy/read/fragment.h"

static bool
is_agreed(const struct writ_yaml *root)
{
    const struct writ_yaml *agreed = writ_option_of(root, "agreed");

    return agreed == NULL || !writ_view_is(agreed->text, "false");
}

/* NULL: a finding says why, or there is no memory. */
static struct writ_yaml *
read_tools(struct writ_options *o, bool agreed)
{
    struct writ_yaml_source *source = writ_option_memory(o, 1, sizeof *source);
    const struct writ_yaml *read = NULL;
    struct writ_yaml *root;
    writ_result result;

    if (source == NULL) {
        return NULL;
    }
    *source = (struct writ_yaml_source){.file = WRIT_LIT("edit"), .agreed = agreed};
    o->findings->file = source->file;
    result = writ_yaml_read(o->fragment->text, o->arena, o->findings, &read);
    o->findings->file = writ_view(NULL, 0);
    root = writ_is_ok(result) ? writ_option_root(o, read) : NULL;
    if (root == NULL) {
        o->nomem = o->nomem || result.code == WRIT_E_NOMEM;
        return NULL;
    }
    root->source = source;
    if (root->type != WRIT_YAML_MAP || root->count != 1 ||
        !writ_view_is(root->first->key, "tools") || root->first->type != WRIT_YAML_MAP) {
        WRIT_OPTION_FAULT(o, root, "must be the option tools with its rules, and nothing else");
        return NULL;
    }
    return root->first;
}

const struct writ_yaml *
writ_fragment_put(struct writ_options *o, const struct writ_yaml *root, struct writ_view file)
{
    struct writ_yaml *tools, *copy, **at;

    if (o->fragment == NULL || o->fragment->taken || !writ_view_equal(o->fragment->file, file)) {
        return root;
    }
    o->fragment->taken = true;
    tools = read_tools(o, is_agreed(root));
    copy = tools != NULL && root->type == WRIT_YAML_MAP ? writ_option_root(o, root) : NULL;
    if (copy == NULL) {
        return root;
    }
    at = &copy->first;
    while (*at != NULL && !writ_view_is((*at)->key, "tools")) {
        at = &(*at)->next;
    }
    tools->index = *at != NULL ? (*at)->index : copy->count++;
    tools->next = *at != NULL ? (*at)->next : NULL;
    *at = tools;
    if (tools->next == NULL) {
        copy->last = tools;
    }
    return copy;
}
