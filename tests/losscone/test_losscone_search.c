/* test_losscone_search.c: the exact search finds the least misfit there is, where it says, with the same bits
 * however it is run. */
#include "losscone/cases.h"
#include "losscone/synthetic.h"
#include "refusing.h"
#include "share.h"

static paritas_losscone_options beamless(paritas_losscone_response response)
{
    paritas_losscone_options o = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    o.amplitude_upper = 0.0;
    o.response = response;
    return o;
}

static void fit(paritas_context *context, const struct synthetic *data, const paritas_losscone_options *o,
                paritas_losscone_result *results)
{
    const paritas_sweeps sweeps = sweeps_of(data);
    memset(results, 0, data->n * sizeof *results);
    results->size = sizeof *results;
    if (paritas_losscone_fit(context, &sweeps, o, results) != PARITAS_OK)
        fail_msg("%s", paritas_error_message(context));
}

/* Leaves each reflected cell with this chance. */
static void thin_out(struct synthetic *data, double chance, uint64_t seed)
{
    for (size_t i = 0; i < data->n * ROWS * CELLS; i++)
        if (data->cosine[i] < 0.0 && draw(&seed) > chance) data->flux[i] = NAN;
}

/* ---- every cell of the arrangement ---- */

/* A row's thresholds and the misfit as a function of how many are passed, level by level; the test's own,
 * from nothing but the formula. */
struct row {
    int n;
    double sine[CELLS], datum[CELLS], inverse[5];
};

struct arrangement {
    struct row rows[ROWS];
    double constant, levels[6];
    int energies;
};

static struct arrangement arrange(const struct synthetic *data, size_t k, const paritas_losscone_options *o)
{
    struct arrangement a = {.energies = o->response == PARITAS_LOSSCONE_RESPONSE_FOLDED ? 5 : 1};
    const int lillis = o->method == PARITAS_LOSSCONE_METHOD_LILLIS;
    for (int n = 0; n <= a.energies; n++) {
        const double level = ((a.energies - n) + n * o->background) / a.energies;
        a.levels[n] = lillis ? level : log(level + 1e-6);
    }
    for (int i = 0; i < ROWS; i++) {
        struct row *row = &a.rows[i];
        for (int n = 0; n < a.energies; n++) {
            const double part = a.energies == 1 ? 1.0 : 1.0 + o->response_width * (1.0 - 0.5 * n);
            row->inverse[n] =
                1.0 / fmax(data->energy[k * ROWS + (size_t)i] * part - data->potential[k * ROWS + (size_t)i],
                           1e-12);
        }
        for (int j = 0; j < CELLS; j++) {
            const size_t at = (k * ROWS + (size_t)i) * CELLS + (size_t)j;
            const double flux = data->flux[at], cosine = data->cosine[at],
                         datum = lillis ? flux : log(flux + 1e-6);
            if (!(flux > 0.0)) continue;
            if (cosine >= 0.0)
                a.constant += (datum - a.levels[0]) * (datum - a.levels[0]);
            else {
                row->sine[row->n] = 1.0 - cosine * cosine;
                row->datum[row->n++] = datum;
            }
        }
    }
    return a;
}

static double misfit_at(const struct arrangement *a, double u, double r)
{
    double sum = a->constant;
    for (int i = 0; i < ROWS; i++) {
        const struct row *row = &a->rows[i];
        double x[5];
        for (int n = 0; n < a->energies; n++) x[n] = r * (1.0 + u * row->inverse[n]);
        for (int j = 0; j < row->n; j++) {
            int inside = 0;
            for (int n = 0; n < a->energies; n++) inside += row->sine[j] < x[n];
            sum += (row->datum[j] - a->levels[inside]) * (row->datum[j] - a->levels[inside]);
        }
    }
    return sum;
}

/* The least misfit at points beside all crossings of two thresholds and beside the thresholds' ends on the
 * domain's edges. */
