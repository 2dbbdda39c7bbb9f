/* A TCP or TLS server that plays scripts: each connection has its own thread and script, and reads
 * or sends exactly the scripted bytes. */
#include "support/gateway/peer.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS_MAX 1024
#define SCRIPTS_MAX     16
#define REQUEST_MAX     (1 << 20)

struct link {
    struct peer *peer;
    const struct peer_step *script;
    pthread_t thread;
    int fd;
    bool open;
    SSL *ssl;
    char *request;
    size_t len;
};

struct peer {
    struct peer_options options;
    const struct peer_step *scripts[SCRIPTS_MAX];
    SSL_CTX *tls;
    int fd;
    uint16_t port;
    pthread_t thread;
    pthread_mutex_t lock; /* of everything below, and of link.open */
    pthread_cond_t changed;
    struct link *links[CONNECTIONS_MAX];
    size_t connections, requests, going;
    bool closing;
    char *last;
};

static ssize_t
link_read(struct link *link, char *to, size_t max)
{
    return link->ssl != NULL ? SSL_read(link->ssl, to, (int)max) : recv(link->fd, to, max, 0);
}

static bool
link_write(struct link *link, const char *from, size_t len)
{
    while (len > 0) {
        ssize_t done = link->ssl != NULL ? SSL_write(link->ssl, from, (int)len)
                                         : send(link->fd, from, len, MSG_NOSIGNAL);
        if (done <= 0) {
            return false;
        }
        from += done;
        len -= (size_t)done;
    }
    return true;
}

/* how long the request is, or 0 while its head is not whole */
static size_t
request_length(const char *text)
{
    const char *end = strstr(text, "\r\n\r\n"), *length = strcasestr(text, "content-length: ");

    if (end == NULL) {
        return 0;
    }
    return (size_t)(end - text) + 4 +
           (length != NULL && length < end ? strtoul(length + 16, NULL, 10) : 0);
}

static bool
read_request(struct link *link)
{
    struct peer *peer = link->peer;
    size_t want = 0;

    link->len = 0;
    link->request[0] = '\0';
    while (want == 0 || link->len < want) {
        ssize_t got = link_read(link, link->request + link->len, REQUEST_MAX - link->len);
        if (got <= 0) {
            return false;
        }
        link->len += (size_t)got;
        link->request[link->len] = '\0';
        want = request_length(link->request);
    }
    (void)pthread_mutex_lock(&peer->lock);
    peer->requests++;
    memcpy(peer->last, link->request, link->len + 1);
    if (peer->options.on_request != NULL) {
        peer->options.on_request(peer->options.ctx, link->request);
    }
    (void)pthread_cond_broadcast(&peer->changed);
    (void)pthread_mutex_unlock(&peer->lock);
    return true;
}

static bool
wait_to_go(struct peer *peer)
{
    bool closing;

    (void)pthread_mutex_lock(&peer->lock);
    while (peer->going == 0 && !peer->closing) {
        (void)pthread_cond_wait(&peer->changed, &peer->lock);
    }
    closing = peer->closing;
    peer->going -= peer->going > 0 ? 1 : 0;
    (void)pthread_mutex_unlock(&peer->lock);
    return !closing;
}

static bool
fill(struct link *link, size_t count)
{
    char block[4096];

    memset(block, 'x', sizeof block);
    while (count > 0) {
        size_t len = count < sizeof block ? count : sizeof block;
        if (!link_write(link, block, len)) {
            return false;
        }
        count -= len;
    }
    return true;
}

