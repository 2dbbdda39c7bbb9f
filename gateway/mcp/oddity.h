/* oddity.h - what is odd about the tools that servers list: texts that hide something or tell the
 * model what to do, names that are taken for others'. Pure.
 *
 * These are signs, not proofs: an honest description may say "you must", and a hostile one may say
 * nothing of the list (oddity.tbl.h). What keeps a call from running is the policy. */
#ifndef WRIT_GATEWAY_ODDITY_H
#define WRIT_GATEWAY_ODDITY_H

#include "evidence/json/digest.h"
#include "evidence/json/json.h"
#include "gateway/mcp/oddity.tbl.h"

#define WRIT_ODDITIES_MAX        1024 /* that are kept; more are counted */
#define WRIT_ODDITY_TEXT_MAX     120  /* bytes of a text that is quoted, before it is made safe */
#define WRIT_ODDITY_SKELETON_MAX 1024

enum writ_oddity_kind {
    WRIT_ODDITY_NONE = 0,
#define WRIT_ODDITY_ENUM(NAME, name, sentence) WRIT_ODDITY_##NAME,
    WRIT_ODDITIES(WRIT_ODDITY_ENUM)
#undef WRIT_ODDITY_ENUM
};

/** One of them. Texts lie in the arena of the list. */
struct writ_oddity {
    enum writ_oddity_kind kind;
    struct writ_view server, tool; /* as given; no tool: the server's own text */
    struct writ_view place;        /* JSON Pointer into the definition; empty: all of it */
    struct writ_view sign;  /* ADDRESSES: detector@version; IMITATES: how; HIDDEN: how many */
    struct writ_view quote; /* ADDRESSES: the words; REPEATS, IMITATES: "server/tool"; made safe */
};

/** Zero-initialise with an arena, which owns all texts. */
struct writ_oddities {
    struct writ_arena *arena;
    struct writ_oddity *items;
    size_t n, cap, total;
};

/** One tool. Borrowed for the calls, but for `server` and `name`: until the list is done with. */
struct writ_oddity_tool {
    struct writ_view server, name;
    const struct writ_json *definition;
    const struct writ_digest
        *digest; /* of the definition, for writ_oddity_of_names; NULL: unknown */
};

/** The kind as a word, and as a sentence. Static storage. */
const char *writ_oddity_name(enum writ_oddity_kind kind);
const char *writ_oddity_sentence(enum writ_oddity_kind kind);

/** Adds one that the caller found: CHANGED, NEW, DOUBLED. Without memory it is counted. */
void writ_oddity_add(struct writ_oddities *list, const struct writ_oddity *oddity);

/** Adds what is odd about the name and every text of a definition, at any depth. */
void writ_oddity_of_tool(struct writ_oddities *list, const struct writ_oddity_tool *tool);

/** Adds what is odd about a text for the model, such as the instructions of a server. */
void writ_oddity_of_text(struct writ_oddities *list, struct writ_view server,
    struct writ_view place, struct writ_view text);

/** Adds the tools whose name is that of another server's tool with another definition (REPEATS: an
 * equal one is a second instance of a server), or is so but for case, separators, letters that look
 * alike, or one letter more, less or other (IMITATES). The later of the two is reported. */
void writ_oddity_of_names(
    struct writ_oddities *list, const struct writ_oddity_tool *tools, size_t n);

/** Appends the name as a reader sees it: lower case, look-alikes as ASCII, one '_' for any run of
 * separators, nothing of what hides. */
void writ_oddity_skeleton(struct writ_buf *ret, struct writ_view name);

#endif
