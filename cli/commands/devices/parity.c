/* parity.c: checks a device against the CPU bit by bit, f32 against f64. */
#include "commands/devices/parity_contract.h"
#include "commands/devices/record.h"
#include "commands/moon/sweep_questions.h"
#include "print/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct option options[] = {
    {"--mu", OPTION_NUMBER, "MU",
     "tested value of the parameter of interest; default: 1, or the middle of its bounds"},
    {"--ntoys", OPTION_WHOLE, "N", "toys of each hypothesis; 0: none", "1000"},
    {"--seed", OPTION_WHOLE, "S", "seed of the toys, or of the sweeps", "0"},
    {"--sweeps", OPTION_COUNT, "N", "sweeps of losscone and kappa", "200"},
    {"--record", OPTION_FLAG, NULL,
     "compare nothing: print this machine and the digest of its answers, as a row of docs/same-bits.md"},
    {0},
};

struct check {
    const char *name, *missing; /* missing: why there is no number */
    size_t n, different;
    uint64_t ulps; /* worst */
};
#define CHECKS 16

struct distance {
    const char *name, *unit;
    double before, after, most; /* after: NaN without a polish */
    bool ok;
};
#define DISTANCES 10

struct parity {
    struct session *session;
    enum sweep_family family;
    const paritas_tolerances *tolerances;
    struct contract_plan plan;
    paritas_context *ours, *reference, *exact, *raw; /* exact, raw: NULL in f64 */
    const char *reference_name;
    struct contract_answer answers, wanted, in_f64, unpolished;
    struct check checks[CHECKS];
    size_t n_checks;
    struct distance distances[DISTANCES];
    size_t n_distances;
    bool ok;
};

static paritas_status open_as(struct parity *p, const char *device, unsigned precision, bool no_polish,
                              paritas_context **context)
{
    paritas_options as = p->session->options;
    as.device = device;
    as.precision = precision;
    as.no_polish = no_polish;
    return open_another(p->session, &as, context);
}

/* The CPU's reference: its plainest other build, or its only one; one fit at a time, one thread. */
static paritas_status open_plainest(struct parity *p, unsigned precision, paritas_context **context)
{
    const char *in_use = paritas_isa_name(p->ours);
    const char *const builds[] = {"scalar", "portable", in_use};
    paritas_options as = p->session->options;
    paritas_status status = PARITAS_NO_DEVICE;
    as.device = "cpu";
    as.precision = precision;
    as.no_polish = 0;
    as.lanes = as.threads = 1;
    for (size_t k = 0; k < 3 && status == PARITAS_NO_DEVICE; k++) {
        if (k < 2 && strcmp(builds[k], in_use) == 0) continue;
        paritas_close(*context);
        as.isa = p->reference_name = builds[k];
        status = open_another(p->session, &as, context);
    }
    return status;
}

static paritas_status open_contexts(struct parity *p)
{
    const char *device = strcmp(p->session->options.device, "auto") == 0 ? "cpu" : p->session->options.device;
    const unsigned precision = p->session->context->precision;
    p->reference_name = "cpu";
    TRY(open_as(p, device, precision, false, &p->ours));
    TRY(strcmp(device, "cpu") == 0 ? open_plainest(p, precision, &p->reference)
                                   : open_as(p, "cpu", precision, false, &p->reference));
    if (precision != 32 || p->family != SWEEP_FAMILIES) return PARITAS_OK;
    TRY(open_as(p, "cpu", 64, false, &p->exact));
    return open_as(p, device, 32, true, &p->raw);
}

static void close_contexts(struct parity *p)
{
    paritas_close(p->ours);
    paritas_close(p->reference);
    paritas_close(p->exact);
    paritas_close(p->raw);
}

static void check_bits(struct parity *p, const char *name, const char *missing, const double *answer,
                       size_t n, const double *wanted, size_t n_wanted)
{
    struct check *check = &p->checks[p->n_checks++];
    *check = (struct check){.name = name, .missing = missing, .n = n_wanted};
    if (n != n_wanted) check->ulps = UINT64_MAX;
    for (size_t i = 0; i < n && n == n_wanted; i++) {
        const uint64_t ulps = contract_ulps(answer[i], wanted[i]);
        check->different += ulps != 0;
        if (ulps > check->ulps) check->ulps = ulps;
    }
    p->ok = p->ok && check->ulps == 0;
}

