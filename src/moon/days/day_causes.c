/* day_causes.c: fits a sample of a day again with other settings. */
#include "base/sized.h"
#include "moon/days/days.h"

#include <string.h>

#define SAMPLE_MOST 60
#define BAD_LEAST 5 /* fewer sweeps tell nothing of a day */
#define BAD_PART 0.3

/* Sweeps of the day, by number. */
struct sample {
    size_t n, sweeps[SAMPLE_MOST];
    paritas_er_day *day; /* energies, fluxes and reasons of theirs */
    double *potential, *cosine, *flux;
};

/* What all trials share. */
struct trials {
    paritas_context *context;
    struct arena *arena;
    const paritas_day_options *options;
    unsigned responses;
    uint64_t first;
    paritas_er_day *day;
    paritas_day_sweeps *sweeps;
    struct sample sample;
};

static bool is_bad(const paritas_er_day *day, const unsigned char *good, size_t k)
{
    return day->sweep_reason[k] == PARITAS_ER_KEPT && !good[k];
}

/* Sweeps that are neither masked nor good, evenly over the day; none if they are few. */
static void choose(const paritas_er_day *day, const unsigned char *good, struct sample *sample)
{
    size_t kept = 0, bad = 0, passed = 0;
    sample->n = 0;
    for (size_t k = 0; k < day->n; k++) {
        kept += day->sweep_reason[k] == PARITAS_ER_KEPT;
        bad += is_bad(day, good, k);
    }
    if (bad < BAD_LEAST || (double)bad < BAD_PART * (double)kept) return;
    const size_t wanted = bad < SAMPLE_MOST ? bad : SAMPLE_MOST;
    for (size_t k = 0; k < day->n; k++) {
        if (!is_bad(day, good, k)) continue;
        if (passed++ * wanted / bad == sample->n && sample->n < wanted) sample->sweeps[sample->n++] = k;
    }
}

static paritas_status open_sample(struct trials *trials)
{
    struct sample *sample = &trials->sample;
    sample->potential = day_numbers(trials->arena, DAY_ROWS * sample->n);
    sample->cosine = day_numbers(trials->arena, DAY_ROWS * DAY_CELLS * sample->n);
    sample->flux = day_numbers(trials->arena, DAY_ROWS * DAY_CELLS * sample->n);
    if (!sample->potential || !sample->cosine || !sample->flux) return paritas_fail_memory(trials->context);
    return paritas_er_day_create(trials->context, sample->n, &sample->day);
}

/* sign: -1 takes the other polarity. */
static void take_sample(const struct trials *trials, double sign)
{
    const struct sample *sample = &trials->sample;
    const paritas_day_sweeps *sweeps = trials->sweeps;
    const paritas_er_day *from = trials->day;
    paritas_er_day *to = sample->day;
    for (size_t i = 0; i < sample->n; i++) {
        const size_t k = sample->sweeps[i], rows = DAY_ROWS, cells = DAY_ROWS * DAY_CELLS;
        to->sweep_reason[i] = from->sweep_reason[k];
        memcpy(to->row_reason + rows * i, from->row_reason + rows * k, rows);
        memcpy(to->cell_reason + cells * i, from->cell_reason + cells * k, cells);
        memcpy(to->energy + rows * i, from->energy + rows * k, rows * sizeof(double));
        memcpy(to->flux + cells * i, from->flux + cells * k, cells * sizeof(double));
        memcpy(sample->potential + rows * i, sweeps->potential + rows * k, rows * sizeof(double));
        for (size_t j = 0; j < cells; j++)
            sample->cosine[cells * i + j] = sign * sweeps->cosine[cells * k + j];
    }
}

/* Fits of the sample without sets; NULL: a response that is not asked for. */
static paritas_status fit_sample(const struct trials *trials, const paritas_sweeps *data,
                                 paritas_losscone_result *results[2])
{
    paritas_losscone_sets sets = PARITAS_LOSSCONE_SETS_DEFAULT;
    paritas_losscone_options options = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    sets.confidence = PARITAS_CONFIDENCE_KIND_NONE;
    if (trials->options->losscone)
        TRY(SIZED_TAKE(trials->context, paritas_losscone_options, "losscone", trials->options->losscone,
                       &options));
    options.first = trials->first;
    for (int model = 0; model < 2; model++) {
        results[model] = NULL;
        if (!(trials->responses & 1u << model)) continue;
        results[model] = day_records(trials->arena, data->n, sizeof *results[model]);
        if (!results[model]) return paritas_fail_memory(trials->context);
        options.response = (paritas_losscone_response)model;
        TRY(paritas_losscone_answer(trials->context, data, &options, &sets, results[model], NULL));
    }
    return PARITAS_OK;
}

