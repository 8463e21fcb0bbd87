/* test_losscone_counted.c: fits of counts by the channel's Gaussian response, against a formula of this
 * file. */
#include "losscone/cases.h"

#define STEPS 5
#define AT_ONCE 220 /* potentials of a profile */

/* Places of five energies in a channel, in its widths (losscone_channels.c). */
static const double places[STEPS] = {1.2521, 0.5053, -0.0229, -0.5665, -1.5327};

/* Owned sweeps of counts, and the Gaussians of their rows. */
struct world {
    paritas_sweeps sweeps;
    double *energy, *potential, *cosine, *flux, *counts, *measured, *background, *channel, *centre, *width;
};

static struct world make_world(size_t n, size_t rows, size_t cells)
{
    const size_t of_rows = n * rows, all = of_rows * cells;
    struct world w = {.energy = make_array(of_rows, sizeof(double)),
                      .potential = make_array(of_rows, sizeof(double)),
                      .cosine = make_array(all, sizeof(double)),
                      .flux = make_array(all, sizeof(double)),
                      .counts = make_array(all, sizeof(double)),
                      .measured = make_array(all, sizeof(double)),
                      .background = make_array(of_rows, sizeof(double)),
                      .channel = make_array(of_rows * STEPS, sizeof(double)),
                      .centre = make_array(of_rows, sizeof(double)),
                      .width = make_array(of_rows, sizeof(double))};
    w.sweeps = (paritas_sweeps){.size = sizeof(paritas_sweeps),
                                .n = n,
                                .energy = w.energy,
                                .potential = w.potential,
                                .cosine = w.cosine,
                                .flux = w.flux,
                                .channel = w.channel,
                                .counts = w.counts,
                                .background = w.background,
                                .measured = w.measured,
                                .rows = rows,
                                .cells = cells};
    return w;
}

static void free_world(struct world *w)
{
    double *const all[] = {w->energy,   w->potential,  w->cosine,  w->flux,   w->counts,
                           w->measured, w->background, w->channel, w->centre, w->width};
    for (size_t i = 0; i < COUNT(all); i++) free(all[i]);
}

static paritas_losscone_options counting(void)
{
    paritas_losscone_options options = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    options.method = PARITAS_LOSSCONE_METHOD_COUNTS;
    options.response = PARITAS_LOSSCONE_RESPONSE_FOLDED;
    return options;
}

/* ---- the formula ---- */

/* Normalised flux of a reflected cell. */
static double level_of(const struct world *w, size_t row, double cosine, double u, double r, double inside)
{
    const double square = 1.0 - cosine * cosine, room = u < 0.0 ? r - square : square - r,
                 crossing = fabs(u) * r / room + w->potential[row];
    if (!(room > 0.0)) return 1.0 - (u < 0.0 ? 0.0 : 1.0 - inside);
    const double z = crossing > 0.0 ? (log(crossing / w->energy[row]) - w->centre[row]) / w->width[row]
                                    : -99.0,
                 below = 0.5 * erfc(-z / sqrt(2.0));
    return u < 0.0 ? inside + (1.0 - inside) * below : 1.0 - (1.0 - inside) * below;
}

static int is_usable(const struct world *w, size_t row, size_t at)
{
    return w->energy[row] >= w->potential[row] && w->flux[at] > 0.0 && w->measured[at] >= 0.0 &&
           w->counts[at] > 0.0 && fabs(w->cosine[at]) <= 1.0;
}

/* Relative variance of incident cells beside that of counting. */
static double scatter_of(const struct world *w, size_t k)
{
    const paritas_sweeps *s = &w->sweeps;
    double more = 0.0, squares = 0.0;
    for (size_t row = k * s->rows; row < (k + 1) * s->rows; row++) {
        double own = 0.0, square = 0.0;
        int n = 0;
        for (size_t at = row * s->cells; at < (row + 1) * s->cells; at++) {
            if (!is_usable(w, row, at) || !(w->cosine[at] > 0.0)) continue;
            const double mean = w->counts[at] * (1.0 + w->background[row]);
            own += (w->measured[at] - mean) * (w->measured[at] - mean) - mean;
            square += mean * mean;
            n++;
        }
        if (n < 2) continue;
        more += own;
        squares += square;
    }
    return squares > 0.0 ? fmin(fmax(more / squares, 0.015 * 0.015), 9.0) : 0.015 * 0.015;
}

static double deviance_of(const struct world *w, size_t k, double u, double r, double inside)
{
    const paritas_sweeps *s = &w->sweeps;
    const double of_size = 1.0 / scatter_of(w, k);
    double sum = 0.0;
    for (size_t row = k * s->rows; row < (k + 1) * s->rows; row++)
        for (size_t at = row * s->cells; at < (row + 1) * s->cells; at++) {
            if (!is_usable(w, row, at) || !(w->cosine[at] < -1e-8)) continue;
            const double y = w->measured[at],
                         mean = w->counts[at] *
                                (level_of(w, row, w->cosine[at], u, r, inside) + w->background[row]);
            sum += 2.0 * ((y > 0.0 ? y * log(y / mean) : 0.0) -
                          (y + of_size) * log((y + of_size) / (mean + of_size)));
        }
    return sum;
}

