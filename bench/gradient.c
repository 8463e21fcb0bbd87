/* gradient.c: how long values and gradients of statistics take, in process, through the public interface, on
 * one thread.
 *
 *   gradient WORKSPACE [SAMPLE...] [--threads N] [--lanes W] [--isa NAME]
 *
 * The rates of the samples named are templates, in every channel that has them, and all rows have different
 * ones, up to 10 % away from the workspace's. Prints a line a quantity: microseconds a row of a call with one
 * row without and with gradients, and of one with 64 rows with gradients: the median of repetitions over a
 * quarter of a second at least, rows in turn; of q also the latter with curvature that rows share. */
#define _POSIX_C_SOURCE 200809L
#include "measuring.h"

#include <paritas_gradient.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 64, REPETITIONS_MAX = 20000, TEMPLATES_MAX = 256 };

struct bench {
    paritas_context *context;
    paritas_model *model;
    paritas_gradient_options options;
    size_t row, at;        /* numbers of a row, and of what it is asked at */
    double *rows, *points; /* ROWS of them */
    double *values, *by_row, *by_at;
};

/* The model with the named samples' rates as templates. */
static paritas_status open_model(struct bench *b, const char *path, int n_samples, char **samples)
{
    paritas_template templates[TEMPLATES_MAX];
    paritas_model_options options = PARITAS_MODEL_OPTIONS_DEFAULT;
    paritas_workspace *workspace = NULL;
    paritas_model *plain = NULL;
    paritas_status status = paritas_workspace_read(b->context, path, &workspace);
    if (status == PARITAS_OK) status = paritas_model_create(b->context, workspace, NULL, &plain);
    for (size_t c = 0; status == PARITAS_OK && c < paritas_model_channel_count(plain); c++)
        for (size_t s = 0; s < paritas_model_sample_count(plain, c); s++)
            for (int k = 0; k < n_samples && options.n_templates < TEMPLATES_MAX; k++)
                if (!strcmp(samples[k], paritas_model_sample_name(plain, c, s)))
                    templates[options.n_templates++] =
                        (paritas_template){PARITAS_TEMPLATE_NOMINAL, paritas_model_channel_name(plain, c),
                                           paritas_model_sample_name(plain, c, s), NULL};
    options.templates = templates;
    if (status == PARITAS_OK) status = paritas_model_create(b->context, workspace, &options, &b->model);
    paritas_model_free(plain);
    paritas_workspace_free(workspace);
    return status;
}

static paritas_status fill_rows(struct bench *b)
{
    const size_t n_templates = paritas_model_template_count(b->model),
                 p = paritas_model_parameter_count(b->model);
    const double *own = paritas_model_data(b->model) + b->row - n_templates;
    double *templates = array(n_templates, sizeof *templates);
    paritas_status status = PARITAS_OK;
    for (size_t i = 0; i < ROWS && status == PARITAS_OK; i++) {
        for (size_t k = 0; k < n_templates; k++)
            templates[k] = own[k] * (1.0 + 0.1 * ((double)((7 * i + 5 * k + i * k) % 41) / 20.0 - 1.0));
        status = paritas_model_fill_row(b->context, b->model, NULL, templates, b->rows + i * b->row);
        memcpy(b->points + i * p, paritas_model_suggested_init(b->model), p * sizeof *b->points);
    }
    free(templates);
    return status;
}

/* Seconds a row of a call with n rows, the median. Negative: it failed. */
static double measure(struct bench *b, size_t n, int gradient)
{
    static double times[REPETITIONS_MAX];
    const int likelihood = b->options.quantity <= PARITAS_QUANTITY_TWICE_NLL;
    const paritas_gradient to = {.size = sizeof to,
                                 .values = b->values,
                                 .data = gradient ? b->by_row : NULL,
                                 .at = gradient && likelihood ? b->by_at : NULL};
    size_t count = 0;
    double spent = 0.0;
    while (count < REPETITIONS_MAX && (spent < 0.25 || count < 3)) {
        const size_t first = n == 1 ? count % ROWS : 0;
        const double before = now();
        const paritas_status status = paritas_differentiate(b->context, b->model, &b->options, NULL, n,
                                                            likelihood ? b->points + first * b->at : NULL,
                                                            b->rows + first * b->row, &to);
        times[count] = now() - before;
        spent += times[count++];
        if (status != PARITAS_OK) return -1.0;
        for (size_t i = 0; i < n; i++)
            if (b->values[i] != b->values[i])
                fprintf(stderr, "%s: row %zu has no answer\n", paritas_quantity_name(b->options.quantity),
                        first + i);
    }
    qsort(times, count, sizeof *times, ascending);
    return times[count / 2] / (double)n;
}

