/* token.h - splits a text into tokens, each in a form that is the same wherever the value stands.
 *
 * A token is a word: an address, an account, a URL, an id, a number, a word of a sentence. Spaces,
 * commas, semicolons, brackets and quotation marks end it; a full stop, colon, question or
 * exclamation mark at its end does not belong to it. Its form:
 * - percent escapes (RFC 3986 2.1) and the common character references of HTML are undone;
 * - a URL loses `https://` and a `/` alone behind its host, and its host is in lower case;
 * - addresses of mail and names of hosts are in lower case;
 * - a number loses a currency sign, a plus sign and zeros that mean nothing.
 *
 * Nothing else is folded: two words that differ in case, in an accent or in a look-alike letter are
 * two tokens, because what is compared here decides what is trusted.
 *
 * Besides its words a text has aliases, each a value of its own: the host of each URL and address,
 * and an account number that is written in groups, without its separators. A word that some reader
 * may follow, but that is no URL or address of one of these forms, is its own host.
 *
 * Pure; the cost grows with the length of the text. */
#ifndef WRIT_EVIDENCE_TOKEN_H
#define WRIT_EVIDENCE_TOKEN_H

#include "base/bytes.h"

enum writ_token_kind {
    WRIT_TOKEN_WORD = 0, /* the next word of the text */
    WRIT_TOKEN_PLAIN,    /* the next word: a to z alone */
    WRIT_TOKEN_HOST,     /* the host of the word before */
    WRIT_TOKEN_JOINED,   /* words before, without the separators between them */
};

/** Takes one token; borrowed until it returns. `stands` is the part of the text that it stands for.
 */
typedef void writ_token_fn(
    void *ctx, enum writ_token_kind kind, struct writ_view token, struct writ_view stands);

/** Calls `each` for the tokens of a UTF-8 text, in their order; an alias comes after its word. */
void writ_tokens(struct writ_view text, writ_token_fn *each, void *ctx);

/** Whether a text is one token and nothing else but white space around it. */
bool writ_token_is_bare(struct writ_view text);

#endif
