/* A guess that is only a name: it need not be right, and is always one that a configuration takes.
 */
#include "cli/commands/server_name.h"

#include "policy/model/host.h"

#define NAME_MAX_BYTES 32
#define FALLBACK       "tools"

static bool
is_one_of(struct writ_view word, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (writ_view_is(word, *words)) {
            return true;
        }
    }
    return false;
}

static bool
is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool
writ_server_name_is_url(struct writ_view operand)
{
    size_t equals = writ_view_find(operand, '=');
    struct writ_view url = writ_view_sub(operand, equals + 1, operand.len);

    return writ_view_has_prefix(operand, WRIT_LIT("http://")) ||
           writ_view_has_prefix(operand, WRIT_LIT("https://")) ||
           (equals < operand.len && (writ_view_has_prefix(url, WRIT_LIT("http://")) ||
                                        writ_view_has_prefix(url, WRIT_LIT("https://"))));
}

bool
writ_server_name_is_plain(struct writ_view text, size_t most)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!is_letter(text.ptr[i]) && text.ptr[i] != '-' && text.ptr[i] != '_') {
            return false;
        }
    }
    return text.len > 0 && text.len <= most;
}

WRIT_RESULT
writ_server_name_check(struct writ_view name, struct writ_err *err)
{
    bool good = writ_server_name_is_plain(name, NAME_MAX_BYTES) && is_letter(name.ptr[0]) &&
                is_letter(name.ptr[name.len - 1]) &&
                writ_view_search(name, WRIT_LIT("__")) == name.len &&
                writ_view_search(name, WRIT_LIT("_-")) == name.len;

    if (!good) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "the name of a server must be 1 to %d letters, digits, - and single _, and must begin "
            "and "
            "end with a letter or digit",
            NAME_MAX_BYTES);
    }
    return WRIT_DONE;
}

/* Everything but letters and digits becomes a hyphen; none at the ends, and no two together. */
WRIT_RESULT
writ_server_name_of_text(
    struct writ_view text, struct writ_arena *arena, struct writ_view *ret, struct writ_err *err)
{
    struct writ_buf name = writ_buf_in(arena, NAME_MAX_BYTES + 1);

    for (size_t i = 0; i < text.len && name.len < NAME_MAX_BYTES; i++) {
        if (is_letter(text.ptr[i])) {
            writ_buf_byte(&name, text.ptr[i]);
        } else if (name.len > 0 && name.ptr[name.len - 1] != '-') {
            writ_buf_byte(&name, '-');
        }
    }
    if (name.len > 0 && name.ptr[name.len - 1] == '-') {
        name.len--;
    }
    if (name.len == 0) {
        writ_buf_str(&name, FALLBACK);
    }
    WRIT_TRY(writ_buf_check(&name, err));
    *ret = writ_buf_view(&name);
    return WRIT_DONE;
}

WRIT_RESULT
writ_server_name_of_url(const struct writ_upstream_config *server, struct writ_arena *arena,
    struct writ_view *ret, struct writ_err *err)
{
    static const char *const generic[] = {"mcp", "api", "www", "localhost", NULL};
    struct writ_view host = server->host, label = writ_view(NULL, 0);
    bool number = true;

    for (size_t i = 0; i < host.len; i++) {
        number = number && (host.ptr[i] == '.' || host.ptr[i] == ':' ||
                               (host.ptr[i] >= '0' && host.ptr[i] <= '9'));
    }
    while (!number && host.len > 0 && (label.len == 0 || is_one_of(label, generic))) {
        size_t dot = writ_view_find(host, '.');
        label = writ_view_sub(host, 0, dot);
        host = writ_view_sub(host, dot + 1, host.len);
    }
    return writ_server_name_of_text(
        is_one_of(label, generic) ? writ_view(NULL, 0) : label, arena, ret, err);
}

/* The last part of a path that says something: .../server-everything/dist/index.js */
static struct writ_view
telling_part(struct writ_view word)
{
    static const char *const silent[] = {"index", "main", "dist", "build", "src", "bin", "lib",
        "cli", "server", "app", "start", "mcp", NULL};

    for (;;) {
        size_t slash = word.len;
        struct writ_view part;

        while (slash > 0 && word.ptr[slash - 1] != '/') {
            slash--;
        }
        part = writ_view_sub(word, slash, word.len);
        part =
            writ_view_sub(part, 0, writ_view_find(part, '@')); /* a version, the tag of an image */
        part = writ_view_sub(part, 0, writ_view_find(part, ':'));
        for (size_t dot = part.len; dot > 1; dot--) {
            if (part.ptr[dot - 1] == '.') {
                part.len = dot - 1;
                break;
            }
        }
        if (part.len > 0 && !is_one_of(part, silent)) {
            return part;
        }
        if (slash == 0) {
            return writ_view(NULL, 0);
        }
        word = writ_view_sub(word, 0, slash - 1);
    }
}

static struct writ_view
bare(struct writ_view name)
{
    static const char *const before[] = {
        "mcp-server-", "server-", "mcp-", "mcp_server_", "mcp_", NULL};
    static const char *const after[] = {"-mcp-server", "-server", "-mcp", "_mcp", "_server", NULL};

    for (size_t i = 0; before[i] != NULL; i++) {
        if (writ_view_has_prefix(name, writ_view_str(before[i]))) {
            name = writ_view_sub(name, writ_view_str(before[i]).len, name.len);
        }
    }
    for (size_t i = 0; after[i] != NULL; i++) {
        if (writ_view_has_suffix(name, writ_view_str(after[i]))) {
            name.len -= writ_view_str(after[i]).len;
        }
    }
    return name;
}

WRIT_RESULT
writ_server_name_of_command(const struct writ_upstream_config *server, struct writ_arena *arena,
    struct writ_view *ret, struct writ_err *err)
{
    static const char *const launchers[] = {"npx", "node", "npm", "exec", "bunx", "bun", "deno",
        "uvx", "uv", "pipx", "python", "python3", "run", "docker", "podman", "sh", "bash", "env",
        "tsx", NULL};
    struct writ_view name = writ_view(NULL, 0);

    for (size_t i = 0; i < server->stdio.n && name.len == 0; i++) {
        struct writ_view word = server->stdio.items[i];
        struct writ_view part = telling_part(word);

        if (word.len > 0 && word.ptr[0] != '-' && !is_one_of(part, launchers)) {
            name = bare(part);
        }
    }
    return writ_server_name_of_text(name, arena, ret, err);
}
