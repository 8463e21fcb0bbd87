/* freeze.c: specification to model: slab layout, maps, constants. */
#include "histfactory/freeze.h"
#include "histfactory/histfactory_kinks.h"
#include "histfactory/histfactory_templates.h"
#include "histfactory/modifiers/modifier_numbers.h"
#include "fit/frozen_maps.h"
#include "minimise/minimiser_sizes.h"

#include <stdio.h>
#include <string.h>

#define WORDS_OF_TILE 16.0 /* while they are made: a tile's work, then its list */
#define WORDS_AT_ONCE ((double)(1 << 19))

/* At multiples of 8; returns the total size. */
static size_t place_vectors(struct freezer *f)
{
    const struct hf_counts *n = &f->n;
#define COUNT_VECTOR(name, count) {HF_S_##name, count},
    const struct {
        enum hf_header header;
        size_t count;
    } vectors[] = {HF_SLAB_MAIN(COUNT_VECTOR) HF_SLAB_PANEL(COUNT_VECTOR) HF_SLAB_ROWS(COUNT_VECTOR)
                       HF_SLAB_LOCALS(COUNT_VECTOR) HF_SLAB_MINIMISER(COUNT_VECTOR)
                           HF_SLAB_FACTORS(COUNT_VECTOR)};
    size_t at = 0;
    for (size_t k = 0; k < COUNT_OF(vectors); k++) {
        HEADER(f, vectors[k].header) = (uint32_t)at;
        at += (vectors[k].count + 7) / 8 * 8;
    }
    return at;
}

/* Does a Hessian with its factor cost as much as ten gradients? By operations: 4 for tHu, 7 for ttZ, where
 * older factors gain nothing; 14 for 250 parameters and 1000 bins, whose fits take half the time. */
static bool is_patient(const struct freezer *f)
{
    const hf_channel_record *records = RECORDS(f, channel, CHANNELS);
    const double dense = (double)f->n.dense, numbers = (double)(f->reals.n - f->n.histosys_blocks),
                 gradient = 8.0 * (numbers + 1000.0);
    double hessian = dense * dense * dense / 6.0;
    for (size_t c = 0; c < f->n.channels; c++) {
        const double columns = 8.0 * records[c].blocks;
        hessian += 0.5 * 8.0 * records[c].panels * columns * columns;
    }
    return hessian > 10.0 * gradient;
}

/* The numbers of a covariance alone: the tiles of second derivatives, the inverse's columns and rows. Tables
 * of tiles grow with them, so a model that is too large is refused before these are made. */
static double least_numbers(const struct freezer *f)
{
    const double dense = (double)f->n.dense, slots = (double)f->n.slots;
    return 0.5 * dense * dense + slots * dense + 0.5 * slots * slots;
}

static paritas_status fail_size(const struct freezer *f)
{
    return paritas_fail(f->context, PARITAS_OUT_OF_MEMORY,
                        "the model is too large: the second derivatives by its %u parameters need %.0f GB, "
                        "more than 2^32 numbers",
                        f->spec->n_parameters, 8e-9 * least_numbers(f));
}

/* Also lays out what a covariance needs. False: more than 2^32 elements. */
static bool lay_out_slab(struct freezer *f)
{
    const size_t dense = f->n.dense, slots = f->n.slots;
    f->n.minimiser = MINIMISER_VECTORS * slots + MINIMISER_SCALARS;
    const size_t slab = freeze_place_functions(f, place_vectors(f));
    size_t columns = 0;
    hf_channel_record *records = RECORDS(f, channel, CHANNELS);
    for (size_t c = 0; c < f->n.channels; c++) {
        records[c] = f->channels[c].record;
        records[c].local_l += HEADER(f, HF_S_LOCAL_L);
        const size_t needed = (size_t)records[c].panels * records[c].sets * records[c].sets;
        if (needed > columns) columns = needed;
    }
    const size_t covariance = slab + slots * dense + 8 * columns + slots * (slots + 8) / 2,
                 lbfgsb = slab + LBFGSB_MEMORY(slots);
    if (f->n.widths == 0) HEADER(f, HF_S_WIDTHS) = 0;
    HEADER(f, HF_SLAB) = HEADER(f, HF_S_AUGMENTED) = (uint32_t)slab;
    HEADER(f, HF_LOCAL_COLUMNS) = (uint32_t)columns;
    HEADER(f, HF_SLAB_COVARIANCE) = (uint32_t)covariance;
    HEADER(f, HF_IS_PATIENT) = is_patient(f);
    return covariance <= UINT32_MAX && lbfgsb <= UINT32_MAX;
}

