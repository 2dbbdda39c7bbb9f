/* manual.c - see manual.h. A row of the tables appears by itself. */
#include "policy/read/manual.h"

#include "policy/model/op.h"
#include "policy/read/setting.h"

static const char *shape_name(enum writ_shape shape);

static const char *
kind_name(const struct writ_setting *s)
{
    switch (s->kind) {
    case WRIT_SETTING_TEXT:
        return "text";
    case WRIT_SETTING_PATH:
        return "path";
    case WRIT_SETTING_WORD:
        return "word";
    case WRIT_SETTING_SWITCH:
        return "true, false";
    case WRIT_SETTING_COUNT:
        return "number";
    case WRIT_SETTING_SIZE:
        return "size";
    case WRIT_SETTING_DURATION:
        return "duration";
    case WRIT_SETTING_TEXTS:
        return "list of texts";
    case WRIT_SETTING_PAIRS:
        return "map of texts";
    case WRIT_SETTING_ADDRESS:
        return "address";
    case WRIT_SETTING_DIGEST:
        return "digest";
    case WRIT_SETTING_INNER:
        return "section";
    case WRIT_SETTING_NODE:
        break;
    }
    return shape_name(s->shape);
}

static const char *
shape_name(enum writ_shape shape)
{
    switch (shape) {
    case WRIT_SHAPE_AGENTS:
    case WRIT_SHAPE_CONSTRAINTS:
    case WRIT_SHAPE_BUDGETS:
    case WRIT_SHAPE_REDACT:
    case WRIT_SHAPE_DETECTED:
    case WRIT_SHAPE_VOTERS:
    case WRIT_SHAPE_OPINIONS:
    case WRIT_SHAPE_ANCHORS:
    case WRIT_SHAPE_EXPORTS:
    case WRIT_SHAPE_STEPS:
    case WRIT_SHAPE_FLOWS:
        return "list of sections";
    case WRIT_SHAPE_UPSTREAMS:
    case WRIT_SHAPE_FRAMEWORKS:
    case WRIT_SHAPE_TOOLS:
    case WRIT_SHAPE_REVIEWS:
    case WRIT_SHAPE_REVIEWERS:
    case WRIT_SHAPE_NOTIFY:
    case WRIT_SHAPE_DETECTORS:
    case WRIT_SHAPE_RESOURCES:
        return "map of sections";
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
        return "section";
    case WRIT_SHAPE_VALUES:
        return "list";
    case WRIT_SHAPE_THRESHOLD:
        return "share or section";
    case WRIT_SHAPE_ENGINE:
        return "name or file";
    case WRIT_SHAPE_SHARE:
    case WRIT_SHAPE_WEIGHT:
        return "share";
    case WRIT_SHAPE_TEMPLATES:
        return "map";
    case WRIT_SHAPE_NUMBER:
        return "number";
    case WRIT_SHAPE_NONE:
    case WRIT_SHAPE_VALUE:
        return "by op";
    }
    return "";
}

/* Markdown wants the bar of a table cell escaped; no sentence has other special bytes. */
static void
put_cell(struct writ_buf *ret, const char *text)
{
    writ_buf_str(ret, "| ");
    for (; *text != '\0'; text++) {
        writ_buf_str(ret, *text == '|' ? "\\" : "");
        writ_buf_byte(ret, *text);
    }
    writ_buf_byte(ret, ' ');
}

static void
put_words(struct writ_buf *ret, const struct writ_setting *s)
{
    writ_buf_str(ret, "| ");
    if (s->kind != WRIT_SETTING_WORD || s->section == WRIT_SECTION_constraint) {
        writ_buf_str(ret, kind_name(s));
    }
    for (const struct writ_word *word = s->words;
         s->kind == WRIT_SETTING_WORD && s->section != WRIT_SECTION_constraint &&
         word->word != NULL;
         word++) {
        writ_buf_fmt(ret, "%s`%s`", word == s->words ? "" : ", ", word->word);
    }
    writ_buf_byte(ret, ' ');
}