static double least_by_force(const struct arrangement *a, const paritas_losscone_options *o)
{
    double least = misfit_at(a, o->potential_lower, o->ratio_lower),
           (*line)[2] = malloc((size_t)ROWS * CELLS * 5 * sizeof *line);
    int lines = 0;
    assert_non_null(line);
    for (int i = 0; i < ROWS; i++)
        for (int n = 0; n < a->energies; n++)
            for (int j = 0; j < a->rows[i].n; j++, lines++)
                line[lines][0] = a->rows[i].inverse[n], line[lines][1] = a->rows[i].sine[j];
    const double aside = 1e-7;
    for (int p = 0; p < lines; p++) {
        for (int q = -2; q < p; q++) {
            /* a + c b = s and the same of another line, or a = a bound of r */
            for (int side = 0; side < 4; side++) {
                const double s = line[p][1] + (side & 1 ? aside : -aside), c = line[p][0];
                double ratio, product;
                if (q < 0) {
                    ratio = q == -2 ? o->ratio_lower : o->ratio_upper;
                    product = (s - ratio) / c;
                } else {
                    const double other = line[q][1] + (side & 2 ? aside : -aside), d = line[q][0];
                    if (fabs(c - d) < 1e-9 * c) continue;
                    product = (s - other) / (c - d);
                    ratio = s - c * product;
                }
                const double u = product / ratio;
                if (!(ratio >= o->ratio_lower && ratio <= o->ratio_upper && u >= o->potential_lower &&
                      u <= o->potential_upper))
                    continue;
                const double misfit = misfit_at(a, u, ratio);
                if (misfit < least) least = misfit;
            }
        }
        for (int side = 0; side < 4; side++) { /* and U = a bound of U */
            const double u = side & 2 ? o->potential_upper : o->potential_lower,
                         ratio = (line[p][1] + (side & 1 ? aside : -aside)) / (1.0 + u * line[p][0]);
            if (!(ratio >= o->ratio_lower && ratio <= o->ratio_upper)) continue;
            const double misfit = misfit_at(a, u, ratio);
            if (misfit < least) least = misfit;
        }
    }
    free(line);
    return least;
}

static void check_against_force(paritas_losscone_options o, size_t n, double chance, double lowest,
                                uint64_t seed)
{
    struct synthetic data = synthetic_sweeps(n, seed, lowest, &o);
    paritas_losscone_result *results = calloc(n, sizeof *results);
    paritas_context *context = open_context(NULL, 64, 1, 0);
    assert_non_null(results);
    assert_non_null(context);
    thin_out(&data, chance, seed);
    fit(context, &data, &o, results);
    for (size_t k = 0; k < n; k++) {
        const struct arrangement a = arrange(&data, k, &o);
        const double forced = least_by_force(&a, &o), raw = o.method == PARITAS_LOSSCONE_METHOD_LILLIS
                                                                ? results[k].misfit * (results[k].cells - 3)
                                                                : results[k].misfit;
        assert_int_equal(results[k].status, PARITAS_SWEEP_FITTED);
        if (raw > forced + 1e-9 * (1.0 + forced))
            fail_msg("sweep %zu: %.15g, but %.15g is there", k, raw, forced);
        ASSERT_CLOSE(raw, forced, 1e-3 * (1.0 + forced)); /* force misses only cells thinner than 1e-7 */
        ASSERT_CLOSE(misfit_of(&data, k, results[k].potential, results[k].ratio, 0.0, &o), raw,
                     1e-9 * (1.0 + raw));
    }
    free(results);
    synthetic_free(&data);
    paritas_close(context);
}

TEST(no_cell_of_a_hard_edge_has_a_lesser_misfit)
{
    check_against_force(beamless(PARITAS_LOSSCONE_RESPONSE_HARD), 12 / SHARE, 0.3, -400.0, 11);
    check_against_force(beamless(PARITAS_LOSSCONE_RESPONSE_HARD), 12 / SHARE, 0.2, 20.0, 12);
    paritas_losscone_options lillis = beamless(PARITAS_LOSSCONE_RESPONSE_HARD);
    lillis.method = PARITAS_LOSSCONE_METHOD_LILLIS;
    check_against_force(lillis, 12 / SHARE, 0.25, -300.0, 13);
}

TEST(no_cell_of_the_response_has_a_lesser_misfit)
{
    check_against_force(beamless(PARITAS_LOSSCONE_RESPONSE_FOLDED), 6 / SHARE, 0.06, -400.0, 21);
    check_against_force(beamless(PARITAS_LOSSCONE_RESPONSE_FOLDED), 6 / SHARE, 0.06, 20.0, 22);
}

/* ---- with a beam: against differential evolution ---- */

/* All that the misfit needs of a cell. */
struct cell {
    double datum, sine, profile, energy, spacecraft;
};

struct problem {
    int n;
    struct cell cells[ALL];
    const paritas_losscone_options *o;
    double levels[2];
};

static void pose(const struct synthetic *data, size_t k, const paritas_losscone_options *o, struct problem *p)
{
    const int lillis = o->method == PARITAS_LOSSCONE_METHOD_LILLIS;
    p->n = 0;
    p->o = o;
    p->levels[0] = lillis ? 1.0 : log(1.0 + 1e-6);
    p->levels[1] = lillis ? o->background : log(o->background + 1e-6);
    for (size_t c = 0; c < ALL; c++) {
        const double flux = data->flux[k * ALL + c], cosine = data->cosine[k * ALL + c],
                     away = (acos(cosine) * DEGREES - 180.0) / o->beam_sigma;
        if (!(flux > 0.0)) continue;
        p->cells[p->n++] =
            (struct cell){lillis ? flux : log(flux + 1e-6), cosine < 0.0 ? 1.0 - cosine * cosine : 2.0,
                          o->beam_sigma > 0.0 ? exp(-0.5 * away * away) : 1.0,
                          data->energy[k * ROWS + c / CELLS], data->potential[k * ROWS + c / CELLS]};
    }
}

