/* writ tools program: the digests of the files that a server over stdio is made of, as lines for
 * its program_digest, and whether they are the ones of the configuration or the accepted ones.
 * --accept accepts exactly the digests that it prints. */
#include "base/text.h"
#include "cli/commands/command.h"
#include "evidence/json/write.h"
#include "gateway/io/exec_env.h"
#include "gateway/io/program_files.h"
#include "gateway/state/acceptance.h"
#include "policy/read/load.h"
#include "store/trusted/keydir.h"

#define OUTPUT_MAX ((size_t)1 << 20)
#define ENTRY_MAX  65536

struct programs {
    const struct writ_cli *cli;
    struct writ_config *config;
    const struct writ_upstream_config *server;
    struct writ_exec_env around;
    struct writ_spawn_plan *plan;
    struct writ_keyring *keys;
    struct writ_acceptance definitions; /* read when a file says accepted */
    struct writ_buf output;
    struct writ_write w;
    bool differs;
};

static void
programs_wipe(struct programs *programs)
{
    writ_spawn_plan_free(programs->plan);
    writ_exec_env_wipe(&programs->around);
    writ_acceptance_wipe(&programs->definitions);
    writ_keyring_free(programs->keys);
    writ_config_drop(programs->config);
    writ_buf_wipe(&programs->output);
}

static WRIT_RESULT
open_programs(struct programs *programs, struct writ_err *err)
{
    struct writ_view name = writ_cli_operand(programs->cli, 1);
    const struct writ_upstream_config *server;

    WRIT_TRY(writ_load_file(writ_cli_operand(programs->cli, 0).ptr, NULL, &programs->config, err));
    server = writ_config_upstream(programs->config, name);
    if (server == NULL || server->kind != WRIT_UPSTREAM_STDIO) {
        WRIT_FAIL(err, WRIT_E_ABSENT,
            WRIT_VIEW_FMT ": the configuration has no upstream of that name that speaks over stdio",
            WRIT_VIEW_ARG(name));
    }
    WRIT_TRY(writ_exec_env_make(
        &server->stdio, &server->inherit, &server->environment, &programs->around, err));
    programs->server = server;
    return writ_spawn_plan_new(programs->around.argv, programs->around.environment,
        server->directory.len > 0 ? server->directory.ptr : NULL, &programs->plan, err);
}

static bool
accepts(const struct programs *programs)
{
    return writ_cli_has(programs->cli, "accept");
}

static WRIT_RESULT
open_accepted(struct programs *programs, struct writ_err *err)
{
    const struct writ_config *config = programs->config;
    const struct writ_program_config *program = &programs->server->program;
    size_t i = 0;

    while (i < program->n && !program->files[i].accepted) {
        i++;
    }
    if (i == program->n && accepts(programs)) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            WRIT_VIEW_FMT ": no file of its program_digest has `accepted` in place of a digest",
            WRIT_VIEW_ARG(programs->server->name));
    }
    if (i == program->n) {
        return WRIT_DONE;
    }
    WRIT_TRY(accepts(programs) ? writ_keydir_load(config->keys.ptr, &programs->keys, err)
                               : writ_keydir_list(config->keys.ptr, &programs->keys, err));
    return writ_acceptance_open(config, programs->keys, &programs->definitions, err);
}

static const struct writ_program_file *
pinned(const struct programs *programs, struct writ_view name)
{
    const struct writ_program_config *program = &programs->server->program;

    for (size_t i = 0; i < program->n; i++) {
        if (writ_view_equal(program->files[i].name, name)) {
            return &program->files[i];
        }
    }
    return NULL;
}

static const char *
compare(const struct writ_digest *found, const struct writ_digest *expected)
{
    return writ_digest_equal(found, expected) ? "same" : "changed";
}

/* Of a file that says accepted; accepts it where that is wanted. */
static WRIT_RESULT
state_accepted(struct programs *programs, struct writ_view file, const struct writ_digest *found,
    const char **ret, struct writ_err *err)
{
    writ_auto_buf name = writ_buf_make(ENTRY_MAX), text = writ_buf_make(ENTRY_MAX);
    const struct writ_definition *known;
    struct writ_definition now;

    WRIT_TRY(
        writ_program_files_entry(programs->server->name, file, found, &name, &text, &now, err));
    if (accepts(programs)) {
        WRIT_TRY(writ_acceptance_take(
            &programs->definitions, &now, writ_clock_wall_us(programs->cli->clock), err));
    }
    known = writ_definitions_find(programs->definitions.accepted, now.name);
    *ret = known != NULL ? compare(&now.digest, &known->digest) : "not_accepted";
    return WRIT_DONE;
}

static WRIT_RESULT
state_of(struct programs *programs, struct writ_view file, const struct writ_program_file *known,
    const struct writ_digest *found, const char **ret, struct writ_err *err)
{
    if (found != NULL && known != NULL && known->accepted) {
        return state_accepted(programs, file, found, ret, err);
    }
    *ret = found == NULL ? "missing" : known == NULL ? "new" : compare(found, &known->digest);
    return WRIT_DONE;
}

