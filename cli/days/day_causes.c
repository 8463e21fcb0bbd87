/* day_causes.c: fits a sample of a day again with other settings. */
#include "days/day_causes.h"

#include <math.h>
#include <string.h>

#define ROWS PARITAS_SWEEP_ROWS
#define CELLS PARITAS_SWEEP_CELLS
#define SAMPLE_MOST 60
#define BAD_LEAST 5 /* fewer sweeps tell nothing of a day */
#define BAD_PART 0.3

/* Sweeps of the day, by number. */
struct sample {
    size_t n, sweeps[SAMPLE_MOST];
    paritas_er_day *day; /* energies, fluxes and reasons of theirs */
    double *potential, *cosine, *flux;
};

static bool is_bad(const struct sweeps *sweeps, const unsigned char *good, size_t k)
{
    return sweeps->day->sweep_reason[k] == PARITAS_ER_KEPT && !good[k];
}

/* Sweeps that are neither masked nor good, evenly over the day; none if they are few. */
static void choose(const struct sweeps *sweeps, const unsigned char *good, struct sample *sample)
{
    size_t kept = 0, bad = 0, passed = 0;
    sample->n = 0;
    for (size_t k = 0; k < sweeps->n; k++) {
        kept += sweeps->day->sweep_reason[k] == PARITAS_ER_KEPT;
        bad += is_bad(sweeps, good, k);
    }
    if (bad < BAD_LEAST || (double)bad < BAD_PART * (double)kept) return;
    const size_t wanted = bad < SAMPLE_MOST ? bad : SAMPLE_MOST;
    for (size_t k = 0; k < sweeps->n; k++) {
        if (!is_bad(sweeps, good, k)) continue;
        if (passed++ * wanted / bad == sample->n && sample->n < wanted) sample->sweeps[sample->n++] = k;
    }
}

static paritas_status open_sample(struct session *session, struct sample *sample)
{
    sample->potential = numbers(session, ROWS * sample->n);
    sample->cosine = numbers(session, ROWS * CELLS * sample->n);
    sample->flux = numbers(session, ROWS * CELLS * sample->n);
    TRY(allocated(session));
    return paritas_er_day_create(session->context, sample->n, &sample->day);
}

/* sign: -1 takes the other polarity. */
static void take_sample(const struct sweeps *sweeps, double sign, struct sample *sample)
{
    const paritas_er_day *from = sweeps->day;
    paritas_er_day *to = sample->day;
    for (size_t i = 0; i < sample->n; i++) {
        const size_t k = sample->sweeps[i], cells = ROWS * CELLS;
        to->sweep_reason[i] = from->sweep_reason[k];
        memcpy(to->row_reason + ROWS * i, from->row_reason + ROWS * k, ROWS);
        memcpy(to->cell_reason + cells * i, from->cell_reason + cells * k, cells);
        memcpy(to->energy + ROWS * i, from->energy + ROWS * k, ROWS * sizeof(double));
        memcpy(to->flux + cells * i, from->flux + cells * k, cells * sizeof(double));
        memcpy(sample->potential + ROWS * i, sweeps->potential + ROWS * k, ROWS * sizeof(double));
        for (size_t j = 0; j < cells; j++)
            sample->cosine[cells * i + j] = sign * sweeps->cosine[cells * k + j];
    }
}

/* The fit has taken the background and rows of few counts out of the day before. */
static paritas_status count_good(struct day_work *work, const struct losscone_plan *plan, double sign,
                                 struct sample *sample, size_t *good)
{
    struct session *session = work->session;
    struct losscone_plan without_sets = *plan;
    struct losscone_answers answers;
    paritas_sweeps data = {.size = sizeof data,
                           .n = sample->n,
                           .energy = sample->day->energy,
                           .potential = sample->potential,
                           .cosine = sample->cosine,
                           .flux = sample->flux};
    without_sets.confidence = CONFIDENCE_NONE;
    without_sets.subtract = false;
    take_sample(work->sweeps, sign, sample);
    TRY(losscone_plan_prepare(session, &without_sets, work->sources->theta, work->sources->normalisation,
                              sample->day, &data, sample->flux, NULL));
    TRY(losscone_answer(session, &without_sets, &data, work->first, &answers));
    *good = 0;
    for (size_t i = 0; i < sample->n; i++) *good += losscone_flags(&answers, i) == 0;
    return PARITAS_OK;
}

/* Counts good sweeps with potentials from the plasma, in sunlight or shade. The day keeps its own. */
static paritas_status count_good_of_plasma(struct day_work *work, const struct losscone_plan *plan,
                                           const struct plasma_plan *plasma, bool sunlit,
                                           struct sample *sample, size_t *good)
{
    struct sweeps *sweeps = work->sweeps;
    struct plasma_plan other = *plasma;
    struct sources sources = *work->sources;
    struct plasma_answers answers;
    double *before = numbers(work->session, sweeps->n);
    TRY(allocated(work->session));
    memcpy(before, sweeps->day->spacecraft_potential, sweeps->n * sizeof *before);
    other.sunlit = sunlit;
    sources.potential = POTENTIAL_AUTO;
    paritas_status status = plasma_answer(work->session, &other, &sources, sweeps, &answers);
    if (status == PARITAS_OK) status = count_good(work, plan, 1.0, sample, good);
    for (size_t k = 0; k < sweeps->n; k++) sweeps_set_potential(sweeps, k, before[k]);
    return status;
}

paritas_status losscone_find_cause(struct day_work *work, const struct losscone_plan *plan,
                                   const struct plasma_plan *plasma, const unsigned char *good)
{
    enum { POLARITY, ILLUMINATION, POTENTIAL, SETTINGS };
    static const char *const settings[] = {"--polarity", "--illumination", "--spacecraft-potential"};
    const bool automatic = work->sources->potential == POTENTIAL_AUTO;
    struct sample sample = {.day = NULL};
    size_t found[SETTINGS] = {0}, best = POLARITY;
    choose(work->sweeps, good, &sample);
    if (sample.n == 0) return PARITAS_OK;
    const struct arena outer = arena_begin(work->session);
    paritas_status status = open_sample(work->session, &sample);
    if (status == PARITAS_OK) status = count_good(work, plan, -1.0, &sample, &found[POLARITY]);
    if (status == PARITAS_OK && automatic)
        status = count_good_of_plasma(work, plan, plasma, !plasma->sunlit, &sample, &found[ILLUMINATION]);
    if (status == PARITAS_OK && !automatic)
        status = count_good_of_plasma(work, plan, plasma, plasma->sunlit, &sample, &found[POTENTIAL]);
    for (size_t i = 0; i < SETTINGS; i++)
        if (found[i] > found[best]) best = i;
    write_object(work->writer, "few_good", false);
    write_integer(work->writer, "tried", sample.n);
    write_integer(work->writer, "good", found[best]);
    write_string(work->writer, "cause", 2 * found[best] > sample.n ? settings[best] : NULL);
    write_close(work->writer);
    paritas_er_day_free(sample.day);
    arena_end(work->session, outer);
    return status;
}