static void
put_names(struct writ_buf *ret, const char *const *names)
{
    for (size_t i = 0; names[i] != NULL; i++) {
        writ_buf_fmt(ret, "%s`%s`", i == 0 ? "" : names[i + 1] == NULL ? " and " : ", ", names[i]);
    }
}

/* The groups of a section, a sentence each. */
static void
put_groups(struct writ_buf *ret, enum writ_section section)
{
    size_t n, found = 0;
    const struct writ_setting_group *groups = writ_setting_groups(&n);

    for (size_t i = 0; i < n; i++) {
        if (groups[i].section != section) {
            continue;
        }
        writ_buf_str(ret, found++ == 0 ? "\n" : "");
        switch (groups[i].kind) {
        case WRIT_GROUP_ONE_OF:
            writ_buf_str(ret, "Give exactly one of ");
            break;
        case WRIT_GROUP_ONE_AT_MOST:
            writ_buf_str(ret, "Give at most one of ");
            break;
        case WRIT_GROUP_ONE_WITH:
            writ_buf_fmt(ret, "With `%s`, give exactly one of ", groups[i].with);
            break;
        case WRIT_GROUP_WITH:
            writ_buf_fmt(ret, "Only with `%s`: ", groups[i].with);
            break;
        }
        put_names(ret, groups[i].names);
        writ_buf_str(ret, ".\n");
    }
}

static void
manual_section(struct writ_buf *ret, enum writ_section section)
{
    const struct writ_section_row *row = writ_setting_section(section);
    size_t n;
    const struct writ_setting *settings = writ_setting_all(&n);

    writ_buf_fmt(ret, "\n## %s\n\n%s\n\n", row->title, row->sentence);
    writ_buf_str(ret, "| option | value | default | reload | |\n| --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < n; i++) {
        const struct writ_setting *s = &settings[i];
        if (s->section == section) {
            writ_buf_fmt(ret, "| `%s` ", s->name);
            put_words(ret, s);
            put_cell(ret, writ_setting_is_required(s) ? "required"
                          : s->fallback != NULL       ? s->fallback
                                                      : "");
            put_cell(ret, s->kind == WRIT_SETTING_INNER ? "" : writ_setting_reload_word(s->reload));
            put_cell(ret, s->sentence);
            writ_buf_str(ret, "|\n");
        }
    }
    put_groups(ret, section);
}

WRIT_RESULT
writ_manual_put(struct writ_buf *ret, struct writ_err *err)
{
    writ_buf_str(ret,
        "# Every option of the configuration file\n\n"
        "Made by `writ check --manual` from `policy/read/option.tbl.h` and "
        "`policy/model/op.tbl.h`; a test "
        "compares.\n"
        "`docs/policy.md` explains, `config/` has examples. Terms, such as\n"
        "[review](concepts.md#review), are in [concepts.md](concepts.md).\n\n"
        "A duration is a number and a unit: `500ms`, `60s`, `10m`, `24h`, `7d`. A size is a number "
        "of bytes,\nor one with a unit: `65536`, `64KiB`, `4MiB`. Texts need quotes only where "
        "YAML "
        "needs them. A path is\nrelative to the folder of the configuration file.\n\n"
        "The column `reload` is the effect of a reload (SIGHUP) on a changed value: `live` takes "
        "it. `restart` keeps the\nvalue of the start; the log names the option "
        "(`restart_needed`). `refused` refuses the whole file and names the\noption "
        "(`reload_refused`). For a list or map of sections the word applies to adding or removing "
        "all of them; "
        "each option in\nthem has its own.\n");
    for (int section = WRIT_SECTION_top; section < WRIT_SECTION_COUNT; section++) {
        manual_section(ret, (enum writ_section)section);
    }
    writ_buf_str(
        ret, "\n## The ops of constraints\n\n| op | holds when the argument |\n| --- | --- |\n");
    for (enum writ_op op = WRIT_OP_EQ; op < WRIT_OP_COUNT; op++) {
        writ_buf_fmt(ret, "| `%s` ", writ_op_row(op)->word);
        put_cell(ret, writ_op_row(op)->sentence);
        writ_buf_str(ret, "|\n");
    }
    return writ_buf_check(ret, err);
}
