/* document_output.h: for commands that write workspaces. */
#pragma once

#include "session/session.h"

/* As pyhf prints: four blanks, sorted keys. */
void answer_document(struct session *session, const struct json *root);
/* Answers a made document and frees it, or returns the failure. */
paritas_status answer_made(struct session *session, paritas_status status, paritas_workspace *made);
/* Values of a repeated option, two each for OPTION_PAIR. In the arena. */
paritas_status list_of(struct session *session, const char *option, paritas_names *list);
