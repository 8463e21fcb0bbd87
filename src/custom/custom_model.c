/* custom_model.c: users' models: a description and kernels (docs/models.md) become a frozen model. */
#include "base/math/host_math.h"
#include "base/sized.h"
#include "custom/custom_arrays.h"
#include "modules/custom_entries.h"
#include "fit/fit_rows.h"
#include "fit/frozen_maps.h"
#include "minimise/minimiser_sizes.h"

#include <math.h>
#include <string.h>

enum {
#define X(name) ENTRY_##name,
    MODULE_ENTRIES(X)
#undef X
};

struct custom_model {
    struct frozen frozen; /* first */
    paritas_allocator allocator;
    struct arena arena;         /* holds all but this struct */
    double constraint_constant; /* sum over constraints of ln(sigma sqrt(2 pi)) */
};

static void free_model(paritas_model *given)
{
    struct custom_model *model = (struct custom_model *)given;
    const paritas_allocator allocator = model->allocator;
    arena_free(&model->arena);
    paritas_release(&allocator, model);
}

/* Constant of Poisson and Gaussian terms. */
static double likelihood_constant(const struct frozen *frozen, const double *data)
{
    double sum = ((const struct custom_model *)frozen)->constraint_constant;
    for (size_t i = 0; i < frozen->n_main; i++) {
        const double kind = frozen->tables.reals[i];
        if (kind == CUSTOM_COUNT) sum += host_poisson_constant(data[i]);
        if (kind > 0.0) sum += HOST_LN_SQRT_2PI - 0.5 * host_log(kind);
    }
    return sum;
}

static double precision_of(const struct frozen *frozen, size_t datum)
{
    return frozen->tables.reals[frozen->place_of[datum]];
}

struct expectation {
    const struct frozen *model;
    const double *points;
    double *to;
};

static void take_data(void *user, size_t k, const double *point_row, const double *answer)
{
    const struct expectation *e = user;
    const struct frozen *model = e->model;
    const double *point = e->points + k * model->n_parameters;
    double *row = e->to + k * model->n_data;
    (void)point_row;
    memcpy(row, answer, model->n_main * sizeof *row);
    for (size_t i = model->n_main; i < model->n_data; i++)
        row[i] = point[model->place_of[i] - model->tables.ints[CUSTOM_PLACES]];
}

static void take_jacobian(void *user, size_t k, const double *point_row, const double *answer)
{
    const struct expectation *e = user;
    const size_t p = e->model->n_parameters;
    double *to = e->to + k * e->model->n_main * p;
    (void)point_row;
    for (size_t i = 0; i < e->model->n_main; i++)
        memcpy(to + i * p, answer + i * e->model->n_slots, p * sizeof *to);
}

static paritas_status expected_data(paritas_context *context, struct paritas_device *device,
                                    const paritas_model *given, size_t n_points, const double *points,
                                    const double *data, double *expected)
{
    const struct frozen *model = paritas_model_frozen(given);
    struct expectation e = {model, points, expected};
    (void)data; /* no templates */
    return rows_points_run(context, device,
                           &(struct rows_points){.model = model,
                                                 .entry = ENTRY_custom_expected,
                                                 .n = n_points,
                                                 .points = points,
                                                 .answer = model->tables.ints[CUSTOM_PLACES],
                                                 .take = take_data,
                                                 .user = &e});
}

static paritas_status expected_jacobian(paritas_context *context, struct paritas_device *device,
                                        const paritas_model *given, size_t n_points, const double *points,
                                        const double *data, double *jacobian)
{
    const struct frozen *model = paritas_model_frozen(given);
    struct expectation e = {model, points, jacobian};
    (void)data;
    return rows_points_run(context, device,
                           &(struct rows_points){.model = model,
                                                 .entry = ENTRY_custom_jacobian,
                                                 .n = n_points,
                                                 .points = points,
                                                 .answer = model->tables.ints[CUSTOM_PLACES] * model->n_slots,
                                                 .take = take_jacobian,
                                                 .user = &e});
}

static double width_of(const paritas_model_description *d, size_t p)
{
    return d->constraint_widths ? d->constraint_widths[p] : __builtin_nan("");
}

/* Main data and auxiliary data. */
static size_t count_data(const paritas_model_description *d)
{
    size_t n = d->n_main;
    for (size_t p = 0; p < d->n_parameters; p++) n += width_of(d, p) == width_of(d, p);
    return n;
}

