/* An untrusted schema, rules and a value: the first line is a schema, the second a list of
 * constraints as in a policy, the rest a value.
 *
 * For every input: what the schema says is read within its limits, and described without characters
 * that hide. A schema that takes the value, whatever else it takes ({anyOf: [it, {const: value}]},
 * also behind a reference, and as a member and an element), never says that a constraint which
 * holds for the value never does, nor that one which fails always holds. */
#include "policy/fit/domain.h"

#include "base/hidden.h"
#include "evidence/json/jcs.h"
#include "policy/decide/evaluate.h"
#include "policy/decide/policy.h"
#include "support/fuzz.h"
#include "support/policy/ruling.h"

#define ARENA_MAX ((size_t)64 << 20)
#define TEXT_MAX  ((size_t)1 << 20)
#define INPUT_MAX 65536

static struct writ_arena *arena;

static const struct writ_json *
read(struct writ_view text)
{
    const struct writ_json *value = NULL;

    return writ_is_ok(writ_json_read(text, &writ_json_limits_default, arena, &value, NULL)) ? value
                                                                                            : NULL;
}

/* The schema with the value as another form, in the words between `before` and `after`. */
static const struct writ_json *
schema_of(
    const char *before, struct writ_view schema, const struct writ_json *value, const char *after)
{
    struct writ_buf text = writ_buf_in(arena, TEXT_MAX);
    struct writ_view kept;

    writ_buf_str(&text, before);
    writ_buf_str(&text, "{\"anyOf\":[");
    writ_buf_put(&text, schema);
    writ_buf_str(&text, ",{\"const\":");
    if (!writ_is_ok(writ_jcs_put(&text, value, NULL))) {
        return NULL;
    }
    writ_buf_str(&text, "}]}");
    writ_buf_str(&text, after);
    kept = writ_buf_view(&text);
    return writ_is_ok(writ_buf_check(&text, NULL)) ? read(kept) : NULL;
}

static void
check_words(const struct writ_domain *domain)
{
    writ_auto_buf words = writ_buf_make(TEXT_MAX);

    writ_domain_describe(domain, &words);
    WRIT_INVARIANT(writ_is_ok(writ_buf_check(&words, NULL)));
    WRIT_INVARIANT(!writ_hidden_in(writ_buf_view(&words)));
}

static enum writ_holds
holds(const struct writ_constraint *constraint, const struct writ_json *value)
{
    static const struct writ_constraint_path here = {{NULL, 0}};
    struct writ_constraint own = *constraint;
    const struct writ_constraint_set set = {.items = &own, .n = 1, .paths = &here, .paths_n = 1};

    own.path = 0;
    return writ_evaluate_one(&set, &own, value, arena, NULL);
}

/* `domain` takes the value. */
static void
check_relations(struct writ_domain_reading *reading, const struct writ_domain *domain,
    const struct writ_constraint_set *rules, const struct writ_json *value)
{
    check_words(domain);
    for (size_t i = 0; i < rules->n; i++) {
        const struct writ_constraint *c = &rules->items[i];
        enum writ_domain_answer answer = writ_domain_relate(reading, domain, c);
        enum writ_holds held = holds(c, value);

        if (c->op != WRIT_OP_EACH) { /* by its type alone */
            WRIT_INVARIANT(held != WRIT_HOLDS_YES || answer != WRIT_DOMAIN_NEVER);
            WRIT_INVARIANT(held != WRIT_HOLDS_NO || answer != WRIT_DOMAIN_ALWAYS);
        }
    }
}

static void
check(
    struct writ_view schema, const struct writ_constraint_set *rules, const struct writ_json *value)
{
    static const struct {
        const char *before, *after, *token; /* token NULL: the root; "": an element */
    } shapes[] = {{"", "", NULL}, {"{\"properties\":{\"m\":", "}}", "m"},
        {"{\"type\":\"array\",\"items\":", "}", ""}, {"{\"allOf\":[true,{},", "]}", NULL},
        {"{\"$ref\":\"#/$defs/d\",\"$defs\":{\"d\":", "}}", NULL}};

    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const struct writ_json *root = schema_of(shapes[i].before, schema, value, shapes[i].after);
        struct writ_domain_reading reading = {.root = root, .arena = arena};
        const struct writ_domain *domain;

        if (root == NULL) {
            continue;
        }
        domain = writ_domain_of(&reading, root);
        if (shapes[i].token != NULL) {
            domain = shapes[i].token[0] == '\0'
                         ? writ_domain_element(&reading, domain)
                         : writ_domain_child(&reading, domain, writ_view_str(shapes[i].token));
        }
        WRIT_INVARIANT(domain != NULL);
        check_relations(&reading, domain, rules, value);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct writ_agent agent = {.id = {"dev", 3}};
    struct writ_view text = writ_view(data, size), schema, rest, rules;
    const struct writ_tool_rule *rule;
    const struct writ_json *value;
    struct writ_config *config;

    if (arena == NULL) {
        arena = writ_arena_new(ARENA_MAX);
        WRIT_INVARIANT(arena != NULL);
    }
    writ_arena_reset(arena);
    schema = writ_view_sub(text, 0, writ_view_find(text, '\n'));
    rest = writ_view_sub(text, schema.len + 1, text.len);
    rules = writ_view_sub(rest, 0, writ_view_find(rest, '\n'));
    value = read(writ_view_sub(rest, rules.len + 1, rest.len));
    if (size > INPUT_MAX || read(schema) == NULL || value == NULL ||
        writ_json_type(value) == WRIT_JSON_NULL) {
        return 0;
    }
    config = writ_ruling_of_constraints(rules);
    if (config == NULL) {
        return 0;
    }
    rule = writ_policy_find(config, &agent, WRIT_LIT("u"), WRIT_LIT("t"), NULL);
    if (rule != NULL) {
        check(schema, rule->arguments, value);
    }
    writ_config_drop(config);
    return 0;
}