/* ---- sweeps ---- */

static double poisson(double mean, uint64_t *random)
{
    if (mean > 60.0) return floor(fmax(0.0, mean + sqrt(mean) * normal(random)) + 0.5);
    double left = exp(-mean), product = uniform(random), n = 0.0;
    for (; product > left; n++) product *= uniform(random);
    return n;
}

/* Sweep k of a truth; `size` counts a cell, more at low energies. */
static void fill_sweep(struct world *w, size_t k, double u, double r, double size, uint64_t *random)
{
    const paritas_sweeps *s = &w->sweeps;
    const double spacecraft = 5.0 + 10.0 * uniform(random), base = k % 3 == 1 ? 0.02 : 0.0;
    for (size_t i = 0; i < s->rows; i++) {
        const size_t row = k * s->rows + i;
        w->energy[row] = 38.641 * pow(16680.334 / 38.641, (double)i / 14.0);
        if (s->rows > 15) w->energy[row] = 20.0 * pow(600.0, (double)i / 31.0);
        w->potential[row] = spacecraft;
        w->background[row] = base;
        w->centre[row] = -0.25 * uniform(random);
        w->width[row] = 0.15 + 0.1 * uniform(random);
        for (size_t n = 0; n < STEPS; n++)
            w->channel[row * STEPS + n] = exp(w->centre[row] + w->width[row] * places[n]);
        for (size_t j = 0; j < s->cells; j++) {
            const size_t at = row * s->cells + j;
            w->cosine[at] = 2.0 * uniform(random) - 1.0;
            w->counts[at] = size * (0.3 + uniform(random)) * exp(-0.1 * (double)i);
            const double flux = w->cosine[at] < 0.0 ? level_of(w, row, w->cosine[at], u, r, 0.05) : 1.0;
            w->measured[at] = poisson(w->counts[at] * (flux + base) * exp(0.03 * normal(random)), random);
            w->flux[at] = fmax(w->measured[at] / w->counts[at] - base, 1e-3);
        }
    }
}

static struct world make_truths(size_t n, uint64_t seed)
{
    struct world w = make_world(n, ROWS, CELLS);
    for (size_t k = 0; k < n; k++) {
        const double u = -600.0 * pow(uniform(&seed), 2.0), r = 0.4 + 0.65 * uniform(&seed);
        fill_sweep(&w, k, u, r, k % 4 == 3 ? 3.0 : 60.0, &seed);
    }
    return w;
}

static paritas_losscone_result *fit(paritas_context *context, const struct world *w,
                                    const paritas_losscone_options *options)
{
    paritas_losscone_result *results = make_array(w->sweeps.n, sizeof *results);
    for (size_t k = 0; k < w->sweeps.n; k++) results[k].size = sizeof *results;
    ASSERT_OK(context, paritas_losscone_fit(context, &w->sweeps, options, results));
    return results;
}

/* ---- the minimum ---- */

TEST(the_deviance_is_that_of_the_formula_and_no_point_around_has_less)
{
    enum { SWEEPS = 12, SIDE = 41, RANDOM = 1500 };
    paritas_context *context = open_context(NULL, 64, 2, 0);
    struct world w = make_truths(SWEEPS, 77);
    const paritas_losscone_options options = counting();
    paritas_losscone_result *results = fit(context, &w, &options);
    uint64_t random = 5;
    for (size_t k = 0; k < SWEEPS; k++) {
        const paritas_losscone_result *r = &results[k];
        assert_int_equal(r->status, PARITAS_SWEEP_FITTED);
        assert_true(r->gap == 0.0 && r->deviance == r->misfit && r->excess >= 1.0);
        assert_true(r->potential == r->potential_centre && r->ratio == r->ratio_centre);
        ASSERT_CLOSE(r->noise * r->noise, scatter_of(&w, k), 1e-12);
        ASSERT_CLOSE(r->misfit, deviance_of(&w, k, r->potential, r->ratio, 0.05), 1e-9 * (1.0 + r->misfit));
        for (int p = 0; p < SIDE * SIDE + RANDOM; p++) {
            const double x = p % SIDE - SIDE / 2, y = p / SIDE - SIDE / 2;
            double u = r->potential * (1.0 + 0.004 * x * fabs(x) / SIDE),
                   ratio = r->ratio + 2e-4 * y * fabs(y);
            if (p >= SIDE * SIDE)
                u = 20.0 - 2020.0 * pow(uniform(&random), 4.0), ratio = 0.3 + 0.8 * uniform(&random);
            if (u < -2000.0 || u > 20.0 || ratio < 0.3 || ratio > 1.1) continue;
            const double other = deviance_of(&w, k, u, ratio, 0.05);
            if (other < r->misfit - 1e-6 * (1.0 + r->misfit))
                fail_msg("sweep %zu: %.12g at U %g, r %g; %.12g at U %g, r %g", k, r->misfit, r->potential,
                         r->ratio, other, u, ratio);
        }
    }
    free(results);
    free_world(&w);
    paritas_close(context);
}

