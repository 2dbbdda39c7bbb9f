/* token.c - see token.h. A word of ordinary length is brought into its form in memory on the stack;
 * a longer one is its own form. */
#include "evidence/flow/token.h"

#include "base/utf8.h"

#define FORM_MAX    512 /* bytes of a word that is brought into a form */
#define GROUP_MAX   6   /* characters of one group of an account number */
#define ACCOUNT_MIN 12  /* characters of an account number that is written in groups */
#define DIGITS_MIN  8   /* digits among them */
#define ACCOUNT_MAX 64

static bool
is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool
is_letter(char c)
{
    return is_upper(c) || (c >= 'a' && c <= 'z');
}

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- the ends of words ---- */

/* What a byte is. A word without SPECIAL and OTHER bytes is its own form, and no address. */
enum {
    ENDS = 1,
    UPPER = 2,
    DIGIT = 4,
    HYPHEN = 8,
    LOWER = 16,
    OTHER = 32,
    SPECIAL = 64,
    HIGH = 128,
    REFERENCE = 256,
};

/* clang-format off */
#define RANGE(from, to, what) [from ... to] = (what)
static const uint16_t classes[256] = {
    RANGE(0x00, 0x20, ENDS), ['!'] = OTHER, ['"'] = ENDS, ['#'] = OTHER, ['$'] = OTHER | SPECIAL,
    ['%'] = OTHER | SPECIAL, ['&'] = OTHER | SPECIAL | REFERENCE, ['\''] = OTHER, ['('] = ENDS,
    [')'] = ENDS, ['*'] = OTHER, ['+'] = OTHER | SPECIAL, [','] = ENDS, ['-'] = HYPHEN,
    ['.'] = OTHER | SPECIAL, ['/'] = OTHER, RANGE('0', '9', DIGIT), [':'] = OTHER, [';'] = ENDS,
    ['<'] = ENDS, ['='] = OTHER, ['>'] = ENDS, ['?'] = OTHER, ['@'] = OTHER | SPECIAL,
    RANGE('A', 'Z', UPPER), ['['] = ENDS, ['\\'] = OTHER, [']'] = ENDS, ['^'] = OTHER,
    ['_'] = OTHER, ['`'] = ENDS, RANGE('a', 'z', LOWER), ['{'] = ENDS, ['|'] = ENDS, ['}'] = ENDS,
    ['~'] = OTHER, [0x7f] = ENDS, RANGE(0x80, 0xff, OTHER | SPECIAL | HIGH),
};
#undef RANGE
/* clang-format on */

static uint16_t
class_of(char c)
{
    return classes[(unsigned char)c];
}

/* Length of the space or quotation mark beyond ASCII that `text` begins with; 0: none. */
static size_t
high_delimiter(struct writ_view text)
{
    uint32_t point = 0;
    size_t n = writ_utf8_character(text, &point);

    if (point == 0xA0 || point == 0xAB || point == 0xBB || point == 0x3000 ||
        (point >= 0x2000 && point <= 0x200A) || (point >= 0x2018 && point <= 0x201F) ||
        point == 0x2028 || point == 0x2029 || point == 0x202F || point == 0x2039 ||
        point == 0x203A) {
        return n;
    }
    return 0;
}

/* A character reference of HTML at the beginning of `text`: its length, and its character. */
static size_t
reference(struct writ_view text, char *ret)
{
    static const struct {
        struct writ_view name;
        char is;
    } known[] = {{{"&amp;", 5}, '&'}, {{"&#38;", 5}, '&'}, {{"&#64;", 5}, '@'},
        {{"&#x40;", 6}, '@'}, {{"&commat;", 8}, '@'}, {{"&#46;", 5}, '.'}, {{"&#x2e;", 6}, '.'},
        {{"&period;", 8}, '.'}, {{"&#47;", 5}, '/'}, {{"&#x2f;", 6}, '/'}, {{"&sol;", 5}, '/'},
        {{"&#58;", 5}, ':'}, {{"&colon;", 7}, ':'}, {{"&quot;", 6}, '"'}, {{"&#39;", 5}, '\''}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (writ_view_equal_nocase(writ_view_sub(text, 0, known[i].name.len), known[i].name)) {
            *ret = known[i].is;
            return known[i].name.len;
        }
    }
    return 0;
}

struct raw {
    struct writ_view text;
    unsigned seen; /* what its bytes are */
};

static size_t
skip_delimiters(struct writ_view text, size_t at)
{
    while (at < text.len) {
        uint16_t is = class_of(text.ptr[at]);
        size_t n =
            (is & HIGH) != 0 ? high_delimiter(writ_view_sub(text, at, text.len)) : (is & ENDS);
        if (n == 0) {
            break;
        }
        at += n;
    }
    return at;
}

