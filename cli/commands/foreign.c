/* writ verify foreign: evidence in other formats. The answer is positive only when every file holds
 * alone and all hold together. */
#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/crew/crew_files.h"
#include "evidence/jose/jwks.h"
#include "evidence/jose/pem.h"
#include "evidence/json/write.h"
#include "evidence/vaara/vaara.h"
#include "evidence/vaara/vaara_receipt.h"

#include <sys/stat.h>

#define FILE_MAX    ((size_t)16 << 20)
#define ARENA_MAX   ((size_t)2 << 30)
#define FILES_MAX   ((size_t)65536)
#define SECRET_MAX  ((size_t)4096)
#define ANSWER_MAX  ((size_t)256 << 20)
#define PROFILE     "vaara-v0"
#define SECOND_US   1000000
#define SHOWN_SEQS  16 /* gaps that a line for people names */
#define REVOKED_SEP '@'

static const struct writ_json_limits file_limits = {
    .bytes = FILE_MAX,
    .depth = 64,
    .values = (size_t)4 << 20,
    .name_bytes = FILE_MAX,
    .string_bytes = FILE_MAX,
    .number_bytes = WRIT_NUMBER_MAX,
};

/* One run of the command. */
struct foreign {
    const struct writ_cli *cli;
    struct writ_arena *arena;
    struct writ_jwks *set;   /* --keys, when it is a JWKS */
    struct writ_jwk *single; /* --keys, when it is PEM */
    struct writ_buf secret;
    struct writ_vaara_terms terms;
    const char **paths; /* the operands, and the files of those that are folders */
    struct writ_vaara_finding *findings;
    size_t n;
    struct writ_completeness report;
    bool has_report;
};

static void
foreign_wipe(struct foreign *f)
{
    writ_jwks_free(f->set);
    writ_jwk_free(f->single);
    writ_buf_wipe_secret(&f->secret);
    writ_arena_free(f->arena);
}

/* ---- reading */

