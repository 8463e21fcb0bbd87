/* synthetic_sweeps.c: draws sweeps of known truth. */
#include "moon/days/synthetic_sweeps.h"
#include "base/math/host_math.h"
#include "base/math/probability.h"
#include "base/sized.h"
#include "moon/losscone/losscone.h"

#include <math.h>
#include <string.h>

#define ROWS DAY_ROWS
#define CELLS DAY_CELLS
#define CADENCE 80.0 /* seconds between sweeps */
#define ROW_TIME PARITAS_SWEEP_ACCUMULATION
#define ORBIT 7080.0       /* seconds: Lunar Prospector's at 100 km */
#define MONTH 2360591.5    /* seconds: the Moon turns below the orbit's plane */
#define RESPONSE_NODES 281 /* of the integral over a channel */

/* Plasmas in the order of regions: rounded ranges for the Moon's orbit, after Newbury et al., J. Geophys.
 * Res. 103 (1998) 9553 (solar wind), Slavin et al., J. Geophys. Res. 90 (1985) 10875 (tail), Halekas et al.,
 * Planet. Space Sci. 59 (2011) 1681 (all four); kappa: Pierrard and Lazar, Solar Phys. 267 (2010) 153. */
static const struct region {
    double density[2], kappa[2], temperature[2];
} regions[] = {
    [PARITAS_REGION_SOLAR_WIND] = {{3e6, 1e7}, {3.0, 6.0}, {8.0, 15.0}},
    [PARITAS_REGION_MAGNETOSHEATH] = {{5e6, 2e7}, {3.0, 6.0}, {20.0, 50.0}},
    [PARITAS_REGION_LOBE] = {{2e4, 1e5}, {3.0, 6.0}, {50.0, 150.0}},
    [PARITAS_REGION_PLASMA_SHEET] = {{1e5, 5e5}, {3.0, 6.0}, {150.0, 500.0}},
};

void paritas_synthetic_region(paritas_region region, paritas_synthetic_options *options)
{
    GIVEN(, options);
    options->plasma = 1;
#define TAKE(name)                                          \
    options->true_##name##_lower = regions[region].name[0]; \
    options->true_##name##_upper = regions[region].name[1];
    TAKE(density) TAKE(kappa) TAKE(temperature)
#undef TAKE
}

/* One call. */
struct synthesis {
    paritas_context *context;
    struct arena *arena;
    paritas_synthetic_options plan;
    paritas_losscone_options cone; /* beam and response of the truth */
    const paritas_truths *truth;
    double *points; /* n rows of true U, r, A */
};

static double within(struct dice *dice, double lower, double upper)
{
    return lower + (upper - lower) * dice_uniform(dice);
}

/* Log-uniform. */
static double within_logs(struct dice *dice, double lower, double upper)
{
    return host_exp(within(dice, host_log(lower), host_log(upper)));
}

static double rounded(double value, double scale)
{
    const double scaled = value * scale;
    return (double)(int64_t)(scaled + (scaled < 0.0 ? -0.5 : 0.5)) / scale;
}

