/* The table of options. Each fallback is valid, each range holds on both sides, and the tables
 * agree with each other. */
#include "evidence/record/profile.h"
#include "policy/read/option.h"
#include "support/policy/ruling.h"
#include "support/unit.h"
#include "support/evidence/value.h"

START_TEST(every_fallback_is_a_value_that_its_option_accepts)
{
    for (int section = 0; section < WRIT_SECTION_COUNT; section++) {
        writ_auto_arena arena = writ_value_arena();
        WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
        struct writ_options o = {.arena = arena, .findings = &findings};
        _Alignas(16) char room[4096] = {0};

        writ_option_read(&o, (enum writ_section)section, NULL, room);
        ck_assert_msg(findings.errors == 0, "%s: %.*s",
            writ_setting_section((enum writ_section)section)->id,
            WRIT_VIEW_ARG(findings.items[0].message));
    }
}
END_TEST

START_TEST(every_option_has_a_sentence_and_a_range)
{
    size_t n;
    const struct writ_setting *settings = writ_setting_all(&n);

    ck_assert_uint_gt(n, 80);
    for (size_t i = 0; i < n; i++) {
        ck_assert(writ_view_has_suffix(writ_view_str(settings[i].sentence), WRIT_LIT(".")) ||
                  writ_view_has_suffix(writ_view_str(settings[i].sentence), WRIT_LIT("sum")));
        ck_assert_msg(settings[i].least <= settings[i].most, "%s", settings[i].name);
        for (size_t j = 0; j < i; j++) {
            ck_assert_msg(settings[i].section != settings[j].section ||
                              !writ_view_is(writ_view_str(settings[i].name), settings[j].name),
                "%s is there twice", settings[i].name);
        }
    }
}
END_TEST

/* An amount as it is written. */
static void
put_number(struct writ_buf *ret, const struct writ_setting *s, int64_t amount)
{
    writ_buf_fmt(ret, "%s: ", s->name);
    if (s->kind == WRIT_SETTING_DURATION) {
        writ_buf_fmt(ret, "%lldms", (long long)(amount / 1000));
    } else {
        writ_buf_fmt(ret, "%lld", (long long)amount);
    }
}

static bool
accepts(const struct writ_setting *s, int64_t amount)
{
    writ_auto_arena arena = writ_value_arena();
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
    struct writ_options o = {.arena = arena, .findings = &findings};
    writ_auto_buf yaml = writ_buf_make(1000), pointer = writ_buf_make(1000);
    _Alignas(16) char room[4096] = {0};
    const struct writ_yaml *root = NULL;

    put_number(&yaml, s, amount);
    ck_assert_ok(writ_yaml_read(writ_buf_view(&yaml), arena, &findings, &root));
    writ_option_read(&o, s->section, root, room);
    writ_buf_fmt(&pointer, "/%s", s->name);
    for (size_t i = 0; i < findings.n; i++) { /* others of the section may be required */
        if (writ_view_equal(findings.items[i].pointer, writ_buf_view(&pointer))) {
            return false;
        }
    }
    return true;
}

START_TEST(every_amount_is_accepted_from_least_to_most_and_no_further)
{
    size_t n, amounts = 0;
    const struct writ_setting *settings = writ_setting_all(&n);

    for (size_t i = 0; i < n; i++) {
        const struct writ_setting *s = &settings[i];
        int64_t step = s->kind == WRIT_SETTING_DURATION ? 1000 : 1;
        if (s->kind != WRIT_SETTING_COUNT && s->kind != WRIT_SETTING_SIZE &&
            s->kind != WRIT_SETTING_DURATION) {
            continue;
        }
        amounts++;
        ck_assert_msg(accepts(s, s->least), "%s", s->name);
        ck_assert_msg(accepts(s, s->most), "%s", s->name);
        ck_assert_msg(!accepts(s, s->least - step), "%s", s->name);
        ck_assert_msg(!accepts(s, s->most + step), "%s", s->name);
    }
    ck_assert_uint_gt(amounts, 20);
}
END_TEST

struct fault {
    const char *yaml, *found;
};

