/* The listener of tests/support/gateway/echo.h as a program: prints its port, ends with its
 * standard input. Usage: listener_echo [LOOPS] [CERTIFICATE KEY [CLIENT_CA]] ECHO_TIMEOUT_MS in its
 * environment is every timeout that the listener has. */
#include "support/gateway/echo.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PEM_MAX (1U << 20)

static struct writ_view
pem_of(const char *path, struct writ_buf *buf)
{
    *buf = writ_buf_make(PEM_MAX);
    if (path != NULL && !writ_is_ok(writ_text_file(path, PEM_MAX, buf, NULL))) {
        (void)fprintf(stderr, "listener_echo: cannot read %s\n", path);
        exit(EXIT_FAILURE);
    }
    return writ_buf_view(buf);
}

int
main(int argc, char **argv)
{
    writ_auto_buf certificate, key, client_ca;
    struct writ_listener_options options = {0};
    const char *patience = getenv("ECHO_TIMEOUT_MS");
    int64_t timeout_ms = patience != NULL ? atoi(patience) : 0;
    struct echo *echo;
    char byte;

    options.tls.certificate = pem_of(argc > 3 ? argv[2] : NULL, &certificate);
    options.tls.key = pem_of(argc > 3 ? argv[3] : NULL, &key);
    options.tls.client_ca = pem_of(argc > 4 ? argv[4] : NULL, &client_ca);
    options.tls.client_required = argc > 4;
    options.head_timeout_ms = timeout_ms;
    options.body_timeout_ms = timeout_ms;
    options.idle_timeout_ms = timeout_ms;
    options.write_timeout_ms = timeout_ms;
    echo = echo_start(argc > 1 ? (size_t)atoi(argv[1]) : 1, options);
    (void)printf("%u\n", echo_port(echo));
    (void)fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
    echo_stop(echo);
    return EXIT_SUCCESS;
}