static double posed_misfit(const struct problem *p, const double *point)
{
    double sum = 0.0, edge = 0.0, beam = 0.0, energy = -1.0;
    for (int i = 0; i < p->n; i++) {
        const struct cell *c = &p->cells[i];
        if (c->energy != energy) {
            const double fall = c->spacecraft - point[0],
                         t = (c->energy - fmax(fall, p->o->beam_width)) / p->o->beam_width;
            energy = c->energy;
            edge = point[1] * (1.0 + point[0] / fmax(energy - c->spacecraft, 1e-12));
            beam = fall > 0.0 ? point[2] * exp(-0.5 * t * t) : 0.0;
        }
        const int inside = c->sine < edge;
        double away = c->datum - p->levels[inside];
        if (beam * c->profile > 1e-13) {
            const double model = (inside ? p->o->background : 1.0) + beam * c->profile;
            away = c->datum - (p->o->method == PARITAS_LOSSCONE_METHOD_LILLIS ? model : log(model + 1e-6));
        }
        sum += away * away;
    }
    return sum;
}

/* Best of a population of 60 after 120 generations. */
static double evolved(const struct problem *p, uint64_t seed)
{
    enum { MEMBERS = 60, GENERATIONS = 120 };
    const double low[3] = {p->o->potential_lower, p->o->ratio_lower, p->o->amplitude_lower},
                 high[3] = {p->o->potential_upper, p->o->ratio_upper, p->o->amplitude_upper};
    double members[MEMBERS][3], values[MEMBERS];
    int best = 0;
    for (int i = 0; i < MEMBERS; i++) {
        for (int c = 0; c < 3; c++)
            members[i][c] = between(&seed, c == 0 && i % 2 ? fmax(low[0], -450.0) : low[c], high[c]);
        values[i] = posed_misfit(p, members[i]);
        if (values[i] < values[best]) best = i;
    }
    for (int g = 0; g < GENERATIONS; g++)
        for (int i = 0; i < MEMBERS; i++) {
            const double *one = members[(int)(MEMBERS * draw(&seed))],
                         *other = members[(int)(MEMBERS * draw(&seed))], factor = between(&seed, 0.4, 0.9);
            const double *from = members[draw(&seed) < 0.7 ? best : (int)(MEMBERS * draw(&seed))];
            double trial[3];
            for (int c = 0; c < 3; c++)
                trial[c] = draw(&seed) < 0.9
                               ? fmin(fmax(from[c] + factor * (one[c] - other[c]), low[c]), high[c])
                               : members[i][c];
            const double value = posed_misfit(p, trial);
            if (value > values[i]) continue;
            values[i] = value;
            memcpy(members[i], trial, sizeof trial);
            if (value < values[best]) best = i;
        }
    return values[best];
}

static double sum_of(const paritas_losscone_result *r, const paritas_losscone_options *o)
{
    return o->method == PARITAS_LOSSCONE_METHOD_LILLIS ? r->misfit * (r->cells - 3) : r->misfit;
}

/* Is every answer attained by the formula where it says, inside its plateau, and not beaten by evolution? */
static void check_answers(paritas_context *context, const struct synthetic *data,
                          const paritas_losscone_options *o, int runs)
{
    paritas_losscone_result *results = make_array(data->n, sizeof *results);
    struct problem *problem = make_array(1, sizeof *problem);
    fit(context, data, o, results);
    for (size_t k = 0; k < data->n; k++) {
        const paritas_losscone_result *r = &results[k];
        const double sum = sum_of(r, o),
                     scale = o->method == PARITAS_LOSSCONE_METHOD_LILLIS ? r->cells - 3.0 : 1.0;
        assert_int_equal(r->status, PARITAS_SWEEP_FITTED);
        assert_true(r->gap == 0.0);
        ASSERT_CLOSE(misfit_of(data, k, r->potential, r->ratio, r->amplitude, o), sum, 1e-9 * sum + 1e-11);
        const struct synthetic one = {1,
                                      data->energy + k * ROWS,
                                      data->potential + k * ROWS,
                                      data->cosine + k * ALL,
                                      data->flux + k * ALL,
                                      NULL,
                                      NULL};
        const paritas_sweeps sweep = sweeps_of(&one);
        const double point[3] = {r->potential, r->ratio, r->amplitude};
        double direct;
        ASSERT_OK(context, paritas_losscone_misfit(context, &sweep, o, 1, point, &direct, NULL));
        assert_true(direct == r->misfit); /* to the last bit */
        assert_true(r->potential >= r->potential_lower && r->potential <= r->potential_upper &&
                    r->ratio >= r->ratio_lower && r->ratio <= r->ratio_upper);
        assert_true(r->potential_centre >= r->potential_lower && r->potential_centre <= r->potential_upper &&
                    r->ratio_centre >= r->ratio_lower && r->ratio_centre <= r->ratio_upper);
        assert_true(r->amplitude >= o->amplitude_lower && r->amplitude <= o->amplitude_upper);
        assert_true(r->potential_lower >= o->potential_lower && r->potential_upper <= o->potential_upper &&
                    r->ratio_lower >= o->ratio_lower && r->ratio_upper <= o->ratio_upper);
        pose(data, k, o, problem);
        for (int run = 0; run < runs; run++) {
            const double other = evolved(problem, 1 + 100 * k + (uint64_t)run);
            if (r->misfit > other / scale + 1e-6 * (1.0 + other / scale))
                fail_msg("sweep %zu: %.12g, but evolution finds %.12g", k, r->misfit, other / scale);
        }
    }
    free(problem);
    free(results);
}

