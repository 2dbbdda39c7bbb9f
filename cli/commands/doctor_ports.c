/* The listeners' addresses: free, or of the running gateway of this configuration. A socket is
 * bound for a moment, and nothing ever listens on it. A gateway is known by its public keys, and
 * where they cannot be fetched by the lock of its ledger. */
#include "base/text.h"
#include "cli/commands/doctor.h"
#include "gateway/http/fetch.h"
#include "gateway/http/ipport.h"
#include "store/disk/file.h"

#include <errno.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#define FETCH_MS 5000
#define URL_MAX  512

enum port {
    PORT_UNKNOWN = 0, /* chosen at the start, or cannot be tried */
    PORT_FREE,
    PORT_USED,
};

/* ---- is it used? */

static enum port
try_socket(struct writ_view path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd;
    bool used;

    if (path.len >= sizeof address.sun_path) {
        return PORT_UNKNOWN;
    }
    (void)writ_view_place(path, address.sun_path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return PORT_UNKNOWN;
    }
    used = connect(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    (void)close(fd);
    return used ? PORT_USED : PORT_FREE;
}

static WRIT_RESULT
read_address(const struct writ_listen_address *at, union writ_ipport *ret)
{
    writ_auto_buf text = writ_buf_make(URL_MAX);

    writ_buf_fmt(&text, at->ipv6 ? "[" WRIT_VIEW_FMT "]:%u" : WRIT_VIEW_FMT ":%u",
        WRIT_VIEW_ARG(at->host), (unsigned)at->port);
    return writ_ipport_read(writ_buf_view(&text), ret, NULL);
}

static enum port
try_port(struct writ_doctor *d, const struct writ_listen_address *at, const char *option)
{
    union writ_ipport address = {0};
    int fd, on = 1, error = 0;

    if (at->port == 0 || !writ_is_ok(read_address(at, &address))) {
        return PORT_UNKNOWN;
    }
    fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return PORT_UNKNOWN;
    }
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(fd, &address.any, writ_ipport_len(&address)) != 0) {
        error = errno;
    }
    (void)close(fd);
    if (error == EADDRINUSE) {
        return PORT_USED;
    }
    if (error != 0) {
        writ_doctor_add(d, WRIT_DOCTOR_PORT_UNUSABLE, writ_doctor_option(d, option),
            WRIT_VIEW_FMT ": %s", WRIT_VIEW_ARG(at->text), strerrordesc_np(error));
        return PORT_UNKNOWN;
    }
    return PORT_FREE;
}

/* ---- by whom? */

/* The URL under which this machine reaches a listener, NUL-terminated. */
static void
put_url(const struct writ_listen_address *at, bool tls, struct writ_buf *ret)
{
    union writ_ipport address = {0};

    if (at->path.len > 0 || at->port == 0 || !writ_is_ok(read_address(at, &address))) {
        return;
    }
    writ_buf_str(ret, tls ? "https://" : "http://");
    if (writ_ipport_is_wildcard(&address)) {
        writ_buf_fmt(ret, "%s:%u", at->ipv6 ? "[::1]" : "127.0.0.1", (unsigned)at->port);
    } else {
        char text[WRIT_IPPORT_TEXT];

        writ_buf_put(ret, writ_ipport_text(&address, true, text));
    }
}

static bool
has_our_key(const struct writ_doctor *d, struct writ_view jwks)
{
    for (size_t i = 0; d->ring != NULL && i < writ_keyring_count(d->ring); i++) {
        const struct writ_keyring_key *key = writ_keyring_key(d->ring, i);

        if (key->purpose == WRIT_KEY_PURPOSE_CREDENTIAL &&
            writ_view_search(jwks, writ_keyring_kid(key)) < jwks.len) {
            return true;
        }
    }
    return false;
}

static bool
publishes_our_keys(const struct writ_doctor *d)
{
    const struct writ_config *config = d->config;
    writ_auto_buf url = writ_buf_make(URL_MAX);
    writ_auto_buf body = writ_buf_make(WRIT_JWKS_BYTES_MAX);
    struct writ_fetch_request request = {
        .ca_file = config->tls.cert.len > 0 ? config->tls.cert.ptr : NULL};
    long status = 0;

    put_url(&config->listen, config->tls.cert.len > 0, &url);
    if (url.len == 0) {
        return false;
    }
    writ_buf_str(&url, "/.well-known/jwks.json");
    writ_buf_byte(&url, '\0');
    return writ_is_ok(writ_fetch_ask(url.ptr, &request, FETCH_MS, NULL, &status, &body, NULL)) &&
           has_our_key(d, writ_buf_view(&body));
}

