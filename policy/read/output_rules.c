/* Reads `result`. Redactions and removals of the defaults come before those of the rule (unless it
 * drops the redactions); for everything else the rule replaces the default. */
#include "policy/read/output_rules.h"

#include "policy/detect/detector.h"
#include "policy/model/glob.h"
#include "policy/read/detectors.h"

#define NAME_MAX_BYTES 8192 /* of a rule in a record */

static const char *const kinds[] = {
    "text", "image", "audio", "resource", "resource_link", "structured"};

static bool
is_kind(struct writ_view entry)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (writ_view_is(entry, kinds[i])) {
            return true;
        }
    }
    return false;
}

static void
fault_content(struct writ_options *o, const struct writ_yaml *node, size_t i)
{
    writ_auto_buf list = writ_buf_make(WRIT_FINDING_TEXT_MAX);

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        writ_buf_fmt(&list, "%s, ", kinds[k]);
    }
    WRIT_OPTION_FAULT(o, node, "element %zu is not one of " WRIT_VIEW_FMT "image/... and audio/...",
        i, WRIT_VIEW_ARG(writ_buf_view(&list)));
}

static bool
check_content(
    struct writ_options *o, const struct writ_yaml *node, const struct writ_views *content)
{
    for (size_t i = 0; i < content->n; i++) {
        struct writ_view entry = content->items[i];
        bool media = writ_view_has_prefix(entry, WRIT_LIT("image/")) ||
                     writ_view_has_prefix(entry, WRIT_LIT("audio/"));
        if (!is_kind(entry) && (!media || writ_glob_fault(entry) != NULL)) {
            fault_content(o, writ_yaml_get(node, WRIT_LIT("content")), i);
            return false;
        }
    }
    return true;
}

static bool
check_remove(struct writ_options *o, const struct writ_yaml *node, const struct writ_views *remove)
{
    for (size_t i = 0; i < remove->n; i++) {
        if (!writ_json_is_pointer(remove->items[i]) || remove->items[i].len < 2) {
            WRIT_OPTION_FAULT(o, writ_yaml_get(node, WRIT_LIT("remove")),
                "element %zu is not a JSON Pointer into a result, such as "
                "/structuredContent/secret",
                i);
            return false;
        }
    }
    return true;
}

static struct writ_view
name_of(struct writ_options *o, const char *what, struct writ_view text)
{
    writ_auto_buf name = writ_buf_make(NAME_MAX_BYTES);
    struct writ_view kept = {NULL, 0};

    writ_buf_str(&name, what);
    writ_buf_put(&name, text);
    if (writ_is_ok(writ_buf_check(&name, NULL))) {
        kept = writ_view_copy(writ_buf_view(&name), o->arena);
    }
    o->nomem = o->nomem || kept.ptr == NULL;
    return kept;
}

static bool
read_detecting(struct writ_options *o, const struct writ_yaml *node, struct writ_view with,
    struct writ_output_redaction *ret)
{
    writ_auto_buf names = writ_buf_make(NAME_MAX_BYTES);

    *ret = (struct writ_output_redaction){.detectors = writ_detectors_named(o, node), .with = with};
    writ_detectors_tell(node, &names);
    ret->name = name_of(o, "redact ", writ_buf_view(&names));
    return ret->detectors != NULL;
}

static bool
read_redaction(struct writ_options *o, const struct writ_yaml *node,
    struct writ_pattern_list **patterns, struct writ_output_redaction *ret)
{
    struct writ_raw_redact raw = {0};
    const struct writ_yaml *detect = writ_yaml_get(node, WRIT_LIT("detect"));
    struct writ_pattern_list *keep;
    struct writ_pattern *pattern = NULL;
    struct writ_err err = {{0}, 0, 0};

    writ_option_read(o, WRIT_SECTION_redact, node, &raw);
    if (node->type != WRIT_YAML_MAP) {
        return false;
    }
    if ((detect != NULL) == (writ_yaml_get(node, WRIT_LIT("pattern")) != NULL)) {
        WRIT_OPTION_FAULT(o, node, "needs either `pattern` or `detect`");
        return false;
    }
    if (detect != NULL) {
        return read_detecting(o, detect, raw.with, ret);
    }
    if (raw.pattern.len == 0) {
        return false;
    }
    keep = writ_option_memory(o, 1, sizeof *keep);
    if (keep == NULL) {
        return false;
    }
    if (!writ_is_ok(writ_pattern_new_search(raw.pattern, &pattern, &err))) {
        WRIT_OPTION_FAULT(o, writ_yaml_get(node, WRIT_LIT("pattern")), "%s", err.text);
        return false;
    }
    *keep = (struct writ_pattern_list){.pattern = pattern, .next = *patterns};
    *patterns = keep;
    *ret = (struct writ_output_redaction){
        .pattern = pattern, .with = raw.with, .name = name_of(o, "redact ", raw.pattern)};
    return true;
}

