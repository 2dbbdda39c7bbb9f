/* source_texts.h - the tools and the texts that the values of a call came from, and the calls that
 * brought the labels of its run: for reviews, for explanations, and for commands.
 *
 * A source is a call of the same run and tenant as the call that is asked about; of any other one
 * nothing is read. Its kept text is opened only with `contents`, for a reader who may. The caller
 * records these looks (writ_source_texts_record, or its own way) before it shows a text.
 *
 * Each call is read once, and each of its contents searched once for all values that came from it.
 * What is wrong with one of them is the state of its texts; the others are searched nevertheless.
 *
 * As the readers: one thread, everything blocks on the disk. */
#ifndef WRIT_GATEWAY_SOURCE_TEXTS_H
#define WRIT_GATEWAY_SOURCE_TEXTS_H

#include "policy/why/why_flow.h"
#include "store/ledger/ledger.h"
#include "store/read/contents.h"
#include "store/read/reader.h"

#define WRIT_SOURCE_TEXTS_MAX   16 /* values whose texts are looked up; calls that are opened */
#define WRIT_SOURCE_TEXTS_BYTES ((size_t)8 << 20) /* of contents; after that none is opened */

/** What is asked. All borrowed. */
struct writ_source_texts {
    struct writ_reader *reader;
    struct writ_contents *contents;       /* NULL: no text is opened, and `unread` says why */
    enum writ_why_text_state unread;      /* UNASKED, NOT_READER */
    const struct writ_mark_key *key;      /* NULL: there is none */
    struct writ_view tenant, boundary_id; /* of the call */
    uint64_t leaf;                        /* of its decision */
    const struct writ_json *arguments;    /* of the call; NULL: unknown */
    struct writ_view opened[WRIT_SOURCE_TEXTS_MAX]; /* decisions whose contents may be shown */
    size_t opened_n;
    size_t bytes; /* of contents that were searched */
};

/** Sets `tool` and `text` of the values and what is known of the labels, in the arena. What cannot
 * be had of a source is a state of its texts. WRIT_E_NOMEM. */
WRIT_RESULT writ_source_texts_find(struct writ_source_texts *texts, struct writ_why_flow *flow,
    struct writ_arena *arena, struct writ_err *err);

/** Records a look at each opened call; on disk with WRIT_OK. As writ_ledger_record. Blocks. */
WRIT_RESULT writ_source_texts_record(const struct writ_source_texts *texts,
    struct writ_ledger *ledger, struct writ_view by, const char *purpose, struct writ_err *err);

#endif
