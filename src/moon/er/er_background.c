/* er_background.c: backgrounds of sweeps, from the rows of highest energy.
 *
 * A cell counts background at one rate, the same at all energies. Electrons of the highest energies fall as a
 * power of the energy. Counts N of a row have the mean mu = time (background + electrons) and the variance mu
 * + SYSTEMATIC mu^2. Where the electrons alone do not explain the rows, the likeliest background is found. */
#include "moon/er/er.h"

#include "base/math/host_math.h"
#include <math.h>

#define ROWS ((size_t)PARITAS_SWEEP_ROWS)
#define CELLS ((size_t)PARITAS_SWEEP_CELLS)
#define FLOOR_MOST 6 /* rows; a spectrum bends below */
#define FLOOR_LEAST 3
#define SYSTEMATIC 0.0125 /* squared, as kappa fits have it */
#define EVIDENCE 9.0      /* of a background: the misfit falls by this, at least */
#define STEPS 12          /* of a fit: its last one changes nothing that matters */
#define LEAST_MEAN 1e-6
/* The electrons' rate falls with this power of the energy. */
#define POWER_LEAST 1.0
#define POWER_MOST 8.0
#define POWER_STEP 0.5 /* and a fifth of it, twice */
#define POWER_ROUNDS 3

/* Rows by falling energy. */
struct top {
    unsigned n;
    double counts[FLOOR_MOST], time[FLOOR_MOST], log_energy[FLOOR_MOST];
};

/* Rates in counts/s of a cell, electrons at the highest energy. */
struct explained {
    double background, electrons, misfit;
};

static struct top top_rows(const paritas_er_day *day, const double *exposure, size_t k)
{
    struct top top = {.n = 0};
    double below = INFINITY;
    while (top.n < FLOOR_MOST) {
        size_t next = SIZE_MAX;
        for (size_t row = ROWS * k; row < ROWS * (k + 1); row++)
            if (day->row_reason[row] == PARITAS_ER_KEPT && day->energy[row] < below &&
                (next == SIZE_MAX || day->energy[row] > day->energy[next]))
                next = row;
        if (next == SIZE_MAX) break;
        const struct er_row_counts row = er_count_row(day, exposure, next);
        below = day->energy[next];
        if (!(row.time > 0.0)) continue;
        top.counts[top.n] = row.counts > 0.0 ? row.counts : 0.0;
        top.time[top.n] = row.time;
        top.log_energy[top.n++] = host_log(below);
    }
    return top;
}

/* Negative binomial, twice the logarithm of the likelihood below its best. */
static double misfit_of(const struct top *top, unsigned n, const double *mean)
{
    double sum = 0.0;
    for (unsigned i = 0; i < n; i++) {
        const double counts = top->counts[i];
        if (counts > 0.0) sum += counts * host_log(counts / mean[i]);
        sum -= (counts + 1.0 / SYSTEMATIC) *
               host_log((1.0 + SYSTEMATIC * counts) / (1.0 + SYSTEMATIC * mean[i]));
    }
    return 2.0 * sum;
}

/* The likeliest rates for this power, by weighted least squares with weights of the fit before. */
static struct explained explain_by(const struct top *top, unsigned n, bool covered, double power)
{
    double shape[FLOOR_MOST], mean[FLOOR_MOST];
    struct explained e = {0.0, 0.0, 0.0};
    for (unsigned i = 0; i < n; i++) {
        shape[i] = host_exp(power * (top->log_energy[0] - top->log_energy[i]));
        mean[i] = top->counts[i] + 1.0;
    }
    for (int step = 0; step < STEPS; step++) {
        double one = 0.0, x = 0.0, xx = 0.0, y = 0.0, xy = 0.0;
        for (unsigned i = 0; i < n; i++) {
            const double time = top->time[i], weight = time / (mean[i] * (1.0 + SYSTEMATIC * mean[i]));
            one += weight * time;
            x += weight * time * shape[i];
            xx += weight * time * shape[i] * shape[i];
            y += weight * top->counts[i];
            xy += weight * top->counts[i] * shape[i];
        }
        const double size = xx * one - x * x, background = (xx * y - x * xy) / size;
        e.background = covered && background > 0.0 ? background : 0.0;
        e.electrons = (xy - e.background * x) / xx;
        if (e.electrons < 0.0) e = (struct explained){y / one, 0.0, 0.0};
        for (unsigned i = 0; i < n; i++) {
            const double expected = top->time[i] * (e.background + e.electrons * shape[i]);
            mean[i] = expected > LEAST_MEAN ? expected : LEAST_MEAN;
        }
    }
    e.misfit = misfit_of(top, n, mean);
    return e;
}

/* The likeliest power's, on a grid that becomes finer about it. */
static struct explained explain(const struct top *top, unsigned n, bool covered)
{
    struct explained best = {.misfit = INFINITY};
    double at = 0.5 * (POWER_LEAST + POWER_MOST), reach = 0.5 * (POWER_MOST - POWER_LEAST), step = POWER_STEP;
    for (int round = 0; round < POWER_ROUNDS; round++, reach = 0.8 * step, step *= 0.2) {
        const double middle = at;
        for (double power = middle - reach; power < middle + reach + 0.5 * step; power += step) {
            if (power < POWER_LEAST) continue;
            const struct explained e = explain_by(top, n, covered, power);
            if (!(e.misfit < best.misfit)) continue;
            best = e;
            at = power;
        }
    }
    return best;
}

/* Takes the most rows that a background and a power explain. */
static double background_of(const struct top *top)
{
    for (unsigned n = top->n; n >= FLOOR_LEAST; n--) {
        const struct explained covered = explain(top, n, true);
        const double spare = n - FLOOR_LEAST, most = spare + 2.0 * host_sqrt(2.0 * spare);
        if (n > FLOOR_LEAST && covered.misfit > most) continue;
        if (covered.background == 0.0) return 0.0;
        return explain(top, n, false).misfit - covered.misfit >= EVIDENCE ? covered.background : 0.0;
    }
    return 0.0;
}

paritas_status paritas_er_find_background(paritas_context *context, const paritas_er_day *day,
                                          const double theta[PARITAS_SWEEP_CELLS], double *rate)
{
    REQUIRE(context, day, theta, rate);
    double exposure[PARITAS_SWEEP_CELLS];
    paritas_er_exposures(theta, exposure);
    for (size_t k = 0; k < day->n; k++) {
        const struct top top = top_rows(day, exposure, k);
        rate[k] = background_of(&top);
    }
    return PARITAS_OK;
}

paritas_status paritas_er_subtract_background(paritas_context *context, paritas_er_day *day,
                                              const double *rate)
{
    REQUIRE(context, day, rate);
    for (size_t cell = 0; cell < ROWS * CELLS * day->n; cell++) {
        const double found = rate[cell / (ROWS * CELLS)];
        if (found > 0.0)
            day->flux[cell] -= found / (PARITAS_SWEEP_GEOMETRIC_FACTOR * day->energy[cell / CELLS]);
    }
    return PARITAS_OK;
}
