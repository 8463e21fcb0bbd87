/* day_losscone.c: options and fits of loss cones. */
#include "days/day_losscone.h"

#include <math.h>

#define MOST_DRAWS 65536 /* limit of paritas_losscone_bootstrap */

const struct option options_losscone[] = {
    {"--response", OPTION_CHOICE, "hard|folded|both",
     "the cone's edge at the row's energy, averaged over the instrument's energy response, or both side by "
     "side",
     "both"},
    LIBRARY_ROWS(PARITAS_LOSSCONE_FIT_OPTIONS, paritas_losscone_options),
    {"--response-weights", OPTION_CHOICE, "spectrum|equal",
     "energies of the folded edge: weighted by the measured spectrum, or five of equal weight", "spectrum"},
    LIBRARY_ROW("--least-counts", paritas_day_options),
    {0},
};

const struct option options_search[] = {
    LIBRARY_ROW("--search", paritas_losscone_options),
    LIBRARY_ROW("--population", paritas_losscone_options),
    LIBRARY_ROW("--generations", paritas_losscone_options),
    {0},
};

const struct option options_background[] = {
    {"--subtract-background", OPTION_CHOICE, "auto|none",
     "subtract a rate of counts common to all energies of a sweep, if the highest energies show one", "auto"},
    {0},
};

const struct option options_losscone_confidence[] = {
    {"--confidence", OPTION_CHOICE, "none|residuals|bootstrap",
     "how the threshold of confidence sets is found: from the residuals of the fit, or calibrated by a "
     "bootstrap; needs --search exact",
     "residuals"},
    {"--threshold", OPTION_NUMBER, "C", "the threshold itself: misfit above the minimum"},
    {"--draws", OPTION_COUNT, "N", "simulated sweeps of the bootstrap, for each sweep", "40"},
    {"--level", OPTION_NUMBER, "P", "coverage that the bootstrap aims at", "0.68"},
    {"--step", OPTION_NUMBER, "V", "grid of the ends of sets; default: 1, for the folded edge 0.05"},
    LIBRARY_ROWS(PARITAS_LOSSCONE_SET_OPTIONS, paritas_losscone_options),
    {0},
};

paritas_status losscone_plan_open(struct session *session, struct losscone_plan *plan)
{
    const paritas_losscone_options start = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    const int response = option_value(session, "--response")->choice;
    const bool asked = option_given(session, "--confidence");
    *plan = (struct losscone_plan){.options = start,
                                   .hard = response != 1,
                                   .folded = response != 0,
                                   .sets = PARITAS_LOSSCONE_SETS_DEFAULT,
                                   .weighted = option_value(session, "--response-weights")->choice == 0};
    paritas_losscone_sets *sets = &plan->sets;
    sets->confidence = (paritas_confidence_kind)option_value(session, "--confidence")->choice;
    sets->threshold = option_number(session, "--threshold");
    sets->draws = (unsigned)option_count(session, "--draws");
    sets->level = option_number(session, "--level");
    sets->step = option_number_or(session, "--step", 0.0);
    paritas_losscone_options *o = &plan->options;
    TRY(options_take(session, "paritas_losscone_options", o));
    if (!isnan(sets->threshold)) {
        if (asked)
            return usage_failure(session,
                                 "--threshold and --confidence: the threshold is given, or found, not both");
        if (!(sets->threshold >= 0.0)) return usage_failure(session, "--threshold takes a number from 0");
        sets->confidence = PARITAS_CONFIDENCE_KIND_THRESHOLD;
    }
    if (sets->draws > MOST_DRAWS)
        return usage_failure(session, "--draws takes a whole number from 1 to %d", MOST_DRAWS);
    if (!(sets->level > 0.0 && sets->level < 1.0))
        return usage_failure(session, "--level takes a number above 0 and below 1");
    if (option_given(session, "--step") && !(sets->step > 0.0))
        return usage_failure(session, "--step takes a number above 0");
    if (o->search == PARITAS_LOSSCONE_SEARCH_DE) {
        if (sets->confidence == PARITAS_CONFIDENCE_KIND_THRESHOLD ||
            (asked && sets->confidence != PARITAS_CONFIDENCE_KIND_NONE))
            return usage_failure(session, "confidence sets need --search exact");
        sets->confidence = PARITAS_CONFIDENCE_KIND_NONE;
    }
    return PARITAS_OK;
}

