/* A program: finds the command, parses its options by the table, and runs it. A command's function
 * runs only with options that its rows name, each at most as often as its kind allows, and with a
 * number of operands within its row's limits. */
#include "cli/base/program.h"

#include "cli/base/help.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static bool
same(const char *a, const char *b)
{
    return writ_view_is(writ_view_str(a), b);
}

/* ---- parsing */

/* The number of arguments that are the words of this command: 0 for another command. */
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
    const struct writ_option *option = writ_cli_option(parse->cli, name);

    parse->refused = true;
    if (option == NULL) {
        (void)writ_cli_usage(parse->cli, "unknown option --" WRIT_VIEW_FMT, WRIT_VIEW_ARG(name));
    } else if (option->kind == WRIT_OPTION_FLAG && has_value) {
        (void)writ_cli_usage(parse->cli, "--%s takes no value", option->name);
    } else if (option->kind != WRIT_OPTION_FLAG && !has_value && parse->at >= parse->argc) {
        (void)writ_cli_usage(parse->cli, "--%s needs a value: %s", option->name, option->arg);
    } else if (writ_cli_given(parse->cli, option) != NULL) {
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
        (void)writ_cli_usage(parse->cli, "unknown option %s", arg);
        parse->refused = true;
    }
}

/* Checks that need the whole command line. */
static bool
parse_complete(const struct writ_cli *cli)
{
    for (const struct writ_option *option = cli->program->options; option->name != NULL; option++) {
        if (same(option->command, cli->command->id) && option->kind == WRIT_OPTION_REQUIRED &&
            writ_cli_given(cli, option) == NULL) {
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
    writ_auto_buf text = writ_buf_make(WRIT_CLI_ANSWER_MAX);

    writ_help_command(&text, cli->program, cli->command);
    writ_help_show(cli->json, &text);
    return WRIT_EXIT_OK;
}

static enum writ_exit
run_parsed(struct writ_cli *cli, const char **operands, int argc, const char *const *argv)
{
    struct parse parse = {.cli = cli, .operands = operands, .argc = argc, .argv = argv};

    for (int i = 0; i < argc && !same(argv[i], "--"); i++) {
        cli->json = cli->json || same(argv[i], "--json"); /* also for a mistake before it */
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

/* The word is now a command of another program: prints one line that names that program. */
static bool
tell_moved(const struct writ_cli *cli, const char *word)
{
    struct writ_err err = {0};

    for (const struct writ_moved *moved = cli->program->moved; moved->word != NULL; moved++) {
        if (same(word, moved->word)) {
            (void)writ_cli_fail(cli,
                writ_fail(&err, WRIT_E_INVALID, "%s is a command of another program: run %s",
                    moved->word, moved->program),
                &err);
            return true;
        }
    }
    return false;
}

/* The command line names no command: --version, --help, a group alone, or a mistake. */
static enum writ_exit
run_without_command(struct writ_cli *cli, int argc, const char *const *argv)
{
    writ_auto_buf text = writ_buf_make(WRIT_CLI_ANSWER_MAX);
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
        return writ_cli_usage(cli, "unknown command %s", word);
    }
    if (argc == 1 || same(second, "--help") || same(second, "-h")) {
        writ_help_overview(&text, cli->program, word);
        writ_help_show(cli->json, &text);
        return argc > 1 ? WRIT_EXIT_OK : WRIT_EXIT_USAGE;
    }
    return writ_cli_usage(cli, "unknown command %s %s", word, second);
}

/* An answer that was lost on its way out is not an answer. */
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
writ_program_main(const struct writ_program *program, int argc, char **argv)
{
    int named = argc > 0 ? 1 : 0; /* the program itself */

    if (!hold_standard_streams()) { /* standard error may be closed too */
        return WRIT_EXIT_ENVIRONMENT;
    }
    /* a file that may not grow is a failed write, which the command reports and cleans up after */
    (void)signal(SIGXFSZ, SIG_IGN);
    return (int)run_program(program, argc - named, (const char *const *)argv + named);
}
