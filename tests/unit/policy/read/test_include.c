/* include.h: files of a folder become parts of the configuration, findings name the file, and a
 * file that is not agreed refuses every call. */
#include "policy/decide/policy.h"
#include "policy/read/load.h"
#include "support/evidence/value.h"
#include "support/policy/ruling.h"
#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMED_MAX 4 /* files of one test */

/* A configuration c.yaml and the folder p beside it. */
struct place {
    char folder[32];
    struct {
        char path[64];
    } files[NAMED_MAX];
    size_t n;
};

static void
add(struct place *place, const char *name, const char *text)
{
    char path[64];
    FILE *file;

    ck_assert_uint_lt(place->n, NAMED_MAX);
    (void)snprintf(path, sizeof path, "%s/%s", place->folder, name);
    (void)snprintf(place->files[place->n++].path, sizeof path, "%s", path);
    file = fopen(path, "we");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static struct place
place_with(const char *config)
{
    struct place place = {.folder = "/tmp/writ-include-XXXXXX"};
    char inner[64];

    ck_assert_ptr_nonnull(mkdtemp(place.folder));
    (void)snprintf(inner, sizeof inner, "%s/p", place.folder);
    ck_assert_int_eq(mkdir(inner, 0700), 0);
    add(&place, "c.yaml", config);
    return place;
}

static void
remove_place(struct place *place)
{
    char inner[64];

    while (place->n > 0) {
        ck_assert_int_eq(unlink(place->files[--place->n].path), 0);
    }
    (void)snprintf(inner, sizeof inner, "%s/p", place->folder);
    ck_assert_int_eq(rmdir(inner), 0);
    ck_assert_int_eq(rmdir(place->folder), 0);
}

/* Everything that is found, with the folder cut off where it begins a line. */
static struct writ_buf
found_in(const struct place *place, struct writ_config **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
    struct writ_view folder = writ_view_str(place->folder);
    struct writ_buf cut = writ_buf_make(1 << 16);
    writ_auto_buf text = writ_buf_make(1 << 16);
    struct writ_view rest;
    writ_result result = writ_load_file(place->files[0].path, &findings, ret, err);

    ck_assert_int_eq(writ_is_ok(result), findings.errors == 0);
    writ_findings_put(&findings, writ_view_str(place->files[0].path), &text);
    rest = writ_buf_view(&text);
    while (rest.len > 0) {
        size_t at = writ_view_search(rest, folder);
        writ_buf_put(&cut, writ_view_sub(rest, 0, at));
        rest = writ_view_sub(rest, at < rest.len ? at + folder.len + 1 : at, rest.len);
    }
    writ_buf_byte(&cut, '\0');
    ck_assert_ok(writ_buf_check(&cut, NULL));
    return cut;
}

#define AGENTS "agents: [{anonymous: true, id: dev, tenant: acme, role: operator}]\n"

START_TEST(load_reads_included_files_by_name_as_parts_of_the_configuration)
{
    struct place place = place_with("include: p\n" AGENTS "upstreams: {a: {stdio: [x]}}\n"
                                    "tools: {a/t: {scope: first}}\n");
    struct writ_config *config = NULL;
    writ_auto_buf found = {0};

    add(&place, "p/2.yaml", "tools: {b/*: {scope: third}}\n");
    add(&place, "p/1.yaml",
        "upstreams: {b: {http: 'http://127.0.0.1:1/'}}\n"
        "frameworks: {crew: {}}\n"
        "tools: {b/t*: {scope: second}}\n"
        "reviews: {all: {voters: [{id: ann}], threshold: '1'}}\n"
        "reviewers: {ann: {}}\n");
    add(&place, "p/ignored.yml", "isuer: x\n");
    found = found_in(&place, &config, NULL);
    ck_assert_str_eq(found.ptr, "");
    remove_place(&place);
    ck_assert_uint_eq(config->upstreams_n, 2);
    ck_assert_uint_eq(config->frameworks_n, 1);
    ck_assert_uint_eq(config->reviews_n, 1);
    ck_assert_uint_eq(config->reviewers_n, 1);
    ck_assert_uint_eq(config->policy->n, 3);
    ck_assert_view(config->policy->entries[1].key, "b/t*");
    ck_assert_view(config->policy->entries[2].key, "b/*");
    ck_assert_uint_eq(config->not_agreed.n, 0);
    ck_assert_view(writ_ruling_reason(config, "b/x", "{}"), "policy_ok");
    writ_config_drop(config);
}
END_TEST

START_TEST(load_names_file_and_line_of_faults_in_included_files)
{
    struct place place = place_with("include: p\n" AGENTS "upstreams: {a: {stdio: [x]}}\n"
                                    "tools:\n"
                                    "  a/t: {scope: s}\n"
                                    "  a/u: {scop: s}\n");
    struct writ_config *config = NULL;
    struct writ_err err = {0};
    writ_auto_buf found = {0};

    add(&place, "p/1.yaml",
        "upstreams:\n"
        "  a: {stdio: [y]}\n"
        "tools:\n"
        "  a/v: {scope: s}\n"
        "  a/t: {scope: s}\n"
        "agents: []\n"
        "toolz: {}\n");
    add(&place, "p/2.yaml",
        "tools:\n"
        "  a/v: {scope: REPLACE_WITH_A_SCOPE}\n"
        "reviews: 5\n");
    add(&place, "p/3.yaml", "tools: {\n");
    found = found_in(&place, &config, &err);
    ck_assert_str_eq(found.ptr,
        "c.yaml:6: /tools/a~1u/scop: unknown option; did you mean \"scope\"?\n"
        "c.yaml:6: /tools/a~1u: warning: has no scope: every call is refused (scope_missing)\n"
        "p/1.yaml:2: /upstreams/a: written twice; the other is on line 3 of c.yaml\n"
        "p/1.yaml:5: /tools/a~1t: written twice; the other is on line 5 of c.yaml\n"
        "p/1.yaml:6: /agents: is not for an included file. Write it in c.yaml\n"
        "p/1.yaml:7: /toolz: unknown option; did you mean \"tools\"?\n"
        "p/2.yaml:2: /tools/a~1v/scope: is still the placeholder REPLACE_WITH_A_SCOPE. Write your "
        "own value in its place\n"
        "p/2.yaml:2: /tools/a~1v: written twice; the other is on line 4 of p/1.yaml\n"
        "p/2.yaml:3: /reviews: must be a map, not a text\n"
        "p/3.yaml:2: not readable as YAML: did not find expected node content, while parsing a "
        "flow node\n");
    ck_assert_msg(
        writ_view_has_prefix(writ_view_str(err.text), writ_view_str(place.folder)), "%s", err.text);
    remove_place(&place);
}
END_TEST

START_TEST(load_refuses_a_folder_that_is_not_there)
{
    struct place place = place_with("include: q\n" AGENTS "upstreams: {a: {stdio: [x]}}\n"
                                    "tools: {a/t: {scope: s}}\n");
    struct writ_config *config = NULL;
    writ_auto_buf found = found_in(&place, &config, NULL);

    ck_assert_str_eq(found.ptr, "c.yaml:1: /include: q: No such file or directory\n");
    remove_place(&place);
}
END_TEST

#define MAIN                                                                                       \
    "include: p\n" AGENTS "upstreams: {a: {stdio: [x]}}\n"                                         \
    "tools:\n"                                                                                     \
    "  a/t: {scope: s}\n"                                                                          \
    "  a/probed: {scope: s, state: {tool: b/get}}\n"                                               \
    "  b/ours: {scope: s, shadow: true}\n"
#define PROPOSED                                                                                   \
    "upstreams: {b: {stdio: [y]}}\n"                                                               \
    "tools:\n"                                                                                     \
    "  a/mine: {scope: s}\n"                                                                       \
    "  b/t:\n"                                                                                     \
    "    roles: [operator]\n"                                                                      \
    "    arguments: [{arg: path, op: under, value: REPLACE_WITH_A_FOLDER}]\n"                      \
    "  b/u: {scope: s, timeout: REPLACE_WITH_A_TIME, agents: [REPLACE_WITH_AN_AGENT]}\n"           \
    "  b/v: REPLACE_WITH_A_RULE\n"

START_TEST(load_of_a_file_without_agreement_refuses_every_call)
{
    static const char *const refused[] = {
        "a/mine", "a/probed", "b/ours", "b/t", "b/u", "b/v", "b/unknown"};
    const struct writ_agent dev = {
        .id = WRIT_LIT("dev"), .tenant = WRIT_LIT("acme"), .role = WRIT_LIT("operator")};
    struct place place = place_with(MAIN);
    struct writ_config *config = NULL;
    writ_auto_buf found = {0};

    add(&place, "p/1.yaml", "agreed: false\n" PROPOSED);
    found = found_in(&place, &config, NULL);
    ck_assert_str_eq(found.ptr,
        "c.yaml:7: /tools/b~1ours: warning: shadow: calls run whatever the verdict is\n"
        "p/1.yaml:1: /agreed: warning: not agreed: every call to its tools is refused. Read its "
        "rules, replace the placeholders, and set agreed: true\n"
        "p/1.yaml:7: /tools/b~1t/arguments/0/value: warning: is still the placeholder "
        "REPLACE_WITH_A_FOLDER. Write your own value in its place\n"
        "p/1.yaml:8: /tools/b~1u/timeout: warning: is still the placeholder REPLACE_WITH_A_TIME. "
        "Write your own value in its place\n"
        "p/1.yaml:8: /tools/b~1u/agents/0: warning: is still the placeholder "
        "REPLACE_WITH_AN_AGENT. Write your own value in its place\n"
        "p/1.yaml:8: /tools/b~1u/agents: warning: no entry of agents can be "
        "\"REPLACE_WITH_AN_AGENT\"\n"
        "p/1.yaml:9: /tools/b~1v: warning: is still the placeholder REPLACE_WITH_A_RULE. Write "
        "your own value in its place\n");
    remove_place(&place);
    ck_assert_view(writ_ruling_reason(config, "a/t", "{}"), "policy_ok");
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        struct writ_verdict verdict;

        writ_ruling_decide_text(config, refused[i], "{}", arena, &verdict);
        ck_assert_int_eq(verdict.answer, WRIT_POLICY_DENY);
        ck_assert_msg(verdict.reason == WRIT_REASON_NOT_AGREED, "%s", refused[i]);
        ck_assert_msg(!verdict.shadow, "%s", refused[i]);
        ck_assert_uint_gt(verdict.policy_refs.n, 0);
    }
    /* listed are those that are for the caller */
    ck_assert_ptr_nonnull(writ_policy_find(config, &dev, WRIT_LIT("b"), WRIT_LIT("t"), NULL));
    ck_assert_ptr_null(writ_policy_find(config, &dev, WRIT_LIT("b"), WRIT_LIT("u"), NULL));
    writ_config_drop(config);
}
END_TEST

