/* unfold.h: the penalty of regularised unfolding. */
#pragma once

#include "base/context.h"
#include "paritas_unfold.h"

/* |rows (x - centres)|^2 of n parameters. Arrays are in the arena. */
struct unfold_penalty {
    size_t n, n_rows;
    size_t *parameters;  /* their numbers in the model */
    double *rows, *ties; /* n_rows rows of n; rows^T rows */
    const double *centres;
    const paritas_model *model; /* borrowed: of names */
};

paritas_status unfold_penalty_make(paritas_context *context, struct arena *arena, const paritas_model *model,
                                   const paritas_unfold_options *options, struct unfold_penalty *penalty);
/* INVALID_ARGUMENT unless option `name` is left out, or has `wanted` finite numbers. */
paritas_status unfold_check_numbers(paritas_context *context, const char *name, size_t n, size_t wanted,
                                    const double *values);
/* Adds it to the measurement (NULL: the first) of a document. *strength: the object that has the member
 * "strength". */
paritas_status unfold_penalty_add(paritas_context *context, paritas_workspace *document,
                                  const char *measurement, const struct unfold_penalty *penalty,
                                  struct json **strength);
bool unfold_set_strength(paritas_workspace *document, struct json *strength, double tau);
