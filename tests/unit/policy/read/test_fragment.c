/* fragment.h: the tools of one file are others, everything else is the configuration's own. */
#include "policy/decide/policy.h"
#include "policy/model/rule.h"
#include "policy/read/load.h"
#include "policy/read/standing.h"
#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[64], file[96], inner[96], part[128];

static void
put(const char *path, const char *text)
{
    FILE *out = fopen(path, "we");

    ck_assert_ptr_nonnull(out);
    ck_assert_int_ge(fputs(text, out), 0);
    ck_assert_int_eq(fclose(out), 0);
}

static void
setup(void)
{
    (void)snprintf(top, sizeof top, "/tmp/writ-fragment-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(top));
    (void)snprintf(file, sizeof file, "%s/c.yaml", top);
    (void)snprintf(inner, sizeof inner, "%s/p", top);
    (void)snprintf(part, sizeof part, "%s/p/a.yaml", top);
    ck_assert_int_eq(mkdir(inner, S_IRWXU), 0);
    put(file, "agents: [{id: dev, anonymous: true}]\ninclude: p\ntools:\n  fs/a: {scope: s}\n");
    put(part, "agreed: true\ntools:\n  fs/b: {scope: s}\n");
}

static void
teardown(void)
{
    ck_assert_int_eq(unlink(part), 0);
    ck_assert_int_eq(rmdir(inner), 0);
    ck_assert_int_eq(unlink(file), 0);
    ck_assert_int_eq(rmdir(top), 0);
}

/* The names of the tools, and the file of the last one. */
static void
check(const char *of, const char *first, const char *second)
{
    struct writ_config *config = NULL;

    ck_assert_ok(writ_load_tools(
        file, writ_view_str(of), WRIT_LIT("tools: {fs/z: {scope: s}}"), &config, NULL));
    ck_assert_uint_eq(config->policy->n, 2);
    ck_assert(writ_view_is(config->policy->entries[0].key, first));
    ck_assert(writ_view_is(config->policy->entries[1].key, second));
    for (size_t i = 0; i < 2; i++) {
        const struct writ_tool_entry *entry = &config->policy->entries[i];

        ck_assert(writ_view_is(entry->key, "fs/z") ==
                  writ_view_is(writ_standing_file(config, entry->rules[0].node), "edit"));
    }
    writ_config_drop(config);
}

START_TEST(load_tools_replaces_the_rules_of_one_file)
{
    setup();
    check(file, "fs/z", "fs/b");
    check(part, "fs/a", "fs/z");
    teardown();
}
END_TEST

START_TEST(load_tools_refuses_all_but_tools)
{
    static const struct {
        const char *text;
        enum writ_code code;
    } cases[] = {
        {"keys: x", WRIT_E_INVALID},
        {"tools: {}\nkeys: x", WRIT_E_INVALID},
        {"tools: []", WRIT_E_INVALID},
        {"[]", WRIT_E_INVALID},
        {"tools: {fs/z: {scop: s}}", WRIT_E_INVALID},
        {"{", WRIT_E_INVALID},
    };
    struct writ_config *config = NULL;
    struct writ_err err = {0};

    setup();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_msg(
            writ_load_tools(file, writ_view_str(file), writ_view_str(cases[i].text), &config, &err)
                    .code == cases[i].code,
            "case %zu: %s", i, err.text);
        ck_assert_msg(writ_view_has_prefix(writ_view_str(err.text), WRIT_LIT("edit:")),
            "case %zu: %s", i, err.text);
        ck_assert_ptr_null(config);
    }
    ck_assert_int_eq(writ_load_tools(file, WRIT_LIT("/etc/passwd"),
                         WRIT_LIT("tools: {fs/z: {scope: s}}"), &config, &err)
                         .code,
        WRIT_E_ABSENT);
    teardown();
}
END_TEST

WRIT_UNIT_MAIN(
    "fragment", load_tools_replaces_the_rules_of_one_file, load_tools_refuses_all_but_tools)
