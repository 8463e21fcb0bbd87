/* losscone_beam.c: electron beams along the field, accelerated by the surface potential. */
#include "base/sized.h"
#include "moon/losscone/losscone.h"

#include <math.h>

#define COSINE_150 (-0.86602540378443865)
#define CELLS_LEAST 5
#define ENERGY_LEAST 20.0 /* eV: search for beams from here */
#define ENERGY_MOST 500.0
#define ENERGY_HIGH 400.0 /* no beam above this or twice its energy, whichever is larger */
#define PEAK_LEAST 2.0
#define PEAK_OVER_NEIGHBOURS 1.2
#define NEIGHBOUR_LEAST 1.5
#define WIDTH_MOST 4
#define HIGH_MOST 0.5

struct profile {
    size_t row[PARITAS_SWEEP_ROWS_MOST];
    double energy[PARITAS_SWEEP_ROWS_MOST], mean[PARITAS_SWEEP_ROWS_MOST]; /* NaN: too few cells */
    size_t n;
};

static double mean_along_field(size_t n, const double *cosine, const double *flux)
{
    double sum = 0.0;
    int cells = 0;
    for (size_t j = 0; j < n; j++) {
        if (!(cosine[j] <= COSINE_150 && cosine[j] >= -1.0 && flux[j] >= 0.0 && isfinite(flux[j]))) continue;
        sum += flux[j];
        cells++;
    }
    return cells >= CELLS_LEAST ? sum / cells : NAN;
}

static void profile_of(const paritas_sweeps *sweeps, size_t k, struct profile *p)
{
    p->n = 0;
    for (size_t i = 0; i < sweeps->rows; i++) {
        const double energy = sweeps->energy[k * sweeps->rows + i];
        if (!(energy > 0.0 && isfinite(energy))) continue;
        size_t at = p->n++;
        for (; at > 0 && p->energy[at - 1] > energy; at--) {
            p->row[at] = p->row[at - 1];
            p->energy[at] = p->energy[at - 1];
        }
        p->row[at] = i;
        p->energy[at] = energy;
    }
    for (size_t i = 0; i < p->n; i++) {
        const size_t at = (k * sweeps->rows + p->row[i]) * sweeps->cells;
        p->mean[i] = mean_along_field(sweeps->cells, sweeps->cosine + at, sweeps->flux + at);
    }
}

/* Comparisons with unknown (NaN) means are false. */
static int is_beam(const struct profile *p, size_t at)
{
    if (at == 0 || at + 1 >= p->n) return 0;
    const double peak = p->mean[at], before = p->mean[at - 1], after = p->mean[at + 1];
    if (!(peak >= PEAK_LEAST && peak >= PEAK_OVER_NEIGHBOURS * before &&
          peak >= PEAK_OVER_NEIGHBOURS * after))
        return 0;
    if (!(before >= NEIGHBOUR_LEAST || after >= NEIGHBOUR_LEAST)) return 0;
    size_t first = at, last = at;
    while (first > 0 && p->mean[first - 1] >= 0.5 * peak) first--;
    while (last + 1 < p->n && p->mean[last + 1] >= 0.5 * peak) last++;
    if (last - first + 1 > WIDTH_MOST) return 0;
    const double high = 2.0 * p->energy[at] > ENERGY_HIGH ? 2.0 * p->energy[at] : ENERGY_HIGH;
    double sum = 0.0;
    int rows = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (!(p->energy[i] > high && p->mean[i] >= 0.0)) continue;
        sum += p->mean[i];
        rows++;
    }
    return rows == 0 || sum / rows <= HIGH_MOST * peak;
}

paritas_status paritas_losscone_beam(paritas_context *context, const paritas_sweeps *given_sweeps,
                                     paritas_beam *beams)
{
    REQUIRE_AS(context, "sweeps", given_sweeps);
    paritas_sweeps sweeps;
    const struct losscone_grid *grid;
    TRY(losscone_sweeps_read(context, given_sweeps, true, &sweeps, &grid));
    TRY(SIZED_CHECK(context, paritas_beam, "beams", sweeps.n, beams));
    for (size_t k = 0; k < sweeps.n; k++) {
        struct profile p;
        profile_of(&sweeps, k, &p);
        size_t best = p.n;
        for (size_t i = 0; i < p.n; i++)
            if (p.energy[i] >= ENERGY_LEAST && p.energy[i] <= ENERGY_MOST && p.mean[i] >= 0.0 &&
                (best == p.n || p.mean[i] > p.mean[best]))
                best = i;
        beams[k] = (paritas_beam){.size = sizeof *beams, .energy = NAN, .ratio = NAN, .potential = NAN};
        if (best == p.n || !is_beam(&p, best)) continue;
        beams[k].found = 1;
        beams[k].row = (unsigned)p.row[best];
        beams[k].energy = p.energy[best];
        beams[k].ratio = p.mean[best];
        beams[k].potential = sweeps.potential[k * sweeps.rows + p.row[best]] - p.energy[best];
    }
    return PARITAS_OK;
}
