/* day_sweeps.c: reads days, geometry and masks. */
#include "days/day_sweeps.h"
#include "base/platform.h"
#include "days/day_provenance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROWS PARITAS_SWEEP_ROWS
#define CELLS PARITAS_SWEEP_CELLS

const struct option options_sources[] = {
    {"--theta", OPTION_TEXT, "FILE",
     "theta.tab, inclinations of the 88 cells; default: the instrument's rings in an order that need not be "
     "the archive's"},
    {"--polarity", OPTION_TEXT, "+1|-1|FILE",
     "is the Moon along the field (+1) or against it (-1)? For all sweeps, or a table with the column "
     "polarity; default: --geometry, --spice, else -1"},
    {"--geometry", OPTION_TEXT, "FILE",
     "table of polarity, illumination, positions, the Sun's direction and potentials by spectrum or UTC "
     "(CSV)"},
    {"--mag", OPTION_TEXT, "FILE|DIR",
     "polarity, illumination and positions from the magnetometer's files, MAYYMMDD.TAB"},
    {"--spice", OPTION_TEXT, "DIR",
     "the same and the Sun's direction from SPICE kernels, where libcspice is installed; needs --attitude"},
    {"--attitude", OPTION_TEXT, "FILE", "attitude.tab, the spin axis over time"},
    {"--spacecraft-potential", OPTION_TEXT, "auto|V|FILE",
     "of the spacecraft: from the plasma's currents, in volts, or a table with the column "
     "spacecraft_potential",
     "auto"},
    {"--sunlight", OPTION_NUMBER, "DEGREES",
     "cells this near the Sun are masked, where its direction is known; 0: none", "14"},
    {"--normalisation", OPTION_CHOICE, "ratio|max|pairs",
     "flux over the mean or the largest of the row's incident cells, or over the mirrored cell", "ratio"},
    {"--strict", OPTION_FLAG, NULL,
     "a damaged day file is refused; default: its damaged rows are masked and counted"},
    {0},
};

const char *const sources_options[SOURCES] = {"--geometry", "--polarity", "--spacecraft-potential", "--mag"};

bool sources_has(const struct sources *sources, int source)
{
    return source == SOURCES_MAG ? sources->n_mags > 0 : sources->tables[source] != NULL;
}

static paritas_status open_table(struct session *session, const char *path, const char *column,
                                 paritas_er_geometry **table)
{
    TRY(paritas_er_geometry_read(session->context, path, table));
    if (!column || paritas_er_geometry_has(*table, column)) return PARITAS_OK;
    return wrong_input(session, "%s: has no column %s", path, column);
}

/* The same for options that also take words or numbers. */
static paritas_status open_named(struct session *session, const char *option, const char *takes,
                                 const char *path, const char *column, paritas_er_geometry **table)
{
    if (!platform_exists(path))
        return usage_failure(session, "%s takes %s or a file; there is no file '%s'", option, takes, path);
    return open_table(session, path, column, table);
}

static paritas_status open_spice(struct session *session, struct sources *sources)
{
    const char *folder = option_text(session, "--spice"), *attitude = option_text(session, "--attitude");
    if (!folder && !attitude) return PARITAS_OK;
    if (!folder) return usage_failure(session, "--attitude needs --spice DIR");
    if (!attitude) return usage_failure(session, "--spice needs --attitude FILE");
    TRY(paritas_er_attitude_read(session->context, attitude, &sources->attitude));
    return paritas_er_spice_open(session->context, NULL, folder, &sources->spice);
}

static paritas_status add_mag(struct session *session, struct sources *sources, const char *path, int date)
{
    struct day_file *files = grown(session, sources->mags, sources->n_mags, sizeof *files);
    const char *copy = copied(session, path, strlen(path));
    TRY(allocated(session));
    files[sources->n_mags++] = (struct day_file){copy, date};
    sources->mags = files;
    return PARITAS_OK;
}

/* A folder's files are of the dates in their names; a file by itself is of any day. */
static paritas_status open_mags(struct session *session, struct sources *sources)
{
    const char *path = option_text(session, "--mag");
    struct platform_info info;
    paritas_er_files *found = NULL;
    if (!path) return PARITAS_OK;
    if (!platform_info(path, &info) || info.kind != PLATFORM_FOLDER) {
        paritas_er_mag *mag;
        TRY(paritas_er_mag_read(session->context, path, &mag)); /* a wrong file is told at once */
        paritas_er_mag_free(mag);
        return add_mag(session, sources, path, 0);
    }
    TRY(er_find_kind(session->context, path, "MA", 0, 0, 0, &found));
    paritas_status status = PARITAS_OK;
    for (size_t i = 0; i < found->n && status == PARITAS_OK; i++)
        status = add_mag(session, sources, found->path[i], found->date[i]);
    paritas_er_files_free(found);
    if (status == PARITAS_OK && sources->n_mags == 0)
        status = wrong_input(session, "%s: there is no file of the magnetometer (MAYYMMDD.TAB)", path);
    return status;
}

