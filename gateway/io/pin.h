/* pin.h - the digest of a file, read in slices so that a loop is never held up for long, and kept
 * as long as the file stays the same.
 *
 * A file is the same while device, inode, size, mtime and ctime are: a program can set every one of
 * them but the ctime, which the kernel sets at each change. A file that changed within the last
 * seconds is read again each time, because its times may not tell the next change. One whose ctime
 * is ahead of the clock, which was set back, is kept when it has been the same for those seconds
 * before it was read. */
#ifndef WRIT_GATEWAY_PIN_H
#define WRIT_GATEWAY_PIN_H

#include "base/clock.h"
#include "evidence/json/digest.h"

#include <sys/stat.h>

/** What is known of one file. Begin with zeros. Owned by one thread; it holds no descriptor. */
struct writ_pin {
    struct stat first; /* the file of the last look */
    int64_t since_us;  /* monotonic: the first look at that file */
    struct stat seen;  /* the file that `found` is of, when `known` */
    struct writ_digest found;
    bool known;
    struct stat reading; /* the file that is being read, when the stream has begun */
    int64_t begun_us;    /* monotonic: when that began */
    struct writ_digest_stream stream;
    off_t offset;
};

/**
 * Gives the digest of an open file, or reads on at the place where the last call stopped.
 *
 * @param path       for errors
 * @param in_budget  bytes that may still be read in this turn; reduced
 * @param ret        written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_BUSY     the budget is used up: call it again, also with another descriptor of the
 *                         file
 *         WRIT_E_INVALID  not a regular file
 *         WRIT_E_MISMATCH it changed while it was read
 *         WRIT_E_IO, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_pin_digest(struct writ_pin *pin, int fd, const char *path,
    const struct writ_clock *clock, size_t *in_budget, struct writ_digest *ret,
    struct writ_err *err);

/** Forgets a reading that is under way and what is known. */
void writ_pin_wipe(struct writ_pin *pin);

#endif
