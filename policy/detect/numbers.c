/* Card numbers and IBANs: digits, alone or in groups with one kind of separator between them. A
 * number begins where no letter or digit is in front of it, and has at most 34 characters, so that
 * the cost grows with the length of the text. */
#include "policy/detect/scan.h"

#define CARD_LEAST 12
#define CARD_MOST  19
#define IBAN_LEAST 15
#define IBAN_MOST  34
#define GROUP_MIN  3 /* characters of a group but the last, unless all of them have one */

static bool
is_separator(char c)
{
    return c == ' ' || c == '-' || c == '.';
}

/* ---- cards */

/* Prefixes of the schemes: the first four digits from..to, and the lengths. */
static const struct {
    unsigned from, to, least, most;
} schemes[] = {
    {4000, 4999, 13, 19},                       /* Visa */
    {5100, 5599, 16, 16},                       /* Mastercard */
    {2221, 2720, 16, 16}, {3400, 3499, 15, 15}, /* American Express */
    {3700, 3799, 15, 15}, {6011, 6011, 16, 19}, /* Discover */
    {6440, 6599, 16, 19}, {3528, 3589, 16, 19}, /* JCB */
    {3000, 3059, 14, 19},                       /* Diners */
    {3095, 3095, 14, 19}, {3600, 3699, 14, 19}, {3800, 3999, 14, 19},
    {6200, 6299, 16, 19},                       /* UnionPay */
    {8100, 8199, 16, 19}, {5018, 5018, 12, 19}, /* Maestro */
    {5020, 5020, 12, 19}, {5038, 5038, 12, 19}, {5893, 5893, 12, 19}, {6304, 6304, 12, 19},
    {6759, 6763, 12, 19}, {2200, 2204, 16, 19}, /* Mir */
    {6000, 6099, 16, 16},                       /* RuPay */
};

static bool
is_card(const char *digits, size_t n)
{
    unsigned first = 0;

    for (size_t i = 0; i < 4; i++) {
        first = first * 10 + (unsigned)(digits[i] - '0');
    }
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        if (first >= schemes[i].from && first <= schemes[i].to && n >= schemes[i].least &&
            n <= schemes[i].most) {
            return writ_detector_checksum_holds(WRIT_CHECKSUM_LUHN, writ_view(digits, n));
        }
    }
    return false;
}

/* Characters in groups, from one place on. */
struct grouped {
    char kept[IBAN_MOST];
    size_t n, group; /* characters in all, and of the group that is read */
    size_t at;       /* the next byte */
    char separator;  /* between the groups; 0: none yet */
    bool single;     /* all groups have one character */
};

/* Whether the next group follows. */
static bool
next_group(struct writ_view text, struct grouped *g, bool (*is)(char c))
{
    char c = writ_scan_byte(text, g->at);
    bool first = g->separator == '\0';

    g->single = first ? g->group == 1 : g->single;
    if (!is_separator(c) || !is(writ_scan_byte(text, g->at + 1)) || (!first && c != g->separator) ||
        (g->single ? g->group != 1 : g->group < GROUP_MIN)) {
        return false;
    }
    g->separator = c;
    g->group = 0;
    g->at++;
    return true;
}

/* The longest number that begins at `at` and that `holds`. */
static size_t
longest(struct writ_view text, size_t at, size_t most, bool (*is)(char c),
    bool (*holds)(const char *kept, size_t n))
{
    struct grouped g = {.at = at};
    size_t found = 0;

    while (g.n < most && is(writ_scan_byte(text, g.at))) {
        g.kept[g.n++] = text.ptr[g.at++];
        g.group++;
        if (!writ_scan_alnum(writ_scan_byte(text, g.at))) {
            if (holds(g.kept, g.n)) {
                found = g.at - at;
            }
            if (!next_group(text, &g, is)) {
                break;
            }
        }
    }
    return found;
}

static bool
is_digit(char c)
{
    return writ_scan_digit(c);
}

static bool
holds_card(const char *kept, size_t n)
{
    return n >= CARD_LEAST && is_card(kept, n);
}

