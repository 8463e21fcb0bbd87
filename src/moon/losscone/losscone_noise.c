/* losscone_noise.c: size of a sweep's noise, from residuals and counts.
 *
 * Residuals tell its mean square s^2. Counts tell where it is: a cell of c counts at flux 1, with model l and
 * a subtracted background b, has a variance of (l + b) / (c l^2) in logarithms. What s^2 has beyond the mean
 * of these is the same in all cells. */
#include "base/math/host_math.h"
#include "moon/losscone/losscone.h"

#include <math.h>

#define VARIANCE_MOST 0.5   /* of a logarithm: a cell without a count has a half one */
#define LITTLE_COUNTING 1.1 /* noise that tells U, over s^2: below, s^2 stands */
#define SHIFT_U 1.0         /* V: of the model's derivatives, at least, and a part of |U| */
#define SHIFT_U_PART 0.03
#define SHIFT_R 0.01

enum shift { AT_CENTRE, MORE_U, LESS_U, MORE_R, LESS_R, SHIFTS };

bool losscone_has_fit(const paritas_losscone_result *r)
{
    return (r->status == PARITAS_SWEEP_FITTED || r->status == PARITAS_SWEEP_MISFIT ||
            r->status == PARITAS_SWEEP_AT_LIMIT) &&
           r->cells > 3;
}

double losscone_misfit_divisor(const paritas_losscone_options *options, const paritas_losscone_result *r)
{
    return options->method == PARITAS_LOSSCONE_METHOD_LILLIS ? r->cells - 3.0 : 1.0;
}

double losscone_scatter(const paritas_losscone_options *options, const paritas_losscone_result *r)
{
    return r->misfit * losscone_misfit_divisor(options, r) / (r->cells - 3.0);
}

static void shifted_point(const paritas_losscone_result *r, enum shift shift, double point[LOSSCONE_POINT])
{
    const double wide = r->potential_upper - r->potential_lower, tall = r->ratio_upper - r->ratio_lower,
                 least = SHIFT_U + SHIFT_U_PART * fabs(r->potential_centre);
    const double u = wide > least ? wide : least, ratio = tall > SHIFT_R ? tall : SHIFT_R;
    point[LOSSCONE_U] = r->potential_centre + (shift == MORE_U ? u : shift == LESS_U ? -u : 0.0);
    point[LOSSCONE_R] = r->ratio_centre + (shift == MORE_R ? ratio : shift == LESS_R ? -ratio : 0.0);
    point[LOSSCONE_A] = 0.0;
}

/* Variance of the logarithm, or for lillis of the flux. */
static double counting_variance(bool lillis, double level, double counts, double background)
{
    if (!(counts > 0.0)) return 0.0;
    if (lillis) return (level + background) / counts;
    const double variance = (level + background) / (counts * level * level);
    return variance < VARIANCE_MOST ? variance : VARIANCE_MOST;
}

/* Mean squares to `square` of the cells that are compared, 0 elsewhere. */
static void squares_of(const struct losscone_call *call, size_t k, double scatter, const double *row,
                       const double *model, double *square)
{
    const bool lillis = call->options.method == PARITAS_LOSSCONE_METHOD_LILLIS;
    const paritas_sweeps *sweeps = &call->sweeps;
    const size_t rows = sweeps->rows, cells = sweeps->cells;
    double sum = 0.0, n = 0.0;
    for (size_t i = 0; i < rows; i++) {
        const double *flux = row + call->grid->flux + i * call->grid->cells, *levels = model + i * cells,
                     *counts = sweeps->counts + (k * rows + i) * cells;
        double *to = square + i * cells;
        const double given = sweeps->background ? sweeps->background[k * rows + i] : 0.0,
                     background = given > 0.0 ? given : 0.0;
        for (size_t j = 0; j < cells; j++) {
            to[j] = 0.0;
            if (!(flux[j] > 0.0)) continue;
            to[j] = counting_variance(lillis, levels[j], counts[j], background);
            sum += to[j];
            n += 1.0;
        }
    }
    const double mean = n > 0.0 ? sum / n : 0.0, rest = scatter > mean ? scatter - mean : 0.0,
                 scale = scatter < mean ? scatter / mean : 1.0;
    for (size_t i = 0; i < rows; i++) {
        const double *flux = row + call->grid->flux + i * call->grid->cells;
        double *to = square + i * cells;
        for (size_t j = 0; j < cells; j++)
            if (flux[j] > 0.0) to[j] = scale * to[j] + rest;
    }
}

