/* answers.h: everything that the library answers about loss cones and plasmas, as one array of numbers, so
 * that builds, widths, batches and devices can be compared bit by bit. Needs the public interface only, and
 * no mathematical library: inputs are the same bits wherever they are made. */
#ifndef PARITAS_TESTS_LOSSCONE_ANSWERS_H
#define PARITAS_TESTS_LOSSCONE_ANSWERS_H

#include "paritas_kappa.h"
#include "paritas_losscone.h"

#include <stdbool.h>

enum { SAMPLE_SWEEPS = 24, SAMPLE_SPECTRA = 20 };

/* Inputs: the first few hold what is common, all of them what is rare too. */
struct sample {
    double energy[SAMPLE_SWEEPS * 15], potential[SAMPLE_SWEEPS * 15];
    double cosine[SAMPLE_SWEEPS * 1320], flux[SAMPLE_SWEEPS * 1320];
    double masked[SAMPLE_SWEEPS * 1320]; /* fluxes that Lillis's method takes */
    double unit[SAMPLE_SWEEPS * 1320],
        measured[SAMPLE_SWEEPS * 1320]; /* counts of a flux of 1, and of the flux */
    double floor[SAMPLE_SWEEPS * 15];   /* background of the sensor */
    double theta[88], field[SAMPLE_SWEEPS * 45], polarity[SAMPLE_SWEEPS * 15], azimuth[SAMPLE_SWEEPS * 1320];
    double truth[SAMPLE_SWEEPS * 3]; /* U, r, A */
    paritas_kappa_plasma plasma[SAMPLE_SPECTRA];
    double covariance[SAMPLE_SPECTRA * 9];
    double spectrum_energy[SAMPLE_SPECTRA * 15], spectrum_flux[SAMPLE_SPECTRA * 15],
        sensitivity[SAMPLE_SPECTRA * 15], counts[SAMPLE_SPECTRA * 15], background[SAMPLE_SPECTRA * 15];
    unsigned char sunlit[SAMPLE_SPECTRA];
};
/* Made with the CPU in f64; NULL: a call failed. Freed by free(). */
struct sample *sample_make(void);

/* What is answered. HOST needs no kernel; COSINES is in f64 on every device. */
#define ANSWERS_LIST(X)                       \
    X(SEARCH, "search")                       \
    X(EVOLVE, "differential evolution")       \
    X(INTERVALS, "profiles, sets, bootstrap") \
    X(COUNTED, "counts")                      \
    X(EVALUATE, "evaluate")                   \
    X(COSINES, "cosines")                     \
    X(HOST, "host")                           \
    X(KAPPA, "kappa")                         \
    X(POTENTIAL, "potential")
enum answers_part {
#define X(name, word) ANSWERS_##name,
    ANSWERS_LIST(X)
#undef X
        ANSWERS_PART_COUNT
};
extern const char *const answers_part_names[ANSWERS_PART_COUNT];
#define ANSWERS_ALL ((1u << ANSWERS_PART_COUNT) - 1)

/* How it is asked for. Zeros: all of the sample, in one call each. */
struct answers_wish {
    size_t n;           /* the first so many sweeps and spectra */
    size_t chunk;       /* so many a call */
    unsigned box_limit; /* of the exact search; 0: as usual */
    bool few;           /* of every kind of call one, for what is slow */
};

/* Growing numbers, and what stands where. */
struct answers {
    double *number;
    size_t n, room;
    struct answers_mark {
        size_t at;
        char what[56];
    } *marks;
    size_t n_marks, marks_room;
};
void answers_free(struct answers *answers);
/* Appends what `part` answers. False: a call failed (the context says how) or there is no memory. */
bool answers_collect(paritas_context *context, const struct sample *sample, enum answers_part part,
                     const struct answers_wish *wish, struct answers *answers);
/* Compares bits. NULL: all are equal; else a sentence on the first number that is not, in a buffer of its
 * own. */
const char *answers_difference(const struct answers *got, const struct answers *wanted);

#endif
