/* cases.h: what the tests of loss cones share: numbers of reference cases, sweeps to try. */
#ifndef PARITAS_TESTS_LOSSCONE_CASES_H
#define PARITAS_TESTS_LOSSCONE_CASES_H

#include "paritas_losscone.h"
#include "reference.h"

#define ROWS PARITAS_SWEEP_ROWS
#define CELLS PARITAS_SWEEP_CELLS
#define ALL (ROWS * CELLS)

/* Memory or the end of the test. */
static inline void *make_array(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (!memory) fail_msg("no memory");
    return memory;
}

/* ---- cases.json: numbers; null is NaN ---- */

static inline double number(const struct json *node)
{
    assert_non_null(node);
    return node->type == JSON_NUMBER ? node->number : (double)NAN;
}
static inline double number_of(const struct json *object, const char *key)
{
    return number(json_get(object, key));
}

/* The numbers of an array, nested or not, in order. */
static inline size_t numbers(const struct json *node, double *to, size_t most)
{
    assert_non_null(node);
    size_t n = 0;
    for (const struct json *child = node->first; child; child = child->next) {
        if (child->type == JSON_ARRAY)
            n += numbers(child, to + n, most - n);
        else {
            assert_true(n < most);
            to[n++] = number(child);
        }
    }
    return n;
}
static inline void numbers_of(const struct json *object, const char *key, double *to, size_t count)
{
    assert_int_equal(numbers(json_get(object, key), to, count), count);
}

/* ---- sweeps ---- */

/* Owned arrays of n sweeps; `sweeps` borrows them. */
struct data {
    paritas_sweeps sweeps;
    double *energy, *potential, *cosine, *flux;
};

static inline struct data make_data(size_t n)
{
    struct data d;
    d.energy = make_array(n * ROWS, sizeof(double));
    d.potential = make_array(n * ROWS, sizeof(double));
    d.cosine = make_array(n * ALL, sizeof(double));
    d.flux = make_array(n * ALL, sizeof(double));
    d.sweeps = (paritas_sweeps){.size = sizeof(paritas_sweeps),
                                .n = n,
                                .energy = d.energy,
                                .potential = d.potential,
                                .cosine = d.cosine,
                                .flux = d.flux};
    return d;
}

static inline void free_data(struct data *d)
{
    free(d->energy);
    free(d->potential);
    free(d->cosine);
    free(d->flux);
}

/* Evenly in 0 .. 1. */
static inline double uniform(uint64_t *random)
{
    uint64_t z = *random += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}
static inline double normal(uint64_t *random)
{
    const double u = uniform(random), v = uniform(random);
    return sqrt(-2.0 * log(1.0 - u)) * cos(6.283185307179586 * v);
}

/* The n sweeps from number `first` on. */
static inline paritas_sweeps part_of(const struct data *d, size_t first, size_t n)
{
    return (paritas_sweeps){.size = sizeof(paritas_sweeps),
                            .n = n,
                            .energy = d->energy + first * ROWS,
                            .potential = d->potential + first * ROWS,
                            .cosine = d->cosine + first * ALL,
                            .flux = d->flux + first * ALL};
}

/* Contexts that must give the same bits, one after the other: instruction sets, each with one thread and with
 * three; start with *at = 0, NULL after the last. */
static inline paritas_context *next_context(unsigned precision, size_t *at)
{
    static const char *const isas[] = {"portable", "avx2", "avx512", "neon"};
    while (*at < 2 * COUNT(isas)) {
        const size_t way = (*at)++;
        paritas_context *context = open_context(isas[way / 2], precision, way % 2 ? 3 : 1, 0);
        if (context) return context;
    }
    return NULL;
}

/* The instrument's 88 directions as the reference numbers order them: by |theta|, + before -. */
static inline void directions(double *theta, double *phi)
{
    static const double angles[4] = {11.25, 33.75, 56.25, 78.75};
    static const int many[4] = {16, 16, 8, 4};
    size_t n = 0;
    for (int l = 0; l < 4; l++)
        for (int sign = 1; sign >= -1; sign -= 2)
            for (int k = 0; k < many[l]; k++) {
                theta[n] = sign * angles[l];
                phi[n++] = 360.0 * k / many[l];
            }
}

