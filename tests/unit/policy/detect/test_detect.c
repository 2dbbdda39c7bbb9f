/* What each detector finds and does not find; a find survives any neighbour at the border of a
 * word. Example tokens are written with `^` in them, which is taken out when the test runs, so that
 * scanners of repositories do not take them for real ones. */
#include "policy/detect/detect.h"

#include "base/text.h"
#include "support/evidence/value.h"
#include "support/unit.h"

#define FOUND_MAX 64
#define A16       "ABCDEFGHIJKLMNOP"
#define X36       "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"
#define HEX32     "0123456789abcdef0123456789abcdef"
#define PEM_BEGIN "-----BEG^IN RSA PRIV^ATE KEY-----"

/* ---- helpers */

static struct writ_view
joined(const char *text, struct writ_arena *arena)
{
    struct writ_buf buf = writ_buf_in(arena, 1 << 16);

    for (; *text != '\0'; text++) {
        if (*text != '^') {
            writ_buf_byte(&buf, *text);
        }
    }
    return writ_buf_view(&buf);
}

static struct writ_detector_set
set_of(const char *name)
{
    struct writ_detector_set set = {.own = NULL};

    for (size_t i = 0; i < WRIT_DETECTOR_COUNT; i++) {
        set.builtin[i] = writ_detector_is_named(writ_detector_builtin(i), writ_view_str(name));
    }
    return set;
}

struct finds {
    struct writ_detection items[FOUND_MAX];
    size_t n;
};

static bool
take(void *ctx, const struct writ_detection *found)
{
    struct finds *f = ctx;

    f->items[f->n++] = *found;
    return f->n < FOUND_MAX;
}

static struct finds
finds_in(const char *name, struct writ_view text)
{
    struct writ_detector_set set = set_of(name);
    struct finds f = {.n = 0};

    ck_assert_ok(writ_detect_text(&set, text, WRIT_LIT(""), NULL, take, &f));
    for (size_t i = 0; i < f.n; i++) {
        ck_assert(f.items[i].offset + f.items[i].length <= text.len && f.items[i].length > 0);
    }
    return f;
}

static bool
finds(const char *name, struct writ_view text, struct writ_view part)
{
    struct finds f = finds_in(name, text);

    for (size_t i = 0; i < f.n; i++) {
        if (writ_view_equal(writ_view_sub(text, f.items[i].offset, f.items[i].length), part)) {
            return true;
        }
    }
    return false;
}

/* ---- examples */

