/* program_files.c - every look opens and stats each file again; only what has changed since the
 * last look is read, a slice in each turn. So the turn that allows a start has seen all files as
 * they are in that turn. */
#include "gateway/io/program_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define SLICE_BYTES    ((size_t)4 << 20) /* some milliseconds */
#define PATH_BYTES_MAX 4096
#define LIST_BYTES_MAX ((size_t)1 << 20)
#define NAME_BYTES_MAX ((size_t)1 << 16) /* as store/trusted/definitions.h reads it */
#define TEXT_BYTES_MAX 128
#define PREFIX         "program:"

/* Where the process would look for its files. */
struct place {
    const struct writ_spawn_plan *plan;
    int folder;              /* AT_FDCWD: ours */
    struct writ_buf program; /* what exec gets; empty: nothing was found */
};

static void
place_wipe(struct place *place)
{
    if (place->folder >= 0) {
        (void)close(place->folder);
    }
    writ_buf_wipe(&place->program);
}

static void
fd_close(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
    }
}

static WRIT_RESULT
fail_open(const char *path, struct writ_err *err)
{
    WRIT_FAIL(err, errno == ENOENT || errno == ENOTDIR ? WRIT_E_ABSENT : WRIT_E_IO,
        "%s cannot be opened: %s", path, strerrordesc_np(errno));
}

static WRIT_RESULT
place_open(const struct writ_spawn_plan *plan, struct place *ret, struct writ_err *err)
{
    const char *directory = writ_spawn_directory(plan);

    *ret = (struct place){plan, AT_FDCWD, writ_buf_make(PATH_BYTES_MAX)};
    if (directory != NULL) {
        ret->folder = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (ret->folder < 0) {
            return fail_open(directory, err);
        }
    }
    if (!writ_spawn_program(plan, &ret->program)) {
        writ_buf_clear(&ret->program);
    }
    return writ_buf_check(&ret->program, err);
}

/* The path of a file in program_digest; NULL: the program is nowhere in PATH. */
static const char *
path_of(const struct place *place, struct writ_view name)
{
    if (!writ_view_is(name, writ_spawn_name(place->plan))) {
        return name.ptr;
    }
    return place->program.len > 0 ? place->program.ptr : NULL;
}

static WRIT_RESULT
open_file(const struct place *place, struct writ_view name, const char **ret_path, int *ret_fd,
    struct writ_err *err)
{
    const char *path = path_of(place, name);
    int fd;

    if (path == NULL) {
        WRIT_FAIL(err, WRIT_E_ABSENT, "%s is nowhere in PATH", name.ptr);
    }
    /* O_NONBLOCK: a FIFO must not stop the loop */
    fd = openat(place->folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return fail_open(path, err);
    }
    *ret_path = path;
    *ret_fd = fd;
    return WRIT_DONE;
}

/* Whether that file is what exec would be given, and exec needs no name of it. */
static bool
is_binary(const struct place *place, int fd)
{
    static const char elf[] = {0x7f, 'E', 'L', 'F'};
    char begin[sizeof elf];
    struct stat program, file;

    return place->program.len > 0 && fstatat(place->folder, place->program.ptr, &program, 0) == 0 &&
           fstat(fd, &file) == 0 && program.st_dev == file.st_dev &&
           program.st_ino == file.st_ino &&
           pread(fd, begin, sizeof begin, 0) == (ssize_t)sizeof begin &&
           writ_view_equal(writ_view(begin, sizeof begin), writ_view(elf, sizeof elf));
}

static void
put_entry_name(struct writ_buf *ret, struct writ_view upstream, struct writ_view file)
{
    writ_buf_str(ret, PREFIX);
    writ_buf_put(ret, upstream);
    writ_buf_byte(ret, '/');
    writ_buf_put(ret, file);
}

/* The entry of an accepted file; NULL: nothing is accepted. */
static WRIT_RESULT
find_entry(const struct writ_program_list *list, const struct writ_program_file *file,
    const struct writ_definition **ret, struct writ_err *err)
{
    writ_auto_buf name = writ_buf_make(NAME_BYTES_MAX);

    put_entry_name(&name, list->upstream, file->name);
    WRIT_TRY(writ_buf_check(&name, err));
    *ret = writ_definitions_find(list->accepted, writ_buf_view(&name));
    return WRIT_DONE;
}

