/* document_output.h: commands that read workspaces and write one. */
#ifndef PARITAS_DOCUMENT_OUTPUT_H
#define PARITAS_DOCUMENT_OUTPUT_H

#include "session.h"

/* The answer is a document, as pyhf prints it: four blanks, sorted keys. */
void answer_document(struct session *session, const struct json *root);
/* Answers a document that a call made, and frees it; or returns the call's failure. */
paritas_status answer_made(struct session *session, paritas_status status, paritas_workspace *made);
/* The values of a repeated option, two a repetition for OPTION_PAIR. In the arena. */
paritas_status list_of(struct session *session, const char *option, paritas_names *list);

#endif
