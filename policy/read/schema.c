/* Options and ops come from their tables, so a new row appears by itself; only the shapes of nodes
 * are written here. The output is the same bytes each time, and tests compare it with the files of
 * the tree. */
#include "policy/read/schema.h"

#include "evidence/json/write.h"
#include "policy/decide/approval.h"
#include "policy/model/flow.h"
#include "policy/decide/output.h"
#include "policy/read/indent.h"
#include "policy/read/reviewers.h"
#include "policy/read/reviews.h"
#include "policy/read/setting.h"
#include "policy/read/shares.h"

#define COMPACT_MAX (512 * 1024) /* the schema before it is indented */
#define FRACTION    "^[0-9]+(\\.[0-9]+|/[0-9]+)?$"
#define NUMBER      "^-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?$"

/* ---- pieces */

static void
member(struct writ_write *w, const char *name)
{
    writ_write_name(w, writ_view_str(name));
}

static void
string_member(struct writ_write *w, const char *name, const char *text)
{
    member(w, name);
    writ_write_string(w, writ_view_str(text));
}

static void
number_member(struct writ_write *w, const char *name, int64_t number)
{
    member(w, name);
    writ_write_i64(w, number);
}

static void
typed_begin(struct writ_write *w, const char *type)
{
    writ_write_object_begin(w);
    string_member(w, "type", type);
}

static void
ref_member(struct writ_write *w, const char *section)
{
    writ_auto_buf ref = writ_buf_make(128);

    writ_buf_fmt(&ref, "#/$defs/%s", section);
    member(w, "$ref");
    writ_write_string(w, writ_buf_view(&ref));
}

static void
ref(struct writ_write *w, const char *section)
{
    writ_write_object_begin(w);
    ref_member(w, section);
    writ_write_object_end(w);
}

static void
pattern(struct writ_write *w, const char *text)
{
    typed_begin(w, "string");
    string_member(w, "pattern", text);
    writ_write_object_end(w);
}

static void
array_members(struct writ_write *w, const char *section, int64_t least, int64_t most)
{
    string_member(w, "type", "array");
    member(w, "items");
    ref(w, section);
    if (least > 0) {
        number_member(w, "minItems", least);
    }
    number_member(w, "maxItems", most);
}

static void
number_or_text(struct writ_write *w)
{
    member(w, "anyOf");
    writ_write_array_begin(w);
    typed_begin(w, "number");
    writ_write_object_end(w);
    pattern(w, NUMBER);
    writ_write_array_end(w);
}

/* Or a section, when it is not NULL. */
static void
number_or_fraction(struct writ_write *w, const char *section)
{
    member(w, "anyOf");
    writ_write_array_begin(w);
    typed_begin(w, "number");
    number_member(w, "minimum", 0);
    writ_write_object_end(w);
    pattern(w, FRACTION);
    if (section != NULL) {
        ref(w, section);
    }
    writ_write_array_end(w);
}

/* An engine by its name, or the file of a plug-in. */
static void
engine_members(struct writ_write *w)
{
    member(w, "anyOf");
    writ_write_array_begin(w);
    writ_write_object_begin(w);
    member(w, "enum");
    writ_write_array_begin(w);
#define PUT_ENGINE(NAME, word, NEEDS) writ_write_string(w, WRIT_LIT(word));
    WRIT_REVIEW_ENGINES(PUT_ENGINE)
#undef PUT_ENGINE
    writ_write_array_end(w);
    writ_write_object_end(w);
    pattern(w, "^[A-Za-z0-9_-][A-Za-z0-9._-]*\\.so$");
    writ_write_array_end(w);
}

/* ---- shapes of NODE options */

static void
tools_members(struct writ_write *w)
{
    string_member(w, "type", "object");
    member(w, "propertyNames");
    pattern(w, "^[^/]+/.+$");
    member(w, "additionalProperties");
    writ_write_object_begin(w);
    member(w, "anyOf");
    writ_write_array_begin(w);
    ref(w, "rule");
    writ_write_object_begin(w);
    array_members(w, "rule", 1, WRIT_RULES_MAX);
    writ_write_object_end(w);
    writ_write_array_end(w);
    writ_write_object_end(w);
}

