/* Names and values in lines for people. Foreign text is written so that a terminal acts on none of
 * it, and a name is cut; a value is complete. */
#include "cli/base/print.h"

#include "base/text.h"
#include "evidence/json/write.h"

#include <stdio.h>

#define SAFE_MAX 200 /* bytes of one name in a line for people */

void
writ_print_plain(struct writ_buf *line, struct writ_view name)
{
    bool plain = name.len > 0 && name.len <= SAFE_MAX;

    for (size_t i = 0; i < name.len && plain; i++) {
        plain = name.ptr[i] > ' ' && name.ptr[i] < 0x7f;
    }
    if (plain) {
        writ_buf_put(line, name);
    } else {
        writ_text_json_safe(line, name, SAFE_MAX);
    }
}

static bool
is_plain_in_shell(struct writ_view word)
{
    for (size_t i = 0; i < word.len; i++) {
        char c = word.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        if (!letter && writ_view_find(WRIT_LIT("_./-"), c) == 4) {
            return false;
        }
    }
    return word.len > 0;
}

void
writ_print_word(struct writ_buf *line, struct writ_view word)
{
    if (is_plain_in_shell(word)) {
        writ_buf_put(line, word);
        return;
    }
    writ_buf_byte(line, '\'');
    while (word.len > 0) {
        size_t quote = writ_view_find(word, '\'');

        writ_text_safe(line, writ_view_sub(word, 0, quote), word.len);
        writ_buf_str(line, quote < word.len ? "'\\''" : "");
        word = writ_view_sub(word, quote + 1, word.len);
    }
    writ_buf_byte(line, '\'');
}

void
writ_print_json(struct writ_buf *line, const struct writ_json *value)
{
    writ_auto_buf text = writ_buf_make(line->max);
    struct writ_write w = writ_write_to(&text);

    writ_write_value(&w, value);
    if (!writ_is_ok(writ_write_end(&w, NULL))) {
        line->failed = text.failed;
    }
    writ_text_safe(line, writ_buf_view(&text), text.len);
}

void
writ_print_refusal(struct writ_buf *out, enum writ_reason why, const char *text)
{
    writ_buf_fmt(out, WRIT_VIEW_FMT "\n", WRIT_VIEW_ARG(writ_reason_name(why)));
    (void)fprintf(stderr, "%s\n", text);
}
