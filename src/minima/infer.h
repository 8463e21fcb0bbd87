/* infer.h: what all fits of a statistic share: model, job, memory, and the fits' own structs.
 *
 *   infer_open ──► infer_free_fit ──► infer_points (values fixed, rest profiled) ──► infer_slopes
 *
 * Every stage is one job list (conditional_fits.h, lowest_points.h). */
#pragma once

#include "base/context.h"
#include "fit/minimum.h"
#include "fit/widening.h"

#define INFER_FIXED_MAX PARITAS_SCAN_PARAMETERS_MOST
#define INFER_NEIGHBOURS 4

struct infer {
    paritas_context *context;
    const paritas_model *model;
    struct arena arena;
    size_t n_parameters, n_data;
    size_t poi;       /* n_parameters if infer_open did not check it; a scan puts its parameter there */
    bool tests;       /* of the parameter of interest, as infer_open was asked for */
    paritas_job base; /* borrowed, but for `upper` */
    double *upper;    /* own copy: tested values and best fits beyond it widen it */
    const double *upper_given; /* borrowed: before that */
    size_t n_pois;             /* the job's, else the model's; a test's is the first */
    const size_t *pois;
    struct widening widening; /* of these bounds */
    bool fit_beyond;          /* a fit ended beyond one that was given */
    /* of constraints, from the model or the data's templates; NaN: none */
    const double *widths;
    unsigned starts;                   /* per fit; 0: as many as needed, 1: the usual one alone */
    struct minimum_search *search;     /* minimum_search.h; NULL: not yet run */
    struct gauss_newton *fisher;       /* gauss_newton.h; NULL: not yet run */
    paritas_minima minima;             /* that further starts met */
    bool told_unfinished, told_bounds; /* fit_notes.h */
    bool told_cancelling;              /* cancelling.h */
    bool out_of_memory;
};

/* A free fit to one data set. Arrays are in the arena. */
struct infer_profile {
    const double *data;  /* set by the caller */
    const double *start; /* set by the caller; NULL: the base job's */
    paritas_fit_result result;
    const double *from;                       /* where the search's fit started; NULL: no search lowered it */
    double *parameters, *errors, *covariance; /* n, n, n * n */
    paritas_parameter_state *states;
    double *hessian;             /* of twice the NLL; only for a parameter on its bound */
    struct infer_metric *metric; /* quasi_newton_points.h; NULL: not yet asked for */
    bool wants_parameters;       /* set by the caller: of its points, as exactly as values */
    bool is_lowest;              /* set by the caller: its data are those expected where it ended */
    struct landscape *landscape; /* landscape.h; NULL: not yet searched */
};

/* A conditional fit with `k` parameters fixed. */
struct infer_point {
    struct infer_profile *profile;
    size_t k;
    size_t parameter[INFER_FIXED_MAX];
    double value[INFER_FIXED_MAX];
    unsigned wave; /* fitted after smaller waves */
    bool afresh;   /* starts where the job does */
    bool onward;   /* starts at the profile's parameters, whatever lies lower */
    bool unread;   /* no answer depends on its minimum, but for one below the free fit's: no search */
    bool place;    /* data are drawn or expected there, and no answer reads its likelihood */
    /* of smaller waves, same profile and parameter; NULL: none */
    const struct infer_point *neighbour[INFER_NEIGHBOURS];
    paritas_fit_status status; /* from here on: answers */
    unsigned iterations;       /* Newton's; 0: quasi-Newton's answer */
    double twice_nll;
    double slope; /* d(twice_nll) / d(value[0]), set by infer_slopes */
    const double *parameters;
    const double *elsewhere; /* parameters of another minimum, as low; NULL: none was met */
};

/* `needs_poi`: fails without a free POI. Close it even after a failure. */
paritas_status infer_open(struct infer *infer, paritas_context *context, const paritas_model *model,
                          const paritas_job *job, bool needs_poi);
/* Also refuses models with templates. */
paritas_status infer_open_for_toys(struct infer *infer, paritas_context *context, const paritas_model *model,
                                   const paritas_job *job, bool needs_poi);
void infer_close(struct infer *infer);

/* n cleared elements (or rows of p reals) in the arena. NULL: no memory, which infer_memory reports for
 * all. */
void *infer_array(struct infer *infer, size_t n, size_t size);
double *infer_reals(struct infer *infer, size_t n, size_t p);
paritas_status infer_memory(const struct infer *infer);

