/* toys_weights.h: importance sampling: where toys are drawn, and their weights.
 *
 *   fits at the hypotheses, best fit ─► strengths between them, one with the tested value's nuisances
 *   expected data at each strength ─► densities, linear in a toy's data ─► two weights a toy
 *
 * A toy is drawn from its expected data alone: counts from Poisson distributions, measurements from normal
 * ones. Its log density at strength j is, less a part that all strengths share, a sum over data
 *   d ln(e_j / r) - (e_j - r)              of a count; r: the largest e_j
 *   (e_j - r) (d - (e_j + r) / 2) / s^2    of a measurement; r: of the tested value
 *   -(d - e_j)^2 / 2 s^2                   of a measurement whose s has two values; not linear
 * With p_j this density, the weight of hypothesis H is p_H / mean of p_j over all J strengths. It is at most
 * J, since both hypotheses are among them. */
#pragma once

#include "minima/infer.h"

/* A measurement with another s below its expectation. */
struct toy_two_widths {
    size_t datum;
    double below, above; /* 1 / s^2 */
    double *expected;    /* n_places */
};

struct toy_weights {
    size_t n_data;
    int n_places;
    double *by_data;  /* n_data rows of n_places: factors of a datum */
    double *constant; /* n_places */
    struct toy_two_widths *two_widths;
    size_t n_two_widths;
};

/* A value of the parameter of interest and its distance from the best fit: the root of the rise in twice the
 * NLL, below 0 on the side below. */
struct strength {
    double mu, distance;
};
/* Of a conditional fit. */
struct strength strength_of(const struct infer_profile *profile, size_t poi, const struct infer_point *point);
/* Strengths of the options, ascending, without the hypotheses and without repetition. */
size_t strengths_given(const paritas_toys_options *options, const double hypotheses[2], double *strengths);
/* Values between the hypotheses and the best fit, and the best fit, fewer than `most`, ascending. Neighbours
 * are some two standard deviations apart. Returns how many there are. */
size_t strengths_between(const struct strength hypotheses[2], double mu_hat, size_t most, double *strengths);

/* A value beyond the best fit, seen from the tested one, within the bounds. Few counts are as extreme as the
 * observation in several ways. Some are data of more signal, so without toys there a few toys have large
 * weights. false: none is needed, or the bound is too near. */
bool strength_beyond(struct strength tested, double mu_hat, double lower, double upper, double *strength);

/* A value most of the way from the tested one to the best fit, for a place with the nuisance parameters of
 * the tested value. Data can be extreme by main counts alone. The fits to the observed data trade signal for
 * nuisance parameters between strengths, and all at once where one of these leaves its bound. false: none is
 * needed. */
bool strength_with_tested_nuisances(struct strength tested, double mu_hat, double *strength);

/* Makes weights in the arena. expected: the data of each place in the user's order; the first is the
 * reference. */
paritas_status toy_weights_open(struct infer *infer, int n_places, const double *const *expected,
                                struct toy_weights *weights);
/* Finds weights of the first n_hypotheses places. data: the user's order. */
void toy_weights_find(const struct toy_weights *weights, const double *data, int n_hypotheses, double *found);