TEST(evolution_never_finds_less)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    for (int kind = 0; kind < 6; kind++) {
        paritas_losscone_options o = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
        if (kind == 1) o.method = PARITAS_LOSSCONE_METHOD_LILLIS;
        if (kind == 2) o.amplitude_lower = o.amplitude_upper = 1.5;
        if (kind == 3) o.beam_width = 40.0, o.beam_sigma = 15.0;
        if (kind == 4) o.beam_width = 60.0, o.beam_sigma = 60.0; /* incident cells notice it too */
        if (kind == 5) o.beam_sigma = 0.0;                       /* all cells do */
        struct synthetic data = synthetic_sweeps(4 / SHARE + 1, 31 + (uint64_t)kind, -300.0, &o);
        if (kind == 1) mask_lillis(&data);
        if (kind == 2) /* a potential of its own for each row */
            for (size_t i = 0; i < data.n * ROWS; i++) data.potential[i] += 0.7 * (double)(i % ROWS) - 5.0;
        check_answers(context, &data, &o, 2);
        synthetic_free(&data);
    }
    paritas_close(context);
}

/* ---- reference numbers ---- */

/* The sweep of case 06: pitch angles evenly from 0 to 180 degrees in every row, no noise. */
static struct synthetic canonical(const paritas_losscone_options *o)
{
    struct synthetic s = synthetic_room(1);
    for (int i = 0; i < ROWS; i++) {
        s.energy[i] = 20.0 * pow(1000.0, i / 14.0);
        s.potential[i] = 0.0;
        for (int j = 0; j < CELLS; j++) {
            s.cosine[i * CELLS + j] = j == CELLS - 1 ? -1.0 : cos(180.0 * j / (CELLS - 1.0) / DEGREES);
            s.flux[i * CELLS + j] =
                model_of(s.energy[i], 0.0, s.cosine[i * CELLS + j], -50.0, 0.5, 2.0, 0, o);
        }
    }
    return s;
}

TEST(data_without_noise_are_found_again)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    paritas_losscone_options o = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    struct synthetic data = canonical(&o);
    paritas_losscone_result r = PARITAS_INIT(paritas_losscone_result);
    fit(context, &data, &o, &r);
    assert_true(r.misfit <= 1e-9);
    ASSERT_CLOSE(r.potential, -50.0, 1.0);
    ASSERT_CLOSE(r.amplitude, 2.0, 1e-4);
    assert_true(r.potential_lower <= -50.0 && r.potential_upper >= -50.0 && r.ratio_lower <= 0.5 &&
                r.ratio_upper >= 0.5);
    ASSERT_CLOSE(r.potential_lower, -50.21, 0.01);
    ASSERT_CLOSE(r.potential_upper, -48.66, 0.01);
    o.method = PARITAS_LOSSCONE_METHOD_LILLIS;
    mask_lillis(&data);
    fit(context, &data, &o, &r);
    assert_int_equal(r.cells, 7);
    assert_true(r.misfit <= 2.0e-14);
    ASSERT_CLOSE(misfit_of(&data, 0, r.potential, r.ratio, r.amplitude, &o) / 4.0, r.misfit, 1e-14);
    synthetic_free(&data);
    o = beamless(PARITAS_LOSSCONE_RESPONSE_FOLDED);
    data = canonical(&o);
    for (int i = 0; i < ALL; i++)
        data.flux[i] = model_of(data.energy[i / CELLS], 0.0, data.cosine[i], -70.0, 0.8, 0.0, 1, &o);
    fit(context, &data, &o, &r);
    assert_true(r.misfit <= 1e-20);
    assert_true(r.potential_lower <= -70.0 && r.potential_upper >= -70.0 && r.ratio_lower <= 0.8 &&
                r.ratio_upper >= 0.8);
    synthetic_free(&data);
    paritas_close(context);
}