#define RANGE(name) plan->name##_lower, plan->name##_upper
static paritas_status draw_truth(const struct synthesis *s, size_t n)
{
    const paritas_synthetic_options *plan = &s->plan;
    const paritas_truths *truth = s->truth;
    for (size_t k = 0; k < n; k++) {
        struct dice dice;
        dice_open(&dice, plan->seed, 2 * (plan->first + k));
        truth->potential[k] = within(&dice, RANGE(true_potential));
        truth->ratio[k] = within(&dice, RANGE(true_ratio));
        const double beam = dice_uniform(&dice), amplitude = within(&dice, RANGE(true_amplitude));
        truth->amplitude[k] = beam < plan->beams && plan->edge == PARITAS_TRUE_EDGE_HARD ? amplitude : 0.0;
        truth->noise[k] = within(&dice, RANGE(noise));
        truth->spacecraft[k] = within(&dice, RANGE(true_spacecraft));
        const double side = dice_uniform(&dice);
        truth->polarity[k] = plan->polarity != 0.0 ? plan->polarity : side < 0.5 ? -1.0 : 1.0;
        truth->sunlit[k] = 1.0;
        const double density = within_logs(&dice, RANGE(true_density)),
                     kappa = within(&dice, RANGE(true_kappa)),
                     temperature = within_logs(&dice, RANGE(true_temperature));
        truth->density[k] = plan->plasma ? density : NAN;
        truth->kappa[k] = plan->plasma ? kappa : NAN;
        truth->temperature[k] = plan->plasma ? temperature : NAN;
        truth->theta[k] = plan->plasma ? paritas_kappa_theta(kappa, temperature) : NAN;
    }
    if (!plan->plasma) return PARITAS_OK;
    /* the plasma sets the spacecraft's potential */
    paritas_kappa_plasma *plasma = arena_array(s->arena, n + 1, sizeof *plasma);
    paritas_potential *found = day_records(s->arena, n, sizeof *found);
    unsigned char *sunlit = arena_array(s->arena, n + 1, 1);
    if (!plasma || !found || !sunlit) return paritas_fail_memory(s->context);
    for (size_t k = 0; k < n; k++) {
        plasma[k] = (paritas_kappa_plasma){truth->density[k], truth->kappa[k], truth->theta[k]};
        sunlit[k] = 1;
    }
    TRY(paritas_spacecraft_potential(s->context, n, plasma, NULL, sunlit, NULL, found));
    for (size_t k = 0; k < n; k++)
        truth->spacecraft[k] = found[k].status == PARITAS_POTENTIAL_FOUND ? found[k].potential : 0.0;
    return PARITAS_OK;
}

/* Rounded as in files: the model sees what will be read. */
static void draw_geometry(const paritas_synthetic_options *plan, double time, size_t k, paritas_er_day *day)
{
    const double *theta = plan->theta;
    const uint64_t number = plan->first + k;
    struct dice dice;
    dice_open(&dice, plan->seed, 2 * number + 1);
    const bool low = plan->low_energies && number % 2 == 1;
    const double least = low ? 7.0 : 38.641, most = low ? 19000.0 : 16680.334;
    const double magnitude = 5.0 + 25.0 * dice_uniform(&dice), turn = 360.0 * dice_uniform(&dice),
                 up = 2.0 * dice_uniform(&dice) - 1.0, azimuth = 360.0 * dice_uniform(&dice);
    const double level = host_sqrt(1.0 - up * up), none = dice_uniform(&dice) < plan->bad_fields ? 0.0 : 1.0;
    const double field[3] = {magnitude * level * host_cos_degrees(azimuth),
                             magnitude * level * host_sin_degrees(azimuth), magnitude * up};
    for (size_t i = 0; i < ROWS; i++) {
        const size_t row = ROWS * k + i;
        unsigned in_ring = 0;
        day->row_reason[row] = PARITAS_ER_KEPT;
        day->time[row] = rounded(time + ROW_TIME * (double)i, 1e3);
        day->energy[row] = rounded(least * host_exp(host_log(most / least) * (double)i / (ROWS - 1)), 1e3);
        for (int axis = 0; axis < 3; axis++) day->field[3 * row + axis] = none * rounded(field[axis], 1e6);
        for (size_t j = 0; j < CELLS; j++) {
            /* cells of a ring go around it; the frame turns by 7.5 degrees a row */
            const double size = theta[j] < 0.0 ? -theta[j] : theta[j], cells = size > 60.0   ? 4.0
                                                                               : size > 45.0 ? 8.0
                                                                                             : 16.0;
            in_ring = j > 0 && theta[j] == theta[j - 1] ? in_ring + 1 : 0;
            double phi = turn + 7.5 * (double)i + 360.0 * (double)in_ring / cells;
            while (phi >= 360.0) phi -= 360.0;
            day->azimuth[CELLS * row + j] = rounded(phi, 1e2);
            day->cell_reason[CELLS * row + j] = PARITAS_ER_KEPT;
        }
    }
}

/* Place of a node in units of the response's sigma. */
static double response_node(size_t m)
{
    return -4.2 + 8.4 * (double)m / (RESPONSE_NODES - 1);
}

/* Incident flux of one row, 1/(cm^2 s sr eV). */
static double power_law(double energy)
{
    return 1e6 * host_exp(-2.5 * host_log(energy / 100.0));
}

/* Incident flux of sweep k at n energies, as the sensor meets it: a positive spacecraft draws electrons in.
 * They gain its potential at constant phase space density; slower ones are its own. */
