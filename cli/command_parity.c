/* command_parity.c: the contract, checked on a workspace: a device against the CPU bit by bit; in f32 also against
 * f64, before and after polish. */
#include "parity_contract.h"
#include "infer/infer.h"
#include "minimise/fit_tolerances.h"
#include "table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct option options[] = {
    {"--mu", 0, OPTION_NUMBER, "MU",
     "tested value of the parameter of interest; default: 1, or the middle of its bounds"},
    {"--ntoys", 0, OPTION_WHOLE, "N", "toys of each hypothesis; 0: none; default: 1000"},
    {"--seed", 0, OPTION_WHOLE, "S", "of the toys; default: 0"},
    {0},
};

/* Bits of one quantity. */
struct check {
    size_t n, different;
    uint64_t ulps; /* the worst difference */
};

/* Distance of one quantity from f64. */
struct distance {
    const char *name, *unit;
    double before, after, most; /* after: NaN where there is nothing to polish */
    bool ok;
};
#define DISTANCES 10

struct parity {
    struct session *session;
    struct contract_plan plan;
    paritas_context *ours, *reference, *exact, *raw; /* exact, raw: NULL in f64 */
    const char *reference_name;
    struct contract_answer answers, wanted, in_f64, unpolished;
    struct check checks[CONTRACT_QUANTITIES];
    struct distance distances[DISTANCES];
    size_t n_distances;
    bool ok;
};

/* ---- contexts ---- */

static paritas_status open_as(struct parity *p, const char *device, unsigned precision, bool no_polish,
                              paritas_context **context)
{
    paritas_options options = p->session->options;
    options.device = device;
    options.precision = precision;
    options.no_polish = no_polish;
    const paritas_status status = paritas_open(&options, context);
    return status == PARITAS_OK ? status
                                : paritas_fail(p->session->context, status, "%s",
                                               *context != NULL ? paritas_error_message(*context)
                                                                : paritas_status_message(status));
}

/* The CPU against itself: its plainest build that is not the one in use, a fit at a time, on one thread. A
 * processor or library with one build alone has that on one thread. */
static paritas_status open_plainest(struct parity *p, unsigned precision, paritas_context **context)
{
    static const char *const builds[] = {"scalar", "portable"};
    paritas_status status = PARITAS_NO_DEVICE;
    for (size_t k = 0; k <= sizeof builds / sizeof builds[0] && status == PARITAS_NO_DEVICE; k++) {
        const char *isa = paritas_isa_name(p->ours),
                   *build = k < sizeof builds / sizeof builds[0] ? builds[k] : isa;
        if (build != isa && strcmp(build, isa) == 0) continue;
        paritas_options options = p->session->options;
        paritas_close(*context);
        options.device = "cpu";
        options.precision = precision;
        options.no_polish = 0;
        options.isa = p->reference_name = build;
        options.lanes = options.threads = 1;
        status = paritas_open(&options, context);
    }
    return status == PARITAS_OK ? status
                                : paritas_fail(p->session->context, status, "%s",
                                               *context != NULL ? paritas_error_message(*context)
                                                                : paritas_status_message(status));
}

static paritas_status open_contexts(struct parity *p)
{
    const char *device = strcmp(p->session->options.device, "auto") == 0 ? "cpu" : p->session->options.device;
    const unsigned precision = p->session->context->precision;
    p->reference_name = "cpu";
    paritas_status status = open_as(p, device, precision, false, &p->ours);
    if (status == PARITAS_OK)
        status = strcmp(device, "cpu") == 0 ? open_plainest(p, precision, &p->reference)
                                            : open_as(p, "cpu", precision, false, &p->reference);
    if (status == PARITAS_OK && precision == 32) status = open_as(p, "cpu", 64, false, &p->exact);
    if (status == PARITAS_OK && precision == 32) status = open_as(p, device, 32, true, &p->raw);
    return status;
}

static void close_contexts(struct parity *p)
{
    paritas_close(p->ours);
    paritas_close(p->reference);
    paritas_close(p->exact);
    paritas_close(p->raw);
}