static paritas_status check_presence(paritas_context *context, const paritas_model_description *d)
{
    const struct {
        const char *what;
        bool missing;
    } needed[] = {{"kernels", !d->kernels},
                  {"names", !d->names},
                  {"init", !d->init},
                  {"lower", !d->lower},
                  {"upper", !d->upper},
                  {"data", !d->data},
                  {"ints", d->n_ints && !d->ints},
                  {"reals", d->n_reals && !d->reals}};
    for (size_t k = 0; k < COUNT_OF(needed); k++)
        if (needed[k].missing)
            return paritas_refuse(context, "a model's description without %s", needed[k].what);
    return PARITAS_OK;
}

static paritas_status check_parameters(paritas_context *context, const paritas_model_description *d)
{
    if (d->kernels->api != KERNEL_MODULE_API)
        return paritas_refuse(
            context, "the model's kernels were compiled for another version of the library (%u, this is %u)",
            d->kernels->api, KERNEL_MODULE_API);
    if (d->n_parameters < 1 || d->n_parameters > CUSTOM_PARAMETERS_MOST)
        return paritas_refuse(context, "%zu parameters: a model has 1 to %d", d->n_parameters,
                              CUSTOM_PARAMETERS_MOST);
    for (size_t p = 0; p < d->n_parameters; p++) {
        if (!d->names[p]) return paritas_refuse(context, "names[%zu]: none given", p);
        for (size_t q = 0; q < p; q++)
            if (!strcmp(d->names[p], d->names[q]))
                return paritas_refuse(context, "names[%zu]: '%s' is also names[%zu]", p, d->names[p], q);
        if (!isfinite(d->init[p]))
            return paritas_refuse(context, "init of %s: must be a finite number", d->names[p]);
        if (!(d->lower[p] <= d->upper[p]) || !isfinite(d->lower[p]) || !isfinite(d->upper[p]))
            return paritas_refuse(context, "bounds of %s: %g to %g is no interval of finite numbers",
                                  d->names[p], d->lower[p], d->upper[p]);
        const double width = width_of(d, p);
        if (width == width && !(width > 0.0 && isfinite(width)))
            return paritas_refuse(
                context, "constraint width of %s: must be positive and finite, or NaN where there is none",
                d->names[p]);
    }
    return PARITAS_OK;
}

static paritas_status check_data(paritas_context *context, const paritas_model_description *d)
{
    const size_t n_data = count_data(d);
    if (d->n_main < 1 || d->n_main > (size_t)1 << 24)
        return paritas_refuse(context, "%zu main data: a model has 1 to 2^24", d->n_main);
    if (d->terms && d->sigmas) return paritas_refuse(context, "sigmas: the terms of a likelihood have none");
    for (size_t i = 0; i < d->n_main && d->sigmas; i++)
        if (!(d->sigmas[i] >= 0.0) || !isfinite(d->sigmas[i]))
            return paritas_refuse(
                context, "sigmas[%zu]: must be finite, positive for a measurement, 0 for a count", i);
    for (size_t i = 0; i < n_data; i++) {
        const bool count = i < d->n_main && !d->terms && !(d->sigmas && d->sigmas[i] > 0.0);
        if (!isfinite(d->data[i]) || (count && d->data[i] < 0.0))
            return paritas_refuse(context,
                                  "data[%zu]: must be a finite number, not negative where it is a count", i);
    }
    for (size_t i = 0; i < d->n_reals; i++)
        if (!isfinite(d->reals[i])) return paritas_refuse(context, "reals[%zu]: must be a finite number", i);
    return PARITAS_OK;
}

