/* paritas_model.h: models: made from workspaces or written by users; what they consist of; their likelihood
 * at given points. */
#ifndef PARITAS_MODEL_H
#define PARITAS_MODEL_H

#include "paritas_workspace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A likelihood: parameters, data and constraints, frozen. */
typedef struct paritas_model paritas_model;

/* ---- from a workspace --------------------------------------------------------------------------- */

/* The seven modifiers of HistFactory, and Combine's autoMCStats. */
#define PARITAS_MODIFIER_LIST(ITEM)                                                                       \
    ITEM(PARITAS_MODIFIER_NORMFACTOR, 0, "normfactor", "a free factor")                                   \
    ITEM(PARITAS_MODIFIER_NORMSYS, 1, "normsys", "a factor interpolated between two, normal constraint")  \
    ITEM(PARITAS_MODIFIER_HISTOSYS, 2, "histosys", "a shape interpolated between two, normal constraint") \
    ITEM(PARITAS_MODIFIER_SHAPESYS, 3, "shapesys", "a factor a bin, Poisson constraint")                  \
    ITEM(PARITAS_MODIFIER_STATERROR, 4, "staterror", "a factor a bin for all samples, normal constraint") \
    ITEM(PARITAS_MODIFIER_SHAPEFACTOR, 5, "shapefactor", "a free factor a bin")                           \
    ITEM(PARITAS_MODIFIER_LUMI, 6, "lumi", "the luminosity, normal constraint")                           \
    ITEM(PARITAS_MODIFIER_MCSTAT, 7, "mcstat", "an error a bin that adds to its rate, normal constraint")
typedef enum paritas_modifier { PARITAS_MODIFIER_LIST(PARITAS_ENUMERATOR) } paritas_modifier;

/* Interpolation between the variations of a normsys and of a histosys, by pyhf's codes and ROOT's (ROOT 6.40,
 * FlexibleInterpVar and PiecewiseInterpolation). */
#define PARITAS_NORMSYS_CODE_LIST(ITEM)                                                                  \
    ITEM(PARITAS_NORMSYS_CODE_DEFAULT, 0, "", "4")                                                       \
    ITEM(PARITAS_NORMSYS_CODE_1, 1, "1", "exponential")                                                  \
    ITEM(PARITAS_NORMSYS_CODE_4, 4, "4", "exponential; between the variations a polynomial of degree 6") \
    ITEM(PARITAS_NORMSYS_CODE_0, 100, "0", "piecewise linear; not below 0")                              \
    ITEM(PARITAS_NORMSYS_CODE_2C, 103, "2c",                                                             \
         "as ROOT's 2: linear; between the variations a parabola of the same slope there; not below 0")  \
    ITEM(PARITAS_NORMSYS_CODE_6, 106, "6",                                                               \
         "linear; between the variations a polynomial of degree 6; not below 0")                         \
    ITEM(PARITAS_NORMSYS_CODE_LNN, 107, "lnN",                                                           \
         "exponential; between half the variations the exponent is a polynomial: the lnN of datacards")
#define PARITAS_HISTOSYS_CODE_LIST(ITEM)                                                                 \
    ITEM(PARITAS_HISTOSYS_CODE_DEFAULT, 0, "", "4p")                                                     \
    ITEM(PARITAS_HISTOSYS_CODE_0, 100, "0", "piecewise linear")                                          \
    ITEM(PARITAS_HISTOSYS_CODE_2, 102, "2", "linear; between the variations a parabola")                 \
    ITEM(PARITAS_HISTOSYS_CODE_4P, 104, "4p", "linear; between the variations a polynomial of degree 6") \
    ITEM(PARITAS_HISTOSYS_CODE_1, 101, "1", "a factor a bin, as normsys 1")                              \
    ITEM(PARITAS_HISTOSYS_CODE_2C, 103, "2c",                                                            \
         "as ROOT's 2: linear; between the variations a parabola of the same slope there")               \
    ITEM(PARITAS_HISTOSYS_CODE_5, 105, "5", "a factor a bin, as normsys 4")                              \
    ITEM(PARITAS_HISTOSYS_CODE_6, 106, "6", "a factor a bin, as normsys 6")
