/* record_output.h: public records as JSON, from their descriptors (paritas_records.h), in the order of the
 * list. Fields without a word are left out. */
#ifndef PARITAS_RECORD_OUTPUT_H
#define PARITAS_RECORD_OUTPUT_H

#include "writer.h"

/* All fields of a record of this type ("paritas_gof_result"). */
void write_record(struct writer *writer, const char *type, const void *record);
/* The same as an object on a line, in an array; `name` NULL or under the key "name". */
void write_record_row(struct writer *writer, const char *name, const char *type, const void *record);
/* The fields from word `first` to word `last`. */
void write_fields(struct writer *writer, const char *type, const void *record, const char *first,
                  const char *last);

#endif
