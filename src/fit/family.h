/* family.h: what the fit layer knows of a model: tables, maps, and which entries run it. A family is one
 * folder of src; what a model means is known there alone. Channels and samples are only handed on, from the
 * public functions to the families that have them.
 *
 * Parameters and data come in the user's order; kernels have slots and places. slot_of and place_of lead from
 * one to the other, the templates hold what stands where nothing leads to (padding).
 */
#ifndef PARITAS_FIT_FAMILY_H
#define PARITAS_FIT_FAMILY_H

#include "device/device.h"

struct frozen;

/* A model family: its entries; those that fit by minimiser, all with the same rows; what the public functions
 * on models ask of it. */
struct paritas_family {
    const char *name;
    const struct kernel_module *module;
    /* tangent: only where data_derivatives is */
    unsigned evaluate, expected, hessian, jacobian, covariance, profile, draw, fit[PARITAS_MINIMIZER_COUNT],
        tangent;
    void (*free)(struct paritas_model *model);
    /* Answer the public functions of these names with `_of` behind. Only for models without `no_expectation`.
     * `data`: NULL where the model has no templates. */
    paritas_status (*expected_data)(paritas_context *context, const struct paritas_model *model,
                                    size_t n_points, const double *points, const double *data,
                                    double *expected);
    paritas_status (*expected_jacobian)(paritas_context *context, const struct paritas_model *model,
                                        const double *point, const double *data, double *jacobian);
    /* Answer those on channels and samples; NULL together where the family has none. */
    paritas_status (*expected_by_sample)(paritas_context *context, const struct paritas_model *model,
                                         const double *point, const double *data, double *expected);
    size_t (*channel_count)(const struct paritas_model *model);
    const char *(*channel_name)(const struct paritas_model *model, size_t channel);
    size_t (*channel_bins)(const struct paritas_model *model, size_t channel);
    size_t (*sample_count)(const struct paritas_model *model, size_t channel);
    const char *(*sample_name)(const struct paritas_model *model, size_t channel, size_t sample);
    /* For models with templates; `numbers`: theirs, the end of a user's data row. NULL together where the
     * family has none. */
    /* refuses a row, which is called `where` */
    paritas_status (*check_templates)(paritas_context *context, const struct frozen *model,
                                      const double *numbers, const char *where);
    /* what follows from them, into a kernel's data row */
    void (*put_templates)(const struct frozen *model, const double *numbers, double *row);
    /* auxiliary data that follow from them; the others stay */
    void (*suggest_aux)(const struct frozen *model, const double *numbers, double *aux);
    /* likewise, of parameters */
    void (*constraint_widths)(const struct frozen *model, const double *numbers, double *widths);
    /* Answer the public functions of these names, with no `data` NULL; NULL together where the family
     * cannot. */
    paritas_status (*data_derivatives)(paritas_context *context, const struct paritas_model *model, size_t n,
                                       const double *points, const double *data, const double *directions,
                                       double *gradient, double *along);
    paritas_status (*expected_pullback)(paritas_context *context, const struct paritas_model *model, size_t n,
                                        const double *points, const double *data, const double *weights,
                                        double *by_points, double *by_templates);
};

/* A frozen model, the part that is common to all families: every family's model begins with it. */
struct frozen {
    const struct paritas_family *family;
    uint64_t serial; /* unique in the process: devices know a model that they have by it */
    struct device_tables tables;
    size_t n_parameters, n_slots;
    size_t n_data, n_places; /* data of the user; elements of a kernel data row */
    /* of the data: main data come first, templates last, auxiliary data between */
    size_t n_main, n_templates;
    const unsigned char *no_count; /* n_main: 1 where a main datum may be negative; NULL: nowhere */
    const char *no_expectation;    /* why data can be neither expected nor drawn; NULL: they can */
    char *const *names;            /* of parameters */
    ptrdiff_t poi;                 /* -1: none */
    const uint32_t *slot_of;       /* n_parameters */
    const uint32_t *place_of;      /* n_data - n_templates */
    const double *slot_template;   /* n_slots: values of padding slots, 0 elsewhere */
    const double *place_template;  /* n_places */
    size_t slab, slab_covariance;  /* elements */
    size_t slab_fit[PARITAS_MINIMIZER_COUNT];
    size_t slab_value; /* how many of them a value and gradient use */
    /* of a fit by newton, as struct device_launch has it; 0: not known (kernels of a user's own) */
    double cost;
    /* suggested, in the user's order, n_parameters each */
    const double *init, *lower, *upper, *width;
    const unsigned char *fixed;
    const double *data; /* n_data: observed */
    /* What the NLL in deviance form lacks against the full one; depends on data alone. */
    double (*constant)(const struct frozen *model, const double *data);
};

static inline const struct frozen *paritas_model_frozen(const struct paritas_model *model)
{
    return (const struct frozen *)model;
}

/* INVALID_ARGUMENT, with the reason, for a model whose data can be neither expected nor drawn. */
paritas_status family_check_expectation(paritas_context *context, const struct frozen *model);

/* Is datum i, in the user's order, the number of something counted? */
static inline bool frozen_counts(const struct frozen *model, size_t i)
{
    return i < model->n_main && !(model->no_count && model->no_count[i]);
}

/* The numbers of the templates in a user's data row. */
static inline const double *frozen_templates(const struct frozen *model, const double *data)
{
    return data + (model->n_data - model->n_templates);
}

#endif
