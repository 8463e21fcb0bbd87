/* kappa.c: how many electron spectra a second kappa fits take on one core.
 *
 *   kappa [N]
 *
 * N spectra (20000) of Poisson counts behind kappa distributions with 11 % of noise, each fitted by whole
 * calls of paritas_kappa_fit with one thread: medians of five, with and without the energy response, for the
 * processor's best kernels and for those of one lane, and of paritas_kappa_spectrum from sweeps of 88
 * cells. */
#define _POSIX_C_SOURCE 200809L
#include "measuring.h"
#include "paritas_kappa.h"

#include <stdio.h>
#include <stdlib.h>

#define ROWS PARITAS_SWEEP_ROWS
#define CELLS PARITAS_SWEEP_CELLS
#define TIMES 5

static void check(paritas_context *context, paritas_status status)
{
    if (status == PARITAS_OK) return;
    fprintf(stderr, "kappa: %s\n", paritas_error_message(context));
    exit(1);
}

static double uniform(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}
/* Of mean 0 and variance 1, about normal. */
static double noise(uint64_t *state)
{
    double sum = -6.0;
    for (int k = 0; k < 12; k++) sum += uniform(state);
    return sum;
}

static double median(double *seconds)
{
    qsort(seconds, TIMES, sizeof *seconds, ascending);
    return seconds[TIMES / 2];
}

static paritas_context *open_lanes(unsigned lanes)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    options.threads = 1;
    options.lanes = lanes;
    const paritas_status status = paritas_open(&options, &context);
    check(context, status);
    return context;
}

/* Decades above `first` of a number between 0 and 1. */
static double decades(double first, double part)
{
    double x = first;
    for (int k = 0; k < 100; k++) x *= 1.0 + 0.023292992280754 * part; /* 10^(1/100) - 1: near enough */
    return x;
}

int main(int argc, char **argv)
{
    const size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
    double *energy = array(n * ROWS, sizeof *energy), *flux = array(n * ROWS, sizeof *flux),
           *sensitivity = array(n * ROWS, sizeof *sensitivity), seconds[TIMES];
    paritas_kappa_result *results = sized_array(n, sizeof *results);
    paritas_context *context = open_lanes(0);
    uint64_t state = 1;
    for (size_t k = 0; k < n; k++) {
        double drawn[4];
        for (int i = 0; i < 4; i++) drawn[i] = uniform(&state);
        paritas_kappa_plasma plasma = {decades(decades(3e4, drawn[0]), drawn[1]), 2.6 + 3.2 * drawn[2],
                                       decades(2e6, drawn[3])};
        for (size_t i = 0; i < ROWS; i++)
            energy[k * ROWS + i] = i ? 1.6378937 * energy[k * ROWS + i - 1] : k % 2 ? 20.0 : 18.0;
        check(context, paritas_kappa_flux(context, 1, &plasma, ROWS, energy + k * ROWS, flux + k * ROWS));
        for (size_t i = 0; i < ROWS; i++) {
            const size_t at = k * ROWS + i;
            sensitivity[at] = 0.013 * energy[at];
            double counts = sensitivity[at] * flux[at], root = counts;
            for (int step = 0; step < 60; step++) root = 0.5 * (root + counts / (root > 0.0 ? root : 1.0));
            const double random = noise(&state), systematic = noise(&state);
            counts += root * random + 0.11 * counts * systematic;
            flux[at] = counts > 0.5 ? (double)(uint64_t)(counts + 0.5) / sensitivity[at] : 0.0;
        }
    }
    const paritas_spectra spectra = {
        .size = sizeof(paritas_spectra), .n = n, .energy = energy, .flux = flux, .sensitivity = sensitivity};
    printf("%zu spectra, one thread, %s kernels; spectra/s (microseconds each)\n", n,
           paritas_isa_name(context));
    for (unsigned lanes = 0; lanes < 2; lanes++)
        for (int folded = 1; folded >= 0; folded--) {
            paritas_context *own = open_lanes(lanes);
            paritas_kappa_options options = PARITAS_KAPPA_OPTIONS_DEFAULT;
            if (!folded) options.response = 0.0;
            double iterations = 0.0;
            size_t fitted = 0;
            for (int time = 0; time < TIMES; time++) {
                const double start = now();
                check(own, paritas_kappa_fit(own, &spectra, &options, results));
                seconds[time] = now() - start;
            }
            for (size_t k = 0; k < n; k++) {
                iterations += results[k].iterations;
                fitted += results[k].status == PARITAS_SPECTRUM_FITTED;
            }
            const double s = median(seconds);
            printf("  fit, %-10s %-16s %9.0f (%6.2f)   %zu fitted, %.2f iterations\n",
                   lanes ? "one lane," : "all lanes,", folded ? "with response" : "without", (double)n / s,
                   1e6 * s / (double)n, fitted, iterations / (double)n);
            paritas_close(own);
        }
    const size_t sweeps = n < 1000 ? n : 1000;
    double *cells = array(sweeps * ROWS * CELLS, sizeof *cells),
           *cosine = array(sweeps * ROWS * CELLS, sizeof *cosine),
           *omni = array(4 * sweeps * ROWS, sizeof *omni), theta[CELLS];
    paritas_cells sensor = PARITAS_CELLS_DEFAULT;
    for (size_t c = 0; c < CELLS; c++) theta[c] = c < 32 ? 11.25 : c < 64 ? 33.75 : c < 80 ? 56.25 : 78.75;
    sensor.theta = theta;
    for (size_t k = 0; k < sweeps * ROWS * CELLS; k++) {
        cells[k] = 1e5 * uniform(&state);
        cosine[k] = 2.0 * uniform(&state) - 1.0;
    }
    const paritas_spectrum_request request = {.size = sizeof request,
                                              .cells = &sensor,
                                              .n = sweeps,
                                              .energy = energy,
                                              .flux = cells,
                                              .cosine = cosine,
                                              .omni = omni,
                                              .coverage = omni + sweeps * ROWS,
                                              .sensitivity = omni + 2 * sweeps * ROWS,
                                              .counts = omni + 3 * sweeps * ROWS};
    for (int time = 0; time < TIMES; time++) {
        const double start = now();
        check(context, paritas_kappa_spectrum(context, &request));
        seconds[time] = now() - start;
    }
    const double s = median(seconds);
    printf("  spectra from sweeps          %12.0f (%6.2f)\n", (double)sweeps / s, 1e6 * s / (double)sweeps);
    free(omni);
    free(cosine);
    free(cells);
    free(results);
    free(sensitivity);
    free(flux);
    free(energy);
    paritas_close(context);
    return 0;
}
