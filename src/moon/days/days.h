/* days.h: shared by the files of this folder. */
#pragma once

#include "base/context.h"
#include "paritas_days.h"

#define DAY_ROWS ((size_t)PARITAS_SWEEP_ROWS)
#define DAY_CELLS ((size_t)PARITAS_SWEEP_CELLS)

/* The public arrays (first) and their memory. */
struct day_sweeps {
    paritas_day_sweeps open;
    struct arena arena;
};

/* INVALID_INPUT with the reason. */
paritas_status day_refuse(paritas_context *context, const char *path);

/* n cleared numbers; NULL: out of memory. */
double *day_numbers(struct arena *arena, size_t n);
/* n cleared records with their size. */
void *day_records(struct arena *arena, size_t n, size_t size);

/* Checks options, adds defaults and the built-in inclinations, which `theta` holds. */
paritas_status day_options_read(paritas_context *context, const paritas_day_options *given,
                                double theta[PARITAS_SWEEP_CELLS], paritas_day_options *options);
/* Sets the spacecraft's potential for sweep k and its rows. */
void day_set_potential(paritas_er_day *day, double *potential, size_t k, double value);

/* paritas_day_plasma with options that were read, and memory for its answers. counted: paritas_day_count has
 * subtracted the background. */
paritas_status day_plasma(paritas_context *context, struct arena *arena, const paritas_day_options *options,
                          bool counted, paritas_er_day *day, paritas_day_sweeps *sweeps);
/* What paritas_day_count makes, in an arena. */
struct day_counted {
    double *channel, *counts, *background, *measured, scatter;
    const double *rate;
};
/* The same with such options, for a day's arrays `data`. rate: backgrounds to subtract; NULL: none. flux:
 * those of `data`, normalised anew. */
paritas_status day_count(paritas_context *context, struct arena *arena, const paritas_day_options *options,
                         paritas_er_day *day, const paritas_sweeps *data, const double *rate, double *flux,
                         struct day_counted *made);
