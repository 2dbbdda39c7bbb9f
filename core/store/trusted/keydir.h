/* keydir.h - a keyring in a directory.
 *
 *     keys.json      every key's record and public half (evidence/jose/keyring.h)
 *     <kid>.pem      the private half of an active key, PKCS#8, mode 0600
 *     <kid>.jwk      a key of contents, active or verifying, as a JWK, mode 0600
 *
 * Trusted files must be out of reach of other users: the directory and its files belong to the user
 * of the process or to root; the directory and keys.json are not writable by group or others; a
 * private key is not even readable by them; nothing is a symbolic link. Every load refuses anything
 * else and names it. Changes are whole or not at all: new private keys first, then keys.json
 * (written beside, synced, renamed, directory synced), then the private keys that are no longer
 * needed are removed. The next change removes the half-written private keys (<kid>.pem.new) of one
 * that was cut short. One process changes it at a time: the directory is locked (flock) while open
 * for change.
 *
 * All functions block on the disk. A struct writ_keydir belongs to one thread. */
#ifndef WRIT_STORE_KEYDIR_H
#define WRIT_STORE_KEYDIR_H

#include "evidence/jose/keyring.h"

/**
 * Reads a directory: keys.json and the private halves that are kept.
 *
 * @param ret  new, free with writ_keyring_free; written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT    no directory, no keys.json in it, or no private half of a key that keeps
 *                          it (writ_keyring_keeps_secret)
 *         WRIT_E_INVALID   modes, owners, symbolic links; and what writ_keyring_read refuses
 *         WRIT_E_MISMATCH  a private key does not match its file name
 *         WRIT_E_PARSE, WRIT_E_LIMIT, WRIT_E_IO, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_keydir_load(const char *path, struct writ_keyring **ret, struct writ_err *err);

/** As writ_keydir_load without the private halves: nothing secret is opened. */
WRIT_RESULT writ_keydir_list(const char *path, struct writ_keyring **ret, struct writ_err *err);

struct writ_keydir;

/** Opens a directory for change and locks it. With `create`, makes a missing directory (mode 0700;
 * its parent must exist), and a missing keys.json is an empty ring. WRIT_E_BUSY when another
 * process has it open; else as writ_keydir_load. */
WRIT_RESULT writ_keydir_open(
    const char *path, bool create, struct writ_keydir **ret, struct writ_err *err);

/** As writ_keydir_open without `create`, also when the private half of the key `kid` is missing, so
 * that it can be revoked. Save only after that. */
WRIT_RESULT writ_keydir_open_lost(
    const char *path, struct writ_view kid, struct writ_keydir **ret, struct writ_err *err);

/** The ring to change. Borrowed until close. */
struct writ_keyring *writ_keydir_ring(struct writ_keydir *dir);

/** Makes the present state of the ring durable. On failure the directory has the old state, or the
 * new one, possibly with a private key too many. WRIT_E_IO, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_keydir_save(struct writ_keydir *dir, struct writ_err *err);

/** Unlocks. Unsaved changes are lost. NULL is permitted. */
void writ_keydir_close(struct writ_keydir *dir);

#endif
