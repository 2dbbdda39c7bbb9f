/* floor.c - the least proxy on libmicrohttpd, and the least one that governs: what they cost.
 *
 *     floor PORT UPSTREAM_PORT --pool=BYTES
 *     floor PORT UPSTREAM_PORT --pool=BYTES --log=FILE
 *
 * Both forward every POST to 127.0.0.1:UPSTREAM_PORT, and answer a GET themselves, to show that
 * they run. BYTES is libmicrohttpd's memory for a connection. With FILE, each request has what
 * governing cannot do without: two digests, two records on disk, one signature. There is no
 * identity, no JSON, no policy, no claim and no proof; no program reads FILE.
 *
 * Invariants:
 *  (1) a request is suspended from the end of its body until its answer is known. libmicrohttpd
 *      closes no connection that is suspended, so the request lives until then even when its client
 *      has left. Only on_completed gives it back.
 *  (2) the writer has a request only between submit and take_back; the loop does not use it then.
 *  (3) a request waits for the writer at most once at a time, so a group has room for one record of
 *      each connection.
 *
 * The loop is one thread, the writer another. An error ends the program, which fails the run. */
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <getopt.h>
#include <microhttpd.h>
#include <netinet/tcp.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS  1000
#define EVENTS       256
#define BODY_ROOM    8192
#define ANSWER_FIRST 8192 /* room for an answer until its length is known; for its head */
#define ANSWER_MAX   (64 << 20)
#define HEAD_ROOM    2048
#define PATH_ROOM    512 /* of a head that is forwarded */
#define TYPE_ROOM    128
#define DIGEST_BYTES 32
#define POOL_MIN     1024
#define POOL_MAX     (1 << 20)

/* The sizes of what the gateway makes for a call of the benchmark. */
#define RECORD_BYTES     1500
#define CREDENTIAL_BYTES 500
#define CHECKPOINT_BYTES 200
#define SIGNED_GROUPS    8 /* a signature covers so many groups */

#define ED25519_BYTES 64
#define ES256_ROOM    80                                /* of its DER form */
#define BASE64(n)     (((n) + 2) / 3 * 4 + 1)           /* with the byte 0 at its end */
#define ENTRY_BYTES   (RECORD_BYTES + 3 * DIGEST_BYTES) /* of a group */
#define BLOCK_BYTES   4096
#define GROUP_ROOM    (2 << 20)
#define LOG_BYTES     (16 << 20)
#define LOG_STEP      (1 << 20)

_Static_assert(CONNECTIONS *ENTRY_BYTES + ED25519_BYTES + BLOCK_BYTES <= GROUP_ROOM, "(3)");
_Static_assert(LOG_BYTES % LOG_STEP == 0 && GROUP_ROOM <= LOG_BYTES, "a group fits the log");

enum phase { PHASE_BODY, PHASE_DECISION, PHASE_UPSTREAM, PHASE_OUTCOME, PHASE_ANSWER };

struct room {
    char *bytes;
    size_t size;
};

struct request {
    struct MHD_Connection *client;
    const char *path;     /* libmicrohttpd's, as long as the request lives */
    struct request *next; /* in a queue, or spare */
    enum phase phase;
    unsigned status;
    size_t body_len, head_len, answer_len;
    char type[TYPE_ROOM];
    unsigned char record[RECORD_BYTES];
    struct room room; /* the rest is not zeroed: the answer, with its head */
    char body[BODY_ROOM];
};

struct queue {
    struct request *first, *last;
};

struct hasher {
    EVP_MD *md; /* fetched once: a lookup costs more than a short digest */
    EVP_MD_CTX *ctx;
};

struct upstream {
    int fd;
    struct upstream *next;   /* idle */
    struct request *request; /* NULL: idle */
    size_t len, head, want;  /* of the answer: what came, its head, all; want 0: no whole head */
    size_t digested;
    struct hasher hasher; /* of this answer, while it comes; with a log alone */
    struct room room;
};

struct writer {
    pthread_t thread;
    pthread_mutex_t lock; /* of the next three */
    pthread_cond_t submitted;
    struct queue in, out;
    bool stopping;

