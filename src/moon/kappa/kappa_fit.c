/* kappa_fit.c: kappa distributions fitted to electron spectra.
 *
 *   spectra ──► rows ──► device: whole fits (kernels/kappa/kappa_fit.h)
 *       ──► (f32: continued on the host in f64) ──► results */
#include "base/context.h"
#include "base/math/host_math.h"
#include "base/sized.h"
#include "fit/batch.h"
#include "kappa/kappa_arrays.h"
#include "moon/kappa/kappa.h"
#include "moon/kappa/spectrum_grid.h"

#include <math.h>
#include <string.h>

#define LARGEST 1e15 /* of fluxes, sensitivities, counts: f32 squares them */

/* Of starts in ln theta; kappas are even in 1 / kappa. */
#define GRID_STEP 0.3
#define GRID_THETAS 40
#define GRID_KAPPAS 5
_Static_assert(GRID_KAPPAS *GRID_THETAS <= KAPPA_GRID_MOST, "the slab holds every point of the grid");

struct task {
    paritas_spectra spectra;
    const struct spectrum_grid *grid;
    paritas_kappa_options options;
    paritas_kappa_result *results;
    double *starts; /* y, kappa (0: none), t of each; f32 fits leave theirs here */
    bool hands_on;  /* to f64: answers go to `starts` alone */
    double *misfit;
    size_t n_points;
    uint32_t ints[KAPPA_INTS];
    double reals[KAPPA_REALS(GRID_KAPPAS, GRID_THETAS)];
    size_t n_reals;
    unsigned free;
};

static double log_theta(double theta)
{
    return host_log(theta / KAPPA_UNIT_THETA);
}

static void freeze_options(struct task *task)
{
    const paritas_kappa_options *o = &task->options;
    const double t_lower = log_theta(o->theta_lower), t_upper = log_theta(o->theta_upper);
    const bool held = o->density == PARITAS_KAPPA_DENSITY_ESTIMATE;
    unsigned kappas = o->kappa_lower < o->kappa_upper ? GRID_KAPPAS : 1,
             thetas = 1 + (unsigned)((t_upper - t_lower) / GRID_STEP + 0.99);
    if (thetas > GRID_THETAS) thetas = GRID_THETAS;
    uint32_t *mi = task->ints;
    mi[KAPPA_WEIGHTS] = (uint32_t)o->weights;
    mi[KAPPA_DENSITY_HELD] = held;
    mi[KAPPA_FOLDED] = o->response > 0.0;
    mi[KAPPA_MAX_ITERATIONS] = o->max_iterations ? o->max_iterations : 100;
    mi[KAPPA_ROWS] = (uint32_t)task->spectra.rows;
    mi[KAPPA_GRID_KAPPAS] = kappas;
    mi[KAPPA_GRID_THETAS] = thetas;
    double *mr = task->reals;
    mr[KAPPA_SYSTEMATIC] = o->systematic * o->systematic;
    mr[KAPPA_ALIVE] = 1.0 - o->dead;
    mr[KAPPA_DEAD] = o->dead;
    mr[KAPPA_SHARPNESS] = o->response > 0.0 ? kappa_sharpness(o->response) : 0.0;
    mr[KAPPA_LOWER] = o->kappa_lower;
    mr[KAPPA_UPPER] = o->kappa_upper;
    mr[KAPPA_LOWER + 1] = t_lower;
    mr[KAPPA_UPPER + 1] = t_upper;
    double *grid = mr + KAPPA_GRID;
    for (unsigned k = 0; k < kappas; k++) {
        const double part = kappas > 1 ? (double)k / (kappas - 1) : 0.0;
        const double kappa = k == 0 ? o->kappa_lower
                             : k == kappas - 1
                                 ? o->kappa_upper
                                 : 1.0 / ((1.0 - part) / o->kappa_lower + part / o->kappa_upper);
        *grid++ = kappa;
        *grid++ = kappa_log_normalisation(kappa);
    }
    const double log_unit = kappa_log_thermal_energy(KAPPA_UNIT_THETA);
    for (unsigned k = 0; k < thetas; k++) {
        const double t = k == 0            ? t_lower
                         : k == thetas - 1 ? t_upper
                                           : t_lower + (t_upper - t_lower) * k / (thetas - 1);
        *grid++ = t;
        *grid++ = log_unit + 2.0 * t;
    }
    task->n_reals = (size_t)(grid - mr);
    task->free = !held + (o->kappa_lower < o->kappa_upper) + (o->theta_lower < o->theta_upper);
}

