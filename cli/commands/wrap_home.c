/* Files are made in an order in which a wrap that is killed leaves nothing that the next one takes
 * for whole: the configuration comes last, and the file of a server appears with all of its text.
 */
#include "cli/commands/wrap_home.h"

#include "base/text.h"
#include "cli/base/cli.h"
#include "cli/commands/bearer.h"
#include "cli/commands/first_keys.h"
#include "cli/commands/setup_text.h"
#include "gateway/discover/discover.h"
#include "policy/propose/proposal_text.h"
#include "policy/propose/propose.h"
#include "policy/read/load.h"
#include "store/ledger/ledger.h"
#include "store/trusted/trusted.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_MAX_BYTES 4096
#define CONFIG_MAX     ((size_t)65536)
#define SERVER_MAX     (WRIT_PROPOSAL_TEXT_MAX + 65536)
#define AGENT          "agent"
#define DUE            "/gateway.due"
#define NOT_AGREED     "agreed: false"
#define AGREED         "agreed: true"

/* ---- paths ---- */

static WRIT_RESULT
join(struct writ_arena *arena, struct writ_view folder, const char *name, struct writ_view *ret,
    struct writ_err *err)
{
    struct writ_buf path = writ_buf_in(arena, PATH_MAX_BYTES);

    writ_buf_put(&path, folder);
    writ_buf_str(&path, name);
    writ_buf_byte(&path, '\0');
    WRIT_TRY(writ_buf_check(&path, err));
    *ret = writ_view(path.ptr, path.len - 1);
    return WRIT_DONE;
}

static WRIT_RESULT
make_folder(struct writ_view path, struct writ_err *err)
{
    if (mkdir(path.ptr, S_IRWXU) != 0 && errno != EEXIST) {
        WRIT_FAIL(err, WRIT_E_IO, "%s: %s", path.ptr, strerrordesc_np(errno));
    }
    return WRIT_DONE;
}

/* "<base>/writ", where base is the variable, or `below` in the home folder; all of it is made. */
static WRIT_RESULT
find_folder(struct writ_arena *arena, const char *variable, const char *const *below,
    struct writ_view *ret, struct writ_err *err)
{
    struct writ_view base = writ_view_str(getenv(variable));

    if (base.len == 0 || base.ptr[0] != '/') { /* as the specification of these folders says */
        base = writ_view_str(getenv("HOME"));
        if (base.len == 0 || base.ptr[0] != '/') {
            WRIT_FAIL(err, WRIT_E_INVALID, "neither %s nor HOME names a folder", variable);
        }
        for (; *below != NULL; below++) {
            WRIT_TRY(join(arena, base, *below, &base, err));
            WRIT_TRY(make_folder(base, err));
        }
    }
    WRIT_TRY(join(arena, base, "/writ", ret, err));
    return make_folder(*ret, err);
}

static WRIT_RESULT
is_there(struct writ_view path, bool *ret, struct writ_err *err)
{
    struct stat about;

    *ret = lstat(path.ptr, &about) == 0;
    if (!*ret && errno != ENOENT) {
        WRIT_FAIL(err, WRIT_E_IO, "%s: %s", path.ptr, strerrordesc_np(errno));
    }
    return WRIT_DONE;
}

/* Before anything is made: what others can write to would hold keys that are theirs. */
static WRIT_RESULT
take_lock(struct writ_wrap_home *home, struct writ_err *err)
{
    WRIT_AUTO(int, writ_trusted_close) folder = -1;
    const char *name = NULL;
    struct writ_view path;

    WRIT_TRY(join(home->arena, home->state, "/setup.lock", &path, err));
    WRIT_TRY(writ_trusted_folder(path.ptr, &folder, &name, err));
    home->lock = openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, WRIT_TRUSTED_OURS);
    if (home->lock < 0 || flock(home->lock, LOCK_EX) != 0) {
        WRIT_FAIL(err, WRIT_E_IO, "%s: %s", path.ptr, strerrordesc_np(errno));
    }
    return WRIT_DONE;
}

