/* public_lists.h: lists of enumerations, records and structs of options. A new public header adds its own. */
#pragma once

#include "paritas.h"
#include "paritas_days.h"
#include "paritas_er.h"
#include "paritas_gradient.h"
#include "paritas_kappa.h"
#include "paritas_losscone.h"
#include "paritas_sample.h"

#define ALL_ENUMERATIONS(ENUMERATION)            \
    PARITAS_CONTEXT_ENUMERATIONS(ENUMERATION)    \
    PARITAS_MODEL_ENUMERATIONS(ENUMERATION)      \
    PARITAS_FIT_ENUMERATIONS(ENUMERATION)        \
    PARITAS_STATISTICS_ENUMERATIONS(ENUMERATION) \
    PARITAS_GRADIENT_ENUMERATIONS(ENUMERATION)   \
    PARITAS_SAMPLE_ENUMERATIONS(ENUMERATION)     \
    PARITAS_SIMPLIFIED_ENUMERATIONS(ENUMERATION) \
    PARITAS_UNFOLD_ENUMERATIONS(ENUMERATION)     \
    PARITAS_LOSSCONE_ENUMERATIONS(ENUMERATION)   \
    PARITAS_KAPPA_ENUMERATIONS(ENUMERATION)      \
    PARITAS_ER_ENUMERATIONS(ENUMERATION) PARITAS_DAYS_ENUMERATIONS(ENUMERATION)
#define ALL_RECORDS(RECORD)            \
    PARITAS_CONTEXT_RECORDS(RECORD)    \
    PARITAS_FIT_RECORDS(RECORD)        \
    PARITAS_STATISTICS_RECORDS(RECORD) \
    PARITAS_TOYS_RECORDS(RECORD)       \
    PARITAS_SAMPLE_RECORDS(RECORD)     \
    PARITAS_LOSSCONE_RECORDS(RECORD) PARITAS_KAPPA_RECORDS(RECORD) PARITAS_DAYS_RECORDS(RECORD)
#define ALL_OPTION_LISTS(OPTIONS)                                                                            \
    OPTIONS(paritas_model_options, PARITAS_MODEL_OPTIONS, "Models of workspaces.")                           \
    OPTIONS(paritas_job, PARITAS_JOB_OPTIONS, "What is fitted.")                                             \
    OPTIONS(paritas_fit_options, PARITAS_FIT_OPTIONS, "Best fits.")                                          \
    OPTIONS(paritas_limit_request, PARITAS_LIMIT_REQUEST_OPTIONS, "Asymptotic upper limits.")                \
    OPTIONS(paritas_contour_request, PARITAS_CONTOUR_REQUEST_OPTIONS, "Regions of two parameters.")          \
    OPTIONS(paritas_look_elsewhere_request, PARITAS_LOOK_ELSEWHERE_REQUEST_OPTIONS, "Global significances.") \
    OPTIONS(paritas_toys_options, PARITAS_TOYS_OPTIONS, "Runs of toys.")                                     \
    OPTIONS(paritas_limit_toys_request, PARITAS_LIMIT_TOYS_REQUEST_OPTIONS, "Upper limits by toys.")         \
    OPTIONS(paritas_interval_toys_request, PARITAS_INTERVAL_TOYS_REQUEST_OPTIONS, "Intervals by toys.")      \
    OPTIONS(paritas_sample_options, PARITAS_SAMPLE_OPTIONS, "Draws from posteriors.")                        \
    OPTIONS(paritas_gradient_options, PARITAS_GRADIENT_OPTIONS, "Derivatives of statistics.")                \
    OPTIONS(paritas_simplify_options, PARITAS_SIMPLIFY_OPTIONS, "Moments of backgrounds.")                   \
    OPTIONS(paritas_unfold_options, PARITAS_UNFOLD_OPTIONS, "Regularised unfolding.")                        \
    OPTIONS(paritas_losscone_options, PARITAS_LOSSCONE_OPTIONS, "Fits of loss cones.")                       \
    OPTIONS(paritas_kappa_options, PARITAS_KAPPA_OPTIONS, "Fits of kappa distributions.")                    \
    OPTIONS(paritas_potential_options, PARITAS_POTENTIAL_OPTIONS, "Potentials of spacecraft.")               \
    OPTIONS(paritas_er_options, PARITAS_ER_OPTIONS, "Reading of day files.")                                 \
    OPTIONS(paritas_day_options, PARITAS_DAY_OPTIONS, "Days of sweeps.")                                     \
    OPTIONS(paritas_synthetic_options, PARITAS_SYNTHETIC_OPTIONS, "Synthetic sweeps.")
