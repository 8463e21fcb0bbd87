/* entry_rows.h: arguments and rows of shared entries. The only definition, for host and kernels; enumerations
 * and macros suit every dialect.
 *
 * Row: vectors of `slots` elements, then scalars. SIZE: a stride. */
#pragma once

#include "minimise/fit_answer.h"
#include "minimise/minimiser_sizes.h"

/* ---- points and data: evaluate, Hessian, expected data, Jacobian, tangent ----
 * in: data sets, then points. Each point meets each data set, or, with templates, its own. A point of the
 * tangent has its direction behind it. */
enum point_args { POINT_ARG_POINTS, POINT_ARG_SETS, POINT_ARG_GRADIENT, POINT_ARGS };
#define POINT_TANGENT_SIZE(slots) (2 * (slots))

/* Value, then, if asked, gradient and Hessian (row-major, both halves). */
enum value_answer { VALUE_VALUE, VALUE_GRADIENT };
#define VALUE_HESSIAN(slots) (VALUE_GRADIENT + (slots))
#define VALUE_SIZE(slots, gradient) (VALUE_GRADIENT + ((gradient) ? (slots) : 0))
#define VALUE_SIZE_HESSIAN(slots) (VALUE_HESSIAN(slots) + (slots) * (slots))

/* ---- fits by any minimiser, and covariances ----
 * in: data sets, then a row per job: these vectors. Behind the arguments: each job's data set.
 * out of fits: point, then scalars of minimise/fit_answer.h. */
enum fit_args {
    FIT_ARG_JOBS,
    FIT_ARG_SETS,
    FIT_ARG_ITERATIONS,
    FIT_ARG_WHOLE = FIT_ARG_ITERATIONS, /* with the matrix? */
    FIT_ARG_FLAGS,
    FIT_ARG_MEMBERS, /* of a population */
    FIT_ARG_SEED_LOW,
    FIT_ARG_SEED_HIGH,
    FIT_ARG_BEFORE, /* generations that earlier launches made in the same slabs; 0: a population begins */
    FIT_ARGS
};
#define FIT_FROM_NEAR 1u  /* starts are near minima */
#define FIT_TO_CLOSER 2u  /* down to EDM_CLOSER (minimise/fit_tolerances.h) */
#define FIT_TO_CLOSEST 4u /* down to EDM_CLOSEST */
#define FIT_HAS_KINKS 8u  /* some slots are FIT_SLOT_KINKED */
/* covariances: of second derivatives alone, where a rate is 0 too. Otherwise its edge holds the fit. */
#define FIT_PASSES_EDGES 16u

enum fit_job_vectors { FIT_JOB_START, FIT_JOB_LOWER, FIT_JOB_UPPER, FIT_JOB_FREE, FIT_JOB_VECTORS };
#define FIT_JOB_SIZE(slots) (FIT_JOB_VECTORS * (slots))
/* Values of FIT_JOB_FREE. Kinked: free, with a kink at 0, which is within the bounds. */
enum fit_slot { FIT_SLOT_FIXED, FIT_SLOT_FREE, FIT_SLOT_KINKED };

/* Vectors, scalars, then, if asked, the matrix of active slots (slots x slots). */
enum covariance_vectors {
    COVARIANCE_ACTIVE,
    COVARIANCE_ERRORS, /* 0 if inactive or undetermined */
    COVARIANCE_SLOPE,
    COVARIANCE_VECTORS
};
enum covariance_scalars {
    COVARIANCE_VALUE,
    COVARIANCE_EDM,
    COVARIANCE_BAD, /* 1: bad pivots */
    COVARIANCE_PULL,
    COVARIANCE_SCALARS = 8
};
#define COVARIANCE_SCALAR(slots, k) (COVARIANCE_VECTORS * (slots) + (k))
#define COVARIANCE_MATRIX(slots) COVARIANCE_SCALAR(slots, COVARIANCE_SCALARS)
#define COVARIANCE_SIZE(slots, whole) (COVARIANCE_MATRIX(slots) + ((whole) ? (slots) * (slots) : 0))

/* ---- profiles: free and conditional fits to many data rows ----
 * in: shared numbers of free fits, then of conditional ones, data rows, then, if asked, both fits' starts per
 * task, within bounds. Behind the arguments: free slots. out: a row per task, one more per team. */
enum profile_args {
    PROFILE_ARG_TASKS,
    PROFILE_ARG_SHARE, /* tasks per lane */
    PROFILE_ARG_POI,   /* slot, or PROFILE_NO_POI */
    PROFILE_ARG_FLAGS,
    PROFILE_ARG_EVALUATIONS, /* per fit */
    PROFILE_ARG_FREE,
    PROFILE_ARG_RANK, /* of the matrix as a diagonal and columns; 0: as it is */
    PROFILE_ARG_RANK_CONDITIONAL,
    PROFILE_ARGS
};
#define PROFILE_NO_POI 0xffffffffu
#define PROFILE_CONDITIONAL 1u
#define PROFILE_POINTS 2u   /* answer both fits' points */
#define PROFILE_POI_FREE 4u /* free fits move the parameter of interest */
#define PROFILE_STARTS 8u   /* tasks bring their starts */
#define PROFILE_CLOSEST 16u /* down to EDM_CLOSEST */
/* starts of free fits are their ends, found before; conditional fits begin there as usual */
#define PROFILE_KNOWN 32u
#define PROFILE_HOLDS 64u /* tasks bring, in place of the second start, 1 for slots that they leave free */

