/* cli.h - the frame of `writ` and `writ-vectors`: commands as rows of a table, options parsed by
 * that table, one way to answer and one way to fail.
 *
 * A command is a row in a command.tbl.h and one function `writ_command_<id>` in that folder, in the
 * file of its first word (cli/commands/keys.c has all of `writ keys ...`). The frame has checked
 * the options and the number of operands before the function runs.
 *
 * Answers go to standard output: text for people, or with --json exactly one JSON value. Failures
 * go to standard error: one line of text, or with --json one object {"error":{...}}. A command that
 * serves writes its log there, and so its failures as lines of the log. */
#ifndef WRIT_CLI_H
#define WRIT_CLI_H

#include "base/bytes.h"
#include "base/clock.h"

#define WRIT_CLI_ANSWER_MAX (1U << 20) /* bytes of one help text, or of one failure */

/** The exit codes (exit.tbl.h). 0 is success because shells require it; it never grants anything
 * here. */
enum writ_exit {
#define WRIT_EXIT_ROW(name, value, sentence) WRIT_EXIT_##name = (value),
#include "cli/base/exit.tbl.h"
#undef WRIT_EXIT_ROW
};

enum writ_option_kind {
    WRIT_OPTION_NONE = 0,
    WRIT_OPTION_FLAG,
    WRIT_OPTION_VALUE,
    WRIT_OPTION_REQUIRED,
};

/** One row of command.tbl.h. Static storage. */
struct writ_option {
    const char *command; /* id of the command */
    const char *name;    /* without the two dashes */
    const char *arg;     /* the value's name in help; NULL for a flag */
    const char *sentence;
    enum writ_option_kind kind;
};

struct writ_cli;

/** One row of command.tbl.h. Static storage. */
struct writ_command {
    const char *id;
    const char *words;
    const char *operands;
    int least, most;
    const char *summary;
    const char *text;
    enum writ_exit (*run)(const struct writ_cli *cli);
};

/** A given option. */
struct writ_given {
    const struct writ_option *option;
    struct writ_view value; /* empty for a flag */
};

/** A first word that is now a command of another program. Static storage. */
struct writ_moved {
    const char *word, *program;
};

/** A program: its name, for people and in its manual, and its tables, each ended by a row of zeros.
 * Static storage; command.inc makes the tables. */
struct writ_program {
    const char *name;
    const char *summary; /* a few words */
    const char *text;    /* whole sentences, in lines */
    const char *source;  /* the file of its table */
    const struct writ_command *commands;
    const struct writ_option *options;
    const struct writ_moved *moved;
    /* whether standard error of this run is a log, of JSON lines; NULL: never */
    bool (*serves)(const struct writ_cli *cli);
};

/** One run of one command. All views are parts of argv and NUL-terminated after their end. */
struct writ_cli {
    const struct writ_program *program;
    const struct writ_command *command; /* NULL: none was named */
    const struct writ_clock *clock;
    struct writ_given *given;
    int given_count;
    const char *const *operands;
    int operand_count;
    bool json; /* --json */
};

/** The row of an option of the command, or NULL. */
const struct writ_option *writ_cli_option(const struct writ_cli *cli, struct writ_view name);

/** The option as it was given, or NULL. */
const struct writ_given *writ_cli_given(
    const struct writ_cli *cli, const struct writ_option *option);

/** True when the option was given. An option outside of the command's rows is an invariant failure,
 * here and in the function below. */
bool writ_cli_has(const struct writ_cli *cli, const char *name);

/** The option's value; a view with ptr NULL when it is absent. */
struct writ_view writ_cli_get(const struct writ_cli *cli, const char *name);

/** The n-th operand, or the empty view. */
struct writ_view writ_cli_operand(const struct writ_cli *cli, int n);

/** Reads a file of at most `max` bytes, or standard input for "-", and appends it to `ret`.
 * WRIT_E_ABSENT, WRIT_E_LIMIT, WRIT_E_IO, WRIT_E_NOMEM. Blocks. */
WRIT_RESULT writ_cli_read(const char *path, size_t max, struct writ_buf *ret, struct writ_err *err);

/** Writes the whole text. False when that fails; errno has the reason. */
bool writ_cli_write_all(int fd, struct writ_view text);

/** Makes a file with these bytes that only its owner can read and write, never over an existing
 * one. WRIT_E_INVALID (it exists), WRIT_E_IO. Blocks. */
WRIT_RESULT writ_cli_write_new(const char *path, struct writ_view text, struct writ_err *err);

/** Writes to standard output. A failure to write ends the run with WRIT_EXIT_ENVIRONMENT. */
void writ_cli_put(struct writ_view text);
void writ_cli_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** Reports a failure on standard error, and returns the exit code for `result`:
 *     return writ_cli_fail(cli, result, &err);
 * Every code but WRIT_OK: ABSENT, INVALID, PARSE, LIMIT and MISMATCH are the input's fault, the
 * others the environment's. */
enum writ_exit writ_cli_fail(
    const struct writ_cli *cli, writ_result result, const struct writ_err *err);

/** The exit code for `result`; reports nothing. */
enum writ_exit writ_cli_exit(writ_result result);

/** Runs a command's work; reports its failure with writ_cli_fail. */
enum writ_exit writ_cli_do(const struct writ_cli *cli,
    WRIT_RESULT (*work)(const struct writ_cli *cli, struct writ_err *err));

/** Reports a command line that the table cannot refuse by itself; WRIT_EXIT_USAGE. */
enum writ_exit writ_cli_usage(const struct writ_cli *cli, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