static paritas_status arriving(const struct synthesis *s, size_t k, size_t n, const double *measured,
                               double *flux)
{
    const paritas_synthetic_options *plan = &s->plan;
    const paritas_truths *truth = s->truth;
    const double pi = 3.14159265358979323846;
    double energy[ROWS * RESPONSE_NODES];
    if (!plan->plasma) {
        for (size_t i = 0; i < n; i++) flux[i] = power_law(measured[i]);
        return PARITAS_OK;
    }
    const paritas_kappa_plasma plasma = {truth->density[k], truth->kappa[k], truth->theta[k]};
    for (size_t i = 0; i < n; i++)
        energy[i] = measured[i] - truth->spacecraft[k] > 1.0 ? measured[i] - truth->spacecraft[k] : 1.0;
    TRY(paritas_kappa_flux(s->context, 1, &plasma, n, energy, flux));
    for (size_t i = 0; i < n; i++) flux[i] *= measured[i] / (energy[i] * 4.0 * pi);
    return PARITAS_OK;
}

static paritas_status spectra(const struct synthesis *s, size_t n, const paritas_er_day *day, double *flux)
{
    const paritas_synthetic_options *plan = &s->plan;
    for (size_t k = 0; k < n; k++) {
        const double *measured = day->energy + ROWS * k;
        double *seen = flux + ROWS * k, met[ROWS], response[ROWS * ROWS] = {0.0};
        TRY(arriving(s, k, ROWS, measured, met));
        memcpy(seen, met, sizeof met);
        if (!plan->plasma || plan->channel_width == 0.0) continue;
        TRY(paritas_kappa_response(s->context, plan->channel_width, ROWS, measured, response));
        for (size_t i = 0; i < ROWS; i++) {
            seen[i] = 0.0;
            for (size_t j = 0; j < ROWS; j++) seen[i] += response[ROWS * i + j] * met[j];
        }
    }
    return PARITAS_OK;
}

/* The folded edge, with channels of the incident spectrum where it does not saturate the instrument. */
static paritas_status folded_model(const struct synthesis *s, const double *incident, paritas_sweeps sweeps,
                                   double *model)
{
    double *channel = day_numbers(s->arena, ROWS * PARITAS_CHANNEL_ENERGIES * sweeps.n);
    if (!channel) return paritas_fail_memory(s->context);
    for (size_t cell = 0; cell < ROWS * CELLS * sweeps.n; cell++) {
        const size_t row = cell / CELLS;
        model[cell] = synthetic_saturates(&s->plan, sweeps.energy[row], incident[row]) ? NAN : incident[row];
    }
    TRY(paritas_losscone_channels(s->context, &sweeps, &s->cone, model, channel));
    sweeps.channel = channel;
    return paritas_losscone_model(s->context, &sweeps, &s->cone, s->points, model, NULL);
}

/* The hard model averaged over a Gaussian in ln E of the response's half width at half maximum, each energy
 * by its flux. The incident flux is the same mean, without the cone. */
static paritas_status integral_model(const struct synthesis *s, const paritas_sweeps *sweeps,
                                     double *incident, double *model)
{
    const size_t n = sweeps->n, rows = ROWS * n;
    const double sigma = losscone_response_sigma(s->cone.response_width);
    double *energy = day_numbers(s->arena, rows), *one = day_numbers(s->arena, rows * CELLS),
           *weight = day_numbers(s->arena, rows * RESPONSE_NODES);
    if (!energy || !one || !weight) return paritas_fail_memory(s->context);
    for (size_t k = 0; k < n; k++) {
        double at[ROWS * RESPONSE_NODES], flux[ROWS * RESPONSE_NODES];
        for (size_t i = 0; i < ROWS * RESPONSE_NODES; i++)
            at[i] = sweeps->energy[ROWS * k + i / RESPONSE_NODES] *
                    host_exp(sigma * response_node(i % RESPONSE_NODES));
        TRY(arriving(s, k, ROWS * RESPONSE_NODES, at, flux));
        for (size_t i = 0; i < ROWS; i++) {
            double sum = 0.0, all = 0.0, *of_row = weight + (ROWS * k + i) * RESPONSE_NODES;
            for (size_t m = 0; m < RESPONSE_NODES; m++) {
                const double z = response_node(m);
                const double part = host_exp(-0.5 * z * z);
                all += part;
                sum += of_row[m] = part * flux[i * RESPONSE_NODES + m];
            }
            for (size_t m = 0; m < RESPONSE_NODES; m++) of_row[m] /= sum;
            incident[ROWS * k + i] = sum / all;
        }
    }
    for (size_t m = 0; m < RESPONSE_NODES; m++) {
        const double factor = host_exp(sigma * response_node(m));
        paritas_sweeps shifted = *sweeps;
        for (size_t i = 0; i < rows; i++) energy[i] = sweeps->energy[i] * factor;
        shifted.energy = energy;
        TRY(paritas_losscone_model(s->context, &shifted, &s->cone, s->points, one, NULL));
        for (size_t cell = 0; cell < rows * CELLS; cell++)
            model[cell] =
                (m == 0 ? 0.0 : model[cell]) + weight[cell / CELLS * RESPONSE_NODES + m] * one[cell];
    }
    return PARITAS_OK;
}

