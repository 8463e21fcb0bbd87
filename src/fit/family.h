/* family.h: what the fit layer knows of a model: tables, maps, and which entries run it. No physics.
 *
 * Parameters and data come in the user's order; kernels have slots and places. slot_of and place_of lead from one to the other,
 * the templates hold what stands where nothing leads to (padding).
 */
#ifndef PARITAS_FIT_FAMILY_H
#define PARITAS_FIT_FAMILY_H

#include "device/device.h"

enum {
#define X(name, value, word) +1
    MINIMIZERS = PARITAS_MINIMIZER_LIST(X)
#undef X
};

/* A model family: its entries; those that fit by minimiser, all with the same rows. */
struct paritas_family {
    const char *name;
    const struct kernel_module *module;
    unsigned evaluate, expected, hessian, jacobian, covariance, profile, draw, fit[MINIMIZERS];
};

/* A frozen model, the part that is common to all families. */
struct frozen {
    const struct paritas_family *family;
    uint64_t serial;                  /* unique in the process: devices know a model that they have by it */
    struct device_tables tables;
    size_t n_parameters, n_slots;
    size_t n_data, n_places;          /* data of the user; elements of a kernel data row */
    const uint32_t *slot_of;          /* n_parameters */
    const uint32_t *place_of;         /* n_data */
    const double *slot_template;      /* n_slots: values of padding slots, 0 elsewhere */
    const double *place_template;     /* n_places */
    size_t slab, slab_covariance;     /* elements */
    size_t slab_fit[MINIMIZERS];
    size_t slab_value;                /* how many of them a value and gradient use */
    /* suggested, in the user's order, n_parameters each */
    const double *init, *lower, *upper, *width;
    const unsigned char *fixed;
    const double *data;               /* n_data: observed */
    /* What the NLL in deviance form lacks against the full one; depends on data alone. */
    double (*constant)(const struct frozen *model, const double *data);
};

/* Every family's model begins with this. */
const struct frozen *paritas_model_frozen(const struct paritas_model *model);

#endif