/* ---- bits ---- */

static void check_bits(struct parity *p)
{
    for (int q = 0; q < CONTRACT_QUANTITIES; q++) {
        struct check *check = &p->checks[q];
        check->n = p->wanted.n[q];
        if (p->answers.n[q] != check->n) check->ulps = UINT64_MAX;
        for (size_t i = 0; i < check->n && p->answers.n[q] == check->n; i++) {
            const uint64_t ulps = contract_ulps(p->answers.values[q][i], p->wanted.values[q][i]);
            check->different += ulps != 0;
            if (ulps > check->ulps) check->ulps = ulps;
        }
        p->ok = p->ok && check->ulps == 0;
    }
}

/* ---- f32 against f64 ---- */

static void add_distance(struct parity *p, const char *name, const char *unit, double before, double after,
                         double most)
{
    const double judged = isnan(after) ? before : after;
    struct distance *d = &p->distances[p->n_distances++];
    *d = (struct distance){name, unit, before, after, most, judged <= most};
    p->ok = p->ok && d->ok;
}

/* The larger distance; one that is no number stays. */
static double worse(double worst, double distance)
{
    return isnan(distance) || distance > worst ? (isnan(distance) ? (double)INFINITY : distance) : worst;
}

static double worst_of(const struct contract_answer *a, const struct contract_answer *b,
                       enum contract_quantity q, size_t first, size_t end)
{
    double worst = 0.0;
    for (size_t i = first; i < end && i < b->n[q]; i++) {
        const double x = a->values[q][i], y = b->values[q][i];
        if (!(isnan(x) && isnan(y))) worst = worse(worst, fabs(x - y));
    }
    return worst;
}

/* What kernels answer at points: raw in any case. */
static paritas_status kernel_distances(struct parity *p)
{
    const struct contract_answer *a = &p->answers, *b = &p->in_f64;
    const size_t n = p->plan.n_parameters;
    paritas_gof_result gof = PARITAS_INIT(paritas_gof_result);
    const paritas_status status = paritas_gof(p->exact, p->plan.model, p->plan.job, &gof);
    if (status != PARITAS_OK) return status;
    double nll = 0.0, slope = 0.0, curvature = 0.0;
    for (size_t k = 0; k < CONTRACT_POINTS; k++) {
        const double y = b->values[CONTRACT_NLL][k];
        if (isnan(y)) continue;
        nll = worse(nll, 0.5 * fabs(a->values[CONTRACT_NLL][k] - y) / (1.0 + 0.5 * fabs(y - gof.saturated)));
        double largest = 0.0;
        for (size_t i = 0; i < n; i++)
            largest = worse(largest, fabs(b->values[CONTRACT_GRADIENT][k * n + i]));
        for (size_t i = 0; i < n && largest > 0.0; i++)
            slope = worse(slope, fabs(a->values[CONTRACT_GRADIENT][k * n + i] -
                                      b->values[CONTRACT_GRADIENT][k * n + i]) /
                                     largest);
    }
    for (size_t k = 0; k < CONTRACT_HESSIANS; k++) {
        const double *x = a->values[CONTRACT_HESSIAN] + k * n * n,
                     *y = b->values[CONTRACT_HESSIAN] + k * n * n;
        double *largest = numbers(p->session, n);
        if (largest == NULL) return PARITAS_OUT_OF_MEMORY;
        for (size_t i = 0; i < n * n; i++)
            if (fabs(y[i]) > largest[i / n]) largest[i / n] = fabs(y[i]);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                const double size = sqrt(largest[i] * largest[j]);
                if (size > 0.0) curvature = worse(curvature, fabs(x[i * n + j] - y[i * n + j]) / size);
            }
    }
    add_distance(p, "likelihood", "of 1 + deviance", nll, (double)NAN, RAW_NLL);
    add_distance(p, "gradient", "of the largest slope", slope, (double)NAN, RAW_SLOPE);
    add_distance(p, "Hessian", "of its rows' largest", curvature, (double)NAN, RAW_CURVATURE);
    return PARITAS_OK;
}

