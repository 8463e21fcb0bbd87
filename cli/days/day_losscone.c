/* day_losscone.c: options and fits of loss cones. */
#include "days/day_losscone.h"
#include "days/day_settings.h"
#include "moon/losscone/losscone.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define MOST_DRAWS 65536 /* limit of paritas_losscone_bootstrap */

const struct option options_losscone[] = {
    {"--method", OPTION_CHOICE, "halekas|lillis",
     "misfit of logarithms of the flux, or of the flux between 0.07 and 0.79 of the incident", "halekas"},
    {"--response", OPTION_CHOICE, "hard|folded|both",
     "the cone's edge at the row's energy, averaged over the instrument's energy response, or both side by "
     "side",
     "both"},
    {"--search", OPTION_CHOICE, "exact|de", "proven global minimum, or differential evolution", "exact"},
    {"--seed", OPTION_WHOLE, "N", "of de and of the bootstrap", "42"},
    {"--population", OPTION_COUNT, "N", "of de", "50"},
    {"--generations", OPTION_COUNT, "N", "of de, at most", "500"},
    {"--box-limit", OPTION_COUNT, "N", "boxes of the exact search, a sweep", "20000"},
    {"--potential-lower", OPTION_NUMBER, "V", "bound of the surface potential U; default: -2000"},
    {"--potential-upper", OPTION_NUMBER, "V", "default: 20"},
    {"--ratio-lower", OPTION_NUMBER, "R",
     "bound of the ratio r of the field at the spacecraft to that at the surface; default: 0.3"},
    {"--ratio-upper", OPTION_NUMBER, "R", "default: 1.1"},
    {"--amplitude-lower", OPTION_NUMBER, "A", "bound of the beam's amplitude; default: 0"},
    {"--amplitude-upper", OPTION_NUMBER, "A", "default: 5; 0: no beam"},
    {"--beam-width", OPTION_NUMBER, "EV", "default: 15"},
    {"--beam-sigma", OPTION_NUMBER, "DEGREES", "default: 7.5"},
    {"--background", OPTION_NUMBER, "B", "of the normalised flux inside the cone; default: 0.05"},
    {"--response-width", OPTION_NUMBER, "W",
     "half width of the energy response, as a part of the energy; default: 0.25"},
    {"--response-weights", OPTION_CHOICE, "spectrum|equal",
     "energies of the folded edge: weighted by the measured spectrum, or five of equal weight", "spectrum"},
    {"--least-counts", OPTION_NUMBER, "N",
     "rows with fewer counts a cell, on average, are masked; counts are made from fluxes; 0: counting noise "
     "is not considered",
     "20"},
    {"--subtract-background", OPTION_CHOICE, "auto|none",
     "a rate of counts that is the same at the highest energies of a sweep", "auto"},
    {0},
};

const struct option options_losscone_confidence[] = {
    {"--confidence", OPTION_CHOICE, "none|residuals|bootstrap",
     "sets of U around the minimum (exact search): at 4 times the mean square residual (6 times for the folded "
     "edge weighted by the spectrum), or calibrated",
     "residuals"},
    {"--threshold", OPTION_NUMBER, "C", "at this misfit above the minimum instead"},
    {"--draws", OPTION_COUNT, "N", "of the bootstrap, a sweep", "40"},
    {"--level", OPTION_NUMBER, "P", "coverage that the bootstrap aims at", "0.68"},
    {"--step", OPTION_NUMBER, "V", "resolution of the sets; default: 1, of the folded edge 0.05"},
    {"--potential-errors", OPTION_NUMBER, "N",
     "sets allow for N standard deviations of a spacecraft potential that was found from the plasma; "
     "default: 2"},
    {0},
};

enum { FOLDED = 1, SETS = 2 };
#define FIELD(name) offsetof(paritas_losscone_options, name)
static const struct setting settings[] = {
    {"--potential-lower", FIELD(potential_lower)},
    {"--potential-upper", FIELD(potential_upper)},
    {"--ratio-lower", FIELD(ratio_lower)},
    {"--ratio-upper", FIELD(ratio_upper)},
    {"--amplitude-lower", FIELD(amplitude_lower)},
    {"--amplitude-upper", FIELD(amplitude_upper)},
    {"--beam-width", FIELD(beam_width)},
    {"--beam-sigma", FIELD(beam_sigma)},
    {"--background", FIELD(background)},
    {"--response-width", FIELD(response_width), .part = FOLDED},
    {"--potential-errors", FIELD(potential_errors), .part = SETS},
};