/* Memory and cost of launches. */
static void size_launches(const struct freezer *f, struct frozen *frozen)
{
    frozen->slab = HEADER(f, HF_SLAB);
    /* measured: a fit of two bins (1500 elements) takes 1 to 3 us, of tHu (67000) 150 us */
    frozen->cost = 1000.0 * (double)frozen->slab;
    /* Hessian data stand behind the tiles, and a value streams the rest once: four times the usual lanes
     * pay (measured: twice as fast with 184 parameters) */
    frozen->slab_value = HEADER(f, HF_S_TILES) / 4;
    frozen->matrix.from = HEADER(f, HF_S_TILES);
    frozen->matrix.to = frozen->matrix.from + 64 * (f->n.blocks * (f->n.blocks + 1) / 2);
    frozen->slab_covariance = HEADER(f, HF_SLAB_COVARIANCE);
    frozen->slab_fit[PARITAS_MINIMIZER_NEWTON] =
        frozen->slab + (HEADER(f, HF_IS_PATIENT) ? NEWTON_MEMORY(f->n.slots) : 0);
    frozen->slab_fit[PARITAS_MINIMIZER_DE] = frozen->slab; /* plus a population of the caller's size */
    frozen->slab_fit[PARITAS_MINIMIZER_LBFGSB] = frozen->slab + LBFGSB_MEMORY(f->n.slots);
}

static void map_slots(const struct freezer *f, const struct frozen_maps *maps)
{
    for (uint32_t p = 0; p < f->spec->n_parameters; p++) maps->slot_of[p] = f->dense_of[p];
    for (size_t l = 0; l < f->n.sets; l++) {
        const struct local_set *local = &f->sets[l];
        const uint32_t first = f->spec->sets[local->set].first + local->first;
        for (uint32_t b = 0; b < f->channels[local->channel].n_bins; b++)
            maps->slot_of[first + b] = local->record.slot + b;
    }
}

static void write_affine(struct freezer *f, const struct hf_set *set, uint32_t i, uint32_t slot, double width)
{
    double *row = f->reals.at + HEADER(f, HF_R_AFFINE) + slot;
    const size_t n = f->n.slots;
    row[HF_AFFINE_OFFSET * n] = set->offset;
    row[HF_AFFINE_SLOPE * n] = set->slope;
    row[(size_t)hf_law(set)->row * n] = set->tau ? set->tau[i] : 1.0 / (set->sigma[i] * set->sigma[i]);
    row[HF_AFFINE_WEIGHT * n] = 1.0 / (width * width);
    row[HF_AFFINE_RATIO * n] = set->ratio;
}

static void map_parameter(struct freezer *f, const struct frozen_maps *maps, const struct hf_set *set,
                          uint32_t i)
{
    const uint32_t p = set->first + i, slot = maps->slot_of[p], aux = f->spec->n_main + set->first_aux + i;
    maps->init[p] = set->init[i];
    maps->lower[p] = set->lower[i];
    maps->upper[p] = set->upper[i];
    maps->fixed[p] = set->fixed[i];
    maps->width[p] = __builtin_nan("");
    if (set->constraint == HF_UNCONSTRAINED) return;
    maps->place_of[aux] = (uint32_t)(8 * f->n.panels + slot);
    maps->data[aux] = set->aux[i];
    if (set->sigma) f->model->gauss_constant += host_gauss_constant(hf_mean_sigma(set, i));
    if (hf_law(set)->row) {
        maps->width[p] = hf_width_of_y(set, i);
        write_affine(f, set, i, slot, maps->width[p]);
    } else if (set->sigma) {
        maps->width[p] = set->sigma[i];
        f->reals.at[HEADER(f, HF_R_PRECISION) + slot] = 1.0 / (set->sigma[i] * set->sigma[i]);
    } else {
        maps->width[p] = 1.0 / host_sqrt(set->tau[i]);
        f->reals.at[HEADER(f, HF_R_TAU) + slot] = set->tau[i];
    }
}

