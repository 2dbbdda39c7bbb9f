/* Parses the Prometheus text format line by line, and refuses every line that the format does not
 * permit. */
#include "support/gateway/exposition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 200
#define FAMILIES_MAX   256
#define SAMPLES_MAX    4096

struct reader {
    char families[FAMILIES_MAX][NAME_MAX_BYTES];
    size_t family_count;
    char help[NAME_MAX_BYTES];   /* of the family whose HELP came last */
    char family[NAME_MAX_BYTES]; /* whose TYPE came last */
    char type[16];
    struct writ_view samples[SAMPLES_MAX];
    size_t sample_count;
    double last_bucket, inf_bucket; /* of the histogram that is being read; -1: none */
    double last_bound;
};

static bool
is_name(const char *text, bool colon)
{
    if (*text == '\0' || (*text >= '0' && *text <= '9')) {
        return false;
    }
    for (; *text != '\0'; text++) {
        bool letter = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z');
        if (!letter && !(*text >= '0' && *text <= '9') && *text != '_' &&
            !(colon && *text == ':')) {
            return false;
        }
    }
    return true;
}

static bool
read_comment(struct reader *r, const char *line)
{
    char name[NAME_MAX_BYTES], type[16], rest[4];

    if (sscanf(line, "# HELP %199s %3s", name, rest) == 2) {
        for (size_t i = 0; i < r->family_count; i++) {
            if (strcmp(r->families[i], name) == 0) {
                return false;
            }
        }
        if (r->family_count == FAMILIES_MAX || !is_name(name, true)) {
            return false;
        }
        strcpy(r->families[r->family_count++], name);
        strcpy(r->help, name);
        return true;
    }
    if (sscanf(line, "# TYPE %199s %15s%3s", name, type, rest) == 2 && strcmp(name, r->help) == 0) {
        strcpy(r->family, name);
        strcpy(r->type, type);
        r->last_bucket = r->inf_bucket = -1;
        r->last_bound = -1;
        if (strcmp(type, "counter") == 0) {
            return strlen(name) > 6 && strcmp(name + strlen(name) - 6, "_total") == 0;
        }
        return strcmp(type, "gauge") == 0 || strcmp(type, "histogram") == 0;
    }
    return false;
}

/* "{name="value",...}" with the escapes \\ \" \n; moves `at` behind it. */
static bool
read_labels(char **at, char *le)
{
    char *p = *at + 1;

    *le = '\0';
    while (*p != '}') {
        char name[NAME_MAX_BYTES] = {0}, value[NAME_MAX_BYTES] = {0};
        size_t n = 0;

        while (*p != '=' && *p != '\0' && n < sizeof name - 1) {
            name[n++] = *p++;
        }
        if (!is_name(name, false) || p[0] != '=' || p[1] != '"') {
            return false;
        }
        n = 0;
        for (p += 2; *p != '"'; p++) {
            if (*p == '\\') {
                p++;
                if (*p != '\\' && *p != '"' && *p != 'n') {
                    return false;
                }
            }
            if (*p == '\0' || n == sizeof value - 1) {
                return false;
            }
            value[n++] = *p;
        }
        if (strcmp(name, "le") == 0) {
            strcpy(le, value);
        }
        p++;
        if (*p == ',') {
            p++;
        } else if (*p != '}') {
            return false;
        }
    }
    *at = p + 1;
    return true;
}

static bool
check_histogram(struct reader *r, const char *suffix, const char *le, double value)
{
    if (strcmp(suffix, "_bucket") == 0) {
        double bound = strcmp(le, "+Inf") == 0 ? INFINITY : strtod(le, NULL);
        if (bound <= r->last_bound || value < r->last_bucket) {
            return false;
        }
        r->last_bound = bound;
        r->last_bucket = value;
        r->inf_bucket = isinf(bound) ? value : -1;
        return true;
    }
    if (strcmp(suffix, "_sum") == 0) {
        return r->inf_bucket >= 0;
    }
    return strcmp(suffix, "_count") == 0 && value == r->inf_bucket;
}

static bool
read_sample(struct reader *r, char *line, struct writ_view whole)
{
    char name[NAME_MAX_BYTES] = {0}, le[NAME_MAX_BYTES] = {0};
    char *at = line, *end;
    size_t n = 0, family = strlen(r->family);
    double value;
    struct writ_view key;

    while (*at != '{' && *at != ' ' && *at != '\0' && n < sizeof name - 1) {
        name[n++] = *at++;
    }
    if (!is_name(name, true) || strncmp(name, r->family, family) != 0) {
        return false;
    }
    if (*at == '{' && !read_labels(&at, le)) {
        return false;
    }
    key = writ_view_sub(whole, 0, (size_t)(at - line));
    for (size_t i = 0; i < r->sample_count; i++) {
        if (writ_view_equal(r->samples[i], key)) {
            return false;
        }
    }
    if (r->sample_count == SAMPLES_MAX || *at != ' ') {
        return false;
    }
    r->samples[r->sample_count++] = key;
    value = strtod(at + 1, &end);
    if (end == at + 1 || *end != '\0' || (value < 0 && strcmp(r->type, "gauge") != 0)) {
        return false;
    }
    if (strcmp(r->type, "histogram") == 0) {
        return check_histogram(r, name + family, le, value);
    }
    return name[family] == '\0';
}

bool
exposition_is_valid(struct writ_view text, size_t *ret_line)
{
    struct reader *r = calloc(1, sizeof *r);
    bool good = r != NULL && text.len > 0 && text.ptr[text.len - 1] == '\n';
    size_t number = 0;

    while (good && text.len > 0) {
        size_t end = writ_view_find(text, '\n');
        struct writ_view whole = writ_view_sub(text, 0, end);
        char *line = calloc(1, whole.len + 1);

        number++;
        if (line != NULL) {
            (void)writ_view_place(whole, line);
        }
        good = line != NULL && strlen(line) == whole.len &&
               (line[0] == '#' ? read_comment(r, line) : read_sample(r, line, whole));
        free(line);
        text = writ_view_sub(text, end + 1, text.len);
    }
    if (!good && ret_line != NULL) {
        *ret_line = number;
    }
    free(r);
    return good;
}

double
exposition_value(struct writ_view text, const char *sample)
{
    size_t len = strlen(sample);

    while (text.len > 0) {
        size_t end = writ_view_find(text, '\n');
        if (end > len && text.ptr[len] == ' ' &&
            writ_view_is(writ_view_sub(text, 0, len), sample)) {
            return strtod(text.ptr + len + 1, NULL);
        }
        text = writ_view_sub(text, end + 1, text.len);
    }
    return -1;
}