static const struct example {
    const char *name, *text; /* the whole text is found */
} examples[] = {
    {"secret.aws_access_key", "AK^IA" A16},
    {"secret.aws_access_key", "AS^IA" A16},
    {"secret.gcp_api_key", "AI^za" X36},
    {"secret.gcp_oauth", "GOCS^PX-0a1B2c3D4e5F6g7H8i9J0k1L2m3N"},
    {"secret.gcp_oauth", "ya2^9.0a1B2c3D4e5F6g7H8i9J0k1L2m3N"},
    {"secret.azure_storage_key", "Account^Key=" X36 X36 "AB12CD34EF56gh=="},
    {"secret.azure_storage_key", X36 X36 "AB+/+A^StZz09AQ=="},
    {"secret.azure_client_secret", "a~c8^Q~0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5~6q"},
    {"secret.telegram_token", "1234567890:A^A0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"},
    {"secret.mailchimp_key", HEX32 "-u^s21"},
    {"secret.github_token", "gh^p_" X36},
    {"secret.github_token", "gh^s_" X36},
    {"secret.github_token", "git^hub_pat_" X36 "_" X36},
    {"secret.gitlab_token", "gl^pat-0a1B2c3D4e5F6g7H8i9J"},
    {"secret.slack_token", "xo^xb-123456789012-0a1B2c3D4e5F"},
    {"secret.slack_webhook", "hooks.sl^ack.com/services/T00000000/B00000000/0a1B2c3D4e5F"},
    {"secret.stripe_key", "sk_l^ive_0a1B2c3D4e5F6g7H8i9J"},
    {"secret.sk_key", "sk^-ant-api03-0a1B2c3D4e5F6g7H8i9J-0k1L"},
    {"secret.sk_key", "sk^-proj-0a1B2c3D4e5F6g7H8i9J"},
    {"secret.npm_token", "np^m_" X36},
    {"secret.pypi_token", "pypi-^AgEIcHlwaS5vcmc" X36 X36},
    {"secret.sendgrid_key", "S^G.0a1B2c3D4e5F6g7H8i9J0k." X36 "0a1B2c3"},
    {"secret.twilio_key", "S^K" HEX32},
    {"secret.huggingface_token", "h^f_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q"},
    {"secret.digitalocean_token", "do^p_v1_" HEX32 HEX32},
    {"secret.shopify_token", "shp^at_" HEX32},
    {"secret.vault_token", "hv^s.0a1B2c3D4e5F6g7H8i9J0k1L2m3N"},
    {"secret.databricks_token", "da^pi" HEX32},
    {"secret.grafana_token", "gl^sa_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P_0123abcd"},
    {"secret.docker_token", "dckr_^pat_0a1B2c3D4e5F6g7H8i9J0k1L2m3"},
    {"secret.atlassian_token", "ATA^TT3" X36 X36},
    {"secret.linear_key", "lin_^api_" X36 "0a1B"},
    {"secret.notion_token", "nt^n_" X36 "0a1B2c3D4e"},
    {"secret.groq_key", "gs^k_" X36 "0a1B2c3D4e5F6g7H"},
    {"secret.age_key", "AGE-SEC^RET-KEY-1" A16 A16 A16 "0123456789"},
    {"secret.jwt", "ey^JhbGciOiJIUzI1NiJ9.ey^JzdWIiOiIxIn0.c2lnbmF0dXJl"},
    {"secret.jwt", "ey^JhbGciOiJub25lIn0.ey^JzdWIiOiIxIn0."},
    {"secret.private_key", PEM_BEGIN "\nMIIB\n-----E^ND RSA PRIV^ATE KEY-----"},
    {"secret.private_key", PEM_BEGIN "\nMIIB, cut off"},
    {"card.number", "4111^111111111111"},
    {"card.number", "4111 1111 1111 1111"},
    {"card.number", "5500-0000-0000-0004"},
    {"card.number", "3782 822463 10005"},
    {"card.number", "6011 0009 9013 9424"},
    {"card.number", "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"},
    {"bank.iban", "DE89370400440532013000"},
    {"bank.iban", "GB82 WEST 1234 5698 7654 32"},
    {"bank.iban", "no93-8601-1117-947"},
    {"contact.email", "ann.lee+x@mail.example.org"},
    {"host.private", "10.0.0.1"},
    {"host.private", "172.31.255.255"},
    {"host.private", "192.168.1.1"},
    {"host.private", "100.64.0.1"},
    {"host.private", "127.0.0.1"},
    {"host.private", "169.254.169.254"},
    {"host.private", "168.63.129.16"},
    {"host.private", "::1"},
    {"host.private", "fe80::1"},
    {"host.private", "fd00:ec2::254"},
    {"host.private", "::ffff:10.0.0.1"},
    {"host.private", "localhost"},
    {"host.private", "LOCALHOST"},
    {"host.private", "printer.local"},
    {"host.private", "metadata.google.internal"},
    {"prompt.ignore_previous", "Ignore all previous instructions"},
    {"prompt.conceal", "do NOT tell"},
    {"prompt.before_use", "before using this tool"},
    {"prompt.must", "you must"},
    {"prompt.role", "system prompt"},
    {"prompt.other_tools", "do not use any other"},
    {"prompt.secrets", "id_rsa"},
    {"prompt.carry", "send it to https"},
    {"prompt.mark", "<IMPORTANT"},
    {"hidden.characters", "\u200b"},
    {"hidden.characters", "\u202e"},
    {"hidden.characters", "\U000e0041"},
};

static struct writ_view
example_text(const struct example *example, struct writ_arena *arena)
{
    struct writ_view text = joined(example->text, arena);

    /* a key of Google has 35 characters after its prefix */
    return writ_view_is(writ_view_str(example->name), "secret.gcp_api_key")
               ? writ_view_sub(text, 0, 39)
               : text;
}