/* How far the character at `at` goes on in a word; 0: it ends the word. */
static size_t
step(struct writ_view text, size_t at, uint16_t is)
{
    struct writ_view rest = writ_view_sub(text, at, text.len);
    uint32_t point;
    char ignored;
    size_t n;

    if ((is & HIGH) != 0) {
        n = high_delimiter(rest) > 0 ? 0 : writ_utf8_character(rest, &point);
        return n > 0 || high_delimiter(rest) > 0 ? n : 1;
    }
    n = reference(rest, &ignored);
    return n > 0 ? n : 1;
}

/* The next word from `*at` on, with its punctuation; empty at the end of the text. */
static struct raw
next_word(struct writ_view text, size_t *at)
{
    size_t from = skip_delimiters(text, *at), end = from;
    unsigned seen = 0;

    while (end < text.len) {
        uint16_t is = class_of(text.ptr[end]);
        size_t n = 1;
        if ((is & (ENDS | HIGH | REFERENCE)) != 0) {
            n = (is & ENDS) != 0 ? 0 : step(text, end, is);
            if (n == 0) {
                break;
            }
        }
        seen |= is;
        end += n;
    }
    *at = end;
    return (struct raw){writ_view_sub(text, from, end - from), seen};
}

static bool
is_punctuation(char c)
{
    return c == '\'' || c == '.' || c == ':' || c == '?' || c == '!';
}

/* Without quotation marks around it, and without the punctuation of its sentence. A word of
 * punctuation alone stays. */
static struct writ_view
bare(struct writ_view word)
{
    struct writ_view rest = word;

    while (rest.len > 0 && rest.ptr[0] == '\'') {
        rest = writ_view_sub(rest, 1, rest.len);
    }
    while (rest.len > 0 && is_punctuation(rest.ptr[rest.len - 1])) {
        rest.len--;
    }
    return rest.len > 0 ? rest : word;
}

/* ---- the form of a word ---- */

/* Undoes one layer of escapes. Text that would not be UTF-8 without them keeps all of them. */
static struct writ_view
unescape(struct writ_view word, char *room)
{
    size_t n = 0;

    if (writ_view_find(word, '%') == word.len && writ_view_find(word, '&') == word.len) {
        return word;
    }
    for (size_t i = 0; i < word.len; n++) {
        struct writ_view rest = writ_view_sub(word, i, word.len);
        size_t length = rest.ptr[0] == '&' ? reference(rest, &room[n]) : 0;
        if (length > 0) {
            i += length;
        } else if (rest.ptr[0] == '%' && rest.len > 2 && writ_hex_digit(rest.ptr[1]) >= 0 &&
                   writ_hex_digit(rest.ptr[2]) >= 0) {
            room[n] = (char)(writ_hex_digit(rest.ptr[1]) * 16 + writ_hex_digit(rest.ptr[2]));
            i += 3;
        } else {
            room[n] = word.ptr[i++];
        }
    }
    return writ_utf8_is_valid(writ_view(room, n), NULL) ? writ_view(room, n) : word;
}

static struct writ_view
lower(struct writ_view text, char *room)
{
    for (size_t i = 0; i < text.len; i++) {
        room[i] = is_upper(text.ptr[i]) ? (char)(text.ptr[i] - 'A' + 'a') : text.ptr[i];
    }
    return writ_view(room, text.len);
}

/* Letters, digits, dots and hyphens, with a dot between, and two letters or more behind the last
 * one; also an address of IPv4. */
static bool
is_host(struct writ_view text)
{
    size_t dots = 0, label = 0, letters = 0;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '.') {
            if (label == 0) {
                return false;
            }
            dots++;
            label = letters = 0;
        } else if (is_letter(c) || is_digit(c) || c == '-' || c == '_') {
            label++;
            letters += is_letter(c) ? 1 : 0;
        } else {
            return false;
        }
    }
    return dots > 0 && label > 0 &&
           ((letters == label && label > 1) || (dots == 3 && letters == 0));
}

/* The first of these bytes, or the end. */
static size_t
first_of(struct writ_view text, struct writ_view bytes)
{
    size_t first = text.len;

    for (size_t i = 0; i < bytes.len; i++) {
        first = writ_view_find(writ_view_sub(text, 0, first), bytes.ptr[i]);
    }
    return first;
}

struct word {
    struct writ_view form, host; /* host empty: none */
    char undone[FORM_MAX], folded[FORM_MAX];
};

/* RFC 3986 3.1. */
static bool
is_scheme(struct writ_view text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!is_letter(c) && !(i > 0 && (is_digit(c) || c == '+' || c == '-' || c == '.'))) {
            return false;
        }
    }
    return text.len > 0;
}