static bool
run_step(struct link *link, const struct peer_step *step)
{
    struct linger reset = {.l_onoff = 1, .l_linger = 0};
    size_t len = step->text == NULL ? 0 : step->count > 0 ? step->count : strlen(step->text);
    char dropped[4096];

    switch (step->what) {
    case PEER_READ:
        return read_request(link);
    case PEER_SEND:
        return link_write(link, step->text, len);
    case PEER_DRIP:
        for (size_t i = 0; i < len; i++) {
            if (!link_write(link, step->text + i, 1)) {
                return false;
            }
        }
        return true;
    case PEER_FILL:
        return fill(link, step->count);
    case PEER_WAIT:
        return wait_to_go(link->peer);
    case PEER_HANG:
        while (link_read(link, dropped, sizeof dropped) > 0) {
        }
        return false;
    case PEER_SHUT:
        return shutdown(link->fd, SHUT_WR) == 0;
    case PEER_RESET:
        (void)setsockopt(link->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        return false;
    case PEER_END:
    case PEER_AGAIN:
        break;
    }
    return false;
}

static void *
link_main(void *arg)
{
    struct link *link = arg;
    const struct peer_step *step = link->script;
    sigset_t set;
    int one = 1;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
    (void)setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (link->ssl == NULL || SSL_accept(link->ssl) == 1) {
        while (run_step(link, step) || step->what == PEER_AGAIN) {
            step = step->what == PEER_AGAIN ? link->script : step + 1;
        }
        if (link->ssl != NULL && step->what == PEER_END) {
            (void)SSL_shutdown(link->ssl);
        }
    }
    SSL_free(link->ssl);
    (void)pthread_mutex_lock(&link->peer->lock);
    link->open = false;
    (void)close(link->fd);
    (void)pthread_mutex_unlock(&link->peer->lock);
    return NULL;
}

static void
add_link(struct peer *peer, int fd)
{
    struct link *link = calloc(1, sizeof *link);
    size_t script;

    (void)pthread_mutex_lock(&peer->lock);
    ck_assert(link != NULL && peer->connections < CONNECTIONS_MAX);
    script = peer->connections < peer->options.count ? peer->connections : peer->options.count - 1;
    link->peer = peer;
    link->script = peer->scripts[script];
    link->fd = fd;
    link->open = true;
    link->request = calloc(1, REQUEST_MAX + 1);
    if (peer->tls != NULL) {
        link->ssl = SSL_new(peer->tls);
        (void)SSL_set_fd(link->ssl, fd);
    }
    peer->links[peer->connections++] = link;
    ck_assert_int_eq(pthread_create(&link->thread, NULL, link_main, link), 0);
    (void)pthread_cond_broadcast(&peer->changed);
    (void)pthread_mutex_unlock(&peer->lock);
}

static void *
accept_main(void *arg)
{
    struct peer *peer = arg;
    int fd;

    do {
        fd = accept4(peer->fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0) {
            add_link(peer, fd);
        }
    } while (fd >= 0 || errno == EMFILE); /* a test may take all descriptors for a while */
    return NULL;
}

static void
open_tls(struct peer *peer)
{
    const struct peer_options *options = &peer->options;

    peer->tls = SSL_CTX_new(TLS_server_method());
    ck_assert_int_eq(SSL_CTX_use_certificate_chain_file(peer->tls, options->cert_file), 1);
    ck_assert_int_eq(
        SSL_CTX_use_PrivateKey_file(peer->tls, options->key_file, SSL_FILETYPE_PEM), 1);
    if (options->client_ca_file != NULL) {
        ck_assert_int_eq(SSL_CTX_load_verify_file(peer->tls, options->client_ca_file), 1);
        SSL_CTX_set_verify(peer->tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
        (void)SSL_CTX_set_session_id_context(peer->tls, (const unsigned char *)"writ", 4);
    }
}

struct peer *
peer_open(const struct peer_options *options)
{
    struct peer *peer = calloc(1, sizeof *peer);
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    const struct sockaddr *address =
        options->ipv6 ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4;
    socklen_t len = options->ipv6 ? sizeof v6 : sizeof v4;

    ck_assert_ptr_nonnull(peer);
    peer->options = *options;
    ck_assert_uint_le(options->count, SCRIPTS_MAX);
    for (size_t i = 0; i < options->count; i++) {
        peer->scripts[i] = options->scripts[i];
    }
    peer->last = calloc(1, REQUEST_MAX + 1);
    (void)pthread_mutex_init(&peer->lock, NULL);
    (void)pthread_cond_init(&peer->changed, NULL);
    if (options->cert_file != NULL) {
        open_tls(peer);
    }
    peer->fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(peer->fd, address, len), 0);
    ck_assert_int_eq(listen(peer->fd, 512), 0);
    ck_assert_int_eq(getsockname(peer->fd, (struct sockaddr *)address, &len), 0);
    peer->port = ntohs(options->ipv6 ? v6.sin6_port : v4.sin_port);
    ck_assert_int_eq(pthread_create(&peer->thread, NULL, accept_main, peer), 0);
    return peer;
}

uint16_t
peer_port(const struct peer *peer)
{
    return peer->port;
}

void
peer_go(struct peer *peer)
{
    (void)pthread_mutex_lock(&peer->lock);
    peer->going++;
    (void)pthread_cond_broadcast(&peer->changed);
    (void)pthread_mutex_unlock(&peer->lock);
}

static void
await(struct peer *peer, const size_t *value, size_t least)
{
    (void)pthread_mutex_lock(&peer->lock);
    while (*value < least) {
        (void)pthread_cond_wait(&peer->changed, &peer->lock);
    }
    (void)pthread_mutex_unlock(&peer->lock);
}

void
peer_await_connections(struct peer *peer, size_t count)
{
    await(peer, &peer->connections, count);
}

void
peer_await_requests(struct peer *peer, size_t count)
{
    await(peer, &peer->requests, count);
}

static size_t
get(struct peer *peer, const size_t *value)
{
    size_t got;

    (void)pthread_mutex_lock(&peer->lock);
    got = *value;
    (void)pthread_mutex_unlock(&peer->lock);
    return got;
}

size_t
peer_connections(struct peer *peer)
{
    return get(peer, &peer->connections);
}

size_t
peer_requests(struct peer *peer)
{
    return get(peer, &peer->requests);
}

void
peer_last(struct peer *peer, char *ret, size_t max)
{
    (void)pthread_mutex_lock(&peer->lock);
    strncpy(ret, peer->last, max - 1);
    ret[max - 1] = '\0';
    (void)pthread_mutex_unlock(&peer->lock);
}

void
peer_close(struct peer *peer)
{
    (void)shutdown(peer->fd, SHUT_RDWR);
    (void)pthread_join(peer->thread, NULL);
    (void)close(peer->fd);
    (void)pthread_mutex_lock(&peer->lock);
    peer->closing = true;
    (void)pthread_cond_broadcast(&peer->changed);
    for (size_t i = 0; i < peer->connections; i++) {
        if (peer->links[i]->open) {
            (void)shutdown(peer->links[i]->fd, SHUT_RDWR);
        }
    }
    (void)pthread_mutex_unlock(&peer->lock);
    for (size_t i = 0; i < peer->connections; i++) {
        (void)pthread_join(peer->links[i]->thread, NULL);
        free(peer->links[i]->request);
        free(peer->links[i]);
    }
    SSL_CTX_free(peer->tls);
    (void)pthread_mutex_destroy(&peer->lock);
    (void)pthread_cond_destroy(&peer->changed);
    free(peer->last);
    free(peer);
}
