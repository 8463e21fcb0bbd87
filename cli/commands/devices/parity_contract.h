/* parity_contract.h: all numbers that a context answers, to compare contexts. */
#pragma once

#include "session/session.h"

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

#define CONTRACT_POINTS 8 /* the start and points around it: likelihoods, gradients */
#define CONTRACT_HESSIANS 2
#define CONTRACT_SCAN 21
#define CONTRACT_TOY 3 /* q, best fit of the POI, status */
enum { CONTRACT_Q, CONTRACT_Q_ASIMOV, CONTRACT_CLS, CONTRACT_CLS_EXP, CONTRACT_TESTS = CONTRACT_CLS_EXP + 5 };

/* What every context is asked about the session's model and job. In the arena. */
struct contract_plan {
    double *points; /* CONTRACT_POINTS rows */
    size_t scanned; /* none if all are fixed: n_scan is 0 */
    size_t n_scan;
    double scan[CONTRACT_SCAN];
    bool poi; /* free POI; else no tests and toys */
    double mu;
    uint64_t ntoys, seed; /* of each hypothesis */
};

/* n[q] numbers of quantity q; 0: the model has none. In the arena. */
struct contract_answer {
    double *values[CONTRACT_QUANTITIES];
    size_t n[CONTRACT_QUANTITIES];
    paritas_parameter_state *states;
};

/* The tested value of the POI unless one is given: 1, or the middle of its bounds. 0: no POI. */
double contract_mu(const struct session *session);
/* Points around the start; with answers up to ERRORS, a scan of two errors around the best fit. */
paritas_status contract_plan_points(struct session *session, struct contract_plan *plan);
void contract_plan_scan(const struct session *session, struct contract_plan *plan,
                        const struct contract_answer *answer);

/* Quantities `first` to `last`. A failure becomes the session's. */
paritas_status contract_ask(struct session *session, paritas_context *context,
                            const struct contract_plan *plan, enum contract_quantity first,
                            enum contract_quantity last, struct contract_answer *answer);

/* Distance in ulps: 0 for equal bits, 2^64 - 1 if only one is a number. */
uint64_t contract_ulps(double a, double b);
