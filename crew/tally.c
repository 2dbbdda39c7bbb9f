/* The explanation may hold texts of agents and plug-ins, so every line is made safe and cut before
 * it is kept. */
#include "crew/tally.h"

#include "base/text.h"

#include <stdio.h>

#define EXPLAINED_MAX 512 /* bytes of a line */
#define ESCAPED_MAX   6   /* bytes that one byte can become */

void
writ_tally_ballot(struct writ_tally *tally, size_t ballot)
{
    tally->winner = WRIT_TALLY_BALLOT;
    tally->index = ballot;
}

void
writ_tally_candidate(struct writ_tally *tally, size_t candidate)
{
    tally->winner = WRIT_TALLY_CANDIDATE;
    tally->index = candidate;
}

/* The text may come from agents and plug-ins, so it is made safe to show. */
__attribute__((format(printf, 2, 0))) static void
explain(struct writ_tally *tally, const char *fmt, va_list args)
{
    char line[2 * EXPLAINED_MAX];
    int len = vsnprintf(line, sizeof line, fmt, args);

    if (len > 0 && tally->why.len + EXPLAINED_MAX * ESCAPED_MAX < WRIT_CREW_WHY_MAX) {
        writ_text_safe(&tally->why,
            writ_view(line, (size_t)len < sizeof line ? (size_t)len : sizeof line - 1),
            EXPLAINED_MAX);
        writ_buf_byte(&tally->why, '\n');
    }
}

void
writ_tally_explain(struct writ_tally *tally, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    explain(tally, fmt, args);
    va_end(args);
}

/* ---- the same for added engines */

static void
face_ballot(struct writ_crew_tally *face, size_t ballot)
{
    writ_tally_ballot((struct writ_tally *)face, ballot);
}

static void
face_candidate(struct writ_crew_tally *face, size_t candidate)
{
    writ_tally_candidate((struct writ_tally *)face, candidate);
}

__attribute__((format(printf, 2, 3))) static void
face_explain(struct writ_crew_tally *face, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    explain((struct writ_tally *)face, fmt, args);
    va_end(args);
}

const struct writ_crew_engine *
writ_tally_engine(const struct writ_crew_tally *face)
{
    return ((const struct writ_tally *)face)->engine;
}

struct writ_tally
writ_tally_make(void)
{
    return (struct writ_tally){.face = {face_ballot, face_candidate, face_explain},
        .why = writ_buf_make(WRIT_CREW_WHY_MAX)};
}

WRIT_RESULT
writ_tally_why(struct writ_tally *tally, struct writ_crew_text *ret)
{
    writ_buf_byte(&tally->why, '\0');
    WRIT_TRY(writ_buf_check(&tally->why, NULL));
    *ret = (struct writ_crew_text){tally->why.ptr, tally->why.len - 1};
    tally->why = writ_buf_make(0);
    return WRIT_DONE;
}

void
writ_crew_text_wipe(struct writ_crew_text *text)
{
    writ_free(text->ptr);
    *text = (struct writ_crew_text){NULL, 0};
}