START_TEST(load_of_a_file_without_agreement_needs_complete_upstreams)
{
    struct place place = place_with(MAIN);
    struct writ_config *config = NULL;
    writ_auto_buf found = {0};

    add(&place, "p/1.yaml", "agreed: false\nupstreams: {b: {stdio: [y, REPLACE_WITH_A_FOLDER]}}\n");
    found = found_in(&place, &config, NULL);
    ck_assert(writ_view_search(writ_view_str(found.ptr),
                  WRIT_LIT("p/1.yaml:2: /upstreams/b/stdio/1: is still the placeholder "
                           "REPLACE_WITH_A_FOLDER.")) < found.len);
    remove_place(&place);
}
END_TEST

START_TEST(agreement_changes_the_policy_digest)
{
    struct writ_digest digests[3];
    static const char *const heads[] = {"agreed: false\n", "agreed: true\n", ""};

    for (size_t i = 0; i < 3; i++) {
        struct place place = place_with("include: p\n" AGENTS "upstreams: {a: {stdio: [x]}}\n");
        struct writ_config *config = NULL;
        writ_auto_buf found = {0};
        char text[100];

        (void)snprintf(text, sizeof text, "%stools: {a/t: {scope: s}}\n", heads[i]);
        add(&place, "p/1.yaml", text);
        found = found_in(&place, &config, NULL);
        remove_place(&place);
        ck_assert_ptr_nonnull(config);
        digests[i] = config->policy_digest;
        writ_config_drop(config);
    }
    ck_assert(!writ_digest_equal(&digests[0], &digests[1]));
    ck_assert(writ_digest_equal(&digests[1], &digests[2]));
}
END_TEST

