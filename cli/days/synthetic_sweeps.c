/* synthetic_sweeps.c: draws sweeps of known truth. */
#include "days/synthetic_sweeps.h"
#include "days/day_settings.h"
#include "base/host_math.h"
#include "base/probability.h"
#include "moon/losscone/losscone.h"
#include "paritas_kappa.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define ROWS PARITAS_SWEEP_ROWS
#define CELLS PARITAS_SWEEP_CELLS
#define CADENCE 80.0 /* seconds between sweeps */
#define ROW_TIME PARITAS_SWEEP_ACCUMULATION
#define RESPONSE_NODES 71 /* of the integral over a channel */

const struct option options_truth[] = {
    {"--true-potential", OPTION_TEXT, "LO:HI", "range of the surface potential U, V", "-400:-10"},
    {"--true-ratio", OPTION_TEXT, "LO:HI", "of r", "0.4:1.05"},
    {"--beams", OPTION_NUMBER, "P", "part of the sweeps with a beam", "0.5"},
    {"--true-amplitude", OPTION_TEXT, "LO:HI", "of the beam", "0:2"},
    {"--noise", OPTION_TEXT, "LO:HI", "standard deviation of the flux's logarithm, drawn for each sweep",
     "0.1:0.3"},
    {"--true-spacecraft", OPTION_TEXT, "LO:HI",
     "spacecraft potential, V; default: 5:15, or with --plasma from the currents"},
    {"--plasma", OPTION_FLAG, NULL, "spectra of kappa distributions; default: a power law"},
    {"--region", OPTION_CHOICE, "solar-wind|magnetosheath|lobe|plasma-sheet",
     "--plasma with the density, kappa and temperature of this region around the Moon"},
    {"--true-density", OPTION_TEXT, "LO:HI", "of the plasma, 1/m^3; default: 1e5:1e7, or the region's"},
    {"--true-kappa", OPTION_TEXT, "LO:HI", "default: 3:6, or the region's"},
    {"--true-temperature", OPTION_TEXT, "LO:HI", "eV; default: 10:200, or the region's"},
    {"--channel-width", OPTION_NUMBER, "W",
     "relative width of the energy channels, with which spectra of --plasma are folded, as kappa fits fold "
     "theirs; 0: none",
     "0.5"},
    {"--missing-cells", OPTION_NUMBER, "P", "part of the cells with a sentinel instead of flux or azimuth",
     "0"},
    {"--missing-rows", OPTION_NUMBER, "P", "part of the rows that are left out", "0"},
    {"--bad-fields", OPTION_NUMBER, "P", "part of the sweeps whose magnetic field is 0", "0"},
    {"--low-energies", OPTION_FLAG, NULL,
     "every second sweep has the instrument's other table of energies, from 7 eV"},
    {"--true-polarity", OPTION_CHOICE, "+1|-1|drawn", "", "-1"},
    {"--truth", OPTION_CHOICE, "hard|folded|integral",
     "edge of the cone; integral: averaged over the energy response, each energy by its flux; default: hard, "
     "of injection tests hard and folded"},
    {"--counts", OPTION_FLAG, NULL,
     "fluxes from Poisson counts, in addition to --noise; default: no counting noise"},
    {"--background-rate", OPTION_NUMBER, "R", "counts/s of a cell that are no electrons", "0",
     .needs = "--counts"},
    {"--geometric-factor", OPTION_NUMBER, "G", "of the instrument, cm^2 sr; default: 0.02",
     .needs = "--counts"},
    {"--accumulation", OPTION_NUMBER, "S",
     "s of a row, which the cells of a ring of directions share; default: 2.5", .needs = "--counts"},
    {"--dead-time", OPTION_NUMBER, "S",
     "s after each count; corrected, and cells above a correction of 1.25 are marked as erroneous", "1e-7",
     .needs = "--counts"},
    {0},
};

const char *const truth_names[TRUTHS] = {"hard", "folded", "integral"};

/* Regions in the order of --region. Rounded ranges for the Moon's orbit, after Newbury et al., J. Geophys.
 * Res. 103 (1998) 9553 (solar wind), Slavin et al., J. Geophys. Res. 90 (1985) 10875 (tail), Halekas et al.,
 * Planet. Space Sci. 59 (2011) 1681 (all four); kappa: Pierrard and Lazar, Solar Phys. 267 (2010) 153. */