/* Refusals name the option. */
static paritas_status check_options(struct session *session, const paritas_losscone_options *options)
{
    const struct arguments *arguments = session->arguments;
    paritas_losscone_options checked;
    if (losscone_options_read(session->context, options, &checked) == PARITAS_OK) return PARITAS_OK;
    const char *message = paritas_error_message(session->context);
    if (strncmp(message, "options: ", 9) == 0) message += 9;
    for (size_t i = 0; i < arguments->n_given; i++) {
        char word[32];
        const char *name = arguments->given[i].option->name;
        /* the library says "ratio" for --ratio-lower */
        size_t length = strlen(name) - 2;
        if (length > 6 &&
            (strcmp(name + 2 + length - 6, "-lower") == 0 || strcmp(name + 2 + length - 6, "-upper") == 0))
            length -= 6;
        if (length >= sizeof word) continue;
        for (size_t k = 0; k < length; k++) word[k] = name[2 + k] == '-' ? '_' : name[2 + k];
        word[length] = '\0';
        if (strstr(message, word)) return usage_failure(session, "%s: %s", name, message);
    }
    return usage_failure(session, "%s", message);
}

paritas_status losscone_plan_open(struct session *session, struct losscone_plan *plan)
{
    const paritas_losscone_options start = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    const int response = option_value(session, "--response")->choice;
    const bool asked = option_given(session, "--confidence");
    *plan = (struct losscone_plan){.options = start,
                                   .hard = response != 1,
                                   .folded = response != 0,
                                   .confidence =
                                       (enum confidence_kind)option_value(session, "--confidence")->choice,
                                   .threshold = option_number(session, "--threshold"),
                                   .draws = (unsigned)option_count(session, "--draws"),
                                   .level = option_number(session, "--level"),
                                   .step = option_number_or(session, "--step", 0.0),
                                   .least_counts = option_number(session, "--least-counts"),
                                   .subtract = option_value(session, "--subtract-background")->choice == 0,
                                   .weighted = option_value(session, "--response-weights")->choice == 0};
    paritas_losscone_options *o = &plan->options;
    o->method = (paritas_losscone_method)option_constant(session, "--method", "paritas_losscone_method");
    o->search = (paritas_losscone_search)option_constant(session, "--search", "paritas_losscone_search");
    o->seed = option_whole(session, "--seed");
    o->population = (unsigned)option_count(session, "--population");
    o->generations = (unsigned)option_count(session, "--generations");
    o->box_limit = (unsigned)option_count(session, "--box-limit");
    TRY(settings_take(session, COUNT_OF(settings), settings, o));
    if (!isnan(plan->threshold)) {
        if (asked)
            return usage_failure(session,
                                 "--threshold and --confidence: the threshold is given, or found, not both");
        if (!(plan->threshold >= 0.0)) return usage_failure(session, "--threshold takes a number from 0");
        plan->confidence = CONFIDENCE_THRESHOLD;
    }
    if (!(plan->least_counts >= 0.0)) return usage_failure(session, "--least-counts takes a number from 0");
    if (plan->draws > MOST_DRAWS)
        return usage_failure(session, "--draws takes a whole number from 1 to %d", MOST_DRAWS);
    if (!(plan->level > 0.0 && plan->level < 1.0))
        return usage_failure(session, "--level takes a number above 0 and below 1");
    if (option_given(session, "--step") && !(plan->step > 0.0))
        return usage_failure(session, "--step takes a number above 0");
    if (o->search == PARITAS_LOSSCONE_SEARCH_DE) {
        if (plan->confidence == CONFIDENCE_THRESHOLD || (asked && plan->confidence != CONFIDENCE_NONE))
            return usage_failure(session, "confidence sets need --search exact");
        plan->confidence = CONFIDENCE_NONE;
    }
    return check_options(session, o);
}

