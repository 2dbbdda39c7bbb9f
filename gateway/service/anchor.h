/* anchor.h - keeps the last checkpoint of a ledger where the ledger is not: in a file, or at a URL.
 * Its keeper can detect that the ledger was cut off or rewritten.
 *
 * A file is complete or absent, world-readable, and never goes back: it is not replaced when its
 * content is not a checkpoint of this ledger, or one that the ledger does not contain. Its folder
 * is trusted as trusted.h says. To a URL the checkpoint is posted unchanged; its signature names
 * the sender. The receiver has to check that it does not go back. */
#ifndef WRIT_GATEWAY_ANCHOR_H
#define WRIT_GATEWAY_ANCHOR_H

#include "store/read/proofs.h"

#include <stdatomic.h>

#define WRIT_ANCHOR_TIMEOUT_MS 10000 /* for an answer from a URL */

/** Where to. NUL-terminated; borrowed for the call. */
struct writ_anchor {
    const char *to; /* an https URL (http on loopback), else a file */
    const char *ca; /* of a URL: PEM; NULL: the system's authorities */
    bool own;       /* a file of ours alone: no other process writes in its folder at that name, and
                       what is no checkpoint of the ledger is replaced */
    bool *ret_alarm; /* set to true when the file has a checkpoint that is believed, and the ledger
                        is not what that is over (ROLLBACK, FORK); NULL: not asked for */
};

/** Whether it is sent to a URL. */
bool writ_anchor_is_url(struct writ_view to);

/**
 * Sends the last checkpoint. When it is in the file already, under a signature that is believed,
 * the file stays as it is.
 *
 * @param stop           given up soon after it becomes true; may be NULL
 * @param ret, ret_note  what it says, and its bytes; borrowed until the next call about `proofs`
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT    the ledger has no records; or the file has no folder
 *         WRIT_E_MISMATCH  what is in the file is not followed by what the ledger has; or as
 *                          writ_proofs_head
 *         WRIT_E_INVALID   no URL that may be asked; a file or folder that others can write
 *         WRIT_E_LIMIT     the path, or what is in the file, is too long
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
