/* plasmas.h: sets of electron spectra whose truth is known, for the tests of fits. */
#ifndef PARITAS_TESTS_KAPPA_PLASMAS_H
#define PARITAS_TESTS_KAPPA_PLASMAS_H

#include "spectra.h"

struct set {
    size_t n, rows;
    paritas_kappa_plasma *truth;
    double *energy, *flux, *sensitivity, *counts;
    paritas_spectra spectra;
};

static inline void *room_for(size_t n)
{
    void *room = calloc(n, sizeof(double));
    assert_non_null(room);
    return room;
}

/* n plasmas between the bounds; of every fifth spectrum the energies are others. systematic below 0: no noise
 * at all, else the relative width of a gamma noise under counts of Poisson. */
static inline struct set make_set_of(size_t rows, size_t n, uint64_t seed, double systematic)
{
    struct set set = {n,
                      rows,
                      room_for(3 * n),
                      room_for(n * rows),
                      room_for(n * rows),
                      room_for(n * rows),
                      room_for(n * rows),
                      {0}};
    paritas_context *context = open_with(NULL, 0, 1, 64);
    for (size_t k = 0; k < n; k++) {
        double *energy = set.energy + k * rows, *flux = set.flux + k * rows,
               *sensitivity = set.sensitivity + k * rows;
        paritas_kappa_plasma *p = &set.truth[k];
        p->density = pow(10, 4.5 + 2.5 * uniform(&seed));
        p->kappa = 2.6 + 3.2 * uniform(&seed);
        p->theta = pow(10, 6.2 + 1.3 * uniform(&seed));
        make_some_energies(rows, k % 5 ? 20 : 38.641, k % 5 ? 20000 : 16680.334, energy);
        for (size_t i = 0; i < rows; i++) sensitivity[i] = SENSITIVITY * energy[i];
        ASSERT_OK(context, paritas_kappa_flux(context, 1, p, rows, energy, flux));
        for (size_t i = 0; i < rows; i++) {
            double mean = sensitivity[i] * flux[i];
            if (systematic > 0) mean *= gamma_noise(&seed, 1 / (systematic * systematic));
            if (systematic >= 0) flux[i] = poisson(&seed, mean) / sensitivity[i];
            set.counts[k * rows + i] = floor(2 * sensitivity[i] * flux[i] + 0.5);
        }
    }
    paritas_close(context);
    set.spectra = (paritas_spectra){.size = sizeof(paritas_spectra),
                                    .n = n,
                                    .energy = set.energy,
                                    .flux = set.flux,
                                    .sensitivity = set.sensitivity,
                                    .counts = set.counts,
                                    .rows = rows};
    return set;
}
static inline struct set make_set(size_t n, uint64_t seed, double systematic)
{
    return make_set_of(ROWS, n, seed, systematic);
}

static inline void free_set(struct set *set)
{
    free(set->truth);
    free(set->energy);
    free(set->flux);
    free(set->sensitivity);
    free(set->counts);
}

static inline paritas_kappa_options default_options(void)
{
    return (paritas_kappa_options)PARITAS_KAPPA_OPTIONS_DEFAULT;
}

#endif
