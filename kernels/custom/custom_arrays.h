/* custom_arrays.h: the frozen form of a user's model (docs/models.md), shared by host and kernels: two flat
 * tables.
 *
 * A slot is a parameter, in the user's order, padded to a multiple of 8. A place is an element of a data row:
 * the main data, padded to a multiple of 8 (P of them), then one place a slot for its auxiliary datum.
 *
 * `u32` table: the header below, then the user's. `elem` table: the kind of each main place, the precision
 * 1/sigma^2 of each slot's constraint (0: none), then the user's. The header has the slab's offsets. */
#ifndef PARITAS_CUSTOM_ARRAYS_H
#define PARITAS_CUSTOM_ARRAYS_H

/* Host and kernels agree on all of this file and on the rows of entry/entry_custom.h; kernels say which they
 * were compiled with. */
#define CUSTOM_VERSION 2

/* Kinds of main places; above 0: measured, with this precision. */
#define CUSTOM_COUNT 0.0
#define CUSTOM_TERM (-1.0)
#define CUSTOM_PADDING (-2.0)

/* Vectors in the slab: name, elements. CUSTOM_S_name is where one begins. A value and a gradient need those
 * before WEIGHT. */
#define CUSTOM_SLAB_VECTORS(VECTOR)                                                                 \
    VECTOR(X, slots)                                                                                \
    VECTOR(ACTIVE, slots)                                                                           \
    VECTOR(GRADIENT, slots)                                                                         \
    VECTOR(PENALTY, slots)                                                                          \
    VECTOR(DIAGONAL, slots)                                                                         \
    VECTOR(SCALE, slots)                                                                            \
    VECTOR(RDIAG, slots)                                                                            \
    VECTOR(MAIN, places)                                                                            \
    VECTOR(AUX, slots)                /* directly behind MAIN */                                    \
    VECTOR(VALUE, places)             /* what the user's function answers */                        \
    VECTOR(TERM, places)              /* terms of the likelihood */                                 \
    VECTOR(SLOPE, places)             /* their derivatives by that answer */                        \
    VECTOR(FIRST, parameters *places) /* the answer's derivatives */                                \
    VECTOR(SCALARS, 8)                /* value; first bad pivot, its value, whether one was flat */ \
    VECTOR(WEIGHT, places)            /* of products of first derivatives, in the Hessian */        \
    VECTOR(FISHER, places)            /* and in the Fisher matrix */                                \
    VECTOR(SECOND, CUSTOM_PAIRS_OF(parameters) * places)                                            \
    VECTOR(TILES, 4 * slots * (slots / 8 + 1))                                                      \
    VECTOR(MINIMISER, minimiser)

#define CUSTOM_SLAB_VECTOR(name, count) CUSTOM_S_##name,
enum custom_header {
    CUSTOM_MAIN,                                             /* main data */
    CUSTOM_PLACES,                                           /* P */
    CUSTOM_DATA,                                             /* elements of a data row: P + slots */
    CUSTOM_TERMS,                                            /* 1: all places are terms */
    CUSTOM_R_PRECISION,                                      /* into the elem table: slots */
    CUSTOM_R_OWN,                                            /* the user's */
    CUSTOM_SLAB_VECTORS(CUSTOM_SLAB_VECTOR) CUSTOM_S_MEMORY, /* what stands behind the slab */
    CUSTOM_HEADER
};

#define CUSTOM_SLOTS_OF(parameters) (((parameters) + 7) / 8 * 8)
#define CUSTOM_PAIRS_OF(parameters) ((parameters) * ((parameters) + 1) / 2)
#define CUSTOM_PARAMETERS_MOST 128 /* a worker holds all derivatives of a datum */

#endif