static const struct fault faults[] = {
    {"loops: x", "c.yaml:1: /loops: must be a whole number\n"},
    {"loops: 1.0", "c.yaml:1: /loops: must be a whole number\n"},
    {"loops: 1e2", "c.yaml:1: /loops: must be a whole number\n"},
    {"loops: 0x10", "c.yaml:1: /loops: must be a whole number\n"},
    {"loops: 010", "c.yaml:1: /loops: must be a whole number\n"},
    {"loops: +1", "c.yaml:1: /loops: must be a whole number\n"},
    {"loops: [1]", "c.yaml:1: /loops: must be a whole number, not a list\n"},
    {"loops:", "c.yaml:1: /loops: must be a whole number, not nothing\n"},
    {"loops: 99999999999999999999", "c.yaml:1: /loops: is out of range: must be 0 to 256\n"},
    {"limits: {body: 1TiB}",
        "c.yaml:1: /limits/body: must be a size such as 65536, 64KiB or 4MiB\n"},
    {"limits: {body: 1kib}",
        "c.yaml:1: /limits/body: must be a size such as 65536, 64KiB or 4MiB\n"},
    {"limits: {body: 65MiB}", "c.yaml:1: /limits/body: is out of range: must be 1KiB to 64MiB\n"},
    {"limits: {body: 9223372036854775807GiB}",
        "c.yaml:1: /limits/body: is out of range: must be 1KiB to 64MiB\n"},
    {"limits: {idle_timeout: 60}", "c.yaml:1: /limits/idle_timeout: must be a duration such as "
                                   "500ms, 60s, 10m, 24h or 7d\n"},
    {"limits: {idle_timeout: 1:30}", "c.yaml:1: /limits/idle_timeout: must be a duration such as "
                                     "500ms, 60s, 10m, 24h or 7d\n"},
    {"limits: {idle_timeout: 60 s}", "c.yaml:1: /limits/idle_timeout: must be a duration such as "
                                     "500ms, 60s, 10m, 24h or 7d\n"},
    {"limits: {idle_timeout: 2d}",
        "c.yaml:1: /limits/idle_timeout: is out of range: must be 100ms to 1d\n"},
    {"limits: 5", "c.yaml:1: /limits: must be a map of options, not a text\n"},
    {"log: {level: verbose}",
        "c.yaml:1: /log/level: does not know \"verbose\". Use one of: error, warn, info, debug\n"},
    {"log: {level: inof}", "c.yaml:1: /log/level: does not know \"inof\"; did you mean \"info\"? "
                           "Use one of: error, warn, info, debug\n"},
    {"log: {levle: info}", "c.yaml:1: /log/levle: unknown option; did you mean \"level\"?\n"},
    {"xyzzy: 1", "c.yaml:1: /xyzzy: unknown option\n"},
    {"issuer: \"a\\nb\"", "c.yaml:1: /issuer: has a control character at byte 1\n"},
    {"issuer: \"\"", "c.yaml:1: /issuer: must have 1 to 512 bytes, not 0\n"},
    {"issuer: {a: b}", "c.yaml:1: /issuer: must be a text, not a map\n"},
    {"hosts: a", "c.yaml:1: /hosts: must be a list of texts, not a text\n"},
    {"hosts: [a, [b]]", "c.yaml:1: /hosts/1: must be a text, not a list\n"},
    {"listen: localhost", "c.yaml:1: /listen: must be a literal address and a port, such as "
                          "127.0.0.1:8700 or [::1]:8700, or unix: and the path of a socket\n"},
};

START_TEST(value_that_an_option_rejects_is_reported)
{
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        writ_auto_buf text = writ_buf_make(2000);
        writ_auto_buf found = {0};
        writ_buf_fmt(&text, "%s\nagents: []\nupstreams: {}\ntools: {}\n", faults[i].yaml);
        found = writ_ruling_faults(writ_buf_view(&text));
        ck_assert_str_eq(found.ptr, faults[i].found);
    }
}
END_TEST

