/* words.h - the words of a name, such as that of a tool or an argument, and what they say
 * (word.tbl.h). Case, underscores and plurals do not matter: filePaths, file_path and FILE-PATH
 * have the same words. What a name says can only make a proposed rule stricter. */
#ifndef WRIT_POLICY_WORDS_H
#define WRIT_POLICY_WORDS_H

#include "base/bytes.h"

/** What a word says; word.tbl.h says where it counts. */
enum writ_word {
    WRIT_WORD_PATH = 1 << 0,
    WRIT_WORD_FILE = 1 << 1,
    WRIT_WORD_NAMING = 1 << 2,
    WRIT_WORD_END = 1 << 3,
    WRIT_WORD_MOVE = 1 << 4,
    WRIT_WORD_URL = 1 << 5,
    WRIT_WORD_LINK = 1 << 6,
    WRIT_WORD_HOST = 1 << 7,
    WRIT_WORD_COMMAND = 1 << 8,
    WRIT_WORD_CODE = 1 << 9,
    WRIT_WORD_LABEL = 1 << 10,
    WRIT_WORD_QUERY = 1 << 11,
    WRIT_WORD_DATABASE = 1 << 12,
    WRIT_WORD_AMOUNT = 1 << 13,
    WRIT_WORD_COUNTED = 1 << 14,
    WRIT_WORD_MONEY = 1 << 15,
    WRIT_WORD_DANGER = 1 << 16,
    WRIT_WORD_SECRET = 1 << 17,
    WRIT_WORD_ID = 1 << 18,
    WRIT_WORD_SMALL = 1 << 19,
    WRIT_WORD_SECONDS = 1 << 20,
    WRIT_WORD_LONG = 1 << 21,
    WRIT_WORD_READ = 1 << 22,
    WRIT_WORD_TELL = 1 << 23,
    WRIT_WORD_STORE = 1 << 24,
    WRIT_WORD_PART = 1 << 25,
    WRIT_WORD_REF = 1 << 26,
    WRIT_WORD_LATITUDE = 1 << 27,
    WRIT_WORD_LONGITUDE = 1 << 28,
    WRIT_WORD_POSITIVE = 1 << 29,
    WRIT_WORD_LASTING = 1 << 30,
};

/** The kinds (enum writ_word, as bits) of the words of a text. */
struct writ_words {
    unsigned all;         /* of any of them */
    unsigned first, last; /* of the first, of the last */
    unsigned acts;        /* of those before any word of READ */
};

/** The words of a text; at most the first `most` of them. */
struct writ_words writ_words_of(struct writ_view text, size_t most);

/** What is known about an argument besides its type. */
struct writ_words_context {
    struct writ_words name, tool; /* of the argument, of the tool */
    unsigned opening, described;  /* kinds of the first words of its description, and of all */
    bool stored;                  /* another argument names a repository or the like */
};

/* What the value of the argument is, as far as words say. */

bool writ_words_path(const struct writ_words_context *about);
/** A path inside of what another argument names, so that it is relative: only for a path. */
bool writ_words_inside(const struct writ_words_context *about);
/** Whether an argument with this name makes the paths of others relative (`stored`). */
bool writ_words_store(const struct writ_words *name);
/** The name of a file in a folder that the call does not name. */
bool writ_words_file_name(const struct writ_words_context *about);
bool writ_words_url(const struct writ_words_context *about);
bool writ_words_host(const struct writ_words_context *about);
bool writ_words_command(const struct writ_words_context *about);
bool writ_words_amount(const struct writ_words_context *about);
/** A text that identifies one thing: no words of a person, no path upwards. */
bool writ_words_identifier(const struct writ_words_context *about);
/** The same, and one part of a longer name: without `/`. */
bool writ_words_part(const struct writ_words_context *about);

#endif