    int log_fd, done_fd;
    off_t at;
    unsigned groups;
    unsigned char nodes[2][DIGEST_BYTES];
    unsigned char *group;
    struct hasher hasher;
    EVP_PKEY *key;
};

struct floor {
    int epoll_fd, signal_fd, upstream_port;
    bool again; /* the daemon has work that its descriptor does not show */
    bool stopping;
    size_t suspended;
    struct MHD_Daemon *daemon;
    struct upstream *idle;
    struct request *spare;
    struct queue submit; /* in this turn */
    struct hasher hasher;
    EVP_PKEY *key;
    EVP_PKEY_CTX *signer;
    struct writer *writer; /* NULL: it only passes */
};

/* ---- small parts ---- */

static void
queue_put(struct queue *queue, struct request *request)
{
    request->next = NULL;
    if (queue->first == NULL) {
        queue->first = request;
    } else {
        queue->last->next = request;
    }
    queue->last = request;
}

static void
queue_move(struct queue *to, struct queue *from)
{
    if (from->first != NULL && to->first != NULL) {
        to->last->next = from->first;
        to->last = from->last;
    } else if (from->first != NULL) {
        *to = *from;
    }
    *from = (struct queue){NULL, NULL};
}

static struct hasher
hasher_new(void)
{
    struct hasher hasher = {EVP_MD_fetch(NULL, "SHA256", NULL), EVP_MD_CTX_new()};

    if (hasher.md == NULL || hasher.ctx == NULL) {
        errx(1, "cannot prepare SHA-256");
    }
    return hasher;
}

static void
hasher_wipe(struct hasher *hasher)
{
    EVP_MD_CTX_free(hasher->ctx);
    EVP_MD_free(hasher->md);
}

static void
digest_begin(struct hasher *hasher)
{
    if (EVP_DigestInit_ex(hasher->ctx, hasher->md, NULL) != 1) {
        errx(1, "cannot begin a digest");
    }
}

static void
digest_add(struct hasher *hasher, const void *bytes, size_t len)
{
    if (EVP_DigestUpdate(hasher->ctx, bytes, len) != 1) {
        errx(1, "cannot continue a digest");
    }
}

static void
digest_end(struct hasher *hasher, unsigned char ret[DIGEST_BYTES])
{
    if (EVP_DigestFinal_ex(hasher->ctx, ret, NULL) != 1) {
        errx(1, "cannot make a digest");
    }
}

static void
digest(struct hasher *hasher, const void *bytes, size_t len, unsigned char ret[DIGEST_BYTES])
{
    digest_begin(hasher);
    digest_add(hasher, bytes, len);
    digest_end(hasher, ret);
}

static void
room_grow(struct room *room, size_t size)
{
    char *grown = size > room->size ? realloc(room->bytes, size) : room->bytes;

    if (grown == NULL) {
        err(1, "no memory for an answer");
    }
    room->bytes = grown;
    room->size = size > room->size ? size : room->size;
}

static void
wake(int event_fd)
{
    if (eventfd_write(event_fd, 1) != 0) {
        err(1, "cannot wake the loop");
    }
}

/* ---- the writer ---- */

/* The log is as long as it will ever be before the first record: fdatasync then writes no metadata.
 */
