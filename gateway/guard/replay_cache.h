/* replay_cache.h - which credentials were used: a file of one fixed size, shared by every guard
 * that opens it.
 *
 * A slot is taken before the call goes on, so that of two requests with one credential, wherever
 * they arrive, one is refused. The file is mapped: what was written stays when the process is
 * killed. It never grows; a slot is free again when its credential has expired; without room the
 * answer is "not known", and the call is refused.
 *
 * Beside it lies PATH.seal with a digest of each part. The two files have to agree: a guard does
 * not start with a part that was changed, zeroed, put back or cut, nor without one of the files; a
 * running one answers "not known". A process that can write both files can make a used credential
 * unused.
 *
 * A use that may have been forgotten is refused: a credential from before the file was made (an
 * earlier file may have been removed), from before the machine was started (what had not reached
 * the disk is lost), or that is already over by a slot that was reused (the clock went back). */
#ifndef WRIT_GATEWAY_REPLAY_CACHE_H
#define WRIT_GATEWAY_REPLAY_CACHE_H

#include "base/bytes.h"

#include "writ/verify.h"

#define WRIT_REPLAY_CACHE_SLOTS                                                                    \
    ((size_t)1 << 20)               /* credentials that live at once, at the very most */
#define WRIT_REPLAY_CACHE_BUCKET 64 /* slots in which one of them may lie */

struct writ_replay_cache;

/** Makes an empty file and its seal, mode 0600, that must not exist. Blocks.
 * WRIT_E_INVALID (it exists), WRIT_E_ABSENT (no such folder), WRIT_E_IO. */
WRIT_RESULT writ_replay_cache_make(const char *path, int64_t now_s, struct writ_err *err);

/**
 * Opens a file that was made.
 *
 * @param skew_s  by how much the clock of who issues credentials may be behind
 * @param ret     new, close with writ_replay_cache_close; written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT   one of the two files is not there
 *         WRIT_E_INVALID  not such a file, or others than its owner may write to it
 *         WRIT_E_MISMATCH file and seal do not belong to each other as they are
 *         WRIT_E_IO, WRIT_E_NOMEM
 */
WRIT_RESULT writ_replay_cache_open(const char *path, int64_t now_s, int64_t skew_s,
    struct writ_replay_cache **ret, struct writ_err *err);

/** NULL is fine. */
void writ_replay_cache_close(struct writ_replay_cache *used);

/** One use of a credential that is good otherwise.
 * @param issued_s, until_s  its iat, and its exp with the largest tolerance for clocks */
enum writ_verify_use writ_replay_cache_take(struct writ_replay_cache *used, struct writ_view jti,
    int64_t issued_s, int64_t until_s, int64_t now_s);

#endif