void losscone_plan_describe(const struct losscone_plan *plan, struct writer *writer)
{
    static const char *const kinds[] = {"none", "residuals", "bootstrap", "threshold"};
    const paritas_losscone_options *o = &plan->options;
    write_string(writer, "method", paritas_losscone_method_name(o->method));
    write_string(writer, "response", plan->hard && plan->folded ? "both" : losscone_model_name(!plan->hard));
    write_string(writer, "search", paritas_losscone_search_name(o->search));
    if (o->search == PARITAS_LOSSCONE_SEARCH_DE) {
        write_integer(writer, "population", o->population);
        write_integer(writer, "generations", o->generations);
    } else {
        write_integer(writer, "box_limit", o->box_limit);
    }
    if (o->search == PARITAS_LOSSCONE_SEARCH_DE || plan->confidence == CONFIDENCE_BOOTSTRAP)
        write_integer(writer, "seed", o->seed);
    settings_write(writer, COUNT_OF(settings), settings, o,
                   (plan->folded ? FOLDED : 0u) | (plan->confidence != CONFIDENCE_NONE ? SETS : 0u));
    if (plan->folded) write_string(writer, "response_weights", plan->weighted ? "spectrum" : "equal");
    write_number(writer, "least_counts", plan->least_counts);
    write_string(writer, "subtract_background", plan->subtract ? "auto" : "none");
    write_string(writer, "confidence", kinds[plan->confidence]);
    if (plan->confidence == CONFIDENCE_THRESHOLD) write_number(writer, "threshold", plan->threshold);
    if (plan->confidence == CONFIDENCE_BOOTSTRAP) {
        write_integer(writer, "draws", plan->draws);
        write_number(writer, "level", plan->level);
    }
    if (plan->confidence != CONFIDENCE_NONE)
        write_number(writer, "step", plan->step > 0.0 ? plan->step : NAN);
}

const char *losscone_model_name(int model)
{
    return paritas_losscone_response_name((paritas_losscone_response)model);
}

paritas_losscone_options losscone_plan_options(const struct losscone_plan *plan, int model)
{
    paritas_losscone_options options = plan->options;
    options.response = (paritas_losscone_response)model;
    /* the folded model has no beam */
    if (model == 1) options.amplitude_lower = options.amplitude_upper = 0.0;
    return options;
}

/* Counts of a normalised flux of 1, and the background in normalised flux. */
static paritas_status add_counts(struct session *session, const double *theta, const paritas_er_day *day,
                                 const double *rate, paritas_sweeps *sweeps)
{
    const size_t rows = PARITAS_SWEEP_ROWS * day->n, cells = PARITAS_SWEEP_CELLS;
    double *counts = numbers(session, rows * cells), *background = numbers(session, rows),
           exposure[PARITAS_SWEEP_CELLS];
    TRY(allocated(session));
    paritas_er_exposures(theta, exposure);
    for (size_t row = 0; row < rows; row++) {
        const double factor = PARITAS_SWEEP_GEOMETRIC_FACTOR * day->energy[row];
        background[row] = 0.0;
        for (size_t j = 0; j < cells; j++) {
            const size_t cell = cells * row + j;
            const double norm = day->flux[cell] / sweeps->flux[cell];
            counts[cell] = norm * factor * exposure[j];
            if (norm > 0.0) background[row] = rate[row / PARITAS_SWEEP_ROWS] / (factor * norm);
        }
    }
    sweeps->counts = counts;
    sweeps->background = background;
    return PARITAS_OK;
}

paritas_status losscone_plan_prepare(struct session *session, const struct losscone_plan *plan,
                                     const double *theta, paritas_normalisation normalisation,
                                     paritas_er_day *day, paritas_sweeps *sweeps, double *flux,
                                     const double **rate)
{
    paritas_context *context = session->context;
    const size_t n = day->n;
    double *found = numbers(session, n),
           *channel = numbers(session, PARITAS_SWEEP_ROWS * PARITAS_CHANNEL_ENERGIES * n);
    TRY(allocated(session));
    if (rate) *rate = found;
    if (n == 0) return PARITAS_OK;
    memset(found, 0, n * sizeof *found);
    if (plan->subtract) TRY(paritas_er_subtract_background(context, day, theta, found));
    if (plan->weighted && plan->folded) {
        TRY(paritas_losscone_channels(context, sweeps, &plan->options, day->flux, channel));
        sweeps->channel = channel;
    }
    if (plan->least_counts > 0.0) TRY(paritas_er_mask_counts(context, day, theta, plan->least_counts));
    TRY(paritas_losscone_normalise(context, n, NULL, normalisation, sweeps->cosine, day->flux, flux));
    if (plan->least_counts > 0.0) TRY(add_counts(session, theta, day, found, sweeps));
    return paritas_losscone_mask(context, n, NULL, plan->options.method, sweeps->cosine, day->flux, flux);
}

