/* losscone_sizes.h: sizes of what the searches keep in the slab and of what they answer; kernels and host. */
#ifndef PARITAS_LOSSCONE_SIZES_H
#define PARITAS_LOSSCONE_SIZES_H

#include "losscone/losscone_arrays.h"

/* cells.h */
#define SLOTS 16 /* SWEEP_ROWS, and an empty row */
#define SUB_ENERGIES 5
#define FAMILIES_MOST (SLOTS * SUB_ENERGIES)
#define THRESHOLDS (SWEEP_CELLS + 2) /* entries of a table over k: k = 0 .. SWEEP_CELLS, and an end */
#define CELLS_TABLE (THRESHOLDS * SLOTS)
#define CELLS_SIZE (160 + (2 + SUB_ENERGIES) * CELLS_TABLE + 3 * SLOTS * SWEEP_CELLS)

/* bound.h, plateau.h */
#define BOUND_SIZE (4 * FAMILIES_MOST)
#define VERTICES_MOST (4 + 2 * FAMILIES_MOST)
#define POLYGON_ROOM (2 * VERTICES_MOST)

/* search.h */
#define HEAP_MOST 1024
#define STACK_MOST 128
#define BOX_ENTRY 8    /* u0, u1, r0, r1, lines, lean, bound */
#define VISIT_LINES 12 /* no box has more when its cells are visited: */
#define VISIT_LINES_HARD 12.0
#define VISIT_LINES_BEAM 7.0
#define VISIT_ROOM (8 + 4 * (VISIT_LINES + 1))
#define SEARCH_SIZE                                                                                 \
    (CELLS_SIZE + 48 + (3 + BOX_ENTRY) * HEAP_MOST + BOX_ENTRY * STACK_MOST + 2 * BOUND_SIZE + 96 + \
     VISIT_ROOM * (VISIT_LINES + 2) + 3 * FAMILIES_MOST + 3 * POLYGON_ROOM + 64)

/* point.h, behind what cells.h has */
#define POINT_BUCKETS 128
#define POINT_STRIDE 136    /* buckets of a row, and one for x from 1 on */
#define POINT_ENTRY 8       /* a threshold and the steps behind it */
#define POINT_THRESHOLDS 96 /* of a row */
#define POINT_SIZE (SLOTS * (POINT_STRIDE + POINT_ENTRY * POINT_THRESHOLDS + 3 * SWEEP_CELLS + 3))

/* evolve.h: the Latin hypercube's points, of a population of `members`, a multiple of 8 */
#define EVOLVE_STARTS 400
#define EVOLVE_OUT 8 /* misfit, U, r, A, cells, generations, 1 if it came to rest */
#define EVOLVE_SIZE(members) (CELLS_SIZE + POINT_SIZE + 16 + EVOLVE_STARTS + 15 * (size_t)(members))

/* beam.h */
#define BEAM_AT SEARCH_SIZE
#define BEAM_NODES 10
#define BEAM_STRIDE 96
#define BEAM_SIZE \
    (4 * SLOTS + SLOTS * SWEEP_CELLS + SLOTS * BEAM_STRIDE * (2 + BEAM_NODES) + 6 * SLOTS * SWEEP_CELLS)

/* solve.h */
#define SOLVE_AT (BEAM_AT + BEAM_SIZE)
#define SOLVE_SIZE (9 * SLOTS + 3 * (5 * SLOTS + 2) + BEAM_STRIDE * SLOTS)
#define SOLVED_MOST 64 /* cells that are remembered as solved */
#define SOLVED_AT (SOLVE_AT + SOLVE_SIZE)

/* all of it */
#define SEARCH_SLAB_SIZE (SOLVED_AT + SOLVED_MOST * SLOTS)

/* profile.h */
#define PROFILE_AT SEARCH_SLAB_SIZE
#define PROFILE_PENDING_MOST 4
/* intervals wait for the least bound to be taken first; beyond, the newest is */
#define PROFILE_WAITING_WIDE 64
#define PROFILE_WAITING_MOST 128 /* and then as many more as halvings lead from the bounds of r to a sliver */
#define PROFILE_LINES 24         /* at most: lines of an interval whose cells are visited */
#define PROFILE_SOLVED_MOST 8
#define PROFILE_SIZE                                                                                \
    (32 + 4 * PROFILE_PENDING_MOST + 4 * PROFILE_WAITING_MOST + BOUND_SIZE * PROFILE_PENDING_MOST + \
     3 * FAMILIES_MOST + 3 * (PROFILE_LINES + 8) + PROFILE_SOLVED_MOST * SLOTS)
#define PROFILE_OUT 3 /* of each potential: misfit, r, A; behind all of a sweep the number of cells */

/* confidence.h: behind the profile's a flag for each of n potentials */
#define CONFIDENCE_AT (PROFILE_AT + PROFILE_SIZE)
#define CONFIDENCE_STACK 128
#define CONFIDENCE_SLAB(n) (CONFIDENCE_AT + 48 + 4 * CONFIDENCE_STACK + (size_t)(n) + 8)
/* behind the sweep: the highest misfit of the set, ends of the plateau */
#define CONFIDENCE_IN (SWEEP_SIZE + 8)
#define CONFIDENCE_LIMIT SWEEP_SIZE
#define CONFIDENCE_PLATEAU (SWEEP_SIZE + 1)
#define CONFIDENCE_SETS 8
#define CONFIDENCE_OUT (1 + 2 * CONFIDENCE_SETS) /* intervals, then their ends */

/* bootstrap.h: behind the profile's the model at the data, with which all draws begin */
#define BOOTSTRAP_AT (PROFILE_AT + PROFILE_SIZE)
#define BOOTSTRAP_SLAB (BOOTSTRAP_AT + 2 * SLOTS * SWEEP_CELLS + 2 * SLOTS)
#define BOOTSTRAP_IN (SWEEP_SIZE + 8) /* behind the sweep: U, r, size of the noise, below 0: no fit */

/* outcome.h */
/* A sweep's answer: offsets in its row. */
#define OUTCOME_MISFIT 0 /* a sum, for Lillis too */
#define OUTCOME_CELLS 1
#define OUTCOME_POINT 2  /* U, r, A */
#define OUTCOME_EXTENT 5 /* least and largest U, least and largest r */
#define OUTCOME_PROVEN 9 /* no point has a lesser sum */
#define OUTCOME_BOXES 10
#define OUTCOME_SOLVED 11
#define OUTCOME_VERTICES 12
#define OUTCOME_CENTRE 13 /* U, r */
#define OUTCOME_VERTEX 16 /* U, r of the first OUTCOME_VERTICES_MOST */
#define OUTCOME_VERTICES_MOST 16
#define OUTCOME_SIZE (OUTCOME_VERTEX + 2 * OUTCOME_VERTICES_MOST)

#endif
