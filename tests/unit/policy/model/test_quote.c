/* quote.h: what a file says is the text itself, and a person sees all of it. */
#include "policy/model/quote.h"
#include "policy/read/yaml.h"
#include "support/evidence/value.h"
#include "support/unit.h"

static const struct {
    const char *text, *yaml, *json;
} rows[] = {
    {"", "\"\"", "\"\""},
    {"gr\u00f6\u00dfe", "\"gr\u00f6\u00dfe\"", "\"gr\u00f6\u00dfe\""},
    {"a\"b\\n", "\"a\\\"b\\\\n\"", "\"a\\\"b\\\\n\""},
    {"a\nb\x7f", "\"a\\u000ab\\u007f\"", "\"a\\u000ab\\u007f\""},
    {"a\u202e\ufeff\u2028", "\"a\\u202e\\ufeff\\u2028\"", "\"a\\u202e\\ufeff\\u2028\""},
    {"\U000e0041", "\"\\U000e0041\"", "\"\\udb40\\udc41\""},
    {"\U0010ffff", "\"\\U0010ffff\"", "\"\\udbff\\udfff\""},
    {"\U000f0000", "\"\\U000f0000\"", "\"\\udb80\\udc00\""},
    {"\uffff", "\"\\uffff\"", "\"\\uffff\""},
    {"\U00010000\U0001f600", "\"\U00010000\U0001f600\"", "\"\U00010000\U0001f600\""},
};

START_TEST(quote_escapes_hidden_characters_and_reads_back_as_the_text)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
        writ_auto_buf yaml = writ_buf_make(200), json = writ_buf_make(200);
        const struct writ_yaml *root = NULL;

        writ_quote_text(&yaml, writ_view_str(rows[i].text), WRIT_QUOTE_YAML);
        writ_quote_text(&json, writ_view_str(rows[i].text), WRIT_QUOTE_JSON);
        ck_assert_view(writ_buf_view(&yaml), rows[i].yaml);
        ck_assert_view(writ_buf_view(&json), rows[i].json);
        ck_assert_ok(writ_yaml_read(writ_buf_view(&yaml), arena, &findings, &root));
        ck_assert_view(root->text, rows[i].text);
        ck_assert_view(writ_json_string(writ_value_of(arena, writ_buf_view(&json))), rows[i].text);
    }
}
END_TEST

START_TEST(quote_json_escapes_hidden_characters_of_its_strings)
{
    const struct writ_view value = WRIT_LIT("[\"\\u0000\",{\"a\U000e0041\":\"\u202e\\\"\"}]");
    writ_auto_buf yaml = writ_buf_make(200), json = writ_buf_make(200);

    writ_quote_json(&yaml, value, WRIT_QUOTE_YAML);
    writ_quote_json(&json, value, WRIT_QUOTE_JSON);
    ck_assert_view(writ_buf_view(&yaml), "[\"\\u0000\",{\"a\\U000e0041\":\"\\u202e\\\"\"}]");
    ck_assert_view(writ_buf_view(&json), "[\"\\u0000\",{\"a\\udb40\\udc41\":\"\\u202e\\\"\"}]");
}
END_TEST

WRIT_UNIT_MAIN("quote", quote_escapes_hidden_characters_and_reads_back_as_the_text,
    quote_json_escapes_hidden_characters_of_its_strings)
