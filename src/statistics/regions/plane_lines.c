/* plane_lines.c: values of a parameter at which regions of two parameters are looked at. */
#include "statistics/regions/plane_lines.h"

#include <math.h>
#include <string.h>

#define PARTS_MOST 8
#define FEW 3      /* lines around a minimum that are too few */
#define BESIDE 0.6 /* of half a width */
#define SAME 1e-6  /* of the width of a part: one line */

static void insert(struct plane_lines *lines, double value)
{
    const double same = lines->n > 1 ? SAME * (lines->at[lines->n - 1] - lines->at[0]) : 0.0;
    size_t at = 0;
    while (at < lines->n && lines->at[at] < value) at++;
    if (at < lines->n && lines->at[at] - value <= same) return;
    if (at > 0 && value - lines->at[at - 1] <= same) return;
    if (lines->n == PLANE_LINES_MOST) return;
    memmove(&lines->at[at + 1], &lines->at[at], (lines->n - at) * sizeof lines->at[0]);
    lines->at[at] = value;
    lines->n++;
}

static size_t count_between(const struct plane_lines *lines, double lower, double upper)
{
    size_t n = 0;
    for (size_t i = 0; i < lines->n; i++) n += lines->at[i] >= lower && lines->at[i] <= upper;
    return n;
}

/* Evenly from outside one edge to outside the other; from a bound that cuts the part. */
static void put_through(const struct profile_curve *curve, const struct curve_part *part, size_t gaps,
                        struct plane_lines *lines)
{
    const double low = isnan(part->ends[0].value) ? curve->lower : part->ends[0].value,
                 high = isnan(part->ends[1].value) ? curve->upper : part->ends[1].value,
                 beside = (high - low) / (double)gaps;
    if (!(high > low)) return;
    if (3 * count_between(lines, low, high) > 2 * gaps) return;
    const double from = fmax(low - beside, curve->lower), to = fmin(high + beside, curve->upper);
    for (size_t i = 0; i <= gaps + 2; i++) {
        const double value = i == gaps + 2 ? to : from + (to - from) * (double)i / (double)(gaps + 2);
        insert(lines, value);
    }
}

void plane_lines_add(struct plane_lines *lines, double lower, double upper, double value, double half)
{
    if (!(value >= lower && value <= upper)) return;
    insert(lines, value);
    if (!(half > 0.0) || count_between(lines, value - half, value + half) >= FEW) return;
    insert(lines, fmax(value - BESIDE * half, lower));
    insert(lines, fmin(value + BESIDE * half, upper));
}

void plane_lines_find(const struct profile_curve *curve, size_t gaps, struct plane_lines *lines)
{
    struct curve_part parts[PARTS_MOST];
    lines->n = 0;
    for (size_t k = 0; k <= curve->n_levels; k++) { /* the highest first */
        const double level = k == 0 ? curve->top : curve->levels[k - 1];
        const size_t n = profile_curve_parts(curve, level, PARTS_MOST, parts);
        for (size_t i = 0; i < n && i < PARTS_MOST; i++) put_through(curve, &parts[i], gaps, lines);
    }
}
