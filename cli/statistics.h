/* statistics.h: the option --test-stat. */
#ifndef PARITAS_CLI_STATISTICS_H
#define PARITAS_CLI_STATISTICS_H

#include "session.h"

paritas_test_statistic statistic_of(const struct session *session);
const char *statistic_name(const struct session *session); /* "qtilde", "q", "q0" */

#endif
