/* parameter_groups.h: --groups, parameters by patterns of their names, and what they do to the error. */
#pragma once

#include "session/session.h"

#define OPTION_GROUPS                                                                                       \
    {"--groups", OPTION_FILE, "FILE|NAME=PATTERN",                                                          \
     "also the parts of the error by groups of parameters (repeatable). Patterns have * and ?, and commas " \
     "between them. FILE: a JSON object of names and patterns, or a datacard with lines `group`"}

/* Arrays in the session's arena. */
struct parameter_groups {
    size_t n;
    const char **names;
    unsigned char *members; /* n rows of flags */
    paritas_breakdown_result total;
    paritas_breakdown_group *parts;
};

/* What --groups says. n = 0: it is not given. */
paritas_status groups_read(struct session *session, struct parameter_groups *groups);
/* The same, and its breakdown. Without groups a table still has the error and its two parts. */
paritas_status groups_break_down(struct session *session, struct parameter_groups *groups);
void groups_write(struct writer *writer, const struct parameter_groups *groups);
void groups_describe(struct session *session, const struct parameter_groups *groups);
/* Prints why the parameter of interest has no error to break down. */
void describe_no_error(struct session *session, double best, paritas_fit_status status,
                       paritas_parameter_state state);