bool sources_mag_is_of(const struct day_file *mag, const struct day *day)
{
    return mag->date == 0 || mag->date == day->files[0].date;
}

static paritas_status open_polarity(struct session *session, struct sources *sources)
{
    const char *text = option_text(session, "--polarity");
    const bool known = sources->spice || sources->n_mags > 0 ||
                       (sources->tables[SOURCES_GEOMETRY] &&
                        paritas_er_geometry_has(sources->tables[SOURCES_GEOMETRY], "polarity"));
    if (!text) {
        sources->polarity = known ? 0.0 : -1.0;
        if (!known)
            paritas_note(session->context,
                         "the polarity of the field is not known and taken as -1 (--polarity, --geometry)");
        return PARITAS_OK;
    }
    if (strcmp(text, "+1") == 0 || strcmp(text, "1") == 0)
        sources->polarity = 1.0;
    else if (strcmp(text, "-1") == 0)
        sources->polarity = -1.0;
    else
        return open_named(session, "--polarity", "+1, -1", text, "polarity",
                          &sources->tables[SOURCES_POLARITY]);
    return PARITAS_OK;
}

static paritas_status open_potential(struct session *session, struct sources *sources)
{
    const char *text = option_text(session, "--spacecraft-potential");
    if (strcmp(text, "auto") == 0)
        sources->potential = POTENTIAL_AUTO;
    else if (number_of_text(text, &sources->potential_value))
        sources->potential = POTENTIAL_VALUE;
    else
        sources->potential = POTENTIAL_TABLE;
    const paritas_er_geometry *geometry = sources->tables[SOURCES_GEOMETRY];
    if (!option_given(session, "--spacecraft-potential") && geometry &&
        paritas_er_geometry_has(geometry, "spacecraft_potential"))
        paritas_note(session->context, "the column spacecraft_potential of --geometry is not used: "
                                       "potentials are found from the plasma (--spacecraft-potential FILE)");
    if (sources->potential != POTENTIAL_TABLE) return PARITAS_OK;
    return open_named(session, "--spacecraft-potential", "auto, a number of volts", text,
                      "spacecraft_potential", &sources->tables[SOURCES_POTENTIAL]);
}

paritas_status sources_open(struct session *session, struct sources *sources)
{
    const char *geometry = option_text(session, "--geometry");
    memset(sources, 0, sizeof *sources);
    sources->strict = option_flag(session, "--strict");
    sources->sunlight = option_number(session, "--sunlight");
    sources->normalisation =
        (paritas_normalisation)option_constant(session, "--normalisation", "paritas_normalisation");
    if (sources->sunlight < 0.0 || sources->sunlight > 180.0)
        return usage_failure(session, "--sunlight takes degrees from 0 to 180");
    TRY(paritas_er_theta(session->context, option_text(session, "--theta"), sources->theta));
    if (geometry) TRY(open_table(session, geometry, NULL, &sources->tables[SOURCES_GEOMETRY]));
    TRY(open_mags(session, sources));
    TRY(open_spice(session, sources));
    TRY(open_polarity(session, sources));
    return open_potential(session, sources);
}

void sources_close(struct sources *sources)
{
    for (size_t i = 0; i < SOURCES_TABLES; i++) paritas_er_geometry_free(sources->tables[i]);
    paritas_er_attitude_free(sources->attitude);
    paritas_er_spice_close(sources->spice);
}

paritas_status sources_check_days(struct session *session, const struct sources *sources, size_t days)
{
    for (size_t i = 0; i < SOURCES_TABLES; i++) {
        const paritas_er_geometry *table = sources->tables[i];
        if (days < 2 || !table || paritas_er_geometry_has(table, "date") ||
            paritas_er_geometry_has(table, "utc"))
            continue;
        return wrong_input(session,
                           "%s: has neither a column date nor utc, and there are %zu days: which sweeps it "
                           "means is not known",
                           option_text(session, sources_options[i]), days);
    }
    return PARITAS_OK;
}

static paritas_status describe_file(struct session *session, struct writer *writer, const char *key,
                                    const char *path, const char *otherwise)
{
    struct platform_info info;
    char labelled[80] = "sha256:";
    if (!path) {
        write_string(writer, key, otherwise);
        return PARITAS_OK;
    }
    char *hex = labelled + strlen(labelled);
    const bool folder = platform_info(path, &info) && info.kind == PLATFORM_FOLDER;
    TRY(folder ? folder_digest(session, path, hex) : file_digest(session->context, path, hex));
    write_string(writer, key, labelled);
    return PARITAS_OK;
}