static int
log_open(const char *path)
{
    int fd = open(path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
    char *zeros = calloc(1, LOG_STEP);

    if (fd < 0 || zeros == NULL) {
        err(1, "cannot create %s", path);
    }
    for (int i = 0; i < LOG_BYTES / LOG_STEP; i++) {
        if (write(fd, zeros, LOG_STEP) != LOG_STEP) {
            err(1, "cannot fill %s", path);
        }
    }
    if (fsync(fd) != 0) {
        err(1, "cannot sync %s", path);
    }
    free(zeros);
    return fd;
}

/* Appends a record, its digest as a leaf, and two nodes of a tree above it. */
static size_t
entry_put(struct writer *writer, const struct request *request, unsigned char *to)
{
    unsigned char pair[2 * DIGEST_BYTES];
    unsigned char *leaf = to + RECORD_BYTES;

    memcpy(to, request->record, RECORD_BYTES);
    digest(&writer->hasher, to, RECORD_BYTES, leaf);
    memcpy(pair + DIGEST_BYTES, leaf, DIGEST_BYTES);
    for (int i = 0; i < 2; i++) {
        memcpy(pair, writer->nodes[i], DIGEST_BYTES);
        digest(&writer->hasher, pair, sizeof pair, writer->nodes[i]);
        memcpy(leaf + (i + 1) * DIGEST_BYTES, writer->nodes[i], DIGEST_BYTES);
    }
    return ENTRY_BYTES;
}

static size_t
checkpoint_put(struct writer *writer, unsigned char *to)
{
    unsigned char text[CHECKPOINT_BYTES] = {0};
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    size_t len = ED25519_BYTES;

    memcpy(text, writer->nodes, sizeof writer->nodes);
    if (ctx == NULL || EVP_DigestSignInit(ctx, NULL, NULL, NULL, writer->key) != 1 ||
        EVP_DigestSign(ctx, to, &len, text, sizeof text) != 1) {
        errx(1, "cannot sign a checkpoint");
    }
    EVP_MD_CTX_free(ctx);
    return len;
}

static void
group_write(struct writer *writer, const struct queue *group)
{
    size_t len = 0;

    for (struct request *request = group->first; request != NULL; request = request->next) {
        len += entry_put(writer, request, writer->group + len); /* by (3) */
    }
    if (writer->groups++ % SIGNED_GROUPS == 0) {
        len += checkpoint_put(writer, writer->group + len);
    }
    len = (len + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
    if (writer->at + (off_t)len > LOG_BYTES) {
        writer->at = 0;
    }
    if (pwrite(writer->log_fd, writer->group, len, writer->at) != (ssize_t)len) {
        err(1, "cannot write the log");
    }
    writer->at += (off_t)len;
    if (fdatasync(writer->log_fd) != 0) {
        err(1, "cannot sync the log");
    }
}

/* All that wait are one group. Empty: the program ends. */
static struct queue
group_take(struct writer *writer)
{
    struct queue group = {NULL, NULL};

    pthread_mutex_lock(&writer->lock);
    while (writer->in.first == NULL && !writer->stopping) {
        pthread_cond_wait(&writer->submitted, &writer->lock);
    }
    queue_move(&group, &writer->in);
    pthread_mutex_unlock(&writer->lock);
    return group;
}

static void *
writer_run(void *arg)
{
    struct writer *writer = arg;
    struct queue group = group_take(writer);

    while (group.first != NULL) {
        group_write(writer, &group);
        pthread_mutex_lock(&writer->lock);
        queue_move(&writer->out, &group);
        pthread_mutex_unlock(&writer->lock);
        wake(writer->done_fd);
        group = group_take(writer);
    }
    return NULL;
}

static struct writer *
writer_new(const char *path)
{
    struct writer *writer = calloc(1, sizeof *writer);

    if (writer == NULL) {
        err(1, "cannot start the writer");
    }
    writer->log_fd = log_open(path);
    writer->done_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    writer->group = calloc(1, GROUP_ROOM);
    writer->hasher = hasher_new();
    writer->key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    if (writer->done_fd < 0 || writer->group == NULL || writer->key == NULL) {
        errx(1, "cannot prepare the writer");
    }
    if (pthread_mutex_init(&writer->lock, NULL) != 0 ||
        pthread_cond_init(&writer->submitted, NULL) != 0 ||
        pthread_create(&writer->thread, NULL, writer_run, writer) != 0) {
        errx(1, "cannot start the writer");
    }
    return writer;
}

static void
writer_free(struct writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    writer->stopping = true;
    pthread_cond_signal(&writer->submitted);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->thread, NULL);
    pthread_cond_destroy(&writer->submitted);
    pthread_mutex_destroy(&writer->lock);
    EVP_PKEY_free(writer->key);
    hasher_wipe(&writer->hasher);
    free(writer->group);
    (void)close(writer->done_fd);
    (void)close(writer->log_fd);
    free(writer);
}

/* ---- the client's side of a request ---- */

static void
resume(struct floor *f, struct request *request)
{
    request->phase = PHASE_ANSWER;
    f->suspended--;
    f->again = true;
    MHD_resume_connection(request->client);
}

/* Makes a record of bytes, whose digest it has, which the writer gets at the end of the turn. */
static void
record(struct floor *f, struct request *request, enum phase phase, const char *bytes, size_t len)
{
    size_t room = RECORD_BYTES - DIGEST_BYTES;

    request->phase = phase;
    memcpy(request->record + DIGEST_BYTES, bytes, len < room ? len : room);
    queue_put(&f->submit, request);
}

/* ---- upstream ---- */

static struct upstream *
upstream_new(struct floor *f)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
        .sin_port = htons((uint16_t)f->upstream_port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct upstream *up = calloc(1, sizeof *up);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = up};
    int yes = 1;

    if (up == NULL) {
        err(1, "no memory for a connection");
    }
    up->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (up->fd < 0 || connect(up->fd, (struct sockaddr *)&to, sizeof to) != 0 ||
        setsockopt(up->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) != 0) {
        err(1, "cannot connect to the upstream");
    }
    room_grow(&up->room, ANSWER_FIRST);
    if (f->writer != NULL) {
        up->hasher = hasher_new();
    }
    if (epoll_ctl(f->epoll_fd, EPOLL_CTL_ADD, up->fd, &event) != 0) {
        err(1, "cannot watch a connection to the upstream");
    }
    return up;
}