static paritas_status open_task(paritas_context *context, struct task *task,
                                const paritas_spectra *given_spectra,
                                const paritas_kappa_options *given_options)
{
    const paritas_spectra *spectra = &task->spectra;
    task->spectra = (paritas_spectra)PARITAS_SPECTRA_DEFAULT;
    task->options = (paritas_kappa_options)PARITAS_KAPPA_OPTIONS_DEFAULT;
    TRY(OPTIONS_READ(context, paritas_kappa_options, "options", given_options, &task->options));
    TRY(SIZED_CHECK(context, paritas_spectra, "spectra", 1, given_spectra));
    TRY(SIZED_TAKE(context, paritas_spectra, "spectra", given_spectra, &task->spectra));
    TRY(spectrum_grid_find(context, &task->spectra.rows, &task->grid));
    if (spectra->n && (!spectra->energy || !spectra->flux))
        return paritas_refuse(context, "spectra: %s is NULL", spectra->energy ? "flux" : "energy");
    if (spectra->n && task->options.weights == PARITAS_KAPPA_WEIGHTS_COUNTS && !spectra->sensitivity)
        return paritas_refuse(context,
                              "spectra: sensitivity is missing; the weights 'counts' need it, 'none' do not");
    if (spectra->n && task->options.weights == PARITAS_KAPPA_WEIGHTS_ORIGINAL && !spectra->counts)
        return paritas_refuse(context,
                              "spectra: counts is missing; the weights 'original' need it, 'none' do not");
    freeze_options(task);
    return PARITAS_OK;
}

struct view {
    unsigned rows, empty;    /* used; without flux */
    double density_estimate; /* NaN: no flux */
};

/* The part of row `at` that no plasma brings. Weights other than counts fit the flux without it. */
static double background_of(const struct task *task, size_t at)
{
    const double *background = task->spectra.background;
    return background && task->options.weights == PARITAS_KAPPA_WEIGHTS_COUNTS ? background[at] : 0.0;
}

static bool usable(double x)
{
    return x >= 0.0 && x <= LARGEST;
}

static struct view view_spectrum(const struct task *task, size_t which, double *row)
{
    const paritas_spectra *given = &task->spectra;
    const struct spectrum_grid *grid = task->grid;
    const size_t rows = given->rows, first = which * rows;
    const double *energy = given->energy + first, *flux = given->flux + first;
    const double *gain = task->options.weights == PARITAS_KAPPA_WEIGHTS_COUNTS ? given->sensitivity + first
                         : task->options.weights == PARITAS_KAPPA_WEIGHTS_ORIGINAL ? given->counts + first
                                                                                   : NULL;
    struct view view = {0, 0, 0.0};
    memset(row, 0, grid->spectrum * sizeof *row);
    for (size_t i = 0; i < grid->slots; i++) row[grid->flux + i] = -1.0;
    for (size_t i = 0; i < rows; i++) {
        const double *channel = given->channel ? given->channel + first : energy;
        if (!(energy[i] >= 1e-3 && energy[i] <= 1e9 && channel[i] >= energy[i] && channel[i] <= 1e9))
            continue;
        row[grid->energy + i] = energy[i];
        row[grid->channel + i] = channel[i];
        const double b = background_of(task, first + i), all = flux[i] + b;
        const double f = all < 0.0 && all - all == 0.0 ? 0.0 : all, g = gain ? gain[i] : 1.0;
        if (!usable(f) || !usable(g) || !usable(b) ||
            (task->options.weights == PARITAS_KAPPA_WEIGHTS_COUNTS && !(g > 0.0 && usable(f * g))))
            continue;
        row[grid->flux + i] = f;
        row[grid->background + i] = b;
        row[grid->gain + i] = g;
        view.rows++;
        if (f > b)
            view.density_estimate += 1e4 * (f - b) / kappa_speed(energy[i]) * 0.5 * energy[i];
        else
            view.empty++;
    }
    if (view.empty == view.rows)
        view.density_estimate = NAN;
    else
        row[grid->start] = host_log(view.density_estimate / KAPPA_UNIT_DENSITY);
    return view;
}

static void fill(const void *user, size_t which, double *row)
{
    const struct task *task = user;
    view_spectrum(task, which, row);
    if (!task->starts || task->hands_on) return;
    const double *start = task->starts + 3 * which;
    if (!(start[1] > 0.0)) return;
    memcpy(row + task->grid->start + 1, start + 1, 2 * sizeof *row);
    if (task->options.density == PARITAS_KAPPA_DENSITY_FITTED) row[task->grid->start] = start[0];
}

static double root(double x)
{
    return x > 0.0 ? host_sqrt(x) : NAN;
}

