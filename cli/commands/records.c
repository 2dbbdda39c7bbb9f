/* writ records ...: converts between our records and plain GovernanceDecision JSON. A record with
 * any fault is reported and never printed in our form. */
#include "cli/commands/command.h"
#include "evidence/record/derive.h"
#include "evidence/record/extension.h"
#include "evidence/proof/detached_record.h"
#include "evidence/json/jcs.h"
#include "evidence/record/profile.h"
#include "evidence/json/write.h"

#include <stdio.h>

#define TEXT_MAX  ((size_t)1 << 30)
#define ARENA_MAX ((size_t)4 << 30)
#define LINE_MAX  ((size_t)8 << 20)
#define FAULT_MAX ((size_t)16384)

static const struct writ_json_limits limits = {
    .bytes = WRIT_JSON_BYTES_MAX,
    .depth = 64 + 4, /* a record, and what is around it */
    .values = WRIT_JSON_BYTES_MAX,
    .name_bytes = LINE_MAX,
    .string_bytes = LINE_MAX,
    .number_bytes = WRIT_NUMBER_MAX,
};

/* One run of a command. */
struct records {
    const struct writ_cli *cli;
    bool ours; /* to our form: checked, and with its kind */
    uint64_t n, faulty;
};

/* ---- one record */

static enum writ_detached_record_kind
kind_of(const struct writ_json *record)
{
    return writ_json_get(record, WRIT_LIT("decision")) != NULL  ? WRIT_DETACHED_RECORD_DECISION
           : writ_json_get(record, WRIT_LIT("outcome")) != NULL ? WRIT_DETACHED_RECORD_OUTCOME
           : writ_json_get(record, WRIT_LIT("sealed")) != NULL  ? WRIT_DETACHED_RECORD_SEAL
           : writ_json_get(record, WRIT_LIT("event")) != NULL   ? WRIT_DETACHED_RECORD_REVIEW
                                                                : WRIT_DETACHED_RECORD_NONE;
}

/* The profile that the record names, or the default of the contract. */
static const struct writ_profile *
profile_of(const struct writ_decision *decision, struct writ_arena *arena)
{
    struct writ_extension extension = {0};
    const struct writ_profile *profile = NULL;

    if (writ_is_ok(writ_extension_read(&decision->extensions, arena, &extension, NULL)) &&
        extension.profile.is == WRIT_PRESENT) {
        profile = writ_profile_find(extension.profile.view);
    }
    return profile != NULL ? profile : writ_profile_default();
}

static WRIT_RESULT
check_decision(const struct writ_json *record, struct writ_arena *arena, struct writ_faults *ret,
    struct writ_err *err)
{
    struct writ_decision decision;

    WRIT_TRY(writ_decision_read(record, arena, &decision, err));
    writ_decision_validate(&decision, ret);
    return writ_decision_recompute(&decision, profile_of(&decision, arena), ret, err);
}

/* All faults of a record. */
static WRIT_RESULT
check_record(const struct writ_json *record, struct writ_arena *arena, struct writ_faults *ret,
    struct writ_err *err)
{
    struct writ_outcome outcome;
    struct writ_seal seal;
    struct writ_review_record review;

    switch (kind_of(record)) {
    case WRIT_DETACHED_RECORD_DECISION:
        return check_decision(record, arena, ret, err);
    case WRIT_DETACHED_RECORD_OUTCOME:
        WRIT_TRY(writ_outcome_read(record, arena, &outcome, err));
        writ_outcome_validate(&outcome, ret);
        return WRIT_DONE;
    case WRIT_DETACHED_RECORD_SEAL:
        WRIT_TRY(writ_seal_read(record, arena, &seal, err));
        writ_seal_validate(&seal, ret);
        return WRIT_DONE;
    case WRIT_DETACHED_RECORD_REVIEW:
        WRIT_TRY(writ_review_record_read(record, arena, &review, err));
        writ_review_record_validate(&review, ret);
        return WRIT_DONE;
    case WRIT_DETACHED_RECORD_NONE:
        break;
    }
    writ_faults_add(ret, "", "is not a decision, outcome, seal or review");
    return WRIT_DONE;
}

/* The record in a line of `writ ledger export`, or the value itself. NULL for a line without a
 * record. */
static const struct writ_json *
unwrapped(const struct writ_json *value)
{
    const struct writ_json *kind = writ_json_get(value, WRIT_LIT("kind"));

    if (writ_json_type(kind) != WRIT_JSON_STRING) {
        return value;
    }
    return writ_json_get(value, WRIT_LIT("record"));
}

