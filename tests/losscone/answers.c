/* answers.c: see answers.h. */
#include "losscone/answers.h"

#include "sized.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS PARITAS_SWEEP_ROWS
#define CELLS PARITAS_SWEEP_CELLS
#define ALL (ROWS * CELLS)
#define COUNT(array) (sizeof(array) / sizeof *(array))

const char *const answers_part_names[ANSWERS_PART_COUNT] = {
#define X(name, word) word,
    ANSWERS_LIST(X)
#undef X
};

/* ---- inputs ---- */

static double none(void)
{
    return __builtin_nan("");
}

/* Knuth's 64-bit linear congruential generator. */
static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* 1 and a deviation of about this size, never less than a fiftieth. */
static double noise(uint64_t *state, double size)
{
    double sum = -2.0;
    for (int k = 0; k < 4; k++) sum += uniform(state);
    const double factor = 1.0 + size * 1.7320508 * sum;
    return factor > 0.02 ? factor : 0.02;
}

enum kind {
    PLAIN,
    SMEARED,
    HOLES,
    EMPTY_ROWS,
    ALONG_X,
    SAME_ROWS,
    POLES,
    NO_CONE,
    BACKGROUND,
    VARIED,
    TINY,
    FEW,
    NO_CELLS
};

static const struct {
    enum kind kind;
    double u, r, a, noise;
} kinds[SAMPLE_SWEEPS] = {
    {PLAIN, -120.0, 0.8, 1.5, 0.2},  {SMEARED, -60.0, 0.9, 0.0, 0.15}, {HOLES, -45.0, 0.7, 0.6, 0.25},
    {POLES, -250.0, 0.95, 0.0, 0.1}, {ALONG_X, -35.0, 0.85, 1.0, 0.2}, {EMPTY_ROWS, -90.0, 0.6, 0, 0.2},
    {FEW, -50.0, 0.8, 0.0, 0.1},     {NO_CELLS, -50.0, 0.8, 0.0, 0.1}, {PLAIN, -20.0, 1.02, 0.0, 0.1},
    {NO_CONE, 0.0, 0.5, 0.0, 0.3},   {BACKGROUND, 0.0, 1.1, 0.0, 0.2}, {SAME_ROWS, -70.0, 0.75, 0.3, 0.2},
    {PLAIN, -700.0, 0.5, 2.0, 0.3},  {SMEARED, -300.0, 0.7, 0.0, 0.3}, {VARIED, -80.0, 0.9, 0.5, 0.2},
    {TINY, -40.0, 0.8, 0.0, 0.2},    {HOLES, -400.0, 0.95, 2.5, 0.2},  {PLAIN, 15.0, 0.4, 0.0, 0.2},
    {PLAIN, -1500.0, 0.9, 3.0, 0.2}, {SMEARED, -10.0, 1.05, 0.0, 0.1}, {EMPTY_ROWS, -30.0, 0.8, 1.0, .2},
    {PLAIN, -5.0, 0.33, 0.0, 0.0},   {ALONG_X, -5.0, 1.0, 0.0, 0.0},   {PLAIN, -160.0, 0.975, 0.2, 0.2},
};

static void make_geometry(struct sample *s, size_t k, uint64_t *state)
{
    const int same = kinds[k].kind == SAME_ROWS, along_x = same || kinds[k].kind == ALONG_X;
    double b[3] = {0.9 * uniform(state) + 0.1};
    for (int i = 1; i < 3; i++) b[i] = uniform(state) - 0.5;
    const double offset = along_x ? 0.0 : 22.5 * uniform(state);
    const double turn = same ? 0.0 : along_x ? 22.5 : 7.5;
    static const double around[4] = {16, 16, 8, 4};
    for (size_t i = 0; i < ROWS; i++) {
        double *field = s->field + (k * ROWS + i) * 3, *azimuth = s->azimuth + (k * ROWS + i) * CELLS;
        for (size_t c = 0; c < 3; c++) field[c] = along_x ? (c == 0) * 9.0 : 10.0 * b[c];
        s->polarity[k * ROWS + i] = uniform(state) < 0.9   ? (k % 2 ? 1.0 : -1.0)
                                    : uniform(state) < 0.5 ? 0.0
                                                           : none();
        size_t j = 0;
        for (int ring = 0; ring < 4; ring++)
            for (int side = 1; side >= -1; side -= 2)
                for (double l = 0; l < around[ring]; l++, j++) {
                    s->theta[j] = side * (11.25 + 22.5 * ring);
                    azimuth[j] = 360.0 * l / around[ring] + offset + turn * (double)i;
                    while (azimuth[j] >= 360.0) azimuth[j] -= 360.0;
                }
    }
}

static void make_rows(struct sample *s, size_t k, uint64_t *state)
{
    const double spacecraft = 5.0 + 10.0 * uniform(state);
    double energy = k % 3 == 2 ? 7.1 : 38.641;
    for (size_t i = 0; i < ROWS; i++, energy *= k % 3 == 2 ? 1.763 : 1.5425) {
        s->energy[k * ROWS + i] = energy;
        s->potential[k * ROWS + i] = spacecraft + (kinds[k].kind == VARIED ? 3.0 * (double)i : 0.0);
    }
    if (kinds[k].kind == EMPTY_ROWS) {
        const double strange[] = {0.0, -40.0, none(), __builtin_inf()};
        for (size_t i = 0; i < 4; i++) s->energy[k * ROWS + 3 * i + 1] = strange[i];
        s->potential[k * ROWS + 2] = none();
        s->potential[k * ROWS + 5] = 1e5;
    }
}