static void add_distance(struct parity *p, const char *name, const char *unit, double before, double after,
                         double most)
{
    const double judged = isnan(after) ? before : after;
    struct distance *d = &p->distances[p->n_distances++];
    *d = (struct distance){name, unit, before, after, most, judged <= most};
    p->ok = p->ok && d->ok;
}

/* NaN stays. */
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

/* Relative to the largest element of each row. */
static paritas_status hessian_distance(struct parity *p, double *distance)
{
    const size_t n = p->session->n_parameters;
    double *largest = arena_numbers(p->session, n);
    TRY(allocated(p->session));
    *distance = 0.0;
    for (size_t k = 0; k < CONTRACT_HESSIANS; k++) {
        const double *x = p->answers.values[CONTRACT_HESSIAN] + k * n * n,
                     *y = p->in_f64.values[CONTRACT_HESSIAN] + k * n * n;
        memset(largest, 0, n * sizeof *largest);
        for (size_t i = 0; i < n * n; i++)
            if (fabs(y[i]) > largest[i / n]) largest[i / n] = fabs(y[i]);
        for (size_t i = 0; i < n * n; i++) {
            const double size = sqrt(largest[i / n] * largest[i % n]);
            if (size > 0.0) *distance = worse(*distance, fabs(x[i] - y[i]) / size);
        }
    }
    return PARITAS_OK;
}

/* How far the NLL at a point may go by rounded rates, over raw_rates: the sum over all data of
 * |rate - datum|. Main data: with the sizes of all samples, which may cancel. */
static paritas_status rates_of_point(struct parity *p, const double *point, double *sum)
{
    const paritas_model *model = p->session->model;
    const size_t n_main = paritas_model_main_count(model), n = n_main + paritas_model_aux_count(model);
    const double *data = p->session->job.data ? p->session->job.data : paritas_model_data(model);
    const size_t channels = paritas_model_channel_count(model);
    size_t n_samples = 0, at = 0;
    for (size_t c = 0; c < channels; c++)
        n_samples += paritas_model_sample_count(model, c) * paritas_model_channel_bins(model, c);
    double *rates = arena_numbers(p->session, n + paritas_model_template_count(model)),
           *samples = arena_numbers(p->session, n_samples);
    TRY(allocated(p->session));
    TRY(paritas_expected_data(p->exact, model, 1, point, rates));
    TRY(paritas_expected_by_sample(p->exact, model, point, samples));
    *sum = 0.0;
    for (size_t c = 0; c < channels; c++) {
        const size_t bins = paritas_model_channel_bins(model, c);
        for (size_t b = 0; b < bins; b++, at++) {
            double size = 0.0;
            for (size_t s = 0; s < paritas_model_sample_count(model, c); s++)
                size += fabs(samples[s * bins + b]);
            const double rate = rates[at], more = rate > 0.0 ? fmax(size / rate, 1.0) : 1.0;
            *sum += more * fabs(rate - data[at]);
        }
        samples += paritas_model_sample_count(model, c) * bins;
    }
    for (; at < n; at++) *sum += fabs(rates[at] - data[at]);
    return PARITAS_OK;
}

/* Compares the kernels at given points. These answers are never polished. */
static paritas_status kernel_distances(struct parity *p)
{
    const struct contract_answer *a = &p->answers, *b = &p->in_f64;
    const size_t n = p->session->n_parameters;
    paritas_gof_result gof = PARITAS_INIT(paritas_gof_result);
    TRY(paritas_gof(p->exact, p->session->model, &p->session->job, &gof));
    double nll = 0.0, slope = 0.0, curvature = 0.0, rates;
    for (size_t k = 0; k < CONTRACT_POINTS; k++) {
        const double y = b->values[CONTRACT_NLL][k];
        const double *x_slopes = a->values[CONTRACT_GRADIENT] + k * n,
                     *y_slopes = b->values[CONTRACT_GRADIENT] + k * n;
        if (isnan(y)) continue;
        TRY(rates_of_point(p, p->plan.points + k * n, &rates));
        nll = worse(nll, 0.5 * fabs(a->values[CONTRACT_NLL][k] - y) /
                             (1.0 + 0.5 * fabs(y - gof.saturated) + p->tolerances->raw_rates * rates));
        double largest = 0.0;
        for (size_t i = 0; i < n; i++) largest = worse(largest, fabs(y_slopes[i]));
        for (size_t i = 0; i < n && largest > 0.0; i++)
            slope = worse(slope, fabs(x_slopes[i] - y_slopes[i]) / largest);
    }
    TRY(hessian_distance(p, &curvature));
    add_distance(p, "likelihood", "of deviance and rates", nll, NAN, p->tolerances->raw_nll);
    add_distance(p, "gradient", "of the largest slope", slope, NAN, p->tolerances->raw_slope);
    add_distance(p, "Hessian", "of its rows' largest", curvature, NAN, p->tolerances->raw_curvature);
    return PARITAS_OK;
}

