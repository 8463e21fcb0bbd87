/* profiles.h: free and conditional fits of many data sets drawn around one point.
 *
 *   data rows ─► quasi-Newton, where there is a shared matrix ─► Newton, for the rest ─► profiles
 *
 * f32 fits first on the device; the host continues the method in f64: a gradient or two per fit. Rows without
 * an answer that way are fitted without f32. Without polish f32 answers stand; f64 fits only unfinished rows.
 *
 * Answers do not depend on other rows or on how rows are cut into calls. */
#pragma once

#include "fit/profiles/profile.h"

/* Fits `n` kernel rows. `points`: free fits' parameters, or NULL. */
paritas_status profiles_fit(paritas_context *context, const struct profile_plan *plan, size_t n,
                            const double *data, struct profile *profiles, double *points);

/* The same by quasi-Newton alone, in f64; the rest has PROFILE_NO_ANSWER. `ends`: n rows of 2 n_parameters,
 * both fits. `slopes` (may be NULL): n, of twice the NLL by the parameter of interest, in the last fit.
 * `flags` (entry/entry_rows.h):
 *   PROFILE_CLOSEST   to an EDM a hundred times smaller, where more than the value is wanted
 *   PROFILE_POI_FREE  free fits move the parameter of interest
 *   PROFILE_STARTS    a row of `ends` begins with the fit's own start
 *   PROFILE_HOLDS     free fits to one kernel row; a row of `ends` is its start, and then 1 for parameters
 *                     that move, 0 for others */
paritas_status profiles_by_quasi_newton(paritas_context *context, const struct profile_plan *plan, size_t n,
                                        const double *data, uint32_t flags, struct profile *profiles,
                                        double *slopes, double *ends);