/* A sweep of the chunks of case 7 into the only one of `d`: its fluxes normalised. */
static inline void read_chunk(paritas_context *context, const struct json *seven, const struct json *chunk,
                              struct data *d)
{
    double theta[CELLS], phi[CELLS], b[3], field[3 * ROWS], polarity[ROWS], azimuth[ALL];
    directions(theta, phi);
    numbers_of(seven, "E", d->energy, ROWS);
    numbers_of(chunk, "B", b, 3);
    numbers_of(chunk, "flux", d->flux, ALL);
    for (int i = 0; i < ROWS; i++) {
        polarity[i] = number_of(chunk, "polarity");
        d->potential[i] = number_of(chunk, "Usc");
        memcpy(field + 3 * i, b, sizeof b);
        for (int j = 0; j < CELLS; j++)
            azimuth[i * CELLS + j] = fmod(phi[j] + number_of(chunk, "phi_offset") + 7.5 * i, 360.0);
    }
    ASSERT_OK(context,
              paritas_losscone_cosines(context, 1, NULL, theta, field, polarity, azimuth, d->cosine));
    ASSERT_OK(context, paritas_losscone_normalise(context, 1, NULL, PARITAS_NORMALISATION_RATIO, d->cosine,
                                                  d->flux, d->flux));
}

/* The profile of a chunk without beam, the least on a grid of r. */
enum { CHUNK_POTENTIALS = 32 };
static inline void read_chunk_profile(const struct json *chunk, double potentials[CHUNK_POTENTIALS],
                                      double least[CHUNK_POTENTIALS])
{
    const struct json *profile = json_get(chunk, "beamless_profile");
    numbers_of(profile, "U", potentials, CHUNK_POTENTIALS);
    numbers_of(profile, "min_over_r_grid_0.30_1.10_step_0.01", least, CHUNK_POTENTIALS);
}

/* A truth: what a sweep was made from. */
struct truth {
    double potential, ratio, amplitude, spacecraft, noise;
};

/* Sweep k from a random truth: energies from 38.6 eV on, azimuths that turn by 7.5 degrees a row, any field,
 * log-normal noise. The model is of `options` (NULL: the defaults). Some potentials differ from row to row,
 * some cells have no data. */
static inline struct truth make_sweep(paritas_context *context, const paritas_losscone_options *options,
                                      struct data *d, size_t k, uint64_t *random)
{
    double theta[CELLS], phi[CELLS], field[3 * ROWS], polarity[ROWS], azimuth[ALL], point[3];
    directions(theta, phi);
    struct truth truth;
    truth.potential = -400.0 + 390.0 * uniform(random);
    truth.ratio = 0.4 + 0.65 * uniform(random);
    truth.amplitude = uniform(random) < 0.5 ? 0.0 : 2.0 * uniform(random);
    truth.spacecraft = 5.0 + 10.0 * uniform(random);
    truth.noise = 0.1 + 0.2 * uniform(random);
    const double offset = 360.0 * uniform(random);
    double b[3];
    for (int i = 0; i < 3; i++) b[i] = normal(random);
    const double sign = uniform(random) < 0.5 ? -1.0 : 1.0;
    const int uneven = uniform(random) < 0.2;
    for (int i = 0; i < ROWS; i++) {
        d->energy[k * ROWS + i] = 38.641 * pow(16680.334 / 38.641, i / 14.0);
        d->potential[k * ROWS + i] = truth.spacecraft + (uneven ? 0.1 * i : 0.0);
        polarity[i] = sign;
        for (int c = 0; c < 3; c++) field[3 * i + c] = b[c];
        for (int j = 0; j < CELLS; j++) azimuth[i * CELLS + j] = fmod(phi[j] + offset + 7.5 * i, 360.0);
    }
    ASSERT_OK(context, paritas_losscone_cosines(context, 1, NULL, theta, field, polarity, azimuth,
                                                d->cosine + k * ALL));
    const paritas_sweeps one = {.size = sizeof(paritas_sweeps),
                                .n = 1,
                                .energy = d->energy + k * ROWS,
                                .potential = d->potential + k * ROWS,
                                .cosine = d->cosine + k * ALL};
    point[0] = truth.potential;
    point[1] = truth.ratio;
    point[2] = truth.amplitude;
    ASSERT_OK(context, paritas_losscone_model(context, &one, options, point, d->flux + k * ALL, NULL));
    for (int c = 0; c < ALL; c++) d->flux[k * ALL + c] *= exp(truth.noise * normal(random));
    for (int c = 0; c < ALL; c++)
        if (uniform(random) < 0.02) d->flux[k * ALL + c] = (double)NAN;
    return truth;
}

#endif
