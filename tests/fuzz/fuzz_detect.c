/* A text of a call or a result, looked at by every built-in detector.
 *
 * For every input that is UTF-8: each find lies within the text, and begins and ends between
 * characters; looking again finds the same; what is found in the text is found, at the same
 * place, when a line follows it and one is in front of it; replacing changes the text when there is
 * a find, says of which detectors, and removes every byte of the finds. */
#include "policy/detect/detect.h"

#include "base/utf8.h"
#include "support/fuzz.h"

#define INPUT_MAX 16384
#define FINDS_MAX 4096

struct finds {
    struct writ_view text;
    struct writ_detection items[FINDS_MAX];
    size_t n;
};

static bool
begins_character(struct writ_view text, size_t at)
{
    return at == text.len || ((unsigned char)text.ptr[at] & 0xc0) != 0x80;
}

static bool
take(void *ctx, const struct writ_detection *found)
{
    struct finds *f = ctx;

    WRIT_INVARIANT(found->length > 0 && found->offset + found->length <= f->text.len);
    WRIT_INVARIANT(begins_character(f->text, found->offset));
    WRIT_INVARIANT(begins_character(f->text, found->offset + found->length));
    f->items[f->n++] = *found;
    return f->n < FINDS_MAX;
}

static void
find_all(const struct writ_detector_set *set, struct writ_view text, struct finds *ret)
{
    ret->text = text;
    ret->n = 0;
    WRIT_INVARIANT(writ_is_ok(writ_detect_text(set, text, WRIT_LIT(""), NULL, take, ret)));
}

static bool
has(const struct finds *f, const struct writ_detection *one, size_t shift)
{
    for (size_t i = 0; i < f->n; i++) {
        if (f->items[i].detector == one->detector && f->items[i].offset == one->offset + shift) {
            return true;
        }
    }
    return false;
}

static void
check_replaced(
    const struct writ_detector_set *set, struct writ_view text, const struct finds *finds)
{
    struct writ_pattern_budget budget = {.matches = INPUT_MAX, .clock = writ_clock_system()};
    bool used[WRIT_DETECTOR_COUNT] = {false}, seen[WRIT_DETECTOR_COUNT] = {false};
    writ_auto_buf out = writ_buf_make(INPUT_MAX + 1);
    enum writ_pattern_answer answer =
        writ_detect_replace(set, text, WRIT_LIT(""), WRIT_LIT(""), &budget, used, &out);
    size_t most = 0;

    WRIT_INVARIANT(answer == (finds->n > 0 ? WRIT_PATTERN_YES : WRIT_PATTERN_NO));
    WRIT_INVARIANT(writ_utf8_is_valid(writ_buf_view(&out), NULL));
    for (size_t i = 0; i < finds->n; i++) {
        seen[finds->items[i].detector - writ_detector_builtin(0)] = true;
        most = finds->items[i].length > most ? finds->items[i].length : most;
    }
    WRIT_INVARIANT(out.len + most <= text.len);
    WRIT_INVARIANT(finds->n > 0 || writ_view_equal(writ_buf_view(&out), text));
    for (size_t i = 0; i < WRIT_DETECTOR_COUNT && finds->n < FINDS_MAX; i++) {
        WRIT_INVARIANT(used[i] == seen[i]);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct finds once, again, embedded;
    struct writ_view text = writ_view(data, size);
    struct writ_detector_set set = {.own = NULL};
    writ_auto_buf longer = writ_buf_make(INPUT_MAX + 64);

    if (size > INPUT_MAX || !writ_utf8_is_valid(text, NULL)) {
        return 0;
    }
    for (size_t i = 0; i < WRIT_DETECTOR_COUNT; i++) {
        set.builtin[i] = true;
    }
    find_all(&set, text, &once);
    find_all(&set, text, &again);
    WRIT_INVARIANT(once.n == again.n);
    check_replaced(&set, text, &once);
    writ_buf_str(&longer, "\n");
    writ_buf_put(&longer, text);
    writ_buf_str(&longer, "\n");
    find_all(&set, writ_buf_view(&longer), &embedded);
    for (size_t i = 0; i < once.n && embedded.n < FINDS_MAX; i++) {
        WRIT_INVARIANT(has(&embedded, &once.items[i], 1));
    }
    return 0;
}