static bool
read_redactions(struct writ_options *o, const struct writ_yaml *node,
    const struct writ_output_rules *defaults, struct writ_pattern_list **patterns,
    struct writ_output_rules *rules)
{
    size_t before = defaults != NULL ? defaults->redactions_n : 0;
    size_t count = node != NULL ? node->count : 0;
    struct writ_output_redaction *all;
    bool good = true;

    if (node != NULL && (node->type != WRIT_YAML_LIST || count > WRIT_OUTPUT_REDACTIONS_MAX)) {
        WRIT_OPTION_FAULT(
            o, node, "must be a list of at most %d entries", WRIT_OUTPUT_REDACTIONS_MAX);
        return false;
    }
    all = writ_option_memory(o, before + count, sizeof *all);
    if (all == NULL) {
        return false;
    }
    for (size_t i = 0; i < before; i++) {
        all[i] = defaults->redactions[i];
    }
    WRIT_YAML_EACH(element, node)
    {
        good = read_redaction(o, element, patterns, &all[before + element->index]) && good;
    }
    rules->redactions = all;
    rules->redactions_n = good ? before + count : 0;
    return good;
}

/* An empty list of the rule takes the default away. */
static bool
read_refuse(struct writ_options *o, const struct writ_yaml *node,
    const struct writ_output_rules *base, struct writ_output_rules *rules)
{
    const struct writ_yaml *refuse = writ_yaml_get(node, WRIT_LIT("refuse"));

    rules->refuse = refuse == NULL ? base->refuse : NULL;
    rules->refuse_names = refuse == NULL ? base->refuse_names : (struct writ_view){NULL, 0};
    if (refuse != NULL && refuse->count > 0) {
        writ_auto_buf names = writ_buf_make(NAME_MAX_BYTES);
        rules->refuse = writ_detectors_named(o, refuse);
        writ_detectors_tell(refuse, &names);
        rules->refuse_names = name_of(o, "refuse ", writ_buf_view(&names));
        return rules->refuse != NULL;
    }
    return true;
}

static bool
join_removals(struct writ_options *o, const struct writ_views *own,
    const struct writ_output_rules *defaults, struct writ_output_rules *rules)
{
    size_t before = defaults != NULL ? defaults->remove.n : 0;
    struct writ_view *all = writ_option_memory(o, before + own->n, sizeof *all);
    struct writ_view *names = writ_option_memory(o, before + own->n, sizeof *names);

    if (all == NULL || names == NULL) {
        return false;
    }
    for (size_t i = 0; i < before + own->n; i++) {
        all[i] = i < before ? defaults->remove.items[i] : own->items[i - before];
        names[i] = name_of(o, "remove ", all[i]);
    }
    rules->remove = (struct writ_views){all, before + own->n};
    rules->remove_names = names;
    return !o->nomem;
}

const struct writ_output_rules *
writ_output_rules_read(struct writ_options *o, const struct writ_yaml *node,
    const struct writ_output_rules *defaults, struct writ_pattern_list **patterns)
{
    static const struct writ_output_rules none = {.max_bytes = 0};
    const struct writ_output_rules *base = defaults != NULL ? defaults : &none;
    struct writ_raw_result raw = {0};
    struct writ_output_rules *rules = writ_option_memory(o, 1, sizeof *rules);
    bool own = writ_yaml_get(node, WRIT_LIT("content")) != NULL;
    bool good;

    writ_option_read(o, WRIT_SECTION_result, node, &raw);
    if (rules == NULL || node->type != WRIT_YAML_MAP) {
        return NULL;
    }
    *rules = (struct writ_output_rules){
        .max_bytes = raw.bytes > 0 ? raw.bytes : base->max_bytes,
        .limits_content = own || base->limits_content,
        .content = own ? raw.content : base->content,
        .is_error = raw.is_error != WRIT_OUTPUT_ERROR_NONE ? (enum writ_output_error)raw.is_error
                                                           : base->is_error,
    };
    good = check_content(o, node, &raw.content);
    good = check_remove(o, node, &raw.remove) && good;
    good = read_redactions(o, raw.redact, raw.default_redact ? defaults : NULL, patterns, rules) &&
           good;
    good = join_removals(o, &raw.remove, defaults, rules) && good;
    good = read_refuse(o, node, base, rules) && good;
    return good && !o->nomem ? rules : NULL;
}
