/* matrix.h: one claim, tried on many devices. A cell is a claim about a subject (a model, for example) on a
 * target: a device in one precision, with teams of one size. Each cell is a case of its own, which
 * `tests/run --case` finds by name. Three lines make cells:
 *
 *   CLAIM(fits_are_the_cpus) { matrix_compare(*state, ask, BIT_OF_FITS); }
 *   static const struct target teams[] = {ON("opencl", 64, 32), ON(CUDA_TEXT, 64, 32), ON("cuda", 32, 0)};
 *   ADD(matrix, fits_are_the_cpus, models, COUNT(models), teams, COUNT(teams));
 *
 * A target that is not here skips its cells. The program `matrix` has all families of claims: words on its
 * command line choose (tests/matrix/CMakeLists.txt).
 */
#ifndef PARITAS_TESTS_MATRIX_MATRIX_H
#define PARITAS_TESTS_MATRIX_MATRIX_H

#include "device/device.h"
#include "common.h"
#include "parity/results.h"

#include <stdbool.h>

#define CUDA_TEXT "CUDA's text"         /* as native code */
#define METAL_TEXT "Metal's text"       /* as native code, under a library that stands in for Apple's */
#define CUDA_STAND_IN "CUDA's stand-in" /* libraries that stand in for NVIDIA's */

/* In which order the workers of a team take their turns between barriers, in the texts. */
enum turns { TURNS_FORWARD, TURNS_BACKWARD, TURNS_MIXED };

struct target {
    const char *device; /* of paritas_options, or one of the above */
    unsigned precision, workers;
    enum turns turns;
    bool flushes;            /* METAL_TEXT: subnormal numbers become zero */
    bool polished;           /* f32 answers are finished in f64, as users have them */
    const char *isa;         /* of the CPU, as the next two */
    unsigned lanes, threads; /* 0 threads: one */
};

/* ON("cuda", 64, 7), and what else is said by name: ON(CUDA_TEXT, 64, 32, .turns = TURNS_MIXED). */
#define ON(which, bits, ...) {.device = which, .precision = bits, .workers = __VA_ARGS__}

struct subject {
    const char *name;
    const void *value;
};

struct cell {
    const struct target *target;
    const void *subject; /* the value of a struct subject */
    char name[160];      /* of the case */
};

#define MATRIX_MOST 400
struct matrix {
    const char *device; /* cells of this one; NULL: of all that run always */
    unsigned precision; /* and of this one; 0: both */
    struct CMUnitTest tests[MATRIX_MOST];
    struct cell cells[MATRIX_MOST];
    size_t n;
};

#define CLAIM(name) static void name(void **state)

/* The claim for each subject on each target that the matrix is for. */
#define ADD(matrix, claim, subjects, n_subjects, targets, n_targets) \
    matrix_add(matrix, #claim, claim, subjects, n_subjects, targets, n_targets)
void matrix_add(struct matrix *matrix, const char *claim, CMUnitTestFunction run,
                const struct subject *subjects, size_t n_subjects, const struct target *targets,
                size_t n_targets);

/* Targets of sanitizers' builds, which are slow: the first of them. */
#define SOME(targets) (SHARE > 2 ? 1 : COUNT(targets))

/* One thread, and no polish unless the target says so. NULL: the target is not here. */
paritas_context *target_open(const struct target *target);
/* Closes it; fails where a stand-in saw what a device would leave undefined. */
void target_close(const struct target *target, paritas_context *context);
/* Where all others are compared with: the portable CPU, one fit at a time. */
struct target target_reference(const struct target *target);

/* Appends what a context answers about the cell's subject: the parts that have a bit in `parts`. */
typedef void (*matrix_question)(const struct cell *cell, paritas_context *context, unsigned parts,
                                struct results *answer);
/* The cell's target answers the reference's bytes. Skips where the target is not here. The reference is asked
 * once for all targets of a subject. */
void matrix_compare(const struct cell *cell, matrix_question ask, unsigned parts);

void append_bytes(struct results *results, const void *bytes, size_t length);

/* On accelerators: fills the memory that the next launch works in with NaN. It may read nothing that it has
 * not written. */
void spoil_memory(paritas_context *context);
/* On accelerators: every entry of the modules in use has run, but for `except` (NULL: none). */
void assert_every_entry_ran(const paritas_context *context, const char *except);

/* The families of claims: a file each. */
void add_histfactory(struct matrix *matrix);
void add_constraints(struct matrix *matrix);
void add_toys(struct matrix *matrix);
void add_losscone(struct matrix *matrix);
void add_kappa(struct matrix *matrix);
void add_custom(struct matrix *matrix);

#endif
