/* sorting.c: comparisons for qsort. */
#include "commands/workspaces/sorting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_number(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void sort_numbers(size_t n, double *values)
{
    if (n > 0) qsort(values, n, sizeof *values, by_number);
}

void sort_texts(size_t n, const char **texts)
{
    if (n > 0) qsort(texts, n, sizeof *texts, by_text);
}

double sorted_median(size_t n, const double *values)
{
    if (n == 0) return NAN;
    return n % 2 == 1 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}