static const struct region {
    const char *name;
    struct range density, kappa, temperature;
} regions[] = {
    {"solar-wind", {3e6, 1e7}, {3.0, 6.0}, {8.0, 15.0}},
    {"magnetosheath", {5e6, 2e7}, {3.0, 6.0}, {20.0, 50.0}},
    {"lobe", {2e4, 1e5}, {3.0, 6.0}, {50.0, 150.0}},
    {"plasma-sheet", {1e5, 5e5}, {3.0, 6.0}, {150.0, 500.0}},
};

enum { POWER_LAWS = 1, PLASMA = 2, COUNTS = 4 };
#define FIELD(name) offsetof(struct synthetic_plan, name)
static const struct setting settings[] = {
    {"--true-potential", FIELD(potential), SETTING_RANGE, -INFINITY},
    {"--true-ratio", FIELD(ratio), SETTING_RANGE, 1e-6},
    {"--beams", FIELD(beams), SETTING_NUMBER, 0.0, 1.0},
    {"--true-amplitude", FIELD(amplitude), SETTING_RANGE, 0.0},
    {"--noise", FIELD(noise), SETTING_RANGE, 0.0},
    {"--plasma", FIELD(plasma), SETTING_FLAG},
    {"--true-spacecraft", FIELD(spacecraft), SETTING_RANGE, -INFINITY, .part = POWER_LAWS},
    {"--true-density", FIELD(density), SETTING_RANGE, 1e-3, .part = PLASMA},
    {"--true-kappa", FIELD(kappa), SETTING_RANGE, 1.6, .part = PLASMA},
    {"--true-temperature", FIELD(temperature), SETTING_RANGE, 1e-3, .part = PLASMA},
    {"--channel-width", FIELD(channel_width), SETTING_NUMBER, 0.0, 10.0, .part = PLASMA},
    {"--missing-cells", FIELD(missing_cells), SETTING_NUMBER, 0.0, 1.0},
    {"--missing-rows", FIELD(missing_rows), SETTING_NUMBER, 0.0, 1.0},
    {"--bad-fields", FIELD(bad_fields), SETTING_NUMBER, 0.0, 1.0},
    {"--low-energies", FIELD(low_energies), SETTING_FLAG},
    {"--counts", FIELD(counts), SETTING_FLAG},
    {"--background-rate", FIELD(counting.background), SETTING_NUMBER, 0.0, 1e6, COUNTS},
    {"--geometric-factor", FIELD(counting.geometric_factor), SETTING_NUMBER, 1e-9, 1e3, COUNTS},
    {"--accumulation", FIELD(counting.accumulation), SETTING_NUMBER, 1e-6, 1e6, COUNTS},
    {"--dead-time", FIELD(counting.dead_time), SETTING_NUMBER, 0.0, 1.0, COUNTS},
};

paritas_status synthetic_plan_open(struct session *session, uint64_t seed, struct synthetic_plan *plan)
{
    static const double polarities[] = {1.0, -1.0, 0.0};
    const struct given *truth = option_given(session, "--truth"), *region = option_given(session, "--region");
    *plan = (struct synthetic_plan){.spacecraft = {5.0, 15.0},
                                    .density = {1e5, 1e7},
                                    .kappa = {3.0, 6.0},
                                    .temperature = {10.0, 200.0},
                                    .counting = {.geometric_factor = PARITAS_SWEEP_GEOMETRIC_FACTOR,
                                                 .accumulation = PARITAS_SWEEP_ACCUMULATION},
                                    .polarity = polarities[option_value(session, "--true-polarity")->choice],
                                    .truth = truth ? truth->choice : TRUTH_HARD,
                                    .region = region ? region->choice : -1,
                                    .seed = seed};
    if (region) {
        plan->density = regions[region->choice].density;
        plan->kappa = regions[region->choice].kappa;
        plan->temperature = regions[region->choice].temperature;
    }
    TRY(settings_take(session, COUNT_OF(settings), settings, plan));
    plan->plasma = plan->plasma || region;
    return PARITAS_OK;
}

