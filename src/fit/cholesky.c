/* cholesky.c: by rows, so that inner loops are independent. */
#include "fit/cholesky.h"

#include <math.h>

bool cholesky(size_t n, double *a)
{
    for (size_t j = 0; j < n; j++) {
        double *row = a + j * n;
        for (size_t k = 0; k < j; k++)
            for (size_t i = j; i < n; i++) row[i] -= a[k * n + i] * a[k * n + j];
        if (!(row[j] > 0.0)) return false;
        row[j] = sqrt(row[j]);
        for (size_t i = j + 1; i < n; i++) row[i] /= row[j];
    }
    return true;
}
