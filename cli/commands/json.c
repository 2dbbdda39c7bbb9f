/* writ json ...: the strict reader and the canonical form as tools. A text that the reader refuses
 * has no canonical form and no digest here either. */
#include "cli/commands/command.h"
#include "evidence/json/digest.h"
#include "evidence/json/jcs.h"

#include <unistd.h>

#define TEXT_MAX      ((size_t)64 << 20)
#define CANONICAL_MAX (6 * TEXT_MAX) /* every byte of a string may need \u00XX */
#define ARENA_MAX     ((size_t)512 << 20)

/* The tool's files may be longer than messages, but are read as strictly. */
static const struct writ_json_limits limits = {
    .bytes = TEXT_MAX,
    .depth = 64,
    .values = (size_t)16 << 20,
    .name_bytes = TEXT_MAX,
    .string_bytes = TEXT_MAX,
    .number_bytes = WRIT_NUMBER_MAX,
};

/* Reads the operand, or standard input, and appends its canonical form. */
static writ_result
canonical_of_operand(const struct writ_cli *cli, struct writ_buf *ret, struct writ_err *err)
{
    const char *path = cli->operand_count > 0 ? cli->operands[0] : "-";
    writ_auto_buf text = writ_buf_make(TEXT_MAX + 65536); /* more than the limit, to name it */
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    const struct writ_json *value;

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    WRIT_TRY(writ_cli_read(path, TEXT_MAX, &text, err));
    WRIT_TRY(
        writ_fail_in(err, writ_json_read(writ_buf_view(&text), &limits, arena, &value, err), path));
    return writ_fail_in(err, writ_jcs_put(ret, value, err), path);
}

enum writ_exit
writ_command_json_canon(const struct writ_cli *cli)
{
    writ_auto_buf canonical = writ_buf_make(CANONICAL_MAX);
    struct writ_err err = {0};
    writ_result result = canonical_of_operand(cli, &canonical, &err);

    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    writ_cli_put(writ_buf_view(&canonical));
    if (isatty(STDOUT_FILENO)) {
        writ_cli_print("\n"); /* for the eye; a pipe gets the exact bytes */
    }
    return WRIT_EXIT_OK;
}

enum writ_exit
writ_command_json_digest(const struct writ_cli *cli)
{
    writ_auto_buf canonical = writ_buf_make(CANONICAL_MAX);
    char text[WRIT_DIGEST_TEXT];
    struct writ_digest digest;
    struct writ_err err = {0};
    writ_result result = canonical_of_operand(cli, &canonical, &err);

    if (writ_is_ok(result)) {
        result = writ_digest_bytes(writ_buf_view(&canonical), &digest, &err);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    writ_digest_text(&digest, text);
    writ_cli_print(
        cli->json ? "{\"digest\":\"%s\",\"canonical_bytes\":%zu}\n" : "%s\n", text, canonical.len);
    return WRIT_EXIT_OK;
}
