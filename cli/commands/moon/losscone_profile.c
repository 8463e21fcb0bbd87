/* losscone_profile.c: one sweep's misfit over U, plateau, confidence set. */
#include "days/day_losscone.h"
#include "days/day_plasma.h"
#include "print/record_output.h"
#include "print/table.h"

#include <math.h>

static const struct option options[] = {
    {"--spectrum", OPTION_WHOLE, "N", "spectrum number of the sweep"},
    {"--start", OPTION_NUMBER, "V", "first U of the profile, within the bounds; default: the lower bound"},
    {"--stop", OPTION_NUMBER, "V", "last U; default: the upper bound"},
    {"--points", OPTION_COUNT, "N", "number of points, at most 100000; default: 102, 20 V apart"},
    {0},
};

#define POINTS_MOST 100000

struct profile {
    struct session *session;
    struct losscone_plan plan;
    struct plasma_plan plasma;
    struct sources sources;
    struct sweeps sweeps;
    size_t at; /* index in the day */
    paritas_sweeps data;
    struct losscone_answers answers;
    /* NULL: the potential was given */
    const char *potential_status;
    struct range grid;
    size_t points;
    double *potentials, *misfit[2], *ratio[2], *amplitude[2];
};

static paritas_status open_grid(struct profile *p)
{
    static const char *const ends[] = {"--start", "--stop"};
    struct session *session = p->session;
    const struct range bounds = {p->plan.options.potential_lower, p->plan.options.potential_upper};
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        const struct given *end = option_given(session, ends[i]);
        if (end && !in_range(bounds, end->number))
            return usage_failure(session, "%s takes a number within the bounds of U, %g to %g", ends[i],
                                 bounds.lower, bounds.upper);
    }
    p->grid.lower = option_number_or(session, "--start", bounds.lower);
    p->grid.upper = option_number_or(session, "--stop", bounds.upper);
    p->points = option_given(session, "--points") ? option_count(session, "--points") : 102;
    if (bounds.lower <= bounds.upper && !(p->grid.lower <= p->grid.upper))
        return usage_failure(session, "--start and --stop: the first value is above the last");
    if (p->points > POINTS_MOST)
        return usage_failure(session, "--points takes a whole number up to %d", POINTS_MOST);
    return PARITAS_OK;
}

/* The sweep alone, of all sweeps. */
static void take_sweep(struct profile *p)
{
    const size_t rows = PARITAS_SWEEP_ROWS, cells = rows * PARITAS_SWEEP_CELLS,
                 channels = rows * PARITAS_CHANNEL_ENERGIES;
    paritas_sweeps all;
    paritas_day_sweeps_of(p->sweeps.day, p->sweeps.made, &all);
    p->data = (paritas_sweeps){.size = sizeof p->data,
                               .n = 1,
                               .energy = all.energy + rows * p->at,
                               .potential = all.potential + rows * p->at,
                               .cosine = all.cosine + cells * p->at,
                               .flux = all.flux + cells * p->at,
                               .counts = all.counts ? all.counts + cells * p->at : NULL,
                               .background = all.background ? all.background + rows * p->at : NULL,
                               .potential_error = all.potential_error ? all.potential_error + p->at : NULL,
                               .measured = all.measured ? all.measured + cells * p->at : NULL,
                               .scatter = all.scatter ? all.scatter + p->at : NULL,
                               .channel = all.channel ? all.channel + channels * p->at : NULL};
}

static paritas_status load_day(struct profile *p, const paritas_day *files)
{
    struct session *session = p->session;
    const paritas_day_options *options = &p->sources.options;
    TRY(sweeps_load(session->context, &p->sources, files, &p->sweeps));
    const int64_t wanted = (int64_t)option_whole(session, "--spectrum");
    paritas_er_day *day = p->sweeps.day;
    while (p->at < p->sweeps.n && day->number[p->at] != wanted) p->at++;
    if (p->at == p->sweeps.n)
        return paritas_fail(session->context, PARITAS_NOT_FOUND,
                            "%s: there is no spectrum %lld among its %zu", session->arguments->operands[0],
                            (long long)wanted, p->sweeps.n);
    if (sources_find_potentials(&p->sources)) {
        TRY(paritas_day_plasma(session->context, options, day, p->sweeps.made));
        p->potential_status = paritas_potential_status_name(p->sweeps.made->potentials[p->at].status);
    }
    TRY(losscone_count(session, &p->plan, options, day, p->sweeps.made));
    take_sweep(p);
    return losscone_answer(session, &p->plan, &p->data, files->first + p->at, &p->answers);
}

