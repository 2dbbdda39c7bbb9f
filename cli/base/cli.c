/* The options that a command reads, its answers and its failures. An answer that could not be
 * written is never a success. */
#include "cli/base/cli.h"

#include "base/log.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define USAGE_TEXT_MAX 1024

static bool
same(const char *a, const char *b)
{
    return writ_view_is(writ_view_str(a), b);
}

const struct writ_option *
writ_cli_option(const struct writ_cli *cli, struct writ_view name)
{
    for (const struct writ_option *option = cli->program->options; option->name != NULL; option++) {
        if (same(option->command, cli->command->id) && writ_view_is(name, option->name)) {
            return option;
        }
    }
    return NULL;
}

const struct writ_given *
writ_cli_given(const struct writ_cli *cli, const struct writ_option *option)
{
    for (int i = 0; i < cli->given_count; i++) {
        if (cli->given[i].option == option) {
            return &cli->given[i];
        }
    }
    return NULL;
}

/* ---- the interface of commands */

/* A name outside of the command's rows is a programming error, never the user's. */
static const struct writ_option *
option_of(const struct writ_cli *cli, const char *name)
{
    const struct writ_option *option = writ_cli_option(cli, writ_view_str(name));
    WRIT_INVARIANT(option != NULL);
    return option;
}

bool
writ_cli_has(const struct writ_cli *cli, const char *name)
{
    return writ_cli_given(cli, option_of(cli, name)) != NULL;
}

struct writ_view
writ_cli_get(const struct writ_cli *cli, const char *name)
{
    const struct writ_given *given = writ_cli_given(cli, option_of(cli, name));
    return given != NULL ? given->value : writ_view(NULL, 0);
}

struct writ_view
writ_cli_operand(const struct writ_cli *cli, int n)
{
    return n >= 0 && n < cli->operand_count ? writ_view_str(cli->operands[n]) : writ_view(NULL, 0);
}

static WRIT_RESULT
read_stdin(size_t max, struct writ_buf *ret, struct writ_err *err)
{
    size_t taken = 0;

    for (;;) {
        char *room = writ_buf_reserve(ret, 65536);
        ssize_t got;
        if (room == NULL) {
            return writ_buf_check(ret, err);
        }
        do {
            got = read(STDIN_FILENO, room, 65536);
        } while (got < 0 && errno == EINTR);
        if (got < 0) {
            WRIT_FAIL(err, WRIT_E_IO, "standard input: %s", strerrordesc_np(errno));
        }
        if (got == 0) {
            return WRIT_DONE;
        }
        taken += (size_t)got;
        if (taken > max) {
            WRIT_FAIL(err, WRIT_E_LIMIT, "standard input: longer than %zu bytes", max);
        }
        ret->len += (size_t)got;
    }
}

WRIT_RESULT
writ_cli_read(const char *path, size_t max, struct writ_buf *ret, struct writ_err *err)
{
    return same(path, "-") ? read_stdin(max, ret, err) : writ_text_file(path, max, ret, err);
}

bool
writ_cli_write_all(int fd, struct writ_view text)
{
    while (text.len > 0) {
        ssize_t n = write(fd, text.ptr, text.len);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        text = writ_view_sub(text, (size_t)n, SIZE_MAX);
    }
    return true;
}

WRIT_RESULT
writ_cli_write_new(const char *path, struct writ_view text, struct writ_err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    bool good;

    if (fd < 0) {
        WRIT_FAIL(err, errno == EEXIST ? WRIT_E_INVALID : WRIT_E_IO, "%s: %s", path,
            strerrordesc_np(errno));
    }
    good = writ_cli_write_all(fd, text) && fsync(fd) == 0;
    good = close(fd) == 0 && good;
    if (!good) {
        (void)unlink(path);
        WRIT_FAIL(err, WRIT_E_IO, "%s: cannot be written", path);
    }
    return WRIT_DONE;
}

/* ---- answers and failures */

void
writ_cli_put(struct writ_view text)
{
    if (text.len > 0) {
        /* a failure stays in the stream's error flag: run_finish checks it once. keeps (2) */
        (void)fwrite(text.ptr, 1, text.len, stdout);
    }
}

void
writ_cli_print(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    (void)vprintf(fmt, args);
    va_end(args);
}