/* The mean of `square`, weighted as the estimate of U weights the cells: by the squared derivative of the
 * model by U that r cannot imitate. */
static double size_for_potential(bool lillis, size_t cells, const double *const model[SHIFTS],
                                 const double *square)
{
    double rr = 0.0, ur = 0.0, weight = 0.0, sum = 0.0;
    for (int turn = 0; turn < 2; turn++) {
        const double part = turn == 1 && rr > 0.0 ? ur / rr : 0.0;
        for (size_t cell = 0; cell < cells; cell++) {
            if (!(square[cell] > 0.0)) continue;
            double by_u, by_r;
            if (lillis) {
                by_u = model[MORE_U][cell] - model[LESS_U][cell];
                by_r = model[MORE_R][cell] - model[LESS_R][cell];
            } else {
                by_u = model[MORE_U][cell] == model[LESS_U][cell]
                           ? 0.0
                           : host_log(model[MORE_U][cell] / model[LESS_U][cell]);
                by_r = model[MORE_R][cell] == model[LESS_R][cell]
                           ? 0.0
                           : host_log(model[MORE_R][cell] / model[LESS_R][cell]);
            }
            if (turn == 0) {
                rr += by_r * by_r;
                ur += by_u * by_r;
            } else {
                const double own = by_u - part * by_r;
                weight += own * own;
                sum += own * own * square[cell];
            }
        }
    }
    return weight > 0.0 ? sum / weight : 0.0;
}

paritas_status losscone_noise(paritas_context *context, const struct losscone_call *call,
                              const paritas_losscone_result *results, size_t first, size_t n, double *noise,
                              double *size)
{
    const bool lillis = call->options.method == PARITAS_LOSSCONE_METHOD_LILLIS;
    const int shifts = size ? SHIFTS : 1;
    const size_t cells = losscone_cells(&call->sweeps);
    const paritas_sweeps part = losscone_part(&call->sweeps, first, n);
    double *points = paritas_allocate(context, LOSSCONE_POINT * n, sizeof *points),
           *models = paritas_allocate(context, cells * n * (size_t)shifts, sizeof *models),
           *row = paritas_allocate(context, call->grid->sweep + cells, sizeof *row);
    paritas_status status = points && models && row ? PARITAS_OK : paritas_fail_memory(context);
    for (int shift = 0; shift < shifts && status == PARITAS_OK; shift++) {
        for (size_t k = 0; k < n; k++) {
            if (losscone_has_fit(&results[first + k]))
                shifted_point(&results[first + k], (enum shift)shift, points + LOSSCONE_POINT * k);
            else
                points[LOSSCONE_POINT * k] = points[LOSSCONE_POINT * k + 1] = points[LOSSCONE_POINT * k + 2] =
                    0.0;
        }
        status = paritas_losscone_model(context, &part, &call->options, points,
                                        models + cells * n * (size_t)shift, NULL);
    }
    for (size_t k = 0; k < n && status == PARITAS_OK; k++) {
        if (!losscone_has_fit(&results[first + k])) continue;
        const double scatter = losscone_scatter(&call->options, &results[first + k]);
        const double *model[SHIFTS];
        double *square = row + call->grid->sweep;
        for (int shift = 0; shift < shifts; shift++) model[shift] = models + cells * (n * (size_t)shift + k);
        losscone_sweep_row(call, first + k, row);
        squares_of(call, first + k, scatter, row, model[AT_CENTRE], square);
        for (size_t cell = 0; cell < cells && noise; cell++)
            noise[k * cells + cell] = host_sqrt(square[cell]);
        if (!size) continue;
        const double found = size_for_potential(lillis, cells, model, square);
        size[k] = found > LITTLE_COUNTING * scatter ? found : scatter;
    }
    paritas_release(&context->allocator, points);
    paritas_release(&context->allocator, models);
    paritas_release(&context->allocator, row);
    return status;
}
