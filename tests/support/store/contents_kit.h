/* contents_kit.h - calls of a kit (kit.h) whose arguments and results are kept. */
#ifndef WRIT_TESTS_CONTENTS_KIT_H
#define WRIT_TESTS_CONTENTS_KIT_H

#include "support/store/kit.h"

#include "store/read/contents.h"

#define WRIT_CONTENTS_KIT_KEPT_US (3600 * WRIT_KIT_S)

/** Gives the ring of the kit a new key of contents. Before the ledger is opened, or after. */
void writ_contents_kit_key(struct writ_kit *kit);

/** Makes a call with `spec.argument` kept as its arguments, for so long (0: an hour). Not decided
 * yet. */
struct writ_kit_call *writ_contents_kit_call(
    struct writ_kit *kit, struct writ_kit_spec spec, int64_t for_us);

/** Prepares the outcome `executed` with this result, kept. Submit call->entry. */
void writ_contents_kit_outcome(
    struct writ_kit *kit, struct writ_kit_call *call, const char *result, int64_t for_us);

/** Decides and executes a call; both contents are kept. Gives its decision_id, in `id` of 32 bytes
 * (may be NULL). */
void writ_contents_kit_run(
    struct writ_kit *kit, struct writ_kit_spec spec, const char *result, int64_t for_us, char *id);

/** Wrapped keys, to search files for them. */
struct writ_contents_kit_keys {
    uint8_t (*keys)[WRIT_WRAPPED_BYTES]; /* sorted */
    size_t n;
};

/** The keys of `content_key` for which the condition on its leaf holds, such as
 * "leaf IN (SELECT leaf FROM record WHERE ...)". Free with writ_contents_kit_keys_free. */
struct writ_contents_kit_keys writ_contents_kit_keys(struct writ_kit *kit, const char *condition);
void writ_contents_kit_keys_free(struct writ_contents_kit_keys *keys);

/** How often one of the keys is in a file of the ledger's folder. */
size_t writ_contents_kit_remaining(struct writ_kit *kit, const struct writ_contents_kit_keys *keys);
/** How often these bytes are. */
size_t writ_contents_kit_count(struct writ_kit *kit, struct writ_view bytes);

/** Erases by the members of `erase` (`by` is set here), and waits. */
enum writ_code writ_contents_kit_erase(struct writ_kit *kit, struct writ_entry_erase *erase);

/** Lets the writer turn until nothing that was destroyed is in the write-ahead log. */
void writ_contents_kit_settle(struct writ_kit *kit);

/** Opens the contents of the kit's ledger, with its ring. Close with writ_contents_close. */
struct writ_contents *writ_contents_kit_open(struct writ_kit *kit);

#endif
