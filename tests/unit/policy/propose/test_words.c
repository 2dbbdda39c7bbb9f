/* words.h: how names are split, and what their words make of an argument. */
#include "policy/propose/words.h"
#include "support/unit.h"

static struct writ_words_context
context(const char *tool, const char *name, const char *described)
{
    return (struct writ_words_context){.name = writ_words_of(writ_view_str(name), 64),
        .tool = writ_words_of(writ_view_str(tool), 64),
        .opening = writ_words_of(writ_view_str(described), 5).all,
        .described = writ_words_of(writ_view_str(described), 64).all};
}

START_TEST(words_of_name_splits_by_case_signs_and_digits)
{
    static const char *const paths[] = {"path", "Path", "filePath", "FilePath", "file_path",
        "FILE-PATH", "filePaths", "path2", "2path", "paths", "HTTPPath", "outputFilename", "cwd"};
    static const char *const urls[] = {
        "url", "URL", "URLs", "imageURL", "imageURLs", "baseUrl", "uri_list"};

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        ck_assert_msg(
            (writ_words_of(writ_view_str(paths[i]), 8).all & WRIT_WORD_PATH) != 0, "%s", paths[i]);
    }
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        ck_assert_msg(
            (writ_words_of(writ_view_str(urls[i]), 8).all & WRIT_WORD_URL) != 0, "%s", urls[i]);
    }
    ck_assert_uint_eq(writ_words_of(WRIT_LIT("xpathology"), 8).all, 0);
    ck_assert_uint_eq(writ_words_of(WRIT_LIT(""), 8).all, 0);
    ck_assert_uint_eq(writ_words_of(WRIT_LIT("the path"), 1).all, 0);
    ck_assert_uint_eq(writ_words_of(WRIT_LIT("directories"), 8).last, WRIT_WORD_FILE);
}
END_TEST

START_TEST(words_of_argument_give_its_kind)
{
    static const struct {
        const char *tool, *name, *described;
        char kind; /* p path, u URL, h host, c command, a amount, - none */
    } cases[] = {
        {"read", "path", "", 'p'},
        {"read", "file", "", 'p'},
        {"read", "file_name", "", 'p'},
        {"read", "file_type", "", '-'},
        {"read", "file_id", "", '-'},
        {"move_file", "source", "", 'p'},
        {"move_file", "destination", "", 'p'},
        {"copy", "to", "", 'p'},
        {"create_relations", "from", "", '-'},
        {"fetch", "dest", "", 'p'},
        {"translate", "src_lang", "", '-'},
        {"list", "project_root", "", 'p'},
        {"search", "glob", "", 'p'},
        {"render", "outfile", "", 'p'},
        {"download", "to", "", 'p'},
        {"save_page", "output", "", 'p'},
        {"reply", "attachments", "", 'p'},
        {"send_email", "to", "", '-'},
        {"read", "thing", "Absolute path of the thing", 'p'},
        {"read", "thing", "The thing, which is not a path", '-'},
        {"fetch", "webhook", "", 'u'},
        {"fetch", "download_link", "", 'u'},
        {"fetch", "link_type", "", '-'},
        {"fetch", "thing", "URL of the thing", 'u'},
        {"ping", "hostname", "", 'h'},
        {"ping", "host_count", "", '-'},
        {"run", "command", "", 'c'},
        {"run", "sql", "", 'c'},
        {"run", "source_code", "", 'c'},
        {"address", "country_code", "", '-'},
        {"search_nodes", "query", "The search query", '-'},
        {"query_database", "query", "", 'c'},
        {"ask", "query", "A query of SQLite", 'c'},
        {"pay", "amount", "", 'a'},
        {"find", "max_price", "", 'a'},
        {"buy_shares", "quantity", "", 'a'},
        {"list", "quantity", "", '-'},
        {"list", "amount_of", "", '-'},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_words_context c = context(cases[i].tool, cases[i].name, cases[i].described);
        char kind = writ_words_url(&c)       ? 'u'
                    : writ_words_path(&c)    ? 'p'
                    : writ_words_host(&c)    ? 'h'
                    : writ_words_command(&c) ? 'c'
                    : writ_words_amount(&c)  ? 'a'
                                             : '-';
        ck_assert_msg(kind == cases[i].kind, "%s %s: %c", cases[i].tool, cases[i].name, kind);
    }
}
END_TEST

WRIT_UNIT_MAIN(
    "words", words_of_name_splits_by_case_signs_and_digits, words_of_argument_give_its_kind)
