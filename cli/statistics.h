/* statistics.h: what hypotest and limit share. */
#ifndef PARITAS_CLI_STATISTICS_H
#define PARITAS_CLI_STATISTICS_H

#include "writer.h"

paritas_test_statistic statistic_of(const char *name); /* "qtilde", "q", "q0" */
/* The keys of one test, into an open object. `result` is a paritas_hypotest_result. */
void hypotest_write_fields(struct writer *writer, const void *result);

#endif
