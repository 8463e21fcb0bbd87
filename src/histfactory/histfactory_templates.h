/* histfactory_templates.h: numbers of a workspace that jobs bring in data rows (paritas_template).
 * `numbers`: the row's part of them. */
#pragma once

#include "histfactory/histfactory_frozen.h"

static inline const double *hf_rates(const struct hf_sample *sample, const double *numbers)
{
    return sample->data_template ? numbers + sample->data_template - 1 : sample->data;
}
static inline const double *hf_high(const struct hf_modifier *m, const double *numbers)
{
    return m->hi_template ? numbers + m->hi_template - 1 : m->hi_data;
}
static inline const double *hf_low(const struct hf_modifier *m, const double *numbers)
{
    return m->lo_template ? numbers + m->lo_template - 1 : m->lo_data;
}

static inline double hf_hi(const struct hf_modifier *m, const double *numbers)
{
    return m->hi_template ? numbers[m->hi_template - 1] : m->hi;
}
static inline double hf_lo(const struct hf_modifier *m, const double *numbers)
{
    return m->lo_template ? numbers[m->lo_template - 1] : m->lo;
}
static inline const double *hf_uncertainty(const struct hf_modifier *m, const double *numbers)
{
    return m->uncertainty_template ? numbers + m->uncertainty_template - 1 : m->uncertainty;
}

/* What Gaussian constraints add to the constants. */
double hf_gauss_constant(const struct hf_model *model, const double *numbers);
/* Do these numbers constrain the bin? */
bool hf_is_alive(const struct hf_varied_width *w, const double *numbers, uint32_t bin);
/* Do they decide its width? Else the measurement does, or there is no constraint. */
bool hf_follows_rates(const struct hf_varied_width *w, const double *numbers, uint32_t bin);
double hf_width_in_row(const struct hf_model *model, const double *numbers, const struct hf_set *set,
                       uint32_t i);
/* Hooks of the model, see fit/family.h. */
paritas_status hf_check_templates(paritas_context *context, const struct frozen *model, const double *numbers,
                                  const char *where);
void hf_put_templates(const struct frozen *model, const double *numbers, double *row);
void hf_suggest_aux(const struct frozen *model, const double *numbers, double *aux);
void hf_constraint_widths(const struct frozen *model, const double *numbers, double *widths);