/* Before any numbers: counts of rows, the status. */
static void clear_result(const struct task *task, const struct view *view, const double *answer,
                         paritas_kappa_result *r)
{
    const double none = NAN;
    const bool few = view->rows - view->empty < task->free || view->rows == view->empty;
    memset(r, 0, sizeof *r); /* results are compared byte by byte */
    r->size = sizeof *r;
    r->status = !few         ? PARITAS_SPECTRUM_NOT_FITTED
                : view->rows ? PARITAS_SPECTRUM_TOO_FEW_ROWS
                             : PARITAS_SPECTRUM_NO_ROWS;
    r->fit = few ? PARITAS_FIT_NOT_A_MINIMUM : (paritas_fit_status)(int)answer[KAPPA_STATUS];
    r->iterations = few ? 0 : (unsigned)answer[KAPPA_ITERATIONS];
    r->rows = view->rows;
    r->empty_rows = view->empty;
    r->density = r->kappa = r->theta = r->temperature = none;
    r->density_error = r->kappa_error = r->theta_error = r->temperature_error = none;
    for (unsigned a = 0; a < 9; a++) r->covariance[a / 3][a % 3] = none;
    r->misfit = r->edm = none;
    r->dof = (int)view->rows - (int)task->free;
    r->density_estimate = view->density_estimate;
}

/* The value, or exactly the bound of a parameter at its bound. */
static double at_bound(paritas_parameter_state state, double value, double lower, double upper)
{
    return state == PARITAS_PARAMETER_AT_UPPER_BOUND                                       ? upper
           : state == PARITAS_PARAMETER_FIXED || state == PARITAS_PARAMETER_AT_LOWER_BOUND ? lower
                                                                                           : value;
}