void synthetic_plan_describe(const struct synthetic_plan *plan, struct writer *writer)
{
    settings_write(writer, COUNT_OF(settings), settings, plan,
                   (plan->plasma ? PLASMA : POWER_LAWS) | (plan->counts ? COUNTS : 0));
    if (plan->region >= 0) write_string(writer, "region", regions[plan->region].name);
    if (plan->polarity == 0.0)
        write_string(writer, "true_polarity", "drawn");
    else
        write_number(writer, "true_polarity", plan->polarity);
    write_string(writer, "truth", truth_names[plan->truth]);
    write_integer(writer, "seed", plan->seed);
}

static double within(struct dice *dice, const struct range *range)
{
    return range->lower + (range->upper - range->lower) * dice_uniform(dice);
}

/* Log-uniform. */
static double within_logs(struct dice *dice, const struct range *range)
{
    return host_exp(host_log(range->lower) +
                    (host_log(range->upper) - host_log(range->lower)) * dice_uniform(dice));
}

static double rounded(double value, double scale)
{
    const double scaled = value * scale;
    return (double)(int64_t)(scaled + (scaled < 0.0 ? -0.5 : 0.5)) / scale;
}

paritas_status truth_open(struct session *session, size_t n, struct truth *truth)
{
#define OPEN(name, column) truth->name = numbers(session, n);
    TRUTH_LIST(OPEN)
#undef OPEN
    return allocated(session);
}

static paritas_status draw_truth(struct session *session, const struct synthetic_plan *plan, size_t n,
                                 uint64_t first, struct truth *truth)
{
    TRY(truth_open(session, n, truth));
    for (size_t k = 0; k < n; k++) {
        struct dice dice;
        dice_open(&dice, plan->seed, 2 * (first + k));
        truth->potential[k] = within(&dice, &plan->potential);
        truth->ratio[k] = within(&dice, &plan->ratio);
        const double beam = dice_uniform(&dice), amplitude = within(&dice, &plan->amplitude);
        truth->amplitude[k] = beam < plan->beams && plan->truth == TRUTH_HARD ? amplitude : 0.0;
        truth->noise[k] = within(&dice, &plan->noise);
        truth->spacecraft[k] = within(&dice, &plan->spacecraft);
        const double side = dice_uniform(&dice);
        truth->polarity[k] = plan->polarity != 0.0 ? plan->polarity : side < 0.5 ? -1.0 : 1.0;
        truth->sunlit[k] = 1.0;
        const double density = within_logs(&dice, &plan->density), kappa = within(&dice, &plan->kappa),
                     temperature = within_logs(&dice, &plan->temperature);
        truth->density[k] = plan->plasma ? density : NAN;
        truth->kappa[k] = plan->plasma ? kappa : NAN;
        truth->temperature[k] = plan->plasma ? temperature : NAN;
        truth->theta[k] = plan->plasma ? paritas_kappa_theta(kappa, temperature) : NAN;
    }
    if (!plan->plasma) return PARITAS_OK;
    /* the plasma sets the spacecraft's potential */
    paritas_kappa_plasma *plasma = elements(session, n, sizeof *plasma);
    paritas_potential *found = sized_records(session, n, sizeof *found);
    unsigned char *sunlit = elements(session, n, 1);
    TRY(allocated(session));
    for (size_t k = 0; k < n; k++) {
        plasma[k] = (paritas_kappa_plasma){truth->density[k], truth->kappa[k], truth->theta[k]};
        sunlit[k] = 1;
    }
    TRY(paritas_spacecraft_potential(session->context, n, plasma, NULL, sunlit, NULL, found));
    for (size_t k = 0; k < n; k++)
        truth->spacecraft[k] = found[k].status == PARITAS_POTENTIAL_FOUND ? found[k].potential : 0.0;
    return PARITAS_OK;
}