START_TEST(detect_text_finds_each_example_whole)
{
    bool seen[WRIT_DETECTOR_COUNT] = {false};

    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        struct writ_view text = example_text(&examples[i], arena);

        ck_assert_msg(
            finds(examples[i].name, text, text), "%s: %s", examples[i].name, examples[i].text);
        for (size_t id = 0; id < WRIT_DETECTOR_COUNT; id++) {
            seen[id] = seen[id] || writ_view_is(writ_detector_builtin(id)->name, examples[i].name);
        }
    }
    for (size_t id = 0; id < WRIT_DETECTOR_COUNT; id++) {
        ck_assert_msg(
            seen[id] || id == WRIT_DETECTOR_URL_PASSWORD || id == WRIT_DETECTOR_ASSIGNMENT,
            "%s has no example", writ_detector_builtin(id)->name.ptr);
    }
}
END_TEST

/* What ends a word, in front of it and behind it. */
START_TEST(detect_text_finds_each_example_at_borders)
{
    static const char *const around[] = {" ", "\n", "\"", "'", "(", ")", ",", ";", "[", "]", "<",
        ">", "{", "}", "|", "\u3002", "\u00a0", " see: "};

    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        bool to_the_end = examples[i].text[0] == '-';
        for (size_t k = 0; k < sizeof around / sizeof around[0]; k++) {
            for (size_t l = 0; l < sizeof around / sizeof around[0]; l++) {
                writ_auto_arena arena = writ_value_arena();
                struct writ_buf all = writ_buf_in(arena, 1 << 16);
                struct writ_view text = example_text(&examples[i], arena);
                struct finds f;

                writ_buf_str(&all, around[k]);
                writ_buf_put(&all, text);
                writ_buf_str(&all, around[l]);
                f = finds_in(examples[i].name, writ_buf_view(&all));
                ck_assert_msg(
                    f.n > 0 && (to_the_end || finds(examples[i].name, writ_buf_view(&all), text)),
                    "%s: %s%s%s", examples[i].name, around[k], examples[i].text, around[l]);
            }
        }
    }
}
END_TEST

