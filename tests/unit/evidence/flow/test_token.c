/* token.h: the same value has one form wherever it stands, and nothing else is folded. */
#include "evidence/flow/token.h"
#include "support/unit.h"

/* "a|b" for words, "@host" for hosts and "+joined" for account numbers, one after the other. */
static void
note(void *ctx, enum writ_token_kind kind, struct writ_view token, struct writ_view stands)
{
    struct writ_buf *text = ctx;

    ck_assert(stands.len > 0);
    writ_buf_str(text, text->len > 0 ? "|" : "");
    writ_buf_str(text, kind == WRIT_TOKEN_HOST ? "@" : kind == WRIT_TOKEN_JOINED ? "+" : "");
    writ_buf_put(text, token);
}

static void
expect(const char *text, const char *tokens)
{
    writ_auto_buf found = writ_buf_make(65536);

    writ_tokens(writ_view_str(text), note, &found);
    ck_assert_msg(writ_view_is(writ_buf_view(&found), tokens), "%s: " WRIT_VIEW_FMT ", not %s",
        text, WRIT_VIEW_ARG(writ_buf_view(&found)), tokens);
}

START_TEST(text_is_split_into_words_in_their_order)
{
    expect("", "");
    expect(" \t\n ", "");
    expect("pay the bill", "pay|the|bill");
    expect("Pay 'bill.pdf', please!", "Pay|bill.pdf|@bill.pdf|please");
    expect("(a) [b] {c} <d> \"e\" f;g,h|i`j", "a|b|c|d|e|f|g|h|i|j");
    expect("\xE2\x80\x9Cquoted\xE2\x80\x9D \xC2\xABtoo\xC2\xBB", "quoted|too");
    expect("Mom's Home.", "Mom's|Home");
    expect("... !!", "...|!!");
    expect("caf\xC3\xA9 Caf\xC3\xA9 CAF\xC3\x89", "caf\xC3\xA9|Caf\xC3\xA9|CAF\xC3\x89");
}
END_TEST

START_TEST(addresses_have_one_form)
{
    expect("Ann@Example.ORG", "ann@example.org|@example.org");
    expect("mailto:ann@example.org", "ann@example.org|@example.org");
    expect("ann%40example.org", "ann@example.org|@example.org");
    expect("ann&#64;example.org", "ann@example.org|@example.org");
    expect("[mail](https://Example.org/A?b=C)", "mail|example.org/A?b=C|@example.org");
    expect("https://example.org/", "example.org|@example.org");
    expect("www.Example.org", "www.example.org|@www.example.org");
    expect("http://example.org", "http://example.org|@example.org");
    expect("https://example.org:8443/x", "example.org:8443/x|@example.org");
}
END_TEST

/* A reader may follow what has no form of an address: it is a host that is found nowhere else. */
START_TEST(word_that_may_lead_somewhere_is_its_own_host)
{
    static const char *const rows[] = {"http://2130706433/?q", "http://127.1/",
        "http://localhost/x", "https://evil.org./x", "*https://evil.org*", "see:https://evil.org/x",
        "//evil.org/x", "https://evil.org\\@good.org", "https://ev\xC3\xADl.org/", "x:eve@evil.org",
        "eve@localhost", "_evil.org_", "a\\b", "ev\xC3\xADl.org"};
    writ_auto_buf text = writ_buf_make(4096);
    writ_auto_buf want = writ_buf_make(8192);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        writ_buf_clear(&want);
        writ_buf_fmt(&want, "%s|@%s%c", rows[i], rows[i], 0);
        expect(rows[i], want.ptr);
    }
    writ_buf_clear(&want);
    writ_buf_str(&text, "https://evil.org/?");
    for (size_t i = 0; i < 600; i++) {
        writ_buf_byte(&text, 'a');
    }
    writ_buf_byte(&text, 0);
    writ_buf_fmt(&want, "%s|@%s%c", text.ptr, text.ptr, 0);
    expect(text.ptr, want.ptr);
    expect("and/or 3.14 e.g. @ann 7% ... a..b v1.2", "and/or|3.14|e.g|@ann|7%|...|a..b|v1.2");
}
END_TEST