static struct upstream *
upstream_take(struct floor *f)
{
    struct upstream *up = f->idle;

    if (up == NULL) {
        return upstream_new(f);
    }
    f->idle = up->next;
    return up;
}

static void
upstream_free(struct floor *f, struct upstream *up)
{
    struct upstream **link = &f->idle;

    while (*link != up) {
        link = &(*link)->next;
    }
    *link = up->next;
    if (f->writer != NULL) {
        hasher_wipe(&up->hasher);
    }
    (void)close(up->fd);
    free(up->room.bytes);
    free(up);
}

/* Appends the header with the credential: a text that names the request, and its ES256 signature in
 * DER, which nothing here verifies. Returns its length. */
static size_t
credential_put(struct floor *f, const struct request *request, char *to, size_t room)
{
    unsigned char text[CREDENTIAL_BYTES + 1], sum[DIGEST_BYTES], der[ES256_ROOM];
    unsigned char signature[BASE64(ES256_ROOM)];
    size_t len = sizeof der;

    memset(text, '.', CREDENTIAL_BYTES);
    text[EVP_EncodeBlock(text, request->record, DIGEST_BYTES)] = '.';
    text[CREDENTIAL_BYTES] = 0;
    digest(&f->hasher, text, CREDENTIAL_BYTES, sum);
    if (EVP_PKEY_sign(f->signer, der, &len, sum, sizeof sum) != 1) {
        errx(1, "cannot sign a credential");
    }
    (void)EVP_EncodeBlock(signature, der, (int)len);
    return (size_t)snprintf(to, room, "Writ-Credential: %s.%s\r\n", text, signature);
}

static size_t
head_put(struct floor *f, const struct request *request, char *to, size_t room)
{
    size_t len = (size_t)snprintf(to, room,
        "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\nContent-Length: %zu\r\n",
        request->path, f->upstream_port, request->body_len);

    if (f->writer != NULL) {
        len += credential_put(f, request, to + len, room - len);
    }
    return len + (size_t)snprintf(to + len, room - len, "\r\n");
}

