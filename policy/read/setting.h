/* setting.h - the table of options (option.tbl.h) as rows, and the state that their readers
 * share. */
#ifndef WRIT_POLICY_SETTING_H
#define WRIT_POLICY_SETTING_H

#include "policy/read/raw.h"

enum writ_section {
#define SECTION(id, title, type, sentence) WRIT_SECTION_##id,
#include "policy/read/option.tbl.h"
    WRIT_SECTION_COUNT,
};

enum writ_setting_kind {
    WRIT_SETTING_TEXT = 0,
    WRIT_SETTING_PATH,
    WRIT_SETTING_WORD,
    WRIT_SETTING_SWITCH,
    WRIT_SETTING_COUNT,
    WRIT_SETTING_SIZE,
    WRIT_SETTING_DURATION,
    WRIT_SETTING_TEXTS,
    WRIT_SETTING_PAIRS,
    WRIT_SETTING_ADDRESS,
    WRIT_SETTING_DIGEST,
    WRIT_SETTING_INNER,
    WRIT_SETTING_NODE,
};

/** The effect of a reload on a changed value. */
enum writ_reload {
    WRIT_RELOAD_REFUSED = 0, /* refuses the whole file */
    WRIT_RELOAD_RESTART,     /* keeps that of the start */
    WRIT_RELOAD_LIVE,        /* takes it */
};

/** The shape of a NODE, for the schema; its owner reads it. */
enum writ_shape {
    WRIT_SHAPE_NONE = 0,
    WRIT_SHAPE_AGENTS,
    WRIT_SHAPE_UPSTREAMS,
    WRIT_SHAPE_FRAMEWORKS,
    WRIT_SHAPE_TOOLS,
    WRIT_SHAPE_STATE,
    WRIT_SHAPE_CONSTRAINTS,
    WRIT_SHAPE_BUDGETS,
    WRIT_SHAPE_REPLAY,
    WRIT_SHAPE_RESULT,
    WRIT_SHAPE_CONTENTS,
    WRIT_SHAPE_REDACT,
    WRIT_SHAPE_TEMPLATES,
    WRIT_SHAPE_VALUE,
    WRIT_SHAPE_SUM,
    WRIT_SHAPE_NUMBER,
    WRIT_SHAPE_REVIEWS,
    WRIT_SHAPE_VOTERS,
    WRIT_SHAPE_REVIEWERS,
    WRIT_SHAPE_OPINIONS,
    WRIT_SHAPE_APPROVAL,
    WRIT_SHAPE_ANCHORS,
    WRIT_SHAPE_EXPORTS,
    WRIT_SHAPE_NOTIFY,
    WRIT_SHAPE_THRESHOLD,
    WRIT_SHAPE_STEPS,
    WRIT_SHAPE_SHARE,
    WRIT_SHAPE_ENGINE,
    WRIT_SHAPE_WEIGHT,
    WRIT_SHAPE_DELEGATE,
    WRIT_SHAPE_FLOWS,
    WRIT_SHAPE_LABELS,
    WRIT_SHAPE_DETECTED,
    WRIT_SHAPE_RESOURCES,
    WRIT_SHAPE_REQUIRES,
    WRIT_SHAPE_TASKS,
    WRIT_SHAPE_VALUES,
    WRIT_SHAPE_DETECTORS,
};

struct writ_word {
    const char *word;
    int value;
};

/** One row of option.tbl.h. Static storage. */
struct writ_setting {
    enum writ_section section;
    enum writ_setting_kind kind;
    const char *name;
    size_t offset;
    int64_t least, most;
    const struct writ_word *words; /* WORD; ended by a row of zeros */
    enum writ_section inner;       /* INNER */
    enum writ_shape shape;         /* NODE */
    enum writ_reload reload;       /* not of an INNER one: its options have theirs */
    const char *fallback;          /* as in a file; NULL: none; "!": required */
    const char *sentence;
};

enum writ_group_kind {
    WRIT_GROUP_ONE_OF = 1,
    WRIT_GROUP_ONE_AT_MOST,
    WRIT_GROUP_ONE_WITH,
    WRIT_GROUP_WITH,
};

/** Options of a section that depend on each other, as option.tbl.h has them. Static storage. */
struct writ_setting_group {
    enum writ_section section;
    enum writ_group_kind kind;
    const char *with;         /* ONE_WITH, WITH: the other option */
    const char *fault;        /* WITH: what is wrong without it */
    const char *const *names; /* ended by NULL */
};

struct writ_section_row {
    const char *id, *title, *sentence;
};

/** The row of a section. Static storage. */
const struct writ_section_row *writ_setting_section(enum writ_section section);

/** The settings of all sections in the order of the table. */
const struct writ_setting *writ_setting_all(size_t *ret_n);

/** The groups of all sections. */
const struct writ_setting_group *writ_setting_groups(size_t *ret_n);

/** "live", "restart" or "refused". */
const char *writ_setting_reload_word(enum writ_reload reload);

/** True when the file must have it. */
bool writ_setting_is_required(const struct writ_setting *setting);

struct writ_detectors;       /* policy/detect/detector.h */
struct writ_sources_pending; /* sources.h */

/** The results of a reading. `nomem` is set once memory ran out: the results are then incomplete.
 */
struct writ_options {
    struct writ_arena *arena;
    struct writ_findings *findings;
    bool nomem;
    struct writ_view edited, edited_text;   /* a file that has another text here; ptr NULL: none */
    struct writ_fragment *fragment;         /* NULL: none */
    const struct writ_detectors *detectors; /* of the file; NULL: none */
    bool *detecting; /* the detectors that were named: built-in ones, then those of the file */
    struct writ_sources_pending **sources; /* of the rule that is read; NULL: none is */
    struct writ_view folder; /* of the file, with a '/' at its end; empty: paths stay as written */
    struct writ_changes_value *values, *last_value; /* values that a reload does not take:
                                                     * changes.c */
};

/** The place of a section in the file, absent or not. */
struct writ_option_place {
    const struct writ_yaml *map;           /* NULL: absent */
    const struct writ_option_place *outer; /* of the INNER option that the section is, and */
    const char *name;                      /* the name of this one there */
};

#endif