/* Of a parameter that has no error, the distance relative to its size. */
static double parameter_distance(const struct parity *p, const struct contract_answer *a,
                                 const double *minimum)
{
    double worst = 0.0;
    for (size_t i = 0; i < p->plan.n_parameters; i++) {
        const double error = p->in_f64.values[CONTRACT_ERRORS][i],
                     shift = fabs(a->values[CONTRACT_BEST][i] - minimum[i]);
        worst = worse(worst, shift / (error > 0.0 ? error : 1.0 + fabs(minimum[i])));
    }
    return worst;
}

static double error_distance(const struct parity *p, const struct contract_answer *a)
{
    double worst = 0.0;
    for (size_t i = 0; i < p->plan.n_parameters; i++) {
        const double x = a->values[CONTRACT_ERRORS][i], y = p->in_f64.values[CONTRACT_ERRORS][i];
        if (!isnan(x) || !isnan(y)) worst = worse(worst, fabs(x - y) / y);
    }
    return worst;
}

/* Part of the toys with another q. */
static double toys_distance(const struct parity *p, const struct contract_answer *a)
{
    const size_t n = p->in_f64.n[CONTRACT_TOYS];
    const double *x = a->values[CONTRACT_TOYS], *y = p->in_f64.values[CONTRACT_TOYS];
    size_t other = 0;
    if (a->n[CONTRACT_TOYS] != n) return 1.0;
    for (size_t i = 0; i < n; i += CONTRACT_TOY) {
        const bool same = fabs(x[i] - y[i]) <= POLISHED_Q || (isnan(x[i]) && isnan(y[i]));
        other += !same || x[i + 2] != y[i + 2];
    }
    return (double)other / (double)(n / CONTRACT_TOY);
}

static paritas_status check_distances(struct parity *p)
{
    const struct contract_answer *before = &p->unpolished, *after = &p->answers, *exact = &p->in_f64;
    struct infer infer;
    struct infer_profile best;
    struct infer_profile *const list[1] = {&best};
    paritas_status status = infer_open(&infer, p->exact, p->plan.model, p->plan.job, false);
    best = (struct infer_profile){.data = infer.base.data};
    if (status == PARITAS_OK) status = infer_free_fits(&infer, 1, list);
    struct infer_point minimum = {.profile = &best, .parameters = best.parameters};
    if (status == PARITAS_OK) status = infer_polish(&infer, &minimum);
    if (status == PARITAS_OK) status = kernel_distances(p);
    if (status == PARITAS_OK) {
        add_distance(p, "minimum", "NLL", 0.5 * worst_of(before, exact, CONTRACT_MINIMUM, 0, 1),
                     0.5 * worst_of(after, exact, CONTRACT_MINIMUM, 0, 1), POLISHED_NLL);
        add_distance(p, "best fit", "errors", parameter_distance(p, before, minimum.parameters),
                     parameter_distance(p, after, minimum.parameters), POLISHED_PARAMETER);
        add_distance(p, "errors", "relative", error_distance(p, before), error_distance(p, after),
                     POLISHED_ERROR);
        if (p->plan.n_scan > 0)
            add_distance(p, "scan", "q", worst_of(before, exact, CONTRACT_SCAN_OF_Q, 0, CONTRACT_SCAN),
                         worst_of(after, exact, CONTRACT_SCAN_OF_Q, 0, CONTRACT_SCAN), POLISHED_Q);
        if (p->plan.poi) {
            add_distance(p, "test", "q", worst_of(before, exact, CONTRACT_TEST, CONTRACT_Q, CONTRACT_CLS),
                         worst_of(after, exact, CONTRACT_TEST, CONTRACT_Q, CONTRACT_CLS), POLISHED_Q);
            add_distance(p, "test", "CLs",
                         worst_of(before, exact, CONTRACT_TEST, CONTRACT_CLS, CONTRACT_TESTS),
                         worst_of(after, exact, CONTRACT_TEST, CONTRACT_CLS, CONTRACT_TESTS), POLISHED_CLS);
        }
        if (exact->n[CONTRACT_TOYS] > 0)
            add_distance(p, "toys", "part with another q", toys_distance(p, before), toys_distance(p, after),
                         1.0 - POLISHED_TOYS);
    }
    infer_close(&infer);
    return status;
}