static WRIT_RESULT
check_accepted(const struct writ_program_list *list, const struct writ_program_file *file,
    const struct writ_digest *found, const char *path, struct writ_err *err)
{
    writ_auto_buf name = writ_buf_make(NAME_BYTES_MAX), text = writ_buf_make(TEXT_BYTES_MAX);
    const struct writ_definition *accepted;
    struct writ_definition now;
    char digest[WRIT_DIGEST_TEXT];

    WRIT_TRY(find_entry(list, file, &accepted, err));
    WRIT_TRY(writ_program_files_entry(list->upstream, file->name, found, &name, &text, &now, err));
    if (accepted == NULL || !writ_digest_equal(&accepted->digest, &now.digest)) {
        writ_digest_text(found, digest);
        WRIT_FAIL(err, WRIT_E_MISMATCH, "%s %s: %s", path,
            accepted == NULL ? "is not accepted" : "has another digest than the accepted one",
            digest);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
check_digest(const struct writ_program_file *file, const struct writ_digest *found,
    const char *path, struct writ_err *err)
{
    char text[WRIT_DIGEST_TEXT];

    if (!writ_digest_equal(found, &file->digest)) {
        writ_digest_text(found, text);
        WRIT_FAIL(err, WRIT_E_MISMATCH, "%s has another digest: %s", path, text);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
check_one(struct writ_program_files *files, const struct writ_program_list *list, size_t i,
    const struct place *place, const struct writ_clock *clock, size_t *in_budget, int *in_program,
    struct writ_err *err)
{
    const struct writ_program_file *file = &list->program->files[i];
    WRIT_AUTO(int, fd_close) fd = -1;
    struct writ_digest found;
    const char *path;

    WRIT_TRY(open_file(place, file->name, &path, &fd, err));
    WRIT_TRY(writ_pin_digest(&files->pins[i], fd, path, clock, in_budget, &found, err));
    if (file->accepted) {
        files->unaccepted = true;
        WRIT_TRY(check_accepted(list, file, &found, path, err));
        files->unaccepted = false;
    } else {
        WRIT_TRY(check_digest(file, &found, path, err));
    }
    if (*in_program < 0 && is_binary(place, fd)) {
        *in_program = fd;
        fd = -1;
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_program_files_check(struct writ_program_files *files, const struct writ_program_list *list,
    const struct writ_spawn_plan *plan, const struct writ_clock *clock, int *ret_fd,
    struct writ_err *err)
{
    WRIT_AUTO(struct place, place_wipe) place = {.folder = AT_FDCWD};
    WRIT_AUTO(int, fd_close) fd = -1;
    size_t budget = SLICE_BYTES;

    files->unaccepted = false;
    WRIT_TRY(place_open(plan, &place, err));
    for (size_t i = 0; i < list->program->n; i++) {
        WRIT_TRY(check_one(files, list, i, &place, clock, &budget, &fd, err));
    }
    *ret_fd = fd;
    fd = -1;
    return WRIT_DONE;
}

WRIT_RESULT
writ_program_files_digest(struct writ_view name, const struct writ_spawn_plan *plan,
    const struct writ_clock *clock, struct writ_digest *ret, struct writ_err *err)
{
    WRIT_AUTO(struct place, place_wipe) place = {.folder = AT_FDCWD};
    WRIT_AUTO(int, fd_close) fd = -1;
    struct writ_pin pin = {.known = false};
    size_t budget = SIZE_MAX;
    const char *path;

    WRIT_TRY(place_open(plan, &place, err));
    WRIT_TRY(open_file(&place, name, &path, &fd, err));
    return writ_pin_digest(&pin, fd, path, clock, &budget, ret, err);
}

WRIT_RESULT
writ_program_files_list(
    const struct writ_program_list *list, struct writ_digest *ret, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(LIST_BYTES_MAX);

    for (size_t i = 0; i < list->program->n; i++) {
        const struct writ_program_file *file = &list->program->files[i];
        const struct writ_definition *accepted = NULL;

        if (file->accepted) {
            WRIT_TRY(find_entry(list, file, &accepted, err));
        }
        writ_buf_put(&text, file->name);
        writ_buf_byte(&text, '\0');
        writ_digest_put(&text, accepted != NULL ? &accepted->digest : &file->digest);
    }
    WRIT_TRY(writ_buf_check(&text, err));
    return writ_digest_bytes(writ_buf_view(&text), ret, err);
}

WRIT_RESULT
writ_program_files_entry(struct writ_view upstream, struct writ_view file,
    const struct writ_digest *digest, struct writ_buf *name, struct writ_buf *text,
    struct writ_definition *ret, struct writ_err *err)
{
    struct writ_definition made = {.at = WRIT_LIT("")};

    put_entry_name(name, upstream, file);
    writ_buf_str(text, "{\"digest\":\"");
    writ_digest_put(text, digest);
    writ_buf_str(text, "\"}");
    WRIT_TRY(writ_buf_check(name, err));
    WRIT_TRY(writ_buf_check(text, err));
    made.name = writ_buf_view(name);
    made.text = writ_buf_view(text);
    WRIT_TRY(writ_digest_bytes(made.text, &made.digest, err));
    *ret = made;
    return WRIT_DONE;
}

bool
writ_program_files_is_entry(struct writ_view name)
{
    return writ_view_has_prefix(name, WRIT_LIT(PREFIX));
}
