/* losscone.c: see losscone.h. */
#include "losscone/losscone.h"

#include <string.h>

#define ROWS PARITAS_SWEEP_ENERGIES
#define CELLS PARITAS_SWEEP_CELLS
_Static_assert(ROWS == SWEEP_ROWS && CELLS == SWEEP_CELLS, "the header and the kernels disagree on the size of a sweep");

static int finite(double x) { return x - x == 0.0; }

/* A word of one of the header's lists. */
#define WORD(name, value, word) \
    case value: return word;
const char *paritas_losscone_method_name(paritas_losscone_method method)
{
    switch ((int)method) {
        PARITAS_LOSSCONE_METHOD_LIST(WORD)
    default: return "unknown";
    }
}
const char *paritas_response_name(paritas_response response)
{
    switch ((int)response) {
        PARITAS_RESPONSE_LIST(WORD)
    default: return "unknown";
    }
}
const char *paritas_losscone_search_name(paritas_losscone_search search)
{
    switch ((int)search) {
        PARITAS_LOSSCONE_SEARCH_LIST(WORD)
    default: return "unknown";
    }
}
const char *paritas_sweep_status_name(paritas_sweep_status status)
{
    switch ((int)status) {
        PARITAS_SWEEP_LIST(WORD)
    default: return "unknown";
    }
}
#undef WORD

static paritas_status check_bounds(paritas_context *context, const char *what, double lower, double upper, double least)
{
    if (!(lower >= least && upper <= LOSSCONE_BOUND && lower <= upper))
        return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "bounds of %s: %.17g to %.17g is no interval between %g and %g", what, lower, upper, least, LOSSCONE_BOUND);
    return PARITAS_OK;
}

static paritas_status check_number(paritas_context *context, const char *what, double x, double least, double most)
{
    if (!(x >= least && x <= most)) return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "%s %.17g: must lie between %g and %g", what, x, least, most);
    return PARITAS_OK;
}

paritas_status losscone_options(paritas_context *context, const paritas_losscone_options *given, paritas_losscone_options *o)
{
    *o = (paritas_losscone_options)PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    if (given) memcpy(o, given, given->size < sizeof *o ? given->size : sizeof *o);
    if ((unsigned)o->method > PARITAS_LILLIS) return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "method %d: there is none of this number", (int)o->method);
    if ((unsigned)o->response > PARITAS_RESPONSE_FOLDED) return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "response %d: there is none of this number", (int)o->response);
    if ((unsigned)o->search > PARITAS_SEARCH_DE) return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "search %d: there is none of this number", (int)o->search);
    paritas_status status = check_bounds(context, "the potential", o->potential_lower, o->potential_upper, -LOSSCONE_BOUND);
    if (status == PARITAS_OK) status = check_bounds(context, "the ratio", o->ratio_lower, o->ratio_upper, 1e-6);
    if (status == PARITAS_OK) status = check_bounds(context, "the amplitude", o->amplitude_lower, o->amplitude_upper, 0.0);
    if (status == PARITAS_OK) status = check_number(context, "beam_width", o->beam_width, 0.0, LOSSCONE_BOUND);
    if (status == PARITAS_OK) status = check_number(context, "beam_sigma", o->beam_sigma, 0.0, LOSSCONE_BOUND);
    if (status == PARITAS_OK) status = check_number(context, "background", o->background, 1e-12, LOSSCONE_BOUND);
    if (status == PARITAS_OK) status = check_number(context, "response_width", o->response_width, 0.0, 0.99);
    if (status == PARITAS_OK) status = check_number(context, "box_limit", o->box_limit, 1.0, 1e9);
    if (status == PARITAS_OK) status = check_number(context, "population", o->population, 4.0, 65536.0);
    if (status == PARITAS_OK) status = check_number(context, "generations", o->generations, 1.0, 1e9);
    return status;
}