/* What the sky lacks is taken away, what it never shows put in. */
static void disturb(struct sample *s, size_t k, uint64_t *state)
{
    const enum kind kind = kinds[k].kind;
    for (size_t j = 0; j < ALL; j++) {
        double *flux = &s->flux[k * ALL + j], *cosine = &s->cosine[k * ALL + j];
        if (kind == NO_CONE) *flux = 1.0;
        if (kind == BACKGROUND) *flux = *cosine > 0.0 ? 1.0 : 0.05;
        *flux *= noise(state, kinds[k].noise);
        if (kind == HOLES && uniform(state) < 0.4) *(uniform(state) < 0.2 ? cosine : flux) = none();
        if (kind == HOLES && uniform(state) < 0.05) *flux = uniform(state) < 0.5 ? 0.0 : -1.0;
        if (kind == EMPTY_ROWS && j / CELLS == 8) *flux = none();
        if (kind == POLES && j % 9 == 0)
            *cosine = j % 2 ? -1.0 : j % 4 ? 1.0 : j % 8 ? -1.0000000000000002 : -0.0;
        if (kind == TINY && uniform(state) < 0.5) *flux *= uniform(state) < 0.5 ? 1e-12 : 1e12;
        if (kind == FEW && (j < 600 || j >= 640 || j % 13 != 0)) *flux = 0.0;
        if (kind == NO_CELLS) *flux = none();
    }
}

/* Whole counts; TINY has far too many, and none. */
static void make_counts(struct sample *s, size_t k, uint64_t *state)
{
    for (size_t i = 0; i < ROWS; i++) s->floor[k * ROWS + i] = k % 4 == 1 ? 0.01 * uniform(state) : 0.0;
    for (size_t at = k * ALL; at < (k + 1) * ALL; at++) {
        const double mean = (s->unit[at] = 3.0 + 99 * uniform(state)) * (s->flux[at] + s->floor[at / CELLS]);
        s->measured[at] = mean >= 0.0 && mean < 1e15 ? (double)(long long)(mean + uniform(state)) : none();
    }
}

static bool make_sweeps(paritas_context *context, struct sample *s)
{
    for (size_t k = 0; k < SAMPLE_SWEEPS; k++) {
        uint64_t state = 977 * k + 5;
        make_geometry(s, k, &state);
        make_rows(s, k, &state);
        s->truth[3 * k] = kinds[k].u, s->truth[3 * k + 1] = kinds[k].r, s->truth[3 * k + 2] = kinds[k].a;
    }
    bool good = paritas_losscone_cosines(context, SAMPLE_SWEEPS, NULL, s->theta, s->field, NULL, s->azimuth,
                                         s->cosine) == PARITAS_OK;
    for (size_t k = 0; good && k < SAMPLE_SWEEPS; k++) {
        uint64_t state = 1009 * k + 3;
        paritas_losscone_options options = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
        options.response =
            kinds[k].kind == SMEARED ? PARITAS_LOSSCONE_RESPONSE_FOLDED : PARITAS_LOSSCONE_RESPONSE_HARD;
        const paritas_sweeps one = {.size = sizeof(paritas_sweeps),
                                    .n = 1,
                                    .energy = s->energy + k * ROWS,
                                    .potential = s->potential + k * ROWS,
                                    .cosine = s->cosine + k * ALL,
                                    .flux = s->cosine + k * ALL};
        good = paritas_losscone_model(context, &one, &options, s->truth + 3 * k, s->flux + k * ALL, NULL) ==
               PARITAS_OK;
        disturb(s, k, &state);
        make_counts(s, k, &state);
    }
    return good && paritas_losscone_mask(context, SAMPLE_SWEEPS, NULL, PARITAS_LOSSCONE_METHOD_LILLIS,
                                         s->cosine, s->flux, s->masked) == PARITAS_OK;
}