TEST(noisy_sweeps_reach_the_best_known_minimum)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct paritas_workspace *document;
    const struct json *seven = read_case(context, "case07_noisy_chunks", &document);
    const struct json *chunk = json_get(seven, "chunks")->first;
    for (; chunk; chunk = chunk->next) {
        struct synthetic data = synthetic_room(1);
        double b[3], best[4], lillis[4], truth[3];
        numbers_of(seven, "E", data.energy, ROWS);
        numbers_of(chunk, "B", b, 3);
        numbers_of(chunk, "flux", data.flux, ALL);
        numbers_of(chunk, "halekas_best_known", best, 4);
        numbers_of(chunk, "lillis_cpu_default", lillis, 4);
        for (int i = 0; i < ROWS; i++) data.potential[i] = number_of(chunk, "Usc");
        for (int c = 0; c < 3; c++) b[c] *= number_of(chunk, "polarity");
        pitch_cosines(b, number_of(chunk, "phi_offset"), data.cosine);
        for (int i = 0; i < ROWS; i++) { /* the ratio to the mean of the incident cells */
            double sum = 0.0;
            int n = 0;
            for (int j = 0; j < CELLS; j++)
                if (data.cosine[i * CELLS + j] > 0.0) sum += data.flux[i * CELLS + j], n++;
            for (int j = 0; j < CELLS; j++) data.flux[i * CELLS + j] *= n / sum;
        }
        const struct json *true_point = json_get(chunk, "truth");
        truth[0] = number_of(true_point, "U"), truth[1] = number_of(true_point, "r"),
        truth[2] = number_of(true_point, "A");
        paritas_losscone_options o = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
        paritas_losscone_result r = PARITAS_INIT(paritas_losscone_result);
        /* the sweep is put together rightly */
        ASSERT_CLOSE(misfit_of(&data, 0, truth[0], truth[1], truth[2], &o),
                     number_of(chunk, "halekas_at_truth"), 1e-9);
        fit(context, &data, &o, &r);
        assert_true(r.misfit <= best[3] + 1e-6);
        assert_true(best[0] >= r.potential_lower - 1e-6 && best[0] <= r.potential_upper + 1e-6);
        o.method = PARITAS_LOSSCONE_METHOD_LILLIS;
        mask_lillis(&data);
        fit(context, &data, &o, &r);
        assert_true(r.misfit <= lillis[3] + 1e-9);
        synthetic_free(&data);
    }
    paritas_workspace_free(document);
    paritas_close(context);
}

/* ---- degenerate sweeps ---- */

/* Kinds of sweeps that coincide, lack or say nothing. */
static void degenerate(struct synthetic *s, size_t k, int kind, const paritas_losscone_options *o)
{
    const double along[3] = {1.0, 0.0, 0.0}, axis[3] = {0.0, 0.0, 1.0};
    uint64_t state = 5;
    double *cosine = s->cosine + k * ALL, *flux = s->flux + k * ALL;
    /* the field in the spin plane or along the axis, azimuths not turned: all rows have the same angles, many
     * of them several times */
    if (kind <= 1) {
        pitch_cosines(kind ? axis : along, 0.0, cosine);
        for (int i = 1; i < ROWS; i++) memcpy(cosine + i * CELLS, cosine, CELLS * sizeof *cosine);
        for (int c = 0; c < ALL; c++)
            flux[c] = model_of(s->energy[k * ROWS + (size_t)(c / CELLS)],
                               s->potential[k * ROWS + (size_t)(c / CELLS)], cosine[c], -3.0, 0.7, 0.0,
                               o->response == PARITAS_LOSSCONE_RESPONSE_FOLDED, o) *
                      exp(0.1 * draw_normal(&state));
    }
    for (int c = 0; c < ALL; c++) {
        const int row = c / CELLS;
        /* nothing is reflected */
        if (kind == 2 && cosine[c] < 0.0) flux[c] = 0.05;
        /* all is */
        if (kind == 3) flux[c] = exp(0.3 * draw_normal(&state));
        /* one cell */
        if (kind == 4 && c != 7 * CELLS + 3) flux[c] = -1.0;
        /* empty rows, */
        if (kind == 5 && row % 2) flux[c] = (double)NAN;
        /* energies and potentials that are none */
        if (kind == 5 && row == 4) s->energy[k * ROWS + 4] = (double)NAN;
        if (kind == 5 && row == 6) s->potential[k * ROWS + 6] = 1e5;
        /* all 88 are reflected */
        if (kind == 6)
            cosine[c] = -cos(89.0 * (c % CELLS) / 88.0 / DEGREES),
            flux[c] = (cosine[c] < -0.7 ? 0.05 : 1.0) * exp(0.2 * draw_normal(&state));
        /* along the field only */
        if (kind == 7) cosine[c] = c % 3 ? -1.0 : 1.0;
        /* nothing is left of an energy */
        if (kind == 8 && row == 0) s->energy[k * ROWS] = s->potential[k * ROWS];
    }
}

