/* mhd_0_9_75.c - libmicrohttpd 0.9.75 (Debian 12). Goes when Debian 12 goes.
 *
 * It ends tokens in place: a well-formed head has one NUL in place of a space, colon or '?', and
 * two in place of CR LF. Any other distance between two tokens is a bare LF, a folded line, a NUL
 * that cut a token, or white space where none may be; after the cut no token shows it. */
#include "gateway/listener/mhd.h"

#define VERSION "0.9.75"

WRIT_RESULT
writ_mhd_check(struct writ_err *err)
{
    if (!writ_view_is(writ_view_str(MHD_get_version()), VERSION)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "listener: libmicrohttpd is %s; this was built for %s alone",
            MHD_get_version(), VERSION);
    }
    return WRIT_DONE;
}

unsigned
writ_mhd_flags(void)
{
    return 0;
}

struct MHD_OptionItem
writ_mhd_option(void)
{
    return (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
}

struct walk {
    const char *at, *end;
};

/* The token begins exactly here; advances past it. */
static bool
step_token(struct walk *walk, struct writ_view token)
{
    if (token.ptr != walk->at || token.len > (size_t)(walk->end - walk->at)) {
        return false;
    }
    walk->at += token.len;
    return true;
}

static bool
step_nuls(struct walk *walk, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (walk->at == walk->end || *walk->at != '\0') {
            return false;
        }
        walk->at++;
    }
    return true;
}

bool
writ_mhd_is_strict(struct writ_view raw, const struct writ_framing_head *head)
{
    struct walk walk = {raw.ptr, raw.ptr + raw.len};

    if (!step_token(&walk, head->method) || !step_nuls(&walk, 1) ||
        !step_token(&walk, head->target) || !step_nuls(&walk, 1) ||
        !step_token(&walk, head->version) || !step_nuls(&walk, 2)) {
        return false;
    }
    for (size_t i = 0; i < head->count; i++) {
        if (!step_token(&walk, head->headers[i].name) || !step_nuls(&walk, 1)) {
            return false;
        }
        while (walk.at < walk.end && (*walk.at == ' ' || *walk.at == '\t')) {
            walk.at++;
        }
        if (!step_token(&walk, head->headers[i].value) || !step_nuls(&walk, 2)) {
            return false;
        }
    }
    return step_nuls(&walk, 2) && walk.at == walk.end;
}

/* When the end of a chunked body comes in two pieces, the last field of the head is listed once
 * more, as a trailer. */
bool
writ_mhd_is_trailer(struct writ_view raw, const char *name)
{
    return (uintptr_t)name < (uintptr_t)raw.ptr || (uintptr_t)name >= (uintptr_t)raw.ptr + raw.len;
}