START_TEST(load_of_included_files_without_memory_is_an_error_or_the_same)
{
    struct place place = place_with(MAIN);
    struct writ_config *want = NULL;
    bool reached = true;

    add(&place, "p/1.yaml", "agreed: false\n" PROPOSED);
    ck_assert_ok(writ_load_file(place.files[0].path, NULL, &want, NULL));
    for (long nth = 1; reached; nth++) {
        struct writ_config *got = NULL;
        writ_result result;

        writ_fault_arm(nth);
        result = writ_load_file(place.files[0].path, NULL, &got, NULL);
        reached = writ_fault_disarm();
        if (writ_is_ok(result)) {
            ck_assert_uint_eq(got->not_agreed.n, want->not_agreed.n);
            ck_assert(writ_digest_equal(&got->policy_digest, &want->policy_digest));
        } else {
            ck_assert_msg(result.code == WRIT_E_NOMEM, "allocation %ld: %d", nth, result.code);
        }
        writ_config_drop(got);
    }
    writ_config_drop(want);
    remove_place(&place);
}
END_TEST

WRIT_UNIT_MAIN("include", load_reads_included_files_by_name_as_parts_of_the_configuration,
    load_names_file_and_line_of_faults_in_included_files, load_refuses_a_folder_that_is_not_there,
    load_of_a_file_without_agreement_refuses_every_call,
    load_of_a_file_without_agreement_needs_complete_upstreams, agreement_changes_the_policy_digest,
    load_of_included_files_without_memory_is_an_error_or_the_same)