TEST(degenerate_sweeps_have_their_minimum_too)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    for (int kind = 0; kind <= 8; kind++)
        for (int folded = 0; folded <= 1; folded++) {
            paritas_losscone_options o =
                beamless(folded ? PARITAS_LOSSCONE_RESPONSE_FOLDED : PARITAS_LOSSCONE_RESPONSE_HARD);
            struct synthetic data = synthetic_sweeps(1, 41 + (uint64_t)kind, -100.0, &o);
            paritas_losscone_result r = PARITAS_INIT(paritas_losscone_result);
            degenerate(&data, 0, kind, &o);
            for (int c = 0; c < ALL; c++) /* the response has five times the thresholds */
                if (folded && kind != 5 && c / CELLS % 4) data.flux[c] = (double)NAN;
            for (int c = 0; c < ALL; c++) {
                const double energy = data.energy[c / CELLS];
                if (!(energy > 0.0) || !(energy >= data.potential[c / CELLS])) data.flux[c] = (double)NAN;
            }
            fit(context, &data, &o, &r);
            if (r.status == PARITAS_SWEEP_NO_CELLS) {
                assert_true(kind == 4 && folded);
                synthetic_free(&data);
                continue;
            }
            assert_int_equal(r.status, PARITAS_SWEEP_FITTED);
            for (int i = 0; i < ROWS; i++)
                if (!(data.energy[i] > 0.0)) data.energy[i] = 1.0;
            const struct arrangement a = arrange(&data, 0, &o);
            double forced = misfit_at(&a, -0.5, 0.5);
            /* force skips thresholds that coincide; points at random do not */
            for (int t = 0; t < 20000 / SHARE; t++) {
                uint64_t state = 77 + (uint64_t)t;
                draw(&state);
                const double u = t % 4 ? between(&state, -30.0, 20.0) : between(&state, -2000.0, 20.0),
                             other = misfit_at(&a, u, between(&state, 0.3, 1.1));
                forced = other < forced ? other : forced;
            }
            if (r.misfit > forced + 1e-9 * (1.0 + forced))
                fail_msg("kind %d: %.12g, but %.12g is there", kind, r.misfit, forced);
            ASSERT_CLOSE(misfit_of(&data, 0, r.potential, r.ratio, r.amplitude, &o), r.misfit,
                         1e-9 * r.misfit + 1e-11);
            synthetic_free(&data);
        }
    for (int kind = 0; kind <= 8; kind++) { /* and with a beam */
        paritas_losscone_options o = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
        struct synthetic data = synthetic_sweeps(1, 41 + (uint64_t)kind, -100.0, &o);
        degenerate(&data, 0, kind, &o);
        for (int i = 0; i < ROWS; i++)
            if (!(data.energy[i] > 0.0) || !(data.energy[i] >= data.potential[i])) {
                for (int j = 0; j < CELLS; j++) data.flux[i * CELLS + j] = (double)NAN;
                data.energy[i] = 1.0, data.potential[i] = 0.0;
            }
        check_answers(context, &data, &o, 1);
        synthetic_free(&data);
    }
    paritas_close(context);
}

TEST(sweeps_without_an_answer_say_why)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    paritas_losscone_options o = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    struct synthetic data = synthetic_sweeps(3, 51, -100.0, &o);
    paritas_losscone_result results[3] = {PARITAS_INIT(paritas_losscone_result)};
    for (int c = 0; c < ALL; c++) {
        data.flux[c] = c % 2 ? -1.0 : 0.0;
        if (c % 400) data.flux[ALL + c] = (double)INFINITY; /* four cells stay */
    }
    fit(context, &data, &o, results);
    assert_int_equal(results[0].status, PARITAS_SWEEP_NO_CELLS);
    assert_int_equal(results[0].cells, 0);
    assert_true(isnan(results[0].misfit) && isnan(results[0].potential) &&
                isnan(results[0].potential_lower) && isnan(results[0].gap));
    assert_int_equal(results[1].status, PARITAS_SWEEP_FITTED);
    assert_int_equal(results[1].cells, 4);
    o.method = PARITAS_LOSSCONE_METHOD_LILLIS;
    fit(context, &data, &o, results);
    assert_int_equal(results[1].status, PARITAS_SWEEP_TOO_FEW_CELLS);
    assert_true(isnan(results[1].misfit));
    for (int c = 0; c < ALL; c++) data.flux[2 * ALL + c] *= 40.0;
    fit(context, &data, &o, results);
    assert_int_equal(results[2].status, PARITAS_SWEEP_MISFIT);
    assert_true(results[2].misfit > 2.0);
    synthetic_free(&data);
    paritas_close(context);
}