static bool
ledger_is_locked(const struct writ_doctor *d)
{
    WRIT_AUTO(struct writ_file, writ_file_wipe) file = {0};

    return writ_is_ok(writ_file_name(d->config->store.ptr, &file, NULL)) &&
           writ_file_is_locked(&file);
}

/* ---- the admin listener, for other machines */

/* Whether `url`, or the listener's own address, has the authority `host`. */
static bool
has_authority(const struct writ_config *config, struct writ_view host)
{
    struct writ_view rest = config->admin_url;
    size_t scheme = writ_view_search(rest, WRIT_LIT("://"));

    rest = writ_view_sub(rest, scheme < rest.len ? scheme + 3 : rest.len, rest.len);
    rest = writ_view_sub(rest, 0, writ_view_find(rest, '/'));
    return writ_view_equal_nocase(host, rest) ||
           writ_view_equal_nocase(host, config->admin_listen.text);
}

static void
look_at_admin(struct writ_doctor *d)
{
    const struct writ_config *config = d->config;
    const struct writ_listen_address *admin = &config->admin_listen;

    if (admin->text.len == 0) {
        return;
    }
    if (!admin->loopback && config->admin_tls.cert.len == 0) {
        writ_doctor_add(d, WRIT_DOCTOR_ADMIN_EXPOSED, writ_doctor_option(d, "/admin_listen"),
            WRIT_VIEW_FMT " is not a loopback address, and there is no admin_tls",
            WRIT_VIEW_ARG(admin->text));
    } else if (!admin->loopback && config->admin_tls.client_ca.len == 0) {
        writ_doctor_add(d, WRIT_DOCTOR_ADMIN_OPEN, writ_doctor_option(d, "/admin_listen"),
            WRIT_VIEW_FMT " is not a loopback address, and admin_tls has no client_ca",
            WRIT_VIEW_ARG(admin->text));
    }
    for (size_t i = 0; i < config->hosts.n; i++) {
        if (has_authority(config, config->hosts.items[i])) {
            writ_doctor_add(d, WRIT_DOCTOR_ADMIN_EXPOSED, writ_doctor_option(d, "/hosts"),
                "\"" WRIT_VIEW_FMT "\" is also the admin listener",
                WRIT_VIEW_ARG(config->hosts.items[i]));
        }
    }
}

static void
add_taken(struct writ_doctor *d, const struct writ_listen_address *at, const char *option)
{
    writ_doctor_add(d, WRIT_DOCTOR_PORT_TAKEN, writ_doctor_option(d, option),
        WRIT_VIEW_FMT " is used, and not by the gateway of this configuration",
        WRIT_VIEW_ARG(at->text));
}

WRIT_RESULT
writ_doctor_ports(struct writ_doctor *d, struct writ_err *err)
{
    const struct writ_config *config = d->config;
    const struct writ_listen_address *listen = &config->listen, *admin = &config->admin_listen;
    enum port mcp =
        listen->path.len > 0 ? try_socket(listen->path) : try_port(d, listen, "/listen");
    enum port other = PORT_UNKNOWN;
    struct writ_buf url = writ_buf_in(d->arena, URL_MAX);

    (void)err;
    if (admin->text.len > 0) {
        other = admin->path.len > 0 ? try_socket(admin->path) : try_port(d, admin, "/admin_listen");
    }
    d->running = ledger_is_locked(d) || (mcp == PORT_USED && publishes_our_keys(d));
    if (!d->running && mcp == PORT_USED) {
        add_taken(d, listen, "/listen");
    }
    if (!d->running && other == PORT_USED) {
        add_taken(d, admin, "/admin_listen");
    }
    look_at_admin(d);
    if (d->running && other == PORT_USED) {
        put_url(admin, config->admin_tls.cert.len > 0, &url);
        d->admin_url = writ_buf_view(&url);
    }
    return WRIT_DONE;
}
