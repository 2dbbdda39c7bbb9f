/* policy_difference.c - rules are written as their viewer may see them, and then compared as texts.
 * The rules of a tool that are the same at the beginning and at the end of both lists are left out;
 * those between are compared in their order. */
#include "gateway/admin/policy_difference.h"

#define RULE_MAX ((size_t)4 << 20) /* bytes of one */

/* The rules of one tool in one policy, as texts. */
struct rules {
    struct writ_view *texts;
    size_t n;
};

/* ---- what the viewer sees ---- */

static bool
knows(const struct writ_policy_difference *d, bool tenants, struct writ_view name)
{
    return tenants ? writ_view_equal(name, d->viewer->agent.tenant)
                   : writ_ledger_viewer_has_agent(d->viewer, name);
}

/* Whether the list is absent, or has a name that the viewer knows. */
static bool
is_for(const struct writ_policy_difference *d, const struct writ_json *names, bool tenants)
{
    if (names == NULL) {
        return true;
    }
    WRIT_JSON_EACH(one, names)
    {
        if (knows(d, tenants, writ_json_string(one))) {
            return true;
        }
    }
    return false;
}

static void
put_names(const struct writ_policy_difference *d, const struct writ_json *names, bool tenants,
    struct writ_write *w)
{
    writ_write_array_begin(w);
    WRIT_JSON_EACH(one, names)
    {
        if (knows(d, tenants, writ_json_string(one))) {
            writ_write_string(w, writ_json_string(one));
        }
    }
    writ_write_array_end(w);
}

static void
put_seen(const struct writ_policy_difference *d, const struct writ_json *rule, struct writ_write *w)
{
    writ_write_object_begin(w);
    WRIT_JSON_EACH(name, rule)
    {
        struct writ_view key = writ_json_text(name);

        writ_write_name(w, key);
        if (writ_view_is(key, "agents") || writ_view_is(key, "tenants")) {
            put_names(d, writ_json_value(name), writ_view_is(key, "tenants"), w);
        } else if (writ_view_is(key, "approval")) {
            writ_write_bool(w, true);
        } else {
            writ_write_value(w, writ_json_value(name));
        }
    }
    writ_write_object_end(w);
}

/* An empty text: the viewer does not see the rule. */
static WRIT_RESULT
text_of(const struct writ_policy_difference *d, const struct writ_json *rule, bool of_all,
    struct writ_view *ret)
{
    writ_auto_buf text = writ_buf_make(RULE_MAX);
    struct writ_write w = writ_write_to(&text);

    *ret = writ_view(NULL, 0);
    if (!of_all && (writ_json_type(rule) != WRIT_JSON_OBJECT ||
                       !is_for(d, writ_json_get(rule, WRIT_LIT("agents")), false) ||
                       !is_for(d, writ_json_get(rule, WRIT_LIT("tenants")), true))) {
        return WRIT_DONE;
    }
    if (of_all) {
        writ_write_value(&w, rule);
    } else {
        put_seen(d, rule, &w);
    }
    WRIT_TRY(writ_write_end(&w, NULL));
    *ret = writ_view_copy(writ_buf_view(&text), d->arena);
    return (writ_result){ret->ptr != NULL ? WRIT_OK : WRIT_E_NOMEM};
}

static size_t
count(const struct writ_json *list)
{
    size_t n = 0;

    WRIT_JSON_EACH(one, list)
    {
        n++;
    }
    return n;
}