static bool make_spectra(paritas_context *context, struct sample *s)
{
    uint64_t state = 31;
    bool good = true;
    for (size_t k = 0; good && k < SAMPLE_SPECTRA; k++) {
        s->plasma[k].density = 1e5 + 4e6 * uniform(&state);
        s->plasma[k].kappa = 2.6 + 3.2 * uniform(&state);
        s->plasma[k].theta = 2e6 + 2e7 * uniform(&state);
        s->sunlit[k] = k % 2;
        double *energy = s->spectrum_energy + k * ROWS, *flux = s->spectrum_flux + k * ROWS,
               next = k % 4 == 3 ? 7.1 : 38.641;
        for (size_t i = 0; i < ROWS; i++, next *= k % 4 == 3 ? 1.763 : 1.5425) energy[i] = next;
        good = paritas_kappa_flux(context, 1, &s->plasma[k], ROWS, energy, flux) == PARITAS_OK;
        for (size_t i = 0; i < ROWS; i++) {
            const double gain = 0.02 * 2.5 * energy[i] / 12.0 * (k % 5 == 4 ? 1e-3 : 1.0);
            flux[i] *= noise(&state, 0.1);
            const double whole = flux[i] * gain < 1e15 ? (double)(long long)(flux[i] * gain) : flux[i] * gain;
            if (k % 3 == 1) flux[i] = whole / gain; /* rows without a count */
            s->sensitivity[k * ROWS + i] = gain;
            s->counts[k * ROWS + i] = whole;
            s->background[k * ROWS + i] = k % 7 == 2 ? 40.0 / gain : 0.0;
        }
        for (size_t a = 0; a < 9; a++) s->covariance[9 * k + a] = a % 4 ? 1e-5 : 1e-3 * (double)(a + 1);
    }
    /* the rare ones */
    double *flux = s->spectrum_flux, *energy = s->spectrum_energy;
    for (size_t i = 0; i < ROWS; i++) {
        flux[5 * ROWS + i] = none();
        if (i > 1) flux[6 * ROWS + i] = none();
        flux[7 * ROWS + i] = 0.0;
        if (i % 2) flux[10 * ROWS + i] *= -1.0;
        if (i % 4 == 0) flux[11 * ROWS + i] = none();
        flux[12 * ROWS + i] = 1e3 * (double)(i + 1);
        flux[13 * ROWS + i] *= i % 2 ? 30.0 : 0.03;
    }
    energy[8 * ROWS + 2] = 0.0;
    energy[8 * ROWS + 7] = none();
    s->sensitivity[9 * ROWS + 3] = 0.0;
    s->counts[9 * ROWS + 4] = none();
    s->plasma[14] = (paritas_kappa_plasma){1e7, 1.6, 1e6};
    s->plasma[15] = (paritas_kappa_plasma){1e9, 900.0, 3e6};
    s->plasma[16] = (paritas_kappa_plasma){1.0, 4.0, 5e5};
    s->plasma[17].kappa = none(); /* of no use to a flux, for potentials alone */
    s->plasma[18] = (paritas_kappa_plasma){5e6, 1.4, 1e7};
    s->plasma[19].density = 0.0;
    return good;
}

struct sample *sample_make(void)
{
    struct sample *s = calloc(1, sizeof *s);
    paritas_context *context = NULL;
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.threads = 1;
    const bool good = s && paritas_open(&options, &context) == PARITAS_OK && make_sweeps(context, s) &&
                      make_spectra(context, s);
    if (!good && context) fprintf(stderr, "%s\n", paritas_error_message(context));
    paritas_close(context);
    if (!good) free(s);
    return good ? s : NULL;
}

/* ---- numbers ---- */

void answers_free(struct answers *answers)
{
    free(answers->number);
    free(answers->marks);
    memset(answers, 0, sizeof *answers);
}

/* Room for n more numbers; NULL: no memory. */
static double *more(struct answers *a, size_t n)
{
    if (a->n + n > a->room) {
        const size_t room = 2 * (a->n + n);
        double *number = realloc(a->number, room * sizeof *number);
        if (!number) return NULL;
        a->number = number;
        a->room = room;
    }
    a->n += n;
    return a->number + a->n - n;
}

static bool put(struct answers *a, const double *numbers, size_t n)
{
    double *to = more(a, n);
    if (to) memcpy(to, numbers, n * sizeof *to);
    return to != NULL;
}
#define PUT(answers, ...) \
    put(answers, (const double[]){__VA_ARGS__}, sizeof (const double[]){__VA_ARGS__} / sizeof(double))

/* Says what the numbers from here on are. */
static bool mark(struct answers *a, const char *format, ...)
{
    if (a->n_marks == a->marks_room) {
        const size_t room = 2 * a->marks_room + 64;
        struct answers_mark *marks = realloc(a->marks, room * sizeof *marks);
        if (!marks) return false;
        a->marks = marks;
        a->marks_room = room;
    }
    struct answers_mark *next = &a->marks[a->n_marks++];
    next->at = a->n;
    va_list list;
    va_start(list, format);
    vsnprintf(next->what, sizeof next->what, format, list);
    va_end(list);
    return true;
}

const char *answers_difference(const struct answers *got, const struct answers *wanted)
{
    static char sentence[256];
    if (got->n == wanted->n && memcmp(got->number, wanted->number, got->n * sizeof *got->number) == 0)
        return NULL;
    size_t at = 0, differ = 0, m = 0;
    const size_t n = got->n < wanted->n ? got->n : wanted->n;
    for (size_t i = n; i-- > 0;)
        if (memcmp(&got->number[i], &wanted->number[i], sizeof *got->number) != 0) {
            differ++;
            at = i;
        }
    while (m + 1 < wanted->n_marks && wanted->marks[m + 1].at <= at) m++;
    snprintf(sentence, sizeof sentence,
             "%zu of %zu numbers (%zu) differ, first number %zu of \"%s\": %.17g, wanted %.17g", differ,
             wanted->n, got->n, at - (wanted->n_marks ? wanted->marks[m].at : 0),
             wanted->n_marks ? wanted->marks[m].what : "", got->number[at], wanted->number[at]);
    return sentence;
}

/* ---- loss cones ---- */

/* How many of the sample, and how many in the call that begins at `at`. */
static size_t all_of(const struct answers_wish *wish, size_t most)
{
    return wish->n && wish->n < most ? wish->n : most;
}
static size_t count_at(const struct answers_wish *wish, size_t at, size_t n)
{
    return wish->chunk && wish->chunk < n - at ? wish->chunk : n - at;
}

