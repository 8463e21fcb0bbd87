/* results.h: every number that the library answers for a model, one behind the other, so that two builds,
 * widths or orders can be compared byte by byte. Needs the public interface only. */
#ifndef PARITAS_TESTS_PARITY_RESULTS_H
#define PARITAS_TESTS_PARITY_RESULTS_H

#include "paritas.h"
#include <stdbool.h>

/* Growing bytes. */
struct results {
    unsigned char *bytes;
    size_t length, capacity;
};

/* Parts of an answer, for results_collect and for naming what differs. */
enum results_part {
    RESULTS_EVALUATE,
    RESULTS_EXPECTED,
    RESULTS_FIT,
    RESULTS_SCAN,
    RESULTS_HYPOTEST,
    RESULTS_LIMIT,
    RESULTS_RANKING,
    RESULTS_LBFGSB,
    RESULTS_DE,
    RESULTS_PART_COUNT
};
extern const char *const results_part_names[RESULTS_PART_COUNT];

void results_free(struct results *results);
/* Appends what `part` answers for the model: evaluations at points made from `seed`; fits of varied starts,
 * data and fixed flags. A part that the model lacks (a limit without a POI) appends its status. False: no
 * memory. */
bool results_collect(paritas_context *context, const paritas_model *model, enum results_part part,
                     uint64_t seed, struct results *results);

/* Jobs on a model, and the memory behind them: varied data, starts and fixed flags. */
struct jobs {
    size_t n;
    paritas_job *jobs;
    double *numbers;
    unsigned char *fixed;
};
/* False: no memory; jobs_free all the same. */
bool jobs_make(const paritas_model *model, size_t n, uint64_t seed, struct jobs *jobs);
void jobs_free(struct jobs *jobs);
/* Runs n jobs in one call (`options` as paritas_fit's) and appends every result, parameters, errors,
 * covariances and states: job `order[k]` (NULL: k) comes k-th in the call, but the bytes stand in the order
 * of `jobs`. `chunk`: so many jobs a call (0: all). */
bool results_fits(paritas_context *context, const paritas_model *model, const paritas_fit_options *options,
                  const struct jobs *jobs, const size_t *order, size_t chunk, struct results *results);

#endif