static void
put_digest(struct writ_write *w, const char *name, const struct writ_digest *digest)
{
    char text[WRIT_DIGEST_TEXT];

    writ_write_name(w, writ_view_str(name));
    if (digest == NULL) {
        writ_write_null(w);
        return;
    }
    writ_digest_text(digest, text);
    writ_write_string(w, writ_view_str(text));
}

/* A line of program_digest as it stands there, or as it can be added. */
static void
put_line(struct writ_buf *output, struct writ_view name, const struct writ_digest *found,
    bool accepted, const char *state)
{
    writ_buf_str(output, found == NULL ? "      # " : "      ");
    writ_text_json(output, name);
    writ_buf_str(output, accepted && found != NULL ? ": accepted  # " : ": ");
    if (found != NULL) {
        writ_digest_put(output, found);
    }
    writ_buf_fmt(output, "%s%s\n", found == NULL ? "" : accepted ? " " : "  # ", state);
}

static WRIT_RESULT
put_file(struct programs *programs, struct writ_view name, const struct writ_digest *found,
    struct writ_err *err)
{
    const struct writ_program_file *known = pinned(programs, name);
    bool accepted = known != NULL && known->accepted;
    const char *state;

    WRIT_TRY(state_of(programs, name, known, found, &state, err));
    programs->differs =
        programs->differs || (known != NULL && !writ_view_is(writ_view_str(state), "same"));
    if (!programs->cli->json) {
        put_line(&programs->output, name, found, accepted, state);
        return WRIT_DONE;
    }
    writ_write_object_begin(&programs->w);
    writ_write_text(&programs->w, "file", name);
    writ_write_text(&programs->w, "state", writ_view_str(state));
    put_digest(&programs->w, "digest", found);
    put_digest(&programs->w, "expected", known != NULL && !accepted ? &known->digest : NULL);
    writ_write_object_end(&programs->w);
    return WRIT_DONE;
}

/* An argument that is not the path of a file is left out; a file of the configuration is not. */
static WRIT_RESULT
look_at(struct programs *programs, struct writ_view name, bool needed, struct writ_err *err)
{
    struct writ_digest found;
    writ_result r = writ_program_files_digest(
        name, programs->plan, programs->cli->clock, &found, needed ? err : NULL);

    if (writ_is_ok(r)) {
        return put_file(programs, name, &found, err);
    }
    if (r.code == WRIT_E_ABSENT && pinned(programs, name) != NULL && !accepts(programs)) {
        return put_file(programs, name, NULL, err);
    }
    if (needed) {
        return r;
    }
    return WRIT_DONE;
}

static WRIT_RESULT
look_at_all(struct programs *programs, struct writ_err *err)
{
    const struct writ_views *argv = &programs->server->stdio;
    const struct writ_program_config *program = &programs->server->program;

    for (size_t i = 0; i < argv->n; i++) {
        bool again = writ_config_has_name(&(struct writ_views){argv->items, i}, argv->items[i]);

        if (!again && pinned(programs, argv->items[i]) == NULL && argv->items[i].len > 0) {
            WRIT_TRY(look_at(programs, argv->items[i], i == 0, err));
        }
    }
    for (size_t i = 0; i < program->n; i++) {
        WRIT_TRY(look_at(programs, program->files[i].name, true, err));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
show(struct programs *programs, struct writ_err *err)
{
    programs->w = writ_write_to(&programs->output);
    if (!programs->cli->json) {
        writ_buf_str(&programs->output, "upstreams:\n  ");
        writ_buf_put(&programs->output, programs->server->name);
        writ_buf_str(&programs->output, ":\n    program_digest:\n");
        WRIT_TRY(look_at_all(programs, err));
        return writ_buf_check(&programs->output, err);
    }
    writ_write_object_begin(&programs->w);
    writ_write_text(&programs->w, "upstream", programs->server->name);
    writ_write_name(&programs->w, WRIT_LIT("files"));
    writ_write_array_begin(&programs->w);
    WRIT_TRY(look_at_all(programs, err));
    writ_write_array_end(&programs->w);
    writ_write_object_end(&programs->w);
    WRIT_TRY(writ_write_end(&programs->w, err));
    writ_buf_byte(&programs->output, '\n');
    return writ_buf_check(&programs->output, err);
}

static WRIT_RESULT
run(struct programs *programs, struct writ_err *err)
{
    WRIT_TRY(open_programs(programs, err));
    WRIT_TRY(open_accepted(programs, err));
    WRIT_TRY(show(programs, err));
    if (!accepts(programs)) {
        return WRIT_DONE;
    }
    return writ_definitions_save(programs->config->files.ptr, WRIT_DEFINITIONS_ACCEPTED,
        programs->definitions.accepted,
        writ_keyring_active(programs->keys, WRIT_KEY_PURPOSE_LEDGER), err);
}

enum writ_exit
writ_command_tools_program(const struct writ_cli *cli)
{
    WRIT_AUTO(struct programs, programs_wipe)
    programs = {.cli = cli, .output = writ_buf_make(OUTPUT_MAX)};
    struct writ_err err = {0};
    writ_result result = run(&programs, &err);

    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    writ_cli_put(writ_buf_view(&programs.output));
    return programs.differs ? WRIT_EXIT_NEGATIVE : WRIT_EXIT_OK;
}