static void
forward(struct floor *f, struct request *request)
{
    struct upstream *up = upstream_take(f);
    char head[HEAD_ROOM];
    size_t head_len = head_put(f, request, head, sizeof head);
    struct iovec parts[2] = {{head, head_len}, {request->body, request->body_len}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

    request->phase = PHASE_UPSTREAM;
    up->request = request;
    up->len = up->want = 0;
    /* the socket is idle, so its buffer has room for the whole */
    if (sendmsg(up->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) !=
        (ssize_t)(head_len + request->body_len)) {
        err(1, "cannot send a request to the upstream");
    }
}

/* The value of a field of a head that ends with a byte 0, or NULL. */
static const char *
field(const char *head, const char *name)
{
    const char *at = strcasestr(head, name);

    return at == NULL ? NULL : at + strlen(name) + strspn(at + strlen(name), " ");
}

static void
read_head(struct upstream *up)
{
    char *head = up->room.bytes, *end = memmem(head, up->len, "\r\n\r\n", 4);
    const char *length, *type;

    if (end == NULL) {
        return;
    }
    end[2] = 0; /* after the last field */
    length = field(head, "\r\ncontent-length:");
    type = field(head, "\r\ncontent-type:");
    if (strncmp(head, "HTTP/1.1 ", 9) != 0 || length == NULL || type == NULL) {
        errx(1, "an answer of the upstream has no Content-Length or no Content-Type");
    }
    up->head = (size_t)(end + 4 - head);
    up->want = up->head + strtoul(length, NULL, 10);
    if (up->want < up->head || up->want > ANSWER_MAX) {
        errx(1, "an answer of the upstream is longer than %d bytes", ANSWER_MAX);
    }
    up->request->status = (unsigned)strtoul(head + 9, NULL, 10);
    (void)snprintf(up->request->type, TYPE_ROOM, "%.*s", (int)strcspn(type, "\r"), type);
    room_grow(&up->room, up->want);
    up->digested = up->head;
}

static void
digest_on(struct upstream *up)
{
    if (up->digested == up->head) {
        digest_begin(&up->hasher);
    }
    digest_add(&up->hasher, up->room.bytes + up->digested, up->len - up->digested);
    up->digested = up->len;
}

static void
answered(struct floor *f, struct upstream *up)
{
    struct request *request = up->request;
    struct room room = request->room;

    up->request = NULL;
    up->next = f->idle;
    f->idle = up;
    request->head_len = up->head;
    request->answer_len = up->want - up->head;
    request->room = up->room;
    up->room = room;
    room_grow(&up->room, ANSWER_FIRST);
    if (f->writer != NULL) {
        digest_end(&up->hasher, request->record);
        record(f, request, PHASE_OUTCOME, request->room.bytes + up->head, request->answer_len);
    } else {
        resume(f, request);
    }
}

static void
on_upstream(struct floor *f, struct upstream *up)
{
    size_t len = up->request != NULL ? up->len : 0;
    ssize_t n = recv(up->fd, up->room.bytes + len, up->room.size - len, MSG_DONTWAIT);

    if (n == 0 && up->request == NULL) {
        upstream_free(f, up); /* the upstream closes connections that are idle for long */
        return;
    }
    if (n < 0) {
        err(1, "cannot read from the upstream");
    }
    if (n == 0 || up->request == NULL) {
        errx(1, "the upstream closed a connection too early, or sent more than an answer");
    }
    up->len += (size_t)n;
    if (up->want == 0) {
        read_head(up);
    }
    if (up->want != 0 && f->writer != NULL) {
        digest_on(up);
    }
    if (up->want != 0 && up->len >= up->want) {
        answered(f, up);
    }
}

/* ---- libmicrohttpd ---- */

static enum MHD_Result
queue_answer(
    struct MHD_Connection *client, unsigned status, struct MHD_Response *response, const char *type)
{
    enum MHD_Result result;

    if (response == NULL ||
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type) != MHD_YES) {
        errx(1, "cannot make an answer");
    }
    result = MHD_queue_response(client, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result
answer(struct request *request)
{
    /* persistent until on_completed */
    return queue_answer(request->client, request->status,
        MHD_create_response_from_buffer(
            request->answer_len, request->room.bytes + request->head_len, MHD_RESPMEM_PERSISTENT),
        request->type);
}

static struct request *
request_take(struct floor *f)
{
    struct request *request = f->spare;

    if (request != NULL) {
        f->spare = request->next;
    } else {
        request = calloc(1, sizeof *request);
    }
    if (request == NULL) {
        err(1, "no memory for a request");
    }
    memset(request, 0, offsetof(struct request, room));
    return request;
}

static enum MHD_Result
begin(struct floor *f, struct MHD_Connection *client, const char *url, const char *method,
    void **context)
{
    static char up[] = "up\n";
    struct request *request;

    if (strcmp(method, MHD_HTTP_METHOD_GET) == 0) {
        return queue_answer(client, MHD_HTTP_OK,
            MHD_create_response_from_buffer(strlen(up), up, MHD_RESPMEM_PERSISTENT), "text/plain");
    }
    if (strlen(url) > PATH_ROOM) {
        return MHD_NO; /* closes the connection */
    }
    request = request_take(f);
    request->client = client;
    request->path = url;
    *context = request;
    return MHD_YES;
}

/* The body is whole. */
static void
run(struct floor *f, struct request *request)
{
    MHD_suspend_connection(request->client); /* keeps (1) */
    f->suspended++;
    if (f->writer != NULL) {
        digest(&f->hasher, request->body, request->body_len, request->record);
        record(f, request, PHASE_DECISION, request->body, request->body_len);
    } else {
        forward(f, request);
    }
}

static enum MHD_Result
on_access(void *cls, struct MHD_Connection *client, const char *url, const char *method,
    const char *version, const char *bytes, size_t *len, void **context)
{
    struct floor *f = cls;
    struct request *request = *context;

    (void)version;
    if (request != NULL && request->phase == PHASE_ANSWER) {
        return answer(request);
    }
    if (f->stopping) {
        return MHD_NO;
    }
    if (request == NULL) {
        return begin(f, client, url, method, context);
    }
    if (*len == 0) {
        run(f, request);
        return MHD_YES;
    }
    if (*len > BODY_ROOM - request->body_len) {
        return MHD_NO; /* closes the connection */
    }
    memcpy(request->body + request->body_len, bytes, *len);
    request->body_len += *len;
    *len = 0;
    return MHD_YES;
}

static void
on_completed(
    void *cls, struct MHD_Connection *client, void **context, enum MHD_RequestTerminationCode how)
{
    struct floor *f = cls;
    struct request *request = *context;

    (void)client;
    (void)how;
    if (request != NULL) { /* NULL: a GET */
        request->next = f->spare;
        f->spare = request;
    }
}

/* The flags are those of the gateway (gateway/listener/daemon.c), except that libmicrohttpd accepts
 * connections by itself. */
static void
daemon_start(struct floor *f, int port, size_t pool)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TURBO;

#if MHD_VERSION >= 0x01000000
    flags |= MHD_USE_NO_THREAD_SAFETY;
#endif
    f->daemon = MHD_start_daemon(flags, (uint16_t)port, NULL, NULL, on_access, f,
        MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&at, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, pool,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, f, MHD_OPTION_END);
    if (f->daemon == NULL) {
        errx(1, "cannot listen on 127.0.0.1:%d", port);
    }
}

/* A daemon in external-epoll mode does not show by its descriptor that it has more to do with bytes
 * that it has already seen, or with a connection that was resumed: it asks by a timeout of 0. */
static void
daemon_run(struct floor *f)
{
    MHD_UNSIGNED_LONG_LONG timeout_ms = 1;

    f->again = false;
    if (MHD_run(f->daemon) != MHD_YES) {
        errx(1, "libmicrohttpd does not run");
    }
    if (MHD_get_timeout(f->daemon, &timeout_ms) == MHD_YES && timeout_ms == 0) {
        f->again = true;
    }
}

/* ---- the loop ---- */

/* All records of a turn go to the writer at once: it is woken once, and they are one group. */
static void
submit(struct floor *f)
{
    struct writer *writer = f->writer;

    if (f->submit.first == NULL) {
        return;
    }
    pthread_mutex_lock(&writer->lock);
    queue_move(&writer->in, &f->submit);
    pthread_cond_signal(&writer->submitted);
    pthread_mutex_unlock(&writer->lock);
}

/* Continues the requests whose records are on disk. */
static void
take_back(struct floor *f)
{
    struct writer *writer = f->writer;
    struct queue done = {NULL, NULL};
    struct request *next;
    eventfd_t count;

    (void)eventfd_read(writer->done_fd, &count);
    pthread_mutex_lock(&writer->lock);
    queue_move(&done, &writer->out);
    pthread_mutex_unlock(&writer->lock);
    for (struct request *request = done.first; request != NULL; request = next) {
        next = request->next;
        if (request->phase == PHASE_DECISION) {
            forward(f, request);
        } else {
            resume(f, request);
        }
    }
}

/* The upstream's events come first, so that no request takes a connection that has just ended. */
static void
turn(struct floor *f)
{
    struct epoll_event events[EVENTS];
    bool ready = false, written = false;
    int n = epoll_wait(f->epoll_fd, events, EVENTS, f->again ? 0 : -1);

    for (int i = 0; i < n; i++) {
        void *source = events[i].data.ptr;
        if (source == &f->daemon) {
            ready = true;
        } else if (source == &f->writer) {
            written = true;
        } else if (source == &f->signal_fd) {
            f->stopping = true;
        } else {
            on_upstream(f, source);
        }
    }
    if (written) {
        take_back(f);
    }
    if (ready || f->again) {
        daemon_run(f);
    }
    submit(f);
}

static void
watch(struct floor *f, int fd, void *source)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};

    if (epoll_ctl(f->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
        err(1, "cannot watch a descriptor");
    }
}

