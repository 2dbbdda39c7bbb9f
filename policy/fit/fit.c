/* fit.c - walks the entries of one server, their rules and constraints, and for each the tools that
 * it is for. A schema answers through domain.h, a rule through coverage.h, so that nothing is said
 * here that the gateway would not do. */
#include "policy/fit/fit.h"

#include "base/text.h"
#include "policy/decide/coverage.h"
#include "policy/decide/template.h"
#include "policy/model/trail.h"
#include "policy/fit/domain.h"
#include "policy/model/glob.h"
#include "policy/read/yaml.h"

#define MEMORY_MAX ((size_t)64 << 20)
#define NAME_MAX   80  /* bytes of a name in a message */
#define LIST_MAX   160 /* bytes of a list of names */
#define DEPTH_MAX  6   /* objects and lists inside each other that are compared */
#define LEAVES_MAX 512 /* arguments of one tool */
#define SAMPLE_MAX 65536

/* One tool, as the rules see it. */
struct tool {
    struct writ_view name;
    struct writ_view safe;            /* for messages */
    const struct writ_domain *domain; /* of its arguments */
    const struct writ_json *schema;
    const struct writ_tool_entry *entry; /* the one that is for it; NULL: none */
};

struct fitting {
    const struct writ_config *config;
    struct writ_view upstream;
    struct writ_arena *arena;   /* the tools */
    struct writ_arena *scratch; /* one check of one tool */
    struct tool *tools;
    size_t n;
    struct writ_findings *findings;
    const struct writ_tool_rule *rule; /* that is looked at */
};

/* ---- messages */

static struct writ_view
keep_safe(struct fitting *f, struct writ_view text)
{
    struct writ_buf safe = writ_buf_in(f->arena, 16 * NAME_MAX);

    writ_text_safe(&safe, text, NAME_MAX);
    return writ_buf_view(&safe);
}

