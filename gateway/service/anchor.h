/* anchor.h - keeps the last checkpoint of a ledger outside of the ledger: in a file, or at a URL.
 * Its keeper can detect that the ledger was cut off or rewritten.
 *
 * A file is complete or absent, world-readable, and never goes back: it is not replaced when its
 * content is not a checkpoint of this ledger, or one that the ledger does not contain. Its folder
 * is trusted as trusted.h says. To a URL the checkpoint is posted unchanged; its signature names
 * the sender. The receiver must check that it does not go back. */
#ifndef WRIT_GATEWAY_ANCHOR_H
#define WRIT_GATEWAY_ANCHOR_H

#include "store/read/proofs.h"

#include <stdatomic.h>

#define WRIT_ANCHOR_TIMEOUT_MS 10000 /* for an answer from a URL */

/** Where to. NUL-terminated; borrowed for the call. */
struct writ_anchor {
    const char *to;  /* an https URL (http on loopback), else a file */
    const char *ca;  /* of a URL: PEM; NULL: the system's authorities */
    bool own;        /* a file of the gateway alone: no other process writes it, and content that is
                        not a checkpoint of the ledger is replaced */
    bool *ret_alarm; /* set to true when the file has a trusted checkpoint that the ledger
                        contradicts (ROLLBACK, FORK); NULL: not needed */
};

/** Whether the anchor is a URL. */
bool writ_anchor_is_url(struct writ_view to);

/**
 * Sends the last checkpoint. When the file has it already, with a trusted signature, the file stays
 * unchanged.
 *
 * @param stop           cancels soon after it becomes true; may be NULL
 * @param ret, ret_note its content, and its bytes; borrowed until the next call with `proofs`
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT    the ledger has no records; or the file has no folder
 *         WRIT_E_MISMATCH  the ledger does not extend the checkpoint in the file; or as
 *                          writ_proofs_head
 *         WRIT_E_INVALID   a URL that is not allowed; a file or folder that others can write
 *         WRIT_E_LIMIT     the path, or the content of the file, is too long
 *         WRIT_E_BUSY      another process writes in the folder
 *         WRIT_E_IO        no answer, or another than 2xx; the disk
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 *
 * Blocks.
 */
WRIT_RESULT writ_anchor_send(const struct writ_anchor *anchor, struct writ_proofs *proofs,
    const atomic_bool *stop, struct writ_checkpoint *ret, struct writ_view *ret_note,
    struct writ_err *err);

#endif
