/* conformance_sizes.h: what host and kernels of the conformance module share. */
#ifndef PARITAS_ENTRY_CONFORMANCE_SIZES_H
#define PARITAS_ENTRY_CONFORMANCE_SIZES_H

#define CONFORM_IN 24 /* elements of a row that comes in: a, b, c of 8 each */
/* of 8 results each: one group a word of the kernel language, or a few, or a function */
#define CONFORM_GROUPS 40
#define CONFORM_FUNCTIONS 16 /* the first group of each part */
#define CONFORM_TEAM 24
#define CONFORM_RANDOM 32
#define CONFORM_ANGLES 36
#define CONFORM_OUT (8 * CONFORM_GROUPS)
/* elements that the workers of a team share: as many as the largest teams have workers */
#define CONFORM_SHARED 256
#define CONFORM_SLAB 1024
/* the model's tables: a permutation of 0 .. CONFORM_SHARED - 1, then 8 integers */
#define CONFORM_INTS (CONFORM_SHARED + 8)
#define CONFORM_REALS 8

#endif