enum writ_exit
writ_cli_exit(writ_result result)
{
    switch (result.code) {
    case WRIT_OK:
        return WRIT_EXIT_OK;
    case WRIT_E_INVALID:
    case WRIT_E_PARSE:
    case WRIT_E_LIMIT:
    case WRIT_E_MISMATCH:
    case WRIT_E_ABSENT:
        return WRIT_EXIT_INPUT;
    case WRIT_E_UNSET:
    case WRIT_E_BUSY:
    case WRIT_E_NOMEM:
    case WRIT_E_IO:
    case WRIT_E_CRYPTO:
        return WRIT_EXIT_ENVIRONMENT;
    }
    return WRIT_EXIT_ENVIRONMENT;
}

static void
complain_json(enum writ_code code, const struct writ_err *err)
{
    writ_auto_buf line = writ_buf_make(WRIT_CLI_ANSWER_MAX);

    writ_buf_fmt(&line, "{\"error\":{\"code\":\"%s\"", writ_code_name(code));
    if (err->line > 0) {
        writ_buf_fmt(&line, ",\"line\":%zu", err->line);
    }
    if (err->offset > 0 || code == WRIT_E_PARSE) {
        writ_buf_fmt(&line, ",\"offset\":%zu", err->offset);
    }
    writ_buf_str(&line, ",\"text\":");
    writ_text_json_safe(&line, writ_view_str(err->text), sizeof(err->text));
    writ_buf_str(&line, "}}\n");
    (void)fwrite(line.ptr, 1, line.len, stderr);
}

static bool
serves(const struct writ_cli *cli)
{
    return cli->command != NULL && cli->program->serves != NULL && cli->program->serves(cli);
}

static void
complain_log(const struct writ_cli *cli, enum writ_code code, const char *why)
{
    struct writ_log log;

    writ_log_init(&log, STDERR_FILENO, WRIT_LOG_INFO, cli->clock);
    WRIT_LOG(&log, WRIT_EVENT_NOT_STARTED, writ_log_str("code", writ_code_name(code)),
        writ_log_str("why", why));
}

static void
complain(const struct writ_cli *cli, enum writ_code code, const struct writ_err *err)
{
    if (serves(cli)) {
        complain_log(cli, code, err->text);
    } else if (cli->json) {
        complain_json(code, err);
    } else if (cli->command != NULL) {
        (void)fprintf(stderr, "%s %s: %s\n", cli->program->name, cli->command->words, err->text);
    } else {
        (void)fprintf(stderr, "%s: %s\n", cli->program->name, err->text);
    }
}

enum writ_exit
writ_cli_fail(const struct writ_cli *cli, writ_result result, const struct writ_err *err)
{
    struct writ_err unnamed = {0};

    WRIT_INVARIANT(result.code != WRIT_OK);
    if (err == NULL || err->text[0] == '\0') {
        (void)writ_fail(&unnamed, result.code, "failed (%s)", writ_code_name(result.code));
        err = &unnamed;
    }
    complain(cli, result.code, err);
    return writ_cli_exit(result);
}

enum writ_exit
writ_cli_do(const struct writ_cli *cli,
    WRIT_RESULT (*work)(const struct writ_cli *cli, struct writ_err *err))
{
    struct writ_err err = {0};
    writ_result result = work(cli, &err);

    return writ_is_ok(result) ? WRIT_EXIT_OK : writ_cli_fail(cli, result, &err);
}

enum writ_exit
writ_cli_usage(const struct writ_cli *cli, const char *fmt, ...)
{
    struct writ_err err = {0};
    char line[USAGE_TEXT_MAX];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    (void)writ_fail(&err, WRIT_E_INVALID, "%s", line);
    if (serves(cli)) {
        (void)writ_fail(&err, WRIT_E_INVALID, "%s. Run: %s %s --help", line, cli->program->name,
            cli->command->words);
    }
    complain(cli, WRIT_E_INVALID, &err);
    if (serves(cli)) {
        return WRIT_EXIT_USAGE;
    }
    if (!cli->json && cli->command != NULL) {
        (void)fprintf(stderr, "Try: %s %s --help\n", cli->program->name, cli->command->words);
    } else if (!cli->json) {
        (void)fprintf(stderr, "Try: %s --help\n", cli->program->name);
    }
    return WRIT_EXIT_USAGE;
}