#define TELL(f, severity, c, ...)                                                                  \
    writ_yaml_find((f)->findings, WRIT_SEVERITY_##severity, (c)->node, __VA_ARGS__)
#define TELL_RULE(f, severity, member, ...)                                                        \
    writ_yaml_find(                                                                                \
        (f)->findings, WRIT_SEVERITY_##severity, member_of((f)->rule, (member)), __VA_ARGS__)

/* The option of a rule, or the rule where it has none. */
static const struct writ_yaml *
member_of(const struct writ_tool_rule *rule, const char *name)
{
    const struct writ_yaml *member = writ_yaml_get(rule->node, writ_view_str(name));

    return member != NULL ? member : rule->node;
}

/* The entry of `tools`: its one rule, or the list that its rules are in. */
static const struct writ_yaml *
node_of(const struct writ_tool_entry *entry)
{
    const struct writ_yaml *node = entry->rules[0].node;

    return node->parent->type == WRIT_YAML_LIST ? node->parent : node;
}

static struct writ_domain_reading
reading_of(struct fitting *f, const struct tool *tool)
{
    return (struct writ_domain_reading){.root = tool->schema, .arena = f->scratch};
}

/* ---- one constraint */

/* Where the path of a constraint leads; `ret_required`: every call has a value there. */
static const struct writ_domain *
follow(struct fitting *f, const struct tool *tool, const struct writ_domain *domain,
    const struct writ_views *tokens, bool *ret_required)
{
    struct writ_domain_reading reading = reading_of(f, tool);

    *ret_required = true;
    for (size_t i = 0; i < tokens->n; i++) {
        *ret_required = *ret_required && writ_domain_requires(domain, tokens->items[i]);
        domain = writ_domain_child(&reading, domain, tokens->items[i]);
    }
    return domain;
}

static bool
is_missing(const struct writ_domain *domain)
{
    enum writ_domain_place place = writ_domain_place(domain);

    return place == WRIT_DOMAIN_ABSENT || place == WRIT_DOMAIN_UNLISTED;
}

static void check_set(struct fitting *f, const struct tool *tool,
    const struct writ_constraint_set *set, const struct writ_domain *domain);

/* `type`, `required` and `forbidden` often say again what the schema says: that is their use. */
static bool
is_bound(enum writ_op op)
{
    return op != WRIT_OP_TYPE && op != WRIT_OP_REQUIRED && op != WRIT_OP_FORBIDDEN;
}

static void
check_value(struct fitting *f, const struct tool *tool, const struct writ_constraint *c,
    const struct writ_domain *domain)
{
    struct writ_domain_reading reading = reading_of(f, tool);
    enum writ_domain_answer answer = writ_domain_relate(&reading, domain, c);
    writ_auto_buf takes = writ_buf_make(4096);
    writ_domain_describe(domain, &takes);
    if (takes.len == 0) {
        writ_buf_str(&takes, "other values");
    }
    if (answer == WRIT_DOMAIN_NEVER) {
        TELL(f, ERROR, c,
            "\"" WRIT_VIEW_FMT "\" can never hold: tool \"" WRIT_VIEW_FMT "\" takes " WRIT_VIEW_FMT
            " there. Correct the value or the op.",
            WRIT_VIEW_ARG(writ_view_sub(c->name, 0, NAME_MAX)), WRIT_VIEW_ARG(tool->safe),
            WRIT_VIEW_ARG(writ_view_sub(writ_buf_view(&takes), 0, LIST_MAX)));
    } else if (answer == WRIT_DOMAIN_ALWAYS && is_bound(c->op)) {
        TELL(f, NOTE, c,
            "\"" WRIT_VIEW_FMT "\" always holds: tool \"" WRIT_VIEW_FMT "\" takes " WRIT_VIEW_FMT
            " there",
            WRIT_VIEW_ARG(writ_view_sub(c->name, 0, NAME_MAX)), WRIT_VIEW_ARG(tool->safe),
            WRIT_VIEW_ARG(writ_view_sub(writ_buf_view(&takes), 0, LIST_MAX)));
    }
    if (c->op == WRIT_OP_EACH && answer != WRIT_DOMAIN_NEVER) {
        check_set(f, tool, c->value.each, writ_domain_element(&reading, domain));
    }
}

/* One constraint against one tool that has its argument. */
static void
check_present(struct fitting *f, const struct tool *tool, const struct writ_constraint *c,
    const struct writ_domain *domain, bool required)
{
    if (c->op == WRIT_OP_FORBIDDEN) {
        if (required) {
            TELL(f, ERROR, c,
                "\"" WRIT_VIEW_FMT "\" refuses every call of tool \"" WRIT_VIEW_FMT
                "\": the tool requires the argument",
                WRIT_VIEW_ARG(writ_view_sub(c->name, 0, NAME_MAX)), WRIT_VIEW_ARG(tool->safe));
        }
        return;
    }
    check_value(f, tool, c, domain);
    if (!required && !c->optional && writ_domain_place(domain) == WRIT_DOMAIN_LISTED) {
        TELL(f, NOTE, c,
            "\"" WRIT_VIEW_FMT "\" refuses calls of tool \"" WRIT_VIEW_FMT
            "\" without the argument, which the tool does not require. Add optional: true to let "
            "them pass.",
            WRIT_VIEW_ARG(writ_view_sub(c->name, 0, NAME_MAX)), WRIT_VIEW_ARG(tool->safe));
    }
}

static void
tell_missing(struct fitting *f, const struct tool *tool, const struct writ_constraint *c)
{
    TELL(f, ERROR, c,
        "\"" WRIT_VIEW_FMT "\" names an argument that tool \"" WRIT_VIEW_FMT "\" does not have%s",
        WRIT_VIEW_ARG(writ_view_sub(c->name, 0, NAME_MAX)), WRIT_VIEW_ARG(tool->safe),
        c->optional ? ". Correct the name, or remove the constraint."
                    : ": every call of it is refused. Correct the name, or remove the constraint.");
}

/* The constraints of an `each`, against what the elements are. */
static void
check_set(struct fitting *f, const struct tool *tool, const struct writ_constraint_set *set,
    const struct writ_domain *domain)
{
    for (size_t i = 0; i < set->n; i++) {
        const struct writ_constraint *c = &set->items[i];
        bool required;
        const struct writ_domain *at =
            follow(f, tool, domain, &set->paths[c->path].tokens, &required);

        if (!is_missing(at)) {
            check_present(f, tool, c, at, required);
        } else if (c->op != WRIT_OP_FORBIDDEN) {
            tell_missing(f, tool, c);
        }
    }
}

/* A constraint of a pattern may be for some of its tools alone, if it is optional. */
static void
check_constraint(struct fitting *f, const struct writ_tool_entry *entry, size_t index)
{
    const struct writ_constraint_set *set = f->rule->arguments;
    const struct writ_constraint *c = &set->items[index];
    size_t having = 0;

    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < f->n; i++) {
            const struct tool *tool = &f->tools[i];
            const struct writ_domain *at;
            bool required;

            if (tool->entry != entry) {
                continue;
            }
            at = follow(f, tool, tool->domain, &set->paths[c->path].tokens, &required);
            if (pass == 0) {
                having += !is_missing(at);
            } else if (!is_missing(at)) {
                check_present(f, tool, c, at, required);
            } else if (c->op != WRIT_OP_FORBIDDEN && (having == 0 || !c->optional)) {
                tell_missing(f, tool, c);
            }
        }
    }
}