static paritas_status run(struct bench *b, const char *path, int n_samples, char **samples)
{
    static const struct {
        paritas_quantity quantity;
        paritas_test_statistic statistic;
        const char *name;
    } cases[] = {{PARITAS_QUANTITY_NLL, PARITAS_STATISTIC_Q0, "nll"},
                 {PARITAS_QUANTITY_Q, PARITAS_STATISTIC_Q0, "q0"},
                 {PARITAS_QUANTITY_Q, PARITAS_STATISTIC_QTILDE, "q (mu = 1)"},
                 {PARITAS_QUANTITY_Z_ASIMOV, PARITAS_STATISTIC_Q0, "expected Z"},
                 {PARITAS_QUANTITY_CLS, PARITAS_STATISTIC_QTILDE, "CLs (mu = 1)"},
                 {PARITAS_QUANTITY_LIMIT, PARITAS_STATISTIC_QTILDE, "limits"}};
    paritas_status status = open_model(b, path, n_samples, samples);
    if (status != PARITAS_OK) return status;
    b->at = paritas_model_parameter_count(b->model);
    b->row = paritas_model_main_count(b->model) + paritas_model_aux_count(b->model) +
             paritas_model_template_count(b->model);
    b->rows = array(ROWS * b->row, sizeof(double));
    b->points = array(ROWS * b->at, sizeof(double));
    b->values = array(ROWS * PARITAS_QUANTITY_OUTPUTS, sizeof(double));
    b->by_row = array(ROWS * PARITAS_QUANTITY_OUTPUTS * b->row, sizeof(double));
    b->by_at = array(ROWS * b->at, sizeof(double));
    status = fill_rows(b);
    paritas_shared_fits *shared = NULL;
    if (status == PARITAS_OK) status = paritas_shared_fits_create(b->context, b->model, NULL, &shared);
    printf("%s: %zu parameters, %zu numbers a row, %zu of them of templates\n", path, b->at, b->row,
           paritas_model_template_count(b->model));
    for (size_t k = 0; k < sizeof cases / sizeof cases[0] && status == PARITAS_OK; k++) {
        b->options.quantity = cases[k].quantity;
        b->options.statistic = cases[k].statistic;
        const double value = measure(b, 1, 0), one = measure(b, 1, 1), many = measure(b, ROWS, 1);
        if (value < 0.0 || one < 0.0 || many < 0.0) {
            fprintf(stderr, "%s: %s\n", cases[k].name, paritas_error_message(b->context));
            continue;
        }
        printf("%-14s value %9.1f us   with gradient %9.1f us   of %d rows, each %9.1f us", cases[k].name,
               1e6 * value, 1e6 * one, ROWS, 1e6 * many);
        if (cases[k].quantity == PARITAS_QUANTITY_Q) {
            b->options.shared = shared;
            printf("   shared: alone %9.1f us", 1e6 * measure(b, 1, 1));
            printf("   each %9.1f us", 1e6 * measure(b, ROWS, 1));
            b->options.shared = NULL;
        }
        printf("\n");
        fflush(stdout);
    }
    paritas_shared_fits_free(shared);
    free(b->by_at);
    free(b->by_row);
    free(b->values);
    free(b->points);
    free(b->rows);
    return status;
}

int main(int argc, char **argv)
{
    struct bench b = {.options = PARITAS_GRADIENT_OPTIONS_DEFAULT};
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.threads = 1;
    options.device = "cpu";
    const char *path = NULL;
    int n_samples = 0;
    for (int i = 1; i < argc; i++) {
        const int more = i + 1 < argc;
        if (more && !strcmp(argv[i], "--threads"))
            options.threads = (unsigned)atoi(argv[++i]);
        else if (more && !strcmp(argv[i], "--lanes"))
            options.lanes = (unsigned)atoi(argv[++i]);
        else if (more && !strcmp(argv[i], "--isa"))
            options.isa = argv[++i];
        else if (!path)
            path = argv[i];
        else
            argv[n_samples++] = argv[i]; /* samples: always before i */
    }
    if (!path) {
        fprintf(stderr, "usage: gradient WORKSPACE [SAMPLE...] [--threads N] [--lanes W] [--isa NAME]\n");
        return 2;
    }
    const int failed =
        paritas_open(&options, &b.context) != PARITAS_OK || run(&b, path, n_samples, argv) != PARITAS_OK;
    if (failed) fprintf(stderr, "%s\n", b.context ? paritas_error_message(b.context) : "out of memory");
    paritas_model_free(b.model);
    paritas_close(b.context);
    return failed;
}
