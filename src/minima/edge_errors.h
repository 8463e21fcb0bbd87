/* edge_errors.h: errors of fits that end at the edge of the domain.
 *
 * There the covariance is that of what the edge leaves free. A parameter that the edge fixes has no error.
 * The error of another one is a distance along the edge: it says something only if twice the NLL rises by
 * about 1 on both sides of it. Off the edge, the NLL may rise much slower. */
#pragma once

#include "minima/infer.h"

/* Of n jobs and their answers: parameters without such an error get the state `at_edge` and the error NaN.
 * Needs errors and parameters; states may be NULL. */
paritas_status edge_errors_judge(paritas_context *context, const paritas_model *model, size_t n,
                                 const paritas_job *jobs, const paritas_fit_answers *answers);

/* A profile's errors and states, judged; they are its own where no edge is met. */
paritas_status edge_errors_of(struct infer *infer, const struct infer_profile *profile, double **errors,
                              paritas_parameter_state **states);
