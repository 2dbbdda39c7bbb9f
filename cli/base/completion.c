/* Completion scripts for bash, zsh and fish. A script is data and one small function: the commands
 * and options stand in it as the tables have them, so it completes exactly what the program takes.
 * Every text is quoted for its shell. */
#include "cli/base/completion.h"

#include "base/text.h"

/* ---- the tables, as scripts need them */

static struct writ_view
first_word(const struct writ_command *command)
{
    struct writ_view words = writ_view_str(command->words);
    return writ_view_sub(words, 0, writ_view_find(words, ' '));
}

/* Empty for a command of one word. */
static struct writ_view
second_word(const struct writ_command *command)
{
    struct writ_view words = writ_view_str(command->words);
    return writ_view_sub(words, writ_view_find(words, ' ') + 1, words.len);
}

/* The command is the first of the table with its first word: one line of the script names all of
 * them. */
static bool
begins_group(const struct writ_program *program, const struct writ_command *command)
{
    const struct writ_command *at = program->commands;
    while (!writ_view_equal(first_word(at), first_word(command))) {
        at++;
    }
    return at == command;
}

/* Calls `put` for each option of the command, also for those that every command has. */
static void
each_option(struct writ_buf *ret, const struct writ_program *program,
    const struct writ_command *command,
    void (*put)(
        struct writ_buf *ret, const struct writ_command *command, const struct writ_option *option))
{
    for (const struct writ_option *option = program->options; option->name != NULL; option++) {
        if (writ_view_is(writ_view_str(option->command), command->id)) {
            put(ret, command, option);
        }
    }
    for (const struct writ_option *option = writ_common_options; option->name != NULL; option++) {
        put(ret, command, option);
    }
}

/* Text inside single quotes, in which `escaped` stands for a quote. */
static void
put_quoted(struct writ_buf *ret, const char *text, const char *escaped)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '\'') {
            writ_buf_str(ret, escaped);
        } else if (*at == '\\' && escaped[0] == '\\') {
            writ_buf_str(ret, "\\\\");
        } else {
            writ_buf_byte(ret, *at);
        }
    }
}

/* Where the text of a group stands: its one command's summary, or what its commands share. */
static void
put_summary(struct writ_buf *ret, const struct writ_command *command, const char *escaped)
{
    if (second_word(command).len == 0) {
        put_quoted(ret, command->summary, escaped);
    } else {
        writ_buf_fmt(ret, "commands of " WRIT_VIEW_FMT, WRIT_VIEW_ARG(first_word(command)));
    }
}

/* ---- bash */

static void
bash_option(
    struct writ_buf *ret, const struct writ_command *command, const struct writ_option *option)
{
    (void)command;
    writ_buf_fmt(ret, " --%s", option->name);
}

static void
bash_words(struct writ_buf *ret, const struct writ_program *program)
{
    const struct writ_command *end = program->commands;

    writ_buf_str(ret, "    1:*) words='");
    for (; end->id != NULL; end++) {
        if (begins_group(program, end)) {
            writ_buf_fmt(ret, " " WRIT_VIEW_FMT, WRIT_VIEW_ARG(first_word(end)));
        }
    }
    writ_buf_str(ret, "' ;;\n");
    for (const struct writ_command *head = program->commands; head != end; head++) {
        if (!begins_group(program, head) || second_word(head).len == 0) {
            continue;
        }
        writ_buf_fmt(ret, "    2:" WRIT_VIEW_FMT ") words='", WRIT_VIEW_ARG(first_word(head)));
        for (const struct writ_command *at = head; at != end; at++) {
            if (writ_view_equal(first_word(at), first_word(head))) {
                writ_buf_fmt(ret, " " WRIT_VIEW_FMT, WRIT_VIEW_ARG(second_word(at)));
            }
        }
        writ_buf_str(ret, "' ;;\n");
    }
}

static void
bash_script(struct writ_buf *ret, const struct writ_program *program)
{
    writ_buf_fmt(ret,
        "_writ_complete()\n{\n    local at=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]} words=\n"
        "    case \"$at:${COMP_WORDS[1]}\" in\n");
    bash_words(ret, program);
    writ_buf_str(ret, "    esac\n    case \"$cur:${COMP_WORDS[1]} ${COMP_WORDS[2]} \" in\n");
    for (const struct writ_command *command = program->commands; command->id != NULL; command++) {
        writ_buf_fmt(ret, "    -*:'%s '*) words='", command->words);
        each_option(ret, program, command, bash_option);
        writ_buf_str(ret, "' ;;\n");
    }
    writ_buf_fmt(ret,
        "    esac\n    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n}\n"
        "complete -o default -F _writ_complete %s\n",
        program->name);
}

/* ---- zsh */

static void
zsh_option(
    struct writ_buf *ret, const struct writ_command *command, const struct writ_option *option)
{
    (void)command;
    writ_buf_fmt(ret, "\n        '--%s:", option->name);
    put_quoted(ret, option->sentence, "'\\''");
    writ_buf_byte(ret, '\'');
}

