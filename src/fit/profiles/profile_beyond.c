/* profile_beyond.c: free fits that ended on an upper bound which gives way (profile_beyond.h). */
#include "fit/profiles/profile_beyond.h"
#include "fit/profiles/profiles.h"

#include <string.h>

/* Rows that are fitted again. */
struct beyond {
    size_t n, *which;
    double *rows, *ends, *upper;
    struct profile *profiles;
};

bool profiles_need_ends(const struct profile_plan *plan)
{
    const struct widening *w = plan->widening;
    return w && w->n > 0 && !(w->n == 1 && (ptrdiff_t)w->pois[0] == plan->poi);
}

static bool is_cut(const struct profile_plan *plan, const struct profile *profile, const double *end,
                   const double *upper)
{
    const struct widening *w = plan->widening;
    if (end) return widening_is_met(w, plan->fixed, end, upper);
    return plan->poi >= 0 && widening_meets(w, (size_t)plan->poi, plan->fixed, profile->mu_hat, upper);
}

static size_t list_cut(const struct profile_plan *plan, size_t n, const size_t *from,
                       const struct profile *profiles, const double *ends, const double *upper, size_t *which)
{
    const size_t p = paritas_model_parameter_count(plan->model);
    size_t cut = 0;
    for (size_t k = 0; k < n; k++) {
        const size_t i = from ? from[k] : k;
        if (is_cut(plan, &profiles[i], ends ? ends + i * p : NULL, upper)) which[cut++] = i;
    }
    return cut;
}

static paritas_status fit_again(paritas_context *context, const struct profile_plan *plan,
                                const struct beyond *b, const double *data, struct profile *profiles,
                                double *ends)
{
    const struct frozen *model = paritas_model_frozen(plan->model);
    const size_t places = model->n_places, p = model->n_parameters;
    struct profile_plan wider = *plan;
    wider.upper = b->upper;
    wider.known = NULL; /* they are on the old bounds */
    for (size_t k = 0; k < b->n; k++)
        memcpy(b->rows + k * places, data + b->which[k] * places, places * sizeof *data);
    TRY(profiles_fit(context, &wider, b->n, b->rows, b->profiles, b->ends));
    for (size_t k = 0; k < b->n; k++) {
        const size_t i = b->which[k];
        b->profiles[k].iterations += profiles[i].iterations;
        profiles[i] = b->profiles[k];
        if (ends) memcpy(ends + i * p, b->ends + k * p, p * sizeof *ends);
    }
    return PARITAS_OK;
}

static paritas_status go_beyond(paritas_context *context, const struct profile_plan *plan, struct beyond *b,
                                const double *data, struct profile *profiles, double *ends)
{
    const struct widening *w = plan->widening;
    while (b->n > 0) {
        for (size_t k = 0; k < w->n; k++) widening_doubles(w, w->pois[k], b->upper);
        TRY(fit_again(context, plan, b, data, profiles, ends));
        b->n = list_cut(plan, b->n, b->which, profiles, ends, b->upper, b->which);
    }
    return PARITAS_OK;
}

paritas_status profiles_go_beyond(paritas_context *context, const struct profile_plan *plan, size_t n,
                                  const double *data, struct profile *profiles, double *ends)
{
    const struct frozen *model = paritas_model_frozen(plan->model);
    const size_t p = model->n_parameters;
    if (!plan->widening) return PARITAS_OK;
    struct beyond b = {.which = paritas_allocate(context, n + 1, sizeof *b.which)};
    if (!b.which) return paritas_fail_memory(context);
    b.n = list_cut(plan, n, NULL, profiles, ends, plan->upper, b.which);
    if (b.n > 0) {
        b.rows = paritas_allocate(context, b.n * model->n_places + 1, sizeof *b.rows);
        b.ends = ends ? paritas_allocate(context, b.n * p + 1, sizeof *b.ends) : NULL;
        b.upper = paritas_allocate(context, p + 1, sizeof *b.upper);
        b.profiles = paritas_allocate(context, b.n, sizeof *b.profiles);
    }
    const bool whole = b.n == 0 || (b.rows && b.upper && b.profiles && (b.ends || !ends));
    if (whole && b.n > 0) memcpy(b.upper, plan->upper, p * sizeof *b.upper);
    const paritas_status status =
        whole ? go_beyond(context, plan, &b, data, profiles, ends) : paritas_fail_memory(context);
    paritas_release(&context->allocator, b.which);
    paritas_release(&context->allocator, b.rows);
    paritas_release(&context->allocator, b.ends);
    paritas_release(&context->allocator, b.upper);
    paritas_release(&context->allocator, b.profiles);
    return status;
}