/* Of this thread and those that it starts later. */
static int
catch_signals(void)
{
    sigset_t set;
    int fd;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    if (signal(SIGPIPE, SIG_IGN) == SIG_ERR || pthread_sigmask(SIG_BLOCK, &set, NULL) != 0) {
        errx(1, "cannot block signals");
    }
    fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (fd < 0) {
        err(1, "cannot wait for signals");
    }
    return fd;
}

static void
govern(struct floor *f, const char *path)
{
    f->hasher = hasher_new();
    f->key = EVP_EC_gen("P-256");
    f->signer = f->key == NULL ? NULL : EVP_PKEY_CTX_new(f->key, NULL);
    if (f->signer == NULL || EVP_PKEY_sign_init(f->signer) != 1) {
        errx(1, "cannot make a key");
    }
    f->writer = writer_new(path);
    watch(f, f->writer->done_fd, &f->writer);
}

/* No request is under way: a daemon with suspended connections cannot stop. */
static void
floor_wipe(struct floor *f)
{
    MHD_stop_daemon(f->daemon);
    while (f->idle != NULL) {
        upstream_free(f, f->idle);
    }
    while (f->spare != NULL) {
        struct request *request = request_take(f);

        free(request->room.bytes);
        free(request);
    }
    if (f->writer != NULL) {
        writer_free(f->writer);
        EVP_PKEY_CTX_free(f->signer);
        EVP_PKEY_free(f->key);
        hasher_wipe(&f->hasher);
    }
    (void)close(f->signal_fd);
    (void)close(f->epoll_fd);
}

