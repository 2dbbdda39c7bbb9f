/* writ doctor: a gateway's configuration, files and surroundings, one area after the other. It
 * opens everything to read, takes no lock, and works beside a running gateway. */
#include "cli/commands/doctor.h"

#include "base/text.h"
#include "cli/commands/command.h"
#include "policy/read/load.h"

#include <stdio.h>
#include <unistd.h>

#define ARENA_MAX    ((size_t)512 << 20)
#define OUTPUT_MAX   ((size_t)64 << 20)
#define MESSAGE_MAX  2048
#define DAYS_DEFAULT 30
#define DAYS_MAX     UINT64_C(1000000000000)
#define DEFAULT_NAME "writ.yaml"

static void
doctor_wipe(struct writ_doctor *d)
{
    writ_keyring_free(d->ring);
    writ_config_drop(d->config);
    writ_arena_free(d->arena);
}

const struct writ_doctor_row *
writ_doctor_row(enum writ_doctor_check check)
{
    static const struct writ_doctor_row rows[WRIT_DOCTOR_COUNT] = {
#define ROW(NAME, name, area, severity, meaning, fix)                                              \
    [WRIT_DOCTOR_##NAME] = {name, area, meaning, fix, WRIT_SEVERITY_##severity},
        WRIT_DOCTOR_CHECKS(ROW)
#undef ROW
    };

    return &rows[check];
}

/* ---- findings */

void
writ_doctor_add(struct writ_doctor *d, enum writ_doctor_check check, struct writ_doctor_place place,
    const char *fmt, ...)
{
    struct writ_doctor_finding *finding = writ_arena_get(d->arena, sizeof *finding);
    writ_auto_buf message = writ_buf_make(MESSAGE_MAX);
    writ_auto_buf safe = writ_buf_make(MESSAGE_MAX * 8);
    char line[MESSAGE_MAX];
    va_list args;

    if (writ_doctor_row(check)->severity == WRIT_SEVERITY_ERROR) {
        d->errors++;
    } else {
        d->warnings++;
    }
    va_start(args, fmt);
    (void)vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    writ_text_safe(&safe, writ_view_str(line), MESSAGE_MAX);
    if (finding == NULL) {
        d->nomem = true;
        return;
    }
    *finding = (struct writ_doctor_finding){
        .check = check, .place = place, .message = writ_view_copy(writ_buf_view(&safe), d->arena)};
    d->nomem = d->nomem || finding->message.ptr == NULL;
    *d->end = finding;
    d->end = &finding->next;
}

struct writ_doctor_place
writ_doctor_path(struct writ_view path)
{
    return (struct writ_doctor_place){.path = path};
}

/* The member or element that one part of a pointer names. */
static const struct writ_yaml *
child_of(const struct writ_yaml *node, struct writ_view part)
{
    uint64_t index;

    if (node != NULL && node->type == WRIT_YAML_LIST) {
        if (writ_is_ok(writ_text_u64(part, 0, WRIT_YAML_MEMBERS_MAX, &index))) {
            WRIT_YAML_EACH(child, node)
            {
                if (child->index == index) {
                    return child;
                }
            }
        }
        return NULL;
    }
    return writ_yaml_get(node, part);
}

struct writ_doctor_place
writ_doctor_option(const struct writ_doctor *d, const char *pointer)
{
    struct writ_view rest = writ_view_str(pointer);
    const struct writ_yaml *node = d->root;

    while (rest.len > 0 && node != NULL) {
        size_t end;

        rest = writ_view_sub(rest, 1, rest.len);
        end = writ_view_find(rest, '/');
        node = child_of(node, writ_view_sub(rest, 0, end));
        rest = writ_view_sub(rest, end, rest.len);
    }
    return (struct writ_doctor_place){.path = writ_view_str(d->file),
        .line = node != NULL ? node->line : 0,
        .pointer = writ_view_str(pointer)};
}

struct writ_doctor_place
writ_doctor_node(struct writ_doctor *d, const struct writ_yaml *node)
{
    const struct writ_yaml_source *source = writ_yaml_source(node);
    struct writ_buf pointer = writ_buf_in(d->arena, MESSAGE_MAX);

    writ_yaml_pointer(node, &pointer);
    return (struct writ_doctor_place){
        .path = source != NULL ? source->file : writ_view_str(d->file),
        .line = node->key.len > 0 ? node->key_line : node->line,
        .pointer = writ_buf_view(&pointer)};
}

/* ---- the run */

/* CONFIG, else writ.yaml of the current folder. */
static WRIT_RESULT
find_file(struct writ_doctor *d, struct writ_err *err)
{
    struct writ_view given = writ_cli_operand(d->cli, 0);

    d->file = given.len > 0 ? given.ptr : DEFAULT_NAME;
    if (given.len == 0 && access(DEFAULT_NAME, F_OK) != 0) {
        WRIT_FAIL(err, WRIT_E_ABSENT, "there is no " DEFAULT_NAME " here: name the configuration");
    }
    return WRIT_DONE;
}

static bool
days_are_right(struct writ_doctor *d)
{
    uint64_t days = DAYS_DEFAULT;

    if (writ_cli_has(d->cli, "days") &&
        !writ_is_ok(writ_text_u64(writ_cli_get(d->cli, "days"), 1, DAYS_MAX, &days))) {
        return false;
    }
    d->days = (int64_t)days;
    return true;
}

static WRIT_RESULT
look(struct writ_doctor *d, struct writ_err *err)
{
    static const struct {
        WRIT_RESULT (*look)(struct writ_doctor *d, struct writ_err *err);
    } areas[] = {
        {writ_doctor_files},
        {writ_doctor_certificates},
        {writ_doctor_keys},
        {writ_doctor_ledger},
        {writ_doctor_ports},
        {writ_doctor_gateway},
        {writ_doctor_upstreams},
        {writ_doctor_issuers},
        {writ_doctor_budgets},
    };

    d->arena = writ_arena_new(ARENA_MAX);
    if (d->arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to look at the configuration");
    }
    d->end = &d->first;
    d->now_us = writ_clock_wall_us(d->cli->clock);
    WRIT_TRY(find_file(d, err));
    WRIT_TRY(writ_doctor_configuration(d, err));
    for (size_t i = 0; d->config != NULL && i < sizeof areas / sizeof *areas; i++) {
        WRIT_TRY(areas[i].look(d, err));
    }
    if (d->nomem) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the findings");
    }
    return WRIT_DONE;
}

enum writ_exit
writ_command_doctor(const struct writ_cli *cli)
{
    WRIT_AUTO(struct writ_doctor, doctor_wipe) d = {.cli = cli};
    writ_auto_buf output = writ_buf_make(OUTPUT_MAX);
    struct writ_err err = {0};
    writ_result result;

    if (!days_are_right(&d)) {
        return writ_cli_usage(cli, "--days is a number of 1 or more");
    }
    result = look(&d, &err);
    if (writ_is_ok(result)) {
        if (cli->json) {
            writ_doctor_json(&d, &output);
        } else {
            writ_doctor_text(&d, &output);
        }
        result = writ_buf_check(&output, &err);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    writ_cli_put(writ_buf_view(&output));
    return d.errors + d.warnings == 0 ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}
