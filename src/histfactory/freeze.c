/* freeze.c: from a validated specification to a model: the slab's layout, the maps between a user's order and
 * the kernels', the constants. */
#include "histfactory/freeze.h"
#include "histfactory/histfactory_derivatives.h"
#include "histfactory/histfactory_widths.h"
#include "base/host_math.h"
#include "entry/histfactory_entries.h"
#include "minimise/minimiser_sizes.h"

#include <stdio.h>
#include <string.h>

enum {
#define X(name) ENTRY_##name,
    MODULE_ENTRIES(X)
#undef X
};
extern const struct kernel_module paritas_module_histfactory;

const struct paritas_family hf_family = {
    .name = "histfactory",
    .module = &paritas_module_histfactory,
    .evaluate = ENTRY_hf_evaluate,
    .expected = ENTRY_hf_expected,
    .hessian = ENTRY_hf_hessian,
    .jacobian = ENTRY_hf_jacobian,
    .covariance = ENTRY_hf_covariance,
    .profile = ENTRY_hf_profile,
    .draw = ENTRY_hf_draw,
    .fit = {ENTRY_hf_fit, ENTRY_hf_fit_lbfgsb, ENTRY_hf_fit_de},
    .tangent = ENTRY_hf_tangent_rows,
    .free = hf_model_free,
    .expected_data = hf_expected_data,
    .expected_jacobian = hf_expected_jacobian,
    .expected_by_sample = hf_expected_by_sample,
    .channel_count = hf_channel_count,
    .channel_name = hf_channel_name,
    .channel_bins = hf_channel_bins,
    .sample_count = hf_sample_count,
    .sample_name = hf_sample_name,
    .check_templates = hf_check_templates,
    .put_templates = hf_put_templates,
    .suggest_aux = hf_suggest_aux,
    .constraint_widths = hf_constraint_widths,
    .data_derivatives = hf_data_derivatives,
    .expected_pullback = hf_expected_pullback,
};