void losscone_plan_describe(const struct losscone_plan *plan, const paritas_day_options *options,
                            struct writer *writer)
{
    const paritas_losscone_options *o = &plan->options;
    const paritas_losscone_sets *sets = &plan->sets;
    write_string(writer, "method", paritas_losscone_method_name(o->method));
    write_string(writer, "response", plan->hard && plan->folded ? "both" : losscone_model_name(!plan->hard));
    write_string(writer, "search", paritas_losscone_search_name(o->search));
    if (o->search == PARITAS_LOSSCONE_SEARCH_DE) {
        write_integer(writer, "population", o->population);
        write_integer(writer, "generations", o->generations);
    } else {
        write_integer(writer, "box_limit", o->box_limit);
    }
    if (o->search == PARITAS_LOSSCONE_SEARCH_DE || sets->confidence == PARITAS_CONFIDENCE_KIND_BOOTSTRAP)
        write_integer(writer, "seed", o->seed);
    const bool has_sets = sets->confidence != PARITAS_CONFIDENCE_KIND_NONE;
    const char *const left_out[] = {plan->folded ? "" : "--response-width",
                                    has_sets ? "" : "--potential-errors", NULL};
    options_write(writer, "paritas_losscone_options", o, left_out);
    if (plan->folded) write_string(writer, "response_weights", plan->weighted ? "spectrum" : "equal");
    write_number(writer, "least_counts", options->least_counts);
    background_describe(options, writer);
    write_string(writer, "confidence", paritas_confidence_kind_name(sets->confidence));
    if (sets->confidence == PARITAS_CONFIDENCE_KIND_THRESHOLD)
        write_number(writer, "threshold", sets->threshold);
    if (sets->confidence == PARITAS_CONFIDENCE_KIND_BOOTSTRAP) {
        write_integer(writer, "draws", sets->draws);
        write_number(writer, "level", sets->level);
    }
    if (has_sets) write_number(writer, "step", sets->step > 0.0 ? sets->step : NAN);
}

void background_take(const struct session *session, paritas_day_options *options)
{
    options->subtract_background = option_value(session, "--subtract-background")->choice == 0;
}

void background_describe(const paritas_day_options *options, struct writer *writer)
{
    write_string(writer, "subtract_background", options->subtract_background ? "auto" : "none");
}

const char *losscone_model_name(int model)
{
    return paritas_losscone_response_name((paritas_losscone_response)model);
}

void losscone_plan_take(const struct losscone_plan *plan, paritas_day_options *options)
{
    options->losscone = &plan->options;
    options->weighted = plan->weighted && plan->folded;
}

paritas_status losscone_count(struct session *session, const struct losscone_plan *plan,
                              const paritas_day_options *options, paritas_er_day *day,
                              paritas_day_sweeps *sweeps)
{
    TRY(paritas_day_count(session->context, options, day, sweeps));
    if (day->n == 0) return PARITAS_OK;
    return paritas_losscone_mask(session->context, day->n, NULL, plan->options.method, sweeps->cosine,
                                 day->flux, sweeps->flux);
}

paritas_status losscone_answer(struct session *session, const struct losscone_plan *plan,
                               const paritas_sweeps *sweeps, uint64_t first, struct losscone_answers *answers)
{
    const bool asked[2] = {plan->hard, plan->folded};
    paritas_losscone_options options = plan->options;
    *answers = (struct losscone_answers){{NULL, NULL}, {NULL, NULL}};
    options.first = first;
    for (int model = 0; model < 2; model++) {
        if (!asked[model]) continue;
        answers->results[model] = arena_records(session, sweeps->n, sizeof(paritas_losscone_result));
        if (plan->sets.confidence != PARITAS_CONFIDENCE_KIND_NONE)
            answers->sets[model] = arena_records(session, sweeps->n, sizeof(paritas_confidence));
        TRY(allocated(session));
        options.response = (paritas_losscone_response)model;
        TRY(paritas_losscone_answer(session->context, sweeps, &options, &plan->sets, answers->results[model],
                                    answers->sets[model]));
    }
    return PARITAS_OK;
}

static const paritas_losscone_result *result_of(const struct losscone_answers *answers, int model, size_t k)
{
    return answers->results[model] ? &answers->results[model][k] : NULL;
}

unsigned losscone_flags(const struct losscone_answers *answers, size_t k)
{
    return paritas_losscone_flags(result_of(answers, 0, k), result_of(answers, 1, k));
}

int losscone_preferred(const struct losscone_answers *answers, size_t k)
{
    return paritas_losscone_preferred(result_of(answers, 0, k), result_of(answers, 1, k));
}