/* ---- the configuration ---- */

/* As a whole, or not at all: a gateway may read the folder at any time. */
static WRIT_RESULT
replace(struct writ_view path, struct writ_view text, struct writ_err *err)
{
    WRIT_AUTO(int, writ_trusted_close) folder = -1;
    const char *name = NULL;

    WRIT_TRY(writ_trusted_folder(path.ptr, &folder, &name, err));
    WRIT_TRY(writ_trusted_write(folder, name, WRIT_TRUSTED_OURS, text, err));
    return writ_trusted_sync(folder, err);
}

static WRIT_RESULT
make_token(const struct writ_wrap_home *home, const char *name, struct writ_digest *ret,
    struct writ_err *err)
{
    struct writ_buf token = writ_buf_make(WRIT_BEARER_MAKE_MAX);
    struct writ_view path;
    writ_result result = writ_bearer_make(&token, ret, err);

    if (writ_is_ok(result)) {
        result = join(home->arena, home->state, name, &path, err);
    }
    if (writ_is_ok(result)) {
        (void)unlink(path.ptr); /* of an earlier attempt: no configuration takes it */
        result = writ_cli_write_new(path.ptr, writ_buf_view(&token), err);
    }
    writ_buf_wipe_secret(&token);
    return result;
}

static void
put_config(const struct writ_wrap_home *home, const struct writ_digest *agent,
    const struct writ_digest *owner, struct writ_buf *ret)
{
    static const struct {
        const char *before, *after;
    } lines[] = {
        {"listen: \"unix:", "/writ.sock\"\n"},
        {"admin_listen: 127.0.0.1:0 # the page on which calls are approved; the links say where\n"
         "keys: \"",
            "/keys\"\n"},
        {"store: \"sqlite://", "/ledger.db\"\n"},
    };

    writ_buf_str(ret,
        "# Made by `writ wrap`: the gateway of all servers that it wraps. The tokens are in\n# ");
    writ_buf_put(ret, home->state);
    writ_buf_str(ret, "\n\n");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        writ_buf_str(ret, lines[i].before);
        writ_buf_put(ret, home->state);
        writ_buf_str(ret, lines[i].after);
    }
    writ_buf_str(ret, "include: servers # a file for each server\nloops: 1\n\n");
    writ_setup_text_agents(ret, WRIT_LIT(AGENT), agent, owner, true);
}

static WRIT_RESULT
make_keys(const char *path, const struct writ_clock *clock, struct writ_err *err)
{
    return writ_first_keys_make(path, clock, err);
}

static WRIT_RESULT
make_ledger(const char *path, const struct writ_clock *clock, struct writ_err *err)
{
    return writ_ledger_create(path, writ_view(NULL, 0), clock, err);
}

/* Makes it elsewhere, so that what has its name is whole; unless it is there already. */
static WRIT_RESULT
make_whole(const struct writ_wrap_home *home, const char *name,
    WRIT_RESULT (*make)(const char *path, const struct writ_clock *clock, struct writ_err *err),
    struct writ_err *err)
{
    struct writ_buf making = writ_buf_in(home->arena, PATH_MAX_BYTES);
    struct writ_view path, made;
    bool there = false;

