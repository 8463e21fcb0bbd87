/* paritas_sample.h: draws from the posterior, by the No-U-Turn sampler.
 *
 * The posterior is the likelihood times priors. The constraint terms of a model are the priors of its
 * constrained parameters. Other parameters are flat within their bounds, unless they have a prior here.
 *
 * Chains are independent. Each begins around the mode, adapts its step size in the warm-up, and then makes
 * its draws. Draws depend on (model, job, options) alone: they have the same bits on every device.
 */
#ifndef PARITAS_SAMPLE_H
#define PARITAS_SAMPLE_H

#include "paritas_fit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- priors ------------------------------------------------------------------------------------- */

#define PARITAS_PRIOR_LIST(ITEM)                                                                  \
    ITEM(PARITAS_PRIOR_NORMAL, 0, "normal", "its mean, its standard deviation")                   \
    ITEM(PARITAS_PRIOR_LOGNORMAL, 1, "lognormal", "mean and standard deviation of ln x")          \
    ITEM(PARITAS_PRIOR_GAMMA, 2, "gamma", "its shape, its rate; density x^(shape-1) e^(-rate x)") \
    ITEM(PARITAS_PRIOR_UNIFORM, 3, "uniform", "its lower and its upper edge")
typedef enum paritas_prior_kind { PARITAS_PRIOR_LIST(PARITAS_ENUMERATOR) } paritas_prior_kind;

/* The prior of one parameter. It multiplies the parameter's constraint, if there is one. Bounds cut it. */
typedef struct paritas_prior {
    size_t parameter;
    paritas_prior_kind kind;
    double numbers[2]; /* as the list says */
} paritas_prior;

/* ---- chains ------------------------------------------------------------------------------------- */

#define PARITAS_SAMPLE_DEPTH_MOST 10
#define PARITAS_SAMPLE_OPTIONS(OPTION, OTHER, S)                                                            \
    OPTION(S, unsigned, chains, 16, PARITAS_FROM(1), PARITAS_TO(65536), "--chains", "", "number of chains") \
    OPTION(S, unsigned, draws, 1000, PARITAS_FROM(4), PARITAS_TO(10000000), "--draws", "",                  \
           "draws of each chain, after its warm-up")                                                        \
    OPTION(S, unsigned, warmup, 300, PARITAS_NO_BOUND, PARITAS_TO(10000000), "--warmup", "",                \
           "transitions of each chain before its draws, which adapt its step size")                         \
    OPTION(S, uint64_t, seed, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "--seed", "", "random seed")           \
    OPTION(S, double, target, 0.7, PARITAS_ABOVE(0.0), PARITAS_BELOW(1.0), "--target", "",                  \
           "mean acceptance to aim at; a higher one gives shorter steps")                                   \
    OPTION(S, unsigned, max_depth, PARITAS_SAMPLE_DEPTH_MOST, PARITAS_FROM(1),                              \
           PARITAS_TO(PARITAS_SAMPLE_DEPTH_MOST), "--max-depth", "", "doublings of a trajectory, at most")  \
    OPTION(S, paritas_truth, resume, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "", "",                         \
           "go on from the store, or from the answers' state and draws")                                    \
    OTHER(S, size_t, n_priors, "of `priors`")                                                               \
    OTHER(S, const paritas_prior *, priors, "at most one of a parameter")                                   \
    OTHER(S, const char *, store, "path of an archive (.npz) that keeps the run; NULL: none")

/* What is drawn. Start from PARITAS_SAMPLE_OPTIONS_DEFAULT. */
typedef struct paritas_sample_options {
    size_t size;
    PARITAS_SAMPLE_OPTIONS(PARITAS_OPTION_MEMBER, PARITAS_OTHER_MEMBER, )
} paritas_sample_options;
#define PARITAS_SAMPLE_OPTIONS_DEFAULT \
    PARITAS_OPTIONS_DEFAULTS(paritas_sample_options, PARITAS_SAMPLE_OPTIONS)

