/* A folder in /dev/shm, made at its first use and removed when the process exits. */
#include "support/shelter.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/dev/shm/writ-fuzz-XXXXXX";
static bool made;

static void
leave(void)
{
    shelter_clear();
    (void)rmdir(folder);
}

const char *
shelter_path(void)
{
    if (!made) {
        WRIT_INVARIANT(mkdtemp(folder) != NULL && atexit(leave) == 0);
        made = true;
    }
    return folder;
}

const char *
shelter_name(const char *name, char *ret, size_t size)
{
    int n = snprintf(ret, size, "%s/%s", shelter_path(), name);

    WRIT_INVARIANT(n > 0 && (size_t)n < size);
    return ret;
}

void
shelter_put(const char *name, struct writ_view bytes)
{
    char path[512];
    int fd = open(
        shelter_name(name, path, sizeof path), O_WRONLY | O_CREAT | O_TRUNC, S_IRUSR | S_IWUSR);

    WRIT_INVARIANT(fd >= 0 && write(fd, bytes.ptr, bytes.len) == (ssize_t)bytes.len);
    (void)close(fd);
}

void
shelter_clear(void)
{
    DIR *dir = opendir(shelter_path());

    WRIT_INVARIANT(dir != NULL);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        (void)unlinkat(dirfd(dir), entry->d_name, 0); /* "." and ".." stay */
    }
    (void)closedir(dir);
}
