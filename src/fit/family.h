/* family.h: a model for the fit layer. A family is one folder of src and alone knows a model's meaning.
 *
 * Parameters and data are in the user's order; kernels use slots and places. slot_of and place_of map them.
 * Templates hold the padding. */
#pragma once

#include "device/device.h"

#include <string.h>

struct frozen;

/* What is expected at n points; `data`: NULL without templates. */
typedef paritas_status family_expectation(paritas_context *context, struct paritas_device *device,
                                          const struct paritas_model *model, size_t n_points,
                                          const double *points, const double *data, double *answer);

#define KINK_SURFACES_MOST 8 /* that meet in a point */

/* Along what derivatives by rows are differentiated once more. */
struct row_motion {
    const double *parameters; /* n rows of parameter_count; NULL: 0 */
    const double *rows;       /* n data rows; NULL: 0 */
    bool follow;              /* auxiliary data that the templates suggest follow them */
};

/* Fits by minimiser share their rows. */
struct paritas_family {
    const char *name;
    const struct kernel_module *module;
    /* tangent: only with data_derivatives */
    unsigned evaluate, expected, hessian, jacobian, covariance, profile, draw, sample,
        fit[PARITAS_MINIMIZER_COUNT], tangent;
    void (*free)(struct paritas_model *model);
    /* *complete: the model with all tables, which it keeps. NULL: every model has them all. */
    paritas_status (*complete)(paritas_context *context, const struct frozen *model,
                               const struct frozen **complete);
    /* 1/sigma^2 of a datum in the user's order that toys draw as a measurement; 0: as a count. As the draw
     * entry sorts them; not called with `no_expectation`. */
    double (*precision)(const struct frozen *model, size_t datum);
    /* Sigma of a measurement below its expectation over that above, which has this precision. NULL: all 1. */
    double (*ratio)(const struct frozen *model, size_t datum);
    /* Adds to `to` what correlations of measurements add to the product of their precision matrix and `data`,
     * both by datum. NULL: there are none. */
    void (*correlate)(const struct frozen *model, const double *data, double *to);
    /* Puts the covariance of constraints between those correlated parameters that are not fixed, given the
     * others, into covariance[n_parameters^2], where the diagonal is that of single widths. NULL: none. */
    paritas_status (*correlated_variances)(paritas_context *context, const struct frozen *model,
                                           const unsigned char *fixed, double *covariance);
    /* Public functions of these names + `_of`, not called with `no_expectation`. `data`: NULL without
     * templates. */
    family_expectation *expected_data;
    family_expectation *expected_jacobian; /* a matrix of n_main rows of n_parameters for each point */
    /* Public functions on channels and samples; NULL together. */
    paritas_status (*expected_by_sample)(paritas_context *context, const struct paritas_model *model,
                                         const double *point, const double *data, double *expected);
    size_t (*channel_count)(const struct paritas_model *model);
    const char *(*channel_name)(const struct paritas_model *model, size_t channel);
    size_t (*channel_bins)(const struct paritas_model *model, size_t channel);
    size_t (*sample_count)(const struct paritas_model *model, size_t channel);
    const char *(*sample_name)(const struct paritas_model *model, size_t channel, size_t sample);
    size_t (*set_count)(const struct paritas_model *model);
    paritas_parameter_set (*set)(const struct paritas_model *model, size_t set);
    /* differences[n_parameters]: root of the sum over bins of (r(+1) + r(-1) - 2 r(0))^2 / max(r(0), 1), r:
     * rate by the parameter in its constraint's widths, others as in `point`. With `weights` (n_main): the
     * weighted sum of r(+1) + r(-1) - 2 r(0). `data`: a user's row, NULL without templates. NULL: unknown. */
    paritas_status (*second_differences)(paritas_context *context, const struct frozen *model,
                                         const double *data, const double *point, const double *weights,
                                         double *differences);
    /* Surfaces on which rates have kinks (kink_surfaces.h). The first puts the numbers of those nearer than
     * `reach` widths into `ids`, at most `most`, the nearest first, and returns how many. The second
     * returns g of one, and puts its derivatives by n_parameters into `normal`. `depth`: for -g up to this
     * much the kernels' slopes are those above, though the value does not move. NULL together. */
    size_t (*kink_surfaces_near)(const struct frozen *model, const double *point, double reach, size_t most,
                                 size_t *ids);
    double (*kink_surface)(const struct frozen *model, const double *point, size_t id, double *normal,
                           double *depth);
    /* Parameter values at which constraints expect their data. Only of constraints that measure something
     * else than the parameter or tau times it; other elements stay. NULL: there are none */
    void (*constraint_centres)(const struct frozen *model, const double *data, double *centres);
    /* Of each parameter (n_parameters): the number of its auxiliary datum in a data row, n_data without one,
     * and its standard deviation where `point` expects it. A count has the root of its datum. NULL with
     * data_derivatives. */
    void (*auxiliary)(const struct frozen *model, const double *data, const double *point, size_t *datum,
                      double *sigma);
    /* Functions of models with templates; NULL together. `numbers`: the templates' part of a user's row. */
    /* `where`: name of the row in messages */
    paritas_status (*check_templates)(paritas_context *context, const struct frozen *model,
                                      const double *numbers, const char *where);
    /* puts what follows from them into a kernel row */
    void (*put_templates)(const struct frozen *model, const double *numbers, double *row);
    /* auxiliary data that follow from them */
    void (*suggest_aux)(const struct frozen *model, const double *numbers, double *aux);
    /* the same for constraint widths */
    void (*constraint_widths)(const struct frozen *model, const double *numbers, double *widths);
    /* Public functions, `data` not NULL; NULL together. */
    paritas_status (*data_derivatives)(paritas_context *context, const struct paritas_model *model, size_t n,
                                       const double *points, const double *data,
                                       const struct row_motion *motion, double *gradient, double *along);
    paritas_status (*expected_pullback)(paritas_context *context, const struct paritas_model *model, size_t n,
                                        const double *points, const double *data, const double *weights,
                                        double *by_points, double *by_templates);
};