/* Distance in units of the error, or relative to the value if there is none. */
static double parameter_distance(const struct parity *p, const struct contract_answer *a,
                                 const double *minimum)
{
    double worst = 0.0;
    for (size_t i = 0; i < p->session->n_parameters; i++) {
        const double error = p->in_f64.values[CONTRACT_ERRORS][i],
                     shift = fabs(a->values[CONTRACT_BEST][i] - minimum[i]);
        worst = worse(worst, shift / (error > 0.0 ? error : 1.0 + fabs(minimum[i])));
    }
    return worst;
}

static double error_distance(const struct parity *p, const struct contract_answer *a)
{
    double worst = 0.0;
    for (size_t i = 0; i < p->session->n_parameters; i++) {
        const double x = a->values[CONTRACT_ERRORS][i], y = p->in_f64.values[CONTRACT_ERRORS][i];
        if (!isnan(x) || !isnan(y)) worst = worse(worst, fabs(x - y) / y);
    }
    return worst;
}

/* Fraction of toys whose q differs. */
static double toys_distance(const struct parity *p, const struct contract_answer *a)
{
    const size_t n = p->in_f64.n[CONTRACT_TOYS];
    const double *x = a->values[CONTRACT_TOYS], *y = p->in_f64.values[CONTRACT_TOYS];
    size_t other = 0;
    if (a->n[CONTRACT_TOYS] != n) return 1.0;
    for (size_t i = 0; i < n; i += CONTRACT_TOY) {
        const bool same = fabs(x[i] - y[i]) <= p->tolerances->q || (isnan(x[i]) && isnan(y[i]));
        other += !same || x[i + 2] != y[i + 2];
    }
    return (double)other / (double)(n / CONTRACT_TOY);
}

static void add_worst(struct parity *p, const char *name, const char *unit, enum contract_quantity q,
                      size_t first, size_t end, double most)
{
    const double factor = q == CONTRACT_MINIMUM ? 0.5 : 1.0; /* twice the NLL to NLL */
    add_distance(p, name, unit, factor * worst_of(&p->unpolished, &p->in_f64, q, first, end),
                 factor * worst_of(&p->answers, &p->in_f64, q, first, end), most);
}

/* `minimum`: the best fit in f64, to the last digits. */
static paritas_status add_distances(struct parity *p, const double *minimum)
{
    const struct contract_answer *before = &p->unpolished, *after = &p->answers;
    TRY(kernel_distances(p));
    add_worst(p, "minimum", "NLL", CONTRACT_MINIMUM, 0, 1, p->tolerances->nll);
    add_distance(p, "best fit", "errors", parameter_distance(p, before, minimum),
                 parameter_distance(p, after, minimum), p->tolerances->parameter);
    add_distance(p, "errors", "relative", error_distance(p, before), error_distance(p, after),
                 p->tolerances->error);
    if (p->plan.n_scan > 0) add_worst(p, "scan", "q", CONTRACT_SCAN_OF_Q, 0, CONTRACT_SCAN, p->tolerances->q);
    if (p->plan.poi) {
        add_worst(p, "test", "q", CONTRACT_TEST, CONTRACT_Q, CONTRACT_CLS, p->tolerances->q);
        add_worst(p, "test", "CLs", CONTRACT_TEST, CONTRACT_CLS, CONTRACT_TESTS, p->tolerances->cls);
    }
    if (p->in_f64.n[CONTRACT_TOYS] > 0)
        add_distance(p, "toys", "part with another q", toys_distance(p, before), toys_distance(p, after),
                     1.0 - p->tolerances->toys);
    return PARITAS_OK;
}