/* "HTTPS://Example.org/a" is "example.org/a", and its host is "example.org" (RFC 3986 3.2). What
 * stands before an `@` in an authority is not its host. Browsers read a backslash as a slash: a
 * text with one there is no URL. */
static bool
as_url(struct word *word, struct writ_view text)
{
    size_t scheme = writ_view_search(text, WRIT_LIT("://")), user, end, kept = 0;
    struct writ_view rest = text, authority;

    if (scheme < text.len && is_scheme(writ_view_sub(text, 0, scheme))) {
        kept = scheme + 3;
        rest = writ_view_sub(text, kept, text.len);
    }
    end = first_of(rest, WRIT_LIT("/?#\\"));
    authority = writ_view_sub(rest, 0, end);
    if (end < rest.len && rest.ptr[end] == '\\') {
        return false;
    }
    user = writ_view_find(authority, '@');
    if (user < authority.len && kept == 0) {
        return false; /* an address of mail */
    }
    user = user < authority.len ? user + 1 : 0;
    if (writ_view_find(writ_view_sub(authority, user, authority.len), '@') < authority.len - user) {
        return false;
    }
    end = user + first_of(writ_view_sub(authority, user, authority.len), WRIT_LIT(":"));
    if (!is_host(writ_view_sub(rest, user, end - user))) {
        return false;
    }
    (void)lower(writ_view_sub(text, 0, kept + end), word->folded);
    (void)writ_view_place(writ_view_sub(rest, end, rest.len), word->folded + kept + end);
    word->form = writ_view(word->folded, text.len);
    word->host = writ_view(word->folded + kept + user, end - user);
    if (writ_view_has_prefix(word->form, WRIT_LIT("https://"))) {
        word->form = writ_view_sub(word->form, 8, word->form.len);
    }
    if (end + 1 == rest.len && rest.ptr[end] == '/') {
        word->form.len--;
    }
    return true;
}

static bool
as_mail(struct word *word, struct writ_view text)
{
    size_t at;

    if (writ_view_has_prefix(text, WRIT_LIT("mailto:"))) {
        text = writ_view_sub(text, 7, text.len);
    }
    at = writ_view_find(text, '@');
    if (at == 0 || at >= text.len || first_of(text, WRIT_LIT("/:\\?#")) < text.len ||
        !is_host(writ_view_sub(text, at + 1, text.len))) {
        return false;
    }
    word->form = lower(text, word->folded);
    word->host = writ_view_sub(word->form, at + 1, text.len);
    return true;
}

/* "$98.70" is "98.7". Digits that begin with 0 are no number but an id. */
static bool
as_number(struct word *word, struct writ_view text)
{
    static const struct writ_view signs[] = {
        {"$", 1}, {"+", 1}, {"\xE2\x82\xAC", 3}, {"\xC2\xA3", 2}, {"\xC2\xA5", 2}};
    size_t dot;

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (writ_view_has_prefix(text, signs[i])) {
            text = writ_view_sub(text, signs[i].len, text.len);
            break;
        }
    }
    dot = writ_view_find(text, '.');
    for (size_t i = 0; i < text.len; i++) {
        if (i != dot && !is_digit(text.ptr[i])) {
            return false;
        }
    }
    if (text.len == 0 || dot == 0 || dot + 1 == text.len || (text.ptr[0] == '0' && dot != 1)) {
        return false;
    }
    while (dot < text.len && text.ptr[text.len - 1] == '0') {
        text.len--;
    }
    text.len -= text.len == dot + 1 ? 1 : 0;
    word->form = text;
    return true;
}

/* Whether letters or characters beyond ASCII stand behind a dot that stands behind something. */
static bool
has_dotted_name(struct writ_view text)
{
    for (size_t i = 1; i + 2 < text.len; i++) {
        if (text.ptr[i] == '.' && text.ptr[i - 1] != '.' &&
            (is_letter(text.ptr[i + 1]) || (class_of(text.ptr[i + 1]) & HIGH) != 0) &&
            (is_letter(text.ptr[i + 2]) || (class_of(text.ptr[i + 2]) & HIGH) != 0)) {
            return true;
        }
    }
    return false;
}

/* Whether some reader may follow a word that has no form of an address: `http://127.1/`,
 * `*https://example.org*`, a host with letters beyond ASCII, a URL longer than FORM_MAX. */
static bool
may_lead(struct writ_view text)
{
    size_t at = writ_view_find(text, '@');

    return writ_view_search(text, WRIT_LIT("//")) < text.len ||
           writ_view_find(text, '\\') < text.len || (at > 0 && at + 1 < text.len) ||
           has_dotted_name(text);
}