/* ---- arguments that no constraint names */

/* One step to a value of a sample; the first, without `up`, is the arguments. */
struct step {
    const struct step *up;
    struct writ_view name; /* ptr NULL: an element */
};

/* What was found below one place. */
struct leaves {
    struct writ_buf needed, left; /* pointers that nothing names, as ", /a, /b" */
    size_t named, unnamed, seen;
};

static void
put_step(const struct step *step, bool begin, struct writ_buf *ret)
{
    if (step->up == NULL) {
        return;
    }
    if (!begin) {
        writ_buf_byte(ret, step->name.ptr == NULL ? ']' : '}');
        put_step(step->up, false, ret);
        return;
    }
    put_step(step->up, true, ret);
    if (step->name.ptr == NULL) {
        writ_buf_byte(ret, '[');
    } else {
        writ_buf_byte(ret, '{');
        writ_text_json(ret, step->name);
        writ_buf_byte(ret, ':');
    }
}

/* Whether a call with `leaf` at that place, and nothing else, is covered. Without memory nothing is
 * said: true. */
static bool
is_named(struct fitting *f, const struct step *step, const char *leaf)
{
    struct writ_buf text = writ_buf_in(f->scratch, SAMPLE_MAX);
    const struct writ_json *sample;

    put_step(step, true, &text);
    writ_buf_str(&text, leaf);
    put_step(step, false, &text);
    return !writ_is_ok(writ_buf_check(&text, NULL)) ||
           !writ_is_ok(writ_json_read(
               writ_buf_view(&text), &writ_json_limits_default, f->scratch, &sample, NULL)) ||
           writ_coverage_holds(f->rule->arguments, sample, NULL);
}

static void
put_pointer(const struct step *step, struct writ_buf *ret)
{
    if (step->up != NULL) {
        put_pointer(step->up, ret);
        writ_buf_byte(ret, '/');
        if (step->name.ptr == NULL) {
            writ_buf_byte(ret, '-');
        } else {
            writ_trail_token(step->name, ret);
        }
    }
}

static void
add_unnamed(const struct step *step, bool needed, struct leaves *leaves)
{
    writ_auto_buf pointer = writ_buf_make(SAMPLE_MAX);
    struct writ_buf *to = needed ? &leaves->needed : &leaves->left;

    put_pointer(step, &pointer);
    leaves->unnamed++;
    if (to->len < LIST_MAX) {
        writ_buf_str(to, to->len > 0 ? ", " : "");
        writ_text_safe(to, writ_buf_view(&pointer), NAME_MAX);
    } else if (to->ptr[to->len - 1] != '.') {
        writ_buf_str(to, " ...");
    }
}

struct members {
    struct fitting *f;
    const struct tool *tool;
    const struct writ_domain *domain;
    const struct step *step;
    bool needed;
    unsigned depth;
    struct leaves *leaves;
    size_t n;
};

static void walk(struct fitting *f, const struct tool *tool, const struct writ_domain *domain,
    const struct step *step, bool needed, unsigned depth, struct leaves *leaves);

static void
walk_member(void *ctx, struct writ_view name)
{
    struct members *m = ctx;
    const struct step step = {.up = m->step, .name = name};
    struct writ_domain_reading reading = reading_of(m->f, m->tool);
    const struct writ_domain *member = writ_domain_child(&reading, m->domain, name);

    m->n++;
    if (writ_domain_place(member) != WRIT_DOMAIN_ABSENT) {
        walk(m->f, m->tool, member, &step, m->needed && writ_domain_requires(m->domain, name),
            m->depth + 1, m->leaves);
    }
}

/* What is inside a value; false: nothing that the schema lists. */
static bool
walk_inside(struct fitting *f, const struct tool *tool, const struct writ_domain *domain,
    const struct step *step, bool needed, unsigned depth, struct leaves *leaves)
{
    struct members members = {f, tool, domain, step, needed, depth, leaves, 0};
    struct writ_domain_reading reading = reading_of(f, tool);
    unsigned types = writ_domain_types(domain);

    if (depth >= DEPTH_MAX) {
        return false;
    }
    if ((types & WRIT_CONSTRAINT_OBJECT) != 0) {
        writ_domain_each(domain, walk_member, &members);
    }
    if (types == WRIT_CONSTRAINT_ARRAY) {
        const struct step element = {.up = step};
        walk(f, tool, writ_domain_element(&reading, domain), &element, false, depth + 1, leaves);
        return true;
    }
    return members.n > 0;
}

