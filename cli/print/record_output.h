/* record_output.h: public records as JSON, by descriptor (paritas_records.h). Fields without a word are
 * left out. */
#pragma once

#include "print/writer.h"

/* All fields of a "paritas_gof_result". */
void write_record(struct writer *writer, const char *type, const void *record);
/* As an object on a line of an array; `name`: key "name", or NULL. */
void write_record_row(struct writer *writer, const char *name, const char *type, const void *record);
void write_fields(struct writer *writer, const char *type, const void *record, const char *first,
                  const char *last);

/* Real numbers become NaN, and the rest 0. `status` becomes the record's, if it has one. */
void record_clear(const char *type, void *record, int status);
