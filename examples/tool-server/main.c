/* main.c - a bank with two accounts as an MCP server that runs a transfer only with a credential of
 * a Writ gateway, once.
 *
 * One thread answers every request (libmicrohttpd's own), so that nothing here needs a lock. MCP's
 * streamable HTTP allows a server to answer each POST by itself, without sessions and streams. */
#include "mcp.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <getopt.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BODY_MAX  ((size_t)1 << 20)
#define TIMEOUT_S 60u
#define CLIENTS   64u

/* ---- one request */

struct exchange {
    char *body;
    size_t len;
    bool too_long;
};

static void
append(struct exchange *exchange, const char *bytes, size_t len)
{
    char *body = NULL;

    if (!exchange->too_long && len <= BODY_MAX - exchange->len) {
        body = realloc(exchange->body, exchange->len + len);
    }
    if (body == NULL) {
        exchange->too_long = true;
        return;
    }
    memcpy(body + exchange->len, bytes, len);
    exchange->body = body;
    exchange->len += len;
}

/* Takes the message; NULL: an answer without a body. */
static enum MHD_Result
respond(struct MHD_Connection *connection, unsigned status, json_t *message)
{
    char *text = message != NULL ? json_dumps(message, JSON_COMPACT) : NULL;
    struct MHD_Response *response = MHD_create_response_from_buffer(
        text != NULL ? strlen(text) : 0, text, MHD_RESPMEM_MUST_FREE);
    enum MHD_Result queued = MHD_NO;

    json_decref(message);
    if (response == NULL) {
        free(text);
        return MHD_NO; /* closes the connection */
    }
    if (text != NULL) {
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
    }
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED) {
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, MHD_HTTP_METHOD_POST);
    }
    queued = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return queued;
}

/* The status for an invalid header of a request, or 0. */
static unsigned
refuse_head(struct MHD_Connection *connection, const char *url, const char *method)
{
    const char *type =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_TYPE);
    const char *revision =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "MCP-Protocol-Version");

    if (strcmp(url, "/mcp") != 0) {
        return MHD_HTTP_NOT_FOUND;
    }
    if (strcmp(method, MHD_HTTP_METHOD_POST) != 0) {
        return MHD_HTTP_METHOD_NOT_ALLOWED;
    }
    /* browsers send it, gateways do not: a page of another site must not reach the bank */
    if (MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin") != NULL) {
        return MHD_HTTP_FORBIDDEN;
    }
    if (type == NULL || strncmp(type, "application/json", strlen("application/json")) != 0) {
        return MHD_HTTP_UNSUPPORTED_MEDIA_TYPE;
    }
    return revision != NULL && !mcp_speaks(revision) ? MHD_HTTP_BAD_REQUEST : 0;
}

