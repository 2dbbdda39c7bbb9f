/* One pass over the pattern, a construct at a time. A list of what passes: a construct that is not
 * in it ends the translation. Classes as \d and the dot are spelled out, because PCRE2 takes them
 * for more characters than ECMAScript does; ^ and $ become the ends of the text. */
#include "policy/model/ecma.h"

#include "policy/model/pattern.h"

#define DIGITS "0-9"
#define WORDS  "A-Za-z0-9_"
#define SPACES                                                                                     \
    "\\t\\n\\x0b\\f\\r "                                                                           \
    "\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}"

struct scan {
    struct writ_view text;
    size_t at;
    struct writ_buf *ret;
    bool repeats; /* a quantifier was just read: a second one has another meaning in PCRE2 */
};

static char
peek(const struct scan *s, size_t ahead)
{
    return s->at + ahead < s->text.len ? s->text.ptr[s->at + ahead] : '\0';
}

static bool
is_in(char c, const char *set)
{
    struct writ_view chars = writ_view_str(set);

    return c != '\0' && writ_view_find(chars, c) < chars.len;
}

/* \xHH, \uHHHH: from the digits on. Halves of a pair are refused. */
static bool
put_code(struct scan *s, size_t digits)
{
    for (size_t i = 0; i < digits; i++) {
        if (writ_hex_digit(peek(s, i)) < 0) {
            return false;
        }
    }
    if (digits == 4 && is_in(peek(s, 0), "dD") && !is_in(peek(s, 1), "01234567")) {
        return false;
    }
    writ_buf_str(s->ret, "\\x{");
    writ_buf_put(s->ret, writ_view_sub(s->text, s->at, digits));
    writ_buf_byte(s->ret, '}');
    s->at += digits;
    return true;
}

/* \d, \w, \s and their opposites; inside a class there is no spelling for an opposite. */
static bool
put_set(struct scan *s, char letter, bool inside)
{
    const char *set = letter == 'd' || letter == 'D'   ? DIGITS
                      : letter == 'w' || letter == 'W' ? WORDS
                                                       : SPACES;
    bool opposite = is_in(letter, "DWS");

    if (inside && opposite) {
        return false;
    }
    writ_buf_str(s->ret, inside ? "" : opposite ? "[^" : "[");
    writ_buf_str(s->ret, set);
    writ_buf_str(s->ret, inside ? "" : "]");
    return true;
}

/* \p{Letter}: the general categories of Unicode, by their long or short names (ECMA-262
 * 22.2.1, UnicodePropertyValueExpression). */
static bool
put_category(struct scan *s, char letter)
{
    static const char *const names[][2] = {{"Letter", "L"}, {"Lowercase_Letter", "Ll"},
        {"Uppercase_Letter", "Lu"}, {"Titlecase_Letter", "Lt"}, {"Modifier_Letter", "Lm"},
        {"Other_Letter", "Lo"}, {"Mark", "M"}, {"Nonspacing_Mark", "Mn"}, {"Spacing_Mark", "Mc"},
        {"Enclosing_Mark", "Me"}, {"Number", "N"}, {"Decimal_Number", "Nd"},
        {"Letter_Number", "Nl"}, {"Other_Number", "No"}, {"Punctuation", "P"}, {"Symbol", "S"},
        {"Separator", "Z"}, {"Space_Separator", "Zs"}};
    struct writ_view rest = writ_view_sub(s->text, s->at, s->text.len), name;

    if (rest.len == 0 || rest.ptr[0] != '{') {
        return false;
    }
    name = writ_view_sub(rest, 1, writ_view_find(rest, '}') - 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (writ_view_is(name, names[i][0]) || writ_view_is(name, names[i][1])) {
            writ_buf_byte(s->ret, '\\');
            writ_buf_byte(s->ret, letter);
            writ_buf_fmt(s->ret, "{%s}", names[i][1]);
            s->at += name.len + 2;
            return true;
        }
    }
    return false;
}

/* What stands behind a backslash. */
static bool
put_escape(struct scan *s, bool inside)
{
    char c = peek(s, 1);

    s->at += 2;
    if (is_in(c, "dDwWsS")) {
        return put_set(s, c, inside);
    }
    if (c == 'p' || c == 'P') {
        return put_category(s, c);
    }
    if (c == 'x' || c == 'u') {
        return put_code(s, c == 'x' ? 2 : 4);
    }
    if (is_in(c, "nrtf") || is_in(c, "^$\\.*+?()[]{}|/-")) {
        writ_buf_byte(s->ret, '\\');
        writ_buf_byte(s->ret, c);
        return true;
    }
    if (c == 'v') {
        writ_buf_str(s->ret, "\\x0b");
        return true;
    }
    if (is_in(c, "\"'#%&,:;<=>@`~! ")) { /* an escape that changes nothing */
        writ_buf_byte(s->ret, '\\');
        writ_buf_byte(s->ret, c);
        return true;
    }
    return false;
}

/* Whether \d, \w or \s stands there. */
static bool
is_set(const struct scan *s, size_t ahead)
{
    return peek(s, ahead) == '\\' && is_in(peek(s, ahead + 1), "dws");
}

/* What a member of a class stands behind. */
enum behind {
    BEHIND_OTHER = 0,
    BEHIND_SET,      /* \d: a hyphen here is a character */
    BEHIND_HYPHEN,   /* that one: the next member is not the start of a range */
    BEHIND_NO_RANGE, /* that next member: a hyphen here means different things */
};

/* A hyphen next to \d, \w or \s is a character. The set is spelled out, so a bare hyphen would
 * make a range of the set's last character and of what follows: [\w-~] would allow all of _ to ~.
 */