START_TEST(detect_text_leaves_near_misses)
{
    static const struct example misses[] = {
        {"secret.aws_access_key", "AK^IA" A16 "Q"},
        {"secret.aws_access_key", "AK^IAABCDEFGHIJKLMNO"},
        {"secret.aws_access_key", "xAK^IA" A16},
        {"secret.aws_access_key", "AK^IAabcdefghijklmnop"},
        {"secret.github_token", "gh^p_short"},
        {"secret.sk_key", "sk^-some-long-title-of-a-page-2024"},
        {"secret.sk_key", "risk^-proj-0a1B2c3D4e5F6g7H8i9J"},
        {"secret.npm_token", "np^m_" X36 "x"},
        {"secret.azure_storage_key", X36 X36 "AB+/ABCDZz09AQ=="}, /* as a SHA-512 */
        {"secret.azure_storage_key", X36 X36 "AB+/x+A^StZz09AQ=="},
        {"secret.azure_client_secret", "abcd8^Q~0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q"},
        {"secret.azure_client_secret", "abc8^Q~0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6qx"},
        {"secret.telegram_token", "12:34:A^A0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"},
        {"secret.telegram_token", "123456789:A^A0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6x"},
        {"secret.mailchimp_key", HEX32 "-us-east-1"},
        {"secret.mailchimp_key", HEX32 "-us123"},
        {"secret.assignment", "\"nextPageToken\": \"CAUQ0a1B2c3D4e5F\""},
        {"secret.assignment", "next_token=CAUQ0a1B2c3D4e5F"},
        {"secret.assignment", "https://a.example/users?$skiptoken=CAUQ0a1B2c3D4e5F"},
        {"secret.assignment", "pagination_token: CAUQ0a1B2c3D4e5F"},
        {"secret.twilio_key", "S^K0123456789ABCDEF0123456789ABCDEF"},
        {"secret.jwt", "example.com.org"},
        {"secret.jwt", "ey^Jhello.ey^Jworld.sig"},
        {"secret.jwt", "ey^JhbGciOiJIUzI1NiJ9.W10.c2ln"},
        {"secret.jwt", "ey^JhbGciOiJIUzI1NiJ9.ey^JzdWIiOiIxIn0"},
        {"secret.private_key", "-----BEG^IN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----"},
        {"secret.url_password", "https://example.com/a:b@c"},
        {"secret.url_password", "https://user@example.com"},
        {"secret.url_password", "see https://example.com:8080/ and a@b.org"},
        {"secret.assignment", "password: changeme"},
        {"secret.assignment", "password = ${PASSWORD_1}"},
        {"secret.assignment", "the token is in the file config2"},
        {"secret.assignment", "token: a1a1a1a1a1a1"},
        {"card.number", "4111111111111112"},
        {"card.number", "4111 1111 1111 1112"},
        {"card.number", "1111111111111117"},
        {"card.number", "a4111111111111111"},
        {"card.number", "41111111111111110"},
        {"card.number", "0.4111111111111111"},
        {"card.number", "4111 1111-1111 1111"},
        {"card.number", "41 11 11 11 11 11 11 11"},
        {"bank.iban", "DE88370400440532013000"},
        {"bank.iban", "DE8937040044053201300"},
        {"bank.iban", "ZZ89370400440532013000"},
        {"bank.iban", "DE893704004405320130001"},
        {"contact.email", "a@b"},
        {"contact.email", "@example.org"},
        {"contact.email", "a@.org"},
        {"contact.email", "npm install left-pad@1.3.0"},
        {"host.private", "8.8.8.8"},
        {"host.private", "172.32.0.1"},
        {"host.private", "1.10.0.0.1"},
        {"host.private", "10.0.0"},
        {"host.private", "10.0.0.256"},
        {"host.private", "version 10.1"},
        {"host.private", "1/2 teaspoon"},
        {"host.private", "on 11/28/2026"},
        {"host.private", "2001:db8::1"},
        {"host.private", "std::vector"},
        {"host.private", "12:30:45"},
        {"host.private", "localhosts"},
        {"host.private", "local.example.org"},
        {"host.private", "internal"},
        {"hidden.characters", "\u2764\ufe0f tab\t and line\n"},
        {"prompt.must", "you may"},
        {"prompt.role", "ecosystem prompts"},
    };

    for (size_t i = 0; i < sizeof misses / sizeof misses[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        ck_assert_msg(finds_in(misses[i].name, joined(misses[i].text, arena)).n == 0, "%s: %s",
            misses[i].name, misses[i].text);
    }
}
END_TEST

START_TEST(detect_text_finds_parts)
{
    static const struct {
        const char *name, *text, *part;
    } cases[] = {
        {"secret.url_password", "see https://ann:s3cr^et@example.com/x", "ann:s3cr^et"},
        {"secret.url_password", "postgres://u:p@h", "u:p"},
        {"secret.assignment", "DB_PASSWORD=x9K2mQ7^vLp4", "x9K2mQ7^vLp4"},
        {"secret.assignment", "{\"api_key\": \"x9K2mQ7^vLp4\"}", "x9K2mQ7^vLp4"},
        {"secret.assignment", "{\\\"token\\\":\\\"x9K2mQ7^vLp4\\\"}", "x9K2mQ7^vLp4"},
        {"host.private", "http://2130706433/", "2130706433"},
        {"host.private", "http://0x7f.1/", "0x7f.1"},
        {"host.private", "http:/2130706433", "2130706433"},
        {"host.private", "http://[::1]:80/", "::1"},
        {"host.private", "http://127.0.0.1:80/", "127.0.0.1"},
        {"contact.email", "Mail ann@example.org.", "ann@example.org"},
        {"secret.gcp_oauth", "It is ya2^9.0a1B2c3D4e5F6g7H8i9J0k1L.",
            "ya2^9.0a1B2c3D4e5F6g7H8i9J0k1L"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        ck_assert_msg(
            finds(cases[i].name, joined(cases[i].text, arena), joined(cases[i].part, arena)),
            "%s: %s", cases[i].name, cases[i].text);
    }
}
END_TEST

/* ---- disguises */

START_TEST(detect_text_undoes_disguises_and_tells_the_place)
{
    static const struct {
        const char *name, *text, *part;
    } cases[] = {
        {"secret.github_token", "a gh%70^_" X36 " b", "gh%70^_" X36},
        {"secret.github_token", "gh%2570^_" X36, "gh%2570^_" X36},
        {"secret.github_token", "gh&#112;^_" X36, "gh&#112;^_" X36},
        {"secret.github_token", "gh&#x70;&lowbar;" X36, "gh&#x70;&lowbar;" X36},
        {"secret.github_token", "gh\\u0070^_" X36, "gh\\u0070^_" X36},
        {"secret.github_token", "gh\u200bp^_" X36, "gh\u200bp^_" X36},
        {"secret.github_token", "\uff47\uff48\uff50\uff3f" X36, "\uff47\uff48\uff50\uff3f" X36},
        {"card.number", "4111\u20111111\u20111111\u20111111", "4111\u20111111\u20111111\u20111111"},
        {"card.number", "4111\u00a01111\u00a01111\u00a01111", "4111\u00a01111\u00a01111\u00a01111"},
        {"card.number", "\U0001d7d2111111111111111", "\U0001d7d2111111111111111"},
        {"contact.email", "ann%40example.org", "ann%40example.org"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        ck_assert_msg(
            finds(cases[i].name, joined(cases[i].text, arena), joined(cases[i].part, arena)),
            "%s: %s", cases[i].name, cases[i].text);
    }
}
END_TEST

START_TEST(detect_text_undoes_three_layers_of_escapes_alone)
{
    static const struct example kept[] = {
        {"secret.github_token", "Z2hwXzBhMUIyYzNENGU1RjZnN0g4aTlKMGsxTDJtM040bzVQNnE3Ug=="},
        {"secret.github_token", "gh%252570^_" X36 "%"},
        {"card.number", "four one one one 1111 1111 1111"},
    };

    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        bool three = i == 1; /* three layers of escapes are undone */
        ck_assert_msg((finds_in(kept[i].name, joined(kept[i].text, arena)).n > 0) == three, "%s",
            kept[i].text);
    }
}
END_TEST

/* ---- values */

START_TEST(detect_any_looks_at_texts_names_and_numbers)
{
    static const struct {
        const char *json;
        enum writ_detect_answer answer;
        const char *at;
    } cases[] = {
        {"\"4111111111111111\"", WRIT_DETECT_SOME, ""},
        {"4111111111111111", WRIT_DETECT_SOME, ""},
        {"[1,4.111111111111111e15]", WRIT_DETECT_SOME, "/1"},
        {"{\"z\":{\"y\":1},\"a/b\":[[0,{\"b\":\"4111111111111111\"}]]}", WRIT_DETECT_SOME,
            "/a~1b/0/1/b"},
        {"{\"a\":{\"b\":1,\"4111111111111111\":null}}", WRIT_DETECT_SOME, "/a"},
        {"{\"a\":[\"4111\",\"111111111111\"]}", WRIT_DETECT_NONE, ""},
        {"[true,false,null,{},[]]", WRIT_DETECT_NONE, ""},
    };
    struct writ_detector_set set = set_of("card.*");

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        const struct writ_detector *first = NULL;
        writ_auto_buf at = writ_buf_make(64);

        ck_assert_int_eq(writ_detect_any(&set, writ_value_of(arena, writ_view_str(cases[i].json)),
                             NULL, &first, &at),
            cases[i].answer);
        ck_assert_view(writ_buf_view(&at), cases[i].at);
        if (cases[i].answer == WRIT_DETECT_SOME) {
            ck_assert_view(first->called, "card.number@1");
        }
    }
}
END_TEST

START_TEST(detect_any_takes_the_name_of_a_member_as_that_of_its_text)
{
    static const struct {
        const char *json;
        enum writ_detect_answer answer;
    } cases[] = {
        {"{\"password\":\"hunter2-Tr0ub\"}", WRIT_DETECT_SOME},
        {"{\"db\":{\"adminPassword\":\"a,b;c{d1}e2\"}}", WRIT_DETECT_SOME},
        {"{\"client_secret\":[\"x\",\"0a1B2c3D4e5F\"]}", WRIT_DETECT_SOME},
        {"{\"API-Key\":\"0a1B2c3D4e5F\"}", WRIT_DETECT_SOME},
        {"{\"accessToken\":\"0a1B2c3D4e5F\"}", WRIT_DETECT_SOME},
        {"{\"token\":\"%30a1B2c3D4e5F\"}", WRIT_DETECT_SOME},
        {"{\"password\":\"changeme\"}", WRIT_DETECT_NONE},
        {"{\"password\":\"at least 8 letters and digits\"}", WRIT_DETECT_NONE},
        {"{\"password\":12345678901}", WRIT_DETECT_NONE},
        {"{\"password\":{\"rule\":\"0a1B2c3D4e5F\"}}", WRIT_DETECT_NONE},
        {"{\"password_id\":\"0a1B2c3D4e5F\"}", WRIT_DETECT_NONE},
        {"{\"nextPageToken\":\"0a1B2c3D4e5F\"}", WRIT_DETECT_NONE},
        {"{\"next_token\":\"0a1B2c3D4e5F\"}", WRIT_DETECT_NONE},
        {"{\"name\":\"password\",\"value\":\"0a1B2c3D4e5F\"}", WRIT_DETECT_NONE},
        {"[\"password\",\"0a1B2c3D4e5F\"]", WRIT_DETECT_NONE},
    };
    struct writ_detector_set set = set_of("secret.assignment");

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        const struct writ_json *value = writ_value_of(arena, writ_view_str(cases[i].json));

        ck_assert_msg(
            writ_detect_any(&set, value, NULL, NULL, NULL) == cases[i].answer, "%s", cases[i].json);
    }
}
END_TEST

