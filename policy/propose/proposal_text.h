/* proposal_text.h - a proposal as the text of a configuration file, with a comment at each
 * constraint that says why it stands there. Texts of others (names, values) are written so that
 * they stay values: quoted and escaped, and never in a comment. */
#ifndef WRIT_POLICY_PROPOSAL_TEXT_H
#define WRIT_POLICY_PROPOSAL_TEXT_H

#include "policy/propose/proposal.h"

#define WRIT_PROPOSAL_TEXT_MAX (4 << 20) /* bytes of all rules of a file */

/** Appends the section `tools` with the rules of `n` proposals. `review` is the name in `reviews`
 * of those who approve. Failures stay in the buffer. */
void writ_proposal_text_tools(
    struct writ_buf *ret, const struct writ_proposal *proposals, size_t n, struct writ_view review);

/** Appends constraints as elements of a list in a block, `indent` spaces deep, one a line. */
void writ_proposal_text_constraints(
    struct writ_buf *ret, const struct writ_proposal_constraint *list, unsigned indent);

/** Appends a text as a scalar of YAML that every reader takes for exactly this text: plain where
 * that is safe, else in double quotes with escapes. UTF-8. */
void writ_proposal_text_scalar(struct writ_buf *ret, struct writ_view text);

#endif