paritas_status sources_describe(struct session *session, const struct sources *sources, struct writer *writer)
{
    static const char *const files[] = {"--theta", "--geometry", "--attitude", "--spice"};
    for (size_t i = 0; i < COUNT_OF(files); i++)
        TRY(describe_file(session, writer, files[i] + 2, option_text(session, files[i]),
                          i == 0 ? "built-in" : NULL));
    if (sources->n_mags > 0) write_bool(writer, "mag", true); /* the files are inputs of their days */
    const char *polarity = option_text(session, "--polarity"),
               *potential = option_text(session, "--spacecraft-potential");
    if (sources->tables[SOURCES_POLARITY])
        TRY(describe_file(session, writer, "polarity", polarity, NULL));
    else
        write_string(writer, "polarity",
                     sources->polarity == 0.0  ? "of the geometry"
                     : sources->polarity > 0.0 ? "+1"
                     : polarity                ? "-1"
                                               : "-1, not known and taken so");
    if (sources->potential == POTENTIAL_TABLE)
        TRY(describe_file(session, writer, "spacecraft_potential", potential, NULL));
    else if (sources->potential == POTENTIAL_VALUE)
        write_number(writer, "spacecraft_potential", sources->potential_value);
    else
        write_string(writer, "spacecraft_potential", "auto");
    write_number(writer, "sunlight", sources->sunlight);
    write_string(writer, "normalisation", paritas_normalisation_name(sources->normalisation));
    write_bool(writer, "strict", sources->strict);
    return PARITAS_OK;
}

static paritas_status apply_mags(paritas_context *context, const struct sources *sources,
                                 const struct day *day, struct sweeps *sweeps)
{
    const size_t n = sweeps->day->n;
    if (sources->n_mags == 0) return PARITAS_OK;
    sweeps->mag = paritas_allocate(context, 3 * n + 1, sizeof *sweeps->mag);
    if (!sweeps->mag) return paritas_fail_memory(context);
    for (size_t i = 0; i < 3 * n; i++) sweeps->mag[i] = NAN;
    for (size_t i = 0; i < sources->n_mags; i++) {
        paritas_er_mag *mag;
        size_t matched = 0;
        if (!sources_mag_is_of(&sources->mags[i], day)) continue;
        TRY(paritas_er_mag_read(context, sources->mags[i].path, &mag));
        const paritas_status status = paritas_er_mag_apply(context, mag, sweeps->day, sweeps->mag, &matched);
        sweeps->matched[SOURCES_MAG] += matched;
        sweeps->mag_skipped += mag->skipped;
        paritas_er_mag_free(mag);
        if (status != PARITAS_OK) return status;
    }
    return PARITAS_OK;
}

static paritas_status apply_sources(paritas_context *context, const struct sources *sources,
                                    const struct day *day, struct sweeps *sweeps)
{
    TRY(apply_mags(context, sources, day, sweeps));
    for (size_t k = 0; k < SOURCES_TABLES; k++) {
        if (sources->tables[k])
            TRY(paritas_er_geometry_apply(context, sources->tables[k], sweeps->day, &sweeps->matched[k]));
        if (k == SOURCES_GEOMETRY && sources->spice)
            TRY(paritas_er_spice_apply(context, sources->spice, sources->attitude, sweeps->day, NULL));
    }
    return PARITAS_OK;
}

/* Sweeps that begin on another day, further than a sweep's length from it. */
static uint64_t strays_of(const paritas_er_day *part, const char *date)
{
    char midnight[PARITAS_ER_UTC_SIZE];
    double start;
    uint64_t strays = 0;
    snprintf(midnight, sizeof midnight, "%sT00:00:00", date);
    if (!er_read_utc(midnight, midnight + strlen(midnight), &start)) return 0;
    for (size_t k = 0; k < part->n; k++) {
        const double time = part->time[k * ROWS];
        strays += time < start - ER_SPAN || time >= start + 86400.0 + ER_SPAN;
    }
    return strays;
}

static paritas_status read_files(paritas_context *context, const struct sources *sources,
                                 const struct day *day, struct sweeps *sweeps)
{
    paritas_er_options options = PARITAS_ER_OPTIONS_DEFAULT;
    options.digest = 1;
    options.strict = sources->strict;
    sweeps->files = paritas_allocate_clear(context, day->n, sizeof *sweeps->files);
    if (!sweeps->files) return paritas_fail_memory(context);
    for (size_t i = 0; i < day->n; i++) {
        struct file_share *file = &sweeps->files[i];
        paritas_er_day *part = NULL;
        TRY(paritas_er_read(context, day->files[i].path, &options, &part));
        memcpy(file->digest, part->digest + strlen("sha256:"), 64);
        file->strays = strays_of(part, day->date);
        TRY(er_join(context, &sweeps->day, part, &file->joined));
    }
    return PARITAS_OK;
}

