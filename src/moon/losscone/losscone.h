/* losscone.h: option tables for kernels, sweeps as rows. */
#pragma once

#include "modules/losscone_entries.h"
#include "fit/batch.h"
#include "moon/losscone/losscone_grid.h"
#include "losscone/losscone_rows.h"
#include "paritas_losscone.h"

enum {
#define X(name) ENTRY_##name,
    MODULE_ENTRIES(X)
#undef X
};

/* Checked arguments; options also as the kernels read them. */
struct losscone_call {
    paritas_sweeps sweeps; /* rows and cells above 0 */
    const struct losscone_grid *grid;
    paritas_losscone_options options;
    uint32_t ints[LOSSCONE_INTS];
    double reals[LOSSCONE_REALS];
};

/* Checks values and arrays (fluxes only if needed). `given_options`: NULL allowed. */
paritas_status losscone_open(paritas_context *context, const paritas_sweeps *given_sweeps,
                             const paritas_losscone_options *given_options, bool needs_flux,
                             struct losscone_call *call);
/* Runs a job a sweep. Without `fill`, rows are the sweeps'; then `user` begins with a const struct
 * losscone_call *. */
paritas_status losscone_run(paritas_context *context, const struct losscone_call *call, struct batch batch);

paritas_status losscone_options_read(paritas_context *context, const paritas_losscone_options *given,
                                     paritas_losscone_options *options);
paritas_status losscone_sweeps_read(paritas_context *context, const paritas_sweeps *given, bool needs_flux,
                                    paritas_sweeps *sweeps, const struct losscone_grid **grid);
/* What kernels read of a grid. */
void losscone_grid_ints(size_t rows, size_t cells, uint32_t ints[LOSSCONE_INTS]);
/* Cells of a sweep. */
static inline size_t losscone_cells(const paritas_sweeps *sweeps)
{
    return sweeps->rows * sweeps->cells;
}

#define LOSSCONE_MODELS_AT_ONCE 256 /* sweeps whose models are held */
/* Sweeps `first` .. first + n - 1, as models take them. */
paritas_sweeps losscone_part(const paritas_sweeps *sweeps, size_t first, size_t n);
/* May cells of this row, counted over all sweeps, be fitted? */
bool losscone_row_is_usable(const paritas_sweeps *sweeps, size_t row);

/* Fills in what speaks of a fit's quality, after all else. `quality`: quality_number. `scale`: sum of squares
 * over the result's misfit. */
void losscone_judge(const paritas_losscone_options *options, const double *quality, double scale,
                    paritas_losscone_result *r);
/* Marks fits of too few energies. */
void losscone_judge_rows(const struct losscone_call *call, paritas_losscone_result *results);
unsigned losscone_least_cells(const paritas_losscone_options *options);
/* The result before any numbers: FITTED, or too few cells. */
paritas_losscone_result losscone_result(const paritas_losscone_options *options, unsigned cells);
/* `settled`: the search ended within its limits. */
paritas_sweep_status losscone_status(const paritas_losscone_options *options, double misfit, bool settled);

/* Size of the noise at the centres of results `first` .. first + n - 1. `noise`: standard deviation of what
 * the misfit compares, n x rows x cells, or NULL. `size`: its mean square where the cells tell U, at least
 * the mean square residual; n, or NULL. Only with counts; results must have fits. */
paritas_status losscone_noise(paritas_context *context, const struct losscone_call *call,
                              const paritas_losscone_result *results, size_t first, size_t n, double *noise,
                              double *size);
bool losscone_has_fit(const paritas_losscone_result *result);
/* Mean square residual. */
double losscone_scatter(const paritas_losscone_options *options, const paritas_losscone_result *result);
/* Of sums of squares, in the result's misfit. */
double losscone_misfit_divisor(const paritas_losscone_options *options,
                               const paritas_losscone_result *result);

/* Sigma of a Gaussian in ln E with the response's half width at half maximum. */
double losscone_response_sigma(double width);
/* d(U) / d(spacecraft potential) at a result. */
double losscone_slope(const paritas_sweeps *sweeps, size_t k, const paritas_losscone_result *r);

/* Cosines beyond 1 by rounding count as 1; NaN stays. */
double losscone_cosine(double x);
/* The grid's `sweep` numbers, masked. What is beyond the sweep's rows and cells stays as it was. */
void losscone_sweep_row(const struct losscone_call *call, size_t k, double *row);
/* Their `channel` alone. */
void losscone_channel_row(const struct losscone_call *call, size_t k, double *row);
