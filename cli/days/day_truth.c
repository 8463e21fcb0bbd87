/* day_truth.c: options of synthetic sweeps. */
#include "days/day_truth.h"
#include "days/day_settings.h"

#include <math.h>
#include <stddef.h>

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
    {"--geometric-factor", OPTION_NUMBER, "G",
     "of the instrument, cm^2 sr; default: as counts are made from fluxes", .needs = "--counts"},
    {"--accumulation", OPTION_NUMBER, "S",
     "s of a row, which the cells of a ring of directions share; default: the same", .needs = "--counts"},
    {"--dead-time", OPTION_NUMBER, "S",
     "s after each count; corrected, and cells above a correction of 1.25 are marked as erroneous", "1e-7",
     .needs = "--counts"},
    {0},
};

enum { POWER_LAWS = 1, PLASMA = 2, COUNTS = 4 };
#define FIELD(name) offsetof(struct truth_plan, draw.name)
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
    {"--background-rate", FIELD(background_rate), SETTING_NUMBER, 0.0, 1e6, COUNTS},
    {"--geometric-factor", FIELD(geometric_factor), SETTING_NUMBER, 1e-9, 1e3, COUNTS},
    {"--accumulation", FIELD(accumulation), SETTING_NUMBER, 1e-6, 1e6, COUNTS},
    {"--dead-time", FIELD(dead_time), SETTING_NUMBER, 0.0, 1.0, COUNTS},
};

paritas_status truth_plan_open(struct session *session, uint64_t seed, struct truth_plan *plan)
{
    static const double polarities[] = {1.0, -1.0, 0.0};
    const struct given *edge = option_given(session, "--truth"), *region = option_given(session, "--region");
    *plan = (struct truth_plan){.draw = PARITAS_SYNTHETIC_OPTIONS_DEFAULT, .region = region};
    plan->draw.polarity = polarities[option_value(session, "--true-polarity")->choice];
    plan->draw.edge = edge ? (paritas_true_edge)edge->choice : PARITAS_TRUE_EDGE_HARD;
    plan->draw.seed = seed;
    if (region) paritas_synthetic_region((paritas_region)region->choice, &plan->draw);
    TRY(settings_take(session, COUNT_OF(settings), settings, plan));
    if (region) plan->draw.plasma = 1;
    return PARITAS_OK;
}

void truth_plan_describe(const struct truth_plan *plan, struct writer *writer)
{
    const paritas_synthetic_options *draw = &plan->draw;
    settings_write(writer, COUNT_OF(settings), settings, plan,
                   (draw->plasma ? PLASMA : POWER_LAWS) | (draw->counts ? COUNTS : 0));
    if (plan->region)
        write_string(writer, "region", paritas_region_name((paritas_region)plan->region->choice));
    if (draw->polarity == 0.0)
        write_string(writer, "true_polarity", "drawn");
    else
        write_number(writer, "true_polarity", draw->polarity);
    write_string(writer, "truth", paritas_true_edge_name(draw->edge));
    write_integer(writer, "seed", draw->seed);
}

paritas_status truths_open(struct session *session, size_t n, paritas_truths *truths)
{
    truths->size = sizeof *truths;
#define OPEN(name, column, doc) truths->name = arena_numbers(session, n);
    PARITAS_TRUTH_LIST(OPEN)
#undef OPEN
    return allocated(session);
}