static void spoil(const struct synthesis *s, size_t k, const double *incident, const double *model,
                  paritas_er_day *day)
{
    const paritas_synthetic_options *plan = &s->plan;
    const double noise = s->truth->noise[k];
    static const uint8_t sentinels[4] = {PARITAS_ER_FLUX_MISSING, PARITAS_ER_FLUX_ERROR,
                                         PARITAS_ER_AZIMUTH_MISSING, PARITAS_ER_AZIMUTH_ERROR};
    struct dice dice;
    dice_open(&dice, plan->seed ^ UINT64_C(0x5851F42D4C957F2D), plan->first + k);
    for (size_t i = 0; i < ROWS; i++) {
        const size_t row = ROWS * k + i;
        for (size_t j = 0; j < CELLS; j++) {
            const size_t cell = CELLS * row + j;
            const double z = normal_quantile(dice_uniform(&dice)), lost = dice_uniform(&dice);
            day->flux[cell] = incident[row] * model[cell] * host_exp(noise * z);
            if (lost >= plan->missing_cells) continue;
            const uint8_t reason = sentinels[(unsigned)(lost / plan->missing_cells * 4.0) & 3];
            day->cell_reason[cell] = reason;
            if (reason == PARITAS_ER_AZIMUTH_MISSING || reason == PARITAS_ER_AZIMUTH_ERROR)
                day->azimuth[cell] = NAN;
            else
                day->flux[cell] = NAN;
        }
        if (dice_uniform(&dice) < plan->missing_rows) {
            day->row_reason[row] = PARITAS_ER_ROW_MISSING;
            day->energy[row] = NAN;
            for (size_t j = 0; j < CELLS; j++) {
                day->flux[CELLS * row + j] = NAN;
                day->cell_reason[CELLS * row + j] = PARITAS_ER_ROW_MISSING;
            }
        }
    }
}

/* Below 1: how much of a period has passed. */
static double phase(double time, double period)
{
    return time / period - floor(time / period);
}

/* A radial field meets the Moon below the spacecraft. */
static void place_on_orbit(double time, size_t k, paritas_er_day *day)
{
    const double turn = 360.0 * phase(time, ORBIT);
    const bool ascends = turn < 90.0 || turn >= 270.0;
    const double latitude = turn < 90.0    ? turn
                            : turn < 270.0 ? 180.0 - turn
                                           : turn - 360.0,
                 longitude = 360.0 * (1.0 - phase(time, MONTH)) + (ascends ? 0.0 : 180.0);
    day->spacecraft_latitude[k] = day->projection_latitude[k] = latitude;
    day->spacecraft_longitude[k] = day->projection_longitude[k] = 360.0 * (phase(longitude, 360.0) - 0.5);
}

/* Geometry and true points of n sweeps. */
static void place_sweeps(struct synthesis *s, size_t n, double *potential, paritas_er_day *day)
{
    const double apart = 86400.0 / (double)(n > 0 ? n : 1) < CADENCE ? 86400.0 / (double)n : CADENCE;
    const paritas_truths *truth = s->truth;
    for (size_t k = 0; k < n; k++) {
        const double time = s->plan.time + apart * (double)k;
        draw_geometry(&s->plan, time, k, day);
        if (s->plan.orbit) place_on_orbit(time, k, day);
        day->spacecraft_potential[k] = truth->spacecraft[k];
        day->sweep_reason[k] = PARITAS_ER_KEPT;
        for (size_t i = ROWS * k; i < ROWS * (k + 1); i++) {
            day->polarity[i] = truth->polarity[k];
            potential[i] = truth->spacecraft[k];
        }
        const double point[3] = {truth->potential[k], truth->ratio[k], truth->amplitude[k]};
        memcpy(s->points + 3 * k, point, sizeof point);
    }
}

