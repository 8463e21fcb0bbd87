/* bits.h: all that a model answers, as one array of numbers to be compared bit by bit. */
#ifndef PARITAS_TESTS_MODEL_BITS_H
#define PARITAS_TESTS_MODEL_BITS_H

#include "model/models.h"

enum { BITS_JOBS = 13, BITS_MOST = 20000 };

struct bits {
    double number[BITS_MOST];
    size_t n;
};

static inline double *bits_more(struct bits *bits, size_t n)
{
    bits->n += n;
    assert_true(bits->n <= BITS_MOST);
    memset(bits->number + bits->n - n, 0, n * sizeof *bits->number);
    return bits->number + bits->n - n;
}

/* Fits of several data rows by one minimiser, with all that is said of them. */
static inline void bits_of_fits(const struct custom *c, paritas_minimizer minimizer, const double *rows,
                                bool errors, struct bits *bits)
{
    const size_t p = paritas_model_parameter_count(c->model),
                 n_data = paritas_model_main_count(c->model) + paritas_model_aux_count(c->model);
    paritas_job jobs[BITS_JOBS] = {PARITAS_INIT(paritas_job)};
    paritas_fit_result results[BITS_JOBS] = {PARITAS_INIT(paritas_fit_result)};
    paritas_fit_options options = PARITAS_FIT_OPTIONS_DEFAULT;
    options.minimizer = minimizer;
    options.population = 12;
    options.max_iterations = minimizer == PARITAS_MINIMIZER_DE ? 8 : 0;
    /* from near and far, so that fits side by side are not at the same stage */
    const double *init = paritas_model_suggested_init(c->model),
                 *upper = paritas_model_upper_bounds(c->model);
    double starts[BITS_JOBS * PEAK_PARAMETERS];
    for (size_t i = 0; i < BITS_JOBS * p; i++) {
        starts[i] = init[i % p] * (1.0 + 0.25 * (double)(i / p % 5) - 0.2);
        if (starts[i] > upper[i % p]) starts[i] = upper[i % p];
    }
    for (size_t k = 0; k < BITS_JOBS; k++) {
        jobs[k].data = rows + k * n_data;
        jobs[k].start = starts + k * p;
    }
    double *x = bits_more(bits, BITS_JOBS * p), *e = bits_more(bits, BITS_JOBS * p),
           *covariance = bits_more(bits, BITS_JOBS * p * p);
    ASSERT_OK(c->context,
              paritas_fit(c->context, c->model, &options, BITS_JOBS, jobs,
                          SIZED(paritas_fit_answers, .results = results, .parameters = x,
                                .errors = errors ? e : NULL, .covariance = errors ? covariance : NULL)));
    for (size_t k = 0; k < BITS_JOBS; k++) {
        double *tail = bits_more(bits, 4);
        tail[0] = results[k].twice_nll;
        tail[1] = results[k].edm;
        tail[2] = results[k].status;
        tail[3] = results[k].iterations;
    }
}

/* Values and derivatives at points around the start, for several data rows. */
static inline void bits_of_values(const struct custom *c, const double *rows, bool hessian, struct bits *bits)
{
    const size_t p = paritas_model_parameter_count(c->model), points = 3, n = points * BITS_JOBS;
    const double *init = paritas_model_suggested_init(c->model);
    double x[3 * PEAK_PARAMETERS];
    for (size_t i = 0; i < points * p; i++) x[i] = init[i % p] * (1.0 + 0.03 * (double)(i * 7 % 11) - 0.1);
    double *values = bits_more(bits, n), *gradient = bits_more(bits, n * p);
    ASSERT_OK(c->context,
              paritas_evaluate(c->context, c->model, points, x, BITS_JOBS, rows,
                               SIZED(paritas_evaluate_answers, .twice_nll = values, .gradient = gradient)));
    if (hessian)
        ASSERT_OK(c->context,
                  paritas_evaluate(c->context, c->model, points, x, BITS_JOBS, rows,
                                   SIZED(paritas_evaluate_answers, .hessian = bits_more(bits, n * p * p))));
}

/* memcmp, and which number differs. */
static inline void assert_bits(const char *what, const struct bits *got, const struct bits *wanted)
{
    assert_int_equal(got->n, wanted->n);
    if (memcmp(got->number, wanted->number, wanted->n * sizeof(double)) == 0) return;
    for (size_t i = 0; i < wanted->n; i++)
        if (memcmp(&got->number[i], &wanted->number[i], sizeof(double)) != 0)
            fail_msg("%s: number %zu of %zu is %.17g, not %.17g", what, i, wanted->n, got->number[i],
                     wanted->number[i]);
}

/* Data rows of a model: spectra, counts, times. */
static inline void bits_rows(const struct custom *c, double *rows)
{
    const size_t n_data = paritas_model_main_count(c->model) + paritas_model_aux_count(c->model);
    const double *data = paritas_model_data(c->model);
    if (n_data == PEAK_BINS) {
        peak_spectra(peak_init, BITS_JOBS, rows);
        return;
    }
    for (size_t i = 0; i < BITS_JOBS * n_data; i++) {
        const double more = i % n_data < 2 ? (double)(i * 7 % 19) : 0.0;
        rows[i] = n_data == DECAYS ? data[i % n_data] * (1.0 + 0.1 * (double)(i / n_data))
                                   : data[i % n_data] + more;
    }
}

#endif