/* A profile searches all r at each U. */
TEST(no_potential_has_less_and_profiles_lie_below_every_ratio)
{
    enum { SWEEPS = 6, RATIOS = 60 };
    paritas_context *context = open_context(NULL, 64, 2, 0);
    struct world w = make_truths(SWEEPS, 78);
    const paritas_losscone_options options = counting();
    paritas_losscone_result *results = fit(context, &w, &options);
    double u[AT_ONCE], *misfit = make_array(SWEEPS * AT_ONCE, sizeof *misfit),
                       *ratio = make_array(SWEEPS * AT_ONCE, sizeof *ratio);
    uint64_t random = 9;
    for (int i = 0; i < AT_ONCE; i++) {
        u[i] = 20.0 - 2020.0 * pow(uniform(&random), 3.0);
        if (i < SWEEPS) u[i] = results[i].potential;
    }
    ASSERT_OK(context,
              paritas_losscone_profile(context, &w.sweeps, &options, AT_ONCE, u, misfit, ratio, NULL));
    for (size_t k = 0; k < SWEEPS; k++) {
        const double *own = misfit + k * AT_ONCE, *at = ratio + k * AT_ONCE;
        ASSERT_CLOSE(own[k], results[k].misfit, 1e-6 * (1.0 + results[k].misfit));
        for (int i = 0; i < AT_ONCE; i++) {
            assert_true(own[i] >= results[k].misfit - 1e-6 * (1.0 + results[k].misfit));
            ASSERT_CLOSE(own[i], deviance_of(&w, k, u[i], at[i], 0.05), 1e-8 * (1.0 + own[i]));
            for (int n = 0; i % 11 == 0 && n < RATIOS; n++)
                assert_true(deviance_of(&w, k, u[i], 0.3 + 0.8 * (n + 0.5) / RATIOS, 0.05) >=
                            own[i] - 1e-6 * (1.0 + own[i]));
        }
    }
    free(misfit);
    free(ratio);
    free(results);
    free_world(&w);
    paritas_close(context);
}

TEST(a_search_cut_short_says_how_far_it_may_be_undercut)
{
    enum { SWEEPS = 8 };
    paritas_context *context = open_context(NULL, 64, 2, 0);
    struct world w = make_truths(SWEEPS, 79);
    paritas_losscone_options options = counting();
    paritas_losscone_result *whole = fit(context, &w, &options);
    options.box_limit = 10;
    paritas_losscone_result *cut = fit(context, &w, &options);
    for (size_t k = 0; k < SWEEPS; k++) {
        assert_int_equal(cut[k].status, PARITAS_SWEEP_AT_LIMIT);
        assert_true(cut[k].gap > 0.0 && cut[k].flags & PARITAS_QUALITY_AT_LIMIT);
        ASSERT_CLOSE(cut[k].misfit, deviance_of(&w, k, cut[k].potential, cut[k].ratio, 0.05),
                     1e-9 * (1.0 + cut[k].misfit));
        assert_true(cut[k].misfit >= whole[k].misfit - 1e-6 * (1.0 + whole[k].misfit));
        assert_true(cut[k].misfit - cut[k].gap <= whole[k].misfit + 1e-6 * (1.0 + whole[k].misfit));
    }
    free(whole);
    free(cut);
    free_world(&w);
    paritas_close(context);
}

/* ---- sets ---- */

static double profile_at(paritas_context *context, const struct world *w, size_t k, double u)
{
    const paritas_losscone_options options = counting();
    const size_t row = k * w->sweeps.rows, at = row * w->sweeps.cells;
    paritas_sweeps one = w->sweeps;
    double misfit;
    one.n = 1;
    one.energy += row, one.potential += row, one.background += row, one.channel += row * STEPS;
    one.cosine += at, one.flux += at, one.counts += at, one.measured += at;
    ASSERT_OK(context, paritas_losscone_profile(context, &one, &options, 1, &u, &misfit, NULL, NULL));
    return misfit;
}