void losscone_tables(const paritas_losscone_options *o, struct losscone_tables *tables)
{
    *tables = (struct losscone_tables){{0}, {0}};
    const int folded = o->response == PARITAS_RESPONSE_FOLDED;
    uint32_t *ints = tables->ints;
    ints[LOSSCONE_METHOD] = o->method == PARITAS_LILLIS;
    ints[LOSSCONE_FOLDED] = (uint32_t)folded;
    ints[LOSSCONE_BOX_LIMIT] = o->box_limit;
    ints[LOSSCONE_POPULATION] = o->population;
    ints[LOSSCONE_GENERATIONS] = o->generations;
    ints[LOSSCONE_SEED] = (uint32_t)o->seed;
    ints[LOSSCONE_SEED + 1] = (uint32_t)(o->seed >> 32);
    double *reals = tables->reals;
    reals[LOSSCONE_U_LOWER] = o->potential_lower;
    reals[LOSSCONE_U_UPPER] = o->potential_upper;
    reals[LOSSCONE_R_LOWER] = o->ratio_lower;
    reals[LOSSCONE_R_UPPER] = o->ratio_upper;
    reals[LOSSCONE_A_LOWER] = folded ? 0.0 : o->amplitude_lower;
    reals[LOSSCONE_A_UPPER] = folded ? 0.0 : o->amplitude_upper;
    reals[LOSSCONE_BEAM_WIDTH] = o->beam_width;
    reals[LOSSCONE_BEAM_SIGMA] = o->beam_sigma;
    reals[LOSSCONE_BACKGROUND] = o->background;
    reals[LOSSCONE_RESPONSE] = o->response_width;
}

paritas_status losscone_sweeps_check(paritas_context *context, const paritas_sweeps *sweeps, int flux)
{
    if (!sweeps) return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "sweeps: none given");
    if (sweeps->n == 0) return PARITAS_OK;
    if (!sweeps->energy) return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "sweeps: no energies given");
    if (!sweeps->potential) return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "sweeps: no potentials of the spacecraft given");
    if (!sweeps->cosine) return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "sweeps: no cosines of pitch angles given");
    if (flux && !sweeps->flux) return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "sweeps: no fluxes given");
    return PARITAS_OK;
}

int losscone_row_is_known(const paritas_sweeps *sweeps, size_t sweep, size_t i)
{
    const double energy = sweeps->energy[sweep * ROWS + i];
    return energy > 0.0 && finite(energy) && finite(sweeps->potential[sweep * ROWS + i]);
}

int losscone_row_is_used(const paritas_sweeps *sweeps, size_t sweep, size_t i)
{
    return losscone_row_is_known(sweeps, sweep, i) && sweeps->energy[sweep * ROWS + i] >= sweeps->potential[sweep * ROWS + i];
}

static double clip(double x, double lower, double upper) { return x < lower ? lower : x > upper ? upper : x; }

void losscone_put_energies(const paritas_sweeps *sweeps, size_t sweep, size_t i, double *row)
{
    const int known = losscone_row_is_known(sweeps, sweep, i);
    row[SWEEP_ENERGY + i] = known ? clip(sweeps->energy[sweep * ROWS + i], 0.0, LOSSCONE_MOST_ENERGY) : 1.0;
    row[SWEEP_POTENTIAL + i] = known ? clip(sweeps->potential[sweep * ROWS + i], -LOSSCONE_MOST_ENERGY, LOSSCONE_MOST_ENERGY) : 0.0;
}

double losscone_cosine(double cosine) { return finite(cosine) ? clip(cosine, -1.0, 1.0) : 0.0; }

unsigned losscone_put_sweep(const paritas_sweeps *sweeps, size_t sweep, double *row)
{
    unsigned left = 0;
    memset(row, 0, SWEEP_SIZE * sizeof *row);
    for (size_t i = 0; i < ROWS; i++) {
        losscone_put_energies(sweeps, sweep, i, row);
        if (!losscone_row_is_used(sweeps, sweep, i)) continue;
        const double *cosine = sweeps->cosine + (sweep * ROWS + i) * CELLS, *flux = sweeps->flux + (sweep * ROWS + i) * CELLS;
        for (size_t j = 0; j < CELLS; j++) {
            if (!(finite(cosine[j]) && flux[j] > 0.0 && finite(flux[j]))) continue;
            row[SWEEP_COSINE + i * CELLS + j] = losscone_cosine(cosine[j]);
            row[SWEEP_FLUX + i * CELLS + j] = clip(flux[j], 0.0, LOSSCONE_MOST_FLUX);
            left++;
        }
    }
    return left;
}