static unsigned long
number(const char *text, unsigned long least, unsigned long most)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (end == text || *end != 0 || value < least || value > most) {
        errx(2, "%s: not a number from %lu to %lu", text, least, most);
    }
    return value;
}

int
main(int argc, char **argv)
{
    static const struct option options[] = {{"pool", required_argument, NULL, 'p'},
        {"log", required_argument, NULL, 'l'}, {NULL, 0, NULL, 0}};
    struct floor f = {.epoll_fd = epoll_create1(EPOLL_CLOEXEC), .signal_fd = catch_signals()};
    const char *log = NULL;
    size_t pool = 0;
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 'p') {
            pool = number(optarg, POOL_MIN, POOL_MAX);
        } else if (option == 'l') {
            log = optarg;
        }
    }
    if (argc - optind != 2 || pool == 0) {
        errx(2, "usage: floor PORT UPSTREAM_PORT --pool=BYTES [--log=FILE]");
    }
    f.upstream_port = (int)number(argv[optind + 1], 1, UINT16_MAX);
    watch(&f, f.signal_fd, &f.signal_fd);
    if (log != NULL) {
        govern(&f, log);
    }
    daemon_start(&f, (int)number(argv[optind], 1, UINT16_MAX), pool);
    watch(&f, MHD_get_daemon_info(f.daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, &f.daemon);
    while (!f.stopping || f.suspended > 0) {
        turn(&f);
    }
    floor_wipe(&f);
    return 0;
}
