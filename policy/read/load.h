/* load.h - reads a configuration file, and checks it.
 *
 * One YAML file (JSON is YAML too). Every option is a row of option.tbl.h. An option that is not in
 * the table, is written twice, has the wrong type or is out of range is refused with file, line and
 * JSON Pointer, all faults at once. Anchors, aliases, tags and merge keys are refused: they are not
 * needed, and with them a small file becomes a large one. A scalar is a string unless the option
 * needs a number or a switch, so that `no`, `1e3` or `12:30` never turn into other values (as in
 * YAML 1.1 readers).
 *
 * Reads only the given file, and does not open files that it names. */
#ifndef WRIT_POLICY_LOAD_H
#define WRIT_POLICY_LOAD_H

#include "policy/model/config.h"
#include "policy/read/findings.h"

/**
 * Reads a configuration. Paths in it stay as they are written.
 *
 * @param text      the file's bytes, borrowed for the call
 * @param file      its name, for messages
 * @param findings  filled in any case: errors and warnings in the order of lines; may be NULL
 * @param ret       new, drop with writ_config_drop; written only on success
 * @param err       the first error, as one line
 *
 * @return WRIT_OK       (possibly with warnings)
 *         WRIT_E_PARSE   not YAML, or YAML of a kind that is refused
 *         WRIT_E_INVALID unknown, repeated, wrongly typed, out of range, contradictory
 *         WRIT_E_LIMIT   one of WRIT_CONFIG_*_MAX or WRIT_YAML_*_MAX
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 *
 * Does not block. Thread-safe.
 */
WRIT_RESULT writ_load_text(struct writ_view text, const char *file, struct writ_findings *findings,
    struct writ_config **ret, struct writ_err *err);

/** Reads the file `path` and then as writ_load_text, with its relative paths made absolute: they
 * begin at the folder of the file. Also WRIT_E_ABSENT, WRIT_E_IO. */
WRIT_RESULT writ_load_file(const char *path, struct writ_findings *findings,
    struct writ_config **ret, struct writ_err *err);

/** As writ_load_file, with `text` in place of what the file `edited` holds: the configuration file
 * or one that it includes, by the name that findings have. */
WRIT_RESULT writ_load_edited(const char *path, struct writ_view edited, struct writ_view text,
    struct writ_config **ret, struct writ_err *err);

/** As writ_load_file, with the tools of `text`, a map with that option alone, in place of those of
 * the file `file`: the configuration file or one that it includes. Findings name it "edit". Also
 * WRIT_E_ABSENT: no such file. */
WRIT_RESULT writ_load_tools(const char *path, struct writ_view file, struct writ_view text,
    struct writ_config **ret, struct writ_err *err);

#endif
