/* transcript.h - the events of a crew, in lines for people. */
#ifndef WRIT_CLI_TRANSCRIPT_H
#define WRIT_CLI_TRANSCRIPT_H

#include "evidence/json/json.h"

/** Bytes of a value that a line shows. */
#define WRIT_TRANSCRIPT_SHOWN 200

/** Prints an event of the crew. */
void writ_transcript_event(const struct writ_json *event);

/** Prints the answer of an agent. */
void writ_transcript_answer(struct writ_view agent, const struct writ_json *answer);

/** Says that an agent did not answer, and why. */
void writ_transcript_failed(struct writ_view agent, const char *why);

#endif
