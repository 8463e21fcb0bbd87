/* day_provenance.h: what a table was made from and how, as the JSON document that the table begins with; and
 * whether a table that is there answers for this run.
 *
 *   {"paritas": version, "command": ..., "options": {...}, "inputs": [{"file", "sha256"}, ...], "run": {...},
 *   "answer": {...}}
 *
 * Version, command, options and inputs decide the numbers: a table answers where they are equal. `run` says
 * what cannot change them, `answer` what the table holds.
 */
#ifndef PARITAS_DAY_PROVENANCE_H
#define PARITAS_DAY_PROVENANCE_H

#include "session.h"

/* Digest of a whole file, 64 hexadecimal digits. */
paritas_status file_digest(paritas_context *context, const char *path, char hex[65]);
/* Of the names and digests of all files in a folder. */
paritas_status folder_digest(paritas_context *context, const char *folder, char hex[65]);
/* The last part of a path, for the provenance: a file is who it is by its digest, not by where it lay. */
const char *file_name(const char *path);
/* A string that may hold bytes that are no UTF-8, which JSON cannot: they become '?'. */
void write_path(struct writer *writer, const char *key, const char *path);

/* Does what decides numbers differ? `difference` (`room` bytes) says then what differs first, an option by
 * its name. Inputs are not compared where `wanted` has none. */
bool provenance_differs(paritas_context *context, const struct json *found, const struct json *wanted,
                        char *difference, size_t room);

#endif
