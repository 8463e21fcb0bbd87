/* sweep_questions.c: makes synthetic sweeps and spectra, and asks contexts about them. */
#include "commands/moon/sweep_questions.h"
#include "days/day_truth.h"

#include <string.h>

#define ROWS PARITAS_SWEEP_ROWS
#define CELLS PARITAS_SWEEP_CELLS
#define POINTS 64
#define ENERGIES 500

const struct sweep_question_name sweep_questions[SWEEP_QUESTIONS] = {
#define X(family, id, name) {SWEEPS_##family, name},
    SWEEP_QUESTION_LIST(X)
#undef X
};
static const char *const family_names[SWEEP_FAMILIES] = {"losscone", "kappa"};

enum sweep_family sweep_family_of(const struct session *session)
{
    const struct arguments *arguments = session->arguments;
    int family = 0;
    if (arguments->n_operands == 0) return SWEEP_FAMILIES;
    while (family < SWEEP_FAMILIES && strcmp(arguments->operands[0], family_names[family]) != 0) family++;
    return (enum sweep_family)family;
}

static paritas_status refuse(struct session *session, enum sweep_family family, const char *name)
{
    return option_given(session, name)
               ? usage_failure(session, "%s is for workspaces, not for %s", name, family_names[family])
               : PARITAS_OK;
}

paritas_status sweep_check_options(struct session *session, enum sweep_family family, const char *const *own)
{
    const struct option *const tables[] = {options_job, options_patches, options_model};
    for (; *own; own++) TRY(refuse(session, family, *own));
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const struct option *o = tables[t]; o->name; o++) TRY(refuse(session, family, o->name));
    return PARITAS_OK;
}

/* 0 hard, 1 folded. */
static paritas_losscone_options options_of(int model)
{
    const paritas_losscone_options start = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    paritas_losscone_options options;
    paritas_losscone_options_of(&start, (paritas_losscone_response)model, &options);
    return options;
}

/* Sweeps as `losscone fit` prepares them. */
static paritas_status prepare_sweeps(struct session *session, paritas_context *maker, const double *theta,
                                     const paritas_er_day *day, const paritas_truths *truth,
                                     struct sweep_work *work)
{
    const size_t n = work->n;
    double *energy = arena_numbers(session, ROWS * n), *potential = arena_numbers(session, ROWS * n),
           *cosine = arena_numbers(session, ROWS * CELLS * n),
           *flux = arena_numbers(session, ROWS * CELLS * n),
           *of_lillis = arena_numbers(session, ROWS * CELLS * n);
    work->points = arena_numbers(session, 3 * (n + POINTS));
    TRY(allocated(session));
    memcpy(energy, day->energy, ROWS * n * sizeof *energy);
    for (size_t i = 0; i < ROWS * n; i++) potential[i] = truth->spacecraft[i / ROWS];
    TRY(paritas_losscone_cosines(maker, n, NULL, theta, day->field, day->polarity, day->azimuth, cosine));
    TRY(paritas_losscone_normalise(maker, n, NULL, PARITAS_NORMALISATION_RATIO, cosine, day->flux, flux));
    memcpy(of_lillis, flux, ROWS * CELLS * n * sizeof *flux);
    TRY(paritas_losscone_mask(maker, n, NULL, PARITAS_LOSSCONE_METHOD_HALEKAS, cosine, day->flux, flux));
    TRY(paritas_losscone_mask(maker, n, NULL, PARITAS_LOSSCONE_METHOD_LILLIS, cosine, day->flux, of_lillis));
    work->sweeps = (paritas_sweeps){.size = sizeof work->sweeps,
                                    .n = n,
                                    .energy = energy,
                                    .potential = potential,
                                    .cosine = cosine,
                                    .flux = flux};
    work->sweeps_of_lillis = work->sweeps;
    work->sweeps_of_lillis.flux = of_lillis;
    for (size_t k = 0; k < n + POINTS; k++) {
        const size_t of = k % n;
        const double point[3] = {truth->potential[of], truth->ratio[of], truth->amplitude[of]};
        memcpy(work->points + 3 * k, point, sizeof point);
    }
    for (int model = 0; model < 2; model++) {
        const paritas_losscone_options options = options_of(model);
        work->fits[model] = arena_records(session, n, sizeof *work->fits[model]);
        TRY(allocated(session));
        TRY(paritas_losscone_fit(maker, &work->sweeps, &options, work->fits[model]));
    }
    return PARITAS_OK;
}

