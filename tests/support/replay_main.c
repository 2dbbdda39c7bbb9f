/* The main of a fuzz target outside the fuzz preset: runs it on every file of the folders given.
 * An empty folder is a failure: a corpus that went missing must not look like a pass. */
#include "support/fuzz.h"

#include "base/bytes.h"
#include "base/text.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#define INPUT_MAX (16U << 20)

static bool
replay_file(const char *folder, const char *name)
{
    writ_auto_buf path = writ_buf_make(4096);
    writ_auto_buf input = writ_buf_make(INPUT_MAX);
    struct writ_err err = {0};
    uint8_t *exact;

    writ_buf_fmt(&path, "%s/%s", folder, name);
    writ_buf_byte(&path, '\0');
    if (!writ_is_ok(writ_buf_check(&path, &err)) ||
        !writ_is_ok(writ_text_file(path.ptr, INPUT_MAX, &input, &err))) {
        (void)fprintf(stderr, "replay: %s\n", err.text);
        return false;
    }
    /* an allocation of exactly this size, so that a sanitizer sees a read past its end */
    exact = malloc(input.len > 0 ? input.len : 1);
    if (exact == NULL) {
        return false;
    }
    for (size_t i = 0; i < input.len; i++) {
        exact[i] = (uint8_t)input.ptr[i];
    }
    (void)LLVMFuzzerTestOneInput(exact, input.len);
    free(exact);
    return true;
}

static bool
replay_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    unsigned count = 0;
    bool good = true;

    if (dir == NULL) {
        (void)fprintf(stderr, "replay: %s: cannot open\n", folder);
        return false;
    }
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        if (entry->d_name[0] != '.') {
            good = replay_file(folder, entry->d_name) && good;
            count++;
        }
    }
    (void)closedir(dir);
    (void)printf("replay: %s: %u inputs\n", folder, count);
    return good && count > 0;
}

int
main(int argc, char **argv)
{
    bool good = argc > 1;

    for (int i = 1; i < argc; i++) {
        good = replay_folder(argv[i]) && good;
    }
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