/* Rounded as in files: the model sees what will be read. */
static void draw_geometry(const struct synthetic_plan *plan, const double *theta, uint64_t number,
                          double time, size_t k, paritas_er_day *day)
{
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

/* Node m in units of the response's sigma. */
static double response_node(size_t m)
{
    return -3.5 + 7.0 * (double)m / (RESPONSE_NODES - 1);
}

/* Incident flux of one row, 1/(cm^2 s sr eV). */
static double power_law(double energy)
{
    return 1e6 * host_exp(-2.5 * host_log(energy / 100.0));
}

/* Incident flux of sweep k at n energies, as the sensor meets it: a positive spacecraft draws electrons in.
 * They gain its potential at constant phase space density; slower ones are its own. */
static paritas_status arriving(paritas_context *context, const struct synthetic_plan *plan,
                               const struct truth *truth, size_t k, size_t n, const double *measured,
                               double *flux)
{
    const double pi = 3.14159265358979323846;
    double energy[ROWS * RESPONSE_NODES];
    if (!plan->plasma) {
        for (size_t i = 0; i < n; i++) flux[i] = power_law(measured[i]);
        return PARITAS_OK;
    }
    const paritas_kappa_plasma plasma = {truth->density[k], truth->kappa[k], truth->theta[k]};
    for (size_t i = 0; i < n; i++)
        energy[i] = measured[i] - truth->spacecraft[k] > 1.0 ? measured[i] - truth->spacecraft[k] : 1.0;
    TRY(paritas_kappa_flux(context, 1, &plasma, n, energy, flux));
    for (size_t i = 0; i < n; i++) flux[i] *= measured[i] / (energy[i] * 4.0 * pi);
    return PARITAS_OK;
}

static paritas_status spectra(paritas_context *context, const struct synthetic_plan *plan, size_t n,
                              const struct truth *truth, const paritas_er_day *day, double *flux)
{
    for (size_t k = 0; k < n; k++) {
        const double *measured = day->energy + ROWS * k;
        double *seen = flux + ROWS * k, met[ROWS], response[ROWS * ROWS] = {0.0};
        TRY(arriving(context, plan, truth, k, ROWS, measured, met));
        memcpy(seen, met, sizeof met);
        if (!plan->plasma || plan->channel_width == 0.0) continue;
        TRY(paritas_kappa_response(context, plan->channel_width, ROWS, measured, response));
        for (size_t i = 0; i < ROWS; i++) {
            seen[i] = 0.0;
            for (size_t j = 0; j < ROWS; j++) seen[i] += response[ROWS * i + j] * met[j];
        }
    }
    return PARITAS_OK;
}

/* The folded edge, with channels of the incident spectrum where it does not saturate the instrument. */
static paritas_status folded_model(struct session *session, const struct synthetic_plan *plan,
                                   const paritas_losscone_options *options, const double *incident,
                                   paritas_sweeps sweeps, const double *points, double *model)
{
    double *channel = numbers(session, ROWS * PARITAS_CHANNEL_ENERGIES * sweeps.n);
    TRY(allocated(session));
    for (size_t cell = 0; cell < ROWS * CELLS * sweeps.n; cell++) {
        const size_t row = cell / CELLS;
        model[cell] = synthetic_saturates(plan, sweeps.energy[row], incident[row]) ? NAN : incident[row];
    }
    TRY(paritas_losscone_channels(session->context, &sweeps, options, model, channel));
    sweeps.channel = channel;
    return paritas_losscone_model(session->context, &sweeps, options, points, model, NULL);
}

/* The hard model averaged over a Gaussian in ln E of the response's half width at half maximum, each energy
 * by its flux. */
static paritas_status integral_model(struct session *session, const struct synthetic_plan *plan,
                                     const paritas_losscone_options *options, const struct truth *truth,
                                     const paritas_sweeps *sweeps, const double *points, double *model)
{
    paritas_context *context = session->context;
    const size_t n = sweeps->n, rows = ROWS * n;
    const double sigma = losscone_response_sigma(options->response_width);
    double *energy = numbers(session, rows), *one = numbers(session, rows * CELLS),
           *weight = numbers(session, rows * RESPONSE_NODES);
    TRY(allocated(session));
    for (size_t k = 0; k < n; k++) {
        double at[ROWS * RESPONSE_NODES], flux[ROWS * RESPONSE_NODES];
        for (size_t i = 0; i < ROWS * RESPONSE_NODES; i++)
            at[i] = sweeps->energy[ROWS * k + i / RESPONSE_NODES] *
                    host_exp(sigma * response_node(i % RESPONSE_NODES));
        TRY(arriving(context, plan, truth, k, ROWS * RESPONSE_NODES, at, flux));
        for (size_t i = 0; i < ROWS; i++) {
            double sum = 0.0, *of_row = weight + (ROWS * k + i) * RESPONSE_NODES;
            for (size_t m = 0; m < RESPONSE_NODES; m++) {
                const double z = response_node(m);
                sum += of_row[m] = host_exp(-0.5 * z * z) * flux[i * RESPONSE_NODES + m];
            }
            for (size_t m = 0; m < RESPONSE_NODES; m++) of_row[m] /= sum;
        }
    }
    for (size_t m = 0; m < RESPONSE_NODES; m++) {
        const double factor = host_exp(sigma * response_node(m));
        paritas_sweeps shifted = *sweeps;
        for (size_t i = 0; i < rows; i++) energy[i] = sweeps->energy[i] * factor;
        shifted.energy = energy;
        TRY(paritas_losscone_model(context, &shifted, options, points, one, NULL));
        for (size_t cell = 0; cell < rows * CELLS; cell++)
            model[cell] =
                (m == 0 ? 0.0 : model[cell]) + weight[cell / CELLS * RESPONSE_NODES + m] * one[cell];
    }
    return PARITAS_OK;
}

static void spoil(const struct synthetic_plan *plan, uint64_t number, double noise, const double *incident,
                  size_t k, double *model, paritas_er_day *day)
{
    static const uint8_t sentinels[4] = {PARITAS_ER_FLUX_MISSING, PARITAS_ER_FLUX_ERROR,
                                         PARITAS_ER_AZIMUTH_MISSING, PARITAS_ER_AZIMUTH_ERROR};
    struct dice dice;
    dice_open(&dice, plan->seed ^ UINT64_C(0x5851F42D4C957F2D), number);
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

paritas_status synthetic_day(struct session *session, const struct synthetic_plan *plan,
                             const paritas_losscone_options *options, const double *theta, size_t n,
                             uint64_t first, double time, struct truth *truth, paritas_er_day **made)
{
    paritas_context *context = session->context;
    const double apart = 86400.0 / (double)(n > 0 ? n : 1) < CADENCE ? 86400.0 / (double)n : CADENCE;
    double *potential = numbers(session, ROWS * n), *incident = numbers(session, ROWS * n),
           *points = numbers(session, 3 * n), *model = numbers(session, ROWS * CELLS * n),
           *cosine = numbers(session, ROWS * CELLS * n);
    TRY(draw_truth(session, plan, n, first, truth));
    TRY(paritas_er_day_create(context, n, made));
    paritas_er_day *day = *made;
    for (size_t k = 0; k < n; k++) {
        draw_geometry(plan, theta, first + k, time + apart * (double)k, k, day);
        day->spacecraft_potential[k] = truth->spacecraft[k];
        day->sweep_reason[k] = PARITAS_ER_KEPT;
        for (size_t i = ROWS * k; i < ROWS * (k + 1); i++) {
            day->polarity[i] = truth->polarity[k];
            potential[i] = truth->spacecraft[k];
        }
        const double point[3] = {truth->potential[k], truth->ratio[k], truth->amplitude[k]};
        memcpy(points + 3 * k, point, sizeof point);
    }
    TRY(spectra(context, plan, n, truth, day, incident));
    if (n == 0) return PARITAS_OK;
    paritas_losscone_options truly = *options;
    const bool folded = plan->truth == TRUTH_FOLDED;
    truly.response = folded ? PARITAS_LOSSCONE_RESPONSE_FOLDED : PARITAS_LOSSCONE_RESPONSE_HARD;
    if (plan->truth != TRUTH_HARD) truly.amplitude_lower = truly.amplitude_upper = 0.0;
    TRY(paritas_losscone_cosines(context, n, NULL, theta, day->field, day->polarity, day->azimuth, cosine));
    const paritas_sweeps sweeps = {.size = sizeof sweeps,
                                   .n = n,
                                   .energy = day->energy,
                                   .potential = potential,
                                   .cosine = cosine,
                                   .flux = cosine};
    if (plan->truth == TRUTH_INTEGRAL)
        TRY(integral_model(session, plan, &truly, truth, &sweeps, points, model));
    else if (folded && plan->weighted)
        TRY(folded_model(session, plan, &truly, incident, sweeps, points, model));
    else
        TRY(paritas_losscone_model(context, &sweeps, &truly, points, model, NULL));
    for (size_t k = 0; k < n; k++) {
        spoil(plan, first + k, truth->noise[k], incident, k, model, day);
        if (plan->counts) synthetic_count(plan, theta, first + k, k, day);
    }
    return PARITAS_OK;
}