#define PARITAS_DRAW_FIELDS(FIELD, R)                                                                   \
    FIELD(R, double, twice_nll, , "twice_nll", "", "twice the negative log-likelihood, without priors") \
    FIELD(R, double, log_density, , "log_density", "",                                                  \
          "of the posterior, in the space where chains move, up to a constant")                         \
    FIELD(R, double, energy, , "energy", "",                                                            \
          "of the trajectory: -log_density and the momentum's half square")                             \
    FIELD(R, double, acceptance, , "acceptance", "", "mean over the trajectory's steps")                \
    FIELD(R, unsigned, steps, , "steps", "", "of the trajectory; each costs a gradient")                \
    FIELD(R, unsigned, depth, , "depth", "", "doublings of the trajectory")                             \
    FIELD(R, paritas_truth, divergent, , "divergent", "",                                               \
          "the trajectory ended where its energy was wrong by 1000, or outside the domain")
typedef struct paritas_draw {
    PARITAS_DRAW_FIELDS(PARITAS_MEMBER, )
} paritas_draw;

#define PARITAS_CHAIN_FIELDS(FIELD, R)                                                               \
    FIELD(R, unsigned, draws, , "draws", "", "made so far")                                          \
    FIELD(R, unsigned, divergent, , "divergent", "", "of them")                                      \
    FIELD(R, uint64_t, gradients, , "gradients", "", "likelihoods with gradients, warm-up included") \
    FIELD(R, double, step, , "step", "", "its step size, in widths of the posterior at its mode")
typedef struct paritas_chain {
    size_t size;
    PARITAS_CHAIN_FIELDS(PARITAS_MEMBER, )
} paritas_chain;

/* Where draws go. All arrays are the caller's. Start from PARITAS_SAMPLE_ANSWERS_DEFAULT. */
typedef struct paritas_sample_answers {
    size_t size;
    double *parameters;    /* chains x draws x parameter_count; required */
    paritas_draw *draws;   /* chains x draws; required */
    paritas_chain *chains; /* chains; required */
    double *state;         /* chains x paritas_sample_state_size; NULL: not kept */
} paritas_sample_answers;
#define PARITAS_SAMPLE_ANSWERS_DEFAULT PARITAS_INIT(paritas_sample_answers)

/* Numbers of a chain's state. */
PARITAS_API size_t paritas_sample_state_size(const paritas_model *model);

/* Draws from the posterior. `job` gives data, start, bounds and fixed parameters; `job` and `options` may be
 * NULL. Each step of a chain is a gradient; chains run side by side.
 *
 * A run that the progress function cancels answers PARITAS_CANCELLED. Chain c then has chains[c].draws rows.
 * With `state`, the same call with `resume` goes on there, to the bits of a run without the pause. It may
 * also ask for more draws, with arrays of the new size that hold the old draws at their places. Other
 * options and the job must stay.
 *
 * A `store` keeps state and draws. The file is replaced each second, when the run is cancelled, and at the
 * end; less often where that would take 5 % of the time. After a kill the same call with `resume` goes on
 * there, as above, with arrays that may be new. Without a file it begins.
 *
 * INVALID_ARGUMENT: a prior of no parameter, of a fixed one, or with wrong numbers. Bounds without a place
 * between them. A state that is not of such chains, or has more draws. A store that exists without `resume`,
 * or that another model, job or other options made. NOT_CONVERGED: the likelihood is not finite at the
 * start. INVALID_INPUT: a store that is damaged. UNREADABLE: the store. UNWRITABLE: the store, also where
 * another process uses it, or it is no regular file. */
PARITAS_API paritas_status paritas_sample(paritas_context *context, const paritas_model *model,
                                          const paritas_job *PARITAS_OR_NULL job,
                                          const paritas_sample_options *PARITAS_OR_NULL options,
                                          const paritas_sample_answers *answers);

/* ---- predictions -------------------------------------------------------------------------------- */

/* Data that draws predict. Row i is a toy drawn at points[i]. Main data are Poisson counts, or normal where a
 * user's model has measurements. Auxiliary data follow their constraints. With draws of a posterior the rows
 * follow the posterior predictive distribution. (paritas_expected_data has the rates themselves.) Row i
 * depends on (model, point i, seed, i) alone. `points`: n x parameter_count. data: n x (main + auxiliary).
 *
 * INVALID_ARGUMENT: expected data that cannot be drawn: negative, not finite or above 1e12. Models with
 * templates. */
PARITAS_API paritas_status paritas_predictive_data(paritas_context *context, const paritas_model *model,
                                                   size_t n, const double *points, uint64_t seed,
                                                   double *data);