/* ---- the answer ---- */

/* Why there is nothing of a quantity to compare. */
static const char *missing(const struct parity *p, int quantity)
{
    if (quantity == CONTRACT_TOYS && p->plan.ntoys == 0) return "not asked";
    if (quantity == CONTRACT_TEST || quantity == CONTRACT_TOYS) return "no parameter of interest";
    return "no free parameter";
}

static void write_json(struct parity *p)
{
    struct writer *w = &p->session->writer;
    write_object(w, NULL, true);
    write_string(w, "verdict", p->ok ? "passed" : "failed");
    write_string(w, "reference", p->reference_name);
    write_array(w, "checks", true);
    for (int q = 0; q < CONTRACT_QUANTITIES; q++) {
        const struct check *check = &p->checks[q];
        write_object(w, NULL, false);
        write_string(w, "quantity", contract_names[q]);
        write_string(w, "class", paritas_precision_name(p->ours));
        write_integer(w, "compared", check->n);
        write_integer(w, "different", check->different);
        if (check->ulps == UINT64_MAX)
            write_string(w, "worst_ulp", NULL);
        else
            write_integer(w, "worst_ulp", check->ulps);
        write_string(w, "verdict",
                     check->n == 0 ? (q == CONTRACT_TOYS && p->plan.ntoys == 0 ? "not_asked" : "not_there")
                     : check->ulps == 0 ? "identical"
                                        : "different");
        write_close(w);
    }
    write_close(w);
    if (p->exact != NULL) {
        write_array(w, "against_f64", true);
        for (size_t k = 0; k < p->n_distances; k++) {
            const struct distance *d = &p->distances[k];
            write_object(w, NULL, false);
            write_string(w, "quantity", d->name);
            write_string(w, "unit", d->unit);
            write_number(w, "before", d->before);
            write_number(w, "after", d->after);
            write_number(w, "tolerance", d->most);
            write_string(w, "verdict", d->ok ? "within" : "beyond");
            write_close(w);
        }
        write_close(w);
    }
    write_string(w, "device", paritas_device_name(p->ours));
    write_string(w, "precision", paritas_precision_name(p->ours));
    write_close(w);
}

static void write_table(struct parity *p)
{
    struct text *out = &p->session->out;
    struct table table;
    text_format(out, "Device %s, %s, against the CPU%s%s: %s\n\n", paritas_device_name(p->ours),
                paritas_precision_name(p->ours), strcmp(p->reference_name, "cpu") == 0 ? "" : "'s build ",
                strcmp(p->reference_name, "cpu") == 0 ? "" : p->reference_name,
                p->ok ? "the contract holds" : "THE CONTRACT IS BROKEN");
    table_open(&table, &p->session->context->allocator, "quantity|numbers|class|worst ulp|", "lrlrl");
    for (int q = 0; q < CONTRACT_QUANTITIES; q++) {
        const struct check *check = &p->checks[q];
        table_text(&table, contract_names[q]);
        table_format(&table, "%zu", check->n);
        table_text(&table, paritas_precision_name(p->ours));
        if (check->ulps == UINT64_MAX)
            table_text(&table, "no number");
        else
            table_format(&table, "%" PRIu64, check->ulps);
        table_text(&table, check->n == 0 ? missing(p, q) : check->ulps == 0 ? "identical" : "DIFFERENT");
    }
    table_close(&table, out);
    if (p->exact == NULL) return;
    text_format(out, "\nAgainst f64\n");
    table_open(&table, &p->session->context->allocator, "quantity|in|before polish|after|at most|", "llrrrl");
    for (size_t k = 0; k < p->n_distances; k++) {
        const struct distance *d = &p->distances[k];
        table_text(&table, d->name);
        table_text(&table, d->unit);
        table_format(&table, "%.1e", d->before);
        if (isnan(d->after))
            table_text(&table, "-");
        else
            table_format(&table, "%.1e", d->after);
        table_format(&table, "%.0e", d->most);
        table_text(&table, d->ok ? "within" : "BEYOND");
    }
    table_close(&table, out);
}

