/* sample_sizes.h: rows of the sampling entry (entry/entry_sample.h), for host and kernels.
 *
 * in: a data row, SAMPLE_SHARED numbers that all chains share, then the chains' states. Behind the arguments:
 * slots of the free parameters, padded to a multiple of 8. out: the states, then a row of each step and
 * chain.
 *
 * "By parameter": the free ones, in that order, padded to MODEL_SLOTS. */
#pragma once

#define SAMPLE_DEPTH_MOST 10 /* doublings of a trajectory */

enum sample_args {
    SAMPLE_ARG_CHAINS,
    SAMPLE_ARG_FREE,
    SAMPLE_ARG_STEPS, /* of this launch, per chain */
    SAMPLE_ARG_WARMUP,
    SAMPLE_ARG_DRAWS, /* behind the warm-up */
    SAMPLE_ARG_DEPTH,
    SAMPLE_ARG_PRIORS, /* 0: none of the numbers of priors counts */
    SAMPLE_ARG_SEED_LOW,
    SAMPLE_ARG_SEED_HIGH,
    SAMPLE_ARGS
};

/* Shared vectors: the first by slot, the others by parameter. A prior's -log density of x is
 *   weight (x - mean)^2 / 2 + log_weight (ln x - log_mean)^2 / 2 + power ln x + rate x */
enum sample_vectors {
    SAMPLE_START, /* values of parameters that are not free */
    SAMPLE_LOWER,
    SAMPLE_UPPER,
    SAMPLE_KIND, /* sum of the two below: which bounds are finite */
    SAMPLE_MODE, /* t where z is 0 */
    SAMPLE_WEIGHT,
    SAMPLE_MEAN,
    SAMPLE_LOG_WEIGHT,
    SAMPLE_LOG_MEAN,
    SAMPLE_POWER,
    SAMPLE_RATE,
    SAMPLE_VECTORS
};
#define SAMPLE_HAS_LOWER 1
#define SAMPLE_HAS_UPPER 2
enum sample_numbers { SAMPLE_FIRST_STEP, SAMPLE_TARGET, SAMPLE_SPREAD, SAMPLE_NUMBERS = 8 };

#define SAMPLE_ROW(free) (((free) + 7) / 8 * 8)
#define SAMPLE_NUMBER(slots, k) (SAMPLE_VECTORS * (slots) + (k))
/* dt/dz and its transpose, as tables of PROFILE_TABLE_AT (entry/entry_rows.h) */
#define SAMPLE_TABLE(slots) SAMPLE_NUMBER(slots, SAMPLE_NUMBERS)
#define SAMPLE_TRANSPOSED(slots, free) (SAMPLE_TABLE(slots) + PROFILE_TABLE(free, free))
#define SAMPLE_SHARED(slots, free) (SAMPLE_TRANSPOSED(slots, free) + PROFILE_TABLE(free, free))

/* A chain's state: vectors by parameter (but the two of x, by slot), then scalars. A chain that begins has
 * zeros, but for its number and `fresh`. */
enum sample_state_vectors {
    STATE_Z, /* where the trajectory grows: position, momentum, gradient */
    STATE_P,
    STATE_G,
    STATE_LEFT_Z, /* the trajectory's ends */
    STATE_LEFT_P,
    STATE_LEFT_G,
    STATE_RIGHT_Z,
    STATE_RIGHT_P,
    STATE_RIGHT_G,
    STATE_DRAW_Z, /* the trajectory's draw, also the point that it began at */
    STATE_DRAW_G,
    STATE_DRAW_X,
    STATE_SUB_Z, /* the draw of the half that grows */
    STATE_SUB_G,
    STATE_SUB_X,
    STATE_SUM, /* of momenta: the trajectory's, and of the half that grows */
    STATE_SUB_SUM,
    STATE_CHECK_P, /* by level: the first momentum of a subtree, and STATE_SUB_SUM with it */
    STATE_CHECK_SUM = STATE_CHECK_P + SAMPLE_DEPTH_MOST,
    STATE_VECTORS = STATE_CHECK_SUM + SAMPLE_DEPTH_MOST
};
#define SAMPLE_STATE_SCALARS(SCALAR)                                                    \
    SCALAR(chain)      /* its number */                                                 \
    SCALAR(fresh)      /* 1: its first point is not yet known */                        \
    SCALAR(begins)     /* 1: a transition begins */                                     \
    SCALAR(grows)      /* 1: a doubling begins */                                       \
    SCALAR(transition) /* its number, warm-up included */                               \
    SCALAR(depth)                                                                       \
    SCALAR(size) /* points that the doubling adds */                                    \
    SCALAR(leaf) /* points it has added */                                              \
    SCALAR(way)  /* 1: forward, -1 */                                                   \
    SCALAR(energy)                                                                      \
    SCALAR(potential) /* of the draws: -log density of t, and the likelihood's part */  \
    SCALAR(nll)                                                                         \
    SCALAR(sub_potential)                                                               \
    SCALAR(sub_nll)                                                                     \
    SCALAR(weight) /* logarithm of the sum of exp(first energy - energy) over points */ \
    SCALAR(sub_weight)                                                                  \
    SCALAR(acceptance) /* sum over steps */                                             \
    SCALAR(steps)                                                                       \
    SCALAR(log_step) /* logarithm of the step size; its mean; what it averages */       \
    SCALAR(step_mean)                                                                   \
    SCALAR(lack)                                                                        \
    SCALAR(gradients) /* in all */

#define SAMPLE_STATE_SCALAR(name) STATE_##name,
enum sample_state_scalar { SAMPLE_STATE_SCALARS(SAMPLE_STATE_SCALAR) STATE_SCALARS_USED, STATE_SCALARS = 24 };
#define SAMPLE_STATE_AT(slots, k) (STATE_VECTORS * (slots) + (k))
#define SAMPLE_STATE(slots) SAMPLE_STATE_AT(slots, STATE_SCALARS)

/* A row of a step: scalars, then the point by slot. Only `is_draw` is written where that is 0. */
enum sample_draw {
    DRAW_IS_DRAW,
    DRAW_NLL, /* in deviance form */
    DRAW_POTENTIAL,
    DRAW_ENERGY,
    DRAW_DEPTH,
    DRAW_STEPS,
    DRAW_ACCEPTANCE,
    DRAW_DIVERGENT,
    DRAW_SCALARS
};
#define SAMPLE_DRAW(slots) (DRAW_SCALARS + (slots))

/* Work of a step, by parameter, behind the state in the slab. */
enum sample_work_vectors { WORK_T, WORK_X, WORK_SLOPE, WORK_TERM, WORK_GRADIENT, WORK_CHECK, WORK_VECTORS };
#define SAMPLE_WORK(slots, k) (SAMPLE_STATE(slots) + (k) * (slots))
#define SAMPLE_MEMORY(slots) SAMPLE_WORK(slots, WORK_VECTORS)