static void
named_members(struct writ_write *w, const char *section)
{
    string_member(w, "type", "object");
    member(w, "propertyNames");
    pattern(w, "^[A-Za-z0-9]([A-Za-z0-9]|[-_](?!_))*$");
    member(w, "additionalProperties");
    ref(w, section);
}

/* Constraints of a rule name their argument; within `each` the name is optional. */
static void
constraints_members(struct writ_write *w)
{
    string_member(w, "type", "array");
    number_member(w, "maxItems", WRIT_CONSTRAINTS_MAX);
    member(w, "items");
    writ_write_object_begin(w);
    ref_member(w, "constraint");
    member(w, "required");
    writ_write_array_begin(w);
    writ_write_string(w, WRIT_LIT("arg"));
    writ_write_array_end(w);
    writ_write_object_end(w);
}

static void
list_members(struct writ_write *w, enum writ_shape shape)
{
    static const struct {
        enum writ_shape shape;
        const char *section;
        int64_t least, most;
    } lists[] = {
        {WRIT_SHAPE_AGENTS, "agent", 0, 4096},
        {WRIT_SHAPE_BUDGETS, "budget", 0, WRIT_BUDGETS_MAX},
        {WRIT_SHAPE_REDACT, "redact", 0, WRIT_OUTPUT_REDACTIONS_MAX},
        {WRIT_SHAPE_DETECTED, "detected", 0, WRIT_DETECTED_MAX},
        {WRIT_SHAPE_VOTERS, "voter", 1, WRIT_REVIEW_VOTERS_MAX},
        {WRIT_SHAPE_OPINIONS, "opinion", 1, WRIT_OPINIONS_MAX},
        {WRIT_SHAPE_ANCHORS, "anchor", 0, WRIT_ANCHORS_MAX},
        {WRIT_SHAPE_EXPORTS, "export", 0, WRIT_EXPORTS_MAX},
        {WRIT_SHAPE_STEPS, "step", 1, WRIT_SHARES_STEPS_MAX},
        {WRIT_SHAPE_FLOWS, "flow", 0, WRIT_FLOWS_MAX},
    };

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (lists[i].shape == shape) {
            array_members(w, lists[i].section, lists[i].least, lists[i].most);
        }
    }
}

static void
map_members(struct writ_write *w, const char *section)
{
    string_member(w, "type", "object");
    member(w, "additionalProperties");
    ref(w, section);
}

/* The section that is the whole value. */
static const char *
section_of(enum writ_shape shape)
{
    static const struct {
        enum writ_shape shape;
        const char *section;
    } sections[] = {
        {WRIT_SHAPE_STATE, "state"},
        {WRIT_SHAPE_REPLAY, "replay"},
        {WRIT_SHAPE_RESULT, "result"},
        {WRIT_SHAPE_CONTENTS, "contents"},
        {WRIT_SHAPE_SUM, "sum"},
        {WRIT_SHAPE_APPROVAL, "approval"},
        {WRIT_SHAPE_DELEGATE, "delegate"},
        {WRIT_SHAPE_LABELS, "labels"},
        {WRIT_SHAPE_REQUIRES, "requires"},
        {WRIT_SHAPE_TASKS, "tasks"},
    };

    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        if (sections[i].shape == shape) {
            return sections[i].section;
        }
    }
    return "";
}