static paritas_status check(struct parity *p)
{
    struct session *session = p->session;
    struct contract_plan *plan = &p->plan;
    paritas_status status = open_contexts(p);
    if (status == PARITAS_OK) status = contract_plan_points(session, plan);
    if (status == PARITAS_OK)
        status = contract_ask(session, p->reference, plan, CONTRACT_NLL, CONTRACT_ERRORS, &p->wanted);
    if (status != PARITAS_OK) return status;
    contract_plan_scan(plan, &p->wanted);
    status = contract_ask(session, p->reference, plan, CONTRACT_SCAN_OF_Q, CONTRACT_TOYS, &p->wanted);
    if (status == PARITAS_OK)
        status = contract_ask(session, p->ours, plan, CONTRACT_NLL, CONTRACT_TOYS, &p->answers);
    if (status != PARITAS_OK) return status;
    check_bits(p);
    if (p->exact == NULL) return PARITAS_OK;
    status = contract_ask(session, p->exact, plan, CONTRACT_NLL, CONTRACT_TOYS, &p->in_f64);
    if (status == PARITAS_OK)
        status = contract_ask(session, p->raw, plan, CONTRACT_MINIMUM, CONTRACT_TOYS, &p->unpolished);
    return status == PARITAS_OK ? check_distances(p) : status;
}

static int run(struct session *session)
{
    const struct arguments *arguments = session->arguments;
    if (option_flag(arguments, "--no-polish"))
        return usage_failure(
            session, "parity compares f32 fits before and after polish: --no-polish has no place here");
    paritas_status status = load_model(session);
    if (status != PARITAS_OK) return status;
    struct parity *p = arena_array(&session->arena, 1, sizeof *p);
    if (p == NULL) return paritas_fail_memory(session->context);
    *p = (struct parity){.session = session, .ok = true};
    p->plan = (struct contract_plan){.model = session->model,
                                     .job = &session->job,
                                     .n_parameters = session->n_parameters,
                                     .ntoys = option_whole(arguments, "--ntoys", 1000),
                                     .seed = option_whole(arguments, "--seed", 0)};
    const ptrdiff_t poi = paritas_model_poi_index(session->model);
    if (poi >= 0) {
        const double lower = paritas_model_lower_bounds(session->model)[poi],
                     upper = paritas_model_upper_bounds(session->model)[poi];
        p->plan.mu =
            option_number(arguments, "--mu", lower <= 1.0 && upper >= 1.0 ? 1.0 : 0.5 * (lower + upper));
    }
    status = check(p);
    if (status == PARITAS_OK && session->json)
        write_json(p);
    else if (status == PARITAS_OK)
        write_table(p);
    session->not_converged = !p->ok;
    close_contexts(p);
    return status;
}

const struct command command_parity = {
    .name = "parity",
    .operands = "WORKSPACE",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "the contract, checked on a workspace: a device against the CPU, bit by bit",
    .description = "Computes likelihoods, gradients and Hessians at the start and around it on the device "
                   "and on the CPU. The best fit with its errors, a scan, a test and toys follow. Every bit "
                   "must agree. With --precision f32 they are also compared with f64, before and after "
                   "polish, within the tolerances of the contract. The CPU itself is compared with its "
                   "plainest build that is not in use (scalar or portable), a fit at a time, on one thread. "
                   "Exit code 1: the contract is broken.",
    .groups =
        {{"Options", options}, GROUP_JOB, GROUP_PATCHES, GROUP_MODEL, GROUP_ENGINE, GROUP_OUTPUT, GROUP_END},
    .run = run,
};
