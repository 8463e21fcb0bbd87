/* plane_lines.h: values of a parameter at which regions of two parameters are looked at. */
#pragma once

#include "statistics/regions/profile_curve.h"

#define PLANE_LINES_MOST 240

struct plane_lines {
    size_t n;
    double at[PLANE_LINES_MOST]; /* ascending */
};

/* Lines of one parameter through the parts of its profile, with so many gaps each, and beside them. */
void plane_lines_find(const struct profile_curve *curve, size_t gaps, struct plane_lines *lines);
/* A line through a minimum, and more if there are few around it. `half`: half its width at the level. */
void plane_lines_add(struct plane_lines *lines, double lower, double upper, double value, double half);
