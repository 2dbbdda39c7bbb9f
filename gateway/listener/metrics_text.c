/* Line by line. A label's value ends at the next quote that is not escaped, and the labels at the
 * next brace outside of a value: a name may have a brace. */
#include "gateway/listener/metrics_text.h"

#include "base/number.h"

/* Where the value that begins at `at` has its quote. */
static size_t
end_of_value(struct writ_view text, size_t at)
{
    while (at < text.len && text.ptr[at] != '"') {
        at += text.ptr[at] == '\\' ? 2 : 1;
    }
    return at < text.len ? at : text.len;
}

/* The brace that ends the labels, which begin behind `at`; the length when there is none. */
static size_t
end_of_labels(struct writ_view line, size_t at)
{
    while (at < line.len && line.ptr[at] != '}') {
        at = line.ptr[at] == '"' ? end_of_value(line, at + 1) + 1 : at + 1;
    }
    return at < line.len ? at : line.len;
}

static bool
read_line(struct writ_view line, struct writ_metrics_text_sample *ret)
{
    size_t brace = writ_view_find(line, '{'), space = writ_view_find(line, ' ');
    struct writ_metrics_text_sample sample = {.name = writ_view_sub(line, 0, space)};

    if (line.len == 0 || line.ptr[0] == '#') {
        return false;
    }
    if (brace < space) {
        size_t end = end_of_labels(line, brace + 1);

        if (!writ_view_has_prefix(writ_view_sub(line, end, line.len), WRIT_LIT("} "))) {
            return false;
        }
        sample.name = writ_view_sub(line, 0, brace);
        sample.labels = writ_view_sub(line, brace + 1, end - brace - 1);
        space = end + 1;
    }
    if (space >= line.len ||
        !writ_is_ok(writ_number_read(writ_view_sub(line, space + 1, line.len), &sample.value))) {
        return false;
    }
    *ret = sample;
    return true;
}

bool
writ_metrics_text_next(struct writ_view *rest, struct writ_metrics_text_sample *ret)
{
    bool found = false;

    while (!found && rest->len > 0) {
        size_t end = writ_view_find(*rest, '\n');

        found = read_line(writ_view_sub(*rest, 0, end), ret);
        *rest = writ_view_sub(*rest, end + 1, rest->len);
    }
    return found;
}

struct writ_view
writ_metrics_text_label(const struct writ_metrics_text_sample *sample, struct writ_view name)
{
    struct writ_view rest = sample->labels;

    while (rest.len > 0) {
        size_t equals = writ_view_search(rest, WRIT_LIT("=\""));
        size_t end = end_of_value(rest, equals + 2);
        struct writ_view label = writ_view_sub(rest, 0, equals);

        if (equals == rest.len) {
            break;
        }
        if (writ_view_equal(label, name)) {
            return writ_view_sub(rest, equals + 2, end - equals - 2);
        }
        rest = writ_view_sub(rest, end + 2, rest.len); /* a quote and a comma */
    }
    return (struct writ_view){NULL, 0};
}

double
writ_metrics_text_sum(struct writ_view text, struct writ_view name, struct writ_view label,
    struct writ_view value, bool *ret_found)
{
    struct writ_metrics_text_sample sample;
    double sum = 0;
    bool found = false;

    while (writ_metrics_text_next(&text, &sample)) {
        if (writ_view_equal(sample.name, name) &&
            (label.len == 0 || writ_view_equal(writ_metrics_text_label(&sample, label), value))) {
            sum += sample.value;
            found = true;
        }
    }
    if (ret_found != NULL) {
        *ret_found = found;
    }
    return sum;
}