TEST(the_deviance_at_the_ends_of_a_set_is_its_limit)
{
    enum { SWEEPS = 10 };
    paritas_context *context = open_context(NULL, 64, 2, 0);
    struct world w = make_truths(SWEEPS, 80);
    const paritas_losscone_options options = counting();
    paritas_losscone_result *results = fit(context, &w, &options);
    paritas_confidence sets[SWEEPS] = {PARITAS_INIT(paritas_confidence)};
    double given[SWEEPS];
    for (size_t k = 0; k < SWEEPS; k++) given[k] = 1.0 + (double)k;
    for (int way = 0; way < 2; way++) {
        for (size_t k = 0; k < SWEEPS; k++) sets[k].size = sizeof sets[k];
        ASSERT_OK(context, paritas_losscone_confidence(context, &w.sweeps, &options, results,
                                                       way ? given : NULL, 0.0, sets));
        for (size_t k = 0; k < SWEEPS; k++) {
            const paritas_losscone_result *r = &results[k];
            const double excess = r->excess, usual = 3.841 * excess * fmin(excess, 3.0),
                         above = sets[k].threshold;
            assert_int_equal(sets[k].intervals, 1);
            ASSERT_CLOSE(above, way ? given[k] : usual, 1e-12 * above);
            assert_true(sets[k].lower[0] <= r->potential && r->potential <= sets[k].upper[0]);
            for (int side = 0; side < 2; side++) {
                const double end = side ? sets[k].upper[0] : sets[k].lower[0], away = end - r->potential;
                if (side ? sets[k].at_upper_bound : sets[k].at_lower_bound) continue;
                const double there = profile_at(context, &w, k, end) - r->misfit;
                if (!(there > above * (1.0 - 1e-6) && there < 1.03 * above))
                    fail_msg("sweep %zu, end %g: %g above the minimum, %g is the limit", k, end, there,
                             above);
                assert_true(profile_at(context, &w, k, end - 0.03 * away) - r->misfit < above);
                if (end + 0.03 * away <= 20.0)
                    assert_true(profile_at(context, &w, k, end + 0.03 * away) - r->misfit > above);
            }
        }
    }
    free(results);
    free_world(&w);
    paritas_close(context);
}

TEST(a_set_that_reaches_a_bound_says_so)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct world w = make_truths(2, 81);
    paritas_losscone_options options = counting();
    paritas_losscone_result *results = fit(context, &w, &options);
    paritas_confidence sets[2] = {PARITAS_INIT(paritas_confidence), PARITAS_INIT(paritas_confidence)};
    const double all[2] = {1e7, 1e7}, none[2] = {NAN, -1.0};
    ASSERT_OK(context, paritas_losscone_confidence(context, &w.sweeps, &options, results, all, 0.0, sets));
    for (int k = 0; k < 2; k++)
        assert_true(sets[k].at_lower_bound && sets[k].at_upper_bound && sets[k].lower[0] == -2000.0 &&
                    sets[k].upper[0] == 20.0);
    ASSERT_OK(context, paritas_losscone_confidence(context, &w.sweeps, &options, results, none, 0.0, sets));
    assert_true(sets[0].intervals == 0 && sets[1].intervals == 0);
    free(results);
    free_world(&w);
    paritas_close(context);
}

/* ---- rare sweeps ---- */

enum rare { HIGH_U, AT_RATIO, NO_CONE, ONE_ROW, EMPTY_CONE, HUGE, MASKED, NO_COUNTS, RARE };

static struct world make_rare(void)
{
    struct world w = make_world(RARE, ROWS, CELLS);
    uint64_t random = 91;
    for (size_t k = 0; k < RARE; k++) {
        const double u = k == HIGH_U ? 12.0 : -80.0, r = k == AT_RATIO ? 1.1 : k == HIGH_U ? 0.5 : 0.8;
        fill_sweep(&w, k, u, r, k == HUGE ? 1e6 : 40.0, &random);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < CELLS; j++) {
                const size_t row = k * ROWS + i, at = row * CELLS + j;
                if (k == NO_CONE) w.measured[at] = poisson(w.counts[at], &random), w.flux[at] = 1.0;
                if (k == ONE_ROW && i != 6) w.energy[row] = i % 2 ? NAN : 0.0;
                if (k == EMPTY_CONE && w.cosine[at] < -0.6) w.measured[at] = 0.0;
                if (k == MASKED && j % 3 == 0) {
                    double *const hit[] = {w.cosine, w.flux, w.counts, w.measured};
                    hit[j / 3 % 4][at] = j % 2 ? NAN : j / 3 % 4 == 0 ? NAN : -1.0;
                }
                if (k == NO_COUNTS) w.measured[at] = NAN;
            }
    }
    return w;
}

static void must_be_finite(const paritas_losscone_result *r, size_t k)
{
    const double numbers[] = {r->misfit,      r->potential,       r->ratio,       r->amplitude,
                              r->gap,         r->noise,           r->deviance,    r->edge_evidence,
                              r->excess,      r->potential_lower, r->ratio_lower, r->potential_upper,
                              r->ratio_upper, r->potential_centre};
    for (size_t i = 0; i < COUNT(numbers); i++)
        if (!isfinite(numbers[i])) fail_msg("sweep %zu: number %zu is %g", k, i, numbers[i]);
}

