/* Keys from files of trusted keys. A line that is not a key refuses the file, and so does a file
 * without a key of a known type: an empty list never stands for trust. Keys of unknown types are
 * only counted. */
#include "cli/commands/trust.h"

#define REMARK_MAX 64                /* marks a key that is not trusted */
#define LINE_MAX_  ((size_t)8 << 10) /* keys of unknown types are longer than ours */
#define FILE_MAX   ((size_t)WRIT_TRUST_KEYS_MAX * (LINE_MAX_ + REMARK_MAX))

void
writ_trust_wipe(struct writ_trust *trust)
{
    for (size_t i = 0; i < trust->n; i++) {
        writ_note_key_free(trust->keys[i]);
    }
    trust->n = 0;
}

static WRIT_RESULT
read_line(struct writ_trust *trust, struct writ_view line, const char *path, int number,
    struct writ_err *err)
{
    struct writ_err why = {0};
    writ_result result;

    if (trust->n == WRIT_TRUST_KEYS_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "%s: more than %d keys", path, WRIT_TRUST_KEYS_MAX);
    }
    result = writ_note_key_read(line, &trust->keys[trust->n], &why);
    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, result.code, "%s:%d: %s", path, number, why.text);
    }
    trust->n++;
    return WRIT_DONE;
}

/* Takes the next line off the text, without its white space. */
static struct writ_view
take_line(struct writ_view *text)
{
    size_t end = writ_view_find(*text, '\n');
    struct writ_view line = writ_view_trim(writ_view_sub(*text, 0, end));

    *text = writ_view_sub(*text, end + 1, text->len);
    return line;
}

static bool
is_known(const struct writ_trust *trust, struct writ_view name)
{
    for (size_t i = 0; i < trust->n; i++) {
        if (writ_view_equal(writ_note_key_name(trust->keys[i]), name)) {
            return true;
        }
    }
    return false;
}

/* Names without a usable key. A name counts once: at its first line. */
static size_t
count_unknown(const struct writ_trust *trust, struct writ_view text)
{
    struct writ_view names[WRIT_TRUST_KEYS_MAX], name;
    size_t n = 0;

    while (text.len > 0 && n < WRIT_TRUST_KEYS_MAX) {
        bool is_new = writ_note_key_is_unknown(take_line(&text), &name) && !is_known(trust, name);
        for (size_t i = 0; is_new && i < n; i++) {
            is_new = !writ_view_equal(names[i], name);
        }
        if (is_new) {
            names[n++] = name;
        }
    }
    return n;
}

static WRIT_RESULT
read_lines(struct writ_trust *trust, struct writ_view text, const char *path, struct writ_err *err)
{
    struct writ_view rest = text, name;

    for (int number = 1; rest.len > 0; number++) {
        struct writ_view line = take_line(&rest);
        if (line.len > 0 && line.ptr[0] != '#' && !writ_note_key_is_unknown(line, &name)) {
            WRIT_TRY(read_line(trust, line, path, number, err));
        }
    }
    trust->unknown = count_unknown(trust, text);
    if (trust->n == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: the file has no key of a known type", path);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_trust_read(const char *path, struct writ_trust *ret, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(FILE_MAX + 1); /* more than the limit, to name it */
    struct writ_trust trust = {0};
    writ_result result;

    WRIT_TRY(writ_cli_read(path, FILE_MAX, &text, err));
    result = read_lines(&trust, writ_buf_view(&text), path, err);
    if (!writ_is_ok(result)) {
        writ_trust_wipe(&trust);
        return result;
    }
    *ret = trust;
    return WRIT_DONE;
}

WRIT_RESULT
writ_trust_read_witnesses(const char *path, struct writ_trust *ret, struct writ_err *err)
{
    struct writ_trust trust = {0};

    WRIT_TRY(writ_trust_read(path, &trust, err));
    for (size_t i = 0; i < trust.n; i++) {
        if (writ_note_key_type(trust.keys[i]) != WRIT_NOTE_COSIGNATURE) {
            writ_trust_wipe(&trust);
            WRIT_FAIL(err, WRIT_E_INVALID, "%s: a key is not of a witness (type 4)", path);
        }
    }
    *ret = trust;
    return WRIT_DONE;
}