static paritas_sweeps sweeps_at(const struct sample *s, paritas_losscone_method method, size_t at, size_t n)
{
    const double *flux = method == PARITAS_LOSSCONE_METHOD_LILLIS ? s->masked : s->flux;
    return (paritas_sweeps){.size = sizeof(paritas_sweeps),
                            .n = n,
                            .energy = s->energy + at * ROWS,
                            .potential = s->potential + at * ROWS,
                            .cosine = s->cosine + at * ALL,
                            .flux = flux + at * ALL};
}

static const struct ask {
    const char *name;
    paritas_losscone_method method;
    paritas_losscone_response response;
    double amplitude, sigma;
    bool narrow;
} asks[] = {
    {"halekas", PARITAS_LOSSCONE_METHOD_HALEKAS, PARITAS_LOSSCONE_RESPONSE_HARD, 5.0, 7.5, false},
    {"folded halekas", PARITAS_LOSSCONE_METHOD_HALEKAS, PARITAS_LOSSCONE_RESPONSE_FOLDED, 0.0, 7.5, false},
    {"lillis", PARITAS_LOSSCONE_METHOD_LILLIS, PARITAS_LOSSCONE_RESPONSE_HARD, 5.0, 7.5, false},
    {"halekas without beam", PARITAS_LOSSCONE_METHOD_HALEKAS, PARITAS_LOSSCONE_RESPONSE_HARD, 0.0, 7.5,
     false},
    {"folded lillis", PARITAS_LOSSCONE_METHOD_LILLIS, PARITAS_LOSSCONE_RESPONSE_FOLDED, 5.0, 7.5, false},
    {"halekas, narrow", PARITAS_LOSSCONE_METHOD_HALEKAS, PARITAS_LOSSCONE_RESPONSE_HARD, 2.0, 0.0, true},
};

static paritas_losscone_options options_of(const struct ask *ask, const struct answers_wish *wish)
{
    paritas_losscone_options options = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    options.method = ask->method;
    options.response = ask->response;
    options.amplitude_upper = ask->amplitude;
    options.beam_sigma = ask->sigma;
    if (wish->box_limit) options.box_limit = wish->box_limit;
    if (ask->narrow) {
        options.potential_lower = -300.0;
        options.potential_upper = -10.0;
        options.amplitude_lower = 0.25;
        options.beam_width = 40.0;
        options.box_limit = 60;
    }
    return options;
}

static bool put_result(struct answers *a, const paritas_losscone_result *r)
{
    return PUT(a, r->status, r->cells, r->misfit, r->potential, r->ratio, r->amplitude, r->potential_lower,
               r->potential_upper, r->ratio_lower, r->ratio_upper, r->gap, r->boxes, r->solved,
               r->vertices) &&
           put(a, r->vertex[0], 2 * r->vertices);
}

static bool collect_search(paritas_context *context, const struct sample *s, const struct answers_wish *wish,
                           struct answers *a)
{
    const size_t n = all_of(wish, SAMPLE_SWEEPS);
    paritas_losscone_result *results = sized_calloc(SAMPLE_SWEEPS, sizeof *results);
    bool good = results;
    for (size_t q = 0; good && q < (wish->few ? 3 : COUNT(asks)); q++) {
        for (size_t at = 0; good && at < n; at += count_at(wish, at, n)) {
            paritas_losscone_options options = options_of(&asks[q], wish);
            options.first = at;
            const paritas_sweeps sweeps = sweeps_at(s, options.method, at, count_at(wish, at, n));
            good = paritas_losscone_fit(context, &sweeps, &options, results + at) == PARITAS_OK;
        }
        for (size_t k = 0; good && k < n; k++)
            good = mark(a, "%s, sweep %zu", asks[q].name, k) && put_result(a, &results[k]);
    }
    free(results);
    return good;
}

/* As far as it comes in a few generations; many sweeps end before. */
static bool collect_evolution(paritas_context *context, const struct sample *s,
                              const struct answers_wish *wish, struct answers *a)
{
    static const unsigned populations[] = {50, 9, 16, 7, 8, 10}, generations[] = {25, 12, 12, 3, 0, 12};
    const size_t n = all_of(wish, SAMPLE_SWEEPS);
    paritas_losscone_result *results = sized_calloc(SAMPLE_SWEEPS, sizeof *results);
    bool good = results;
    for (size_t q = wish->few; good && q < (wish->few ? 4 : COUNT(asks)); q++) {
        for (size_t at = 0; good && at < n; at += count_at(wish, at, n)) {
            paritas_losscone_options options = options_of(&asks[q], wish);
            options.search = PARITAS_LOSSCONE_SEARCH_DE;
            options.population = populations[q];
            options.generations = generations[q];
            options.seed = 42 + ((uint64_t)q << 33);
            options.first = 0xffffffffu - 5 + at; /* across 2^32 */
            const paritas_sweeps sweeps = sweeps_at(s, options.method, at, count_at(wish, at, n));
            good = paritas_losscone_fit(context, &sweeps, &options, results + at) == PARITAS_OK;
        }
        for (size_t k = 0; good && k < n; k++)
            good = mark(a, "evolution of %s, sweep %zu", asks[q].name, k) && put_result(a, &results[k]);
    }
    free(results);
    return good;
}

static bool put_set(struct answers *a, const paritas_confidence *set)
{
    return PUT(a, set->threshold, set->intervals, set->at_lower_bound, set->at_upper_bound) &&
           put(a, set->lower, set->intervals) && put(a, set->upper, set->intervals);
}

