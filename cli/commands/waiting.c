/* The event ends the thread at once; its time is over every SAY_MS before. */
#include "cli/commands/waiting.h"

#include "base/thread.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SAY_MS 5000

static void *
say(void *arg)
{
    const struct writ_waiting *waiting = arg;
    struct pollfd over = {.fd = waiting->over, .events = POLLIN};

    while (poll(&over, 1, SAY_MS) == 0) {
        (void)writ_cli_write_all(STDERR_FILENO, writ_view_str(waiting->line));
        (void)writ_cli_write_all(STDERR_FILENO, WRIT_LIT("\n"));
    }
    return NULL;
}

void
writ_waiting_begin(const struct writ_cli *cli, const char *line, struct writ_waiting *ret)
{
    *ret = (struct writ_waiting){.line = line, .over = -1};
    if (cli->json) {
        return;
    }
    ret->over = eventfd(0, EFD_CLOEXEC);
    if (ret->over >= 0 && !writ_thread_start(&ret->thread, say, ret, "writ-waiting")) {
        (void)close(ret->over);
        ret->over = -1;
    }
}

void
writ_waiting_end(struct writ_waiting *waiting)
{
    static const uint64_t one = 1;

    if (waiting->over < 0) {
        return;
    }
    (void)!write(waiting->over, &one, sizeof one);
    (void)pthread_join(waiting->thread, NULL);
    (void)close(waiting->over);
    waiting->over = -1;
}