/* The reason that masks most cells. */
static paritas_er_reason main_reason(const paritas_er_day *day)
{
    static const uint64_t cells[] = {[PARITAS_ER_UNIT_CELL] = 1,
                                     [PARITAS_ER_UNIT_ROW] = CELLS,
                                     [PARITAS_ER_UNIT_SWEEP] = (uint64_t)ROWS * CELLS};
    paritas_er_reason most = PARITAS_ER_KEPT;
    uint64_t masked = 0;
    for (unsigned i = 1; i < PARITAS_ER_REASON_COUNT; i++) {
        const paritas_er_reason reason = (paritas_er_reason)i;
        const uint64_t here = day->counts[i].count * cells[paritas_er_reason_unit(reason)];
        if (here <= masked) continue;
        masked = here;
        most = reason;
    }
    return most;
}

/* INVALID_INPUT with the cause if no cell of the day has a flux. */
static paritas_status check_fluxes(paritas_context *context, const struct day *files,
                                   const paritas_er_day *day)
{
    for (size_t i = 0; i < day->n * ROWS * CELLS; i++)
        if (day->flux[i] > 0.0) return PARITAS_OK;
    char more[48] = "";
    const paritas_er_reason reason = main_reason(day);
    const paritas_er_count *count = &day->counts[reason];
    if (files->n > 1) snprintf(more, sizeof more, " and %zu more of this day", files->n - 1);
    return paritas_fail(context, PARITAS_INVALID_INPUT,
                        "%s%s: no cell has a flux; the most frequent reason is %s, in %llu %s%s, first in "
                        "line %llu",
                        files->files[0].path, more, paritas_er_reason_name(reason),
                        (unsigned long long)count->count,
                        paritas_er_unit_name(paritas_er_reason_unit(reason)), count->count == 1 ? "" : "s",
                        (unsigned long long)count->line);
}

paritas_status sweeps_load(paritas_context *context, const struct sources *sources, const struct day *files,
                           struct sweeps *sweeps)
{
    memset(sweeps, 0, sizeof *sweeps);
    sweeps->allocator = context->allocator;
    TRY(read_files(context, sources, files, sweeps));
    paritas_er_day *day = sweeps->day;
    TRY(check_fluxes(context, files, day));
    TRY(apply_sources(context, sources, files, sweeps));
    const size_t n = sweeps->n = day->n;
    for (size_t i = 0; i < ROWS * n && sources->polarity != 0.0; i++) day->polarity[i] = sources->polarity;
    if (sources->sunlight > 0.0)
        TRY(paritas_er_mask_sunlight(context, day, sources->theta, sources->sunlight));
    TRY(paritas_er_mask_polarity(context, day));
    sweeps->potential = paritas_allocate(context, ROWS * n + 1, sizeof(double));
    sweeps->cosine = paritas_allocate(context, ROWS * CELLS * n + 1, sizeof(double));
    sweeps->flux = paritas_allocate(context, ROWS * CELLS * n + 1, sizeof(double));
    if (!sweeps->potential || !sweeps->cosine || !sweeps->flux) return paritas_fail_memory(context);
    for (size_t k = 0; k < n; k++)
        sweeps_set_potential(sweeps, k,
                             sources->potential == POTENTIAL_VALUE  ? sources->potential_value
                             : sources->potential == POTENTIAL_AUTO ? NAN
                                                                    : day->spacecraft_potential[k]);
    TRY(paritas_losscone_cosines(context, n, NULL, sources->theta, day->field, day->polarity, day->azimuth,
                                 sweeps->cosine));
    return paritas_losscone_normalise(context, n, NULL, sources->normalisation, sweeps->cosine, day->flux,
                                      sweeps->flux);
}

void sweeps_set_potential(struct sweeps *sweeps, size_t k, double potential)
{
    sweeps->day->spacecraft_potential[k] = potential;
    for (size_t i = ROWS * k; i < ROWS * (k + 1); i++) sweeps->potential[i] = potential;
}

void sweeps_free(struct sweeps *sweeps)
{
    paritas_er_day_free(sweeps->day);
    if (!sweeps->allocator.release && !sweeps->files) return;
    paritas_release(&sweeps->allocator, sweeps->files);
    paritas_release(&sweeps->allocator, sweeps->mag);
    paritas_release(&sweeps->allocator, sweeps->potential);
    paritas_release(&sweeps->allocator, sweeps->cosine);
    paritas_release(&sweeps->allocator, sweeps->flux);
    memset(sweeps, 0, sizeof *sweeps);
}

paritas_sweeps sweeps_of(const struct sweeps *sweeps)
{
    return (paritas_sweeps){.size = sizeof(paritas_sweeps),
                            .n = sweeps->n,
                            .energy = sweeps->day->energy,
                            .potential = sweeps->potential,
                            .cosine = sweeps->cosine,
                            .flux = sweeps->flux};
}