/* Inverse Hessian (row-major; 0 in rows of slots that are not free), these vectors and scalars, then the
 * matrix of free slots alone, as tables: as it is, or of rank r as
 * diagonal + sum over k of sign[k] v_k v_k^T: diagonal, v by k, sign, v by slot. A table has 16 elements of
 * each row, then the next 16 of each: a product reads it from end to end. */
enum profile_vectors {
    PROFILE_START,
    PROFILE_LOWER,
    PROFILE_UPPER,
    PROFILE_FREE,     /* 0 for the parameter of interest */
    PROFILE_CAP,      /* largest steps; 0: no limit */
    PROFILE_SHIFT,    /* from start to the conditional fit of its expected data */
    PROFILE_RESPONSE, /* of a free fit to its parameter of interest */
    PROFILE_VECTORS
};
enum profile_scalars { PROFILE_POI_START /* where the response is 0 */, PROFILE_SCALARS = 8 };
#define PROFILE_VECTOR(slots, k) ((slots) * ((slots) + (k)))
#define PROFILE_SCALAR(slots, k) (PROFILE_VECTOR(slots, PROFILE_VECTORS) + (k))
#define PROFILE_COMPACT(slots) PROFILE_SCALAR(slots, PROFILE_SCALARS)
#define PROFILE_COMPACT_ROW(free) (((free) + 7) / 8 * 8)
#define PROFILE_TABLE_GROUP 16
#define PROFILE_TABLE(rows, row) \
    (((row) + PROFILE_TABLE_GROUP - 1) / PROFILE_TABLE_GROUP * PROFILE_TABLE_GROUP * (rows))
#define PROFILE_TABLE_AT(rows, k, i) \
    (((i) / PROFILE_TABLE_GROUP * (rows) + (k)) * PROFILE_TABLE_GROUP + (i) % PROFILE_TABLE_GROUP)
#define PROFILE_COLUMNS(slots, free) (PROFILE_COMPACT(slots) + PROFILE_COMPACT_ROW(free))
#define PROFILE_SIGNS(slots, free, rank) (PROFILE_COLUMNS(slots, free) + PROFILE_TABLE(rank, free))
#define PROFILE_BY_SLOT(slots, free, rank) (PROFILE_SIGNS(slots, free, rank) + PROFILE_COMPACT_ROW(rank))
#define PROFILE_SHARED(slots, free, rank)                                        \
    ((rank) > 0 ? PROFILE_BY_SLOT(slots, free, rank) + PROFILE_TABLE(free, rank) \
                : PROFILE_COMPACT(slots) + PROFILE_TABLE(free, free))

enum profile_answer {
    PROFILE_VALUE_FREE,
    PROFILE_VALUE_FIXED,
    PROFILE_POI,
    PROFILE_EVALUATIONS_FREE,
    PROFILE_EVALUATIONS_FIXED,
    PROFILE_STATUS,
    PROFILE_FITS, /* fits done, of two */
    PROFILE_EDM,
    PROFILE_SLOPE_POI, /* of the NLL, by the parameter of interest, in the last fit */
    PROFILE_ANSWER_SCALARS
};
#define PROFILE_POINT(slots, conditional) (PROFILE_ANSWER_SCALARS + ((conditional) ? (slots) : 0))
/* Points of a row: conditional fits begin at the free ones' ends. */
#define PROFILE_KEPT(flags) (((flags) & PROFILE_CONDITIONAL ? 1u : 0u) + ((flags) & PROFILE_POINTS ? 1u : 0u))
#define PROFILE_STARTS_SIZE(slots) (2 * (slots))
#define PROFILE_ANSWER_SIZE(slots, flags) (PROFILE_ANSWER_SCALARS + PROFILE_KEPT(flags) * (slots))

/* ---- draws: a row of data per toy ----
 * in: one row: expected counts, means of measurements. Behind the arguments: item number of each place
 * (below 2^24), or DRAW_NO_ITEM: keeps its value. */
enum draw_args {
    DRAW_ARG_TOYS,
    DRAW_ARG_FIRST_LOW, /* first toy, < 2^63 */
    DRAW_ARG_FIRST_HIGH,
    DRAW_ARG_SEED_LOW,
    DRAW_ARG_SEED_HIGH,
    DRAW_ARG_PURPOSE, /* < 256 */
    DRAW_ARG_FIX_AUX, /* 1: keep auxiliary data */
    DRAW_ARGS = 8
};
#define DRAW_NO_ITEM 0xffffffffu

/* ---- jobs of plain numbers: loss cones, kappa fits ---- in: rows, then what all share. */
enum batch_args {
    BATCH_ARG_JOBS,
    BATCH_ARG_FIRST_LOW, /* first job */
    BATCH_ARG_FIRST_HIGH,
    BATCH_ARG_OWN, /* the entry's own */
    BATCH_ARGS = 8
};

/* ---- what a user's kernels report ---- */
enum custom_about_answer { CUSTOM_ABOUT_PARAMETERS, CUSTOM_ABOUT_VERSION, CUSTOM_ABOUT_SIZE };
