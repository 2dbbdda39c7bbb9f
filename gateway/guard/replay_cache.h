/* replay_cache.h - the used credentials: a file of one fixed size, shared by every guard that opens
 * it.
 *
 * A slot is taken before the call continues, so that of two requests with one credential, wherever
 * they arrive, one is refused. The file is mapped: written bytes stay when the process is killed.
 * It never grows; a slot is free again when its credential has expired; without room the answer is
 * "unknown", and the call is refused.
 *
 * Beside it lies PATH.seal with a digest of each part. The two files must agree: a guard does not
 * start with a part that was changed, zeroed, restored or cut, nor without one of the files; a
 * running one answers "unknown". A process that can write both files can make a used credential
 * unused.
 *
 * A use that may have been forgotten is refused: a credential from before the file was made (an
 * earlier file may have been removed), from before the machine was started (bytes that had not
 * reached the disk are lost), or one that had expired when a slot was reused (the clock went
 * back). */
#ifndef WRIT_GATEWAY_REPLAY_CACHE_H
#define WRIT_GATEWAY_REPLAY_CACHE_H

#include "base/bytes.h"

#include "writ/verify.h"

#define WRIT_REPLAY_CACHE_SLOTS                                                                    \
    ((size_t)1 << 20)               /* credentials that live at once, at the very most */
#define WRIT_REPLAY_CACHE_BUCKET 64 /* slots of one bucket */

struct writ_replay_cache;

/** Makes an empty file and its seal, mode 0600, that must not exist. Blocks.
 * WRIT_E_INVALID (it exists), WRIT_E_ABSENT (no such folder), WRIT_E_IO. */
WRIT_RESULT writ_replay_cache_make(const char *path, int64_t now_s, struct writ_err *err);

/**
 * Opens an existing file.
 *
 * @param skew_s  how far the issuer's clock may be behind
 * @param ret     new, close with writ_replay_cache_close; written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT   one of the two files is missing
 *         WRIT_E_INVALID  not such a file, or others than its owner may write to it
 *         WRIT_E_MISMATCH  file and seal do not match
 *         WRIT_E_IO, WRIT_E_NOMEM
 */
WRIT_RESULT writ_replay_cache_open(const char *path, int64_t now_s, int64_t skew_s,
    struct writ_replay_cache **ret, struct writ_err *err);

/** NULL is permitted. */
void writ_replay_cache_close(struct writ_replay_cache *used);

/** Takes one use of a credential that is valid otherwise.
 * @param issued_s, until_s  its iat, and its exp with the largest tolerance for clocks */
enum writ_verify_use writ_replay_cache_take(struct writ_replay_cache *used, struct writ_view jti,
    int64_t issued_s, int64_t until_s, int64_t now_s);

#endif