static bool collect_intervals(paritas_context *context, const struct sample *s,
                              const struct answers_wish *wish, struct answers *a)
{
    enum { VALUES = 7, DRAWS = 2 };
    const size_t n = all_of(wish, SAMPLE_SWEEPS), values = wish->few ? 3 : VALUES;
    const double step = wish->few ? 400.0 : 40.0;
    static const double potentials[VALUES] = {-290.0, -120.0, -45.5, -20.0, -14.25, -11.0, -10.0};
    double misfit[SAMPLE_SWEEPS * VALUES], ratio[SAMPLE_SWEEPS * VALUES], amplitude[SAMPLE_SWEEPS * VALUES],
        thresholds[SAMPLE_SWEEPS];
    paritas_losscone_result *results = sized_calloc(SAMPLE_SWEEPS, sizeof *results);
    paritas_confidence *sets = sized_calloc(SAMPLE_SWEEPS, sizeof *sets),
                       *calibrated = sized_calloc(SAMPLE_SWEEPS, sizeof *calibrated);
    bool good = results && sets && calibrated;
    for (size_t q = 0; good && q < (wish->few ? 2 : 3); q++) {
        for (size_t at = 0; good && at < n; at += count_at(wish, at, n)) {
            paritas_losscone_options options = options_of(&asks[q], wish);
            options.first = 0xffffffffu - 5 + at; /* across 2^32 */
            const paritas_sweeps sweeps = sweeps_at(s, options.method, at, count_at(wish, at, n));
            good =
                paritas_losscone_fit(context, &sweeps, &options, results + at) == PARITAS_OK &&
                paritas_losscone_profile(context, &sweeps, &options, values, potentials, misfit + at * values,
                                         ratio + at * values, amplitude + at * values) == PARITAS_OK &&
                paritas_losscone_confidence(context, &sweeps, &options, results + at, NULL, step,
                                            sets + at) == PARITAS_OK &&
                paritas_losscone_bootstrap(context, &sweeps, &options, results + at, DRAWS, 0.68,
                                           thresholds + at) == PARITAS_OK &&
                paritas_losscone_confidence(context, &sweeps, &options, results + at, thresholds + at,
                                            2.0 * step, calibrated + at) == PARITAS_OK;
        }
        for (size_t k = 0; good && k < n; k++)
            good = mark(a, "profile of %s, sweep %zu", asks[q].name, k) &&
                   put(a, misfit + k * values, values) && put(a, ratio + k * values, values) &&
                   put(a, amplitude + k * values, values) &&
                   mark(a, "set of %s, sweep %zu", asks[q].name, k) && put_set(a, &sets[k]) &&
                   mark(a, "bootstrap of %s, sweep %zu", asks[q].name, k) && PUT(a, thresholds[k]) &&
                   put_set(a, &calibrated[k]);
    }
    free(results);
    free(sets);
    free(calibrated);
    return good;
}

static bool collect_counted(paritas_context *context, const struct sample *s, const struct answers_wish *wish,
                            struct answers *a)
{
    static const double potentials[] = {-120.0, 11.0};
    const size_t n = all_of(wish, SAMPLE_SWEEPS), values = COUNT(potentials);
    static const struct ask counts = {.method = PARITAS_LOSSCONE_METHOD_COUNTS,
                                      .response = PARITAS_LOSSCONE_RESPONSE_FOLDED};
    double misfit[SAMPLE_SWEEPS * COUNT(potentials)];
    paritas_losscone_result *results = sized_calloc(SAMPLE_SWEEPS, sizeof *results);
    paritas_confidence *sets = sized_calloc(SAMPLE_SWEEPS, sizeof *sets);
    const paritas_losscone_options options = options_of(&counts, wish);
    bool good = results && sets;
    for (size_t at = 0; good && at < n; at += count_at(wish, at, n)) {
        paritas_sweeps sweeps = sweeps_at(s, options.method, at, count_at(wish, at, n));
        sweeps.counts = s->unit + at * ALL;
        sweeps.measured = s->measured + at * ALL;
        sweeps.background = s->floor + at * ROWS;
        good = paritas_losscone_fit(context, &sweeps, &options, results + at) == PARITAS_OK &&
               paritas_losscone_confidence(context, &sweeps, &options, results + at, NULL, 0.0, sets + at) ==
                   PARITAS_OK &&
               paritas_losscone_profile(context, &sweeps, &options, values, potentials, misfit + at * values,
                                        NULL, NULL) == PARITAS_OK;
    }
    for (size_t k = 0; good && k < n; k++)
        good = mark(a, "counts, sweep %zu", k) && put_result(a, &results[k]) &&
               PUT(a, results[k].noise, results[k].edge_evidence, results[k].cone_level, results[k].flags,
                   results[k].deviance, results[k].excess) &&
               put_set(a, &sets[k]) && put(a, misfit + k * values, values);
    free(results);
    free(sets);
    return good;
}

enum { POINTS = 19 }; /* more than a kernel takes at once */

