/* analysis.c: how long one operation on one workspace takes, in process, through the public interface.
 *
 *   analysis OPERATION WORKSPACE [--patch FILE] [--threads N] [--lanes W] [--isa NAME]
 *
 * Operations: read (file to model), nll, gradient, hessian (one point each), batch_nll (1000 points in one
 * call, time a point), fit (with covariance), fits (64 fluctuated data sets in one call, time a fit), scan
 * (21 points), ranking, hypotest, limit, toys (1000 of each hypothesis, time a toy: drawn, and fitted twice).
 * Repeats for a quarter of a second at least, three times where that takes no two seconds, and prints one
 * line of JSON: the median in seconds, the mean processor time, the number of repetitions, and twice the NLL
 * of the last fit where there is one. */
#define _POSIX_C_SOURCE 200809L
#include "measuring.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_POINTS = 1000, BATCH_FITS = 64, SCAN_POINTS = 21, TOYS = 1000, REPETITIONS_MAX = 100000 };

struct bench {
    paritas_context *context;
    paritas_model *model;
    const char *path, *patch;
    size_t parameters, data;
    double *points, *outputs, *rows;
    paritas_job *jobs;
    paritas_fit_result *results;
    paritas_ranking_entry *entries;
    double twice_nll;
};

static paritas_status do_read(struct bench *b)
{
    paritas_model_free(b->model);
    b->model = NULL;
    return load_model(b->context, b->path, b->patch, &b->model);
}

static paritas_status do_nll(struct bench *b)
{
    return paritas_evaluate(
        b->context, b->model, 1, b->points, 1, NULL,
        &(paritas_evaluate_answers){.size = sizeof(paritas_evaluate_answers), .twice_nll = b->outputs});
}

static paritas_status do_gradient(struct bench *b)
{
    return paritas_evaluate(b->context, b->model, 1, b->points, 1, NULL,
                            &(paritas_evaluate_answers){.size = sizeof(paritas_evaluate_answers),
                                                        .twice_nll = b->outputs,
                                                        .gradient = b->outputs + 1});
}

static paritas_status do_hessian(struct bench *b)
{
    return paritas_evaluate(b->context, b->model, 1, b->points, 1, NULL,
                            &(paritas_evaluate_answers){.size = sizeof(paritas_evaluate_answers),
                                                        .twice_nll = b->outputs,
                                                        .gradient = b->outputs + 1,
                                                        .hessian = b->outputs + 1 + b->parameters});
}

static paritas_status do_batch_nll(struct bench *b)
{
    return paritas_evaluate(
        b->context, b->model, BATCH_POINTS, b->points, 1, NULL,
        &(paritas_evaluate_answers){.size = sizeof(paritas_evaluate_answers), .twice_nll = b->outputs});
}

static paritas_status do_fit(struct bench *b)
{
    double *values = b->outputs, *errors = values + b->parameters, *covariance = errors + b->parameters;
    paritas_status status =
        paritas_fit(b->context, b->model, NULL, 1, b->jobs,
                    SIZED(paritas_fit_answers, .results = b->results, .parameters = values, .errors = errors,
                          .covariance = covariance));
    b->twice_nll = b->results[0].status == PARITAS_FIT_CONVERGED ? b->results[0].twice_nll : (double)NAN;
    return status;
}

static paritas_status do_fits(struct bench *b)
{
    return paritas_fit(b->context, b->model, NULL, BATCH_FITS, b->jobs + 1,
                       SIZED(paritas_fit_answers, .results = b->results, .parameters = b->points));
}

static paritas_status do_scan(struct bench *b)
{
    size_t poi = (size_t)paritas_model_poi_index(b->model);
    double values[SCAN_POINTS];
    paritas_scan_point points[SCAN_POINTS] = {PARITAS_INIT(paritas_scan_point)};
    for (int i = 0; i < SCAN_POINTS; i++) values[i] = 0.1 * i;
    return paritas_scan(b->context, b->model, NULL,
                        SIZED(paritas_scan_request, .n_parameters = 1, .parameters = &poi,
                              .n_points = SCAN_POINTS, .values = values, .best = b->results,
                              .points = points));
}

static paritas_status do_ranking(struct bench *b)
{
    size_t n;
    return paritas_ranking(b->context, b->model, NULL, b->entries, &n);
}

static paritas_status do_hypotest(struct bench *b)
{
    double mu = 1.0;
    paritas_hypotest_result result = PARITAS_INIT(paritas_hypotest_result);
    return paritas_hypotest(b->context, b->model, NULL, PARITAS_STATISTIC_QTILDE, 1, &mu, &result);
}

static paritas_status do_limit(struct bench *b)
{
    paritas_limit_result result = PARITAS_INIT(paritas_limit_result);
    return paritas_limit(b->context, b->model, NULL,
                         SIZED(paritas_limit_request, .statistic = PARITAS_STATISTIC_QTILDE, .level = 0.05),
                         &result);
}

/* Toys of both hypotheses, each drawn and fitted twice; what comes before them (observed fits, choice of the
 * method) is part of it. */
static paritas_status do_toys(struct bench *b)
{
    paritas_toys_options options = PARITAS_TOYS_OPTIONS_DEFAULT;
    paritas_hypotest_toys_result result = PARITAS_INIT(paritas_hypotest_toys_result);
    options.n = TOYS;
    return paritas_hypotest_toys(b->context, b->model, NULL, PARITAS_STATISTIC_QTILDE, 1.0, &options,
                                 &result);
}

