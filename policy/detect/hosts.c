/* Addresses of mail, and hosts that are not public. Each run of characters is read from its
 * beginning alone, and is cut off at a length that no address has. */
#include "policy/detect/scan.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#define LOCAL_MAX 64  /* bytes before the @ (RFC 5321 4.5.3.1.1) */
#define NAME_MAX  253 /* bytes of a host's name */

/* ---- mail */

static bool
is_local(char c)
{
    return writ_scan_alnum(c) || c == '.' || c == '_' || c == '%' || c == '+' || c == '-';
}

static bool
is_name(char c)
{
    return writ_scan_alnum(c) || c == '-' || c == '.';
}

/* The end of a name with a dot and a last label of letters; `at`: there is none. */
static size_t
name_end(struct writ_view text, size_t at)
{
    size_t end = at, label = at;

    while (end < text.len && end - at < NAME_MAX && is_name(text.ptr[end])) {
        end++;
    }
    while (end > at && !writ_scan_alnum(text.ptr[end - 1])) {
        end--;
    }
    for (size_t i = at; i < end; i++) {
        label = text.ptr[i] == '.' ? i + 1 : label;
    }
    return label > at + 1 && end >= label + 2 && writ_scan_letter(text.ptr[label]) &&
                   writ_scan_alnum(text.ptr[at])
               ? end
               : at;
}

void
writ_scan_email(struct writ_scan *scan)
{
    struct writ_view text = scan->text;

    for (size_t at = 1; at < text.len && !scan->stopped; at++) {
        size_t from = at, end;

        if (text.ptr[at] != '@') {
            continue;
        }
        while (from > 0 && at - from < LOCAL_MAX && is_local(text.ptr[from - 1])) {
            from--;
        }
        end = name_end(text, at + 1);
        if (from < at && end > at + 1) {
            writ_scan_found(scan, WRIT_DETECTOR_EMAIL, from, end - from);
        }
    }
}

/* ---- hosts */

static bool
is_private_v4(uint32_t address)
{
    static const struct {
        uint32_t network;
        unsigned bits;
    } networks[] = {
        {0x00000000, 8},  /* this network */
        {0x0a000000, 8},  /* RFC 1918 */
        {0xac100000, 12}, /* RFC 1918 */
        {0xc0a80000, 16}, /* RFC 1918 */
        {0x64400000, 10}, /* RFC 6598 */
        {0x7f000000, 8},  /* loopback */
        {0xa9fe0000, 16}, /* link-local, with the metadata service of most clouds */
        {0xa83f8110, 32}, /* the wire server of Azure */
    };

    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        if (((address ^ networks[i].network) >> (32 - networks[i].bits)) == 0) {
            return true;
        }
    }
    return false;
}

static bool
is_private_v6(const unsigned char address[16])
{
    bool zero = true;

    for (size_t i = 0; i < 10; i++) {
        zero = zero && address[i] == 0;
    }
    if (zero && ((address[10] == 0xff && address[11] == 0xff) ||
                    (address[10] == 0 && address[11] == 0))) { /* of IPv4, ::1 and :: */
        return is_private_v4((uint32_t)address[12] << 24 | (uint32_t)address[13] << 16 |
                             (uint32_t)address[14] << 8 | address[15]);
    }
    return (address[0] & 0xfe) == 0xfc || (address[0] == 0xfe && (address[1] & 0xc0) == 0x80);
}

/* A part of an address: decimal, or as inet_aton reads it 0x7f and 0177. */
static bool
read_part(struct writ_view part, bool odd, uint64_t *ret)
{
    bool hex = odd && part.len > 2 && part.ptr[0] == '0' && (part.ptr[1] | 0x20) == 'x';
    bool octal = odd && !hex && part.len > 1 && part.ptr[0] == '0';
    unsigned base = hex ? 16 : octal ? 8 : 10;
    uint64_t value = 0;

    for (size_t i = hex ? 2 : 0; i < part.len && i < 14; i++) {
        char c = (char)(part.ptr[i] | 0x20);
        unsigned digit = writ_scan_digit(part.ptr[i]) ? (unsigned)(part.ptr[i] - '0')
                         : c >= 'a' && c <= 'f'       ? (unsigned)(c - 'a' + 10)
                                                      : 16;
        if (digit >= base) {
            return false;
        }
        value = value * base + digit;
    }
    *ret = value;
    return part.len > 0 && part.len < 14;
}