/* Gives every slab vector its place. False: more than 2^32 elements. */
static bool lay_out_slab(struct freezer *f)
{
    const size_t dense = HEADER(f, HF_DENSE), blocks = HEADER(f, HF_BLOCKS), slots = HEADER(f, HF_SLOTS),
                 normsys = HEADER(f, HF_NORMSYS_ENTRIES);
    const size_t units = f->n_units, cells = 8 * (size_t)f->n_cells, panels = 8 * (size_t)f->n_panels;
    size_t jacobian = 0, cell_temp = 0, columns = 0;
    for (uint32_t c = 0; c < f->n_channels; c++) {
        const struct channel *ch = &f->channels[c];
        const uint32_t *record = f->ints.at + HEADER(f, HF_I_CHANNELS) + c * HF_CH_SIZE;
        if (64 * (size_t)record[HF_CH_BLOCKS] * (1 + ch->n_sets) > jacobian)
            jacobian = 64 * (size_t)record[HF_CH_BLOCKS] * (1 + ch->n_sets);
        if (24 * (size_t)ch->source->n_samples + 16 > cell_temp)
            cell_temp = 24 * (size_t)ch->source->n_samples + 16;
        if ((size_t)ch->panels * ch->n_sets * ch->n_sets > columns)
            columns = (size_t)ch->panels * ch->n_sets * ch->n_sets;
    }
    if (jacobian < 8) jacobian = 8;
    const struct {
        uint32_t header;
        size_t count;
    } vectors[] = {{HF_S_X, slots},
                   {HF_S_ACTIVE, slots},
                   {HF_S_MAIN, panels},
                   {HF_S_AUX, slots},
                   {HF_S_VARIED, freeze_varied(f)},
                   {HF_S_GRADIENT, slots},
                   {HF_S_HS, dense},
                   {HF_S_HT, dense},
                   {HF_S_HT1, dense},
                   {HF_S_HT2, dense},
                   {HF_S_NU, normsys},
                   {HF_S_NQ, normsys},
                   {HF_S_F, ROUND8(units)},
                   {HF_S_PHI, ROUND8(units)},
                   {HF_S_PHI_OTHERS, ROUND8(HEADER(f, HF_SCALARS))},
                   {HF_S_BASE, cells},
                   {HF_S_XE, cells},
                   {HF_S_XS, cells},
                   {HF_S_XG, cells},
                   {HF_S_LAMBDA, panels},
                   {HF_S_W, panels},
                   {HF_S_DEVIANCE, panels},
                   {HF_S_PENALTY, slots},
                   {HF_S_COMMON, panels},
                   {HF_S_CELL_WEIGHT, cells},
                   {HF_S_T, ROUND8(units)},
                   {HF_S_HSUM, f->histosys_sums},
                   {HF_S_TILES, 32 * blocks * (blocks + 1)},
                   {HF_S_RDIAG, dense},
                   {HF_S_DIAGONAL, dense},
                   {HF_S_SCALE, dense},
                   {HF_S_BENT, f->histosys_sums},
                   {HF_S_JACOBIAN, jacobian},
                   {HF_S_CELL_TEMP, cell_temp},
                   {HF_S_UNIT_ROWS, f->unit_rows},
                   {HF_S_SCALED, f->rows},
                   {HF_S_ROWS, f->rows},
                   {HF_S_LOCAL_D, slots - dense},
                   {HF_S_LOCAL_C, slots - dense},
                   {HF_S_MINIMISER, MINIMISER_VECTORS * slots + MINIMISER_SCALARS},
                   {HF_S_SCALARS_OF_FIT, 8}};
    size_t at = 0;
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        HEADER(f, vectors[k].header) = (uint32_t)at;
        at += vectors[k].count;
        if (at > 0xffffffffu) return false;
    }
    if (f->model->templates.n_widths) HEADER(f, HF_S_WIDTHS) = HEADER(f, HF_S_VARIED) + f->varied;
    HEADER(f, HF_S_LOCAL_L) = (uint32_t)at;
    for (uint32_t c = 0; c < f->n_channels; c++) {
        const struct channel *ch = &f->channels[c];
        f->ints.at[HEADER(f, HF_I_CHANNELS) + c * HF_CH_SIZE + HF_CH_LOCAL_L] = (uint32_t)at;
        at += (size_t)ch->panels * 4 * ch->n_sets * (ch->n_sets ? ch->n_sets - 1 : 0);
        if (at > 0xffffffffu) return false;
    }
    HEADER(f, HF_SLAB) = (uint32_t)at;
    HEADER(f, HF_S_AUGMENTED) = (uint32_t)at;
    HEADER(f, HF_LOCAL_COLUMNS) = (uint32_t)columns;
    at += slots * dense + 8 * columns + slots * (slots + 8) / 2;
    HEADER(f, HF_SLAB_COVARIANCE) = (uint32_t)at;
    return at <= 0xffffffffu && HEADER(f, HF_SLAB) + LBFGSB_MEMORY(slots) <= 0xffffffffu;
}