static const struct operation {
    const char *name;
    paritas_status (*run)(struct bench *);
    unsigned calls; /* that one run counts for */
    int poi;        /* needs one */
} operations[] = {
    {"read", do_read, 1, 0},
    {"nll", do_nll, 1, 0},
    {"gradient", do_gradient, 1, 0},
    {"hessian", do_hessian, 1, 0},
    {"batch_nll", do_batch_nll, BATCH_POINTS, 0},
    {"fit", do_fit, 1, 0},
    {"fits", do_fits, BATCH_FITS, 0},
    {"scan", do_scan, 1, 1},
    {"ranking", do_ranking, 1, 1},
    {"hypotest", do_hypotest, 1, 1},
    {"limit", do_limit, 1, 1},
    {"toys", do_toys, 2 * TOYS, 1},
};

/* A repeatable stand-in for a normal deviate: the sum of twelve uniform numbers. Only spread matters here. */
static double deviate(uint64_t *state)
{
    double sum = -6.0;
    for (int i = 0; i < 12; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(*state >> 11) * 0x1p-53;
    }
    return sum;
}

/* Points near the start, and fluctuated data sets. */
static void prepare(struct bench *b)
{
    const size_t n = b->parameters, main_count = paritas_model_main_count(b->model);
    const double *start = paritas_model_suggested_init(b->model), *data = paritas_model_data(b->model);
    const double *lower = paritas_model_lower_bounds(b->model), *upper = paritas_model_upper_bounds(b->model);
    const unsigned char *fixed = paritas_model_suggested_fixed(b->model);
    uint64_t state = 1;
    b->points = array(BATCH_POINTS * n, sizeof *b->points);
    for (size_t i = 0; i < BATCH_POINTS * n; i++) {
        size_t k = i % n;
        double x = start[k] + (i < n || fixed[k] ? 0.0 : 0.05 * deviate(&state));
        b->points[i] = x < lower[k] ? lower[k] : x > upper[k] ? upper[k] : x;
    }
    size_t outputs = 1 + n + n * n;
    if (outputs < 2 * n + n * n) outputs = 2 * n + n * n;
    b->outputs = array(outputs > BATCH_POINTS ? outputs : BATCH_POINTS, sizeof *b->outputs);
    b->rows = array(BATCH_FITS * b->data, sizeof *b->rows);
    b->jobs = sized_array(1 + BATCH_FITS, sizeof *b->jobs);
    b->results = sized_array(1 + BATCH_FITS, sizeof *b->results);
    b->entries = sized_array(n, sizeof *b->entries);
    for (size_t j = 0; j < BATCH_FITS; j++) {
        double *row = b->rows + j * b->data;
        memcpy(row, data, b->data * sizeof *row);
        for (size_t i = 0; i < main_count; i++) {
            double count = row[i] + sqrt(row[i]) * deviate(&state);
            row[i] = count > 0.0 ? floor(count + 0.5) : 0.0;
        }
        b->jobs[1 + j].data = row;
    }
}

int main(int argc, char **argv)
{
    struct bench b = {0};
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    const struct operation *operation = NULL;
    options.threads = 1;
    for (size_t i = 0; argc > 2 && i < sizeof operations / sizeof *operations; i++)
        if (!strcmp(argv[1], operations[i].name)) operation = &operations[i];
    for (int i = 3; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--patch")) b.patch = argv[i + 1];
        if (!strcmp(argv[i], "--threads")) options.threads = (unsigned)atoi(argv[i + 1]);
        if (!strcmp(argv[i], "--lanes")) options.lanes = (unsigned)atoi(argv[i + 1]);
        if (!strcmp(argv[i], "--isa")) options.isa = argv[i + 1];
    }
    if (!operation) {
        fprintf(
            stderr,
            "usage: analysis OPERATION WORKSPACE [--patch FILE] [--threads N] [--lanes W] [--isa NAME]\n");
        return 2;
    }
    b.path = argv[2];
    b.twice_nll = (double)NAN;
    paritas_status status = paritas_open(&options, &b.context);
    if (!status) status = do_read(&b);
    double *seconds = array(REPETITIONS_MAX, sizeof *seconds);
    int n = 0;
    double spent = 0.0;
    if (!status) {
        b.parameters = paritas_model_parameter_count(b.model);
        b.data = b.parameters ? paritas_model_main_count(b.model) + paritas_model_aux_count(b.model) : 0;
        prepare(&b);
        if (operation->poi && paritas_model_poi_index(b.model) < 0) {
            printf("{\"seconds\": null}\n");
            return 0;
        }
        status = operation->run(&b); /* warms caches and slabs */
        const double before = processor();
        for (double start = now(), begin = start;
             !status && n < REPETITIONS_MAX && (begin - start < 0.25 || (n < 3 && begin - start < 2.0));
             n++) {
            status = operation->run(&b);
            double end = now();
            seconds[n] = (end - begin) / operation->calls;
            begin = end;
        }
        spent = processor() - before;
    }
    if (status) {
        fprintf(stderr, "%s\n",
                b.context ? paritas_error_message(b.context) : paritas_status_message(status));
        return 1;
    }
    qsort(seconds, (size_t)n, sizeof *seconds, ascending);
    printf("{\"seconds\": %.9g, \"processor\": %.9g, \"repetitions\": %d, \"parameters\": %zu",
           seconds[n / 2], spent / n / operation->calls, n, b.parameters);
    if (isfinite(b.twice_nll)) printf(", \"twice_nll\": %.17g", b.twice_nll);
    printf(", \"isa\": \"%s\"}\n", paritas_isa_name(b.context));
    free(seconds);
    free(b.entries);
    free(b.results);
    free(b.jobs);
    free(b.rows);
    free(b.outputs);
    free(b.points);
    paritas_model_free(b.model);
    paritas_close(b.context);
    return 0;
}