static paritas_status check_distances(struct parity *p)
{
    const struct session *session = p->session;
    double *minimum = arena_numbers(p->session, session->n_parameters);
    TRY(allocated(session));
    memcpy(minimum, p->in_f64.values[CONTRACT_BEST], session->n_parameters * sizeof *minimum);
    TRY(paritas_fit_refine(p->exact, session->model, &session->job, minimum));
    return add_distances(p, minimum);
}

static const char *missing(const struct parity *p, int quantity)
{
    if (quantity == CONTRACT_TOYS && p->plan.ntoys == 0) return "not asked";
    if (quantity == CONTRACT_TEST || quantity == CONTRACT_TOYS) return "no parameter of interest";
    return "no free parameter";
}

static void write_json(struct parity *p)
{
    struct writer *w = &p->session->writer;
    const char *precision = paritas_precision_name(p->ours);
    write_object(w, NULL, true);
    write_members(w, "verdict:s reference:s", p->ok ? "passed" : "failed", p->reference_name);
    write_array(w, "checks", true);
    for (size_t k = 0; k < p->n_checks; k++) {
        const struct check *check = &p->checks[k];
        write_object(w, NULL, false);
        write_members(w, "quantity:s class:s compared:z different:z", check->name, precision, check->n,
                      check->different);
        if (check->ulps == UINT64_MAX)
            write_string(w, "worst_ulp", NULL);
        else
            write_integer(w, "worst_ulp", check->ulps);
        write_string(w, "verdict",
                     check->n == 0 ? (strcmp(check->missing, "not asked") == 0 ? "not_asked" : "not_there")
                     : check->ulps == 0 ? "identical"
                                        : "different");
        write_close(w);
    }
    write_close(w);
    if (p->exact) {
        write_array(w, "against_f64", true);
        for (size_t k = 0; k < p->n_distances; k++) {
            const struct distance *d = &p->distances[k];
            write_row(w, "quantity:s unit:s before:n after:n tolerance:n verdict:s", d->name, d->unit,
                      d->before, d->after, d->most, d->ok ? "within" : "beyond");
        }
        write_close(w);
    }
    write_members(w, "device:s precision:s", paritas_device_name(p->ours), precision);
    write_close(w);
}

static void write_distances(struct parity *p)
{
    struct table table;
    text_format(&p->session->out, "\nAgainst f64\n");
    table_open(&table, &p->session->out, "quantity|in|before polish|after|at most|", "l l r r r l");
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
    table_close(&table);
}

static void write_table(struct parity *p)
{
    struct text *out = &p->session->out;
    struct table table;
    const char *precision = paritas_precision_name(p->ours);
    const bool by_build = strcmp(p->reference_name, "cpu") != 0;
    text_format(out, "Device %s, %s, against the CPU%s%s: %s\n\n", paritas_device_name(p->ours), precision,
                by_build ? "'s build " : "", by_build ? p->reference_name : "",
                p->ok ? "the contract holds" : "THE CONTRACT IS BROKEN");
    table_open(&table, out, "quantity|numbers|class|worst ulp|", "l z l r l");
    for (size_t k = 0; k < p->n_checks; k++) {
        const struct check *check = &p->checks[k];
        char ulps[24] = "no number";
        if (check->ulps != UINT64_MAX) snprintf(ulps, sizeof ulps, "%" PRIu64, check->ulps);
        table_row(&table, check->name, check->n, precision, ulps,
                  check->n == 0      ? check->missing
                  : check->ulps == 0 ? "identical"
                                     : "DIFFERENT");
    }
    table_close(&table);
    if (p->exact) write_distances(p);
}

static paritas_status check_against_f64(struct parity *p)
{
    struct session *session = p->session;
    TRY(contract_ask(session, p->exact, &p->plan, CONTRACT_NLL, CONTRACT_TOYS, &p->in_f64));
    TRY(contract_ask(session, p->raw, &p->plan, CONTRACT_MINIMUM, CONTRACT_TOYS, &p->unpolished));
    return check_distances(p);
}