static bool collect_misfits(paritas_context *context, const struct sample *s, const struct answers_wish *wish,
                            struct answers *a)
{
    const size_t n = all_of(wish, SAMPLE_SWEEPS);
    double points[3 * POINTS], misfit[SAMPLE_SWEEPS * POINTS];
    unsigned cells[SAMPLE_SWEEPS];
    bool good = true;
    for (size_t p = 0; p < POINTS; p++) {
        points[3 * p] = p < 4 ? -1990.0 + 670.0 * (double)p : 20.0 - 22.0 * (double)(p - 4);
        points[3 * p + 1] = 0.3 + 0.05 * (double)(p * 7 % 17);
        points[3 * p + 2] = p % 4 ? 0.37 * (double)(p % 5) : 0.0;
    }
    for (size_t q = 0; good && q < (wish->few ? 3 : COUNT(asks)); q++) {
        for (size_t at = 0; good && at < n; at += count_at(wish, at, n)) {
            const paritas_losscone_options options = options_of(&asks[q], wish);
            const paritas_sweeps sweeps = sweeps_at(s, options.method, at, count_at(wish, at, n));
            good = paritas_losscone_misfit(context, &sweeps, &options, POINTS, points, misfit + at * POINTS,
                                           cells + at) == PARITAS_OK;
        }
        for (size_t k = 0; good && k < n; k++)
            good = mark(a, "misfit of %s, sweep %zu", asks[q].name, k) &&
                   put(a, misfit + k * POINTS, POINTS) && PUT(a, cells[k]);
    }
    return good;
}

static bool collect_models(paritas_context *context, const struct sample *s, const struct answers_wish *wish,
                           struct answers *a)
{
    const size_t n = all_of(wish, SAMPLE_SWEEPS);
    double *model = malloc(n * ALL * sizeof *model), edge[SAMPLE_SWEEPS * ROWS];
    bool good = model != NULL;
    for (size_t q = 0; good && q < (wish->few ? 2 : COUNT(asks)); q++) {
        for (size_t at = 0; good && at < n; at += count_at(wish, at, n)) {
            const paritas_losscone_options options = options_of(&asks[q], wish);
            const paritas_sweeps sweeps = sweeps_at(s, options.method, at, count_at(wish, at, n));
            good = paritas_losscone_model(context, &sweeps, &options, s->truth + 3 * at, model + at * ALL,
                                          edge + at * ROWS) == PARITAS_OK;
        }
        for (size_t k = 0; good && k < n; k++)
            good = mark(a, "model of %s, sweep %zu", asks[q].name, k) && put(a, model + k * ALL, ALL) &&
                   put(a, edge + k * ROWS, ROWS);
    }
    free(model);
    return good;
}

static bool collect_cosines(paritas_context *context, const struct sample *s, const struct answers_wish *wish,
                            struct answers *a)
{
    const size_t n = all_of(wish, SAMPLE_SWEEPS);
    double *cosine = malloc(n * ALL * sizeof *cosine);
    bool good = cosine != NULL;
    for (size_t at = 0; good && at < n; at += count_at(wish, at, n))
        good = paritas_losscone_cosines(context, count_at(wish, at, n), NULL, s->theta,
                                        s->field + at * ROWS * 3, s->polarity + at * ROWS,
                                        s->azimuth + at * ALL, cosine + at * ALL) == PARITAS_OK;
    for (size_t k = 0; good && k < n; k++)
        good = mark(a, "cosines, sweep %zu", k) && put(a, cosine + k * ALL, ALL);
    free(cosine);
    return good;
}

/* ---- what runs on the host ---- */

static bool collect_host(paritas_context *context, const struct sample *s, const struct answers_wish *wish,
                         struct answers *a)
{
    const size_t n = all_of(wish, SAMPLE_SWEEPS);
    double *fluxes = malloc(n * ALL * sizeof *fluxes), spectrum[5][SAMPLE_SWEEPS * ROWS], matrix[ROWS * ROWS];
    paritas_beam *beams = sized_calloc(SAMPLE_SWEEPS, sizeof *beams);
    bool good = fluxes != NULL && beams;
    for (int way = 0; good && way < 3; way++)
        good = mark(a, "normalised, way %d", way) &&
               paritas_losscone_normalise(context, n, NULL, (paritas_normalisation)way, s->cosine, s->flux,
                                          fluxes) == PARITAS_OK &&
               put(a, fluxes, n * ALL);
    for (int method = 0; good && method < 2; method++)
        good = mark(a, "masked, method %d", method) &&
               paritas_losscone_mask(context, n, NULL, (paritas_losscone_method)method, s->cosine, s->flux,
                                     fluxes) == PARITAS_OK &&
               put(a, fluxes, n * ALL);
    const paritas_sweeps sweeps = sweeps_at(s, PARITAS_LOSSCONE_METHOD_HALEKAS, 0, n);
    good = good && mark(a, "beams") && paritas_losscone_beam(context, &sweeps, beams) == PARITAS_OK;
    for (size_t k = 0; good && k < n; k++) {
        good = PUT(a, beams[k].found);
        if (good && beams[k].found)
            good = PUT(a, beams[k].row, beams[k].energy, beams[k].ratio, beams[k].potential);
    }
    paritas_cells cells = PARITAS_CELLS_DEFAULT;
    cells.theta = s->theta;
    for (size_t j = 0; good && j < n * ALL; j++) fluxes[j] = s->flux[j] * 300.0;
    good = good && mark(a, "spectra") &&
           paritas_kappa_spectrum(context, SIZED(paritas_spectrum_request, .cells = &cells, .n = n,
                                                 .energy = s->energy, .flux = fluxes, .cosine = s->cosine,
                                                 .omni = spectrum[0], .coverage = spectrum[1],
                                                 .sensitivity = spectrum[2], .counts = spectrum[3],
                                                 .error = spectrum[4])) == PARITAS_OK;
    for (int k = 0; good && k < 5; k++) good = put(a, spectrum[k], n * ROWS);
    good = good && mark(a, "response") &&
           paritas_kappa_response(context, 0.5, ROWS, s->spectrum_energy, matrix) == PARITAS_OK &&
           put(a, matrix, ROWS * ROWS) && mark(a, "numbers");
    for (size_t k = 0; good && k < SAMPLE_SPECTRA; k++) {
        const paritas_kappa_plasma *p = &s->plasma[k];
        const double u = 7.5 * (double)k - 3.0;
        good = PUT(a, paritas_kappa_temperature(p->kappa, p->theta), paritas_kappa_theta(p->kappa, 10.0 + u),
                   paritas_photoelectron_current(u), paritas_photoelectron_potential(1e-6 / (double)(1 << k)),
                   paritas_secondary_yield(40.0 * u), paritas_electron_current(p, 3.0 * (double)k, 1e3));
    }
    free(fluxes);
    free(beams);
    return good;
}

