/* path.h - whether a path is inside a directory, for the op `under`.
 *
 * Lexical: nothing is looked up, so symbolic links are out of sight (docs/policy.md says so). A
 * path must be absolute; doubled slashes and `.` components are normalized away. Refused are NUL,
 * any control character, a backslash, `//` at the front, and a component that is `..` or that
 * software could read as `..`: `..` with spaces or dots around (`.. `), or followed by `;`, `:`,
 * `?` or `#`. The same holds for forms that appear only after software decoded percent escapes and
 * HTML entities, folded characters that NFKC and the code pages of Windows turn into a part of a
 * path (fold.tbl.h), or left out hidden characters. Whole components decide, so /srv/sandbox-evil
 * is not under /srv/sandbox; the directory itself is. */
#ifndef WRIT_POLICY_PATH_H
#define WRIT_POLICY_PATH_H

#include "base/bytes.h"

#define WRIT_PATH_MAX 4096 /* longest path; a longer one is not inside */

/** True for an absolute path in normal form: a directory that configuration may name. */
bool writ_path_is_normal(struct writ_view path);

/** True when `path` is acceptable (see above), and one of the `n` directories (normal) contains it.
 * The path is decoded once for all directories. */
bool writ_path_is_under(struct writ_view path, const struct writ_view *directories, size_t n);

/** True when a component of `text` is or reads as `..`, or it contains a backslash or control
 * character, also in disguise (see above). True for a text that needs decoding and is longer than
 * WRIT_PATH_MAX. For patterns and templates that span components. */
bool writ_path_is_devious(struct writ_view text);

#endif
