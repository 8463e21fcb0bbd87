/* synthetic.h: sweeps of a known truth for tests and benchmarks: the instrument's 88 directions on a spinning
 * spacecraft, a model, noise. */
#ifndef PARITAS_TESTS_LOSSCONE_SYNTHETIC_H
#define PARITAS_TESTS_LOSSCONE_SYNTHETIC_H

#include "paritas_losscone.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS PARITAS_SWEEP_ROWS
#define CELLS PARITAS_SWEEP_CELLS
#define DEGREES 57.29577951308232

struct synthetic {
    size_t n;
    double *energy, *potential, *cosine, *flux;
    double (*truth)[3]; /* U, r, A */
    double *noise;
};

/* Knuth's 64-bit linear congruential generator: uniform in (0, 1). */
static inline double draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}
static inline double between(uint64_t *state, double low, double high)
{
    return low + (high - low) * draw(state);
}
static inline double draw_normal(uint64_t *state)
{
    const double size = sqrt(-2.0 * log(draw(state)));
    return size * cos(6.283185307179586 * draw(state));
}

/* The instrument's directions: inclination and azimuth in degrees. */
static inline void synthetic_directions(double theta[CELLS], double phi[CELLS])
{
    const double inclinations[4] = {11.25, 33.75, 56.25, 78.75};
    const int around[4] = {16, 16, 8, 4};
    int j = 0;
    for (int k = 0; k < 4; k++)
        for (int sign = 1; sign >= -1; sign -= 2)
            for (int l = 0; l < around[k]; l++, j++) {
                theta[j] = sign * inclinations[k];
                phi[j] = 360.0 * l / around[k];
            }
}

/* Cosines of one sweep: field b (any length), azimuths turned by `offset` + 7.5 degrees a row. */
static inline void pitch_cosines(const double b[3], double offset, double *cosine)
{
    double theta[CELLS], phi[CELLS];
    const double size = sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2]);
    synthetic_directions(theta, phi);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < CELLS; j++) {
            const double t = theta[j] / DEGREES, p = fmod(phi[j] + offset + 7.5 * i, 360.0) / DEGREES;
            const double c = (cos(p) * cos(t) * b[0] + sin(p) * cos(t) * b[1] + sin(t) * b[2]) / size;
            cosine[i * CELLS + j] = c > 1.0 ? 1.0 : c < -1.0 ? -1.0 : c;
        }
}

/* The model of a cell by the formula of the specification, with arcsine and angles. */
static inline double model_of(double energy, double spacecraft, double cosine, double u, double r, double a,
                              int folded, const paritas_losscone_options *o)
{
    const double theta = acos(cosine) * DEGREES;
    double model = 0.0;
    for (int n = folded ? -2 : 0; n <= (folded ? 2 : 0); n++) {
        double e = energy * (1.0 + 0.5 * n * o->response_width) - spacecraft;
        if (e < 1e-12) e = 1e-12;
        double x = r * (1.0 + u / e);
        x = x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
        model += (theta <= 180.0 - asin(sqrt(x)) * DEGREES ? 1.0 : o->background) / (folded ? 5 : 1);
    }
    const double d = spacecraft - u;
    if (!folded && a > 0.0 && o->beam_width > 0.0 && d > 0.0) {
        const double t = (energy - (d > o->beam_width ? d : o->beam_width)) / o->beam_width,
                     v = (theta - 180.0) / o->beam_sigma;
        model += a * exp(-0.5 * t * t) * (o->beam_sigma > 0.0 ? exp(-0.5 * v * v) : 1.0);
    }
    return model;
}

/* The misfit of a sweep by the same formula, a plain sum. */
static inline double misfit_of(const struct synthetic *s, size_t k, double u, double r, double a,
                               const paritas_losscone_options *o)
{
    double sum = 0.0;
    for (int i = 0; i < ROWS; i++) {
        const double energy = s->energy[k * ROWS + i], spacecraft = s->potential[k * ROWS + i];
        if (!(energy > 0.0) || !(energy >= spacecraft)) continue;
        for (int j = 0; j < CELLS; j++) {
            const double flux = s->flux[(k * ROWS + i) * CELLS + j],
                         cosine = s->cosine[(k * ROWS + i) * CELLS + j];
            if (!(flux > 0.0) || !isfinite(flux) || isnan(cosine)) continue;
            const double model = model_of(energy, spacecraft, cosine, u, r, a,
                                          o->response == PARITAS_LOSSCONE_RESPONSE_FOLDED, o);
            const double away = o->method == PARITAS_LOSSCONE_METHOD_LILLIS
                                    ? flux - model
                                    : log(flux + 1e-6) - log(model + 1e-6);
            sum += away * away;
        }
    }
    return sum;
}