/* ---- plasmas ---- */

static paritas_spectra spectra_at(const struct sample *s, size_t at, size_t n)
{
    at *= ROWS;
    return (paritas_spectra){.size = sizeof(paritas_spectra),
                             .n = n,
                             .energy = s->spectrum_energy + at,
                             .flux = s->spectrum_flux + at,
                             .sensitivity = s->sensitivity + at,
                             .counts = s->counts + at,
                             .background = s->background + at};
}

static const struct kappa_ask {
    const char *name;
    paritas_kappa_weights weights;
    paritas_kappa_density density;
    double response, dead, kappa_upper;
} kappa_asks[] = {
    {"counts, folded", PARITAS_KAPPA_WEIGHTS_COUNTS, PARITAS_KAPPA_DENSITY_FITTED, 0.5, 0.05, 6.0},
    {"original", PARITAS_KAPPA_WEIGHTS_ORIGINAL, PARITAS_KAPPA_DENSITY_ESTIMATE, 0.0, 0.0, 6.0},
    {"none, folded", PARITAS_KAPPA_WEIGHTS_NONE, PARITAS_KAPPA_DENSITY_FITTED, 0.3, 0.0, 50.0},
    {"counts", PARITAS_KAPPA_WEIGHTS_COUNTS, PARITAS_KAPPA_DENSITY_ESTIMATE, 0.0, 0.0, 6.0},
    {"original, folded", PARITAS_KAPPA_WEIGHTS_ORIGINAL, PARITAS_KAPPA_DENSITY_FITTED, 0.5, 0.05, 6.0},
    {"counts, kappa held", PARITAS_KAPPA_WEIGHTS_COUNTS, PARITAS_KAPPA_DENSITY_FITTED, 0.0, 0.1, 2.5},
};

static paritas_kappa_options kappa_options_of(const struct kappa_ask *ask)
{
    paritas_kappa_options options = PARITAS_KAPPA_OPTIONS_DEFAULT;
    options.weights = ask->weights;
    options.density = ask->density;
    options.response = ask->response;
    options.dead = ask->dead;
    options.kappa_upper = ask->kappa_upper;
    return options;
}

static bool put_fit(struct answers *a, const paritas_kappa_result *r)
{
    return PUT(a, r->status, r->fit, r->iterations, r->rows, r->empty_rows, r->density, r->kappa, r->theta,
               r->temperature, r->density_error, r->kappa_error, r->theta_error, r->temperature_error,
               r->kappa_state, r->theta_state, r->misfit, r->dof, r->edm, r->density_estimate) &&
           put(a, r->covariance[0], 9);
}

/* Spectra with masked energies more: for the kernels of other numbers of energies. */
enum { WIDE = 20 };
static paritas_spectra widened(const paritas_spectra *own, double *room)
{
    paritas_spectra more = *own;
    const double **const arrays[] = {&more.energy, &more.flux, &more.sensitivity, &more.counts,
                                     &more.background};
    for (size_t a = 0; a < COUNT(arrays); a++) {
        const double *from = *arrays[a];
        *arrays[a] = room;
        for (size_t i = 0; i < own->n * WIDE; i++, room++)
            *room = i % WIDE < ROWS ? from[i / WIDE * ROWS + i % WIDE] : none();
    }
    more.rows = WIDE;
    return more;
}

static bool collect_fits(paritas_context *context, const struct sample *s, const struct answers_wish *wish,
                         const struct kappa_ask *ask, bool wide, struct answers *a)
{
    enum { PLASMAS = 3 };
    const paritas_kappa_options options = kappa_options_of(ask);
    const char *grid = wide ? " of more energies" : "";
    const size_t n = all_of(wish, SAMPLE_SPECTRA);
    paritas_kappa_result *results = sized_calloc(SAMPLE_SPECTRA, sizeof *results);
    double misfit[SAMPLE_SPECTRA * PLASMAS], room[5 * SAMPLE_SPECTRA * WIDE];
    bool good = results;
    for (size_t at = 0; good && at < n; at += count_at(wish, at, n)) {
        const paritas_spectra own = spectra_at(s, at, count_at(wish, at, n)),
                              spectra = wide ? widened(&own, room) : own;
        good = paritas_kappa_fit(context, &spectra, &options, results + at) == PARITAS_OK &&
               paritas_kappa_misfit(context, &spectra, &options, PLASMAS, s->plasma, misfit + at * PLASMAS) ==
                   PARITAS_OK;
    }
    for (size_t k = 0; good && k < n; k++)
        good = mark(a, "fit by %s%s, spectrum %zu", ask->name, grid, k) && put_fit(a, &results[k]) &&
               mark(a, "misfit by %s%s, spectrum %zu", ask->name, grid, k) &&
               put(a, misfit + k * PLASMAS, PLASMAS);
    free(results);
    return good;
}