bool losscone_fitted(const paritas_losscone_result *result)
{
    return result->status == PARITAS_SWEEP_FITTED || result->status == PARITAS_SWEEP_MISFIT ||
           result->status == PARITAS_SWEEP_AT_LIMIT;
}

const char *losscone_status_word(const struct sweeps *sweeps, size_t k, const paritas_losscone_result *result)
{
    const paritas_er_day *day = sweeps->day;
    bool polarity = false;
    for (size_t i = PARITAS_SWEEP_ROWS * k; i < PARITAS_SWEEP_ROWS * (k + 1); i++)
        polarity = polarity || day->polarity[i] == 1.0 || day->polarity[i] == -1.0;
    if (losscone_fitted(result)) return paritas_sweep_status_name(result->status);
    if (day->sweep_reason[k] != PARITAS_ER_KEPT)
        return paritas_er_reason_name((paritas_er_reason)day->sweep_reason[k]);
    if (!polarity) return paritas_er_reason_name(PARITAS_ER_POLARITY);
    return isnan(day->spacecraft_potential[k]) ? "no_spacecraft_potential"
                                               : paritas_sweep_status_name(result->status);
}

static paritas_status answer_sets(struct session *session, const struct losscone_plan *plan,
                                  const paritas_sweeps *sweeps, const paritas_losscone_options *options,
                                  const paritas_losscone_result *results, paritas_confidence **sets)
{
    double *thresholds = numbers(session, sweeps->n);
    *sets = sized_records(session, sweeps->n, sizeof **sets);
    TRY(allocated(session));
    for (size_t k = 0; k < sweeps->n; k++) thresholds[k] = plan->threshold;
    if (plan->confidence == CONFIDENCE_BOOTSTRAP)
        TRY(paritas_losscone_bootstrap(session->context, sweeps, options, results, plan->draws, plan->level,
                                       thresholds));
    return paritas_losscone_confidence(session->context, sweeps, options, results,
                                       plan->confidence == CONFIDENCE_RESIDUALS ? NULL : thresholds,
                                       plan->step, *sets);
}

paritas_status losscone_answer(struct session *session, const struct losscone_plan *plan,
                               const paritas_sweeps *sweeps, uint64_t first, struct losscone_answers *answers)
{
    *answers = (struct losscone_answers){{NULL, NULL}, {NULL, NULL}};
    for (int model = 0; model < 2; model++) {
        if (!(model == 0 ? plan->hard : plan->folded)) continue;
        paritas_losscone_options options = losscone_plan_options(plan, model);
        options.first = first;
        paritas_losscone_result *results = sized_records(session, sweeps->n, sizeof *results);
        TRY(allocated(session));
        answers->results[model] = results;
        if (sweeps->n == 0) continue;
        TRY(paritas_losscone_fit(session->context, sweeps, &options, results));
        for (size_t k = 0; k < sweeps->n && options.search == PARITAS_LOSSCONE_SEARCH_DE; k++)
            /* a point, without a plateau */
            results[k].potential_lower = results[k].potential_upper = results[k].ratio_lower =
                results[k].ratio_upper = NAN;
        if (plan->confidence != CONFIDENCE_NONE)
            TRY(answer_sets(session, plan, sweeps, &options, results, &answers->sets[model]));
    }
    return PARITAS_OK;
}

int losscone_preferred(const struct losscone_answers *answers, size_t k)
{
    const paritas_losscone_result *hard = answers->results[0], *folded = answers->results[1];
    if (!hard || !folded || !losscone_fitted(&hard[k]) || !losscone_fitted(&folded[k])) return -1;
    return !(hard[k].misfit <= folded[k].misfit);
}

unsigned losscone_flags(const struct losscone_answers *answers, size_t k)
{
    const int model = answers->results[0] ? losscone_preferred(answers, k) == 1 : 1;
    const paritas_losscone_result *other = answers->results[1 - model];
    return paritas_quality_flags(&answers->results[model][k], other ? &other[k] : NULL);
}