/* Returns false for more than 2^32 elements. */
static bool lay_out_slab(struct frozen *frozen, uint32_t *ints)
{
    const size_t parameters = frozen->n_parameters, slots = frozen->n_slots, places = ints[CUSTOM_PLACES],
                 minimiser = MINIMISER_VECTORS * slots + MINIMISER_SCALARS;
#define COUNT_VECTOR(name, count) {CUSTOM_S_##name, count},
    const struct {
        enum custom_header header;
        size_t count;
    } vectors[] = {CUSTOM_SLAB_VECTORS(COUNT_VECTOR)};
    size_t at = 0;
    for (size_t k = 0; k < COUNT_OF(vectors); k++) {
        ints[vectors[k].header] = (uint32_t)at;
        at += vectors[k].count;
    }
    ints[CUSTOM_S_MEMORY] = (uint32_t)at;
    frozen->slab = at;
    frozen->slab_value = ints[CUSTOM_S_WEIGHT];
    frozen->slab_covariance = at + slots * slots + slots * (slots + 8) / 2;
    frozen->slab_fit[PARITAS_MINIMIZER_NEWTON] = frozen->slab_fit[PARITAS_MINIMIZER_DE] = at;
    frozen->slab_fit[PARITAS_MINIMIZER_LBFGSB] = at + LBFGSB_MEMORY(slots);
    return frozen->slab_covariance <= UINT32_MAX && frozen->slab_fit[PARITAS_MINIMIZER_LBFGSB] <= UINT32_MAX;
}

/* Returns false without memory. */
static bool write_maps(struct custom_model *model, const paritas_model_description *d, const double *reals)
{
    struct frozen *frozen = &model->frozen;
    struct arena *arena = &model->arena;
    struct frozen_maps maps;
    const size_t places = frozen->n_places - frozen->n_slots;
    const double *precision = reals + places;
    frozen->n_data = count_data(d);
    unsigned char *no_count = arena_array(arena, d->n_main, 1);
    if (!frozen_make_maps(frozen, arena, &maps) || !no_count) return false;
    for (size_t i = 0; i < d->n_main; i++) {
        maps.place_of[i] = (uint32_t)i;
        no_count[i] = reals[i] != CUSTOM_COUNT;
    }
    size_t datum = d->n_main;
    for (size_t p = 0; p < d->n_parameters; p++) {
        maps.slot_of[p] = (uint32_t)p;
        maps.init[p] = d->init[p];
        maps.lower[p] = d->lower[p];
        maps.upper[p] = d->upper[p];
        maps.width[p] = width_of(d, p);
        maps.fixed[p] = d->fixed && d->fixed[p];
        maps.names[p] = arena_text(arena, d->names[p], strlen(d->names[p]));
        if (!maps.names[p]) return false;
        if (d->poi && !strcmp(d->poi, d->names[p])) frozen->poi = (ptrdiff_t)p;
        if (precision[p] == 0.0) continue;
        maps.place_of[datum++] = (uint32_t)(places + p);
        model->constraint_constant += host_gauss_constant(maps.width[p]);
    }
    memcpy(maps.data, d->data, frozen->n_data * sizeof *maps.data);
    frozen->no_count = no_count;
    return true;
}

static const struct paritas_family *make_family(struct arena *arena, const struct kernel_module *module)
{
    struct paritas_family *family = arena_array(arena, 1, sizeof *family);
    if (!family) return NULL;
    *family = (struct paritas_family){.name = module->name,
                                      .module = module,
                                      .evaluate = ENTRY_custom_evaluate,
                                      .expected = ENTRY_custom_expected,
                                      .hessian = ENTRY_custom_hessian,
                                      .jacobian = ENTRY_custom_jacobian,
                                      .covariance = ENTRY_custom_covariance,
                                      .profile = ENTRY_custom_profile,
                                      .draw = ENTRY_custom_draw,
                                      .sample = ENTRY_custom_sample,
                                      .fit = {ENTRY_custom_fit, ENTRY_custom_fit_lbfgsb, ENTRY_custom_fit_de},
                                      .free = free_model,
                                      .precision = precision_of,
                                      .expected_data = expected_data,
                                      .expected_jacobian = expected_jacobian};
    return family;
}