/* The fit has taken the background and rows of few counts out of the day before. */
static paritas_status count_good(struct trials *trials, double sign, size_t *good)
{
    const struct sample *sample = &trials->sample;
    const paritas_day_options *options = trials->options;
    const paritas_losscone_options default_options = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    const paritas_losscone_options *losscone = options->losscone ? options->losscone : &default_options;
    paritas_losscone_result *results[2];
    struct day_counted counted;
    paritas_sweeps data = {.size = sizeof data,
                           .n = sample->n,
                           .energy = sample->day->energy,
                           .potential = sample->potential,
                           .cosine = sample->cosine,
                           .flux = sample->flux};
    take_sample(trials, sign);
    TRY(day_count(trials->context, trials->arena, options, sample->day, &data, NULL, sample->flux, &counted));
    data.channel = counted.channel;
    data.counts = counted.counts;
    data.background = counted.background;
    data.measured = counted.measured;
    data.scatter = counted.scatter;
    TRY(paritas_losscone_mask(trials->context, sample->n, NULL, losscone->method, sample->cosine,
                              sample->day->flux, sample->flux));
    TRY(fit_sample(trials, &data, results));
    *good = 0;
    for (size_t i = 0; i < sample->n; i++)
        *good += paritas_losscone_flags(results[0] ? &results[0][i] : NULL,
                                        results[1] ? &results[1][i] : NULL) == 0;
    return PARITAS_OK;
}

/* Counts with potentials from the plasma, in sunlight or shade. Day and sweeps keep their own. */
static paritas_status count_good_of_plasma(struct trials *trials, bool sunlit, size_t *good)
{
    paritas_er_day *day = trials->day;
    paritas_day_options options = *trials->options;
    paritas_day_sweeps answers = *trials->sweeps;
    double *before = day_numbers(trials->arena, day->n);
    if (!before) return paritas_fail_memory(trials->context);
    memcpy(before, day->spacecraft_potential, day->n * sizeof *before);
    options.sunlit = sunlit;
    options.potential_source = PARITAS_POTENTIAL_SOURCE_AUTO;
    paritas_status status = day_plasma(trials->context, trials->arena, &options, true, day, &answers);
    if (status == PARITAS_OK) status = count_good(trials, 1.0, good);
    for (size_t k = 0; k < day->n; k++) day_set_potential(day, trials->sweeps->potential, k, before[k]);
    return status;
}

static paritas_status try_settings(struct trials *trials, paritas_day_cause *cause)
{
    const bool automatic = trials->options->potential_source == PARITAS_POTENTIAL_SOURCE_AUTO,
               sunlit = trials->options->sunlit;
    const paritas_day_setting settings[] = {PARITAS_DAY_SETTING_POLARITY,
                                            automatic ? PARITAS_DAY_SETTING_ILLUMINATION
                                                      : PARITAS_DAY_SETTING_SPACECRAFT_POTENTIAL};
    size_t found[2] = {0};
    TRY(open_sample(trials));
    TRY(count_good(trials, -1.0, &found[0]));
    TRY(count_good_of_plasma(trials, automatic ? !sunlit : sunlit, &found[1]));
    const size_t best = found[1] > found[0];
    cause->tried = trials->sample.n;
    cause->good = found[best];
    if (2 * found[best] > cause->tried) cause->cause = settings[best];
    return PARITAS_OK;
}

paritas_status paritas_day_find_cause(paritas_context *context, const paritas_day_options *given,
                                      unsigned responses, uint64_t first, paritas_er_day *day,
                                      paritas_day_sweeps *sweeps, const unsigned char *good,
                                      paritas_day_cause *cause)
{
    double theta[PARITAS_SWEEP_CELLS];
    paritas_day_options options;
    struct arena arena;
    REQUIRE(context, day, sweeps, good, cause);
    TRY(SIZED_CHECK(context, paritas_day_cause, "cause", 1, cause));
    TRY(day_options_read(context, given, theta, &options));
    *cause = (paritas_day_cause){.size = sizeof *cause};
    arena_open(&arena, &context->allocator);
    struct trials trials = {.context = context,
                            .arena = &arena,
                            .options = &options,
                            .responses = responses,
                            .first = first,
                            .day = day,
                            .sweeps = sweeps};
    choose(day, good, &trials.sample);
    const paritas_status status = trials.sample.n > 0 ? try_settings(&trials, cause) : PARITAS_OK;
    paritas_er_day_free(trials.sample.day);
    arena_free(&arena);
    return status;
}