/* ---- bounds ---- */

TEST(bounds_may_be_equal)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    paritas_losscone_options o = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    struct synthetic data = synthetic_sweeps(3, 61, -200.0, &o);
    paritas_losscone_result results[3] = {PARITAS_INIT(paritas_losscone_result)};
    for (int kind = 0; kind < 3; kind++) {
        const paritas_losscone_options standard = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
        o = standard;
        if (kind != 1) o.potential_lower = o.potential_upper = -77.0;
        if (kind != 0) o.ratio_lower = o.ratio_upper = 0.81;
        check_answers(context, &data, &o, 1);
        o.amplitude_upper = 0.0;
        fit(context, &data, &o, results);
        for (size_t k = 0; k < 3; k++) {
            const struct arrangement a = arrange(&data, k, &o);
            double least = 1e30;
            for (int i = 0; i <= 40000; i++) {
                const double u = kind == 1 ? -2000.0 + 2020.0 * i / 40000.0 : -77.0,
                             r = kind == 0 ? 0.3 + 0.8 * i / 40000.0 : 0.81, value = misfit_at(&a, u, r);
                least = value < least ? value : least;
            }
            if (results[k].misfit > least * (1.0 + 1e-9))
                fail_msg("kind %d, sweep %zu: %.12g, but %.12g is there", kind, k, results[k].misfit, least);
            ASSERT_CLOSE(misfit_of(&data, k, results[k].potential, results[k].ratio, 0.0, &o),
                         results[k].misfit, 1e-9 * least);
        }
    }
    synthetic_free(&data);
    paritas_close(context);
}

TEST(what_a_box_limit_leaves_is_in_the_gap)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    paritas_losscone_options o = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    struct synthetic data = synthetic_sweeps(20, 71, -300.0, &o);
    paritas_losscone_result full[20], cut[20];
    fit(context, &data, &o, full);
    int limited = 0;
    for (unsigned limit = 1; limit < 64; limit += 21) {
        o.box_limit = limit;
        fit(context, &data, &o, cut);
        for (int k = 0; k < 20; k++) {
            limited += cut[k].status == PARITAS_SWEEP_AT_LIMIT;
            ASSERT_CLOSE(misfit_of(&data, (size_t)k, cut[k].potential, cut[k].ratio, cut[k].amplitude, &o),
                         cut[k].misfit, 1e-9 * cut[k].misfit);
            assert_true(cut[k].gap < 1e4);
            if (cut[k].status == PARITAS_SWEEP_AT_LIMIT)
                assert_true(full[k].misfit >= cut[k].misfit - cut[k].gap - 1e-9 &&
                            full[k].misfit <= cut[k].misfit + 1e-5);
            else
                ASSERT_CLOSE(full[k].misfit, cut[k].misfit, 1e-6 * (1.0 + full[k].misfit));
        }
    }
    assert_true(limited > 20);
    synthetic_free(&data);
    paritas_close(context);
}

/* ---- the same bits ---- */

TEST(bits_do_not_depend_on_threads_batches_or_instruction_sets)
{
    enum { N = 24 / SHARE + 2 };
    for (int kind = 0; kind < 4; kind++)
        for (unsigned precision = 32; precision <= 64; precision += 32) {
            paritas_losscone_options o = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
            if (kind == 1) o.method = PARITAS_LOSSCONE_METHOD_LILLIS;
            if (kind == 2) o.response = PARITAS_LOSSCONE_RESPONSE_FOLDED;
            if (kind == 3) o.beam_width = 40.0, o.beam_sigma = 15.0;
            struct synthetic data = synthetic_sweeps(N, 81, -400.0, &o);
            if (kind == 1) mask_lillis(&data);
            paritas_losscone_result expected[N], results[N];
            paritas_context *context = open_context("portable", precision, 1, 0);
            assert_non_null(context);
            fit(context, &data, &o, expected);
            for (size_t k = 0; k < N; k++) { /* each by itself */
                const struct synthetic one = {1,
                                              data.energy + k * ROWS,
                                              data.potential + k * ROWS,
                                              data.cosine + k * ALL,
                                              data.flux + k * ALL,
                                              NULL,
                                              NULL};
                fit(context, &one, &o, results + k);
            }
            assert_memory_equal(results, expected, sizeof expected);
            paritas_close(context);
            const char *isas[] = {"scalar", "avx2", "avx512", "neon"};
            for (size_t i = 0; i < COUNT(isas); i++) {
                paritas_options options = PARITAS_OPTIONS_DEFAULT;
                options.isa = isas[i], options.precision = precision, options.threads = 1 + (unsigned)i % 3;
                /* not in this build or this processor */
                if (paritas_open(&options, &context) != PARITAS_OK) {
                    paritas_close(context);
                    continue;
                }
                fit(context, &data, &o, results);
                assert_memory_equal(results, expected, sizeof expected);
                paritas_close(context);
            }
            synthetic_free(&data);
        }
}

