/* transcript.h - what happens in a crew, in lines for people. */
#ifndef WRIT_CLI_TRANSCRIPT_H
#define WRIT_CLI_TRANSCRIPT_H

#include "evidence/json/json.h"

/** Bytes of a value that a line shows. */
#define WRIT_TRANSCRIPT_SHOWN 200

/** Says on standard output what an event of the crew says. */
void writ_transcript_event(const struct writ_json *event);

/** Says what an agent answered. */
void writ_transcript_answer(struct writ_view agent, const struct writ_json *answer);

/** Says that an agent did not answer, and why. */
void writ_transcript_failed(struct writ_view agent, const char *why);

#endif