static void
shape_members(struct writ_write *w, enum writ_shape shape)
{
    switch (shape) {
    case WRIT_SHAPE_NONE:
    case WRIT_SHAPE_VALUE: /* by op: see op_rules */
        break;
    case WRIT_SHAPE_AGENTS:
    case WRIT_SHAPE_BUDGETS:
    case WRIT_SHAPE_REDACT:
    case WRIT_SHAPE_DETECTED:
    case WRIT_SHAPE_VOTERS:
    case WRIT_SHAPE_OPINIONS:
    case WRIT_SHAPE_ANCHORS:
    case WRIT_SHAPE_EXPORTS:
    case WRIT_SHAPE_STEPS:
    case WRIT_SHAPE_FLOWS:
        list_members(w, shape);
        break;
    case WRIT_SHAPE_UPSTREAMS:
        named_members(w, "upstream");
        break;
    case WRIT_SHAPE_FRAMEWORKS:
        named_members(w, "framework");
        break;
    case WRIT_SHAPE_TOOLS:
        tools_members(w);
        break;
    case WRIT_SHAPE_STATE:
    case WRIT_SHAPE_REPLAY:
    case WRIT_SHAPE_RESULT:
    case WRIT_SHAPE_CONTENTS:
    case WRIT_SHAPE_SUM:
    case WRIT_SHAPE_APPROVAL:
    case WRIT_SHAPE_DELEGATE:
    case WRIT_SHAPE_LABELS:
    case WRIT_SHAPE_REQUIRES:
    case WRIT_SHAPE_TASKS:
        ref_member(w, section_of(shape));
        break;
    case WRIT_SHAPE_CONSTRAINTS:
        constraints_members(w);
        break;
    case WRIT_SHAPE_TEMPLATES:
        string_member(w, "type", "object");
        break;
    case WRIT_SHAPE_NUMBER:
        number_or_text(w);
        break;
    case WRIT_SHAPE_REVIEWS:
        map_members(w, "review");
        break;
    case WRIT_SHAPE_REVIEWERS:
        map_members(w, "reviewer");
        break;
    case WRIT_SHAPE_NOTIFY:
        map_members(w, "notify");
        break;
    case WRIT_SHAPE_RESOURCES:
        map_members(w, "labels");
        break;
    case WRIT_SHAPE_DETECTORS:
        map_members(w, "detector");
        break;
    case WRIT_SHAPE_THRESHOLD:
        number_or_fraction(w, "threshold");
        break;
    case WRIT_SHAPE_SHARE:
    case WRIT_SHAPE_WEIGHT:
        number_or_fraction(w, NULL);
        break;
    case WRIT_SHAPE_VALUES:
        string_member(w, "type", "array");
        break;
    case WRIT_SHAPE_ENGINE:
        engine_members(w);
        break;
    }
}

/* ---- options */

static void
words_members(struct writ_write *w, const struct writ_word *words)
{
    member(w, "enum");
    writ_write_array_begin(w);
    for (; words->word != NULL; words++) {
        writ_write_string(w, writ_view_str(words->word));
    }
    writ_write_array_end(w);
}

static void
size_members(struct writ_write *w, const struct writ_setting *s)
{
    member(w, "anyOf");
    writ_write_array_begin(w);
    typed_begin(w, "integer");
    number_member(w, "minimum", s->least);
    number_member(w, "maximum", s->most);
    writ_write_object_end(w);
    pattern(w, "^[0-9]+(B|KiB|MiB|GiB)?$");
    writ_write_array_end(w);
}

static void
texts_members(struct writ_write *w, const struct writ_setting *s)
{
    string_member(w, "type", "array");
    member(w, "items");
    typed_begin(w, "string");
    writ_write_object_end(w);
    number_member(w, "maxItems", s->most);
}

static void
pairs_members(struct writ_write *w, const struct writ_setting *s)
{
    string_member(w, "type", "object");
    member(w, "additionalProperties");
    typed_begin(w, "string");
    writ_write_object_end(w);
    number_member(w, "maxProperties", s->most);
}

static void
text_members(struct writ_write *w, const struct writ_setting *s)
{
    string_member(w, "type", "string");
    number_member(w, "minLength", s->least);
    number_member(w, "maxLength", s->most);
}

static void
count_members(struct writ_write *w, const struct writ_setting *s)
{
    string_member(w, "type", "integer");
    number_member(w, "minimum", s->least);
    number_member(w, "maximum", s->most);
}

