/* model.h: a HistFactory model: what was read, and what the kernels run. Immutable once made. */
#ifndef PARITAS_HISTFACTORY_MODEL_H
#define PARITAS_HISTFACTORY_MODEL_H

#include "fit/family.h"
#include "histfactory/spec.h"

struct paritas_model {
    struct frozen frozen;
    paritas_allocator allocator;
    struct hf_spec *spec;   /* owned: names, samples, observations */
    struct arena arena;     /* maps, names, templates */
    char **parameter_names; /* in pyhf's order */
    uint32_t *cell_of;      /* per main datum and sample, channel by channel, sample by sample, bin by bin: element of the cell array */
    double gauss_constant;  /* sum over Gaussian constraints of ln(sigma sqrt(2 pi)) */
    uint32_t n_panels, n_cells;
};

/* Freezes `spec`, which the model owns from then on, also on failure. */
paritas_status hf_freeze(paritas_context *context, struct hf_spec *spec, const paritas_model_options *options,
                         struct paritas_model **model);

#endif