typedef enum paritas_normsys_code { PARITAS_NORMSYS_CODE_LIST(PARITAS_ENUMERATOR) } paritas_normsys_code;
typedef enum paritas_histosys_code { PARITAS_HISTOSYS_CODE_LIST(PARITAS_ENUMERATOR) } paritas_histosys_code;

/* Numbers of a workspace that may be arguments of each job. */
#define PARITAS_TEMPLATE_KIND_LIST(ITEM)                                                                   \
    ITEM(PARITAS_TEMPLATE_NOMINAL, 0, "nominal", "rates of a sample in a channel")                         \
    ITEM(PARITAS_TEMPLATE_HISTOSYS_UP, 1, "histosys_up", "hi_data of a histosys of that sample there")     \
    ITEM(PARITAS_TEMPLATE_HISTOSYS_DOWN, 2, "histosys_down", "lo_data of a histosys of that sample there") \
    ITEM(PARITAS_TEMPLATE_NORMSYS_UP, 3, "normsys_up", "hi of a normsys of that sample there")             \
    ITEM(PARITAS_TEMPLATE_NORMSYS_DOWN, 4, "normsys_down", "lo of a normsys of that sample there")         \
    ITEM(PARITAS_TEMPLATE_STATERROR, 5, "staterror", "absolute uncertainties of a staterror there")        \
    ITEM(PARITAS_TEMPLATE_SHAPESYS, 6, "shapesys", "absolute uncertainties of a shapesys there")
typedef enum paritas_template_kind { PARITAS_TEMPLATE_KIND_LIST(PARITAS_ENUMERATOR) } paritas_template_kind;

/* A template: one number for each bin of the channel, or a single one for a normsys. */
typedef struct paritas_template {
    paritas_template_kind kind;
    const char *channel, *sample;
    const char *modifier; /* its name; NULL for PARITAS_TEMPLATE_NOMINAL */
} paritas_template;

#define PARITAS_MODEL_OPTIONS(OPTION, OTHER, S)                                                          \
    OTHER(S, const char *, measurement, "NULL: the first")                                               \
    OTHER(S, const char *, poi, "parameter of interest; NULL: the measurement's; empty: none")           \
    OPTION(S, paritas_normsys_code, normsys_code, PARITAS_NORMSYS_CODE_DEFAULT, PARITAS_NO_BOUND,        \
           PARITAS_NO_BOUND, "--normsys-code", "", "interpolation of normsys")                           \
    OPTION(S, paritas_histosys_code, histosys_code, PARITAS_HISTOSYS_CODE_DEFAULT, PARITAS_NO_BOUND,     \
           PARITAS_NO_BOUND, "--histosys-code", "", "interpolation of histosys")                         \
    OPTION(S, paritas_truth, clip_sample, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "", "",                 \
           "the expected rate of each sample in each bin is at least clip_sample_at")                    \
    OPTION(S, double, clip_sample_at, 0.0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "", "", "the least rate") \
    OPTION(S, paritas_truth, clip_bin, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "", "",                    \
           "the expected rate of each bin is at least clip_bin_at")                                      \
    OPTION(S, double, clip_bin_at, 0.0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "", "", "the least rate")    \
    OTHER(S, size_t, n_templates, "see `templates` below")                                               \
    OTHER(S, const paritas_template *, templates, "n_templates")

/* Options of paritas_model_create. Start from PARITAS_MODEL_OPTIONS_DEFAULT. */
typedef struct paritas_model_options {
    size_t size;
    PARITAS_MODEL_OPTIONS(PARITAS_OPTION_MEMBER, PARITAS_OTHER_MEMBER, )
} paritas_model_options;
#define PARITAS_MODEL_OPTIONS_DEFAULT PARITAS_OPTIONS_DEFAULTS(paritas_model_options, PARITAS_MODEL_OPTIONS)

/* Validates a workspace and freezes the model of one measurement. `options` may be NULL. If the measurement's
 * POI is carried by no modifier, the model has no POI; a POI in `options` must exist. Freed by
 * paritas_model_free. */
PARITAS_API paritas_status paritas_model_create(paritas_context *context, const paritas_workspace *workspace,
                                                const paritas_model_options *PARITAS_OR_NULL options,
                                                paritas_model **model);
