/* gof.c: goodness of fit. */
#include "print/record_output.h"
#include "commands/models/toy_runs.h"

#include <math.h>

static const struct option options[] = {
    {"--algo", .library = "paritas_toys_options"},
    {"--toys", OPTION_FLAG, NULL, "also the p-value by toys drawn at the best fit; --ntoys N implies it"},
    {0},
};

static bool by_toys_asked(const struct session *session)
{
    return option_flag(session, "--toys") || option_given(session, "--ntoys");
}

struct gof {
    paritas_gof_result formula;
    paritas_gof_toys_result by_toys;
    struct toy_run toys;
};

static paritas_status analyse(struct session *session, void *result)
{
    struct gof *g = result;
    g->formula.size = sizeof g->formula;
    g->by_toys.size = sizeof g->by_toys;
    if (by_toys_asked(session)) {
        TRY(toy_run_open(session, &g->toys));
        paritas_status status = paritas_gof_toys(session->context, session->model, &session->job,
                                                 &g->toys.options, &g->by_toys, &g->formula);
        if (toy_run_lacks_place(session, &status, NULL)) {
            record_clear("paritas_gof_toys_result", &g->by_toys, PARITAS_FIT_NON_FINITE);
            status = paritas_gof(session->context, session->model, &session->job, &g->formula);
        }
        TRY(status);
        toy_run_close(session, &g->toys, &g->by_toys.tally);
    } else {
        TRY(paritas_gof(session->context, session->model, &session->job, &g->formula));
    }
    note_status(session, g->formula.status);
    return PARITAS_OK;
}

static void write_keys(struct session *session, struct writer *w, const void *result)
{
    const struct gof *g = result;
    write_string(w, "algo", option_text(session, "--algo"));
    const int algo = option_constant(session, "--algo", "paritas_gof_algorithm");
    const paritas_gof_result *r = &g->formula;
    if (algo == PARITAS_GOF_SATURATED)
        write_fields(w, "paritas_gof_result", r, "twice_nll", "p");
    else /* without degrees of freedom, so toys alone have a p-value */
        write_members(w, "twice_nll:n statistic:n", r->twice_nll, algo == PARITAS_GOF_KS ? r->ks : r->ad);
    write_fields(w, "paritas_gof_result", r, "ks", "bound_widened");
    if (by_toys_asked(session)) {
        write_record(w, "paritas_gof_toys_result", &g->by_toys);
        toy_run_write(w, &g->toys);
    }
    write_string(w, "status", paritas_fit_status_name(g->formula.status));
}

static void write_saturated(struct text *out, const paritas_gof_result *r)
{
    text_format(out, "2 NLL %s at the best fit (%s), %s saturated\nchi2 = %s for %zu degrees of freedom",
                shown(r->twice_nll, 10).text, paritas_fit_status_name(r->status),
                shown(r->saturated, 10).text, shown(r->statistic, 6).text, r->ndof);
    if (r->ndof > 0)
        text_format(out, ", p = %s\n", shown(r->p, 4).text);
    else
        text_format(out, ": no p-value\n");
}

static void write_text(struct session *session, const void *result)
{
    const struct gof *g = result;
    const paritas_gof_result *r = &g->formula;
    struct text *out = &session->out;
    const int algo = option_constant(session, "--algo", "paritas_gof_algorithm");
    const bool by_toys = by_toys_asked(session);
    if (algo == PARITAS_GOF_SATURATED)
        write_saturated(out, r);
    else
        text_format(out, "%s = %s at the best fit (%s)%s\n", algo == PARITAS_GOF_KS ? "KS" : "AD",
                    shown(algo == PARITAS_GOF_KS ? r->ks : r->ad, 6).text, paritas_fit_status_name(r->status),
                    by_toys ? "" : ": --ntoys N finds its p-value");
    describe_widening(session, r->bound_widened != 0, r->upper_bound, HUGE_VAL);
    if (!by_toys) return;
    text_format(out, "by toys p = %s +- %s\n", shown(g->by_toys.p, 4).text,
                shown(g->by_toys.p_error, 2).text);
    toy_run_describe(out, &g->toys);
}

const struct command command_gof = {
    .name = "gof",
    .operands = "WORKSPACE",
    .summary = "goodness of fit: saturated model, Kolmogorov-Smirnov, Anderson-Darling",
    .description =
        "Degrees of freedom: bins less free parameters without a constraint. --toys needs none: "
        "it draws data at the best fit, fits each toy, and counts those whose statistic is at "
        "least the observed one. KS and AD compare the cumulative parts of each channel's bins, and "
        "are summed over channels.",
    .groups = {GROUP_OPTIONS, GROUP_TOYS("--toys or --ntoys N"), GROUPS_FIT},
    .analysis =
        {
            .result_size = sizeof(struct gof),
            .analyse = analyse,
            .write_keys = write_keys,
            .write_text = write_text,
        },
};
