/* One rule for one definition: its name, its schema and its annotations, each read once. A tool
 * whose name a rule cannot have, or that is there twice, is left out with the reason. */
#include "policy/propose/propose.h"

#include "base/hidden.h"
#include "policy/propose/constrain.h"

#define NAME_WORDS      64  /* words of a tool's name */
#define DESCRIBED_WORDS 400 /* words of a tool's description */
#define TARGET_NAME_MAX 128

struct writ_proposal
writ_propose_start(struct writ_view upstream, struct writ_arena *arena)
{
    return (struct writ_proposal){.upstream = upstream, .arena = arena};
}

/* ---- names */

/* Letters, digits, `-`, `_` and `.`: an argument that a template can name plainly. */
static bool
is_plain(struct writ_view name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        if (!letter && !(c >= '0' && c <= '9') && c != '-' && c != '_' && c != '.') {
            return false;
        }
    }
    return name.len > 0 && name.len <= TARGET_NAME_MAX;
}

static bool
is_taken(const struct writ_proposal *proposal, struct writ_view tool)
{
    for (const struct writ_proposal_rule *rule = proposal->rules; rule != NULL; rule = rule->next) {
        if (writ_view_equal(rule->tool, tool)) {
            return true;
        }
    }
    return false;
}

static const char *
name_fault(const struct writ_proposal *proposal, struct writ_view tool)
{
    if (tool.len == 0 || tool.len > WRIT_PROPOSE_NAME_MAX) {
        return "its name is empty or too long";
    }
    if (writ_hidden_in(tool)) {
        return "its name has characters that hide";
    }
    if (writ_view_find(tool, '*') < tool.len || writ_view_find(tool, '?') < tool.len ||
        writ_view_find(tool, '[') < tool.len) {
        return "its name would be a pattern";
    }
    return is_taken(proposal, tool) ? "its server lists this name twice" : NULL;
}

/* ---- what kind of tool it is */

static bool
is_hinted(const struct writ_json *definition, const char *hint, enum writ_json_type answer)
{
    const struct writ_json *annotations = writ_json_get(definition, WRIT_LIT("annotations"));

    return writ_json_type(writ_json_get(annotations, writ_view_str(hint))) == answer;
}

/* A verb at the beginning of a name counts whatever the server says; so does one at its end, unless
 * a verb of reading is before it (user_delete). Anywhere else it may be a noun (list_payments,
 * get_transfer), and the server may say that it does no harm. Of annotations that contradict each
 * other the dangerous one counts. */
static const char *
review_of(const struct writ_json *definition, const struct writ_words *name, bool runs)
{
    bool reads = is_hinted(definition, "readOnlyHint", WRIT_JSON_TRUE);

    if (is_hinted(definition, "destructiveHint", WRIT_JSON_TRUE)) {
        return "its server says destructiveHint: true";
    }
    if (runs) {
        return "an argument is a command, a script or a query that something runs";
    }
    if ((name->all & WRIT_WORD_SECRET) != 0) {
        return "its name says that it reads secrets";
    }
    if (((name->first | (name->last & name->acts)) & WRIT_WORD_DANGER) != 0) {
        return "its name says that it does what cannot be undone";
    }
    if ((name->all & WRIT_WORD_DANGER) != 0 && !reads &&
        !is_hinted(definition, "destructiveHint", WRIT_JSON_FALSE)) {
        return "its name says that it may do what cannot be undone";
    }
    if ((name->acts & WRIT_WORD_TELL) != 0 && !reads) {
        return "its name says that it writes to other people";
    }
    return NULL;
}

/* ---- target */

struct target {
    struct writ_view kind, arg;
    unsigned rank; /* 0: none */
};

static struct target
target_of(const struct writ_constrain *c, const struct writ_proposal_constraint *one)
{
    struct writ_words words = writ_words_of(one->arg, NAME_WORDS);
    bool text =
        one->op == WRIT_OP_MAX_LENGTH || one->op == WRIT_OP_MATCHES || one->op == WRIT_OP_TYPE;

    (void)c;
    if (one->arg.ptr == NULL || one->optional || one->nullable || !is_plain(one->arg)) {
        return (struct target){.rank = 0};
    }
    if (one->op == WRIT_OP_UNDER || (one->op == WRIT_OP_GLOB && one->placeholder)) {
        return (struct target){WRIT_LIT("file"), one->arg, 3};
    }
    if (one->op == WRIT_OP_HOST_IN) {
        return (struct target){WRIT_LIT("url"), one->arg, 2};
    }
    if (text && (words.last & WRIT_WORD_ID) != 0 && !writ_view_is(one->text, "object")) {
        return (struct target){one->arg, one->arg, 1};
    }
    return (struct target){.rank = 0};
}

/* A path before a URL before an id; of several the first. */
static WRIT_RESULT
put_target(const struct writ_constrain *c, const struct writ_constrain_list *list,
    struct writ_view *ret, struct writ_err *err)
{
    struct writ_buf text = writ_buf_in(c->arena, 3 * TARGET_NAME_MAX);
    struct target best = {.rank = 0};