/* a.b.c.d; odd: also what software makes an address of, such as 2130706433 and 127.1. */
static bool
read_v4(struct writ_view text, bool odd, uint32_t *ret)
{
    uint64_t parts[4] = {0}, address = 0;
    size_t n = 0;

    for (bool more = true; more; n++) {
        size_t dot = writ_view_find(text, '.');
        if (n == 4 || !read_part(writ_view_sub(text, 0, dot), odd, &parts[n])) {
            return false;
        }
        more = dot < text.len;
        text = writ_view_sub(text, dot + 1, text.len);
    }
    for (size_t i = 0; i + 1 < n; i++) {
        if (parts[i] > 255) {
            return false;
        }
        address |= parts[i] << (24 - 8 * i);
    }
    if ((!odd && n != 4) || parts[n - 1] >= UINT64_C(1) << (8 * (5 - n))) {
        return false;
    }
    *ret = (uint32_t)(address | parts[n - 1]);
    return true;
}

static bool
ends_with(struct writ_view name, struct writ_view suffix)
{
    struct writ_view own = writ_view_sub(suffix, 1, suffix.len);

    return writ_view_equal_nocase(name, own) ||
           (name.len > suffix.len &&
               writ_view_equal_nocase(
                   writ_view_sub(name, name.len - suffix.len, name.len), suffix));
}

static bool
is_private_name(struct writ_view name)
{
    return ends_with(name, WRIT_LIT(".localhost")) ||
           (writ_view_find(name, '.') < name.len &&
               (ends_with(name, WRIT_LIT(".local")) || ends_with(name, WRIT_LIT(".internal")) ||
                   ends_with(name, WRIT_LIT(".home.arpa"))));
}

/* Whether // or :/ stands before `at`; the 2 of "1/2 teaspoon" is no host. */
static bool
follows_scheme(struct writ_view text, size_t at)
{
    char before = at > 1 ? text.ptr[at - 2] : '\0';

    return writ_scan_byte(text, at - 1) == '/' &&
           (before == '/' || before == ':' || before == '\\');
}

/* A name or an IPv4 address that begins at `at`; its end. */
static size_t
try_name(struct writ_scan *scan, size_t at)
{
    struct writ_view text = scan->text;
    bool url = writ_scan_byte(text, at - 1) == '@' || follows_scheme(text, at);
    size_t end = at, stop;
    struct writ_view name;
    uint32_t address;

    while (end < text.len && is_name(text.ptr[end])) {
        end++;
    }
    stop = end;
    while (stop > at && !writ_scan_alnum(text.ptr[stop - 1])) {
        stop--;
    }
    name = writ_view_sub(text, at, stop - at);
    if (name.len <= NAME_MAX && writ_scan_byte(text, end) != '_' &&
        (read_v4(name, url, &address) ? is_private_v4(address) : is_private_name(name))) {
        writ_scan_found(scan, WRIT_DETECTOR_PRIVATE_HOST, at, stop - at);
    }
    return end;
}

static bool
is_v6(char c)
{
    return writ_scan_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') || c == ':' || c == '.';
}

/* An IPv6 address that begins at `at`. */
static void
try_v6(struct writ_scan *scan, size_t at)
{
    char text[INET6_ADDRSTRLEN];
    unsigned char address[16];
    size_t n = 0, colons = 0;

    while (is_v6(writ_scan_byte(scan->text, at + n)) && n + 1 < sizeof text) {
        text[n] = scan->text.ptr[at + n];
        colons += text[n] == ':' ? 1 : 0;
        n++;
    }
    while (n > 0 && (text[n - 1] == '.' || (text[n - 1] == ':' && (n < 2 || text[n - 2] != ':')))) {
        n--;
    }
    text[n] = '\0';
    if (colons >= 2 && n > 2 && !writ_scan_alnum(writ_scan_byte(scan->text, at + n)) &&
        inet_pton(AF_INET6, text, address) == 1 && is_private_v6(address)) {
        writ_scan_found(scan, WRIT_DETECTOR_PRIVATE_HOST, at, n);
    }
}

void
writ_scan_host(struct writ_scan *scan)
{
    struct writ_view text = scan->text;

    for (size_t at = 0; at < text.len && !scan->stopped; at++) {
        char before = writ_scan_byte(text, at - 1);

        if (writ_scan_alnum(before) || before == '_') {
            continue;
        }
        if (is_v6(text.ptr[at]) && text.ptr[at] != '.' && before != ':' && before != '.') {
            try_v6(scan, at);
        }
        if (writ_scan_alnum(text.ptr[at]) && before != '.' && before != '-') {
            at = try_name(scan, at);
        }
    }
}