/* A value of which no part is named is reported as one, not by its parts. */
static void
walk(struct fitting *f, const struct tool *tool, const struct writ_domain *domain,
    const struct step *step, bool needed, unsigned depth, struct leaves *leaves)
{
    struct leaves below = {.needed = writ_buf_in(f->scratch, 4 * LIST_MAX),
        .left = writ_buf_in(f->scratch, 4 * LIST_MAX),
        .seen = leaves->seen + 1};
    bool named = step->up == NULL || is_named(f, step, "null");

    if (leaves->seen > LEAVES_MAX) {
        return;
    }
    if (!walk_inside(f, tool, domain, step, needed, depth, &below)) {
        if (!named) {
            add_unnamed(step, needed, leaves);
        } else if (writ_domain_types(domain) == WRIT_CONSTRAINT_OBJECT &&
                   writ_domain_is_open(domain) && !is_named(f, step, "{\"any\":null}")) {
            const struct step any = {.up = step, .name = WRIT_LIT("*")};
            add_unnamed(&any, false, leaves);
        }
        leaves->named += named;
        leaves->seen = below.seen;
        return;
    }
    leaves->seen = below.seen;
    leaves->named += below.named + named;
    if (!named && below.named == 0 && below.unnamed > 0) {
        add_unnamed(step, needed, leaves);
        return;
    }
    leaves->unnamed += below.unnamed;
    if (below.needed.len > 0) {
        writ_buf_str(&leaves->needed, leaves->needed.len > 0 ? ", " : "");
        writ_buf_put(&leaves->needed, writ_buf_view(&below.needed));
    }
    if (below.left.len > 0) {
        writ_buf_str(&leaves->left, leaves->left.len > 0 ? ", " : "");
        writ_buf_put(&leaves->left, writ_buf_view(&below.left));
    }
}

static void
check_coverage(struct fitting *f, const struct tool *tool)
{
    const struct step all = {.up = NULL};
    struct leaves leaves = {.needed = writ_buf_in(f->scratch, 64 * LIST_MAX),
        .left = writ_buf_in(f->scratch, 64 * LIST_MAX)};

    walk(f, tool, tool->domain, &all, true, 0, &leaves);
    if (leaves.needed.len > 0) {
        TELL_RULE(f, ERROR, "arguments",
            "no constraint names " WRIT_VIEW_FMT ", which tool \"" WRIT_VIEW_FMT
            "\" requires: every call of it is refused (argument_not_listed). Add a constraint.",
            WRIT_VIEW_ARG(writ_view_sub(writ_buf_view(&leaves.needed), 0, LIST_MAX)),
            WRIT_VIEW_ARG(tool->safe));
    }
    if (leaves.left.len > 0) {
        TELL_RULE(f, NOTE, "arguments",
            "no constraint names " WRIT_VIEW_FMT " of tool \"" WRIT_VIEW_FMT
            "\": a call with it is refused (argument_not_listed)",
            WRIT_VIEW_ARG(writ_view_sub(writ_buf_view(&leaves.left), 0, LIST_MAX)),
            WRIT_VIEW_ARG(tool->safe));
    }
}

/* ---- what a rule says by arguments: scope, target, state, sums */

/* The tokens of a JSON Pointer, in the arena. */
static struct writ_views
tokens_of(struct fitting *f, struct writ_view pointer)
{
    struct writ_view *tokens = writ_arena_get(f->scratch, (pointer.len + 1) * sizeof *tokens);
    size_t n = 0;

    while (tokens != NULL && pointer.len > 0) {
        struct writ_view raw = writ_view_sub(pointer, 1, SIZE_MAX);
        struct writ_buf token = writ_buf_in(f->scratch, pointer.len + 1);

        raw = writ_view_sub(raw, 0, writ_view_find(raw, '/'));
        for (size_t i = 0; i < raw.len; i++) {
            bool escaped = raw.ptr[i] == '~' && i + 1 < raw.len;
            writ_buf_byte(&token, !escaped ? raw.ptr[i] : raw.ptr[++i] == '1' ? '/' : '~');
        }
        tokens[n++] = writ_buf_view(&token);
        pointer = writ_view_sub(pointer, raw.len + 1, SIZE_MAX);
    }
    return (struct writ_views){tokens, n};
}

