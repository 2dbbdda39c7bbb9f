/* micro_detect.c - counts in how many values each built-in detector finds something.
 *
 *     micro_detect <FILE
 *
 * The input has one JSON value on each line. Prints the number of values, and a line with the name,
 * the version and the count for each detector that found something. */
#include "policy/detect/detect.h"

#include <stdio.h>
#include <stdlib.h>

#define LINE_MAX_BYTES ((size_t)16 << 20)

static void
look(struct writ_view line, size_t *counts)
{
    writ_auto_arena arena = writ_arena_new(8 * LINE_MAX_BYTES);
    const struct writ_json *value;

    if (arena == NULL ||
        !writ_is_ok(writ_json_read(line, &writ_json_limits_default, arena, &value, NULL))) {
        (void)fprintf(stderr, "micro_detect: a line is not a JSON value\n");
        exit(1);
    }
    for (size_t i = 0; i < WRIT_DETECTOR_COUNT; i++) {
        struct writ_detector_set set = {.own = NULL};
        set.builtin[i] = true;
        switch (writ_detect_any(&set, value, NULL, NULL, NULL)) {
        case WRIT_DETECT_UNKNOWN:
            (void)fprintf(stderr, "micro_detect: a value could not be looked at\n");
            exit(1);
        case WRIT_DETECT_SOME:
            counts[i]++;
            break;
        case WRIT_DETECT_NONE:
            break;
        }
    }
}

int
main(void)
{
    char *line = NULL;
    size_t room = 0, values = 0, counts[WRIT_DETECTOR_COUNT] = {0};

    for (ssize_t n = getline(&line, &room, stdin); n > 0; n = getline(&line, &room, stdin)) {
        look(writ_view(line, (size_t)n), counts);
        values++;
    }
    free(line);
    (void)printf("values %zu\n", values);
    for (size_t i = 0; i < WRIT_DETECTOR_COUNT; i++) {
        if (counts[i] > 0) {
            (void)printf("%s %zu\n", writ_detector_builtin(i)->called.ptr, counts[i]);
        }
    }
    return 0;
}