START_TEST(addresses_are_literal)
{
    static const struct {
        const char *text, *host;
        unsigned port;
        bool ipv6, loopback;
    } good[] = {{"127.0.0.1:8700", "127.0.0.1", 8700, false, true},
        {"localhost:0", "127.0.0.1", 0, false, true}, {"0.0.0.0:80", "0.0.0.0", 80, false, false},
        {"127.8.9.1:65535", "127.8.9.1", 65535, false, true}, {"[::1]:1", "::1", 1, true, true},
        {"[::]:1", "::", 1, true, false}};
    static const char *const bad[] = {"", ":80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
        "127.0.0.1:08", "127.1:80", "example.com:80", "::1:80", "[::1]80", "[::1:80", "[1.2.3.4]:1",
        "1.2.3.4:-1", "1.2.3.4:x"};
    writ_auto_arena arena = writ_value_arena();

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct writ_listen_address address;
        ck_assert_ok(writ_option_address(writ_view_str(good[i].text), arena, &address));
        ck_assert_view(address.host, good[i].host);
        ck_assert_uint_eq(address.port, good[i].port);
        ck_assert_int_eq(address.ipv6, good[i].ipv6);
        ck_assert_int_eq(address.loopback, good[i].loopback);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct writ_listen_address address = {.port = 7};
        ck_assert_msg(
            !writ_is_ok(writ_option_address(writ_view_str(bad[i]), arena, &address)), "%s", bad[i]);
        ck_assert_uint_eq(address.port, 7);
    }
}
END_TEST

START_TEST(option_nearest_suggests_a_similar_name_only)
{
    static const char *const words[] = {"listen", "issuer", "limits", "log"};

    ck_assert_str_eq(writ_option_nearest(WRIT_LIT("lisen"), words, 4), "listen");
    ck_assert_str_eq(writ_option_nearest(WRIT_LIT("limit"), words, 4), "limits");
    ck_assert_str_eq(writ_option_nearest(WRIT_LIT("Log"), words, 4), "log");
    ck_assert_ptr_null(writ_option_nearest(WRIT_LIT("xyz"), words, 4));
    ck_assert_ptr_null(
        writ_option_nearest(WRIT_LIT("listenlistenlistenlistenlistenlistenlisten"), words, 4));
    ck_assert_ptr_null(writ_option_nearest(WRIT_LIT("a"), words, 0));
}
END_TEST

START_TEST(option_table_lists_every_profile)
{
    size_t n, k = 0;
    const struct writ_setting *settings = writ_setting_all(&n);

    for (size_t i = 0; i < n; i++) {
        const struct writ_word *word = settings[i].words;
        if (settings[i].section != WRIT_SECTION_top || strcmp(settings[i].name, "profile") != 0) {
            continue;
        }
        for (; writ_profile_at(k) != NULL; k++) {
            ck_assert_ptr_nonnull(word[k].word);
            ck_assert_view(writ_profile_at(k)->name, word[k].word);
        }
        ck_assert_ptr_null(word[k].word);
    }
    ck_assert_uint_gt(k, 0);
}
END_TEST

static bool
has_option(enum writ_section section, const char *name)
{
    size_t n;
    const struct writ_setting *settings = writ_setting_all(&n);

    for (size_t i = 0; i < n; i++) {
        if (settings[i].section == section && strcmp(settings[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

START_TEST(every_name_in_a_group_is_an_option_of_its_section)
{
    size_t n;
    const struct writ_setting_group *groups = writ_setting_groups(&n);

    ck_assert_uint_gt(n, 0);
    for (size_t i = 0; i < n; i++) {
        const struct writ_setting_group *group = &groups[i];
        ck_assert((group->kind == WRIT_GROUP_WITH) == (group->fault != NULL));
        ck_assert((group->kind == WRIT_GROUP_WITH || group->kind == WRIT_GROUP_ONE_WITH) ==
                  (group->with != NULL));
        ck_assert(group->with == NULL || has_option(group->section, group->with));
        for (const char *const *name = group->names; *name != NULL; name++) {
            ck_assert_msg(has_option(group->section, *name), "%s", *name);
        }
    }
}
END_TEST

WRIT_UNIT_MAIN("option", option_table_lists_every_profile,
    every_name_in_a_group_is_an_option_of_its_section,
    every_fallback_is_a_value_that_its_option_accepts, every_option_has_a_sentence_and_a_range,
    every_amount_is_accepted_from_least_to_most_and_no_further,
    value_that_an_option_rejects_is_reported, addresses_are_literal,
    option_nearest_suggests_a_similar_name_only)
