/* Help for a terminal and for man(1). All of it comes from the tables of a program and exit.tbl.h,
 * so it cannot name an option that the program lacks, or leave one out. The same program always
 * gives the same bytes: a lint compares the manual with docs/. */
#include "cli/base/command.h"
#include "cli/base/completion.h"
#include "cli/base/help.h"

#include "base/text.h"

#define COLUMNS     79 /* of help on a terminal */
#define OPTION_TEXT 26 /* column at which the sentence of an option begins */
#define MANUAL_MAX  (1U << 20)

struct exit_row {
    int value;
    const char *sentence;
};

static const struct exit_row exit_rows[] = {
#define WRIT_EXIT_ROW(name, value, sentence) {(value), (sentence)},
#include "cli/base/exit.tbl.h"
#undef WRIT_EXIT_ROW
};

#define EXIT_ROWS (sizeof(exit_rows) / sizeof(exit_rows[0]))

const struct writ_option writ_common_options[] = {
    {"", "json", NULL, "Answer with one JSON value; report a failure as a JSON object.",
        WRIT_OPTION_FLAG},
    {"", "help", NULL, "Show how the command is used.", WRIT_OPTION_FLAG},
    {0},
};

static bool
belongs(const struct writ_option *option, const struct writ_command *command)
{
    return writ_view_is(writ_view_str(option->command), command->id);
}

static bool
in_group(const struct writ_command *command, const char *word)
{
    struct writ_view words = writ_view_str(command->words);
    return word == NULL || writ_view_is(writ_view_sub(words, 0, writ_view_find(words, ' ')), word);
}

/* ---- a terminal */

static void
put_spaces(struct writ_buf *ret, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        writ_buf_byte(ret, ' ');
    }
}

/* Words of `text`, wrapped, from column `at` on, further lines indented by `indent`. */
static void
put_wrapped(struct writ_buf *ret, const char *text, size_t at, size_t indent)
{
    struct writ_view rest = writ_view_str(text);
    bool first = true;

    while (rest.len > 0) {
        struct writ_view word = writ_view_sub(rest, 0, writ_view_find(rest, ' '));
        rest = writ_view_sub(rest, word.len + 1, rest.len);
        if (!first && at + 1 + word.len > COLUMNS) {
            writ_buf_byte(ret, '\n');
            put_spaces(ret, indent);
            at = indent;
        } else if (!first) {
            writ_buf_byte(ret, ' ');
            at++;
        }
        writ_buf_put(ret, word);
        at += word.len;
        first = false;
    }
    writ_buf_byte(ret, '\n');
}

static void
put_option(struct writ_buf *ret, const struct writ_option *option)
{
    size_t before = ret->len;
    size_t width;

    writ_buf_fmt(ret, "  --%s%s%s", option->name, option->arg != NULL ? " " : "",
        option->arg != NULL ? option->arg : "");
    width = ret->len - before;
    if (width + 2 > OPTION_TEXT) {
        writ_buf_byte(ret, '\n');
        width = 0;
    }
    put_spaces(ret, OPTION_TEXT - width);
    put_wrapped(ret, option->sentence, OPTION_TEXT, OPTION_TEXT);
}

static void
put_exit_codes(struct writ_buf *ret)
{
    writ_buf_str(ret, "\nExit codes:\n");
    for (size_t i = 0; i < EXIT_ROWS; i++) {
        writ_buf_fmt(ret, "  %d  ", exit_rows[i].value);
        put_wrapped(ret, exit_rows[i].sentence, 5, 5);
    }
}

void
writ_help_overview(struct writ_buf *ret, const struct writ_program *program, const char *word)
{
    writ_buf_fmt(ret, "usage: %s %s [options]\n\n", program->name, word != NULL ? word : "COMMAND");
    for (const struct writ_command *command = program->commands; command->id != NULL; command++) {
        struct writ_view words = writ_view_str(command->words);
        if (in_group(command, word)) {
            writ_buf_fmt(ret, "  %s", command->words);
            put_spaces(ret, words.len < 21 ? 21 - words.len : 1);
            put_wrapped(ret, command->summary, 23, 23);
        }
    }
    writ_buf_fmt(ret, "\n`%s help COMMAND` explains a command. `%s --version` names the version.\n",
        program->name, program->name);
    put_exit_codes(ret);
}

static void
put_usage(
    struct writ_buf *ret, const struct writ_program *program, const struct writ_command *command)
{
    writ_buf_fmt(ret, "usage: %s %s", program->name, command->words);
    for (const struct writ_option *option = program->options; option->name != NULL; option++) {
        if (belongs(option, command) && option->kind == WRIT_OPTION_REQUIRED) {
            writ_buf_fmt(ret, " --%s %s", option->name, option->arg);
        }
    }
    writ_buf_fmt(
        ret, " [options]%s%s\n\n", command->operands[0] != '\0' ? " " : "", command->operands);
}