PARITAS_API void paritas_model_free(paritas_model *model); /* NULL is a no-op */

/* ---- written by a user -------------------------------------------------------------------------- */

/* Kernels of a model that was written in the kernel language and compiled into the program by CMake's
 * paritas_add_model (docs/models.md). The program declares them: `extern const paritas_kernels
 * paritas_model_NAME;` */
typedef struct paritas_kernels paritas_kernels;

/* What a user's model consists of beside its kernels. Start from PARITAS_MODEL_DESCRIPTION_DEFAULT. Zero
 * means the default everywhere. */
typedef struct paritas_model_description {
    size_t size;
    const paritas_kernels *kernels;
    size_t n_parameters;      /* as many as the kernels were written for, at most 128 */
    const char *const *names; /* of the parameters, all different */
    const double *init, *lower, *upper;
    const unsigned char *fixed; /* NULL: none */
    const double
        *constraint_widths; /* sigma of the measurement that constrains a parameter; NaN or NULL: none */
    const char *poi;        /* parameter of interest; NULL: none */
    size_t n_main;          /* main data */
    const double
        *sigmas; /* n_main: 0: a count (Poisson); else sigma of a measurement (normal); NULL: counts */
    int terms;   /* nonzero: the kernels give the terms of the negative log-likelihood; `sigmas` is NULL */
    const double
        *data; /* observed: main data, then what was measured of each constrained parameter, in order */
    size_t n_ints, n_reals; /* tables that the kernels read */
    const uint32_t *ints;
    const double *reals;
} paritas_model_description;
#define PARITAS_MODEL_DESCRIPTION_DEFAULT PARITAS_INIT(paritas_model_description)

/* Makes a user's own model. All functions take it like any other. It has no channels and no samples: their
 * counts are 0, their names NULL. With `terms` nothing can be expected or drawn: expected data, tests against
 * Asimov data, goodness of fit and toys are INVALID_ARGUMENT. Everything is copied but the kernels.
 * INVALID_ARGUMENT names what is wrong: kernels of another version or number of parameters, numbers that are
 * not finite, bounds that are no interval, negative counts. Freed by paritas_model_free. */
PARITAS_API paritas_status paritas_model_define(paritas_context *context,
                                                const paritas_model_description *description,
                                                paritas_model **model);

/* ---- what a model consists of ------------------------------------------------------------------- */

PARITAS_API size_t paritas_model_parameter_count(const paritas_model *model);
PARITAS_API size_t paritas_model_main_count(const paritas_model *model); /* bins of all channels */
PARITAS_API size_t paritas_model_aux_count(const paritas_model *model);
PARITAS_API const char *paritas_model_parameter_name(const paritas_model *model,
                                                     size_t index); /* pyhf's par_names */
PARITAS_API paritas_status paritas_model_parameter_index(paritas_context *context, const paritas_model *model,
                                                         const char *name, size_t *index);
PARITAS_API ptrdiff_t paritas_model_poi_index(const paritas_model *model); /* -1: none */
/* Parameters of interest that the measurement lists (`pois` of its config); paritas_model_poi_index has the
 * first. If the options name one, it is the only one. */
PARITAS_API size_t paritas_model_poi_count(const paritas_model *model);
PARITAS_API const size_t *paritas_model_pois(const paritas_model *model); /* poi_count, owned by the model */
/* Arrays of parameter_count entries, owned by the model. */
PARITAS_API const double *paritas_model_suggested_init(const paritas_model *model);
PARITAS_API const double *paritas_model_lower_bounds(const paritas_model *model);
PARITAS_API const double *paritas_model_upper_bounds(const paritas_model *model);
PARITAS_API const unsigned char *paritas_model_suggested_fixed(const paritas_model *model);
/* Width of each parameter's constraint before the fit. Normsys and histosys: 1. Normal constraint: sigma.
 * Poisson constraint: 1/sqrt(tau). Free parameter: NaN. */