static inline void synthetic_free(struct synthetic *s)
{
    free(s->energy), free(s->potential), free(s->cosine), free(s->flux), free(s->truth), free(s->noise);
}

static inline struct synthetic synthetic_room(size_t n)
{
    struct synthetic s = {n, NULL, NULL, NULL, NULL, NULL, NULL};
    s.energy = malloc(n * ROWS * sizeof(double)), s.potential = malloc(n * ROWS * sizeof(double));
    s.cosine = malloc(n * ROWS * CELLS * sizeof(double)), s.flux = malloc(n * ROWS * CELLS * sizeof(double));
    s.truth = malloc(n * sizeof *s.truth), s.noise = malloc(n * sizeof(double));
    if (!s.energy || !s.potential || !s.cosine || !s.flux || !s.truth || !s.noise) abort();
    return s;
}

/* n sweeps: U from `lowest` to -10 V, r .4 to 1.05, A 0 to 2 in half of them (none where folded), spacecraft
 * at 5 to 15 V, noise of the logarithms .1 to .3. */
static inline struct synthetic synthetic_sweeps(size_t n, uint64_t seed, double lowest,
                                                const paritas_losscone_options *o)
{
    struct synthetic s = synthetic_room(n);
    const int folded = o->response == PARITAS_LOSSCONE_RESPONSE_FOLDED;
    for (size_t k = 0; k < n; k++) {
        uint64_t state = seed * 0x9e3779b97f4a7c15u + k * 0xd1342543de82ef95u + 1;
        for (int i = 0; i < 8; i++) draw(&state);
        double b[3];
        for (int i = 0; i < 3; i++) b[i] = draw_normal(&state);
        const double spacecraft = between(&state, 5.0, 15.0);
        pitch_cosines(b, between(&state, 0.0, 360.0), s.cosine + k * ROWS * CELLS);
        const double u = between(&state, lowest, -10.0), r = between(&state, 0.4, 1.05),
                     a = draw(&state) < 0.5 ? 0.0 : between(&state, 0.0, 2.0);
        s.truth[k][0] = u, s.truth[k][1] = r, s.truth[k][2] = folded ? 0.0 : a;
        s.noise[k] = between(&state, 0.1, 0.3);
        for (int i = 0; i < ROWS; i++) {
            const double energy = 38.641 * pow(16680.334 / 38.641, i / 14.0);
            s.energy[k * ROWS + i] = energy;
            s.potential[k * ROWS + i] = spacecraft;
            for (int j = 0; j < CELLS; j++) {
                const size_t at = (k * ROWS + (size_t)i) * CELLS + (size_t)j;
                s.flux[at] = model_of(energy, spacecraft, s.cosine[at], u, r, s.truth[k][2], folded, o) *
                             exp(s.noise[k] * draw_normal(&state));
            }
        }
    }
    return s;
}

static inline paritas_sweeps sweeps_of(const struct synthetic *s)
{
    return (paritas_sweeps){.size = sizeof(paritas_sweeps),
                            .n = s->n,
                            .energy = s->energy,
                            .potential = s->potential,
                            .cosine = s->cosine,
                            .flux = s->flux};
}

/* Lillis's mask (specification, section 2): cells between 0.07 and 0.79 of the row's largest incident flux
 * stay. */
static inline void mask_lillis(struct synthetic *s)
{
    for (size_t row = 0; row < s->n * ROWS; row++) {
        double *flux = s->flux + row * CELLS, most = 0.0;
        const double *cosine = s->cosine + row * CELLS;
        for (int j = 0; j < CELLS; j++)
            if (cosine[j] > 0.0 && flux[j] > most) most = flux[j];
        for (int j = 0; j < CELLS; j++)
            if (!(flux[j] > 0.07 * most && flux[j] < 0.79 * most)) flux[j] = NAN;
    }
}

#endif