static WRIT_RESULT
put_record(struct records *run, const struct writ_json *record, struct writ_err *err)
{
    writ_auto_buf line = writ_buf_make(LINE_MAX);

    if (run->ours) {
        writ_buf_str(&line, "{\"kind\":\"");
        writ_buf_put(&line, writ_detached_record_kind_name(kind_of(record)));
        writ_buf_str(&line, "\",\"record\":");
    }
    WRIT_TRY(writ_jcs_put(&line, record, err));
    writ_buf_str(&line, run->ours ? "}" : "");
    if (!run->cli->json) {
        writ_buf_byte(&line, '\n');
    }
    WRIT_TRY(writ_buf_check(&line, err));
    writ_cli_put(run->cli->json && run->n > run->faulty ? WRIT_LIT(",") : WRIT_LIT(""));
    writ_cli_put(writ_buf_view(&line));
    return WRIT_DONE;
}

static WRIT_RESULT
take(struct records *run, const struct writ_json *value, struct writ_arena *arena,
    struct writ_err *err)
{
    const struct writ_json *record = unwrapped(value);
    writ_auto_buf text = writ_buf_make(FAULT_MAX);
    struct writ_faults faults = {0};

    if (record == NULL) {
        return WRIT_DONE; /* the completeness report of an export is not a record */
    }
    if (run->ours) {
        WRIT_TRY(check_record(record, arena, &faults, err));
    }
    if (faults.count > 0) {
        writ_faults_put(&faults, &text);
        (void)fprintf(stderr, "record %llu: " WRIT_VIEW_FMT "\n", (unsigned long long)run->n,
            WRIT_VIEW_ARG(writ_buf_view(&text)));
        run->n++;
        run->faulty++;
        return WRIT_DONE;
    }
    WRIT_TRY(put_record(run, record, err));
    run->n++;
    return WRIT_DONE;
}

/* ---- the input: lines, or one value */

static WRIT_RESULT
take_lines(struct records *run, struct writ_view text, struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    for (size_t from = 0; from < text.len;) {
        struct writ_view rest = writ_view_sub(text, from, text.len);
        struct writ_view line = writ_view_sub(rest, 0, writ_view_find(rest, '\n'));
        const struct writ_json *value = NULL;

        from += line.len + 1;
        if (writ_view_trim(line).len == 0) {
            continue;
        }
        WRIT_TRY(writ_json_read(line, &limits, arena, &value, err));
        WRIT_TRY(take(run, value, arena, err));
        writ_arena_reset(arena);
    }
    return WRIT_DONE;
}

/* One value, possibly over several lines: a record, or a list of them. */
static WRIT_RESULT
take_value(struct records *run, struct writ_view text, struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    const struct writ_json *value = NULL, *records;

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    WRIT_TRY(writ_json_read(text, &limits, arena, &value, err));
    records = writ_json_get_typed(value, WRIT_LIT("records"), WRIT_JSON_ARRAY);
    if (records == NULL && writ_json_type(value) != WRIT_JSON_ARRAY) {
        return take(run, value, arena, err);
    }
    WRIT_JSON_EACH(item, records != NULL ? records : value)
    {
        WRIT_TRY(take(run, item, arena, err));
    }
    return WRIT_DONE;
}

/* Lines, when the first line is a value other than a list. */
static bool
is_lines(struct writ_view text)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    struct writ_view first = writ_view_sub(text, 0, writ_view_find(text, '\n'));
    const struct writ_json *value = NULL;

    return arena != NULL && first.len < text.len &&
           writ_is_ok(writ_json_read(first, &limits, arena, &value, NULL)) &&
           writ_json_type(value) == WRIT_JSON_OBJECT &&
           writ_view_trim(writ_view_sub(text, first.len + 1, text.len)).len > 0;
}

static enum writ_exit
convert(const struct writ_cli *cli, bool ours)
{
    struct records run = {.cli = cli, .ours = ours};
    writ_auto_buf text = writ_buf_make(TEXT_MAX);
    struct writ_err err = {0};
    writ_result result =
        writ_cli_read(cli->operand_count > 0 ? cli->operands[0] : "-", TEXT_MAX - 1, &text, &err);

    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    writ_cli_put(cli->json ? WRIT_LIT("{\"records\":[") : WRIT_LIT(""));
    result = is_lines(writ_buf_view(&text)) ? take_lines(&run, writ_buf_view(&text), &err)
                                            : take_value(&run, writ_buf_view(&text), &err);
    writ_cli_put(cli->json ? WRIT_LIT("]}\n") : WRIT_LIT(""));
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    return run.faulty == 0 ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}

enum writ_exit
writ_command_records_plain(const struct writ_cli *cli)
{
    return convert(cli, false);
}

enum writ_exit
writ_command_records_ours(const struct writ_cli *cli)
{
    return convert(cli, true);
}
