/* The frame: finds the command, parses its options by the table, answers and fails.
 *
 * (1) A command's function runs only with options that its rows name, each at most as often as its
 *     kind allows, and with a number of operands within its row's limits.
 * (2) An answer that could not be written is never a success. */
#include "cli/base/cli.h"

#include "base/text.h"
#include "cli/base/help.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define USAGE_TEXT_MAX  1024
#define ANSWER_TEXT_MAX (1U << 20)

static bool
same(const char *a, const char *b)
{
    return writ_view_is(writ_view_str(a), b);
}

static const struct writ_option *
option_find(const struct writ_cli *cli, struct writ_view name)
{
    for (const struct writ_option *option = cli->program->options; option->name != NULL; option++) {
        if (same(option->command, cli->command->id) && writ_view_is(name, option->name)) {
            return option;
        }
    }
    return NULL;
}

static const struct writ_given *
given_find(const struct writ_cli *cli, const struct writ_option *option)
{
    for (int i = 0; i < cli->given_count; i++) {
        if (cli->given[i].option == option) {
            return &cli->given[i];
        }
    }
    return NULL;
}

/* ---- what commands ask for */

/* A name that the command's rows do not have is a mistake of ours, never of the user. */
static const struct writ_option *
option_of(const struct writ_cli *cli, const char *name)
{
    const struct writ_option *option = option_find(cli, writ_view_str(name));
    WRIT_INVARIANT(option != NULL);
    return option;
}

bool
writ_cli_has(const struct writ_cli *cli, const char *name)
{
    return given_find(cli, option_of(cli, name)) != NULL;
}

