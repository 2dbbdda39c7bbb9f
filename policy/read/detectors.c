/* detectors.c - see detectors.h. A name that stands for no detector is an error, so that a
 * misspelled one cannot look for nothing. */
#include "policy/read/detectors.h"

#include "policy/model/glob.h"

#define NAMES_MAX (WRIT_DETECTOR_COUNT + WRIT_DETECTORS_OWN_MAX)
#define LIST_MAX  256 /* names in one list */

static bool *
no_flags(struct writ_options *o, size_t n)
{
    bool *flags = writ_option_memory(o, n, sizeof *flags);

    for (size_t i = 0; flags != NULL && i < n; i++) {
        flags[i] = false;
    }
    return flags;
}

/* ---- detectors of the file */

/* own.project_code: small letters, digits and _, in two or more parts. */
static bool
is_name(struct writ_view name)
{
    bool part = false, dot = false;

    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (c == '.' && part) {
            dot = true;
            part = false;
        } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_') {
            part = true;
        } else {
            return false;
        }
    }
    return part && dot && name.len <= WRIT_DETECTOR_NAME_MAX;
}

static struct writ_view
called(struct writ_options *o, struct writ_view name, int64_t version)
{
    struct writ_buf text = writ_buf_in(o->arena, WRIT_DETECTOR_NAME_MAX + 32);

    writ_buf_put(&text, name);
    writ_buf_byte(&text, '@');
    writ_buf_i64(&text, version);
    o->nomem = o->nomem || !writ_is_ok(writ_buf_check(&text, NULL));
    return writ_buf_view(&text);
}

static const struct writ_pattern *
search_pattern(struct writ_options *o, const struct writ_yaml *node, struct writ_view text,
    struct writ_pattern_list **patterns)
{
    struct writ_pattern_list *keep = writ_option_memory(o, 1, sizeof *keep);
    struct writ_pattern *pattern = NULL;
    struct writ_err err = {{0}, 0, 0};
    writ_result r;

    if (keep == NULL) {
        return NULL;
    }
    r = writ_pattern_new_search(text, &pattern, &err);
    if (!writ_is_ok(r)) {
        o->nomem = o->nomem || r.code == WRIT_E_NOMEM;
        WRIT_OPTION_FAULT(o, node, "%s", err.text);
        return NULL;
    }
    *keep = (struct writ_pattern_list){.pattern = pattern, .next = *patterns};
    *patterns = keep;
    return pattern;
}

static bool
read_one(struct writ_options *o, const struct writ_yaml *node, struct writ_pattern_list **patterns,
    struct writ_detector *ret)
{
    struct writ_raw_detector raw = {0};

    writ_option_read(o, WRIT_SECTION_detector, node, &raw);
    if (!is_name(node->key)) {
        WRIT_OPTION_FAULT(o, node,
            "the name of a detector has small letters, digits and _ in parts with a dot between "
            "them, such as own.project_code");
        return false;
    }
    if (writ_detector_is_reserved(node->key)) {
        WRIT_OPTION_FAULT(o, node,
            "names in secret, card, bank, contact, host, hidden and prompt are built in: use "
            "another one, such as own.project_code");
        return false;
    }
    if (node->type != WRIT_YAML_MAP || raw.pattern.len == 0) {
        return false;
    }
    *ret = (struct writ_detector){.name = node->key,
        .called = called(o, node->key, raw.version),
        .version = (unsigned)raw.version,
        .checksum = (enum writ_checksum)raw.checksum,
        .pattern = search_pattern(o, writ_option_of(node, "pattern"), raw.pattern, patterns)};
    return ret->pattern != NULL;
}

void
writ_detectors_read(struct writ_options *o, const struct writ_yaml *node,
    struct writ_config *config, struct writ_pattern_list **patterns)
{
    struct writ_detectors *all = writ_option_memory(o, 1, sizeof *all);
    struct writ_detector *items;

    o->detecting = no_flags(o, NAMES_MAX);
    if (node == NULL) {
        return;
    }
    if (node->type != WRIT_YAML_MAP || node->count > WRIT_DETECTORS_OWN_MAX) {
        WRIT_OPTION_FAULT(
            o, node, "must be a map of names to at most %d detectors", WRIT_DETECTORS_OWN_MAX);
        return;
    }
    items = writ_option_memory(o, node->count, sizeof *items);
    if (all == NULL || items == NULL) {
        return;
    }
    *all = (struct writ_detectors){.items = items};
    WRIT_YAML_EACH(element, node)
    {
        if (read_one(o, element, patterns, &items[all->n])) {
            all->n++;
        }
    }
    o->detectors = config->detectors = all;
}