/* Slots of parameters, places of data, values of padding; constraint tables. */
static bool write_maps(struct freezer *f)
{
    const struct hf_spec *spec = f->spec;
    struct hf_model *model = f->model;
    struct frozen *frozen = &model->frozen;
    struct arena *arena = &model->arena;
    const size_t slots = HEADER(f, HF_SLOTS), places = HEADER(f, HF_DATA), panels = 8 * (size_t)f->n_panels;
    const size_t n = spec->n_parameters, data = (size_t)spec->n_main + spec->n_aux;
    const size_t numbers = f->n_templates;
    uint32_t *slot_of = arena_array(arena, n + 1, sizeof *slot_of),
             *place_of = arena_array(arena, data + 1, sizeof *place_of);
    double *slot_template = arena_array(arena, slots, sizeof *slot_template),
           *place_template = arena_array(arena, places, sizeof *place_template);
    double *init = arena_array(arena, n + 1, sizeof *init), *lower = arena_array(arena, n + 1, sizeof *lower),
           *upper = arena_array(arena, n + 1, sizeof *upper);
    double *width = arena_array(arena, n + 1, sizeof *width),
           *observed = arena_array(arena, data + numbers + 1, sizeof *observed);
    unsigned char *fixed = arena_array(arena, n + 1, 1);
    char **names = arena_array(arena, n + 1, sizeof *names);
    if (!slot_of || !place_of || !slot_template || !place_template || !init || !lower || !upper || !width ||
        !observed || !fixed || !names)
        return false;
    for (size_t p = 0; p < n; p++) slot_of[p] = f->dense_of[p];
    for (size_t i = HEADER(f, HF_DENSE); i < slots; i++) slot_template[i] = place_template[panels + i] = 1.0;
    for (uint32_t l = 0; l < f->n_sets; l++)
        for (uint32_t b = 0; b < f->channels[f->sets[l].channel].n_bins; b++)
            slot_of[spec->sets[f->sets[l].set].first + f->sets[l].first + b] = f->sets[l].slot + b;
    double *precision = f->reals.at + HEADER(f, HF_R_PRECISION), *tau = f->reals.at + HEADER(f, HF_R_TAU);
    for (uint32_t k = 0; k < spec->n_sets; k++) {
        const struct hf_set *set = &spec->sets[k];
        for (uint32_t i = 0; i < set->size; i++) {
            const uint32_t p = set->first + i, slot = slot_of[p];
            init[p] = set->init[i];
            lower[p] = set->lower[i];
            upper[p] = set->upper[i];
            fixed[p] = set->fixed[i];
            width[p] = __builtin_nan("");
            if (set->constraint == HF_GAUSSIAN) {
                width[p] = set->sigma[i];
                precision[slot] = 1.0 / (set->sigma[i] * set->sigma[i]);
                model->gauss_constant += hf_gauss_term(set->sigma[i]);
            }
            if (set->constraint == HF_POISSON) {
                width[p] = 1.0 / host_sqrt(set->tau[i]);
                tau[slot] = set->tau[i];
            }
            if (set->constraint != HF_UNCONSTRAINED) {
                place_of[spec->n_main + set->first_aux + i] = (uint32_t)panels + slot;
                observed[spec->n_main + set->first_aux + i] = set->aux[i];
            }
            char name[512];
            const int length = set->scalar ? snprintf(name, sizeof name, "%s", set->name)
                                           : snprintf(name, sizeof name, "%s[%u]", set->name, i);
            if (length >= (int)sizeof name) { /* a very long name: made piece by piece */
                const size_t stem = strlen(set->name);
                names[p] = arena_allocate(arena, stem + 16);
                if (names[p]) snprintf(names[p], stem + 16, set->scalar ? "%s" : "%s[%u]", set->name, i);
            } else
                names[p] = arena_text(arena, name, (size_t)length);
            if (!names[p]) return false;
        }
    }
    size_t cells = 0, by_sample = 0;
    for (uint32_t c = 0; c < spec->n_channels; c++)
        by_sample += (size_t)spec->channels[c].n_bins * spec->channels[c].n_samples;
    model->cell_of = arena_array(arena, by_sample + 1, sizeof *model->cell_of);
    if (!model->cell_of) return false;
    for (size_t i = 0; i < panels; i++) place_template[i] = 1.0;
    for (uint32_t c = 0; c < f->n_channels; c++) {
        const struct channel *ch = &f->channels[c];
        for (uint32_t b = 0; b < ch->n_bins; b++) {
            const uint32_t main = ch->source->first_bin + ch->first_bin + b;
            place_of[main] = 8 * ch->first_panel + b;
            observed[main] = ch->source->observed[ch->first_bin + b];
            if (ch->first_bin == 0 && b == 0) {
                cells = 0;
                for (uint32_t k = 0; k < ch->source_index; k++)
                    cells += (size_t)spec->channels[k].n_bins * spec->channels[k].n_samples;
            }
            for (uint32_t s = 0; s < ch->source->n_samples; s++)
                model->cell_of[cells + (size_t)s * ch->source->n_bins + ch->first_bin + b] =
                    8 * (ch->first_cell + b / 8 * ch->source->n_samples + s) + b % 8;
        }
    }
    frozen->names = names;
    frozen->poi = spec->poi;
    frozen->n_main = spec->n_main;
    model->n_panels = f->n_panels;
    model->n_cells = f->n_cells;
    frozen->n_parameters = n;
    frozen->n_slots = slots;
    frozen->n_data = data + numbers;
    frozen->n_templates = numbers;
    frozen->n_places = places;
    frozen->slot_of = slot_of;
    frozen->place_of = place_of;
    frozen->slot_template = slot_template;
    frozen->place_template = place_template;
    frozen->slab = HEADER(f, HF_SLAB);
    /* measured: a fit of two bins (1000 elements) takes 2 microseconds, of tHu (28000) 1.5 ms */
    frozen->cost = (double)frozen->slab * (double)frozen->slab;
    /* what only a Hessian needs stands behind the tiles; of the rest a value streams through most once, so
     * that lanes pay up to four times the usual size (measured: twice the speed on 184 parameters) */
    frozen->slab_value = HEADER(f, HF_S_TILES) / 4;
    frozen->slab_covariance = HEADER(f, HF_SLAB_COVARIANCE);
    frozen->slab_fit[PARITAS_MINIMIZER_NEWTON] = frozen->slab;
    frozen->slab_fit[PARITAS_MINIMIZER_DE] =
        frozen->slab; /* and the population, of a size that the caller chooses */
    frozen->slab_fit[PARITAS_MINIMIZER_LBFGSB] = frozen->slab + LBFGSB_MEMORY(slots);
    frozen->init = init;
    frozen->lower = lower;
    frozen->upper = upper;
    frozen->width = width;
    frozen->fixed = fixed;
    frozen->data = observed;
    if (numbers == 0) return true;
    if (!hf_templates_freeze(f)) return false;
    memcpy(observed + data, model->templates.observed, numbers * sizeof *observed);
    if (model->templates.n_widths) {
        memcpy(place_template + model->templates.precision, precision, slots * sizeof *precision);
        memcpy(place_template + model->templates.tau, tau, slots * sizeof *tau);
    }
    return true;
}

