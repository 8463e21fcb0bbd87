/* neighbours.c: conditional fits from the ends of their neighbours. */
#include "minima/neighbours.h"

#include <math.h>
#include <string.h>

#define CRAWL 0.1 /* in twice the NLL: fits that creep down a valley are repeated only for so much */

bool neighbours_is_lower(const struct infer *infer, const struct infer_point *a, const struct infer_point *b)
{
    const double same = same_minimum(infer->context);
    const bool converged = a->status == PARITAS_FIT_CONVERGED, to_mend = b->status != PARITAS_FIT_CONVERGED;
    if (!isfinite(a->twice_nll) || !isfinite(b->twice_nll)) return isfinite(a->twice_nll);
    const double least = !to_mend ? same : converged ? -same : CRAWL;
    return a->twice_nll < b->twice_nll - least;
}

static void put_start(const struct infer *infer, const struct neighbour_pair *pair, double *start)
{
    const struct infer_point *from = pair->from, *other = pair->other;
    const double span = other->value[0] - from->value[0],
                 part = span > 0.0 ? (pair->to->value[0] - from->value[0]) / span : 0.0;
    for (size_t i = 0; i < infer->n_parameters; i++)
        start[i] = from->parameters[i] + part * (other->parameters[i] - from->parameters[i]);
}

paritas_status neighbours_fit(struct infer *infer, size_t n, struct neighbour_pair *pairs)
{
    const size_t p = infer->n_parameters;
    if (n == 0) return PARITAS_OK;
    struct infer_profile *starts = infer_array(infer, n, sizeof *starts);
    struct infer_point *fits = infer_array(infer, n, sizeof *fits);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < n; i++) {
        const struct infer_point *to = pairs[i].to;
        double *parameters = infer_reals(infer, p, 1);
        TRY(infer_memory(infer));
        put_start(infer, &pairs[i], parameters);
        starts[i] = *to->profile;
        starts[i].parameters = parameters;
        fits[i] = (struct infer_point){.profile = &starts[i], .k = to->k, .onward = true};
        memcpy(fits[i].parameter, to->parameter, to->k * sizeof to->parameter[0]);
        memcpy(fits[i].value, to->value, to->k * sizeof to->value[0]);
    }
    TRY(infer_points_once(infer, n, fits));
    TRY(infer_slopes(infer, n, fits));
    for (size_t i = 0; i < n; i++) {
        struct infer_point *to = pairs[i].to;
        pairs[i].lowered = neighbours_is_lower(infer, &fits[i], to);
        if (!pairs[i].lowered) continue;
        if (to->status == PARITAS_FIT_CONVERGED && fits[i].status == PARITAS_FIT_CONVERGED) {
            const double apart = to->twice_nll - fits[i].twice_nll;
            infer_note_minima(infer, &(paritas_minima){.met = 2, .apart = apart, .next = apart},
                              fits[i].parameters, to->parameters);
        }
        fits[i].profile = to->profile;
        *to = fits[i];
    }
    return PARITAS_OK;
}

static size_t put_pair(const struct infer_point *from, const struct infer_point *other,
                       struct infer_point *to, struct neighbour_pair *pairs, size_t n)
{
    if (!isfinite(from->twice_nll) || !isfinite(other->twice_nll)) return n;
    pairs[n] = (struct neighbour_pair){.from = from, .other = other, .to = to};
    return n + 1;
}

paritas_status neighbours_compare(struct infer *infer, size_t n, struct infer_point *const *ascending,
                                  bool *fresh, bool *lowered)
{
    struct neighbour_pair *pairs = infer_array(infer, 3 * n, sizeof *pairs);
    TRY(infer_memory(infer));
    for (size_t round = 0; round < n; round++) {
        size_t m = 0;
        for (size_t i = 1; i < n; i++) {
            struct infer_point *left = ascending[i - 1], *right = ascending[i];
            if (!fresh[i - 1] && !fresh[i]) continue;
            m = put_pair(left, left, right, pairs, m);
            m = put_pair(right, right, left, pairs, m);
        }
        for (size_t i = 2; i < n; i++)
            if (fresh[i - 2] || fresh[i - 1] || fresh[i])
                m = put_pair(ascending[i - 2], ascending[i], ascending[i - 1], pairs, m);
        if (m == 0) break;
        memset(fresh, 0, n * sizeof *fresh);
        TRY(neighbours_fit(infer, m, pairs));
        for (size_t k = 0; k < m; k++) {
            if (!pairs[k].lowered) continue;
            *lowered = true;
            for (size_t i = 0; i < n; i++) fresh[i] = fresh[i] || ascending[i] == pairs[k].to;
        }
    }
    return PARITAS_OK;
}