/* ---- names */

static void
fault_unknown(struct writ_options *o, const struct writ_yaml *node, struct writ_view name)
{
    const char *words[NAMES_MAX];
    const struct writ_detector *detector;
    const char *nearest;
    size_t n = 0;

    for (; (detector = writ_detector_of(o->detectors, n)) != NULL; n++) {
        struct writ_view word = writ_view_copy(detector->name, o->arena);
        words[n] = word.ptr != NULL ? word.ptr : "";
    }
    nearest = writ_option_nearest(name, words, n);
    WRIT_OPTION_FAULT(o, node,
        "\"" WRIT_VIEW_FMT "\" names no detector%s%s%s docs/detectors.md lists them",
        WRIT_VIEW_ARG(writ_view_sub(name, 0, WRIT_DETECTOR_NAME_MAX)),
        nearest != NULL ? "; did you mean \"" : ".", nearest != NULL ? nearest : "",
        nearest != NULL ? "\"?" : "");
}

static bool
add_name(struct writ_options *o, const struct writ_yaml *node, struct writ_view name,
    struct writ_detector_set *set, bool *own)
{
    const struct writ_detector *detector;
    bool any = false;

    if (name.len == 0 || name.len > WRIT_DETECTOR_NAME_MAX || writ_glob_fault(name) != NULL) {
        WRIT_OPTION_FAULT(o, node, "needs names of detectors, such as card.number or secret.*");
        return false;
    }
    for (size_t i = 0; (detector = writ_detector_of(o->detectors, i)) != NULL; i++) {
        if (writ_detector_is_named(detector, name)) {
            *(i < WRIT_DETECTOR_COUNT ? &set->builtin[i] : &own[i - WRIT_DETECTOR_COUNT]) = true;
            any = true;
            if (o->detecting != NULL) {
                o->detecting[i] = true;
            }
        }
    }
    if (!any) {
        fault_unknown(o, node, name);
    }
    return any;
}

const struct writ_detector_set *
writ_detectors_named(struct writ_options *o, const struct writ_yaml *node)
{
    struct writ_detector_set *set = writ_option_memory(o, 1, sizeof *set);
    bool *own = no_flags(o, o->detectors != NULL ? o->detectors->n : 0);
    bool scalar = node != NULL && node->type == WRIT_YAML_SCALAR, good = true;
    struct writ_view one = scalar ? node->text : writ_view(NULL, 0);
    struct writ_views names = {&one, 1};

    if (set == NULL || own == NULL) {
        return NULL;
    }
    if (!scalar && !writ_option_texts(o, node, LIST_MAX, &names)) {
        return NULL;
    }
    *set = (struct writ_detector_set){.own = o->detectors, .own_wanted = own};
    for (size_t i = 0; i < names.n; i++) {
        good = add_name(o, node, names.items[i], set, own) && good;
    }
    if (names.n == 0) {
        WRIT_OPTION_FAULT(o, node, "needs at least one detector, such as card.number or secret.*");
    }
    return good && names.n > 0 ? set : NULL;
}

void
writ_detectors_tell(const struct writ_yaml *node, struct writ_buf *ret)
{
    if (node->type == WRIT_YAML_SCALAR) {
        writ_buf_put(ret, node->text);
    }
    for (const struct writ_yaml *one = node->type == WRIT_YAML_LIST ? node->first : NULL;
         one != NULL && ret->len < 300; one = one->next) {
        writ_buf_str(ret, one->index > 0 ? ", " : "");
        writ_buf_put(ret, one->text);
    }
}

void
writ_detectors_used(struct writ_options *o, struct writ_config *config)
{
    struct writ_view *names = writ_option_memory(o, NAMES_MAX, sizeof *names);
    const struct writ_detector *detector;
    size_t n = 0;

    for (size_t i = 0; names != NULL && o->detecting != NULL &&
                       (detector = writ_detector_of(o->detectors, i)) != NULL;
         i++) {
        if (o->detecting[i]) {
            names[n++] = detector->called;
        }
    }
    config->detecting = (struct writ_views){names, n};
}