/* The constants of all Poisson and Gaussian terms. */
static double likelihood_constant(const struct frozen *frozen, const double *data)
{
    const struct hf_model *model = (const struct hf_model *)frozen;
    const struct hf_spec *spec = model->spec;
    double sum = frozen->n_templates ? hf_gauss_constant(model, frozen_templates(frozen, data))
                                     : model->gauss_constant;
    for (uint32_t i = 0; i < spec->n_main; i++) sum += host_poisson_constant(data[i]);
    for (uint32_t k = 0; k < spec->n_sets; k++)
        if (spec->sets[k].constraint == HF_POISSON)
            for (uint32_t i = 0; i < spec->sets[k].size; i++)
                sum += host_poisson_constant(data[spec->n_main + spec->sets[k].first_aux + i]);
    return sum;
}

paritas_status hf_freeze(paritas_context *context, struct hf_spec *spec, const paritas_model_options *options,
                         struct hf_model **made)
{
    uint32_t n_templates;
    const paritas_status found = hf_templates_find(context, spec, options, &n_templates);
    struct hf_model *model = paritas_allocate_clear(context, 1, sizeof *model);
    *made = NULL;
    if (!model || found != PARITAS_OK) {
        paritas_release(&context->allocator, model);
        hf_spec_free(spec);
        return found != PARITAS_OK ? found : paritas_fail_memory(context);
    }
    model->allocator = context->allocator;
    model->spec = spec;
    model->frozen.family = &hf_family;
    model->frozen.serial = device_model_serial();
    model->frozen.constant = likelihood_constant;
    arena_open(&model->arena, &context->allocator);
    struct freezer f = {
        .context = context, .spec = spec, .options = options, .model = model, .n_templates = n_templates};
    f.ints.context = f.lists.context = f.pairs.context = f.works.context = f.reals.context = context;
    arena_open(&f.arena, &context->allocator);
    bool done = hf_templates_list_widths(&f) && freeze_layout(&f) && freeze_tables(&f);
    const bool fits = !done || lay_out_slab(&f);
    done = done && fits && write_maps(&f);
    /* kernels load whole packs from the coefficients: on a line of the cache each, not across two */
    double *reals = done ? paritas_allocate_aligned(context, f.reals.n, sizeof *reals) : NULL;
    if (reals)
        memcpy(reals, f.reals.at, f.reals.n * sizeof *reals);
    else
        done = false;
    model->frozen.tables = (struct device_tables){f.ints.at, reals, f.ints.n, f.reals.n};
    paritas_release(&context->allocator, f.reals.at);
    paritas_release(&context->allocator, f.lists.at);
    paritas_release(&context->allocator, f.pairs.at);
    paritas_release(&context->allocator, f.works.at);
    arena_free(&f.arena);
    if (!done) {
        hf_model_free((paritas_model *)model);
        return fits ? paritas_fail_memory(context)
                    : paritas_fail(context, PARITAS_OUT_OF_MEMORY,
                                   "the model is too large: one fit would need more than 2^32 numbers");
    }
    *made = model;
    return PARITAS_OK;
}
