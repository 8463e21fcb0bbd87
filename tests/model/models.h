/* models.h: the models of these tests, and what they say written down a second time. */
#ifndef PARITAS_TESTS_MODEL_MODELS_H
#define PARITAS_TESTS_MODEL_MODELS_H

#include "common.h"
#include "paritas.h"

#include <stdbool.h>

extern const paritas_kernels paritas_model_peak, paritas_model_onoff, paritas_model_decay;

enum { PEAK_BINS = 21, PEAK_PARAMETERS = 5, DECAYS = 13 };

static const char *const peak_names[] = {"signal", "position", "width", "background", "slope"};
static const double peak_init[] = {60.0, 4.8, 0.6, 22.0, 0.25}, peak_lower[] = {0.0, 3.0, 0.2, 0.5, -1.0},
                    peak_upper[] = {1e4, 7.0, 2.0, 1e4, 2.0};
static const char *const onoff_names[] = {"signal", "background", "efficiency"};
static const double onoff_init[] = {1.0, 10.0, 0.8}, onoff_lower[] = {0.0, 0.0, 0.1},
                    onoff_upper[] = {1000.0, 1000.0, 2.0}, onoff_widths[] = {NAN, NAN, 0.05};
/* the control region has 4 times the background */
static const double onoff_columns[] = {1.0, 0.0, 1.0, 4.0}, onoff_data[] = {25.0, 60.0, 0.8};
static const char *const decay_names[] = {"lifetime"};
static const double decay_init[] = {1.0}, decay_lower[] = {1e-3}, decay_upper[] = {100.0};
static const double decay_times[DECAYS] = {0.3, 2.1, 0.7, 5.9, 1.4, 0.05, 3.3, 0.9, 2.6, 1.1, 0.4, 7.7, 1.9};

/* Bins of unequal width from 0 to 10; a spectrum. */
static double peak_edges[2 * PEAK_BINS], peak_data[PEAK_BINS];

static inline paritas_model_description peak_description(void)
{
    paritas_model_description d = PARITAS_MODEL_DESCRIPTION_DEFAULT;
    for (int i = 0; i < PEAK_BINS; i++) {
        const double x = (double)i / PEAK_BINS, next = (double)(i + 1) / PEAK_BINS;
        peak_edges[i] = 10.0 * x * (0.7 + 0.3 * x);
        peak_edges[PEAK_BINS + i] = 10.0 * next * (0.7 + 0.3 * next);
        peak_data[i] =
            floor(20.0 * exp(-2.5 * x) + 18.0 * exp(-20.0 * (x - 0.55) * (x - 0.55)) + (double)(i * 7 % 5));
    }
    peak_data[PEAK_BINS - 1] = 0.0;
    d.kernels = &paritas_model_peak;
    d.n_parameters = PEAK_PARAMETERS;
    d.names = peak_names;
    d.init = peak_init;
    d.lower = peak_lower;
    d.upper = peak_upper;
    d.poi = "signal";
    d.n_main = PEAK_BINS;
    d.data = peak_data;
    d.n_reals = 2 * PEAK_BINS;
    d.reals = peak_edges;
    return d;
}

static inline paritas_model_description onoff_description(void)
{
    paritas_model_description d = PARITAS_MODEL_DESCRIPTION_DEFAULT;
    d.kernels = &paritas_model_onoff;
    d.n_parameters = 3;
    d.names = onoff_names;
    d.init = onoff_init;
    d.lower = onoff_lower;
    d.upper = onoff_upper;
    d.constraint_widths = onoff_widths;
    d.poi = "signal";
    d.n_main = 2;
    d.data = onoff_data;
    d.n_reals = 4;
    d.reals = onoff_columns;
    return d;
}

static inline paritas_model_description decay_description(void)
{
    paritas_model_description d = PARITAS_MODEL_DESCRIPTION_DEFAULT;
    d.kernels = &paritas_model_decay;
    d.n_parameters = 1;
    d.names = decay_names;
    d.init = decay_init;
    d.lower = decay_lower;
    d.upper = decay_upper;
    d.n_main = DECAYS;
    d.terms = 1;
    d.data = decay_times;
    return d;
}

/* A model and its context. */
struct custom {
    paritas_context *context;
    paritas_model *model;
};

static inline struct custom make_custom(const paritas_options *options, paritas_model_description description)
{
    struct custom c;
    assert_int_equal(paritas_open(options, &c.context), PARITAS_OK);
    ASSERT_OK(c.context, paritas_model_define(c.context, &description, &c.model));
    return c;
}

static inline void free_custom(struct custom *c)
{
    paritas_model_free(c->model);
    paritas_close(c->context);
}

/* Expected counts of a bin of the spectrum, in the digits of long double. */
static inline long double peak_expected(const long double *x, int bin)
{
    const long double low = peak_edges[bin], high = peak_edges[PEAK_BINS + bin], root = sqrtl(2.0L);
    const long double part = 0.5L * (erfcl((low - x[1]) / x[2] / root) - erfcl((high - x[1]) / x[2] / root));
    return x[0] * part + x[3] * (high - low) * expl(-x[4] * 0.5L * (low + high));
}

/* Twice the negative log-likelihood of the spectrum. */
static inline long double peak_twice_nll(const long double *x, const double *data)
{
    long double sum = 0.0L;
    for (int i = 0; i < PEAK_BINS; i++) {
        const long double rate = peak_expected(x, i), n = data[i];
        sum += rate - n * logl(rate) + lgammal(n + 1.0L);
    }
    return 2.0L * sum;
}

/* Spectra that scatter around a point of the model. */
static inline void peak_spectra(const double *point, size_t n, double *spectra)
{
    long double x[PEAK_PARAMETERS];
    for (int p = 0; p < PEAK_PARAMETERS; p++) x[p] = point[p];
    for (size_t k = 0; k < n; k++)
        for (int i = 0; i < PEAK_BINS; i++) {
            const double rate = (double)peak_expected(x, i),
                         count = floor(rate +
                                       sqrt(rate) *
                                           ((double)((i * 5 + (int)k * 17 + i * (int)k) % 13) - 6.0) / 4.0 +
                                       0.5);
            spectra[k * PEAK_BINS + (size_t)i] = count > 0.0 ? count : 0.0;
        }
}

#endif