static void
kind_members(struct writ_write *w, const struct writ_setting *s)
{
    switch (s->kind) {
    case WRIT_SETTING_TEXT:
    case WRIT_SETTING_PATH:
        text_members(w, s);
        break;
    case WRIT_SETTING_WORD:
        words_members(w, s->words);
        break;
    case WRIT_SETTING_SWITCH:
        string_member(w, "type", "boolean");
        break;
    case WRIT_SETTING_COUNT:
        count_members(w, s);
        break;
    case WRIT_SETTING_SIZE:
        size_members(w, s);
        break;
    case WRIT_SETTING_DURATION:
        string_member(w, "type", "string");
        string_member(w, "pattern", "^[0-9]+(ms|s|m|h|d)$");
        break;
    case WRIT_SETTING_TEXTS:
        texts_members(w, s);
        break;
    case WRIT_SETTING_PAIRS:
        pairs_members(w, s);
        break;
    case WRIT_SETTING_ADDRESS:
        string_member(w, "type", "string");
        string_member(w, "pattern", "^((localhost|[0-9.]+|\\[[0-9a-fA-F:.]+\\]):[0-9]+|unix:.+)$");
        break;
    case WRIT_SETTING_DIGEST:
        string_member(w, "type", "string");
        string_member(w, "pattern", "^[0-9a-f]{64}$");
        break;
    case WRIT_SETTING_INNER:
        ref_member(w, writ_setting_section(s->inner)->id);
        break;
    case WRIT_SETTING_NODE:
        shape_members(w, s->shape);
        break;
    }
}

/* The fallback with the type that the schema asks for. */
static void
default_member(struct writ_write *w, const struct writ_setting *s)
{
    if (s->fallback == NULL || writ_setting_is_required(s)) {
        return;
    }
    member(w, "default");
    if (s->kind == WRIT_SETTING_SWITCH || s->kind == WRIT_SETTING_COUNT) {
        writ_write_raw(w, writ_view_str(s->fallback));
    } else {
        writ_write_string(w, writ_view_str(s->fallback));
    }
}

static void
properties(struct writ_write *w, enum writ_section section)
{
    size_t n;
    const struct writ_setting *settings = writ_setting_all(&n);

    member(w, "properties");
    writ_write_object_begin(w);
    for (size_t i = 0; i < n; i++) {
        if (settings[i].section == section) {
            member(w, settings[i].name);
            writ_write_object_begin(w);
            string_member(w, "description", settings[i].sentence);
            kind_members(w, &settings[i]);
            default_member(w, &settings[i]);
            writ_write_object_end(w);
        }
    }
    writ_write_object_end(w);
}

static void
required(struct writ_write *w, enum writ_section section)
{
    size_t n, found = 0;
    const struct writ_setting *settings = writ_setting_all(&n);

    for (size_t i = 0; i < n; i++) {
        if (settings[i].section == section && writ_setting_is_required(&settings[i])) {
            if (found++ == 0) {
                member(w, "required");
                writ_write_array_begin(w);
            }
            writ_write_string(w, writ_view_str(settings[i].name));
        }
    }
    if (found > 0) {
        writ_write_array_end(w);
    }
}

/* ---- the requirements of one section beyond its options */

static void
required_names(struct writ_write *w, const char *const *names, size_t n)
{
    member(w, "required");
    writ_write_array_begin(w);
    for (size_t i = 0; i < n; i++) {
        writ_write_string(w, writ_view_str(names[i]));
    }
    writ_write_array_end(w);
}

