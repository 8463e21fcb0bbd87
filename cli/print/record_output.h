/* record_output.h: public records as JSON, by descriptor (paritas_records.h). Fields without a word are
 * left out. */
#pragma once

#include "print/writer.h"

#include "paritas_statistics.h"

/* All fields of a "paritas_gof_result". */
void write_record(struct writer *writer, const char *type, const void *record);
/* As an object on a line of an array; `name`: key "name", or NULL. */
void write_record_row(struct writer *writer, const char *name, const char *type, const void *record);
void write_fields(struct writer *writer, const char *type, const void *record, const char *first,
                  const char *last);

/* several_minima and minima: what the fits of a statistic met. */
void write_minima(struct writer *writer, const paritas_minima *minima);

/* Real numbers become NaN, and the rest 0. `status` becomes the record's, if it has one. */
void record_clear(const char *type, void *record, int status);
