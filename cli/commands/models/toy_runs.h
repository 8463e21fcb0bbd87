/* toy_runs.h: shared by commands that draw toys. */
#pragma once

#include "analysis.h"

extern const struct option options_toys[];
/* `needs`: the option that these belong to */
#define GROUP_TOYS(needs) {"Toys", options_toys, needs}
/* where toys decide where toys are drawn */
#define GROUP_UNCUT_TOYS(needs) {"Toys", options_toys, needs, .without = "--shard"}
/* for runs without a store */
#define GROUP_UNKEPT_TOYS {"Toys", options_toys, .without = "--shard|--store|--resume"}
/* the same, with all fits by Newton's method */
#define GROUP_NEWTON_TOYS(needs) {"Toys", options_toys, needs, "--shard|--store|--resume|--minimizer"}

/* `needs`: of --importance; NULL allowed. For tests of one value. */
#define OPTIONS_IMPORTANCE(needs_)                                                                           \
    {"--importance", .library = "paritas_toys_options", .needs = needs_},                                    \
        {"--strength", OPTION_NUMBER, "MU",                                                                  \
         "draw toys at this value, not at values the program chooses; also at both hypotheses (repeatable)", \
         .needs = "--importance"}

/* Where toys without a test are drawn. */
#define OPTIONS_CENTRE                                                                                    \
    {"--point", OPTION_INPUT, "FILE",                                                                     \
     "draw toys at this point, a file as for `nll --point`; default: the best fit to the observed data"}, \
        {"--expected-data", OPTION_INPUT, "FILE",                                                         \
         "draw toys around these data: a JSON array, main data then auxiliary, or an object {\"main\": "  \
         "[...], \"aux\": [...]}"}
paritas_status check_centre(struct session *session);
/* The data of --expected-data, in the arena. */
paritas_status load_expected(struct session *session, const char *path, double **expected);

/* The text of a file of toys: JSON; for FILE.npz an archive. Freed by paritas_text_free. */
paritas_status write_toys(struct session *session, const char *path, const paritas_toy_data *data,
                          char **text, size_t *length);

struct toy_run {
    paritas_toys_options options; /* borrows from session */
    double start, seconds;
    paritas_toys_tally tally;
    bool failed; /* more failed toys than --max-failed */
};

/* Needs the session's model. */
paritas_status toy_run_open(struct session *session, struct toy_run *run);
/* Was there no place to draw toys, since a fit ended outside the domain? Tells it on stderr. The answer then
 * has no numbers but a status, as by formula: clear its records, and set *status to PARITAS_OK. `test` (NULL
 * allowed): its weights may have degenerated, which is told, too; it keeps what it has. */
bool toy_run_lacks_place(struct session *session, paritas_status *status,
                         const paritas_hypotest_toys_result *test);
/* Notes time and tally. Exit code 1 if more than --max-failed toys failed. */
void toy_run_close(struct session *session, struct toy_run *run, const paritas_toys_tally *tally);
/* counts, methods, toys_per_second, ntoys, seed. */
void toy_run_write(struct writer *writer, const struct toy_run *run);
void toy_run_describe(struct text *out, const struct toy_run *run);

/* Statuses that occurred (and `always`). */
void write_status_counts(struct writer *writer, const uint64_t counts[PARITAS_FIT_STATUS_COUNT],
                         paritas_fit_status always);
/* Strengths and effective numbers of importance sampling; else nothing. */
void importance_write(struct writer *writer, const paritas_hypotest_toys_result *result);
void importance_describe(struct text *out, const paritas_hypotest_toys_result *result);
/* A test by toys, in an open object; the same as text. */
void hypotest_toys_write(struct writer *writer, const paritas_hypotest_toys_result *result);
void hypotest_toys_describe(struct session *session, const char *poi,
                            const paritas_hypotest_toys_result *result);