    for (const struct writ_proposal_constraint *one = list->first; one != NULL; one = one->next) {
        struct target target = target_of(c, one);
        best = target.rank > best.rank ? target : best;
    }
    if (best.rank == 0) {
        return WRIT_DONE;
    }
    writ_buf_put(&text, best.kind);
    writ_buf_str(&text, ":{");
    writ_buf_put(&text, best.arg);
    writ_buf_byte(&text, '}');
    WRIT_TRY(writ_buf_check(&text, err));
    *ret = writ_buf_view(&text);
    return WRIT_DONE;
}

/* ---- the rule */

/* Whether an argument names a repository or the like, in which the paths of the others are. */
static bool
has_store(const struct writ_facets *facets)
{
    for (size_t i = 0; i < facets->n; i++) {
        const struct writ_json *members =
            writ_json_get_typed(facets->nodes[i], WRIT_LIT("properties"), WRIT_JSON_OBJECT);

        WRIT_JSON_EACH(name, members)
        {
            struct writ_words words = writ_words_of(writ_json_string(name), NAME_WORDS);
            if (writ_words_store(&words)) {
                return true;
            }
        }
    }
    return false;
}

/* The arguments of the tool: the members of its inputSchema, which is an object. */
static WRIT_RESULT
read_schema(struct writ_constrain *c, const struct writ_json *schema,
    struct writ_proposal_rule *rule, struct writ_err *err)
{
    struct writ_constrain_spot top = {.path = WRIT_LIT(""), .needed = true};
    struct writ_constrain_list list = {.first = NULL};
    struct writ_facets facets;

    writ_facets_read(schema, schema, &facets);
    rule->narrowed = facets.lost != NULL ? facets.lost
                     : facets.one_of_many
                         ? "it has several forms; the first is what the constraints say"
                         : NULL;
    if (facets.n == 0 || facets.type != WRIT_FACETS_OBJECT) {
        c->closed = schema != NULL;
    } else {
        c->stored = has_store(&facets);
        writ_constrain_members(c, &facets, &top, &list);
    }
    rule->arguments = list.first;
    if (c->nomem) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for so many constraints");
    }
    return put_target(c, &list, &rule->target, err);
}

static WRIT_RESULT
read_tool(struct writ_proposal *proposal, const struct writ_json *definition,
    struct writ_proposal_rule *rule, struct writ_err *err)
{
    struct writ_words name = writ_words_of(rule->tool, NAME_WORDS);
    struct writ_view described =
        writ_json_string(writ_json_get(definition, WRIT_LIT("description")));
    struct writ_constrain c = {.root = writ_json_get(definition, WRIT_LIT("inputSchema")),
        .tool = name,
        .described = writ_words_of(described, DESCRIBED_WORDS).all,
        .arena = proposal->arena};

    WRIT_TRY(read_schema(&c, c.root, rule, err));
    rule->review = review_of(definition, &name, c.runs);
    rule->reads = is_hinted(definition, "readOnlyHint", WRIT_JSON_TRUE) &&
                  !is_hinted(definition, "destructiveHint", WRIT_JSON_TRUE) && c.sum.len == 0;
    rule->sum = c.sum;
    rule->closed = c.closed;
    rule->placeholders = c.placeholders + (c.sum.len > 0 ? 1 : 0);
    return WRIT_DONE;
}

static void
count(struct writ_proposal *proposal, const struct writ_proposal_rule *rule)
{
    bool closed = rule->closed || rule->left_out != NULL, waits = rule->placeholders > 0;

    proposal->tools++;
    proposal->placeholders += rule->placeholders;
    proposal->closed += closed;
    proposal->waiting += waits && !closed;
    proposal->reviewed += rule->review != NULL && !closed;
    proposal->open += !closed && !waits && rule->review == NULL;
}

WRIT_RESULT
writ_propose_tool(
    struct writ_proposal *proposal, const struct writ_json *definition, struct writ_err *err)
{
    struct writ_proposal_rule *rule;

    if (proposal->tools == WRIT_PROPOSE_TOOLS_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "a server may have %d tools", WRIT_PROPOSE_TOOLS_MAX);
    }
    rule = writ_arena_get(proposal->arena, sizeof *rule);
    if (rule == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a proposed rule");
    }
    *rule = (struct writ_proposal_rule){
        .tool = writ_json_string(writ_json_get(definition, WRIT_LIT("name")))};
    rule->left_out = name_fault(proposal, rule->tool);
    if (rule->left_out == NULL) {
        WRIT_TRY(read_tool(proposal, definition, rule, err));
    }
    if (proposal->last == NULL) {
        proposal->rules = rule;
    } else {
        proposal->last->next = rule;
    }
    proposal->last = rule;
    count(proposal, rule);
    return WRIT_DONE;
}