static bool collect_kappa(paritas_context *context, const struct sample *s, const struct answers_wish *wish,
                          struct answers *a)
{
    enum { USABLE = 17 };
    const size_t n = all_of(wish, SAMPLE_SPECTRA);
    double flux[USABLE * ROWS];
    bool good = true;
    for (size_t q = 0; good && q < (wish->few ? 3 : COUNT(kappa_asks)); q++)
        good = collect_fits(context, s, wish, &kappa_asks[q], false, a) &&
               (q > 1 || collect_fits(context, s, wish, &kappa_asks[q], true, a));
    const size_t fluxes = n < USABLE ? n : USABLE;
    for (size_t at = 0; good && at < fluxes; at += count_at(wish, at, fluxes))
        good = paritas_kappa_flux(context, count_at(wish, at, fluxes), s->plasma + at, ROWS,
                                  s->spectrum_energy, flux + at * ROWS) == PARITAS_OK;
    for (size_t k = 0; good && k < fluxes; k++)
        good = mark(a, "flux of plasma %zu", k) && put(a, flux + k * ROWS, ROWS);
    return good;
}

static bool put_potential(struct answers *a, const paritas_potential *r)
{
    return PUT(a, r->status, r->sunlit, r->potential, r->error, r->second, r->temperature, r->electrons,
               r->emitted, r->ions);
}

static bool collect_potential(paritas_context *context, const struct sample *s,
                              const struct answers_wish *wish, struct answers *a)
{
    static const double potentials[] = {-700.0, -31.0, -0.5, 0.0, 12.0};
    const size_t n = all_of(wish, SAMPLE_SPECTRA), shown = COUNT(potentials);
    paritas_potential *results = sized_calloc(SAMPLE_SPECTRA, sizeof *results);
    paritas_kappa_result *fits = sized_calloc(SAMPLE_SPECTRA, sizeof *fits);
    double currents[SAMPLE_SPECTRA * COUNT(potentials) * 3];
    bool good = results && fits;
    for (int way = 0; good && way < 2; way++) {
        paritas_potential_options options = PARITAS_POTENTIAL_OPTIONS_DEFAULT;
        options.currents = (paritas_currents)way;
        for (size_t at = 0; good && at < n; at += count_at(wish, at, n))
            good = paritas_spacecraft_potential(context, count_at(wish, at, n), s->plasma + at,
                                                s->covariance + 9 * at, s->sunlit + at, &options,
                                                results + at) == PARITAS_OK &&
                   paritas_shade_currents(context, count_at(wish, at, n), s->plasma + at, &options, shown,
                                          potentials, currents + at * shown * 3) == PARITAS_OK;
        for (size_t k = 0; good && k < n; k++)
            good = mark(a, "potential by way %d, plasma %zu", way, k) && put_potential(a, &results[k]) &&
                   mark(a, "currents by way %d, plasma %zu", way, k) &&
                   put(a, currents + k * shown * 3, shown * 3);
    }
    for (size_t q = 0; good && q < (wish->few ? 1 : 2); q++) {
        const paritas_kappa_options kappa = kappa_options_of(&kappa_asks[q]);
        paritas_potential_options options = PARITAS_POTENTIAL_OPTIONS_DEFAULT;
        options.liouville = q == 0;
        for (size_t at = 0; good && at < n; at += count_at(wish, at, n)) {
            const paritas_spectra spectra = spectra_at(s, at, count_at(wish, at, n));
            good = paritas_spacecraft_potential_of_spectra(context, &spectra, s->sunlit + at, &kappa,
                                                           &options, fits + at, results + at) == PARITAS_OK;
        }
        for (size_t k = 0; good && k < n; k++)
            good = mark(a, "potential by %s, spectrum %zu", kappa_asks[q].name, k) &&
                   put_potential(a, &results[k]) &&
                   mark(a, "fit then by %s, spectrum %zu", kappa_asks[q].name, k) && put_fit(a, &fits[k]);
    }
    free(results);
    free(fits);
    return good;
}

bool answers_collect(paritas_context *context, const struct sample *sample, enum answers_part part,
                     const struct answers_wish *wish, struct answers *answers)
{
    switch (part) {
    case ANSWERS_SEARCH:
        return collect_search(context, sample, wish, answers);
    case ANSWERS_EVOLVE:
        return collect_evolution(context, sample, wish, answers);
    case ANSWERS_INTERVALS:
        return collect_intervals(context, sample, wish, answers);
    case ANSWERS_COUNTED:
        return collect_counted(context, sample, wish, answers);
    case ANSWERS_EVALUATE:
        return collect_misfits(context, sample, wish, answers) &&
               collect_models(context, sample, wish, answers);
    case ANSWERS_COSINES:
        return collect_cosines(context, sample, wish, answers);
    case ANSWERS_HOST:
        return collect_host(context, sample, wish, answers);
    case ANSWERS_KAPPA:
        return collect_kappa(context, sample, wish, answers);
    case ANSWERS_POTENTIAL:
        return collect_potential(context, sample, wish, answers);
    default:
        return false;
    }
}
