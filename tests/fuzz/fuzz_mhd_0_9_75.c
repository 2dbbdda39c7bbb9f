/* What mhd.h and framing.h accept, from memory split as libmicrohttpd splits it, is a head of
 * the strict grammar (RFC 9112 2-5), byte for byte. The one exception is NUL LF in place of CR LF,
 * which leaves the same memory behind (docs/security-limits.md). */
#include "support/fuzz.h"

#include "gateway/listener/mhd.h"

#define INPUT_MAX 8192

static char memory[INPUT_MAX];
static struct writ_header headers[WRIT_FRAMING_FIELDS_MAX];

/* ---- the other parser's way to split */

static size_t
line_end(size_t at, size_t len)
{
    while (at < len && memory[at] != '\n') {
        at++;
    }
    return at;
}

/* Ends the line and gives where the next one begins. */
static size_t
end_line(size_t end)
{
    if (end > 0 && memory[end - 1] == '\r') {
        memory[end - 1] = '\0';
    }
    memory[end] = '\0';
    return end + 1;
}

/* The request line: up to the first space, between, from the last space. */
static bool
split_line(size_t end, struct writ_framing_head *ret)
{
    struct writ_view line = writ_view(memory, end);
    size_t first = writ_view_find(line, ' '), last = end;

    while (last > 0 && memory[last - 1] != ' ') {
        last--;
    }
    if (first == end || last == 0 || last - 1 <= first) {
        return false;
    }
    memory[first] = memory[last - 1] = '\0';
    (void)end_line(end);
    ret->method = writ_view_str(memory);
    ret->target = writ_view_str(memory + first + 1);
    ret->version = writ_view_str(memory + last);
    return true;
}

/* Fields up to the empty line; gives the end of the head, or 0. A folded line becomes a separate
 * field, which every check must refuse. */
static size_t
split_fields(size_t at, size_t len, struct writ_framing_head *ret)
{
    while (at < len) {
        size_t end = line_end(at, len), next;
        struct writ_view name;

        if (end == len || ret->count == WRIT_FRAMING_FIELDS_MAX) {
            return 0;
        }
        next = end_line(end);
        name = writ_view_str(memory + at);
        if (name.len == 0) {
            return next;
        }
        if (writ_view_find(name, ':') == name.len) {
            return 0;
        }
        memory[at + writ_view_find(name, ':')] = '\0';
        name = writ_view_str(memory + at);
        at += name.len + 1;
        while (memory[at] == ' ' || memory[at] == '\t') {
            at++;
        }
        headers[ret->count++] = (struct writ_header){name, writ_view_str(memory + at)};
        at = next;
    }
    return 0;
}

/* ---- the strict grammar, on the bytes as they were */

static bool
is_strict_field(struct writ_view line)
{
    size_t colon = writ_view_find(line, ':');

    return colon < line.len && writ_framing_is_token(writ_view_sub(line, 0, colon)) &&
           writ_framing_is_value(writ_view_sub(line, colon + 1, line.len));
}

static bool
is_strict(struct writ_view head)
{
    bool first = true;

    while (head.len > 0) {
        size_t end = writ_view_search(head, WRIT_LIT("\r\n"));
        struct writ_view line = writ_view_sub(head, 0, end);

        if (end == head.len || writ_view_find(line, '\n') < line.len) {
            return false;
        }
        head = writ_view_sub(head, end + 2, head.len);
        if (line.len == 0) {
            return head.len == 0;
        }
        if (first) {
            size_t space = writ_view_find(line, ' ');
            struct writ_view rest = writ_view_sub(line, space + 1, line.len);
            if (!writ_framing_is_token(writ_view_sub(line, 0, space)) ||
                writ_view_find(rest, ' ') + 9 != rest.len ||
                !writ_view_has_prefix(writ_view_sub(rest, rest.len - 8, 8), WRIT_LIT("HTTP/1.")) ||
                !writ_framing_is_value(line)) {
                return false;
            }
            first = false;
        } else if (!is_strict_field(line)) {
            return false;
        }
    }
    return false;
}

static void
check_accepted(const struct writ_framing *framing)
{
    WRIT_INVARIANT(framing->path.len > 0 && framing->path.ptr[0] == '/');
    WRIT_INVARIANT(writ_framing_is_host(framing->host));
    WRIT_INVARIANT(!framing->chunked || framing->content_length == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_framing_head head = {.headers = headers};
    struct writ_framing_fault fault = {0};
    struct writ_framing framing = {0};
    size_t len = size < INPUT_MAX - 1 ? size : INPUT_MAX - 1, line, end;

    for (size_t i = 0; i < len; i++) {
        memory[i] = (char)data[i];
    }
    memory[len] = '\0';
    line = line_end(0, len);
    if (line == len || !split_line(line, &head)) {
        return 0;
    }
    end = split_fields(line + 1, len, &head);
    if (end == 0 || !writ_mhd_is_strict(writ_view(memory, end), &head)) {
        return 0;
    }
    if (!writ_is_ok(writ_framing_read(&head, &framing, &fault))) {
        WRIT_INVARIANT(fault.status >= 400 && fault.status <= 505);
        WRIT_INVARIANT(fault.reason != WRIT_REASON_NONE);
        WRIT_INVARIANT(framing.path.ptr == NULL);
        return 0;
    }
    check_accepted(&framing);
    for (size_t i = 0; i < end; i++) {
        bool ends = data[i] == '\0' && i + 1 < end && data[i + 1] == '\n';
        memory[i] = ends ? '\r' : (char)data[i];
    }
    WRIT_INVARIANT(is_strict(writ_view(memory, end)));
    return 0;
}
