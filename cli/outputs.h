/* outputs.h: a file that is written is none that is read, by no name and through no link. */
#pragma once

#include "session/session.h"

/* Of the command line's words, before anything is read; else told on stderr. Commands with `in_place` may
 * write over their operand. */
bool outputs_apart(const struct arguments *arguments);
/* Checks outputs against files that were opened since, such as a datacard's histograms. Exit code 2. */
paritas_status refuse_read_output(struct session *session);