    WRIT_TRY(join(home->arena, home->state, name, &path, err));
    WRIT_TRY(is_there(path, &there, err));
    if (there) {
        return WRIT_DONE;
    }
    writ_buf_put(&making, home->state);
    writ_buf_str(&making, "/new-XXXXXX");
    writ_buf_byte(&making, '\0');
    WRIT_TRY(writ_buf_check(&making, err));
    if (mkdtemp(making.ptr) == NULL) {
        WRIT_FAIL(err, WRIT_E_IO, "%s: %s", making.ptr, strerrordesc_np(errno));
    }
    WRIT_TRY(join(home->arena, writ_view_str(making.ptr), name, &made, err));
    WRIT_TRY(make(made.ptr, home->clock, err));
    if (rename(made.ptr, path.ptr) != 0 || rmdir(making.ptr) != 0) {
        WRIT_FAIL(err, WRIT_E_IO, "%s: %s", path.ptr, strerrordesc_np(errno));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
make_config(const struct writ_wrap_home *home, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(CONFIG_MAX);
    struct writ_digest agent, owner;

    WRIT_TRY(make_whole(home, "/keys", make_keys, err));
    WRIT_TRY(make_whole(home, "/ledger.db", make_ledger, err));
    WRIT_TRY(make_token(home, "/" AGENT ".token", &agent, err));
    WRIT_TRY(make_token(home, "/" WRIT_SETUP_OWNER ".token", &owner, err));
    put_config(home, &agent, &owner, &text);
    WRIT_TRY(writ_buf_check(&text, err));
    return replace(home->config, writ_buf_view(&text), err);
}

WRIT_RESULT
writ_wrap_home_open(struct writ_arena *arena, const struct writ_clock *clock,
    struct writ_wrap_home *ret, struct writ_err *err)
{
    static const char *const config_below[] = {"/.config", NULL};
    static const char *const state_below[] = {"/.local", "/state", NULL};
    struct writ_view folder;
    bool there = false;

    *ret = (struct writ_wrap_home){.arena = arena, .clock = clock, .lock = -1};
    WRIT_TRY(find_folder(arena, "XDG_CONFIG_HOME", config_below, &folder, err));
    WRIT_TRY(find_folder(arena, "XDG_STATE_HOME", state_below, &ret->state, err));
    WRIT_TRY(take_lock(ret, err));
    WRIT_TRY(join(arena, folder, "/writ.yaml", &ret->config, err));
    WRIT_TRY(join(arena, folder, "/servers", &ret->servers, err));
    WRIT_TRY(join(arena, ret->state, "/" AGENT ".token", &ret->token, err));
    WRIT_TRY(make_folder(ret->servers, err));
    WRIT_TRY(is_there(ret->config, &there, err));
    return there ? WRIT_DONE : make_config(ret, err);
}

void
writ_wrap_home_close(struct writ_wrap_home *home)
{
    writ_trusted_close(&home->lock);
}

/* ---- servers ---- */

WRIT_RESULT
writ_wrap_home_file(const struct writ_wrap_home *home, struct writ_view name, struct writ_view *ret,
    bool *ret_there, struct writ_err *err)
{
    writ_auto_buf file = writ_buf_make(WRIT_TRUSTED_NAME_MAX);

    writ_buf_byte(&file, '/');
    writ_buf_put(&file, name);
    writ_buf_str(&file, ".yaml");
    writ_buf_byte(&file, '\0');
    WRIT_TRY(writ_buf_check(&file, err));
    WRIT_TRY(join(home->arena, home->servers, file.ptr, ret, err));
    return is_there(*ret, ret_there, err);
}

WRIT_RESULT
writ_wrap_home_is_due(const struct writ_wrap_home *home, bool *ret, struct writ_err *err)
{
    struct writ_view path;

    WRIT_TRY(join(home->arena, home->state, DUE, &path, err));
    return is_there(path, ret, err);
}

WRIT_RESULT
writ_wrap_home_set_due(const struct writ_wrap_home *home, bool due, struct writ_err *err)
{
    struct writ_view path;

    WRIT_TRY(join(home->arena, home->state, DUE, &path, err));
    if (due) {
        return replace(path, WRIT_LIT("The gateway must start again: a server is new.\n"), err);
    }
    if (unlink(path.ptr) != 0 && errno != ENOENT) {
        WRIT_FAIL(err, WRIT_E_IO, "%s: %s", path.ptr, strerrordesc_np(errno));
    }
    return WRIT_DONE;
}

static void
found_freep(struct writ_discovered **found)
{
    writ_discover_free(*found);
}

static void
put_head(const struct writ_wrap_home *home, const struct writ_upstream_config *server,
    struct writ_buf *ret)
{
    char now[WRIT_TIME_TEXT];

    writ_time_format(writ_clock_wall_us(home->clock), now);
    writ_buf_fmt(ret,
        "# Proposed by `writ wrap` on %.10s, from what the server says of its tools. Every call "
        "is\n"
        "# refused until you agree: read the rules, replace each value that begins with REPLACE_,\n"
        "# and run: writ wrap --agree " WRIT_VIEW_FMT "\n" NOT_AGREED "\n\nupstreams:\n",
        now, WRIT_VIEW_ARG(server->name));
    writ_setup_text_server(ret, server);
    writ_buf_byte(ret, '\n');
}

WRIT_RESULT
writ_wrap_home_propose(const struct writ_wrap_home *home, const struct writ_upstream_config *server,
    struct writ_err *err)
{
    struct writ_discover_options options = {.clock = home->clock};
    WRIT_AUTO(struct writ_discovered *, found_freep) found = NULL;
    struct writ_proposal proposal = writ_propose_start(server->name, home->arena);
    writ_auto_buf text = writ_buf_make(SERVER_MAX);
    struct writ_view path;
    bool there = false;

    WRIT_TRY(writ_discover_tools(server, &options, &found, err));
    for (size_t i = 0; i < found->catalog->n; i++) {
        WRIT_TRY(writ_propose_tool(&proposal, found->definitions[i], err));
    }
    put_head(home, server, &text);
    writ_proposal_text_tools(&text, &proposal, 1, WRIT_LIT(WRIT_SETUP_OWNER));
    WRIT_TRY(writ_buf_check(&text, err));
    WRIT_TRY(writ_wrap_home_file(home, server->name, &path, &there, err));
    WRIT_INVARIANT(!there);
    return replace(path, writ_buf_view(&text), err);
}

/* Where a line begins that is this one, or the end. */
static size_t
find_line(struct writ_view text, struct writ_view line)
{
    for (size_t at = 0; at < text.len;) {
        struct writ_view rest = writ_view_sub(text, at, text.len);
        size_t end = writ_view_find(rest, '\n');

        if (writ_view_equal(writ_view_trim(writ_view_sub(rest, 0, end)), line)) {
            return at;
        }
        at += end + 1;
    }
    return text.len;
}

static WRIT_RESULT
check(const struct writ_wrap_home *home, struct writ_findings *findings, struct writ_err *err)
{
    struct writ_config *config = NULL;
    writ_result result = writ_load_file(home->config.ptr, findings, &config, err);

    writ_config_drop(config);
    return result;
}

WRIT_RESULT
writ_wrap_home_agree(const struct writ_wrap_home *home, struct writ_view name,
    struct writ_findings *findings, struct writ_err *err)
{
    writ_auto_buf before = writ_buf_make(SERVER_MAX), after = writ_buf_make(SERVER_MAX);
    struct writ_view path, text;
    bool there = false;
    writ_result result;
    size_t at;

    WRIT_TRY(writ_wrap_home_file(home, name, &path, &there, err));
    if (!there) {
        WRIT_FAIL(err, WRIT_E_ABSENT, "%s does not exist: wrap the server once", path.ptr);
    }
    WRIT_TRY(writ_text_file(path.ptr, SERVER_MAX, &before, err));
    text = writ_buf_view(&before);
    at = find_line(text, WRIT_LIT(NOT_AGREED));
    if (at == text.len) {
        if (find_line(text, WRIT_LIT(AGREED)) < text.len) {
            return WRIT_DONE;
        }
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: has no line `" NOT_AGREED "`", path.ptr);
    }
    writ_buf_put(&after, writ_view_sub(text, 0, at));
    writ_buf_str(&after, AGREED);
    writ_buf_put(&after, writ_view_sub(text, at + sizeof NOT_AGREED - 1, text.len));
    WRIT_TRY(writ_buf_check(&after, err));
    WRIT_TRY(replace(path, writ_buf_view(&after), err));
    result = check(home, findings, err);
    if (!writ_is_ok(result)) {
        WRIT_IGNORE(replace(path, text, NULL)); /* what is wrong is in `findings` */
    }
    return result;
}