static bool
put_hyphen(struct scan *s, enum behind *behind)
{
    bool ends = peek(s, 1) == ']';

    if (*behind == BEHIND_NO_RANGE && !ends) {
        return false;
    }
    writ_buf_str(s->ret, *behind != BEHIND_OTHER || ends || is_set(s, 1) ? "\\-" : "-");
    *behind = *behind == BEHIND_SET      ? BEHIND_HYPHEN
              : *behind == BEHIND_HYPHEN ? BEHIND_NO_RANGE
                                         : BEHIND_OTHER;
    s->at++;
    return true;
}

/* One member but a hyphen. */
static bool
put_member(struct scan *s, enum behind *behind)
{
    bool set = is_set(s, 0);

    *behind = set ? BEHIND_SET : *behind == BEHIND_HYPHEN ? BEHIND_NO_RANGE : BEHIND_OTHER;
    if (peek(s, 0) == '\\') {
        return put_escape(s, true);
    }
    writ_buf_str(s->ret, peek(s, 0) == '[' ? "\\" : ""); /* PCRE2 has [[:alpha:]] */
    do { /* a character of several bytes is one member */
        writ_buf_byte(s->ret, peek(s, 0));
        s->at++;
    } while (((unsigned char)peek(s, 0) & 0xc0U) == 0x80U);
    return true;
}

/* [...], from the bracket to the bracket. */
static bool
put_class(struct scan *s)
{
    enum behind behind = BEHIND_OTHER;
    size_t from;

    writ_buf_byte(s->ret, '[');
    s->at++;
    if (peek(s, 0) == '^') {
        writ_buf_byte(s->ret, '^');
        s->at++;
    }
    for (from = s->at; s->at < s->text.len && peek(s, 0) != ']';) {
        if (!(peek(s, 0) == '-' ? put_hyphen(s, &behind) : put_member(s, &behind))) {
            return false;
        }
    }
    if (s->at == from || s->at == s->text.len) { /* [] and [^] mean something else in PCRE2 */
        return false;
    }
    writ_buf_byte(s->ret, ']');
    s->at++;
    return true;
}

/* ( and what says which kind of group it is. */
static bool
put_group(struct scan *s)
{
    static const char *const kinds[] = {"(?:", "(?=", "(?!", "(?<=", "(?<!"};
    struct writ_view rest = writ_view_sub(s->text, s->at, s->text.len);

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (writ_view_has_prefix(rest, writ_view_str(kinds[i]))) {
            writ_buf_str(s->ret, kinds[i]);
            s->at += writ_view_str(kinds[i]).len;
            return true;
        }
    }
    if (is_in(peek(s, 1), "?*")) {
        return false;
    }
    writ_buf_str(s->ret, "(?:"); /* nothing refers to a group */
    s->at++;
    return true;
}

/* {n}, {n,}, {n,m}, and a question mark behind any quantifier. */
static bool
put_repeat(struct scan *s)
{
    size_t end = s->at;

    if (s->repeats) {
        return false;
    }
    if (peek(s, 0) == '{') {
        struct writ_view rest = writ_view_sub(s->text, s->at, s->text.len);
        end = s->at + writ_view_find(rest, '}');
        for (size_t i = s->at + 1; i < end; i++) {
            bool digit = s->text.ptr[i] >= '0' && s->text.ptr[i] <= '9';
            if (end == s->text.len || (!digit && (s->text.ptr[i] != ',' || i == s->at + 1))) {
                return false;
            }
        }
        if (end < s->at + 2 || end == s->text.len) {
            return false;
        }
    }
    writ_buf_put(s->ret, writ_view_sub(s->text, s->at, end + 1 - s->at));
    s->at = end + 1;
    if (peek(s, 0) == '?') {
        writ_buf_byte(s->ret, '?');
        s->at++;
    }
    s->repeats = true;
    return true;
}

static bool
put_construct(struct scan *s)
{
    char c = peek(s, 0);
    bool repeat = is_in(c, "*+?{");

    if (repeat) {
        return put_repeat(s);
    }
    s->repeats = false;
    switch (c) {
    case '\\':
        return put_escape(s, false);
    case '[':
        return put_class(s);
    case '(':
        return put_group(s);
    case '^':
    case '$':
        writ_buf_str(s->ret, c == '^' ? "\\A" : "\\z");
        break;
    case '.':
        writ_buf_str(s->ret, "[^\\n\\r\\x{2028}\\x{2029}]");
        break;
    case '\0':
    case ']':
    case '}':
        return false;
    default:
        writ_buf_byte(s->ret, c);
        break;
    }
    s->at++;
    return true;
}

/* ^...$ without alternatives matches the whole text already. */
static bool
is_whole(struct writ_view text)
{
    return writ_view_has_prefix(text, WRIT_LIT("^")) && writ_view_has_suffix(text, WRIT_LIT("$")) &&
           !writ_view_has_suffix(text, WRIT_LIT("\\$")) && writ_view_find(text, '|') == text.len;
}

static void
pattern_freep(struct writ_pattern **pattern)
{
    writ_pattern_free(*pattern);
}

bool
writ_ecma_pattern(struct writ_view text, struct writ_buf *ret)
{
    WRIT_AUTO(struct writ_pattern *, pattern_freep) pattern = NULL;
    struct scan s = {.text = text, .ret = ret};
    bool whole = is_whole(text);
    size_t from = ret->len;

    writ_buf_str(ret, whole ? "" : "(?s:.*)(?:");
    while (s.at < text.len) {
        if (!put_construct(&s)) {
            return false;
        }
    }
    writ_buf_str(ret, whole ? "" : ")(?s:.*)");
    return writ_is_ok(writ_buf_check(ret, NULL)) &&
           writ_is_ok(
               writ_pattern_new(writ_view_sub(writ_buf_view(ret), from, ret->len), &pattern, NULL));
}