/* 0.4111 and 1,4111 are numbers of another kind. */
static bool
begins_number(struct writ_view text, size_t at)
{
    char before = writ_scan_byte(text, at - 1);

    return !writ_scan_alnum(before) && before != '_' &&
           !((before == '.' || before == ',') && writ_scan_digit(writ_scan_byte(text, at - 2)) &&
               at >= 2);
}

void
writ_scan_card(struct writ_scan *scan)
{
    for (size_t at = 0; at < scan->text.len && !scan->stopped; at++) {
        if (writ_scan_digit(scan->text.ptr[at]) && begins_number(scan->text, at)) {
            size_t len = longest(scan->text, at, CARD_MOST, is_digit, holds_card);
            writ_scan_found(scan, WRIT_DETECTOR_CARD_NUMBER, at, len);
        }
    }
}

/* ---- IBANs */

/* By the registry of SWIFT. */
static const struct {
    char country[3];
    unsigned char length;
} countries[] = {{"AD", 24}, {"AE", 23}, {"AL", 28}, {"AT", 20}, {"AZ", 28}, {"BA", 20}, {"BE", 16},
    {"BG", 22}, {"BH", 22}, {"BI", 27}, {"BR", 29}, {"BY", 28}, {"CH", 21}, {"CR", 22}, {"CY", 28},
    {"CZ", 24}, {"DE", 22}, {"DJ", 27}, {"DK", 18}, {"DO", 28}, {"EE", 20}, {"EG", 29}, {"ES", 24},
    {"FI", 18}, {"FK", 18}, {"FO", 18}, {"FR", 27}, {"GB", 22}, {"GE", 22}, {"GI", 23}, {"GL", 18},
    {"GR", 27}, {"GT", 28}, {"HN", 28}, {"HR", 21}, {"HU", 28}, {"IE", 22}, {"IL", 23}, {"IQ", 23},
    {"IS", 26}, {"IT", 27}, {"JO", 30}, {"KW", 30}, {"KZ", 20}, {"LB", 28}, {"LC", 32}, {"LI", 21},
    {"LT", 20}, {"LU", 20}, {"LV", 21}, {"LY", 25}, {"MC", 27}, {"MD", 24}, {"ME", 22}, {"MK", 19},
    {"MN", 20}, {"MR", 27}, {"MT", 31}, {"MU", 30}, {"NI", 28}, {"NL", 18}, {"NO", 15}, {"OM", 23},
    {"PK", 24}, {"PL", 28}, {"PS", 29}, {"PT", 25}, {"QA", 29}, {"RO", 24}, {"RS", 22}, {"RU", 33},
    {"SA", 24}, {"SC", 31}, {"SD", 18}, {"SE", 24}, {"SI", 19}, {"SK", 24}, {"SM", 27}, {"SO", 23},
    {"ST", 25}, {"SV", 28}, {"TL", 23}, {"TN", 24}, {"TR", 26}, {"UA", 29}, {"VA", 22}, {"VG", 24},
    {"XK", 20}, {"YE", 30}};

static bool
is_alnum(char c)
{
    return writ_scan_alnum(c);
}

static bool
holds_iban(const char *kept, size_t n)
{
    for (size_t i = 0; n >= IBAN_LEAST && i < sizeof countries / sizeof countries[0]; i++) {
        if ((kept[0] & ~0x20) == countries[i].country[0] &&
            (kept[1] & ~0x20) == countries[i].country[1]) {
            return n == countries[i].length &&
                   writ_detector_checksum_holds(WRIT_CHECKSUM_MOD97, writ_view(kept, n));
        }
    }
    return false;
}

void
writ_scan_iban(struct writ_scan *scan)
{
    struct writ_view text = scan->text;

    for (size_t at = 0; at + IBAN_LEAST <= text.len && !scan->stopped; at++) {
        if (writ_scan_letter(text.ptr[at]) && !writ_scan_alnum(writ_scan_byte(text, at - 1)) &&
            writ_scan_letter(text.ptr[at + 1]) && writ_scan_digit(text.ptr[at + 2]) &&
            writ_scan_digit(text.ptr[at + 3])) {
            size_t len = longest(text, at, IBAN_MOST, is_alnum, holds_iban);
            writ_scan_found(scan, WRIT_DETECTOR_IBAN, at, len);
        }
    }
}
