/* kink_surfaces.h: fits that end where rates have kinks other than at a parameter's 0.
 *
 * A clipped rate meets its minimum on a surface g(x) = 0 with the normal n, g's gradient. On either side the
 * NLL is smooth. Its gradients there, G- and G+, differ along n. A minimum on surfaces meets two conditions:
 * along them the NLL has no slope, and off each surface it falls on neither side.
 *
 * Newton's method does not see surfaces, and ends beside them without progress. From there a fit walks on
 * them. V is the covariance of one side, N has the normals, M = N^T V N. Column k of D = V N M^-1 goes off
 * surface k and stays on the others, and other parameters follow:
 *
 *   step along surfaces   -V (G - N s),   slopes off them   s = D^T G
 *
 * (Newton's step under linear constraints: Nocedal and Wright, Numerical Optimization, 16.1.) Surfaces bend.
 * What that adds to the curvature along them, steps tell (BFGS).
 *
 * Errors are those of kinks.h: off a surface the mean of what both sides allow, others following; along
 * surfaces the mean of both sides' covariances. A side without a covariance is left out. */
#pragma once

#include "fit/fit_rows.h"

/* Are surfaces at the job's start? */
bool kink_surfaces_hold(const struct frozen *model, const struct fit_job *job);

/* Newton's method gets so many iterations of `iterations` before a fit walks. */
uint32_t kink_surfaces_limit(const struct frozen *model, uint32_t iterations);

/* Continues a fit that ended at `point` without a minimum, until it has `iterations` in all. Elsewhere than
 * beside surfaces Newton's method gets those that are left. Other fits stay as they are. */
paritas_status kink_surfaces_settle(paritas_context *context, const struct frozen *model,
                                    const struct fit_job *job, uint32_t iterations, double *point,
                                    struct fit_outcome *outcome);

/* A covariance's answer, as of kinks_covariance, for a start on surfaces. Parameters at their kinks at 0 are
 * surfaces, too. */
paritas_status kink_surfaces_covariance(paritas_context *context, const struct frozen *model,
                                        const struct fit_job *job, double *answer);