TEST(rare_sweeps_have_finite_answers)
{
    for (unsigned precision = 32; precision <= 64; precision += 32) {
        paritas_context *context = open_context(NULL, precision, 2, 0);
        struct world w = make_rare();
        const paritas_losscone_options options = counting();
        paritas_losscone_result *results = fit(context, &w, &options);
        paritas_confidence sets[RARE];
        for (size_t k = 0; k < RARE; k++) sets[k] = (paritas_confidence)PARITAS_INIT(paritas_confidence);
        ASSERT_OK(context,
                  paritas_losscone_confidence(context, &w.sweeps, &options, results, NULL, 0.0, sets));
        for (size_t k = 0; k < RARE; k++) {
            const paritas_losscone_result *r = &results[k];
            if (k == NO_COUNTS) {
                assert_int_equal(r->status, PARITAS_SWEEP_NO_CELLS);
                assert_true(isnan(r->misfit) && isnan(r->deviance) && isnan(r->excess));
                assert_int_equal(sets[k].intervals, 0);
                continue;
            }
            if (k == ONE_ROW) { /* one edge leaves a valley of U and r */
                assert_int_equal(r->status, PARITAS_SWEEP_TOO_FEW_ROWS);
                assert_true(r->flags == PARITAS_QUALITY_NO_FIT && isnan(r->potential) && r->boxes == 0);
                assert_int_equal(sets[k].intervals, 0);
                continue;
            }
            assert_int_equal(r->status, PARITAS_SWEEP_FITTED);
            assert_true(r->gap == 0.0);
            must_be_finite(r, k);
            assert_true(sets[k].intervals == 1 && sets[k].lower[0] <= r->potential + 1e-6 &&
                        r->potential - 1e-6 <= sets[k].upper[0]);
            if (precision == 64)
                ASSERT_CLOSE(r->misfit, deviance_of(&w, k, r->potential, r->ratio, 0.05),
                             (k == HUGE ? 1e-8 : 1e-9) * (1.0 + r->misfit)); /* a channel ends at 6 widths */
        }
        assert_true(results[HIGH_U].potential > 0.0);
        ASSERT_CLOSE(results[HIGH_U].potential, 12.0, 5.0);
        assert_true(results[AT_RATIO].ratio <= 1.1 + 1e-6 &&
                    results[AT_RATIO].flags & PARITAS_QUALITY_RATIO_AT_BOUND);
        assert_true(results[NO_CONE].flags & PARITAS_QUALITY_NO_EDGE);
        ASSERT_CLOSE(results[HUGE].potential, -80.0, 1.0);
        ASSERT_CLOSE(results[MASKED].potential, -80.0, 8.0);
        free(results);
        free_world(&w);
        paritas_close(context);
    }
}

TEST(equal_bounds_hold_a_number)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct world w = make_truths(4, 83);
    for (int way = 0; way < 3; way++) {
        paritas_losscone_options options = counting();
        if (way != 1) options.potential_lower = options.potential_upper = -47.0;
        if (way != 0) options.ratio_lower = options.ratio_upper = 0.77;
        paritas_losscone_result *results = fit(context, &w, &options);
        for (size_t k = 0; k < 4; k++) {
            const paritas_losscone_result *r = &results[k];
            assert_int_equal(r->status, PARITAS_SWEEP_FITTED);
            if (way != 1) assert_true(r->potential == -47.0);
            if (way != 0) assert_true(r->ratio == 0.77);
            ASSERT_CLOSE(r->misfit, deviance_of(&w, k, r->potential, r->ratio, 0.05),
                         1e-9 * (1.0 + r->misfit));
        }
        free(results);
    }
    free_world(&w);
    paritas_close(context);
}

TEST(larger_grids_have_the_formulas_minimum)
{
    static const size_t grids[][2] = {{32, 128}, {32, 512}, {2, 512}, {32, 1}, {20, 129}};
    paritas_context *context = open_context(NULL, 64, 2, 0);
    for (size_t g = 0; g < COUNT(grids); g++) {
        struct world w = make_world(2, grids[g][0], grids[g][1]);
        const paritas_losscone_options options = counting();
        uint64_t random = 17 + g;
        for (size_t k = 0; k < 2; k++) fill_sweep(&w, k, -60.0, 0.85, 30.0, &random);
        paritas_losscone_result *results = fit(context, &w, &options);
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(results[k].status, PARITAS_SWEEP_FITTED);
            must_be_finite(&results[k], k);
            ASSERT_CLOSE(results[k].misfit, deviance_of(&w, k, results[k].potential, results[k].ratio, 0.05),
                         1e-9 * (1.0 + results[k].misfit));
            assert_true(results[k].misfit <=
                        deviance_of(&w, k, -60.0, 0.85, 0.05) + 1e-6 * (1.0 + results[k].misfit));
            if (grids[g][0] >= 20 && grids[g][1] > 1) ASSERT_CLOSE(results[k].potential, -60.0, 6.0);
        }
        free(results);
        free_world(&w);
    }
    paritas_close(context);
}

