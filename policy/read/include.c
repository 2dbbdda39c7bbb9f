/* Each file is read into a tree of its own, and its sections then join those of the configuration.
 * A node keeps its own parents, so a finding about it names the file, line and pointer where it
 * stands. */
#include "policy/read/include.h"

#include "base/folder.h"
#include "base/text.h"
#include "policy/read/fragment.h"
#include "policy/read/placeholder.h"

#include <stdlib.h>

#define NOT_AGREED_MAX (2 * WRIT_UPSTREAMS_MAX) /* more names are refused anyway */

/* The state of a reading. */
struct including {
    struct writ_options *o;
    struct writ_config *config;
    const struct writ_yaml *option; /* include */
    struct writ_yaml *root;         /* of the whole configuration */
    struct writ_view *not_agreed;
    size_t not_agreed_n;
};

/* ---- trees */

static void
append(struct writ_yaml *map, struct writ_yaml *member)
{
    member->next = NULL;
    member->index = map->count++;
    if (map->last == NULL) {
        map->first = member;
    } else {
        map->last->next = member;
    }
    map->last = member;
}

static struct writ_yaml *
child_of(const struct writ_yaml *map, struct writ_view key)
{
    struct writ_yaml *child = map->first;

    while (child != NULL && !writ_view_equal(child->key, key)) {
        child = child->next;
    }
    return child;
}

/* Adds the members of a section to that of the configuration. */
static void
join_section(struct including *in, struct writ_yaml *section)
{
    struct writ_yaml *whole = child_of(in->root, section->key), *next;

    if (whole == NULL) {
        append(in->root, section);
        return;
    }
    if (whole->type != WRIT_YAML_MAP) {
        return; /* its reader refuses it */
    }
    for (struct writ_yaml *member = section->first; member != NULL; member = next) {
        next = member->next;
        append(whole, member);
    }
}

/* ---- one file */

/* Whether the section of the table has an option of that name. */
static bool
is_option(enum writ_section section, struct writ_view name)
{
    size_t n;
    const struct writ_setting *settings = writ_setting_all(&n);

    for (size_t i = 0; i < n; i++) {
        if (settings[i].section == section && writ_view_is(name, settings[i].name)) {
            return true;
        }
    }
    return false;
}

/* Takes out the options that only the configuration file itself may have. */
static void
refuse_others(struct including *in, struct writ_yaml *root)
{
    struct writ_yaml *member = root->first, *next;

    root->first = root->last = NULL;
    root->count = 0;
    for (; member != NULL; member = next) {
        next = member->next;
        if (!is_option(WRIT_SECTION_included, member->key) &&
            is_option(WRIT_SECTION_top, member->key)) {
            WRIT_OPTION_FAULT(in->o, member,
                "is not for an included file. Write it in " WRIT_VIEW_FMT,
                WRIT_VIEW_ARG(in->config->file));
        } else {
            append(root, member);
        }
    }
}

/* Upstreams of a file that is not agreed are started, so they are complete. */
static bool
runs_tools(const struct writ_yaml *section)
{
    return writ_view_is(section->key, "upstreams") || writ_view_is(section->key, "frameworks");
}

static void
note_not_agreed(struct including *in, const struct writ_yaml *section)
{
    if (in->not_agreed == NULL) {
        in->not_agreed = writ_option_memory(in->o, NOT_AGREED_MAX, sizeof *in->not_agreed);
    }
    WRIT_YAML_EACH(member, section)
    {
        if (in->not_agreed != NULL && in->not_agreed_n < NOT_AGREED_MAX) {
            in->not_agreed[in->not_agreed_n++] = member->key;
        }
    }
}

static void
read_not_agreed(struct including *in, struct writ_yaml *root)
{
    const struct writ_yaml *agreed = writ_option_of(root, "agreed");

    if (agreed != NULL && agreed->type == WRIT_YAML_SCALAR) {
        WRIT_OPTION_WARN(in->o, agreed,
            "not agreed: every call to its tools is refused. Read its rules, replace the "
            "placeholders, and set agreed: true");
    }
    WRIT_YAML_EACH(section, root)
    {
        if (runs_tools(section)) {
            writ_placeholder_refuse(in->o, section);
            note_not_agreed(in, section);
        } else {
            writ_placeholder_warn(in->o, section);
        }
    }
}

static void
join_file(struct including *in, struct writ_yaml *root, struct writ_yaml_source *source)
{
    const struct writ_yaml *agreed;
    struct writ_raw_included raw = {0};
    struct writ_yaml *next;

    root->source = source;
    if (root->type != WRIT_YAML_MAP) {
        WRIT_OPTION_FAULT(in->o, root, "an included file is a map of options");
        return;
    }
    refuse_others(in, root);
    agreed = writ_option_of(root, "agreed");
    writ_option_read(in->o, WRIT_SECTION_included, root, &raw);
    source->agreed = raw.agreed;
    if (raw.agreed) {
        writ_placeholder_refuse(in->o, root);
    } else {
        read_not_agreed(in, root);
    }
    for (struct writ_yaml *section = root->first; section != NULL; section = next) {
        next = section->next;
        if (!is_option(WRIT_SECTION_included, section->key) || section == agreed) {
            continue;
        }
        if (section->type == WRIT_YAML_MAP) {
            join_section(in, section);
        } else if (section->type != WRIT_YAML_NONE) {
            WRIT_OPTION_FAULT(
                in->o, section, "must be a map, not %s", writ_yaml_type_name(section));
        }
    }
}

