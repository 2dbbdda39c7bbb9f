/* program_files.h - whether the files that a program is made of have the digests that
 * `program_digest` names, right before it is started.
 *
 * The configuration has a digest, or says `accepted`. Then it is the one that an operator accepted,
 * kept like a definition of a tool (store/trusted/definitions.h) under "program:UPSTREAM/FILE",
 * with the text {"digest":"sha256:..."}. No name of an upstream has a colon.
 *
 * A binary is executed through the descriptor that was read, so no other file can take its place.
 * A script and each further file is opened again, by its name: whoever can write to its folder
 * in that moment must be trusted. */
#ifndef WRIT_GATEWAY_PROGRAM_FILES_H
#define WRIT_GATEWAY_PROGRAM_FILES_H

#include "gateway/io/pin.h"
#include "gateway/io/spawn.h"
#include "policy/model/config.h"
#include "store/trusted/definitions.h"

/** What is known of the files of one program. Begin with zeros. Owned by one thread. */
struct writ_program_files {
    struct writ_pin pins[WRIT_PROGRAM_FILES_MAX];
    bool unaccepted; /* the last look refused a file whose digest is not accepted */
};

/** What they are compared with. Borrowed. */
struct writ_program_list {
    const struct writ_program_config *program;
    struct writ_view upstream;
    const struct writ_definitions *accepted; /* NULL: nothing is accepted */
};

/**
 * Compares each file, as the process would find it: with PATH, and from its folder.
 *
 * @param ret_fd  set on success: the open program, for writ_spawn_start; -1: it is not among the
 *                files, or it is a script
 * @param err     names the file, and for another digest also that digest
 *
 * @return WRIT_OK
 *         WRIT_E_BUSY      there is more to read: call it again, in another turn of the loop
 *         WRIT_E_MISMATCH  a file has another digest, none is accepted, or it changed meanwhile
 *         WRIT_E_ABSENT    there is no such file
 *         WRIT_E_INVALID   not a regular file
 *         WRIT_E_IO, WRIT_E_CRYPTO, WRIT_E_NOMEM
 *
 * Blocks on the disk for a few MiB.
 */
WRIT_RESULT writ_program_files_check(struct writ_program_files *files,
    const struct writ_program_list *list, const struct writ_spawn_plan *plan,
    const struct writ_clock *clock, int *ret_fd, struct writ_err *err);

/** Reads the digest of one file. As writ_program_files_check, but it blocks for the whole file.
 *
 * @param name  as in program_digest */
WRIT_RESULT writ_program_files_digest(struct writ_view name, const struct writ_spawn_plan *plan,
    const struct writ_clock *clock, struct writ_digest *ret, struct writ_err *err);

/** The digest of all names and digests, accepted ones included: another one means that a program
 * that runs was started under another list. WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_program_files_list(
    const struct writ_program_list *list, struct writ_digest *ret, struct writ_err *err);

/** Makes the entry of an accepted file, but its time.
 *
 * @param name, text  of the entry, which borrows them
 *
 * WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_program_files_entry(struct writ_view upstream, struct writ_view file,
    const struct writ_digest *digest, struct writ_buf *name, struct writ_buf *text,
    struct writ_definition *ret, struct writ_err *err);

/** Whether a definition of that name is such an entry, and not of a tool. */
bool writ_program_files_is_entry(struct writ_view name);

#endif