/* Common head of every family's frozen model. */
struct frozen {
    const struct paritas_family *family;
    uint64_t serial; /* unique in the process */
    struct device_tables tables;
    size_t n_parameters, n_slots;
    size_t n_data, n_places; /* user's data; elements of a kernel row */
    /* user's order: main, auxiliary, templates */
    size_t n_main, n_templates;
    const unsigned char *no_count; /* n_main: 1 where negative data are allowed; NULL: nowhere */
    const unsigned char *masked;   /* n_main: 1 where the likelihood leaves data out; NULL: nowhere */
    const char *no_expectation;    /* the reason, or NULL */
    char *const *names;
    ptrdiff_t poi;                /* -1: none */
    const size_t *pois;           /* n_pois of the measurement, `poi` first; NULL: `poi` alone */
    size_t n_pois;                /* only with `pois` */
    const uint32_t *slot_of;      /* n_parameters */
    const uint32_t *place_of;     /* n_data - n_templates */
    const double *slot_template;  /* n_slots: padding values, else 0 */
    const double *place_template; /* n_places */
    size_t slab, slab_covariance;
    size_t slab_fit[PARITAS_MINIMIZER_COUNT];
    size_t slab_value;
    struct device_part matrix; /* as in struct device_launch */
    /* of a Newton fit, as in struct device_launch; 0: unknown */
    double cost;
    /* suggestions, user's order */
    const double *init, *lower, *upper, *width;
    const unsigned char *fixed;
    const unsigned char *kinked; /* 1: rates have a kink where the parameter is 0; NULL: none has */
    bool has_kink_surfaces;      /* beside them */
    const double *data;          /* observed */
    /* Full NLL minus deviance form. */
    double (*constant)(const struct frozen *model, const double *data);
};

static inline const struct frozen *paritas_model_frozen(const struct paritas_model *model)
{
    return (const struct frozen *)model;
}

/* Refuses models without an expectation, with the reason. */
paritas_status family_check_expectation(paritas_context *context, const struct frozen *model);

/* paritas_expected_data_of, and paritas_expected_jacobian_of for many points, on a device of the caller's
 * choice. */
family_expectation family_expected_data, family_expected_jacobian;

/* The same model with the tables of second derivatives, which a large one makes when they are first asked
 * for: of it, `tables` and `serial` alone. */
static inline paritas_status frozen_complete(paritas_context *context, const struct frozen *model,
                                             const struct frozen **complete)
{
    *complete = model;
    return model->family->complete ? model->family->complete(context, model, complete) : PARITAS_OK;
}

/* Datum i in the user's order. */
static inline bool frozen_counts(const struct frozen *model, size_t i)
{
    return i < model->n_main && !(model->no_count && model->no_count[i]);
}

static inline bool frozen_is_masked(const struct frozen *model, size_t i)
{
    return model->masked && i < model->n_main && model->masked[i];
}

/* Is a set of parameters constrained by auxiliary data, one for each? */
static inline bool set_has_data(const paritas_parameter_set *set)
{
    return strncmp(set->constraint, "constrained", sizeof "constrained" - 1) == 0;
}

static inline const double *frozen_templates(const struct frozen *model, const double *data)
{
    return data + (model->n_data - model->n_templates);
}