/* One argument that a text is filled in with. */
static void
check_filled(struct fitting *f, const struct tool *tool, const char *member,
    struct writ_view pointer, unsigned types)
{
    const struct writ_views tokens = tokens_of(f, pointer);
    bool required;
    const struct writ_domain *at = follow(f, tool, tool->domain, &tokens, &required);
    struct writ_view safe = keep_safe(f, pointer);

    if (is_missing(at)) {
        TELL_RULE(f, ERROR, member,
            "%s needs " WRIT_VIEW_FMT ", which tool \"" WRIT_VIEW_FMT
            "\" does not have: every call of it is refused",
            member, WRIT_VIEW_ARG(safe), WRIT_VIEW_ARG(tool->safe));
    } else if ((writ_domain_types(at) & types) == 0) {
        TELL_RULE(f, ERROR, member,
            "%s needs " WRIT_VIEW_FMT ", which is of another type in tool \"" WRIT_VIEW_FMT
            "\": every call of it is refused",
            member, WRIT_VIEW_ARG(safe), WRIT_VIEW_ARG(tool->safe));
    } else if (!required && writ_domain_place(at) == WRIT_DOMAIN_LISTED) {
        TELL_RULE(f, NOTE, member,
            "%s needs " WRIT_VIEW_FMT ", which tool \"" WRIT_VIEW_FMT
            "\" does not require: a call without it is refused",
            member, WRIT_VIEW_ARG(safe), WRIT_VIEW_ARG(tool->safe));
    }
}

static void
check_template(struct fitting *f, const struct tool *tool, const char *member,
    const struct writ_template *template)
{
    const unsigned texts = WRIT_CONSTRAINT_STRING | WRIT_CONSTRAINT_NUMBER |
                           WRIT_CONSTRAINT_INTEGER | WRIT_CONSTRAINT_BOOLEAN;

    if (template == NULL) {
        return;
    }
    for (size_t i = 0; template->kind == WRIT_TEMPLATE_TEXT && i < template->parts_n; i++) {
        const struct writ_template_part *part = &template->parts[i];
        if (part->kind != WRIT_TEMPLATE_PART_LITERAL) {
            check_filled(f, tool, member, part->text, template->raw ? ~0u : texts);
        }
    }
    for (const struct writ_template *one = template->first; one != NULL; one = one->next) {
        check_template(f, tool, member, one);
    }
}

static void
check_filled_in(struct fitting *f, const struct tool *tool)
{
    const struct writ_tool_rule *rule = f->rule;

    check_template(f, tool, "scope", rule->scope);
    check_template(f, tool, "target", rule->target);
    if (rule->state != NULL) {
        check_template(f, tool, "state", rule->state->uri);
        check_template(f, tool, "state", rule->state->members);
    }
    for (size_t i = 0; i < rule->budgets_n; i++) {
        if (!rule->budgets[i].counts_calls) {
            check_filled(f, tool, "budgets", rule->budgets[i].pointer,
                WRIT_CONSTRAINT_NUMBER | WRIT_CONSTRAINT_INTEGER);
        }
    }
}

/* ---- entries */

/* The names of the tools for which `wanted` is true, safe and not too many. */
static void
put_names(const struct fitting *f, bool (*wanted)(const struct tool *tool), struct writ_buf *ret)
{
    size_t left = 0;

    for (size_t i = 0; i < f->n; i++) {
        if (!wanted(&f->tools[i])) {
            continue;
        }
        if (ret->len > LIST_MAX) {
            left++;
            continue;
        }
        writ_buf_str(ret, ret->len > 0 ? ", " : "");
        writ_buf_put(ret, f->tools[i].safe);
    }
    if (left > 0) {
        writ_buf_fmt(ret, " and %zu more", left);
    }
}

static bool
is_any(const struct tool *tool)
{
    return tool->name.ptr != NULL;
}

static bool
has_no_entry(const struct tool *tool)
{
    return tool->entry == NULL;
}

/* How many tools an entry is for, and how many its name matches. */
static void
count_tools(const struct fitting *f, const struct writ_tool_entry *entry, size_t *ret_reached,
    size_t *ret_matched)
{
    *ret_reached = *ret_matched = 0;
    for (size_t i = 0; i < f->n; i++) {
        *ret_reached += f->tools[i].entry == entry;
        *ret_matched += entry->pattern
                            ? writ_glob_match(entry->tool, f->tools[i].name) == WRIT_GLOB_YES
                            : writ_view_equal(entry->tool, f->tools[i].name);
    }
}

