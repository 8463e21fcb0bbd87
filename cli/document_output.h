/* document_output.h: commands that read workspaces and write one. */
#ifndef PARITAS_DOCUMENT_OUTPUT_H
#define PARITAS_DOCUMENT_OUTPUT_H

#include "session.h"

/* The answer is a document, as pyhf prints it: four blanks, sorted keys. */
void answer_document(struct session *session, const struct json *root);
/* The same of what a call gave, which is freed: its answer, or its failure. */
paritas_status answer_made(struct session *session, paritas_status status, paritas_workspace *made);
/* The words of a repeated option as a list: one a repetition, or two for an OPTION_PAIR. In the arena. */
paritas_status list_of(struct session *session, const char *option, paritas_names *list);

#endif
