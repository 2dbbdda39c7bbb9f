/* Walks the arguments and the places of all rules of the tool side by side, and writes what is
 * kept. A member is written first and cut off again when its value turns out to be left out, so
 * that the form never has a part of one. */
#include "policy/decide/kept.h"

#include "base/text.h"
#include "evidence/json/jcs.h"
#include "policy/model/config.h"
#include "policy/model/constraint.h"

#define PLACES_MAX                                                                                 \
    (2 * WRIT_RULES_MAX) /* places that may name one value; with more it is left out */

/* The places that name one value, in all rules of the tool. */
struct names {
    const struct writ_constraint_place *places[PLACES_MAX];
    size_t n;
    bool secret, hides, whole, named;
};

/* One writing of arguments. */
struct keeping {
    struct writ_buf *ret;
    bool whole;         /* nothing was left out */
    writ_result result; /* the first failure */
};

static void
add(struct names *names, const struct writ_constraint_place *place)
{
    if (names->n == PLACES_MAX) {
        names->secret = true;
        return;
    }
    names->places[names->n++] = place;
    names->secret = names->secret || place->secret;
    names->hides = names->hides || place->hides;
    names->whole = names->whole || place->whole;
    names->named = names->named || place->named;
}

static void
add_member(struct names *names, const struct writ_constraint_place *place, struct writ_view name)
{
    for (const struct writ_constraint_place *child = place->children; child != NULL;
         child = child->next) {
        if (writ_view_equal(child->token, name)) {
            add(names, child);
        }
    }
}

static void
add_element(struct names *names, const struct writ_constraint_place *place, size_t index)
{
    uint64_t number;

    for (const struct writ_constraint_place *child = place->children; child != NULL;
         child = child->next) {
        if (writ_is_ok(writ_text_u64(child->token, 0, UINT32_MAX, &number)) && number == index) {
            add(names, child);
        }
    }
    for (size_t i = 0; i < place->each_n; i++) {
        add(names, &place->each[i]->root);
    }
}

/* Writes the value, or a part of it that is to be cut off. False: it is left out. */
static bool put(struct keeping *k, const struct names *names, const struct writ_json *value);

static bool
put_all(struct keeping *k, const struct writ_json *value)
{
    writ_result r = writ_jcs_put(k->ret, value, NULL);

    k->result = writ_is_ok(k->result) ? r : k->result;
    return true;
}

/* A failure that the cut forgets is noted first: the form never lacks bytes of a value before. */
static void
leave_out(struct keeping *k, size_t before)
{
    writ_result r = writ_buf_check(k->ret, NULL);

    k->result = writ_is_ok(k->result) ? r : k->result;
    k->whole = false;
    writ_buf_cut(k->ret, before);
}

static bool
put_object(struct keeping *k, const struct names *names, const struct writ_json *object)
{
    bool first = true;

    writ_buf_byte(k->ret, '{');
    for (const struct writ_json *name = writ_json_sorted_first(object); name != NULL;
         name = writ_json_sorted_next(name)) {
        size_t before = k->ret->len;
        struct names below = {.n = 0};

        for (size_t i = 0; i < names->n; i++) {
            add_member(&below, names->places[i], writ_json_string(name));
        }
        writ_buf_str(k->ret, first ? "" : ",");
        writ_text_json(k->ret, writ_json_string(name));
        writ_buf_byte(k->ret, ':');
        if (put(k, &below, writ_json_value(name))) {
            first = false;
        } else {
            leave_out(k, before);
        }
    }
    writ_buf_byte(k->ret, '}');
    return true;
}

static bool
put_array(struct keeping *k, const struct names *names, const struct writ_json *array)
{
    size_t index = 0;

    writ_buf_byte(k->ret, '[');
    WRIT_JSON_EACH(element, array)
    {
        struct names below = {.n = 0};

        for (size_t i = 0; i < names->n; i++) {
            add_element(&below, names->places[i], index);
        }
        writ_buf_str(k->ret, index++ > 0 ? "," : "");
        if (!put(k, &below, element)) {
            return false;
        }
    }
    writ_buf_byte(k->ret, ']');
    return true;
}

static bool
put(struct keeping *k, const struct names *names, const struct writ_json *value)
{
    enum writ_json_type type = writ_json_type(value);
    bool holds = type == WRIT_JSON_OBJECT || type == WRIT_JSON_ARRAY;

    if (names->n == 0 || names->secret || (names->hides && !holds)) {
        return false;
    }
    if (names->whole && !names->hides) {
        return put_all(k, value);
    }
    if (!holds) {
        return names->named && put_all(k, value);
    }
    return type == WRIT_JSON_OBJECT ? put_object(k, names, value) : put_array(k, names, value);
}

static bool
hides(const struct writ_tool_entry *entry)
{
    for (size_t i = 0; entry != NULL && i < entry->rules_n; i++) {
        if (entry->rules[i].arguments->root.hides) {
            return true;
        }
    }
    return false;
}

bool
writ_kept_hides(const struct writ_config *config, struct writ_view upstream, struct writ_view tool)
{
    return hides(writ_rule_entry(config->policy, upstream, tool));
}

WRIT_RESULT
writ_kept_arguments(const struct writ_config *config, struct writ_view upstream,
    struct writ_view tool, const struct writ_json *arguments, struct writ_buf *ret, bool *ret_whole)
{
    const struct writ_tool_entry *entry = writ_rule_entry(config->policy, upstream, tool);
    struct keeping k = {.ret = ret, .whole = true, .result = WRIT_DONE};
    struct names names = {.n = 0};
    size_t before = ret->len;

    if (!hides(entry)) {
        (void)put_all(&k, arguments);
    } else {
        for (size_t i = 0; i < entry->rules_n; i++) {
            add(&names, &entry->rules[i].arguments->root);
        }
        if (!put(&k, &names, arguments)) {
            leave_out(&k, before);
            writ_buf_str(ret, "{}");
        }
    }
    WRIT_TRY(k.result);
    WRIT_TRY(writ_buf_check(ret, NULL));
    *ret_whole = k.whole;
    return WRIT_DONE;
}

struct writ_retention
writ_kept_terms(const struct writ_config *config, struct writ_view upstream, struct writ_view tool,
    const struct writ_tool_rule *rule)
{
    const struct writ_tool_entry *entry = writ_rule_entry(config->policy, upstream, tool);
    struct writ_retention least;

    if (entry != NULL && entry->may_be_else) {
        return (struct writ_retention){0};
    }
    if (rule != NULL) {
        return rule->contents;
    }
    if (entry == NULL || entry->rules_n == 0) {
        return config->policy->hides ? (struct writ_retention){0} : config->policy->contents;
    }
    least = entry->rules[0].contents;
    for (size_t i = 1; i < entry->rules_n; i++) {
        const struct writ_retention *one = &entry->rules[i].contents;

        least.keep_us = one->keep_us < least.keep_us ? one->keep_us : least.keep_us;
        least.results_bytes =
            one->results_bytes < least.results_bytes ? one->results_bytes : least.results_bytes;
    }
    return least;
}
