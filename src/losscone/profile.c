/* profile.c: what the data allow of the potential: profiles, confidence sets and the bootstrap of their thresholds (entry/losscone_profile.h). */
#include "losscone/losscone.h"
#include "losscone/sizes.h"

#include <string.h>

/* Potentials of one launch at most: a job is one sweep with all of them. */
#define POTENTIALS_MOST 1024
/* Kernels answer it where they found nothing. */
#define NOTHING_FOUND 1e29

static double none(void) { return __builtin_nan(""); }

/* Cells that a misfit of these options needs. */
static unsigned least_cells(const paritas_losscone_options *options) { return options->method == PARITAS_LILLIS ? LOSSCONE_LEAST_CELLS : 1; }

static paritas_status check_inside(paritas_context *context, const paritas_losscone_options *options, const char *what, size_t index, double potential)
{
    if (potential >= options->potential_lower && potential <= options->potential_upper) return PARITAS_OK;
    return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "%s[%zu]: %g V lies outside the bounds %g to %g", what, index, potential, options->potential_lower, options->potential_upper);
}

/* ---- profiles ---- */

struct profiles {
    const paritas_sweeps *sweeps;
    size_t n_potentials, first, count; /* of all, and of this launch */
    unsigned least;
    double *misfit, *ratio, *amplitude;
};

static paritas_status fill_sweeps(paritas_context *context, void *user, size_t at, size_t n, double *in)
{
    const struct profiles *p = user;
    (void)context;
    for (size_t k = 0; k < n; k++) losscone_sweep_row(p->sweeps, at + k, in + k * SWEEP_SIZE);
    return PARITAS_OK;
}

static paritas_status take_profiles(paritas_context *context, void *user, size_t at, size_t n, const double *out)
{
    const struct profiles *p = user;
    (void)context;
    for (size_t k = 0; k < n; k++) {
        const double *answer = out + k * (PROFILE_OUT * p->count + 1);
        const unsigned cells = (unsigned)answer[PROFILE_OUT * p->count];
        for (size_t i = 0; i < p->count; i++, answer += PROFILE_OUT) {
            const size_t to = (at + k) * p->n_potentials + p->first + i;
            const bool found = cells >= p->least && answer[0] < NOTHING_FOUND;
            p->misfit[to] = found ? answer[0] : none();
            if (p->ratio) p->ratio[to] = found ? answer[1] : none();
            if (p->amplitude) p->amplitude[to] = found ? answer[2] : none();
        }
    }
    return PARITAS_OK;
}

paritas_status paritas_losscone_profile(paritas_context *context, const paritas_sweeps *sweeps, const paritas_losscone_options *given, size_t n_potentials, const double *potentials, double *misfit,
                                        double *ratio, double *amplitude)
{
    paritas_losscone_options options;
    struct losscone_tables tables;
    paritas_status status = losscone_options_read(context, given, &options);
    if (status == PARITAS_OK) status = losscone_sweeps_check(context, sweeps);
    if (status == PARITAS_OK && n_potentials > 0 && !potentials) status = paritas_fail(context, PARITAS_INVALID_ARGUMENT, "potentials: none given");
    for (size_t i = 0; i < n_potentials && status == PARITAS_OK; i++) status = check_inside(context, &options, "potentials", i, potentials[i]);
    if (status != PARITAS_OK || n_potentials == 0 || sweeps->n == 0) return status;
    if (!misfit) return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "misfit: no place given for it");
    losscone_options_tables(&options, &tables);
    struct profiles p = {.sweeps = sweeps, .n_potentials = n_potentials, .least = least_cells(&options), .misfit = misfit, .ratio = ratio, .amplitude = amplitude};
    for (; p.first < n_potentials && status == PARITAS_OK; p.first += p.count) {
        p.count = n_potentials - p.first < POTENTIALS_MOST ? n_potentials - p.first : POTENTIALS_MOST;
        const struct batch batch = {.module = &paritas_module_losscone,
                                    .tables = losscone_device_tables(&tables),
                                    .entry = ENTRY_losscone_profile,
                                    .n_in = SWEEP_SIZE,
                                    .n_out = PROFILE_OUT * p.count + 1,
                                    .n_shared = p.count,
                                    .shared = potentials + p.first,
                                    .slab = PROFILE_AT + PROFILE_SIZE,
                                    .args = {0, 0, 0, (uint32_t)p.count},
                                    .fill = fill_sweeps,
                                    .take = take_profiles,
                                    .user = &p};
        status = batch_run(context, context->device, &batch, sweeps->n);
    }
    return status;
}