static paritas_status draw_fluxes(const struct synthesis *s, const paritas_sweeps *sweeps, double *incident,
                                  paritas_er_day *day)
{
    const size_t n = sweeps->n;
    double *model = day_numbers(s->arena, ROWS * CELLS * n);
    if (!model) return paritas_fail_memory(s->context);
    if (s->plan.edge == PARITAS_TRUE_EDGE_INTEGRAL)
        TRY(integral_model(s, sweeps, incident, model));
    else if (s->plan.edge == PARITAS_TRUE_EDGE_FOLDED && s->plan.weighted)
        TRY(folded_model(s, incident, *sweeps, model));
    else
        TRY(paritas_losscone_model(s->context, sweeps, &s->cone, s->points, model, NULL));
    for (size_t k = 0; k < n; k++) {
        spoil(s, k, incident, model, day);
        if (s->plan.counts) synthetic_count(&s->plan, k, day);
    }
    return PARITAS_OK;
}

static paritas_status synthesize(struct synthesis *s, size_t n, paritas_er_day **made)
{
    double *potential = day_numbers(s->arena, ROWS * n), *incident = day_numbers(s->arena, ROWS * n),
           *cosine = day_numbers(s->arena, ROWS * CELLS * n);
    s->points = day_numbers(s->arena, 3 * n);
    if (!potential || !incident || !cosine || !s->points) return paritas_fail_memory(s->context);
    TRY(draw_truth(s, n));
    TRY(paritas_er_day_create(s->context, n, made));
    paritas_er_day *day = *made;
    place_sweeps(s, n, potential, day);
    TRY(spectra(s, n, day, incident));
    if (n == 0) return PARITAS_OK;
    s->cone.response = s->plan.edge == PARITAS_TRUE_EDGE_FOLDED ? PARITAS_LOSSCONE_RESPONSE_FOLDED
                                                                : PARITAS_LOSSCONE_RESPONSE_HARD;
    if (s->plan.edge != PARITAS_TRUE_EDGE_HARD) s->cone.amplitude_lower = s->cone.amplitude_upper = 0.0;
    TRY(paritas_losscone_cosines(s->context, n, NULL, s->plan.theta, day->field, day->polarity, day->azimuth,
                                 cosine));
    const paritas_sweeps sweeps = {.size = sizeof sweeps,
                                   .n = n,
                                   .energy = day->energy,
                                   .potential = potential,
                                   .cosine = cosine,
                                   .flux = cosine};
    return draw_fluxes(s, &sweeps, incident, day);
}

paritas_status paritas_day_synthesize(paritas_context *context, const paritas_synthetic_options *options,
                                      const paritas_losscone_options *losscone, size_t n,
                                      const paritas_truths *truths, paritas_er_day **day)
{
    double theta[PARITAS_SWEEP_CELLS];
    struct arena arena;
    struct synthesis s = {.context = context,
                          .arena = &arena,
                          .plan = PARITAS_SYNTHETIC_OPTIONS_DEFAULT,
                          .cone = PARITAS_LOSSCONE_OPTIONS_DEFAULT,
                          .truth = truths};
    REQUIRE(context, truths, day);
    *day = NULL;
    TRY(OPTIONS_READ(context, paritas_synthetic_options, "options", options, &s.plan));
    TRY(SIZED_TAKE(context, paritas_losscone_options, "losscone", losscone, &s.cone));
    TRY(SIZED_CHECK(context, paritas_truths, "truths", 1, truths));
#define REQUIRE_TRUTH(name, column, doc) REQUIRE_AS(context, "truths." #name, truths->name);
    PARITAS_TRUTH_LIST(REQUIRE_TRUTH)
#undef REQUIRE_TRUTH
    if (!s.plan.theta) {
        TRY(paritas_er_theta(context, NULL, theta));
        s.plan.theta = theta;
    }
    arena_open(&arena, &context->allocator);
    const paritas_status status = synthesize(&s, n, day);
    arena_free(&arena);
    return status;
}
