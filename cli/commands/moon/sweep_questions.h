/* sweep_questions.h: synthetic sweeps and spectra, and what a context answers about them, to compare and to
 * time contexts. */
#pragma once

#include "session/session.h"
#include "paritas_kappa.h"
#include "paritas_losscone.h"

enum sweep_family { SWEEPS_LOSSCONE, SWEEPS_KAPPA, SWEEP_FAMILIES };

#define SWEEP_QUESTION_LIST(X)                               \
    X(LOSSCONE, HARD, "fits, hard edge")                     \
    X(LOSSCONE, FOLDED, "fits, folded edge")                 \
    X(LOSSCONE, LILLIS, "fits, lillis")                      \
    X(LOSSCONE, HARD_SETS, "confidence sets, hard edge")     \
    X(LOSSCONE, FOLDED_SETS, "confidence sets, folded edge") \
    X(LOSSCONE, EVOLUTION, "differential evolution")         \
    X(LOSSCONE, MISFITS, "misfits at 64 points")             \
    X(LOSSCONE, MODELS, "models")                            \
    X(KAPPA, KAPPA_FITS, "kappa fits")                       \
    X(KAPPA, SUNLIT, "potentials in sunlight")               \
    X(KAPPA, SHADED, "potentials in shade")                  \
    X(KAPPA, KAPPA_MISFITS, "misfits at 64 points")          \
    X(KAPPA, FLUXES, "fluxes")
enum sweep_question {
#define X(family, id, name) QUESTION_##id,
    SWEEP_QUESTION_LIST(X)
#undef X
        SWEEP_QUESTIONS
};
struct sweep_question_name {
    enum sweep_family family;
    const char *name;
};
extern const struct sweep_question_name sweep_questions[SWEEP_QUESTIONS];

/* Sweeps with their fits, and spectra with their plasmas. In the arena. */
struct sweep_work {
    enum sweep_family family;
    size_t n;
    paritas_sweeps sweeps, sweeps_of_lillis;
    paritas_spectra spectra;
    double *points; /* n rows of true U, r, A, then 64 rows for misfits */
    paritas_kappa_plasma *plasmas;
    double *covariance;
    unsigned char *sunlit, *shaded; /* n: ones, zeros */
    paritas_losscone_result *fits[2];
};

/* Bit patterns of all numbers of the answer's records; whole numbers as doubles. In the arena. */
struct sweep_answer {
    double *values;
    size_t n;
};

/* The family that the first operand names; SWEEP_FAMILIES: none, a workspace. */
enum sweep_family sweep_family_of(const struct session *session);
/* Fails with exit code 2 if an option of workspaces is given. own: names of such options of the command,
 * ended by NULL. */
paritas_status sweep_check_options(struct session *session, enum sweep_family family, const char *const *own);
/* n sweeps of a seed. `maker` computes them and the fits that confidence sets need: the same for all
 * contexts. A failure becomes the session's. */
paritas_status sweep_work_open(struct session *session, paritas_context *maker, enum sweep_family family,
                               size_t n, uint64_t seed, struct sweep_work *work);
/* Asks a context. answer: NULL if only the time matters. A failure becomes the session's. */
paritas_status sweep_ask(struct session *session, paritas_context *context, const struct sweep_work *work,
                         enum sweep_question question, struct sweep_answer *answer);