PARITAS_API const double *paritas_model_constraint_widths(const paritas_model *model);
/* The observed data row: main data, auxiliary data, templates. Owned by the model. */
PARITAS_API const double *paritas_model_data(const paritas_model *model);
PARITAS_API size_t paritas_model_channel_count(const paritas_model *model); /* sorted by name, as main data */
PARITAS_API const char *paritas_model_channel_name(const paritas_model *model, size_t channel);
PARITAS_API size_t paritas_model_channel_bins(const paritas_model *model, size_t channel);
/* Does the likelihood leave the channel out (paritas_workspace_mask)? 1: yes. */
PARITAS_API int paritas_model_channel_masked(const paritas_model *model, size_t channel);
PARITAS_API size_t paritas_model_sample_count(const paritas_model *model, size_t channel);
PARITAS_API const char *paritas_model_sample_name(const paritas_model *model, size_t channel, size_t sample);

/* Parameters of one name: NAME itself, or NAME[0], NAME[1], ... */
typedef struct paritas_parameter_set {
    const char *name;
    const char *constraint; /* pyhf's word: "constrained_by_normal" */
    size_t first;           /* number of its first parameter */
    size_t n;               /* parameters */
} paritas_parameter_set;
PARITAS_API size_t paritas_model_set_count(const paritas_model *model); /* 0 of a user's own model */
/* Sets have the order of the parameters. The name is NULL where there is no such set. */
PARITAS_API paritas_parameter_set paritas_model_set(const paritas_model *model, size_t set);
/* "sha256:" and 64 hexadecimal digits (72 bytes with the end), of what a model expects: names, channels,
 * rates, constraints, masks. Observed data, starts and bounds do not enter. Digests of other versions of
 * Paritas may differ. */
PARITAS_API paritas_status paritas_model_digest(paritas_context *context, const paritas_model *model,
                                                char digest[72]);

/* ---- templates ---------------------------------------------------------------------------------- */

/* A model with templates (options.templates) takes their numbers with each data row. They follow the
 * auxiliary data in the order given: one number for each bin of the channel, a single one for a normsys. A
 * function then gives the result of a workspace with these numbers. Interpolation, the widths of staterror
 * (absolute uncertainties over the sum of the rates that carry them) and tau of shapesys follow from the row.
 * Auxiliary data are data, taken as given.
 *
 * A bin without a constraint has a fixed parameter, which is decided when the model is made. So no job may
 * have a row whose numbers change which bins have a constraint, unless the measurement itself says whether
 * the parameter is fixed. hi and lo of a normsys must be positive. paritas_fit and paritas_differentiate
 * answer such a row with the status non_finite; for other functions it is INVALID_ARGUMENT. Suggested starts,
 * bounds and constraint widths come from the workspace. Toys of such models are INVALID_ARGUMENT. */

/* How many numbers all templates have together; 0: the model has none. */
PARITAS_API size_t paritas_model_template_count(const paritas_model *model);
/* Makes a data row (main_count + aux_count + template_count) of these main data (main_count) and templates
 * (template_count); NULL: the workspace's. Auxiliary data are what a workspace with these templates would
 * have: tau of a shapesys, unless the measurement gives it. INVALID_ARGUMENT, with the place: a row that no
 * job may have. */
PARITAS_API paritas_status paritas_model_fill_row(paritas_context *context, const paritas_model *model,
                                                  const double *PARITAS_OR_NULL main_data,
                                                  const double *PARITAS_OR_NULL templates, double *row);

/* ---- evaluation --------------------------------------------------------------------------------- */

/* Where the answers of paritas_evaluate go. The arrays are the caller's, and each may be NULL. Start from
 * PARITAS_EVALUATE_ANSWERS_DEFAULT. */
typedef struct paritas_evaluate_answers {
    size_t size;
    double *twice_nll; /* a number a row */
    double *gradient;  /* of twice the NLL: parameter_count a row */
    double *hessian;   /* of twice the NLL: parameter_count squared a row, symmetric; all count as free */
} paritas_evaluate_answers;
#define PARITAS_EVALUATE_ANSWERS_DEFAULT PARITAS_INIT(paritas_evaluate_answers)

/* N points with M data rows in one call. `points`: n_points rows of parameter_count. `data`: n_data data
 * rows, or NULL for the model's own (n_data is then 1). Row p * n_data + d of an answer belongs to point p
 * and data row d. Derivatives are exact, not differences. A point outside the domain has NaN in its rows. */