static paritas_status freeze(paritas_context *context, struct custom_model *model,
                             const paritas_model_description *d)
{
    struct frozen *frozen = &model->frozen;
    const size_t slots = CUSTOM_SLOTS_OF(d->n_parameters), places = CUSTOM_SLOTS_OF(d->n_main);
    /* packs read up to 7 elements past a column's end */
    const size_t n_ints = CUSTOM_HEADER + d->n_ints + 8, n_reals = places + slots + d->n_reals + 8;
    uint32_t *ints = arena_array(&model->arena, n_ints, sizeof *ints);
    double *reals = arena_array(&model->arena, n_reals, sizeof *reals);
    frozen->family = make_family(&model->arena, d->kernels->module);
    if (!ints || !reals || !frozen->family) return paritas_fail_memory(context);
    ints[CUSTOM_MAIN] = (uint32_t)d->n_main;
    ints[CUSTOM_PLACES] = (uint32_t)places;
    ints[CUSTOM_DATA] = (uint32_t)(places + slots);
    ints[CUSTOM_TERMS] = d->terms != 0;
    ints[CUSTOM_R_PRECISION] = (uint32_t)places;
    ints[CUSTOM_R_OWN] = (uint32_t)(places + slots);
    if (d->n_ints) memcpy(ints + CUSTOM_HEADER, d->ints, d->n_ints * sizeof *ints);
    if (d->n_reals) memcpy(reals + places + slots, d->reals, d->n_reals * sizeof *reals);
    for (size_t i = 0; i < places; i++) {
        const double sigma = i < d->n_main && d->sigmas ? d->sigmas[i] : 0.0;
        reals[i] = i >= d->n_main ? CUSTOM_PADDING
                   : d->terms     ? CUSTOM_TERM
                   : sigma > 0.0  ? 1.0 / (sigma * sigma)
                                  : CUSTOM_COUNT;
    }
    for (size_t p = 0; p < d->n_parameters; p++)
        if (width_of(d, p) > 0.0) reals[places + p] = 1.0 / (width_of(d, p) * width_of(d, p));
    frozen->serial = device_model_serial();
    frozen->tables = (struct device_tables){ints, reals, n_ints, n_reals};
    frozen->constant = likelihood_constant;
    frozen->n_parameters = d->n_parameters;
    frozen->n_slots = slots;
    frozen->n_main = d->n_main;
    frozen->n_places = places + slots;
    frozen->poi = -1;
    if (d->terms)
        frozen->no_expectation =
            "it consists of terms of a likelihood, which say nothing of what data to expect";
    if (!lay_out_slab(frozen, ints))
        return paritas_fail(context, PARITAS_OUT_OF_MEMORY,
                            "the model is too large: one fit would need more than 2^32 numbers");
    if (!write_maps(model, d, reals)) return paritas_fail_memory(context);
    if (d->poi && frozen->poi < 0)
        return paritas_fail(context, PARITAS_NOT_FOUND, "the model has no parameter '%s'", d->poi);
    return PARITAS_OK;
}

static void take_about(void *user, size_t k, const double *point, const double *answer)
{
    (void)k, (void)point;
    memcpy(user, answer, CUSTOM_ABOUT_SIZE * sizeof *answer);
}

/* The kernels must agree. */
static paritas_status ask_kernels(paritas_context *context, const struct frozen *model)
{
    double about[CUSTOM_ABOUT_SIZE];
    TRY(rows_points_run(context, context->host,
                        &(struct rows_points){.model = model,
                                              .entry = ENTRY_custom_about,
                                              .n = 1,
                                              .points = model->init,
                                              .answer = CUSTOM_ABOUT_SIZE,
                                              .take = take_about,
                                              .user = about}));
    if (about[CUSTOM_ABOUT_VERSION] != CUSTOM_VERSION)
        return paritas_refuse(
            context, "the kernels of model '%s' were compiled with headers of another version of the library",
            model->family->name);
    if (about[CUSTOM_ABOUT_PARAMETERS] != (double)model->n_parameters)
        return paritas_refuse(context, "the kernels of model '%s' have %g parameters, the description %zu",
                              model->family->name, about[CUSTOM_ABOUT_PARAMETERS], model->n_parameters);
    return PARITAS_OK;
}

paritas_status paritas_model_define(paritas_context *context, const paritas_model_description *given,
                                    paritas_model **made)
{
    paritas_model_description d = PARITAS_MODEL_DESCRIPTION_DEFAULT;
    REQUIRE_AS(context, "model", made);
    *made = NULL;
    REQUIRE_AS(context, "description", given);
    TRY(SIZED_TAKE(context, paritas_model_description, "description", given, &d));
    TRY(check_presence(context, &d));
    TRY(check_parameters(context, &d));
    TRY(check_data(context, &d));
    struct custom_model *model = paritas_allocate_clear(context, 1, sizeof *model);
    if (!model) return paritas_fail_memory(context);
    model->allocator = context->allocator;
    arena_open(&model->arena, &context->allocator);
    paritas_status status = freeze(context, model, &d);
    if (status == PARITAS_OK) status = ask_kernels(context, &model->frozen);
    if (status == PARITAS_OK)
        *made = (paritas_model *)model;
    else
        free_model((paritas_model *)model);
    return status;
}
