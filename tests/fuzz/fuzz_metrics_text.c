/* The text of metrics. For every text as the value of a label: the line is one of valid UTF-8, and
 * has one sample, whose labels read as they were written. For every text as an answer: the reader
 * ends, and a sample is a part of the text. */
#include "base/utf8.h"
#include "support/fuzz.h"

#include "gateway/listener/label_set.h"
#include "gateway/listener/metrics_text.h"

#define TEXT_MAX ((size_t)1 << 20)

/* The value behind its escapes is the given one, but for bytes that are not UTF-8. */
static void
check_value(struct writ_view written, struct writ_view value)
{
    size_t at = 0;

    for (size_t i = 0, len; i<value.len; i += len> 0 ? len : 1) {
        uint32_t point = 0;
        len = writ_utf8_character(writ_view_sub(value, i, value.len), &point);
        for (size_t k = 0; k < (len > 0 ? len : 1); k++, at++) {
            bool escaped = written.ptr[at] == '\\';
            char want = len > 0 ? value.ptr[i + k] : '?';
            at += escaped ? 1 : 0;
            WRIT_INVARIANT(at < written.len);
            WRIT_INVARIANT(written.ptr[at] == (escaped && want == '\n' ? 'n' : want));
            WRIT_INVARIANT(escaped == (want == '\n' || want == '"' || want == '\\'));
        }
    }
    WRIT_INVARIANT(at == written.len);
}

static void
check_label(struct writ_view value)
{
    writ_auto_buf labels = writ_buf_make(TEXT_MAX);
    writ_auto_buf line = writ_buf_make(TEXT_MAX);
    struct writ_metrics_text_sample sample;
    struct writ_view rest;

    writ_label_set_put(&labels, "a", value);
    writ_label_set_put(&labels, "b", WRIT_LIT("x"));
    writ_buf_str(&line, "m{");
    writ_buf_put(&line, writ_buf_view(&labels));
    writ_buf_str(&line, "} 7\n");
    if (!writ_is_ok(writ_buf_check(&labels, NULL)) || !writ_is_ok(writ_buf_check(&line, NULL))) {
        return;
    }
    rest = writ_buf_view(&line);
    WRIT_INVARIANT(writ_utf8_is_valid(rest, NULL));
    WRIT_INVARIANT(writ_view_find(rest, '\n') == rest.len - 1);
    WRIT_INVARIANT(writ_metrics_text_next(&rest, &sample) && rest.len == 0);
    WRIT_INVARIANT(writ_view_is(sample.name, "m") && sample.value == 7);
    WRIT_INVARIANT(writ_view_equal(sample.labels, writ_buf_view(&labels)));
    check_value(writ_metrics_text_label(&sample, WRIT_LIT("a")), value);
    WRIT_INVARIANT(writ_view_is(writ_metrics_text_label(&sample, WRIT_LIT("b")), "x"));
}

static bool
is_part(struct writ_view part, struct writ_view text)
{
    return part.len == 0 || (part.ptr >= text.ptr && part.ptr + part.len <= text.ptr + text.len);
}

static void
check_answer(struct writ_view text)
{
    struct writ_metrics_text_sample sample;
    struct writ_view rest = text;
    size_t before = rest.len + 1;

    while (writ_metrics_text_next(&rest, &sample)) {
        WRIT_INVARIANT(rest.len < before);
        before = rest.len;
        WRIT_INVARIANT(is_part(sample.name, text) && is_part(sample.labels, text));
        WRIT_INVARIANT(is_part(writ_metrics_text_label(&sample, WRIT_LIT("a")), text));
    }
    WRIT_INVARIANT(rest.len == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_view text = writ_view(data, size);

    check_answer(text);
    if (size > 0) {
        check_label(text);
    }
    return 0;
}