PARITAS_API paritas_status paritas_evaluate(paritas_context *context, const paritas_model *model,
                                            size_t n_points, const double *points, size_t n_data,
                                            const double *PARITAS_OR_NULL data,
                                            const paritas_evaluate_answers *answers);
/* Expected data rows: n_points rows of main, auxiliary data and the workspace's templates. */
PARITAS_API paritas_status paritas_expected_data(paritas_context *context, const paritas_model *model,
                                                 size_t n_points, const double *points, double *expected);
/* Derivatives of the expected main data at one point: main_count rows of parameter_count. */
PARITAS_API paritas_status paritas_expected_jacobian(paritas_context *context, const paritas_model *model,
                                                     const double *point, double *jacobian);
/* Expected main data at one point by sample: for each channel, for each sample, its bins. An mcstat adds
 * to bins, not to samples. */
PARITAS_API paritas_status paritas_expected_by_sample(paritas_context *context, const paritas_model *model,
                                                      const double *point, double *expected);
/* The same with the templates of data rows. `data`: a row a point (one for the last two; NULL: the
 * workspace's), of which only the templates are read. Rows of expected data carry them on, so they can be the
 * data of a job. */
PARITAS_API paritas_status paritas_expected_data_of(paritas_context *context, const paritas_model *model,
                                                    size_t n_points, const double *points,
                                                    const double *PARITAS_OR_NULL data, double *expected);
PARITAS_API paritas_status paritas_expected_jacobian_of(paritas_context *context, const paritas_model *model,
                                                        const double *point,
                                                        const double *PARITAS_OR_NULL data, double *jacobian);
PARITAS_API paritas_status paritas_expected_by_sample_of(paritas_context *context, const paritas_model *model,
                                                         const double *point,
                                                         const double *PARITAS_OR_NULL data,
                                                         double *expected);

/* Derivatives by data rows. HistFactory models only (others: INVALID_ARGUMENT); always in f64. Point k
 * belongs to row k of `data` (n rows; NULL: the model's own for all). At kinks of clips and interpolation
 * they are one-sided, as in paritas_evaluate.
 *   gradient   n data rows: derivatives of twice the NLL by main data, auxiliary data and templates. Counts
 *              are taken as real numbers, ln n! = ln Gamma(n + 1)
 *   along      n data rows: derivative of `gradient` along `directions` (n rows of parameter_count). It is
 *              the sum over parameters p of direction[p] times the derivative by p
 * Either may be NULL, and `directions` where `along` is. A point outside the domain has NaN in its rows. */
PARITAS_API paritas_status paritas_data_derivatives(paritas_context *context, const paritas_model *model,
                                                    size_t n, const double *points,
                                                    const double *PARITAS_OR_NULL data,
                                                    const double *directions,
                                                    double *PARITAS_OR_NULL gradient,
                                                    double *PARITAS_OR_NULL along);
/* Pulls weights of expected data rows back to points and templates. `weights`: n data rows.
 *   by_points      n rows of parameter_count: sum over i of weights[i] times the derivative of expected[i] by
 *                  each parameter
 *   by_templates   n rows of template_count: the same by each template, weights of the templates included
 * Either may be NULL. */
PARITAS_API paritas_status paritas_expected_pullback(paritas_context *context, const paritas_model *model,
                                                     size_t n, const double *points,
                                                     const double *PARITAS_OR_NULL data,
                                                     const double *weights, double *PARITAS_OR_NULL by_points,
                                                     double *PARITAS_OR_NULL by_templates);

#define PARITAS_MODEL_ENUMERATIONS(ENUMERATION)                                                    \
    ENUMERATION(paritas_modifier, PARITAS_MODIFIER_LIST, "The modifiers of HistFactory.")          \
    ENUMERATION(paritas_normsys_code, PARITAS_NORMSYS_CODE_LIST, "Interpolation of a normsys.")    \
    ENUMERATION(paritas_histosys_code, PARITAS_HISTOSYS_CODE_LIST, "Interpolation of a histosys.") \
    ENUMERATION(paritas_template_kind, PARITAS_TEMPLATE_KIND_LIST, "Numbers that may be arguments of a job.")
PARITAS_MODEL_ENUMERATIONS(PARITAS_NAME_FUNCTION)

#ifdef __cplusplus
}
#endif
#endif