/* Fails without memory alone; faults are findings. */
static WRIT_RESULT
read_file(struct including *in, const char *path)
{
    writ_auto_buf text = writ_buf_make(WRIT_CONFIG_BYTES_MAX);
    struct writ_yaml_source *source = writ_option_memory(in->o, 1, sizeof *source);
    const struct writ_yaml *root = NULL;
    struct writ_yaml *copy;
    struct writ_err err = {0};
    writ_result result;

    if (source == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    *source = (struct writ_yaml_source){.file = writ_option_join(in->o, "", writ_view_str(path))};
    result = writ_option_file(in->o, path, &text, &err);
    if (!writ_is_ok(result)) {
        WRIT_OPTION_FAULT(in->o, in->option, "%s", err.text);
        return result.code == WRIT_E_NOMEM ? result : WRIT_DONE;
    }
    in->o->findings->file = source->file;
    result = writ_yaml_read(writ_buf_view(&text), in->o->arena, in->o->findings, &root);
    in->o->findings->file = writ_view(NULL, 0);
    if (!writ_is_ok(result)) {
        return result.code == WRIT_E_NOMEM ? result : WRIT_DONE;
    }
    copy = writ_option_root(in->o, writ_fragment_put(in->o, root, source->file));
    if (copy == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    join_file(in, copy, source);
    return WRIT_DONE;
}

/* ---- all files */

static WRIT_RESULT
read_files(struct including *in)
{
    struct writ_view folder = writ_option_path(in->o, in->option->text), *names = NULL;
    struct writ_err err = {0};
    writ_result result;
    size_t n = 0;

    if (folder.ptr == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    in->config->include = folder;
    result = writ_folder_names(
        folder.ptr, WRIT_INCLUDE_SUFFIX, WRIT_INCLUDE_FILES_MAX, in->o->arena, &names, &n, &err);
    if (!writ_is_ok(result)) {
        WRIT_OPTION_FAULT(in->o, in->option, "%s", err.text);
        return result.code == WRIT_E_NOMEM ? result : WRIT_DONE;
    }
    for (size_t i = 0; i < n; i++) {
        writ_auto_buf path = writ_buf_make(WRIT_TEXT_PATH_MAX);

        writ_buf_fmt(&path, "%s%s%s", folder.ptr,
            writ_view_has_suffix(folder, WRIT_LIT("/")) ? "" : "/", names[i].ptr);
        writ_buf_byte(&path, '\0');
        WRIT_TRY(writ_buf_check(&path, &err));
        WRIT_TRY(read_file(in, path.ptr));
    }
    return WRIT_DONE;
}

static int
by_key(const void *a, const void *b)
{
    const struct writ_yaml *const *left = a, *const *right = b;
    int order = writ_view_compare((*left)->key, (*right)->key);

    return order != 0 ? order
                      : ((*left)->index > (*right)->index) - ((*left)->index < (*right)->index);
}

/* Names each member that an earlier file has too. */
static void
refuse_doubles(struct including *in, const struct writ_yaml *section)
{
    const struct writ_yaml **members =
        writ_option_memory(in->o, section->count, sizeof(const struct writ_yaml *));
    size_t n = 0;

    if (members == NULL) {
        return;
    }
    WRIT_YAML_EACH(member, section)
    {
        members[n++] = member;
    }
    if (n > 0) {
        qsort(members, n, sizeof(const struct writ_yaml *), by_key);
    }
    for (size_t i = 1; i < n; i++) {
        const struct writ_yaml_source *source = writ_yaml_source(members[i - 1]);

        if (writ_view_equal(members[i - 1]->key, members[i]->key)) {
            WRIT_OPTION_FAULT(in->o, members[i],
                "written twice; the other is on line %zu of " WRIT_VIEW_FMT,
                members[i - 1]->key_line,
                WRIT_VIEW_ARG(source != NULL ? source->file : in->config->file));
        }
    }
}

const struct writ_yaml *
writ_include_read(struct writ_options *o, const struct writ_yaml *root, struct writ_config *config)
{
    struct including in = {
        .o = o, .config = config, .option = writ_option_of(root, "include"), .root = NULL};

    if (in.option == NULL || in.option->type != WRIT_YAML_SCALAR || in.option->text.len == 0) {
        return root; /* absent, or its reader refuses it */
    }
    in.root = writ_option_root(o, root);
    if (in.root == NULL || !writ_is_ok(read_files(&in))) {
        o->nomem = true;
        return root;
    }
    WRIT_YAML_EACH(section, in.root)
    {
        if (section->type == WRIT_YAML_MAP && is_option(WRIT_SECTION_included, section->key)) {
            refuse_doubles(&in, section);
        }
    }
    config->not_agreed = (struct writ_views){in.not_agreed, in.not_agreed_n};
    return in.root;
}
