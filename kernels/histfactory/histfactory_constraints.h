/* histfactory_constraints.h: the laws of constraints, one list for host and kernels.
 *
 * A constrained parameter x has an auxiliary datum: a count or a measurement. The law says what it measures:
 *
 *   laws of x   the parameter. Widths follow from rates, are given, or are 1
 *   laws of y   y = offset + slope x. All their numbers are given
 *
 *   NAME, name  hf_constraint, and part of the names of its functions
 *   word        "type" of a configured constraint; one word may name a law of x and a law of y
 *   inspected   what `inspect` calls it: pyhf's word
 *   datum       of hf_datum: how it is drawn, and so its width: factors (tau) of a count, else sigmas
 *   domain      of hf_domain: where y may lie
 *   scale       of the host: a count's mean is tau m(y), a measurement's m(y)
 *
 * To add a law:
 *   here                                     a line of HF_LAWS_OF_Y
 *   kernels/histfactory/histfactory_laws.h   hf_NAME_value, hf_NAME_slope, hf_NAME_curvature
 * Only for another function m:
 *   src/histfactory/modifiers/constraints.c  its scale */
#pragma once

enum hf_datum { HF_NO_DATUM, HF_COUNT, HF_MEASUREMENT };
enum hf_domain { HF_WHOLE_LINE, HF_POSITIVE };

#define HF_LAWS_OF_X(LAW)                                                                               \
    LAW(GAUSSIAN, gaussian, "gaussian", "constrained_by_normal", HF_MEASUREMENT, HF_WHOLE_LINE, linear) \
    LAW(POISSON, poisson, "poisson", "constrained_by_poisson", HF_COUNT, HF_POSITIVE, linear)
#define HF_LAWS_OF_Y(LAW)                                                                           \
    LAW(LOGNORMAL, lognormal, "lognormal", "constrained_by_lognormal", HF_MEASUREMENT, HF_POSITIVE, \
        logarithmic)                                                                                \
    LAW(GAMMA, gamma, "poisson", "constrained_by_poisson", HF_COUNT, HF_POSITIVE, linear)           \
    LAW(BIFURCATED, bifurcated, "bifurcated", "constrained_by_bifurcated_normal", HF_MEASUREMENT,   \
        HF_WHOLE_LINE, linear)

#define HF_CONSTRAINT(NAME, name, word, inspected, datum, domain, scale) HF_##NAME,
typedef enum hf_constraint {
    HF_UNCONSTRAINED,
    HF_LAWS_OF_X(HF_CONSTRAINT) HF_LAWS_OF_Y(HF_CONSTRAINT) HF_CONSTRAINT_COUNT
} hf_constraint;

/* Rows of AFFINE, each by slot: y = OFFSET + SLOPE x; for each law of y the strength of its data (tau of a
 * count, 1 / sigma^2 of a measurement), 0 in slots of others; WEIGHT is 1 / width^2 of x; RATIO: sigma of
 * data below their mean over that of those above, 1 but for BIFURCATED. */
#define HF_STRENGTH(NAME, name, word, inspected, datum, domain, scale) HF_AFFINE_##NAME,
enum hf_affine_row {
    HF_AFFINE_OFFSET,
    HF_AFFINE_SLOPE,
    HF_LAWS_OF_Y(HF_STRENGTH) HF_AFFINE_WEIGHT,
    HF_AFFINE_RATIO,
    HF_AFFINE_ROWS
};