struct writ_view
writ_cli_get(const struct writ_cli *cli, const char *name)
{
    const struct writ_given *given = given_find(cli, option_of(cli, name));
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

/* ---- answers and failures */

void
writ_cli_put(struct writ_view text)
{
    if (text.len > 0) {
        /* a failure stays in the stream's error flag: run_finish looks at it once. keeps (2) */
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
    writ_auto_buf line = writ_buf_make(ANSWER_TEXT_MAX);

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

static void
complain(const struct writ_cli *cli, enum writ_code code, const struct writ_err *err)
{
    if (cli->json) {
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
    complain(cli, WRIT_E_INVALID, &err);
    if (!cli->json && cli->command != NULL) {
        (void)fprintf(stderr, "Try: %s %s --help\n", cli->program->name, cli->command->words);
    } else if (!cli->json) {
        (void)fprintf(stderr, "Try: %s --help\n", cli->program->name);
    }
    return WRIT_EXIT_USAGE;
}

/* ---- parsing */

/* How many of the arguments are the words of this command: 0 when it is another. */
static int
words_match(const struct writ_command *command, int argc, const char *const *argv)
{
    struct writ_view words = writ_view_str(command->words);
    size_t space = writ_view_find(words, ' ');

    if (argc < 1 || !writ_view_equal(writ_view_str(argv[0]), writ_view_sub(words, 0, space))) {
        return 0;
    }
    if (space == words.len) {
        return 1;
    }
    words = writ_view_sub(words, space + 1, words.len);
    return argc >= 2 && writ_view_equal(writ_view_str(argv[1]), words) ? 2 : 0;
}

static const struct writ_command *
command_find(const struct writ_program *program, int argc, const char *const *argv, int *ret_words)
{
    for (const struct writ_command *command = program->commands; command->id != NULL; command++) {
        int words = words_match(command, argc, argv);
        if (words > 0) {
            *ret_words = words;
            return command;
        }
    }
    return NULL;
}

/* The state of one walk over the arguments after the command's words. */
struct parse {
    struct writ_cli *cli;
    const char **operands;
    int argc;
    const char *const *argv;
    int at;
    bool only_operands; /* after "--" */
    bool help;
    bool refused; /* already reported */
};

static void
parse_option(struct parse *parse, struct writ_view text)
{
    size_t equals = writ_view_find(text, '=');
    struct writ_view name = writ_view_sub(text, 0, equals);
    struct writ_view value = writ_view_sub(text, equals + 1, text.len);
    bool has_value = equals < text.len;
    const struct writ_option *option = option_find(parse->cli, name);

    parse->refused = true;
    if (option == NULL) {
        (void)writ_cli_usage(
            parse->cli, "there is no option --" WRIT_VIEW_FMT, WRIT_VIEW_ARG(name));
    } else if (option->kind == WRIT_OPTION_FLAG && has_value) {
        (void)writ_cli_usage(parse->cli, "--%s takes no value", option->name);
    } else if (option->kind != WRIT_OPTION_FLAG && !has_value && parse->at >= parse->argc) {
        (void)writ_cli_usage(parse->cli, "--%s needs a value: %s", option->name, option->arg);
    } else if (given_find(parse->cli, option) != NULL) {
        (void)writ_cli_usage(parse->cli, "--%s is given twice", option->name);
    } else {
        parse->refused = false;
        if (option->kind != WRIT_OPTION_FLAG && !has_value) {
            value = writ_view_str(parse->argv[parse->at++]);
        }
        parse->cli->given[parse->cli->given_count++] = (struct writ_given){option, value};
    }
}

static void
parse_one(struct parse *parse)
{
    const char *arg = parse->argv[parse->at++];
    struct writ_view text = writ_view_str(arg);

    if (parse->only_operands || same(arg, "-") || !writ_view_has_prefix(text, WRIT_LIT("-"))) {
        parse->operands[parse->cli->operand_count++] = arg;
    } else if (same(arg, "--")) {
        parse->only_operands = true;
    } else if (same(arg, "--help") || same(arg, "-h")) {
        parse->help = true;
    } else if (same(arg, "--json")) {
        parse->cli->json = true;
    } else if (writ_view_has_prefix(text, WRIT_LIT("--"))) {
        parse_option(parse, writ_view_sub(text, 2, text.len));
    } else {
        (void)writ_cli_usage(parse->cli, "there is no option %s", arg);
        parse->refused = true;
    }
}

/* What only the end of the line can tell. */
static bool
parse_complete(const struct writ_cli *cli)
{
    for (const struct writ_option *option = cli->program->options; option->name != NULL; option++) {
        if (same(option->command, cli->command->id) && option->kind == WRIT_OPTION_REQUIRED &&
            given_find(cli, option) == NULL) {
            (void)writ_cli_usage(cli, "--%s %s is missing", option->name, option->arg);
            return false;
        }
    }
    if (cli->operand_count < cli->command->least) {
        (void)writ_cli_usage(cli, "%s is missing", cli->command->operands);
        return false;
    }
    if (cli->operand_count > cli->command->most) {
        (void)writ_cli_usage(cli, "one argument too many: %s", cli->operands[cli->command->most]);
        return false;
    }
    return true;
}

/* ---- running */

static enum writ_exit
show_command_help(const struct writ_cli *cli)
{
    writ_auto_buf text = writ_buf_make(ANSWER_TEXT_MAX);

    writ_help_command(&text, cli->program, cli->command);
    writ_help_show(cli->json, &text);
    return WRIT_EXIT_OK;
}

static enum writ_exit
run_parsed(struct writ_cli *cli, const char **operands, int argc, const char *const *argv)
{
    struct parse parse = {.cli = cli, .operands = operands, .argc = argc, .argv = argv};

    for (int i = 0; i < argc && !same(argv[i], "--"); i++) {
        cli->json = cli->json || same(argv[i], "--json"); /* also for what is refused before it */
    }
    while (parse.at < argc && !parse.refused) {
        parse_one(&parse);
    }
    if (parse.refused) {
        return WRIT_EXIT_USAGE;
    }
    if (parse.help) {
        return show_command_help(cli);
    }
    if (!parse_complete(cli)) {
        return WRIT_EXIT_USAGE;
    }
    return cli->command->run(cli);
}

static enum writ_exit
run_command(struct writ_cli *cli, int argc, const char *const *argv)
{
    size_t room = (size_t)argc + 1;
    struct writ_given *given = writ_alloc(room * sizeof(*given));
    const char **operands = writ_alloc(room * sizeof(*operands));
    enum writ_exit exit = WRIT_EXIT_ENVIRONMENT;

    if (given == NULL || operands == NULL) {
        exit = writ_cli_fail(cli, (writ_result){WRIT_E_NOMEM}, NULL);
    } else {
        cli->given = given;
        cli->operands = operands;
        exit = run_parsed(cli, operands, argc, argv);
    }
    writ_free(given);
    writ_free(operands);
    return exit;
}

static bool
is_group(const struct writ_program *program, const char *word)
{
    for (const struct writ_command *command = program->commands; command->id != NULL; command++) {
        struct writ_view words = writ_view_str(command->words);
        size_t space = writ_view_find(words, ' ');
        if (space < words.len && writ_view_is(writ_view_sub(words, 0, space), word)) {
            return true;
        }
    }
    return false;
}

/* A word that is a command of another program now: one line that names that program. */
static bool
tell_moved(const struct writ_cli *cli, const char *word)
{
    struct writ_err err = {0};

    for (const struct writ_moved *moved = cli->program->moved; moved->word != NULL; moved++) {
        if (same(word, moved->word)) {
            (void)writ_fail(&err, WRIT_E_INVALID, "%s is a command of another program: run %s",
                moved->word, moved->program);
            complain(cli, WRIT_E_INVALID, &err);
            return true;
        }
    }
    return false;
}

/* The command line names no command: --version, --help, a group alone, or a mistake. */
static enum writ_exit
run_without_command(struct writ_cli *cli, int argc, const char *const *argv)
{
    writ_auto_buf text = writ_buf_make(ANSWER_TEXT_MAX);
    const char *word = argc > 0 ? argv[0] : "--help";
    const char *second = argc > 1 ? argv[1] : "";

    cli->json = same(second, "--json");
    if (same(word, "--version")) {
        if (cli->json) {
            writ_cli_print("{\"version\":\"%s\"}\n", WRIT_VERSION);
        } else {
            writ_cli_print("%s %s\n", cli->program->name, WRIT_VERSION);
        }
        return WRIT_EXIT_OK;
    }
    if (same(word, "--help") || same(word, "-h")) {
        writ_help_overview(&text, cli->program, NULL);
        writ_help_show(cli->json, &text);
        return argc > 0 ? WRIT_EXIT_OK : WRIT_EXIT_USAGE;
    }
    if (tell_moved(cli, word)) {
        return WRIT_EXIT_USAGE;
    }
    if (!is_group(cli->program, word)) {
        return writ_cli_usage(cli, "there is no command %s", word);
    }
    if (argc == 1 || same(second, "--help") || same(second, "-h")) {
        writ_help_overview(&text, cli->program, word);
        writ_help_show(cli->json, &text);
        return argc > 1 ? WRIT_EXIT_OK : WRIT_EXIT_USAGE;
    }
    return writ_cli_usage(cli, "there is no command %s %s", word, second);
}

/* An answer that was lost on its way out is not an answer. keeps (2) */
static enum writ_exit
run_finish(const struct writ_cli *cli, enum writ_exit exit)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        (void)fprintf(stderr, "%s: standard output cannot be written\n", cli->program->name);
        return WRIT_EXIT_ENVIRONMENT;
    }
    return exit;
}

static enum writ_exit
run_program(const struct writ_program *program, int argc, const char *const *argv)
{
    struct writ_cli cli = {.program = program, .clock = writ_clock_system()};
    int words = 0;

    cli.command = command_find(program, argc, argv, &words);
    if (cli.command == NULL) {
        return run_finish(&cli, run_without_command(&cli, argc, argv));
    }
    return run_finish(&cli, run_command(&cli, argc - words, argv + words));
}

/* ---- the process around it */

/* The next file that is opened takes the number of a closed standard stream: a ledger or a
 * connection would get the output. /dev/null takes the number first, for reading alone, so that
 * output still fails and the program reports it. */
static bool
hold_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd) {
            return false;
        }
    }
    return true;
}

int
writ_cli_main(const struct writ_program *program, int argc, char **argv)
{
    int named = argc > 0 ? 1 : 0; /* the program itself */

    if (!hold_standard_streams()) { /* standard error may be closed too */
        return WRIT_EXIT_ENVIRONMENT;
    }
    return (int)run_program(program, argc - named, (const char *const *)argv + named);
}