static paritas_status prepare_spectra(struct session *session, paritas_context *maker, const double *theta,
                                      const paritas_er_day *day, const paritas_truths *truth,
                                      struct sweep_work *work)
{
    const size_t n = work->n;
    double *energy = arena_numbers(session, ROWS * n), *cosine = arena_numbers(session, ROWS * CELLS * n),
           *omni = arena_numbers(session, ROWS * n), *sensitivity = arena_numbers(session, ROWS * n);
    work->plasmas = arena_elements(session, n > POINTS ? n : POINTS, sizeof *work->plasmas);
    work->covariance = arena_numbers(session, 9 * n);
    work->sunlit = arena_elements(session, n, 1);
    work->shaded = arena_elements(session, n, 1);
    TRY(allocated(session));
    memcpy(energy, day->energy, ROWS * n * sizeof *energy);
    TRY(paritas_losscone_cosines(maker, n, NULL, theta, day->field, day->polarity, day->azimuth, cosine));
    paritas_cells cells = PARITAS_CELLS_DEFAULT;
    cells.theta = theta;
    TRY(paritas_kappa_spectrum(maker, &(paritas_spectrum_request){.size = sizeof(paritas_spectrum_request),
                                                                  .cells = &cells,
                                                                  .n = n,
                                                                  .energy = energy,
                                                                  .flux = day->flux,
                                                                  .cosine = cosine,
                                                                  .omni = omni,
                                                                  .sensitivity = sensitivity}));
    work->spectra = (paritas_spectra){
        .size = sizeof work->spectra, .n = n, .energy = energy, .flux = omni, .sensitivity = sensitivity};
    memset(work->sunlit, 1, n);
    for (size_t k = 0; k < (n > POINTS ? n : POINTS); k++)
        work->plasmas[k] =
            (paritas_kappa_plasma){truth->density[k % n], truth->kappa[k % n], truth->theta[k % n]};
    return PARITAS_OK;
}

paritas_status sweep_work_open(struct session *session, paritas_context *maker, enum sweep_family family,
                               size_t n, uint64_t seed, struct sweep_work *work)
{
    paritas_synthetic_options draw = PARITAS_SYNTHETIC_OPTIONS_DEFAULT;
    draw.missing_cells = draw.missing_rows = 0.01;
    draw.plasma = family == SWEEPS_KAPPA;
    draw.low_energies = 1;
    draw.polarity = 0.0;
    draw.weighted = 0;
    draw.seed = seed;
    paritas_context *const own = session->context;
    paritas_truths truth;
    paritas_er_day *day = NULL;
    double theta[CELLS];
    *work = (struct sweep_work){.family = family, .n = n};
    session->context = maker; /* of what draws and prepares sweeps */
    paritas_status status = paritas_er_theta(maker, NULL, theta);
    if (status == PARITAS_OK) status = truths_open(session, n, &truth);
    if (status == PARITAS_OK) status = paritas_day_synthesize(maker, &draw, NULL, n, &truth, &day);
    if (status == PARITAS_OK)
        status = (family == SWEEPS_KAPPA ? prepare_spectra : prepare_sweeps)(session, maker, theta, day,
                                                                             &truth, work);
    paritas_er_day_free(day);
    session->context = own;
    return status == PARITAS_OK || maker == own
               ? status
               : paritas_fail(own, status, "%s", paritas_error_message(maker));
}

/* The fields of n records, one number after the other. */
static paritas_status flatten(struct session *session, const char *type, size_t n, const void *records,
                              struct sweep_answer *answer)
{
    const paritas_record *record = paritas_record_find(type);
    size_t each = 0, at = 0;
    for (size_t f = 0; f < record->n_fields; f++) each += record->fields[f].count;
    *answer = (struct sweep_answer){arena_numbers(session, n * each), n * each};
    TRY(allocated(session));
    for (size_t k = 0; k < n; k++)
        for (size_t f = 0; f < record->n_fields; f++) {
            const paritas_field *field = &record->fields[f];
            const char *from = (const char *)records + k * record->size + field->offset;
            for (size_t i = 0; i < field->count; i++, from += field->size) {
                uint64_t wide = 0;
                uint32_t narrow = 0;
                if (field->type == PARITAS_FIELD_REAL) {
                    memcpy(&answer->values[at++], from, sizeof(double));
                    continue;
                }
                if (field->size == sizeof wide)
                    memcpy(&wide, from, sizeof wide);
                else
                    memcpy(&narrow, from, sizeof narrow);
                answer->values[at++] = (double)(wide + narrow);
            }
        }
    return PARITAS_OK;
}

struct asking {
    struct session *session;
    paritas_context *context;
    const struct sweep_work *work;
    struct sweep_answer *answer;
};

static paritas_status ask_fits(const struct asking *a, const paritas_sweeps *sweeps, int model,
                               paritas_losscone_method method, paritas_losscone_search search)
{
    const size_t n = a->work->n;
    paritas_losscone_options options = options_of(model);
    options.method = method;
    options.search = search;
    paritas_losscone_result *fits = arena_records(a->session, n, sizeof *fits);
    TRY(allocated(a->session));
    TRY(paritas_losscone_fit(a->context, sweeps, &options, fits));
    return a->answer ? flatten(a->session, "paritas_losscone_result", n, fits, a->answer) : PARITAS_OK;
}

