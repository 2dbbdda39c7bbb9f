/* resolver.c - one detached thread takes queries from a queue and posts the answers.
 *
 * Invariants:
 * (1) A query belongs to the resolver while it is queued, to the thread while it runs, to the
 *     mailbox of its loop after that. Only the current owner frees and uses it, except that the
 *     loop's thread writes `forgotten`, which only that thread reads.
 * (2) The resolver itself is freed by the last of two: its owner (close) and its thread. */
#include "gateway/io/resolver.h"

#include "base/alloc.h"
#include "base/thread.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>

struct writ_question {
    struct writ_post post;
    struct writ_question *next;
    struct writ_loop *loop;
    writ_resolver_fn *fn;
    void *ctx;
    bool forgotten;
    uint16_t port;
    char host[WRIT_RESOLVER_HOST_MAX + 1];
    struct writ_addresses found;
    const char *fault;
};

struct writ_resolver {
    pthread_mutex_t lock; /* of everything below */
    pthread_cond_t changed;
    struct writ_question *first, **last;
    size_t waiting;
    bool closed;
    int users;
};

static void
put_address(struct writ_addresses *to, const struct sockaddr *from)
{
    struct writ_address *address = &to->list[to->count];

    if (to->count == WRIT_RESOLVER_ADDRESSES_MAX) {
        return;
    }
    if (from->sa_family == AF_INET) {
        *(struct sockaddr_in *)&address->sock = *(const struct sockaddr_in *)from;
        address->len = sizeof(struct sockaddr_in);
        to->count++;
    } else if (from->sa_family == AF_INET6) {
        *(struct sockaddr_in6 *)&address->sock = *(const struct sockaddr_in6 *)from;
        address->len = sizeof(struct sockaddr_in6);
        to->count++;
    }
}

bool
writ_resolver_numeric(struct writ_view host, uint16_t port, struct writ_addresses *ret)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    struct writ_addresses found = {.count = 0};
    char text[INET6_ADDRSTRLEN];

    if (host.len >= 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']') {
        host = writ_view_sub(host, 1, host.len - 2);
    }
    if (host.len >= sizeof text || writ_view_find(host, '\0') != host.len) {
        return false;
    }
    (void)snprintf(text, sizeof text, WRIT_VIEW_FMT, WRIT_VIEW_ARG(host));
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
        put_address(&found, (const struct sockaddr *)&v4);
    } else if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1) {
        put_address(&found, (const struct sockaddr *)&v6);
    } else {
        return false;
    }
    *ret = found;
    return true;
}

/* ---- the thread */

static void
ask_system(struct writ_question *question)
{
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *list = NULL;
    char port[8];
    int fault;

    (void)snprintf(port, sizeof port, "%u", question->port);
    fault = getaddrinfo(question->host, port, &hints, &list);
    if (fault != 0) {
        question->fault = gai_strerror(fault);
        return;
    }
    for (struct addrinfo *one = list; one != NULL; one = one->ai_next) {
        put_address(&question->found, one->ai_addr);
    }
    freeaddrinfo(list);
}

static void
deliver(struct writ_post *post)
{
    struct writ_question *question = post->ctx;

    if (!question->forgotten) {
        question->fn(question->ctx, &question->found, question->fault);
    }
    writ_free(question);
}

/* the next query, or NULL when the resolver is closed; the lock is held */
static struct writ_question *
next_question(struct writ_resolver *resolver)
{
    struct writ_question *question;

    while (resolver->first == NULL && !resolver->closed) {
        (void)pthread_cond_wait(&resolver->changed, &resolver->lock);
    }
    question = resolver->closed ? NULL : resolver->first;
    if (question != NULL) {
        resolver->first = question->next;
        resolver->waiting--;
        if (resolver->first == NULL) {
            resolver->last = &resolver->first;
        }
    }
    return question;
}

/* keeps (2); the lock is held and given back */
static void
leave(struct writ_resolver *resolver)
{
    bool last = --resolver->users == 0;

    (void)pthread_mutex_unlock(&resolver->lock);
    if (last) {
        (void)pthread_mutex_destroy(&resolver->lock);
        (void)pthread_cond_destroy(&resolver->changed);
        writ_free(resolver);
    }
}

static void *
thread_main(void *arg)
{
    struct writ_resolver *resolver = arg;
    struct writ_question *question;

    (void)pthread_mutex_lock(&resolver->lock);
    while ((question = next_question(resolver)) != NULL) {
        (void)pthread_mutex_unlock(&resolver->lock);
        ask_system(question);
        (void)pthread_mutex_lock(&resolver->lock);
        if (resolver->closed) {
            writ_free(question); /* its loop may be gone */
        } else {
            writ_loop_answer(question->loop, &question->post);
        }
    }
    leave(resolver);
    return NULL;
}

/* ---- for the loops */

writ_result
writ_resolver_ask(struct writ_resolver *resolver, struct writ_loop *loop, struct writ_view host,
    uint16_t port, writ_resolver_fn *fn, void *ctx, struct writ_question **ret)
{
    struct writ_question *question;

    if (host.len > WRIT_RESOLVER_HOST_MAX) {
        return (writ_result){WRIT_E_LIMIT};
    }
    question = writ_alloc(sizeof *question);
    if (question == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    question->post = (struct writ_post){.fn = deliver, .ctx = question};
    question->loop = loop;
    question->fn = fn;
    question->ctx = ctx;
    question->port = port;
    (void)snprintf(question->host, sizeof question->host, WRIT_VIEW_FMT, WRIT_VIEW_ARG(host));

    (void)pthread_mutex_lock(&resolver->lock);
    if (resolver->waiting == WRIT_RESOLVER_QUEUE_MAX) {
        (void)pthread_mutex_unlock(&resolver->lock);
        writ_free(question);
        return (writ_result){WRIT_E_BUSY};
    }
    *ret = question; /* before the answer can come */
    *resolver->last = question;
    resolver->last = &question->next;
    resolver->waiting++;
    (void)pthread_cond_signal(&resolver->changed);
    (void)pthread_mutex_unlock(&resolver->lock);
    return WRIT_DONE;
}

void
writ_resolver_forget(struct writ_question *question)
{
    question->forgotten = true; /* (1) */
}

/* ---- life */

writ_result
writ_resolver_open(struct writ_resolver **ret, struct writ_err *err)
{
    struct writ_resolver *resolver = writ_alloc(sizeof *resolver);
    pthread_t thread;

    if (resolver == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the resolver");
    }
    resolver->last = &resolver->first;
    resolver->users = 2;
    (void)pthread_mutex_init(&resolver->lock, NULL);
    (void)pthread_cond_init(&resolver->changed, NULL);
    if (!writ_thread_start(&thread, thread_main, resolver, "writ-resolver")) {
        (void)pthread_mutex_lock(&resolver->lock);
        resolver->users = 1;
        leave(resolver);
        WRIT_FAIL(err, WRIT_E_IO, "cannot start the resolver's thread");
    }
    (void)pthread_detach(thread);
    *ret = resolver;
    return WRIT_DONE;
}

void
writ_resolver_close(struct writ_resolver *resolver)
{
    if (resolver == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&resolver->lock);
    resolver->closed = true;
    while (resolver->first != NULL) {
        struct writ_question *question = resolver->first;
        resolver->first = question->next;
        writ_free(question);
    }
    (void)pthread_cond_signal(&resolver->changed);
    leave(resolver);
}
