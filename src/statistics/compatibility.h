/* compatibility.h: a model with a parameter of interest for each group of channels, beside the common one. */
#pragma once

#include "minima/infer.h"

/* Opens the common model, with its parameter of interest. */
paritas_status compatibility_open(struct infer *common, paritas_context *context, const paritas_model *model,
                                  const paritas_job *job);
/* A point of the common model in the separate one, by names. */
void compatibility_start(const struct infer *common, const double *point, const paritas_model *separate,
                         double *start);
/* The separate model's job, from a point of the common one. Arrays lie in the arena of `common`. */
paritas_status compatibility_job(struct infer *common, const double *point, const paritas_model *separate,
                                 paritas_job *job);
/* Fits both. `best`: of the common model. */
paritas_status compatibility_fit(struct infer *common, const paritas_model *separate,
                                 struct infer_profile *best, paritas_compatibility_result *result,
                                 paritas_compatibility_group *groups);