static void
one_of(struct writ_write *w, const char *const *names)
{
    member(w, "oneOf");
    writ_write_array_begin(w);
    for (; *names != NULL; names++) {
        writ_write_object_begin(w);
        required_names(w, names, 1);
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
}

/* No two of them are given. */
static void
one_at_most(struct writ_write *w, const char *const *names)
{
    member(w, "not");
    writ_write_object_begin(w);
    member(w, "anyOf");
    writ_write_array_begin(w);
    for (size_t i = 0; names[i] != NULL; i++) {
        for (size_t k = i + 1; names[k] != NULL; k++) {
            writ_write_object_begin(w);
            required_names(w, (const char *const[]){names[i], names[k]}, 2);
            writ_write_object_end(w);
        }
    }
    writ_write_array_end(w);
    writ_write_object_end(w);
}

static void
one_with(struct writ_write *w, const struct writ_setting_group *group)
{
    member(w, "if");
    writ_write_object_begin(w);
    required_names(w, &group->with, 1);
    writ_write_object_end(w);
    member(w, "then");
    writ_write_object_begin(w);
    one_of(w, group->names);
    writ_write_object_end(w);
}

/* {"dependentRequired":{"name":["other"],...}} over all rows of a section, since it is one member
 */
static void
with_members(struct writ_write *w, enum writ_section section)
{
    size_t n, found = 0;
    const struct writ_setting_group *groups = writ_setting_groups(&n);

    for (size_t i = 0; i < n; i++) {
        if (groups[i].section != section || groups[i].kind != WRIT_GROUP_WITH) {
            continue;
        }
        if (found++ == 0) {
            member(w, "dependentRequired");
            writ_write_object_begin(w);
        }
        for (const char *const *name = groups[i].names; *name != NULL; name++) {
            member(w, *name);
            writ_write_array_begin(w);
            writ_write_string(w, writ_view_str(groups[i].with));
            writ_write_array_end(w);
        }
    }
    if (found > 0) {
        writ_write_object_end(w);
    }
}

static void
group_members(struct writ_write *w, const struct writ_setting_group *group)
{
    switch (group->kind) {
    case WRIT_GROUP_ONE_OF:
        one_of(w, group->names);
        break;
    case WRIT_GROUP_ONE_AT_MOST:
        one_at_most(w, group->names);
        break;
    case WRIT_GROUP_ONE_WITH:
        one_with(w, group);
        break;
    case WRIT_GROUP_WITH: /* with_members */
        break;
    }
}

static void
json_values(struct writ_write *w)
{
    typed_begin(w, "array");
    number_member(w, "minItems", 1);
    number_member(w, "maxItems", 1024);
    writ_write_object_end(w);
}

/* {"anyOf":[<one>,{"type":"array","items":<one>,"minItems":1}]} */
static void
one_or_many(struct writ_write *w, void (*one)(struct writ_write *w))
{
    writ_write_object_begin(w);
    member(w, "anyOf");
    writ_write_array_begin(w);
    one(w);
    typed_begin(w, "array");
    member(w, "items");
    one(w);
    number_member(w, "minItems", 1);
    writ_write_object_end(w);
    writ_write_array_end(w);
    writ_write_object_end(w);
}

static void
type_name(struct writ_write *w)
{
    static const char *const names[] = {
#define TYPE_WORD(NAME, word, bit) word,
        WRIT_CONSTRAINT_TYPES(TYPE_WORD)
#undef TYPE_WORD
    };

    writ_write_object_begin(w);
    member(w, "enum");
    writ_write_array_begin(w);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        writ_write_string(w, writ_view_str(names[i]));
    }
    writ_write_array_end(w);
    writ_write_object_end(w);
}

static void
directory(struct writ_write *w)
{
    pattern(w, "^/");
}

static void
host(struct writ_write *w)
{
    pattern(w, "^(\\*\\.)?([a-z0-9_.-]+|\\[[0-9a-f:.]+\\])(:[0-9]+)?$");
}

static void
nested_constraint(struct writ_write *w)
{
    ref(w, "constraint");
}

static void
some_text(struct writ_write *w)
{
    typed_begin(w, "string");
    number_member(w, "minLength", 1);
    writ_write_object_end(w);
}

static void
length(struct writ_write *w)
{
    writ_write_object_begin(w);
    member(w, "anyOf");
    writ_write_array_begin(w);
    typed_begin(w, "integer");
    number_member(w, "minimum", 0);
    writ_write_object_end(w);
    pattern(w, "^(0|[1-9][0-9]*)$");
    writ_write_array_end(w);
    writ_write_object_end(w);
}

/* A list of sources, or a section that has more to say. */
static void
sources(struct writ_write *w)
{
    writ_write_object_begin(w);
    member(w, "anyOf");
    writ_write_array_begin(w);
    typed_begin(w, "array");
    writ_write_object_end(w);
    ref(w, "from");
    writ_write_array_end(w);
    writ_write_object_end(w);
}

