/* search_starts.h: how many starts the fits of a search get, where these lie, and by which method they are
 * fitted.
 *
 * Of minima that one start in fifty leads to, 150 starts miss 5 % (1 - 0.98^150 is 0.95). */
#pragma once

#include "minima/search_bends.h"

/* The starts of a fit. */
struct plan {
    struct target *target;
    size_t promised; /* where all are by Newton's method, which meets more */
    size_t n;        /* that are left */
    size_t newton;   /* of them, by Newton's method alone, first */
    uint64_t drawn;  /* numbers that were used */
    bool approaches; /* the others: by Fisher's matrix (gauss_newton.h) */
    struct bends bends;
};

/* Of the fits that were asked for, and of auxiliary ones around them: where the parameter of interest is
 * larger, more minima are met, and they go on downward. */
struct starts {
    size_t n;
    struct plan *plans;
};

paritas_status starts_plan(struct search *search, struct starts *starts);
/* Runs the starts by Newton's method. */
paritas_status starts_run_first(struct search *search, struct starts *starts);
/* Runs another round, if the model is small and its fits have several minima or no end: such models are
 * cheap and hide more. *went: there was one. */
paritas_status starts_run_more(struct search *search, struct starts *starts, bool *went);
/* Runs the others, which are cheap since minima are known then. */
paritas_status starts_run_rest(struct search *search, struct starts *starts);
/* Reaches the tested values of a small model from its free fit, and from the minima of the auxiliary fits.
 * Some minima are met from a neighbour's alone. Of a large model only those whose usual fits took long, from
 * auxiliary fits: where two branches cross, one step from afar ends on the upper one. */
paritas_status starts_follow_paths(struct search *search);