static WRIT_RESULT
read_keys(struct foreign *f, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(WRIT_JWKS_BYTES_MAX);
    struct writ_vaara_keys *keys = &f->terms.keys;
    const char *path = writ_cli_get(f->cli, "keys").ptr;

    if (!writ_cli_has(f->cli, "keys")) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_cli_read(path, WRIT_JWKS_BYTES_MAX, &text, err));
    if (writ_view_has_prefix(writ_buf_view(&text), WRIT_LIT("-----"))) {
        WRIT_TRY(writ_fail_in(err, writ_pem_read_key(writ_buf_view(&text), &f->single, err), path));
        keys->keys[keys->count++] = f->single;
        return WRIT_DONE;
    }
    WRIT_TRY(writ_fail_in(err, writ_jwks_read(writ_buf_view(&text), &f->set, err), path));
    for (size_t i = 0; i < writ_jwks_count(f->set); i++) {
        keys->keys[keys->count++] = writ_jwks_key(f->set, i);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_secret(struct foreign *f, struct writ_err *err)
{
    f->secret = writ_buf_make(SECRET_MAX);
    if (writ_cli_has(f->cli, "secret")) {
        (void)writ_buf_reserve(&f->secret, SECRET_MAX); /* its address must stay */
        WRIT_TRY(writ_cli_read(writ_cli_get(f->cli, "secret").ptr, SECRET_MAX, &f->secret, err));
        f->terms.keys.secret = writ_buf_view(&f->secret);
    }
    return WRIT_DONE;
}

/* ID@TIME; the time has no '@'. */
static WRIT_RESULT
read_revoked(struct foreign *f, struct writ_err *err)
{
    struct writ_view text = writ_cli_get(f->cli, "revoked");
    size_t at = text.len;
    int64_t since_us;

    if (!writ_cli_has(f->cli, "revoked")) {
        return WRIT_DONE;
    }
    while (at > 0 && text.ptr[at - 1] != REVOKED_SEP) {
        at--;
    }
    if (at < 2 || !writ_is_ok(writ_time_read(writ_view_sub(text, at, text.len), &since_us))) {
        WRIT_FAIL(err, WRIT_E_INVALID, "--revoked is not ID@TIME, TIME of RFC 3339");
    }
    f->terms.revoked = writ_view_sub(text, 0, at - 1);
    f->terms.revoked_since_s = since_us / SECOND_US;
    return WRIT_DONE;
}

static WRIT_RESULT
read_document(
    struct foreign *f, const char *path, struct writ_vaara_finding *ret, struct writ_err *err)
{
    struct writ_buf text = writ_buf_in(f->arena, FILE_MAX + 1);
    const struct writ_json *document = NULL;
    struct writ_err why = {0};
    writ_result result;

    WRIT_TRY(writ_cli_read(path, FILE_MAX, &text, err));
    result = writ_json_read(writ_buf_view(&text), &file_limits, f->arena, &document, &why);
    if (!writ_is_ok(result)) {
        return writ_fail_at(err, result.code, why.offset, "%s: %s", path, why.text);
    }
    return writ_vaara_check(document, &f->terms, f->arena, ret, err);
}

static writ_result
add_path(void *user, const char *path, struct writ_view stem, struct writ_err *err)
{
    struct foreign *f = user;
    struct writ_view copy = writ_view_copy(writ_view_str(path), f->arena);

    (void)stem;
    if (f->n == FILES_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "more than %zu files", FILES_MAX);
    }
    if (copy.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    f->paths[f->n++] = copy.ptr;
    return WRIT_DONE;
}

/* A folder stands for its *.json files, by name. */
static WRIT_RESULT
list(struct foreign *f, const char *operand, struct writ_err *err)
{
    struct stat about;
    size_t found = 0;

    if (stat(operand, &about) != 0 || !S_ISDIR(about.st_mode)) {
        return add_path(f, operand, writ_view_str(operand), err);
    }
    WRIT_TRY(writ_crew_files_folder(operand, add_path, f, &found, err));
    if (found == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: the folder has no *.json file", operand);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
look(struct foreign *f, struct writ_err *err)
{
    f->arena = writ_arena_new(ARENA_MAX);
    f->paths = f->arena != NULL ? writ_arena_get(f->arena, FILES_MAX * sizeof *f->paths) : NULL;
    if (f->paths == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    for (int i = 0; i < f->cli->operand_count; i++) {
        WRIT_TRY(list(f, f->cli->operands[i], err));
    }
    f->findings = writ_arena_get(f->arena, f->n * sizeof *f->findings);
    if (f->findings == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    WRIT_TRY(read_keys(f, err));
    WRIT_TRY(read_secret(f, err));
    WRIT_TRY(read_revoked(f, err));
    for (size_t i = 0; i < f->n; i++) {
        WRIT_TRY(read_document(f, f->paths[i], &f->findings[i], err));
    }
    return writ_vaara_join(f->findings, f->n, f->arena, &f->report, &f->has_report, err);
}

/* ---- answering */

static void
write_failed(
    struct writ_write *w, const char *name, const struct writ_vaara_finding *finding, bool required)
{
    writ_write_name(w, writ_view_str(name));
    writ_write_array_begin(w);
    for (int i = 0; i < WRIT_VAARA_RECEIPT_COUNT; i++) {
        enum writ_vaara_receipt_check check = (enum writ_vaara_receipt_check)i;
        if ((finding->failed >> i & 1) != 0 && writ_vaara_receipt_required(check) == required) {
            writ_write_string(w, writ_view_str(writ_vaara_receipt_id(check)));
        }
    }
    writ_write_array_end(w);
}

static void
write_faults(struct writ_write *w, const struct writ_faults *faults)
{
    writ_write_name(w, WRIT_LIT("faults"));
    writ_write_array_begin(w);
    for (size_t i = 0; faults != NULL && i < faults->count; i++) {
        writ_write_object_begin(w);
        writ_write_text(w, "pointer", writ_view_str(faults->list[i].pointer));
        writ_write_text(w, "what", writ_view_str(faults->list[i].what));
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
}

static void
write_finding(struct writ_write *w, const char *path, const struct writ_vaara_finding *finding)
{
    struct writ_view verdict = writ_vaara_verdict(finding);

    writ_write_object_begin(w);
    writ_write_text(w, "file", writ_view_str(path));
    writ_write_text(w, "kind", writ_view_str(writ_vaara_kind_name(finding->kind)));
    writ_write_flag(w, "holds", finding->holds);
    writ_write_flag(w, "authentic", finding->authentic);
    write_faults(w, finding->faults);
    if (writ_vaara_is_record(finding->kind)) {
        write_failed(w, "required_failed", finding, true);
        write_failed(w, "advisories", finding, false);
    }
    if (verdict.len > 0) {
        writ_write_text(w, "verdict", verdict);
        writ_write_text(w, "reason", writ_reason_name(finding->reason));
    }
    writ_write_object_end(w);
}

static bool
holds(const struct foreign *f)
{
    for (size_t i = 0; i < f->n; i++) {
        if (!f->findings[i].holds) {
            return false;
        }
    }
    return !f->has_report || f->report.whole;
}

static WRIT_RESULT
answer_json(const struct foreign *f, struct writ_buf *text, struct writ_err *err)
{
    struct writ_write w = writ_write_to(text);

    writ_write_object_begin(&w);
    writ_write_flag(&w, "ok", holds(f));
    writ_write_name(&w, WRIT_LIT("files"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < f->n; i++) {
        write_finding(&w, f->paths[i], &f->findings[i]);
    }
    writ_write_array_end(&w);
    writ_write_name(&w, WRIT_LIT("completeness"));
    if (f->has_report) {
        writ_auto_buf report = writ_buf_make(ANSWER_MAX);
        WRIT_TRY(writ_completeness_put(&f->report, &report, err));
        writ_write_raw(&w, writ_buf_view(&report));
    } else {
        writ_write_null(&w);
    }
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    writ_buf_byte(text, '\n');
    return writ_buf_check(text, err);
}

static void
put_why(struct writ_buf *text, const struct writ_vaara_finding *finding)
{
    struct writ_view verdict = writ_vaara_verdict(finding);

    if (finding->faults != NULL) {
        writ_buf_str(text, ": ");
        writ_faults_put(finding->faults, text);
    } else if (verdict.len > 0 && !finding->holds) {
        writ_buf_fmt(text, ": " WRIT_VIEW_FMT, WRIT_VIEW_ARG(verdict));
        if (!writ_view_equal(verdict, writ_reason_name(finding->reason))) {
            writ_buf_fmt(
                text, " (" WRIT_VIEW_FMT ")", WRIT_VIEW_ARG(writ_reason_name(finding->reason)));
        }
    }
    for (int i = 0; i < WRIT_VAARA_RECEIPT_COUNT; i++) {
        if ((finding->failed >> i & 1) != 0) {
            writ_buf_fmt(text, ": %s", writ_vaara_receipt_id((enum writ_vaara_receipt_check)i));
        }
    }
}

static void
put_report(struct writ_buf *text, const struct writ_completeness *report)
{
    writ_buf_fmt(text, "%s: %llu of %llu records", report->whole ? "whole" : "not whole",
        (unsigned long long)report->held, (unsigned long long)report->expected);
    for (size_t i = 0; i < report->missing_count && i < SHOWN_SEQS; i++) {
        writ_buf_fmt(text, "%s %llu", i == 0 ? ", missing" : ",",
            (unsigned long long)report->missing[i].first);
        if (report->missing[i].last > report->missing[i].first) {
            writ_buf_fmt(text, "-%llu", (unsigned long long)report->missing[i].last);
        }
    }
    writ_buf_fmt(text, "%s\n", report->sealed ? "" : ", without a seal");
}

static WRIT_RESULT
answer_text(const struct foreign *f, struct writ_buf *text, struct writ_err *err)
{
    for (size_t i = 0; i < f->n; i++) {
        writ_buf_fmt(text, "%s: %s %s", f->paths[i], f->findings[i].holds ? "ok" : "no",
            writ_vaara_kind_name(f->findings[i].kind));
        put_why(text, &f->findings[i]);
        writ_buf_byte(text, '\n');
    }
    if (f->has_report) {
        put_report(text, &f->report);
    }
    return writ_buf_check(text, err);
}

enum writ_exit
writ_command_verify_foreign(const struct writ_cli *cli)
{
    WRIT_AUTO(struct foreign, foreign_wipe) f = {.cli = cli};
    writ_auto_buf text = writ_buf_make(ANSWER_MAX);
    struct writ_err err = {0};
    writ_result result;

    if (!writ_view_is(writ_cli_get(cli, "profile"), PROFILE)) {
        return writ_cli_usage(cli, "--profile is unknown: use " PROFILE);
    }
    result = look(&f, &err);
    if (writ_is_ok(result)) {
        result = cli->json ? answer_json(&f, &text, &err) : answer_text(&f, &text, &err);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    writ_cli_put(writ_buf_view(&text));
    return holds(&f) ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}