TEST(one_row_tells_one_number)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct world w = make_world(2, 1, 512);
    uint64_t random = 23;
    for (size_t k = 0; k < 2; k++) fill_sweep(&w, k, -60.0, 0.85, 30.0, &random);
    for (int fixed = 0; fixed < 3; fixed++) {
        paritas_losscone_options options = counting();
        if (fixed == 1) options.potential_lower = options.potential_upper = -60.0;
        if (fixed == 2) options.ratio_lower = options.ratio_upper = 0.85;
        paritas_losscone_result *results = fit(context, &w, &options);
        for (size_t k = 0; k < 2; k++)
            assert_int_equal(results[k].status, fixed ? PARITAS_SWEEP_FITTED : PARITAS_SWEEP_TOO_FEW_ROWS);
        free(results);
    }
    free_world(&w);
    paritas_close(context);
}

/* The fit of sweep k alone is told from r at its lower bound by less than its excess: one standard error. */
TEST(a_ratio_that_the_data_do_not_tell_from_its_bound_is_said)
{
    static const double below[] = {0.012, 0.03, 0.15};
    paritas_context *context = open_context(NULL, 64, 2, 0);
    struct world w = make_world(8, ROWS, CELLS);
    const paritas_losscone_options usual = counting();
    uint64_t random = 85;
    for (size_t k = 0; k < 8; k++) fill_sweep(&w, k, -250.0, 0.6, k % 2 ? 1.0 : 4.0, &random);
    paritas_losscone_result *first = fit(context, &w, &usual);
    int said[2] = {0};
    for (size_t way = 0; way < COUNT(below); way++)
        for (size_t k = 0; k < 8; k++) {
            paritas_losscone_options options = usual;
            options.ratio_lower = first[k].ratio - below[way];
            paritas_losscone_result *results = fit(context, &w, &options);
            options.ratio_upper = options.ratio_lower;
            paritas_losscone_result *at_bound = fit(context, &w, &options);
            const double more = at_bound[k].misfit - results[k].misfit;
            const int flag = (results[k].flags & PARITAS_QUALITY_RATIO_AT_BOUND) != 0;
            if (flag != (more <= results[k].excess))
                fail_msg(
                    "sweep %zu, r above its bound by %g: %g above the minimum, the excess is %g, said %d", k,
                    below[way], more, results[k].excess, flag);
            assert_false(at_bound[k].flags & PARITAS_QUALITY_RATIO_AT_BOUND);
            said[flag]++;
            free(results);
            free(at_bound);
        }
    if (said[0] < 4 || said[1] < 4) fail_msg("said of %d, not of %d", said[1], said[0]);
    free(first);
    free_world(&w);
    paritas_close(context);
}

/* Half of the rows take cosines of another direction: their edge is where the model does not have it. */
TEST(an_edge_that_no_direction_of_the_field_explains_is_said)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct world w = make_truths(4, 87);
    const paritas_losscone_options options = counting();
    paritas_losscone_options hard = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    hard.response = PARITAS_LOSSCONE_RESPONSE_HARD;
    uint64_t random = 88;
    for (int off = 0; off < 2; off++) {
        for (size_t at = 0; off && at < 4 * ROWS * CELLS; at++) {
            const double angle = acos(w.cosine[at]) + 0.5 * (uniform(&random) - 0.5);
            w.cosine[at] = w.cosine[at] < 0.0 ? fmin(cos(angle), -1e-3) : w.cosine[at];
        }
        paritas_losscone_result *folded = fit(context, &w, &options), *sharp = fit(context, &w, &hard);
        for (size_t k = 0; k < 3; k++) { /* the fourth has few counts */
            assert_int_equal((folded[k].flags & PARITAS_QUALITY_SMEARED_EDGE) != 0, off);
            if (off) assert_true(sharp[k].flags & PARITAS_QUALITY_SMEARED_EDGE);
        }
        free(folded);
        free(sharp);
    }
    free_world(&w);
    paritas_close(context);
}

/* ---- the same bits ---- */

