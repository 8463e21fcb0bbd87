/* search_bends.c: the least eigenvalue of constraints and bends. */
#include "minima/search_bends.h"
#include "base/math/counter_random.h"
#include "fit/cholesky.h"
#include "fit/family.h"
#include "minima/gauss_newton.h"

#include <math.h>
#include <string.h>

#define LEAST 0.6
#define BASIS_MOST 32 /* of Krylov: the least eigenvalues are the first to appear */
#define SWEEPS 6

/* Parameters with a constraint that move in the fit and lie within their bounds. */
static size_t list_members(const struct infer *infer, const struct target *target, size_t *members)
{
    size_t n = 0;
    for (size_t i = 0; i < infer->n_parameters; i++) {
        const double x = target->parameters[i];
        if (!target->fixed[i] && infer->widths[i] > 0.0 && x > infer->base.lower[i] &&
            x < infer->base.upper[i])
            members[n++] = i;
    }
    return n;
}

/* A factor known to 100 % or worse, as those of one simulated event: its constraint bends more than rates do,
 * and yields far from here. */
static bool has_wide_constraint(const struct infer *infer, const struct target *target)
{
    for (size_t i = 0; i < infer->n_parameters; i++)
        if (!target->fixed[i] && infer->base.start[i] > 0.0 && infer->widths[i] >= infer->base.start[i])
            return true;
    return false;
}

/* Half the Hessian of twice the NLL, less the data's part, in widths, less LEAST of the unit matrix. */
static paritas_status put_matrix(const struct search *search, const struct target *target, size_t n,
                                 const size_t *members, double *matrix)
{
    struct infer *infer = search->infer;
    const struct frozen *model = paritas_model_frozen(infer->model);
    const size_t p = infer->n_parameters;
    const double *data = search->profile->data ? search->profile->data : model->data;
    double *hessian = infer_reals(infer, p, p), *expected = infer_reals(infer, infer->n_data, 1),
           *jacobian = infer_reals(infer, model->n_main, p);
    TRY(infer_memory(infer));
    TRY(infer_evaluate(infer, 1, target->parameters, search->profile->data, NULL, NULL, hessian));
    TRY(infer_expected(infer, target->parameters, expected));
    TRY(family_expected_jacobian(infer->context, infer->context->host, infer->model, 1, target->parameters,
                                 infer->base.data, jacobian));
    for (size_t a = 0; a < n; a++)
        for (size_t b = a; b < n; b++) matrix[a * n + b] = 0.5 * hessian[members[a] * p + members[b]];
    for (size_t k = 0; k < model->n_main; k++) {
        const double rate = expected[k], weight = data[k] / (rate * rate), *row = jacobian + k * p;
        if (frozen_is_masked(model, k) || !(weight > 0.0)) continue;
        for (size_t a = 0; a < n; a++) {
            const double scaled = weight * row[members[a]];
            for (size_t b = a; scaled != 0.0 && b < n; b++) matrix[a * n + b] -= scaled * row[members[b]];
        }
    }
    for (size_t a = 0; a < n; a++) {
        for (size_t b = a; b < n; b++)
            matrix[a * n + b] *= infer->widths[members[a]] * infer->widths[members[b]];
        matrix[a * n + a] -= LEAST;
    }
    return PARITAS_OK;
}

/* ---- directions ---- */

/* to := from times the symmetric matrix, of which the upper triangle is given. */
static void multiply(size_t n, const double *matrix, const double *from, double *to)
{
    memset(to, 0, n * sizeof *to);
    for (size_t a = 0; a < n; a++) {
        const double *row = matrix + a * n;
        double sum = row[a] * from[a];
        for (size_t b = a + 1; b < n; b++) {
            sum += row[b] * from[b];
            to[b] += row[b] * from[a];
        }
        to[a] += sum;
    }
}

/* Krylov's basis by Lanczos: rows of n, orthogonal, at most `most`, and the matrix in that basis, `small`,
 * whose rows are BASIS_MOST apart. Returns how many rows there are. */
static size_t lanczos(size_t n, const double *matrix, size_t most, double *basis, double *small)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++) basis[i] = 1.0 + (double)(random_mixed(i + 1) >> 11) * 0x1p-53;
    double norm = sqrt(dot_product(n, basis, basis));
    memset(small, 0, BASIS_MOST * BASIS_MOST * sizeof *small);
    while (m < most && norm > 1e-9) {
        double *own = basis + m * n, *next = own + n;
        for (size_t i = 0; i < n; i++) own[i] /= norm;
        multiply(n, matrix, own, next);
        for (int pass = 0; pass < 2; pass++) /* twice: rounding leaves parts of rows before */
            for (size_t j = 0; j <= m; j++) {
                const double part = dot_product(n, basis + j * n, next);
                for (size_t i = 0; i < n; i++) next[i] -= part * basis[j * n + i];
                if (j == m) small[m * BASIS_MOST + m] += part;
            }
        norm = sqrt(dot_product(n, next, next));
        if (++m < most) small[(m - 1) * BASIS_MOST + m] = small[m * BASIS_MOST + m - 1] = norm;
    }
    return m;
}