static void
value_schema(struct writ_write *w, enum writ_op_value kind)
{
    switch (kind) {
    case WRIT_OP_VALUE_NOTHING:
        writ_write_object_begin(w);
        member(w, "const");
        writ_write_bool(w, true);
        writ_write_object_end(w);
        break;
    case WRIT_OP_VALUE_JSON:
        writ_write_bool(w, true);
        break;
    case WRIT_OP_VALUE_JSONS:
        json_values(w);
        break;
    case WRIT_OP_VALUE_NUMBER:
        writ_write_object_begin(w);
        number_or_text(w);
        writ_write_object_end(w);
        break;
    case WRIT_OP_VALUE_TYPES:
        one_or_many(w, type_name);
        break;
    case WRIT_OP_VALUE_LENGTH:
        length(w);
        break;
    case WRIT_OP_VALUE_STRING:
    case WRIT_OP_VALUE_PATTERN:
        some_text(w);
        break;
    case WRIT_OP_VALUE_GLOBS:
        one_or_many(w, some_text);
        break;
    case WRIT_OP_VALUE_DIRECTORIES:
        one_or_many(w, directory);
        break;
    case WRIT_OP_VALUE_HOSTS:
        one_or_many(w, host);
        break;
    case WRIT_OP_VALUE_SCHEMA:
        writ_write_object_begin(w);
        writ_write_object_end(w);
        break;
    case WRIT_OP_VALUE_SOURCES:
        sources(w);
        break;
    case WRIT_OP_VALUE_DETECTORS:
        one_or_many(w, some_text);
        break;
    case WRIT_OP_VALUE_CONSTRAINTS:
        one_or_many(w, nested_constraint);
        break;
    }
}

static void
op_rule(struct writ_write *w, const struct writ_op_row *op)
{
    writ_write_object_begin(w);
    member(w, "if");
    writ_write_object_begin(w);
    member(w, "properties");
    writ_write_object_begin(w);
    member(w, "op");
    writ_write_object_begin(w);
    string_member(w, "const", op->word);
    writ_write_object_end(w);
    writ_write_object_end(w);
    writ_write_object_end(w);
    member(w, "then");
    writ_write_object_begin(w);
    member(w, "properties");
    writ_write_object_begin(w);
    member(w, "value");
    value_schema(w, op->value);
    writ_write_object_end(w);
    if (op->value != WRIT_OP_VALUE_NOTHING) {
        member(w, "required");
        writ_write_array_begin(w);
        writ_write_string(w, WRIT_LIT("value"));
        writ_write_array_end(w);
    }
    writ_write_object_end(w);
    writ_write_object_end(w);
}

static void
section_extra(struct writ_write *w, enum writ_section section)
{
    size_t n;
    const struct writ_setting_group *groups = writ_setting_groups(&n);

    for (size_t i = 0; i < n; i++) {
        if (groups[i].section == section) {
            group_members(w, &groups[i]);
        }
    }
    with_members(w, section);
    if (section == WRIT_SECTION_constraint) {
        member(w, "allOf");
        writ_write_array_begin(w);
        for (enum writ_op op = WRIT_OP_EQ; op < WRIT_OP_COUNT; op++) {
            op_rule(w, writ_op_row(op));
        }
        writ_write_array_end(w);
    }
}

static void
section_members(struct writ_write *w, enum writ_section section)
{
    string_member(w, "description", writ_setting_section(section)->sentence);
    string_member(w, "type", "object");
    properties(w, section);
    member(w, "additionalProperties");
    writ_write_bool(w, false);
    required(w, section);
    section_extra(w, section);
}

/* ---- the whole */

WRIT_RESULT
writ_schema_put(struct writ_buf *ret, struct writ_err *err)
{
    writ_auto_buf compact = writ_buf_make(COMPACT_MAX);
    struct writ_write w = writ_write_to(&compact);

    writ_write_object_begin(&w);
    string_member(&w, "$schema", "https://json-schema.org/draft/2020-12/schema");
    string_member(&w, "title", "Configuration of Writ");
    section_members(&w, WRIT_SECTION_top);
    member(&w, "$defs");
    writ_write_object_begin(&w);
    for (int section = WRIT_SECTION_top + 1; section < WRIT_SECTION_COUNT; section++) {
        member(&w, writ_setting_section((enum writ_section)section)->id);
        writ_write_object_begin(&w);
        section_members(&w, (enum writ_section)section);
        writ_write_object_end(&w);
    }
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    writ_indent_put(ret, writ_buf_view(&compact));
    return writ_buf_check(ret, err);
}
