/* spectra.h: what the tests of electron spectra share: contexts, numbers of reference cases, the sensor's
 * cells, noise. */
#ifndef PARITAS_TESTS_KAPPA_SPECTRA_H
#define PARITAS_TESTS_KAPPA_SPECTRA_H

#include "paritas_kappa.h"
#include "reference.h"

#define ROWS PARITAS_SWEEP_ROWS
#define CELLS PARITAS_SWEEP_CELLS
#define PI 3.14159265358979323846

static inline paritas_context *open_with(const char *isa, unsigned lanes, unsigned threads,
                                         unsigned precision)
{
    paritas_context *context = open_context(isa, precision, threads, lanes);
    assert_non_null(context);
    return context;
}

/* Does this build have that instruction set, and the processor? */
static inline int runs(const char *isa, unsigned precision)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.isa = isa;
    options.precision = precision;
    paritas_context *context = open_if_built(options);
    paritas_close(context);
    return context != NULL;
}

static inline double number(const struct json *object, const char *key)
{
    const struct json *found = json_get(object, key);
    assert_true(json_is(found, JSON_NUMBER));
    return found->number;
}
static inline size_t numbers(const struct json *array, size_t room, double *to)
{
    assert_true(json_is(array, JSON_ARRAY));
    assert_true(array->count <= room);
    for (size_t i = 0; i < array->count; i++) to[i] = json_at(array, i)->number;
    return array->count;
}

/* Cells in the order of latitude: inclination and azimuth in degrees. */
static inline void make_cells(double theta[CELLS], double phi[CELLS])
{
    static const struct {
        double theta;
        int cells;
    } rings[] = {{11.25, 16}, {33.75, 16}, {56.25, 8}, {78.75, 4}};
    size_t c = 0;
    for (size_t r = 0; r < COUNT(rings); r++)
        for (int side = 1; side >= -1; side -= 2)
            for (int k = 0; k < rings[r].cells; k++, c++) {
                theta[c] = side * rings[r].theta;
                phi[c] = k * 360.0 / rings[r].cells;
            }
}
/* Cosines of the pitch angles with the field `b` for one row; the sign is the polarity. */
static inline void make_cosines(const double b[3], double sign, double cosine[CELLS])
{
    double theta[CELLS], phi[CELLS];
    const double size = sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2]);
    make_cells(theta, phi);
    for (size_t c = 0; c < CELLS; c++) {
        const double t = theta[c] * PI / 180, p = phi[c] * PI / 180;
        cosine[c] = sign * (cos(p) * cos(t) * b[0] + sin(p) * cos(t) * b[1] + sin(t) * b[2]) / size;
    }
}

static inline void make_some_energies(size_t rows, double first, double last, double *energy)
{
    for (size_t i = 0; i < rows; i++) energy[i] = first * pow(last / first, (double)i / ((double)rows - 1));
}
static inline void make_energies(double first, double last, double energy[ROWS])
{
    make_some_energies(ROWS, first, last, energy);
}

/* Counts behind a flux of 1, about as the sensor has them. */
#define SENSITIVITY 0.013
static inline void make_sensitivity(const double energy[ROWS], double sensitivity[ROWS])
{
    for (size_t i = 0; i < ROWS; i++) sensitivity[i] = SENSITIVITY * energy[i];
}

/* ---- noise ---- */

static inline double uniform(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}
static inline double normal(uint64_t *state)
{
    const double size = sqrt(-2 * log(uniform(state)));
    return size * cos(2 * PI * uniform(state));
}
/* Counted one by one below 60, else rounded from a normal number, which there is as good. */
static inline double poisson(uint64_t *state, double mean)
{
    if (mean > 60) return fmax(0, floor(mean + sqrt(mean) * normal(state) + 0.5));
    double n = 0, product = uniform(state);
    for (const double least = exp(-mean); product > least; n++) product *= uniform(state);
    return n;
}
/* Marsaglia and Tsang, ACM Trans. Math. Software 26 (2000) 363; shape above 1, mean 1. */
static inline double gamma_noise(uint64_t *state, double shape)
{
    const double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        const double x = normal(state), v = (1 + c * x) * (1 + c * x) * (1 + c * x);
        if (v > 0 && log(uniform(state)) < 0.5 * x * x + d - d * v + d * log(v)) return d * v / shape;
    }
}

#endif