static paritas_status load(struct profile *p)
{
    struct session *session = p->session;
    paritas_days *days;
    TRY(find_days(session, &days));
    const paritas_status status = days->n == 1
                                      ? load_day(p, &days->days[0])
                                      : usage_failure(session, "losscone profile takes one day file");
    paritas_days_free(days);
    return status;
}

static bool has_fit(const struct profile *p)
{
    return paritas_losscone_fitted(p->answers.results[p->plan.hard ? 0 : 1]);
}

static const char *status_word(const struct profile *p, int model)
{
    return paritas_day_status(p->sweeps.day, p->at, p->answers.results[model]);
}

static paritas_status make_profiles(struct profile *p)
{
    struct session *session = p->session;
    if (!has_fit(p)) p->points = 0;
    p->potentials = arena_numbers(session, p->points);
    TRY(allocated(session));
    for (size_t i = 0; i < p->points; i++) p->potentials[i] = range_value(p->grid, i, p->points);
    for (int model = 0; model < 2; model++) {
        if (!p->answers.results[model]) continue;
        paritas_losscone_options one;
        paritas_losscone_options_of(&p->plan.options, (paritas_losscone_response)model, &one);
        p->misfit[model] = arena_numbers(session, p->points);
        p->ratio[model] = arena_numbers(session, p->points);
        p->amplitude[model] = arena_numbers(session, p->points);
        TRY(allocated(session));
        TRY(paritas_losscone_profile(session->context, &p->data, &one, p->points, p->potentials,
                                     p->misfit[model], p->ratio[model], p->amplitude[model]));
    }
    return PARITAS_OK;
}

static void write_pair(struct writer *w, double a, double b)
{
    write_numbers(w, NULL, 2, (const double[2]){a, b});
}

static void model_json(const struct profile *p, int model, struct writer *w)
{
    const paritas_losscone_result *r = p->answers.results[model];
    const paritas_confidence *set = p->answers.sets[model];
    const bool fitted = paritas_losscone_fitted(r);
    write_object(w, NULL, true);
    write_members(w, "response:s status:s", losscone_model_name(model), status_word(p, model));
    write_fields(w, "paritas_losscone_result", r, "cells", "gap"); /* NaN without a fit */
    write_array(w, "plateau", false);
    for (unsigned i = 0; fitted && i < r->vertices && i < PARITAS_PLATEAU_VERTICES; i++)
        write_pair(w, r->vertex[i][0], r->vertex[i][1]);
    write_close(w);
    if (set && fitted) {
        write_object(w, "confidence", false);
        write_number(w, "threshold", set->threshold);
        write_array(w, "intervals", false);
        for (unsigned i = 0; i < set->intervals; i++) write_pair(w, set->lower[i], set->upper[i]);
        write_close(w);
        write_fields(w, "paritas_confidence", set, "at_lower_bound", "at_upper_bound");
        write_close(w);
    }
    write_array(w, "profile", true);
    for (size_t i = 0; i < p->points; i++) {
        write_object(w, NULL, false);
        write_members(w, "potential:n misfit:n ratio:n", p->potentials[i], p->misfit[model][i],
                      p->ratio[model][i]);
        if (model == 0) write_number(w, "amplitude", p->amplitude[model][i]);
        write_close(w);
    }
    write_close(w);
    write_close(w);
}

static void answer_json(const struct profile *p)
{
    struct session *session = p->session;
    struct writer *w = &session->writer;
    write_object(w, NULL, true);
    write_members(w, "spectrum:z utc:s spacecraft_potential:n", (size_t)p->sweeps.day->number[p->at],
                  p->sweeps.day->utc[p->at], p->sweeps.day->spacecraft_potential[p->at]);
    if (p->potential_status) write_string(w, "spacecraft_potential_status", p->potential_status);
    write_array(w, "models", true);
    for (int model = 0; model < 2; model++)
        if (p->answers.results[model]) model_json(p, model, w);
    write_close(w);
    write_object(w, "options", false);
    losscone_plan_describe(&p->plan, &p->sources.options, w);
    write_close(w);
    write_device(session);
    write_close(w);
}