/* False: no tool is under it. */
static bool
check_reach(struct fitting *f, const struct writ_tool_entry *entry)
{
    writ_auto_buf names = writ_buf_make(8 * LIST_MAX);
    size_t reached, matched;

    count_tools(f, entry, &reached, &matched);
    put_names(f, is_any, &names);
    if (matched == 0) {
        writ_yaml_find(f->findings, WRIT_SEVERITY_ERROR, node_of(entry),
            "no tool of \"" WRIT_VIEW_FMT "\" %s. It lists: " WRIT_VIEW_FMT,
            WRIT_VIEW_ARG(f->upstream), entry->pattern ? "matches this pattern" : "has this name",
            WRIT_VIEW_ARG(names.len > 0 ? writ_buf_view(&names) : WRIT_LIT("no tool")));
    } else if (reached == 0) {
        writ_yaml_find(f->findings, WRIT_SEVERITY_WARNING, node_of(entry),
            "is never reached: other rules are for every tool of \"" WRIT_VIEW_FMT
            "\" that it matches",
            WRIT_VIEW_ARG(f->upstream));
    }
    return reached > 0;
}

static void
check_entry(struct fitting *f, const struct writ_tool_entry *entry)
{
    if (!check_reach(f, entry)) {
        return;
    }
    for (size_t r = 0; r < entry->rules_n; r++) {
        f->rule = &entry->rules[r];
        if (!f->rule->agreed) {
            continue; /* it refuses every call as it is */
        }
        for (size_t c = 0; c < f->rule->arguments->n; c++) {
            writ_arena_reset(f->scratch);
            check_constraint(f, entry, c);
        }
        for (size_t i = 0; i < f->n; i++) {
            if (f->tools[i].entry == entry) {
                writ_arena_reset(f->scratch);
                check_coverage(f, &f->tools[i]);
                check_filled_in(f, &f->tools[i]);
            }
        }
    }
}

/* A tool without a rule is refused, and not shown to clients. */
static void
tell_rule_less(struct fitting *f)
{
    const struct writ_upstream_config *upstream = writ_config_upstream(f->config, f->upstream);
    writ_auto_buf names = writ_buf_make(8 * LIST_MAX);

    put_names(f, has_no_entry, &names);
    if (names.len > 0 && upstream != NULL) {
        writ_yaml_find(f->findings, WRIT_SEVERITY_NOTE, upstream->node,
            "no rule is for these tools, so their calls are refused: " WRIT_VIEW_FMT,
            WRIT_VIEW_ARG(writ_buf_view(&names)));
    }
}

static WRIT_RESULT
read_tools(struct fitting *f, const struct writ_fit_server *server, struct writ_err *err)
{
    f->tools = writ_arena_get(f->arena, (server->n + 1) * sizeof *f->tools);
    if (f->tools == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to compare rules with definitions");
    }
    for (; f->n < server->n; f->n++) {
        struct tool *tool = &f->tools[f->n];
        struct writ_domain_reading reading;

        *tool = (struct tool){.name = server->tools[f->n].name,
            .safe = keep_safe(f, server->tools[f->n].name),
            .schema = writ_json_get(server->tools[f->n].definition, WRIT_LIT("inputSchema")),
            .entry =
                writ_rule_entry(f->config->policy, server->upstream, server->tools[f->n].name)};
        reading = (struct writ_domain_reading){.root = tool->schema, .arena = f->arena};
        tool->domain = writ_domain_of(&reading, tool->schema);
    }
    return WRIT_DONE;
}

writ_result
writ_fit_check(const struct writ_config *config, const struct writ_fit_server *server,
    struct writ_findings *findings, struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(MEMORY_MAX);
    writ_auto_arena scratch = writ_arena_new(MEMORY_MAX);
    struct fitting f = {.config = config,
        .upstream = server->upstream,
        .arena = arena,
        .scratch = scratch,
        .findings = findings};

    if (arena == NULL || scratch == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to compare rules with definitions");
    }
    WRIT_TRY(read_tools(&f, server, err));
    for (size_t i = 0; i < config->policy->n; i++) {
        if (writ_view_equal(config->policy->entries[i].upstream, server->upstream)) {
            check_entry(&f, &config->policy->entries[i]);
        }
    }
    tell_rule_less(&f);
    return WRIT_DONE;
}
