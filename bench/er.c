/* er.c: how fast day files are read and written: bench/er [FILE]. Without a file a day of 970 sweeps is made
 * and read. */
#define _DEFAULT_SOURCE
#include "measuring.h"
#include "paritas_er.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUNS 15

static int refuse(paritas_context *context)
{
    fprintf(stderr, "er: %s\n", paritas_error_message(context));
    return 1;
}

/* Counts of a spectrum that falls with energy, in cells that turn with the spacecraft; one cell in a hundred
 * is missing. */
static void fill(paritas_er_day *day)
{
    uint64_t seed = 1;
    for (size_t row = 0; row < day->n * PARITAS_SWEEP_ROWS; row++) {
        double energy = 40.0;
        for (size_t k = 0; k < row % PARITAS_SWEEP_ROWS; k++) energy *= 1.54;
        day->energy[row] = energy;
        const size_t sweep = row / PARITAS_SWEEP_ROWS, in_sweep = row % PARITAS_SWEEP_ROWS;
        day->time[row] = 886291200.0 + 80.0 * (double)sweep + 2.5 * (double)in_sweep;
        for (size_t j = 0; j < 3; j++)
            day->field[3 * row + j] = 3.0 - 0.001 * (double)(row % 977) + (double)j;
        for (size_t j = row * PARITAS_SWEEP_CELLS; j < (row + 1) * PARITAS_SWEEP_CELLS; j++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const double u = (double)(seed >> 11) / 9007199254740992.0;
            if (u >= 0.01) day->flux[j] = (0.5 + u) * 1e9 / (energy * energy);
            day->azimuth[j] = 360.0 * u;
        }
    }
}

static double median_of(double *times)
{
    qsort(times, RUNS, sizeof *times, ascending);
    return times[RUNS / 2];
}

/* Megabytes a second of reading, with or without the digest. */
static int measure(paritas_context *context, const char *path, int digest)
{
    double times[RUNS];
    paritas_er_options options = PARITAS_ER_OPTIONS_DEFAULT;
    paritas_er_day *day = NULL;
    options.digest = digest;
    for (unsigned k = 0; k < RUNS; k++) {
        paritas_er_day_free(day);
        const double start = now();
        if (paritas_er_read(context, path, &options, &day)) return refuse(context);
        times[k] = now() - start;
    }
    const double median = median_of(times), least = times[0], megabytes = 1e-6 * (double)day->bytes;
    printf("read%s: %zu sweeps, %.1f MB: %.1f ms, %.0f MB/s (best %.0f)\n", digest ? " with digest" : "",
           day->n, megabytes, 1e3 * median, megabytes / median, megabytes / least);
    paritas_er_day_free(day);
    return 0;
}

static int make(paritas_context *context, const char *path)
{
    paritas_er_day *day;
    double times[RUNS];
    if (paritas_er_day_create(context, 970, &day)) return refuse(context);
    fill(day);
    for (unsigned k = 0; k < RUNS; k++) {
        const double start = now();
        if (paritas_er_write(context, path, day, 0)) return refuse(context);
        times[k] = now() - start;
    }
    printf("write: %zu sweeps: %.1f ms\n", day->n, 1e3 * median_of(times));
    paritas_er_day_free(day);
    return 0;
}

int main(int count, char **arguments)
{
    char made[] = "/tmp/paritas-bench-er-XXXXXX";
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    options.threads = 1;
    if (paritas_open(&options, &context)) return refuse(context);
    int status = 0;
    if (count < 2) {
        const int descriptor = mkstemp(made);
        if (descriptor < 0) return 1;
        close(descriptor);
        status = make(context, made);
    }
    const char *path = count < 2 ? made : arguments[1];
    if (!status) status = measure(context, path, 0);
    if (!status) status = measure(context, path, 1);
    if (count < 2) unlink(made);
    paritas_close(context);
    return status;
}
