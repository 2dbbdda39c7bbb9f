/* review_sources.h - where the values of a call under review came from, with the text around them,
 * and the labels of its run: GET /v1/reviews/ID/sources, for its voters.
 *
 * Texts are kept contents (docs/contents.md): only a voter who may read those gets them, and each
 * call whose text is shown is recorded as a look before the answer. */
#ifndef WRIT_GATEWAY_REVIEW_SOURCES_H
#define WRIT_GATEWAY_REVIEW_SOURCES_H

#include "gateway/admin/api_request.h"

/** Writes {"sources": [...], "labels": [...]} into the body of the request, whose `entry` has the
 * review. On the thread of the lookups; blocks. As writ_source_texts_find and writ_ledger_record.
 */
WRIT_RESULT writ_review_sources_put(
    struct writ_api_request *request, struct writ_reader *reader, struct writ_err *err);

#endif
