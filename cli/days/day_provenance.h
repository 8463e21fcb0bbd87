/* day_provenance.h: the JSON document at the head of a table.
 *
 *   {"paritas": version, "command": ..., "options": {...}, "inputs": [{"file", "sha256"}, ...],
 *    "run": {...}, "answer": {...}}
 *
 * A table serves a run if version, command, options and inputs agree. `run` cannot change numbers.
 * `answer` tells what the table holds. */
#pragma once

#include "base/digest.h"
#include "session/session.h"

/* Of names and digests of its files. */
paritas_status folder_digest(struct session *session, const char *folder, char hex[65]);
/* Replaces invalid UTF-8 by '?'. */
void write_path(struct writer *writer, const char *key, const char *path);

/* Do parts differ that decide numbers? `difference` (an open text): the first one, an option by its name.
 * Inputs are compared if `wanted` has some. */
bool provenance_differs(const struct json *found, const struct json *wanted, struct text *difference);
