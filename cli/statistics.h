/* statistics.h: what hypotest and limit share. */
#ifndef PARITAS_CLI_STATISTICS_H
#define PARITAS_CLI_STATISTICS_H

#include "writer.h"

paritas_test_statistic statistic_of(const char *name); /* "qtilde", "q", "q0" */

#endif
