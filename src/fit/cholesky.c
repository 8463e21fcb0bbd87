/* cholesky.c: by rows, so that inner loops are independent. */
#include "fit/cholesky.h"

#include <math.h>

/* Subtracts the parts of the rows above from row `to`. Four at a time: the row is read and written once. */
static void subtract_rows(size_t n, const double *a, size_t to, double *restrict row)
{
    size_t k = 0;
    for (; k + 4 <= to; k += 4) {
        const double *r0 = a + k * n, *r1 = r0 + n, *r2 = r1 + n, *r3 = r2 + n;
        const double f0 = r0[to], f1 = r1[to], f2 = r2[to], f3 = r3[to];
        for (size_t i = to; i < n; i++)
            row[i] = (((row[i] - r0[i] * f0) - r1[i] * f1) - r2[i] * f2) - r3[i] * f3;
    }
    for (; k < to; k++) {
        const double *r = a + k * n, f = r[to];
        for (size_t i = to; i < n; i++) row[i] -= r[i] * f;
    }
}

bool cholesky(size_t n, double *a)
{
    for (size_t j = 0; j < n; j++) {
        double *row = a + j * n;
        subtract_rows(n, a, j, row);
        if (!(row[j] > 0.0)) return false;
        row[j] = sqrt(row[j]);
        for (size_t i = j + 1; i < n; i++) row[i] /= row[j];
    }
    return true;
}

void cholesky_solve(size_t n, const double *factor, double *y)
{
    for (size_t j = 0; j < n; j++) {
        y[j] /= factor[j * n + j];
        for (size_t i = j + 1; i < n; i++) y[i] -= factor[j * n + i] * y[j];
    }
    for (size_t j = n; j-- > 0;) {
        for (size_t i = j + 1; i < n; i++) y[j] -= factor[j * n + i] * y[i];
        y[j] /= factor[j * n + j];
    }
}

bool invert_positive(size_t n, double *a)
{
    if (!cholesky(n, a)) return false;
    for (size_t i = 0; i < n; i++) /* L */
        for (size_t j = 0; j < i; j++) a[i * n + j] = a[j * n + i];
    for (size_t j = 0; j < n; j++) { /* L^-1 */
        a[j * n + j] = 1.0 / a[j * n + j];
        for (size_t i = j + 1; i < n; i++) {
            double v = 0.0;
            for (size_t m = j; m < i; m++) v -= a[i * n + m] * a[m * n + j];
            a[i * n + j] = v / a[i * n + i];
        }
    }
    for (size_t i = 0; i < n; i++) /* L^-T L^-1: row i needs later ones alone */
        for (size_t j = 0; j <= i; j++) {
            double v = 0.0;
            for (size_t m = i; m < n; m++) v += a[m * n + i] * a[m * n + j];
            a[j * n + i] = v;
        }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) a[i * n + j] = a[j * n + i];
    return true;
}

size_t cholesky_with_pivots(size_t n, const double *a, double least, double *l)
{
    for (size_t i = 0; i < n * n; i++) l[i] = 0.0;
    for (size_t rank = 0; rank < n; rank++) {
        double most = least;
        size_t pivot = n;
        for (size_t i = 0; i < n; i++) { /* of what the columns so far leave, as a part of the diagonal */
            double left = a[i * n + i];
            for (size_t k = 0; k < rank; k++) left -= l[i * n + k] * l[i * n + k];
            if (!(left > most * a[i * n + i])) continue;
            most = left / a[i * n + i];
            pivot = i;
        }
        if (pivot == n) return rank;
        const double root = sqrt(most * a[pivot * n + pivot]);
        for (size_t i = 0; i < n; i++) {
            double v = a[i * n + pivot];
            for (size_t k = 0; k < rank; k++) v -= l[i * n + k] * l[pivot * n + k];
            l[i * n + rank] = v / root;
        }
    }
    return n;
}