/* ---- detectors of the configuration */

START_TEST(detect_text_of_own_detectors_checks_their_checksum)
{
    struct writ_pattern *pattern = NULL;
    const bool wanted[] = {true};
    struct writ_detector own = {.name = WRIT_LIT("own.number"),
        .called = WRIT_LIT("own.number@2"),
        .version = 2,
        .checksum = WRIT_CHECKSUM_LUHN};
    const struct writ_detectors all = {.items = &own, .n = 1};
    const struct writ_detector_set set = {.own = &all, .own_wanted = wanted};
    struct finds f = {.n = 0};

    ck_assert_ok(writ_pattern_new_search(WRIT_LIT("N-[0-9]{4}"), &pattern, NULL));
    own.pattern = pattern;
    ck_assert_ok(writ_detect_text(&set, WRIT_LIT("N-1230 N-1231"), WRIT_LIT(""), NULL, take, &f));
    ck_assert_uint_eq(f.n, 1);
    ck_assert_uint_eq(f.items[0].offset, 0);
    ck_assert_uint_eq(f.items[0].length, 6);
    writ_pattern_free(pattern);
}
END_TEST

START_TEST(checksum_holds_for_right_digits_alone)
{
    ck_assert(writ_detector_checksum_holds(WRIT_CHECKSUM_LUHN, WRIT_LIT("79927398713")));
    ck_assert(!writ_detector_checksum_holds(WRIT_CHECKSUM_LUHN, WRIT_LIT("79927398710")));
    ck_assert(!writ_detector_checksum_holds(WRIT_CHECKSUM_LUHN, WRIT_LIT("")));
    ck_assert(
        writ_detector_checksum_holds(WRIT_CHECKSUM_MOD97, WRIT_LIT("GB82 WEST 1234 5698 7654 32")));
    ck_assert(!writ_detector_checksum_holds(
        WRIT_CHECKSUM_MOD97, WRIT_LIT("GB83 WEST 1234 5698 7654 32")));
    ck_assert(!writ_detector_checksum_holds(WRIT_CHECKSUM_MOD97, WRIT_LIT("")));
    ck_assert(writ_detector_checksum_holds(WRIT_CHECKSUM_NONE, WRIT_LIT("")));
}
END_TEST

