/* charging.c: spacecraft potentials a second, with one thread.
 *
 *   charging [N]
 *
 * N plasmas (20000) of 12 .. 120 eV. From their distributions: in sunlight, in shade, in shade with sums on a
 * grid (a hundredth of them). From spectra as a spacecraft in sunlight or shade sees them, fits of the
 * distribution included: as it is done by default, with one refit and with none; beside it how far potentials
 * in sunlight lie off: the median, and the part beyond 1 V. */
#define _POSIX_C_SOURCE 200809L
#include "measuring.h"

#include <math.h>
#include <paritas_kappa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS PARITAS_SWEEP_ROWS
#define REPEATS 5

static int fail(paritas_context *context)
{
    fprintf(stderr, "charging: %s\n", paritas_error_message(context));
    return 1;
}

/* Evenly in 0 .. 1. */
static double uniform(uint64_t *random)
{
    uint64_t z = *random += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

struct spectra {
    paritas_kappa_plasma *plasma;
    unsigned char *sunlit;
    double *potential, *energy, *flux, *sensitivity;
};

/* One spectrum without noise; the density in phase space is kept on the way to the spacecraft. */
static void make(struct spectra *s, size_t k, uint64_t *random)
{
    const double kappa = 2.6 + 2.9 * uniform(random), density = 1e5 * pow(50.0, uniform(random)),
                 theta = paritas_kappa_theta(kappa, 12.0 * pow(10.0, uniform(random)));
    const double pi = 3.14159265358979323846, mass = 5.685630103565723e-12;
    const double scale = 4e-4 * pi * density * exp(lgamma(kappa + 1.0) - lgamma(kappa - 0.5)) /
                         pow(pi * kappa, 1.5) / pow(theta, 3.0);
    s->plasma[k] = (paritas_kappa_plasma){density, kappa, theta};
    const double found =
        paritas_photoelectron_potential(paritas_electron_current(&s->plasma[k], 10.0, 20000.0));
    s->potential[k] = s->sunlit[k] && found == found ? found : 0.0;
    for (size_t i = 0; i < ROWS; i++) {
        const double energy = 38.641 * pow(16680.334 / 38.641, (double)i / (ROWS - 1)),
                     ambient = energy - s->potential[k], speed2 = 2.0 * ambient / mass;
        s->energy[k * ROWS + i] = energy;
        s->flux[k * ROWS + i] = scale * pow(1.0 + speed2 / (kappa * theta * theta), -kappa - 1.0) * speed2 /
                                mass * energy / ambient;
        s->sensitivity[k * ROWS + i] = 1e-3 * energy;
    }
}

/* Median seconds of a run from spectra, and what it says. */
static int from_spectra(paritas_context *context, const struct spectra *s, size_t n, unsigned refits,
                        const char *name)
{
    const paritas_spectra spectra = {.size = sizeof(paritas_spectra),
                                     .n = n,
                                     .energy = s->energy,
                                     .flux = s->flux,
                                     .sensitivity = s->sensitivity};
    paritas_kappa_options kappa = PARITAS_KAPPA_OPTIONS_DEFAULT;
    paritas_potential_options options = PARITAS_POTENTIAL_OPTIONS_DEFAULT;
    paritas_kappa_result *fits = sized_array(n, sizeof *fits);
    paritas_potential *results = sized_array(n, sizeof *results);
    double seconds[REPEATS], *off = array(n, sizeof *off);
    size_t found = 0, far = 0;
    int failed = 0;
    kappa.response = 0.0; /* as the spectra were made */
    kappa.theta_lower = 2e5;
    options.refits = refits;
    for (int r = 0; r < REPEATS && !failed; r++) {
        const double begun = now();
        failed = paritas_spacecraft_potential_of_spectra(context, &spectra, s->sunlit, &kappa, &options, fits,
                                                         results) != PARITAS_OK;
        seconds[r] = now() - begun;
    }
    if (!failed) {
        qsort(seconds, REPEATS, sizeof *seconds, ascending);
        for (size_t k = 0; k < n; k++) {
            if (!s->sunlit[k] || results[k].status != PARITAS_POTENTIAL_FOUND) continue;
            off[found] = fabs(results[k].potential - s->potential[k]);
            far += off[found++] > 1.0;
        }
        qsort(off, found, sizeof *off, ascending);
        printf("%-32s %12.0f %10.2g %9.1f%%\n", name, (double)n / seconds[REPEATS / 2], off[found / 2],
               100.0 * (double)far / (double)(found ? found : 1));
    }
    free(off);
    free(fits);
    free(results);
    return failed;
}

static int from_plasma(paritas_context *context, const struct spectra *s, size_t n, unsigned char sunlit,
                       paritas_currents currents, const char *name)
{
    unsigned char *light = array(n, 1);
    paritas_potential *results = sized_array(n, sizeof *results);
    paritas_potential_options options = PARITAS_POTENTIAL_OPTIONS_DEFAULT;
    double seconds[REPEATS];
    int failed = 0;
    memset(light, sunlit, n);
    options.currents = currents;
    for (int r = 0; r < REPEATS && !failed; r++) {
        const double begun = now();
        failed =
            paritas_spacecraft_potential(context, n, s->plasma, NULL, light, &options, results) != PARITAS_OK;
        seconds[r] = now() - begun;
    }
    qsort(seconds, REPEATS, sizeof *seconds, ascending);
    if (!failed) printf("%-32s %12.0f\n", name, (double)n / seconds[REPEATS / 2]);
    free(light);
    free(results);
    return failed;
}

int main(int argc, char **argv)
{
    const size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
    if (n < 100) {
        fprintf(stderr, "usage: charging [N], N at least 100\n");
        return 2;
    }
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    options.threads = 1;
    if (paritas_open(&options, &context) != PARITAS_OK) return fail(context);
    struct spectra s = {array(n, sizeof *s.plasma),      array(n, 1),
                        array(n, sizeof(double)),        array(n, ROWS * sizeof(double)),
                        array(n, ROWS * sizeof(double)), array(n, ROWS * sizeof(double))};
    uint64_t random = 1;
    for (size_t k = 0; k < n; k++) {
        s.sunlit[k] = k % 3 != 0;
        make(&s, k, &random);
    }
    printf("%zu plasmas, %s kernels\n%-32s %12s %10s %10s\n", n, paritas_isa_name(context), "", "a second",
           "V off", "above 1 V");
    int failed = from_plasma(context, &s, n, 1, PARITAS_CURRENTS_CONVERGED, "sunlight") ||
                 from_plasma(context, &s, n, 0, PARITAS_CURRENTS_CONVERGED, "shade") ||
                 from_plasma(context, &s, n / 100, 0, PARITAS_CURRENTS_SUMS, "shade, sums");
    failed = failed || from_spectra(context, &s, n, 20, "spectra") ||
             from_spectra(context, &s, n, 1, "spectra, one refit") ||
             from_spectra(context, &s, n, 0, "spectra, no refit");
    if (failed) fail(context);
    free(s.plasma);
    free(s.sunlit);
    free(s.potential);
    free(s.energy);
    free(s.flux);
    free(s.sensitivity);
    paritas_close(context);
    return failed;
}