static void describe_model(const struct profile *p, int model, struct text *out)
{
    const paritas_losscone_result *r = p->answers.results[model];
    const paritas_confidence *set = p->answers.sets[model];
    text_format(out, "%-7s %s", losscone_model_name(model), status_word(p, model));
    if (paritas_losscone_fitted(r)) {
        text_format(out, ", misfit %.6g of %u cells, U %.6g V, plateau %.6g to %.6g", r->misfit, r->cells,
                    r->potential_centre, r->potential_lower, r->potential_upper);
        text_format(out, ", r %.5g, %.5g to %.5g", r->ratio_centre, r->ratio_lower, r->ratio_upper);
        if (model == 0) text_format(out, ", A %.4g", r->amplitude);
    }
    text_format(out, "\n");
    if (!set || !paritas_losscone_fitted(r)) return;
    text_format(out, "        misfit up to %.4g above:", set->threshold);
    for (unsigned i = 0; i < set->intervals; i++)
        text_format(out, "%s %.6g to %.6g V", i > 0 ? "," : "", set->lower[i], set->upper[i]);
    text_format(out, "%s%s\n", set->at_lower_bound ? ", open below" : "",
                set->at_upper_bound ? ", open above" : "");
}

static void answer_table(const struct profile *p)
{
    struct session *session = p->session;
    struct text *out = &session->out;
    struct table table;
    const double potential = p->sweeps.day->spacecraft_potential[p->at];
    text_format(out, "spectrum %lld, %s", (long long)p->sweeps.day->number[p->at], p->sweeps.day->utc[p->at]);
    if (!isnan(potential))
        text_format(out, ", spacecraft at %.4g V\n", potential);
    else
        text_format(out, ", no spacecraft potential%s%s\n", p->potential_status ? ": " : "",
                    p->potential_status ? p->potential_status : "");
    for (int model = 0; model < 2; model++)
        if (p->answers.results[model]) describe_model(p, model, out);
    if (!has_fit(p)) return;
    text_format(out, "\n");
    const bool hard = p->plan.hard, folded = p->plan.folded;
    const char *headers = hard && folded ? "U / V|misfit|r|A|misfit folded|r folded"
                          : hard         ? "U / V|misfit|r|A"
                                         : "U / V|misfit|r";
    table_open(&table, out, headers, hard && folded ? "rrrrrr" : hard ? "rrrr" : "rrr");
    for (size_t i = 0; i < p->points; i++) {
        table_number(&table, p->potentials[i], 6);
        for (int model = 0; model < 2; model++) {
            if (!p->answers.results[model]) continue;
            table_number(&table, p->misfit[model][i], 6);
            table_number(&table, p->ratio[model][i], 4);
            if (model == 0) table_number(&table, p->amplitude[model][i], 3);
        }
    }
    table_close(&table);
}

static paritas_status profile(struct profile *p)
{
    struct session *session = p->session;
    TRY(losscone_plan_open(session, &p->plan));
    TRY(plasma_plan_open(session, &p->plasma));
    TRY(sources_open(session, &p->sources));
    losscone_plan_take(&p->plan, &p->sources.options);
    background_take(session, &p->sources.options);
    plasma_plan_take(&p->plasma, &p->sources.options);
    TRY(open_grid(p));
    TRY(load(p));
    sources_note(session, &p->sources);
    TRY(make_profiles(p));
    (session->json ? answer_json : answer_table)(p);
    return PARITAS_OK;
}

static int run(struct session *session)
{
    struct profile p = {.session = session};
    if (!option_given(session, "--spectrum"))
        return usage_failure(session, "losscone profile needs --spectrum N");
    const paritas_status status = profile(&p);
    sweeps_free(&p.sweeps);
    sources_close(&p.sources);
    return status;
}

const struct command command_losscone_profile = {
    .name = "losscone profile",
    .operands = "FILE",
    .summary = "the misfit of one sweep over the surface potential, its plateau and confidence set",
    .description = "The misfit is minimised over r and A at each U. On the plateau U and r have the same "
                   "misfit as at the minimum.",
    .groups = {GROUP_OPTIONS, GROUP_LOSSCONE, GROUP_BACKGROUND, GROUP_CONFIDENCE, GROUP_SOURCES, GROUP_PLASMA,
               GROUP_FIT_ENGINE, GROUP_OUTPUT},
    .run = run,
};
