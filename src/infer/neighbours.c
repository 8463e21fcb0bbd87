/* neighbours.c: conditional fits from the ends of their neighbours. */
#include "infer/neighbours.h"

#include <math.h>
#include <string.h>

/* A fit of one point from another's end. */
struct neighbour_pair {
    const struct infer_point *from;
    struct infer_point *to;
    bool lowered; /* answer: `to` has a lower minimum now */
};

static bool is_lower(const struct infer *infer, const struct infer_point *a, const struct infer_point *b)
{
    return a->status == PARITAS_FIT_CONVERGED &&
           (isnan(b->twice_nll) || a->twice_nll < b->twice_nll - same_minimum(infer->context));
}

/* In one batch. The lowest end stays, with its slope. */
static paritas_status neighbours_fit(struct infer *infer, size_t n, struct neighbour_pair *pairs)
{
    const size_t p = infer->n_parameters;
    if (n == 0) return PARITAS_OK;
    struct infer_profile *starts = infer_array(infer, n, sizeof *starts);
    struct infer_point *fits = infer_array(infer, n, sizeof *fits);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < n; i++) {
        const struct infer_point *from = pairs[i].from, *to = pairs[i].to;
        double *parameters = infer_reals(infer, p, 1);
        TRY(infer_memory(infer));
        memcpy(parameters, from->parameters, p * sizeof *parameters);
        starts[i] = *to->profile;
        starts[i].parameters = parameters;
        fits[i] = (struct infer_point){.profile = &starts[i],
                                       .k = 1,
                                       .parameter = {to->parameter[0]},
                                       .value = {to->value[0]},
                                       .onward = true};
    }
    TRY(infer_points_once(infer, n, fits));
    TRY(infer_slopes(infer, n, fits));
    for (size_t i = 0; i < n; i++) {
        struct infer_point *to = pairs[i].to;
        pairs[i].lowered = is_lower(infer, &fits[i], to);
        if (!pairs[i].lowered) continue;
        if (to->status == PARITAS_FIT_CONVERGED)
            infer_note_minima(&infer->minima, 2, to->twice_nll - fits[i].twice_nll);
        fits[i].profile = to->profile;
        *to = fits[i];
    }
    return PARITAS_OK;
}

/* Both ways between two points. */
static size_t put_pairs(struct infer_point *a, struct infer_point *b, struct neighbour_pair *pairs, size_t n)
{
    if (isfinite(a->twice_nll)) pairs[n++] = (struct neighbour_pair){.from = a, .to = b};
    if (isfinite(b->twice_nll)) pairs[n++] = (struct neighbour_pair){.from = b, .to = a};
    return n;
}

paritas_status neighbours_compare(struct infer *infer, size_t n, struct infer_point *const *ascending,
                                  bool *fresh, bool *lowered)
{
    struct neighbour_pair *pairs = infer_array(infer, 2 * n, sizeof *pairs);
    TRY(infer_memory(infer));
    for (size_t round = 0; round < n; round++) {
        size_t m = 0;
        for (size_t i = 1; i < n; i++)
            if (fresh[i - 1] || fresh[i]) m = put_pairs(ascending[i - 1], ascending[i], pairs, m);
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
