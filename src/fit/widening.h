/* widening.h: upper bounds of parameters of interest, which give way to fits that end on them.
 *
 * Such a bound is where a search begins. It says nothing about nature, so no answer may depend on it. */
#pragma once

#include "base/context.h"

#define WIDEST_TIMES 1048576.0 /* the first width */

/* Arrays are borrowed; `lower`, `widest` and `kept` have a place for each parameter. */
struct widening {
    size_t n;
    const size_t *pois;
    const unsigned char *kept; /* 1: the caller's own bound, which stays */
    const double *lower, *widest;
};

/* The largest upper bound that these bounds are widened to. */
double widening_widest(double lower, double upper);
/* Doubles the width until `value` fits, up to `widest`. */
void widening_reach(double lower, double widest, double value, double *upper);
/* Doubles the width of a parameter of interest's bounds. False: its upper bound stays. */
bool widening_doubles(const struct widening *w, size_t poi, double *upper);
/* Does a fit's end lie on the bound of this one, and can that give way? */
bool widening_meets(const struct widening *w, size_t poi, const unsigned char *fixed, double end,
                    const double *upper);
/* Does a fit's end lie on a bound that can give way, of a parameter that is not fixed? */
bool widening_is_met(const struct widening *w, const unsigned char *fixed, const double *end,
                     const double *upper);
/* Doubles the width of such bounds. False: there are none, so that the fit stands. */
bool widening_gives(const struct widening *w, const unsigned char *fixed, const double *end, double *upper);
