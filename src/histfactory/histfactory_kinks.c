/* histfactory_kinks.c: a base that meets its edge does so on a surface in the space of the parameters. */
#include "histfactory/histfactory_kinks.h"
#include "histfactory/histfactory_frozen.h"
#include "histfactory/modifiers/modifier_numbers.h"

#include <math.h>

/* The channel's samples that the likelihood has. */
static uint32_t samples_of(const struct hf_channel *channel)
{
    return channel->masked ? 0 : channel->n_samples;
}

/* ---- kinks at 0 of one parameter ---- */

static bool has_kink(const struct hf_modifier *m)
{
    return (m->type == HF_NORMSYS &&
            (m->code == PARITAS_NORMSYS_CODE_0 || m->code == PARITAS_NORMSYS_CODE_1)) ||
           (m->type == HF_HISTOSYS &&
            (m->code == PARITAS_HISTOSYS_CODE_0 || m->code == PARITAS_HISTOSYS_CODE_1));
}

static bool moves(const struct hf_modifier *m, uint32_t bin)
{
    return m->type == HF_HISTOSYS && !hf_multiplies_bins(m) && m->hi_data[bin] != m->lo_data[bin];
}

/* The only histosys that moves a bin; NULL: there is none, or more than one. */
static const struct hf_modifier *only_mover(const struct hf_sample *sample, uint32_t bin)
{
    const struct hf_modifier *only = NULL;
    for (uint32_t k = 0; k < sample->n_modifiers; k++) {
        const struct hf_modifier *m = &sample->modifiers[k];
        if (!moves(m, bin)) continue;
        if (only) return NULL;
        only = m;
    }
    return only;
}

/* Logarithmic shapes are above 0 or stay at it. */
static bool is_clipped(const struct hf_sample *sample)
{
    return sample->shape.given && !sample->shape.logarithmic;
}

/* Is a bin's base at its edge at the nominal point? */
static bool begins_at_edge(const struct hf_sample *sample, uint32_t bin)
{
    return sample->data[bin] == sample->shape.edge || hf_is_lifted(&sample->shape, sample->data[bin]);
}

bool hf_mark_kinks(const struct hf_spec *spec, unsigned char *kinked)
{
    bool any = false;
    for (uint32_t c = 0; c < spec->n_channels; c++)
        for (uint32_t s = 0; s < samples_of(&spec->channels[c]); s++) {
            const struct hf_sample *sample = &spec->channels[c].samples[s];
            for (uint32_t k = 0; k < sample->n_modifiers; k++)
                if (has_kink(&sample->modifiers[k]))
                    kinked[spec->sets[sample->modifiers[k].set].first] = any = true;
            for (uint32_t b = 0; b < sample->n_bins && is_clipped(sample); b++) {
                const struct hf_modifier *only = begins_at_edge(sample, b) ? only_mover(sample, b) : NULL;
                if (only) kinked[spec->sets[only->set].first] = any = true;
            }
        }
    return any;
}

/* ---- surfaces ---- */

/* A sample whose bases are smooth but for their edges. */
static bool is_smooth(const struct hf_sample *sample)
{
    if (!is_clipped(sample)) return false;
    for (uint32_t k = 0; k < sample->n_modifiers; k++) {
        const struct hf_modifier *m = &sample->modifiers[k];
        if (m->type == HF_HISTOSYS && m->code != PARITAS_HISTOSYS_CODE_4P) return false;
    }
    return true;
}

/* What a histosys of code 4p adds to a bin at `value`, and its slope there. */
static double shift_at(const struct hf_modifier *m, double nominal, uint32_t bin, double value, double *slope)
{
    const double up = m->hi_data[bin] - nominal, down = nominal - m->lo_data[bin], odd = 0.5 * (up + down),
                 even = 0.5 * (up - down), x = m->scale * value, square = x * x;
    if (square >= 1.0) {
        *slope = m->scale * (odd + (x < 0.0 ? -even : even));
        return odd * x + even * fabs(x);
    }
    *slope = m->scale * (odd + even * 0.125 * x * (30.0 + square * (18.0 * square - 40.0)));
    return odd * x + even * 0.125 * square * (15.0 + square * (3.0 * square - 10.0));
}

