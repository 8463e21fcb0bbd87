/* sorting.h: ascending numbers and texts. */
#pragma once

#include <stddef.h>

void sort_numbers(size_t n, double *values);
void sort_texts(size_t n, const char **texts);
/* NaN without a value. */
double sorted_median(size_t n, const double *values);
