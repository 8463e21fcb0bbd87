/* toy_runs.h: what the commands that draw toys share: options, the store's key, the answer's keys. */
#ifndef PARITAS_CLI_TOY_RUNS_H
#define PARITAS_CLI_TOY_RUNS_H

#include "session.h"

extern const struct option options_toys[];
#define GROUP_TOYS {"Toys", options_toys}

struct toy_run {
    paritas_toys_options options; /* borrows from the session */
    double start, seconds;
};

/* Reads the options of GROUP_TOYS; the session's model is loaded. */
paritas_status toy_run_open(struct session *session, struct toy_run *run);
/* The first option of GROUP_TOYS that is given; NULL: none. */
const char *toy_option_given(const struct arguments *arguments);
/* Notes the time, and the exit code 1 where more toys than --max-failed have no answer. */
void toy_run_close(struct session *session, struct toy_run *run,
                   const uint64_t counts[PARITAS_FIT_STATUS_COUNT]);
/* counts, methods, toys_per_second, ntoys, seed, into an open object. */
void toy_run_write(struct writer *writer, const struct toy_run *run, const paritas_toys_tally *tally);
void toy_run_describe(struct text *out, const struct toy_run *run, const paritas_toys_tally *tally);

/* The keys of a test by toys, into an open object; the same for people. */
void hypotest_toys_write(struct writer *writer, const paritas_hypotest_toys_result *result);
void hypotest_toys_describe(struct session *session, const char *poi,
                            const paritas_hypotest_toys_result *result);

#endif