/* Sweeps in another order. */
static struct world turned(const struct world *w)
{
    const size_t n = w->sweeps.n, rows = w->sweeps.rows, all = rows * w->sweeps.cells;
    struct world other = make_world(n, rows, w->sweeps.cells);
    for (size_t k = 0; k < n; k++) {
        const size_t to = (k + 3) % n;
        memcpy(other.energy + to * rows, w->energy + k * rows, rows * sizeof(double));
        memcpy(other.potential + to * rows, w->potential + k * rows, rows * sizeof(double));
        memcpy(other.background + to * rows, w->background + k * rows, rows * sizeof(double));
        memcpy(other.channel + to * rows * STEPS, w->channel + k * rows * STEPS,
               rows * STEPS * sizeof(double));
        memcpy(other.cosine + to * all, w->cosine + k * all, all * sizeof(double));
        memcpy(other.flux + to * all, w->flux + k * all, all * sizeof(double));
        memcpy(other.counts + to * all, w->counts + k * all, all * sizeof(double));
        memcpy(other.measured + to * all, w->measured + k * all, all * sizeof(double));
    }
    return other;
}

TEST(processors_threads_and_batches_give_the_same_bits)
{
    struct world rare = make_rare(), rare_turned = turned(&rare);
    const paritas_losscone_options options = counting();
    for (unsigned precision = 32; precision <= 64; precision += 32) {
        paritas_losscone_result *wanted = NULL;
        paritas_confidence sets[2][RARE];
        size_t at = 0, ways = 0;
        for (paritas_context *context; (context = next_context(precision, &at)); ways++) {
            paritas_losscone_result *own = fit(context, &rare, &options),
                                    *other = fit(context, &rare_turned, &options);
            for (size_t k = 0; k < RARE; k++)
                sets[wanted != NULL][k] = (paritas_confidence)PARITAS_INIT(paritas_confidence);
            ASSERT_OK(context, paritas_losscone_confidence(context, &rare.sweeps, &options, own, NULL, 0.0,
                                                           sets[wanted != NULL]));
            for (size_t k = 0; k < RARE; k++)
                assert_memory_equal(&own[k], &other[(k + 3) % RARE], sizeof *own);
            if (wanted) {
                assert_memory_equal(own, wanted, RARE * sizeof *own);
                assert_memory_equal(sets[1], sets[0], sizeof sets[0]);
                free(own);
            } else
                wanted = own;
            free(other);
            paritas_close(context);
        }
        assert_true(ways >= 2);
        free(wanted);
    }
    free_world(&rare);
    free_world(&rare_turned);
}

/* Models are made for some sweeps at a time: the same sweep first and last. */
TEST(deviances_of_halekas_do_not_depend_on_the_sweeps_place)
{
    enum { SWEEPS = 300 };
    paritas_context *context = open_context(NULL, 64, 2, 0);
    struct world w = make_truths(SWEEPS, 83);
    paritas_losscone_options options = counting();
    options.method = PARITAS_LOSSCONE_METHOD_HALEKAS;
    paritas_losscone_result *results = fit(context, &w, &options), alone = {.size = sizeof alone};
    paritas_sweeps last = w.sweeps;
    const size_t k = SWEEPS - 1, rows = last.rows, cells = rows * last.cells;
    last.n = 1;
    last.energy += k * rows;
    last.potential += k * rows;
    last.background += k * rows;
    last.channel += k * rows * STEPS;
    last.cosine += k * cells;
    last.flux += k * cells;
    last.counts += k * cells;
    last.measured += k * cells;
    ASSERT_OK(context, paritas_losscone_fit(context, &last, &options, &alone));
    assert_true(alone.deviance > 0.0 && results[k].deviance == alone.deviance);
    free(results);
    free_world(&w);
    paritas_close(context);
}

TEST(f32_finds_the_minimum_of_f64)
{
    enum { SWEEPS = 50 };
    paritas_context *whole = open_context(NULL, 64, 2, 0), *half = open_context(NULL, 32, 2, 0);
    struct world w = make_truths(SWEEPS, 84);
    const paritas_losscone_options options = counting();
    paritas_losscone_result *one = fit(whole, &w, &options), *two = fit(half, &w, &options);
    for (size_t k = 0; k < SWEEPS; k++) {
        assert_int_equal(one[k].status, two[k].status);
        ASSERT_CLOSE(one[k].potential, two[k].potential, 0.02 + 1e-3 * fabs(one[k].potential));
    }
    free(one);
    free(two);
    free_world(&w);
    paritas_close(whole);
    paritas_close(half);
}

/* The proof's cost. It was 1159 boxes a sweep before boxes shrank to where they may be lower. */
TEST(a_proof_takes_few_boxes)
{
    enum { SWEEPS = 50, MOST = 600 };
    paritas_context *context = open_context(NULL, 64, 2, 0);
    struct world w = make_truths(SWEEPS, 84);
    const paritas_losscone_options options = counting();
    paritas_losscone_result *results = fit(context, &w, &options);
    size_t boxes = 0;
    for (size_t k = 0; k < SWEEPS; k++) boxes += results[k].boxes;
    print_message("%zu boxes a sweep\n", boxes / SWEEPS);
    assert_true(boxes < MOST * SWEEPS);
    free(results);
    free_world(&w);
    paritas_close(context);
}