static WRIT_RESULT
read_rules(const struct writ_policy_difference *d, const struct writ_json *tool, struct rules *ret)
{
    const struct writ_json *list = tool != NULL ? writ_json_get(tool, WRIT_LIT("rules")) : NULL;
    bool of_all = writ_ledger_viewer_of_all(d->viewer);

    *ret =
        (struct rules){.texts = writ_arena_get(d->arena, (count(list) + 1) * sizeof *ret->texts)};
    if (ret->texts == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_JSON_EACH(rule, list)
    {
        WRIT_TRY(text_of(d, rule, of_all, &ret->texts[ret->n]));
        ret->n += ret->texts[ret->n].len > 0 ? 1 : 0;
    }
    return WRIT_DONE;
}

/* ---- the answer ---- */

static void
put_sides(struct writ_write *w, struct writ_view before, struct writ_view after)
{
    if (before.len > 0) {
        writ_write_name(w, WRIT_LIT("before"));
        writ_write_raw(w, before);
    }
    if (after.len > 0) {
        writ_write_name(w, WRIT_LIT("after"));
        writ_write_raw(w, after);
    }
}

static void
put_rule(
    struct writ_write *w, struct writ_view tool, struct writ_view before, struct writ_view after)
{
    if (writ_view_equal(before, after)) {
        return;
    }
    writ_write_object_begin(w);
    writ_write_text(w, "tool", tool);
    writ_write_text(w, "change",
        writ_view_str(before.len == 0  ? "added"
                      : after.len == 0 ? "removed"
                                       : "changed"));
    put_sides(w, before, after);
    writ_write_object_end(w);
}

static void
put_rules(struct writ_write *w, struct writ_view tool, struct rules before, struct rules after)
{
    const struct writ_view none = {NULL, 0};

    while (before.n > 0 && after.n > 0 &&
           writ_view_equal(before.texts[before.n - 1], after.texts[after.n - 1])) {
        before.n--;
        after.n--;
    }
    for (; before.n > 0 && after.n > 0 && writ_view_equal(*before.texts, *after.texts);
         before.n--, after.n--) {
        before.texts++;
        after.texts++;
    }
    for (size_t i = 0; i < before.n || i < after.n; i++) {
        put_rule(
            w, tool, i < before.n ? before.texts[i] : none, i < after.n ? after.texts[i] : none);
    }
}

/* Both policies mostly have their tools in the same order: `from` is where the search begins. */
static const struct writ_json *
find_tool(const struct writ_json *tools, struct writ_view name, const struct writ_json **from)
{
    const struct writ_json *one = *from != NULL ? *from : writ_json_first(tools);
    const struct writ_json *begin = one;

    while (one != NULL) {
        const struct writ_json *next = writ_json_next(tools, one);

        if (writ_view_equal(writ_json_string(writ_json_get(one, WRIT_LIT("tool"))), name)) {
            *from = next;
            return one;
        }
        one = next != NULL ? next : writ_json_first(tools);
        if (one == begin) {
            break;
        }
    }
    return NULL;
}

static WRIT_RESULT
put_tools(const struct writ_policy_difference *d, bool only_gone, struct writ_write *w)
{
    const struct writ_json *was = writ_json_get(d->before, WRIT_LIT("tools"));
    const struct writ_json *is = writ_json_get(d->after, WRIT_LIT("tools"));
    const struct writ_json *list = only_gone ? was : is, *other = only_gone ? is : was;
    const struct writ_json *from = NULL;

    WRIT_JSON_EACH(tool, list)
    {
        struct writ_view name = writ_json_string(writ_json_get(tool, WRIT_LIT("tool")));
        const struct writ_json *found = find_tool(other, name, &from);
        struct rules before, after;

        if (only_gone && found != NULL) {
            continue;
        }
        WRIT_TRY(read_rules(d, only_gone ? tool : found, &before));
        WRIT_TRY(read_rules(d, only_gone ? NULL : tool, &after));
        put_rules(w, name, before, after);
    }
    return WRIT_DONE;
}

static void
put_section(const struct writ_policy_difference *d, struct writ_view name, struct writ_write *w)
{
    const struct writ_json *before = writ_json_get(d->before, name);
    const struct writ_json *after = writ_json_get(d->after, name);

    if (before != NULL && after != NULL && writ_json_equal(before, after)) {
        return;
    }
    writ_write_object_begin(w);
    writ_write_text(w, "name", name);
    if (before != NULL) {
        writ_write_name(w, WRIT_LIT("before"));
        writ_write_value(w, before);
    }
    if (after != NULL) {
        writ_write_name(w, WRIT_LIT("after"));
        writ_write_value(w, after);
    }
    writ_write_object_end(w);
}

/* All that a policy has beside its rules: those of before, then those that only the other one has.
 */
static void
put_sections(const struct writ_policy_difference *d, struct writ_write *w)
{
    WRIT_JSON_EACH(name, d->before)
    {
        if (!writ_view_is(writ_json_text(name), "tools")) {
            put_section(d, writ_json_text(name), w);
        }
    }
    WRIT_JSON_EACH(name, d->after)
    {
        if (!writ_view_is(writ_json_text(name), "tools") &&
            writ_json_get(d->before, writ_json_text(name)) == NULL) {
            put_section(d, writ_json_text(name), w);
        }
    }
}

WRIT_RESULT
writ_policy_difference_put(const struct writ_policy_difference *d, struct writ_write *w)
{
    writ_write_object_begin(w);
    writ_write_name(w, WRIT_LIT("rules"));
    writ_write_array_begin(w);
    WRIT_TRY(put_tools(d, false, w));
    WRIT_TRY(put_tools(d, true, w));
    writ_write_array_end(w);
    writ_write_name(w, WRIT_LIT("sections"));
    writ_write_array_begin(w);
    if (writ_ledger_viewer_of_all(d->viewer)) {
        put_sections(d, w);
    }
    writ_write_array_end(w);
    writ_write_object_end(w);
    return WRIT_DONE;
}