/* ---- the page */

START_TEST(page_lists_every_detector)
{
    writ_auto_buf page = writ_buf_make(1 << 20);

    ck_assert_ok(writ_text_file(WRIT_SOURCE_DIR "/docs/detectors.md", 1 << 20, &page, NULL));
    for (size_t id = 0; id < WRIT_DETECTOR_COUNT; id++) {
        const struct writ_detector *d = writ_detector_builtin(id);
        writ_auto_buf row = writ_buf_make(4096);

        writ_buf_fmt(&row, "\n| `" WRIT_VIEW_FMT "` | %u | %s |\n", WRIT_VIEW_ARG(d->name),
            d->version, d->sentence);
        ck_assert_msg(writ_view_search(writ_buf_view(&page), writ_buf_view(&row)) < page.len,
            "docs/detectors.md lacks:" WRIT_VIEW_FMT, WRIT_VIEW_ARG(writ_buf_view(&row)));
    }
}
END_TEST

WRIT_UNIT_MAIN("detect", detect_text_finds_each_example_whole,
    detect_text_finds_each_example_at_borders, detect_text_leaves_near_misses,
    detect_text_finds_parts, detect_text_undoes_disguises_and_tells_the_place,
    detect_text_undoes_three_layers_of_escapes_alone, detect_any_looks_at_texts_names_and_numbers,
    detect_any_takes_the_name_of_a_member_as_that_of_its_text,
    detect_text_of_own_detectors_checks_their_checksum, checksum_holds_for_right_digits_alone,
    page_lists_every_detector)
