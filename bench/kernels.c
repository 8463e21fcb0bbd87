/* kernels.c: what the parts of a Newton iteration cost, and the share of the processor's arithmetic that they
 * use.
 *
 *   kernels WORKSPACE [--patch FILE]
 *
 * The kernels' text is compiled into this program for the very processor (a pack as wide as its registers,
 * one fit), and each part runs by itself at the suggested start. Floating-point operations are counted from
 * the model's tables (fma: 2), padding left out; the peak is measured by independent fma chains in the same
 * run. Times are medians. */
#define _POSIX_C_SOURCE 200809L
#define PARITAS_F64 1
#define PARITAS_LANES 1
#if defined(__AVX512F__)
#define PARITAS_PACK 8
#elif defined(__AVX2__)
#define PARITAS_PACK 4
#elif defined(__ARM_NEON)
#define PARITAS_PACK 2
#else
#define PARITAS_PACK 1
#endif
#define PARITAS_VARIANT bench
#include "dialect/dialect_c.h"
#include "entry/entry_histfactory.h"

#include "counting.h"
#include "fit/fit_rows.h"
#include "measuring.h"

#include <stdio.h>
#include <stdlib.h>

enum { REPETITIONS = 400 };

struct bench {
    const u32 *mi;
    const elem *mr;
    real *s;
    paritas_context *context;
    const paritas_model *model;
    double *parameters, *errors;
};

/* ---- the parts ---- */

static void run_nll(struct bench *b)
{
    model_value(b->mi, b->mr, b->s, 0);
}
static void run_gradient(struct bench *b)
{
    model_value(b->mi, b->mr, b->s, 1);
}
static void run_hessian(struct bench *b)
{
    hf_curvature(b->mi, b->mr, b->s, 1.0, 0.0, 1);
}
static void run_hessian_and_factor(struct bench *b)
{
    hf_curvature(b->mi, b->mr, b->s, 1.0, 0.0, 1);
    hf_factor(b->mi, b->mr, b->s, 0.0, 1e-7);
}
static void run_solve(struct bench *b)
{
    real *v = b->s + b->mi[HF_S_MINIMISER];
    for (u32 i = 0; i < b->mi[HF_SLOTS]; i++) v[i] = 1.0;
    model_solve(b->mi, b->mr, b->s, v);
}
static void run_fit(struct bench *b)
{
    const paritas_job job = PARITAS_JOB_DEFAULT;
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    paritas_fit(b->context, b->model, NULL, 1, &job,
                SIZED(paritas_fit_answers, .results = &result, .parameters = b->parameters));
}
static void run_fit_with_errors(struct bench *b)
{
    const paritas_job job = PARITAS_JOB_DEFAULT;
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    paritas_fit(
        b->context, b->model, NULL, 1, &job,
        SIZED(paritas_fit_answers, .results = &result, .parameters = b->parameters, .errors = b->errors));
}

/* ---- measuring ---- */

static double median_seconds(struct bench *b, void (*run)(struct bench *))
{
    static double seconds[REPETITIONS];
    for (int i = 0; i < 20; i++) run(b);
    for (int i = 0; i < REPETITIONS; i++) {
        const double begin = now();
        run(b);
        seconds[i] = now() - begin;
    }
    qsort(seconds, REPETITIONS, sizeof *seconds, ascending);
    return seconds[REPETITIONS / 2];
}

/* fma chains, twelve at once, so that none waits for itself. */
static double peak_flops(void)
{
    enum { CHAINS = 12, STEPS = 20000 };
    pack a[CHAINS];
    const pack x = PK(0.999999), y = PK(1e-9);
    double best = 0.0;
    for (int k = 0; k < CHAINS; k++) a[k] = PK(1.0);
    for (int round = 0; round < 200; round++) {
        const double begin = now();
        for (int i = 0; i < STEPS; i++) UNROLL for (int k = 0; k < CHAINS; k++) a[k] = PFMA(a[k], x, y);
        const double rate = 2.0 * CHAINS * STEPS * PACK / (now() - begin);
        if (rate > best) best = rate;
    }
    pack sum = PK(0.0);
    for (int k = 0; k < CHAINS; k++) sum = sum + a[k];
    return FIRST(sum) > 0.0 ? best : 0.0; /* the chains' values count, so the compiler keeps them */
}

static void report(const char *name, double seconds, double operations, double peak)
{
    if (operations > 0.0)
        printf("%-28s %10.2f us %9.0f kflop %7.1f GF/s %5.0f %% of peak\n", name, 1e6 * seconds,
               1e-3 * operations, 1e-9 * operations / seconds, 100.0 * operations / seconds / peak);
    else
        printf("%-28s %10.2f us\n", name, 1e6 * seconds);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: kernels WORKSPACE [--patch FILE]\n");
        return 2;
    }
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.threads = 1;
    paritas_context *context = NULL;
    paritas_model *model = NULL;
    paritas_status status = paritas_open(&options, &context);
    if (!status)
        status =
            load_model(context, argv[1], argc > 3 && !strcmp(argv[2], "--patch") ? argv[3] : NULL, &model);
    if (status) {
        fprintf(stderr, "%s\n", context ? paritas_error_message(context) : paritas_status_message(status));
        return 1;
    }
    const struct frozen *frozen = paritas_model_frozen(model);
    struct bench b = {
        .mi = frozen->tables.ints, .mr = frozen->tables.reals, .context = context, .model = model};
    b.s = aligned_alloc(64, (frozen->slab * sizeof(real) + 63) / 64 * 64);
    b.parameters = calloc(frozen->n_parameters + 1, sizeof(double));
    b.errors = calloc(frozen->n_parameters + 1, sizeof(double));
    if (!b.s || !b.parameters || !b.errors) return 1;
    memset(b.s, 0, frozen->slab * sizeof(real));
    rows_put_data(frozen, frozen->data, b.s + b.mi[HF_S_MAIN]);
    rows_put_point(frozen, frozen->init, frozen->slot_template, b.s + b.mi[HF_S_X]);
    for (size_t p = 0; p < frozen->n_parameters; p++)
        b.s[b.mi[HF_S_ACTIVE] + frozen->slot_of[p]] = frozen->fixed[p] ? 0.0 : 1.0;

    const double peak = peak_flops();
    const struct count count = count_operations(b.mi);
    const double gradient = median_seconds(&b, run_gradient),
                 both = median_seconds(&b, run_hessian_and_factor), solve = median_seconds(&b, run_solve);
    const double hessian = median_seconds(&b, run_hessian), whole = gradient + both + solve;
    printf("%zu parameters, %u dense slots, %u panels of bins, %u units; packs of %d, peak %.1f GF/s\n",
           frozen->n_parameters, b.mi[HF_DENSE], b.mi[HF_PANELS], b.mi[HF_UNITS], PACK, 1e-9 * peak);
    report("NLL", median_seconds(&b, run_nll), count.nll, peak);
    report("NLL and gradient", gradient, count.gradient, peak);
    report("Hessian, locals eliminated", hessian, count.hessian, peak);
    report("factor", both - hessian, count.factor, peak);
    report("solve", solve, count.solve, peak);
    report("Newton iteration", whole, count.gradient + count.hessian + count.factor + count.solve, peak);
    report("fit", median_seconds(&b, run_fit), 0.0, peak);
    report("fit and errors", median_seconds(&b, run_fit_with_errors), 0.0, peak);
    free(b.s);
    free(b.parameters);
    free(b.errors);
    paritas_model_free(model);
    paritas_close(context);
    return 0;
}
