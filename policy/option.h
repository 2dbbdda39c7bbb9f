/* option.h - reads sections of the configuration file by the table of options (option.tbl.h). */
#ifndef WRIT_POLICY_OPTION_H
#define WRIT_POLICY_OPTION_H

#include "policy/raw.h"

enum writ_section {
#define SECTION(id, title, type, sentence) WRIT_SECTION_##id,
#include "policy/option.tbl.h"
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

/** What a reload does with a value that has changed. */
enum writ_reload {
    WRIT_RELOAD_REFUSED = 0, /* refuses the whole file */
    WRIT_RELOAD_RESTART,     /* keeps that of the start */
    WRIT_RELOAD_LIVE,        /* takes it */
};

/** What a NODE is, for the schema; its owner reads it. */
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

struct writ_section_row {
    const char *id, *title, *sentence;
};

/** The row of a section. Static storage. */
const struct writ_section_row *writ_option_section(enum writ_section section);

/** The settings of all sections in the order of the table. */
const struct writ_setting *writ_option_settings(size_t *ret_n);

/** "live", "restart" or "refused". */
const char *writ_option_reload_word(enum writ_reload reload);

/** True when the file cannot leave it out. */
bool writ_option_is_required(const struct writ_setting *setting);

/** Where readings go. `nomem` is set once memory ran out: what was read is then not complete. */
struct writ_options {
    struct writ_arena *arena;
    struct writ_findings *findings;
    bool nomem;
    struct writ_view folder; /* of the file, with a '/' at its end; empty: paths stay as written */
    struct writ_changes_value *values, *last_value; /* what a reload does not take: changes.c */
};

/** Where a section is in the file, or would be. */
struct writ_option_place {
    const struct writ_yaml *map;           /* NULL: left out */
    const struct writ_option_place *outer; /* of the INNER option that the section is, and */
    const char *name;                      /* the name of this one there */
};

/**
 * Fills the struct of a section: what `map` says, and the fallbacks of what it leaves out.
 *
 * @param map  the section in the file; NULL: left out, all fallbacks hold
 * @param ret  the struct that the table names for the section, zeroed by the caller. What is
 *             faulty (and told as an error in o->findings) stays zero
 */
void writ_option_read(
    struct writ_options *o, enum writ_section section, const struct writ_yaml *map, void *ret);

/** A fault at `node`: writ_yaml_find with severity ERROR. */
#define WRIT_OPTION_FAULT(o, node, ...)                                                            \
    writ_yaml_find((o)->findings, WRIT_SEVERITY_ERROR, (node), __VA_ARGS__)
#define WRIT_OPTION_WARN(o, node, ...)                                                             \
    writ_yaml_find((o)->findings, WRIT_SEVERITY_WARNING, (node), __VA_ARGS__)

/** The option of that name in a section, NULL when it is left out or `map` is no map. */
const struct writ_yaml *writ_option_of(const struct writ_yaml *map, const char *name);

/** A copy of the two one after the other, in o->arena; ptr NULL (and o->nomem) without memory. */
struct writ_view writ_option_join(
    struct writ_options *o, const char *before, struct writ_view text);

/** The path, relative to the folder of the file when it is not absolute; in o->arena. Empty stays
 * empty. ptr NULL (and o->nomem) without memory. */
struct writ_view writ_option_path(struct writ_options *o, struct writ_view path);

/** Memory for `n` objects of `size` bytes, or NULL (and o->nomem). At least one object. */
void *writ_option_memory(struct writ_options *o, size_t n, size_t size);

/** A list of at most `most` texts without control characters; told when not. */
bool writ_option_texts(
    struct writ_options *o, const struct writ_yaml *node, size_t most, struct writ_views *ret);

/** True when the node is a scalar without control characters; told when not. */
bool writ_option_text(struct writ_options *o, const struct writ_yaml *node);

/** Reads "127.0.0.1:8700", "[::1]:0", "localhost:80". WRIT_E_PARSE. */
WRIT_RESULT writ_option_address(
    struct writ_view text, struct writ_arena *arena, struct writ_listen_address *ret);

/** Of the words in `words[n]`, the one that `text` was probably meant to be; NULL when none is
 * near. */
const char *writ_option_nearest(struct writ_view text, const char *const *words, size_t n);

#endif