/* From a tiny minimum down to its edge slopes are those of the base, though the minimum holds it. */
static double depth_of(const struct hf_sample *sample, uint32_t bin)
{
    return hf_is_lifted(&sample->shape, sample->data[bin]) ? 0.0 : sample->shape.minimum - sample->shape.edge;
}

/* A bin's base less its minimum. `squares`: what each parameter's width does to it, squared and added. */
static double base_at(const struct hf_spec *spec, const struct hf_sample *sample, uint32_t bin,
                      const double *point, const double *widths, double *squares)
{
    double base = sample->data[bin] - sample->shape.minimum;
    if (hf_is_lifted(&sample->shape, sample->data[bin])) base = 0.0;
    *squares = 0.0;
    for (uint32_t k = 0; k < sample->n_modifiers; k++) {
        const struct hf_modifier *m = &sample->modifiers[k];
        double slope;
        if (!moves(m, bin)) continue;
        const uint32_t p = spec->sets[m->set].first;
        base += shift_at(m, sample->data[bin], bin, point[p], &slope);
        const double part = slope * (widths[p] > 0.0 ? widths[p] : 1.0);
        *squares += part * part;
    }
    return base;
}

bool hf_has_kink_surfaces(const struct hf_spec *spec)
{
    for (uint32_t c = 0; c < spec->n_channels; c++)
        for (uint32_t s = 0; s < samples_of(&spec->channels[c]); s++) {
            const struct hf_sample *sample = &spec->channels[c].samples[s];
            for (uint32_t b = 0; b < sample->n_bins && is_smooth(sample); b++)
                for (uint32_t k = 0; k < sample->n_modifiers; k++)
                    if (moves(&sample->modifiers[k], b)) return true;
        }
    return false;
}

/* Puts a surface into the list by its distance. */
static size_t insert(size_t n, size_t most, size_t *ids, double *distances, size_t id, double distance)
{
    size_t at = n < most ? n++ : n;
    while (at > 0 && distances[at - 1] > distance) {
        if (at < most) {
            ids[at] = ids[at - 1];
            distances[at] = distances[at - 1];
        }
        at--;
    }
    if (at < most) {
        ids[at] = id;
        distances[at] = distance;
    }
    return n;
}

size_t hf_kink_surfaces_near(const struct frozen *model, const double *point, double reach, size_t most,
                             size_t *ids)
{
    const struct hf_spec *spec = ((const struct hf_model *)model)->spec;
    double distances[KINK_SURFACES_MOST];
    size_t n = 0, id = 0;
    for (uint32_t c = 0; c < spec->n_channels; c++)
        for (uint32_t s = 0; s < samples_of(&spec->channels[c]); s++) {
            const struct hf_sample *sample = &spec->channels[c].samples[s];
            const bool smooth = is_smooth(sample);
            for (uint32_t b = 0; b < sample->n_bins; b++, id++) {
                double squares;
                if (!smooth || (begins_at_edge(sample, b) && only_mover(sample, b))) continue;
                const double base = base_at(spec, sample, b, point, model->width, &squares);
                if (squares > 0.0 && base * base <= reach * reach * squares)
                    n = insert(n, most, ids, distances, id, fabs(base) / sqrt(squares));
            }
        }
    return n;
}

double hf_kink_surface(const struct frozen *model, const double *point, size_t id, double *normal,
                       double *depth)
{
    const struct hf_spec *spec = ((const struct hf_model *)model)->spec;
    size_t first = 0;
    for (size_t p = 0; p < model->n_parameters; p++) normal[p] = 0.0;
    for (uint32_t c = 0; c < spec->n_channels; c++)
        for (uint32_t s = 0; s < samples_of(&spec->channels[c]); s++) {
            const struct hf_sample *sample = &spec->channels[c].samples[s];
            if (id >= first + sample->n_bins) {
                first += sample->n_bins;
                continue;
            }
            const uint32_t b = (uint32_t)(id - first);
            double squares, slope;
            for (uint32_t k = 0; k < sample->n_modifiers; k++) {
                const struct hf_modifier *m = &sample->modifiers[k];
                if (!moves(m, b)) continue;
                const uint32_t p = spec->sets[m->set].first;
                shift_at(m, sample->data[b], b, point[p], &slope);
                normal[p] += slope;
            }
            *depth = depth_of(sample, b);
            return base_at(spec, sample, b, point, model->width, &squares);
        }
    return 1.0;
}