static paritas_status check(struct parity *p)
{
    struct session *session = p->session;
    struct contract_plan *plan = &p->plan;
    TRY(open_contexts(p));
    TRY(contract_plan_points(session, plan));
    TRY(contract_ask(session, p->reference, plan, CONTRACT_NLL, CONTRACT_ERRORS, &p->wanted));
    contract_plan_scan(session, plan, &p->wanted);
    TRY(contract_ask(session, p->reference, plan, CONTRACT_SCAN_OF_Q, CONTRACT_TOYS, &p->wanted));
    TRY(contract_ask(session, p->ours, plan, CONTRACT_NLL, CONTRACT_TOYS, &p->answers));
    for (int q = 0; q < CONTRACT_QUANTITIES; q++)
        check_bits(p, contract_names[q], missing(p, q), p->answers.values[q], p->answers.n[q],
                   p->wanted.values[q], p->wanted.n[q]);
    if (p->exact) TRY(check_against_f64(p));
    (session->json ? write_json : write_table)(p);
    return PARITAS_OK;
}

/* The family's questions, asked of the device and of the CPU. */
static paritas_status check_sweeps(struct parity *p)
{
    struct session *session = p->session;
    struct sweep_work work;
    TRY(sweep_check_options(session, p->family, (const char *const[]){"--mu", "--ntoys", NULL}));
    TRY(open_contexts(p));
    TRY(sweep_work_open(session, p->reference, p->family, option_count(session, "--sweeps"),
                        option_whole(session, "--seed"), &work));
    for (int q = 0; q < SWEEP_QUESTIONS; q++) {
        if (sweep_questions[q].family != p->family) continue;
        struct sweep_answer answer, wanted;
        const struct arena outer = arena_begin(session);
        paritas_status status = sweep_ask(session, p->reference, &work, (enum sweep_question)q, &wanted);
        if (status == PARITAS_OK)
            status = sweep_ask(session, p->ours, &work, (enum sweep_question)q, &answer);
        if (status == PARITAS_OK)
            check_bits(p, sweep_questions[q].name, "", answer.values, answer.n, wanted.values, wanted.n);
        arena_end(session, outer);
        TRY(status);
    }
    (session->json ? write_json : write_table)(p);
    return PARITAS_OK;
}

static int run(struct session *session)
{
    const enum sweep_family family = sweep_family_of(session);
    if (option_flag(session, "--record")) return record_run(session);
    if (session->arguments->n_operands != 1)
        return usage_failure(session, "parity needs one of WORKSPACE, losscone and kappa, or --record");
    if (family == SWEEP_FAMILIES) {
        TRY(load_model(session));
        TRY(refuse_several_pois(session));
    }
    struct parity *p = arena_elements(session, 1, sizeof *p);
    TRY(allocated(session));
    p->session = session;
    p->ok = true;
    p->family = family;
    p->tolerances = paritas_contract_tolerances();
    p->plan.ntoys = option_whole(session, "--ntoys");
    p->plan.seed = option_whole(session, "--seed");
    if (family == SWEEP_FAMILIES) p->plan.mu = option_number_or(session, "--mu", contract_mu(session));
    const paritas_status status = (family == SWEEP_FAMILIES ? check : check_sweeps)(p);
    session->not_converged = !p->ok;
    close_contexts(p);
    return status;
}

const struct command command_parity = {
    .name = "parity",
    .operands = "[WORKSPACE|losscone|kappa]...",
    .summary = "checks that a device and the CPU give the same bits, on a workspace or on sweeps",
    .description =
        "Computes likelihoods, gradients and Hessians at the start and around it on the device "
        "and on the CPU. Then it computes the best fit with its errors, a scan, a test and toys. "
        "Every bit must agree. With --precision f32 they are also compared with f64, before and after "
        "polish, within the tolerances of the contract. The CPU itself is compared with "
        "another of its builds (scalar or portable), which runs one fit at a time on one thread. "
        "With `losscone` or `kappa` synthetic sweeps of the Electron Reflectometer are fitted "
        "instead of a workspace; a file of this name is ./losscone. "
        "Exit code 1: the contract is broken. --record runs built-in "
        "problems instead: an analysis with every modifier, loss cones and kappa fits. It prints one line: "
        "the "
        "machine, the build, and 16 digits of the SHA-256 of all bits of the answers. Each workspace "
        "adds a digest of its own. Digests are the same on all devices and builds that the contract names.",
    /* f32 fits are compared before and after their polish */
    .groups = {GROUP_OPTIONS,
               GROUP_JOB,
               GROUP_PATCHES,
               GROUP_MODEL,
               {"Engine", options_engine, .without = "--no-polish"},
               GROUP_OUTPUT},
    .run = run,
};
