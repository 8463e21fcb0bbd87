/* known_fits.h: where free fits of toys ended, for further ensembles that draw the same toys.
 *
 * The toys of a limit at mu' are the same at each tested mu, and so are their free fits. */
#pragma once

#include "fit/profiles/profile.h"

/* All zero at first. For ensembles of one model, seed, purpose and fixed flags. */
struct known_fits {
    double *ends;          /* room rows of n_parameters, toy by toy */
    unsigned *evaluations; /* room; 0: not known */
    size_t room;
    double *setting; /* what else the fits depend on */
    size_t setting_size;
};

/* The part for toys first .. first + n - 1 of an ensemble with this plan and kernel row of expected data; `n`
 * of it may be smaller, or 0. Fits of another setting (start, bounds, metric) are forgotten. */
paritas_status known_fits_take(paritas_context *context, struct known_fits *fits,
                               const struct profile_plan *plan, const double *expected, uint64_t first,
                               size_t n, struct profile_known *part);
void known_fits_free(paritas_context *context, struct known_fits *fits);
