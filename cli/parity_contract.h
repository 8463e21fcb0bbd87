/* parity_contract.h: what the contract is about, as numbers: everything that a context answers for a model, to be
 * compared with what another one does. */
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

/* What is asked of the session's model and job, the same of every context. Arrays in the session's arena. */
struct contract_plan {
    double *points; /* CONTRACT_POINTS rows */
    size_t scanned; /* parameter; none where all are fixed: then n_scan is 0 */
    size_t n_scan;
    double scan[CONTRACT_SCAN];
    bool poi; /* is there one that is free? Else there are no tests and no toys of them */
    double mu;
    uint64_t ntoys, seed; /* of each hypothesis */
};

/* What a context answered: n[q] numbers of quantity q; none where the model has no such thing. In the
 * session's arena. */
struct contract_answer {
    double *values[CONTRACT_QUANTITIES];
    size_t n[CONTRACT_QUANTITIES];
    paritas_parameter_state *states; /* of the best fit */
};

/* Points around the start; then, with an answer up to ERRORS, a scan of two errors around the best fit. */
paritas_status contract_plan_points(struct session *session, struct contract_plan *plan);
void contract_plan_scan(const struct session *session, struct contract_plan *plan,
                        const struct contract_answer *answer);

/* Asks `context` for the quantities from `first` to `last`. Answers of a context that failed are the error of
 * the session's. */
paritas_status contract_ask(struct session *session, paritas_context *context,
                            const struct contract_plan *plan, enum contract_quantity first,
                            enum contract_quantity last, struct contract_answer *answer);

/* How many numbers lie between two: 0 where their bits are equal, 2^64 - 1 where only one is a number. */
uint64_t contract_ulps(double a, double b);

#endif