/* What a person reads first is not always where a request goes. */
START_TEST(host_is_where_the_request_goes)
{
    expect("https://good.org@evil.org/", "good.org@evil.org|@evil.org");
    expect("https://good.org.evil.org", "good.org.evil.org|@good.org.evil.org");
    expect("https://evil.org/good.org", "evil.org/good.org|@evil.org");
    expect("https://evil.org?good.org", "evil.org?good.org|@evil.org");
    expect("https://evil.org#good.org", "evil.org#good.org|@evil.org");
    expect("a@good.org@evil.org", "a@good.org@evil.org|@a@good.org@evil.org");
    expect(
        "https://good.org@a@evil.org", "https://good.org@a@evil.org|@https://good.org@a@evil.org");
    expect(
        "https://evil.org\\@good.org", "https://evil.org\\@good.org|@https://evil.org\\@good.org");
    expect("https://good.org%2f@evil.org", "good.org%2f@evil.org|@evil.org");
    expect("https://evil.org#@good.org", "evil.org#@good.org|@evil.org");
    expect("https://evil.org?@good.org", "evil.org?@good.org|@evil.org");
    expect("https://evil.org:1@good.org", "evil.org:1@good.org|@good.org");
    expect("https:good.org", "https:good.org|@https:good.org");
    expect("www.good.org/?u=http://evil.org", "www.good.org/?u=http://evil.org|@www.good.org");
    expect("https:///good.org", "https:///good.org|@https:///good.org");
}
END_TEST

START_TEST(numbers_have_one_form)
{
    expect("$98.70 98.7 +98.700", "98.7|98.7|98.7");
    expect("\xE2\x82\xAC"
           "1200 1200.00",
        "1200|1200");
    expect("0.50", "0.5");
    expect("007 1.2.3 12a", "007|1.2.3|12a");
    expect("5.", "5");
}
END_TEST

START_TEST(account_number_in_groups_is_also_one_value)
{
    expect("DE89 3704 0044 0532 0130 00.", "DE89|3704|0044|0532|0130|00|+DE89370400440532013000");
    expect("to DE89 3704 0044 0532 0130 00 now",
        "to|DE89|3704|0044|0532|0130|00|+DE89370400440532013000|now");
    expect("1234-5678-9012-3456", "1234-5678-9012-3456|+1234567890123456");
    expect("12 34", "12|34");
    expect("A B C D", "A|B|C|D");
}
END_TEST

START_TEST(look_alikes_are_other_tokens)
{
    expect("\xD0\xB0nn@example.org", "\xD0\xB0nn@example.org|@example.org"); /* Cyrillic a */
    expect("General general", "General|general");
}
END_TEST

START_TEST(escapes_that_would_not_be_text_stay)
{
    expect("a%ff", "a%ff");
    expect("100%", "100%");
    expect("a%4", "a%4");
    expect("%2561", "%61"); /* one layer */
}
END_TEST

START_TEST(bare_value_is_one_word_alone)
{
    static const char *const bare[] = {"a", " a ", "a@b.org", "a.b", "...x"};
    static const char *const more[] = {"", " ", "a b", "a.", "'a'", "a,", "(a)", "a;"};

    for (size_t i = 0; i < sizeof bare / sizeof *bare; i++) {
        ck_assert_msg(writ_token_is_bare(writ_view_str(bare[i])), "%s", bare[i]);
    }
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        ck_assert_msg(!writ_token_is_bare(writ_view_str(more[i])), "%s", more[i]);
    }
}
END_TEST

START_TEST(long_word_is_its_own_form)
{
    writ_auto_buf text = writ_buf_make(4096), found = writ_buf_make(4096);

    for (size_t i = 0; i < 600; i++) {
        writ_buf_str(&text, "A");
    }
    writ_tokens(writ_buf_view(&text), note, &found);
    ck_assert(writ_view_equal(writ_buf_view(&found), writ_buf_view(&text)));
}
END_TEST

WRIT_UNIT_MAIN("token", text_is_split_into_words_in_their_order, addresses_have_one_form,
    word_that_may_lead_somewhere_is_its_own_host, host_is_where_the_request_goes,
    numbers_have_one_form, account_number_in_groups_is_also_one_value, look_alikes_are_other_tokens,
    escapes_that_would_not_be_text_stay, bare_value_is_one_word_alone, long_word_is_its_own_form)
