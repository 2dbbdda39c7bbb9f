/* Splits at everything that is not a letter of ASCII, and between lower and upper case; a capital
 * before a small letter begins a word, so fileURL and URLPath have two. A plural is looked up in
 * its singular. Every doubt adds a kind and never takes one away. */
#include "policy/propose/words.h"

#define WORD_MAX 24 /* longest word that is looked up */

static const struct {
    struct writ_view word;
    unsigned kind;
} rows[] = {
#define WORD(KIND, word) {{"" word, sizeof(word) - 1}, WRIT_WORD_##KIND},
#include "policy/propose/word.tbl.h"
#undef WORD
};

static unsigned
kinds_of(struct writ_view word)
{
    unsigned kinds = 0;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        kinds |= writ_view_equal(rows[i].word, word) ? rows[i].kind : 0;
    }
    return kinds;
}

/* Of the word and of its singular: paths, boxes, directories. */
static unsigned
kinds_of_any_number(char *word, size_t len)
{
    unsigned kinds = kinds_of(writ_view(word, len));

    if (len > 1 && word[len - 1] == 's') {
        kinds |= kinds_of(writ_view(word, len - 1));
        if (len > 3 && word[len - 2] == 'e') {
            kinds |= kinds_of(writ_view(word, len - 2));
            if (word[len - 3] == 'i') {
                word[len - 3] = 'y';
                kinds |= kinds_of(writ_view(word, len - 2));
            }
        }
    }
    return kinds;
}

static bool
is_upper(struct writ_view text, size_t at)
{
    return at < text.len && text.ptr[at] >= 'A' && text.ptr[at] <= 'Z';
}

static bool
is_lower(struct writ_view text, size_t at)
{
    return at < text.len && text.ptr[at] >= 'a' && text.ptr[at] <= 'z';
}

/* Whether a word ends before `at`: fileURL, URLPath; the s of URLs belongs to it. */
static bool
ends_word(struct writ_view text, size_t at)
{
    if (!is_upper(text, at)) {
        return !is_lower(text, at);
    }
    if (is_lower(text, at - 1)) {
        return true;
    }
    return is_lower(text, at + 1) && !(text.ptr[at + 1] == 's' && !is_lower(text, at + 2));
}

/* The end of the word that begins at `at`. */
static size_t
word_end(struct writ_view text, size_t at)
{
    size_t end = at + 1;

    while (end < text.len && !ends_word(text, end)) {
        end++;
    }
    return end;
}

/* Kinds of the letters between the two places. */
static unsigned
kinds_between(struct writ_view text, size_t from, size_t end)
{
    char word[WORD_MAX];

    if (end - from > WORD_MAX) {
        return 0;
    }
    for (size_t i = from; i < end; i++) {
        word[i - from] = (char)(text.ptr[i] | 0x20); /* lower case */
    }
    return kinds_of_any_number(word, end - from);
}

/* The end of the letters that stand together from `at` on. */
static size_t
run_end(struct writ_view text, size_t at)
{
    while (is_upper(text, at) || is_lower(text, at)) {
        at++;
    }
    return at;
}

struct writ_words
writ_words_of(struct writ_view text, size_t most)
{
    struct writ_words ret = {0};
    size_t n = 0;

    for (size_t at = 0; at < text.len && n < most;) {
        size_t run = run_end(text, at);
        unsigned whole = kinds_between(text, at, run); /* GraphQL has no word of its parts */

        if (run == at) {
            at++;
            continue;
        }
        ret.first |= n == 0 ? whole : 0;
        while (at < run && n < most) {
            size_t end = word_end(text, at);
            ret.last = kinds_between(text, at, end);
            ret.first |= n == 0 ? ret.last : 0;
            ret.acts |= (ret.all & WRIT_WORD_READ) == 0 ? ret.last | whole : 0;
            ret.all |= ret.last | whole;
            n++;
            at = end;
        }
        ret.last |= whole;
    }
    return ret;
}

/* What the description begins with counts, but for an identifier, of which it tells the form:
 * "Project ID or URL-encoded path". */
static bool
is_opened(const struct writ_words_context *about, unsigned kind)
{
    return (about->opening & kind) != 0 && (about->name.last & WRIT_WORD_ID) == 0;
}

bool
writ_words_path(const struct writ_words_context *about)
{
    const struct writ_words *name = &about->name, *tool = &about->tool;
    bool files = (tool->all & WRIT_WORD_FILE) != 0 || (tool->first & WRIT_WORD_MOVE) != 0;

    return (name->all & WRIT_WORD_PATH) != 0 || (name->last & WRIT_WORD_FILE) != 0 ||
           ((name->all & WRIT_WORD_FILE) != 0 && (name->last & WRIT_WORD_NAMING) != 0) ||
           (files && (name->last & WRIT_WORD_END) != 0) || is_opened(about, WRIT_WORD_PATH);
}

bool
writ_words_inside(const struct writ_words_context *about)
{
    return about->stored;
}

bool
writ_words_store(const struct writ_words *name)
{
    return (name->all & WRIT_WORD_STORE) != 0 &&
           (name->all & (WRIT_WORD_PATH | WRIT_WORD_FILE | WRIT_WORD_URL)) == 0;
}

bool
writ_words_file_name(const struct writ_words_context *about)
{
    return (about->tool.all & WRIT_WORD_FILE) != 0 && (about->name.last & WRIT_WORD_NAMING) != 0;
}

bool
writ_words_url(const struct writ_words_context *about)
{
    return (about->name.all & WRIT_WORD_URL) != 0 || (about->name.last & WRIT_WORD_LINK) != 0 ||
           is_opened(about, WRIT_WORD_URL);
}

bool
writ_words_host(const struct writ_words_context *about)
{
    return (about->name.last & WRIT_WORD_HOST) != 0;
}

bool
writ_words_command(const struct writ_words_context *about)
{
    const struct writ_words *name = &about->name;
    unsigned around = about->tool.all | about->described;

    return (name->all & WRIT_WORD_COMMAND) != 0 ||
           ((name->last & WRIT_WORD_CODE) != 0 && (name->all & WRIT_WORD_LABEL) == 0) ||
           ((name->last & WRIT_WORD_QUERY) != 0 && (around & WRIT_WORD_DATABASE) != 0);
}

bool
writ_words_amount(const struct writ_words_context *about)
{
    return (about->name.last & WRIT_WORD_AMOUNT) != 0 ||
           ((about->name.last & WRIT_WORD_COUNTED) != 0 &&
               (about->tool.all & WRIT_WORD_MONEY) != 0);
}

bool
writ_words_identifier(const struct writ_words_context *about)
{
    return (about->name.last & (WRIT_WORD_ID | WRIT_WORD_REF)) != 0;
}

bool
writ_words_part(const struct writ_words_context *about)
{
    return about->stored && (about->name.last & WRIT_WORD_PART) != 0;
}
