/* widening.c: upper bounds that give way (widening.h). */
#include "fit/widening.h"

#include <math.h>

double widening_widest(double lower, double upper)
{
    return lower + WIDEST_TIMES * (upper - lower);
}

static double doubled(double lower, double widest, double upper)
{
    return fmin(lower + 2.0 * (upper - lower), widest);
}

void widening_reach(double lower, double widest, double value, double *upper)
{
    while (*upper < value && *upper < doubled(lower, widest, *upper)) *upper = doubled(lower, widest, *upper);
}

/* The next bound of a parameter of interest; its present one where it stays. */
static double next_bound(const struct widening *w, size_t poi, const double *upper)
{
    const double wide = doubled(w->lower[poi], w->widest[poi], upper[poi]);
    return !w->kept[poi] && wide > upper[poi] && isfinite(wide) ? wide : upper[poi];
}

bool widening_doubles(const struct widening *w, size_t poi, double *upper)
{
    const double before = upper[poi];
    upper[poi] = next_bound(w, poi, upper);
    return upper[poi] > before;
}

bool widening_meets(const struct widening *w, size_t poi, const unsigned char *fixed, double end,
                    const double *upper)
{
    return !fixed[poi] && end >= upper[poi] && next_bound(w, poi, upper) > upper[poi];
}

bool widening_is_met(const struct widening *w, const unsigned char *fixed, const double *end,
                     const double *upper)
{
    for (size_t k = 0; k < w->n; k++)
        if (widening_meets(w, w->pois[k], fixed, end[w->pois[k]], upper)) return true;
    return false;
}

bool widening_gives(const struct widening *w, const unsigned char *fixed, const double *end, double *upper)
{
    bool gives = false;
    for (size_t k = 0; k < w->n; k++) {
        const size_t poi = w->pois[k];
        if (widening_meets(w, poi, fixed, end[poi], upper)) gives = widening_doubles(w, poi, upper);
    }
    return gives;
}
