/* day_truth.c: options of synthetic sweeps. */
#include "days/day_truth.h"

#define ROW(word) LIBRARY_ROW(word, paritas_synthetic_options)
#define COUNTS_ROW(word) {word, .library = "paritas_synthetic_options", .needs = "--counts or --as-stored"}
const struct option options_truth[] = {
    ROW("--true-potential"),
    ROW("--true-ratio"),
    ROW("--beams"),
    ROW("--true-amplitude"),
    ROW("--noise"),
    ROW("--true-spacecraft"),
    ROW("--plasma"),
    {"--region", OPTION_CHOICE, "solar-wind|magnetosheath|lobe|plasma-sheet",
     "--plasma with the density, kappa and temperature of this region around the Moon"},
    ROW("--true-density"),
    ROW("--true-kappa"),
    ROW("--true-temperature"),
    ROW("--channel-width"),
    ROW("--missing-cells"),
    ROW("--missing-rows"),
    ROW("--bad-fields"),
    ROW("--low-energies"),
    {"--true-polarity", OPTION_CHOICE, "+1|-1|drawn", "polarity; drawn: at random", "-1"},
    {"--truth", OPTION_CHOICE, "hard|folded|integral",
     "edge of the cone; integral: averaged over the energy response, weighted by flux; default: hard; of "
     "losscone inject: hard and folded"},
    ROW("--counts"),
    {"--as-stored", OPTION_FLAG, NULL,
     "as the archive's fluxes were made: --counts --compression archive --background-rate 10 --sun-rate "
     "1000; "
     "each of these may be changed"},
    COUNTS_ROW("--background-rate"),
    COUNTS_ROW("--sun-rate"),
    COUNTS_ROW("--compression"),
    COUNTS_ROW("--geometric-factor"),
    COUNTS_ROW("--accumulation"),
    COUNTS_ROW("--dead-time"),
    {0},
};

paritas_status truth_plan_open(struct session *session, struct truth_plan *plan)
{
    static const double polarities[] = {1.0, -1.0, 0.0};
    const struct given *edge = option_given(session, "--truth"), *region = option_given(session, "--region");
    *plan = (struct truth_plan){.draw = PARITAS_SYNTHETIC_OPTIONS_DEFAULT, .region = region};
    plan->draw.polarity = polarities[option_value(session, "--true-polarity")->choice];
    plan->draw.edge = edge ? (paritas_true_edge)edge->choice : PARITAS_TRUE_EDGE_HARD;
    if (region) paritas_synthetic_region((paritas_region)region->choice, &plan->draw);
    if (option_flag(session, "--as-stored")) paritas_synthetic_as_stored(&plan->draw);
    return options_take(session, "paritas_synthetic_options", &plan->draw);
}

void truth_plan_describe(const struct truth_plan *plan, struct writer *writer)
{
    const paritas_synthetic_options *draw = &plan->draw;
    const char *const left_out[] = {draw->plasma ? "--true-spacecraft" : "--true-density",
                                    draw->plasma ? "" : "--true-kappa",
                                    draw->plasma ? "" : "--true-temperature",
                                    draw->plasma ? "" : "--channel-width",
                                    draw->counts ? "" : "--background-rate",
                                    draw->counts ? "" : "--sun-rate",
                                    draw->counts ? "" : "--geometric-factor",
                                    draw->counts ? "" : "--accumulation",
                                    draw->counts ? "" : "--dead-time",
                                    draw->orbit ? "" : "--orbit",
                                    NULL};
    options_write(writer, "paritas_synthetic_options", draw, left_out);
    if (draw->counts) write_string(writer, "compression", paritas_compression_name(draw->compression));
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
