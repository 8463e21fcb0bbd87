/* parity_contract.c: asks a context for all numbers of the contract. */
#include "commands/devices/parity_contract.h"
#include "base/math/counter_random.h"

#include <math.h>
#include <string.h>

const char *const contract_names[CONTRACT_QUANTITIES] = {
#define X(id, name) name,
    CONTRACT_LIST(X)
#undef X
};

/* A number in (-1, 1) by (point, parameter). */
static double uniform(uint64_t point, uint64_t parameter)
{
    return (double)(int64_t)counter_bits(point, parameter) * 0x1p-63;
}

double contract_mu(const struct session *session)
{
    const ptrdiff_t poi = poi_of(session);
    if (poi < 0) return 0.0;
    const struct range bounds = bounds_of(session, (size_t)poi);
    return in_range(bounds, 1.0) ? 1.0 : 0.5 * (bounds.lower + bounds.upper);
}

paritas_status contract_plan_points(struct session *session, struct contract_plan *plan)
{
    const size_t n = session->n_parameters;
    const paritas_job *job = &session->job;
    const double *width = paritas_model_constraint_widths(session->model);
    plan->points = arena_numbers(session, CONTRACT_POINTS * n);
    TRY(allocated(session));
    for (size_t k = 0; k < CONTRACT_POINTS; k++)
        for (size_t i = 0; i < n; i++) {
            double *x = &plan->points[k * n + i];
            *x = job->start[i];
            if (k == 0 || job->fixed[i]) continue;
            *x += uniform(k, i) * (isnan(width[i]) ? 0.2 * (fabs(*x) + 0.1) : 0.5 * width[i]);
            *x = clamped(bounds_of(session, i), *x);
        }
    plan->poi = has_free_poi(session);
    plan->scanned = plan->poi ? (size_t)poi_of(session) : 0;
    while (plan->scanned < n && job->fixed[plan->scanned]) plan->scanned++;
    return PARITAS_OK;
}

void contract_plan_scan(const struct session *session, struct contract_plan *plan,
                        const struct contract_answer *answer)
{
    const size_t i = plan->scanned;
    if (i == session->n_parameters) return;
    const struct range range = range_around(session, i, answer->values[CONTRACT_BEST][i],
                                            answer->values[CONTRACT_ERRORS][i], 2.0, 0.1);
    plan->n_scan = CONTRACT_SCAN;
    for (size_t k = 0; k < CONTRACT_SCAN; k++) plan->scan[k] = range_value(range, k, CONTRACT_SCAN);
}

struct asking {
    struct session *session;
    paritas_context *context;
    const struct contract_plan *plan;
    struct contract_answer *answer;
};

static double *room(struct asking *a, enum contract_quantity quantity, size_t n)
{
    a->answer->n[quantity] = n;
    return a->answer->values[quantity] = arena_numbers(a->session, n);
}

static paritas_status ask_likelihood(struct asking *a)
{
    const paritas_model *model = a->session->model;
    const size_t n = a->session->n_parameters;
    double *nll = room(a, CONTRACT_NLL, CONTRACT_POINTS),
           *gradient = room(a, CONTRACT_GRADIENT, CONTRACT_POINTS * n),
           *hessian = room(a, CONTRACT_HESSIAN, CONTRACT_HESSIANS * n * n);
    const double *data = a->session->job.data ? a->session->job.data : paritas_model_data(model);
    TRY(allocated(a->session));
    TRY(paritas_evaluate(a->context, model, CONTRACT_POINTS, a->plan->points, 1, data,
                         &(paritas_evaluate_answers){.size = sizeof(paritas_evaluate_answers),
                                                     .twice_nll = nll,
                                                     .gradient = gradient}));
    return paritas_evaluate(
        a->context, model, CONTRACT_HESSIANS, a->plan->points, 1, data,
        &(paritas_evaluate_answers){.size = sizeof(paritas_evaluate_answers), .hessian = hessian});
}

static paritas_status ask_fit(struct asking *a)
{
    const size_t n = a->session->n_parameters;
    double *minimum = room(a, CONTRACT_MINIMUM, 5), *best = room(a, CONTRACT_BEST, n),
           *errors = room(a, CONTRACT_ERRORS, n + n * n);
    a->answer->states = arena_elements(a->session, n, sizeof *a->answer->states);
    TRY(allocated(a->session));
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    const paritas_fit_answers answers = {.size = sizeof answers,
                                         .results = &result,
                                         .parameters = best,
                                         .errors = errors,
                                         .covariance = errors + n,
                                         .states = a->answer->states};
    TRY(paritas_fit(a->context, a->session->model, NULL, 1, &a->session->job, &answers));
    minimum[0] = result.twice_nll;
    minimum[1] = result.edm;
    minimum[2] = result.projected_gradient;
    minimum[3] = (double)result.iterations;
    minimum[4] = (double)result.status;
    return PARITAS_OK;
}

