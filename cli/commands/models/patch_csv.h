/* patch_csv.h: the answers of a patch set as CSV, a line a patch. */
#pragma once

#include "commands/models/patches.h"

/* patch, a column a label, those of analysis->columns */
void patch_csv_header(const struct patches *patches, const char *columns, struct text *out);
/* Appends the line of a patch to `out`. `answer`: its JSON. */
paritas_status patch_csv_line(paritas_context *context, const struct patch *patch, const char *columns,
                              const struct text *answer, struct text *out);
void patch_csv_failure(const struct patch *patch, const char *columns, const char *message, struct text *out);
