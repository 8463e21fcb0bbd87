/* histfactory_kinks.h: where rates have kinks: interpolations at 0, and bases of shapes at their edges. */
#pragma once

#include "fit/family.h"
#include "histfactory/workspace/workspace_spec.h"

/* Parameters with a kink at 0, by what moves rates there. `kinked`: n_parameters. Returns whether any has. */
bool hf_mark_kinks(const struct hf_spec *spec, unsigned char *kinked);

/* Can parameters within the suggested bounds move a base to its edge, other than at a parameter's 0? */
bool hf_has_kink_surfaces(const struct hf_spec *spec);

/* Functions of struct kink_surface_functions. */
size_t hf_kink_surfaces_near(const struct frozen *model, const double *point, double reach, size_t most,
                             size_t *ids);
double hf_kink_surface(const struct frozen *model, const double *point, size_t id, double *normal,
                       double *depth);