void
writ_help_command(
    struct writ_buf *ret, const struct writ_program *program, const struct writ_command *command)
{
    put_usage(ret, program, command);
    writ_buf_fmt(ret, "%s.\n", command->summary);
    if (command->text[0] != '\0') {
        writ_buf_byte(ret, '\n');
        put_wrapped(ret, command->text, 0, 0);
    }
    writ_buf_str(ret, "\nOptions:\n");
    for (const struct writ_option *option = program->options; option->name != NULL; option++) {
        if (belongs(option, command)) {
            put_option(ret, option);
        }
    }
    for (const struct writ_option *option = writ_common_options; option->name != NULL; option++) {
        put_option(ret, option);
    }
    put_exit_codes(ret);
}

/* ---- the manual */

/* Text for man(7), without a newline at its end: a backslash, a dash and a leading dot or quote
 * need escapes. */
static void
put_roff(struct writ_buf *ret, const char *text)
{
    struct writ_view rest = writ_view_str(text);

    if (rest.len > 0 && (rest.ptr[0] == '.' || rest.ptr[0] == '\'')) {
        writ_buf_str(ret, "\\&");
    }
    for (size_t i = 0; i < rest.len; i++) {
        if (rest.ptr[i] == '\\') {
            writ_buf_str(ret, "\\e");
        } else if (rest.ptr[i] == '-') {
            writ_buf_str(ret, "\\-");
        } else {
            writ_buf_byte(ret, rest.ptr[i]);
        }
    }
}

static void
put_roff_option(struct writ_buf *ret, const struct writ_option *option)
{
    writ_buf_str(ret, ".TP\n\\fB\\-\\-");
    put_roff(ret, option->name);
    writ_buf_str(ret, "\\fR");
    if (option->arg != NULL) {
        writ_buf_str(ret, " \\fI");
        put_roff(ret, option->arg);
        writ_buf_str(ret, "\\fR");
    }
    writ_buf_byte(ret, '\n');
    put_roff(ret, option->sentence);
    writ_buf_byte(ret, '\n');
}

static void
put_roff_words(
    struct writ_buf *ret, const struct writ_program *program, const struct writ_command *command)
{
    put_roff(ret, program->name);
    writ_buf_fmt(ret, " %s", command->words);
    if (command->operands[0] != '\0') {
        writ_buf_fmt(ret, " %s", command->operands);
    }
    writ_buf_byte(ret, '\n');
}

static void
put_roff_text(struct writ_buf *ret, const struct writ_command *command)
{
    put_roff(ret, command->summary);
    writ_buf_str(ret, ".\n");
    if (command->text[0] != '\0') {
        writ_buf_str(ret, ".PP\n");
        put_roff(ret, command->text);
        writ_buf_byte(ret, '\n');
    }
}

static void
put_roff_options(
    struct writ_buf *ret, const struct writ_program *program, const struct writ_command *command)
{
    for (const struct writ_option *option = program->options; option->name != NULL; option++) {
        if (belongs(option, command)) {
            put_roff_option(ret, option);
        }
    }
}

/* The name of a page: words joined by dashes, as `dash`. */
static void
put_page_name(struct writ_buf *ret, const char *words, bool upper, const char *dash)
{
    for (const char *at = words; *at != '\0'; at++) {
        if (*at == ' ' || *at == '-') {
            writ_buf_str(ret, dash);
        } else {
            writ_buf_byte(ret, upper && *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at);
        }
    }
}

/* The first lines of the page of a command, or of the program when `command` is NULL. */
static void
put_roff_title(
    struct writ_buf *ret, const struct writ_program *program, const struct writ_command *command)
{
    writ_buf_fmt(ret, ".\\\" Made by `%s help --manual` from %s. Do not edit.\n.TH ", program->name,
        program->source);
    put_page_name(ret, program->name, true, "-");
    if (command != NULL) {
        writ_buf_byte(ret, '-');
        put_page_name(ret, command->words, true, "-");
    }
    writ_buf_fmt(ret, " 1 \"\" \"%s\" \"Writ manual\"\n.SH NAME\n", program->name);
    put_page_name(ret, program->name, false, "\\-");
    if (command != NULL) {
        writ_buf_str(ret, "\\-");
        put_page_name(ret, command->words, false, "\\-");
    }
    writ_buf_str(ret, " \\- ");
    put_roff(ret, command != NULL ? command->summary : program->summary);
}

static void
put_roff_head(struct writ_buf *ret, const struct writ_program *program)
{
    put_roff_title(ret, program, NULL);
    writ_buf_str(ret, "\n.SH SYNOPSIS\n.B ");
    put_roff(ret, program->name);
    writ_buf_str(ret, "\n.I COMMAND\n[options]\n.br\n.B ");
    put_roff(ret, program->name);
    writ_buf_str(ret, " \\-\\-version\n[\\-\\-json]\n.SH DESCRIPTION\n");
    put_roff(ret, program->text);
    writ_buf_str(ret, "\n.SH COMMANDS\n");
}

