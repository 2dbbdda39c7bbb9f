/* review_sources.h - where the values of a call under review came from, and the labels of its run,
 * for `writ review show`: of a gateway with the text around them, for voters who may read it; of a
 * ledger without. */
#ifndef WRIT_CLI_REVIEW_SOURCES_H
#define WRIT_CLI_REVIEW_SOURCES_H

#include "cli/commands/admin_client.h"
#include "store/read/reader.h"

/** Reads them, as the answer of GET /v1/reviews/ID/sources, in the arena; NULL: there are none,
 * the caller is not one of the voters, or sees no such review. As writ_admin_client_ask. */
WRIT_RESULT writ_review_sources_ask(struct writ_admin_client *client, struct writ_view id,
    struct writ_arena *arena, const struct writ_json **ret, struct writ_err *err);

/** The same from a ledger. As writ_source_texts_find. */
WRIT_RESULT writ_review_sources_read(struct writ_reader *reader, struct writ_view id,
    struct writ_arena *arena, const struct writ_json **ret, struct writ_err *err);

/** Appends them for people, a line for each label and value, and one for each place of a text. */
void writ_review_sources_text(const struct writ_json *answer, struct writ_buf *ret);

#endif