/* Covariance and errors of a fitted plasma. */
static void put_errors(const struct task *task, const double *covariance, paritas_kappa_result *r)
{
    static const unsigned char place[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
    const double unit = task->options.weights != PARITAS_KAPPA_WEIGHTS_NONE ? 1.0
                        : r->dof > 0                                        ? r->misfit / r->dof
                                                                            : NAN;
    for (unsigned a = 0; a < 9; a++) {
        const double c = covariance[place[a]];
        r->covariance[a / 3][a % 3] = c == 0.0 ? 0.0 : unit * c;
    }
    r->density_error = r->density * root(r->covariance[0][0]);
    r->kappa_error = root(r->covariance[1][1]);
    r->theta_error = r->theta * root(r->covariance[2][2]);
    /* of ln T by kappa and ln theta */
    const double by_kappa = 1.0 / r->kappa - 1.0 / (r->kappa - 1.5), by_t = 2.0;
    const double variance = by_kappa * by_kappa * r->covariance[1][1] +
                            2.0 * by_kappa * by_t * r->covariance[1][2] + by_t * by_t * r->covariance[2][2];
    r->temperature_error = r->temperature * root(variance);
}

static void write_result(const struct task *task, size_t which, const double *answer, paritas_kappa_result *r)
{
    double row[SPECTRUM_MOST];
    const paritas_kappa_options *o = &task->options;
    const struct view view = view_spectrum(task, which, row);
    const double *x = answer + KAPPA_POINT;
    clear_result(task, &view, answer, r);
    if (r->fit != PARITAS_FIT_CONVERGED) return;
    r->kappa_state = (paritas_parameter_state)(int)answer[KAPPA_STATES];
    r->theta_state = (paritas_parameter_state)(int)answer[KAPPA_STATES + 1];
    const paritas_kappa_plasma plasma = {
        o->density == PARITAS_KAPPA_DENSITY_ESTIMATE ? view.density_estimate
                                                     : KAPPA_UNIT_DENSITY * host_exp(x[0]),
        at_bound(r->kappa_state, x[1], o->kappa_lower, o->kappa_upper),
        at_bound(r->theta_state, KAPPA_UNIT_THETA * host_exp(x[2]), o->theta_lower, o->theta_upper)};
    if (!kappa_plasma_is_valid(&plasma)) { /* in density, which has no bound */
        r->fit = PARITAS_FIT_NOT_A_MINIMUM;
        return;
    }
    r->status = PARITAS_SPECTRUM_FITTED;
    r->density = plasma.density;
    r->kappa = plasma.kappa;
    r->theta = plasma.theta;
    r->temperature = paritas_kappa_temperature(r->kappa, r->theta);
    r->misfit = answer[KAPPA_MISFIT];
    r->edm = answer[KAPPA_EDM];
    put_errors(task, answer + KAPPA_COVARIANCE, r);
}

static void take(const void *user, size_t which, const double *answer)
{
    const struct task *task = user;
    if (!task->hands_on) {
        write_result(task, which, answer, &task->results[which]);
        return;
    }
    double *start = task->starts + 3 * which;
    memcpy(start, answer + KAPPA_POINT, 3 * sizeof *start);
    if (answer[KAPPA_STATUS] == PARITAS_FIT_NON_FINITE) start[1] = 0.0;
}

static struct batch batch_of(struct task *task, unsigned entry)
{
    return (struct batch){
        .module = task->grid->module,
        .tables = {.ints = task->ints, .reals = task->reals, .n_ints = KAPPA_INTS, .n_reals = task->n_reals},
        .entry = entry,
        .n_in = task->grid->spectrum,
        .n_out = KAPPA_ANSWER,
        .slab = task->grid->slab + (size_t)2 * task->ints[KAPPA_GRID_KAPPAS] * task->ints[KAPPA_GRID_THETAS],
        .fill = fill,
        .take = take,
        .user = task};
}

paritas_status paritas_kappa_fit(paritas_context *context, const paritas_spectra *spectra,
                                 const paritas_kappa_options *options, paritas_kappa_result *results)
{
    REQUIRE(context, spectra);
    struct task task = {.results = results};
    TRY(open_task(context, &task, spectra, options));
    const size_t n = task.spectra.n;
    TRY(SIZED_CHECK(context, paritas_kappa_result, "results", n, results));
    if (n == 0) return PARITAS_OK;
    struct batch batch = batch_of(&task, task.grid->fit);
    const bool polished = context->precision == 32 && !context->no_polish;
    /* in f32, the weights of rows without counts hide the others */
    const bool beyond = polished && task.options.weights == PARITAS_KAPPA_WEIGHTS_ORIGINAL;
    if (!polished || beyond) return batch_run(context, beyond ? context->host : context->device, &batch, n);
    task.starts = paritas_allocate(context, n, 3 * sizeof *task.starts);
    if (!task.starts) return paritas_fail_memory(context);
    task.hands_on = true;
    batch.passes = 2;
    paritas_status status = batch_run(context, context->device, &batch, n);
    task.hands_on = false;
    batch.pass = 1;
    if (status == PARITAS_OK) status = batch_run(context, context->host, &batch, n);
    paritas_release(&context->allocator, task.starts);
    return status;
}

static void take_misfit(const void *user, size_t which, const double *answer)
{
    const struct task *task = user;
    double row[SPECTRUM_MOST], *to = task->misfit + which * task->n_points;
    const struct view view = view_spectrum(task, which, row);
    const bool nothing = view.rows == 0 ||
                         (task->options.density == PARITAS_KAPPA_DENSITY_ESTIMATE && view.rows == view.empty);
    for (size_t p = 0; p < task->n_points; p++) to[p] = nothing ? NAN : answer[p];
}

paritas_status paritas_kappa_misfit(paritas_context *context, const paritas_spectra *spectra,
                                    const paritas_kappa_options *options, size_t n_points,
                                    const paritas_kappa_plasma *points, double *misfit)
{
    REQUIRE(context, spectra);
    struct task task = {.misfit = misfit, .n_points = n_points};
    TRY(open_task(context, &task, spectra, options));
    if (task.spectra.n == 0 || n_points == 0) return PARITAS_OK;
    if (!points || !misfit) return paritas_refuse(context, "%s: NULL", points ? "misfit" : "points");
    if (n_points > (1u << 20))
        return paritas_refuse(context, "n_points: %zu; at most %u", n_points, 1u << 20);
    double *shared = paritas_allocate(context, n_points, 3 * sizeof *shared);
    if (!shared) return paritas_fail_memory(context);
    paritas_status status = PARITAS_OK;
    for (size_t p = 0; p < n_points && status == PARITAS_OK; p++) {
        paritas_kappa_plasma point = points[p];
        if (task.options.density == PARITAS_KAPPA_DENSITY_ESTIMATE) point.density = KAPPA_UNIT_DENSITY;
        status = kappa_plasma_check(context, "points", p, &point);
        shared[3 * p] = host_log(point.density / KAPPA_UNIT_DENSITY);
        shared[3 * p + 1] = point.kappa;
        shared[3 * p + 2] = log_theta(point.theta);
    }
    struct batch batch = batch_of(&task, task.grid->misfit);
    batch.n_out = n_points;
    batch.shared = shared;
    batch.n_shared = 3 * n_points;
    batch.args[KAPPA_ARG_COUNT] = (uint32_t)n_points;
    batch.take = take_misfit;
    if (status == PARITAS_OK) status = batch_run(context, context->device, &batch, task.spectra.n);
    paritas_release(&context->allocator, shared);
    return status;
}