TEST(f32_comes_close)
{
    enum { N = 40 / SHARE };
    paritas_context *f64 = open_context(NULL, 64, 1, 0), *f32 = open_context(NULL, 32, 1, 0);
    for (int kind = 0; kind < 3; kind++) {
        paritas_losscone_options o = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
        if (kind == 1) o.method = PARITAS_LOSSCONE_METHOD_LILLIS;
        if (kind == 2) o.response = PARITAS_LOSSCONE_RESPONSE_FOLDED;
        struct synthetic data = synthetic_sweeps(N, 91, -400.0, &o);
        if (kind == 1) mask_lillis(&data);
        paritas_losscone_result exact[N], single[N];
        fit(f64, &data, &o, exact);
        fit(f32, &data, &o, single);
        for (size_t k = 0; k < N; k++)
            ASSERT_CLOSE(single[k].misfit, exact[k].misfit, 2e-5 * (1.0 + exact[k].misfit));
        synthetic_free(&data);
    }
    paritas_close(f32);
    paritas_close(f64);
}

/* ---- what is refused ---- */

TEST(nonsense_is_refused_by_name)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    const paritas_losscone_options standard = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    struct synthetic data = synthetic_sweeps(1, 1, -100.0, &standard);
    paritas_sweeps sweeps = sweeps_of(&data);
    paritas_losscone_result r = PARITAS_INIT(paritas_losscone_result);
    paritas_losscone_options o = standard;
    o.ratio_lower = 1.2;
    assert_int_equal(paritas_losscone_fit(context, &sweeps, &o, &r), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(context), "ratio_lower"));
    o = standard;
    o.background = 0.0;
    assert_int_equal(paritas_losscone_fit(context, &sweeps, &o, &r), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(context), "background"));
    o = standard;
    o.potential_upper = (double)NAN;
    assert_int_equal(paritas_losscone_fit(context, &sweeps, &o, &r), PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_losscone_fit(context, &sweeps, &standard, NULL), PARITAS_INVALID_ARGUMENT);
    sweeps.flux = NULL;
    assert_int_equal(paritas_losscone_fit(context, &sweeps, &standard, &r), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(context), "flux"));
    sweeps.n = 0;
    ASSERT_OK(context, paritas_losscone_fit(context, &sweeps, NULL, &r));
    synthetic_free(&data);
    paritas_close(context);
}

TEST(lack_of_memory_is_survived)
{
    const paritas_losscone_options o = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    struct synthetic data = synthetic_sweeps(2, 1, -100.0, &o);
    const paritas_sweeps sweeps = sweeps_of(&data);
    paritas_losscone_result results[2] = {PARITAS_INIT(paritas_losscone_result)};
    int refusals = 0;
    for (long k = 1; k < 60; k++) {
        struct ledger ledger = {.fail_at = k, .for_good = true};
        const paritas_allocator allocator = ledger_allocator(&ledger);
        paritas_options options = PARITAS_OPTIONS_DEFAULT;
        paritas_context *context;
        options.allocator = &allocator;
        options.threads = 1;
        paritas_status status = paritas_open(&options, &context);
        if (status == PARITAS_OK) status = paritas_losscone_fit(context, &sweeps, &o, results);
        refusals += status == PARITAS_OUT_OF_MEMORY;
        if (status != PARITAS_OK) assert_int_equal(status, PARITAS_OUT_OF_MEMORY);
        if (context) paritas_close(context);
        assert_int_equal(ledger.live, 0);
    }
    assert_true(refusals >= 3);
    synthetic_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_cell_of_a_hard_edge_has_a_lesser_misfit),
        cmocka_unit_test(no_cell_of_the_response_has_a_lesser_misfit),
        cmocka_unit_test(evolution_never_finds_less),
        cmocka_unit_test(data_without_noise_are_found_again),
        cmocka_unit_test(noisy_sweeps_reach_the_best_known_minimum),
        cmocka_unit_test(degenerate_sweeps_have_their_minimum_too),
        cmocka_unit_test(sweeps_without_an_answer_say_why),
        cmocka_unit_test(bounds_may_be_equal),
        cmocka_unit_test(what_a_box_limit_leaves_is_in_the_gap),
        cmocka_unit_test(bits_do_not_depend_on_threads_batches_or_instruction_sets),
        cmocka_unit_test(f32_comes_close),
        cmocka_unit_test(nonsense_is_refused_by_name),
        cmocka_unit_test(lack_of_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
