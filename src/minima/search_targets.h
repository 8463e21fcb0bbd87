/* search_targets.h: fits whose lowest minimum is looked for, and attempts at them from further starts. */
#pragma once

#include "minima/infer.h"

#define MINIMA_WITHIN 25.0 /* of the lowest, in twice the NLL: minima further above change no answer */
#define ENDS_STARTS 4
#define ENDS_MOST 8 /* minima of a fit that are remembered, the lowest ones */
#define AUXILIARY_MOST 7

struct end {
    double twice_nll;
    const double *parameters;          /* in the arena */
    bool shared;                       /* other fits started there */
    size_t count;                      /* fits that went there */
    size_t n_starts;                   /* from which fits ended there, */
    const double *starts[ENDS_STARTS]; /* some of them */
};

/* A fit: the free one, or a point's. */
struct target {
    struct infer_point *point; /* NULL: the free fit */
    unsigned char *fixed;
    bool asked; /* for by the caller, no auxiliary fit */
    paritas_fit_status status;
    double twice_nll;
    const double *parameters, *flipped; /* the point whose neighbours were tried */
    struct end unconverged;             /* the lowest; parameters NULL: none */
    paritas_fit_status unconverged_status;
    bool lower;                 /* than at the beginning */
    bool had_end;               /* at the beginning */
    bool is_lowest;             /* no point can be lower */
    struct end ends[ENDS_MOST]; /* different minima, ascending */
    size_t n_ends;
    size_t n_tried, n_ended; /* attempts; those that converged or went to a known minimum */
};

/* All fits of one data set. */
struct search {
    struct infer *infer;
    struct infer_profile *profile;
    struct target *targets; /* the free fit, the points, and auxiliary points */
    size_t n, n_asked;      /* with auxiliary points; without */
    /* other values of the parameter of interest */
    struct infer_point auxiliary[AUXILIARY_MOST];
    double same;     /* in twice the NLL */
    bool is_small;   /* the model: its fits cost little */
    bool approaches; /* its starts by Fisher's matrix first */
    /* of the attempts since the caller cleared them */
    bool lowered; /* an answer */
};

/* A fit of `target` from a further start; the values of its point are its own. */
struct attempt {
    struct target *target;
    const double *start;
};

/* Do fits of this model cost so little that many starts do not matter? */
bool search_model_is_small(const struct infer *infer);
/* The free fit and n points. */
paritas_status search_open(struct infer *infer, struct infer_profile *profile, size_t n,
                           struct infer_point *const *points, struct search *search);
/* Adds a fit at another value of the parameter of interest, whose ends are starts for others. */
paritas_status search_add_auxiliary(struct search *search, double value);

/* Fits all attempts at once. Lower ends become the targets' answers. */
paritas_status search_run_attempts(struct search *search, size_t n, const struct attempt *attempts);

/* The first part of *n attempts by Fisher's matrix (gauss_newton.h), where search->approaches. Leaves those
 * in the list that do not go to a known minimum, from where they are. */
paritas_status search_approach(const struct search *search, size_t *n, struct attempt *attempts);
/* Attempts from minima of fits nearby, which Fisher's matrix follows where Newton's method leaves them. */
paritas_status search_carry_attempts(struct search *search, size_t n, struct attempt *attempts);

/* Continues from lower points where fits did not converge. If one stays, it is the answer, with its status:
 * no minimum above a known point is told as the lowest. */
paritas_status search_leave_unconverged(struct search *search);
/* Notes the minima that were met, and gives lower answers to the profile and its points. */
paritas_status search_give_answers(struct search *search);

/* Minima of a target within MINIMA_WITHIN of its answer. */
size_t search_minima_within(const struct target *target);