/* ---- methods ---- */

TEST(auto_counts_where_it_can)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct world w = make_truths(3, 85);
    paritas_losscone_options options = counting();
    paritas_losscone_result *counted = fit(context, &w, &options);
    options.method = PARITAS_LOSSCONE_METHOD_AUTO;
    paritas_losscone_result *own = fit(context, &w, &options);
    assert_memory_equal(own, counted, 3 * sizeof *own);
    for (int way = 0; way < 4; way++) { /* no response, no counts, no minimum proven */
        struct world less = w;
        paritas_losscone_options as = options, halekas = options;
        if (way == 0) as.response = PARITAS_LOSSCONE_RESPONSE_HARD;
        if (way == 1) less.sweeps.measured = NULL;
        if (way == 2) less.sweeps.counts = NULL;
        if (way == 3) as.search = PARITAS_LOSSCONE_SEARCH_DE, as.generations = 5;
        halekas = as;
        halekas.method = PARITAS_LOSSCONE_METHOD_HALEKAS;
        paritas_losscone_result *one = fit(context, &less, &as), *two = fit(context, &less, &halekas);
        assert_memory_equal(one, two, 3 * sizeof *one);
        assert_true(one[0].misfit != counted[0].misfit && isnan(one[0].excess));
        assert_true(way == 0 ? one[0].deviance > counted[0].deviance : way > 2 || isnan(one[0].deviance));
        free(one);
        free(two);
    }
    free(own);
    free(counted);
    free_world(&w);
    paritas_close(context);
}

static void refused(paritas_context *context, paritas_status status, const char *words)
{
    assert_int_equal(status, PARITAS_INVALID_ARGUMENT);
    if (!strstr(paritas_error_message(context), words)) fail_msg("%s", paritas_error_message(context));
}

TEST(what_has_no_answer_is_refused)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct world w = make_truths(2, 86);
    paritas_losscone_options good = counting(), options = good;
    paritas_losscone_result *results = fit(context, &w, &good),
                            other[2] = {PARITAS_INIT(paritas_losscone_result),
                                        PARITAS_INIT(paritas_losscone_result)};
    const double point[3] = {-50.0, 0.8, 0.0};
    double numbers[2];
    paritas_sweeps less = w.sweeps;
    options.response = PARITAS_LOSSCONE_RESPONSE_HARD;
    refused(context, paritas_losscone_fit(context, &w.sweeps, &options, other), "choose the folded response");
    options = good;
    options.search = PARITAS_LOSSCONE_SEARCH_DE;
    refused(context, paritas_losscone_fit(context, &w.sweeps, &options, other), "choose the exact search");
    less.measured = NULL;
    refused(context, paritas_losscone_fit(context, &less, &good, other),
            "give the arrays measured and counts");
    refused(context, paritas_losscone_profile(context, &less, &good, 1, point, numbers, NULL, NULL),
            "give the arrays measured and counts");
    refused(context,
            paritas_losscone_confidence(
                context, &less, &good, results, NULL, 0.0,
                (paritas_confidence[]){PARITAS_INIT(paritas_confidence), PARITAS_INIT(paritas_confidence)}),
            "give the arrays measured and counts");
    refused(context, paritas_losscone_bootstrap(context, &w.sweeps, &good, results, 2, 0.5, numbers),
            "choose the method halekas");
    refused(context, paritas_losscone_misfit(context, &w.sweeps, &good, 1, point, numbers, NULL),
            "choose the method halekas");
    free(results);
    free_world(&w);
    paritas_close(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_deviance_is_that_of_the_formula_and_no_point_around_has_less),
        cmocka_unit_test(no_potential_has_less_and_profiles_lie_below_every_ratio),
        cmocka_unit_test(a_search_cut_short_says_how_far_it_may_be_undercut),
        cmocka_unit_test(the_deviance_at_the_ends_of_a_set_is_its_limit),
        cmocka_unit_test(a_set_that_reaches_a_bound_says_so),
        cmocka_unit_test(rare_sweeps_have_finite_answers),
        cmocka_unit_test(equal_bounds_hold_a_number),
        cmocka_unit_test(larger_grids_have_the_formulas_minimum),
        cmocka_unit_test(one_row_tells_one_number),
        cmocka_unit_test(a_ratio_that_the_data_do_not_tell_from_its_bound_is_said),
        cmocka_unit_test(an_edge_that_no_direction_of_the_field_explains_is_said),
        cmocka_unit_test(processors_threads_and_batches_give_the_same_bits),
        cmocka_unit_test(deviances_of_halekas_do_not_depend_on_the_sweeps_place),
        cmocka_unit_test(f32_finds_the_minimum_of_f64),
        cmocka_unit_test(a_proof_takes_few_boxes),
        cmocka_unit_test(auto_counts_where_it_can),
        cmocka_unit_test(what_has_no_answer_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
