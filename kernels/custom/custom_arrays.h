/* custom_arrays.h: a user's frozen model (docs/models.md), two flat tables shared by host and kernels.
 *
 * Slots: parameters, padded to a multiple of 8. Places of a data row: main data, padded to a multiple of 8
 * (P), then an auxiliary datum a slot. u32 table: the header, the user's. elem table: kinds of main places,
 * 1/sigma^2 of slots (0: no constraint), the user's. */
#pragma once

/* Of this file and entry/entry_custom.h; kernels tell the host theirs. */
#define CUSTOM_VERSION 3

/* Kinds of main places; above 0: 1/sigma^2 of a measurement. */
#define CUSTOM_COUNT 0.0
#define CUSTOM_TERM (-1.0)
#define CUSTOM_PADDING (-2.0)

/* Vectors at CUSTOM_S_name. Value and gradient need those before WEIGHT. */
#define CUSTOM_SLAB_VECTORS(VECTOR)                                                 \
    VECTOR(X, slots)                                                                \
    VECTOR(ACTIVE, slots)                                                           \
    VECTOR(GRADIENT, slots)                                                         \
    VECTOR(PENALTY, slots)                                                          \
    VECTOR(DIAGONAL, slots)                                                         \
    VECTOR(SCALE, slots)                                                            \
    VECTOR(RDIAG, slots)                                                            \
    VECTOR(MAIN, places)                                                            \
    VECTOR(AUX, slots) /* follows MAIN */                                           \
    VECTOR(VALUE, places)                                                           \
    VECTOR(TERM, places)                                                            \
    VECTOR(SLOPE, places)             /* of terms by VALUE */                       \
    VECTOR(FIRST, parameters *places) /* derivatives of VALUE */                    \
    VECTOR(SCALARS, 8)                /* value; first bad pivot, its value, flat */ \
    VECTOR(WEIGHT, places)            /* of first derivatives, Hessian */           \
    VECTOR(FISHER, places)            /* and Fisher matrix */                       \
    VECTOR(SECOND, CUSTOM_PAIRS_OF(parameters) * places)                            \
    VECTOR(TILES, 4 * slots * (slots / 8 + 1))                                      \
    VECTOR(MINIMISER, minimiser)

#define CUSTOM_SLAB_VECTOR(name, count) CUSTOM_S_##name,
enum custom_header {
    CUSTOM_MAIN,                                             /* main data */
    CUSTOM_PLACES,                                           /* P */
    CUSTOM_DATA,                                             /* of a data row: P + slots */
    CUSTOM_TERMS,                                            /* 1: all are terms */
    CUSTOM_R_PRECISION,                                      /* in elem table */
    CUSTOM_R_OWN,                                            /* the user's */
    CUSTOM_SLAB_VECTORS(CUSTOM_SLAB_VECTOR) CUSTOM_S_MEMORY, /* after the slab */
    CUSTOM_HEADER
};

#define CUSTOM_SLOTS_OF(parameters) (((parameters) + 7) / 8 * 8)
#define CUSTOM_PAIRS_OF(parameters) ((parameters) * ((parameters) + 1) / 2)
#define CUSTOM_PARAMETERS_MOST 128 /* a worker holds a datum's derivatives */