static void
zsh_words(struct writ_buf *ret, const struct writ_program *program)
{
    writ_buf_str(ret, "    (2:*) items=(");
    for (const struct writ_command *at = program->commands; at->id != NULL; at++) {
        if (begins_group(program, at)) {
            writ_buf_fmt(ret, "\n        '" WRIT_VIEW_FMT ":", WRIT_VIEW_ARG(first_word(at)));
            put_summary(ret, at, "'\\''");
            writ_buf_byte(ret, '\'');
        }
    }
    writ_buf_str(ret, ") ;;\n");
    for (const struct writ_command *head = program->commands; head->id != NULL; head++) {
        if (!begins_group(program, head) || second_word(head).len == 0) {
            continue;
        }
        writ_buf_fmt(ret, "    (3:" WRIT_VIEW_FMT ") items=(", WRIT_VIEW_ARG(first_word(head)));
        for (const struct writ_command *at = head; at->id != NULL; at++) {
            if (writ_view_equal(first_word(at), first_word(head))) {
                writ_buf_fmt(ret, "\n        '" WRIT_VIEW_FMT ":", WRIT_VIEW_ARG(second_word(at)));
                put_quoted(ret, at->summary, "'\\''");
                writ_buf_byte(ret, '\'');
            }
        }
        writ_buf_str(ret, ") ;;\n");
    }
}

static void
zsh_script(struct writ_buf *ret, const struct writ_program *program)
{
    writ_buf_str(ret, "local -a items\ncase \"$CURRENT:$words[2]\" in\n");
    zsh_words(ret, program);
    writ_buf_str(ret, "esac\ncase \"$PREFIX:$words[2] $words[3] \" in\n");
    for (const struct writ_command *command = program->commands; command->id != NULL; command++) {
        writ_buf_fmt(ret, "    (-*:'%s '*) items=(", command->words);
        each_option(ret, program, command, zsh_option);
        writ_buf_str(ret, ") ;;\n");
    }
    writ_buf_fmt(ret,
        "esac\nif (( $#items )); then\n    _describe '%s' items\nelse\n    _files\nfi\n",
        program->name);
}

/* ---- fish */

static void
fish_option(
    struct writ_buf *ret, const struct writ_command *command, const struct writ_option *option)
{
    writ_buf_fmt(ret, "complete -c $writ -n '__writ_at %s' -l %s%s -d '", command->words,
        option->name, option->arg != NULL ? " -r" : "");
    put_quoted(ret, option->sentence, "\\'");
    writ_buf_str(ret, "'\n");
}

static void
fish_script(struct writ_buf *ret, const struct writ_program *program)
{
    writ_buf_fmt(ret,
        "set -l writ %s\n"
        "# __writ_at WORD... - the command line begins with these words\n"
        "function __writ_at\n"
        "    set -l words (commandline -opc)\n"
        "    set -e words[1]\n"
        "    set -l named (count $argv)\n"
        "    test (count $words) -ge $named; and test \"$words[1..$named]\" = \"$argv\"\n"
        "end\n"
        "# __writ_next WORD... - the command line is these words alone\n"
        "function __writ_next\n"
        "    set -l words (commandline -opc)\n"
        "    set -e words[1]\n"
        "    test \"$words\" = \"$argv\"\n"
        "end\n",
        program->name);
    for (const struct writ_command *at = program->commands; at->id != NULL; at++) {
        if (begins_group(program, at)) {
            writ_buf_fmt(ret, "complete -c $writ -n '__writ_next' -f -a " WRIT_VIEW_FMT " -d '",
                WRIT_VIEW_ARG(first_word(at)));
            put_summary(ret, at, "\\'");
            writ_buf_str(ret, "'\n");
        }
        if (second_word(at).len > 0) {
            writ_buf_fmt(ret,
                "complete -c $writ -n '__writ_next " WRIT_VIEW_FMT "' -f -a " WRIT_VIEW_FMT " -d '",
                WRIT_VIEW_ARG(first_word(at)), WRIT_VIEW_ARG(second_word(at)));
            put_quoted(ret, at->summary, "\\'");
            writ_buf_str(ret, "'\n");
        }
        each_option(ret, program, at, fish_option);
    }
}

/* ---- all of them */

static const struct shell {
    const char *name;
    const char *head; /* what its first line must be; "" for none */
    void (*script)(struct writ_buf *ret, const struct writ_program *program);
} shells[] = {
    {"bash", "", bash_script},
    {"zsh", "#compdef ", zsh_script},
    {"fish", "", fish_script},
};

WRIT_RESULT
writ_completion(struct writ_buf *ret, const struct writ_program *program, struct writ_view shell,
    struct writ_err *err)
{
    for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
        if (writ_view_is(shell, shells[i].name)) {
            if (shells[i].head[0] != '\0') {
                writ_buf_fmt(ret, "%s%s\n", shells[i].head, program->name);
            }
            writ_buf_fmt(
                ret, "# Made by `%s help --completion %s`.\n", program->name, shells[i].name);
            shells[i].script(ret, program);
            return WRIT_DONE;
        }
    }
    WRIT_FAIL(err, WRIT_E_INVALID, "--completion: the shells are bash, zsh and fish");
}