/* INVALID_ARGUMENT unless they are one or two different parameters that are not fixed. */
paritas_status infer_check_profiled(const struct infer *infer, size_t k, const size_t *parameters);
/* INVALID_ARGUMENT, with the parameter's name and bounds, if outside. */
paritas_status infer_check_value(const struct infer *infer, size_t parameter, double value);
/* Widens the upper bound of one of `pois` for a value beyond it. INVALID_ARGUMENT: beyond the widest. Other
 * parameters' bounds stay. */
paritas_status infer_make_room(struct infer *infer, size_t parameter, double value);
/* Doubles the width of the parameter of interest's bounds until mu fits, up to the widest. */
void infer_widen(struct infer *infer, double mu);
/* Whether the bounds give way to a fit that ended on one of them: then it is to be repeated from there. */
bool infer_gives_way(struct infer *infer, const unsigned char *fixed, const double *end);
/* Doubles the width of a parameter of interest's bounds. False: its upper bound stays. */
bool infer_doubles(struct infer *infer, size_t parameter);
/* Does its upper bound give way to fits and values beyond? */
bool infer_upper_gives_way(const struct infer *infer, size_t parameter);
/* From here on no fit widens a bound, or each does, whatever the job says. */
paritas_status infer_keep_bounds(struct infer *infer, bool kept);
/* Puts back the flags that were in infer->base.kept before. */
void infer_put_kept(struct infer *infer, const unsigned char *kept);
bool infer_is_widened(const struct infer *infer, size_t parameter);
/* PARITAS_BOUND_FIELDS of the first parameter of interest. */
void infer_put_bound(const struct infer *infer, double *upper_bound, paritas_truth *bound_widened);
/* Gives a free fit to the caller. `parameters`: parameter_count; NULL: not asked for. */
void infer_put_best(const struct infer *infer, const struct infer_profile *profile, paritas_fit_result *best,
                    double *parameters);
/* Notes widened bounds, for answers without a place for them. */
void infer_note_widening(const struct infer *infer);
/* Checks as infer_check_value does, for the parameter of interest of a test, where 0 stands for the
 * background alone. */
paritas_status infer_check_tested(const struct infer *infer, size_t parameter, double value);

/* Refuses groups, n rows of flags, of which one has the parameter of interest. */
paritas_status infer_check_members(const struct infer *infer, size_t n, const unsigned char *members);

/* Keeps the most minima that a fit met, their largest distance, and the two that are nearest. */
void infer_add_minima(paritas_minima *minima, const paritas_minima *others);
/* Adds those of a fit, of which the two lowest are `found->next` apart, with the parameter that tells these
 * two apart most, in widths or sizes. */
void infer_note_minima(struct infer *infer, const paritas_minima *found, const double *lowest,
                       const double *next);
/* What was learnt about minima, so that what follows depends on nothing before. */
void infer_forget_minima(struct infer *infer);
static inline bool infer_has_several(const paritas_minima *minima)
{
    return minima->met > 1;
}

double infer_bounded(const struct infer *infer, size_t parameter, double value);

/* Evaluates n points with the base job's templates, on the host in f64, as searches and generated data need.
 * */
paritas_status infer_evaluate(struct infer *infer, size_t n, const double *points, const double *data,
                              double *twice_nll, double *gradient, double *hessian);
paritas_status infer_expected(struct infer *infer, const double *point, double *expected);

/* Of the job and of the point (NULL: a free fit). NULL: no memory, which infer_memory reports. */
unsigned char *infer_fixed_flags(struct infer *infer, const struct infer_point *point);
struct infer_point infer_point_at(const struct infer *infer, struct infer_profile *profile, double mu);
bool infer_same_parameters(const struct infer_point *a, const struct infer_point *b);
/* Is the parameter neither fixed nor at a bound? */
bool infer_is_free(const struct infer_profile *profile, size_t parameter);
/* Parameter values (n_parameters) where the pulls are 0; NaN: unconstrained. */
paritas_status infer_constraint_centres(struct infer *infer, double *centres);

paritas_fit_status infer_worse(paritas_fit_status a, paritas_fit_status b);
/* The status of a fit where data are drawn or expected; `held` (-1: none) does not move in it. Where nothing
 * moves, the place is known though the observed data are impossible there. */
paritas_fit_status infer_place_status(const struct infer *infer, ptrdiff_t held, bool has_rates,
                                      paritas_fit_status status);
/* The same, for a fit that ended at `parameters`: rates there may be negative. */
paritas_status infer_judge_place(struct infer *infer, ptrdiff_t held, const double *parameters,
                                 paritas_fit_status *status);
