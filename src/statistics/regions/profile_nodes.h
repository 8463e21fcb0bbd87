/* profile_nodes.h: the fitted values of a profile of one parameter. */
#pragma once

#include "minima/infer.h"

/* A fitted value of the parameter. */
struct curve_node {
    struct infer_point *point; /* in the arena, with its slope */
    bool checked;              /* up to the next node the curve was as predicted */
    bool descended;            /* a free fit from here, or from the next node, found no minimum between */
    bool searched;             /* from further starts */
    bool fresh;                /* not compared with its neighbours yet */
};

/* A minimum of the likelihood, where the parameter is free. */
struct curve_minimum {
    double value, twice_nll, error; /* error: NaN if the fit has none */
    const double *parameters;
};

struct profile_curve {
    struct infer *infer;           /* its poi is the parameter */
    struct infer_profile *profile; /* the caller's, fitted; a lower minimum replaces it */
    double lower, upper;           /* where the curve is looked at */
    bool widens;                   /* `upper` may give way to the part with the best fit */
    const unsigned char *kept;     /* bounds that the job keeps; on the way all are kept */
    size_t n_levels;
    const double *levels; /* of q, in any order */
    double top;           /* minima up to this q matter: the highest level, or more */
    double unit;          /* a length of the parameter: its error, or a part of the range */
    size_t n, n_minima;
    struct curve_node *nodes; /* ascending */
    struct curve_minimum minima[16];
};

/* Where the curve below a level ends. */
struct curve_end {
    paritas_minos_end end;
    double value;
};

/* A piece of the curve below a level. */
struct curve_part {
    struct curve_end ends[2];
    double at, q; /* its minimum */
};

/* Twice the NLL of a node above the best fit; infinite outside the domain. */
double profile_curve_q(const struct profile_curve *curve, size_t node);
/* The next node from `from` on whose fit has an answer; curve->n: none. */
size_t profile_curve_next(const struct profile_curve *curve, size_t from);