static paritas_status ask_sets(const struct asking *a, int model)
{
    const size_t n = a->work->n;
    const paritas_losscone_options options = options_of(model);
    paritas_confidence *sets = arena_records(a->session, n, sizeof *sets);
    TRY(allocated(a->session));
    TRY(paritas_losscone_confidence(a->context, &a->work->sweeps, &options, a->work->fits[model], NULL, 0.0,
                                    sets));
    return a->answer ? flatten(a->session, "paritas_confidence", n, sets, a->answer) : PARITAS_OK;
}

/* Room for n numbers, which become the answer. */
static double *room(const struct asking *a, size_t n)
{
    double *values = arena_numbers(a->session, n);
    if (a->answer) *a->answer = (struct sweep_answer){values, n};
    return values;
}

static paritas_status ask_models(const struct asking *a, enum sweep_question question)
{
    const struct sweep_work *work = a->work;
    double *values = room(a, work->n * (question == QUESTION_MODELS ? ROWS * CELLS : POINTS));
    TRY(allocated(a->session));
    return question == QUESTION_MODELS
               ? paritas_losscone_model(a->context, &work->sweeps, NULL, work->points, values, NULL)
               : paritas_losscone_misfit(a->context, &work->sweeps, NULL, POINTS, work->points + 3 * work->n,
                                         values, NULL);
}

static paritas_status ask_kappa(const struct asking *a, enum sweep_question question)
{
    const struct sweep_work *work = a->work;
    const size_t n = work->n;
    if (question == QUESTION_KAPPA_FITS) {
        paritas_kappa_result *fits = arena_records(a->session, n, sizeof *fits);
        TRY(allocated(a->session));
        TRY(paritas_kappa_fit(a->context, &work->spectra, NULL, fits));
        return a->answer ? flatten(a->session, "paritas_kappa_result", n, fits, a->answer) : PARITAS_OK;
    }
    if (question == QUESTION_KAPPA_MISFITS) {
        double *misfits = room(a, n * POINTS);
        TRY(allocated(a->session));
        return paritas_kappa_misfit(a->context, &work->spectra, NULL, POINTS, work->plasmas, misfits);
    }
    double energies[ENERGIES], *fluxes = room(a, n * ENERGIES);
    TRY(allocated(a->session));
    for (int i = 0; i < ENERGIES; i++) energies[i] = 1.0 + 40.0 * i;
    return paritas_kappa_flux(a->context, n, work->plasmas, ENERGIES, energies, fluxes);
}

static paritas_status ask_potentials(const struct asking *a, const unsigned char *sunlit)
{
    const size_t n = a->work->n;
    paritas_potential *found = arena_records(a->session, n, sizeof *found);
    paritas_kappa_result *fits = arena_records(a->session, n, sizeof *fits);
    TRY(allocated(a->session));
    TRY(paritas_spacecraft_potential_of_spectra(a->context, &a->work->spectra, sunlit, NULL, NULL, fits,
                                                found));
    return a->answer ? flatten(a->session, "paritas_potential", n, found, a->answer) : PARITAS_OK;
}

static paritas_status ask(const struct asking *a, enum sweep_question question)
{
    const struct sweep_work *work = a->work;
    const paritas_losscone_method halekas = PARITAS_LOSSCONE_METHOD_HALEKAS;
    switch (question) {
    case QUESTION_HARD:
    case QUESTION_FOLDED:
        return ask_fits(a, &work->sweeps, question == QUESTION_FOLDED, halekas,
                        PARITAS_LOSSCONE_SEARCH_EXACT);
    case QUESTION_LILLIS:
        return ask_fits(a, &work->sweeps_of_lillis, 0, PARITAS_LOSSCONE_METHOD_LILLIS,
                        PARITAS_LOSSCONE_SEARCH_EXACT);
    case QUESTION_EVOLUTION:
        return ask_fits(a, &work->sweeps, 0, halekas, PARITAS_LOSSCONE_SEARCH_DE);
    case QUESTION_HARD_SETS:
    case QUESTION_FOLDED_SETS:
        return ask_sets(a, question == QUESTION_FOLDED_SETS);
    case QUESTION_MISFITS:
    case QUESTION_MODELS:
        return ask_models(a, question);
    case QUESTION_SUNLIT:
    case QUESTION_SHADED:
        return ask_potentials(a, question == QUESTION_SUNLIT ? work->sunlit : work->shaded);
    case QUESTION_KAPPA_FITS:
    case QUESTION_KAPPA_MISFITS:
    case QUESTION_FLUXES:
        return ask_kappa(a, question);
    case SWEEP_QUESTIONS:
        break;
    }
    return PARITAS_OK;
}

paritas_status sweep_ask(struct session *session, paritas_context *context, const struct sweep_work *work,
                         enum sweep_question question, struct sweep_answer *answer)
{
    const struct asking asking = {session, context, work, answer};
    const paritas_status status = ask(&asking, question);
    if (status == PARITAS_OK || context == session->context) return status;
    return paritas_fail(session->context, status, "on the device %s: %s", paritas_device_name(context),
                        paritas_error_message(context));
}