/* libmicrohttpd calls this with the header, with each part of the body, and at its end. */
static enum MHD_Result
handle(void *ctx, struct MHD_Connection *connection, const char *url, const char *method,
    const char *version, const char *upload, size_t *upload_len, void **state)
{
    const struct mcp_server *server = ctx;
    struct exchange *exchange = *state;
    json_t *message = NULL;
    unsigned status;

    (void)version;
    if (exchange == NULL) {
        *state = calloc(1, sizeof *exchange);
        return *state != NULL ? MHD_YES : MHD_NO;
    }
    if (*upload_len > 0) {
        append(exchange, upload, *upload_len);
        *upload_len = 0;
        return MHD_YES;
    }
    status = refuse_head(connection, url, method);
    if (status == 0 && exchange->too_long) {
        status = MHD_HTTP_CONTENT_TOO_LARGE;
    } else if (status == 0) {
        status = mcp_answer(server,
            (struct writ_view){exchange->len > 0 ? exchange->body : "", exchange->len},
            MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Writ-Credential"), &message);
    }
    return respond(connection, status, message);
}

static void
end(void *ctx, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode why)
{
    struct exchange *exchange = *state;

    (void)ctx, (void)connection, (void)why;
    if (exchange != NULL) {
        free(exchange->body);
        free(exchange);
    }
}

/* ---- the program */

struct options {
    const char *listen, *database, *keys, *resource, *issuer;
};

static _Noreturn void
usage(void)
{
    fprintf(stderr,
        "usage: tool-server --database FILE --keys URL --resource URL --issuer URL\n"
        "                   [--listen IPV4:PORT]\n\n"
        "  --database  accounts and used credentials (SQLite)\n"
        "  --keys      the gateway's keys: http://HOST:PORT/.well-known/jwks.json, or file://PATH\n"
        "  --resource  who this server is: the `resource` of the upstream in the gateway\n"
        "  --issuer    the `issuer` of the gateway\n"
        "  --listen    127.0.0.1:9000 when left out\n");
    exit(2);
}

static struct options
read_options(int argc, char *argv[])
{
    static const struct option names[] = {{"listen", 1, NULL, 'l'}, {"database", 1, NULL, 'd'},
        {"keys", 1, NULL, 'k'}, {"resource", 1, NULL, 'r'}, {"issuer", 1, NULL, 'i'},
        {NULL, 0, NULL, 0}};
    struct options options = {.listen = "127.0.0.1:9000"};
    int name;

    while ((name = getopt_long(argc, argv, "", names, NULL)) != -1) {
        const char **option = name == 'l'   ? &options.listen
                              : name == 'd' ? &options.database
                              : name == 'k' ? &options.keys
                              : name == 'r' ? &options.resource
                              : name == 'i' ? &options.issuer
                                            : NULL;
        if (option == NULL) {
            usage();
        }
        *option = optarg;
    }
    if (optind < argc || options.database == NULL || options.keys == NULL ||
        options.resource == NULL || options.issuer == NULL) {
        usage();
    }
    return options;
}

static bool
read_address(const char *text, struct sockaddr_in *ret)
{
    const char *colon = strrchr(text, ':');
    char host[INET_ADDRSTRLEN] = "", *end = NULL;
    unsigned long port = colon != NULL ? strtoul(colon + 1, &end, 10) : 0;

    if (colon == NULL || *end != '\0' || port > UINT16_MAX ||
        (size_t)(colon - text) >= sizeof host) {
        return false;
    }
    memcpy(host, text, (size_t)(colon - text));
    ret->sin_family = AF_INET;
    ret->sin_port = htons((uint16_t)port);
    return inet_pton(AF_INET, host, &ret->sin_addr) == 1;
}

static struct MHD_Daemon *
start(const struct options *options, struct mcp_server *server)
{
    struct sockaddr_in address = {0};

    if (!read_address(options->listen, &address)) {
        usage();
    }
    return MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO | MHD_USE_ERROR_LOG, 0,
        NULL, NULL, handle, server, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address,
        MHD_OPTION_NOTIFY_COMPLETED, end, NULL, MHD_OPTION_CONNECTION_TIMEOUT, TIMEOUT_S,
        MHD_OPTION_CONNECTION_LIMIT, CLIENTS, MHD_OPTION_END);
}

int
main(int argc, char *argv[])
{
    struct options options = read_options(argc, argv);
    struct mcp_server server = {.resource = options.resource, .issuer = options.issuer};
    struct MHD_Daemon *daemon = NULL;
    sigset_t signals;
    int signal;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* also in the thread that answers */
    curl_global_init(CURL_GLOBAL_DEFAULT);
    server.bank = bank_open(options.database);
    server.keys = keys_new(options.keys);
    if (server.bank != NULL && server.keys != NULL) {
        daemon = start(&options, &server);
    }
    if (daemon != NULL) {
        fprintf(stderr, "{\"event\":\"ready\",\"port\":%u}\n",
            (unsigned)MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
        sigwait(&signals, &signal);
        MHD_stop_daemon(daemon);
    }
    keys_free(server.keys);
    bank_close(server.bank);
    curl_global_cleanup();
    return daemon != NULL ? EXIT_SUCCESS : EXIT_FAILURE;
}