/* One rotation of Jacobi's method, of columns p and q. */
static void rotate(size_t m, double *a, double *vectors, size_t p, size_t q)
{
    const size_t stride = BASIS_MOST;
    const double off = a[p * stride + q];
    if (off == 0.0) return;
    const double theta = (a[q * stride + q] - a[p * stride + p]) / (2.0 * off),
                 t = copysign(1.0, theta) / (fabs(theta) + sqrt(theta * theta + 1.0)),
                 c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    for (size_t k = 0; k < m; k++) {
        const double x = a[k * stride + p], y = a[k * stride + q];
        a[k * stride + p] = c * x - s * y;
        a[k * stride + q] = s * x + c * y;
    }
    for (size_t k = 0; k < m; k++) {
        const double x = a[p * stride + k], y = a[q * stride + k], v = vectors[k * stride + p],
                     w = vectors[k * stride + q];
        a[p * stride + k] = c * x - s * y;
        a[q * stride + k] = s * x + c * y;
        vectors[k * stride + p] = c * v - s * w;
        vectors[k * stride + q] = s * v + c * w;
    }
}

/* Eigenvalues of the leading m x m matrix on its diagonal, eigenvectors in columns. */
static void diagonalise(size_t m, double *a, double *vectors)
{
    memset(vectors, 0, BASIS_MOST * BASIS_MOST * sizeof *vectors);
    for (size_t k = 0; k < m; k++) vectors[k * BASIS_MOST + k] = 1.0;
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (size_t p = 0; p < m; p++)
            for (size_t q = p + 1; q < m; q++) rotate(m, a, vectors, p, q);
}

/* The least number of the diagonal that is not taken yet. */
static size_t take_least(size_t m, double *a)
{
    size_t least = 0;
    for (size_t k = 1; k < m; k++)
        if (a[k * BASIS_MOST + k] < a[least * BASIS_MOST + least]) least = k;
    a[least * BASIS_MOST + least] = HUGE_VAL;
    return least;
}

static paritas_status find_directions(struct infer *infer, size_t n, const size_t *members,
                                      const double *matrix, struct bends *bends)
{
    const size_t p = infer->n_parameters, most = n < BASIS_MOST ? n : BASIS_MOST;
    double *basis = infer_reals(infer, most + 1, n), *small = infer_reals(infer, BASIS_MOST, BASIS_MOST),
           *vectors = infer_reals(infer, BASIS_MOST, BASIS_MOST),
           *directions = infer_reals(infer, LOW_DIRECTIONS_MOST, p);
    TRY(infer_memory(infer));
    const size_t m = lanczos(n, matrix, most, basis, small);
    diagonalise(m, small, vectors);
    for (bends->n = 0; bends->n < LOW_DIRECTIONS_MOST && bends->n < m; bends->n++) {
        const size_t k = take_least(m, small);
        for (size_t j = 0; j < m; j++)
            for (size_t i = 0; i < n; i++)
                directions[bends->n * p + members[i]] +=
                    vectors[j * BASIS_MOST + k] * basis[j * n + i] * infer->widths[members[i]];
    }
    bends->directions = directions;
    return PARITAS_OK;
}

paritas_status search_bends(const struct search *search, const struct target *target, struct bends *bends)
{
    struct infer *infer = search->infer;
    *bends = (struct bends){.several_possible = true};
    if (target->status != PARITAS_FIT_CONVERGED || !gauss_newton_serves(infer)) return PARITAS_OK;
    size_t *members = infer_array(infer, infer->n_parameters, sizeof *members);
    TRY(infer_memory(infer));
    const size_t n = list_members(infer, target, members);
    double *matrix = infer_reals(infer, n + 1, n + 1), *factor = infer_reals(infer, n + 1, n + 1);
    TRY(infer_memory(infer));
    TRY(put_matrix(search, target, n, members, matrix));
    memcpy(factor, matrix, n * n * sizeof *factor);
    const bool bent = !cholesky(n, factor);
    bends->several_possible = bent || has_wide_constraint(infer, target);
    return bent && n > 0 ? find_directions(infer, n, members, matrix, bends) : PARITAS_OK;
}
