/* client_record.h - what Writ wrote into a client's file: the text of NAME.writ-undo. */
#ifndef WRIT_CLI_CLIENT_RECORD_H
#define WRIT_CLI_CLIENT_RECORD_H

#include "evidence/json/digest.h"
#include "gateway/discover/client_text.h"
#include "policy/model/config.h"

#include <sys/stat.h>

#define WRIT_CLIENT_RECORD_MAX     ((size_t)1 << 20)
#define WRIT_CLIENT_RECORD_ENTRIES 512
#define WRIT_CLIENT_RECORD_TRIES   2 /* a write that was cut short, and the one after it */

/** Digests of what may be there: one, or two when a write may have been cut short. */
struct writ_client_digests {
    struct writ_digest items[WRIT_CLIENT_RECORD_TRIES];
    size_t n;
};

/** One entry of the client's file. */
struct writ_client_written {
    struct writ_view name;
    struct writ_client_digests ways; /* client_entry.h */
};

/** All views are in an arena. */
struct writ_client_record {
    bool before;                      /* the file was there */
    mode_t mode;                      /* then */
    struct writ_view backup;          /* name of the file with its bytes; NUL-terminated */
    struct writ_client_path list;     /* the object of the entries */
    struct writ_client_digests files; /* of the whole text; none: others changed it, too */
    struct writ_client_written *entries;
    size_t n;
};

bool writ_client_record_has(
    const struct writ_client_digests *digests, const struct writ_digest *digest);

/** Appends a digest. When the list is full, removes the first one. */
void writ_client_record_add(struct writ_client_digests *digests, const struct writ_digest *digest);

/** Appends its text. */
WRIT_RESULT writ_client_record_put(
    const struct writ_client_record *record, struct writ_buf *ret, struct writ_err *err);

/** Reads what writ_client_record_put wrote. WRIT_E_PARSE for anything else; WRIT_E_NOMEM. */
WRIT_RESULT writ_client_record_read(struct writ_view text, struct writ_arena *arena,
    struct writ_client_record **ret, struct writ_err *err);

#endif
