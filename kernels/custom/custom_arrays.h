/* custom_arrays.h: the frozen form of a model that a user wrote (docs/models.md), shared by host and kernels: two
 * flat tables.
 *
 * A slot is a parameter, in the user's order, padded to a multiple of 8. A place is an element of a data row:
 * the main data, padded to a multiple of 8 (P of them), then one place a slot for what was measured of that
 * parameter.
 *
 * `u32` table: the header below, then the user's. `elem` table: the kind of each main place, the precision
 * 1/sigma^2 of what constrains each slot (0: nothing does), then the user's. The slab's offsets are in the
 * header.
 */
#ifndef PARITAS_CUSTOM_ARRAYS_H
#define PARITAS_CUSTOM_ARRAYS_H

/* Host and kernels agree on all of this file and on the rows of entry/entry_custom.h; kernels say which they were
 * compiled with. */
#define CUSTOM_VERSION 2

/* Kinds of main places; above 0: measured, with this precision. */
#define CUSTOM_COUNT 0.0
#define CUSTOM_TERM (-1.0)
#define CUSTOM_PADDING (-2.0)

enum custom_header {
    CUSTOM_MAIN,        /* main data */
    CUSTOM_PLACES,      /* P */
    CUSTOM_DATA,        /* elements of a data row: P + slots */
    CUSTOM_TERMS,       /* 1: all places are terms */
    CUSTOM_R_PRECISION, /* into the elem table: slots */
    CUSTOM_R_OWN,       /* the user's */
    /* into the slab, each a vector of as many elements as there are slots, unless it says otherwise */
    CUSTOM_S_X,
    CUSTOM_S_ACTIVE,
    CUSTOM_S_GRADIENT,
    CUSTOM_S_PENALTY,
    CUSTOM_S_DIAGONAL,
    CUSTOM_S_SCALE,
    CUSTOM_S_RDIAG,
    CUSTOM_S_MAIN, /* P, then CUSTOM_S_AUX behind it */
    CUSTOM_S_AUX,
    CUSTOM_S_VALUE,  /* P each: what the user's function answers, */
    CUSTOM_S_TERM,   /* terms of the likelihood, */
    CUSTOM_S_SLOPE,  /* their derivatives by that answer, */
    CUSTOM_S_WEIGHT, /* the weights of products of first derivatives in the Hessian, */
    CUSTOM_S_FISHER, /* and in the Fisher matrix */
    CUSTOM_S_FIRST,  /* P for each parameter */
    CUSTOM_S_SECOND, /* P for each pair of parameters */
    CUSTOM_S_TILES,
    CUSTOM_S_MINIMISER,
    CUSTOM_S_SCALARS, /* 8: value; first bad pivot, its value, whether one was flat */
    CUSTOM_S_MEMORY,  /* what stands behind the slab */
    CUSTOM_HEADER
};

#define CUSTOM_SLOTS_OF(parameters) (((parameters) + 7) / 8 * 8)
#define CUSTOM_PAIRS_OF(parameters) ((parameters) * ((parameters) + 1) / 2)
#define CUSTOM_PARAMETERS_MOST 128 /* a worker holds all derivatives of a datum */

#endif