/* Returns NULL without memory. */
static char *name_parameter(struct arena *arena, const struct hf_set *set, uint32_t i)
{
    const size_t room = strlen(set->name) + 16;
    char *name = arena_allocate(arena, room);
    if (name) snprintf(name, room, set->scalar ? "%s" : "%s[%u]", set->name, i);
    return name;
}

static bool map_parameters(struct freezer *f, const struct frozen_maps *maps)
{
    for (uint32_t k = 0; k < f->spec->n_sets; k++) {
        const struct hf_set *set = &f->spec->sets[k];
        for (uint32_t i = 0; i < set->size; i++) {
            map_parameter(f, maps, set, i);
            maps->names[set->first + i] = name_parameter(&f->model->arena, set, i);
            if (!maps->names[set->first + i]) return false;
        }
    }
    return true;
}

static bool map_kinks(const struct freezer *f)
{
    unsigned char *kinked = arena_array(&f->model->arena, f->spec->n_parameters + 1u, 1);
    if (!kinked) return false;
    if (hf_mark_kinks(f->spec, kinked)) f->model->frozen.kinked = kinked;
    f->model->frozen.has_kink_surfaces = hf_has_kink_surfaces(f->spec);
    return true;
}

static bool map_bins(struct freezer *f, const struct frozen_maps *maps)
{
    const struct hf_spec *spec = f->spec;
    size_t *first_rate = arena_array(&f->arena, spec->n_channels + 1u, sizeof *first_rate);
    if (!first_rate) return false;
    for (uint32_t c = 0; c < spec->n_channels; c++)
        first_rate[c + 1] = first_rate[c] + (size_t)spec->channels[c].n_bins * spec->channels[c].n_samples;
    f->model->n_rates = first_rate[spec->n_channels];
    f->model->cell_of = arena_array(&f->model->arena, f->model->n_rates, sizeof *f->model->cell_of);
    if (!f->model->cell_of) return false;
    for (size_t c = 0; c < f->n.channels; c++) {
        const struct channel *ch = &f->channels[c];
        const uint32_t samples = ch->source->n_samples;
        for (uint32_t b = 0; b < ch->n_bins; b++) {
            const uint32_t bin = ch->first_bin + b, datum = ch->source->first_bin + bin;
            maps->place_of[datum] = 8 * ch->record.first_panel + b;
            maps->data[datum] = ch->source->observed[bin];
            for (uint32_t s = 0; s < samples; s++)
                f->model->cell_of[first_rate[ch->source_index] + (size_t)s * ch->source->n_bins + bin] =
                    8 * (ch->record.first_cell + b / 8 * samples + s) + b % 8;
        }
    }
    return true;
}

/* Returns false without memory. */
static bool map_masks(struct freezer *f)
{
    const struct hf_spec *spec = f->spec;
    if (!f->model->whole) return true;
    unsigned char *masked = arena_allocate(&f->model->arena, spec->n_main);
    if (!masked) return false;
    for (uint32_t c = 0; c < spec->n_channels; c++)
        memset(masked + spec->channels[c].first_bin, spec->channels[c].masked, spec->channels[c].n_bins);
    f->model->frozen.masked = masked;
    return true;
}

/* If widths or factors follow from templates, the row has all widths, and all coefficients. */
static bool map_templates(struct freezer *f, const struct frozen_maps *maps)
{
    const struct hf_templates *templates = &f->model->templates;
    const size_t slots = f->n.slots;
    if (f->n_templates == 0) return true;
    if (!freeze_templates(f)) return false;
    memcpy(maps->data + f->spec->n_main + f->spec->n_aux, templates->observed,
           f->n_templates * sizeof *maps->data);
    if (f->n.widths) {
        memcpy(maps->place_template + templates->precision, f->reals.at + HEADER(f, HF_R_PRECISION),
               slots * sizeof(double));
        memcpy(maps->place_template + templates->tau, f->reals.at + HEADER(f, HF_R_TAU),
               slots * sizeof(double));
        memcpy(maps->place_template + templates->coefficients, f->reals.at + HEADER(f, HF_R_NORMSYS),
               (f->n.widths - 2 * slots) * sizeof(double));
    }
    return true;
}

