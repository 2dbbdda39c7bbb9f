/* option.h - reads sections of the configuration file by the table of options (option.tbl.h). */
#ifndef WRIT_POLICY_OPTION_H
#define WRIT_POLICY_OPTION_H

#include "policy/read/setting.h"

/**
 * Fills the struct of a section from `map`, with the fallbacks of absent options.
 *
 * @param map  the section in the file; NULL: absent, all fallbacks apply
 * @param ret  the struct that the table names for the section, zeroed by the caller. A faulty
 *             option (an error in o->findings) stays zero
 */
void writ_option_read(
    struct writ_options *o, enum writ_section section, const struct writ_yaml *map, void *ret);

/** A fault at `node`: writ_yaml_find with severity ERROR. */
#define WRIT_OPTION_FAULT(o, node, ...)                                                            \
    writ_yaml_find((o)->findings, WRIT_SEVERITY_ERROR, (node), __VA_ARGS__)
#define WRIT_OPTION_WARN(o, node, ...)                                                             \
    writ_yaml_find((o)->findings, WRIT_SEVERITY_WARNING, (node), __VA_ARGS__)

/** The option of that name in a section, NULL when it is absent or `map` is not a map. */
const struct writ_yaml *writ_option_of(const struct writ_yaml *map, const char *name);

/** Adds a finding to `map`, which has none or several of those options of the section of which it
 * needs exactly one. */
void writ_option_needs_one(
    struct writ_options *o, enum writ_section section, const struct writ_yaml *map);

/** Adds a finding for each group of options of the section of which `map` has too many, or none
 * although it needs one. False when there was one. */
bool writ_option_choice(
    struct writ_options *o, enum writ_section section, const struct writ_yaml *map);

/** Adds a finding to each option in `map` that needs another option of the section, which is
 * absent. False when there was one. */
bool writ_option_together(
    struct writ_options *o, enum writ_section section, const struct writ_yaml *map);

/** A copy of the two texts, one after the other, in o->arena; ptr NULL (and o->nomem) without
 * memory. */
struct writ_view writ_option_join(
    struct writ_options *o, const char *before, struct writ_view text);

/** The path, relative to the folder of the file when it is not absolute; in o->arena. Empty stays
 * empty. ptr NULL (and o->nomem) without memory. */
struct writ_view writ_option_path(struct writ_options *o, struct writ_view path);

/** Appends the text of a configuration file: o->edited_text for o->edited. As writ_text_file. */
WRIT_RESULT writ_option_file(
    const struct writ_options *o, const char *path, struct writ_buf *ret, struct writ_err *err);

/** A root that can be changed, with the same children; NULL (and o->nomem) without memory. */
struct writ_yaml *writ_option_root(struct writ_options *o, const struct writ_yaml *root);

/** Memory for `n` objects of `size` bytes, or NULL (and o->nomem). At least one object. */
void *writ_option_memory(struct writ_options *o, size_t n, size_t size);

/** A list of at most `most` texts without control characters; else a finding. */
bool writ_option_texts(
    struct writ_options *o, const struct writ_yaml *node, size_t most, struct writ_views *ret);

/** True when the node is a scalar without control characters; else a finding. */
bool writ_option_text(struct writ_options *o, const struct writ_yaml *node);

/** Adds a finding for every element that is not a scope; returns false for any. `node` is the
 * list. */
bool writ_option_scopes(
    struct writ_options *o, const struct writ_yaml *node, const struct writ_views *scopes);

/** Reads "127.0.0.1:8700", "[::1]:0", "localhost:80". WRIT_E_PARSE. */
WRIT_RESULT writ_option_address(
    struct writ_view text, struct writ_arena *arena, struct writ_listen_address *ret);

/** The word of `words[n]` that `text` probably misspells; NULL when none is near. */
const char *writ_option_nearest(struct writ_view text, const char *const *words, size_t n);

#endif