static void
form(struct word *word, struct writ_view text)
{
    word->host = writ_view(NULL, 0);
    word->form = text;
    if (text.len > FORM_MAX) {
        return;
    }
    /* the host is that of the URL as it is sent: an escaped slash does not end an authority */
    if (as_number(word, text) || as_url(word, text)) {
        return;
    }
    text = unescape(text, word->undone);
    if (!as_number(word, text) && !as_mail(word, text) && !as_url(word, text)) {
        word->form = text;
    }
}

/* A word that may lead somewhere unknown is its own host, which no other word has. */
static struct writ_view
host_of(const struct word *word)
{
    return word->host.len > 0 || !may_lead(word->form) ? word->host : word->form;
}

/* ---- account numbers in groups ---- */

struct joined {
    char text[ACCOUNT_MAX];
    size_t len, digits, groups;
    const char *from, *to; /* where the groups stand */
};

static void
end_join(struct joined *joined, writ_token_fn *each, void *ctx)
{
    if (joined->groups > 1 && joined->len >= ACCOUNT_MIN && joined->digits >= DIGITS_MIN) {
        each(ctx, WRIT_TOKEN_JOINED, writ_view(joined->text, joined->len),
            writ_view(joined->from, (size_t)(joined->to - joined->from)));
    }
    joined->len = joined->digits = joined->groups = 0;
}

/* A group has capital letters and digits alone. */
static bool
join(struct joined *joined, struct writ_view group)
{
    if (group.len == 0 || group.len > GROUP_MAX || joined->len + group.len > ACCOUNT_MAX) {
        return false;
    }
    for (size_t i = 0; i < group.len; i++) {
        joined->digits += is_digit(group.ptr[i]) ? 1 : 0;
    }
    (void)writ_view_place(group, joined->text + joined->len);
    joined->from = joined->groups == 0 ? group.ptr : joined->from;
    joined->to = group.ptr + group.len;
    joined->len += group.len;
    joined->groups++;
    return true;
}

/* "1234-5678-9012-3456" is one word, and has the groups in it. */
static void
join_hyphens(struct writ_view word, writ_token_fn *each, void *ctx)
{
    struct joined joined = {.len = 0};

    while (word.len > 0) {
        size_t end = writ_view_find(word, '-');
        if (!join(&joined, writ_view_sub(word, 0, end))) {
            return;
        }
        word = writ_view_sub(word, end + 1, word.len);
    }
    end_join(&joined, each, ctx);
}

static unsigned
seen_in(struct writ_view text)
{
    unsigned seen = 0;

    for (size_t i = 0; i < text.len; i++) {
        seen |= class_of(text.ptr[i]);
    }
    return seen;
}

/* One word, and what it is besides. */
static void
take(const struct raw *raw, struct joined *joined, writ_token_fn *each, void *ctx)
{
    struct writ_view text = bare(raw->text);
    unsigned seen = text.len == raw->text.len ? raw->seen : seen_in(text);
    struct writ_view host;
    struct word word;

    if ((seen & (LOWER | OTHER | HYPHEN)) != 0 || !join(joined, text)) {
        end_join(joined, each, ctx);
    }
    if ((seen & (SPECIAL | OTHER)) == 0) {
        each(ctx, seen == LOWER ? WRIT_TOKEN_PLAIN : WRIT_TOKEN_WORD, text, text);
    } else {
        form(&word, text);
        host = host_of(&word);
        each(ctx, WRIT_TOKEN_WORD, word.form, text);
        if (host.len > 0) {
            each(ctx, WRIT_TOKEN_HOST, host, text);
        }
    }
    if ((seen & (LOWER | OTHER | HYPHEN)) == HYPHEN && text.len <= ACCOUNT_MAX) {
        join_hyphens(text, each, ctx);
    }
}

void
writ_tokens(struct writ_view text, writ_token_fn *each, void *ctx)
{
    struct joined joined = {.len = 0};
    size_t at = 0;

    for (;;) {
        const struct raw raw = next_word(text, &at);
        if (raw.text.len == 0) {
            break;
        }
        take(&raw, &joined, each, ctx);
    }
    end_join(&joined, each, ctx);
}

bool
writ_token_is_bare(struct writ_view text)
{
    struct writ_view trimmed = text;
    struct raw word;
    size_t at = 0;

    while (trimmed.len > 0 && (unsigned char)trimmed.ptr[0] <= ' ') {
        trimmed = writ_view_sub(trimmed, 1, trimmed.len);
    }
    while (trimmed.len > 0 && (unsigned char)trimmed.ptr[trimmed.len - 1] <= ' ') {
        trimmed.len--;
    }
    word = next_word(trimmed, &at);
    return trimmed.len > 0 && bare(word.text).len == trimmed.len;
}