/* Returns false without memory. */
static bool write_maps(struct freezer *f)
{
    const size_t panels = 8 * f->n.panels;
    struct frozen *frozen = &f->model->frozen;
    struct frozen_maps maps;
    frozen->poi = f->spec->poi;
    frozen->n_pois = f->spec->n_pois;
    if (frozen->n_pois > 0) frozen->pois = f->spec->pois;
    frozen->n_parameters = f->spec->n_parameters;
    frozen->n_slots = f->n.slots;
    frozen->n_main = f->spec->n_main;
    frozen->n_templates = f->n_templates;
    frozen->n_data = (size_t)f->spec->n_main + f->spec->n_aux + f->n_templates;
    frozen->n_places = HEADER(f, HF_DATA);
    f->model->n_bins = panels;
    f->model->n_cells = 8 * f->n.cells;
    size_launches(f, frozen);
    if (!frozen_make_maps(frozen, &f->model->arena, &maps)) return false;
    for (size_t i = 0; i < panels; i++) maps.place_template[i] = 1.0;
    for (size_t i = f->n.dense; i < f->n.slots; i++)
        maps.slot_template[i] = maps.place_template[panels + i] = 1.0;
    map_slots(f, &maps);
    return map_parameters(f, &maps) && map_kinks(f) && map_bins(f, &maps) && map_masks(f) &&
           map_templates(f, &maps);
}

static double likelihood_constant(const struct frozen *frozen, const double *data)
{
    const struct hf_model *model = (const struct hf_model *)frozen;
    const struct hf_spec *spec = model->spec;
    double sum = frozen->n_templates ? hf_gauss_constant(model, frozen_templates(frozen, data))
                                     : model->gauss_constant;
    sum += spec->correlation_constant;
    for (uint32_t i = 0; i < spec->n_main; i++)
        if (!frozen_is_masked(frozen, i)) sum += host_poisson_constant(data[i]);
    for (uint32_t k = 0; k < spec->n_sets; k++)
        for (uint32_t i = 0; spec->sets[k].tau && i < spec->sets[k].size; i++)
            sum += host_poisson_constant(data[spec->n_main + spec->sets[k].first_aux + i]);
    return sum;
}

/* Do the tables of second derivatives take so many words that they are better made when a fit wants them?
 * A fit of so many parameters takes much longer than freezing once more. */
static bool is_square_large(const struct freezer *f)
{
    double words = WORDS_OF_TILE * 0.5 * (double)f->n.blocks * (double)f->n.blocks;
    for (size_t u = 0; u < f->n.units; u++) {
        const double scalars = (double)f->units[u].record.scalar_count;
        words += 0.5 * scalars * scalars * (double)HF_WORDS(hf_pair_record);
    }
    return words > WORDS_AT_ONCE;
}

paritas_status hf_freeze(paritas_context *context, const paritas_model_options *options, bool may_defer,
                         struct hf_model *model)
{
    struct freezer f = {.context = context, .spec = model->spec, .options = options, .model = model};
    model->frozen.serial = device_model_serial();
    model->frozen.constant = likelihood_constant;
    TRY(freeze_find_templates(&f));
    arena_open(&f.arena, &context->allocator);
    bool done = freeze_list_widths(&f) && freeze_layout(&f);
    if (done) freeze_number_slots(&f);
    f.defers = model->defers = done && may_defer && is_square_large(&f);
    bool fits = !done || least_numbers(&f) <= (double)UINT32_MAX;
    done = done && fits && freeze_tables(&f);
    fits = fits && (!done || lay_out_slab(&f));
    done = done && fits && write_maps(&f);
    model->frozen.tables = (struct device_tables){f.ints.at, f.reals.at, f.ints.n, f.reals.n};
    paritas_release(&context->allocator, f.lists.at);
    paritas_release(&context->allocator, f.pairs.at);
    paritas_release(&context->allocator, f.works.at);
    arena_free(&f.arena);
    if (!fits) return fail_size(&f);
    return done ? PARITAS_OK : paritas_fail_memory(context);
}