static void
put_roff_exits(struct writ_buf *ret)
{
    writ_buf_str(ret, ".SH EXIT STATUS\n");
    for (size_t i = 0; i < EXIT_ROWS; i++) {
        writ_buf_fmt(ret, ".TP\n.B %d\n", exit_rows[i].value);
        put_roff(ret, exit_rows[i].sentence);
        writ_buf_byte(ret, '\n');
    }
}

void
writ_help_manual(struct writ_buf *ret, const struct writ_program *program)
{
    put_roff_head(ret, program);
    for (const struct writ_command *command = program->commands; command->id != NULL; command++) {
        writ_buf_str(ret, ".SS ");
        put_roff_words(ret, program, command);
        put_roff_text(ret, command);
        put_roff_options(ret, program, command);
    }
    writ_buf_str(ret, ".SH OPTIONS OF EVERY COMMAND\n");
    for (const struct writ_option *option = writ_common_options; option->name != NULL; option++) {
        put_roff_option(ret, option);
    }
    put_roff_exits(ret);
}

void
writ_help_page(
    struct writ_buf *ret, const struct writ_program *program, const struct writ_command *command)
{
    put_roff_title(ret, program, command);
    writ_buf_str(ret, "\n.SH SYNOPSIS\n.B ");
    put_roff_words(ret, program, command);
    writ_buf_str(ret, ".SH DESCRIPTION\n");
    put_roff_text(ret, command);
    writ_buf_str(ret, ".SH OPTIONS\n");
    put_roff_options(ret, program, command);
    for (const struct writ_option *option = writ_common_options; option->name != NULL; option++) {
        put_roff_option(ret, option);
    }
    put_roff_exits(ret);
    writ_buf_fmt(ret, ".SH SEE ALSO\n.BR %s (1)\n", program->name);
}

/* ---- the command */

void
writ_help_show(bool json, const struct writ_buf *text)
{
    writ_auto_buf quoted = writ_buf_make(2 * MANUAL_MAX);

    if (!json) {
        writ_cli_put(writ_buf_view(text));
        return;
    }
    writ_buf_str(&quoted, "{\"help\":");
    writ_text_json(&quoted, writ_buf_view(text));
    writ_buf_str(&quoted, "}\n");
    writ_cli_put(writ_buf_view(&quoted));
}

static const struct writ_command *
command_named(const struct writ_program *program, struct writ_view first, struct writ_view second)
{
    for (const struct writ_command *command = program->commands; command->id != NULL; command++) {
        struct writ_view words = writ_view_str(command->words);
        size_t space = writ_view_find(words, ' ');
        if (writ_view_equal(writ_view_sub(words, 0, space), first) &&
            writ_view_equal(writ_view_sub(words, space + 1, words.len), second)) {
            return command;
        }
    }
    return NULL;
}

static bool
group_exists(const struct writ_program *program, const char *word)
{
    for (const struct writ_command *command = program->commands; command->id != NULL; command++) {
        if (in_group(command, word)) {
            return true;
        }
    }
    return false;
}

enum writ_exit
writ_command_help(const struct writ_cli *cli)
{
    writ_auto_buf text = writ_buf_make(MANUAL_MAX);
    const struct writ_command *command =
        command_named(cli->program, writ_cli_operand(cli, 0), writ_cli_operand(cli, 1));
    struct writ_view shell = writ_cli_get(cli, "completion");
    struct writ_err err = {0};

    if (shell.ptr != NULL) {
        writ_result result = writ_completion(&text, cli->program, shell, &err);
        if (!writ_is_ok(result)) {
            return writ_cli_usage(cli, "%s", err.text);
        }
    } else if (command != NULL && writ_cli_has(cli, "manual")) {
        writ_help_page(&text, cli->program, command);
    } else if (cli->operand_count == 0 && writ_cli_has(cli, "manual")) {
        writ_help_manual(&text, cli->program);
    } else if (command != NULL) {
        writ_help_command(&text, cli->program, command);
    } else if (cli->operand_count == 0) {
        writ_help_overview(&text, cli->program, NULL);
    } else if (cli->operand_count == 1 && group_exists(cli->program, cli->operands[0])) {
        writ_help_overview(&text, cli->program, cli->operands[0]);
    } else {
        return writ_cli_usage(cli, "unknown command");
    }
    writ_result made = writ_buf_check(&text, &err);
    if (!writ_is_ok(made)) {
        return writ_cli_fail(cli, made, &err);
    }
    writ_help_show(cli->json, &text);
    return WRIT_EXIT_OK;
}
