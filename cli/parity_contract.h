/* parity_contract.h: all numbers that a context answers for a model, to compare two contexts. */
#ifndef PARITAS_PARITY_CONTRACT_H
#define PARITAS_PARITY_CONTRACT_H

#include "session.h"

/* The quantities: identifier, name for people. */
#define CONTRACT_LIST(X)            \
    X(NLL, "likelihood")            \
    X(GRADIENT, "gradient")         \
    X(HESSIAN, "Hessian")           \
    X(MINIMUM, "minimum")           \
    X(BEST, "best fit")             \
    X(ERRORS, "errors, covariance") \
    X(SCAN_OF_Q, "scan")            \
    X(TEST, "q and CLs")            \
    X(TOYS, "toys")

enum contract_quantity {
#define X(id, name) CONTRACT_##id,
    CONTRACT_LIST(X)
#undef X
        CONTRACT_QUANTITIES
};
extern const char *const contract_names[CONTRACT_QUANTITIES];

#define CONTRACT_POINTS 8   /* at which likelihoods and gradients are taken: the start, and around it */
#define CONTRACT_HESSIANS 2 /* of those */
#define CONTRACT_SCAN 21
#define CONTRACT_TOY 3 /* numbers a toy: q, best fit of the parameter of interest, status */
enum { CONTRACT_Q, CONTRACT_Q_ASIMOV, CONTRACT_CLS, CONTRACT_CLS_EXP, CONTRACT_TESTS = CONTRACT_CLS_EXP + 5 };

/* What every context is asked about the session's model and job. Arrays in the arena. */
struct contract_plan {
    double *points; /* CONTRACT_POINTS rows */
    size_t scanned; /* parameter; none where all are fixed: then n_scan is 0 */
    size_t n_scan;
    double scan[CONTRACT_SCAN];
    bool poi; /* a free one exists; else there are no tests and no toys */
    double mu;
    uint64_t ntoys, seed; /* of each hypothesis */
};

/* A context's answers: n[q] numbers of quantity q, 0 if the model has none. In the arena. */
struct contract_answer {
    double *values[CONTRACT_QUANTITIES];
    size_t n[CONTRACT_QUANTITIES];
    paritas_parameter_state *states; /* of the best fit */
};

/* Points around the start; then, with an answer up to ERRORS, a scan of two errors around the best fit. */
paritas_status contract_plan_points(struct session *session, struct contract_plan *plan);
void contract_plan_scan(const struct session *session, struct contract_plan *plan,
                        const struct contract_answer *answer);

/* Asks `context` for the quantities from `first` to `last`. Its failure becomes the session's. */
paritas_status contract_ask(struct session *session, paritas_context *context,
                            const struct contract_plan *plan, enum contract_quantity first,
                            enum contract_quantity last, struct contract_answer *answer);

/* Distance in units in the last place: 0 for equal bits, 2^64 - 1 if only one is a number. */
uint64_t contract_ulps(double a, double b);

#endif