/* ---- summaries ---------------------------------------------------------------------------------- */

#define PARITAS_POSTERIOR_FIELDS(FIELD, R)                                                                 \
    FIELD(R, double, mean, , "mean", "", "mean of the draws")                                              \
    FIELD(R, double, sd, , "sd", "", "standard deviation")                                                 \
    FIELD(R, double, lower, , "lower", "", "lower end of the central interval")                            \
    FIELD(R, double, median, , "median", "", "median")                                                     \
    FIELD(R, double, upper, , "upper", "", "upper end of the central interval")                            \
    FIELD(R, double, hdi, [2], "hdi", "", "the narrowest interval with as many draws")                     \
    FIELD(R, double, mcse_mean, , "mcse_mean", "",                                                         \
          "standard error of `mean`, from the chains' correlations")                                       \
    FIELD(R, double, rhat, , "rhat", "", "R-hat: 1 where chains agree; NaN for a constant")                \
    FIELD(R, double, ess_bulk, , "ess_bulk", "", "effective number of draws, for the distribution's bulk") \
    FIELD(R, double, ess_tail, , "ess_tail", "", "the same for its tails at 5 and 95 %")
typedef struct paritas_posterior {
    size_t size;
    PARITAS_POSTERIOR_FIELDS(PARITAS_MEMBER, )
} paritas_posterior;

/* Describes n columns of draws: `values` has chains x draws x n numbers. `level`: share of draws in the
 * intervals, for example 0.9. R-hat (rank-normalised, split, folded) and effective sizes: Vehtari, Gelman,
 * Simpson, Carpenter, Buerkner, arXiv:1903.08008. posteriors: n.
 *
 * INVALID_ARGUMENT: fewer than 4 draws, a level outside 0 .. 1, a value that is not finite. */
PARITAS_API paritas_status paritas_summarise_draws(paritas_context *context, size_t chains, size_t draws,
                                                   size_t n, const double *values, double level,
                                                   paritas_posterior *posteriors);

#define PARITAS_RHAT_MOST 1.01
#define PARITAS_ESS_LEAST 400.0
#define PARITAS_SAMPLE_VERDICT_FIELDS(FIELD, R)                                                       \
    FIELD(R, paritas_truth, converged, , "converged", "",                                             \
          "every R-hat is at most 1.01, every effective size at least 400, and no draw is divergent") \
    FIELD(R, double, rhat, , "rhat", "", "the largest R-hat")                                         \
    FIELD(R, size_t, rhat_of, , "", "", "whose that is: number of the column")                        \
    FIELD(R, double, ess, , "ess", "", "the least effective size, of bulk or tail")                   \
    FIELD(R, size_t, ess_of, , "", "", "whose that is")                                               \
    FIELD(R, uint64_t, divergent, , "divergent", "", "divergent draws")                               \
    FIELD(R, uint64_t, gradients, , "gradients", "", "likelihoods with gradients, warm-up included")
typedef struct paritas_sample_verdict {
    size_t size;
    PARITAS_SAMPLE_VERDICT_FIELDS(PARITAS_MEMBER, )
} paritas_sample_verdict;

/* Did the chains converge? Columns without a spread do not count. */
PARITAS_API paritas_status paritas_judge_draws(paritas_context *context, size_t n,
                                               const paritas_posterior *posteriors, size_t n_chains,
                                               const paritas_chain *chains, paritas_sample_verdict *verdict);

#define PARITAS_SAMPLE_ENUMERATIONS(ENUMERATION) \
    ENUMERATION(paritas_prior_kind, PARITAS_PRIOR_LIST, "Priors of single parameters.")
#define PARITAS_SAMPLE_RECORDS(RECORD)                                                       \
    RECORD(paritas_draw, PARITAS_DRAW_FIELDS, "How a posterior draw was made.")              \
    RECORD(paritas_chain, PARITAS_CHAIN_FIELDS, "A chain of posterior draws.")               \
    RECORD(paritas_posterior, PARITAS_POSTERIOR_FIELDS, "Summary of one parameter's draws.") \
    RECORD(paritas_sample_verdict, PARITAS_SAMPLE_VERDICT_FIELDS, "Whether chains converged.")
PARITAS_SAMPLE_ENUMERATIONS(PARITAS_NAME_FUNCTION)

#ifdef __cplusplus
}
#endif
#endif