static paritas_status ask_scan(struct asking *a)
{
    const struct contract_plan *plan = a->plan;
    paritas_scan_point *points = arena_records(a->session, plan->n_scan, sizeof *points);
    double *q = room(a, CONTRACT_SCAN_OF_Q, plan->n_scan);
    TRY(allocated(a->session));
    if (plan->n_scan == 0) return PARITAS_OK;
    paritas_fit_result best = PARITAS_INIT(paritas_fit_result);
    const paritas_scan_request request = {.size = sizeof request,
                                          .n_parameters = 1,
                                          .parameters = &plan->scanned,
                                          .n_points = plan->n_scan,
                                          .values = plan->scan,
                                          .best = &best,
                                          .points = points};
    TRY(paritas_scan(a->context, a->session->model, &a->session->job, &request));
    for (size_t k = 0; k < plan->n_scan; k++) q[k] = points[k].q;
    return PARITAS_OK;
}

static paritas_status ask_test(struct asking *a)
{
    if (!a->plan->poi) return PARITAS_OK;
    double *values = room(a, CONTRACT_TEST, CONTRACT_TESTS);
    TRY(allocated(a->session));
    paritas_hypotest_result r = PARITAS_INIT(paritas_hypotest_result);
    TRY(paritas_hypotest(a->context, a->session->model, &a->session->job, PARITAS_STATISTIC_QTILDE, 1,
                         &a->plan->mu, &r));
    values[CONTRACT_Q] = r.q;
    values[CONTRACT_Q_ASIMOV] = r.q_asimov;
    values[CONTRACT_CLS] = r.cls_obs;
    memcpy(values + CONTRACT_CLS_EXP, r.cls_exp, sizeof r.cls_exp);
    return PARITAS_OK;
}

struct kept {
    double *values, mu;
    size_t ntoys, n;
};

/* Toys of the two hypotheses come in blocks; each toy has its place. */
static int keep(void *user, size_t n, const paritas_toy *toys)
{
    struct kept *kept = user;
    for (size_t i = 0; i < n; i++) {
        const size_t place = (size_t)toys[i].toy + (toys[i].hypothesis == kept->mu ? 0 : kept->ntoys);
        double *value = kept->values + CONTRACT_TOY * place;
        value[0] = toys[i].q;
        value[1] = toys[i].mu_hat;
        value[2] = (double)toys[i].status;
        if (place >= kept->n) kept->n = place + 1;
    }
    return 0;
}

static paritas_status ask_toys(struct asking *a)
{
    if (!a->plan->poi || a->plan->ntoys == 0) return PARITAS_OK;
    const size_t n = 2 * CONTRACT_TOY * (size_t)a->plan->ntoys;
    double *values = room(a, CONTRACT_TOYS, n);
    TRY(allocated(a->session));
    struct kept kept = {.values = values, .mu = a->plan->mu, .ntoys = (size_t)a->plan->ntoys};
    paritas_toys_options options = PARITAS_TOYS_OPTIONS_DEFAULT;
    options.n = a->plan->ntoys;
    options.seed = a->plan->seed;
    options.take = keep;
    options.user = &kept;
    paritas_hypotest_toys_result result = PARITAS_INIT(paritas_hypotest_toys_result);
    const paritas_status status =
        paritas_hypotest_toys(a->context, a->session->model, &a->session->job, PARITAS_STATISTIC_QTILDE,
                              a->plan->mu, &options, &result);
    a->answer->n[CONTRACT_TOYS] = CONTRACT_TOY * kept.n; /* mu 0 has one hypothesis */
    return status;
}

paritas_status contract_ask(struct session *session, paritas_context *context,
                            const struct contract_plan *plan, enum contract_quantity first,
                            enum contract_quantity last, struct contract_answer *answer)
{
    struct asking asking = {session, context, plan, answer};
    paritas_status status = PARITAS_OK;
    for (int q = (int)first; q <= (int)last && status == PARITAS_OK; q++) {
        if (q == CONTRACT_NLL) status = ask_likelihood(&asking);
        if (q == CONTRACT_MINIMUM) status = ask_fit(&asking);
        if (q == CONTRACT_SCAN_OF_Q) status = ask_scan(&asking);
        if (q == CONTRACT_TEST) status = ask_test(&asking);
        if (q == CONTRACT_TOYS) status = ask_toys(&asking);
    }
    if (status == PARITAS_OK || context == session->context) return status;
    return paritas_fail(session->context, status, "on the device %s: %s", paritas_device_name(context),
                        paritas_error_message(context));
}

uint64_t contract_ulps(double a, double b)
{
    int64_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    if (x == y) return 0;
    if (isnan(a) || isnan(b)) return UINT64_MAX;
    /* monotonic in x; 0 and -0 are neighbours */
    const uint64_t u = x < 0 ? UINT64_MAX - (uint64_t)x : (uint64_t)x + (UINT64_C(1) << 63),
                   v = y < 0 ? UINT64_MAX - (uint64_t)y : (uint64_t)y + (UINT64_C(1) << 63);
    return u > v ? u - v : v - u;
}
